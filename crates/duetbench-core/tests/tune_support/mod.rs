//! Recordings of all sorts to tune from, and the search that leaves nothing out.

#![allow(dead_code, unreachable_pub, reason = "several tests include it, and none uses all of it")]

use duetbench_core::recording::{Better, Cost, Grid, Level, Recorded, Recording};
use duetbench_core::tune::{Choice, Criteria, Subject, Tuned, choose};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Levels of the first data set of the µOpTime paper.
pub const GO: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
/// Levels of the other two.
pub const JMH: [Level; 2] = [Level::Fork, Level::Iteration];

/// A benchmark whose innermost repetition takes a second.
pub fn recorded(name: &str, shape: &[usize], values: Vec<f64>) -> Recorded {
    Recorded {
        benchmark: name.into(),
        unit: "ns/op".into(),
        better: Better::Lower,
        cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; shape.len()] },
        harness_warm_up: None,
        terms: Vec::new(),
        grid: Grid::of(shape, values).unwrap(),
    }
}

/// A recording of these.
pub fn recording(levels: &[Level], benchmarks: Vec<Recorded>) -> Recording {
    Recording { name: "r".into(), levels: levels.to_vec(), benchmarks, warnings: Vec::new() }
}

/// Benchmarks of [`suite`].
pub const BENCHMARKS: usize = 36;

/// Benchmarks of all sorts: quiet and noisy ones, forks that differ, slow starts, outliers, equal values, ties, gaps.
pub fn suite(levels: &[Level], shape: &[usize], seed: u64) -> Recording {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = move || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    let innermost = *shape.last().unwrap();
    let mut benchmark = |kind: usize| {
        let spread = [0.0005, 0.002, 0.004, 0.008, 0.015, 0.05][kind % 6];
        let (mut outer, mut start) = (0.0, 0.0);
        let mut value = |index: usize| {
            if index.is_multiple_of(innermost) {
                outer = normal() * spread;
                start = if kind % 3 == 1 { 0.2 * normal() } else { 0.0 };
            }
            let slow_start = start * 0.3_f64.powi((index % innermost) as i32);
            let outlier = if kind % 7 == 2 && normal() > 2.0 { 0.5 } else { 0.0 };
            let exact = 1000.0 * (1.0 + outer + spread * normal() + slow_start + outlier);
            if kind % 4 == 3 { (exact / 5.0).round() * 5.0 } else { exact }
        };
        let values = (0..shape.iter().product()).map(&mut value).collect();
        let mut recorded = recorded(&format!("B{kind}"), shape, values);
        if kind % 9 == 4 {
            recorded.grid.set(&vec![0; shape.len()], f64::NAN);
        }
        recorded
    };
    let benchmarks = (0..BENCHMARKS).map(&mut benchmark).collect();
    recording(levels, benchmarks)
}

/// The only choice.
#[track_caller]
pub fn only(tuned: &Tuned) -> &Choice {
    assert_eq!((tuned.choices.len(), tuned.left_out.len()), (1, 0), "{tuned:?}");
    &tuned.choices[0]
}

/// The same as `tune` without its short cuts, from the exact values of all configurations: Algorithm 1 of µOpTime to the letter.
pub fn tune_exhaustively(recording: &Recording, criteria: &dyn Criteria) -> Tuned {
    let all_stable = |subject: &Subject<'_>| {
        let all = &subject.configurations;
        let stable = |position: usize| {
            let value = subject.stability(all.at(position)).filter(|value| criteria.is_stable(*value))?;
            Some((position, value))
        };
        let least = |group: Vec<usize>| group.into_iter().filter_map(stable).min_by(|a, b| a.1.total_cmp(&b.1));
        all.groups().filter_map(least).next().map(|(position, _)| all.at(position).to_vec())
    };
    choose(recording, criteria, |_, subject| all_stable(subject))
}
