//! Other tools' result files, read as [`Recording`]s.
//!
//! | form | told by | levels |
//! | --- | --- | --- |
//! | CSV of the µOpTime study | columns `ns_per_op`, `b_name` | those that have a `…_pos` and a `…_setup` column |
//! | CSV of `pa` | columns `benchmark`, `value_count` | instance, trial (a suite run), fork, iteration |
//! | JMH's JSON | `[` | fork, iteration |
//! | hyperfine's JSON | the key `results` | fork (a run is a process) |
//! | Google Benchmark's JSON | the key `context` | iteration (a repetition) |
//! | pytest-benchmark's JSON | the key `machine_info` | iteration (a round) |
//! | pyperf's JSON | the key `runs` of a benchmark | fork (a run), iteration |
//! | criterion's files | a folder, or the key `iters` | iteration (a sample) |
//! | benchstat's CSV | a table's header | iteration (there is one) |
//! | Go benchmark text | a line of a benchmark | iteration; around it fork, where `pkg:` lines repeat |
//!
//! A repetition inside one process is an iteration of one fork, whatever the tool calls it: levels say what is independent. Each form
//! may be packed by `gzip`. A parser is a pure function from bytes. Content that cannot be right ends reading, with the line and what
//! was expected there; single values that are no measurement (`NaN`, less than zero) are left out, and a warning says how many.

use std::path::Path;

use duetbench_core::Recording;
use duetbench_core::recording::Recorded;
use serde_json::Value;

use crate::bounded;
use crate::error::{FormatError, Wrong, wrong_json};

pub use gobench::figures;

mod benchstat;
mod cells;
mod criterion;
mod gobench;
mod google;
mod hyperfine;
mod jmh;
mod keys;
mod names;
mod pa;
mod packed;
mod papers;
mod pyperf;
mod pytest;
mod rows;
mod sheet;
mod unit;

/// List of the files that can be read, for users who gave another.
const KNOWN: &str = "what is read: JSON of JMH (`-rf json`), hyperfine (`--export-json`), Google Benchmark, pytest-benchmark and pyperf, \
                     a folder of criterion's, the output of `go test -bench`, CSV of benchstat, of `pa` and of the µOpTime study";

/// A file, with what stands in it beside the values that are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The values that are judged: one unit for each benchmark, time wherever the tool measures it.
    pub recording: Recording,
    /// Further metrics: allocations, CPU time, rates, the user's counters. Benchmarks, levels and places are those of the recording,
    /// but for benchmarks that have no time.
    pub beside: Vec<Metric>,
    /// Facts about machine and configuration, keys with values, in the file's order where it has one.
    pub context: Vec<(String, String)>,
}

/// The values of one benchmark in a further unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// As the tool calls it: `B/op`, `gc.alloc.rate.norm`, `cpu_time`.
    pub name: String,
    /// Its values.
    pub recorded: Recorded,
}

impl From<Recording> for Imported {
    fn from(recording: Recording) -> Imported {
        Imported { recording, beside: Vec::new(), context: Vec::new() }
    }
}

/// Reads a file of one of the known forms; which one is told by its content. A folder is read as one of criterion's.
///
/// # Errors
/// When it cannot be read, is of no known form, or says something impossible; names the line.
pub fn read(path: &Path) -> Result<Recording, FormatError> {
    read_whole(path).map(|imported| imported.recording)
}

/// Reads what [`read`] does, with what stands beside the values that are judged.
///
/// # Errors
/// As [`read`].
pub fn read_whole(path: &Path) -> Result<Imported, FormatError> {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let named = |imported: Imported| Imported { recording: Recording { name, ..imported.recording }, ..imported };
    let content = |wrong: Wrong| {
        let hint = (wrong == Wrong::unknown_form()).then(|| KNOWN.to_owned());
        FormatError::Content { path: path.to_owned(), wrong, hint }
    };
    if criterion::is(path) {
        return criterion::read(path).and_then(|imported| some(imported).map_err(content)).map(named);
    }
    let bytes = bounded::read(path, bounded::RESULTS_MAX).map_err(|e| FormatError::file("read", path, e))?;
    parse_whole(&bytes).map(named).map_err(content)
}

/// Reads the content of a file of one of the known forms; the recording has no name yet.
///
/// # Errors
/// When it is of no known form or says something impossible.
pub fn parse(bytes: &[u8]) -> Result<Recording, Wrong> {
    parse_whole(bytes).map(|imported| imported.recording)
}

/// Reads what [`parse`] does, with what stands beside the values that are judged.
///
/// # Errors
/// As [`parse`].
pub fn parse_whole(bytes: &[u8]) -> Result<Imported, Wrong> {
    let bytes = &*packed::unpacked(bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(Wrong::in_file("is empty"));
    }
    let imported = match Form::of(bytes).ok_or_else(Wrong::unknown_form)? {
        Form::Papers => papers::parse(bytes).map(Imported::from),
        Form::Pa => pa::parse(bytes).map(Imported::from),
        Form::Jmh => jmh::parse(bytes),
        Form::Hyperfine => hyperfine::parse(bytes),
        Form::Google => google::parse(bytes),
        Form::Pytest => pytest::parse(bytes),
        Form::Pyperf => pyperf::parse(bytes),
        Form::CriterionSample => criterion::parse(bytes),
        Form::CriterionEstimates => Err(criterion::refused()),
        Form::Benchstat => benchstat::parse(bytes),
        Form::Go => gobench::parse(bytes),
    }?;
    some(imported)
}

