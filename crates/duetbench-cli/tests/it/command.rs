//! Whole programs with the real binary: what is measured, in which order, and what becomes of programs that misbehave.
//!
//! No test asserts a time. Equal programs may read *inconclusive* on a busy machine, but never *changed*; planted changes are
//! large enough to be found on any.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::common::{Place, Ran, assert_no_false_alarm, trials, wait_until, working_below};

/// Counts to its argument.
const WORK: &str = "i=0\nwhile [ $i -lt $1 ]; do i=$((i+1)); done\n";

fn place() -> Place {
    let place = Place::new();
    place.write("work.sh", WORK);
    place
}

const FIXED: [&str; 6] = ["--format", "json", "--fixed", "--threshold", "20%", "--forks"];

/// Compares two command lines with so many fork pairs.
fn compare(place: &Place, lines: [&str; 2], forks: &str, more: &[&str]) -> Ran {
    place.duet(&[&["compare", "--command", lines[0], lines[1]], &FIXED[..], &[forks], more].concat())
}

#[test]
fn equal_programs_are_measured_and_never_called_changed() {
    let place = place();
    let line = "sh work.sh 8000";
    for mode in ["auto", "interleaved", "duet", "sequential"] {
        // Five starved processes of each may well differ once in a thousand runs.
        let ran = compare(&place, [line, line], "5", &["--mode", mode, "--alpha", "0.01%"]);
        assert_no_false_alarm(&ran, &[line]);
        let forks = ran.benchmark(line)["forks"].as_array().unwrap().len();
        assert_eq!(forks, 5, "{mode}: {}", ran.stdout);
    }
}

