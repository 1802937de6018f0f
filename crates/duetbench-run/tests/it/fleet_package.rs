//! Packages for a fleet: the same contents as the same bytes, no more than is needed, and nothing that points back here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use duetbench_core::BenchmarkId;
use duetbench_core::spec::Arch;
use duetbench_run::RunError;
use duetbench_run::adapter::{Adapter, Artifact, Build, Built, Identity, Listing, Order, Shipping, Subject};
use duetbench_run::fleet::bundle::unpack;
use duetbench_run::fleet::package::{Cargo, Package, Room, builds_of};
use duetbench_run::process::{Launch, Streams};
use duetbench_run::source::{Source, VersionRequest};

use crate::fleet_support::planned;

/// Bytes of a program, which nothing compresses.
const PROGRAM_BYTES: usize = 20_000;
const ROOMY: u64 = 1 << 30;

/// Links by writing what the artifact is and then noise of its own for every order.
#[derive(Debug, Default)]
struct Fake {
    shipped: Mutex<Vec<(PathBuf, Option<u32>)>>,
}

/// Bytes of a program that is linked in this layout.
fn linked(artifact: &str, layout_seed: Option<u32>) -> Vec<u8> {
    let mut state = u64::from(layout_seed.unwrap_or(0)) + 1 + artifact.bytes().map(u64::from).sum::<u64>() * 1_000_003;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    artifact.bytes().chain(std::iter::repeat_with(&mut noise).take(PROGRAM_BYTES)).collect()
}

impl Adapter for Fake {
    fn toolchain(&self) -> String {
        "a fake".into()
    }

    fn build(&self, _: &Source, _: &[String], _: Subject<'_>) -> Result<Built, RunError> {
        Ok(Built::default())
    }

    fn identical(&self, _: [&Build; 2], _: [&Source; 2]) -> BTreeMap<String, Identity> {
        BTreeMap::new()
    }

    fn list(&mut self, _: &Build, _: &AtomicBool) -> Result<Listing, RunError> {
        Ok(Listing::default())
    }

    fn ship(&self, artifact: &Artifact, shipping: Shipping, program: &Path) -> Result<(), RunError> {
        fs::write(program, linked(&artifact.digest, shipping.layout_seed)).unwrap();
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        self.shipped.lock().unwrap().push((program.to_owned(), shipping.layout_seed));
        Ok(())
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, _: &Order) -> Option<Launch> {
        let artifact = build.artifacts.get(&id.package)?;
        Some(Launch {
            program: artifact.program.clone(),
            args: vec!["-test.run=^$".into()],
            dir: artifact.dir.clone(),
            env: vec![
                ("GOROOT".into(), artifact.dir.join("go").into()),
                ("DUET_BENCH".into(), format!("{}/size=1", id.name).into()),
            ],
            cpus: None,
            hooked: true,
            placed: true,
            sandbox: None,
            writes: Vec::new(),
            streams: Streams::default(),
        })
    }
}

