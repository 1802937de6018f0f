//! The folder in duet's cache in which versions are built, so that what they depend on is compiled once.
//!
//! Both versions are built there one after the other: what is published stays, what lies on disk is compiled anew each time, because
//! cargo tells versions of it apart by the times of files only.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cargo::Cargo;
use super::hooked;
use crate::adapter::hex;
use crate::error::RunError;
use crate::scratch;

const RUSTC: &str = include_str!("../../../../../hooks/rust/rustc.sh");
const LINKER: &str = include_str!("../../../../../hooks/link/linker.sh");

/// The folder, held against other runs as long as this lives.
#[derive(Debug)]
pub(super) struct Workshop {
    dir: PathBuf,
    _held: File,
}

impl Workshop {
    /// The kept one for this toolchain; one below `place` where others build in that, or it cannot be used.
    pub(super) fn of(cargo: &Cargo, place: &Path) -> Result<Workshop, RunError> {
        let mut key = Sha256::new();
        // All that decides what published packages are compiled to, beside what cargo itself tells apart.
        let sources = [include_str!("hooked.rs"), include_str!("insertions.rs")];
        let wrappers = [RUSTC, LINKER, sources[0], sources[1], &cargo.words, &cargo.host];
        for part in wrappers.into_iter().chain(hooked::HOOK.map(|(_, text)| text)) {
            key.update(part);
            key.update([0]);
        }
        let kept = scratch::kept("rust").map(|folder| folder.join(&hex(&key.finalize())[..24]));
        let held = kept.and_then(|kept| Workshop::at(kept).ok());
        held.map_or_else(|| Workshop::at(place.join("workshop")), Ok)
    }

    fn at(dir: PathBuf) -> Result<Workshop, RunError> {
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(|e| RunError::file("create", &dir, e))?;
        let path = dir.join("held");
        let held = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let held = held.and_then(|file| Ok(file.try_lock().map(|()| file)?));
        let held = held.map_err(|e| RunError::file("lock", &path, e))?;
        let workshop = Workshop { dir, _held: held };
        for (path, text) in [(workshop.rustc(), RUSTC), (workshop.linker(), LINKER)] {
            let written = fs::write(&path, text);
            let runs = written.and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o700)));
            runs.map_err(|e| RunError::file("write", &path, e))?;
        }
        Ok(workshop)
    }

    /// The program that compiles hooked copies.
    pub(super) fn rustc(&self) -> PathBuf {
        self.dir.join("rustc.sh")
    }

    /// The program that keeps what programs are made of.
    pub(super) fn linker(&self) -> PathBuf {
        self.dir.join("linker.sh")
    }

    /// Hooked copies.
    pub(super) fn hooked(&self) -> PathBuf {
        self.dir.join("hooked")
    }

    /// Cargo's target folder.
    pub(super) fn target(&self) -> PathBuf {
        self.dir.join("target")
    }
}
