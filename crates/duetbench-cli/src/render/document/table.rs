//! Tables: the same rows for a terminal, for Markdown and as CSV.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::render::format::one_line;
use crate::render::markup::markdown::prose_cell;
use crate::render::markup::{csv, html, markdown};
use crate::render::palette::Palette;
use crate::render::tone::Tone;
use crate::render::width::{NAME_WIDTH_MAX, NAME_WIDTH_MIN, centre, cut_middle, left, right};

/// Names are told apart by so many cells: columns give way to them, and only then they are cut further.
const NAME_WIDTH_TELLING: usize = 28;
/// Between columns of a group.
const GAP: &str = "  ";
/// Between groups in the headings, and as wide in the rows.
const WALL: &str = " │ ";

/// A table. A row has a cell for each column of all groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    groups: Vec<Group>,
    rows: Vec<Vec<Cell>>,
    /// Name of the table where it is folded: in Markdown.
    folded: Option<String>,
}

/// Columns with a title above them.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The title; empty where the headings say all.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    heading: String,
    kind: Cells,
    /// When it is left out where there is no room; `None` for never.
    gives_way: Option<Turn>,
}

/// Turn in which a column is left out where a terminal is too narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Before all others.
    First,
    /// Before names are cut so far that they are hard to tell apart.
    Second,
    /// When names are cut as far as they go.
    Last,
}

/// Kind of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// A name from outside. It stands left, and loses its middle where there is no room.
    Name,
    /// Words of ours. They stand left.
    Words,
    /// Numbers. They stand right.
    Number,
    /// A picture of characters, each in its place.
    Drawing,
}

/// A cell with its weight.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell that says something other than most.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Cell {
        Cell { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::toned(text, Tone::Plain)
    }
}

impl Column {
    /// A column of one kind.
    pub fn new(heading: impl Into<String>, kind: Cells) -> Column {
        Column { heading: heading.into(), kind, gives_way: None }
    }

    /// The same column, left out in this turn.
    #[must_use]
    pub fn gives_way(self, turn: Turn) -> Column {
        Column { gives_way: Some(turn), ..self }
    }

    /// A column of words.
    pub fn words(heading: impl Into<String>) -> Column {
        Column::new(heading, Cells::Words)
    }

    /// A column of numbers.
    pub fn numbers(heading: impl Into<String>) -> Column {
        Column::new(heading, Cells::Number)
    }
}

impl Table {
    /// A table with these columns and no rows.
    pub fn new(columns: &[(&str, Cells)]) -> Table {
        let columns = columns.iter().map(|(heading, kind)| Column::new(*heading, *kind)).collect();
        Table::grouped(vec![Group { title: String::new(), columns }])
    }

    /// A table of columns with cells as they are, for programs.
    pub fn plain(headings: &[&str]) -> Table {
        Table::new(&headings.iter().map(|heading| (*heading, Cells::Words)).collect::<Vec<_>>())
    }

