//! Head of a run: the facts from before its first trial, and the format in which they are stored.

use std::collections::BTreeMap;
use std::path::PathBuf;

use duetbench_core::fleet::FleetTerms;
use duetbench_core::noise::Facts;
use duetbench_core::plan::{Plan, SoloPlan};
use duetbench_core::report::{LayoutsUsed, VersionInfo};
use duetbench_core::spec::SoloSpec;
use duetbench_core::{Environment, Spec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::changed;
use crate::error::RunError;
use crate::source::VersionRequest;

/// More rounds than any duet confirms in.
const CONFIRM_ROUNDS_MAX: u32 = 100;

/// Facts about a comparison from before its first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// When it began, RFC 3339.
    pub started: String,
    /// The request.
    pub spec: Spec,
    /// The plan.
    pub plan: Plan,
    /// The baseline.
    pub baseline: VersionInfo,
    /// The candidate.
    pub candidate: VersionInfo,
    /// The machine.
    pub environment: Environment,
    /// Facts about the machine that explain noise.
    pub facts: Facts,
    /// Warnings about the run as a whole.
    pub warnings: Vec<String>,
    /// Where its versions came from, for resuming; absent where outcomes came from a script.
    pub origin: Option<Origin>,
    /// Terms of the fleet, where the run is measured on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetTerms>,
    /// Layouts of the halves of its build pairs, as far as they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<LayoutsUsed>,
}

/// Where the versions of a comparison came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Where relative names start.
    pub cwd: PathBuf,
    /// Baseline and candidate.
    pub versions: [VersionRequest; 2],
}

impl Origin {
    /// The same as long as the versions exist; `resolved` is what they were resolved to.
    #[must_use]
    pub fn pinned(self, resolved: [&str; 2]) -> Origin {
        let [baseline, candidate] = self.versions;
        let versions = [baseline.pinned(&self.cwd, resolved[0]), candidate.pinned(&self.cwd, resolved[1])];
        Origin { cwd: self.cwd, versions }
    }
}

/// Facts about a run of one version from before its first trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "solo")]
pub struct SoloHead {
    /// When it began, RFC 3339.
    pub started: String,
    /// The request.
    pub spec: SoloSpec,
    /// The plan.
    pub plan: SoloPlan,
    /// The version.
    pub version: VersionInfo,
    /// Digest of every package's test binary, hexadecimal, by package.
    pub artifacts: BTreeMap<String, String>,
    /// The machine.
    pub environment: Environment,
    /// Facts about the machine that explain noise.
    pub facts: Facts,
    /// Warnings about the run as a whole.
    pub warnings: Vec<String>,
    /// Where the version came from, for resuming; absent where outcomes came from a script.
    pub origin: Option<SoloOrigin>,
}

/// Where the version of a run of one version came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoloOrigin {
    /// Where relative names start.
    pub cwd: PathBuf,
    /// The version.
    pub version: VersionRequest,
}

/// Facts about a run from before its first trial, by the kind of run.
#[derive(Debug, Clone, PartialEq)]
pub enum Head {
    /// Two versions against each other.
    Comparison(Box<RunHead>),
    /// One version alone.
    Solo(Box<SoloHead>),
}

/// A head that a store keeps.
pub trait StoredHead: Serialize {}

impl StoredHead for RunHead {}

impl StoredHead for SoloHead {}

/// Most iterations of a run of one version, all of its benchmarks together, for which a table is made.
const ITERATIONS_MAX: u64 = 100_000_000;

/// The field that tells kinds of runs apart. A comparison has none, because it was the only kind there was.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Head {
    /// Reads what [`json`] wrote.
    pub(super) fn parse(json: &str, run: i64) -> Result<Head, RunError> {
        match parse::<Kind>(json, run)?.kind.as_deref() {
            None => {
                let head: Box<RunHead> = parse(json, run)?;
                let odd = head.plan.benchmarks.iter().find(|b| !b.configuration.is_possible());
                odd.map_or(Ok(()), |odd| Err(changed(run, &format!("nobody plans `{}` so", odd.id))))?;
                if head.plan.confirm_rounds > CONFIRM_ROUNDS_MAX {
                    return Err(changed(run, "nobody confirms so often"));
                }
                Ok(Head::Comparison(head))
            }
            Some("solo") => {
                let head: Box<SoloHead> = parse(json, run)?;
                let odd = head.plan.benchmarks.iter().find(|b| b.repetitions.check().is_err());
                odd.map_or(Ok(()), |odd| Err(changed(run, &format!("nobody measures `{}` so often", odd.id))))?;
                if head.plan.benchmarks.iter().map(|b| b.repetitions.iterations_in_all()).sum::<u64>() > ITERATIONS_MAX
                {
                    return Err(changed(run, "nobody measures so much"));
                }
                Ok(Head::Solo(head))
            }
            Some(other) => {
                let what = format!("the run `r{run}` is a `{other}`, which only a newer duet can read");
                Err(RunError::stored_run(what))
            }
        }
    }

    /// The machine.
    pub(super) fn environment_mut(&mut self) -> &mut Environment {
        match self {
            Head::Comparison(head) => &mut head.environment,
            Head::Solo(head) => &mut head.environment,
        }
    }

    /// The machine.
    pub fn environment(&self) -> &Environment {
        match self {
            Head::Comparison(head) => &head.environment,
            Head::Solo(head) => &head.environment,
        }
    }
}

fn parse<T: DeserializeOwned>(json: &str, run: i64) -> Result<T, RunError> {
    serde_json::from_str(json).map_err(|e| {
        RunError::stored_run(format!("the run `r{run}` cannot be read, it was written by another duet: {e}"))
    })
}
