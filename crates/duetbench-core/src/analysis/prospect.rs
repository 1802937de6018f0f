//! The outlook of what is open: whether the rest of the design is worth its time.

use super::estimate::LastLook;
use super::{Counts, Evidence};
use crate::spec::{Decision, defaults};
use crate::stats::{StatsError, TrimmedT, critical_t, degrees_of_freedom, two_sided_p};

/// Whether the rest of the design has a chance of less than [`defaults::PROSPECT_MIN`] to tell on which side of the threshold a
/// change that is shown lies.
///
/// # Errors
/// When the error of the last look is not strictly between 0 and 1, or where there is neither spread nor distance.
pub(super) fn is_size_out_of_reach(evidence: &Evidence, decision: &Decision) -> Result<bool, StatsError> {
    let beyond = decision.threshold.ln_1p();
    let judged = Forecast::of(&evidence.log_ratio, evidence, evidence.last.errors.interval)?;
    let chance = judged.ends_beyond(beyond)? + within(evidence, decision)?;
    Ok(chance < defaults::PROSPECT_MIN)
}

/// Whether the rest of the design has a chance of less than [`defaults::ANSWER_PROSPECT_MIN`] to show a change, or that there is none that
/// matters, where neither is shown yet.
///
/// # Errors
/// As those of [`is_size_out_of_reach`].
pub(super) fn is_answer_out_of_reach(evidence: &Evidence, decision: &Decision) -> Result<bool, StatsError> {
    let tested = Forecast::of(&evidence.log_ratio, evidence, evidence.last.errors.changed)?;
    // A number that is shown to differ from the judged one will be judged.
    let beside = evidence.beside.filter(|_| evidence.choice.beside_may_be_judged);
    let beside = beside.map(|beside| Forecast::of(&beside, evidence, evidence.last.errors.changed)?.ends_beyond(0.0));
    let chance = tested.ends_beyond(0.0)? + beside.transpose()?.unwrap_or(0.0) + within(evidence, decision)?;
    Ok(chance < defaults::ANSWER_PROSPECT_MIN)
}

/// Probability that the intervals of the last look lie within the threshold, that of the complete number too.
fn within(evidence: &Evidence, decision: &Decision) -> Result<f64, StatsError> {
    let inside = evidence.within(decision);
    let of = |log_ratio| Forecast::of(log_ratio, evidence, evidence.last.errors.interval)?.within(inside);
    let judged = of(&evidence.log_ratio)?;
    Ok(match &evidence.beside {
        Some(beside) => judged.min(of(beside)?),
        None => judged,
    })
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
    /// `error` is the nominal error of that interval.
    fn of(log_ratio: &TrimmedT, evidence: &Evidence, error: f64) -> Result<Forecast, StatsError> {
        let (LastLook { units, .. }, Counts { units: had, .. }) = (evidence.last, evidence.counts);
        let share = f64::from(had) / f64::from(units);
        let at_the_end = f64::from(degrees_of_freedom(units));
        Ok(Forecast {
            middle: log_ratio.mean,
            scale: log_ratio.standard_error * (1.0 - share).sqrt(),
            half_width: critical_t(error, at_the_end)? * log_ratio.standard_error * share.sqrt(),
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

    /// Probability that the whole interval lies farther from 0, on either side.
    fn ends_beyond(&self, log_ratio: f64) -> Result<f64, StatsError> {
        Ok(self.ends_above(log_ratio)? + self.ends_below(-log_ratio)?)
    }

    /// Probability that the whole interval lies closer to 0.
    fn within(&self, log_ratio: f64) -> Result<f64, StatsError> {
        Ok((self.ends_below(log_ratio)? + self.ends_above(-log_ratio)? - 1.0).max(0.0))
    }
}
