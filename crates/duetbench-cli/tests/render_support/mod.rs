//! The reports that the renderers are tested with.

#![allow(dead_code, reason = "several tests include it, and none uses all of it")]

use std::time::Duration;

use duetbench_cli::options::Format;
use duetbench_cli::render::document::Document;
use duetbench_cli::render::palette::Palette;
use duetbench_core::analysis::{
    Basis, Clock, ConfirmationStanding, Counts, Estimate, Look, Method, Ranged, RatioInterval, Round, Warning,
};
use duetbench_core::environment::Environment;
use duetbench_core::fleet::{Account, CallEnd, FleetReport, FleetTerms, Rate, Task, Usage};
use duetbench_core::gate::Gate;
use duetbench_core::history::PastRun;
use duetbench_core::noise::{Diagnosis, Finding, Kind, Severity};
use duetbench_core::picture::{Distributions, ForkPoint, Histogram, LookPoint, Picture, SliceCourse, SlicePoint};
use duetbench_core::plan::{
    Design, Difference, Excluded, ExecutionConfiguration, Mode, Plan, PlannedBenchmark, Profile, Purpose, Redefinition,
    SelfCheck, Style,
};
use duetbench_core::recording::Better;
use duetbench_core::report::{
    BenchmarkReport, Confirmation, Counted, ForkPair, ForkSide, Layout, LayoutsUsed, Report, Typed, VersionInfo,
};
use duetbench_core::reported::{Change as RatioChange, ReportedMetric};
use duetbench_core::spec::{
    Arch, Decision, Effort, EngineName, FleetSpec, HarnessSpec, LayoutChoice, Metric, ModeChoice, Policy, Rule,
    Selection, Spec, Thresholds,
};
use duetbench_core::verdict::Extent;
use duetbench_core::{BenchmarkId, Role, Verdict};

mod profiled;
mod with_instructions;

pub(crate) use profiled::profiled;
pub(crate) use with_instructions::with_instructions;

const CODEC: &str = "example.com/shop/codec";
const STORE: &str = "example.com/shop/store";

/// The document in a form, without colours.
pub(crate) fn written(document: &Document, format: Format) -> String {
    document.write(format, &Palette::plain(), None).expect("the document has this form")
}

