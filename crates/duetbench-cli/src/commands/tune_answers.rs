//! `duet tune --answers`: what every metric chooses, in the form of the results that were published with the µOpTime study.
//!
//! Its data sets are told apart by their levels and shapes. Instances are no part of a configuration there, and times are numbers
//! of innermost repetitions, without any overhead. The second set is given twice, as it is (`ds2`) and without the first half of
//! every fork (`ds2w`).

use std::path::Path;

use duetbench_core::recording::{Level, Recording};
use duetbench_core::tune::{Metric, Rules, tune};
use duetbench_run::RunError;

use crate::failure::Failure;

/// Levels of the first data set.
const FIRST: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];
/// Levels of the other two.
const OTHERS: [Level; 2] = [Level::Fork, Level::Iteration];
/// Full configuration of the second data set.
const SECOND_SHAPE: [usize; 2] = [5, 100];
/// Iterations of it that were taken for warm-up.
const SECOND_WARM_UP: usize = 50;

/// The rows so far.
#[derive(Debug, Default)]
pub struct Answers {
    rows: Vec<[String; 7]>,
}

impl Answers {
    /// Adds what every metric chooses for a recording, by rules whose metric does not matter.
    ///
    /// # Errors
    /// When the recording is none of the study's.
    pub fn add(&mut self, recording: &Recording, rules: &Rules) -> Result<(), Failure> {
        if recording.levels == FIRST {
            self.add_set("ds1", recording, rules);
            return Ok(());
        }
        if recording.levels != OTHERS {
            return Err(Failure::usage(format!(
                "`--answers` wants files of the µOpTime study, and `{}` is none",
                recording.name
            )));
        }
        if !recording.benchmarks.iter().any(|recorded| recorded.grid.shape() == SECOND_SHAPE) {
            self.add_set("ds3", recording, rules);
            return Ok(());
        }
        self.add_set("ds2", recording, rules);
        if let Some(mut warm) = recording.without_warm_up(SECOND_WARM_UP) {
            warm.benchmarks.iter_mut().for_each(|recorded| recorded.cost.overhead_s.fill(0.0));
            self.add_set("ds2w", &warm, rules);
        }
        Ok(())
    }

    fn add_set(&mut self, set: &str, recording: &Recording, rules: &Rules) {
        let counted = |repetitions: &[usize]| -> Vec<usize> {
            let levels = recording.levels.iter().zip(repetitions);
            levels.filter(|(level, _)| **level != Level::Instance).map(|(_, n)| *n).collect()
        };
        for metric in Metric::ALL {
            for choice in tune(recording, &Rules { metric, ..rules.clone() }).choices {
                let (full, chosen) = (counted(&choice.full), counted(&choice.chosen));
                let written: Vec<String> = chosen.iter().map(usize::to_string).collect();
                self.rows.push([
                    set.into(),
                    recording.name.clone(),
                    metric.word().into(),
                    choice.benchmark,
                    format!("({})", written.join(", ")),
                    full.iter().product::<usize>().to_string(),
                    chosen.iter().product::<usize>().to_string(),
                ]);
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        let wrong = |e: csv::Error| RunError::file("write", path, e.into());
        let mut writer = csv::Writer::from_path(path).map_err(wrong)?;
        writer.write_record(["ds", "file", "metric", "benchmark", "config", "time_full", "time_min"]).map_err(wrong)?;
        self.rows.iter().try_for_each(|row| writer.write_record(row)).map_err(wrong)?;
        writer.flush().map_err(|e| RunError::file("write", path, e))
    }
}
