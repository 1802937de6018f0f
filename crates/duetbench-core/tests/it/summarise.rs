//! From samples to the fork's one number.

use duetbench_core::analysis::{Rejection, summarise};
use duetbench_core::plan::Mode;
use duetbench_core::{Role, Sample};

use crate::support::{memory, slice, slices};

const PAIRED: Mode = Mode::InterleavedOneCore;

/// The log ratios of these samples' forks.
fn log_ratios(samples: &[Sample], mode: Mode) -> Vec<f64> {
    summarise(samples, mode).forks.iter().map(|f| f.log_ratio).collect()
}

#[track_caller]
fn check(samples: &[Sample], mode: Mode, ratio: f64) {
    let ratios = log_ratios(samples, mode);
    assert!(ratios.len() == 1 && (ratios[0] - ratio.ln()).abs() < 1e-12, "{ratios:?}, expected {}", ratio.ln());
}

#[test]
fn the_typical_slice_is_the_median_of_the_ratios() {
    // Ratios 2, 3 and 32; of the medians it would be 2.
    let samples = [slices((0, 0), 100, 200), slices((0, 1), 200, 600), slices((0, 2), 100, 3200)].concat();
    check(&samples, PAIRED, 3.0);
    check(&samples, Mode::Sequential, 6.0);
}

/// The ratio of all slices of the only fork.
fn complete(samples: &[Sample], mode: Mode) -> f64 {
    summarise(samples, mode).forks[0].log_ratio_complete.exp()
}

#[test]
fn all_slices_are_summed_and_slow_ones_clipped_at_three_medians() {
    // 100+100+100+100+100 against 100+100+100+200+9000: the last counts as 300.
    let candidate = [100, 100, 100, 200, 9000];
    let mut samples: Vec<Sample> = (0u32..).zip(candidate).flat_map(|(i, ns)| slices((0, i), 100, ns)).collect();
    samples.iter_mut().for_each(|s| s.cpu_ns = Some(100));
    for mode in [PAIRED, Mode::Sequential] {
        assert!((complete(&samples, mode) - 800.0 / 500.0).abs() < 1e-12);
        let in_full = summarise(&samples, mode).forks[0].log_ratio_in_full.unwrap();
        assert!((in_full.exp() - 9500.0 / 500.0).abs() < 1e-9, "{in_full}");
    }
    check(&samples, PAIRED, 1.0);
}

/// An interruption takes no CPU time; a table that grows does.
#[test]
fn a_slow_slice_counts_in_full_as_far_as_it_has_cpu_time() {
    let of_last = |cpu_ns: Option<u64>| {
        let candidate = [100, 100, 100, 100, 9000];
        let mut samples: Vec<Sample> = (0u32..).zip(candidate).flat_map(|(i, ns)| slices((0, i), 100, ns)).collect();
        samples.iter_mut().for_each(|s| s.cpu_ns = cpu_ns.map(|_| 50));
        samples[9].cpu_ns = cpu_ns;
        complete(&samples, PAIRED)
    };
    // Each 50 ns of CPU time go with 100 ns of a slice.
    for (cpu_ns, last) in [(None, 300.0), (Some(50), 300.0), (Some(1000), 2000.0), (Some(5000), 9000.0)] {
        let (got, want) = (of_last(cpu_ns), (400.0 + last) / 500.0);
        assert!((got - want).abs() < 1e-12, "{cpu_ns:?}: {got} for {want}");
    }
}

#[test]
fn times_are_per_invocation() {
    let [baseline, mut candidate] = slices((0, 0), 100, 600);
    candidate.invocations = 2;
    check(&[baseline, candidate], PAIRED, 3.0);
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
    let mut samples = vec![slice(Role::Baseline, (0, 0), 100), slice(Role::Baseline, (0, 1), 300)];
    samples.push(slice(Role::Candidate, (0, 7), 600));
    check(&samples, Mode::Sequential, 3.0);
    assert_eq!(summarise(&samples, Mode::Sequential).orphans, 0);
    assert_eq!(summarise(&samples, PAIRED).orphans, 3);
}

#[test]
fn a_sequential_fork_with_one_side_is_all_orphans() {
    let mut samples = slices((0, 0), 100, 300).to_vec();
    samples.push(slice(Role::Candidate, (1, 0), 100));
    samples.push(slice(Role::Candidate, (1, 1), 100));
    check(&samples, Mode::Sequential, 3.0);
    assert_eq!(summarise(&samples, Mode::Sequential).orphans, 2);
}

#[test]
fn impossible_slices_reject_their_fork_and_no_other() {
    let mut samples = [slices((0, 0), 0, 100), slices((1, 0), 100, 100), slices((2, 0), 100, 200)].concat();
    samples[3].invocations = 0;
    let summary = summarise(&samples, PAIRED);
    assert_eq!(summary.rejected, [Rejection::NoTime(Role::Baseline), Rejection::NoInvocations(Role::Candidate)]);
    assert_eq!(summary.forks.iter().map(|f| f.suite_run).collect::<Vec<_>>(), [2]);
}

#[test]
fn numbers_per_invocation_are_sums_over_the_fork() {
    let mut samples = [slices((0, 0), 100, 100), slices((0, 1), 300, 100)].concat();
    samples[0].invocations = 3;
    samples[2].memory = memory(0);
    samples[3].cpu_ns = None;
    let fork = summarise(&samples, PAIRED).forks[0];
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
    assert_eq!(summarise(&samples, PAIRED).cpu_share, Some(0.4));
    samples.iter_mut().for_each(|s| s.cpu_ns = None);
    assert_eq!(summarise(&samples, PAIRED).cpu_share, None);
}
