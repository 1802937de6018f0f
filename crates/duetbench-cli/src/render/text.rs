//! The text format: for terminals and logs, readable without colour. The answer stands first and last, one table in between.

use std::collections::BTreeSet;

use duetbench_core::plan::Style;
use duetbench_core::report::{BenchmarkReport, Outcome};
use duetbench_core::{BenchmarkId, Report, Verdict};

use unicode_width::UnicodeWidthStr;

use super::document::{Cell, Cells, Column, Group, Table, Tone, Turn};
use super::forest::{Axis, Mark};
use super::format::{TimeScale, change, duration, one_line, share, short_name, shortened};
use super::hint::Hint;
use super::palette::Palette;
use super::width::{left, wrapped};
use super::{command_line, gate, hint, instructions, names, order, profile, reported, summary};

/// Most rows of a table that is not folded: a screen of them.
const ROWS_MAX: usize = 30;
/// Rows of open questions that a folded table shows.
const OPEN_ROWS: usize = 8;

/// The amount that is shown, and the room for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Look {
    /// Width of the terminal in cells; a log has none.
    pub width: Option<usize>,
    /// Whether intervals are drawn.
    pub plot: bool,
    /// Whether every benchmark has a row, however many there are.
    pub all: bool,
}

/// The report for people.
pub fn render(report: &Report, palette: &Palette, look: Look) -> String {
    let mut sections = vec![answer(report, palette)];
    if !report.benchmarks.is_empty() {
        sections.push(times(report, palette, look));
    }
    let others = [wall_times(report), cpu_times(report), allocations(report), reported(report)];
    sections.extend(others.into_iter().flatten().map(|table| table.text(palette, look.width)));
    sections.extend(counts(report, palette, look.width));
    sections.extend(profiles(report, palette));
    sections.push(circumstances(report, palette, look.width));
    sections.push(close(report, palette, look.width));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// The answer in a sentence, the versions, and whether the run came to its end.
fn answer(report: &Report, palette: &Palette) -> String {
    let (sign, tone) = match summary::outcome(report) {
        Outcome::Regression => ('✗', Tone::Bad),
        Outcome::Failed | Outcome::StaleWaiver => ('✗', Tone::Open),
        Outcome::Inconclusive => ('?', Tone::Open),
        Outcome::Clean => ('✓', Tone::Strong),
    };
    let sentence = format!("{sign} {}", summary::headline(report));
    let [base, head] = summary::versions(report);
    let mut out = format!("{}\n{base} → {head}\n", palette.paint(tone, &sentence));
    if !report.complete {
        out += &format!(
            "{} stopped early; this is what was measured until then\n",
            palette.paint(Tone::Open, "incomplete:")
        );
    }
    out
}

/// The table with what was folded, its legend and footnotes.
fn times(report: &Report, palette: &Palette, look: Look) -> String {
    let mut footnotes = Footnotes::default();
    let Folded { rows, lines } = folded(report, look.all);
    let axis = if look.plot { Axis::of(report, look.width) } else { None };
    let names = names::Short::of_report(report);
    let mut table =
        Table::grouped(vec![Group { title: String::new(), columns: columns(report, &names, axis.as_ref()) }]);
    let suite = report.spec.decision.threshold;
    let drawing = |one, axis: &Axis| Mark::of(one, suite).map_or_else(String::new, |mark| axis.draw(mark));
    for one in rows {
        table.push(cells(one, &names, axis.as_ref().map(|axis| drawing(one, axis)), &mut footnotes));
    }
    let mut out = table.text(palette, look.width);
    lines.iter().for_each(|line| out += &format!("{}\n", palette.paint(Tone::Faint, line)));
    let legend: Vec<String> = legend(report);
    if !legend.is_empty() || !footnotes.texts.is_empty() {
        out.push('\n');
    }
    legend.iter().for_each(|line| out += &format!("{}\n", palette.paint(Tone::Faint, &wrapped(line, look.width, 0))));
    out + &footnotes.write(look.width)
}

fn columns(report: &Report, names: &names::Short, axis: Option<&Axis>) -> Vec<Column> {
    let sure = format!("{} sure within", share(1.0 - report.spec.decision.interval_alpha()));
    let mut columns = vec![
        Column::new(format!("  {}", names.common().unwrap_or("benchmark")), Cells::Name),
        Column::numbers("before → after").gives_way(Turn::Second),
        Column::numbers("change"),
    ];
    columns.extend(axis.map(|axis| Column::new(axis.labels(), Cells::Drawing).gives_way(Turn::First)));
    columns.extend([Column::words(sure).gives_way(Turn::Last), Column::words("verdict")]);
    columns
}

fn cells(
    benchmark: &BenchmarkReport,
    names: &names::Short,
    drawing: Option<String>,
    footnotes: &mut Footnotes,
) -> Vec<Cell> {
    let marks = summary::remarks(benchmark).into_iter().map(|remark| footnotes.mark(shortened(&remark)));
    let words = [summary::verdict_words(benchmark)].into_iter().chain(marks).collect::<Vec<_>>().join(" ");
    let tone = order::tone(&benchmark.verdict);
    let name = format!("{} {}", order::shape(&benchmark.verdict), names.name(&benchmark.id));
    let name_tone = if benchmark.verdict.is_change() { tone } else { Tone::Plain };
    let mut cells = vec![
        Cell::toned(name, name_tone),
        summary::times(benchmark).into(),
        Cell::toned(summary::change_sign(benchmark), tone),
    ];
    cells.extend(drawing.map(|drawing| Cell::toned(drawing, tone)));
    cells.extend([summary::interval(benchmark).into(), Cell::toned(words, tone)]);
    cells
}

/// Rows that are shown, and a line for each kind of those that are not.
struct Folded<'a> {
    rows: Vec<&'a BenchmarkReport>,
    lines: Vec<String>,
}

