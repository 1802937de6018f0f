//! Begins a comparison that follows a plan file: every benchmark with as much as was learnt to be enough for it.

use std::collections::{BTreeMap, BTreeSet};

use super::design::{Relink, design};
use super::lengths::{Lengths, Manner, settling_ns};
use super::{Capacity, ExecutionConfiguration, Plan, PlannedBenchmark, Repetitions, Style};
use crate::spec::{Effort, LayoutChoice, Spec, defaults};

/// With how much a comparison of one benchmark begins; planned looks may end it sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Fork pairs.
    pub fork_pairs: u32,
    /// Time one side measures in one trial, nanoseconds.
    pub measured_ns: u64,
    /// Length of an iteration, nanoseconds, where the harness has iterations of its own.
    pub iteration_ns: u64,
    /// Iterations of that length that warm up before.
    pub warmup: u32,
}

impl Start {
    /// A comparison made of so many repetitions of one version: a fork pair for every process, and as much time in each as its
    /// iterations take. Fewer than four fork pairs tell nothing, whatever was learnt.
    pub fn of(repetitions: &Repetitions) -> Start {
        let processes = u32::try_from(repetitions.trials()).unwrap_or(u32::MAX);
        let measured_ns = repetitions.iteration_ns.saturating_mul(repetitions.iterations.into());
        Start {
            fork_pairs: processes.clamp(defaults::PLANNED_UNITS_MIN, defaults::UNITS_MAX),
            measured_ns,
            iteration_ns: repetitions.iteration_ns,
            warmup: repetitions.warmup,
        }
    }

    /// Time one side measures in one trial that is cut into short slices, nanoseconds: there is no room for more than
    /// [`defaults::TRIAL_PLANNED_MAX_NS`].
    pub fn sliced_ns(&self) -> u64 {
        self.measured_ns.clamp(defaults::TRIAL_NS, defaults::TRIAL_PLANNED_MAX_NS)
    }
}

/// Where a plan file and the benchmarks there are do not fit, by full names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unmatched {
    /// Benchmarks of which the file says nothing; they are measured as without it.
    pub not_planned: Vec<String>,
    /// Entries whose benchmark is not there.
    pub not_found: Vec<String>,
}

impl Unmatched {
    /// Compares the names that are planned with those that were found, in name order.
    pub fn of<'a, T>(planned: &BTreeMap<String, T>, found: impl Iterator<Item = &'a crate::BenchmarkId>) -> Unmatched {
        let found: BTreeSet<String> = found.map(ToString::to_string).collect();
        Unmatched {
            not_planned: found.iter().filter(|name| !planned.contains_key(*name)).cloned().collect(),
            not_found: planned.keys().filter(|name| !found.contains(*name)).cloned().collect(),
        }
    }
}

impl Plan {
    /// Gives every benchmark that `starts` names the fork pairs and the length that stand there, and spreads the trials of those
    /// that have few over the whole run. The others keep theirs. Whoever takes part in the same suite run shares its programs, so
    /// that no benchmark has two fork pairs of a build pair to exchange their places. May be called again after [`Plan::learn`],
    /// which sets lengths anew.
    pub fn follow(&mut self, starts: &BTreeMap<String, Start>, spec: &Spec, capacity: Capacity) {
        self.spread = true;
        for planned in &mut self.benchmarks {
            if let Some(start) = starts.get(&planned.id.to_string()) {
                planned.follow(*start, spec, capacity);
            } else if planned.configuration.design.places > 1 {
                planned.configuration.design = planned.configuration.design.one_by_one();
            }
        }
    }
}

impl PlannedBenchmark {
    /// The same with trials of this length, in which so many slices warm up, and with what such a trial will probably take.
    pub fn with_trials(&self, trial_ns: u64, warmup_slices: u32) -> PlannedBenchmark {
        let manner = self.manner(warmup_slices);
        let slice_ns = self.configuration.slice_ns;
        let Lengths { predicted_ns, .. } = Lengths { slice_ns, ..Lengths::of(manner) }.with_trial(trial_ns, manner);
        let configuration = ExecutionConfiguration { trial_ns, warmup_slices, ..self.configuration };
        PlannedBenchmark { trial_predicted_ns: predicted_ns, configuration, ..self.clone() }
    }

    /// The manner in which it is run, with so many slices that warm up.
    fn manner(&self, warmup_slices: u32) -> Manner {
        let PlannedBenchmark { mode, style, first_ns, runtime_threads, .. } = *self;
        let settling_ns = settling_ns(style, self.profile);
        Manner { mode, style, first_ns, warmup_slices, settling_ns, runtime_threads }
    }

    fn follow(&mut self, start: Start, spec: &Spec, capacity: Capacity) {
        let effort = Effort { forks: Some(start.fork_pairs), budget: None, ..spec.effort };
        let iterations = (self.style == Style::Iteration).then(|| {
            // As in the run that was learnt from, whatever is usual; what was typed counts more than what was learnt.
            (start.iteration_ns, spec.harness.warmup.unwrap_or(start.warmup))
        });
        let warmup_slices = iterations.map_or(self.configuration.warmup_slices, |(_, warmup)| warmup);
        let manner = self.manner(warmup_slices);
        let usual = Lengths::of(manner);
        let (slice_ns, trial_ns) = match iterations {
            Some((iteration_ns, _)) => (iteration_ns, start.measured_ns),
            // Slices that caches made longer need their time, whatever was enough for one version.
            None => (self.configuration.slice_ns, start.sliced_ns().max(self.configuration.trial_ns)),
        };
        let lengths = Lengths { slice_ns, ..usual }.with_trial(trial_ns, manner);
        // The cost of linking was weighed when the plan was learnt: its processes are given.
        let relink =
            capacity.relinks.map(|_| Relink { layouts: LayoutChoice::Random, cost_ns: 0, beside_ns: 0, trial_ns });
        let design = design(effort, None, relink);
        self.trial_predicted_ns = lengths.predicted_ns;
        self.configuration = ExecutionConfiguration {
            design: if effort.builds.is_none() { design.one_by_one() } else { design },
            slice_ns,
            trial_ns,
            warmup_slices,
            ..self.configuration
        };
    }
}
