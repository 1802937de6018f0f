//! Git revisions, through worktrees of our own: the user's work tree, index and stash are never touched.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::report::VersionInfo;

use super::{Source, canonical};
use crate::error::RunError;
use crate::scratch;
use crate::tool::Tool;

/// A worktree of ours; unregistered and removed on drop.
#[derive(Debug)]
pub(super) struct Worktree {
    repository: PathBuf,
    path: PathBuf,
}

impl Drop for Worktree {
    fn drop(&mut self) {
        remove_worktree(&self.repository, &self.path);
        scratch::remove_tree(&self.path);
        self.unregister_gone();
    }
}

impl Worktree {
    /// Unregisters worktrees of ours that are gone: removing them failed, or who made them was killed. `git worktree prune` would
    /// unregister the user's own as well whose disk is not there at the moment.
    fn unregister_gone(&self) {
        let listed = git(&self.repository, ["worktree", "list", "--porcelain"]).unwrap_or_default();
        let paths = listed.lines().filter_map(|line| line.strip_prefix("worktree ")).map(Path::new);
        let gone = paths.filter(|path| *path == self.path || scratch::is_gone(path));
        gone.for_each(|path| remove_worktree(&self.repository, path));
    }
}

/// Removes a worktree, or git's note of one that is not there any more.
fn remove_worktree(repository: &Path, path: &Path) {
    // Twice: one that was being added when git was killed is locked.
    let args = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
    let _ = Tool::new("git", args.into_iter().chain([path.as_os_str()]), repository).output();
}

pub(super) fn git<'a>(dir: &Path, args: impl IntoIterator<Item = &'a str>) -> Result<String, RunError> {
    // No hooks of the user's, no optional locks that could disturb a concurrent git, messages in one language.
    let all = ["-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"].into_iter().chain(args);
    Tool::new("git", all, dir).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C").text()
}

/// The root of the checkout around a folder, also where git refuses to tell it.
pub(super) fn top_level(dir: &Path) -> Option<PathBuf> {
    told_top_level(dir).ok().or_else(|| root_above(dir))
}

fn told_top_level(dir: &Path) -> Result<PathBuf, RunError> {
    git(dir, ["rev-parse", "--show-toplevel"]).map(PathBuf::from)
}

/// The nearest folder that looks like the root of a checkout. Git may fail in one: it belongs to another user, or there is no git.
fn root_above(dir: &Path) -> Option<PathBuf> {
    let dir = fs::canonicalize(dir).ok()?;
    let is_root = |dir: &Path| {
        let inside = dir.join(".git");
        // A worktree and a submodule have a file.
        inside.is_file() || inside.join("HEAD").is_file()
    };
    dir.ancestors().find(|dir| is_root(dir)).map(Path::to_owned)
}

pub(super) fn is_revision(dir: &Path, text: &str) -> bool {
    commit_of(dir, text).is_some()
}

