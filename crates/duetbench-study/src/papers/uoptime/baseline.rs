//! Baselines for a reduction: the smallest configuration for all, and a random one (µOpTime, RQ1).

use duetbench_core::recording::{Level, Recording};
use duetbench_core::tune::{Criteria, REPETITIONS_MIN, Subject, Tuned, choose};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::numpy_rng::NumpyRng;
use super::{Compat, Practice};

/// The smallest configuration for every benchmark: the cheapest that has three repetitions. The published code has three of the second
/// level that it reduces, and one of all others: `(1, 3, 1)` and `(1, 3)`.
pub fn minimum_baseline(recording: &Recording, practice: &Practice) -> Tuned {
    choose(recording, practice, |_, subject| match practice.compat {
        Compat::Paper => {
            let first = subject.configurations.groups().next().and_then(|group| group.first().copied());
            first.map(|position| subject.configurations.at(position).to_vec())
        }
        Compat::PaperCode => {
            enough(three_of_second(&recording.levels, &subject.full, practice), &recording.levels, practice)
        }
    })
}

fn three_of_second(levels: &[Level], full: &[usize], practice: &Practice) -> Vec<usize> {
    let reduced: Vec<usize> = (0..levels.len()).filter(|level| practice.reduces(levels[*level])).collect();
    let mut chosen = full.to_vec();
    reduced.iter().for_each(|level| chosen[*level] = 1);
    if let Some(&level) = reduced.get(1).or_else(|| reduced.first()) {
        chosen[level] = full[level].min(REPETITIONS_MIN);
    }
    chosen
}

/// A configuration, unless it has too few repetitions.
fn enough(chosen: Vec<usize>, levels: &[Level], practice: &Practice) -> Option<Vec<usize>> {
    practice.has_enough_repetitions(levels, &chosen).then_some(chosen)
}

/// A random configuration for every benchmark, of all between the smallest and the full one.
///
/// Draws go on from recording to recording, so that their order matters. The published code draws with NumPy's generator, never
/// the full number of a level, and in the order files by name, metrics in the order of [`duetbench_core::tune::Metric::ALL`], benchmarks;
/// where its recordings have forks, the generator begins anew for every ten benchmarks.
#[derive(Debug, Clone)]
pub struct RandomBaseline {
    own: ChaCha8Rng,
    numpy: NumpyRng,
    seed: u64,
}

/// As many benchmarks are handed to a process of the published code at once, each process with a copy of the generator.
const CHUNK: usize = 10;

impl RandomBaseline {
    /// The published code's seed.
    pub const PUBLISHED_SEED: u64 = 42;

    /// From a seed.
    pub fn of(seed: u64) -> RandomBaseline {
        RandomBaseline { own: ChaCha8Rng::seed_from_u64(seed), numpy: NumpyRng::of(seed), seed }
    }

    /// The next configurations, one for every benchmark of a recording.
    pub fn choose(&mut self, recording: &Recording, practice: &Practice) -> Tuned {
        let levels = &recording.levels;
        match practice.compat {
            Compat::Paper => {
                let draws: Vec<f64> = recording.benchmarks.iter().map(|_| self.own.random()).collect();
                choose(recording, practice, |index, subject| any(subject, draws[index]))
            }
            Compat::PaperCode => {
                let begins_anew = !levels.contains(&Level::SuiteRun);
                let mut draw = |(index, recorded)| {
                    if begins_anew && index % CHUNK == 0 {
                        self.numpy = NumpyRng::of(self.seed);
                    }
                    drawn(&mut self.numpy, levels, &practice.full(levels, recorded), practice)
                };
                let drawn: Vec<Vec<usize>> = recording.benchmarks.iter().enumerate().map(&mut draw).collect();
                choose(recording, practice, |index, _| enough(drawn[index].clone(), levels, practice))
            }
        }
    }
}

/// One of a benchmark's configurations, by a draw from 0 to 1.
fn any(subject: &Subject<'_>, draw: f64) -> Option<Vec<usize>> {
    let all = &subject.configurations;
    let position = (draw * all.count() as f64) as usize;
    (position < all.count()).then(|| all.at(position).to_vec())
}

