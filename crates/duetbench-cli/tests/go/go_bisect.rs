//! `duet bisect` on a repository with a planted commit, with real Go builds. The plant is so large that few build pairs decide.

use std::io::Write;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Place, Ran, trials, wait_until};

/// The commit that doubles the work.
const PLANTED: usize = 7;
/// A commit that does not build.
const BROKEN: usize = 6;
const LAST: usize = 11;

/// A module whose benchmark does so many rounds of work.
fn source(rounds: u32, more: &str) -> String {
    format!(
        "package fixture\n\nimport \"crypto/sha256\"\n\nvar page [4096]byte\n\n{more}\nfunc Work() (sum [32]byte) {{\n\
         \tfor i := 0; i < {rounds}; i++ {{\n\t\tsum = sha256.Sum256(page[:])\n\t}}\n\treturn sum\n}}\n"
    )
}

const BENCHMARK: &str = "package fixture\n\nimport \"testing\"\n\nvar sum [32]byte\n\nfunc BenchmarkWork(b *testing.B) {\n\
                         \tfor i := 0; i < b.N; i++ {\n\t\tsum = Work()\n\t}\n}\n";

/// Twelve commits; those not named above change a constant or only a comment.
fn repository(planted: u32) -> Place {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write(".gitignore", ".duet\n");
    place.write("go.mod", "module example.com/fixture\n\ngo 1.21\n").write("fixture_test.go", BENCHMARK);
    for commit in 0..=LAST {
        let rounds = if commit >= PLANTED { planted } else { 2 };
        let more = if commit == BROKEN { "func Broken( {".to_owned() } else { format!("// Change {commit}.") };
        place.write("fixture.go", &source(rounds, &more)).commit_all(&format!("change {commit}"));
    }
    place
}

fn commit(place: &Place, number: usize) -> String {
    place.git(&["rev-parse", &format!("HEAD~{}", LAST - number)]).trim().to_owned()
}

fn bisect(place: &Place, more: &[&str]) -> Ran {
    let good = format!("HEAD~{LAST}");
    place.duet(
        &[&["bisect", &good, "HEAD", "--format", "json", "--threshold", "20%", "--seed", "1", "--builds", "1"], more]
            .concat(),
    )
}

#[track_caller]
fn assert_found(place: &Place, found: &Value) {
    assert_eq!(found["answer"], "steps", "{found:#}");
    let steps = found["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{found:#}");
    // The commit before it does not build, and hides which of the two it is.
    assert_eq!(steps[0]["commit"], commit(place, PLANTED), "{found:#}");
    assert_eq!(steps[0]["parent"], commit(place, BROKEN - 1), "{found:#}");
    assert_eq!(steps[0]["hidden"][0], commit(place, BROKEN), "{found:#}");
    assert_eq!(steps[0]["verdict"], "regression", "{found:#}");
    assert!(place.duet(&["show", steps[0]["run"].as_str().unwrap()]).code == 3, "{found:#}");
    assert_eq!(found["skipped"][0]["commit"], commit(place, BROKEN), "{found:#}");
}

#[test]
fn a_planted_commit_is_found_after_an_interrupt_as_well() {
    let place = repository(4);
    let good = format!("HEAD~{LAST}");
    let arguments = ["bisect", &good, "HEAD", "--format", "json", "--threshold", "20%", "--seed", "1", "--builds", "1"];
    let mut command: Command = place.command(&arguments);
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_until("something is measured", || trials(&place) > 0);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let ran = place.duet(&["bisect", "--resume", "--format", "json"]).expect(3);
    let found = ran.json();
    assert_found(&place, &found);
    // The run that was interrupted is the first comparison.
    assert_eq!(found["compared"][0]["run"], "r1", "{found:#}");
    let departures = crate::schema::departures_from(crate::schema::BISECT, &found);
    assert_eq!(departures, Vec::<String>::new());
}

#[test]
fn where_only_comments_differ_nothing_is_found() {
    let place = repository(2);
    let found = bisect(&place, &[]).expect(4).json();
    assert_eq!(found["answer"], "nothing_slower", "{found:#}");
}

/// Between the end points, whose benchmarks are the same, most commits have another one that does twice the work.
#[test]
fn a_commit_whose_benchmark_is_another_one_is_not_taken_for_a_slow_one() {
    let place = repository(2);
    let twice = BENCHMARK.replace("\t\tsum = Work()\n", "\t\tsum = Work()\n\t\tsum = Work()\n");
    let of = |benchmark: &str, rounds: u32, subject: &str| {
        place.write("fixture_test.go", benchmark).write("fixture.go", &source(rounds, &format!("// {subject}.")));
        place.commit_all(subject);
    };
    ["redefined", "still", "again"].iter().for_each(|subject| of(&twice, 2, subject));
    of(BENCHMARK, 2, "restored");
    of(BENCHMARK, 4, "slow");
    let arguments = ["HEAD~5", "HEAD", "--format", "json", "--threshold", "20%", "--seed", "1", "--builds", "1"];
    let mut command = place.command(&[&["bisect"], &arguments[..]].concat());
    let found = Ran::from(command.env_remove("DUET_SAME_BENCHMARKS").output().unwrap()).expect(3).json();
    assert_eq!(found["steps"][0]["commit"], place.git(&["rev-parse", "HEAD"]).trim(), "{found:#}");
    assert!(found["skipped"][0]["reason"].as_str().unwrap().contains("is another benchmark there"), "{found:#}");
}

