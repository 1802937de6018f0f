//! JMH with the real binary and real jars, built by Maven from `examples/03-jmh` and `fixtures/jmh`.
//!
//! No test asserts a time. A jar against itself is never called changed; planted changes are large enough to be found on any machine.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{Place, Ran, assert_no_false_alarm};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

fn example() -> PathBuf {
    Path::new(CRATE).join("../../examples/03-jmh")
}

/// Copies a project's sources, with a number of rounds where there is one.
fn copy(project: &Path, to: &Path, rounds: u32) {
    for entry in fs::read_dir(project).unwrap().map(Result::unwrap).filter(|e| e.file_name() != "target") {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target, rounds);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            let text = text.replace("ROUNDS = 100;", &format!("ROUNDS = {rounds};"));
            fs::write(target, text.replace("    public int words() {", APPENDED)).unwrap();
        }
    }
}

/// The last arguments of an annotation stand before those that are asked for, and lose to them.
const APPENDED: &str = "    @org.openjdk.jmh.annotations.Fork(jvmArgsAppend = \"-Xmixed\")\n    public int words() {";

/// The jar of a project, built here.
fn jar(project: &Path, rounds: u32) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    copy(project, dir.path(), rounds);
    packaged(dir.path())
}

fn packaged(dir: &Path) -> Vec<u8> {
    let built = Command::new("mvn").args(["-B", "-q", "-DskipTests", "package"]).current_dir(dir).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
    fs::read(dir.join("target/benchmarks.jar")).unwrap()
}

/// The jar of `fixtures/jmh` with other annotations on the same code, one of which names this JVM.
fn annotated_otherwise(jvm: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    copy(&Path::new(CRATE).join("tests/fixtures/jmh"), dir.path(), 0);
    let file = dir.path().join("src/main/java/trouble/Troubled.java");
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("@Threads(2)", "@Threads(1)").replace("batchSize = 10", "batchSize = 20");
    let text = text.replace("@Fork(warmups = 1,", &format!("@Fork(jvm = \"{jvm}\", warmups = 1,"));
    fs::write(&file, text.replace("UseParallelGC", "UseSerialGC")).unwrap();
    packaged(dir.path())
}

/// A place with these jars in it, each built once for all tests.
fn place() -> Place {
    static JARS: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    let [base, slower, troubled] = JARS.get_or_init(|| {
        [jar(&example(), 100), jar(&example(), 250), jar(&Path::new(CRATE).join("tests/fixtures/jmh"), 0)]
    });
    let place = Place::new();
    for (name, bytes) in [("base.jar", base), ("slower.jar", slower), ("troubled.jar", troubled)] {
        fs::write(place.path().join(name), bytes).unwrap();
    }
    place
}

/// Whether nothing was measured, with the reason.
trait Refused {
    fn refused(self, words: &[&str]);
}

fn compare(place: &Place, jars: [&str; 2], more: &[&str]) -> Ran {
    let fixed = ["--format", "json", "--fixed", "--threshold", "20%", "--measure-identical", "--warmup", "5"];
    place.duet(&[&["compare"], &jars[..], &fixed, more].concat())
}

#[test]
fn a_jar_is_listed_with_its_parameters() {
    let place = place();
    let listed = place.duet(&["list", "base.jar"]).expect(0).stdout;
    let want = ["hash:size=1024", "hash:size=64", "join", "sort", "words"];
    let want: String = want.iter().map(|name| format!("org.example.text\tTextBenchmark.{name}\titeration\n")).collect();
    let mut lines: Vec<&str> = listed.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.join("\n") + "\n", want);
    // JMH's own patterns see the package too.
    let full = "org.example.text.TextBenchmark.(hash|sort|words)";
    let rest = place.duet(&["list", "base.jar", "--exclude", full]).expect(0).stdout;
    assert_eq!(rest, "org.example.text\tTextBenchmark.join\titeration\n");
    let alone = place.duet(&["list", "base.jar", "--bench", r"^org\.example\.text\.TextBenchmark\.join$"]);
    assert_eq!(alone.expect(0).stdout, rest);
}

