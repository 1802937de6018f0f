//! An answer as a document.

use duetbench_cli::render::document::{Cells, Document, Table, Title};
use duetbench_cli::render::format::{change, many, share, short_name};
use duetbench_cli::render::order::label;
use duetbench_core::detect::Change;

use super::super::section::{Section, Told};
use super::words::{covered, difference, found, interval, known_percent, relation, size};
use super::{Beside, Elastibench, ElastibenchAnswer, Wanted, json, machine};
use crate::papers::elastibench::{Agreement, Coverage, Finding, Findings, LeftOut, Narrowing, Relation, Spread};

/// The caution below every answer.
const POOLED: &str = "the procedure pools all results and takes each for independent; what a machine or a build does to several at once is \
     not in the interval";
/// Names in a list that are shown.
const NAMES_MAX: usize = 5;

/// The answer as a document.
pub fn document(study: &Elastibench) -> Document {
    let Page { title, tables, lines } = page(study);
    let told = Told {
        title: Title { command: "duet-study elastibench", version: study.duet_version.clone(), subject: title },
        sections: vec![Section { title: String::new(), tables, lines }],
        warnings: study.warnings.clone(),
        note: Some(POOLED),
    };
    Document { rows: Some(machine::rows(study)), json: Some(json::json(study)), ..told.document() }
}

/// Tables with what is said below them.
struct Page {
    title: String,
    tables: Vec<Table>,
    lines: Vec<String>,
}

fn page(study: &Elastibench) -> Page {
    let confidence = share(study.procedure.confidence);
    match &study.answer {
        ElastibenchAnswer::Changes { findings, beside } => changes(findings, beside, &confidence),
        ElastibenchAnswer::Agreement { first, second, agreement } => agreed(first, second, agreement, &confidence),
        ElastibenchAnswer::Repetitions { experiment, target, narrowing } => {
            narrowed(experiment, target, narrowing, &confidence)
        }
        ElastibenchAnswer::Aa { findings } => aa(findings, &confidence),
    }
}

fn changes(findings: &Findings, beside: &[Beside], confidence: &str) -> Page {
    let heading = format!("{confidence} interval");
    let mut table = Table::new(&[
        ("benchmark", Cells::Name),
        ("results", Cells::Number),
        ("median", Cells::Number),
        (&heading, Cells::Words),
        ("ElastiBench", Cells::Words),
        ("vs base", Cells::Number),
        ("duet", Cells::Words),
    ]);
    for one in beside {
        let mut row = vec![short_name(&one.benchmark)];
        row.extend(match &one.paper {
            Ok(finding) => finding_cells(finding).into_iter().chain([found(finding).to_owned()]).collect::<Vec<_>>(),
            Err(out) => vec![out.results.to_string(), String::new(), String::new(), format!("? {}", out.reason)],
        });
        row.push(one.estimate.map_or_else(String::new, |estimate| change(estimate.ratio)));
        row.push(label(&one.verdict).to_owned());
        table.push(row);
    }
    let said = |wanted: Change| findings.found.iter().filter(|f| f.change() == Some(wanted)).count();
    let mut lines = vec![format!(
        "ElastiBench's procedure: {}, {} of {} with enough results",
        many(said(Change::Regression), "regression", "regressions"),
        many(said(Change::Improvement), "improvement", "improvements"),
        many(findings.found.len(), "benchmark", "benchmarks"),
    )];
    lines.push(beside_in_words(beside));
    lines.extend(findings.sizes_where(true).map(|spread| format!("sizes of changes: {}", sizes(&spread))));
    lines.extend(findings.sizes_where(false).map(|spread| format!("sizes where none is found: {}", sizes(&spread))));
    let title = format!("ElastiBench's procedure beside duet's verdicts, run {}", findings.experiment);
    Page { title, tables: vec![table], lines }
}

/// Where the two procedures differ.
fn beside_in_words(beside: &[Beside]) -> String {
    let paper = |one: &Beside| one.paper.as_ref().is_ok_and(|finding| finding.change().is_some());
    let count = |paper_changed: bool, duet_changed: bool| {
        beside.iter().filter(|one| paper(one) == paper_changed && one.verdict.is_change() == duet_changed).count()
    };
    format!(
        "a change by both: {}, by ElastiBench's alone: {}, by duet alone: {}",
        count(true, true),
        count(true, false),
        count(false, true)
    )
}

fn finding_cells(finding: &Finding) -> [String; 3] {
    [finding.results.to_string(), difference(finding.median), interval(&finding.interval)]
}

fn agreed(first: &Findings, second: &Findings, agreement: &Agreement, confidence: &str) -> Page {
    let names = [first.experiment.as_str(), second.experiment.as_str()];
    let mut table = Table::new(&[
        ("benchmark", Cells::Name),
        (names[0], Cells::Number),
        ("", Cells::Words),
        (names[1], Cells::Number),
        ("", Cells::Words),
        ("", Cells::Words),
        ("median in the other's interval", Cells::Words),
    ]);
    for one in &agreement.compared {
        let cells = |finding: &Finding| [difference(finding.median), interval(&finding.interval)];
        let mut row = vec![short_name(&one.first.benchmark)];
        row.extend(cells(&one.first).into_iter().chain(cells(&one.second)));
        row.push(relation(one.relation()).to_owned());
        row.push(covered(one, names));
        table.push(row);
    }
    let mut lines = relations(agreement);
    lines.push(format!("coverage: {}", coverage(&agreement.coverage(), names)));
    let changes = agreement.coverage_of_changes();
    if changes.of > 0 {
        lines.push(format!("coverage where both find a change: {}", coverage(&changes, names)));
    }
    lines.extend(agreement.possible_changes().map(|spread| format!("sizes of possible changes: {}", sizes(&spread))));
    for (only, name) in [(&agreement.only_first, names[0]), (&agreement.only_second, names[1])] {
        lines.extend(list(&format!("in {name} only"), only));
    }
    for findings in [first, second] {
        lines.extend(left_out(&findings.left_out, &format!("left out of {}", findings.experiment)));
    }
    let title = format!("ElastiBench's agreement of {} and {}, {confidence} intervals of medians", names[0], names[1]);
    Page { title, tables: vec![table], lines }
}

