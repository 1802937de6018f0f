//! First trials: what a benchmark needs, and which mode gives the narrowest interval on this machine.

mod in_turns;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::Trial;
use duetbench_core::analysis::summarise;
use duetbench_core::plan::{
    Design, ExecutionConfiguration, FirstWarmUp, Learnt, Mode, Plan, PlannedBenchmark, Profile, Purpose, SETTLING_NS,
    SETTLING_SLICES_MIN, SelfCheck, Style, is_settling,
};
use duetbench_core::spec::defaults;
use duetbench_core::warmup::SERIES_MIN;
use duetbench_core::{BenchmarkId, Role, Sample};

use self::in_turns::{InTurns, Seen};
use super::Executor;
use crate::error::RunError;

/// Time that one side measures in a first trial, nanoseconds: caches of some megabytes get warm in it.
const PROFILE_NS: u64 = 10_000_000;
/// Start and end of the processes of a trial, nanoseconds.
const START_NS: u64 = 20_000_000;
/// Benchmarks whose first invocation takes longer are not in the self-check, nor looked at where they have all cores.
const FIRST_NS_MAX: u64 = 100_000_000;
/// Fork pairs of each mode in the self-check.
const CHECK_FORKS: u32 = 6;
/// Modes that it compares.
const CHECK_MODES: [Mode; 4] = [Mode::InterleavedOneCore, Mode::Duet, Mode::InterleavedAllCores, Mode::Sequential];
/// Benchmarks that take part in it.
const CHECK_BENCHMARKS: usize = 2;
/// The self-check is left out of runs that are predicted to be shorter: it takes a few seconds.
const CHECK_WORTH: Duration = Duration::from_secs(90);

/// A closer look takes up to so many times as long as the first one.
const CLOSER_TIMES: u32 = 6;
/// Share of a budget that first trials may take.
const LOOK_SHARE: f64 = 0.25;
/// Where slices are iterations of processes that take long to start, the self-check may take this share of what the run is
/// predicted to take.
const CHECK_SHARE: f64 = 0.05;
/// Fewest iterations of a trial that looks for the end of the warm-up: twice as many as tell anything, for a warm-up and as much that is
/// steady.
const WARM_UP_ITERATIONS_MIN: u64 = 2 * SERIES_MIN as u64;

/// The size of a trial that looks for the end of the warm-up.
#[derive(Clone, Copy)]
struct WarmUpLook {
    /// Most iterations.
    iterations_max: u64,
    /// Longest time that one side measures, nanoseconds, unless its iterations are so long that they would be too few.
    ns_max: u64,
}

/// The usual size: those beside which a harness is compiled too are not all of them.
const LONG_LOOK: WarmUpLook = WarmUpLook { iterations_max: 360, ns_max: 3_600_000_000 };
/// The size where a budget has no time for that with all benchmarks: it tells nothing of later levels, and ends before that happens.
const SHORT_LOOK: WarmUpLook = WarmUpLook { iterations_max: 150, ns_max: 1_500_000_000 };

/// The executors that first trials are run with.
pub struct Benches<'a> {
    /// Runs trials of the two versions.
    pub versions: &'a mut dyn Executor,
    /// Runs trials of the baseline against itself.
    pub baseline_alone: &'a mut dyn Executor,
}

/// Questions that first trials are to answer.
pub struct Wanted<'a> {
    /// Whether to find the best mode on this machine; not where the user chose it.
    pub mode: bool,
    /// Whether to find the length of a benchmark's warm-up; not where the user or a plan file sets it.
    pub warm_up: &'a dyn Fn(&BenchmarkId) -> bool,
}

/// Wall time that first trials will probably take, the self-check left out: as much of a budget as they may.
pub fn probing_takes(plan: &Plan, wanted: &Wanted<'_>) -> Duration {
    let all = looks_take(plan, wanted, warm_up_look(plan, wanted)).sum();
    time_for_looks(plan).map_or(all, |most| most.min(all))
}

