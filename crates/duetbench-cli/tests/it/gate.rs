//! Whether a change passes, end to end: rules, branches, waivers, exit codes, and what people and programs are told.

use crate::common::Place;
use crate::schema;

const SLOWER: &str = r#"{
    "BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002},
    "BenchmarkEncode": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}
}"#;
const STEADY: &str = r#"{
    "BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002},
    "BenchmarkEncode": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}
}"#;
const NOISY: &str = r#"{"BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2}}"#;

fn waiver(ceiling: &str, expires: &str) -> String {
    format!(
        "[[waiver]]\nbenchmark = 'BenchmarkDecode'\nceiling = '{ceiling}'\nexpires = {expires}\nreason = 'checks the sum'\n"
    )
}

#[test]
fn a_regression_fails_until_it_is_waived_and_again_when_that_is_over() {
    let place = Place::new();
    place.scripted(SLOWER, &[]).expect(3);
    let waived = ["waive", "BenchmarkDecode", "--expires", "2999-12-31", "--reason", "checks the sum"];
    place.duet(&waived).expect(0).says(&["duet-waivers.toml", "until 2999-12-31"]);

    let ran = place.scripted(SLOWER, &["--format", "json"]).expect(0);
    assert_eq!(ran.json()["outcome"], "clean");
    let gate = &ran.json()["gate"];
    assert_eq!((&gate["passes"], &gate["breaches"][0]["standing"]), (&true.into(), &"waived".into()));
    assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
    // The verdict is what it was: accepting is not denying.
    assert_eq!(ran.verdict("BenchmarkDecode"), "regression");
    let text = place.duet(&["show"]).expect(0).stdout;
    assert!(text.contains("accepted: time of `Decode` +10%") && text.contains("until 2999-12-31"), "{text}");
    let comment = place.duet(&["show", "--format", "markdown"]).expect(0).stdout;
    assert!(comment.contains("1 of 2 benchmarks regressed, as accepted"), "{comment}");

    // An accepted regression stays one, whatever else is open.
    let open = SLOWER.replace("100, \"spread\": 0.002}\n}", "101, \"spread\": 0.2}\n}");
    let text = place.scripted(&open, &[]).expect(0).stdout;
    assert!(text.contains("1 regressed, as accepted, but 1 of 2 benchmarks undecided"), "{text}");
    let broken = SLOWER.replace("100, \"spread\": 0.002}\n}", "100, \"failure\": \"panic\"}\n}");
    let text = place.scripted(&broken, &[]).expect(1).stdout;
    assert!(text.contains("1 regressed, as accepted, but 1 of 2 benchmarks failed"), "{text}");

    place.write("duet-waivers.toml", &waiver("11%", "2000-01-01"));
    let text = place.scripted(SLOWER, &[]).expect(3).stdout;
    assert!(text.contains("which was accepted until 2000-01-01") && text.contains("renew or remove it"), "{text}");
}

#[test]
fn a_waiver_takes_names_as_they_are_printed_and_suggests_those_that_are_near() {
    let place = Place::new();
    place.scripted(SLOWER, &[]).expect(3);
    let waive = |name: &str| place.duet(&["waive", name, "--days", "90", "--reason", "r"]);
    for (unknown, near) in
        [("Decod", "did you mean `Decode`?"), ("Dekode", "did you mean `Decode`"), ("decode", "`Decode`")]
    {
        waive(unknown).expect(2).says(&[&format!("there is no benchmark `{unknown}` in `r1`"), near]);
    }
    waive("Sort").expect(2).says(&["there is no benchmark `Sort`", "`duet show r1` has their names"]);
    waive("Encode").expect(2).says(&["the time of `Encode` did not get worse in `r1`"]);
    let id = place.duet(&["show", "--format", "json"]).benchmark("BenchmarkDecode")["package"].clone();
    let package = id.as_str().unwrap();
    let last = package.rsplit('/').next().unwrap();
    for name in ["Decode".to_owned(), format!("{last}.Decode"), format!("{package}.BenchmarkDecode")] {
        waive(&name).expect(0).says(&["may be worse by"]);
        let file = std::fs::read_to_string(place.path().join("duet-waivers.toml")).unwrap();
        assert!(file.contains(&format!("{package}.BenchmarkDecode")), "{file}");
        std::fs::remove_file(place.path().join("duet-waivers.toml")).unwrap();
    }
    place.duet(&["waive", "Decode", "--reason", "r"]).expect(2).says(&["--expires", "--days"]);
}

