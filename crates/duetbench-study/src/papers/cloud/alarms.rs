//! Counts false alarms: the paper's A/A experiment (section 4.2.1, Table 5), and tests that keep their level.

use duetbench_core::stats::{MannWhitney, mean, trimmed_t, welch_t};

use super::draws::{Draws, Groups};
use super::values::present;
use super::{Settings, Values};

/// Numbers of instances that the experiment is made with.
pub const INSTANCES_COMPARED: [usize; 4] = [1, 5, 10, 20];
/// P-values below which a test finds a change.
pub const SIGNIFICANT: f64 = 0.05;
/// Fewer values than these in both groups can never give a rank-sum test a p-value below 0.05: `2 / C(2 n, n)`.
const RANKED_MIN: usize = 4;

/// Comparison of test and control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// The paper's: Wilcoxon's rank-sum test on all values. It takes values of one trial for independent, which they are not.
    Pooled,
    /// The same on the means of trials, which are exchangeable inside an instance. As both groups have the same instances, its level is
    /// lower than it says.
    TrialMeans,
    /// The same on one mean for each instance and group, from four instances on.
    InstanceMeans,
    /// duet's: a trimmed t on the log ratios of each instance's two groups. With one instance there is one ratio, and Welch's t on the
    /// logarithms of its trials' means takes its place.
    House,
}

duetbench_core::words!(Test, ALL:
    Pooled "wilcoxon_values", TrialMeans "wilcoxon_trials", InstanceMeans "wilcoxon_instances", House "house"
);

/// Changes that a test found where there were none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarms {
    /// The test that compared the groups.
    pub test: Test,
    /// Instances in each experiment.
    pub instances: usize,
    /// Experiments in which a change was found.
    pub alarms: u32,
    /// Experiments in which the test could be made.
    pub of: u32,
}

impl Alarms {
    /// The share; absent where no test could be made.
    pub fn rate(&self) -> Option<f64> {
        (self.of > 0).then(|| f64::from(self.alarms) / f64::from(self.of))
    }
}

/// The rank-sum test with what it works out for the means of trials and instances, which takes longer than everything else.
pub(super) fn rank_sum(settings: &Settings) -> MannWhitney {
    let sizes = INSTANCES_COMPARED.into_iter().flat_map(|instances| [instances, instances * settings.trials]);
    MannWhitney::prepared(sizes.map(|size| (size as u64, size as u64)))
}

/// The experiment with every number of instances that there are, each having trials for both groups.
pub(super) fn alarms(values: &Values, settings: &Settings, rank_sum: &MannWhitney) -> Vec<Alarms> {
    let mut bench = Bench::of(values, rank_sum.clone());
    let mut found = Vec::new();
    for instances in INSTANCES_COMPARED {
        // A stream for each number, so that none depends on the others.
        let mut draws = Draws::of(values, settings.seed, instances as u64).with_trials(2 * settings.trials);
        if !draws.has(instances) {
            continue;
        }
        let tests = Test::ALL.into_iter().filter(|test| *test != Test::InstanceMeans || instances >= RANKED_MIN);
        let mut counted: Vec<Alarms> = tests.map(|test| Alarms { test, instances, alarms: 0, of: 0 }).collect();
        for _ in 0..settings.draws {
            let groups = draws.same_instances(instances, settings.trials);
            for count in &mut counted {
                if let Some(p) = bench.p(count.test, &groups, settings.trials) {
                    count.of += 1;
                    count.alarms += u32::from(p < SIGNIFICANT);
                }
            }
        }
        found.extend(counted.into_iter().filter(|count| count.of > 0));
    }
    found
}

/// The tests of one benchmark, with what they share.
struct Bench<'a> {
    values: &'a Values,
    /// By cell: the place of its value among all distinct ones, in ascending order; absent for gaps.
    ranks: Vec<Option<u32>>,
    /// Distinct values.
    distinct: usize,
    /// By trial.
    means: Vec<f64>,
    rank_sum: MannWhitney,
}

