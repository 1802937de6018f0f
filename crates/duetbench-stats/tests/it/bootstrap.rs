//! Bootstrap intervals against enumerations. The answers are in `tests/reference/bootstrap.json`, made by `make_bootstrap.py`
//! there.

use duetbench_stats::{
    Interval, MedianTable, Moments, Nested, StatsError, mean_difference_interval, mean_interval, mean_interval_screen,
    median_interval, median_interval_of_sorted, median_ranks, studentised_interval, studentised_interval_with,
};
use serde_json::Value;

use crate::reference::{bootstrap_answers, numbers};

/// One case: values, confidence, and the interval that is right.
struct Case {
    values: Vec<f64>,
    confidence: f64,
    right: Interval,
    given: Value,
}

impl Case {
    fn all(method: &str) -> Vec<Case> {
        let end = |value: &Value, without: f64| value.as_f64().unwrap_or(without);
        let case = |given: &Value| Case {
            values: numbers(&given["values"]),
            confidence: given["confidence"].as_f64().unwrap(),
            right: Interval { low: end(&given["low"], f64::NEG_INFINITY), high: end(&given["high"], f64::INFINITY) },
            given: given.clone(),
        };
        let cases: Vec<Case> = bootstrap_answers(method).iter().map(case).collect();
        assert!(cases.len() >= 8, "{method}: {} cases", cases.len());
        cases
    }

    fn shape(&self, of: &str) -> Vec<usize> {
        self.given[of].as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
    }

    /// Both ends are right but for a part of `unit`; ends without bound are so on both sides.
    #[track_caller]
    fn check(&self, ours: Result<Interval, StatsError>, tolerance: f64) {
        let ours = ours.unwrap();
        let near = |a: f64, b: f64| a == b || (a - b).abs() <= tolerance;
        assert!(
            near(ours.low, self.right.low) && near(ours.high, self.right.high),
            "{:?} at {}: ours {ours:?}, enumerated {:?}",
            self.values,
            self.confidence,
            self.right
        );
    }
}

#[test]
fn ranks_of_the_median_are_those_of_the_binomial_distribution() {
    for case in bootstrap_answers("median_ranks").iter().map(numbers) {
        let right = (case[2] as usize, case[3] as usize);
        assert_eq!(median_ranks(case[0] as usize, case[1]), right, "{case:?}");
    }
}

#[test]
fn the_median_has_the_interval_of_all_resamples() {
    for case in Case::all("median") {
        case.check(median_interval(&case.values, case.confidence), 1e-13);
        let mut ascending = case.values.clone();
        ascending.sort_by(f64::total_cmp);
        let again = median_interval_of_sorted(&ascending, case.confidence);
        assert_eq!(Ok(again), median_interval(&case.values, case.confidence));
        let table = MedianTable::of(ascending.len(), (1.0 - case.confidence) / 2.0);
        assert_eq!(table.interval(&ascending), again);
    }
}

#[test]
fn a_table_for_another_number_of_values_has_no_answer() {
    let interval = MedianTable::of(5, 0.005).interval(&[1.0, 2.0, 3.0]);
    assert!(interval.low.is_nan() && interval.high.is_nan());
    assert!(median_interval_of_sorted(&[], 0.99).low.is_nan());
    assert_eq!(median_ranks(0, 0.1), (0, 0));
}

#[test]
fn the_ranks_of_the_documentation() {
    // The rank of the lower end of a 99 % interval, by number of values.
    let table = [(3, 1), (5, 1), (7, 1), (9, 2), (11, 2), (15, 4), (21, 6), (25, 7), (45, 15), (75, 27), (101, 38)];
    for (n, rank) in table.into_iter().chain([(201, 83), (301, 129), (499, 221)]) {
        assert_eq!(median_ranks(n, 0.005), (rank, rank), "{n}");
    }
}

#[test]
fn a_narrow_tail_of_very_many_values_is_answered() {
    let ascending: Vec<f64> = (1..=100_000).map(f64::from).collect();
    let interval = median_interval_of_sorted(&ascending, 0.99);
    // The median of a resample of n values is nearly normal around n / 2 with a spread of sqrt(n) / 2.
    let half = 2.5758 * 100_000f64.sqrt() / 2.0;
    assert!((interval.low - (50_000.5 - half)).abs() < 2.0 && (interval.high - (50_000.5 + half)).abs() < 2.0);
}

#[test]
fn the_mean_has_the_interval_of_all_resamples_of_a_few_values() {
    for case in Case::all("mean") {
        case.check(mean_interval(&case.values, case.confidence), 1e-12);
    }
}

