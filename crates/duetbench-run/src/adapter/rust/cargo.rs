//! One cargo for both versions, and its command lines.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::arguments::CargoArguments;
use super::metadata::{Bench, Metadata, Target};
use super::workshop::Workshop;
use super::{hooked, link};
use crate::error::RunError;
use crate::source::Source;
use crate::tool::{Tool, shorten};

/// Variables with the user's own wrapper of the compiler, the strongest first.
const WRAPPERS: [&str; 2] = ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"];

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

/// A message of cargo's while it builds.
#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    target: Option<Target>,
    executable: Option<PathBuf>,
}

/// A program that cargo has built.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) package_id: String,
    pub(super) name: String,
    pub(super) path: PathBuf,
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

    fn tool<'a>(&self, program: &str, args: impl IntoIterator<Item = &'a str>, dir: &Path) -> Tool {
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

/// One build of a version.
pub(super) struct Order<'a> {
    pub(super) cargo: &'a Cargo,
    pub(super) arguments: &'a CargoArguments,
    pub(super) workshop: &'a Workshop,
    pub(super) source: &'a Source,
    /// The folder for what programs are made of.
    pub(super) links: &'a Path,
}

impl Order<'_> {
    /// Has cargo forget what it built of packages on disk.
    pub(super) fn forget(&self, metadata: &Metadata) -> Result<(), RunError> {
        let target = self.workshop.target();
        if !target.exists() {
            return Ok(());
        }
        let profile = self.arguments.profile.as_deref().unwrap_or("bench");
        let fixed = ["clean", "--quiet", "--locked", "--profile", profile].map(String::from);
        let packages = metadata.local().flat_map(|package| ["-p".to_owned(), package.id.clone()]);
        self.run(fixed.into_iter().chain(packages), "cargo clean").map(drop)
    }

    /// Builds bench targets.
    pub(super) fn build(&self, benches: &[Bench]) -> Result<Vec<Program>, RunError> {
        let fixed = ["bench", "--no-run", "--quiet", "--locked", "--message-format=json-render-diagnostics"];
        let mut args: Vec<String> = fixed.map(String::from).to_vec();
        args.extend(benches.iter().flat_map(Bench::flags));
        args.extend(self.arguments.all.iter().cloned());
        let messages = self.run(args.into_iter(), "cargo bench --no-run")?;
        let messages = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
        let programs = messages.filter(|message| message.reason == "compiler-artifact").filter_map(|message| {
            let target = message.target.filter(|target| target.kind.iter().any(|kind| kind == "bench"))?;
            Some(Program { package_id: message.package_id, name: target.name, path: message.executable? })
        });
        Ok(programs.collect())
    }

    fn run(&self, args: impl Iterator<Item = String>, words: &str) -> Result<String, RunError> {
        let args: Vec<String> = args.collect();
        let target = self.workshop.target();
        let linker = self.cargo.linker_variable();
        let tool = self.cargo.tool("cargo", args.iter().map(String::as_str), &self.source.dir).called(words);
        let mut tool = tool
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_BUILD_BUILD_DIR", &target)
            .env("RUSTC_WRAPPER", self.workshop.rustc())
            .env(hooked::VARIABLE, self.workshop.hooked())
            .env(link::VARIABLE, self.links)
            .env(&linker, self.workshop.linker());
        let own = |names: &[&str]| names.iter().find_map(std::env::var_os);
        for (variable, value) in [("DUET_RUSTC_WRAPPER", own(&WRAPPERS)), ("DUET_LINKER", own(&[&linker]))] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                tool = tool.env(variable, value);
            }
        }
        let output = tool.output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(RunError::Tool { command: words.to_owned(), output: shorten(&output.stderr) })
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
