//! The JSON form, in types of its own. Keys are always there: what is not known is `null`.

use duetbench_core::detect::{Change, Detected, Footing, Summary};
use duetbench_core::recording::Level;
use serde::Serialize;

use super::rows::{better, planned};
use super::{Answered, Side};
use crate::render::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The answer as JSON.
pub(super) fn json(answered: &Answered) -> String {
    document::json(&Document::of(answered))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    base: &'a str,
    head: &'a str,
    exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    unpaired: Option<Apart>,
    paper_rule: Option<PaperRule>,
    duet_rule: Option<DuetRule>,
    benchmarks: Vec<Benchmark<'a>>,
    only_base: &'a [String],
    only_head: &'a [String],
    plan: Option<Plan<'a>>,
    warnings: &'a [String],
}

/// The data behind the two sides of `duet analyze`.
#[derive(Serialize)]
struct Apart {
    base: Sided,
    head: Sided,
    advice: Vec<String>,
}

#[derive(Serialize)]
struct Sided {
    files: usize,
    repetitions: Vec<Repeated>,
    units_min: usize,
    units_max: usize,
}

#[derive(Serialize)]
struct Repeated {
    level: &'static str,
    min: usize,
    max: usize,
}

impl Sided {
    fn of(side: &Side) -> Sided {
        let repeated =
            |(level, min, max): &(Level, usize, usize)| Repeated { level: level.word(), min: *min, max: *max };
        let Footing { repetitions, units, .. } = &side.footing;
        let repetitions = repetitions.iter().map(repeated).collect();
        Sided { files: side.files, repetitions, units_min: units.0, units_max: units.1 }
    }
}

#[derive(Serialize)]
struct PaperRule {
    statistic: &'static str,
    confidence: f64,
    threshold: f64,
}

#[derive(Serialize)]
struct DuetRule {
    threshold: f64,
    alpha: f64,
    false_discovery_rate: f64,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    name: &'a str,
    unit: &'a str,
    better: &'static str,
    base: f64,
    head: f64,
    paper: Option<Paper>,
    duet: Option<Duet>,
    plan_differs: Option<&'static str>,
}

#[derive(Serialize)]
struct Paper {
    base_interval: [f64; 2],
    head_interval: [f64; 2],
    change_rate: Option<f64>,
    change: Option<&'static str>,
}

#[derive(Serialize)]
struct Duet {
    verdict: &'static str,
    base_units: usize,
    head_units: usize,
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
    p_value: Option<f64>,
    p_adjusted: Option<f64>,
    minimal_detectable_change: Option<f64>,
}

#[derive(Serialize)]
struct Plan<'a> {
    compared: usize,
    changes_full: usize,
    changes_planned: usize,
    false_changes: &'a [String],
    missed: &'a [String],
    false_rate: Option<f64>,
    missed_rate: Option<f64>,
}

impl<'a> Document<'a> {
    fn of(answered: &'a Answered) -> Document<'a> {
        let (rules, detection) = (&answered.rules, &answered.detection);
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: &answered.duet_version,
            base: &detection.base,
            head: &detection.head,
            exit_code: answered.exit_code,
            unpaired: answered.unpaired.as_ref().map(|unpaired| Apart {
                base: Sided::of(&unpaired.base),
                head: Sided::of(&unpaired.head),
                advice: unpaired.commands(),
            }),
            paper_rule: rules.paper.as_ref().map(|r| PaperRule {
                statistic: r.statistic.word(),
                confidence: r.confidence,
                threshold: r.threshold,
            }),
            duet_rule: rules.house.as_ref().map(|r| DuetRule {
                threshold: r.threshold,
                alpha: r.alpha,
                false_discovery_rate: r.fdr,
            }),
            benchmarks: detection.benchmarks.iter().map(|b| Benchmark::of(b, answered)).collect(),
            only_base: &detection.only_base,
            only_head: &detection.only_head,
            plan: detection.fidelity.as_ref().map(|f| Plan {
                compared: f.compared,
                changes_full: f.full,
                changes_planned: f.reduced,
                false_changes: &f.false_changes,
                missed: &f.missed,
                false_rate: f.false_rate(),
                missed_rate: f.missed_rate(),
            }),
            warnings: &detection.warnings,
        }
    }
}

impl<'a> Benchmark<'a> {
    fn of(detected: &'a Detected, answered: &Answered) -> Benchmark<'a> {
        let interval = |s: &Summary| [s.low, s.high];
        let finite = |v: f64| Some(v).filter(|v| v.is_finite());
        Benchmark {
            name: &detected.benchmark,
            unit: &detected.unit,
            better: better(detected.better),
            base: detected.results[0],
            head: detected.results[1],
            paper: detected.paper.as_ref().map(|p| Paper {
                base_interval: interval(&p.base),
                head_interval: interval(&p.head),
                change_rate: finite(p.rate()),
                change: p.change.map(Change::word),
            }),
            duet: detected.house.as_ref().map(|h| Duet {
                verdict: h.answer.word(),
                base_units: h.units[0],
                head_units: h.units[1],
                ratio: h.test.and_then(|t| finite(t.ratio)),
                interval: h.test.map(|t| [t.low, t.high]),
                p_value: h.test.map(|t| t.p_value),
                p_adjusted: h.test.map(|t| t.p_adjusted),
                minimal_detectable_change: h.test.and_then(|t| finite(t.detectable)),
            }),
            plan_differs: planned(answered, &detected.benchmark),
        }
    }
}