/// The draw of the published code for one benchmark: again and again, until the product of all levels is three.
fn drawn(rng: &mut NumpyRng, levels: &[Level], full: &[usize], practice: &Practice) -> Vec<usize> {
    let reduced: Vec<usize> = (0..levels.len()).filter(|level| practice.reduces(levels[*level])).collect();
    let most: usize = reduced.iter().map(|level| full[*level].saturating_sub(1).max(1)).product();
    let mut chosen = full.to_vec();
    if most < REPETITIONS_MIN {
        return chosen;
    }
    loop {
        for &level in &reduced {
            chosen[level] = rng.one_to_before(full[level] as u32) as usize;
        }
        if reduced.iter().map(|level| chosen[*level]).product::<usize>() >= REPETITIONS_MIN {
            return chosen;
        }
    }
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Better, Cost, Grid, Recorded};
    use duetbench_core::tune::{Metric, Rules};

    use super::*;

    const GO: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
    const JMH: [Level; 2] = [Level::Fork, Level::Iteration];

    fn recording(levels: &[Level], shape: &[usize], benchmarks: usize) -> Recording {
        let values = (0..shape.iter().product::<usize>()).map(|i| 100.0 + (i * 7919 % 13) as f64).collect();
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; shape.len()] },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(shape, values).unwrap(),
        };
        Recording {
            name: "r".into(),
            levels: levels.to_vec(),
            benchmarks: vec![recorded; benchmarks],
            warnings: Vec::new(),
        }
    }

    fn paper() -> Practice {
        Practice { rules: Rules::of(Metric::Cv), compat: Compat::Paper }
    }

    fn code() -> Practice {
        Practice { compat: Compat::PaperCode, ..paper() }
    }

    fn chosen(tuned: &Tuned) -> Vec<Vec<usize>> {
        tuned.choices.iter().map(|choice| choice.chosen.clone()).collect()
    }

    #[test]
    fn the_smallest_has_three_repetitions() {
        let check = |levels: &[Level], shape: &[usize], practice: Practice, want: &[usize]| {
            assert_eq!(chosen(&minimum_baseline(&recording(levels, shape, 1), &practice)), [want]);
        };
        check(&GO, &[3, 3, 5, 5], code(), &[1, 1, 3, 1]);
        check(&JMH, &[5, 100], code(), &[1, 3]);
        check(&JMH, &[5, 2], code(), &[5, 2]);
        check(&JMH, &[5, 100], paper(), &[1, 3]);
        check(&GO, &[3, 3, 5, 5], paper(), &[3, 1, 1, 3]);
        check(&JMH[1..], &[2], paper(), &[2]);
    }

    /// The first rows of µOpTime's published random baseline of prometheus v0.35.0 (CV, RMAD) and of byte-buddy.
    #[test]
    fn the_published_draws_are_drawn_again() {
        let mut baseline = RandomBaseline::of(RandomBaseline::PUBLISHED_SEED);
        let project = recording(&GO, &[3, 3, 5, 5], 31);
        let cv = chosen(&baseline.choose(&project, &code()));
        assert_eq!(cv[..5], [[1, 1, 4, 3], [1, 3, 5, 5], [1, 1, 3, 1], [1, 1, 3, 4], [1, 2, 4, 3]]);
        let rmad = chosen(&baseline.choose(&project, &code()));
        assert_eq!(rmad[..4], [[1, 1, 4, 1], [1, 3, 5, 5], [1, 2, 4, 3], [1, 1, 3, 2]]);
        let jmh = chosen(&baseline.choose(&recording(&JMH, &[5, 100], 21), &code()));
        assert_eq!(jmh[..4], [[1, 77], [3, 44], [2, 86], [1, 70]]);
        assert_eq!((&jmh[..10], &jmh[20]), (&jmh[10..20], &jmh[0]));
    }

    #[test]
    fn where_no_draw_could_be_enough_nothing_is_drawn() {
        let mut baseline = RandomBaseline::of(1);
        assert_eq!(chosen(&baseline.choose(&recording(&JMH, &[2, 2], 1), &code())), [[2, 2]]);
    }

    #[test]
    fn our_own_draws_reach_every_configuration_and_no_other() {
        let mut baseline = RandomBaseline::of(7);
        let drawn = chosen(&baseline.choose(&recording(&JMH, &[2, 3], 400), &paper()));
        let mut different = drawn.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different, [[1, 3], [2, 2], [2, 3]]);
        assert_ne!(drawn[..20], drawn[20..40]);
        let again = chosen(&RandomBaseline::of(7).choose(&recording(&JMH, &[2, 3], 400), &paper()));
        assert_eq!(drawn, again);
    }
}
