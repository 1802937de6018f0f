//! From two versions as typed to two builds whose benchmarks are known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use duetbench_core::plan::Discovered;
use duetbench_core::reach::Reach;
use duetbench_core::report::VersionInfo;
use duetbench_core::spec::Arch;
use duetbench_core::{BenchmarkId, Role};

use crate::adapter::{self, Adapter, Build, Identity, Listing, Reaches, Skipped, Subject, Unfit, Wish};
use crate::error::RunError;
use crate::scratch::Scratch;
use crate::source::{Source, VersionRequest};

/// A step before measuring, for those who wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage<'a> {
    /// A published version is downloaded, unless the registry's client has it.
    Fetching(&'a str),
    /// A linker is built that lays both versions out alike, once for every toolchain.
    Linker,
    /// A version is built.
    Building(&'a str),
    /// A command line that is a version itself is run for the first time.
    Trying(&'a str),
    /// A version's benchmarks are listed, each of them run once.
    Listing(&'a str),
}

/// A request to prepare versions.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Where relative names start.
    pub cwd: &'a Path,
    /// Package patterns.
    pub packages: &'a [String],
    /// The harness with its options.
    pub wish: Wish<'a>,
    /// The version whose benchmarks are measured on the code of both.
    pub benchmarks_from: Option<Role>,
}

/// A version whose benchmarks can be started.
#[derive(Debug)]
pub struct Version {
    /// The version as requested and as resolved.
    pub info: VersionInfo,
    /// Its programs.
    pub build: Build,
    /// Its benchmarks.
    pub found: Vec<Discovered>,
    skipped: Vec<Skipped>,
    notes: Vec<String>,
    remarks: Vec<String>,
}

/// Everything that measuring needs. Dropping it removes what was made.
#[derive(Debug)]
pub struct Prepared {
    /// The versions: one, or baseline and candidate.
    pub versions: Vec<Version>,
    /// The adapter that starts their benchmarks.
    pub adapter: Box<dyn Adapter>,
    /// The toolchain that built them.
    pub toolchain: String,
    /// Whether a package's benchmarks can differ at all between two versions; by package, those that both have.
    pub identical: BTreeMap<String, Identity>,
    /// Whether benchmarks can reach what differs between two versions.
    pub reaches: Reaches,
    /// Notes for the reader on both versions, in sentences.
    notes: Vec<String>,
    // Dropped last, in this order: worktrees are unregistered before their directory goes.
    /// Where the versions came from, in the same order.
    pub sources: Vec<Source>,
    _scratch: Scratch,
}

impl Prepared {
    /// Fetches, builds and lists the versions, baseline first; two requests for the same version are built once.
    ///
    /// # Errors
    /// Whatever makes a version unusable, with its name.
    pub fn new(
        versions: &[VersionRequest],
        request: &Request<'_>,
        on_stage: &mut dyn FnMut(Stage<'_>),
        interrupted: &AtomicBool,
    ) -> Result<Prepared, RunError> {
        let scratch = Scratch::new()?;
        let mut sources = Vec::new();
        for version in versions {
            if let VersionRequest::Published(name) = version {
                on_stage(Stage::Fetching(name));
            }
            sources.push(Source::resolve(version, request.cwd, scratch.path(), &adapter::registries())?);
            RunError::stop_if(interrupted)?;
        }
        let mut adapter = adapter::open(&request.wish, &sources, scratch.path())?;
        adapter.prepare_layouts(&mut || on_stage(Stage::Linker));
        RunError::stop_if(interrupted)?;
        let mut notes = match request.benchmarks_from {
            Some(from) => exchange(&*adapter, &mut sources, from, request.packages, scratch.path())?,
            None => Vec::new(),
        };
        let mut prepared: Vec<Version> = Vec::new();
        let mut twins = false;
        for (number, source) in sources.iter().enumerate() {
            let twin = sources[..number].iter().position(|earlier| earlier.is_same(source));
            let twin = twin.filter(|_| !adapter.tells_sides_apart());
            twins = twin.is_some();
            let version = match twin {
                Some(earlier) => prepared[earlier].named(&source.requested),
                None => {
                    let role = if number + 1 == sources.len() { Role::Candidate } else { Role::Baseline };
                    Version::prepare(&mut *adapter, source, role, request, on_stage, interrupted)?
                }
            };
            prepared.push(version);
        }
        notes.extend(without_benchmarks(&*adapter, &prepared, request.packages)?);
        let (identical, reaches) = match (&prepared[..], &sources[..]) {
            ([a, b], [from, to]) => {
                adapter.decide_layouts([&a.build, &b.build]);
                let builds = [&a.build, &b.build];
                let mut identical = adapter.identical(builds, [from, to]);
                if twins {
                    // One build of one tree, however far its programs can be understood.
                    identical.values_mut().for_each(|identity| *identity = Identity::Identical);
                }
                (identical, adapter.reach(builds, [from, to]))
            }
            _ => Default::default(),
        };
        let toolchain = adapter.toolchain();
        Ok(Prepared { versions: prepared, adapter, toolchain, identical, reaches, notes, sources, _scratch: scratch })
    }

    /// Whether two versions whose programs are equal here may have other ones for a fleet, which are built without cgo: by files for its
    /// processors alone, or by those that ask for cgo, or for its absence.
    pub fn is_another_program_on(&self, arch: Arch) -> bool {
        let here = if cfg!(target_arch = "aarch64") { Arch::Arm64 } else { Arch::X86_64 };
        let is_one_tree = self.sources.windows(2).all(|pair| pair[0].is_same(&pair[1]));
        !is_one_tree && (arch != here || self.sources.iter().any(|source| adapter::go::tells_cgo(&source.tree)))
    }

    /// Packages that run the same code in both versions, which was proven.
    pub fn proven(&self) -> BTreeSet<String> {
        let identical = |(_, identity): &(&String, &Identity)| **identity == Identity::Identical;
        self.identical.iter().filter(identical).map(|(package, _)| package.clone()).collect()
    }

    /// Benchmarks that reach the same code in both versions, which was proven.
    pub fn not_affected(&self) -> BTreeSet<BenchmarkId> {
        self.reaches.of.iter().filter(|(_, reach)| **reach == Reach::Same).map(|(id, _)| id.clone()).collect()
    }

    /// Remarks on the benchmarks that are no warnings, in sentences: the candidate's.
    pub fn remarks(&self) -> &[String] {
        self.versions.last().map_or(&[], |last| &last.remarks)
    }

    /// Warnings about the builds for the report.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.notes.clone();
        if let [others @ .., last] = &self.versions[..] {
            let of_others = others.iter().flat_map(|other| &other.notes).filter(|note| !last.notes.contains(note));
            warnings.extend(of_others.map(|note| format!("base: {note}")));
            warnings.extend(last.notes.iter().cloned());
        }
        warnings.extend(self.reaches.unknown.iter().cloned());
        let skipped: Vec<&[Skipped]> = self.versions.iter().map(|version| &version.skipped[..]).collect();
        warnings.extend(skips(&skipped));
        warnings
    }
}

/// Notes on versions without benchmarks, in sentences.
///
/// # Errors
/// When no version has any.
fn without_benchmarks(
    adapter: &dyn Adapter,
    versions: &[Version],
    patterns: &[String],
) -> Result<Vec<String>, RunError> {
    let roles = Role::BOTH.into_iter().skip(Role::BOTH.len().saturating_sub(versions.len()));
    let empty = versions.iter().zip(roles).filter(|(version, _)| version.build.artifacts.is_empty());
    let subjects = empty.map(|(version, role)| Subject { role, version: &version.info.requested });
    let mut errors: Vec<RunError> = subjects.map(|subject| adapter.no_benchmarks(subject, patterns)).collect();
    if errors.len() == versions.len() && !errors.is_empty() {
        return Err(errors.swap_remove(0));
    }
    Ok(errors.iter().map(ToString::to_string).collect())
}

/// Has both of two versions run the benchmarks of one; tells in which packages they cannot run on the other one's code.
fn exchange(
    adapter: &dyn Adapter,
    sources: &mut [Source],
    from: Role,
    patterns: &[String],
    scratch: &Path,
) -> Result<Vec<String>, RunError> {
    let [baseline, candidate] = sources else { return Ok(Vec::new()) };
    if baseline.is_same(candidate) {
        return Ok(Vec::new());
    }
    let (of, onto) = match from {
        Role::Baseline => (baseline, candidate),
        Role::Candidate => (candidate, baseline),
    };
    let (whose, on) = (from.side(), from.other().side());
    onto.make_ours(scratch)?;
    let unfit = adapter.lay_over(of, onto, patterns)?;
    onto.resolved += &format!(", with {whose}'s benchmarks");
    let words = |Unfit { package, words }: Unfit| match words {
        Some(words) => format!(
            "{whose}'s benchmarks in `{package}` do not compile on {on}'s code, whose own are measured there: {words}"
        ),
        None => {
            format!(
                "{whose}'s benchmarks in `{package}` are not measured on {on}'s code, which has no such package of its own"
            )
        }
    };
    Ok(unfit.into_iter().map(words).collect())
}

/// Benchmarks that skip themselves, each in a sentence; the side is named where the other one does not.
fn skips(versions: &[&[Skipped]]) -> Vec<String> {
    let mut sides: BTreeMap<&BenchmarkId, Vec<(Role, Option<&str>)>> = BTreeMap::new();
    for (version, role) in versions.iter().zip(Role::BOTH) {
        for one in *version {
            sides.entry(&one.id).or_default().push((role, one.reason.as_deref()));
        }
    }
    let names: Vec<&str> = sides.keys().map(|id| id.name.as_str()).collect();
    let is_unique = |name: &str| names.iter().filter(|other| **other == name).count() == 1;
    let words = |(id, told): (&BenchmarkId, Vec<(Role, Option<&str>)>)| {
        let reason = told.iter().rev().find_map(|(_, reason)| *reason).map_or_else(String::new, |r| format!(": {r}"));
        let side = match told[..] {
            [(role, _)] if versions.len() > 1 => format!(" in {}", role.side()),
            _ => String::new(),
        };
        format!("{} skips itself{side}{reason}", if is_unique(&id.name) { id.name.clone() } else { id.to_string() })
    };
    sides.into_iter().map(words).collect()
}

impl Version {
    #[expect(clippy::too_many_arguments, reason = "one step of `Prepared::new`, split off for its length")]
    fn prepare(
        adapter: &mut dyn Adapter,
        source: &Source,
        role: Role,
        request: &Request<'_>,
        on_stage: &mut dyn FnMut(Stage<'_>),
        interrupted: &AtomicBool,
    ) -> Result<Version, RunError> {
        if !source.is_finished() {
            on_stage(Stage::Building(&source.requested));
        }
        let subject = Subject { role, version: &source.requested };
        let mut built = adapter.build(source, request.packages, subject)?;
        RunError::stop_if(interrupted)?;
        on_stage(match source.command() {
            Some(line) => Stage::Trying(line),
            None => Stage::Listing(&source.requested),
        });
        let listing = adapter.list(&built.build, interrupted)?;
        adapter.listed(source, &mut built.build);
        let info = VersionInfo {
            requested: source.requested.clone(),
            resolved: source.resolved.clone(),
            artifact_digest: built.build.digest(),
        };
        let Listing { found, skipped, notes, remarks } = listing;
        let notes = built.notes.into_iter().chain(notes).collect();
        Ok(Version { info, build: built.build, found, skipped, notes, remarks })
    }

    /// The same version under the name that was typed for the other side.
    fn named(&self, requested: &str) -> Version {
        Version {
            info: VersionInfo { requested: requested.to_owned(), ..self.info.clone() },
            build: self.build.clone(),
            found: self.found.clone(),
            skipped: self.skipped.clone(),
            notes: self.notes.clone(),
            remarks: self.remarks.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_skips_itself_is_told_once_with_its_reason() {
        let skipped = |name: &str, reason: Option<&str>| Skipped {
            id: BenchmarkId { package: "p".into(), name: name.into() },
            reason: reason.map(str::to_owned),
        };
        let base = [skipped("A", Some("no database")), skipped("B", None)];
        let head = [skipped("A", Some("no database"))];
        assert_eq!(skips(&[&base, &head]), ["A skips itself: no database", "B skips itself in base"]);
        assert_eq!(skips(&[&base]), ["A skips itself: no database", "B skips itself"]);
        let of_two = ["p", "q"]
            .map(|package| Skipped { id: BenchmarkId { package: package.into(), name: "A".into() }, reason: None });
        assert_eq!(skips(&[&of_two]), ["p.A skips itself", "q.A skips itself"]);
    }
}
