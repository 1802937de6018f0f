//! The Markdown format: a comment on a pull request, or a job summary.
//!
//! The sentence on top is made from the same verdicts as the table below it: a sign, the change, where it comes from. Changes and
//! failures are open to see; the rest is folded, and so is how it was measured. Foreign words are defused: a benchmark's name can neither mention people nor smuggle in a link.

use duetbench_core::report::{BenchmarkReport, Outcome};
use duetbench_core::{Report, Verdict};

use super::format::{one_line, share, short_name, shortened};
use super::markup::markdown::{LENGTH_MAX, Page, cell, code, fenced, prose, prose_cell, within_tags};
use super::names::Short;
use super::width::cut_middle;
use super::{command_line, gate, hint, instructions, order, profile, reported, summary, waiver};

/// The hidden first line by which an earlier comment is found again.
pub const MARKER: &str = "<!-- duetbench -->";

/// Room for the folds' ends and the sentence on rows left out.
const RESERVE: usize = 512;

/// Most lines on what passes and what does not, so that they leave room for a table.
const GATE_LINES_MAX: usize = 20;

/// Widest name of a row, in cells: a longer one pushes the numbers out of sight. The page has all of it.
const NAME_WIDTH: usize = 60;

/// Most waivers that are proposed, so that they leave room for a table.
const WAIVERS_MAX: usize = 10;

/// Longest command or waiver that is shown, in bytes. There are at most three and ten, so that they leave room for a table.
const COMMAND_MAX: usize = 4096;

/// The report as Markdown, never longer than [`LENGTH_MAX`]; rows that do not fit are left out from the end and counted.
pub fn render(report: &Report) -> String {
    let tail = tail(report);
    let (open, folded): (Vec<_>, Vec<_>) = report.benchmarks.iter().partition(|b| is_open(b));
    let mut page = Page { out: head(report), room_end: LENGTH_MAX.saturating_sub(tail.len() + RESERVE), left_out: 0 };
    page.warnings(report);
    page.table(report, &open);
    page.reported(report);
    // Where the first rows have filled the room there would be nothing to unfold.
    let has_room = page.left_out == 0;
    if !has_room {
        page.left_out += folded.len();
    }
    if has_room && !folded.is_empty() {
        let more = if open.is_empty() { "" } else { "more " };
        let benchmarks = if folded.len() == 1 { "benchmark" } else { "benchmarks" };
        page.out += &format!("<details><summary>{} {more}{benchmarks}</summary>\n\n", folded.len());
        page.table(report, &folded);
        page.out += "</details>\n\n";
    }
    page.counts(report);
    page.profiles(report);
    if page.left_out > 0 {
        page.out += &format!("{} left out here for lack of space; `--format json` has all.\n\n", rows(page.left_out));
    }
    page.out + &tail
}

/// Whether a benchmark's row is there to see without unfolding anything.
fn is_open(benchmark: &BenchmarkReport) -> bool {
    let changed = benchmark.verdict.is_change() && !order::is_tolerated(&benchmark.verdict);
    changed || order::allocates_differently(benchmark) || matches!(benchmark.verdict, Verdict::Failed { .. })
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row is".into() } else { format!("{count} rows are") }
}

fn head(report: &Report) -> String {
    let [base, candidate] = summary::versions(report);
    let mut out =
        format!("{MARKER}\n### {} duet: {}\n\n", outcome_sign(summary::outcome(report)), summary::headline(report));
    out +=
        &format!("{} → {}  \n{}\n\n", code(&shortened(&base)), code(&shortened(&candidate)), summary::counts(report));
    let gate = gate::lines(report);
    for line in gate.iter().take(GATE_LINES_MAX) {
        out += &format!("- {}\n", prose(&shortened(line)));
    }
    if gate.len() > GATE_LINES_MAX {
        out += &format!("- and {} more\n", gate.len() - GATE_LINES_MAX);
    }
    if !gate.is_empty() {
        out.push('\n');
    }
    if !report.complete {
        out += "**Incomplete:** the run stopped early; this is what was measured until then.\n\n";
    }
    out
}

/// Advice, machine, modes and how to make the run again; what would take too much room is left out whole, since half a
/// command is worse than none.
fn tail(report: &Report) -> String {
    let mut out = String::new();
    for hint in hint::hints(report) {
        let command = hint.command.unwrap_or_default();
        if command.is_empty() {
            out += &format!("**Hint:** {}\n\n", prose(&hint.words));
        } else if command.len() <= COMMAND_MAX {
            out += &format!("**Hint:** {} {}\n\n", prose(&hint.words), code(&command));
        }
    }
    let waivers: Vec<String> =
        waiver::proposed(report).into_iter().filter(|table| table.len() <= COMMAND_MAX).collect();
    if !waivers.is_empty() {
        let shown = waivers[..waivers.len().min(WAIVERS_MAX)].join("\n");
        out += &format!(
            "<details><summary>If it is worth it, accept it</summary>\n\nIn `duet-waivers.toml`, up to the most that it may be:\n\n\
             {}\n</details>\n\n",
            fenced("toml", &shown)
        );
    }
    out += "<details><summary>How it was measured</summary>\n\n";
    for words in summary::words_explained(report) {
        out += &format!("- {words}\n");
    }
    for (label, fact) in summary::facts(report) {
        out += &format!("- {label} {}\n", prose(&shortened(&fact)));
    }
    if let Some(command) = command_line::again(report).filter(|command| command.len() <= COMMAND_MAX) {
        out += &format!("\nAgain, with the same seed:\n\n{}", fenced("sh", &one_line(&command)));
    }
    out + "\n</details>\n"
}

