//! The tools themselves read what `duet export` writes in their forms: the golden files of `duetbench-formats`, and Parquet of a run.
//!
//! They are installed from PyPI into a virtual environment below `target`. Without `python3` or `go` the tests are listed as ignored.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};

/// Fixed, so that a change of theirs cannot break this test.
const PACKAGES: [&str; 4] = ["pyperf==2.10.0", "pytest==9.2.0", "pytest-benchmark==5.3.1", "pyarrow==26.0.1"];
const BENCHSTAT: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da";

fn main() {
    let without = |command: &str, version: &str| Command::new(command).arg(version).output().is_err();
    let (python, go) = (without("python3", "--version"), without("go", "version"));
    let test = |name: &str, needs: &str, ignored: bool, run: fn() -> Result<(), Failed>| {
        Trial::test(name, run).with_kind(format!("needs {needs}")).with_ignored_flag(ignored)
    };
    let trials = vec![
        test("pyperf_shows_and_compares", "python3", python, pyperf_shows_and_compares),
        test("pytest_benchmark_compares", "python3", python, pytest_benchmark_compares),
        test("pyarrow_reads_every_sample", "python3", python, pyarrow_reads_every_sample),
        test("benchstat_tells_forks_and_units", "go", go, benchstat_tells_forks_and_units),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// A file that seals a form.
fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../duetbench-formats/tests/golden/export").join(name)
}

/// Output of a command.
fn output(command: &mut Command) -> Result<String, Failed> {
    let output = command.stdin(Stdio::null()).output()?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if output.status.success() { Ok(out) } else { Err(format!("{command:?} fails: {out}{err}").into()) }
}

/// The Python in which the tools are, installed once for all tests.
fn python() -> Result<Command, Failed> {
    program("python")
}

/// A program of that environment.
fn program(name: &str) -> Result<Command, Failed> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-tools");
    let (interpreter, done) = (home.join("bin/python"), home.join(PACKAGES.join("+")));
    fs::create_dir_all(&home)?;
    // Outside, because what is there is cleared.
    let lock = File::create(format!("{}.lock", home.display()))?;
    lock.lock()?;
    if !done.exists() {
        output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
        output(Command::new(&interpreter).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
        File::create(done)?;
    }
    Ok(Command::new(home.join("bin").join(name)))
}

fn expect(text: &str, words: &[&str]) -> Result<(), Failed> {
    match words.iter().find(|word| !text.contains(**word)) {
        Some(word) => Err(format!("`{word}` is missing in\n{text}").into()),
        None => Ok(()),
    }
}

fn pyperf_shows_and_compares() -> Result<(), Failed> {
    let file = golden("pyperf.json");
    let shown = output(python()?.args(["-m", "pyperf", "stats"]).arg(&file))?;
    // Two suite runs of two forks of three iterations, of which one benchmark has a gap.
    expect(
        &shown,
        &["example.com/shop.BenchmarkGet/size=1-8", "Number of run with values: 4", "Total number of values: 11"],
    )?;
    let compared = output(python()?.args(["-m", "pyperf", "compare_to"]).args([&file, &file]))?;
    expect(&compared, &["Benchmark hidden because not significant", "p.C.m:kind=a,size=10"])
}

fn pytest_benchmark_compares() -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join(".benchmarks/here");
    fs::create_dir_all(&folder)?;
    for name in ["0001_base.json", "0002_head.json"] {
        fs::copy(golden("pytest-benchmark.json"), folder.join(name))?;
    }
    let mut compare = program("pytest-benchmark")?;
    compare.args(["compare", "0001", "0002", "--columns=median,rounds"]);
    let table = output(compare.current_dir(place.path()))?;
    expect(&table, &["p.C.m:kind=a,size=10 (0001_base)", "p.C.m:kind=a,size=10 (0002_head)", "(1.0)", "12"])
}

fn pyarrow_reads_every_sample() -> Result<(), Failed> {
    const READ: &str = "\
import sys, pyarrow.parquet as p
t = p.read_table(sys.argv[1])
d = t.to_pydict()
print(t.num_rows, sorted(set(d['side'])), sorted(set(d['benchmark'])), t.schema.field('wall_ns').type)
print(all(abs(v - w / n) < 1e-9 for v, w, n in zip(d['value'], d['wall_ns'], d['invocations'])))
print(sorted(set(d['suite_run'])), sorted(set(d['unit'])), set(d['second']), set(d['mode']))
";
    let place = tempfile::tempdir()?;
    let script = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002, "allocs": [2, 2]}}"#;
    fs::write(place.path().join("script.json"), script)?;
    let duet = |args: &[&str]| {
        let mut duet = Command::new(env!("CARGO_BIN_EXE_duet"));
        let set = std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("DUET_"));
        for name in set {
            duet.env_remove(name);
        }
        output(duet.args(args).current_dir(place.path()).env("DUET_LOCK", place.path().join("lock")).env_remove("CI"))
    };
    duet(&["compare", "--scripted", "script.json", "--seed", "1", "--forks", "4", "--fixed"])?;
    duet(&["export", "latest", "--as", "parquet", "-o", "all.parquet"])?;
    let read = output(python()?.args(["-c", READ]).arg(place.path().join("all.parquet")))?;
    // Four suite runs of eight slices on each of two sides.
    expect(&read, &["64 ['baseline', 'candidate'] ['example.com/scripted.BenchmarkA'] int64", "True"])?;
    expect(&read, &["[0, 1, 2, 3] ['ns/op'] {None}"])
}

fn benchstat_tells_forks_and_units() -> Result<(), Failed> {
    let table = output(Command::new("go").args(["run", BENCHSTAT, "-format", "csv"]).arg(golden("go.txt")))?;
    expect(&table, &["sec/op,CI", "ops/s,CI", "B/op,CI", "Get/size=1-8,1.02e-07", "_p.C.m:kind=a,size=10"])
}