#[test]
fn a_waiver_that_is_not_needed_any_more_fails() {
    let place = Place::new();
    place.write("duet-waivers.toml", &waiver("11%", "2999-12-31"));
    let ran = place.scripted(STEADY, &["--format", "json"]).expect(5);
    assert_eq!((&ran.json()["outcome"], &ran.json()["gate"]["passes"]), (&"stale_waiver".into(), &false.into()));
    assert_eq!(ran.json()["gate"]["stale_waivers"][0]["why"], "unused");
    assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
    // One that did not take part, or has no answer, is left alone.
    place.scripted(STEADY, &["--bench", "Encode"]).expect(0);
    place.scripted(NOISY, &[]).expect(0);
}

#[test]
fn more_than_was_accepted_fails() {
    let place = Place::new();
    place.write("duet-waivers.toml", &waiver("5%", "2999-12-31"));
    let text = place.scripted(SLOWER, &[]).expect(3).stdout;
    assert!(text.contains("of which 5% were accepted"), "{text}");
    // Another waiver of the same would be refused.
    assert!(!text.contains("duet waive"), "{text}");
    let comment = place.duet(&["show", "--format", "markdown"]).expect(3).stdout;
    assert!(!comment.contains("[[waiver]]"), "{comment}");
}

#[test]
fn a_count_that_grew_from_nothing_has_no_ceiling_and_says_so() {
    let place = Place::new();
    place.write("duet.toml", "[[rule]]\nmetric = 'allocs'\naction = 'gate'\n");
    let grown = r#"{"BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "allocs": [0, 1]}}"#;
    let text = place.scripted(grown, &[]).expect(3).stdout;
    assert!(!text.contains("duet waive"), "{text}");
    let waive = |more: &[&str]| {
        let usual = ["waive", "BenchmarkDecode", "--metric", "allocs", "--days", "9", "--reason", "r"];
        place.duet(&[&usual[..], more].concat()).expect(2).says(&["grew from nothing", "`action = \"inform\"`"]);
    };
    waive(&[]);
    waive(&["--ceiling", "100%"]);
}

#[test]
fn the_command_that_makes_a_run_again_decides_as_it_did() {
    let command = |rules: &str, more: &[&str]| {
        let place = Place::new();
        place.write("duet.toml", rules);
        let page = place.scripted(STEADY, &[&["--format", "markdown"], more].concat()).expect(0).stdout;
        page.lines().find(|line| line.contains("--seed")).unwrap().to_owned()
    };
    let ruled = "threshold = '5%'\n[[rule]]\nthreshold = '10%'\n";
    // Typed again, the suite's threshold would overrule the rules.
    assert!(!command(ruled, &[]).contains("--threshold"));
    assert!(command(ruled, &["--threshold", "3%"]).contains("--threshold 3%"));
    assert!(command("threshold = '5%'\n", &[]).contains("--threshold 5%"));
    assert!(command("threshold = '5%'\n", &["--threshold", "3%"]).contains("--threshold 3%"));
    assert!(command("", &["--threshold", "150%"]).contains("--threshold 150%"));
    assert!(!command("", &[]).contains("--threshold"));
}

