//! The plan file: what tuning learnt, kept in the repository (`duet-plan.toml`).

use std::io::ErrorKind;
use std::path::Path;

use duetbench_core::recording::{Cost, Level};
use duetbench_core::tune::Choice;
use duetbench_formats::bounded;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::whole_file;

/// Name of the file where nothing else is said.
pub const NAME: &str = "duet-plan.toml";
/// Format of the file.
pub const FORMAT: u32 = 1;
/// Words that a written plan begins with.
const HEAD: &str = "# Written by `duet tune`";

/// Repetitions of every benchmark, and where they were learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// [`FORMAT`].
    pub format: u32,
    /// Where it was learnt.
    pub learnt: LearntFrom,
    /// In name order.
    #[serde(rename = "benchmark", default)]
    pub benchmarks: Vec<PlannedRepetitions>,
}

/// Where a plan was learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearntFrom {
    /// Day, `2026-11-22`.
    pub date: String,
    /// The run or the files.
    pub from: Vec<String>,
    /// The version: commit, module version or directory, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// Digest over its test binaries, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub artifact_digest: Option<String>,
    /// The machine in a line, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine: Option<String>,
    /// The toolchain, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub toolchain: Option<String>,
    /// Metric by its word, as `rciw3`.
    pub metric: String,
    /// Largest value that is stable, a fraction.
    pub threshold: f64,
    /// Confidence of the intervals behind it, a fraction.
    pub confidence: f64,
    /// Levels of which all repetitions were kept, besides instances.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keep: Vec<Level>,
    /// Iterations that were cut of every benchmark; absent where they were found for each.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warmup: Option<usize>,
}

/// Repetitions of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedRepetitions {
    /// Its full name: `package.Benchmark`.
    pub name: String,
    /// Passes over the suite.
    pub suite_runs: u32,
    /// Fresh processes in each.
    pub forks: u32,
    /// Iterations in each, warm-up left out.
    pub iterations: u32,
    /// Iterations before that, which warm up.
    #[serde(default)]
    pub warmup: u32,
    /// Length of an iteration, seconds.
    pub iteration_s: f64,
    /// The metric's value with these repetitions, a fraction.
    pub stability: f64,
    /// Whether that is within the threshold.
    pub stable: bool,
    /// Digest of its test binary, where it was learnt from another one than the rest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub artifact_digest: Option<String>,
    /// The machine in a line, where it was learnt on another one than the rest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine: Option<String>,
}

impl PlannedRepetitions {
    /// The choice for a benchmark with these levels and this cost. Instances are of no concern to a plan, which one machine
    /// follows; where a level is not there, one repetition of it is meant.
    pub fn of(choice: &Choice, levels: &[Level], cost: &Cost) -> PlannedRepetitions {
        let chosen = |level: Level| {
            let at = levels.iter().position(|l| *l == level)?;
            choice.chosen.get(at).and_then(|n| u32::try_from(*n).ok())
        };
        let seconds = chosen(Level::Second).map_or(1.0, f64::from);
        PlannedRepetitions {
            name: choice.benchmark.clone(),
            suite_runs: chosen(Level::SuiteRun).unwrap_or(1),
            forks: chosen(Level::Fork).unwrap_or(1),
            iterations: chosen(Level::Iteration).unwrap_or(1),
            warmup: 0,
            iteration_s: rounded(seconds * cost.innermost_s),
            stability: rounded(choice.stability),
            stable: choice.stable,
            artifact_digest: None,
            machine: None,
        }
    }

    /// Repetitions of each of these levels, as far as there are so many.
    pub fn shape(&self, levels: &[Level], there: &[usize]) -> Vec<usize> {
        self.wanted(levels).iter().zip(there).map(|(wanted, there)| *wanted.min(there)).collect()
    }

    /// Repetitions of each of these levels; of instances as many as there are. A comparison has one fork in every suite run, so all forks
    /// that are planned are suite runs there.
    pub fn wanted(&self, levels: &[Level]) -> Vec<usize> {
        let comparison = !levels.contains(&Level::Iteration);
        let [suite_runs, forks, iterations] = [self.suite_runs, self.forks, self.iterations].map(u64::from);
        let wanted = |level: &Level| match level {
            Level::Instance => u64::MAX,
            Level::SuiteRun if comparison => suite_runs * forks,
            Level::SuiteRun => suite_runs,
            Level::Fork => forks,
            Level::Iteration => iterations,
            Level::Second => self.iteration_s.round().max(1.0) as u64,
        };
        levels.iter().map(|level| usize::try_from(wanted(level)).unwrap_or(usize::MAX)).collect()
    }

