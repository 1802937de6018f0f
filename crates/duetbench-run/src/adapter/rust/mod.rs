//! Rust: bench executables of criterion and divan, built once per version with a hook in the harness's own source.
//!
//! No file of the user's is changed: a wrapper around the compiler gives it hooked copies of the harness's files, and one around the
//! linker keeps what a program is made of, so that it can be linked again in another order.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::plan::{Discovered, Style};
use duetbench_core::spec::LayoutChoice;
use sha2::{Digest, Sha256};

use super::{
    Adapter, Around, Artifact, Build, Built, Identity, Layout, Listing, Manifest, Order, PairLayouts, Relink,
    Relinking, Subject, Urgency, Wish, hex,
};
use crate::adapter::changes::{APART, Changes, roots};
use crate::adapter::{self, is_hooked};
use crate::error::RunError;
use crate::process::Launch;
use crate::source::{Registry, Source};

mod arguments;
mod build;
mod cargo;
mod hooked;
mod identity;
mod insertions;
mod link;
mod list;
mod matching;
mod metadata;
mod published;
mod workshop;

use arguments::CargoArguments;
use build::{BenchBuild, Program};
use cargo::{Cargo, other_settings, unused_linkers};
use link::Recorded;
use metadata::{Bench, Package};
use workshop::Workshop;

/// Variables of Rust's runtime and of libraries for threads.
const VARIABLES: [&str; 5] =
    ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "RUST_MIN_STACK", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS"];
/// With these criterion neither analyses nor writes anything; divan's are not read.
const ARGUMENTS: [&str; 3] = ["--bench", "--profile-time", "1"];

/// criterion and divan, by cargo.
#[derive(Debug)]
pub struct Kind;

impl adapter::Kind for Kind {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn manifests(&self) -> &'static [Manifest] {
        &[Manifest { file: "Cargo.toml", project: "a Cargo package" }]
    }

    fn registry(&self) -> Option<&'static dyn Registry> {
        Some(&published::Crates)
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn open(&self, wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Box<dyn Adapter>, RunError> {
        Ok(Box::new(Rust::new(wish, versions, scratch)?))
    }
}

/// Builds and starts benchmarks of criterion and divan.
#[derive(Debug)]
pub struct Rust {
    cargo: Cargo,
    arguments: CargoArguments,
    /// Notes on cargo's settings.
    settings: Vec<String>,
    /// A lock file for versions of ours that have none, and whether it was made.
    lock_file: Option<(PathBuf, bool)>,
    workshop: Workshop,
    scratch: PathBuf,
    around: Around,
    /// Parts that programs were made of, by their digest, or the reason why that is not known.
    links: Mutex<BTreeMap<String, Result<Recorded, String>>>,
    /// Whether halves of build pairs are to be laid out alike.
    layouts: Option<LayoutChoice>,
    pairs: PairLayouts,
}

impl Rust {
    /// An adapter with one toolchain for both versions.
    ///
    /// # Errors
    /// When there is no cargo that can be used, or an argument would change what duet asks of it.
    pub fn new(wish: &Wish<'_>, versions: &[Source], scratch: &Path) -> Result<Rust, RunError> {
        let arguments = CargoArguments::parse(wish.arguments)?;
        let Some(last) = versions.last() else {
            return Err(RunError::nothing_to_measure("no version was named"));
        };
        let cargo = Cargo::of(last)?;
        // Before anything is built. One of ours gets a lock file where it has none.
        versions.iter().filter(|version| !version.is_ours()).try_for_each(|version| cargo.has_lock_file(version))?;
        let scratch = scratch.join("rust");
        fs::create_dir_all(&scratch).map_err(|e| RunError::file("create", &scratch, e))?;
        let lock_files = versions.iter().rev().map(|version| cargo.lock_file(version));
        let own = lock_files.filter_map(Result::ok).find(|path| path.is_file());
        let lock_file = match own {
            Some(path) => Some((path, false)),
            // Made before anything is built, so that what they depend on is the same for all of them.
            None if last.is_ours() && cargo.resolve(last).is_ok() => Some((cargo.lock_file(last)?, true)),
            None => None,
        };
        Ok(Rust {
            workshop: Workshop::of(&cargo, &scratch)?,
            cargo,
            settings: other_settings(versions).into_iter().chain(unused_linkers(versions)).collect(),
            arguments,
            lock_file,
            around: wish.conditions.around(VARIABLES)?,
            links: Mutex::default(),
            layouts: wish.conditions.layouts,
            pairs: PairLayouts::new(matching::check_alike),
            scratch,
        })
    }

