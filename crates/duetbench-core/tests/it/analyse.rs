//! The whole suite through `analyse`.

use duetbench_core::analysis::{Measured, Method, TrialFailure, Warning, analyse};
use duetbench_core::plan::{Design, Excluded, Mode, Profile, Style};
use duetbench_core::report::{BenchmarkReport, ForkPair};
use duetbench_core::spec::{Decision, defaults};
use duetbench_core::{BenchmarkId, Role, Verdict};

use crate::support::{PLAIN, fixed_design, one_slice_forks, placed, plan, plan_of, samples_of, slices};

fn failure(role: Option<Role>, reason: &str) -> TrialFailure {
    TrialFailure { role, reason: reason.into(), discarded: false }
}

fn judged(log_ratios: &[f64], failed_trials: Vec<TrialFailure>) -> BenchmarkReport {
    let measured = Measured { samples: one_slice_forks(log_ratios), failed_trials };
    analyse(&plan(&["A"], Mode::Duet), &[measured], &Decision::default()).remove(0)
}

#[test]
fn each_kind_of_change_gets_its_verdict() {
    let around = |centre: f64, unit: f64| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|d| centre + d * unit);
    assert_eq!(judged(&around(0.1, 0.005), vec![]).verdict, Verdict::Regression);
    assert_eq!(judged(&around(-0.1, 0.005), vec![]).verdict, Verdict::Improvement);
    assert_eq!(judged(&around(0.001, 0.005), vec![]).verdict, Verdict::NoChange);
    assert_eq!(judged(&around(0.02, 0.1), vec![]).verdict.word(), "inconclusive");
}

#[test]
fn the_estimate_is_that_of_the_method() {
    let estimate = judged(&[0.02, 0.03, 0.01, 0.025, 0.015, 0.02], vec![]).estimate.unwrap();
    assert!((estimate.ratio - 0.02f64.exp()).abs() < 1e-9 && estimate.method == Method::StudentT);
    // Standard error 0.00707107 / sqrt(6) = 0.00288675, critical t(5) at 10 % = 2.0150.
    assert!((estimate.ratio_low - (0.02f64 - 2.015_048 * 0.002_886_75).exp()).abs() < 1e-6);
    assert!((estimate.ratio_high - (0.02f64 + 2.015_048 * 0.002_886_75).exp()).abs() < 1e-6);
    // At 1000 units, the design's horizon: df 799, at 10 % and power 0.8 2.4885 standard errors beyond the threshold; the spread of six
    // is taken for sqrt(5 / chi-square quantile 0.35) = 1.2262 times as large.
    let at_the_end = 1.226_2 * 0.007_071_07 / 1000f64.sqrt();
    assert!((estimate.minimal_detectable_change - (1.03 * (2.4885f64 * at_the_end).exp() - 1.0)).abs() < 2e-6);
    assert_eq!((estimate.confidence, estimate.p_adjusted), (0.9, estimate.p_value));
    assert_eq!(judged(&[0.1; 10], vec![]).estimate.unwrap().method, Method::YuenTrimmedT);
}

#[test]
fn a_duet_excludes_nothing_that_contention_hides() {
    let measured = || Measured { samples: one_slice_forks(&[0.04, 0.05, 0.06, 0.05, 0.04]), failed_trials: vec![] };
    let seen = |(alone_ns, slice_ns)| {
        let mut plan = plan(&["A"], Mode::Duet);
        plan.benchmarks[0].profile = Some(Profile { invocation_ns: alone_ns, ..PLAIN });
        plan.benchmarks[0].configuration.slice_ns = slice_ns;
        analyse(&plan, &[measured()], &Decision::default()).remove(0).estimate.unwrap()
    };
    // The slower version takes 1e9 * exp(0.05) nanoseconds beside the other one. Alone it takes as long, or four fifths.
    let beside_ns = 1e9 * 0.05f64.exp();
    let (alike, contended) = (seen((beside_ns, 1)), seen((0.8 * beside_ns, 1)));
    assert_eq!((alike.ratio, alike.ratio_low), (contended.ratio, contended.ratio_low));
    assert!((contended.ratio_high - 1.0 - (alike.ratio_high - 1.0) / 0.8).abs() < 1e-6);
    // Nobody is alone where slices have invocations enough for the faster version to go on.
    let refilled = seen((0.8 * beside_ns, 20_000_000_000));
    assert_eq!(refilled.ratio_high, alike.ratio_high);
}

