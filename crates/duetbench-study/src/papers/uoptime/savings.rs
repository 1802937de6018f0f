//! Computes the time that reduced configurations save, and their cost in accuracy (research questions 1 and 3).

use duetbench_core::detect::by_name;
use duetbench_core::recording::{Level, Recorded, Recording};
use duetbench_core::tune::{Choice, Metric, Tuned, tune};

use super::{Compat, Method, Random, Settings, innermost, measured_s, minimum_baseline};

/// Changes of a result up to which benchmarks are counted.
pub const WITHIN: [f64; 4] = [0.01, 0.03, 0.05, 0.1];

/// One recording, reduced by one method with one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Savings {
    /// The recording.
    pub file: String,
    /// The method that reduced it.
    pub method: Method,
    /// With which metric; of the baselines it decides only what a result is.
    pub metric: Metric,
    /// First iterations of every fork that were taken for warm-up.
    pub warm_up: usize,
    /// Benchmarks.
    pub benchmarks: usize,
    /// Time of all full configurations without warm-up, seconds.
    pub full_s: f64,
    /// The same of the reduced ones.
    pub reduced_s: f64,
    /// Time of warming up with the full configurations, seconds.
    pub warm_up_full_s: f64,
    /// The same with the reduced ones.
    pub warm_up_reduced_s: f64,
    /// Benchmarks whose result changes by no more than each of [`WITHIN`].
    pub within: [usize; 4],
    /// Benchmarks that keep the full configuration.
    pub not_reduced: usize,
}

impl Savings {
    /// Share of the time that is saved, warm-up left out.
    pub fn saved(&self) -> f64 {
        1.0 - self.reduced_s / self.full_s
    }

    /// Share of the time that is saved, warm-up counted.
    pub fn overall_saved(&self) -> f64 {
        1.0 - (self.reduced_s + self.warm_up_reduced_s) / (self.full_s + self.warm_up_full_s)
    }
}

/// Results for one recording by all methods and metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct FileStudy {
    /// By method, then by metric.
    pub savings: Vec<Savings>,
    /// The signed changes of the results that tuning brings, by metric; what the metrics are told apart by.
    pub changes: Vec<Vec<f64>>,
}

/// Reduces a recording by all methods with all metrics, its first `warm_up` iterations left out; absent where there are not that
/// many.
pub fn study_file(recording: &Recording, settings: &Settings, random: Random, warm_up: usize) -> Option<FileStudy> {
    let (recording, warm_up_each_s) = warmed(recording, settings, warm_up)?;
    let (mut savings, mut changes) = (Vec::new(), Vec::new());
    let mut drawn = random.baseline(&recording, &settings.practice(Metric::Cv));
    for method in Method::ALL {
        for metric in Metric::ALL {
            let practice = settings.practice(metric);
            let tuned = match method {
                Method::UOpTime => tune(&recording, &practice),
                Method::Minimum => minimum_baseline(&recording, &practice),
                Method::Random => drawn.choose(&recording, &practice),
            };
            let none = Savings::none(&recording.name, method, metric, warm_up);
            savings.push(none.counting(&recording, &tuned, warm_up_each_s));
            if method == Method::UOpTime {
                changes.push(tuned.choices.iter().map(change).filter(|change| change.is_finite()).collect());
            }
        }
    }
    Some(FileStudy { savings, changes })
}

/// Signed change of a benchmark's result (µOpTime, equation 1, without its modulus); what stays the same has not changed, also
/// where it is 0.
fn change(choice: &Choice) -> f64 {
    if choice.result_chosen == choice.result_full { 0.0 } else { choice.change() }
}

/// The recording without its warm-up, and what an iteration of that takes in seconds.
fn warmed(recording: &Recording, settings: &Settings, warm_up: usize) -> Option<(Recording, f64)> {
    if warm_up == 0 {
        return Some((recording.clone(), 0.0));
    }
    let level = recording.levels.iter().position(|level| *level == Level::Iteration)?;
    let first = recording.benchmarks.first()?;
    let inside: usize = first.grid.shape()[level + 1..].iter().product();
    let mut warm = recording.without_warm_up(warm_up)?;
    if settings.compat == Compat::PaperCode {
        // The code chooses by the iterations that are left alone.
        warm.benchmarks.iter_mut().for_each(|b| b.cost.overhead_s.fill(0.0));
    }
    Some((warm, (warm_up * inside) as f64 * first.cost.innermost_s))
}

