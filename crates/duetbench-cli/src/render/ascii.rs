//! Text for terminals that know no more than ASCII.

/// Whether the locale asks for it.
pub(crate) fn is_wanted() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // POSIX: the first that is set decides. Where none is, as in most containers, logs are read as UTF-8.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let is_utf8 = |locale: &String| ["UTF-8", "UTF8"].iter().any(|end| locale.to_ascii_uppercase().contains(end));
    locale.is_some_and(|locale| !is_utf8(&locale))
}

/// Two signs that would say something else as one; each takes the place of a space beside it.
const BOUNDS: [(char, &str); 2] = [('≥', ">="), ('≤', "<=")];

/// Our own signs as the nearest ones of ASCII, as wide as they are so that columns stay. What stands between backticks
/// is to be typed and stays, but for what we left out of it.
pub(crate) fn written(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let is_quoted = |i: usize| i % 2 == 1 && i + 1 < parts.len();
    let parts =
        parts.iter().enumerate().map(|(i, part)| if is_quoted(i) { part.replace('…', "~") } else { ours(part) });
    parts.collect::<Vec<_>>().join("`")
}

fn ours(words: &str) -> String {
    let spaced = BOUNDS.iter().fold(words.to_owned(), |text, (sign, plain)| {
        text.replace(&format!("{sign} "), plain).replace(&format!("  {sign}"), &format!(" {plain}"))
    });
    spaced.chars().map(plain).collect()
}

fn plain(sign: char) -> char {
    match sign {
        'µ' => 'u',
        '→' | '▸' | '≥' => '>',
        '◂' | '≤' => '<',
        '…' => '~',
        '│' | '├' | '┤' => '|',
        '─' => '-',
        '·' => '.',
        '▲' | '△' | '▵' => '^',
        '▼' | '▽' | '▿' => 'v',
        '○' => 'o',
        '●' => '*',
        '✗' => 'x',
        '✓' => 'v',
        '≠' => '!',
        '×' => 'x',
        '±' | '≈' => '~',
        '∞' => '?',
        '█' => '#',
        '░' => '.',
        '₂' => '2',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁰'..='⁹' => char::from_digit(u32::from(sign) - u32::from('⁰'), 10).unwrap_or('?'),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_signs_have_a_stand_in_of_the_same_width() {
        let check = |text: &str, want: &str| assert_eq!(written(text), want);
        check("5µs: `duet show --bench '5µs'`, 3 × `a\n` ×", "5us: `duet show --bench '5µs'`, 3 x `a\n` x");
        check("▲ Encode  1.7µs → 2.1µs  ├─▲─┤ ¹ ⁴⁰", "^ Encode  1.7us > 2.1us  |-^-| 1 40");
        check("日本語", "日本語");
        check("needs ≥ 3 forks, has 2", "needs >=3 forks, has 2");
        check("a  ≥3.2%  b", "a >=3.2%  b");
    }
}
