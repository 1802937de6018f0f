//! The JSON format: everything the report holds, in types of its own, so that a change inside the tool cannot change the
//! format by accident. It is described by `schema/report-v1.schema.json`; a key, once published, keeps its meaning.
//!
//! Keys are always there: a value that is not known, or that is not finite, is `null`.

use std::collections::BTreeMap;

use duetbench_core::analysis::SuiteChange;
use duetbench_core::analysis::{Method, Warning};
use duetbench_core::noise::{Diagnosis, Finding};
use duetbench_core::plan::{Excluded, PlannedBenchmark, SelfCheck};
use duetbench_core::report::{self, BenchmarkReport, Counted, ForkPair, ForkSide, Outcome};
use duetbench_core::spec::{ModeChoice, Spec};
use duetbench_core::{Report, Role, Verdict};
use serde::Serialize;

use super::calibrate::Note;
use super::confirmation::{BesideEntry, ConfirmationEntry, RangedEntry};
use super::fleet::Fleet;
use super::gate::GateEntry;
use super::instructions::InstructionsEntry;
use super::profile::ProfileEntry;
use super::reported::ReportedEntry;
use super::version::VersionsEntry;
use super::{document, layouts, noise, summary, warning};

/// Version of the format; goes up when a reader of the previous one could misread the next.
pub const SCHEMA_VERSION: u32 = 1;

/// The report as JSON, with the exit code the command is going to end with.
#[must_use]
pub fn render(report: &Report, exit_code: u8) -> String {
    document::json(&Document::of(report, exit_code))
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    duet_version: &'a str,
    run: &'a str,
    started: &'a str,
    complete: bool,
    measured_s: f64,
    outcome: &'static str,
    exit_code: u8,
    seed: u64,
    versions: VersionsEntry<'a>,
    decision: Decision,
    counts: BTreeMap<&'static str, usize>,
    benchmarks: Vec<Benchmark<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<SuiteChange>,
    noise: Noise,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<Fleet<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<GateEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Note<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profiles: Option<Vec<ProfileEntry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Vec<InstructionsEntry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported: Option<Vec<ReportedEntry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layouts: Option<layouts::Entry<'a>>,
    warnings: &'a [String],
    request: Request<'a>,
    plan: Plan<'a>,
    environment: Environment<'a>,
}

#[derive(Serialize)]
struct Decision {
    threshold: f64,
    alpha: f64,
    false_discovery_rate: f64,
    power: f64,
}

#[derive(Serialize)]
pub(super) struct Benchmark<'a> {
    package: &'a str,
    name: &'a str,
    verdict: &'static str,
    forks_sufficient: Option<u32>,
    failure: Option<Failure<'a>>,
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    baseline_ns: Option<f64>,
    candidate_ns: Option<f64>,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    confidence: Option<f64>,
    change: Option<f64>,
    basis: Option<&'static str>,
    clock: Option<&'static str>,
    beside: Option<BesideEntry>,
    by_wall: Option<RangedEntry>,
    method: Option<&'static str>,
    looks: Option<u32>,
    p_value: Option<f64>,
    p_adjusted: Option<f64>,
    minimal_detectable_change: Option<f64>,
    counts: Option<Counts>,
    allocs: Option<Count>,
    bytes: Option<Count>,
    layout: Option<Layout>,
    confirmation: Option<ConfirmationEntry>,
    warnings: Vec<WarningEntry>,
    forks: Vec<Fork>,
}

#[derive(Serialize)]
struct Failure<'a> {
    role: Option<&'static str>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Counts {
    units: u32,
    builds: u32,
    forks: u32,
    slices: u32,
}

#[derive(Serialize)]
struct Count {
    baseline: f64,
    candidate: f64,
    changed: bool,
}

#[derive(Serialize)]
struct Layout {
    sd_between: f64,
    sd_within: f64,
    share: f64,
}

