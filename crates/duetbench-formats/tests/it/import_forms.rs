//! Files that the tools themselves wrote (`tests/data/import`), and such files broken: what is read, what stands beside it, what is said.

use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::recording::{Better, Level, Recorded};
use duetbench_formats::{About, Content, Imported, parse};

use crate::mutation::Draw;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import").join(name)
}

#[track_caller]
fn read(name: &str) -> Imported {
    duetbench_formats::read(&data(name)).unwrap_or_else(|wrong| panic!("{wrong}"))
}

#[track_caller]
fn parsed(text: &str) -> Imported {
    parse(text.as_bytes()).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

#[track_caller]
fn refused(text: &str, want: &str) {
    let wrong = parse(text.as_bytes()).expect_err(text);
    assert_eq!(wrong.to_string(), want, "{text}");
}

#[track_caller]
fn judged<'a>(imported: &'a Imported, name: &str) -> &'a Recorded {
    let found = imported.recording.benchmarks.iter().find(|recorded| recorded.benchmark == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {:?}", names(imported)))
}

#[track_caller]
fn beside<'a>(imported: &'a Imported, benchmark: &str, metric: &str) -> &'a Recorded {
    let mut all = imported.beside.iter();
    let found = all.find(|m| m.name == metric && m.recorded.benchmark == benchmark);
    found.map(|metric| &metric.recorded).unwrap_or_else(|| panic!("no `{metric}` in {:?}", imported.beside))
}

fn names(imported: &Imported) -> Vec<&str> {
    imported.recording.benchmarks.iter().map(|recorded| recorded.benchmark.as_str()).collect()
}

fn rounded(recorded: &Recorded) -> Vec<f64> {
    recorded.grid.cells().iter().map(|value| (value * 1000.0).round() / 1000.0).collect()
}

#[track_caller]
fn says(imported: &Imported, words: &str) {
    let warnings = &imported.recording.warnings;
    assert!(warnings.iter().any(|warning| warning.contains(words)), "{words} not in {warnings:?}");
}

#[track_caller]
fn context<'a>(imported: &'a Imported, key: &str) -> Option<&'a str> {
    imported.context.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

#[test]
fn repetitions_of_google_benchmark_are_iterations_of_one_fork() {
    let imported = read("google.json");
    assert_eq!(imported.recording.levels, [Level::Iteration]);
    assert_eq!(names(&imported), ["sums/8", "sums/64", "sorts/real_time"]);
    let sums = judged(&imported, "sums/8");
    assert_eq!((sums.unit.as_str(), sums.better, sums.grid.shape()), ("ns/op", Better::Lower, &[3][..]));
    assert_eq!(rounded(sums), [229.382, 230.335, 226.599]);
    // 6253 iterations in each.
    assert!((sums.cost.innermost_s - 6253.0 * 228.772e-9).abs() < 1e-7, "{}", sums.cost.innermost_s);
    let cpu = beside(&imported, "sums/8", "cpu_time");
    assert_eq!((cpu.unit.as_str(), rounded(cpu)), ("cpu-ns/op", vec![229.422, 230.242, 226.593]));
    let items = beside(&imported, "sums/8", "items_per_second");
    assert_eq!((items.unit.as_str(), items.better, items.grid.cells().len()), ("items/s", Better::Higher, 3));
    assert_eq!(beside(&imported, "sums/8", "nodes").grid.cells(), [17.0; 3]);
    says(&imported, "12 aggregates were left out");
    says(&imported, "failed or were skipped were left out: `fails` (no data)");
    assert_eq!(context(&imported, "library_version"), Some("1.9.5"));
    assert_eq!(context(&imported, "num_cpus"), Some("2"));
}

