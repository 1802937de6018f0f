//! The rule that makes verdicts, at its edges.

use std::collections::BTreeSet;

use duetbench_core::analysis::{Basis, Evidence, Hidden, Ranged, RatioInterval, judge};
use duetbench_core::spec::Decision;
use duetbench_core::stats::Threshold;
use duetbench_core::verdict::Extent;
use duetbench_core::{Verdict, stats};

use crate::support;

const DECISION: Decision =
    Decision { threshold: 0.03, alpha: 0.01, false_discovery_rate: 0.05, power: 0.8, typed: false };

/// Log ratios whose interval is `centre` plus or minus `half_width`.
fn log_ratios(centre: f64, half_width: f64) -> [f64; 5] {
    // Five forks with standard error 1 before scaling; 2.132 is the critical t at 10 % with four degrees of freedom.
    let unit = half_width / 2.131_846_786_326_65 * 5f64.sqrt() / 2.5f64.sqrt();
    [-2.0, -1.0, 0.0, 1.0, 2.0].map(|d| centre + d * unit)
}

/// Forks with that interval.
fn evidence(centre: f64, half_width: f64) -> Evidence {
    support::evidence(&log_ratios(centre, half_width))
}

/// The verdict where the suite adjusts the p-value to this.
fn adjusted(centre: f64, half_width: f64, p_adjusted: f64) -> Verdict {
    let evidence = evidence(centre, half_width);
    let estimate = evidence.estimate(&DECISION, p_adjusted).unwrap();
    assert!((estimate.ratio_low.ln() - (centre - half_width)).abs() < 1e-9);
    judge(&evidence, &estimate, &DECISION).unwrap()
}

fn verdict(interval: (f64, f64)) -> Verdict {
    adjusted(interval.0, interval.1, evidence(interval.0, interval.1).p_value)
}

#[track_caller]
fn check(interval: (f64, f64), word: &str) {
    assert_eq!(verdict(interval).word(), word);
    let mirrored = match word {
        "regression" => "improvement".into(),
        other => other.replace("slower", "faster"),
    };
    assert_eq!(verdict((-interval.0, interval.1)).word(), mirrored);
}

#[test]
fn an_interval_inside_the_band_is_no_change() {
    check((0.0, 0.029), "no_change");
    check((0.018, 0.009), "no_change");
}

#[test]
fn a_real_change_that_is_too_small_to_matter_is_within_tolerance() {
    check((0.01, 0.002), "slower_within_tolerance");
    check((0.02, 0.004), "slower_within_tolerance");
}

#[test]
fn the_band_is_symmetric_in_the_ratio() {
    // ln(1.03) = 0.02956 on both sides; a ratio of 0.97 would be -0.03046.
    check((0.0, 0.0295), "no_change");
    check((0.0, 0.0297), "inconclusive");
    check((0.0396, 0.01), "regression");
    check((0.0395, 0.01), "slower_size_open");
}

#[test]
fn an_interval_beyond_the_threshold_is_a_regression() {
    check((0.05, 0.02), "regression");
    check((0.5, 0.1), "regression");
}

#[test]
fn a_real_change_around_the_threshold_has_an_open_size() {
    check((0.03, 0.01), "slower_size_open");
    check((0.05, 0.022), "slower_size_open");
}

#[test]
fn an_interval_with_one_that_leaves_the_band_decides_nothing() {
    check((0.02, 0.03), "inconclusive");
    check((0.0, 0.5), "inconclusive");
}

#[test]
fn a_change_that_is_hardly_shown_is_none() {
    // The interval excludes 1, but p is above 1 %.
    let interval = (0.015, 0.0145);
    assert!(evidence(interval.0, interval.1).p_value > 0.01);
    check(interval, "no_change");
    check((0.05, 0.03), "inconclusive");
}

#[test]
fn a_change_that_the_suite_does_not_believe_decides_nothing() {
    assert_eq!(adjusted(0.06, 0.02, 0.05).word(), "regression");
    assert_eq!(adjusted(0.06, 0.02, 0.0501).word(), "inconclusive");
    assert_eq!(adjusted(0.01, 0.002, 0.9).word(), "no_change");
}

