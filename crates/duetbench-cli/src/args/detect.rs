//! `duet analyze --method`: recordings by the rule of the papers, or by both rules.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use duetbench_core::detect::Statistic;

use crate::options::{Choice, Setting};

/// The papers' rule, for two recordings. Typed only.
#[derive(Debug, Args)]
pub struct MethodArgs {
    /// Judge two recordings: every level of their values, by the rule of this author
    #[arg(long, value_enum, requires = "head")]
    pub method: Option<Method>,
    /// With `--method`: confidence of the papers' intervals [default: the rest of `--alpha`]; also that of duet's rule, unless
    /// `--alpha` is typed
    #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
    pub confidence: Option<f64>,
    /// With `--method`: the result by the papers' rule [default: median]
    #[arg(long, value_parser = Statistic::parser())]
    pub statistic: Option<Statistic>,
    /// With `--method`: also say which changes the repetitions of this plan would have found, and which they would have missed, by the
    /// papers' rule
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
}

impl MethodArgs {
    /// An option that was typed and means nothing without `--method`.
    pub fn idle(&self) -> Option<&'static str> {
        let typed = [
            ("--confidence", self.confidence.is_some()),
            ("--statistic", self.statistic.is_some()),
            ("--plan", self.plan.is_some()),
        ];
        typed.into_iter().find(|(_, typed)| *typed && self.method.is_none()).map(|(option, _)| option)
    }
}

/// `--method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// That of the papers: intervals that do not overlap, every value taken for independent
    Paper,
    /// duet's: a test of the outermost repetitions, error and false alarms kept
    Duet,
    /// Both beside each other
    Both,
}

/// `--statistic`.
impl Choice for Statistic {
    const WORDS: &'static [(&'static str, Statistic, &'static str)] =
        &[("mean", Statistic::Mean, "Mean of all values"), ("median", Statistic::Median, "Median of all values")];
}