#[test]
fn a_program_that_calls_duet_itself_can_be_measured() {
    let place = place();
    let duet = place.command(&[]).get_program().to_str().unwrap().to_owned();
    place.write("calls.sh", &format!("exec '{duet}' config check"));
    let line = "sh calls.sh";
    let around = ["--setup", line, "--prepare", line, "--conclude", line, "--cleanup", line];
    let ran = compare(&place, [line, line], "2", &around);
    let forks = ran.benchmark(line)["forks"].as_array().unwrap().len();
    assert_eq!(forks, 2, "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn options_about_packages_and_layouts_are_said_to_have_no_effect() {
    let place = place();
    let noted =
        |more: &[&str]| compare(&place, ["true", "true"], "3", &[&["--dry-run"], more].concat()).expect(0).stderr;
    let all = noted(&["--packages", "./x", "--builds", "3", "--layouts", "random"]);
    assert!(all.contains("`--packages`, `--builds`, `--layouts` have no effect here"), "{all}");
    assert!(noted(&["--builds", "3"]).contains("`--builds` has no effect here"));
    assert!(!noted(&[]).contains("no effect"));
}

#[test]
fn a_rule_on_what_nobody_counts_is_not_kept_by_silence() {
    let place = place();
    place.write("duet.toml", "[[rule]]\nmetric = 'allocs'\naction = 'gate'\n");
    let warnings = compare(&place, ["true", "true"], "3", &[]).json()["warnings"].to_string();
    assert!(warnings.contains("no rule on allocs is kept for `true`"), "{warnings}");
}

#[test]
fn several_programs_are_compared_with_the_first() {
    let place = place();
    let (base, same, slower) = ("sh work.sh 4000", "sh work.sh 4000 x", "sh work.sh 64000");
    // The first one stands beside itself too.
    let lines = ["compare", "--command", base, base, same, slower];
    let ran = place.duet(&[&lines[..], &FIXED, &["8"]].concat()).expect(3);
    assert_no_false_alarm(&ran, &[base, same]);
    assert_eq!(ran.verdict(slower), "regression", "{}", ran.stdout);
    let text = place.duet(&["show"]).expect(3).stdout;
    assert!(text.contains(&format!("\n{base} → 3 command lines\n")), "{text}");
    let again = format!("`duet compare --command '{base}' '{base}' '{same}' '{slower}' --bench ");
    assert!(text.contains(&again), "{text}");
    let exported = place.duet(&["export", "latest", "--as", "hyperfine", "--side", "candidate"]).expect(0).stdout;
    for line in [base, same, slower] {
        assert!(exported.contains(&format!("\"command\": \"{line}\"")), "{exported}");
    }
    place.duet(&["compare", "v1", "v2", "v3"]).expect(2).says(&["`v3` is a third", "--command"]);
    place.duet(&["compare", ""]).expect(2).says(&["an empty word names no version"]);
    let elsewhere = ["compare", "--command", "true", "true", "-o", "missing/report.json"];
    place.duet(&elsewhere).expect(2).says(&["there is no folder `missing`"]);
    place.duet(&["compare", "--command", "true", "true", "-o", "."]).expect(2).says(&["`.` is a folder"]);
    place.duet(&["compare", "--command", "true", "true", "--timeout", "0s"]).expect(2).says(&["longer than nothing"]);
    place.duet(&["compare", "--command", "true", "true", "--max-cost", "5"]).expect(2).says(&["`--on` chooses none"]);
    place.write("duet.toml", "wait = '5m'\nno_wait = true\n");
    place.duet(&["compare", "--command", "true", "true"]).expect(2).says(&["exclude each other"]);
}

#[test]
fn programs_are_run_and_not_built() {
    let ran = place().duet(&["compare", "--command", "sh work.sh 10", "sh work.sh 11", "--dry-run"]).expect(0);
    assert!(!ran.stderr.contains("building") && !ran.stderr.contains("listing"), "{}", ran.stderr);
    let ran = ran.says(&["running `sh work.sh 10` once", "running `sh work.sh 11` once"]);
    // A version that turned out to be what was typed is named once.
    assert!(ran.stdout.starts_with("base sh work.sh 10\nhead sh work.sh 11\n"), "{}", ran.stdout);
}

#[test]
fn memory_is_told_where_it_is_the_programs_own_and_is_no_warning() {
    let large = "sh -c 'x=$(head -c 50000000 /dev/zero | tr \"\\0\" x)'";
    let listed = |lines: [&str; 2]| {
        place().duet(&["compare", "--command", lines[0], lines[1], "--command-name", "x", "--dry-run"]).expect(0)
    };
    let small = listed(["sh -c true", "sh -c :"]);
    assert!(!small.stderr.contains("resident"), "{}", small.stderr);
    let large = listed(["sh -c true", large]);
    assert!(!large.stdout.contains("resident"), "{}", large.stdout);
    large.says(&["\nlargest resident memory while listing: `x` ", " MiB (base at most "]);
}

#[test]
fn a_planted_slowdown_is_found_in_every_mode() {
    let place = place();
    for mode in ["auto", "duet", "sequential"] {
        let ran = compare(&place, ["sh work.sh 4000", "sh work.sh 40000"], "8", &["--mode", mode, "--alpha", "5%"]);
        assert_eq!(ran.expect(3).verdict("sh work.sh 40000"), "regression", "{mode}");
    }
}

#[test]
fn every_combination_of_parameters_is_a_benchmark() {
    let place = place();
    let words = ["list", "--command", "sh work.sh {n} {mode}", "-L", "n", "10,20", "-L", "mode", "a b,c"];
    let listed = place.duet(&[&words[..], &["--command-name", "work"]].concat()).expect(0).stdout;
    let names: Vec<&str> = listed.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    assert_eq!(names, ["work:mode=a b,n=10", "work:mode=a b,n=20", "work:mode=c,n=10", "work:mode=c,n=20"]);
    let ran = compare(&place, ["sh work.sh {n}", "sh work.sh {n} x"], "3", &["-L", "n", "9,11"]);
    assert_no_false_alarm(&ran, &["sh work.sh 9 x", "sh work.sh 11 x"]);
}

/// The log of the processes, a letter each, from the first trial on.
fn logged(place: &Place) -> String {
    std::fs::read_to_string(place.path().join("log")).unwrap().split_whitespace().collect()
}

#[test]
fn what_belongs_to_a_process_runs_around_it_and_never_beside_one() {
    // Each takes long enough for a trial to be one process of each side.
    let measured = "sh -c 'sleep 0.25; echo M >> log'";
    let around = ["--prepare", "sh -c 'echo P >> log'", "--conclude", "sh -c 'echo C >> log'"];
    for (mode, trial) in [("sequential", "PMCPMC"), ("duet", "PPMMCC")] {
        let place = place();
        compare(&place, [measured, measured], "3", &[&around[..], &["--mode", mode]].concat());
        let log = logged(&place);
        assert!(log.ends_with(&trial.repeat(3)), "{mode}: {log}");
        assert_eq!(log.replace("PMC", "").replace("PPMMCC", ""), "", "{mode}: {log}");
    }
}

#[test]
fn output_is_read_as_by_a_user_unless_another_destination_is_asked_for() {
    let place = place();
    place.write("in.txt", "read\n");
    // GNU grep looks in the same way, and stops at its first match where nobody reads.
    let line = "sh -c 'to=$(readlink /proc/$$/fd/1); echo $to > log; cat >> log; echo printed' {n}";
    let check = |more: &[&str], destination: &str, input: &str| {
        place.duet(&[&["list", "--command", line], more].concat()).expect(0);
        let log = std::fs::read_to_string(place.path().join("log")).unwrap();
        let (to, read) = log.split_once('\n').unwrap();
        assert!(to.starts_with(destination), "{more:?}: {to}");
        assert_eq!(read, input, "{more:?}");
    };
    check(&[], "pipe:", "");
    check(&["--stdout", "null", "--input", "in.txt"], "/dev/null", "read\n");
    let file = place.path().join("out.in.txt");
    check(&["--stdout", "out.{n}", "--stdin", "{n}", "-L", "n", "in.txt"], &file.to_string_lossy(), "read\n");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "printed\n");
    let missing = place.duet(&["list", "--command", line, "--stdin", "none.txt"]).expect(1);
    assert!(missing.stdout.contains("none.txt` cannot be opened"), "{}{}", missing.stdout, missing.stderr);
}

