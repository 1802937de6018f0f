//! The JSON forms, in types of their own. Keys are always there: what is not known is `null`.

use duetbench_cli::render::document;
use duetbench_core::detect::Change;
use serde::Serialize;

use super::{Beside, Elastibench, ElastibenchAnswer, Wanted};
use crate::papers::elastibench::{
    Agreement, Compared, Coverage, Finding, Findings, LeftOut, Narrowed, Narrowing, Relation, Spread,
};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The answer as JSON.
pub(super) fn json(study: &Elastibench) -> String {
    document::json(&Document::of(study))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    study: &'static str,
    confidence: f64,
    results_min: usize,
    #[serde(flatten)]
    answer: Answer<'a>,
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(tag = "question", rename_all = "snake_case")]
enum Answer<'a> {
    Changes {
        experiment: &'a str,
        changed: usize,
        changed_share: Option<f64>,
        sizes_of_changes: Option<Sizes>,
        sizes_of_others: Option<Sizes>,
        benchmarks: Vec<BesideRow<'a>>,
    },
    Agreement(Box<Agreed<'a>>),
    Repetitions {
        experiment: &'a str,
        reference: Option<&'a str>,
        width: Option<f64>,
        curve: Vec<Step>,
        benchmarks: Vec<NarrowedRow<'a>>,
        apart: &'a [String],
        not_in_reference: &'a [String],
        left_out: Vec<Out<'a>>,
    },
    Aa {
        experiment: &'a str,
        changed: usize,
        changed_share: Option<f64>,
        sizes: Option<Sizes>,
        benchmarks: Vec<FoundRow<'a>>,
        left_out: Vec<Out<'a>>,
    },
}

#[derive(Serialize)]
struct Agreed<'a> {
    first: &'a str,
    second: &'a str,
    relations: Relations,
    coverage: Covered,
    coverage_of_changes: Covered,
    possible_changes: Option<Sizes>,
    benchmarks: Vec<ComparedRow<'a>>,
    only_first: &'a [String],
    only_second: &'a [String],
    left_out_first: Vec<Out<'a>>,
    left_out_second: Vec<Out<'a>>,
}

#[derive(Serialize)]
struct Found {
    results: usize,
    median: f64,
    interval: [f64; 2],
    change: Option<&'static str>,
}

#[derive(Serialize)]
struct FoundRow<'a> {
    name: &'a str,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize)]
struct Out<'a> {
    name: &'a str,
    results: usize,
    reason: &'a str,
}

#[derive(Serialize)]
struct Sizes {
    count: usize,
    lower_quartile: f64,
    median: f64,
    upper_quartile: f64,
    largest: f64,
}

#[derive(Serialize)]
struct BesideRow<'a> {
    name: &'a str,
    results: usize,
    paper: Option<Found>,
    left_out: Option<&'a str>,
    verdict: &'static str,
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
}

#[derive(Serialize)]
struct Relations {
    compared: usize,
    agree: usize,
    disagree: usize,
    possible_change: usize,
    agree_share: Option<f64>,
}

#[derive(Serialize)]
struct Covered {
    benchmarks: usize,
    first_in_second: usize,
    second_in_first: usize,
    both: usize,
    first_in_second_share: Option<f64>,
    second_in_first_share: Option<f64>,
    both_share: Option<f64>,
}

#[derive(Serialize)]
struct ComparedRow<'a> {
    name: &'a str,
    first: Found,
    second: Found,
    agreement: &'static str,
    first_in_second: bool,
    second_in_first: bool,
    possible_change: Option<f64>,
}

#[derive(Serialize)]
struct Step {
    results: usize,
    benchmarks: usize,
    share: f64,
}

#[derive(Serialize)]
struct NarrowedRow<'a> {
    name: &'a str,
    results: usize,
    width: f64,
    width_wanted: f64,
    results_enough: Option<usize>,
}

impl<'a> Document<'a> {
    fn of(study: &'a Elastibench) -> Document<'a> {
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: &study.duet_version,
            study: "elastibench",
            confidence: study.procedure.confidence,
            results_min: study.procedure.results_min,
            answer: Answer::of(&study.answer),
            warnings: &study.warnings,
        }
    }
}

