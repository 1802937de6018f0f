//! `duet bisect` inside merges and by several benchmarks, with real Go builds and large plants.

use std::fs::File;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Place, Ran, wait_until};

/// A package of a function for each of these names, each with so many rounds of work, and a benchmark of each.
fn module(place: &Place, names: &[&str]) {
    place.git(&["init", "-q"]);
    place.write(".gitignore", ".duet\nstderr\n").write("go.mod", "module example.com/fixture\n\ngo 1.21\n");
    let of = |name: &&str| {
        format!("func Benchmark{name}(b *testing.B) {{\n\tfor i := 0; i < b.N; i++ {{\n\t\tsum = {name}()\n\t}}\n}}\n")
    };
    let benchmarks: String = names.iter().map(of).collect();
    let head = "package fixture\n\nimport \"testing\"\n\nvar sum [32]byte\n";
    place.write("fixture_test.go", &format!("{head}\n{benchmarks}"));
}

/// Commits a function of a file of its own.
fn commit(place: &Place, name: &str, rounds: &str, subject: &str) {
    let text = format!(
        "package fixture\n\nimport \"crypto/sha256\"\n\n// {subject}.\nvar page{name} [4096]byte\n\nfunc {name}() (sum [32]byte) {{\n\
         \tfor i := 0; i < {rounds}; i++ {{\n\t\tsum = sha256.Sum256(page{name}[:])\n\t}}\n\treturn sum\n}}\n"
    );
    place.write(&format!("{name}.go"), &text).commit_all(subject);
    place.git(&["tag", subject]);
}

/// Merges a branch into the main one, with a commit of its own.
fn merge(place: &Place, branch: &str, subject: &str) {
    place.git(&["checkout", "-q", "main"]);
    place.git(&["merge", "-q", "--no-ff", "-m", subject, branch]);
    place.git(&["tag", subject]);
}

fn id(place: &Place, name: &str) -> String {
    place.git(&["rev-parse", name]).trim().to_owned()
}

const SETTINGS: [&str; 8] = ["--format", "json", "--threshold", "20%", "--seed", "1", "--builds", "1"];

fn bisect(place: &Place, more: &[&str]) -> Ran {
    place.duet(&[&["bisect", "start", "end"], &SETTINGS[..], more].concat())
}

#[track_caller]
fn assert_keeps_to_schema(found: &Value) {
    assert_eq!(crate::schema::departures_from(crate::schema::BISECT, found), Vec::<String>::new());
}

