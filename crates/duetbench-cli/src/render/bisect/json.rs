//! The JSON format, in types of its own; described by `schema/bisect-v1.schema.json`. Keys are always there: a value that is not known is
//! `null`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::bisection::{self, Answer, Bisection, Commit, Found};
use crate::render::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
pub(super) const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    answer: &'static str,
    good: &'a str,
    bad: &'a str,
    commits: usize,
    threshold: f64,
    benchmark: Option<&'a str>,
    ratio: Option<f64>,
    steps: Vec<Step<'a>>,
    candidates: Vec<&'a str>,
    others: Vec<Other<'a>>,
    skipped: Vec<Skipped<'a>>,
    compared: Vec<Compared<'a>>,
    detects: Option<f64>,
    expected: Vec<Expected>,
}

#[derive(Serialize)]
struct Step<'a> {
    commit: &'a str,
    subject: &'a str,
    parent: &'a str,
    hidden: Vec<&'a str>,
    ratio: f64,
    probability: f64,
    run: Option<&'a str>,
    verdict: Option<&'static str>,
}

#[derive(Serialize)]
struct Other<'a> {
    name: &'a str,
    ratio: f64,
    ratio_of_steps: Option<f64>,
    explained: Option<bool>,
}

#[derive(Serialize)]
struct Skipped<'a> {
    commit: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Compared<'a> {
    base: &'a str,
    head: &'a str,
    run: Option<&'a str>,
    identical: bool,
    ratio: Option<f64>,
    pairs: usize,
    took_s: f64,
    measured_s: f64,
}

#[derive(Serialize)]
struct Expected {
    change: f64,
    pairs: f64,
}

/// The result as JSON.
pub(super) fn json(bisection: &Bisection) -> String {
    let id = |at: usize| bisection.commits[at].id.as_str();
    let (answer, steps, candidates) = match &bisection.answer {
        Answer::Steps(steps) => ("steps", &steps[..], 0..0),
        Answer::NothingSlower => ("nothing_slower", &[][..], 0..0),
        Answer::Gone => ("gone", &[][..], 0..0),
        Answer::CannotTell { first, last } => ("cannot_tell", &[][..], *first..*last + 1),
    };
    let step = |step| of_step(bisection, step);
    let others = bisection.others.iter().map(|one| Other {
        name: &one.name,
        ratio: one.ratio,
        ratio_of_steps: one.ratio_of_steps,
        explained: one.is_explained(),
    });
    let compared = bisection.compared.iter().map(|shown| {
        let bisection::Compared { of, pairs, took_s, measured_s } = &shown.compared;
        Compared {
            base: id(of.base),
            head: id(of.head),
            run: of.run.as_deref(),
            identical: of.run.is_none(),
            ratio: shown.ratio,
            pairs: *pairs,
            took_s: *took_s,
            measured_s: *measured_s,
        }
    });
    let skipped = bisection.skipped.iter().map(|(at, reason)| Skipped { commit: id(*at), reason });
    document::json(&Document {
        answer,
        threshold: bisection.threshold,
        benchmark: bisection.benchmark.as_deref(),
        ratio: bisection.ratio,
        steps: steps.iter().map(step).collect(),
        candidates: candidates.map(id).collect(),
        others: others.collect(),
        skipped: skipped.collect(),
        compared: compared.collect(),
        detects: bisection.detects,
        ..Document::of(&bisection.commits, &bisection.duet_version)
    })
}

fn of_step<'a>(bisection: &'a Bisection, step: &'a Found) -> Step<'a> {
    let id = |at: usize| bisection.commits[at].id.as_str();
    Step {
        commit: id(step.culprit),
        subject: &bisection.commits[step.culprit].subject,
        parent: id(step.parent),
        hidden: (step.parent + 1..step.culprit).map(id).collect(),
        ratio: step.ratio,
        probability: step.probability,
        run: step.run.as_deref(),
        verdict: step.verdict,
    }
}

/// The plan of a search as JSON.
pub(super) fn plan(commits: &[Commit], forecast: &BTreeMap<u32, f64>) -> String {
    let expected =
        forecast.iter().map(|(percent, pairs)| Expected { change: f64::from(*percent) / 100.0, pairs: *pairs });
    document::json(&Document {
        expected: expected.collect(),
        candidates: commits[1..].iter().map(|commit| commit.id.as_str()).collect(),
        ..Document::of(commits, env!("CARGO_PKG_VERSION"))
    })
}

impl<'a> Document<'a> {
    /// A search of which nothing is known yet.
    fn of(commits: &'a [Commit], duet_version: &'a str) -> Document<'a> {
        let end = |commit: Option<&'a Commit>| commit.map_or("", |commit| commit.id.as_str());
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version,
            answer: "planned",
            good: end(commits.first()),
            bad: end(commits.last()),
            commits: commits.len().saturating_sub(1),
            threshold: 0.0,
            benchmark: None,
            ratio: None,
            steps: Vec::new(),
            candidates: Vec::new(),
            others: Vec::new(),
            skipped: Vec::new(),
            compared: Vec::new(),
            detects: None,
            expected: Vec::new(),
        }
    }
}
