//! The study as a document.

use duetbench_cli::render::document::{Cells, Document, Table, Title};
use duetbench_cli::render::format::{change, many, share, short_name};
use duetbench_core::plan::Mode;

use super::super::section::{Section, Told};
use super::{DuetStudy, StudiedRun, json, machine};
use crate::papers::duet::{Kind, Quantiles, Widths};

/// Meanings of the headings, below every study.
const MEANING: &str = "paired: of the geometric mean of paired ratios; shuffled: the same when each candidate's fork meets any baseline's; \
     standard: of the difference of means; own: duet's, of all fork pairs; misses: how often the paired interval misses the true ratio, \
     by normal theory";
/// Names in a list that are shown.
const NAMES_MAX: usize = 5;

/// The study as a document.
pub fn document(study: &DuetStudy) -> Document {
    let told = Told {
        title: Title { command: "duet-study duet", version: study.duet_version.clone(), subject: subject(study) },
        sections: sections(study),
        warnings: study.warnings.clone(),
        note: Some(MEANING),
    };
    Document { rows: Some(machine::rows(study)), json: Some(json::json(study)), ..told.document() }
}

fn subject(study: &DuetStudy) -> String {
    let procedure = &study.procedure;
    let forks = match procedure.forks {
        Some(forks) => format!("{forks} fork pairs of each benchmark drawn with seed {}", procedure.seed),
        None => format!("all fork pairs, shuffled with seed {}", procedure.seed),
    };
    let outliers = if procedure.winsorise.is_some() { "outliers winsorised" } else { "outliers kept" };
    let confidence = share(procedure.confidence);
    format!("widths of the duet paper's {confidence} intervals, {forks}, {outliers}")
}

fn sections(study: &DuetStudy) -> Vec<Section> {
    let mut sections: Vec<Section> = study.runs.iter().map(|run| of_run(study, run)).collect();
    sections.push(improvement(study));
    sections.push(distribution(study));
    sections
}

/// The paper's triplets (section 7.2), with ours and what goes with them.
fn of_run(study: &DuetStudy, run: &StudiedRun) -> Section {
    let mut table = Table::new(&[
        ("benchmark", Cells::Name),
        ("fork pairs", Cells::Number),
        ("vs base", Cells::Number),
        ("paired", Cells::Number),
        ("shuffled", Cells::Number),
        ("standard", Cells::Number),
        ("own", Cells::Number),
        ("shuffled / paired", Cells::Number),
        ("standard / paired", Cells::Number),
        ("misses", Cells::Number),
    ]);
    for one in &run.widths.measured {
        let mut row = vec![short_name(&one.benchmark), fork_pairs(one), change(one.paired.ratio)];
        row.extend(Kind::ALL.map(|kind| one.width(kind).map_or_else(String::new, share)));
        row.extend([Kind::Shuffled, Kind::Standard].map(|kind| times(one.times_wider(kind))));
        row.push(share(one.level));
        table.push(row);
    }
    let [baseline, candidate] = &run.versions;
    let title = match run.same {
        true => format!("run {}: {baseline} against itself (A/A)", run.widths.run),
        false => format!("run {}: {baseline} and {candidate}", run.widths.run),
    };
    let mut lines = vec![modes(&run.widths.measured), levels(study, run), misses(run)];
    lines.extend(limits(study, &run.widths.measured));
    lines.extend(left_out(run));
    Section { title, tables: vec![table], lines }
}

fn fork_pairs(one: &Widths) -> String {
    match one.forks < one.forks_measured {
        true => format!("{} of {}", one.forks, one.forks_measured),
        false => one.forks.to_string(),
    }
}

/// A factor between widths, with three digits.
fn times(factor: Option<f64>) -> String {
    match factor {
        None => "?".to_owned(),
        Some(factor) if factor >= 99.95 => format!("{factor:.0}x"),
        Some(factor) if factor >= 9.995 => format!("{factor:.1}x"),
        Some(factor) => format!("{factor:.2}x"),
    }
}

/// A fraction, or `?` where it is not known.
fn known(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "?".to_owned(), share)
}

fn modes(measured: &[Widths]) -> String {
    let all = [Mode::Duet, Mode::InterleavedOneCore, Mode::InterleavedAllCores];
    let counted = all.map(|mode| (mode, measured.iter().filter(|one| one.mode == mode).count()));
    let words: Vec<String> = counted
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(mode, count)| format!("{} {}", many(*count, "benchmark", "benchmarks"), how(*mode)))
        .collect();
    words.join(", ")
}

/// A mode in words, with the reason why its pairs are alike.
fn how(mode: Mode) -> String {
    match mode {
        Mode::Duet => "in duet mode (pairs are taken at the same time)".to_owned(),
        _ => format!("{} (pairs are taken one right after the other)", mode.label()),
    }
}

