//! Whether a change passes: policy and waivers against what was found.

use duetbench_core::Verdict;
use duetbench_core::analysis::{
    Basis, Clock, Counts, Estimate, Measured, Method, Ranged, RatioInterval, Warning, analyse,
};
use duetbench_core::gate::{Day, Found, Gate, Stale, Standing, Waiver, WaiverError};
use duetbench_core::plan::{Difference, Mode, Redefinition};
use duetbench_core::report::{BenchmarkReport, Counted};
use duetbench_core::sample::{BenchmarkId, Sample};
use duetbench_core::spec::{Action, Decision, Metric, ModeChoice, Policy, Rule, Spec, Thresholds};
use duetbench_core::verdict::Extent;

use crate::support;

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

/// A benchmark that was compared, with this ratio.
pub(crate) fn compared(name: &str, verdict: Verdict, ratio: f64) -> BenchmarkReport {
    let estimate = Estimate {
        ratio,
        ratio_low: ratio - 0.01,
        ratio_high: ratio + 0.01,
        confidence: 0.9,
        basis: Basis::TypicalSlice,
        clock: Clock::Wall,
        beside: None,
        by_wall: None,
        method: Method::StudentT,
        looks: 1,
        p_value: 0.001,
        p_adjusted: 0.001,
        minimal_detectable_change: 0.02,
        counts: Counts { units: 4, builds: 1, forks: 4, slices: 400 },
    };
    BenchmarkReport {
        id: BenchmarkId { package: "example.com/codec".into(), name: name.into() },
        verdict,
        failed_too_often: false,
        mode: Some(Mode::Duet),
        estimate: Some(estimate),
        threshold: None,
        baseline_ns: None,
        candidate_ns: None,
        allocs: None,
        bytes: None,
        layout: None,
        as_linked: None,
        confirmation: None,
        forks: support::forks_of(&[0.0; 4]),
        warnings: Vec::new(),
    }
}

fn slower(name: &str, ratio: f64) -> BenchmarkReport {
    compared(name, Verdict::Regression, ratio)
}

fn waiver(benchmark: &str, ceiling: f64) -> Waiver {
    Waiver {
        benchmark: benchmark.into(),
        metric: Metric::Time,
        ceiling,
        expires: day("2026-12-31"),
        reason: "the checksum is wanted".into(),
        link: None,
    }
}

fn decide(benchmarks: &[BenchmarkReport], waivers: &[Waiver], today: &str) -> Gate {
    let found = Found { benchmarks, ..Found::default() };
    Gate::decide(found, Thresholds::from(&Decision::default()), waivers, day(today))
}

/// The gate by these rules, without a waiver.
fn ruled(benchmarks: &[BenchmarkReport], rules: &[Rule]) -> Gate {
    ruled_and_waived(benchmarks, rules, &[])
}

fn ruled_and_waived(benchmarks: &[BenchmarkReport], rules: &[Rule], waivers: &[Waiver]) -> Gate {
    let (decision, policy) = (Decision::default(), Policy::new(rules).unwrap());
    let found = Found { benchmarks, ..Found::default() };
    Gate::decide(found, Thresholds::new(&decision, &policy), waivers, day("2026-06-01"))
}

#[test]
fn a_regression_fails_unless_it_is_waived() {
    let found = [slower("BenchmarkDecode", 1.08), compared("BenchmarkEncode", Verdict::NoChange, 1.0)];
    let gate = decide(&found, &[], "2026-06-01");
    assert_eq!(gate.failing().count(), 1);
    assert_eq!((gate.breaches[0].metric.clone(), gate.breaches[0].threshold), (Metric::Time, 0.03));
    assert!((gate.breaches[0].change - 0.08).abs() < 1e-12);

    for name in ["BenchmarkDecode", "example.com/codec.BenchmarkDecode"] {
        let gate = decide(&found, &[waiver(name, 0.1)], "2026-12-31");
        assert_eq!((gate.failing().count(), gate.waived().count(), gate.stale.len()), (0, 1, 0), "{name}");
    }
    // Neither another metric nor another benchmark is accepted with it.
    let other_metric = Waiver { metric: Metric::Bytes, ..waiver("BenchmarkDecode", 0.1) };
    assert_eq!(decide(&found, &[other_metric], "2026-06-01").failing().count(), 1);
    assert_eq!(decide(&found, &[waiver("BenchmarkDeco", 0.1)], "2026-06-01").failing().count(), 1);
}

