//! Simulates benchmarks that are hard to judge (processes in two modes, work or waits in few slices, interruptions), and prints a table:
//! `docs/studies/hard-cases.md` has it.
//!
//! `cargo run --release -p duetbench-core --example hard_cases [DRAWS]`

#[path = "../../duetbench-stats/tests/noise_support/mod.rs"]
mod noise_support;
#[path = "../tests/it/support.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "tests need the rest, and may")]
mod support;

use std::collections::BTreeMap;
use std::io::{StdoutLock, Write, stdout};

use duetbench_core::analysis::{Monitor, Standing, summarise};
use duetbench_core::plan::{Design, Mode};
use duetbench_core::report::ForkPair;
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::Decision;
use duetbench_core::{Role, Sample};
use support::{Noise, fixed_design, placed, plan_of};

/// Slices of a side in a fork pair, and their length without anything that disturbs it, nanoseconds.
const SLICES: u32 = 100;
const SLICE_NS: f64 = 200_000.0;

/// Additional time in few slices.
#[derive(Clone, Copy)]
struct Rare {
    /// Standard normal value above which a slice has it.
    above: f64,
    /// Its length, in slices.
    slices: f64,
    /// Whether it takes CPU time.
    works: bool,
    /// Sides that have it.
    sides: [bool; 2],
    /// Whether a neighbour takes the processor besides, for 3 % of both sides' time.
    neighbour: bool,
}

fn main() -> std::io::Result<()> {
    let argument = std::env::args().nth(1);
    let draws = argument.as_ref().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    let mut table = Table { draws, out: stdout().lock() };
    if argument.as_deref() == Some("--version") {
        return writeln!(table.out, "duetbench-core {}", env!("CARGO_PKG_VERSION"));
    }
    writeln!(table.out, "case,design,draws,changed,regression,no_change,open,fork_pairs")?;
    for (name, design) in designs() {
        let modes = |apart: f64, noise: &mut Noise| if noise.normal() < 0.0 { apart } else { 0.0 };
        // Half of the candidate's processes are in a mode 6 % slower; on average it is slower by just the threshold.
        table.forks("modes of the candidate (+3%)", name, design, |z| {
            modes(0.06, z) - 0.03 + 0.03f64.ln_1p() + 0.003 * z.normal()
        })?;
        table.forks("modes of both (equal)", name, design, |z| modes(0.08, z) - modes(0.08, z) + 0.003 * z.normal())?;
    }
    let candidate = [false, true];
    let work = |above: f64, slices: f64, sides: [bool; 2]| Rare { above, slices, works: true, sides, neighbour: false };
    let waits = |above: f64, slices: f64| Rare { works: false, ..work(above, slices, candidate) };
    let beside = |rare: Rare| Rare { neighbour: true, ..rare };
    let cases = [
        ("work in 0.5% of slices (+10%)", work(2.576, 20.0, candidate)),
        ("work in 1% of slices (+10%)", work(2.326, 10.0, candidate)),
        ("work in 0.5% of slices of both (equal)", work(2.576, 20.0, [true; 2])),
        ("waits in 10% of slices (+10%)", waits(1.282, 1.0)),
        ("waits in 1% of slices (+10%)", waits(2.326, 10.0)),
        ("waits in 10% of slices (+10%) beside a neighbour", beside(waits(1.282, 1.0))),
        ("waits in 1% of slices (+10%) beside a neighbour", beside(waits(2.326, 10.0))),
        ("a neighbour alone (equal)", beside(work(9.0, 0.0, candidate))),
        ("interruptions of 2% of slices (equal)", Rare { works: false, ..work(2.054, 10.0, [true; 2]) }),
    ];
    for (case, rare) in cases {
        for (name, design) in designs() {
            table.slices(case, name, design, rare)?;
        }
    }
    Ok(())
}

/// The fewest fixed fork pairs, and those of comparisons that look on their way.
fn designs() -> [(&'static str, Design); 4] {
    let looking = |units| Design { sequential: true, ..fixed_design(units) };
    [
        ("3 fixed", fixed_design(3)),
        ("5 fixed", fixed_design(5)),
        ("looks up to 20", looking(20)),
        ("looks up to 32", looking(32)),
    ]
}

struct Table<'a> {
    draws: u32,
    out: StdoutLock<'a>,
}

