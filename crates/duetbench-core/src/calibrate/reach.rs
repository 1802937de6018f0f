//! Detectable change in standard errors, by the number of units of a comparison.

use std::collections::BTreeMap;

use crate::stats::{self, Level, Sequential, StatsError};

/// Degrees of freedom with which a t test is as good as one that knows the variance.
const DF_MANY: f64 = 1e6;

/// Standard errors that matter in a comparison of some number of units, for one level. Remembers what it computed.
#[derive(Debug)]
pub(super) struct Reach {
    level: Level,
    sequential: bool,
    by_units: BTreeMap<u32, Errors>,
    least: f64,
}

/// Standard errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Errors {
    /// That a true change must measure to be found with the stated power.
    pub(super) detectable: f64,
    /// That the interval reaches to either side.
    pub(super) critical: f64,
}

impl Reach {
    /// That of comparisons at this level which are looked at while they are measured, or only once.
    ///
    /// # Errors
    /// When the level is outside its range.
    pub(super) fn new(level: Level, sequential: bool) -> Result<Reach, StatsError> {
        let least = stats::detectable_factor(DF_MANY, level)?;
        Ok(Reach { level, sequential, by_units: BTreeMap::new(), least })
    }

    /// At the last look of a comparison that ends with so many units, 3 at least.
    ///
    /// A comparison that is looked at finds a change more often than its last look alone would, so what the last look finds with
    /// some power is found at least as often.
    pub(super) fn errors(&mut self, units: u32) -> Result<Errors, StatsError> {
        if let Some(known) = self.by_units.get(&units) {
            return Ok(*known);
        }
        let alpha = self.level.alpha;
        // A single look takes nothing of what others may.
        let several = self.sequential && stats::looks(units).len() > 1;
        let alpha = if several { Sequential::last_nominal_p(units, stats::level_kept_by_t(alpha))? } else { alpha };
        let df = f64::from(stats::degrees_of_freedom(units));
        let detectable = stats::detectable_factor(df, Level { alpha, ..self.level })?;
        let errors = Errors { detectable, critical: stats::critical_t(alpha, df)? };
        self.by_units.insert(units, errors);
        Ok(errors)
    }

    /// Standard errors that a change must measure in any case, whatever the number of units.
    pub(super) fn least(&self) -> f64 {
        self.least
    }
}
