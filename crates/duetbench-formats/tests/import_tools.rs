//! The tools themselves measure something small, and what they wrote is read.
//!
//! They come from their registries, at fixed versions, into folders below `target`, once. A test whose language is not here is listed as
//! ignored.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use duetbench_core::recording::{Level, Recorded};
use duetbench_formats::{About, Imported, named};
use libtest_mimic::{Arguments, Failed, Trial};
use rustix::fs::FlockOperation;

const PYTHON_PACKAGES: [&str; 4] =
    ["pytest==9.2.0", "pytest-benchmark==5.3.1", "pyperf==2.10.0", "google-benchmark==1.9.5"];
const BENCHSTAT: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da";
/// The last one with the older form of CSV.
const BENCHSTAT_OLD: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20220920022801-e8d778a60d07";
const HYPERFINE: &str = "1.19.0";

fn main() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let trial = |name: &str, needs: &str, runner: fn() -> Result<(), Failed>| {
        Trial::test(name, runner).with_kind(format!("needs {needs}")).with_ignored_flag(!has(needs))
    };
    let trials = vec![
        trial("pytest_benchmark_wrote_it", "python3", pytest_benchmark_wrote_it),
        trial("pyperf_wrote_it", "python3", pyperf_wrote_it),
        trial("google_benchmark_wrote_it", "python3", google_benchmark_wrote_it),
        trial("go_and_benchstat_wrote_it", "go", go_and_benchstat_wrote_it),
        trial("criterion_wrote_it", "cargo", criterion_wrote_it),
        trial("hyperfine_wrote_it", "cargo", hyperfine_wrote_it),
        trial("jmh_wrote_it", "mvn", jmh_wrote_it),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn tools(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools").join(name)
}

/// Runs a command; what it said is the failure.
fn run(command: &mut Command) -> Result<(), String> {
    printed(command).map(drop)
}

/// Everything that a command printed.
fn printed(command: &mut Command) -> Result<String, String> {
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Err(format!("{command:?}: {out}{err}"))
        }
        Err(e) => Err(format!("{command:?}: {e}")),
    }
}

/// A folder of this name that was made ready once for these versions; for others it is made anew.
fn once(name: &str, versions: &str, install: impl Fn(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("import-tools-{name}"));
    let lock = File::create(format!("{}.lock", home.display())).map_err(|e| e.to_string())?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|e| e.to_string())?;
    let done = home.join("installed");
    if fs::read_to_string(&done).ok().as_deref() != Some(versions) {
        // It is not there at first.
        drop(fs::remove_dir_all(&home));
        fs::create_dir_all(&home).map_err(|e| e.to_string())?;
        install(&home)?;
        fs::write(done, versions).map_err(|e| e.to_string())?;
    }
    Ok(home)
}

/// A Python with all the packages.
fn python() -> Result<PathBuf, String> {
    let home = once("python", &PYTHON_PACKAGES.join(" "), |home| {
        run(Command::new("python3").args(["-m", "venv"]).arg(home.join("venv")))?;
        run(Command::new(home.join("venv/bin/python")).args(["-m", "pip", "install", "--quiet"]).args(PYTHON_PACKAGES))
    })?;
    Ok(home.join("venv/bin/python"))
}

/// The imported file, after the checks that its recording passes in every form.
fn imported(path: &Path, levels: &[Level]) -> Result<Imported, Failed> {
    let imported = duetbench_formats::read(path).map_err(|e| e.to_string())?;
    let recording = &imported.recording;
    assert_eq!(recording.levels, levels, "{path:?}");
    let positive = |recorded: &Recorded| {
        let values = recorded.grid.values();
        !values.is_empty() && values.iter().all(|value| *value > 0.0) && recorded.cost.innermost_s > 0.0
    };
    assert!(!recording.benchmarks.is_empty() && recording.benchmarks.iter().all(positive), "{recording:?}");
    Ok(imported)
}

fn shape<'a>(imported: &'a Imported, name: &str) -> &'a [usize] {
    let found = imported.recording.benchmarks.iter().find(|recorded| recorded.benchmark == name);
    found.unwrap_or_else(|| panic!("no {name} in {:?}", imported.recording)).grid.shape()
}

