//! Regressions that later rounds of fresh trials see again, or do not.

use duetbench_core::analysis::{ConfirmationStanding, Measured, Monitor, Standing, TrialFailure, Warning, analyse};
use duetbench_core::plan::{Design, Plan};
use duetbench_core::report::{BenchmarkReport, ForkPair};
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::Decision;
use duetbench_core::stats::{critical_t, two_sided_p};
use duetbench_core::verdict::Extent;
use duetbench_core::{Role, Sample, Schedule, Verdict};

use crate::reference::{answers, close, numbers};
use crate::support::{build_pairs, placed, plan_of, samples_of};

/// A change of 10 %, which its spread leaves some doubt about.
const REGRESSED: [f64; 8] = [0.1, 0.16, 0.04, 0.12, 0.08, 0.15, 0.05, 0.1];

fn plan(confirm_rounds: u32) -> Plan {
    Plan { confirm_rounds, ..plan_of(&["A"], build_pairs(8, 0)) }
}

fn forks(design: &Design, rounds: &[&[f64]]) -> Vec<ForkPair> {
    let of_round = |(round, d): (u32, &&[f64])| -> Vec<ForkPair> {
        (0..).zip(*d).map(|(run, d)| placed(design, (round, run), *d)).collect()
    };
    (0..).zip(rounds).flat_map(of_round).collect()
}

/// The report when the rounds, the first included, gave these log ratios and two more were wanted.
fn report(rounds: &[&[f64]]) -> BenchmarkReport {
    report_by(rounds, &Decision::default())
}

fn report_by(rounds: &[&[f64]], decision: &Decision) -> BenchmarkReport {
    let samples = samples_of(&forks(&build_pairs(8, 0), rounds));
    analyse(&plan(2), &[Measured { samples, failed_trials: vec![] }], decision).remove(0)
}

#[test]
fn rounds_are_judged_together() {
    let report = report(&[&REGRESSED, &[0.09, 0.1, 0.11], &[0.06, 0.07, 0.08]]);
    let confirmation = report.confirmation.as_ref().unwrap();
    assert_eq!((confirmation.standing, confirmation.wanted), (ConfirmationStanding::Confirmed, 2));
    assert_eq!((&report.verdict, &report.warnings), (&Verdict::Regression, &vec![]));
    // Mean 0.085 of six; squares around it 2 (0.005^2 + 0.015^2 + 0.025^2) = 0.00175, over 5 and 6: standard error 0.0076376.
    let (mean, error) = (0.085f64, 0.007_637_626);
    close(confirmation.fresh.ratio, mean.exp(), 1e-8);
    close(confirmation.fresh.interval.high, (mean + critical_t(0.1, 5.0).unwrap() * error).exp(), 1e-7);
    close(confirmation.p_value, two_sided_p(mean / error, 5.0).unwrap() / 2.0, 1e-5);
    let [first, second] = &confirmation.rounds[..] else { panic!("{confirmation:?}") };
    for (round, mean) in [(first, 0.1f64), (second, 0.07)] {
        assert!((round.ratio - mean.exp()).abs() < 1e-8 && round.units == 3, "{round:?}");
    }
    // The first round decides, but the size is that of fresh trials, which were not selected.
    assert_eq!((report.estimate.unwrap().counts.units, report.estimate.unwrap().counts.forks), (8, 8));
    close(report.change().unwrap(), mean.exp_m1(), 1e-8);
    assert_eq!(report.forks.len(), 14);
}

#[test]
fn what_fresh_trials_withdraw_does_not_hide_that_it_was_given_up() {
    let samples = samples_of(&forks(&build_pairs(8, 0), &[&REGRESSED, &[-0.01, 0.0, 0.01], &[0.005, -0.005, 0.0]]));
    let failure = TrialFailure { role: Some(Role::Candidate), reason: "panic: odd".into(), discarded: false };
    let measured = Measured { samples, failed_trials: vec![failure; 5] };
    let report = analyse(&plan(2), &[measured], &Decision::default()).remove(0);
    let failed = Verdict::Failed { role: Some(Role::Candidate), reason: "panic: odd".into() };
    assert_eq!((report.verdict, report.estimate, report.confirmation), (failed, None, None));
    assert_eq!(report.warnings, [Warning::FailedTrials { trials: 5, first: "panic: odd".into() }]);
}

