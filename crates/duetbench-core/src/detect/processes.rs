//! Processes: what is independent of each other in a recording that was made apart from another one, and how files of single
//! processes become one recording.

use crate::recording::{Grid, Level, Recorded, Recording};

/// Repetitions of a recording at each level, and the independent values that they give.
#[derive(Debug, Clone, PartialEq)]
pub struct Footing {
    /// Name of the recording.
    pub name: String,
    /// The recording's levels, outermost first, each with the fewest and the most repetitions that a benchmark has. Where no level
    /// tells processes apart, one process is meant and stands in front.
    pub repetitions: Vec<(Level, usize, usize)>,
    /// The fewest and the most independent values of a benchmark: what the house's rule counts.
    pub units: (usize, usize),
}

impl Footing {
    /// Counts the repetitions of a recording.
    pub fn of(recording: &Recording) -> Footing {
        let range = |count: &dyn Fn(&Recorded) -> usize| {
            let counts = || recording.benchmarks.iter().map(count);
            (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
        };
        let at = |level: usize| range(&|recorded| recorded.grid.shape().get(level).copied().unwrap_or(0));
        let counted = recording.levels.iter().enumerate().map(|(i, level)| (*level, at(i).0, at(i).1));
        let alone = (processes(&recording.levels) == 0).then_some((Level::Fork, 1, 1));
        let single = by_process(recording);
        // Those without a logarithm are not compared, however many they are.
        let units = |recorded: &Recorded| Some(super::Units::of(recorded, &single.levels).ok()?.logs.len());
        let counts: Vec<usize> = single.benchmarks.iter().filter_map(units).collect();
        Footing {
            name: recording.name.clone(),
            repetitions: alone.into_iter().chain(counted).collect(),
            units: (counts.iter().copied().min().unwrap_or(0), counts.iter().copied().max().unwrap_or(0)),
        }
    }

    /// The level whose repetitions are counted: the outermost of which there are several, or else that of processes.
    pub fn counted(&self) -> Level {
        let outer = || self.repetitions.iter().filter(|(level, _, _)| *level <= Level::Fork);
        let several = outer().find(|(_, _, most)| *most > 1).or_else(|| outer().next_back());
        several.map_or(Level::Fork, |(level, _, _)| *level)
    }

    /// Whether every benchmark has enough independent values to be judged.
    pub fn is_enough(&self) -> bool {
        self.units.0 >= super::UNITS_MIN
    }
}

/// Number of these levels, outermost first, that tell processes apart.
fn processes(levels: &[Level]) -> usize {
    levels.iter().take_while(|level| **level <= Level::Fork).count()
}

/// The recording with one value for each process: the mean of those that it gave. Values of one process share its memory layout and
/// its luck, so that their number says nothing about how surely the next process will give the same.
pub fn by_process(recording: &Recording) -> Recording {
    let outer = processes(&recording.levels);
    let levels = if outer == 0 { vec![Level::Fork] } else { recording.levels[..outer].to_vec() };
    let benchmarks = recording.benchmarks.iter().filter_map(|recorded| {
        let shape = recorded.grid.shape();
        let kept = if outer == 0 { vec![1] } else { shape[..outer].to_vec() };
        let inside = (shape[outer..].iter().product::<usize>()).max(1);
        let means: Vec<f64> = recorded.grid.cells().chunks(inside).map(mean).collect();
        Some(Recorded { grid: Grid::of(&kept, means)?, ..recorded.clone() })
    });
    Recording { levels, benchmarks: benchmarks.collect(), ..recording.clone() }
}

/// The mean of what is there; not a number where nothing is.
fn mean(cells: &[f64]) -> f64 {
    let values: Vec<f64> = cells.iter().copied().filter(|v| v.is_finite()).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Several recordings of one version as one. Where they do not tell processes apart, each is taken for a process of its own. Where
/// they have several processes each, each is taken for a suite run; where they tell suite runs or instances apart, these follow
/// each other.
///
/// # Errors
/// In words, when there is none, or they do not go together.
pub fn joined(name: &str, parts: &[Recording]) -> Result<Recording, String> {
    let first = parts.first().filter(|part| !part.levels.is_empty()).ok_or("there is no recording")?;
    if parts.len() == 1 {
        return Ok(first.clone());
    }
    if let Some(other) = parts.iter().find(|part| part.levels != first.levels) {
        let words = |r: &Recording| r.levels.iter().map(|level| level.word()).collect::<Vec<_>>().join(", ");
        let (a, b) = (words(first), words(other));
        return Err(format!("`{}` repeats at the levels {a}, `{}` at {b}", first.name, other.name));
    }
    let single = |part: &Recording| part.benchmarks.iter().all(|b| b.grid.shape().first() == Some(&1));
    let above = match first.levels.first() {
        Some(Level::Iteration | Level::Second) => Some(Level::Fork),
        Some(Level::Fork) if !parts.iter().all(single) => Some(Level::SuiteRun),
        _ => None,
    };
    let mut benchmarks = Vec::new();
    for recorded in parts.iter().flat_map(|part| &part.benchmarks) {
        let same = |other: &&Recorded| other.benchmark == recorded.benchmark && other.unit == recorded.unit;
        if !benchmarks.iter().any(|known: &Recorded| same(&known)) {
            let each: Vec<Option<&Recorded>> = parts.iter().map(|p| p.benchmarks.iter().find(same)).collect();
            if let Some((term, a, b)) = each.iter().flatten().find_map(|other| recorded.other_terms(other)) {
                return Err(format!("the {term} of `{}` is {a} and {b}", recorded.benchmark));
            }
            benchmarks.push(stacked(recorded, &each, above.is_some()));
        }
    }
    let mut warnings: Vec<String> = Vec::new();
    for warning in parts.iter().flat_map(|part| &part.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let levels = above.into_iter().chain(first.levels.iter().copied()).collect();
    Ok(Recording { name: name.to_owned(), levels, benchmarks, warnings })
}

/// One benchmark of all recordings: below a level of their own, or one after the other in their outermost. Recordings that lack it
/// leave a gap, and so does what some repeat less often than others.
fn stacked(like: &Recorded, each: &[Option<&Recorded>], below: bool) -> Recorded {
    let shapes = || each.iter().flatten().map(|recorded| recorded.grid.shape());
    let levels = like.grid.shape().len();
    let most = |level: usize| shapes().map(|shape| shape[level]).max().unwrap_or(0);
    let largest: Vec<usize> = (0..levels).map(most).collect();
    let outer: usize = shapes().map(|shape| shape[0]).sum();
    let shape: Vec<usize> = if below {
        [each.len()].into_iter().chain(largest).collect()
    } else {
        [outer].into_iter().chain(largest[1..].iter().copied()).collect()
    };
    let mut grid = Grid::empty(&shape);
    let mut before = 0;
    for (number, recorded) in each.iter().enumerate() {
        let Some(recorded) = recorded else { continue };
        for (index, value) in recorded.grid.cells().iter().enumerate() {
            let mut at = place(index, recorded.grid.shape());
            if below {
                at.insert(0, number);
            } else {
                at[0] += before;
            }
            grid.set(&at, *value);
        }
        before += recorded.grid.shape()[0];
    }
    let mut cost = like.cost.clone();
    if below {
        cost.overhead_s.insert(0, 0.0);
    }
    Recorded { grid, cost, ..like.clone() }
}

/// The place of a cell in row-major order.
fn place(index: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = index;
    let mut at: Vec<usize> = shape.iter().rev().map(|size| (rest % size, rest /= size).0).collect();
    at.reverse();
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Better, Cost};

    const NAN: f64 = f64::NAN;

    fn recording(levels: &[Level], benchmarks: &[(&str, &[usize], &[f64])]) -> Recording {
        let recorded = |(name, shape, values): &(&str, &[usize], &[f64])| Recorded {
            benchmark: (*name).into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; shape.len()] },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(shape, values.to_vec()).unwrap(),
        };
        let benchmarks = benchmarks.iter().map(recorded).collect();
        Recording { name: "r".into(), levels: levels.to_vec(), benchmarks, warnings: vec!["gap".into()] }
    }