#[derive(Serialize)]
struct WarningEntry {
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Fork {
    build: u32,
    round: u32,
    suite_run: u32,
    fork: u32,
    slices: u32,
    log_ratio: f64,
    log_ratio_complete: f64,
    baseline: Side,
    candidate: Side,
}

#[derive(Serialize)]
struct Side {
    invocations: u64,
    ns_per_op: f64,
    cpu_ns_per_op: Option<f64>,
    bytes_per_op: Option<f64>,
    allocs_per_op: Option<f64>,
}

#[derive(Serialize)]
struct Request<'a> {
    bench: Option<&'a str>,
    exclude: Option<&'a str>,
    packages: &'a [String],
    forks: Option<u32>,
    budget_s: Option<f64>,
    builds: Option<u32>,
    layouts: &'static str,
    fixed: bool,
    confirm: bool,
    measure_identical: bool,
    reach: bool,
    same_benchmarks: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmarks_from: Option<&'static str>,
    mode: &'static str,
    harness_args: &'a [String],
}

#[derive(Serialize)]
struct Plan<'a> {
    confirm_rounds: u32,
    self_check: Option<Vec<Width>>,
    benchmarks: Vec<Planned<'a>>,
    excluded: Vec<ExcludedEntry<'a>>,
}

#[derive(Serialize)]
struct Planned<'a> {
    package: &'a str,
    name: &'a str,
    style: &'static str,
    mode: &'static str,
    mode_reason: &'a str,
    units: u32,
    forks_per_unit: u32,
    doubled: u32,
    by_build: bool,
    sequential: bool,
    warmup_slices: u32,
    slice_ns: u64,
    trial_ns: u64,
    trial_predicted_ns: u64,
    profile: Option<Profile>,
}

#[derive(Serialize)]
struct Profile {
    cores_busy: f64,
    cpu_share: f64,
    invocation_ns: f64,
    collects: bool,
}

#[derive(Serialize)]
struct Width {
    mode: &'static str,
    width: f64,
}

#[derive(Serialize)]
struct ExcludedEntry<'a> {
    package: &'a str,
    name: &'a str,
    kind: &'static str,
    role: Option<&'static str>,
    reason: Option<&'a str>,
    saved_s: Option<f64>,
}

#[derive(Serialize)]
struct Environment<'a> {
    platform: &'a str,
    kernel: &'a str,
    cpu_model: &'a str,
    cpus_usable: &'a [u32],
    cores_physical: u32,
    smt: bool,
    governor: Option<&'a str>,
    load_1min: f64,
    steal_share: Option<f64>,
    toolchain: &'a str,
}

impl<'a> Document<'a> {
    fn of(report: &'a Report, exit_code: u8) -> Document<'a> {
        let decision = report.spec.decision;
        Document {
            schema_version: SCHEMA_VERSION,
            duet_version: &report.environment.duet_version,
            run: &report.run,
            started: &report.started,
            complete: report.complete,
            measured_s: report.measured_s,
            outcome: outcome(report.outcome()),
            exit_code,
            seed: report.plan.seed,
            versions: VersionsEntry::of(&report.baseline, &report.candidate),
            decision: Decision {
                threshold: decision.threshold,
                alpha: decision.alpha,
                false_discovery_rate: decision.false_discovery_rate,
                power: decision.power,
            },
            counts: summary::all_verdicts().iter().map(|v| (v.word(), report.count(v.word()))).collect(),
            benchmarks: report.benchmarks.iter().map(Benchmark::of).collect(),
            suite: report.suite,
            noise: Noise::of(&report.noise),
            fleet: report.fleet.as_ref().map(Fleet::of),
            gate: report.gate.as_ref().map(GateEntry::of),
            calibration: report.calibration.as_ref().map(Note::of),
            profiles: ProfileEntry::all(report),
            instructions: InstructionsEntry::all(report),
            reported: ReportedEntry::all(report),
            layouts: report.layouts.as_ref().map(layouts::Entry::of),
            warnings: &report.warnings,
            request: Request::of(&report.spec),
            plan: Plan {
                confirm_rounds: report.plan.confirm_rounds,
                self_check: report.plan.check.as_ref().map(Width::all),
                benchmarks: report.plan.benchmarks.iter().map(Planned::of).collect(),
                excluded: report.plan.excluded.iter().map(ExcludedEntry::of).collect(),
            },
            environment: Environment::of(&report.environment),
        }
    }
}

#[derive(Serialize)]
struct Noise {
    findings: Vec<FindingEntry>,
    cost: Option<f64>,
}

#[derive(Serialize)]
struct FindingEntry {
    kind: &'static str,
    severity: &'static str,
    text: String,
}

impl Noise {
    fn of(diagnosis: &Diagnosis) -> Noise {
        let entry = |f: &Finding| FindingEntry {
            kind: noise::kind(&f.kind),
            severity: noise::severity(f.severity),
            text: noise::text(&f.kind),
        };
        Noise { findings: diagnosis.findings.iter().map(entry).collect(), cost: diagnosis.cost }
    }
}

impl Width {
    fn all(check: &SelfCheck) -> Vec<Width> {
        check.widths.iter().map(|(mode, width)| Width { mode: mode.word(), width: *width }).collect()
    }
}

/// The word for an outcome in machine formats.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Clean => "clean",
        Outcome::Failed => "failed",
        Outcome::Regression => "regression",
        Outcome::StaleWaiver => "stale_waiver",
        Outcome::Inconclusive => "inconclusive",
    }
}

