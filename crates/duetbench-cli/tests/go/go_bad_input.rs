//! Bad input with real Go builds: each gets a clear error or a listed reason, the right exit code, and spoils nothing else.

use crate::common::{GOOD, Place, Ran, assert_no_false_alarm, compare, simple, two};

#[test]
fn versions_that_do_not_exist_are_named() {
    let place = Place::go_module(&simple(GOOD));
    place.duet(&["compare", "./nowhere", "."]).expect(2).says(&["nowhere", "hint:"]);
    place.duet(&["compare", "v1.0.0", "."]).expect(2).says(&["v1.0.0", "git checkout"]);
    let module = "example.com/no/such@v1.0.0";
    let offline = place.command(&["compare", module, module]).env("GOPROXY", "off").output().unwrap();
    Ran::from(offline).expect(2).says(&[module]);
}

#[test]
fn a_version_that_does_not_build_speaks_through_the_compiler() {
    let broken = simple("func BenchmarkGood(b *testing.B) { undefinedThing() }");
    compare(&two(&simple(GOOD), &broken), &[])
        .expect(1)
        .says(&["head (`./new`) does not build", "undefinedThing", "fixture_test.go:15"]);
    compare(&two(&broken, &simple(GOOD)), &[]).expect(1).says(&["base (`./old`) does not build", "undefinedThing"]);
    let no_go = simple("func BenchmarkGood(b *testing.B) { for i := 0; i < ");
    compare(&two(&simple(GOOD), &no_go), &[]).expect(1).says(&["head (`./new`) does not build", "fixture_test.go:15"]);
}

#[test]
fn no_benchmarks_no_module_no_package() {
    let none = simple("func TestNothing(t *testing.T) {}");
    compare(&two(&none, &none), &[]).expect(1).says(&["no benchmarks", "BenchmarkXxx", "`-- -tags TAG`"]);
    compare(&two(&simple(GOOD), &simple(GOOD)), &["--packages", "./nope"]).expect(1).says(&["nope"]);
    let place = Place::new();
    place.write("sub/go.mod", "module example.com/sub\n").write("README", "");
    place.duet(&["compare", ".", "."]).expect(2).says(&["not inside a Go module", "`sub`"]);
}

#[test]
fn what_only_one_version_has_is_said_of_its_benchmarks_and_ends_no_run() {
    let place = two(&simple(GOOD), &simple(GOOD));
    let extra = simple("func BenchmarkExtra(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += i\n\t}\n}\n");
    place.write("new/extra/extra_test.go", &extra);
    let only = |ran: &Ran, name: &str, side: &str| assert_eq!(ran.verdict(name), side, "{}", ran.stderr);
    // A new package alone leaves nothing to compare, and that is no failure to build.
    let alone = compare(&place, &["--packages", "./extra"]).expect(1);
    only(&alone, "BenchmarkExtra", "candidate_only");
    assert!(
        alone.json()["warnings"].to_string().contains("base (`./old`) has no benchmarks in ./extra"),
        "{}",
        alone.stdout
    );
    let beside = compare(&place, &["--packages", ".", "--packages", "./extra", "--forks", "3"]).expect(0);
    only(&beside, "BenchmarkExtra", "candidate_only");
    assert_no_false_alarm(&beside, &["BenchmarkGood"]);
    compare(&place, &["--packages", "./extra", "--packages", "./nope"]).expect(1).says(&["nope"]);
    // The first benchmark of a module, and the last one.
    let none = simple("func TestNothing(t *testing.T) {}");
    only(&compare(&two(&none, &simple(GOOD)), &[]).expect(1), "BenchmarkGood", "candidate_only");
    only(&compare(&two(&simple(GOOD), &none), &[]).expect(1), "BenchmarkGood", "baseline_only");
}

#[test]
fn a_warning_about_loops_names_only_benchmarks_that_are_measured() {
    let recalled = "func BenchmarkAgain(b *testing.B) {\n\tfor j := 0; j < 2; j++ {\n\t\tfor i := 0; i < b.N; i++ {\n\t\t\tsink += i\n\t\t}\n\t}\n}\n";
    let tests = simple(&format!("{GOOD}{recalled}"));
    let warnings = |bench: &str| {
        let ran = compare(&two(&tests, &tests), &["--bench", bench, "--dry-run"]).expect(0);
        ran.stdout + &ran.stderr
    };
    let words = "called again for every slice";
    assert!(warnings("Again").contains(words) && !warnings("Good").contains(words), "{}", warnings("Good"));
}

