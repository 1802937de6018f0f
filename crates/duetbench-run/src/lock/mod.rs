//! One run per machine at a time: two runs at once would measure each other. Whoever comes while one measures waits for its turn.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::error::RunError;
use ticket::Ticket;

mod holder;
mod ticket;

/// Interval at which somebody who waits looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Longest time the lock may be free before somebody out of turn takes it: whoever is before us has stopped, or only pretends to wait.
const TURN_MAX: Duration = Duration::from_secs(20);

/// Held while measuring; released by dropping it or by dying.
#[derive(Debug)]
pub struct MachineLock {
    file: File,
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        // Nobody shall be told to wait for us any more.
        let _ = self.file.set_len(0);
    }
}

/// Where the lock of this machine lies.
pub fn default_path() -> PathBuf {
    PathBuf::from("/tmp/duetbench.lock")
}

/// State of the queue while one waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Who measures, where that is known.
    pub holder: Option<String>,
    /// Runs that came before us and wait as well.
    pub before: usize,
    /// Time that we have waited.
    pub since: Duration,
}

/// Somebody who wants to measure.
#[derive(Debug, Clone, Copy)]
pub struct Applicant<'a> {
    /// The lock.
    pub path: &'a Path,
    /// The directory in which we work, which others are told.
    pub directory: &'a Path,
    /// The longest wait; none at all is 0, and without a limit it ends with the others.
    pub limit: Option<Duration>,
}

impl Applicant<'_> {
    /// Takes the lock as soon as it is our turn; `waiting` is called for every look until then.
    ///
    /// # Errors
    /// [`RunError::Locked`] when it is held longer than the limit, [`RunError::Interrupted`] during a wait.
    pub fn acquire(self, interrupted: &AtomicBool, waiting: impl FnMut(&Waiting)) -> Result<MachineLock, RunError> {
        self.acquire_after(TURN_MAX, interrupted, waiting)
    }

    fn acquire_after(
        self,
        turn_max: Duration,
        interrupted: &AtomicBool,
        mut waiting: impl FnMut(&Waiting),
    ) -> Result<MachineLock, RunError> {
        let mut file = open(self.path).map_err(|e| RunError::file("open the machine lock", self.path, e))?;
        let begun = Instant::now();
        let (mut ticket, mut free_since) = (None::<Ticket>, None);
        loop {
            let before = ticket.as_ref().map_or_else(|| ticket::waiting(self.path, None), |t| t.before(self.path));
            if try_lock(&file, self.path)? {
                let free = free_since.get_or_insert_with(Instant::now).elapsed();
                // Who does not wait has no turn.
                if before == 0 || free >= turn_max || self.limit == Some(Duration::ZERO) {
                    break;
                }
                file.unlock().map_err(|e| RunError::file("leave the machine lock", self.path, e))?;
            } else {
                free_since = None;
            }
            let look = Waiting { holder: holder::present(&mut file), before, since: begun.elapsed() };
            if self.limit.is_some_and(|limit| look.since >= limit) {
                return Err(RunError::Locked { holder: look.holder, waited: look.since });
            }
            RunError::stop_if(interrupted)?;
            waiting(&look);
            ticket = ticket.or_else(|| Ticket::take(self.path));
            std::thread::sleep(LOOK_EVERY);
        }
        let words = holder::words(std::process::id(), self.directory);
        // Best effort: the name helps people, the lock itself is what counts.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(words.as_bytes()));
        Ok(MachineLock { file })
    }
}

fn try_lock(file: &File, path: &Path) -> Result<bool, RunError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(RunError::file("take the machine lock", path, e)),
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o666).custom_flags(no_follow);
    // Opening before creating: with fs.protected_regular another user's file in /tmp may not be opened with O_CREAT.
    match options.open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let file = options.create(true).open(path)?;
            // Other users of the machine share the lock, whatever our umask.
            let _ = file.set_permissions(std::fs::Permissions::from_mode(0o666));
            Ok(file)
        }
        other => other,
    }
}

/// Reads a text as what a holder wrote, and as the kernel's table of locks.
#[cfg(any(fuzzing, debug_assertions))]
pub fn fuzz(text: &str) {
    holder::fuzz(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applicant(path: &Path, limit: Option<Duration>) -> Applicant<'_> {
        Applicant { path, directory: Path::new("/here"), limit }
    }

    #[test]
    fn a_place_that_somebody_only_pretends_to_have_is_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let lock = place.path().join("lock");
        let forged = File::create(place.path().join("lock.ticket-0-1")).unwrap();
        forged.lock().unwrap();
        let mut seen = Vec::new();
        let look = |waiting: &Waiting| seen.push(waiting.before);
        let waited = applicant(&lock, None).acquire_after(Duration::from_millis(300), &AtomicBool::new(false), look);
        assert!(waited.is_ok());
        assert!(!seen.is_empty() && seen.iter().all(|before| *before == 1), "{seen:?}");
    }

    #[test]
    fn a_limit_ends_the_wait_and_says_so() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let never = AtomicBool::new(false);
        let lock = applicant(&path, None).acquire(&never, |_| panic!("it is free")).unwrap();
        for limit in [Duration::ZERO, Duration::from_millis(1)] {
            let refused = applicant(&path, Some(limit)).acquire(&never, |_| {});
            let Err(RunError::Locked { holder, waited }) = refused else { panic!("{refused:?}") };
            let us = holder::words(std::process::id(), Path::new("/here"));
            assert_eq!(holder.as_deref(), Some(&*us));
            assert!(waited >= limit);
        }
        let asked = AtomicBool::new(true);
        assert!(matches!(applicant(&path, None).acquire(&asked, |_| {}), Err(RunError::Interrupted)));
        drop(lock);
        applicant(&path, Some(Duration::ZERO)).acquire(&never, |_| {}).unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "tickets are left");
    }
}
