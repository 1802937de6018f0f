//! Metrics that benchmarks report under units of their own: from the values of processes to verdicts and breaches.

use duetbench_core::gate::{Day, Found, Gate, Stale, Standing, Waiver};
use duetbench_core::recording::Better;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::reported::{PAIRS, PairReading, Readings, ReadingsOutcome, ReportedMetric, UnitReadings, judge};
use duetbench_core::spec::{Action, Decision, Metric, Policy, Rule, Thresholds, Wanted};
use duetbench_core::verdict::Extent;
use duetbench_core::{BenchmarkId, Verdict, stats};

use crate::gate::compared;

fn id(name: &str) -> BenchmarkId {
    BenchmarkId { package: "p".into(), name: name.into() }
}

/// A benchmark that reported one unit in these pairs; what one side has more was reported by it alone.
fn read(name: &str, unit: &str, baseline: &[f64], candidate: &[f64]) -> Readings {
    let of = |side: &[f64], i: usize| side.get(i).copied();
    let all = 0..baseline.len().max(candidate.len());
    of_pairs(name, unit, all.map(|i| PairReading { baseline: of(baseline, i), candidate: of(candidate, i) }).collect())
}

fn of_pairs(name: &str, unit: &str, pairs: Vec<PairReading>) -> Readings {
    let read = UnitReadings { unit: unit.into(), pairs };
    Readings { id: id(name), outcome: ReadingsOutcome::Read(vec![read]) }
}

fn judged_all(readings: &[Readings]) -> Vec<ReportedMetric> {
    judge(readings, |_| vec![wanted("x", Better::Lower)], |_| true, &Decision::default()).unwrap()
}

const OPEN: Verdict = Verdict::Inconclusive { forks_sufficient: None };

fn wanted(unit: &str, better: Better) -> Wanted {
    Wanted { unit: unit.into(), better, threshold: 0.03 }
}

/// The result for one unit with these values.
fn judged(better: Better, baseline: &[f64], candidate: &[f64]) -> ReportedMetric {
    let readings = [read("A", "x", baseline, candidate)];
    let judged = judge(&readings, |_| vec![wanted("x", better)], |_| true, &Decision::default()).unwrap();
    judged.into_iter().next().unwrap()
}

const BASELINE: [f64; 8] = [1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0, 998.0, 1000.0];
const TENTH_LESS: [f64; 8] = [905.0, 900.0, 898.0, 910.0, 893.0, 905.0, 897.0, 902.0];
/// Slower by some ten percent, with a p-value between 0.1 and 1 %.
const NOISY: [f64; 8] = [1.00, 1.16, 1.05, 1.20, 1.02, 1.19, 1.08, 1.10];
const SWINGING: [f64; 8] = [0.9, 1.1, 0.9, 1.1, 0.9, 1.1, 0.9, 1.11];

#[test]
fn a_quotient_without_a_number_takes_no_other_unit_with_it() {
    let tiny = [1e-310, 2e-310, 1e-310, 2e-310, 1e-310, 2e-310, 1e-310, 2e-310];
    let readings = [read("A", "x", &tiny, &[1.0; 8]), read("B", "x", &BASELINE, &TENTH_LESS)];
    let words: Vec<&str> = judged_all(&readings).iter().map(|one| one.verdict.word()).collect();
    assert_eq!(words, ["regression", "improvement"]);
}

#[test]
fn nobody_demands_an_answer_of_what_a_changed_benchmark_reports() {
    let open = ReportedMetric { verdict: OPEN, ..judged(Better::Lower, &SWINGING, &SWINGING) };
    let demanded = |verdict: Verdict| {
        let benchmarks = [BenchmarkReport { id: id("A"), ..compared("A", verdict, 1.0) }];
        let found = Found { benchmarks: &benchmarks, reported: std::slice::from_ref(&open), ..Found::default() };
        let decision = Decision::default();
        let mut gate = Gate::decide(found, Thresholds::from(&decision), &[], Day::FIRST);
        gate.demand_answers(found);
        gate.unanswered().count()
    };
    assert_eq!((demanded(Verdict::NoChange), demanded(Verdict::Redefined(Box::new(Verdict::NoChange)))), (1, 0));
}

