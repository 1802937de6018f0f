//! Tests of one and two samples against SciPy and against definitions, and their properties. The answers are in
//! `tests/reference/tests.json`, made by `make_tests.py` there.

use duetbench_stats::{
    cautious_t, mann_whitney_p, sign_test_p, signed_rank_exact, signed_rank_p, welch_t, yuen_welch_t,
};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};
use serde_json::Value;

use crate::noise_support::Noise;
use crate::reference::{close, numbers, test_answers};
use crate::same_cases;

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().expect("a number")
}

#[test]
fn welchs_and_yuens_tests_are_scipys() {
    for case in test_answers("two_samples") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        for (ours, scipys) in [(welch_t(&a, &b), &case["welch"]), (yuen_welch_t(&a, &b), &case["yuen"])] {
            let ours = ours.unwrap();
            close(ours.difference / ours.standard_error, number(scipys, "t"), 1e-10);
            close(ours.degrees_of_freedom, number(scipys, "df"), 1e-10);
            close(ours.p_value().unwrap(), number(scipys, "p"), 1e-9);
        }
        let (low, high) = welch_t(&a, &b).unwrap().interval(number(&case, "alpha")).unwrap();
        let scipys = numbers(&case["welch"]["interval"]);
        close(low, scipys[0], 1e-9);
        close(high, scipys[1], 1e-9);
    }
}

#[test]
fn the_sign_test_is_scipys() {
    for case in test_answers("sign_test") {
        close(sign_test_p(&numbers(&case["d"])).unwrap(), number(&case, "p"), 1e-11);
    }
}

#[test]
fn the_signed_rank_test_is_scipys_exact_and_approximate() {
    for case in test_answers("signed_rank") {
        close(signed_rank_p(&numbers(&case["d"])).unwrap(), number(&case, "p"), 1e-9);
    }
}

#[test]
fn the_signed_rank_test_over_all_signs_is_scipys_with_ties_and_zeros() {
    let cases = test_answers("signed_rank_exact");
    for case in &cases {
        let differences = numbers(&case["d"]);
        let ours = signed_rank_exact(&differences).unwrap();
        close(ours.p_value, number(case, "p"), 1e-12);
        let left = differences.iter().filter(|d| **d != 0.0).count() as f64;
        assert!((ours.positive + ours.negative - left * (left + 1.0) / 2.0).abs() < 1e-12);
    }
    assert!(cases.len() > 30);
    // Where there are too many for all signs it is the approximation.
    let many: Vec<f64> = (0..60).map(|i| f64::from(i) - 20.5).collect();
    assert_eq!(signed_rank_exact(&many).unwrap().p_value, signed_rank_p(&many).unwrap());
    let nothing = signed_rank_exact(&[0.0; 3]).unwrap();
    assert_eq!((nothing.p_value, nothing.positive, nothing.negative), (1.0, 0.0, 0.0));
}

#[test]
fn values_that_are_all_equal_say_nothing() {
    assert_eq!((sign_test_p(&[0.0; 4]), signed_rank_p(&[0.0; 4])), (Ok(1.0), Ok(1.0)));
    assert_eq!(welch_t(&[0.1; 3], &[0.1; 9]).unwrap().p_value(), Ok(1.0));
    assert_eq!(welch_t(&[0.1; 3], &[0.2; 9]).unwrap().p_value(), Ok(0.0));
}

#[test]
fn what_cannot_be_digested_is_refused() {
    assert!(welch_t(&[1.0], &[1.0, 2.0]).is_err() && yuen_welch_t(&[1.0, 2.0], &[f64::NAN, 1.0]).is_err());
    assert!(sign_test_p(&[]).is_err() && signed_rank_p(&[]).is_err() && signed_rank_p(&[f64::INFINITY]).is_err());
}

fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (vec(-1.0..1.0f64, 2..30), vec(-1.0..1.0f64, 2..30))
}

/// Groups with many ties.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
}

