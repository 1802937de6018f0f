//! Properties of the bootstrap intervals, and what resampling itself says of them.

use duetbench_stats::{
    Interval, Moments, Nested, StatsError, mean, mean_difference_interval, mean_interval, mean_interval_screen, median,
    median_interval, studentised_interval,
};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::noise_support::Noise;
use crate::same_cases;

type Method = fn(&[f64], f64) -> Result<Interval, StatsError>;

/// Methods, each with the part of its width by which it may differ on the same values in other units.
const METHODS: [(Method, f64); 3] = [(median_interval, 1e-9), (mean_interval, 1e-6), (studentised_interval, 1e-6)];

fn samples() -> impl Strategy<Value = Vec<f64>> {
    vec(0.5..1.5f64, 2..40)
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance
}

/// Whether an interval is the other one, but for a part of its width.
fn same(a: Interval, b: Interval, part: f64) -> bool {
    let unit = if b.width().is_finite() { b.width() } else { 1.0 } * part + 1e-12;
    near(a.low, b.low, unit) && near(a.high, b.high, unit)
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(list in vec(ANY, 0..20), confidence in ANY, size in 0..4usize) {
        for confidence in [confidence, 0.99] {
            for (method, _) in METHODS {
                if let Ok(interval) = method(&list, confidence) {
                    prop_assert!(interval.low <= interval.high, "{interval:?}");
                }
            }
            if let Ok(sample) = Nested::of(&[size, list.len() / size.max(1)], &list) {
                let _ = mean_difference_interval(sample, sample, confidence);
            }
            if let Ok(moments) = Moments::of(&list) {
                let _ = mean_interval_screen(&moments, confidence);
            }
        }
    }

    #[test]
    fn other_units_and_another_zero_give_the_same_interval_in_them(
        values in samples(), scale in 0.01..100.0f64, shift in -10.0..10.0f64,
    ) {
        let moved: Vec<f64> = values.iter().map(|v| v * scale + shift).collect();
        for (method, part) in METHODS {
            let before = method(&values, 0.9).unwrap();
            let expected = Interval { low: before.low * scale + shift, high: before.high * scale + shift };
            let ours = method(&moved, 0.9).unwrap();
            prop_assert!(same(ours, expected, part), "{ours:?} {expected:?}");
        }
    }

    #[test]
    fn the_mirror_image_has_the_mirrored_interval(values in samples(), centre in -3.0..3.0f64) {
        let mirrored: Vec<f64> = values.iter().map(|v| centre - v).collect();
        for (method, _) in METHODS {
            let before = method(&values, 0.95).unwrap();
            let expected = Interval { low: centre - before.high, high: centre - before.low };
            let ours = method(&mirrored, 0.95).unwrap();
            // The grid of the convolution is laid out from the least value.
            prop_assert!(same(ours, expected, 2e-3), "{ours:?} {expected:?}");
        }
    }

    #[test]
    fn the_order_of_values_does_not_matter(values in samples(), seed in 0..1000u64) {
        let mut shuffled = values.clone();
        shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        for (method, _) in METHODS {
            let (ours, before) = (method(&shuffled, 0.99).unwrap(), method(&values, 0.99).unwrap());
            prop_assert!(same(ours, before, 2e-3), "{ours:?} {before:?}");
        }
    }

    #[test]
    fn more_confidence_takes_a_wider_interval(values in samples()) {
        for (method, _) in METHODS {
            let intervals: Vec<Interval> =
                [0.5, 0.8, 0.9, 0.95, 0.99, 0.999].iter().map(|c| method(&values, *c).unwrap()).collect();
            for pair in intervals.windows(2) {
                prop_assert!(pair[1].low <= pair[0].low && pair[0].high <= pair[1].high, "{pair:?}");
            }
        }
    }

    #[test]
    fn intervals_lie_around_the_estimate_and_percentile_ones_within_the_values(values in samples()) {
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, m), v| (l.min(*v), m.max(*v)));
        for (method, estimate) in [(METHODS[0].0, median(&values)), (METHODS[1].0, mean(&values))] {
            let (interval, estimate) = (method(&values, 0.99).unwrap(), estimate.unwrap());
            prop_assert!(interval.low <= estimate && estimate <= interval.high, "{interval:?} {estimate}");
            let grain = 1e-3 * (most - least);
            prop_assert!(interval.low >= least - grain && interval.high <= most + grain, "{interval:?}");
        }
    }

    #[test]
    fn values_that_are_all_the_same_have_no_width(value in 0.001..1e6f64, n in 2..50usize) {
        for (method, _) in METHODS {
            let interval = method(&vec![value; n], 0.99).unwrap();
            prop_assert_eq!((interval.low, interval.high, interval.width()), (value, value, 0.0));
        }
    }

    #[test]
    fn runs_without_spread_are_their_values_drawn_at_the_outer_level_only(values in vec(0.5..1.5f64, 3..12)) {
        let doubled: Vec<f64> = values.iter().flat_map(|v| [*v; 2]).collect();
        let shape = [values.len(), 2];
        let zero = Nested::of(&[1], &[0.0]).unwrap();
        let nested = mean_difference_interval(zero, Nested::of(&shape, &doubled).unwrap(), 0.9).unwrap();
        let flat = mean_interval(&values, 0.9).unwrap();
        // One of the two is enumerated where there are up to eight values: atoms against their neighbourhood.
        let part = if values.len() <= 8 { 0.25 } else { 2e-3 };
        prop_assert!(same(nested, flat, part), "{nested:?} {flat:?}");
    }
}

