//! Definitions of benchmarks: two versions of one that are defined differently do not measure the same.

use serde::{Deserialize, Serialize};

/// A part of a benchmark's definition: its own function, something in test files that it uses, or a file that these name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Name of the declaration or the file.
    pub name: String,
    /// The source file that has it or names it.
    pub path: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// The same for the same content.
    pub digest: String,
}

/// The first part in which two definitions of a benchmark differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redefinition {
    /// Name of the declaration, the file or the setting.
    pub part: String,
    /// The difference.
    #[serde(flatten)]
    pub difference: Difference,
    /// The benchmark is judged all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tolerated: bool,
}

/// Difference of a part between two definitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Difference {
    /// Its source differs.
    Source {
        /// The source file, of the candidate where it has the part.
        path: String,
        /// The line in it, from 1.
        line: u32,
    },
    /// Its value differs.
    Value {
        /// The value in the baseline.
        base: String,
        /// The value in the candidate.
        head: String,
    },
}

impl Redefinition {
    /// Compares two definitions, the parts of each in order of their importance; absent where they are the same.
    pub fn between(baseline: &[Part], candidate: &[Part]) -> Option<Redefinition> {
        let has =
            |parts: &[Part], part: &Part| parts.iter().any(|p| (&p.name, &p.digest) == (&part.name, &part.digest));
        let new = candidate.iter().find(|part| !has(baseline, part));
        let part = new.or_else(|| baseline.iter().find(|part| !has(candidate, part)))?;
        let difference = Difference::Source { path: part.path.clone(), line: part.line };
        Some(Redefinition { part: part.name.clone(), difference, tolerated: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_that_only_one_side_has_is_named() {
        let part = |name: &str, line: u32, digest: &str| Part {
            name: name.into(),
            path: "a_test.go".into(),
            line,
            digest: digest.into(),
        };
        let base = [part("BenchmarkA", 3, "a"), part("init", 9, "1"), part("init", 12, "2")];
        let between = |head: &[Part]| Redefinition::between(&base, head).map(|r| (r.part, r.difference));
        assert_eq!(between(&base), None);
        assert_eq!(between(&[part("BenchmarkA", 7, "a"), part("init", 1, "2"), part("init", 2, "1")]), None);
        let other = [part("BenchmarkA", 3, "b"), part("init", 9, "3"), part("init", 12, "2")];
        let at = |part: &str, line| Some((part.to_owned(), Difference::Source { path: "a_test.go".into(), line }));
        assert_eq!(between(&other), at("BenchmarkA", 3));
        assert_eq!(between(&other[1..]), at("init", 9));
        assert_eq!(between(&base[..2]), at("init", 12));
    }
}