fn relations(agreement: &Agreement) -> Vec<String> {
    let share = |relation| known_percent(agreement.share(relation));
    let counted = |relation| format!("{} ({})", agreement.count(relation), share(relation));
    vec![
        format!(
            "of {}, {} agree, {} disagree, {} show a possible change",
            many(agreement.compared.len(), "benchmark", "benchmarks"),
            counted(Relation::Agree),
            counted(Relation::Opposite),
            counted(Relation::PossibleChange),
        ),
        format!("as the paper counts, {} agree: a possible change is a disagreement to it", share(Relation::Agree)),
    ]
}

fn coverage(coverage: &Coverage, [first, second]: [&str; 2]) -> String {
    let of = |count: usize| format!("{count} ({})", known_percent(coverage.share(count)));
    format!(
        "of {}, the median of {first} is in the interval of {second} for {}, that of {second} in the interval of {first} for {}, both for {}",
        many(coverage.of, "benchmark", "benchmarks"),
        of(coverage.first_in_second),
        of(coverage.second_in_first),
        of(coverage.both),
    )
}

fn narrowed(experiment: &str, target: &Wanted, narrowing: &Narrowing, confidence: &str) -> Page {
    let mut benchmarks = Table::new(&[
        ("benchmark", Cells::Name),
        ("results", Cells::Number),
        ("width", Cells::Number),
        ("wanted", Cells::Number),
        ("enough after", Cells::Number),
    ]);
    for one in &narrowing.benchmarks {
        benchmarks.push(vec![
            short_name(&one.benchmark),
            one.results.to_string(),
            size(one.width),
            size(one.target),
            one.enough.map_or_else(|| "not reached".to_owned(), |enough| enough.to_string()),
        ]);
    }
    let mut curve =
        Table::new(&[("results", Cells::Number), ("narrow enough", Cells::Number), ("share", Cells::Number)]);
    for mark in narrowing.marks() {
        let share = known_percent(narrowing.share_by(mark));
        curve.push(vec![mark.to_string(), narrowing.reached_by(mark).to_string(), share]);
    }
    let wanted = match target {
        Wanted::Width(width) => format!("no wider than {}", share(*width)),
        Wanted::Reference(reference) => format!("no wider than those of {reference}"),
    };
    let last = narrowing.results_max();
    let mut lines = vec![format!(
        "{} of {} are narrow enough after {} or fewer ({})",
        narrowing.reached_by(last),
        many(narrowing.benchmarks.len(), "benchmark", "benchmarks"),
        many(last, "result", "results"),
        known_percent(narrowing.share_by(last)),
    )];
    lines.extend(list("intervals have no value in common, so that they do not count", &narrowing.apart));
    lines.extend(list("not in the reference", &narrowing.not_in_reference));
    lines.extend(left_out(&narrowing.left_out, "left out"));
    let title = format!("results that ElastiBench needs in {experiment} for {confidence} intervals {wanted}");
    Page { title, tables: vec![benchmarks, curve], lines }
}

fn aa(findings: &Findings, confidence: &str) -> Page {
    let heading = format!("{confidence} interval");
    let mut table = Table::new(&[
        ("benchmark", Cells::Name),
        ("results", Cells::Number),
        ("median", Cells::Number),
        (&heading, Cells::Words),
        ("ElastiBench", Cells::Words),
    ]);
    for finding in &findings.found {
        let mut row = vec![short_name(&finding.benchmark)];
        row.extend(finding_cells(finding));
        row.push(found(finding).to_owned());
        table.push(row);
    }
    let mut lines = vec![format!(
        "called changed where nothing is: {} of {} ({})",
        findings.changed(),
        many(findings.found.len(), "benchmark", "benchmarks"),
        known_percent(findings.changed_share()),
    )];
    lines.extend(findings.sizes().map(|spread| format!("sizes of differences: {}", sizes(&spread))));
    lines.extend(left_out(&findings.left_out, "left out"));
    let title = format!("ElastiBench's A/A experiment, run {}", findings.experiment);
    Page { title, tables: vec![table], lines }
}

fn sizes(spread: &Spread) -> String {
    format!(
        "median {}, quartiles {} and {}, largest {}",
        size(spread.median),
        size(spread.lower_quartile),
        size(spread.upper_quartile),
        size(spread.largest),
    )
}

/// The number of names and the first of them; absent without any.
fn list(what: &str, names: &[String]) -> Option<String> {
    let shown: Vec<String> = names.iter().take(NAMES_MAX).map(|name| short_name(name)).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    (!names.is_empty()).then(|| format!("{what}: {} ({}{more})", names.len(), shown.join(", ")))
}

/// The same of what is left out, with reasons.
fn left_out(left_out: &[LeftOut], what: &str) -> Option<String> {
    let named = |out: &LeftOut| format!("{}: {}", short_name(&out.benchmark), out.reason);
    let shown: Vec<String> = left_out.iter().take(NAMES_MAX).map(named).collect();
    let more = if left_out.len() > shown.len() { "; …" } else { "" };
    (!left_out.is_empty()).then(|| format!("{what}: {} ({}{more})", left_out.len(), shown.join("; ")))
}
