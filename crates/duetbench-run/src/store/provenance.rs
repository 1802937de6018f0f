//! Where what was recorded came from: what a plan that is learnt from it must say, and is checked by later.

use std::collections::BTreeMap;

use duetbench_core::report::VersionInfo;
use duetbench_core::{Environment, Role};

use super::{Head, StoredRun};

/// Where a recording of a stored run came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The resolved version: a commit, a directory, a module version.
    pub version: String,
    /// Digest over its test binaries; empty where outcomes came from a script.
    pub artifact_digest: String,
    /// Digest of every package's test binary, where they were kept apart.
    pub artifacts: BTreeMap<String, String>,
    /// The machine in a line.
    pub machine: String,
    /// The toolchain.
    pub toolchain: String,
    /// Iterations that warmed up in each process and are not in the recording, by the benchmark's full name.
    pub warmup: BTreeMap<String, u32>,
}

impl StoredRun {
    /// Where what one version gave came from; the role means nothing where there is only one version.
    pub fn provenance(&self, role: Role) -> Provenance {
        let of = |version: &VersionInfo, environment: &Environment| Provenance {
            version: version.resolved.clone(),
            artifact_digest: version.artifact_digest.clone(),
            artifacts: BTreeMap::new(),
            machine: machine(environment),
            toolchain: environment.toolchain.clone(),
            warmup: BTreeMap::new(),
        };
        match &self.head {
            Head::Comparison(head) => match role {
                Role::Baseline => of(&head.baseline, &head.environment),
                Role::Candidate => of(&head.candidate, &head.environment),
            },
            Head::Solo(head) => Provenance {
                artifacts: head.artifacts.clone(),
                warmup: head.plan.benchmarks.iter().map(|b| (b.id.to_string(), b.repetitions.warmup)).collect(),
                ..of(&head.version, &head.environment)
            },
        }
    }
}

/// A machine in a line: what times depend on, and nothing that changes from one boot to the next.
pub fn machine(environment: &Environment) -> String {
    let processors = environment.cpus_usable.len();
    let plural = if processors == 1 { "" } else { "s" };
    format!("{}, {processors} processor{plural}, {}", environment.cpu_model, environment.platform)
}
