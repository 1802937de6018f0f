//! Properties of the methods.

use duetbench_stats::{
    Level, Repetition, adjusted_p_values, critical_t, detectable_factor, mean, median, noncentral_t_survival,
    repetitions, smallest_sample, trimmed_mean, trimmed_t, two_sided_p, variance_components,
};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

use crate::same_cases;

fn values() -> impl Strategy<Value = Vec<f64>> {
    vec(-1.0..1.0f64, 2..40)
}

fn groups() -> impl Strategy<Value = Vec<Vec<f64>>> {
    // At least one of them has two values.
    (vec(vec(-1.0..1.0f64, 1..5), 1..20), vec(-1.0..1.0f64, 2..5)).prop_map(|(mut groups, last)| {
        groups.push(last);
        groups
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(list in vec(ANY, 0..12), a in ANY, b in ANY, c in ANY, n in any::<u32>()) {
        let level = Level { alpha: a, power: b };
        let _ = (mean(&list), median(&list), trimmed_mean(&list, n as usize), adjusted_p_values(&list));
        if let Ok(t) = trimmed_t(&list) {
            prop_assert!(t.mean.is_finite() && t.standard_error >= 0.0);
            let _ = (t.p_value(), t.interval(a));
        }
        let _ = (two_sided_p(a, b), critical_t(a, b), noncentral_t_survival(a, b, c));
        let _ = (detectable_factor(c, level), smallest_sample(b, c, level, n % 100));
    }

    #[test]
    fn levels_inside_their_range_have_an_answer(alpha in 1e-12..0.5f64, power in 0.001..0.999f64, df in 1.0..1e4f64) {
        prop_assert!(critical_t(alpha, df).unwrap() > 0.0);
        let factor = detectable_factor(df, Level { alpha, power }).unwrap();
        prop_assert!(factor.is_finite() && (factor > 0.0 || power <= alpha));
    }

    #[test]
    fn critical_t_inverts_the_tail(alpha in 1e-12..0.999f64, df in 1.0..1e3f64) {
        let back = two_sided_p(critical_t(alpha, df).unwrap(), df).unwrap();
        prop_assert!((back / alpha - 1.0).abs() < 1e-7, "{alpha} came back as {back}");
    }

    #[test]
    fn trimmed_t_scales_with_its_values(values in values(), scale in 0.001..1000.0f64) {
        let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
        let (t, s) = (trimmed_t(&values).unwrap(), trimmed_t(&scaled).unwrap());
        prop_assert!(close(t.mean * scale, s.mean) && close(t.standard_error * scale, s.standard_error));
        prop_assert!((t.p_value().unwrap() - s.p_value().unwrap()).abs() < 1e-7);
    }

    #[test]
    fn trimmed_t_moves_with_its_values(values in values(), shift in -10.0..10.0f64) {
        let moved: Vec<f64> = values.iter().map(|v| v + shift).collect();
        let (t, m) = (trimmed_t(&values).unwrap(), trimmed_t(&moved).unwrap());
        prop_assert!(close(t.mean + shift, m.mean) && close(t.standard_error, m.standard_error));
    }

    #[test]
    fn trimmed_t_ignores_order((values, shuffled) in shuffled_values()) {
        prop_assert_eq!(trimmed_t(&values), trimmed_t(&shuffled));
    }

    #[test]
    fn trimmed_t_ignores_how_far_out_the_trimmed_tenth_lies(values in vec(-1.0..1.0f64, 10..40), far in 2.0..1e6f64) {
        let highest = values.iter().copied().fold(f64::MIN, f64::max);
        let stretched: Vec<f64> = values.iter().map(|v| if *v == highest { far } else { *v }).collect();
        prop_assert_eq!(trimmed_t(&values), trimmed_t(&stretched));
    }

    #[test]
    fn an_interval_excludes_zero_exactly_when_p_is_below_alpha(values in values(), alpha in 0.001..0.4f64) {
        let t = trimmed_t(&values).unwrap();
        let (low, high) = t.interval(alpha).unwrap();
        let p = t.p_value().unwrap();
        prop_assert!((p / alpha - 1.0).abs() < 1e-6 || (p < alpha) == (low > 0.0 || high < 0.0));
    }

    #[test]
    fn adjusting_keeps_the_order_and_never_lowers(p in vec(0.0..=1.0f64, 0..50)) {
        let adjusted = adjusted_p_values(&p).unwrap();
        for (i, (raw, adj)) in p.iter().zip(&adjusted).enumerate() {
            prop_assert!(raw <= adj && *adj <= 1.0);
            prop_assert!(p.iter().zip(&adjusted).all(|(r, a)| (r <= raw || adj <= a) && (r != raw || a == adj)), "{i}");
        }
    }

    #[test]
    fn raising_one_p_lowers_no_adjusted_one(p in vec(0.0..=1.0f64, 1..30), which in any::<usize>(), by in 0.0..1.0f64) {
        let mut raised = p.clone();
        let i = which % p.len();
        raised[i] += (1.0 - raised[i]) * by;
        let (before, after) = (adjusted_p_values(&p).unwrap(), adjusted_p_values(&raised).unwrap());
        prop_assert!(before.iter().zip(&after).all(|(b, a)| a >= b));
    }

    #[test]
    fn adjusted_p_values_select_what_the_step_up_rule_selects(p in vec(0.0..=0.2f64, 1..30), q in 0.01..0.3f64) {
        // The rule as Benjamini and Hochberg state it: the largest k with p_(k) <= q k / m, and all up to it.
        let mut ascending = p.clone();
        ascending.sort_by(f64::total_cmp);
        let m = p.len() as f64;
        let cut = (1..=p.len()).rev().find(|k| ascending[k - 1] <= q * *k as f64 / m).unwrap_or(0);
        let selected = adjusted_p_values(&p).unwrap().into_iter().filter(|a| *a <= q).count();
        prop_assert_eq!(selected, cut);
    }

    #[test]
    fn more_values_detect_less(df in 1.0..200.0f64, alpha in 0.001..0.2f64) {
        let factor = |df| detectable_factor(df, Level { alpha, power: 0.8 }).unwrap();
        prop_assert!(factor(df) > factor(df + 1.0));
    }

    #[test]
    fn components_and_repetitions_never_panic(groups in vec(vec(ANY, 0..5), 0..6), a in ANY, b in ANY, c in ANY, d in ANY) {
        if let Ok(c) = variance_components(&groups) {
            // Sums of squares of large numbers may overflow; they are never negative.
            prop_assert!(!(c.between < 0.0 || c.within < 0.0), "{c:?}");
        }
        if let Ok(n) = repetitions(Repetition { variance: a, cost: c }, Repetition { variance: b, cost: d }) {
            prop_assert!(n >= 1);
        }
    }

    #[test]
    fn components_do_not_move_with_their_values_and_scale_with_their_square(groups in groups(), shift in -10.0..10.0f64, scale in 0.001..1000.0f64) {
        let changed = |by: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> { groups.iter().map(|g| g.iter().map(|v| by(*v)).collect()).collect() };
        let c = variance_components(&groups).unwrap();
        let moved = variance_components(&changed(&|v| v + shift)).unwrap();
        prop_assert!(close(c.between, moved.between) && close(c.within, moved.within));
        let scaled = variance_components(&changed(&|v| v * scale)).unwrap();
        prop_assert!(close(c.between, scaled.between / scale / scale) && close(c.within, scaled.within / scale / scale));
        prop_assert!((0.0..=1.0).contains(&c.share_between()));
    }

    #[test]
    fn components_ignore_the_order_of_groups_and_empty_ones(mut groups in groups()) {
        let c = variance_components(&groups).unwrap();
        groups.reverse();
        groups.insert(1, vec![]);
        let turned = variance_components(&groups).unwrap();
        prop_assert!(close(c.between, turned.between) && close(c.within, turned.within));
    }

    #[test]
    fn components_need_two_groups_and_a_group_of_two(values in values()) {
        prop_assert!(variance_components(std::slice::from_ref(&values)).is_err());
        let alone: Vec<Vec<f64>> = values.iter().map(|v| vec![*v]).collect();
        prop_assert!(variance_components(&alone).is_err());
    }

    #[test]
    fn repetitions_are_as_good_as_any_other_number(v in 1e-4..1e4f64, c in 1e-4..1e4f64) {
        // Variance for the cost, for one inner repetition of variance 1 and cost 1.
        let product = |n: f64| (v + 1.0 / n) * (c + n);
        let n = f64::from(repetitions(Repetition { variance: v, cost: c }, Repetition { variance: 1.0, cost: 1.0 }).unwrap());
        prop_assert!([1.0, n - 1.0, n + 1.0, 2.0 * n, n / 2.0].iter().all(|m| *m < 1.0 || product(n) <= 1.01 * product(*m)), "{}", n);
    }
}

fn shuffled_values() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    values().prop_flat_map(|v| (proptest::strategy::Just(v.clone()), proptest::strategy::Just(v).prop_shuffle()))
}

#[test]
fn no_spread_is_reported_and_not_divided_by() {
    let same = trimmed_t(&[0.1; 7]).unwrap();
    assert_eq!((same.mean, same.standard_error, same.p_value()), (0.1, 0.0, Ok(0.0)));
    assert_eq!(trimmed_t(&[0.0; 7]).unwrap().p_value(), Ok(1.0));
    // One differs, and is trimmed away.
    let mut ten = [0.1; 10];
    ten[3] = 5.0;
    assert_eq!(trimmed_t(&ten).unwrap().standard_error, 0.0);
}
