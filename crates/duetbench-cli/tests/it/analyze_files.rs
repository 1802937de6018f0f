//! `duet analyze BASE HEAD` by the real binary: what is judged, what is said first, and that values of one process never count as several.

use serde_json::json;

use crate::common::Place;
use crate::{golden_files, schema};

/// A file of Go benchmark text with ten lines of one process.
fn go(ns: f64, shift: u32) -> String {
    let line =
        |i: u32| format!("BenchmarkGet-8\t1000\t{} ns/op\n", ns * (1.0 + 0.001 * f64::from((i * 3 + shift * 7) % 5)));
    format!("goos: linux\npkg: example.com/shop\n{}", (0..10).map(line).collect::<String>())
}

/// A CSV of the µOpTime study with as many iterations of one process.
fn papers(ns: f64, iterations: u32) -> String {
    let row =
        |i: u32| format!("{i},1,{},{iterations},{i},p.C.m\n", ns * (1.0 + 0.001 * f64::from((i * 3 + iterations) % 5)));
    format!("m_id,n,ns_per_op,it_setup,it_pos,b_name\n{}", (1..=iterations).map(row).collect::<String>())
}

/// A file of hyperfine with as many runs.
fn hyperfine(seconds: f64, runs: u32) -> String {
    let times: Vec<f64> = (0..runs).map(|i| seconds * (1.0 + 0.001 * f64::from(i * 3 % 5))).collect();
    json!({"results": [{"command": "sort a", "times": times}]}).to_string()
}

fn place() -> Place {
    let place = Place::new();
    for i in 1..=4_u32 {
        place.write(&format!("base{i}.txt"), &go(100.0, i)).write(&format!("head{i}.txt"), &go(120.0, i + 1));
        place.write(&format!("base{i}.csv"), &papers(50.0, i + 4)).write(&format!("head{i}.csv"), &papers(60.0, i + 7));
        place.write(&format!("old/{i}.txt"), &go(100.0, i)).write(&format!("new/{i}.txt"), &go(100.0, i + 1));
    }
    place.write("base.json", &hyperfine(1.0, 6)).write("head.json", &hyperfine(1.2, 6));
    place.write("few.json", &hyperfine(1.2, 2));
    place
}

const BASE: &str = "base1.txt,base2.txt,base3.txt";
const HEAD: &str = "head1.txt,head2.txt,head3.txt";

#[test]
fn lines_of_one_process_give_no_verdict_however_many_they_are() {
    let place = place();
    let ran = place.duet(&["analyze", "base1.txt", "head1.txt", "--format", "json"]).expect(1);
    let house = &ran.benchmark("example.com/shop.BenchmarkGet")["duet"];
    assert_eq!((&house["verdict"], &house["base_units"]), (&json!("too_few_units"), &json!(1)));
    assert_eq!(ran.json()["unpaired"]["base"]["units_max"], 1);
    // Where ten lines are taken for independent, ten are enough.
    let pooled = place.duet(&["analyze", "base1.txt", "head1.txt", "--method", "both", "--format", "json"]).expect(3);
    assert_eq!(pooled.benchmark("example.com/shop.BenchmarkGet")["duet"]["base_units"], 10);
    // An impossible verdict outweighs an open one.
    place.duet(&["analyze", "base1.txt", "head1.txt", "--strict"]).expect(1);
}

#[test]
fn several_files_of_a_side_are_processes() {
    let place = place();
    let ran = place.duet(&["analyze", BASE, HEAD, "--format", "json"]).expect(3);
    let house = &ran.benchmark("example.com/shop.BenchmarkGet")["duet"];
    assert_eq!((&house["verdict"], &house["head_units"]), (&json!("regression"), &json!(3)));
    let sides = &ran.json()["unpaired"];
    assert_eq!(sides["base"]["files"], 3);
    assert_eq!(sides["base"]["repetitions"][0], json!({"level": "fork", "min": 3, "max": 3}));
    assert_eq!(sides["advice"], json!([]));
    let folders = place.duet(&["analyze", "old", "new", "--format", "json"]).expect(0);
    let house = &folders.benchmark("example.com/shop.BenchmarkGet")["duet"];
    assert_eq!((&house["verdict"], &house["head_units"]), (&json!("no_change"), &json!(4)));
}

