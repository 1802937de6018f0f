//! `duet-study uoptime`: the µOpTime paper's questions, on anybody's recordings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use duetbench_cli::commands::{Context, check_fractions};
use duetbench_cli::failure::{Failure, code};
use duetbench_cli::options::Format;
use duetbench_core::Recording;
use duetbench_core::tune::Metric;
use duetbench_run::RunError;

use super::files::{self, several_tables};
use crate::args::{Question, UoptimeArgs};
use crate::papers::uoptime::{
    FileName, Random, Settings, Tracked, contrast, drawn_before, is_go, natural_order, study_file,
};
use crate::render::uoptime::{Studied, StudiedFile, StudiedProject, document, figures, tables};

/// Time between two messages about a study's progress.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// Answers the questions for all files of a folder and prints the answers.
///
/// # Errors
/// When there is nothing to study, a number is out of range, or something cannot be written.
pub fn run(args: &UoptimeArgs, context: &Context) -> Result<u8, Failure> {
    check(args, context)?;
    let settings = Settings {
        threshold: args.threshold,
        confidence: args.confidence,
        relevant: args.relevant,
        compat: args.compat.into(),
    };
    let mut study = Uoptime { args, context, settings, told: Instant::now(), warnings: Vec::new() };
    let series = study.read()?;
    let studied = study.make(&series)?;
    if let Some(dir) = &args.out {
        let drawn = figures(&studied).map_err(|e| std::io::Error::other(format!("a figure: {e}")))?;
        files::write(dir, context, tables(&studied).into_iter().chain(drawn))?;
    }
    context.printer.document(&document(&studied))?;
    Ok(code::CLEAN)
}

fn check(args: &UoptimeArgs, context: &Context) -> Result<(), Failure> {
    if !matches!(context.settings.format(), Format::Text | Format::Markdown) {
        return Err(several_tables());
    }
    check_fractions(&[("threshold", args.threshold), ("confidence", args.confidence), ("relevant", args.relevant)])
}

/// The versions of a project in one folder, the oldest first; or one file whose name holds no version.
struct Series {
    project: String,
    versions: Vec<Version>,
}

struct Version {
    name: FileName,
    recording: Recording,
    random: Random,
}

/// A study that is being made.
struct Uoptime<'a> {
    args: &'a UoptimeArgs,
    context: &'a Context,
    settings: Settings,
    told: Instant,
    warnings: Vec<String>,
}