/// A search that is interrupted once it says this, and gone on with; with what the first sitting said.
fn interrupted_at(place: &Place, words: &str) -> Value {
    let said = place.path().join("stderr");
    let mut command: Command = place.command(&[&["bisect", "start", "end"], &SETTINGS[..]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(File::create(&said).unwrap()).spawn().unwrap();
    wait_until(words, || std::fs::read_to_string(&said).unwrap().contains(words));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{}", std::fs::read_to_string(&said).unwrap());
    place.duet(&["bisect", "--resume", "--format", "json"]).expect(3).json()
}

/// Runs of a search.
fn runs(found: &Value) -> Vec<&str> {
    found["compared"].as_array().unwrap().iter().filter_map(|one| one["run"].as_str()).collect()
}

/// A branch with the plant in its second commit, which is checked out.
fn planted_on_a_branch() -> Place {
    let place = Place::new();
    module(&place, &["Work"]);
    commit(&place, "Work", "2", "start");
    place.git(&["checkout", "-q", "-b", "side"]);
    commit(&place, "Work", "2", "side-1");
    commit(&place, "Work", "4", "side-2");
    place
}

/// The same branch, a commit longer, merged where the main line had gone on.
fn with_branch() -> Place {
    let place = planted_on_a_branch();
    commit(&place, "Work", "4", "side-3");
    place.git(&["checkout", "-q", "main"]);
    commit(&place, "Aside", "2", "main-1");
    merge(&place, "side", "merged");
    commit(&place, "Aside", "2", "end");
    place
}

#[test]
fn the_commit_inside_a_merge_is_found_after_an_interrupt_there_as_well() {
    let place = with_branch();
    let planned = bisect(&place, &["--dry-run"]).expect(0).json();
    assert_eq!((&planned["commits"], &planned["inside_merges"]), (&3.into(), &3.into()), "{planned:#}");
    let found = interrupted_at(&place, "where they begin");
    assert_keeps_to_schema(&found);
    let step = &found["steps"][0];
    assert_eq!((&step["commit"], &step["merge"]), (&id(&place, "merged").into(), &true.into()), "{found:#}");
    assert_eq!(step["parent"], id(&place, "main-1"), "{found:#}");
    let inside = &step["inside"][0];
    let ends = [&inside["base"], &inside["tip"]].map(|end| end.as_str().unwrap().to_owned());
    assert_eq!((ends, &inside["commits"]), (["start", "side-3"].map(|end| id(&place, end)), &3.into()), "{found:#}");
    let inner = &inside["steps"][0];
    assert_eq!(inner["commit"], id(&place, "side-2"), "{found:#}");
    assert_eq!(inner["parent"], id(&place, "side-1"), "{found:#}");
    assert_eq!(inner["verdict"], "regression", "{found:#}");
    place.duet(&["show", inner["run"].as_str().unwrap()]).expect(3);

    // Asked again it begins anew, and stays outside where that is wanted.
    let outside = bisect(&place, &["--first-parent"]).expect(3).json();
    assert_eq!(outside["steps"][0]["commit"], id(&place, "merged"), "{outside:#}");
    assert_eq!(outside["steps"][0]["inside"], Value::Array(Vec::new()), "{outside:#}");
    assert!(runs(&outside).iter().all(|run| !runs(&found).contains(run)), "{outside:#}");
}

#[test]
fn where_only_the_merge_is_slower_the_merge_is_named() {
    let place = Place::new();
    module(&place, &["Work"]);
    place.write("here.go", "package fixture\n\nvar here = 0\n").write("there.go", "package fixture\n\nvar there = 1\n");
    commit(&place, "Work", "4+here*there", "fork");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write("there.go", "package fixture\n\nvar there = 8\n").commit_all("side");
    place.git(&["checkout", "-q", "main"]);
    place.write("here.go", "package fixture\n\nvar here = 1\n").commit_all("main");
    place.git(&["tag", "start"]);
    merge(&place, "side", "end");
    let found = bisect(&place, &[]).expect(3).json();
    assert_keeps_to_schema(&found);
    let step = &found["steps"][0];
    assert_eq!(step["commit"], id(&place, "end"), "{found:#}");
    let inside = &step["inside"][0];
    assert_eq!(inside["base"], id(&place, "fork"), "{found:#}");
    assert_eq!((&inside["answer"], &inside["steps"]), (&"not_slower".into(), &Value::Array(Vec::new())), "{found:#}");
}

#[test]
fn what_was_measured_of_the_same_sources_is_not_measured_again() {
    let place = planted_on_a_branch();
    // It holds what the last commit of the branch does.
    merge(&place, "side", "end");
    let found = bisect(&place, &[]).expect(3).json();
    let inside = &found["steps"][0]["inside"][0];
    assert_eq!(inside["steps"][0]["commit"], id(&place, "side-2"), "{found:#}");
    assert_eq!(inside["steps"][0]["parent"], id(&place, "side-1"), "{found:#}");
    let of_start = |one: &&Value| one["base"] == id(&place, "start") && one["head"] == id(&place, "side-2");
    assert_eq!(found["compared"].as_array().unwrap().iter().find(of_start), None, "{found:#}");
}

#[test]
fn benchmarks_that_slowed_for_other_reasons_are_searched_in_the_same_search() {
    let place = Place::new();
    module(&place, &["Work", "Twin", "Other"]);
    for name in ["Work", "Twin"] {
        commit(&place, name, "2", &format!("{name}-1"));
    }
    commit(&place, "Other", "2", "start");
    commit(&place, "Other", "3", "slow-other");
    place.write("doc.go", "// Package fixture.\npackage fixture\n").commit_all("between");
    // One commit slows two of them.
    let twin = std::fs::read_to_string(place.path().join("Twin.go")).unwrap();
    place.write("Twin.go", &twin.replace("i < 2", "i < 5"));
    commit(&place, "Work", "6", "slow-work");
    place.write("doc.go", "// Package fixture is one.\npackage fixture\n").commit_all("behind");
    place.git(&["tag", "end"]);
    let found = interrupted_at(&place, "that does not explain BenchmarkOther");
    assert_keeps_to_schema(&found);
    assert_eq!(found["benchmark"], "BenchmarkWork", "{found:#}");
    assert_eq!(found["steps"][0]["commit"], id(&place, "slow-work"), "{found:#}");
    let further = found["further"].as_array().unwrap();
    assert_eq!(further.len(), 1, "{found:#}");
    assert_eq!((&further[0]["benchmark"], &further[0]["answer"]), (&"BenchmarkOther".into(), &"steps".into()));
    assert_eq!(further[0]["steps"][0]["commit"], id(&place, "slow-other"), "{found:#}");
    let others = found["others"].as_array().unwrap();
    assert_eq!(others.len(), 1, "{found:#}");
    assert_eq!((&others[0]["name"], &others[0]["explained"]), (&"BenchmarkTwin".into(), &true.into()), "{found:#}");
    // The end points are compared once for all.
    let ends = |one: &&Value| one["base"] == found["good"] && one["head"] == found["bad"];
    assert_eq!(found["compared"].as_array().unwrap().iter().filter(ends).count(), 1, "{found:#}");
}

#[test]
fn inside_one_merge_each_benchmark_has_its_commit_also_before_the_branch_was_updated() {
    let place = Place::new();
    module(&place, &["Work", "Other"]);
    commit(&place, "Work", "2", "work-0");
    commit(&place, "Other", "2", "start");
    place.git(&["checkout", "-q", "-b", "side"]);
    commit(&place, "Other", "3", "side-1");
    place.git(&["checkout", "-q", "main"]);
    commit(&place, "Aside", "2", "main-1");
    place.git(&["checkout", "-q", "side"]);
    place.git(&["merge", "-q", "--no-ff", "-m", "update", "main"]);
    place.git(&["tag", "update"]);
    commit(&place, "Work", "5", "side-2");
    merge(&place, "side", "end");
    let found = bisect(&place, &[]).expect(3).json();
    assert_keeps_to_schema(&found);
    // The line begins where the branch was updated, since what came by that is no part of the merge.
    let inside = &found["steps"][0]["inside"][0];
    assert_eq!(inside["base"], id(&place, "main-1"), "{found:#}");
    assert_eq!(inside["steps"][0]["commit"], id(&place, "side-2"), "{found:#}");
    let other = &found["further"][0];
    assert_eq!(other["benchmark"], "BenchmarkOther", "{found:#}");
    let update = &other["steps"][0]["inside"][0]["steps"][0];
    assert_eq!(
        (&update["commit"], &update["parent"]),
        (&id(&place, "update").into(), &id(&place, "main-1").into()),
        "{found:#}"
    );
    assert_eq!(update["inside"][0]["steps"][0]["commit"], id(&place, "side-1"), "{found:#}");
    assert_eq!(update["inside"][0]["steps"][0]["parent"], id(&place, "start"), "{found:#}");
}
