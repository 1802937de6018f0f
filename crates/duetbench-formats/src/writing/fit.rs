//! Bringing a recording to the levels and units that a form has, and saying what that costs.

use std::collections::HashSet;

use duetbench_core::Recording;
pub(crate) use duetbench_core::recording::TIME;
use duetbench_core::recording::{Level, Recorded};

use crate::error::FormatError;
use crate::words::named;

/// Levels and units that a form has room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Its name in a sentence: `hyperfine's JSON`.
    pub(crate) title: &'static str,
    /// The levels that it tells apart, outermost first.
    pub(crate) levels: &'static [Level],
    /// The units that it has.
    pub(crate) units: Units,
    /// Whether it has a place for what was not measured.
    pub(crate) gaps: bool,
}

/// Units that a form has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units {
    /// Whatever there is.
    All,
    /// Whatever there is, but one of each benchmark.
    One,
    /// Times alone.
    Times,
    /// Times and bytes, but one of the two of each benchmark.
    TimesAndBytes,
}

/// A benchmark as it fits into a form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted<'a> {
    /// The benchmark in the recording.
    pub(crate) recorded: &'a Recorded,
    /// Repetitions of each of the form's levels.
    pub(crate) shape: Vec<usize>,
    /// A value for each, row-major; NaN where nothing was measured.
    pub(crate) cells: Vec<f64>,
}

impl Fitted<'_> {
    /// Its full name.
    pub(crate) fn name(&self) -> &str {
        &self.recorded.benchmark
    }

    /// All values, gaps left out.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.cells.iter().copied().filter(|v| v.is_finite()).collect()
    }

    /// The cells of each repetition of the level around the innermost one.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks(self.shape.last().copied().unwrap_or(1).max(1))
    }
}

/// Everything of a recording that a form can hold, with what it cannot.
///
/// A level that the form does not have is folded into the next one inside it that it has: all values are kept, but not which of them
/// were nearer to each other. Where there is none inside, the mean of its values is written: writing them all would make values that
/// depend on each other look like repetitions that do not.
///
/// # Errors
/// When the form can hold nothing of it.
pub(crate) fn fit<'a>(recording: &'a Recording, frame: &Frame) -> Result<(Vec<Fitted<'a>>, Vec<String>), FormatError> {
    let (mut kept, other): (Vec<&Recorded>, Vec<&Recorded>) =
        recording.benchmarks.iter().partition(|recorded| frame.units.have(&recorded.unit));
    let mut lost = Vec::new();
    let only = if frame.units == Units::Times { "times alone" } else { "times and bytes alone" };
    lost.extend(left_out(&other).map(|names| format!("left out, since {} holds {only}: {names}", frame.title)));
    if matches!(frame.units, Units::One | Units::TimesAndBytes) {
        let mut met = HashSet::new();
        let (first, further) = kept.into_iter().partition(|recorded| met.insert(recorded.benchmark.as_str()));
        kept = first;
        let title = frame.title;
        lost.extend(left_out(&further).map(|names| format!("left out, since {title} holds one unit of each: {names}")));
    }
    if kept.is_empty() {
        return Err(FormatError::nothing(lost.first().map_or("the recording has no benchmark", String::as_str)));
    }
    let groups = groups(&recording.levels, frame.levels);
    let fitted: Vec<Fitted<'_>> = kept.into_iter().map(|recorded| fitted(recorded, &groups)).collect();
    lost.extend(folded(&recording.levels, &fitted, frame));
    let missing: usize = fitted.iter().map(|f| f.cells.iter().filter(|v| !v.is_finite()).count()).sum();
    if missing > 0 && !frame.gaps {
        let title = frame.title;
        lost.push(format!(
            "{title} has no place for what was not measured: gaps ({missing}) are closed by what follows"
        ));
    }
    Ok((fitted, lost))
}

/// Some benchmarks with their units, in a sentence.
pub(crate) fn left_out(benchmarks: &[&Recorded]) -> Option<String> {
    let names: Vec<String> = benchmarks.iter().map(|r| format!("{} [{}]", r.benchmark, r.unit)).collect();
    named(names.iter().map(String::as_str))
}

impl Units {
    fn have(self, unit: &str) -> bool {
        match self {
            Units::All | Units::One => true,
            Units::Times => unit == TIME,
            Units::TimesAndBytes => unit == TIME || is_bytes(unit),
        }
    }
}

/// Whether a unit is one of bytes: allocated by an operation, or the size of something.
pub(crate) fn is_bytes(unit: &str) -> bool {
    matches!(unit, "B/op" | "B")
}

/// Number of a recording's levels that go into each of the form's; levels left at the end are averaged.
fn groups(levels: &[Level], of_form: &[Level]) -> Vec<usize> {
    let mut rest = levels;
    of_form
        .iter()
        .map(|level| {
            let taken = rest.iter().take_while(|l| *l <= level).count();
            rest = &rest[taken..];
            taken
        })
        .collect()
}

fn fitted<'a>(recorded: &'a Recorded, groups: &[usize]) -> Fitted<'a> {
    let mut rest = recorded.grid.shape();
    let mut shape = Vec::with_capacity(groups.len());
    for taken in groups {
        let (level, inside) = rest.split_at((*taken).min(rest.len()));
        shape.push(level.iter().product());
        rest = inside;
    }
    let inside: usize = rest.iter().product();
    let cells = recorded.grid.cells().chunks(inside.max(1)).map(mean).collect();
    Fitted { recorded, shape, cells }
}

