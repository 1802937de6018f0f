//! criterion's files, as they lie below `target/criterion`: for each benchmark a folder with `new/sample.json` and what criterion makes of it.
//!
//! criterion compares a run with what lies in `base`, so `mv new base` (or `--baseline new`) compares the next run with this one. Its
//! estimates come with intervals of resampled iterations; here they are those of the normal distribution, and like criterion's they
//! speak of iterations of one process.

use std::collections::HashSet;

use duetbench_core::Recording;
use duetbench_core::foreign::in_json;
use duetbench_core::recording::Level;
use duetbench_core::stats;
use serde::Serialize;

use super::figures::Figures;
use super::fit::{Fitted, Frame, Units, fit, invocations};
use super::{Content, Written, nothing};
use crate::error::FormatError;

const FRAME: Frame =
    Frame { title: "criterion's folder", levels: &[Level::Iteration], units: Units::Times, gaps: false };
/// criterion cuts names of folders there.
const NAME_LENGTH_MAX: usize = 64;
/// Factor from the median absolute deviation of normal values to their standard deviation.
const MAD_TO_SD: f64 = 1.4826;
/// Half of the width that holds 95 % of the standard normal distribution.
const NORMAL_95: f64 = 1.959_964;

#[derive(Serialize)]
struct Sample {
    sampling_mode: &'static str,
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    group_id: &'a str,
    function_id: Option<&'a str>,
    value_str: Option<&'a str>,
    throughput: Option<()>,
    full_id: &'a str,
    directory_name: &'a str,
    title: &'a str,
}

#[derive(Serialize)]
struct Estimates {
    mean: Estimate,
    median: Estimate,
    median_abs_dev: Estimate,
    slope: Option<Estimate>,
    std_dev: Estimate,
}

#[derive(Serialize)]
struct Estimate {
    confidence_interval: Interval,
    point_estimate: f64,
    standard_error: f64,
}

#[derive(Serialize)]
struct Interval {
    confidence_level: f64,
    lower_bound: f64,
    upper_bound: f64,
}

/// The recording as such a folder.
pub(super) fn write(recording: &Recording) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let (mut files, mut folders) = (Vec::new(), HashSet::new());
    for benchmark in &fitted {
        let folder = folder(benchmark.name(), &mut folders);
        for (name, json) in written(benchmark, &folder)? {
            files.push((format!("{folder}/new/{name}"), json));
        }
    }
    Ok(Written { content: Content::Folder(files), lost })
}

/// The files of one benchmark.
fn written(benchmark: &Fitted<'_>, folder: &str) -> Result<Vec<(&'static str, Vec<u8>)>, FormatError> {
    let sample = Sample::of(benchmark);
    let values = benchmark.values();
    let mut files =
        vec![("benchmark.json", json(&Benchmark::of(benchmark.name(), folder))?), ("sample.json", json(&sample)?)];
    if let Some(figures) = Figures::of(&values).filter(|figures| figures.count() > 1) {
        files.push(("estimates.json", json(&Estimates::of(&figures))?));
        let (low, high) = (figures.quantile(0.25), figures.quantile(0.75));
        let fence = |times: f64| (high - low) * times;
        files.push(("tukey.json", json(&[low - fence(3.0), low - fence(1.5), high + fence(1.5), high + fence(3.0)])?));
    }
    Ok(files)
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, FormatError> {
    let json = serde_json::to_string(value).map_err(|e| nothing(&e.to_string()))?;
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

impl<'a> Benchmark<'a> {
    /// Group, function and value are put together with slashes.
    fn of(full: &'a str, folder: &'a str) -> Benchmark<'a> {
        let mut parts = full.splitn(3, '/');
        let group_id = parts.next().unwrap_or(full);
        let (function_id, value_str) = (parts.next(), parts.next());
        Benchmark {
            group_id,
            function_id,
            value_str,
            throughput: None,
            full_id: full,
            directory_name: folder,
            title: full,
        }
    }
}

impl Estimates {
    /// Standard errors are those of the normal distribution: of the median √(π/2) times the mean's, of the standard deviation σ/√(2(n − 1)),
    /// of the median absolute deviation 1.1664 σ/√n (Hampel, Journal of the American Statistical Association 69, 1974).
    fn of(figures: &Figures) -> Estimates {
        let n = figures.count() as f64;
        let sd = figures.sd.unwrap_or(0.0);
        let median = figures.quantile(0.5);
        let deviations: Vec<f64> = figures.ascending.iter().map(|v| (v - median).abs()).collect();
        let mad = MAD_TO_SD * stats::median(&deviations).unwrap_or(0.0);
        let error = sd / n.sqrt();
        Estimates {
            mean: Estimate::of(figures.mean, error),
            median: Estimate::of(median, (std::f64::consts::PI / 2.0).sqrt() * error),
            median_abs_dev: Estimate::of(mad, 1.1664 * error),
            slope: None,
            std_dev: Estimate::of(sd, sd / (2.0 * (n - 1.0)).sqrt()),
        }
    }
}

impl Estimate {
    fn of(point_estimate: f64, standard_error: f64) -> Estimate {
        let half = NORMAL_95 * standard_error;
        let (lower_bound, upper_bound) = (point_estimate - half, point_estimate + half);
        let confidence_interval = Interval { confidence_level: 0.95, lower_bound, upper_bound };
        Estimate { confidence_interval, point_estimate, standard_error }
    }
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
        let of = Estimates::of(&figures);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} is not {b}");
        near(of.mean.point_estimate, 4.0);
        near(of.std_dev.point_estimate, 3.5355);
        near(of.median_abs_dev.point_estimate, 1.4826);
        near(of.mean.standard_error, 1.5811);
        near(of.mean.confidence_interval.upper_bound, 7.0989);
    }
}
