//! Two versions of a small module: the second one has another function, another import, and a function that moved.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names and texts of a version's files.
pub(crate) type Files = &'static [(&'static str, &'static str)];

const GO_MOD: &str = "module example.com/m\n\ngo 1.21\n";

const BENCHMARKS: &str = "package m

import \"testing\"

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Work(100)
		Look(i)
	}
}
";

const WORK_OF_BASE: &str = "package m

import (
	\"fmt\"
	\"sort\"
)

var table = map[string]int{\"a\": 1, \"b\": 2}

type parser struct{ text string }

//go:noinline
func (p *parser) value(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += len(p.text) * i
		if sum%7 == 3 {
			sum ^= n
		}
	}
	return sum
}

//go:noinline
func name(n int) string { return fmt.Sprintf(\"%d-%s\", n, \"x\") }

func Work(n int) int {
	p := &parser{\"abc\"}
	numbers := make([]int, 64)
	sort.Ints(numbers)
	return p.value(n) + len(name(n)) + numbers[3] + table[\"a\"]
}
";

const WORK_OF_HEAD: &str = "package m

import (
	\"container/ring\"
	\"encoding/json\"
	\"fmt\"
	\"sort\"

	\"example.com/m/q\"
)

var (
	table = map[string]int{\"a\": 1, \"b\": 2, \"c\": 3}
	other = ring.New(3)
	sink  int
)

type record struct {
	A int `json:\"a\"`
	B []string
}

func init() {
	other.Do(func(any) {})
	text, _ := json.Marshal(record{})
	sink = added(len(text))
}

//go:noinline
func added(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * i
		if sum%5 == 1 {
			sum ^= n
		}
	}
	return sum
}

//go:noinline
func title(n int) string { return fmt.Sprintf(\"%d-%s\", n, \"x\") }

func Work(n int) int {
	p := &q.Parser{Text: \"abc\"}
	numbers := make([]int, 64)
	sort.Ints(numbers)
	return p.Value(n) + len(title(n)) + numbers[3] + table[\"a\"]
}
";

const MOVED: &str = "package q

type Parser struct{ Text string }

//go:noinline
func (p *Parser) Value(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += len(p.Text) * i
		if sum%7 == 3 {
			sum ^= n
		}
	}
	return sum
}
";

/// The compiler makes a table and a closure of these, and counts them.
const COUNTED: &str = "package m

var twice = func(n int) int {
	for i := 0; i < 3; i++ {
		n += n % 5
	}
	return 2 * n
}

//go:noinline
func Look(n int) int {
	for i, x := range [16]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		n += i * x
	}
	return twice(n)
}
";

/// So it counts on from one of each.
const COUNTED_BEFORE: &str = "package m

var (
	kept   any = [3]int{5, 6, 7}
	thrice     = func(n int) int {
		for i := 0; i < 7; i++ {
			n ^= n << 3
		}
		return 3 * n
	}
)

func init() {
	for _, x := range [16]int{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9} {
		sink += thrice(x)
	}
}
";

pub(crate) const C_OF_BASE: &str = "package m

// static int twice(int n) { return 2 * n; }
import \"C\"

func init() { table[\"c\"] = int(C.twice(1)) }
";

/// The system's linker puts code that is seldom run in front of Go's.
pub(crate) const C_OF_HEAD: &str = "package m

// #include <stdlib.h>
// __attribute__((cold, noinline)) static int seldom(int n) { return n % 1000 ? abs(n) : n / 7; }
// static int twice(int n) { return n < 0 ? seldom(n) : 2 * n; }
import \"C\"

func init() { table[\"c\"] = int(C.twice(1)) }
";

pub(crate) const BASE: Files =
    &[("go.mod", GO_MOD), ("m.go", WORK_OF_BASE), ("look.go", COUNTED), ("m_test.go", BENCHMARKS)];
pub(crate) const HEAD: Files = &[
    ("go.mod", GO_MOD),
    ("before.go", COUNTED_BEFORE),
    ("m.go", WORK_OF_HEAD),
    ("look.go", COUNTED),
    ("m_test.go", BENCHMARKS),
    ("q/q.go", MOVED),
];

pub(crate) fn write_module(dir: &Path, files: Files) {
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A shell script of these lines.
pub(crate) fn executable(path: &Path, lines: &str) -> PathBuf {
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

/// The folder in the module cache of a published version, as `path@version`; absent where it is not to be had.
pub(crate) fn published(version: &str) -> Option<PathBuf> {
    let elsewhere = tempfile::tempdir().ok()?;
    let mut go = Command::new("go");
    go.args(["mod", "download", "-json", version]).current_dir(elsewhere.path()).env("GO111MODULE", "on");
    let output = go.output().ok().filter(|output| output.status.success())?;
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(PathBuf::from(said["Dir"].as_str()?))
}

/// Copies a folder whose files may be written to afterwards, unlike those of the module cache.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &copied) } else { fs::write(copied, fs::read(path).unwrap()).unwrap() }
    }
}
