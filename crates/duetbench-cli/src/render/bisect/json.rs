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
    further: Vec<Further<'a>>,
    others: Vec<Other<'a>>,
    skipped: Vec<Skipped<'a>>,
    compared: Vec<Compared<'a>>,
    detects: Option<f64>,
    expected: Vec<Expected>,
    inside_merges: Option<usize>,
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
    merge: bool,
    inside: Vec<Inside<'a>>,
}

#[derive(Serialize)]
struct Inside<'a> {
    base: &'a str,
    tip: &'a str,
    commits: usize,
    ratio: Option<f64>,
    answer: &'static str,
    steps: Vec<Step<'a>>,
    candidates: Vec<&'a str>,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Further<'a> {
    benchmark: &'a str,
    ratio: f64,
    answer: &'static str,
    steps: Vec<Step<'a>>,
    candidates: Vec<&'a str>,
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
    benchmark: Option<&'a str>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Compared<'a> {
    base: &'a str,
    head: &'a str,
    benchmark: Option<&'a str>,
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
    let commits = Commits(&bisection.commits);
    let first = bisection.sought.first();
    let further = bisection.sought.iter().skip(1).map(|sought| Further {
        benchmark: &sought.benchmark,
        ratio: sought.ratio,
        answer: word(&sought.answer),
        steps: commits.steps(&sought.answer),
        candidates: commits.candidates(&sought.answer),
    });
    let others = bisection.others.iter().map(|one| Other {
        name: &one.name,
        ratio: one.ratio,
        ratio_of_steps: one.ratio_of_steps,
        explained: one.is_explained(),
    });
    let skipped = bisection.skipped.iter().map(|one| Skipped {
        commit: commits.id(one.commit),
        benchmark: one.benchmark.as_ref().map(|id| id.name.as_str()),
        reason: &one.why,
    });
    document::json(&Document {
        answer: first.map_or("nothing_slower", |sought| word(&sought.answer)),
        threshold: bisection.threshold,
        benchmark: first.map(|sought| sought.benchmark.as_str()),
        ratio: first.map(|sought| sought.ratio),
        steps: first.map(|sought| commits.steps(&sought.answer)).unwrap_or_default(),
        candidates: first.map(|sought| commits.candidates(&sought.answer)).unwrap_or_default(),
        further: further.collect(),
        others: others.collect(),
        skipped: skipped.collect(),
        compared: bisection.compared.iter().map(|shown| commits.compared(shown)).collect(),
        detects: bisection.detects,
        ..Document::of(&bisection.commits[..=bisection.last], &bisection.duet_version)
    })
}

/// The answer from good to bad in a word.
fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Steps(_) => "steps",
        Answer::NotSlower => "gone",
        Answer::CannotTell(_) => "cannot_tell",
        Answer::Unusable(_) => "unusable",
    }
}

/// The commits, by whose numbers all is named.
struct Commits<'a>(&'a [Commit]);

impl<'a> Commits<'a> {
    fn id(&self, at: usize) -> &'a str {
        &self.0[at].id
    }

    fn steps(&self, answer: &'a Answer) -> Vec<Step<'a>> {
        let steps: &[Found] = if let Answer::Steps(steps) = answer { steps } else { &[] };
        steps.iter().map(|step| self.step(step)).collect()
    }

    fn candidates(&self, answer: &Answer) -> Vec<&'a str> {
        let left: &[usize] = if let Answer::CannotTell(left) = answer { left } else { &[] };
        left.iter().map(|&at| self.id(at)).collect()
    }

    fn step(&self, step: &'a Found) -> Step<'a> {
        let culprit = &self.0[step.culprit];
        Step {
            commit: &culprit.id,
            subject: &culprit.subject,
            parent: self.id(step.parent),
            hidden: step.hidden.iter().map(|&at| self.id(at)).collect(),
            ratio: step.ratio,
            probability: step.probability,
            run: step.run.as_deref(),
            verdict: step.verdict,
            merge: culprit.merges(),
            inside: step.inside.iter().map(|inside| self.inside(inside)).collect(),
        }
    }

    fn inside(&self, inside: &'a bisection::Inside) -> Inside<'a> {
        Inside {
            base: self.id(inside.base),
            tip: self.id(inside.tip),
            commits: inside.commits,
            ratio: inside.ratio,
            answer: if inside.answer == Answer::NotSlower { "not_slower" } else { word(&inside.answer) },
            steps: self.steps(&inside.answer),
            candidates: self.candidates(&inside.answer),
            reason: if let Answer::Unusable(why) = &inside.answer { Some(why) } else { None },
        }
    }

    fn compared(&self, shown: &'a bisection::Shown) -> Compared<'a> {
        let bisection::Compared { of, pairs, took_s, measured_s } = &shown.compared;
        Compared {
            base: self.id(of.pair.base),
            head: self.id(of.pair.head),
            benchmark: of.benchmark.as_ref().map(|id| id.name.as_str()),
            run: of.run.as_deref(),
            identical: of.run.is_none(),
            ratio: shown.ratio,
            pairs: *pairs,
            took_s: *took_s,
            measured_s: *measured_s,
        }
    }
}

/// The plan of a search as JSON.
pub(super) fn plan(commits: &[Commit], inside: usize, forecast: &BTreeMap<u32, f64>) -> String {
    let expected =
        forecast.iter().map(|(percent, pairs)| Expected { change: f64::from(*percent) / 100.0, pairs: *pairs });
    document::json(&Document {
        expected: expected.collect(),
        candidates: commits[1..].iter().map(|commit| commit.id.as_str()).collect(),
        inside_merges: Some(inside),
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
            further: Vec::new(),
            others: Vec::new(),
            skipped: Vec::new(),
            compared: Vec::new(),
            detects: None,
            expected: Vec::new(),
            inside_merges: None,
        }
    }
}
