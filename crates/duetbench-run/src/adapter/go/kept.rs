//! Tools of ours that the user's toolchain builds, once for every release of Go, and that are kept.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Toolchain;
use crate::adapter::hex;
use crate::error::RunError;
use crate::scratch;

/// A tool as it is kept.
#[derive(Debug)]
pub(super) struct Kept {
    /// Folder of all tools of its kind, in the cache.
    pub(super) folder: &'static str,
    /// Name there, the same for the same tool.
    pub(super) key: String,
}

impl Kept {
    /// A tool that this toolchain makes of these texts.
    pub(super) fn of<'a>(folder: &'static str, toolchain: &Toolchain, texts: impl Iterator<Item = &'a str>) -> Kept {
        let mut digest = Sha256::new();
        for text in texts {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let release = toolchain.version.replace(['/', ' '], "-");
        // Machines of two kinds may share a home.
        Kept { folder, key: format!("{release}-{}-{}", std::env::consts::ARCH, &hex(&digest.finalize())[..24]) }
    }

    /// The tool, if it was built before.
    pub(super) fn found(&self) -> Option<PathBuf> {
        let tool = scratch::kept(self.folder)?.join(&self.key);
        tool.is_file().then_some(tool)
    }

    /// Puts a tool where later runs find it, whole or not at all; absent where there is no such place.
    pub(super) fn keep(&self, built: &Path) -> Option<PathBuf> {
        let kept = scratch::kept(self.folder)?.join(&self.key);
        // Moved and not copied: of a run that is killed meanwhile, half a copy would stay for ever.
        fs::rename(built, &kept).ok().map(|()| kept)
    }
}

/// Builds a tool in a folder. It runs here, whatever the user builds for, and nothing of the user's flags is about it.
pub(super) fn build(toolchain: &Toolchain, place: &Path, args: &[&str]) -> Result<(), RunError> {
    let all = ["build", "-trimpath", "-buildvcs=false"].into_iter().chain(args.iter().copied());
    let tool = toolchain.command(all, place).called(&format!("go build {}", args.last().unwrap_or(&"")));
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let tool = tool.env("GOFLAGS", "").env("GOWORK", "off").env("CGO_ENABLED", "0");
    // Machines that share a home need not have the same processor.
    let tool = tool.env("GOAMD64", "v1").env("GOARM64", "v8.0");
    tool.env("GOOS", "linux").env("GOARCH", arch).text().map(drop)
}
