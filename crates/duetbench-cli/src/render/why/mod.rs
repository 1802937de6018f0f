//! Everything that is known about one change, as a document.

use std::collections::BTreeSet;

use duetbench_core::Report;
use duetbench_core::gate::Breach;
use duetbench_core::hotspot::{BenchmarkProfile, Frame, Trend};
use duetbench_core::instructions::{LayoutPart, Per};
use duetbench_core::report::BenchmarkReport;

use super::document::{Block, Cells, Document, Line, Table, Title};
use super::format::{TimeScale, change, one_line, share, short_name, shortened};
use super::names::Short;
use super::sarif::Site;
use super::{command_line, gate, instructions, profile, summary};

mod json;

/// Functions that are drawn.
const FUNCTIONS_MAX: usize = 8;
/// Call stacks that are listed, of those that changed most, and with their callers.
const STACKS_MAX: [usize; 2] = [8, 24];
/// Length of the longest bar, in characters.
const BAR_LENGTH: f64 = 30.0;

/// The page about one benchmark of a report, which stands there in the source where that was found.
pub fn document(report: &Report, benchmark: &BenchmarkReport, site: Option<&Site>) -> Document {
    let blocks = [
        Some(Block::Lines(answer(report, benchmark, site))),
        counts(report, benchmark),
        functions(report, benchmark),
        stacks(report, benchmark),
        Some(Block::Lines(circumstances(report, benchmark))),
        Some(Block::Lines(next(report, benchmark))),
    ];
    let subject = format!("{} in {}", short_name(&benchmark.id.name), one_line(&report.run));
    Document {
        title: Title { command: "duet why", version: env!("CARGO_PKG_VERSION").into(), subject },
        blocks: blocks.into_iter().flatten().collect(),
        rows: Some(rows(report, benchmark)),
        json: Some(json::json(report, benchmark, site)),
        go: None,
    }
}

/// Everything measured of it, as a whole and by function, with numbers at full precision.
fn rows(report: &Report, benchmark: &BenchmarkReport) -> Table {
    let mut table =
        Table::plain(&["measure", "function", "unit", "baseline", "candidate", "change", "share_of_change"]);
    let number = |value: f64| value.to_string();
    let mut put = |[measure, function, unit]: [&str; 3], [baseline, candidate]: [f64; 2], share: Option<f64>| {
        let change = candidate / baseline - 1.0;
        let change = if change.is_finite() { number(change) } else { String::new() };
        let words = [measure, function, unit].map(str::to_owned);
        let share = share.filter(|share| share.is_finite()).map_or_else(String::new, number);
        table.push(words.into_iter().chain([number(baseline), number(candidate), change, share]));
    };
    if let [Some(baseline), Some(candidate)] = benchmark.times_ns() {
        put(["time", "", "ns/op"], [baseline, candidate], None);
    }
    for (measure, unit, counted) in [("allocs", "allocs/op", benchmark.allocs), ("bytes", "B/op", benchmark.bytes)] {
        if let Some(counted) = counted {
            put([measure, "", unit], [counted.baseline, counted.candidate], None);
        }
    }
    if let Some(counts) = instructions::of(report, benchmark) {
        let unit = match counts.per {
            Per::Invocation => "instructions/op",
            Per::Process => "instructions/process",
        };
        put(["instructions", "", unit], [counts.baseline.all, counts.candidate.all], None);
        let all = counts.candidate.all - counts.baseline.all;
        for found in &counts.functions {
            let share = (found.candidate - found.baseline) / all;
            put(["instructions", &found.function, unit], [found.baseline, found.candidate], Some(share));
        }
    }
    let difference = report.profile(&benchmark.id).and_then(BenchmarkProfile::difference);
    for found in difference.into_iter().flat_map(|difference| &difference.flat) {
        let times = [found.gain.baseline_ns, found.gain.candidate_ns];
        put(["sampled time", &found.function, "ns/op"], times, found.share);
    }
    table
}

