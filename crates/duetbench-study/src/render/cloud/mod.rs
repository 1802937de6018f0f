//! Results of `duet-study cloud`: tables for people, tables for programs, figures.

mod figures;
mod json;
mod machine;
mod people;
mod words;

use crate::papers::cloud::{Comparison, Settings, Studied};

pub use figures::figures;
pub use machine::tables;
pub use people::document;

/// A study of environments.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloud {
    /// Version of duet.
    pub duet_version: String,
    /// Settings of the study.
    pub settings: Settings,
    /// Results of each environment.
    pub environments: Vec<Studied>,
    /// The environments held against each other; absent where there is nothing to compare.
    pub comparison: Option<Comparison>,
}

impl Cloud {
    /// All benchmarks, in the order in which environments have them.
    fn benchmarks(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for benchmark in self.environments.iter().flat_map(|studied| &studied.benchmarks) {
            if !names.contains(&benchmark.benchmark.as_str()) {
                names.push(&benchmark.benchmark);
            }
        }
        names
    }
}