#[test]
fn a_rule_about_open_times_says_nothing_of_units() {
    let benchmarks = [BenchmarkReport { id: id("A"), ..compared("A", OPEN, 1.0) }];
    let open = ReportedMetric { verdict: OPEN, ..judged(Better::Lower, &SWINGING, &SWINGING) };
    let decision = Decision::default();
    let policy = Policy::new(&[Rule { inconclusive: Some(Action::Inform), ..Rule::default() }]).unwrap();
    let lacks = |reported: &[ReportedMetric]| {
        let found = Found { benchmarks: &benchmarks, reported, ..Found::default() };
        let mut gate = Gate::decide(found, Thresholds::new(&decision, &policy), &[], Day::FIRST);
        gate.demand_answers(found);
        (gate.unanswered().count(), gate.lacks_answers(found, true))
    };
    assert_eq!((lacks(&[]), lacks(&[open])), ((0, false), (1, true)));
}

#[test]
fn the_interval_is_student_s_over_log_ratios() {
    // SciPy 1.16: ttest_1samp(log(c / b), 0).confidence_interval(0.9)
    let metric = judged(Better::Higher, &BASELINE, &TENTH_LESS);
    let change = metric.change.unwrap();
    let close = |value: f64, known: f64| (value - known).abs() < 1e-12;
    assert!(close(change.ratio, 0.901_250_425_622_481_6), "{change:?}");
    assert!(close(change.ratio_low, 0.897_727_274_247_042_9), "{change:?}");
    assert!(close(change.ratio_high, 0.904_787_403_686_682_4), "{change:?}");
    assert_eq!((metric.baseline, metric.candidate, metric.pairs), (Some(1000.0), Some(901.0), 8));
    assert!(close(metric.worse_by(), 1.0 / 0.901_250_425_622_481_6 - 1.0));
    assert!(close(metric.worse_by_at_most().unwrap(), 1.0 / 0.897_727_274_247_042_9 - 1.0));
}