    fn iterations(values: &[f64]) -> Recording {
        recording(&[Level::Iteration], &[("A", &[values.len()], values)])
    }

    #[test]
    fn values_of_one_process_are_one_value() {
        let one = by_process(&iterations(&[1.0, 2.0, 6.0]));
        assert_eq!((one.levels, one.benchmarks[0].grid.cells()), (vec![Level::Fork], &[3.0][..]));
        let levels = [Level::SuiteRun, Level::Fork, Level::Iteration];
        let nested = recording(&levels, &[("A", &[1, 3, 2], &[1.0, 3.0, 5.0, NAN, NAN, NAN])]);
        let by = by_process(&nested);
        assert_eq!((by.levels, by.benchmarks[0].grid.shape()), (levels[..2].to_vec(), &[1, 3][..]));
        assert_eq!(by.benchmarks[0].grid.values(), [2.0, 5.0]);
    }

    #[test]
    fn footings_count_processes_and_not_values() {
        let of = |r: &Recording| Footing::of(r);
        let one = of(&iterations(&[1.0; 500]));
        assert_eq!(one.repetitions, [(Level::Fork, 1, 1), (Level::Iteration, 500, 500)]);
        assert_eq!((one.units, one.counted(), one.is_enough()), ((1, 1), Level::Fork, false));
        let forks = [Level::Fork, Level::Iteration];
        let several = recording(&forks, &[("A", &[3, 2], &[1.0; 6]), ("B", &[4, 1], &[1.0, NAN, 1.0, 1.0])]);
        assert_eq!((of(&several).units, of(&several).is_enough()), ((3, 3), true));
        assert_eq!(of(&several).repetitions, [(Level::Fork, 3, 4), (Level::Iteration, 1, 2)]);
    }

