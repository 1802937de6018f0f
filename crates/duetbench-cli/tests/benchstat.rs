//! The real benchstat reads what the `go` format writes: the golden file that `render.rs` seals.
//!
//! Without a `go` command the test is listed as ignored.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// Fixed, so that a change of benchstat's own output cannot break this test.
const BENCHSTAT: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da";

fn main() {
    let go_found = Command::new("go").arg("version").output().is_ok();
    let trial = Trial::test("benchstat_shows_both_versions", benchstat_shows_both_versions)
        .with_kind("needs go")
        .with_ignored_flag(!go_found);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}

fn benchstat_shows_both_versions() -> Result<(), Failed> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/everything.go.txt");
    let (table, complaints) = benchstat(&file)?;
    assert!(table.contains(",baseline,,candidate,"), "{table}");
    // Messages of `go run` while it fetches benchstat are no complaints.
    let expected = ["need >=", "all samples are equal", "go: downloading"];
    assert!(complaints.lines().all(|line| expected.iter().any(|words| line.contains(words))), "{complaints}");
    // Eleven times 0.1 % of drift: the median of 12 forks lies 0.55 % above the first.
    expect_row(&table, "Encode/format=json-8", &["1.727449e-06", "+5.12%", "p=0.000 n=12"]);
    expect_row(&table, "Encode/format=gob-8", &["3.082863e-06", "-17.20%", "p=0.000 n=12"]);
    assert!(table.contains("allocs/op"), "{table}");
    assert!(table.contains("cpu-sec/op"), "{table}");
    Ok(())
}

/// The CSV that benchstat makes of a file, and what it complains about.
fn benchstat(file: &Path) -> Result<(String, String), Failed> {
    let output = Command::new("go").args(["run", BENCHSTAT, "-format", "csv", "-col", "version"]).arg(file).output()?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if output.status.success() { Ok((out, err)) } else { Err(format!("benchstat refuses the file: {err}").into()) }
}

/// The first table is that of the times, so the first row of a name has its time.
fn expect_row(table: &str, name: &str, cells: &[&str]) {
    let row = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no row {name} in\n{table}"));
    for cell in cells {
        assert!(row.contains(cell), "{cell} is missing in {row}");
    }
}
