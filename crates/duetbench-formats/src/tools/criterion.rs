//! criterion's files, as they lie below `target/criterion`: each benchmark has a folder, in it one for every baseline, in that `sample.json` with
//! the times of all samples, which are of one process. `estimates.json` beside it is computed from them, and refused.
//!
//! criterion compares a run with what lies in `base`, and critcmp shows all baselines but `new`: so both are written, as criterion leaves
//! them; of a comparison `base` has the base's values, of one version both are the same. Its estimates come with intervals of resampled
//! iterations; those that are written are of the normal distribution, and like criterion's they speak of iterations of one process.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::Recording;
use duetbench_core::foreign::in_json;
use duetbench_core::recording::Level;
use duetbench_core::stats;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bounded;
use crate::error::{FormatError, Wrong, wrong_json};
use crate::reading::keys::{self, Known};
use crate::reading::sheet::{ONE_PROCESS, PROCESSES, Series, Sheet};
use crate::reading::{Contents, unit};
use crate::tool::{Folder, More, Reader, Sign, Tool, Writer};
use crate::writing::figures::Figures;
use crate::writing::fit::{Fitted, Frame, Units, fit, invocations};
use crate::writing::{About, Content, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "criterion",
    about: "criterion's folder; needs `--output DIR`",
    reader: Some(Reader {
        folder: Some(Folder { is, read }),
        more: Some(More::Runs { command: "CRITERION_HOME=$PWD/base$i cargo bench", ending: "" }),
        ..Reader::of("a folder of criterion's", Sign::Keys(Known { of_file: KEYS, of_benchmark: &[] }), parse)
    }),
    writer: Some(Writer { both: Some(write_both), pairs: true, ..Writer::of(write) }),
};

/// Keys of criterion's files: first those of samples.
const KEYS: &[&str] = &["sampling_mode", "iters", "times", "mean", "median", "median_abs_dev", "slope", "std_dev"];
const OF_SAMPLES: &[&str] = KEYS.split_at(3).0;
const OF_ESTIMATES: &[&str] = KEYS.split_at(3).1;
/// The file that holds the values.
const SAMPLE: &str = "sample.json";
/// The file that holds the name.
const BENCHMARK: &str = "benchmark.json";
/// The folder with what was measured last.
const NEWEST: &str = "new";
/// The folder with what the next run is compared with.
const BASE: &str = "base";
/// Endings of files, which no baseline is.
const ENDINGS: [&str; 5] = ["json", "csv", "txt", "gz", "parquet"];
/// Folders inside each other: criterion makes four at most, and a workspace adds some.
const DEPTH_MAX: usize = 8;

#[derive(Serialize, Deserialize)]
struct Sample {
    #[serde(skip_deserializing)]
    sampling_mode: &'static str,
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Name {
    full_id: String,
}

/// Reads a `sample.json` by itself, which does not say of what it is.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let of = |of_file| Known { of_file, of_benchmark: &[] };
    if keys::told(bytes, &[(false, of(OF_SAMPLES)), (true, of(OF_ESTIMATES))]) == Some(true) {
        return Err(refused());
    }
    let sheet = Sheet { judged: vec![series(bytes, "sample".to_owned())?], ..Sheet::default() };
    sheet.contents(&ONE_PROCESS)
}

/// Says what to give instead of a summary.
fn refused() -> Wrong {
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
fn is(path: &Path) -> bool {
    path.is_dir() || whole(path).is_some() || (path.is_file() && path.file_name().is_some_and(|name| name == SAMPLE))
}

/// A folder with benchmarks and the baseline to take: `target/criterion`, or `target/criterion/main`, where no benchmark is called `main`.
fn whole(path: &Path) -> Option<(&Path, &str)> {
    if path.is_dir() {
        return Some((path, NEWEST));
    }
    let parent = path.parent().filter(|parent| parent.is_dir() && !path.exists())?;
    let baseline = path.file_name()?.to_str()?;
    // A name that was mistyped, for which no folder need be gone through.
    if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
        return None;
    }
    let named = |found: &PathBuf| found.file_name().is_some_and(|name| name == baseline);
    samples(parent).ok()?.iter().any(named).then_some((parent, baseline))
}

