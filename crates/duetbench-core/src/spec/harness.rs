//! The request for a harness: its name, and settings that only one of them understands.

use std::collections::BTreeMap;
use std::fmt;

use crate::sample::Role;
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
    pub fn is_usual(&self) -> bool {
        *self == HarnessSpec::default()
    }

    /// Gives both sides what the head was asked to have: its JVM and its command lines.
    pub fn level_sides(&mut self) {
        self.jmh.base.clone_from(&self.jmh.head);
        for program in &mut self.commands {
            program.command = program.head.take().or(program.command.take());
        }
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
    /// The JVM of the baseline, where it differs.
    #[serde(skip_serializing_if = "JvmSide::is_usual")]
    pub base: JvmSide,
    /// The JVM of the candidate, and of a version that is measured alone.
    #[serde(skip_serializing_if = "JvmSide::is_usual")]
    pub head: JvmSide,
}

impl JmhSpec {
    /// The JVM of one side.
    pub fn side(&self, role: Role) -> &JvmSide {
        match role {
            Role::Baseline => &self.base,
            Role::Candidate => &self.head,
        }
    }
}

/// The JVM of one side, so that two of them, or two of their settings, can be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JvmSide {
    /// Home of a JDK, or its `java`; absent: that of `JAVA_HOME`, else the one on the `PATH`.
    pub jvm: Option<String>,
    /// Arguments for its measured JVMs, behind those of both sides.
    pub jvm_args: Vec<String>,
}

impl JvmSide {
    /// Whether it is the usual JVM without arguments of its own.
    pub fn is_usual(&self) -> bool {
        *self == JvmSide::default()
    }
}

/// One program that is measured as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandSpec {
    /// Name of its results; empty: the command line itself.
    pub name: String,
    /// The command line, run in a version's directory; absent: each version is a command line itself (`--command`).
    pub command: Option<String>,
    /// The candidate's command line, where it is not that of its version: several may be compared with one baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Command line that is run once in a version's directory before anything else.
    pub build: Option<String>,
    /// Command line that is run before every measured process.
    pub prepare: Option<String>,
    /// Command line that is run after every measured process.
    pub conclude: Option<String>,
    /// Processes of each side in every trial that warm up.
    pub warmup: u32,
    /// Command line that is run once for each of its benchmarks in a version's directory before anything of that is measured.
    pub setup: Option<String>,
    /// Command line that is run once for each of its benchmarks in a version's directory when all measuring is over.
    pub cleanup: Option<String>,
    /// Shell that runs these command lines, with its options; absent: none, they are split into words.
    pub shell: Option<String>,
    /// The exit codes that mean success.
    pub exit_code: ExitCodes,
    /// File that it reads as its standard input; absent: nothing.
    pub stdin: Option<String>,
    /// Destination of its standard output.
    pub stdout: StandardOutput,
    /// Values for each `{name}` in the command lines; every combination is a benchmark.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// The program has a loop of its own and speaks the protocol: its iterations are measured and not its processes.
    pub lockstep: bool,
    /// In duet mode, starts the shorter side again until the longer one ends (Bulej et al., section 4.4).
    pub refill: bool,
}

impl CommandSpec {
    /// Whether it was typed as one more command line to compare with the first, and is no table of its own.
    pub fn is_further(&self) -> bool {
        self.command.is_none() && self.head.is_some()
    }
}

/// Exit codes that mean success: 0, unless others are given. A single one is written as a number, several as a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OneOrMore", into = "OneOrMore")]
pub struct ExitCodes(Vec<i32>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a list of them, as `0` or `[0, 1]`")]
enum OneOrMore {
    One(i32),
    More(Vec<i32>),
}

impl ExitCodes {
    /// Whether a process that ended with this code did its work.
    pub fn contains(&self, code: i32) -> bool {
        self.0.contains(&code)
    }

    /// Whether it is 0 alone.
    pub fn is_usual(&self) -> bool {
        *self == ExitCodes::default()
    }
}

impl Default for ExitCodes {
    fn default() -> ExitCodes {
        0.into()
    }
}

impl From<i32> for ExitCodes {
    fn from(code: i32) -> ExitCodes {
        ExitCodes(vec![code])
    }
}

/// An empty list leaves the usual one.
impl From<Vec<i32>> for ExitCodes {
    fn from(codes: Vec<i32>) -> ExitCodes {
        if codes.is_empty() { ExitCodes::default() } else { ExitCodes(codes) }
    }
}

impl From<OneOrMore> for ExitCodes {
    fn from(codes: OneOrMore) -> ExitCodes {
        match codes {
            OneOrMore::One(code) => code.into(),
            OneOrMore::More(codes) => codes.into(),
        }
    }
}

impl From<ExitCodes> for OneOrMore {
    fn from(ExitCodes(codes): ExitCodes) -> OneOrMore {
        if let [code] = codes[..] { OneOrMore::One(code) } else { OneOrMore::More(codes) }
    }
}

/// As they are typed: `0,1`.
impl fmt::Display for ExitCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(i32::to_string).collect::<Vec<_>>().join(","))
    }
}

/// Destination of a measured program's standard output, as it is typed: `pipe`, `null`, or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StandardOutput {
    /// A pipe that is read and thrown away.
    #[default]
    Pipe,
    /// `/dev/null`.
    Null,
    /// A file, relative to the directory in which the program runs.
    File(String),
}

impl From<String> for StandardOutput {
    fn from(word: String) -> StandardOutput {
        match word.as_str() {
            "pipe" => StandardOutput::Pipe,
            "null" => StandardOutput::Null,
            _ => StandardOutput::File(word),
        }
    }
}

impl From<StandardOutput> for String {
    fn from(output: StandardOutput) -> String {
        match output {
            StandardOutput::Pipe => "pipe".to_owned(),
            StandardOutput::Null => "null".to_owned(),
            StandardOutput::File(file) => file,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_can_be_given_what_the_head_has() {
        let program = |command: Option<&str>, head: Option<&str>| CommandSpec {
            command: command.map(str::to_owned),
            head: head.map(str::to_owned),
            ..CommandSpec::default()
        };
        let jvm = |jvm: &str| JvmSide { jvm: Some(jvm.into()), jvm_args: Vec::new() };
        let mut spec = HarnessSpec {
            jmh: JmhSpec { base: jvm("17"), head: jvm("25"), ..JmhSpec::default() },
            commands: vec![program(Some("./c"), Some("./c --fast")), program(Some("./d"), None), program(None, None)],
            ..HarnessSpec::default()
        };
        spec.level_sides();
        assert_eq!(spec.jmh.base, jvm("25"));
        assert_eq!(spec.commands, [program(Some("./c --fast"), None), program(Some("./d"), None), program(None, None)]);
    }

    #[test]
    fn exit_codes_are_one_number_or_a_list() {
        let check = |codes: &str, want: &[i32]| {
            let read: CommandSpec = serde_json::from_str(&format!(r#"{{ "exit_code": {codes} }}"#)).unwrap();
            assert_eq!(read.exit_code, want.to_vec().into(), "{codes}");
            let written = serde_json::to_value(&read).unwrap()["exit_code"].to_string();
            assert_eq!(written, codes.replace(' ', ""));
        };
        check("7", &[7]);
        check("[0, 1]", &[0, 1]);
        assert!(CommandSpec::default().exit_code.is_usual());
        assert_eq!(ExitCodes::from(vec![0, 1]).to_string(), "0,1");
    }
}
