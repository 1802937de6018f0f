//! Result files of other tools: what is read from each form, and what is said about those that cannot be.

use duetbench_core::Recording;
use duetbench_core::recording::{Better, Level, Recorded};
use duetbench_formats::Wrong;

use crate::mutation::Draw;

/// The recording in a file.
fn parse(bytes: &[u8]) -> Result<Recording, Wrong> {
    duetbench_formats::parse(bytes).map(|imported| imported.recording)
}

/// Two suite runs of two iterations of two seconds on two instances.
const STUDY_1: &str = "\
m_id,n,ns_per_op,bed_setup,it_setup,sr_setup,ir_setup,bed_pos,it_pos,sr_pos,ir_pos,b_name
1,10,1111.0,2,2,2,2,1,1,1,1,BenchmarkParse
2,10,1112.0,2,2,2,2,2,1,1,1,BenchmarkParse
3,10,2221.5,2,2,2,2,1,2,2,2,BenchmarkParse
4,10,7.0,1,3,1,1,1,1,1,1,\"BenchmarkSum/[1,2]\"
5,10,8.0,1,3,1,1,1,2,1,1,\"BenchmarkSum/[1,2]\"
6,10,9.0,1,3,1,1,1,3,1,1,\"BenchmarkSum/[1,2]\"
";

/// Two forks of two iterations.
const STUDY_3: &str = "\
m_id,n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name
0,377.0,11.0,2,2,1,1,p.C.m
1,377.0,12.0,2,2,2,1,p.C.m
2,377.0,21.0,2,2,1,2,p.C.m
3,377.0,22.0,2,2,2,2,p.C.m
";

const PA: &str = "\
project;commit;benchmark;params;instance;trial;fork;iteration;mode;unit;value_count;value
shop;abc;p.C.m;n=1,k=2;vm-b;7;0;3;sample;us/op;3;1.0
shop;abc;p.C.m;n=1,k=2;vm-b;7;0;3;sample;us/op;1;5.0
shop;abc;p.C.m;n=1,k=2;vm-b;7;0;9;sample;us/op;2;4.0
shop;abc;p.C.m;n=1,k=2;vm-a;7;0;3;sample;us/op;1;8.0
shop;abc;p.C.m;n=1,k=2;vm-a;7;0;9;sample;us/op;1;9.0
shop;abc;p.C.t;;vm-b;7;0;3;thrpt;ops/ms;1;2.5
";

const JMH: &str = r#"[
  {"jmhVersion": "1.37", "benchmark": "p.C.m", "mode": "avgt", "threads": 1, "forks": 2,
   "warmupIterations": 5, "warmupTime": "2 s", "measurementIterations": 3, "measurementTime": "500 ms",
   "params": {"size": "10", "kind": "a"},
   "primaryMetric": {"score": 1.5, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[1.0, 2, 3.0], [4.0, "NaN", 6.0]]},
   "secondaryMetrics": {"gc.count": {"score": 1, "rawData": [[1]]}}},
  {"benchmark": "p.C.t", "mode": "thrpt", "forks": 1, "warmupIterations": 0, "warmupTime": "1 s", "measurementTime": "1 s",
   "primaryMetric": {"scoreUnit": "ops/ms", "rawData": [[2.0, 4.0]]}},
  {"benchmark": "p.C.s", "mode": "sample", "forks": 1, "measurementTime": "1 s",
   "primaryMetric": {"scoreUnit": "ns/op", "rawDataHistogram": [[[[10.0, 3], [50.0, 1]], [[7.0, 2]]]]},
   "secondaryMetrics": {}},
  {"benchmark": "p.C.s", "mode": "ss", "forks": 1, "warmupIterations": 2, "warmupTime": "single-shot",
   "measurementTime": "single-shot", "measurementBatchSize": 4,
   "primaryMetric": {"scoreUnit": "s/op", "rawData": [[2.0, 4.0]]}}
]"#;

const HYPERFINE: &str = r#"{
  "results": [
    {"command": "sleep 0.1", "mean": 0.2, "stddev": null, "user": 0.001, "times": [0.1, 0.3, 0.2],
     "memory_usage_byte": [1, 2, 3], "exit_codes": [0, 0, 0]},
    {"command": "sort", "times": [1.0, 2.0, 4.0], "exit_codes": [0, 1, null], "parameters": {"n": "10", "mode": "a"}},
    {"command": "sort", "times": [3.0, null], "parameters": {"n": "20", "mode": "a"}},
    {"command": "grep x", "times": [0.5, 0.7], "exit_codes": [1, 1]}
  ]
}"#;

