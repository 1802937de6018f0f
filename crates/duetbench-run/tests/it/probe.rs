//! First trials of benchmarks that warm up, on an executor that plays processes with a slow beginning.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Capacity, Discovered, Found, Mode, Plan, PlannedBenchmark, Purpose, Style, Unsteady};
use duetbench_core::sample::{Coordinates, Memory};
use duetbench_core::spec::{Effort, HarnessSpec, defaults};
use duetbench_core::{BenchmarkId, Role, Sample, Spec, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Benches, Executor, TrialFailure, TrialOutcome, Wanted, probe};

use crate::head_support;

const CAPACITY: Capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: None };

/// Plays processes whose first iterations take twice as long, so many of the baseline and of the candidate.
struct Played {
    slow: [u32; 2],
    /// So many more of both where they take turns.
    slow_in_turns: u32,
    /// Iterations beside which something else is busy, so that they take three times as long.
    disturbed: Range<u32>,
    fails: bool,
    /// The trials that were asked for: mode, iterations that warm up, iterations that count.
    asked: Vec<(Mode, u32, u32)>,
}

impl Played {
    fn new(slow: [u32; 2]) -> Played {
        Played { slow, slow_in_turns: 0, disturbed: 0..0, fails: false, asked: Vec::new() }
    }
}

impl Executor for Played {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let (warm_up, slices) = (planned.configuration.warmup_slices, planned.configuration.slices());
        self.asked.push((planned.mode, warm_up, slices));
        let more = if planned.mode == Mode::InterleavedOneCore { self.slow_in_turns } else { 0 };
        let times = |slow: u32, iteration: u32| match iteration {
            busy if self.disturbed.contains(&busy) => 3,
            early if early < slow + more => 2,
            _ => 1,
        };
        let sample = |(role, slow): (Role, u32), iteration: u32| Sample {
            at: Coordinates { role, instance: 0, build: 0, round: 0, suite_run: trial.suite_run, fork: 0, iteration },
            block: 0,
            invocations: 10_000,
            wall_ns: 10_000_000 * times(slow, iteration) + u64::from(iteration * 7 % 5) * 1000,
            cpu_ns: Some(10_000_000),
            start_ns: 0,
            memory: None,
            cycles: None,
            warm_up: iteration < warm_up,
        };
        let sides = Role::BOTH.into_iter().zip(self.slow);
        let samples = sides.flat_map(|side| (0..warm_up + slices).map(move |i| sample(side, i))).collect();
        let failure = TrialFailure { role: None, reason: "no luck".into(), discarded: false };
        let result = if self.fails { Err(failure) } else { Ok(samples) };
        Ok(TrialOutcome { result, mode: planned.mode, wall: Duration::from_secs(1), conditions: None })
    }
}

fn spec(warmup: Option<u32>) -> Spec {
    Spec {
        effort: Effort { forks: Some(20), budget: None, builds: None, fixed: false, confirm: false },
        seed: 1,
        harness: HarnessSpec { warmup, ..HarnessSpec::default() },
        ..head_support::spec()
    }
}

fn plan(first_ns: u64, spec: &Spec) -> Plan {
    plan_of(Style::Iteration, first_ns, spec)
}

fn plan_of(style: Style, first_ns: u64, spec: &Spec) -> Plan {
    let id = BenchmarkId { package: "p".into(), name: "A".into() };
    let found =
        [Discovered { id, style, first_ns, threads: 1, runtime_threads: false, qualified: false, failure: None }];
    Plan::new(spec, &Found::of(&found, &found), CAPACITY)
}

/// The plan's warm-up after its first trials.
fn learnt(played: &mut Played, plan: &Plan, spec: &Spec) -> (u32, Option<Unsteady>) {
    let warm_up = |_: &BenchmarkId| spec.harness.warmup.is_none();
    let wanted = Wanted { mode: true, warm_up: &warm_up };
    let mut alone = Played::new([0, 0]);
    let benches = Benches { versions: played, baseline_alone: &mut alone };
    let learnt = probe(plan, benches, &wanted, &AtomicBool::new(false)).unwrap();
    assert!(alone.asked.is_empty(), "the self-check would be most of such a run");
    let mut plan = plan.clone();
    plan.learn(learnt, spec, CAPACITY);
    let planned = &plan.benchmarks[0];
    (planned.configuration.warmup_slices, planned.profile.and_then(|profile| profile.unsteady))
}

