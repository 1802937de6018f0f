//! The JSON format: everything the report holds, written key by key, so that a change inside the tool cannot change the format by
//! accident. It is described by `schema/report-v1.schema.json`; a key, once published, keeps its meaning.
//!
//! Keys are always there: a value that is not known, or that is not finite, is `null`.

use duetbench_core::plan::{Excluded, Mode, PlannedBenchmark, Profile};
use duetbench_core::report::{BenchmarkReport, ForkPair, ForkSide};
use duetbench_core::spec::{Decision, Spec};
use duetbench_core::{Report, Role, Verdict};
use serde_json::{Value, json};

use super::confirmation::{beside, confirmation, ranged};
use super::{calibrate, document, fleet, gate, instructions, layouts, noise, profile, reported, summary, warning};

/// Version of the format; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// Parts that only some reports have.
const OPTIONAL: [&str; 8] =
    ["suite", "fleet", "gate", "calibration", "profiles", "instructions", "reported", "layouts"];

/// The report as JSON, with the exit code the command is going to end with.
pub fn render(report: &Report, exit_code: u8) -> String {
    let report = json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": report.environment.duet_version,
        "run": report.run,
        "started": report.started,
        "complete": report.complete,
        "measured_s": report.measured_s,
        "outcome": report.outcome(),
        "exit_code": exit_code,
        "seed": report.plan.seed,
        "versions": { "baseline": report.baseline, "candidate": report.candidate },
        "decision": decision(&report.spec.decision),
        "counts": summary::by_verdict(report),
        "benchmarks": report.benchmarks.iter().map(benchmark).collect::<Vec<_>>(),
        "suite": report.suite,
        "noise": {
            "findings": report.noise.findings.iter().map(noise::json).collect::<Vec<_>>(),
            "cost": report.noise.cost,
        },
        "fleet": report.fleet.as_ref().map(fleet::json),
        "gate": report.gate.as_ref().map(gate::json),
        "calibration": report.calibration.as_ref().map(calibrate::note_json),
        "profiles": profile::json(report),
        "instructions": instructions::json(report),
        "reported": reported::json(report),
        "layouts": report.layouts.as_ref().map(layouts::json),
        "warnings": report.warnings,
        "request": request(&report.spec),
        "plan": {
            "confirm_rounds": report.plan.confirm_rounds,
            "self_check": report.plan.check.as_ref().map(|check| {
                let width = |(mode, width): &(Mode, f64)| json!({ "mode": mode.word(), "width": width });
                check.widths.iter().map(width).collect::<Vec<_>>()
            }),
            "benchmarks": report.plan.benchmarks.iter().map(planned).collect::<Vec<_>>(),
            "excluded": report.plan.excluded.iter().map(excluded).collect::<Vec<_>>(),
        },
        "environment": document::without(json!(report.environment), &["duet_version"]),
    });
    document::json(&document::without_null(report, &OPTIONAL))
}

/// The rule for verdicts.
pub(super) fn decision(decision: &Decision) -> Value {
    json!({
        "threshold": decision.threshold,
        "alpha": decision.alpha,
        "false_discovery_rate": decision.false_discovery_rate,
        "power": decision.power,
    })
}

/// The conclusion on one benchmark, and what it rests on.
pub(super) fn benchmark(benchmark: &BenchmarkReport) -> Value {
    let estimate = benchmark.estimate;
    let failure = match &benchmark.verdict {
        Verdict::Failed { role, reason } => json!({ "role": role.map(Role::word), "reason": reason }),
        _ => Value::Null,
    };
    let benchmark = json!({
        "package": benchmark.id.package,
        "name": benchmark.id.name,
        "verdict": benchmark.verdict.word(),
        "forks_sufficient": benchmark.verdict.forks_sufficient(),
        "failure": failure,
        "mode": benchmark.mode.map(|mode| mode.word()),
        "threshold": benchmark.threshold,
        "baseline_ns": benchmark.baseline_ns,
        "candidate_ns": benchmark.times_ns()[1],
        "ratio": estimate.map(|e| e.ratio),
        "ratio_low": estimate.map(|e| e.ratio_low),
        "ratio_high": estimate.map(|e| e.ratio_high),
        "confidence": estimate.map(|e| e.confidence),
        "change": benchmark.change(),
        "basis": estimate.map(|e| e.basis.word()),
        "clock": estimate.map(|e| e.clock.word()),
        "beside": estimate.and_then(|e| Some(beside(e.beside?))),
        "by_wall": estimate.and_then(|e| e.by_wall).map(ranged),
        "method": estimate.map(|e| e.method),
        "looks": estimate.map(|e| e.looks),
        "p_value": estimate.map(|e| e.p_value),
        "p_adjusted": estimate.map(|e| e.p_adjusted),
        "minimal_detectable_change": estimate.map(|e| e.minimal_detectable_change),
        "counts": estimate.map(|e| e.counts),
        "allocs": benchmark.allocs,
        "bytes": benchmark.bytes,
        "layout": benchmark.layout,
        "as_linked": benchmark.as_linked,
        "confirmation": benchmark.confirmation.as_ref().map(confirmation),
        "warnings": benchmark.warnings.iter().map(warning::json).collect::<Vec<_>>(),
        "forks": benchmark.forks.iter().map(fork_pair).collect::<Vec<_>>(),
    });
    document::without_null(benchmark, &["threshold", "as_linked"])
}