#[test]
fn one_strange_pair_of_twelve_is_trimmed() {
    let baseline = [BASELINE.as_slice(), &[1003.0, 997.0, 1001.0, 999.0]].concat();
    let candidate = [TENTH_LESS.as_slice(), &[960.0, 899.0, 901.0, 903.0]].concat();
    // SciPy 1.17: trim_mean and winsorize of log(c / b) by a twelfth at each end, t with 9 degrees of freedom.
    let change = judged(Better::Higher, &baseline, &candidate).change.unwrap();
    let known = [0.902_468_440_743_417_1, 0.900_288_444_056_425_5, 0.904_653_716_167_003_3];
    for (ours, known) in [change.ratio, change.ratio_low, change.ratio_high].into_iter().zip(known) {
        assert!((ours - known).abs() < 1e-12, "{ours} {known}");
    }
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
fn what_a_rule_tolerates_is_no_regression() {
    let readings = [read("A", "x", &BASELINE, &TENTH_LESS)];
    let verdict = |threshold| {
        let wanted = Wanted { threshold, ..wanted("x", Better::Higher) };
        judge(&readings, |_| vec![wanted.clone()], |_| true, &Decision::default()).unwrap().remove(0).verdict
    };
    // A tenth less of what is good is a ninth worse.
    let tolerated = Verdict::Slower(Extent::WithinTolerance);
    assert_eq!((verdict(0.12), verdict(0.10)), (tolerated, Verdict::Regression));
}

#[test]
fn what_does_not_vary_is_exact() {
    assert_eq!(judged(Better::Lower, &[2.0; 8], &[2.0; 8]).verdict, Verdict::NoChange);
    let slightly = judged(Better::Lower, &[2.0; 8], &[2.02; 8]);
    assert_eq!(slightly.verdict, Verdict::Slower(Extent::WithinTolerance));
    let grown = judged(Better::Lower, &[2.0; 8], &[2.5; 8]);
    assert_eq!((grown.verdict, grown.change.unwrap().ratio_low), (Verdict::Regression, 1.25));
}

#[test]
fn where_there_is_no_ratio_order_judges() {
    let from_nothing = judged(Better::Lower, &[0.0; 8], &[3.0; 8]);
    assert_eq!((from_nothing.verdict.clone(), from_nothing.change), (Verdict::Regression, None));
    assert!(from_nothing.worse_by().is_infinite() && from_nothing.worse_by_at_most().is_none());
    assert_eq!(judged(Better::Higher, &[0.0; 8], &[3.0; 8]).verdict, Verdict::Improvement);
    assert_eq!(judged(Better::Higher, &[0.0; 8], &[-1.0; 8]).verdict, Verdict::Regression);
    assert_eq!(judged(Better::Lower, &[0.0; 8], &[0.0; 8]).verdict, Verdict::NoChange);
    // Eight of eight: p = 2 / 256. Eight that differ, three sizes, the smallest the other way: p = 4 / 256.
    let mut candidate = [3.0, 3.0, 4.0, 3.0, 3.0, 2.0, 3.0, 3.0];
    assert_eq!(judged(Better::Lower, &[0.0; 8], &candidate).verdict, Verdict::Regression);
    let readings = [read("A", "x", &[0.0; 8], &candidate), read("B", "x", &[0.0; 8], &[3.0; 8])];
    let strict = Decision { alpha: 0.007, ..Decision::default() };
    let judged_strictly = judge(&readings, |_| vec![wanted("x", Better::Lower)], |_| true, &strict).unwrap();
    // The second one never varies.
    let verdicts: Vec<Verdict> = judged_strictly.into_iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [OPEN, Verdict::Regression]);
    candidate[5] = -1.0;
    assert_eq!(judged(Better::Lower, &[0.0; 8], &candidate).verdict, OPEN);
}

#[test]
fn sizes_count_where_there_is_no_ratio() {
    // One of twelve goes the other way, by the smallest step or by the largest: signs alone are as sure of both (p = 26 / 4096).
    let with_one = |odd: f64| {
        let candidate: Vec<f64> = (1..12).map(f64::from).chain([odd]).collect();
        judged(Better::Lower, &[0.0; 12], &candidate).verdict
    };
    assert_eq!((with_one(-0.5), with_one(-11.5)), (Verdict::Regression, OPEN));
    // Pairs without a difference say nothing, and the rest can still be sure.
    let candidate: Vec<f64> = [0.0; 3].into_iter().chain((1..10).map(f64::from)).collect();
    assert_eq!(judged(Better::Higher, &[0.0; 12], &candidate).verdict, Verdict::Improvement);
}

#[test]
fn one_clear_change_among_many_units_is_called() {
    let steps = |shift: f64| (0..PAIRS).map(|i| f64::from(i * 7 % PAIRS) + shift).collect::<Vec<f64>>();
    let (zeros, changed, swinging) = (vec![0.0; PAIRS as usize], steps(1.0), steps(-5.6));
    for others in [19, 99] {
        let mut readings = vec![read("A", "x", &zeros, &changed)];
        readings.extend((0..others).map(|i| read(&format!("B{i}"), "x", &zeros, &swinging)));
        let all = judged_all(&readings);
        assert_eq!(all[0].verdict, Verdict::Regression, "{others}");
        assert!(all[1..].iter().all(|one| one.verdict == OPEN));
    }
}