#[test]
fn google_benchmark_in_its_units_and_without_what_newer_versions_say() {
    let row = |name: &str, rest: &str| format!("{{\"name\": \"{name}\", \"iterations\": 2, {rest}}}");
    let file = |rows: &[String]| format!("{{\"context\": {{}}, \"benchmarks\": [{}]}}", rows.join(", "));
    let old = file(&[
        row("a", "\"real_time\": 1.5, \"cpu_time\": 1, \"time_unit\": \"ms\", \"label\": \"x\", \"flags\": [1, {}]"),
        row("a_mean", "\"real_time\": 1.5, \"time_unit\": \"ms\""),
    ]);
    let imported = parsed(&old);
    assert_eq!((names(&imported), judged(&imported, "a").grid.cells()), (vec!["a"], &[1.5e6][..]));
    assert_eq!(imported.beside.len(), 1);
    let called = parsed(&file(&[row("geo_mean", "\"real_time\": 1, \"time_unit\": \"ns\"")]));
    assert_eq!(names(&called), ["geo_mean"], "a function may be called so");
    let ends = ["a_mean", "a_median", "a_stddev"].map(|name| row(name, "\"real_time\": 1"));
    refused(&file(&ends), " holds aggregates alone: leave out `--benchmark_report_aggregates_only`");
    let drifted = parsed(&file(&[row("a", "\"real_time\": 1, \"drift\": -0.5")]));
    says(&drifted, "beside the times: 1 value that is no measurement was left out: `-0.5`");
    refused(&file(&[row("a", "\"time_unit\": \"ns\"")]), " has no `real_time` for `a`");
    let unit = " has times of `a` in `fortnights`: expected ns, us, ms or s";
    refused(&file(&[row("a", "\"real_time\": 1, \"time_unit\": \"fortnights\"")]), unit);
    let of_family = |family: u32| row("a", &format!("\"real_time\": 1, \"family_index\": {family}"));
    assert_eq!(judged(&parsed(&file(&[of_family(3), of_family(3)])), "a").grid.cells(), &[1.0; 2][..]);
    refused(&file(&[of_family(3), of_family(4)]), " holds `a` more than once");
    refused(&file(&["{}".into()]), " has a row without `name`");
    refused(&file(&[]), " holds no value");
    let alone = duetbench_formats::read(&data("google-aggregates.json")).unwrap_err().to_string();
    assert!(alone.ends_with("holds aggregates alone: leave out `--benchmark_report_aggregates_only`"), "{alone}");
}

#[test]
fn rounds_of_pytest_benchmark_are_iterations_of_one_fork() {
    let imported = read("pytest.json");
    assert_eq!(imported.recording.levels, [Level::Iteration]);
    let want = ["test_sums.py::test_sum[10]", "test_sums.py::test_sum[1000]", "test_sums.py::test_sorted"];
    assert_eq!(names(&imported), want);
    let sum = judged(&imported, want[0]);
    assert_eq!((sum.unit.as_str(), rounded(sum)), ("ns/op", vec![132.85, 126.375, 131.675, 127.0, 126.75]));
    // A round is 40 iterations of 129 ns.
    assert!((sum.cost.innermost_s - 40.0 * 128.93e-9).abs() < 1e-9, "{}", sum.cost.innermost_s);
    assert_eq!(context(&imported, "python_version"), Some("3.11.7"));
    assert_eq!(context(&imported, "commit.dirty"), Some("false"));
    let without = duetbench_formats::read(&data("pytest-without-data.json")).unwrap_err().to_string();
    assert!(
        without.ends_with("has no `data` for `test_sums.py::test_sum[10]`: save with `--benchmark-save-data`"),
        "{without}"
    );
}

#[test]
fn workers_of_pyperf_are_forks_and_those_that_calibrate_are_none() {
    let imported = read("pyperf.json");
    assert_eq!(imported.recording.levels, [Level::Fork, Level::Iteration]);
    assert_eq!(names(&imported), ["sorted", "sum"]);
    let sorted = judged(&imported, "sorted");
    assert_eq!((sorted.unit.as_str(), sorted.grid.shape()), ("ns/op", &[3, 2][..]));
    assert_eq!(rounded(sorted), [3922.877, 3945.828, 4132.246, 4192.787, 4836.713, 4228.795]);
    // 512 loops of 4.2 µs; a process takes 13 ms from its first warm-up on.
    assert!((sorted.cost.innermost_s - 512.0 * 4.2099e-6).abs() < 1e-6, "{}", sorted.cost.innermost_s);
    assert!((sorted.cost.overhead_s[0] - (0.013017 - 2.0 * 0.0021555)).abs() < 1e-5, "{:?}", sorted.cost);
    let warm_up = sorted.harness_warm_up.unwrap();
    assert_eq!((warm_up.iterations, warm_up.ran), (1, true));
    assert_eq!(context(&imported, "python_implementation"), Some("cpython"));
    assert_eq!(read("pyperf.json.gz").recording.benchmarks, imported.recording.benchmarks);
}

