//! benchstat's CSV: tables of medians, a table for each Go package and unit, a row for each benchmark. It is read of `-format csv` and of the
//! older `-csv`, and written in the shape of the former.
//!
//! A median is one value, and what `±` stands beside it is not a spread that could be judged by; so this is read for what it is, with a
//! warning. Tables of several versions are refused, since a recording is of one.
//!
//! benchstat takes every line of a file for independent. What is written has one value for each of a benchmark's outermost repetitions, as
//! duet's rule counts them (`docs/detecting.md`): the value is their geometric mean, the interval and p are Student's t of their logarithms at
//! 95 %, and `n` says how many there are.

use csv::{ByteRecord, ReaderBuilder};
use duetbench_core::Recording;
use duetbench_core::detect::{Located, Units, by_process};
use duetbench_core::foreign;
use duetbench_core::recording::Recorded;
use duetbench_core::stats::yuen_welch_t;

use super::go::{PROCESSES_OF_GO, split, with_procs, without_procs};
use crate::error::{FormatError, Wrong};
use crate::reading::sheet::{ONE_PROCESS, Series, Sheet};
use crate::reading::{Contents, unit};
use crate::tool::{More, Reader, Sign, Tool, Writer};
use crate::writing::fit::{TIME, left_out, plain};
use crate::writing::{About, Written};

/// Its entry in the table.
pub(super) static TOOL: Tool = Tool {
    name: "benchstat-csv",
    about: "As `benchstat -format csv`: one value for each benchmark, with an interval",
    // Medians are all that it keeps: what it was given is to be given here.
    reader: Some(Reader {
        more: Some(More::Behind { command: PROCESSES_OF_GO, ending: ".txt" }),
        ..Reader::of("CSV of benchstat", Sign::Text(is), parse)
    }),
    writer: Some(Writer { both: Some(write_both), ..Writer::of(write) }),
};

/// Units of the values that are judged, as the two forms write them.
const TIMES: [&str; 2] = ["sec/op", "ns/op"];
/// Rows of a table that are no benchmark.
const GEOMEAN: &str = "geomean";

/// A table's header.
#[derive(Debug, Clone, PartialEq)]
struct Header {
    unit: String,
    versions: usize,
}

/// Whether a header of a table is in this text.
fn is(bytes: &[u8]) -> bool {
    let lines = bytes.split(|b| *b == b'\n').take(100);
    lines.filter_map(|line| std::str::from_utf8(line).ok()).any(|line| {
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        Header::of(&cells).is_some()
    })
}

/// Reads such a text.
fn parse(bytes: &[u8]) -> Result<Contents, Wrong> {
    let mut rows = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut sheet = Sheet::default();
    let (mut package, mut header) = (String::new(), None);
    let mut row = ByteRecord::new();
    while rows.read_byte_record(&mut row).map_err(|e| Wrong::in_file(e.to_string()))? {
        let line = row.position().map_or(0, csv::Position::line);
        let cells: Vec<String> = row.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let words: Vec<&str> = cells.iter().map(String::as_str).collect();
        if let Some(found) = Header::of(&words) {
            if found.versions > 1 {
                let what = "a table of several versions begins: give the files that benchstat was given";
                return Err(Wrong::in_line(line, what));
            }
            header = Some(found);
        } else if let Some((key, value)) = words.first().and_then(|cell| cell.split_once(": ")) {
            if key == "pkg" {
                value.clone_into(&mut package);
            }
            sheet.context.push((key.to_owned(), value.to_owned()));
        } else if let (Some(header), [name, value, ..]) = (&header, words.as_slice())
            && let Some(value) = value_in(name, value).map_err(|what| Wrong::in_line(line, what))?
        {
            let mut series = Series::new(full_name(&package, name), unit::of(&header.unit));
            series.forks = vec![vec![value]];
            add(&mut sheet, series, &header.unit);
        }
    }
    let what = "benchstat's CSV holds medians alone: one value of each benchmark, of which nobody can tell how far it is from the \
                next; no change can be told by it, give the files that benchstat was given";
    sheet.warnings.push(what.into());
    without_procs(&mut sheet);
    sheet.contents(&ONE_PROCESS)
}

/// The value in a row of a table; absent where the row is of no benchmark.
fn value_in(name: &str, value: &str) -> Result<Option<f64>, String> {
    if name.is_empty() || name == GEOMEAN || name == "[Geo mean]" || value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| format!("expected a number, found `{value}`"))
}

/// A benchmark's name as Go has it.
fn full_name(package: &str, name: &str) -> String {
    let dot = if package.is_empty() { "" } else { "." };
    format!("{package}{dot}Benchmark{name}")
}

