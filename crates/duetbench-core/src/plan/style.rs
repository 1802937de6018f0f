//! Ways to slice a benchmark.

use serde::{Deserialize, Serialize};

/// Ways in which the harness's hook can slice a benchmark. The later one constrains a pair: a parallel side decides, then a side that
/// must be called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

words!(Style, from_word:
    Loop "loop", Rewritten "rewritten", Recall "recall", Parallel "parallel", Iteration "iteration", Process "process"
);

impl Style {
    /// Whether a side of a duet can add single invocations to its slices: none is set up for, and none is the harness's to count.
    pub fn refills(self) -> bool {
        matches!(self, Style::Loop | Style::Rewritten)
    }

    /// Whether slices are given by the harness, so that their number is asked for and not agreed upon.
    pub fn is_counted(self) -> bool {
        matches!(self, Style::Iteration | Style::Process)
    }
}