/// Two versions with two packages, `a` and `b`, in a directory of their own.
struct Project {
    dir: tempfile::TempDir,
    adapter: Fake,
    builds: [Build; 2],
    sources: [Source; 2],
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("worker"), "a worker").unwrap();
        fs::create_dir(dir.path().join("scratch")).unwrap();
        let [(baseline, old), (candidate, new)] = ["old", "new"].map(|version| {
            let tree = dir.path().join(version);
            for (file, text) in [("b/data.txt", version), ("a/testdata/x/y", "deep"), ("b/.git/secret", "no")] {
                fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
                fs::write(tree.join(file), text).unwrap();
            }
            let request = VersionRequest::Directory { typed: version.into(), path: tree };
            let source = Source::resolve(&request, dir.path(), dir.path(), &[]).unwrap();
            let artifact = |package: &str| Artifact {
                program: dir.path().join("built").join(version).join(package),
                dir: source.dir.join(package),
                digest: format!("{version} {package} "),
                build_args: Vec::new(),
            };
            let artifacts = ["a", "b"].map(|package| (package.to_owned(), artifact(package)));
            (source, Build { artifacts: artifacts.into(), ..Build::default() })
        });
        Project { dir, adapter: Fake::default(), builds: [old, new], sources: [baseline, candidate] }
    }

    fn cargo<'a>(&'a self, worker: &'a Path) -> Cargo<'a> {
        let sources = [&self.sources[0], &self.sources[1]];
        Cargo { adapter: &self.adapter, builds: &self.builds, sources, worker, arch: Arch::X86_64 }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A package with benchmarks of these packages, in a scratch of its own.
    fn try_pack(&self, packages: &[&str], builds: u32, bytes_max: u64) -> Result<Vec<Package>, RunError> {
        let scratch = tempfile::tempdir_in(self.at("scratch")).unwrap().keep();
        let benchmarks: Vec<_> = packages.iter().map(|package| planned(package, "BenchmarkX")).collect();
        self.cargo(&self.at("worker")).pack(&benchmarks, &seeds(builds), Room { bytes_max, scratch: &scratch })
    }

    /// The one package that it is.
    fn pack(&self, packages: &[&str], builds: u32, bytes_max: u64) -> Package {
        let mut packages = self.try_pack(packages, builds, bytes_max).unwrap();
        assert_eq!(packages.len(), 1);
        packages.remove(0)
    }

    /// The orders in which programs were linked.
    fn orders(&self) -> BTreeSet<Option<u32>> {
        self.adapter.shipped.lock().unwrap().iter().map(|(_, layout_seed)| *layout_seed).collect()
    }
}

/// Layout seeds of so many build pairs.
fn seeds(builds: u32) -> Vec<[u32; 2]> {
    (0..builds).map(|build| [2 * build + 1, 2 * build + 2]).collect()
}

/// A package as an instance has it: every member is unpacked below a directory of its name.
struct Unpacked {
    dir: tempfile::TempDir,
    files: BTreeSet<String>,
}

impl Unpacked {
    fn new(package: &Package) -> Unpacked {
        let dir = tempfile::tempdir().unwrap();
        let mut zip = zip::ZipArchive::new(File::open(&package.file).unwrap()).unwrap();
        let files: BTreeSet<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
        zip.extract(dir.path()).unwrap();
        for file in &files {
            if let Some(member) = file.strip_suffix(".tar.zst") {
                unpack(&dir.path().join(file), &dir.path().join(member)).unwrap();
            }
        }
        Unpacked { dir, files }
    }

    fn read(&self, place: &str) -> Vec<u8> {
        fs::read(self.dir.path().join(place)).unwrap()
    }

    fn has(&self, place: &str) -> bool {
        self.dir.path().join(place).exists()
    }
}

