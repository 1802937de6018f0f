//! The answer as a document.

use duetbench_core::detect::{Answer, Change, Detected, Fidelity, HouseFinding, PaperFinding, Summary, UNITS_MIN};

use duetbench_core::Verdict;

use super::unpaired::{Unpaired, plural};
use super::{Answered, json, rows};
use crate::render::document::{Block, Cells, Document, Line, Table, Title};
use crate::render::format::{TimeScale, change, detectable, interval, many, share, short_name};
use crate::render::order::label;

/// The warning below every table.
const APART: &str =
    "the recordings were not measured side by side: what the machine did between them counts as change too";
const POOLED: &str = "the papers' rule takes every value for independent; where forks differ it calls equal versions changed, \
     and more values do not help";

/// The answer as a document.
#[must_use]
pub fn document(answered: &Answered) -> Document {
    let unpaired = answered.unpaired.as_ref();
    let first = unpaired.map_or_else(Vec::new, Unpaired::lines);
    let summary = summary(answered).into_iter().map(Line::Sentence);
    let warnings = answered.detection.warnings.iter().map(Line::warning);
    Document {
        title: Title { command: "duet analyze", version: answered.duet_version.clone(), subject: versions(answered) },
        blocks: vec![
            Block::Lines(first),
            Block::Table(table(answered)),
            Block::Lines(summary.chain(warnings).chain(notes(answered)).collect()),
        ],
        rows: Some(rows::of(answered)),
        json: Some(json::json(answered)),
        go: None,
    }
}

fn versions(answered: &Answered) -> String {
    format!("{} → {}", answered.detection.base, answered.detection.head)
}

fn table(answered: &Answered) -> Table {
    let (paper, house) = (answered.rules.paper.is_some(), answered.rules.house.is_some());
    let confidence =
        answered.rules.house.as_ref().map(|rule| format!("{} interval", share(1.0 - rule.decision().interval_alpha())));
    let confidence = confidence.unwrap_or_default();
    let mut headings = vec![("benchmark", Cells::Name), ("base", Cells::Number), ("head", Cells::Number)];
    if paper {
        headings.extend([("change", Cells::Number), ("intervals", Cells::Words), ("papers' rule", Cells::Words)]);
    }
    if house {
        headings.extend([
            ("vs base", Cells::Number),
            (confidence.as_str(), Cells::Words),
            ("duet's rule", Cells::Words),
            ("detects", Cells::Number),
        ]);
    }
    let mut table = Table::new(&headings);
    for detected in &answered.detection.benchmarks {
        let mut row = vec![short_name(&detected.benchmark)];
        row.extend(values(detected, &detected.results));
        if paper {
            row.extend(detected.paper.as_ref().map_or_else(Default::default, |p| paper_cells(detected, p)));
        }
        if house {
            row.extend(detected.house.as_ref().map_or_else(Default::default, house_cells));
        }
        table.push(row);
    }
    table
}

/// Values of a benchmark, in one unit.
fn values(detected: &Detected, values: &[f64]) -> Vec<String> {
    if detected.unit == "ns/op" {
        let scale = TimeScale::of(values);
        return values.iter().map(|v| format!("{}s", scale.write(*v))).collect();
    }
    values.iter().map(|v| format!("{v:.4e} {}", detected.unit)).collect()
}

fn paper_cells(detected: &Detected, finding: &PaperFinding) -> [String; 3] {
    let interval = |s: &Summary| format!("[{}]", values(detected, &[s.low, s.high]).join(", "));
    let said = finding.change.map_or("none found", Change::word);
    let intervals = format!("{} {}", interval(&finding.base), interval(&finding.head));
    [change(1.0 + finding.rate()), intervals, said.to_owned()]
}

fn house_cells(finding: &HouseFinding) -> [String; 4] {
    let said = match &finding.answer {
        Answer::Judged(verdict) => label(verdict).to_owned(),
        Answer::TooFew { level, have } => format!("? needs ≥ {UNITS_MIN} {}, has {have}", plural(*level)),
    };
    let Some(test) = finding.test else { return ["?".into(), String::new(), said, String::new()] };
    let sign = match finding.answer {
        Answer::Judged(Verdict::NoChange) => "~".to_owned(),
        _ => change(test.ratio),
    };
    [sign, interval(test.low, test.high), said, detectable(test.detectable)]
}

/// The counts below the table.
fn summary(answered: &Answered) -> Vec<String> {
    let detection = &answered.detection;
    let mut lines = Vec::new();
    if answered.rules.paper.is_some() {
        let of = |wanted: Change| detection.benchmarks.iter().filter(|b| said_by_paper(b) == Some(wanted)).count();
        let (worse, better) = (of(Change::Regression), of(Change::Improvement));
        lines.push(format!("papers' rule: {}", counts((worse, better), detection.benchmarks.len())));
    }
    if answered.rules.house.is_some() {
        let of = |wanted: fn(&Answer) -> bool| {
            detection.benchmarks.iter().filter_map(|b| b.house.as_ref()).filter(|h| wanted(&h.answer)).count()
        };
        let worse = of(|a| *a == Answer::Judged(Verdict::Regression));
        let better = of(|a| *a == Answer::Judged(Verdict::Improvement));
        let tolerated = of(|a| a.word().ends_with("within_tolerance"));
        let no_change = of(|a| *a == Answer::Judged(Verdict::NoChange));
        let open = of(Answer::is_open);
        let all = counts((worse, better), detection.benchmarks.len());
        lines
            .push(format!("duet's rule: {all}, {tolerated} within tolerance, {no_change} no change, {open} undecided"));
    }
    lines.extend(detection.fidelity.as_ref().map(fidelity));
    for (names, side) in [(&detection.only_base, "base"), (&detection.only_head, "head")] {
        if !names.is_empty() {
            let shown: Vec<String> = names.iter().take(5).map(|n| short_name(n)).collect();
            let more = if names.len() > shown.len() { ", …" } else { "" };
            lines.push(format!("only in {side}: {} ({}{more})", names.len(), shown.join(", ")));
        }
    }
    lines
}

fn said_by_paper(detected: &Detected) -> Option<Change> {
    detected.paper.as_ref().and_then(|p| p.change)
}

fn counts((worse, better): (usize, usize), all: usize) -> String {
    let [worse, better] = [many(worse, "regression", "regressions"), many(better, "improvement", "improvements")];
    format!("{worse}, {better} of {}", many(all, "benchmark", "benchmarks"))
}

fn fidelity(f: &Fidelity) -> String {
    let rate = |rate: Option<f64>| rate.map_or_else(String::new, |rate| format!(" ({})", share(rate)));
    format!(
        "with the plan's repetitions the papers' rule finds {} of what are {} in full, of {}: {} false{}, {} missed{}",
        f.reduced,
        many(f.full, "change", "changes"),
        many(f.compared, "benchmark", "benchmarks"),
        f.false_changes.len(),
        rate(f.false_rate()),
        f.missed.len(),
        rate(f.missed_rate()),
    )
}

fn notes(answered: &Answered) -> impl Iterator<Item = Line> {
    let pooled = answered.rules.paper.is_some().then_some(POOLED);
    let apart = answered.unpaired.is_none().then_some(APART);
    [apart, pooled].into_iter().flatten().map(|note| Line::Small("note", note.to_owned()))
}
