//! All configurations that a full one contains, in the order in which a search looks at them.

use super::Criteria;
use crate::recording::{Level, Recorded};

/// Times that differ by less than this share are one and differ by rounding.
const SAME_TIME: f64 = 1e-9;

/// Configurations of one benchmark, with what each would take.
pub struct Configurations {
    levels: usize,
    /// One after the other, each outermost level first, in lexicographic order.
    repetitions: Vec<usize>,
    time_s: Vec<f64>,
    /// Positions, cheapest first; of the same time in their own order.
    by_time: Vec<usize>,
}

impl Configurations {
    /// Those with enough repetitions, from the smallest to the full one.
    pub(super) fn of(levels: &[Level], recorded: &Recorded, rules: &dyn Criteria) -> Configurations {
        let full = rules.full(levels, recorded);
        let first: Vec<usize> =
            levels.iter().zip(&full).map(|(level, n)| if rules.reduces(*level) { 1 } else { *n }).collect();
        let mut all =
            Configurations { levels: full.len(), repetitions: Vec::new(), time_s: Vec::new(), by_time: Vec::new() };
        let mut current = first.clone();
        loop {
            if rules.has_enough_repetitions(levels, &current) {
                all.repetitions.extend_from_slice(&current);
                all.time_s.push(rules.time_s(levels, recorded, &current));
            }
            if !advance(&mut current, &first, &full) {
                break;
            }
        }
        all.by_time = (0..all.time_s.len()).collect();
        all.by_time.sort_by(|a, b| all.time_s[*a].total_cmp(&all.time_s[*b]));
        all
    }

    /// Number of configurations.
    pub fn count(&self) -> usize {
        self.time_s.len()
    }

    /// The one at this position of the lexicographic order.
    pub fn at(&self, position: usize) -> &[usize] {
        &self.repetitions[position * self.levels..][..self.levels]
    }

    /// Positions, in groups of configurations that take the same time, cheapest group first, lexicographic within.
    pub fn groups(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let same = |a: &usize, b: &usize| self.time_s[*b] - self.time_s[*a] <= SAME_TIME * self.time_s[*b].abs();
        self.by_time.chunk_by(same).map(|group| {
            let mut positions = group.to_vec();
            positions.sort_unstable();
            positions
        })
    }
}

/// The next one in lexicographic order; false after the last.
fn advance(current: &mut [usize], first: &[usize], full: &[usize]) -> bool {
    for level in (0..current.len()).rev() {
        if current[level] < full[level] {
            current[level] += 1;
            return true;
        }
        current[level] = first[level];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Better, Cost, Grid};
    use crate::tune::{Metric, Rules};

    fn listed(levels: &[Level], shape: &[usize], rules: &Rules) -> Vec<Vec<usize>> {
        let cost = Cost { innermost_s: 0.1, overhead_s: vec![0.0; shape.len()] };
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost,
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::empty(shape),
        };
        let all = Configurations::of(levels, &recorded, rules);
        all.groups().flatten().map(|position| all.at(position).to_vec()).collect()
    }

    const PAPER_LEVELS: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];

    #[test]
    fn cheaper_ones_come_first_and_outer_levels_grow_last() {
        let all = listed(&PAPER_LEVELS[2..], &[3, 2], &Rules::of(Metric::Cv));
        assert_eq!(all, [vec![3, 1], vec![2, 2], vec![3, 2]]);
        let all = listed(&PAPER_LEVELS[2..], &[3, 3], &Rules::of(Metric::Cv));
        assert_eq!(all[..3], [vec![1, 3], vec![3, 1], vec![2, 2]]);
    }

    #[test]
    fn kept_levels_stay_whole() {
        let all = listed(&PAPER_LEVELS, &[3, 1, 2, 2], &Rules::of(Metric::Cv));
        assert_eq!(all, [[3, 1, 2, 2]]);
        let rules = Rules { keep: vec![Level::Iteration], ..Rules::of(Metric::Cv) };
        let all = listed(&PAPER_LEVELS[2..], &[2, 4], &rules);
        assert_eq!(all, [[2, 3], [2, 4]]);
        let all = listed(&PAPER_LEVELS, &[3, 3, 5, 5], &Rules::of(Metric::Cv));
        assert_eq!((all.len(), &all[0]), (71, &vec![3, 1, 1, 3]));
    }
}
