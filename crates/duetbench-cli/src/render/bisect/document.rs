//! The result as a document: the commits that made it slower, the other benchmarks, and every comparison.

use std::collections::BTreeMap;

use super::json;
use duetbench_core::BenchmarkId;

use crate::bisection::{Answer, Bisection, Commit, Found, Inside, Regressed, Shown, Skipped, Sought};
use crate::render::document::{Block, Cell, Cells, Document, Line, Table, Title, Tone};
use crate::render::format::{benchmarks, change, duration, failure_in_one_line, first_line, many, share, short_name};

/// Most commits of a plan that are listed one by one.
const LISTED_MAX: usize = 30;

/// Columns of every comparison for spreadsheets.
const COLUMNS: &str = "run base head benchmark ratio pairs took_s measured_s";

/// The result as a document.
pub fn document(bisection: &Bisection) -> Document {
    let of_each = bisection.sought.iter().flat_map(|sought| of_benchmark(bisection, sought));
    let rest = [others(bisection), comparisons(bisection)].into_iter().flatten();
    Document {
        title: Title { command: "duet bisect", version: bisection.duet_version.clone(), subject: headline(bisection) },
        blocks: of_each.chain([Block::Lines(facts(bisection))]).chain(rest).collect(),
        rows: Some(Table::of_objects(COLUMNS, json::compared(bisection))),
        json: Some(json::json(bisection)),
        go: None,
    }
}

/// The answers in a sentence.
fn headline(bisection: &Bisection) -> String {
    let all: Vec<String> = bisection.sought.iter().map(|sought| answer(bisection, sought)).collect();
    match bisection.redefined.len() {
        _ if !all.is_empty() => all.join("; "),
        0 => of_ends(bisection),
        several => {
            let is = if several == 1 {
                "is slower in the bad commit, but is another one there"
            } else {
                "are slower in the bad commit, but are others there"
            };
            format!("{} {is}", benchmarks(several))
        }
    }
}

/// The answer where nothing regressed.
fn of_ends(bisection: &Bisection) -> String {
    let ends = &bisection.ends;
    if ends.are_unusable() {
        return format!("the end points cannot be compared: {} failed", benchmarks(ends.failed.len()));
    }
    if !ends.open.is_empty() {
        let (open, all) = (ends.open.len(), benchmarks(ends.all));
        return format!("cannot tell yet whether anything is slower in the bad commit: {open} of {all} undecided");
    }
    let more = if ends.tolerated.is_empty() {
        String::new()
    } else {
        format!(" by more than the tolerated {}", share(ends.tolerance))
    };
    format!("nothing is slower in the bad commit{more}")
}

fn answer(bisection: &Bisection, sought: &Sought) -> String {
    let name = short_name(&sought.benchmark);
    let is = change(sought.ratio);
    match &sought.answer {
        Answer::Steps(steps) => match &named(sought)[..] {
            [step] if step.hidden.is_empty() => {
                let short = bisection.commits[step.culprit].short();
                let merge = steps.iter().find(|merge| merge.inner().contains(step));
                let inside =
                    merge.map(|merge| format!(", inside the merge `{}`,", bisection.commits[merge.culprit].short()));
                format!("`{short}`{} made {name} slower: {}", inside.unwrap_or_default(), change(step.ratio))
            }
            [step] => format!("one of {} made {name} slower: {}", range(bisection, step), change(step.ratio)),
            all => format!("{} made {name} what it is", many(all.len(), "commit", "commits")),
        },
        Answer::NotSlower => {
            format!("{name} is not slower after all: what the first comparison found was gone in the next ones")
        }
        Answer::CannotTell(left) => {
            format!("{name} is {is}, and {} may have made it so", many(left.len(), "commit", "commits"))
        }
        Answer::Unusable(why) => format!("{name} is {is}, and cannot be searched: {}", failure_in_one_line(why)),
    }
}

/// The steps that are named: those that slow by more than the threshold, or all where none does by itself.
fn named(sought: &Sought) -> Vec<&Found> {
    let all = sought.answer.innermost();
    let large: Vec<&Found> = all.iter().copied().filter(|step| step.ratio > 1.0 + sought.threshold).collect();
    if large.is_empty() { all } else { large }
}

/// The commits that cannot be told from each other since some cannot be built.
fn range(bisection: &Bisection, step: &Found) -> String {
    let all = step.hidden.iter().chain([&step.culprit]);
    let names: Vec<&str> = all.map(|&at| bisection.commits[at].short()).collect();
    format!("`{}`", names.join("`, `"))
}

/// The answer by one benchmark.
fn of_benchmark(bisection: &Bisection, sought: &Sought) -> Vec<Block> {
    let several = bisection.sought.len() > 1;
    let heading = several.then(|| Block::Lines(vec![Line::Heading(short_name(&sought.benchmark))]));
    let words = words(bisection, sought);
    let words = (!words.is_empty()).then_some(Block::Lines(words));
    [heading, steps(bisection, &sought.answer), words].into_iter().flatten().collect()
}

