//! Instructions of benchmarks beside their times, in words and for programs.

use duetbench_core::Report;
use duetbench_core::hotspot::Gain;
use duetbench_core::instructions::{
    BenchmarkInstructions, Direction, ExecutedCode, Explanation, FunctionCount, InstructionCounts, LayoutPart, Per,
};
use duetbench_core::report::BenchmarkReport;
use serde_json::{Value, json};

use super::format::{listed, many, one_line, share, shortened, trimmed};
use super::profile;

/// Functions that people are shown; `--format json` has more.
const SHOWN_MAX: usize = 5;
/// Share of all instructions from which on a collector is worth a word.
const COLLECTOR_MIN: f64 = 0.01;

/// The counts of every benchmark of a report that was counted, with its lines: the case that it is, then the functions.
pub(super) fn counted(report: &Report) -> impl Iterator<Item = (&BenchmarkInstructions, Vec<String>)> {
    report.instructions.iter().filter_map(|one| {
        let counts = one.counts()?;
        let benchmark = report.benchmark(&one.id)?;
        Some((one, lines(counts, benchmark, report)))
    })
}

/// The case that a benchmark is, in a line, where it was counted.
pub(super) fn case(report: &Report, benchmark: &BenchmarkReport) -> Option<String> {
    let counts = of(report, benchmark)?;
    Some(format!("{}: {}", both(counts), words(counts.beside(benchmark, report), counts)))
}

/// The counts of a benchmark, where it was counted.
pub(super) fn of<'a>(report: &'a Report, benchmark: &BenchmarkReport) -> Option<&'a InstructionCounts> {
    report.instructions_of(&benchmark.id)?.counts()
}

/// The lines of a benchmark that was counted: the case that it is, then the functions.
pub(super) fn lines(counts: &InstructionCounts, benchmark: &BenchmarkReport, report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = case(report, benchmark).into_iter().collect();
    if counts.baseline.collector.max(counts.candidate.collector) > COLLECTOR_MIN * counts.baseline.all {
        let [before, after] = [counts.baseline, counts.candidate].map(|side| amount(side.collector));
        lines.push(format!(
            "the garbage collector's are among them, because memory did not last without it: {before} → {after}"
        ));
    }
    lines.extend(counts.code.as_ref().map(executed));
    let changed = counts.direction() != Direction::Same;
    let shown = counts.functions.iter().take(if changed { SHOWN_MAX } else { 0 });
    lines.extend(shown.map(|found| function(found, counts, sampled(report, benchmark, &found.function))));
    lines
}

/// The code that was executed, in a line.
fn executed(code: &ExecutedCode) -> String {
    let functions = many(code.functions, "function", "functions");
    if code.differing == 0 {
        return format!("the {functions} that it executed are the same in both versions: seen, not proven");
    }
    let shown: Vec<String> = code.listed.iter().take(SHOWN_MAX).map(|name| shortened(&one_line(name))).collect();
    format!("of {functions} that it executed {} differ: {}", code.differing, listed(&shown, code.differing))
}

/// Both counts with their change.
fn both(counts: &InstructionCounts) -> String {
    let unit = match counts.per {
        Per::Invocation => "operation",
        Per::Process => "process, its start included",
    };
    let [before, after] = [counts.baseline, counts.candidate].map(|side| amount(side.all));
    format!("{before} → {after} instructions per {unit} ({})", hundredths(counts.change()))
}

/// A change in hundredths of a percent, none of which is less than nothing.
fn hundredths(change: f64) -> String {
    let rounded = (10_000.0 * change).round() / 100.0;
    if rounded == 0.0 { "0.00%".into() } else { format!("{rounded:+.2}%") }
}

/// The case in words.
fn words(Explanation { time, work, layout }: Explanation, counts: &InstructionCounts) -> String {
    let waiting = match layout {
        LayoutPart::Matched => "memory, branches or waiting (not layout, which was the same in both)",
        LayoutPart::Averaged => "memory, branches or waiting (not layout, which was averaged over)",
        LayoutPart::Open => "memory, branches, waiting, or the layout of a single build of each",
    };
    let said = match (time, work) {
        (Some(Direction::More), Direction::More) => "more work",
        (Some(Direction::More), Direction::Same) => return format!("the same work, slower: {waiting}"),
        (Some(Direction::More), Direction::Less) => return format!("less work, and yet slower: {waiting}"),
        (Some(Direction::Same), Direction::More) => "more work, too little to time",
        (Some(Direction::Same), Direction::Same) => "the same work",
        (Some(Direction::Same), Direction::Less) => "less work, too little to time",
        (Some(Direction::Less), Direction::More) => return format!("more work, and yet faster: {waiting}"),
        (Some(Direction::Less), Direction::Same) => return format!("the same work, faster: {waiting}"),
        (Some(Direction::Less), Direction::Less) => "less work",
        (None, Direction::More) => "more work; whether it takes more time is open",
        (None, Direction::Same) => "the same work; whether it takes the same time is open",
        (None, Direction::Less) => "less work; whether it takes less time is open",
    };
    let apart = counts.tolerance();
    let loose = work == Direction::Same && apart > 10.0 * duetbench_core::instructions::TOLERANCE;
    if loose { format!("{said}, as far as counts that differ by {} can tell", share(apart)) } else { said.into() }
}