#[test]
fn the_side_that_takes_longer_to_warm_up_decides_with_a_margin() {
    let (spec, mut played) = (spec(None), Played::new([20, 50]));
    assert_eq!(learnt(&mut played, &plan(1000, &spec), &spec), (75, None));
    // All of the first trial is looked at; then each version is seen alone once it is steady.
    assert_eq!(played.asked, [(Mode::InterleavedOneCore, 0, 360), (Mode::Sequential, 75, 5)]);
}

#[test]
fn what_runs_on_all_cores_anyhow_is_looked_at_in_that_mode_alone() {
    let spec = spec(None);
    let mut played = Played::new([20, 50]);
    let mut plan = plan(1000, &spec);
    plan.benchmarks[0].mode = Mode::InterleavedAllCores;
    learnt(&mut played, &plan, &spec);
    assert_eq!(played.asked, [(Mode::InterleavedAllCores, 0, 360)]);
}

#[test]
fn a_duet_is_seen_in_turns_too_since_its_cores_may_turn_out_unlike() {
    let in_turns = |mode| {
        let (spec, mut played) = (spec(None), Played::new([0, 0]));
        let mut plan = plan_of(Style::Loop, 1000, &spec);
        plan.benchmarks[0].mode = mode;
        learnt(&mut played, &plan, &spec);
        played.asked.iter().any(|(mode, ..)| *mode == Mode::InterleavedOneCore)
    };
    assert!(in_turns(Mode::InterleavedOneCore) && in_turns(Mode::Duet));
    assert!(!in_turns(Mode::Sequential) && !in_turns(Mode::InterleavedAllCores));
}

#[test]
fn processes_that_get_faster_all_along_work_longer_before_their_slices_count() {
    let warm_up_of = |mut played: Played| {
        let spec = spec(None);
        let (warm_up, _) = learnt(&mut played, &plan_of(Style::Loop, 1000, &spec), &spec);
        let alone: Vec<u32> = played.asked.iter().filter(|asked| asked.0 == Mode::Sequential).map(|a| a.1).collect();
        let in_turns = played.asked.iter().find(|asked| asked.0 != Mode::Sequential).map(|asked| asked.1);
        (warm_up, alone, in_turns)
    };
    let warm_up = |slow| warm_up_of(Played::new(slow));
    assert_eq!(warm_up([0, 0]), (16, vec![16], Some(16)));
    assert_eq!(warm_up([40, 0]), (16, vec![16], Some(16)), "one version alone may have had a neighbour");
    assert_eq!(warm_up([40, 45]), (160, vec![16, 160], Some(160)));
    let twice = Played { disturbed: 160..180, ..Played::new([40, 45]) };
    assert_eq!(warm_up_of(twice), (640, vec![16, 160, 640], Some(640)));
    let in_turns = Played { slow_in_turns: 60, ..Played::new([0, 0]) };
    assert_eq!(warm_up_of(in_turns), (160, vec![16, 160], Some(16)));
}

#[test]
fn a_flat_benchmark_warms_up_for_a_moment_all_the_same() {
    let spec = spec(None);
    assert_eq!(learnt(&mut Played::new([0, 0]), &plan(1000, &spec), &spec), (5, None));
}

#[test]
fn what_never_becomes_steady_warms_up_as_long_as_it_was_looked_at() {
    let spec = spec(None);
    let unsteady = Unsteady { role: Role::Candidate, within: 360 };
    assert_eq!(learnt(&mut Played::new([10, 290]), &plan(1000, &spec), &spec), (360, Some(unsteady)));
}

#[test]
fn what_a_harness_compiles_of_its_own_is_no_warm_up_and_what_is_faster_after_it_is() {
    let (spec, disturbed) = (spec(None), 180..280);
    let mut soon = Played { disturbed: disturbed.clone(), ..Played::new([10, 12]) };
    assert_eq!(learnt(&mut soon, &plan(1000, &spec), &spec), (18, None));
    let mut late = Played { disturbed, ..Played::new([10, 200]) };
    let unsteady = Unsteady { role: Role::Candidate, within: 360 };
    assert_eq!(learnt(&mut late, &plan(1000, &spec), &spec), (360, Some(unsteady)));
    assert_eq!(learnt(&mut Played::new([10, 200]), &plan(1000, &spec), &spec), (300, None));
}

