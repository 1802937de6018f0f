//! The page: a report with its pictures as one file for a browser, which loads nothing.
//!
//! Style sheet, library of charts, script and data are put into the page here. The script only places and draws; every number is
//! computed before, and every word is made here, with the other renderers. The data are the one thing that comes from outside,
//! and cannot end the element that they stand in.

mod benchmark;
mod data;
mod profiled;
mod said;

use duetbench_core::Report;
use duetbench_core::foreign::in_json;

use super::format::one_line;
use super::summary;
use data::Data;

const PAGE: &str = include_str!("page/page.html");
pub(super) const STYLE: &str = include_str!("page/page.css");
const LIBRARY: &str = include_str!("page/vendor/plot.js");
/// The page's own scripts; each may use those before it.
const SCRIPTS: [&str; 14] = [
    include_str!("page/format.js"),
    include_str!("page/dom.js"),
    include_str!("page/verdict.js"),
    include_str!("page/scale.js"),
    include_str!("page/selection.js"),
    include_str!("page/rows.js"),
    include_str!("page/head.js"),
    include_str!("page/charts.js"),
    include_str!("page/figures.js"),
    include_str!("page/detail.js"),
    include_str!("page/sections.js"),
    include_str!("page/controls.js"),
    include_str!("page/list.js"),
    include_str!("page/app.js"),
];

/// The page of a report.
#[must_use]
pub fn render(report: &Report) -> String {
    let title = escaped(&format!("duet {}: {}", one_line(&report.run), summary::headline(report)));
    let script = SCRIPTS.join("\n");
    let data = data(report);
    let parts = [
        ("{{title}}", &*title),
        ("/*{{style}}*/", STYLE),
        ("/*{{library}}*/", LIBRARY),
        ("/*{{script}}*/", &script),
        ("{{data}}", &data),
    ];
    filled(PAGE, &parts)
}

/// The data of the page: JSON in which nothing can be taken for markup.
#[must_use]
pub fn data(report: &Report) -> String {
    let data = Data::of(report);
    let json = serde_json::to_string(&data).expect("data of plain values and string keys serialise");
    // Only strings can hold it, and there this is another way of writing it.
    in_json(&json).replace('<', "\\u003c")
}

/// Text where markup is read.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Puts every part at its mark. What was put in is not looked through again: it may hold a mark as well.
fn filled(page: &str, parts: &[(&str, &str)]) -> String {
    let (mut out, mut rest) = (String::new(), page);
    let next = |rest: &str| {
        let found = parts.iter().filter_map(|(mark, part)| Some((rest.find(mark)?, mark.len(), *part)));
        found.min_by_key(|(at, ..)| *at)
    };
    while let Some((at, length, part)) = next(rest) {
        out += &rest[..at];
        out += part;
        rest = &rest[at + length..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_at_their_marks_and_marks_inside_them_stay() {
        let parts = [("{a}", "1{b}"), ("{b}", "2{a}")];
        assert_eq!(filled("x{b}y{a}z{b}", &parts), "x2{a}y1{b}z2{a}");
        assert_eq!(filled("nothing", &parts), "nothing");
    }

    #[test]
    fn the_page_has_a_place_for_everything_once() {
        for mark in ["/*{{style}}*/", "/*{{library}}*/", "/*{{script}}*/", "{{data}}"] {
            assert_eq!(PAGE.matches(mark).count(), 1, "{mark}");
        }
    }

    #[test]
    fn no_part_ends_the_element_it_stands_in() {
        for part in SCRIPTS.into_iter().chain([LIBRARY]) {
            let lower = part.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
