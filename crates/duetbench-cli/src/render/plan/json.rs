//! The JSON form, in types of its own; described by `schema/plan-v1.schema.json`. Keys are always there: what is not known is `null`.

use duetbench_core::calibrate::{Proposal, Proposed};
use serde::Serialize;

use super::Planned;
use super::rows::needed;
use crate::render::calibrate::Changed;
use crate::render::document;

/// Version of the format; goes up when a reader of the previous one could misread the next.
pub const SCHEMA_VERSION: u32 = 1;

/// The plan as JSON.
pub(super) fn json(planned: &Planned) -> String {
    document::json(&Document::of(planned))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    exit_code: u8,
    calibration: Calibration<'a>,
    target: Target,
    takes_s: f64,
    enough_s: Option<f64>,
    instances_enough: Option<u32>,
    command: Option<String>,
    benchmarks: Vec<Benchmark<'a>>,
}

#[derive(Serialize)]
struct Calibration<'a> {
    run: &'a str,
    made: &'a str,
    changed: Vec<Changed<'a>>,
}

#[derive(Serialize)]
struct Target {
    change: f64,
    alpha: f64,
    power: f64,
    within_s: Option<f64>,
    instances: u32,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    package: &'a str,
    name: &'a str,
    sees: bool,
    design: Option<Design>,
    needed: Option<Design>,
}

#[derive(Serialize)]
struct Design {
    builds: u32,
    forks_per_build: u32,
    slices: u32,
    takes_s: f64,
    minimal_detectable_change: f64,
}

impl<'a> Document<'a> {
    fn of(planned: &'a Planned) -> Document<'a> {
        let (target, suite, made) = (&planned.target, &planned.suite, &planned.made);
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: &planned.duet_version,
            exit_code: planned.exit_code,
            calibration: Calibration { run: &made.run, made: &made.made, changed: Changed::all(&planned.changed) },
            target: Target {
                change: target.change,
                alpha: target.level.alpha,
                power: target.level.power,
                within_s: target.within_s,
                instances: target.instances,
            },
            takes_s: suite.takes_s,
            enough_s: suite.enough_s,
            instances_enough: suite.instances_enough,
            command: planned.command(),
            benchmarks: suite.benchmarks.iter().map(Benchmark::of).collect(),
        }
    }
}

impl<'a> Benchmark<'a> {
    fn of(proposed: &'a Proposed) -> Benchmark<'a> {
        Benchmark {
            package: &proposed.id.package,
            name: &proposed.id.name,
            sees: proposed.sees(),
            design: proposed.design().map(Design::of),
            needed: needed(proposed).map(Design::of),
        }
    }
}

impl Design {
    fn of(proposal: Proposal) -> Design {
        Design {
            builds: proposal.builds,
            forks_per_build: proposal.forks_per_build,
            slices: proposal.slices,
            takes_s: proposal.takes_s,
            minimal_detectable_change: proposal.minimal_detectable_change,
        }
    }
}