fn fork_pair(pair: &ForkPair) -> Value {
    let numbers = json!({
        "build": pair.build,
        "round": pair.round,
        "suite_run": pair.suite_run,
        "fork": pair.fork,
        "slices": pair.slices,
        "log_ratio": pair.log_ratio,
        "log_ratio_complete": pair.log_ratio_complete,
        "log_ratio_in_full": pair.log_ratio_in_full,
        "baseline": side(&pair.baseline),
        "candidate": side(&pair.candidate),
    });
    document::without_null(numbers, &["log_ratio_in_full"])
}

fn side(side: &ForkSide) -> Value {
    json!({
        "invocations": side.invocations,
        "ns_per_op": side.ns_per_op,
        "cpu_ns_per_op": side.cpu_ns_per_op,
        "bytes_per_op": side.bytes_per_op,
        "allocs_per_op": side.allocs_per_op,
    })
}

fn request(spec: &Spec) -> Value {
    let request = json!({
        "bench": spec.selection.bench,
        "exclude": spec.selection.exclude,
        "packages": spec.selection.packages,
        "forks": spec.effort.forks,
        "budget_s": spec.effort.budget.map(|budget| budget.as_secs_f64()),
        "builds": spec.effort.builds,
        "layouts": spec.layouts,
        "fixed": spec.effort.fixed,
        "confirm": spec.effort.confirm,
        "measure_identical": spec.measure_identical,
        "reach": spec.reach,
        "same_benchmarks": spec.same_benchmarks,
        "benchmarks_from": spec.benchmarks_from.map(Role::word),
        "mode": spec.mode,
        "harness_args": spec.harness_args,
    });
    document::without_null(request, &["benchmarks_from"])
}

fn planned(planned: &PlannedBenchmark) -> Value {
    let configuration = &planned.configuration;
    let design = &configuration.design;
    let profile = |profile: Profile| {
        json!({
            "cores_busy": profile.cores_busy,
            "cpu_share": profile.cpu_share,
            "invocation_ns": profile.invocation_ns,
            "collects": profile.collects,
        })
    };
    json!({
        "package": planned.id.package,
        "name": planned.id.name,
        "style": planned.style.word(),
        "mode": planned.mode.word(),
        "mode_reason": planned.mode_reason,
        "units": design.units,
        "forks_per_unit": design.forks_per_unit,
        "doubled": design.doubled,
        "by_build": design.by_build,
        "sequential": design.sequential,
        "warmup_slices": configuration.warmup_slices,
        "slice_ns": configuration.slice_ns,
        "trial_ns": configuration.trial_ns,
        "trial_predicted_ns": planned.trial_predicted_ns,
        "profile": planned.profile.map(profile),
    })
}

fn excluded(excluded: &Excluded) -> Value {
    let (kind, role, reason) = match excluded {
        Excluded::OnlyIn(_, role) => ("only_in", Some(role.word()), None),
        Excluded::Failed(_, role, reason) => ("failed", Some(role.word()), Some(reason)),
        Excluded::NotAffected { .. } => ("not_affected", None, None),
        Excluded::Identical { .. } => ("identical", None, None),
    };
    json!({
        "package": excluded.id().package,
        "name": excluded.id().name,
        "kind": kind,
        "role": role,
        "reason": reason,
        "saved_s": excluded.saved_ns().map(|ns| ns as f64 * 1e-9),
    })
}
