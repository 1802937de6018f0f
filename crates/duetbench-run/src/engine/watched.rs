//! Trials with the machine watched meanwhile.

use duetbench_core::Trial;
use duetbench_core::plan::PlannedBenchmark;

use super::{Backend, Needed, TrialFailure, TrialOutcome};
use crate::error::RunError;
use crate::noise::Watch;

/// Any back end on this machine, with a look at the machine's counters before and after each trial. A trial during which the
/// machine slept or became another one is discarded, with the reason.
pub struct Watched<'a> {
    inner: &'a mut dyn Backend,
    watch: Watch,
}

impl<'a> Watched<'a> {
    /// Watches while `inner` measures.
    pub fn new(inner: &'a mut dyn Backend) -> Watched<'a> {
        Watched { inner, watch: Watch::start() }
    }
}

impl Backend for Watched<'_> {
    fn provide(&mut self, needed: &[Needed]) -> Result<(), RunError> {
        self.inner.provide(needed)
    }

    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.watch.lap();
        let outcome = self.inner.run_trial(planned, trial)?;
        let conditions = self.watch.lap();
        let result = match conditions.spoils() {
            Some(spoilt) => Err(TrialFailure { role: None, reason: spoilt.to_string(), discarded: true }),
            None => outcome.result,
        };
        Ok(TrialOutcome { result, conditions: Some(conditions), ..outcome })
    }
}
