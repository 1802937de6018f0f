//! The table of the text format, laid out like benchstat's.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::palette::{Palette, paint};

/// Names are cut above this width, however wide the terminal, or where there is none.
pub(super) const NAME_WIDTH_MAX: usize = 120;
/// Names are not cut below this width, however narrow the terminal.
pub(super) const NAME_WIDTH_MIN: usize = 16;

/// One benchmark, in words.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) change: String,
    pub(super) interval: String,
    pub(super) verdict: String,
    pub(super) detects: String,
    pub(super) style: Style,
}

/// A line of the table.
pub(super) enum Line {
    /// The package of the rows below.
    Package(String),
    /// A benchmark.
    Row(Row),
}

/// Widths of the columns, in terminal cells.
struct Widths {
    name: usize,
    base: usize,
    head: usize,
    change: usize,
    interval: usize,
    verdict: usize,
    detects: usize,
}

/// Writes the table; `confidence` stands in the heading of the intervals.
pub(super) fn write(lines: &[Line], confidence: &str, palette: &Palette, width: Option<usize>) -> String {
    let versus = format!("vs base [{confidence} CI]");
    let widths = Widths::of(lines, &versus, width);
    let mut out = String::new();
    for heading in headings(&widths, &versus) {
        out += &format!("{}\n", paint(palette.strong, heading.trim_end()));
    }
    for (index, line) in lines.iter().enumerate() {
        match line {
            Line::Package(package) => {
                let gap = if index == 0 { "" } else { "\n" };
                out += &format!("{gap}{}\n", paint(palette.faint, &format!("pkg: {package}")));
            }
            Line::Row(row) => out += &format!("{}\n", widths.row(row)),
        }
    }
    out
}

/// The two lines above the table.
fn headings(widths: &Widths, versus: &str) -> [String; 2] {
    let head = widths.head + 2 + widths.change + 1 + widths.interval;
    [
        format!("{} │ {} │ {} │", left("", widths.name), centre("base", widths.base), centre("head", head)),
        format!(
            "{} │ {} │ {}  {} │ {}  {}",
            left("", widths.name),
            centre("sec/op", widths.base),
            centre("sec/op", widths.head),
            left(versus, widths.change + 1 + widths.interval),
            left("verdict", widths.verdict),
            left("detects", widths.detects),
        ),
    ]
}

impl Widths {
    fn of(lines: &[Line], versus: &str, limit: Option<usize>) -> Widths {
        let widest = |cell: fn(&Row) -> &str, least: usize| {
            let rows = lines.iter().filter_map(|line| match line {
                Line::Row(row) => Some(cell(row).width()),
                Line::Package(_) => None,
            });
            rows.max().unwrap_or(0).max(least)
        };
        let change = widest(|r| &r.change, 1);
        let mut widths = Widths {
            name: widest(|r| &r.name, 0).min(NAME_WIDTH_MAX),
            base: widest(|r| &r.base, "sec/op".len()),
            head: widest(|r| &r.head, "sec/op".len()),
            change,
            interval: widest(|r| &r.interval, versus.width().saturating_sub(change + 1)),
            verdict: widest(|r| &r.verdict, "verdict".len()),
            detects: widest(|r| &r.detects, "detects".len()),
        };
        if let Some(limit) = limit {
            let others = widths.total() - widths.name;
            widths.name = widths.name.min(limit.saturating_sub(others).max(NAME_WIDTH_MIN));
        }
        widths
    }

    fn total(&self) -> usize {
        let gaps = 3 + 3 + 2 + 1 + 3 + 2;
        self.name + self.base + self.head + self.change + self.interval + self.verdict + self.detects + gaps
    }

    fn row(&self, row: &Row) -> String {
        let line = format!(
            "{}   {}   {}  {} {}   {}  {}",
            left(&cut_middle(&row.name, self.name), self.name),
            right(&row.base, self.base),
            right(&row.head, self.head),
            paint(row.style, &right(&row.change, self.change)),
            left(&row.interval, self.interval),
            paint(row.style, &left(&row.verdict, self.verdict)),
            right(&row.detects, self.detects),
        );
        line.trim_end().to_owned()
    }
}

/// Text followed by spaces up to a width.
pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Text after spaces up to a width.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// Text in the middle of a width.
pub(super) fn centre(text: &str, width: usize) -> String {
    let before = width.saturating_sub(text.width()) / 2;
    left(&format!("{}{text}", " ".repeat(before)), width)
}

/// A text that fits a width, its middle replaced by `…` if it must be: beginning and end tell names apart best.
pub(super) fn cut_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head = prefix(text.chars(), kept.div_ceil(2));
    let tail: String = prefix(text.chars().rev(), kept / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// As many of the first characters as fit a width.
fn prefix(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle_only_when_too_wide() {
        let check = |text, width, want: &str| {
            assert_eq!(cut_middle(text, width), want);
            assert!(want.width() <= width);
        };
        check("abcdefghij", 10, "abcdefghij");
        check("abcdefghij", 9, "abcd…ghij");
        check("abcdefghij", 8, "abcd…hij");
        check("漢字漢字漢字", 8, "漢字…字");
    }
}
