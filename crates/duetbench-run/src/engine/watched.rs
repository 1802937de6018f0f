//! Trials with the machine watched meanwhile.

use duetbench_core::Trial;
use duetbench_core::plan::{PlannedBenchmark, SoloBenchmark};
use duetbench_core::report::LayoutsUsed;

use super::{Backend, Needed, SoloBackend, TrialFailure, TrialOutcome};
use crate::error::RunError;
use crate::noise::Watch;

/// Any back end on this machine, with a look at the machine's counters before and after each trial. A trial during which the
/// machine slept or became another one is discarded, with the reason.
pub struct Watched<'a, B: ?Sized> {
    inner: &'a mut B,
    watch: Watch,
}

impl<'a, B: ?Sized> Watched<'a, B> {
    /// Watches while `inner` measures.
    pub fn new(inner: &'a mut B) -> Watched<'a, B> {
        Watched { inner, watch: Watch::start() }
    }

    /// Runs one trial between two looks.
    fn watched(
        &mut self,
        run: impl FnOnce(&mut B) -> Result<TrialOutcome, RunError>,
    ) -> Result<TrialOutcome, RunError> {
        self.watch.lap();
        let outcome = run(self.inner)?;
        let conditions = self.watch.lap();
        let result = match conditions.spoils() {
            Some(spoilt) => Err(TrialFailure { role: None, reason: spoilt.to_string(), discarded: true }),
            None => outcome.result,
        };
        Ok(TrialOutcome { result, conditions: Some(conditions), ..outcome })
    }
}

impl<B: Backend + ?Sized> Backend for Watched<'_, B> {
    fn provide(&mut self, needed: &[Needed]) -> Result<(), RunError> {
        self.inner.provide(needed)
    }

    fn foresee(&mut self, needed: &[Needed]) -> Result<(), RunError> {
        self.inner.foresee(needed)
    }

    fn layouts(&self) -> Option<LayoutsUsed> {
        self.inner.layouts()
    }

    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.watched(|inner| inner.run_trial(planned, trial))
    }
}

impl<B: SoloBackend + ?Sized> SoloBackend for Watched<'_, B> {
    fn run_alone(&mut self, planned: &SoloBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.watched(|inner| inner.run_alone(planned, trial))
    }
}
