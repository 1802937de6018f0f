//! From samples to the fork's one number.

use duetbench_core::analysis::{Rejection, summarise};
use duetbench_core::plan::Mode;
use duetbench_core::spec::ForkAggregate;
use duetbench_core::{Role, Sample};

use crate::support::{memory, slice, slices};

const PAIRED: Mode = Mode::InterleavedOneCore;

/// The log ratios of these samples' forks.
fn log_ratios(samples: &[Sample], mode: Mode) -> Vec<f64> {
    summarise(samples, mode, ForkAggregate::Mean).forks.iter().map(|f| f.log_ratio).collect()
}

#[track_caller]
fn check(samples: &[Sample], mode: Mode, ratio: f64) {
    let ratios = log_ratios(samples, mode);
    assert!(ratios.len() == 1 && (ratios[0] - ratio.ln()).abs() < 1e-12, "{ratios:?}, expected {}", ratio.ln());
}

#[test]
fn slices_give_the_geometric_mean_of_their_ratios() {
    // Ratios 2 and 8.
    check(&[slices((0, 0), 100, 200), slices((0, 1), 100, 800)].concat(), PAIRED, 4.0);
}

#[test]
fn times_are_per_invocation() {
    let [baseline, mut candidate] = slices((0, 0), 100, 600);
    candidate.invocations = 2;
    check(&[baseline, candidate], PAIRED, 3.0);
}

#[test]
fn a_collection_makes_blocks_the_unit() {
    // The second slice pays for a collection: the block costs 400 against 200, where the mean of logs would say sqrt(3).
    let mut samples = [slices((0, 0), 100, 100), slices((0, 1), 100, 300)].concat();
    check(&samples, PAIRED, 3f64.sqrt());
    samples[2].memory = memory(0);
    samples[3].memory = memory(1);
    check(&samples, PAIRED, 2.0);
}

#[test]
fn a_collection_in_one_fork_counts_for_all_of_them() {
    let mut samples = [slices((0, 0), 100, 100), slices((0, 1), 100, 300)].concat();
    samples.extend([slices((1, 0), 100, 100), slices((1, 1), 100, 300)].concat());
    for (at, collections) in [(2, 0), (3, 1), (6, 0), (7, 0)] {
        samples[at].memory = memory(collections);
    }
    let ratios = log_ratios(&samples, PAIRED);
    assert!(ratios.len() == 2 && ratios.iter().all(|d| (d - 2f64.ln()).abs() < 1e-12), "{ratios:?}");
}

#[test]
fn a_block_that_was_cut_off_does_not_count() {
    let mut samples = [slices((0, 0), 100, 200), slices((0, 1), 100, 900)].concat();
    samples[0].memory = memory(1);
    samples[1].memory = memory(1);
    samples[2].block = 2;
    samples[3].block = 2;
    check(&samples, PAIRED, 2.0);
}

#[test]
fn blocks_that_ended_on_different_sides_reject_the_fork() {
    let mut samples = [slices((0, 0), 100, 200), slices((0, 1), 100, 900)].concat();
    samples[0].memory = memory(1);
    samples[3].memory = memory(1);
    samples[2].block = 2;
    samples[3].block = 2;
    assert_eq!(summarise(&samples, PAIRED, ForkAggregate::Mean).rejected, [Rejection::NoCommonBlock]);
}

#[test]
fn warm_up_is_not_counted() {
    let mut samples = [slices((0, 0), 100, 900), slices((0, 1), 100, 200)].concat();
    samples[0].warm_up = true;
    samples[1].warm_up = true;
    check(&samples, PAIRED, 2.0);
    check(&samples, Mode::Sequential, 2.0);
}

#[test]
fn sequential_sides_need_not_match() {
    let mut samples = vec![slice(Role::Baseline, (0, 0), 100), slice(Role::Baseline, (0, 1), 400)];
    samples.push(slice(Role::Candidate, (0, 7), 600));
    check(&samples, Mode::Sequential, 3.0);
    assert_eq!(summarise(&samples, Mode::Sequential, ForkAggregate::Mean).orphans, 0);
    assert_eq!(summarise(&samples, PAIRED, ForkAggregate::Mean).orphans, 3);
}

#[test]
fn a_sequential_fork_with_one_side_is_all_orphans() {
    let mut samples = slices((0, 0), 100, 300).to_vec();
    samples.push(slice(Role::Candidate, (1, 0), 100));
    samples.push(slice(Role::Candidate, (1, 1), 100));
    check(&samples, Mode::Sequential, 3.0);
    assert_eq!(summarise(&samples, Mode::Sequential, ForkAggregate::Mean).orphans, 2);
}

#[test]
fn impossible_slices_reject_their_fork_and_no_other() {
    let mut samples = [slices((0, 0), 0, 100), slices((1, 0), 100, 100), slices((2, 0), 100, 200)].concat();
    samples[3].invocations = 0;
    let summary = summarise(&samples, PAIRED, ForkAggregate::Mean);
    assert_eq!(summary.rejected, [Rejection::NoTime(Role::Baseline), Rejection::NoInvocations(Role::Candidate)]);
    assert_eq!(summary.forks.iter().map(|f| f.suite_run).collect::<Vec<_>>(), [2]);
}

#[test]
fn aggregates_differ_in_what_one_disturbed_slice_does() {
    let samples: Vec<Sample> = (0..5).flat_map(|i| slices((0, i), 100, if i == 3 { 3200 } else { 100 })).collect();
    let ratio = |aggregate| summarise(&samples, PAIRED, aggregate).forks[0].log_ratio.exp();
    assert!((ratio(ForkAggregate::Mean) - 2.0).abs() < 1e-12);
    assert_eq!([ratio(ForkAggregate::TrimmedMean20), ratio(ForkAggregate::Median)], [1.0, 1.0]);
}

#[test]
fn numbers_per_invocation_are_sums_over_the_fork() {
    let mut samples = [slices((0, 0), 100, 100), slices((0, 1), 300, 100)].concat();
    samples[0].invocations = 3;
    samples[2].memory = memory(0);
    samples[3].cpu_ns = None;
    let fork = summarise(&samples, PAIRED, ForkAggregate::Mean).forks[0];
    assert_eq!((fork.baseline.invocations, fork.baseline.ns_per_op), (4, 100.0));
    assert_eq!((fork.baseline.cpu_ns_per_op, fork.candidate.cpu_ns_per_op), (Some(100.0), None));
    assert_eq!((fork.baseline.allocs_per_op, fork.baseline.bytes_per_op), (Some(5.0), Some(80.0)));
    assert_eq!(fork.candidate.allocs_per_op, None);
}

#[test]
fn the_cpu_share_is_that_of_the_side_that_waits_more() {
    let mut samples: Vec<Sample> = (0..3).flat_map(|i| slices((0, i), 100, 100)).collect();
    samples.iter_mut().filter(|s| s.at.role == Role::Candidate).for_each(|s| s.cpu_ns = Some(40));
    samples[1].cpu_ns = Some(100);
    assert_eq!(summarise(&samples, PAIRED, ForkAggregate::Mean).cpu_share, Some(0.4));
    samples.iter_mut().for_each(|s| s.cpu_ns = None);
    assert_eq!(summarise(&samples, PAIRED, ForkAggregate::Mean).cpu_share, None);
}
