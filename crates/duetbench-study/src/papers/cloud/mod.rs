//! The questions of Laaber, Scheuner and Leitner (*Performance testing in the cloud. How bad is it really?*, 2018) on
//! anybody's recordings: how much do benchmarks vary in an environment, where does that come from, and what can still be seen?
//!
//! 1. How many values are there, and how many are far off ([`Values`]; Table 3)?
//! 2. How much does a benchmark vary, and by which source ([`Spread`]; Table 4, Fig. 5)?
//! 3. How often is a change found where nothing changed ([`Alarms`]; Table 5)?
//! 4. Which is the smallest regression that can be found ([`Detectable`]; Algorithm 1, Tables 6 and 7)?
//! 5. Which environment is steadier ([`Comparison`])?
//!
//! An *environment* is what the paper calls an instance type: machines that are meant to be alike. Its values lie in *instances*, and
//! in *trials* inside them, which are suite runs.

mod alarms;
mod comparison;
mod detectable;
mod draws;
mod environment;
mod spread;
mod values;

use duetbench_core::parallel::on_all_cores;
use duetbench_core::stats::MannWhitney;
use rayon::prelude::*;

pub use alarms::{Alarms, INSTANCES_COMPARED, SIGNIFICANT, Test};
pub use comparison::{Against, Comparison, Score, Steadiest};
pub use detectable::{Detectable, REGRESSIONS, Rates, Sampling};
pub use environment::Environment;
pub use spread::{Source, Spread, Typical};
pub use values::{FAR_OFF, Values};

/// Settings of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Where random choices come from.
    pub seed: u64,
    /// Repetitions of every experiment.
    pub draws: u32,
    /// Trials of each instance in the test group, and as many in the control group, where both have the same instances.
    pub trials: usize,
}

impl Settings {
    /// As the paper has them: 100 repetitions, five trials.
    pub const PAPER: Settings = Settings { seed: 42, draws: 100, trials: 5 };
}

/// Results of a study for an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Studied {
    /// The environment.
    pub environment: String,
    /// In the order in which they were first met.
    pub benchmarks: Vec<StudiedBenchmark>,
    /// Warnings from reading its recordings.
    pub warnings: Vec<String>,
}

/// Results of a benchmark in an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedBenchmark {
    /// The benchmark.
    pub benchmark: String,
    /// Instances with values.
    pub instances: usize,
    /// Trials of the instance that has the most.
    pub trials: usize,
    /// Values before cleaning.
    pub collected: usize,
    /// Values that were removed, being far off.
    pub removed: usize,
    /// Its spread, and the sources of that.
    pub spread: Spread,
    /// Rates of changes found where there are none, by number of instances and test. Numbers for which there are not enough instances
    /// are missing.
    pub alarms: Vec<Alarms>,
    /// The smallest regression that is found, by sampling and number of instances; the same are missing.
    pub detectable: Vec<Detectable>,
}

/// A question whose answer needs several instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The rate of changes that are found where there are none.
    Alarms,
    /// The smallest regression that is found.
    Detectable(Sampling),
}

/// A number of instances that not all benchmarks of an environment have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacking {
    /// The question that they would answer.
    pub question: Question,
    /// The number.
    pub instances: usize,
    /// Benchmarks that do not have as many.
    pub benchmarks: usize,
}

impl Settings {
    /// Studies an environment. Benchmarks are worked on at the same time; the answer depends on the seed alone.
    pub fn study(&self, environment: &Environment) -> Studied {
        let rank_sum = alarms::rank_sum(self);
        Studied {
            environment: environment.name.clone(),
            benchmarks: on_all_cores(|| {
                environment.benchmarks.par_iter().map(|values| self.benchmark(values, &rank_sum)).collect()
            }),
            warnings: environment.warnings.clone(),
        }
    }

    fn benchmark(&self, values: &Values, rank_sum: &MannWhitney) -> StudiedBenchmark {
        let spread = Spread::of(values);
        let per_instance = (0..values.instances()).map(|instance| values.trials_of(instance).count());
        StudiedBenchmark {
            benchmark: values.benchmark.clone(),
            instances: per_instance.clone().filter(|trials| *trials > 0).count(),
            trials: per_instance.max().unwrap_or(0),
            collected: values.collected,
            removed: values.removed,
            alarms: alarms::alarms(values, self, rank_sum),
            detectable: detectable::detectable(values, &spread, self),
            spread,
        }
    }
}

impl Studied {
    /// Values before cleaning and those that are left (Table 3).
    pub fn counts(&self) -> (usize, usize) {
        let sum = |of: fn(&StudiedBenchmark) -> usize| self.benchmarks.iter().map(of).sum::<usize>();
        let collected = sum(|benchmark| benchmark.collected);
        (collected, collected - sum(|benchmark| benchmark.removed))
    }

    /// Changes that a test with so many instances finds where there are none, over all benchmarks; absent where none has as many.
    pub fn alarms(&self, test: Test, instances: usize) -> Option<Alarms> {
        let all = self.benchmarks.iter().flat_map(|benchmark| &benchmark.alarms);
        let these = all.filter(|alarms| alarms.test == test && alarms.instances == instances).copied();
        these.reduce(|sum, next| Alarms { alarms: sum.alarms + next.alarms, of: sum.of + next.of, ..sum })
    }

    /// The numbers of instances that were wanted and that not all benchmarks have.
    pub fn lacking(&self) -> Vec<Lacking> {
        let alarms = INSTANCES_COMPARED.map(|instances| (Question::Alarms, instances));
        let detectable = Sampling::ALL.into_iter().flat_map(|sampling| {
            sampling.instances().iter().map(move |instances| (Question::Detectable(sampling), *instances))
        });
        let lacks = |benchmark: &StudiedBenchmark, question: Question, instances: usize| match question {
            Question::Alarms => !benchmark.alarms.iter().any(|alarms| alarms.instances == instances),
            Question::Detectable(sampling) => benchmark.detectable(sampling, instances).is_none(),
        };
        let counted = alarms.into_iter().chain(detectable).map(|(question, instances)| {
            let lacking = self.benchmarks.iter().filter(|benchmark| lacks(benchmark, question, instances));
            Lacking { question, instances, benchmarks: lacking.count() }
        });
        counted.filter(|lacking| lacking.benchmarks > 0).collect()
    }

    /// The results of a benchmark.
    pub fn of(&self, benchmark: &str) -> Option<&StudiedBenchmark> {
        self.benchmarks.iter().find(|studied| studied.benchmark == benchmark)
    }
}

impl StudiedBenchmark {
    /// The smallest regression that is found by this sampling with so many instances; absent where there are not as many.
    pub fn detectable(&self, sampling: Sampling, instances: usize) -> Option<&Detectable> {
        self.detectable.iter().find(|found| found.sampling == sampling && found.instances == instances)
    }
}
