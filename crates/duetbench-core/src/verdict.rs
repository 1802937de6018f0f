//! The answer for one benchmark.

use serde::{Deserialize, Serialize};

/// What is said about one benchmark. *No change* and *don't know* are different answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// The candidate got worse, and not by a negligible amount.
    Regression,
    /// The candidate got better, and not by a negligible amount.
    Improvement,
    /// Whatever changed is smaller than the threshold.
    NoChange,
    /// The data decide nothing.
    Inconclusive {
        /// Fork pairs that would probably settle it, where that can be told.
        forks_sufficient: Option<u32>,
    },
    /// Both versions run the same machine code.
    IdenticalCode,
    /// The candidate has no such benchmark.
    BaselineOnly,
    /// The baseline has no such benchmark.
    CandidateOnly,
    /// It could not be measured.
    Failed {
        /// Which side failed, where it was one.
        role: Option<crate::Role>,
        /// The benchmark's or the tool's own words.
        reason: String,
    },
}

impl Verdict {
    /// The word used in machine formats.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Regression => "regression",
            Verdict::Improvement => "improvement",
            Verdict::NoChange => "no_change",
            Verdict::Inconclusive { .. } => "inconclusive",
            Verdict::IdenticalCode => "identical_code",
            Verdict::BaselineOnly => "baseline_only",
            Verdict::CandidateOnly => "candidate_only",
            Verdict::Failed { .. } => "failed",
        }
    }

    /// Whether two versions were really compared to reach it.
    #[must_use]
    pub fn is_comparison(&self) -> bool {
        matches!(
            self,
            Verdict::Regression
                | Verdict::Improvement
                | Verdict::NoChange
                | Verdict::Inconclusive { .. }
                | Verdict::IdenticalCode
        )
    }
}
