//! Every benchmark once, as it is going to run on a fleet: without tools, without the user's environment, from the package alone.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Mode, PlannedBenchmark};
use duetbench_core::{Role, Trial};

use super::campaign::{Understood, understand};
use super::package::Recipes;
use super::wire::{Request, VERSION};
use super::worker::for_worker;
use super::{Deployed, Reply};
use crate::error::RunError;
use crate::tool::each;

/// Rehearsals at once.
const AT_ONCE: usize = 2;
/// Pause before a rehearsal that was not taken is tried again.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes that a rehearsal's answer may have.
const ANSWER_BYTES_MAX: usize = 6_000_000;

/// A benchmark that cannot run on a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaysHere {
    /// Index into what was rehearsed.
    pub benchmark: usize,
    /// The side that failed, where that is known.
    pub role: Option<Role>,
    /// Why, in words.
    pub reason: String,
}

/// Rehearses each benchmark with a short trial and gives those that fail, in order.
///
/// # Errors
/// On an interrupt.
pub fn rehearse(
    planned: &[PlannedBenchmark],
    recipes: &(dyn Fn(&PlannedBenchmark, u32) -> Option<Recipes> + Sync),
    deployed: &[&dyn Deployed],
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<Vec<StaysHere>, RunError> {
    let failed = Mutex::new(Vec::new());
    let numbered: Vec<(usize, &PlannedBenchmark)> = planned.iter().enumerate().collect();
    each(&numbered, AT_ONCE, |(benchmark, planned)| {
        let trial = Trial {
            benchmark: *benchmark,
            round: 0,
            suite_run: 0,
            fork: 0,
            build: 0,
            first: Role::Baseline,
            core: 0,
            seed: 0,
        };
        let recipes = recipes(planned, 0).and_then(|recipes| Some((*deployed.get(recipes.package)?, recipes)));
        let reply = match recipes {
            Some((deployed, recipes)) => call(deployed, &request(planned, trial, recipes, timeout), interrupted)?,
            None => Reply::Refused("no package holds it".to_owned()),
        };
        if let Some((role, reason)) = failure(reply, &trial)
            && let Ok(mut failed) = failed.lock()
        {
            failed.push(StaysHere { benchmark: *benchmark, role, reason });
        }
        Ok(())
    })?;
    let mut failed = failed.into_inner().unwrap_or_default();
    failed.sort_by_key(|one| one.benchmark);
    Ok(failed)
}

/// Calls until it is taken: that all instances are busy says nothing of a benchmark.
fn call(deployed: &dyn Deployed, request: &Request, interrupted: &AtomicBool) -> Result<Reply, RunError> {
    loop {
        RunError::stop_if(interrupted)?;
        match deployed.call(&request.write()) {
            Reply::Throttled(_) => std::thread::sleep(PAUSE),
            reply => return Ok(reply),
        }
    }
}

/// As few slices as make a trial.
fn request(planned: &PlannedBenchmark, trial: Trial, recipes: Recipes, timeout: Duration) -> Request {
    let mut planned = for_worker(planned, Mode::InterleavedAllCores);
    let configuration = &mut planned.configuration;
    configuration.warmup_slices = configuration.warmup_slices.min(1);
    configuration.trial_ns = 2 * configuration.slice_ns;
    // Both sides are sized by an invocation and measured by one at least.
    let least_ns = planned.first_ns.saturating_mul(4).max(1_000_000_000);
    planned.trial_predicted_ns = planned.trial_predicted_ns.min(least_ns);
    Request {
        version: VERSION,
        task: name(&trial),
        planned,
        trials: vec![trial.into()],
        members: recipes.members,
        sides: recipes.sides,
        timeout,
        answer_bytes_max: ANSWER_BYTES_MAX,
    }
}

fn name(trial: &Trial) -> String {
    format!("rehearsal {}", trial.benchmark)
}

/// Why it will not do there.
fn failure(reply: Reply, trial: &Trial) -> Option<(Option<Role>, String)> {
    let Understood { heard, outcomes, .. } = understand(reply, &name(trial), &[*trial]);
    match outcomes.into_iter().next() {
        Some((_, outcome)) => {
            outcome.result.err().filter(|f| !f.discarded).map(|failure| (failure.role, failure.reason))
        }
        None => Some((None, super::campaign::words(&heard).unwrap_or_else(|| "it was not answered".to_owned()))),
    }
}
