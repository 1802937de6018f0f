//! A build of a version's bench targets, with the hook in what they link and the pieces of every program kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::arguments::CargoArguments;
use super::cargo::Cargo;
use super::metadata::{Bench, Metadata, Target};
use super::workshop::Workshop;
use super::{hooked, link};
use crate::error::RunError;
use crate::source::Source;
use crate::tool::shorten;

/// Variables with the user's own wrapper of the compiler, the strongest first.
const WRAPPERS: [&str; 2] = ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"];

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

/// One build of a version.
pub(super) struct BenchBuild<'a> {
    pub(super) cargo: &'a Cargo,
    pub(super) arguments: &'a CargoArguments,
    pub(super) workshop: &'a Workshop,
    pub(super) source: &'a Source,
    /// The folder for what programs are made of.
    pub(super) links: &'a Path,
}

impl BenchBuild<'_> {
    /// Has cargo forget what it built of packages on disk, vendored ones among them: it takes one of a version for any other of that version.
    pub(super) fn forget(&self, metadata: &Metadata) -> Result<(), RunError> {
        let profile = self.arguments.profile.as_deref().unwrap_or("bench");
        if self.workshop.target().exists() {
            let packages = metadata.local().chain(metadata.vendored(&self.source.tree));
            let packages = packages.flat_map(|package| ["-p".to_owned(), package.spec()]);
            let fixed = ["clean", "--quiet", "--locked", "--profile", profile].map(String::from);
            let config = self.arguments.config.iter().cloned();
            self.run(fixed.into_iter().chain(config).chain(packages), "cargo clean")?;
        }
        Ok(())
    }

    /// Builds bench targets. Those without features that they require are passed over, as `cargo bench` does with those that nobody
    /// names: of a workspace cargo tells features which another member enables, and this one alone has not.
    pub(super) fn build_enabled(
        &self,
        benches: &mut Vec<Bench>,
        passed_over: &mut Vec<Bench>,
    ) -> Result<Vec<Program>, RunError> {
        while !benches.is_empty() {
            let error = match self.build(&*benches) {
                Err(error) => error,
                built => return built,
            };
            let lacking = lacking_features(&error.to_string());
            let is_lacking =
                |bench: &Bench| lacking.as_ref().is_some_and(|named| named.each_ref() == [&bench.name, &bench.package]);
            let Some(at) = benches.iter().position(is_lacking) else { return self.build_apart(benches, error) };
            passed_over.push(benches.remove(at));
        }
        Ok(Vec::new())
    }

    /// Builds a package at a time what failed together: cargo builds targets of one name in all packages that are named, also those that
    /// cannot be built.
    fn build_apart(&self, benches: &[Bench], failed: RunError) -> Result<Vec<Program>, RunError> {
        let packages: BTreeSet<&str> = benches.iter().map(|bench| &*bench.package).collect();
        if packages.len() == 1 {
            return Err(failed);
        }
        let mut programs = Vec::new();
        for package in packages {
            programs.extend(self.build(benches.iter().filter(|bench| bench.package == package))?);
        }
        Ok(programs)
    }

    /// Builds bench targets.
    fn build<'b>(&self, benches: impl IntoIterator<Item = &'b Bench>) -> Result<Vec<Program>, RunError> {
        let fixed = ["bench", "--no-run", "--quiet", "--locked", "--message-format=json-render-diagnostics"];
        let mut args: Vec<String> = fixed.map(String::from).to_vec();
        args.extend(benches.into_iter().flat_map(Bench::flags));
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
        let configured = || self.cargo.configured_linker(&self.source.dir).map(PathBuf::into_os_string);
        let own_linker = own(&[&linker]).or_else(configured);
        for (variable, value) in [("DUET_RUSTC_WRAPPER", own(&WRAPPERS)), ("DUET_LINKER", own_linker)] {
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

/// The target that lacks features, and its package, in cargo's words: *target `speed` in package `codec` requires the features: `simd`*.
fn lacking_features(words: &str) -> Option<[String; 2]> {
    let (_, rest) = words.split_once("target `")?;
    let (target, rest) = rest.split_once("` in package `")?;
    let (package, rest) = rest.split_once('`')?;
    rest.starts_with(" requires the features").then(|| [target.to_owned(), package.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_lacks_features_is_named_by_cargo() {
        let words = "error: target `speed` in package `codec` requires the features: `simd`\nConsider enabling them";
        assert_eq!(lacking_features(words), Some(["speed".to_owned(), "codec".to_owned()]));
        assert_eq!(lacking_features("error: no target `speed` in package `codec`"), None);
    }
}