#[test]
fn what_is_said_first_is_sealed() {
    let place = place();
    let check = |name: &str, args: &[&str], exit: i32| {
        let ran = place.duet(&[&["analyze", "--alpha", "1%"], args].concat()).expect(exit);
        golden_files::check(name, &ran.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    };
    check("analyze.txt", &["base1.csv,base2.csv,base3.csv", "head1.csv,head2.csv,head3.csv"], 3);
    check("analyze_few.txt", &["base1.csv", "head1.csv,head2.csv"], 1);
    check("analyze_few.md", &["base.json", "few.json", "--format", "markdown"], 1);
    check("analyze_few.json", &["base.json", "few.json", "--format", "json"], 1);
}

/// A file of JMH with a benchmark of throughput and one of time, in three forks.
fn jmh(speed: f64) -> String {
    let one = |name: &str, mode: &str, unit: &str, value: f64| {
        let fork = |i: u32| (0..3).map(|j| value * (1.0 + 0.001 * f64::from((i * 3 + j) % 5))).collect::<Vec<_>>();
        json!({
            "jmhVersion": "1.37", "benchmark": format!("org.example.text.Bench.{name}"), "mode": mode, "threads": 1, "forks": 3,
            "warmupIterations": 0, "warmupTime": "1 s", "warmupBatchSize": 1,
            "measurementIterations": 3, "measurementTime": "1 s", "measurementBatchSize": 1,
            "primaryMetric": {"score": value, "scoreError": 1.0, "scoreUnit": unit, "rawData": (0..3).map(fork).collect::<Vec<_>>()},
            "secondaryMetrics": {}
        })
    };
    json!([one("hash", "thrpt", "ops/s", 352_920.0 * speed), one("norm", "avgt", "us/op", 3.5 / speed)]).to_string()
}

#[test]
fn a_table_reads_as_that_of_a_comparison_whatever_the_unit() {
    let place = place();
    place.write("old.json", &jmh(1.0)).write("new.json", &jmh(0.8));
    let text = place.duet(&["analyze", "old.json", "new.json"]).expect(3).stdout;
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    let heading = row("org.example.text ");
    assert!(
        heading.contains(" before → after  change  ")
            && heading.contains(" sure within  ")
            && heading.contains("verdict"),
        "{text}"
    );
    // Slower both: fewer operations a second, and more time.
    assert!(row("Bench.hash ").contains("353.6k ops/s → 282.9k ops/s    -20%"), "{text}");
    assert!(row("Bench.norm ").contains("3.507µs → 4.384µs    +25%"), "{text}");
    assert!(text.ends_with("\n2 benchmarks: 2 regressions\n"), "{text}");
    let both = place.duet(&["analyze", "old.json", "new.json", "--method", "both"]).expect(3).stdout;
    assert!(
        both.contains("353.6k ops/s  282.9k ops/s") && both.contains("duet's rule: 2 benchmarks: 2 regressions"),
        "{both}"
    );
}

#[test]
fn columns_cannot_contradict_the_change_beside_them() {
    let place = place();
    let times = |times: &[f64]| json!({"results": [{"command": "sort a", "times": times}]}).to_string();
    place.write("wild.json", &times(&[0.091, 0.0912, 0.0931, 0.2, 0.0909, 0.0933]));
    place.write("calm.json", &times(&[0.0959, 0.0711, 0.0931, 0.0802, 0.0979, 0.0633]));
    let place = &place;
    let row = |files: [&str; 2]| {
        let text = place.duet(&[&["analyze"][..], &files].concat()).expect(0).stdout;
        text.lines().find(|line| line.starts_with("sort a ")).unwrap().to_owned()
    };
    let told = row(["wild.json", "calm.json"]);
    let ran = place.duet(&["analyze", "wild.json", "calm.json", "--format", "json"]).expect(0);
    let ratio = ran.benchmark("sort a")["duet"]["ratio"].as_f64().unwrap();
    let cells: Vec<f64> = told.split_whitespace().filter_map(|word| word.strip_suffix("ms")?.parse().ok()).collect();
    assert!((cells[1] / cells[0] - ratio).abs() < 0.001, "{told}: {ratio}");
    assert!(told.contains(" ?  [") && told.contains("inconclusive"), "{told}");
}

#[test]
fn forms_may_differ_and_runs_take_part() {
    let place = place();
    place.duet(&["analyze", "base.json", "head.json"]).expect(3);
    place.write("papers.csv", "m_id,n,ns_per_op,fork_setup,fork_pos,b_name\n1,1,1e9,3,1,sort a\n2,1,1.001e9,3,2,sort a\n3,1,1.002e9,3,3,sort a\n");
    place.duet(&["analyze", "papers.csv", "head.json"]).expect(3);
    for ns in ["100", "100.1"] {
        let script = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": NS, "spread": 0.002}}"#.replace("NS", ns);
        place.scripted(&script, &["--forks", "6", "--fixed"]).expect(0);
    }
    place.duet(&["analyze", "r1", "latest"]).expect(0);
    place.duet(&["analyze", "r2", "latest"]).expect(1).says(&["`latest` holds what `r2` does"]);
    place.duet(&["analyze", "r1"]).expect(0);
    let json = place.duet(&["analyze", "r1", "latest", "--format", "json"]).expect(0).json();
    assert_eq!(schema::departures_from(schema::DETECTION, &json), Vec::<String>::new());
}

/// A file of hyperfine whose runs all ended with this code.
fn ended(name: &str, seconds: f64, code: i32) -> String {
    let times: Vec<f64> = (0..6).map(|i| seconds * (1.0 + 0.001 * f64::from(i * 3 % 5))).collect();
    json!({"results": [{"command": name, "times": times, "exit_codes": vec![code; 6]}]}).to_string()
}

#[test]
fn a_program_that_always_fails_is_no_faster_one() {
    let place = place();
    place.write("ok.json", &ended("g", 1.0, 0)).write("bad.json", &ended("g", 0.002, 127));
    place.write("worse.json", &ended("g", 0.003, 127));
    let check = |base: &str, head: &str, exit: i32, words: &[&str]| {
        let ran = place.duet(&["analyze", base, head]).expect(exit);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        words.iter().for_each(|words| assert!(said.contains(words), "{words} not in {said}"));
    };
    let why = "nothing could be compared: `g` was not compared: its exit code is 0 in base `ok` and 127 in head `bad`";
    check("ok.json", "bad.json", 1, &[why, "hint: measure both in the same way"]);
    // A program may always mean its code, and where both do there is something to compare.
    let same = "warning: every run ended with the same exit code other than 0: `g` (127)";
    check("bad.json", "worse.json", 3, &[same]);
    place.write("again.json", &ended("g", 0.002_001, 127));
    check("bad.json", "again.json", 0, &[same]);
    place.write("none.json", &ended("g", 0.002_001, 127).replace("exit_codes", "codes"));
    let one = "warning: base `bad`: every run ended with the same exit code other than 0: `g` (127)";
    check("bad.json", "none.json", 0, &[one]);
}

#[test]
fn jmh_s_modes_and_threads_are_compared_with_themselves_alone() {
    let place = place();
    let file = |name: &str, from: &str, to: &str| place.write(name, &jmh(1.0).replace(from, to));
    file("old.json", "", "");
    file("shots.json", "avgt", "ss");
    file("threads.json", "\"threads\":1", "\"threads\":4");
    let check = |head: &str, exit: i32, words: &str| {
        let ran = place.duet(&["analyze", "old.json", head]).expect(exit);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(words), "{words} not in {said}");
    };
    check("shots.json", 0, "Bench.norm` was not compared: its mode is avgt in base `old` and ss in head `shots`");
    check(
        "threads.json",
        1,
        "Bench.hash` was not compared: its number of threads is 1 in base `old` and 4 in head `threads`",
    );
    place.duet(&["analyze", "old.json", "shots.json", "--strict"]).expect(4);
    let several = place.duet(&["analyze", "old.json,threads.json", "old.json"]).expect(2);
    several.says(&["is not of one kind: the number of threads of `org.example.text.Bench.hash` is 1 and 4"]);
    // A second mode of a benchmark changes its name, and not what it is.
    let mut both: Vec<serde_json::Value> = serde_json::from_str(&jmh(1.0)).unwrap();
    both.push(both[1].clone());
    both[2]["mode"] = "ss".into();
    place.write("both.json", &json!(both).to_string());
    check("both.json", 0, "2 benchmarks: 2 no change");
    check("both.json", 0, "only in head: 1 (Bench.norm (ss))");
}

