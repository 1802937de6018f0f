//! From a file of any known tool to a recording: the tool is told by the content.

use std::path::Path;

use duetbench_core::Recording;
use duetbench_core::recording::Recorded;

use crate::bounded;
use crate::error::{FormatError, Wrong};
use crate::reading::keys::{self, Known};
use crate::reading::{Contents, Metric, packed};
use crate::tool::{Reader, Sign, Tool};
use crate::tools::TOOLS;
use crate::words::{listed, plain};

/// Bytes in which a report of our own names itself.
const HEAD: usize = 1000;
/// Advice to whoever has only that.
const OURS: &str =
    "is a report of duet, which holds no samples: `duet analyze RUN --db FILE` judges those of its store";

/// A file, with what stands in it beside the values that are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The tool that wrote it.
    pub tool: &'static Tool,
    /// The values that are judged: one unit for each benchmark, time wherever the tool measures it.
    pub recording: Recording,
    /// Further metrics: allocations, CPU time, rates, the user's counters. Benchmarks, levels and places are those of the recording,
    /// but for benchmarks that have no time.
    pub beside: Vec<Metric>,
    /// Facts about machine and configuration, keys with values, in the file's order where it has one.
    pub context: Vec<(String, String)>,
}

/// Reads a file or a folder of one of the known tools, which is told by its content. The recording is named for the file.
///
/// # Errors
/// When it cannot be read, is of no known form, or says something impossible; names the line.
pub fn read(path: &Path) -> Result<Imported, FormatError> {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let named = |imported: Imported| Imported { recording: Recording { name, ..imported.recording }, ..imported };
    let wrong = |wrong: Wrong| {
        let hint = (wrong == Wrong::unknown_form()).then(known);
        FormatError::Content { path: path.to_owned(), wrong, hint }
    };
    let folders = readers().filter_map(|(tool, reader)| Some((tool, reader.folder.as_ref()?)));
    if let Some((tool, folder)) = folders.into_iter().find(|(_, folder)| (folder.is)(path)) {
        return (folder.read)(path).and_then(|contents| some(tool, contents).map_err(wrong)).map(named);
    }
    let bytes = bounded::read(path, bounded::RESULTS_MAX).map_err(|e| FormatError::file("read", path, e))?;
    parse(&bytes).map(named).map_err(wrong)
}

/// Reads the content of a file of one of the known tools; the recording has no name yet.
///
/// # Errors
/// When it is of no known form or says something impossible.
pub fn parse(bytes: &[u8]) -> Result<Imported, Wrong> {
    let bytes = &*packed::unpacked(bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(Wrong::in_file("is empty"));
    }
    let Some((tool, reader)) = told(bytes) else {
        let is_ours = memchr::memmem::find(&bytes[..bytes.len().min(HEAD)], b"\"duet_version\"").is_some();
        return Err(if is_ours { Wrong::in_file(OURS) } else { Wrong::unknown_form() });
    };
    (reader.parse)(bytes).and_then(|contents| some(tool, contents))
}

/// The last values that a process printed for a benchmark, with their units, in the form of whichever tool prints values; none where
/// it printed nothing of the kind.
pub fn figures(printed: &[u8]) -> Vec<(String, f64)> {
    let all = readers().filter_map(|(_, reader)| reader.figures).map(|figures| figures(printed));
    all.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// The tools whose files are read.
fn readers() -> impl DoubleEndedIterator<Item = (&'static Tool, &'static Reader)> {
    TOOLS.iter().filter_map(|tool| Some((*tool, tool.reader.as_ref()?)))
}

/// The tool that wrote these bytes.
fn told(bytes: &[u8]) -> Option<(&'static Tool, &'static Reader)> {
    let find = |is: &dyn Fn(&Sign) -> bool| readers().rev().find(|(_, reader)| is(&reader.sign));
    let json = match bytes.trim_ascii_start().first() {
        Some(b'[') => find(&|sign| matches!(sign, Sign::Array(keys) if is_array_of(bytes, keys))),
        Some(b'{') => {
            let signs: Vec<_> =
                readers().rev().filter_map(|(tool, reader)| Some(((tool, reader), reader.sign.keys()?))).collect();
            keys::told(bytes, &signs)
        }
        _ => None,
    };
    // A program's log may come first, and begin as JSON does.
    json.or_else(|| find(&|sign| matches!(sign, Sign::Text(is) if is(bytes))))
}

/// Whether a JSON array is empty or begins with an object that has one of these keys.
fn is_array_of(bytes: &[u8], of_file: &'static [&'static str]) -> bool {
    let inside = bytes.trim_ascii_start().get(1..).unwrap_or_default();
    inside.trim_ascii_start().starts_with(b"]")
        || keys::told(bytes, &[((), Known { of_file, of_benchmark: &[] })]).is_some()
}