/// All rows, or where they are more than a screen the changes, the failures, and those open questions that leave most open.
fn folded(report: &Report, all: bool) -> Folded<'_> {
    let mut rows = order::most_urgent_first(report.benchmarks.iter());
    if all || rows.len() <= ROWS_MAX {
        return Folded { rows, lines: Vec::new() };
    }
    let leaves_open = |one: &BenchmarkReport| one.open_range().map_or(f64::INFINITY, |range| range.high);
    rows.sort_by(|a, b| match (&a.verdict, &b.verdict) {
        (Verdict::Inconclusive { .. }, Verdict::Inconclusive { .. }) => leaves_open(b).total_cmp(&leaves_open(a)),
        _ => std::cmp::Ordering::Equal,
    });
    let mut open = 0;
    let (shown, hidden): (Vec<_>, Vec<_>) = rows.into_iter().partition(|one| match one.verdict {
        Verdict::Inconclusive { .. } => {
            open += 1;
            open <= OPEN_ROWS
        }
        ref verdict => verdict.is_change() || matches!(verdict, Verdict::Failed { .. } | Verdict::Redefined(_)),
    });
    let mut lines: Vec<String> = summary::all_verdicts()
        .iter()
        .filter_map(|verdict| {
            let kind: Vec<&BenchmarkReport> =
                hidden.iter().copied().filter(|one| one.verdict.word() == verdict.word()).collect();
            (!kind.is_empty()).then(|| folded_line(verdict, &kind))
        })
        .collect();
    if !lines.is_empty() {
        lines.push(format!("  every row: `{} --all`", one_line(&command_line::show(report))));
    }
    Folded { rows: shown, lines }
}

fn folded_line(verdict: &Verdict, kind: &[&BenchmarkReport]) -> String {
    let more = if matches!(verdict, Verdict::Inconclusive { .. }) { " more" } else { "" };
    let left_open = match verdict {
        Verdict::Inconclusive { .. } => summary::slowdown_left_open(kind.iter().copied()),
        _ => None,
    };
    let left_open = left_open.map_or_else(String::new, |words| format!(": {words}"));
    format!("{} {}{more} {}{left_open}", order::shape(verdict), kind.len(), order::label(verdict))
}

