//! Files of callgrind: instructions by function.
//!
//! The format is described at <https://valgrind.org/docs/manual/cl-format.html>. What a process wrote that runs measured code is foreign: it is
//! read line by line, every name that is referred to must have been given, and the sum must be the one that the file states.

use std::collections::{BTreeMap, HashMap};

use duetbench_core::instructions::ProcessCount;
use thiserror::Error;

/// Largest file that is read, in bytes.
pub const FILE_BYTES_MAX: usize = 64 << 20;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallgrindError {
    /// It is too large.
    #[error("the counts are larger than {} MB", FILE_BYTES_MAX >> 20)]
    TooLarge,
    /// It counts something else.
    #[error("the counts are not of instructions alone: callgrind ran with other options, or wrote another format")]
    Events,
    /// A line of it is none of the format's.
    #[error("line {number} of the counts is not callgrind's")]
    Line {
        /// Its number, from 1.
        number: usize,
    },
    /// It breaks off.
    #[error("the counts break off: the process was killed, or the disk is full")]
    Unfinished,
    /// Its functions do not add up to its sum.
    #[error("the counts of functions come to {counted}, their stated sum is {stated}")]
    Sum {
        /// All functions together.
        counted: u64,
        /// The sum that it states.
        stated: u64,
    },
}

/// Reads a file.
///
/// # Errors
/// When it is not what callgrind writes where it counts instructions alone.
pub fn parse(file: &[u8]) -> Result<ProcessCount, CallgrindError> {
    if file.len() > FILE_BYTES_MAX {
        return Err(CallgrindError::TooLarge);
    }
    let mut reading = Reading::default();
    for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        reading.line(line.trim_end_matches('\r')).ok_or(CallgrindError::Line { number: index + 1 })?;
    }
    reading.finished()
}

/// Everything that was read so far.
#[derive(Default)]
struct Reading {
    /// Names of functions by the number that stands for them from then on.
    names: HashMap<u64, String>,
    /// Numbers before the costs in a line: of the line of source, of the instruction.
    positions: usize,
    counts_instructions: bool,
    /// Own cost of each function.
    functions: BTreeMap<String, u64>,
    /// The function that the next lines are about.
    current: Option<String>,
    /// The next line is what a call cost, which is the callee's.
    of_a_call: bool,
    stated: Option<u64>,
}

impl Reading {
    /// Takes a line; absent if it is none.
    fn line(&mut self, line: &str) -> Option<()> {
        if line.is_empty() || line.starts_with('#') {
            return Some(());
        }
        if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            return self.cost(line);
        }
        let sign = line.find([':', '='])?;
        let (key, value) = (&line[..sign], line[sign + 1..].trim());
        match (key, &line[sign..=sign]) {
            ("fn", "=") => self.current = Some(self.name(value)?),
            ("cfn", "=") => drop(self.name(value)?),
            ("calls", "=") => self.of_a_call = true,
            ("positions", ":") => self.positions = value.split_whitespace().count(),
            ("events", ":") => self.counts_instructions = value == "Ir",
            // A file of several parts has a sum for each. The one before the functions is not it: a process that forks loses a little of that.
            ("totals", ":") => self.stated = Some(self.stated.unwrap_or(0).checked_add(value.parse().ok()?)?),
            _ => {}
        }
        Some(())
    }

    /// A line of costs: positions, then the count, which is left out where it is nothing.
    fn cost(&mut self, line: &str) -> Option<()> {
        if std::mem::take(&mut self.of_a_call) {
            return Some(());
        }
        let count = line.split_whitespace().nth(self.positions).map_or(Some(0), |word| word.parse::<u64>().ok())?;
        let own = self.functions.entry(self.current.clone()?).or_default();
        *own = own.checked_add(count)?;
        Some(())
    }

    /// The name that `(7) name` gives or `(7)` stands for, or a name that has no number.
    fn name(&mut self, text: &str) -> Option<String> {
        let numbered = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let Some((number, name)) = numbered.and_then(|(number, name)| Some((number.parse().ok()?, name.trim()))) else {
            return Some(function(text));
        };
        if name.is_empty() {
            return self.names.get(&number).cloned();
        }
        let name = function(name);
        self.names.insert(number, name.clone());
        Some(name)
    }

    fn finished(self) -> Result<ProcessCount, CallgrindError> {
        if !self.counts_instructions {
            return Err(CallgrindError::Events);
        }
        let counted = self.functions.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let stated = self.stated.ok_or(CallgrindError::Unfinished)?;
        if stated == counted {
            Ok(ProcessCount { functions: self.functions })
        } else {
            Err(CallgrindError::Sum { counted, stated })
        }
    }
}

