//! Independent values of a recording: its outermost repetitions.

use super::UNITS_MIN;
use crate::recording::{Level, Recorded, TIME};
use crate::stats::{self, StatsError};

/// Where the values of a benchmark lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    /// The geometric mean of the units, trimmed from ten on.
    pub value: f64,
    /// Both ends of its interval; absent with fewer than [`UNITS_MIN`] units.
    pub interval: Option<[f64; 2]>,
    /// Units.
    pub units: usize,
}

/// One number for each outermost repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// Level of the repetitions: the outermost that has several, or the outermost of all.
    pub level: Level,
    /// The logarithm of the mean of the values of each.
    pub logs: Vec<f64>,
    /// Whether they are times, which never repeat exactly.
    pub is_time: bool,
}

impl Units {
    /// The units of a benchmark, those without values left out.
    ///
    /// # Errors
    /// In words, when there are no levels, no values, or one that has no logarithm.
    pub fn of(recorded: &Recorded, levels: &[Level]) -> Result<Units, String> {
        let shape = recorded.grid.shape();
        let several = shape.iter().position(|n| *n > 1).unwrap_or(0);
        let level = *levels.get(several).ok_or("it has no level of repetition")?;
        let outer: usize = shape.iter().take(several + 1).product();
        let inside = (recorded.grid.cells().len() / outer.max(1)).max(1);
        let mean = |cells: &[f64]| {
            let values: Vec<f64> = cells.iter().copied().filter(|v| v.is_finite()).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let means: Vec<f64> = recorded.grid.cells().chunks(inside).filter_map(mean).collect();
        if means.is_empty() {
            return Err("it has no values".into());
        }
        match means.iter().find(|m| **m <= 0.0 || !m.is_finite()) {
            Some(mean) => Err(format!("a mean of {mean} has no logarithm")),
            None => {
                let logs = means.iter().map(|m| m.ln()).collect();
                Ok(Units { level, logs, is_time: recorded.unit == TIME })
            }
        }
    }
}

impl Units {
    /// Whether times of one value each differ by no more than one step of their last digit: then the values behind them may be nearly the
    /// same, and nothing tells how they spread.
    pub(super) fn may_be_rounded(&self, other: &Units) -> bool {
        let (Some(a), Some(b)) = (self.logs.first(), other.logs.first()) else { return false };
        let (a, b) = (a.exp(), b.exp());
        self.is_time && (a - b).abs() < 1.001 * last_step(a).min(last_step(b))
    }

    /// Where the values lie, with an interval of confidence `1 - alpha`: Student's t on the logarithms of the units, as the house's
    /// rule has it.
    ///
    /// # Errors
    /// Without units, or when `alpha` is not strictly between 0 and 1.
    pub fn located(&self, alpha: f64) -> Result<Located, StatsError> {
        let units = self.logs.len();
        if units < UNITS_MIN {
            return Ok(Located { value: stats::mean(&self.logs)?.exp(), interval: None, units });
        }
        let t = stats::trimmed_t(&self.logs)?;
        let (low, high) = t.interval(alpha)?;
        Ok(Located { value: t.mean.exp(), interval: Some([low.exp(), high.exp()]), units })
    }
}

/// One step of the last digit of a number, zeros left out, of which logarithms leave twelve digits.
fn last_step(value: f64) -> f64 {
    let written = format!("{value:.11e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let decimals = digits.trim_end_matches('0').split_once('.').map_or(0, |(_, decimals)| decimals.len());
    10f64.powi(exponent.parse::<i32>().unwrap_or(0) - decimals as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Better, Cost, Grid};

    fn units(shape: &[usize], values: &[f64]) -> Result<Units, String> {
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: Vec::new() },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(shape, values.to_vec()).unwrap(),
        };
        Units::of(&recorded, &[Level::Instance, Level::SuiteRun, Level::Iteration])
    }

    #[test]
    fn units_are_the_outermost_level_that_repeats() {
        let of_instances = units(&[2, 1, 2], &[1.0, 3.0, f64::NAN, 5.0]).unwrap();
        assert_eq!(of_instances, Units { level: Level::Instance, logs: vec![2.0f64.ln(), 5.0f64.ln()], is_time: true });
        let of_runs = units(&[1, 2, 2], &[1.0, 3.0, 4.0, 4.0]).unwrap();
        assert_eq!(of_runs, Units { level: Level::SuiteRun, logs: vec![2.0f64.ln(), 4.0f64.ln()], is_time: true });
        assert_eq!(units(&[1, 1, 1], &[3.0]).unwrap().level, Level::Instance);
    }

    #[test]
    fn what_has_no_logarithm_is_refused() {
        assert!(units(&[1, 1, 2], &[f64::NAN; 2]).is_err() && units(&[2, 1, 1], &[0.0, 1.0]).is_err());
    }
    #[test]
    fn an_interval_takes_three_units() {
        let of = |values: &[f64]| units(&[values.len(), 1, 1], values).unwrap().located(0.05).unwrap();
        let two = of(&[2.0, 8.0]);
        assert!((two.value - 4.0).abs() < 1e-12 && two.interval.is_none() && two.units == 2);
        let three = of(&[2.0, 4.0, 8.0]);
        let [low, high] = three.interval.unwrap();
        // t(0.975, 2) = 4.3027; the logarithms have the standard error ln 2 / sqrt 3.
        assert!((three.value - 4.0).abs() < 1e-12 && (high / 4.0 - (4.3027f64 * 0.400_188).exp()).abs() < 1e-3);
        assert!((low * high - 16.0).abs() < 1e-9);
    }

    #[test]
    fn one_step_of_the_last_digit_may_be_rounding() {
        let of = |value: f64| Units { level: Level::Fork, logs: vec![value.ln(); 3], is_time: true };
        let check = |a: f64, b: f64, want: bool| assert_eq!(of(a).may_be_rounded(&of(b)), want, "{a} {b}");
        check(30.0, 31.0, true);
        check(0.25, 0.26, true);
        check(30.0, 32.0, false);
        check(100.0, 104.0, false);
        check(10_000_000.0, 10_400_000.0, false);
        check(1.234_5, 1.234_6, true);
        let count = Units { is_time: false, ..of(3.0) };
        assert!(!count.may_be_rounded(&of(4.0)), "counts repeat exactly");
    }
}