impl Savings {
    /// Those of no benchmark yet; `warm_up` is in iterations.
    fn none(file: &str, method: Method, metric: Metric, warm_up: usize) -> Savings {
        Savings {
            file: file.to_owned(),
            method,
            metric,
            warm_up,
            benchmarks: 0,
            full_s: 0.0,
            reduced_s: 0.0,
            warm_up_full_s: 0.0,
            warm_up_reduced_s: 0.0,
            within: [0; 4],
            not_reduced: 0,
        }
    }

    /// With those of a tuned recording; warming up one of its forks takes so many seconds.
    fn counting(mut self, recording: &Recording, tuned: &Tuned, warm_up_each_s: f64) -> Savings {
        let named = by_name(recording);
        for choice in &tuned.choices {
            if let Some(recorded) = named.get(choice.benchmark.as_str()) {
                self.add(recorded, choice, &recording.levels, warm_up_each_s);
            }
        }
        self
    }

    /// Adds a benchmark.
    fn add(&mut self, recorded: &Recorded, choice: &Choice, levels: &[Level], warm_up_each_s: f64) {
        let (full, configuration) = (&choice.full[..], &choice.chosen[..]);
        let forks = |configuration: &[usize]| {
            let around = levels.iter().take_while(|level| **level < Level::Iteration).count();
            innermost(&levels[..around], &configuration[..around])
        };
        self.benchmarks += 1;
        self.full_s += measured_s(recorded, levels, full);
        self.reduced_s += measured_s(recorded, levels, configuration);
        self.warm_up_full_s += forks(full) * warm_up_each_s;
        self.warm_up_reduced_s += forks(configuration) * warm_up_each_s;
        self.not_reduced += usize::from(configuration == full);
        for (count, limit) in self.within.iter_mut().zip(WITHIN) {
            *count += usize::from(change(choice).abs() <= limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Better, Cost, Grid};

    use super::*;

    fn recording() -> Recording {
        // Two warm-up iterations, then two benchmarks of which the second drifts.
        let values = [
            [9.0, 8.0, 1.0, 1.0, 1.0, 1.0, 9.0, 8.0, 1.0, 1.0, 1.0, 1.0],
            [9.0, 8.0, 1.0, 1.0, 1.0, 1.0, 9.0, 8.0, 1.0, 1.2, 1.4, 1.4],
        ];
        let recorded = |(i, values): (usize, &[f64; 12])| Recorded {
            benchmark: format!("B{i}"),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 2.0, overhead_s: vec![0.0, 0.0] },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(&[2, 6], values.to_vec()).unwrap(),
        };
        Recording {
            name: "p-1".into(),
            levels: vec![Level::Fork, Level::Iteration],
            benchmarks: values.iter().enumerate().map(recorded).collect(),
            warnings: Vec::new(),
        }
    }

    fn of(study: &FileStudy, method: Method, metric: Metric) -> &Savings {
        study.savings.iter().find(|s| s.method == method && s.metric == metric).unwrap()
    }

    #[test]
    fn the_smallest_configurations_save_and_miss() {
        let settings = Settings { threshold: 0.01, confidence: 0.99, relevant: 0.03, compat: Compat::Paper };
        let random = Random { seed: 1, before: 0 };
        let study = study_file(&recording(), &settings, random, 2).unwrap();
        let smallest = of(&study, Method::Minimum, Metric::Cv);
        assert_eq!((smallest.benchmarks, smallest.full_s, smallest.reduced_s), (2, 32.0, 12.0));
        assert_eq!((smallest.warm_up_full_s, smallest.warm_up_reduced_s), (16.0, 8.0));
        assert_eq!((smallest.saved(), smallest.overall_saved()), (0.625, 1.0 - 20.0 / 48.0));
        // The second has a mean of 1.125 in full, 1 in its first three; its medians are 1 both.
        assert_eq!((smallest.within, smallest.not_reduced), ([1, 1, 1, 1], 0));
        assert_eq!(of(&study, Method::Minimum, Metric::Rmad).within, [2; 4]);
        assert_eq!(study_file(&recording(), &settings, random, 6), None);
    }
}
