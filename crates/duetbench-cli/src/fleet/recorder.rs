//! What a run on a fleet shows while it goes on, and what it keeps.

use std::time::{Duration, Instant};

use duetbench_core::fleet::{CallEnd, Task};
use duetbench_core::{BenchmarkId, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::fleet::campaign::{Call, FleetObserver, FleetProgress};
use duetbench_run::store::{RunId, Store};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;
use crate::render::fleet::dollars;

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(15);
/// How often a terminal is redrawn at most.
const DRAW_HZ: u8 = 4;
/// Failed calls that are told one by one; later ones are only counted.
const TOLD_MAX: u32 = 20;

/// Keeps every call in the store and shows how far the run is.
pub struct FleetRecorder<'a> {
    store: &'a mut Store,
    run: RunId,
    benchmarks: Vec<&'a BenchmarkId>,
    printer: &'a Printer,
    bar: Option<ProgressBar>,
    logged: Instant,
    told: u32,
}

impl<'a> FleetRecorder<'a> {
    /// A recorder for a run of these benchmarks that has begun.
    pub fn new(
        store: &'a mut Store,
        run: RunId,
        benchmarks: Vec<&'a BenchmarkId>,
        printer: &'a Printer,
    ) -> FleetRecorder<'a> {
        let bar = printer.is_live().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
            let template = "{bar:24} {pos}/{len} calls  {msg}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        FleetRecorder { store, run, benchmarks, printer, bar, logged: Instant::now(), told: 0 }
    }

    /// Ends the display.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn tell(&mut self, text: &str) {
        self.told += 1;
        if self.told <= TOLD_MAX {
            match &self.bar {
                Some(bar) => bar.suspend(|| self.printer.note(text)),
                None => self.printer.note(text),
            }
        }
    }
}

impl FleetObserver for FleetRecorder<'_> {
    fn sends(&mut self, task: Task, sending: u32) -> Result<(), RunError> {
        self.store.add_sent(self.run, task, sending)
    }

    fn ended(&mut self, call: &Call, trials: &[(Trial, TrialOutcome)]) -> Result<(), RunError> {
        self.store.add_call(self.run, call, trials)?;
        if let Some(words) = &call.words {
            let name = self.benchmarks.get(call.task.benchmark as usize).map_or("?", |id| id.name.as_str());
            let first_line = words.lines().next().unwrap_or_default();
            let what = if call.end == CallEnd::Counted { "failed" } else { "gave nothing" };
            self.tell(&format!("{name}: a call {what}: {first_line}"));
        }
        Ok(())
    }

    fn stands(&mut self, progress: &FleetProgress) {
        let t = &progress.tallied;
        let settled = format!("{}/{} settled", progress.settled, self.benchmarks.len());
        let troubles = [("throttled", t.throttled), ("lost", t.lost), ("given up", t.given_up)];
        let troubles: String =
            troubles.iter().filter(|(_, n)| *n > 0).map(|(word, n)| format!(", {n} {word}")).collect();
        let text = format!("{settled}, {} in flight{troubles}, {}", t.in_flight, dollars(t.cost_usd));
        if let Some(bar) = &self.bar {
            bar.set_length(t.tasks.into());
            bar.set_position(t.done.into());
            bar.set_message(text);
        } else if self.logged.elapsed() >= LOG_EVERY && !self.printer.is_quiet() {
            self.logged = Instant::now();
            self.printer.note(&format!("{}/{} calls, {text}", t.done, t.tasks));
        }
    }
}