    /// Sees to it that a version has a lock file; notes where it had none of its own.
    fn lock(&self, source: &Source) -> Result<Option<String>, RunError> {
        let own = self.cargo.lock_file(source)?;
        let newest = "with the newest releases of what it depends on";
        let other = self.lock_file.as_ref().map(|(path, _)| path).filter(|path| **path != own);
        let whence = match other {
            None if own.is_file() && self.lock_file.as_ref().is_some_and(|(_, made)| *made) => newest,
            _ if own.is_file() => return Ok(None),
            // It was there when we began.
            _ if !source.is_ours() => return self.cargo.has_lock_file(source).map(|()| None),
            Some(other) => {
                fs::copy(other, &own).map_err(|e| RunError::file("copy", other, e))?;
                "with that of the other version"
            }
            None => newest,
        };
        self.cargo.resolve(source)?;
        Ok(Some(format!("`{}` has no `Cargo.lock`: it was built {whence}", source.requested)))
    }

    /// The artifact of a program that was built in the workshop.
    fn artifact(
        &self,
        built: &Program,
        bytes: &[u8],
        package: Option<&Package>,
        place: &Path,
    ) -> Result<Artifact, RunError> {
        let program = place.join(built.path.file_name().unwrap_or_default());
        fs::copy(&built.path, &program).map_err(|e| RunError::file("copy", &built.path, e))?;
        let digest = hex(&Sha256::digest(bytes));
        let dir = package.map_or_else(PathBuf::new, Package::dir);
        Ok(Artifact { program, dir, digest, build_args: Vec::new() })
    }

    /// Remembers what a program was made of, if it can be linked again.
    fn remember(&self, artifact: &Artifact, links: &Path) {
        let recorded = Recorded::of(&artifact.program, links).and_then(|recorded| {
            let program = artifact.program.with_extension("again");
            let wanted = Relink { layout: Layout::Random(1), program: &program, urgency: Urgency::Now };
            let linked = self.link(&recorded, artifact, wanted).and_then(Relinking::finish);
            let _ = fs::remove_file(&program);
            linked.map(|_| recorded).map_err(|e| e.to_string())
        });
        self.links.lock().unwrap_or_else(PoisonError::into_inner).insert(artifact.digest.clone(), recorded);
    }

    fn recorded(&self, artifact: &Artifact) -> Result<Recorded, String> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.get(&artifact.digest).cloned().unwrap_or_else(|| Err("it was not built here".to_owned()))
    }

    fn link(&self, recorded: &Recorded, artifact: &Artifact, wanted: Relink<'_>) -> Result<Relinking, RunError> {
        let check = |program: &Path, _: &Path| {
            let bytes = fs::read(program).map_err(|e| RunError::file("read", program, e))?;
            let what = || format!("`{}` was linked without duet's hook", program.display());
            is_hooked(&bytes).then_some(()).ok_or_else(|| RunError::toolchain(what()))
        };
        let linker = recorded.tool(&self.cargo, &wanted)?.start()?;
        Ok(Relinking { linker, program: wanted.program.to_owned(), dir: artifact.dir.clone(), check })
    }

    /// The launch of a program where its hook does nothing.
    fn base_launch(&self, artifact: &Artifact) -> Launch {
        let home = self.scratch.join("criterion").into_os_string();
        let ours = [("CRITERION_HOME", home), ("CARGO_MANIFEST_DIR", artifact.dir.clone().into_os_string())];
        // Not hooked: the hook looks after its parent only once the first benchmark is reached.
        Launch {
            args: ARGUMENTS.iter().map(Into::into).collect(),
            env: self.around.passed.iter().cloned().chain(ours.map(|(name, value)| (name.into(), value))).collect(),
            placed: true,
            sandbox: self.around.sandbox.clone(),
            ..Launch::of(&artifact.program, &artifact.dir)
        }
    }
}

/// Whether a built benchmark has the path of a program of its package in it, as by `env!("CARGO_BIN_EXE_tool")`. Both versions are built
/// in one folder, so that it would start the program of the version that was built last.
fn names_a_program(bytes: &[u8], built: &Program, package: &Package) -> bool {
    // Before a slash it is the name of a folder.
    let names =
        |path: &[u8]| memchr::memmem::find_iter(bytes, path).any(|at| bytes.get(at + path.len()) != Some(&b'/'));
    // The release of cargo decides how far above the benchmark programs lie.
    let is_named = |name: &str| {
        let paths = built.path.ancestors().skip(1).map(|folder| folder.join(name));
        paths.map(|path| path.into_os_string().into_encoded_bytes()).any(|path| names(&path))
    };
    package.programs().any(is_named)
}

