//! Go benchmark text (<https://go.dev/design/14313-benchmark-format>): every line of a benchmark is an iteration of it.
//!
//! A process of `go test` begins with its configuration, `pkg:` among it. Where that comes again for a benchmark, another process
//! measured it, which is another fork. Every unit is kept; that of time is judged. Lines that belong to no benchmark,
//! configuration or unit are skipped, as all readers of the format do.
//!
//! A recording does not know the number of invocations behind a value; the number written follows from the length of an iteration.

use std::collections::{BTreeSet, HashMap, HashSet};

use duetbench_core::Recording;
use duetbench_core::recording::{Better, Level};
use duetbench_core::spellings::{PREFIX, Spellings, is_name};
use memchr::memchr_iter;

use crate::error::{FormatError, Wrong};
use crate::reading::Contents;
use crate::reading::names::Names;
use crate::reading::sheet::{ONE_PROCESS, PROCESSES, Series, Sheet};
use crate::reading::unit::{self, Unit};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::words::{listed, named, plain};
use crate::writing::about::one_line;
use crate::writing::fit::{Fitted, Frame, Units, fit, invocations};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "go",
    about: "Go benchmark text, a line for each value",
    reader: Some(Reader {
        figures: Some(figures),
        more: Some(More::Once { command: PROCESSES_OF_GO, ending: ".txt" }),
        ..Reader::of("the output of `go test -bench`", Sign::Text(is), parse)
    }),
    writer: Some(Writer::of(write)),
};

/// A command line that leads to several processes in one file.
pub(super) const PROCESSES_OF_GO: &str = "for i in 1 2 3; do go test -run '^$' -bench . ./...; done > base.txt";
/// The value of GOMAXPROCS, among the facts about a file.
const PROCS: &str = "gomaxprocs";
/// The unit whose values are judged.
const UNIT: &[u8] = b"ns/op";

/// Whether a line of a benchmark is in this text.
fn is(bytes: &[u8]) -> bool {
    lines(bytes).any(|line| Line::of(line).is_some())
}

/// Reads such a text.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let mut text = Text::default();
    for (number, line) in (1..).zip(lines(bytes)) {
        if let Some(line) = Line::of(line) {
            text.add(line);
        } else if let Some((key, value)) = setting(line) {
            text.configure(key, value, number)?;
        } else if let Some(words) = line.strip_prefix(b"Unit ") {
            text.direct(words);
        } else if Line::is_broken(line) {
            text.broken.push(number);
        }
    }
    text.contents()
}

/// The values of the last line of a benchmark in what a process of `go test` printed, with their units.
fn figures(bytes: &[u8]) -> Vec<(String, f64)> {
    let word = |unit: &[u8]| String::from_utf8_lossy(unit).into_owned();
    let last = lines(bytes).filter_map(Line::of).last();
    last.map_or_else(Vec::new, |line| line.values().map(|(value, unit)| (word(unit), value)).collect())
}

/// State of the parser after the lines read so far.
#[derive(Default)]
struct Text {
    package: Vec<u8>,
    /// Values of the keys [`OF_ONE_SIDE`].
    of_side: HashMap<Vec<u8>, Vec<u8>>,
    /// Number of the process whose lines these are.
    process: usize,
    /// Whether a line of a benchmark was met since it began.
    begun: bool,
    names: Names,
    benchmarks: Vec<Benchmark>,
    context: Vec<(String, String)>,
    said: HashSet<(Vec<u8>, Vec<u8>)>,
    /// Directions of units, as the text declares them.
    directions: HashMap<Vec<u8>, Better>,
    /// Numbers of lines that were meant as those of benchmarks, and are none.
    broken: Vec<u64>,
}

/// Keys of which another value begins another side: a comparison, and no repetition.
const OF_ONE_SIDE: [&str; 5] = ["version", "toolchain", "commit", "branch", "goarch"];