#[test]
fn a_waiver_whose_name_fits_several_benchmarks_accepts_none() {
    let in_package = |package: &str, verdict| BenchmarkReport {
        id: BenchmarkId { package: package.into(), name: "BenchmarkSum".into() },
        ..compared("BenchmarkSum", verdict, 1.08)
    };
    let both = ["a.org/codec", "a.org/sub"].map(|package| in_package(package, Verdict::Regression));
    let check = |found: &[BenchmarkReport], name: &str, failing: usize, why: &[Stale]| {
        let gate = decide(found, &[waiver(name, 0.1)], "2026-06-01");
        let stale: Vec<Stale> = gate.stale.iter().map(|stale| stale.why).collect();
        assert_eq!((gate.failing().count(), &stale[..]), (failing, why), "{name}");
        gate.stale.into_iter().flat_map(|stale| stale.fits).map(|id| id.to_string()).collect::<Vec<_>>()
    };
    for short in ["BenchmarkSum", "Sum"] {
        let fits = check(&both, short, 2, &[Stale::Ambiguous]);
        assert_eq!(fits, ["a.org/codec.BenchmarkSum", "a.org/sub.BenchmarkSum"]);
        check(&both[..1], short, 0, &[]);
    }
    for full in ["a.org/codec.BenchmarkSum", "sub.Sum"] {
        check(&both, full, 1, &[]);
    }
    let calm = ["a.org/codec", "a.org/sub"].map(|package| in_package(package, Verdict::NoChange));
    check(&calm, "Sum", 0, &[Stale::Ambiguous]);
    // A benchmark that moves to another package is one.
    check(&[both[0].clone(), in_package("a.org/sub", Verdict::BaselineOnly)], "Sum", 0, &[]);
}

#[test]
fn what_computing_adds_to_a_count_breaks_no_rule_and_no_ceiling() {
    let allocs = |base: f64, head: f64| BenchmarkReport {
        allocs: Some(Counted { baseline: base, candidate: head, changed: true }),
        ..compared("A", Verdict::NoChange, 1.0)
    };
    let rule =
        Rule { metric: Some(Metric::Allocs), threshold: Some(0.1), action: Some(Action::Gate), ..Rule::default() };
    let failing = |of: BenchmarkReport| ruled(&[of], std::slice::from_ref(&rule)).failing().count();
    // 11 / 10 - 1 is 0.10000000000000009.
    assert_eq!((failing(allocs(10.0, 11.0)), failing(allocs(1000.0, 1101.0))), (0, 1));
    let waiver = Waiver { metric: Metric::Allocs, ..waiver("A", 0.07) };
    let all = Rule { threshold: Some(0.01), ..rule };
    let gate = ruled_and_waived(&[allocs(100.0, 107.0)], &[all], &[waiver]);
    assert_eq!((gate.failing().count(), gate.waived().count()), (0, 1));
    assert!(!gate.breaches[0].exceeds(0.07) && gate.breaches[0].exceeds(0.06));
}

#[test]
fn the_waiver_that_accepts_counts_whatever_another_says() {
    let found = [slower("A", 1.08)];
    let long = format!("{}.A", found[0].id.package);
    let expired = Waiver { expires: day("2026-01-01"), ..waiver("A", 0.1) };
    for other in [waiver("A", 0.05), expired] {
        let gate = decide(&found, &[other, waiver(&long, 0.12)], "2026-06-01");
        assert_eq!((gate.failing().count(), gate.waived().count()), (0, 1));
    }
}

#[test]
fn a_waiver_holds_up_to_its_ceiling_and_its_last_day() {
    let found = [slower("A", 1.08)];
    let standing = |ceiling: f64, today: &str| decide(&found, &[waiver("A", ceiling)], today).breaches[0].standing;
    let expires = day("2026-12-31");
    assert_eq!(standing(0.09, "2026-12-31"), Standing::Waived { ceiling: 0.09, expires });
    assert_eq!(standing(0.07, "2026-12-31"), Standing::AboveCeiling { ceiling: 0.07 });
    assert_eq!(standing(0.09, "2027-01-01"), Standing::Expired { expires });
    assert!(standing(0.07, "2026-12-31").fails() && standing(0.09, "2027-01-01").fails());
}

