//! From evidence to a verdict, by the rule of [`crate::verdict::rule`], and from an open one to what would settle it.

use crate::spec::{Decision, defaults};
use crate::stats::{self, StatsError, TrimmedT, critical_t, noncentral_t_survival};
use crate::verdict::Verdict;
use crate::verdict::rule::{PValues, decided};

use super::{Counts, Errors, Estimate, Evidence};

/// The verdict on one benchmark.
///
/// # Errors
/// When a number of the decision is out of its range (see [`Decision::check`]).
pub fn judge(evidence: &Evidence, estimate: &Estimate, decision: &Decision) -> Result<Verdict, StatsError> {
    let p_values = PValues { own: estimate.p_value, adjusted: estimate.p_adjusted };
    let beside = estimate.beside.map(|beside| beside.interval);
    let verdict = decided(estimate.interval(), beside, p_values, decision);
    if !verdict.is_open() {
        return Ok(verdict);
    }
    let sufficient = forks_sufficient(evidence, decision)?;
    Ok(verdict.settled_by(sufficient))
}

/// Fork pairs with which it would be known, with the stated power, on which side of the threshold the change lies, if the present
/// spread and ratio were the true ones and every unit went on having as many forks; absent where more than
/// [`defaults::FORKS_SUFFICIENT_MAX`] would not do.
///
/// Where the judged number lies within the band both must come clear of it, and nothing settles what the other one leaves open.
/// Spreads are taken for as much larger as they are uncertain.
fn forks_sufficient(evidence: &Evidence, decision: &Decision) -> Result<Option<u32>, StatsError> {
    let (band, within) = (decision.threshold.ln_1p(), evidence.within(decision));
    let errors = evidence.last.errors;
    let of = |log_ratio: &TrimmedT| -> Result<Side, StatsError> {
        Ok(Side { change: log_ratio.mean.abs(), spread: log_ratio.cautious_spread()?, band, within, errors })
    };
    let judged = of(&evidence.log_ratio)?;
    let beside = evidence.beside.as_ref().map(of).transpose()?.filter(|_| judged.is_inside());
    if beside.as_ref().is_some_and(|beside| !beside.is_inside()) {
        return Ok(None);
    }
    let settled = |units: u32| -> Result<bool, StatsError> {
        let beside = beside.as_ref().map_or(Ok(1.0), |beside| beside.power(units))?;
        Ok(judged.power(units)?.min(beside) >= decision.power)
    };
    // The forecast may already be fulfilled, by bad luck; then one more is the least that can help.
    let Counts { units: had, forks, .. } = evidence.counts;
    let (mut too_few, mut enough) = (had, had.saturating_add(1));
    while !settled(enough)? {
        if enough >= defaults::FORKS_SUFFICIENT_MAX {
            return Ok(None);
        }
        (too_few, enough) = (enough, enough.saturating_mul(2).min(defaults::FORKS_SUFFICIENT_MAX));
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if settled(middle)? { enough = middle } else { too_few = middle }
    }
    let forks_per_unit = f64::from(forks) / f64::from(had.max(1));
    Ok(Some((f64::from(enough) * forks_per_unit).ceil() as u32))
}

/// On which side of the threshold a change lies, if it is what it seems; all on the logarithmic scale.
struct Side {
    change: f64,
    spread: f64,
    /// End of the band.
    band: f64,
    /// Largest change that lies within it whatever is hidden; between the two nothing is ever shown.
    within: f64,
    /// Two-sided nominal errors at the last look.
    errors: Errors,
}

impl Side {
    fn is_inside(&self) -> bool {
        self.change < self.within
    }

    /// Probability that the interval of so many units lies wholly on that side: clear of both ends of the band where the change is
    /// inside (Phillips, Journal of Pharmacokinetics and Biopharmaceutics 18, 1990, with Bonferroni's bound for both), else
    /// beyond the nearer one, where the p-value has to be small as well.
    fn power(&self, units: u32) -> Result<f64, StatsError> {
        let df = f64::from(stats::degrees_of_freedom(units));
        let standard_error = self.spread / f64::from(units).sqrt();
        let beyond = |distance: f64, critical: f64| {
            let in_errors = distance / standard_error;
            if in_errors.is_finite() { noncentral_t_survival(critical, df, in_errors) } else { Ok(1.0) }
        };
        let exceeds = |distance: f64, error: f64| beyond(distance, critical_t(error, df)?);
        // No interval is narrower than the instrument is exact.
        let clear_of = |distance: f64| -> Result<f64, StatsError> {
            Ok(exceeds(distance, self.errors.interval)?.min(beyond(distance - defaults::ACCURACY, 0.0)?))
        };
        match self.change - self.band {
            beyond if beyond > 0.0 => Ok(clear_of(beyond)?.min(exceeds(self.change, self.errors.changed)?)),
            _ if self.is_inside() => {
                Ok(clear_of(self.within - self.change)? + clear_of(self.within + self.change)? - 1.0)
            }
            _ => Ok(0.0),
        }
    }
}