fn pytest_benchmark_wrote_it() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let file = tools("test_sums.py");
    let pytest = |more: &[&str]| -> Result<(), String> {
        let options =
            ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-max-time=0.01", "--benchmark-min-rounds=5"];
        run(Command::new(python()?).args(options).args(more).arg(&file).current_dir(dir.path()))
    };
    pytest(&[
        "--benchmark-json=all.json", "--benchmark-storage=stored", "--benchmark-save=x", "--benchmark-save-data",
    ])?;
    pytest(&["--benchmark-storage=plain", "--benchmark-save=x"])?;
    let read = imported(&dir.path().join("all.json"), &[Level::Iteration])?;
    let named = |end: &str| read.recording.benchmarks.iter().find(|recorded| recorded.benchmark.ends_with(end));
    assert_eq!(named("test_sums.py::test_sorted").map(|recorded| recorded.grid.shape()), Some(&[5][..]));
    assert!(named("test_sums.py::test_sum[10]").is_some_and(|recorded| recorded.grid.cells().len() >= 5));
    imported(&saved(&dir.path().join("stored"))?, &[Level::Iteration])?;
    let without =
        duetbench_formats::read(&saved(&dir.path().join("plain"))?).err().ok_or("a file without data was read")?;
    assert!(without.to_string().contains("--benchmark-save-data"), "{without}");
    Ok(())
}

/// The one file below a folder of a folder, as pytest-benchmark stores.
fn saved(storage: &Path) -> Result<PathBuf, String> {
    let first = |dir: &Path| fs::read_dir(dir).ok()?.flatten().next().map(|entry| entry.path());
    first(storage).and_then(|machine| first(&machine)).ok_or_else(|| format!("nothing in {}", storage.display()))
}

fn pyperf_wrote_it() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let options = ["--processes", "3", "--values", "2", "--warmups", "1", "--min-time", "0.001"];
    for file in ["sums.json", "sums.json.gz"] {
        let path = dir.path().join(file);
        run(Command::new(python()?).arg(tools("sums_pyperf.py")).args(options).arg("-o").arg(&path))?;
        let read = imported(&path, &[Level::Fork, Level::Iteration])?;
        assert_eq!((shape(&read, "sorted"), shape(&read, "sum")), (&[3, 2][..], &[3, 2][..]));
    }
    Ok(())
}

fn google_benchmark_wrote_it() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("sums.json");
    let options = ["--benchmark_min_time=0.001s", "--benchmark_repetitions=3", "--benchmark_out_format=json"];
    let out = format!("--benchmark_out={}", path.display());
    run(Command::new(python()?).arg(tools("sums_google.py")).args(options).arg(out))?;
    let read = imported(&path, &[Level::Iteration])?;
    assert_eq!((shape(&read, "sums/8"), read.recording.benchmarks.len()), (&[3][..], 3));
    let metrics: Vec<&str> = read.beside.iter().map(|metric| metric.name.as_str()).take(5).collect();
    assert_eq!(metrics, ["cpu_time", "bytes_per_second", "items_per_second", "nodes", "rate"]);
    Ok(())
}

fn go_and_benchstat_wrote_it() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let text = dir.path().join("sums.txt");
    let shell = |line: &str| run(Command::new("sh").args(["-ec", line]).current_dir(tools("go")).env("OUT", &text));
    shell("for i in 1 2 3; do go test -bench . -benchtime 100x -count 2; done > \"$OUT\"")?;
    let name = |read: &Imported| read.recording.benchmarks[0].benchmark.clone();
    let read = imported(&text, &[Level::Fork, Level::Iteration])?;
    assert_eq!((shape(&read, &name(&read)), read.beside.len()), (&[3, 2][..], 2 * 4));
    shell(&format!("go run {BENCHSTAT} -format csv \"$OUT\" > \"$OUT.csv\""))?;
    let new = dir.path().join("sums.txt.csv");
    // benchstat tells no time of an iteration, so that its recording has no cost.
    let new = duetbench_formats::read(&new).map_err(|e| e.to_string())?;
    assert_eq!((name(&new), shape(&new, &name(&new))), (name(&read), &[1][..]));
    shell(&format!("go run {BENCHSTAT_OLD} -csv \"$OUT\" > \"$OUT.csv\""))?;
    let old = duetbench_formats::read(&dir.path().join("sums.txt.csv")).map_err(|e| e.to_string())?;
    assert!(name(&read).ends_with(&name(&old)), "{}", name(&old));
    Ok(())
}

