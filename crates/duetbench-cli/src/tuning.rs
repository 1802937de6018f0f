//! Results of `duet tune`, ready to be shown: made by the command, seen by the renderers.

use std::collections::BTreeMap;

use duetbench_core::recording::Level;
use duetbench_core::tune::{Accuracy, Choice, MARGINS, Metric, Rules, Tuned, TunedWarmUp};

/// Results of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// Version of duet.
    pub duet_version: String,
    /// The metrics that were tuned by, in the order in which they are shown.
    pub metrics: Vec<Metric>,
    /// The rules for stability; the metric in them is the first.
    pub rules: Rules,
    /// Iterations of every fork that were asked to be taken for warm-up.
    pub warmup: usize,
    /// Results of each recording, in the order in which they were typed.
    pub sources: Vec<TunedSource>,
    /// The plan file that was written.
    pub plan_file: Option<String>,
}

/// Results for one recording.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedSource {
    /// Its name.
    pub name: String,
    /// Its levels, outermost first.
    pub levels: Vec<Level>,
    /// Results by metric, in the order of [`Tuning::metrics`].
    pub results: Vec<TunedMetric>,
    /// Warnings from reading it.
    pub warnings: Vec<String>,
}

/// Results by one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedMetric {
    /// The metric.
    pub metric: Metric,
    /// The configuration that is enough for each benchmark.
    pub choices: Vec<TunedBenchmark>,
    /// Benchmarks that could not be tuned, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Totals of these choices.
    pub summary: Summary,
}

/// The configuration that is enough for one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedBenchmark {
    /// The chosen configuration.
    pub choice: Choice,
    /// Share of the full time that is saved; absent where that takes none.
    pub saving: Option<f64>,
    /// Repetitions that would probably be enough, for a benchmark that is not stable.
    pub enough: Option<Enough>,
    /// Its warm-up, where that was looked for.
    pub warm_up: Option<TunedWarmUp>,
}

/// Repetitions that would probably be enough; extrapolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enough {
    /// The level of these repetitions, the outermost that may be changed.
    pub level: Level,
    /// Number of repetitions now.
    pub now: usize,
    /// Number of repetitions that would be enough.
    pub repetitions: u64,
}

/// Totals of tuning for some benchmarks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Time saved and results kept.
    pub accuracy: Accuracy,
    /// Number of stable benchmarks.
    pub stable: usize,
}

impl Tuning {
    /// Totals over all recordings, by metric.
    pub fn totals(&self) -> Vec<(Metric, Summary)> {
        let total = |metric: &Metric| {
            let results = self.sources.iter().flat_map(|source| &source.results).filter(|r| r.metric == *metric);
            (*metric, results.fold(Summary::of(&[]), |sum, result| sum.plus(result.summary)))
        };
        self.metrics.iter().map(total).collect()
    }

    /// Whether anything was tuned at all.
    pub fn is_empty(&self) -> bool {
        self.totals().iter().all(|(_, total)| total.accuracy.benchmarks == 0)
    }
}

impl TunedMetric {
    /// The choices for a recording with these levels, by these rules.
    pub fn of(tuned: Tuned, levels: &[Level], rules: &Rules) -> TunedMetric {
        let summary = Summary::of(&tuned.choices);
        let choices = tuned.choices.into_iter().map(|choice| TunedBenchmark::of(choice, levels, rules)).collect();
        TunedMetric { metric: rules.metric, choices, left_out: tuned.left_out, summary }
    }

    /// The same with what was found of each benchmark's warm-up.
    #[must_use]
    pub fn with_warm_up(mut self, found: &BTreeMap<String, TunedWarmUp>) -> TunedMetric {
        for tuned in &mut self.choices {
            tuned.warm_up = found.get(&tuned.choice.benchmark).copied();
        }
        self
    }
}

