//! The results as a document: a table for each recording, what is not stable, and what it comes to.

use std::collections::{HashMap, HashSet};

use duetbench_core::tune::TunedWarmUp;

use super::{json, rows, words};
use crate::render::command_line::quote;
use crate::render::document::{Block, Cell, Cells, Column, Document, Group, Line, Table, Title, Tone};
use crate::render::format::{duration, many, share};
use crate::render::names::ShortOfFull;
use crate::tuning::{Summary, TunedBenchmark, TunedMetric, TunedSource, Tuning};

/// The results as a document.
pub fn document(tuning: &Tuning) -> Document {
    let rules = Block::Lines(vec![Line::Sentence(format!("stable: {}", words::rules(tuning)))]);
    let sources = tuning.sources.iter().flat_map(of_source);
    Document {
        title: Title { command: "duet tune", version: tuning.duet_version.clone(), subject: headline(tuning) },
        blocks: [rules].into_iter().chain(sources).chain(totals(tuning)).chain(plan(tuning)).collect(),
        rows: Some(rows::of(tuning)),
        json: Some(json::json(tuning)),
        go: None,
    }
}

/// The outcome in a sentence.
fn headline(tuning: &Tuning) -> String {
    match tuning.totals().as_slice() {
        [(_, total)] if total.accuracy.benchmarks > 0 => format!("{}; {}", words::counts(total), words::time(total)),
        [_] => "nothing was tuned".into(),
        totals => format!("{} beside each other", many(totals.len(), "metric", "metrics")),
    }
}

fn of_source(source: &TunedSource) -> Vec<Block> {
    let choices = source.results.iter().flat_map(|result| &result.choices);
    let short = &ShortOfFull::of(choices.map(|tuned| tuned.choice.benchmark.as_str()));
    let legend = Line::Small("configuration", words::legend(source));
    let package = short.common().map(|package| Line::Small("package", package.to_owned()));
    let mut blocks =
        vec![Block::Lines([Line::Heading(source.name.clone()), legend].into_iter().chain(package).collect())];
    match source.results.as_slice() {
        [result] => {
            blocks.push(Block::Table(of_metric(result, short)));
            blocks.extend(unstable(result, short).map(Block::Table));
            let summary = &result.summary;
            let heading = Line::Heading(words::counts(summary));
            blocks.push(Block::Lines([heading].into_iter().chain(facts(summary)).chain(warnings(source)).collect()));
        }
        results => {
            blocks.push(Block::Table(of_metrics(results, short)));
            blocks.push(Block::Table(summaries(results.iter().map(|r| (r.metric.word(), &r.summary)))));
            blocks.push(Block::Lines(warnings(source)));
        }
    }
    blocks
}

/// Results by one metric.
fn of_metric(result: &TunedMetric, short: &ShortOfFull) -> Table {
    let chosen = [
        Column::words("configuration"),
        Column::numbers("time"),
        Column::numbers("saves"),
        Column::numbers(result.metric.word()),
    ];
    let mut groups = vec![names(), full(), Group { title: "chosen".into(), columns: chosen.into() }];
    let warms_up = result.choices.iter().any(|tuned| tuned.warm_up.is_some());
    if warms_up {
        let columns = vec![Column::numbers("needed"), Column::numbers("by the harness")];
        groups.push(Group { title: "warm-up".into(), columns });
    }
    let mut table = Table::grouped(groups).folded(named(result));
    for tuned in &result.choices {
        let warm_up = if warms_up { warm_up_cells(tuned).to_vec() } else { Vec::new() };
        table.push(row(tuned, short).into_iter().chain(warm_up));
    }
    table
}

fn names() -> Group {
    Group { title: String::new(), columns: vec![Column::new("benchmark", Cells::Name)] }
}

fn full() -> Group {
    Group { title: "full".into(), columns: vec![Column::words("configuration"), Column::numbers("time")] }
}

fn named(result: &TunedMetric) -> String {
    format!("{}, by {}", many(result.choices.len(), "benchmark", "benchmarks"), result.metric.word())
}

fn row(tuned: &TunedBenchmark, short: &ShortOfFull) -> [Cell; 7] {
    let choice = &tuned.choice;
    let tone = if choice.stable { Tone::Plain } else { Tone::Open };
    let saved = choice.chosen_s < choice.full_s;
    [
        short.name(&choice.benchmark).into(),
        words::configuration(&choice.full).into(),
        duration(choice.full_s).into(),
        words::configuration(&choice.chosen).into(),
        duration(choice.chosen_s).into(),
        if saved { words::saves(tuned.saving) } else { String::new() }.into(),
        Cell::toned(share(choice.stability), tone),
    ]
}

/// The warm-up that a benchmark needs, and the one that its harness would have used.
fn warm_up_cells(tuned: &TunedBenchmark) -> [Cell; 2] {
    let cell = |words: fn(&TunedWarmUp) -> String| tuned.warm_up.as_ref().map_or_else(String::new, words).into();
    [cell(words::warm_up), cell(words::harness_warm_up)]
}

