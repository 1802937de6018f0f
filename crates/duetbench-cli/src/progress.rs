//! Progress of a run: on a terminal a bar below the answers so far, in a log a line now and then.

use std::time::{Duration, Instant};

use duetbench_core::analysis::Seen;
use duetbench_core::{BenchmarkId, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::{Activity, Observer, Progress, TrialOutcome};
use duetbench_run::store::{RunId, Store};
use indicatif::ProgressBar;

use crate::display::Display;
use crate::printer::Printer;
use crate::render::format::{many, one_line};

/// Time between two tables of the answers so far: they change at looks only, and large suites take a while to sort.
const TABLE_EVERY: Duration = Duration::from_millis(250);

/// Keeps every trial in the store and shows how far the run is.
pub struct Recorder<'a> {
    store: &'a mut Store,
    run: RunId,
    benchmarks: Vec<&'a BenchmarkId>,
    printer: &'a Printer,
    display: Display<'a>,
    /// The answers so far, as they were drawn at this time.
    table: String,
    drawn: Option<Instant>,
}

impl<'a> Recorder<'a> {
    /// A recorder for a run of these benchmarks that has begun.
    pub fn new(
        store: &'a mut Store,
        run: RunId,
        benchmarks: Vec<&'a BenchmarkId>,
        printer: &'a Printer,
    ) -> Recorder<'a> {
        let display = Display::new(printer, 1000, "{prefix}{bar:24} {percent:>3} %  {msg}");
        Recorder { store, run, benchmarks, printer, display, table: String::new(), drawn: None }
    }

    /// Draws the answers so far, where it is time for that.
    fn draw(&mut self, answers: &[Option<Seen>]) {
        if self.printer.is_live() && self.drawn.is_none_or(|drawn| drawn.elapsed() >= TABLE_EVERY) {
            self.table = self.printer.live_table(&self.benchmarks, answers).unwrap_or_default();
            self.drawn = Some(Instant::now());
        }
    }

    /// Ends the display.
    pub fn finish(&self) {
        self.display.finish();
    }
}

impl Observer for Recorder<'_> {
    fn begins(&mut self, progress: &Progress<'_>) {
        let left = humantime::format_duration(Duration::from_secs(progress.left.as_secs() + 1));
        let share = progress.elapsed.as_secs_f64() / (progress.elapsed + progress.left).as_secs_f64().max(1e-9);
        let settled = match progress.activity {
            Activity::Solo(..) => "done",
            Activity::Linking(_) | Activity::Trial(..) => "settled",
        };
        let left = if progress.is_bound { format!("at most {left} left") } else { format!("about {left} left") };
        let settled = format!("{}/{} {settled}", progress.settled, self.benchmarks.len());
        let confirming = if progress.round > 0 { "confirming regressions, " } else { "" };
        let activity = match progress.activity {
            Activity::Linking(programs) => format!("linking {programs} programs"),
            Activity::Trial(benchmark, forks) => {
                format!("{}, {} done", one_line(&benchmark.name), many(forks as usize, "fork pair", "fork pairs"))
            }
            Activity::Solo(benchmark, (suite_run, of)) => {
                format!("{}, suite run {} of {of}", one_line(&benchmark.name), suite_run + 1)
            }
        };
        if let Some(answers) = progress.answers {
            self.draw(answers);
        }
        let table = &self.table;
        let on_bar = |bar: &ProgressBar| {
            bar.set_position((share * 1000.0) as u64);
            bar.set_prefix(table.clone());
            bar.set_message(format!("{settled}, {left}  {confirming}{activity}"));
        };
        self.display.show(on_bar, || format!("{settled}, {left}, {confirming}at {activity}"));
    }

    fn ended(&mut self, trial: &Trial, outcome: &TrialOutcome) -> Result<(), RunError> {
        self.store.add_trial(self.run, trial, outcome)?;
        if let Err(failure) = &outcome.result {
            let name = &self.benchmarks[trial.benchmark].name;
            let role = failure.role.map_or(String::new(), |role| format!(" ({})", role.side()));
            let first_line = failure.reason.lines().next().unwrap_or_default();
            let fate = if failure.discarded { "discarded a trial" } else { "failed" };
            self.display.tell(&format!("{name}{role} {fate}: {first_line}"));
        }
        Ok(())
    }
}
