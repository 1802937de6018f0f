//! Private directories for what a run makes, and the sweeping up after runs that were killed.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::RunError;

/// A file in each directory, with the marks of the machine, that its owner holds locked for as long as it lives. A number of a process
/// alone would not tell: another process may have it by now, and one in another container is not seen from here.
const OWNER: &str = ".owner";
/// Our folder among those of other programs.
const FOLDER: &str = "duet";
/// Directories of dead owners that are removed at a time, so that nobody waits long for it.
const SWEPT_MAX: usize = 64;
/// Age from which a directory of another machine's is a dead one's.
const OLD: Duration = Duration::from_secs(30 * 24 * 3600);

/// A directory of this run (mode 0700), removed with everything in it on drop.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _owner: Hold,
}

/// The locked [`OWNER`] of a directory; absent where the file system has no locks, or an older duet made none.
type Hold = Option<File>;

/// Memory without a name, as a file.
///
/// # Errors
/// When the system gives none.
pub(crate) fn memory(called: &str, flags: MemfdFlags) -> io::Result<File> {
    // Kernels before 6.3 do not know that memory can be no program; newer ones may be told to refuse any other.
    let memory = memfd_create(called, flags | MemfdFlags::NOEXEC_SEAL).or_else(|_| memfd_create(called, flags))?;
    Ok(File::from(memory))
}

impl Scratch {
    /// Makes one for files of any size, below the user's cache directory, or where that cannot be written, as in an instance of a
    /// fleet, below that for temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Scratch, RunError> {
        let temporary = std::env::temp_dir();
        check_temporary(&temporary)?;
        Scratch::below_either(named_cache(), &temporary)
    }

    /// Makes one below the cache that the user has named, or the temporary directory.
    fn below_either(named: Option<PathBuf>, temporary: &Path) -> Result<Scratch, RunError> {
        match cache(named, temporary) {
            Some(cache) => Scratch::below(&cache).or_else(|e| Scratch::below(temporary).map_err(|_| e)),
            None => Scratch::below(temporary),
        }
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
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let owned = own(&path).map_err(|e| {
                        // Without a descriptor, which may be what is lacking; removing everything in it takes one.
                        let _ = fs::remove_file(path.join(OWNER));
                        let _ = fs::remove_dir(&path);
                        RunError::file("own", &path, e)
                    });
                    let Some(owner) = owned? else { continue };
                    let path = fs::canonicalize(&path).map_err(|e| RunError::file("find", &path, e))?;
                    return Ok(Scratch { path, _owner: owner });
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(RunError::file("create", &path, e)),
            }
        }
        Err(RunError::file("create a directory in", parent, std::io::ErrorKind::AlreadyExists.into()))
    }

    /// Where it is, canonical.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Every tool that we start puts files there, and says in words of its own that it cannot.
fn check_temporary(place: &Path) -> Result<(), RunError> {
    if place.is_dir() {
        return Ok(());
    }
    Err(RunError::version(format!("`TMPDIR` is `{}`, which is no directory", place.display()))
        .hint("make it, or name another one; without `TMPDIR` it is `/tmp`"))
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_tree(&self.path);
    }
}

/// Removes a folder with all that is in it, also where a build or a benchmark has taken the right to from folders of its own, as Go's
/// cache of modules does.
pub(crate) fn remove_tree(root: &Path) {
    let is_refused = |e: io::Error| e.kind() == io::ErrorKind::PermissionDenied;
    if fs::remove_dir_all(root).is_err_and(is_refused) {
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
            let inside = fs::read_dir(&folder).into_iter().flatten().flatten();
            // Links are followed by none of both.
            folders
                .extend(inside.filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir())).map(|entry| entry.path()));
        }
        let _ = fs::remove_dir_all(root);
    }
}

/// `$XDG_CACHE_HOME/duet`, else `~/.cache/duet`.
fn named_cache() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join(FOLDER))
}

