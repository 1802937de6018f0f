//! pytest-benchmark's JSON (`--benchmark-json`, `--benchmark-save` with `--benchmark-save-data`): the rounds of every benchmark, all of one
//! process. A round's value is its time by its iterations.

use serde::Deserialize;

use super::sheet::{ONE_PROCESS, Series, Sheet};
use super::{Imported, Wrong, flattened, unit, wrong_json};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    machine_info: serde_json::Value,
    #[serde(default)]
    commit_info: serde_json::Value,
    #[serde(default)]
    datetime: Option<String>,
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    data: Option<Vec<f64>>,
    /// Iterations of each round.
    #[serde(default)]
    iterations: Option<f64>,
}

/// Reads such a file.
pub(super) fn parse(bytes: &[u8]) -> Result<Imported, Wrong> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let mut sheet = Sheet::default();
    for Entry { fullname, stats } in file.benchmarks {
        let data = stats.data.ok_or_else(|| {
            let what = format!("has no `data` for `{fullname}`: save with `--benchmark-save-data`");
            Wrong::in_file(what)
        })?;
        let mut series = Series::new(fullname, unit::of("s/op"));
        series.forks = vec![data];
        series.cost.innermost_s = series.mean() * stats.iterations.unwrap_or(1.0);
        sheet.judged.push(series);
    }
    sheet.context = file.datetime.into_iter().map(|day| ("datetime".to_owned(), day)).collect();
    sheet.context.extend(flattened(&file.machine_info));
    sheet.context.extend(flattened(&file.commit_info).into_iter().map(|(key, value)| (format!("commit.{key}"), value)));
    sheet.imported(&ONE_PROCESS)
}
