//! Recordings: every value that one version gave under a full execution configuration, by whatever harness it was taken.

use serde::{Deserialize, Serialize};

use crate::warmup::{self, ForksWarmUp};

/// The unit of times: nanoseconds an invocation.
pub const TIME: &str = "ns/op";

/// A level of repetition. Levels are written outermost first, in the order in which they stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A machine: VM, runner, function instance.
    Instance,
    /// A pass over the whole suite in a fresh random order.
    SuiteRun,
    /// A fresh process.
    Fork,
    /// A timed block of invocations.
    Iteration,
    /// A second of an iteration that was cut into seconds.
    Second,
}

words!(Level, ALL, from_word:
    Instance "instance", SuiteRun "suite_run", Fork "fork", Iteration "iteration", Second "second"
);

/// The better direction of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Time, bytes: less is better.
    Lower,
    /// Throughput: more is better.
    Higher,
}

words!(Better: Lower "lower", Higher "higher");

impl Better {
    /// The better direction by the unit's name: more of a rate such as `MB/s` or `rows/s` is better, less of everything else.
    pub fn of_unit(unit: &str) -> Better {
        if unit.ends_with("/s") { Better::Higher } else { Better::Lower }
    }
}

/// All values of one version.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Name of its source, without folder and ending: `prometheus-v0.39.0`, `r12`.
    pub name: String,
    /// The levels of repetition of every benchmark in it, outermost first.
    pub levels: Vec<Level>,
    /// In the order in which they were first met.
    pub benchmarks: Vec<Recorded>,
    /// Warnings from reading it: lines that were left out, benchmarks with gaps.
    pub warnings: Vec<String>,
}

/// All values of one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its full name, as unique as the source has it.
    pub benchmark: String,
    /// Unit of its values.
    pub unit: String,
    /// The better direction of its values.
    pub better: Better,
    /// Cost of its repetitions.
    pub cost: Cost,
    /// Warm-up of processes by its harness; absent where they need none, as they are compiled before.
    pub harness_warm_up: Option<HarnessWarmUp>,
    /// Terms of measuring with their values, as far as they are known: JMH's mode and number of threads, a program's exit code. Values under other
    /// terms are those of another measurement.
    pub terms: Vec<(&'static str, String)>,
    /// The values by their place.
    pub grid: Grid,
}

/// Warm-up by a harness of the processes of a benchmark that is compiled while it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarnessWarmUp {
    /// Iterations by the harness's default or the benchmark's own configuration.
    pub iterations: u32,
    /// Length of one, seconds.
    pub iteration_s: f64,
    /// Whether these ran before the first value, so that the values do not tell whether they were needed.
    pub ran: bool,
}

impl HarnessWarmUp {
    /// JMH's warm-up where neither benchmark nor user says otherwise: five iterations of ten seconds.
    pub const JMH_DEFAULT: HarnessWarmUp = HarnessWarmUp { iterations: 5, iteration_s: 10.0, ran: false };

    /// Time that it takes in every process, seconds.
    pub fn time_s(&self) -> f64 {
        f64::from(self.iterations) * self.iteration_s
    }
}

/// Time of repetitions, seconds. Instances run beside each other and take no time of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// One repetition of the innermost level.
    pub innermost_s: f64,
    /// Time of each repetition of a level beside the repetitions inside it: a fork's start and warm-up. By level, outermost
    /// first; 0 where it is not known.
    pub overhead_s: Vec<f64>,
}

/// Values in a nested order: one for every combination of repetitions, outermost level first.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Repetitions of each level, outermost first.
    shape: Vec<usize>,
    /// Row-major; NaN where nothing was measured.
    cells: Vec<f64>,
}

impl Grid {
    /// An empty grid of this shape.
    pub fn empty(shape: &[usize]) -> Grid {
        Grid { shape: shape.to_vec(), cells: vec![f64::NAN; shape.iter().product()] }
    }

    /// A full grid from row-major values; absent where their number is not that of the shape.
    pub fn of(shape: &[usize], values: Vec<f64>) -> Option<Grid> {
        (shape.iter().product::<usize>() == values.len()).then(|| Grid { shape: shape.to_vec(), cells: values })
    }

