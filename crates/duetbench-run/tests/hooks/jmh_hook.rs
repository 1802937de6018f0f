//! The hook inside the real JMH, on JMH's own published samples. Maven fetches them once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use duetbench_run::adapter::jmh::CLASSES;
use duetbench_run::page::{PageMode, Record};

use crate::hook_support::{Trial, hooks, run};

const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>duetbench</groupId><artifactId>samples</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.openjdk.jmh</groupId><artifactId>jmh-samples</artifactId><version>1.37</version></dependency>
    <dependency><groupId>org.openjdk.jmh</groupId><artifactId>jmh-generator-annprocess</artifactId><version>1.37</version></dependency>
  </dependencies>
</project>
"#;

/// JMH with its samples, and the hook before them: a class path.
fn class_path() -> String {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jmh-1.37");
    fs::create_dir_all(&place).unwrap();
    // Tests are threads and processes; one of them fetches, the others wait.
    let lock = File::create(place.join("lock")).unwrap();
    lock.lock().unwrap();
    let (jars, hook) = (place.join("jars"), place.join("hook"));
    if !jars.exists() {
        fs::write(place.join("pom.xml"), POM).unwrap();
        let fetched = place.join("fetched");
        let copy = ["-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"];
        run(Command::new("mvn").args(copy).arg(format!("-DoutputDirectory={}", fetched.display())).current_dir(&place));
        fs::rename(fetched, &jars).unwrap();
    }
    for (name, bytes) in CLASSES {
        let file = hook.join(name);
        if fs::read(&file).ok().as_deref() != Some(*bytes) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
    format!("{}:{}/*", hook.display(), jars.display())
}

/// The benchmarks of `Planted.java`, compiled, before all else: a class path of its own, as a project's jar would be.
fn planted_class_path(dir: &Path) -> String {
    let samples = class_path();
    let (hook, jars) = samples.split_once(':').unwrap();
    let jars: Vec<String> = fs::read_dir(jars.trim_end_matches('*'))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter_map(|jar| (!jar.to_str()?.contains("jmh-samples")).then(|| jar.display().to_string()))
        .collect();
    let jars = jars.join(":");
    let source = hooks().join("java/test/Planted.java");
    run(Command::new("javac").args(["-cp", &jars, "-processorpath", &jars, "-d"]).arg(dir).arg(source));
    format!("{hook}:{}:{jars}", dir.display())
}

/// JMH as an adapter starts it: one fork, no warm-up of its own, short iterations.
fn jmh(benchmark: &str, mode: &str, more: &[&str]) -> Command {
    let benchmark = format!("^org.openjdk.jmh.samples.{}$", benchmark.replace('.', "\\."));
    jmh_of(&class_path(), &benchmark, &[&["-bm", mode], more].concat())
}

fn jmh_of(class_path: &str, benchmark: &str, more: &[&str]) -> Command {
    let mut java = Command::new("java");
    java.args(["-Djmh.ignoreLock=true", "-cp", class_path, "org.openjdk.jmh.Main", benchmark]);
    java.args(["-f", "1", "-wi", "0", "-r", "10ms", "-foe", "true", "-tu", "ns"]);
    java.args(["-jvmArgs", "-XX:+UseSerialGC"]).args(["-prof", "duetbench.hook.DuetProfiler"]).args(more);
    java
}

/// JMH's own score of every iteration: the first number after `Iteration   n:`; of one that is too small for its digits, `≈ 10⁻³`, it is not
/// known (NaN). Whoever counts them shows what was said in its place.
fn scores(said: &str) -> Vec<f64> {
    let lines = said.lines().filter_map(|l| l.strip_prefix("Iteration")?.split_once(": "));
    let score = |word: &str| if word == "≈" { Some(f64::NAN) } else { word.replace(',', "").parse().ok() };
    lines.filter_map(|(_, said)| score(said.split_whitespace().next()?)).collect()
}

/// Runs a benchmark alone; the records, and JMH's own scores beside them.
fn alone(benchmark: &str, mode: &str, more: &[&str]) -> (Vec<Record>, Vec<f64>) {
    let mut trial = Trial::new(PageMode::Solo, 2, 3);
    trial.spawn(0, jmh(benchmark, mode, &["-i", "5"]).args(more));
    let said = trial.end_well().remove(0);
    let (records, scores) = (trial.page.records(0), scores(&said));
    assert_eq!((records.len(), scores.len()), (5, 5), "{said}");
    assert_eq!(records.iter().map(|r| (r.slice, r.warm_up)).collect::<Vec<_>>(), [0, 1, 2, 3, 4].map(|n| (n, n < 2)));
    for r in &records {
        assert!(r.has_cpu && r.has_memory && r.block == r.slice + 1 && r.invocations > 0, "{r:?}");
    }
    (records, scores)
}

/// The record's time of an operation is what JMH's score says it is, as far as JMH prints it: three digits after the point.
#[track_caller]
fn check_score(mode: &str, record: &Record, score: f64) {
    const PRINTED: f64 = 0.0005;
    if score.is_nan() {
        return;
    }
    #[allow(clippy::cast_precision_loss, reason = "far less than what is printed of a score")]
    let nanos = record.wall_ns as f64 / record.invocations as f64;
    let want = if mode == "thrpt" { 1.0 / nanos } else { nanos };
    assert!((want - score).abs() < 0.02 * want + PRINTED, "{mode}: {nanos} ns for an operation, JMH says {score}");
}

#[test]
fn every_mode_has_the_time_that_its_score_says() {
    for mode in ["avgt", "sample", "ss"] {
        let (records, scores) = alone("JMHSample_21_ConsumeCPU.consume_0256", mode, &[]);
        records.iter().zip(&scores).for_each(|(record, score)| check_score(mode, record, *score));
    }
    let (records, scores) = alone("JMHSample_01_HelloWorld.wellHelloThere", "thrpt", &["-t", "1"]);
    records.iter().zip(&scores).for_each(|(record, score)| check_score("thrpt", record, *score));
}

#[test]
fn batches_threads_groups_and_operations_of_an_invocation_are_in_the_score() {
    for (benchmark, mode, more) in [
        ("JMHSample_26_BatchSize.measureRight", "ss", &["-bs", "5000"] as &[&str]),
        ("JMHSample_21_ConsumeCPU.consume_0256", "avgt", &["-t", "2"]),
        ("JMHSample_15_Asymmetric.g", "avgt", &[]),
        ("JMHSample_11_Loops.measureWrong_1000", "avgt", &[]),
    ] {
        let (records, scores) = alone(benchmark, mode, more);
        for (record, score) in records.iter().zip(&scores).filter(|(_, score)| **score > 1.0) {
            check_score(mode, record, *score);
        }
    }
}

#[test]
fn two_jvms_take_turns_and_meet() {
    for mode in [PageMode::Interleaved, PageMode::Duet] {
        let mut trial = Trial::new(mode, 2, 3);
        for side in 0..2 {
            trial.spawn(side, jmh("JMHSample_21_ConsumeCPU.consume_0256", "avgt", &["-i"]).arg((5 + side).to_string()));
        }
        trial.end_well();
        let mut slices: Vec<_> =
            (0..2).flat_map(|side| trial.page.records(side)).map(|r| (r.start_ns, r.start_ns + r.wall_ns)).collect();
        slices.sort_unstable();
        assert_eq!(slices.len(), 10);
        let overlap = slices.windows(2).any(|pair| pair[0].1 > pair[1].0);
        assert!(!overlap || mode == PageMode::Duet, "slices overlap: {slices:?}");
    }
}

#[test]
fn what_is_allocated_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(PageMode::Solo, 2, 3);
    trial.spawn(0, &mut jmh_of(&planted_class_path(dir.path()), "allocates", &["-i", "5", "-jvmArgsAppend", "-Xmn1m"]));
    trial.end_well();
    for r in trial.page.records(0).iter().filter(|r| !r.warm_up) {
        // An array has a head of 16 bytes, and JMH allocates a little itself.
        let beside = r.bytes.checked_sub(1016 * r.invocations);
        assert!(beside.is_some_and(|bytes| bytes < 128 * 1024), "{r:?}");
    }
    assert!(trial.page.records(0).iter().any(|r| r.gcs > 0), "a heap as small as this is full again and again");
}

