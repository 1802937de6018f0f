//! Which of a fork's two numbers is judged.

use duetbench_core::analysis::{Basis, choose_basis};
use duetbench_core::plan::Mode;
use duetbench_core::report::{Counted, ForkPair};
use duetbench_core::spec::Decision;

use crate::support::{Noise, fork};

const EQUAL: Counted = Counted { baseline: 64.0, candidate: 64.0, changed: false };

/// Forks whose two numbers differ by `shift` on average.
fn forks(shift: f64, spread: f64) -> Vec<ForkPair> {
    let mut noise = Noise::new(7);
    (0..12).map(|_| ForkPair { log_ratio_complete: shift + spread * noise.normal(), ..fork(0.0) }).collect()
}

fn basis(forks: &[ForkPair], bytes: Counted, mode: Mode) -> (Basis, bool) {
    let choice = choose_basis(forks, Some(&bytes), mode, &Decision::default());
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

#[test]
fn other_allocations_and_sequential_runs_count_everything() {
    let more = Counted { candidate: 80.0, changed: true, ..EQUAL };
    assert_eq!(basis(&forks(0.0, 0.05), more, Mode::InterleavedOneCore), (Basis::AllSlices, false));
    assert_eq!(basis(&forks(0.0, 0.05), EQUAL, Mode::Sequential), (Basis::AllSlices, false));
}
