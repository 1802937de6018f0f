//! The rule that makes verdicts, at its edges.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Evidence, judge};
use duetbench_core::spec::Decision;

use crate::support;

const DECISION: Decision = Decision { threshold: 0.03, alpha: 0.01, false_discovery_rate: 0.05, power: 0.8 };

/// Forks whose interval is `centre` plus or minus `half_width` on the logarithmic scale.
fn evidence(centre: f64, half_width: f64) -> Evidence {
    // Five forks with standard error 1 before scaling; 4.604 is the critical t at 1 % with four degrees of freedom.
    let unit = half_width / 4.604_094_871_349_993 * 5f64.sqrt() / 2.5f64.sqrt();
    support::evidence(&[-2.0, -1.0, 0.0, 1.0, 2.0].map(|d| centre + d * unit))
}

fn verdict((centre, half_width): (f64, f64), p_adjusted: f64) -> Verdict {
    let evidence = evidence(centre, half_width);
    let estimate = evidence.estimate(&DECISION, p_adjusted).unwrap();
    assert!((estimate.ratio_low.ln() - (centre - half_width)).abs() < 1e-9);
    judge(&evidence, &estimate, &DECISION).unwrap()
}

#[track_caller]
fn check(interval: (f64, f64), word: &str) {
    assert_eq!(verdict(interval, 0.01).word(), word);
    let mirrored = match word {
        "regression" => "improvement",
        other => other,
    };
    assert_eq!(verdict((-interval.0, interval.1), 0.01).word(), mirrored);
}

#[test]
fn an_interval_inside_the_band_is_no_change() {
    check((0.0, 0.029), "no_change");
    check((0.02, 0.009), "no_change");
}

#[test]
fn a_real_change_that_is_too_small_to_matter_is_no_change() {
    check((0.01, 0.002), "no_change");
}

#[test]
fn the_band_is_symmetric_in_the_ratio() {
    // ln(1.03) = 0.02956 on both sides; a ratio of 0.97 would be -0.03046.
    check((0.0, 0.0295), "no_change");
    check((0.0, 0.0297), "inconclusive");
    check((0.02, 0.01), "regression");
}

#[test]
fn an_interval_beyond_one_that_leaves_the_band_is_a_regression() {
    check((0.05, 0.04), "regression");
    check((0.02, 0.019), "regression");
}

#[test]
fn an_interval_with_one_that_leaves_the_band_decides_nothing() {
    check((0.02, 0.03), "inconclusive");
    check((0.0, 0.5), "inconclusive");
}

#[test]
fn a_change_that_the_suite_does_not_believe_decides_nothing() {
    assert_eq!(verdict((0.05, 0.04), 0.05).word(), "regression");
    assert_eq!(verdict((0.05, 0.04), 0.0501).word(), "inconclusive");
    assert_eq!(verdict((0.01, 0.002), 0.9).word(), "no_change");
}

fn sufficient(interval: (f64, f64), p_adjusted: f64) -> Option<u32> {
    match verdict(interval, p_adjusted) {
        Verdict::Inconclusive { forks_sufficient } => forks_sufficient,
        decided => panic!("decided: {decided:?}"),
    }
}

#[test]
fn what_would_suffice_grows_with_the_spread() {
    let forks = [0.04, 0.08, 0.16].map(|half_width| sufficient((0.0, half_width), 1.0).unwrap());
    assert!(forks[0] > 5 && forks[1] > 2 * forks[0] && forks[2] > 3 * forks[1], "{forks:?}");
    assert_eq!(sufficient((0.0, 5.0), 1.0), None);
}

#[test]
fn half_way_to_the_threshold_takes_the_most() {
    let at = |centre| sufficient((centre, 0.1), 1.0).unwrap();
    assert!(at(0.0148) > 3 * at(0.0) && at(0.0148) > 3 * at(0.0296));
}

#[test]
fn a_doubting_suite_asks_for_more() {
    let (p, interval) = (evidence(0.05, 0.04).p_value, (0.05, 0.04));
    let (few, many) = (sufficient(interval, p * 30.0).unwrap(), sufficient(interval, p * 300.0).unwrap());
    assert!(5 < few && few < many, "{few} {many}");
}