/// Values and times of a benchmark, as read so far.
#[derive(Default)]
struct Benchmark {
    /// The process that measured it last.
    process: Option<usize>,
    forks: usize,
    /// Wall time of its lines that have one, seconds, and their number.
    total_s: f64,
    lines: usize,
    /// Its values by unit and fork.
    units: Vec<(Vec<u8>, Vec<Vec<f64>>)>,
}

impl Text {
    fn configure(&mut self, key: &[u8], value: &[u8], number: u64) -> Result<(), Wrong> {
        if matches!(key, b"pkg" | b"goos") && self.begun {
            (self.process, self.begun) = (self.process + 1, false);
        }
        match key {
            b"pkg" => self.package = value.to_vec(),
            _ if OF_ONE_SIDE.iter().any(|one| key == one.as_bytes()) => {
                let known = self.of_side.insert(key.to_vec(), value.to_vec());
                if known.is_some_and(|known| known != value) {
                    let key = String::from_utf8_lossy(key);
                    return Err(Wrong::in_line(
                        number,
                        format!("a second {key} begins: give each {key} a file of its own"),
                    ));
                }
            }
            _ => {}
        }
        if self.said.insert((key.to_vec(), value.to_vec())) {
            let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            self.context.push((word(key), word(value)));
        }
        Ok(())
    }

    /// `B/s better=higher assume=exact`
    fn direct(&mut self, words: &[u8]) {
        let mut words = words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let Some(unit) = words.next() else { return };
        let better = words.find_map(|word| match word {
            b"better=higher" => Some(Better::Higher),
            b"better=lower" => Some(Better::Lower),
            _ => None,
        });
        self.directions.extend(better.map(|better| (unit.to_vec(), better)));
    }

    fn add(&mut self, line: Line<'_>) {
        self.begun = true;
        let dot: &[u8] = if self.package.is_empty() { b"" } else { b"." };
        let at = self.names.number(&[&self.package, dot, line.name].concat()) as usize;
        if self.names.len() > self.benchmarks.len() {
            self.benchmarks.push(Benchmark::default());
        }
        self.benchmarks[at].add(&line, self.process);
    }

    fn contents(self) -> Result<Contents, Wrong> {
        let several = self.benchmarks.iter().any(|benchmark| benchmark.forks > 1);
        let (mut sheet, mut timeless) = (Sheet { context: self.context, ..Sheet::default() }, Vec::new());
        for (name, benchmark) in self.names.list().into_iter().zip(self.benchmarks) {
            let Benchmark { total_s, lines, units, .. } = benchmark;
            let mut timed = false;
            for (word, forks) in units {
                let unit = String::from_utf8_lossy(&word).into_owned();
                // Beside the time units stay as they are written, as benchstat has them.
                let written = unit::of(&unit);
                let beside = || Unit { word: unit.clone(), factor: 1.0, better: written.better };
                let mut series = Series::new(name.clone(), if word == UNIT { written } else { beside() });
                series.unit.better = self.directions.get(&word).copied().unwrap_or(series.unit.better);
                series.forks = forks;
                if word == UNIT {
                    series.cost.innermost_s = total_s / lines.max(1) as f64;
                    sheet.judged.push(series);
                    timed = true;
                } else {
                    sheet.beside.push((unit, series));
                }
            }
            timeless.extend((!timed).then_some(name));
        }
        sheet.warnings.extend(listed(timeless.into_iter().map(plain), "left out, since lines have no `ns/op`"));
        let broken = self.broken.into_iter().map(|number| plain(format!("line {number}")));
        sheet
            .warnings
            .extend(listed(broken, "left out, since other output cuts it, or not every unit has a number before it"));
        let levels: &[Level] = if several { &PROCESSES } else { &ONE_PROCESS };
        if !several {
            let what = "Go benchmark text without a second `pkg:` line is of one process: its lines are iterations, \
                        and no forks";
            sheet.warnings.push(what.into());
        }
        without_procs(&mut sheet);
        sheet.contents(levels)
    }
}

