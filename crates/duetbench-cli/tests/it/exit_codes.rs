//! The whole program on scripted outcomes: verdicts, exit codes, storing, showing, judging again.

use crate::common::{Place, Ran};

const STEADY: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}}"#;
const SLOWER: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002}
}"#;
const NOISY: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2}}"#;

#[test]
fn a_dry_run_of_nothing_fails_as_the_run_does() {
    let place = Place::new();
    place
        .scripted(r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100}}"#, &["--dry-run", "--bench", "B$"])
        .expect(1)
        .says(&["no benchmark is left after `--bench B$`"]);
    let apart = r#"{"BenchmarkA": {"baseline_ns": 100}, "BenchmarkB": {"candidate_ns": 100}}"#;
    for more in [&["--dry-run"][..], &[]] {
        place.scripted(apart, more).expect(1);
    }
    let shown = place.scripted(apart, &["--dry-run"]).stdout;
    assert!(shown.contains("BenchmarkA: only in base\n") && shown.contains("BenchmarkB: only in head\n"), "{shown}");
}

#[test]
fn no_change_is_0() {
    let ran = Place::new().scripted(STEADY, &["--format", "json"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkA"), "no_change");
    assert_eq!(ran.json()["exit_code"], 0);
}

#[test]
fn a_regression_is_3() {
    let ran = Place::new().scripted(SLOWER, &["--format", "json"]).expect(3);
    assert_eq!((ran.verdict("BenchmarkA"), ran.verdict("BenchmarkB")), ("no_change".into(), "regression".into()));
    let ratio = ran.benchmark("BenchmarkB")["ratio"].as_f64().unwrap();
    assert!((ratio - 1.1).abs() < 0.005, "{ratio}");
    assert_eq!(ran.json()["exit_code"], 3);
}

#[test]
fn an_improvement_is_0() {
    let script = r#"{"BenchmarkA": {"baseline_ns": 110, "candidate_ns": 100, "spread": 0.002}}"#;
    let ran = Place::new().scripted(script, &["--format", "json"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkA"), "improvement");
}

#[test]
fn inconclusive_is_0_and_4_with_strict() {
    let place = Place::new();
    let ran = place.scripted(NOISY, &["--format", "json"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkA"), "inconclusive");
    assert_eq!(place.scripted(NOISY, &["--strict", "--format", "json"]).expect(4).json()["exit_code"], 4);
}

#[test]
fn a_change_within_tolerance_is_0_and_an_answer() {
    let script = |baseline: u32, candidate: u32| {
        format!(r#"{{"BenchmarkA": {{"baseline_ns": {baseline}, "candidate_ns": {candidate}, "spread": 0.002}}}}"#)
    };
    let check = |script: &str, want: &str| {
        let ran = Place::new().scripted(script, &["--strict", "--fixed", "--format", "json"]).expect(0);
        assert_eq!((ran.verdict("BenchmarkA").as_str(), &ran.json()["outcome"]), (want, &"clean".into()));
    };
    check(&script(1000, 1010), "slower_within_tolerance");
    check(&script(1010, 1000), "faster_within_tolerance");
}

#[test]
fn a_change_of_open_size_is_0_and_4_with_strict() {
    let check = |(baseline, candidate): (u32, u32), want: &str| {
        let script =
            format!(r#"{{"BenchmarkA": {{"baseline_ns": {baseline}, "candidate_ns": {candidate}, "spread": 0.02}}}}"#);
        let ran = Place::new().scripted(&script, &["--format", "json"]).expect(0);
        assert_eq!((ran.verdict("BenchmarkA").as_str(), &ran.json()["outcome"]), (want, &"inconclusive".into()));
        assert!(ran.benchmark("BenchmarkA")["forks_sufficient"].is_u64(), "{}", ran.stdout);
        assert_eq!(Place::new().scripted(&script, &["--strict", "--format", "json"]).expect(4).json()["exit_code"], 4);
    };
    check((1000, 1025), "slower_size_open");
    check((1025, 1000), "faster_size_open");
}

#[test]
fn fresh_trials_say_what_became_of_a_regression_and_how_large_it_is() {
    let script = r#"{"BenchmarkA": {"baseline_ns": 1000, "candidate_ns": 1080, "spread": 0.06}}"#;
    let check = |forks: &str, standing: &str, words: &str| {
        let place = Place::new();
        let args = ["--confirm", "--alpha", "5%", "--fixed", "--forks", forks, "--format", "json"];
        let ran = place.scripted(script, &args).expect(3);
        let (one, shown) = (ran.benchmark("BenchmarkA"), place.duet(&["show"]).expect(3).stdout);
        assert_eq!((&one["verdict"], &one["confirmation"]["standing"]), (&"regression".into(), &standing.into()));
        assert!(shown.contains(words), "`{words}` is not in {shown}");
        let of = |value: &serde_json::Value| value.as_f64().unwrap();
        let (fresh, first) = (of(&one["confirmation"]["fresh"]["ratio"]), of(&one["ratio"]));
        let told = if standing == "confirmed" { fresh } else { first };
        assert!((of(&one["change"]) - (told - 1.0)).abs() < 1e-12 && fresh != first, "{one:#}");
        assert!(shown.contains(&format!("{:+.1}%  [", 100.0 * (first - 1.0))), "{shown}");
    };
    check("8", "confirmed", "regression of these binaries, confirmed at +8.7%");
    check("6", "open", "regression of these binaries, not confirmed yet");
}

#[test]
fn a_failing_benchmark_is_1_and_a_regression_outweighs_it() {
    let failing = r#"{
        "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
        "BenchmarkF": {"baseline_ns": 100, "candidate_ns": 100, "failure": "no luck today"}
    }"#;
    let ran = Place::new().scripted(failing, &["--format", "json"]).expect(1).says(&["no luck today", "candidate"]);
    assert_eq!(ran.verdict("BenchmarkF"), "failed");
    let both = failing.replace(r#""candidate_ns": 100, "spread""#, r#""candidate_ns": 120, "spread""#);
    Place::new().scripted(&both, &[]).expect(3);
}

#[test]
fn a_benchmark_that_fails_once_gets_another_trial() {
    let flaky = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "failure_in": 2}}"#;
    let ran = Place::new().scripted(flaky, &["--forks", "6", "--fixed", "--format", "json"]).expect(0);
    let benchmark = ran.benchmark("BenchmarkA");
    assert_eq!(benchmark["forks"].as_array().unwrap().len(), 6);
    assert!(benchmark["warnings"].to_string().contains("failed_trials"), "{benchmark:#}");
}

#[test]
fn nothing_compared_is_1() {
    let disjoint = r#"{"BenchmarkOld": {"baseline_ns": 100}, "BenchmarkNew": {"candidate_ns": 100}}"#;
    let ran = Place::new().scripted(disjoint, &["--format", "json"]).expect(1);
    assert_eq!(
        (ran.verdict("BenchmarkOld"), ran.verdict("BenchmarkNew")),
        ("baseline_only".into(), "candidate_only".into())
    );
    Place::new().scripted(STEADY, &["--bench", "Nope"]).expect(1).says(&["`--bench Nope`", "hint:"]);
}

#[test]
fn usage_errors_are_2_and_name_what_is_wrong() {
    let place = Place::new();
    place.duet(&["compare", "--threshold", "lots"]).expect(2).says(&["--threshold", "3%"]);
    place.duet(&["compare", "--no-such"]).expect(2);
    place.duet(&["compare", "--forks", "3", "--budget", "1m"]).expect(2).says(&["--forks", "--budget"]);
    place
        .duet(&["list", "--command", "true", "--timeout", "9999999999999999999s"])
        .expect(2)
        .says(&["at most 3650 days"]);
    place.duet(&["compare", "--budget", "10M"]).expect(2).says(&["did you mean `10m`?"]);
    place.scripted(STEADY, &["--alpha", "70%"]).expect(2).says(&["alpha", "is 70%", "above 0.0000001% and below 50%"]);
    place.scripted(STEADY, &["--bench", "("]).expect(2).says(&["--bench"]);
    // An error that says what to do has no hint beside it.
    place.scripted(STEADY, &[]).expect(0);
    let over = place.duet(&["compare", "--resume", "r1"]).expect(2).stderr;
    assert_eq!(over, "duet: run `r1` came to its end: `duet show r1` prints its report\n");
    place.write("duet.toml", "treshold = '3%'\n");
    place.scripted(STEADY, &[]).expect(2).says(&["duet.toml", "treshold"]);
}

#[test]
fn lists_of_nothing_and_names_of_no_variable_are_refused() {
    let place = Place::new();
    let check = |variable: (&str, &str), code: i32, said: &[&str]| {
        let mut command = place.command(&["config", "check"]);
        drop(Ran::from(command.env(variable.0, variable.1).output().unwrap()).expect(code).says(said));
    };
    let no_package = ["`packages`", "`./...`"];
    place.duet(&["list", "--packages", ""]).expect(2).says(&no_package);
    check(("DUET_PACKAGES", " "), 2, &no_package);
    check(("DUET_PACKAGES", ""), 0, &[]);
    for none in ["[]", "''", "['']", "['./a', ' ']"] {
        place.write("duet.toml", &format!("packages = {none}\n"));
        check(("DUET_PACKAGES", ""), 2, &no_package);
    }
    place.write("duet.toml", "pass_env = []\n");
    for wrong in ["FOO=bar", "FOO,BAR", "foo*", ""] {
        let said = format!("`{wrong}`, which is no name of a variable");
        place.duet(&["list", "--pass-env", wrong]).expect(2).says(&["`pass_env`", &said]);
    }
    check(("DUET_PASS_ENV", "FOO A=b"), 2, &["`A=b`"]);
    check(("DUET_PASS_ENV", "FOO _b.c-1"), 0, &[]);
}

#[test]
fn studies_are_2_and_name_their_program() {
    let ran = Place::new().duet(&["study", "cloud", "my file.csv", "--out", "t"]).expect(2);
    ran.says(&[
        "duet: the studies of papers are a program of their own: `duet-study cloud 'my file.csv' --out t`\n",
        "hint: `cargo run --release -p duetbench-study -- cloud 'my file.csv' --out t` runs it from the sources of duet",
    ]);
    Place::new().duet(&["study", "--help"]).expect(2).says(&["`duet-study --help`"]);
}

#[test]
fn settings_come_from_file_variable_and_command_line_in_this_order() {
    let place = Place::new();
    place.write("duet.toml", "threshold = '20%'\n").write("script.json", SLOWER);
    let args = ["compare", "--scripted", "script.json", "--seed", "1"];
    place.duet(&args).expect(0);
    let by_variable = place.command(&args).env("DUET_THRESHOLD", "3%").output().unwrap();
    assert_eq!(by_variable.status.code(), Some(3));
    let typed =
        place.command(&[&args[..], &["--threshold", "15%"]].concat()).env("DUET_THRESHOLD", "3%").output().unwrap();
    assert_eq!(typed.status.code(), Some(0));
}

#[test]
fn a_stored_run_is_shown_again_word_for_word_and_judged_again() {
    let place = Place::new();
    let first = place.scripted(SLOWER, &["--format", "json"]).expect(3);
    let again = place.duet(&["show", "r1", "--format", "json"]).expect(3);
    assert_eq!(first.stdout, again.stdout);
    let loose = place.duet(&["analyze", "latest", "--threshold", "20%", "--format", "json"]).expect(0);
    assert_eq!(loose.verdict("BenchmarkB"), "slower_within_tolerance");
    place.duet(&["show", "r9"]).expect(1).says(&["`r9`", "latest"]);
    Place::new().duet(&["show"]).expect(1).says(&["nothing has been measured"]);
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let run = || {
        let ran = Place::new().scripted(SLOWER, &["--format", "csv"]).expect(3);
        ran.stdout
    };
    assert_eq!(run(), run());
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let script = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "interrupt_in": 4}}"#;
    let place = Place::new();
    let ran = place.scripted(script, &["--fixed", "--format", "json", "--timeout", "2s"]).expect(130);
    let ran = ran.says(&["`duet compare --resume r1 --timeout 2s` goes on from here"]);
    assert_eq!(ran.json()["complete"], false);
    assert_eq!(ran.benchmark("BenchmarkA")["forks"].as_array().unwrap().len(), 4);
    for again in [&["show"][..], &["analyze"], &["analyze", "r1", "--threshold", "5%"]] {
        let shown = place.duet(&[again, &["--format", "json"]].concat()).expect(130);
        assert_eq!(shown.benchmark("BenchmarkA")["forks"].as_array().unwrap().len(), 4);
        assert_eq!(shown.json()["exit_code"], 130);
    }
}

#[test]
fn output_goes_to_a_file_and_quiet_is_quiet() {
    let place = Place::new();
    let ran = place.scripted(STEADY, &["--quiet", "--output", "report.md", "--format", "markdown"]).expect(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let text = std::fs::read_to_string(place.path().join("report.md")).unwrap();
    assert!(text.starts_with("<!-- duetbench -->"), "{text}");
    place.scripted(STEADY, &["--output", "no/such/dir/report"]).expect(2).says(&["no folder `no/such/dir`"]);
}

#[test]
fn who_searches_a_slowdown_is_told_of_accepted_ones_too() {
    let slower = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 130, "spread": 0.002}}"#;
    let place = Place::new();
    place.scripted(slower, &[]).expect(3);
    place.duet(&["waive", "BenchmarkA", "--days", "9", "--reason", "needed"]).expect(0);
    place.scripted(slower, &[]).expect(0);
    let classified = place.scripted(slower, &["--classify", "--format", "json"]).expect(1).json();
    assert_eq!((&classified["outcome"], &classified["exit_code"]), (&"regression".into(), &1.into()));
    place.write("duet.toml", "[[rule]]\naction = \"inform\"\n");
    place.scripted(slower, &["--classify", "--bench", "A"]).expect(1);
    // Nor does a waiver answer an open question.
    let open = r#"{"BenchmarkB": {"baseline_ns": 1000, "candidate_ns": 1025, "spread": 0.02}}"#;
    place.write("duet-waivers.toml", &waiver("BenchmarkB")).write("duet.toml", "");
    place.scripted(open, &["--classify", "--fixed"]).expect(125);
}

fn waiver(benchmark: &str) -> String {
    format!("[[waiver]]\nbenchmark = '{benchmark}'\nceiling = 0.09\nexpires = '2999-12-31'\nreason = 'needed'\n")
}

#[test]
fn a_strict_run_says_which_answer_it_lacks() {
    let place = Place::new();
    let told = "fails: `A` has no answer";
    for form in ["text", "markdown"] {
        let lenient = place.scripted(NOISY, &["--format", form]).expect(0).stdout;
        let strict = place.scripted(NOISY, &["--strict", "--format", form]).expect(4).stdout;
        assert!(strict.contains(told) && !lenient.contains(told), "{strict}");
    }
}

/// Git takes every exit code from 1 to 127 for a slow commit, but for 125.
#[test]
fn no_mistake_looks_like_a_slow_commit_to_git() {
    let place = Place::new();
    place.scripted(STEADY, &["--classify", "--nosuch"]).expect(128);
    place.scripted(STEADY, &["--classify", "--dry-run"]).expect(128).says(&["`--classify` needs a comparison"]);
    place.duet(&["compare", "--classify", "nosuch"]).expect(128).says(&["git checkout"]);
    place.scripted(STEADY, &["--classify", "--bench", "("]).expect(125);
    // One commit may have had another file.
    place.write("duet.toml", "treshold = '3%'\n");
    place.scripted(STEADY, &["--classify"]).expect(125).says(&["treshold"]);
    place.scripted(STEADY, &[]).expect(2);
}

#[test]
fn a_dry_run_that_nobody_typed_says_so() {
    let place = Place::new();
    place.write("duet.toml", "dry_run = true\n");
    let told = "nothing is measured: a variable or `duet.toml` sets `dry_run`";
    place.scripted(STEADY, &["--quiet"]).expect(0).says(&[told]);
    let typed = place.scripted(STEADY, &["--dry-run"]).expect(0);
    assert!(!typed.stderr.contains("nothing is measured"), "{}", typed.stderr);
}

#[test]
fn a_dry_run_measures_nothing() {
    let place = Place::new();
    let ran = place.scripted(STEADY, &["--dry-run", "--budget", "30s"]).expect(0);
    assert!(ran.stdout.contains("BenchmarkA") && ran.stdout.contains("1 benchmark, about"), "{}", ran.stdout);
    assert!(!place.path().join(".duet").exists());
}

#[test]
fn a_full_disk_ends_the_run_with_1_and_says_so() {
    let place = Place::new();
    // A device that takes nothing: opening works, writing fails as on a full disk.
    place.scripted(STEADY, &["--db", "/dev/full"]).expect(1).says(&["/dev/full"]);
}

#[test]
fn a_store_of_a_newer_duet_is_refused() {
    let place = Place::new();
    place.scripted(STEADY, &[]).expect(0);
    let sql = "PRAGMA user_version = 99";
    rusqlite::Connection::open(place.path().join(".duet/duet.db")).unwrap().execute_batch(sql).unwrap();
    place.duet(&["show"]).expect(1).says(&["newer duet"]);
}

#[test]
fn help_teaches() {
    let place = Place::new();
    let help = place.duet(&["compare", "--help"]).expect(0);
    for word in ["duet compare v1.2.0 HEAD", "--budget", "merge base", "[default: 3%]"] {
        assert!(help.stdout.contains(word), "`{word}` is missing\n{}", help.stdout);
    }
    assert!(place.duet(&["--help"]).expect(0).stdout.contains("Exit codes"));
}

#[test]
fn two_build_pairs_are_refused_because_they_can_never_answer() {
    let ran = Place::new().scripted(STEADY, &["--builds", "2"]).expect(2);
    ran.says(&["`--builds 2` can never answer: an interval needs 3 build pairs", "hint: `--builds 3`", "`--builds 1`"]);
    Place::new().scripted(STEADY, &["--builds", "3"]).expect(0);
    Place::new().scripted(STEADY, &["--builds", "1"]).expect(0);
}