    #[test]
    fn files_of_one_process_become_forks() {
        let all = joined("all", &[iterations(&[1.0, 2.0]), iterations(&[3.0]), iterations(&[4.0, 5.0])]).unwrap();
        assert_eq!(all.levels, [Level::Fork, Level::Iteration]);
        assert_eq!(all.benchmarks[0].grid.shape(), [3, 2]);
        assert_eq!(all.benchmarks[0].grid.values(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(all.benchmarks[0].cost.overhead_s, [0.0, 0.0]);
        assert_eq!((all.name.as_str(), all.warnings.len()), ("all", 1));
    }

    #[test]
    fn files_of_several_processes_become_suite_runs_and_suite_runs_follow_each_other() {
        let forks = |values: &[f64]| recording(&[Level::Fork], &[("A", &[values.len()], values)]);
        let all = joined("all", &[forks(&[1.0, 2.0]), forks(&[3.0, 4.0])]).unwrap();
        assert_eq!((all.levels, all.benchmarks[0].grid.shape()), (vec![Level::SuiteRun, Level::Fork], &[2, 2][..]));
        let alone = joined("all", &[forks(&[1.0]), forks(&[3.0])]).unwrap();
        assert_eq!((alone.levels, alone.benchmarks[0].grid.cells()), (vec![Level::Fork], &[1.0, 3.0][..]));
        let runs = |values: &[f64]| recording(&[Level::SuiteRun, Level::Fork], &[("A", &[values.len(), 1], values)]);
        let all = joined("all", &[runs(&[1.0, 2.0]), runs(&[3.0])]).unwrap();
        assert_eq!(
            (all.benchmarks[0].grid.shape(), all.benchmarks[0].grid.cells()),
            (&[3, 1][..], &[1.0, 2.0, 3.0][..])
        );
    }

    #[test]
    fn what_one_file_lacks_is_a_gap_and_other_levels_are_refused() {
        let with_b = recording(&[Level::Iteration], &[("A", &[1], &[1.0]), ("B", &[1], &[9.0])]);
        let all = joined("all", &[iterations(&[2.0]), with_b]).unwrap();
        assert_eq!(all.benchmarks[1].grid.shape(), [2, 1]);
        assert_eq!(all.benchmarks[1].grid.values(), [9.0]);
        let forks = recording(&[Level::Fork], &[("A", &[1], &[1.0])]);
        let refused = joined("all", &[forks, iterations(&[1.0])]).unwrap_err();
        assert!(refused.contains("levels fork") && refused.contains("at iteration"), "{refused}");
    }
}
