//! The page: a report with its pictures as one file for a browser, which loads nothing.
//!
//! Style sheet, library of charts, script and data are put into the page here. The script only places and draws; every number is
//! computed before, and every word is made here, with the other renderers. The data are the one thing that comes from outside,
//! and cannot end the element that they stand in.

mod benchmark;
mod data;
mod history;
mod profiled;
mod said;

use std::io::Write as _;

use duetbench_core::foreign::in_json;
use duetbench_core::{Report, sources};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::format::one_line;
use super::markup::html::{STYLE, escaped};
use super::summary;

/// Data of so many bytes are packed.
const PACKED_FROM: usize = 1_000_000;

const PAGE: &str = include_str!("page/page.html");
const LIBRARY: &str = include_str!("page/vendor/plot.js");
/// The page's own scripts; each may use those before it.
const SCRIPTS: [(&str, &str); 16] = sources!("page/":
    "format.js", "dom.js", "verdict.js", "scale.js", "selection.js", "rows.js", "head.js", "charts.js", "figures.js",
    "flame.js", "history.js", "detail.js", "sections.js", "controls.js", "list.js", "app.js"
);

/// The page of a report.
pub fn render(report: &Report) -> String {
    let title = escaped(&format!("duet {}: {}", one_line(&report.run), summary::headline(report)));
    let script = SCRIPTS.map(|(_, script)| script).join("\n");
    let data = packed(data(report));
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
pub fn data(report: &Report) -> String {
    let json = data::data(report).to_string();
    // Only strings can hold it, and there this is another way of writing it.
    in_json(&json).replace('<', "\\u003c")
}

/// Data of a page that would be large, deflated and in base 64: a browser unpacks them in a moment. What is small stays readable.
fn packed(json: String) -> String {
    if json.len() < PACKED_FROM {
        return json;
    }
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = deflated.write_all(json.as_bytes()).and_then(|()| deflated.finish());
    base_64(&written.expect("memory can be written to"))
}

/// RFC 4648, section 4.
fn base_64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().enumerate().fold(0u32, |bits, (i, byte)| bits | u32::from(*byte) << (16 - 8 * i));
        let letter = |i: usize| char::from(LETTERS[(bits >> (18 - 6 * i)) as usize & 63]);
        out.extend((0..4).map(|i| if i <= three.len() { letter(i) } else { '=' }));
    }
    out
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
    fn large_data_are_packed_and_small_ones_stay_readable() {
        // Test vectors of RFC 4648, section 10.
        for (plain, want) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base_64(plain.as_bytes()), want);
        }
        assert_eq!(packed("{}".into()), "{}");
        let large = format!("{{\"a\":\"{}\"}}", "shop ".repeat(PACKED_FROM / 5));
        let packed = packed(large.clone());
        assert!(packed.len() < large.len() / 50 && !packed.starts_with('{'), "{}", packed.len());
    }

    #[test]
    fn the_page_has_a_place_for_everything_once() {
        for mark in ["/*{{style}}*/", "/*{{library}}*/", "/*{{script}}*/", "{{data}}"] {
            assert_eq!(PAGE.matches(mark).count(), 1, "{mark}");
        }
    }

    #[test]
    fn no_part_ends_the_element_it_stands_in() {
        for part in SCRIPTS.map(|(_, script)| script).into_iter().chain([LIBRARY]) {
            let lower = part.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
