//! Looking more than once: known answers, what the looks spend, and the sequential p-value.

use std::sync::LazyLock;

use duetbench_stats::{Sequential, Spend, StatsError, looks};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Strategy, any, prop_assert, proptest};
use proptest::sample::select;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use crate::reference::{answers, close, numbers};
use crate::same_cases;

/// Tests to draw from; making one takes a while in a debug build.
static TESTS: LazyLock<Vec<Sequential>> =
    LazyLock::new(|| [3, 5, 10, 20, 21, 30, 64, 200].map(|horizon| Sequential::new(horizon).unwrap()).into());

fn tests() -> impl Strategy<Value = &'static Sequential> {
    select((0..TESTS.len()).collect::<Vec<_>>()).prop_map(|i| &TESTS[i])
}

/// Any alpha that somebody might ask for, small ones as often as large ones.
fn alphas() -> impl Strategy<Value = f64> {
    (-12.0..-0.3f64).prop_map(|exponent| 10f64.powf(exponent))
}

/// A number of values from 1 to the horizon, for any `share` from 0 to below 1.
fn after(test: &Sequential, share: f64) -> u32 {
    1 + (share * f64::from(*test.looks().last().unwrap())) as u32
}

#[test]
fn looks_come_in_even_steps_and_end_at_the_horizon() {
    let all = [4, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512];
    assert_eq!(looks(512), all);
    assert_eq!(looks(200), all[..17]);
    assert_eq!(looks(33), [&all[..9], &[33]].concat());
    assert_eq!((looks(5), looks(4), looks(3), looks(1)), (vec![4, 5], vec![4], vec![3], vec![1]));
    assert!(looks(0).is_empty());
    let longest = looks(u32::MAX);
    assert!(longest.is_sorted_by(|a, b| a < b) && longest.last() == Some(&u32::MAX));
}

/// The tables of docs/statistics/09-looks.md and others, to the digits that were printed.
#[test]
fn nominal_p_values_of_the_documentation() {
    check(20, 0.05, &["0.00447", "0.00532", "0.0073", "0.0096", "0.0150", "0.0200", "0.0291"]);
    check(20, 0.01, &["0.000894", "0.000992", "0.00132", "0.00171", "0.00267", "0.00349", "0.00505"]);
    check(20, 0.001, &["0.0000894", "0.0000920", "0.000120", "0.000151", "0.000238", "0.000304", "0.000439"]);
    check(10, 0.01, &["0.00253", "0.00293", "0.00398", "0.00519"]);
    let thirty = ["0.000487", "0.000528", "0.0007", "0.000896", "0.00141", "0.00182", "0.00263", "0.00376", "0.00479"];
    check(30, 0.01, &thirty);
}

#[track_caller]
fn check(horizon: u32, alpha: f64, printed: &[&str]) {
    let test = Sequential::new(horizon).unwrap();
    assert_eq!(test.looks().len(), printed.len());
    for (&n, printed) in test.looks().iter().zip(printed) {
        let half_a_digit = 0.5 * 10f64.powi(2 - printed.len() as i32);
        let ours = test.nominal_p(n, alpha, Spend::AsPlanned).unwrap();
        assert!((ours - printed.parse::<f64>().unwrap()).abs() <= 1.001 * half_a_digit, "{n} values: {ours}");
    }
}

#[test]
fn nominal_p_values_are_those_of_a_fine_grid() {
    for case in answers("nominal_p").iter().map(numbers) {
        let test = TESTS.iter().find(|t| t.looks().last() == Some(&(case[0] as u32))).expect("a horizon of make.py");
        close(test.nominal_p(case[1] as u32, case[2], Spend::AsPlanned).unwrap(), case[3], 1e-6);
    }
}

#[test]
fn an_end_spends_what_the_looks_before_it_left() {
    for case in answers("nominal_p_of_an_end").iter().map(numbers) {
        let [horizon, n, alpha, power, expected] = case[..] else { panic!("{case:?}") };
        let test = Sequential::spending(horizon as u32, power).unwrap();
        let nominal = test.nominal_p(n as u32, alpha, Spend::Everything).unwrap();
        close(nominal, expected, 1e-6);
        // And the sequential p-value is its inverse.
        if power == 1.5 {
            close(test.p_value(&[(n as u32, nominal)], Spend::Everything).unwrap(), alpha, 1e-3);
        }
    }
}

