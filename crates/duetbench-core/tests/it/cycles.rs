//! The price of the collector: over whole cycles, and by the cost of one collection where there are none.

use duetbench_core::analysis::{Measured, Warning, analyse, summarise};
use duetbench_core::plan::{ColdShare, Mode, Profile, is_settling, lost_in_turns};
use duetbench_core::report::ForkPair;
use duetbench_core::sample::{Coordinates, Cycle, Memory};
use duetbench_core::spec::Decision;
use duetbench_core::{Role, Sample};

use crate::support::{plan, slice};

const PAIRED: Mode = Mode::InterleavedOneCore;

/// One side of a fork whose slices take 100 ns, or 500 where a collection ended, by both clocks.
#[derive(Clone, Copy)]
struct Side<'a> {
    slices: u32,
    ends: &'a [u32],
    bytes_per_op: u64,
    cycle: Option<Cycle>,
}

const PLAIN: Side<'static> = Side { slices: 11, ends: &[], bytes_per_op: 0, cycle: None };
const CYCLE: Cycle = Cycle { cost_ns: 1000, period_bytes: 800, background_ns: Some(200) };

impl Side<'_> {
    fn samples(self, role: Role) -> Vec<Sample> {
        let one = |i: u32| {
            let cycles = self.ends.iter().filter(|end| **end <= i).count() as u32;
            let ns = if self.ends.contains(&i) { 500 } else { 100 };
            let memory = (i + 1 == self.slices).then_some(Memory {
                allocations: Some(1),
                bytes: self.bytes_per_op * u64::from(self.slices),
                collections: cycles,
                invocations: u64::from(self.slices),
                cycle: self.cycle,
            });
            Sample { cycles: Some(cycles), memory, ..slice(role, (0, i), ns) }
        };
        (0..self.slices).map(one).collect()
    }
}

fn fork(baseline: Side<'_>, candidate: Side<'_>, mode: Mode) -> ForkPair {
    let samples = [baseline.samples(Role::Baseline), candidate.samples(Role::Candidate)].concat();
    summarise(&samples, mode).forks[0]
}

#[track_caller]
fn check(log_ratio: f64, ratio: f64) {
    assert!((log_ratio.exp() - ratio).abs() < 1e-9, "{}, expected {ratio}", log_ratio.exp());
}

#[test]
fn each_side_is_cut_at_the_ends_of_its_own_collections() {
    // Whole cycles of four slices, 800 ns; of eight, 1200 ns. All slices summed would be 1900 to 1900.
    let baseline = Side { ends: &[3, 7], bytes_per_op: 8, ..PLAIN };
    let candidate = Side { ends: &[1, 9], bytes_per_op: 4, ..PLAIN };
    for mode in [PAIRED, Mode::Sequential] {
        let fork = fork(baseline, candidate, mode);
        check(fork.log_ratio_complete, 150.0 / 200.0);
        check(fork.cpu.unwrap().complete, 150.0 / 200.0);
        check(fork.cpu.unwrap().typical, 1.0);
        assert_eq!((fork.baseline.collector_share, fork.collections), (Some(0.5), 4));
    }
}

#[test]
fn work_before_a_slice_is_unrecorded_where_the_other_version_ended_one() {
    // Slices of 100 ns. The baseline works for 50 ns before its own, the candidate for 30, and for nothing where it goes on.
    let starts = [(0, 50), (1, 180), (1, 280), (0, 430), (0, 530), (1, 660)];
    let mut next = [0; 2];
    let taken = |(side, start_ns): (usize, u64)| {
        let iteration = next[side];
        next[side] += 1;
        Sample { start_ns, ..slice(Role::BOTH[side], (0, iteration), 100) }
    };
    let samples: Vec<Sample> = starts.into_iter().map(taken).collect();
    let unrecorded = |samples: &[Sample], mode| summarise(samples, mode).forks[0].unrecorded_ns;
    assert_eq!(unrecorded(&samples, PAIRED), Some(30.0));
    assert_eq!(unrecorded(&samples, Mode::Sequential), None);
    let paused: Vec<Sample> = samples.iter().map(|s| Sample { cpu_ns: None, ..*s }).collect();
    assert_eq!(unrecorded(&paused, PAIRED), None, "their time is not all between start and end");
}

#[test]
fn a_cycle_that_ends_in_the_warm_up_does_not_begin_with_the_first_slice_that_counts() {
    let mut samples = [
        Side { ends: &[1, 4, 8], ..PLAIN }.samples(Role::Baseline),
        Side { ends: &[4, 8], ..PLAIN }.samples(Role::Candidate),
    ]
    .concat();
    samples.iter_mut().for_each(|s| s.warm_up = s.at.iteration < 2);
    check(summarise(&samples, PAIRED).forks[0].log_ratio_complete, 1.0);
}

