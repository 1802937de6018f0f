//! Harness adapters: how one kind of benchmark is built, listed and started. One folder each.
//!
//! The rest of duet knows an adapter by [`Adapter`] and a harness by [`Kind`]; [`KINDS`] is the only place that names them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Discovered, Mode, Part, Redefinition};
use duetbench_core::reach::Reach;
use duetbench_core::spec::{Arch, Filter, LayoutChoice, Selection, SpecError};
use duetbench_core::{BenchmarkId, Role};
use serde::Deserialize;

use crate::error::RunError;
use crate::process::{Launch, Sandbox};
use crate::program::Program;
use crate::source::Source;

mod changes;
pub mod command;
pub mod go;
mod growing;
pub mod jmh;
mod kinds;
mod pair_layouts;
mod relinking;
pub mod rust;

pub use kinds::{KINDS, Kind, Manifest, Wish, named, open, registries};
pub use pair_layouts::{CheckAlike, Layout, PairLayouts, Plan};
pub use relinking::{Relink, Relinking, Urgency};

/// One program of one version, built from a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The executable.
    pub program: PathBuf,
    /// Where it runs.
    pub dir: PathBuf,
    /// SHA-256 of the executable, hexadecimal.
    pub digest: String,
    /// Arguments of the harness's own build command, without output and linker flags; for whole programs, their command lines.
    pub build_args: Vec<String>,
}

/// One version, built: its artifacts by package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Build {
    /// Artifacts by package.
    pub artifacts: BTreeMap<String, Artifact>,
    /// Declared benchmarks; empty where the harness does not tell.
    pub declared: BTreeMap<BenchmarkId, Declared>,
}

/// A benchmark as its source declares it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Declared {
    /// Whether it can repeat what it measures.
    pub loops: bool,
    /// Whether it cannot have benchmarks below it.
    pub leaf: bool,
    /// The parts of its definition, its own function first.
    pub parts: Vec<Part>,
    /// Digest of its own function without its name.
    pub body: String,
}

impl Build {
    /// Packages that both builds have, with the artifact of each.
    fn common<'a>(&'a self, other: &'a Build) -> impl Iterator<Item = (&'a String, [&'a Artifact; 2])> {
        self.artifacts.iter().filter_map(|(package, own)| Some((package, [own, other.artifacts.get(package)?])))
    }

    /// One digest over all artifacts, hexadecimal.
    pub fn digest(&self) -> String {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new();
        for (package, artifact) in &self.artifacts {
            hash.update(package.as_bytes());
            hash.update([0]);
            hash.update(artifact.digest.as_bytes());
        }
        hex(&hash.finalize())
    }

    /// Benchmarks that are made of something else in the candidate, with the first difference.
    pub fn redefined(&self, candidate: &Build) -> BTreeMap<BenchmarkId, Redefinition> {
        let of_both = self.declared.iter().filter_map(|(id, base)| Some((id, base, candidate.declared.get(id)?)));
        of_both
            .filter_map(|(id, base, head)| Some((id.clone(), Redefinition::between(&base.parts, &head.parts)?)))
            .collect()
    }

    /// Benchmarks that probably have another name in the candidate: of a package those that only one version has, with a body that no
    /// other of them has. The name in the baseline comes first.
    pub fn renamed<'a>(&'a self, candidate: &'a Build) -> Vec<[&'a BenchmarkId; 2]> {
        let (gone, new) = (by_body(self, candidate), by_body(candidate, self));
        let pair =
            |(body, ids): (&(&str, &str), &Vec<&'a BenchmarkId>)| match (&ids[..], new.get(body).map(Vec::as_slice)) {
                ([was], Some([is])) => Some([*was, *is]),
                _ => None,
            };
        gone.iter().filter_map(pair).collect()
    }
}

/// Benchmarks that the other build does not have, by package and body.
fn by_body<'a>(of: &'a Build, other: &Build) -> BTreeMap<(&'a str, &'a str), Vec<&'a BenchmarkId>> {
    let mut found: BTreeMap<(&str, &str), Vec<&BenchmarkId>> = BTreeMap::new();
    for (id, declared) in of.declared.iter().filter(|(id, _)| !other.declared.contains_key(*id)) {
        found.entry((&id.package, &declared.body)).or_default().push(id);
    }
    found
}

/// A package whose benchmarks cannot be measured on the code of the other version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The package.
    pub package: String,
    /// The compiler's words; absent where the other version does not have the package.
    pub words: Option<String>,
}

