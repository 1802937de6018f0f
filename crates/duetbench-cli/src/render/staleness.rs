//! Results of `duet tune --check`, for people and for programs.

use duetbench_core::plan::Repetitions;
use duetbench_core::tune::Rules;
use serde_json::json;

use super::document::{self, Block, Document, Line, Table, Title};
use super::format::{one_line, share};
use super::solo_json::repetitions;
use crate::staleness::{Entry, Reason};

/// A check of a plan against a run.
pub struct Shown<'a> {
    /// The plan file.
    pub plan: &'a str,
    /// The run.
    pub run: &'a str,
    /// The rules for stability.
    pub rules: &'a Rules,
    /// Whether the plan was rewritten.
    pub written: bool,
}

/// A reason in a word for programs.
fn word(reason: &Reason) -> &'static str {
    match reason {
        Reason::Violates { .. } => "violates",
        Reason::New => "new",
        Reason::Code => "code",
        Reason::Machine => "machine",
        Reason::Gone => "gone",
    }
}

/// A reason for people.
fn words(reason: &Reason, threshold: f64) -> String {
    match reason {
        Reason::Violates { value: Some(value) } => format!("{} is more than {}", share(*value), share(threshold)),
        Reason::Violates { value: None } => "so few repetitions say nothing any more".into(),
        Reason::New => "new".into(),
        Reason::Code => "its code is another".into(),
        Reason::Machine => "measured on another machine".into(),
        Reason::Gone => "not there any more".into(),
    }
}

/// Planned repetitions as suite runs × forks × iterations.
fn shape(planned: Option<Repetitions>) -> String {
    planned.map_or_else(String::new, |p| format!("{}×{}×{}", p.suite_runs, p.forks, p.iterations))
}

/// The change of an entry, in words.
fn change(entry: &Entry) -> String {
    match (shape(entry.planned_repetitions()), shape(entry.next_repetitions())) {
        (was, next) if was.is_empty() && next.is_empty() => "in no plan".to_owned(),
        (was, next) if next.is_empty() => format!("{was} removed"),
        (was, next) if was.is_empty() => format!("planned {next}"),
        (was, next) if was == next => format!("stays {was}"),
        (was, next) => format!("{was} → {next}"),
    }
}

/// Numbers of entries that hold, that are stale, and that are not known.
fn counts(entries: &[Entry]) -> [usize; 3] {
    let stale = entries.iter().filter(|e| e.is_stale()).count();
    let unknown = entries.iter().filter(|e| !e.is_stale() && e.unknown.is_some()).count();
    [entries.len() - stale - unknown, stale, unknown]
}

fn conclusion(shown: &Shown<'_>, entries: &[Entry]) -> String {
    let [hold, stale, unknown] = counts(entries);
    let deed = match (stale, shown.written) {
        (0, _) if unknown == 0 => "the plan holds".to_owned(),
        (0, _) if hold == 0 => "nothing was checked".to_owned(),
        (0, _) => "what was checked holds".to_owned(),
        (_, true) => format!("`{}` is rewritten", shown.plan),
        (_, false) => format!("`{}` is left as it is", shown.plan),
    };
    format!("{hold} hold, {stale} stale, {unknown} not checked; {deed}")
}

fn heading(shown: &Shown<'_>) -> String {
    let Rules { metric, threshold, .. } = shown.rules;
    format!("`{}` against {}: {} at most {}", shown.plan, shown.run, metric.word(), share(*threshold))
}

/// The remark on an entry; absent where it holds.
fn remark(entry: &Entry, threshold: f64) -> Option<String> {
    let mut parts: Vec<String> = entry.reasons.iter().map(|reason| words(reason, threshold)).collect();
    if entry.is_stale() {
        parts.push(change(entry));
    }
    parts.extend(entry.unknown.iter().map(|why| format!("not checked: {}", one_line(why))));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The check as a document: for people only what does not hold, and what nobody knows.
pub fn document(shown: &Shown<'_>, entries: &[Entry]) -> Document {
    let remark = |entry: &Entry| {
        let remark = remark(entry, shown.rules.threshold)?;
        Some(Line::Item(format!("{}: {remark}", entry.name)))
    };
    let remarks: Vec<Line> = entries.iter().filter_map(remark).collect();
    let ends = vec![Line::Heading(conclusion(shown, entries))];
    let blocks = [remarks, ends].into_iter().filter(|lines| !lines.is_empty()).map(Block::Lines);
    Document {
        title: Title {
            command: "duet tune --check",
            version: env!("CARGO_PKG_VERSION").into(),
            subject: heading(shown),
        },
        blocks: blocks.collect(),
        rows: Some(rows(entries)),
        json: Some(json(shown, entries)),
        go: None,
    }
}

/// One row per benchmark.
fn rows(entries: &[Entry]) -> Table {
    let mut table = Table::plain(&["name", "stale", "reasons", "value", "planned", "next", "unknown"]);
    for entry in entries {
        table.push([
            entry.name.clone(),
            entry.is_stale().to_string(),
            entry.reasons.iter().map(word).collect::<Vec<_>>().join(" "),
            value(entry).map_or_else(String::new, |value| value.to_string()),
            shape(entry.planned_repetitions()),
            shape(entry.next_repetitions()),
            entry.unknown.clone().unwrap_or_default(),
        ]);
    }
    table
}

/// The metric's value where it violates the threshold.
fn value(entry: &Entry) -> Option<f64> {
    entry.reasons.iter().find_map(|reason| match reason {
        Reason::Violates { value } => *value,
        _ => None,
    })
}

/// Everything, for programs. Keys are always there: what is not known is `null`.
fn json(shown: &Shown<'_>, entries: &[Entry]) -> String {
    let [hold, stale, not_checked] = counts(entries);
    let benchmark = |entry: &Entry| {
        json!({
            "name": entry.name,
            "stale": entry.is_stale(),
            "reasons": entry.reasons.iter().map(word).collect::<Vec<_>>(),
            "value": value(entry),
            "planned": entry.planned_repetitions().map(repetitions),
            "next": entry.next_repetitions().map(repetitions),
            "unknown": entry.unknown,
        })
    };
    document::json(&json!({
        "schema_version": 1,
        "kind": "tune_check",
        "plan": shown.plan,
        "run": shown.run,
        "metric": shown.rules.metric.word(),
        "threshold": shown.rules.threshold,
        "written": shown.written,
        "hold": hold,
        "stale": stale,
        "not_checked": not_checked,
        "benchmarks": entries.iter().map(benchmark).collect::<Vec<_>>(),
    }))
}