#[test]
fn slices_that_each_hold_the_end_of_a_collection_all_count() {
    let side = |ends: &'static [u32]| Side { slices: 4, ends, bytes_per_op: 8, cycle: Some(CYCLE) };
    let fork_of = fork(side(&[1, 2, 3]), side(&[0, 1, 2, 3]), PAIRED);
    check(fork_of.log_ratio_complete, 500.0 / 400.0);
    // Marking beside them: three ends in three slices, 200 ns each, of which the first slice tells nothing.
    check(fork_of.log_ratio_idle.unwrap(), (500.0 - 200.0) / (400.0 - 200.0));
}

#[test]
fn slices_that_each_hold_the_end_of_a_collection_pay_for_it_whatever_the_other_side_holds() {
    let rare = Side { ends: &[5], bytes_per_op: 8, cycle: Some(CYCLE), ..PLAIN };
    let often = Side { ends: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], bytes_per_op: 800, ..rare };
    for mode in [PAIRED, Mode::Duet] {
        // The baseline's cost is computed, as below.
        check(fork(rare, often, mode).log_ratio_complete, 500.0 / (100.0 + 10.0 / 1.3));
    }
}

#[test]
fn what_collecting_costs_is_computed_where_a_trial_holds_no_whole_cycle() {
    // Bytes allocated while a collection marks: 3 x 1000 / 100 x 80 / 800 = 3 periods, 0.75 of the whole, taken for 0.3; and 0.3,
    // 0.3 / 1.3 of the whole.
    let much = Side { bytes_per_op: 80, cycle: Some(CYCLE), ..PLAIN };
    let less = Side { bytes_per_op: 8, ..much };
    let (with_much, with_less) = (100.0 + 0.7 * 100.0, 100.0 + 10.0 / 1.3);
    for mode in [PAIRED, Mode::Duet] {
        check(fork(less, much, mode).log_ratio_complete, with_much / with_less);
    }
    let fork_of = fork(less, much, Mode::Sequential);
    check(fork_of.cpu.unwrap().complete, with_much / with_less);
    assert_eq!(fork_of.log_ratio_idle, None, "nobody saw who would mark");
    // On several cores the collector works beside what is timed.
    check(fork_of.log_ratio_complete, 1.0);
    check(fork(PLAIN, Side { cycle: Some(CYCLE), ..PLAIN }, PAIRED).log_ratio_complete, 1.0);
    // One collection that ended is no cycle, but its slice is none of the mutator's.
    check(fork(less, Side { ends: &[5], ..much }, PAIRED).log_ratio_complete, with_much / with_less);
}

#[test]
fn slices_in_which_a_collection_is_under_way_are_not_paid_for_twice() {
    // A cycle of ten slices, 80 bytes each, ends in the tenth; while it marks, from 70 % of it on, slices take three times as long.
    let allocating = Side { ends: &[9], bytes_per_op: 80, cycle: Some(CYCLE), ..PLAIN };
    let marking = |side: Side<'_>, role: Role, from: u32| {
        let mut samples = side.samples(role);
        let meant = samples.iter_mut().filter(|s| (from..9).contains(&s.at.iteration));
        meant.for_each(|s| (s.wall_ns, s.cpu_ns) = (300, Some(300)));
        samples
    };
    let complete = |side: Side<'_>, from| {
        let samples = [marking(side, Role::Baseline, from), PLAIN.samples(Role::Candidate)].concat();
        (-summarise(&samples, PAIRED).forks[0].log_ratio_complete).exp()
    };
    let computed = (100.0 + 0.7 * 100.0) / 100.0;
    assert!((complete(allocating, 7) - computed).abs() < 1e-9);
    assert!(complete(allocating, 6) > 1.05 * computed, "before that it does not mark");
    // No end was seen: what the trial holds of the next cycle tells.
    let unseen = Side { ends: &[], ..allocating };
    assert!((complete(unseen, 7) - computed).abs() < 1e-9);
    // A trial that holds nothing but the end of a cycle tells what there is.
    let few = Side { slices: 2, ends: &[1], bytes_per_op: 800, ..allocating };
    assert!(complete(few, 9).is_finite());
}

#[test]
fn whole_cycles_are_summed_only_where_both_sides_have_some() {
    let whole = Side { ends: &[3, 7], bytes_per_op: 8, cycle: Some(CYCLE), ..PLAIN };
    let one_end = Side { ends: &[5], ..whole };
    for mode in [PAIRED, Mode::Duet, Mode::Sequential] {
        check(fork(whole, one_end, mode).cpu.unwrap().complete, 1.0);
    }
    check(fork(whole, one_end, PAIRED).log_ratio_complete, 1.0);
    check(fork(whole, PLAIN, PAIRED).log_ratio_complete, 0.5);
}

