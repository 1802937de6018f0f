//! Names, each kept once.

use std::collections::HashMap;

use crate::error::Wrong;

/// Names by the number that each has, in the order in which they were first met.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    /// The name met last and its number: rows of one benchmark mostly follow each other.
    last: Option<(Vec<u8>, u32)>,
}

impl Names {
    /// The number of a name.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        if let Some((last, number)) = &self.last
            && last == name
        {
            return *number;
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                self.numbers.insert(name.to_vec(), next);
                next
            }
        };
        let (last, last_number) = self.last.get_or_insert_with(Default::default);
        last.clear();
        last.extend_from_slice(name);
        *last_number = number;
        number
    }

    /// Number of different names.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// All names in the order of their numbers.
    pub(crate) fn list(self) -> Vec<String> {
        let mut names: Vec<(u32, Vec<u8>)> = self.numbers.into_iter().map(|(name, number)| (number, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| String::from_utf8_lossy(&name).into_owned()).collect()
    }
}

/// A name for each of these entries: the first spelling that no other entry has.
pub(crate) fn unique<T>(entries: &[T], spellings: &[fn(&T) -> String]) -> Result<Vec<String>, Wrong> {
    let counted = |spell: &fn(&T) -> String| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        entries.iter().for_each(|entry| *counts.entry(spell(entry)).or_default() += 1);
        counts
    };
    let counts: Vec<_> = spellings.iter().map(counted).collect();
    let name = |entry: &T| {
        let mut tried = spellings.iter().zip(&counts).map(|(spell, counts)| (spell(entry), counts));
        tried.find(|(name, counts)| counts.get(name) == Some(&1)).map(|(name, _)| name).ok_or_else(|| {
            let first = spellings.first().map_or_else(String::new, |spell| spell(entry));
            Wrong::in_file(format!("holds `{first}` more than once"))
        })
    };
    entries.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut names = Names::default();
        let numbers: Vec<u32> = ["b", "a", "b", "b", "c", "a"].iter().map(|n| names.number(n.as_bytes())).collect();
        assert_eq!(numbers, [0, 1, 0, 0, 2, 1]);
        assert_eq!(names.list(), ["b", "a", "c"]);
    }
}