#[test]
fn rules_decide_what_is_tolerated_and_what_only_informs() {
    let place = Place::new();
    place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decode'\nthreshold = '20%'\n");
    let ran = place.scripted(SLOWER, &["--format", "json"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkDecode"), "slower_within_tolerance");
    assert_eq!(ran.benchmark("BenchmarkDecode")["threshold"], 0.2);
    // A typed threshold holds for all benchmarks, and so it does for a stored run.
    place.scripted(SLOWER, &["--threshold", "3%"]).expect(3);
    let again = place.duet(&["analyze", "r1", "--threshold", "3%", "--format", "json"]).expect(3);
    assert_eq!(again.json()["gate"]["breaches"][0]["threshold"], 0.03, "the gate tolerates what the verdict does");
    place.duet(&["analyze", "r1"]).expect(0);
    place.duet(&["analyze", "r2"]).expect(3);

    place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decode'\naction = 'inform'\n");
    let ran = place.scripted(SLOWER, &["--format", "json"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkDecode"), "regression");
    assert_eq!(ran.json()["gate"]["breaches"][0]["standing"], "informs");
    place.write("duet.toml", "[[rule]]\nbenchmarks = '('\naction = 'gate'\n");
    place.scripted(SLOWER, &[]).expect(2).says(&["duet.toml", "rule 1", "benchmarks"]);
}

/// A real slowdown within tolerance, and one of open size.
const SLIGHTLY_SLOWER: [(&str, &str); 2] = [
    ("slower_within_tolerance", r#"{"BenchmarkDecode": {"baseline_ns": 1000, "candidate_ns": 1010, "spread": 0.002}}"#),
    ("slower_size_open", r#"{"BenchmarkDecode": {"baseline_ns": 1000, "candidate_ns": 1025, "spread": 0.02}}"#),
];

#[test]
fn a_slowdown_that_is_not_shown_to_exceed_the_threshold_fails_only_where_a_rule_says_so() {
    for (verdict, script) in SLIGHTLY_SLOWER {
        let place = Place::new();
        place.scripted(script, &["--fixed"]).expect(0);
        place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decode'\nslower = 'inform'\n");
        place.scripted(script, &["--fixed"]).expect(0);
        place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decode'\nslower = 'gate'\n");
        let ran = place.scripted(script, &["--fixed", "--format", "json"]).expect(3);
        assert_eq!((ran.verdict("BenchmarkDecode").as_str(), &ran.json()["outcome"]), (verdict, &"regression".into()));
        let breach = ran.json()["gate"]["breaches"][0].clone();
        assert_eq!((&breach["standing"], &breach["threshold"]), (&"fails".into(), &0.0.into()));
        assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
        let text = place.duet(&["show"]).expect(3).stdout;
        assert!(text.contains("fails: time of `Decode` +") && text.contains(", nothing slower is tolerated"), "{text}");
        let result = place.duet(&["show", "--format", "sarif"]).expect(3).json()["runs"][0]["results"].clone();
        assert_eq!(result.as_array().map(Vec::len), Some(1), "{result:#}");
        assert_eq!((&result[0]["ruleId"], &result[0]["level"]), (&"slower".into(), &"error".into()));
        // It can be accepted like any other.
        place.duet(&["waive", "BenchmarkDecode", "--expires", "2999-12-31", "--reason", "r"]).expect(0);
        place.scripted(script, &["--fixed", "--strict"]).expect(0);
        // A name as reports print it will do.
        let waivers = std::fs::read_to_string(place.path().join("duet-waivers.toml")).unwrap();
        let waivers: Vec<&str> = waivers.lines().filter(|line| !line.starts_with("benchmark")).collect();
        place.write("duet-waivers.toml", &(waivers.join("\n") + "\nbenchmark = 'Decode'\n"));
        place.scripted(script, &["--fixed", "--strict"]).expect(0);
        // Another benchmark's slowdown is another matter, and so is a faster one.
        place.write("duet.toml", "[[rule]]\nbenchmarks = 'Encode'\nslower = 'gate'\n");
        std::fs::remove_file(place.path().join("duet-waivers.toml")).unwrap();
        place.scripted(script, &["--fixed"]).expect(0);
    }
}

#[test]
fn a_slowdown_of_open_size_that_a_waiver_accepts_is_told() {
    let (_, script) = SLIGHTLY_SLOWER[1];
    let place = Place::new();
    place.scripted(script, &["--fixed", "--strict"]).expect(4);
    let waiver = "benchmark = 'Decode'\nceiling = 0.09\nexpires = '2999-12-31'\nreason = 'r'\n";
    place.write("duet-waivers.toml", &format!("[[waiver]]\n{waiver}"));
    let text = place.scripted(script, &["--fixed", "--strict"]).expect(0).stdout;
    assert!(text.contains("accepted: time of `Decode` worse by an open size, at most "), "{text}");
    // A name that is exactly another benchmark's is that one's, which did not get worse.
    let two = script.replace(
        "{\"BenchmarkDecode\"",
        "{\"Decode\": {\"baseline_ns\": 1000, \"candidate_ns\": 1000, \"spread\": 0.002}, \"BenchmarkDecode\"",
    );
    place.scripted(&two, &["--fixed", "--strict"]).expect(5);
    // As `duet waive` writes it.
    place.write("duet-waivers.toml", "");
    place.duet(&["waive", "Decode", "--run", "r1", "--days", "9", "--reason", "r"]).expect(0);
    place.scripted(script, &["--fixed", "--strict"]).expect(0);
    place.write("duet-waivers.toml", &format!("[[waiver]]\n{waiver}"));
    let accepted = &place.scripted(script, &["--fixed", "--format", "json"]).expect(0).json()["gate"]["accepted"][0];
    assert_eq!((&accepted["name"], &accepted["ceiling"]), (&"BenchmarkDecode".into(), &0.09.into()), "{accepted}");
}

#[test]
fn an_open_size_is_an_open_question_to_the_rules() {
    let (_, script) = SLIGHTLY_SLOWER[1];
    let place = Place::new();
    place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decode'\ninconclusive = 'gate'\n");
    let ran = place.scripted(script, &["--fixed", "--format", "json"]).expect(4);
    assert_eq!(ran.json()["gate"]["unanswered"][0]["name"], "BenchmarkDecode");
    place.scripted(SLIGHTLY_SLOWER[0].1, &[]).expect(0);
}

#[test]
fn some_branches_want_answers() {
    let place = Place::new();
    place.write("duet.toml", "strict_on = ['release/*']\n").write("script.json", NOISY);
    let args = ["compare", "--scripted", "script.json", "--seed", "1"];
    let on = |branch: &str| place.command(&args).env("GITHUB_BASE_REF", branch).output().unwrap().status.code();
    assert_eq!((on("release/1.2"), on("main")), (Some(4), Some(0)));
}

#[test]
fn some_benchmarks_must_have_an_answer_and_others_need_none() {
    let place = Place::new();
    place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decode'\ninconclusive = 'gate'\n");
    let ran = place.scripted(NOISY, &["--format", "json"]).expect(4);
    assert_eq!(ran.json()["gate"]["unanswered"][0]["name"], "BenchmarkDecode");
    assert_eq!(schema::departures(&ran.json()), Vec::<String>::new());
    let text = place.duet(&["show"]).expect(4).stdout;
    assert!(text.contains("fails: `Decode` has no answer"), "{text}");
    place.write("duet.toml", "strict = true\n[[rule]]\nbenchmarks = 'Decode'\ninconclusive = 'inform'\n");
    place.scripted(NOISY, &[]).expect(0);
    place.write("duet.toml", "strict = true\n[[rule]]\nbenchmarks = 'Decode'\naction = 'inform'\n");
    place.scripted(NOISY, &[]).expect(0);
    place.write("duet.toml", "strict = true\n");
    place.scripted(NOISY, &[]).expect(4);
}

#[test]
fn a_rule_that_no_benchmark_is_called_as_is_told_where_all_were_looked_for() {
    let place = Place::new();
    place.write("duet.toml", "[[rule]]\nbenchmarks = 'Decoed'\nthreshold = '1%'\n");
    let told = |more: &[&str]| place.scripted(STEADY, more).expect(0).stdout.contains("as rules say: `Decoed`");
    assert_eq!([told(&[]), told(&["--bench", "Decode"])], [true, false]);
}

#[test]
fn a_rule_that_can_fit_no_name_is_told_beside_one_that_fits() {
    let place = Place::new();
    let rule = |pattern: &str| format!("[[rule]]\nbenchmarks = '{pattern}'\nthreshold = '1%'\n");
    place.write("duet.toml", &(rule("^BenchmarkEncode$") + &rule("Decode")));
    let said = "names begin with the package, so that rules fit none: `^BenchmarkEncode$`";
    let told = place.scripted(STEADY, &[]).expect(0).stdout;
    assert!(told.contains(said) && !told.contains("as rules say"), "{told}");
    let checked = place.duet(&["config", "check"]).expect(0).stdout;
    let fits = r"`^BenchmarkEncode$` fits none: names begin with the package; `\.BenchmarkEncode$` does";
    assert!(checked.contains(fits), "{checked}");
    place.write("duet.toml", &rule(r"\.BenchmarkEncode$"));
    assert!(!place.scripted(STEADY, &[]).expect(0).stdout.contains("begin with the package"));
}

#[test]
fn the_files_keep_to_their_schemas() {
    let place = Place::new();
    for (which, schema) in [("settings", schema::SETTINGS), ("waivers", schema::WAIVERS)] {
        assert_eq!(place.duet(&["config", "schema", which]).expect(0).json(), schema::read(schema));
    }
    let departures = |schema: &str, text: &str| {
        let value = toml::from_str::<toml::Table>(text).unwrap();
        schema::departures_from(schema, &serde_json::to_value(value).unwrap())
    };
    let settings = "threshold = '3%'\nforks = 8\n[[rule]]\nmetric = 'bytes'\nthreshold = 0.1\naction = 'inform'\n\
        [[rule]]\nslower = 'gate'\n";
    assert_eq!(departures(schema::SETTINGS, settings), Vec::<String>::new());
    assert_eq!(departures(schema::SETTINGS, "treshold = '3%'").len(), 1);
    assert_eq!(departures(schema::WAIVERS, &waiver("11%", "'2999-12-31'")), Vec::<String>::new());
    assert_eq!(departures(schema::WAIVERS, "[[waiver]]\nbenchmark = 'A'\n").len(), 1);
}

#[test]
fn what_cannot_be_waived_is_said() {
    let place = Place::new();
    let waive = |more: &[&str]| place.duet(&[&["waive"], more, &["--reason", "r"]].concat());
    waive(&["BenchmarkDecode", "--expires", "2999-12-31"]).expect(1).says(&["nothing has been measured"]);
    place.scripted(SLOWER, &[]).expect(3);
    waive(&["BenchmarkEncode", "--expires", "2999-12-31"]).expect(2).says(&["did not get worse", "--run"]);
    waive(&["BenchmarkDecode", "--expires", "2000-01-01"]).expect(2).says(&["--expires", "over already"]);
    waive(&["BenchmarkDecode", "--expires", "soon"]).expect(2).says(&["2026-12-31"]);
    waive(&["BenchmarkDecode", "--expires", "2999-12-31", "--ceiling", "2%"]).expect(2).says(&["--ceiling 2%"]);
    waive(&["BenchmarkDecode", "--expires", "2999-12-31"]).expect(0);
    waive(&["BenchmarkDecode", "--expires", "2999-12-31"]).expect(2).says(&["two waivers", "edit the file"]);
    place.write("duet-waivers.toml", "[[waiver]]\nbenchmark = 'A'\n");
    let ran = place.scripted(SLOWER, &[]).expect(2).says(&["duet-waivers.toml", "ceiling"]);
    assert!(!ran.stderr.contains("measuring"), "it was measured first\n{}", ran.stderr);
}

#[test]
fn the_files_can_be_checked() {
    let place = Place::new();
    let checked = place.duet(&["config", "check"]).expect(0).stdout;
    assert_eq!(checked.contains("waivers: no `duet-waivers.toml`"), !place.path().join("duet-waivers.toml").exists());
    place.write(
        "duet.toml",
        "threshold = '2%'\n[[rule]]\nmetric = 'allocs'\naction = 'gate'\n[[rule]]\nslower = 'gate'\nredefined = 'gate'\n",
    );
    place.write("duet-waivers.toml", &waiver("11%", "2000-01-01"));
    let out = place.duet(&["config", "check"]).expect(0).stdout;
    for line in [
        "threshold: 2%",
        "rule 1: allocs of all benchmarks: gates",
        "rule 2: everything of all benchmarks: slower gates, changed benchmark gates",
        "time of BenchmarkDecode: up to 11% until 2000-01-01 (expired)",
    ] {
        assert!(out.contains(line), "`{line}` is not in {out}");
    }
    for (key, words) in
        [("parallel = 0", "between 1 and 10000"), ("memory = 64", "between 128"), ("forks_per_call = 101", "and 100")]
    {
        place.write("duet.toml", &format!("on = 'here'\n{key}\n"));
        place.duet(&["compare", "--dry-run"]).expect(2).says(&["must be", words]);
    }
    place.write("duet.toml", "[[rule]]\nthreshold = '0%'\n");
    place.duet(&["config", "check"]).expect(2).says(&["rule 1", "threshold"]);
    place.write(
        "duet.toml",
        "[[command]]\nname = 'sort'\ncommand = 'sort {size}'\nparameters = { size = ['1', '2'] }\n",
    );
    let out = place.duet(&["config", "check"]).expect(0).stdout;
    assert!(out.contains("command: `sort:size=1`\ncommand: `sort:size=2`\n"), "{out}");
    place.write("duet.toml", "[[command]]\nname = 'sort'\ncommand = 'sort'\nparameters = { size = ['1', '2'] }\n");
    place.duet(&["config", "check"]).expect(2).says(&["`size` cannot be passed on", "no place in `sort`"]);
}

#[test]
fn what_the_comment_proposes_lets_the_change_pass() {
    let place = Place::new();
    let script = r#"{"BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 107.2, "spread": 0.002},
                     "BenchmarkSame": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}}"#;
    place.scripted(script, &[]).expect(3);
    let comment = place.duet(&["show", "--format", "markdown"]).expect(3).stdout;
    let (_, block) = comment.split_once("```toml\n").expect("a waiver is proposed");
    let (waivers, _) = block.split_once("```").unwrap();
    place.write("duet-waivers.toml", waivers);
    let accepted = place.duet(&["show", "--format", "markdown"]).expect(0).stdout;
    assert!(accepted.contains("as accepted") && !accepted.contains("[[waiver]]"), "{accepted}");
}