#[test]
fn what_the_user_says_is_not_looked_for() {
    let (spec, mut played) = (spec(Some(7)), Played::new([20, 50]));
    assert_eq!(learnt(&mut played, &plan(1000, &spec), &spec), (7, None));
    assert_eq!(played.asked, [(Mode::Sequential, 7, 5)]);
}

#[test]
fn long_iterations_are_looked_at_for_as_long_and_never_too_few_of_them() {
    let check = |first_ns: u64, iterations: u32| {
        let (spec, mut played) = (spec(None), Played::new([0, 0]));
        learnt(&mut played, &plan(first_ns, &spec), &spec);
        assert_eq!(played.asked[0], (Mode::InterleavedOneCore, 0, iterations), "{first_ns}");
    };
    check(50_000_000, 72);
    check(1_000_000_000, 20);
}

#[test]
fn a_budget_that_is_short_makes_looks_for_the_end_of_the_warm_up_short() {
    let check = |budget_s: u64, iterations: Option<u32>| {
        let (spec, mut played) = (spec(None), Played::new([20, 50]));
        let mut plan = plan(1000, &spec);
        plan.budget_ns = Some(budget_s * 1_000_000_000);
        let warmup = if iterations.is_some() { 75 } else { defaults::WARMUP_ITERATIONS };
        assert_eq!(learnt(&mut played, &plan, &spec), (warmup, None), "{budget_s}");
        assert_eq!(played.asked.first().map(|(_, _, slices)| *slices), iterations, "{budget_s}");
    };
    check(80, Some(360));
    check(30, Some(150));
    check(10, None);
}

#[test]
fn a_first_trial_that_fails_leaves_the_usual_warm_up() {
    let spec = spec(None);
    let mut played = Played { fails: true, ..Played::new([0, 0]) };
    assert_eq!(learnt(&mut played, &plan(1000, &spec), &spec), (defaults::WARMUP_ITERATIONS, None));
    assert_eq!(played.asked.len(), 1);
}

/// A slice of invocations that take a microsecond alone, which took so long.
fn slice(trial: &Trial, role: Role, iteration: u32, slice_ns: u64, wall_ns: u64) -> Sample {
    Sample {
        at: Coordinates { role, instance: 0, build: 0, round: 0, suite_run: trial.suite_run, fork: 0, iteration },
        block: 1,
        invocations: slice_ns / 1000,
        wall_ns: wall_ns + u64::from(iteration),
        cpu_ns: Some(wall_ns),
        start_ns: 0,
        memory: None,
        cycles: None,
        warm_up: false,
    }
}

/// A trial of so many slices of both sides.
fn outcome(planned: &PlannedBenchmark, slices: u32, sample: impl Fn(Role, u32) -> Sample) -> TrialOutcome {
    let samples = Role::BOTH.into_iter().flat_map(|role| (0..slices).map(move |i| (role, i)));
    let samples = samples.map(|(role, i)| sample(role, i)).collect();
    TrialOutcome { result: Ok(samples), mode: planned.mode, wall: Duration::from_secs(1), conditions: None }
}

/// Whether a slice is one of the longer ones of a trial of two lengths.
fn is_longer(planned: &PlannedBenchmark, iteration: u32) -> bool {
    planned.configuration.purpose == Purpose::Stretched && iteration / 2 % 2 == 1
}

/// Plays slices that in turns take a multiple of their time, which is no matter of caches.
struct Losing {
    times: u64,
    /// Slices in turns see a collection from this length on.
    collects_ns: u64,
    longest_ns: u64,
}

