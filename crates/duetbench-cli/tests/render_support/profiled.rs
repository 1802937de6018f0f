//! A report with profiles.

use duetbench_core::hotspot::{
    BenchmarkProfile, BenchmarkStacks, CallTree, FunctionGain, Gain, Origin, ProfileDifference, ProfileOutcome,
};
use duetbench_core::report::Report;
use duetbench_core::{Role, Verdict};

use super::{CODEC, Change, brief, empty, id, planned};

/// A run with two regressions that were profiled, one of them without a finding, and one that could not be.
pub(crate) fn profiled() -> Report {
    let mut report = empty();
    let regressed = ["BenchmarkEncode/json-8", "BenchmarkSpread", "BenchmarkOnce"]
        .map(|name| brief(CODEC, name, Verdict::Regression, Change(1718.0, 1.2, 0.004)));
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
    report.stacks = vec![
        BenchmarkStacks { id: id(CODEC, "BenchmarkEncode/json-8"), frames: Ok(stacks().frames([3.33; 2])) },
        BenchmarkStacks {
            id: id(CODEC, "BenchmarkSpread"),
            frames: Err("`it's.baseline.pb.gz` cannot be read: not there".into()),
        },
    ];
    report
}

/// Stacks of both sides, with names that are foreign.
fn stacks() -> CallTree {
    let mut tree = CallTree::default();
    let (benchmark, encode) = ("example.com/shop/codec.BenchmarkEncode", "example.com/shop/codec.Encode\u{1b}[31m@all");
    let escape = "example.com/shop/codec.(*Writer[go.shape.int]).escape";
    let all: [(&[&str], u64, u64); 5] = [
        (&["testing.(*B).launch", "testing.(*B).runN", benchmark, encode, escape], 123, 210),
        (&["testing.(*B).launch", "testing.(*B).runN", benchmark, encode, "example.com/shop/codec.old"], 60, 0),
        (&["testing.(*B).launch", "testing.(*B).runN", benchmark, encode], 237, 317),
        (&["testing.(*B).launch", "testing.(*B).runN", benchmark, encode, "runtime.mallocgc"], 0, 10),
        (&["runtime.gcBgMarkWorker", "runtime.scanobject"], 92, 81),
    ];
    for (stack, baseline, candidate) in all {
        tree.add(Role::Baseline, stack.iter().copied(), baseline);
        tree.add(Role::Candidate, stack.iter().copied(), candidate);
    }
    tree
}
