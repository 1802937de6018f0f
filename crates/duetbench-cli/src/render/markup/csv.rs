//! Cells of CSV.

use duetbench_core::foreign;

use crate::render::format::one_line;

/// A number at full precision; an empty cell where there is none.
pub fn number(value: Option<f64>) -> Option<String> {
    value.map(|v| v.to_string())
}

/// A line of cells, quoted where they must be.
pub fn line(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| quote(&foreign::cell(&one_line(&cell)))).collect::<Vec<_>>().join(",") + "\n"
}

fn quote(cell: &str) -> String {
    if cell.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
