//! The methods against SciPy. The answers are in `tests/reference/scipy.json`, made by `make.py` there, and those about tests of whole
//! runs in `suite.json`, made by `make_suite.py`.

use crate::reference::{answers, close, numbers, suite_answers};
use duetbench_stats::{
    Level, Repetition, adjusted_p_values, critical_t, detectable_factor, excess_of_small, excess_of_small_limit,
    lag_one, noncentral_t_survival, repetitions, skewness, skewness_limit, smallest_sample, trimmed_t, two_sided_p,
    variance_components,
};

#[test]
fn two_sided_p_is_scipys() {
    for case in answers("two_sided_p").iter().map(numbers) {
        close(two_sided_p(case[0], case[1]).unwrap(), case[2], 1e-10);
    }
}

#[test]
fn critical_t_is_scipys_far_into_the_tail() {
    for case in answers("critical_t").iter().map(numbers) {
        close(critical_t(case[0], case[1]).unwrap(), case[2], 1e-10);
    }
}

#[test]
fn noncentral_t_survival_is_scipys() {
    for case in answers("noncentral_t_survival").iter().map(numbers) {
        let ours = noncentral_t_survival(case[0], case[1], case[2]).unwrap();
        assert!((ours - case[3]).abs() < 1e-10, "{case:?}: ours {ours:e}");
    }
}

#[test]
fn detectable_factor_is_scipys() {
    for case in answers("detectable_factor").iter().map(numbers) {
        let level = Level { alpha: case[1], power: case[2] };
        close(detectable_factor(case[0], level).unwrap(), case[3], 1e-8);
    }
}

#[test]
fn smallest_sample_is_the_one_found_by_trying_all() {
    for case in answers("smallest_sample").iter().map(numbers) {
        let level = Level { alpha: 0.01, power: 0.8 };
        assert_eq!(smallest_sample(case[0], case[1], level, 10_000), Ok(Some(case[2] as u32)), "{case:?}");
    }
}

#[test]
fn trimmed_t_is_scipys() {
    for case in answers("trimmed_t") {
        let ours = trimmed_t(&numbers(&case["values"])).unwrap();
        let (low, high) = ours.interval(case["alpha"].as_f64().unwrap()).unwrap();
        let scipy = |name: &str| case[name].as_f64().expect("a number");
        close(ours.mean, scipy("mean"), 1e-11);
        close(ours.standard_error, scipy("error"), 1e-11);
        close(ours.degrees_of_freedom(), scipy("df"), 0.0);
        close(ours.p_value().unwrap(), scipy("p"), 1e-9);
        close(low, scipy("low"), 1e-9);
        close(high, scipy("high"), 1e-9);
    }
}

#[test]
fn variance_components_are_those_of_quadratic_forms() {
    let cases = answers("variance_components");
    let mut none = 0;
    for case in &cases {
        let groups: Vec<Vec<f64>> = case["groups"].as_array().unwrap().iter().map(numbers).collect();
        let ours = variance_components(&groups).unwrap();
        close(ours.within, case["within"].as_f64().unwrap(), 1e-9);
        assert!(
            (ours.between - case["between"].as_f64().unwrap()).abs() < 1e-9 * (ours.between + ours.within),
            "{ours:?}"
        );
        none += u32::from(ours.between == 0.0);
    }
    assert!(cases.len() >= 12 && none > 0);
}

#[test]
fn repetitions_are_those_of_least_variance() {
    for case in answers("repetitions").iter().map(numbers) {
        let [outer, inner] = [0, 1].map(|i| Repetition { variance: case[i], cost: case[i + 2] });
        assert_eq!(repetitions(outer, inner), Ok(case[4] as u32), "{case:?}");
    }
}

#[test]
fn adjusted_p_values_are_scipys() {
    let case = answers("adjusted_p_values");
    let ours = adjusted_p_values(&numbers(&case[0])).unwrap();
    for (ours, scipy) in ours.into_iter().zip(numbers(&case[1])) {
        close(ours, scipy, 1e-13);
    }
}

#[test]
fn the_factors_of_the_documentation() {
    // The table of docs/statistics/04-detectable.md: forks, and their factor at alpha 1 % and power 0.8.
    let table = [(3, 12.678), (5, 5.879), (8, 4.514), (10, 4.514), (12, 4.212), (20, 3.851), (30, 3.687)];
    for (forks, factor) in table {
        let values: Vec<f64> = (0..forks).map(f64::from).collect();
        let df = trimmed_t(&values).unwrap().degrees_of_freedom();
        let ours = detectable_factor(df, Level { alpha: 0.01, power: 0.8 }).unwrap();
        assert!((ours - factor).abs() < 5e-4, "{forks} forks: {ours}");
    }
}

#[test]
fn the_factors_of_students_t() {
    let table = [(4, 7.44), (5, 5.879), (6, 5.167), (8, 4.514), (10, 4.212), (15, 3.886), (20, 3.750), (30, 3.627)];
    for (n, factor) in table {
        let ours = detectable_factor(f64::from(n - 1), Level { alpha: 0.01, power: 0.8 }).unwrap();
        assert!((ours - factor).abs() < 1e-3, "{n} values: {ours}");
    }
}

#[test]
fn the_moments_of_successive_values_are_those_of_quadratic_forms() {
    for case in suite_answers("lag_one").iter().map(numbers) {
        let values: Vec<f64> = (0..case[0] as i32).map(|i| f64::from(i * i % 7)).collect();
        let ours = lag_one(&values).unwrap();
        close(ours.expected, case[1], 1e-12);
        close(ours.variance, case[2], 1e-10);
    }
    assert!(lag_one(&[1.0, 2.0]).is_err() && lag_one(&[0.1; 5]).is_err() && lag_one(&[1.0, f64::NAN, 2.0]).is_err());
}

#[test]
fn skewness_and_its_limit_are_scipys() {
    for case in suite_answers("skewness") {
        let values = numbers(&case["values"]);
        let (scipy, p) = (case["skewness"].as_f64().unwrap(), case["p"].as_f64().unwrap());
        close(skewness(&values).unwrap(), scipy, 1e-10);
        // At this level the sample is just at its limit.
        close(skewness_limit(values.len() as u32, p).unwrap(), scipy.abs(), 1e-7);
    }
    assert!(skewness_limit(7, 0.01).is_err() && skewness(&[1.0, 2.0]).is_err());
    assert_eq!(skewness(&[0.1; 4]), Ok(0.0));
}

#[test]
fn small_values_in_excess_are_scipys() {
    for case in suite_answers("excess") {
        close(excess_of_small(&numbers(&case["values"])).unwrap(), case["excess"].as_f64().unwrap(), 1e-12);
    }
    for case in suite_answers("excess_limit").iter().map(numbers) {
        close(excess_of_small_limit(case[0], case[1]).unwrap(), case[2], 1e-8);
    }
    // A number that is not whole counts as the next smaller number.
    assert_eq!(excess_of_small_limit(5.9, 0.01), excess_of_small_limit(5.0, 0.01));
    assert_eq!(excess_of_small(&[1.0, 1.0]), Ok(0.0));
    assert!(excess_of_small(&[]).is_err() && excess_of_small(&[1.5]).is_err());
    assert!(excess_of_small_limit(0.5, 0.01).is_err() && excess_of_small_limit(5.0, 1.0).is_err());
}
