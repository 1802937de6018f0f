//! hyperfine's JSON (`--export-json`): each command with the time of every run, which is a process.
//!
//! Memory stands beside the times, run by run. The other fields (mean, spread, mean CPU times) are computed from the times or are means. A
//! recording holds nothing else that hyperfine knows (CPU times, memory, exit codes); those keys are not written.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::recording::{Better, Cost, Grid, Level, Recorded};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{FormatError, Wrong, wrong_json};
use crate::reading::cells::{self, Outline, cells_of};
use crate::reading::keys::Known;
use crate::reading::names::unique;
use crate::reading::{Contents, LeftOut, Metric, unit};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::words::listed;
use crate::writing::figures::Figures;
use crate::writing::fit::{Fitted, Frame, Units, fit, seconds};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "hyperfine",
    about: "hyperfine's JSON",
    reader: Some(Reader {
        more: Some(More::Once { command: "hyperfine --runs 10 --export-json base.json COMMAND", ending: ".json" }),
        ..Reader::of(
            "JSON of hyperfine (`--export-json`)",
            Sign::Keys(Known { of_file: &["results"], of_benchmark: &[] }),
            parse,
        )
    }),
    writer: Some(Writer::of(write)),
};

const LEVELS: [Level; 1] = [Level::Fork];

#[derive(Deserialize)]
struct File {
    results: Vec<Entry>,
}

/// One command with one combination of parameters.
#[derive(Deserialize)]
struct Entry {
    command: String,
    times: Option<Vec<Option<f64>>>,
    /// Absent before hyperfine 1.11; a code is absent where a signal ended the process.
    exit_codes: Option<Vec<Option<i32>>>,
    /// Since hyperfine 1.19, by run.
    memory_usage_byte: Option<Vec<f64>>,
    parameters: Option<BTreeMap<String, String>>,
}

/// Reads such a file.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| wrong_json(&e))?;
    let unit = unit::of("s/op");
    let mut left_out = LeftOut::default();
    let (mut outlines, mut values) = (Vec::new(), Vec::new());
    let (mut failed, mut unusual, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    let spellings: [fn(&Entry) -> String; 2] = [|entry: &Entry| entry.command.clone(), Entry::with_parameters];
    for (entry, benchmark) in file.results.iter().zip(unique(&file.results, &spellings)?) {
        let times = entry.times.as_ref().ok_or_else(|| Wrong::in_file(format!("has no `times` for `{benchmark}`")))?;
        if cells_of(&[times.len()]).is_none() {
            return Err(Wrong::in_file(format!("has more runs of `{benchmark}` than can be kept")));
        }
        let judged = Judged::of(entry);
        beside.extend(entry.memory(&benchmark, &judged));
        unusual.extend(judged.usual.filter(|code| *code != 0).map(|code| (benchmark.clone(), format!(" ({code})"))));
        let (mut failures, mut kept) = (0_usize, Vec::new());
        for (run, time) in times.iter().enumerate() {
            if !judged.succeeded(run) {
                failures += 1;
            } else if let Some(time) = left_out.checked(time.unwrap_or(f64::NAN) * unit.factor, 0) {
                kept.push((run, time));
            }
        }
        if failures > 0 {
            failed.push((benchmark.clone(), format!(" ({failures} of {})", times.len())));
        }
        let number = u32::try_from(outlines.len()).unwrap_or(u32::MAX);
        values.extend(kept.iter().map(|(run, time)| (number, u32::try_from(*run).unwrap_or(u32::MAX), *time)));
        let sum_ns: f64 = kept.iter().map(|(_, time)| time).sum();
        let cost = Cost { innermost_s: sum_ns * 1e-9 / kept.len().max(1) as f64, overhead_s: vec![0.0] };
        outlines.push(Outline {
            benchmark,
            unit: unit.clone(),
            cost,
            shape: vec![times.len()],
            harness_warm_up: None,
            terms: judged.terms().into_iter().chain(entry.parameters()).collect(),
        });
    }
    let mut recording = cells::recording(&LEVELS, outlines, &values)?;
    recording.warnings.extend(listed(failed.into_iter(), "runs that failed were left out"));
    recording.warnings.extend(listed(unusual.into_iter(), "every run ended with the same exit code other than 0"));
    recording.warnings.extend(left_out.warning());
    Ok(Contents { recording, beside, context: Vec::new() })
}

