//! The forms for people: text and Markdown.

use duetbench_core::calibrate::{Alarms, BLIND_FROM, Calibrated, Calibration, Rate, Sight};

use super::words::{self, blind, bounds, sees, time};
use crate::calibration::CalibrationReport;
use crate::render::columns::{Column, Columns};
use crate::render::format::{duration, many, named, one_line, packages, share};
use crate::render::markdown::prose;
use crate::render::palette::{Palette, paint};

/// The calibration for a terminal or a log.
#[must_use]
pub fn text(report: &CalibrationReport, palette: &Palette) -> String {
    let title = format!("duet {}: {}", report.duet_version, one_line(&subject(report)));
    let mut out = format!("{}\n\n", paint(palette.strong, &title));
    for line in summary(report) {
        out += &format!("{line}\n");
    }
    out += &format!("\n{}\n", table(report).text());
    for line in legend(report) {
        out += &format!("{}\n", paint(palette.faint, &line));
    }
    for (label, fact) in facts(report) {
        out += &format!("{} {fact}\n", paint(palette.faint, label));
    }
    for warning in warnings(report) {
        out += &format!("{} {warning}\n", paint(palette.open, "warning:"));
    }
    out + &format!("{} {}\n", paint(palette.hint, "hint:"), hint(report))
}

/// The calibration as Markdown.
#[must_use]
pub fn markdown(report: &CalibrationReport) -> String {
    let mut out = format!("### duet calibrate: {}\n\n", prose(&subject(report)));
    for line in summary(report) {
        out += &format!("- {}\n", prose(&line));
    }
    out += &format!("\n{}\n", table(report).markdown());
    for warning in warnings(report) {
        out += &format!("**Warning:** {}\n\n", prose(&warning));
    }
    out += &format!("**Hint:** {}\n\n", prose(&hint(report)));
    let small = legend(report).into_iter().chain(facts(report).into_iter().map(|(_, fact)| fact));
    out + &format!("<sub>{}</sub>\n", small.map(|line| prose(&line)).collect::<Vec<_>>().join("<br>"))
}

/// The version that was measured against itself.
fn subject(report: &CalibrationReport) -> String {
    let (requested, resolved) = (&report.version.requested, &report.version.resolved);
    let version = if resolved.starts_with(requested) { resolved.clone() } else { format!("{requested} ({resolved})") };
    format!("{version} against itself")
}

/// The answers in plain words.
fn summary(report: &CalibrationReport) -> Vec<String> {
    let calibration = &report.made.calibration;
    let mut lines: Vec<String> = Vec::new();
    for (budget_s, seen) in calibration.budgets_s.iter().zip(calibration.suite_sights()) {
        let what = seen.map_or_else(|| "nothing: too short for an interval".to_owned(), |seen| sees(&seen));
        lines.push(format!("with {} per benchmark you will see {what}", time(*budget_s)));
    }
    lines.extend(words::alarms(&calibration.alarms.called_changed));
    lines.extend(planted(&calibration.alarms));
    lines.extend(sources(report));
    let (blind, all) = (calibration.blind().count(), calibration.benchmarks.len());
    let all = many(all, "benchmark", "benchmarks");
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
    let layout = has_layout(calibration).then_some(shares.layout);
    let all = [("layout", layout), ("processes", Some(shares.fork)), ("interference", Some(shares.slice))];
    let parts = all.into_iter().filter_map(|(source, of)| Some(format!("{source} ({})", share(of?))));
    let parts = parts.collect::<Vec<_>>().join(", ");
    Some(format!("fork pairs vary by {parts}: median shares of their variance"))
}

/// Whether layout was looked for.
pub(super) fn has_layout(calibration: &Calibration) -> bool {
    calibration.benchmarks.iter().filter_map(|b| b.sources.as_ref()).any(|sources| sources.layout.is_some())
}

/// The benchmarks, each with what it varies by and sees; columns that would be empty are left out.
fn table(report: &CalibrationReport) -> Columns {
    let calibration = &report.made.calibration;
    let (layout, blind) = (has_layout(calibration), calibration.blind().next().is_some());
    let in_time: Vec<String> = calibration.budgets_s.iter().map(|budget_s| format!("in {}", time(*budget_s))).collect();
    let mut headings = vec![("benchmark", Column::Name)];
    headings.extend(layout.then_some(("layout", Column::Number)));
    headings.extend([("processes", Column::Number), ("interference", Column::Number)]);
    headings.extend(in_time.iter().map(|heading| (heading.as_str(), Column::Number)));
    headings.extend(blind.then_some(("sees nothing useful because", Column::Words)));
    let several = packages(calibration.benchmarks.iter().map(|b| &b.id)) > 1;
    let mut table = Columns::new(&headings);
    calibration.benchmarks.iter().for_each(|benchmark| table.push(row(benchmark, (several, layout))));
    table
}

fn row(benchmark: &Calibrated, (several, layout): (bool, bool)) -> Vec<String> {
    let spread = |sd: Option<f64>| sd.map_or_else(String::new, share);
    let sources = benchmark.sources.as_ref();
    let sees =
        |sight: &Option<Sight>| sight.map_or_else(String::new, |s| format!("≥{}", share(s.minimal_detectable_change)));
    let mut row = vec![named(&benchmark.id, several)];
    row.extend(layout.then(|| spread(sources.and_then(|s| s.layout))));
    row.extend([spread(sources.map(|s| s.fork)), spread(sources.map(|s| s.slice))]);
    row.extend(benchmark.sights.iter().map(sees));
    row.push(benchmark.blind.map_or("", blind).to_owned());
    row
}

fn legend(report: &CalibrationReport) -> Vec<String> {
    let decision = &report.made.calibration.decision;
    let (layout, of) = if has_layout(&report.made.calibration) { ("layout, ", "build pairs, ") } else { ("", "") };
    vec![
        format!(
            "{layout}processes, interference: standard deviation of the change between {of}fork pairs, slice pairs, each beyond what is inside it; 0% is too little to tell"
        ),
        format!(
            "in …: smallest true change that is called slower or faster {} of the time after measuring so long, {} confident; a regression exceeds the threshold as well",
            share(decision.power),
            share(1.0 - decision.alpha)
        ),
    ]
}

fn facts(report: &CalibrationReport) -> Vec<(&'static str, String)> {
    let made = &report.made;
    let machine: Vec<String> =
        made.machine.facts().map(|(fact, value)| format!("{fact} {}", one_line(value))).collect();
    let (name, day) = (one_line(&made.run), one_line(&made.made));
    let run = format!("{name}, {day}, measured {}; `duet show {name}` prints its report", duration(report.measured_s));
    vec![("machine:", machine.join(", ")), ("run:    ", run)]
}

fn warnings(report: &CalibrationReport) -> Vec<String> {
    let failed = |(id, reason): &(duetbench_core::BenchmarkId, String)| {
        let reason = crate::render::format::shortened(&one_line(reason));
        format!("{} failed: {reason}", one_line(&id.to_string()))
    };
    report.failed.iter().map(failed).collect()
}

/// The next command.
fn hint(report: &CalibrationReport) -> String {
    let threshold = share(report.made.calibration.decision.threshold);
    format!("`duet plan --see {threshold}` says what it takes to see a change of {threshold}")
}
