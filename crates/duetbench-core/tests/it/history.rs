//! Histories of benchmarks.

use std::collections::BTreeMap;

use duetbench_core::BenchmarkId;
use duetbench_core::history::{PastRun, of};

fn id(name: &str) -> BenchmarkId {
    BenchmarkId { package: "p".into(), name: name.into() }
}

/// A run in which these benchmarks took so long.
fn past(run: &str, times_ns: &[(&str, f64)]) -> PastRun {
    let times_ns: BTreeMap<BenchmarkId, f64> = times_ns.iter().map(|(name, ns)| (id(name), *ns)).collect();
    PastRun { run: run.into(), started: String::new(), version: String::new(), times_ns }
}

#[test]
fn a_benchmark_has_a_history_from_three_runs_on() {
    let runs = [
        past("r1", &[("A", 10.0), ("B", 1.0)]),
        past("r2", &[("A", 11.0)]),
        past("r4", &[("B", 2.0)]),
        past("r5", &[("A", 12.0), ("B", 3.0)]),
    ];
    assert_eq!(of(&id("A"), &runs), Some(vec![(0, 10.0), (1, 11.0), (3, 12.0)]));
    assert_eq!(of(&id("A"), &runs[..3]), None);
    assert_eq!(of(&id("C"), &runs), None);
}