#[test]
fn the_same_contents_are_the_same_bytes_wherever_and_whenever_they_are_packed() {
    let (one, other) = (Project::new(), Project::new());
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(86_400);
    File::open(other.at("new/b/data.txt")).unwrap().set_modified(later).unwrap();
    fs::set_permissions(other.at("new/b/data.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let (first, second) = (one.pack(&["a", "b"], 3, ROOMY), other.pack(&["b", "a", "b"], 3, ROOMY));
    assert_eq!(fs::read(&first.file).unwrap(), fs::read(&second.file).unwrap());
    assert_eq!((first.bytes, &first.digest), (second.bytes, &second.digest));
    assert_eq!(first.bytes, fs::metadata(&first.file).unwrap().len());
    fs::write(other.at("new/b/data.txt"), "neu").unwrap();
    assert_ne!(other.pack(&["a", "b"], 3, ROOMY).digest, first.digest);
}

#[test]
fn only_packages_of_planned_benchmarks_travel() {
    let project = Project::new();
    let package = project.pack(&["b"], 3, ROOMY);
    let unpacked = Unpacked::new(&package);
    let expected = ["bootstrap", "files.tar.zst", "p0.tar.zst"].map(String::from);
    assert_eq!(unpacked.files, BTreeSet::from(expected));
    assert_eq!(unpacked.read("bootstrap"), b"a worker");
    for (place, artifact, seed) in [("p0/0/0", "old b ", 1), ("p0/1/0", "new b ", 2), ("p0/1/2", "new b ", 6)] {
        assert_eq!(unpacked.read(place), linked(artifact, Some(seed)), "{place}");
    }
    assert!(!unpacked.has("p0/0/3"));
    let worker = project.at("worker");
    let cargo = project.cargo(&worker);
    let packages = [package];
    assert!(cargo.recipes(&packages, &planned("a", "BenchmarkX"), 0).is_none());
    assert!(cargo.recipes(&packages, &planned("b", "BenchmarkX"), 2).is_some());
    assert!(cargo.recipes(&packages, &planned("b", "BenchmarkX"), 3).is_none(), "there is no such build pair");
}

#[test]
fn as_many_build_pairs_travel_as_there_is_room_for() {
    let project = Project::new();
    let (few, many) = (project.pack(&["b"], 3, ROOMY), project.pack(&["b"], 12, ROOMY));
    assert_eq!((few.builds, many.builds), (3, 12));
    let each = (many.bytes - few.bytes) / 9;
    assert!(each > 2 * PROGRAM_BYTES as u64, "{each} bytes for each build pair");
    for builds in 3..12 {
        let bytes_max = few.bytes + u64::from(builds - 3) * each + each / 2;
        let package = project.pack(&["b"], 12, bytes_max);
        assert!(package.bytes <= bytes_max && package.builds == builds, "{} of {builds}", package.builds);
        assert!(Unpacked::new(&package).has(&format!("p0/1/{}", builds - 1)));
    }
}

#[test]
fn what_has_too_little_room_for_build_pairs_is_split_by_packages() {
    let project = Project::new();
    let bytes_max = project.pack(&["a"], 9, ROOMY).bytes + 1000;
    let packages = project.try_pack(&["a", "b"], 12, bytes_max).unwrap();
    assert_eq!(packages.iter().map(|package| package.builds).collect::<Vec<_>>(), [9, 9]);
    assert!(packages.iter().all(|package| package.bytes <= bytes_max));
    let worker = project.at("worker");
    for (number, name) in ["a", "b"].into_iter().enumerate() {
        let benchmark = planned(name, "BenchmarkX");
        let recipes = project.cargo(&worker).recipes(&packages, &benchmark, 8).unwrap();
        assert_eq!((recipes.package, builds_of(&packages, &benchmark.id)), (number, 9));
        let unpacked = Unpacked::new(&packages[number]);
        assert!(recipes.sides.iter().all(|side| unpacked.dir.path().join(&side.program).is_file()));
    }
    // Enough of them in one package are better than more in two.
    let bytes_max = project.pack(&["a", "b"], 8, ROOMY).bytes + 1000;
    assert_eq!(project.pack(&["a", "b"], 12, bytes_max).builds, 8);
}

#[test]
fn a_single_build_pair_has_the_linkers_own_order_however_it_came_to_be_alone() {
    let alone = Project::new().pack(&["b"], 1, ROOMY);
    let each = 2 * PROGRAM_BYTES as u64;
    // Two or fewer would be no units of a test, so that one is as good and is what the linker makes.
    let cases = [(1, ROOMY), (2, ROOMY), (2, alone.bytes), (12, alone.bytes), (12, alone.bytes + each + each / 2)];
    for (wanted, bytes_max) in cases {
        let project = Project::new();
        let package = project.pack(&["b"], wanted, bytes_max);
        assert_eq!((package.builds, &package.digest), (1, &alone.digest), "{wanted} in {bytes_max} bytes");
        assert!(project.orders().contains(&None));
        assert_eq!(Unpacked::new(&package).read("p0/1/0"), linked("new b ", None));
    }
}

#[test]
fn what_does_not_fit_at_all_is_refused_with_the_remedy() {
    let project = Project::new();
    let least = project.pack(&["b"], 1, ROOMY).bytes;
    for builds in [1, 2, 12] {
        let error = project.try_pack(&["b"], builds, least - 1).unwrap_err();
        let hint = error.advice().unwrap();
        assert!(error.to_string().contains("MB are taken"), "{error}");
        assert!(hint.contains("--packages") && hint.contains("--bucket"), "{hint}");
    }
    assert_eq!(project.pack(&["b"], 12, least).builds, 1);
}

#[test]
fn nothing_is_linked_twice() {
    let project = Project::new();
    project.pack(&["a", "b"], 12, ROOMY);
    let shipped = project.adapter.shipped.lock().unwrap();
    let programs: BTreeSet<&PathBuf> = shipped.iter().map(|(program, _)| program).collect();
    assert_eq!((shipped.len(), programs.len()), (48, 48));
}

#[test]
fn large_files_and_what_no_benchmark_reads_stay_here_and_the_large_ones_are_named() {
    let project = Project::new();
    for version in ["old", "new"] {
        let file = |name: &str, bytes| File::create(project.at(version).join(name)).unwrap().set_len(bytes).unwrap();
        file("b/film.bin", 10_000_001);
        file("b/picture.bin", 10_000_000);
    }
    File::create(project.at("new/a/disk.img")).unwrap().set_len(20_000_000).unwrap();
    std::os::unix::fs::symlink("/etc", project.at("new/b/link")).unwrap();
    let package = project.pack(&["b"], 1, ROOMY);
    assert_eq!(package.left_out, [Path::new("a/disk.img"), Path::new("b/film.bin")]);
    let unpacked = Unpacked::new(&package);
    for place in ["files/0/b/film.bin", "files/1/a/disk.img", "files/0/b/.git", "files/1/b/link"] {
        assert!(!unpacked.has(place), "{place}");
    }
    assert_eq!(unpacked.read("files/0/a/testdata/x/y"), b"deep");
    assert_eq!(
        (unpacked.read("files/0/b/data.txt"), unpacked.read("files/1/b/data.txt")),
        (b"old".into(), b"new".into())
    );
    assert!(unpacked.has("files/1/b/picture.bin"));
    // Twice the largest member and the files, and some: 0.04 MB of programs, 20 MB of pictures.
    assert_eq!(package.unpacked_mb, 140);
}

#[test]
fn recipes_lead_to_what_is_in_the_package_and_name_nothing_of_this_machine() {
    let project = Project::new();
    let packages = [project.pack(&["a", "b"], 3, ROOMY)];
    let unpacked = Unpacked::new(&packages[0]);
    let (worker, here) = (project.at("worker"), project.dir.path().display().to_string());
    let cargo = project.cargo(&worker);
    for (name, build) in [("a", 0), ("b", 0), ("b", 2)] {
        let recipes = cargo.recipes(&packages, &planned(name, "BenchmarkX"), build).unwrap();
        for member in &recipes.members {
            assert!(unpacked.files.contains(&format!("{member}.tar.zst")), "{member}");
        }
        for (side, (recipe, version)) in recipes.sides.iter().zip(["old", "new"]).enumerate() {
            let program = unpacked.dir.path().join(&recipe.program);
            assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o111, 0o111);
            let seed = seeds(3)[build as usize][side];
            assert_eq!(fs::read(&program).unwrap(), linked(&format!("{version} {name} "), Some(seed)));
            assert!(unpacked.dir.path().join(&recipe.dir).is_dir(), "{}", recipe.dir.display());
            assert!(recipe.dir.ends_with(format!("{side}/{name}")));
            assert!(recipe.program.is_relative() && recipe.dir.is_relative());
            assert_eq!(recipe.env, [("DUET_BENCH".to_owned(), "BenchmarkX/size=1".to_owned())]);
            assert_eq!((recipe.args.as_slice(), recipe.hooked), (&["-test.run=^$".to_owned()][..], true));
            assert!(!format!("{recipe:?}").contains(&here), "{recipe:?}");
        }
    }
}
