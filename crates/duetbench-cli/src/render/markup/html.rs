//! Words in HTML, and the style sheet of every page.

use crate::render::format::one_line;
use crate::render::tone::Tone;

/// The style sheet.
pub const STYLE: &str = include_str!("../html/page/page.css");

/// Text where markup is read.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// An element of a line of words.
pub fn element(tag: &str, classes: &[&str], words: &str) -> String {
    let classes: Vec<&str> = classes.iter().copied().filter(|class| !class.is_empty()).collect();
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    format!("<{tag}{class}>{}</{tag}>", text(words))
}

/// Words from outside on one line, where markup is read.
pub fn text(words: &str) -> String {
    escaped(&one_line(words))
}

/// The class of a tone in the style sheet; empty of the plain one.
pub fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Bad => "bad",
        Tone::Good => "good",
        Tone::Open => "open",
        Tone::Faint => "faint",
        Tone::Strong => "strong",
        Tone::Hint => "hint",
    }
}