#[test]
fn units_of_benchmarks_that_changed_themselves_are_no_licence_for_others() {
    let many = |name: &str, candidate: &[f64]| -> Vec<Readings> {
        (0..40).map(|i| read(&format!("{name}{i}"), "x", &BASELINE, candidate)).collect()
    };
    let reversed: Vec<f64> = BASELINE.iter().rev().copied().collect();
    let readings: Vec<Readings> = [read("A", "x", &[1.0; 8], &NOISY)]
        .into_iter()
        .chain(many("Same", &reversed))
        .chain(many("Redefined", &TENTH_LESS))
        .collect();
    let verdict = |redefined_tell: bool| {
        let tells = |read: &Readings| redefined_tell || !read.id.name.starts_with("Redefined");
        judge(&readings, |_| vec![wanted("x", Better::Lower)], tells, &Decision::default()).unwrap()
    };
    assert_eq!(verdict(true)[0].verdict, Verdict::Regression);
    let judged = verdict(false);
    assert_eq!(judged[0].verdict, OPEN);
    assert!(judged[41..].iter().all(|one| one.verdict == Verdict::Improvement), "by their own p-values");
}

#[test]
fn what_never_varies_is_no_test_and_dilutes_nobody_s() {
    let among = |others: u32, candidate: f64| {
        let mut readings = vec![read("A", "x", &[1.0; 8], &NOISY)];
        readings.extend((0..others).map(|i| read(&format!("B{i}"), "x", &[0.0; 8], &[candidate; 8])));
        judged_all(&readings).remove(0).verdict
    };
    assert_eq!((among(0, 0.0), among(200, 0.0)), (Verdict::Regression, Verdict::Regression));
    // Two hundred sure changes are no licence either.
    let mut readings = vec![read("A", "x", &[1.0; 8], &NOISY)];
    readings.extend((0..200).map(|i| read(&format!("B{i}"), "x", &[1.0; 8], &SWINGING)));
    readings.extend((0..200).map(|i| read(&format!("C{i}"), "x", &[0.0; 8], &[1.0; 8])));
    assert_eq!(judged_all(&readings).remove(0).verdict, OPEN);
}

#[test]
fn where_only_what_is_trimmed_varies_order_says_how_sure_it_is() {
    let mut candidate = [2.5; 12];
    (candidate[0], candidate[1]) = (2.6, 1.9);
    let metric = judged(Better::Lower, &[2.0; 12], &candidate);
    assert_eq!((metric.verdict, metric.change.unwrap().ratio_low), (Verdict::Regression, 1.25));
    // The pair that went the other way has the smallest size, so p = 4 / 4096, which two hundred others make too little.
    let mut readings = vec![read("A", "x", &[2.0; 12], &candidate)];
    readings.extend((0..200).map(|i| read(&format!("B{i}"), "x", &[1.0; 8], &SWINGING)));
    assert_eq!(judged_all(&readings).remove(0).verdict, OPEN);
}

#[test]
fn pairs_are_joined_by_number_and_incomplete_ones_are_left_out() {
    // Both sides grow from pair to pair, twentyfold what they differ by.
    let whole: Vec<PairReading> = (0..PAIRS)
        .map(|i| f64::from(100 + 20 * i + i % 3))
        .map(|value| PairReading { baseline: Some(value), candidate: Some(1.1 * value) })
        .collect();
    let mut lacking = whole.clone();
    lacking[2].baseline = None;
    lacking[9].candidate = None;
    let judged = |pairs: &[PairReading]| judged_all(&[of_pairs("A", "x", pairs.to_vec())]).remove(0);
    let (all, ten) = (judged(&whole), judged(&lacking));
    assert_eq!((all.verdict, all.pairs, all.pairs_left_out), (Verdict::Regression, 12, 0));
    assert_eq!((ten.verdict, ten.pairs, ten.pairs_left_out), (Verdict::Regression, 10, 2));
    assert!((ten.change.unwrap().ratio - 1.1).abs() < 1e-12);
    // Medians are those of what was judged.
    let kept: Vec<f64> = (0..12).filter(|i| ![2, 9].contains(i)).map(|i| whole[i].baseline.unwrap()).collect();
    assert_eq!(ten.baseline, stats::median(&kept).ok());
    lacking.iter_mut().take(5).for_each(|pair| pair.candidate = None);
    assert!(
        matches!(judged(&lacking).verdict, Verdict::Failed { reason, .. } if reason.contains("in 6 of 12 pairs, 8 are needed"))
    );
}

