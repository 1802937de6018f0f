//! The study as a document.

use duetbench_cli::render::document::{Cells, Document, Table, Title};
use duetbench_cli::render::format::{duration, share};
use duetbench_core::detect::Fidelity;
use duetbench_core::tune::Metric;

use super::super::section::{Section, Told};
use super::{Studied, StudiedFile, StudiedProject};
use crate::papers::uoptime::{Compat, Contrast, Method, RateSummary, Savings, rate_summary};

/// P-values below which metrics are said to differ.
const DIFFERENT: f64 = 0.05;

/// The study as a document.
pub fn document(studied: &Studied) -> Document {
    let told = Told {
        title: Title {
            command: "duet-study uoptime",
            version: studied.duet_version.clone(),
            subject: subject(studied),
        },
        sections: sections(studied),
        warnings: studied.warnings.clone(),
        note: None,
    };
    told.document()
}

fn subject(studied: &Studied) -> String {
    let rules = match studied.settings.compat {
        Compat::Paper => "by the rules of the paper",
        Compat::PaperCode => "by the rules of its published code",
    };
    format!(
        "µOpTime's questions, {rules}, stable up to {}, intervals of {}",
        share(studied.settings.threshold),
        share(studied.settings.confidence),
    )
}

fn sections(studied: &Studied) -> Vec<Section> {
    let mut sections = Vec::new();
    let title = |method| match method {
        Method::UOpTime => "RQ1: time saved by tuning",
        Method::Minimum => "RQ1: time saved by the smallest configurations",
        Method::Random => "RQ1: time saved by random configurations",
    };
    sections.extend(Method::ALL.map(|method| savings(studied, title(method).to_owned(), method, |file| &file.savings)));
    sections.push(contrasts(studied));
    let warm = format!("RQ3: time saved by tuning, the first {} iterations of every fork removed", studied.warm_up);
    sections.push(savings(studied, warm, Method::UOpTime, |file| &file.warm));
    sections.push(changes(studied));
    sections.into_iter().filter(|section| section.tables.iter().any(|table| !table.is_empty())).collect()
}

fn savings(studied: &Studied, title: String, method: Method, of: fn(&StudiedFile) -> &Vec<Savings>) -> Section {
    let mut headings = vec![("newest version", Cells::Name), ("benchmarks", Cells::Number), ("full", Cells::Number)];
    headings.extend(Metric::ALL.map(|metric| (metric.word(), Cells::Number)));
    let mut table = Table::new(&headings);
    for file in studied.files.iter().filter(|file| file.newest) {
        let of_method: Vec<&Savings> = of(file).iter().filter(|s| s.method == method).collect();
        let Some(first) = of_method.first() else { continue };
        let full = duration(first.full_s + first.warm_up_full_s);
        let mut row = vec![file.stem.clone(), first.benchmarks.to_string(), full];
        row.extend(of_method.iter().map(|s| saved_and_within(s)));
        table.push(row);
    }
    let below = "share of the time saved, warm-up counted; then the percentage of benchmarks whose result changes by no more than 1, 3 and \
         5 %, on the same data";
    Section { title, tables: vec![table], lines: vec![below.to_owned()] }
}

fn saved_and_within(s: &Savings) -> String {
    let percent = |n: usize| format!("{:.0}", 100.0 * n as f64 / s.benchmarks.max(1) as f64);
    let within: Vec<String> = s.within[..3].iter().map(|n| percent(*n)).collect();
    format!("{:.1}% / {}", 100.0 * s.overall_saved(), within.join(" "))
}

fn contrasts(studied: &Studied) -> Section {
    let headings = [
        ("newest version", Cells::Name),
        ("changes", Cells::Words),
        ("H", Cells::Number),
        ("p", Cells::Number),
        ("metrics that differ", Cells::Words),
    ];
    let mut table = Table::new(&headings);
    for file in studied.files.iter().filter(|file| file.newest) {
        for contrast in &file.contrasts {
            table.push(vec![
                file.stem.clone(),
                (if contrast.absolute { "absolute" } else { "signed" }).to_owned(),
                format!("{:.2}", contrast.statistic),
                format!("{:.2e}", contrast.p_value),
                different(contrast),
            ]);
        }
    }
    let below = format!(
        "Kruskal and Wallis' test of the changes of results by metric; where p < {DIFFERENT}, the pairs with Dunn's p < {DIFFERENT} after \
         Bonferroni's adjustment, with Cliff's delta"
    );
    Section { title: "RQ2: differences between the metrics".to_owned(), tables: vec![table], lines: vec![below] }
}

fn different(contrast: &Contrast) -> String {
    if contrast.p_value >= DIFFERENT {
        return "none".into();
    }
    let pairs = contrast.pairs.iter().filter(|pair| pair.p_adjusted < DIFFERENT);
    let words: Vec<String> = pairs
        .map(|pair| {
            let (first, second) = (pair.first.word(), pair.second.word());
            format!("{first}-{second} {} ({:+.2})", pair.size.word(), pair.delta)
        })
        .collect();
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

fn changes(studied: &Studied) -> Section {
    let headings = [
        ("project", Cells::Name),
        ("pairs", Cells::Number),
        ("method", Cells::Words),
        ("compared", Cells::Number),
        ("full", Cells::Number),
        ("reduced", Cells::Number),
        ("false", Cells::Number),
        ("missed", Cells::Number),
        ("false rate", Cells::Words),
        ("missed rate", Cells::Words),
    ];
    let mut table = Table::new(&headings);
    for project in &studied.projects {
        for method in Method::ALL {
            table.push(change_row(project, method, studied.settings.compat));
        }
    }
    let below = "changes found by the full and by the reduced configurations, all pairs of versions together; rates from the least to the \
         greatest of a pair, in brackets their median";
    Section { title: "RQ4: performance changes found".to_owned(), tables: vec![table], lines: vec![below.to_owned()] }
}

fn change_row(project: &StudiedProject, method: Method, compat: Compat) -> Vec<String> {
    // Without benchmarks in common there is nothing to be right or wrong about; only the published code counts such pairs.
    let counts = |f: &&Fidelity| f.compared > 0 || compat == Compat::PaperCode;
    let of_method = project.pairs.iter().filter(|pair| pair.method == method);
    let all: Vec<_> = of_method.map(|pair| &pair.fidelity).filter(counts).collect();
    let total = |of: fn(&Fidelity) -> usize| all.iter().map(|f| of(f)).sum::<usize>().to_string();
    let rates = |of: fn(&Fidelity) -> Option<f64>| {
        let rates: Vec<Option<f64>> = all.iter().map(|f| of(f)).collect();
        rate_summary(&rates, compat).map_or_else(|| "?".to_owned(), |summary| range(&summary))
    };
    vec![
        project.project.clone(),
        all.len().to_string(),
        method.word().to_owned(),
        total(|f| f.compared),
        total(|f| f.full),
        total(|f| f.reduced),
        total(|f| f.false_changes.len()),
        total(|f| f.missed.len()),
        rates(|f| f.false_rate()),
        rates(|f| f.missed_rate()),
    ]
}

fn range(summary: &RateSummary) -> String {
    let RateSummary { low, median, high } = summary;
    format!("{} to {} ({})", share(*low), share(*high), share(*median))
}
