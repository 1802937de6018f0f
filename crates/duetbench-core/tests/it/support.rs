//! What several test files build their data with.

use duetbench_core::plan::{Capacity, Discovered, Found, Mode, Plan, Style};
use duetbench_core::report::{ForkPair, ForkSide};
use duetbench_core::sample::{Coordinates, Memory};
use duetbench_core::spec::{Decision, Effort, ModeChoice, Selection};
use duetbench_core::{BenchmarkId, Role, Sample, Spec};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Property tests try the same cases every time; a failure must be the fault of a change, never of luck.
pub(crate) fn same_cases() -> ProptestConfig {
    ProptestConfig { cases: 100, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

pub(crate) const CAPACITY: Capacity = Capacity { cpus: 4, cores_physical: 2, asked: None };

pub(crate) fn spec(effort: Effort, mode: ModeChoice) -> Spec {
    Spec {
        selection: Selection { bench: None, exclude: None, packages: vec!["./...".into()] },
        effort,
        decision: Decision::default(),
        mode,
        seed: 7,
        harness_args: Vec::new(),
    }
}

pub(crate) fn found(name: &str) -> Discovered {
    let id = BenchmarkId { package: "p".into(), name: name.into() };
    Discovered { id, style: Style::Loop, first_ns: 1_000, failure: None }
}

/// A plan of benchmarks of these names, found in both versions, all run in `mode`.
pub(crate) fn plan(names: &[&str], mode: Mode) -> Plan {
    let both: Vec<Discovered> = names.iter().map(|name| found(name)).collect();
    let spec = spec(Effort::Forks(5), ModeChoice::Auto);
    let mut plan = Plan::new(&spec, &Found { baseline: &both, candidate: &both }, CAPACITY);
    plan.benchmarks.iter_mut().for_each(|b| b.mode = mode);
    plan
}

/// A slice of one invocation that took `wall_ns`, all of it on the processor.
pub(crate) fn slice(role: Role, (suite_run, iteration): (u32, u32), wall_ns: u64) -> Sample {
    Sample {
        at: Coordinates { role, instance: 0, build: 0, suite_run, fork: 0, iteration },
        block: 1,
        invocations: 1,
        wall_ns,
        cpu_ns: Some(wall_ns),
        start_ns: 0,
        memory: None,
        warm_up: false,
    }
}

/// Both slices of a pair.
pub(crate) fn slices(at: (u32, u32), baseline_ns: u64, candidate_ns: u64) -> [Sample; 2] {
    [slice(Role::Baseline, at, baseline_ns), slice(Role::Candidate, at, candidate_ns)]
}

/// One slice pair per fork, with these log ratios.
pub(crate) fn one_slice_forks(log_ratios: &[f64]) -> Vec<Sample> {
    let forks = (0u32..).zip(log_ratios);
    forks.flat_map(|(run, d)| slices((run, 0), 1_000_000_000, (1e9 * d.exp()).round() as u64)).collect()
}

/// The memory record that ends a block of one invocation.
pub(crate) fn memory(collections: u32) -> Option<Memory> {
    Some(Memory { allocations: 5, bytes: 80, collections, invocations: 1 })
}

/// A fork pair of which only the log ratio matters.
pub(crate) fn fork(log_ratio: f64) -> ForkPair {
    let side =
        ForkSide { invocations: 1, ns_per_op: 1.0, cpu_ns_per_op: None, bytes_per_op: None, allocs_per_op: None };
    ForkPair {
        build: 0,
        suite_run: 0,
        fork: 0,
        baseline: side,
        candidate: side,
        log_ratio,
        log_ratio_complete: log_ratio,
        slices: 1,
    }
}

/// Noise from a fixed seed.
pub(crate) struct Noise(ChaCha8Rng);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Standard normal, by the polar method of Marsaglia and Bray (SIAM Review 6, 1964).
    pub(crate) fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.0.random_range(-1.0..1.0f64), self.0.random_range(-1.0..1.0f64));
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return x * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// Student's t with three degrees of freedom: now and then far out.
    pub(crate) fn t3(&mut self) -> f64 {
        let chi_square: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (chi_square / 3.0).sqrt()
    }
}