#[test]
fn a_jar_is_identical_to_itself_and_measuring_it_gives_no_alarm() {
    let place = place();
    let proven = place.duet(&["compare", "base.jar", "base.jar", "--format", "json"]).expect(0);
    assert_eq!(proven.verdict("TextBenchmark.sort"), "identical_code");
    for mode in ["interleaved", "duet", "sequential"] {
        let ran = compare(&place, ["base.jar", "base.jar"], &["--mode", mode, "--forks", "3", "--bench", "words"]);
        assert_no_false_alarm(&ran, &["TextBenchmark.words"]);
        assert_eq!(ran.benchmark("TextBenchmark.words")["forks"].as_array().unwrap().len(), 3, "{mode}");
    }
}

/// A jar with nothing but its list of benchmarks and a manifest that names the jar with all else, in a folder of their own.
fn thin(place: &Place, folder: &str, whole: &str) -> String {
    let jar = |dir: &Path, args: &[&str]| {
        assert!(Command::new("jar").args(args).current_dir(dir).status().unwrap().success())
    };
    let dir = place.path().join(folder);
    fs::create_dir_all(dir.join("lib")).unwrap();
    fs::copy(place.path().join(whole), dir.join("lib/whole.jar")).unwrap();
    fs::write(dir.join("manifest"), "Class-Path: lib/whole.jar lib/missing.jar\n").unwrap();
    jar(&dir, &["xf", "lib/whole.jar", "META-INF/BenchmarkList"]);
    jar(&dir, &["cfm", "thin.jar", "manifest", "META-INF/BenchmarkList"]);
    format!("{folder}/thin.jar")
}

#[test]
fn jars_that_others_complete_find_them_and_are_as_identical_as_these() {
    let place = place();
    let [old, new] = [thin(&place, "old", "base.jar"), thin(&place, "new", "slower.jar")];
    let dry = |jars: [&str; 2]| {
        place.duet(&["compare", jars[0], jars[1], "--format", "json", "--dry-run", "--bench", "words"])
    };
    assert!(!dry([&old, &new]).expect(0).stdout.contains("identical_code"));
    assert!(dry([&old, &old]).expect(0).stdout.contains("identical_code"));
    let ran = compare(&place, [&old, &new], &["--forks", "3", "--bench", "words"]);
    let versions = &ran.json()["versions"];
    assert_ne!(versions["baseline"]["artifact_digest"], versions["candidate"]["artifact_digest"]);
    assert_eq!(ran.benchmark("TextBenchmark.words")["forks"].as_array().unwrap().len(), 3, "{}", ran.stderr);
}

#[test]
fn a_planted_slowdown_is_found_whether_time_or_throughput_is_asked_for() {
    let place = place();
    let ran = compare(
        &place,
        ["base.jar", "slower.jar"],
        &["--forks", "6", "--bench", "hash:size=64|words", "--alpha", "5%"],
    );
    // Average time and throughput: slower is slower in both. A busy machine may leave open by how much.
    for name in ["TextBenchmark.hash:size=64", "TextBenchmark.words"] {
        assert!(["regression", "slower_size_open"].contains(&&*ran.verdict(name)), "{name}: {}", ran.stdout);
    }
    let counts = &ran.benchmark("TextBenchmark.words")["forks"][0]["baseline"];
    assert!(counts["bytes_per_op"].as_f64().unwrap() > 1000.0 && counts["allocs_per_op"].is_null(), "{counts}");
}

#[test]
fn one_jar_is_compared_on_two_jvms_by_their_arguments() {
    let place = place();
    place.write("duet.toml", "[jmh.head]\njvm_args = [\"-Xint\", \"-XX:+UseSerialGC\"]\n");
    // By three units even an interpreter is not shown to be slower, at the level of these tests, where other processes disturb them.
    let bench = ["--bench", "words", "--forks", "5"];
    let dry =
        place.duet(&[&["compare", "base.jar", "base.jar", "--format", "json"], &bench[..], &["--dry-run"]].concat());
    assert!(!dry.expect(0).stdout.contains("identical_code"), "what differs only by its JVM is not the same");
    let ran = compare(&place, ["base.jar", "base.jar"], &bench).expect(3);
    let verdicts = ran.json()["benchmarks"].clone();
    assert_eq!(verdicts[0]["verdict"], "regression", "{verdicts}");
    let toolchain = ran.json()["environment"]["toolchain"].as_str().unwrap().to_owned();
    for words in ["base on ", "; head on ", "Serial", "`-Xint -XX:+UseSerialGC`"] {
        assert!(toolchain.contains(words), "{words} is missing in {toolchain}");
    }
    let versions = &ran.json()["versions"];
    assert_ne!(versions["baseline"]["artifact_digest"], versions["candidate"]["artifact_digest"]);
    place.write("duet.toml", "[jmh.base]\njvm_args = [\"-XX:+NoSuchFlag\"]\n");
    place.duet(&["compare", "base.jar", "base.jar"]).refused(&["NoSuchFlag", "`jvm_args` in `[jmh.base]`"]);
    place.write("duet.toml", "[jmh.base]\njvm = \"/no/such/jdk\"\n");
    place.duet(&["compare", "base.jar", "base.jar"]).refused(&["/no/such/jdk", "[jmh.base]"]);
}