impl Uoptime<'_> {
    /// Reads all files below the folder.
    fn read(&mut self) -> Result<Vec<Series>, Failure> {
        let paths = csv_files(&self.args.dir)?;
        let mut grouped: BTreeMap<(PathBuf, String, bool), Vec<Version>> = BTreeMap::new();
        for (i, path) in paths.iter().enumerate() {
            self.step(&format!("read {i} of {} files", paths.len()))?;
            let recording = match duetbench_formats::read(path) {
                Ok(read) => self.settings.prepared(read.recording),
                Err(e) => {
                    self.warnings.push(format!("`{}` was left out: {e}", path.display()));
                    continue;
                }
            };
            self.warnings.extend(recording.warnings.iter().map(|w| format!("`{}`: {w}", path.display())));
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let name = FileName::of(&stem);
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let random = Random { seed: self.args.seed, before: 0 };
            let key = (folder, name.project.clone(), name.version.is_some());
            grouped.entry(key).or_default().push(Version { name, recording, random });
        }
        let mut series: Vec<Series> = Vec::new();
        for ((_, project, _), mut versions) in grouped {
            versions.sort_by(|a, b| natural_order(&a.recording.name, &b.recording.name));
            series.push(Series { project, versions });
        }
        if series.is_empty() {
            let what = format!("there are no result files below `{}`", self.args.dir.display());
            let hint = self.warnings.first().map_or("their names end in `.csv`", String::as_str);
            return Err(RunError::nothing_to_measure(what).hint(hint).into());
        }
        place_random(&mut series);
        Ok(series)
    }

    fn make(&mut self, series: &[Series]) -> Result<Studied, Failure> {
        let (mut files, mut projects) = (Vec::new(), Vec::new());
        let all: usize = series.iter().map(|s| s.versions.len()).sum();
        for Series { project, versions } in series {
            for (i, version) in versions.iter().enumerate() {
                self.step(&format!("studied {} of {all} files", files.len()))?;
                files.push(self.file(version, i + 1 == versions.len()));
            }
            let several = versions.len() > 1 && versions.iter().all(|v| v.name.version.is_some());
            if several && self.args.asks(Question::Rq4) {
                projects.push(self.project(project, versions)?);
            }
        }
        Ok(Studied {
            duet_version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.settings.clone(),
            warm_up: self.args.warmup,
            files,
            projects,
            warnings: std::mem::take(&mut self.warnings),
        })
    }

    /// The first three questions.
    fn file(&self, version: &Version, newest: bool) -> StudiedFile {
        let Version { name, recording, random } = version;
        let mut file = StudiedFile {
            name: name.clone(),
            stem: recording.name.clone(),
            newest,
            savings: Vec::new(),
            warm: Vec::new(),
            contrasts: Vec::new(),
        };
        let asks = |question| self.args.asks(question);
        if (asks(Question::Rq1) || asks(Question::Rq2))
            && let Some(study) = study_file(recording, &self.settings, *random, 0)
        {
            if asks(Question::Rq2) {
                // A metric without changes, as in a file whose benchmarks have no values, cannot be compared.
                file.contrasts.extend([false, true].iter().filter_map(|abs| contrast(&study.changes, *abs).ok()));
            }
            if asks(Question::Rq1) {
                file.savings = study.savings;
            }
        }
        if asks(Question::Rq3)
            && let Some(study) = study_file(recording, &self.settings, *random, self.args.warmup as usize)
        {
            file.warm = study.savings;
        }
        file
    }

    /// The fourth question.
    fn project(&mut self, project: &str, versions: &[Version]) -> Result<StudiedProject, Failure> {
        let mut pairs = Vec::new();
        if let [first, later @ ..] = versions {
            let mut tracked = Tracked::new(&first.recording, &self.settings, first.random);
            for version in later {
                self.step(&format!("comparing versions of {project}"))?;
                pairs.extend(tracked.next(&version.recording));
            }
        }
        pairs.sort_by_key(|pair| pair.method);
        Ok(StudiedProject { project: project.to_owned(), pairs })
    }

    /// Ends when asked to, and says now and then how far it is.
    fn step(&mut self, far: &str) -> Result<(), Failure> {
        if self.context.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted.into());
        }
        if self.told.elapsed() >= TOLD_EVERY {
            self.told = Instant::now();
            self.context.printer.note(far);
        }
        Ok(())
    }
}

/// Tells every Go file where the published code's random numbers stood when it came to it.
fn place_random(series: &mut [Series]) {
    let versions = || series.iter().flat_map(|s| s.versions.iter().map(|v| (s.project.clone(), v)));
    let go: Vec<(String, usize)> = versions()
        .filter(|(_, v)| is_go(&v.recording))
        .map(|(project, v)| (project, v.recording.benchmarks.len()))
        .collect();
    let before = drawn_before(&go, Metric::ALL.len());
    let go_files = series.iter_mut().flat_map(|s| &mut s.versions).filter(|v| is_go(&v.recording));
    for (version, before) in go_files.zip(before) {
        version.random.before = before;
    }
}

/// All files below a folder whose names end in `.csv`, in the order of their paths.
fn csv_files(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        let entries = fs::read_dir(&dir).map_err(|e| RunError::file("read", &dir, e))?;
        for entry in entries {
            let entry = entry.map_err(|e| RunError::file("read", &dir, e))?;
            let path = entry.path();
            // Links are not followed: they may lead back.
            let kind = entry.file_type().map_err(|e| RunError::file("read", &path, e))?;
            if kind.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
