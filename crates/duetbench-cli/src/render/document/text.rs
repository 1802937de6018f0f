//! Documents for a terminal or a log.

use super::parts::{Block, Document, Line};
use crate::render::format::one_line;
use crate::render::palette::Palette;
use crate::render::tone::Tone;
use crate::render::width::{left, wrapped};

/// The document as text for a terminal of this width, or a log. Commands stay in one piece.
pub(super) fn write(document: &Document, palette: &Palette, width: Option<usize>) -> String {
    let title = &document.title;
    let heading = one_line(&format!("duet {}: {}", title.version, title.subject));
    let first = format!("{}\n", palette.paint(Tone::Strong, &heading));
    let blocks = document.blocks.iter().map(|block| match block {
        Block::Lines(lines) => block_of(lines, palette, width),
        Block::Table(table) => table.text(palette, width),
    });
    let all: Vec<String> = [first].into_iter().chain(blocks).filter(|block| !block.is_empty()).collect();
    all.join("\n")
}

/// The lines of a block, its facts below each other.
fn block_of(lines: &[Line], palette: &Palette, width: Option<usize>) -> String {
    let label_width = |line: &Line| if let Line::Small(label, _) = line { label.len() } else { 0 };
    let longest = lines.iter().map(label_width).max().unwrap_or(0) + 1;
    let small = |label: &str| left(&format!("{label}:"), longest);
    let labelled = |tone, label: &str, text: &str| {
        format!("{} {}", palette.paint(tone, label), wrapped(&one_line(text), width, label.len() + 1))
    };
    let written = |line: &Line| match line {
        Line::Heading(text) => palette.paint(Tone::Strong, &wrapped(&one_line(text), width, 0)),
        Line::Sentence(text) | Line::Item(text) => wrapped(&one_line(text), width, 0),
        Line::Command(text) => format!("  {}", one_line(text)),
        Line::Labelled(tone, label, text) => labelled(*tone, &format!("{label}:"), text),
        Line::Small("", text) => palette.paint(Tone::Faint, &wrapped(&one_line(text), width, 0)),
        Line::Small(label, text) => labelled(Tone::Faint, &small(label), text),
    };
    lines.iter().map(|line| written(line) + "\n").collect()
}
