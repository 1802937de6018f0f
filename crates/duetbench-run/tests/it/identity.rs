//! Proofs of identity and their limits, on binaries that the Go toolchain at hand builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use duetbench_core::Role;
use duetbench_run::adapter::go::identity;
use duetbench_run::adapter::go::{Go, GoArguments, Toolchain};
use duetbench_run::adapter::{Adapter, Build, Built, Conditions, Identity, Subject};
use duetbench_run::source::{Source, VersionRequest};

const LIBRARY: &str = r#"package m

import (
	_ "embed"
	"fmt"
	"os"
	"unsafe"
)

//go:embed embedded.txt
var embedded string

type Point struct {
	X int `json:"x"`
	Y int
}

var global = 41

func small(n int) int { return n*3 + 7 }

//go:noinline
func work(n int) int {
	local := small(n) + len(embedded)
	for i := 0; i < n; i++ {
		local += small(i) + global
	}
	if local < 0 {
		panic("negative")
	}
	return local
}

func show(p Point) string { return fmt.Sprintf("%+v", p) }

type box struct{ held unsafe.Pointer }

//go:noinline
func keep(b *box) { global++ }

//go:noinline
func hold(p *int) uintptr {
	var b box
	b.held = unsafe.Pointer(p)
	keep(&b)
	return uintptr(b.held)
}

func self() []byte {
	text, _ := os.ReadFile("opened.go")
	below, _ := os.ReadDir("../.named")
	return fmt.Append(text, len(below), "T.github.com/m.T")
}
"#;

const BENCHMARK: &str = r#"package m

import "testing"

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if work(10) == 0 || show(Point{}) == "" || hold(new(int)) == 0 || self() == nil {
			b.Fatal("nothing")
		}
	}
}
"#;

/// A module whose one package is not at its root.
const FILES: [(&str, &str); 15] = [
    ("go.mod", "module example.com/m\n\ngo 1.21\n"),
    ("README.md", "# m\n"),
    (".github/workflows/ci.yml", "on: push\n"),
    (".named/of/one.yml", "1\n"),
    ("docs/guide.md", "guide\n"),
    ("elsewhere/table.csv", "1,2\n"),
    ("sundries/far.bin", "1"),
    ("other/testdata/case.txt", "case\n"),
    ("p/lib.go", LIBRARY),
    ("p/lib_test.go", BENCHMARK),
    ("p/opened.go", "package m\n"),
    ("p/embedded.txt", "text\n"),
    ("p/sizes.csv", "1,2\n"),
    ("p/README.md", "# p\n"),
    ("p/.golangci.toml", "a = 1\n"),
];

