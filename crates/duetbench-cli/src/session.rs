//! A run, from its plan to its end in the store: what every command that measures has in common.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use duetbench_core::calibrate::Machine;
use duetbench_core::environment::Environment;
use duetbench_core::plan::{Plan, SoloBenchmark};
use duetbench_core::report::{LayoutsUsed, VersionInfo};
use duetbench_core::{BenchmarkId, Report, Spec, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Comparison, Executor, Job, OneVersion, RunSummary, Strategy, TrialOutcome, measure};
use duetbench_run::environment::{self, CpuTimes};
use duetbench_run::lock::{self, Applicant, MachineLock, Waiting};
use duetbench_run::noise;
use duetbench_run::process::{end_abandoned, told_leftovers};
use duetbench_run::store::{Origin, RunHead, RunId, SoloHead, Store, StoredHead, StoredRun};

use crate::assemble;
use crate::commands::Context;
use crate::display::Display;
use crate::failure::Failure;
use crate::progress::Recorder;
use crate::render::calibrate::words::changes;
use crate::render::format;

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

/// Layouts of a run, after a sitting in which build pairs had these.
fn layouts_so_far(head: &RunHead, used: Option<LayoutsUsed>) -> Option<LayoutsUsed> {
    let now = used.and_then(|used| used.concerning(&head.plan));
    match (now, &head.layouts) {
        (Some(now), Some(earlier)) => Some(now.after(earlier)),
        (now, earlier) => now.or_else(|| earlier.clone()),
    }
}

/// A run that has its place in the store.
pub struct Session<'a> {
    context: &'a Context,
    store: &'a mut Store,
    run: RunId,
    /// Trials of earlier sittings, and the time that these took.
    past: &'a [(Trial, TrialOutcome)],
    before: Duration,
    /// Whether something that verdicts rest on follows the trials, so that these are not the run's end.
    goes_on: bool,
}

impl<'a> Session<'a> {
    /// A new run.
    ///
    /// # Errors
    /// When the store cannot take it.
    pub fn begin(context: &'a Context, store: &'a mut Store, head: &impl StoredHead) -> Result<Session<'a>, RunError> {
        let run = store.begin(head)?;
        Ok(Session { context, store, run, past: &[], before: Duration::ZERO, goes_on: false })
    }

    /// A run that was begun before, as it was stored.
    ///
    /// # Errors
    /// When the store does not have it.
    pub fn resume<H>(
        context: &'a Context,
        store: &'a mut Store,
        stored: &'a StoredRun<H>,
    ) -> Result<Session<'a>, RunError> {
        let run = store.reopen(&stored.name)?;
        let before = Duration::try_from_secs_f64(stored.measured_s).unwrap_or_default();
        Ok(Session { context, store, run, past: &stored.trials, before, goes_on: false })
    }

    /// The same session, in which the run is not at its end with its last trial if something follows that verdicts rest on; then
    /// [`Kept::ends`] says so.
    pub fn going_on(self, goes_on: bool) -> Session<'a> {
        Session { goes_on, ..self }
    }

    /// The command's context.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// Its name.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Tells people that so many benchmarks of these versions are going to be measured, in about so much time.
    pub fn announce(&self, versions: &str, benchmarks: usize, predicted: Duration) {
        let predicted = humantime::format_duration(Duration::from_secs(predicted.as_secs() + 1));
        let past = self.past.len();
        let so_far = if past > 0 { format!(", going on after {past} trials") } else { String::new() };
        self.context.printer.note(versions);
        let (run, benchmarks) = (self.run, format::benchmarks(benchmarks));
        self.context.printer.note(&format!("run {run}: measuring {benchmarks}, about {predicted}{so_far}"));
    }

    /// Measures what a comparison lacks, and writes down the end.
    ///
    /// # Errors
    /// When measuring cannot go on. What was measured until then is in the store.
    pub fn compare(&mut self, head: &RunHead, executor: &mut dyn Executor) -> Result<RunSummary, RunError> {
        let strategy = Comparison::new(&head.plan, head.spec.thresholds());
        let measured = self.measure(strategy, head.plan.benchmarks.iter().map(|b| &b.id).collect(), executor);
        let layouts = layouts_so_far(head, executor.layouts());
        let left = told_leftovers();
        if !left.is_empty() || layouts != head.layouts {
            let warnings = [head.warnings.clone(), left].concat();
            self.store.amend(self.run, &RunHead { layouts, warnings, ..head.clone() })?;
        }
        measured
    }

    /// The same for a run of one version.
    ///
    /// # Errors
    /// When measuring cannot go on. What was measured until then is in the store.
    pub fn record(
        &mut self,
        head: &SoloHead,
        executor: &mut dyn Executor<SoloBenchmark>,
    ) -> Result<RunSummary, RunError> {
        let strategy = OneVersion::new(&head.plan);
        let measured = self.measure(strategy, head.plan.benchmarks.iter().map(|b| &b.id).collect(), executor);
        let left = told_leftovers();
        if !left.is_empty() {
            let warnings = [head.warnings.clone(), left].concat();
            self.store.amend(self.run, &SoloHead { warnings, ..head.clone() })?;
        }
        measured
    }

    /// Has every trial kept and shown, and writes down the end.
    fn measure<S: Strategy>(
        &mut self,
        strategy: S,
        benchmarks: Vec<&BenchmarkId>,
        executor: &mut dyn Executor<S::Benchmark>,
    ) -> Result<RunSummary, RunError> {
        let before = CpuTimes::now();
        let mut recorder = Recorder::new(self.store, self.run, benchmarks, &self.context.printer);
        let job = Job { strategy, past: self.past, before: self.before };
        let measured = measure(job, executor, &mut recorder, &self.context.interrupted);
        recorder.finish();
        let summary = measured?;
        let steal_share = before.zip(CpuTimes::now()).map(|(before, after)| after.steal_share_since(before));
        let at_its_end = RunSummary { complete: summary.complete && !self.goes_on, ..summary };
        self.store.end(self.run, &at_its_end, steal_share)?;
        Ok(summary)
    }

    /// Tells people how to go on with a run that did not come to its end.
    pub fn tell_how_to_go_on(&self, goes_on: &str, measured: &Result<RunSummary, RunError>) {
        match measured {
            Ok(summary) if summary.complete => {}
            Ok(_) => tell_interrupted(self.context, goes_on),
            Err(_) => self.context.printer.note(&format!(
                "what was measured until then is stored: `duet show {}{}`; `{}` goes on",
                self.run,
                self.context.settings.db_typed(),
                resuming(self.context, goes_on)
            )),
        }
    }

    /// The run, once nothing more of it is measured.
    pub fn into_kept(self) -> Kept<'a> {
        Kept { store: self.store, run: self.run }
    }
}

