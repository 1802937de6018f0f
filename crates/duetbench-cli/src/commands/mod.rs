//! The commands, one file each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use duetbench_core::spec::{HarnessSpec, LayoutChoice, Selection};
use duetbench_core::{Report, Role};
use duetbench_run::RunError;
use duetbench_run::adapter::{Conditions, Wish};
use duetbench_run::engine::Local;
use duetbench_run::prepare::{Prepared, Request, Stage};
use duetbench_run::process::Sandbox;
use duetbench_run::source::{VersionRequest, short_commit};
use duetbench_run::store::{PROFILES, RunHead, Store, StoredRun};

use crate::args::CommandArgs;
use crate::assemble;
use crate::failure::Failure;
use crate::gate;
use crate::options::Format;
use crate::printer::Printer;
use crate::render::format::one_line;
use crate::settings::{Settings, check_link};
use crate::waiting::Waiting;

pub mod analyze;
pub mod bisect;
pub mod calibrate;
pub mod compare;
pub mod config;
pub mod demo;
pub mod detect;
pub mod doctor;
pub mod export;
pub mod fleet;
pub mod former;
pub mod init;
pub mod list;
pub mod man;
pub mod propose;
pub mod run;
pub mod runs;
pub mod show;
pub mod source;
pub mod tune;
pub mod tune_check;
pub mod waive;
pub mod why;

/// Settings, printer and surroundings that every command works with.
pub struct Context {
    /// The merged settings.
    pub settings: Settings,
    /// Where output goes.
    pub printer: Printer,
    /// The directory in which duet was started.
    pub cwd: PathBuf,
    /// Set by Ctrl-C and by a polite request to end.
    pub interrupted: Arc<AtomicBool>,
}

/// Choices of a request that matter before versions are measured.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    selection: &'a Selection,
    harness: &'a HarnessSpec,
    arguments: &'a [String],
    layouts: Option<LayoutChoice>,
    reach: bool,
    benchmarks_from: Option<Role>,
}

impl<'a> Asked<'a> {
    /// Those of one version, which has no other to be laid out like, to be compared with, or to lend it benchmarks.
    fn of_one(selection: &'a Selection, harness: &'a HarnessSpec, arguments: &'a [String]) -> Asked<'a> {
        Asked { selection, harness, arguments, layouts: None, reach: false, benchmarks_from: None }
    }
}

impl Context {
    /// Where runs are stored: as set, or at the root of the checkout around the current directory.
    pub fn db(&self) -> PathBuf {
        self.settings.store(&self.cwd)
    }

    /// The same to write on. Where nobody said where, it must not lead out of the checkout.
    fn db_to_write(&self) -> Result<PathBuf, Failure> {
        let path = self.db();
        if self.settings.db().is_none() {
            check_link(&path, &self.cwd)?;
            check_link(&path.with_file_name(PROFILES), &self.cwd)?;
        }
        Ok(path)
    }

    /// Whether this is where a dry run ends; one that nobody typed is told.
    fn ends_dry(&self) -> bool {
        if self.settings.dry_run_is_set() {
            self.printer.warning("nothing is measured: a variable or `duet.toml` sets `dry_run`");
        }
        self.settings.dry_run()
    }

    /// Whether something can be had in the wanted form, if not in those that hold benchmarks and verdicts alone.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_form(&self, what: &str) -> Result<(), Failure> {
        match self.settings.format() {
            format @ (Format::Go | Format::Sarif) => Err(format.unfit(what)),
            _ => Ok(()),
        }
    }

    /// The report of a stored run: with what the newest calibration says of it, held against rules and waivers, and with pictures where the
    /// form shows them.
    fn report(&self, store: &Store, stored: StoredRun<RunHead>) -> Result<Report, Failure> {
        let report = if self.settings.format() == Format::Html {
            assemble::with_history(assemble::with_stacks(assemble::illustrated(stored), store), store)?
        } else {
            assemble::report(stored)
        };
        let report = Report { typed: self.settings.typed(), ..assemble::with_calibration(report, store)? };
        gate::decided(report, &self.cwd, self.settings.strict())
    }

