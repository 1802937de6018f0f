//! The order of those who wait: each has a file beside the lock, named by when it came, and holds a lock of its own on it. With a process its lock
//! is gone, so that a file of a dead one counts for nothing. Only names and locks are looked at: nothing is in the files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};

/// More files than this beside the lock are no queue of runs.
const TICKETS_MAX: usize = 1000;
/// Most attempts at a place when somebody takes our file for that of a dead one.
const ATTEMPTS: usize = 20;

/// A place in the queue, until it is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    path: PathBuf,
    place: Place,
    /// Holds the lock that says that we live.
    file: File,
}

/// When somebody came: nanoseconds since the machine started, and the process.
type Place = (u128, u32);

impl Drop for Ticket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Ticket {
    /// A place behind all that wait for this lock. Without one, where none can be had, it is waited all the same, and out of turn.
    pub(super) fn take(lock: &Path) -> Option<Ticket> {
        (0..ATTEMPTS).find_map(|_| Ticket::attempt(lock).ok().flatten())
    }

    fn attempt(lock: &Path) -> io::Result<Option<Ticket>> {
        let now = clock_gettime(ClockId::Boottime);
        let came = u128::from(now.tv_sec.unsigned_abs()) * 1_000_000_000 + u128::from(now.tv_nsec.unsigned_abs());
        let place: Place = (came, std::process::id());
        let path = lock.with_file_name(format!("{}{:020}-{}", prefix(lock), place.0, place.1));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
        let ticket = Ticket { path, place, file };
        let file = &ticket.file;
        // Other users look whether it is locked, whatever our umask.
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
        // Before it was locked somebody may have looked, and removed it.
        let is_ours = file.try_lock().is_ok() && fs::symlink_metadata(&ticket.path)?.ino() == file.metadata()?.ino();
        Ok(is_ours.then_some(ticket))
    }

    /// Number of runs that came before and still wait.
    pub(super) fn before(&self, lock: &Path) -> usize {
        waiting(lock, Some(self.place))
    }
}

/// Number of runs that wait for this lock, of those that came before a place. Files of the dead are removed where that is allowed.
pub(super) fn waiting(lock: &Path, place: Option<Place>) -> usize {
    let (Some(folder), prefix) = (lock.parent(), prefix(lock)) else { return 0 };
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        Some((place_of(name.to_str()?.strip_prefix(&prefix)?)?, entry.path()))
    });
    let earlier = names.filter(|(other, _)| place.is_none_or(|place| *other < place));
    earlier.take(TICKETS_MAX).filter(|(_, path)| is_alive(path)).count()
}

fn prefix(lock: &Path) -> String {
    format!("{}.ticket-", lock.file_name().unwrap_or_default().to_string_lossy())
}

fn place_of(rest: &str) -> Option<Place> {
    let (came, number) = rest.split_once('-')?;
    Some((came.parse().ok()?, number.parse().ok()?))
}

/// Whether somebody holds the ticket. A file that cannot be opened, or is no regular one, is none.
fn is_alive(path: &Path) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else { return false };
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return false;
    }
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
        Ok(()) => {
            let _ = fs::remove_file(path);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_came_first_are_before_those_who_came_later() {
        let place = tempfile::tempdir().unwrap();
        let lock = place.path().join("lock");
        let [first, second, third] = std::array::from_fn(|_| Ticket::take(&lock).unwrap());
        assert_eq!([&first, &second, &third].map(|ticket| ticket.before(&lock)), [0, 1, 2]);
        assert_eq!(waiting(&lock, None), 3);
        drop(first);
        assert_eq!([&second, &third].map(|ticket| ticket.before(&lock)), [0, 1]);
        drop((second, third));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "tickets are left");
    }

    #[test]
    fn what_nobody_holds_is_no_ticket() {
        let place = tempfile::tempdir().unwrap();
        let lock = place.path().join("lock");
        let name = |rest: &str| place.path().join(format!("lock.ticket-{rest}"));
        fs::write(name("1-1"), "of a dead one").unwrap();
        fs::create_dir(name("2-1")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", name("3-1")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, name("4-1"), rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
        for rest in ["", "-", "x-1", "1", "99999999999999999999999999999999999999999999-1"] {
            fs::write(name(rest), "").unwrap();
        }
        assert_eq!(waiting(&lock, None), 0);
        assert!(!name("1-1").exists() && name("x-1").exists());
    }
}
