//! Runs as they were stored.

use duetbench_core::Trial;
use duetbench_core::analysis::{Cores, Measured};
use duetbench_core::fleet::{Abandoned, Account};
use duetbench_core::hotspot::BenchmarkProfile;
use duetbench_core::instructions::BenchmarkInstructions;
use duetbench_core::plan::{Mode, Plan};
use duetbench_core::reported::Readings;

use super::{Head, RunHead, SoloHead};
use crate::engine::TrialOutcome;
use crate::error::RunError;

/// A run as it was stored: of any kind, or of the kind whose head it has.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun<H = Head> {
    /// Its name.
    pub name: String,
    /// Its head: the facts from before its first trial.
    pub head: H,
    /// Whether it was measured to its end.
    pub complete: bool,
    /// Wall time spent measuring, seconds.
    pub measured_s: f64,
    /// Its trials, in the order in which they were run.
    pub trials: Vec<(Trial, TrialOutcome)>,
    /// Threshold by which its duets fell back while it was measured, whatever it is judged by now; absent where none falls back: on a
    /// fleet, and with one version.
    pub fallback_threshold: Option<f64>,
    /// Its calls, in the order in which they were sent, where it was measured on a fleet.
    pub calls: Vec<Account>,
    /// Benchmarks that its last sitting on a fleet left without an answer, for reasons of the fleet.
    pub abandoned: Vec<Abandoned>,
    /// CPU profiles of its regressions.
    pub profiles: Vec<BenchmarkProfile>,
    /// Instructions of its benchmarks.
    pub instructions: Vec<BenchmarkInstructions>,
    /// Values that its benchmarks reported under units of their own.
    pub readings: Vec<Readings>,
}

impl StoredRun {
    /// The run, if it is a comparison.
    ///
    /// # Errors
    /// Says what can be done with it, if it is not.
    pub fn comparison(self) -> Result<StoredRun<RunHead>, RunError> {
        self.with_head(|name, head| match head {
            Head::Comparison(head) => Ok(*head),
            Head::Solo(_) => {
                let what = format!("run `{name}` measured one version, so there is nothing to compare");
                Err(RunError::other_kind(what).hint(format!(
                    "`duet show {name}` prints it, `duet tune {name}` learns from it, `duet analyze {name} RUN` compares it \
                     with another such run"
                )))
            }
        })
    }

    /// The run, if it is one of one version.
    ///
    /// # Errors
    /// Says what can be done with it, if it is not.
    pub fn solo(self) -> Result<StoredRun<SoloHead>, RunError> {
        self.with_head(|name, head| match head {
            Head::Solo(head) => Ok(*head),
            Head::Comparison(_) => Err(RunError::other_kind(format!("run `{name}` is a comparison of two versions"))
                .hint(format!("`duet show {name}` prints it, `duet compare --resume {name}` goes on with it"))),
        })
    }

    fn with_head<H>(self, take: impl FnOnce(&str, Head) -> Result<H, RunError>) -> Result<StoredRun<H>, RunError> {
        Ok(StoredRun {
            head: take(&self.name, self.head)?,
            name: self.name,
            complete: self.complete,
            measured_s: self.measured_s,
            trials: self.trials,
            fallback_threshold: self.fallback_threshold,
            calls: self.calls,
            abandoned: self.abandoned,
            profiles: self.profiles,
            instructions: self.instructions,
            readings: self.readings,
        })
    }
}

impl StoredRun<RunHead> {
    /// Measured values, indexed like the plan's benchmarks.
    pub fn measured(&self) -> Vec<Measured> {
        let modes = self.modes(&self.head.plan);
        // Values from before a benchmark fell back to another mode are kept, but not judged.
        measured(&self.trials, modes.len(), |trial, outcome| modes.get(trial.benchmark) == Some(&outcome.mode))
    }

    /// The plan with the modes that benchmarks ended in.
    pub fn plan(&self) -> Plan {
        let mut plan = self.head.plan.clone();
        for (planned, mode) in plan.benchmarks.iter_mut().zip(self.modes(&self.head.plan)) {
            if mode != planned.mode {
                planned.mode_reason = format!("fell back from {}: its two cores were not alike", planned.mode.label());
                planned.mode = mode;
            }
        }
        plan
    }
}

impl StoredRun<SoloHead> {
    /// Measured values, indexed like the plan's benchmarks.
    pub fn measured(&self) -> Vec<Measured> {
        measured(&self.trials, self.head.plan.benchmarks.len(), |_, _| true)
    }
}

impl<H> StoredRun<H> {
    /// The mode that each benchmark of the plan is judged in: that of the last trial of its first round, unless it fell back by that very
    /// trial. Rounds that confirm change none.
    pub(super) fn modes(&self, plan: &Plan) -> Vec<Mode> {
        let mut modes: Vec<Mode> = plan.benchmarks.iter().map(|planned| planned.mode).collect();
        let mut cores = vec![Cores::default(); modes.len()];
        for (trial, outcome) in self.trials.iter().filter(|(trial, _)| trial.round == 0) {
            let (Ok(samples), Some(mode)) = (&outcome.result, modes.get_mut(trial.benchmark)) else { continue };
            let cores = &mut cores[trial.benchmark];
            let by_it = |threshold| outcome.mode == Mode::Duet && cores.make_fall_back(samples, threshold);
            let fell_back = self.fallback_threshold.is_some_and(by_it);
            *mode = if fell_back { Mode::InterleavedOneCore } else { outcome.mode };
        }
        modes
    }
}

/// The samples and failures of so many benchmarks, as far as samples are wanted.
fn measured(
    trials: &[(Trial, TrialOutcome)],
    benchmarks: usize,
    wanted: impl Fn(&Trial, &TrialOutcome) -> bool,
) -> Vec<Measured> {
    let mut measured = vec![Measured::default(); benchmarks];
    for (trial, outcome) in trials {
        let Some(measured) = measured.get_mut(trial.benchmark) else { continue };
        match &outcome.result {
            Ok(_) if !wanted(trial, outcome) => {}
            Ok(samples) => measured.samples.extend(samples),
            Err(failure) => measured.failed_trials.push(failure.clone()),
        }
    }
    measured
}
