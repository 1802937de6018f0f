//! Documents as a comment or a job summary.

use super::parts::{Block, Document, Line};
use super::table::Table;
use crate::render::format::{many, shortened};
use crate::render::markup::markdown::{LENGTH_MAX, Page, code, prose};
use crate::render::tone::Tone;

/// Room for the end of the page.
const RESERVE: usize = 1024;

/// The document as Markdown, never longer than GitHub takes; what does not fit is left out from the end and counted.
pub(super) fn write(document: &Document) -> String {
    let title = &document.title;
    let head = format!("### {}: {}\n\n", title.command, prose(&shortened(&title.subject)));
    let mut page = Page { out: head, room_end: LENGTH_MAX - RESERVE, left_out: 0 };
    for block in &document.blocks {
        match block {
            Block::Lines(lines) => page.put_lines(lines),
            Block::Table(table) => page.put_table(table),
        }
    }
    if page.left_out > 0 {
        let lines = many(page.left_out, "line is", "lines are");
        page.out += &format!("{lines} left out here for lack of space; `--format json` has all.\n\n");
    }
    page.out.truncate(page.out.trim_end().len());
    page.out + "\n"
}

impl Page {
    /// The lines, those that are read last at their end.
    fn put_lines(&mut self, lines: &[Line]) {
        let mut in_list = false;
        for line in lines {
            let is_item = matches!(line, Line::Item(_) | Line::Command(_));
            if in_list && !is_item {
                self.out.push('\n');
            }
            in_list = is_item;
            self.push(&written(line));
        }
        if in_list {
            self.out.push('\n');
        }
        let small: Vec<String> = lines.iter().filter_map(small).collect();
        if !small.is_empty() {
            self.push(&format!("<sub>{}</sub>\n\n", small.join("<br>")));
        }
    }

    fn put_table(&mut self, table: &Table) {
        let before = self.left_out;
        if let Some(name) = table.fold() {
            self.push(&format!("<details><summary>{}</summary>\n\n", prose(name)));
        }
        let opened = self.left_out == before;
        for line in table.markdown_lines() {
            self.push(&line);
        }
        self.out.push('\n');
        if table.fold().is_some() && opened {
            self.out += "</details>\n\n";
        }
    }
}

fn written(line: &Line) -> String {
    match line {
        Line::Heading(text) => format!("**{}**\n\n", prose(&shortened(text))),
        Line::Sentence(text) => format!("{}\n\n", prose(text)),
        Line::Item(text) => format!("- {}\n", prose(text)),
        Line::Command(text) => format!("  - {}\n", code(text)),
        // Failures and warnings hold the words of others.
        Line::Labelled(Tone::Bad | Tone::Open, label, text) => labelled(label, &shortened(text)),
        Line::Labelled(_, label, text) => labelled(label, text),
        Line::Small(..) => String::new(),
    }
}

fn small(line: &Line) -> Option<String> {
    match line {
        Line::Small("", text) => Some(prose(text)),
        Line::Small(label, text) => Some(format!("{label}: {}", prose(text))),
        _ => None,
    }
}

fn labelled(label: &str, text: &str) -> String {
    let (first, rest) = label.split_at(label.chars().next().map_or(0, char::len_utf8));
    format!("**{}{rest}:** {}\n\n", first.to_uppercase(), prose(text))
}