/// The cache that the user has named, else a folder in the temporary directory, where anybody may have made one of that name.
fn cache(named: Option<PathBuf>, temporary: &Path) -> Option<PathBuf> {
    named.or_else(|| private(temporary.join(FOLDER)))
}

/// A folder in the user's cache for what is kept, made if it is not there; absent where somebody else could write to it.
pub(crate) fn kept(folder: &str) -> Option<PathBuf> {
    private(cache(named_cache(), &std::env::temp_dir())?.join(folder))
}

/// The folder, made if it is not there; absent unless it is ours and nobody else can write to it, because what lies in it is
/// going to be run.
fn private(folder: PathBuf) -> Option<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    let metadata = fs::symlink_metadata(&folder).ok()?;
    let ours = metadata.is_dir() && metadata.uid() == rustix::process::getuid().as_raw();
    (ours && metadata.mode() & 0o077 == 0).then_some(folder)
}

/// Whether a path lies in a scratch directory of this process's.
pub(crate) fn is_below_ours(path: &Path) -> bool {
    let us = Some(std::process::id());
    path.ancestors().any(|dir| dir.file_name().and_then(maker) == us && dir.join(OWNER).is_file())
}

/// Whether a path lay in a scratch directory for files of any size, and is not there any more.
pub(crate) fn is_gone(path: &Path) -> bool {
    let temporary = std::env::temp_dir();
    let parents = named_cache().into_iter().chain([temporary.join(FOLDER), temporary]);
    // As it is noted, without links.
    let mut parents = parents.map(|parent| fs::canonicalize(&parent).unwrap_or(parent));
    let was_ours = parents.any(|parent| {
        path.strip_prefix(parent).ok().and_then(|inside| inside.iter().next()).is_some_and(|dir| maker(dir).is_some())
    });
    was_ours && matches!(fs::symlink_metadata(path), Err(e) if e.kind() == io::ErrorKind::NotFound)
}

/// The process that made a directory of such a name, if that was one of us.
fn maker(name: &OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix("duet-")?.split('-').next()?.parse().ok()
}

/// Locks a new directory; nothing where somebody who sweeps up was faster and took it for a dead one.
fn own(dir: &Path) -> io::Result<Option<Hold>> {
    let path = dir.join(OWNER);
    let file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    (&file).write_all(marks().join("\n").as_bytes())?;
    match file.try_lock() {
        Ok(()) => {
            let still_there = fs::metadata(&path).is_ok_and(|m| file.metadata().is_ok_and(|f| f.ino() == m.ino()));
            Ok(still_there.then_some(Some(file)))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        // There are no locks here.
        Err(TryLockError::Error(_)) => Ok(Some(None)),
    }
}

/// Removes our own directories whose process has died.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let me = rustix::process::getuid().as_raw();
    let is_ours = |m: fs::Metadata| m.is_dir() && m.uid() == me && m.mode() & 0o777 == 0o700;
    let ours = entries.flatten().filter(|entry| entry.metadata().is_ok_and(is_ours));
    let dead = ours.filter_map(|entry| Some((entry.path(), of_the_dead(&entry.path())?)));
    for (path, _held) in dead.take(SWEPT_MAX) {
        remove_tree(&path);
    }
}

/// Whether a scratch directory is in use: the process that made it lives.
pub fn is_held(dir: &Path) -> bool {
    // To lock a file for oneself it must be open for writing on some file systems.
    let owner = OpenOptions::new().write(true).open(dir.join(OWNER));
    owner.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Name of this machine, which containers on it have for themselves, and its boot, which they share.
fn marks() -> [String; 2] {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    [rustix::system::uname().nodename().to_string_lossy().into_owned(), boot.trim().to_owned()]
}

/// Something to hold while a directory is removed, if its owner is dead. Locks and processes of another machine, with which this one shares
/// a home, may not be seen from here.
fn of_the_dead(dir: &Path) -> Option<Hold> {
    let pid = maker(dir.file_name()?)?;
    let is_gone = || !Path::new(&format!("/proc/{pid}")).exists();
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let Ok(mut file) = OpenOptions::new().read(true).write(true).custom_flags(no_follow).open(dir.join(OWNER)) else {
        return is_gone().then_some(None);
    };
    let mut owner = String::new();
    file.read_to_string(&mut owner).ok()?;
    let is_of_here = owner.is_empty() || owner.lines().zip(marks()).any(|(its, ours)| its == ours);
    if !is_of_here && !is_old(dir) {
        return None;
    }
    match file.try_lock() {
        Ok(()) => Some(Some(file)),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Error(_)) => is_gone().then_some(None),
    }
}