#[test]
fn what_threads_allocate_while_they_wait_for_others_is_no_operation_s() {
    let dir = tempfile::tempdir().unwrap();
    let mut trial = Trial::new(PageMode::Solo, 2, 3);
    trial.spawn(0, &mut jmh_of(&planted_class_path(dir.path()), "allocates", &["-i", "5", "-t", "8"]));
    trial.end_well();
    for r in trial.page.records(0).iter().filter(|r| !r.warm_up) {
        assert!((900..1300).contains(&(r.bytes / r.invocations)), "{r:?}");
    }
}

#[test]
fn a_benchmark_that_throws_or_dies_fails_and_its_peer_is_released() {
    let dir = tempfile::tempdir().unwrap();
    let class_path = planted_class_path(dir.path());
    for mode in [PageMode::Interleaved, PageMode::Duet] {
        for broken in ["fails", "dies"] {
            let mut trial = Trial::new(mode, 2, 3);
            trial.spawn(0, &mut jmh_of(&class_path, "allocates", &["-i", "5"]));
            trial.spawn(1, &mut jmh_of(&class_path, broken, &["-i", "5"]));
            let codes = trial.wait();
            assert_eq!([0, 1].map(|side| trial.page.status(side).left_early), [true, false], "{broken}");
            assert_eq!((codes[&0], codes[&1] == 0), (0, false), "{broken}");
        }
    }
}