/// The size of looks for the end of the warm-up that all benchmarks have time for.
fn warm_up_look(plan: &Plan, wanted: &Wanted<'_>) -> WarmUpLook {
    let all: Duration = looks_take(plan, wanted, LONG_LOOK).sum();
    if time_for_looks(plan).is_none_or(|most| all <= most) { LONG_LOOK } else { SHORT_LOOK }
}

fn looks_take(plan: &Plan, wanted: &Wanted<'_>, size: WarmUpLook) -> impl Iterator<Item = Duration> {
    plan.benchmarks.iter().map(move |planned| look_takes(planned, wanted, size))
}

/// Wall time that the first trials of one benchmark will probably take.
fn look_takes(planned: &PlannedBenchmark, wanted: &Wanted<'_>, size: WarmUpLook) -> Duration {
    let found = planned.style == Style::Iteration && (wanted.warm_up)(&planned.id);
    let warm_up_ns = if found { size.trial_of(planned).trial_predicted_ns } else { 0 };
    let alone_ns = match planned.style {
        Style::Iteration if planned.mode == Mode::InterleavedAllCores => 0,
        // Its processes warm up once more.
        Style::Iteration | Style::Process => planned.trial_predicted_ns,
        // One invocation tells how many there can be.
        _ => alone_ns(planned).max(planned.first_ns.saturating_mul(2)).saturating_mul(2).saturating_add(START_NS),
    };
    let alone_ns = if is_worth_a_look(planned) { alone_ns } else { 0 };
    let cold_ns = if planned.may_be_cold() { in_turns::takes_ns(planned) + START_NS } else { 0 };
    Duration::from_nanos(warm_up_ns.saturating_add(alone_ns).saturating_add(cold_ns))
}

/// Wall time that the self-check will probably take.
fn check_takes(plan: &Plan) -> Duration {
    let trials = CHECK_FORKS as usize * CHECK_MODES.len() * CHECK_BENCHMARKS;
    let cheapest = plan.benchmarks.iter().map(|b| b.trial_predicted_ns).min().unwrap_or(0);
    Duration::from_nanos(cheapest.saturating_mul(trials as u64))
}

/// The part of a budget that first trials may take.
fn time_for_looks(plan: &Plan) -> Option<Duration> {
    plan.budget_ns.map(|budget| Duration::from_nanos(budget).mul_f64(LOOK_SHARE))
}

/// Runs the first trials of a plan, with the self-check if modes are chosen by us. Their samples are not judged and not kept. Under
/// a budget the cheapest benchmarks come first, and none for which there is no time.
///
/// # Errors
/// When an executor cannot go on, or on an interrupt. A first trial that fails tells nothing, which is no error.
pub fn probe(
    plan: &Plan,
    benches: Benches<'_>,
    wanted: &Wanted<'_>,
    interrupted: &AtomicBool,
) -> Result<Learnt, RunError> {
    let (began, most) = (Instant::now(), time_for_looks(plan));
    let has_time = |takes: Duration| most.is_none_or(|most| began.elapsed() + takes <= most);
    let size = warm_up_look(plan, wanted);
    let mut order: Vec<(Duration, usize)> = looks_take(plan, wanted, size).zip(0..).collect();
    if most.is_some() {
        order.sort_unstable();
    }
    let mut looks: Vec<Option<Look>> = plan.benchmarks.iter().map(|_| None).collect();
    for &(takes, benchmark) in &order {
        RunError::stop_if(interrupted)?;
        if has_time(takes) {
            let size = (wanted.warm_up)(&plan.benchmarks[benchmark].id).then_some(size);
            let planned = &plan.benchmarks[benchmark];
            looks[benchmark] = match planned.style {
                Style::Iteration => look_at_iterations(planned, benchmark, benches.versions, size)?,
                _ => look_at(planned, benchmark, benches.versions, &has_time)?,
            };
        }
    }
    // Once all had a first look, so that none goes without for one that takes long.
    for &(_, benchmark) in &order {
        RunError::stop_if(interrupted)?;
        if let Some(look) = &mut looks[benchmark]
            && has_time(CLOSER_TIMES * look.took)
        {
            let planned = plan.benchmarks[benchmark].settled(look.profile.settling_ns);
            look.closer(&planned, benchmark, benches.versions)?;
        }
    }
    let profiles: Vec<Option<Profile>> = looks.into_iter().map(|look| look.map(|look| look.profile)).collect();
    let mut check = None;
    if plan.predicted() >= CHECK_WORTH && wanted.mode && has_time(check_takes(plan)) {
        check = self_check(plan, &profiles, benches.baseline_alone, interrupted)?;
    }
    Ok(Learnt { profiles, check })
}

