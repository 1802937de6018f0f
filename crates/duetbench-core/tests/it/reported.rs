//! What benchmarks report under units of their own: from the values of processes to verdicts and breaches.

use duetbench_core::gate::{Gate, Stale, Standing, Waiver};
use duetbench_core::recording::Better;
use duetbench_core::reported::{Readings, ReadingsOutcome, ReportedMetric, UnitReadings, judge};
use duetbench_core::spec::{Action, Decision, Metric, Policy, Rule, Wanted};
use duetbench_core::{BenchmarkId, Verdict};

fn id(name: &str) -> BenchmarkId {
    BenchmarkId { package: "p".into(), name: name.into() }
}

fn read(name: &str, unit: &str, baseline: &[f64], candidate: &[f64]) -> Readings {
    let read = UnitReadings { unit: unit.into(), baseline: baseline.into(), candidate: candidate.into() };
    Readings { id: id(name), outcome: ReadingsOutcome::Read(vec![read]) }
}

fn wanted(unit: &str, better: Better) -> Wanted {
    Wanted { unit: unit.into(), better, threshold: 0.03 }
}

/// What is said of one unit that was read so.
fn judged(better: Better, baseline: &[f64], candidate: &[f64]) -> ReportedMetric {
    let readings = [read("A", "x", baseline, candidate)];
    let judged = judge(&readings, |_| vec![wanted("x", better)], &Decision::default()).unwrap();
    judged.into_iter().next().unwrap()
}

const BASELINE: [f64; 8] = [1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0, 998.0, 1000.0];
const TENTH_LESS: [f64; 8] = [905.0, 900.0, 898.0, 910.0, 893.0, 905.0, 897.0, 902.0];

#[test]
fn the_interval_is_student_s_over_log_ratios() {
    // SciPy 1.16: ttest_1samp(log(c / b), 0).confidence_interval(0.99)
    let metric = judged(Better::Higher, &BASELINE, &TENTH_LESS);
    let change = metric.change.unwrap();
    let close = |value: f64, known: f64| (value - known).abs() < 1e-12;
    assert!(close(change.ratio, 0.901_250_425_622_481_6), "{change:?}");
    assert!(close(change.ratio_low, 0.894_753_576_503_518_7), "{change:?}");
    assert!(close(change.ratio_high, 0.907_794_448_678_026_7), "{change:?}");
    assert_eq!((metric.baseline, metric.candidate, metric.pairs), (Some(1000.0), Some(901.0), 8));
    assert!(close(metric.worse_by(), 1.0 / 0.901_250_425_622_481_6 - 1.0));
    assert!(close(metric.worse_by_at_most().unwrap(), 1.0 / 0.894_753_576_503_518_7 - 1.0));
}

#[test]
fn the_direction_says_what_is_worse() {
    let verdict = |better, baseline: &[f64], candidate: &[f64]| judged(better, baseline, candidate).verdict;
    assert_eq!(verdict(Better::Higher, &BASELINE, &TENTH_LESS), Verdict::Regression);
    assert_eq!(verdict(Better::Lower, &BASELINE, &TENTH_LESS), Verdict::Improvement);
    assert_eq!(verdict(Better::Higher, &TENTH_LESS, &BASELINE), Verdict::Improvement);
    assert_eq!(verdict(Better::Lower, &TENTH_LESS, &BASELINE), Verdict::Regression);
    let reversed: Vec<f64> = BASELINE.iter().rev().copied().collect();
    assert_eq!(verdict(Better::Lower, &BASELINE, &reversed), Verdict::NoChange);
    let wild = [1000.0, 1500.0, 700.0, 1300.0, 900.0, 1200.0, 800.0, 1100.0];
    assert_eq!(verdict(Better::Lower, &BASELINE, &wild), Verdict::Inconclusive { forks_sufficient: None });
}

#[test]
fn what_a_rule_tolerates_is_no_change() {
    let readings = [read("A", "x", &BASELINE, &TENTH_LESS)];
    let verdict = |threshold| {
        let wanted = Wanted { threshold, ..wanted("x", Better::Higher) };
        judge(&readings, |_| vec![wanted.clone()], &Decision::default()).unwrap().remove(0).verdict
    };
    // A tenth less of what is good is a ninth worse.
    assert_eq!((verdict(0.12), verdict(0.10)), (Verdict::NoChange, Verdict::Regression));
}

#[test]
fn what_does_not_vary_is_exact() {
    assert_eq!(judged(Better::Lower, &[2.0; 8], &[2.0; 8]).verdict, Verdict::NoChange);
    assert_eq!(judged(Better::Lower, &[2.0; 8], &[2.02; 8]).verdict, Verdict::NoChange);
    let grown = judged(Better::Lower, &[2.0; 8], &[2.5; 8]);
    assert_eq!((grown.verdict, grown.change.unwrap().ratio_low), (Verdict::Regression, 1.25));
}

