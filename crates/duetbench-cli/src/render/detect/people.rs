//! The forms for people: text and Markdown.

use duetbench_core::detect::{Answer, Change, Detected, Fidelity, HouseFinding, PaperFinding, Summary, UNITS_MIN};

use duetbench_core::Verdict;

use super::Answered;
use super::unpaired::{Unpaired, plural};
use crate::render::columns::{Column, Columns};
use crate::render::format::{TimeScale, change, many, one_line, share, short_name};
use crate::render::markdown::{code, prose};
use crate::render::order::label;
use crate::render::palette::{Palette, paint};

/// The warning below every table.
const APART: &str =
    "the recordings were not measured side by side: what the machine did between them counts as change too";
const POOLED: &str = "the papers' rule takes every value for independent; where forks differ it calls equal versions changed, \
     and more values do not help";

/// The answer for a terminal or a log.
#[must_use]
pub fn text(answered: &Answered, palette: &Palette) -> String {
    let title = format!("duet {}: {}", answered.duet_version, one_line(&versions(answered)));
    let mut first: String = statement(answered).iter().map(|line| format!("{}\n", one_line(line))).collect();
    first.extend(advice(answered).iter().map(|command| format!("  {command}\n")));
    let between = if first.is_empty() { "" } else { "\n" };
    let mut out = format!("{}\n\n{first}{between}{}\n", paint(palette.strong, &title), table(answered).text());
    for line in summary(answered) {
        out += &format!("{line}\n");
    }
    for warning in &answered.detection.warnings {
        out += &format!("{} {}\n", paint(palette.open, "warning:"), one_line(warning));
    }
    for note in notes(answered) {
        out += &format!("{} {note}\n", paint(palette.faint, "note:"));
    }
    out
}

/// The answer as Markdown.
#[must_use]
pub fn markdown(answered: &Answered) -> String {
    let mut first: String = statement(answered).iter().map(|line| format!("> - {}\n", prose(line))).collect();
    first.extend(advice(answered).iter().map(|command| format!(">   - {}\n", code(command))));
    let (command, between) = if first.is_empty() { ("detect", "") } else { ("analyze", "\n") };
    let versions = prose(&versions(answered));
    let mut out = format!("### duet {command}: {versions}\n\n{first}{between}{}\n", table(answered).markdown());
    for line in summary(answered) {
        out += &format!("{}\n\n", prose(&line));
    }
    for warning in &answered.detection.warnings {
        out += &format!("**Warning:** {}\n\n", prose(warning));
    }
    out + &notes(answered).iter().map(|note| format!("<sub>{}</sub>\n", prose(note))).collect::<String>()
}

/// Sentences before the table.
fn statement(answered: &Answered) -> Vec<String> {
    answered.unpaired.as_ref().map_or_else(Vec::new, Unpaired::statement)
}

/// Commands that are shown below them.
fn advice(answered: &Answered) -> Vec<String> {
    answered.unpaired.as_ref().map_or_else(Vec::new, Unpaired::advice)
}

fn versions(answered: &Answered) -> String {
    format!("{} → {}", answered.detection.base, answered.detection.head)
}

fn table(answered: &Answered) -> Columns {
    let (paper, house) = (answered.rules.paper.is_some(), answered.rules.house.is_some());
    let confidence =
        answered.rules.house.as_ref().map(|rule| format!("{} interval", share(1.0 - rule.decision().interval_alpha())));
    let confidence = confidence.unwrap_or_default();
    let mut headings = vec![("benchmark", Column::Name), ("base", Column::Number), ("head", Column::Number)];
    if paper {
        headings.extend([("change", Column::Number), ("intervals", Column::Words), ("papers' rule", Column::Words)]);
    }
    if house {
        headings.extend([
            ("vs base", Column::Number),
            (confidence.as_str(), Column::Words),
            ("duet's rule", Column::Words),
            ("detects", Column::Number),
        ]);
    }
    let mut table = Columns::new(&headings);
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
    [sign, format!("[{}, {}]", change(test.low), change(test.high)), said, share(test.detectable)]
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

fn notes(answered: &Answered) -> Vec<&'static str> {
    let pooled = answered.rules.paper.is_some().then_some(POOLED);
    let apart = answered.unpaired.is_none().then_some(APART);
    [apart, pooled].into_iter().flatten().collect()
}
