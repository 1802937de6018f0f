//! Options whose value is one of a few words.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use duetbench_core::Role;
use duetbench_core::spec::{Arch, EngineName, LayoutChoice, ModeChoice};

use super::value::Setting;
use crate::failure::Failure;

/// A type that other crates have, and of which a few values are chosen by words.
pub trait Choice: Copy + Send + Sync + 'static {
    /// Words, values and help, in the order in which they are listed.
    const WORDS: &'static [(&'static str, Self, &'static str)];

    /// Takes one of the words from the command line.
    fn parser() -> impl TypedValueParser<Value = Self> {
        let values = Self::WORDS.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
        PossibleValuesParser::new(values).try_map(|word| Self::parse(&word))
    }
}

impl<T: Choice> Setting for T {
    fn parse(text: &str) -> Result<T, String> {
        let chosen = T::WORDS.iter().find(|(word, ..)| word.eq_ignore_ascii_case(text));
        let all = || T::WORDS.iter().map(|(word, ..)| *word).collect::<Vec<_>>().join(", ");
        chosen.map(|(_, value, _)| *value).ok_or_else(|| format!("one of {}", all()))
    }
}

/// `--mode`.
impl Choice for ModeChoice {
    const WORDS: &'static [(&'static str, ModeChoice, &'static str)] = &[
        ("auto", ModeChoice::Auto, "Decided per benchmark"),
        ("duet", ModeChoice::Duet, "Both at once, a core each"),
        ("interleaved", ModeChoice::Interleaved, "One at a time, slices alternating"),
        ("sequential", ModeChoice::Sequential, "Whole processes one after the other"),
    ];
}

/// `--layouts`.
impl Choice for LayoutChoice {
    const WORDS: &'static [(&'static str, LayoutChoice, &'static str)] = &[
        ("matched", LayoutChoice::Matched, "Whatever both versions have lies at the same address in both"),
        ("random", LayoutChoice::Random, "Each in an order of its own"),
    ];
}

/// `--on`.
impl Choice for EngineName {
    const WORDS: &'static [(&'static str, EngineName, &'static str)] = &[
        ("lambda", EngineName::Lambda, "AWS Lambda"),
        (
            "here",
            EngineName::Here,
            "Workers on this machine, as a rehearsal: in turns with nobody, so its numbers are worth little",
        ),
    ];
}

/// `--benchmarks-from`.
impl Choice for Role {
    const WORDS: &'static [(&'static str, Role, &'static str)] =
        &[("base", Role::Baseline, "The baseline"), ("head", Role::Candidate, "The candidate")];
}

/// `--arch`.
impl Choice for Arch {
    const WORDS: &'static [(&'static str, Arch, &'static str)] =
        &[("x86_64", Arch::X86_64, "64-bit x86"), ("arm64", Arch::Arm64, "64-bit ARM")];
}

/// Reads words of our own types, in whatever case.
macro_rules! read_as_words {
    ($($choice:ty),+) => {
        $(impl Setting for $choice {
            fn parse(text: &str) -> Result<Self, String> {
                <$choice>::from_str(text, true).map_err(|_| format!("one of {}", words::<$choice>().join(", ")))
            }
        })+
    };
}
read_as_words!(Format, CountArg);

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
