//! The formats of a run of one version but for JSON: a table for people, the same for a pull request, one row per benchmark for
//! spreadsheets, one line per process for benchstat.

use duetbench_core::SoloReport;
use duetbench_core::solo_report::{SoloFork, SoloResult, SoloSummary};
use unicode_width::UnicodeWidthStr;

use super::csv::{line, number};
use super::format::{TimeScale, counted, duration, first_line, many, one_line, share, short_name, shortened};
use super::gobench::{go_name, key, measured_by};
use super::markdown::{cell, code, prose, prose_cell};
use super::palette::{Palette, paint};
use super::table::{NAME_WIDTH_MAX, cut_middle, left, right};

/// Headings of the table, the name left out.
const HEADINGS: [&str; 5] = ["sec/op", "between forks", "within", "CV", "n"];

/// Time of a benchmark and its spread, in words; in the order of [`HEADINGS`].
fn cells(summary: &SoloSummary) -> [String; 5] {
    let spread = |value: Option<f64>| value.map_or_else(String::new, share);
    [
        TimeScale::of(&[summary.median_ns]).write(summary.median_ns),
        spread(summary.sd_between),
        spread(summary.sd_within),
        spread(summary.cv),
        format!("{} in {}", summary.iterations, many(summary.forks as usize, "fork", "forks")),
    ]
}

/// Why there is nothing, or less than was planned; each reason once, in its first line.
fn reasons(result: &SoloResult) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for failure in &result.failures {
        let reason = first_line(failure);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// The report for terminals and logs.
#[must_use]
pub fn text(report: &SoloReport, palette: &Palette) -> String {
    let tool = format!("duet {}: ", one_line(&report.environment.duet_version));
    let version = one_line(&format!("{} ({})", report.version.requested, report.version.resolved));
    let mut out = format!("{}{version}\n", paint(palette.strong, &tool));
    if !report.complete {
        out += &format!("{} stopped early; this is what was measured until then\n", paint(palette.open, "incomplete:"));
    }
    out += &table(report, palette);
    out += &format!("{}\n", paint(palette.faint, LEGEND));
    for result in &report.benchmarks {
        for reason in reasons(result) {
            out += &format!("{} {}: {reason}\n", paint(palette.bad, "failed:"), short_name(&result.id.name));
        }
    }
    for warning in &report.warnings {
        out += &format!("{} {}\n", paint(palette.open, "warning:"), one_line(warning));
    }
    out + &format!("{} {}\n", paint(palette.faint, "run:    "), facts(report))
}

const LEGEND: &str = "sec/op: median of the forks' medians; between forks, within: standard deviations of these two levels; CV of all iterations";

fn table(report: &SoloReport, palette: &Palette) -> String {
    let rows: Vec<(&SoloResult, [String; 5])> =
        report.benchmarks.iter().map(|b| (b, b.summary.as_ref().map(cells).unwrap_or_default())).collect();
    let name_width = rows.iter().map(|(b, _)| fitting(b).width()).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().map(|(_, cells)| cells[column].width()).max().unwrap_or(0).max(HEADINGS[column].width())
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    let row = |name: &str, cells: [&str; 5]| {
        let cells: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| right(cell, width)).collect();
        format!("{}   {}", left(name, name_width), cells.join("   ")).trim_end().to_owned()
    };
    let mut out = format!("\n{}\n", paint(palette.strong, &row("", HEADINGS)));
    let mut package = None;
    for (result, cells) in &rows {
        if package != Some(&result.id.package) {
            package = Some(&result.id.package);
            out += &format!("{}\n", paint(palette.faint, &format!("pkg: {}", one_line(&result.id.package))));
        }
        let failed = result.summary.is_none();
        let cells: [&str; 5] = std::array::from_fn(|i| if failed && i == 0 { "failed" } else { cells[i].as_str() });
        out += &format!("{}\n", row(&fitting(result), cells));
    }
    out + "\n"
}

