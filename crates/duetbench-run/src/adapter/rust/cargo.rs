//! One cargo for both versions, and what it is asked.

use std::path::{Path, PathBuf};

use duetbench_core::foreign::quote;

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
        // The compiler's shim installs a toolchain that is missing; not every release of rustup does to show it.
        let _ = Tool::new("rustc", ["-vV"], dir).text();
        let active = Tool::new("rustup", ["show", "active-toolchain"], dir).text();
        let toolchain = active.ok().and_then(|text| text.split(" (").next().map(|name| name.trim().to_owned()));
        let toolchain = toolchain.filter(|name| !name.is_empty());
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

    /// The linker that settings name for this machine, those of the nearest folder first; a table for several machines (`cfg`) is not looked at.
    pub(super) fn configured_linker(&self, dir: &Path) -> Option<PathBuf> {
        let of_user = cargo_home().and_then(|home| Settings::within(&home));
        settings(dir).iter().chain(&of_user).find_map(|one| one.linker(&self.host))
    }

    /// The lock file of a version, whether it is there or not.
    pub(super) fn lock_file(&self, source: &Source) -> Result<PathBuf, RunError> {
        let args = ["locate-project", "--workspace", "--message-format", "plain"];
        let manifest = self.tool("cargo", args, &source.dir).text().map_err(|e| match e {
            RunError::Tool { output, .. } => {
                RunError::version(format!("`{}` is no Cargo package: {output}", source.requested))
                    .hint("run duet where `cargo bench` works")
            }
            other => other,
        })?;
        Ok(Path::new(&manifest).with_file_name("Cargo.lock"))
    }

    /// Fails where a version that is not ours has no lock file.
    pub(super) fn has_lock_file(&self, source: &Source) -> Result<(), RunError> {
        if self.lock_file(source)?.is_file() {
            return Ok(());
        }
        Err(RunError::version(format!("`{}` has no `Cargo.lock`, and duet writes nothing there", source.requested))
            .hint(format!("`cd {} && cargo generate-lockfile` makes one", quote(&source.dir.to_string_lossy()))))
    }

    pub(super) fn metadata(&self, source: &Source, arguments: &CargoArguments) -> Result<Metadata, RunError> {
        // Packages of other systems may never have been fetched.
        let fixed = ["metadata", "--format-version", "1", "--locked", "--filter-platform", &self.host];
        let args = fixed.into_iter().chain(arguments.features.iter().chain(&arguments.config).map(String::as_str));
        Metadata::parse(&self.tool("cargo", args, &source.dir).called("cargo metadata").text()?)
    }

    /// Completes a lock file that lacks something, or makes one.
    pub(super) fn resolve(&self, source: &Source) -> Result<(), RunError> {
        let args = ["metadata", "--format-version", "1"];
        self.tool("cargo", args, &source.dir).called("cargo metadata").text().map(drop)
    }
}

/// A note where versions are built by other settings of cargo's: it reads them from a folder upwards, and a revision lies elsewhere than
/// the work tree, without files that git does not know.
pub(super) fn other_settings(versions: &[Source]) -> Option<String> {
    let [baseline, candidate] = versions else { return None };
    settings_apart([&baseline.dir, &candidate.dir])
}

/// A note on linkers of cargo's settings that hold under a condition: for those duet's own entry stands, which is stronger.
pub(super) fn unused_linkers(versions: &[Source]) -> Option<String> {
    let of_user = cargo_home().and_then(|home| Settings::within(&home));
    let all = versions.iter().flat_map(|version| settings(&version.dir)).chain(of_user);
    let mut targets = all
        .filter_map(|settings| settings.table())
        .filter_map(|table| table.get("target")?.as_table().cloned())
        .flatten();
    let (condition, _) = targets.find(|(name, entry)| name.starts_with("cfg(") && entry.get("linker").is_some())?;
    Some(format!(
        "cargo's settings name a linker for `{condition}`, which duet does not use: name it for this machine (`[target.TRIPLE]`)"
    ))
}

