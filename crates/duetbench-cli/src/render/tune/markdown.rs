//! The Markdown format: a comment on a pull request that commits a plan, or a job summary.

use super::words;
use crate::render::format::{duration, many, share, short_name, shortened};
use crate::render::markdown::{LENGTH_MAX, cell, code, prose, prose_cell};
use crate::tuning::{Summary, TunedBenchmark, TunedMetric, TunedSource, Tuning};

/// Room for the end of the page.
const RESERVE: usize = 1024;

/// The results as Markdown, never longer than GitHub takes; rows that do not fit are left out from the end and counted.
#[must_use]
pub fn render(tuning: &Tuning) -> String {
    let totals = tuning.totals();
    let mut out = format!("### duet tune: {}\n\nstable: {}\n\n", headline(tuning), prose(&words::rules(tuning)));
    let mut page = Page { out: String::new(), room: LENGTH_MAX - RESERVE, left_out: 0 };
    if totals.len() > 1 || tuning.sources.len() > 1 {
        let rows: Vec<(String, Summary)> =
            totals.iter().map(|(metric, total)| (metric.word().into(), *total)).collect();
        out += &summaries("all", &rows);
    }
    page.out = out;
    for source in &tuning.sources {
        page.source(source);
    }
    if page.left_out > 0 {
        let rows = many(page.left_out, "row is", "rows are");
        page.out += &format!("{rows} left out here for lack of space; `--format json` has all.\n\n");
    }
    if let Some(file) = &tuning.plan_file {
        page.out += &format!("plan: {}\n", code(&shortened(file)));
    }
    page.out
}

/// The outcome in a sentence.
fn headline(tuning: &Tuning) -> String {
    match tuning.totals().as_slice() {
        [(_, total)] if total.accuracy.benchmarks > 0 => format!("{}; {}", words::counts(total), words::time(total)),
        [_] => "nothing was tuned".into(),
        totals => format!("{} beside each other", many(totals.len(), "metric", "metrics")),
    }
}

/// A table with the totals of several metrics or recordings.
fn summaries(first: &str, rows: &[(String, Summary)]) -> String {
    let mut out = format!(
        "| {first} | benchmarks | stable | reduced | full | reduced to | saves | within 1% | 3% | 5% |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for (name, summary) in rows {
        let accuracy = &summary.accuracy;
        let within: Vec<String> = words::shown(summary).map(|(_, n)| n.to_string()).collect();
        out += &format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |\n",
            accuracy.benchmarks,
            summary.stable,
            summary.reduced(),
            duration(accuracy.full_s),
            duration(accuracy.chosen_s),
            words::saves(accuracy.saving()),
            within.join(" | "),
        );
    }
    out + "\n"
}

/// A page that is being written, and the length in bytes up to which it may grow.
struct Page {
    out: String,
    room: usize,
    left_out: usize,
}

impl Page {
    fn source(&mut self, source: &TunedSource) {
        let rows: Vec<(String, Summary)> =
            source.results.iter().map(|result| (result.metric.word().into(), result.summary)).collect();
        self.push(&format!(
            "**{}**, configuration: {}\n\n{}",
            prose(&shortened(&source.name)),
            words::legend(source),
            summaries("metric", &rows)
        ));
        for words in &source.warnings {
            self.push(&format!("**Warning:** {}\n\n", prose(&shortened(words))));
        }
        for result in &source.results {
            self.table(result);
        }
    }

    fn table(&mut self, result: &TunedMetric) {
        let metric = result.metric.word();
        let before = self.out.len();
        self.push(&format!(
            "<details><summary>{}, by {metric}</summary>\n\n| benchmark | full | | chosen | | saves | {metric} | |\n|---|---|--:|---|--:|--:|--:|---|\n",
            many(result.choices.len(), "benchmark", "benchmarks"),
        ));
        let opened = self.out.len() > before;
        for tuned in &result.choices {
            self.push(&row(tuned));
        }
        for (benchmark, reason) in &result.left_out {
            let reason = prose_cell(&shortened(reason));
            self.push(&format!("| {} | | | | | | | left out: {reason} |\n", cell(&short_name(benchmark))));
        }
        if opened {
            self.out += "\n</details>\n\n";
        }
    }

    /// Adds a piece, or counts it as left out; once one is left out, all that follow are.
    fn push(&mut self, piece: &str) {
        if self.left_out == 0 && self.out.len() + piece.len() <= self.room {
            self.out += piece;
        } else {
            self.left_out += 1;
        }
    }
}

fn row(tuned: &TunedBenchmark) -> String {
    let choice = &tuned.choice;
    let unstable = (!choice.stable).then(|| format!("not stable: {}", words::enough(tuned.enough)));
    let warm_up = tuned.warm_up.map(|found| {
        format!("warm-up: {} needed, {} by the harness", words::warm_up(&found), words::harness_warm_up(&found))
    });
    let remark = unstable.into_iter().chain(warm_up).collect::<Vec<_>>().join("; ");
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {remark} |\n",
        cell(&short_name(&choice.benchmark)),
        words::configuration(&choice.full),
        duration(choice.full_s),
        words::configuration(&choice.chosen),
        duration(choice.chosen_s),
        words::saves(tuned.saving),
        share(choice.stability),
    )
}
