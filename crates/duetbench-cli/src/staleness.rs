//! Whether a plan still holds: what a new run says of every entry, and which must be tuned again.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::plan::Repetitions;
use duetbench_core::recording::{Level, Recorded};
use duetbench_core::tune::{Rules, choose, tune};
use duetbench_run::plan_file::{PlanFile, PlannedRepetitions};
use duetbench_run::store::Provenance;

use crate::planned::repetitions;
use crate::warm_up::{Warm, asked_for, found_in};

/// Why an entry does not hold any more, or has to be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// With as many repetitions as are planned, the metric's value is not within the threshold any more.
    Violates {
        /// Its value now; absent where so few repetitions have none.
        value: Option<f64>,
    },
    /// The benchmark is not in the plan.
    New,
    /// Its code is another one.
    Code,
    /// It was measured on another machine.
    Machine,
    /// The benchmark is not there any more.
    Gone,
}

/// Result of the check for one benchmark, of the plan or of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its full name.
    pub name: String,
    /// Why it is stale; empty where it is not.
    pub reasons: Vec<Reason>,
    /// Why the run says nothing of it, or why it could not be tuned again.
    pub unknown: Option<String>,
    /// The entry of the plan; absent where the benchmark is new.
    pub planned: Option<PlannedRepetitions>,
    /// The entry from now on; absent where it is removed.
    pub next: Option<PlannedRepetitions>,
}

impl Entry {
    /// Whether it has to change.
    pub fn is_stale(&self) -> bool {
        !self.reasons.is_empty()
    }

    /// Repetitions that were planned.
    pub fn planned_repetitions(&self) -> Option<Repetitions> {
        self.planned.as_ref().map(repetitions)
    }

    /// Repetitions that are planned from now on.
    pub fn next_repetitions(&self) -> Option<Repetitions> {
        self.next.as_ref().map(repetitions)
    }
}

/// Facts about a new run beside its values.
pub struct Surroundings<'a> {
    /// Where its values came from.
    pub now: &'a Provenance,
    /// Digests of test binaries by package of the run that the plan was learnt from, where it is still there.
    pub artifacts_then: Option<&'a BTreeMap<String, String>>,
    /// Why the run has no values of a benchmark; absent if it would have, were the benchmark there.
    pub missing: &'a dyn Fn(&str) -> Option<String>,
}

/// Holds a plan against a new run: entries in name order, those that are stale tuned again by the plan's own rules.
pub fn inspect(plan: &PlanFile, recording: &Recording, rules: &Rules, around: &Surroundings<'_>) -> Vec<Entry> {
    let planned: BTreeMap<&str, &PlannedRepetitions> = plan.benchmarks.iter().map(|b| (b.name.as_str(), b)).collect();
    let mut entries: Vec<Entry> = Vec::new();
    for recorded in &recording.benchmarks {
        let mut entry = Entry {
            name: recorded.benchmark.clone(),
            reasons: Vec::new(),
            unknown: None,
            planned: planned.get(recorded.benchmark.as_str()).map(|p| (*p).clone()),
            next: None,
        };
        match &entry.planned {
            None => entry.reasons.push(Reason::New),
            Some(planned) => {
                let cut = planned.warmup.saturating_sub(warmed_up_in_run(&planned.name, around)) as usize;
                // One that was not stable in full is not expected to be so now.
                if planned.stable && is_short(&recording.levels, recorded, planned, cut) {
                    entry.unknown = Some("the run has fewer repetitions than the plan".into());
                    entry.next = Some(planned.clone());
                } else if planned.stable {
                    let warm = recorded.without_warm_up(&recording.levels, cut);
                    let value = value_as_planned(recording, warm.as_ref().unwrap_or(recorded), planned, rules);
                    if value.is_none_or(|value| value > rules.threshold) {
                        entry.reasons.push(Reason::Violates { value });
                    }
                }
                if has_other_code(planned, plan, around) {
                    entry.reasons.push(Reason::Code);
                }
                let machine = planned.machine.as_ref().or(plan.learnt.machine.as_ref());
                if machine.is_some_and(|machine| *machine != around.now.machine) {
                    entry.reasons.push(Reason::Machine);
                }
            }
        }
        entries.push(entry);
    }
    let measured = |name: &str| recording.benchmarks.iter().any(|b| b.benchmark == name);
    for entry in plan.benchmarks.iter().filter(|entry| !measured(&entry.name)) {
        let unknown = (around.missing)(&entry.name);
        let reasons = if unknown.is_some() { Vec::new() } else { vec![Reason::Gone] };
        let next = unknown.is_some().then(|| entry.clone());
        entries.push(Entry { name: entry.name.clone(), reasons, unknown, planned: Some(entry.clone()), next });
    }
    tune_again(&mut entries, recording, &Again { rules, warmup: plan.learnt.warmup }, around);
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Rules by which entries are tuned again: those that the plan was learnt by.
struct Again<'a> {
    rules: &'a Rules,
    /// Iterations to be cut of every benchmark; absent where they are found.
    warmup: Option<usize>,
}