fn criterion_wrote_it() -> Result<(), Failed> {
    let home = once("criterion", include_str!("data/tools/criterion/lock.toml"), |home| {
        // Under other names, so that nobody takes the sources for a package of this workspace.
        let copies = [
            ("manifest.toml", "Cargo.toml"),
            ("lock.toml", "Cargo.lock"),
            ("lib.rs", "lib.rs"),
            ("benches/sums.rs", "benches/sums.rs"),
        ];
        fs::create_dir_all(home.join("benches")).map_err(|e| e.to_string())?;
        for (from, to) in copies {
            fs::copy(tools("criterion").join(from), home.join(to)).map_err(|e| format!("{from}: {e}"))?;
        }
        Ok(())
    })?;
    let target = home.join("target");
    let bench = |folder: &Path, more: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(["bench", "--quiet", "--locked", "--"]).args(more).current_dir(&home);
        printed(command.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").env("CRITERION_HOME", folder))
    };
    let written = target.join("criterion");
    bench(&written, &["--save-baseline", "main"])?;
    bench(&written, &[])?;
    for path in [target.join("criterion"), target.join("criterion/main")] {
        let read = imported(&path, &[Level::Iteration])?;
        assert_eq!((shape(&read, "one sum"), shape(&read, "sums/sum/100")), (&[10][..], &[10][..]));
    }
    // The file has a baseline by which criterion judges the next run; without it this ends with an error.
    let again = tempfile::tempdir()?;
    let read = imported(&written, &[Level::Iteration])?;
    let writer = named("criterion").and_then(|tool| tool.writer.as_ref()).ok_or("no such writer")?;
    let folder = (writer.recording)(&read.recording, &About::default()).map_err(|e| e.to_string())?;
    folder.content.save(again.path()).map_err(|e| e.to_string())?;
    let judged = bench(again.path(), &["--baseline", "base"])?;
    assert_eq!(judged.matches("change:").count(), read.recording.benchmarks.len(), "{judged}");
    Ok(())
}

fn hyperfine_wrote_it() -> Result<(), Failed> {
    let home = once("hyperfine", HYPERFINE, |home| {
        let options = ["install", "--quiet", "--debug", "--locked", "--root"];
        let mut install = Command::new("cargo");
        install.args(options).arg(home).arg(format!("hyperfine@{HYPERFINE}"));
        run(install.env("CARGO_TARGET_DIR", home.join("target")).env("CARGO_PROFILE_DEV_DEBUG", "0"))
    })?;
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("true.json");
    let options = ["-N", "-w", "1", "-r", "4", "-L", "word", "a,b", "echo {word}", "--export-json"];
    run(Command::new(home.join("bin/hyperfine")).args(options).arg(&path))?;
    let read = imported(&path, &[Level::Fork])?;
    assert_eq!((shape(&read, "echo a"), shape(&read, "echo b")), (&[4][..], &[4][..]));
    assert!(read.beside.iter().all(|metric| metric.name == "memory_usage_byte" && metric.recorded.unit == "B"));
    Ok(())
}

fn jmh_wrote_it() -> Result<(), Failed> {
    let home = once("jmh", include_str!("../../../examples/03-jmh/pom.xml"), |home| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/03-jmh");
        run(Command::new("cp").arg("-r").arg(example.join("src")).arg(example.join("pom.xml")).arg(home))?;
        run(Command::new("mvn").args(["-B", "-q", "-DskipTests", "package"]).current_dir(home))
    })?;
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("hash.json");
    let options = [
        "-f", "2", "-wi", "1", "-w", "10ms", "-i", "3", "-r", "10ms", "-prof", "gc", "-rf", "json", "-p", "size=64",
        "hash",
    ];
    run(Command::new("java").arg("-jar").arg(home.join("target/benchmarks.jar")).args(options).arg("-rff").arg(&path))?;
    let read = imported(&path, &[Level::Fork, Level::Iteration])?;
    assert_eq!(shape(&read, "org.example.text.TextBenchmark.hash:size=64"), [2, 3]);
    let bytes = read.beside.iter().find(|metric| metric.name == "gc.alloc.rate.norm");
    assert_eq!(
        bytes.map(|metric| (metric.recorded.unit.as_str(), metric.recorded.grid.shape())),
        Some(("B/op", &[2, 3][..]))
    );
    Ok(())
}