fn levels(study: &DuetStudy, run: &StudiedRun) -> String {
    let nominal = share(1.0 - study.procedure.confidence);
    format!(
        "the paired intervals say that they miss the truth in {nominal}; by normal theory they do in {} (mean over benchmarks), duet's own in \
         {nominal} at most",
        known(run.widths.level())
    )
}

/// The true rate at which intervals miss, where the truth is known.
fn misses(run: &StudiedRun) -> String {
    if !run.same {
        return "the versions are not the same, so this run does not show how often intervals miss the truth; widths are what they are"
            .to_owned();
    }
    let (own, of_own) = run.widths.own_called_changed();
    let benchmarks = run.widths.measured.len();
    let counted = format!(
        "nothing changed, and yet {} of {benchmarks} paired intervals do not hold 1, of duet's own {own} of {of_own}",
        run.widths.called_changed(),
    );
    match run.resampled {
        Some(resampled) => format!(
            "{counted}; on {} resamples with the roles exchanged at random {} of the paired ones miss 1, and {} by duet's method",
            resampled.resamples,
            share(resampled.paired),
            share(resampled.own)
        ),
        None => counted,
    }
}

/// Requests that could not be met in full, a sentence each.
fn limits(study: &DuetStudy, measured: &[Widths]) -> Vec<String> {
    let mut lines = Vec::new();
    let fewer = measured.iter().filter(|one| study.procedure.forks.is_some_and(|forks| one.forks < forks)).count();
    if fewer > 0 {
        lines.push(format!(
            "with fewer fork pairs than were to be drawn, all taken: {}",
            many(fewer, "benchmark", "benchmarks")
        ));
    }
    let short: usize = measured.iter().map(|one| one.forks_short).sum();
    if short > 0 {
        let what = many(short, "fork pair", "fork pairs");
        lines.push(format!("left out for having less than half as many iterations as others of the benchmark: {what}"));
    }
    let flat = measured.iter().filter(|one| one.times_wider(Kind::Standard).is_none()).count();
    if flat > 0 {
        let what = many(flat, "benchmark", "benchmarks");
        lines.push(format!("not in any mean of quotients, since an interval of theirs has no width: {what}"));
    }
    lines
}

fn left_out(run: &StudiedRun) -> Option<String> {
    let all = &run.widths.left_out;
    let named = all.iter().take(NAMES_MAX).map(|out| format!("{}: {}", short_name(&out.benchmark), out.reason));
    let shown: Vec<String> = named.collect();
    let more = if all.len() > shown.len() { "; …" } else { "" };
    (!all.is_empty()).then(|| format!("left out: {} ({}{more})", all.len(), shown.join("; ")))
}

/// The paper's Table 1.
fn improvement(study: &DuetStudy) -> Section {
    let mut table = Table::new(&[
        ("run", Cells::Words),
        ("benchmarks", Cells::Number),
        ("shuffled / paired", Cells::Number),
        ("standard / paired", Cells::Number),
        ("own / paired", Cells::Number),
    ]);
    for StudiedRun { widths, .. } in &study.runs {
        let mut row = vec![widths.run.clone(), widths.measured.len().to_string()];
        let factor = |kind| times(widths.improvement(kind).map(|improvement| improvement.factor));
        row.extend([Kind::Shuffled, Kind::Standard, Kind::Own].map(factor));
        table.push(row);
    }
    let below = "geometric means over benchmarks; what shuffling makes wider is what interference that hits both sides alike is worth here";
    Section { title: "How many times wider (Table 1)".to_owned(), tables: vec![table], lines: vec![below.to_owned()] }
}

/// Figures 2, 4 and 5 as numbers.
fn distribution(study: &DuetStudy) -> Section {
    let shares = Quantiles::SHARES.map(|of| format!("{} of them", share(of)));
    let mut headings = vec![("run", Cells::Words), ("interval", Cells::Words), ("benchmarks", Cells::Number)];
    headings.extend(shares.iter().map(|name| (name.as_str(), Cells::Number)));
    let mut table = Table::new(&headings);
    for StudiedRun { widths, .. } in &study.runs {
        for kind in Kind::ALL {
            let Some(quantiles) = widths.quantiles(kind) else { continue };
            let mut row = vec![widths.run.clone(), kind.word().to_owned(), quantiles.count.to_string()];
            row.extend(quantiles.at.map(share));
            table.push(row);
        }
    }
    Section {
        title: "Widths over benchmarks are at most (Figs. 2, 4 and 5)".to_owned(),
        tables: vec![table],
        lines: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_three_digits() {
        let check = |factor: Option<f64>, want: &str| assert_eq!(times(factor), want);
        check(Some(1.0), "1.00x");
        check(Some(9.994), "9.99x");
        check(Some(9.996), "10.0x");
        check(Some(82.44), "82.4x");
        check(Some(99.96), "100x");
        check(None, "?");
    }
}
