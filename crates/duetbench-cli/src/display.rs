//! The live display of long work: a bar on a terminal, a line now and then in a log, and notes that do not get in the bar's way.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::printer::Printer;
use crate::render::format::one_line;

/// Time between two lines in a log.
pub const LOG_EVERY: Duration = Duration::from_secs(15);
/// Most redraws of a terminal per second.
const DRAW_HZ: u8 = 4;

/// A line of the terminal that the template draws, for work of this length if it is known.
pub fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Progress of work: a bar on a terminal, or lines in a log.
pub struct Display<'a> {
    printer: &'a Printer,
    bar: Option<ProgressBar>,
    logged: Instant,
}

impl<'a> Display<'a> {
    /// A display of work of this length, with a bar as the template says.
    pub fn new(printer: &'a Printer, length: u64, template: &str) -> Display<'a> {
        let bar = printer.is_live().then(|| bar(Some(length), template));
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

/// Progress of one action on several things, one after the other.
pub struct Counting<'a> {
    display: Display<'a>,
    /// The action as a participle: *reading*.
    doing: &'static str,
    count: usize,
    begun: usize,
}

impl<'a> Counting<'a> {
    /// A display of so many things to which `doing` is done.
    pub fn new(printer: &'a Printer, doing: &'static str, count: usize) -> Counting<'a> {
        let display = Display::new(printer, count as u64, "{bar:24} {pos}/{len}  {msg}");
        Counting { display, doing, count, begun: 0 }
    }

    /// The next thing begins, which has this name.
    pub fn begins(&mut self, name: &str) {
        let name = one_line(name);
        let (doing, count, done) = (self.doing, self.count, self.begun);
        self.begun += 1;
        let on_bar = |bar: &ProgressBar| {
            bar.set_position(done as u64);
            bar.set_message(format!("{doing} {name}"));
        };
        self.display.show(on_bar, || format!("{doing} {name}, {} of {count}", done + 1));
    }

    /// Tells people something.
    pub fn tell(&self, text: &str) {
        self.display.tell(text);
    }

    /// Ends the display.
    pub fn finish(&self) {
        self.display.finish();
    }
}
