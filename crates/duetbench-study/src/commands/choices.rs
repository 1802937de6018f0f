//! `duet-study choices`: what µOpTime chooses for every benchmark by every metric, also in the form of the results that were published
//! with its paper.
//!
//! The paper's data sets are told apart by their levels and shapes. Instances are no part of a configuration there, and times are numbers
//! of innermost repetitions, without any overhead. The second set is given twice, as it is (`ds2`) and without the first half of
//! every fork (`ds2w`).

use std::path::Path;

use duetbench_cli::commands::{Context, check_fractions};
use duetbench_cli::failure::{Failure, code};
use duetbench_cli::options::Format;
use duetbench_cli::render::document::{Block, Document, Table, Title};
use duetbench_cli::render::format::many;
use duetbench_cli::warm_up::asked_for;
use duetbench_core::recording::{Level, Recording};
use duetbench_core::tune::{Choice, Metric, Rules, tune};
use duetbench_run::RunError;

use crate::args::ChoicesArgs;
use crate::papers::uoptime::Practice;

/// Tunes every file, prints what is chosen, and writes it in the published form where that is wanted.
///
/// # Errors
/// When a file cannot be read, a number is out of range, or something cannot be written.
pub fn run(args: &ChoicesArgs, context: &Context) -> Result<u8, Failure> {
    check(args, context)?;
    let mut table = Table::plain(&COLUMNS);
    let mut answers = args.answers.as_ref().map(|_| Answers::default());
    for file in &args.files {
        let recording = duetbench_formats::read(file)?.recording;
        if let Some(answers) = &mut answers {
            answers.add(&recording, args)?;
        }
        let recording = asked_for(recording, args.warmup)?.recording;
        recording
            .warnings
            .iter()
            .for_each(|words| context.printer.note(&format!("warning: {}: {words}", recording.name)));
        for metric in args.metric.metrics() {
            let choices = tune(&recording, &practice(args, metric)).choices;
            choices.iter().for_each(|choice| table.push(row(&recording.name, metric, choice)));
        }
    }
    if let (Some(answers), Some(path)) = (answers, &args.answers) {
        answers.write(path)?;
        context.printer.note(&format!("wrote `{}`", path.display()));
    }
    let title = Title {
        command: "duet-study choices",
        version: env!("CARGO_PKG_VERSION").to_owned(),
        subject: many(args.files.len(), "recording", "recordings"),
    };
    let (rows, blocks) = (Some(table.clone()), vec![Block::Table(table)]);
    context.printer.document(&Document { title, blocks, rows, ..Document::default() })?;
    Ok(code::CLEAN)
}

fn check(args: &ChoicesArgs, context: &Context) -> Result<(), Failure> {
    if let format @ (Format::Json | Format::Go | Format::Sarif) = context.settings.format() {
        return Err(format.unfit("what a study finds"));
    }
    check_fractions(&[("threshold", args.threshold), ("confidence", args.confidence)])
}

fn practice(args: &ChoicesArgs, metric: Metric) -> Practice {
    let (threshold, confidence) = (args.threshold, args.confidence);
    let rules = Rules { metric, threshold, confidence, keep: vec![Level::Instance] };
    Practice { rules, compat: args.compat.into() }
}

const COLUMNS: [&str; 9] =
    ["recording", "metric", "benchmark", "full", "chosen", "full_s", "chosen_s", "stable", "change"];

fn row(recording: &str, metric: Metric, choice: &Choice) -> Vec<String> {
    let joined = |repetitions: &[usize]| repetitions.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    vec![
        recording.to_owned(),
        metric.word().to_owned(),
        choice.benchmark.clone(),
        joined(&choice.full),
        joined(&choice.chosen),
        choice.full_s.to_string(),
        choice.chosen_s.to_string(),
        choice.stable.to_string(),
        choice.change().to_string(),
    ]
}

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
struct Answers {
    rows: Vec<[String; 7]>,
}

impl Answers {
    /// Adds what every metric chooses for a recording, which must be one of the paper's.
    fn add(&mut self, recording: &Recording, args: &ChoicesArgs) -> Result<(), Failure> {
        if recording.levels == FIRST {
            self.add_set("ds1", recording, args);
            return Ok(());
        }
        if recording.levels != OTHERS {
            return Err(Failure::usage(format!(
                "`--answers` wants files of the µOpTime paper, and `{}` is none",
                recording.name
            )));
        }
        if !recording.benchmarks.iter().any(|recorded| recorded.grid.shape() == SECOND_SHAPE) {
            self.add_set("ds3", recording, args);
            return Ok(());
        }
        self.add_set("ds2", recording, args);
        if let Some(mut warm) = recording.without_warm_up(SECOND_WARM_UP) {
            warm.benchmarks.iter_mut().for_each(|recorded| recorded.cost.overhead_s.fill(0.0));
            self.add_set("ds2w", &warm, args);
        }
        Ok(())
    }

    fn add_set(&mut self, set: &str, recording: &Recording, args: &ChoicesArgs) {
        let counted = |repetitions: &[usize]| -> Vec<usize> {
            let levels = recording.levels.iter().zip(repetitions);
            levels.filter(|(level, _)| **level != Level::Instance).map(|(_, n)| *n).collect()
        };
        for metric in Metric::ALL {
            for choice in tune(recording, &practice(args, metric)).choices {
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
    fn write(&self, path: &Path) -> Result<(), RunError> {
        let wrong = |e: csv::Error| RunError::file("write", path, e.into());
        let mut writer = csv::Writer::from_path(path).map_err(wrong)?;
        writer.write_record(["ds", "file", "metric", "benchmark", "config", "time_full", "time_min"]).map_err(wrong)?;
        self.rows.iter().try_for_each(|row| writer.write_record(row)).map_err(wrong)?;
        writer.flush().map_err(|e| RunError::file("write", path, e))
    }
}