impl<'a> Benchmark<'a> {
    pub(super) fn of(benchmark: &'a BenchmarkReport) -> Benchmark<'a> {
        let estimate = benchmark.estimate;
        let failure = match &benchmark.verdict {
            Verdict::Failed { role, reason } => Some(Failure { role: role.map(Role::word), reason }),
            _ => None,
        };
        Benchmark {
            package: &benchmark.id.package,
            name: &benchmark.id.name,
            verdict: benchmark.verdict.word(),
            forks_sufficient: benchmark.verdict.forks_sufficient(),
            failure,
            mode: benchmark.mode.map(|mode| mode.word()),
            threshold: benchmark.threshold,
            baseline_ns: benchmark.baseline_ns,
            candidate_ns: benchmark.candidate_ns,
            ratio: estimate.map(|e| e.ratio),
            ratio_low: estimate.map(|e| e.ratio_low),
            ratio_high: estimate.map(|e| e.ratio_high),
            confidence: estimate.map(|e| e.confidence),
            change: benchmark.change(),
            basis: estimate.map(|e| e.basis.word()),
            clock: estimate.map(|e| e.clock.word()),
            beside: estimate.and_then(|e| Some(BesideEntry::of(e.basis.other(), e.beside?))),
            by_wall: estimate.and_then(|e| e.by_wall).map(RangedEntry::of),
            method: estimate.map(|e| method(e.method)),
            looks: estimate.map(|e| e.looks),
            p_value: estimate.map(|e| e.p_value),
            p_adjusted: estimate.map(|e| e.p_adjusted),
            minimal_detectable_change: estimate.map(|e| e.minimal_detectable_change),
            counts: estimate.map(|e| Counts {
                units: e.counts.units,
                builds: e.counts.builds,
                forks: e.counts.forks,
                slices: e.counts.slices,
            }),
            allocs: benchmark.allocs.map(Count::of),
            bytes: benchmark.bytes.map(Count::of),
            layout: benchmark.layout.map(Layout::of),
            confirmation: benchmark.confirmation.as_ref().map(ConfirmationEntry::of),
            warnings: benchmark.warnings.iter().map(WarningEntry::of).collect(),
            forks: benchmark.forks.iter().map(Fork::of).collect(),
        }
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::StudentT => "student_t",
        Method::YuenTrimmedT => "yuen_trimmed_t",
    }
}

impl Count {
    fn of(counted: Counted) -> Count {
        Count { baseline: counted.baseline, candidate: counted.candidate, changed: counted.changed }
    }
}

impl Layout {
    fn of(layout: report::Layout) -> Layout {
        Layout { sd_between: layout.sd_between, sd_within: layout.sd_within, share: layout.share }
    }
}

impl WarningEntry {
    fn of(warning: &Warning) -> WarningEntry {
        WarningEntry { kind: warning::kind(warning), text: warning::text(warning) }
    }
}

impl Fork {
    fn of(pair: &ForkPair) -> Fork {
        Fork {
            build: pair.build,
            round: pair.round,
            suite_run: pair.suite_run,
            fork: pair.fork,
            slices: pair.slices,
            log_ratio: pair.log_ratio,
            log_ratio_complete: pair.log_ratio_complete,
            baseline: Side::of(&pair.baseline),
            candidate: Side::of(&pair.candidate),
        }
    }
}

impl Side {
    fn of(side: &ForkSide) -> Side {
        Side {
            invocations: side.invocations,
            ns_per_op: side.ns_per_op,
            cpu_ns_per_op: side.cpu_ns_per_op,
            bytes_per_op: side.bytes_per_op,
            allocs_per_op: side.allocs_per_op,
        }
    }
}

impl<'a> Request<'a> {
    fn of(spec: &'a Spec) -> Request<'a> {
        Request {
            bench: spec.selection.bench.as_deref(),
            exclude: spec.selection.exclude.as_deref(),
            packages: &spec.selection.packages,
            forks: spec.effort.forks,
            budget_s: spec.effort.budget.map(|budget| budget.as_secs_f64()),
            builds: spec.effort.builds,
            layouts: layouts::asked(spec),
            fixed: spec.effort.fixed,
            confirm: spec.effort.confirm,
            measure_identical: spec.measure_identical,
            reach: spec.reach,
            same_benchmarks: spec.same_benchmarks,
            benchmarks_from: spec.benchmarks_from.map(Role::word),
            mode: match spec.mode {
                ModeChoice::Auto => "auto",
                ModeChoice::Duet => "duet",
                ModeChoice::Interleaved => "interleaved",
                ModeChoice::Sequential => "sequential",
            },
            harness_args: &spec.harness_args,
        }
    }
}

impl<'a> Planned<'a> {
    fn of(planned: &'a PlannedBenchmark) -> Planned<'a> {
        let design = &planned.configuration.design;
        Planned {
            package: &planned.id.package,
            name: &planned.id.name,
            style: planned.style.word(),
            mode: planned.mode.word(),
            mode_reason: &planned.mode_reason,
            units: design.units,
            forks_per_unit: design.forks_per_unit,
            doubled: design.doubled,
            by_build: design.by_build,
            sequential: design.sequential,
            warmup_slices: planned.configuration.warmup_slices,
            slice_ns: planned.configuration.slice_ns,
            trial_ns: planned.configuration.trial_ns,
            trial_predicted_ns: planned.trial_predicted_ns,
            profile: planned.profile.map(|p| Profile {
                cores_busy: p.cores_busy,
                cpu_share: p.cpu_share,
                invocation_ns: p.invocation_ns,
                collects: p.collects,
            }),
        }
    }
}

impl<'a> ExcludedEntry<'a> {
    fn of(excluded: &'a Excluded) -> ExcludedEntry<'a> {
        let (kind, role, reason) = match excluded {
            Excluded::OnlyIn(_, role) => ("only_in", Some(role.word()), None),
            Excluded::Failed(_, role, reason) => ("failed", Some(role.word()), Some(reason.as_str())),
            Excluded::NotAffected { .. } => ("not_affected", None, None),
            Excluded::Identical { .. } => ("identical", None, None),
        };
        let (id, saved_s) = (excluded.id(), excluded.saved_ns().map(|ns| ns as f64 * 1e-9));
        ExcludedEntry { package: &id.package, name: &id.name, kind, role, reason, saved_s }
    }
}

impl<'a> Environment<'a> {
    fn of(environment: &'a duetbench_core::Environment) -> Environment<'a> {
        Environment {
            platform: &environment.platform,
            kernel: &environment.kernel,
            cpu_model: &environment.cpu_model,
            cpus_usable: &environment.cpus_usable,
            cores_physical: environment.cores_physical,
            smt: environment.smt,
            governor: environment.governor.as_deref(),
            load_1min: environment.load_1min,
            steal_share: environment.steal_share,
            toolchain: &environment.toolchain,
        }
    }
}
