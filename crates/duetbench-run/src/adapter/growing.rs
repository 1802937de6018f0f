//! A process that lists benchmarks, and the file that grows while it does.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::error::RunError;
use crate::process::{Launch, WaitEnd, end_leftovers, failure_words, wait_all, words_of_death};

/// Most benchmarks of one program that may take the process down with them before we give the program up.
pub(super) const CULPRITS_MAX: usize = 25;

/// Output and end of a process that writes a list.
pub(super) struct Listed {
    /// The tail of its output.
    pub(super) output: String,
    /// Cause of its death, with its last words; absent when it ended well.
    pub(super) death: Option<String>,
}

/// Runs a process to its end, or until the file that it writes has not grown for `timeout`: it then counts as hung and is killed.
///
/// # Errors
/// When it cannot be started, or on an interrupt.
pub(super) fn run(
    launch: &Launch,
    file: &Path,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<Listed, RunError> {
    let listed = run_to_its_end(launch, file, timeout, interrupted);
    end_leftovers("listing");
    listed
}

fn run_to_its_end(
    launch: &Launch,
    file: &Path,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<Listed, RunError> {
    let mut children = [launch.spawn()?];
    let mut length = 0;
    let hung = loop {
        match wait_all(&mut children, Instant::now() + timeout, interrupted, |_| {}) {
            WaitEnd::Interrupted => return Err(RunError::Interrupted),
            WaitEnd::Ended => break None,
            WaitEnd::TimedOut => {
                let grown = fs::metadata(file).map_or(0, |m| m.len());
                if grown == length {
                    children[0].kill();
                    let limit = timeout.as_secs();
                    break Some(format!("no answer within {limit} s: it hangs, or `--timeout` is too short"));
                }
                length = grown;
            }
        }
    };
    let output = children[0].output_tail();
    // All that a process which hangs has printed is about those before.
    let died = || children[0].status().and_then(failure_words).map(|death| words_of_death(&death, &output));
    let death = hung.or_else(died);
    Ok(Listed { output, death })
}

/// Undoes `\\`, `\t`, `\n` and `\r`.
pub(super) fn unescaped(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(c) = characters.next() {
        text.push(match c {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    text
}
