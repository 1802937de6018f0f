//! The JSON format, written key by key; described by `schema/bisect-v1.schema.json`. Keys are always there: a value that is not known is
//! `null`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::bisection::{Answer, Bisection, Commit, Compared, Ends, Found, Inside, Shown, Sought};
use crate::render::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The result as JSON.
pub(super) fn json(bisection: &Bisection) -> String {
    let commits = Commits(&bisection.commits);
    let first = bisection.sought.first();
    let others = bisection.others.iter().map(|one| {
        json!({
            "name": one.name,
            "ratio": one.ratio,
            "ratio_of_steps": one.ratio_of_steps,
            "explained": one.is_explained(),
        })
    });
    let skipped = bisection.skipped.iter().map(|one| {
        json!({
            "commit": commits.id(one.commit),
            "benchmark": one.benchmark.as_ref().map(|id| &id.name),
            "reason": one.why,
        })
    });
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": bisection.duet_version,
        "answer": first.map_or_else(|| of_ends(&bisection.ends), |sought| word(&sought.answer)),
        "good": commits.id(0),
        "bad": commits.id(bisection.last),
        "commits": bisection.last,
        "threshold": bisection.threshold,
        "benchmark": first.map(|sought| &sought.benchmark),
        "ratio": first.map(|sought| sought.ratio),
        "steps": first.map(|sought| commits.steps(&sought.answer)).unwrap_or_default(),
        "candidates": first.map_or_else(|| commits.of_ends(bisection), |sought| commits.candidates(&sought.answer)),
        "further": bisection.sought.iter().skip(1).map(|sought| commits.further(sought)).collect::<Vec<_>>(),
        "others": others.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "compared": compared(bisection).collect::<Vec<_>>(),
        "detects": bisection.detects,
        "redefined": bisection.redefined,
        "expected": [],
        "inside_merges": null,
    }))
}

/// Every comparison.
pub(super) fn compared(bisection: &Bisection) -> impl Iterator<Item = Value> {
    bisection.compared.iter().map(|shown| Commits(&bisection.commits).compared(shown))
}

/// The plan of a search as JSON: nothing is known yet.
pub(super) fn plan(commits: &[Commit], inside: usize, forecast: &BTreeMap<u32, f64>) -> String {
    let last = commits.len() - 1;
    let expected =
        forecast.iter().map(|(percent, pairs)| json!({ "change": f64::from(*percent) / 100.0, "pairs": pairs }));
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": env!("CARGO_PKG_VERSION"),
        "answer": "planned",
        "good": commits[0].id,
        "bad": commits[last].id,
        "commits": last,
        "threshold": 0.0,
        "benchmark": null,
        "ratio": null,
        "steps": [],
        "candidates": commits[1..].iter().map(|commit| &commit.id).collect::<Vec<_>>(),
        "further": [],
        "others": [],
        "skipped": [],
        "compared": [],
        "detects": null,
        "redefined": [],
        "expected": expected.collect::<Vec<_>>(),
        "inside_merges": inside,
    }))
}

/// The answer where nothing regressed.
fn of_ends(ends: &Ends) -> &'static str {
    match ends {
        _ if ends.are_unusable() => "unusable",
        Ends { open, .. } if !open.is_empty() => "cannot_tell",
        _ => "nothing_slower",
    }
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

    fn steps(&self, answer: &Answer) -> Vec<Value> {
        let steps: &[Found] = if let Answer::Steps(steps) = answer { steps } else { &[] };
        steps.iter().map(|step| self.step(step)).collect()
    }

    fn candidates(&self, answer: &Answer) -> Vec<&'a str> {
        let left: &[usize] = if let Answer::CannotTell(left) = answer { left } else { &[] };
        left.iter().map(|&at| self.id(at)).collect()
    }

    /// All, where the end points leave it open whether anything is slower.
    fn of_ends(&self, bisection: &Bisection) -> Vec<&'a str> {
        let all = 1..=bisection.last;
        all.filter(|_| of_ends(&bisection.ends) == "cannot_tell").map(|at| self.id(at)).collect()
    }

    fn further(&self, sought: &Sought) -> Value {
        json!({
            "benchmark": sought.benchmark,
            "ratio": sought.ratio,
            "answer": word(&sought.answer),
            "steps": self.steps(&sought.answer),
            "candidates": self.candidates(&sought.answer),
        })
    }

    fn step(&self, step: &Found) -> Value {
        let culprit = &self.0[step.culprit];
        json!({
            "commit": culprit.id,
            "subject": culprit.subject,
            "parent": self.id(step.parent),
            "hidden": step.hidden.iter().map(|&at| self.id(at)).collect::<Vec<_>>(),
            "ratio": step.ratio,
            "probability": step.probability,
            "run": step.run,
            "verdict": step.verdict,
            "merge": culprit.merges(),
            "inside": step.inside.iter().map(|inside| self.inside(inside)).collect::<Vec<_>>(),
        })
    }

    fn inside(&self, inside: &Inside) -> Value {
        json!({
            "base": self.id(inside.base),
            "tip": self.id(inside.tip),
            "commits": inside.commits,
            "ratio": inside.ratio,
            "answer": if inside.answer == Answer::NotSlower { "not_slower" } else { word(&inside.answer) },
            "steps": self.steps(&inside.answer),
            "candidates": self.candidates(&inside.answer),
            "reason": if let Answer::Unusable(why) = &inside.answer { Some(why) } else { None },
        })
    }

    fn compared(&self, shown: &Shown) -> Value {
        let Compared { of, pairs, took_s, measured_s } = &shown.compared;
        json!({
            "base": self.id(of.pair.base),
            "head": self.id(of.pair.head),
            "benchmark": of.benchmark.as_ref().map(|id| &id.name),
            "run": of.run,
            "identical": of.run.is_none(),
            "ratio": shown.ratio,
            "pairs": pairs,
            "took_s": took_s,
            "measured_s": measured_s,
        })
    }
}
