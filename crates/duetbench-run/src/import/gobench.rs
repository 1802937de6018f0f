//! Go benchmark text (<https://go.dev/design/14313-benchmark-format>): every line of a benchmark is an iteration of it.
//!
//! What is no line of a benchmark and no configuration that matters here is skipped, as all readers of the format do.

use duetbench_core::Recording;
use duetbench_core::recording::{Cost, Level};

use super::cells::{self, Outline};
use super::names::Names;
use super::{LeftOut, Wrong, listed, plain, unit};

/// The unit whose values are read.
const UNIT: &str = "ns/op";

/// What is known of a benchmark so far.
#[derive(Debug, Clone, Default)]
struct Series {
    values: Vec<f64>,
    /// Wall time of its lines, seconds.
    total_s: f64,
}

/// Whether a line of a benchmark is in this text.
pub(super) fn is(bytes: &[u8]) -> bool {
    bytes.split(|b| *b == b'\n').any(|line| Line::of(line).is_some())
}

/// Reads such a text.
pub(super) fn parse(bytes: &[u8]) -> Result<Recording, Wrong> {
    let mut names = Names::default();
    let mut series: Vec<Series> = Vec::new();
    let mut left_out = LeftOut::default();
    let (mut package, mut version): (&[u8], Option<&[u8]>) = (b"", None);
    let mut timeless = Names::default();
    for (number, text) in (1..).zip(bytes.split(|b| *b == b'\n')) {
        if let Some(value) = setting(text, b"pkg:") {
            package = value;
        } else if let Some(value) = setting(text, b"version:") {
            if version.is_some_and(|version| version != value) {
                return Err(Wrong::in_line(number, "a second version begins: give each version a file of its own"));
            }
            version = Some(value);
        }
        let Some(line) = Line::of(text) else { continue };
        let dot: &[u8] = if package.is_empty() { b"" } else { b"." };
        let name = [package, dot, line.name].concat();
        let Some(value) = line.ns_per_op else {
            timeless.number(&name);
            continue;
        };
        let at = names.number(&name) as usize;
        if names.len() > series.len() {
            series.push(Series::default());
        }
        if let Some(value) = left_out.checked(value, number) {
            series[at].values.push(value);
            series[at].total_s += line.invocations * value * 1e-9;
        }
    }
    let mut recording = arranged(names, &series)?;
    recording.warnings.extend(left_out.warning());
    recording.warnings.extend(listed(timeless.list().into_iter().map(plain), "left out, since lines have no `ns/op`"));
    recording.warnings.push(
        "Go benchmark text does not say which lines are of one process: all count as iterations of the same".into(),
    );
    Ok(recording)
}

fn arranged(names: Names, series: &[Series]) -> Result<Recording, Wrong> {
    let outline = |(benchmark, series): (String, &Series)| {
        let count = series.values.len();
        let innermost_s = if count == 0 { 0.0 } else { series.total_s / count as f64 };
        let cost = Cost { innermost_s, overhead_s: vec![0.0] };
        Outline { benchmark, unit: unit::of(UNIT), cost, harness_warm_up: None, shape: vec![count] }
    };
    let outlines: Vec<Outline> = names.list().into_iter().zip(series).map(outline).collect();
    let numbered = |(number, series): (u32, &Series)| {
        (0..).zip(series.values.clone()).map(move |(at, value)| (number, at, value)).collect::<Vec<_>>()
    };
    let values: Vec<_> = (0..).zip(series).flat_map(numbered).collect();
    cells::recording(&[Level::Iteration], outlines, &values)
}

/// A line of a benchmark.
struct Line<'a> {
    name: &'a [u8],
    invocations: f64,
    ns_per_op: Option<f64>,
}

impl Line<'_> {
    /// `BenchmarkName-8   1000   1234 ns/op   16 B/op`; absent where the line is none.
    fn of(text: &[u8]) -> Option<Line<'_>> {
        let rest = text.strip_prefix(b"Benchmark")?;
        if rest.first().is_some_and(u8::is_ascii_lowercase) {
            return None;
        }
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let name = words.next()?;
        let invocations = number(words.next()?).filter(|n| n.fract() == 0.0 && *n > 0.0)?;
        let mut ns_per_op = None;
        let mut pairs = 0;
        while let Some(value) = words.next() {
            let value = number(value)?;
            let unit = words.next()?;
            pairs += 1;
            if unit == UNIT.as_bytes() {
                ns_per_op = Some(value);
            }
        }
        (pairs > 0).then_some(Line { name, invocations, ns_per_op })
    }
}

fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The value of a line that sets this key.
fn setting<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(key).map(<[u8]>::trim_ascii)
}