#[test]
fn slow_slices_are_clipped_only_where_nothing_was_collected() {
    let slow = |ends: &'static [u32]| {
        let mut samples = [Side { ends, ..PLAIN }.samples(Role::Baseline), PLAIN.samples(Role::Candidate)].concat();
        samples.iter_mut().filter(|s| s.at.iteration == 0).for_each(|s| (s.wall_ns, s.cpu_ns) = (1100, Some(100)));
        summarise(&samples, PAIRED).forks[0].log_ratio_complete
    };
    check(slow(&[]), 1.0);
    // 1100 + 9 x 100 + 500 and 1100 + 10 x 100, neither clipped.
    check(slow(&[4]), 2100.0 / 2500.0);
}

#[test]
fn idle_cores_take_over_what_is_marked_beside_the_benchmark() {
    let collecting = Side { ends: &[3, 7], bytes_per_op: 8, cycle: Some(CYCLE), ..PLAIN };
    // 200 ns of the 800 of a cycle of four.
    check(fork(PLAIN, collecting, PAIRED).log_ratio_idle.unwrap(), 1.5);
    check(fork(PLAIN, PLAIN, PAIRED).log_ratio_idle.unwrap(), 1.0);
}

#[test]
fn both_worlds_are_told_where_they_differ() {
    let told = |baseline: Side<'_>, candidate: Side<'_>| {
        let of_fork = |suite_run| {
            let samples = [baseline.samples(Role::Baseline), candidate.samples(Role::Candidate)].concat();
            samples.into_iter().map(move |s| Sample { at: Coordinates { suite_run, ..s.at }, ..s })
        };
        let measured = Measured { samples: (0..4).flat_map(of_fork).collect(), failed_trials: vec![] };
        let report = analyse(&plan(&["A"], PAIRED), &[measured], &Decision::default()).remove(0);
        report.warnings.iter().find_map(|one| match one {
            Warning::IdleCores { ratio } => Some(*ratio),
            _ => None,
        })
    };
    let collecting = Side { ends: &[3, 7], bytes_per_op: 8, cycle: Some(CYCLE), ..PLAIN };
    // In line it is 800 ns to 400 a cycle of four.
    assert!((told(PLAIN, collecting).unwrap() - 1.5).abs() < 1e-9);
    assert_eq!((told(collecting, collecting), told(PLAIN, PLAIN)), (None, None));
    let alone = Side { cycle: Some(Cycle { background_ns: Some(0), ..CYCLE }), ..collecting };
    assert_eq!(told(PLAIN, alone), None, "nothing is marked beside it");
}

#[test]
fn cpu_numbers_need_the_time_of_every_slice() {
    let mut samples = [PLAIN.samples(Role::Baseline), PLAIN.samples(Role::Candidate)].concat();
    samples.iter_mut().filter(|s| s.at.iteration < 4).for_each(|s| s.wall_ns = 200);
    let fork = summarise(&samples, PAIRED).forks[0];
    assert_eq!(fork.busy, Some(7.0 / 11.0));
    assert!(fork.cpu.is_some());
    samples[3].cpu_ns = None;
    let fork = summarise(&samples, PAIRED).forks[0];
    assert_eq!((fork.cpu, fork.log_ratio_idle, fork.baseline.collector_share), (None, None, None));
}

#[test]
fn getting_warm_is_told_from_slices_of_two_lengths() {
    // A slice of n invocations takes 30 + 10 n; of the candidate 6 + 10 n.
    let one = |role, fixed: u64, i: u32| {
        let invocations = if i.is_multiple_of(2) { 10 } else { 40 };
        Sample { invocations, ..slice(role, (0, i), fixed + 10 * invocations) }
    };
    let side = |role, fixed| (0..11).map(move |i| one(role, fixed, i));
    let share = |b, c| {
        let samples: Vec<Sample> = side(Role::Baseline, b).chain(side(Role::Candidate, c)).collect();
        ColdShare::of(&samples).map(|share| share.least)
    };
    assert!((share(30, 6).unwrap() - 30.0 / 130.0).abs() < 1e-12);
    assert!((share(6, 30).unwrap() - 30.0 / 130.0).abs() < 1e-12);
    assert_eq!(share(0, 0), Some(0.0));
    let alike: Vec<Sample> = Role::BOTH.into_iter().flat_map(|role| [slice(role, (0, 0), 5)]).collect();
    assert_eq!(ColdShare::of(&alike), None);
    let few: Vec<Sample> = Role::BOTH.into_iter().flat_map(|role| side(role, 30).take(9)).collect();
    assert_eq!(ColdShare::of(&few), None, "four pairs of blocks");
}

