//! Looks for harmful text in outputs, by their format.

use serde_json::Value;

/// The tag in every hostile word: where it is one, a browser would have taken it.
pub const TAG: &str = "<owned>";
/// Behind the line's end in every hostile word.
pub const TORN: &str = "::error::torn";

/// The part of the output that acts where it is shown; nothing if all is well.
pub fn harmful(format: &str, output: &str) -> Option<String> {
    visible(format, output).or_else(|| match format {
        "markdown" => markdown(output),
        "csv" => formula(output),
        "json" | "sarif" => serde_json::from_str::<Value>(output).err().map(|e| e.to_string()),
        "html" => output.contains(TAG).then(|| format!("a tag: {}", around(output, TAG))),
        _ => None,
    })
}

/// A control character, something that changes the order of reading, or a line that a service of continuous integration obeys.
fn visible(format: &str, output: &str) -> Option<String> {
    // Columns of Go's text and of lists; the page brings a library with white space of its own.
    let tabs = matches!(format, "go" | "html" | "people");
    output.split('\n').find_map(|line| {
        let odd = line.chars().find(|c| match c {
            '\t' => !tabs,
            // Breaks up Markdown's links and mentions.
            '\u{200b}' => format != "markdown",
            c => c.is_control() || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200c}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'),
        });
        let start = line.trim_start();
        let obeyed = start.starts_with("::") || start.starts_with("##[");
        // One that began a line of its own, if it was defused then.
        let torn = start.trim_start_matches("| ").starts_with(TORN) && format != "people";
        (odd.is_some() || obeyed || torn).then(|| format!("{odd:?} in {line:?}"))
    })
}

/// A tag or a link outside of code.
fn markdown(output: &str) -> Option<String> {
    let mut fence: Option<usize> = None;
    for line in output.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open => fence = None,
            Some(_) => {}
            None if ticks >= 3 && !line[ticks..].contains('`') => fence = Some(ticks),
            None => {
                // A line that begins with a tag is taken as it is, up to an empty one: no code spans there.
                let raw = line.starts_with("<details") || line.starts_with("</details");
                let seen = if raw { line.replace("](", "") } else { without_code(line) };
                if [TAG, "](https", "https://evil"].iter().any(|acting| seen.contains(acting)) {
                    return Some(format!("a tag or a link in {line:?}"));
                }
            }
        }
    }
    fence.map(|_| "a fence that does not end".to_owned())
}

/// A line of Markdown without its code spans, as CommonMark finds them: a run of backticks, up to the next one of the same length.
fn without_code(line: &str) -> String {
    let (mut seen, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['`', '\\']) {
        let (before, from) = rest.split_at(at);
        seen += before;
        if let Some(escaped) = from.strip_prefix('\\') {
            seen.push('.');
            rest = &escaped[escaped.chars().next().map_or(0, char::len_utf8)..];
            continue;
        }
        let run = from.len() - from.trim_start_matches('`').len();
        let inside = &from[run..];
        rest = match end_of_span(inside, run) {
            Some(end) => &inside[end..],
            None => {
                seen += &from[..run];
                inside
            }
        };
    }
    seen + rest
}

/// Where the code span ends that began with so many backticks.
fn end_of_span(inside: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = inside[at..].find('`') {
        let start = at + found;
        let length = inside[start..].len() - inside[start..].trim_start_matches('`').len();
        at = start + length;
        if length == run {
            return Some(at);
        }
    }
    None
}

/// A cell that a spreadsheet would reckon with.
fn formula(output: &str) -> Option<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(output.as_bytes());
    let cells = reader.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
    let mut formulas =
        cells.filter(|cell| cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err());
    formulas.next().map(|cell| format!("a formula: {cell:?}"))
}

fn around<'a>(text: &'a str, word: &str) -> &'a str {
    let at = text.find(word).unwrap_or(0);
    text.get(at.saturating_sub(200)..(at + 100).min(text.len())).unwrap_or_default()
}

#[test]
fn code_is_told_from_what_is_not() {
    let check = |line: &str, want: &str| assert_eq!(without_code(line), want);
    check("a `b` c", "a  c");
    check("a ``b`c`` d", "a  d");
    check("a ` b", "a ` b");
    check(r"a \` b ` c `", "a . b ");
}
