//! Packs what an engine deploys: the worker, both versions' programs and the files that their benchmarks may read.
//!
//! A zip file with the worker as `bootstrap` and one solid archive for each Go package (so that an instance unpacks only what it
//! runs), and one for the files. The same contents give the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use duetbench_core::BenchmarkId;
use duetbench_core::plan::PlannedBenchmark;
use duetbench_core::spec::{Arch, defaults};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::bundle::{self, Member};
use super::wire::Recipe;
use super::worker::ARCHIVE_ENDING;
use crate::adapter::{Adapter, Build, Shipping, hex};
use crate::engine::order;
use crate::error::RunError;
use crate::source::Source;
use crate::tool::each;

/// With as many build pairs a package is not split to make room for more.
const BUILDS_ENOUGH: usize = 8;
/// Most times that a package is split in two, because every part is uploaded.
const SPLITS_MAX: u32 = 3;
/// Where the programs of a single build pair are linked.
const ALONE: &str = "alone";
/// The member with the files of both versions.
const FILES: &str = "files";
/// A file larger than this stays here.
const FILE_BYTES_MAX: u64 = 10_000_000;
/// Directories that no benchmark reads.
const LEFT_OUT: [&str; 3] = [".git", ".duet", "node_modules"];

/// Two versions that are going to travel, baseline first.
#[derive(Clone, Copy)]
pub struct Cargo<'a> {
    /// Links and starts them.
    pub adapter: &'a dyn Adapter,
    /// Their builds.
    pub builds: &'a [Build; 2],
    /// Where they came from.
    pub sources: [&'a Source; 2],
    /// Where the worker's program is.
    pub worker: &'a Path,
    /// The processor of the instances.
    pub arch: Arch,
}

/// A package in the making, or made.
#[derive(Debug)]
pub struct Package {
    /// The zip file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Disk that an instance needs for all of it, megabytes.
    pub unpacked_mb: u32,
    /// SHA-256 of it, hexadecimal.
    pub digest: String,
    /// Build pairs that it holds.
    pub builds: u32,
    /// Files that were left out for their size.
    pub left_out: Vec<PathBuf>,
    /// The member of each Go package.
    members: BTreeMap<String, String>,
}

/// Recipes to start both sides of a benchmark, baseline first, and the members of the package that this needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipes {
    /// Recipe of each side.
    pub sides: [Recipe; 2],
    /// Members that an instance unpacks for it.
    pub members: Vec<String>,
    /// Index of the package that holds them.
    pub package: usize,
}

/// Where packages are made, and how large one may get.
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// Most bytes of one package.
    pub bytes_max: u64,
    /// A directory for programs and archives.
    pub scratch: &'a Path,
}

impl Cargo<'_> {
    /// Links build pairs and packs them, up to as many as `layout_seeds` gives orders for: into one package, or, where that has too
    /// little room, into several that hold other Go packages. Where even so not enough pairs fit to be the units of a test, there is
    /// only one, in the linker's own order. Only Go packages with planned benchmarks are packed.
    ///
    /// # Errors
    /// When something cannot be linked or packed, or not even one build pair fits.
    pub fn pack(
        &self,
        planned: &[PlannedBenchmark],
        layout_seeds: &[[u32; 2]],
        room: Room<'_>,
    ) -> Result<Vec<Package>, RunError> {
        let packages: BTreeSet<&str> = planned.iter().map(|b| b.id.package.as_str()).collect();
        let numbered: Vec<(usize, &str)> = packages.into_iter().enumerate().collect();
        Packing { cargo: self, layout_seeds, room }.pack(&numbered, SPLITS_MAX)
    }
}

/// The making of packages.
struct Packing<'a> {
    cargo: &'a Cargo<'a>,
    layout_seeds: &'a [[u32; 2]],
    room: Room<'a>,
}

