//! Errors on their way to the person at the terminal, and the exit codes.

use duetbench_core::report::Outcome;
use duetbench_core::spec::{RuleError, SpecError};
use duetbench_core::{Report, SoloReport};
use duetbench_formats::FormatError;
use duetbench_run::RunError;
use duetbench_run::error::About;
use duetbench_run::fleet::FleetError;
use thiserror::Error;

/// Exit codes, as `duet --help` lists them.
pub mod code {
    /// No regression.
    pub const CLEAN: u8 = 0;
    /// Something failed, or nothing was compared.
    pub const FAILED: u8 = 1;
    /// The request makes no sense.
    pub const USAGE: u8 = 2;
    /// A regression.
    pub const REGRESSION: u8 = 3;
    /// Not decided, with `--strict`.
    pub const INCONCLUSIVE: u8 = 4;
    /// A waiver expired, is not needed any more, or fits several benchmarks.
    pub const STALE_WAIVER: u8 = 5;
    /// For `git bisect run`: as the good commit.
    pub const AS_GOOD: u8 = 0;
    /// For `git bisect run`: as the bad commit.
    pub const AS_BAD: u8 = 1;
    /// For `git bisect run`: this commit cannot be told.
    pub const CANNOT_TELL: u8 = 125;
    /// For `git bisect run`: its search ends, since no commit could be told.
    pub const ENDS_SEARCH: u8 = 128;
    /// Stopped by Ctrl-C, as shells count it.
    pub const INTERRUPTED: u8 = 130;
}

/// Why a command ends early.
#[derive(Debug, Error)]
pub enum Failure {
    /// The request makes no sense.
    #[error("{what}")]
    Usage {
        /// The error in words.
        what: String,
        /// Something to do instead.
        hint: Option<String>,
    },
    /// The outside world does not cooperate.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Another tool's file is not what it should be, or its form cannot hold what is to be written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A fleet does not cooperate.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The output could not be written.
    #[error("cannot write the report: {source}")]
    Output {
        /// The system's error.
        source: std::io::Error,
        /// A way to write it after all.
        hint: Option<String>,
    },
}

impl Failure {
    /// A request that makes no sense.
    pub fn usage(what: impl Into<String>) -> Failure {
        Failure::Usage { what: what.into(), hint: None }
    }

    /// The same with something to do instead, if it is a request that makes no sense, or an output that could not be written.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> Failure {
        if let Failure::Usage { hint, .. } | Failure::Output { hint, .. } = &mut self {
            *hint = Some(advice.into());
        }
        self
    }

    /// The exit code that says so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage { .. }
            | Failure::Run(RunError::Argument { .. } | RunError::Told { about: About::Version | About::Kind, .. }) => {
                code::USAGE
            }
            Failure::Run(RunError::Interrupted) => code::INTERRUPTED,
            Failure::Run(_) | Failure::Format(_) | Failure::Fleet(_) | Failure::Output { .. } => code::FAILED,
        }
    }

    /// Advice on it, where there is any that the words do not give.
    pub fn advice(&self) -> Option<String> {
        match self {
            Failure::Run(e) => e.advice(),
            Failure::Format(e) => e.advice(),
            Failure::Fleet(e) => e.hint.clone(),
            Failure::Usage { hint, .. } | Failure::Output { hint, .. } => hint.clone(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(source: std::io::Error) -> Self {
        Failure::Output { source, hint: None }
    }
}

impl From<RuleError> for Failure {
    fn from(e: RuleError) -> Self {
        Failure::usage(e.to_string())
    }
}

impl From<SpecError> for Failure {
    fn from(e: SpecError) -> Self {
        Failure::usage(e.to_string())
    }
}

/// The exit code of a finished run of one version, in which nothing is judged.
pub fn solo_exit_code(report: &SoloReport) -> u8 {
    let nothing = report.benchmarks.iter().all(|b| b.summary.is_none());
    if nothing || report.has_failures() { code::FAILED } else { code::CLEAN }
}

/// The exit code of a run as it lies in a store, where open questions are tolerated or not (`strict`).
pub fn stored_exit_code(report: &Report, strict: bool) -> u8 {
    match exit_code(report, strict) {
        // A missing part may be the one that fails it.
        code::CLEAN | code::INCONCLUSIVE if !report.complete => code::INTERRUPTED,
        judged => judged,
    }
}

/// The exit code of a finished run, where open questions are tolerated or not (`strict`).
pub fn exit_code(report: &Report, strict: bool) -> u8 {
    match report.outcome() {
        Outcome::Clean => code::CLEAN,
        Outcome::Failed => code::FAILED,
        Outcome::Regression => code::REGRESSION,
        Outcome::StaleWaiver => code::STALE_WAIVER,
        Outcome::Inconclusive if report.lacks_answers(strict) => code::INCONCLUSIVE,
        Outcome::Inconclusive => code::CLEAN,
    }
}