    /// Fetches, builds and lists versions; relative names start at `cwd`.
    fn prepare(&self, versions: &[VersionRequest], cwd: &Path, asked: Asked<'_>) -> Result<Prepared, RunError> {
        let pass_env = self.settings.pass_env();
        let Asked { selection, layouts, reach, .. } = asked;
        let timeout = self.settings.timeout();
        let sandbox = self.settings.sandbox().then(Sandbox::find).transpose()?;
        let (selection, sandbox) = (Some(selection), sandbox.as_ref());
        let conditions = Conditions { timeout, pass_env: &pass_env, layouts, reach, selection, sandbox };
        let wish = Wish { harness: asked.harness, arguments: asked.arguments, conditions };
        let request =
            Request { cwd, packages: &asked.selection.packages, wish, benchmarks_from: asked.benchmarks_from };
        let mut waiting = None;
        let mut begin = |stage: Stage<'_>| {
            // A step ends when the next begins, and is told before it.
            drop(waiting.take());
            waiting = Some(Waiting::begin(&self.printer, words_of(stage)));
        };
        let prepared = Prepared::new(versions, &request, &mut begin, &self.interrupted)?;
        drop(waiting);
        prepared.remarks().iter().for_each(|remark| self.printer.note(&one_line(remark)));
        Ok(prepared)
    }

    /// Runs trials of these builds on this machine.
    fn local<'a, B>(&self, prepared: &'a Prepared, builds: B) -> Result<Local<'a, B>, RunError> {
        Local::new(&*prepared.adapter, builds, self.settings.timeout(), self.interrupted.clone())
    }
}

/// A step before measuring, in words.
fn words_of(stage: Stage<'_>) -> String {
    match stage {
        Stage::Fetching(module) => format!("fetching {module}"),
        Stage::Linker => "building a linker that lays both versions out alike (once for every release of Go)".into(),
        Stage::Building(version) => format!("building {}", short(version)),
        Stage::Trying(line) => format!("running `{line}` once"),
        Stage::Listing(version) => format!("listing the benchmarks of {}", short(version)),
    }
}

/// A version, with no more of a commit's full name than reports show.
fn short(version: &str) -> &str {
    let is_commit = version.len() >= 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { short_commit(version) } else { version }
}

/// The version that was typed: a command line, something with sources, or by default the work tree.
fn one_version(typed: Option<&str>, program: &CommandArgs, cwd: &Path) -> Result<VersionRequest, Failure> {
    match typed {
        Some(line) if program.command => Ok(VersionRequest::Command(line.to_owned())),
        None if program.command => Err(Failure::usage("`--command` needs a command line")),
        Some(text) => Ok(VersionRequest::parse(text, cwd)),
        None => Ok(VersionRequest::WorkTree),
    }
}

/// A filter over the names of discovered benchmarks.
fn selected(
    found: &[duetbench_core::plan::Discovered],
    settings: &Settings,
) -> Result<Vec<duetbench_core::plan::Discovered>, Failure> {
    let filter = settings.selection().filter()?;
    Ok(found.iter().filter(|d| d.is_kept_by(&filter)).cloned().collect())
}

/// The error when a selection leaves nothing.
fn nothing_selected(context: &Context) -> RunError {
    let selection = context.settings.selection();
    let filter = [("--bench", selection.bench), ("--exclude", selection.exclude)];
    let typed: Vec<String> = filter.iter().filter_map(|(k, v)| Some(format!("`{k} {}`", v.as_ref()?))).collect();
    let what = if typed.is_empty() {
        "every benchmark skips itself".to_owned()
    } else {
        format!("no benchmark is left after {}", typed.join(" and "))
    };
    RunError::nothing_to_measure(what).hint("`duet list` shows their names")
}

/// Checks options that are fractions, by their names.
///
/// # Errors
/// When one is not between 0 and 1; names it.
pub fn check_fractions(options: &[(&str, f64)]) -> Result<(), Failure> {
    match options.iter().find(|(_, value)| !(*value > 0.0 && *value < 1.0)) {
        Some((name, value)) => Err(Failure::usage(format!("`--{name}` is {value}, not between 0 and 1"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_as_reports_name_it() {
        let whole = "6f87e97e8f365e94d8a1b2c3d4e5f60718293a4b";
        assert_eq!(words_of(Stage::Building(whole)), "building 6f87e97e8f");
        assert_eq!(words_of(Stage::Listing("v1.2.0")), "listing the benchmarks of v1.2.0");
    }
}