#[test]
fn a_change_in_few_slices_counts() {
    let times = [100, 100, 100, 100, 3_200];
    let of_fork =
        |run: u32| (0u32..).zip(times).flat_map(move |(i, ns)| slices((run, i), 1000, 10 * ns + u64::from(run)));
    let measured = Measured { samples: (0..4).flat_map(of_fork).collect(), failed_trials: vec![] };
    let report = analyse(&plan(&["A"], Mode::Duet), &[measured], &Decision::default()).remove(0);
    // The slow slice has CPU time as long as it lasts: 3600 against 500.
    assert!((report.estimate.unwrap().ratio - 7.2).abs() < 0.02);
    let warnings = &report.warnings[..];
    let expected = matches!(warnings, [Warning::SlowSlices { .. }, Warning::SingleBuild { .. }]);
    assert!(expected, "{warnings:?}");
}

#[test]
fn too_few_forks_decide_nothing() {
    let report = judged(&[0.1, 0.1], vec![]);
    assert_eq!(report.verdict, Verdict::Inconclusive { forks_sufficient: None });
    assert_eq!(report.warnings, [Warning::TooFewUnits { units: 2, needed: defaults::UNITS_MIN }]);
    assert_eq!((report.forks.len(), report.estimate), (2, None));
}

#[test]
fn a_trial_that_the_machine_spoiled_says_nothing_about_the_benchmark() {
    let slept = TrialFailure { role: None, reason: "the machine slept for 30 s during it".into(), discarded: true };
    let report = judged(&[0.1, 0.1], vec![slept.clone()]);
    assert_eq!(report.verdict, Verdict::Inconclusive { forks_sufficient: None });
    assert!(report.warnings.contains(&Warning::FailedTrials { trials: 1, first: slept.reason.clone() }));
    let failed = judged(&[0.1, 0.1], vec![slept, failure(None, "exit status 2")]);
    assert_eq!(failed.verdict, Verdict::Failed { role: None, reason: "exit status 2".into() });
}

#[test]
fn failures_that_leave_too_few_forks_are_the_verdict() {
    let of_candidate = vec![failure(Some(Role::Candidate), "exit status 2"), failure(Some(Role::Candidate), "again")];
    let expected = Verdict::Failed { role: Some(Role::Candidate), reason: "exit status 2".into() };
    let report = judged(&[0.1], of_candidate);
    // It lacks units because it fails, which the verdict says in its words.
    assert_eq!((report.verdict, report.warnings), (expected, vec![]));
    let of_both = vec![failure(Some(Role::Candidate), "exit status 2"), failure(None, "timed out")];
    assert_eq!(judged(&[], of_both).verdict, Verdict::Failed { role: None, reason: "exit status 2".into() });
}

#[test]
fn failures_that_leave_enough_forks_are_a_warning() {
    let report = judged(&[0.1, 0.101, 0.099], vec![failure(None, "timed out")]);
    assert_eq!(report.verdict, Verdict::Regression);
    let failed = Warning::FailedTrials { trials: 1, first: "timed out".into() };
    assert!(matches!(&report.warnings[..], [first, Warning::SingleBuild { .. }] if *first == failed));
}

#[test]
fn those_that_survived_give_no_answer_about_a_benchmark_that_was_given_up() {
    let failures = |number| vec![failure(Some(Role::Candidate), "panic: odd"); number];
    let flat = [0.0, 0.001, -0.001, 0.0005];
    assert_eq!(judged(&flat, failures(4)).verdict, Verdict::NoChange);
    let given_up = judged(&flat, failures(5));
    let expected = Verdict::Failed { role: Some(Role::Candidate), reason: "panic: odd".into() };
    assert_eq!((given_up.verdict, given_up.estimate, given_up.forks.len()), (expected, None, 4));
    // A regression of those is one, and the failures are not forgotten.
    let regressed = judged(&[0.1, 0.101, 0.099], failures(5));
    assert_eq!((regressed.verdict, regressed.failed_too_often), (Verdict::Regression, true));
    assert!(!judged(&[0.1, 0.101, 0.099], failures(4)).failed_too_often);
}