impl Table<'_> {
    /// A case whose fork pairs have these log ratios.
    fn forks(
        &mut self,
        case: &str,
        name: &str,
        design: Design,
        mut draw: impl FnMut(&mut Noise) -> f64,
    ) -> std::io::Result<()> {
        let mut noise = Noise::new(99);
        self.row(case, name, design, |run| placed(&design, (0, run), draw(&mut noise)))
    }

    /// A case of equal work, where some slices take longer.
    fn slices(&mut self, case: &str, name: &str, design: Design, rare: Rare) -> std::io::Result<()> {
        let mut noise = Noise::new(5);
        self.row(case, name, design, |run| {
            let [fork] = summarise(&samples(run, rare, &mut noise), Mode::InterleavedOneCore).forks[..] else {
                unreachable!("each trial is a fork pair")
            };
            fork
        })
    }

    /// Shares of verdicts, percent, and the mean number of fork pairs.
    fn row(
        &mut self,
        case: &str,
        name: &str,
        design: Design,
        mut fork: impl FnMut(u32) -> ForkPair,
    ) -> std::io::Result<()> {
        let (plan, decision) = (plan_of(&["A"], design), Decision::default());
        let mut monitor = Monitor::new(&plan, &decision);
        let (mut words, mut pairs): (BTreeMap<&str, u32>, u32) = (BTreeMap::new(), 0);
        for _ in 0..self.draws {
            let mut forks: Vec<ForkPair> = Vec::new();
            let verdict = loop {
                let run = u32::try_from(forks.len()).unwrap_or(u32::MAX);
                forks.push(fork(run));
                let is_last = run + 1 == design.units;
                if !is_last && !monitor.is_look(0, run, &forks) {
                    continue;
                }
                let look = monitor.look(&[run], &[&forks[..]]).remove(0);
                if let Some(seen) = look.seen.filter(|_| is_last || look.standing != Standing::Open) {
                    break seen.verdict;
                }
            };
            pairs += u32::try_from(forks.len()).unwrap_or(u32::MAX);
            *words.entry(verdict.word()).or_default() += 1;
        }
        let percent = |of: &dyn Fn(&str) -> bool| {
            let hits: u32 = words.iter().filter(|(word, _)| of(word)).map(|(_, count)| count).sum();
            100.0 * f64::from(hits) / f64::from(self.draws)
        };
        let open = percent(&|word| word == "inconclusive");
        let [none, regression] = ["no_change", "regression"].map(|one| percent(&|word| word == one));
        let changed = 100.0 - none - open;
        let mean = f64::from(pairs) / f64::from(self.draws);
        writeln!(self.out, "{case},{name},{},{changed:.2},{regression:.2},{none:.2},{open:.2},{mean:.1}", self.draws)?;
        self.out.flush()
    }
}

/// A trial of equal work in turns: fork pairs vary by 1 %, slices by 3 %, and by 5 % alike on both sides.
fn samples(run: u32, rare: Rare, noise: &mut Noise) -> Vec<Sample> {
    let apart = 0.01 * noise.normal();
    let mut samples = Vec::new();
    for iteration in 0..SLICES {
        let common = 0.05 * noise.normal();
        for (side, role) in Role::BOTH.into_iter().enumerate() {
            let own_ns = SLICE_NS * (common + 0.03 * noise.normal() + side as f64 * apart).exp();
            let more_ns = if rare.sides[side] && noise.normal() > rare.above { rare.slices * SLICE_NS } else { 0.0 };
            // In 5 % of the slices, six tenths of one each.
            let taken_ns = if rare.neighbour && noise.normal() > 1.645 { 0.6 * SLICE_NS } else { 0.0 };
            let cpu_ns = 0.998 * own_ns + if rare.works { more_ns } else { 0.0 };
            samples.push(Sample {
                at: Coordinates { role, instance: 0, build: 0, round: 0, suite_run: run, fork: 0, iteration },
                block: iteration / 16,
                invocations: 1_000,
                wall_ns: (own_ns + more_ns + taken_ns) as u64,
                cpu_ns: Some(cpu_ns as u64),
                start_ns: 0,
                memory: None,
                cycles: None,
                warm_up: false,
            });
        }
    }
    samples
}
