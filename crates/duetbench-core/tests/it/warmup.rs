//! Where processes become steady.

use duetbench_core::Role;
use duetbench_core::analysis::{Measured, Warning, analyse};
use duetbench_core::plan::{Mode, Profile, Style, Unsteady};
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::Decision;
use duetbench_core::warmup::{Course, SERIES_MIN, drift, steady_from};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{prop_assert, proptest};

use crate::support::{Noise, PLAIN, plan, same_cases, slice};

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn nothing_panics_whatever_comes_in(values in vec(ANY, 0..40)) {
        if let Some(found) = steady_from(&values) {
            prop_assert!(found.iterations <= values.len() && found.level.is_finite());
        }
    }

    #[test]
    fn the_unit_of_time_does_not_matter(
        warm_up in 0..60usize, times in 1.2..5.0f64, scale in 1e-9..1e9f64, seed in 0..1000u64,
    ) {
        let mut noise = Noise::new(seed);
        let series: Vec<f64> =
            (0..200).map(|i| (if i < warm_up { times } else { 1.0 }) * (0.01 * noise.normal()).exp()).collect();
        let scaled: Vec<f64> = series.iter().map(|t| t * scale).collect();
        let (one, other) = (steady_from(&series).unwrap(), steady_from(&scaled).unwrap());
        prop_assert!(one.course == other.course && one.iterations == other.iterations);
    }
}

/// A series of levels, each with its length, that varies by one percent.
fn series(levels: &[(f64, usize)]) -> Vec<f64> {
    let mut noise = Noise::new(5);
    levels.iter().flat_map(|(level, n)| vec![*level; *n]).map(|l| l * (0.01 * noise.normal()).exp()).collect()
}

#[track_caller]
fn check(times: &[f64], want: Option<(Course, usize)>) {
    assert_eq!(steady_from(times).map(|w| (w.course, w.iterations)), want);
}

#[test]
fn every_course_is_told_by_its_name_and_its_place() {
    check(&series(&[(10.0, 300)]), Some((Course::Flat, 0)));
    check(&series(&[(15.0, 40), (10.0, 260)]), Some((Course::WarmsUp, 40)));
    check(&series(&[(50.0, 5), (20.0, 30), (12.0, 40), (10.0, 200)]), Some((Course::WarmsUp, 75)));
    check(&series(&[(10.0, 40), (12.0, 260)]), Some((Course::SlowsDown, 40)));
    check(&series(&[(10.0, 250), (12.0, 50)]), Some((Course::NoSteadyState, 300)));
    check(&series(&[(10.0, SERIES_MIN - 1)]), None);
    check(&[10.0, 0.0].repeat(10), None);
}

#[test]
fn a_short_warm_up_is_not_taken_for_outliers() {
    check(&series(&[(100.0, 1), (10.0, 299)]), Some((Course::WarmsUp, 1)));
    check(&series(&[(100.0, 12), (10.0, 288)]), Some((Course::WarmsUp, 12)));
    // The collector interrupts it once.
    let mut times = series(&[(40.0, 12), (10.0, 288)]);
    times[4] = 10.0;
    check(&times, Some((Course::WarmsUp, 12)));
    times[100] = 90.0;
    check(&times, Some((Course::WarmsUp, 12)));
}

#[test]
fn a_disturbance_in_between_or_at_the_end_is_no_other_level() {
    check(&series(&[(15.0, 40), (10.0, 130), (14.0, 20), (10.0, 110)]), Some((Course::WarmsUp, 40)));
    check(&series(&[(15.0, 40), (10.0, 240), (14.0, 20)]), Some((Course::WarmsUp, 40)));
    // So long is one, and what follows it is too short.
    check(&series(&[(10.0, 180), (14.0, 60), (10.0, 60)]), Some((Course::NoSteadyState, 300)));
}

#[test]
fn levels_closer_than_the_tolerance_are_one() {
    check(&series(&[(10.4, 100), (10.0, 200)]), Some((Course::Flat, 0)));
    check(&series(&[(10.7, 100), (10.0, 200)]), Some((Course::WarmsUp, 100)));
}

