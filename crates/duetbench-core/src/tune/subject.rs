//! One benchmark, made ready for searching: what its configurations are, and the metric's value for each.

use super::configurations::Configurations;
use super::in_order::{InOrder, Scratch};
use super::metric::{Stability, Terms};
use super::running::Running;
use super::{Choice, Criteria, REPETITIONS_MIN};
use crate::recording::{Level, Recorded};

/// One benchmark of a recording under some criteria.
pub struct Subject<'a> {
    /// Its configurations.
    pub configurations: Configurations,
    /// The full one.
    pub full: Vec<usize>,
    levels: &'a [Level],
    recorded: &'a Recorded,
    criteria: &'a dyn Criteria,
    terms: &'a Terms,
    metric: &'a dyn Stability,
    in_order: InOrder<'a>,
    running: Running,
}

impl<'a> Subject<'a> {
    /// Makes a benchmark ready.
    ///
    /// # Errors
    /// In words, when it cannot be tuned.
    pub(super) fn of(
        levels: &'a [Level],
        recorded: &'a Recorded,
        criteria: &'a dyn Criteria,
        terms: &'a Terms,
    ) -> Result<Subject<'a>, String> {
        let shape = recorded.grid.shape();
        if levels.is_empty() || levels.len() != shape.len() {
            return Err(format!("its values have {} levels, the recording {}", shape.len(), levels.len()));
        }
        let full = criteria.full(levels, recorded);
        if recorded.grid.prefix(&full).is_empty() {
            let of_all = recorded.grid.values().is_empty();
            return Err(if of_all { "it has no values" } else { "it has no values on the first instance" }.to_owned());
        }
        Ok(Subject {
            configurations: Configurations::of(levels, recorded, criteria),
            full,
            levels,
            recorded,
            criteria,
            terms,
            metric: criteria.stability(),
            in_order: InOrder::of(&recorded.grid),
            running: Running::of(&recorded.grid),
        })
    }

    /// The metric's exact value for a configuration; absent where it has none, also since gaps leave too few values of it.
    pub fn stability(&self, configuration: &[usize]) -> Option<f64> {
        let mut scratch = Scratch::default();
        let ascending = self.in_order.values(configuration, &mut scratch);
        if ascending.len() < REPETITIONS_MIN { None } else { self.metric.value(ascending, self.terms) }
    }

    /// The metric's exact value for a configuration if it is stable. Most that are not are told from bounds.
    pub(super) fn stable_value(&self, configuration: &[usize], scratch: &mut Scratch) -> Option<f64> {
        let threshold = self.criteria.rules().threshold;
        if let Some(moments) = self.running.moments(configuration)
            && self.metric.at_least(&moments, self.terms) > threshold
        {
            return None;
        }
        let ascending = self.in_order.values(configuration, scratch);
        if ascending.len() < REPETITIONS_MIN || self.metric.at_least_in_order(ascending, self.terms) > threshold {
            return None;
        }
        self.metric.value(ascending, self.terms).filter(|value| self.criteria.is_stable(*value))
    }

    /// The consequences of choosing a configuration, of which the metric's value may be known.
    pub(super) fn choice(&self, chosen: &[usize], value: Option<f64>) -> Choice {
        let value = value.or_else(|| self.stability(chosen));
        let stability = value.filter(|value| !value.is_nan()).unwrap_or(f64::INFINITY);
        let enough = self.criteria.has_enough_repetitions(self.levels, chosen);
        let stable = enough && self.criteria.is_stable(stability);
        let result = |configuration: &[usize]| {
            let values = self.recorded.grid.prefix(configuration);
            self.criteria.rules().metric.location().of(&values).unwrap_or(f64::NAN)
        };
        Choice {
            benchmark: self.recorded.benchmark.clone(),
            full: self.full.clone(),
            chosen: chosen.to_vec(),
            full_s: self.criteria.time_s(self.levels, self.recorded, &self.full),
            chosen_s: self.criteria.time_s(self.levels, self.recorded, chosen),
            stability,
            stable,
            result_full: result(&self.full),
            result_chosen: result(chosen),
            enough_times: if stable || chosen != self.full { None } else { self.enough_times(stability) },
        }
    }

    /// Multiple of the full number of repetitions of one level that would be enough for a metric that falls with the square root of
    /// the number of values.
    fn enough_times(&self, stability: f64) -> Option<f64> {
        let times = (stability / self.criteria.rules().threshold).powi(2);
        (self.metric.falls_with_number() && times.is_finite() && times > 1.0).then_some(times)
    }
}
