//! Tables whose columns are not known before: the same rows for a terminal, for Markdown and as CSV.

use unicode_width::UnicodeWidthStr;

use super::csv;
use super::format::one_line;
use super::markdown::{self, prose_cell};
use super::table::{NAME_WIDTH_MAX, cut_middle, left, right};

/// Kind of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// A name from outside.
    Name,
    /// Words of ours.
    Words,
    /// Numbers.
    Number,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    headings: Vec<(String, Column)>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table with these columns and no rows.
    #[must_use]
    pub fn new(headings: &[(&str, Column)]) -> Columns {
        Columns {
            headings: headings.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; what it has too many is left out, what it has too few is empty.
    pub fn push(&mut self, cells: Vec<String>) {
        let mut row = cells;
        row.resize(self.headings.len(), String::new());
        self.rows.push(row);
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned, two spaces between columns.
    #[must_use]
    pub fn text(&self) -> String {
        let head = [self.headings.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()];
        let fitting = |(cell, (_, kind)): (&String, &(String, Column))| match kind {
            Column::Name => cut_middle(&one_line(cell), NAME_WIDTH_MAX),
            Column::Words | Column::Number => one_line(cell),
        };
        let clean = self.rows.iter().map(|row| row.iter().zip(&self.headings).map(fitting).collect());
        let lines: Vec<Vec<String>> = head.into_iter().chain(clean).collect();
        let widest = |i: usize| lines.iter().map(|line| line[i].width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.headings.len()).map(widest).collect();
        let aligned = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&self.headings).zip(&widths).map(|((cell, (_, kind)), width)| match kind {
                Column::Number => right(cell, *width),
                Column::Name | Column::Words => left(cell, *width),
            });
            format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        lines.iter().map(aligned).collect()
    }

    /// As a table of Markdown, foreign words defused.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = |kind: &Column| if *kind == Column::Number { "--:" } else { "---" };
        let mut out = line(self.headings.iter().map(|(name, _)| prose_cell(name)).collect());
        out += &line(self.headings.iter().map(|(_, kind)| rule(kind).to_owned()).collect());
        for row in &self.rows {
            let cells = row.iter().zip(&self.headings).map(|(cell, (_, kind))| match kind {
                Column::Name if !cell.is_empty() => markdown::cell(cell),
                _ => prose_cell(cell),
            });
            out += &line(cells.collect());
        }
        out
    }

    /// As CSV, quoted as RFC 4180 says, lines ending in `\n`.
    #[must_use]
    pub fn csv(&self) -> String {
        let head = csv::line(self.headings.iter().map(|(name, _)| name.clone()));
        self.rows.iter().fold(head, |out, row| out + &csv::line(row.iter().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_in_three_forms() {
        let mut table = Columns::new(&[("name", Column::Name), ("n", Column::Number), ("what", Column::Words)]);
        table.push(vec!["a|b\u{1b}[31m".into(), "7".into(), "well, yes".into()]);
        table.push(vec!["c".into(), "1234".into()]);
        assert_eq!(table.text(), "name         n  what\na|b [31m     7  well, yes\nc         1234\n");
        assert_eq!(
            table.markdown(),
            "| name | n | what |\n| --- | --: | --- |\n| `a\\|b [31m` | 7 | well, yes |\n| `c` | 1234 |  |\n"
        );
        assert_eq!(table.csv(), "name,n,what\na|b [31m,7,\"well, yes\"\nc,1234,\n");
    }
}
