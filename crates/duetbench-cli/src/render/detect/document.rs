//! The answer as a document.

use std::collections::BTreeMap;

use duetbench_core::detect::{Answer, Change, Detected, Fidelity, HouseFinding, PaperFinding, Summary, UNITS_MIN};

use duetbench_core::Verdict;
use duetbench_core::recording::TIME;

use super::unpaired::Unpaired;
use super::{Answered, json};
use crate::render::document::{Block, Cells, Document, Line, Table, Title};
use crate::render::format::{TimeScale, benchmarks, change, change_within, detectable, interval, levels, many, share};
use crate::render::instructions::amount;
use crate::render::names::ShortOfFull;
use crate::render::order::{self, label};
use crate::render::reported::figure;
use crate::render::summary::counted_in_words;

/// The warning below every table.
const APART: &str =
    "the recordings were not measured side by side: what the machine did between them counts as change too";
const POOLED: &str = "the papers' rule takes every value for independent; where forks differ it calls equal versions changed, \
     and more values do not help";

/// A row per benchmark for spreadsheets.
const COLUMNS: &str = "name unit better base head \
    paper_base_low=paper/base_interval/0 paper_base_high=paper/base_interval/1 \
    paper_head_low=paper/head_interval/0 paper_head_high=paper/head_interval/1 \
    paper_change_rate=paper/change_rate paper_change=paper/change \
    base_units=duet/base_units head_units=duet/head_units \
    ratio=duet/ratio ratio_low=duet/interval/0 ratio_high=duet/interval/1 \
    p_value=duet/p_value p_adjusted=duet/p_adjusted minimal_detectable_change=duet/minimal_detectable_change \
    verdict=duet/verdict planned_differs=plan_differs";

/// The answer as a document.
pub fn document(answered: &Answered) -> Document {
    let unpaired = answered.unpaired.as_ref();
    let first = unpaired.map_or_else(Vec::new, Unpaired::lines);
    let summary = summary(answered).into_iter().map(Line::Sentence);
    let warnings = answered.detection.remarks().map(Line::warning);
    Document {
        title: Title { command: "duet analyze", version: answered.duet_version.clone(), subject: versions(answered) },
        blocks: vec![
            Block::Lines(first),
            Block::Table(table(answered)),
            Block::Lines(summary.chain(warnings).chain(notes(answered)).collect()),
        ],
        rows: Some(Table::of_objects(
            COLUMNS,
            answered.detection.benchmarks.iter().map(|one| json::benchmark(one, answered)),
        )),
        json: Some(json::json(answered)),
        go: None,
    }
}

fn versions(answered: &Answered) -> String {
    format!("{} → {}", answered.detection.base, answered.detection.head)
}

/// One row for each benchmark: where duet's rule alone was asked, as in the report of a comparison, else with what each rule says.
fn table(answered: &Answered) -> Table {
    let detected = &answered.detection.benchmarks;
    let short = &ShortOfFull::of(detected.iter().map(|one| one.benchmark.as_str()));
    let sure = answered.rules.house.as_ref().map(|rule| share(1.0 - rule.decision().interval_alpha()));
    let sure = sure.map(|sure| format!("{sure} sure within")).unwrap_or_default();
    let mut headings = vec![(short.common().unwrap_or("benchmark"), Cells::Name)];
    let house = [("change", Cells::Number), (sure.as_str(), Cells::Words)];
    match (&answered.rules.paper, &answered.rules.house) {
        (None, _) => {
            headings.push(("before → after", Cells::Number));
            headings.extend(house.into_iter().chain([("verdict", Cells::Words), ("detects", Cells::Number)]));
        }
        (Some(_), also) => {
            headings.extend([("base", Cells::Number), ("head", Cells::Number), ("change", Cells::Number)]);
            headings.extend([("intervals", Cells::Words), ("papers' rule", Cells::Words)]);
            let house = house.into_iter().chain([("duet's rule", Cells::Words), ("detects", Cells::Number)]);
            headings.extend(house.filter(|_| also.is_some()));
        }
    }
    let mut table = Table::new(&headings);
    detected.iter().for_each(|one| table.push(row(answered, one, short)));
    table
}

