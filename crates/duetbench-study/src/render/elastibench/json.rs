//! The JSON forms, written key by key. Keys are always there: what is not known is `null`.

use duetbench_cli::render::document;
use duetbench_core::detect::Change;
use serde_json::{Value, json};

use super::{Beside, Elastibench, ElastibenchAnswer, Wanted};
use crate::papers::elastibench::{
    Agreement, Compared, Coverage, Finding, Findings, LeftOut, Narrowed, Narrowing, Relation,
};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The answer as JSON.
pub(super) fn json(study: &Elastibench) -> String {
    let answer = match &study.answer {
        ElastibenchAnswer::Changes { findings, beside } => changes(findings, beside),
        ElastibenchAnswer::Agreement { first, second, agreement } => agreed(first, second, agreement),
        ElastibenchAnswer::Repetitions { experiment, target, narrowing } => repetitions(experiment, target, narrowing),
        ElastibenchAnswer::Aa { findings } => aa(findings),
    };
    let mut document = json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": study.duet_version,
        "study": "elastibench",
        "confidence": study.procedure.confidence,
        "results_min": study.procedure.results_min,
    });
    merge(&mut document, answer);
    merge(&mut document, json!({ "warnings": study.warnings }));
    document::json(&document)
}

/// Appends the entries of an object to another.
fn merge(object: &mut Value, more: Value) {
    if let (Value::Object(entries), Value::Object(more)) = (object, more) {
        entries.extend(more);
    }
}

fn changes(findings: &Findings, besides: &[Beside]) -> Value {
    json!({
        "question": "changes",
        "experiment": findings.experiment,
        "changed": findings.changed(),
        "changed_share": findings.changed_share(),
        "sizes_of_changes": findings.sizes_where(true),
        "sizes_of_others": findings.sizes_where(false),
        "benchmarks": besides.iter().map(beside).collect::<Vec<_>>(),
    })
}

fn agreed(first: &Findings, second: &Findings, agreement: &Agreement) -> Value {
    json!({
        "question": "agreement",
        "first": first.experiment,
        "second": second.experiment,
        "relations": {
            "compared": agreement.compared.len(),
            "agree": agreement.count(Relation::Agree),
            "disagree": agreement.count(Relation::Opposite),
            "possible_change": agreement.count(Relation::PossibleChange),
            "agree_share": agreement.share(Relation::Agree),
        },
        "coverage": covered(&agreement.coverage()),
        "coverage_of_changes": covered(&agreement.coverage_of_changes()),
        "possible_changes": agreement.possible_changes(),
        "benchmarks": agreement.compared.iter().map(compared).collect::<Vec<_>>(),
        "only_first": agreement.only_first,
        "only_second": agreement.only_second,
        "left_out_first": left_out(&first.left_out),
        "left_out_second": left_out(&second.left_out),
    })
}

fn repetitions(experiment: &str, target: &Wanted, narrowing: &Narrowing) -> Value {
    let (reference, width) = match target {
        Wanted::Reference(reference) => (Some(reference), None),
        Wanted::Width(width) => (None, Some(width)),
    };
    let curve = narrowing.curve().into_iter().map(
        |(results, share)| json!({ "results": results, "benchmarks": narrowing.reached_by(results), "share": share }),
    );
    json!({
        "question": "repetitions",
        "experiment": experiment,
        "reference": reference,
        "width": width,
        "curve": curve.collect::<Vec<_>>(),
        "benchmarks": narrowing.benchmarks.iter().map(narrowed).collect::<Vec<_>>(),
        "apart": narrowing.apart,
        "not_in_reference": narrowing.not_in_reference,
        "left_out": left_out(&narrowing.left_out),
    })
}

/// A benchmark with the results at which its interval is as narrow as wanted.
pub(super) fn narrowed(one: &Narrowed) -> Value {
    json!({
        "name": one.benchmark,
        "results": one.results,
        "width": one.width,
        "width_wanted": one.target,
        "results_enough": one.enough,
    })
}

/// A benchmark with what was found of it.
pub(super) fn named(finding: &Finding) -> Value {
    let mut object = json!({ "name": finding.benchmark });
    merge(&mut object, found(finding));
    object
}

fn aa(findings: &Findings) -> Value {
    json!({
        "question": "aa",
        "experiment": findings.experiment,
        "changed": findings.changed(),
        "changed_share": findings.changed_share(),
        "sizes": findings.sizes(),
        "benchmarks": findings.found.iter().map(named).collect::<Vec<_>>(),
        "left_out": left_out(&findings.left_out),
    })
}

/// Benchmarks of which nothing is said, each with the reason.
pub(super) fn left_out(left_out: &[LeftOut]) -> Vec<Value> {
    let one = |out: &LeftOut| json!({ "name": out.benchmark, "results": out.results, "reason": out.reason });
    left_out.iter().map(one).collect()
}

fn found(finding: &Finding) -> Value {
    json!({
        "results": finding.results,
        "median": finding.median,
        "interval": [finding.interval.low, finding.interval.high],
        "change": finding.change().map(Change::word),
    })
}

fn covered(coverage: &Coverage) -> Value {
    let Coverage { of, first_in_second, second_in_first, both } = *coverage;
    json!({
        "benchmarks": of,
        "first_in_second": first_in_second,
        "second_in_first": second_in_first,
        "both": both,
        "first_in_second_share": coverage.share(first_in_second),
        "second_in_first_share": coverage.share(second_in_first),
        "both_share": coverage.share(both),
    })
}

/// A benchmark by the paper's rule and by ours.
pub(super) fn beside(beside: &Beside) -> Value {
    json!({
        "name": beside.benchmark,
        "results": beside.paper.as_ref().map_or_else(|out| out.results, |finding| finding.results),
        "paper": beside.paper.as_ref().ok().map(found),
        "left_out": beside.paper.as_ref().err().map(|out| &out.reason),
        "verdict": beside.verdict.word(),
        "ratio": beside.estimate.map(|estimate| estimate.ratio),
        "interval": beside.estimate.map(|estimate| [estimate.ratio_low, estimate.ratio_high]),
    })
}

/// A benchmark in both experiments.
pub(super) fn compared(compared: &Compared) -> Value {
    let Compared { first, second } = compared;
    json!({
        "name": first.benchmark,
        "first": found(first),
        "second": found(second),
        "agreement": compared.relation().word(),
        "first_in_second": second.covers(first),
        "second_in_first": first.covers(second),
        "possible_change": compared.possible_change(),
    })
}