/// A version's build and what its reader should know about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Built {
    /// The artifacts and the definitions of the benchmarks.
    pub build: Build,
    /// Notes for the reader, in sentences; the candidate's are shown.
    pub notes: Vec<String>,
}

/// Whether the benchmarks of a package can differ at all between two builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Everything that running code depends on is equal.
    Identical,
    /// The first thing found that differs, or that could not be compared, in words.
    Different(String),
}

/// Whether benchmarks can reach anything that differs between two builds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaches {
    /// The answer for benchmarks; those that are not here may be affected. Cases of a benchmark have its answer.
    pub of: BTreeMap<BenchmarkId, Reach>,
    /// Packages of which that cannot be told, and why, in sentences.
    pub unknown: Vec<String>,
}

impl Reaches {
    /// Findings, a sentence for each package: how many benchmarks are affected, and what affects most of them.
    pub fn summary(&self) -> Vec<String> {
        let mut packages: BTreeMap<&str, (u32, BTreeMap<&str, u32>)> = BTreeMap::new();
        for (id, reach) in &self.of {
            let (all, reasons) = packages.entry(&id.package).or_default();
            *all += 1;
            if let Reach::Differs(reason) = reach {
                *reasons.entry(reason).or_default() += 1;
            }
        }
        let sentence = |(package, (all, reasons)): (&str, (u32, BTreeMap<&str, u32>))| {
            let affected: u32 = reasons.values().sum();
            let most = reasons.iter().max_by_key(|(_, count)| **count);
            let most = most.map_or(String::new(), |(reason, count)| format!("; {count} since {reason}"));
            format!("{package}: {affected} of {all} benchmarks may be affected{most}")
        };
        packages.into_iter().map(sentence).collect()
    }
}

/// Options for harnesses that build packages and link them.
const OF_PACKAGES: [&str; 3] = ["--packages", "--builds", "--layouts"];

/// Order to one measuring process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Mode in which the two sides run.
    pub mode: Mode,
    /// Length a slice aims at, nanoseconds.
    pub slice_ns: u64,
    /// Slices at its start that warm up.
    pub warmup_slices: u32,
    /// Slices after the warm-up; ignored by styles that agree on their number on the page.
    pub slices: u32,
}

/// Order to a process whose processor time is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling<'a> {
    /// Mode in which the benchmark was measured.
    pub mode: Mode,
    /// Invocations that the process makes.
    pub invocations: u64,
    /// File for its profile; absent: it is not sampled.
    pub file: Option<&'a Path>,
}

/// Conditions under which benchmarks run.
#[derive(Debug, Clone, Copy)]
pub struct Conditions<'a> {
    /// Longest silence of a benchmark before it counts as hung.
    pub timeout: Duration,
    /// Names of variables that benchmarks may see on top of the allow-list.
    pub pass_env: &'a [String],
    /// Wanted layouts of the two halves of build pairs; absent where nothing is linked again.
    pub layouts: Option<LayoutChoice>,
    /// Whether the reach of benchmarks is to be told, where a harness can do that.
    pub reach: bool,
    /// Benchmarks to execute while listing; absent: all.
    pub selection: Option<&'a Selection>,
    /// Sandbox around the benchmarks; absent: they run without one.
    pub sandbox: Option<&'a Sandbox>,
}

/// Conditions that an adapter keeps for every process that it starts.
#[derive(Debug)]
struct Around {
    timeout: Duration,
    /// The harness's variables and those of [`Conditions::pass_env`] that are set, with their values.
    passed: Vec<(OsString, OsString)>,
    /// Filter that selects the benchmarks to execute by their names.
    filter: Filter,
    /// Sandbox around the benchmarks, if there is one.
    sandbox: Option<Sandbox>,
}

impl Conditions<'_> {
    /// The part that an adapter keeps for its processes, with these variables of its harness.
    fn around<'n>(&'n self, of_harness: impl IntoIterator<Item = &'n str>) -> Result<Around, RunError> {
        let names = of_harness.into_iter().chain(self.pass_env.iter().map(String::as_str));
        let passed = names.filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
        let all = Selection { bench: None, exclude: None, packages: Vec::new() };
        let refused = |e: SpecError| RunError::toolchain(e.to_string());
        let filter = self.selection.unwrap_or(&all).filter().map_err(refused)?;
        Ok(Around { timeout: self.timeout, passed, filter, sandbox: self.sandbox.cloned() })
    }
}

