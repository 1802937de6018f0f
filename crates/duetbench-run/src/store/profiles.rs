//! CPU profiles of the regressions of a run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use duetbench_core::Role;
use duetbench_core::hotspot::{BenchmarkProfile, BenchmarkStacks, CallTree, Frame, ProfileDifference, ProfileOutcome};

use rusqlite::params;

use super::{RunId, Store, written};
use crate::engine::read_regular;
use crate::error::RunError;
use crate::pprof::{self, FILE_BYTES_MAX};

/// Name of a database that has not been given another one.
const USUAL_NAME: &str = "duet.db";
/// Name of the folder for profiles beside it.
pub const PROFILES: &str = "profiles";

/// Ending of the names of this side's profiles.
pub fn profile_ending(role: Role) -> String {
    format!(".{}.pb.gz", role.word())
}

impl Store {
    /// The folder for the profiles of the run of this name: beside the database, and called after that where it has a name of its own,
    /// since others may lie there.
    pub fn profiles_dir(&self, run: &str) -> PathBuf {
        let after = |name: &OsStr| -> OsString { [name, OsStr::new("."), OsStr::new(PROFILES)].into_iter().collect() };
        let name = self.path.file_name().filter(|name| *name != USUAL_NAME);
        self.path.with_file_name(name.map_or_else(|| PROFILES.into(), after)).join(run)
    }

    /// The call stacks of a benchmark, from the profiles beside the database; absent where it has none.
    pub fn stacks(&self, run: &str, profile: &BenchmarkProfile) -> Option<BenchmarkStacks> {
        let ProfileOutcome::Explained { difference, files } = &profile.outcome else { return None };
        let frames = frames(self.beside(run, files)?.each_ref().map(PathBuf::as_path), difference);
        Some(BenchmarkStacks { id: profile.id.clone(), frames })
    }

    /// The files of these names beside the database: only names of paths are followed, since the store may be somebody else's, or may have
    /// been moved.
    fn beside(&self, run: &str, files: &[String; 2]) -> Option<[PathBuf; 2]> {
        let dir = self.profiles_dir(run);
        // There was one for all databases of a folder once.
        let dir = if dir.exists() { dir } else { self.path.with_file_name(PROFILES).join(run) };
        let [baseline, candidate] = files.each_ref().map(|file| Some(dir.join(Path::new(file).file_name()?)));
        Some([baseline?, candidate?])
    }

    /// Keeps what profiling one benchmark came to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_profile(&mut self, run: RunId, profile: &BenchmarkProfile) -> Result<(), RunError> {
        let json = written(profile, &format!("the profile of `{}`", profile.id.name))?;
        let insert = "INSERT INTO profiles (run, profile) VALUES (?1, ?2)";
        self.execute(insert, params![run.0, json], "cannot keep a profile")
    }

    /// The profiles of a run, in the order in which they were made. One that another duet wrote so that it cannot be read is left out: no verdict
    /// depends on it.
    pub(super) fn profiles(&self, run: i64) -> rusqlite::Result<Vec<BenchmarkProfile>> {
        let texts = self.texts("SELECT profile FROM profiles WHERE run = ?1 ORDER BY id", run)?;
        let mut profiles: Vec<BenchmarkProfile> =
            texts.iter().filter_map(|json| serde_json::from_str(json).ok()).collect();
        for profile in &mut profiles {
            // Where the store was moved, or is read from elsewhere, they lie beside it all the same.
            if let ProfileOutcome::Explained { files, .. } = &mut profile.outcome
                && !files.iter().all(|file| Path::new(file).is_file())
                && let Some(beside) = self.beside(&RunId(run).to_string(), files)
            {
                *files = beside.map(|path| path.display().to_string());
            }
        }
        Ok(profiles)
    }
}

/// The frames of both sides' profiles, or why there are none.
fn frames(files: [&Path; 2], difference: &ProfileDifference) -> Result<Vec<Frame>, String> {
    let mut tree = CallTree::default();
    let mut hit_ns = [0.0; 2];
    for (side, (role, path)) in Role::BOTH.into_iter().zip(files).enumerate() {
        let name = path.file_name().unwrap_or_default().display();
        let bytes = read_regular(path, FILE_BYTES_MAX, "read the profile").map_err(|e| match e {
            RunError::File { source, .. } => format!("`{name}` cannot be read: {source}"),
            other => other.to_string(),
        })?;
        let failed = |e: pprof::PprofError| format!("`{name}`: {e}");
        let period_ns = pprof::parse(&bytes).and_then(|pprof| pprof.add_stacks(role, &mut tree)).map_err(failed)?;
        // An equal part of each process, as in the difference: all made the same number of invocations.
        let operations = difference.invocations.saturating_mul(difference.processes[side].into()).max(1);
        hit_ns[side] = period_ns as f64 / operations as f64;
    }
    Ok(tree.frames(hit_ns))
}