    /// A table for programs of what they have as JSON too: a row an object, a column a word of `columns`, as `name`, or as
    /// `heading=path/in/it` where the value lies deeper or is called otherwise. What is `null` is empty.
    pub fn of_objects(columns: &str, objects: impl IntoIterator<Item = Value>) -> Table {
        let columns: Vec<(&str, &str)> =
            columns.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, word))).collect();
        let mut table = Table::plain(&columns.iter().map(|(heading, _)| *heading).collect::<Vec<_>>());
        for object in objects {
            table.push(
                columns.iter().map(|(_, path)| object.pointer(&format!("/{path}")).map_or_else(String::new, plain)),
            );
        }
        table
    }

    /// A table whose columns stand in groups.
    pub fn grouped(groups: Vec<Group>) -> Table {
        Table { groups, rows: Vec::new(), folded: None }
    }

    /// The same table, folded below this name where that can be done.
    #[must_use]
    pub fn folded(self, name: impl Into<String>) -> Table {
        Table { folded: Some(name.into()), ..self }
    }

    /// Adds a row; what it has too many is left out, what it has too few is empty.
    pub fn push<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns().count(), Cell::default());
        self.rows.push(row);
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns, each with its group.
    fn titled(&self) -> impl Iterator<Item = (&Group, &Column)> {
        self.groups.iter().flat_map(|group| group.columns.iter().map(move |column| (group, column)))
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.titled().map(|(_, column)| column)
    }

    /// The table as aligned text. The first column loses the middle of its names as far as that makes the table fit the width.
    pub fn text(&self, palette: &Palette, width: Option<usize>) -> String {
        Aligned::of(self, width).write(palette)
    }

    /// The lines of a Markdown table, foreign words defused: two of headings, then the rows.
    pub(super) fn markdown_lines(&self) -> impl Iterator<Item = String> {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heading = |group: &Group, column: &Column| match (group.title.as_str(), column.heading.as_str()) {
            ("", heading) => prose_cell(heading),
            (title, "") => prose_cell(title),
            (title, heading) => prose_cell(&format!("{title}: {heading}")),
        };
        let headings = self.titled().map(|(group, column)| heading(group, column)).collect();
        let rule = |column: &Column| if column.kind == Cells::Number { "--:" } else { "---" }.to_owned();
        let cell = |(cell, column): (&Cell, &Column)| match column.kind {
            Cells::Name if !cell.text.is_empty() => markdown::cell(&cell.text),
            _ => prose_cell(&cell.text),
        };
        let rows = self.rows.iter().map(move |row| line(row.iter().zip(self.columns()).map(cell).collect()));
        [line(headings), line(self.columns().map(rule).collect())].into_iter().chain(rows)
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        self.markdown_lines().collect()
    }

    /// The rows for a page, headings first.
    pub(super) fn html_rows(&self) -> String {
        let kind = |column: &Column| if column.kind == Cells::Number { "number" } else { "" };
        let heading = |(group, column): (&Group, &Column)| {
            let words = [group.title.as_str(), &column.heading].join(" ");
            html::element("th", &[kind(column)], words.trim())
        };
        let headings = self.titled().map(heading).collect();
        let cell =
            |(cell, column): (&Cell, &Column)| html::element("td", &[html::class(cell.tone), kind(column)], &cell.text);
        let row = |row: &Vec<Cell>| row.iter().zip(self.columns()).map(cell).collect();
        let rows = [headings].into_iter().chain(self.rows.iter().map(row));
        rows.map(|cells: String| format!("<tr>{cells}</tr>\n")).collect()
    }

    /// The name below which it is folded.
    pub(super) fn fold(&self) -> Option<&str> {
        self.folded.as_deref()
    }

    /// The table as CSV, quoted as RFC 4180 says, lines ending in `\n`.
    pub fn csv(&self) -> String {
        let head = csv::line(self.columns().map(|column| column.heading.clone()));
        self.rows.iter().fold(head, |out, row| out + &csv::line(row.iter().map(|cell| cell.text.clone())))
    }
}

/// A value of JSON as a cell, numbers at full precision and whole ones without a point.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

/// A table whose cells fit one line, with the widths of its columns.
struct Aligned {
    groups: Vec<Group>,
    rows: Vec<Vec<Cell>>,
    widths: Vec<usize>,
    /// Width of the first column without its heading.
    names: usize,
}

