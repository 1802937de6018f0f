//! Harness adapters: how one kind of benchmark is built, listed and started. One folder each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Discovered, Mode};
use duetbench_core::{BenchmarkId, Role};

use crate::error::RunError;
use crate::process::Launch;

pub mod go;

/// One started program of one version: what a package was built into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The executable.
    pub program: PathBuf,
    /// Where it runs.
    pub dir: PathBuf,
    /// SHA-256 of the executable, hexadecimal.
    pub digest: String,
    /// Arguments of the harness's own build command, without output and linker flags.
    pub build_args: Vec<String>,
}

/// One version, built: its artifacts by package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// By package.
    pub artifacts: BTreeMap<String, Artifact>,
}

impl Build {
    /// One digest over all artifacts, hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new();
        for (package, artifact) in &self.artifacts {
            hash.update(package.as_bytes());
            hash.update([0]);
            hash.update(artifact.digest.as_bytes());
        }
        hex(&hash.finalize())
    }
}

/// Under what conditions benchmarks run.
#[derive(Debug, Clone, Copy)]
pub struct Conditions<'a> {
    /// How long a benchmark may be silent before it counts as hung.
    pub timeout: Duration,
    /// Names of variables that benchmarks may see on top of the allow-list.
    pub pass_env: &'a [String],
}

/// What listing a build's benchmarks found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The benchmarks, those that failed with their failure.
    pub found: Vec<Discovered>,
    /// Benchmarks that skip themselves.
    pub skipped: Vec<BenchmarkId>,
}

/// How to start listed or measured code of one build.
pub trait Adapter: Sync {
    /// The benchmarks of a build. A benchmark that fails while it is listed is listed with its failure.
    ///
    /// # Errors
    /// When the build cannot be listed at all, or on an interrupt.
    fn list(&self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError>;

    /// Whether artifacts can be linked again with their functions in another order.
    fn relinks(&self) -> bool;

    /// Links an artifact again, with its functions in the order that `layout_seed` gives, as `program`.
    ///
    /// # Errors
    /// When it cannot be linked.
    fn relink(&self, artifact: &Artifact, layout_seed: u32, program: &Path) -> Result<(), RunError>;

    /// The command line that measures one benchmark; absent when the build has no such package.
    fn launch(&self, build: &Build, id: &BenchmarkId, mode: Mode) -> Option<Launch>;
}

/// Which version a message is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The side it is on.
    pub role: Role,
    /// As the user typed it.
    pub version: &'a str,
}

/// Bytes as lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
