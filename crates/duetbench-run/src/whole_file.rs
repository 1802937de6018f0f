//! Files that people keep in their repository and duet writes anew.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Writes a file that is the former one or the new one at any moment, whole, also when this process is killed or the disk is full.
/// Links are followed, permissions stay; what is no ordinary file, as a pipe, is written to as it is.
///
/// # Errors
/// When it cannot be written; the former one is then still there.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let former = fs::metadata(&target).ok();
    let Some(draft) = beside(&target).filter(|_| former.as_ref().is_none_or(fs::Metadata::is_file)) else {
        return fs::write(path, text);
    };
    let mut file = mine(&draft)?;
    let done = fill(&mut file, text, former.map(|m| m.permissions()), || fs::rename(&draft, &target));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done
}

/// The draft, for whoever opened it first: it may have become the file itself while others waited for their turn.
fn mine(draft: &Path) -> io::Result<File> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    loop {
        let file = OpenOptions::new().write(true).create(true).truncate(false).custom_flags(no_follow).open(draft)?;
        // Not every file system has locks; then nobody waits.
        let _ = file.lock();
        let is_there =
            fs::symlink_metadata(draft).is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino()));
        if is_there {
            return Ok(file);
        }
    }
}

/// Its name is always the same, so that whoever writes next removes what one that was killed has left.
fn beside(target: &Path) -> Option<PathBuf> {
    let name = target.file_name()?.to_string_lossy().into_owned();
    Some(target.with_file_name(format!(".{name}.new")))
}

/// Writes the text, and puts it in its place while nobody else can write there.
fn fill(
    file: &mut File,
    text: &str,
    permissions: Option<fs::Permissions>,
    put: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(text.as_bytes())?;
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
    // Else a power failure could leave the new name with nothing in it.
    file.sync_all()?;
    put()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_and_permissions_stay_and_the_draft_of_one_that_was_killed_goes() {
        let dir = tempfile::tempdir().unwrap();
        let [plan, link, draft] = ["plan.toml", "link.toml", ".plan.toml.new"].map(|name| dir.path().join(name));
        fs::write(&plan, "former").unwrap();
        fs::set_permissions(&plan, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&plan, &link).unwrap();
        fs::write(&draft, "half of what somebody wanted to write").unwrap();
        write(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&plan).unwrap(), "new");
        assert_eq!(fs::metadata(&plan).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(!draft.exists());
    }

    #[test]
    fn what_is_no_file_is_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
