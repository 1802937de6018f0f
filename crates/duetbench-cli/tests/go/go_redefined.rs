//! Benchmarks that themselves differ between the versions, and benchmarks that measure nothing.

use crate::common::{Place, Ran};

const CODE: &str = "package fixture

func Work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}
";
const TESTS: &str = "package fixture

import \"testing\"

var sink int

func steps() int { return 300 }

func BenchmarkCode(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = Work(300)
	}
}

func BenchmarkFamily(b *testing.B) {
	b.Run(\"x\", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			sink = Work(steps())
		}
	})
}
";

/// Two directories, with the code and the tests of each.
fn two([old, new]: [(&str, &str); 2]) -> Place {
    let place = Place::new();
    for (dir, (code, tests)) in [("old", old), ("new", new)] {
        place.write_module(dir, tests).write(&format!("{dir}/work.go"), code);
    }
    place
}

fn compare(place: &Place, more: &[&str]) -> Ran {
    let fixed = ["compare", "./old", "./new", "--builds", "1", "--forks", "5", "--threshold", "20%"];
    let mut command = place.command(&[&fixed[..], more].concat());
    Ran::from(command.env_remove("DUET_SAME_BENCHMARKS").output().unwrap())
}

#[test]
fn a_change_of_the_benchmark_is_told_apart_from_a_change_of_the_code() {
    let heavier = TESTS.replace("return 300", "return 1200");
    let place = two([(CODE, TESTS), (CODE, &heavier)]);
    let ran = compare(&place, &["--format", "json", "--measure-identical"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkFamily/x"), "redefined", "{}", ran.stdout);
    assert_eq!(ran.benchmark("BenchmarkFamily/x")["warnings"][0]["kind"], "redefined");
    assert!(matches!(ran.verdict("BenchmarkCode").as_str(), "no_change" | "inconclusive"), "{}", ran.stdout);
    let words = "the benchmark itself differs: `steps` (fixture_test.go:7)";
    let shown = place.duet(&["show"]).expect(0).stdout;
    assert!(shown.contains("benchmark changed") && shown.contains(words), "{shown}");

    let ran = compare(&place, &["--format", "json", "--same-benchmarks"]).expect(3);
    assert_eq!(ran.verdict("BenchmarkFamily/x"), "regression", "{}", ran.stdout);
    place.write("duet.toml", "[[rule]]\nbenchmarks = 'Family'\nredefined = 'gate'\n");
    let judged = compare(&place, &[]).expect(3).stdout;
    assert!(judged.contains(words), "{judged}");
}

#[test]
fn a_change_of_the_code_is_found_whatever_else_the_test_files_say() {
    let slower = CODE.replace("s := 0", "s := 0\n\tn *= 4");
    let other = TESTS.replace("import", "// Other words, and another helper.\nimport") + "\nfunc unused() {}\n";
    let ran = compare(&two([(CODE, TESTS), (&slower, &other)]), &["--format", "json"]).expect(3);
    for name in ["BenchmarkCode", "BenchmarkFamily/x"] {
        assert_eq!(ran.verdict(name), "regression", "{name}\n{}", ran.stdout);
    }
}

#[test]
fn a_benchmark_that_never_loops_fails_and_has_no_verdict() {
    let idle = "func BenchmarkIdle(b *testing.B) {\n\tif Work(10) == 7 {\n\t\tb.Fatal(\"seven\")\n\t}\n}\n";
    let tests = TESTS.to_owned() + idle;
    let ran = compare(&two([(CODE, &tests), (CODE, &tests)]), &["--format", "json", "--measure-identical"]).expect(1);
    assert_eq!(ran.verdict("BenchmarkIdle"), "failed", "{}", ran.stdout);
    let reason = ran.benchmark("BenchmarkIdle")["failure"]["reason"].to_string();
    assert!(reason.contains("never loops"), "{reason}");
}