/// There is nothing that can be measured, and why.
fn nothing(subject: Subject<'_>, source: &Source, notes: &[String]) -> RunError {
    let why = if notes.is_empty() { "it has no bench targets".to_owned() } else { notes.join("; ") };
    let what =
        format!("{} (`{}`) has no benchmarks of criterion or divan: {why}", subject.role.side(), subject.version);
    let other = "`duet compare --command OLD NEW` measures other programs, as whole processes";
    RunError::nothing_to_measure(what).hint(published::advice(&source.dir).unwrap_or_else(|| other.into()))
}

/// Stands for all benchmarks of a program that names none.
const ALL: &str = "(all)";

/// Notes on bench targets that are not measured.
fn left_out(names: &[String], why: &str) -> Option<String> {
    (!names.is_empty()).then(|| format!("not measured, because {why}: {}", names.join(", ")))
}

impl Adapter for Rust {
    fn toolchain(&self) -> String {
        self.cargo.words.clone()
    }

    fn build(&self, source: &Source, patterns: &[String], subject: Subject<'_>) -> Result<Built, RunError> {
        let failed = |e| subject.fails_to_build(e);
        let mut locked = self.lock(source).map_err(failed)?;
        let metadata = match self.cargo.metadata(source, &self.arguments) {
            Err(e) if source.is_ours() && e.to_string().contains("--locked") => {
                locked = Some(format!("the `Cargo.lock` of `{}` is out of date: it was completed", source.requested));
                self.cargo.resolve(source).and_then(|()| self.cargo.metadata(source, &self.arguments))
            }
            asked => asked,
        };
        let metadata = metadata.map_err(failed)?;
        let (enabled, mut passed_over): (Vec<Bench>, Vec<Bench>) =
            metadata.benches(source, patterns)?.into_iter().partition(|bench| bench.enabled);
        let (mut own_main, of_libtest): (Vec<Bench>, Vec<Bench>) =
            enabled.into_iter().partition(|bench| bench.own_main);
        let names = |benches: &[Bench]| benches.iter().map(Bench::id).collect::<Vec<_>>();
        let lacking = |passed_over: &[Bench]| {
            left_out(&names(passed_over), "features that they require are not enabled (`-- --features NAME`)")
        };
        let mut notes: Vec<String> = Vec::new();
        notes.extend(left_out(&names(&of_libtest), "they use Rust's own harness (no `harness = false`)"));
        notes.extend(left_out(&published::left_out(&source.dir), "the published package does not hold them"));
        if own_main.is_empty() {
            notes.extend(lacking(&passed_over));
            return Err(nothing(subject, source, &notes));
        }
        let mut unfit = hooked::write(&metadata, &self.workshop.hooked())?;
        let place = self.scratch.join(subject.role.word());
        let links = place.join("links");
        fs::create_dir_all(&links).map_err(|e| RunError::file("create", &links, e))?;
        let (cargo, arguments, workshop) = (&self.cargo, &self.arguments, &self.workshop);
        let benches = BenchBuild { cargo, arguments, workshop, source, links: &links };
        benches.forget(&metadata).map_err(failed)?;
        let programs = benches.build_enabled(&mut own_main, &mut passed_over).map_err(failed)?;
        notes.extend(lacking(&passed_over));
        if own_main.is_empty() {
            return Err(nothing(subject, source, &notes));
        }
        let mut build = Build::default();
        let (mut unhooked, mut starting) = (Vec::new(), Vec::new());
        for program in programs {
            let package = metadata.with_id(&program.package_id);
            let id = format!("{}/{}", package.map_or("", |package| &package.name), program.name);
            let bytes = fs::read(&program.path).map_err(|e| RunError::file("read", &program.path, e))?;
            if !is_hooked(&bytes) {
                unhooked.push(id);
            } else if package.is_some_and(|package| names_a_program(&bytes, &program, package)) {
                starting.push(id);
            } else {
                let artifact = self.artifact(&program, &bytes, package, &place)?;
                self.remember(&artifact, &links);
                build.artifacts.insert(id, artifact);
            }
        }
        notes.extend(left_out(&unhooked, "they are of neither criterion nor divan, or of a release without hook"));
        notes.extend(left_out(
            &starting,
            "they start programs of their package (`CARGO_BIN_EXE_…`), and both versions' would be one",
        ));
        if build.artifacts.is_empty() {
            return Err(unfit.pop().unwrap_or_else(|| nothing(subject, source, &notes)));
        }
        // Another member of the workspace may have it, and none of these programs.
        notes.extend(unfit.iter().filter(|_| !unhooked.is_empty()).map(ToString::to_string));
        let fixed = build.artifacts.iter().filter_map(|(id, artifact)| Some((id, self.recorded(artifact).err()?)));
        notes.extend(locked);
        notes.extend(self.settings.iter().cloned());
        let others = if build.artifacts.len() > 1 { " (all others then have one too)" } else { "" };
        notes.extend(
            fixed.map(|(id, why)| format!("{id} has one layout, because it cannot be linked again: {why}{others}")),
        );
        Ok(Built { build, notes })
    }

