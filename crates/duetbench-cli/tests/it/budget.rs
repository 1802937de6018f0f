//! Runs under a budget, by the clock of a script: that its end is kept, who gets the time, and what is said before and after.

use std::time::Duration;

use duetbench_cli::forecast;
use duetbench_cli::self_tests::flagged;
use duetbench_core::Report;
use duetbench_core::plan::{Mode, Profile};
use serde_json::Value;

use crate::common::{Place, Ran};
use crate::render_support::everything;

/// A benchmark whose invocations and trials take so long.
fn part(name: &str, ns: [u64; 2], takes_ms: u64, spread: f64) -> String {
    let [baseline_ns, candidate_ns] = ns;
    format!(
        r#""Benchmark{name}": {{"baseline_ns": {baseline_ns}, "candidate_ns": {candidate_ns}, "takes_ms": {takes_ms}, "spread": {spread}}}"#
    )
}

fn script(parts: &[String]) -> String {
    format!("{{{}}}", parts.join(",\n"))
}

/// Benchmarks of 0.2 ms, 3 ms, 220 ms and 2 s; the last one varies so much that it is never settled.
fn unequal() -> String {
    script(&[
        part("Micro", [200_000, 200_000], 80, 0.002),
        part("Milli", [3_000_000, 3_000_000], 80, 0.002),
        part("Long", [220_000_000, 220_000_000], 920, 0.002),
        part("Endless", [2_000_000_000, 2_000_000_000], 8_040, 0.1),
    ])
}

fn equal_ones(spread: f64) -> String {
    let names = (0..123).map(|i| part(&format!("B{i:03}"), [100, 100], 150, spread));
    script(&names.collect::<Vec<_>>())
}

fn forks(ran: &Ran, name: &str) -> usize {
    ran.benchmark(name)["forks"].as_array().map_or(0, Vec::len)
}

fn measured_s(ran: &Ran) -> f64 {
    ran.json()["measured_s"].as_f64().unwrap()
}

fn is_out_of_time(one: &Value) -> bool {
    one["warnings"].as_array().is_some_and(|all| all.iter().any(|warning| warning["kind"] == "out_of_time"))
}

#[test]
fn an_expensive_benchmark_gets_what_is_left_and_no_more() {
    let place = Place::new();
    let ran = place.scripted(&unequal(), &["--budget", "60s", "--format", "json"]).expect(0);
    let ran = ran.says(&["1m is enough for about 3 of 4 benchmarks, the cheapest first", "`--bench PATTERN` chooses"]);
    for name in ["Micro", "Milli", "Long"] {
        assert_eq!(ran.verdict(&format!("Benchmark{name}")), "no_change");
    }
    assert!((4..=7).contains(&forks(&ran, "BenchmarkEndless")), "{}", forks(&ran, "BenchmarkEndless"));
    assert!(measured_s(&ran) <= 60.0, "{}", measured_s(&ran));
}

#[test]
fn what_a_budget_left_is_spent_by_the_decision_that_it_ended_and_by_no_other() {
    let (place, script) = (Place::new(), script(&[part("Long", [2_000_000_000, 2_000_000_000], 8_040, 0.03)]));
    place.scripted(&script, &["--budget", "60s", "--quiet"]).expect(0);
    let width = |more: &[&str]| {
        let ran = place.duet(&[&["analyze", "r1", "--format", "json"], more].concat());
        let one = ran.benchmark("BenchmarkLong");
        one["ratio_high"].as_f64().unwrap() - one["ratio_low"].as_f64().unwrap()
    };
    let (then, now) = (width(&[]), width(&["--threshold", "3.1%"]));
    assert!(now > 1.2 * then, "{then} {now}");
}

