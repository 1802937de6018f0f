//! Limits of two recordings that were measured apart, in words: said before anything else, because no number below says them.

use duetbench_core::detect::{Footing, UNITS_MIN};
use duetbench_core::recording::Level;

use crate::render::document::Line;
use crate::render::format::{level, levels, many};

/// The data behind the two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Unpaired {
    /// The version compared against.
    pub base: Side,
    /// The version under test.
    pub head: Side,
}

/// The data behind one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Files that it was read from.
    pub files: usize,
    /// Repetitions in them, by level.
    pub footing: Footing,
    /// Commands that lead to enough of them, of the base; those of the head are the same with another name.
    pub more: Vec<String>,
}

const APART: &str = "not paired: what the machine did between base and head counts as change too; `duet compare` measures both side by side";
const ONCE: &str =
    "values of one fork (a fresh process) depend on each other, so a fork counts once, however many it gave";

impl Unpaired {
    /// The limits in lines.
    pub(super) fn lines(&self) -> Vec<Line> {
        let commands = self.commands().into_iter().map(Line::Command);
        self.statement().into_iter().map(Line::Item).chain(commands).collect()
    }

    /// Sentences on the answers that the data can give and on those that they cannot.
    pub(super) fn statement(&self) -> Vec<String> {
        let mut sentences = vec![APART.to_owned(), self.base.words("base"), self.head.words("head"), ONCE.to_owned()];
        if let Some(few) = self.few() {
            let level = levels(few.footing.counted());
            sentences.push(format!("no verdict with fewer than {UNITS_MIN} {level} on each side: repeat the suite, each time in a process of its own, as with"));
        }
        sentences
    }

    /// Commands that lead to a verdict; none where there are enough data.
    pub(super) fn commands(&self) -> Vec<String> {
        self.few().map_or_else(Vec::new, |side| side.more.clone())
    }

    /// A side with too little to be judged by.
    fn few(&self) -> Option<&Side> {
        [&self.base, &self.head].into_iter().find(|side| !side.footing.is_enough())
    }
}

impl Side {
    /// `base: 3 forks of 120 to 500 iterations, from 3 files`
    fn words(&self, name: &str) -> String {
        let repeated = self.footing.repetitions.iter().map(|(level, few, most)| counted(*level, *few, *most));
        let from = if self.files > 0 { format!(", from {}", many(self.files, "file", "files")) } else { String::new() };
        format!("{name}: {}{from}", repeated.collect::<Vec<_>>().join(" of "))
    }
}

/// So many repetitions of a level, or from so many to so many.
fn counted(of: Level, few: usize, most: usize) -> String {
    let several = levels(of);
    if few == most { many(most, &level(of), &several) } else { format!("{few} to {most} {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(forks: usize) -> Side {
        let repetitions = vec![(Level::Fork, forks, forks), (Level::Iteration, 5, 90)];
        let footing = Footing { name: "r".into(), repetitions, units: (forks, forks) };
        Side { files: forks, footing, more: vec![format!("measure {forks} times")] }
    }

    #[test]
    fn the_side_with_too_little_is_told_the_way_to_more() {
        let unpaired = Unpaired { base: side(3), head: side(2) };
        assert_eq!(unpaired.commands(), ["measure 2 times"]);
    }

    #[test]
    fn where_there_is_enough_nothing_is_advised() {
        let unpaired = Unpaired { base: side(3), head: side(4) };
        assert_eq!((unpaired.commands(), unpaired.statement().len()), (Vec::new(), 4));
        assert_eq!(unpaired.lines()[1], Line::Item("base: 3 forks of 5 to 90 iterations, from 3 files".into()));
    }
}
