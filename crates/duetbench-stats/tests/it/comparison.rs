//! Comparisons of two samples: SciPy's answers, the rule, and properties.

use duetbench_stats::{
    Comparison, Estimate, Interval, StatsError, StudentisedBootstrap, Threshold, Verdict, Welch, studentised_interval,
};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};

use crate::reference::{close, numbers, test_answers};
use crate::same_cases;

#[track_caller]
fn is_scipys(ours: Estimate, ratio_low_high: &[f64]) {
    let Interval { low, high } = ours.interval();
    for (ours, scipys) in [ours.ratio(), low, high].into_iter().zip(ratio_low_high) {
        close(ours, *scipys, 1e-10);
    }
}

#[test]
fn ratios_and_intervals_are_scipys() {
    let mut paired = 0;
    for case in test_answers("comparisons") {
        let (base, head) = (numbers(&case["base"]), numbers(&case["head"]));
        let confidence = case["confidence"].as_f64().expect("a number");
        if case["paired"].is_array() {
            let comparison = Comparison::paired(&base, &head).unwrap();
            is_scipys(comparison.estimate(confidence).unwrap(), &numbers(&case["paired"]));
            paired += 1;
        }
        let comparison = Comparison::unpaired(&base, &head).unwrap();
        is_scipys(comparison.estimate(confidence).unwrap(), &numbers(&case["yuen"]));
        is_scipys(comparison.estimate_by(&Welch, confidence).unwrap(), &numbers(&case["welch"]));
    }
    assert_eq!(paired, 10);
}

/// The verdict on pairs whose 90 % interval is `centre` plus or minus `half_width` on the logarithmic scale.
fn verdict(centre: f64, half_width: f64, percent: f64) -> Verdict {
    // The critical t at 10 % with four degrees of freedom, and five values with variance 2.5.
    let unit = half_width / 2.131_846_786_326_65 * 5f64.sqrt() / 2.5f64.sqrt();
    let head = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|d| (centre + d * unit).exp());
    let estimate = Comparison::paired(&[1.0; 5], &head).unwrap().estimate(0.9).unwrap();
    assert!((estimate.interval().low.ln() - (centre - half_width)).abs() < 1e-9);
    estimate.judge(Threshold::percent(percent).unwrap())
}

#[test]
fn an_answer_needs_the_whole_interval_on_one_side_of_the_threshold() {
    // ln(1.03) = 0.02956 on both sides; a ratio of 0.97 would be -0.03046.
    let table = [
        ((0.0, 0.0295), Verdict::NoChange),
        ((0.0, 0.0297), Verdict::Open),
        ((0.01, 0.002), Verdict::NoChange),
        ((0.0396, 0.01), Verdict::Slower),
        ((0.0395, 0.01), Verdict::Open),
        ((0.03, 0.001), Verdict::Open),
    ];
    for ((centre, half_width), word) in table {
        let mirrored = if word == Verdict::Slower { Verdict::Faster } else { word };
        assert_eq!(verdict(centre, half_width, 3.0), word, "{centre} ± {half_width}");
        assert_eq!(verdict(-centre, half_width, 3.0), mirrored, "{} ± {half_width}", -centre);
    }
    assert_eq!(verdict(0.002, 0.001, 0.0), Verdict::Slower);
    assert_eq!(verdict(0.002, 0.003, 0.0), Verdict::Open);
}

#[test]
fn an_interval_without_a_bound_leaves_the_answer_open() {
    let comparison = Comparison::paired(&[1.0; 3], &[1.5, 1.6, 1.7]).unwrap();
    let estimate = comparison.estimate_by(&StudentisedBootstrap, 0.99).unwrap();
    assert_eq!(estimate.interval(), Interval { low: 0.0, high: f64::INFINITY });
    assert_eq!(estimate.judge(Threshold::percent(2.0).unwrap()), Verdict::Open);
    assert_eq!((estimate.method(), estimate.confidence()), ("mean, studentised bootstrap", 0.99));
}

#[test]
fn times_that_cannot_be_compared_are_refused() {
    const THREE: [f64; 3] = [1.0, 2.0, 3.0];
    let paired: fn(&[f64]) -> Result<(), StatsError> = |head| Comparison::paired(&THREE, head).map(|_| ());
    let unpaired: fn(&[f64]) -> Result<(), StatsError> = |head| Comparison::unpaired(&THREE, head).map(|_| ());
    assert_eq!(paired(&[1.0; 4]), Err(StatsError::UnequalLengths { base: 3, head: 4 }));
    assert_eq!(Comparison::paired(&[1.0; 2], &[1.0; 2]), Err(StatsError::TooFew { have: 2, needed: 3 }));
    assert_eq!(unpaired(&[1.0; 2]), Err(StatsError::TooFew { have: 2, needed: 3 }));
    for refused in [paired, unpaired] {
        assert_eq!(refused(&[1.0, f64::NAN, 1.0]), Err(StatsError::NotFinite));
        assert_eq!(refused(&[1.0, f64::INFINITY, 1.0]), Err(StatsError::NotFinite));
        assert_eq!(refused(&[1.0, 0.0, 1.0]), Err(StatsError::OutOfRange { name: "time", value: 0.0 }));
        assert_eq!(refused(&[1.0, -1.0, 1.0]), Err(StatsError::OutOfRange { name: "time", value: -1.0 }));
    }
    let comparison = Comparison::paired(&THREE, &THREE).unwrap();
    for confidence in [0.0, 1.0, 99.0, f64::NAN] {
        let refused = comparison.estimate(confidence);
        assert!(matches!(refused, Err(StatsError::OutOfRange { name: "confidence", .. })), "{refused:?}");
    }
    for percent in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = Threshold::percent(percent);
        assert!(matches!(refused, Err(StatsError::OutOfRange { name: "threshold", .. })), "{refused:?}");
    }
}

