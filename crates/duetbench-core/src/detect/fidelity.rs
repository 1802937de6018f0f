//! Compares the changes found by reduced configurations with those found by the full ones.

use super::{Change, PaperRule, Summary};
use crate::recording::Recorded;
use crate::stats::StatsError;

/// One benchmark in one version, by the full and by a reduced configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Both {
    /// By all values.
    pub full: Summary,
    /// By those that the reduced configuration would have measured.
    pub reduced: Summary,
}

impl Both {
    /// Summarises a benchmark twice.
    ///
    /// # Errors
    /// When one of the two has no values, or too large ones.
    pub fn of(recorded: &Recorded, reduced: &[usize], rule: &PaperRule) -> Result<Both, StatsError> {
        let full = rule.summary(&recorded.grid.values())?;
        let reduced = rule.summary(&recorded.grid.prefix(reduced))?;
        Ok(Both { full, reduced })
    }
}

/// Changes found by full and by reduced configurations. What the full ones find counts as true.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fidelity {
    /// Benchmarks compared.
    pub compared: usize,
    /// Changes found by the full configuration.
    pub full: usize,
    /// Changes found by the reduced one.
    pub reduced: usize,
    /// Benchmarks of which the reduced one says what the full one does not.
    pub false_changes: Vec<String>,
    /// Benchmarks of which the full one says what the reduced one does not.
    pub missed: Vec<String>,
}

impl Fidelity {
    /// Adds one benchmark, with the changes that a rule finds by the full and by the reduced configuration.
    pub fn count(&mut self, benchmark: &str, full: Option<Change>, reduced: Option<Change>) {
        self.compared += 1;
        self.full += usize::from(full.is_some());
        self.reduced += usize::from(reduced.is_some());
        if full != reduced {
            self.false_changes.extend(reduced.map(|_| benchmark.to_owned()));
            self.missed.extend(full.map(|_| benchmark.to_owned()));
        }
    }

    /// False changes among all benchmarks that the full configuration sees no change in; absent where there are none.
    pub fn false_rate(&self) -> Option<f64> {
        share(self.false_changes.len(), self.compared - self.full)
    }

    /// Missed changes among all that the full configuration sees; absent where it sees none.
    pub fn missed_rate(&self) -> Option<f64> {
        share(self.missed.len(), self.full)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
