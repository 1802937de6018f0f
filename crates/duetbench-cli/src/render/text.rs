//! The text format: for terminals and logs, close to benchstat's table, readable without colour.

use duetbench_core::Report;
use duetbench_core::report::BenchmarkReport;
use unicode_width::UnicodeWidthStr;

use super::forest::Forest;
use super::format::{named, one_line, packages, share, short_name, shortened};
use super::palette::{Palette, paint};
use super::summary::{self, ChangedCount, Numbers};
use super::table::{self, Line, NAME_WIDTH_MAX, Row, cut_middle, left};
use super::{gate, hint, order, profile, reported};

/// The report for people. With a `width`, long names are cut in the middle as far as that makes the table fit.
#[must_use]
pub fn render(report: &Report, palette: &Palette, width: Option<usize>) -> String {
    render_with(report, palette, width, Forest::Without)
}

/// The same with a forest plot below the table.
#[must_use]
pub fn render_with(report: &Report, palette: &Palette, width: Option<usize>, forest: Forest) -> String {
    let mut footnotes = Footnotes::default();
    let mut sections = vec![header(report, palette)];
    if !report.benchmarks.is_empty() {
        sections.push(times(report, palette, width, &mut footnotes));
    }
    sections.extend(forest.plot(report, palette, width));
    sections.extend(wall_times(report, palette));
    sections.extend(allocations(report, palette));
    sections.extend(reported(report, palette));
    sections.extend(profiles(report, palette));
    sections.push(conclusion(report, palette));
    sections.join("\n")
}

/// The tool, the versions, and whether the run came to its end.
fn header(report: &Report, palette: &Palette) -> String {
    let [base, head] = summary::versions(report);
    let tool = format!("duet {}: ", one_line(&report.environment.duet_version));
    let mut out = format!("{}{base} → {head}\n", paint(palette.strong, &tool));
    if !report.complete {
        out += &format!("{} stopped early; this is what was measured until then\n", paint(palette.open, "incomplete:"));
    }
    out
}

/// The table with its legend and footnotes.
fn times(report: &Report, palette: &Palette, width: Option<usize>, footnotes: &mut Footnotes) -> String {
    let mut lines = Vec::new();
    for group in order::changes_first(&report.benchmarks) {
        lines.push(Line::Package(one_line(group.package)));
        lines.extend(group.rows.into_iter().map(|benchmark| Line::Row(row(benchmark, palette, footnotes))));
    }
    let confidence = share(1.0 - report.spec.decision.interval_alpha());
    let mut out = table::write(&lines, &confidence, palette, width);
    out.push('\n');
    for line in legend(report) {
        out += &format!("{}\n", paint(palette.faint, &line));
    }
    out + &footnotes.write()
}

fn row(benchmark: &BenchmarkReport, palette: &Palette, footnotes: &mut Footnotes) -> Row {
    let Numbers { base, head, interval, detects } = summary::numbers(benchmark);
    let marks = summary::remarks(benchmark)
        .into_iter()
        .map(|remark| footnotes.mark(shortened(&remark)))
        .collect::<Vec<_>>()
        .join(" ");
    let mark = if marks.is_empty() { marks } else { format!(" {marks}") };
    Row {
        name: short_name(&benchmark.id.name),
        base,
        head,
        change: summary::change_sign(benchmark),
        interval,
        verdict: format!("{}{mark}", summary::verdict_words(benchmark)),
        detects,
        style: palette.verdict(&benchmark.verdict),
    }
}

/// Meanings of the signs that occur in the table.
fn legend(report: &Report) -> Vec<String> {
    let decision = &report.spec.decision;
    let mut signs = Vec::new();
    if report.count("no_change") > 0 {
        signs.push(format!("~ any change is smaller than {} (`--threshold`)", share(decision.threshold)));
    }
    if report.count("inconclusive") > 0 {
        signs.push("? too uncertain to say".into());
    }
    signs.extend(summary::words_explained(report).into_iter().map(str::to_owned));
    if report.benchmarks.iter().any(|b| b.estimate.is_some()) {
        signs.push(format!(
            "detects: smallest true change that such a run calls a regression {} of the time",
            share(decision.power)
        ));
    }
    signs
}