fn settings_apart(dirs: [&Path; 2]) -> Option<String> {
    let [of_base, of_head] = dirs.map(settings);
    let only = |own: &[Settings], others: &[Settings], side: &str| {
        let alone = own.iter().filter(|one| others.iter().all(|other| other.text != one.text));
        let paths: Vec<String> = alone.map(|one| format!("`{}`", one.path.display())).collect();
        (!paths.is_empty()).then(|| format!("{} for {side} only", paths.join(", ")))
    };
    let apart = [only(&of_base, &of_head, "base"), only(&of_head, &of_base, "head")];
    let apart: Vec<String> = apart.into_iter().flatten().collect();
    (!apart.is_empty()).then(|| format!("cargo's settings are not the same for both versions: {}", apart.join("; ")))
}

/// A file of cargo's settings.
struct Settings {
    path: PathBuf,
    text: Vec<u8>,
}

impl Settings {
    /// Those in a folder `.cargo`. Cargo takes the file without an ending where there are both.
    fn within(folder: &Path) -> Option<Settings> {
        let path = ["config", "config.toml"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())?;
        Some(Settings { text: std::fs::read(&path).ok()?, path })
    }

    fn table(&self) -> Option<toml::Table> {
        toml::from_str(&String::from_utf8_lossy(&self.text)).ok()
    }

    /// The linker for a machine; a path counts from the folder around `.cargo`.
    fn linker(&self, host: &str) -> Option<PathBuf> {
        let table = self.table()?;
        let linker = table.get("target")?.get(host)?.get("linker")?.as_str()?;
        let around = || self.path.parent()?.parent();
        if linker.contains('/') { Some(around()?.join(linker)) } else { Some(linker.into()) }
    }
}

/// Cargo's own folder, with the user's settings and what was fetched.
pub(super) fn cargo_home() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// Those that cargo reads for a folder, but for the user's own, which it always reads.
fn settings(dir: &Path) -> Vec<Settings> {
    let home = cargo_home();
    let folders = dir.ancestors().map(|folder| folder.join(".cargo")).filter(|folder| home.as_ref() != Some(folder));
    folders.filter_map(|folder| Settings::within(&folder)).collect()
}

pub(super) fn absent(error: RunError) -> RunError {
    match error {
        RunError::Start { program, source } if source.kind() == std::io::ErrorKind::NotFound => {
            RunError::toolchain(format!("`{program}` was not found"))
                .hint("install Rust, for instance by rustup, and put it on the PATH")
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_of_the_settings_is_the_one_for_this_machine() {
        let linker = |text: &str| {
            let settings = Settings { path: "/project/.cargo/config.toml".into(), text: text.into() };
            settings.linker("x86_64-unknown-linux-gnu")
        };
        let named = |linker: &str| format!("[target.x86_64-unknown-linux-gnu]\nlinker = \"{linker}\"\n");
        assert_eq!(linker(&named("clang")), Some("clang".into()));
        assert_eq!(linker(&named("tools/ld")), Some("/project/tools/ld".into()));
        assert_eq!(linker("[target.aarch64-unknown-linux-gnu]\nlinker = \"clang\"\n"), None);
        assert_eq!(linker("[build"), None);
    }

    #[test]
    fn settings_that_one_version_alone_is_built_by_are_named() {
        let place = tempfile::tempdir().unwrap();
        let dirs = ["old", "new"].map(|name| place.path().join(name).join("bench"));
        let write = |folder: &Path, text: &str| {
            std::fs::create_dir_all(folder.join(".cargo")).unwrap();
            std::fs::write(folder.join(".cargo/config.toml"), text).unwrap();
        };
        let apart = || settings_apart([&dirs[0], &dirs[1]]);
        dirs.iter().for_each(|dir| std::fs::create_dir_all(dir).unwrap());
        write(place.path(), "[build]\njobs = 1\n");
        assert_eq!(apart(), None, "above both");
        write(&place.path().join("new"), "[build]\nrustflags = []\n");
        let words = apart().unwrap();
        assert!(words.ends_with("new/.cargo/config.toml` for head only"), "{words}");
        write(&place.path().join("old"), "[build]\nrustflags = []\n");
        assert_eq!(apart(), None, "of one text");
        write(&place.path().join("old"), "[build]\nrustflags = [\"-g\"]\n");
        let words = apart().unwrap();
        assert!(words.contains("for base only; ") && words.ends_with("for head only"), "{words}");
    }
}
