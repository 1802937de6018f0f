//! Promises of a calibration, held against simulated comparisons. Seeds are fixed, figures those of docs/statistics/19-calibration.md.

use std::collections::BTreeMap;

use duetbench_core::analysis::{Basis, Evidence, Looks, Tests};
use duetbench_core::calibrate::{Calibration, Observed, Sight};
use duetbench_core::plan::Design;
use duetbench_core::report::ForkPair;
use duetbench_core::spec::Decision;

use crate::calibrate::{WORLD, World, observed};
use crate::support::{Noise, build_pairs, fixed_design};

/// Units that were disturbed for a while: one in ten draws is eight times as wide.
fn burst(noise: &mut Noise) -> f64 {
    let width = if noise.normal() > 1.2816 { 8.0 } else { 1.0 };
    width * noise.normal()
}

/// The design that a sight says is paid for.
fn design_of(sight: &Sight, calibrated: &Design) -> Design {
    if calibrated.by_build {
        Design { forks_per_unit: sight.forks_per_build, ..build_pairs(sight.builds, 0) }
    } else {
        Design { sequential: true, ..fixed_design(sight.forks_per_build) }
    }
}

/// Whether a change is found that was planted into fork pairs of equal code.
fn finds(forks: &[ForkPair], change: f64, design: &Design, tests: &Tests) -> bool {
    let planted: Vec<ForkPair> =
        forks.iter().map(|f| ForkPair { log_ratio: f.log_ratio + change.ln_1p(), ..*f }).collect();
    let decision = Decision::default();
    let looks = Looks::as_planned(tests, design, &decision);
    let evidence = Evidence::of(&planted, Basis::TypicalSlice.into(), looks).unwrap();
    evidence.p_value <= 0.01 && evidence.log_ratio.mean > 0.0
}

const CALIBRATIONS: u32 = 250;
const COMPARISONS: u32 = 8;

/// Shares of comparisons in which changes of the promised size and of half of it are found, for each of the budgets.
fn found(world: World, calibrated: Design, budgets_s: &[f64]) -> Vec<[f64; 2]> {
    let mut noise = Noise::new(12);
    let all: Vec<Vec<ForkPair>> = (0..CALIBRATIONS).map(|_| world.forks(&calibrated, &mut noise)).collect();
    let observed: Vec<Observed<'_>> = all.iter().map(|forks| observed("A", forks, calibrated)).collect();
    let calibrations = Calibration::of(&observed, budgets_s, &Decision::default()).benchmarks;
    let mut boundaries = BTreeMap::new();
    let mut of_budget = |budget: usize| {
        let mut found = [0u32; 2];
        for calibration in &calibrations {
            let sight = calibration.sights[budget].unwrap();
            let design = design_of(&sight, &calibrated);
            let boundaries = boundaries.entry(design.units).or_insert_with(|| Tests::sequential(design.units).unwrap());
            let seen = sight.minimal_detectable_change;
            for _ in 0..COMPARISONS {
                let forks = world.forks(&design, &mut noise);
                found[0] += u32::from(finds(&forks, seen, &design, boundaries));
                found[1] += u32::from(finds(&forks, seen / 2.0, &design, boundaries));
            }
        }
        found.map(|times| f64::from(times) / f64::from(CALIBRATIONS * COMPARISONS))
    };
    (0..budgets_s.len()).map(&mut of_budget).collect()
}

/// Asserts that changes of the promised size are found in four of five comparisons and more, and of half of it much less often.
#[track_caller]
fn check(world: World, calibrated: Design, budgets_s: &[f64], half_at_most: f64) {
    for (budget_s, [whole, half]) in budgets_s.iter().zip(found(world, calibrated, budgets_s)) {
        assert!(whole >= 0.8 && half <= half_at_most, "{budget_s} s: {whole}, {half}");
    }
}

const BUDGETS: [f64; 3] = [5.0, 12.0, 30.0];

#[test]
fn promised_changes_are_found_with_many_build_pairs() {
    check(WORLD, build_pairs(32, 4), &BUDGETS, 0.5);
}

#[test]
fn promised_changes_are_found_with_a_single_build_pair() {
    check(WORLD, fixed_design(20), &BUDGETS, 0.5);
}

#[test]
fn promised_changes_are_found_in_long_tails() {
    let world = World { draw: |noise| noise.t3() / 3f64.sqrt(), ..WORLD };
    check(world, build_pairs(32, 4), &BUDGETS, 0.6);
}

#[test]
fn promised_changes_are_found_with_bursts() {
    // Few of five units are disturbed, so there half is found almost as often: the spread is that of the disturbed.
    let world = World { draw: burst, ..WORLD };
    check(world, build_pairs(32, 4), &BUDGETS, 0.8);
}

#[test]
fn promised_changes_are_found_where_fork_pairs_matter_most() {
    check(World { layout: 0.004, fork: 0.03, ..WORLD }, build_pairs(32, 4), &BUDGETS, 0.5);
}

fn suite(worlds: &[World], design: Design, shift: f64) -> Calibration {
    let mut noise = Noise::new(8);
    let all: Vec<Vec<ForkPair>> = worlds
        .iter()
        .map(|world| world.forks(&design, &mut noise))
        .map(|forks| forks.iter().map(|f| ForkPair { log_ratio: f.log_ratio + shift, ..*f }).collect())
        .collect();
    let observed: Vec<Observed<'_>> =
        all.iter().enumerate().map(|(i, forks)| observed(&i.to_string(), forks, design)).collect();
    Calibration::of(&observed, &[30.0], &Decision::default())
}

#[test]
fn equal_code_is_called_changed_as_often_as_it_may_be() {
    for design in [build_pairs(32, 4), Design { sequential: false, ..fixed_design(32) }] {
        let alarms = suite(&[WORLD; 100], design, 0.0).alarms;
        assert_eq!((alarms.units, alarms.called_changed.of), (8, 400));
        assert!(alarms.called_changed.low <= 0.01 && alarms.called_changed.times <= 14, "{alarms:?}");
        assert!(alarms.planted_found.low >= 0.75, "{alarms:?}");
        assert!(alarms.half_found.high <= 0.5, "{alarms:?}");
    }
}

#[test]
fn sides_that_are_not_alike_are_noticed() {
    let alarms = suite(&[WORLD; 25], build_pairs(32, 4), 0.05).alarms;
    assert!(alarms.called_changed.low > 0.3, "{alarms:?}");
}

#[test]
fn parts_are_of_what_the_typical_benchmark_has() {
    let units = |units: u32| suite(&[WORLD; 3], fixed_design(units), 0.0).alarms;
    assert_eq!([units(12), units(24), units(200)].map(|alarms| alarms.units), [4, 6, 10]);
    assert_eq!([units(12), units(24), units(200)].map(|alarms| alarms.called_changed.of), [9, 12, 60]);
    // Three units are too few for a part, and a single part has no others to learn from.
    assert_eq!(units(3).called_changed.of, 0);
    assert_eq!((units(6).called_changed.of, units(6).planted_found.of), (3, 0));
}