#[test]
fn pyperf_with_names_in_common_and_other_units() {
    let one = read("pyperf-one.json");
    assert_eq!((names(&one), judged(&one, "timeit").grid.shape()), (vec!["timeit"], &[2, 2][..]));
    let memory = read("pyperf-memory.json");
    let sorted = judged(&memory, "sorted");
    assert_eq!((sorted.unit.as_str(), sorted.grid.cells()), ("B", &[12_197_888.0, 15_122_432.0][..]));
    assert_eq!((sorted.cost.innermost_s, sorted.harness_warm_up), (0.0, None));
    let runs = |runs: &str| format!("{{\"benchmarks\": [{{\"metadata\": {{\"name\": \"a\"}}, \"runs\": [{runs}]}}]}}");
    // A worker that was ended early has fewer values.
    let short = parsed(&runs("{\"values\": [1, 2]}, {\"warmups\": [[1, 2]]}, {\"values\": [3]}"));
    assert_eq!(rounded(judged(&short, "a"))[..3], [1e9, 2e9, 3e9]);
    says(&short, "not complete: `a` (3 of 4 values)");
    // A warm-up is a value too: by loop, in all inner ones.
    let inner = "{\"metadata\": {\"name\": \"a\", \"inner_loops\": 20}, \"runs\": [{\"warmups\": [[2, 3.0]], \"values\": [1]}]}";
    let warm_up = judged(&parsed(&format!("{{\"benchmarks\": [{inner}]}}")), "a").harness_warm_up.unwrap();
    assert_eq!((warm_up.iterations, warm_up.iteration_s), (1, 120.0));
    refused(&runs(""), " holds no value");
    refused(&runs("1"), ", line 1: invalid type: integer `1`, expected struct Run (character 54)");
    refused("{\"benchmarks\": [{\"runs\": []}]}", " has a benchmark without `name` in its `metadata`");
    let twice = "{\"metadata\": {\"name\": \"a\"}, \"benchmarks\": [{\"runs\": [{\"values\": [1]}]}, {\"runs\": []}]}";
    refused(twice, " holds `a` more than once");
}

#[test]
fn a_folder_of_criterion_is_read_with_its_names() {
    let imported = read("criterion");
    assert_eq!(imported.recording.levels, [Level::Iteration]);
    assert_eq!(
        (imported.recording.name.as_str(), names(&imported)),
        ("criterion", vec!["one sum", "sums/sum/10", "sums/sum/100"])
    );
    let one = judged(&imported, "one sum");
    assert_eq!((one.unit.as_str(), one.grid.shape()), ("ns/op", &[10][..]));
    // 876638 ns for 448461 iterations, then twice as many.
    assert_eq!(rounded(one)[..2], [1.955, 2.243]);
    assert!((one.cost.innermost_s - 0.004_992_785_8).abs() < 1e-9, "{}", one.cost.innermost_s);
    // A baseline of all, of one benchmark, and a file by itself.
    let main = read("criterion/main");
    assert_eq!((main.recording.name.as_str(), names(&main)), ("main", names(&imported)));
    assert_ne!(judged(&main, "one sum").grid, one.grid);
    assert_eq!(judged(&read("criterion/one sum/new"), "one sum").grid, one.grid);
    assert_eq!(judged(&read("criterion/one sum/new/sample.json"), "one sum").grid, one.grid);
    assert_eq!(names(&read("criterion/sums")), ["sums/sum/10", "sums/sum/100"]);
    let sample = fs::read(data("criterion/one sum/new/sample.json")).unwrap();
    assert_eq!(names(&parse(&sample).unwrap()), ["sample"]);
}

