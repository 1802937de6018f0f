//! Spreads that learn from each other, against NumPy's answers in `tests/reference/suite.json`.

use duetbench_core::stats::{SampleVariance, StatsError, spread_prior};

use crate::reference::{close, numbers};
use crate::suite::answers;
use crate::support::Noise;

fn samples(variances: &[f64], dfs: &[f64]) -> Vec<SampleVariance> {
    variances.iter().zip(dfs).map(|(variance, df)| SampleVariance { variance: *variance, df: *df }).collect()
}

#[test]
fn the_prior_is_that_of_smyths_moments() {
    let cases = answers("spread_prior");
    for case in &cases {
        let samples = samples(&numbers(&case["variances"]), &numbers(&case["dfs"]));
        let prior = spread_prior(&samples).unwrap();
        close(prior.df, case["d0"].as_f64().unwrap(), 1e-9);
        close(prior.variance, case["s0"].as_f64().unwrap(), 1e-9);
        let (moderated, worth) = (numbers(&case["moderated"]), numbers(&case["worth"]));
        for ((sample, moderated), worth) in samples.iter().zip(moderated).zip(worth) {
            let ours = prior.moderate(*sample);
            close(ours.variance, moderated, 1e-9);
            close(ours.df, worth, 1e-9);
        }
    }
    assert!(cases.len() >= 5);
}

/// Chi-square with so many degrees of freedom, divided by them.
fn chi_square(noise: &mut Noise, df: u32) -> f64 {
    (0..df).map(|_| noise.normal().powi(2)).sum::<f64>() / f64::from(df)
}

#[test]
fn what_was_drawn_from_a_prior_finds_it_again() {
    let mut noise = Noise::new(11);
    let drawn: Vec<SampleVariance> = (0..4_000)
        .map(|_| {
            let true_variance = 6e-4 / chi_square(&mut noise, 8);
            SampleVariance { variance: true_variance * chi_square(&mut noise, 5), df: 5.0 }
        })
        .collect();
    let prior = spread_prior(&drawn).unwrap();
    assert!((7.0..9.2).contains(&prior.df) && (5.7e-4..6.3e-4).contains(&prior.variance), "{prior:?}");
}

#[test]
fn spreads_that_are_all_the_same_are_known_together() {
    let mut noise = Noise::new(12);
    let drawn: Vec<SampleVariance> =
        (0..60).map(|_| SampleVariance { variance: 4.0 * chi_square(&mut noise, 3), df: 3.0 }).collect();
    let even = samples(&[1.0; 10], &[3.0; 10]);
    let prior = spread_prior(&even).unwrap();
    assert_eq!((prior.variance, prior.df, prior.df_of_all), (1.0, 1e6, 30.0));
    // Worth as much as all of them, and no more.
    assert_eq!(prior.moderate(even[0]).df, 30.0);
    let prior = spread_prior(&drawn).unwrap();
    assert!(prior.df > 15.0 && (3.0..5.0).contains(&prior.variance), "{prior:?}");
}

#[test]
fn a_spread_of_nothing_is_raised_and_what_makes_no_sense_is_refused() {
    let some = spread_prior(&samples(&[0.0, 1.0, 2.0, 1.5], &[5.0; 4])).unwrap();
    let floored = spread_prior(&samples(&[1.25e-5, 1.0, 2.0, 1.5], &[5.0; 4])).unwrap();
    assert_eq!(some, floored);
    assert_eq!(spread_prior(&samples(&[1.0], &[5.0])), Err(StatsError::TooFew { have: 1, needed: 2 }));
    for (variance, df) in [(-1.0, 5.0), (f64::NAN, 5.0), (f64::INFINITY, 5.0), (1.0, 0.0), (1.0, f64::NAN)] {
        assert!(spread_prior(&samples(&[variance, 1.0, 1.0], &[df, 5.0, 5.0])).is_err(), "{variance} {df}");
    }
    assert!(spread_prior(&samples(&[0.0, 0.0, 0.0, 1.0], &[5.0; 4])).is_err());
}
