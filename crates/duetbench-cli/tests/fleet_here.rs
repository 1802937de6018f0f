//! The whole way of a run on a fleet with the real binary and real Go builds, on workers of this machine: what is found, what stays
//! here, what is refused, and what becomes of a run that is killed or interrupted.
//!
//! No test asserts a time. Identical work may read *inconclusive* on a busy machine, but never *changed*.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may")]

mod common;
mod fleet_support;
mod schema;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "what is done to runs without a fleet is more")]
#[path = "faults/support.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{GOOD, Place, Ran, assert_no_false_alarm, simple, two};
use fleet_support::{
    calls, command, comparing, db, ended, every_task_counts_once, going_on, nobody_works_for, nothing_is_left,
    slug_is_the_regression, textkit, versions, wait_for_calls, worker, workers,
};
use rustix::process::Signal;
use serde_json::Value;
use support::{Sitting, died_of, is_sound, kept, nothing_is_lost};

/// Benchmarks of the example.
const BENCHMARKS: usize = 3;

fn duet(place: &Place, args: &[&str]) -> Ran {
    Ran::from(command(place, args).output().unwrap())
}

/// Begins a run that can be disturbed.
fn begin(place: &Place, forks: &str) -> Sitting {
    Sitting::start(place, &mut command(place, &comparing("here", forks, &[])))
}

#[test]
fn the_planted_regression_is_found_and_the_report_keeps_to_the_schema() {
    let place = textkit();
    // By so many units, at an error that a loaded machine allows: with eight at 1 % a ratio of 1.8 [1.2, 2.6] was open at a load of 16.
    let ran = duet(&place, &comparing("here", "24", &["--threshold", "3%", "--alpha", "10%"])).expect(3);
    slug_is_the_regression(&ran);
    every_task_counts_once(&place, &ran, 12 * BENCHMARKS);
    assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
    let fleet = &ran.json()["fleet"];
    assert_eq!((&fleet["engine"], &fleet["builds"]), (&Value::from("here"), &Value::from(1)));
    assert!(fleet["cost_usd"].as_f64().is_some_and(|usd| usd > 0.0), "{fleet:#}");
    nobody_works_for(&place);
    nothing_is_left(&place);
}

#[test]
fn identical_versions_are_never_called_changed() {
    let place = versions(["new", "new"]);
    let ran = duet(&place, &comparing("here", "8", &[])).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkJoin", "BenchmarkSlug", "BenchmarkVowels"]);
    every_task_counts_once(&place, &ran, 4 * BENCHMARKS);
    // Without being told to measure them nothing is sent.
    let proven = duet(&place, &["compare", "./old", "./new", "--on", "here", "--worker", worker(), "--format", "json"]);
    let proven = proven.expect(0);
    assert_eq!(proven.json()["counts"]["identical_code"], BENCHMARKS, "{}", proven.stdout);
    assert_eq!(calls(&place).len(), 4 * BENCHMARKS);
}

#[test]
fn several_build_pairs_travel_together() {
    let place = textkit();
    // The last one of a kind counts.
    let ran = duet(&place, &comparing("here", "6", &["--bench", "Slug|Join", "--builds", "3"]));
    every_task_counts_once(&place, &ran, 2 * 3);
    let builds = |name: &str| ran.benchmark(name)["counts"]["builds"].as_u64();
    assert_eq!((builds("BenchmarkSlug"), builds("BenchmarkJoin")), (Some(3), Some(3)));
    assert_eq!(ran.json()["fleet"]["builds"], 3);
}

#[test]
fn a_dry_run_predicts_and_sends_nothing() {
    let place = textkit();
    let ran = duet(&place, &comparing("here", "8", &["--dry-run"])).expect(0);
    let ran = ran.says(&[
        "on here: about 12 calls, 2 at once, 2048 MB each",
        "predicted: about ",
        "prices of 20",
        "at most 30m and $2.00, by `--max-time` and `--max-cost`",
    ]);
    assert!(!ran.stderr.contains("at most about") && !ran.stdout.contains("at most"), "{}{}", ran.stderr, ran.stdout);
    let slug = ran.json()["benchmarks"].as_array().unwrap().iter().find(|b| b["name"] == "BenchmarkSlug").cloned();
    assert_eq!(slug.expect("it is planned")["fork_pairs"], 8);
    assert!(!db(&place).exists(), "a dry run was stored");
    nobody_works_for(&place);
}

/// Benchmarks that need things: a tool, the user's home, a file beside the test, a file elsewhere in the module.
const NEEDS: &str = r#"package needs

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"testing"
)