/// A first look at a benchmark.
struct Look {
    profile: Profile,
    /// For a closer one.
    seen: Option<Seen>,
    took: Duration,
}

impl Look {
    fn closer(
        &mut self,
        planned: &PlannedBenchmark,
        benchmark: usize,
        executor: &mut dyn Executor,
    ) -> Result<(), RunError> {
        if let Some(seen) = self.seen.take() {
            let invocation_ns = self.profile.invocation_ns;
            self.profile = InTurns { executor, planned, benchmark, invocation_ns }.closer(self.profile, seen)?;
        }
        Ok(())
    }
}

/// The first look at one benchmark that has iterations, for the end of its warm-up if that is wanted; absent where it told nothing.
fn look_at_iterations(
    planned: &PlannedBenchmark,
    benchmark: usize,
    executor: &mut dyn Executor,
    warm_up: Option<WarmUpLook>,
) -> Result<Option<Look>, RunError> {
    let began = Instant::now();
    let profile = profile_of_iterations(executor, planned, benchmark, warm_up)?;
    Ok(profile.map(|profile| Look { profile, seen: None, took: began.elapsed() }))
}

/// The first look at one benchmark, after longer and longer warm-ups while its processes still get faster and there is time; absent where
/// it is not worth one, or told nothing.
fn look_at(
    planned: &PlannedBenchmark,
    benchmark: usize,
    executor: &mut dyn Executor,
    has_time: &dyn Fn(Duration) -> bool,
) -> Result<Option<Look>, RunError> {
    if !is_worth_a_look(planned) {
        return Ok(None);
    }
    let longer = if planned.style.is_counted() { &[][..] } else { &SETTLING_NS };
    let longest = longer.last().copied().unwrap_or(0);
    let mut found: Option<Look> = None;
    for settling_ns in std::iter::once(0).chain(longer.iter().copied()) {
        if let Some(look) = found.as_mut().filter(|look| !has_time(look.took)) {
            // It is not enough as it is, whether this would be or not.
            look.profile.settling_ns = settling_ns;
            break;
        }
        let began = Instant::now();
        let settled = planned.settled(settling_ns);
        let is_last = settling_ns == longest;
        let Some((profile, seen)) = first_trials(executor, &settled, benchmark, is_last)? else { break };
        let (is_settling, profile) = (seen.is_settling(), profile.with_settling(settling_ns));
        found = Some(Look { profile, seen: seen.is_in_turns().then_some(seen), took: began.elapsed() });
        if !is_settling {
            break;
        }
    }
    Ok(found)
}

/// Each version alone and, where they may use each other's caches, in turns; absent where that tells nothing. Where versions alone are still
/// getting faster, they are looked at in turns in the last trials only.
fn first_trials(
    executor: &mut dyn Executor,
    planned: &PlannedBenchmark,
    benchmark: usize,
    is_last: bool,
) -> Result<Option<(Profile, Seen)>, RunError> {
    let alone = alone(executor, planned, benchmark)?;
    let Some(profile) = Profile::of(&alone) else { return Ok(None) };
    // Where it needs all cores, slices are long.
    if !planned.may_be_cold() || profile.keeps_several_cores_busy() || (!is_last && is_settling(&alone)) {
        return Ok(Some((profile, Seen::alone(alone))));
    }
    let invocation_ns = profile.invocation_ns;
    InTurns { executor, planned, benchmark, invocation_ns }.first(profile, alone).map(Some)
}