/// Leaves out the benchmarks that have no value; fails if none has one.
fn some(mut imported: Imported) -> Result<Imported, Wrong> {
    let empty = |recorded: &Recorded| recorded.grid.cells().iter().all(|v| v.is_nan());
    let (without, with) = imported.recording.benchmarks.into_iter().partition::<Vec<_>, _>(empty);
    imported.recording.benchmarks = with;
    imported.beside.retain(|metric| !empty(&metric.recorded));
    if imported.recording.benchmarks.is_empty() {
        return Err(Wrong::in_file("holds no value"));
    }
    let without = without.into_iter().map(|recorded| plain(recorded.benchmark));
    imported.recording.warnings.extend(listed(without, "left out, since not one value is a measurement"));
    Ok(imported)
}

/// The forms of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Papers,
    Pa,
    Jmh,
    Hyperfine,
    Google,
    Pytest,
    Pyperf,
    CriterionSample,
    CriterionEstimates,
    Benchstat,
    Go,
}

impl Form {
    fn of(bytes: &[u8]) -> Option<Form> {
        match bytes.trim_ascii_start().first() {
            Some(b'[') => return Some(Form::Jmh),
            Some(b'{') => return keys::form(bytes),
            _ => {}
        }
        let header = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let has = |separator: u8, column: &str| {
            header.split(|b| *b == separator).any(|cell| rows::bare(cell) == column.as_bytes())
        };
        if has(b',', papers::VALUE) && has(b',', papers::NAME) {
            Some(Form::Papers)
        } else if has(pa::SEPARATOR, pa::NAME) && has(pa::SEPARATOR, pa::COUNT) {
            Some(Form::Pa)
        } else if benchstat::is(bytes) {
            Some(Form::Benchstat)
        } else {
            gobench::is(bytes).then_some(Form::Go)
        }
    }
}

/// The words, numbers and truths of an object, by their keys, with a dot between those inside each other; lists are left out.
fn flattened(value: &Value) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    flatten(value, "", &mut flat);
    flat
}

fn flatten(value: &Value, key: &str, flat: &mut Vec<(String, String)>) {
    match value {
        Value::Object(inside) => {
            let dot = if key.is_empty() { "" } else { "." };
            inside.iter().for_each(|(inner, value)| flatten(value, &format!("{key}{dot}{inner}"), flat));
        }
        Value::String(text) => flat.push((key.to_owned(), text.clone())),
        Value::Number(_) | Value::Bool(_) => flat.push((key.to_owned(), value.to_string())),
        Value::Array(_) | Value::Null => {}
    }
}

/// A warning about some benchmarks or the like, the first few of them named, each with a remark; none about nothing.
fn listed(things: impl Iterator<Item = (String, String)>, what: &str) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let mut more = 0_usize;
    let mut named = Vec::new();
    for (thing, remark) in things {
        if named.len() < NAMED_MAX { named.push(format!("`{thing}`{remark}")) } else { more += 1 }
    }
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{what}: {}{rest}", named.join(", ")))
}

/// A thing without a remark.
fn plain(thing: String) -> (String, String) {
    (thing, String::new())
}

/// Values that are no measurement, as they are met.
#[derive(Debug, Default)]
struct LeftOut {
    first: Option<(u64, String)>,
    count: usize,
}

impl LeftOut {
    /// The value as a number that was measured; absent, and counted, where it is none.
    fn checked(&mut self, value: f64, line: u64) -> Option<f64> {
        if value.is_finite() && value >= 0.0 {
            return Some(value);
        }
        self.first.get_or_insert_with(|| (line, value.to_string()));
        self.count += 1;
        None
    }

    /// Warning about the values that were left out; absent if there were none.
    fn warning(self) -> Option<String> {
        let (line, value) = self.first?;
        let at = if line > 0 { format!(" in line {line}") } else { String::new() };
        Some(match self.count {
            1 => format!("1 value that is no measurement was left out: `{value}`{at}"),
            n => format!("{n} values that are no measurements were left out, the first is `{value}`{at}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_content() {
        let check = |text: &str, want| assert_eq!(Form::of(text.as_bytes()), want, "{text}");
        check("m_id,n,ns_per_op,it_setup,it_pos,b_name\n", Some(Form::Papers));
        check("\"b_name\", ns_per_op ,it_pos\r\n", Some(Form::Papers));
        check("project;commit;benchmark;params;value_count;value\n", Some(Form::Pa));
        check("\n [ {\"benchmark\": 1}]", Some(Form::Jmh));
        check("{\n  \"results\": [ ]}", Some(Form::Hyperfine));
        check("goos: linux\n,a.txt,\n,sec/op,CI\nA-8,1e-9,1%\n", Some(Form::Benchstat));
        check("name,time/op (ns/op),±\nA-8,1,1%\n", Some(Form::Benchstat));
        check("goos: linux\nBenchmarkA-8 \t 100\t 5 ns/op\n", Some(Form::Go));
        check("name,value\na,1\n", None);
        check("{\"Action\":\"output\"}\n", None);
    }

    #[test]
    fn wrongs_read_as_sentences_after_the_file_name() {
        assert_eq!(Wrong::in_file("is empty").to_string(), " is empty");
        assert_eq!(Wrong::in_line(3, "has 2 columns").to_string(), ", line 3: has 2 columns");
        let column = Wrong { line: Some(3), column: Some("it_pos"), what: "expected a number".into() };
        assert_eq!(column.to_string(), ", line 3, column `it_pos`: expected a number");
    }

    #[test]
    fn long_lists_end_in_a_number() {
        let names = |n: usize| (0..n).map(|i| plain(format!("b{i}")));
        assert_eq!(listed(names(0), "gaps"), None);
        assert_eq!(listed(names(2), "gaps").as_deref(), Some("gaps: `b0`, `b1`"));
        assert_eq!(listed(names(5), "gaps").as_deref(), Some("gaps: `b0`, `b1`, `b2` and 2 more"));
    }
}
