//! Whole programs: a process is a slice, unless the program has a loop of its own and takes part in the lock-step itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use duetbench_core::spec::{CommandSpec, HarnessSpec};
use duetbench_core::{BenchmarkId, Role};

use super::{Adapter, Around, Artifact, Build, Built, Identity, KINDS, Listing, OF_PACKAGES, Order, Subject, Wish};
use crate::adapter;
use crate::error::RunError;
use crate::process::{Launch, keep_failure};
use crate::program::{Patience, Program, Trouble, attend};
use crate::source::Source;
use crate::tool::{Tool, words_of_build};

mod line;
mod list;
mod variants;

pub use variants::names;
use variants::{Variant, shell_note, variants};

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
    /// Note on a command line that is written for a shell and started without one.
    shell_note: Option<String>,
    /// Largest resident set of each benchmark of the version that was listed before.
    peaks: BTreeMap<String, list::Peak>,
    /// Benchmarks that failed in a version that was listed before.
    failed: BTreeSet<String>,
    around: Around,
    /// Command lines that are due when all measuring is over.
    cleanups: Vec<Launch>,
    /// When programs were run first: later files are theirs.
    began: SystemTime,
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
        if wish.conditions.sandbox.is_some() && entries.iter().any(|entry| !entry.lockstep) {
            let why =
                "making a sandbox would be timed as a part of whole programs; `--lockstep` measures their own loops";
            return Err(RunError::argument("--sandbox", why));
        }
        let versions: Vec<Option<&str>> = sources.iter().map(Source::command).collect();
        let variants = variants(&entries, &versions)?;
        let shell_note = shell_note(&entries, &versions);
        // A program may be of any language.
        let around = wish.conditions.around(KINDS.iter().flat_map(|kind| kind.variables()).copied())?;
        Ok(Commands {
            entries,
            variants,
            shell_note,
            peaks: BTreeMap::new(),
            failed: BTreeSet::new(),
            around,
            cleanups: Vec::new(),
            began: SystemTime::UNIX_EPOCH,
        })
    }

    fn variant(&self, id: &BenchmarkId) -> Option<(&Variant, &CommandSpec)> {
        let variant = self.variants.iter().find(|v| v.name == id.name && id.package == PACKAGE)?;
        Some((variant, self.entries.get(variant.entry)?))
    }

    /// A command line with a benchmark's parameters, in a version's directory.
    fn started(&self, line: &str, variant: &Variant, dir: &Path) -> Option<Launch> {
        let shell = self.entries.get(variant.entry)?.shell.as_deref();
        // Every line was split once before, when the adapter was made.
        let launch = line::launch(&line::words(line, shell).ok()?, &variant.values, dir, &self.around.passed);
        Some(Launch { sandbox: self.around.sandbox.clone(), ..launch })
    }

    fn own_launch(&self, artifact: &Artifact, variant: &Variant) -> Option<Launch> {
        self.started(artifact.build_args.get(variant.entry)?, variant, &artifact.dir)
    }

    /// Words that name files, beside those that start the programs: of what a shell runs, and of what is read as input.
    fn beside(&self, lines: &[String]) -> Vec<[Option<Vec<String>>; 2]> {
        let named = |(line, entry): (&String, &CommandSpec)| {
            let run_by_shell = entry.shell.as_ref().and_then(|_| line::words(line, None).ok());
            [run_by_shell, entry.stdin.clone().map(|input| vec![String::new(), input])]
        };
        lines.iter().zip(&self.entries).map(named).collect()
    }

    /// The words of these command lines, one for each entry.
    fn split(&self, lines: &[String]) -> Result<Vec<Vec<String>>, RunError> {
        lines.iter().zip(&self.entries).map(|(line, entry)| line::words(line, entry.shell.as_deref())).collect()
    }

    /// A digest of everything that these lines name, with every value of their parameters.
    fn digest(&self, lines: &[String], source: &Source) -> String {
        // Every line was split once before, when it was built.
        let words = self.split(lines).unwrap_or_default();
        let beside = self.beside(lines);
        let filled = |words: &Vec<String>, variant: &Variant| -> Vec<String> {
            words.iter().map(|word| line::filled(word, &variant.values)).collect()
        };
        let run = self.variants.iter().filter_map(|one| Some(filled(words.get(one.entry)?, one)));
        let named = self.variants.iter().filter_map(|one| Some((one, beside.get(one.entry)?)));
        let named = named.flat_map(|(one, beside)| beside.iter().flatten().map(|words| filled(words, one)));
        let ours = source.is_ours().then_some((&*source.tree, &*source.resolved));
        line::Digested { dir: &source.dir, ours, before: self.began }.of(&run.chain(named).collect::<Vec<_>>())
    }

    /// Runs what builds the programs, in the order of the commands and each line once.
    fn build_all(&self, dir: &Path, subject: Subject<'_>) -> Result<(), RunError> {
        let builds = self.entries.iter().filter_map(|entry| Some((entry.build.as_deref()?, entry.shell.as_deref())));
        let mut done = BTreeSet::new();
        for (build, shell) in builds.filter(|build| done.insert(*build)) {
            let words = line::words(build, shell)?;
            let (program, args) = words.split_first().map_or(("", &words[..]), |(program, args)| (program, args));
            let wrong = |output: String| {
                let (role, version) = (subject.role, subject.version.to_owned());
                RunError::Build { role, version, output: format!("{build}\n{output}") }
            };
            let output = Tool::new(program, args, dir).output().map_err(|e| match e {
                // A script of the version's own: another version may have it.
                RunError::Start { source, .. } if program.contains('/') => wrong(source.to_string()),
                other => other,
            })?;
            if !output.status.success() {
                return Err(wrong(words_of_build(&output)));
            }
        }
        Ok(())
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // Also of a run that was interrupted: its files are there.
        let patience = Patience { limit: self.around.timeout, interrupted: &AtomicBool::new(false) };
        for launch in std::mem::take(&mut self.cleanups) {
            if let Err(Trouble::Failed { reason, .. }) = attend(&launch, "clean up after it", patience) {
                keep_failure(reason);
            }
        }
    }
}

