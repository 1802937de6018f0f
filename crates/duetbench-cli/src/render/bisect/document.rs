//! The result as a document: the commits that made it slower, the other benchmarks, and every comparison.

use std::collections::BTreeMap;

use super::json;
use crate::bisection::{Answer, Bisection, Commit, Found, Shown};
use crate::render::document::{Block, Cell, Cells, Document, Line, Table, Title, Tone};
use crate::render::format::{change, duration, first_line, many, share, short_name};

/// Most commits of a plan that are listed one by one.
const LISTED_MAX: usize = 30;

/// The result as a document.
#[must_use]
pub fn document(bisection: &Bisection) -> Document {
    let blocks = [steps(bisection), Some(Block::Lines(facts(bisection))), others(bisection), comparisons(bisection)];
    Document {
        title: Title { command: "duet bisect", version: bisection.duet_version.clone(), subject: headline(bisection) },
        blocks: blocks.into_iter().flatten().collect(),
        rows: Some(rows(bisection)),
        json: Some(json::json(bisection)),
        go: None,
    }
}

/// The answer in a sentence.
fn headline(bisection: &Bisection) -> String {
    let commits = &bisection.commits;
    let name = short_name(bisection.benchmark.as_deref().unwrap_or_default());
    match &bisection.answer {
        Answer::Steps(steps) => match &steps[..] {
            [step] if step.culprit - step.parent == 1 => {
                format!("`{}` made {name} slower: {}", commits[step.culprit].short(), change(step.ratio))
            }
            [step] => format!("one of {} made {name} slower: {}", range(bisection, step), change(step.ratio)),
            steps => format!("{} made {name} what it is", many(steps.len(), "commit", "commits")),
        },
        Answer::NothingSlower => "nothing is slower in the bad commit".into(),
        Answer::Gone => {
            format!("{name} is not slower after all: what the first comparison found was gone in the next ones")
        }
        Answer::CannotTell { first, last } => {
            let left = many(last - first + 1, "commit", "commits");
            format!("{name} is {}, and {left} may have made it so", change(bisection.ratio.unwrap_or(f64::NAN)))
        }
    }
}

/// The commits that cannot be told from each other since some cannot be built.
fn range(bisection: &Bisection, step: &Found) -> String {
    let names: Vec<&str> = bisection.commits[step.parent + 1..=step.culprit].iter().map(Commit::short).collect();
    format!("`{}`", names.join("`, `"))
}

fn steps(bisection: &Bisection) -> Option<Block> {
    let Answer::Steps(steps) = &bisection.answer else { return None };
    let mut table = Table::new(&[
        ("commit", Cells::Words),
        ("change", Cells::Number),
        ("sure", Cells::Number),
        ("run", Cells::Words),
        ("subject", Cells::Name),
    ]);
    for step in steps {
        let culprit = &bisection.commits[step.culprit];
        table.push([
            Cell::from(culprit.short()),
            Cell::toned(change(step.ratio), if step.ratio > 1.0 { Tone::Bad } else { Tone::Plain }),
            share(step.probability.min(0.9999)).into(),
            step.run.clone().unwrap_or_default().into(),
            first_line(&culprit.subject).into(),
        ]);
    }
    Some(Block::Table(table))
}

fn facts(bisection: &Bisection) -> Vec<Line> {
    let mut lines = Vec::new();
    let commits = &bisection.commits;
    if let Answer::Steps(steps) = &bisection.answer {
        for step in steps.iter().filter(|step| step.culprit - step.parent > 1) {
            let range = range(bisection, step);
            lines.push(Line::warning(format!(
                "some of {range} cannot be compared, so which of them it is cannot be told"
            )));
        }
        for step in steps.iter().filter(|step| commits[step.culprit].merges) {
            let short = commits[step.culprit].short();
            lines.push(Line::Sentence(format!("`{short}` is a merge, and the commits inside were not searched")));
            lines.push(Line::Command(format!("duet bisect {short}^1 {short}^2")));
        }
        let found: f64 = steps.iter().map(|step| step.ratio).product();
        let rest = bisection.ratio.map_or(1.0, |all| all / found);
        if (rest - 1.0).abs() >= bisection.threshold {
            lines.push(Line::Sentence(format!("{} of the change between the end points is not located", change(rest))));
        }
        let runs = steps.iter().filter_map(|step| step.run.as_ref());
        lines.extend(runs.map(|run| Line::hint(format!("`duet show {run}` is the comparison with the parent"))));
    }
    if let Answer::CannotTell { first, last } = bisection.answer {
        let (first, last) = (commits[first].short(), commits[last].short());
        lines.push(Line::Sentence(format!("it came with one of `{first}` … `{last}`, as far as is known")));
        lines.push(Line::hint(if bisection.out_of_budget {
            "the same command with a longer `--budget` goes on from here"
        } else {
            "more of the same would not tell: compare these commits by hand with `duet compare`"
        }));
    }
    if let Some(detects) = bisection.detects {
        lines.push(Line::Sentence(format!(
            "a slowdown of {} would have been found in every benchmark in 80 % of cases",
            share(detects)
        )));
        lines.push(Line::hint("a longer `--budget` sees smaller ones"));
    }
    let left_out =
        |(at, why): (&usize, &String)| Line::warning(format!("`{}` is left out: {why}", commits[*at].short()));
    lines.extend(bisection.skipped.iter().map(left_out));
    lines
}