#[test]
fn where_there_is_no_ratio_signs_judge() {
    let from_nothing = judged(Better::Lower, &[0.0; 8], &[3.0; 8]);
    assert_eq!((from_nothing.verdict.clone(), from_nothing.change), (Verdict::Regression, None));
    assert!(from_nothing.worse_by().is_infinite() && from_nothing.worse_by_at_most().is_none());
    assert_eq!(judged(Better::Higher, &[0.0; 8], &[3.0; 8]).verdict, Verdict::Improvement);
    assert_eq!(judged(Better::Higher, &[0.0; 8], &[-1.0; 8]).verdict, Verdict::Regression);
    assert_eq!(judged(Better::Lower, &[0.0; 8], &[0.0; 8]).verdict, Verdict::NoChange);
    // Eight of eight: p = 2 / 256. Seven of eight: p = 18 / 256.
    let mut candidate = [3.0, 3.0, 4.0, 3.0, 3.0, 2.0, 3.0, 3.0];
    assert_eq!(judged(Better::Lower, &[0.0; 8], &candidate).verdict, Verdict::Regression);
    let readings = [read("A", "x", &[0.0; 8], &candidate), read("B", "x", &[0.0; 8], &[3.0; 8])];
    let strict = Decision { alpha: 0.007, ..Decision::default() };
    let judged_strictly = judge(&readings, |_| vec![wanted("x", Better::Lower)], &strict).unwrap();
    // The second one never varies.
    let verdicts: Vec<Verdict> = judged_strictly.into_iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Inconclusive { forks_sufficient: None }, Verdict::Regression]);
    candidate[2] = -1.0;
    assert_eq!(judged(Better::Lower, &[0.0; 8], &candidate).verdict, Verdict::Inconclusive { forks_sufficient: None });
}

#[test]
fn what_is_lacking_is_said() {
    assert_eq!(judged(Better::Lower, &[1.0; 8], &[]).verdict, Verdict::BaselineOnly);
    assert_eq!(judged(Better::Lower, &[], &[1.0; 8]).verdict, Verdict::CandidateOnly);
    let failure = |metric: ReportedMetric| match metric.verdict {
        Verdict::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    assert!(failure(judged(Better::Lower, &[1.0; 8], &[1.0; 7])).contains("not every process reported `x`"));
    assert!(failure(judged(Better::Lower, &[f64::NAN; 8], &[1.0; 8])).contains("no number"));
    let failed = Readings { id: id("A"), outcome: ReadingsOutcome::Failed { reason: "it hangs".into() } };
    let judged = judge([&failed], |_| vec![wanted("x", Better::Lower)], &Decision::default()).unwrap();
    assert_eq!(judged.into_iter().map(failure).collect::<Vec<_>>(), ["it hangs"]);
}

#[test]
fn neither_a_unit_that_nobody_wants_nor_one_that_nobody_reports_is_judged() {
    let readings = [read("A", "x", &[1.0; 8], &[2.0; 8])];
    let nothing = judge(&readings, |_| vec![wanted("y", Better::Lower)], &Decision::default()).unwrap();
    assert_eq!(nothing, []);
}

#[test]
fn p_values_are_adjusted_over_all_that_was_read() {
    // Alone it is a regression; as one of many that do not differ, its p-value is not small enough.
    let noisy: [f64; 8] = [1.00, 1.16, 1.05, 1.20, 1.02, 1.19, 1.08, 1.10];
    let base = [1.0; 8];
    let suspicious = judged(Better::Lower, &base, &noisy);
    assert_eq!(suspicious.verdict, Verdict::Regression);
    let swinging: [f64; 8] = [0.9, 1.1, 0.9, 1.1, 0.9, 1.1, 0.9, 1.11];
    let mut readings = vec![read("A", "x", &base, &noisy)];
    readings.extend((0..200).map(|i| read(&format!("B{i}"), "x", &base, &swinging)));
    let all = judge(&readings, |_| vec![wanted("x", Better::Lower)], &Decision::default()).unwrap();
    assert_eq!(all[0].verdict, Verdict::Inconclusive { forks_sufficient: None });
}

#[test]
fn the_gate_knows_them() {
    let rule = |action| Rule {
        metric: Some(Metric::Reported("x".into())),
        better: Some(Better::Higher),
        action: Some(action),
        ..Rule::default()
    };
    let reported = [judged(Better::Higher, &BASELINE, &TENTH_LESS)];
    let decide = |action, waivers: &[Waiver]| {
        let policy = Policy::new(&[rule(action)]).unwrap();
        Gate::decide((&[], &reported), (&policy, waivers), (0.03, "2026-06-01".parse().unwrap()))
    };
    let gate = decide(Action::Gate, &[]);
    let breach = &gate.breaches[0];
    assert_eq!((breach.metric.word(), breach.threshold, breach.standing), ("x", 0.03, Standing::Fails));
    assert!((breach.change - reported[0].worse_by()).abs() < 1e-15);
    assert_eq!(decide(Action::Inform, &[]).failing().count(), 0);

    let waiver = |unit: &str, ceiling| Waiver {
        benchmark: "A".into(),
        metric: Metric::Reported(unit.into()),
        ceiling,
        expires: "2026-12-31".parse().unwrap(),
        reason: "r".into(),
        link: None,
    };
    let gate = decide(Action::Gate, &[waiver("x", 0.12)]);
    assert_eq!((gate.failing().count(), gate.waived().count(), gate.stale.len()), (0, 1, 0));
    assert_eq!(decide(Action::Gate, &[waiver("x", 0.1)]).failing().count(), 1);
    // What was not read is no reason to remove a waiver.
    assert_eq!(decide(Action::Gate, &[waiver("y", 0.1)]).stale, []);
    let same = [judged(Better::Higher, &BASELINE, &BASELINE)];
    let policy = Policy::new(&[rule(Action::Gate)]).unwrap();
    let waivers = [waiver("x", 0.1)];
    let gate = Gate::decide((&[], &same), (&policy, &waivers), (0.03, "2026-06-01".parse().unwrap()));
    assert_eq!(gate.stale.iter().map(|stale| stale.why).collect::<Vec<_>>(), [Stale::Unused]);
}
