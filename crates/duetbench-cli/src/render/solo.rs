//! A run of one version as a document; as Go benchmark text it has a line for every process.

use duetbench_core::SoloReport;
use duetbench_core::solo_report::{SoloFork, SoloResult, SoloSummary};
use duetbench_core::spellings::Spellings;
use serde_json::json;

use super::document::{Block, Cell, Cells, Document, Line, Table, Title, Tone};
use super::format::{self, TimeScale, counted, duration, first_line, many, share, short_name};
use super::gobench::{key, measured_by};
use super::names::Short;
use super::summary::NOISES_MAX;
use super::{noise, solo_json};

/// The run as a document.
pub fn document(report: &SoloReport) -> Document {
    let incomplete = (!report.complete).then(|| {
        let words = "stopped early; this is what was measured until then".to_owned();
        Line::Labelled(Tone::Open, "incomplete", words)
    });
    let failed = report.benchmarks.iter().flat_map(|result| {
        let name = short_name(&result.id.name);
        reasons(result).into_iter().map(move |reason| Line::Labelled(Tone::Bad, "failed", format!("{name}: {reason}")))
    });
    let warnings = report.warnings.iter().map(Line::warning);
    let legend = Line::Small("", LEGEND.to_owned());
    let facts = Line::Small("run", facts(report));
    let mut noises = noise::lines(&report.noise.findings);
    noises.truncate(NOISES_MAX);
    let noise = (!noises.is_empty()).then(|| Line::Labelled(Tone::Open, "noise", noises.join("; ")));
    let last = [legend].into_iter().chain(failed).chain(warnings).chain([facts]).chain(noise);
    let version = &report.version;
    Document {
        title: Title {
            command: "duet run",
            version: report.environment.duet_version.clone(),
            subject: format::version(version),
        },
        blocks: vec![
            Block::Lines(incomplete.into_iter().collect()),
            Block::Table(table(report)),
            Block::Lines(last.collect()),
        ],
        rows: Some(rows(report)),
        json: Some(solo_json::render(report)),
        go: Some(go(report)),
    }
}

/// Time of a benchmark and its spread, in words; in the order of the headings.
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

const LEGEND: &str = "sec/op: median of the forks' medians; between forks, within: standard deviations of these two levels; CV of all iterations";

/// The benchmarks with their times and spreads.
fn table(report: &SoloReport) -> Table {
    let names = Short::of(report.benchmarks.iter().map(|result| &result.id));
    let numbers = ["sec/op", "between forks", "within", "CV", "n"].map(|heading| (heading, Cells::Number));
    let mut table = Table::new(&[&[("benchmark", Cells::Name)][..], &numbers].concat());
    for result in &report.benchmarks {
        let name = Cell::from(names.name(&result.id));
        match &result.summary {
            Some(summary) => table.push([name].into_iter().chain(cells(summary).map(Cell::from))),
            None => table.push([name, Cell::toned("failed", Tone::Bad)]),
        }
    }
    table
}

/// The run, the machine and what it took, in a line.
fn facts(report: &SoloReport) -> String {
    let environment = &report.environment;
    let (run, seed, measured) = (&report.run, report.plan.seed, duration(report.measured_s));
    format!("{run}, seed {seed}, {measured}, {}, {}", environment.cpu_model, environment.toolchain)
}

/// One row per benchmark, numbers at full precision; an absent value is an empty cell.
fn rows(report: &SoloReport) -> Table {
    let columns = "package name median_ns=summary/median_ns sd_between=summary/sd_between sd_within=summary/sd_within cv=summary/cv \
                   suite_runs=summary/suite_runs forks=summary/forks iterations=summary/iterations \
                   bytes_per_op=summary/bytes_per_op allocs_per_op=summary/allocs_per_op failures";
    let row = |result: &SoloResult| {
        json!({
            "package": result.id.package,
            "name": result.id.name,
            "summary": result.summary,
            "failures": reasons(result).join("; "),
        })
    };
    Table::of_objects(columns, report.benchmarks.iter().map(row))
}

/// Go benchmark text: a line for every process, which is what benchstat may take for independent.
fn go(report: &SoloReport) -> String {
    let mut out = measured_by(&report.environment, &report.run, &report.started, report.plan.seed);
    out += &key("version", &report.version.resolved);
    let (mut package, mut names) = (None, Spellings::default());
    for result in &report.benchmarks {
        if package != Some(&result.id.package) {
            package = Some(&result.id.package);
            out += &format!("\n{}", key("pkg", &result.id.package));
        }
        let name = names.of(&result.id.package, &result.id.name);
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
