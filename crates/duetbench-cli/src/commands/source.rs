//! What a recording is read from: a stored run, or a result file of another tool.

use std::path::Path;

use duetbench_core::{Recording, Role};
use duetbench_run::import;
use duetbench_run::store::{Provenance, Store};

use super::Context;
use crate::failure::Failure;

/// A recording, with what is known of where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The recording.
    pub recording: Recording,
    /// Where it came from; files do not say.
    pub provenance: Option<Provenance>,
}

/// Reads the recording that was typed: `latest`, `r12` or `12` is a run, everything else a file. A file of such a name is typed
/// with its folder, as `./12`.
///
/// # Errors
/// When there is no such run or file, or it cannot be understood.
pub fn recording(from: impl AsRef<Path>, context: &Context) -> Result<Recording, Failure> {
    load(from, context).map(|source| source.recording)
}

/// Reads what [`recording`] does, with what is known of where it came from.
///
/// # Errors
/// When there is no such run or file, or it cannot be understood.
pub fn load(from: impl AsRef<Path>, context: &Context) -> Result<Source, Failure> {
    let from = from.as_ref();
    match from.to_str().filter(|text| is_run(text)) {
        Some(run) => of_run(run, context),
        None => Ok(Source { recording: import::read(from)?, provenance: None }),
    }
}

/// Whether a text names a stored run.
#[must_use]
pub fn is_run(text: &str) -> bool {
    let number = text.strip_prefix('r').unwrap_or(text);
    text == "latest" || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The recording of a stored run; of a comparison the candidate, which is the version that goes on.
fn of_run(run: &str, context: &Context) -> Result<Source, Failure> {
    let stored = Store::open_existing(&context.db())?.load(run)?;
    let role = Role::Candidate;
    Ok(Source { recording: stored.recording(role), provenance: Some(stored.provenance(role)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_from_files_by_their_name() {
        let check = |text, want| assert_eq!(is_run(text), want, "{text}");
        check("latest", true);
        check("r12", true);
        check("12", true);
        check("./12", false);
        check("r", false);
        check("r12.csv", false);
        check("zap-v1.23.0.csv", false);
    }
}