/// A run without a single benchmark.
pub(crate) fn empty() -> Report {
    Report {
        run: "r12".into(),
        started: "2026-03-01T09:30:00Z".into(),
        complete: true,
        spec: Spec {
            selection: Selection { bench: None, exclude: None, packages: vec!["./...".into()] },
            effort: Effort { forks: Some(12), budget: None, builds: None, fixed: false, confirm: true },
            decision: Decision::default(),
            mode: ModeChoice::Auto,
            layouts: LayoutChoice::Matched,
            measure_identical: false,
            reach: false,
            same_benchmarks: false,
            benchmarks_from: None,
            seed: 42,
            harness_args: Vec::new(),
            harness: HarnessSpec::default(),
            rules: Policy::default(),
            fleet: None,
        },
        plan: Plan {
            seed: 42,
            benchmarks: Vec::new(),
            excluded: Vec::new(),
            budget_ns: None,
            disturbed: false,
            confirm_rounds: 2,
            check: Some(SelfCheck { widths: vec![(Mode::InterleavedOneCore, 0.004), (Mode::Duet, 0.009)] }),
            spread: false,
        },
        baseline: version("main", "1a2b3c4d5e Read the header once", "aa11"),
        candidate: version("work tree", "work tree (9f8e7d6c5b with changes)", "bb22"),
        environment: Environment {
            platform: "linux/amd64".into(),
            kernel: "6.8.0-45-generic".into(),
            cpu_model: "AMD EPYC 7B13".into(),
            cpus_usable: vec![0, 1, 2, 3],
            cores_physical: 2,
            smt: true,
            governor: Some("performance".into()),
            load_1min: 0.35,
            steal_share: Some(0.004),
            toolchain: "go1.26.1".into(),
            duet_version: "0.1.0".into(),
        },
        layouts: None,
        measured_s: 102.4,
        benchmarks: Vec::new(),
        suite: None,
        noise: Diagnosis {
            findings: vec![Finding { kind: Kind::Steal { share: 0.042 }, severity: Severity::Disturbing }],
            cost: Some(1.25),
        },
        untrusted: false,
        typed: Typed::default(),
        fleet: None,
        gate: None,
        calibration: None,
        profiles: Vec::new(),
        instructions: Vec::new(),
        reported: Vec::new(),
        pictures: Vec::new(),
        stacks: Vec::new(),
        history: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A run in which rules name units that benchmarks report, with every answer that there is.
pub(crate) fn with_units() -> Report {
    let mut report = clean();
    let one = |name: &str, unit: &str, verdict: Verdict, (baseline, candidate): (Option<f64>, Option<f64>)| {
        let ratio = baseline.zip(candidate).filter(|(b, c)| *b > 0.0 && *c > 0.0).map(|(b, c)| c / b);
        ReportedMetric {
            id: id(CODEC, name),
            unit: unit.into(),
            better: Better::of_unit(unit),
            threshold: 0.05,
            verdict,
            baseline,
            candidate,
            change: ratio.map(|ratio| RatioChange { ratio, ratio_low: ratio * 0.99, ratio_high: ratio * 1.01 }),
            pairs: 12 - u32::from(unit == "retries") * 2,
            pairs_left_out: u32::from(unit == "retries") * 2,
        }
    };
    let both = |baseline, candidate| (Some(baseline), Some(candidate));
    report.reported = vec![
        one("BenchmarkEncode/format=gob-8", "hit-rate", Verdict::NoChange, both(0.91234, 0.91232)),
        one("BenchmarkEncode/format=json-8", "rows/s", Verdict::Regression, both(104_213.0, 93_807.0)),
        one("BenchmarkEncode/format=json-8", "retries", Verdict::Regression, both(0.0, 3.0)),
        one(
            "BenchmarkEncode/format=json-8",
            "`p99`|ns",
            Verdict::Inconclusive { forks_sufficient: None },
            both(1e6, 1.1e6),
        ),
        one("BenchmarkLoad-8", "old", Verdict::BaselineOnly, (Some(5.0), None)),
        one("BenchmarkLoad-8", "wire-B", Verdict::Failed { role: None, reason: PANIC.into() }, (None, None)),
    ];
    let rule = |unit: &str| Rule { metric: Some(Metric::Reported(unit.into())), ..Rule::default() };
    let policy = Policy::new(&["rows/s", "retries"].map(rule)).expect("rules");
    let today = "2026-06-01".parse().expect("a day");
    let waivers = [];
    report.gate = Some(Gate::decide(report.found(), Thresholds::new(&Decision::default(), &policy), &waivers, today));
    report
}

/// A run on a fleet with every trouble that calls can have.
pub(crate) fn on_a_fleet() -> Report {
    let mut report = clean();
    let spec = FleetSpec {
        engine: EngineName::Lambda,
        memory_mb: 3538,
        arch: Arch::Arm64,
        parallel: 150,
        max_cost_usd: 2.0,
        max_time: std::time::Duration::from_secs(1800),
        forks_per_call: 2,
    };
    let rate = Rate { gb_second_x86_64: 1.6e-5, gb_second_arm64: 1.3e-5, million_requests: 0.2 };
    let terms = FleetTerms {
        rate,
        price_date: "2026-02-03".into(),
        builds: 8,
        package_bytes: 31_000_000,
        call_max_ns: 60_000_000_000,
        region: None,
    };
    let task = |n: u32| Task { benchmark: 0, first_suite_run: 2 * n, suite_runs: 2 };
    let measured = |n: u32, model: &str| Account {
        task: task(n),
        end: CallEnd::Counted,
        words: None,
        instance: Some((format!("instance {}", n / 2), model.into())),
        usage: Some(Usage { billed_ns: 1_500_000_000, cold: n.is_multiple_of(2) }),
        fork_pairs: 2,
    };
    let trouble = |n: u32, end: CallEnd, words: &str| {
        let words = (!words.is_empty()).then(|| words.to_owned());
        Account { end, words, instance: None, usage: None, ..measured(n, "") }
    };
    let calls = [
        measured(0, "Graviton2"),
        measured(1, "Graviton2"),
        measured(2, "Graviton4"),
        Account { end: CallEnd::Duplicate, ..measured(2, "Graviton4") },
        trouble(3, CallEnd::Throttled, ""),
        trouble(3, CallEnd::Failed, "Runtime.ExitError: signal: killed"),
        trouble(4, CallEnd::Sent, ""),
    ];
    report.fleet = Some(FleetReport::of(&calls, &spec, terms, &report.plan, &report.benchmarks));
    report.spec.fleet = Some(spec);
    report
}

/// A run in which nothing exists in both versions.
pub(crate) fn only_excluded() -> Report {
    let mut report = empty();
    report.benchmarks = vec![
        benchmark(CODEC, "BenchmarkNew", Verdict::CandidateOnly),
        benchmark(CODEC, "BenchmarkOld", Verdict::BaselineOnly),
    ];
    report.plan.excluded = vec![
        Excluded::OnlyIn(id(CODEC, "BenchmarkNew"), Role::Candidate),
        Excluded::OnlyIn(id(CODEC, "BenchmarkOld"), Role::Baseline),
    ];
    report
}

/// A run in which all is well.
pub(crate) fn clean() -> Report {
    let mut report = empty();
    report.baseline = version("1a2b3c4d5e6f78901a2b3c4d5e6f78901a2b3c4d", "1a2b3c4d5e Read the header once", "aa11");
    report.candidate = version("HEAD~1", "9f8e7d6c5b Write it, too", "bb22");
    report.benchmarks =
        vec![measured(CODEC, "BenchmarkEncode/json-8", Verdict::NoChange, Change(1718.0, 1.001, 0.004))];
    report.plan.benchmarks = vec![planned(&report.benchmarks[0])];
    report
}

/// A run with every verdict, every warning, changed allocations and names that are hard to show.
pub(crate) fn everything() -> Report {
    let mut report = empty();
    report.benchmarks = [codec(), store()].concat();
    report.benchmarks.sort_by(|a, b| a.id.cmp(&b.id));
    report.plan.benchmarks = report.benchmarks.iter().filter(|b| b.mode.is_some()).map(planned).collect();
    report.plan.excluded = vec![
        Excluded::OnlyIn(id(CODEC, "BenchmarkNew"), Role::Candidate),
        Excluded::OnlyIn(id(CODEC, "BenchmarkOld"), Role::Baseline),
        Excluded::Failed(id(STORE, "BenchmarkPanics"), Role::Candidate, PANIC.into()),
        Excluded::Identical { id: id(CODEC, "BenchmarkChecksum-8"), saved_ns: 2_160_000_000 },
        Excluded::NotAffected { id: id(CODEC, "BenchmarkVerify-8"), saved_ns: 1_080_000_000 },
    ];
    report.layouts = Some(LayoutsUsed {
        matched: [CODEC.to_owned()].into(),
        random: [(STORE.to_owned(), "it is linked by the system's linker".to_owned())].into(),
    });
    report.complete = false;
    report.spec.effort.forks = None;
    report.spec.effort.budget = Some(Duration::from_secs(90));
    report.plan.budget_ns = Some(90_000_000_000);
    report.spec.selection.exclude = Some("Slow|Huge".into());
    report.spec.decision.threshold = 0.02;
    report.spec.harness_args = vec!["-tags".into(), "integration test".into()];
    report.warnings = vec!["the load average rose to 3.10 while measuring: close other programs".into()];
    report
}

const PANIC: &str =
    "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 7 [running]:\n\u{1b}[31mmain\u{1b}[0m";

fn codec() -> Vec<BenchmarkReport> {
    let mut regression =
        measured(CODEC, "BenchmarkEncode/format=json-8", Verdict::Regression, Change(1718.0, 1.0512, 0.004));
    regression.allocs = Some(counted(5.0, 6.0));
    regression.bytes = Some(counted(128.0, 144.5));
    let mut long = measured(
        CODEC,
        "BenchmarkDecode/a_name_that_somebody_has_generated_from_all_of_its_parameters/size=1048576/compressed=true-8",
        Verdict::Regression,
        Change(2_310_000.0, 1.3, 0.02),
    );
    long.warnings = vec![Warning::NotCpuBound { cpu_share: 0.431 }];
    long.confirmation = Some(confirmation(1.29, ConfirmationStanding::Confirmed));
    regression.confirmation = Some(confirmation(1.031, ConfirmationStanding::Open));
    let mut odd =
        measured(CODEC, "BenchmarkParse/[a|b]{1,2}/\"日本語\",`x`-8", Verdict::NoChange, Change(999.0, 1.003, 0.005));
    odd.allocs = Some(counted(2.0, 1.0));
    odd.warnings = vec![Warning::Orphans { samples: 3 }, Warning::NotCpuBound { cpu_share: 0.431 }];
    let mut identical = benchmark(CODEC, "BenchmarkChecksum-8", Verdict::IdenticalCode);
    identical.mode = None;
    let mut not_affected = benchmark(CODEC, "BenchmarkVerify-8", Verdict::NotAffected);
    not_affected.mode = None;
    [vec![regression, long, odd, identical, not_affected], sized(), rest_of_codec()].concat()
}

fn rest_of_codec() -> Vec<BenchmarkReport> {
    vec![
        measured(CODEC, "BenchmarkEncode/format=gob-8", Verdict::Improvement, Change(3066.0, 0.828, 0.01)),
        benchmark(CODEC, "BenchmarkNew", Verdict::CandidateOnly),
        benchmark(CODEC, "BenchmarkOld", Verdict::BaselineOnly),
    ]
}

/// Changes that are real, and not shown to exceed the threshold of 2 %.
fn sized() -> Vec<BenchmarkReport> {
    let open = Extent::Open { forks_sufficient: Some(60) };
    let one = |name: &str, verdict: Verdict, ratio: f64, half: f64| {
        measured(CODEC, name, verdict, Change(640.0, ratio, half))
    };
    let mut by_cpu = one("BenchmarkSort-8", Verdict::Faster(open), 0.979, 0.012);
    if let Some(estimate) = &mut by_cpu.estimate {
        estimate.clock = Clock::Cpu;
        estimate.by_wall = Some(ranged(0.961, 0.048));
    }
    vec![
        one("BenchmarkHash-8", Verdict::Slower(open), 1.025, 0.012),
        one("BenchmarkCopy-8", Verdict::Slower(Extent::WithinTolerance), 1.008, 0.004),
        by_cpu,
        one("BenchmarkTrim-8", Verdict::Faster(Extent::WithinTolerance), 0.991, 0.003),
    ]
}

/// Two rounds of fresh trials.
fn confirmation(ratio: f64, standing: ConfirmationStanding) -> Confirmation {
    let round = |by: f64| Round { ratio: ratio + by, p_value: 0.001, units: 4 };
    Confirmation {
        rounds: vec![round(-0.004), round(0.004)],
        wanted: 2,
        fresh: ranged(ratio, 0.01),
        beside: ranged(ratio, 0.02),
        p_value: if standing == ConfirmationStanding::Confirmed { 0.0005 } else { 0.0125 },
        standing,
    }
}

fn ranged(ratio: f64, half: f64) -> Ranged {
    let interval = RatioInterval { low: ratio - half, high: ratio + half };
    Ranged { basis: Basis::AllSlices, ratio, interval }
}

fn store() -> Vec<BenchmarkReport> {
    let open = |forks_sufficient| Verdict::Inconclusive { forks_sufficient };
    let mut young = measured(STORE, "BenchmarkPut-8", open(None), Change(52_000.0, 1.02, 0.0));
    young.estimate = None;
    young.forks.truncate(2);
    young.warnings = vec![
        Warning::TooFewUnits { units: 2, needed: 3 },
        Warning::FailedTrials { trials: 2, first: "signal: killed\n(out of memory)".into() },
    ];
    let mut still = measured(STORE, "BenchmarkNothing-8", open(None), Change(0.25, 1.0, 0.0));
    still.warnings = vec![Warning::Degenerate];
    still.estimate = None;
    let mut parallel = measured(STORE, "BenchmarkGetParallel-8", open(Some(40)), Change(84.2, 1.061, 0.03));
    parallel.mode = Some(Mode::InterleavedAllCores);
    parallel.layout = None;
    parallel.warnings =
        vec![Warning::NotConfirmed { ratio: 1.061, later: 0.998 }, Warning::single_build(1.061, true, None)];
    parallel.confirmation = Some(confirmation(0.998, ConfirmationStanding::Withdrawn));
    let mut slow_slices = measured(STORE, "BenchmarkCompact-8", open(Some(90)), Change(310.0, 1.003, 0.006));
    let beside = ranged(1.0255, 0.0375);
    slow_slices.warnings = vec![Warning::BesideOpen { basis: Basis::AllSlices, interval: beside.interval }];
    if let Some(estimate) = &mut slow_slices.estimate {
        estimate.beside = Some(beside);
    }
    let redefined = Verdict::Redefined(Box::new(Verdict::Regression));
    let mut redefined = measured(STORE, "BenchmarkMerge-8", redefined, Change(410.0, 1.4, 0.05));
    redefined.warnings = vec![Warning::Redefined(Redefinition {
        part: "mergeInputs".into(),
        difference: Difference::Source { path: "store/merge_test.go".into(), line: 41 },
        tolerated: false,
    })];
    let failed = |name, role, reason: &str| benchmark(STORE, name, Verdict::Failed { role, reason: reason.into() });
    vec![
        young,
        still,
        parallel,
        slow_slices,
        redefined,
        measured(STORE, "BenchmarkScan-8", open(Some(3000)), Change(7.5e9, 0.97, 0.09)),
        failed("BenchmarkPanics", Some(Role::Candidate), PANIC),
        failed("BenchmarkLost", None, "no slice was recorded | <b>@octocat</b> [x](http://example.com)"),
    ]
}

/// Baseline time in nanoseconds, ratio, and half the width of the interval.
pub(crate) struct Change(pub(crate) f64, pub(crate) f64, pub(crate) f64);

/// A benchmark with twelve forks that scatter a little around its change.
pub(crate) fn measured(package: &str, name: &str, verdict: Verdict, change: Change) -> BenchmarkReport {
    let Change(baseline_ns, ratio, half_width) = change;
    BenchmarkReport {
        mode: Some(Mode::InterleavedOneCore),
        estimate: Some(Estimate {
            ratio,
            ratio_low: ratio - half_width,
            ratio_high: ratio + half_width,
            confidence: 0.9,
            basis: Basis::TypicalSlice,
            clock: Clock::Wall,
            beside: Some(ranged(ratio, 1.2 * half_width)),
            by_wall: None,
            method: Method::YuenTrimmedT,
            looks: 4,
            p_value: 0.000_25,
            p_adjusted: 0.001,
            minimal_detectable_change: 0.03 + 2.1 * half_width,
            counts: Counts { units: 10, builds: 10, forks: 12, slices: 1488 },
        }),
        baseline_ns: Some(baseline_ns),
        candidate_ns: Some(baseline_ns * ratio),
        allocs: Some(Counted { baseline: 5.0, candidate: 5.0, changed: false }),
        bytes: None,
        layout: Some(Layout { sd_between: 0.02, sd_within: 0.01, share: 0.8 }),
        as_linked: Some(1.021),
        forks: (0..12).map(|suite_run| fork(suite_run, baseline_ns, ratio)).collect(),
        ..benchmark(package, name, verdict)
    }
}

/// The same with two of its forks, for reports that are about something else.
pub(crate) fn brief(package: &str, name: &str, verdict: Verdict, change: Change) -> BenchmarkReport {
    let mut report = measured(package, name, verdict, change);
    report.forks.truncate(2);
    report
}

fn fork(suite_run: u32, baseline_ns: f64, ratio: f64) -> ForkPair {
    let drift = 1.0 + f64::from(suite_run) * 0.001;
    let side = |ns_per_op: f64| ForkSide {
        invocations: 14_500 + u64::from(suite_run),
        ns_per_op,
        typical_ns: None,
        cpu_ns_per_op: Some(ns_per_op * 0.98),
        bytes_per_op: Some(128.0),
        allocs_per_op: Some(5.0),
        collector_share: None,
    };
    ForkPair {
        build: suite_run / 2,
        round: 0,
        suite_run,
        fork: 0,
        mode: Mode::InterleavedOneCore,
        baseline: side(baseline_ns * drift),
        candidate: side(baseline_ns * ratio * drift),
        log_ratio: ratio.ln(),
        log_ratio_complete: ratio.ln(),
        log_ratio_in_full: None,
        cpu: None,
        log_ratio_idle: None,
        busy: None,
        slice_spread: 0.01,
        unrecorded_ns: None,
        collections: 0,
        slices: 124,
    }
}

/// A benchmark without numbers.
pub(crate) fn benchmark(package: &str, name: &str, verdict: Verdict) -> BenchmarkReport {
    BenchmarkReport::unmeasured(id(package, name), verdict)
}

/// The report with a small picture of the first benchmark that was measured, none of the others.
pub(crate) fn pictured(report: Report) -> Report {
    let point = |suite_run: u32| ForkPoint {
        unit: suite_run,
        build: suite_run,
        round: 0,
        baseline_ns: 1718.123456,
        candidate_ns: 1800.5,
        ratio: 1.0480001,
    };
    let look =
        |units, half_width| Look { units, ratio: 1.05, ratio_low: 1.05 - half_width, ratio_high: 1.05 + half_width };
    let points = (8..12).map(|slice| SlicePoint { slice, baseline_ns: 1718.0, candidate_ns: 1801.0 });
    let picture = Picture {
        forks: (0..4).map(point).collect(),
        slices: vec![SliceCourse { fork: 2, points: points.collect() }],
        histogram: Some(Histogram { from: 0.01, width: 0.02, counts: vec![1, 6, 1], below: 0, above: 1 }),
        times: Distributions::of(&[1718.0, 1718.5, 1719.0, 1722.0], &[1800.0, 1801.0, 1801.5, 1802.0]),
        looks: vec![
            LookPoint { look: look(4, 0.06), settled: false },
            LookPoint { look: look(6, 0.02), settled: true },
        ],
    };
    let first = report.benchmarks.iter().position(|b| !b.forks.is_empty());
    let pictures = (0..report.benchmarks.len()).map(|i| (Some(i) == first).then(|| picture.clone())).collect();
    let earlier = [("r3", 1715.0), ("r7", 1719.5), ("r9", 1716.0), ("r12", 1800.5)];
    let past = |(run, ns): (&str, f64)| PastRun {
        run: run.into(),
        started: "2026-11-20T10:00:00Z".into(),
        version: "main\u{1b}[31m".into(),
        times_ns: first.map(|i| (report.benchmarks[i].id.clone(), ns)).into_iter().collect(),
    };
    let history = earlier.map(past).into();
    Report { pictures, history, ..report }
}

fn counted(baseline: f64, candidate: f64) -> Counted {
    Counted { baseline, candidate, changed: true }
}

fn id(package: &str, name: &str) -> BenchmarkId {
    BenchmarkId { package: package.into(), name: name.into() }
}

fn version(requested: &str, resolved: &str, digest: &str) -> VersionInfo {
    VersionInfo { requested: requested.into(), resolved: resolved.into(), artifact_digest: digest.into() }
}

fn planned(benchmark: &BenchmarkReport) -> PlannedBenchmark {
    let mode = benchmark.mode.unwrap_or(Mode::InterleavedOneCore);
    let (style, reason) = match mode {
        Mode::InterleavedAllCores => (Style::Parallel, "it runs in parallel"),
        _ => (Style::Rewritten, "narrowest interval per second for code that keeps one core busy"),
    };
    PlannedBenchmark {
        id: benchmark.id.clone(),
        style,
        mode,
        mode_reason: reason.into(),
        configuration: ExecutionConfiguration {
            design: Design { units: 12, forks_per_unit: 1, doubled: 4, places: 1, by_build: true, sequential: true },
            slice_ns: 200_000,
            trial_ns: 25_000_000,
            warmup_slices: 8,
            warm_ns: 0,
            purpose: Purpose::Judged,
        },
        trial_predicted_ns: 90_000_000,
        first_ns: 1_800,
        threads: 1,
        runtime_threads: false,
        redefined: None,
        profile: Some(Profile {
            cores_busy: 1.1,
            cpu_share: 0.99,
            invocation_ns: 1718.0,
            collects: false,
            cold_share: None,
            warm_ns: 0,
            settling_ns: 0,
            as_linked: None,
            warmup_slices: None,
            unsteady: None,
        }),
    }
}