/// Adds the median of a benchmark in a unit.
fn add(sheet: &mut Sheet, series: Series, unit: &str) {
    if TIMES.contains(&unit) {
        sheet.judged.push(series);
    } else {
        sheet.beside.push((unit.to_owned(), series));
    }
}

impl Header {
    /// `,sec/op,CI` and `,sec/op,CI,sec/op,CI,vs base,P`, or `name,time/op (ns/op),±` and `name,old time/op (ns/op),±,new …`.
    fn of(cells: &[&str]) -> Option<Header> {
        match cells {
            ["", unit, "CI", rest @ ..] if !unit.is_empty() => Some(Header {
                unit: (*unit).to_owned(),
                versions: 1 + rest.iter().filter(|cell| *cell == unit).count(),
            }),
            ["name", quantity, "±", rest @ ..] => {
                let (_, unit) = quantity.strip_suffix(')')?.rsplit_once('(')?;
                Some(Header { unit: unit.to_owned(), versions: if rest.is_empty() { 1 } else { 2 } })
            }
            _ => None,
        }
    }
}

/// Error of intervals and tests, as benchstat has it by default.
const ALPHA: f64 = 0.05;

/// The values of one side for a benchmark.
struct Cell {
    units: Units,
    located: Located,
}

/// A row: the benchmark and its sides.
struct Row<'a> {
    recorded: &'a Recorded,
    cells: Vec<Cell>,
}

/// One recording as such a file.
fn write(recording: &Recording, about: &About) -> Result<Written, FormatError> {
    let single = by_process(recording);
    let mut lost = vec![summary_only()];
    let row = |recorded| Some(Row { recorded, cells: vec![Cell::of(recorded, &single)?] });
    let rows = rows(&single, row, &mut lost)?;
    Ok(Written::file(tables(&[&recording.name], &rows, about), lost))
}

/// Two recordings beside each other as such a file.
fn write_both(sides: [&Recording; 2], about: &About) -> Result<Written, FormatError> {
    let [base, head] = sides.map(by_process);
    let mut lost = vec![summary_only()];
    let row = |recorded: &'_ Recorded| {
        let other = head.benchmarks.iter().find(|b| b.benchmark == recorded.benchmark && b.unit == recorded.unit)?;
        Some((Cell::of(recorded, &base)?, Cell::of(other, &head)?))
    };
    let rows = rows(&base, |recorded| row(recorded).map(|(a, b)| Row { recorded, cells: vec![a, b] }), &mut lost)?;
    Ok(Written::file(tables(&["baseline", "candidate"], &rows, about), lost))
}

fn summary_only() -> String {
    "CSV of benchstat holds one value for each benchmark, with an interval, and not the values that these come from"
        .to_owned()
}

/// The rows that there are; what has none is named.
fn rows<'a>(
    recording: &'a Recording,
    row: impl Fn(&'a Recorded) -> Option<Row<'a>>,
    lost: &mut Vec<String>,
) -> Result<Vec<Row<'a>>, FormatError> {
    let (mut rows, mut without) = (Vec::new(), Vec::new());
    for recorded in &recording.benchmarks {
        match row(recorded) {
            Some(row) => rows.push(row),
            None => without.push(recorded),
        }
    }
    lost.extend(left_out(&without).map(|names| format!("left out, since a side has no positive value: {names}")));
    if rows.is_empty() { Err(FormatError::nothing("no benchmark has a positive value on each side")) } else { Ok(rows) }
}

impl Cell {
    fn of(recorded: &Recorded, recording: &Recording) -> Option<Cell> {
        let units = Units::of(recorded, &recording.levels).ok()?;
        let Located { value, interval, units: count } = units.located(ALPHA).ok()?;
        let located = Located { value: plain(value), interval, units: count };
        Some(Cell { units, located })
    }

    /// Distance from the value to the farther end of its interval, in percent.
    fn reach(&self) -> String {
        let Located { value, interval, .. } = self.located;
        interval.map_or_else(
            || "∞".to_owned(),
            |[low, high]| format!("{:.0}%", 100.0 * (high - value).max(value - low) / value),
        )
    }
}

