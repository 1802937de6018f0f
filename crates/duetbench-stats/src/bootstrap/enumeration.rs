//! Every resample of a few values.

use std::sync::OnceLock;

use super::interval::{Interval, reaches};

/// Largest number of values whose resamples are enumerated: they have 6435 different ones.
pub(super) const MOST: usize = 8;

/// Draws of each value, and the probability of this resample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resample {
    pub(super) counts: [u8; MOST],
    pub(super) share: f64,
}

/// All different resamples of `n` values, `n` from 1 to [`MOST`]: `C(2n - 1, n)` of them, each with the multinomial probability
/// `n! / (c_1! ... c_n! n^n)`.
pub(super) fn resamples(n: usize) -> &'static [Resample] {
    static OF: [OnceLock<Vec<Resample>>; MOST + 1] = [const { OnceLock::new() }; MOST + 1];
    OF[n].get_or_init(|| {
        let mut all = Vec::new();
        let whole = factorial(n) / (n as f64).powi(n as i32);
        extend(&mut all, Resample { counts: [0; MOST], share: whole }, n, n);
        all
    })
}

/// Adds all resamples that begin like this one, with so many draws left to be shared out among the last `values` values.
fn extend(all: &mut Vec<Resample>, begun: Resample, values: usize, draws: usize) {
    let with = |count: usize| {
        let mut resample = begun;
        resample.counts[values - 1] = count as u8;
        resample.share /= factorial(count);
        resample
    };
    if values == 1 {
        return all.push(with(draws));
    }
    for count in 0..=draws {
        extend(all, with(count), values - 1, draws - count);
    }
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|k| k as f64).product()
}

/// The interval that leaves out `tail` at each end of a distribution that is given by values and their masses.
pub(super) fn interval_of_atoms(atoms: &mut [(f64, f64)], tail: f64) -> Interval {
    let low = lower_end(atoms, tail);
    atoms.iter_mut().for_each(|(value, _)| *value = -*value);
    Interval { low, high: -lower_end(atoms, tail) }
}

/// The least value at which the masses up to it reach the tail. Halves the atoms in question each time, instead of sorting all.
fn lower_end(mut atoms: &mut [(f64, f64)], tail: f64) -> f64 {
    let mut below = 0.0;
    while atoms.len() > 1 {
        let half = atoms.len() / 2;
        atoms.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0));
        let (lower, upper) = atoms.split_at_mut(half);
        let mass: f64 = lower.iter().map(|(_, mass)| mass).sum();
        if reaches(below + mass, tail) {
            atoms = lower;
        } else {
            below += mass;
            atoms = upper;
        }
    }
    atoms.first().map_or(f64::NAN, |(value, _)| *value)
}
