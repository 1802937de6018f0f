//! The outlook of a change that is shown but may be smaller or larger than the threshold.

use super::estimate::LastLook;
use super::{Counts, Evidence};
use crate::spec::{Decision, defaults};
use crate::stats::{StatsError, TrimmedT, critical_t, degrees_of_freedom, two_sided_p};

/// Whether the rest of the design has a chance of less than [`defaults::PROSPECT_MIN`] to tell on which side of the threshold the
/// change lies.
///
/// # Errors
/// When the error of the last look is not strictly between 0 and 1, or where there is neither spread nor distance.
pub(super) fn is_out_of_reach(evidence: &Evidence, decision: &Decision) -> Result<bool, StatsError> {
    let (beyond, inside) = (decision.threshold.ln_1p(), (decision.threshold * (1.0 - evidence.hidden_share)).ln_1p());
    let forecast = |log_ratio: &TrimmedT| Forecast::of(log_ratio, evidence);
    let judged = forecast(&evidence.log_ratio)?;
    let mut within = judged.within(inside)?;
    if let Some(beside) = &evidence.beside {
        within = within.min(forecast(beside)?.within(inside)?);
    }
    let chance = judged.ends_above(beyond)? + judged.ends_below(-beyond)? + within;
    Ok(chance < defaults::PROSPECT_MIN)
}

/// The interval that the last look will have, as far as it is known: its middle by Student's t, its half-width by the present spread.
///
/// After `n` of `N` units with the mean `m` and its standard error `s`, the mean of all is `m + s sqrt(1 - n/N) T`, and its
/// standard error `s sqrt(n/N)` (predictive power: Spiegelhalter, Freedman and Blackburn, Controlled Clinical Trials 7, 1986).
struct Forecast {
    middle: f64,
    /// Scale of what is still to come.
    scale: f64,
    half_width: f64,
    degrees_of_freedom: f64,
}

impl Forecast {
    fn of(log_ratio: &TrimmedT, evidence: &Evidence) -> Result<Forecast, StatsError> {
        let (LastLook { units, errors }, Counts { units: had, .. }) = (evidence.last, evidence.counts);
        let share = f64::from(had) / f64::from(units);
        let at_the_end = f64::from(degrees_of_freedom(units));
        Ok(Forecast {
            middle: log_ratio.mean,
            scale: log_ratio.standard_error * (1.0 - share).sqrt(),
            half_width: critical_t(errors.interval, at_the_end)? * log_ratio.standard_error * share.sqrt(),
            degrees_of_freedom: log_ratio.degrees_of_freedom(),
        })
    }

    /// Probability that the whole interval lies below.
    fn ends_below(&self, log_ratio: f64) -> Result<f64, StatsError> {
        let t = (log_ratio - self.half_width - self.middle) / self.scale;
        let outside = two_sided_p(t, self.degrees_of_freedom)? / 2.0;
        Ok(if t > 0.0 { 1.0 - outside } else { outside })
    }

    /// Probability that the whole interval lies above.
    fn ends_above(&self, log_ratio: f64) -> Result<f64, StatsError> {
        Forecast { middle: -self.middle, ..*self }.ends_below(-log_ratio)
    }

    /// Probability that the whole interval lies closer to 0.
    fn within(&self, log_ratio: f64) -> Result<f64, StatsError> {
        Ok((self.ends_below(log_ratio)? + self.ends_above(-log_ratio)? - 1.0).max(0.0))
    }
}