#[test]
fn a_benchmark_with_other_annotations_has_changed_itself() {
    let place = place();
    fs::write(place.path().join("other.jar"), annotated_otherwise("java")).unwrap();
    let compared = |names: &str, more: &[&str]| {
        let wanted = ["compare", "troubled.jar", "other.jar", "--format", "json", "--fixed", "--warmup", "5"];
        let mut command = place.command(&[&wanted[..], &["--forks", "2", "--bench", names], more].concat());
        Ran::from(command.env_remove("DUET_SAME_BENCHMARKS").output().unwrap())
    };
    let ran = compared("twoThreads|needsItsArguments|prepared:size=1,word=c", &[]);
    for (name, words) in [
        ("Troubled.twoThreads", "the benchmark itself differs: `@Threads` (2 in base, 1 in head)"),
        ("Troubled.needsItsArguments", "`@Fork(jvmArgs)` (-Dtrouble.needed=yes -XX:+UseParallelGC in base"),
    ] {
        let benchmark = ran.benchmark(name);
        assert_eq!(benchmark["verdict"], "redefined", "{benchmark:#}");
        assert!(benchmark["warnings"].to_string().contains(words), "{benchmark:#}");
    }
    let kept = "Troubled.prepared:size=1,word=c";
    assert_ne!(ran.verdict(kept), "redefined", "batches are nothing to the average time");
    let own_jvm = ran.json()["warnings"].to_string();
    assert!(own_jvm.contains("`@Fork(jvm)`") && own_jvm.contains("`Troubled.needsItsArguments`"), "{own_jvm}");
    let given = compared("twoThreads", &["--", "-t", "1"]);
    assert_ne!(given.verdict("Troubled.twoThreads"), "redefined", "the command line has the last word in both");
    // A JVM that JMH may ask for its properties, and that measures nothing.
    let own = place.path().join("own-java");
    fs::write(&own, "#!/bin/sh\ncase $* in *ForkedMain*) exit 1;; esac\nexec java \"$@\"\n").unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(place.path().join("other.jar"), annotated_otherwise(own.to_str().unwrap())).unwrap();
    place.write("duet.toml", "[jmh.head]\njvm = \"java\"\n");
    let same = compared("needsItsArguments", &["--same-benchmarks"]);
    let same = same.benchmark("Troubled.needsItsArguments");
    assert_ne!(same["verdict"], "redefined");
    assert_eq!(same["forks"].as_array().unwrap().len(), 2, "the settings' JVM, not the annotation's: {same:#}");
}

#[test]
fn instructions_of_a_jvm_are_not_counted_and_that_is_said() {
    let place = place();
    let few = ["--bench", "words", "--forks", "3"];
    let why = "a JVM compiles while it runs";
    let warnings = |more: &[&str]| {
        let report = compare(&place, ["base.jar", "base.jar"], &[&few[..], more].concat()).expect(0).json();
        assert!(report.get("instructions").is_none(), "{report:#}");
        report["warnings"].to_string()
    };
    let counted = warnings(&["--count"]);
    assert!(counted.contains(&format!("`--count` has no effect here: {why}")), "{counted}");
    place.write("duet.toml", "[[rule]]\nmetric = 'instructions'\naction = 'gate'\n");
    let ruled = warnings(&[]);
    assert!(ruled.contains(&format!("no rule on `instructions` is kept here: {why}")), "{ruled}");
}