/// All tables, with what is known of the whole in front.
fn tables(sides: &[&str], rows: &[Row<'_>], about: &About) -> String {
    let (procs, lines) = with_procs(about);
    let mut out: String = lines.map(|(key, value)| cells(&[&format!("{key}: {value}")])).collect();
    let mut package = "";
    let mut tables: Vec<((&str, &str), Vec<&Row<'_>>)> = Vec::new();
    for row in rows {
        let key = (split(&row.recorded.benchmark).0, row.recorded.unit.as_str());
        match tables.iter_mut().find(|(known, _)| *known == key) {
            Some((_, table)) => table.push(row),
            None => tables.push((key, vec![row])),
        }
    }
    // Those without a package first: there is no line that would take one back.
    tables.sort_by_key(|((of, _), _)| *of);
    for (number, ((of, unit), table)) in tables.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        if *of != package {
            package = of;
            out += &cells(&[&format!("pkg: {of}")]);
        }
        out += &headings(sides, unit);
        out.extend(table.iter().map(|row| line(row, &procs)));
        out += &geomean(sides.len(), table);
    }
    out
}

fn headings(sides: &[&str], unit: &str) -> String {
    let unit = if unit == TIME { "sec/op" } else { unit };
    let (mut first, mut second) = (vec![""], vec![""]);
    for side in sides {
        first.extend([side, ""]);
        second.extend([unit, "CI"]);
    }
    if sides.len() > 1 {
        first.extend(["", ""]);
        second.extend(["vs base", "P"]);
    }
    cells(&first) + &cells(&second)
}

fn line(row: &Row<'_>, procs: &str) -> String {
    let name = split(&row.recorded.benchmark).1;
    let mut all = vec![name.strip_prefix("Benchmark").unwrap_or(name).to_owned() + procs];
    for cell in &row.cells {
        all.extend([number(shown(row.recorded, cell.located.value)), cell.reach()]);
    }
    if let [base, head] = &row.cells[..] {
        let p = yuen_welch_t(&base.units.logs, &head.units.logs).and_then(|t| t.p_value());
        let change = 100.0 * (head.located.value / base.located.value - 1.0);
        let counts = if base.located.units == head.located.units {
            format!("n={}", base.located.units)
        } else {
            format!("n={}+{}", base.located.units, head.located.units)
        };
        all.extend(match p {
            Ok(p) if p <= ALPHA => [format!("{change:+.2}%"), format!("p={p:.3} {counts}")],
            Ok(p) => ["~".to_owned(), format!("p={p:.3} {counts}")],
            Err(_) => ["~".to_owned(), counts],
        });
    }
    cells(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The last row of a table with several: the geometric mean over benchmarks.
fn geomean(sides: usize, table: &[&Row<'_>]) -> String {
    if table.len() < 2 {
        return String::new();
    }
    let of = |side: usize| {
        let logs: f64 = table.iter().map(|row| shown(row.recorded, row.cells[side].located.value).ln()).sum();
        (logs / table.len() as f64).exp()
    };
    let mut all = vec!["geomean".to_owned()];
    for side in 0..sides {
        all.extend([number(of(side)), String::new()]);
    }
    if sides > 1 {
        all.extend([format!("{:+.2}%", 100.0 * (of(1) / of(0) - 1.0)), String::new()]);
    }
    cells(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A value as benchstat has it: times in seconds.
fn shown(recorded: &Recorded, value: f64) -> f64 {
    if recorded.unit == TIME { plain(value / 1e9) } else { value }
}

/// A number as Go writes it: an exponent of two digits where it is small or large.
fn number(value: f64) -> String {
    if (1e-4..1e21).contains(&value.abs()) || value == 0.0 {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// A line of cells, quoted where they must be.
fn cells(all: &[&str]) -> String {
    let quoted = all.iter().map(|cell| {
        let cell = foreign::cell(cell);
        if cell.contains(['"', ',']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_both_forms() {
        let check = |line: &str, want: Option<(&str, usize)>| {
            let cells: Vec<&str> = line.split(',').collect();
            let want = want.map(|(unit, versions)| Header { unit: unit.into(), versions });
            assert_eq!(Header::of(&cells), want, "{line}");
        };
        check(",sec/op,CI", Some(("sec/op", 1)));
        check(",B/op,CI,B/op,CI,vs base,P", Some(("B/op", 2)));
        check("name,time/op (ns/op),±", Some(("ns/op", 1)));
        check("name,old speed (MB/s),±,new speed (MB/s),±,delta,±", Some(("MB/s", 2)));
        check(",old.txt,", None);
        check("name,value,±", None);
    }

    #[test]
    fn numbers_as_go_writes_them() {
        let check = |value: f64, want: &str| assert_eq!(number(value), want);
        check(1.718e-6, "1.718e-06");
        check(0.0, "0");
        check(1.5e-4, "0.00015");
        check(16.0, "16");
        check(3e22, "3e+22");
        check(2e-12, "2e-12");
    }
}