/// Probability with which a test stops at each of these looks and no look before, by Simpson's rule over both signs of the
/// sum.
fn exits(test: &Sequential, looks: &[u32], alpha: f64) -> Vec<f64> {
    const POINTS: i32 = 300;
    let normal = Normal::standard();
    let (mut points, mut masses, mut before) = (vec![0.0], vec![1.0], 0.0);
    let mut exits = Vec::new();
    for &n in looks {
        let values = f64::from(n);
        let edge = -normal.inverse_cdf(test.nominal_p(n, alpha, Spend::AsPlanned).unwrap() / 2.0) * values.sqrt();
        let step = (values - before).sqrt();
        let sum = |of: &dyn Fn(f64) -> f64| points.iter().zip(&masses).map(|(y, mass)| mass * of(*y)).sum::<f64>();
        exits.push(sum(&|y| normal.cdf((y - edge) / step) + normal.cdf((-edge - y) / step)));
        let next: Vec<f64> = (-POINTS..=POINTS).map(|i| edge * f64::from(i) / f64::from(POINTS)).collect();
        let weight = |i: usize| if i == 0 || i + 1 == next.len() { 1.0 } else { [2.0, 4.0][i % 2] };
        let width = edge / f64::from(POINTS) / 3.0;
        let mass = |(i, x): (usize, &f64)| weight(i) * width * sum(&|y| normal.pdf((x - y) / step) / step);
        masses = next.iter().enumerate().map(mass).collect();
        (points, before) = (next, values);
    }
    exits
}

#[test]
fn each_look_spends_what_is_its_own_and_all_together_spend_alpha() {
    let test = Sequential::new(20).unwrap();
    for alpha in [0.05, 1e-6] {
        let (mut spent, mut expected) = (0.0, 0.0);
        for (&n, exit) in test.looks().iter().zip(exits(&test, test.looks(), alpha)) {
            let should = alpha * (f64::from(n) / 20.0).powf(1.5) - expected;
            assert!((exit / should - 1.0).abs() < 1e-6, "look after {n} at {alpha}: {exit}, should be {should}");
            (spent, expected) = (spent + exit, expected + should);
        }
        assert!((spent / alpha - 1.0).abs() < 1e-6, "{spent} of {alpha}");
    }
}

#[test]
fn what_looks_once_is_an_ordinary_test() {
    for test in [Sequential::single(30).unwrap(), Sequential::single(3).unwrap(), Sequential::new(4).unwrap()] {
        let n = test.looks()[0];
        assert_eq!(test.looks(), [n]);
        // Also when it ended early, as it has not looked before.
        for n in [1, 2, n] {
            assert_eq!(
                (test.nominal_p(n, 0.01, Spend::AsPlanned), test.p_value(&[(n, 0.3)], Spend::AsPlanned)),
                (Ok(0.01), Ok(0.3))
            );
        }
        assert_eq!(
            test.nominal_p(n + 1, 0.01, Spend::AsPlanned),
            Err(StatsError::OutOfRange { name: "n", value: f64::from(n + 1) })
        );
    }
}

#[test]
fn before_its_first_look_a_test_has_spent_little() {
    let test = &TESTS[3];
    assert_eq!(test.nominal_p(2, 0.04, Spend::AsPlanned), Ok(0.04 * 0.1f64.powf(1.5)));
    assert_eq!(test.p_value(&[(2, 0.5)], Spend::AsPlanned), Ok(1.0));
}

#[test]
fn the_ends_of_the_scale() {
    for test in TESTS.iter() {
        let horizon = *test.looks().last().unwrap();
        assert_eq!(
            (test.p_value(&[(horizon, 0.0)], Spend::AsPlanned), test.p_value(&[(horizon, 1.0)], Spend::AsPlanned)),
            (Ok(0.0), Ok(1.0))
        );
        let tiny = [1e-300, 1e-40, 1e-14, 1e-13, 1e-12, 1e-11]
            .map(|p| test.p_value(&[(horizon, p)], Spend::AsPlanned).unwrap());
        assert!(tiny[0] >= 1e-300 && tiny[0] < 1e-298 && tiny.is_sorted_by(|a, b| a < b), "{tiny:?}");
        assert!(test.nominal_p(horizon, 1.1e-100, Spend::AsPlanned).unwrap() > 1e-102);
        assert!(test.nominal_p(horizon, 0.999_999, Spend::AsPlanned).unwrap() > 0.99);
    }
}

#[test]
fn a_last_look_right_after_another_is_worth_more_than_what_it_spends() {
    // Nearly all that cross the new boundary were close to the old one: a start from far out would find no probability at all.
    let test = Sequential::new(1_000_000).unwrap();
    let newly_spent = 0.01 * (0.819_201f64.powf(1.5) - 0.8192f64.powf(1.5));
    let nominal = test.nominal_p(819_201, 0.01, Spend::AsPlanned).unwrap();
    assert!(
        nominal > 1000.0 * newly_spent && nominal < test.nominal_p(819_200, 0.01, Spend::AsPlanned).unwrap(),
        "{nominal} {newly_spent}"
    );
    assert!((test.p_value(&[(819_201, nominal)], Spend::AsPlanned).unwrap() / 0.01 - 1.0).abs() < 1e-4);
}