impl Executor for Losing {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let alone = planned.mode == Mode::Sequential;
        self.longest_ns = self.longest_ns.max(if alone { 0 } else { planned.configuration.slice_ns });
        let sample = |role, i| {
            let slice_ns = planned.configuration.slice_ns * if is_longer(planned, i) { 4 } else { 1 };
            let collections = u32::from(!alone && slice_ns >= self.collects_ns);
            let invocations = slice_ns / 1000;
            let memory = Some(Memory { allocations: Some(0), bytes: 0, collections, invocations, cycle: None });
            Sample { memory, ..slice(trial, role, i, slice_ns, if alone { slice_ns } else { slice_ns * self.times }) }
        };
        Ok(outcome(planned, 20, sample))
    }
}

/// Plays slices whose invocations take longer in turns until caches are warm.
struct Warming {
    /// Time that a slice loses after a part before it, by the lengths of both, in milliseconds.
    lost_ms: fn(f64, f64) -> f64,
    /// Trials in turns after which they do not any more.
    trials: u32,
}

/// Most of a sixth of a millisecond is lost within the first one.
fn soon_warm(before_ms: f64, slice_ms: f64) -> f64 {
    0.15 * ((-before_ms / 0.6).exp() - (-(before_ms + slice_ms) / 0.6).exp())
}

/// For four milliseconds every invocation takes a quarter longer, so that slices of up to a quarter of that are equally cold.
fn late_warm(before_ms: f64, slice_ms: f64) -> f64 {
    0.25 * ((before_ms + slice_ms).min(4.0) - before_ms.min(4.0))
}

/// Half a millisecond is lost whatever came before.
fn never_warm(_: f64, _: f64) -> f64 {
    0.5
}

impl Executor for Warming {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let in_turns = planned.mode != Mode::Sequential;
        let is_cold = in_turns && self.trials > 0;
        self.trials -= u32::from(is_cold);
        let sample = |role, i: u32| {
            let slice_ns = planned.configuration.slice_ns * if is_longer(planned, i) { 4 } else { 1 };
            let before_ms = planned.configuration.warm_ns as f64 / 1e6;
            let lost_ms = if is_cold { (self.lost_ms)(before_ms, slice_ns as f64 / 1e6) } else { 0.0 };
            slice(trial, role, i, slice_ns, slice_ns + (1e6 * lost_ms) as u64)
        };
        Ok(outcome(planned, 24, sample))
    }
}

/// A benchmark after first trials on this executor.
fn after_trials(versions: &mut dyn Executor) -> PlannedBenchmark {
    let spec = spec(None);
    let mut plan = plan_of(Style::Loop, 1000, &spec);
    let benches = Benches { versions, baseline_alone: &mut Played::new([0, 0]) };
    let wanted = Wanted { mode: true, warm_up: &|_| true };
    let learnt = probe(&plan, benches, &wanted, &AtomicBool::new(false)).unwrap();
    plan.learn(learnt, &spec, CAPACITY);
    plan.benchmarks.remove(0)
}

/// The length of slices, as a multiple of the usual one, after first trials on this executor.
fn lengthened(versions: &mut dyn Executor) -> u64 {
    after_trials(versions).configuration.slice_ns / defaults::SLICE_NS
}

/// Plays a candidate that takes so many halves of the baseline's time in the first trials, and so many in those from other places.
struct Unlike {
    at_first: u64,
    exchanged: u64,
}

impl Executor for Unlike {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let times = if trial.suite_run == 0 { self.at_first } else { self.exchanged };
        let sample = |role, i: u32| {
            let slice_ns = planned.configuration.slice_ns * if is_longer(planned, i) { 4 } else { 1 };
            let times = if role == Role::Candidate { times } else { 2 };
            Sample { wall_ns: times * slice_ns, ..slice(trial, role, i, slice_ns, slice_ns) }
        };
        Ok(outcome(planned, 20, sample))
    }
}

#[test]
fn first_trials_in_turns_tell_how_programs_differ_as_they_are_linked() {
    let check = |at_first, exchanged, want: Option<f64>| {
        let profile = after_trials(&mut Unlike { at_first, exchanged }).profile.unwrap();
        let close = profile.as_linked.zip(want).is_some_and(|(ratio, want)| (ratio - want).abs() < 1e-3);
        assert!(close || (profile.as_linked, want) == (None, None), "{profile:?}");
    };
    check(4, 4, Some(2.0));
    check(8, 6, Some(3.0));
    check(1, 1, Some(0.5));
    // A matter of places, and none of the programs.
    check(4, 1, None);
    assert_eq!(after_trials(&mut Busy { in_turns: 0 }).profile.unwrap().as_linked, None, "it needs all cores");
}

