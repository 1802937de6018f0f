//! Private directories for what a run makes, and the sweeping up after runs that were killed.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::RunError;

/// A directory of this run (mode 0700), removed with everything in it on drop.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes one for files of any size, below the user's cache directory.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Scratch, RunError> {
        Scratch::below(&cache_dir())
    }

    /// Makes one for small files that are written while measuring, in memory where the system offers that.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn in_memory() -> Result<Scratch, RunError> {
        let shm = Path::new("/dev/shm");
        if shm.is_dir()
            && let Ok(scratch) = Scratch::below(shm)
        {
            return Ok(scratch);
        }
        Scratch::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> Result<Scratch, RunError> {
        fs::create_dir_all(parent).map_err(|e| RunError::file("create", parent, e))?;
        sweep(parent);
        let pid = std::process::id();
        for n in 0..1000 {
            let path = parent.join(format!("duet-{pid}-{n}"));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let path = fs::canonicalize(&path).map_err(|e| RunError::file("find", &path, e))?;
                    return Ok(Scratch { path });
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(RunError::file("create", &path, e)),
            }
        }
        Err(RunError::file("create a directory in", parent, std::io::ErrorKind::AlreadyExists.into()))
    }

    /// Where it is, canonical.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// `$XDG_CACHE_HOME/duet`, else `~/.cache/duet`, else below the temporary directory.
#[must_use]
pub fn cache_dir() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("duet")
}

/// Removes our own directories whose process has died.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let me = rustix::process::getuid().as_raw();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid =
            name.to_str().and_then(|n| n.strip_prefix("duet-")).and_then(|n| n.split('-').next()?.parse::<u32>().ok());
        let Some(pid) = pid else { continue };
        let ours = entry.metadata().is_ok_and(|m| m.is_dir() && m.uid() == me);
        if ours && !Path::new(&format!("/proc/{pid}")).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
