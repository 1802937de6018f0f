//! CPU profiles that the Go toolchain at hand writes: read, counted, merged, and damaged in every way.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use duetbench_core::hotspot::{BenchmarkProfile, CallTree, Gain, ProfileDifference, ProfileOutcome};
use duetbench_core::{BenchmarkId, Role};
use duetbench_run::pprof::{FILE_BYTES_MAX, Pprof, PprofError, merge, parse};
use duetbench_run::store::Store;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::mutation::Draw;

const SPINS: &str = "package spin

import \"testing\"

var sink int

//go:noinline
func inner(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ (s << 1)
	}
	return s
}

func outer(depth, n int) int {
	if depth == 0 {
		return inner(n)
	}
	return outer(depth-1, n) + 1
}

func BenchmarkSpin(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = outer(3, 10000)
	}
}
";

/// The profile of a real benchmark.
fn profile() -> &'static [u8] {
    static PROFILE: OnceLock<Vec<u8>> = OnceLock::new();
    PROFILE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("go.mod"), "module example.com/spin\n\ngo 1.21\n").unwrap();
        fs::write(dir.path().join("spin_test.go"), SPINS).unwrap();
        go(dir.path(), &["test", "-bench=.", "-benchtime=20000x", "-cpuprofile=cpu.pb.gz"]);
        fs::read(dir.path().join("cpu.pb.gz")).unwrap()
    })
}