fn row(answered: &Answered, detected: &Detected, short: &ShortOfFull) -> Vec<String> {
    let name = short.name(&detected.benchmark);
    let house = detected.house.as_ref().map(house_cells);
    match (&answered.rules.paper, &answered.rules.house) {
        (None, _) => [name, values(detected, &agreeing(detected)).join(" → ")]
            .into_iter()
            .chain(house.unwrap_or_default())
            .collect(),
        (Some(_), also) => {
            let paper = detected.paper.as_ref().map_or_else(Default::default, |finding| paper_cells(detected, finding));
            let house = also.iter().flat_map(|_| house.clone().unwrap_or_default());
            [name].into_iter().chain(values(detected, &detected.results)).chain(paper).chain(house).collect()
        }
    }
}

/// Both values so that they cannot contradict the change beside them: the base's, and that times the ratio.
fn agreeing(detected: &Detected) -> [f64; 2] {
    let [base, head] = detected.results;
    let ratio = detected.house.as_ref().and_then(|finding| finding.test).map(|test| test.ratio);
    [base, ratio.map_or(head, |ratio| base * ratio)]
}

/// Values of a benchmark, in one unit.
fn values(detected: &Detected, values: &[f64]) -> Vec<String> {
    if detected.unit == TIME {
        let scale = TimeScale::of(values);
        return values.iter().map(|v| format!("{}s", scale.write(*v))).collect();
    }
    // Small values keep their digits, and large ones have thousands.
    let value = |value: &f64| if value.abs() < 1.0 { figure(*value) } else { amount(*value) };
    values.iter().map(|one| format!("{} {}", value(one), detected.unit)).collect()
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
        Answer::TooFew { level, have } => format!("inconclusive: needs ≥ {UNITS_MIN} {}, has {have}", levels(*level)),
    };
    let Some(test) = finding.test else { return ["?".into(), String::new(), said, String::new()] };
    let sign = match finding.answer {
        Answer::Judged(Verdict::NoChange) => "~".to_owned(),
        Answer::Judged(Verdict::Inconclusive { .. }) => "?".to_owned(),
        _ => change_within(test.ratio, test.low, test.high),
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
        lines.push(format!("papers' rule: {}", counts(worse, better, detection.benchmarks.len())));
    }
    if answered.rules.house.is_some() {
        let rule = if answered.rules.paper.is_some() { "duet's rule: " } else { "" };
        lines.push(format!("{rule}{}", judged(&detection.benchmarks)));
    }
    lines.extend(detection.fidelity.as_ref().map(fidelity));
    let all = [&detection.only_base, &detection.only_head].into_iter().flatten().map(String::as_str);
    let short = ShortOfFull::of(detection.benchmarks.iter().map(|one| one.benchmark.as_str()).chain(all));
    for (names, side) in [(&detection.only_base, "base"), (&detection.only_head, "head")] {
        if !names.is_empty() {
            let shown: Vec<String> = names.iter().take(5).map(|name| short.name(name)).collect();
            let more = if names.len() > shown.len() { ", …" } else { "" };
            lines.push(format!("only in {side}: {} ({}{more})", names.len(), shown.join(", ")));
        }
    }
    lines
}

/// `3 benchmarks: 1 regression, 2 no change`, as the last line of a comparison counts.
fn judged(detected: &[Detected]) -> String {
    let open = Verdict::Inconclusive { forks_sufficient: None };
    let mut kinds: BTreeMap<u8, Vec<&Verdict>> = BTreeMap::new();
    for finding in detected.iter().filter_map(|one| one.house.as_ref()) {
        let verdict = match &finding.answer {
            Answer::Judged(verdict) => verdict,
            Answer::TooFew { .. } => &open,
        };
        kinds.entry(order::rank(verdict)).or_default().push(verdict);
    }
    let listed: Vec<String> = kinds.values().map(|kind| counted_in_words(kind[0], kind.len())).collect();
    format!("{}: {}", benchmarks(detected.len()), listed.join(", "))
}

fn said_by_paper(detected: &Detected) -> Option<Change> {
    detected.paper.as_ref().and_then(|p| p.change)
}

fn counts(worse: usize, better: usize, all: usize) -> String {
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
