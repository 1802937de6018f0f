//! Learning from one full run how few repetitions each benchmark needs: µOpTime (Japke et al.), Algorithm 1, over any number
//! of levels.
//!
//! Every smaller configuration is simulated as the prefix of the full one that would have been measured. The cheapest one whose
//! stability metric is within the threshold is chosen.

mod accuracy;
mod configurations;
mod in_order;
mod metric;
mod rules;
mod running;
mod search;
mod subject;
mod warm_up;

pub use accuracy::{Accuracy, MARGINS};
pub use configurations::Configurations;
pub use metric::{Location, Metric, Stability, Terms};
pub use rules::{Criteria, REPETITIONS_MIN, Rules};
pub use subject::Subject;
pub use warm_up::{TunedWarmUp, without_warm_up};

use rayon::prelude::*;

use crate::parallel::on_all_cores;
use crate::recording::Recording;

/// The smallest configuration that is enough for one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The benchmark.
    pub benchmark: String,
    /// The full configuration, outermost level first.
    pub full: Vec<usize>,
    /// The chosen one, of the same levels.
    pub chosen: Vec<usize>,
    /// Wall time of the full one, seconds.
    pub full_s: f64,
    /// Wall time of the chosen one, seconds.
    pub chosen_s: f64,
    /// The metric's value with the chosen one; infinite where it has none.
    pub stability: f64,
    /// Whether that is within the threshold; if not, the full configuration was chosen for want of a better one.
    pub stable: bool,
    /// The benchmark's result with the full configuration: mean or median, as the metric has it.
    pub result_full: f64,
    /// The same with the chosen one.
    pub result_chosen: f64,
    /// For a benchmark that is not stable: how many times the full number of its outermost reducible level would probably be
    /// enough, from how the width of an interval falls with the number of values, by its square root. Absent for CV and
    /// RMAD: they measure what the values are like, which more of them do not change.
    pub enough_times: Option<f64>,
}

impl Choice {
    /// Relative change of the result that the reduction brings, signed (µOpTime, equation 1, without its modulus).
    pub fn change(&self) -> f64 {
        (self.result_chosen - self.result_full) / self.result_full
    }
}

/// Choices for the benchmarks of a recording, in its order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tuned {
    /// For every benchmark that can be tuned.
    pub choices: Vec<Choice>,
    /// The others, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// The smallest configuration that is enough, for every benchmark of a recording.
pub fn tune(recording: &Recording, criteria: &dyn Criteria) -> Tuned {
    each(recording, criteria, |_, subject| match search::screened(subject) {
        Some((position, value)) => subject.choice(subject.configurations.at(position), Some(value)),
        None => subject.choice(&subject.full, None),
    })
}

/// The choices of another method than tuning: it is given every benchmark with its index, and gives a configuration of it, or none for
/// the full one.
pub fn choose(
    recording: &Recording,
    criteria: &dyn Criteria,
    method: impl Fn(usize, &Subject<'_>) -> Option<Vec<usize>> + Sync,
) -> Tuned {
    each(recording, criteria, |index, subject| {
        subject.choice(&method(index, subject).unwrap_or_else(|| subject.full.clone()), None)
    })
}

/// One choice for every benchmark, which is given with its index, on all cores.
fn each(
    recording: &Recording,
    criteria: &dyn Criteria,
    choice: impl Fn(usize, &Subject<'_>) -> Choice + Sync,
) -> Tuned {
    let (benchmarks, rules) = (&recording.benchmarks, criteria.rules());
    if let Some(fault) = rules.fault() {
        let left_out = benchmarks.iter().map(|recorded| (recorded.benchmark.clone(), fault.clone())).collect();
        return Tuned { choices: Vec::new(), left_out };
    }
    let values_max = benchmarks.iter().map(|recorded| recorded.grid.cells().len()).max().unwrap_or(0);
    let terms = Terms::of(rules, values_max);
    let of = |(index, recorded)| {
        Subject::of(&recording.levels, recorded, criteria, &terms).map(|subject| choice(index, &subject))
    };
    let chosen: Vec<Result<Choice, String>> = on_all_cores(|| benchmarks.par_iter().enumerate().map(of).collect());
    let mut tuned = Tuned::default();
    for (recorded, choice) in benchmarks.iter().zip(chosen) {
        match choice {
            Ok(choice) => tuned.choices.push(choice),
            Err(reason) => tuned.left_out.push((recorded.benchmark.clone(), reason)),
        }
    }
    tuned
}