impl Packing<'_> {
    /// Packs a group of Go packages, by their numbers, into one package or into several.
    fn pack(&self, group: &[(usize, &str)], splits_max: u32) -> Result<Vec<Package>, RunError> {
        let several = self.layout_seeds.len() >= defaults::UNITS_MIN as usize;
        let builds = if several { self.affordable(group)? } else { 1 };
        if builds < self.layout_seeds.len().min(BUILDS_ENOUGH) && group.len() > 1 && splits_max > 0 {
            let (first, second) = group.split_at(group.len() / 2);
            let mut packages = self.pack(first, splits_max - 1)?;
            packages.extend(self.pack(second, splits_max - 1)?);
            return Ok(packages);
        }
        // The estimate may have been too high.
        for builds in (defaults::UNITS_MIN as usize..=if several { builds } else { 0 }).rev() {
            let package = self.package(group, builds)?;
            if package.bytes <= self.room.bytes_max {
                return Ok(vec![package]);
            }
        }
        self.pack_alone(group).map(|package| vec![package])
    }

    /// A package with one build pair.
    fn pack_alone(&self, group: &[(usize, &str)]) -> Result<Package, RunError> {
        // Programs linked in the orders of several pairs must not be taken for those that are linked now.
        let alone = self.room.scratch.join(ALONE);
        let room = Room { scratch: &alone, ..self.room };
        let package = Packing { layout_seeds: &[], room, ..*self }.package(group, 1)?;
        if package.bytes <= room.bytes_max {
            return Ok(package);
        }
        let what = format!(
            "the package has {} MB, and {} MB are taken",
            package.bytes / 1_000_000,
            room.bytes_max / 1_000_000
        );
        let hint = "choose fewer packages with `--packages`, or name a bucket for larger ones with `--bucket`";
        Err(RunError::toolchain(what).hint(hint))
    }

    /// Number of build pairs that will fit, judged by the sizes of the first two; at least one.
    fn affordable(&self, group: &[(usize, &str)]) -> Result<usize, RunError> {
        let (one, two) = (self.package(group, 1)?.bytes, self.package(group, 2)?.bytes);
        let each = two.saturating_sub(one).max(1);
        let fitting = 1 + usize::try_from(self.room.bytes_max.saturating_sub(one) / each).unwrap_or(usize::MAX);
        Ok(self.layout_seeds.len().min(fitting))
    }

    fn package(&self, group: &[(usize, &str)], builds: usize) -> Result<Package, RunError> {
        self.link(group, builds)?;
        self.cargo.zip(group, count(builds), self.room.scratch)
    }

    /// Links what is not linked yet, several programs at a time; without seeds in the linker's own order.
    fn link(&self, group: &[(usize, &str)], builds: usize) -> Result<(), RunError> {
        let (cargo, scratch) = (self.cargo, self.room.scratch);
        let mut links = Vec::new();
        for &(number, package) in group {
            for (side, build) in (0..builds).flat_map(|build| [(0, build), (1, build)]) {
                let program = scratch.join(program_of(number, side, build));
                // Another order with a single build would be as good, but then nobody could compare just these two binaries.
                let layout_seed = self.layout_seeds.get(build).map(|seeds| seeds[side]);
                if let Some(artifact) = cargo.builds[side].artifacts.get(package).filter(|_| !program.exists()) {
                    links.push((artifact, Shipping { arch: cargo.arch, layout_seed }, program));
                }
            }
        }
        for (_, _, program) in &links {
            let dir = program.parent().unwrap_or(scratch);
            fs::create_dir_all(dir).map_err(|e| RunError::file("create", dir, e))?;
        }
        let at_once = crate::processors::usable_cpus().len();
        each(&links, at_once, |(artifact, shipping, program)| cargo.adapter.ship(artifact, *shipping, program))
    }
}

impl Cargo<'_> {
    fn zip(&self, group: &[(usize, &str)], builds: u32, scratch: &Path) -> Result<Package, RunError> {
        let mut archives = Vec::new();
        let mut largest = 0;
        for &(number, _) in group {
            let programs = (0..builds as usize).flat_map(|build| [0, 1].map(|side| program_of(number, side, build)));
            let members: Vec<Member> = programs
                .map(|place| Member { file: scratch.join(&place), place: place.components().skip(1).collect() })
                .filter(|member| member.file.exists())
                .collect();
            largest = largest.max(size_of(&members));
            archives.push(archive(&member_of(number), &members, scratch)?);
        }
        let (files, left_out) = self.files()?;
        let unpacked = largest + size_of(&files);
        // The same however many build pairs there are, and in every part of what is split.
        let packed = scratch.join(format!("{FILES}{ARCHIVE_ENDING}"));
        archives.push(if packed.exists() { packed } else { archive(FILES, &files, scratch)? });
        let file = scratch.join(format!("package-{}.zip", group.first().map_or(0, |(number, _)| *number)));
        write_zip(&file, self.worker, &archives)?;
        let contents = fs::read(&file).map_err(|e| RunError::file("read", &file, e))?;
        Ok(Package {
            bytes: contents.len() as u64,
            digest: hex(&Sha256::digest(&contents)),
            // Copies of two programs, and pages, come on top.
            unpacked_mb: u32::try_from(2 * unpacked / 1_000_000).unwrap_or(u32::MAX).saturating_add(100),
            builds,
            left_out,
            members: group.iter().map(|(number, package)| ((*package).to_owned(), member_of(*number))).collect(),
            file,
        })
    }

    /// The files of both versions: everything in their trees but what no benchmark reads.
    fn files(&self) -> Result<(Vec<Member>, Vec<PathBuf>), RunError> {
        let (mut members, mut left_out) = (Vec::new(), Vec::new());
        for (side, source) in self.sources.iter().enumerate() {
            let mut found = Vec::new();
            walk(&source.dir, &mut found).map_err(|e| RunError::file("read", &source.dir, e))?;
            for (file, bytes) in found {
                let inside = file.strip_prefix(&source.dir).unwrap_or(&file).to_owned();
                if bytes > FILE_BYTES_MAX {
                    left_out.push(inside);
                } else {
                    members.push(Member { place: Path::new(&side.to_string()).join(inside), file });
                }
            }
        }
        left_out.sort();
        left_out.dedup();
        Ok((members, left_out))
    }
}

