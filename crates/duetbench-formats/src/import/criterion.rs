//! criterion's files: each benchmark has a folder, in it one for every baseline, in that `sample.json` with the times of all samples, which are of
//! one process. `estimates.json` beside it is computed from them, and refused.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::sheet::{ONE_PROCESS, Series, Sheet};
use super::{Imported, Wrong, unit, wrong_json};
use crate::bounded;
use crate::error::FormatError;

/// The file that holds the values.
const SAMPLE: &str = "sample.json";
/// The file that holds the name.
const BENCHMARK: &str = "benchmark.json";
/// The folder with what was measured last.
const NEWEST: &str = "new";
/// Folders inside each other: criterion makes four at most, and a workspace adds some.
const DEPTH_MAX: usize = 8;

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Name {
    full_id: String,
}

/// Reads a `sample.json` by itself, which does not say of what it is.
pub(super) fn parse(bytes: &[u8]) -> Result<Imported, Wrong> {
    let sheet = Sheet { judged: vec![series(bytes, "sample".to_owned())?], ..Sheet::default() };
    sheet.imported(&ONE_PROCESS)
}

/// Says what to give instead of a summary.
pub(super) fn refused() -> Wrong {
    Wrong::in_file("holds criterion's estimates, computed from values that are not in it: give `sample.json` beside it")
}

/// The values of a `sample.json`: each is the mean over the iterations of a sample, of which linear sampling makes more and more.
fn series(bytes: &[u8], benchmark: String) -> Result<Series, Wrong> {
    let sample: Sample = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let (iters, times) = (sample.iters.len(), sample.times.len());
    if iters != times {
        return Err(Wrong::in_file(format!("has {iters} `iters` and {times} `times`: expected as many")));
    }
    let mut series = Series::new(benchmark, unit::of("ns/op"));
    series.cost.innermost_s = sample.times.iter().sum::<f64>() * 1e-9 / times.max(1) as f64;
    series.forks = vec![sample.times.iter().zip(&sample.iters).map(|(time, iters)| time / iters).collect()];
    Ok(series)
}

/// Whether this is read as files of criterion: a folder, a baseline of one, or a `sample.json`.
pub(super) fn is(path: &Path) -> bool {
    path.is_dir() || whole(path).is_some() || (path.is_file() && path.file_name().is_some_and(|name| name == SAMPLE))
}

/// A folder with benchmarks and the baseline to take: `target/criterion`, or `target/criterion/main`, where no benchmark is called `main`.
fn whole(path: &Path) -> Option<(&Path, &str)> {
    if path.is_dir() {
        return Some((path, NEWEST));
    }
    let parent = path.parent().filter(|parent| parent.is_dir() && !path.exists())?;
    let baseline = path.file_name()?.to_str()?;
    let named = |found: &PathBuf| found.file_name().is_some_and(|name| name == baseline);
    samples(parent).ok()?.iter().any(named).then_some((parent, baseline))
}

/// Reads a folder of criterion's, a baseline of one, or a `sample.json` with the name that stands beside it.
pub(super) fn read(path: &Path) -> Result<Imported, FormatError> {
    let wrong = |path: &Path, wrong| FormatError::Content { path: path.to_owned(), wrong, hint: None };
    let (found, root) = match whole(path) {
        Some((dir, _)) if dir.join(SAMPLE).is_file() => (vec![dir.to_owned()], dir),
        Some((dir, baseline)) => {
            let all = samples(dir)?.into_iter();
            (all.filter(|found| found.file_name().is_some_and(|name| name == baseline)).collect(), dir)
        }
        None => (path.parent().map(Path::to_owned).into_iter().collect(), path),
    };
    if found.is_empty() {
        let baselines = "holds no `new/sample.json` of criterion: name a baseline as in `target/criterion/main`";
        return Err(wrong(path, Wrong::in_file(baselines)));
    }
    let mut sheet = Sheet::default();
    for folder in found {
        let file = folder.join(SAMPLE);
        let bytes = bounded::read(&file, bounded::RESULTS_MAX).map_err(|e| FormatError::file("read", &file, e))?;
        sheet.judged.push(series(&bytes, name(&folder, root)).map_err(|w| wrong(&file, w))?);
    }
    sheet.imported(&ONE_PROCESS).map_err(|w| wrong(path, w))
}

/// The name of the benchmark in a folder: what criterion wrote, or where it lies.
fn name(folder: &Path, root: &Path) -> String {
    let written = bounded::read(&folder.join(BENCHMARK), bounded::TEXT_MAX).ok();
    let written = written.and_then(|bytes| serde_json::from_slice::<Name>(&bytes).ok()).map(|name| name.full_id);
    written.unwrap_or_else(|| {
        let above = folder.parent().unwrap_or(folder);
        let inside = above.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty());
        inside.map_or_else(|| above.file_name().unwrap_or_default(), Path::as_os_str).to_string_lossy().into_owned()
    })
}

/// All folders below this one that hold a sample, in the order of their names.
fn samples(dir: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let mut found = Vec::new();
    let mut open = vec![(dir.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| FormatError::file("read", &folder, e))?;
        for entry in entries {
            let entry = entry.map_err(|e| FormatError::file("read", &folder, e))?;
            // Links are not followed: they may lead back.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && depth < DEPTH_MAX {
                open.push((entry.path(), depth + 1));
            } else if entry.file_name() == SAMPLE {
                found.push(folder.clone());
            }
        }
    }
    found.sort();
    Ok(found)
}