const GO: &str = "\
goos: linux
pkg: example.com/shop
cpu: AMD EPYC
BenchmarkGet-8   \t 1000000\t      1000 ns/op\t  16 B/op\t 1 allocs/op
BenchmarkPut-8   \t 500\t      2000 ns/op
BenchmarkPut-8 said something
BenchmarkGet-8   \t 2000000\t      1500.5 ns/op\t  16 B/op\t 1 allocs/op
PASS
ok  \texample.com/shop\t3.2s
pkg: example.com/shop/store
BenchmarkGet-8   \t 100\t 5 ns/op
BenchmarkRate-8  \t 100\t 12.5 hits/op
Benchmarking is fun 1 2
";

#[track_caller]
fn read(text: &str) -> Recording {
    parse(text.as_bytes()).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

#[track_caller]
fn named<'a>(recording: &'a Recording, name: &str) -> &'a Recorded {
    let found = recording.benchmarks.iter().find(|recorded| recorded.benchmark == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {:?}", recording.benchmarks))
}

#[test]
fn first_data_set_of_the_study() {
    let recording = read(STUDY_1);
    assert_eq!(recording.levels, [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second]);
    let parse = named(&recording, "BenchmarkParse");
    assert_eq!(parse.grid.shape(), [2, 2, 2, 2]);
    assert_eq!(parse.grid.prefix(&[1, 1, 1, 2]), [1111.0, 1112.0]);
    assert_eq!(parse.grid.cells()[0b1110], 2221.5);
    assert_eq!((parse.unit.as_str(), parse.better, parse.cost.innermost_s), ("ns/op", Better::Lower, 1.0));
    let sum = named(&recording, "BenchmarkSum/[1,2]");
    assert_eq!((sum.grid.shape(), sum.grid.cells()), (&[1, 1, 3, 1][..], &[7.0, 8.0, 9.0][..]));
    assert_eq!(recording.warnings, ["not complete: `BenchmarkParse` (3 of 16 values)"]);
}

#[test]
fn third_data_set_of_the_study() {
    let recording = read(STUDY_3);
    assert_eq!(recording.levels, [Level::Fork, Level::Iteration]);
    assert_eq!(named(&recording, "p.C.m").grid.cells(), [11.0, 12.0, 21.0, 22.0]);
    assert_eq!(recording.warnings, Vec::<String>::new());
}

#[test]
fn pa_takes_the_mean_of_a_histogram() {
    let recording = read(PA);
    assert_eq!(recording.levels, [Level::Instance, Level::SuiteRun, Level::Fork, Level::Iteration]);
    let sampled = named(&recording, "p.C.m:n=1,k=2");
    assert_eq!(
        (sampled.grid.shape(), sampled.grid.cells()),
        (&[2, 1, 1, 2][..], &[2000.0, 4000.0, 8000.0, 9000.0][..])
    );
    let throughput = named(&recording, "p.C.t");
    assert_eq!((throughput.unit.as_str(), throughput.better), ("ops/s", Better::Higher));
    assert_eq!(throughput.grid.cells(), [2500.0]);
}

#[test]
fn hyperfine_times_are_processes() {
    let recording = read(HYPERFINE);
    assert_eq!(recording.levels, [Level::Fork]);
    let sleep = named(&recording, "sleep 0.1");
    let rounded: Vec<f64> = sleep.grid.cells().iter().map(|ns| ns.round()).collect();
    assert_eq!(rounded, [100e6, 300e6, 200e6]);
    assert_eq!((sleep.unit.as_str(), sleep.better), ("ns/op", Better::Lower));
    assert!((sleep.cost.innermost_s - 0.2).abs() < 1e-9);
    assert_eq!(named(&recording, "sort:mode=a,n=10").grid.values(), [1e9]);
    assert_eq!(named(&recording, "sort:mode=a,n=20").grid.values(), [3e9]);
    assert_eq!(named(&recording, "grep x").grid.values(), [5e8, 7e8]);
    let said = [
        "not complete: `sort:mode=a,n=10` (1 of 3 values), `sort:mode=a,n=20` (1 of 2 values)",
        "runs that failed were left out: `sort:mode=a,n=10` (2 of 3)",
        "every run ended with the same exit code other than 0: `grep x` (1)",
        "1 value that is no measurement was left out: `NaN`",
    ];
    assert_eq!(recording.warnings, said);
}