fn go(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("go").args(args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "go {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Output of `go tool pprof` for a profile.
fn top(profile: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.pb.gz"), profile).unwrap();
    go(dir.path(), &["tool", "pprof", "-top", "-sample_index=samples", "p.pb.gz"])
}

/// A function's own samples and all of them, as `go tool pprof` counts them.
fn hits_of(top: &str, function: &str) -> (u64, u64) {
    let line =
        top.lines().find(|line| line.split_whitespace().nth(5) == Some(function)).unwrap_or_else(|| panic!("{top}"));
    let number = |column| line.split_whitespace().nth(column).unwrap().parse().unwrap();
    (number(0), number(3))
}

/// The samples that `go tool pprof` counts in all.
fn total(top: &str) -> u64 {
    let (_, rest) = top.split_once("% of ").unwrap();
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

fn content(profile: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    GzDecoder::new(profile).read_to_end(&mut content).unwrap();
    content
}

fn compressed(content: &[u8]) -> Vec<u8> {
    let mut file = GzEncoder::new(Vec::new(), Compression::none());
    file.write_all(content).unwrap();
    file.finish().unwrap()
}

#[test]
fn a_real_profile_is_counted_as_pprof_counts_it() {
    let pprof = parse(profile()).unwrap();
    let counted = pprof.count(20_001).unwrap();
    assert_eq!((counted.invocations, counted.period_ns), (20_001, 10_000_000));
    // As it is kept: a preemption's own samples are those of what it interrupts.
    let top = top(&merge(&[pprof]).unwrap());
    assert_eq!(counted.samples, total(&self::top(profile())));
    assert_eq!(counted.samples, total(&top));
    // `outer` calls itself, and counts once.
    for name in ["example.com/spin.inner", "example.com/spin.outer"] {
        let hits = counted.functions[name];
        assert_eq!((hits.flat, hits.cumulative), hits_of(&top, name), "{top}");
    }
    assert!(counted.functions.values().map(|hits| hits.flat).sum::<u64>() == counted.samples, "{counted:?}");
}

#[test]
fn merged_profiles_are_read_by_pprof_and_by_us() {
    let one = parse(profile()).unwrap();
    let three = merge(&[one.clone(), one.clone(), one.clone()]).unwrap();
    let (alone, together) = (one.count(1).unwrap(), parse(&three).unwrap().count(1).unwrap());
    assert_eq!(together.samples, 3 * alone.samples);
    for (name, hits) in &alone.functions {
        assert_eq!(together.functions[name].cumulative, 3 * hits.cumulative, "{name}");
    }
    assert_eq!(total(&top(&three)), 3 * alone.samples);
    assert_eq!(merge(&[]), Err(PprofError::Damaged("there is none to merge")));
}

#[test]
fn stacks_of_a_real_profile_are_a_tree() {
    let (pprof, mut tree) = (parse(profile()).unwrap(), CallTree::default());
    for role in Role::BOTH {
        assert_eq!(pprof.add_stacks(role, &mut tree), Ok(10_000_000));
    }
    let frames = tree.frames([1.0, 2.0]);
    let samples = total(&top(profile())) as f64;
    assert_eq!((frames[0].baseline_ns, frames[0].candidate_ns), (samples, 2.0 * samples));
    // The recursion is four deep, and begins in the benchmark.
    let begins = frames.iter().position(|frame| frame.function.ends_with("spin.BenchmarkSpin")).unwrap();
    let below: Vec<(usize, &str)> =
        frames[begins..].iter().take(6).map(|f| (f.depth, f.function.rsplit('.').next().unwrap())).collect();
    let want = [(1, "BenchmarkSpin"), (2, "outer"), (3, "outer"), (4, "outer"), (5, "outer"), (6, "inner")];
    assert_eq!(below, want);
    let inner = &frames[begins + 5];
    assert!(2.0 * inner.baseline_ns > samples && inner.candidate_ns == 2.0 * inner.baseline_ns, "{inner:?}");
}

/// The outcome of profiling with these files: of each side two processes that made 1000 invocations.
fn explained(files: [&Path; 2]) -> BenchmarkProfile {
    let nothing = Gain { baseline_ns: 0.0, candidate_ns: 0.0, gain_ns: 0.0, beyond_noise: false };
    let difference = ProfileDifference {
        processes: [2, 2],
        samples: [1, 1],
        invocations: 1000,
        total: nothing,
        runtime: nothing,
        flat: Vec::new(),
        cumulative: Vec::new(),
    };
    let files = files.map(|file| file.to_string_lossy().into_owned());
    let id = BenchmarkId { package: "example.com/spin".into(), name: "BenchmarkSpin".into() };
    BenchmarkProfile { id, outcome: ProfileOutcome::Explained { difference, files } }
}

#[test]
fn stacks_are_read_beside_the_store_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("store/duet.db")).unwrap();
    let elsewhere = dir.path().join("a.pb.gz");
    fs::write(&elsewhere, profile()).unwrap();
    let read = |file: &Path| store.stacks("r1", &explained([file, file])).map(|stacks| stacks.frames);
    let refused = |file: &Path| read(file).unwrap().unwrap_err();
    assert!(refused(&elsewhere).starts_with("`a.pb.gz` cannot be read: "), "{}", refused(&elsewhere));
    // Wherever it was when it was written.
    let home = store.profiles_dir("r1");
    fs::create_dir_all(&home).unwrap();
    fs::copy(&elsewhere, home.join("a.pb.gz")).unwrap();
    let frames = read(&elsewhere).unwrap().unwrap();
    let samples = total(&top(profile())) as f64;
    assert_eq!(frames[0].candidate_ns, samples * 10_000_000.0 / 2000.0);
    fs::write(home.join("spoilt.pb.gz"), "no profile").unwrap();
    let spoilt = refused(Path::new("spoilt.pb.gz"));
    assert!(spoilt.starts_with("`spoilt.pb.gz`: the profile cannot be read"), "{spoilt}");
    symlink(&elsewhere, home.join("link.pb.gz")).unwrap();
    assert!(refused(Path::new("link.pb.gz")).starts_with("`link.pb.gz` cannot be read: "));
    assert_eq!(read(Path::new("..")), None);
    let failed = ProfileOutcome::Failed { reason: "no luck".into() };
    assert_eq!(store.stacks("r1", &BenchmarkProfile { outcome: failed, ..explained([&elsewhere; 2]) }), None);
}

#[test]
fn stores_beside_each_other_have_profiles_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let [main, pr] = ["main.db", "pr.db"].map(|name| Store::open(&dir.path().join(name)).unwrap());
    let [home, other] = [&main, &pr].map(|store| store.profiles_dir("r1"));
    assert_eq!(home, dir.path().join("main.db.profiles/r1"));
    assert_ne!(home, other);
    let file = Path::new("a.pb.gz");
    let has = |store: &Store| store.stacks("r1", &explained([file, file])).unwrap().frames.is_ok();
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join(file), profile()).unwrap();
    assert_eq!((has(&main), has(&pr)), (true, false));
    // Where those of all stores in a folder were once.
    let former = dir.path().join("profiles/r1");
    fs::create_dir_all(&former).unwrap();
    fs::write(former.join(file), profile()).unwrap();
    assert!(has(&pr));
}