/// One good and one bad benchmark; the bad one must fail with these words, and the good one be judged all the same.
fn check_failure(bad: &str, more: &[&str], words: &[&str]) {
    let (old, new) = (
        simple(&format!("{GOOD}{}", bad.replace("BAD", "false"))),
        simple(&format!("{GOOD}{}", bad.replace("BAD", "true"))),
    );
    let ran = compare(&two(&old, &new), &[&["--forks", "3"], more].concat()).expect(1);
    assert_no_false_alarm(&ran, &["BenchmarkGood"]);
    let failed = ran.benchmark("BenchmarkBad");
    assert_eq!(failed["verdict"], "failed", "{failed:#}");
    // Nothing else that was printed, and nothing twice.
    let (reason, warnings) = (failed["failure"]["reason"].to_string(), failed["warnings"].to_string());
    assert!(!reason.contains("BenchmarkGood") && !reason.contains("cpu:"), "{reason}");
    assert!(!warnings.contains("too_few_units") && !warnings.contains("failed_trials"), "{warnings}");
    for word in words {
        assert!(failed.to_string().contains(word), "`{word}` is missing in {failed:#}");
    }
}

const BAD_AT_ONCE: &str = "func BenchmarkBad(b *testing.B) {\n\tif BAD {\n\t\tWHAT\n\t}\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += i\n\t}\n}\n";
/// Survives its listing (one invocation) and goes wrong while it is measured.
const BAD_LATER: &str = "func BenchmarkBad(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tif sink++; BAD && i > 5000 {\n\t\t\tWHAT\n\t\t}\n\t}\n}\n";

#[test]
fn a_benchmark_that_fails_is_quoted() {
    check_failure(&BAD_AT_ONCE.replace("WHAT", "b.Fatal(\"no luck\")"), &[], &["no luck", "candidate"]);
    check_failure(&BAD_LATER.replace("WHAT", "b.Fatal(\"no luck later\")"), &[], &["no luck later", "candidate"]);
}

#[test]
fn a_benchmark_that_panics_is_quoted() {
    check_failure(&BAD_AT_ONCE.replace("WHAT", "panic(\"boom\")"), &[], &["boom", "candidate"]);
    check_failure(&BAD_LATER.replace("WHAT", "panic(\"boom later\")"), &[], &["boom later", "candidate"]);
    let recovered = "defer func() { recover(); b.FailNow() }(); panic(\"boom\")";
    check_failure(&BAD_AT_ONCE.replace("WHAT", recovered), &[], &["failed without a word", "candidate"]);
}

#[test]
fn a_parent_that_panics_after_its_sub_benchmarks_fails_and_others_are_measured() {
    // The process lives on for as long as the words of the panic are asked for.
    let words = "type words struct{}\n\nfunc (words) Error() string {\n\ttime.Sleep(time.Second / 2)\n\treturn \"too late\"\n}\n\n";
    let parent = format!(
        "{words}func BenchmarkAParent(b *testing.B) {{\n\tfor _, name := range []string{{\"a\", \"b\"}} {{\n\t\tb.Run(name, BenchmarkGood)\n\t}}\n\tif BAD {{\n\t\tpanic(words{{}})\n\t}}\n}}\n"
    );
    let [old, new] = ["false", "true"].map(|bad| simple(&format!("{}{GOOD}", parent.replace("BAD", bad))));
    let ran = compare(&two(&old, &new), &["--forks", "3"]).expect(1);
    assert_no_false_alarm(&ran, &["BenchmarkGood"]);
    assert!(ran.benchmark("BenchmarkAParent")["failure"]["reason"].to_string().contains("too late"), "{}", ran.stdout);
}

#[test]
fn a_benchmark_that_exits_is_a_failure_whatever_its_code() {
    check_failure(&BAD_AT_ONCE.replace("WHAT", "os.Exit(0)"), &[], &["candidate"]);
    check_failure(&BAD_LATER.replace("WHAT", "os.Exit(7)"), &[], &["exit status 7", "candidate"]);
}