#[test]
fn fresh_trials_withdraw_what_they_exclude() {
    let open = Verdict::Inconclusive { forks_sufficient: None };
    let tolerated = Verdict::Slower(Extent::WithinTolerance);
    let slightly = [0.008, 0.018, 0.014, 0.004, 0.02, 0.001];
    for (later, verdict) in [([-0.01, 0.0, 0.01, 0.005, -0.005, 0.0], open), (slightly, tolerated)] {
        let report = report(&[&REGRESSED, &later[..3], &later[3..]]);
        let confirmation = report.confirmation.as_ref().unwrap();
        assert_eq!(report.verdict, verdict, "{confirmation:?}");
        assert_eq!(confirmation.standing, ConfirmationStanding::Withdrawn, "{confirmation:?}");
        let ratio = report.estimate.unwrap().ratio;
        assert_eq!(report.warnings, [Warning::NotConfirmed { ratio, later: confirmation.fresh.ratio }]);
        // The size that is reported is theirs.
        close(report.change().unwrap(), confirmation.fresh.ratio - 1.0, 1e-12);
        // No p-value or number of units of the first round stands beside it.
        assert_eq!(report.own_estimate(), None);
        // So is the range that is left open beside it, without anything of the first round.
        let left_open = report.open_range().unwrap();
        assert!(left_open.high < 1.03 && left_open.low > 0.97, "{left_open:?}");
    }
}

/// Samples of these fork pairs, five of each, of which in fresh trials of the candidate one takes so many times as long.
fn with_one_in_five(forks: &[ForkPair], times: f64) -> Vec<Sample> {
    let five = |sample: Sample| {
        let at = move |iteration| Sample { at: Coordinates { iteration, ..sample.at }, ..sample };
        let is_meant = sample.at.round > 0 && sample.at.role == Role::Candidate;
        let wall_ns = if is_meant { (sample.wall_ns as f64 * times) as u64 } else { sample.wall_ns };
        (0..4).map(at).chain([Sample { wall_ns, ..at(4) }])
    };
    samples_of(forks).into_iter().flat_map(five).collect()
}

#[test]
fn what_few_slices_pay_for_in_fresh_trials_is_not_within_tolerance() {
    let slightly = [0.008, 0.018, 0.014, 0.004, 0.02, 0.001];
    let later = forks(&build_pairs(8, 0), &[&REGRESSED, &slightly[..3], &slightly[3..]]);
    let with_slow_slices = |more: f64| {
        let samples = with_one_in_five(&later, 1.0 + more);
        analyse(&plan(2), &[Measured { samples, failed_trials: vec![] }], &Decision::default()).remove(0)
    };
    let words = [0.0, 0.15].map(|more| {
        let report = with_slow_slices(more);
        assert_eq!(report.confirmation.unwrap().standing, ConfirmationStanding::Withdrawn);
        report.verdict.word()
    });
    assert_eq!(words, ["slower_within_tolerance", "slower_size_open"]);
}

#[test]
fn fresh_trials_count_by_a_threshold_that_the_first_round_does_not_exceed() {
    let none: &[f64] = &[-0.01, 0.0, 0.01];
    let rounds = [&REGRESSED[..], none, none];
    for threshold in [0.03, 0.08] {
        let report = report_by(&rounds, &Decision { threshold, ..Decision::default() });
        assert_eq!(report.verdict, Verdict::Inconclusive { forks_sufficient: None }, "{threshold}");
        assert_eq!(report.confirmation.unwrap().standing, ConfirmationStanding::Withdrawn);
    }
    let first = report_by(&rounds[..1], &Decision { threshold: 0.08, ..Decision::default() });
    assert!(matches!(first.verdict, Verdict::Slower(Extent::Open { .. })), "{:?}", first.verdict);
}

#[test]
fn fresh_trials_take_nothing_back_that_the_first_round_found_within_tolerance() {
    // Mean 0.013, standard error 0.011 with 5 degrees of freedom: their interval holds no change.
    let later = [-0.02, 0.05, -0.01, 0.04, 0.0, 0.02];
    let rounds = [&REGRESSED[..], &later[..3], &later[3..]];
    let word = |threshold| report_by(&rounds, &Decision { threshold, ..Decision::default() }).verdict;
    assert_eq!(word(0.2), Verdict::Slower(Extent::WithinTolerance));
}

#[test]
fn what_is_within_tolerance_by_a_wider_interval_alone_is_open() {
    // Mean 0.018, standard error 0.0037 with 5 degrees of freedom: of 95 % up to 2.8 %, of 99 % up to 3.3 %.
    let later = [0.0097, 0.0263, 0.0097, 0.0263, 0.0097, 0.0263];
    let first = [0.1, 0.13, 0.07, 0.11, 0.09, 0.12, 0.08, 0.1];
    // The number beside it is 0.6 % lower: one slice in five is quicker.
    let samples = with_one_in_five(&forks(&build_pairs(8, 0), &[&first, &later[..3], &later[3..]]), 0.97);
    let measured = [Measured { samples, failed_trials: vec![] }];
    let words = [0.01, 0.001]
        .map(|alpha| analyse(&plan(2), &measured, &Decision { alpha, ..Decision::default() }).remove(0).verdict.word());
    assert_eq!(words, ["slower_within_tolerance", "slower_size_open"]);
}

