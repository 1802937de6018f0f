//! Facts about a run from before it is measured, for several tests.

#![allow(dead_code, unreachable_pub, reason = "several tests include it, and none uses all of it")]

use duetbench_core::noise::Facts;
use duetbench_core::plan::{Discovered, Style};
use duetbench_core::report::VersionInfo;
use duetbench_core::spec::{Decision, Effort, HarnessSpec, LayoutChoice, ModeChoice, Policy, Selection};
use duetbench_core::{BenchmarkId, Environment, Spec};

/// The request without any options: everything in it is a default, but for the seed, which is 7.
pub fn spec() -> Spec {
    Spec {
        selection: Selection { bench: None, exclude: None, packages: vec!["./...".into()] },
        effort: Effort { forks: None, budget: None, builds: None, fixed: false, confirm: true },
        decision: Decision::default(),
        mode: ModeChoice::Auto,
        layouts: LayoutChoice::Random,
        measure_identical: false,
        reach: false,
        same_benchmarks: false,
        benchmarks_from: None,
        seed: 7,
        harness_args: Vec::new(),
        harness: HarnessSpec::default(),
        rules: Policy::default(),
        fleet: None,
    }
}

/// A machine with two processors.
pub fn environment() -> Environment {
    Environment {
        platform: "linux/amd64".into(),
        kernel: "6".into(),
        cpu_model: "a processor".into(),
        cpus_usable: vec![0, 1],
        cores_physical: 2,
        smt: false,
        governor: None,
        load_1min: 0.5,
        steal_share: None,
        toolchain: "go1.26.0".into(),
        duet_version: "0.1.0".into(),
    }
}

/// Facts about a machine with two cores.
pub fn facts() -> Facts {
    Facts {
        cpu_model: None,
        cpus_usable: 2,
        cpus_online: 2,
        cores_physical: 2,
        governor: None,
        frequency_max_khz: None,
        quota_cpus: None,
        virtualised: Some(true),
    }
}

/// A benchmark whose first invocation took 100 ns.
pub fn found(package: &str, name: &str) -> Discovered {
    Discovered {
        id: BenchmarkId { package: package.into(), name: name.into() },
        style: Style::Rewritten,
        first_ns: 100,
        threads: 1,
        runtime_threads: false,
        qualified: false,
        failure: None,
    }
}

/// A version that is what was typed.
pub fn version(name: &str) -> VersionInfo {
    VersionInfo { requested: name.into(), resolved: name.into(), artifact_digest: "00".into() }
}
