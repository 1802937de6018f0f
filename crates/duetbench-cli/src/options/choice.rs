//! Options whose value is one of a few words.

use clap::ValueEnum;
use duetbench_core::Role;
use duetbench_core::spec::{Arch, EngineName, LayoutChoice, ModeChoice};

use super::value::{Setting, choices};
use crate::failure::Failure;

/// Reads words of these types, in whatever case.
macro_rules! read_as_words {
    ($($choice:ty),+) => {
        $(impl Setting for $choice {
            fn parse(text: &str) -> Result<Self, String> {
                <$choice>::from_str(text, true).map_err(|_| format!("one of {}", words::<$choice>().join(", ")))
            }

            fn schema() -> String {
                choices(words::<$choice>().iter().map(String::as_str))
            }
        })+
    };
}
read_as_words!(Format, ModeArg, LayoutsArg, CountArg, EngineArg, ArchArg, SideArg);

fn words<T: ValueEnum>() -> Vec<String> {
    T::value_variants().iter().filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned())).collect()
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Text,
    /// Everything, with a published schema
    Json,
    /// For a pull request
    Markdown,
    /// One row per benchmark
    Csv,
    /// Go benchmark text, for benchstat
    Go,
    /// Results that fail or inform, for code scanning (SARIF 2.1.0)
    Sarif,
    /// A page for the browser, of comparisons with pictures: one file that loads nothing
    Html,
}

impl Format {
    /// Why something cannot be had in this form.
    pub fn unfit(self, what: &str) -> Failure {
        let form = match self {
            Format::Text => "text",
            Format::Json => "JSON",
            Format::Markdown => "Markdown",
            Format::Csv => "CSV",
            Format::Go => "Go benchmark text",
            Format::Sarif => "SARIF",
            Format::Html => "HTML",
        };
        Failure::usage(format!("{what} cannot be written as {form}"))
    }
}

/// `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Decided per benchmark
    Auto,
    /// Both at once, a core each
    Duet,
    /// One at a time, slices alternating
    Interleaved,
    /// Whole processes one after the other
    Sequential,
}

impl From<ModeArg> for ModeChoice {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Auto => ModeChoice::Auto,
            ModeArg::Duet => ModeChoice::Duet,
            ModeArg::Interleaved => ModeChoice::Interleaved,
            ModeArg::Sequential => ModeChoice::Sequential,
        }
    }
}

/// `--layouts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutsArg {
    /// Whatever both versions have lies at the same address in both
    Matched,
    /// Each in an order of its own
    Random,
}

impl From<LayoutsArg> for LayoutChoice {
    fn from(layouts: LayoutsArg) -> Self {
        match layouts {
            LayoutsArg::Matched => LayoutChoice::Matched,
            LayoutsArg::Random => LayoutChoice::Random,
        }
    }
}

/// `--count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CountArg {
    /// Those that changed or are open questions, and those whose instructions a rule names
    Changed,
    /// All that were measured
    All,
    /// None
    None,
}

/// `--on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// AWS Lambda
    Lambda,
    /// Workers on this machine, as a rehearsal: in turns with nobody, so its numbers are worth little
    Here,
}

impl From<EngineArg> for EngineName {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Lambda => EngineName::Lambda,
            EngineArg::Here => EngineName::Here,
        }
    }
}

/// `--benchmarks-from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideArg {
    /// The baseline
    Base,
    /// The candidate
    Head,
}

impl From<SideArg> for Role {
    fn from(side: SideArg) -> Self {
        match side {
            SideArg::Base => Role::Baseline,
            SideArg::Head => Role::Candidate,
        }
    }
}

/// `--arch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ArchArg {
    /// 64-bit x86
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit ARM
    Arm64,
}

impl From<ArchArg> for Arch {
    fn from(arch: ArchArg) -> Self {
        match arch {
            ArchArg::X86_64 => Arch::X86_64,
            ArchArg::Arm64 => Arch::Arm64,
        }
    }
}