#[test]
fn what_is_not_needed_any_more_has_to_go() {
    let open = Verdict::Inconclusive { forks_sufficient: None };
    let found = [
        slower("Slower", 1.05),
        compared("Same", Verdict::NoChange, 1.0),
        compared("Faster", Verdict::Improvement, 0.9),
        compared("Open", open, 1.02),
    ];
    let waivers = ["Slower", "Same", "Faster", "Open", "Elsewhere"].map(|name| waiver(name, 0.1));
    let stale = |today: &str| -> Vec<(String, Stale)> {
        decide(&found, &waivers, today).stale.into_iter().map(|s| (s.waiver.benchmark, s.why)).collect()
    };
    let unused = ["Same", "Faster"].map(|name| (name.to_owned(), Stale::Unused));
    assert_eq!(stale("2026-12-01"), unused);
    assert!(stale("2027-01-01").iter().all(|(_, why)| *why == Stale::Expired));
    assert_eq!(stale("2027-01-01").len(), 5);
}

#[test]
fn counts_inform_until_a_rule_says_otherwise() {
    let allocs = Some(Counted { baseline: 10.0, candidate: 11.0, changed: true });
    let found = [BenchmarkReport { allocs, ..compared("A", Verdict::NoChange, 1.0) }];
    assert_eq!(ruled(&found, &[]).breaches[0].standing, Standing::Informs);
    let rule = |threshold: f64| Rule {
        metric: Some(Metric::Allocs),
        threshold: Some(threshold),
        action: Some(Action::Gate),
        ..Rule::default()
    };
    assert_eq!(ruled(&found, &[rule(0.05)]).failing().count(), 1);
    assert!(ruled(&found, &[rule(0.15)]).breaches.is_empty());
    // A count that was 0 has grown by more than any share.
    let from_nothing = Some(Counted { baseline: 0.0, candidate: 1.0, changed: true });
    let found = [BenchmarkReport { allocs: from_nothing, ..found[0].clone() }];
    assert_eq!(ruled(&found, &[rule(5.0)]).failing().count(), 1);
}

#[test]
fn an_open_question_stops_a_change_where_a_rule_wants_an_answer() {
    let open = |name: &str| compared(name, Verdict::Inconclusive { forks_sufficient: None }, 1.02);
    let found = [open("Codec"), open("Slow"), open("Other"), compared("CodecSame", Verdict::NoChange, 1.0)];
    let rule = |benchmarks: &str, action| Rule {
        benchmarks: Some(benchmarks.into()),
        inconclusive: Some(action),
        ..Rule::default()
    };
    let gate = ruled(&found, &[rule("Codec", Action::Gate), rule("Slow", Action::Inform)]);
    let names: Vec<&str> = gate.unanswered().map(|one| one.id.name.as_str()).collect();
    assert_eq!(names, ["Codec"]);
    // Benchmarks that no rule is about are as they usually are.
    let wanted = |usually| found.each_ref().map(|one| gate.wants_answer(&one.id, usually));
    assert_eq!((wanted(false), wanted(true)), ([true, false, false, false], [true, false, true, true]));
}

#[test]
fn a_real_slowdown_below_the_threshold_stops_a_change_only_where_a_rule_says_so() {
    let tolerated = Verdict::Slower(Extent::WithinTolerance);
    let open = Verdict::Slower(Extent::Open { forks_sufficient: None });
    let found = [compared("Codec", tolerated, 1.02), compared("Other", open.clone(), 1.04)];
    assert!(ruled(&found, &[]).breaches.is_empty());
    let slower = Rule { benchmarks: Some("Codec".into()), slower: Some(Action::Gate), ..Rule::default() };
    let gate = ruled(&found, std::slice::from_ref(&slower));
    assert_eq!(gate.failing().map(|b| b.id.name.as_str()).collect::<Vec<_>>(), ["Codec"]);
    // The later rule overrides it, and an open size is an open question beside.
    assert!(ruled(&found, &[slower, Rule { slower: Some(Action::Inform), ..Rule::default() }]).breaches.is_empty());
    let wanted = Rule { inconclusive: Some(Action::Gate), ..Rule::default() };
    assert_eq!(ruled(&found, &[wanted]).unanswered().map(|one| one.id.name.as_str()).collect::<Vec<_>>(), ["Other"]);
    // It is about times alone.
    let of_bytes = Rule { metric: Some(Metric::Bytes), slower: Some(Action::Gate), ..Rule::default() };
    assert!(Policy::new(&[of_bytes]).unwrap_err().to_string().contains("about times"));
}