impl Entry {
    /// Peak memory of its runs, bytes; runs that failed are left out.
    fn memory(&self, benchmark: &str, judged: &Judged<'_>) -> Option<Metric> {
        let good = |(run, bytes): (usize, &f64)| if judged.succeeded(run) && *bytes >= 0.0 { *bytes } else { f64::NAN };
        let values: Vec<f64> = self.memory_usage_byte.as_ref()?.iter().enumerate().map(good).collect();
        let recorded = Recorded {
            benchmark: benchmark.to_owned(),
            unit: "B".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 0.0, overhead_s: vec![0.0] },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(&[values.len()], values)?,
        };
        Some(Metric { name: "memory_usage_byte".into(), recorded })
    }
}

/// Exit codes of a command's runs, which decide the runs that count.
struct Judged<'a> {
    codes: &'a [Option<i32>],
    /// The code that all runs ended with.
    usual: Option<i32>,
}

impl Judged<'_> {
    /// A program that always ends with the same code may well mean it (`grep`); one that sometimes does did not do its work.
    fn of(entry: &Entry) -> Judged<'_> {
        let codes = entry.exit_codes.as_deref().unwrap_or_default();
        let first = codes.first().copied().flatten();
        Judged { codes, usual: first.filter(|first| codes.iter().all(|code| *code == Some(*first))) }
    }

    /// The code of the runs that count, where codes are known.
    fn terms(&self) -> Vec<(&'static str, String)> {
        let code = (!self.codes.is_empty()).then(|| self.usual.unwrap_or(0));
        code.map(|code| ("exit code", code.to_string())).into_iter().collect()
    }

    fn succeeded(&self, run: usize) -> bool {
        self.usual.is_some() || self.codes.get(run).is_none_or(|code| *code == Some(0))
    }
}

impl Entry {
    /// The command with its parameters.
    fn with_parameters(&self) -> String {
        self.parameters().map_or_else(|| self.command.clone(), |(_, values)| format!("{}:{values}", self.command))
    }

    /// Its parameters, where it has some: another value is another benchmark, also under one name.
    fn parameters(&self) -> Option<(&'static str, String)> {
        let values: Vec<String> =
            self.parameters.iter().flatten().map(|(name, value)| format!("{name}={value}")).collect();
        (!values.is_empty()).then(|| ("list of parameters", values.join(",")))
    }
}

const FRAME: Frame = Frame { title: "hyperfine's JSON", levels: &[Level::Fork], units: Units::Times, gaps: true };

/// The recording as such a file.
fn write(recording: &Recording, _: &About) -> Result<Written, FormatError> {
    let (fitted, lost) = fit(recording, &FRAME)?;
    let results: Vec<Value> = fitted.iter().filter_map(result).collect();
    Written::json(&json!({ "results": results }), lost)
}

/// A command; absent without a value.
fn result(benchmark: &Fitted<'_>) -> Option<Value> {
    let known: Vec<f64> = benchmark.values().into_iter().map(seconds).collect();
    let figures = Figures::of(&known)?;
    let times: Vec<Option<f64>> = benchmark.cells.iter().map(|v| v.is_finite().then(|| seconds(*v))).collect();
    Some(json!({
        "command": benchmark.name(),
        "mean": figures.mean,
        "stddev": figures.sd,
        "median": figures.quantile(0.5),
        "min": figures.min(),
        "max": figures.max(),
        "times": times,
    }))
}