#[test]
fn a_failure_is_seen_whatever_else_is_printed() {
    let bad = BAD_AT_ONCE.replace("WHAT", "b.Fatal(\"no luck\")");
    let flood = "func BenchmarkFlood(b *testing.B) {\n\tos.Stdout.Write(append(make([]byte, 20000), \"\\nPASS\\n\"...))\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += i\n\t}\n}\n";
    check_failure(&format!("{bad}{flood}"), &[], &["no luck", "candidate"]);
    // A program that a benchmark starts may say that all had their turn.
    let says_pass = "func BenchmarkAnother(b *testing.B) {\n\tos.Stdout.WriteString(\"PASS\\n\")\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += i\n\t}\n}\n";
    let bad = BAD_AT_ONCE.replace("WHAT", "panic(\"boom\")");
    check_failure(&format!("{says_pass}{bad}"), &[], &["boom", "candidate"]);
}

#[test]
fn benchmarks_of_a_program_that_ends_before_them_fail() {
    let main = "func TestMain(m *testing.M) {\n\tif os.Getenv(\"DATABASE\") == \"\" {\n\t\tos.Exit(0)\n\t}\n\tos.Exit(m.Run())\n}\n";
    let place = two(&simple(GOOD), &simple(&format!("{GOOD}{main}")));
    let failed = compare(&place, &["--forks", "3"]).expect(1);
    assert_eq!(failed.verdict("BenchmarkGood"), "failed", "{}", failed.stdout);
    let reason = failed.benchmark("BenchmarkGood")["failure"]["reason"].to_string();
    assert!(reason.contains("ended before its benchmarks") && reason.contains("`--pass-env`"), "{reason}");
    let args = ["compare", "./old", "./new", "--dry-run", "--measure-identical", "--pass-env", "DATABASE"];
    let passed = place.command(&args).env("DATABASE", "here").output().unwrap();
    assert!(Ran::from(passed).expect(0).stdout.contains("BenchmarkGood: "));
}

#[test]
fn a_package_whose_tests_do_not_start_fails_and_others_are_measured() {
    let main = "func BenchmarkOther(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsum = sha256.Sum256(page[:])\n\t}\n}\n\nfunc TestMain(*testing.M) {\n\tos.Stderr.WriteString(\"no database\\n\")\n\tos.Exit(1)\n}\n";
    let place = two(&simple(GOOD), &simple(GOOD));
    for side in ["old", "new"] {
        place.write(&format!("{side}/db/db_test.go"), &simple(main));
        place.write(&format!("{side}/examples/a.go"), "package a\n");
        place.write(&format!("{side}/examples/b.go"), "package b\n");
    }
    let wanted = compare(&place, &["--packages", "./...", "--bench", "^BenchmarkGood$", "--forks", "3"]).expect(0);
    assert_no_false_alarm(&wanted, &["BenchmarkGood"]);
    let all = compare(&place, &["--packages", "./...", "--forks", "3"]).expect(1);
    assert_no_false_alarm(&all, &["BenchmarkGood"]);
    let reason = all.benchmark("BenchmarkOther")["failure"]["reason"].to_string();
    assert!(reason.contains("no database") && reason.contains("-trimpath=false"), "{reason}");
}

#[test]
fn names_made_of_the_number_of_processors_are_those_that_were_asked_for() {
    let named = simple("func BenchmarkPool(b *testing.B) {\n\tb.Run(\"workers=\"+strconv.Itoa(runtime.GOMAXPROCS(0)), func(b *testing.B) {\n\t\tfor i := 0; i < b.N; i++ {\n\t\t\tsum = sha256.Sum256(page[:])\n\t\t}\n\t})\n}\n")
        .replace("\"os\"\n", "\"os\"\n\t\"runtime\"\n\t\"strconv\"\n");
    let ran = compare(&two(&named, &named), &["--forks", "3", "--", "-cpu", "3"]).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkPool/workers=3"]);
}

#[test]
fn the_first_of_two_benchmarks_of_one_name_is_measured() {
    let place = two(&simple(GOOD), &simple(GOOD));
    let other = simple(GOOD).replace("package fixture", "package fixture_test");
    place.write("old/other_test.go", &other).write("new/other_test.go", &other);
    let ran = compare(&place, &["--forks", "3"]).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkGood"]);
    let warnings = ran.json()["warnings"].to_string();
    assert!(warnings.contains("two benchmarks of `example.com/fixture` are named `BenchmarkGood`"), "{warnings}");
}

#[test]
fn a_benchmark_that_hangs_is_given_up() {
    check_failure(&BAD_AT_ONCE.replace("WHAT", "time.Sleep(time.Hour)"), &["--timeout", "2s"], &["candidate"]);
    check_failure(
        &BAD_LATER.replace("WHAT", "time.Sleep(time.Hour)"),
        &["--timeout", "2s"],
        &["it hangs", "--timeout"],
    );
}