#[test]
fn each_benchmark_of_each_version_is_set_up_and_cleaned_up_after_once() {
    let place = place();
    let around = ["--setup", "sh -c 'echo S{n} >> log'", "--cleanup", "sh -c 'echo C{n} >> log'", "-L", "n", "1,2"];
    let lines = ["sh -c 'echo M >> log; sleep 0.25' {n}", "sh -c 'echo M >> log; sleep 0.25' {n} x"];
    compare(&place, lines, "3", &[&around[..], &["--mode", "sequential"]].concat());
    assert_eq!(logged(&place).replace('M', ""), "S1S2S1S2C1C2C1C2");
    place.write("log", "");
    let fails = ["--setup", "sh -c 'echo no luck; exit 1'", "--cleanup", "sh -c 'exit 9'"];
    let ran = place.duet(&[&["compare", "--command", "true", "true"], &FIXED[..], &["3"], &fails].concat()).expect(1);
    let failure = ran.benchmark("true")["failure"].to_string();
    assert!(failure.contains("what is to set it up failed: exit status 1: no luck"), "{failure}");
    ran.says(&["what is to clean up after it failed: exit status 9"]);
}

/// It dies of the first line that nobody takes.
const SERVE: &str = "(while echo waiting; do sleep 0.01; done) &\necho $! >> servers\n";
const ASK: &str = "sleep 0.1; for server in $(cat servers); do kill -0 $server; done\n";

