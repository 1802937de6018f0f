//! The cheapest design, held against trying all.

use duetbench_core::analysis::Basis;
use duetbench_core::calibrate::{Costs, Obstacle, Proposal, Sources, Target, propose, propose_each};
use duetbench_core::stats::{Level, Sequential, detectable_factor, level_kept_by_t, variance_limit};

use crate::reference::close;

const LEVEL: Level = Level { alpha: 0.01, power: 0.9 };

const SOURCES: Sources = Sources {
    layout: Some(0.02),
    fork: 0.015,
    slice: 0.12,
    slices: 100,
    degrees_of_freedom: 25.0,
    basis: Basis::TypicalSlice,
    forks_per_unit: 1.07,
    fork_degrees_of_freedom: 4.0,
    tails: 1.5,
    places: 1,
};

const COSTS: Costs = Costs { build_s: 0.8, fork_s: 0.05, slice_s: 0.0004 };

fn target(change: f64) -> Target {
    Target { change, level: LEVEL, within_s: None, instances: 1 }
}

/// Standard errors that `units` units need, from 3 to 64.
fn errors() -> Vec<f64> {
    let df = |units: u32| f64::from(units - 2 * (units / 10) - 1);
    let of = |units: u32| {
        // Three and four units are looked at once.
        let kept = || Sequential::last_nominal_p(units, level_kept_by_t(LEVEL.alpha)).unwrap();
        let alpha = if units < 5 { LEVEL.alpha } else { kept() };
        detectable_factor(df(units), Level { alpha, ..LEVEL }).unwrap()
    };
    (3..=64).map(of).collect()
}

/// The least time of all designs that see a change, by trying them; the formula is written once more.
fn least_time(sources: &Sources, costs: &Costs, target: &Target, errors: &[f64]) -> f64 {
    let nested = sources.layout.is_some();
    let layout = sources.layout.unwrap_or(0.0).powi(2);
    let one_slice = std::f64::consts::FRAC_PI_2 * sources.slice.powi(2);
    let within = sources.fork.powi(2) + one_slice / f64::from(sources.slices);
    let of_units = layout + within / sources.forks_per_unit;
    let limit = variance_limit(sources.degrees_of_freedom, 0.8).unwrap() - 1.0;
    let mut best = f64::INFINITY;
    for (units, errors) in (3u32..).zip(errors) {
        let turns = f64::from(units.div_ceil(target.instances));
        for forks in (sources.places..=if nested { 64 } else { 1 }).step_by(sources.places as usize) {
            let k = f64::from(forks);
            let others = 1.0 / k - 1.0 / sources.forks_per_unit;
            let confidence = if others > 0.0 { 0.8 } else { 0.2 };
            let of_forks = variance_limit(sources.fork_degrees_of_freedom, confidence).map_or(0.0, |f| f - 1.0);
            let doubt = (limit * of_units).hypot(of_forks * others * within);
            let sees = |slices: u32| {
                let variance = layout + (sources.fork.powi(2) + one_slice / f64::from(slices)) / k + doubt;
                let tails = if units < 10 { sources.tails } else { 1.0 };
                errors * (tails * variance / f64::from(units)).sqrt() <= target.change.ln_1p()
            };
            if let Some(slices) = (16..=2048).find(|slices| sees(*slices)) {
                let of_forks = k * (costs.fork_s + f64::from(slices) * costs.slice_s);
                let time = if nested { turns * (costs.build_s + of_forks) } else { costs.build_s + turns * of_forks };
                best = best.min(time);
            }
        }
    }
    best
}

#[test]
fn no_design_is_cheaper() {
    let errors = errors();
    let noisy_slices = Sources { slice: 0.5, fork: 0.002, layout: Some(0.004), ..SOURCES };
    let one_build = Sources { layout: None, forks_per_unit: 1.0, fork_degrees_of_freedom: 0.0, ..SOURCES };
    let exchanged = Sources { places: 2, ..SOURCES };
    let free_builds = Costs { build_s: 0.0, ..COSTS };
    let dear_builds = Costs { build_s: 30.0, ..COSTS };
    let (mut units, mut slices) = (Vec::new(), Vec::new());
    for (sources, costs, change, instances) in [
        (SOURCES, COSTS, 0.05, 1),
        (SOURCES, COSTS, 0.03, 1),
        (SOURCES, free_builds, 0.03, 1),
        (exchanged, free_builds, 0.03, 1),
        (SOURCES, dear_builds, 0.03, 1),
        (SOURCES, COSTS, 0.03, 10),
        (SOURCES, COSTS, 0.03, 1000),
        (noisy_slices, COSTS, 0.03, 1),
        (noisy_slices, dear_builds, 0.03, 7),
        (one_build, COSTS, 0.03, 1),
        (one_build, COSTS, 0.03, 4),
    ] {
        let target = Target { instances, ..target(change) };
        let proposal = propose(&sources, &costs, &target).unwrap();
        close(proposal.takes_s, least_time(&sources, &costs, &target, &errors), 1e-9);
        assert!(proposal.minimal_detectable_change <= change * (1.0 + 1e-9), "{proposal:?}");
        let of_proposal = if sources.layout.is_some() { proposal.builds } else { proposal.forks_per_build };
        units.push(of_proposal);
        slices.push(proposal.slices);
    }
    // The cases are of many kinds.
    assert!(units.iter().min() <= Some(&12) && units.iter().max() > Some(&30), "{units:?}");
    assert!(slices.iter().min() < Some(&150) && slices.iter().max() > Some(&300), "{slices:?}");
}

