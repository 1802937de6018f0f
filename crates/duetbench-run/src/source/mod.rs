//! From what the user typed to source trees on disk: git revisions, directories, published versions.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::tree;

mod git;
mod history;
mod registry;

pub use git::{default_base, short as short_commit};
pub use history::{Commit, first_parents, merged, merged_between, releases};
pub use registry::Registry;

/// A version as the user typed it, by its form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum VersionRequest {
    /// The checkout around the current directory, as it is.
    WorkTree,
    /// A git revision of that checkout.
    Revision(String),
    /// A directory.
    Directory {
        /// The argument as typed.
        typed: String,
        /// Its path.
        path: PathBuf,
    },
    /// A version published in a registry, `name@version`.
    #[serde(rename = "Module")]
    Published(String),
    /// A jar with benchmarks in it.
    Jar {
        /// The argument as typed.
        typed: String,
        /// Its path.
        path: PathBuf,
    },
    /// A command line that is a version itself.
    Command(String),
}

impl VersionRequest {
    /// Reads a version as typed: `path@version` whose first element has a dot is a published version, and so is `name@1.2.3` where no
    /// revision is called that; what begins with `.` or `/` or names an existing directory that is no revision is a directory, what
    /// ends in `.jar` is a jar, everything else is a revision.
    pub fn parse(text: &str, cwd: &Path) -> VersionRequest {
        let looks_like_path = text.starts_with('.') || text.starts_with('/') || text.ends_with('/');
        let is_published = !looks_like_path
            && registry::split(text).is_some_and(|(name, version)| {
                let numbered = version == registry::LATEST || version.starts_with(|c: char| c.is_ascii_digit());
                registry::has_host(name) || (numbered && !git::is_revision(cwd, text))
            });
        if text.ends_with(".jar") {
            VersionRequest::Jar { typed: text.to_owned(), path: cwd.join(text) }
        } else if is_published {
            VersionRequest::Published(text.to_owned())
        } else if looks_like_path || (cwd.join(text).is_dir() && !git::is_revision(cwd, text)) {
            VersionRequest::Directory { typed: text.to_owned(), path: cwd.join(text) }
        } else {
            VersionRequest::Revision(text.to_owned())
        }
    }
}

impl VersionRequest {
    /// The same as long as it exists: a revision by its commit, since what `HEAD~1` or a branch is called moves, and so does the latest
    /// release; `resolved` is what it was resolved to.
    #[must_use]
    pub fn pinned(self, cwd: &Path, resolved: &str) -> VersionRequest {
        match self {
            VersionRequest::Published(text) => {
                // The side whose benchmarks are measured may stand behind it.
                let release = resolved.split(", ").next().filter(|release| release.contains('@'));
                VersionRequest::Published(release.map_or(text, str::to_owned))
            }
            VersionRequest::Revision(text) => VersionRequest::Revision(git::commit_of(cwd, &text).unwrap_or(text)),
            other => other,
        }
    }
}

/// Whether a version can be there, found out without making anything: what a registry has is asked for when it is fetched.
///
/// # Errors
/// When there is no such version, with the reason.
pub fn check(request: &VersionRequest, cwd: &Path) -> Result<(), RunError> {
    match request {
        VersionRequest::WorkTree | VersionRequest::Published(_) | VersionRequest::Command(_) => Ok(()),
        VersionRequest::Revision(revision) => git::found(revision, cwd).map(|_| ()),
        VersionRequest::Directory { typed, path } => directory(typed, path).map(|_| ()),
        VersionRequest::Jar { typed, path } => jar(typed, path, cwd).map(|_| ()),
    }
}

/// Whether a checkout of the repository around a file has it: git keeps it, or would with all else that is not ignored. Outside of
/// repositories, whether it is there.
pub fn is_kept(file: &Path) -> bool {
    is_listed(file, &["--cached", "--others", "--exclude-standard"]).unwrap_or_else(|| file.exists())
}

/// Whether git tracks a file; where git fails in a checkout, whether it is there.
pub fn is_tracked(file: &Path) -> bool {
    let fails_in_checkout = || file.exists() && file.parent().is_some_and(|dir| git::top_level(dir).is_some());
    is_listed(file, &["--cached"]).unwrap_or_else(fails_in_checkout)
}

