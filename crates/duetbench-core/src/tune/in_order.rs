//! The values of any configuration in ascending order, at the cost of reading them.

use crate::recording::Grid;

const WORD_BITS: usize = u64::BITS as usize;
/// Rank of a cell where nothing was measured.
const NO_RANK: u32 = u32::MAX;

/// The values of one benchmark, sorted once. The values of a configuration are then a set of ranks, and to walk through the set is
/// to have them sorted.
pub(super) struct InOrder<'a> {
    grid: &'a Grid,
    ascending: Vec<f64>,
    /// By cell of the grid.
    ranks: Vec<u32>,
}

/// Room that is used again for every configuration.
#[derive(Default)]
pub(super) struct Scratch {
    set: Vec<u64>,
    values: Vec<f64>,
}

impl<'a> InOrder<'a> {
    /// Sorts the values of a grid.
    pub(super) fn of(grid: &'a Grid) -> InOrder<'a> {
        let cells = grid.cells();
        let mut order: Vec<u32> = (0..cells.len() as u32).filter(|cell| cells[*cell as usize].is_finite()).collect();
        order.sort_by(|a, b| cells[*a as usize].total_cmp(&cells[*b as usize]));
        let mut ranks = vec![NO_RANK; cells.len()];
        for (rank, cell) in order.iter().enumerate() {
            ranks[*cell as usize] = rank as u32;
        }
        InOrder { grid, ascending: order.iter().map(|cell| cells[*cell as usize]).collect(), ranks }
    }

    /// The values of a configuration, which the grid contains, in ascending order.
    pub(super) fn values<'s>(&self, configuration: &[usize], scratch: &'s mut Scratch) -> &'s [f64] {
        scratch.set.clear();
        scratch.set.resize(self.ascending.len().div_ceil(WORD_BITS), 0);
        self.mark(configuration, 0, 0, &mut scratch.set);
        scratch.values.clear();
        for (word, &bits) in scratch.set.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                scratch.values.push(self.ascending[word * WORD_BITS + left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        &scratch.values
    }

    /// Adds the ranks of the values below one cell of a level.
    fn mark(&self, configuration: &[usize], level: usize, index: usize, set: &mut [u64]) {
        let size = self.grid.shape()[level];
        let first = index * size;
        if level + 1 < self.grid.shape().len() {
            (first..first + configuration[level]).for_each(|cell| self.mark(configuration, level + 1, cell, set));
            return;
        }
        for &rank in self.ranks[first..first + configuration[level]].iter().filter(|rank| **rank != NO_RANK) {
            set[rank as usize / WORD_BITS] |= 1 << (rank as usize % WORD_BITS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_has_the_sorted_values_of_its_prefix() {
        let shape = [3, 4, 11];
        let mut grid = Grid::of(&shape, (0..132_u32).map(|i| f64::from(i * 7919 % 101)).collect()).unwrap();
        grid.set(&[0, 1, 2], f64::NAN);
        let (in_order, mut scratch) = (InOrder::of(&grid), Scratch::default());
        for configuration in [[1, 1, 1], [2, 3, 7], [1, 4, 11], [3, 4, 11], [3, 1, 2]] {
            let mut want = grid.prefix(&configuration);
            want.sort_by(f64::total_cmp);
            assert_eq!(in_order.values(&configuration, &mut scratch), want, "{configuration:?}");
        }
    }
}