/// A line on a function: its change, its counts, and its time where that was sampled.
fn function(found: &FunctionCount, counts: &InstructionCounts, sampled: Option<Gain>) -> String {
    let FunctionCount { function, origin, baseline, candidate } = found;
    let grown = candidate - baseline;
    let sign = if grown < 0.0 { "-" } else { "+" };
    let origin = profile::origin(*origin);
    let part = share(grown / (counts.candidate.all - counts.baseline.all));
    let time = sampled.map_or_else(String::new, |gain| format!("; sampled {}", profile::times(&gain)));
    let name = shortened(&one_line(function));
    let [before, after, by] = [*baseline, *candidate, grown.abs()].map(amount);
    format!("{sign}{by} {name}{origin}, itself: {before} → {after}, {part} of the change{time}")
}

/// The time of a function by a sampled profile, where it gained there too.
fn sampled(report: &Report, benchmark: &BenchmarkReport, function: &str) -> Option<Gain> {
    let gained = &report.profile(&benchmark.id)?.difference()?.flat;
    gained.iter().find(|found| found.function == function).map(|found| found.gain)
}

/// A number of instructions with four significant digits: `7.01k`, `33.07M`.
pub(super) fn amount(count: f64) -> String {
    let (scaled, unit) = match count {
        c if c >= 999.95e6 => (c / 1e9, "G"),
        c if c >= 999.95e3 => (c / 1e6, "M"),
        c if c >= 999.95 => (c / 1e3, "k"),
        c => (c, ""),
    };
    let decimals = match scaled {
        s if s >= 99.995 => 1,
        s if s >= 9.9995 => 2,
        _ => 3,
    };
    trimmed(scaled, decimals) + unit
}

/// The way in which they were counted, in a line below them.
pub(super) fn method(report: &Report) -> Option<String> {
    let first = report.instructions.iter().find_map(BenchmarkInstructions::counts)?;
    let processes = many(first.processes as usize, "process", "processes");
    Some(format!(
        "counted by callgrind in {processes} a side and number of invocations; a count knows nothing of caches, waiting and parallel work"
    ))
}

/// The counts of every benchmark, for programs; absent where nothing was counted.
pub(super) fn json(report: &Report) -> Option<Vec<Value>> {
    let counted = &report.instructions;
    (!counted.is_empty()).then(|| counted.iter().map(|one| json_of(one, report)).collect())
}

/// Those of one benchmark; absent where it was not counted.
pub(super) fn json_of_one(report: &Report, benchmark: &BenchmarkReport) -> Option<Value> {
    report.instructions_of(&benchmark.id).map(|one| json_of(one, report))
}

fn json_of(one: &BenchmarkInstructions, report: &Report) -> Value {
    let benchmark = report.benchmark(&one.id);
    let explained = |counts: &InstructionCounts| {
        let explanation = counts.beside(benchmark?, report);
        Some(json!({
            "time": explanation.time.map(Direction::word),
            "work": explanation.work.word(),
            "layout": explanation.layout.word(),
            "words": words(explanation, counts),
        }))
    };
    let counts = |counts: &InstructionCounts| {
        json!({
            "per": counts.per,
            "invocations": counts.invocations,
            "processes": counts.processes,
            "baseline": counts.baseline,
            "candidate": counts.candidate,
            "change": counts.change(),
            "tolerance": counts.tolerance(),
            "explanation": explained(counts),
            "functions": counts.functions,
            "code": counts.code,
        })
    };
    json!({
        "package": one.id.package,
        "name": one.id.name,
        "failure": one.failure(),
        "counts": one.counts().map(counts),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_instructions_have_four_digits() {
        let check = |count: f64, want: &str| assert_eq!(amount(count), want);
        check(0.0, "0");
        check(7.25, "7.25");
        check(999.9, "999.9");
        check(999.96, "1k");
        check(7010.4, "7.01k");
        check(33_070_000.0, "33.07M");
        check(4e12, "4000G");
    }
}