fn others(bisection: &Bisection) -> Option<Block> {
    let mut table = Table::new(&[
        ("also slower", Cells::Name),
        ("in all", Cells::Number),
        ("by this", Cells::Number),
        ("explained", Cells::Words),
    ]);
    for other in &bisection.others {
        let explained = match other.is_explained() {
            Some(true) => "yes",
            Some(false) => "no: search it with `--bench`",
            None => "?",
        };
        let by_this = other.ratio_of_steps.map_or_else(String::new, change);
        table.push([short_name(&other.name), change(other.ratio), by_this, explained.to_owned()]);
    }
    (!table.is_empty()).then_some(Block::Table(table))
}

fn comparisons(bisection: &Bisection) -> Option<Block> {
    let mut table = Table::new(&[
        ("run", Cells::Words),
        ("base", Cells::Words),
        ("head", Cells::Words),
        ("change", Cells::Number),
        ("pairs", Cells::Number),
        ("time", Cells::Number),
        ("subject", Cells::Name),
    ])
    .folded(many(bisection.compared.len(), "comparison", "comparisons"));
    for Shown { compared, ratio } in &bisection.compared {
        let [base, head] = [compared.of.base, compared.of.head].map(|at| &bisection.commits[at]);
        let proven = compared.of.run.is_none();
        table.push([
            compared.of.run.clone().unwrap_or_default(),
            base.short().to_owned(),
            head.short().to_owned(),
            if proven { "same code".into() } else { ratio.map_or_else(String::new, change) },
            if proven { String::new() } else { compared.pairs.to_string() },
            duration(compared.took_s),
            first_line(&head.subject),
        ]);
    }
    (!table.is_empty()).then_some(Block::Table(table))
}

/// Every comparison with numbers at full precision.
fn rows(bisection: &Bisection) -> Table {
    let mut table = Table::plain(&["run", "base", "head", "ratio", "pairs", "took_s", "measured_s"]);
    for Shown { compared, ratio } in &bisection.compared {
        let [base, head] = [compared.of.base, compared.of.head].map(|at| bisection.commits[at].id.clone());
        let numbers = [compared.pairs.to_string(), compared.took_s.to_string(), compared.measured_s.to_string()];
        let first = [compared.of.run.clone().unwrap_or_default(), base, head];
        let ratio = ratio.map_or_else(String::new, |ratio| ratio.to_string());
        table.push(first.into_iter().chain([ratio]).chain(numbers));
    }
    table
}

/// The commits that would be searched, and the build pairs that are expected for changes of some sizes, percent.
#[must_use]
pub fn plan(commits: &[Commit], forecast: &BTreeMap<u32, f64>) -> Document {
    let last = commits.len() - 1;
    let mut list = Table::new(&[("commit", Cells::Words), ("", Cells::Words), ("subject", Cells::Name)]);
    let shown = |at: usize| last < LISTED_MAX || at == 0 || at == last;
    for (at, commit) in commits.iter().enumerate().filter(|(at, _)| shown(*at)) {
        let role = match at {
            0 => "good",
            _ if at == last => "bad",
            _ if commit.merges => "merge",
            _ => "",
        };
        list.push([commit.short().to_owned(), role.to_owned(), first_line(&commit.subject)]);
    }
    let mut expected = Table::new(&[("change", Cells::Number), ("build pairs", Cells::Number)]);
    for (percent, pairs) in forecast {
        expected.push([format!("+{percent}%"), format!("{pairs:.0}")]);
    }
    let mut rows = Table::plain(&["commit", "subject", "merges"]);
    for commit in commits {
        rows.push([commit.id.clone(), first_line(&commit.subject), commit.merges.to_string()]);
    }
    let words = "expected where build pairs of equal code spread by 3.7 %; those of most benchmarks spread less. A build pair takes about a \
                 second in Go, and each of about log₂ of the commits is built once";
    let subject = format!("{} to search, nothing measured", many(last, "commit", "commits"));
    Document {
        title: Title { command: "duet bisect", version: env!("CARGO_PKG_VERSION").into(), subject },
        blocks: vec![Block::Table(list), Block::Table(expected), Block::Lines(vec![Line::Small("", words.into())])],
        rows: Some(rows),
        json: Some(json::plan(commits, forecast)),
        go: None,
    }
}