#[test]
fn a_share_of_getting_warm_that_may_be_chance_lengthens_nothing() {
    // Slices of 10 invocations take 130 and 70 ns by turns, those of 40 take 400: shares of 0.3077 and -0.5714, or 0.3077 and 0.2.
    let share = |shorter: u64| {
        let one = |role, i: u32| match i % 4 {
            0 => Sample { invocations: 10, ..slice(role, (0, i), 130) },
            2 => Sample { invocations: 10, ..slice(role, (0, i), shorter) },
            _ => Sample { invocations: 40, ..slice(role, (0, i), 400) },
        };
        let samples: Vec<Sample> = Role::BOTH.into_iter().flat_map(|role| (0..16).map(move |i| one(role, i))).collect();
        ColdShare::of(&samples).unwrap()
    };
    assert_eq!(share(70).least, 0.0);
    assert!(share(70).is_open(), "{:?}", share(70));
    // Eight values, half of them 4/3 x 30/130 and half 4/3 x 18/118, whose standard error is half of their difference over
    // sqrt(7); 1.894579 is Student's t of 7 degrees of freedom at 0.95.
    let (most, least) = (40.0 / 130.0, 24.0 / 118.0);
    assert!(!share(118).is_open());
    assert!(
        (share(118).least - ((most + least) / 2.0 - 1.894_579 * (most - least) / 2.0 / 7.0f64.sqrt())).abs() < 1e-6
    );
}

#[test]
fn slices_that_are_cold_throughout_lose_what_the_versions_do_not_need_alone() {
    // Alone, three slices are cold and the others take 200 of the baseline, 100 of the candidate; in turns both lengths take as much.
    let alone = |role, warm: u64| (0..12).map(move |i| slice(role, (0, i), if i < 3 { 300 } else { warm }));
    let in_turns = |role, ns: u64| {
        let invocations = |i: u32| if i.is_multiple_of(2) { 10 } else { 40 };
        (0..8).map(move |i| Sample { invocations: invocations(i), ..slice(role, (0, i), invocations(i) * ns) })
    };
    let alone: Vec<Sample> = alone(Role::Baseline, 200).chain(alone(Role::Candidate, 100)).collect();
    let lost = |b, c| {
        let turns: Vec<Sample> = in_turns(Role::Baseline, b).chain(in_turns(Role::Candidate, c)).collect();
        lost_in_turns(&alone, &turns).unwrap()
    };
    assert!((lost(200, 125) - 0.2).abs() < 1e-12);
    assert!((lost(400, 125) - 0.5).abs() < 1e-12);
    assert_eq!(lost(150, 90), 0.0);
    assert_eq!((lost_in_turns(&alone, &[]), lost_in_turns(&[], &alone)), (None, None));
}

#[test]
fn a_benchmark_that_stops_its_timer_has_a_profile_without_cpu_times() {
    let timed = |role| Sample { cpu_ns: None, ..slice(role, (0, 0), 700) };
    let profile = Profile::of(&Role::BOTH.map(timed)).unwrap();
    assert_eq!((profile.cores_busy, profile.cpu_share, profile.invocation_ns), (1.0, 1.0, 700.0));
    assert_eq!(Profile::of(&[timed(Role::Baseline)]), None);
}

#[test]
fn both_versions_must_get_faster_for_a_process_to_be_settling() {
    let falling: Vec<u64> = (0..30).map(|i| 1100 - 4 * i).collect();
    let level: Vec<u64> = (0..30).map(|i| 1000 + i % 3).collect();
    let rising: Vec<u64> = falling.iter().rev().copied().collect();
    let settles = |baseline: &[u64], candidate: &[u64]| {
        let side = |role, times: &[u64]| (0..).zip(times).map(|(i, ns)| slice(role, (0, i), *ns)).collect::<Vec<_>>();
        is_settling(&[side(Role::Baseline, baseline), side(Role::Candidate, candidate)].concat())
    };
    assert!(settles(&falling, &falling));
    assert!(!settles(&falling, &level) && !settles(&level, &falling) && !settles(&level, &level));
    assert!(!settles(&rising, &rising));
    assert!(!settles(&falling[..8], &falling), "too few slices");
    // Trials are looked at one by one.
    let trial = |run, times: &[u64]| {
        let side = |role| (0..).zip(times).map(move |(i, ns)| slice(role, (run, i), *ns));
        Role::BOTH.into_iter().flat_map(side).collect::<Vec<_>>()
    };
    let flat = |ns| vec![ns; 20];
    assert!(!is_settling(&[trial(0, &flat(1200)), trial(1, &flat(1100)), trial(2, &flat(1000))].concat()));
    let higher: Vec<u64> = falling.iter().map(|ns| ns + 200).collect();
    assert!(is_settling(&[trial(0, &falling), trial(1, &falling), trial(2, &higher)].concat()));
    assert!(!settles(&[], &[]));
}
