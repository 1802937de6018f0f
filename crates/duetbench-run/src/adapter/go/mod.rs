//! Go: test binaries built once per version with a hooked `testing` package, through `go test -c -overlay`.
//!
//! No file of the user's is changed: the overlay gives the compiler other contents for `testing/benchmark.go` (six
//! insertions), for the hook's own files, and for test files whose counting loops were rewritten.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::plan::{Discovered, Mode};
use duetbench_core::spec::LayoutChoice;

use super::{
    Adapter, Around, Artifact, Build, Built, Conditions, Declared, Identity, Listing, Manifest, Order, PairLayouts,
    Reaches, Relink, Relinking, Sampling, Shipping, Subject, Unfit, Wish,
};
use crate::adapter;
use crate::error::RunError;
use crate::process::Launch;
use crate::source::{Registry, Source};

mod arguments;
mod declared;
mod exchange;
pub mod identity;
mod kept;
mod linking;
mod list;
mod matching;
mod module;
mod modules;
mod native;
mod overlay;
mod packages;
mod reach;
mod toolchain;

pub use arguments::GoArguments;
pub(crate) use native::tells_cgo;
use toolchain::Release;
pub use toolchain::Toolchain;

/// The first release whose linker orders functions at random on demand.
const RANDLAYOUT_SINCE: Release = Release::one(23);

/// Why layouts are not matched where nobody wants them to be.
const RANDOM: &str = "random layouts were asked for";

/// Memory from which on a process whose instructions are counted collects garbage.
const COUNTED_MEMORY: &str = "512MiB";

/// Variables of Go's runtime and toolchain.
const VARIABLES: [&str; 11] = [
    "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "GOGC", "GOMEMLIMIT", "GODEBUG",
    "GOTRACEBACK", "GOEXPERIMENT",
];

/// Benchmarks by name, for joining what several looks at a binary gave.
type ByName = BTreeMap<String, Discovered>;

/// Go's `testing` package.
#[derive(Debug)]
pub struct Kind;

impl adapter::Kind for Kind {
    fn name(&self) -> &'static str {
        "go"
    }

    fn manifests(&self) -> &'static [Manifest] {
        &[Manifest { file: "go.mod", project: "a Go module" }, Manifest { file: "go.work", project: "a Go workspace" }]
    }

    fn takes_parts(&self) -> bool {
        true
    }

    fn reaches_from(&self, version: &Source) -> bool {
        // Patterns lead into modules that lie in the tree.
        let mut modules = Vec::new();
        modules::find(&version.tree, modules::DEPTH_MAX, &mut modules);
        !modules.is_empty()
    }

    fn registry(&self) -> Option<&'static dyn Registry> {
        Some(&module::Modules)
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn locate(&self, cwd: &Path, wanted: &[&BenchmarkId]) -> BTreeMap<BenchmarkId, (PathBuf, usize)> {
        declared::locate(cwd, wanted)
    }

    fn open(&self, wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError> {
        let arguments = GoArguments::parse(wish.arguments)?;
        let toolchain = Toolchain::for_all(versions, scratch)?;
        let dirs = versions.iter().map(|version| version.dir.clone()).collect();
        Ok(Box::new(Go { dirs, ..Go::new(toolchain, arguments, scratch, wish.conditions)? }))
    }
}

/// Builds and starts Go benchmarks.
#[derive(Debug)]
pub struct Go {
    toolchain: Toolchain,
    arguments: GoArguments,
    scratch: PathBuf,
    /// The directories of all versions.
    dirs: Vec<PathBuf>,
    around: Around,
    /// Whether halves of build pairs are to be laid out alike.
    layouts: Option<LayoutChoice>,
    /// Whether the reach of benchmarks is wanted, and if it cannot be told, why not.
    reach: Option<Result<(), String>>,
    /// The linker that lays them out alike, or the reason why there is none.
    linker: Result<matching::Linker, String>,
    pairs: PairLayouts,
}

impl Go {
    /// An adapter with one toolchain for both versions.
    ///
    /// # Errors
    /// When the toolchain cannot be used.
    pub fn new(
        toolchain: Toolchain,
        arguments: GoArguments,
        scratch: &Path,
        conditions: Conditions<'_>,
    ) -> Result<Go, RunError> {
        let scratch = scratch.join("go");
        fs::create_dir_all(&scratch).map_err(|e| RunError::file("create", &scratch, e))?;
        let (around, linker) = (conditions.around(VARIABLES)?, Err(RANDOM.to_owned()));
        let (layouts, pairs) = (conditions.layouts, PairLayouts::new(matching::check_alike));
        let reach = conditions.reach.then(|| reach::known(&toolchain, &arguments));
        let dirs = Vec::new();
        Ok(Go { toolchain, arguments, scratch, dirs, around, layouts, reach, linker, pairs })
    }
}

