//! The table of a comparison that is being measured: intervals narrow, and a verdict appears once it is known.

use duetbench_core::analysis::Seen;
use duetbench_core::{BenchmarkId, Verdict};

use super::document::{Cell, Cells, Column, Group, Table, Tone, Turn};
use super::forest::{Axis, Mark};
use super::palette::Palette;
use super::{names, order, summary};

/// Most rows: what was printed before stays in sight.
const ROWS_MAX: usize = 12;
/// Lines besides the rows: headings, those that there is no room for, the bar, the cursor.
const LINES_BESIDES: usize = 4;
/// Shown of a question that is open, to whichever side it leans: nobody should end a run because of what it seems to say.
const OPEN: Verdict = Verdict::Inconclusive { forks_sufficient: None };

/// Room on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Cells of a line.
    pub width: usize,
    /// Lines of the screen.
    pub height: usize,
}

/// A benchmark that had a look.
struct Row<'a> {
    id: &'a BenchmarkId,
    mark: Mark<'a>,
}

impl<'a> Row<'a> {
    fn of(id: &'a BenchmarkId, Seen { range, verdict, threshold }: &'a Seen) -> Row<'a> {
        let verdict = if verdict.is_open() { &OPEN } else { verdict };
        Row { id, mark: Mark { verdict, range: *range, threshold: *threshold } }
    }

    fn is_open(&self) -> bool {
        self.mark.verdict.is_open()
    }
}

/// The table of these benchmarks, changes first; absent before the first look.
pub fn table(benchmarks: &[&BenchmarkId], seen: &[Option<Seen>], palette: &Palette, room: Room) -> Option<String> {
    let all = benchmarks.iter().zip(seen);
    let mut rows: Vec<Row<'_>> = all.filter_map(|(id, seen)| Some(Row::of(id, seen.as_ref()?))).collect();
    // Stable, so that a row moves only when its verdict is new.
    rows.sort_by_key(|row| order::rank(row.mark.verdict));
    let shown = rows.len().min(ROWS_MAX).min(room.height.saturating_sub(LINES_BESIDES));
    let hidden = rows.split_off(shown);
    if rows.is_empty() {
        return None;
    }
    let marks: Vec<Mark<'_>> = rows.iter().map(|row| row.mark).collect();
    let axis = Axis::over(&marks, Some(room.width));
    let short = names::Short::of(benchmarks.iter().copied());
    let mut table = Table::grouped(vec![Group { title: String::new(), columns: columns(&short, &axis) }]);
    rows.iter().for_each(|row| table.push(cells(row, &short, &axis)));
    Some(table.text(palette, Some(room.width)) + &besides(&hidden))
}

fn columns(names: &names::Short, axis: &Axis) -> Vec<Column> {
    vec![
        Column::new(format!("  {}", names.common().unwrap_or("benchmark")), Cells::Name),
        Column::numbers("change"),
        Column::new(axis.labels(), Cells::Drawing).gives_way(Turn::First),
        Column::words("within").gives_way(Turn::Last),
        Column::words("verdict"),
    ]
}

fn cells(row: &Row<'_>, names: &names::Short, axis: &Axis) -> Vec<Cell> {
    let Mark { verdict, range, .. } = row.mark;
    let (tone, number, word) = match row.is_open() {
        true => (Tone::Faint, String::new(), "narrowing"),
        false if *verdict == Verdict::NoChange => (Tone::Faint, "~".into(), order::label(verdict)),
        false => (order::tone(verdict), summary::change_beside(range), order::label(verdict)),
    };
    let name = format!("{} {}", order::shape(verdict), names.name(row.id));
    vec![
        Cell::toned(name, if verdict.is_change() { tone } else { Tone::Plain }),
        Cell::toned(number, tone),
        Cell::toned(axis.draw(row.mark), tone),
        Cell::toned(summary::between(range.interval), tone),
        Cell::toned(word, tone),
    ]
}

/// A line that counts those that the table has no room for; empty where it has room for all.
fn besides(hidden: &[Row<'_>]) -> String {
    let open = hidden.iter().filter(|row| row.is_open()).count();
    match (hidden.len() - open, open) {
        (0, 0) => String::new(),
        (settled, 0) => format!("  and {settled} more that are settled\n"),
        (0, open) => format!("  and {open} more, narrowing\n"),
        (settled, open) => format!("  and {settled} more that are settled, {open} narrowing\n"),
    }
}
