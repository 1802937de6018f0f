//! `duet show --format html` end to end: the page of a stored run, and what of it could do harm.

use duetbench_cli::render::html;
use duetbench_cli::steadiness;
use duetbench_core::analysis::Warning;
use duetbench_core::noise::{Finding, Kind, Severity};
use duetbench_core::{Report, Role, Verdict};
use serde_json::Value;

use crate::common::{Place, Ran, recording};
use crate::render_support::{benchmark, everything, pictured, profiled};

const RUN: &str = r#"{
    "BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002, "allocs": [2, 3]},
    "BenchmarkEncode": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkSum": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}
}"#;

/// The data that a page holds for its script.
#[track_caller]
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).expect("the page has data");
    let (json, _) = rest.split_once("</script>").expect("the data end");
    serde_json::from_str(json).unwrap()
}

/// Writes the page of the last run, in which there is a regression, as `page.html`.
fn written(place: &Place, more: &[&str]) -> Ran {
    place.duet(&[&["show", "--format", "html", "-o", "page.html"], more].concat())
}

fn page(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).unwrap()
}

/// The keys of an object, by name.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn of<'a>(data: &'a Value, name: &str) -> &'a Value {
    data["benchmarks"].as_array().unwrap().iter().find(|b| b["name"] == name).unwrap()
}

#[test]
fn a_run_becomes_a_page_whatever_it_came_to() {
    let place = Place::new();
    let wrote = |ran: &Ran, name: &str| assert!(ran.stderr.contains(&format!("`{name}` (")), "{name}");
    place.scripted(RUN, &["--format", "html", "-o", "r1.html"]).expect(3).says(&["`r1.html` ("]);
    wrote(&written(&place, &["r1"]), "page.html");
    assert_eq!(page(&place, "page.html"), page(&place, "r1.html"));
    assert_eq!(page(&place, "page.html"), place.duet(&["show", "--format", "html"]).expect(3).stdout);
    assert_eq!(written(&place, &["-q"]).stderr, "");
    place.duet(&["show", "--format", "html", "-o", "no/such/folder.html"]).expect(1).says(&["`no/such/folder.html`"]);
    place.duet(&["show", "r9", "--format", "html"]).expect(1).says(&["r9"]);
}

/// Keys of the page's data, and of one benchmark in them.
const KEYS: [&str; 21] = [
    "accept", "baseline", "benchmarks", "candidate", "complete", "confidence", "counts", "duet", "format", "headline",
    "hints", "outcome", "reproduce", "run", "runs", "sections", "started", "summary", "threshold", "warnings", "words",
];
const KEYS_OF_ONE: [&str; 25] = [
    "allocs", "as_linked", "baseline_ns", "bytes", "candidate_ns", "change", "confirmation", "estimate", "history",
    "id", "instructions", "label", "layout", "mode", "name", "package", "picture", "profile", "sentence", "standing",
    "standing_words", "threshold", "verdict", "verdict_words", "words",
];

#[test]
fn the_data_are_those_of_the_contract() {
    let place = Place::new();
    let shown = place.scripted(RUN, &["--format", "json"]).expect(3);
    written(&place, &[]);
    let data = data(&page(&place, "page.html"));
    assert_eq!(
        (&data["format"], &data["run"], &data["outcome"]),
        (&"duet-page-1".into(), &"r1".into(), &"regression".into())
    );
    assert_eq!(keys(&data), KEYS);
    assert_eq!(data["headline"], "1 of 4 benchmarks regressed.");
    assert!(
        data["accept"]
            .as_str()
            .unwrap()
            .starts_with("duet waive example.com/scripted.BenchmarkDecode --run r1 --days 90")
    );
    let names: Vec<&str> = data["benchmarks"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["BenchmarkDecode", "BenchmarkEncode", "BenchmarkGone", "BenchmarkSum"]);
    for (id, one) in data["benchmarks"].as_array().unwrap().iter().enumerate() {
        assert_eq!((keys(one), one["id"].as_u64()), (KEYS_OF_ONE.to_vec(), Some(id as u64)));
        assert_eq!(one["verdict"], shown.verdict(one["name"].as_str().unwrap()));
    }
    assert_eq!(
        (&of(&data, "BenchmarkDecode")["standing"], &of(&data, "BenchmarkSum")["standing"]),
        (&"fails".into(), &Value::Null)
    );
}

