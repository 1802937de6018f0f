//! Tests, effect sizes and adjustments of `stats` against SciPy and against definitions, and their properties. The answers are in
//! `tests/reference/tests.json`, made by `make_tests.py` there.

use duetbench_core::stats::{
    DeltaSize, adjusted_p_values, bonferroni_p_values, cliffs_delta, dunn, holm_p_values, kruskal_wallis,
    mann_whitney_p, sign_test_p, signed_rank_exact, signed_rank_p, unbalanced_nested_components, variance_components,
    welch_t, winsorise, yuen_welch_t,
};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, proptest};
use serde_json::Value;

use crate::reference::{close, numbers};
use crate::support::same_cases;

fn answers(method: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../reference/tests.json")).expect("the file is JSON");
    all[method].as_array().expect("a list of cases").clone()
}

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().expect("a number")
}

fn grouped(case: &Value) -> Vec<Vec<f64>> {
    case["groups"].as_array().expect("a list").iter().map(numbers).collect()
}

#[test]
fn welchs_and_yuens_tests_are_scipys() {
    for case in answers("two_samples") {
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
    for case in answers("sign_test") {
        close(sign_test_p(&numbers(&case["d"])).unwrap(), number(&case, "p"), 1e-11);
    }
}

#[test]
fn the_signed_rank_test_is_scipys_exact_and_approximate() {
    for case in answers("signed_rank") {
        close(signed_rank_p(&numbers(&case["d"])).unwrap(), number(&case, "p"), 1e-9);
    }
}

#[test]
fn the_signed_rank_test_over_all_signs_is_scipys_with_ties_and_zeros() {
    let cases = answers("signed_rank_exact");
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
fn kruskal_and_wallis_test_is_scipys() {
    for case in answers("kruskal") {
        let ours = kruskal_wallis(&grouped(&case)).unwrap();
        close(ours.statistic, number(&case, "h"), 1e-10);
        close(ours.p_value, number(&case, "p"), 1e-9);
    }
}

#[test]
fn dunns_test_is_that_of_his_formula() {
    for case in answers("dunn") {
        let ours = dunn(&grouped(&case)).unwrap();
        let pairs = case["pairs"].as_array().expect("a list");
        assert_eq!(ours.len(), pairs.len());
        for (ours, pair) in ours.iter().zip(pairs.iter().map(numbers)) {
            assert_eq!((ours.first as f64, ours.second as f64), (pair[0], pair[1]));
            assert!((ours.z - pair[2]).abs() < 1e-10, "{ours:?}");
            close(ours.p_value, pair[3], 1e-8);
        }
    }
}

#[test]
fn cliffs_delta_counts_all_pairs() {
    for case in answers("cliff") {
        let ours = cliffs_delta(&numbers(&case["a"]), &numbers(&case["b"])).unwrap();
        assert!((ours - number(&case, "delta")).abs() < 1e-14);
    }
}

#[test]
fn holms_p_values_are_those_of_closed_testing() {
    for case in answers("holm") {
        for (ours, closed) in holm_p_values(&numbers(&case[0])).unwrap().into_iter().zip(numbers(&case[1])) {
            close(ours, closed, 1e-14);
        }
    }
}

#[test]
fn nested_components_are_those_of_quadratic_forms() {
    let mut none = 0;
    for case in answers("nested") {
        let shape: Vec<usize> = numbers(&case["shape"]).into_iter().map(|n| n as usize).collect();
        let ours = unbalanced_nested_components(&shape, &numbers(&case["values"])).unwrap();
        for (ours, forms) in ours.iter().zip(numbers(&case["components"])) {
            assert!((ours - forms).abs() < 1e-9, "{ours} is not {forms}");
            none += u32::from(*ours == 0.0);
        }
    }
    assert!(none > 0, "no case has a component that is cut off at 0");
}

#[test]
fn sizes_begin_where_they_should() {
    let check = |delta, word| assert_eq!(DeltaSize::of(delta).word(), word, "{delta}");
    check(0.0, "negligible");
    check(-0.1469, "negligible");
    check(0.147, "small");
    check(-0.33, "medium");
    check(0.4739, "medium");
    check(0.474, "large");
    check(-1.0, "large");
}

#[test]
fn values_that_are_all_equal_say_nothing() {
    let same = [vec![2.0; 4], vec![2.0; 3]];
    assert_eq!(kruskal_wallis(&same).unwrap().p_value, 1.0);
    assert_eq!(dunn(&same).unwrap()[0].p_value, 1.0);
    assert_eq!((sign_test_p(&[0.0; 4]), signed_rank_p(&[0.0; 4])), (Ok(1.0), Ok(1.0)));
    assert_eq!(welch_t(&[0.1; 3], &[0.1; 9]).unwrap().p_value(), Ok(1.0));
    assert_eq!(welch_t(&[0.1; 3], &[0.2; 9]).unwrap().p_value(), Ok(0.0));
    assert_eq!(cliffs_delta(&[1.0; 3], &[1.0; 2]), Ok(0.0));
}

#[test]
fn what_cannot_be_digested_is_refused() {
    assert!(welch_t(&[1.0], &[1.0, 2.0]).is_err() && yuen_welch_t(&[1.0, 2.0], &[f64::NAN, 1.0]).is_err());
    assert!(sign_test_p(&[]).is_err() && signed_rank_p(&[]).is_err() && signed_rank_p(&[f64::INFINITY]).is_err());
    assert!(kruskal_wallis(&[vec![1.0]]).is_err() && kruskal_wallis(&[vec![1.0], vec![]]).is_err());
    assert!(dunn(&[]).is_err() && dunn(&[vec![1.0], vec![f64::NAN]]).is_err());
    assert!(cliffs_delta(&[], &[1.0]).is_err());
    assert!(holm_p_values(&[1.1]).is_err() && bonferroni_p_values(&[f64::NAN]).is_err());
    assert!(unbalanced_nested_components(&[2, 2], &[1.0; 3]).is_err());
    assert!(unbalanced_nested_components(&[4, 1], &[1.0; 4]).is_err());
    assert!(winsorise(&[], 0.2).is_err() && winsorise(&[1.0], -0.1).is_err());
}

#[test]
fn at_most_one_value_is_winsorised_and_that_only_far_outside() {
    // The range of the others is 10 to 20, a fifth of its length 2.
    let check = |further: &[f64], want: &[f64]| {
        let with = |more: &[f64]| [&[14.0, 10.0, 11.0, 12.0, 13.0, 15.0, 20.0, 16.0, 17.0, 18.0, 19.0], more].concat();
        assert_eq!(winsorise(&with(further), 0.2).unwrap(), with(want));
    };
    check(&[22.0], &[22.0]);
    check(&[22.5], &[20.0]);
    check(&[-30.0], &[10.0]);
    check(&[-30.0, 61.0], &[-30.0, 20.0]);
    // Two far ones on a side widen each other's range.
    check(&[90.0, 91.0], &[90.0, 91.0]);
    assert_eq!(winsorise(&[1.0, 900.0], 0.2), Ok(vec![1.0, 900.0]));
    assert_eq!(winsorise(&[5.0, 1.0, 9.5], 0.2), Ok(vec![5.0, 1.0, 5.0]));
}

fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (vec(-1.0..1.0f64, 2..30), vec(-1.0..1.0f64, 2..30))
}

/// Groups with many ties.
fn groups() -> impl Strategy<Value = Vec<Vec<f64>>> {
    vec(vec((-5..5i32).prop_map(f64::from), 1..8), 2..6)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
}

fn mapped(values: &[f64], by: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|v| by(*v)).collect()
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(a in vec(ANY, 0..12), b in vec(ANY, 0..12), groups in vec(vec(ANY, 0..4), 0..5), x in ANY, shape in vec(0..4usize, 0..4)) {
        for test in [welch_t(&a, &b), yuen_welch_t(&a, &b)].into_iter().flatten() {
            prop_assert!(test.p_value().is_ok());
            let _ = test.interval(x);
        }
        let exact = signed_rank_exact(&a).map(|test| test.p_value);
        for p in [sign_test_p(&a), signed_rank_p(&a), exact, mann_whitney_p(&a, &b)].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
        let _ = (kruskal_wallis(&groups), dunn(&groups), cliffs_delta(&a, &b), winsorise(&a, x));
        let _ = (holm_p_values(&a), bonferroni_p_values(&a));
        let _ = unbalanced_nested_components(&shape, &a);
    }

    #[test]
    fn two_samples_exchanged_differ_the_other_way((a, b) in samples()) {
        for test in [welch_t, yuen_welch_t] {
            let (there, back) = (test(&a, &b).unwrap(), test(&b, &a).unwrap());
            prop_assert!(near(there.difference, -back.difference) && near(there.standard_error, back.standard_error));
            prop_assert!(near(there.p_value().unwrap(), back.p_value().unwrap()));
        }
        prop_assert_eq!(cliffs_delta(&a, &b).unwrap(), -cliffs_delta(&b, &a).unwrap());
    }

    #[test]
    fn two_samples_moved_and_stretched_differ_by_the_stretch((a, b) in samples(), shift in -10.0..10.0f64, scale in 0.01..100.0f64) {
        let by = |v: f64| scale * v + shift;
        for test in [welch_t, yuen_welch_t] {
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
    fn tests_of_differences_do_not_care_for_their_signs_direction(d in vec(-1.0..1.0f64, 1..80), scale in 0.001..1000.0f64) {
        for test in [sign_test_p, signed_rank_p] {
            let p = test(&d).unwrap();
            prop_assert!(near(p, test(&mapped(&d, |v| -v)).unwrap()) && near(p, test(&mapped(&d, |v| v * scale)).unwrap()));
        }
    }

    #[test]
    fn ranks_are_all_that_counts(groups in groups(), turn in 0..6usize) {
        // Any increasing function keeps them, and so does another order of values and groups.
        let stretched: Vec<Vec<f64>> = groups.iter().map(|g| mapped(g, |v| v.powi(3) + v)).collect();
        let plain = kruskal_wallis(&groups).unwrap();
        prop_assert_eq!(plain, kruskal_wallis(&stretched).unwrap());
        prop_assert_eq!(dunn(&groups).unwrap(), dunn(&stretched).unwrap());
        let mut turned: Vec<Vec<f64>> = groups.iter().map(|g| g.iter().rev().copied().collect()).collect();
        let places = turned.len();
        turned.rotate_left(turn % places);
        prop_assert!(near(plain.p_value, kruskal_wallis(&turned).unwrap().p_value));
    }

    #[test]
    fn of_two_groups_dunns_test_is_kruskals((a, b) in samples()) {
        let groups = [a, b];
        let z = dunn(&groups).unwrap()[0].z;
        prop_assert!(near(z * z, kruskal_wallis(&groups).unwrap().statistic));
    }

    #[test]
    fn adjustments_lie_above_each_other(p in vec(0.0..=1.0f64, 1..20)) {
        let (holm, bonferroni, rate) = (holm_p_values(&p).unwrap(), bonferroni_p_values(&p).unwrap(), adjusted_p_values(&p).unwrap());
        for (i, raw) in p.iter().enumerate() {
            prop_assert!(*raw <= rate[i] && rate[i] <= holm[i] * (1.0 + 1e-12) && holm[i] <= bonferroni[i] && bonferroni[i] <= 1.0);
            prop_assert!(p.iter().zip(&holm).all(|(other, adjusted)| other > raw || *adjusted <= holm[i]));
        }
    }

    #[test]
    fn two_nested_levels_are_two_levels(groups in (2..6usize, 2..5usize).prop_flat_map(|(k, n)| vec(vec(-1.0..1.0f64, n), k))) {
        let two = variance_components(&groups).unwrap();
        let nested = unbalanced_nested_components(&[groups.len(), groups[0].len()], &groups.concat()).unwrap();
        prop_assert!(near(nested[0], two.between) && near(nested[1], two.within));
    }

    #[test]
    fn nested_components_do_not_move_and_scale_with_the_square(values in vec(-1.0..1.0f64, 24), shift in -10.0..10.0f64, scale in 0.01..100.0f64) {
        let shape = [2, 3, 4];
        let plain = unbalanced_nested_components(&shape, &values).unwrap();
        let changed = unbalanced_nested_components(&shape, &mapped(&values, |v| scale * v + shift)).unwrap();
        prop_assert!(plain.iter().zip(&changed).all(|(p, c)| (p * scale * scale - c).abs() < 1e-9 * (1.0 + scale * scale)));
    }

    #[test]
    fn winsorising_replaces_one_value_at_most_and_never_widens((values, shuffled) in shuffled(), shift in -9..9i32) {
        let done = winsorise(&values, 0.2).unwrap();
        prop_assert!(values.iter().zip(&done).filter(|(v, d)| v != d).count() <= 1);
        prop_assert!(done.iter().all(|d| values.contains(d)));
        let sorted = |mut v: Vec<f64>| { v.sort_by(f64::total_cmp); v };
        prop_assert_eq!(sorted(winsorise(&shuffled, 0.2).unwrap()), sorted(done.clone()));
        let moved = winsorise(&mapped(&values, |v| v + f64::from(shift)), 0.2).unwrap();
        prop_assert_eq!(moved, mapped(&done, |v| v + f64::from(shift)));
    }

}

/// Whole numbers, so that moving them is exact, and the same in another order.
fn shuffled() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    vec((-40..40i32).prop_map(f64::from), 1..12).prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
}
