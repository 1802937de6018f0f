//! What one benchmark's units say at each look.

use duetbench_core::analysis::{Basis, Evidence, Looks};
use duetbench_core::plan::Design;
use duetbench_core::spec::Decision;
use duetbench_core::stats::{Sequential, StatsError, trimmed_t};

use crate::reference::close;
use crate::support::{Noise, fixed_design, forks_of};

const SEQUENTIAL: Design = Design { units: 20, forks_per_unit: 1, doubled: 0, by_build: false, sequential: true };

fn draws(n: usize) -> Vec<f64> {
    let mut noise = Noise::new(5);
    (0..n).map(|_| 0.02 + 0.03 * noise.normal()).collect()
}

fn looked_at(log_ratios: &[f64], design: &Design) -> Result<Evidence, StatsError> {
    let made = if design.sequential { Sequential::new } else { Sequential::single };
    let boundaries = made(design.units.max(3)).unwrap();
    Evidence::of(&forks_of(log_ratios), Basis::TypicalSlice, Looks { boundaries: &boundaries, design, alpha: 0.01 })
}

/// The p-value after all these looks, each with all units up to it.
fn after(looks: &[u32], log_ratios: &[f64]) -> f64 {
    let at = |n: &u32| (*n, trimmed_t(&log_ratios[..*n as usize]).unwrap().p_value().unwrap());
    Sequential::new(20).unwrap().p_value(&looks.iter().map(at).collect::<Vec<_>>()).unwrap()
}

#[test]
fn the_p_value_is_that_of_all_looks_that_have_passed() {
    for (units, looks) in [(4, &[4][..]), (8, &[4, 6, 8]), (13, &[4, 6, 8, 10, 13]), (20, &[4, 6, 8, 10, 13, 16, 20])] {
        let log_ratios = draws(units);
        let evidence = looked_at(&log_ratios, &SEQUENTIAL).unwrap();
        assert_eq!((evidence.looks as usize, evidence.p_value), (looks.len(), after(looks, &log_ratios)));
    }
}

#[test]
fn an_earlier_look_is_not_forgotten() {
    // Clear after four units, and drowned afterwards.
    let log_ratios = [0.1, 0.101, 0.099, 0.1, -0.2, 0.3];
    let evidence = looked_at(&log_ratios, &SEQUENTIAL).unwrap();
    assert!(evidence.log_ratio.p_value().unwrap() > 0.1 && evidence.p_value < 1e-3, "{evidence:?}");
}

#[test]
fn an_end_between_two_looks_is_one_more_look() {
    let log_ratios = draws(9);
    let evidence = looked_at(&log_ratios, &SEQUENTIAL).unwrap();
    assert_eq!((evidence.looks, evidence.p_value), (4, after(&[4, 6, 8, 9], &log_ratios)));
    // Less than the 0.00132 of the look after eight, because little more may be spent by the ninth.
    assert!((0.0012..0.0013).contains(&evidence.look_alpha), "{}", evidence.look_alpha);
}

#[test]
fn the_interval_is_as_sure_as_its_look_must_be() {
    // The nominal p of docs/statistics.md.
    for (units, printed, half_a_digit) in [(4, 0.000_894, 5e-7), (8, 0.001_32, 5e-6), (20, 0.005_05, 5e-6)] {
        let evidence = looked_at(&draws(units), &SEQUENTIAL).unwrap();
        assert!((evidence.look_alpha - printed).abs() <= half_a_digit, "{units} units: {}", evidence.look_alpha);
        let estimate = evidence.estimate(&Decision::default(), evidence.p_value).unwrap();
        let (low, high) = evidence.log_ratio.interval(evidence.look_alpha).unwrap();
        close(estimate.ratio_low, low.exp(), 1e-15);
        close(estimate.ratio_high, high.exp(), 1e-15);
        assert_eq!((estimate.confidence, estimate.looks), (0.99, evidence.looks));
    }
}

#[test]
fn three_units_are_the_fewest() {
    for design in [SEQUENTIAL, fixed_design(20)] {
        assert_eq!(looked_at(&draws(2), &design), Err(StatsError::TooFew { have: 2, needed: 3 }));
    }
    // Before the first planned look: little is spent, and it is the only look.
    let evidence = looked_at(&draws(3), &SEQUENTIAL).unwrap();
    close(evidence.look_alpha, 0.01 * 0.15f64.powf(1.5), 1e-12);
    assert_eq!(evidence.looks, 1);
}

#[test]
fn units_beyond_the_horizon_are_not_looked_at() {
    let many = [draws(20), vec![5.0; 10]].concat();
    let (all, first) = (looked_at(&many, &SEQUENTIAL).unwrap(), looked_at(&draws(20), &SEQUENTIAL).unwrap());
    assert_eq!((all.log_ratio, all.p_value, all.look_alpha), (first.log_ratio, first.p_value, first.look_alpha));
    assert_eq!((all.counts.units, all.looks), (20, 7));
}

#[test]
fn a_design_that_looks_once_may_spend_all_whenever_it_ends() {
    for units in [3, 9, 20] {
        let evidence = looked_at(&draws(units), &fixed_design(20)).unwrap();
        assert_eq!((evidence.looks, evidence.look_alpha), (1, 0.01));
        assert_eq!(evidence.p_value, evidence.log_ratio.p_value().unwrap());
    }
}