#[test]
fn a_run_of_a_jar_is_tuned_and_its_plan_followed() {
    let place = place();
    let often = ["--suite-runs", "2", "--iterations", "40", "--seconds", "0.01"];
    place.duet(&[&["run", "base.jar", "--bench", "hash:size=64"], &often[..]].concat()).expect(0);
    // No plan is written where nothing is stable, which a busy machine decides at any threshold that means something.
    let tuned = place.duet(&["tune", "latest", "--threshold", "1000%"]).expect(0).stdout;
    assert!(tuned.contains("warm-up") && tuned.contains("by the harness"), "{tuned}");
    let plan = fs::read_to_string(place.path().join("duet-plan.toml")).unwrap();
    assert!(plan.contains("\"org.example.text.TextBenchmark.hash:size=64\"") && plan.contains("warmup = "), "{plan}");
    let args = ["--plan", "duet-plan.toml", "--bench", "hash:size=64", "--threshold", "20%", "--format", "json"];
    let ran = place.duet(&[&["compare", "base.jar", "slower.jar"], &args[..]].concat());
    let name = "TextBenchmark.hash:size=64";
    assert!(["regression", "slower_size_open", "inconclusive"].contains(&ran.verdict(name).as_str()), "{}", ran.stdout);
    // Never fewer than four, and no first trial where the plan says how long it warms up.
    assert!(ran.benchmark(name)["forks"].as_array().unwrap().len() >= 4 && !ran.stderr.contains("not in the plan"));
}

#[test]
fn revisions_of_a_maven_project_are_built_without_touching_the_checkout() {
    let place = Place::new();
    place.git(&["init", "-q"]);
    copy(&example(), place.path(), 100);
    place.write(".gitignore", "target\n.duet\n");
    place.commit_all("base");
    copy(&example(), place.path(), 1000);
    let args =
        ["compare", "HEAD", "--bench", "hash:size=64", "--forks", "4", "--fixed", "--warmup", "5", "--format", "json"];
    let ran = place.duet(&[&args[..], &["--alpha", "5%"]].concat());
    assert_eq!(ran.expect(3).verdict("TextBenchmark.hash:size=64"), "regression");
    assert!(!place.path().join("target").exists());
    assert_eq!(place.git(&["status", "--porcelain"]).trim(), "M src/main/java/org/example/text/Text.java");
    place.write("src/main/java/org/example/text/Broken.java", "class Broken { int x = \"no number\"; }\n");
    place.duet(&["compare", "HEAD"]).expect(1).says(&["head (", "does not build", "Broken.java"]);
}

