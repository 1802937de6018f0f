//! The live display of long work: a bar on a terminal, a line now and then in a log, and notes that do not get in the bar's way.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(15);
/// How often a terminal is redrawn at most.
const DRAW_HZ: u8 = 4;

/// What is shown of work while it goes on.
pub struct Display<'a> {
    printer: &'a Printer,
    bar: Option<ProgressBar>,
    logged: Instant,
}

impl<'a> Display<'a> {
    /// A display of work of this length, with a bar as the template says.
    #[must_use]
    pub fn new(printer: &'a Printer, length: u64, template: &str) -> Display<'a> {
        let bar = printer.is_live().then(|| {
            let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Display { printer, bar, logged: Instant::now() }
    }

    /// Moves the bar, where there is one, and gives a log its line when it is due.
    pub fn show(&mut self, on_bar: impl FnOnce(&ProgressBar), line: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            on_bar(bar);
        } else if self.logged.elapsed() >= LOG_EVERY && !self.printer.is_quiet() {
            self.logged = Instant::now();
            self.printer.note(&line());
        }
    }

    /// Tells people something; the bar stands below it.
    pub fn tell(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.printer.note(text)),
            None => self.printer.note(text),
        }
    }

    /// Ends the display.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