#[test]
fn the_mean_of_more_values_is_convolved_to_the_same_interval() {
    for case in Case::all("mean_of_nine_or_ten") {
        case.check(mean_interval(&case.values, case.confidence), 0.01 * width(&case));
    }
    for case in Case::all("mean_on_a_grid") {
        let allowed = if case.values.len() > 50 { 2e-4 } else { 2e-3 };
        case.check(mean_interval(&case.values, case.confidence), allowed * width(&case));
    }
    for case in Case::all("mean_of_many") {
        case.check(mean_interval(&case.values, case.confidence), 1e-4 * width(&case));
    }
}

#[test]
fn the_mean_of_values_with_one_far_out_is_convolved_finely_enough() {
    for case in Case::all("mean_with_outlier") {
        // To a part of the spread of the others, which is about 1 / sqrt(10) in a mean.
        case.check(mean_interval(&case.values, case.confidence), 0.03);
    }
}

fn width(case: &Case) -> f64 {
    case.right.width()
}

#[test]
fn the_mean_of_values_on_a_lattice_is_exact() {
    for case in Case::all("mean_of_integers") {
        case.check(mean_interval(&case.values, case.confidence), 1e-9);
        let in_other_units: Vec<f64> = case.values.iter().map(|v| v * 0.01 + 22.0).collect();
        let ours = mean_interval(&in_other_units, case.confidence).unwrap();
        case.check(Ok(Interval { low: (ours.low - 22.0) * 100.0, high: (ours.high - 22.0) * 100.0 }), 1e-9);
    }
}

/// The interval of the mean of a nested sample: of its difference from a baseline that is 0.
fn of_nested_mean(sample: Nested<'_>, confidence: f64) -> Result<Interval, StatsError> {
    mean_difference_interval(Nested::of(&[1], &[0.0])?, sample, confidence)
}

#[test]
fn convolution_and_enumeration_of_the_same_sample_agree() {
    // A nested sample is convolved; one run of several values is the same as these values, seven or eight of them.
    for case in Case::all("mean").iter().filter(|case| case.values.len() >= 7) {
        let shape = [1, case.values.len()];
        let nested = Nested::of(&shape, &case.values).unwrap();
        // Between two atoms the convolved distribution grows where the true one jumps.
        case.check(of_nested_mean(nested, case.confidence), 0.02 * width(case));
    }
}

#[test]
fn known_intervals_of_the_median() {
    let to_ten: Vec<f64> = (1..=10).map(f64::from).collect();
    assert_eq!(median_interval(&to_ten, 0.99), Ok(Interval { low: 2.0, high: 9.0 }));
    assert_eq!(median_interval(&to_ten, 0.95), Ok(Interval { low: 3.0, high: 8.0 }));
    assert_eq!(median_interval(&[1.0, 2.0, 4.0, 8.0], 0.99), Ok(Interval { low: 1.0, high: 8.0 }));
}

#[test]
fn known_intervals_of_the_mean() {
    let check = |values: &[f64], (low, high): (f64, f64), tolerance: f64| {
        let ours = mean_interval(values, 0.99).unwrap();
        assert!((ours.low - low).abs() <= tolerance && (ours.high - high).abs() <= tolerance, "{values:?}: {ours:?}");
    };
    check(&[1.0, 2.0, 4.0], (1.0, 4.0), 0.0);
    // A quarter of the resamples has just the value of an end: that is enough.
    assert_eq!(mean_interval(&[0.0, 1.0], 0.5), Ok(Interval { low: 0.0, high: 1.0 }));
    check(&[1.0, 2.0, 4.0, 9.0], (1.25, 7.75), 0.0);
    check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], (3.2, 7.8), 1e-9);
    let with_outlier = [10.0, 11.0, 12.0, 10.0, 11.0, 13.0, 10.0, 40.0, 12.0, 11.0, 10.0, 12.0];
    check(&with_outlier, (10.5, 20.0 + 11.0 / 12.0), 1e-9);
}

#[test]
fn moments_alone_tell_about_how_wide_the_interval_is() {
    let with = |case: &Case| mean_interval_screen(&Moments::of(&case.values).unwrap(), case.confidence).unwrap();
    for case in Case::all("mean_of_nine_or_ten").iter().chain(&Case::all("mean_on_a_grid")) {
        let ratio = with(case).width() / width(case);
        assert!(ratio < 1.5 && ratio > 0.67, "{:?} at {}: {ratio}", case.values, case.confidence);
    }
    for case in Case::all("mean_on_a_grid").iter().filter(|case| case.values.len() == 75) {
        let ratio = with(case).width() / width(case);
        assert!((ratio - 1.0).abs() < 0.05, "{:?} at {}: {ratio}", case.values, case.confidence);
    }
}