/// Verdict, times, what else changed, and where the benchmark is.
fn answer(report: &Report, benchmark: &BenchmarkReport, site: Option<&Site>) -> Vec<Line> {
    let interval = summary::interval(benchmark);
    let name = short_name(&benchmark.id.name);
    let sign = summary::change_sign(benchmark);
    let mut lines = vec![Line::Heading(format!("{name}: {}", summary::verdict_words(benchmark)))];
    let sure = benchmark.estimate.filter(|_| !interval.is_empty());
    let surely = sure.map_or_else(String::new, |e| format!("{} sure within {interval}", share(e.confidence)));
    let known: Vec<String> =
        [summary::times(benchmark), sign, surely].into_iter().filter(|part| !part.is_empty()).collect();
    lines.extend((!known.is_empty()).then(|| Line::Small("time", known.join(", "))));
    if let Some(wall) = summary::by_wall(benchmark) {
        lines.push(Line::Small("clock", format!("judged by CPU time; by wall time {wall}")));
    }
    let counted = summary::changed_counts(benchmark);
    lines.extend(counted.map(|(unit, counts)| Line::Small("counts", format!("{unit} {counts}"))));
    lines.extend(instructions::case(report, benchmark).map(|case| Line::Small("work", case)));
    let names = Short::of_report(report);
    lines.extend(breaches(report, benchmark).map(|breach| Line::Small("gate", gate::breach(breach, &names))));
    let package = Some(benchmark.id.package.as_str()).filter(|package| !package.is_empty());
    lines.extend(package.map(|package| Line::Small("package", one_line(package))));
    let at = site.and_then(|site| Some(format!("{}:{}", one_line(&site.path), site.line?)));
    lines.extend(at.map(|at| Line::Small("source", at)));
    lines
}

/// The rules that the benchmark breaks.
fn breaches<'a>(report: &'a Report, benchmark: &BenchmarkReport) -> impl Iterator<Item = &'a Breach> {
    let gate = report.gate.iter().flat_map(|gate| &gate.breaches);
    gate.filter(|breach| breach.id == benchmark.id)
}

/// Functions by their instructions.
fn counts(report: &Report, benchmark: &BenchmarkReport) -> Option<Block> {
    let (_, lines) = instructions::counted(report).find(|(counted, _)| counted.id == benchmark.id)?;
    let functions: Vec<Line> = lines.into_iter().skip(1).map(Line::Item).collect();
    if functions.is_empty() {
        return None;
    }
    Some(Block::Lines([vec![Line::Heading("by instructions, counted".into())], functions].concat()))
}

/// Functions by their time, a bar for each version.
fn functions(report: &Report, benchmark: &BenchmarkReport) -> Option<Block> {
    let difference = report.profile(&benchmark.id)?.difference()?;
    let longest = difference.flat.iter().map(|f| f.gain.candidate_ns.max(f.gain.baseline_ns)).fold(0.0, f64::max);
    if longest <= 0.0 {
        return Some(Block::Lines(profile::lines(difference).into_iter().map(Line::Sentence).collect()));
    }
    let mut table = Table::new(&[
        ("function, by sampled time", Cells::Name),
        ("", Cells::Drawing),
        ("time", Cells::Number),
        ("of the change", Cells::Number),
    ]);
    for found in difference.flat.iter().take(FUNCTIONS_MAX) {
        let scale = TimeScale::of(&[found.gain.baseline_ns, found.gain.candidate_ns]);
        let bar = |ns: f64, full: &str| full.repeat((ns / longest * BAR_LENGTH).round() as usize);
        let name = shortened(&one_line(&found.function));
        let before = [name, bar(found.gain.baseline_ns, "░"), scale.write(found.gain.baseline_ns), String::new()];
        table.push(before);
        let gain = found.share.map_or_else(String::new, share);
        let after = [String::new(), bar(found.gain.candidate_ns, "█"), scale.write(found.gain.candidate_ns), gain];
        table.push(after);
    }
    Some(Block::Table(table))
}

/// The call stacks whose time changed most, below their callers.
fn stacks(report: &Report, benchmark: &BenchmarkReport) -> Option<Block> {
    let frames = report.stacks.iter().find(|stacks| stacks.id == benchmark.id)?.frames.as_ref().ok()?;
    let mut table = Table::new(&[
        ("call stack, by sampled time", Cells::Name),
        ("base", Cells::Number),
        ("head", Cells::Number),
        ("change", Cells::Number),
    ]);
    for frame in changed_most(frames) {
        let [base, head] = [frame.baseline_ns, frame.candidate_ns];
        let scale = TimeScale::of(&[base, head]);
        let changed = match (base > 0.0, head > 0.0) {
            (false, _) => "new".into(),
            (true, false) => "gone".into(),
            (true, true) => change(head / base),
        };
        let name = if frame.depth == 0 { "everything" } else { without_path(&frame.function) };
        let name = format!("{}{}", "· ".repeat(frame.depth), shortened(&one_line(name)));
        table.push([name, scale.write(base), scale.write(head), changed]);
    }
    (!table.is_empty()).then_some(Block::Table(table))
}

/// The frames whose time changed most, with their callers, callers first.
fn changed_most(frames: &[Frame]) -> Vec<&Frame> {
    let size = |i: &usize| (frames[*i].candidate_ns - frames[*i].baseline_ns).abs();
    let mut changed: Vec<usize> = (0..frames.len()).filter(|i| frames[*i].trend != Trend::Alike).collect();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let [most, with_callers] = STACKS_MAX;
    let mut listed = BTreeSet::new();
    for place in changed.into_iter().take(most) {
        let mut longer = listed.clone();
        longer.extend(up_to_everything(frames, place));
        if longer.len() <= with_callers {
            listed = longer;
        }
    }
    listed.into_iter().map(|i| &frames[i]).collect()
}

