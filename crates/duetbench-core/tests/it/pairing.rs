//! Pairs are made by coordinates. Properties that hold for whole experiments, through `analyse`.

use duetbench_core::analysis::{Measured, Warning, analyse, summarise};
use duetbench_core::pair::pair;
use duetbench_core::plan::Mode;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::sample::Memory;
use duetbench_core::spec::Decision;
use duetbench_core::{Role, Sample};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

use crate::support::{plan, same_cases, slice, slices};

/// Experiments of several forks and slices, in blocks of two, with or without collections.
fn experiments() -> impl Strategy<Value = Vec<Sample>> {
    let half = (1_000..1_000_000u64, 1..50u64);
    let forks = vec(vec((half.clone(), half), 1..6), 3..12);
    (forks, option::of(0..2u32)).prop_map(|(forks, collections)| {
        let mut samples = Vec::new();
        for (run, slices) in (0u32..).zip(forks) {
            for (iteration, (b, c)) in (0u32..).zip(slices) {
                for (role, (wall_ns, invocations)) in [(Role::Baseline, b), (Role::Candidate, c)] {
                    let mut sample = slice(role, (run, iteration), wall_ns);
                    (sample.invocations, sample.block) = (invocations, 1 + iteration / 2);
                    let record =
                        |collections| Memory { allocations: Some(5), bytes: 80, collections, invocations, cycle: None };
                    sample.memory = collections.filter(|_| iteration % 2 == 1).map(record);
                    samples.push(sample);
                }
            }
        }
        samples
    })
}

fn modes() -> impl Strategy<Value = Mode> {
    select(vec![Mode::Duet, Mode::InterleavedOneCore, Mode::InterleavedAllCores, Mode::Sequential])
}

fn report(samples: &[Sample], mode: Mode) -> BenchmarkReport {
    let measured = Measured { samples: samples.to_vec(), failed_trials: Vec::new() };
    analyse(&plan(&["A"], mode), &[measured], &Decision::default()).remove(0)
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn the_order_of_the_samples_changes_nothing((samples, shuffled) in shuffled(), mode in modes()) {
        prop_assert_eq!(report(&samples, mode), report(&shuffled, mode));
    }

    #[test]
    fn a_slower_machine_changes_no_ratio(samples in experiments(), mode in modes(), factor in 2..1000u64) {
        let mut slower = samples.clone();
        slower.iter_mut().for_each(|s| s.wall_ns *= factor);
        let (before, after) = (report(&samples, mode).estimate.unwrap(), report(&slower, mode).estimate.unwrap());
        prop_assert!(close(before.ratio, after.ratio) && close(before.ratio_high, after.ratio_high));
    }

    #[test]
    fn a_slower_candidate_moves_the_ratio_by_as_much(samples in experiments(), mode in modes(), factor in 2..1000u64) {
        let mut slower = samples.clone();
        slower.iter_mut().filter(|s| s.at.role == Role::Candidate).for_each(|s| s.wall_ns *= factor);
        let (before, after) = (report(&samples, mode).estimate.unwrap(), report(&slower, mode).estimate.unwrap());
        prop_assert!(close(before.ratio * factor as f64, after.ratio));
        prop_assert!(close(before.ratio_low * factor as f64, after.ratio_low));
    }

    #[test]
    fn exchanging_the_roles_inverts_the_ratio(samples in experiments(), mode in modes()) {
        let mut exchanged = samples.clone();
        exchanged.iter_mut().for_each(|s| s.at.role = s.at.role.other());
        let (there, back) = (report(&samples, mode), report(&exchanged, mode));
        let (t, b) = (there.estimate.unwrap(), back.estimate.unwrap());
        prop_assert!(close(t.ratio, 1.0 / b.ratio) && close(t.ratio_low, 1.0 / b.ratio_high));
        prop_assert!((t.p_value - b.p_value).abs() < 1e-9);
        let mirrored = match back.verdict.word() { "regression" => "improvement", "improvement" => "regression", same => same };
        prop_assert_eq!(there.verdict.word(), mirrored);
    }

    #[test]
    fn a_lost_half_takes_its_pair_along_and_nothing_else(samples in experiments(), lost in vec(any::<usize>(), 1..4)) {
        let mut lost: Vec<usize> = lost.iter().map(|i| i % samples.len()).collect();
        lost.sort_unstable_by_key(|i| i / 2);
        lost.dedup_by_key(|i| *i / 2);
        let left: Vec<Sample> = (0..samples.len()).filter(|i| !lost.contains(i)).map(|i| samples[i]).collect();
        let whole: Vec<Sample> = (0..samples.len()).filter(|i| lost.iter().all(|l| l / 2 != i / 2)).map(|i| samples[i]).collect();
        let (pairing, expected) = (pair(&left, Mode::Duet), pair(&whole, Mode::Duet));
        prop_assert_eq!(pairing.orphans.len(), lost.len());
        prop_assert_eq!(pairing.pairs, expected.pairs);
        let summary = summarise(&left, Mode::Duet);
        prop_assert_eq!(summary.orphans as usize, lost.len());
    }
}

fn shuffled() -> impl Strategy<Value = (Vec<Sample>, Vec<Sample>)> {
    experiments().prop_flat_map(|samples| (Just(samples.clone()), Just(samples).prop_shuffle()))
}

#[test]
fn a_gap_on_one_side_does_not_shift_the_partners() {
    // Slices get slower by turns; paired by position after the gap, the ratio would be off by a factor of ten.
    let times = [100, 1_000, 100, 1_000, 100, 1_000];
    let both = (0..3).flat_map(|run| (0u32..).zip(times).flat_map(move |(i, ns)| slices((run, i), ns, ns)));
    let samples: Vec<Sample> = both.filter(|s| s.at.role == Role::Candidate || s.at.iteration != 0).collect();
    let report = report(&samples, Mode::Duet);
    assert!(report.forks.iter().all(|f| f.log_ratio == 0.0));
    assert!(report.warnings.contains(&Warning::Orphans { samples: 3 }));
}

#[test]
fn every_coordinate_but_the_role_separates_pairs() {
    let baseline = slice(Role::Baseline, (0, 0), 100);
    let mut others = [slice(Role::Candidate, (0, 0), 100); 5];
    others[0].at.instance = 1;
    others[1].at.build = 1;
    others[2].at.suite_run = 1;
    others[3].at.fork = 1;
    others[4].at.iteration = 1;
    for other in others {
        assert_eq!(pair(&[baseline, other], Mode::Duet).orphans, [baseline, other], "{:?}", other.at);
    }
}

#[test]
fn a_repeated_sample_is_an_orphan_and_the_first_one_counts() {
    let [baseline, candidate] = slices((0, 0), 100, 200);
    let repeated = slice(Role::Candidate, (0, 0), 999);
    for mode in [Mode::Duet, Mode::Sequential] {
        let summary = summarise(&[baseline, candidate, repeated], mode);
        assert_eq!((summary.orphans, summary.forks[0].candidate.ns_per_op), (1, 200.0));
    }
}
