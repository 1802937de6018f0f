//! The request for a harness: its name, and settings that only one of them understands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The request for a harness, with all defaults filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HarnessSpec {
    /// Its name; absent: told by the files of a version.
    pub name: Option<String>,
    /// Iterations at the start of every process that warm up, where the harness counts iterations; absent: found for each benchmark.
    pub warmup: Option<u32>,
    /// For JMH alone.
    pub jmh: JmhSpec,
    /// The programs, where whole programs are measured.
    pub commands: Vec<CommandSpec>,
}

impl HarnessSpec {
    /// Whether nothing was asked that is not usual.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == HarnessSpec::default()
    }
}

/// Build and start of JMH benchmarks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JmhSpec {
    /// Program and arguments that build the benchmarks in a version's directory; empty: what its build file calls for.
    pub build: Vec<String>,
    /// The built jar, relative to a version's directory; absent: the one that holds a list of benchmarks.
    pub jar: Option<String>,
    /// Further entries of the class path, for jars that do not hold all they need.
    pub class_path: Vec<String>,
    /// Arguments for every measured JVM, on top of the benchmarks' own.
    pub jvm_args: Vec<String>,
}

/// One program that is measured as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandSpec {
    /// Name of its results; empty: the command line itself.
    pub name: String,
    /// The command line, run in a version's directory; absent: each version is a command line itself (`--command`).
    pub command: Option<String>,
    /// Command line that is run once in a version's directory before anything else.
    pub build: Option<String>,
    /// Command line that is run before every measured process.
    pub prepare: Option<String>,
    /// Command line that is run after every measured process.
    pub conclude: Option<String>,
    /// Processes of each side in every trial that warm up.
    pub warmup: u32,
    /// The exit code that means success.
    pub exit_code: i32,
    /// Values for each `{name}` in the command lines; every combination is a benchmark.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// The program has a loop of its own and speaks the protocol: its iterations are measured and not its processes.
    pub lockstep: bool,
    /// In duet mode, starts the shorter side again until the longer one ends (Bulej et al., section 4.4).
    pub refill: bool,
}