/// A run in the store, once nothing more of it is measured.
pub struct Kept<'a> {
    /// The store.
    pub store: &'a mut Store,
    /// The run.
    pub run: RunId,
}

impl Kept<'_> {
    /// Its report, judged as it stands.
    ///
    /// # Errors
    /// When it cannot be read, or is no comparison.
    pub fn report(&self) -> Result<Report, RunError> {
        assemble::stored(self.store, self.run)
    }

    /// Notes that the run is at its end.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn ends(&mut self) -> Result<(), RunError> {
        self.store.complete(self.run)
    }
}

/// Tells people how to go on with a run that was interrupted.
pub fn tell_interrupted(context: &Context, goes_on: &str) {
    context.printer.note(&format!("interrupted; `{}` goes on from here", resuming(context, goes_on)));
}

/// The command that goes on with a run, as it is typed, of its words behind `duet`.
pub fn resuming(context: &Context, goes_on: &str) -> String {
    format!("duet {goes_on}{}", context.settings.bounds_typed())
}

/// The stored run, if it can be gone on with.
///
/// # Errors
/// When it came to its end.
pub fn unfinished<H>(context: &Context, stored: StoredRun<H>) -> Result<StoredRun<H>, Failure> {
    if stored.complete {
        let (run, db) = (&stored.name, context.settings.db_typed());
        return Err(Failure::usage(format!("run `{run}` came to its end: `duet show {run}{db}` prints its report")));
    }
    Ok(stored)
}

/// Checks that a version is what was measured before.
///
/// # Errors
/// When it is another one.
pub fn same_version(now: &VersionInfo, then: &VersionInfo) -> Result<(), Failure> {
    if now.artifact_digest == then.artifact_digest {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{}` is not what it was when the run began (its binaries differ): the run cannot go on, begin a new one",
        then.requested
    )))
}

/// Checks that this is the machine on which a run was begun: times of two do not go together.
///
/// # Errors
/// When it is another one.
pub fn same_machine(then: &Environment) -> Result<(), Failure> {
    let now = environment::describe(&then.toolchain, env!("CARGO_PKG_VERSION"));
    let mut moved = Machine::of(then, None).differences(&Machine::of(&now, None));
    moved.retain(|fact| PLACE.contains(&fact.fact.as_str()));
    if moved.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!("the run was begun on another machine: {}", changes(&moved)))
        .hint("times of two do not go together: go on there, or begin a new run"))
}

/// Facts of a machine that cannot change while a run waits; what runs on it may.
const PLACE: [&str; 3] = ["platform", "processor", "usable processors"];

/// Refuses to go on with what was begun where nothing is to be measured.
///
/// # Errors
/// When a variable or a file asks for a dry run; one that is typed is refused before.
pub fn refuse_dry_run(context: &Context) -> Result<(), Failure> {
    if context.settings.dry_run() {
        return Err(Failure::usage("a dry run goes on with nothing, and a variable or `duet.toml` sets `dry_run`")
            .hint("`DUET_DRY_RUN=false` before the command takes it back"));
    }
    Ok(())
}

/// The lock of a command that stops before measuring in a dry run: absent there, where nothing is timed.
///
/// # Errors
/// Those of [`lock_machine`].
pub fn lock_unless_dry(context: &Context) -> Result<Option<MachineLock>, RunError> {
    if context.settings.dry_run() { Ok(None) } else { lock_machine(context).map(Some) }
}

/// One run per machine: waits for its turn, no longer than `--wait` says.
///
/// # Errors
/// When another run holds the machine and waiting was declined, took too long or was interrupted.
pub fn lock_machine(context: &Context) -> Result<MachineLock, RunError> {
    let path = lock_path();
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
    let lock = lock?;
    end_abandoned().iter().for_each(|words| context.printer.note(words));
    Ok(lock)
}

/// Keeps other runs from this machine, or fails where one holds it.
///
/// # Errors
/// When one does, or there is no lock to be had.
pub fn hold_machine_at_once(context: &Context) -> Result<MachineLock, RunError> {
    let applicant = Applicant { path: &lock_path(), directory: &context.cwd, limit: Some(Duration::ZERO) };
    applicant.acquire(&context.interrupted, |_| {})
}

fn lock_path() -> PathBuf {
    lock_of(std::env::var_os("DUET_LOCK"))
}

/// The file of the lock, as it is set; an empty variable is none.
fn lock_of(set: Option<OsString>) -> PathBuf {
    set.filter(|path| !path.is_empty()).map_or_else(lock::default_path, Into::into)
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
    use super::*;

    #[test]
    fn an_empty_lock_is_none() {
        assert_eq!(["", "a"].map(|set| lock_of(Some(set.into()))), [lock::default_path(), "a".into()]);
    }

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