impl Again<'_> {
    /// The recording without its warm-up. Where too few iterations were measured for the plan's number, it is found.
    fn warm(&self, recording: Recording) -> Warm {
        let asked = self.warmup.and_then(|asked| asked_for(recording.clone(), asked).ok());
        asked.unwrap_or_else(|| found_in(&recording))
    }
}

/// Settles what is planned from now on of what was measured.
fn tune_again(entries: &mut [Entry], recording: &Recording, again: &Again<'_>, around: &Surroundings<'_>) {
    let stale = |recorded: &&Recorded| entries.iter().any(|e| e.name == recorded.benchmark && e.is_stale());
    let benchmarks: Vec<Recorded> = recording.benchmarks.iter().filter(stale).cloned().collect();
    let warm = again.warm(Recording { benchmarks, ..recording.clone() });
    let tuned = tune(&warm.recording, again.rules);
    let costs: BTreeMap<&str, _> = warm.recording.benchmarks.iter().map(|r| (r.benchmark.as_str(), &r.cost)).collect();
    for entry in entries.iter_mut().filter(|entry| !entry.reasons.contains(&Reason::Gone) && entry.unknown.is_none()) {
        if !entry.is_stale() {
            entry.next.clone_from(&entry.planned);
            continue;
        }
        let choice = tuned.choices.iter().find(|choice| choice.benchmark == entry.name);
        entry.next = choice.zip(costs.get(entry.name.as_str())).map(|(choice, cost)| PlannedRepetitions {
            warmup: warm.planned(&entry.name).saturating_add(warmed_up_in_run(&entry.name, around)),
            artifact_digest: code_of(&entry.name, around.now).cloned(),
            machine: Some(around.now.machine.clone()).filter(|machine| !machine.is_empty()),
            ..PlannedRepetitions::of(choice, &recording.levels, cost)
        });
        if entry.next.is_none() {
            entry.unknown = tuned.left_out.iter().find(|(name, _)| *name == entry.name).map(|(_, why)| why.clone());
            entry.next.clone_from(&entry.planned);
        }
    }
}

/// Iterations of a benchmark that warmed up in the run and are no values.
fn warmed_up_in_run(benchmark: &str, around: &Surroundings<'_>) -> u32 {
    around.now.warmup.get(benchmark).copied().unwrap_or(0)
}

/// Whether a run has fewer repetitions of any level than are planned, after so many iterations that warm up.
fn is_short(levels: &[Level], recorded: &Recorded, planned: &PlannedRepetitions, cut: usize) -> bool {
    let there = levels.iter().zip(recorded.grid.shape());
    there.zip(planned.wanted(levels)).any(|((level, there), wanted)| match level {
        Level::Instance => false,
        Level::Iteration => wanted.saturating_add(cut) > *there,
        Level::SuiteRun | Level::Fork | Level::Second => wanted > *there,
    })
}

/// The metric's value with the repetitions that are planned; absent where these have none.
fn value_as_planned(
    recording: &Recording,
    recorded: &Recorded,
    planned: &PlannedRepetitions,
    rules: &Rules,
) -> Option<f64> {
    let shape = planned.shape(&recording.levels, recorded.grid.shape());
    let alone = Recording {
        name: recording.name.clone(),
        levels: recording.levels.clone(),
        benchmarks: vec![recorded.clone()],
        warnings: Vec::new(),
    };
    let as_planned = choose(&alone, rules, |_, subject| {
        Some(shape.iter().zip(&subject.full).map(|(n, full)| *n.min(full)).collect())
    });
    as_planned.choices.first().map(|choice| choice.stability).filter(|value| value.is_finite())
}

/// The digest of a benchmark's package.
fn of_package<'a>(name: &str, all: &'a BTreeMap<String, String>) -> Option<&'a String> {
    let holds = |package: &&String| name.strip_prefix(package.as_str()).is_some_and(|rest| rest.starts_with('.'));
    all.keys().filter(holds).max_by_key(|package| package.len()).and_then(|package| all.get(package))
}

