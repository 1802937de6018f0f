//! Versions, for programs.

use duetbench_core::report::VersionInfo;
use serde::Serialize;

/// One version.
#[derive(Serialize)]
pub(crate) struct VersionEntry<'a> {
    requested: &'a str,
    resolved: &'a str,
    artifact_digest: &'a str,
}

/// The two versions of a comparison.
#[derive(Serialize)]
pub(crate) struct VersionsEntry<'a> {
    baseline: VersionEntry<'a>,
    candidate: VersionEntry<'a>,
}

impl<'a> VersionEntry<'a> {
    pub(crate) fn of(version: &'a VersionInfo) -> VersionEntry<'a> {
        let VersionInfo { requested, resolved, artifact_digest } = version;
        VersionEntry { requested, resolved, artifact_digest }
    }
}

impl<'a> VersionsEntry<'a> {
    pub(crate) fn of(baseline: &'a VersionInfo, candidate: &'a VersionInfo) -> VersionsEntry<'a> {
        VersionsEntry { baseline: VersionEntry::of(baseline), candidate: VersionEntry::of(candidate) }
    }
}
