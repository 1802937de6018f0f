//! Length of a trial, chosen after the first ones.

use duetbench_core::analysis::{PILOT_FORKS, refined};
use duetbench_core::plan::{Design, ExecutionConfiguration, Mode, Purpose};
use duetbench_core::report::{ForkPair, ForkSide};

use crate::support::fork;

const PLANNED: ExecutionConfiguration = ExecutionConfiguration {
    design: Design { units: 20, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential: true },
    slice_ns: 200_000,
    trial_ns: 20_000_000,
    warmup_slices: 16,
    warm_ns: 0,
    purpose: Purpose::Judged,
};

/// Eight fork pairs, each a hundred slices of 0.2 ms a side.
#[derive(Clone, Copy)]
struct Pilot {
    fork_sd: f64,
    slice_sd: f64,
    slices: u32,
}

const USUAL: Pilot = Pilot { fork_sd: 0.011_801_5, slice_sd: 0.05, slices: 100 };

impl Pilot {
    fn forks(self) -> Vec<ForkPair> {
        // Half of them one way, half the other: their standard deviation is sqrt(8 / 7) of the distance.
        let distance = self.fork_sd * (7.0f64 / 8.0).sqrt();
        let side = ForkSide { ns_per_op: 1_000.0, invocations: 200 * u64::from(self.slices), ..fork(0.0).baseline };
        let one = |i: usize| ForkPair {
            baseline: side,
            candidate: side,
            slice_spread: self.slice_sd,
            slices: self.slices,
            ..fork(if i.is_multiple_of(2) { distance } else { -distance })
        };
        (0..PILOT_FORKS).map(one).collect()
    }

    /// Length of a trial when one takes `trial_ms` in all.
    fn trial_ns(self, trial_ms: f64) -> u64 {
        refined(PLANNED, &self.forks(), trial_ms * 1e6).trial_ns
    }
}

#[test]
fn the_length_is_that_of_kalibera_and_jones() {
    // Variance of a slice's share in a median: pi / 2 * 0.05^2 = 0.003927; of a fork beyond it 0.00013927 - 0.00003927 = 0.0001.
    // A slice pair costs 0.4 ms, a trial 60 ms besides: sqrt(39.27 * 150) = 76.75 slices instead of 100.
    assert_eq!(USUAL.trial_ns(100.0), 15_400_000);
    // Four times the cost besides, twice the slices.
    assert_eq!(USUAL.trial_ns(280.0), 30_600_000);
    let refined = refined(PLANNED, &USUAL.forks(), 100e6);
    assert_eq!(refined, ExecutionConfiguration { trial_ns: 15_400_000, ..PLANNED });
}

#[test]
fn differences_that_cancel_when_places_are_exchanged_call_for_no_shorter_trials() {
    let design = Design { units: 8, forks_per_unit: 2, places: 2, ..PLANNED.design };
    let planned = ExecutionConfiguration { design, ..PLANNED };
    // Every second fork pair is a tenth faster or slower than the one before, and the two together as `USUAL` forks.
    let mut forks = USUAL.forks();
    for (i, fork) in forks.iter_mut().enumerate() {
        let place = if i.is_multiple_of(2) { 0.1 } else { -0.1 };
        let of_pair = if i % 4 < 2 { 1.0 } else { -1.0 };
        fork.log_ratio = place + of_pair * USUAL.fork_sd * (3.0f64 / 8.0).sqrt();
        fork.log_ratio_complete = fork.log_ratio;
    }
    assert_eq!(refined(planned, &forks, 100e6).trial_ns, USUAL.trial_ns(100.0));
    assert_eq!(refined(PLANNED, &forks, 100e6).trial_ns, 3_200_000);
}

#[test]
fn a_complete_number_that_varies_more_calls_for_longer_trials_unless_places_are_exchanged() {
    let mut forks = USUAL.forks();
    // Twice the standard deviation, so that a slice adds 0.003927 + 100 * 3 * 0.00013927: sqrt(457.08 * 150) = 261.8 slices.
    forks.iter_mut().for_each(|fork| fork.log_ratio_complete = 2.0 * fork.log_ratio);
    assert_eq!(refined(PLANNED, &forks, 100e6).trial_ns, 52_400_000);
    let design = Design { forks_per_unit: 2, places: 2, ..PLANNED.design };
    let planned = ExecutionConfiguration { design, ..PLANNED };
    assert_eq!(refined(planned, &forks, 100e6).trial_ns, PLANNED.trial_ns);
}

#[test]
fn there_are_never_fewer_than_sixteen_slices_nor_more_than_four_times_as_many() {
    // Forks differ and cost nothing besides their slices: one slice would do.
    assert_eq!(Pilot { fork_sd: 0.1, ..USUAL }.trial_ns(40.0), 3_200_000);
    assert_eq!(USUAL.trial_ns(1e6), 80_000_000);
}

#[test]
fn a_duet_measures_both_sides_at_once_and_exchanges_cores() {
    let in_duet = |trial_ms: f64| {
        let mut forks = USUAL.forks();
        forks.iter_mut().for_each(|fork| fork.mode = Mode::Duet);
        refined(PLANNED, &forks, trial_ms * 1e6).trial_ns
    };
    // A slice pair costs 0.2 ms, and the trial 20 ms besides: sqrt(39.27 * 100) = 62.7.
    assert_eq!(in_duet(40.0), 12_600_000);
    // Two blocks, since the first warms up.
    assert_eq!(in_duet(21.0), 6_400_000);
}

#[test]
fn forks_that_seem_not_to_differ_still_count_a_tenth() {
    // Slices alone would make them differ more: sqrt(0.003927 / 0.000003 * 9 / 0.4) = 171.6.
    let tenth = Pilot { fork_sd: 3e-5f64.sqrt(), ..USUAL };
    assert_eq!(tenth.trial_ns(49.0), 34_400_000);
}

#[test]
fn too_little_is_known_before_eight_fork_pairs_and_the_rest_changes_nothing() {
    let mut forks = USUAL.forks();
    assert_eq!(refined(PLANNED, &forks[..PILOT_FORKS - 1], 100e6), PLANNED);
    forks.extend(Pilot { fork_sd: 0.3, slice_sd: 0.001, slices: 1000 }.forks());
    assert_eq!(refined(PLANNED, &forks, 100e6).trial_ns, 15_400_000);
}

#[test]
fn what_collects_keeps_its_length() {
    let mut forks = USUAL.forks();
    forks[7].collections = 1;
    assert_eq!(refined(PLANNED, &forks, 100e6), PLANNED);
}

#[test]
fn where_nothing_can_be_computed_the_length_stays() {
    let planned = PLANNED.trial_ns;
    // No spread of forks, none of slices, and trials of fewer than sixteen slices.
    assert_eq!(Pilot { fork_sd: 0.0, ..USUAL }.trial_ns(100.0), planned);
    assert_eq!(Pilot { slice_sd: 0.0, ..USUAL }.trial_ns(100.0), planned);
    assert_eq!(Pilot { slices: 15, ..USUAL }.trial_ns(100.0), planned);
    let mut forks = USUAL.forks();
    forks[0].log_ratio = f64::NAN;
    assert_eq!(refined(PLANNED, &forks, 100e6), PLANNED);
}
