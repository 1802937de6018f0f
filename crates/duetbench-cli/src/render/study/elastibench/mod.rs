//! What `duet study elastibench` found: tables for people, tables for programs.

mod json;
mod machine;
mod people;
mod words;

use duetbench_core::study::elastibench::{Agreement, Finding, Findings, LeftOut, Narrowing, Procedure};
use duetbench_core::{Estimate, Verdict};

pub use json::json;
pub use machine::csv;
pub use people::{markdown, text};

/// A question about stored comparisons, with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Elastibench {
    /// Version of duet.
    pub duet_version: String,
    /// What it went by.
    pub procedure: Procedure,
    /// The answer.
    pub answer: ElastibenchAnswer,
    /// What was met on the way.
    pub warnings: Vec<String>,
}

/// The answer to one of the questions.
#[derive(Debug, Clone, PartialEq)]
pub enum ElastibenchAnswer {
    /// What the paper's procedure finds, beside duet's verdicts.
    Changes {
        /// By the paper's procedure.
        findings: Findings,
        /// Every benchmark of the run, by name.
        beside: Vec<Beside>,
    },
    /// Whether two experiments agree.
    Agreement {
        /// What the first found.
        first: Findings,
        /// What the second found.
        second: Findings,
        /// The two held against each other.
        agreement: Agreement,
    },
    /// After how many results an interval is narrow enough.
    Repetitions {
        /// The experiment.
        experiment: String,
        /// What its intervals are held against.
        target: Wanted,
        /// How they became narrow.
        narrowing: Narrowing,
    },
    /// What is called changed where nothing is.
    Aa {
        /// By the paper's procedure.
        findings: Findings,
    },
}

/// How narrow intervals were to be.
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
    /// What the paper's procedure finds, or why nothing.
    pub paper: Result<Finding, LeftOut>,
    /// What duet says.
    pub verdict: Verdict,
    /// What that rests on.
    pub estimate: Option<Estimate>,
}
