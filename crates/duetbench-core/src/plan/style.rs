//! Ways to slice a benchmark.

use serde::{Deserialize, Serialize};

/// Ways in which the harness's hook can slice a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// A loop the harness controls (`b.Loop`).
    Loop,
    /// A counting loop that was rewritten to ask for more.
    Rewritten,
    /// The whole function is called again for every slice.
    Recall,
    /// The harness's own parallel loop (`RunParallel`).
    Parallel,
    /// Iterations of a loop that the harness or the program has of its own; how long one is, is settled before.
    Iteration,
    /// A whole process is a slice.
    Process,
}

impl Style {
    /// The word used in the protocol and in machine formats.
    pub fn word(self) -> &'static str {
        match self {
            Style::Loop => "loop",
            Style::Rewritten => "rewritten",
            Style::Recall => "recall",
            Style::Parallel => "parallel",
            Style::Iteration => "iteration",
            Style::Process => "process",
        }
    }

    /// The style of this word, where there is one.
    pub fn from_word(word: &str) -> Option<Style> {
        let all = [Style::Loop, Style::Rewritten, Style::Recall, Style::Parallel, Style::Iteration, Style::Process];
        all.into_iter().find(|s| s.word() == word)
    }

    /// Whether a side of a duet can add single invocations to its slices: none is set up for, and none is the harness's to count.
    pub fn refills(self) -> bool {
        matches!(self, Style::Loop | Style::Rewritten)
    }

    /// Whether slices are given by the harness, so that their number is asked for and not agreed upon.
    pub fn is_counted(self) -> bool {
        matches!(self, Style::Iteration | Style::Process)
    }

    /// The style that constrains a pair: a parallel side decides, then a side that must be called again.
    pub(super) fn slower(self, other: Style) -> Style {
        let rank = |s| match s {
            Style::Loop => 0,
            Style::Rewritten => 1,
            Style::Recall => 2,
            Style::Parallel => 3,
            Style::Iteration => 4,
            Style::Process => 5,
        };
        if rank(self) >= rank(other) { self } else { other }
    }
}
