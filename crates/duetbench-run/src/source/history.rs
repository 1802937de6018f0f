//! Lines of commits: those between two others along first parents, as `git bisect --first-parent` would search them, and those that a merge
//! brought in. The releases of a project are a line of the same kind.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::git::{commit_of, git, repository_of, short};
use super::registry::{self, Registry};
use crate::error::RunError;

/// A commit of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its full name: of a release, `name@version`.
    pub id: String,
    /// Name of the tree that it holds: equal ones are equal sources. That of a release is its own.
    pub tree: String,
    /// The first line of its message.
    pub subject: String,
    /// Full names of its parents; a release has none.
    pub parents: Vec<String>,
}

impl Commit {
    /// Its name as people read it.
    pub fn short(&self) -> &str {
        self.id.rsplit_once('@').map_or_else(|| short(&self.id), |(_, version)| version)
    }

    /// Whether it merges other lines.
    pub fn merges(&self) -> bool {
        self.parents.len() > 1
    }
}

/// The commits from a good one to a bad one along first parents, both included.
///
/// # Errors
/// When one of them is no commit, or the good one is not on the line that leads to the bad one.
pub fn first_parents(good: &str, bad: &str, cwd: &Path) -> Result<Vec<Commit>, RunError> {
    let repository = repository_of(cwd, "`duet bisect`")?;
    let commit = |text: &str| {
        commit_of(&repository, text).ok_or_else(|| {
            RunError::version(format!("there is no commit `{text}` in `{}`", repository.display()))
                .hint("`git log --oneline` lists commits; a shallow clone may lack it (`git fetch --unshallow`)")
        })
    };
    let (from, to) = (commit(good)?, commit(bad)?);
    if from == to {
        return Err(RunError::version(format!("`{good}` and `{bad}` are the same commit: there is nothing to search"))
            .hint("name a good commit and a later bad one, as in `duet bisect v1.2.0 HEAD`"));
    }
    let after = log(&repository, &["--first-parent", "--reverse", &format!("{from}..{to}")])?;
    let parent = after.first().and_then(|first| commit_of(&repository, &format!("{}^1", first.id)));
    if parent.as_ref() != Some(&from) {
        let hint = match commit_of(&repository, &format!("{to}^1")).is_some().then_some(parent).flatten() {
            Some(parent) => format!("`{}` is: begin with it if it is good", short(&parent)),
            None => format!("name a good commit that `git log --first-parent {bad}` lists"),
        };
        let what = format!("`{good}` is not on the line of first parents that leads to `{bad}`");
        return Err(RunError::version(what).hint(hint));
    }
    let mut commits = log(&repository, &["-1", &from])?;
    commits.extend(after);
    Ok(commits)
}

/// The line by which a merge brought in a parent of it, the earliest commit first: from where it left the `known` commits and what led to
/// them, up to that parent. No commit behind the first one is among those, so that each step on this line is of what was brought in.
///
/// A line that had itself merged what is known (`git merge main`) begins there: its earlier commits are a merge's further inside.
/// Empty where all of it is known, or where it begins anew.
///
/// # Errors
/// When git fails.
pub fn merged(parent: &str, known: &[&str], cwd: &Path) -> Result<Vec<Commit>, RunError> {
    let repository = repository_of(cwd, "`duet bisect`")?;
    let brought = log(&repository, &[&[parent, "--not"], known].concat())?;
    let mut brought: BTreeMap<String, Commit> = brought.into_iter().map(|commit| (commit.id.clone(), commit)).collect();
    let mut line = Vec::new();
    let mut next = brought.remove(parent);
    while let Some(commit) = next {
        let of_known = commit.parents.iter().rfind(|parent| !brought.contains_key(*parent)).cloned();
        next = commit.parents.first().filter(|_| of_known.is_none()).and_then(|first| brought.remove(first));
        line.push(commit);
        if let Some(base) = of_known {
            line.extend(log(&repository, &["-1", &base])?);
            line.reverse();
            return Ok(line);
        }
    }
    Ok(Vec::new())
}

/// Number of commits between two others that are not on the line of first parents: those that merges brought in.
///
/// # Errors
/// When git fails.
pub fn merged_between(good: &str, bad: &str, cwd: &Path) -> Result<usize, RunError> {
    let repository = repository_of(cwd, "`duet bisect`")?;
    let range = format!("{good}..{bad}");
    let count = |arguments: &[&str]| -> Result<usize, RunError> {
        let counted = git(&repository, [&["rev-list", "--count"], arguments].concat())?;
        Ok(counted.trim().parse().unwrap_or(0))
    };
    Ok(count(&[&range])?.saturating_sub(count(&["--first-parent", &range])?))
}

fn log(repository: &Path, arguments: &[&str]) -> Result<Vec<Commit>, RunError> {
    let all = [&["log", "--format=%H%x1f%T%x1f%P%x1f%s"], arguments].concat();
    Ok(git(repository, all)?.lines().filter_map(parsed).collect())
}

/// The releases of a project from a good one to a bad one, both included; what was published before its time, as `-rc.1`, only where it
/// is one of the two.
///
/// # Errors
/// When no registry knows the project's releases, or one of the two is none of them.
pub fn releases(good: &str, bad: &str, registries: &[&dyn Registry]) -> Result<Vec<Commit>, RunError> {
    let refused = |what: String| {
        RunError::version(what)
            .hint("name two releases of one project, as in `duet bisect example.com/m@v1.2.0 example.com/m@v1.9.0`")
    };
    let split = |text| registry::split(text).map(|(name, version)| (name.to_owned(), version.to_owned()));
    let ((path, first), (other, last)) =
        split(good).zip(split(bad)).ok_or_else(|| refused(format!("`{good}` or `{bad}` has no version")))?;
    if path != other {
        return Err(refused(format!("`{path}` and `{other}` are two projects")));
    }
    let published = registry::of(good, registries)?.versions(&path)?;
    let place = |version: &str| {
        let unknown = || refused(format!("`{path}` has no release `{version}`"));
        published.iter().position(|known| known == version).ok_or_else(unknown)
    };
    let (from, to) = (place(&first)?, place(&last)?);
    if from >= to {
        return Err(refused(format!("`{good}` is not older than `{bad}`")));
    }
    let wanted = |version: &&String| !version.contains('-') || **version == first || **version == last;
    let release = |version: &String| {
        let id = format!("{path}@{version}");
        Commit { tree: id.clone(), id, subject: path.clone(), parents: Vec::new() }
    };
    Ok(published[from..=to].iter().filter(wanted).map(release).collect())
}

fn parsed(line: &str) -> Option<Commit> {
    let mut fields = line.splitn(4, '\u{1f}');
    let (id, tree) = (fields.next()?.to_owned(), fields.next()?.to_owned());
    let parents = fields.next()?.split_whitespace().map(str::to_owned).collect();
    let subject = fields.next().unwrap_or_default().to_owned();
    Some(Commit { id, tree, subject, parents })
}