/// Takes the value of GOMAXPROCS off the names, where it ends all of them and nothing says that they are without it: the same benchmark is
/// called so on machines with other numbers of cores, and by duet.
pub(super) fn without_procs(sheet: &mut Sheet) {
    let stated = sheet.context.iter().any(|(key, _)| [PROCS, "duet-run"].contains(&key.as_str()));
    let series = sheet.judged.iter_mut().chain(sheet.beside.iter_mut().map(|(_, series)| series));
    let names: Vec<&mut String> = series.map(|series| &mut series.benchmark).collect();
    let of = |name: &String| name.rsplit_once('-').map(|(_, end)| end.to_owned()).filter(|end| is_procs(end));
    let all: BTreeSet<Option<String>> = names.iter().map(|name| of(name)).collect();
    match all.into_iter().collect::<Vec<_>>().as_slice() {
        _ if stated => {}
        [Some(procs)] => {
            names.into_iter().for_each(|name| name.truncate(name.len() - procs.len() - 1));
            sheet.context.push((PROCS.to_owned(), procs.clone()));
        }
        [None] | [] => {}
        // Beside an `X-4` an `X` ran on one processor, and is not the `X` of a file in which all ran on four.
        _ => {
            let stem = |name: &&mut String| of(name).map(|end| name[..name.len() - end.len() - 1].to_owned());
            let several: BTreeSet<String> = names.iter().filter_map(stem).collect();
            names.into_iter().filter(|name| several.contains(*name)).for_each(|name| name.push_str("-1"));
        }
    }
}

/// Whether names of Go end in this value of GOMAXPROCS: those of one processor do not.
fn is_procs(text: &str) -> bool {
    !text.starts_with(['0', '+']) && text.parse::<u32>().is_ok_and(|procs| procs > 1)
}

/// The end of all names in what is written, as Go has it, and the lines beside it.
pub(super) fn with_procs(about: &About) -> (String, impl Iterator<Item = &(String, String)>) {
    let known = Some(about.value(PROCS)).filter(|procs| is_procs(procs));
    let lines = about.lines.iter().filter(move |(key, _)| known.is_none() || key != PROCS);
    (known.map_or_else(String::new, |procs| format!("-{procs}")), lines)
}

impl Benchmark {
    fn add(&mut self, line: &Line<'_>, process: usize) {
        if self.process != Some(process) {
            (self.process, self.forks) = (Some(process), self.forks + 1);
        }
        for (value, word) in line.values() {
            if word == UNIT && value.is_finite() {
                self.lines += 1;
                self.total_s += line.invocations * value * 1e-9;
            }
            let at = self.units.iter().position(|(known, _)| known == word).unwrap_or_else(|| {
                self.units.push((word.to_vec(), Vec::new()));
                self.units.len() - 1
            });
            let forks = &mut self.units[at].1;
            forks.resize(self.forks, Vec::new());
            forks[self.forks - 1].push(value);
        }
    }
}

/// A line of a benchmark.
struct Line<'a> {
    name: &'a [u8],
    invocations: f64,
    /// Values and units, all of which were seen to be such.
    pairs: &'a [u8],
}

