//! Environments: recordings of machines that are meant to be alike.

use std::collections::HashMap;

use duetbench_core::recording::{Better, Level, Recording};

use super::Values;
use super::values::Part;

/// All values that were measured in an environment, far-off ones removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// Its name.
    pub name: String,
    /// In the order in which they were first met.
    pub benchmarks: Vec<Values>,
    /// Warnings from reading its recordings.
    pub warnings: Vec<String>,
}

impl Environment {
    /// The environment of this name, of one recording or several. Each recording brings instances of its own; one without a level of
    /// instances is one instance.
    pub fn of(name: &str, recordings: Vec<Recording>) -> Environment {
        let parts = by_benchmark(&recordings);
        let benchmarks: Vec<Values> = parts.iter().map(|(benchmark, parts)| Values::of(benchmark, parts)).collect();
        let mut warnings: Vec<String> = recordings.iter().flat_map(|recording| recording.warnings.clone()).collect();
        if parts.iter().flat_map(|(_, parts)| parts).any(|(_, recorded)| recorded.better == Better::Higher) {
            warnings.push("throughputs are studied as the times that they come to".into());
        }
        if benchmarks.iter().zip(&parts).any(|(values, (_, parts))| has_forks_for_trials(values, parts)) {
            warnings.push("no instance has several suite runs, so forks take their place as trials".into());
        }
        Environment { name: name.to_owned(), benchmarks, warnings }
    }
}

/// All benchmarks with what each recording has of them, in the order in which they were first met.
fn by_benchmark(recordings: &[Recording]) -> Vec<(&str, Vec<Part<'_>>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut parts: Vec<(&str, Vec<Part<'_>>)> = Vec::new();
    for recording in recordings {
        for recorded in &recording.benchmarks {
            let place = *places.entry(&recorded.benchmark).or_insert_with(|| {
                parts.push((&recorded.benchmark, Vec::new()));
                parts.len() - 1
            });
            parts[place].1.push((&recording.levels, recorded));
        }
    }
    parts
}

/// Whether the trials of a benchmark were its forks.
fn has_forks_for_trials(values: &Values, parts: &[Part<'_>]) -> bool {
    let forks = |(levels, recorded): &Part<'_>| {
        levels.iter().zip(recorded.grid.shape()).any(|(level, n)| *level == Level::Fork && *n > 1)
    };
    let [_, trials, left, _] = *values.shape();
    trials > 1 && left == 1 && parts.iter().any(forks)
}

#[cfg(test)]
pub(super) mod tests {
    use duetbench_core::recording::{Cost, Grid, Recorded};

    use super::*;

    /// A recording of one benchmark.
    pub(in crate::papers::cloud) fn recording(levels: &[Level], shape: &[usize], values: Vec<f64>) -> Recording {
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; levels.len()] },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(shape, values).unwrap(),
        };
        Recording { name: "r".into(), levels: levels.to_vec(), benchmarks: vec![recorded], warnings: Vec::new() }
    }

    /// An environment of one benchmark that has instances, trials and values.
    pub(in crate::papers::cloud) fn values(shape: &[usize; 3], values: Vec<f64>) -> Values {
        let levels = [Level::Instance, Level::SuiteRun, Level::Iteration];
        Environment::of("e", vec![recording(&levels, shape, values)]).benchmarks.remove(0)
    }

    #[test]
    fn what_is_ten_times_the_median_and_more_is_removed_and_counted() {
        // The median is that of all values, the far-off ones among them.
        let cleaned = values(&[2, 2, 2], vec![1.0, 1.0, 9.99, 10.0, 1.0, f64::NAN, 0.5, 400.0]);
        assert_eq!((cleaned.collected, cleaned.removed), (7, 2));
        assert_eq!(cleaned.present().collect::<Vec<_>>(), [1.0, 1.0, 9.99, 1.0, 0.5]);
        assert_eq!(cleaned.trials_of(1).collect::<Vec<_>>(), [2, 3]);
        let zero = values(&[1, 1, 4], vec![0.0, 0.0, 0.0, 5.0]);
        assert_eq!((zero.collected, zero.removed), (4, 0));
    }

    #[test]
    fn every_recording_of_an_environment_brings_its_own_instances() {
        let with =
            recording(&[Level::Instance, Level::SuiteRun, Level::Iteration], &[2, 2, 1], vec![1.0, 2.0, 3.0, 4.0]);
        let without = recording(&[Level::SuiteRun, Level::Fork, Level::Iteration], &[1, 1, 3], vec![5.0, 6.0, 7.0]);
        let joined = Environment::of("e", vec![with, without]).benchmarks.remove(0);
        assert_eq!(joined.shape(), &[3, 2, 1, 3]);
        assert_eq!((joined.collected, joined.instances()), (7, 3));
        assert_eq!(joined.trials_of(0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(joined.trials_of(2).collect::<Vec<_>>(), [4]);
        assert_eq!(joined.trial(4), [5.0, 6.0, 7.0]);
    }

    #[test]
    fn forks_are_trials_where_there_are_no_others() {
        let forks = recording(&[Level::Fork, Level::Iteration], &[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let environment = Environment::of("e", vec![forks]);
        assert_eq!(environment.benchmarks[0].shape(), &[1, 3, 1, 2]);
        assert_eq!(environment.warnings, ["no instance has several suite runs, so forks take their place as trials"]);
        let runs = recording(&[Level::SuiteRun, Level::Fork], &[2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let environment = Environment::of("e", vec![runs]);
        assert_eq!((environment.benchmarks[0].shape(), environment.warnings.len()), (&[1, 2, 2, 1], 0));
    }

    #[test]
    fn throughputs_become_times() {
        let mut recording = recording(&[Level::Iteration], &[4], vec![2.0, 4.0, 0.0, 0.1]);
        recording.benchmarks[0].better = Better::Higher;
        let environment = Environment::of("e", vec![recording]);
        let values = &environment.benchmarks[0];
        // 10 is twenty times the median.
        assert_eq!((values.present().collect::<Vec<_>>(), values.removed), (vec![0.5, 0.25], 1));
        assert_eq!(environment.warnings.len(), 1);
    }
}
