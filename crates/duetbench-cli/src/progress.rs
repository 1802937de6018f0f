//! What a run shows while it goes on: a bar on a terminal, a line now and then in a log.

use std::time::{Duration, Instant};

use duetbench_core::{BenchmarkId, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Activity, Observer, Progress, TrialOutcome};
use duetbench_run::store::{RunId, Store};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(15);
/// How often a terminal is redrawn at most.
const DRAW_HZ: u8 = 4;

/// Keeps every trial in the store and shows how far the run is.
pub struct Recorder<'a> {
    store: &'a mut Store,
    run: RunId,
    benchmarks: Vec<&'a BenchmarkId>,
    printer: &'a Printer,
    bar: Option<ProgressBar>,
    logged: Instant,
}

impl<'a> Recorder<'a> {
    /// A recorder for a run of these benchmarks that has begun.
    pub fn new(
        store: &'a mut Store,
        run: RunId,
        benchmarks: Vec<&'a BenchmarkId>,
        printer: &'a Printer,
    ) -> Recorder<'a> {
        let bar = printer.is_live().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
            let template = "{bar:24} {percent:>3} %  {prefix}  {msg}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Recorder { store, run, benchmarks, printer, bar, logged: Instant::now() }
    }

    /// Ends the display.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Recorder<'_> {
    fn begins(&mut self, progress: &Progress<'_>) {
        let left = humantime::format_duration(Duration::from_secs(progress.left.as_secs() + 1));
        let share = progress.elapsed.as_secs_f64() / (progress.elapsed + progress.left).as_secs_f64().max(1e-9);
        let (settled, most) = match progress.activity {
            Activity::Solo(..) => ("done", ""),
            Activity::Linking(_) | Activity::Trial(..) => ("settled", " at most"),
        };
        let settled = format!("{}/{} {settled}", progress.settled, self.benchmarks.len());
        let confirming = if progress.round > 0 { "confirming regressions, " } else { "" };
        let activity = match progress.activity {
            Activity::Linking(programs) => format!("linking {programs} programs"),
            Activity::Trial(benchmark, forks) => format!("{}, {forks} fork pairs done", benchmark.name),
            Activity::Solo(benchmark, (suite_run, of)) => {
                format!("{}, suite run {} of {of}", benchmark.name, suite_run + 1)
            }
        };
        if let Some(bar) = &self.bar {
            bar.set_position((share * 1000.0) as u64);
            bar.set_prefix(format!("{settled}, {left} left{most}"));
            bar.set_message(format!("{confirming}{activity}"));
        } else if self.logged.elapsed() >= LOG_EVERY && !self.printer.is_quiet() {
            self.logged = Instant::now();
            self.printer.note(&format!("{settled}, {left} left{most}, {confirming}at {activity}"));
        }
    }

    fn ended(&mut self, trial: &Trial, outcome: &TrialOutcome) -> Result<(), RunError> {
        self.store.add_trial(self.run, trial, outcome)?;
        if let Err(failure) = &outcome.result {
            let name = &self.benchmarks[trial.benchmark].name;
            let role = failure.role.map_or(String::new(), |role| format!(" ({})", role.word()));
            let first_line = failure.reason.lines().next().unwrap_or_default();
            let fate = if failure.discarded { "discarded a trial" } else { "failed" };
            let text = format!("{name}{role} {fate}: {first_line}");
            match &self.bar {
                Some(bar) => bar.suspend(|| self.printer.note(&text)),
                None => self.printer.note(&text),
            }
        }
        Ok(())
    }
}