/// Whether git lists a file among those of these kinds; absent where it tells nothing.
fn is_listed(file: &Path, kinds: &[&str]) -> Option<bool> {
    let (Some(dir), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Some(false);
    };
    let args = [&["--literal-pathspecs", "ls-files"], kinds, &["--", name]].concat();
    git::git(dir, args).ok().map(|listed| !listed.is_empty())
}

/// A source tree ready to be built; what was made for it is removed on drop.
#[derive(Debug)]
pub struct Source {
    /// The argument as typed, or the default that stood in for it.
    pub requested: String,
    /// The resolved version, for people: a commit by the beginning of its name.
    pub resolved: String,
    /// The full name of the commit, where the version is one.
    commit: Option<String>,
    /// The project's directory, canonical.
    pub dir: PathBuf,
    /// The tree it belongs to (repository or module root): local replacements must stay inside.
    pub tree: PathBuf,
    /// The jar or the command line, where the version is no source tree.
    finished: Option<Finished>,
    /// The tree is a copy that was made for it, in the scratch directory.
    copied: bool,
    /// It comes from a registry.
    published: bool,
    /// The worktree that was made for it; removed on drop.
    worktree: Option<git::Worktree>,
}

/// A version that needs no building.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Finished {
    Jar(PathBuf),
    Command(String),
}

impl Source {
    /// A directory that belongs to no larger tree, of which nothing was made for us.
    fn of(requested: &str, resolved: impl Into<String>, dir: PathBuf) -> Source {
        Source {
            requested: requested.to_owned(),
            resolved: resolved.into(),
            commit: None,
            tree: dir.clone(),
            dir,
            finished: None,
            copied: false,
            published: false,
            worktree: None,
        }
    }

    /// Whether both are one version, which needs to be built once.
    pub fn is_same(&self, other: &Source) -> bool {
        self.resolved == other.resolved && self.commit == other.commit
    }

    /// Whether the tree was made for us, so that building in it touches nobody's files.
    pub fn is_ours(&self) -> bool {
        self.copied || self.worktree.is_some()
    }

    /// Whether it is what a registry holds, and no more of the repository.
    pub fn is_published(&self) -> bool {
        self.published
    }

    /// Makes a copy of the tree below the scratch directory `scratch` where it is somebody else's, so that files in it can be changed.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub(crate) fn make_ours(&mut self, scratch: &Path) -> Result<(), RunError> {
        if self.is_ours() {
            return Ok(());
        }
        let inside = self.dir.strip_prefix(&self.tree).map(Path::to_owned).unwrap_or_default();
        let copy = (0..).map(|n| scratch.join(format!("copy-{n}"))).find(|p| !p.exists()).unwrap_or_default();
        // The history, and our own store, are no part of what is built.
        tree::copy(&self.tree, &copy, &|entry| entry.file_name() != ".git" && entry.file_name() != ".duet")?;
        self.tree = canonical(&copy)?;
        self.dir = self.tree.join(inside);
        self.copied = true;
        Ok(())
    }

    /// Whether the version is a jar or a command line, of which nothing is built.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// The jar that this version is, where it is one.
    pub fn jar(&self) -> Option<&Path> {
        match &self.finished {
            Some(Finished::Jar(path)) => Some(path),
            _ => None,
        }
    }

    /// The command line that this version is, where it is one.
    pub fn command(&self) -> Option<&str> {
        match &self.finished {
            Some(Finished::Command(line)) => Some(line),
            _ => None,
        }
    }

    /// Makes a version's source tree available; published ones come from these registries. `scratch` is a private directory for what
    /// has to be made.
    ///
    /// # Errors
    /// When the version does not exist or cannot be used, with the reason.
    pub fn resolve(
        request: &VersionRequest,
        cwd: &Path,
        scratch: &Path,
        registries: &[&dyn Registry],
    ) -> Result<Source, RunError> {
        match request {
            VersionRequest::WorkTree => git::work_tree(cwd),
            VersionRequest::Revision(revision) => git::revision(revision, cwd, scratch),
            VersionRequest::Directory { typed, path } => directory(typed, path),
            VersionRequest::Published(version) => registry::of(version, registries)?.fetch(version, scratch),
            VersionRequest::Jar { typed, path } => jar(typed, path, cwd),
            VersionRequest::Command(line) => command(line, cwd),
        }
    }
}