#[test]
fn folders_of_criterion_with_the_same_benchmarks_are_processes() {
    let place = tempfile::tempdir().unwrap();
    let write = |folder: &str, benchmark: &str, times: &str| {
        let folder = place.path().join(folder).join(benchmark).join("new");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("sample.json"), format!("{{\"iters\": [1, 1], \"times\": [{times}]}}")).unwrap();
        fs::write(folder.join("benchmark.json"), format!("{{\"full_id\": \"{benchmark}\"}}")).unwrap();
    };
    write("1", "count/fn/10", "1, 2");
    write("3", "count/fn/10", "5, 6");
    write("2", "count/fn/10", "3, 4");
    write("2", "alone", "7, 8");
    let imported = duetbench_formats::read(place.path()).unwrap();
    assert_eq!(imported.recording.levels, [Level::Fork, Level::Iteration]);
    let count = judged(&imported, "count/fn/10");
    assert_eq!((count.grid.shape(), rounded(count)), (&[3, 2][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(judged(&imported, "alone").grid.values(), [7.0, 8.0]);
    let copy = place.path().join("1/copy/new");
    fs::create_dir_all(&copy).unwrap();
    for file in ["sample.json", "benchmark.json"] {
        fs::copy(place.path().join("1/count/fn/10/new").join(file), copy.join(file)).unwrap();
    }
    let wrong = duetbench_formats::read(place.path()).unwrap_err().to_string();
    assert!(wrong.ends_with("holds `count/fn/10` more than once"), "{wrong}");
}

#[test]
fn what_of_criterion_cannot_be_read_is_refused() {
    let check = |name: &str, want: &str| {
        let wrong = duetbench_formats::read(&data(name)).unwrap_err().to_string();
        assert!(wrong.ends_with(want), "{wrong}");
    };
    let instead = "holds criterion's estimates, computed from values that are not in it: give `sample.json` beside it";
    check("criterion/one sum/new/estimates.json", instead);
    let empty = tempfile::tempdir().unwrap();
    let wrong = duetbench_formats::read(empty.path()).unwrap_err().to_string();
    assert!(wrong.contains("holds no `new/sample.json` of criterion"), "{wrong}");
    assert!(duetbench_formats::read(&data("criterion/other")).unwrap_err().to_string().contains("other"));
    refused("{\"iters\": [1, 2], \"times\": [1]}", " has 2 `iters` and 1 `times`: expected as many");
    let zero = parsed("{\"iters\": [0, 2], \"times\": [1, 5]}");
    assert_eq!(judged(&zero, "sample").grid.values(), [2.5]);
    says(&zero, "1 value that is no measurement was left out: `inf`");
    // Without the file that names it, a benchmark is called as its folder is.
    let folder = empty.path().join("target/group/fast/new");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("sample.json"), "{\"iters\": [1], \"times\": [1]}").unwrap();
    assert_eq!(names(&duetbench_formats::read(&empty.path().join("target")).unwrap()), ["group/fast"]);
}

#[test]
fn benchstat_gives_medians_and_says_so() {
    for (file, digits) in [("benchstat.csv", 18.43), ("benchstat-old.csv", 18.533)] {
        let imported = read(file);
        let package = if file == "benchstat.csv" { "example.com/sums." } else { "" };
        let name = |size: u32| format!("{package}BenchmarkSum/size={size}");
        assert_eq!(names(&imported), [name(10), name(100)]);
        let sum = judged(&imported, &name(10));
        assert_eq!((sum.unit.as_str(), rounded(sum)), ("ns/op", vec![digits]));
        says(&imported, "benchstat's CSV holds medians alone");
        assert_eq!(beside(&imported, &name(100), "allocs/op").grid.cells(), [0.0]);
        assert_eq!(beside(&imported, &name(100), "terms/op").grid.cells(), [100.0]);
    }
    let speed = beside(&read("benchstat.csv"), "example.com/sums.BenchmarkSum/size=10", "B/s").better;
    assert_eq!(speed, Better::Higher);
    for (file, line) in [("benchstat-of-two.csv", 6), ("benchstat-old-of-two.csv", 1)] {
        let wrong = duetbench_formats::read(&data(file)).unwrap_err().to_string();
        let want =
            format!(", line {line}: a table of several versions begins: give the files that benchstat was given");
        assert!(wrong.ends_with(&want), "{wrong}");
    }
    refused("name,time/op (ns/op),±\nA-8,fast,1%\n", ", line 2: expected a number, found `fast`");
}

#[test]
fn go_text_keeps_its_units_its_configuration_and_its_processes() {
    let one = read("go.txt");
    assert_eq!(one.recording.levels, [Level::Iteration]);
    let name = "example.com/sums.BenchmarkSum/size=10";
    assert_eq!(judged(&one, name).grid.cells(), [18.4, 18.77, 18.43]);
    let speed = beside(&one, name, "MB/s");
    assert_eq!((speed.better, speed.grid.cells()), (Better::Higher, &[4347.12, 4261.44, 4340.75][..]));
    assert_eq!(beside(&one, name, "allocs/op").grid.cells(), [0.0; 3]);
    let keys: Vec<&str> = one.context.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!((keys, context(&one, "gomaxprocs")), (vec!["goos", "goarch", "pkg", "cpu", "gomaxprocs"], Some("2")));
    says(&one, "is of one process");
    let two = read("go-two-processes.txt");
    assert_eq!(two.recording.levels, [Level::Fork, Level::Iteration]);
    assert_eq!(
        (judged(&two, name).grid.shape(), beside(&two, name, "terms/op").grid.shape()),
        (&[2, 3][..], &[2, 3][..])
    );
    assert_eq!(two.recording.warnings, Vec::<String>::new());
}

#[test]
fn go_s_number_of_processors_is_a_fact_and_no_part_of_names() {
    let check = |text: &str, want: &[&str], procs: Option<&str>| {
        let imported = parsed(text);
        assert_eq!((names(&imported), context(&imported, "gomaxprocs")), (want.to_vec(), procs), "{text}");
        // Written text has Go's names again, and is read alike.
        let writer = duetbench_formats::named("go").unwrap().writer.unwrap();
        let written = (writer.recording)(&imported.recording, &About::of_file(&imported.context)).unwrap();
        let Content::File(bytes) = written.content else { panic!("a folder") };
        let again = parse(&bytes).unwrap();
        assert_eq!((names(&again), context(&again, "gomaxprocs")), (want.to_vec(), procs), "{text}");
        let name = |text: &str| {
            text.lines().find_map(|line| line.split_once([' ', '\t'])?.0.strip_prefix("Benchmark").map(str::to_owned))
        };
        assert_eq!(name(std::str::from_utf8(&bytes).unwrap()), name(text));
    };
    check("BenchmarkA-8 1 5 ns/op\nBenchmarkB/n-3-8 1 6 ns/op\n", &["BenchmarkA", "BenchmarkB/n-3"], Some("8"));
    // Names of one processor have no such end, and those of several have different ones.
    check("BenchmarkA 1 5 ns/op\nBenchmarkB-8 1 6 ns/op\n", &["BenchmarkA", "BenchmarkB-8"], None);
    check("BenchmarkA-4 1 5 ns/op\nBenchmarkA-8 1 6 ns/op\n", &["BenchmarkA-4", "BenchmarkA-8"], None);
    check("BenchmarkA-1 1 5 ns/op\n", &["BenchmarkA-1"], None);
    check("duet-run: r1\nBenchmarkA/n-8 1 5 ns/op\n", &["BenchmarkA/n-8"], None);
}

#[test]
fn go_text_with_directions_of_units_and_packages_that_come_once() {
    let imported = parsed(
        "Unit widgets/op better=higher\nUnit MB/s assume=exact better=lower\nUnit\nshard: 3\npkg: a\n\
         BenchmarkX-8 1 5 ns/op 2 widgets/op 1 MB/s\npkg: b\nBenchmarkX-8 1 6 ns/op\nBenchmarkY 1 7 widgets/op\n",
    );
    // Two packages are two processes, but of different benchmarks.
    assert_eq!(
        (&imported.recording.levels[..], names(&imported)),
        (&[Level::Iteration][..], vec!["a.BenchmarkX-8", "b.BenchmarkX-8"])
    );
    assert_eq!(beside(&imported, "a.BenchmarkX-8", "widgets/op").better, Better::Higher);
    assert_eq!(beside(&imported, "a.BenchmarkX-8", "MB/s").better, Better::Lower);
    assert_eq!(beside(&imported, "b.BenchmarkY", "widgets/op").grid.cells(), [7.0]);
    assert_eq!(context(&imported, "shard"), Some("3"));
}

#[test]
fn jmh_with_a_profiler_and_in_other_modes() {
    let imported = read("jmh-gc.json");
    assert_eq!(imported.recording.levels, [Level::Fork, Level::Iteration]);
    let hash = judged(&imported, "org.example.text.TextBenchmark.hash:size=64");
    assert_eq!(rounded(hash), [8137.084, 6476.285, 6360.27, 6351.282]);
    let bytes = beside(&imported, &hash.benchmark, "gc.alloc.rate.norm");
    assert_eq!(
        (bytes.unit.as_str(), bytes.better, rounded(bytes)),
        ("B/op", Better::Lower, vec![0.911, 0.758, 0.69, 0.746])
    );
    assert_eq!(beside(&imported, &hash.benchmark, "gc.alloc.rate").better, Better::Lower);
    assert_eq!(context(&imported, "jmhVersion"), Some("1.37"));
    let modes = read("jmh-modes.json");
    let names = ["thrpt", "sample", "ss"].map(|mode| format!("org.example.text.TextBenchmark.hash:size=64 ({mode})"));
    let [throughput, sample, single] = names.each_ref().map(|name| judged(&modes, name));
    assert_eq!((throughput.unit.as_str(), throughput.better), ("ops/s", Better::Higher));
    assert_eq!((sample.unit.as_str(), sample.grid.shape()), ("ns/op", &[1, 2][..]));
    assert_eq!(rounded(single), [93858.0, 90135.0]);
}

#[test]
fn hyperfine_of_the_tool_itself() {
    let imported = read("hyperfine.json");
    assert_eq!((&imported.recording.levels[..], names(&imported)), (&[Level::Fork][..], vec!["true", "sleep 0.01"]));
    assert_eq!(judged(&imported, "true").grid.shape(), [5]);
    let parameters = read("hyperfine-parameters.json");
    assert_eq!(names(&parameters), ["sh -c \"exit 0\"", "sh -c \"exit 1\""]);
    says(&parameters, "every run ended with the same exit code other than 0: `sh -c \"exit 1\"` (1)");
    let memory = parsed(
        "{\"results\": [{\"command\": \"a\", \"times\": [1, 2], \"exit_codes\": [0, 1], \"memory_usage_byte\": [7, 8]}]}",
    );
    assert_eq!(beside(&memory, "a", "memory_usage_byte").grid.values(), [7.0]);
}

#[test]
fn what_is_packed_and_broken_is_refused() {
    let mut packed = fs::read(data("pyperf.json.gz")).unwrap();
    packed.truncate(packed.len() / 2);
    let wrong = parse(&packed).unwrap_err().to_string();
    assert!(wrong.starts_with(" cannot be unpacked: "), "{wrong}");
}

#[test]
fn no_mutation_of_a_real_file_makes_reading_panic_or_take_more_room_than_it_may() {
    let files = [
        "google.json", "pytest.json", "pyperf.json", "pyperf.json.gz", "criterion/one sum/new/sample.json",
        "benchstat.csv", "benchstat-old.csv", "go-two-processes.txt", "jmh-gc.json", "hyperfine.json",
    ];
    for file in files {
        let good = fs::read(data(file)).unwrap();
        let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
        let mut refused = 0;
        for _ in 0..400 {
            let bytes = draw.spoilt(&good);
            let Ok(imported) = parse(&bytes) else {
                refused += 1;
                continue;
            };
            let cells: usize = imported.recording.benchmarks.iter().map(|r| r.grid.cells().len()).sum();
            assert!(cells <= 1_000_000 + 16 * bytes.len(), "{cells} cells");
            let is_good = |r: &Recorded| r.grid.values().iter().all(|v| v.is_finite() && *v >= 0.0);
            assert!(
                imported.recording.benchmarks.iter().all(is_good)
                    && imported.beside.iter().all(|m| is_good(&m.recorded))
            );
        }
        assert!(refused > 10, "mutations hardly ever break {file}: {refused}");
    }
}
