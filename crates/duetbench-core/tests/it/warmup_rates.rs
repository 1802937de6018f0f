//! Errors of the warm-up detector, held against simulated processes. Seeds are fixed, figures those of docs/statistics/16-warmup.md.

use duetbench_core::warmup::{Course, WarmUp, steady_from};

use crate::noise_support::assert_share;
use crate::support::Noise;

const DRAWS: u32 = 300;

/// Spread of single iterations, as the standard deviation of their logarithm.
#[derive(Clone, Copy)]
enum Spread {
    /// Normal.
    Even(f64),
    /// Normal, and one iteration in twenty takes half as long again: a collector, a neighbour.
    Spiky(f64),
    /// Normal, and each keeps so much of what the one before differed by.
    Clinging(f64, f64),
}

fn process(spread: Spread, n: usize, level: impl Fn(usize) -> f64, seed: u64) -> Vec<f64> {
    let mut noise = Noise::new(seed);
    let mut before = 0.0;
    (0..n)
        .map(|i| {
            let drawn = noise.normal();
            let differs = match spread {
                Spread::Even(sd) => sd * drawn,
                Spread::Spiky(sd) => sd * drawn + if noise.normal() > 1.645 { 0.4 } else { 0.0 },
                Spread::Clinging(sd, keeps) => keeps * before + (1.0 - keeps * keeps).sqrt() * sd * drawn,
            };
            before = differs;
            level(i) * differs.exp()
        })
        .collect()
}

/// Share of the processes of which this is found.
fn share(spread: Spread, n: usize, level: impl Fn(usize) -> f64 + Copy, is: impl Fn(WarmUp) -> bool) -> f64 {
    let found = (0..DRAWS).filter(|seed| {
        let times = process(spread, n, level, u64::from(*seed));
        is(steady_from(&times).expect("a series of times"))
    });
    found.count() as f64 / f64::from(DRAWS)
}

/// That a process without any warm-up is said to be anything but flat.
#[track_caller]
fn check_false(spread: Spread, n: usize, expected: f64) {
    assert_share(share(spread, n, |_| 1.0, |found| found.course != Course::Flat), expected, DRAWS);
}

/// That of a first fifth which takes so much longer a fifth or more is not seen.
#[track_caller]
fn check_missed(spread: Spread, (n, slow): (usize, f64), expected: f64) {
    let fifth = n / 5;
    let level = |i: usize| if i < fifth { slow } else { 1.0 };
    assert_share(share(spread, n, level, |found| found.iterations + fifth / 5 + 1 < fifth), expected, DRAWS);
}

#[test]
fn flat_processes_are_hardly_ever_said_to_warm_up() {
    for n in [20, 100, 300] {
        check_false(Spread::Even(0.01), n, 0.0);
        check_false(Spread::Even(0.1), n, 0.0);
    }
    check_false(Spread::Spiky(0.03), 100, 0.048);
    check_false(Spread::Clinging(0.03, 0.5), 100, 0.0);
    check_false(Spread::Clinging(0.03, 0.9), 100, 0.092);
}

#[test]
fn a_warm_up_of_a_fifth_is_seen_where_iterations_vary_less() {
    check_missed(Spread::Even(0.01), (20, 1.2), 0.0);
    check_missed(Spread::Even(0.03), (20, 1.2), 0.511);
    check_missed(Spread::Even(0.03), (50, 1.2), 0.0);
    check_missed(Spread::Even(0.03), (100, 1.1), 0.004);
    check_missed(Spread::Even(0.1), (100, 1.2), 0.926);
    check_missed(Spread::Even(0.1), (100, 1.5), 0.0);
    check_missed(Spread::Spiky(0.03), (100, 1.2), 0.53);
    check_missed(Spread::Clinging(0.03, 0.9), (100, 1.2), 0.0);
}
