//! Shows the progress of a run on a fleet, and stores its calls and trials.

use duetbench_core::fleet::{CallEnd, Sending};
use duetbench_core::{BenchmarkId, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::fleet::campaign::{Call, FleetObserver, FleetProgress};
use duetbench_run::store::{RunId, Store};
use indicatif::ProgressBar;

use crate::display::Display;
use crate::printer::Printer;
use crate::render::fleet::dollars;

/// Failed calls that are told one by one; later ones are only counted.
const TOLD_MAX: u32 = 20;

/// Keeps every call in the store and shows how far the run is.
pub struct FleetRecorder<'a> {
    store: &'a mut Store,
    run: RunId,
    benchmarks: Vec<&'a BenchmarkId>,
    display: Display<'a>,
    told: u32,
    told_stopping: bool,
}

impl<'a> FleetRecorder<'a> {
    /// A recorder for a run of these benchmarks that has begun.
    pub fn new(
        store: &'a mut Store,
        run: RunId,
        benchmarks: Vec<&'a BenchmarkId>,
        printer: &'a Printer,
    ) -> FleetRecorder<'a> {
        let display = Display::new(printer, 1, "{bar:24} {pos}/{len} calls  {msg}");
        FleetRecorder { store, run, benchmarks, display, told: 0, told_stopping: false }
    }

    /// Ends the display.
    pub fn finish(&self) {
        self.display.finish();
    }

    fn tell(&mut self, text: &str) {
        self.told += 1;
        if self.told <= TOLD_MAX {
            self.display.tell(text);
        }
    }
}

impl FleetObserver for FleetRecorder<'_> {
    fn sends(&mut self, sending: Sending) -> Result<(), RunError> {
        self.store.add_sent(self.run, sending)
    }

    fn ended(&mut self, call: &Call, trials: &[(Trial, TrialOutcome)]) -> Result<(), RunError> {
        self.store.add_call(self.run, call, trials)?;
        if let Some(words) = &call.words {
            let name = self.benchmarks.get(call.sending.task.benchmark as usize).map_or("?", |id| id.name.as_str());
            let first_line = words.lines().next().unwrap_or_default();
            let what = if call.end == CallEnd::Counted { "failed" } else { "gave nothing" };
            self.tell(&format!("{name}: a call {what}: {first_line}"));
        }
        Ok(())
    }

    fn stands(&mut self, progress: &FleetProgress) {
        let t = &progress.tallied;
        if progress.stopping && t.in_flight > 0 && !std::mem::replace(&mut self.told_stopping, true) {
            let text = format!(
                "stopping: {} calls that were sent are waited for; a second Ctrl-C leaves them (then `duet fleet sweep`)",
                t.in_flight
            );
            self.display.tell(&text);
        }
        let settled = format!("{}/{} settled", progress.settled, self.benchmarks.len());
        let troubles = [("throttled", t.throttled), ("lost", t.lost), ("given up", t.given_up)];
        let troubles: String =
            troubles.iter().filter(|(_, n)| *n > 0).map(|(word, n)| format!(", {n} {word}")).collect();
        let text = format!("{settled}, {} in flight{troubles}, {}", t.in_flight, dollars(t.cost_usd));
        let on_bar = |bar: &ProgressBar| {
            bar.set_length(t.tasks.into());
            bar.set_position(t.done.into());
            bar.set_message(text.clone());
        };
        self.display.show(on_bar, || format!("{}/{} calls, {text}", t.done, t.tasks));
    }
}