impl Aligned {
    fn of(table: &Table, limit: Option<usize>) -> Aligned {
        let clean = |(cell, column): (&Cell, &Column)| match column.kind {
            Cells::Drawing => cell.clone(),
            _ => Cell { text: one_line(&cell.text), ..*cell },
        };
        let clean_row = |row: &Vec<Cell>| row.iter().zip(table.columns()).map(clean).collect();
        let rows: Vec<Vec<Cell>> = table.rows.iter().map(clean_row).collect();
        let mut widths: Vec<usize> = table.columns().map(|column| column.heading.width()).collect();
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        spread(&table.groups, &mut widths);
        let names = rows.iter().map(|row| row[0].text.width()).max().unwrap_or(0);
        let mut aligned = Aligned { groups: table.groups.clone(), rows, widths, names };
        limit.inspect(|limit| aligned.leave_out(*limit));
        if table.columns().next().is_some_and(|first| first.kind == Cells::Name) {
            aligned.cut_names(limit);
        }
        aligned
    }

    /// Width of all but the first column, gaps included.
    fn width_of_others(&self) -> usize {
        let gaps = GAP.len() * (self.widths.len() - self.groups.len()) + WALL.width() * (self.groups.len() - 1);
        self.widths[1..].iter().sum::<usize>() + gaps
    }

    /// Leaves out columns until the table fits, as far as there are any that may be.
    fn leave_out(&mut self, limit: usize) {
        let next = |groups: &[Group]| {
            let columns = groups.iter().flat_map(|group| &group.columns).enumerate();
            columns.filter_map(|(place, column)| Some((column.gives_way?, place))).min()
        };
        while let Some((turn, place)) = next(&self.groups) {
            let least = if turn == Turn::Last { NAME_WIDTH_MIN } else { NAME_WIDTH_TELLING };
            if self.names.min(least) + self.width_of_others() <= limit {
                return;
            }
            self.remove(place);
        }
    }

    fn remove(&mut self, place: usize) {
        self.widths.remove(place);
        self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
        let mut before = 0;
        for group in &mut self.groups {
            let inside = place - before;
            before += group.columns.len();
            if place < before {
                group.columns.remove(inside);
                return;
            }
        }
    }

    fn cut_names(&mut self, limit: Option<usize>) {
        let others = self.width_of_others();
        let room =
            limit.map_or(NAME_WIDTH_MAX, |limit| limit.saturating_sub(others).max(NAME_WIDTH_MIN.min(self.names)));
        let width = self.widths[0].min(room).min(NAME_WIDTH_MAX);
        self.widths[0] = width;
        for row in &mut self.rows {
            row[0].text = cut_middle(&row[0].text, width);
        }
        // That of one package alone is its path. One that stands alone may be longer than names.
        let is_alone =
            self.groups.iter().flat_map(|group| &group.columns).skip(1).all(|column| column.heading.is_empty());
        if limit.is_some() && !is_alone {
            let heading = &mut self.groups[0].columns[0].heading;
            *heading = cut_middle(heading, width);
        }
    }

    fn write(self, palette: &Palette) -> String {
        let heading = |text: String| format!("{}\n", palette.paint(Tone::Strong, text.trim_end()));
        let titles = self.groups.iter().any(|group| !group.title.is_empty());
        let mut out = if titles { heading(self.titles()) } else { String::new() };
        let headings = self.groups.iter().flat_map(|group| &group.columns);
        let headings: Vec<Cell> = headings.map(|column| column.heading.as_str().into()).collect();
        out += &heading(self.line(&headings, WALL, &Palette::plain()));
        for row in &self.rows {
            out += &format!("{}\n", self.line(row, &" ".repeat(WALL.width()), palette).trim_end());
        }
        out
    }

    /// The titles of the groups, each above the middle of its columns.
    fn titles(&self) -> String {
        let cells = self.groups.iter().scan(0, |start, group| {
            let inside = &self.widths[*start..*start + group.columns.len()];
            *start += group.columns.len();
            Some(centre(&group.title, inside.iter().sum::<usize>() + GAP.len() * (inside.len() - 1)))
        });
        cells.collect::<Vec<_>>().join(WALL)
    }