#[test]
fn only_what_caches_take_lengthens_slices() {
    let learnt = |times, collects_from: Option<u64>| {
        let collects_ns = collects_from.map_or(u64::MAX, |length| length * defaults::SLICE_NS);
        let mut losing = Losing { times, collects_ns, longest_ns: 0 };
        (lengthened(&mut losing), losing.longest_ns / defaults::SLICE_NS)
    };
    // Nothing is lost.
    assert_eq!(learnt(1, None), (1, 1));
    // Twice the time is no matter of caches, however long the slices are.
    assert_eq!(learnt(2, None), (1, 16));
    // Code that collects is not asked for what it takes alone, whose collector marks beside it.
    assert_eq!(learnt(2, Some(1)), (1, 1));
    assert_eq!(learnt(2, Some(16)), (1, 4));
}

#[test]
fn slices_too_short_to_get_warm_in_are_not_believed() {
    // Slices of 0.2 ms lose 8 % to what ones of 0.8 ms lose 11 % to, so that eleven times as long would be too short.
    let mut soon = Warming { lost_ms: soon_warm, trials: u32::MAX };
    assert_eq!(lengthened(&mut soon), defaults::COLD_FACTOR_MAX as u64);
    // Slices of 0.2 and of 0.8 ms are equally cold, and take longer than alone.
    let mut late = Warming { lost_ms: late_warm, trials: u32::MAX };
    assert_eq!(lengthened(&mut late), defaults::COLD_FACTOR_MAX as u64);
}

#[test]
fn a_benchmark_that_keeps_several_cores_busy_gets_them_however_long_it_takes() {
    for first_ns in [1000, 2_000_000_000] {
        let spec = spec(None);
        let mut plan = plan_of(Style::Loop, first_ns, &spec);
        let benches = Benches { versions: &mut Busy { in_turns: 0 }, baseline_alone: &mut Played::new([0, 0]) };
        let wanted = Wanted { mode: true, warm_up: &|_| true };
        let learnt = probe(&plan, benches, &wanted, &AtomicBool::new(false)).unwrap();
        plan.learn(learnt, &spec, CAPACITY);
        assert_eq!(plan.benchmarks[0].mode, Mode::InterleavedAllCores, "{first_ns}");
    }
}

/// Plays invocations of two milliseconds that lose half of one where the other version came before, and as many as there is time for.
struct Long {
    /// Fewest slices of a trial alone.
    alone: usize,
    /// Time that a trial takes.
    takes: Duration,
}

impl Executor for Long {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        std::thread::sleep(self.takes);
        let usual = planned.configuration;
        // Blocks of long slices hold one.
        let stretched = |i: u32| usual.purpose == Purpose::Stretched && i % 2 == 1;
        let invocations = |i| (usual.slice_ns / LONG_NS).max(1) * if stretched(i) { 4 } else { 1 };
        let lost_ns = if planned.mode == Mode::Sequential { 0 } else { 500_000 };
        let sample = |role, i| {
            let wall_ns = LONG_NS * invocations(i) + lost_ns;
            Sample { invocations: invocations(i), ..slice(trial, role, i, 0, wall_ns) }
        };
        let slices = usual.trial_ns / usual.slice_ns.max(LONG_NS);
        if planned.mode == Mode::Sequential {
            self.alone = self.alone.min(slices as usize);
        }
        Ok(outcome(planned, slices as u32, sample))
    }
}

const LONG_NS: u64 = 2_000_000;

