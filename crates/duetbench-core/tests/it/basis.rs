//! Choice of the one of a fork's two numbers that is judged.

use duetbench_core::analysis::{Basis, Choice, Clock, LogRatios, choose_basis};
use duetbench_core::plan::Mode;
use duetbench_core::report::{Counted, ForkPair, ForkSide};
use duetbench_core::spec::Decision;

use crate::support::{Noise, fork};

const EQUAL: Counted = Counted { baseline: 64.0, candidate: 64.0, changed: false };

/// Forks whose two numbers differ by `shift` on average.
fn forks(shift: f64, spread: f64) -> Vec<ForkPair> {
    let mut noise = Noise::new(7);
    (0..12).map(|_| ForkPair { log_ratio_complete: shift + spread * noise.normal(), ..fork(0.0) }).collect()
}

fn measured_in(mode: Mode, forks: &[ForkPair]) -> Vec<ForkPair> {
    forks.iter().map(|fork| ForkPair { mode, ..*fork }).collect()
}

fn basis(forks: &[ForkPair], bytes: Counted, mode: Mode) -> (Basis, bool) {
    let choice = choose_basis(&measured_in(mode, forks), Some(&bytes), &Decision::default());
    (choice.basis, choice.slow_slices.is_some())
}

#[test]
fn the_typical_slice_is_judged_beside_neighbours() {
    assert_eq!(basis(&forks(0.0, 0.05), EQUAL, Mode::InterleavedOneCore), (Basis::TypicalSlice, false));
    assert_eq!(basis(&forks(0.01, 0.001), EQUAL, Mode::Duet), (Basis::TypicalSlice, false));
}

#[test]
fn slow_slices_on_one_side_are_not_hidden() {
    assert_eq!(basis(&forks(0.05, 0.02), EQUAL, Mode::InterleavedOneCore), (Basis::AllSlices, true));
    assert_eq!(basis(&forks(-0.05, 0.02), EQUAL, Mode::InterleavedOneCore), (Basis::AllSlices, true));
}

/// Forks with this log ratio in full.
fn in_full(forks: &[ForkPair], log_ratio: f64, spread: f64) -> Vec<ForkPair> {
    let mut noise = Noise::new(5);
    let of = |fork: &ForkPair| ForkPair { log_ratio_in_full: Some(log_ratio + spread * noise.normal()), ..*fork };
    forks.iter().map(of).collect()
}

/// The choice for fork pairs that all slices, clipped, have 2 % slower, and in full no slower.
fn waits_less(chosen: &impl Fn(&[ForkPair], &Counted) -> Choice) -> Choice {
    let mut noise = Noise::new(3);
    let of = |fork: &ForkPair| ForkPair {
        log_ratio_complete: 0.02 + 0.02 * noise.normal(),
        log_ratio_in_full: Some(0.001 * noise.normal()),
        ..*fork
    };
    chosen(&forks(0.0, 0.0).iter().map(of).collect::<Vec<_>>(), &EQUAL)
}

#[test]
fn a_number_that_may_differ_from_the_typical_slice_may_be_judged_later() {
    // Twelve fork pairs at `shift` ± `spread` by turns.
    let may_be = |shift: f64, spread: f64| {
        let of = |sign: f64| ForkPair { log_ratio_complete: shift + sign * spread, ..fork(0.0) };
        let forks: Vec<ForkPair> = [1.0, -1.0].repeat(6).into_iter().map(of).collect();
        let choice = choose_basis(&measured_in(Mode::InterleavedOneCore, &forks), Some(&EQUAL), &Decision::default());
        (choice.basis, choice.beside_may_be_judged)
    };
    assert_eq!(may_be(0.1, 0.14), (Basis::TypicalSlice, true));
    assert_eq!(may_be(0.0, 0.14), (Basis::TypicalSlice, false));
    assert_eq!(may_be(0.1, 0.01), (Basis::AllSlices, false));
}

