//! Shared test data, and the functions that build it.

use std::time::Duration;

use duetbench_core::analysis::{Basis, Evidence, Looks, Measured, Monitor, Standing, Tests};
use duetbench_core::plan::{Capacity, Design, Discovered, Found, Mode, Plan, Profile, Style};
use duetbench_core::report::{ForkPair, ForkSide};
use duetbench_core::sample::{Coordinates, Memory};
use duetbench_core::spec::{Decision, Effort, HarnessSpec, LayoutChoice, ModeChoice, Policy, Selection};
use duetbench_core::{BenchmarkId, Role, Sample, Spec};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

pub(crate) use crate::noise_support::Noise;

/// Property tests try the same cases every time; a failure must be the fault of a change, never of luck.
pub(crate) fn same_cases() -> ProptestConfig {
    ProptestConfig { cases: 100, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

/// Exactly this many fork pairs of one build pair.
pub(crate) fn forks(forks: u32) -> Effort {
    Effort { forks: Some(forks), budget: None, builds: Some(1), fixed: true, confirm: false }
}

/// As many fork pairs of one build pair as fit this time.
pub(crate) fn budget(budget: Duration) -> Effort {
    Effort { forks: None, budget: Some(budget), ..forks(1) }
}

pub(crate) const CAPACITY: Capacity = Capacity { cpus: 4, cores_physical: 2, asked: None, relinks: None };

/// First trials of a benchmark that keeps one core busy, with nothing else to say.
pub(crate) const PLAIN: Profile = Profile {
    cores_busy: 1.0,
    cpu_share: 1.0,
    invocation_ns: 1e5,
    collects: false,
    cold_share: None,
    warm_ns: 0,
    settling_ns: 0,
    as_linked: None,
    warmup_slices: None,
    unsteady: None,
};

pub(crate) fn spec(effort: Effort, mode: ModeChoice) -> Spec {
    Spec {
        selection: Selection { bench: None, exclude: None, packages: vec!["./...".into()] },
        effort,
        decision: Decision::default(),
        mode,
        layouts: LayoutChoice::Matched,
        measure_identical: false,
        reach: false,
        same_benchmarks: false,
        benchmarks_from: None,
        seed: 7,
        harness_args: Vec::new(),
        harness: HarnessSpec::default(),
        rules: Policy::default(),
        fleet: None,
    }
}

pub(crate) fn found(name: &str) -> Discovered {
    let id = BenchmarkId { package: "p".into(), name: name.into() };
    Discovered {
        id,
        style: Style::Loop,
        first_ns: 1_000,
        threads: 1,
        runtime_threads: false,
        qualified: false,
        failure: None,
    }
}

/// A plan of benchmarks of these names, found in both versions, all run in `mode`.
pub(crate) fn plan(names: &[&str], mode: Mode) -> Plan {
    let both: Vec<Discovered> = names.iter().map(|name| found(name)).collect();
    let spec = spec(forks(5), ModeChoice::Auto);
    let mut plan = Plan::new(&spec, &Found::of(&both, &both), CAPACITY);
    // Enough for whatever the tests have; with one look that is no look too many.
    plan.benchmarks.iter_mut().for_each(|b| (b.mode, b.configuration.design) = (mode, fixed_design(1000)));
    plan
}

/// A slice of one invocation that took `wall_ns`, all of it on the processor.
pub(crate) fn slice(role: Role, (suite_run, iteration): (u32, u32), wall_ns: u64) -> Sample {
    Sample {
        at: Coordinates { role, instance: 0, build: 0, round: 0, suite_run, fork: 0, iteration },
        block: 1,
        invocations: 1,
        wall_ns,
        cpu_ns: Some(wall_ns),
        start_ns: 0,
        memory: None,
        cycles: None,
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
    Some(Memory { allocations: Some(5), bytes: 80, collections, invocations: 1, cycle: None })
}

/// A design with so many units of one fork pair each, looked at once.
pub(crate) fn fixed_design(units: u32) -> Design {
    Design { units, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential: false }
}

/// The evidence of fork pairs of which only the log ratios matter, looked at once, at the default errors.
pub(crate) fn evidence(log_ratios: &[f64]) -> Evidence {
    let design = fixed_design(u32::try_from(log_ratios.len()).unwrap());
    let (tests, decision) = (Tests::single(design.units).unwrap(), Decision::default());
    let looks = Looks::as_planned(&tests, &design, &decision);
    Evidence::of(&forks_of(log_ratios), Basis::TypicalSlice.into(), looks).unwrap()
}

/// Fork pairs with these log ratios, a suite run each.
pub(crate) fn forks_of(log_ratios: &[f64]) -> Vec<ForkPair> {
    (0u32..).zip(log_ratios).map(|(suite_run, d)| ForkPair { suite_run, ..fork(*d) }).collect()
}

/// A fork pair of which only the log ratio matters.
pub(crate) fn fork(log_ratio: f64) -> ForkPair {
    let side = ForkSide {
        invocations: 1,
        ns_per_op: 1.0,
        typical_ns: Some(1.0),
        cpu_ns_per_op: None,
        bytes_per_op: None,
        allocs_per_op: None,
        collector_share: None,
    };
    ForkPair {
        build: 0,
        round: 0,
        suite_run: 0,
        fork: 0,
        mode: Mode::InterleavedOneCore,
        baseline: side,
        candidate: side,
        log_ratio,
        log_ratio_complete: log_ratio,
        log_ratio_in_full: None,
        cpu: None,
        log_ratio_idle: None,
        busy: None,
        slice_spread: 0.0,
        unrecorded_ns: None,
        collections: 0,
        slices: 1,
    }
}

/// A design with so many build pairs, looked at while they are measured; the first `doubled` have two fork pairs.
pub(crate) fn build_pairs(units: u32, doubled: u32) -> Design {
    Design { doubled, by_build: true, sequential: true, ..fixed_design(units) }
}

/// A plan of benchmarks of these names that all have this design.
pub(crate) fn plan_of(names: &[&str], design: Design) -> Plan {
    let mut plan = plan(names, Mode::InterleavedOneCore);
    plan.benchmarks.iter_mut().for_each(|b| b.configuration.design = design);
    plan
}

/// The fork pair of a suite run of a round, where the design puts it; only its log ratio matters.
pub(crate) fn placed(design: &Design, (round, suite_run): (u32, u32), log_ratio: f64) -> ForkPair {
    let build = if design.by_build { 1000 * round + design.unit(suite_run) } else { 0 };
    ForkPair { build, round, suite_run, ..fork(log_ratio) }
}

/// One slice pair for each of these fork pairs.
pub(crate) fn samples_of(forks: &[ForkPair]) -> Vec<Sample> {
    let at = |f: &ForkPair, sample: Sample| {
        let at = Coordinates { build: f.build, round: f.round, fork: f.fork, ..sample.at };
        Sample { at, ..sample }
    };
    let both = |f: &ForkPair| {
        slices((f.suite_run, 0), 1_000_000_000, (1e9 * f.log_ratio.exp()).round() as u64).map(|s| at(f, s))
    };
    forks.iter().flat_map(both).collect()
}

/// The samples of a benchmark: one slice pair for each of these fork pairs.
pub(crate) fn measured_of(forks: &[ForkPair]) -> Measured {
    let numbered = (0u32..).zip(forks).map(|(suite_run, fork)| ForkPair { suite_run, ..*fork });
    Measured { samples: samples_of(&numbered.collect::<Vec<_>>()), failed_trials: Vec::new() }
}

/// A run as the engine has it: suite runs until everybody is settled or has all units.
pub(crate) struct Course {
    /// By benchmark.
    pub(crate) forks: Vec<Vec<ForkPair>>,
    pub(crate) standings: Vec<Standing>,
    /// A benchmark that was settled once stood differently in a later look.
    pub(crate) took_back: bool,
}

impl Course {
    /// `draw` gives the log ratio of a benchmark's fork pair in a suite run; `None`, and the trial has failed.
    pub(crate) fn run(
        plan: &Plan,
        monitor: &mut Monitor<'_>,
        mut draw: impl FnMut(usize, u32) -> Option<f64>,
    ) -> Course {
        let all = 0..plan.benchmarks.len();
        let design = |i: usize| &plan.benchmarks[i].configuration.design;
        let mut course =
            Course { forks: vec![vec![]; all.len()], standings: vec![Standing::Open; all.len()], took_back: false };
        let suite_runs = all.clone().map(|i| design(i).forks()).max().unwrap_or(0) + 5;
        for suite_run in 0..suite_runs {
            for i in all.clone().filter(|i| course.standings[*i] == Standing::Open) {
                let wanted = design(i).unit(suite_run) < design(i).units;
                let log_ratio = wanted.then(|| draw(i, suite_run)).flatten();
                course.forks[i].extend(log_ratio.map(|d| placed(design(i), (0, suite_run), d)));
            }
            course.look(monitor, suite_run);
        }
        course
    }

    fn look(&mut self, monitor: &mut Monitor<'_>, suite_run: u32) {
        let open: Vec<bool> = self.standings.iter().map(|s| *s == Standing::Open).collect();
        let looks: Vec<bool> =
            (0..open.len()).map(|i| open[i] && monitor.is_look(i, suite_run, &self.forks[i])).collect();
        if looks.contains(&true) {
            let now = standings(monitor, suite_run, &self.slices());
            self.took_back |= (0..open.len()).any(|i| !open[i] && now[i] != self.standings[i]);
            (0..open.len()).filter(|i| looks[*i]).for_each(|i| self.standings[i] = now[i]);
        }
    }

    pub(crate) fn slices(&self) -> Vec<&[ForkPair]> {
        self.forks.iter().map(Vec::as_slice).collect()
    }
}

/// Where every benchmark stands after this suite run.
pub(crate) fn standings(monitor: &mut Monitor<'_>, suite_run: u32, forks: &[&[ForkPair]]) -> Vec<Standing> {
    let looked = monitor.look(&vec![suite_run; forks.len()], forks);
    looked.into_iter().map(|one| one.standing).collect()
}
