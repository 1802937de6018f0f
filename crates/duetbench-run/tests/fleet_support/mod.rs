//! Builders of data for several tests of the fleet.

#![allow(dead_code, unreachable_pub, reason = "several tests include it, and none uses all of it")]

use duetbench_core::plan::{Design, ExecutionConfiguration, Mode, PlannedBenchmark, Purpose, Style};
use duetbench_core::{BenchmarkId, Role, Trial};
use duetbench_run::fleet::wire::{Recipe, Request, VERSION};

/// A benchmark of whole processes, one to warm up and two that count.
pub fn planned(package: &str, name: &str) -> PlannedBenchmark {
    let design = Design { units: 20, forks_per_unit: 2, doubled: 0, places: 1, by_build: false, sequential: true };
    PlannedBenchmark {
        id: BenchmarkId { package: package.into(), name: name.into() },
        style: Style::Process,
        mode: Mode::InterleavedAllCores,
        mode_reason: "asked for".into(),
        configuration: ExecutionConfiguration {
            design,
            slice_ns: 1,
            trial_ns: 2,
            warmup_slices: 1,
            warm_ns: 0,
            purpose: Purpose::Judged,
        },
        trial_predicted_ns: 10_000_000,
        first_ns: 1_000_000,
        threads: 1,
        runtime_threads: false,
        profile: None,
        redefined: None,
    }
}

/// The trial of a suite run of the first benchmark.
pub fn trial(suite_run: u32) -> Trial {
    let first = if suite_run.is_multiple_of(2) { Role::Baseline } else { Role::Candidate };
    Trial {
        benchmark: 0,
        round: 0,
        suite_run,
        fork: 0,
        build: 3,
        first,
        core: 1,
        seed: u64::MAX - u64::from(suite_run),
    }
}

/// A program of the member `p0`.
pub fn recipe(side: u32, args: &[&str]) -> Recipe {
    Recipe {
        program: format!("p0/{side}/0").into(),
        dir: "p0".into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: vec![("GOMAXPROCS".into(), "1".into())],
        hooked: false,
        exit_code: 0,
    }
}

/// A request for two trials of a program with these arguments.
pub fn request(args: &[&str]) -> Request {
    Request {
        version: VERSION,
        task: "0.0.2".into(),
        planned: planned("p", "BenchmarkA"),
        trials: vec![trial(0).into(), trial(1).into()],
        members: vec!["p0".into()],
        sides: [recipe(0, args), recipe(1, args)],
        timeout: std::time::Duration::from_secs(10),
        answer_bytes_max: 6_000_000,
    }
}
