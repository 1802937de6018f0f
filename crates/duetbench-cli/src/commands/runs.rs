//! `duet runs` and `duet rm`: the runs of a store, listed and removed.

use duetbench_core::spec::EngineName;
use duetbench_run::RunError;
use duetbench_run::store::{Head, ListedRun, Store};
use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::args::RemoveArgs;
use crate::failure::{Failure, code};
use crate::render::document::{self, Block, Cell, Cells, Document, Table, Title};
use crate::render::format::{many, one_line};
use crate::session::hold_machine_at_once;

/// Prints the stored runs, the oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn list(context: &Context) -> Result<u8, Failure> {
    let path = context.db();
    let runs = if path.exists() { Store::open_to_read(&path)?.runs()? } else { Vec::new() };
    let entries: Vec<Entry> = runs.iter().map(Entry::of).collect();
    let headings = [
        ("run", Cells::Words),
        ("started", Cells::Words),
        ("versions", Cells::Words),
        ("benchmarks", Cells::Number),
        ("trials", Cells::Number),
        ("", Cells::Words),
    ];
    let mut table = Table::new(&headings);
    entries.iter().for_each(|entry| table.push(entry.for_people()));
    let columns = "run kind started base head benchmarks trials complete";
    let subject = format!("{} in {}", many(entries.len(), "run", "runs"), path.display());
    context.printer.document(&Document {
        title: Title { command: "duet runs", version: env!("CARGO_PKG_VERSION").into(), subject },
        blocks: vec![Block::Table(table)],
        rows: Some(Table::of_objects(columns, entries.iter().map(|entry| json!(entry)))),
        json: Some(document::json(&json!(entries))),
        go: None,
    })?;
    Ok(code::CLEAN)
}

/// Removes runs with all that was kept of them.
///
/// # Errors
/// When one is not there or may be measured just now; then nothing is removed.
pub fn remove(args: &RemoveArgs, context: &Context) -> Result<u8, Failure> {
    let mut store = Store::open_existing(&context.db_to_write()?)?;
    let listed = store.runs()?;
    let mut found = Vec::new();
    for name in &args.runs {
        let run = store.reopen(name)?;
        let is_here = listed.iter().any(|one| one.name == run.to_string() && was_measured_here(one));
        // Workers of this machine die with their coordinator, and whoever makes a directory removes those of the dead.
        if store.sittings_left(run)?.iter().any(|sitting| !is_here || sitting.goes_on()) {
            let db = context.settings.db_typed();
            return Err(Failure::usage(format!("run `{run}` may have left something behind on its fleet"))
                .hint(format!("`duet compare --resume {run}{db}` removes that, `duet fleet sweep` whatever is over")));
        }
        if !found.contains(&run) {
            found.push(run);
        }
    }
    let names: Vec<String> = found.iter().map(ToString::to_string).collect();
    let unfinished = listed.iter().any(|run| !run.complete && names.contains(&run.name));
    // Whoever measures holds the machine, and one that did not come to its end may be measured just now.
    let held = unfinished.then(|| hold_machine_at_once(context)).transpose();
    let _lock = held.map_err(|error| match error {
        RunError::Locked { .. } => RunError::stored_run(error.to_string()).hint("try again when that has ended"),
        other => other,
    })?;
    for run in found {
        store.remove(run)?;
    }
    context.printer.note(&format!("removed {}", names.join(", ")));
    Ok(code::CLEAN)
}

/// Whether the fleet of a run were workers of this machine.
fn was_measured_here(run: &ListedRun) -> bool {
    let Some(Head::Comparison(head)) = &run.head else { return false };
    head.spec.fleet.is_some_and(|fleet| fleet.engine == EngineName::Here)
}

/// A run as programs are told of it.
#[derive(Default, Serialize)]
struct Entry {
    run: String,
    /// Absent, like all that a head says, where it cannot be read.
    kind: Option<&'static str>,
    started: Option<String>,
    base: Option<String>,
    head: Option<String>,
    benchmarks: Option<usize>,
    trials: u64,
    complete: bool,
}

impl Entry {
    fn of(listed: &ListedRun) -> Entry {
        let (run, trials, complete) = (listed.name.clone(), listed.trials, listed.complete);
        let none = Entry { run, trials, complete, ..Entry::default() };
        match &listed.head {
            None => none,
            Some(Head::Comparison(head)) => Entry {
                kind: Some("comparison"),
                started: Some(head.started.clone()),
                base: Some(head.baseline.requested.clone()),
                head: Some(head.candidate.requested.clone()),
                benchmarks: Some(head.plan.benchmarks.len()),
                ..none
            },
            Some(Head::Solo(head)) => Entry {
                kind: Some("solo"),
                started: Some(head.started.clone()),
                head: Some(head.version.requested.clone()),
                benchmarks: Some(head.plan.benchmarks.len()),
                ..none
            },
        }
    }

    fn for_people(&self) -> [Cell; 6] {
        let versions = match (&self.base, &self.head) {
            (Some(base), Some(head)) => format!("{} → {}", one_line(base), one_line(head)),
            (None, Some(head)) => one_line(head),
            _ => "written by another duet".into(),
        };
        // `2026-11-22T10:00:00Z`, to the minute.
        let started = self.started.as_deref().unwrap_or_default().replacen('T', " ", 1);
        let minute = started.get(..16).unwrap_or(&started).to_owned();
        let benchmarks = self.benchmarks.map_or_else(String::new, |number| number.to_string());
        let state = if self.complete { "" } else { "not finished" };
        [
            self.run.clone().into(),
            one_line(&minute).into(),
            versions.into(),
            benchmarks.into(),
            self.trials.to_string().into(),
            state.into(),
        ]
    }
}