/// Note on counting loops that could not be rewritten.
fn recalled(not_rewritten: &[&str]) -> Option<String> {
    let what = "these are called again for every slice, because their loop cannot be sliced from inside";
    (!not_rewritten.is_empty()).then(|| format!("{what}: {}", not_rewritten.join(", ")))
}

impl Adapter for Go {
    fn toolchain(&self) -> String {
        self.toolchain.version.clone()
    }

    fn build(&self, source: &Source, patterns: &[String], subject: Subject<'_>) -> Result<Built, RunError> {
        let patterns = &self.patterns_of(source, patterns)[..];
        if patterns.is_empty() {
            return Ok(Built::default());
        }
        packages::check_replacements(&self.toolchain, &self.arguments.build, source, patterns)?;
        let found = packages::list(&self.toolchain, &self.arguments.build, source, patterns)
            .map_err(|e| subject.fails_to_build(e))?;
        let place = self.scratch.join(subject.role.word());
        fs::create_dir_all(&place).map_err(|e| RunError::file("create", &place, e))?;
        let overlay = overlay::Overlay::write(&self.toolchain, &found, &place)?;
        let mut build = Build::default();
        let with_benchmarks = found.iter().filter(|p| overlay.packages.contains(&p.import_path));
        for (number, package) in with_benchmarks.enumerate() {
            let program = place.join(format!("{number}.test"));
            let compiled = self.compile(package, &overlay.file, program).map_err(|e| subject.fails_to_build(e))?;
            if let Some(artifact) = compiled {
                build.artifacts.insert(package.import_path.clone(), artifact);
            }
        }
        let is_measured = |id: &BenchmarkId| overlay.declared.get(id).is_none_or(|one| self.may_be_wanted(id, one));
        let recalls = overlay.not_rewritten.iter().filter(|one| is_measured(&one.id)).map(|one| one.words.as_str());
        let notes = recalled(&recalls.collect::<Vec<_>>()).into_iter().collect();
        build.declared = overlay.declared_within(&source.tree);
        Ok(Built { build, notes })
    }

    fn no_benchmarks(&self, subject: Subject<'_>, patterns: &[String]) -> RunError {
        subject.has_no_benchmarks(patterns).hint(
            "benchmarks are functions `BenchmarkXxx(b *testing.B)` in `_test.go` files; `--packages` chooses where to \
             look, and `-- -tags TAG` builds those behind a build tag",
        )
    }

    fn lay_over(&self, of: &Source, onto: &Source, patterns: &[String]) -> Result<Vec<Unfit>, RunError> {
        exchange::lay_over(self, of, onto, patterns)
    }

    fn identical(&self, [baseline, candidate]: [&Build; 2], [from, to]: [&Source; 2]) -> BTreeMap<String, Identity> {
        let mut all = identity::compare_packages(baseline, candidate, identity::roots(from, to));
        if let Some(argument) = self.arguments.naming_a_file() {
            let reason = format!("`{argument}` may be a file, which may differ");
            all.values_mut().for_each(|identity| *identity = Identity::Different(reason.clone()));
        }
        all
    }

    fn reach(&self, [baseline, candidate]: [&Build; 2], [from, to]: [&Source; 2]) -> Reaches {
        let roots = identity::roots(from, to);
        let root = |known: &Result<(), String>| known.clone().map(|()| self.toolchain.root.as_path());
        let told = self.reach.as_ref().map(|known| reach::packages([baseline, candidate], roots, root(known)));
        told.unwrap_or_default()
    }

    fn processors_asked(&self) -> Option<u32> {
        self.arguments.cpu
    }

    fn list(&mut self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError> {
        let mut all = Listing::default();
        for (number, (package, artifact)) in build.artifacts.iter().enumerate() {
            let file = self.scratch.join(format!("list-{number}"));
            let mut launch = self.base_launch(artifact, 1);
            launch.args.extend(self.processors_flag());
            let (wanted, unwanted) = self.declared(build, package);
            let (last, timeout) = (self.user_args(), self.around.timeout);
            let lister = list::Lister { package, launch, last, file, timeout, wanted, unwanted };
            let listing = lister.run(interrupted)?;
            all.found.extend(listing.found);
            all.skipped.extend(listing.skipped);
            all.notes.extend(listing.notes);
        }
        // Its own words say more, where it failed.
        let idle = |one: &&mut Discovered| {
            one.failure.is_none() && build.declared.get(&one.id).is_some_and(|declared| !declared.loops)
        };
        for one in all.found.iter_mut().filter(idle) {
            one.failure = Some("it never loops over `b.N` or `b.Loop()`, so that it has no time per operation".into());
        }
        Ok(all)
    }

    fn ignored(&self) -> &'static [&'static str] {
        &["--warmup"]
    }

