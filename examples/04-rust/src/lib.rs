//! Counts words, as a small project whose benchmarks duet measures.

use std::collections::HashMap;

/// How often each word occurs.
pub fn count(text: &str) -> HashMap<&str, u32> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

/// The sum of the lengths of all words.
pub fn letters(text: &str) -> usize {
    text.split_whitespace().map(str::len).sum()
}

/// Sorts words by their length.
pub fn by_length(words: &mut [&str]) {
    words.sort_by_key(|word| word.len());
}