/// The full name of the commit, where the text names one.
pub(super) fn commit_of(dir: &Path, text: &str) -> Option<String> {
    if text.starts_with('-') {
        return None;
    }
    git(dir, ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{text}^{{commit}}")])
        .ok()
        .map(|out| out.lines().last().unwrap_or_default().to_owned())
}

pub(super) fn repository_of(cwd: &Path, wanted: &str) -> Result<PathBuf, RunError> {
    told_top_level(cwd).map_err(|e| {
        RunError::version(match root_above(cwd) {
            Some(root) => format!("{wanted} cannot be read from the checkout `{}`: {e}", root.display()),
            None => format!("{wanted} needs a git checkout, and `{}` is not inside one", cwd.display()),
        })
        .hint("name two directories or two published modules, as in `duet compare ../old ../new`")
    })
}

/// The base when none is given: the merge base of the checkout and its default branch, with the words that say so.
///
/// # Errors
/// Outside a checkout, without a default branch, or when there is nothing to compare.
pub fn default_base(cwd: &Path) -> Result<String, RunError> {
    let repository = repository_of(cwd, "`duet compare` without a base")?;
    let branch = default_branch(&repository).ok_or_else(|| {
        no_commit_yet(&repository).unwrap_or_else(|| {
            RunError::version("cannot tell the default branch of this repository")
                .hint("name the base, as in `duet compare HEAD~1`")
        })
    })?;
    let base = git(&repository, ["merge-base", &branch, "HEAD"]).map_err(|_| {
        RunError::version(format!("`HEAD` and the default branch `{branch}` have no common commit"))
            .hint("fetch the full history (a shallow clone has none), or name the base")
    })?;
    let head = git(&repository, ["rev-parse", "HEAD"])?;
    let changed = !git(&repository, ["status", "--porcelain"])?.is_empty();
    if base == head && !changed {
        return Err(RunError::version(format!(
            "the work tree is what `{branch}` already has (`{}`): there is nothing to compare",
            short(&base)
        ))
        .hint("compare with an earlier commit, as in `duet compare HEAD~1`"));
    }
    Ok(base)
}

/// The error that a repository has nothing to compare with, where it has no commit.
fn no_commit_yet(repository: &Path) -> Option<RunError> {
    let told = || RunError::version(format!("the repository `{}` has no commit yet", repository.display()));
    let remedy = "commit a version to compare with, or compare two directories, as in `duet compare ../old ../new`";
    (!is_revision(repository, "HEAD")).then(|| told().hint(remedy))
}

fn default_branch(repository: &Path) -> Option<String> {
    let remote = git(repository, ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"]).ok();
    remote
        .into_iter()
        .chain(
            ["refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"]
                .map(String::from),
        )
        .find(|name| is_revision(repository, name))
}

pub(super) fn work_tree(cwd: &Path) -> Result<Source, RunError> {
    let tree = top_level(cwd);
    let state = match &tree {
        None => String::new(),
        Some(_) if told_top_level(cwd).is_err() => " (git does not tell its state)".to_owned(),
        Some(tree) => {
            let head = commit_of(tree, "HEAD").unwrap_or_default();
            let changed = git(tree, ["status", "--porcelain"]).is_ok_and(|s| !s.is_empty());
            format!(" ({}{})", short(&head), if changed { " with changes" } else { "" })
        }
    };
    let source = Source::of(VersionInfo::WORK_TREE, format!("work tree{state}"), canonical(cwd)?);
    Ok(Source { tree: tree.unwrap_or_else(|| source.dir.clone()), ..source })
}

/// The repository around a folder, and the full name of the commit that a revision is in it.
pub(super) fn found(text: &str, cwd: &Path) -> Result<(PathBuf, String), RunError> {
    let repository = repository_of(cwd, &format!("the revision `{text}`"))?;
    let commit = commit_of(&repository, text).ok_or_else(|| {
        no_commit_yet(&repository).unwrap_or_else(|| {
            RunError::version(format!(
                "there is no revision, directory or published version `{text}` in `{}`",
                repository.display()
            ))
            .hint("`git log --oneline` lists revisions; a shallow clone may lack it (`git fetch --unshallow`)")
        })
    })?;
    Ok((repository, commit))
}

pub(super) fn revision(text: &str, cwd: &Path, scratch: &Path) -> Result<Source, RunError> {
    let (repository, commit) = found(text, cwd)?;
    let path = fresh_path(scratch, &commit);
    let path_text = path.to_string_lossy().into_owned();
    git(&repository, ["worktree", "add", "--quiet", "--detach", "--force", &path_text, &commit]).map_err(|e| {
        RunError::version(format!("`{text}` cannot be checked out: {e}")).hint(
            "where the repository cannot be written to, compare two directories, or revisions of a copy (`git clone`)",
        )
    })?;
    let worktree = Worktree { repository: repository.clone(), path };
    if worktree.path.join(".gitmodules").exists() {
        check_out_submodules(&worktree.path).map_err(|e| {
            RunError::version(format!("the submodules of `{text}` cannot be checked out: {e}"))
                .hint("check each version out with its submodules and compare the two directories")
        })?;
    }
    let prefix = git(cwd, ["rev-parse", "--show-prefix"])?;
    let dir = worktree.path.join(&prefix);
    if !dir.is_dir() {
        let (root, folder) = (repository.display(), prefix.trim_end_matches('/'));
        let hint = format!(
            "run duet where both versions have one, as in `{root}`: `--packages ./{folder}` chooses Go's packages there"
        );
        return Err(RunError::version(format!("`{text}` has no directory `{prefix}`")).hint(hint));
    }
    let subject = git(&repository, ["log", "-1", "--no-show-signature", "--format=%s", &commit]).unwrap_or_default();
    let (resolved, tree) = (format!("{} {subject}", short(&commit)), canonical(&worktree.path)?);
    let commit = Some(commit);
    Ok(Source { tree, commit, worktree: Some(worktree), ..Source::of(text, resolved.trim_end(), canonical(&dir)?) })
}

/// Checks out the submodules of a worktree. Git notes where they come from in the settings that all worktrees share, the user's own
/// among them; what was not there before goes again.
fn check_out_submodules(tree: &Path) -> Result<(), RunError> {
    let noted = || -> Result<BTreeSet<String>, RunError> {
        let names = git(tree, ["config", "--local", "--name-only", "--list"])?;
        Ok(names.lines().filter(|name| name.starts_with("submodule.")).map(str::to_owned).collect())
    };
    let before = noted()?;
    let checked_out = git(tree, ["submodule", "update", "--init", "--recursive", "--quiet"]);
    for name in noted().unwrap_or_default().difference(&before) {
        let _ = git(tree, ["config", "--local", "--unset-all", name]);
    }
    checked_out.map(drop)
}

/// A path in the scratch directory that does not exist yet; one commit may be asked for twice.
fn fresh_path(scratch: &Path, commit: &str) -> PathBuf {
    (0..).map(|n| scratch.join(format!("tree-{}-{n}", short(commit)))).find(|p| !p.exists()).unwrap_or_default()
}

/// As much of a commit's full name as reports show.
pub fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}