    fn relinks(&self) -> bool {
        self.toolchain.is_at_least(RANDLAYOUT_SINCE)
    }

    fn prepare_layouts(&mut self, on_building: &mut dyn FnMut()) {
        if let Some(Ok(())) = self.reach {
            match self.linker_that_notes(matching::Notes::InventoryAndGraph, on_building) {
                Ok(linker) => return self.linker = Ok(linker),
                Err(reason) => self.reach = Some(Err(reason)),
            }
        }
        if self.layouts.is_some() && self.relinks() {
            self.linker = self.linker_that_notes(matching::Notes::Inventory, on_building);
        }
    }

    fn decide_layouts(&self, builds: [&Build; 2]) {
        for (package, sides) in builds[0].common(builds[1]).filter(|_| self.relinks()) {
            let linker = self.linker.as_ref().map_err(Clone::clone);
            let plan = || linker.and_then(|_| matching::plan(sides, &self.scratch));
            match self.layouts {
                Some(LayoutChoice::Matched) => self.pairs.decide(package, plan()),
                Some(LayoutChoice::Random) if let Ok(plan) = plan() => self.pairs.decide_unlike(package, plan, RANDOM),
                _ => self.pairs.decide(package, Err(RANDOM.to_owned())),
            }
        }
    }

    fn pair_layouts(&self) -> Option<&PairLayouts> {
        Some(&self.pairs)
    }

    fn matches_data(&self) -> bool {
        true
    }

    fn relink(&self, artifact: &Artifact, wanted: Relink<'_>) -> Result<Relinking, RunError> {
        self.link_again(artifact, wanted)
    }

    fn travels(&self) -> Result<(), RunError> {
        Ok(())
    }

    fn ship(&self, artifact: &Artifact, shipping: Shipping, program: &Path) -> Result<(), RunError> {
        self.link_for_a_fleet(artifact, shipping, program)
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, order: &Order) -> Option<Launch> {
        let mut launch = self.base_launch(build.artifacts.get(&id.package)?, 1);
        launch.env.push(("DUET_BENCH".into(), id.name.clone().into()));
        self.ask_for(&mut launch, id, order.mode);
        Some(launch)
    }

    fn profiles(&self) -> Result<(), String> {
        Ok(())
    }

    fn reports_units(&self) -> bool {
        true
    }

    fn counts(&self) -> Result<Duration, String> {
        // The runtime executes some tens of thousands of instructions more or less beside them.
        Ok(Duration::from_millis(30))
    }

    fn counted(&self, build: &Build, id: &BenchmarkId, invocations: u64) -> Option<Launch> {
        // One processor for all goroutines: which of them runs is then not up to the system.
        let sampling = Sampling { mode: Mode::InterleavedOneCore, invocations, file: None };
        let mut launch = self.sampled(build, id, &sampling)?;
        let passed = |name: &str| launch.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        // Callgrind does not survive the signals by which goroutines are preempted.
        let mut debug = passed("GODEBUG").filter(|own| !own.is_empty()).unwrap_or_default();
        debug.push(if debug.is_empty() { "asyncpreemptoff=1" } else { ",asyncpreemptoff=1" });
        let limit = passed("GOMEMLIMIT").unwrap_or_else(|| COUNTED_MEMORY.into());
        // When a collection happens depends on time; without one there is as much garbage as memory allows.
        launch.env.extend([("GODEBUG".into(), debug), ("GOGC".into(), "off".into()), ("GOMEMLIMIT".into(), limit)]);
        Some(launch)
    }

    fn sampled(&self, build: &Build, id: &BenchmarkId, sampling: &Sampling<'_>) -> Option<Launch> {
        let mut launch = self.base_launch(build.artifacts.get(&id.package)?, sampling.invocations);
        // Without a page the hook does nothing, so it does not see to it either that the process dies with us.
        launch.hooked = false;
        if let Some(file) = sampling.file {
            launch.args.push(OsString::from_iter([OsStr::new("-test.cpuprofile="), file.as_os_str()]));
            launch.writes.push(file.to_owned());
        }
        self.ask_for(&mut launch, id, sampling.mode);
        Some(launch)
    }
}