    fn identical(&self, [baseline, candidate]: [&Build; 2], [from, to]: [&Source; 2]) -> BTreeMap<String, Identity> {
        let Some(roots) = roots(from, to) else {
            let apart = || Identity::Different(APART.to_owned());
            return baseline.common(candidate).map(|(id, _)| (id.clone(), apart())).collect();
        };
        let changes = LazyCell::new(|| {
            // Large trees take a while, and are of no interest while no program is equal.
            Changes::between(roots, &[identity::MADE])
        });
        let made = self.workshop.target();
        let identity = |artifacts| identity::compare(artifacts, &made, || &changes);
        baseline.common(candidate).map(|(id, artifacts)| (id.clone(), identity(artifacts))).collect()
    }

    fn list(&mut self, build: &Build, interrupted: &AtomicBool) -> Result<Listing, RunError> {
        let (mut all, mut failed) = (Listing::default(), Vec::new());
        for (number, (package, artifact)) in build.artifacts.iter().enumerate() {
            let (launch, file) = (self.base_launch(artifact), self.scratch.join(format!("list-{number}")));
            let lister =
                list::Lister { package, launch, file, timeout: self.around.timeout, filter: &self.around.filter };
            match lister.run(interrupted) {
                Ok(found) => all.found.extend(found),
                // It keeps no other program from being measured, and is a failure all the same.
                Err(error @ RunError::Told { .. }) => {
                    let id = BenchmarkId { package: package.clone(), name: ALL.into() };
                    all.found.push(Discovered::of(id, Style::Loop, Err(error.to_string())));
                    failed.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        match failed.pop() {
            Some(only) if all.found.iter().all(|one| one.failure.is_some()) => Err(only),
            _ => Ok(all),
        }
    }

    fn ignored(&self) -> &'static [&'static str] {
        &["--warmup"]
    }

    fn relinks(&self) -> bool {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        !links.is_empty() && links.values().all(Result::is_ok)
    }

    fn decide_layouts(&self, builds: [&Build; 2]) {
        for (package, [a, b]) in builds[0].common(builds[1]).filter(|_| self.relinks()) {
            self.pairs.decide(
                package,
                match self.layouts {
                    Some(LayoutChoice::Matched) => matching::plan([&a.program, &b.program], &self.scratch),
                    _ => Err("random layouts were asked for".to_owned()),
                },
            );
        }
    }

    fn pair_layouts(&self) -> Option<&PairLayouts> {
        Some(&self.pairs)
    }

    fn relink(&self, artifact: &Artifact, wanted: Relink<'_>) -> Result<Relinking, RunError> {
        let cannot = |why| {
            RunError::toolchain(format!("`{}` cannot be linked in another order: {why}", artifact.program.display()))
        };
        self.link(&self.recorded(artifact).map_err(cannot)?, artifact, wanted)
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, _: &Order) -> Option<Launch> {
        let mut launch = self.base_launch(build.artifacts.get(&id.package)?);
        launch.env.push(("DUET_BENCH".into(), id.name.clone().into()));
        Some(launch)
    }

    fn counts(&self) -> Result<Duration, String> {
        // Nothing runs beside them; a start varies by some hundreds of instructions.
        Ok(Duration::from_millis(5))
    }

    fn counted(&self, build: &Build, id: &BenchmarkId, invocations: u64) -> Option<Launch> {
        let mut launch = self.base_launch(build.artifacts.get(&id.package)?);
        let told = [("DUET_BENCH", id.name.clone()), ("DUET_INVOCATIONS", invocations.to_string())];
        launch.env.extend(told.map(|(name, value)| (name.into(), value.into())));
        Some(launch)
    }
}

/// Entry points for `fuzz/` into the private modules.
#[cfg(any(fuzzing, debug_assertions))]
pub mod fuzzing {
    /// Reads what the hook lists.
    pub fn listed(text: &str) {
        super::list::Lines::parse(text);
    }

    /// Reads an answer of `cargo metadata`.
    pub fn metadata(text: &str) {
        drop(super::metadata::Metadata::parse(text));
    }

    /// Reads the functions of a linked program.
    pub fn functions(program: &[u8]) {
        super::matching::fuzz(program);
    }
}
