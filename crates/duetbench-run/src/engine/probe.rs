//! First trials: what a benchmark needs, and which mode gives the narrowest interval on this machine.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::Trial;
use duetbench_core::analysis::summarise;
use duetbench_core::plan::{
    Design, ExecutionConfiguration, Learnt, Mode, Plan, PlannedBenchmark, Profile, SelfCheck, Style,
};
use duetbench_core::spec::defaults;
use duetbench_core::{Role, Sample};

use super::Backend;
use crate::error::RunError;

/// Time that one side measures in a first trial, nanoseconds: too short for a collection, if the benchmark does not allocate a lot.
const PROFILE_NS: u64 = 2_000_000;
/// Benchmarks whose first invocation takes longer get no first trial: it would cost more than it tells.
const FIRST_NS_MAX: u64 = 100_000_000;
/// Fork pairs of each mode in the self-check.
const CHECK_FORKS: u32 = 6;
/// Benchmarks that take part in it.
const CHECK_BENCHMARKS: usize = 2;
/// The self-check is left out of runs that are predicted to be shorter: it takes a few seconds.
const CHECK_WORTH: Duration = Duration::from_secs(90);

/// The back ends that first trials are run with.
pub struct Benches<'a> {
    /// Of the two versions.
    pub versions: &'a mut dyn Backend,
    /// Of the baseline against itself.
    pub baseline_alone: &'a mut dyn Backend,
}

/// Runs the first trials of a plan, with the self-check if modes are chosen by us (`auto`). Their samples are not judged and not
/// kept.
///
/// # Errors
/// When a back end cannot go on, or on an interrupt. A first trial that fails tells nothing, which is no error.
pub fn probe(plan: &Plan, benches: Benches<'_>, auto: bool, interrupted: &AtomicBool) -> Result<Learnt, RunError> {
    let mut profiles = Vec::with_capacity(plan.benchmarks.len());
    for (benchmark, planned) in plan.benchmarks.iter().enumerate() {
        RunError::stop_if(interrupted)?;
        let wanted =
            planned.mode != Mode::Sequential && planned.style != Style::Parallel && planned.first_ns < FIRST_NS_MAX;
        profiles.push(if wanted { profile(benches.versions, planned, benchmark)? } else { None });
    }
    let mut check = None;
    if plan.predicted() >= CHECK_WORTH && auto {
        check = self_check(plan, &profiles, benches.baseline_alone, interrupted)?;
    }
    Ok(Learnt { profiles, check })
}

/// One benchmark, each version alone, free to use every core.
fn profile(
    backend: &mut dyn Backend,
    planned: &PlannedBenchmark,
    benchmark: usize,
) -> Result<Option<Profile>, RunError> {
    let alone = as_trial(planned, Mode::Sequential, PROFILE_NS);
    let outcome = backend.run_trial(&alone, &trial(benchmark, 0))?;
    Ok(outcome.result.ok().and_then(|samples| Profile::of(&samples)))
}

/// Compares the baseline with itself in every mode, with the cheapest benchmarks that keep one core busy.
fn self_check(
    plan: &Plan,
    profiles: &[Option<Profile>],
    backend: &mut dyn Backend,
    interrupted: &AtomicBool,
) -> Result<Option<SelfCheck>, RunError> {
    let mut fit: Vec<(usize, f64)> = profiles
        .iter()
        .enumerate()
        .filter_map(|(i, p)| p.filter(|p| !p.collects && !p.keeps_several_cores_busy()).map(|p| (i, p.invocation_ns)))
        .collect();
    fit.sort_by(|a, b| a.1.total_cmp(&b.1));
    fit.truncate(CHECK_BENCHMARKS);
    let mut check = SelfCheck::default();
    for mode in [Mode::InterleavedOneCore, Mode::Duet, Mode::InterleavedAllCores, Mode::Sequential] {
        let (mut log_ratios, mut wall) = (Vec::new(), Duration::ZERO);
        for &(benchmark, _) in &fit {
            let planned = &plan.benchmarks[benchmark];
            let one_mode = as_trial(planned, mode, planned.configuration.trial_ns);
            for suite_run in 0..CHECK_FORKS {
                RunError::stop_if(interrupted)?;
                let outcome = backend.run_trial(&one_mode, &trial(benchmark, suite_run))?;
                wall += outcome.wall;
                let samples: Vec<Sample> = outcome.result.unwrap_or_default();
                log_ratios.extend(summarise(&samples, mode).forks.iter().map(|f| f.log_ratio));
            }
        }
        let trial_s = wall.as_secs_f64() / log_ratios.len().max(1) as f64;
        let by_build = plan.benchmarks.iter().any(|b| b.configuration.design.by_build);
        let layout_sd = if by_build { defaults::LAYOUT_SD } else { 0.0 };
        check.add(mode, &log_ratios, (trial_s, layout_sd));
    }
    Ok((!check.widths.is_empty()).then_some(check))
}

/// A benchmark as it is run in a first trial: in this mode, for so long, from the builds that every run has.
fn as_trial(planned: &PlannedBenchmark, mode: Mode, trial_ns: u64) -> PlannedBenchmark {
    let design = Design { by_build: false, ..planned.configuration.design };
    let configuration = ExecutionConfiguration { design, trial_ns, ..planned.configuration };
    PlannedBenchmark { mode, configuration, ..planned.clone() }
}

fn trial(benchmark: usize, suite_run: u32) -> Trial {
    let first = if suite_run.is_multiple_of(2) { Role::Baseline } else { Role::Candidate };
    let seed = u64::from(suite_run);
    Trial { benchmark, round: 0, suite_run, fork: 0, build: 0, first, core: suite_run / 2, seed }
}