impl<'a> Line<'a> {
    /// `BenchmarkName-8   1000   1234 ns/op   16 B/op`; absent where the line is none.
    fn of(text: &'a [u8]) -> Option<Line<'a>> {
        let line = Line::begun(text)?;
        let words = words(line.pairs).count();
        (words > 0 && words.is_multiple_of(2) && line.values().count() == words / 2).then_some(line)
    }

    /// Whether a text that is no such line was meant as one: it has a time, and begins alike or, where the benchmark printed a line of its
    /// own after its name, with the count.
    fn is_broken(text: &[u8]) -> bool {
        let counts = || word(text).is_some_and(|(first, _)| number(first).is_some());
        (Line::named(text).is_some() || counts()) && words(text).any(|word| word == UNIT)
    }

    /// The name that a line begins with, and what comes after it.
    fn named(text: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let rest = text.strip_prefix(b"Benchmark")?;
        if rest.first().is_some_and(u8::is_ascii_lowercase) {
            return None;
        }
        word(text)
    }

    /// A line as its name and its count begin it.
    fn begun(text: &'a [u8]) -> Option<Line<'a>> {
        let (name, rest) = Line::named(text)?;
        let (count, pairs) = word(rest)?;
        let invocations = number(count).filter(|n| n.fract() == 0.0 && *n > 0.0)?;
        Some(Line { name, invocations, pairs })
    }

    fn values(&self) -> impl Iterator<Item = (f64, &'a [u8])> + use<'a> {
        let mut words = words(self.pairs);
        std::iter::from_fn(move || Some((number(words.next()?)?, words.next()?)))
    }
}

/// The first word and what comes after it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The lines of a text, without their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    let ends = memchr_iter(b'\n', bytes).chain((!bytes.ends_with(b"\n")).then_some(bytes.len()));
    ends.map(move |end| {
        let line = &bytes[begin..end];
        begin = end + 1;
        line
    })
}

/// `key: value`: the key begins with a small letter, and has neither capitals nor blanks.
fn setting(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = line.split_at(line.iter().position(|b| *b == b':')?);
    let value = &value[1..];
    let is_key =
        key.first()?.is_ascii_lowercase() && !key.iter().any(|b| b.is_ascii_whitespace() || b.is_ascii_uppercase());
    let apart = value.first().is_none_or(u8::is_ascii_whitespace);
    (is_key && apart).then(|| (key, value.trim_ascii()))
}

const FRAME: Frame =
    Frame { title: "Go benchmark text", levels: &[Level::Fork, Level::Iteration], units: Units::All, gaps: false };

/// The recording as such a text.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let (mut fitted, mut lost) = fit(recording, &FRAME)?;
    // Further units stand behind all times, but a package that begins again is another process to whoever reads the text.
    let mut packages = Names::default();
    let mut package_of = |benchmark: &Fitted<'_>| packages.number(split(benchmark.name()).0.as_bytes());
    for benchmark in &fitted {
        package_of(benchmark);
    }
    fitted.sort_by_cached_key(package_of);
    let (procs, lines) = with_procs(about);
    let mut out: String = lines.map(|(key, value)| format!("{key}: {value}\n")).collect();
    out += &units(&fitted);
    let mut names = Spellings::default();
    let spelling = |benchmark: &Fitted<'_>| {
        let (package, name) = split(benchmark.name());
        (package.to_owned(), names.of(package, name))
    };
    let spelt: Vec<(String, String)> = fitted.iter().map(spelling).collect();
    let forks = fitted.iter().map(|benchmark| benchmark.shape[0]).max().unwrap_or(0);
    let mut package = "";
    for fork in 0..forks {
        let mut begins = fork > 0;
        for (benchmark, (of, name)) in fitted.iter().zip(&spelt) {
            let values = benchmark.groups().nth(fork).unwrap_or_default();
            if begins || *of != package {
                (begins, package) = (false, of);
                let blank = if package.is_empty() { "" } else { " " };
                out += &format!("pkg:{blank}{}\n", one_line(package));
            }
            out += &rows(&format!("{name}{procs}"), values, benchmark);
        }
    }
    let differs = |(benchmark, (_, spelt)): (&Fitted<'_>, &(String, String))| {
        let name = benchmark.name();
        (split(name).1 != spelt).then(|| name.to_owned())
    };
    let mut changed: Vec<String> = fitted.iter().zip(&spelt).filter_map(differs).collect();
    // Once for all units of a benchmark.
    changed.dedup();
    if let Some(changed) = named(changed.iter().map(String::as_str)) {
        lost.push(format!(
            "Go's names begin with `{PREFIX}` and have no spaces, so these are spelt otherwise: {changed}"
        ));
    }
    Ok(Written::file(out, lost))
}

