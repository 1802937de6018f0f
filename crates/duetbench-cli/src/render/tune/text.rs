//! The text format: a table for each recording, what is not stable, and what it comes to.

use std::collections::{HashMap, HashSet};

use duetbench_core::tune::TunedWarmUp;
use unicode_width::UnicodeWidthStr;

use super::grid::{self, Cell, Column, Group};
use super::words;
use crate::render::format::{duration, one_line, share, short_name};
use crate::render::palette::{Palette, paint};
use crate::render::table::left;
use crate::tuning::{Summary, TunedBenchmark, TunedMetric, TunedSource, Tuning};

/// The results for people. With a `width`, long names are cut in the middle as far as that makes a table fit.
#[must_use]
pub fn render(tuning: &Tuning, palette: &Palette, width: Option<usize>) -> String {
    let tool = paint(palette.strong, &format!("duet {}: tune", tuning.duet_version));
    let mut sections = vec![format!("{tool}\nstable: {}\n", words::rules(tuning))];
    for source in &tuning.sources {
        sections.push(match source.results.as_slice() {
            [result] => one_metric(source, result, palette, width),
            results => several_metrics(source, results, palette, width),
        });
    }
    if tuning.sources.len() > 1 {
        let heading = paint(palette.strong, &format!("total of {} recordings", tuning.sources.len()));
        let body = match tuning.totals().as_slice() {
            [(_, total)] => conclusion(total, palette),
            totals => {
                let rows: Vec<(&str, Summary)> = totals.iter().map(|(metric, total)| (metric.word(), *total)).collect();
                comparison(&rows, palette)
            }
        };
        sections.push(format!("{heading}\n{body}"));
    }
    sections.extend(plan(tuning, palette));
    sections.join("\n")
}

fn heading(source: &TunedSource, palette: &Palette) -> String {
    let name = paint(palette.strong, &one_line(&source.name));
    let legend = paint(palette.faint, &format!("configuration: {}", words::legend(source)));
    format!("{name}\n{legend}\n\n")
}

fn one_metric(source: &TunedSource, result: &TunedMetric, palette: &Palette, width: Option<usize>) -> String {
    let metric = result.metric.word();
    let mut groups = vec![
        Group { title: String::new(), columns: vec![Column::words("")] },
        Group { title: "full".into(), columns: vec![Column::words("configuration"), Column::numbers("time")] },
        Group {
            title: "chosen".into(),
            columns: vec![
                Column::words("configuration"),
                Column::numbers("time"),
                Column::numbers("saves"),
                Column::numbers(metric),
            ],
        },
    ];
    let warms_up = result.choices.iter().any(|tuned| tuned.warm_up.is_some());
    if warms_up {
        let columns = vec![Column::numbers("needed"), Column::numbers("by the harness")];
        groups.push(Group { title: "warm-up".into(), columns });
    }
    let cells = |tuned: &TunedBenchmark| {
        let warm_up = if warms_up { warm_up_cells(tuned) } else { Vec::new() };
        row(tuned, palette).into_iter().chain(warm_up).collect()
    };
    let rows = result.choices.iter().map(cells).collect();
    let mut out = heading(source, palette) + &grid::write(&groups, rows, palette, width) + "\n";
    out += &unstable(result, palette);
    out += &conclusion(&result.summary, palette);
    out + &warnings(source, palette)
}

fn row(tuned: &TunedBenchmark, palette: &Palette) -> Vec<Cell> {
    let choice = &tuned.choice;
    let style = if choice.stable { anstyle::Style::new() } else { palette.open };
    let saved = choice.chosen_s < choice.full_s;
    vec![
        Cell::plain(short_name(&choice.benchmark)),
        Cell::plain(words::configuration(&choice.full)),
        Cell::plain(duration(choice.full_s)),
        Cell::plain(words::configuration(&choice.chosen)),
        Cell::plain(duration(choice.chosen_s)),
        Cell::plain(if saved { words::saves(tuned.saving) } else { String::new() }),
        Cell { text: share(choice.stability), style },
    ]
}

/// The warm-up that a benchmark needs, and the one that its harness would have used.
fn warm_up_cells(tuned: &TunedBenchmark) -> Vec<Cell> {
    let cell = |words: fn(&TunedWarmUp) -> String| Cell::plain(tuned.warm_up.as_ref().map_or_else(String::new, words));
    vec![cell(words::warm_up), cell(words::harness_warm_up)]
}

/// Benchmarks that are not stable even in full, with what would be enough.
fn unstable(result: &TunedMetric, palette: &Palette) -> String {
    let rows: Vec<(String, &TunedBenchmark)> = result
        .choices
        .iter()
        .filter(|tuned| !tuned.choice.stable)
        .map(|tuned| (short_name(&tuned.choice.benchmark), tuned))
        .collect();
    let Some(width) = rows.iter().map(|(name, _)| name.width()).max() else { return String::new() };
    let mut out = format!("{}\n", paint(palette.open, "not stable even in full"));
    for (name, tuned) in rows {
        out += &format!("{}   {}\n", left(&name, width), words::enough(tuned.enough));
    }
    out + "\n"
}