#[test]
fn the_cautious_test_keeps_its_error_where_three_values_stand_against_twenty() {
    const DRAWS: u32 = 20_000;
    let mut noise = Noise::new(3);
    let mut alarms = [0; 2];
    for _ in 0..DRAWS {
        let [a, b] = [3, 20].map(|size| (0..size).map(|_| noise.normal()).collect::<Vec<f64>>());
        for (alarms, test) in alarms.iter_mut().zip([yuen_welch_t, cautious_t]) {
            *alarms += u32::from(test(&a, &b).unwrap().p_value().unwrap() <= 0.01);
        }
    }
    let [yuen, cautious] = alarms.map(|alarms| f64::from(alarms) / f64::from(DRAWS));
    assert!(yuen > 0.02 && cautious < 0.012, "{yuen}, {cautious}");
}

fn mapped(values: &[f64], by: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|v| by(*v)).collect()
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(a in vec(ANY, 0..12), b in vec(ANY, 0..12), x in ANY) {
        for test in [welch_t(&a, &b), yuen_welch_t(&a, &b), cautious_t(&a, &b)].into_iter().flatten() {
            prop_assert!(test.p_value().is_ok());
            let _ = test.interval(x);
        }
        let exact = signed_rank_exact(&a).map(|test| test.p_value);
        for p in [sign_test_p(&a), signed_rank_p(&a), exact, mann_whitney_p(&a, &b)].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
    }

    #[test]
    fn two_samples_exchanged_differ_the_other_way((a, b) in samples()) {
        for test in [welch_t, yuen_welch_t, cautious_t] {
            let (there, back) = (test(&a, &b).unwrap(), test(&b, &a).unwrap());
            prop_assert!(near(there.difference, -back.difference) && near(there.standard_error, back.standard_error));
            prop_assert!(near(there.p_value().unwrap(), back.p_value().unwrap()));
        }
    }

    #[test]
    fn two_samples_moved_and_stretched_differ_by_the_stretch((a, b) in samples(), shift in -10.0..10.0f64, scale in 0.01..100.0f64) {
        let by = |v: f64| scale * v + shift;
        for test in [welch_t, yuen_welch_t, cautious_t] {
            let (plain, changed) = (test(&a, &b).unwrap(), test(&mapped(&a, by), &mapped(&b, by)).unwrap());
            prop_assert!(near(plain.difference * scale, changed.difference));
            prop_assert!(near(plain.standard_error * scale, changed.standard_error));
            prop_assert!((plain.degrees_of_freedom - changed.degrees_of_freedom).abs() < 1e-6 * plain.degrees_of_freedom);
        }
    }

    #[test]
    fn trimmed_and_plain_are_one_below_ten_values(a in vec(-1.0..1.0f64, 2..10), b in vec(-1.0..1.0f64, 2..10)) {
        prop_assert_eq!(welch_t(&a, &b), yuen_welch_t(&a, &b));
    }

    #[test]
    fn of_samples_of_one_size_the_cautious_test_is_yuen_s((a, b) in samples()) {
        let size = a.len().min(b.len());
        let (a, b) = (&a[..size], &b[..size]);
        let (cautious, yuen) = (cautious_t(a, b).unwrap(), yuen_welch_t(a, b).unwrap());
        prop_assert!(near(cautious.standard_error, yuen.standard_error));
        prop_assert_eq!(cautious.degrees_of_freedom, yuen.degrees_of_freedom);
    }

    #[test]
    fn tests_of_differences_do_not_care_for_their_signs_direction(d in vec(-1.0..1.0f64, 1..80), scale in 0.001..1000.0f64) {
        for test in [sign_test_p, signed_rank_p] {
            let p = test(&d).unwrap();
            prop_assert!(near(p, test(&mapped(&d, |v| -v)).unwrap()) && near(p, test(&mapped(&d, |v| v * scale)).unwrap()));
        }
    }
}
