//! ElastiBench's own statistics (Schirmer, Pfandzelter and Bermbach, 2024, section 6), on anybody's comparisons.
//!
//! 1. Which benchmarks changed by the paper's procedure, which pools all results ([`Procedure`], [`Findings`])?
//! 2. Do two experiments agree ([`Agreement`])?
//! 3. After how many results is an interval narrow enough ([`Narrowing`])?
//!
//! An *experiment* is one comparison of two versions. It gives a *result* for every time that both were measured together: the
//! relative difference of their times. The procedure takes results for independent, wherever they come from.

mod agreement;
mod narrowing;
mod procedure;
mod spread;

pub use agreement::{Agreement, Compared, Coverage, Relation};
pub use narrowing::{Narrowed, Narrowing, Target};
pub use procedure::{Finding, Findings, LeftOut, Procedure};
pub use spread::Spread;

/// One comparison of two versions, as the paper sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// Results of each benchmark.
    pub benchmarks: Vec<Results>,
}

/// Results of one benchmark in an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The benchmark.
    pub benchmark: String,
    /// Candidate / baseline - 1, once for every time that both were measured together, in the order of measuring.
    pub differences: Vec<f64>,
    /// Why there are none, or not all that were wanted, where that is known.
    pub missing: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An experiment with these benchmarks and their differences.
    pub(super) fn experiment(name: &str, benchmarks: &[(&str, &[f64])]) -> Experiment {
        let results = |(benchmark, differences): &(&str, &[f64])| Results {
            benchmark: (*benchmark).to_owned(),
            differences: differences.to_vec(),
            missing: None,
        };
        Experiment { name: name.to_owned(), benchmarks: benchmarks.iter().map(results).collect() }
    }

    /// So many results that differ by even steps around a middle.
    pub(super) fn around(middle: f64, step: f64, results: usize) -> Vec<f64> {
        // From both ends in turn, so that the first ones are as wide as all.
        let place = |i: usize| if i.is_multiple_of(2) { (i / 2) as f64 } else { (results - 1 - i / 2) as f64 };
        (0..results).map(|i| middle + step * (place(i) - (results - 1) as f64 / 2.0)).collect()
    }
}