#[test]
fn moments_are_those_of_the_values() {
    let moments = Moments::of(&[1.0, 2.0, 3.0, 10.0]).unwrap();
    // By hand: deviations -3, -2, -1, 6.
    let variance: f64 = (9.0 + 4.0 + 1.0 + 36.0) / 4.0;
    assert_eq!((moments.n, moments.mean), (4, 4.0));
    assert!((moments.sd - variance.sqrt()).abs() < 1e-14);
    assert!((moments.skew - 45.0 / variance.powf(1.5)).abs() < 1e-14);
    assert!((moments.excess - (1394.0 / 4.0 / variance.powi(2) - 3.0)).abs() < 1e-14);
}

#[test]
fn the_studentised_mean_has_the_interval_of_all_resamples_of_a_few_values() {
    let mut unbounded = 0;
    for case in Case::all("studentised") {
        let unit = if width(&case).is_finite() { width(&case) } else { 1.0 };
        case.check(studentised_interval(&case.values, case.confidence), 1e-9 * unit);
        unbounded += u32::from(width(&case).is_infinite());
    }
    assert!(unbounded >= 10);
    for case in Case::all("studentised_published") {
        let ours = studentised_interval_with(&case.values, case.confidence, 1e-6);
        case.check(ours, 1e-9 * width(&case));
    }
}

#[test]
fn the_saddlepoint_of_the_studentised_mean_is_near_all_resamples() {
    for case in Case::all("studentised_of_nine_or_ten") {
        // Resamples of so few values lie in lumps that no smooth function follows.
        let allowed = if case.confidence < 0.99 { 0.06 } else { 0.1 };
        case.check(studentised_interval(&case.values, case.confidence), allowed * width(&case));
    }
    for case in Case::all("studentised_by_drawing") {
        case.check(studentised_interval(&case.values, case.confidence), 0.015 * width(&case));
    }
}

#[test]
fn an_outlier_makes_the_studentised_mean_draw_and_draws_are_the_same_every_time() {
    let mut values: Vec<f64> = (0..20).map(|k| f64::from(k % 7)).collect();
    values.push(500.0);
    let first = studentised_interval(&values, 0.99).unwrap();
    assert_eq!(Ok(first), studentised_interval(&values, 0.99));
    // The resamples without the outlier, a third of all, say that the mean is far below.
    assert!(first.width() > 1000.0, "{first:?}");
}

#[test]
fn means_of_nested_samples_are_those_of_all_resamples() {
    for case in Case::all("nested_mean") {
        let shape = case.shape("shape");
        let sample = Nested::of(&shape, &case.values).unwrap();
        case.check(of_nested_mean(sample, case.confidence), 1e-9);
        // Off the lattice of integers the distribution is smoothed a little.
        let moved: Vec<f64> = case.values.iter().map(|v| v + (v * 12.9898).sin() * 1e-3).collect();
        let near = of_nested_mean(Nested::of(&shape, &moved).unwrap(), case.confidence);
        case.check(near, 1.0 / case.values.len() as f64 + 2e-3);
    }
}

#[test]
fn what_cannot_be_answered_says_why() {
    let too_few = |have, needed| Err(StatsError::TooFew { have, needed });
    assert_eq!(median_interval(&[], 0.99), too_few(0, 1));
    assert_eq!(mean_interval(&[], 0.99), too_few(0, 1));
    assert_eq!(studentised_interval(&[1.0], 0.99), too_few(1, 2));
    assert_eq!(Moments::of(&[]), Err(StatsError::TooFew { have: 0, needed: 1 }));
    assert_eq!(mean_interval(&[1.0, f64::NAN], 0.99), Err(StatsError::NotFinite));
    assert_eq!(mean_interval(&[1e308, -1e308, 1e308], 0.99), Err(StatsError::NotFinite));
    for confidence in [0.0, 1.0, -1.0, 99.0, f64::NAN] {
        assert!(matches!(mean_interval(&[1.0], confidence), Err(StatsError::OutOfRange { name: "confidence", .. })));
        assert!(median_interval(&[1.0], confidence).is_err());
        assert!(studentised_interval(&[1.0, 2.0], confidence).is_err());
    }
    assert!(Nested::of(&[2, 0], &[]).is_err() && Nested::of(&[], &[]).is_err());
    assert!(Nested::of(&[2, 2], &[1.0; 5]).is_err() && Nested::of(&[usize::MAX, 2], &[1.0]).is_err());
}
