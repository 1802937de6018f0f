//! A report with profiles.

use duetbench_core::Verdict;
use duetbench_core::hotspot::{BenchmarkProfile, FunctionGain, Gain, Origin, ProfileDifference, ProfileOutcome};
use duetbench_core::report::Report;

use super::{CODEC, Change, empty, id, measured, planned};

/// A run with two regressions that were profiled, one of them without a finding, and one that could not be.
pub(crate) fn profiled() -> Report {
    let mut report = empty();
    let regressed = ["BenchmarkEncode/json-8", "BenchmarkSpread", "BenchmarkOnce"]
        .map(|name| measured(CODEC, name, Verdict::Regression, Change(1718.0, 1.2, 0.004)));
    report.benchmarks = regressed.to_vec();
    report.plan.benchmarks = report.benchmarks.iter().map(planned).collect();
    let gain = |baseline_ns: f64, candidate_ns: f64, beyond_noise| Gain {
        baseline_ns,
        candidate_ns,
        gain_ns: candidate_ns - baseline_ns,
        beyond_noise,
    };
    let function =
        |function: &str, origin, gain: Gain, share| FunctionGain { function: function.into(), origin, gain, share };
    let difference = ProfileDifference {
        processes: [5, 5],
        samples: [512, 618],
        invocations: 485_437,
        total: gain(1703.0, 2058.0, true),
        runtime: gain(120.0, 171.5, true),
        flat: vec![
            function(
                "example.com/shop/codec.(*Writer[go.shape.int]).escape",
                Origin::Program,
                gain(410.0, 700.0, true),
                Some(0.817),
            ),
            function("runtime.mallocgc", Origin::Runtime, gain(0.0, 31.2, true), Some(0.088)),
            function("runtime.scanobject", Origin::Collector, gain(5.5, 20.25, true), Some(0.042)),
        ],
        cumulative: vec![function(
            "example.com/shop/codec.Encode\u{1b}[31m@all",
            Origin::Program,
            gain(1400.0, 1755.0, true),
            None,
        )],
    };
    let nothing = ProfileDifference {
        total: gain(1703.0, 1740.0, false),
        runtime: gain(120.0, 121.0, false),
        flat: vec![],
        cumulative: vec![],
        ..difference.clone()
    };
    let files = |name: &str| ["baseline", "candidate"].map(|role| format!(".duet/profiles/r12/{name}.{role}.pb.gz"));
    let explained = |name: &str, difference, file: &str| BenchmarkProfile {
        id: id(CODEC, name),
        outcome: ProfileOutcome::Explained { difference, files: files(file) },
    };
    let failed = ProfileOutcome::Failed { reason: "exit status 1: only one at a time".into() };
    report.profiles = vec![
        explained("BenchmarkEncode/json-8", difference, "codec.BenchmarkEncode_json-8"),
        explained("BenchmarkSpread", nothing, "it's"),
        BenchmarkProfile { id: id(CODEC, "BenchmarkOnce"), outcome: failed },
    ];
    report
}
