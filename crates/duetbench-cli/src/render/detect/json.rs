//! The JSON form, written key by key. Keys are always there: what is not known is `null`.

use duetbench_core::detect::{Change, Detected, Fidelity, HouseFinding, PaperFinding, Summary};
use duetbench_core::recording::Level;
use serde_json::{Value, json};

use super::{Answered, Side};
use crate::render::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The answer as JSON.
pub(super) fn json(answered: &Answered) -> String {
    let (rules, detection) = (&answered.rules, &answered.detection);
    let unpaired = answered.unpaired.as_ref().map(
        |unpaired| json!({ "base": side(&unpaired.base), "head": side(&unpaired.head), "advice": unpaired.commands() }),
    );
    let paper_rule = rules.paper.as_ref().map(|rule| {
        json!({
            "statistic": rule.statistic.word(),
            "confidence": rule.confidence,
            "threshold": rule.threshold,
        })
    });
    let duet_rule = rules
        .house
        .as_ref()
        .map(|rule| json!({ "threshold": rule.threshold, "alpha": rule.alpha, "false_discovery_rate": rule.fdr }));
    let answer = json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": answered.duet_version,
        "base": detection.base,
        "head": detection.head,
        "exit_code": answered.exit_code,
        "unpaired": unpaired,
        "paper_rule": paper_rule,
        "duet_rule": duet_rule,
        "benchmarks": detection.benchmarks.iter().map(|b| benchmark(b, answered)).collect::<Vec<_>>(),
        "only_base": detection.only_base,
        "only_head": detection.only_head,
        "plan": detection.fidelity.as_ref().map(fidelity),
        "warnings": detection.remarks().collect::<Vec<_>>(),
    });
    document::json(&document::without_null(answer, &["unpaired"]))
}

/// The data behind a side of `duet analyze`.
fn side(Side { footing, files, .. }: &Side) -> Value {
    let repeated = |(level, min, max): &(Level, usize, usize)| json!({ "level": level.word(), "min": min, "max": max });
    json!({
        "files": files,
        "repetitions": footing.repetitions.iter().map(repeated).collect::<Vec<_>>(),
        "units_min": footing.units.0,
        "units_max": footing.units.1,
    })
}

/// The error that the plan's repetitions make about a benchmark.
fn planned(answered: &Answered, benchmark: &str) -> Option<&'static str> {
    let fidelity = answered.detection.fidelity.as_ref()?;
    let among = |names: &[String]| names.iter().any(|name| name == benchmark);
    match (among(&fidelity.false_changes), among(&fidelity.missed)) {
        (true, true) => Some("other"),
        (true, false) => Some("false"),
        (false, true) => Some("missed"),
        (false, false) => None,
    }
}

/// A benchmark with what either rule says of it.
pub(super) fn benchmark(detected: &Detected, answered: &Answered) -> Value {
    json!({
        "name": detected.benchmark,
        "unit": detected.unit,
        "better": detected.better,
        "base": detected.results[0],
        "head": detected.results[1],
        "paper": detected.paper.as_ref().map(by_paper),
        "duet": detected.house.as_ref().map(by_duet),
        "plan_differs": planned(answered, &detected.benchmark),
    })
}

fn by_paper(test: &PaperFinding) -> Value {
    let interval = |summary: &Summary| [summary.low, summary.high];
    json!({
        "base_interval": interval(&test.base),
        "head_interval": interval(&test.head),
        "change_rate": test.rate(),
        "change": test.change.map(Change::word),
    })
}

fn by_duet(house: &HouseFinding) -> Value {
    json!({
        "verdict": house.answer.word(),
        "base_units": house.units[0],
        "head_units": house.units[1],
        "ratio": house.test.map(|test| test.ratio),
        "interval": house.test.map(|test| [test.low, test.high]),
        "p_value": house.test.map(|test| test.p_value),
        "p_adjusted": house.test.map(|test| test.p_adjusted),
        "minimal_detectable_change": house.test.map(|test| test.detectable),
    })
}

fn fidelity(fidelity: &Fidelity) -> Value {
    json!({
        "compared": fidelity.compared,
        "changes_full": fidelity.full,
        "changes_planned": fidelity.reduced,
        "false_changes": fidelity.false_changes,
        "missed": fidelity.missed,
        "false_rate": fidelity.false_rate(),
        "missed_rate": fidelity.missed_rate(),
    })
}
