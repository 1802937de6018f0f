//! Copies of folders.

use std::fs::{self, DirEntry, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::RunError;

/// The bit that lets a file's owner write it.
const OWNER_WRITES: u32 = 0o200;

/// Whether a folder is marked as a cache (Cache Directory Tagging Specification, 0.6).
pub(crate) fn is_cache(folder: &Path) -> bool {
    folder.join("CACHEDIR.TAG").exists()
}

/// Copies a folder, but for the folders in it that are not `wanted`. Links stay links; what is there
/// already is replaced, a link itself and never what it leads to; files can be written, which those of the
/// Go client's cache cannot. Anything that is neither a file, a folder nor a link is left out, and the copy itself where it lies inside.
///
/// # Errors
/// When something cannot be read or written, with its path.
pub(crate) fn copy(from: &Path, to: &Path, wanted: &dyn Fn(&DirEntry) -> bool) -> Result<(), RunError> {
    make_folder(to)?;
    let itself = place(to);
    copy_all(from, to, &|folder| wanted(folder) && place(&folder.path()) != itself)
}

/// A path without `..`, as if there were no links.
pub(crate) fn without_parents(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        if part == Component::ParentDir {
            whole.pop();
        } else {
            whole.push(part);
        }
        whole
    })
}

/// The device and the number of what lies there.
fn place(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn copy_all(from: &Path, to: &Path, wanted: &dyn Fn(&DirEntry) -> bool) -> Result<(), RunError> {
    make_folder(to)?;
    for entry in fs::read_dir(from).map_err(|e| RunError::file("read", from, e))? {
        let entry = entry.map_err(|e| RunError::file("read", from, e))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(|e| RunError::file("read", &path, e))?;
        if kind.is_dir() && wanted(&entry) {
            copy_all(&path, &target, wanted)?;
        } else if kind.is_symlink() {
            let link = fs::read_link(&path).map_err(|e| RunError::file("read", &path, e))?;
            let _ = fs::remove_file(&target);
            symlink(link, &target).map_err(|e| RunError::file("create", &target, e))?;
        } else if kind.is_file() && entry.file_name() != ".git" {
            // A work tree beside the main one, or a submodule, has such a file: git would work on the user's own index.
            copy_file(&path, &target).map_err(|e| RunError::file("copy", &path, e))?;
        }
    }
    Ok(())
}

/// Largest file whose contents are read for a digest; of larger ones only the size counts.
const READ_MAX: u64 = 64 << 20;

/// Adds a file to a digest, by its name in the tree.
pub(crate) fn digest(digest: &mut Sha256, tree: &Path, path: &Path) {
    let size = fs::metadata(path).map_or(0, |found| found.len());
    digest.update(path.strip_prefix(tree).unwrap_or(path).as_os_str().as_encoded_bytes());
    digest.update([0]);
    digest.update(size.to_le_bytes());
    if size <= READ_MAX {
        digest.update(fs::read(path).unwrap_or_default());
    }
}

/// Folders that hold nothing which is compiled, and the file by which a work tree of git's is known.
const ASIDE: [&str; 3] = [".git", ".duet", "testdata"];

/// Visits the files of a tree of sources in order; those that cannot be read are left out.
pub(crate) fn visit(dir: &Path, visitor: &mut impl FnMut(&Path)) {
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            _ if ASIDE.iter().any(|aside| entry.file_name() == *aside) || is_cache(&entry.path()) => {}
            Ok(what) if what.is_dir() => visit(&entry.path(), visitor),
            Ok(what) if what.is_file() || entry.path().is_file() => visitor(&entry.path()),
            _ => {}
        }
    }
}

/// Removes a link, so that nothing is written where it leads; anything else stays.
pub(crate) fn remove_link(path: &Path) -> std::io::Result<()> {
    if path.is_symlink() { fs::remove_file(path) } else { Ok(()) }
}

/// Makes a folder in the place of a link, which may lead to the very files that are copied.
pub(crate) fn make_folder(path: &Path) -> Result<(), RunError> {
    remove_link(path).map_err(|e| RunError::file("remove", path, e))?;
    fs::create_dir_all(path).map_err(|e| RunError::file("create", path, e))
}

/// Copies a file so that the copy can be written; a link that is in its place is replaced.
pub(crate) fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    remove_link(to)?;
    fs::copy(from, to)?;
    let mode = fs::metadata(to)?.permissions().mode();
    if mode & OWNER_WRITES == 0 {
        fs::set_permissions(to, Permissions::from_mode(mode | OWNER_WRITES))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_inside_holds_no_copy_of_itself() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("cache/kept")).unwrap();
        let to = place.path().join("cache/copy");
        copy(place.path(), &to, &|_| true).unwrap();
        assert!(to.join("cache/kept").exists() && !to.join("cache/copy").exists());
    }

    #[test]
    fn a_copy_replaces_links_and_spares_what_they_lead_to() {
        let place = tempfile::tempdir().unwrap();
        let [from, to, theirs] = ["from", "to", "theirs"].map(|name| place.path().join(name));
        for folder in [from.join("data"), to.clone(), theirs.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [from.join("data/file"), from.join("file")] {
            fs::write(file, "ours").unwrap();
        }
        fs::write(theirs.join("file"), "theirs").unwrap();
        symlink(&theirs, to.join("data")).unwrap();
        symlink(theirs.join("file"), to.join("file")).unwrap();
        copy(&from, &to, &|_| true).unwrap();
        for copied in ["data/file", "file"] {
            assert_eq!(fs::read_to_string(to.join(copied)).unwrap(), "ours", "{copied}");
        }
        // The place of the copy may be a link to what is copied.
        symlink(&from, place.path().join("itself")).unwrap();
        copy(&from, &place.path().join("itself"), &|_| true).unwrap();
        assert_eq!(fs::read_to_string(from.join("data/file")).unwrap(), "ours");
        assert_eq!(fs::read_to_string(theirs.join("file")).unwrap(), "theirs");
    }

    #[test]
    fn a_copy_can_be_written_keeps_links_and_leaves_out_what_is_not_wanted() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        for folder in ["kept/inner", "made"] {
            fs::create_dir_all(from.join(folder)).unwrap();
            fs::write(from.join(folder).join("file"), folder).unwrap();
        }
        fs::set_permissions(from.join("kept/inner/file"), Permissions::from_mode(0o555)).unwrap();
        symlink("kept/inner/file", from.join("link")).unwrap();
        copy(&from, &to, &|entry| entry.file_name() != "made").unwrap();
        assert_eq!(fs::read_to_string(to.join("link")).unwrap(), "kept/inner");
        assert!(to.join("link").is_symlink() && !to.join("made").exists());
        let mode = fs::metadata(to.join("kept/inner/file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        copy(&from, &to, &|_| true).unwrap();
        assert!(to.join("made/file").exists());
        let lost = copy(&from.join("gone"), &to, &|_| true).unwrap_err();
        assert!(lost.to_string().contains("gone"), "{lost}");
    }
}