/// The digest of a benchmark's test binary, or of all together where that is not known.
fn code_of<'a>(name: &str, now: &'a Provenance) -> Option<&'a String> {
    let digest = of_package(name, &now.artifacts).unwrap_or(&now.artifact_digest);
    Some(digest).filter(|digest| !digest.is_empty())
}

/// Whether a benchmark's code differs from what the plan was learnt from: by its package's test binary where that is known of
/// both, else by all of them together. Where neither is known, nothing is said.
fn has_other_code(planned: &PlannedRepetitions, plan: &PlanFile, around: &Surroundings<'_>) -> bool {
    let name = &planned.name;
    if let Some(then) = &planned.artifact_digest {
        return code_of(name, around.now).is_some_and(|now| now != then);
    }
    if let Some(then) = around.artifacts_then.filter(|all| !all.is_empty())
        && !around.now.artifacts.is_empty()
    {
        // The last run that the plan was learnt from may not have had this package.
        return of_package(name, then).is_some_and(|then| Some(then) != of_package(name, &around.now.artifacts));
    }
    let then = plan.learnt.artifact_digest.as_ref().filter(|digest| !digest.is_empty());
    then.is_some_and(|then| !around.now.artifact_digest.is_empty() && *then != around.now.artifact_digest)
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Better, Cost, Grid, HarnessWarmUp};
    use duetbench_core::tune::Metric;
    use duetbench_run::plan_file::LearntFrom;

    use super::*;

    /// Two forks of forty iterations, the first five of which take twice as long.
    fn recording() -> Recording {
        let value = |i: usize| if i % 40 < 5 { 200.0 } else { 100.0 } + (i % 3) as f64 / 10.0;
        let recorded = Recorded {
            benchmark: "p.C.m".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 0.01, overhead_s: vec![0.0; 2] },
            harness_warm_up: Some(HarnessWarmUp::JMH_DEFAULT),
            terms: Vec::new(),
            grid: Grid::of(&[2, 40], (0..80).map(value).collect()).unwrap(),
        };
        let levels = vec![Level::Fork, Level::Iteration];
        Recording { name: "r1".into(), levels, benchmarks: vec![recorded], warnings: Vec::new() }
    }

    /// The result for an entry that plans `warmup` iterations, by a run that warmed up for `in_run` iterations.
    fn inspected(warmup: u32, in_run: u32) -> Entry {
        let entry = PlannedRepetitions {
            name: "p.C.m".into(),
            suite_runs: 1,
            forks: 2,
            iterations: 10,
            warmup,
            iteration_s: 0.01,
            stability: 0.001,
            stable: true,
            artifact_digest: None,
            machine: None,
        };
        let learnt = LearntFrom {
            date: String::new(),
            from: Vec::new(),
            version: None,
            artifact_digest: None,
            machine: None,
            toolchain: None,
            metric: "cv".into(),
            threshold: 0.01,
            confidence: 0.99,
            keep: Vec::new(),
            warmup: None,
        };
        let now = Provenance {
            version: String::new(),
            artifact_digest: String::new(),
            artifacts: BTreeMap::new(),
            machine: String::new(),
            toolchain: String::new(),
            warmup: BTreeMap::from([("p.C.m".into(), in_run)]),
        };
        let around = Surroundings { now: &now, artifacts_then: None, missing: &|_| None };
        inspect(&PlanFile::new(learnt, vec![entry]), &recording(), &Rules::of(Metric::Cv), &around).remove(0)
    }

    #[test]
    fn a_run_with_fewer_repetitions_than_the_plan_tells_nothing() {
        // Ten iterations are planned, and forty were measured.
        assert_eq!(inspected(30, 0).unknown, None);
        for warmup in [31, 40] {
            let short = inspected(warmup, 0);
            assert!(short.unknown.is_some_and(|why| why.contains("fewer repetitions")), "{warmup}");
            assert!(short.reasons.is_empty() && short.next == short.planned, "{warmup}");
        }
        assert_eq!(inspected(31, 1).unknown, None);
    }

    #[test]
    fn a_plan_is_held_against_what_comes_after_its_warm_up() {
        assert!(!inspected(5, 0).is_stale());
        assert!(!inspected(9, 4).is_stale());
        assert!(matches!(inspected(0, 0).reasons[..], [Reason::Violates { value: Some(_) }]));
        // The run's own warm-up is added to the one that is found in its values.
        assert_eq!(inspected(0, 0).next.map(|next| next.warmup), Some(5));
        assert_eq!(inspected(4, 4).next.map(|next| next.warmup), Some(9));
    }
}
