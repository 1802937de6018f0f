//! Words for lists that may be long.

/// The first few of some words, and how many more there are; absent without any.
fn few(mut words: impl Iterator<Item = String>) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let named: Vec<String> = words.by_ref().take(NAMED_MAX).collect();
    let more = words.count();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| named.join(", ") + &rest)
}

/// Some names in a sentence, the first few of them.
pub(crate) fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    few(names.into_iter().map(|name| format!("`{name}`")))
}

/// A warning about some benchmarks or the like, the first few of them named, each with a remark; none about nothing.
pub(crate) fn listed(things: impl Iterator<Item = (String, String)>, what: &str) -> Option<String> {
    few(things.map(|(thing, remark)| format!("`{thing}`{remark}"))).map(|things| format!("{what}: {things}"))
}

/// A thing without a remark.
pub(crate) fn plain(thing: String) -> (String, String) {
    (thing, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_end_in_a_number() {
        let names = |n: usize| (0..n).map(|i| plain(format!("b{i}")));
        assert_eq!(listed(names(0), "gaps"), None);
        assert_eq!(listed(names(2), "gaps").as_deref(), Some("gaps: `b0`, `b1`"));
        assert_eq!(listed(names(5), "gaps").as_deref(), Some("gaps: `b0`, `b1`, `b2` and 2 more"));
    }

    #[test]
    fn a_few_names_stand_for_many() {
        assert_eq!(named([]), None);
        assert_eq!(named(["a", "b"]).as_deref(), Some("`a`, `b`"));
        assert_eq!(named(["a", "b", "c", "d", "e"]).as_deref(), Some("`a`, `b`, `c` and 2 more"));
    }
}