#[test]
fn a_benchmark_that_was_given_up_does_not_relax_the_limit_for_others() {
    let measured = |log_ratios: &[f64], failures: usize| Measured {
        samples: one_slice_forks(log_ratios),
        failed_trials: vec![failure(Some(Role::Candidate), "panic: odd"); failures],
    };
    let p_values = |failures: usize| {
        let faster = measured(&[-0.1, -0.101, -0.099, -0.1005], failures);
        let all = [faster, measured(&[0.1, 0.2, 0.15, 0.05], 0), measured(&[0.1, -0.1, 0.1, -0.1], 0)];
        let reports = analyse(&plan(&["A", "B", "C"], Mode::Duet), &all, &Decision::default());
        (reports[0].verdict.word(), reports[1].estimate.map(|e| e.p_adjusted / e.p_value).unwrap())
    };
    let close = |(verdict, times): (&'static str, f64), want: (&str, f64)| {
        assert!(verdict == want.0 && (times - want.1).abs() < 1e-9, "{verdict} {times}");
    };
    // The second smallest of three, and the smallest of two.
    close(p_values(0), ("improvement", 1.5));
    close(p_values(5), ("failed", 2.0));
}

#[test]
fn impossible_samples_are_failed_trials() {
    let measured = Measured { samples: slices((0, 0), 0, 100).to_vec(), failed_trials: vec![] };
    let report = analyse(&plan(&["A"], Mode::Duet), &[measured], &Decision::default()).remove(0);
    let reason = "a slice of base took no time".to_string();
    assert_eq!(report.verdict, Verdict::Failed { role: Some(Role::Baseline), reason });
}

#[test]
fn invocations_faster_than_any_processor_are_failed_trials() {
    let mut samples = one_slice_forks(&[0.0; 4]);
    samples.iter_mut().for_each(|s| s.invocations = 1001 * s.wall_ns);
    let measured = Measured { samples: samples.clone(), failed_trials: vec![] };
    let report = analyse(&plan(&["A"], Mode::Duet), &[measured], &Decision::default()).remove(0);
    let reason = "an invocation of base took less than 0.001 ns, so it does nothing".to_string();
    assert_eq!(report.verdict, Verdict::Failed { role: Some(Role::Baseline), reason });
    samples.iter_mut().for_each(|s| s.invocations = 999 * s.wall_ns);
    let measured = Measured { samples, failed_trials: vec![] };
    let report = analyse(&plan(&["A"], Mode::Duet), &[measured], &Decision::default()).remove(0);
    assert_eq!(report.verdict, Verdict::NoChange);
}

#[test]
fn no_spread_and_waiting_are_warned_of() {
    let mut samples = one_slice_forks(&[0.0; 4]);
    samples.iter_mut().for_each(|s| s.cpu_ns = Some(s.wall_ns / 2));
    let measured = Measured { samples, failed_trials: vec![] };
    let report = analyse(&plan(&["A"], Mode::Duet), &[measured], &Decision::default()).remove(0);
    assert_eq!(report.verdict, Verdict::NoChange);
    assert_eq!(report.warnings, [Warning::Degenerate, Warning::NotCpuBound { cpu_share: 0.5 }]);
}

#[test]
fn what_was_not_measured_is_listed() {
    let mut plan = plan(&["B", "D"], Mode::Duet);
    let id = |name: &str| BenchmarkId { package: "p".into(), name: name.into() };
    plan.excluded = vec![
        Excluded::OnlyIn(id("A"), Role::Baseline),
        Excluded::OnlyIn(id("C"), Role::Candidate),
        Excluded::Failed(id("E"), Role::Baseline, "panic".into()),
    ];
    let measured = Measured { samples: one_slice_forks(&[0.0, 0.001, 0.002]), failed_trials: vec![] };
    let reports = analyse(&plan, &[measured], &Decision::default());
    let answers: Vec<_> = reports.iter().map(|r| (r.id.name.as_str(), r.verdict.word())).collect();
    let expected =
        [("A", "baseline_only"), ("B", "no_change"), ("C", "candidate_only"), ("D", "inconclusive"), ("E", "failed")];
    assert_eq!(answers, expected);
}

#[test]
fn p_values_are_adjusted_over_what_was_tested() {
    let plan = plan(&["A", "B", "C", "D"], Mode::Duet);
    let of = |log_ratios: &[f64]| Measured { samples: one_slice_forks(log_ratios), failed_trials: vec![] };
    // C has too few forks and must neither count nor take another's p-value.
    let measured = [of(&[0.1, 0.11, 0.12]), of(&[0.3, -0.3, 0.1]), of(&[0.1]), of(&[0.2, 0.21, 0.22])];
    let reports = analyse(&plan, &measured, &Decision::default());
    let p = |i: usize| reports[i].estimate.map(|e: duetbench_core::Estimate| (e.p_value, e.p_adjusted)).unwrap();
    assert!(p(3).0 < p(0).0 && p(0).0 < p(1).0);
    assert!((p(0).1 - p(0).0 * 1.5).abs() < 1e-12 && (p(1).1 - p(1).0).abs() < 1e-12);
    assert!((p(3).1 - (p(3).0 * 3.0).min(p(0).1)).abs() < 1e-12);
    assert_eq!(reports[2].estimate, None);
}