/// Wall times of the rows that CPU time judged, in a block of their own.
fn wall_times(report: &Report, palette: &Palette) -> Option<String> {
    let several = packages(report.benchmarks.iter().map(|b| &b.id)) > 1;
    let groups = order::changes_first(&report.benchmarks).into_iter().flat_map(|group| group.rows);
    let rows: Vec<_> = groups
        .filter_map(|b| Some((cut_middle(&named(&b.id, several), NAME_WIDTH_MAX), summary::by_wall(b)?)))
        .collect();
    let name_width = rows.iter().map(|(name, _)| name.width()).max()?;
    let title = "by wall time, where CPU time was judged";
    let line = |(name, change): &(String, String)| format!("{}   {change}\n", left(name, name_width));
    Some(format!("{}\n", paint(palette.strong, title)) + &rows.iter().map(line).collect::<String>())
}

/// Exact counts that differ, in a block of their own.
fn allocations(report: &Report, palette: &Palette) -> Option<String> {
    let groups = order::groups(report.benchmarks.iter().filter(|b| order::allocates_differently(b)));
    let names = groups.iter().flat_map(|group| &group.rows).map(|b| short_name(&b.id.name).width());
    let name_width = names.max()?.min(NAME_WIDTH_MAX);
    let mut out = format!("{}\n", paint(palette.strong, "allocations that differ, counted exactly"));
    for group in &groups {
        out += &format!("{}\n", paint(palette.faint, &format!("pkg: {}", one_line(group.package))));
        for benchmark in &group.rows {
            let name = left(&cut_middle(&short_name(&benchmark.id.name), name_width), name_width);
            for ChangedCount { unit, base, head } in summary::changed_counts(benchmark) {
                out += &format!("{name}   {}  {base} → {head}\n", left(unit, "allocs/op".len()));
            }
        }
    }
    Some(out)
}

/// Metrics that benchmarks report under units of their own, in a block of its own.
fn reported(report: &Report, palette: &Palette) -> Option<String> {
    let rows = reported::rows(report);
    let widths: [usize; 5] =
        std::array::from_fn(|column| rows.iter().map(|row| row.cells[column].width()).max().unwrap_or(0));
    let pairs = rows.iter().map(|row| row.metric.pairs + row.metric.pairs_left_out).max()?;
    let title = format!("what benchmarks report themselves, in {pairs} pairs of processes");
    let mut out = format!("{}\n", paint(palette.strong, &title));
    for row in &rows {
        let [name, unit, base, head, change] = std::array::from_fn(|column| left(&row.cells[column], widths[column]));
        let verdict = paint(palette.verdict(&row.metric.verdict), &row.verdict);
        out += &format!("{name}  {unit}  {base} → {head}  {change}  {verdict}\n");
    }
    Some(out)
}

/// Where regressions come from, in a block of their own.
fn profiles(report: &Report, palette: &Palette) -> Option<String> {
    let mut out = format!("{}\n", paint(palette.strong, "where regressions come from, by CPU profiles"));
    let mut profiled = profile::explained(report).peekable();
    profiled.peek()?;
    for (benchmark, lines, command) in profiled {
        out += &format!("{}\n", short_name(&benchmark.id.name));
        lines.iter().for_each(|line| out += &format!("  {line}\n"));
        if !report.untrusted {
            out += &format!("  {} `{}`\n", paint(palette.hint, "deeper:"), one_line(&command));
        }
    }
    Some(out)
}

/// Counts, machine, modes, run, warnings and advice.
fn conclusion(report: &Report, palette: &Palette) -> String {
    let mut out = format!("{}\n", paint(palette.strong, &summary::counts(report)));
    for (label, fact) in summary::facts(report) {
        out += &format!("{} {fact}\n", paint(palette.faint, &left(label, "machine:".len())));
    }
    for line in report.gate.iter().flat_map(gate::lines) {
        out += &format!("{} {line}\n", paint(palette.faint, &left("gate:", "machine:".len())));
    }
    for warning in &report.warnings {
        out += &format!("{} {}\n", paint(palette.open, "warning:"), one_line(warning));
    }
    for hint in hint::hints(report) {
        let command = hint.command.map_or_else(String::new, |command| format!(" `{}`", one_line(&command)));
        out += &format!("{} {}{command}\n", paint(palette.hint, "hint:"), hint.words);
    }
    out
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

    fn write(&self) -> String {
        self.texts.iter().enumerate().map(|(index, text)| format!("{} {text}\n", superscript(index + 1))).collect()
    }
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}