impl Cargo<'_> {
    /// Recipes to start a benchmark from one of the build pairs; absent where no package holds it.
    pub fn recipes(&self, packages: &[Package], planned: &PlannedBenchmark, build: u32) -> Option<Recipes> {
        let (package, held) = holding(packages, &planned.id)?;
        let member = held.members.get(&planned.id.package).filter(|_| build < held.builds)?;
        let sides = [0, 1].map(|side| self.side(planned, side, member, build));
        let [Some(baseline), Some(candidate)] = sides else { return None };
        Some(Recipes { sides: [baseline, candidate], members: vec![member.clone(), FILES.to_owned()], package })
    }
}

/// Build pairs that there are of a benchmark's programs; none where no package holds it.
pub fn builds_of(packages: &[Package], id: &BenchmarkId) -> u32 {
    holding(packages, id).map_or(0, |(_, package)| package.builds)
}

/// The package that holds a benchmark, with its number.
fn holding<'a>(packages: &'a [Package], id: &BenchmarkId) -> Option<(usize, &'a Package)> {
    packages.iter().enumerate().find(|(_, package)| package.members.contains_key(&id.package))
}

impl Cargo<'_> {
    fn side(&self, planned: &PlannedBenchmark, side: usize, member: &str, build: u32) -> Option<Recipe> {
        let launch = self.adapter.launch(&self.builds[side], &planned.id, &order(planned))?;
        let inside = launch.dir.strip_prefix(&self.sources[side].dir).unwrap_or(Path::new(""));
        let text = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
        // Variables that hold paths of this machine say nothing there.
        let travels = |value: &str| !value.starts_with('/');
        let env = launch.env.iter().map(|(name, value)| (text(name), text(value))).filter(|(_, value)| travels(value));
        Some(Recipe {
            program: Path::new(member).join(side.to_string()).join(build.to_string()),
            dir: Path::new(FILES).join(side.to_string()).join(inside),
            args: launch.args.iter().map(text).collect(),
            env: env.collect(),
            hooked: launch.hooked,
            exit_code: 0,
        })
    }
}

/// Where a program is linked, and, without its first part, its place in its member.
fn program_of(package: usize, side: usize, build: usize) -> PathBuf {
    [member_of(package), side.to_string(), build.to_string()].iter().collect()
}

fn member_of(package: usize) -> String {
    format!("p{package}")
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn size_of(members: &[Member]) -> u64 {
    members.iter().filter_map(|m| m.file.metadata().ok()).map(|m| m.len()).sum()
}

fn archive(name: &str, members: &[Member], scratch: &Path) -> Result<PathBuf, RunError> {
    let archive = scratch.join(format!("{name}{ARCHIVE_ENDING}"));
    bundle::pack(members, &archive).map(|()| archive)
}

/// The regular files below a directory with their sizes, in order; links and what cannot be read are left out.
fn walk(dir: &Path, found: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(dir)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            if !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
                walk(&path, found)?;
            }
        } else if kind.is_file() && File::open(&path).is_ok() {
            found.push((path, entry.metadata()?.len()));
        }
    }
    Ok(())
}

/// Writes the zip file of a package: the worker and its archives, which are named after their members.
///
/// # Errors
/// When something cannot be read or written.
pub fn write_zip(file: &Path, worker: &Path, archives: &[PathBuf]) -> Result<(), RunError> {
    zipped(file, worker, archives).map_err(|e| RunError::file("write", file, e))
}

fn zipped(file: &Path, worker: &Path, archives: &[PathBuf]) -> io::Result<()> {
    let mut zip = ZipWriter::new(File::create(file)?);
    let fixed = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    zip.start_file("bootstrap", fixed.unix_permissions(0o755).compression_method(CompressionMethod::Deflated))?;
    io::copy(&mut File::open(worker)?, &mut zip)?;
    for archive in archives {
        let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
        zip.start_file(name, fixed.unix_permissions(0o644).compression_method(CompressionMethod::Stored))?;
        io::copy(&mut File::open(archive)?, &mut zip)?;
    }
    zip.finish()?.flush()
}