fn steps(bisection: &Bisection, answer: &Answer) -> Option<Block> {
    let Answer::Steps(steps) = answer else { return None };
    let mut table = Table::new(&[
        ("commit", Cells::Words),
        ("change", Cells::Number),
        ("sure", Cells::Number),
        ("run", Cells::Words),
        ("subject", Cells::Name),
    ]);
    for (depth, step) in with_inner(steps, 0) {
        let culprit = &bisection.commits[step.culprit];
        let first = step.hidden.first().map_or_else(String::new, |&at| format!("{} … ", bisection.commits[at].short()));
        table.push([
            Cell::from(format!("{}{first}{}", "▸ ".repeat(depth), culprit.short())),
            Cell::toned(change(step.ratio), if step.ratio > 1.0 { Tone::Bad } else { Tone::Plain }),
            share(step.probability.min(0.9999)).into(),
            step.run.clone().unwrap_or_default().into(),
            first_line(&culprit.subject).into(),
        ]);
    }
    Some(Block::Table(table))
}

/// Steps with those inside of each behind it, and the number of merges around.
fn with_inner<'a>(steps: &'a [Found], depth: usize) -> Vec<(usize, &'a Found)> {
    let inner = |inside: &'a Inside| match &inside.answer {
        Answer::Steps(steps) => with_inner(steps, depth + 1),
        Answer::NotSlower | Answer::CannotTell(_) | Answer::Unusable(_) => Vec::new(),
    };
    let all = |step: &'a Found| std::iter::once((depth, step)).chain(step.inside.iter().flat_map(inner));
    steps.iter().flat_map(all).collect()
}

/// The rest that is to be said of an answer.
fn words(bisection: &Bisection, sought: &Sought) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Answer::Steps(steps) = &sought.answer {
        for (_, step) in with_inner(steps, 0) {
            if !step.hidden.is_empty() {
                let range = range(bisection, step);
                lines.push(Line::warning(format!(
                    "some of {range} cannot be compared, so which of them it is cannot be told"
                )));
            } else if bisection.commits[step.culprit].merges() && step.ratio > 1.0 {
                lines.extend(of_merge(bisection, sought.threshold, step));
            }
        }
        let found: f64 = steps.iter().map(|step| step.ratio).product();
        let rest = sought.ratio / found;
        if (rest - 1.0).abs() >= sought.threshold {
            lines.push(Line::Sentence(format!("a further {} between the end points is not located", change(rest))));
        }
        let innermost = sought.answer.innermost();
        let with =
            |step: &Found| if step.hidden.is_empty() { "the parent" } else { "the last one before them that can be" };
        let db = &bisection.store_typed;
        let of_run = |step: &&Found| {
            Some(format!("`duet show {}{db}` is the comparison with {}", step.run.as_ref()?, with(step)))
        };
        lines.extend(innermost.iter().filter_map(of_run).map(Line::hint));
    }
    if let Answer::CannotTell(left) = &sought.answer {
        lines.extend(left_over(bisection, left, ""));
    }
    lines
}

/// The merge itself, where it was not told which commit inside it is.
fn of_merge(bisection: &Bisection, threshold: f64, step: &Found) -> Vec<Line> {
    let short = |at: usize| bisection.commits[at].short();
    let merge = short(step.culprit);
    if step.inside.is_empty() {
        let mut lines = vec![Line::Sentence(format!("`{merge}` is a merge, and was not searched inside"))];
        lines.extend(bisection.first_parent.then(|| Line::hint("without `--first-parent` it is")));
        return lines;
    }
    let mut lines = Vec::new();
    for inside in &step.inside {
        let (base, tip) = (short(inside.base), short(inside.tip));
        match &inside.answer {
            Answer::Steps(_) => {}
            Answer::NotSlower => {
                let alone = inside.ratio.map_or_else(|| "no slower".into(), change);
                lines.push(Line::Sentence(format!(
                    "no commit inside the merge `{merge}` makes it, but the merge itself: `{tip}`, the last of them, is {alone} against \
                     `{base}`, where they begin"
                )));
            }
            Answer::CannotTell(left) => {
                lines.extend(left_over(bisection, left, &format!("inside the merge `{merge}` ")))
            }
            Answer::Unusable(why) => lines.push(Line::warning(format!(
                "the merge `{merge}` cannot be searched inside, since `{tip}` and `{base}` cannot be compared: {}",
                failure_in_one_line(why)
            ))),
        }
    }
    let inner: f64 = step.inner().iter().map(|inner| inner.ratio).product();
    let rest = step.ratio / inner;
    if inner > 1.0 && (rest - 1.0).abs() >= threshold {
        lines.push(Line::Sentence(format!("a further {} comes of the merge `{merge}` itself", change(rest))));
    }
    lines
}

