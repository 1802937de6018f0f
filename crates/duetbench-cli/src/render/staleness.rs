//! Results of `duet tune --check`, for people and for programs.

use duetbench_core::plan::Repetitions;
use duetbench_core::tune::Rules;
use serde::Serialize;

use super::csv::line;
use super::document;
use super::format::{one_line, share};
use super::markdown::{code, prose};
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
        (0, _) => "the plan holds".to_owned(),
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

/// For terminals and logs: only what does not hold, and what nobody knows.
#[must_use]
pub fn text(shown: &Shown<'_>, entries: &[Entry]) -> String {
    let mut out = format!("{}\n", heading(shown));
    for entry in entries {
        if let Some(remark) = remark(entry, shown.rules.threshold) {
            out += &format!("  {}: {remark}\n", one_line(&entry.name));
        }
    }
    out + &format!("{}\n", conclusion(shown, entries))
}

/// The same for a pull request.
#[must_use]
pub fn markdown(shown: &Shown<'_>, entries: &[Entry]) -> String {
    let mut out = format!("### duet: {}\n\n", prose(&heading(shown)));
    for entry in entries {
        if let Some(remark) = remark(entry, shown.rules.threshold) {
            out += &format!("- {}: {}\n", code(&entry.name), prose(&remark));
        }
    }
    out + &format!("\n{}\n", prose(&conclusion(shown, entries)))
}

/// One row per benchmark.
#[must_use]
pub fn csv(entries: &[Entry]) -> String {
    let mut out =
        line(["name", "stale", "reasons", "value", "planned", "next", "unknown"].into_iter().map(String::from));
    for entry in entries {
        out += &line(
            [
                entry.name.clone(),
                entry.is_stale().to_string(),
                entry.reasons.iter().map(word).collect::<Vec<_>>().join(" "),
                value(entry).map_or_else(String::new, |value| value.to_string()),
                shape(entry.planned_repetitions()),
                shape(entry.next_repetitions()),
                entry.unknown.clone().unwrap_or_default(),
            ]
            .into_iter(),
        );
    }
    out
}

/// The metric's value where it violates the threshold.
fn value(entry: &Entry) -> Option<f64> {
    entry.reasons.iter().find_map(|reason| match reason {
        Reason::Violates { value } => *value,
        _ => None,
    })
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    kind: &'static str,
    plan: &'a str,
    run: &'a str,
    metric: &'static str,
    threshold: f64,
    written: bool,
    hold: usize,
    stale: usize,
    not_checked: usize,
    benchmarks: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    stale: bool,
    reasons: Vec<&'static str>,
    value: Option<f64>,
    planned: Option<Repeated>,
    next: Option<Repeated>,
    unknown: Option<&'a str>,
}

#[derive(Serialize)]
struct Repeated {
    suite_runs: u32,
    forks: u32,
    iterations: u32,
    warmup: u32,
    iteration_s: f64,
}

impl<'a> Row<'a> {
    fn of(entry: &'a Entry) -> Row<'a> {
        Row {
            name: &entry.name,
            stale: entry.is_stale(),
            reasons: entry.reasons.iter().map(word).collect(),
            value: value(entry),
            planned: entry.planned_repetitions().map(Repeated::of),
            next: entry.next_repetitions().map(Repeated::of),
            unknown: entry.unknown.as_deref(),
        }
    }
}

impl Repeated {
    fn of(r: Repetitions) -> Repeated {
        Repeated {
            suite_runs: r.suite_runs,
            forks: r.forks,
            iterations: r.iterations,
            warmup: r.warmup,
            iteration_s: r.iteration_ns as f64 * 1e-9,
        }
    }
}

/// Everything, for programs. Keys are always there: what is not known is `null`.
#[must_use]
pub fn json(shown: &Shown<'_>, entries: &[Entry]) -> String {
    let [hold, stale, not_checked] = counts(entries);
    let document = Document {
        schema_version: 1,
        kind: "tune_check",
        plan: shown.plan,
        run: shown.run,
        metric: shown.rules.metric.word(),
        threshold: shown.rules.threshold,
        written: shown.written,
        hold,
        stale,
        not_checked,
        benchmarks: entries.iter().map(Row::of).collect(),
    };
    document::json(&document)
}