fn write_module(dir: &Path) {
    for (name, text) in FILES {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("../sundries", dir.join("p/near")).unwrap();
}

/// A module that was built.
struct Version {
    source: Source,
    built: Built,
}

fn build(dir: PathBuf, scratch: PathBuf) -> Version {
    fs::create_dir_all(&scratch).unwrap();
    let request = VersionRequest::Directory { typed: "m".into(), path: dir };
    let source = Source::resolve(&request, Path::new("/"), &scratch, &[]).unwrap();
    let toolchain = Toolchain::for_all(std::slice::from_ref(&source), &scratch).unwrap();
    let timeout = Duration::from_secs(60);
    let conditions = Conditions { timeout, pass_env: &[], layouts: None, reach: false, selection: None, sandbox: None };
    let go = Go::new(toolchain, GoArguments::default(), &scratch, conditions).unwrap();
    let subject = Subject { role: Role::Candidate, version: "m" };
    let built = go.build(&source, &["./...".to_owned()], subject).unwrap();
    Version { source, built }
}

/// The answer of the proof about the one package.
fn identity(a: &Build, b: &Build, roots: Option<[&Path; 2]>) -> Identity {
    let mut all = identity::compare_packages(a, b, roots);
    assert_eq!(all.len(), 1);
    all.remove("example.com/m/p").unwrap()
}

/// One change and what is to be said of it: nothing, or the reason why it may matter.
struct Case {
    name: &'static str,
    change: fn(&Path),
    reason: Option<&'static str>,
}

fn case(name: &'static str, reason: Option<&'static str>, change: fn(&Path)) -> Case {
    Case { name, change, reason }
}

fn replace(dir: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(dir.join(file)).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
    fs::write(dir.join(file), text.replace(from, to)).unwrap();
}

fn put(dir: &Path, file: &str, text: &str) {
    let path = dir.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn above(dir: &Path, text: &str) {
    put(dir, "p/lib.go", &format!("{text}{LIBRARY}"));
}

fn below(dir: &Path, text: &str) {
    put(dir, "p/lib.go", &format!("{LIBRARY}{text}"));
}

fn equal_cases() -> Vec<Case> {
    vec![
        case("nothing", None, |_| {}),
        case("a comment at the end", None, |d| below(d, "// end\n")),
        case("a line more at the top", None, |d| above(d, "// top\n")),
        case("many lines more at the top", None, |d| above(d, &"// top\n".repeat(9000))),
        case("a line more in the benchmark's file", None, |d| put(d, "p/lib_test.go", &format!("// top\n{BENCHMARK}"))),
        case("a local variable's name", None, |d| put(d, "p/lib.go", &LIBRARY.replace("local", "other"))),
        case("a function's name", None, |d| put(d, "p/lib.go", &LIBRARY.replace("small(", "minor("))),
        case("a function that nobody calls", None, |d| {
            replace(d, "p/lib.go", "func small", "func dead(x int) int { return x * global }\n\nfunc small");
        }),
        case("a comment in go.mod", None, |d| put(d, "go.mod", "module example.com/m // m\n\ngo 1.21\n")),
    ]
}

fn unequal_cases() -> Vec<Case> {
    vec![
        case("a constant", Some("`.text` differs"), |d| replace(d, "p/lib.go", "n*3 + 7", "n*3 + 9")),
        case("a string", Some("`.rodata` differs"), |d| replace(d, "p/lib.go", "%+v", "%#v")),
        case("a tag", Some("`.rodata` differs"), |d| replace(d, "p/lib.go", "json:\"x\"", "json:\"y\"")),
        case("a variable's first value", Some("data` differs"), |d| replace(d, "p/lib.go", "= 41", "= 43")),
        case("a function more that is called", Some("differs"), |d| {
            below(d, "\n//go:noinline\nfunc live(x int) int { return x * x }\n");
            replace(d, "p/lib.go", "+= small(i)", "+= live(i) + small(i)");
        }),
        // From Go 1.25 on the instructions and the data are the same, and all that differs is what the collector finds in the
        // line table.
        case("a pointer kept as a number", Some("differs"), |d| {
            replace(d, "p/lib.go", "{ held unsafe.Pointer }", "{ held uintptr }");
            replace(d, "p/lib.go", "b.held = unsafe.Pointer(p)", "b.held = uintptr(unsafe.Pointer(p))");
        }),
        case("Go's rules of an older release", Some("differs"), |d| replace(d, "go.mod", "go 1.21", "go 1.20")),
        case("an embedded file", Some("`.rodata` differs"), |d| put(d, "p/embedded.txt", "tEXt\n")),
    ]
}

fn file_cases() -> Vec<Case> {
    vec![
        case("documents and settings elsewhere", None, |d| {
            put(d, "README.md", "# M\n");
            put(d, ".github/workflows/ci.yml", "on: pull_request\n");
            put(d, "docs/guide.md", "guide, second edition\n");
            put(d, "LICENSE", "do what you like\n");
        }),
        case("settings below a directory that is named", Some("`.named/of/one.yml` differs"), |d| {
            put(d, ".named/of/one.yml", "2\n");
        }),
        case("documents and settings of the package", None, |d| {
            put(d, "p/README.md", "# P\n");
            put(d, "p/.golangci.toml", "a = 2\n");
        }),
        case("data of the package", Some("`p/sizes.csv` differs"), |d| put(d, "p/sizes.csv", "1,3\n")),
        case("data below the package", Some("`p/more/a` differs"), |d| put(d, "p/more/a", "1")),
        case("less data of the package", Some("`p/sizes.csv` differs"), |d| {
            fs::remove_file(d.join("p/sizes.csv")).unwrap();
        }),
        case("data elsewhere", None, |d| put(d, "elsewhere/table.csv", "1,3\n")),
        case("test data", Some("`other/testdata/case.txt` differs"), |d| put(d, "other/testdata/case.txt", "CASE\n")),
        case("Go that is test data", Some("testdata/a.go` differs"), |d| put(d, "p/testdata/a.go", "package a\n")),
        case("Go that is opened", Some("`p/opened.go` differs"), |d| put(d, "p/opened.go", "package m // again\n")),
        case("data behind a link", Some("`sundries/far.bin` differs"), |d| put(d, "sundries/far.bin", "2")),
        case("a link that leads elsewhere", Some("`p/near` differs"), |d| {
            fs::remove_file(d.join("p/near")).unwrap();
            std::os::unix::fs::symlink("../elsewhere", d.join("p/near")).unwrap();
        }),
    ]
}

fn check_programs(cases: Vec<Case>) {
    let place = tempfile::tempdir().unwrap();
    let in_place = |name: &str| place.path().join(name);
    write_module(&in_place("base"));
    let base = build(in_place("base"), in_place("scratch"));
    for (number, case) in cases.into_iter().enumerate() {
        let dir = in_place(&format!("changed-{number}"));
        write_module(&dir);
        (case.change)(&dir);
        let changed = build(dir, in_place(&format!("scratch-{number}")));
        let roots = identity::roots(&base.source, &changed.source);
        verdict(&case, &identity(&base.built.build, &changed.built.build, roots));
    }
}

#[test]
fn a_program_is_identical_when_only_lines_and_names_differ() {
    check_programs(equal_cases());
}

#[test]
fn a_program_is_not_identical_when_code_or_data_differ() {
    check_programs(unequal_cases());
}

#[test]
fn directories_of_one_tree_are_compared_from_where_they_lie_beside_each_other() {
    let place = tempfile::tempdir().unwrap();
    let tree = fs::canonicalize(place.path()).unwrap();
    assert!(std::process::Command::new("git").args(["init", "-q"]).current_dir(&tree).status().unwrap().success());
    let roots = |dirs: [&str; 2]| {
        let sources = dirs.map(|dir| {
            fs::create_dir_all(tree.join(dir)).unwrap();
            let request = VersionRequest::Directory { typed: dir.into(), path: tree.join(dir) };
            Source::resolve(&request, Path::new("/"), &tree, &[]).unwrap()
        });
        let inside = |root: &Path| root.strip_prefix(&tree).unwrap().display().to_string();
        identity::roots(&sources[0], &sources[1]).map(|roots| roots.map(inside))
    };
    let some = |roots: [&str; 2]| Some(roots.map(str::to_owned));
    assert_eq!(roots(["old", "new"]), some(["old", "new"]));
    assert_eq!(roots(["v1/lib", "v2/lib"]), some(["v1", "v2"]), "`../corpus` is not the same file for both");
    assert_eq!(roots(["v1/lib", "v1/lib"]), some(["v1/lib", "v1/lib"]));
    assert_eq!(roots(["v1/lib", "v2/other"]), None);
}

#[test]
fn files_count_when_benchmarks_may_read_them() {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    write_module(&root.join("base"));
    let base = build(root.join("base"), root.join("scratch"));
    for (number, case) in file_cases().into_iter().enumerate() {
        let dir = root.join(format!("changed-{number}"));
        write_module(&dir);
        (case.change)(&dir);
        // The same program in another place: only the files differ.
        let mut changed = base.built.build.clone();
        changed.artifacts.values_mut().for_each(|a| a.dir = dir.join("p"));
        let roots = Some([base.source.tree.as_path(), dir.as_path()]);
        verdict(&case, &identity(&base.built.build, &changed, roots));
    }
}

fn verdict(case: &Case, found: &Identity) {
    let as_expected = match (case.reason, found) {
        (None, Identity::Identical) => true,
        (Some(words), Identity::Different(reason)) => reason.contains(words),
        _ => false,
    };
    assert!(as_expected, "{}: {found:?} instead of {:?}", case.name, case.reason);
}