    /// Repetitions of each level, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All cells, row-major; NaN where nothing was measured.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Puts a value at this place, counted from 0; whatever lies outside the shape is refused.
    pub fn set(&mut self, place: &[usize], value: f64) -> bool {
        let inside = place.len() == self.shape.len() && place.iter().zip(&self.shape).all(|(at, size)| at < size);
        if inside {
            let index = place.iter().zip(&self.shape).fold(0, |index, (at, size)| index * size + at);
            self.cells[index] = value;
        }
        inside
    }

    /// The values that a smaller configuration would have measured: the first repetitions of each level, in row-major order,
    /// gaps left out.
    pub fn prefix(&self, configuration: &[usize]) -> Vec<f64> {
        let most = configuration.iter().zip(&self.shape).map(|(wanted, there)| wanted.min(there)).product();
        let mut values = Vec::with_capacity(most);
        self.collect(configuration, 0, 0, &mut values);
        values
    }

    /// Adds the values below one cell of a level.
    fn collect(&self, configuration: &[usize], level: usize, index: usize, values: &mut Vec<f64>) {
        if level == self.shape.len() {
            values.extend(Some(self.cells[index]).filter(|v| v.is_finite()));
            return;
        }
        let wanted = configuration.get(level).map_or(self.shape[level], |&n| n.min(self.shape[level]));
        for at in 0..wanted {
            self.collect(configuration, level + 1, index * self.shape[level] + at, values);
        }
    }

    /// All values, in row-major order, gaps left out.
    pub fn values(&self) -> Vec<f64> {
        self.cells.iter().copied().filter(|v| v.is_finite()).collect()
    }
}

impl Recorded {
    /// The first term that both state and not alike, with both values.
    pub fn other_terms<'a>(&'a self, other: &'a Recorded) -> Option<(&'static str, &'a str, &'a str)> {
        self.terms.iter().find_map(|(term, value)| {
            let (_, differing) = other.terms.iter().find(|(known, of_other)| known == term && of_other != value)?;
            Some((*term, value.as_str(), differing.as_str()))
        })
    }

    /// Wall time of a configuration, seconds: `Σ_l overhead_l · Π_{k ≤ l} n_k + innermost · Π n`, instances counted once.
    pub fn time_s(&self, levels: &[Level], configuration: &[usize]) -> f64 {
        let mut units = 1.0;
        let mut total_s = 0.0;
        for (i, &repetitions) in configuration.iter().enumerate() {
            if levels.get(i) != Some(&Level::Instance) {
                units *= repetitions as f64;
            }
            total_s += units * self.cost.overhead_s.get(i).copied().unwrap_or(0.0);
        }
        total_s + units * self.cost.innermost_s
    }
}

impl Recorded {
    /// The same with the first `iterations` of every innermost group of iterations taken for warm-up: they are left out of the values
    /// and count as what the level around them costs. Absent without a level of iterations, or when nothing is left.
    pub fn without_warm_up(&self, levels: &[Level], iterations: usize) -> Option<Recorded> {
        let level = levels.iter().position(|level| *level == Level::Iteration)?;
        let grid = self.grid.without_first(level, iterations)?;
        let inside: usize = self.grid.shape[level + 1..].iter().product();
        let mut cost = self.cost.clone();
        cost.overhead_s.resize(levels.len(), 0.0);
        if let Some(around) = level.checked_sub(1) {
            cost.overhead_s[around] += (iterations * inside) as f64 * cost.innermost_s;
        }
        Some(Recorded { grid, cost, ..self.clone() })
    }

    /// Iterations that its processes need to warm up, by their times; absent where that cannot be told: iterations are not the innermost
    /// level, or too few, or have gaps.
    pub fn warm_up(&self, levels: &[Level]) -> Option<ForksWarmUp> {
        if levels.last() != Some(&Level::Iteration) {
            return None;
        }
        let time = |value: &f64| match self.better {
            Better::Lower => *value,
            Better::Higher => 1.0 / value,
        };
        let times: Vec<f64> = self.grid.cells.iter().map(time).collect();
        warmup::over_forks(times.chunks(self.grid.shape.last().copied().unwrap_or(0).max(1)))
    }
}

impl Recording {
    /// The same recording with the first `iterations` of every process taken for warm-up, of all benchmarks alike: see
    /// [`Recorded::without_warm_up`].
    pub fn without_warm_up(&self, iterations: usize) -> Option<Recording> {
        let cut = |recorded: &Recorded| recorded.without_warm_up(&self.levels, iterations);
        let benchmarks = self.benchmarks.iter().map(cut).collect::<Option<Vec<_>>>()?;
        Some(Recording { benchmarks, ..self.clone() })
    }
}

