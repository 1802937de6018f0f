//! A run, from its plan to its end in the store: what every command that measures has in common.

use std::time::SystemTime;

use duetbench_core::plan::Plan;
use duetbench_core::report::{LayoutsUsed, VersionInfo};
use duetbench_core::{BenchmarkId, Report, Spec, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Comparison, Executor, Job, Observer, RunSummary, TrialOutcome, measure};
use duetbench_run::environment::{self, CpuTimes};
use duetbench_run::lock::{self, Applicant, MachineLock, Waiting};
use duetbench_run::noise;
use duetbench_run::process::told_leftovers;
use duetbench_run::store::{Origin, RunHead, RunId, Store};

use crate::assemble;
use crate::commands::Context;
use crate::display::Display;
use crate::progress::Recorder;

/// Facts about two versions before they are measured.
#[derive(Debug, Clone)]
pub struct Subjects {
    /// Baseline and candidate.
    pub info: [VersionInfo; 2],
    /// The toolchain that built them.
    pub toolchain: String,
    /// Warnings about them for the report.
    pub warnings: Vec<String>,
    /// Where they came from.
    pub origin: Option<Origin>,
    /// Layouts that the halves of build pairs are going to have.
    pub layouts: Option<LayoutsUsed>,
}

/// The head of a run, which is stored before the first trial.
#[must_use]
pub fn head(spec: &Spec, plan: Plan, subjects: Subjects) -> RunHead {
    let [baseline, candidate] = subjects.info;
    // A fleet's programs are linked otherwise, and not here.
    let layouts = subjects.layouts.filter(|_| spec.fleet.is_none()).and_then(|layouts| layouts.concerning(&plan));
    RunHead {
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        spec: spec.clone(),
        plan,
        baseline,
        candidate,
        environment: environment::describe(&subjects.toolchain, env!("CARGO_PKG_VERSION")),
        facts: noise::facts(),
        warnings: subjects.warnings,
        origin: subjects.origin,
        fleet: None,
        layouts,
    }
}

/// A run that has its place in the store.
pub struct Session<'a> {
    context: &'a Context,
    store: &'a mut Store,
    run: RunId,
    head: &'a RunHead,
    past: &'a [(Trial, TrialOutcome)],
}

impl<'a> Session<'a> {
    /// A new run.
    ///
    /// # Errors
    /// When the store cannot take it.
    pub fn begin(context: &'a Context, store: &'a mut Store, head: &'a RunHead) -> Result<Session<'a>, RunError> {
        let run = store.begin(head)?;
        Ok(Session { context, store, run, head, past: &[] })
    }

    /// A run that was begun before, with the trials that it has.
    ///
    /// # Errors
    /// When the store does not have it.
    pub fn resume(
        context: &'a Context,
        store: &'a mut Store,
        name: &str,
        (head, past): (&'a RunHead, &'a [(Trial, TrialOutcome)]),
    ) -> Result<Session<'a>, RunError> {
        let run = store.reopen(name)?;
        Ok(Session { context, store, run, head, past })
    }

    /// Its name.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Trials of earlier sittings.
    #[must_use]
    pub fn trials_done(&self) -> usize {
        self.past.len()
    }

    /// Measures what is not measured yet, and writes down the end.
    ///
    /// # Errors
    /// When measuring cannot go on. What was measured until then is in the store.
    pub fn measure(&mut self, executor: &mut dyn Executor) -> Result<RunSummary, RunError> {
        let job = Job { strategy: Comparison::new(&self.head.plan, &self.head.spec.decision), past: self.past };
        let benchmarks = self.head.plan.benchmarks.iter().map(|b| &b.id).collect();
        let measure = |observer: &mut dyn Observer| measure(job, &mut *executor, observer, &self.context.interrupted);
        let measured = sitting(self.context, (&mut *self.store, self.run), benchmarks, measure);
        let layouts = executor.layouts().and_then(|layouts| layouts.concerning(&self.head.plan));
        let left = told_leftovers();
        let layouts = layouts.or_else(|| self.head.layouts.clone());
        if !left.is_empty() || layouts != self.head.layouts {
            let warnings = [self.head.warnings.clone(), left].concat();
            self.store.amend(self.run, &RunHead { layouts, warnings, ..self.head.clone() })?;
        }
        measured
    }

    /// The report of what is in the store.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn report(&self) -> Result<Report, RunError> {
        assemble::stored(self.store, self.run)
    }

    /// The store, once the run needs it no more.
    #[must_use]
    pub fn into_store(self) -> &'a mut Store {
        self.store
    }
}

/// Has a run measured, every trial kept and shown, and writes down its end.
///
/// # Errors
/// When measuring cannot go on. What was measured until then is in the store.
pub fn sitting(
    context: &Context,
    (store, run): (&mut Store, RunId),
    benchmarks: Vec<&BenchmarkId>,
    measure: impl FnOnce(&mut dyn Observer) -> Result<RunSummary, RunError>,
) -> Result<RunSummary, RunError> {
    let before = CpuTimes::now();
    let mut recorder = Recorder::new(store, run, benchmarks, &context.printer);
    let measured = measure(&mut recorder);
    recorder.finish();
    let summary = measured?;
    let steal_share = before.zip(CpuTimes::now()).map(|(before, after)| after.steal_share_since(before));
    store.end(run, &summary, steal_share)?;
    Ok(summary)
}

/// One run per machine: waits for its turn, no longer than `--wait` says. Absent where nothing is timed.
///
/// # Errors
/// When another run holds the machine and waiting was declined, took too long or was interrupted.
pub fn lock_machine(context: &Context) -> Result<Option<MachineLock>, RunError> {
    if context.settings.dry_run() {
        return Ok(None);
    }
    let path = std::env::var_os("DUET_LOCK").map_or_else(lock::default_path, Into::into);
    let applicant = Applicant { path: &path, directory: &context.cwd, limit: context.settings.wait() };
    let mut display = None;
    let lock = applicant.acquire(&context.interrupted, |waiting| {
        let words = in_words(waiting);
        let display = display.get_or_insert_with(|| {
            context.printer.note(&words);
            Display::new(&context.printer, 0, "{msg}")
        });
        display.show(|bar| bar.set_message(words.clone()), || words.clone());
    });
    display.iter().for_each(Display::finish);
    lock.map(Some)
}

/// Whom we wait for, and how long: `waiting for process 12 in `/shop` since 1:20, 2 before you`.
fn in_words(waiting: &Waiting) -> String {
    let holder = waiting.holder.as_deref().unwrap_or("another run");
    let before = if waiting.before > 0 { format!(", {} before you", waiting.before) } else { String::new() };
    format!("waiting for {holder} since {}{before}", clock(waiting.since.as_secs()))
}

fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wait_is_told_with_a_clock() {
        let check = |holder: Option<&str>, before, seconds, want| {
            let since = Duration::from_secs(seconds);
            assert_eq!(in_words(&Waiting { holder: holder.map(str::to_owned), before, since }), want);
        };
        check(Some("process 12 in `/shop`"), 2, 80, "waiting for process 12 in `/shop` since 1:20, 2 before you");
        check(None, 0, 3671, "waiting for another run since 1:01:11");
    }
}
