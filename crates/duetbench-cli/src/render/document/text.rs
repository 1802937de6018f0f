//! Documents for a terminal or a log.

use super::{Block, Document, Line, Tone};
use crate::render::format::one_line;
use crate::render::palette::{Palette, paint};
use crate::render::width::left;

/// The document as text; tables cut their names to fit a `width`.
pub(super) fn write(document: &Document, palette: &Palette, width: Option<usize>) -> String {
    let title = &document.title;
    let heading = one_line(&format!("duet {}: {}", title.version, title.subject));
    let first = format!("{}\n", paint(palette.strong, &heading));
    let blocks = document.blocks.iter().map(|block| match block {
        Block::Lines(lines) => block_of(lines, palette),
        Block::Table(table) => table.text(palette, width),
    });
    let all: Vec<String> = [first].into_iter().chain(blocks).filter(|block| !block.is_empty()).collect();
    all.join("\n")
}

/// The lines of a block, its facts below each other.
fn block_of(lines: &[Line], palette: &Palette) -> String {
    let label_width = |line: &Line| if let Line::Small(label, _) = line { label.len() } else { 0 };
    let width = lines.iter().map(label_width).max().unwrap_or(0) + 1;
    lines.iter().map(|line| written(line, width, palette) + "\n").collect()
}

fn written(line: &Line, label_width: usize, palette: &Palette) -> String {
    let labelled = |tone, label: &str, text| format!("{} {}", paint(palette.style(tone), label), one_line(text));
    match line {
        Line::Heading(text) => paint(palette.strong, &one_line(text)),
        Line::Sentence(text) | Line::Item(text) => one_line(text),
        Line::Command(text) => format!("  {}", one_line(text)),
        Line::Labelled(tone, label, text) => labelled(*tone, &format!("{label}:"), text),
        Line::Small("", text) => paint(palette.faint, &one_line(text)),
        Line::Small(label, text) => labelled(Tone::Faint, &left(&format!("{label}:"), label_width), text),
    }
}