/// Whether nothing was made or removed in a directory for longer than any run takes.
fn is_old(dir: &Path) -> bool {
    let changed = fs::metadata(dir).and_then(|found| found.modified()).ok();
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > OLD)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_that_others_can_write_to_holds_nothing_that_is_run() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("linkers");
        assert_eq!(private(folder.clone()), Some(folder.clone()));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).unwrap();
        assert_eq!(private(folder), None);
        let link = dir.path().join("link");
        symlink("/tmp", &link).unwrap();
        assert_eq!(private(link), None);
    }

    #[test]
    fn somebody_elses_folder_in_the_temporary_directory_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let temporary = fs::canonicalize(dir.path()).unwrap();
        let parent = |named: Option<PathBuf>| {
            let scratch = Scratch::below_either(named, &temporary).unwrap();
            scratch.path().parent().unwrap().to_owned()
        };
        let folder = temporary.join(FOLDER);
        assert_eq!(parent(None), folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(parent(None), temporary);
        assert_eq!(parent(Some(folder.clone())), folder, "a cache that is named is the user's own affair");
        fs::remove_dir(&folder).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), &folder).unwrap();
        assert_eq!(parent(None), temporary);
    }

    #[test]
    fn folders_without_the_right_to_write_go_too() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::below(parent.path()).unwrap();
        let (path, inside) = (scratch.path().to_owned(), scratch.path().join("mod/cache"));
        fs::create_dir_all(&inside).unwrap();
        fs::write(inside.join("file"), "").unwrap();
        for folder in [&inside, inside.parent().unwrap()] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
        }
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn directories_of_the_dead_go_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let path = parent.path().join(name);
            DirBuilder::new().mode(mode).create(&path).unwrap();
            path
        };
        let alive = Scratch::below(parent.path()).unwrap();
        let dead_pid = u32::try_from(i32::MAX).unwrap();
        // Its number is taken by somebody else (us), but nobody holds its lock.
        let reused = make(&format!("duet-{}-77", std::process::id()), 0o700);
        fs::write(reused.join(OWNER), "").unwrap();
        // Its process cannot be seen from here, but holds its lock.
        let elsewhere = make(&format!("duet-{dead_pid}-0"), 0o700);
        fs::write(elsewhere.join(OWNER), "").unwrap();
        let held = File::open(elsewhere.join(OWNER)).unwrap();
        held.lock().unwrap();
        let without_lock = make(&format!("duet-{dead_pid}-1"), 0o700);
        let open_to_all = make(&format!("duet-{dead_pid}-2"), 0o755);
        let other_name = make("duet-study", 0o700);
        let link = parent.path().join(format!("duet-{dead_pid}-3"));
        std::os::unix::fs::symlink(&other_name, &link).unwrap();
        let next = Scratch::below(parent.path()).unwrap();
        for kept in [alive.path(), next.path(), &elsewhere, &open_to_all, &other_name, &link] {
            assert!(kept.exists(), "{}", kept.display());
        }
        assert!(
            [alive.path(), &elsewhere].into_iter().all(is_held)
                && ![&without_lock, &other_name].into_iter().any(|d| is_held(d))
        );
        for swept in [&reused, &without_lock] {
            assert!(!swept.exists(), "{}", swept.display());
        }
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }
}