/// A line for each value that is there.
fn rows(name: &str, values: &[f64], benchmark: &Fitted<'_>) -> String {
    let unit = one_line(&benchmark.recorded.unit).replace(char::is_whitespace, "_");
    let known = values.iter().filter(|value| value.is_finite());
    known.map(|value| format!("{name}\t{}\t{value} {unit}\n", invocations(benchmark.recorded, *value))).collect()
}

/// Lines that say of which units more is better. Of those that Go has by itself readers know it.
fn units(fitted: &[Fitted<'_>]) -> String {
    let mut out = String::new();
    for recorded in fitted.iter().map(|f| f.recorded).filter(|recorded| recorded.better == Better::Higher) {
        let line = format!("Unit {} better=higher\n", one_line(&recorded.unit).replace(char::is_whitespace, "_"));
        if !out.contains(&line) {
            out += &line;
        }
    }
    out
}

/// Package and name, as Go's own names are made up: `example.com/shop.BenchmarkGet`.
pub(super) fn split(full: &str) -> (&str, &str) {
    let dot = full.match_indices(".Benchmark").map(|(dot, _)| dot);
    let mut fitting = dot.filter(|dot| is_name(&full[dot + 1..]) && !full[..*dot].contains(char::is_whitespace));
    fitting.next().map_or(("", full), |dot| (&full[..dot], &full[dot + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_benchmarks() {
        let check = |text: &str, want: Option<&[(f64, &str)]>| {
            let line = Line::of(text.as_bytes());
            let got = line.map(|line| line.values().collect::<Vec<_>>());
            let want = want.map(|want| want.iter().map(|(v, u)| (*v, u.as_bytes())).collect::<Vec<_>>());
            assert_eq!(got, want, "{text}");
        };
        check("BenchmarkA-8  10  5 ns/op  1.5 hits/op\r", Some(&[(5.0, "ns/op"), (1.5, "hits/op")]));
        check("BenchmarkA 1 5 ns/op", Some(&[(5.0, "ns/op")]));
        check("BenchmarkA 1 5 ns/op 6", None);
        check("BenchmarkA 1 fast ns/op", None);
        check("BenchmarkA 1.5 5 ns/op", None);
        check("BenchmarkA 0 5 ns/op", None);
        check("BenchmarkA 1", None);
        check("BenchmarkA", None);
        check("Benchmarking 1 5 ns/op", None);
    }

    #[test]
    fn settings_are_told_from_what_was_printed() {
        let check = |text: &str, want: Option<(&str, &str)>| {
            assert_eq!(setting(text.as_bytes()), want.map(|(k, v)| (k.as_bytes(), v.as_bytes())), "{text}");
        };
        check("goos: linux", Some(("goos", "linux")));
        check("cpu:\tAMD EPYC ", Some(("cpu", "AMD EPYC")));
        check("note:", Some(("note", "")));
        check("Note: x", None);
        check("so far: good", None);
        check("http://x", None);
        check("ok", None);
    }

    #[test]
    fn lines_end_with_or_without_a_newline() {
        let all =
            |text: &'static str| lines(text.as_bytes()).map(|l| std::str::from_utf8(l).unwrap()).collect::<Vec<_>>();
        assert_eq!(all("a\nb"), ["a", "b"]);
        assert_eq!(all("a\n\nb\n"), ["a", "", "b"]);
    }

    #[test]
    fn names_are_split_where_go_puts_them_together() {
        let check = |full: &str, want: (&str, &str)| assert_eq!(split(full), want);
        check("example.com/shop.BenchmarkGet/size=1-8", ("example.com/shop", "BenchmarkGet/size=1-8"));
        check("a.Benchmarks/b.BenchmarkGet", ("a.Benchmarks/b", "BenchmarkGet"));
        check("BenchmarkGet", ("", "BenchmarkGet"));
        check("p.C.m:size=10", ("", "p.C.m:size=10"));
    }
}