#[test]
fn what_is_lacking_is_said() {
    assert_eq!(judged(Better::Lower, &[1.0; 8], &[]).verdict, Verdict::BaselineOnly);
    assert_eq!(judged(Better::Lower, &[], &[1.0; 8]).verdict, Verdict::CandidateOnly);
    let alone = judged(Better::Lower, &[1.0, 3.0], &[]);
    assert_eq!((alone.verdict, alone.baseline, alone.pairs), (Verdict::BaselineOnly, Some(2.0), 0));
    let failure = |metric: ReportedMetric| match metric.verdict {
        Verdict::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    assert!(failure(judged(Better::Lower, &[1.0; 8], &[1.0; 7])).contains("not every process reported `x`"));
    assert!(failure(judged(Better::Lower, &[f64::NAN; 8], &[1.0; 8])).contains("no number"));
    let failed = Readings { id: id("A"), outcome: ReadingsOutcome::Failed { reason: "it hangs".into() } };
    let judged = judge([&failed], |_| vec![wanted("x", Better::Lower)], |_| true, &Decision::default()).unwrap();
    assert_eq!(judged.into_iter().map(failure).collect::<Vec<_>>(), ["it hangs"]);
}

#[test]
fn neither_a_unit_that_nobody_wants_nor_one_that_nobody_reports_is_judged() {
    let readings = [read("A", "x", &[1.0; 8], &[2.0; 8])];
    let nothing = judge(&readings, |_| vec![wanted("y", Better::Lower)], |_| true, &Decision::default()).unwrap();
    assert_eq!(nothing, []);
}

#[test]
fn p_values_are_adjusted_over_all_that_was_read() {
    // Alone it is a regression; as one of many that do not differ, its p-value is not small enough.
    let suspicious = judged(Better::Lower, &[1.0; 8], &NOISY);
    assert_eq!(suspicious.verdict, Verdict::Regression);
    let mut readings = vec![read("A", "x", &[1.0; 8], &NOISY)];
    readings.extend((0..200).map(|i| read(&format!("B{i}"), "x", &[1.0; 8], &SWINGING)));
    assert_eq!(judged_all(&readings).remove(0).verdict, OPEN);
}

#[test]
fn the_gate_knows_them() {
    let rule = |action| Rule {
        metric: Some(Metric::Reported("x".into())),
        better: Some(Better::Higher),
        action: Some(action),
        ..Rule::default()
    };
    let gate_beside = |benchmarks: &[BenchmarkReport], reported: &[ReportedMetric], action, waivers: &[Waiver]| {
        let (decision, policy) = (Decision::default(), Policy::new(&[rule(action)]).unwrap());
        let found = Found { benchmarks, reported, ..Found::default() };
        Gate::decide(found, Thresholds::new(&decision, &policy), waivers, "2026-06-01".parse().unwrap())
    };
    let gate_of = |reported: &[_], action, waivers: &[_]| gate_beside(&[], reported, action, waivers);
    let reported = [judged(Better::Higher, &BASELINE, &TENTH_LESS)];
    let decide = |action, waivers: &[Waiver]| gate_of(&reported, action, waivers);
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
    // A metric that was not read is no reason to remove a waiver.
    assert_eq!(decide(Action::Gate, &[waiver("y", 0.1)]).stale, []);
    let same = [judged(Better::Higher, &BASELINE, &BASELINE)];
    let gate = gate_of(&same, Action::Gate, &[waiver("x", 0.1)]);
    assert_eq!(gate.stale.iter().map(|stale| stale.why).collect::<Vec<_>>(), [Stale::Unused]);

    // A benchmark that is another one reports another thing.
    let another = [BenchmarkReport::unmeasured(id("A"), Verdict::Redefined(Box::new(Verdict::NoChange)))];
    let beside = |reported: &[_]| gate_beside(&another, reported, Action::Gate, &[waiver("x", 0.01)]);
    assert_eq!([beside(&reported), beside(&same)].map(|gate| (gate.failing().count(), gate.stale.len())), [(0, 0); 2]);
}