/// Whether a trial of each version alone can tell something that matters.
fn is_worth_a_look(planned: &PlannedBenchmark) -> bool {
    // Versions that are measured apart are seen for how long they take to settle.
    let in_pairs = planned.mode != Mode::Sequential || !planned.style.is_counted();
    // Long ones too, unless they have all cores anyhow: that they keep several busy, nothing else would tell.
    let may_need_several = planned.first_ns < FIRST_NS_MAX || planned.mode != Mode::InterleavedAllCores;
    in_pairs && planned.style != Style::Parallel && may_need_several
}

/// Time that one side measures alone, nanoseconds: slices of long invocations are as many as tell whether they still get faster.
fn alone_ns(planned: &PlannedBenchmark) -> u64 {
    let is_long = !planned.style.is_counted() && planned.first_ns <= defaults::COLD_FIRST_NS_MAX;
    if is_long { PROFILE_NS.max(SETTLING_SLICES_MIN * planned.first_ns) } else { PROFILE_NS }
}

/// One benchmark, each version alone, free to use every core.
fn alone(executor: &mut dyn Executor, planned: &PlannedBenchmark, benchmark: usize) -> Result<Vec<Sample>, RunError> {
    let alone = as_trial(planned, Mode::Sequential, alone_ns(planned));
    Ok(executor.run_trial(&alone, &trial(benchmark, 0))?.result.unwrap_or_default())
}

/// One benchmark whose processes warm up: first how long they do, if that is wanted, then each version alone once it is steady.
fn profile_of_iterations(
    executor: &mut dyn Executor,
    planned: &PlannedBenchmark,
    benchmark: usize,
    warm_up: Option<WarmUpLook>,
) -> Result<Option<Profile>, RunError> {
    let mut warm = planned.clone();
    let mut found = None;
    if let Some(size) = warm_up {
        let outcome = executor.run_trial(&size.trial_of(planned), &trial(benchmark, 0))?;
        let samples = outcome.result.unwrap_or_default();
        let Some(first) = FirstWarmUp::of(&samples) else { return Ok(None) };
        warm.configuration.warmup_slices = first.slices;
        found = Profile::of(&last_quarter(&samples)).map(|profile| (profile.with_warm_up(first), first));
    }
    // A benchmark that is run on all cores anyhow needs no look at how many it keeps busy.
    if !is_worth_a_look(planned) || planned.mode == Mode::InterleavedAllCores {
        return Ok(found.map(|(profile, _)| profile));
    }
    let several = defaults::ITERATIONS_MIN.saturating_mul(planned.configuration.slice_ns);
    let outcome = executor.run_trial(&as_trial(&warm, Mode::Sequential, several), &trial(benchmark, 0))?;
    let alone = outcome.result.ok().and_then(|samples| Profile::of(&samples));
    Ok(match (alone, found) {
        (Some(alone), Some((_, first))) => Some(alone.with_warm_up(first)),
        (alone, found) => alone.or(found.map(|(profile, _)| profile)),
    })
}

/// The iterations at the end, which are steady if any are.
fn last_quarter(samples: &[Sample]) -> Vec<Sample> {
    let iterations = samples.iter().map(|s| s.at.iteration + 1).max().unwrap_or(0);
    samples.iter().filter(|s| s.at.iteration >= iterations - iterations / 4).copied().collect()
}