#[test]
fn what_only_one_version_has_has_no_picture() {
    let place = Place::new();
    place.scripted(RUN, &[]).expect(3);
    written(&place, &[]);
    assert_eq!(of(&data(&page(&place, "page.html")), "BenchmarkGone")["picture"], Value::Null);
}

#[test]
fn from_three_runs_on_a_benchmark_has_its_history() {
    let place = Place::new();
    let measured = |head_ns: u32| {
        let run = RUN.replace("\"candidate_ns\": 110", &format!("\"candidate_ns\": {head_ns}"));
        place.scripted(&run, &[]).expect(3);
        written(&place, &[]);
        data(&page(&place, "page.html"))
    };
    let history = |data: &Value, name: &str| of(data, name)["history"].clone();
    assert_eq!(history(&measured(110), "BenchmarkDecode"), Value::Null);
    assert_eq!(history(&measured(120), "BenchmarkDecode"), Value::Null);
    let third = measured(140);
    let names: Vec<&Value> = third["runs"].as_array().unwrap().iter().map(|run| &run["name"]).collect();
    assert_eq!(names, ["r1", "r2", "r3"]);
    let decode = history(&third, "BenchmarkDecode");
    let words = decode["words"].as_str().unwrap();
    assert!(words.starts_with("Last 3 runs: ") && words.contains(", the longest."), "{words}");
    // All three saw the same drift of the scripted machine.
    let points: Vec<(u64, f64)> = serde_json::from_value(decode["points"].clone()).unwrap();
    for (run, ns) in [(0, 110.0), (1, 120.0), (2, 140.0)] {
        let (place, found) = points[run];
        assert!(place == run as u64 && (found / ns - points[0].1 / 110.0).abs() < 0.01, "{points:?}");
    }
    assert_eq!(history(&third, "BenchmarkGone"), Value::Null);
    // A benchmark that this run did not measure has no point to mark.
    place.scripted(&RUN.replace(r#", "candidate_ns": 110, "spread": 0.002, "allocs": [2, 3]"#, ""), &[]);
    written(&place, &[]);
    let fourth = data(&page(&place, "page.html"));
    assert_eq!((fourth["run"].as_str(), history(&fourth, "BenchmarkDecode")), (Some("r4"), Value::Null));
    assert_eq!(history(&fourth, "BenchmarkSum")["points"].as_array().unwrap().len(), 4);
    // An older run has the history that it had.
    written(&place, &["r2"]).expect(3);
    assert_eq!(data(&page(&place, "page.html"))["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn ratios_have_the_same_digits_as_in_every_other_format() {
    let place = Place::new();
    let shown = place.scripted(RUN, &["--format", "json"]).expect(3);
    written(&place, &[]);
    let data = data(&page(&place, "page.html"));
    for name in ["BenchmarkDecode", "BenchmarkEncode", "BenchmarkSum"] {
        let (here, there) = (&of(&data, name)["estimate"], shown.benchmark(name));
        assert_eq!((&here["ratio"], &here["low"]), (&there["ratio"], &there["ratio_low"]), "{name}");
    }
}

#[test]
fn warnings_are_never_cut() {
    let mut report = everything();
    report.warnings =
        vec![format!("a plain loop {}is not to be trusted", "differs from build to build and ".repeat(40))];
    let data: Value = serde_json::from_str(&html::data(&report)).unwrap();
    assert!(data["warnings"][0].as_str().unwrap().ends_with("is not to be trusted."), "{data}");
}

#[test]
fn processes_that_went_on_changing_are_one_remark_and_none_beside_severe_noise() {
    let told = |report: &Report| {
        let of = report.benchmarks.iter().flat_map(|one| &one.warnings);
        let each = of.filter(|warning| matches!(warning, Warning::StillChanging { .. })).count();
        (each, report.warnings.iter().filter(|words| words.contains("went on changing")).count())
    };
    let check = |changing: usize, noise: Option<Severity>, want: (usize, usize)| {
        let mut report = everything();
        let times = Kind::Migrated { times: 1 };
        report.noise.findings = noise.map(|severity| Finding { kind: times, severity }).into_iter().collect();
        let still = Warning::StillChanging { role: Role::Candidate, forks: 7, of: 10, ratio: 0.9, warm_up: 8 };
        report.benchmarks.iter_mut().take(changing).for_each(|one| one.warnings.push(still.clone()));
        steadiness::gather(&mut report);
        assert_eq!(told(&report), want, "{changing} {noise:?}");
    };
    check(0, None, (0, 0));
    check(1, Some(Severity::Disturbing), (1, 0));
    check(3, Some(Severity::Disturbing), (0, 1));
    check(1, Some(Severity::Severe), (0, 0));
    check(3, Some(Severity::Severe), (0, 0));
}

#[test]
fn pictures_show_what_the_estimates_are_made_of() {
    let place = Place::new();
    place.scripted(RUN, &[]).expect(3);
    written(&place, &[]);
    let data = data(&page(&place, "page.html"));
    for name in ["BenchmarkDecode", "BenchmarkEncode", "BenchmarkSum"] {
        let (estimate, picture) = (&of(&data, name)["estimate"], &of(&data, name)["picture"]);
        assert_eq!(keys(picture), ["forks", "histogram", "looks", "slices", "times"]);
        let last = picture["looks"].as_array().unwrap().last().unwrap().clone();
        let said = serde_json::json!([
            estimate["units"],
            estimate["ratio"],
            estimate["low"],
            estimate["high"],
            name != "BenchmarkEncode"
        ]);
        assert_eq!(last, said, "{name}");
        let forks = picture["forks"].as_array().unwrap();
        assert_eq!(Some(forks.len() as u64), estimate["forks"].as_u64());
        assert!(forks.iter().all(|fork| fork.as_array().unwrap().len() == 6));
        let bars = &picture["histogram"];
        let counted: u64 = bars["counts"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
        let beyond = bars["below"].as_u64().unwrap() + bars["above"].as_u64().unwrap();
        assert_eq!(Some(counted + beyond), estimate["slices"].as_u64());
        let slices = picture["slices"].as_array().unwrap();
        assert!((1..=3).contains(&slices.len()) && slices.iter().all(|s| s["points"].as_array().unwrap().len() == 8));
    }
}

#[test]
fn rules_and_waivers_are_told() {
    let place = Place::new();
    place.scripted(RUN, &[]).expect(3);
    let waive = ["waive", "BenchmarkDecode", "--expires", "2999-12-31", "--reason", "checks the sum"];
    place.duet(&waive).expect(0);
    written(&place, &[]);
    let data = data(&page(&place, "page.html"));
    let one = of(&data, "BenchmarkDecode");
    assert_eq!(
        (&one["verdict"], &one["standing"], &data["accept"]),
        (&"regression".into(), &"waived".into(), &Value::Null)
    );
    assert!(one["standing_words"].as_str().unwrap().contains("until 2999-12-31"));
}

#[test]
fn what_was_not_compared_has_a_page_of_tables() {
    let place = Place::new();
    place.write("script.json", RUN).write("a.csv", &recording(&[("A<b>", 100.0)]));
    place.write("b.csv", &recording(&[("A<b>", 120.0)]));
    place.duet(&["run", "--scripted", "script.json"]).expect(0);
    written(&place, &[]).expect(0);
    let (run, files) =
        (page(&place, "page.html"), &["analyze", "a.csv", "b.csv", "--method", "both", "--format", "html"]);
    let files = place.duet(files).expect(3).stdout;
    for (page, cell) in [(&run, "<td>Sum</td>"), (&files, "<td>A&lt;b&gt;</td>")] {
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n") && page.contains(cell), "{page}");
        assert!(!page.contains("<script") && !page.contains("http"), "{page}");
    }
    place.duet(&["show", "--format", "sarif"]).expect(2).says(&["cannot be written as SARIF"]);
    place
        .duet(&["run", "--scripted", "script.json", "--format", "sarif"])
        .expect(2)
        .says(&["cannot be written as SARIF"]);
}

/// Names that would like to be markup, or marks of ours.
const HOSTILE: [&str; 6] =
    ["</script><script>alert(1)</script>", "<!--<script>", "{{data}}", "/*{{script}}*/", "]]>&lt;\u{2028}", "</title>"];

#[test]
fn foreign_names_cannot_leave_the_data() {
    let mut hostile = everything();
    let calm = html::render(&hostile);
    hostile.run = HOSTILE[5].into();
    hostile.baseline.requested = HOSTILE[0].into();
    hostile.warnings = HOSTILE.map(String::from).to_vec();
    hostile.environment.cpu_model = HOSTILE[1].into();
    for name in HOSTILE {
        hostile.benchmarks.push(benchmark(name, name, Verdict::Failed { role: None, reason: name.into() }));
    }
    let page = html::render(&hostile);
    for tag in ["<script", "</script", "<!--", "</title", "alert(1)</", "<style"] {
        assert_eq!(page.matches(tag).count(), calm.matches(tag).count(), "{tag}");
    }
    let data = data(&page);
    for name in HOSTILE {
        assert!(!of(&data, &name.replace('\u{2028}', "")).is_null());
    }
}

#[test]
fn a_strangers_page_offers_no_command() {
    let offered = |report: &Report| {
        let data = data(&html::render(report));
        let profile = data["benchmarks"].as_array().unwrap().iter().find(|one| one["profile"].is_object()).unwrap();
        [&data["accept"], &data["reproduce"], &profile["profile"]["command"]].map(|command| !command.is_null())
    };
    let mut report = profiled();
    assert_eq!(offered(&report), [true; 3]);
    report.untrusted = true;
    // A run of revisions alone may be made again, but files may lie anywhere.
    assert_eq!(offered(&report), [true, true, false]);
    report.baseline.requested = "sh -c evil".into();
    assert_eq!(offered(&report), [false; 3]);
}

#[test]
fn the_page_loads_nothing() {
    let page = html::render(&pictured(everything())).to_lowercase();
    let loading =
        ["<link", "<iframe", "<img", "<script src", "@import", "url(http", "url(//", "url(\"http", "url('http"];
    for words in loading
        .iter()
        .chain(&["src=\"http", "src='http", "src=\"//", "href=\"http", "fetch(", "xmlhttprequest", "import("])
    {
        assert!(!page.contains(words), "the page has `{words}`");
    }
}

#[test]
fn the_plot_is_drawn_where_it_is_asked_for() {
    let place = Place::new();
    let is_drawn = |text: &str| text.contains('├') || text.contains('┤');
    assert!(!is_drawn(&place.scripted(RUN, &[]).expect(3).stdout));
    let shown = place.duet(&["show", "--plot"]).expect(3).stdout;
    assert!(is_drawn(&shown), "{shown}");
    assert!(!is_drawn(&place.duet(&["show", "--plot=false"]).expect(3).stdout));
    let set = place.command(&["show"]).env("DUET_PLOT", "true").output().unwrap();
    assert!(is_drawn(&String::from_utf8_lossy(&set.stdout)));
}

#[test]
fn a_locale_without_unicode_gets_ascii() {
    let place = Place::new();
    place.scripted(RUN, &[]).expect(3);
    let shown = |locale: &str| {
        let output = place.command(&["show", "--plot"]).env("LC_ALL", locale).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (plain, whole) = (shown("C"), shown("C.UTF-8"));
    assert!(plain.is_ascii(), "{plain}");
    assert!(whole.contains('→') && !whole.is_ascii(), "{whole}");
    assert_eq!(plain.lines().count(), whole.lines().count());
}

#[test]
fn code_scanning_is_pointed_at_the_line() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place.write("sub/go.mod", "module example.com/scripted\n");
    place.write("sub/a_test.go", "package a\n\nfunc BenchmarkDecode(b *testing.B) {\n");
    place.scripted(RUN, &[]).expect(3);
    let command = |dir: &str| {
        let mut command = place.command(&["show", "--format", "sarif", "--db", "../.duet/duet.db"]);
        command.current_dir(place.path().join(dir));
        Ran::from(command.output().unwrap()).expect(3).json()
    };
    let results = command("sub")["runs"][0]["results"].clone();
    let location = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!((&results[0]["ruleId"], &results[0]["level"]), (&"regression".into(), &"error".into()));
    assert_eq!(location["artifactLocation"]["uri"], "sub/a_test.go");
    assert_eq!(location["region"]["startLine"], 3);
    assert_eq!(results[1]["ruleId"], "inconclusive");
}
