//! Words from outside: a benchmark's name, a version, what a program said. They can hold anything.

use std::borrow::Cow;

/// Foreign words on one line of visible characters: every run of white space and control characters becomes one space, and what is not seen
/// but changes what is (the order of reading, joined letters) is shown as `�`.
pub fn one_line(foreign: &str) -> String {
    let words = foreign.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let seen = |word: &str| word.chars().map(shown).collect::<String>();
    words.map(seen).collect::<Vec<_>>().join(" ")
}

/// The beginning of a text that is too long to be read where it stands, in whole words unless the last one is very long.
pub fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    const WORD_MAX: usize = 40;
    let Some((end, next)) = text.char_indices().nth(CHARACTERS_MAX) else { return text.to_owned() };
    let beginning = &text[..end];
    let whole = beginning.rfind(' ').filter(|at| next != ' ' && end - at <= WORD_MAX).unwrap_or(end);
    format!("{}…", beginning[..whole].trim_end())
}

/// A word as a POSIX shell must be given it.
pub fn quote(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(harmless) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Words of several lines, as of a compiler, for people to read: every line is one of visible characters, and none is taken for a command by
/// a service of continuous integration that looks for those at the start of lines.
pub fn lines(foreign: &str) -> String {
    let line = |line: &str| {
        let clean: String = line
            .trim_end_matches('\r')
            .chars()
            .map(|c| if c.is_control() && c != '\t' { ' ' } else { shown(c) })
            .collect();
        if is_obeyed(clean.trim_start()) { format!("| {clean}") } else { clean }
    };
    foreign.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// As long as it was: what is not seen has a character that is, and white space and spelling stay. For the files of other tools.
pub fn visible(foreign: &str) -> String {
    foreign.chars().map(|c| if c.is_control() { ' ' } else { shown(c) }).collect()
}

/// A cell of CSV that no spreadsheet takes for a formula, and no service of continuous integration for a command: an apostrophe stands before
/// what could be one and is no number or percentage.
pub fn cell(foreign: &str) -> String {
    let clean = visible(foreign);
    let start = clean.trim_start();
    let is_formula = start.starts_with(['=', '+', '-', '@']) && clean.trim_end_matches('%').parse::<f64>().is_err();
    if is_formula || is_obeyed(start) { format!("'{start}") } else { clean }
}

/// JSON that says the same in characters that are seen. Those of strings alone are written otherwise: nothing else in it can be hidden.
pub fn in_json(json: &str) -> Cow<'_, str> {
    let hidden = |c: char| c != '\n' && (c.is_control() || shown(c) != c);
    if !json.contains(hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if hidden(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Percent notation, as in addresses, of everything but unreserved characters (RFC 3986, 2.3) and `also` some.
pub fn percent_encoded(foreign: &[u8], also: &[u8]) -> String {
    let byte = |b: &u8| match *b {
        b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) || also.contains(&b) => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    foreign.iter().map(byte).collect()
}

/// Whether a service of continuous integration takes a line for a command that begins so.
fn is_obeyed(start: &str) -> bool {
    ["::", "##["].iter().any(|command| start.starts_with(command))
}

/// The character, or one that shows that there is one.
fn shown(c: char) -> char {
    let hidden = matches!(
        c,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}'
    );
    if hidden { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_are_one_line_of_visible_characters() {
        assert_eq!(one_line("a\u{1b}[31mred\r\n\tb\u{9b}2J"), "a [31mred b 2J");
        assert_eq!(one_line("a\u{202e}b\u{2066}c d\u{ad}"), "a\u{fffd}b\u{fffd}c d\u{fffd}");
        assert_eq!(one_line("größer/µ=1"), "größer/µ=1");
    }

    #[test]
    fn cells_are_no_formulas_and_no_commands() {
        let check = |foreign: &str, want: &str| assert_eq!(cell(foreign), want);
        check("=1", "'=1");
        check("\t=1", "'=1");
        check("-0.5", "-0.5");
        check("-0.27%", "-0.27%");
        check("-a", "'-a");
        check("::error::x", "'::error::x");
        check("a  b\n", "a  b ");
    }

    #[test]
    fn json_stays_what_it_was() {
        let of = "a\u{9b}\u{202e}\u{e0041}b\u{7f}\n\u{1b}ß";
        let json = serde_json::to_string(of).unwrap();
        let clean = in_json(&json);
        assert_eq!(clean, r#""a\u009b\u202e\udb40\udc41b\u007f\n\u001bß""#);
        assert_eq!(serde_json::from_str::<String>(&clean).unwrap(), of);
        assert!(matches!(in_json("{\n}"), Cow::Borrowed(_)));
    }

    #[test]
    fn addresses_hold_any_path() {
        assert_eq!(percent_encoded("a b/ü%?.go".as_bytes(), b"/"), "a%20b/%C3%BC%25%3F.go");
        assert_eq!(percent_encoded(b"enc/~enc_test.go", b""), "enc%2F~enc_test.go");
    }

    #[test]
    fn lines_stay_lines_and_are_no_commands() {
        assert_eq!(lines("a.go:3:\tundefined\u{7}\r\n  ::error::x\nb"), "a.go:3:\tundefined \n|   ::error::x\nb");
    }
}