impl Go {
    /// Patterns for a version: without those of a folder whose packages another version alone has.
    fn patterns_of(&self, source: &Source, patterns: &[String]) -> Vec<String> {
        let elsewhere = |pattern: &str| self.dirs.iter().any(|dir| modules::may_match(dir, pattern));
        let is_here = |pattern: &&String| modules::may_match(&source.dir, pattern) || !elsewhere(pattern);
        patterns.iter().filter(is_here).cloned().collect()
    }

    /// Our linker, found or built.
    fn linker_that_notes(
        &self,
        notes: matching::Notes,
        on_building: &mut dyn FnMut(),
    ) -> Result<matching::Linker, String> {
        let place = self.scratch.join("linker");
        matching::Linker::ready(&self.toolchain, &self.arguments.build, notes, &place, on_building)
    }

    /// Declared benchmarks of a package, and last those that need not run to be listed: neither they nor anything below them can be wanted.
    fn declared(&self, build: &Build, package: &str) -> (Vec<String>, Vec<String>) {
        let of_package = build.declared.iter().filter(|(id, _)| id.package == package);
        let (wanted, unwanted): (Vec<_>, Vec<_>) =
            of_package.partition(|(id, declared)| self.may_be_wanted(id, declared));
        let [wanted, unwanted] = [wanted, unwanted].map(|all| all.iter().map(|(id, _)| id.name.clone()).collect());
        (wanted, unwanted)
    }

    /// Whether a declared benchmark, or anything below it, may be wanted.
    fn may_be_wanted(&self, id: &BenchmarkId, declared: &Declared) -> bool {
        if declared.leaf { self.around.filter.keeps(&id.name) } else { self.around.filter.may_keep_below(&id.name) }
    }

    /// The argument that gives benchmarks as many processors as the user asked for: names may be made of their number.
    fn processors_flag(&self) -> Option<OsString> {
        self.arguments.cpu.map(|cpu| format!("-test.cpu={cpu}").into())
    }

    /// Arguments that the user passes to the binary; they come last, because they may end in arguments that are no flags.
    fn user_args(&self) -> Vec<OsString> {
        self.arguments.binary.iter().map(OsString::from).collect()
    }

    /// Has a process run this benchmark, on as many processors as its mode is about.
    fn ask_for(&self, launch: &mut Launch, id: &BenchmarkId, mode: Mode) {
        launch.args.push(format!("-test.bench={}", exact_pattern(&id.name)).into());
        if matches!(mode, Mode::Duet | Mode::InterleavedOneCore) {
            // A side that is pinned to one core must not believe otherwise, nor be told otherwise.
            launch.env.push(("GOMAXPROCS".into(), "1".into()));
            launch.args.push("-test.cpu=1".into());
        } else {
            launch.args.extend(self.processors_flag());
        }
        launch.args.extend(self.user_args());
    }

    /// The launch of a program that makes so many invocations, where its hook does nothing.
    fn base_launch(&self, artifact: &Artifact, invocations: u64) -> Launch {
        // The engine limits the time of a process, because it knows the order that it gave.
        let benchtime = format!("-test.benchtime={invocations}x");
        let args = ["-test.run=^$", &benchtime, "-test.paniconexit0", "-test.timeout=0"];
        Launch {
            args: args.iter().map(Into::into).collect(),
            env: self
                .around
                .passed
                .iter()
                .cloned()
                .chain([("GOROOT".into(), self.toolchain.root.clone().into())])
                .collect(),
            hooked: true,
            placed: true,
            sandbox: self.around.sandbox.clone(),
            ..Launch::of(&artifact.program, &artifact.dir)
        }
    }
}

/// The `-test.bench` (or `-test.skip`) pattern that matches exactly this benchmark.
fn exact_pattern(name: &str) -> String {
    name.split('/').map(|part| format!("^{}$", regex::escape(part))).collect::<Vec<_>>().join("/")
}

/// Entry points for `fuzz/` into the private modules.
#[cfg(any(fuzzing, debug_assertions))]
pub mod fuzzing {
    /// Reads an answer of `go list`.
    pub fn packages(text: &str) {
        if let Ok(packages) = super::packages::with_tests(text) {
            packages.iter().for_each(|package| package.test_files().for_each(drop));
        }
    }

    /// Reads what our linker notes of a program, as both sides of a plan.
    pub fn inventory(file: &[u8]) {
        super::matching::fuzz(file);
    }

    /// Reads what our linker notes of ways through a program, and compares it with itself.
    pub fn graph(file: &[u8]) {
        super::reach::fuzz(file);
    }

    /// Reads words as the go command splits them.
    pub fn words(text: &str) {
        super::matching::fuzz_words(text);
    }

    /// Reads what the hook lists.
    pub fn listed(lines: &str) {
        super::list::parse(lines, "p", &mut Default::default());
    }
}