#[test]
fn waits_in_few_slices_of_one_side_count_in_full() {
    let chosen = |forks: &[ForkPair], bytes: &Counted| {
        choose_basis(&measured_in(Mode::InterleavedOneCore, forks), Some(bytes), &Decision::default())
    };
    let waits = |log_ratio: f64, spread: f64| chosen(&in_full(&forks(0.002, 0.001), log_ratio, spread), &EQUAL);
    let shown = waits(0.1, 0.03);
    assert_eq!((shown.basis, shown.beside), (Basis::SlicesInFull, Basis::TypicalSlice));
    assert!((0.05..0.15).contains(&shown.slow_slices.unwrap()));
    let may_be = waits(0.1, 0.14);
    assert_eq!((may_be.basis, may_be.beside), (Basis::TypicalSlice, Basis::SlicesInFull));
    let interrupted = waits(0.0, 0.15);
    assert_eq!((interrupted.basis, interrupted.beside), (Basis::TypicalSlice, Basis::AllSlices));
    let little = waits(0.012, 0.001);
    assert_eq!((little.basis, little.beside), (Basis::TypicalSlice, Basis::AllSlices));
    let allocates =
        chosen(&in_full(&forks(0.002, 0.001), 0.1, 0.14), &Counted { candidate: 80.0, changed: true, ..EQUAL });
    assert_eq!((allocates.basis, allocates.beside), (Basis::AllSlices, Basis::SlicesInFull));
    // A number in full does not take the place of one that is farther from no change.
    let nearer = waits_less(&chosen);
    assert_eq!((nearer.basis, nearer.beside), (Basis::TypicalSlice, Basis::AllSlices));
    // Beside neighbours who interrupt both, CPU time is judged, and no change is not said by it alone.
    let disturbed = chosen(&in_full(&on_processor(0.7, 0.8), 0.1, 0.03), &EQUAL);
    let beside = |choice: &Choice| (choice.basis, choice.beside, choice.clock);
    assert_eq!(beside(&disturbed), (Basis::TypicalSlice, Basis::SlicesInFull, Clock::Cpu));
    // Also where no slice was clipped: because collections ended, or because each waits a little.
    let mut noise = Noise::new(9);
    let waits = |f: &ForkPair| ForkPair { log_ratio_complete: 0.3 + 0.03 * noise.normal(), ..*f };
    let unclipped: Vec<ForkPair> = on_processor(0.7, 0.8).iter().map(waits).collect();
    assert!(unclipped.iter().all(|fork| fork.log_ratio_in_full.is_none()));
    assert_eq!(beside(&chosen(&unclipped, &EQUAL)), (Basis::TypicalSlice, Basis::SlicesInFull, Clock::Cpu));
    let equal = chosen(&on_processor(0.7, 0.8), &EQUAL);
    assert_eq!(beside(&equal), (Basis::TypicalSlice, Basis::AllSlices, Clock::Cpu));
}

/// Forks of code that has the processor for this share of the wall time, in this share of its slices throughout.
fn on_processor(share: f64, busy: f64) -> Vec<ForkPair> {
    let side = |side: ForkSide| ForkSide { cpu_ns_per_op: Some(share * side.ns_per_op), ..side };
    let cpu = Some(LogRatios { typical: 0.01, complete: 0.02 });
    let of = |f: &ForkPair| ForkPair {
        baseline: side(f.baseline),
        candidate: side(f.candidate),
        cpu,
        busy: Some(busy),
        ..*f
    };
    forks(0.0, 0.001).iter().map(of).collect()
}

#[test]
fn cpu_time_is_judged_where_busy_code_loses_its_processor() {
    let clock =
        |forks: &[ForkPair], mode| choose_basis(&measured_in(mode, forks), Some(&EQUAL), &Decision::default()).clock;
    let one_core = Mode::InterleavedOneCore;
    assert_eq!(clock(&on_processor(0.7, 0.8), one_core), Clock::Cpu);
    // An undisturbed machine, code that waits in most slices, and two cores.
    assert_eq!(clock(&on_processor(0.99, 0.8), one_core), Clock::Wall);
    assert_eq!(clock(&on_processor(0.7, 0.3), one_core), Clock::Wall);
    assert_eq!(clock(&on_processor(0.7, 0.8), Mode::Duet), Clock::Wall);
    // A candidate that alone is without it waits by itself.
    let undisturbed = |f: &ForkPair| ForkPair { baseline: on_processor(0.99, 0.8)[0].baseline, ..*f };
    let waits: Vec<ForkPair> = on_processor(0.7, 0.8).iter().map(undisturbed).collect();
    assert_eq!(clock(&waits, one_core), Clock::Wall);
    let waits_longer = |f: &ForkPair| ForkPair { candidate: on_processor(0.66, 0.8)[0].candidate, ..*f };
    let waits: Vec<ForkPair> = on_processor(0.7, 0.8).iter().map(waits_longer).collect();
    assert_eq!(clock(&waits, one_core), Clock::Wall);
    let mut lacks_one = on_processor(0.7, 0.8);
    lacks_one[3].cpu = None;
    assert_eq!(clock(&lacks_one, one_core), Clock::Wall);
    let read = Clock::Cpu.read(&on_processor(0.7, 0.8)[0]);
    assert_eq!((read.log_ratio, read.log_ratio_complete), (0.01, 0.02));
    assert_eq!(Clock::Wall.read(&read), read);
    // In full it stays wall time, where slices were clipped and where none were.
    assert_eq!(Basis::SlicesInFull.of(&read), on_processor(0.7, 0.8)[0].log_ratio_complete);
}

#[test]
fn other_allocations_and_sequential_runs_count_everything() {
    let more = Counted { candidate: 80.0, changed: true, ..EQUAL };
    assert_eq!(basis(&forks(0.0, 0.05), more, Mode::InterleavedOneCore), (Basis::AllSlices, false));
    assert_eq!(basis(&forks(0.0, 0.05), EQUAL, Mode::Sequential), (Basis::AllSlices, false));
}