/// Meanings of the words that occur in the table.
fn legend(report: &Report) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(no_change_explained(report));
    words.extend(summary::words_explained(report).into_iter().map(str::to_owned));
    words
}

/// The bound that *no change* states, which rules may set for some benchmarks.
fn no_change_explained(report: &Report) -> Option<String> {
    let suite = report.spec.decision.threshold;
    let unchanged = report.benchmarks.iter().filter(|one| one.verdict == Verdict::NoChange);
    let own: Vec<f64> = unchanged.map(|one| one.threshold.unwrap_or(suite)).collect();
    let largest = own.iter().copied().reduce(f64::max)?;
    Some(if own.iter().all(|threshold| *threshold == suite) {
        format!("no change: any is smaller than {} (`--threshold`)", share(suite))
    } else {
        format!("no change: any is smaller than the benchmark's threshold, by rules up to {}", share(largest))
    })
}

/// A table of the benchmarks of which there is something to say beside their times; its first column is their names.
fn beside<'a, const N: usize, Rows: IntoIterator<Item = [String; N]>>(
    report: &'a Report,
    columns: &[(&str, Cells)],
    said: impl Fn(&'a BenchmarkReport) -> Rows,
) -> Option<Table> {
    let names = names::Short::of_report(report);
    let mut table = Table::new(columns);
    for one in order::most_urgent_first(report.benchmarks.iter()) {
        said(one).into_iter().for_each(|cells| table.push(std::iter::once(names.name(&one.id)).chain(cells)));
    }
    (!table.is_empty()).then_some(table)
}

/// Wall times of the rows that CPU time judged.
fn wall_times(report: &Report) -> Option<Table> {
    let columns = [("by wall time, where CPU time was judged", Cells::Name), ("", Cells::Words)];
    beside(report, &columns, |one| summary::by_wall(one).map(|change| [change]))
}

/// User and system time of whole programs, which may wait or use several cores: then it tells another story than wall time does.
fn cpu_times(report: &Report) -> Option<Table> {
    let planned = report.plan.benchmarks.iter().filter(|planned| planned.style == Style::Process);
    let programs: BTreeSet<&BenchmarkId> = planned.map(|planned| &planned.id).collect();
    let title = "user and system time";
    let columns = [(title, Cells::Name), ("before → after", Cells::Words), ("change", Cells::Words)];
    beside(report, &columns, |one| {
        let times_ns = one.cpu_times_ns().filter(|_| programs.contains(&one.id))?;
        let scale = TimeScale::of(&times_ns);
        let [before, after] = times_ns.map(|ns| scale.write(ns));
        Some([format!("{before}s → {after}s"), change(times_ns[1] / times_ns[0])])
    })
}

/// Exact counts that differ.
fn allocations(report: &Report) -> Option<Table> {
    let columns = [("allocations that differ", Cells::Name), ("", Cells::Words), ("before → after", Cells::Words)];
    beside(report, &columns, |one| summary::changed_counts(one).map(|(unit, counts)| [unit.to_owned(), counts]))
}

/// Metrics that benchmarks report under units of their own.
fn reported(report: &Report) -> Option<Table> {
    let rows = reported::rows(report);
    let pairs = rows.iter().map(|row| row.metric.pairs + row.metric.pairs_left_out).max()?;
    let title = format!("reported by benchmarks, in {pairs} pairs of processes");
    let columns = [(title.as_str(), Cells::Name), ("unit", Cells::Words), ("before → after", Cells::Words)];
    let mut table = Table::new(&[&columns[..], &[("change", Cells::Words), ("verdict", Cells::Words)]].concat());
    for row in rows {
        let verdict = Cell::toned(row.verdict, order::tone(&row.metric.verdict));
        let [name, unit, before, after, change] = row.cells;
        let words = [name, unit, format!("{before} → {after}"), change].map(Cell::from);
        table.push(words.into_iter().chain([verdict]));
    }
    Some(table)
}

