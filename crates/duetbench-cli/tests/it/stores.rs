//! Databases that somebody else made, or made up: looking at one changes nothing, and none of them keeps `duet` busy or ends it without words.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::common::{HANGS, Place, Ran};

const SLOWER: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}}"#;

/// A place with a store in which one comparison is.
fn stored() -> Place {
    let place = Place::new();
    place.scripted(SLOWER, &["--db", "duet.db"]).expect(3);
    place
}

/// A place whose store was changed by these statements.
fn forged(statements: &str) -> Place {
    let place = stored();
    let database = Connection::open(place.path().join("duet.db")).unwrap();
    database.execute_batch(statements).unwrap();
    place
}

fn show(place: &Place) -> Ran {
    ended(place.command(&["show", "--db", "duet.db", "--format", "markdown"]))
}

/// The end of a command that may hang.
fn ended(mut command: Command) -> Ran {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran::from(child.wait_with_output().unwrap())
}

/// The names in a folder, with what is in the files.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = paths.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    all.sort();
    all
}

#[test]
fn runs_are_listed_and_removed_with_all_that_was_kept_of_them() {
    let place = Place::new();
    let script = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.004}}"#;
    place.duet(&["runs"]).expect(0).says(&[]);
    for _ in 0..2 {
        place.scripted(script, &["--forks", "6", "--fixed"]).expect(0);
    }
    let one = ["run", "--scripted", "script.json", "--suite-runs", "1", "--forks", "2", "--iterations", "2"];
    place.duet(&one).expect(0);
    let listed = place.duet(&["runs", "--format", "json"]).expect(0).json();
    let names = |listed: &serde_json::Value| -> Vec<String> {
        listed.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&listed), ["r1", "r2", "r3"]);
    assert_eq!([&listed[0]["kind"], &listed[2]["kind"]], ["comparison", "solo"]);
    assert_eq!((&listed[0]["trials"], &listed[0]["benchmarks"]), (&6.into(), &1.into()));
    let second = place.duet(&["show", "r2", "--format", "json"]).stdout;
    place.duet(&["rm", "r1", "r9"]).expect(1).says(&["there is no run `r9`"]);
    assert_eq!(names(&place.duet(&["runs", "--format", "json"]).json()).len(), 3, "nothing goes where one is missing");
    place.duet(&["rm", "r1", "latest", "r1"]).expect(0).says(&["removed r1, r3"]);
    assert_eq!(names(&place.duet(&["runs", "--format", "json"]).json()), ["r2"]);
    let store = Connection::open(place.path().join(".duet/duet.db")).unwrap();
    let nobodys = "SELECT count(*) FROM samples WHERE trial NOT IN (SELECT id FROM trials)";
    let count = |select: &str| store.query_row(select, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((count(nobodys), count("SELECT count(DISTINCT run) FROM trials")), (0, 1));
    assert_eq!(place.duet(&["show", "r2", "--format", "json"]).stdout, second);
    place.scripted(script, &["--forks", "6", "--fixed"]).expect(0);
    assert_eq!(place.duet(&["show", "r2", "--format", "json"]).stdout, second, "another run's samples are its own");
    assert!(place.duet(&["runs"]).expect(0).stdout.contains("r4"));
}

#[test]
fn latest_is_the_last_of_its_kind_for_who_goes_on_with_one() {
    let place = Place::new();
    let script = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.004}}"#;
    place.scripted(script, &["--forks", "6", "--fixed"]).expect(0);
    let one = ["run", "--scripted", "script.json", "--suite-runs", "1", "--forks", "2", "--iterations", "2"];
    place.duet(&one).expect(0);
    place.duet(&["compare", "--resume", "latest"]).expect(2).says(&["`r1`", "came to its end"]);
    place.duet(&["run", "--resume", "r1"]).expect(2).says(&["comparison of two versions"]);
    place.scripted(script, &["--forks", "6", "--fixed"]).expect(0);
    place.duet(&["run", "--resume", "latest"]).expect(2).says(&["`r2`", "came to its end"]);
}

