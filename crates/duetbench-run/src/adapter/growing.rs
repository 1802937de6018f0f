//! A process that lists benchmarks, and the file that grows while it does.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::engine::read_regular;
use crate::error::RunError;
use crate::process::{Launch, WaitEnd, end_leftovers, failure_words, hangs, wait_all, words_of_death};

/// Most benchmarks of one program that may take the process down with them before we give the program up.
pub(super) const CULPRITS_MAX: usize = 25;

/// Most bytes of a list that are read.
const LIST_BYTES_MAX: usize = 1 << 26;

/// File, output and end of a process that writes a list.
pub(super) struct Listed {
    /// All that it wrote to the file.
    pub(super) text: String,
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
    let _ = fs::remove_file(file);
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
                    break Some(hangs(timeout));
                }
                length = grown;
            }
        }
    };
    let output = children[0].output_tail();
    // All that a process which hangs has printed is about those before.
    let died = || children[0].status().and_then(failure_words).map(|death| words_of_death(&death, &output));
    let death = hung.or_else(died);
    // It may have put there whatever it likes, or nothing.
    let written = read_regular(file, LIST_BYTES_MAX, "read").unwrap_or_default();
    Ok(Listed { text: String::from_utf8_lossy(&written).into_owned(), output, death })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_no_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("list");
        let wrote = |script: &str| {
            let launch = Launch { args: vec!["-c".into(), script.into()], ..Launch::of("/bin/sh", dir.path()) };
            run(&launch, &file, Duration::from_secs(60), &AtomicBool::new(false)).unwrap().text
        };
        assert_eq!(wrote("printf 'a\\377' > list"), "a\u{fffd}");
        assert_eq!(wrote("rm -f list; mkfifo list"), "");
        assert_eq!(wrote("ln -sf /dev/zero list"), "");
    }
}
