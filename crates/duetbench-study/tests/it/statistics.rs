//! Effect sizes, adjustments and tests of the papers against SciPy and against definitions, and their properties. The answers are in the
//! `tests/reference/tests.json` of duetbench-stats, made by `make_tests.py` there.

use duetbench_core::stats::{adjusted_p_values, mean, mean_interval, variance_components};
use duetbench_study::statistics::{
    DeltaSize, bonferroni_p_values, cliffs_delta, dunn, grand_ratio, holm_p_values, kruskal_wallis,
    unbalanced_nested_components, winsorise,
};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use serde_json::Value;

use crate::noise_support::Noise;
use crate::reference::{close, numbers, test_answers};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
}

fn mapped(values: &[f64], by: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|v| by(*v)).collect()
}

fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (vec(-1.0..1.0f64, 2..30), vec(-1.0..1.0f64, 2..30))
}

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().expect("a number")
}

fn grouped(case: &Value) -> Vec<Vec<f64>> {
    case["groups"].as_array().expect("a list").iter().map(numbers).collect()
}

#[test]
fn kruskal_and_wallis_test_is_scipys() {
    for case in test_answers("kruskal") {
        let ours = kruskal_wallis(&grouped(&case)).unwrap();
        close(ours.statistic, number(&case, "h"), 1e-10);
        close(ours.p_value, number(&case, "p"), 1e-9);
    }
}

#[test]
fn dunns_test_is_that_of_his_formula() {
    for case in test_answers("dunn") {
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
    for case in test_answers("cliff") {
        let ours = cliffs_delta(&numbers(&case["a"]), &numbers(&case["b"])).unwrap();
        assert!((ours - number(&case, "delta")).abs() < 1e-14);
    }
}

#[test]
fn holms_p_values_are_those_of_closed_testing() {
    for case in test_answers("holm") {
        for (ours, closed) in holm_p_values(&numbers(&case[0])).unwrap().into_iter().zip(numbers(&case[1])) {
            close(ours, closed, 1e-14);
        }
    }
}

#[test]
fn nested_components_are_those_of_quadratic_forms() {
    let mut none = 0;
    for case in test_answers("nested") {
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

#[test]
fn values_that_are_all_equal_say_nothing() {
    let same = [vec![2.0; 4], vec![2.0; 3]];
    assert_eq!(kruskal_wallis(&same).unwrap().p_value, 1.0);
    assert_eq!(dunn(&same).unwrap()[0].p_value, 1.0);
    assert_eq!(cliffs_delta(&[1.0; 3], &[1.0; 2]), Ok(0.0));
}

#[test]
fn what_cannot_be_digested_is_refused() {
    assert!(kruskal_wallis(&[vec![1.0]]).is_err() && kruskal_wallis(&[vec![1.0], vec![]]).is_err());
    assert!(dunn(&[]).is_err() && dunn(&[vec![1.0], vec![f64::NAN]]).is_err());
    assert!(cliffs_delta(&[], &[1.0]).is_err());
    assert!(holm_p_values(&[1.1]).is_err() && bonferroni_p_values(&[f64::NAN]).is_err());
    assert!(unbalanced_nested_components(&[2, 2], &[1.0; 3]).is_err());
    assert!(unbalanced_nested_components(&[4, 1], &[1.0; 4]).is_err());
    assert!(winsorise(&[], 0.2).is_err() && winsorise(&[1.0], -0.1).is_err());
}

#[test]
fn a_grand_ratio_has_the_interval_of_its_runs() {
    let mut noise = Noise::new(5);
    let baseline: Vec<f64> = (0..40).map(|_| (0.1 * noise.normal()).exp()).collect();
    let candidate: Vec<f64> = (0..40).map(|_| 1.1 * (0.1 * noise.normal()).exp()).collect();
    let grand = grand_ratio(&baseline, &candidate, 10, 0.99).unwrap();
    let logs: Vec<f64> = baseline.iter().zip(&candidate).map(|(b, c)| (c / b).ln()).collect();
    let by_run: Vec<f64> = logs.chunks(4).map(|run| run.iter().sum::<f64>() / 4.0).collect();
    let interval = mean_interval(&by_run, 0.99).unwrap();
    assert!(within(grand.ratio.ln(), mean(&logs).unwrap(), 1e-12));
    assert!(
        within(grand.interval.low.ln(), interval.low, 1e-12) && within(grand.interval.high.ln(), interval.high, 1e-12)
    );
    assert!(grand_ratio(&baseline, &candidate, 7, 0.99).is_err());
}

fn groups() -> impl Strategy<Value = Vec<Vec<f64>>> {
    vec(vec((-5..5i32).prop_map(f64::from), 1..8), 2..6)
}

fn within(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// The same cases every time; a failure must be the fault of a change, never of luck.
fn same_cases() -> ProptestConfig {
    ProptestConfig { cases: 100, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(a in vec(ANY, 0..12), b in vec(ANY, 0..12), groups in vec(vec(ANY, 0..4), 0..5), x in ANY, shape in vec(0..4usize, 0..4)) {
        let _ = (kruskal_wallis(&groups), dunn(&groups), cliffs_delta(&a, &b), winsorise(&a, x));
        let _ = (holm_p_values(&a), bonferroni_p_values(&a), grand_ratio(&a, &b, shape.len(), x));
        let _ = unbalanced_nested_components(&shape, &a);
    }

    #[test]
    fn two_samples_exchanged_differ_the_other_way((a, b) in samples()) {
        prop_assert_eq!(cliffs_delta(&a, &b).unwrap(), -cliffs_delta(&b, &a).unwrap());
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