#[test]
fn commands_that_are_printed_name_the_store_that_was_typed() {
    let place = Place::new();
    let script = |more: &str| {
        let benchmark =
            |i| format!(r#""Benchmark{i}": {{"baseline_ns": 100, "candidate_ns": 100, "spread": 0.004{more}}}"#);
        place.write("script.json", &format!("{{{}}}", (0..31).map(benchmark).collect::<Vec<_>>().join(",")));
    };
    let check = |args: &[&str], code: i32, commands: &[&str]| {
        let ran = place.duet(&[args, &["--db", "far.db"]].concat()).expect(code);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        for command in commands {
            assert!(said.contains(&format!("`{command}`")), "`{command}` is not in {said}");
        }
    };
    script("");
    let scripted = |command| [command, "--scripted", "script.json", "--seed", "1"];
    let see = ["duet show r1 --db far.db", "duet calibrate --see 3% --db far.db"];
    check(&["calibrate", "--see", "3%"], 1, &["duet calibrate --db far.db"]);
    check(&scripted("calibrate"), 0, &see);
    check(&["calibrate", "--resume", "r1"], 2, &["duet calibrate --run r1 --db far.db"]);
    check(&scripted("compare"), 0, &["duet show r2 --db far.db --all"]);
    check(&["compare", "--resume", "r2"], 2, &["duet show r2 --db far.db"]);
    check(&["calibrate", "--see", "3%", "--run", "r2"], 1, &["duet calibrate --run r2 --db far.db"]);
    check(&["why", "r2"], 2, &["duet show r2 --db far.db", "duet why r2 BENCH --db far.db"]);
    check(&["waive", "Sort", "--run", "r2", "--days", "9", "--reason", "r"], 2, &["duet show r2 --db far.db"]);
    script(r#", "interrupt_in": 4"#);
    check(&scripted("calibrate"), 130, &["duet calibrate --resume r3 --db far.db"]);
    check(&["calibrate", "--run", "r3"], 2, &["duet calibrate --resume r3 --db far.db"]);
}

#[test]
fn shells_and_man_know_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.duet(&["completions", shell]).expect(0).stdout;
        assert!(script.contains("calibrate") && script.contains("budget"), "{shell}");
    }
    place.duet(&["man", "pages/man1"]).expect(0);
    let page = std::fs::read_to_string(place.path().join("pages/man1/duet-compare.1")).unwrap();
    assert!(page.contains("budget"), "{page}");
}

#[test]
fn looking_at_somebody_elses_database_changes_nothing() {
    let looks: [&[&str]; 10] = [
        &["show"],
        &["why"],
        &["show", "--format", "html"],
        &["analyze"],
        &["export", "latest", "--as", "jmh"],
        &["tune", "latest"],
        &["analyze", "r1", "r2", "--method", "both"],
        &["calibrate", "--see", "3%"],
        &["waive", "BenchmarkA", "--expires", "2999-12-31", "--reason", "why"],
        // Measures, but nothing before it knows where to keep it.
        &["compare", "--scripted", "../script.json"],
    ];
    for journal in ["delete", "wal"] {
        for look in looks {
            let place = Place::new();
            place.write("script.json", SLOWER).write("theirs/readme", "");
            let folder = place.path().join("theirs");
            let database = Connection::open(folder.join("app.db")).unwrap();
            database.pragma_update(None, "journal_mode", journal).unwrap();
            database.execute_batch("CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('a')").unwrap();
            drop(database);
            let before = contents(&folder);
            let mut command = place.command(&[look, &["--db", "app.db"]].concat());
            ended(command_in(&mut command, &folder)).expect(1).says(&["`app.db` is no store", "--db"]);
            assert_eq!(contents(&folder), before, "{journal} {look:?}");
        }
    }
}

