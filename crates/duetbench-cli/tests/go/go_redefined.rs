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
    let fixed = ["compare", "./old", "./new", "--builds", "1", "--forks", "12", "--threshold", "20%"];
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

    // A search for a slowdown cannot take it for none.
    compare(&place, &["--classify", "--measure-identical"]).expect(125);

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

#[test]
fn the_benchmarks_of_one_version_are_measured_on_the_code_of_both() {
    let heavier = TESTS.replace("return 300", "return 1200");
    let place = two([(CODE, TESTS), (&CODE.replace("s := 0", "s := 0\n\tn *= 4"), &heavier)]);
    for (side, label) in [("head", "baseline"), ("base", "candidate")] {
        let ran = compare(&place, &["--format", "json", "--benchmarks-from", side]).expect(3);
        // Three times slower by the code alone, and not by the benchmark as well.
        for name in ["BenchmarkCode", "BenchmarkFamily/x"] {
            assert_eq!(ran.verdict(name), "regression", "{name}\n{}", ran.stdout);
            let ratio = ran.benchmark(name)["ratio"].as_f64().unwrap();
            assert!((2.0..8.0).contains(&ratio), "{name}: {ratio}");
        }
        let resolved = ran.json()["versions"][label]["resolved"].to_string();
        assert!(resolved.contains(&format!(", with {side}'s benchmarks")), "{resolved}");
    }
    // Nobody's files were touched.
    for (dir, text) in [("old", TESTS), ("new", &heavier[..])] {
        assert_eq!(std::fs::read_to_string(place.path().join(dir).join("fixture_test.go")).unwrap(), text);
    }
}

#[test]
fn benchmarks_in_folders_of_their_own_are_exchanged_or_said_to_be_left_out() {
    let outside = TESTS.replace("\"testing\"", "(\n\t\"testing\"\n\n\t. \"example.com/fixture\"\n)");
    let heavier = outside.replace("return 300", "return 1200");
    let place = two([(CODE, ""), (CODE, "")]);
    place.git(&["init", "-q"]);
    for (dir, tests) in [("old", &outside), ("new", &heavier)] {
        let package = |name: &str| tests.replace("package fixture", &format!("package {name}"));
        place.write(&format!("{dir}/fixture_test.go"), "package fixture\n");
        place.write(&format!("{dir}/bench/own_test.go"), &package("bench"));
    }
    place.write("new/added/added_test.go", &heavier.replace("package fixture", "package added"));
    place.write("new/plain/plain_test.go", "package plain\n");
    let from_head = ["--format", "json", "--measure-identical", "--benchmarks-from", "head"];
    let ran = compare(&place, &[&from_head[..], &["--bench", "Family"]].concat()).expect(0);
    let verdicts: Vec<String> =
        ran.json()["benchmarks"].as_array().unwrap().iter().map(|one| one["verdict"].to_string()).collect();
    assert!(!verdicts.contains(&"\"redefined\"".to_owned()), "{verdicts:?}");
    let warnings = ran.json()["warnings"].to_string();
    let words =
        "head's benchmarks in `example.com/fixture/added` are not measured on base's code, which has no such package";
    assert!(warnings.contains(words) && !warnings.contains("plain"), "{warnings}");
}

#[test]
fn what_links_lead_to_is_nobody_s_copy_when_benchmarks_are_exchanged() {
    let place = two([(CODE, TESTS), (CODE, &TESTS.replace("return 300", "return 1200"))]);
    let own = TESTS.replace("package fixture", "package shared");
    place.write("fixtures/data", "theirs").write("shared/own_test.go", &own);
    for dir in ["old", "new"] {
        for (target, link) in [("fixtures", "testdata"), ("shared", "shared")] {
            std::os::unix::fs::symlink(place.path().join(target), place.path().join(dir).join(link)).unwrap();
        }
    }
    for packages in [".", "./shared"] {
        let from_head = ["--dry-run", "--benchmarks-from", "head", "--packages", packages];
        compare(&place, &from_head);
        for (file, text) in [("fixtures/data", "theirs"), ("shared/own_test.go", &own)] {
            assert_eq!(std::fs::read_to_string(place.path().join(file)).unwrap(), text, "{packages}: {file}");
        }
    }
}

