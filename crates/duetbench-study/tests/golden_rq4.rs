//! The study of the µOpTime paper's questions on the paper's own data, by the rules of its published code, against what that code
//! found.
//!
//! The data may not be passed on: the tests are listed as ignored unless `DUET_GOLDEN` names the folder that has them.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

fn main() {
    let golden = std::env::var_os("DUET_GOLDEN").map(PathBuf::from);
    let trial = |name: &str, test: fn(&Path) -> Result<(), Failed>| {
        let (found, dir) = (golden.is_some(), golden.clone().unwrap_or_default());
        Trial::test(name, move || test(&dir)).with_kind("needs DUET_GOLDEN").with_ignored_flag(!found)
    };
    let trials = vec![
        trial("changes_are_those_that_the_published_code_finds", changes_are_those_that_the_published_code_finds),
        trial("savings_are_those_of_the_published_code", savings_are_those_of_the_published_code),
        trial("metrics_differ_as_much_as_in_the_published_results", metrics_differ_as_much_as_in_the_published_results),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The folder with the study's tables. It is made once for all tests.
fn study(golden: &Path) -> Result<&'static Path, Failed> {
    static MADE: OnceLock<Result<TempDir, String>> = OnceLock::new();
    let made = MADE.get_or_init(|| make(golden).map_err(|e| e.to_string()));
    made.as_ref().map(TempDir::path).map_err(|e| e.clone().into())
}

fn make(golden: &Path) -> Result<TempDir, Box<dyn Error>> {
    let out = tempfile::tempdir()?;
    let mut duet = Command::new(env!("CARGO_BIN_EXE_duet-study"));
    // To duet it would be a setting it does not know.
    duet.env_remove("DUET_GOLDEN");
    duet.args(["uoptime", "--compat", "paper-code", "--quiet", "--out"]);
    let output = duet.arg(out.path()).arg(golden.join("data")).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(out) } else { Err(format!("duet failed: {errors}").into()) }
}

fn changes_are_those_that_the_published_code_finds(golden: &Path) -> Result<(), Failed> {
    let out = study(golden)?;
    let answers = out.join("rq4.csv");
    let mut check = Command::new("python3");
    check.arg(golden.join("check_rq4.py")).arg(answers).arg("--golden").arg(golden.join("golden/visible"));
    let said = String::from_utf8_lossy(&check.output()?.stdout).into_owned();
    if said.contains("OVERALL PASS") { Ok(()) } else { Err(said.into()) }
}

/// A CSV file as rows of named cells.
fn rows(path: &Path) -> Result<Vec<HashMap<String, String>>, Failed> {
    let mut reader = csv::Reader::from_path(path)?;
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

fn json(golden: &Path, name: &str) -> Result<serde_json::Value, Failed> {
    Ok(serde_json::from_slice(&std::fs::read(golden.join("golden/visible").join(name))?)?)
}

fn savings_are_those_of_the_published_code(golden: &Path) -> Result<(), Failed> {
    let out = study(golden)?;
    let mut ours = HashMap::new();
    for (table, warm) in [("rq1.csv", false), ("rq3.csv", true)] {
        for row in rows(&out.join(table))? {
            ours.insert((warm, row["file"].clone(), row["method"].clone(), row["metric"].clone()), row);
        }
    }
    let published = json(golden, "rq1_rq3.json")?;
    let mut wrong = Vec::new();
    let mut compared = 0;
    for theirs in published.as_array().expect("a list") {
        let word = |name: &str| theirs[name].as_str().unwrap_or_default().to_owned();
        // Two of the published combinations take the mean where the metric has the median, or the other way round.
        if ["cv_med", "rmad_mean"].contains(&word("metric").as_str()) {
            continue;
        }
        let key = (word("ds") == "ds2w", word("project"), word("method"), word("metric"));
        let Some(row) = ours.get(&key) else {
            wrong.push(format!("{key:?} is missing"));
            continue;
        };
        compared += 1;
        wrong.extend(differences(row, theirs).into_iter().map(|what| format!("{key:?}: {what}")));
    }
    if wrong.is_empty() && compared > 200 { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Values of a row that differ from those of the published code.
fn differences(row: &HashMap<String, String>, theirs: &serde_json::Value) -> Vec<String> {
    let columns = [
        ("benchmarks", "n"),
        ("full_s", "time_full"),
        ("reduced_s", "time_min"),
        ("within_1pct", "within_1pct"),
        ("within_3pct", "within_3pct"),
        ("within_5pct", "within_5pct"),
        ("within_10pct", "within_10pct"),
        ("not_reduced", "not_reduced"),
        ("warm_up_full_s", "warmup_full"),
        ("warm_up_reduced_s", "warmup_min"),
    ];
    let drawn = theirs["tag"] == "mc";
    let off = |(ours, name): &(&str, &str)| {
        let value: Option<f64> = row[*ours].parse().ok();
        let published = theirs[*name].as_f64()?;
        // A value from drawn resamples has a range over several draws, where that was recorded.
        let range = &theirs[format!("{name}_range")];
        let (low, high) = match (drawn, range[0].as_f64().zip(range[1].as_f64())) {
            (true, Some(range)) => range,
            (true, None) if !["n", "time_full", "warmup_full"].contains(name) => return None,
            _ => (published, published),
        };
        let within = value.is_some_and(|value| (low..=high).contains(&value));
        (!within).then(|| format!("{ours} is `{}`, not {low} to {high}", row[*ours]))
    };
    columns.iter().filter_map(off).collect()
}

fn metrics_differ_as_much_as_in_the_published_results(golden: &Path) -> Result<(), Failed> {
    let out = study(golden)?;
    let ours = rows(&out.join("rq2.csv"))?;
    let published = json(golden, "rq2.json")?;
    let (mut compared, mut wrong) = (0, Vec::new());
    // CV and RMAD choose without drawing, so what tells them apart is exact; what H says depends on the three others too.
    for pair in published["pairs"].as_array().expect("a list") {
        let exact = pair["a"] == "Mean (CV)" && pair["b"] == "Median (RMAD)";
        let absolute = pair["variant"] == "paper_abs5";
        if !exact || pair["ds"] == "ds2w" || !(absolute || pair["variant"] == "signed5") {
            continue;
        }
        let changes = if absolute { "absolute" } else { "signed" };
        let row = ours.iter().find(|r| {
            pair["project"] == r["file"].as_str()
                && r["changes"] == changes
                && r["first"] == "cv"
                && r["second"] == "rmad"
        });
        let delta: Option<f64> = row.and_then(|r| r["cliffs_delta"].parse().ok());
        compared += 1;
        if delta.is_none_or(|delta| (delta - pair["delta"].as_f64().unwrap_or(f64::NAN)).abs() > 1e-9) {
            wrong.push(format!("{} {changes}: {delta:?}, not {}", pair["project"], pair["delta"]));
        }
    }
    if wrong.is_empty() && compared > 10 {
        Ok(())
    } else {
        Err(format!("{compared} compared\n{}", wrong.join("\n")).into())
    }
}