/// Reads a folder of criterion's, a baseline of one, or a `sample.json` with the name that stands beside it.
fn read(path: &Path) -> Result<Contents, FormatError> {
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
    let (mut all, mut processes) = (Vec::new(), Vec::new());
    for folder in found {
        let file = folder.join(SAMPLE);
        let bytes = bounded::read(&file, bounded::RESULTS_MAX).map_err(|e| FormatError::file("read", &file, e))?;
        all.push(series(&bytes, name(&folder, root)).map_err(|w| wrong(&file, w))?);
        let inside = folder.strip_prefix(root).ok().and_then(|inside| inside.components().next());
        processes.push(inside.map(|first| first.as_os_str().to_owned()));
    }
    several(all, &processes).map_err(|w| wrong(path, w))
}

/// The contents of a folder, by the folders right below it: where benchmarks come again in others, each of these is of a process.
fn several(all: Vec<Series>, folders: &[Option<OsString>]) -> Result<Contents, Wrong> {
    let mut sheet = Sheet::default();
    let names: HashSet<&str> = all.iter().map(|series| series.benchmark.as_str()).collect();
    if names.len() == all.len() {
        sheet.judged = all;
        return sheet.contents(&ONE_PROCESS);
    }
    let processes: Vec<_> = folders.iter().collect::<BTreeSet<_>>().into_iter().collect();
    for (mut series, folder) in all.into_iter().zip(folders) {
        let process = processes.iter().position(|process| *process == folder).unwrap_or(0);
        let values = std::mem::take(&mut series.forks).concat();
        let known = sheet.judged.iter().position(|known| known.benchmark == series.benchmark);
        let at = known.unwrap_or_else(|| {
            series.forks.resize(processes.len(), Vec::new());
            sheet.judged.push(series);
            sheet.judged.len() - 1
        });
        let known = &mut sheet.judged[at];
        if !known.forks[process].is_empty() {
            return Err(Wrong::in_file(format!("holds `{}` more than once", known.benchmark)));
        }
        known.forks[process] = values;
    }
    sheet.contents(&PROCESSES)
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

const FRAME: Frame =
    Frame { title: "criterion's folder", levels: &[Level::Iteration], units: Units::Times, gaps: false };
/// criterion cuts names of folders there.
const NAME_LENGTH_MAX: usize = 64;
/// Factor from the median absolute deviation of normal values to their standard deviation.
const MAD_TO_SD: f64 = 1.4826;
/// Half of the width that holds 95 % of the standard normal distribution.
const NORMAL_95: f64 = 1.959_964;

/// The recording as such a folder, which the next run is compared with.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    write_both([recording, recording], about)
}

/// Two recordings as such a folder: the first as what was compared with, the second as what was measured last.
fn write_both(sides: [&Recording; 2], _: &About) -> Result<Written, FormatError> {
    let [(base, mut lost), (head, of_head)] = [fit(sides[0], &FRAME)?, fit(sides[1], &FRAME)?];
    let new: Vec<String> = of_head.into_iter().filter(|said| !lost.contains(said)).collect();
    lost.extend(new);
    let (mut files, mut folders, mut known) = (Vec::new(), HashSet::new(), HashMap::new());
    for (side, fitted) in [(BASE, &base), (NEWEST, &head)] {
        for benchmark in fitted {
            let name = benchmark.name();
            let folder: &String = known.entry(name).or_insert_with(|| folder(name, &mut folders));
            let written = written(benchmark, folder)?.into_iter();
            files.extend(written.map(|(name, json)| (format!("{folder}/{side}/{name}"), json)));
        }
    }
    Ok(Written { content: Content::Folder(files), lost })
}

/// The files of one benchmark.
fn written(benchmark: &Fitted<'_>, folder: &str) -> Result<Vec<(&'static str, Vec<u8>)>, FormatError> {
    let sample = Sample::of(benchmark);
    let values = benchmark.values();
    let mut files =
        vec![("benchmark.json", bytes(&named(benchmark.name(), folder))?), ("sample.json", bytes(&sample)?)];
    if let Some(figures) = Figures::of(&values).filter(|figures| figures.count() > 1) {
        files.push(("estimates.json", bytes(&estimates(&figures))?));
        let (low, high) = (figures.quantile(0.25), figures.quantile(0.75));
        let fence = |times: f64| (high - low) * times;
        files.push(("tukey.json", bytes(&[low - fence(3.0), low - fence(1.5), high + fence(1.5), high + fence(3.0)])?));
    }
    Ok(files)
}

fn bytes(value: &impl Serialize) -> Result<Vec<u8>, FormatError> {
    let json = serde_json::to_string(value).map_err(|e| FormatError::nothing(e.to_string()))?;
    Ok(in_json(&json).into_owned().into_bytes())
}

