//! One run per machine at a time: two runs at once would measure each other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use duetbench_core::foreign::one_line;

use crate::error::RunError;

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
#[must_use]
pub fn default_path() -> PathBuf {
    PathBuf::from("/tmp/duetbench.lock")
}

impl MachineLock {
    /// Takes the lock. `holder` says who we are to the next one; `waiting` is called once with the present holder
    /// before a wait begins and says whether to wait.
    ///
    /// # Errors
    /// [`RunError::Locked`] when it is held and `waiting` declines, [`RunError::Interrupted`] during a wait.
    pub fn acquire(
        path: &Path,
        holder: &str,
        interrupted: &AtomicBool,
        mut waiting: impl FnMut(&str) -> bool,
    ) -> Result<MachineLock, RunError> {
        let mut file = open(path).map_err(|e| RunError::file("open the machine lock", path, e))?;
        let mut announced = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(e)) => return Err(RunError::file("take the machine lock", path, e)),
                Err(TryLockError::WouldBlock) if !announced => {
                    announced = true;
                    let present = read_holder(&mut file);
                    if !waiting(&present) {
                        return Err(RunError::Locked { holder: present });
                    }
                }
                Err(TryLockError::WouldBlock) => {
                    if interrupted.load(Ordering::Relaxed) {
                        return Err(RunError::Interrupted);
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
        }
        // Best effort: the name helps people, the lock itself is what counts.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(holder.as_bytes()));
        Ok(MachineLock { file })
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

fn read_holder(file: &mut File) -> String {
    let _ = file.rewind();
    let mut bytes = Vec::new();
    let _ = file.take(400).read_to_end(&mut bytes);
    // Every user of the machine may write there.
    let text = one_line(&String::from_utf8_lossy(&bytes));
    // The name may be that of one that was killed, until the present holder has written its own.
    let is_dead = text.strip_prefix("process ").and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    let is_dead = is_dead.is_some_and(|number| !Path::new("/proc").join(number.to_string()).exists());
    if text.is_empty() || is_dead { "an unknown process".into() } else { text }
}