/// A function's name without what differs between builds: the number of its depth in a recursion, and the hash that Rust appends.
fn function(name: &str) -> String {
    let name = match name.rsplit_once('\'') {
        Some((before, depth)) if !depth.is_empty() && depth.bytes().all(|b| b.is_ascii_digit()) => before,
        _ => name,
    };
    match name.rsplit_once("::h") {
        Some((before, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => before.to_owned(),
        _ => name.to_owned(),
    }
}

/// Reads a file, and the same as half of both sides of a comparison.
#[cfg(any(fuzzing, debug_assertions))]
pub fn fuzz(file: &[u8]) {
    use duetbench_core::instructions::{InstructionCounts, SideCounts};
    if let Ok(count) = parse(file) {
        let process = [count];
        let side = SideCounts { fewer: &[], more: &process };
        if let Some(counts) = InstructionCounts::of([side, side], [0, 1]) {
            assert!(counts.change().abs() < 1e-9 && counts.functions.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As callgrind writes it, with every form of compression.
    const FILE: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\ncmd:  ./t.bin -x=y\npart: 1\n\n\ndesc: I1 cache: \n\npositions: line\nevents: Ir\nsummary: 180\n\n\nob=(1) /tmp/t.bin\nfl=(1) a.go\nfn=(1) ex.outer\n16 10\n+2 5\nfi=(2) inlined.go\n4 6\nfe=(1)\ncfn=(2) ex.(*T).inner\ncalls=3 50\n* 100\n* 20\n\nfl=(2)\nfn=(2)\n50 90\n-3\n+1 7\n\nfn=(3) ex.outer'2\n16 40\n\nfn=(4) alloc::vec::Vec<T>::push::h0123456789abcdef\n1 3\n\ntotals: 181\n";

    #[test]
    fn own_costs_are_added_up_by_name() {
        let count = parse(FILE.as_bytes()).unwrap();
        let want = [("alloc::vec::Vec<T>::push", 3), ("ex.(*T).inner", 97), ("ex.outer", 81)];
        assert_eq!(count.functions.iter().map(|(name, n)| (name.as_str(), *n)).collect::<Vec<_>>(), want);
    }

    #[test]
    fn what_is_not_callgrinds_is_refused() {
        let check = |from: &str, to: &str, want: CallgrindError| {
            assert!(FILE.contains(from), "{from}");
            assert_eq!(parse(FILE.replacen(from, to, 1).as_bytes()), Err(want), "{to}");
        };
        check("events: Ir", "events: Ir Dr", CallgrindError::Events);
        check("50 90", "50 91", CallgrindError::Sum { counted: 182, stated: 181 });
        check("50 90", "50 x", CallgrindError::Line { number: 30 });
        check("fn=(1) ex.outer", "fn=(1)", CallgrindError::Line { number: 17 });
        check("fn=(1) ex.outer\n", "", CallgrindError::Line { number: 17 });
        check("50 90", "50 18446744073709551616", CallgrindError::Line { number: 30 });
        check("50 90\n", "50 90\nwords\n", CallgrindError::Line { number: 31 });
        check("totals: 181\n", "", CallgrindError::Unfinished);
        assert_eq!(parse(b""), Err(CallgrindError::Events));
    }
}