#[test]
fn an_accepted_slowdown_is_no_question_up_to_its_ceiling() {
    // Up to 5 %, or by the other number up to 7 %.
    let open = compared("Codec", Verdict::Slower(Extent::Open { forks_sufficient: None }), 1.04);
    let beside = Ranged { basis: Basis::AllSlices, ratio: 1.05, interval: RatioInterval { low: 1.03, high: 1.07 } };
    let wider = Estimate { beside: Some(beside), ..open.estimate.unwrap() };
    let wider = BenchmarkReport { estimate: Some(wider), ..open.clone() };
    let rule = Rule { slower: Some(Action::Gate), inconclusive: Some(Action::Gate), ..Rule::default() };
    let accepted = |one: &BenchmarkReport, ceiling| {
        let gate =
            ruled_and_waived(std::slice::from_ref(one), std::slice::from_ref(&rule), &[waiver("Codec", ceiling)]);
        assert_eq!(gate.failing().next(), None);
        assert_eq!(gate.accepts(one), gate.unanswered().next().is_none());
        gate.accepts(one)
    };
    assert!(accepted(&open, 0.05) && !accepted(&open, 0.049));
    // Also where answers are demanded and no rule speaks of slowdowns.
    let demanded = |ceiling| {
        let benchmarks = std::slice::from_ref(&open);
        let mut gate = ruled_and_waived(benchmarks, &[], &[waiver("Codec", ceiling)]);
        gate.demand_answers(Found { benchmarks, ..Found::default() });
        gate.unanswered().count()
    };
    assert_eq!((demanded(0.05), demanded(0.049)), (0, 1));
    assert!(accepted(&wider, 0.07) && !accepted(&wider, 0.06));
}

#[test]
fn waivers_are_checked() {
    let check = |waivers: &[Waiver]| Waiver::check(waivers);
    assert_eq!(check(&[waiver("A", 0.1), waiver("B", 0.1)]), Ok(()));
    let bytes = Waiver { metric: Metric::Bytes, ..waiver("A", 0.1) };
    assert_eq!(check(&[waiver("A", 0.1), bytes]), Ok(()));
    assert!(matches!(check(&[waiver("A", 0.1), waiver("A", 0.2)]), Err(WaiverError::Twice { .. })));
    assert!(matches!(check(&[waiver("A", 0.0)]), Err(WaiverError::Ceiling { .. })));
    let silent = Waiver { reason: " ".into(), ..waiver("A", 0.1) };
    assert!(matches!(check(&[silent]), Err(WaiverError::Reason { .. })));
}

#[test]
fn a_benchmark_that_changed_itself_stops_nothing() {
    let other = |verdict| Verdict::Redefined(Box::new(verdict));
    let grown = Some(Counted { baseline: 1.0, candidate: 9.0, changed: true });
    let found = [
        BenchmarkReport { allocs: grown, ..compared("Slower", other(Verdict::Regression), 2.0) },
        compared("Same", other(Verdict::NoChange), 1.0),
    ];
    let failing = |rules: &[Rule]| -> Vec<Metric> {
        let gate = ruled_and_waived(&found, rules, &[waiver("Same", 0.1)]);
        assert_eq!(gate.stale, [], "it says nothing of the code that the waiver is about");
        gate.failing().map(|breach| breach.metric.clone()).collect()
    };
    let allocs = Rule { metric: Some(Metric::Allocs), action: Some(Action::Gate), ..Rule::default() };
    assert_eq!(failing(&[]), []);
    assert_eq!(failing(&[allocs]), []);
}