#[test]
fn what_misbehaves_is_named_with_its_words_and_leaves_nothing_running() {
    let place = place();
    let listed = place.duet(&["list", "troubled.jar", "--timeout", "15s"]);
    for (name, words) in
        [("throwsAtOnce", "no luck today"), ("endsTheJvm", "exit status 3"), ("hangs", "no end within 15 s")]
    {
        let line = listed.stdout.lines().find(|l| l.contains(&format!("Troubled.{name}\t"))).unwrap();
        assert!(line.contains("failed") && line.contains(words), "{line}");
    }
    let wanted = "Troubled.(twoThreads|severalModes)";
    let listed = place.duet(&["list", "troubled.jar", "--bench", wanted]).expect(0).stdout;
    let mut names: Vec<&str> = listed.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Troubled.severalModes (ss)", "Troubled.severalModes (thrpt)", "Troubled.twoThreads"]);
    let names = "throwsWhenMeasured|throwsLate|endsTheJvmWhenMeasured|hangsWhenMeasured";
    let ran =
        compare(&place, ["troubled.jar", "troubled.jar"], &["--forks", "2", "--bench", names, "--timeout", "10s"]);
    let ran = ran.expect(1);
    for (name, words) in [
        ("throwsWhenMeasured", "no luck with measuring"),
        ("throwsLate", "exit status 1: java.lang.IllegalStateException: no luck in the end"),
        ("endsTheJvmWhenMeasured", "exit status"),
        ("hangsWhenMeasured", "it hangs, or waits for what the other version holds"),
    ] {
        let benchmark = ran.benchmark(&format!("Troubled.{name}"));
        assert_eq!(benchmark["verdict"], "failed", "{name}");
        assert!(benchmark.to_string().contains(words), "{benchmark:#}");
    }
    let left = Command::new("pgrep").args(["-f", place.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn what_jmh_offers_works() {
    let place = place();
    // A file of arguments, which lies beside the jars and has the last word.
    place.write("options.txt", "-XX:+UseParallelGC -Xmx300m\n");
    place.write("duet.toml", "[jmh]\njvm_args = [\"@options.txt\"]\n");
    let names = "twoThreads|group|severalModes|needsItsArguments|prepared";
    let ran = compare(&place, ["troubled.jar", "troubled.jar"], &["--forks", "2", "--bench", names]);
    let benchmarks = ran.json()["benchmarks"].as_array().unwrap().clone();
    let names: Vec<&str> = benchmarks.iter().map(|b| b["name"].as_str().unwrap()).collect();
    let want = [
        "Troubled.group", "Troubled.needsItsArguments", "Troubled.prepared:size=1,word=a b",
        "Troubled.prepared:size=1,word=c", "Troubled.prepared:size=2,word=a b", "Troubled.prepared:size=2,word=c",
        "Troubled.severalModes (ss)", "Troubled.severalModes (thrpt)", "Troubled.twoThreads",
    ];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, want);
    for name in want {
        let forks = ran.benchmark(name)["forks"].as_array().unwrap().clone();
        assert_eq!(forks.len(), 2, "{name}: {}", ran.benchmark(name));
    }
    let of = |name: &str, unit: &str| ran.benchmark(name)["forks"][0]["baseline"][unit].as_f64().unwrap();
    // Rounds of the same work, a hundred times as many, whatever the mode: in code that gets compiled by far not exact, but no reciprocal.
    for name in ["Troubled.severalModes (ss)", "Troubled.severalModes (thrpt)"] {
        let found = of(name, "ns_per_op") / of("Troubled.prepared:size=2,word=c", "ns_per_op");
        assert!((1.5..5000.0).contains(&found), "{name} takes {found} times as long\n{}", ran.stdout);
    }
    assert!(of("Troubled.twoThreads", "bytes_per_op") < 100.0, "it allocates nothing: {}", ran.stdout);
    let report = ran.json();
    let toolchain = report["environment"]["toolchain"].as_str().unwrap();
    assert!(toolchain.contains("Parallel") && toolchain.contains("0.3 GiB"), "{toolchain}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("this concerns `Troubled.severalModes (ss)`"), "{warnings}");
    let processors = std::thread::available_parallelism().unwrap().get();
    if processors > 1 {
        assert_eq!(ran.benchmark("Troubled.twoThreads")["mode"], "interleaved_all_cores");
        assert_eq!(ran.benchmark("Troubled.group")["mode"], "interleaved_all_cores");
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_the_remedy() {
    let place = place();
    let other = zip_of_nothing();
    fs::write(place.path().join("other.jar"), &other).unwrap();
    place.write("broken.jar", "no zip at all");
    place.duet(&["compare", "gone.jar", "base.jar"]).refused(&["there is no jar `gone.jar`"]);
    place.duet(&["compare", "broken.jar", "base.jar"]).refused(&["broken.jar", "not a jar that can be read"]);
    place.duet(&["compare", "other.jar", "base.jar"]).refused(&["holds no JMH benchmarks"]);
    place.duet(&["compare", "base.jar", "base.jar", "--", "-f", "2"]).refused(&["`-f`", "`--forks`"]);
    place.duet(&["compare", "base.jar", "base.jar", "--", "-pro", "gc"]).refused(&["`-pro`", "a profiler"]);
    place.duet(&["compare", "base.jar", "base.jar", "--", "-jvm", "java"]).refused(&["`-jvm`", "[jmh.base]"]);
    place.duet(&["compare", "base.jar", "base.jar", "--", "-t", "1", "Bench"]).refused(&["`Bench`", "`--bench`"]);
    let without_java = |name: &str, value: &str| {
        let mut command = place.command(&["compare", "base.jar", "slower.jar"]);
        Ran::from(command.env_remove("JAVA_HOME").env(name, value).output().unwrap())
    };
    let empty = place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    without_java("PATH", empty.to_str().unwrap()).refused(&["need Java", "JAVA_HOME"]);
    without_java("JAVA_HOME", "/nowhere").refused(&["need Java", "JAVA_HOME"]);
}

impl Refused for Ran {
    fn refused(self, words: &[&str]) {
        assert!([1, 2].contains(&self.code) && self.stdout.is_empty(), "{}: {}", self.code, self.stdout);
        self.says(words);
    }
}

/// The end record of an archive without entries, which is a whole archive.
fn zip_of_nothing() -> Vec<u8> {
    [b"PK\x05\x06".as_slice(), &[0; 18]].concat()
}