#[test]
fn jmh_in_all_its_modes() {
    let recording = read(JMH);
    assert_eq!(recording.levels, [Level::Fork, Level::Iteration]);
    let average = named(&recording, "p.C.m:kind=a,size=10");
    assert_eq!(average.grid.shape(), [2, 3]);
    assert_eq!(average.grid.values(), [1000.0, 2000.0, 3000.0, 4000.0, 6000.0]);
    assert_eq!((average.cost.innermost_s, average.cost.overhead_s.as_slice()), (0.5, &[10.0, 0.0][..]));
    let warm_up = average.harness_warm_up.expect("JMH warms up");
    assert_eq!((warm_up.iterations, warm_up.iteration_s, warm_up.ran), (5, 2.0, true));
    let throughput = named(&recording, "p.C.t");
    assert_eq!((throughput.better, throughput.grid.cells()), (Better::Higher, &[2000.0, 4000.0][..]));
    // The same method in two modes is two benchmarks.
    let sampled = named(&recording, "p.C.s (sample)");
    assert_eq!(sampled.grid.cells(), [20.0, 7.0]);
    // A single shot is a batch of four, which took 3 s; two shots of one warm up.
    let single = named(&recording, "p.C.s (ss)");
    assert_eq!((single.cost.innermost_s, single.cost.overhead_s[0]), (3.0, 1.5));
    assert_eq!(single.harness_warm_up.map(|warm_up| (warm_up.iterations, warm_up.iteration_s)), Some((2, 0.75)));
    let warnings =
        ["not complete: `p.C.m:kind=a,size=10` (5 of 6 values)", "1 value that is no measurement was left out: `NaN`"];
    assert_eq!(recording.warnings, warnings);
}

#[test]
fn go_benchmark_text() {
    let recording = read(GO);
    assert_eq!(recording.levels, [Level::Iteration]);
    let names: Vec<&str> = recording.benchmarks.iter().map(|recorded| recorded.benchmark.as_str()).collect();
    let get = "example.com/shop.BenchmarkGet";
    assert_eq!(names, [get, "example.com/shop.BenchmarkPut", "example.com/shop/store.BenchmarkGet"]);
    assert_eq!(named(&recording, get).grid.cells(), [1000.0, 1500.5]);
    // A million times 1 µs, then two million times 1.5005 µs.
    assert!((named(&recording, get).cost.innermost_s - (1.0 + 3.001) / 2.0).abs() < 1e-9);
    assert!(recording.warnings[0].contains("`example.com/shop/store.BenchmarkRate-8`"), "{:?}", recording.warnings);
    assert!(recording.warnings[1].contains("is of one process"), "{:?}", recording.warnings);
}