#[test]
fn times_of_a_benchmark_that_changed_itself_are_no_verdict_about_the_code() {
    let mut plan = support::plan(&["A", "B/x", "C"], Mode::Duet);
    let candidate_ns = |suite_run: u32| 150_000 + 100 * u64::from(suite_run);
    let slices =
        |suite_run: u32| (0..4).flat_map(move |i| support::slices((suite_run, i), 100_000, candidate_ns(suite_run)));
    let samples: Vec<Sample> = (0..6).flat_map(slices).collect();
    let measured = vec![Measured { samples, failed_trials: Vec::new() }; 2];
    let id = |name: &str| BenchmarkId { name: name.into(), ..plan.benchmarks[0].id.clone() };
    let difference = Difference::Source { path: "b_test.go".into(), line: 3 };
    let redefinition = Redefinition { part: "setup".into(), difference, tolerated: false };
    let redefined = ["B", "C"].map(|name| (id(name), redefinition.clone()));
    let redefined = redefined.into();
    let spec = support::spec(support::forks(5), ModeChoice::Auto);
    plan.note_redefined(&redefined, &spec);
    let reports = analyse(&plan, &measured, &Decision::default());
    let words: Vec<&str> = reports.iter().map(|b| b.verdict.word()).collect();
    assert_eq!(words, ["regression", "redefined", "redefined"], "the last one has no time, and is no failure");
    assert_eq!(reports[1].verdict.of_times(), &Verdict::Regression);
    assert_eq!(reports[1].warnings[0], Warning::Redefined(redefinition));
    assert!(reports[0].warnings.iter().all(|warning| !matches!(warning, Warning::Redefined(_))));

    // A rule, or a flag for all, takes them for the same and keeps the remark.
    let rule = Rule { benchmarks: Some("B".into()), redefined: Some(Action::Gate), ..Rule::default() };
    let ruled = Spec { rules: Policy::new(&[rule]).unwrap(), ..spec.clone() };
    for spec in [ruled, Spec { same_benchmarks: true, ..spec }] {
        plan.note_redefined(&redefined, &spec);
        let tolerated = &analyse(&plan, &measured, &Decision::default())[1];
        assert_eq!(tolerated.verdict, Verdict::Regression);
        assert!(matches!(&tolerated.warnings[0], Warning::Redefined(_)));
    }
}

#[test]
fn benchmarks_that_changed_themselves_relax_nothing_for_the_rest() {
    let names: Vec<String> = (0..20).map(|number| format!("B{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut plan = support::plan(&names, Mode::InterleavedOneCore);
    let flat = [0.01, -0.01, 0.02, -0.02, 0.0, 0.005];
    let of = |log_ratios: &[f64]| Measured { samples: support::one_slice_forks(log_ratios), failed_trials: Vec::new() };
    let slightly = flat.map(|d| d + 0.025);
    let measured: Vec<Measured> = (0..20)
        .map(|number| {
            of(&if number < 10 {
                flat.map(|d| d + 0.5)
            } else if number == 10 {
                slightly
            } else {
                flat
            })
        })
        .collect();
    let difference = Difference::Source { path: "b_test.go".into(), line: 3 };
    let redefinition = Redefinition { part: "setup".into(), difference, tolerated: false };
    let id = |name: &str| BenchmarkId { name: name.into(), ..plan.benchmarks[0].id.clone() };
    let redefined = names[..10].iter().map(|name| (id(name), redefinition.clone())).collect();
    plan.note_redefined(&redefined, &support::spec(support::forks(5), ModeChoice::Auto));
    let reports = analyse(&plan, &measured, &Decision::default());
    let [own, adjusted] =
        [|e: Estimate| e.p_value, |e: Estimate| e.p_adjusted].map(|p| p(reports[10].estimate.unwrap()));
    // The smallest of ten, and not the eleventh of twenty.
    assert!((adjusted - 10.0 * own).abs() < 1e-9, "{own} {adjusted}");
}

#[test]
fn a_rule_changes_what_a_benchmark_is_judged_by() {
    // 4 % slower, with almost no spread: more than the suite tolerates, less than the rule does.
    let plan = support::plan(&["A", "B"], Mode::Duet);
    let slices = |suite_run: u32| {
        let wiggle = u64::from(suite_run % 3) * 10;
        (0..4).flat_map(move |i| support::slices((suite_run, i), 100_000, 104_000 + wiggle))
    };
    let measured = vec![Measured { samples: (0..6).flat_map(slices).collect(), failed_trials: Vec::new() }; 2];
    let words = |thresholds: Thresholds<'_>| -> Vec<&'static str> {
        analyse(&plan, &measured, thresholds).iter().map(|b| b.verdict.word()).collect()
    };
    let decision = Decision::default();
    assert_eq!(words((&decision).into()), ["regression", "regression"]);
    let rule = Rule { benchmarks: Some("B$".into()), threshold: Some(0.1), ..Rule::default() };
    let policy = Policy::new(&[rule]).unwrap();
    assert_eq!(words(Thresholds::new(&decision, &policy)), ["regression", "slower_within_tolerance"]);
    let typed = Decision { typed: true, ..decision };
    assert_eq!(words(Thresholds::new(&typed, &policy)), ["regression", "regression"]);
}
