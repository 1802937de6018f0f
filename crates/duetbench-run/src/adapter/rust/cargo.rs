//! One cargo for both versions, and what it is asked.

use std::path::{Path, PathBuf};

use super::arguments::CargoArguments;
use super::metadata::Metadata;
use crate::error::RunError;
use crate::source::Source;
use crate::tool::Tool;

/// The `cargo` command that builds both versions.
#[derive(Debug, Clone)]
pub(super) struct Cargo {
    /// Its compiler's name with release, such as `rustc 1.95.0 (…)`.
    pub(super) words: String,
    /// Triple of the machine.
    pub(super) host: String,
    /// The toolchain's folder.
    pub(super) sysroot: PathBuf,
    /// The toolchain that rustup is to take, where there is rustup.
    toolchain: Option<String>,
}

impl Cargo {
    /// The toolchain that the last of the versions asks for.
    pub(super) fn of(version: &Source) -> Result<Cargo, RunError> {
        let dir = &version.dir;
        let active = Tool::new("rustup", ["show", "active-toolchain"], dir).text();
        let toolchain = active.ok().and_then(|text| text.split_whitespace().next().map(str::to_owned));
        let mut cargo = Cargo { words: String::new(), host: String::new(), sysroot: PathBuf::new(), toolchain };
        let about = cargo.tool("rustc", ["-vV"], dir).text().map_err(absent)?;
        cargo.words = about.lines().next().unwrap_or_default().to_owned();
        let host = about.lines().find_map(|line| line.strip_prefix("host: "));
        cargo.host = host.unwrap_or_default().to_owned();
        cargo.sysroot = cargo.tool("rustc", ["--print", "sysroot"], dir).text()?.into();
        cargo.tool("cargo", ["-V"], dir).text().map_err(absent)?;
        Ok(cargo)
    }

    pub(super) fn tool<'a>(&self, program: &str, args: impl IntoIterator<Item = &'a str>, dir: &Path) -> Tool {
        let tool = Tool::new(program, args, dir);
        match &self.toolchain {
            Some(toolchain) => tool.env("RUSTUP_TOOLCHAIN", toolchain),
            None => tool,
        }
    }

    /// The variable that names the linker for this machine.
    pub(super) fn linker_variable(&self) -> String {
        format!("CARGO_TARGET_{}_LINKER", self.host.to_uppercase().replace('-', "_"))
    }

    /// The lock file of a version, whether it is there or not.
    pub(super) fn lock_file(&self, source: &Source) -> Result<PathBuf, RunError> {
        let args = ["locate-project", "--workspace", "--message-format", "plain"];
        let manifest = self.tool("cargo", args, &source.dir).text().map_err(|e| match e {
            RunError::Tool { output, .. } => RunError::Source {
                what: format!("`{}` is no Cargo package: {output}", source.requested),
                hint: Some("run duet where `cargo bench` works".into()),
            },
            other => other,
        })?;
        Ok(Path::new(&manifest).with_file_name("Cargo.lock"))
    }

    /// Fails where a version that is not ours has no lock file.
    pub(super) fn has_lock_file(&self, source: &Source) -> Result<(), RunError> {
        if self.lock_file(source)?.is_file() {
            return Ok(());
        }
        Err(RunError::Source {
            what: format!("`{}` has no `Cargo.lock`, and duet writes nothing there", source.requested),
            hint: Some(format!("`cd {} && cargo generate-lockfile` makes one", source.dir.display())),
        })
    }

    pub(super) fn metadata(&self, source: &Source, arguments: &CargoArguments) -> Result<Metadata, RunError> {
        let fixed = ["metadata", "--format-version", "1", "--locked"];
        let args = fixed.into_iter().chain(arguments.features.iter().map(String::as_str));
        Metadata::parse(&self.tool("cargo", args, &source.dir).called("cargo metadata").text()?)
    }

    /// Completes a lock file that lacks something, or makes one.
    pub(super) fn resolve(&self, source: &Source) -> Result<(), RunError> {
        let args = ["metadata", "--format-version", "1"];
        self.tool("cargo", args, &source.dir).called("cargo metadata").text().map(drop)
    }
}

pub(super) fn absent(error: RunError) -> RunError {
    match error {
        RunError::Start { program, source } if source.kind() == std::io::ErrorKind::NotFound => RunError::Toolchain {
            what: format!("`{program}` was not found"),
            hint: Some("install Rust, for instance by rustup, and put it on the PATH".into()),
        },
        other => other,
    }
}