/// Link settings of a program that is going to run elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipping {
    /// The processor it is for.
    pub arch: Arch,
    /// Seed for the order of its functions; absent: they have the linker's own order.
    pub layout_seed: Option<u32>,
}

/// A benchmark that skips itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The benchmark.
    pub id: BenchmarkId,
    /// Its own words on that, where it has any.
    pub reason: Option<String>,
}

/// Result of listing a build's benchmarks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The benchmarks, with the failure of each one that failed.
    pub found: Vec<Discovered>,
    /// Benchmarks that skip themselves.
    pub skipped: Vec<Skipped>,
    /// Notes on the benchmarks for the reader, in sentences; the candidate's are shown.
    pub notes: Vec<String>,
    /// The same, of which nothing is to be feared.
    pub remarks: Vec<String>,
}

/// Builds, lists and starts the benchmarks of one harness.
pub trait Adapter: std::fmt::Debug + Sync {
    /// The toolchain that builds and runs both versions, in a few words.
    fn toolchain(&self) -> String;

    /// Has a version run the benchmarks of another one on its own code, as far as they compile there; `onto` is ours to change. Must come
    /// before [`Adapter::build`].
    ///
    /// # Errors
    /// When this harness cannot tell benchmarks from the code that they measure.
    fn lay_over(&self, of: &Source, onto: &Source, patterns: &[String]) -> Result<Vec<Unfit>, RunError> {
        let _ = (of, onto, patterns);
        Err(RunError::toolchain("only Go's benchmarks can be measured on the code of the other version")
            .hint("leave out `--benchmarks-from`"))
    }

