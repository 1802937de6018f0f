//! benchstat's CSV, of `-format csv` and of the older `-csv`: tables of medians, one for each unit.
//!
//! A median is one value, and what `±` stands beside it is not a spread that could be judged by; so this is read for what it is, with a
//! warning. Tables of several versions are refused, since a recording is of one.

use csv::{ByteRecord, ReaderBuilder};

use super::sheet::{ONE_PROCESS, Series, Sheet};
use super::{Imported, Wrong, unit};

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
pub(super) fn is(bytes: &[u8]) -> bool {
    let lines = bytes.split(|b| *b == b'\n').take(100);
    lines.filter_map(|line| std::str::from_utf8(line).ok()).any(|line| {
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        Header::of(&cells).is_some()
    })
}

/// Reads such a text.
pub(super) fn parse(bytes: &[u8]) -> Result<Imported, Wrong> {
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
        } else if let (Some(header), [name, value, ..]) = (&header, words.as_slice()) {
            add(&mut sheet, (&package, header), (name, value, line))?;
        }
    }
    let what = "benchstat's CSV holds medians alone: one value of each benchmark, of which nobody can tell how far it is from the \
                next; no change can be told by it, give the files that benchstat was given";
    sheet.warnings.push(what.into());
    sheet.imported(&ONE_PROCESS)
}

/// Adds a row of a table.
fn add(sheet: &mut Sheet, table: (&str, &Header), row: (&str, &str, u64)) -> Result<(), Wrong> {
    let ((package, header), (name, value, line)) = (table, row);
    if name.is_empty() || name == GEOMEAN || name == "[Geo mean]" || value.is_empty() {
        return Ok(());
    }
    let value: f64 = value.parse().map_err(|_| Wrong::in_line(line, format!("expected a number, found `{value}`")))?;
    let dot = if package.is_empty() { "" } else { "." };
    let mut series = Series::new(format!("{package}{dot}Benchmark{name}"), unit::of(&header.unit));
    series.forks = vec![vec![value]];
    if TIMES.contains(&header.unit.as_str()) {
        sheet.judged.push(series);
    } else {
        sheet.beside.push((header.unit.clone(), series));
    }
    Ok(())
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
}
