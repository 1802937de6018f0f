//! The JSON form, in types of its own; described by `schema/calibrate-v1.schema.json`. Keys are always there: what is not known is
//! `null`.

use duetbench_core::BenchmarkId;
use duetbench_core::calibrate::{Alarms, Calibrated, Sight, Sources};
use serde::Serialize;

use super::note::{RateEntry, SeenEntry};
use super::words::blind_word;
use crate::calibration::CalibrationReport;
use crate::render::document;
use crate::render::version::VersionEntry;

/// Version of the format; goes up when a reader of the previous one could misread the next.
pub const SCHEMA_VERSION: u32 = 1;

/// The calibration as JSON.
pub(super) fn json(report: &CalibrationReport) -> String {
    document::json(&Document::of(report))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    exit_code: u8,
    run: &'a str,
    made: &'a str,
    measured_s: f64,
    version: VersionEntry<'a>,
    machine: Vec<Fact<'a>>,
    decision: Decision,
    budgets_s: &'a [f64],
    seen: Vec<Option<SeenEntry>>,
    alarms: AlarmsEntry,
    shares: Option<Shares>,
    blind: usize,
    benchmarks: Vec<Benchmark<'a>>,
    failed: Vec<Failed<'a>>,
}

#[derive(Serialize)]
struct Fact<'a> {
    fact: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct Decision {
    threshold: f64,
    alpha: f64,
    false_discovery_rate: f64,
    power: f64,
}

#[derive(Serialize)]
struct AlarmsEntry {
    units: u32,
    called_changed: RateEntry,
    planted_found: RateEntry,
    half_found: RateEntry,
}

#[derive(Serialize)]
struct Shares {
    layout: Option<f64>,
    fork: f64,
    slice: f64,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    package: &'a str,
    name: &'a str,
    mode: &'static str,
    sources: Option<SourcesEntry>,
    costs: Costs,
    sights: Vec<Option<SightEntry>>,
    blind: Option<&'static str>,
}

#[derive(Serialize)]
struct SourcesEntry {
    layout: Option<f64>,
    fork: f64,
    slice: f64,
    slices: u32,
    degrees_of_freedom: f64,
}

#[derive(Serialize)]
struct Costs {
    build_s: f64,
    fork_s: f64,
    slice_s: f64,
}

#[derive(Serialize)]
struct SightEntry {
    builds: u32,
    forks_per_build: u32,
    minimal_detectable_change: f64,
    floor: f64,
}

#[derive(Serialize)]
struct Failed<'a> {
    package: &'a str,
    name: &'a str,
    reason: &'a str,
}

impl<'a> Document<'a> {
    fn of(report: &'a CalibrationReport) -> Document<'a> {
        let (made, calibration) = (&report.made, &report.made.calibration);
        let version = &report.version;
        let decision = &calibration.decision;
        let shares = calibration.shares();
        let layout = calibration.has_layout();
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: &report.duet_version,
            exit_code: report.exit_code(),
            run: &made.run,
            made: &made.made,
            measured_s: report.measured_s,
            version: VersionEntry::of(version),
            machine: made.machine.facts().map(|(fact, value)| Fact { fact, value }).collect(),
            decision: Decision {
                threshold: decision.threshold,
                alpha: decision.alpha,
                false_discovery_rate: decision.false_discovery_rate,
                power: decision.power,
            },
            budgets_s: &calibration.budgets_s,
            seen: calibration.suite_sights().iter().map(|seen| seen.as_ref().map(SeenEntry::of)).collect(),
            alarms: AlarmsEntry::of(&calibration.alarms),
            shares: shares.map(|s| Shares { layout: layout.then_some(s.layout), fork: s.fork, slice: s.slice }),
            blind: calibration.blind().count(),
            benchmarks: calibration.benchmarks.iter().map(Benchmark::of).collect(),
            failed: report.failed.iter().map(Failed::of).collect(),
        }
    }
}

impl AlarmsEntry {
    fn of(alarms: &Alarms) -> AlarmsEntry {
        AlarmsEntry {
            units: alarms.units,
            called_changed: RateEntry::of(&alarms.called_changed),
            planted_found: RateEntry::of(&alarms.planted_found),
            half_found: RateEntry::of(&alarms.half_found),
        }
    }
}

impl<'a> Benchmark<'a> {
    fn of(benchmark: &'a Calibrated) -> Benchmark<'a> {
        let costs = &benchmark.costs;
        Benchmark {
            package: &benchmark.id.package,
            name: &benchmark.id.name,
            mode: benchmark.mode.word(),
            sources: benchmark.sources.as_ref().map(SourcesEntry::of),
            costs: Costs { build_s: costs.build_s, fork_s: costs.fork_s, slice_s: costs.slice_s },
            sights: benchmark.sights.iter().map(|sight| sight.as_ref().map(SightEntry::of)).collect(),
            blind: benchmark.blind.map(blind_word),
        }
    }
}

impl SourcesEntry {
    fn of(sources: &Sources) -> SourcesEntry {
        SourcesEntry {
            layout: sources.layout,
            fork: sources.fork,
            slice: sources.slice,
            slices: sources.slices,
            degrees_of_freedom: sources.degrees_of_freedom,
        }
    }
}

impl SightEntry {
    fn of(sight: &Sight) -> SightEntry {
        SightEntry {
            builds: sight.builds,
            forks_per_build: sight.forks_per_build,
            minimal_detectable_change: sight.minimal_detectable_change,
            floor: sight.floor,
        }
    }
}

impl<'a> Failed<'a> {
    fn of((id, reason): &'a (BenchmarkId, String)) -> Failed<'a> {
        Failed { package: &id.package, name: &id.name, reason }
    }
}
