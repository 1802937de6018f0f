//! Words in Markdown, so that nothing from outside is taken for markup, a mention or a link.

use crate::render::format::one_line;

/// GitHub refuses comments longer than 65,536 characters; the rest is for the link that `ci/publish.sh` adds. We count bytes, which
/// are never fewer.
pub const LENGTH_MAX: usize = 65_000;

/// A page that is being written, and the length in bytes up to which it may grow.
pub struct Page {
    /// The text so far.
    pub out: String,
    /// Length in bytes that it may have.
    pub room_end: usize,
    /// Pieces that were left out.
    pub left_out: usize,
}

impl Page {
    /// Adds a piece, or counts it as left out; once one is left out, all that follow are. Says whether it was added.
    pub fn push(&mut self, piece: &str) -> bool {
        let fits = self.left_out == 0 && self.out.len() + piece.len() <= self.room_end;
        if fits {
            self.out += piece;
        } else {
            self.left_out += 1;
        }
        fits
    }
}

/// Foreign words as a code span in a table's cell, which ends at a bar even there.
pub fn cell(foreign: &str) -> String {
    barred(&code(foreign))
}

/// Code in a table's cell, with its bars escaped. A backslash before one is kept apart from ours: together they would be a backslash, and the bar end
/// the cell.
fn barred(code: &str) -> String {
    code.replace(r"\|", "\\\u{200b}|").replace('|', r"\|")
}

/// Foreign words as a code span outside of tables.
pub fn code(foreign: &str) -> String {
    let clean = one_line(foreign);
    let fence = "`".repeat(longest_run_of_backticks(&clean) + 1);
    let pad = if clean.starts_with('`') || clean.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{clean}{pad}{fence}")
}

/// Lines of code in a language, as a block whose fence is longer than any run of backticks inside.
pub fn fenced(language: &str, lines: &str) -> String {
    let fence = "`".repeat(longest_run_of_backticks(lines).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.trim_end_matches('\n'))
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Words outside of tables, with everything defused that Markdown, HTML or a mention would be made of. What stands between backticks stays as it is:
/// our own sentences set flags and paths in them, and there nothing else has a meaning.
pub fn prose(text: &str) -> String {
    defused(text, str::to_owned)
}

/// The same in a table's cell, which ends at a bar even between backticks.
pub fn prose_cell(text: &str) -> String {
    defused(text, barred)
}

/// Code spans are found as readers find them: a run of backticks, up to the next one that is as long. One that has no end is escaped, so that it
/// does not pair with what comes behind.
fn defused(text: &str, in_code: fn(&str) -> String) -> String {
    let clean = one_line(text);
    let (mut out, mut rest) = (String::new(), &*clean);
    while let Some(at) = rest.find('`') {
        out += &words(&rest[..at]);
        let from = &rest[at..];
        let run = from.len() - from.trim_start_matches('`').len();
        let (fence, inside) = from.split_at(run);
        rest = match end_of_code(inside, run) {
            Some(end) => {
                out += &format!("{fence}{}{fence}", in_code(&inside[..end]));
                &inside[end + run..]
            }
            None => {
                out += &r"\`".repeat(run);
                inside
            }
        };
    }
    out + &words(rest)
}

/// Where the next run of exactly so many backticks begins.
fn end_of_code(inside: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = inside[at..].find('`') {
        let start = at + found;
        at = start + inside[start..].len() - inside[start..].trim_start_matches('`').len();
        if at - start == run {
            return Some(start);
        }
    }
    None
}

/// Words without backticks, defused.
fn words(text: &str) -> String {
    let mut out = String::new();
    for c in unlinked(text).chars() {
        match c {
            '\\' | '[' | ']' | '*' | '_' | '|' => out.extend(['\\', c]),
            other => markup(other, &mut out),
        }
    }
    out
}

/// Words between tags, where nothing is read but other tags, mentions and links.
pub fn within_tags(text: &str) -> String {
    let mut out = String::new();
    unlinked(&one_line(text)).chars().for_each(|c| markup(c, &mut out));
    out
}

fn unlinked(text: &str) -> String {
    text.replace("://", ":\u{200b}//").replace("www.", "www\u{200b}.")
}

/// Whether a number that stood here next would be that of an issue: `owner/repo#1`, `GH-1`.
fn ends_before_issue(out: &[u8]) -> bool {
    out.ends_with(b"#") || out.last_chunk().is_some_and(|end: &[u8; 3]| end.eq_ignore_ascii_case(b"gh-"))
}

fn markup(c: char, out: &mut String) {
    match c {
        '&' => *out += "&amp;",
        '<' => *out += "&lt;",
        '>' => *out += "&gt;",
        '@' => *out += "@\u{200b}",
        '0'..='9' if ends_before_issue(out.as_bytes()) => out.extend(['\u{200b}', c]),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stays_code_and_nothing_else_becomes_it() {
        let check = |text: &str, want: &str| assert_eq!(prose(text), want);
        check("raise `--bench 'A|B_c'` now", "raise `--bench 'A|B_c'` now");
        check("a_b `c", r"a\_b \`c");
        check("``a`<b>`` <c>", "``a`<b>`` &lt;c&gt;");
        check("``a`<b>", r"\`\`a\`&lt;b&gt;");
        check(r"\`a` @b", "\\\\`a` @\u{200b}b");
        check("o/r#1, gh-2, #c", "o/r#\u{200b}1, gh-\u{200b}2, #c");
        assert_eq!(prose_cell("x|y `A|B`"), r"x\|y `A\|B`");
        assert_eq!(cell(r"a\|b"), "`a\\\u{200b}\\|b`");
        assert_eq!(within_tags("a_b `<c>`"), "a_b `&lt;c&gt;`");
    }
}