fn command_in(command: &mut Command, folder: &Path) -> Command {
    let mut there = Command::new(command.get_program());
    there.args(command.get_args()).current_dir(folder).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => there.env(name, value),
            None => there.env_remove(name),
        };
    }
    there
}

#[test]
fn a_store_says_whose_it_is_and_one_that_says_it_of_somebody_else_is_refused() {
    let place = stored();
    let database = Connection::open(place.path().join("duet.db")).unwrap();
    let id = || database.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0)).unwrap();
    assert_eq!(id().to_be_bytes(), *b"duet");
    // As stores of before have it.
    database.pragma_update(None, "application_id", 0).unwrap();
    show(&place).expect(3);
    place.scripted(SLOWER, &["--db", "duet.db"]).expect(3);
    assert_eq!(id().to_be_bytes(), *b"duet");
    database.pragma_update(None, "application_id", 7).unwrap();
    show(&place).expect(1).says(&["`duet.db` is no store"]);
}

#[test]
fn a_store_is_shown_where_nothing_can_be_written_beside_it() {
    let place = stored();
    let before = show(&place).expect(3).stdout;
    // Not even by somebody whom permissions do not stop.
    place.write("duet.db-shm/in the way", "");
    assert_eq!(show(&place).expect(3).stdout, before);
    assert!(!place.path().join("duet.db-wal").exists());
}

#[test]
fn a_store_is_shown_while_somebody_writes_into_it() {
    let place = stored();
    let database = Connection::open(place.path().join("duet.db")).unwrap();
    database.execute_batch("UPDATE runs SET head = replace(head, 'BenchmarkA', 'BenchmarkLater')").unwrap();
    assert!(std::fs::metadata(place.path().join("duet.db-wal")).unwrap().len() > 0, "nothing is in the log");
    assert!(show(&place).expect(3).stdout.contains("`Later`"));
}

#[test]
fn a_store_behind_a_link_is_shown_while_somebody_writes_into_it() {
    let place = stored();
    let linked = place.path().join("duet.db");
    std::fs::create_dir(place.path().join("moved")).unwrap();
    std::fs::rename(&linked, place.path().join("moved/kept.db")).unwrap();
    std::os::unix::fs::symlink("moved/kept.db", &linked).unwrap();
    let database = Connection::open(&linked).unwrap();
    database.execute_batch("UPDATE runs SET head = replace(head, 'BenchmarkA', 'BenchmarkLater')").unwrap();
    assert!(place.path().join("moved/kept.db-wal").exists(), "the log lies elsewhere");
    assert!(show(&place).expect(3).stdout.contains("`Later`"));
}

#[test]
fn a_store_of_an_older_duet_is_shown_as_it_is() {
    let drop = |column| format!("ALTER TABLE samples DROP COLUMN {column};");
    let columns = ["cycles", "cycle_cost_ns", "cycle_bytes", "cycle_background_ns"].map(drop).concat();
    let tables =
        "DROP TABLE calls; DROP TABLE calibrations; DROP TABLE profiles; DROP TABLE instructions; DROP TABLE readings;";
    let place = forged(&format!("{columns} {tables} PRAGMA application_id = 0; PRAGMA journal_mode = delete;"));
    let before = std::fs::read(place.path().join("duet.db")).unwrap();
    show(&place).expect(3);
    assert!(std::fs::read(place.path().join("duet.db")).unwrap() == before, "the store was changed");
}