#[test]
fn long_invocations_are_looked_at_in_as_many_slices_as_tell_something() {
    // The second budget has time for a first look, and for no closer one.
    for (budget_s, takes_ms) in [(None, 0), (Some(12), 300)] {
        let mut long = Long { alone: usize::MAX, takes: Duration::from_millis(takes_ms) };
        let spec = spec(None);
        let mut plan = plan_of(Style::Loop, LONG_NS, &spec);
        plan.budget_ns = budget_s.map(|seconds: u64| seconds * 1_000_000_000);
        let benches = Benches { versions: &mut long, baseline_alone: &mut Played::new([0, 0]) };
        let wanted = Wanted { mode: true, warm_up: &|_| true };
        let learnt = probe(&plan, benches, &wanted, &AtomicBool::new(false)).unwrap();
        plan.learn(learnt, &spec, CAPACITY);
        // Half a millisecond is two and a half usual slices, more or less: slices hold whole invocations.
        let share = plan.benchmarks[0].profile.and_then(|profile| profile.cold_share);
        assert!(share.is_some_and(|share| (1.9..=3.3).contains(&share)), "{share:?} {budget_s:?}");
        assert_eq!(plan.benchmarks[0].configuration.slice_ns, 10_000_000);
        assert!(long.alone >= 9, "{} slices do not tell whether processes get faster", long.alone);
    }
}

#[test]
fn a_part_that_warms_comes_before_slices_that_cannot_outweigh_it() {
    let configured = |lost_ms| {
        let planned = after_trials(&mut Warming { lost_ms, trials: u32::MAX });
        let left = planned.cold_share_left(planned.mode);
        (planned.configuration.warm_ns, planned.configuration.slice_ns / defaults::SLICE_NS, left)
    };
    // About four times the millisecond that is lost, after which hardly anything is.
    let (warm_ns, times, left) = configured(late_warm);
    assert!((3_500_000..=4_000_000).contains(&warm_ns) && times == 50, "{warm_ns} ns, {times}");
    assert!(left.is_some_and(|left| left < 0.01), "{left:?}");
    // Nothing is gained by it.
    let (warm_ns, times, left) = configured(never_warm);
    assert!((warm_ns, times) == (0, 50) && left.is_some_and(|left| (0.04..=0.05).contains(&left)), "{left:?}");
}

/// Plays cold slices and keeps which benchmarks they were of.
struct Ordered {
    warming: Warming,
    seen: Vec<(usize, u64)>,
}

impl Executor for Ordered {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let times = planned.configuration.slice_ns / defaults::SLICE_NS;
        self.seen.push((trial.benchmark, times));
        self.warming.run_trial(planned, trial)
    }
}

#[test]
fn every_benchmark_has_a_first_look_before_one_has_a_closer_one() {
    let spec = spec(None);
    let mut plan = plan_of(Style::Loop, 1000, &spec);
    plan.benchmarks.push(plan.benchmarks[0].clone());
    let mut versions = Ordered { warming: Warming { lost_ms: late_warm, trials: u32::MAX }, seen: Vec::new() };
    let benches = Benches { versions: &mut versions, baseline_alone: &mut Played::new([0, 0]) };
    let wanted = Wanted { mode: true, warm_up: &|_| true };
    let learnt = probe(&plan, benches, &wanted, &AtomicBool::new(false)).unwrap();
    let closer = versions.seen.iter().position(|(_, times)| *times > 1).unwrap();
    assert!(versions.seen[..closer].iter().any(|(benchmark, _)| *benchmark == 1), "{:?}", versions.seen);
    assert!(learnt.profiles.iter().all(|profile| profile.unwrap().warm_ns > 0));
}

#[test]
fn a_burst_in_one_of_two_looks_lengthens_nothing() {
    // In slices of the usual length and in longer ones, which then look warm.
    assert_eq!(lengthened(&mut Warming { lost_ms: soon_warm, trials: 2 }), 1);
}

/// Plays slices that keep two cores busy, and counts the trials in turns.
struct Busy {
    in_turns: u32,
}

impl Executor for Busy {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.in_turns += u32::from(planned.mode != Mode::Sequential);
        let slice_ns = planned.configuration.slice_ns;
        let sample = |role, i| Sample { cpu_ns: Some(2 * slice_ns), ..slice(trial, role, i, slice_ns, slice_ns) };
        Ok(outcome(planned, 20, sample))
    }
}

#[test]
fn nobody_asks_how_long_caches_take_where_a_benchmark_needs_all_cores() {
    let mut busy = Busy { in_turns: 0 };
    assert_eq!((lengthened(&mut busy), busy.in_turns), (25, 0));
}