#[test]
fn a_dry_run_lists_the_commits_and_measures_nothing() {
    let place = repository(4);
    let found = bisect(&place, &["--dry-run"]).expect(0).json();
    assert_eq!((&found["answer"], &found["commits"]), (&"planned".into(), &LAST.into()));
    assert_eq!(trials(&place), 0);
    assert!(!place.path().join(".duet").exists());
}

#[test]
fn only_commits_of_one_line_are_searched() {
    let place = repository(2);
    place.duet(&["bisect", "HEAD", "HEAD~3"]).expect(2).says(&["first parents"]);
    place.duet(&["bisect", "HEAD", "HEAD"]).expect(2).says(&["the same commit"]);
    place.duet(&["bisect", "example.com/m@v1.0.0", "HEAD"]).expect(2).says(&["nothing to search", "two releases"]);
    place.duet(&["bisect"]).expect(2).says(&["needs a commit", "hint: "]);
    place.duet(&["bisect", "--resume"]).expect(1).says(&["no store"]);
}

/// A module proxy of files with releases of a module, `v1.0.0` and on, which do so many rounds of work.
pub(crate) fn published(place: &Place, module: &str, rounds: &[u32]) {
    for (number, rounds) in rounds.iter().enumerate() {
        let version = format!("v1.{number}.0");
        let declared = format!("module {module}\n\ngo 1.21\n");
        let files = [
            ("go.mod", declared.clone()),
            ("fixture.go", source(*rounds, &format!("// Release {number}."))),
            ("fixture_test.go", BENCHMARK.to_owned()),
        ];
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in files {
            let path = format!("{module}@{version}/{name}");
            archive.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        let folder = place.path().join("proxy").join(module).join("@v");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{version}.zip")), archive.finish().unwrap().into_inner()).unwrap();
        std::fs::write(folder.join(format!("{version}.mod")), declared).unwrap();
        std::fs::write(folder.join(format!("{version}.info")), format!("{{\"Version\":\"{version}\"}}")).unwrap();
        let known: String = (0..=number).rev().map(|known| format!("v1.{known}.0\n")).collect();
        std::fs::write(folder.join("list"), known).unwrap();
    }
}

#[test]
fn releases_of_a_module_are_searched_as_commits_are() {
    let place = Place::new();
    published(&place, "example.com/fixture", &[2, 2, 4, 4, 4]);
    let cache = place.path().join("cache");
    let go = |command: &mut Command| {
        command.env("GOPROXY", format!("file://{}", place.path().join("proxy").display())).env("GOMODCACHE", &cache);
        Ran::from(command.env("GONOSUMDB", "*").env("GOFLAGS", "").output().unwrap())
    };
    let module = |version: &str| format!("example.com/fixture@{version}");
    let bisect = |good: &str, bad: &str, more: &[&str]| {
        let ends = [module(good), module(bad)];
        let ends = ends.each_ref().map(String::as_str);
        let rest = ["--format", "json", "--threshold", "20%", "--seed", "1", "--builds", "1"];
        go(&mut place.command(&[&["bisect"], &ends[..], &rest, more].concat()))
    };
    let found = bisect("v1.0.0", "v1.4.0", &[]).expect(3).json();
    assert_eq!(found["steps"][0]["commit"], module("v1.2.0"), "{found:#}");
    assert_eq!(found["steps"][0]["parent"], module("v1.1.0"), "{found:#}");
    bisect("v1.3.0", "v1.1.0", &["--dry-run"]).says(&["is not older than"]);
    bisect("v1.0.0", "v1.9.0", &["--dry-run"]).says(&["has no release `v1.9.0`"]);
    // The client makes its cache read-only, which would outlive the place.
    go(Command::new("go").args(["clean", "-modcache"])).expect(0);
}

#[test]
fn git_can_search_by_the_answers() {
    let place = repository(4);
    let check = |base: usize, head: usize, want: i32| {
        let [base, head] = [base, head].map(|number| commit(&place, number));
        let more = ["--threshold", "20%", "--quiet", "--builds", "1"];
        place.duet(&[&["compare", "--classify", &base, &head], &more[..]].concat()).expect(want);
    };
    check(0, 3, 0);
    check(0, PLANTED, 1);
    check(0, BROKEN, 125);
}
