//! The warm-up of a recording: cut as asked, or as it is found.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::recording::{Level, Recorded};
use duetbench_core::tune::{TunedWarmUp, without_warm_up};
use duetbench_core::warmup::SERIES_MIN;

use crate::args::{TuneArgs, WarmUpArg};
use crate::failure::Failure;
use crate::render::format::listed;

/// Most benchmarks that a warning names before it only counts the rest.
const NAMES_MAX: usize = 3;

/// A recording without its warm-up.
#[derive(Debug, Clone)]
pub struct Warm {
    /// The values that are left, with what there is to warn of.
    pub recording: Recording,
    /// Iterations that were asked to be cut of every benchmark.
    pub asked: usize,
    /// Warm-up that was found, by benchmark; empty where a number was asked for.
    pub found: BTreeMap<String, TunedWarmUp>,
}

impl Warm {
    /// Cuts the warm-up as the arguments say. Without a word it is looked for where the harness has one.
    ///
    /// # Errors
    /// When iterations are to be cut of a recording that has none, or that has no more.
    pub fn of(recording: Recording, args: &TuneArgs) -> Result<Warm, Failure> {
        match args.warmup {
            Some(WarmUpArg::Iterations(asked)) => asked_for(recording, asked),
            None | Some(WarmUpArg::Auto) => Ok(found_in(&recording)),
        }
    }

    /// Iterations that a plan is to have warm up a benchmark, beside those that did so in the recorded run.
    pub fn planned(&self, benchmark: &str) -> u32 {
        let iterations = self.found.get(benchmark).map_or(self.asked, TunedWarmUp::iterations);
        u32::try_from(iterations).unwrap_or(u32::MAX)
    }
}

/// The recording without so many iterations at the start of every fork.
///
/// # Errors
/// When it has no iterations, or nothing is left of a benchmark.
pub fn asked_for(recording: Recording, asked: usize) -> Result<Warm, Failure> {
    let found = BTreeMap::new();
    if asked == 0 {
        return Ok(Warm { recording, asked, found });
    }
    if !recording.levels.contains(&Level::Iteration) {
        let has = recording.levels.iter().map(|level| level.word()).collect::<Vec<_>>().join(", ");
        let words = format!("`--warmup` cuts iterations, and `{}` has none: it has {has}", recording.name);
        return Err(Failure::usage(words));
    }
    let warm = recording.without_warm_up(asked).ok_or_else(|| {
        let is_gone = |one: &&Recorded| one.without_warm_up(&recording.levels, asked).is_none();
        let gone = recording.benchmarks.iter().find(is_gone).map_or("", |one| one.benchmark.as_str());
        Failure::usage(format!("`--warmup {asked}` leaves nothing of `{gone}` in `{}`", recording.name))
    })?;
    Ok(Warm { recording: warm, asked, found })
}

/// The recording without the warm-up that is found in it, and a warning for what is not found.
pub fn found_in(recording: &Recording) -> Warm {
    let (mut warm, found) = without_warm_up(recording);
    let of = |is: &dyn Fn(&TunedWarmUp) -> bool| {
        found.iter().filter(|(_, warm_up)| is(warm_up)).map(|(name, _)| name.as_str()).collect::<Vec<_>>()
    };
    let unsteady = of(&|warm_up| warm_up.found.is_some_and(|found| found.iterations.is_none()));
    let short = of(&|warm_up| warm_up.found.is_none());
    let unsteady =
        named(&unsteady, "most forks never become steady, so nothing is taken for warm-up; `--warmup N` says how much");
    let too_short = format!(
        "whether it warms up cannot be told from fewer than {SERIES_MIN} iterations in a fork; record more of them, or say `--warmup N`"
    );
    warm.warnings.extend(unsteady.into_iter().chain(named(&short, &too_short)));
    Warm { recording: warm, asked: 0, found }
}

/// A sentence about some benchmarks.
fn named(benchmarks: &[&str], what: &str) -> Option<String> {
    let shown: Vec<String> = benchmarks.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    (!shown.is_empty()).then(|| format!("{}: {what}", listed(&shown, benchmarks.len())))
}