impl Adapter for Commands {
    fn toolchain(&self) -> String {
        "whole programs".into()
    }

    fn build(&self, source: &Source, _: &[String], subject: Subject<'_>) -> Result<Built, RunError> {
        self.build_all(&source.dir, subject)?;
        let line = |entry: &CommandSpec| {
            let own = entry.head.clone().filter(|_| subject.role == Role::Candidate);
            own.or_else(|| entry.command.clone()).or_else(|| source.command().map(String::from))
        };
        let lines: Vec<String> = self.entries.iter().map(|entry| line(entry).unwrap_or_default()).collect();
        let words = self.split(&lines)?;
        let program = words.first().and_then(|words| line::locate(words.first()?, &source.dir)).unwrap_or_default();
        let artifact = Artifact { program, dir: source.dir.clone(), digest: String::new(), build_args: lines };
        let build = Build { artifacts: BTreeMap::from([(PACKAGE.to_owned(), artifact)]), ..Build::default() };
        Ok(Built { build, notes: Vec::new() })
    }

    fn tells_sides_apart(&self) -> bool {
        self.entries.iter().any(|entry| entry.head.is_some())
    }

    fn identical(&self, _: [&Build; 2], _: [&Source; 2]) -> BTreeMap<String, Identity> {
        // That two command lines do the same can be a wish to see how well that is measured, and can never be proven.
        BTreeMap::new()
    }

    fn ignored(&self) -> &'static [&'static str] {
        &OF_PACKAGES
    }

    fn listed(&self, source: &Source, build: &mut Build) {
        if let Some(artifact) = build.artifacts.get_mut(PACKAGE) {
            artifact.digest = self.digest(&artifact.build_args, source);
        }
    }

    fn list(&mut self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError> {
        self.began = line::next_file_time();
        list::list(self, build, interrupted)
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, _: &Order) -> Option<Launch> {
        let (variant, _) = self.variant(id)?;
        self.own_launch(build.artifacts.get(PACKAGE)?, variant)
    }

    fn counts(&self) -> Result<Duration, String> {
        // Programs are counted whole.
        Ok(Duration::ZERO)
    }

    fn program(&self, build: &Build, id: &BenchmarkId) -> Option<Program> {
        let (variant, entry) = self.variant(id)?;
        let artifact = build.artifacts.get(PACKAGE)?;
        let beside = |line: &Option<String>| line.as_ref().and_then(|l| self.started(l, variant, &artifact.dir));
        let launch = self.own_launch(artifact, variant)?;
        Some(Program {
            launch: Launch { streams: line::streams(entry, &variant.values, &artifact.dir), ..launch },
            prepare: beside(&entry.prepare),
            conclude: beside(&entry.conclude),
            exit_codes: entry.exit_code.clone(),
            refill: entry.refill,
        })
    }
}
