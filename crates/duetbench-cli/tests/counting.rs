//! Instructions of real benchmarks and programs, counted by the real valgrind.
//!
//! Counts do not depend on time, so that these tests may be exact. Without valgrind all but one are listed as ignored.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;
mod schema;
mod walk_support;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{Place, Ran, compare, two};
use libtest_mimic::{Arguments, Trial};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use walk_support::{Page, in_shell};

/// A loop of so many steps, and one that allocates as much whatever they are.
fn work(steps: u32) -> String {
    let module = "package fixture

import \"testing\"

var sink uint64

//go:noinline
func work(n int) uint64 {
	s := uint64(1)
	for i := 0; i < n; i++ {
		s = s*31 + uint64(i)
	}
	return s
}

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += work(STEPS)
	}
}

func BenchmarkMap(b *testing.B) {
	for b.Loop() {
		m := map[int]int{}
		for i := 0; i < 100; i++ {
			m[7*i] = i
		}
		sink += uint64(len(m))
	}
}
";
    module.replace("STEPS", &steps.to_string())
}

fn main() {
    let tests: [(&str, fn()); 7] = [
        ("a_planted_percent_of_work_is_found_exactly_and_again", a_planted_percent_of_work_is_found_exactly_and_again),
        ("a_rule_on_instructions_gates", a_rule_on_instructions_gates),
        ("layouts_do_not_change_a_count", layouts_do_not_change_a_count),
        ("executed_code_is_told_whatever_has_moved", executed_code_is_told_whatever_has_moved),
        ("the_page_on_counts_is_walked", the_page_on_counts_is_walked),
        ("ctrl_c_while_counting_keeps_the_run", ctrl_c_while_counting_keeps_the_run),
        ("no_secret_reaches_what_is_counted", no_secret_reaches_what_is_counted),
    ];
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let runs = has("valgrind") && Command::new("go").arg("version").output().is_ok();
    let run = |test: fn()| {
        move || {
            test();
            Ok(())
        }
    };
    let trial = |(name, test): (&str, fn())| {
        Trial::test(format!("with_valgrind::{name}"), run(test))
            .with_kind("needs go and valgrind")
            .with_ignored_flag(!runs)
    };
    let apart =
        Trial::test("with_valgrind::what_is_counted_stays_in_its_sandbox", run(what_is_counted_stays_in_its_sandbox));
    let apart = apart.with_kind("needs go, valgrind and bwrap").with_ignored_flag(!runs || !has("bwrap"));
    let absent = Trial::test(
        "with_valgrind::without_valgrind_it_says_so_and_measures",
        run(without_valgrind_it_says_so_and_measures),
    );
    let all = tests.into_iter().map(trial).chain([apart, absent]).collect();
    libtest_mimic::run(&Arguments::from_args(), all).exit();
}

