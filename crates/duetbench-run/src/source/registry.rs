//! Registries that hold published versions. Each harness knows its own.

use std::path::Path;

use super::Source;
use crate::error::RunError;

/// In place of a version: the newest one.
pub(super) const LATEST: &str = "latest";

/// A registry from which the published versions of a harness's projects are had.
pub trait Registry: Sync {
    /// The form of its versions, with an example.
    fn form(&self) -> &'static str;

    /// Whether a project of it can have this name.
    fn takes(&self, name: &str) -> bool;

    /// Fetches a version, `name@version`; what has to be made is made below `scratch`.
    ///
    /// # Errors
    /// When there is no such version, or it cannot be had.
    fn fetch(&self, version: &str, scratch: &Path) -> Result<Source, RunError>;

    /// All published versions of a project, the oldest first.
    ///
    /// # Errors
    /// When they are not known.
    fn versions(&self, name: &str) -> Result<Vec<String>, RunError>;
}

/// The name and the version of `name@version`.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once('@').filter(|(name, version)| !name.is_empty() && !version.is_empty() && !version.starts_with('{'))
}

/// Whether a name begins with the name of a host.
pub(super) fn has_host(name: &str) -> bool {
    name.split('/').next().is_some_and(|first| first.contains('.'))
}

/// The registry of a published version.
pub(super) fn of<'r>(version: &str, registries: &[&'r dyn Registry]) -> Result<&'r dyn Registry, RunError> {
    let name = split(version).map_or(version, |(name, _)| name);
    registries.iter().find(|registry| registry.takes(name)).copied().ok_or_else(|| {
        let forms: Vec<&str> = registries.iter().map(|registry| registry.form()).collect();
        RunError::version(format!("`{version}` is no revision, and no name of a published version"))
            .hint(format!("published versions are {}", forms.join(", or ")))
    })
}