#[test]
fn a_server_that_a_set_up_starts_is_heard_until_it_is_stopped() {
    let place = place();
    place.write("serve.sh", SERVE).write("ask.sh", ASK).write("stop.sh", "kill -9 $(cat servers); rm servers\n");
    let around = ["--setup", "sh serve.sh", "--cleanup", "sh -c 'test ! -e servers || sh stop.sh'"];
    let ran = compare(&place, ["sh -e ask.sh", "sh -e ask.sh x"], "3", &around);
    let failed = &ran.benchmark("sh -e ask.sh x")["failure"];
    assert!(failed.is_null(), "{failed}");
}

#[test]
fn a_shell_runs_the_lines_where_one_is_asked_for() {
    let place = place();
    let line = "echo {n} | sed s/^/M/ >> log";
    place.duet(&["list", "--command", line, "-L", "n", "3", "--shell", "sh -e"]).expect(0);
    assert_eq!(logged(&place), "M3");
    let note = ["`echo a | wc` is started without a shell, so that `|` is an argument", "`--shell sh`"];
    let dry = place.duet(&["compare", "--command", "echo a | wc", "true", "--dry-run"]).stdout;
    assert!(note.iter().all(|words| dry.contains(words)), "{dry}");
}

#[test]
fn a_program_that_fails_is_told_with_its_words() {
    let place = place();
    for (line, words) in [
        ("sh -c 'echo no luck >&2; exit 3'", "exit status 3: no luck"),
        ("sh -c 'kill -9 $$'", "killed by signal 9"),
        ("no-such-program", "cannot run `no-such-program`"),
        ("sleep 1000", "it hangs, or waits for what the other version holds"),
    ] {
        let ran = compare(&place, ["sh work.sh 10", line], "3", &["--timeout", "1s", "--command-name", "x"]).expect(1);
        let failed = ran.benchmark("x");
        assert_eq!(failed["verdict"], "failed", "{line}: {}", ran.stdout);
        assert!(failed["failure"].to_string().contains(words), "{line}: {failed}");
    }
    // A failure stands alone.
    let dry = place.duet(&["compare", "--command", "false", "true", "--dry-run"]).expect(1).stdout;
    assert!(dry.contains("fails in base: exit status 1") && !dry.contains("warning:"), "{dry}");
    let ran = compare(&place, ["sh work.sh 10", "sh work.sh 10"], "3", &["--prepare", "sh -c 'echo cannot; exit 1'"]);
    let failure = ran.expect(1).benchmark("sh work.sh 10")["failure"].to_string();
    assert!(failure.contains("what is to prepare it failed: exit status 1: cannot"), "{failure}");
}