#[test]
fn a_file_is_named_for_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("zap-v1.23.0.csv");
    std::fs::write(&path, format!("\u{feff}{STUDY_3}")).unwrap();
    assert_eq!(duetbench_formats::read(&path).unwrap().recording.name, "zap-v1.23.0");
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let check = |text: &str, want: &str| {
        let wrong = parse(text.as_bytes()).expect_err(text);
        assert_eq!(wrong.to_string(), want, "{text}");
    };
    let row =
        |cells: &str| format!("n,ns_per_op,it_setup,fork_setup,it_pos,fork_pos,b_name\n1,5.0,2,2,1,1,A\n{cells}\n");
    check("", " is empty");
    check(" \n\n", " is empty");
    check("name,value\na,1\n", " is of no known form");
    const OURS: &str =
        " is a report of duet, which holds no samples: `duet analyze RUN --db FILE` judges those of its store";
    check("{\"schema_version\": 1, \"duet_version\": \"0.1.0\"}", OURS);
    check("n,ns_per_op,b_name\n1,2,A\n", ", line 1: the column `it_pos` is missing");
    check("ns_per_op,b_name,it_pos\n1,A,1\n", ", line 1: the column `it_setup` is missing");
    check(&row("1,5.0,2,2,0,1,A"), ", line 3, column `it_pos`: expected a position from 1 to 2, found `0`");
    check(&row("1,5.0,2,2,1,3,A"), ", line 3, column `fork_pos`: expected a position from 1 to 2, found `3`");
    check(&row("1,5.0,2,2,1,,A"), ", line 3, column `fork_pos`: expected a whole number, found nothing");
    check(&row("1,fast,2,2,1,2,A"), ", line 3, column `ns_per_op`: expected a number, found `fast`");
    check(&row("1,5.0,2,2,2,A"), ", line 3: has 6 columns, expected 7");
    check(
        &row("1,5.0,3,2,2,1,A"),
        ", line 3, column `it_setup`: expected 2 as in the benchmark's first row, found `3`",
    );
    check(&row("1,5.0,0,2,1,1,B"), ", line 3, column `it_setup`: expected a number of repetitions, found `0`");
    check(
        &row("1,5.0,1000000000,1000000000,1,1,B"),
        ", line 3, column `it_setup`: expected a number of repetitions, found `1000000000`",
    );
    check(&row("1,5.0,10000,10000,1,1,B"), " holds 2 values, which is too few for 10000 × 10000 repetitions of `B`");
    check("n,ns_per_op,it_setup,it_pos,b_name\n1,NaN,1,1,A\n", " holds no value");
    check("{\"results\": []}", " holds no value");
    check("{\"results\": [{}]}", ", line 1: missing field `command` (character 15)");
    check(&HYPERFINE.replace("\"times\": [0.5, 0.7]", "\"none\": 1"), " has no `times` for `grep x`");
    check(&HYPERFINE.replace("\"20\"", "\"10\""), " holds `sort` more than once");
    check("[]", " holds no value");
    check("[{}]", " is of no known form");
    check("[{\"jmhVersion\": \"1.37\"}]", ", line 1: missing field `benchmark` (character 23)");
    check("[{\"benchmark\": \"a\"", ", line 1: EOF while parsing an object (character 18)");
    check(&JMH.replace("\"rawData\": [[2.0, 4.0]]", "\"none\": 1"), " has no `rawData` for `p.C.t`");
    check(&JMH.replace("\"ss\"", "\"sample\""), " holds `p.C.s` more than once");
    check(
        &PA.replace("abc;p.C.t", "def;p.C.t"),
        ", line 7, column `commit`: expected one version in the file, `abc`, found `def`",
    );
    check(
        &PA.replace("vm-a;7;0;9;sample;us/op", "vm-a;7;0;9;sample;ms/op"),
        ", line 6, column `unit`: expected `us/op` as in the benchmark's first row, found `ms/op`",
    );
    check(
        &PA.replace("vm-a;7;0;9;sample;", "vm-a;7;0;9;ss;"),
        ", line 6, column `mode`: expected `sample` as in the benchmark's first row, found `ss`",
    );
    check(
        "version: a\nBenchmarkA 1 5 ns/op\nversion: b\nBenchmarkA 1 6 ns/op\n",
        ", line 3: a second version begins: give each version a file of its own",
    );
    check(
        "toolchain: a\nBenchmarkA 1 5 ns/op\ntoolchain: a\nBenchmarkA 1 5 ns/op\ntoolchain: b\nBenchmarkA 1 6 ns/op\n",
        ", line 5: a second toolchain begins: give each toolchain a file of its own",
    );
}

#[test]
fn a_broken_line_of_go_s_text_is_named() {
    let text = "pkg: p\nBenchmarkA-2 100 5 ns/op\nBenchmarkA-2 100 five ns/op\nBenchmarkA-2 100 rows were read\n";
    let recording = read(text);
    assert_eq!(recording.benchmarks[0].grid.cells(), [5.0]);
    let said = "left out, since other output cuts it, or not every unit has a number before it";
    assert_eq!(recording.warnings[0], format!("{said}: `line 3`"));
    assert_eq!(recording.warnings.len(), 2, "{:?}", recording.warnings);
    // A benchmark that prints does so between its name and its time.
    let printed = "[GIN-debug] started\npkg: p\nBenchmarkA-2 100 5 ns/op\nBenchmarkB-2 \tx\n  500\t 20 ns/op\nBenchmarkC-2 \tx 500\t 20 ns/op\n";
    let recording = read(printed);
    assert_eq!(recording.warnings[0], format!("{said}: `line 5`, `line 6`"));
}