    /// Builds a version; `patterns` choose packages in the harness's own syntax. A build without artifacts is that of a version without
    /// benchmarks, which the other one may have.
    ///
    /// # Errors
    /// When the version does not build (the compiler's words), or never has benchmarks.
    fn build(&self, source: &Source, patterns: &[String], subject: Subject<'_>) -> Result<Built, RunError>;

    /// The error that a version has no benchmarks.
    fn no_benchmarks(&self, subject: Subject<'_>, patterns: &[String]) -> RunError {
        subject.has_no_benchmarks(patterns)
    }

    /// Whether the two sides differ even where they are the same source, by how their processes are started.
    fn tells_sides_apart(&self) -> bool {
        false
    }

    /// Packages that both builds have, and whether their benchmarks can differ. A package that cannot be compared counts as different.
    fn identical(&self, builds: [&Build; 2], sources: [&Source; 2]) -> BTreeMap<String, Identity>;

    /// Benchmarks that are defined differently in the candidate, with the first difference; must come after [`Adapter::list`].
    fn redefined(&self, [baseline, candidate]: [&Build; 2]) -> BTreeMap<BenchmarkId, Redefinition> {
        baseline.redefined(candidate)
    }

    /// Whether benchmarks can reach anything that differs, where that was asked for and can be told.
    fn reach(&self, builds: [&Build; 2], sources: [&Source; 2]) -> Reaches {
        let _ = (builds, sources);
        Reaches::default()
    }

    /// The benchmarks of a build; must come before [`Adapter::launch`]. A benchmark that fails while it is listed is listed with its failure.
    ///
    /// # Errors
    /// When the build cannot be listed at all, or on an interrupt.
    fn list(&mut self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError>;

    /// Tells a build apart by what is known of it once it was listed.
    fn listed(&self, _: &Source, _: &mut Build) {}

    /// Options that say nothing to this harness.
    fn ignored(&self) -> &'static [&'static str] {
        &[]
    }

    /// The number of processors that the user wants benchmarks to run on, where that was said.
    fn processors_asked(&self) -> Option<u32> {
        None
    }

    /// Whether artifacts can be linked again with their functions in another order.
    fn relinks(&self) -> bool {
        false
    }

    /// Prepares the tools that lay the halves of build pairs out alike, where that is wanted; must come before [`Adapter::build`].
    /// `on_building` hears of it if that takes a while.
    fn prepare_layouts(&mut self, on_building: &mut dyn FnMut()) {
        let _ = on_building;
    }

    /// Decides how the build pairs of these two are laid out, baseline first; must come before [`Adapter::relink`].
    fn decide_layouts(&self, builds: [&Build; 2]) {
        let _ = builds;
    }

    /// Layouts of the build pairs; absent where each half has an order of its own in any case.
    fn pair_layouts(&self) -> Option<&PairLayouts> {
        None
    }

    /// Whether what follows a plan has the data of both versions at the same addresses too, so that code which did not change has the same
    /// bytes.
    fn matches_data(&self) -> bool {
        false
    }

    /// Starts linking an artifact again, with its functions in another order.
    ///
    /// # Errors
    /// When it cannot be linked so.
    fn relink(&self, artifact: &Artifact, wanted: Relink<'_>) -> Result<Relinking, RunError> {
        let _ = wanted;
        let what = format!("`{}` cannot be linked in another order", artifact.program.display());
        Err(RunError::toolchain(what))
    }

    /// Whether artifacts can run elsewhere, with nothing but themselves and their package's files.
    ///
    /// # Errors
    /// When this harness cannot do without what is installed here.
    fn travels(&self) -> Result<(), RunError> {
        Err(RunError::toolchain(format!("a fleet has no {}, which these benchmarks need", self.toolchain()))
            .hint("leave out `--on`: only Go's benchmarks need nothing but themselves"))
    }

    /// Links an artifact again as a `program` that [travels](Adapter::travels).
    ///
    /// # Errors
    /// When it cannot be linked so, or does not travel.
    fn ship(&self, artifact: &Artifact, shipping: Shipping, program: &Path) -> Result<(), RunError> {
        let _ = (artifact, shipping, program);
        self.travels()
    }

    /// The command line that measures one benchmark; absent when the build has no such package.
    fn launch(&self, build: &Build, id: &BenchmarkId, order: &Order) -> Option<Launch>;

    /// The program of a benchmark whose slices are whole processes; absent when the build has no such program.
    fn program(&self, build: &Build, id: &BenchmarkId) -> Option<Program> {
        let _ = (build, id);
        None
    }

    /// Whether processes can be [sampled](Adapter::sampled).
    ///
    /// # Errors
    /// Why not, in words.
    fn profiles(&self) -> Result<(), String> {
        Err("duet reads profiles of Go's benchmarks only, so far".into())
    }

    /// Whether the instructions of benchmarks can be counted: those of processes that make as many invocations as they are [told](Adapter::counted), or of
    /// whole [programs](Adapter::program). Gives the time that the invocations take without callgrind by which the two kinds of processes differ: what
    /// varies beside them is little beside those.
    ///
    /// # Errors
    /// Why not, in words.
    fn counts(&self) -> Result<Duration, String> {
        Err("duet counts instructions of Go's benchmarks, criterion's and whole programs only".into())
    }

    /// The command line of a process of one benchmark that makes so many invocations and executes the same instructions each time, as far as that
    /// can be had; absent when the build has no such package.
    fn counted(&self, build: &Build, id: &BenchmarkId, invocations: u64) -> Option<Launch> {
        let _ = (build, id, invocations);
        None
    }

    /// Whether the output of such processes tells what benchmarks report under units of their own.
    fn reports_units(&self) -> bool {
        false
    }

    /// The command line of a process of one benchmark that is not measured, and may write a profile of its processor time; absent
    /// when the build has no such package.
    fn sampled(&self, build: &Build, id: &BenchmarkId, sampling: &Sampling<'_>) -> Option<Launch> {
        let _ = (build, id, sampling);
        None
    }
}

/// The version that a message is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The side it is on.
    pub role: Role,
    /// Its name, as the user typed it.
    pub version: &'a str,
}

impl Subject<'_> {
    fn has_no_benchmarks(self, patterns: &[String]) -> RunError {
        let (side, where_looked) = (self.role.side(), patterns.join(" "));
        RunError::nothing_to_measure(format!("{side} (`{}`) has no benchmarks in {where_looked}", self.version))
    }

    /// The error of a step of its build: a tool's failure there is the version's failure to build.
    fn fails_to_build(self, error: RunError) -> RunError {
        match error {
            RunError::Tool { output, .. } => {
                RunError::Build { role: self.role, version: self.version.to_owned(), output }
            }
            other => other,
        }
    }
}

/// Whether a program was built with a hook in it; without, an overlay was ignored.
fn is_hooked(program: &[u8]) -> bool {
    memchr::memmem::find(program, b"duet-hook-protocol-1").is_some()
}

/// The first few of these.
fn shown(all: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN_MAX: usize = 5;
    let more = all.len().saturating_sub(SHOWN_MAX);
    let named = all.take(SHOWN_MAX).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