#[test]
fn the_same_file_is_no_second_process() {
    let place = place();
    place.write("copy.txt", &go(100.0, 1));
    let check = |base: &str, words: &str| {
        place.duet(&["analyze", base, HEAD]).expect(1).says(&[words, "hint: give each process once"]);
    };
    check("base1.txt,base2.txt,base1.txt", "`base1.txt` holds what `base1.txt` does");
    check("base1.txt,base2.txt,copy.txt", "`copy.txt` holds what `base1.txt` does, and is no other process");
}

#[test]
fn medians_of_benchstat_give_no_verdict() {
    let place = place();
    for i in 0..6 {
        place.write(&format!("{i}.csv"), &format!(",sec/op,CI\nGet-8,{}e-07,1%\n", 1.0 + f64::from(i)));
    }
    let one = place.duet(&["analyze", "0.csv", "3.csv"]).expect(1).stdout;
    assert!(one.contains("\n  for i in 1 2 3; do go test ") && !one.contains(".csv,"), "{one}");
    let several = place.duet(&["analyze", "0.csv,1.csv,2.csv", "3.csv,4.csv,5.csv"]).expect(1);
    several.says(&["holds medians of benchstat", "hint: give the files that benchstat was given"]);
}

#[test]
fn files_of_other_numbers_of_processors_meet_with_a_warning() {
    let place = place();
    place.write("16.txt", &go(100.0, 4).replace("Get-8", "Get-16"));
    let files = format!("{BASE},16.txt");
    let warning = "GOMAXPROCS is 8 in base and 16, 8 in head";
    let ran = place.duet(&["analyze", BASE, &files]).expect(0).stdout;
    assert!(ran.contains(warning), "{ran}");
    let alike = place.duet(&["analyze", BASE, HEAD]).expect(3).stdout;
    assert!(!alike.contains("GOMAXPROCS"), "{alike}");
}