impl Grid {
    /// The grid without the first repetitions of one level; absent when none is left.
    fn without_first(&self, level: usize, repetitions: usize) -> Option<Grid> {
        let left = self.shape[level].checked_sub(repetitions).filter(|left| *left > 0)?;
        let inside: usize = self.shape[level + 1..].iter().product();
        let mut shape = self.shape.clone();
        shape[level] = left;
        let group = self.shape[level] * inside;
        let cells = self.cells.chunks(group.max(1)).flat_map(|g| g[repetitions * inside..].to_vec()).collect();
        Some(Grid { shape, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(grid: Grid, overhead_s: Vec<f64>) -> Recorded {
        let cost = Cost { innermost_s: 1.0, overhead_s };
        Recorded {
            benchmark: "A".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost,
            harness_warm_up: None,
            terms: Vec::new(),
            grid,
        }
    }

    fn counted(shape: &[usize]) -> Grid {
        Grid::of(shape, (0..shape.iter().product::<usize>()).map(|v| v as f64).collect()).unwrap()
    }

    #[test]
    fn a_prefix_is_what_would_have_been_measured() {
        let grid = counted(&[2, 3, 2]);
        assert_eq!(grid.prefix(&[2, 1, 2]), [0.0, 1.0, 6.0, 7.0]);
        assert_eq!(grid.prefix(&[1, 2, 1]), [0.0, 2.0]);
        assert_eq!(grid.prefix(&[9, 9, 9]), grid.values());
    }

    #[test]
    fn gaps_are_left_out() {
        let mut grid = Grid::empty(&[2, 2]);
        assert!(grid.set(&[1, 0], 5.0) && grid.set(&[0, 1], 4.0));
        assert!(!grid.set(&[2, 0], 1.0) && !grid.set(&[0], 1.0));
        assert_eq!(grid.values(), [4.0, 5.0]);
        assert_eq!(grid.prefix(&[2, 1]), [5.0]);
    }

    #[test]
    fn instances_take_no_time_and_forks_take_their_start() {
        let levels = [Level::Instance, Level::Fork, Level::Iteration];
        let recorded = recorded(counted(&[3, 5, 10]), vec![0.0, 4.0, 0.0]);
        assert_eq!(recorded.time_s(&levels, &[3, 5, 10]), 5.0 * 4.0 + 50.0);
        assert_eq!(recorded.time_s(&levels, &[1, 2, 3]), 2.0 * 4.0 + 6.0);
    }

    #[test]
    fn warm_up_is_cut_and_paid_for_by_the_fork() {
        let levels = vec![Level::Fork, Level::Iteration];
        let benchmarks = vec![recorded(counted(&[2, 4]), vec![0.0, 0.0])];
        let recording = Recording { name: "r".into(), levels, benchmarks, warnings: Vec::new() };
        let warm = recording.without_warm_up(3).unwrap();
        assert_eq!(warm.benchmarks[0].grid.values(), [3.0, 7.0]);
        assert_eq!(warm.benchmarks[0].cost.overhead_s, [3.0, 0.0]);
        assert_eq!(recording.without_warm_up(4), None);
    }

    #[test]
    fn warm_up_is_looked_for_in_every_fork_and_in_time_not_in_throughput() {
        let values: Vec<f64> = (0..60).map(|i| if i % 30 < 6 { 50.0 } else { 100.0 } + f64::from(i % 3)).collect();
        let levels = [Level::Fork, Level::Iteration];
        let slow = recorded(Grid::of(&[2, 30], values).unwrap(), vec![0.0, 0.0]);
        // As times they begin fast, as throughputs slowly; either way the first six differ.
        for better in [Better::Lower, Better::Higher] {
            let found = Recorded { better, ..slow.clone() }.warm_up(&levels).unwrap();
            assert_eq!((found.iterations, found.forks, found.unsteady), (Some(6), 2, 0), "{better:?}");
        }
        assert_eq!(slow.warm_up(&[Level::Iteration, Level::Second]), None);
        let mut gap = slow.clone();
        gap.grid.set(&[0, 3], f64::NAN);
        assert_eq!(gap.warm_up(&levels).unwrap().forks, 1);
    }
}