#[test]
fn fresh_trials_that_decide_nothing_withdraw_nothing() {
    let report = report(&[&REGRESSED, &[0.09, 0.0, 0.03], &[0.05, -0.02, 0.04]]);
    assert_eq!(report.confirmation.as_ref().unwrap().standing, ConfirmationStanding::Open);
    assert_eq!((report.verdict, report.warnings), (Verdict::Regression, vec![]));
}

#[test]
fn a_missing_round_leaves_the_others() {
    let one = report(&[&REGRESSED, &[0.09, 0.1, 0.11]]).confirmation.unwrap();
    assert_eq!((one.rounds.len(), one.wanted, one.standing), (1, 2, ConfirmationStanding::Confirmed));
    let none = report(&[&REGRESSED]);
    assert_eq!((none.verdict, none.confirmation), (Verdict::Regression, None));
    // Two units say nothing, in whatever round they are.
    let cut_short = report(&[&REGRESSED, &[0.0, 0.001]]);
    assert_eq!((cut_short.verdict, cut_short.confirmation), (Verdict::Regression, None));
}

#[test]
fn what_is_beyond_doubt_is_not_measured_again() {
    let sure = [0.1, 0.101, 0.099, 0.1, 0.1005, 0.0995, 0.1, 0.1];
    assert_eq!(confirming(&sure, 20), None);
    assert!(confirming(&REGRESSED, 20).is_some());
}

#[test]
fn only_regressions_are_confirmed_and_only_in_rounds_that_were_wanted() {
    let later: &[f64] = &[0.0, 0.001, -0.001];
    let faster = REGRESSED.map(|d| -d);
    let none = REGRESSED.map(|d| (d - 0.1) / 100.0);
    for (first, word) in [(faster, "improvement"), (none, "no_change")] {
        let report = report(&[&first, later]);
        assert_eq!((report.verdict.word(), report.confirmation), (word, None));
    }
    let samples = samples_of(&forks(&build_pairs(8, 0), &[&REGRESSED, later]));
    let report = analyse(&plan(0), &[Measured { samples, failed_trials: vec![] }], &Decision::default()).remove(0);
    assert_eq!((report.verdict, report.confirmation), (Verdict::Regression, None));
}

/// Units of a confirming round, for a design of so many units at most.
fn confirming(log_ratios: &[f64], units: u32) -> Option<u32> {
    confirming_as(build_pairs(units, 0), log_ratios)
}

/// Units of a confirming round, for units of these log ratios, each of all the fork pairs that the design wants.
fn confirming_as(design: Design, log_ratios: &[f64]) -> Option<u32> {
    let (plan, decision) = (plan_of(&["A"], design), Decision::default());
    let each = |d: &f64| vec![*d; design.forks_per_unit as usize];
    let forks = forks(&design, &[&log_ratios.iter().flat_map(each).collect::<Vec<f64>>()]);
    match Monitor::new(&plan, &decision).end(&[&forks])[..] {
        [Standing::Regressed { confirming_units }] => Some(confirming_units),
        [Standing::Settled] => None,
        ref other => panic!("{log_ratios:?}: {other:?}"),
    }
}

#[test]
fn both_rounds_together_have_the_units_that_a_one_sided_test_needs() {
    let mut regressed = 0;
    for case in answers("confirming_units") {
        let (log_ratios, units) = (numbers(&case[0]), case[1].as_u64().unwrap() as u32);
        if log_ratios[3] > 0.0 {
            assert_eq!(confirming(&log_ratios, 20), Some(units), "{log_ratios:?}");
            // Never more in both rounds than the benchmark may have at all.
            assert_eq!(confirming(&log_ratios, 8), Some(units.min(4)), "{log_ratios:?}");
            regressed += 1;
        } else {
            // An improvement is settled and needs no confirmation.
            assert_eq!(confirming(&log_ratios, 20), None);
        }
    }
    assert!(regressed >= 3);
}

#[test]
fn matched_build_pairs_are_seen_again_in_half_the_fork_pairs() {
    let matched = Design { forks_per_unit: 4, places: 2, ..build_pairs(20, 0) };
    assert_eq!(matched.of_round(0), matched);
    assert_eq!(matched.of_round(1), Design { forks_per_unit: 2, ..matched });
    assert_eq!(confirming(&REGRESSED, 20), Some(6));
    // Means of half the fork pairs have twice the variance, by SciPy's noncentral t.
    assert_eq!(confirming_as(matched, &REGRESSED), Some(8));
    let builds: Vec<u32> =
        (0..4).map(|run| Schedule::new(&plan_of(&["A"], matched)).suite_run(1, run)[0].build).collect();
    assert_eq!(builds, [100_000, 100_000, 100_001, 100_001]);
}
