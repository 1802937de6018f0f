//! Names as Go benchmark text has them, which readers of several tools take.

use std::collections::HashMap;

use crate::foreign::one_line;

/// The beginning of every name.
pub const PREFIX: &str = "Benchmark";

/// A name without that beginning, if anything is left.
pub fn short(name: &str) -> &str {
    name.strip_prefix(PREFIX).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Whether readers of the format take this for the name of a benchmark.
pub fn is_name(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX);
    rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase)) && !name.contains(char::is_whitespace)
}

/// Spellings that were used, with how often.
#[derive(Debug, Default)]
pub struct Spellings {
    used: HashMap<(String, String), String>,
    taken: HashMap<(String, String), usize>,
}

impl Spellings {
    /// A name of a package as the format has it: the same for the same name, another one for another. Go numbers names that come again in
    /// the same way.
    pub fn of(&mut self, package: &str, name: &str) -> String {
        let key = (package.to_owned(), name.to_owned());
        if let Some(known) = self.used.get(&key) {
            return known.clone();
        }
        let plain = one_line(name).replace(' ', "_");
        let spelt = if is_name(&plain) { plain } else { format!("{PREFIX}_{plain}") };
        let times = self.taken.entry((package.to_owned(), spelt.clone())).or_default();
        *times += 1;
        let unique = if *times == 1 { spelt } else { format!("{spelt}#{:02}", *times - 1) };
        self.used.insert(key, unique.clone());
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_as_readers_take_them_and_different_ones_stay_different() {
        let mut names = Spellings::default();
        let mut check = |name: &str, want: &str| assert_eq!(names.of("p", name), want);
        check("BenchmarkEncode/a b", "BenchmarkEncode/a_b");
        check("decode/json", "Benchmark_decode/json");
        check("Benchmarks of names", "Benchmark_Benchmarks_of_names");
        check("sleep 1", "Benchmark_sleep_1");
        check("sleep_1", "Benchmark_sleep_1#01");
        check("sleep 1", "Benchmark_sleep_1");
        assert_eq!(names.of("another", "sleep_1"), "Benchmark_sleep_1");
    }
}
