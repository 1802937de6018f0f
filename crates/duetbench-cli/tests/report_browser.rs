//! The page of the HTML report in a real browser: what it shows, that it asks nobody, that it can be used by keyboard, on a phone, and
//! in the dark, with 5, 50, 1,000 and 5,000 benchmarks. The cases themselves are in `browser/cases.mjs`.
//!
//! `DUET_CHROMIUM` names a browser; otherwise an installed Chromium is taken, or the one inside an npm package. Where there is no Node,
//! or npm's registry cannot be reached, these tests are listed as ignored.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may")]

mod common;

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use common::Place;
use libtest_mimic::{Arguments, Failed, Trial};
use rustix::fs::FlockOperation;

/// Cases of the page with made-up data, by the names in `browser/cases.mjs`.
const CASES: &[&str] = &[
    "a_page_of_5_says_all",
    "a_page_of_50_says_all",
    "a_page_of_1000_says_all",
    "a_page_of_5_fits",
    "a_page_of_50_fits",
    "a_page_of_1000_fits",
    "a_page_of_5000_fits",
    "figures_are_those_of_the_data",
    "intervals_share_a_logarithmic_axis",
    "the_plot_has_two_fifths_and_names_say_what_differs",
    "a_narrow_interval_is_a_dot",
    "an_axis_is_made_by_changes_and_its_labels_have_room",
    "what_is_far_beyond_the_others_gets_an_arrow",
    "chips_and_packages_filter",
    "search_finds_names_and_packages",
    "nothing_found_is_said_in_words",
    "rows_are_sorted_as_asked",
    "changes_of_both_kinds_come_before_open_ones",
    "everything_works_by_keyboard",
    "the_focus_is_seen_and_first_skips",
    "a_detail_has_everything",
    "a_detail_begins_with_one_sentence_and_both_times",
    "profiles_are_bars_by_function",
    "call_stacks_are_a_flame_graph",
    "a_flame_graph_works_by_keyboard",
    "a_flame_graph_is_told_without_colour",
    "earlier_runs_are_a_line_with_this_one_marked",
    "slices_share_an_axis_and_spikes_are_clipped",
    "every_verdict_opens",
    "foreign_names_stay_text",
    "a_link_opens_its_benchmark",
    "light_has_no_barriers",
    "dark_has_no_barriers",
    "a_phone_has_no_barriers",
    "the_theme_can_be_chosen",
    "a_phone_needs_no_sideways_scrolling",
    "a_picture_of_the_whole_page_has_no_blank_rows",
    "a_thousand_rows_cost_little",
    "commands_are_copied",
    "several_commands_stand_in_lines",
    "nothing_stands_where_no_command_is_offered",
    "slices_are_explained_by_their_mode",
    "sections_are_folded_and_complete",
    "paper_has_all_rows_and_no_controls",
    "data_that_cannot_be_read_are_named",
];
/// The one that takes a page which the real binary wrote.
const WRITTEN: &str = "a_written_page_says_all";

/// A scripted run with an answer of every kind.
const RUN: &str = r#"{
    "BenchmarkDecode": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002, "allocs": [2, 3]},
    "BenchmarkEncode": {"baseline_ns": 100, "candidate_ns": 101, "spread": 0.2},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkQuick/<script>alert(1)</script>": {"baseline_ns": 100, "candidate_ns": 80, "spread": 0.002},
    "BenchmarkSum": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}
}"#;

fn main() {
    let arguments = Arguments::from_args();
    let installed = if arguments.list { Ok(()) } else { install() };
    if let Err(e) = &installed {
        eprintln!("no browser can be driven: {e}");
    }
    let trial = |name: &str, test: Box<dyn FnOnce() -> Result<(), String> + Send>| {
        let run = move || test().map_err(Failed::from);
        Trial::test(name, run).with_kind("needs Node and a browser").with_ignored_flag(installed.is_err())
    };
    let mut trials: Vec<Trial> = CASES.iter().map(|&name| trial(name, Box::new(move || in_browser(name)))).collect();
    trials.push(trial("every_case_is_run", Box::new(every_case_is_run)));
    trials.push(trial("the_library_is_what_its_lock_file_makes", Box::new(the_library_is_built_alike)));
    trials.push(trial(WRITTEN, Box::new(a_written_page_says_all)));
    libtest_mimic::run(&arguments, trials).exit();
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render/html/page")
}

/// Where packages and the browser are installed, once for all tests.
fn home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-browser")
}