#[test]
fn a_run_too_short_for_any_answer_fails_and_says_what_would_be_enough() {
    let (place, script) = (Place::new(), script(&[part("Long", [220_000_000, 220_000_000], 920, 0.002)]));
    let ran = place.scripted(&script, &["--budget", "1s", "--format", "json"]).expect(1);
    assert_eq!((ran.verdict("BenchmarkLong").as_str(), forks(&ran, "BenchmarkLong")), ("inconclusive", 0));
    let text = place.duet(&["show"]).expect(1).stdout;
    assert!(text.starts_with("✗ Nothing was measured: 1s is too little time, `--budget 20s` would do\n"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.ends_with("1 inconclusive; nothing was measured, `--budget 20s` would do"), "{last}");
    place.scripted(&script, &["--budget", "10s", "--quiet"]).expect(0);
    // The same without a budget, and with pairs that are too few for an interval.
    let text = place.scripted(&script, &["--forks", "2", "--builds", "1", "--quiet"]).expect(1).stdout;
    assert!(text.starts_with("✗ Nothing was measured long enough for an answer\n"), "{text}");
}

#[test]
fn what_would_get_too_few_units_gives_way_and_says_why() {
    let place = Place::new();
    let ran = place.scripted(&unequal(), &["--budget", "20s", "--format", "json"]).expect(0);
    assert_eq!(ran.verdict("BenchmarkMicro"), "no_change");
    let endless = ran.benchmark("BenchmarkEndless");
    assert_eq!((endless["verdict"].as_str(), forks(&ran, "BenchmarkEndless")), (Some("inconclusive"), 0));
    assert!(is_out_of_time(&endless) && endless["ratio"].is_null(), "{endless:#}");
    let text = place.duet(&["show"]).expect(0).stdout;
    assert!(text.contains("needs about 70s more, and the budget had 1"), "{text}");
    assert!(text.contains("would probably settle the open question, in about 70s more"), "{text}");
    assert!(text.contains("hint: `--budget 70s`"), "{text}");
    assert!(text.contains("% interval)") && !text.contains("(100% interval)"), "{text}");
}

#[test]
fn of_123_equal_ones_some_are_settled_instead_of_none() {
    let ran = Place::new().scripted(&equal_ones(0.01), &["--budget", "60s", "--format", "json"]).expect(0);
    let report = ran.json();
    let all = report["benchmarks"].as_array().unwrap();
    let settled = all.iter().filter(|one| one["verdict"] == "no_change").count();
    assert!(settled >= 30, "{settled}");
    let without = all.iter().filter(|one| one["forks"].as_array().is_none_or(Vec::is_empty));
    assert!(without.clone().count() > 20 && without.clone().all(is_out_of_time));
    assert!(measured_s(&ran) <= 60.0, "{}", measured_s(&ran));
}

#[test]
fn rounds_that_confirm_are_within_the_budget() {
    let slower = |i: u64| part(&format!("B{i}"), [100_000_000, 106_000_000 + 1_000_000 * i], 500, 0.03);
    let script = script(&(0..6).map(slower).collect::<Vec<_>>());
    let ran = Place::new().scripted(&script, &["--budget", "25s", "--confirm", "--format", "json"]);
    assert!(measured_s(&ran) <= 25.0, "{}", measured_s(&ran));
    let longer = Place::new().scripted(&script, &["--confirm", "--format", "json"]);
    assert!(measured_s(&longer) > 25.0, "the budget ended it: {}", measured_s(&longer));
}

#[test]
fn a_dry_run_says_what_the_time_is_enough_for() {
    let place = Place::new();
    let dry = |args: &[&str]| place.scripted(&equal_ones(0.01), &[&["--dry-run"], args].concat()).expect(0).stdout;
    let short = dry(&["--budget", "20s"]);
    assert!(
        short.contains("20s is enough for about 15 of 123 benchmarks") && short.contains("`--budget 3m`"),
        "{short}"
    );
    assert!(!dry(&["--budget", "10m"]).contains("is enough"));
    let unbounded = dry(&[]);
    assert!(
        unbounded.contains("measuring takes up to about 4m") && unbounded.contains("`--budget 100s` bounds it"),
        "{unbounded}"
    );
    assert!(!dry(&["--forks", "20"]).contains("--budget"));
    assert!(!dry(&["--bench", "B00"]).contains("up to about"), "it is short");
}

#[test]
fn time_that_first_trials_took_is_enough_for_nothing_more() {
    let mut report = everything();
    report.plan.benchmarks.iter_mut().for_each(|b| b.trial_predicted_ns = 1_000_000_000);
    let check = |report: &Report, enough_for: &str, would_do: &str| {
        let words = forecast::words(&report.plan, &report.spec).unwrap();
        assert!(words.starts_with(&format!("1m 30s is enough for about {enough_for} of 14 benchmarks")), "{words}");
        assert!(words.ends_with(&format!("`--budget {would_do}` is enough for all")), "{words}");
    };
    check(&report, "5", "4m");
    report.plan.spend(Duration::from_secs(60));
    check(&report, "1", "5m");
}

#[test]
fn benchmarks_without_a_first_trial_are_counted() {
    let said = |budget_ns, unseen: usize| {
        let mut report = everything();
        report.plan.budget_ns = budget_ns;
        let in_turns = report.plan.benchmarks.iter_mut().filter(|b| b.mode == Mode::InterleavedOneCore);
        // One was not looked at, and one not in turns.
        let of = |i: usize| if i < unseen { None } else { Some(0.0) };
        for (i, planned) in in_turns.enumerate() {
            let seen = planned.profile.filter(|_| i > 0 || unseen == 0);
            planned.profile = seen.map(|profile| Profile { cold_share: of(i), ..profile });
        }
        flagged(&report).into_iter().find(|sentence| sentence.contains("no time for a first trial"))
    };
    let two = said(Some(60_000_000_000), 2).unwrap();
    assert!(two.contains("a first trial of 2 of "), "{two}");
    assert_eq!(said(Some(60_000_000_000), 0), None);
    assert_eq!(said(None, 2), None, "nothing was short of time");
}