#[test]
fn what_is_proven_to_be_the_same_is_said_to_be() {
    let mut plan = plan(&["B"], Mode::Duet);
    let id = BenchmarkId { package: "p".into(), name: "A".into() };
    plan.excluded = vec![Excluded::Identical { id, saved_ns: 5 }];
    let reports = analyse(&plan, &[], &Decision::default());
    assert_eq!((reports[0].id.name.as_str(), &reports[0].verdict), ("A", &Verdict::IdenticalCode));
    assert!(reports[0].was_compared() && reports[0].warnings.is_empty() && reports[0].forks.is_empty());
    assert!(!reports[1].was_compared());
}

#[test]
fn a_change_between_two_binaries_is_said_to_be_no_more() {
    let around = |centre: f64| [-0.002, 0.001, 0.0, -0.001, 0.002].map(|d| centre + d);
    let warned = |design: Design, centre: f64| {
        let of_design = |(run, d): (u32, f64)| placed(&design, (0, run), d);
        let forks: Vec<ForkPair> = (0..).zip(around(centre)).map(of_design).collect();
        let measured = Measured { samples: samples_of(&forks), failed_trials: vec![] };
        analyse(&plan_of(&["A"], design), &[measured], &Decision::default()).remove(0)
    };
    for (centre, word, changed) in [(0.1, "regression", true), (-0.1, "improvement", true), (0.0, "no_change", false)] {
        let single = warned(fixed_design(5), centre);
        assert_eq!((single.verdict.word(), single.warnings.len()), (word, usize::from(changed)));
        // 2.576 standard deviations of 3.7 %.
        let told = |w: &Warning| matches!(w, Warning::SingleBuild { layout_explains, relinks: true, may_be_all: true, .. } if (layout_explains - 0.1).abs() < 1e-5);
        assert!(single.warnings.iter().all(told), "{:?}", single.warnings);
        let several = warned(Design { by_build: true, ..fixed_design(5) }, centre);
        assert_eq!((several.verdict.word(), several.warnings.len()), (word, 0));
    }
}

#[test]
fn a_calibration_says_how_much_of_a_change_layout_explains() {
    let may_be_all = |ratio, sd| match Warning::single_build(ratio, true, sd) {
        Warning::SingleBuild { may_be_all, .. } => may_be_all,
        _ => unreachable!("it is one"),
    };
    // A spread of 11.5 % reaches in 99 of 100 exp(2.576 * 0.115) = 1.345.
    assert_eq!([0.83, 1.34, 1.35].map(|ratio| may_be_all(ratio, Some(0.115))), [true, true, false]);
    // Matched layouts vary less than those of two builds, so that little found says nothing of these.
    for sd in [Some(0.001), None] {
        assert_eq!([1.33, 1.40].map(|ratio| may_be_all(ratio, sd)), [true, false], "{sd:?}");
    }
}

#[test]
fn a_runtime_that_compiles_draws_layouts_and_a_loop_of_its_own_does_not() {
    assert_eq!([false, true].map(|threads| warned_of_layout(Style::Iteration, threads, 0.1)), [true, false]);
}

#[test]
fn what_whole_programs_differ_by_beyond_layouts_is_none_of_theirs() {
    assert_eq!([0.05, 0.1, -0.5].map(|change| warned_of_layout(Style::Process, false, change)), [true, false, false]);
}

/// Whether a change of about so much, as a logarithm, is told to be perhaps one of layouts.
fn warned_of_layout(style: Style, runtime_threads: bool, change: f64) -> bool {
    let mut plan = plan_of(&["A"], fixed_design(5));
    plan.benchmarks[0].style = style;
    plan.benchmarks[0].runtime_threads = runtime_threads;
    let of_run = |run: u32| placed(&fixed_design(5), (0, run), change + 0.001 * f64::from(run));
    let forks: Vec<ForkPair> = (0..5).map(of_run).collect();
    let measured = Measured { samples: samples_of(&forks), failed_trials: vec![] };
    let report = analyse(&plan, &[measured], &Decision::default()).remove(0);
    report.warnings.iter().any(|warning| matches!(warning, Warning::SingleBuild { relinks: false, .. }))
}