var page [4096]byte
var sum [32]byte

func work(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		sum = sha256.Sum256(page[:])
	}
}

func reads(file string) error {
	_, err := os.ReadFile(file)
	return err
}

func BenchmarkTool(b *testing.B) {
	_, err := exec.LookPath("go")
	work(b, err)
}

func BenchmarkHome(b *testing.B) { work(b, reads(os.Getenv("HOME")+"/settings")) }

func BenchmarkBeside(b *testing.B) { work(b, reads("testdata/page")) }

func BenchmarkAbove(b *testing.B) { work(b, reads("../shared/page")) }
"#;

#[test]
fn what_needs_more_than_travels_stays_here_and_is_listed() {
    let place = Place::new();
    for version in ["old", "new"] {
        place.write(&format!("{version}/go.mod"), "module example.com/needs\n\ngo 1.21\n");
        place.write(&format!("{version}/needs/needs_test.go"), NEEDS);
        place.write(&format!("{version}/needs/testdata/page"), "beside");
        place.write(&format!("{version}/shared/page"), "above");
    }
    place.write("home/settings", "of the user");
    let mut command = command(&place, &comparing("here", "8", &[]));
    let go_paths = std::env::var_os("HOME").map_or_else(|| "/root/go".into(), |home| Path::new(&home).join("go"));
    let ran = Ran::from(command.env("HOME", place.path().join("home")).env("GOPATH", go_paths).output().unwrap());
    let ran = ran.expect(1);
    for (name, why) in [("BenchmarkTool", "executable file not found"), ("BenchmarkHome", "no such file or directory")]
    {
        let benchmark = ran.benchmark(name);
        let reason = benchmark["failure"]["reason"].as_str().unwrap_or_default();
        assert!(reason.starts_with("does not run on a fleet, compare it without `--on`: "), "{benchmark:#}");
        assert!(reason.contains(why), "{benchmark:#}");
    }
    assert_no_false_alarm(&ran, &["BenchmarkBeside", "BenchmarkAbove"]);
    every_task_counts_once(&place, &ran, 4 * 2);
    let shown = duet(&place, &["show", "latest"]);
    let hint = shown.stdout.lines().find(|line| line.contains("run the first failure alone with")).unwrap();
    assert!(!hint.contains("--on"), "what does not run on a fleet is sent there again: {hint}");
}

