//! The JSON form, written key by key; described by `schema/plan-v1.schema.json`. Keys are always there: what is not known is `null`.

use duetbench_core::calibrate::Proposed;
use serde_json::{Value, json};

use super::Planned;
use crate::render::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// The plan as JSON.
pub(super) fn json(planned: &Planned) -> String {
    let (target, suite, made) = (&planned.target, &planned.suite, &planned.made);
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": planned.duet_version,
        "exit_code": planned.exit_code,
        "calibration": { "run": made.run, "made": made.made, "changed": planned.changed },
        "target": {
            "change": target.change,
            "alpha": target.level.alpha,
            "power": target.level.power,
            "within_s": target.within_s,
            "instances": target.instances,
        },
        "takes_s": suite.takes_s,
        "enough_s": suite.enough_s,
        "instances_enough": suite.instances_enough,
        "command": planned.command(),
        "benchmarks": suite.benchmarks.iter().map(benchmark).collect::<Vec<_>>(),
    }))
}

/// A benchmark with its design, and with the one that it would need to see the change where that is not enough.
pub(super) fn benchmark(proposed: &Proposed) -> Value {
    json!({
        "package": proposed.id.package,
        "name": proposed.id.name,
        "sees": proposed.sees(),
        "design": proposed.design(),
        "needed": proposed.answer.and_then(|answer| answer.err()?.needed),
    })
}
