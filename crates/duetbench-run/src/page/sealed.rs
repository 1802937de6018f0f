//! The page as memory that nobody can shorten or enlarge, under a path by which any process of this user can open it.
//!
//! Such memory has no name. A process that has it open has one for it, below `/proc/PID/fd`, but we are closed to others there, since
//! we keep secrets in our environment, and a measured process may be the grandchild of one that closed all it inherited (JMH's
//! forks). So a `cat` that waits for us to write something, which we never do, holds it. It ends with us, however that comes.

use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals};

use crate::scratch;

/// Keeps the memory open for others as its standard output; ends with its standard input, on drop.
#[derive(Debug)]
pub(super) struct Holder(Child);

impl Holder {
    fn of(memory: &File) -> std::io::Result<Holder> {
        let mut cat = Command::new("cat");
        // A group of its own, so that Ctrl-C is for us alone.
        cat.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).process_group(0).current_dir("/");
        cat.stdin(Stdio::piped()).stdout(memory.try_clone()?).stderr(Stdio::null());
        cat.spawn().map(Holder)
    }

    /// The name that the memory has by it.
    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/1", self.0.id()))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Closes its input first.
        let _ = self.0.wait();
    }
}

/// Makes the memory, and a link to it at the path; nothing where this system does not allow all that it takes.
pub(super) fn create(path: &Path, bytes: u64) -> Option<(File, Holder)> {
    let memory = memory(bytes).ok()?;
    let holder = Holder::of(&memory).ok()?;
    symlink(holder.path(), path).ok()?;
    if is_at(&memory, path) {
        return Some((memory, holder));
    }
    let _ = std::fs::remove_file(path);
    None
}

/// Memory of this size for good.
fn memory(bytes: u64) -> std::io::Result<File> {
    let memory = scratch::memory("duet-page", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    memory.set_permissions(Permissions::from_mode(0o600))?;
    super::reserve(&memory, bytes)?;
    fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(memory)
}

/// Whether who opens the path for reading and writing gets this memory: `/proc` may be missing, or be that of other processes.
fn is_at(memory: &File, path: &Path) -> bool {
    let opened = File::options().read(true).write(true).open(path).and_then(|file| file.metadata());
    let ours = memory.metadata();
    opened.is_ok_and(|found| ours.is_ok_and(|ours| (found.dev(), found.ino()) == (ours.dev(), ours.ino())))
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn nobody_can_change_its_size_nor_forbid_writing_and_its_path_goes_with_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page");
        let (memory, holder) = create(&path, 8192).expect("this system has memory that can be sealed");
        let found = File::options().read(true).write(true).open(&path).unwrap();
        for bytes in [0, 4096, 16384] {
            assert_eq!(found.set_len(bytes).unwrap_err().kind(), ErrorKind::PermissionDenied, "{bytes}");
        }
        assert_eq!(fcntl_add_seals(&found, SealFlags::WRITE).unwrap_err(), rustix::io::Errno::PERM);
        assert_eq!((memory.metadata().unwrap().len(), memory.metadata().unwrap().mode() & 0o777), (8192, 0o600));
        assert!(create(&path, 8192).is_none(), "a path that is taken must stay what it is");
        assert!(is_at(&memory, &path));
        drop(holder);
        assert!(!is_at(&memory, &path));
    }
}