#[test]
fn a_program_that_fails_while_measured_names_its_version_and_releases_the_other() {
    let place = place();
    // Goes well when it is listed and in its first trial, and never again.
    let fragile = "sh -c 'echo x >> count; sleep 0.25; test $(wc -l < count) -lt 3'";
    for mode in ["duet", "interleaved"] {
        place.write("count", "");
        let ran = compare(&place, ["sleep 0.3", fragile], "6", &["--mode", mode, "--command-name", "x"]).expect(1);
        let failed = ran.benchmark("x");
        assert!(failed["failure"].to_string().contains("exit status 1"), "{mode}: {failed}");
        assert_eq!(working_below(place.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn two_programs_are_no_two_layouts_of_one_and_exports_name_each_by_its_own_command() {
    let place = place();
    let lines = ["sh work.sh 8000", "bash work.sh 24000"];
    let ran = compare(&place, lines, "8", &["--mode", "sequential", "--alpha", "5%"]).expect(3);
    assert!(!ran.stdout.contains("these two binaries differ"), "{}", ran.stdout);
    for (side, line) in ["baseline", "candidate"].iter().zip(lines) {
        let written = place.duet(&["export", "latest", "--as", "hyperfine", "--side", side]).expect(0);
        assert_eq!(written.json()["results"][0]["command"], line);
    }
}

#[test]
fn another_exit_code_can_be_expected() {
    let place = place();
    let lines = ["sh -c 'exit 7'", "sh -c 'exit 7 # other'"];
    let ran = compare(&place, lines, "3", &["--exit-code", "7", "--command-name", "x"]);
    assert_no_false_alarm(&ran, &["x"]);
    let lines = ["sh -c 'exit 7'", "sh -c 'exit 0 # other'"];
    let ran = compare(&place, lines, "3", &["--exit-code", "0,7", "--command-name", "x"]);
    assert_no_false_alarm(&ran, &["x"]);
    let ran = compare(&place, ["true", "true"], "3", &["--exit-code", "7"]).expect(1);
    assert!(ran.benchmark("true")["failure"].to_string().contains("exit status 0 instead of 7"), "{}", ran.stdout);
}

#[test]
fn what_a_program_prints_or_leaves_behind_is_no_obstacle() {
    let place = place();
    let lines = ["sh -c 'yes | head -c 3000000; sleep 1000 & exit 0'", "sh -c 'yes | head -c 3000000; exit 0'"];
    let ran = compare(&place, lines, "3", &["--command-name", "x"]);
    assert_ne!(ran.verdict("x"), "failed", "{}", ran.stdout);
    assert_eq!(working_below(place.path()), Vec::<PathBuf>::new());
}

#[test]
fn refill_keeps_the_shorter_side_company() {
    let place = place();
    // Head goes on until base has run three times as often, or for ten seconds, where nothing fills base up.
    let waits =
        "until [ $(grep -c B log) -ge $((3 * $(grep -c H log))) ] || [ $((n += 1)) -gt LOOPS ]; do sleep 0.05; done";
    let lines = |loops: &str| {
        ["sh -c 'echo B >> log'".to_owned(), format!("sh -c 'echo H >> log; n=0; {}'", waits.replace("LOOPS", loops))]
    };
    let count = |letter: char| logged(&place).chars().filter(|c| *c == letter).count();
    let run = |loops: &str, more: &[&str]| {
        place.write("log", "");
        let [base, head] = lines(loops);
        let args = [&["--mode", "duet", "--command-name", "x"], more].concat();
        let ran = compare(&place, [&base, &head], "4", &args);
        assert_ne!(ran.verdict("x"), "failed", "{}", ran.stdout);
        (count('B'), count('H'))
    };
    let (base, head) = run("0", &[]);
    assert_eq!(base, head);
    let (base, head) = run("200", &["--refill"]);
    assert!(base > 2 * head, "{}", logged(&place));
}

#[test]
fn tables_in_the_settings_run_in_each_versions_directory() {
    let place = Place::new();
    let table = "[[command]]\nname = 'work'\nbuild = \"sh -c 'cp source.sh built.sh'\"\ncommand = 'sh built.sh {n}'\n\
                 parameters = { n = ['3000'] }\n\
                 [[command]]\nname = 'other'\nbuild = \"sh -c 'cat built.sh > also.sh'\"\ncommand = 'true'\n";
    let log = place.path().join("log").display().to_string();
    let source = |version: &str| format!("echo {version} $1 >> {log}\n");
    place
        .write(".gitignore", "built.sh\nalso.sh\n.duet\nlog\n")
        .write("duet.toml", table)
        .write("source.sh", &source("base"));
    place.git(&["init", "-q"]);
    place.commit_all("base");
    place.write("source.sh", &source("head"));
    let args = [&["compare", "HEAD", "."], &FIXED[..], &["3"]].concat();
    // The second is built after the first, whose program it needs.
    assert_ne!(place.duet(&args).verdict("work:n=3000"), "failed");
    let lines = std::fs::read_to_string(log).unwrap();
    assert_eq!(lines.lines().collect::<BTreeSet<_>>(), ["base 3000", "head 3000"].into());
    place.write("duet.toml", &table.replace("cp source.sh", "echo no rule >&2; cp nothing"));
    place.duet(&args).expect(1).says(&["does not build", "no rule"]);
    place.write("duet.toml", &table.replace("command = ", "prepare = "));
    place.duet(&args).expect(2).says(&["`work`", "has no `command`"]);
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let place = place();
    let check = |args: &[&str], words: &[&str]| drop(place.duet(args).expect(2).says(words));
    check(&["compare", "--command", "true"], &["needs two command lines"]);
    check(&["run", "--command"], &["needs a command line"]);
    check(&["compare", "--command", "a 'b", "c"], &["`a 'b`", "a quote in it does not end"]);
    check(&["compare", "--command", "a", "b", "--", "-v"], &["`-v`", "write it into the command line"]);
    check(&["compare", "--command", "a", "b", "-L", "n", "1"], &["no place in `a`", "write `{n}`"]);
    check(&["compare", "v1", "v2", "--refill"], &["--command"]);
}

#[test]
fn the_report_says_how_to_repeat_the_run() {
    let place = place();
    let more = [
        "--format", "markdown", "--prepare", "echo 'a b'", "-L", "n", "9,10", "--exit-code", "0,1", "--refill",
        "--stdin", "/dev/null",
    ];
    let args = [&["compare", "--command", "sh work.sh {n}", "sh work.sh {n} x", "--forks", "3"], &more[..]].concat();
    let ran = place.duet(&args);
    let words = "duet compare --command 'sh work.sh {n}' 'sh work.sh {n} x' --prepare 'echo '\\''a b'\\''' \
                 --stdin /dev/null --parameter-list n 9,10 --exit-code 0,1 --refill --forks 3 ";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

#[test]
fn a_program_that_a_parameter_names_is_told_from_what_it_was() {
    let place = place();
    let digest = || {
        let ran = compare(&place, ["sh {s}", "sh {s}"], "3", &["-L", "s", "work.sh"]);
        ran.json()["versions"]["candidate"]["artifact_digest"].clone()
    };
    let before = digest();
    place.write("work.sh", "exit 0");
    assert_ne!(before, digest());
}

#[test]
fn a_head_of_its_own_in_a_table_is_no_further_command_line() {
    let place = place();
    place.write("duet.toml", "[[command]]\nname = 'work'\ncommand = 'sh work.sh 90'\nhead = 'sh work.sh 100'\n");
    let report = place.duet(&["compare", ".", ".", "--forks", "3", "--format", "markdown"]).stdout;
    assert!(report.contains("duet compare . . --forks 3") && !report.contains("command lines"), "{report}");
    let calibrated = place.duet(&["calibrate", ".", "--forks", "3", "--format", "json"]);
    assert_eq!(calibrated.json()["benchmarks"][0]["name"], "work", "{}{}", calibrated.stdout, calibrated.stderr);
    let both = place.duet(&["show", "r2", "--format", "json"]).json()["versions"].clone();
    assert_eq!(both["baseline"]["artifact_digest"], both["candidate"]["artifact_digest"]);
}

#[test]
fn one_version_is_measured_as_often_as_was_asked() {
    let place = place();
    let line = "sh -c 'echo x >> log'";
    let repeat = ["--suite-runs", "2", "--forks", "2", "--iterations", "3", "--warmup", "1"];
    let ran = place.duet(&[&["run", "--command", line, "--format", "json"], &repeat[..]].concat()).expect(0);
    assert_eq!(logged(&place).len(), 1 + 2 * 2 * 4);
    assert_eq!(ran.benchmark(line)["name"], line);
    place.duet(&["tune", "latest"]);
}

#[test]
fn a_program_with_its_own_loop_takes_part_in_the_lock_step() {
    let place = place();
    let body = "#include <stdio.h>\n#include \"duet.h\"\nvolatile unsigned long sum = 0;\nint main(int argc, char **argv) {\n\
                unsigned long n = argc > 1 ? strtoul(argv[1], 0, 10) : 0;\n\
                while (duet_active()) { duet_begin(); for (unsigned long i = 0; i < n; i++) sum += i;\n\
                duet_end(argc == 3 ? ~0ul : 1); if (argc > 3) return 0; }\n}\n";
    place.write("loop.c", body);
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../hooks/c");
    let built = Command::new("cc")
        .args(["-std=c99", "-O1", "-I", header, "-o", "loop", "loop.c"])
        .current_dir(place.path())
        .status();
    assert!(built.unwrap().success(), "what links Rust programs compiles C");
    // On a busy machine sides that run at once are disturbed apart, so their forks are more.
    for (mode, forks) in [("auto", "5"), ("duet", "12")] {
        let lines = ["./loop 400000", "./loop 800000"];
        let more = ["--lockstep", "--warmup", "2", "--command-name", "loop", "--mode", mode, "--alpha", "5%"];
        assert_eq!(compare(&place, lines, forks, &more).expect(3).verdict("loop"), "regression", "{mode}");
    }
    for (head, words) in [
        ("true", "ended without an iteration"),
        ("./loop 9 much", "make no sense"),
        ("./loop 9 1 once", "ended while it warmed up"),
    ] {
        let more = ["--lockstep", "--warmup", "2", "--command-name", "loop"];
        let ran = compare(&place, ["./loop 9", head], "3", &more).expect(1);
        assert!(ran.benchmark("loop")["failure"].to_string().contains(words), "{}", ran.stdout);
    }
}

/// Leaves a process in a session of its own behind, with its number in the file, and ends as told.
const LEAVE: &str = "setsid sleep 7777 </dev/null >/dev/null 2>&1 &\n\
    until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done\necho $! >> $1\nexit $2\n";

/// The processes whose numbers are in a file, and whether they are alive: a number may be somebody else's by then.
fn alive(place: &Place, file: &str) -> Vec<(String, bool)> {
    let numbers = std::fs::read_to_string(place.path().join(file)).unwrap();
    let is_alive =
        |pid: &str| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x007777\0");
    numbers.lines().map(|pid| (pid.to_owned(), is_alive(pid))).collect()
}

#[test]
fn processes_in_sessions_of_their_own_are_ended_and_every_report_names_them() {
    let place = place();
    place.write("leave.sh", LEAVE);
    let lines = ["sh leave.sh pids 0", "sh leave.sh pids 0 x"];
    let ran = compare(&place, lines, "3", &["--command-name", "x"]);
    let left = alive(&place, "pids");
    assert!(left.len() > 6, "{left:?}");
    assert_eq!(left.iter().filter(|(_, alive)| *alive).collect::<Vec<_>>(), Vec::<&(String, bool)>::new());
    let beginning = format!("x left {} processes behind: sleep (pid ", left.len());
    let warnings = ran.json()["warnings"].clone();
    let warnings = || warnings.as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned());
    let warning = warnings().find(|w| w.starts_with(&beginning) && w.ends_with("; they were ended"));
    let warning = warning.unwrap_or_else(|| panic!("{left:?}\n{:?}", warnings().collect::<Vec<_>>()));
    assert!(left.iter().any(|(pid, _)| warning.contains(&format!("{beginning}{pid})"))), "{left:?} {warning}");
    for shown in ["text", "markdown", "html"].map(|format| place.duet(&["show", "--format", format]).stdout) {
        assert!(shown.contains(&warning), "{shown}");
    }
}

#[test]
fn what_a_failing_or_listed_program_or_a_single_version_leaves_is_ended_too() {
    let place = place();
    place.write("leave.sh", LEAVE);
    let ended = |words: &[&str], code: i32, said: &[&str]| {
        place.duet(words).expect(code).says(said);
        let left = alive(&place, "pids");
        assert!(!left.is_empty() && left.iter().all(|(_, alive)| !alive), "{words:?}: {left:?}");
        place.write("pids", "");
    };
    ended(&["list", "--command", "sh leave.sh pids 0"], 0, &["left 1 process behind: sleep (pid "]);
    let failing = ["compare", "--command", "sh leave.sh pids 3", "true", "--forks", "3"];
    ended(&failing, 1, &[]);
    let run = ["run", "--command", "sh leave.sh pids 0", "--suite-runs", "1", "--forks", "1", "--iterations", "2"];
    ended(&run, 0, &[]);
    let shown = place.duet(&["show"]).stdout;
    assert!(shown.contains("sh leave.sh pids 0 left 3 processes behind: sleep (pid "), "{shown}");
}

#[test]
fn what_a_program_leaves_in_its_own_group_is_told_too() {
    let place = place();
    let left = "sh -c 'sleep 7777 & exit 0'";
    let ran = compare(&place, [left, left], "3", &["--command-name", "x"]);
    let warnings = ran.json()["warnings"].to_string();
    assert!(warnings.contains("x left ") && warnings.contains(" processes behind; they were ended"), "{warnings}");
    let ends = "sh -c 'sleep 0.001 & wait'";
    let ran = compare(&place, [ends, ends], "3", &["--command-name", "x"]);
    assert!(!ran.json()["warnings"].to_string().contains("behind"), "{}", ran.stdout);
}

/// The same with another one before that, in the script's own process group.
const LEAVE_TWO: &str = "sleep 7777 </dev/null >/dev/null 2>&1 &\necho $! >> $1\n";

#[test]
fn what_a_build_or_a_preparation_starts_goes_on() {
    let place = Place::new();
    let line = |name: &str| format!("{name} = 'sh leave.sh {name} 0'\n");
    let lines = ["build", "setup", "prepare", "conclude", "command"].map(line).concat();
    let leave = format!("{LEAVE_TWO}{LEAVE}");
    place.write("old/leave.sh", &leave).write("new/leave.sh", &leave);
    place.write("duet.toml", &format!("[[command]]\nname = 'work'\n{lines}"));
    place.duet(&[&["compare", "./old", "./new"], &FIXED[..], &["3"]].concat());
    for (file, wanted) in [("build", true), ("setup", true), ("prepare", true), ("conclude", true), ("command", false)]
    {
        let left = [alive(&place, &format!("old/{file}")), alive(&place, &format!("new/{file}"))].concat();
        for (pid, _) in left.iter().filter(|(_, alive)| *alive) {
            Command::new("kill").args(["-KILL", pid]).status().unwrap();
        }
        assert!(!left.is_empty() && left.iter().all(|(_, alive)| *alive == wanted), "{file}: {left:?}");
    }
}

/// A run that would last for minutes, measuring.
fn long_run(place: &Place, mode: &str) -> Child {
    let args = ["compare", "--command", "sleep 0.05", "sleep 0.050", "--forks", "900", "--fixed", "--mode", mode];
    let mut child = place.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|l| l.contains(": measuring ")), "it never came to measuring");
    wait_until("three trials are kept", || trials(place) >= 3);
    child
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_nobody_behind() {
    let place = place();
    let child = long_run(&place, "duet");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    Ran::from(child.wait_with_output().unwrap()).expect(130);
    assert_eq!(working_below(place.path()), Vec::<PathBuf>::new());
    let shown = place.duet(&["show", "--format", "json"]).expect(130);
    assert!(shown.benchmark("sleep 0.050")["forks"].as_array().unwrap().len() > 1);
}

#[test]
fn a_killed_run_leaves_no_process_and_is_gone_on_with() {
    let place = place();
    let line = "sh work.sh 20000";
    let args = ["compare", "--command", line, line, "--forks", "40", "--fixed", "--mode", "duet"];
    let mut child = place.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a trial is kept", || trials(&place) >= 1);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("all processes are gone", || working_below(place.path()).is_empty());
    let ran = place.duet(&["compare", "--resume", "latest", "--format", "json"]);
    assert_eq!(ran.benchmark(line)["forks"].as_array().unwrap().len(), 40, "{}{}", ran.stdout, ran.stderr);
    place.write("work.sh", "exit 0");
    place.duet(&["compare", "--resume", "latest"]).expect(2).says(&["came to its end"]);
}