impl Sample {
    fn of(benchmark: &Fitted<'_>) -> Sample {
        let values = benchmark.values();
        // A power of two, so that time by iterations gives back the very value.
        let power = |value: &f64| (invocations(benchmark.recorded, *value) as f64).log2().floor().exp2();
        let iters: Vec<f64> = values.iter().map(power).collect();
        let times = values.iter().zip(&iters).map(|(value, iters)| value * iters).collect();
        Sample { sampling_mode: "Flat", iters, times }
    }
}

/// The names of a benchmark: group, function and value are put together with slashes.
fn named(full: &str, folder: &str) -> Value {
    let mut parts = full.splitn(3, '/');
    json!({
        "group_id": parts.next().unwrap_or(full),
        "function_id": parts.next(),
        "value_str": parts.next(),
        "throughput": null,
        "full_id": full,
        "directory_name": folder,
        "title": full,
    })
}

/// Standard errors are those of the normal distribution: of the median √(π/2) times the mean's, of the standard deviation σ/√(2(n − 1)),
/// of the median absolute deviation 1.1664 σ/√n (Hampel, Journal of the American Statistical Association 69, 1974).
fn estimates(figures: &Figures) -> Value {
    let n = figures.count() as f64;
    let sd = figures.sd.unwrap_or(0.0);
    let median = figures.quantile(0.5);
    let deviations: Vec<f64> = figures.ascending.iter().map(|v| (v - median).abs()).collect();
    let mad = MAD_TO_SD * stats::median(&deviations).unwrap_or(0.0);
    let error = sd / n.sqrt();
    json!({
        "mean": estimate(figures.mean, error),
        "median": estimate(median, (std::f64::consts::PI / 2.0).sqrt() * error),
        "median_abs_dev": estimate(mad, 1.1664 * error),
        "slope": null,
        "std_dev": estimate(sd, sd / (2.0 * (n - 1.0)).sqrt()),
    })
}

fn estimate(point: f64, error: f64) -> Value {
    let half = NORMAL_95 * error;
    let interval = json!({ "confidence_level": 0.95, "lower_bound": point - half, "upper_bound": point + half });
    json!({ "confidence_interval": interval, "point_estimate": point, "standard_error": error })
}

/// A benchmark's folder as criterion makes it: one for each of group, function and value, without signs that a file system may mind, not
/// too long, and none twice.
fn folder(name: &str, taken: &mut HashSet<String>) -> String {
    let plain = name.splitn(3, '/').map(part).collect::<Vec<_>>().join("/");
    let numbered = (1..).map(|n| if n == 1 { plain.clone() } else { format!("{plain}_{n}") });
    let free = numbered.into_iter().find(|folder| !taken.contains(&folder.to_lowercase())).unwrap_or(plain);
    taken.insert(free.to_lowercase());
    free
}

fn part(name: &str) -> String {
    let clean = |c: char| if c.is_control() || "?\"/\\*<>:|^".contains(c) { '_' } else { c };
    let mut plain: String = name.chars().map(clean).collect();
    while plain.len() > NAME_LENGTH_MAX {
        plain.pop();
    }
    // Neither the folder itself nor the one above.
    if plain.trim_matches(['.', ' ']).is_empty() { "_".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_safe_and_different() {
        let mut taken = HashSet::new();
        let mut of = |name: &str| folder(name, &mut taken);
        assert_eq!([of("a/b:c"), of("a/b_c"), of("A/B*c"), of("..")], ["a/b_c", "a/b_c_2", "A/B_c_3", "_"]);
        assert_eq!(of("a/b/c/d/../e"), "a/b/c_d_.._e");
        assert_eq!(of(&"ä".repeat(100)).len(), 64);
    }

    #[test]
    fn estimates_are_those_of_the_normal_distribution() {
        let figures = Figures::of(&[1.0, 2.0, 3.0, 4.0, 10.0]).unwrap();
        let of = estimates(&figures);
        let near = |at: &str, b: f64| {
            let a = of.pointer(at).unwrap().as_f64().unwrap();
            assert!((a - b).abs() < 1e-3, "{at}: {a} is not {b}");
        };
        near("/mean/point_estimate", 4.0);
        near("/std_dev/point_estimate", 3.5355);
        near("/median_abs_dev/point_estimate", 1.4826);
        near("/mean/standard_error", 1.5811);
        near("/mean/confidence_interval/upper_bound", 7.0989);
    }
}