/// A frame and its callers: each stands behind its own.
fn up_to_everything(frames: &[Frame], place: usize) -> Vec<usize> {
    let (mut chain, mut depth) = (vec![place], frames[place].depth);
    for (i, frame) in frames[..place].iter().enumerate().rev() {
        if frame.depth < depth {
            chain.push(i);
            depth = frame.depth;
        }
    }
    chain
}

/// A function's name without the path of its package.
fn without_path(function: &str) -> &str {
    let end = function.find(['[', '(']).unwrap_or(function.len());
    function[..end].rfind('/').map_or(function, |at| &function[at + 1..])
}

/// Layout, and what is to be known before the rest is believed.
fn circumstances(report: &Report, benchmark: &BenchmarkReport) -> Vec<Line> {
    let words = |layout| match layout {
        LayoutPart::Matched => "it is not the layout: what both versions have lay at the same addresses in both",
        LayoutPart::Averaged => "it is not the layout of one binary: it was averaged over builds in other orders",
        LayoutPart::Open => "it may be the layout: one build of each version was measured",
    };
    let layout = layout(report, benchmark).map(|layout| Line::Small("layout", words(layout).into()));
    layout.into_iter().chain(summary::remarks(benchmark).into_iter().map(Line::warning)).collect()
}

/// The part that layout may have in the change, where it was measured.
fn layout(report: &Report, benchmark: &BenchmarkReport) -> Option<LayoutPart> {
    (!benchmark.forks.is_empty()).then(|| LayoutPart::of(benchmark, report))
}

/// Options by which a run would have known more.
fn lacking(report: &Report, benchmark: &BenchmarkReport) -> Vec<&'static str> {
    let difference = report.profile(&benchmark.id).and_then(BenchmarkProfile::difference);
    let profile = difference.is_none().then_some("--profile");
    let count = instructions::of(report, benchmark).is_none().then_some("--count");
    profile.into_iter().chain(count).collect()
}

/// Commands that tell more.
fn next(report: &Report, benchmark: &BenchmarkReport) -> Vec<Line> {
    let mut lines = Vec::new();
    let lacking = lacking(report, benchmark);
    if command_line::may_be_offered(report) {
        if !lacking.is_empty() {
            let forks = benchmark.forks.len().max(1).try_into().unwrap_or(u32::MAX);
            lines.push(Line::hint("to see more of it"));
            lines.push(Line::Command(command_line::alone_with(report, &benchmark.id, forks, &lacking)));
        }
        if let Some((.., Some(command))) = profile::explained(report).find(|(one, ..)| one.id == benchmark.id) {
            lines.push(Line::hint("to look deeper into the profiles"));
            lines.push(Line::Command(command));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_lose_the_path_of_their_package_alone() {
        let check = |function, want| assert_eq!(without_path(function), want);
        check("example.com/shop/codec.(*Writer).escape", "codec.(*Writer).escape");
        check("main.run[example.com/shop/codec.T]", "main.run[example.com/shop/codec.T]");
        check("sort.Ints", "sort.Ints");
    }

    #[test]
    fn the_stacks_that_changed_most_stand_below_their_callers() {
        let frame = |function: &str, depth, candidate_ns, trend| Frame {
            function: function.into(),
            depth,
            baseline_ns: 100.0,
            candidate_ns,
            left: 0.0,
            width: 0.0,
            trend,
        };
        let listed = |frames: &[Frame]| -> Vec<String> {
            changed_most(frames).iter().map(|frame| frame.function.clone()).collect()
        };
        let (grew, alike) = (Trend::Grew, Trend::Alike);
        let mut frames = vec![
            frame("all", 0, 100.0, alike),
            frame("a", 1, 100.0, alike),
            frame("a1", 2, 101.0, alike),
            frame("a2", 2, 150.0, grew),
            frame("b", 1, 300.0, alike),
        ];
        assert_eq!(listed(&frames), ["all", "a", "a2"]);
        // One whose callers have no room is left out, and what changed less may still be in.
        let small = (0..9).map(|i| frame(&format!("c{i}"), 1, 60.0, Trend::Shrank));
        let deep = (1..30).map(|depth| frame("deep", depth, 900.0, if depth == 29 { grew } else { alike }));
        frames.extend(small.chain(deep));
        assert_eq!(listed(&frames), ["all", "a", "a2", "c0", "c1", "c2", "c3", "c4", "c5"]);
        assert_eq!(listed(&frames[..3]), [""; 0]);
    }
}