/// The mean of what is there; not a number where nothing is.
fn mean(cells: &[f64]) -> f64 {
    let known = || cells.iter().filter(|v| v.is_finite());
    known().sum::<f64>() / known().count() as f64
}

/// Notes about levels that the form does not have.
fn folded(levels: &[Level], fitted: &[Fitted<'_>], frame: &Frame) -> Vec<String> {
    let repeats = |at: usize| fitted.iter().any(|f| f.recorded.grid.shape().get(at).is_some_and(|n| *n > 1));
    let missing = levels.iter().enumerate().filter(|(at, level)| !frame.levels.contains(level) && repeats(*at));
    let say = |(_, level): (usize, &Level)| {
        let (title, what) = (frame.title, plural(*level));
        match frame.levels.iter().find(|inner| *inner > level) {
            Some(inner) => format!("{title} does not tell {what} apart: all are written as {}", plural(*inner)),
            None => format!("{title} has no {what}: their mean is written"),
        }
    };
    missing.map(say).collect()
}

/// Several of a level.
fn plural(level: Level) -> &'static str {
    match level {
        Level::Instance => "instances",
        Level::SuiteRun => "suite runs",
        Level::Fork => "forks",
        Level::Iteration => "iterations",
        Level::Second => "seconds",
    }
}

/// Invocations of an iteration that took as long as is known and gave this time per invocation, nanoseconds; 1 where nothing is known.
pub(crate) fn invocations(recorded: &Recorded, value: f64) -> u64 {
    let invocations = recorded.cost.innermost_s * 1e9 / value;
    if recorded.unit == TIME && invocations.is_finite() { invocations.round().clamp(1.0, 1e15) as u64 } else { 1 }
}

/// A value without the crumbs that taking its logarithm leaves.
pub(crate) fn plain(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A time in nanoseconds as seconds, such that a reader who multiplies gets the same number, if there is one.
pub(crate) fn seconds(ns: f64) -> f64 {
    let near = ns / 1e9;
    [near, near.next_down(), near.next_up()].into_iter().find(|s| s * 1e9 == ns).unwrap_or(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use duetbench_core::recording::{Better, Cost, Grid};

    fn recording(levels: &[Level], shape: &[usize], cells: &[f64]) -> Recording {
        let recorded = Recorded {
            benchmark: "A".into(),
            unit: TIME.into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: Vec::new() },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(shape, cells.to_vec()).unwrap(),
        };
        let benchmarks = vec![recorded];
        Recording { name: "r".into(), levels: levels.to_vec(), benchmarks, warnings: Vec::new() }
    }

    const NESTED: [Level; 3] = [Level::SuiteRun, Level::Fork, Level::Iteration];
    const CELLS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::NAN];

    #[track_caller]
    fn check(levels: &'static [Level], shape: &[usize], cells: &[f64], lost: &[&str]) {
        let recording = recording(&NESTED, &[2, 2, 2], &CELLS);
        let frame = Frame { title: "X", levels, units: Units::Times, gaps: true };
        let (fitted, said) = fit(&recording, &frame).unwrap();
        assert_eq!(fitted[0].shape, shape);
        assert_eq!(fitted[0].values(), cells);
        assert_eq!(said, lost);
    }

    #[test]
    fn outer_levels_are_folded_and_inner_ones_averaged() {
        check(
            &[Level::Iteration],
            &[8],
            &CELLS[..7],
            &[
                "X does not tell suite runs apart: all are written as iterations",
                "X does not tell forks apart: all are written as iterations",
            ],
        );
        check(
            &[Level::Fork, Level::Iteration],
            &[4, 2],
            &CELLS[..7],
            &["X does not tell suite runs apart: all are written as forks"],
        );
        check(
            &[Level::Fork],
            &[4],
            &[1.5, 3.5, 5.5, 7.0],
            &[
                "X does not tell suite runs apart: all are written as forks",
                "X has no iterations: their mean is written",
            ],
        );
        check(&Level::ALL, &[1, 2, 2, 2, 1], &CELLS[..7], &[]);
    }

    #[test]
    fn gaps_and_units_without_a_place_are_named() {
        let mut recording = recording(&NESTED, &[2, 2, 2], &CELLS);
        recording.benchmarks.push(Recorded {
            benchmark: "B".into(),
            unit: "ops/s".into(),
            ..recording.benchmarks[0].clone()
        });
        let frame = Frame { title: "X", levels: &NESTED, units: Units::Times, gaps: false };
        let (fitted, said) = fit(&recording, &frame).unwrap();
        assert_eq!(fitted.len(), 1);
        assert!(said[0].ends_with("holds times alone: `B [ops/s]`") && said[1].contains("gaps (1)"), "{said:?}");
        recording.benchmarks.remove(0);
        assert!(fit(&recording, &frame).unwrap_err().to_string().contains("`B [ops/s]`"));
    }

    #[test]
    fn seconds_come_back_as_the_same_nanoseconds_or_next_to_them() {
        for ns in [1.0, 0.1, 123_456.789, 1e-3, 7.3e12, 0.0] {
            assert!((seconds(ns) * 1e9 - ns).abs() <= ns * f64::EPSILON, "{ns}");
        }
        assert_eq!(seconds(0.3) * 1e9, 0.3);
    }
}
