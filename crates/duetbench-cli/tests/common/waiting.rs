//! Waiting for what is sure to come, so that no test depends on how fast it comes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::Place;

/// Whatever takes longer than this hangs, on a busy machine too.
pub const HANGS: Duration = Duration::from_secs(300);

/// Waits until something holds; fails if it hangs.
#[track_caller]
pub fn wait_until(expected: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + HANGS;
    while !holds() {
        assert!(Instant::now() < deadline, "still not so: {expected}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Number of trials in the store of a place, nought where there is none yet.
pub fn trials(place: &Place) -> i64 {
    let db = place.path().join(".duet/duet.db");
    let Ok(store) = Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY) else { return 0 };
    store.busy_timeout(HANGS).unwrap();
    store.query_row("SELECT count(*) FROM trials", [], |row| row.get(0)).unwrap_or(0)
}

/// Folders in `/proc` of the processes that work below a directory.
pub fn working_below(dir: &Path) -> Vec<PathBuf> {
    let dir = dir.canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&dir))).collect()
}
