//! The real `duet tune`, and what the published code would choose, on the real data of the µOpTime study, judged by the checker that knows what the published code chose.
//!
//! The data are not part of the project. Without `DUET_GOLDEN`, the folder with `data/`, `golden/visible/` and
//! `check_optimizer.py`, or without `python3`, the tests are listed as ignored.

#![allow(clippy::unwrap_used, reason = "a test may")]

#[path = "../../duetbench-cli/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, Ran};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let golden = std::env::var_os("DUET_GOLDEN").map(PathBuf::from).filter(|_| has_python());
    let trial = |name: &'static str, test: fn(&Path) -> Result<(), Failed>| {
        let folder = golden.clone();
        Trial::test(name, move || test(&folder.ok_or("DUET_GOLDEN is not set")?))
            .with_kind("needs DUET_GOLDEN and python3")
            .with_ignored_flag(golden.is_none())
    };
    let trials = vec![
        trial("the_published_code_would_choose_the_same", the_published_code_would_choose_the_same),
        trial("all_metrics_are_printed_for_every_file", all_metrics_are_printed_for_every_file),
        trial("a_file_with_gaps_is_tuned_with_a_warning", a_file_with_gaps_is_tuned_with_a_warning),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// All data files, in name order.
fn data(golden: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = ["ds1", "ds2", "ds3"]
        .into_iter()
        .flat_map(|set| fs::read_dir(golden.join("data").join(set)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .collect();
    files.sort();
    files.into_iter().map(|path| path.to_str().unwrap().to_owned()).collect()
}

fn the_published_code_would_choose_the_same(golden: &Path) -> Result<(), Failed> {
    let place = Place::new();
    let files = data(golden);
    let mut args = vec!["choices", "--compat", "paper-code", "--answers", "answers.csv", "--format", "csv"];
    args.extend(files.iter().map(String::as_str));
    let study = Path::new(env!("CARGO_BIN_EXE_duet-study"));
    Ran::from(place.command_of(study, &args).output()?).expect(0);
    let output = Command::new("python3")
        .arg(golden.join("check_optimizer.py"))
        .arg(place.path().join("answers.csv"))
        .arg("--golden")
        .arg(golden.join("golden/visible"))
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains("OVERALL PASS");
    if passed { Ok(()) } else { Err(format!("{said}\n{}", String::from_utf8_lossy(&output.stderr)).into()) }
}

fn all_metrics_are_printed_for_every_file(golden: &Path) -> Result<(), Failed> {
    for file in data(golden).iter().step_by(7) {
        let ran = Place::new().duet(&["tune", "--metric", "all", file]).expect(0);
        for metric in ["cv", "rmad", "rciw1", "rciw2", "rciw3"] {
            let row = ran.stdout.lines().any(|line| line.split_whitespace().next() == Some(metric));
            if !row {
                return Err(format!("no row for {metric} of {file} in\n{}", ran.stdout).into());
            }
        }
    }
    Ok(())
}

fn a_file_with_gaps_is_tuned_with_a_warning(golden: &Path) -> Result<(), Failed> {
    let file = golden.join("data/ds1/prometheus-v0.37.0.csv");
    let ran = Place::new().duet(&["tune", file.to_str().unwrap()]).expect(0);
    let said = "not complete: `BenchmarkEmptyLabelSignature` (220 of 225 values)";
    if ran.stdout.contains(said) { Ok(()) } else { Err(format!("`{said}` is not in\n{}", ran.stdout).into()) }
}