/// Forks of both roles with ten iterations each, of which the first half of so many in a role takes `first_ns`.
fn judged(changing: [u32; 2], forks: u32, first_ns: u64) -> Vec<duetbench_core::Sample> {
    let mut samples = Vec::new();
    for (role, changing) in Role::BOTH.into_iter().zip(changing) {
        for fork in 0..forks {
            let ns = |i: u32| if fork < changing && i < 5 { first_ns } else { 1000 };
            samples.extend((0..10).map(|i| slice(role, (fork, i), ns(i))));
        }
    }
    samples
}

#[test]
fn drift_is_counted_by_version_and_direction() {
    let found = drift(&judged([1, 7], 10, 1100), 0.03).unwrap();
    assert_eq!((found.role, found.forks, found.of, found.is_usual()), (Role::Candidate, 7, 10, true));
    assert!((found.ratio - 1.0 / 1.1).abs() < 1e-12);
    assert!(!drift(&judged([5, 1], 10, 1100), 0.03).unwrap().is_usual());
    // Within the threshold.
    assert_eq!(drift(&judged([10, 10], 10, 1020), 0.03).unwrap().forks, 0);
    // As many up as down is no warm-up.
    let mut both_ways = judged([8, 0], 10, 1100);
    let up = |s: &mut duetbench_core::Sample| s.wall_ns = if s.at.suite_run < 4 { 2100 - s.wall_ns } else { s.wall_ns };
    both_ways.iter_mut().for_each(up);
    assert_eq!(drift(&both_ways, 0.03).unwrap().forks, 4);
}

#[test]
fn drift_looks_at_what_is_judged_alone() {
    let mut samples = judged([10, 10], 10, 5000);
    samples.iter_mut().for_each(|s| s.warm_up = s.at.iteration < 5);
    assert_eq!(drift(&samples, 0.03).unwrap().forks, 0);
    samples.retain(|s| s.at.iteration > 6);
    assert_eq!(drift(&samples, 0.03), None);
    // Iterations in any order are those of their numbers.
    let mut shuffled = judged([10, 0], 10, 1100);
    shuffled.sort_by_key(|s| Coordinates { iteration: s.at.iteration * 7 % 10, ..s.at });
    assert_eq!(drift(&shuffled, 0.03).unwrap().forks, 10);
}

/// The warnings of a benchmark of this style that warmed up for 30 iterations and is measured with these samples.
fn warnings(style: Style, samples: Vec<duetbench_core::Sample>, unsteady: Option<Unsteady>) -> Vec<Warning> {
    let mut plan = plan(&["A"], Mode::InterleavedOneCore);
    let profile = Profile { invocation_ns: 1.0, warmup_slices: Some(30), unsteady, ..PLAIN };
    plan.benchmarks[0].style = style;
    plan.benchmarks[0].configuration.warmup_slices = 30;
    plan.benchmarks[0].profile = Some(profile);
    let report = analyse(&plan, &[Measured { samples, failed_trials: Vec::new() }], &Decision::default());
    let of_warm_up = |w: &Warning| matches!(w, Warning::NoSteadyState { .. } | Warning::StillChanging { .. });
    report[0].warnings.iter().filter(|w| of_warm_up(w)).cloned().collect()
}

#[test]
fn a_report_says_what_was_not_steady() {
    let unsteady = Some(Unsteady { role: Role::Baseline, within: 300 });
    let never = Warning::NoSteadyState { role: Role::Baseline, within: 300 };
    let still = |ratio: f64| Warning::StillChanging { role: Role::Candidate, forks: 7, of: 10, ratio, warm_up: 30 };
    assert_eq!(warnings(Style::Iteration, judged([0, 0], 10, 1), None), []);
    assert_eq!(warnings(Style::Iteration, judged([0, 0], 10, 1), unsteady), [never]);
    assert_eq!(warnings(Style::Iteration, judged([1, 7], 10, 2000), None), [still((0.5f64).ln().exp())]);
    assert_eq!(warnings(Style::Iteration, judged([5, 5], 10, 2000), None), []);
    // Slices of other styles are too short to have a level.
    assert_eq!(warnings(Style::Loop, judged([1, 7], 10, 2000), unsteady), []);
}