/// The name of a benchmark as far as a table has room for it.
fn fitting(result: &SoloResult) -> String {
    cut_middle(&short_name(&result.id.name), NAME_WIDTH_MAX)
}

/// The run, the machine and what it took, in a line.
fn facts(report: &SoloReport) -> String {
    let environment = &report.environment;
    one_line(&format!(
        "{}, seed {}, {}, {}, {}",
        report.run,
        report.plan.seed,
        duration(report.measured_s),
        environment.cpu_model,
        environment.toolchain
    ))
}

/// The report for a job summary.
#[must_use]
pub fn markdown(report: &SoloReport) -> String {
    let mut out = format!("### duet run: {}\n\n", code(&report.version.resolved));
    if !report.complete {
        out += "**Incomplete:** the run stopped early; this is what was measured until then.\n\n";
    }
    let headings = HEADINGS.join(" | ");
    out += &format!("| benchmark | {headings} | remarks |\n|---|--:|--:|--:|--:|--:|---|\n");
    for result in &report.benchmarks {
        let cells = result.summary.as_ref().map(cells).unwrap_or_default().join(" | ");
        let remarks = reasons(result).iter().map(|reason| prose_cell(reason)).collect::<Vec<_>>().join("<br>");
        out += &format!("| {} | {cells} | {remarks} |\n", cell(&short_name(&result.id.name)));
    }
    for warning in &report.warnings {
        out += &format!("\n**Warning:** {}\n", prose(&shortened(warning)));
    }
    out + &format!("\n<sub>{}<br>{}</sub>\n", prose(LEGEND), prose(&facts(report)))
}

/// One row per benchmark, numbers at full precision; an absent value is an empty cell.
#[must_use]
pub fn csv(report: &SoloReport) -> String {
    let headings = [
        "package",
        "name",
        "median_ns",
        "sd_between",
        "sd_within",
        "cv",
        "suite_runs",
        "forks",
        "iterations",
        "bytes_per_op",
        "allocs_per_op",
        "failures",
    ];
    let mut out = line(headings.into_iter().map(String::from));
    for result in &report.benchmarks {
        let summary = result.summary.as_ref();
        let numbers = [
            number(summary.map(|s| s.median_ns)),
            number(summary.and_then(|s| s.sd_between)),
            number(summary.and_then(|s| s.sd_within)),
            number(summary.and_then(|s| s.cv)),
            summary.map(|s| s.suite_runs.to_string()),
            summary.map(|s| s.forks.to_string()),
            summary.map(|s| s.iterations.to_string()),
            number(summary.and_then(|s| s.bytes_per_op)),
            number(summary.and_then(|s| s.allocs_per_op)),
        ];
        let words = [result.id.package.clone(), result.id.name.clone()];
        let numbers = numbers.into_iter().map(Option::unwrap_or_default);
        out += &line(words.into_iter().chain(numbers).chain([reasons(result).join("; ")]));
    }
    out
}

/// Go benchmark text: a line for every process, which is what benchstat may take for independent.
#[must_use]
pub fn go(report: &SoloReport) -> String {
    let mut out = measured_by(&report.environment, (&report.run, &report.started, report.plan.seed));
    out += &key("version", &report.version.resolved);
    let mut package = None;
    for result in &report.benchmarks {
        if package != Some(&result.id.package) {
            package = Some(&result.id.package);
            out += &format!("\n{}", key("pkg", &result.id.package));
        }
        let name = go_name(&result.id.name);
        out.extend(reasons(result).iter().map(|reason| format!("# {name}: failed: {reason}\n")));
        out.extend(result.forks.iter().map(|fork| go_line(&name, fork)));
    }
    out
}

fn go_line(name: &str, fork: &SoloFork) -> String {
    let mut out = format!("{name}\t{}\t{} ns/op", fork.invocations, fork.ns_per_op);
    for (value, unit) in [(fork.bytes_per_op, "B/op"), (fork.allocs_per_op, "allocs/op")] {
        out += &value.map_or_else(String::new, |value| format!("\t{} {unit}", counted(value)));
    }
    out + "\n"
}
