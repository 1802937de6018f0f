//! Words as the go command splits them in `GOFLAGS` and `-toolexec` (`cmd/internal/quoted`): at spaces, and a word that begins
//! with a quote goes to the next such quote, without any escapes.

/// The words; absent where a quote has no end.
pub(super) fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '"' | '\'' => rest[1..].split_once(first)?,
            _ => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Some(words)
}

/// The text that splits into these words; absent where one of them has both kinds of quotes.
pub(super) fn join(words: &[String]) -> Option<String> {
    let quoted: Option<Vec<String>> = words.iter().map(|word| quote(word)).collect();
    Some(quoted?.join(" "))
}

fn quote(word: &str) -> Option<String> {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    match (plain, word.contains('\''), word.contains('"')) {
        (true, ..) => Some(word.to_owned()),
        (_, false, _) => Some(format!("'{word}'")),
        (_, true, false) => Some(format!("\"{word}\"")),
        (_, true, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_go_command() {
        let words = |text| split(text).unwrap();
        assert_eq!(words(" a  b\tc "), ["a", "b", "c"]);
        assert_eq!(words("'a b' \"it's\" c"), ["a b", "it's", "c"]);
        assert_eq!(words("-x='a b'"), ["-x='a", "b'"], "only a word that begins with a quote is quoted");
        assert_eq!(split("'a b"), None);
    }

    #[test]
    fn what_is_joined_splits_into_the_same_words() {
        for words in [vec!["a", "b c", "it's", ""], vec!["say \"x\""]] {
            let words: Vec<String> = words.into_iter().map(String::from).collect();
            assert_eq!(split(&join(&words).unwrap()), Some(words));
        }
        assert_eq!(join(&["it's \"x\"".to_owned()]), None);
    }
}
