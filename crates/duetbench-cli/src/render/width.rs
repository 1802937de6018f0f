//! Texts in terminal cells: padded, or cut to a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Names are cut above this width, however wide the terminal, or where there is none.
pub(super) const NAME_WIDTH_MAX: usize = 120;
/// Names are not cut below this width, however narrow the terminal.
pub(super) const NAME_WIDTH_MIN: usize = 16;

/// Text followed by spaces up to a width.
pub(super) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// A sentence in lines of a terminal's width, of which all have so many cells less and later ones begin with as many spaces; as it
/// is where there is no terminal.
pub(super) fn wrapped(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    textwrap::wrap(text, width.saturating_sub(indent)).join(&format!("\n{}", " ".repeat(indent)))
}

/// Text after spaces up to a width.
pub(super) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// Text in the middle of a width.
pub(super) fn centre(text: &str, width: usize) -> String {
    let before = width.saturating_sub(text.width()) / 2;
    left(&format!("{}{text}", " ".repeat(before)), width)
}

/// A text that fits a width, its middle replaced by `…` if it must be: beginning and end tell names apart best.
pub(super) fn cut_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head = prefix(text.chars(), kept.div_ceil(2));
    let tail: String = prefix(text.chars().rev(), kept / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// As many of the first characters as fit a width.
fn prefix(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_to_the_width_and_words_stay_whole() {
        let wrapped = |width| wrapped("a sentence with anextraordinarilylongword in it", width, 4);
        assert_eq!(wrapped(Some(20)), "a sentence with\n    anextraordinaril\n    ylongword in it");
        assert_eq!(wrapped(Some(30)), "a sentence with\n    anextraordinarilylongword\n    in it");
        assert_eq!(wrapped(None), "a sentence with anextraordinarilylongword in it");
    }

    #[test]
    fn names_lose_their_middle_only_when_too_wide() {
        let check = |text, width, want: &str| {
            assert_eq!(cut_middle(text, width), want);
            assert!(want.width() <= width);
        };
        check("abcdefghij", 10, "abcdefghij");
        check("abcdefghij", 9, "abcd…ghij");
        check("abcdefghij", 8, "abcd…hij");
        check("漢字漢字漢字", 8, "漢字…字");
    }
}