/// Pairs of times that differ by a tenth at most.
fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    vec((0.95..1.05f64, 0.95..1.05f64), 3..30).prop_map(|pairs| pairs.into_iter().unzip())
}

/// The same comparison of pairs and of two samples, by every method.
fn estimates(base: &[f64], head: &[f64], confidence: f64) -> Vec<Estimate> {
    let (paired, unpaired) = (Comparison::paired(base, head).unwrap(), Comparison::unpaired(base, head).unwrap());
    vec![
        paired.estimate(confidence).unwrap(),
        paired.estimate_by(&StudentisedBootstrap, confidence).unwrap(),
        unpaired.estimate(confidence).unwrap(),
        unpaired.estimate_by(&Welch, confidence).unwrap(),
    ]
}

/// Whether both are the same but for rounding, or have no bound on the same side.
fn near(a: f64, b: f64) -> bool {
    a == b || (a / b - 1.0).abs() < 1e-6
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(base in vec(ANY, 0..9), head in vec(ANY, 0..9), confidence in ANY, percent in ANY) {
        let positive = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v.abs()).collect() };
        for (base, head) in [(base.clone(), head.clone()), (positive(&base), positive(&head))] {
            for confidence in [confidence, 0.99] {
                let paired = Comparison::paired(&base, &head).and_then(|c| c.estimate(confidence));
                let unpaired = Comparison::unpaired(&base, &head).and_then(|c| c.estimate(confidence));
                for estimate in [paired, unpaired].into_iter().flatten() {
                    prop_assert!(estimate.ratio().is_finite() && !estimate.interval().low.is_nan());
                    let _ = Threshold::percent(percent).map(|threshold| estimate.judge(threshold));
                }
            }
        }
    }

    #[test]
    fn base_and_head_exchanged_invert_the_ratio((base, head) in pairs(), percent in 0.0..20.0f64) {
        let threshold = Threshold::percent(percent).unwrap();
        for (ours, swapped) in estimates(&base, &head, 0.9).into_iter().zip(estimates(&head, &base, 0.9)) {
            prop_assert!(near(ours.ratio(), swapped.ratio().recip()));
            let (ours_at, swapped_at) = (ours.interval(), swapped.interval());
            prop_assert!(near(ours_at.low, swapped_at.high.recip()) && near(ours_at.high, swapped_at.low.recip()));
            let mirrored = match ours.judge(threshold) {
                Verdict::Slower => Verdict::Faster,
                Verdict::Faster => Verdict::Slower,
                other => other,
            };
            prop_assert_eq!(swapped.judge(threshold), mirrored);
        }
    }

    #[test]
    fn the_unit_of_time_does_not_matter((base, head) in pairs(), scale in 1e-9..1e9f64) {
        let scaled = |times: &[f64]| -> Vec<f64> { times.iter().map(|time| time * scale).collect() };
        for (ours, scaled) in estimates(&base, &head, 0.9).into_iter().zip(estimates(&scaled(&base), &scaled(&head), 0.9)) {
            prop_assert!(near(ours.ratio(), scaled.ratio()));
            let (ours, scaled) = (ours.interval(), scaled.interval());
            prop_assert!(near(ours.low, scaled.low) && near(ours.high, scaled.high));
        }
    }

    #[test]
    fn a_wider_threshold_shows_no_change_that_a_narrower_one_does_not((base, head) in pairs(), percent in 0.0..20.0f64, more in 0.0..20.0f64) {
        let (narrow, wide) = (Threshold::percent(percent).unwrap(), Threshold::percent(percent + more).unwrap());
        for estimate in estimates(&base, &head, 0.9) {
            match estimate.judge(narrow) {
                Verdict::NoChange => prop_assert_eq!(estimate.judge(wide), Verdict::NoChange),
                Verdict::Open => prop_assert!(matches!(estimate.judge(wide), Verdict::NoChange | Verdict::Open)),
                _ => {}
            }
        }
    }

    #[test]
    fn more_confidence_never_turns_an_open_answer_into_another((base, head) in pairs(), percent in 0.0..20.0f64) {
        let threshold = Threshold::percent(percent).unwrap();
        for (less, more) in estimates(&base, &head, 0.9).into_iter().zip(estimates(&base, &head, 0.99)) {
            let (less, more) = (less.judge(threshold), more.judge(threshold));
            prop_assert!(more == less || more == Verdict::Open, "{less:?} {more:?}");
        }
    }

    #[test]
    fn the_studentised_bootstrap_is_that_of_the_log_ratios((base, head) in pairs()) {
        let log_ratios: Vec<f64> = base.iter().zip(&head).map(|(base, head)| head.ln() - base.ln()).collect();
        let ours = Comparison::paired(&base, &head).unwrap().estimate_by(&StudentisedBootstrap, 0.95).unwrap().interval();
        let right = studentised_interval(&log_ratios, 0.95).unwrap();
        prop_assert_eq!((ours.low, ours.high), (right.low.exp(), right.high.exp()));
    }
}