/// Instructions, and which case each benchmark is.
fn counts(report: &Report, palette: &Palette, width: Option<usize>) -> Option<String> {
    let mut out = format!("{}\n", palette.paint(Tone::Strong, "instructions, beside the times"));
    let method = instructions::method(report)?;
    for (counted, lines) in instructions::counted(report) {
        out += &format!("{}\n", short_name(&counted.id.name));
        lines.iter().for_each(|line| out += &format!("  {}\n", wrapped(line, width, 4)));
    }
    Some(out + &format!("{}\n", palette.paint(Tone::Faint, &wrapped(&method, width, 2))))
}

/// Where regressions come from.
fn profiles(report: &Report, palette: &Palette) -> Option<String> {
    let mut out = format!("{}\n", palette.paint(Tone::Strong, "where regressions come from, by CPU profiles"));
    let mut profiled = profile::explained(report).peekable();
    profiled.peek()?;
    for (benchmark, lines, command) in profiled {
        out += &format!("{}\n", short_name(&benchmark.id.name));
        lines.iter().for_each(|line| out += &format!("  {line}\n"));
        if let Some(command) = command {
            out += &format!("  {} `{}`\n", palette.paint(Tone::Hint, "deeper:"), one_line(&command));
        }
    }
    Some(out)
}

/// Machine, modes, run, gate and warnings.
fn circumstances(report: &Report, palette: &Palette, width: Option<usize>) -> String {
    let longest = "machine:".len();
    let labelled = |label: &str, fact: &str| {
        format!("{} {}\n", palette.paint(Tone::Faint, &left(label, longest)), wrapped(fact, width, longest + 1))
    };
    let mut out = String::new();
    summary::facts(report).iter().for_each(|(label, fact)| out += &labelled(label, fact));
    gate::lines(report).iter().for_each(|line| out += &labelled("gate:", line));
    for warning in &report.warnings {
        out +=
            &format!("{} {}\n", palette.paint(Tone::Open, "warning:"), wrapped(&one_line(warning), width, longest + 1));
    }
    out
}

/// Advice, and the outcome in a line that can be pasted.
fn close(report: &Report, palette: &Palette, width: Option<usize>) -> String {
    let mut out = String::new();
    let accepting = command_line::accept(report).into_iter().next();
    let accept =
        accepting.map(|command| Hint { words: "if it is worth it, accept it with".into(), command: Some(command) });
    for hint in hint::hints(report).into_iter().chain(accept) {
        let label = "hint: ";
        let command = hint.command.map_or_else(String::new, |command| format!("`{}`", one_line(&command)));
        let line = format!("{} {command}", hint.words);
        // A command that is typed again stays in one piece.
        let fits = width.is_none_or(|width| label.len() + line.width() <= width) || command.is_empty();
        let apart = format!("{}\n{}{command}", wrapped(&hint.words, width, label.len()), " ".repeat(label.len()));
        let words = if fits { wrapped(line.trim_end(), width, label.len()) } else { apart };
        out += &format!("{} {words}\n", palette.paint(Tone::Hint, label.trim_end()));
    }
    let version = one_line(&report.environment.duet_version);
    let counts = summary::counts_in(report, &format!(" in {} (duet {version})", duration(report.measured_s)));
    let counts = counts + &summary::unanswered(report);
    out + &format!("{}\n", palette.paint(Tone::Strong, &wrapped(&counts, width, 0)))
}

/// Remarks below the table, each written once, however many rows point to it.
#[derive(Default)]
struct Footnotes {
    texts: Vec<String>,
}

impl Footnotes {
    /// The mark that points to this text.
    fn mark(&mut self, text: String) -> String {
        let index = self.texts.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        superscript(index + 1)
    }

    fn write(&self, width: Option<usize>) -> String {
        let line = |(index, text): (usize, &String)| {
            let mark = superscript(index + 1);
            format!("{mark} {}\n", wrapped(text, width, mark.width() + 1))
        };
        self.texts.iter().enumerate().map(line).collect()
    }
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}
