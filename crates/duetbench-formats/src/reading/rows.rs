//! Rows of CSV, their cells found by the names in the header.

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use crate::error::Wrong;

/// A table whose columns may stand in any order.
pub(crate) struct Rows<'a> {
    reader: Reader<&'a [u8]>,
    columns: Vec<String>,
    row: ByteRecord,
}

/// One column: where it is and what it is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    index: usize,
    name: &'static str,
}

impl<'a> Rows<'a> {
    /// The table in these bytes.
    pub(crate) fn of(bytes: &'a [u8], separator: u8) -> Result<Rows<'a>, Wrong> {
        let mut reader = ReaderBuilder::new().delimiter(separator).buffer_capacity(1 << 16).from_reader(bytes);
        let header = reader.byte_headers().map_err(|e| wrong(&e))?;
        let columns = header.iter().map(|cell| String::from_utf8_lossy(bare(cell)).into_owned()).collect();
        Ok(Rows { reader, columns, row: ByteRecord::new() })
    }

    /// The column of this name, where there is one.
    pub(crate) fn column(&self, name: &'static str) -> Option<Column> {
        self.columns.iter().position(|column| column == name).map(|index| Column { index, name })
    }

    /// The column of this name, which must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<Column, Wrong> {
        self.column(name).ok_or_else(|| missing(name))
    }

    /// Goes to the next row; absent at the end.
    pub(crate) fn advance(&mut self) -> Result<Option<Row<'_>>, Wrong> {
        let more = self.reader.read_byte_record(&mut self.row).map_err(|e| wrong(&e))?;
        Ok(more.then_some(Row(&self.row)))
    }
}

/// A row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(&'a ByteRecord);

impl<'a> Row<'a> {
    /// Its line in the file, counted from 1.
    pub(crate) fn line(self) -> u64 {
        self.0.position().map_or(0, csv::Position::line)
    }

    /// The bytes of one of its cells.
    pub(crate) fn bytes(self, column: Column) -> &'a [u8] {
        self.0.get(column.index).unwrap_or_default().trim_ascii()
    }

    /// A whole number from 0 upward; `5.0`, as some tools write it, is one too.
    pub(crate) fn whole(self, column: Column) -> Result<u64, Wrong> {
        let cell = self.bytes(column);
        if let Some(number) = digits(cell) {
            return Ok(number);
        }
        let number = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
        match number.filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n)) {
            Some(number) => Ok(number as u64),
            None => Err(self.wrong(column, "a whole number")),
        }
    }

    /// A number; what is not there is not a number.
    pub(crate) fn number(self, column: Column) -> Result<f64, Wrong> {
        let cell = self.bytes(column);
        if cell.is_empty() {
            return Ok(f64::NAN);
        }
        let number = std::str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
        number.ok_or_else(|| self.wrong(column, "a number"))
    }

    /// That a cell is not what it should be.
    pub(crate) fn wrong(self, column: Column, expected: &str) -> Wrong {
        let cell = String::from_utf8_lossy(self.bytes(column));
        let found = if cell.is_empty() { "nothing".to_owned() } else { format!("`{}`", cut(&cell)) };
        Wrong {
            line: Some(self.line()),
            column: Some(column.name),
            what: format!("expected {expected}, found {found}"),
        }
    }
}

/// That a column is not there.
pub(crate) fn missing(name: &str) -> Wrong {
    Wrong::in_line(1, format!("the column `{name}` is missing"))
}

/// A short number in plain digits.
fn digits(cell: &[u8]) -> Option<u64> {
    if cell.is_empty() || cell.len() > 18 {
        return None;
    }
    cell.iter().try_fold(0_u64, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0')))
}

/// Whether the header of a table has all of these columns.
pub(crate) fn has_columns(bytes: &[u8], separator: u8, columns: &[&str]) -> bool {
    let header = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    let has = |column: &&str| header.split(|b| *b == separator).any(|cell| bare(cell) == column.as_bytes());
    columns.iter().all(has)
}

/// A header's cell without blanks and quotes.
fn bare(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell)
}

/// The beginning of foreign words, on one line.
fn cut(text: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

fn wrong(error: &csv::Error) -> Wrong {
    let line = error.position().map(csv::Position::line);
    let what = match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => format!("has {len} columns, expected {expected_len}"),
        _ => error.to_string(),
    };
    Wrong { line, column: None, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_in_all_spellings() {
        let check = |cell: &str, want: Option<u64>| {
            let text = format!("a,b\n{cell},x\n");
            let mut rows = Rows::of(text.as_bytes(), b',').unwrap();
            let column = rows.required("a").unwrap();
            assert_eq!(rows.advance().unwrap().unwrap().whole(column).ok(), want, "{cell}");
        };
        check("17", Some(17));
        check(" 17 ", Some(17));
        check("17.0", Some(17));
        check("17.5", None);
        check("-1", None);
        check("NaN", None);
        check("", None);
        check("1e300", None);
        check("99999999999999999999999", None);
    }
}