impl WarmUpLook {
    /// The trial, in which nothing is taken for warm-up yet, in the mode that is planned: a compiler that shares its core with what it
    /// compiles takes longer.
    fn trial_of(self, planned: &PlannedBenchmark) -> PlannedBenchmark {
        let slice_ns = planned.configuration.slice_ns.max(1);
        let iterations = (self.ns_max / slice_ns).clamp(WARM_UP_ITERATIONS_MIN, self.iterations_max);
        let trial_ns = iterations.saturating_mul(slice_ns);
        as_trial(&planned.with_trials(trial_ns, 0), planned.mode, trial_ns)
    }
}

/// Compares the baseline with itself in every mode, with the cheapest benchmarks that keep one core busy.
fn self_check(
    plan: &Plan,
    profiles: &[Option<Profile>],
    executor: &mut dyn Executor,
    interrupted: &AtomicBool,
) -> Result<Option<SelfCheck>, RunError> {
    let mut fit: Vec<(usize, f64)> = profiles
        .iter()
        .enumerate()
        .filter(|(i, _)| plan.benchmarks[*i].first_ns < FIRST_NS_MAX)
        .filter_map(|(i, p)| p.filter(|p| !p.collects && !p.keeps_several_cores_busy()).map(|p| (i, p.invocation_ns)))
        .collect();
    fit.sort_by(|a, b| a.1.total_cmp(&b.1));
    fit.truncate(CHECK_BENCHMARKS);
    fit.retain(|(benchmark, _)| has_room_for_check(plan, &plan.benchmarks[*benchmark]));
    let mut check = SelfCheck::default();
    for mode in CHECK_MODES {
        let (mut log_ratios, mut wall) = (Vec::new(), Duration::ZERO);
        for &(benchmark, _) in &fit {
            let planned = &plan.benchmarks[benchmark];
            let one_mode = as_trial(planned, mode, planned.configuration.trial_ns);
            for suite_run in 0..CHECK_FORKS {
                RunError::stop_if(interrupted)?;
                let outcome = executor.run_trial(&one_mode, &trial(benchmark, suite_run))?;
                wall += outcome.wall;
                let samples: Vec<Sample> = outcome.result.unwrap_or_default();
                log_ratios.extend(summarise(&samples, mode).forks.iter().map(|f| f.log_ratio));
            }
        }
        let trial_s = wall.as_secs_f64() / log_ratios.len().max(1) as f64;
        let by_build = plan.benchmarks.iter().any(|b| b.configuration.design.by_build);
        let layout_sd = if by_build { defaults::LAYOUT_SD } else { 0.0 };
        check.add(mode, &log_ratios, trial_s, layout_sd);
    }
    Ok((!check.widths.is_empty()).then_some(check))
}

/// Whether a benchmark can take part in the self-check without this being most of the run.
fn has_room_for_check(plan: &Plan, planned: &PlannedBenchmark) -> bool {
    let trials = f64::from(CHECK_FORKS) * CHECK_MODES.len() as f64;
    let takes_s = trials * Duration::from_nanos(planned.trial_predicted_ns).as_secs_f64();
    !planned.style.is_counted() || takes_s <= CHECK_SHARE * plan.predicted().as_secs_f64()
}

/// A benchmark as it is run in a first trial: in this mode, for so long, from the builds that every run has.
fn as_trial(planned: &PlannedBenchmark, mode: Mode, trial_ns: u64) -> PlannedBenchmark {
    let design = Design { by_build: false, ..planned.configuration.design };
    let configuration = ExecutionConfiguration { design, trial_ns, purpose: Purpose::Look, ..planned.configuration };
    PlannedBenchmark { mode, configuration, ..planned.clone() }
}

fn trial(benchmark: usize, suite_run: u32) -> Trial {
    let first = if suite_run.is_multiple_of(2) { Role::Baseline } else { Role::Candidate };
    let seed = u64::from(suite_run);
    Trial { benchmark, round: 0, suite_run, fork: 0, build: 0, first, core: suite_run / 2, seed }
}