/// List of the files that can be read, for users who gave another.
fn known() -> String {
    let all: Vec<&str> = readers().map(|(_, reader)| reader.form).collect();
    format!("what is read: {}", all.join(", "))
}

/// Leaves out the benchmarks that have no value; fails if none has one.
fn some(tool: &'static Tool, contents: Contents) -> Result<Imported, Wrong> {
    let empty = |recorded: &Recorded| recorded.grid.cells().iter().all(|v| v.is_nan());
    let Contents { mut recording, mut beside, context } = contents;
    let (without, with) = recording.benchmarks.into_iter().partition::<Vec<_>, _>(empty);
    recording.benchmarks = with;
    beside.retain(|metric| !empty(&metric.recorded));
    if recording.benchmarks.is_empty() {
        return Err(Wrong::in_file("holds no value"));
    }
    let without = without.into_iter().map(|recorded| plain(recorded.benchmark));
    recording.warnings.extend(listed(without, "left out, since not one value is a measurement"));
    Ok(Imported { tool, recording, beside, context })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_told_by_content() {
        let check = |text: &str, want: Option<&str>| {
            let got = told(text.as_bytes()).map(|(tool, _)| tool.name);
            assert_eq!(got, want, "{text}");
        };
        check("m_id,n,ns_per_op,it_setup,it_pos,b_name\n", Some("papers"));
        check("\"b_name\", ns_per_op ,it_pos\r\n", Some("papers"));
        check("project;commit;benchmark;params;value_count;value\n", Some("pa"));
        check("\n [ {\"benchmark\": 1}]", Some("jmh"));
        check("[ ]", Some("jmh"));
        check("[{\"name\": \"a\", \"unit\": \"ns\", \"value\": 1}]", None);
        check("{\n  \"results\": [ ]}", Some("hyperfine"));
        check("{\"version\": 1, \"results\": [", Some("hyperfine"));
        check("{\"benchmarks\": [{\"name\": \"a\", \"runs\": ", Some("pyperf"));
        check("{\"benchmarks\": [{\"name\": \"a\", \"run_type\": ", Some("google-benchmark"));
        check("{\"benchmarks\": [{\"group\": null, \"stats\": ", Some("pytest-benchmark"));
        check("{\"benchmarks\": [], \"metadata\": {}}", Some("pyperf"));
        check("{\"benchmarks\": {\"a\": 1}, \"context\": {}}", Some("google-benchmark"));
        check("{\"times\": [1], \"iters\": [1]}", Some("criterion"));
        check("{\"benchmarks\": [1, 2]}", None);
        check("goos: linux\n,a.txt,\n,sec/op,CI\nA-8,1e-9,1%\n", Some("benchstat-csv"));
        check("name,time/op (ns/op),±\nA-8,1,1%\n", Some("benchstat-csv"));
        check("goos: linux\nBenchmarkA-8 \t 100\t 5 ns/op\n", Some("go"));
        check("name,value\na,1\n", None);
        check("{\"Action\":\"output\"}\n", None);
    }

    #[test]
    fn every_form_that_is_read_is_named_to_those_who_gave_another() {
        let known = known();
        assert!(known.starts_with("what is read: the output of `go test -bench`, CSV of benchstat, "), "{known}");
        assert_eq!(known.split(", ").count(), readers().count());
    }
}