/// The same profile of a program in which `inner` has another name of the same length.
fn renamed() -> Vec<u8> {
    let (mut content, from, to) = (content(profile()), b"spin.inner", b"spin.other");
    for at in 0..content.len() - from.len() {
        if content[at..].starts_with(from) {
            content[at..at + to.len()].copy_from_slice(to);
        }
    }
    compressed(&content)
}

#[test]
fn merging_mixes_up_no_functions() {
    let (one, other) = (parse(profile()).unwrap(), parse(&renamed()).unwrap());
    let alone = one.count(1).unwrap().functions["example.com/spin.inner"];
    let merged = merge(&[one, other]).unwrap();
    let together = parse(&merged).unwrap().count(1).unwrap().functions;
    assert_eq!(together["example.com/spin.inner"], alone);
    assert_eq!(together["example.com/spin.other"], alone);
    let top = top(&merged);
    assert!(top.contains("spin.inner") && top.contains("spin.other"), "{top}");
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    let refused = |content: &[u8]| parse(&compressed(content)).unwrap_err().to_string();
    let empty_word = [0x32, 0x00];
    let check = |part: &[u8], words: &str| {
        let said = refused(&[part, &empty_word[..]].concat());
        assert!(said.contains(words), "{said}");
    };
    // A function whose name is word 5, a sample of place 7, a place in function 9, a value that no type says, functions 1 and 1.
    check(&[0x2a, 0x04, 0x08, 0x01, 0x10, 0x05], "a word is not in its table");
    check(&[0x12, 0x02, 0x08, 0x07], "a place that is not there");
    check(&[0x22, 0x06, 0x08, 0x01, 0x22, 0x02, 0x08, 0x09], "something that is not there");
    check(&[0x12, 0x02, 0x10, 0x01], "other values");
    check(&[0x2a, 0x02, 0x08, 0x01, 0x2a, 0x02, 0x08, 0x01], "the same number");
    assert!(refused(&[]).contains("table of words"));
}

#[test]
fn what_is_no_profile_is_refused_in_words() {
    let refused = |file: &[u8]| parse(file).unwrap_err().to_string();
    assert!(refused(b"").contains("cannot be read"));
    assert!(refused(b"not compressed").contains("cannot be read"));
    assert!(refused(&compressed(b"no message \xff")).contains("cannot be read"));
    assert!(refused(&vec![0; FILE_BYTES_MAX + 1]).contains("larger than 4 MB"));
    // Small as a file, large as a profile.
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    bomb.write_all(&vec![0; 20 << 20]).unwrap();
    assert_eq!(parse(&bomb.finish().unwrap()), Err(PprofError::TooLarge));
    // An empty word alone is a valid profile, of nothing.
    let empty = parse(&compressed(&[0x32, 0x00])).unwrap();
    assert_eq!(empty.count(1), Err(PprofError::NotOfTime));
}

#[test]
fn no_mutation_of_a_profile_makes_reading_panic() {
    let (file, content) = (profile(), content(profile()));
    let mut draw = Draw(7);
    let (mut refused, mut read) = (0, 0);
    for round in 0..10_000 {
        // Nearly every change of the file itself is seen by its checksum, so most are made below it.
        let spoilt = if round % 10 == 0 { draw.spoilt(file) } else { compressed(&draw.spoilt(&content)) };
        let used = |pprof: Pprof| {
            let counted = pprof.count(1)?;
            pprof.add_stacks(Role::Candidate, &mut CallTree::default())?;
            Ok((counted, merge(&[pprof.clone(), pprof])?))
        };
        match parse(&spoilt).and_then(used) {
            Ok((counted, merged)) => {
                read += 1;
                assert_eq!(parse(&merged).unwrap().count(1).unwrap().samples, 2 * counted.samples);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 1000 && read > 100, "{refused} refused, {read} read");
}
