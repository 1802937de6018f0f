//! A table whose columns stand in titled groups.

use unicode_width::UnicodeWidthStr;

use crate::render::palette::{Palette, paint};
use crate::render::table::{NAME_WIDTH_MAX, centre, cut_middle, left, right};

/// Names are not cut below this width, however narrow the terminal.
const NAME_WIDTH_MIN: usize = 16;
/// Between columns of a group.
const GAP: &str = "  ";
/// Between groups in the headings, and as wide in the rows.
const WALL: &str = " │ ";

/// Columns with a title above them.
pub(super) struct Group {
    pub(super) title: String,
    pub(super) columns: Vec<Column>,
}

/// One column.
pub(super) struct Column {
    pub(super) heading: String,
    /// Numbers stand right, words left.
    pub(super) right: bool,
}

/// A cell with its look.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: anstyle::Style,
}

impl Cell {
    /// A cell like most.
    pub(super) fn plain(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), style: anstyle::Style::new() }
    }
}

impl Column {
    /// A column of words.
    pub(super) fn words(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), right: false }
    }

    /// A column of numbers.
    pub(super) fn numbers(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), right: true }
    }
}

/// Writes the table. Its first column holds names, which lose their middle as far as that makes the table fit the width.
pub(super) fn write(groups: &[Group], mut rows: Vec<Vec<Cell>>, palette: &Palette, limit: Option<usize>) -> String {
    let columns: Vec<&Column> = groups.iter().flat_map(|group| &group.columns).collect();
    let mut widths: Vec<usize> = columns.iter().map(|column| column.heading.width()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }
    let titles = spread(groups, &mut widths);
    if let Some(name) = widths.first().copied() {
        let gaps = GAP.len() * (columns.len() - groups.len()) + WALL.width() * (groups.len() - 1);
        let others = widths.iter().sum::<usize>() + gaps - name;
        let room = limit.map_or(NAME_WIDTH_MAX, |limit| limit.saturating_sub(others).max(NAME_WIDTH_MIN));
        widths[0] = name.min(room).min(NAME_WIDTH_MAX);
        for row in &mut rows {
            row[0].text = cut_middle(&row[0].text, widths[0]);
        }
    }
    let mut out = String::new();
    if titles {
        let cells = groups.iter().scan(0, |start, group| {
            let inside = &widths[*start..*start + group.columns.len()];
            *start += group.columns.len();
            Some(centre(&group.title, inside.iter().sum::<usize>() + GAP.len() * (inside.len() - 1)))
        });
        out += &heading(&cells.collect::<Vec<_>>().join(WALL), palette);
    }
    let headings = columns.iter().map(|column| Cell::plain(column.heading.clone())).collect();
    out += &heading(&line(groups, &widths, headings, WALL), palette);
    for row in rows {
        out += &format!("{}\n", line(groups, &widths, row, &" ".repeat(WALL.width())).trim_end());
    }
    out
}

fn heading(text: &str, palette: &Palette) -> String {
    format!("{}\n", paint(palette.strong, text.trim_end()))
}

/// Makes the last column of each group as wide as its title needs; says whether there are titles.
fn spread(groups: &[Group], widths: &mut [usize]) -> bool {
    let mut end = 0;
    for group in groups {
        let start = end;
        end += group.columns.len();
        let inside = widths[start..end].iter().sum::<usize>() + GAP.len() * group.columns.len().saturating_sub(1);
        if let Some(last) = widths[start..end].last_mut() {
            *last += group.title.width().saturating_sub(inside);
        }
    }
    groups.iter().any(|group| !group.title.is_empty())
}

fn line(groups: &[Group], widths: &[usize], cells: Vec<Cell>, wall: &str) -> String {
    let mut cells = cells.into_iter().zip(widths);
    let group = |group: &Group| {
        let padded = group.columns.iter().zip(cells.by_ref()).map(|(column, (cell, width))| {
            let text = if column.right { right(&cell.text, *width) } else { left(&cell.text, *width) };
            paint(cell.style, &text)
        });
        padded.collect::<Vec<_>>().join(GAP)
    };
    groups.iter().map(group).collect::<Vec<_>>().join(wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_walls_in_the_headings_only() {
        let groups = [
            Group { title: String::new(), columns: vec![Column::words("name")] },
            Group { title: "a long title".into(), columns: vec![Column::words("x"), Column::numbers("y")] },
        ];
        let rows = vec![
            vec![Cell::plain("Encode"), Cell::plain("3×1"), Cell::plain("5")],
            vec![Cell::plain("D"), Cell::plain(""), Cell::plain("17")],
        ];
        let want = "       │ a long title\nname   │ x          y\nEncode   3×1        5\nD                  17\n";
        assert_eq!(write(&groups, rows, &Palette::plain(), None), want);
    }
}
