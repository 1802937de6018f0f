//! Segments of a series. The known answers are in `tests/reference/changepoints.json`, made by `make_changepoints.py` there.

use duetbench_stats::{StatsError, changepoints};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{prop_assert, proptest};

use crate::noise_support::Noise;
use crate::reference::{changepoints_answers, numbers};
use crate::same_cases;

#[test]
fn segments_are_the_optimum_that_trying_everything_finds() {
    let cases = changepoints_answers();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let (values, changes) = (numbers(&case["values"]), numbers(&case["changes"]));
        let ours = changepoints(&values, case["penalty"].as_f64().unwrap()).unwrap();
        assert_eq!(ours.iter().map(|c| *c as f64).collect::<Vec<_>>(), changes, "{} values", values.len());
    }
}

/// The cost of the values between two places, from its definition.
fn segment_cost(values: &[f64], floor: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    n * (variance.max(floor).ln() + variance / variance.max(floor))
}

fn floor(values: &[f64]) -> f64 {
    1e-8 * values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64
}

/// The cost of a segmentation.
fn cost(values: &[f64], changes: &[usize], penalty: f64) -> f64 {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain([values.len()]);
    let segments = starts.zip(ends).map(|(start, end)| segment_cost(&values[start..end], floor(values)));
    segments.sum::<f64>() + penalty * changes.len() as f64
}

/// The least cost of any segmentation into segments of at least two values, by trying every last change of every beginning.
fn least_cost(values: &[f64], penalty: f64) -> f64 {
    let mut best = vec![f64::INFINITY; values.len() + 1];
    best[0] = -penalty;
    for end in 2..=values.len() {
        let totals = (0..=end - 2).map(|s| best[s] + segment_cost(&values[s..end], floor(values)) + penalty);
        best[end] = totals.fold(f64::INFINITY, f64::min);
    }
    best[values.len()]
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn no_segmentation_costs_less(
        parts in vec((5.0..20.0f64, 0.01..2.0f64, 1..25usize), 1..6),
        factor in 0.0..20.0f64,
        seed in 0..1000u64,
        grid in 0..2u8,
    ) {
        let mut noise = Noise::new(seed);
        let mut values: Vec<f64> =
            parts.iter().flat_map(|(mean, sd, n)| vec![(*mean, *sd); *n]).map(|(m, sd)| m + sd * noise.normal()).collect();
        if grid == 1 {
            values.iter_mut().for_each(|v| *v = v.round());
        }
        values.resize(values.len().max(2), 7.0);
        let penalty = factor * (values.len() as f64).ln();
        let found = changepoints(&values, penalty).unwrap();
        prop_assert!(found.is_sorted() && found.iter().all(|c| *c >= 2 && *c + 2 <= values.len()));
        let (ours, least) = (cost(&values, &found, penalty), least_cost(&values, penalty));
        prop_assert!((ours - least).abs() <= 1e-6 * (1.0 + least.abs()), "{ours} {least}");
    }

    #[test]
    fn nothing_panics_whatever_comes_in(values in vec(ANY, 0..40), penalty in ANY) {
        let _ = changepoints(&values, penalty);
    }
}

#[test]
fn what_is_no_series_has_no_segments() {
    assert_eq!(changepoints(&[], 1.0), Err(StatsError::TooFew { have: 0, needed: 1 }));
    assert_eq!(changepoints(&[1.0, f64::NAN], 1.0), Err(StatsError::NotFinite));
    assert!(matches!(changepoints(&[1.0], -1.0), Err(StatsError::OutOfRange { name: "penalty", .. })));
    assert_eq!(changepoints(&[0.0; 20], 1.0), Ok(vec![]));
    assert_eq!(changepoints(&[3.0], 1.0), Ok(vec![]));
}
