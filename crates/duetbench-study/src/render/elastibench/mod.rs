//! Results of `duet-study elastibench`: tables for people, tables for programs.

mod json;
mod machine;
mod people;
mod words;

use duetbench_core::{Estimate, Verdict};

use crate::papers::elastibench::{Agreement, Finding, Findings, LeftOut, Narrowing, Procedure};

pub use people::document;

/// A question about stored comparisons, with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Elastibench {
    /// Version of duet.
    pub duet_version: String,
    /// The procedure that was followed.
    pub procedure: Procedure,
    /// The answer.
    pub answer: ElastibenchAnswer,
    /// Warnings of the study.
    pub warnings: Vec<String>,
}

/// The answer to one of the questions.
#[derive(Debug, Clone, PartialEq)]
pub enum ElastibenchAnswer {
    /// Findings of the paper's procedure, beside duet's verdicts.
    Changes {
        /// By the paper's procedure.
        findings: Findings,
        /// Every benchmark of the run, by name.
        beside: Vec<Beside>,
    },
    /// Whether two experiments agree.
    Agreement {
        /// Findings of the first experiment.
        first: Findings,
        /// Findings of the second experiment.
        second: Findings,
        /// The two held against each other.
        agreement: Agreement,
    },
    /// After how many results an interval is narrow enough.
    Repetitions {
        /// The experiment.
        experiment: String,
        /// The width that its intervals have to reach.
        target: Wanted,
        /// Their widths as the number of results grows.
        narrowing: Narrowing,
    },
    /// Benchmarks that are called changed although nothing changed.
    Aa {
        /// By the paper's procedure.
        findings: Findings,
    },
}

/// The width that intervals have to reach.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// No wider than this, a fraction.
    Width(f64),
    /// As narrow as in this experiment.
    Reference(String),
}

/// One benchmark by both procedures.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// The benchmark.
    pub benchmark: String,
    /// The finding of the paper's procedure, or why there is none.
    pub paper: Result<Finding, LeftOut>,
    /// duet's verdict.
    pub verdict: Verdict,
    /// The estimate behind that verdict.
    pub estimate: Option<Estimate>,
}