#[test]
fn what_is_no_table_is_refused() {
    let endless = "ALTER TABLE runs RENAME TO kept; CREATE VIEW runs AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)
         SELECT 1 AS id, max(i) AS head, 1 AS complete, 1.0 AS measured_s, NULL AS steal_share, '' AS started FROM n";
    let huge = "ALTER TABLE runs RENAME TO kept; CREATE VIEW runs AS SELECT id, started, zeroblob(1000000000) AS head, complete,
         measured_s, steal_share FROM kept";
    let trigger = "CREATE TRIGGER more AFTER INSERT ON runs BEGIN DELETE FROM samples; END";
    let foreign = "CREATE VIRTUAL TABLE words USING fts5(word)";
    let computed = "CREATE TABLE more (a TEXT, b TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL)";
    for (statement, words) in [
        (endless, "the view `runs`"),
        (huge, "the view `runs`"),
        (trigger, "the trigger `more`"),
        (foreign, "the virtual table `words`"),
        (computed, "the computed column `b`"),
    ] {
        let place = forged(statement);
        show(&place).expect(1).says(&["`duet.db` is no store", words]);
        place.scripted(SLOWER, &["--db", "duet.db"]).expect(1).says(&[words]);
    }
}

#[test]
fn trials_that_claim_the_same_samples_are_refused() {
    let columns = "run, benchmark, round, suite_run, fork, build, first, core, seed, mode, wall_ns, failed_role, failure, discarded,
         conditions, first_sample, samples";
    let many = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)";
    let copies = format!(
        "INSERT INTO trials ({columns}) {many} SELECT {columns} FROM trials, n WHERE trials.id = 1 AND n.i > 0"
    );
    for statement in [
        &*copies,
        "UPDATE trials SET samples = 9223372036854775807",
        "UPDATE trials SET samples = -1",
        "UPDATE trials SET first_sample = -9223372036854775807",
    ] {
        show(&forged(statement)).expect(1).says(&["samples", "was changed"]);
    }
}

#[test]
fn a_plan_that_cannot_be_is_refused() {
    let set = |path: &str, value: &str| {
        format!("UPDATE runs SET head = json_set(head, '$.plan.benchmarks[0].configuration.{path}', json('{value}'));")
    };
    for statements in [
        set("design.units", "4294967295") + &set("design.forks_per_unit", "4294967295") + &set("slice_ns", "0"),
        set("design.forks_per_unit", "4294967295"),
        set("design.units", "4294967295"),
        set("design.doubled", "4294967295"),
        set("design.forks_per_unit", "0"),
        "UPDATE runs SET head = json_set(head, '$.plan.confirm_rounds', 4294967295)".into(),
    ] {
        show(&forged(&statements)).expect(1).says(&["the run `r1` cannot be read", "was changed"]);
    }
}

#[test]
fn a_call_that_claims_to_have_measured_everything_costs_no_memory() {
    let place = stored();
    let before = show(&place).expect(3).stdout;
    let database = Connection::open(place.path().join("duet.db")).unwrap();
    let instance = r#"{"id":"one","cpu":"some"}"#;
    let insert = "INSERT INTO calls (run, benchmark, first_suite_run, suite_runs, sending, end, instance) VALUES (1, 0, 0, 4294967295, 0, 'counted', ?1)";
    database.execute(insert, [instance]).unwrap();
    assert_eq!(show(&place).expect(3).stdout, before);
}

#[test]
fn a_run_that_claims_to_have_iterated_without_end_is_refused() {
    let place = Place::new();
    place.write("script.json", SLOWER);
    place.duet(&["run", "--scripted", "script.json", "--forks", "2", "--iterations", "3"]).expect(0);
    let database = Connection::open(place.path().join(".duet/duet.db")).unwrap();
    for (shape, words) in [(["1", "2", "4294967295"], "so often"), (["10000", "10000", "2000"], "so much")] {
        let [suite_runs, forks, iterations] = shape;
        let at = |field: &str| format!("'$.plan.benchmarks[0].repetitions.{field}'");
        let (a, b, c) = (at("suite_runs"), at("forks"), at("iterations"));
        let sql = format!("UPDATE runs SET head = json_set(head, {a}, {suite_runs}, {b}, {forks}, {c}, {iterations})");
        database.execute_batch(&sql).unwrap();
        place.duet(&["export", "r1", "--as", "go"]).expect(1).says(&["nobody measures", words]);
    }
}