#[test]
fn a_cap_on_cost_sends_nothing_and_a_higher_one_goes_on() {
    let place = textkit();
    let ran = duet(&place, &comparing("here", "8", &["--max-cost", "0.0000001"])).expect(1);
    let ran = ran.says(&["`--max-cost` is spent", "`duet compare --resume r1 --", "` goes on from here"]);
    assert_eq!((calls(&place), &ran.json()["complete"]), (Vec::new(), &Value::Bool(false)));
    let fleet = &ran.json()["fleet"];
    let nothing = |value: &Value| value.as_f64().is_some_and(|v| v == 0.0 && v.is_sign_positive());
    assert!(nothing(&fleet["cost_usd"]) && nothing(&fleet["billed_s"]), "{fleet:#}");
    assert_eq!(ran.verdict("BenchmarkSlug"), "inconclusive", "the user's own limit is nobody's failure");
    let shown = duet(&place, &["show", "latest"]);
    assert!(shown.stdout.contains("`duet compare --resume r1 --max-cost 0.0000002`"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("--forks"), "{}", shown.stdout);
    // There was room for a single build pair, and there is for more now: its first would be another one.
    let store = rusqlite::Connection::open(db(&place)).unwrap();
    store.execute_batch("UPDATE runs SET head = json_remove(head, '$.spec.effort.builds')").unwrap();
    let ran = duet(&place, &going_on(&["--max-cost", "1"])).says(&["linking up to 1 build pair of each package"]);
    every_task_counts_once(&place, &ran, 4 * BENCHMARKS);
}

/// A worker that carries out the rehearsal, and then dies of every call.
fn dying_worker(place: &Place) -> String {
    let path = place.path().join("dying-worker");
    // There are no tools where it runs, and each request is a line.
    let script = format!(
        "#!/bin/sh\nhand_on() {{ printf '%s\\n' \"$request\"; while read -r request; do printf '%s\\n' \"$request\"; done; }}\n\
         read -r request\ncase $request in *rehearsal*) hand_on | {} \"$@\"; exit ;; esac\nexit 3\n",
        worker()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_a_fleet_gives_up_fails_until_a_later_sitting_measures_it() {
    let place = textkit();
    let dying = dying_worker(&place);
    let more = ["--bench", "Slug|Join", "--worker", &dying];
    let mut args = comparing("here", "8", &[]);
    args.retain(|word| *word != "--worker" && *word != worker());
    let ran = duet(&place, &[&args[..], &more].concat()).expect(1);
    let ran =
        ran.says(&["calls of some benchmarks keep being lost; `duet compare --resume r1 --", "` goes on from here"]);
    let words = "15 of its last 15 calls were lost or crashed: the worker ended: exit status: 3";
    for name in ["BenchmarkSlug", "BenchmarkJoin"] {
        assert_eq!(ran.verdict(name), "failed", "{}", ran.stdout);
        assert_eq!(ran.benchmark(name)["failure"]["reason"], words);
    }
    assert_eq!((&ran.json()["complete"], &ran.json()["fleet"]["counted"]), (&Value::Bool(false), &Value::from(0)));
    let shown = duet(&place, &["show", "latest"]).expect(1);
    assert!(shown.stdout.contains("go on with the run with `duet compare --resume r1`"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("--forks"), "{}", shown.stdout);
    let ran = duet(&place, &going_on(&[]));
    every_task_counts_once(&place, &ran, 4 * 2);
    assert!(matches!(ran.code, 0 | 3) && ran.json()["counts"]["failed"] == 0, "{}", ran.stdout);
    duet(&place, &["show", "latest"]).expect(ran.code);
}

#[test]
fn a_run_that_is_being_measured_is_not_gone_on_with() {
    let place = textkit();
    let mut sitting = begin(&place, "24");
    wait_for_calls(&place, &mut sitting, 1);
    duet(&place, &going_on(&[])).expect(2).says(&["run `r1` is being measured: wait for it, or interrupt it"]);
    assert!(sitting.signal(Signal::INT), "it ended before:\n{}", sitting.stderr());
    sitting.end().1.expect(130);
}

#[test]
fn what_cannot_be_sent_is_refused_with_a_remedy() {
    let place = textkit();
    let usual = ["compare", "./old", "./new", "--on", "here"];
    let refused = |args: &[&str], code: i32, words: &[&str]| {
        duet(&place, args).expect(code).says(words);
    };
    let with = |more: &[&'static str]| [&usual[..], more].concat();
    refused(&with(&["--worker", worker(), "--pass-env", "TOKEN"]), 2, &["leave out `--pass-env`"]);
    refused(&with(&["--worker", "./nowhere"]), 2, &["no worker `./nowhere`", "`make worker`"]);
    refused(
        &["compare", "--command", "/bin/true", "/bin/echo", "--on", "here", "--worker", worker()],
        1,
        &["a fleet has no whole programs", "leave out `--on`"],
    );
    assert!(!db(&place).exists(), "what was refused was stored");
}

/// Where there is no Maven the message is another.
#[test]
fn jmh_does_not_travel() {
    let place = Place::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/03-jmh");
    // Where it lies, each of two builds would copy the whole repository, with all that cargo has built in it.
    let (parts, project) = (["pom.xml", "src"].map(|part| example.join(part)), place.path().join("jmh"));
    fs::create_dir(&project).unwrap();
    assert!(std::process::Command::new("cp").arg("-r").args(parts).arg(&project).status().unwrap().success());
    let ran = duet(&place, &["compare", "./jmh", "./jmh", "--on", "here", "--worker", worker()]).expect(1);
    ran.says(&["a fleet has no", "which these benchmarks need", "hint: leave out `--on`"]);
}

#[test]
fn a_worker_that_is_not_there_is_missed_at_once() {
    let place = textkit();
    let alone = place.path().join("duet");
    fs::copy(env!("CARGO_BIN_EXE_duet"), &alone).unwrap();
    let usual = command(&place, &[]);
    let mut command = std::process::Command::new(alone);
    command.args(["compare", "./old", "./new", "--on", "here"]).current_dir(place.path()).env_remove("CI");
    for (name, value) in usual.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    let ran = Ran::from(command.output().unwrap()).expect(1);
    let ran = ran.says(&["no `duet-worker` beside `duet`", "`make worker` builds it", "`--worker FILE`"]);
    assert!(!ran.stderr.contains("building"), "it was built for nothing:\n{}", ran.stderr);
}

#[test]
fn a_run_that_is_killed_is_gone_on_with() {
    let place = textkit();
    let tasks = 12 * BENCHMARKS;
    let mut sitting = begin(&place, "24");
    for goal in [4, 14, 24] {
        wait_for_calls(&place, &mut sitting, goal);
        assert!(workers(&place).len() > 1, "nobody works below the place: what follows would prove nothing");
        let before = kept(&db(&place));
        assert!(sitting.signal(Signal::KILL), "it ended before:\n{}", sitting.stderr());
        let (status, _) = sitting.end();
        assert!(died_of(status, Signal::KILL));
        nobody_works_for(&place);
        nothing_is_lost(&before, &kept(&db(&place)));
        sitting = Sitting::start(&place, &mut command(&place, &going_on(&[])));
    }
    let (_, ran) = sitting.end();
    every_task_counts_once(&place, &ran, tasks);
    assert!(matches!(ran.code, 0 | 3), "{}\n{}", ran.code, ran.stderr);
    assert_eq!(ran.benchmark("BenchmarkSlug")["counts"]["forks"], 24);
    // The report names the calls that were in flight, because they may have cost something.
    let sent = ended(&place, "sent");
    assert!(sent > 0, "no call was in flight when it was killed");
    assert_eq!(ran.json()["fleet"]["calls"]["sent"], sent);
    let text = duet(&place, &["show", "latest"]);
    assert!(text.stdout.contains(&format!("{tasks} of {tasks} calls count, {sent} never heard of")), "{}", text.stdout);
    is_sound(&db(&place));
    nobody_works_for(&place);
    nothing_is_left(&place);
}

#[test]
fn a_run_that_was_killed_is_removed_though_its_sources_have_changed() {
    let place = textkit();
    let mut sitting = begin(&place, "24");
    wait_for_calls(&place, &mut sitting, 1);
    assert!(sitting.signal(Signal::KILL), "it ended before:\n{}", sitting.stderr());
    sitting.end();
    place.write("new/more.go", "package textkit\n\nfunc init() { println() }\n");
    duet(&place, &going_on(&[])).expect(2).says(&["binaries differ"]);
    duet(&place, &["rm", "r1"]).expect(0).says(&["removed r1"]);
}

#[test]
fn a_run_of_another_region_is_not_gone_on_with() {
    let place = textkit();
    duet(&place, &comparing("here", "8", &["--max-cost", "0.0000001"])).expect(1);
    let store = rusqlite::Connection::open(db(&place)).unwrap();
    store.execute_batch("UPDATE runs SET head = json_set(head, '$.fleet.region', 'eu-central-1')").unwrap();
    let refused = duet(&place, &going_on(&[])).expect(2);
    refused.says(&["run `r1` was measured in eu-central-1", "`duet compare --resume r1 --region eu-central-1`"]);
}

#[test]
fn an_interrupted_run_drains_reports_and_is_gone_on_with() {
    let place = textkit();
    let mut sitting = begin(&place, "24");
    wait_for_calls(&place, &mut sitting, 5);
    assert!(sitting.signal(Signal::INT), "it ended before:\n{}", sitting.stderr());
    let (_, ran) = sitting.end();
    let ran = ran.expect(130).says(&["interrupted; `duet compare --resume r1 --", "` goes on from here"]);
    assert_eq!((&ran.json()["complete"], &ran.json()["exit_code"]), (&Value::Bool(false), &Value::from(130)));
    nobody_works_for(&place);
    // It was heard of all calls, and all that was heard counts.
    let heard = calls(&place);
    assert!(heard.iter().all(|(.., end)| end == "counted"), "{heard:?}");
    assert!((5..12 * BENCHMARKS).contains(&heard.len()), "{}", heard.len());
    assert_eq!(ran.json()["fleet"]["counted"], heard.len());
    let ran = duet(&place, &going_on(&[]));
    every_task_counts_once(&place, &ran, 12 * BENCHMARKS);
    assert_eq!(calls(&place).len(), 12 * BENCHMARKS, "something was sent twice");
    nobody_works_for(&place);
}

#[test]
fn an_environment_of_the_users_does_not_travel() {
    let shows = simple(&GOOD.replace(
        "(b *testing.B) {\n",
        "(b *testing.B) {\n\tfor _, v := range os.Environ() {\n\t\tif strings.Contains(v, \"opensesame\") {\n\t\t\tb.Fatal(v)\n\t\t}\n\t}\n",
    ));
    let shows = shows.replace("\t\"os\"\n", "\t\"os\"\n\t\"strings\"\n");
    let place = two(&shows, &shows);
    let mut command = command(&place, &comparing("here", "6", &[]));
    let ran = Ran::from(command.env("AWS_SECRET_ACCESS_KEY", "opensesame").output().unwrap()).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkGood"]);
    assert!(!ran.stdout.contains("opensesame") && !ran.stderr.contains("opensesame"));
}