#[test]
fn one_processor_is_another_number_of_processors() {
    let place = place();
    place.write("1.txt", &go(120.0, 2).replace("Get-8", "Get")).write("2.txt", &go(120.0, 3).replace("Get-8", "Get"));
    place.write("3.txt", &go(120.0, 4).replace("Get-8", "Get"));
    let ran = place.duet(&["analyze", BASE, "1.txt,2.txt,3.txt"]).expect(3).stdout;
    assert!(ran.contains("GOMAXPROCS is 8 in base and 1 in head"), "{ran}");
    // By `-cpu 1,8` there are two, and neither is the benchmark of a file with one number, whose names lost it.
    let both = |i: u32| go(400.0, i).replace("Get-8", "Get") + &go(100.0, i).replace("pkg", "cpu");
    for i in 1..=3 {
        place.write(&format!("both{i}.txt"), &both(i));
    }
    let ran = place.duet(&["analyze", BASE, "both1.txt,both2.txt,both3.txt"]).expect(1);
    ran.says(&["no benchmark in common", "BenchmarkGet-1"]);
}

#[test]
fn what_holds_the_same_values_was_not_measured_again() {
    let place = place();
    place.write("copy.txt", &go(100.0, 1).replace("goos: linux\n", ""));
    let twice = "`copy.txt` holds what `base1.txt` does, and is no other process";
    place.duet(&["analyze", &format!("{BASE},copy.txt"), HEAD]).expect(1).says(&[twice]);
    let itself = "`base1.txt,base2.txt,base3.txt` does: nothing was measured anew";
    place.duet(&["analyze", BASE, BASE]).expect(1).says(&[itself]);
}

