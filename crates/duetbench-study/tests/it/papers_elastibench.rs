//! False changes of ElastiBench's procedure between equal versions, held against simulated results: fifteen calls of three results each,
//! as in the paper, that have a share of their variance in common. Seeds are fixed, figures those of docs/statistics/17-elastibench.md.

use duetbench_study::papers::elastibench::{Experiment, Procedure, Results};

use crate::noise_support::Noise;
use crate::noise_support::assert_share;

const CALLS: usize = 15;
const RESULTS_OF_CALL: usize = 3;
/// Benchmarks in a simulated experiment.
const BENCHMARKS: u32 = 10_000;

/// An experiment without any change, in which results of a call have this share of their variance in common.
fn without_change(noise: &mut Noise, in_common: f64) -> Experiment {
    let mut differences = || {
        let mut values = Vec::with_capacity(CALLS * RESULTS_OF_CALL);
        for _ in 0..CALLS {
            let call = in_common.sqrt() * noise.normal();
            values.extend((0..RESULTS_OF_CALL).map(|_| 0.05 * (call + (1.0 - in_common).sqrt() * noise.normal())));
        }
        values
    };
    let results = |i| Results { benchmark: format!("B{i}"), differences: differences(), missing: None };
    Experiment { name: "r1".into(), benchmarks: (0..BENCHMARKS).map(results).collect() }
}

#[test]
fn equal_versions_are_called_changed_the_more_the_more_results_of_a_call_have_in_common() {
    let mut noise = Noise::new(1);
    for (in_common, expected) in [(0.0, 0.016), (0.2, 0.032), (0.5, 0.063), (0.8, 0.106)] {
        let findings = Procedure::PAPER.findings(&without_change(&mut noise, in_common));
        assert_share(findings.changed_share().unwrap(), expected, BENCHMARKS);
    }
}