/// Standard output of a command; its standard error if it failed.
fn output(command: &mut Command) -> Result<String, String> {
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(e) => Err(format!("{}: {e}", command.get_program().display())),
    }
}

/// `run.mjs` with these arguments.
fn node(args: &[&str]) -> Command {
    let mut command = Command::new("node");
    command.arg(home().join("run.mjs")).args(args).env("DUET_PAGE_SOURCES", sources());
    command
}

/// Installs everything unless it is there, and starts a browser once.
fn install() -> Result<(), String> {
    fs::create_dir_all(home().join("vendor")).map_err(|e| e.to_string())?;
    let lock = File::create(home().join("lock")).map_err(|e| e.to_string())?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|e| e.to_string())?;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    for folder in ["", "vendor"] {
        copy(&tests.join(folder), &home().join(folder)).map_err(|e| e.to_string())?;
        install_packages(&home().join(folder))?;
    }
    // Nothing of the page takes part in this: what is wrong with it is to fail, not to be passed over.
    let start = "import { launch } from './chromium.mjs'; await (await launch()).close();";
    output(Command::new("node").args(["--input-type=module", "-e", start]).current_dir(home())).map(|_| ())
}

/// Copies the files of a folder that are not alike: somebody else may be reading the others.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)?.flatten().filter(|entry| entry.path().is_file()) {
        let (contents, target) = (fs::read(entry.path())?, to.join(entry.file_name()));
        if fs::read(&target).ok().as_ref() != Some(&contents) {
            fs::write(target, contents)?;
        }
    }
    Ok(())
}

/// Installs what a lock file names, without running anything of it, unless that was done for the same lock file.
fn install_packages(folder: &Path) -> Result<(), String> {
    let wanted = fs::read(folder.join("package-lock.json")).map_err(|e| e.to_string())?;
    let done = folder.join("installed");
    if fs::read(&done).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    output(Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder))?;
    fs::write(done, wanted).map_err(|e| e.to_string())
}

/// A browser that goes from case to case: starting one takes longer than most of them.
struct Browser {
    node: Child,
    answers: BufReader<ChildStdout>,
}

impl Browser {
    fn start() -> std::io::Result<Browser> {
        let mut node = node(&["-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(node.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?);
        Ok(Browser { node, answers })
    }

    /// Failure of a case in words; nothing where it passes.
    fn failure(&mut self, name: &str) -> std::io::Result<Option<String>> {
        writeln!(self.node.stdin.as_ref().ok_or(std::io::ErrorKind::BrokenPipe)?, "{name}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends when no more cases come.
        drop(self.node.stdin.take());
        let _ = self.node.wait();
    }
}

thread_local! {
    static BROWSER: RefCell<Option<Browser>> = const { RefCell::new(None) };
}

/// Runs a case in the browser of this thread.
fn in_browser(name: &str) -> Result<(), String> {
    BROWSER.with_borrow_mut(|kept| {
        let started = kept.take().map_or_else(Browser::start, Ok);
        let mut browser = started.map_err(|e| e.to_string())?;
        let failed = browser.failure(name).map_err(|e| format!("no answer about {name}: {e}"))?;
        if failed.is_none() {
            // After a failure the next case gets another one.
            *kept = Some(browser);
        }
        failed.map_or(Ok(()), Err)
    })
}

fn every_case_is_run() -> Result<(), String> {
    let listed = output(&mut node(&[]))?;
    let run: Vec<&str> = CASES.iter().copied().chain([WRITTEN]).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), run);
    Ok(())
}

fn the_library_is_built_alike() -> Result<(), String> {
    let built = tempfile::tempdir().unwrap();
    let folder = home().join("vendor");
    output(Command::new("npm").args(["run", "build"]).current_dir(folder).env("DUET_VENDOR", built.path()))?;
    for name in ["plot.js", "LICENCES.txt"] {
        let [new, kept] = [built.path(), &sources().join("vendor")].map(|dir| fs::read(dir.join(name)).unwrap());
        assert!(new == kept, "`npm ci && npm run build` in tests/browser/vendor makes another {name}");
    }
    Ok(())
}

fn a_written_page_says_all() -> Result<(), String> {
    let place = Place::new();
    place.scripted(RUN, &[]).expect(3);
    place.duet(&["show", "--format", "html", "-o", "report.html"]);
    output(node(&[WRITTEN]).env("DUET_PAGE", place.path().join("report.html"))).map(|_| ())
}
