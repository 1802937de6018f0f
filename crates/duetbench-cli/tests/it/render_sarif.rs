//! Output as SARIF: everything there is, sealed, and the levels by which a change stops.

use duetbench_cli::render::sarif::{self, Site, Sites};
use duetbench_core::gate::{Gate, OpenQuestion, Waiver};
use duetbench_core::reported::ReportedMetric;
use duetbench_core::spec::{Action, Metric, Policy, Rule, Thresholds};
use duetbench_core::verdict::Extent;
use duetbench_core::{BenchmarkId, Report, Verdict};

use crate::golden_files::check;
use crate::render::OPEN;
use crate::render_support::{everything, with_units};

#[test]
fn units_that_have_no_answer_are_told() {
    let mut report = with_units();
    let unit = report.reported[0].clone();
    let failed = Verdict::Failed { role: None, reason: "no value".into() };
    report.reported =
        [failed, OPEN, Verdict::NoChange].map(|verdict| ReportedMetric { verdict, ..unit.clone() }).into();
    report.benchmarks.iter_mut().for_each(|one| one.verdict = Verdict::NoChange);
    report.gate = None;
    let found: serde_json::Value = serde_json::from_str(&sarif::render(&report, &Sites::default())).unwrap();
    let rules: Vec<_> =
        found["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["ruleId"].clone()).collect();
    assert_eq!(rules, ["failed", "inconclusive"]);
}

#[test]
fn a_change_stops_where_an_answer_is_demanded() {
    let mut report = with_units();
    report.benchmarks.truncate(1);
    report.benchmarks[0].verdict = Verdict::Faster(Extent::Open { forks_sufficient: None });
    report.reported.truncate(1);
    report.reported[0].verdict = OPEN;
    let levels = |questions: &[(&BenchmarkId, bool)]| -> Vec<_> {
        let question = |(id, of_units): &(&BenchmarkId, _)| OpenQuestion {
            id: (*id).clone(),
            of_units: *of_units,
            action: Action::Gate,
        };
        let open = questions.iter().map(question).collect();
        let gate = Some(Gate { open, ..Gate::default() });
        let report = Report { gate, ..report.clone() };
        let found: serde_json::Value = serde_json::from_str(&sarif::render(&report, &Sites::default())).unwrap();
        found["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["level"].clone()).collect()
    };
    assert_eq!(levels(&[]), ["note"]);
    let (time, unit) = (&report.benchmarks[0].id, &report.reported[0].id);
    assert_eq!(levels(&[(time, false), (unit, true)]), ["error", "error"]);
    assert_eq!(levels(&[(unit, false), (unit, true)]).last().unwrap(), "error");
    // An answer about a unit is none about a time.
    assert_eq!(levels(&[(time, true)]), ["note"]);
}

#[test]
fn everything_is_told() {
    let (report, at) = (everything(), |path: &str, line| Site { path: path.into(), line });
    let sites = report.benchmarks.iter().filter(|b| b.verdict != Verdict::Regression || b.allocs.is_some());
    let benchmarks = sites.map(|b| (b.id.clone(), at("codec dir/codec_test.go", b.mode.map(|_| 7)))).collect();
    check("everything.sarif", &sarif::render(&report, &Sites { benchmarks, policy: String::new() }));
}

#[test]
fn levels_follow_the_gate() {
    let mut report = everything();
    let rules = [("Encode", Metric::Allocs, Action::Gate), ("Encode", Metric::Bytes, Action::Inform)];
    let rules = rules.map(|(benchmarks, metric, action)| Rule {
        benchmarks: Some(benchmarks.into()),
        metric: Some(metric),
        action: Some(action),
        ..Rule::default()
    });
    let waiver = |benchmark: &str, ceiling, expires: &str| Waiver {
        benchmark: benchmark.into(),
        metric: Metric::Time,
        ceiling,
        expires: expires.parse().expect("a day"),
        reason: "r".into(),
        link: None,
    };
    let waivers = [
        waiver("BenchmarkEncode/format=json-8", 0.1, "2026-12-31"),
        waiver("BenchmarkParse/[a|b]{1,2}/\"日本語\",`x`-8", 0.1, "2026-12-31"),
    ];
    let policy = Policy::new(&rules).expect("rules");
    let today = "2026-06-01".parse().expect("a day");
    report.gate = Some(Gate::decide(report.found(), Thresholds::new(&report.spec.decision, &policy), &waivers, today));
    check("gate.sarif", &sarif::render(&report, &Sites::default()));
    // A project in a folder of the repository has its files there.
    let inside = sarif::render(&report, &Sites { policy: "sub dir".into(), ..Sites::default() });
    assert!(inside.contains("\"sub%20dir/duet.toml\"") && !inside.contains("\"duet.toml\""));
}