#[test]
fn a_comparison_of_the_statistics_alone_has_the_same_boundary() {
    let threshold = Threshold::fraction(DECISION.threshold).unwrap();
    let grid = |steps: std::ops::Range<i32>, step: f64| steps.map(move |i| f64::from(i) * step + 1e-5);
    let mut seen = BTreeSet::new();
    for (centre, half_width) in grid(-25..25, 0.004).flat_map(|c| grid(1..10, 0.005).map(move |h| (c, h))) {
        let head = log_ratios(centre, half_width).map(f64::exp);
        let estimate = stats::Comparison::paired(&[1.0; 5], &head).unwrap().estimate(0.9).unwrap();
        let agree: &[&str] = match estimate.judge(threshold) {
            // Where p exceeds alpha, `duet` leaves it open.
            stats::Verdict::Slower => &["regression", "inconclusive"],
            stats::Verdict::Faster => &["improvement", "inconclusive"],
            stats::Verdict::NoChange => &["no_change", "slower_within_tolerance", "faster_within_tolerance"],
            stats::Verdict::Open => &["slower_size_open", "faster_size_open", "inconclusive"],
        };
        let word = verdict((centre, half_width)).word();
        assert!(agree.contains(&word), "{centre} ± {half_width}: {word}, and not one of {agree:?}");
        seen.insert(word);
    }
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[test]
fn what_few_slices_pay_for_does_not_hide_behind_the_typical_one() {
    let of = |centre: f64, half_width: f64, low: f64, high: f64| {
        let evidence = evidence(centre, half_width);
        let beside = Some(Ranged { basis: Basis::AllSlices, ratio: 1.0, interval: RatioInterval { low, high } });
        let estimate = duetbench_core::Estimate { beside, ..evidence.estimate(&DECISION, evidence.p_value).unwrap() };
        judge(&evidence, &estimate, &DECISION).unwrap()
    };
    assert_eq!(of(0.0, 0.01, 0.98, 1.029).word(), "no_change");
    assert_eq!(of(0.0, 0.01, 0.98, 1.031).word(), "inconclusive");
    assert_eq!(of(0.0, 0.01, 0.97, 1.0).word(), "inconclusive");
    assert_eq!(of(0.01, 0.002, 0.98, 1.06).word(), "slower_size_open");
    // A change that exceeds the threshold does so whatever few slices say.
    assert_eq!(of(0.06, 0.01, 0.5, 2.0).word(), "regression");
}

#[test]
fn nothing_settles_what_the_number_beside_the_judged_one_leaves_open() {
    let of = |centre: f64| {
        let own = evidence(0.0, 0.01);
        let evidence = Evidence { beside: Some(evidence(centre, 0.04).log_ratio), ..own };
        let estimate = evidence.estimate(&DECISION, evidence.p_value).unwrap();
        let verdict = judge(&evidence, &estimate, &DECISION).unwrap();
        assert!(verdict.is_open(), "{verdict:?}");
        verdict.forks_sufficient()
    };
    assert!(of(0.01).is_some());
    assert_eq!(of(0.04), None);
}

#[test]
fn what_is_hidden_narrows_the_band_and_is_added_to_what_is_detected() {
    let of = |centre: f64, hidden_share: f64| {
        let evidence = Evidence { hidden: Hidden::at_most(hidden_share), ..evidence(centre, 0.02) };
        let estimate = evidence.estimate(&DECISION, evidence.p_value).unwrap();
        (estimate.minimal_detectable_change, judge(&evidence, &estimate, &DECISION).unwrap().forks_sufficient())
    };
    let ((seen, all), (true_one, hidden)) = (of(0.02, 0.0), of(0.02, 0.2));
    assert!((true_one - seen / 0.8).abs() < 1e-12 && hidden > all && all.is_some(), "{hidden:?} {all:?}");
    // A change that is seen as 2.5 % may be 3.1 %, and is never seen above 3 %.
    assert_eq!((of(0.025, 0.2).1, of(0.025, 0.0).1.is_some()), (None, true));
}

fn sufficient(interval: (f64, f64)) -> Option<u32> {
    let verdict = verdict(interval);
    assert!(verdict.is_open(), "decided: {verdict:?}");
    verdict.forks_sufficient()
}

#[test]
fn what_would_suffice_makes_the_p_value_small_as_well() {
    // Far beyond its threshold the interval is soon clear of it.
    let decision = Decision { threshold: 0.001, ..DECISION };
    let evidence = evidence(0.03, 0.04);
    let estimate = evidence.estimate(&decision, evidence.p_value).unwrap();
    let units = judge(&evidence, &estimate, &decision).unwrap().forks_sufficient().unwrap();
    let power = |units: u32| {
        let df = f64::from(stats::degrees_of_freedom(units));
        let in_errors = 0.03 / evidence.log_ratio.cautious_spread().unwrap() * f64::from(units).sqrt();
        let critical = stats::critical_t(evidence.last.errors.changed, df).unwrap();
        stats::noncentral_t_survival(critical, df, in_errors).unwrap()
    };
    assert!(power(units) >= 0.8 && power(units - 1) < 0.8, "{units}: {} {}", power(units), power(units - 1));
}

#[test]
fn what_would_suffice_grows_with_the_spread() {
    let forks = [0.04, 0.08, 0.16].map(|half_width| sufficient((0.0, half_width)).unwrap());
    assert!(forks[0] > 5 && forks[1] > 2 * forks[0] && forks[2] > 3 * forks[1], "{forks:?}");
    assert_eq!(sufficient((0.0, 5.0)), None);
}

#[test]
fn near_the_threshold_takes_the_most() {
    let at = |centre| sufficient((centre, 0.1)).unwrap();
    assert!(at(0.0148) > 2 * at(0.0) && at(0.0444) > 2 * at(0.0) && at(0.08) < at(0.05));
    assert_eq!(verdict((0.03, 0.01)).settled_by(Some(7)), Verdict::Slower(Extent::Open { forks_sufficient: Some(7) }));
}