/// The sign of the whole answer, which is seen among forty comments.
fn outcome_sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Regression => "🔺",
        Outcome::Failed => "❌",
        Outcome::StaleWaiver => "⚠️",
        Outcome::Inconclusive => "❔",
        Outcome::Clean => "✅",
    }
}

impl Page {
    /// Warnings about the run as a whole, as far as there is room.
    fn warnings(&mut self, report: &Report) {
        for warning in &report.warnings {
            let line = format!("**Warning:** {}\n\n", prose(&shortened(warning)));
            self.push(&line);
        }
    }

    /// One table, the most urgent first, as far as there is room.
    fn table(&mut self, report: &Report, benchmarks: &[&BenchmarkReport]) {
        let names = Short::of_report(report);
        let package = names.common().map_or_else(String::new, |package| format!("{}\n\n", code(package)));
        let sure = share(1.0 - report.spec.decision.interval_alpha());
        let mut heading = Some(format!(
            "{package}| | benchmark | change | {sure} sure within | before → after | |\n|:-:|---|--:|:--|--:|---|\n"
        ));
        for benchmark in order::most_urgent_first(benchmarks.iter().copied()) {
            let row = heading.clone().unwrap_or_default() + &row(report, benchmark, &names.name(&benchmark.id));
            if self.push(&row) {
                heading = None;
            }
        }
        if heading.is_none() {
            self.out.push('\n');
        }
    }

    /// Metrics that benchmarks report under units of their own, as far as there is room.
    fn reported(&mut self, report: &Report) {
        let mut heading =
            Some("| benchmark | reports | base | head | vs base | verdict |\n|---|---|--:|--:|:--|---|\n");
        for row in reported::rows(report) {
            let [name, unit, base, head, change] = &row.cells;
            let (name, unit, verdict) = (cell(name), cell(unit), prose_cell(&row.verdict));
            let line = format!("| {name} | {unit} | {base} | {head} | {change} | {verdict} |\n");
            if self.push(&(heading.unwrap_or_default().to_owned() + &line)) {
                heading = None;
            }
        }
        if heading.is_none() {
            self.out.push('\n');
        }
    }

    /// Instructions, folded, as far as there is room.
    fn counts(&mut self, report: &Report) {
        for (counted, lines) in instructions::counted(report) {
            let name = within_tags(&short_name(&counted.id.name));
            let mut fold = format!("<details><summary>Instructions of {name}</summary>\n\n");
            lines.iter().for_each(|line| fold += &format!("- {}\n", prose(line)));
            fold += "\n</details>\n\n";
            if self.out.len() + fold.len() <= self.room_end {
                self.out += &fold;
            }
        }
    }

    /// Where regressions come from, folded, as far as there is room.
    fn profiles(&mut self, report: &Report) {
        for (benchmark, lines, command) in profile::explained(report) {
            let name = within_tags(&short_name(&benchmark.id.name));
            let mut fold = format!("<details><summary>Where {name} got slower</summary>\n\n");
            lines.iter().for_each(|line| fold += &format!("- {}\n", prose(line)));
            if let Some(command) = command {
                fold += &format!("\n{}\n", code(&command));
            }
            fold += "\n</details>\n\n";
            if self.out.len() + fold.len() <= self.room_end {
                self.out += &fold;
            }
        }
    }
}

fn row(report: &Report, benchmark: &BenchmarkReport, name: &str) -> String {
    let interval = summary::interval(benchmark);
    let change = summary::change_sign(benchmark);
    let exceeds = matches!(benchmark.verdict, Verdict::Regression | Verdict::Improvement);
    let change = if exceeds { format!("**{change}**") } else { change };
    let counts = summary::changed_counts(benchmark).map(|(unit, counts)| format!("{unit} {counts}"));
    let by_wall = summary::by_wall(benchmark).map(|change| format!("judged by CPU time; by wall time {change}"));
    let remarks = profile::culprit(report, &benchmark.id)
        .into_iter()
        .chain(counts)
        .chain(by_wall)
        .chain(summary::remarks(benchmark))
        .map(|remark| prose_cell(&shortened(&remark)));
    let words: Vec<String> = [summary::verdict_words(benchmark)].into_iter().chain(remarks).collect();
    format!(
        "| {} | {} | {change} | {interval} | {} | {} |\n",
        order::sign(&benchmark.verdict),
        cell(&cut_middle(name, NAME_WIDTH)),
        summary::times(benchmark),
        words.join("<br>"),
    )
}
