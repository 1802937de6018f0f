//! Reach, held against one change of every kind that can lead from a benchmark to code or data.
//!
//! Every case says which of all benchmarks of the package are affected: one too few would be a false proof, one too many a
//! measurement for nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use duetbench_core::Role;
use duetbench_core::reach::Reach;
use duetbench_run::adapter::go::{Go, GoArguments, Toolchain};
use duetbench_run::adapter::{Adapter, Build, Conditions, Subject};
use duetbench_run::source::{Source, VersionRequest};

use crate::common::Place;

#[path = "reach_module.rs"]
mod module;

use module::{FILES, LIB, TESTS};

/// A change of one file, and the benchmarks that it affects.
struct Case {
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    affected: &'static [&'static str],
}

const fn case(name: &'static str, [file, from, to]: [&'static str; 3], affected: &'static [&'static str]) -> Case {
    Case { name, file, from, to, affected }
}

/// Stands for every benchmark.
const ALL: &[&str] = &["*"];

/// Benchmarks that look methods up, by which they reach almost all of package reflect and what that can find: they may be affected by
/// what others are.
const REFLECTIVE: [&str; 3] = ["ByName", "ByConstant", "ByNumber"];

const LEADS_TO_ONE: [Case; 21] = [
    case("a function that is called", [LIB, "n*3 + 7", "n*3 + 9"], &["Direct"]),
    case(
        "a method called by an interface, of a type made elsewhere",
        ["elsewhere/elsewhere.go", "n + 11", "n + 13"],
        &["Interface"],
    ),
    case("a method of a type in an interface that was a constant", [LIB, "\"late\"", "\"sooner\""], &["Assertion"]),
    case("a method found by a name that is not known", [LIB, "n + 21", "n + 23"], &["ByName"]),
    case("a method found by a name that is a constant", [LIB, "n + 31", "n + 33"], &["ByConstant"]),
    case("a method found by its number", [LIB, "n + 41", "n + 43"], &["ByNumber"]),
    case("a function behind a linkname", ["hide/hidden.go", "n + 51", "n + 53"], &["Linkname"]),
    case("a closure", [LIB, "n + step + 61", "n + step + 63"], &["Closure"]),
    case("a method value", [LIB, "n + 71", "n + 73"], &["MethodValue"]),
    case("a generic function", [LIB, "total += one + 1", "total += one + 2"], &["Generic"]),
    case("a method called by a generic function", [LIB, "n + 81", "n + 83"], &["Constraint"]),
    case("a constant string", [LIB, "\"constant\"", "\"Constant\""], &["Text"]),
    case("constant numbers", [LIB, "1, 2, 3, 4", "1, 2, 3, 5"], &["Numbers"]),
    case("texts in a variable", [LIB, "\"red\", \"green\"", "\"red\", \"blue\""], &["Texts"]),
    case("the first value of a variable", [LIB, "level = 41", "level = 43"], &["Variable"]),
    case("the layout of a struct", [LIB, "a int8\n\tb int64", "b int64\n\ta int8"], &["Struct"]),
    case("the type of a key, which has its own hash", [LIB, "text string", "text [2]string"], &["Key"]),
    case("a tag that only reflection sees", [LIB, "json:\"x\"", "json:\"y\""], &["Tag"]),
    case("assembly", ["vxqzl/add_amd64.s", "$91", "$93"], &["Assembly"]),
    case("a goroutine that the benchmark starts", [LIB, "n + 101", "n + 103"], &["Goroutine"]),
    case("the benchmark itself", [TESTS, "Direct(b.N)", "Direct(b.N + 1)"], &["Direct"]),
];

const LEADS_TO_ALL: [Case; 10] = [
    case("what a variable begins with, by a function", [LIB, "return 111", "return 113"], ALL),
    case("an init function", [LIB, "written = 3", "written = 4"], ALL),
    case("a goroutine that an init function starts", [LIB, "background + 121", "background + 123"], ALL),
    case("an init function of another package", ["elsewhere/elsewhere.go", "begun = 1", "begun = 2"], ALL),
    case("an embedded file", ["p/data.txt", "embedded", "Embedded"], ALL),
    case("a file of test data", ["p/testdata/case.txt", "1", "2"], ALL),
    case("what a map begins with", [LIB, "141", "143"], ALL),
    case("TestMain", [TESTS, "prepare(1)", "prepare(2)"], ALL),
    case("what the collector has to scan", [LIB, "var kept [1]*int", "var kept [2]*int"], ALL),
    case("Go's rules of an older release", ["go.mod", "go 1.22", "go 1.21"], ALL),
];

const LEADS_TO_NONE: [Case; 5] = [
    case("a test", [TESTS, "tested(1)", "tested(2)"], &[]),
    case("one more benchmark", [TESTS, "// more", "func BenchmarkMore(b *testing.B) { for b.Loop() {} }"], &[]),
    case("what only tests call", [LIB, "n + 131", "n + 133"], &[]),
    case("a comment above everything", [LIB, "import (", "// A comment.\n\nimport ("], &["Lines"]),
    case("a function that nobody calls", [LIB, "func unused() {}", "func unused() { println() }"], &[]),
];

/// The adapter with what it was asked to build.
struct Bench {
    place: Place,
    go: Go,
}

impl Bench {
    fn new() -> Bench {
        let place = Place::new();
        write(&place, "base", None);
        let scratch = place.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let source = source(&place, "base");
        let toolchain = Toolchain::for_all(std::slice::from_ref(&source), &scratch).unwrap();
        let timeout = Duration::from_secs(60);
        let conditions =
            Conditions { timeout, pass_env: &[], layouts: None, reach: true, selection: None, sandbox: None };
        let mut go = Go::new(toolchain, GoArguments::default(), &scratch, conditions).unwrap();
        go.prepare_layouts(&mut || {});
        Bench { place, go }
    }

