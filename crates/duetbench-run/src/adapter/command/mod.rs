//! Whole programs: a process is a slice, unless the program has a loop of its own and takes part in the lock-step itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::spec::{CommandSpec, Filter, HarnessSpec};

use super::{Adapter, Artifact, Build, Built, Identity, KINDS, Listing, Order, Subject, Wish};
use crate::adapter;
use crate::error::RunError;
use crate::process::{Launch, Sandbox};
use crate::program::Program;
use crate::source::Source;
use crate::tool::{Tool, shorten};

mod line;
mod list;
mod variants;

use variants::{Variant, variants};

/// The package that all of them are in.
const PACKAGE: &str = "command";

/// Whole programs.
#[derive(Debug)]
pub struct Kind;

impl adapter::Kind for Kind {
    fn name(&self) -> &'static str {
        "command"
    }

    fn runs(&self, version: &Source) -> bool {
        version.command().is_some()
    }

    fn asked_by(&self, settings: &HarnessSpec) -> Option<&'static str> {
        (!settings.commands.is_empty()).then_some("commands")
    }

    fn open(&self, wish: &Wish<'_>, versions: &[Source], _: &Path) -> Result<Box<dyn Adapter>, RunError> {
        Ok(Box::new(Commands::new(wish, versions)?))
    }
}

/// Starts programs.
#[derive(Debug)]
pub struct Commands {
    entries: Vec<CommandSpec>,
    variants: Vec<Variant>,
    /// Largest resident set of each benchmark of the version that was listed before, in bytes.
    peaks: BTreeMap<String, u64>,
    timeout: Duration,
    /// Variables of the user's that programs may see.
    passed: Vec<(OsString, OsString)>,
    /// Filter of the programs to execute.
    filter: Filter,
    /// Sandbox around the programs, if there is one.
    sandbox: Option<Sandbox>,
}

impl Commands {
    /// An adapter for the programs that were asked for; these versions are directories in which they run, or command lines
    /// themselves.
    ///
    /// # Errors
    /// When a command line, a parameter or an argument cannot be understood.
    pub fn new(wish: &Wish<'_>, sources: &[Source]) -> Result<Commands, RunError> {
        if let Some(argument) = wish.arguments.first() {
            let why = "whole programs take no further arguments: write it into the command line";
            return Err(RunError::argument(argument, why));
        }
        let mut entries = wish.harness.commands.clone();
        if entries.is_empty() {
            entries.push(CommandSpec::default());
        }
        let sandbox = wish.conditions.sandbox.cloned();
        if sandbox.is_some() && entries.iter().any(|entry| !entry.lockstep) {
            let why =
                "making a sandbox would be timed as a part of whole programs; `--lockstep` measures their own loops";
            return Err(RunError::argument("--sandbox", why));
        }
        let variants = variants(&entries, sources)?;
        // A program may be of any language.
        let passed = wish.conditions.passed(KINDS.iter().flat_map(|kind| kind.variables()).copied());
        let (timeout, filter) = (wish.conditions.timeout, wish.conditions.filter()?);
        Ok(Commands { entries, variants, peaks: BTreeMap::new(), timeout, passed, filter, sandbox })
    }

    fn variant(&self, id: &BenchmarkId) -> Option<(&Variant, &CommandSpec)> {
        let variant = self.variants.iter().find(|v| v.name == id.name && id.package == PACKAGE)?;
        Some((variant, self.entries.get(variant.entry)?))
    }

    /// A command line with a benchmark's parameters, in a version's directory.
    fn started(&self, line: &str, variant: &Variant, dir: &Path) -> Option<Launch> {
        // Every line was split once before, when the adapter was made.
        let launch = line::launch(line, &variant.values, (dir, &self.passed)).ok()?;
        Some(Launch { sandbox: self.sandbox.clone(), ..launch })
    }

    fn own_launch(&self, artifact: &Artifact, variant: &Variant) -> Option<Launch> {
        self.started(artifact.build_args.get(variant.entry)?, variant, &artifact.dir)
    }

    /// Runs what builds the programs, each line once.
    fn build_all(&self, dir: &Path, subject: Subject<'_>) -> Result<(), RunError> {
        for build in self.entries.iter().filter_map(|entry| entry.build.as_deref()).collect::<BTreeSet<_>>() {
            let words = line::words(build)?;
            let (program, args) = words.split_first().map_or(("", &words[..]), |(program, args)| (program, args));
            let output = Tool::new(program, args, dir).output()?;
            if !output.status.success() {
                let output = shorten(&[&output.stdout[..], &output.stderr[..]].concat());
                let version = subject.version.to_owned();
                return Err(RunError::Build { role: subject.role, version, output: format!("{build}\n{output}") });
            }
        }
        Ok(())
    }
}

impl Adapter for Commands {
    fn toolchain(&self) -> String {
        "whole programs".into()
    }

    fn build(&self, source: &Source, _: &[String], subject: Subject<'_>) -> Result<Built, RunError> {
        self.build_all(&source.dir, subject)?;
        let line = |entry: &CommandSpec| entry.command.clone().or_else(|| source.command().map(String::from));
        let lines: Vec<String> = self.entries.iter().map(|entry| line(entry).unwrap_or_default()).collect();
        let words = lines.iter().map(|line| line::words(line)).collect::<Result<Vec<_>, _>>()?;
        let program = words.first().and_then(|words| line::locate(words.first()?, &source.dir)).unwrap_or_default();
        let digest = line::digest(&words, &source.dir);
        let artifact = Artifact { program, dir: source.dir.clone(), digest, build_args: lines };
        let build = Build { artifacts: BTreeMap::from([(PACKAGE.to_owned(), artifact)]), ..Build::default() };
        Ok(Built { build, notes: Vec::new() })
    }

    fn identical(&self, _: [&Build; 2], _: [&Source; 2]) -> BTreeMap<String, Identity> {
        // That two command lines do the same can be a wish to see how well that is measured, and can never be proven.
        BTreeMap::new()
    }

    fn list(&mut self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError> {
        list::list(self, build, interrupted)
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, _: &Order) -> Option<Launch> {
        let (variant, _) = self.variant(id)?;
        self.own_launch(build.artifacts.get(PACKAGE)?, variant)
    }

    fn program(&self, build: &Build, id: &BenchmarkId) -> Option<Program> {
        let (variant, entry) = self.variant(id)?;
        let artifact = build.artifacts.get(PACKAGE)?;
        let beside = |line: &Option<String>| line.as_ref().and_then(|l| self.started(l, variant, &artifact.dir));
        Some(Program {
            launch: self.own_launch(artifact, variant)?,
            prepare: beside(&entry.prepare),
            conclude: beside(&entry.conclude),
            exit_code: entry.exit_code,
            refill: entry.refill,
        })
    }
}