#[test]
fn what_cannot_be_answered_is_named() {
    let test = Sequential::new(20).unwrap();
    let out_of = |name, value| StatsError::OutOfRange { name, value };
    assert_eq!(Sequential::new(0).unwrap_err(), out_of("horizon", 0.0));
    assert_eq!(Sequential::single(0).unwrap_err(), out_of("horizon", 0.0));
    assert_eq!(test.nominal_p(0, 0.05, Spend::AsPlanned), Err(out_of("n", 0.0)));
    assert_eq!(test.nominal_p(21, 0.05, Spend::AsPlanned), Err(out_of("n", 21.0)));
    assert_eq!(test.nominal_p(20, 1.0, Spend::AsPlanned), Err(out_of("alpha", 1.0)));
    assert_eq!(test.p_value(&[], Spend::AsPlanned), Err(StatsError::TooFew { have: 0, needed: 1 }));
    assert_eq!(test.p_value(&[(4, 0.5), (21, 0.5)], Spend::AsPlanned), Err(out_of("n", 21.0)));
    assert_eq!(test.p_value(&[(4, -0.5)], Spend::AsPlanned), Err(out_of("p", -0.5)));
    // Not ascending; and looks after one that was not planned.
    assert_eq!(test.p_value(&[(6, 0.5), (4, 0.5)], Spend::AsPlanned), Err(out_of("n", 6.0)));
    assert_eq!(test.p_value(&[(4, 0.5), (5, 0.5), (6, 0.5)], Spend::AsPlanned), Err(out_of("n", 5.0)));
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(test in tests(), n in any::<u32>(), values in vec(ANY, 3)) {
        for n in [n, n % 300] {
            let _ = (test.nominal_p(n, values[0], Spend::AsPlanned), test.p_value(&[(n, values[1])], Spend::AsPlanned), test.p_value(&[(4, 0.5), (n, values[2])], Spend::Everything));
        }
    }

    #[test]
    fn a_larger_alpha_stops_wherever_a_smaller_one_does(test in tests(), share in 0.0..1.0f64, alpha in alphas(), by in 1.001..2.0f64) {
        let n = after(test, share);
        let (small, large) = (test.nominal_p(n, alpha, Spend::AsPlanned).unwrap(), test.nominal_p(n, alpha * by, Spend::AsPlanned).unwrap());
        prop_assert!(0.0 < small && small < large && large <= alpha * by, "{small} {large}");
    }

    #[test]
    fn stopping_just_at_a_boundary_has_p_alpha(test in tests(), share in 0.0..1.0f64, alpha in alphas()) {
        let n = after(test, share);
        let p = test.p_value(&[(n, test.nominal_p(n, alpha, Spend::AsPlanned).unwrap())], Spend::AsPlanned).unwrap();
        prop_assert!((p / alpha - 1.0).abs() < 1e-4, "{alpha} came back as {p}");
    }

    #[test]
    fn p_is_at_most_alpha_exactly_when_a_look_stops(test in tests(), share in 0.0..1.0f64, alpha in alphas(), p in vec(0.0..3.0f64, 17)) {
        let n = after(test, share);
        let taken = test.looks().iter().copied().filter(|look| *look < n).chain([n]);
        let looks: Vec<(u32, f64)> = taken.zip(p).map(|(n, p)| (n, (p * alpha).min(1.0))).collect();
        let stops = looks.iter().any(|&(n, p)| p <= test.nominal_p(n, alpha, Spend::AsPlanned).unwrap());
        let sequential = test.p_value(&looks, Spend::AsPlanned).unwrap();
        prop_assert!((sequential / alpha - 1.0).abs() < 1e-4 || (sequential <= alpha) == stops);
    }

    #[test]
    fn another_look_never_raises_p_and_a_larger_p_never_lowers_it(test in tests(), p in vec(0.0..1.0f64, 17), by in 0.0..1.0f64) {
        let looks: Vec<(u32, f64)> = test.looks().iter().copied().zip(p).collect();
        let all = test.p_value(&looks, Spend::AsPlanned).unwrap();
        prop_assert!(looks.len() == 1 || test.p_value(&looks[..looks.len() - 1], Spend::AsPlanned).unwrap() >= all);
        let raised: Vec<(u32, f64)> = looks.iter().map(|&(n, p)| (n, p + by * (1.0 - p))).collect();
        prop_assert!(test.p_value(&raised, Spend::AsPlanned).unwrap() >= all);
        prop_assert!(looks.iter().all(|(_, p)| all > 0.0 || *p == 0.0));
    }
}