/// Totals of a recording, or of all together.
fn conclusion(summary: &Summary, palette: &Palette) -> String {
    let mut out = format!("{}\n", paint(palette.strong, &words::counts(summary)));
    for (label, fact) in [("time:", words::time(summary)), ("result:", words::accuracy(summary))] {
        out += &format!("{} {fact}\n", paint(palette.faint, &left(label, "result:".len())));
    }
    out
}

fn several_metrics(source: &TunedSource, results: &[TunedMetric], palette: &Palette, width: Option<usize>) -> String {
    let columns = results.iter().map(|result| Column::words(result.metric.word())).collect();
    let groups = [
        Group { title: String::new(), columns: vec![Column::words("")] },
        Group { title: "full".into(), columns: vec![Column::words("configuration"), Column::numbers("time")] },
        Group { title: "chosen by".into(), columns },
    ];
    let by_name: Vec<HashMap<&str, &TunedBenchmark>> = results
        .iter()
        .map(|result| result.choices.iter().map(|tuned| (tuned.choice.benchmark.as_str(), tuned)).collect())
        .collect();
    let mut shown = HashSet::new();
    let all = results.iter().flat_map(|result| &result.choices);
    let rows = all.filter(|tuned| shown.insert(tuned.choice.benchmark.as_str())).map(|tuned| {
        let choice = &tuned.choice;
        let found = by_name.iter().map(|choices| {
            choices.get(choice.benchmark.as_str()).map_or_else(|| Cell::plain(""), |own| chosen(own, palette))
        });
        let first = [
            Cell::plain(short_name(&choice.benchmark)),
            Cell::plain(words::configuration(&choice.full)),
            Cell::plain(duration(choice.full_s)),
        ];
        first.into_iter().chain(found).collect()
    });
    let table = grid::write(&groups, rows.collect(), palette, width);
    let summaries: Vec<(&str, Summary)> = results.iter().map(|r| (r.metric.word(), r.summary)).collect();
    let out = heading(source, palette) + &table + "\n" + &comparison(&summaries, palette);
    out + &warnings(source, palette)
}

fn chosen(tuned: &TunedBenchmark, palette: &Palette) -> Cell {
    if tuned.choice.stable {
        Cell::plain(words::configuration(&tuned.choice.chosen))
    } else {
        Cell { text: "not stable".into(), style: palette.open }
    }
}

/// Totals of the metrics beside each other.
fn comparison(summaries: &[(&str, Summary)], palette: &Palette) -> String {
    let numbers = |headings: &[&str]| headings.iter().map(|heading| Column::numbers(*heading)).collect();
    let groups = [
        Group { title: String::new(), columns: vec![Column::words("")] },
        Group { title: "benchmarks".into(), columns: numbers(&["all", "stable", "reduced"]) },
        Group { title: "time".into(), columns: numbers(&["full", "reduced", "saves"]) },
        Group { title: "within".into(), columns: numbers(&["1%", "3%", "5%"]) },
    ];
    let row = |(metric, summary): &(&str, Summary)| {
        let accuracy = &summary.accuracy;
        let counts = [accuracy.benchmarks, summary.stable, summary.reduced()].map(|n| n.to_string());
        let times = [duration(accuracy.full_s), duration(accuracy.chosen_s), words::saves(accuracy.saving())];
        let within = words::shown(summary).map(|(_, n)| n.to_string());
        let cells = counts.into_iter().chain(times).chain(within).map(Cell::plain);
        [Cell::plain(*metric)].into_iter().chain(cells).collect()
    };
    grid::write(&groups, summaries.iter().map(row).collect(), palette, None)
}

/// Warnings from reading, and benchmarks that could not be tuned.
fn warnings(source: &TunedSource, palette: &Palette) -> String {
    let left_out = source.results.iter().flat_map(|result| &result.left_out);
    let mut said: Vec<String> = source.warnings.clone();
    for (benchmark, reason) in left_out {
        let words = format!("`{benchmark}` is left out: {reason}");
        if !said.contains(&words) {
            said.push(words);
        }
    }
    said.iter().map(|words| format!("{} {}\n", paint(palette.open, "warning:"), one_line(words))).collect()
}

/// Where the plan is, and how it is used.
fn plan(tuning: &Tuning, palette: &Palette) -> Option<String> {
    let file = tuning.plan_file.as_ref()?;
    let hint = paint(palette.hint, "hint:");
    let command = format!("duet compare --plan {}", crate::render::command_line::quote(file));
    Some(format!("plan: {}\n{hint} commit the plan, and measure as it says with `{command}`\n", one_line(file)))
}