#[test]
fn dear_builds_get_more_fork_pairs_and_dear_forks_more_slices() {
    let of = |costs: Costs| propose(&SOURCES, &costs, &target(0.03)).unwrap();
    let (cheap, dear) = (of(Costs { build_s: 0.1, ..COSTS }), of(Costs { build_s: 50.0, ..COSTS }));
    assert!(dear.builds < cheap.builds && dear.forks_per_build > cheap.forks_per_build, "{cheap:?} {dear:?}");
    let dear = of(Costs { fork_s: 5.0, build_s: 0.0, ..COSTS });
    assert!(dear.slices > cheap.slices, "{cheap:?} {dear:?}");
}

#[test]
fn what_does_not_fit_the_time_is_told_with_the_best_that_does() {
    let free = propose(&SOURCES, &COSTS, &target(0.02)).unwrap();
    let within = |within_s: f64| propose(&SOURCES, &COSTS, &Target { within_s: Some(within_s), ..target(0.02) });
    assert_eq!(within(free.takes_s), Ok(free));
    let Err(Obstacle { best: Some(best), needed }) = within(free.takes_s / 4.0) else { panic!("too little time") };
    assert_eq!(needed, Some(free));
    assert!(best.takes_s <= free.takes_s / 4.0 && best.minimal_detectable_change > 0.02, "{best:?}");
    // The best design in a time is the cheapest for the change that it detects.
    let again = propose(&SOURCES, &COSTS, &target(best.minimal_detectable_change * (1.0 + 1e-9))).unwrap();
    assert!(again.takes_s <= best.takes_s && again.takes_s > 0.9 * best.takes_s, "{best:?} {again:?}");
    assert_eq!(within(1.0), Err(Obstacle { best: None, needed }));
}

#[test]
fn what_no_design_sees_is_said_so() {
    let Err(obstacle) = propose(&SOURCES, &COSTS, &target(1e-5)) else { panic!("nobody sees that") };
    assert_eq!(obstacle.needed, None);
    let Proposal { builds, forks_per_build, minimal_detectable_change, .. } = obstacle.best.unwrap();
    assert!(builds * forks_per_build <= 10_000 && minimal_detectable_change < 0.002);
    for impossible in [target(0.0), target(-0.5), Target { level: Level { alpha: 2.0, power: 0.8 }, ..target(0.1) }] {
        assert!(propose(&SOURCES, &COSTS, &impossible).unwrap_err().needed.is_none());
    }
}

#[test]
fn fewer_slices_than_were_measured_are_tried_only_down_to_a_few() {
    let steady = Sources { slice: 1e-6, ..SOURCES };
    assert_eq!(propose(&steady, &COSTS, &target(0.05)).unwrap().slices, 16);
    let processes = Sources { slices: 5, ..steady };
    assert_eq!(propose(&processes, &COSTS, &target(0.05)).unwrap().slices, 5);
}

#[test]
fn a_larger_change_never_takes_longer() {
    let changes: Vec<f64> = (0..12).map(|i| 0.01 * 1.2f64.powi(i)).collect();
    let times: Vec<f64> = changes.iter().map(|c| propose(&SOURCES, &COSTS, &target(*c)).unwrap().takes_s).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
}

#[test]
fn many_benchmarks_get_what_each_would_alone() {
    let other = Sources { layout: None, ..SOURCES };
    let both = propose_each([(&SOURCES, &COSTS), (&other, &COSTS)], &target(0.03));
    assert_eq!(both, [propose(&SOURCES, &COSTS, &target(0.03)), propose(&other, &COSTS, &target(0.03))]);
}
