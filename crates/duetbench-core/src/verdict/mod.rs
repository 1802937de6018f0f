//! The answer for one benchmark, and the rule that makes it.

use serde::{Deserialize, Serialize};

pub(crate) mod rule;

pub use rule::RatioInterval;

/// The answer for one benchmark. *No change* and *don't know* are different answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// The candidate is slower by more than the threshold.
    Regression,
    /// The candidate is faster by more than the threshold.
    Improvement,
    /// The candidate is slower, but not shown to be so by more than the threshold.
    Slower(Extent),
    /// The candidate is faster, but not shown to be so by more than the threshold.
    Faster(Extent),
    /// No change is shown, and none is as large as the threshold.
    NoChange,
    /// The data decide nothing.
    Inconclusive {
        /// Fork pairs that would probably settle it, where that can be told.
        forks_sufficient: Option<u32>,
    },
    /// Both versions run the same machine code.
    IdenticalCode,
    /// The versions differ, and nothing that this benchmark can reach does.
    NotAffected,
    /// The benchmark itself differs between the versions, so that this answer is not about the code that it measures.
    Redefined(Box<Verdict>),
    /// The candidate has no such benchmark.
    BaselineOnly,
    /// The baseline has no such benchmark.
    CandidateOnly,
    /// It could not be measured.
    Failed {
        /// The side that failed, where it was one.
        role: Option<crate::Role>,
        /// The benchmark's or the tool's own words.
        reason: String,
    },
}

/// The size of a change that is real, compared with the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// It is smaller.
    WithinTolerance,
    /// It may be smaller or larger.
    Open {
        /// Fork pairs that would probably tell, where that can be told.
        forks_sufficient: Option<u32>,
    },
}

impl Verdict {
    /// The word used in machine formats.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Regression => "regression",
            Verdict::Improvement => "improvement",
            Verdict::Slower(Extent::WithinTolerance) => "slower_within_tolerance",
            Verdict::Slower(Extent::Open { .. }) => "slower_size_open",
            Verdict::Faster(Extent::WithinTolerance) => "faster_within_tolerance",
            Verdict::Faster(Extent::Open { .. }) => "faster_size_open",
            Verdict::NoChange => "no_change",
            Verdict::Inconclusive { .. } => "inconclusive",
            Verdict::IdenticalCode => "identical_code",
            Verdict::NotAffected => "not_affected",
            Verdict::Redefined(_) => "redefined",
            Verdict::BaselineOnly => "baseline_only",
            Verdict::CandidateOnly => "candidate_only",
            Verdict::Failed { .. } => "failed",
        }
    }

    /// Whether two versions were really compared to reach it.
    pub fn is_comparison(&self) -> bool {
        !matches!(self, Verdict::BaselineOnly | Verdict::CandidateOnly | Verdict::Failed { .. })
    }

    /// Whether it was proven, so that nothing was measured.
    pub fn is_proven(&self) -> bool {
        matches!(self, Verdict::IdenticalCode | Verdict::NotAffected)
    }

    /// Whether it says that there is a change of the code, of whatever size.
    pub fn is_change(&self) -> bool {
        matches!(self, Verdict::Regression | Verdict::Improvement | Verdict::Slower(_) | Verdict::Faster(_))
    }

    /// Whether more data would tell more: on which side of the threshold the change lies is not known.
    pub fn is_open(&self) -> bool {
        matches!(
            self,
            Verdict::Inconclusive { .. } | Verdict::Slower(Extent::Open { .. }) | Verdict::Faster(Extent::Open { .. })
        )
    }

    /// Fork pairs that would probably settle it, where it is open and that can be told.
    pub fn forks_sufficient(&self) -> Option<u32> {
        match self {
            Verdict::Inconclusive { forks_sufficient }
            | Verdict::Slower(Extent::Open { forks_sufficient })
            | Verdict::Faster(Extent::Open { forks_sufficient }) => *forks_sufficient,
            _ => None,
        }
    }

    /// The versions measure different things under this name.
    pub fn is_redefined(&self) -> bool {
        matches!(self, Verdict::Redefined(_))
    }

    /// The answer about the times that were measured, whether or not they are those of the same benchmark.
    pub fn of_times(&self) -> &Verdict {
        if let Verdict::Redefined(of_times) = self { of_times } else { self }
    }

    /// The same open verdict with the fork pairs that would probably settle it; any other as it is.
    #[must_use]
    pub fn settled_by(self, forks_sufficient: Option<u32>) -> Verdict {
        match self {
            Verdict::Inconclusive { .. } => Verdict::Inconclusive { forks_sufficient },
            Verdict::Slower(Extent::Open { .. }) => Verdict::Slower(Extent::Open { forks_sufficient }),
            Verdict::Faster(Extent::Open { .. }) => Verdict::Faster(Extent::Open { forks_sufficient }),
            settled => settled,
        }
    }
}
