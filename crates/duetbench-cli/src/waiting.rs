//! A quiet step that people wait for, and how long it has taken so far: nothing else tells a long step from one that hangs.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::display::{LOG_EVERY, bar};
use crate::printer::Printer;
use crate::render::format::one_line;

/// Time between two redraws on a terminal.
const DRAW_EVERY: Duration = Duration::from_secs(1);

/// A step that has begun; it ends when this is dropped. Nothing else may be told meanwhile.
pub struct Waiting<'a> {
    printer: &'a Printer,
    words: String,
    began: Instant,
    /// The line of a terminal in which the time goes on; in a log there are lines now and then.
    line: Option<ProgressBar>,
    ticker: Option<Ticker>,
}

impl<'a> Waiting<'a> {
    /// Tells people that a step begins which these words name, as *building v1.2*.
    pub fn begin(printer: &'a Printer, words: String) -> Waiting<'a> {
        // A command line may be among them.
        let words = one_line(&words);
        let (text, log) = (words.clone(), printer.clone());
        let line = printer.is_live().then(|| line(&words));
        let ticker = if let Some(line) = line.clone() {
            Ticker::every(DRAW_EVERY, move |elapsed| line.set_message(so_far(&text, elapsed)))
        } else {
            printer.note(&words);
            Ticker::every(LOG_EVERY, move |elapsed| log.note(&format!("still {}", so_far(&text, elapsed))))
        };
        Waiting { printer, words, began: Instant::now(), line, ticker: Some(ticker) }
    }
}

impl Drop for Waiting<'_> {
    /// Ends the display; a terminal keeps what was done and how long it took.
    fn drop(&mut self) {
        drop(self.ticker.take());
        if let Some(line) = &self.line {
            line.finish_and_clear();
            self.printer.note(&so_far(&self.words, self.began.elapsed()));
        }
    }
}

/// A line of the terminal with these words.
fn line(words: &str) -> ProgressBar {
    let line = bar(None, "{wide_msg}");
    line.set_message(words.to_owned());
    line.tick();
    line
}

/// A step with the time that it has taken, where that is worth a word.
fn so_far(words: &str, elapsed: Duration) -> String {
    match elapsed.as_secs() {
        0 => words.to_owned(),
        s => format!("{words}, {}", humantime::format_duration(Duration::from_secs(s))),
    }
}

/// A thread that tells the time so far again and again, until this is dropped.
struct Ticker {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn every(period: Duration, mut tell: impl FnMut(Duration) + Send + 'static) -> Ticker {
        let (end, ended) = mpsc::channel::<()>();
        let began = Instant::now();
        let ticking = move || {
            while ended.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                tell(began.elapsed());
            }
        };
        // Where no thread can be started, the step goes on without.
        Ticker { end: Some(end), thread: thread::Builder::new().spawn(ticking).ok() }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.end.take());
        // A display that failed must not take the command with it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_tells_its_time_again_and_again_until_it_ends() {
        let (tell, told) = mpsc::channel();
        let ticker = Ticker::every(Duration::from_millis(1), move |elapsed| {
            let _ = tell.send(elapsed);
        });
        let (first, second) = (told.recv().unwrap(), told.recv().unwrap());
        assert!(first < second);
        drop(ticker);
        // Times told before it ended are left, and then nobody is there to tell more.
        assert!(told.iter().all(|later| later > second));
    }

    #[test]
    fn the_time_is_told_once_there_is_some() {
        let check = |ms, want: &str| assert_eq!(so_far("building v1.2", Duration::from_millis(ms)), want);
        check(999, "building v1.2");
        check(1000, "building v1.2, 1s");
        check(75_400, "building v1.2, 1m 15s");
    }
}
