//! Regressions that later rounds of fresh trials see again, or do not.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Measured, Monitor, Round, Standing, Warning, analyse};
use duetbench_core::plan::{Design, Plan};
use duetbench_core::report::{BenchmarkReport, ForkPair};
use duetbench_core::spec::Decision;
use duetbench_core::stats::two_sided_p;

use crate::reference::{answers, close, numbers};
use crate::support::{build_pairs, placed, plan_of, samples_of};

/// Spread around a change of 10 % so that three units confirm it.
const REGRESSED: [f64; 8] = [0.1, 0.11, 0.09, 0.1, 0.105, 0.095, 0.1, 0.1];

fn plan(confirm_rounds: u32) -> Plan {
    Plan { confirm_rounds, ..plan_of(&["A"], build_pairs(8, 0)) }
}

fn forks(design: &Design, rounds: &[&[f64]]) -> Vec<ForkPair> {
    let of_round = |(round, d): (u32, &&[f64])| -> Vec<ForkPair> {
        (0..).zip(*d).map(|(run, d)| placed(design, (round, run), *d)).collect()
    };
    (0..).zip(rounds).flat_map(of_round).collect()
}

/// What is reported when the rounds, the first included, gave these log ratios and two more were wanted.
fn report(rounds: &[&[f64]]) -> BenchmarkReport {
    let samples = samples_of(&forks(&build_pairs(8, 0), rounds));
    analyse(&plan(2), &[Measured { samples, failed_trials: vec![] }], &Decision::default()).remove(0)
}

fn rounds(report: &BenchmarkReport) -> &[Round] {
    &report.confirmation.as_ref().expect("rounds").rounds
}

#[test]
fn what_two_rounds_see_again_is_confirmed() {
    let report = report(&[&REGRESSED, &[0.09, 0.1, 0.11], &[0.05, 0.06, 0.07]]);
    let confirmation = report.confirmation.as_ref().unwrap();
    assert!(confirmation.confirmed() && confirmation.contradiction().is_none());
    assert_eq!((report.verdict, confirmation.wanted, report.warnings), (Verdict::Regression, 2, vec![]));
    let [first, second] = &confirmation.rounds[..] else { panic!("{confirmation:?}") };
    // Their own estimates, and half of the two-sided p: standard error 0.01 / sqrt(3), two degrees of freedom.
    for (round, mean) in [(first, 0.1f64), (second, 0.06)] {
        assert!((round.ratio - mean.exp()).abs() < 1e-8 && round.units == 3 && round.seen, "{round:?}");
        close(round.p_value, two_sided_p(mean / (0.01 / 3f64.sqrt()), 2.0).unwrap() / 2.0, 1e-5);
    }
    // The first round alone is what is estimated, though all fork pairs are reported.
    assert_eq!((report.estimate.unwrap().counts.units, report.estimate.unwrap().counts.forks), (8, 8));
    assert_eq!(report.forks.len(), 14);
}

#[test]
fn a_round_that_does_not_see_it_leaves_the_question_open() {
    for (later, p_above) in [([-0.01, 0.0, 0.02], 0.05), ([-0.09, -0.1, -0.11], 0.99)] {
        let report = report(&[&REGRESSED, &[0.09, 0.1, 0.11], &later]);
        assert_eq!(report.verdict, Verdict::Inconclusive { forks_sufficient: None });
        let [seen, unseen] = rounds(&report) else { panic!("{report:?}") };
        assert!(seen.seen && !unseen.seen && unseen.p_value > p_above, "{unseen:?}");
        let confirmation = report.confirmation.as_ref().unwrap();
        assert!(confirmation.contradiction().is_some() && !confirmation.confirmed());
        let ratio = report.estimate.unwrap().ratio;
        assert_eq!(report.warnings, [Warning::NotConfirmed { ratio, later: unseen.ratio }]);
    }
}

#[test]
fn the_first_round_that_contradicts_is_named() {
    let report = report(&[&REGRESSED, &[-0.01, 0.0, 0.01], &[-0.02, -0.01, 0.0]]);
    assert!(matches!(report.warnings[..], [Warning::NotConfirmed { later, .. }] if (later - 1.0).abs() < 1e-8));
}

#[test]
fn a_missing_round_neither_confirms_nor_contradicts() {
    let report_of_one = report(&[&REGRESSED, &[0.09, 0.1, 0.11]]);
    let confirmation = report_of_one.confirmation.unwrap();
    assert_eq!((confirmation.rounds.len(), confirmation.wanted), (1, 2));
    assert!(!confirmation.confirmed() && confirmation.contradiction().is_none());
    assert_eq!((report_of_one.verdict, report_of_one.warnings), (Verdict::Regression, vec![]));
    let report_of_none = report(&[&REGRESSED]);
    assert_eq!((report_of_none.verdict, report_of_none.confirmation), (Verdict::Regression, None));
}

#[test]
fn a_round_that_was_cut_short_contradicts_nothing() {
    for later in [&[0.0, 0.001][..], &[0.0], &[]] {
        let report = report(&[&REGRESSED, &[0.09, 0.1, 0.11], later]);
        assert_eq!((report.verdict.word(), rounds(&report).len()), ("regression", 1), "{later:?}");
    }
    // But what it saw, it saw.
    let report = report(&[&REGRESSED, &[0.1, 0.1001]]);
    assert_eq!(rounds(&report).iter().map(|r| (r.units, r.seen)).collect::<Vec<_>>(), [(2, true)]);
}

#[test]
fn only_regressions_are_confirmed_and_only_in_rounds_that_were_wanted() {
    let later: &[f64] = &[0.0, 0.001, -0.001];
    let faster = REGRESSED.map(|d| -d);
    let none = REGRESSED.map(|d| d - 0.1);
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
    let design = build_pairs(units, 0);
    let (plan, decision) = (plan_of(&["A"], design), Decision::default());
    let forks = forks(&design, &[log_ratios]);
    match Monitor::new(&plan, &decision).end(&[&forks])[..] {
        [Standing::Regressed { confirming_units }] => Some(confirming_units),
        _ => None,
    }
}

#[test]
fn a_round_has_the_units_that_a_one_sided_test_needs() {
    let mut regressed = 0;
    for case in answers("confirming_units") {
        let (log_ratios, units) = (numbers(&case[0]), case[1].as_u64().unwrap() as u32);
        if log_ratios[3] > 0.0 {
            assert_eq!(confirming(&log_ratios, 20), Some(units), "{log_ratios:?}");
            // Never more than the benchmark may have at all.
            assert_eq!(confirming(&log_ratios, 8), Some(units.min(8)), "{log_ratios:?}");
            regressed += 1;
        } else {
            // An improvement is settled and needs no confirmation.
            assert_eq!(confirming(&log_ratios, 20), None);
        }
    }
    assert!(regressed >= 4);
}

#[test]
fn a_round_has_three_units_at_least() {
    assert_eq!(confirming(&[0.1, 0.1001, 0.0999, 0.1], 20), Some(3));
}
