//! A plan as a document.

use duetbench_core::calibrate::{Obstacle, Proposal, Proposed};

use super::{Planned, json};
use crate::render::calibrate::words::{changes, origin, time};
use crate::render::document::{Block, Cells, Document, Line, Table, Title};
use crate::render::format::{detectable, duration, many, share};
use crate::render::names::Short;

const HEADINGS: [(&str, Cells); 7] = [
    ("benchmark", Cells::Name),
    ("builds", Cells::Number),
    ("forks of each", Cells::Number),
    ("slices of each", Cells::Number),
    ("time", Cells::Number),
    ("sees", Cells::Number),
    ("", Cells::Words),
];

/// A row per benchmark for spreadsheets.
const COLUMNS: &str = "package name sees \
    builds=design/builds forks_per_build=design/forks_per_build slices=design/slices takes_s=design/takes_s \
    minimal_detectable_change=design/minimal_detectable_change \
    needed_builds=needed/builds needed_forks_per_build=needed/forks_per_build needed_slices=needed/slices \
    needed_takes_s=needed/takes_s needed_minimal_detectable_change=needed/minimal_detectable_change";

/// The plan as a document.
pub fn document(planned: &Planned) -> Document {
    let summary = [Line::Sentence(summary(planned))];
    let warnings = warnings(planned).into_iter().map(Line::warning);
    let hints = hints(planned).into_iter().map(Line::hint);
    Document {
        title: Title { command: "duet calibrate", version: planned.duet_version.clone(), subject: title(planned) },
        blocks: vec![
            Block::Table(table(planned)),
            Block::Lines(summary.into_iter().chain(warnings).chain(hints).collect()),
        ],
        rows: Some(Table::of_objects(COLUMNS, planned.suite.benchmarks.iter().map(json::benchmark))),
        json: Some(json::json(planned)),
        go: None,
    }
}

/// The target, and the calibration behind the plan.
fn title(planned: &Planned) -> String {
    let target = &planned.target;
    let level = format!("{} confident, {} of the time", share(1.0 - target.level.alpha), share(target.level.power));
    let within = target.within_s.map_or_else(String::new, |within_s| format!(" within {}", time(within_s)));
    let instances = if target.instances > 1 { format!(" on {} instances", target.instances) } else { String::new() };
    format!("to see {} ({level}){within}{instances}, by {}", share(target.change), origin(&planned.made))
}

fn table(planned: &Planned) -> Table {
    let names = Short::of(planned.suite.benchmarks.iter().map(|b| &b.id));
    let mut table = Table::new(&HEADINGS);
    for proposed in &planned.suite.benchmarks {
        let mut row = vec![names.name(&proposed.id)];
        row.extend(proposed.design().map_or_else(Default::default, |design| cells(&design)));
        row.push(remark(proposed, planned));
        table.push(row);
    }
    table
}

fn cells(design: &Proposal) -> [String; 5] {
    [
        design.builds.to_string(),
        design.forks_per_build.to_string(),
        design.slices.to_string(),
        duration(design.takes_s),
        detectable(design.minimal_detectable_change),
    ]
}

/// Why a benchmark would not see the change, and what it would take.
fn remark(proposed: &Proposed, planned: &Planned) -> String {
    let seen = share(planned.target.change);
    match proposed.answer {
        Some(Ok(_)) => String::new(),
        None => "nobody knows: too few fork pairs in the calibration".to_owned(),
        Some(Err(Obstacle { needed: Some(needed), .. })) => {
            let Proposal { builds, forks_per_build, slices, takes_s, .. } = needed;
            format!("{seen} takes {}: {builds} × {forks_per_build} × {slices}", duration(takes_s))
        }
        Some(Err(Obstacle { needed: None, .. })) => {
            format!("{seen} cannot be had with any number of repetitions within reason")
        }
    }
}

/// The plan as a whole.
fn summary(planned: &Planned) -> String {
    let suite = &planned.suite;
    let (all, missed) = (suite.benchmarks.len(), suite.missed());
    let change = share(planned.target.change);
    let benchmarks = many(all, "benchmark", "benchmarks");
    let counts = if missed == 0 {
        format!("every benchmark would see {change}")
    } else {
        format!("{} of {benchmarks} would see {change}, {missed} would not", all - missed)
    };
    format!("{counts}; {} in all", duration(suite.takes_s))
}

fn warnings(planned: &Planned) -> Vec<String> {
    let changed = (!planned.changed.is_empty()).then(|| {
        let changes = changes(&planned.changed);
        format!("this is not the machine of the calibration ({changes}): `duet calibrate` again")
    });
    let elsewhere = (planned.target.instances > 1 && !planned.made.machine.is_fleet()).then(|| {
        "the calibration is of one machine, and does not know what instances differ by: `duet calibrate --on lambda` does"
            .to_owned()
    });
    changed.into_iter().chain(elsewhere).collect()
}

/// A target that can be reached where this one cannot, then the command that measures as planned.
fn hints(planned: &Planned) -> Vec<String> {
    let (suite, change) = (&planned.suite, share(planned.target.change));
    let mut hints = Vec::new();
    if suite.missed() > 0 {
        hints.push(what_would_do(planned, &change));
    }
    if suite.benchmarks.iter().any(|proposed| proposed.answer.is_none()) {
        let words = "benchmarks of which nobody knows need a longer calibration: raise `--forks` or `--budget` of `duet calibrate`";
        hints.push(words.to_owned());
    }
    match planned.command() {
        Some(command) => hints.push(format!("measure so with `{command}`")),
        None if suite.benchmarks.iter().any(|proposed| proposed.design().is_some()) => {
            hints.push("this is more than `duet compare` measures: ask for a larger `--see`".to_owned());
        }
        None => {}
    }
    hints
}

fn what_would_do(planned: &Planned, change: &str) -> String {
    let suite = &planned.suite;
    let instances = suite.instances_enough.map(|n| format!("`--instances {n}` would do"));
    let time = match (suite.enough_s, planned.target.within_s) {
        (Some(enough_s), Some(_)) => Some(format!("`--within {}` would do", time(enough_s.ceil()).replace(' ', ""))),
        _ => None,
    };
    match (time, instances) {
        (Some(time), Some(instances)) => format!("{time}, and so {instances}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => {
            format!(
                "no time shows {change} in all of them: a quieter machine (`duet doctor`) or a larger `--see` helps"
            )
        }
    }
}
