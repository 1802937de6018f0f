//! The commits between two others, along first parents: what `git bisect --first-parent` would search. The releases of a project are a
//! line of the same kind.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::git::{commit_of, git, repository_of, short};
use super::registry::{self, Registry};
use crate::error::RunError;

/// A commit of a line of first parents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its full name: of a release, `name@version`.
    pub id: String,
    /// Name of the tree that it holds: equal ones are equal sources. That of a release is its own.
    pub tree: String,
    /// The first line of its message.
    pub subject: String,
    /// Whether it merges another line, whose commits are not searched.
    pub merges: bool,
}

impl Commit {
    /// Its name as people read it.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.rsplit_once('@').map_or_else(|| short(&self.id), |(_, version)| version)
    }
}

/// The commits from a good one to a bad one along first parents, both included.
///
/// # Errors
/// When one of them is no commit, or the good one is not on the line that leads to the bad one.
pub fn first_parents(good: &str, bad: &str, cwd: &Path) -> Result<Vec<Commit>, RunError> {
    let repository = repository_of(cwd, "`duet bisect`")?;
    let commit = |text: &str| {
        commit_of(&repository, text).ok_or_else(|| RunError::Source {
            what: format!("there is no commit `{text}` in `{}`", repository.display()),
            hint: Some(
                "`git log --oneline` lists commits; a shallow clone may lack it (`git fetch --unshallow`)".into(),
            ),
        })
    };
    let (from, to) = (commit(good)?, commit(bad)?);
    if from == to {
        return Err(RunError::Source {
            what: format!("`{good}` and `{bad}` are the same commit: there is nothing to search"),
            hint: Some("name a good commit and a later bad one, as in `duet bisect v1.2.0 HEAD`".into()),
        });
    }
    let log = |arguments: &[&str]| -> Result<Vec<Commit>, RunError> {
        let all = [&["log", "--first-parent", "--reverse", "--format=%H%x1f%T%x1f%P%x1f%s"], arguments].concat();
        Ok(git(&repository, all)?.lines().filter_map(parsed).collect())
    };
    let range = format!("{from}..{to}");
    let after = log(&[&range])?;
    let parent = after.first().and_then(|first| commit_of(&repository, &format!("{}^1", first.id)));
    if parent.as_ref() != Some(&from) {
        let hint = match commit_of(&repository, &format!("{to}^1")).is_some().then_some(parent).flatten() {
            Some(parent) => format!("`{}` is: begin with it if it is good", short(&parent)),
            None => format!("name a good commit that `git log --first-parent {bad}` lists"),
        };
        let what = format!("`{good}` is not on the line of first parents that leads to `{bad}`");
        return Err(RunError::Source { what, hint: Some(hint) });
    }
    let mut commits = log(&["-1", &from])?;
    commits.extend(after);
    Ok(commits)
}

/// The releases of a project from a good one to a bad one, both included; what was published before its time, as `-rc.1`, only where it
/// is one of the two.
///
/// # Errors
/// When no registry knows the project's releases, or one of the two is none of them.
pub fn releases(good: &str, bad: &str, registries: &[&dyn Registry]) -> Result<Vec<Commit>, RunError> {
    let refused = |what: String| RunError::Source {
        what,
        hint: Some(
            "name two releases of one project, as in `duet bisect example.com/m@v1.2.0 example.com/m@v1.9.0`".into(),
        ),
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
        Commit { tree: id.clone(), id, subject: path.clone(), merges: false }
    };
    Ok(published[from..=to].iter().filter(wanted).map(release).collect())
}

fn parsed(line: &str) -> Option<Commit> {
    let mut fields = line.splitn(4, '\u{1f}');
    let (id, tree, parents) = (fields.next()?.to_owned(), fields.next()?.to_owned(), fields.next()?);
    let subject = fields.next().unwrap_or_default().to_owned();
    Some(Commit { id, tree, subject, merges: parents.contains(' ') })
}