/// Benchmarks that are not stable even in full, with what would be enough.
fn unstable(result: &TunedMetric, short: &ShortOfFull) -> Option<Table> {
    let mut table = Table::new(&[("not stable even in full", Cells::Name), ("", Cells::Words)]);
    for tuned in result.choices.iter().filter(|tuned| !tuned.choice.stable) {
        table.push([short.name(&tuned.choice.benchmark), words::enough(tuned.enough)]);
    }
    (!table.is_empty()).then_some(table)
}

/// Time and accuracy of a recording, or of all together; where nothing was reduced nothing could become inaccurate.
fn facts(summary: &Summary) -> Vec<Line> {
    let accuracy = (summary.reduced() > 0).then(|| Line::Small("result", words::accuracy(summary)));
    [Line::Small("time", words::time(summary))].into_iter().chain(accuracy).collect()
}

/// Results by several metrics beside each other.
fn of_metrics(results: &[TunedMetric], short: &ShortOfFull) -> Table {
    let metrics = results.iter().map(|result| Column::words(result.metric.word())).collect();
    let mut table = Table::grouped(vec![names(), full(), Group { title: "chosen by".into(), columns: metrics }]);
    let by_name: Vec<HashMap<&str, &TunedBenchmark>> = results
        .iter()
        .map(|result| result.choices.iter().map(|tuned| (tuned.choice.benchmark.as_str(), tuned)).collect())
        .collect();
    let mut shown = HashSet::new();
    let all = results.iter().flat_map(|result| &result.choices);
    for TunedBenchmark { choice, .. } in all.filter(|tuned| shown.insert(tuned.choice.benchmark.as_str())) {
        let first = [short.name(&choice.benchmark), words::configuration(&choice.full), duration(choice.full_s)]
            .map(Cell::from);
        let own = by_name.iter().map(|choices| choices.get(choice.benchmark.as_str()).copied());
        table.push(first.into_iter().chain(own.map(|own| own.map_or_else(Cell::default, chosen))));
    }
    table
}

fn chosen(tuned: &TunedBenchmark) -> Cell {
    if tuned.choice.stable {
        words::configuration(&tuned.choice.chosen).into()
    } else {
        Cell::toned("not stable", Tone::Open)
    }
}

/// Totals of the metrics beside each other.
fn summaries<'a>(metrics: impl Iterator<Item = (&'static str, &'a Summary)>) -> Table {
    let group =
        |title: &str, headings: [&str; 3]| Group { title: title.into(), columns: headings.map(Column::numbers).into() };
    let first = Group { title: String::new(), columns: vec![Column::words("")] };
    let mut table = Table::grouped(vec![
        first,
        group("benchmarks", ["all", "stable", "reduced"]),
        group("time", ["full", "reduced", "saves"]),
        group("within", ["1%", "3%", "5%"]),
    ]);
    for (metric, summary) in metrics {
        let accuracy = &summary.accuracy;
        let counts = [accuracy.benchmarks, summary.stable, summary.reduced()].map(|n| n.to_string());
        let times = [duration(accuracy.full_s), duration(accuracy.chosen_s), words::saves(accuracy.saving())];
        let reduced = summary.reduced() > 0;
        let within = words::shown(summary).map(|(_, n)| if reduced { n.to_string() } else { String::new() });
        table.push([metric.to_owned()].into_iter().chain(counts).chain(times).chain(within));
    }
    table
}

/// The recordings together, where there are several.
fn totals(tuning: &Tuning) -> Vec<Block> {
    let recordings = tuning.sources.len();
    if recordings < 2 {
        return Vec::new();
    }
    let heading = format!("total of {recordings} recordings");
    match tuning.totals().as_slice() {
        [(_, total)] => {
            let heading = Line::Heading(format!("{heading}: {}", words::counts(total)));
            vec![Block::Lines([heading].into_iter().chain(facts(total)).collect())]
        }
        totals => {
            let table = summaries(totals.iter().map(|(metric, total)| (metric.word(), total)));
            vec![Block::Lines(vec![Line::Heading(heading)]), Block::Table(table)]
        }
    }
}

/// Warnings from reading, and benchmarks that could not be tuned.
fn warnings(source: &TunedSource) -> Vec<Line> {
    let left_out = source.results.iter().flat_map(|result| &result.left_out);
    let mut said: Vec<String> = source.warnings.clone();
    for (benchmark, reason) in left_out {
        let words = format!("`{benchmark}` is left out: {reason}");
        if !said.contains(&words) {
            said.push(words);
        }
    }
    said.into_iter().map(Line::warning).collect()
}

/// The plan's file and its use.
fn plan(tuning: &Tuning) -> Option<Block> {
    let file = tuning.plan_file.as_ref()?;
    let hint = format!("commit the plan, and measure as it says with `duet compare --plan {}`", quote(file));
    Some(Block::Lines(vec![Line::Sentence(format!("plan: {file}")), Line::hint(hint)]))
}