impl Source {
    /// A copy of what a registry holds for a version, made below the scratch directory `scratch`.
    pub(crate) fn published(
        requested: &str,
        resolved: String,
        original: &Path,
        scratch: &Path,
    ) -> Result<Source, RunError> {
        let copy = (0..).map(|n| scratch.join(format!("published-{n}"))).find(|p| !p.exists()).unwrap_or_default();
        tree::copy(original, &copy, &|_| true)?;
        Ok(Source { copied: true, published: true, ..Source::of(requested, resolved, canonical(&copy)?) })
    }
}

/// A jar; its benchmarks run in the current directory, as `java -jar` would have them.
fn jar(typed: &str, path: &Path, cwd: &Path) -> Result<Source, RunError> {
    let path = canonical(path).map_err(|_| {
        RunError::version(format!("there is no jar `{typed}`"))
            .hint("build it first, or name a directory or a git revision that `duet` builds itself")
    })?;
    let resolved = path.display().to_string();
    Ok(Source { finished: Some(Finished::Jar(path)), ..Source::of(typed, resolved, canonical(cwd)?) })
}

fn command(line: &str, cwd: &Path) -> Result<Source, RunError> {
    Ok(Source { finished: Some(Finished::Command(line.to_owned())), ..Source::of(line, line, canonical(cwd)?) })
}

fn directory(typed: &str, dir: &Path) -> Result<Source, RunError> {
    let canonical = canonical(dir).map_err(|_| {
        RunError::version(format!("there is no directory `{typed}`"))
            .hint("a version is a git revision, a directory, or a published one as `name@version`")
    })?;
    if !canonical.is_dir() {
        return Err(RunError::version(format!("`{typed}` is not a directory")));
    }
    let tree = git::top_level(&canonical).unwrap_or_else(|| canonical.clone());
    Ok(Source { tree, ..Source::of(typed, canonical.display().to_string(), canonical) })
}

fn canonical(path: &Path) -> Result<PathBuf, RunError> {
    fs::canonicalize(path).map_err(|e| RunError::file("find", path, e))
}

#[cfg(test)]
mod tests {
    use super::{Source, VersionRequest};

    #[test]
    fn commits_that_look_alike_are_two_versions() {
        let commit = |full: &str| Source {
            commit: Some(full.to_owned()),
            ..Source::of("v1", format!("{} Tidy up", &full[..10]), "/".into())
        };
        let [one, other] = ["88b2ce3cf6a1", "88b2ce3cf68a"].map(commit);
        assert!(one.is_same(&commit("88b2ce3cf6a1")) && !one.is_same(&other));
    }

    #[test]
    fn versions_are_told_apart_by_their_form() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("old")).unwrap();
        let kind = |text: &str| match VersionRequest::parse(text, dir.path()) {
            VersionRequest::WorkTree => "work tree",
            VersionRequest::Revision(_) => "revision",
            VersionRequest::Directory { .. } => "directory",
            VersionRequest::Published(_) => "published",
            VersionRequest::Jar { .. } => "jar",
            VersionRequest::Command(_) => "command",
        };
        for (text, want) in [
            (".", "directory"),
            ("../elsewhere", "directory"),
            ("/abs", "directory"),
            ("target/benchmarks.jar", "jar"),
            ("old", "directory"),
            ("feature/x", "revision"),
            ("v1.2.0", "revision"),
            ("HEAD@{1}", "revision"),
            ("main@{upstream}", "revision"),
            ("github.com/a/b/v2@v2.0.5", "published"),
            ("example.com/m@latest", "published"),
            ("regex-automata@0.4.7", "published"),
            ("itoa@latest", "published"),
            ("me@feature", "revision"),
            ("itoa@", "revision"),
            ("@1.0", "revision"),
        ] {
            assert_eq!(kind(text), want, "{text}");
        }
    }
}