    fn build(&self, dir: &str, role: Role) -> (Source, Build) {
        let source = source(&self.place, dir);
        let built = self.go.build(&source, &["./p".to_owned()], Subject { role, version: dir }).unwrap();
        (source, built.build)
    }

    /// Checks what is said of each change.
    fn check(&self, cases: &[Case]) {
        let (from, base) = self.build("base", Role::Baseline);
        for (number, case) in cases.iter().enumerate() {
            let dir = format!("head-{number}");
            write(&self.place, &dir, Some(case));
            let (to, head) = self.build(&dir, Role::Candidate);
            let reaches = self.go.reach([&base, &head], [&from, &to]);
            assert!(reaches.unknown.is_empty(), "{}: {:?}", case.name, reaches.unknown);
            assert_eq!(reaches.of.len(), module::BENCHMARKS, "{:?}", reaches.of.keys());
            let affected = reaches.of.iter().filter(|(_, reach)| **reach != Reach::Same);
            let affected: BTreeSet<&str> = affected.map(|(id, _)| id.name.trim_start_matches("Benchmark")).collect();
            let expected: BTreeSet<&str> = match case.affected {
                ["*"] => reaches.of.keys().map(|id| id.name.trim_start_matches("Benchmark")).collect(),
                some => some.iter().copied().chain(["Arguments"]).collect(),
            };
            let missed: Vec<_> = expected.difference(&affected).collect();
            assert!(missed.is_empty(), "{}: proven of {missed:?}, and false", case.name);
            let affected: BTreeSet<&str> =
                affected.into_iter().filter(|name| expected.contains(name) || !REFLECTIVE.contains(name)).collect();
            let why = reaches.of.iter().filter(|(_, reach)| **reach != Reach::Same).take(3);
            assert_eq!(affected, expected, "{}: {:?}", case.name, why.collect::<Vec<_>>());
        }
    }
}

fn source(place: &Place, dir: &str) -> Source {
    let request = VersionRequest::Directory { typed: dir.into(), path: place.path().join(dir) };
    Source::resolve(&request, Path::new("/"), &place.path().join("scratch"), &[]).unwrap()
}

fn write(place: &Place, dir: &str, case: Option<&Case>) {
    for (name, text) in FILES {
        let text = match case {
            Some(case) if case.file == *name => {
                assert_eq!(text.matches(case.from).count(), 1, "{}: {}", case.name, case.from);
                text.replace(case.from, case.to)
            }
            _ => (*text).to_owned(),
        };
        place.write(&format!("{dir}/{name}"), &text);
    }
}

#[test]
fn a_change_affects_the_benchmark_that_can_reach_it_and_no_other() {
    let cases: Vec<Case> =
        LEADS_TO_ONE.into_iter().filter(|case| cfg!(target_arch = "x86_64") || !case.file.ends_with(".s")).collect();
    Bench::new().check(&cases);
}

#[test]
fn a_change_of_what_runs_for_every_benchmark_affects_all() {
    Bench::new().check(&LEADS_TO_ALL);
}

#[test]
fn a_change_that_no_benchmark_can_reach_affects_none() {
    Bench::new().check(&LEADS_TO_NONE);
}

#[test]
fn nothing_is_proven_of_a_program_with_c() {
    let bench = Bench::new();
    let build = |dir: &str, role, n: u8| {
        write(&bench.place, dir, None);
        let files = [
            ("p/c.go", "package p\n\nimport _ \"example.com/m/c\"\n"),
            ("c/c.go", "package c\n\n// int three(int n);\nimport \"C\"\n\nvar Of = C.three(1)\n"),
            ("c/three.c", &format!("int three(int n) {{ return n + {n}; }}\n")),
        ];
        for (name, text) in files {
            bench.place.write(&format!("{dir}/{name}"), text);
        }
        bench.build(dir, role)
    };
    let (from, base) = build("base", Role::Baseline, 3);
    let (to, head) = build("head", Role::Candidate, 4);
    let reaches = bench.go.reach([&base, &head], [&from, &to]);
    assert!(reaches.of.values().all(|reach| *reach != Reach::Same), "{:?}", reaches.of);
    assert!(format!("{:?}", reaches.unknown).contains("the system's linker"), "{:?}", reaches.unknown);
}

#[test]
fn a_benchmark_that_is_not_affected_is_not_measured_and_said_to_be_so() {
    let case = &LEADS_TO_ONE[0];
    let place = Place::new();
    write(&place, "old", None);
    write(&place, "new", Some(case));
    let two = ["Direct", "Sibling"].join("|");
    let asked = ["compare", "./old", "./new", "--packages", "./p", "--bench", &two, "--forks", "3", "--builds", "1"];
    let ran = place.duet(&[&asked[..], &["--reach", "--format", "json"]].concat());
    assert_eq!(ran.verdict("BenchmarkSibling"), "not_affected", "{}", ran.stdout);
    assert_ne!(ran.verdict("BenchmarkDirect"), "not_affected");
    let shown = place.duet(&["show"]).stdout;
    let words = "1 benchmark not affected: identical reachable code, proven and not measured";
    assert!(shown.contains("not affected") && shown.contains(words), "{shown}");
    let dry = |more: &[&str]| place.duet(&[&asked[..], &["--dry-run"], more].concat()).expect(0).stdout;
    assert!(dry(&["--reach"]).contains("BenchmarkSibling: not affected"), "{shown}");
    for more in [&["--reach", "--measure-identical"][..], &[]] {
        assert!(!dry(more).contains("not affected"), "{more:?}");
    }
}