/// The counts of a benchmark in a JSON report.
#[track_caller]
fn counts(report: &Value, name: &str) -> Value {
    let all = report["instructions"].as_array().unwrap_or_else(|| panic!("nothing was counted: {report:#}"));
    let one = all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {all:#?}"));
    assert_eq!(one["failure"], Value::Null);
    one["counts"].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn a_planted_percent_of_work_is_found_exactly_and_again() {
    let place = two(&work(1000), &work(1010));
    let report =
        compare(&place, &["--count=all"]).expect(0).says(&["counting the instructions of 2 benchmarks"]).json();
    assert_eq!(schema::departures(&report), Vec::<String>::new());
    let (planted, same) = (counts(&report, "BenchmarkWork"), counts(&report, "BenchmarkMap"));
    // The calls around the loop are a few, and what the runtime does beside it stays within what the report allows for.
    let change = number(&planted["change"]);
    assert!((change - 0.01).abs() < number(&planted["tolerance"]).max(0.005), "{planted:#}");
    // Each step has the same instructions.
    assert_eq!(planted["functions"][0]["function"], "example.com/fixture.work", "{planted:#}");
    let of_function = [&planted["functions"][0]["baseline"], &planted["functions"][0]["candidate"]].map(number);
    let steps = of_function[1] - of_function[0];
    assert!((steps / 10.0).fract().abs() < 1e-6, "ten steps: {planted:#}");
    assert!((of_function[1] / of_function[0] - 1.01).abs() < 0.0003, "{planted:#}");
    // Whether it takes more time is another question.
    assert_eq!(planted["explanation"]["work"], "more", "{planted:#}");
    assert!(number(&same["change"]).abs() < 0.02, "{same:#}");
    assert_eq!(planted["code"]["listed"], json!(["example.com/fixture.BenchmarkWork"]), "{planted:#}");
    let executed = &same["code"];
    assert!(executed["differing"] == 0 && number(&executed["functions"]) > 50.0, "{same:#}");

    let again = compare(&place, &["--count=all"]).expect(0).json();
    for (name, first) in [("BenchmarkWork", planted), ("BenchmarkMap", same)] {
        let second = counts(&again, name);
        for side in ["baseline", "candidate"] {
            let ratio = number(&second[side]["all"]) / number(&first[side]["all"]);
            // The function itself is the same to the instruction; what a runtime does beside it depends on load, and is more of a map.
            let most = if name == "BenchmarkMap" { 0.03 } else { 0.005 };
            assert!((ratio - 1.0).abs() < most, "{name}: {first:#}\n{second:#}");
        }
    }
    it_is_shown_again(&place, &again);
}

fn it_is_shown_again(place: &Place, report: &Value) {
    let shown = place.duet(&["show", "--format", "json"]).expect(0).json();
    assert_eq!(shown["instructions"], report["instructions"]);
    let text = place.duet(&["show"]).expect(0).stdout;
    assert!(text.contains("instructions per operation (+") && text.contains("%): more work"), "{text}");
    assert!(text.contains("example.com/fixture.work, itself: "), "{text}");
    place.duet(&["rm", "r1"]).expect(0);
}

fn a_rule_on_instructions_gates() {
    let place = two(&work(1000), &work(1010));
    let ruled = |rule: &str| -> Ran {
        place.write("duet.toml", &format!("[[rule]]\nbenchmarks = 'Work'\nmetric = 'instructions'\n{rule}"));
        compare(&place, &[])
    };
    let report = ruled("threshold = '0.5%'\naction = 'gate'\n").expect(3).json();
    let breach = &report["gate"]["breaches"][0];
    assert_eq!((&breach["name"], &breach["metric"]), (&"BenchmarkWork".into(), &"instructions".into()), "{report:#}");
    assert_eq!(report["instructions"].as_array().unwrap().len(), 1, "the rule is about one");
    assert_eq!(schema::departures(&report), Vec::<String>::new());
    ruled("threshold = '1.5%'\naction = 'gate'\n").expect(0);
    // Without a rule it decides nothing.
    place.write("duet.toml", "count = 'all'\n");
    let told = compare(&place, &["--bench", "Work"]).expect(0).json();
    assert_eq!(counts(&told, "BenchmarkWork")["explanation"]["work"], "more");
}

fn layouts_do_not_change_a_count() {
    let place = two(&work(1000), &work(1000));
    let all = [1, 2].map(|seed| {
        let layout = format!("-ldflags=-randlayout={seed}");
        let report = compare(&place, &["--count=all", "--bench", "Work", "--", &layout]).expect(0).json();
        number(&counts(&report, "BenchmarkWork")["baseline"]["all"])
    });
    // Go's monitor wakes up as time passes, however slow the counting.
    assert!((all[1] / all[0] - 1.0).abs() < 0.005, "{all:?}");
}

/// Functions of which the benchmark executes one.
const THREE: &str = "package fixture

import \"testing\"

var sink uint64

FIRST

//go:noinline
func second(n int) uint64 {
	s := uint64(SECOND)
	for i := 0; i < n; i++ {
		s = s*31 + uint64(i)
	}
	return s
}

//go:noinline
func third(n int) uint64 {
	s := uint64(THIRD)
	for i := 0; i < n; i++ {
		s = s*31 + uint64(i)
	}
	return s
}

func TestOthers(t *testing.T) {
	sink += OTHERS
}

func BenchmarkThird(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink += third(1000)
	}
}
";
const FIRST: &str = "//go:noinline
func first(n int) uint64 {
	return uint64(n) / 7 * 5
}";

/// A module of [`THREE`].
fn three(first: &str, second: &str, third: &str) -> String {
    // A function that nothing calls is in no program. Another test would change the types of a program.
    let others = if first.is_empty() { "second(3)" } else { "first(3) + second(3)" };
    THREE.replace("OTHERS", others).replace("FIRST", first).replace("SECOND", second).replace("THIRD", third)
}

/// The counts of the only benchmark of two modules, measured in so many build pairs.
fn third(old: &str, new: &str, builds: &str) -> Value {
    let place = two(old, new);
    let args = ["compare", "./old", "./new", "--fixed", "--builds", builds, "--forks", "3", "--count=all"];
    let more = ["--threshold", "20%", "--measure-identical", "--format", "json"];
    let report = place.duet(&[&args[..], &more].concat()).expect(0).json();
    let counts = counts(&report, "BenchmarkThird");
    assert_eq!(counts["explanation"]["work"], "same", "{counts:#}");
    counts
}

fn executed_code_is_told_whatever_has_moved() {
    let base = three("", "1", "1");
    let beside = three(FIRST, "n*n", "1");
    let matched = third(&base, &beside, "3");
    let code = &matched["code"];
    assert!(code["differing"] == 0 && number(&code["functions"]) > 50.0, "{code:#}");
    let changed = &third(&base, &three(FIRST, "n*n", "2"), "3")["code"];
    assert_eq!(changed["listed"], json!(["example.com/fixture.third"]), "{changed:#}");
    // One build of each version is counted as it is, and there the function has moved.
    let plain = third(&base, &beside, "1");
    assert_eq!(plain["code"], Value::Null);
    let ratio = number(&matched["baseline"]["all"]) / number(&plain["baseline"]["all"]);
    assert!((ratio - 1.0).abs() < 0.005, "{matched:#}\n{plain:#}");
}

/// A codec whose encoding takes so many rounds, each the same instructions.
fn codec(rounds: u32) -> String {
    let benchmark = |name: &str, work: &str| {
        format!(
            "\nfunc Benchmark{name}(b *testing.B) {{\n\tfor i := 0; i < b.N; i++ {{\n\t\tsink += {work}\n\t}}\n}}\n"
        )
    };
    let work = "\n//go:noinline\nfunc escape(n int) uint64 {\n\ts := uint64(1)\n\tfor i := 0; i < n; i++ {\n\t\ts = s*31 + uint64(i)\n\t}\n\treturn s\n}\n";
    let encode = format!("\n//go:noinline\nfunc encode() uint64 {{\n\treturn escape({rounds})\n}}\n");
    let head = "package codec\n\nimport \"testing\"\n\nvar sink uint64\n".to_owned();
    head + work + &encode + &benchmark("Encode", "encode()") + &benchmark("Lookup", "escape(1000)")
}

/// A line of a report by its words: of a number only that it is one.
fn without_numbers(line: &str) -> String {
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit()) || word.contains('/');
    let words = line.split_whitespace().map(|word| if is_number(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn the_page_on_counts_is_walked() {
    let page = Page::read("counts.md");
    let place = Place::new();
    place.git(&["init", "-q", "-b", "main"]);
    place.write("go.mod", "module example.com/codec\n\ngo 1.21\n").write(".gitignore", ".duet\n");
    place.write("codec_test.go", &codec(1000)).commit_all("a codec");
    place.write("codec_test.go", &codec(3000));
    // Enough for the change to be found beside neighbours.
    let few = [("DUET_BUILDS", "5"), ("DUET_FORKS", "5"), ("DUET_FIXED", "true"), ("DUET_THRESHOLD", "20%")];
    let typed = |line: &str| in_shell(&place, line, &few);

    assert!(page.says("`--count=all` all") && page.says("`--count --profile`"));
    let counted = format!("{}=all --profile", page.inline("duet compare --count"));
    let report = typed(&counted).expect(3).stdout;
    // The lines of the page are those of the report.
    let lines: Vec<String> = report.lines().map(without_numbers).collect();
    let shown = page.block("", "instructions per operation");
    for line in shown.lines().filter(|line| line.starts_with("  ") && !line.contains("the same work, slower")) {
        let words = without_numbers(line).replace("example.com/shop/codec.(*Writer).escape,", "#");
        let same = |found: &&String| found.replace("example.com/codec.escape,", "#") == words;
        assert!(lines.iter().find(same).is_some(), "no line as `{words}` in\n{report}");
    }
    let why = typed(&page.inline("duet why")).expect(0).stdout;
    assert!(why.contains("Encode") && why.contains("more work"), "{why}");
    let named = page.inline("duet why r12").replace("r12 Encode/json", "r1 Lookup");
    let why = typed(&named).expect(0).stdout;
    assert!(why.contains("Lookup") && why.contains("the same work"), "{why}");

    let rule = page.block("toml", "metric = \"instructions\"");
    place.write("codec_test.go", &codec(1010)).write("duet.toml", &rule);
    let compare = |settings: &[(&str, &str)]| in_shell(&place, "duet compare --bench Encode", settings);
    let settings = [("DUET_BUILDS", "1"), ("DUET_FORKS", "5"), ("DUET_THRESHOLD", "20%")];
    let gated = compare(&settings).expect(3).stdout;
    assert!(gated.contains("instructions") && page.says("growth above the threshold fails"), "{gated}");
    place.write("duet.toml", &rule.replace("action = \"gate\"", ""));
    assert!(page.says("(without `action` only told)"));
    compare(&settings).expect(0);
}

fn ctrl_c_while_counting_keeps_the_run() {
    let place = two(&work(1000), &work(1010));
    let args =
        ["compare", "./old", "./new", "--forks", "5", "--fixed", "--builds", "1", "--threshold", "20%", "--count=all"];
    let more = ["--measure-identical", "--format", "json"];
    let mut command = place.command(&[&args[..], &more].concat());
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("counting the instructions of 2 benchmarks") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it never came to counting");
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_ne!(ran.code, 130, "{rest}");
    assert!(rest.contains("interrupted while counting instructions: the run itself came to its end"), "{rest}");
    let report = ran.json();
    assert_eq!((&report["complete"], report.get("instructions")), (&true.into(), None), "{report:#}");
    for name in ["BenchmarkWork", "BenchmarkMap"] {
        assert_eq!(ran.benchmark(name)["forks"].as_array().unwrap().len(), 5, "{report:#}");
    }
    let shown = place.duet(&["show", "--format", "json"]).expect(ran.code).json();
    assert_eq!(shown["benchmarks"], report["benchmarks"]);
}

/// Keeps the environment of what is counted: garbage collection is off nowhere else.
const TELLS: &str = "package fixture

import (
	\"os\"
	\"strings\"
	\"testing\"
)

var sink int

func BenchmarkTells(b *testing.B) {
	if os.Getenv(\"GOGC\") == \"off\" {
		os.WriteFile(\"environment\", []byte(strings.Join(os.Environ(), \"\\n\")), 0o600)
	}
	for i := 0; i < b.N; i++ {
		for j := 0; j < 100; j++ {
			sink += j * i
		}
	}
}
";

fn no_secret_reaches_what_is_counted() {
    let place = two(TELLS, TELLS);
    let secret = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("SHOP_TOKEN", "hunter2").env("SHOP_COLOUR", "green");
        Ran::from(command.output().unwrap()).expect(0)
    };
    let measured = ["--forks", "3", "--fixed", "--threshold", "20%", "--format", "json", "--count=all"];
    let go = ["compare", "./old", "./new", "--builds", "1", "--measure-identical", "--pass-env", "SHOP_COLOUR"];
    let ran = secret(&[&go[..], &measured].concat());
    counts(&ran.json(), "BenchmarkTells");
    for side in ["old", "new"] {
        let environment = std::fs::read_to_string(place.path().join(side).join("environment")).unwrap();
        assert!(environment.contains("SHOP_COLOUR=green") && !environment.contains("hunter2"), "{environment}");
    }
    // The last process that writes what a whole program prints is one that is counted, as valgrind's own variables show.
    let programs = ["compare", "--command", "env", "env", "--mode", "interleaved", "--stdout", "environment"];
    let report = secret(&[&programs[..], &measured, &["--pass-env", "SHOP_COLOUR"]].concat()).json();
    assert!(report["instructions"][0]["failure"].is_null(), "{}", report["instructions"]);
    let environment = std::fs::read_to_string(place.path().join("environment")).unwrap();
    assert!(environment.contains("vgpreload") && environment.contains("SHOP_COLOUR=green"), "{environment}");
    assert!(!environment.contains("hunter2"), "{environment}");
}

/// Fails where it reaches what is outside of its directory.
const REACHES: &str = "package fixture

import (
	\"net\"
	\"os\"
	\"testing\"
)

var sink int

func BenchmarkReaches(b *testing.B) {
	if _, err := net.Dial(\"tcp\", \"ADDRESS\"); err == nil {
		b.Fatal(\"reached the network\")
	}
	if err := os.WriteFile(\"OUTSIDE/reached\", nil, 0o600); err == nil {
		b.Fatal(\"wrote outside of its directory\")
	}
	if os.Getenv(\"GOGC\") == \"off\" {
		os.WriteFile(\"counted\", nil, 0o600)
	}
	for i := 0; i < b.N; i++ {
		for j := 0; j < 100; j++ {
			sink += j * i
		}
	}
}
";

fn what_is_counted_stays_in_its_sandbox() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let home = std::env::var_os("HOME").map_or_else(|| "/var/tmp".into(), PathBuf::from);
    let outside = tempfile::tempdir_in(home).unwrap();
    let text = REACHES
        .replace("ADDRESS", &listener.local_addr().unwrap().to_string())
        .replace("OUTSIDE", outside.path().to_str().unwrap());
    let place = two(&text, &text);
    let report = compare(&place, &["--count=all", "--sandbox"]).expect(0).json();
    assert_eq!(counts(&report, "BenchmarkReaches")["explanation"]["work"], "same", "{report:#}");
    assert!(place.path().join("new/counted").exists() && !outside.path().join("reached").exists());
}

fn without_valgrind_it_says_so_and_measures() {
    let place = Place::new();
    let args = ["compare", "--command", "/bin/true", "/bin/true", "--forks", "5", "--fixed", "--format", "json"];
    let bare = |more: &[&str]| -> Value {
        let mut command = place.command(&[&args[..], more].concat());
        Ran::from(command.env("PATH", place.path()).output().unwrap()).json()
    };
    let warnings = |report: &Value| report["warnings"].to_string();
    let counted = bare(&["--count"]);
    let want = "`--count` has no effect here: instructions are counted by valgrind, which is not on the `PATH` (`apt-get install valgrind`)";
    assert!(warnings(&counted).contains(want), "{counted:#}");
    assert!(counted.get("instructions").is_none() && !counted["benchmarks"][0]["forks"].as_array().unwrap().is_empty());
    place.write("duet.toml", "[[rule]]\nmetric = 'instructions'\naction = 'gate'\n");
    assert!(warnings(&bare(&[])).contains("no rule on `instructions` is kept here: "));
    // Nobody asked.
    assert!(!warnings(&bare(&["--count=none"])).contains("instructions"));
}