/// The lines of a list, by their first two fields.
fn listed(class_path: &str, variables: &[(&str, &str)]) -> List {
    let (list, succeeded) = listed_until_the_end(class_path, variables);
    assert!(succeeded && list.contains_key(&key("end", "")), "{:?}", list.keys());
    list
}

type List = BTreeMap<(String, String), Vec<String>>;

fn key(what: &str, index: &str) -> (String, String) {
    (what.to_owned(), index.to_owned())
}

fn listed_until_the_end(class_path: &str, variables: &[(&str, &str)]) -> (List, bool) {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("list");
    let mut java = Command::new("java");
    java.args(["-XX:+UseSerialGC", "-cp", class_path, "duetbench.hook.Lister"]).env("DUET_LIST", &list);
    let ended =
        java.env("DUET_PARENT", std::process::id().to_string()).envs(variables.iter().copied()).output().unwrap();
    let text = fs::read_to_string(list).unwrap();
    assert!(text.starts_with("jmh\t1.37\nentry\t0\t"), "{text}");
    let fields = text.lines().map(|l| l.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let list = fields.map(|mut f| ((f.remove(0), f.first().cloned().unwrap_or_default()), f)).collect();
    (list, ended.status.success())
}

/// Fields of all entries after their index.
fn entries(list: &List) -> Vec<String> {
    list.iter().filter(|(key, _)| key.0 == "entry").map(|(_, fields)| fields[1..].join("|")).collect()
}

#[test]
fn the_samples_are_listed_with_all_their_configuration() {
    let list = listed(&class_path(), &[("DUET_ONLY", "0")]);
    let entries = entries(&list);
    for want in [
        "JMHSample_01_HelloWorld.wellHelloThere|thrpt|1|0|1|1|1||0|0",
        "JMHSample_02_BenchmarkModes.measureAll|sample|1|0|1|1|1||0|0",
        "JMHSample_02_BenchmarkModes.measureAll|ss|1|1|1|1|1||0|0",
        "JMHSample_15_Asymmetric.g|avgt|4|0|1|1|1+3||0|0",
        "JMHSample_27_Params.bench|avgt|1|0|1|1|1||2|arg|31|certainty|8|0",
        "JMHSample_26_BatchSize.measureRight|ss|1|0|1|5000|1||0|0",
        "JMHSample_11_Loops.measureWrong_1000|avgt|1|0|1000|1|1||0|0",
    ] {
        assert!(entries.contains(&format!("org.openjdk.jmh.samples.{want}")), "no `{want}` in {entries:#?}");
    }
    assert!(!entries.iter().any(|e| e.contains("|all|")), "a benchmark of every mode has an entry for each of them");
    let done = &list[&key("done", "0")];
    assert!(done[1].parse::<u64>().unwrap() > 0, "{done:?}");
    assert!(!list.contains_key(&key("start", "1")), "only one was to be tried");
}

#[test]
fn every_planted_benchmark_is_listed_with_what_became_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let class_path = planted_class_path(dir.path());
    let threads = std::thread::available_parallelism().unwrap();
    let configured =
        format!("planted.Planted.configured|avgt|{threads}|0|1|1|1|java|0|4|-Xint|-Xmx100m|-Dplanted=a b|-ea");
    // In the order of their names: allocates, blank, configured, dies, fails, prepared.
    let (list, succeeded) = listed_until_the_end(&class_path, &[]);
    assert!(entries(&list).contains(&configured), "{:#?}", entries(&list));
    assert!(list.contains_key(&key("done", "0")) && list.contains_key(&key("done", "2")), "{list:#?}");
    assert!(list[&key("fail", "1")][1].contains("`word` has no value"), "{list:#?}");
    assert!(!succeeded && list.contains_key(&key("start", "3")) && !list.contains_key(&key("end", "")), "{list:#?}");
    // As the controller goes on after a benchmark that took its JVM with it.
    let list = listed(&class_path, &[("DUET_FROM", "4")]);
    let words = &list[&key("fail", "4")][1];
    assert!(
        words.starts_with("java.lang.IllegalStateException: planted\\tfailure\\n\\tat planted.Planted.fails"),
        "{words}"
    );
    assert_eq!((entries(&list).len(), list.keys().filter(|key| key.0 == "start").count()), (6, 2));
    // What it sleeps before an iteration and in its one invocation, though that is a thousand operations.
    let iteration_ns: u64 = list[&key("done", "5")][1].parse().unwrap();
    assert!(iteration_ns >= 60_000_000, "an iteration of {iteration_ns} ns");
    // Benchmarks that are not wanted are named and not tried: neither the one that dies nor the one that fails.
    let list = listed(&class_path, &[("DUET_SKIP", "1,3,4,5")]);
    let mut tried: Vec<&str> = list.keys().filter(|key| key.0 == "start").map(|key| key.1.as_str()).collect();
    tried.sort_unstable();
    assert_eq!((entries(&list).len(), tried), (6, vec!["0", "2"]));
}