#[test]
fn other_parameters_and_what_is_gone_are_no_answers() {
    let place = place();
    let with = |n: &str, seconds: f64| {
        hyperfine(seconds, 6).replace("\"times\"", &format!("\"parameters\":{{\"n\":\"{n}\"}},\"times\""))
    };
    place.write("one.json", &with("1", 1.0)).write("two.json", &with("2", 2.0));
    place.duet(&["analyze", "one.json", "two.json"]).expect(1).says(&["its list of parameters is n=1 in base"]);
    let more = go(50.0, 3).replace("Get", "Put").replace("goos: linux\npkg: example.com/shop\n", "");
    for i in 1..=3 {
        place.write(&format!("more{i}.txt"), &(go(100.0, i) + &more.replace("50", &format!("5{i}"))));
    }
    let more = "more1.txt,more2.txt,more3.txt";
    place.duet(&["analyze", more, "old"]).expect(0);
    place.duet(&["analyze", more, "old", "--strict"]).expect(4);
}

#[test]
fn what_cannot_be_judged_says_what_to_give() {
    let place = place();
    place.duet(&["analyze", "base1.txt"]).expect(2).says(&["nothing to compare it with", "`duet analyze BASE HEAD`"]);
    place.duet(&["analyze", "base1.txt", "head.json"]).expect(1).says(&[
        "no benchmark in common: base has `example.com/shop.BenchmarkGet`, head has `sort a`",
        "both must be recordings of the same suite",
    ]);
    place.write("other.json", &ended("sort b", 1.0, 0));
    place.duet(&["analyze", "base.json", "other.json"]).expect(1).says(&["base has `sort a`", "the same `-n`"]);
    place
        .duet(&["analyze", "base1.txt,base.json", "head1.txt"])
        .expect(2)
        .says(&["`base1.txt,base.json` is not of one kind"]);
    place.duet(&["analyze", "base1.txt,nowhere.txt", "head1.txt"]).expect(1).says(&["nowhere.txt"]);
    place.duet(&["analyze", BASE, HEAD, "--alpha", "60%"]).expect(2);
    place.write("a,b.txt", &go(100.0, 1));
    place.duet(&["analyze", "a,b.txt", "head1.txt"]).expect(1);
}

#[test]
fn files_without_end_are_refused_and_pipes_are_read() {
    let place = place();
    std::fs::File::create(place.path().join("sparse.json")).unwrap().set_len(5 << 30).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path().join("zero.json")).unwrap();
    for (file, words) in
        [("sparse.json", "`sparse.json`: it is larger than 1 GiB"), ("zero.json", "`zero.json`: it is a device")]
    {
        place.duet(&["analyze", file, "head.json"]).expect(1).says(&[words]);
        place.duet(&["tune", file]).expect(1).says(&[words]);
        place.duet(&["export", file, "--as", "go"]).expect(1).says(&[words]);
    }
    let path = place.path().join("pipe.json");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let base = std::fs::read(place.path().join("base.json")).unwrap();
    let writer = std::thread::spawn(move || std::fs::write(path, base).unwrap());
    let read = place.duet(&["analyze", "pipe.json", "head.json", "--format", "csv"]).expect(3);
    writer.join().unwrap();
    assert_eq!(read.stdout, place.duet(&["analyze", "base.json", "head.json", "--format", "csv"]).expect(3).stdout);
    // A file of the repository, which whoever only looks reads as well.
    std::os::unix::fs::symlink("/dev/zero", place.path().join("duet-waivers.toml")).unwrap();
    place.duet(&["config", "check"]).expect(2).says(&["duet-waivers.toml", "it is a device"]);
}