    /// Refuses what nobody can measure.
    fn check(&self) -> Result<(), String> {
        let counts = [("suite_runs", self.suite_runs), ("forks", self.forks), ("iterations", self.iterations)];
        if let Some((key, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(format!("`{key}` of `{}` must be at least 1", self.name));
        }
        if self.iteration_s.is_finite() && self.iteration_s > 0.0 {
            return Ok(());
        }
        Err(format!("`iteration_s` of `{}` must be more than 0", self.name))
    }

    /// Wall time of its iterations, seconds.
    pub fn measured_s(&self) -> f64 {
        let iterations = f64::from(self.iterations) + f64::from(self.warmup);
        f64::from(self.suite_runs) * f64::from(self.forks) * iterations * self.iteration_s
    }
}

/// Four significant digits: what a file that is read by people needs, and no more that differs from one time to the next.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Whether a file stands there that is no plan, not even a damaged one: a repository's settings may name it, and nobody's is lost to them.
fn is_another(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    match bounded::read_text(path, 8 * bounded::TEXT_MAX) {
        Ok(text) => !text.trim().is_empty() && !text.starts_with(HEAD) && PlanFile::parse(&text).is_err(),
        Err(_) => true,
    }
}

impl PlanFile {
    /// A plan; of a benchmark that was tuned several times, the longest measurement is planned.
    pub fn new(learnt: LearntFrom, mut benchmarks: Vec<PlannedRepetitions>) -> PlanFile {
        let longest_first = |a: &PlannedRepetitions, b: &PlannedRepetitions| {
            a.name.cmp(&b.name).then(b.measured_s().total_cmp(&a.measured_s()))
        };
        benchmarks.sort_by(longest_first);
        benchmarks.dedup_by(|later, kept| later.name == kept.name);
        PlanFile { format: FORMAT, learnt, benchmarks }
    }

