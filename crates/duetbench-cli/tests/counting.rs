//! Instructions of real benchmarks and programs, counted by the real valgrind.
//!
//! Counts do not depend on time, so that these tests may be exact. Without valgrind all but one are listed as ignored.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;
mod schema;

use std::process::Command;

use common::{Place, Ran, compare, two};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

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
    let tests: [(&str, fn()); 3] = [
        ("a_planted_percent_of_work_is_found_exactly_and_again", a_planted_percent_of_work_is_found_exactly_and_again),
        ("a_rule_on_instructions_gates", a_rule_on_instructions_gates),
        ("layouts_do_not_change_a_count", layouts_do_not_change_a_count),
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
    let absent = Trial::test(
        "with_valgrind::without_valgrind_it_says_so_and_measures",
        run(without_valgrind_it_says_so_and_measures),
    );
    let mut arguments = Arguments::from_args();
    // They would wait for each other's turn at the machine.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, tests.into_iter().map(trial).chain([absent]).collect()).exit();
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
    // Each step has the same instructions, and the calls around the loop are a few.
    let change = number(&planted["change"]);
    assert!((change - 0.01).abs() < 0.0003, "{planted:#}");
    assert_eq!(planted["functions"][0]["function"], "example.com/fixture.work", "{planted:#}");
    let of_function = [&planted["functions"][0]["baseline"], &planted["functions"][0]["candidate"]].map(number);
    let steps = of_function[1] - of_function[0];
    assert!((steps / 10.0).fract().abs() < 1e-6, "ten steps: {planted:#}");
    // Whether it takes more time is another question.
    assert_eq!(planted["explanation"]["work"], "more", "{planted:#}");
    assert_eq!(same["explanation"]["work"], "same", "{same:#}");

    let again = compare(&place, &["--count=all"]).expect(0).json();
    for (name, first) in [("BenchmarkWork", planted), ("BenchmarkMap", same)] {
        let second = counts(&again, name);
        for side in ["baseline", "candidate"] {
            let ratio = number(&second[side]["all"]) / number(&first[side]["all"]);
            // The function itself is the same to the instruction; what a runtime does beside it depends on load.
            assert!((ratio - 1.0).abs() < 0.005, "{name}: {first:#}\n{second:#}");
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
    ruled("threshold = '0.5%'\n").expect(0);
    // Without a rule it decides nothing.
    place.write("duet.toml", "count = 'all'\n");
    assert_eq!(counts(&compare(&place, &[]).expect(0).json(), "BenchmarkWork")["explanation"]["work"], "more");
}

fn layouts_do_not_change_a_count() {
    let place = two(&work(1000), &work(1000));
    let all = [1, 2, 3, 4].map(|seed| {
        let layout = format!("-ldflags=-randlayout={seed}");
        let report = compare(&place, &["--count=all", "--bench", "Work", "--", &layout]).expect(0).json();
        number(&counts(&report, "BenchmarkWork")["baseline"]["all"])
    });
    assert!(all.iter().all(|one| (one / all[0] - 1.0).abs() < 0.001), "{all:?}");
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
