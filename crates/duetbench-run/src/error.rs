//! Errors of the outside world, with the remedy where there is one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use duetbench_core::Role;
use thiserror::Error;

/// The part of the outside world of which an error tells in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// A version, which does not exist or cannot be used.
    Version,
    /// The toolchain, which cannot be used.
    Toolchain,
    /// The benchmarks: there is nothing to measure.
    Benchmarks,
    /// A stored run, which is missing or unreadable.
    StoredRun,
    /// The kind of a stored run, which is another one than was asked for.
    Kind,
}

/// An error of the effects: names the file, version or command, and a remedy through [`RunError::advice`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A file or directory could not be used.
    #[error("cannot {action} `{}`: {source}", path.display())]
    File {
        /// The attempted action as a verb: `read`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A program could not be started or waited for.
    #[error("cannot run `{program}`: {source}")]
    Start {
        /// Its name.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// A program we depend on reported failure.
    #[error("`{command}` failed: {output}")]
    Tool {
        /// The command line, shortened.
        command: String,
        /// Its output, shortened.
        output: String,
    },
    /// Something is not as it must be.
    #[error("{what}")]
    Told {
        /// The part of the world.
        about: About,
        /// The error in words, naming the version, file or benchmark.
        what: String,
        /// Advice for the user.
        hint: Option<String>,
    },
    /// A version does not build.
    #[error("{} (`{version}`) does not build:\n{output}", role.side())]
    Build {
        /// The role of the version.
        role: Role,
        /// The version as typed.
        version: String,
        /// The compiler's words.
        output: String,
    },
    /// An argument for the harness cannot be passed on.
    #[error("`{argument}` cannot be passed on: {why}")]
    Argument {
        /// The argument as typed.
        argument: String,
        /// Why not, and what to use instead.
        why: String,
    },
    /// The store could not be read or written.
    #[error("the store `{}` {what}: {source}", path.display())]
    Store {
        /// The database file.
        path: PathBuf,
        /// The action that failed: `cannot be opened`.
        what: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A database is none of ours.
    #[error("`{}` is no store: {why}", path.display())]
    NoStore {
        /// The file.
        path: PathBuf,
        /// Why it is none.
        why: String,
    },
    /// The user or the system asked us to stop.
    #[error("interrupted")]
    Interrupted,
    /// Another run holds the machine.
    #[error("another run is measuring on this machine{}{}", told(holder), after(waited))]
    Locked {
        /// Who holds it, where that is known.
        holder: Option<String>,
        /// Duration of the wait.
        waited: Duration,
    },
}

impl RunError {
    /// Wraps an I/O error with what was attempted on which path.
    pub fn file(action: &'static str, path: &Path, source: io::Error) -> RunError {
        RunError::File { action, path: path.to_owned(), source }
    }

    /// A version does not exist or cannot be used.
    pub fn version(what: impl Into<String>) -> RunError {
        RunError::told(About::Version, what)
    }

    /// The toolchain cannot be used.
    pub fn toolchain(what: impl Into<String>) -> RunError {
        RunError::told(About::Toolchain, what)
    }

    /// There is nothing to measure.
    pub fn nothing_to_measure(what: impl Into<String>) -> RunError {
        RunError::told(About::Benchmarks, what)
    }

    /// A stored run is missing or unreadable.
    pub fn stored_run(what: impl Into<String>) -> RunError {
        RunError::told(About::StoredRun, what)
    }

    /// A stored run is of another kind than was asked for.
    pub fn other_kind(what: impl Into<String>) -> RunError {
        RunError::told(About::Kind, what)
    }

    fn told(about: About, what: impl Into<String>) -> RunError {
        RunError::Told { about, what: what.into(), hint: None }
    }

    /// The same with advice for the user, if it is told in words.
    #[must_use]
    pub fn hint(self, advice: impl Into<String>) -> RunError {
        self.hint_if(Some(advice.into()))
    }

    /// The same with advice where there is any.
    #[must_use]
    pub fn hint_if(mut self, advice: Option<String>) -> RunError {
        if let RunError::Told { hint, .. } = &mut self {
            *hint = advice;
        }
        self
    }

    /// The part of the world, where the error is told in words.
    pub fn about(&self) -> Option<About> {
        match self {
            RunError::Told { about, .. } => Some(*about),
            _ => None,
        }
    }

    /// Refuses an argument for the harness: why, and what to use instead.
    pub(crate) fn argument(argument: &str, why: impl Into<String>) -> RunError {
        RunError::Argument { argument: argument.to_owned(), why: why.into() }
    }

    /// Ends what is being done once somebody asked for it.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] when the flag is set.
    pub fn stop_if(interrupted: &AtomicBool) -> Result<(), RunError> {
        if interrupted.load(Ordering::Relaxed) { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// Advice for the user, where there is any.
    pub fn advice(&self) -> Option<String> {
        match self {
            RunError::Told { hint, .. } => hint.clone(),
            // The work tree has what git leaves out, and builds.
            RunError::Build { role: Role::Baseline, .. } => Some(
                "if it lacks files that git leaves out, as generated ones, make them in two directories, and compare these"
                    .into(),
            ),
            RunError::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some space; what was reported so far is stored".into())
            }
            RunError::Store { source, .. } => match source.sqlite_error_code()? {
                rusqlite::ErrorCode::DiskFull => Some("free some space; what was reported so far is stored".into()),
                rusqlite::ErrorCode::SystemIoFailure => Some(
                    "is the disk full or broken, or `ulimit -f` too low? What was reported so far is stored".into(),
                ),
                rusqlite::ErrorCode::ReadOnly
                | rusqlite::ErrorCode::CannotOpen
                | rusqlite::ErrorCode::PermissionDenied => {
                    Some("is it another user's? Make it yours, or name another one with `--db FILE`".into())
                }
                rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked => {
                    Some("another program uses it: try again once that has ended".into())
                }
                _ => None,
            },
            RunError::NoStore { .. } => Some("name a store of duet's with `--db FILE`; a new file becomes one".into()),
            RunError::Locked { .. } => Some("leave out `--no-wait`, or wait longer: `--wait TIME`".into()),
            _ => None,
        }
    }
}

fn told(holder: &Option<String>) -> String {
    holder.as_ref().map_or_else(String::new, |holder| format!(": {holder}"))
}

fn after(waited: &Duration) -> String {
    if waited.as_secs() == 0 { String::new() } else { format!(", after {} s of waiting", waited.as_secs()) }
}
