//! The study of environments on real measurements of three instances, against the same figures worked out here from the file.
//!
//! The data may not be passed on: the test is listed as ignored unless `DUET_GOLDEN` names the folder that has them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() {
    let golden = std::env::var_os("DUET_GOLDEN").map(PathBuf::from);
    let (found, dir) = (golden.is_some(), golden.unwrap_or_default());
    let test = move || spreads_and_sources_are_those_of_the_file(&dir);
    let trial = Trial::test("spreads_and_sources_are_those_of_the_file", test);
    let trials = vec![trial.with_kind("needs DUET_GOLDEN").with_ignored_flag(!found)];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The values of every trial of every instance, by benchmark.
type Values = BTreeMap<String, BTreeMap<(u32, u32), Vec<f64>>>;

fn spreads_and_sources_are_those_of_the_file(golden: &Path) -> Result<(), Failed> {
    let file = golden.join("data/ds1/toml-v2.0.1.csv");
    let studied = study(&file)?;
    let benchmarks = studied["environments"][0]["benchmarks"].as_array().ok_or("there are no benchmarks")?;
    let values = read(&file)?;
    if benchmarks.len() != values.len() {
        return Err(format!("{} benchmarks of {}", benchmarks.len(), values.len()).into());
    }
    for benchmark in benchmarks {
        let name = benchmark["name"].as_str().unwrap_or_default();
        let trials = values.get(name).ok_or_else(|| format!("the file has no `{name}`"))?;
        let all: Vec<f64> = trials.values().flatten().copied().collect();
        close(name, "RSD", &benchmark["rsd"], deviation(&all) / mean(&all))?;
        for (source, wanted) in ["instance", "trial", "value"].into_iter().zip(sources(trials)) {
            let sources = benchmark["sources"].as_array().ok_or("there are no sources")?;
            let told = sources.iter().find(|s| s["source"] == source).ok_or_else(|| format!("{name}: no {source}"))?;
            close(name, source, &told["log_variance"], wanted)?;
        }
    }
    Ok(())
}

fn study(file: &Path) -> Result<Value, Failed> {
    let mut duet = Command::new(env!("CARGO_BIN_EXE_duet-study"));
    // To duet it would be a setting it does not know.
    duet.env_remove("DUET_GOLDEN");
    let output = duet.args(["cloud", "--format", "json", "--draws", "1"]).arg(file).output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The file's values: instance run, suite run, and the rest of the levels in one.
fn read(file: &Path) -> Result<Values, Failed> {
    let mut values = Values::new();
    for row in csv::Reader::from_path(file)?.deserialize() {
        let row: BTreeMap<String, String> = row?;
        let cell = |name: &str| row.get(name).cloned().ok_or_else(|| format!("there is no column `{name}`"));
        let place = (cell("ir_pos")?.parse()?, cell("sr_pos")?.parse()?);
        let trials = values.entry(cell("b_name")?).or_default();
        trials.entry(place).or_default().push(cell("ns_per_op")?.parse()?);
    }
    Ok(values)
}

/// Variances of the logarithms between instances, between trials of one and within trials, by the mean squares of a balanced table.
fn sources(trials: &BTreeMap<(u32, u32), Vec<f64>>) -> [f64; 3] {
    let logs: BTreeMap<(u32, u32), Vec<f64>> =
        trials.iter().map(|(at, values)| (*at, values.iter().map(|v| v.ln()).collect())).collect();
    let of_trials: BTreeMap<(u32, u32), f64> = logs.iter().map(|(at, values)| (*at, mean(values))).collect();
    let instances: Vec<u32> =
        logs.keys().map(|(instance, _)| *instance).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let of_instance = |wanted: u32| -> Vec<f64> {
        of_trials.iter().filter(|((instance, _), _)| *instance == wanted).map(|(_, mean)| *mean).collect()
    };
    let (n, per_trial) = (instances.len() as f64, logs.values().map(Vec::len).max().unwrap_or(0) as f64);
    let per_instance = logs.len() as f64 / n;
    let within = logs.values().map(|values| deviation(values).powi(2)).sum::<f64>() / logs.len() as f64;
    let between_trials = per_trial * instances.iter().map(|i| deviation(&of_instance(*i)).powi(2)).sum::<f64>() / n;
    let means: Vec<f64> = instances.iter().map(|i| mean(&of_instance(*i))).collect();
    let between_instances = per_trial * per_instance * deviation(&means).powi(2);
    let trial = ((between_trials - within) / per_trial).max(0.0);
    let instance = ((between_instances - between_trials) / (per_trial * per_instance)).max(0.0);
    [instance, trial, within]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)).sqrt()
}

fn close(benchmark: &str, what: &str, told: &Value, wanted: f64) -> Result<(), Failed> {
    let told = told.as_f64().unwrap_or(f64::NAN);
    let near = (told - wanted).abs() <= 1e-9 * wanted.abs().max(1e-9);
    if near { Ok(()) } else { Err(format!("{benchmark}: {what} is {told}, not {wanted}").into()) }
}
