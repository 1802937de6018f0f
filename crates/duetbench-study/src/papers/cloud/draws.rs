//! Random choices of instances and trials.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::Values;
use crate::papers::fnv1a;

/// The trials of two groups, by their numbers; those of one instance follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) test: Vec<usize>,
    pub(super) control: Vec<usize>,
}

/// Draws test and control groups of a benchmark. Every choice is without replacement.
pub(super) struct Draws {
    rng: ChaCha8Rng,
    /// By instance, those alone that have trials: the trials with values.
    instances: Vec<Vec<usize>>,
}

impl Draws {
    /// Draws for this purpose. They do not depend on the environment, so that environments of one shape see the same ones.
    pub(super) fn of(values: &Values, seed: u64, purpose: u64) -> Draws {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ fnv1a(values.benchmark.bytes()));
        rng.set_stream(purpose);
        let instances = (0..values.instances()).map(|instance| values.trials_of(instance).collect());
        Draws { rng, instances: instances.filter(|trials: &Vec<usize>| !trials.is_empty()).collect() }
    }

    /// Only instances that have at least so many trials.
    pub(super) fn with_trials(mut self, trials: usize) -> Draws {
        self.instances.retain(|of_one| of_one.len() >= trials);
        self
    }

    /// Whether there are so many instances.
    pub(super) fn has(&self, instances: usize) -> bool {
        self.instances.len() >= instances
    }

    /// The same instances in both groups, with so many trials each in either; every instance has twice as many.
    pub(super) fn same_instances(&mut self, instances: usize, trials: usize) -> Groups {
        let mut groups = Groups { test: Vec::new(), control: Vec::new() };
        let (chosen, _) = self.instances.partial_shuffle(&mut self.rng, instances);
        for of_one in chosen {
            let (drawn, _) = of_one.partial_shuffle(&mut self.rng, 2 * trials);
            groups.test.extend_from_slice(&drawn[..trials]);
            groups.control.extend_from_slice(&drawn[trials..]);
        }
        groups
    }

    /// So many instances in one group and as many others in the other, with one trial each.
    pub(super) fn other_instances(&mut self, instances: usize) -> Groups {
        let (chosen, _) = self.instances.partial_shuffle(&mut self.rng, 2 * instances);
        let mut one = |of_one: &mut Vec<usize>| of_one.partial_shuffle(&mut self.rng, 1).0[0];
        let mut drawn: Vec<usize> = chosen.iter_mut().map(&mut one).collect();
        let control = drawn.split_off(instances);
        Groups { test: drawn, control }
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::values;
    use super::*;

    fn draws(purpose: u64) -> Draws {
        Draws::of(&values(&[4, 4, 1], (0..16).map(f64::from).collect()), 1, purpose)
    }

    fn sorted(groups: &Groups) -> Vec<usize> {
        let mut all = [&groups.test[..], &groups.control].concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn groups_share_instances_and_no_trial_or_no_instance() {
        let mut draws = draws(0);
        for _ in 0..50 {
            let same = draws.same_instances(2, 2);
            let instances = |group: &[usize]| group.iter().map(|trial| trial / 4).collect::<Vec<_>>();
            assert_eq!(instances(&same.test), instances(&same.control));
            let mut all = sorted(&same);
            all.dedup();
            assert_eq!(all.len(), 8, "{same:?}");
            let other = draws.other_instances(2);
            let mut all: Vec<usize> = sorted(&other).iter().map(|trial| trial / 4).collect();
            all.dedup();
            assert_eq!((all.len(), other.test.len()), (4, 2), "{other:?}");
        }
    }

    #[test]
    fn every_trial_is_drawn_alike_and_the_purpose_decides() {
        let mut counts = [0_u32; 16];
        let mut some = draws(0);
        for _ in 0..4000 {
            some.same_instances(1, 1).test.iter().for_each(|trial| counts[*trial] += 1);
        }
        // 250 each, with a standard deviation of 15.
        assert!(counts.iter().all(|count| (190..=310).contains(count)), "{counts:?}");
        let first = |purpose| {
            (0..5)
                .map(|_| ())
                .fold(draws(purpose), |mut d, ()| {
                    d.other_instances(1);
                    d
                })
                .other_instances(2)
        };
        assert_eq!(first(3), first(3));
        assert_ne!(first(3), first(4));
    }

    #[test]
    fn instances_without_enough_trials_do_not_take_part() {
        let mut cells: Vec<f64> = (0..16).map(f64::from).collect();
        cells[4] = f64::NAN;
        cells[8..12].fill(f64::NAN);
        let of = |trials| Draws::of(&values(&[4, 4, 1], cells.clone()), 1, 0).with_trials(trials);
        assert!(of(1).has(3) && !of(1).has(4));
        assert!(of(4).has(2) && !of(4).has(3));
    }
}