    fn line(&self, cells: &[Cell], wall: &str, palette: &Palette) -> String {
        let mut cells = cells.iter().zip(&self.widths);
        let group = |group: &Group| {
            let padded = group.columns.iter().zip(cells.by_ref()).map(|(column, (cell, width))| {
                let pad = if column.kind == Cells::Number { right } else { left };
                palette.paint(cell.tone, &pad(&cell.text, *width))
            });
            padded.collect::<Vec<_>>().join(GAP)
        };
        self.groups.iter().map(group).collect::<Vec<_>>().join(wall)
    }
}

/// Makes the last column of each group as wide as its title needs.
fn spread(groups: &[Group], widths: &mut [usize]) {
    let mut end = 0;
    for group in groups {
        let start = end;
        end += group.columns.len();
        let inside = widths[start..end].iter().sum::<usize>() + GAP.len() * group.columns.len().saturating_sub(1);
        if let Some(last) = widths[start..end].last_mut() {
            *last += group.title.width().saturating_sub(inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_table_in_three_forms() {
        let mut table = Table::new(&[("name", Cells::Name), ("n", Cells::Number), ("what", Cells::Words)]);
        table.push(["a|b\u{1b}[31m", "7", "well, yes"]);
        table.push(["c", "1234"]);
        let text = table.text(&Palette::plain(), None);
        assert_eq!(text, "name         n  what\na|b [31m     7  well, yes\nc         1234\n");
        assert_eq!(
            table.markdown(),
            "| name | n | what |\n| --- | --: | --- |\n| `a\\|b [31m` | 7 | well, yes |\n| `c` | 1234 |  |\n"
        );
        assert_eq!(table.csv(), "name,n,what\na|b [31m,7,\"well, yes\"\nc,1234,\n");
    }

    #[test]
    fn objects_are_rows() {
        let objects = [
            json!({ "name": "a", "n": 3, "in": { "x": 1.0, "y": null }, "both": [0.5, 2e-7] }),
            json!({ "name": "b", "n": 4, "in": null, "both": [true, "c,d"] }),
        ];
        let table = Table::of_objects("name count=n x=in/x y=in/y low=both/0 high=both/1", objects);
        assert_eq!(table.csv(), "name,count,x,y,low,high\na,3,1,,0.5,0.0000002\nb,4,,,true,\"c,d\"\n");
    }

    #[test]
    fn groups_have_walls_in_the_headings_only() {
        let name = Group { title: String::new(), columns: vec![Column::words("name")] };
        let long = Group { title: "a long title".into(), columns: vec![Column::words("x"), Column::numbers("y")] };
        let mut table = Table::grouped(vec![name, long]);
        table.push(["Encode", "3×1", "5"]);
        table.push(["D", "", "17"]);
        let want = "       │ a long title\nname   │ x          y\nEncode   3×1        5\nD                  17\n";
        assert_eq!(table.text(&Palette::plain(), None), want);
        assert!(table.markdown().starts_with("| name | a long title: x | a long title: y |\n"));
    }

    #[test]
    fn columns_give_way_in_their_turn() {
        let last = Column::words("c").gives_way(Turn::First);
        let columns = vec![Column::new("a", Cells::Name), Column::words("b").gives_way(Turn::Second), last];
        let mut table = Table::grouped(vec![Group { title: String::new(), columns }]);
        table.push(["name", "second", "third"]);
        let at = |width| table.text(&Palette::plain(), Some(width)).lines().last().map(str::to_owned);
        assert_eq!(at(19).as_deref(), Some("name  second  third"));
        assert_eq!(at(18).as_deref(), Some("name  second"));
        assert_eq!(at(11).as_deref(), Some("name"));
        assert!(table.markdown().contains("third"), "a page has room");
    }

    #[test]
    fn names_give_way_to_a_narrow_terminal() {
        let mut table = Table::new(&[("name", Cells::Name), ("n", Cells::Number)]);
        table.push(["a_name_of_thirty_characters_ab", "1"]);
        assert_eq!(table.text(&Palette::plain(), Some(23)).lines().nth(1), Some("a_name_of_…acters_ab  1"));
    }
}