#[test]
fn a_log_before_go_s_text_may_begin_like_json() {
    for log in ["[GIN-debug] started", r#"{"level":"info","msg":"started"}"#] {
        let recording = read(&format!("{log}\npkg: p\nBenchmarkA-2 100 5 ns/op\n"));
        assert_eq!(recording.benchmarks[0].grid.cells(), [5.0], "{log}");
    }
}

#[test]
fn values_that_are_no_measurements_are_left_out_and_counted() {
    let text = STUDY_3.replace(",12.0,", ",NaN,").replace(",21.0,", ",-3,");
    let recording = read(&text);
    assert_eq!(named(&recording, "p.C.m").grid.values(), [11.0, 22.0]);
    let said = "2 values that are no measurements were left out, the first is `NaN` in line 3";
    assert_eq!(recording.warnings, ["not complete: `p.C.m` (2 of 4 values)", said]);
}

#[test]
fn of_two_values_for_one_place_the_first_is_kept() {
    let text = format!("{STUDY_3}9,377.0,99.0,2,2,1,1,p.C.m\n");
    let recording = read(&text);
    assert_eq!(named(&recording, "p.C.m").grid.cells(), [11.0, 12.0, 21.0, 22.0]);
    assert_eq!(recording.warnings, ["a second value for the same place was left out: `p.C.m` (1 value)"]);
}

#[test]
fn jmh_words_for_numbers_threads_and_groups() {
    let entry = |threads: u32, metric: &str| {
        format!(
            r#"{{"benchmark": "p.G.g", "mode": "thrpt", "threads": {threads}, "forks": 1,
                "primaryMetric": {{"scoreUnit": "ops/s", {metric}}},
                "secondaryMetrics": {{"put": {{"rawData": [[1.0]]}}, "·gc": {{"scoreConfidence": ["NaN", "NaN"]}}}}}}"#
        )
    };
    let words = r#""rawData": [[1, "+INF", "-INF", "NaN", "Infinity", 2.5]]"#;
    let empty_histogram = r#""rawDataHistogram": [[[], [[4.0, 2], [7.0, 1]]]]"#;
    let recording = read(&format!("[{}, {}]", entry(1, words), entry(8, empty_histogram)));
    // A run with another number of threads is another benchmark.
    assert_eq!(named(&recording, "p.G.g (thrpt, 1 threads)").grid.values(), [1.0, 2.5]);
    assert_eq!(named(&recording, "p.G.g (thrpt, 8 threads)").grid.values(), [5.0]);
    for words in
        ["secondary metrics without `rawData` were left out: `·gc`", "5 values that are no measurements were left out"]
    {
        assert!(recording.warnings.iter().any(|w| w.starts_with(words)), "{words} not in {:?}", recording.warnings);
    }
    let wrong = entry(1, r#""rawData": [["fast"]]"#);
    assert!(parse(format!("[{wrong}]").as_bytes()).unwrap_err().what.starts_with("`fast` is no number"));
}

#[test]
fn no_mutation_of_a_good_file_makes_reading_panic_or_take_more_room_than_it_may() {
    for text in [STUDY_1, STUDY_3, PA, JMH, HYPERFINE, GO] {
        let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
        let mut refused = 0;
        for _ in 0..4000 {
            let bytes = draw.spoilt(text.as_bytes());
            match parse(&bytes) {
                Ok(recording) => {
                    let cells: usize = recording.benchmarks.iter().map(|r| r.grid.cells().len()).sum();
                    assert!(cells <= 1_000_000 + 16 * bytes.len(), "{cells} cells");
                    let good = |r: &Recorded| r.grid.values().iter().all(|v| v.is_finite() && *v >= 0.0);
                    assert!(!recording.benchmarks.is_empty() && recording.benchmarks.iter().all(good));
                }
                Err(wrong) => refused += usize::from(!wrong.what.is_empty()),
            }
        }
        assert!(refused > 100, "mutations hardly ever break {text}: {refused}");
    }
}
