//! Where the random baseline stands when it comes to a file.

use duetbench_core::recording::{Level, Recording};

use super::{Compat, Practice, RandomBaseline};

/// Configurations that the published code had drawn for other files when it came to the first of these projects: five for each
/// benchmark of each of five versions.
const PUBLISHED_BEFORE: [(&str, usize); 3] = [("prometheus", 0), ("toml", 5 * 5 * 31), ("zap", 5 * 5 * (31 + 35))];

/// Where random configurations come from.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    /// The source of choices that are not those of the published code.
    pub seed: u64,
    /// With the published code's rules, how many configurations it had drawn before it came to this file.
    pub before: usize,
}

impl Random {
    /// The baseline, ready for a recording. By the paper's rules it depends on the seed and the recording's name alone.
    pub fn baseline(&self, recording: &Recording, practice: &Practice) -> RandomBaseline {
        if practice.compat == Compat::Paper {
            let named = recording.name.bytes().fold(self.seed, |seed, b| seed.rotate_left(5) ^ u64::from(b));
            return RandomBaseline::of(named);
        }
        let mut baseline = RandomBaseline::of(RandomBaseline::PUBLISHED_SEED);
        if let Some(first) = recording.benchmarks.first()
            && is_go(recording)
        {
            // One stream for all Go files, whose benchmarks all have the same levels: what was drawn for others is drawn for as many
            // of this one.
            let others = Recording { benchmarks: vec![first.clone(); self.before], ..recording.clone() };
            baseline.choose(&others, practice);
        }
        baseline
    }
}

/// Whether a recording is of the form in which the papers have their Go data: iterations cut into seconds.
pub fn is_go(recording: &Recording) -> bool {
    recording.levels.contains(&Level::Second)
}

/// Numbers of configurations that the published code had drawn before each of these Go files, given as project and number of
/// benchmarks in the order of the study. A project that it did not have follows the one before.
pub fn drawn_before(files: &[(String, usize)], metrics: usize) -> Vec<usize> {
    let (mut before, mut last) = (0, None);
    let mut of_file = |(project, benchmarks): &(String, usize)| {
        if last.replace(project.clone()).as_ref() != Some(project) {
            let published = PUBLISHED_BEFORE.iter().find(|(name, _)| name == project);
            before = published.map_or(before, |(_, drawn)| *drawn);
        }
        let here = before;
        before += metrics * benchmarks;
        here
    };
    files.iter().map(&mut of_file).collect()
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Better, Cost, Grid, Recorded};
    use duetbench_core::tune::{Metric, Rules};

    use super::*;

    fn recording(name: &str, benchmarks: usize) -> Recording {
        let recorded = Recorded {
            benchmark: "B".into(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; 4] },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(&[1, 3, 5, 5], (0..75).map(|i| 100.0 + f64::from(i % 7)).collect()).unwrap(),
        };
        let levels = vec![Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
        Recording { name: name.into(), levels, benchmarks: vec![recorded; benchmarks], warnings: Vec::new() }
    }

    fn drawn(random: Random, name: &str, compat: Compat, times: usize) -> Vec<Vec<usize>> {
        let (recording, practice) = (recording(name, 6), Practice { rules: Rules::of(Metric::Cv), compat });
        let mut baseline = random.baseline(&recording, &practice);
        let tuned = (0..times).map(|_| baseline.choose(&recording, &practice)).last().unwrap();
        tuned.choices.into_iter().map(|choice| choice.chosen).collect()
    }

    #[test]
    fn what_was_drawn_for_others_is_skipped() {
        let random = Random { seed: 0, before: 0 };
        let code = |random, times| drawn(random, "x", Compat::PaperCode, times);
        // The first of numpy.random.default_rng(42), of which the second has fewer than three suite runs and iterations.
        assert_eq!(code(random, 1)[..4], [[1, 1, 4, 3], [1, 3, 5, 5], [1, 1, 3, 1], [1, 1, 3, 4]]);
        assert_eq!(code(Random { before: 12, ..random }, 1), code(random, 3));
    }

    #[test]
    fn other_choices_depend_on_seed_and_name() {
        let of = |seed, name| drawn(Random { seed, before: 0 }, name, Compat::Paper, 1);
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(2, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
    }

    #[test]
    fn what_was_drawn_before_is_known_of_the_published_projects() {
        let file = |project: &str, benchmarks| (project.to_owned(), benchmarks);
        let files = [file("prometheus", 31), file("prometheus", 31), file("zap", 46), file("zap", 46), file("zzz", 10)];
        assert_eq!(drawn_before(&files, 5), [0, 155, 1650, 1880, 2110]);
        assert_eq!(drawn_before(&[file("a", 2), file("b", 3)], 5), [0, 10]);
    }
}