impl<'a> Answer<'a> {
    fn of(answer: &'a ElastibenchAnswer) -> Answer<'a> {
        match answer {
            ElastibenchAnswer::Changes { findings, beside } => Answer::Changes {
                experiment: &findings.experiment,
                changed: findings.changed(),
                changed_share: findings.changed_share(),
                sizes_of_changes: findings.sizes_where(true).map(Sizes::of),
                sizes_of_others: findings.sizes_where(false).map(Sizes::of),
                benchmarks: beside.iter().map(BesideRow::of).collect(),
            },
            ElastibenchAnswer::Agreement { first, second, agreement } => {
                Answer::Agreement(Box::new(Agreed::of((first, second), agreement)))
            }
            ElastibenchAnswer::Repetitions { experiment, target, narrowing } => {
                Answer::repetitions(experiment, target, narrowing)
            }
            ElastibenchAnswer::Aa { findings } => Answer::Aa {
                experiment: &findings.experiment,
                changed: findings.changed(),
                changed_share: findings.changed_share(),
                sizes: findings.sizes().map(Sizes::of),
                benchmarks: findings.found.iter().map(FoundRow::of).collect(),
                left_out: outs(&findings.left_out),
            },
        }
    }

    fn repetitions(experiment: &'a str, target: &'a Wanted, narrowing: &'a Narrowing) -> Answer<'a> {
        let (reference, width) = match target {
            Wanted::Reference(reference) => (Some(reference.as_str()), None),
            Wanted::Width(width) => (None, Some(*width)),
        };
        let step = |(results, share)| Step { results, benchmarks: narrowing.reached_by(results), share };
        let row = |one: &'a Narrowed| NarrowedRow {
            name: &one.benchmark,
            results: one.results,
            width: one.width,
            width_wanted: one.target,
            results_enough: one.enough,
        };
        Answer::Repetitions {
            experiment,
            reference,
            width,
            curve: narrowing.curve().into_iter().map(step).collect(),
            benchmarks: narrowing.benchmarks.iter().map(row).collect(),
            apart: &narrowing.apart,
            not_in_reference: &narrowing.not_in_reference,
            left_out: outs(&narrowing.left_out),
        }
    }
}

impl<'a> Agreed<'a> {
    fn of((first, second): (&'a Findings, &'a Findings), agreement: &'a Agreement) -> Agreed<'a> {
        Agreed {
            first: &first.experiment,
            second: &second.experiment,
            relations: Relations {
                compared: agreement.compared.len(),
                agree: agreement.count(Relation::Agree),
                disagree: agreement.count(Relation::Opposite),
                possible_change: agreement.count(Relation::PossibleChange),
                agree_share: agreement.share(Relation::Agree),
            },
            coverage: Covered::of(&agreement.coverage()),
            coverage_of_changes: Covered::of(&agreement.coverage_of_changes()),
            possible_changes: agreement.possible_changes().map(Sizes::of),
            benchmarks: agreement.compared.iter().map(ComparedRow::of).collect(),
            only_first: &agreement.only_first,
            only_second: &agreement.only_second,
            left_out_first: outs(&first.left_out),
            left_out_second: outs(&second.left_out),
        }
    }
}

fn outs(left_out: &[LeftOut]) -> Vec<Out<'_>> {
    left_out.iter().map(Out::of).collect()
}

impl<'a> Out<'a> {
    fn of(out: &'a LeftOut) -> Out<'a> {
        Out { name: &out.benchmark, results: out.results, reason: &out.reason }
    }
}

impl Found {
    fn of(finding: &Finding) -> Found {
        Found {
            results: finding.results,
            median: finding.median,
            interval: [finding.interval.low, finding.interval.high],
            change: finding.change().map(Change::word),
        }
    }
}

impl<'a> FoundRow<'a> {
    fn of(finding: &'a Finding) -> FoundRow<'a> {
        FoundRow { name: &finding.benchmark, found: Found::of(finding) }
    }
}

impl Sizes {
    fn of(spread: Spread) -> Sizes {
        let Spread { count, lower_quartile, median, upper_quartile, largest } = spread;
        Sizes { count, lower_quartile, median, upper_quartile, largest }
    }
}

impl Covered {
    fn of(coverage: &Coverage) -> Covered {
        let Coverage { of, first_in_second, second_in_first, both } = *coverage;
        Covered {
            benchmarks: of,
            first_in_second,
            second_in_first,
            both,
            first_in_second_share: coverage.share(first_in_second),
            second_in_first_share: coverage.share(second_in_first),
            both_share: coverage.share(both),
        }
    }
}

impl<'a> BesideRow<'a> {
    fn of(beside: &'a Beside) -> BesideRow<'a> {
        BesideRow {
            name: &beside.benchmark,
            results: beside.paper.as_ref().map_or_else(|out| out.results, |finding| finding.results),
            paper: beside.paper.as_ref().ok().map(Found::of),
            left_out: beside.paper.as_ref().err().map(|out| out.reason.as_str()),
            verdict: beside.verdict.word(),
            ratio: beside.estimate.map(|estimate| estimate.ratio),
            interval: beside.estimate.map(|estimate| [estimate.ratio_low, estimate.ratio_high]),
        }
    }
}

impl<'a> ComparedRow<'a> {
    fn of(compared: &'a Compared) -> ComparedRow<'a> {
        let Compared { first, second } = compared;
        ComparedRow {
            name: &first.benchmark,
            first: Found::of(first),
            second: Found::of(second),
            agreement: compared.relation().word(),
            first_in_second: second.covers(first),
            second_in_first: first.covers(second),
            possible_change: compared.possible_change(),
        }
    }
}