impl TunedBenchmark {
    fn of(choice: Choice, levels: &[Level], rules: &Rules) -> TunedBenchmark {
        let outermost = levels.iter().zip(&choice.full).find(|(level, _)| !rules.keep.contains(level));
        let enough = outermost.zip(choice.enough_times).and_then(|((level, now), times)| {
            let repetitions = (*now as f64 * times).ceil();
            let in_sight = !choice.stable && (1.0..1e9).contains(&repetitions);
            in_sight.then_some(Enough { level: *level, now: *now, repetitions: repetitions as u64 })
        });
        let saving = (choice.full_s > 0.0).then(|| 1.0 - choice.chosen_s / choice.full_s);
        TunedBenchmark { choice, saving, enough, warm_up: None }
    }
}

impl Summary {
    /// Totals of these choices.
    pub fn of(choices: &[Choice]) -> Summary {
        let stable = choices.iter().filter(|choice| choice.stable).count();
        Summary { accuracy: Accuracy::of(choices), stable }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Summary) -> Summary {
        let (a, b) = (self.accuracy, other.accuracy);
        let accuracy = Accuracy {
            benchmarks: a.benchmarks + b.benchmarks,
            full_s: a.full_s + b.full_s,
            chosen_s: a.chosen_s + b.chosen_s,
            within: std::array::from_fn(|i| a.within[i] + b.within[i]),
            unreduced: a.unreduced + b.unreduced,
        };
        Summary { accuracy, stable: self.stable + other.stable }
    }

    /// Number of benchmarks that need less than the full configuration.
    pub fn reduced(&self) -> usize {
        self.accuracy.benchmarks - self.accuracy.unreduced
    }

    /// Distances from the results of the full configuration, each with the number of results that are as close.
    pub fn within(&self) -> impl Iterator<Item = (f64, usize)> {
        MARGINS.into_iter().zip(self.accuracy.within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(chosen_s: f64, result_chosen: f64, enough_times: Option<f64>) -> Choice {
        Choice {
            benchmark: "A".into(),
            full: vec![3, 5, 10],
            chosen: if enough_times.is_none() { vec![3, 2, 10] } else { vec![3, 5, 10] },
            full_s: 50.0,
            chosen_s,
            stability: 0.02,
            stable: enough_times.is_none(),
            result_full: 100.0,
            result_chosen,
            enough_times,
        }
    }

    #[test]
    fn a_summary_counts_distances_in_both_directions() {
        let summary = Summary::of(&[choice(5.0, 101.0, None), choice(20.0, 97.0, None), choice(50.0, 94.0, Some(2.0))]);
        assert_eq!((summary.accuracy.benchmarks, summary.stable, summary.reduced()), (3, 2, 2));
        assert_eq!(summary.within().collect::<Vec<_>>(), [(0.01, 1), (0.03, 2), (0.05, 2), (0.1, 3)]);
        assert_eq!(summary.accuracy.saving(), Some(0.5));
        let doubled = summary.plus(summary);
        assert_eq!((doubled.accuracy.within, doubled.stable, doubled.reduced()), ([2, 4, 4, 6], 4, 4));
    }

    #[test]
    fn what_would_be_enough_is_said_for_the_outermost_level_that_may_change() {
        let levels = [Level::Instance, Level::Fork, Level::Iteration];
        let check = |keep: &[Level], times: f64, want: Option<Enough>| {
            let rules = Rules { metric: Metric::Cv, threshold: 0.01, confidence: 0.99, keep: keep.to_vec() };
            assert_eq!(TunedBenchmark::of(choice(50.0, 100.0, Some(times)), &levels, &rules).enough, want);
        };
        let forks = |repetitions| Some(Enough { level: Level::Fork, now: 5, repetitions });
        check(&[Level::Instance], 2.1, forks(11));
        check(&[], 2.0, Some(Enough { level: Level::Instance, now: 3, repetitions: 6 }));
        check(&levels, 2.0, None);
        check(&[Level::Instance], f64::INFINITY, None);
    }
}