/// Shares of many resamples whose statistic is below and above an interval, strictly and not.
struct Shares {
    below: (f64, f64),
    above: (f64, f64),
}

const DRAWS: usize = 40_000;

fn shares(values: &[f64], interval: Interval, statistic: fn(&mut [f64]) -> f64) -> Shares {
    let mut random = ChaCha8Rng::seed_from_u64(20_190_409);
    let mut counts = [0.0; 4];
    let mut resample = vec![0.0; values.len()];
    // The same sum in another order may differ in its last digits, so values this near to each other count as one.
    let grain = 1e-9 * interval.width();
    for _ in 0..DRAWS {
        resample.iter_mut().for_each(|v| *v = values[random.random_range(0..values.len())]);
        let found = statistic(&mut resample);
        let is = [
            found < interval.low - grain,
            found <= interval.low + grain,
            found > interval.high + grain,
            found >= interval.high - grain,
        ];
        counts.iter_mut().zip(is).for_each(|(count, is)| *count += f64::from(u8::from(is)));
    }
    let share = counts.map(|count| count / DRAWS as f64);
    Shares { below: (share[0], share[1]), above: (share[2], share[3]) }
}

fn plain_mean(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn plain_median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[test]
fn resampling_finds_the_tails_that_the_intervals_leave_out() {
    let mut noise = Noise::new(3);
    let mut most = 0.0_f64;
    for n in [3, 6, 8, 9, 12, 15, 24, 45, 60] {
        for rounded in [false, true] {
            let round = |v: f64| if rounded { (v * 10.0).round() / 10.0 } else { v };
            let values: Vec<f64> = (0..n).map(|_| round(20.0 + noise.t3())).collect();
            for (method, statistic) in
                [(METHODS[0].0, plain_median as fn(&mut [f64]) -> f64), (METHODS[1].0, plain_mean)]
            {
                for confidence in [0.8, 0.99] {
                    let tail = (1.0 - confidence) / 2.0;
                    let error = (tail * (1.0 - tail) / DRAWS as f64).sqrt();
                    let found = shares(&values, method(&values, confidence).unwrap(), statistic);
                    for (strictly, not_strictly) in [found.below, found.above] {
                        let off = (strictly - tail).max(tail - not_strictly).max(0.0) / error;
                        assert!(off < 4.0, "{values:?} at {confidence}: {off} errors off");
                        most = most.max(off);
                    }
                }
            }
        }
    }
    // If nothing were ever a little off, the comparison would be blind.
    assert!(most > 1.0, "{most}");
}

/// The share of samples of `n` normal values whose interval holds the true centre.
fn coverage(method: Method, n: usize, experiments: u32) -> f64 {
    let mut noise = Noise::new(11);
    let covers = |_| {
        let values: Vec<f64> = (0..n).map(|_| noise.normal()).collect();
        let interval = method(&values, 0.99).unwrap();
        interval.low <= 0.0 && 0.0 <= interval.high
    };
    (0..experiments).map(covers).filter(|covers| *covers).count() as f64 / f64::from(experiments)
}

#[test]
fn nominal_99_percent_intervals_cover_as_often_as_the_documentation_says() {
    // The table of docs/statistics/13-bootstrap.md: values, and the percentages that cover.
    let table =
        [(5, 93.75, 90.33, 99.08), (9, 96.09, 95.39, 98.76), (15, 96.48, 97.17, 98.84), (25, 98.54, 98.1, 98.99)];
    let experiments = 2000;
    for (n, of_median, of_mean, of_t) in table {
        for ((method, _), percent) in METHODS.into_iter().zip([of_median, of_mean, of_t]) {
            let share: f64 = percent / 100.0;
            let error = (share * (1.0 - share) / f64::from(experiments)).sqrt();
            let ours = coverage(method, n, experiments);
            assert!((ours - share).abs() < 4.0 * error + 0.0005, "{n} values: {ours} of {share}");
        }
    }
}
