//! Trials with the machine watched meanwhile.

use duetbench_core::Trial;
use duetbench_core::report::LayoutsUsed;

use super::{Executor, Provision, TrialFailure, TrialOutcome};
use crate::error::RunError;
use crate::noise::Watch;

/// Any executor on this machine, with a look at the machine's counters before and after each trial. A trial during which the
/// machine slept or became another one is discarded, with the reason.
pub struct Watched<'a, E: ?Sized> {
    inner: &'a mut E,
    watch: Watch,
}

impl<'a, E: ?Sized> Watched<'a, E> {
    /// Watches while `inner` measures.
    pub fn new(inner: &'a mut E) -> Watched<'a, E> {
        Watched { inner, watch: Watch::start() }
    }
}

impl<B, E: Executor<B> + ?Sized> Executor<B> for Watched<'_, E> {
    fn provide(&mut self, builds: &Provision) -> Result<(), RunError> {
        self.inner.provide(builds)
    }

    fn beside(&self) -> Vec<u32> {
        self.inner.beside()
    }

    fn layouts(&self) -> Option<LayoutsUsed> {
        self.inner.layouts()
    }

    fn run_trial(&mut self, planned: &B, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.watch.begin_lap_beside(&self.inner.beside());
        let outcome = self.inner.run_trial(planned, trial)?;
        let conditions = self.watch.lap_beside(&self.inner.beside());
        let result = match conditions.spoils() {
            Some(spoilt) => Err(TrialFailure { role: None, reason: spoilt.to_string(), discarded: true }),
            None => outcome.result,
        };
        Ok(TrialOutcome { result, conditions: Some(conditions), ..outcome })
    }
}