#[test]
fn files_are_found_and_written_where_go_test_would() {
    let body = "func BenchmarkFiles(b *testing.B) {\n\ttext, err := os.ReadFile(\"testdata/input\")\n\tif err != nil {\n\t\tb.Fatal(err)\n\t}\n\
        \tif err := os.WriteFile(\"written\", text, 0o600); err != nil {\n\t\tb.Fatal(err)\n\t}\n\
        \tfor i := 0; i < b.N; i++ {\n\t\tsink += len(text)\n\t}\n}\n";
    let place = two(&simple(body), &simple(body));
    place.write("old/testdata/input", "x").write("new/testdata/input", "x");
    compare(&place, &["--forks", "3"]).expect(0);
    assert!(place.path().join("new/written").exists());
    std::fs::remove_file(place.path().join("new/testdata/input")).unwrap();
    let ran = compare(&place, &["--forks", "3"]).expect(1);
    assert!(ran.benchmark("BenchmarkFiles").to_string().contains("testdata/input"), "{}", ran.stdout);
}

#[test]
fn benchmarks_that_skip_themselves_are_named() {
    let skips = "func BenchmarkSkips(b *testing.B) {\n\tb.Skip(\"not here\")\n}\n";
    let skipping = simple(&format!("{GOOD}{skips}"));
    let ran = compare(&two(&skipping, &skipping), &["--forks", "3"]).expect(0);
    let (warnings, skips_itself) =
        (ran.json()["warnings"].to_string(), "BenchmarkSkips skips itself: fixture_test.go:");
    assert_eq!(warnings.matches("skips itself").count(), 1, "{warnings}");
    assert!(warnings.contains(skips_itself) && warnings.contains(": not here"), "{warnings}");
    let none = two(&simple(skips), &simple(skips));
    compare(&none, &[]).expect(1).says(&[skips_itself, "every benchmark skips itself"]);
    none.duet(&["list", "./new"]).expect(1).says(&[skips_itself, "every benchmark skips itself"]);
}

#[test]
fn measured_code_sees_no_secret() {
    let body = "func BenchmarkEnv(b *testing.B) {\n\tfor _, n := range []string{\"AWS_SECRET_ACCESS_KEY\", \"GITHUB_TOKEN\"} {\n\
        \t\tif os.Getenv(n) != \"\" {\n\t\t\tb.Fatal(\"sees \" + n)\n\t\t}\n\t}\n\tfor i := 0; i < b.N; i++ {\n\t\tsink++\n\t}\n}\n";
    let place = two(&simple(body), &simple(body));
    let args = ["compare", "./old", "./new", "--forks", "3", "--format", "json"];
    let output = place.command(&args).env("AWS_SECRET_ACCESS_KEY", "s").env("GITHUB_TOKEN", "s").output().unwrap();
    Ran::from(output).expect(0);
    let passed = [&args[..], &["--pass-env", "GITHUB_TOKEN"]].concat();
    let output = place.command(&passed).env("GITHUB_TOKEN", "s").output().unwrap();
    assert!(Ran::from(output).expect(1).stdout.contains("sees GITHUB_TOKEN"));
}

/// Finds the memory that it shares with duet, by its own maps and by what any process of this user has open, and cuts it off.
const CUTS_OFF: &str = r#"func cutOff() {
	maps, _ := os.ReadFile("/proc/self/maps")
	for _, line := range strings.Split(string(maps), "\n") {
		if at := strings.Index(line, "/"); at >= 0 && strings.Contains(line[at:], "duet-") {
			os.Truncate(line[at:], 0)
		}
	}
	opened, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, name := range opened {
		if link, _ := os.Readlink(name); strings.Contains(link, "memfd:duet-") {
			os.Truncate(name, 0)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if sink++; sink == 5000 {
			cutOff()
		}
		sum = sha256.Sum256(page[:])
	}
}
"#;

#[test]
fn a_benchmark_that_cuts_off_the_shared_page_harms_nobody() {
    let imports = "import (\n\t\"path/filepath\"\n\t\"strings\"\n";
    let hostile = simple(&format!("{GOOD}{CUTS_OFF}")).replace("import (\n", imports);
    let ran = compare(&two(&hostile, &hostile), &["--forks", "3"]).expect(0);
    assert_no_false_alarm(&ran, &["BenchmarkGood", "BenchmarkHostile"]);
}

