//! A calibration as a document.

use duetbench_core::calibrate::{Alarms, BLIND_FROM, Blind, Calibrated, Rate, Sight};

use super::words::{self, blind, bounds, sees, time};
use super::{json, rows};
use crate::calibration::CalibrationReport;
use crate::render::document::{Block, Cells, Document, Line, Table, Title};
use crate::render::format::{self, detectable, duration, many, one_line, share, shortened};
use crate::render::names::Short;

/// The calibration as a document.
pub fn document(report: &CalibrationReport) -> Document {
    let last = legend(report).into_iter().chain(facts(report)).chain(warnings(report)).chain([hint(report)]);
    Document {
        title: Title { command: "duet calibrate", version: report.duet_version.clone(), subject: subject(report) },
        blocks: vec![
            Block::Lines(summary(report).into_iter().map(Line::Item).collect()),
            Block::Table(table(report)),
            Block::Lines(last.collect()),
        ],
        rows: Some(rows::of(report)),
        json: Some(json::json(report)),
        go: None,
    }
}

/// The version that was measured against itself.
fn subject(report: &CalibrationReport) -> String {
    format!("{} against itself", format::version(&report.version))
}

/// The answers in plain words.
fn summary(report: &CalibrationReport) -> Vec<String> {
    let calibration = &report.made.calibration;
    let mut lines: Vec<String> = Vec::new();
    let why = match calibration.known().next() {
        Some(_) => "too short for an interval",
        None => "too few fork pairs came to their end",
    };
    let all = many(calibration.benchmarks.len(), "benchmark", "benchmarks");
    let unknown = calibration.benchmarks.len() - calibration.known().count();
    for (budget_s, seen) in calibration.budgets_s.iter().zip(calibration.suite_sights()) {
        let what = seen.map_or_else(|| format!("nothing: {why}"), |seen| sees(&seen));
        lines.push(format!("with {} per benchmark you will see {what}", time(*budget_s)));
    }
    lines.extend(
        (unknown > 0).then(|| format!("{unknown} of {all} cannot be told: too few fork pairs came to their end")),
    );
    lines.extend(words::alarms(&calibration.alarms.called_changed));
    lines.extend(planted(&calibration.alarms));
    lines.extend(sources(report));
    let blind = calibration.blind().filter(|(_, why)| *why != Blind::TooFewForks).count();
    lines.extend((blind > 0).then(|| {
        format!("{blind} of {all} cannot see anything below {}; the last column says why", share(BLIND_FROM))
    }));
    lines
}

/// Whether planted changes were found.
fn planted(alarms: &Alarms) -> Option<String> {
    let Rate { times, of, .. } = alarms.planted_found;
    let half = alarms.half_found;
    (of > 0).then(|| {
        format!(
            "planted changes: {times} of {of} as large as those that parts can see were found ({}), {} of {} half as large",
            bounds(&alarms.planted_found),
            half.times,
            half.of
        )
    })
}

/// Sources of variance between fork pairs, with their shares.
fn sources(report: &CalibrationReport) -> Option<String> {
    let calibration = &report.made.calibration;
    let shares = calibration.shares()?;
    let layout = calibration.has_layout().then_some(shares.layout);
    let all = [("layout", layout), ("processes", Some(shares.fork)), ("interference", Some(shares.slice))];
    let parts = all.into_iter().filter_map(|(source, of)| Some(format!("{source} ({})", share(of?))));
    let parts = parts.collect::<Vec<_>>().join(", ");
    Some(format!("fork pairs vary by {parts}: median shares of their variance"))
}

/// The benchmarks, each with what it varies by and sees; columns that would be empty are left out.
fn table(report: &CalibrationReport) -> Table {
    let calibration = &report.made.calibration;
    let (layout, blind) = (calibration.has_layout(), calibration.blind().next().is_some());
    let in_time: Vec<String> = calibration.budgets_s.iter().map(|budget_s| format!("in {}", time(*budget_s))).collect();
    let mut headings = vec![("benchmark", Cells::Name)];
    headings.extend(layout.then_some(("layout", Cells::Number)));
    headings.extend([("processes", Cells::Number), ("interference", Cells::Number)]);
    headings.extend(in_time.iter().map(|heading| (heading.as_str(), Cells::Number)));
    headings.extend(blind.then_some(("sees nothing useful because", Cells::Words)));
    let names = Short::of(calibration.benchmarks.iter().map(|b| &b.id));
    let mut table = Table::new(&headings);
    calibration.benchmarks.iter().for_each(|benchmark| table.push(row(benchmark, &names, layout)));
    table
}

fn row(benchmark: &Calibrated, names: &Short, layout: bool) -> Vec<String> {
    let spread = |sd: Option<f64>| sd.map_or_else(String::new, share);
    let sources = benchmark.sources.as_ref();
    let sees = |sight: &Option<Sight>| sight.map_or_else(String::new, |s| detectable(s.minimal_detectable_change));
    let mut row = vec![names.name(&benchmark.id)];
    row.extend(layout.then(|| spread(sources.and_then(|s| s.layout))));
    row.extend([spread(sources.map(|s| s.fork)), spread(sources.map(|s| s.slice))]);
    row.extend(benchmark.sights.iter().map(sees));
    row.push(benchmark.blind.map_or("", blind).to_owned());
    row
}

fn legend(report: &CalibrationReport) -> [Line; 2] {
    let decision = &report.made.calibration.decision;
    let (layout, of) = if report.made.calibration.has_layout() { ("layout, ", "build pairs, ") } else { ("", "") };
    [
        format!(
            "{layout}processes, interference: standard deviation of the change between {of}fork pairs, slice pairs, each beyond what is inside it; 0% is too little to tell"
        ),
        format!(
            "in …: smallest true change that is called slower or faster {} of the time after measuring so long, {} confident; a regression exceeds the threshold as well",
            share(decision.power),
            share(1.0 - decision.alpha)
        ),
    ]
    .map(|sentence| Line::Small("", sentence))
}

fn facts(report: &CalibrationReport) -> [Line; 2] {
    let made = &report.made;
    let machine: Vec<String> =
        made.machine.facts().map(|(fact, value)| format!("{fact} {}", one_line(value))).collect();
    let (name, day, db) = (one_line(&made.run), one_line(&made.made), &report.store_typed);
    let measured = duration(report.measured_s);
    let run = format!("{name}, {day}, measured {measured}; `duet show {name}{db}` prints its report");
    [Line::Small("machine", machine.join(", ")), Line::Small("run", run)]
}

fn warnings(report: &CalibrationReport) -> impl Iterator<Item = Line> {
    report.failed.iter().map(|(id, reason)| Line::warning(format!("{id} failed: {}", shortened(&one_line(reason)))))
}

/// The next command.
fn hint(report: &CalibrationReport) -> Line {
    let (threshold, db) = (share(report.made.calibration.decision.threshold), &report.store_typed);
    Line::hint(format!("`duet calibrate --see {threshold}{db}` says what it takes to see a change of {threshold}"))
}