#[test]
fn benchmarks_of_a_module_beside_the_directory_are_exchanged() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    for (dir, tests) in [("old", TESTS), ("new", &TESTS.replace("return 300", "return 1200")[..])] {
        place.write(&format!("{dir}/a/go.mod"), "module example.com/a\n\ngo 1.21\n");
        place.write_module(&format!("{dir}/b"), tests).write(&format!("{dir}/b/work.go"), CODE);
    }
    let fixed =
        ["compare", "./old/a", "./new/a", "--packages", "../b", "--builds", "1", "--forks", "5", "--threshold", "20%"];
    let more = ["--format", "json", "--measure-identical", "--benchmarks-from", "head", "--bench", "Family"];
    let mut command = place.command(&[&fixed[..], &more].concat());
    let ran = Ran::from(command.env_remove("DUET_SAME_BENCHMARKS").output().unwrap()).expect(0);
    assert_ne!(ran.verdict("BenchmarkFamily/x"), "redefined", "{}", ran.stdout);
}

#[test]
fn benchmarks_that_do_not_compile_on_the_other_code_are_named_with_the_words_of_the_compiler() {
    let tests = TESTS.replace("Work(300)", "Newer(300)");
    let code = format!("{CODE}\nfunc Newer(n int) int {{ return Work(n) }}\n");
    let place = two([(CODE, TESTS), (&code, &tests)]);
    let ran = compare(&place, &["--format", "json", "--benchmarks-from", "head"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkCode"), "redefined", "{}", ran.stdout);
    let warnings = ran.json()["warnings"].to_string();
    for words in ["head's benchmarks in `example.com/fixture` do not compile on base's code", "undefined: Newer"] {
        assert!(warnings.contains(words), "{warnings}");
    }
}

#[test]
fn what_benchmarks_embed_comes_with_them_and_goes_again_where_they_do_not_compile() {
    let embedding = TESTS.replace("import", "import _ \"embed\"\n\nimport").replace("return 300", "return len(text)")
        + "\n//go:embed testdata/steps\nvar text string\n\nfunc init() {\n\tif steps() != 300 {\n\t\tpanic(text)\n\t}\n}\n";
    let other = embedding.replace("300", "400");
    let steps = |place: &Place, dir: &str, count: usize| {
        place.write(&format!("{dir}/testdata/steps"), &"x".repeat(count));
    };
    let from_head = |place: &Place| compare(place, &["--format", "json", "--dry-run", "--benchmarks-from", "head"]);
    let place = two([(CODE, TESTS), (CODE, &other)]);
    steps(&place, "new", 400);
    let planned = from_head(&place).expect(0).stdout;
    assert!(planned.contains("BenchmarkFamily/x") && !planned.contains("do not compile"), "{planned}");
    let place = two([
        (CODE, &embedding),
        (&format!("{CODE}\nfunc Newer() {{}}\n"), &format!("{other}\nfunc init() {{ Newer() }}\n")),
    ]);
    steps(&place, "old", 300);
    steps(&place, "new", 400);
    let planned = from_head(&place).expect(0).stdout;
    assert!(planned.contains("undefined: Newer") && !planned.contains("panic"), "{planned}");
}

#[test]
fn a_benchmark_with_another_name_and_the_same_body_is_said_to_be_renamed() {
    let place = two([(CODE, TESTS), (CODE, &TESTS.replace("BenchmarkCode(", "BenchmarkWork("))]);
    let planned = compare(&place, &["--dry-run", "--measure-identical"]).expect(0).stdout;
    let words = "`BenchmarkCode` in base has the same body as `BenchmarkWork` in head: perhaps renamed";
    assert!(planned.contains(words), "{planned}");
    let other = compare(&place, &["--dry-run", "--measure-identical", "--bench", "Family"]).expect(0).stdout;
    assert!(!other.contains("renamed"), "{other}");
}