#[test]
fn benchmarks_that_are_not_wanted_do_not_run() {
    let noting = |name: &str, more: &str| {
        format!(
            "func Benchmark{name}(b *testing.B) {{\n\tos.WriteFile(\"ran-{name}\", nil, 0o600)\n{more}\tfor i := 0; i < b.N; i++ {{\n\t\tsink++\n\t}}\n}}\n"
        )
    };
    let parent = noting("Parent", "\tb.Run(\"good\", func(b *testing.B) {})\n");
    let all = simple(&format!("{}{}{parent}", noting("Good", ""), noting("Danger", "")));
    for (selection, ran) in [
        (["--bench", "Good"], ["Good", "Parent"].as_slice()),
        (["--bench", "^BenchmarkGood$"], &["Good"]),
        (["--bench", "^BenchmarkParent/good$"], &["Parent"]),
        (["--exclude", "Danger|Parent"], &["Good"]),
        (["--exclude", "nothing"], &["Danger", "Good", "Parent"]),
    ] {
        let place = Place::go_module(&all);
        place.duet(&[&["list"], &selection[..]].concat()).expect(0);
        let names = ["Danger", "Good", "Parent"];
        let found: Vec<&str> = names.into_iter().filter(|n| place.path().join(format!("ran-{n}")).exists()).collect();
        assert_eq!(found, ran, "{selection:?}");
    }
}

#[test]
fn replacements_inside_work_and_outside_are_refused() {
    let user = "package fixture\n\nimport (\n\t\"testing\"\n\n\t\"example.com/lib\"\n)\n\nfunc BenchmarkLib(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tlib.F()\n\t}\n}\n";
    let place = Place::new();
    place.git(&["init", "-q"]);
    let go_mod = |target: &str| {
        format!(
            "module example.com/fixture\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => {target}\n"
        )
    };
    place.write("app/fixture_test.go", user).write("app/go.mod", &go_mod("../lib"));
    place
        .write("lib/go.mod", "module example.com/lib\n\ngo 1.21\n")
        .write("lib/lib.go", "package lib\n\nfunc F() {}\n");
    place.commit_all("one");
    let in_app = |args: &[&str]| Ran::from(place.command(args).current_dir(place.path().join("app")).output().unwrap());
    in_app(&["compare", "HEAD", "HEAD", "--measure-identical", "--forks", "3"]).expect(0);
    place.write("app/go.mod", &go_mod("../../elsewhere"));
    in_app(&["compare", "HEAD", ".", "--forks", "3"]).expect(2).says(&["`../../elsewhere`", "lies outside"]);
    place.write("app/go.mod", &go_mod("../generated"));
    in_app(&["compare", "HEAD", ".", "--forks", "3"]).expect(2).says(&["`../generated`", "is not there"]);
    place.write("app/go.mod", &go_mod("../../elsewhere"));
    // From the root there is no module, but the message says where there is one.
    place.duet(&["compare", "HEAD", "HEAD"]).expect(2).says(&["`app`", "`lib`"]);
    // Patterns lead into modules from beside them too.
    place.write("docs/page", "");
    let mut beside = place.command(&["list", "--packages", "../app/..."]);
    Ran::from(beside.current_dir(place.path().join("docs")).output().unwrap()).expect(2).says(&["lies outside"]);
}

#[test]
fn toolchains_that_cannot_be_used_are_named() {
    let place = two(&simple(GOOD), &simple(GOOD));
    let args = ["compare", "./old", "./new"];
    let without = |path: &str| Ran::from(place.command(&args).env("PATH", path).output().unwrap());
    without("/nonexistent").expect(1).says(&["`go` was not found", "install Go"]);
    place.write(
        "bin/go",
        "#!/bin/sh\necho '{\"GOVERSION\":\"go1.20.3\",\"GOROOT\":\"/x\",\"GOMODCACHE\":\"/y\",\"GOFLAGS\":\"\"}'\n",
    );
    let bin = place.path().join("bin");
    std::fs::set_permissions(bin.join("go"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    without(bin.to_str().unwrap()).expect(1).says(&["go1.20.3 is too old", "1.21"]);
    let overlaid = place.command(&args).env("GOFLAGS", "-overlay=/x.json").output().unwrap();
    Ran::from(overlaid).expect(1).says(&["GOFLAGS", "-overlay"]);
}