impl<'a> Bench<'a> {
    fn of(values: &'a Values, rank_sum: MannWhitney) -> Bench<'a> {
        let cells = values.cells();
        let mut ascending: Vec<usize> = (0..cells.len()).filter(|cell| cells[*cell].is_finite()).collect();
        ascending.sort_unstable_by(|a, b| cells[*a].total_cmp(&cells[*b]));
        let mut ranks = vec![None; cells.len()];
        let mut distinct = 0_u32;
        for equal in ascending.chunk_by(|a, b| cells[*a] == cells[*b]) {
            equal.iter().for_each(|cell| ranks[*cell] = Some(distinct));
            distinct += 1;
        }
        let trials = values.instances() * values.shape()[1];
        let means = (0..trials).map(|trial| {
            let there: Vec<f64> = present(values.trial(trial)).collect();
            mean(&there).unwrap_or(f64::NAN)
        });
        Bench { values, ranks, distinct: distinct as usize, means: means.collect(), rank_sum }
    }

    /// The p-value of a test; absent where it cannot be made.
    fn p(&mut self, test: Test, groups: &Groups, trials: usize) -> Option<f64> {
        let means = |group: &[usize]| group.iter().map(|trial| self.means[*trial]).collect::<Vec<_>>();
        let [one, other] = [&groups.test, &groups.control].map(|group| means(group));
        match test {
            Test::Pooled => {
                let counts = self.counts(groups);
                self.rank_sum.p_of_counts(counts).ok()
            }
            Test::TrialMeans => self.rank_sum.p(&one, &other).ok(),
            Test::InstanceMeans => self.rank_sum.p(&by_instance(&one, trials), &by_instance(&other, trials)).ok(),
            Test::House => house(&one, &other, trials),
        }
    }

    /// Frequency of each distinct value in each group.
    fn counts(&self, groups: &Groups) -> Vec<[u32; 2]> {
        let mut counts = vec![[0; 2]; self.distinct];
        for (side, group) in [&groups.test, &groups.control].into_iter().enumerate() {
            for rank in group.iter().flat_map(|trial| &self.ranks[self.values.places(*trial)]).flatten() {
                counts[*rank as usize][side] += 1;
            }
        }
        counts
    }
}

/// The mean of each instance's trials, of which there are so many.
fn by_instance(means: &[f64], trials: usize) -> Vec<f64> {
    means.chunks(trials).map(|of_one| of_one.iter().sum::<f64>() / of_one.len() as f64).collect()
}

fn house(test: &[f64], control: &[f64], trials: usize) -> Option<f64> {
    let [test, control] = [test, control].map(|means| means.iter().map(|mean| mean.ln()).collect::<Vec<_>>());
    if test.len() == trials {
        return welch_t(&control, &test).ok()?.p_value().ok();
    }
    let [test, control] = [by_instance(&test, trials), by_instance(&control, trials)];
    let ratios: Vec<f64> = test.iter().zip(&control).map(|(t, c)| t - c).collect();
    trimmed_t(&ratios).ok()?.p_value().ok()
}

#[cfg(test)]
mod tests {
    use duetbench_core::stats::mann_whitney_p;

    use super::super::environment::tests::values;
    use super::*;

    #[test]
    fn counted_ranks_give_the_test_of_the_values_themselves() {
        let cells: Vec<f64> = (0..60).map(|i| f64::from((i * 37) % 23)).collect();
        let values = values(&[3, 4, 5], cells);
        let mut bench = Bench::of(&values, MannWhitney::default());
        let groups = Groups { test: vec![0, 5, 9], control: vec![2, 4, 11] };
        let pooled = |group: &[usize]| group.iter().flat_map(|t| present(values.trial(*t))).collect::<Vec<_>>();
        let want = mann_whitney_p(&pooled(&groups.test), &pooled(&groups.control)).ok();
        assert_eq!(bench.p(Test::Pooled, &groups, 1), want);
        assert!(want.is_some_and(|p| p < 1.0));
    }

    #[test]
    fn the_house_test_pairs_instances_and_trials_alone_serve_with_one() {
        // Two instances that are twice as fast or slow as each other, both a tenth slower in the test group, give or take.
        let test = [1.1, 1.1, 2.2, 2.22];
        let control = [1.0, 1.0, 2.0, 2.0];
        assert!(house(&test, &control, 2).is_some_and(|p| p < 0.05));
        let apart = house(&test, &control, 4);
        assert!(apart.is_some_and(|p| p > 0.5), "{apart:?}");
        assert_eq!(house(&[0.0, 1.0], &[1.0, 1.0], 1), None);
        assert_eq!(house(&[1.0; 4], &[1.0; 4], 2), Some(1.0));
    }

    #[test]
    fn numbers_of_instances_that_there_are_not_are_left_out() {
        let settings = Settings { draws: 3, ..Settings::PAPER };
        let found = |shape: [usize; 3]| {
            let cells = (0..shape.iter().product()).map(|i: usize| (i % 7) as f64 + 1.0).collect();
            let all = alarms(&values(&shape, cells), &settings, &rank_sum(&settings));
            all.iter().map(|alarms| (alarms.instances, alarms.test)).collect::<Vec<_>>()
        };
        assert_eq!(found([4, 9, 1]), []);
        assert_eq!(found([4, 10, 1]), [(1, Test::Pooled), (1, Test::TrialMeans), (1, Test::House)]);
        assert_eq!(found([5, 10, 1]).len(), 3 + 4);
        assert_eq!(found([20, 10, 1]).len(), 3 + 3 * 4);
    }

    #[test]
    fn values_that_are_all_equal_give_no_alarm() {
        let found = alarms(&values(&[5, 10, 3], vec![0.3; 150]), &Settings::PAPER, &MannWhitney::default());
        assert!(found.len() == 7 && found.iter().all(|alarms| alarms.alarms == 0 && alarms.of == 100), "{found:?}");
    }
}
