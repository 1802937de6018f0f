//! Simulates searches for a commit that made a benchmark slower, and prints a table: `docs/studies/bisect.md` has it.
//!
//! `cargo run -p duetbench-core --example bisect_simulation [SEARCHES]`

#[path = "../tests/bisect_support/mod.rs"]
mod bisect_support;
#[path = "../../duetbench-stats/tests/noise_support/mod.rs"]
mod noise_support;

use std::io::{Write, stdout};

use bisect_support::{Tally, World};
use noise_support::Noise;

/// Size of the step and spread of a build pair.
const SINGLE: [(f64, f64); 6] =
    [(0.02, 0.037), (0.03, 0.037), (0.05, 0.037), (0.10, 0.037), (0.03, 0.02), (0.05, 0.02)];

/// Build pairs of the end points that leave nothing to learn about the size of the change.
const ENDS_KNOWN: usize = 600;

fn main() -> std::io::Result<()> {
    let searches = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut out = stdout().lock();
    writeln!(out, "case,spread,searches,right,wrong,open,pairs,direct,built")?;
    let mut print = |case: &str, spread: f64, make: &dyn Fn(usize) -> World| {
        let tally = Tally::of(searches, &mut Noise::new(22), make);
        let Tally { right, wrong, open, pairs, direct, built } = tally;
        writeln!(out, "{case},{spread},{searches},{right},{wrong},{open},{pairs:.1},{direct:.1},{built:.1}")?;
        out.flush()
    };
    // Every commit in turn.
    let at = |number: usize| 1 + number * 37 % 128;
    for (step, spread) in SINGLE {
        let percent = step * 100.0;
        let known = |n| World { ends: ENDS_KNOWN, ..World::of_one(at(n), step, spread) };
        print(&format!("one step of {percent}% (size known)"), spread, &known)?;
        print(&format!("one step of {percent}%"), spread, &|n| World::of_one(at(n), step, spread))?;
    }
    let two = |n: usize, first: f64, second: f64| {
        let (a, b) = (1 + n * 37 % 60, 64 + n * 29 % 64);
        World { steps: vec![(a, first), (b, second)], ends: 16, ..World::of_one(1, first + second, 0.02) }
    };
    print("two steps of 5%", 0.02, &|n| two(n, 0.05, 0.05))?;
    print("steps of 8% and 3%", 0.02, &|n| two(n, 0.08, 0.03))?;
    print("steps of 10% and -4%", 0.02, &|n| two(n, 0.10, -0.04))?;
    print("two steps of 100%", 0.01, &|n| World { spread: 0.01, ..two(n, 1.0, 1.0) })?;
    print("equal code", 0.02, &|_| World { steps: Vec::new(), ends: 16, ..World::of_one(1, 0.05, 0.02) })?;
    print("5% (every tenth pair wild)", 0.02, &|n| World { wild: 0.1, ..World::of_one(at(n), 0.05, 0.02) })?;
    for (step, layout) in [(0.03, 0.001), (0.05, 0.01), (0.1, 0.01)] {
        let case = format!("{}% (fixed layouts: every commit {}% off)", step * 100.0, layout * 100.0);
        print(&case, 0.01, &|n| World { layout, ends: 20, ..World::of_one(at(n), step, 0.01) })?;
    }
    Ok(())
}
