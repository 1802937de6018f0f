//! Documents as a page for the browser: one file that loads nothing, with no script.

use super::parts::{Block, Document, Line};
use crate::render::markup::html::{STYLE, class, element, text};

/// Rules that a page of lines and tables needs beside those of a comparison's page.
const TABLES: &str = "
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; }
td.number, th.number { text-align: right; } .bad { color: var(--slower); } .open { color: var(--open); } .faint { color: var(--faint); }
.strong { font-weight: 650; } .hint { color: var(--accent); } main p, main li { margin: 0.375rem 0; overflow-wrap: anywhere; } main { padding: 2rem 0; }
.wide { overflow-x: auto; }";

/// The document as a page.
pub(super) fn write(document: &Document) -> String {
    let title = &document.title;
    let heading = text(&format!("{}: {}", title.command, title.subject));
    let blocks: String = document.blocks.iter().map(block).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{heading}</title>\n\
         <style>\n{STYLE}{TABLES}\n</style>\n<div class=\"room\"><main>\n<h1>{heading}</h1>\n{blocks}\
         <p class=\"faint\">duet {}</p>\n</main></div>\n</html>\n",
        text(&title.version)
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Lines(lines) => lines.iter().map(|one| line(one) + "\n").collect(),
        Block::Table(table) => {
            let rows = format!("<div class=\"wide\"><table>\n{}</table></div>\n", table.html_rows());
            match table.fold() {
                Some(name) => format!("<details><summary>{}</summary>\n{rows}</details>\n", text(name)),
                None => rows,
            }
        }
    }
}

fn line(line: &Line) -> String {
    match line {
        Line::Heading(words) => element("h2", &[], words),
        Line::Sentence(words) => element("p", &[], words),
        Line::Item(words) => format!("<ul>{}</ul>", element("li", &[], words)),
        Line::Command(words) => element("pre", &[], words),
        Line::Labelled(tone, label, words) => {
            format!("<p><span class=\"{}\">{label}:</span> {}</p>", class(*tone), text(words))
        }
        Line::Small("", words) => element("p", &["faint"], words),
        Line::Small(label, words) => element("p", &["faint"], &format!("{label}: {words}")),
    }
}
