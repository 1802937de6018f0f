//! Files in one compressed archive: the same files give the same bytes, and what two versions share is stored once.
//!
//! A tar archive compressed as a whole with a window so long (2²⁷ bytes) that the candidate's program finds the baseline's in it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zstd::zstd_safe::CParameter;

use crate::error::RunError;

/// Logarithm of the window's length.
const WINDOW_LOG: u32 = 27;
/// From this level on the versions and build pairs of a program find each other's bytes; higher ones take much longer for little.
const LEVEL: i32 = 12;
/// Threads that compress; a fixed number, because the bytes depend on whether there are any.
const THREADS: u32 = 2;

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Its place in the archive.
    pub place: PathBuf,
    /// Where its contents are.
    pub file: PathBuf,
}

/// Writes an archive of these files, in the order of their places; only whether a file may be executed is kept of its attributes.
///
/// # Errors
/// When a file cannot be read or the archive not be written.
pub fn pack(members: &[Member], archive: &Path) -> Result<(), RunError> {
    let mut members: Vec<&Member> = members.iter().collect();
    members.sort();
    let written = || -> io::Result<()> {
        let mut encoder = zstd::Encoder::new(File::create(archive)?, LEVEL)?;
        encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        encoder.multithread(THREADS)?;
        encoder.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
        let mut tar = tar::Builder::new(encoder);
        tar.mode(tar::HeaderMode::Deterministic);
        for member in members {
            tar.append_path_with_name(&member.file, &member.place)?;
        }
        tar.into_inner()?.finish()?.sync_all()
    };
    written().map_err(|e| RunError::file("write", archive, e))
}

/// Unpacks an archive below a directory; nothing is written outside of it.
///
/// # Errors
/// When it is damaged or there is no room.
pub fn unpack(archive: &Path, dir: &Path) -> Result<(), RunError> {
    unpack_files(archive, dir, &[])
}

/// Unpacks these files of an archive below a directory, where it has them; all of it, if none is named.
///
/// # Errors
/// When it is damaged or there is no room.
pub fn unpack_files(archive: &Path, dir: &Path, files: &[PathBuf]) -> Result<(), RunError> {
    let unpacked = || -> io::Result<()> {
        fs::create_dir_all(dir)?;
        let mut decoder = zstd::Decoder::new(File::open(archive)?)?;
        decoder.window_log_max(WINDOW_LOG)?;
        let mut tar = tar::Archive::new(decoder);
        for entry in tar.entries()? {
            let mut entry = entry?;
            let wanted = files.is_empty() || files.iter().any(|file| entry.path().is_ok_and(|path| path == *file));
            if wanted {
                entry.unpack_in(dir)?;
            }
        }
        // The rest of the last block, so that a cut-off archive is an error.
        io::copy(&mut tar.into_inner().by_ref(), &mut io::sink()).map(drop)
    };
    unpacked().map_err(|e| RunError::file("unpack", archive, e))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_same_files_give_the_same_bytes_and_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("program"), vec![7; 100_000]).unwrap();
        fs::set_permissions(at("program"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(at("text"), "words").unwrap();
        let members = [("b/text", "text"), ("a/0", "program"), ("b/1", "program")]
            .map(|(place, file)| Member { place: place.into(), file: at(file) });
        pack(&members, &at("one")).unwrap();
        fs::write(at("text"), "words").unwrap();
        let turned: Vec<Member> = members.iter().rev().cloned().collect();
        pack(&turned, &at("two")).unwrap();
        assert_eq!(fs::read(at("one")).unwrap(), fs::read(at("two")).unwrap());
        unpack_files(&at("one"), &at("some"), &["b/1".into(), "b/2".into()]).unwrap();
        assert_eq!((at("some/b/1").exists(), at("some/b/text").exists(), at("some/a").exists()), (true, false, false));
        unpack(&at("one"), &at("out")).unwrap();
        assert_eq!(fs::read(at("out/b/text")).unwrap(), b"words");
        assert_eq!(fs::metadata(at("out/a/0")).unwrap().permissions().mode() & 0o111, 0o111);
    }

    #[test]
    fn a_damaged_archive_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let (file, archive) = (dir.path().join("file"), dir.path().join("archive"));
        fs::write(&file, (0..100_000u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
        pack(&[Member { place: "x".into(), file }], &archive).unwrap();
        let bytes = fs::read(&archive).unwrap();
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&archive, &bytes[..cut]).unwrap();
            let error = unpack(&archive, &dir.path().join("out")).unwrap_err().to_string();
            assert!(error.contains("cannot unpack") && error.contains("archive"), "{error}");
        }
    }
}