/// Commits that may have made it, where that cannot be told.
fn left_over(bisection: &Bisection, left: &[usize], place: &str) -> Vec<Line> {
    let short = |at: Option<&usize>| at.map_or("", |&at| bisection.commits[at].short());
    let (first, last) = (short(left.first()), short(left.last()));
    let hint = if bisection.out_of_budget {
        "the same command with a longer `--budget` goes on from here"
    } else {
        "more of the same would not tell: compare these commits by hand with `duet compare`"
    };
    let words = format!("{place}it came with one of `{first}` … `{last}`, as far as is known");
    vec![Line::Sentence(words), Line::hint(hint)]
}

fn facts(bisection: &Bisection) -> Vec<Line> {
    let mut lines = Vec::new();
    if !bisection.redefined.is_empty() {
        let names: Vec<String> = bisection.redefined.iter().map(|name| format!("`{}`", short_name(name))).collect();
        lines.push(Line::warning(format!(
            "these benchmarks changed themselves, so that their times do not tell of the code: {}",
            names.join(", ")
        )));
        lines.push(Line::hint(
            "`--benchmarks-from head` measures the bad commit's benchmarks in all commits, `--same-benchmarks` takes them for the same",
        ));
    }
    lines.extend(about_ends(bisection));
    if let Some(detects) = bisection.detects.filter(|_| bisection.ends.open.is_empty()) {
        let all = if bisection.redefined.is_empty() { "every benchmark" } else { "every other benchmark" };
        lines.push(Line::Sentence(format!(
            "a slowdown of {} would have been found in {all} in 80 % of cases",
            share(detects)
        )));
        lines.push(Line::hint("a longer `--budget`, or more `--forks`, sees smaller ones"));
    }
    let left_out = |one: &Skipped| {
        let short = bisection.commits[one.commit].short();
        Line::warning(format!("`{short}` is left out: {}", one.why))
    };
    lines.extend(bisection.skipped.iter().map(left_out));
    lines
}

/// Benchmarks that did not regress between the end points, and are not shown to be no slower either.
fn about_ends(bisection: &Bisection) -> Vec<Line> {
    let ends = &bisection.ends;
    let named = |ids: &[BenchmarkId]| {
        let names: Vec<String> = ids.iter().map(|id| format!("`{}`", short_name(&id.name))).collect();
        names.join(", ")
    };
    let run = bisection.compared.first().and_then(|shown| shown.compared.of.run.as_ref());
    let look = run.map(|run| Line::hint(format!("`duet show {run}{}` tells why", bisection.store_typed)));
    let mut lines = Vec::new();
    if !ends.failed.is_empty() {
        lines.push(Line::warning(format!("failed: {}", named(&ends.failed))));
        lines.extend(look);
    }
    if !ends.open.is_empty() {
        lines.push(Line::Sentence(format!("undecided: {}", named(&ends.open))));
        lines.push(Line::hint("a longer `--budget`, or more `--forks`, compares the end points anew"));
    }
    for Regressed { id, ratio } in &ends.tolerated {
        let name = short_name(&id.name);
        lines.push(Line::Sentence(format!("`{name}` is slower, which is tolerated: {}", change(*ratio))));
    }
    if !ends.tolerated.is_empty() {
        lines.push(Line::hint("a lower `--threshold` has such changes searched, too"));
    }
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
            Some(false) => "no, and not yet searched",
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
        let [base, head] = [compared.of.pair.base, compared.of.pair.head].map(|at| &bisection.commits[at]);
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

/// The commits that would be searched with the number of those inside their merges, and the build pairs that are expected for changes of
/// some sizes, percent.
pub fn plan(commits: &[Commit], inside: usize, forecast: &BTreeMap<u32, f64>) -> Document {
    let last = commits.len() - 1;
    let mut list = Table::new(&[("commit", Cells::Words), ("", Cells::Words), ("subject", Cells::Name)]);
    let shown = |at: usize| last < LISTED_MAX || at == 0 || at == last;
    for (at, commit) in commits.iter().enumerate().filter(|(at, _)| shown(*at)) {
        let role = match at {
            0 => "good",
            _ if at == last => "bad",
            _ if commit.merges() => "merge",
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
        rows.push([commit.id.clone(), first_line(&commit.subject), commit.merges().to_string()]);
    }
    let words = "expected where build pairs of equal code spread by 3.7 %; those of most benchmarks spread less. A build pair takes about a \
                 second in Go, and each of about log₂ of the commits is built once";
    let mut words = vec![Line::Small("", words.into())];
    if inside > 0 {
        let inside = many(inside, "commit is", "commits are");
        words.push(Line::Small(
            "",
            format!("{inside} inside merges: they are searched if the merge is the one, and add to this"),
        ));
    }
    let subject = format!("{} to search, nothing measured", many(last, "commit", "commits"));
    Document {
        title: Title { command: "duet bisect", version: env!("CARGO_PKG_VERSION").into(), subject },
        blocks: vec![Block::Table(list), Block::Table(expected), Block::Lines(words)],
        rows: Some(rows),
        json: Some(json::plan(commits, inside, forecast)),
        go: None,
    }
}