    /// Writes the file anew.
    ///
    /// # Errors
    /// When it cannot be written, or another file than a plan stands there.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        if is_another(path) {
            let words = format!("`{}` is another file than a plan, and is left as it is", path.display());
            return Err(RunError::stored_run(words).hint("`--plan-file`, or `plan` in duet.toml, names another"));
        }
        whole_file::write(path, &self.text()?).map_err(|e| RunError::file("write", path, e))
    }

    /// Reads a plan file.
    ///
    /// # Errors
    /// When it cannot be read or is none; names the line.
    pub fn read(path: &Path) -> Result<PlanFile, RunError> {
        let text = bounded::read_text(path, 8 * bounded::TEXT_MAX).map_err(|e| match e.kind() {
            ErrorKind::NotFound => {
                RunError::stored_run(format!("there is no plan `{}`", path.display())).hint("`duet tune` writes one")
            }
            _ => RunError::file("read", path, e),
        })?;
        let wrong = |what: String| RunError::stored_run(format!("the plan `{}`: {what}", path.display()));
        PlanFile::parse(&text).map_err(wrong)
    }

    /// Reads the text of a plan file.
    ///
    /// # Errors
    /// In words, when it is none; names the line.
    pub fn parse(text: &str) -> Result<PlanFile, String> {
        let plan: PlanFile = toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())?;
        if plan.format != FORMAT {
            return Err(format!("format {} is not {FORMAT}, which this duet reads", plan.format));
        }
        plan.benchmarks.iter().try_for_each(PlannedRepetitions::check)?;
        Ok(plan)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// When a number in it cannot be written.
    pub fn text(&self) -> Result<String, RunError> {
        let body =
            toml::to_string(self).map_err(|e| RunError::stored_run(format!("the plan cannot be written: {e}")))?;
        Ok(format!("{HEAD}; `duet compare --plan {NAME}` measures as it says.\n\n{body}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LEVELS: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];

    fn choice(benchmark: &str, chosen: [usize; 4]) -> Choice {
        Choice {
            benchmark: benchmark.into(),
            full: vec![3, 3, 5, 5],
            chosen: chosen.to_vec(),
            full_s: 75.0,
            chosen_s: 3.0,
            stability: 0.004_321_098,
            stable: true,
            result_full: 100.0,
            result_chosen: 101.0,
            enough_times: None,
        }
    }

    fn planned(benchmark: &str, chosen: [usize; 4]) -> PlannedRepetitions {
        let cost = Cost { innermost_s: 1.0, overhead_s: vec![0.0; 4] };
        PlannedRepetitions::of(&choice(benchmark, chosen), &LEVELS, &cost)
    }

    fn learnt() -> LearntFrom {
        LearntFrom {
            date: "2026-11-22".into(),
            from: vec!["r12".into()],
            version: Some("1a2b3c4d5e".into()),
            artifact_digest: None,
            machine: Some("AMD EPYC, 2 processors".into()),
            toolchain: Some("go1.26.8".into()),
            metric: "rciw3".into(),
            threshold: 0.01,
            confidence: 0.99,
            keep: Vec::new(),
            warmup: None,
        }
    }

    /// A plan as it stands in a repository: whoever changes this changes everybody's files.
    const GOLDEN: &str = r#"# Written by `duet tune`; `duet compare --plan duet-plan.toml` measures as it says.

format = 1

[learnt]
date = "2026-11-22"
from = ["r12"]
version = "1a2b3c4d5e"
machine = "AMD EPYC, 2 processors"
toolchain = "go1.26.8"
metric = "rciw3"
threshold = 0.01
confidence = 0.99

[[benchmark]]
name = "p.BenchmarkA"
suite_runs = 3
forks = 1
iterations = 5
warmup = 0
iteration_s = 5.0
stability = 0.004321
stable = true

[[benchmark]]
name = "p.BenchmarkB"
suite_runs = 1
forks = 1
iterations = 3
warmup = 0
iteration_s = 1.0
stability = 0.004321
stable = true
"#;

    #[test]
    fn a_plan_reads_as_sealed_and_keeps_the_longer_of_two_measurements() {
        let benchmarks = [
            planned("p.BenchmarkB", [3, 1, 3, 1]),
            planned("p.BenchmarkA", [3, 1, 3, 1]),
            planned("p.BenchmarkA", [1, 3, 5, 5]),
        ];
        let plan = PlanFile::new(learnt(), benchmarks.to_vec());
        assert_eq!(plan.text().unwrap(), GOLDEN);
    }

    #[test]
    fn a_plan_says_how_often_each_level_is_repeated() {
        let planned = PlannedRepetitions { iteration_s: 5.0, forks: 3, ..planned("p.B", [1, 2, 4, 5]) };
        let check = |levels: &[Level], there: &[usize], want: &[usize]| {
            assert_eq!(planned.shape(levels, there), want);
        };
        check(&Level::ALL, &[9, 9, 9, 9, 9], &[9, 2, 3, 4, 5]);
        check(&[Level::Fork, Level::Iteration], &[5, 50], &[3, 4]);
        check(&[Level::Fork, Level::Iteration], &[2, 3], &[2, 3]);
        check(&[Level::SuiteRun, Level::Fork], &[9, 1], &[6, 1]);
    }

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let plan = PlanFile::new(learnt(), vec![planned("p.BenchmarkB", [3, 1, 3, 1])]);
        plan.write(&path).unwrap();
        assert_eq!(PlanFile::read(&path).unwrap(), plan);
    }

    #[test]
    fn another_file_is_left_as_it_is_and_a_damaged_plan_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("main.go");
        let plan = PlanFile::new(learnt(), vec![planned("p.BenchmarkB", [3, 1, 3, 1])]);
        for other in [b"package main\n".as_slice(), b"\xff\xfe"] {
            fs::write(&path, other).unwrap();
            let said = plan.write(&path).unwrap_err().to_string();
            assert!(said.contains("main.go` is another file than a plan"), "{said}");
            assert_eq!(fs::read(&path).unwrap(), other);
        }
        for ours in [String::new(), GOLDEN.replace("format = 1", "<<<<<<<"), GOLDEN.replace(HEAD, "# Ours")] {
            fs::write(&path, ours).unwrap();
            plan.write(&path).unwrap();
            assert_eq!(PlanFile::read(&path).unwrap(), plan);
        }
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let check = |from: &str, to: &str, want: &str| {
            fs::write(&path, GOLDEN.replacen(from, to, 1)).unwrap();
            let said = PlanFile::read(&path).unwrap_err().to_string();
            assert!(said.contains(want) && said.contains(NAME), "{said}");
        };
        check("suite_runs = 3", "suite_runs = -3", "line 17, column 14");
        check("forks = 1", "forsk = 1", "line 18, column 1");
        check("format = 1", "format = 2", "format 2 is not 1");
        check("[learnt]", "[learnt", "line 5");
        check("forks = 1", "forks = 0", "`forks` of `p.BenchmarkA` must be at least 1");
        check("iteration_s = 5.0", "iteration_s = -5.0", "`iteration_s` of `p.BenchmarkA` must be more than 0");
    }
}
