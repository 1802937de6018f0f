//! Comparison of allocations and bytes.

use duetbench_core::analysis::{compare_bytes, compare_counts};

use crate::support::Noise;

#[track_caller]
fn check(baseline: &[f64], candidate: &[f64], changed: bool) {
    assert_eq!(compare_counts(baseline, candidate).unwrap().changed, changed);
    assert_eq!(compare_counts(candidate, baseline).unwrap().changed, changed);
}

#[test]
fn one_more_allocation_is_a_change() {
    check(&[5.0; 3], &[6.0; 3], true);
    check(&[5.0003, 5.0001, 5.0004], &[6.0002, 6.0001, 6.0003], true);
    check(&[5.0], &[6.0], true);
    check(&[1_000_000.0; 5], &[1_000_001.0; 5], true);
}

#[test]
fn what_the_runtime_adds_is_none() {
    check(&[5.0003, 5.0001, 5.0004], &[5.0009, 5.0012, 5.0010], false);
    check(&[5.0; 4], &[5.0; 4], false);
}

#[test]
fn an_amortised_allocation_less_is_a_change() {
    check(&[0.0625; 4], &[0.03125; 4], true);
}

#[test]
fn a_thousandth_of_the_bytes_is_a_change_and_less_is_none() {
    let changed = |b: f64, c: f64| {
        let both = [compare_bytes(&[b; 4], &[c; 4]), compare_bytes(&[c; 4], &[b; 4])].map(|one| one.unwrap().changed);
        assert_eq!(both[0], both[1]);
        both[0]
    };
    assert!(!changed(1e6, 1e6 + 0.5) && !changed(1e6, 1e6 + 999.0) && changed(1e6, 1e6 + 1002.0));
    // Where a thousandth is less than what is looked at anyhow, that counts.
    assert!(!changed(1.0, 1.005) && changed(1.0, 1.02) && changed(0.0, 16.0) && !changed(0.0, 0.005));
    // Allocations are whole things, so that one of a million is one.
    assert!(compare_counts(&[1e6; 4], &[1e6 + 1.0; 4]).unwrap().changed);
    assert!(!compare_bytes(&[100.0, 110.0, 120.0], &[115.0; 3]).unwrap().changed);
}

#[test]
fn one_disturbed_fork_hides_nothing() {
    check(&[5.0, 5.0, 35.0, 5.0, 5.0, 5.0, 5.0, 5.0], &[6.0, 6.0, 6.0, 6.0, 6.5, 6.0, 6.0, 6.0], true);
}

#[test]
fn counts_that_vary_by_themselves_are_no_change() {
    check(&[5.0, 6.0, 5.0, 6.0, 5.0], &[6.0, 5.0, 6.0, 5.0, 6.0], false);
}

#[test]
fn a_side_without_counts_is_not_compared() {
    assert_eq!(compare_counts(&[5.0], &[]), None);
    assert!(!compare_counts(&[12.31], &[12.33; 5]).unwrap().changed, "one fork tells of whole ones");
    assert_eq!(compare_counts(&[f64::NAN], &[5.0]), None);
}

/// Share of 4,000 comparisons of equal versions whose counts are drawn so that are called a change.
fn false_changes(forks: usize, draw: fn(&mut Noise) -> f64) -> f64 {
    let mut noise = Noise::new(5);
    let mut side = || (0..forks).map(|_| draw(&mut noise)).collect::<Vec<f64>>();
    let changed = (0..4_000).filter(|_| compare_counts(&side(), &side()).unwrap().changed).count();
    changed as f64 / 4_000.0
}

#[test]
fn noise_is_rarely_called_a_change() {
    let shares = [3, 5, 8, 12].map(|forks| false_changes(forks, |noise| 1_000.0 + 10.0 * noise.normal()));
    assert!(shares.iter().all(|s| *s <= 0.01), "{shares:?}");
}

#[test]
fn counts_that_jump_between_two_values_are_rarely_called_a_change() {
    let jumping = |noise: &mut Noise| if noise.normal() < 0.0 { 1_000.0 } else { 1_048.0 };
    let shares = [4, 5, 6, 8, 10].map(|forks| false_changes(forks, jumping));
    assert!(shares.iter().all(|s| *s <= 0.015), "{shares:?}");
}
