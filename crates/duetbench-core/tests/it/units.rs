//! From fork pairs to units of inference, and how much of their spread is layout.

use duetbench_core::analysis::{Basis, Evidence, Looks, Measured, Tests, Warning, analyse};
use duetbench_core::plan::{Design, Profile};
use duetbench_core::report::{BenchmarkReport, ForkPair, Layout};
use duetbench_core::spec::Decision;
use duetbench_core::stats::trimmed_t;

use crate::support::{PLAIN, build_pairs, fixed_design, placed, plan_of, samples_of};

/// Fork pairs of consecutive suite runs.
fn in_order(design: &Design, log_ratios: &[f64]) -> Vec<ForkPair> {
    (0..).zip(log_ratios).map(|(suite_run, d)| placed(design, (0, suite_run), *d)).collect()
}

fn evidence(forks: &[ForkPair], design: &Design) -> Evidence {
    evidence_by(Basis::TypicalSlice, forks, design)
}

fn evidence_by(basis: Basis, forks: &[ForkPair], design: &Design) -> Evidence {
    let (tests, decision) = (Tests::single(design.units.max(3)).unwrap(), Decision::default());
    let looks = Looks::as_planned(&tests, design, &decision);
    Evidence::of(forks, basis.into(), looks).unwrap()
}

/// Asserts which numbers enter the test, up to their order.
#[track_caller]
fn check(forks: &[ForkPair], design: &Design, units: &[f64]) {
    let (ours, expected) = (evidence(forks, design).log_ratio, trimmed_t(units).unwrap());
    assert_eq!(ours.values, expected.values);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-15;
    assert!(close(ours.mean, expected.mean) && close(ours.standard_error, expected.standard_error), "{ours:?}");
}

#[test]
fn forks_of_one_build_pair_are_averaged() {
    let design = Design { forks_per_unit: 2, ..build_pairs(3, 0) };
    let forks = in_order(&design, &[0.01, 0.03, 0.05, 0.06, -0.02, 0.02]);
    check(&forks, &design, &[0.02, 0.055, 0.0]);
    let counts = evidence(&forks, &design).counts;
    assert_eq!((counts.units, counts.builds, counts.forks, counts.slices), (3, 3, 6, 6));
}

#[test]
fn the_first_units_have_a_fork_more() {
    let design = build_pairs(5, 2);
    check(&in_order(&design, &[0.01, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3]), &design, &[0.02, 0.06, 0.1, 0.2, 0.3]);
}

#[test]
fn a_unit_that_lost_a_fork_is_what_it_has_left() {
    let design = build_pairs(4, 2);
    let mut forks = in_order(&design, &[0.01, 0.03, 0.05, 0.07, 0.1, 0.2]);
    forks.remove(1);
    check(&forks, &design, &[0.01, 0.06, 0.1, 0.2]);
    // And a unit that lost all is none.
    forks.remove(0);
    check(&forks, &design, &[0.06, 0.1, 0.2]);
}

#[test]
fn forks_of_a_single_build_pair_are_units() {
    let design = fixed_design(4);
    let forks = in_order(&design, &[0.01, 0.03, 0.05, 0.07]);
    check(&forks, &design, &[0.01, 0.03, 0.05, 0.07]);
    assert_eq!((evidence(&forks, &design).counts.units, evidence(&forks, &design).counts.builds), (4, 1));
}

#[test]
fn forks_of_one_suite_run_stay_apart_unless_they_share_a_build_pair() {
    let twice = |design: &Design| -> Vec<ForkPair> {
        let of_machine = |fork, d| in_order(design, d).into_iter().map(move |f: ForkPair| ForkPair { fork, ..f });
        of_machine(0, &[0.01, 0.02, 0.03]).chain(of_machine(1, &[0.05, 0.08, 0.11])).collect()
    };
    let single = fixed_design(6);
    check(&twice(&single), &single, &[0.01, 0.02, 0.03, 0.05, 0.08, 0.11]);
    let several = build_pairs(6, 0);
    check(&twice(&several), &several, &[0.03, 0.05, 0.07]);
}

#[test]
fn units_stand_in_the_order_in_which_they_were_measured() {
    // Units beyond the horizon are left out, so the order shows in those that remain.
    let design = build_pairs(3, 0);
    let mut forks = in_order(&design, &[0.01, 0.03, 0.05, 0.9, -0.9]);
    forks.rotate_left(2);
    check(&forks, &design, &[0.01, 0.03, 0.05]);
}

#[test]
fn the_basis_decides_what_is_averaged() {
    let design = build_pairs(3, 0);
    let complete = |f: ForkPair| ForkPair { log_ratio_complete: 2.0 * f.log_ratio, ..f };
    let forks: Vec<ForkPair> = in_order(&design, &[0.01, 0.02, 0.03]).into_iter().map(complete).collect();
    let evidence = evidence_by(Basis::AllSlices, &forks, &design);
    assert!((evidence.log_ratio.mean - 0.04).abs() < 1e-15);
    // And the other number stands beside it.
    assert!((evidence.beside.unwrap().mean - 0.02).abs() < 1e-15);
}

fn report(forks: &[ForkPair], design: Design) -> BenchmarkReport {
    let measured = Measured { samples: samples_of(forks), failed_trials: vec![] };
    analyse(&plan_of(&["A"], design), &[measured], &Decision::default()).remove(0)
}

#[test]
fn few_units_are_read_as_those_that_they_are_held_against() {
    let design = build_pairs(3, 0);
    let mut long = report(&in_order(&design, &[0.01, 0.02, 0.03]), design);
    let few = {
        let complete = |f: ForkPair| ForkPair { log_ratio_complete: f.log_ratio + 0.07, ..f };
        let forks = in_order(&build_pairs(2, 0), &[0.01, 0.02]).into_iter().map(complete).collect();
        BenchmarkReport { estimate: None, forks, ..long.clone() }
    };
    let estimate = long.estimate.as_mut().unwrap();
    estimate.basis = Basis::AllSlices;
    let about = |one: Vec<f64>| one.iter().map(|d| (100.0 * d).round()).collect::<Vec<f64>>();
    assert_eq!(about(few.unit_log_ratios(true, None)), [1.0, 2.0]);
    assert_eq!(about(few.unit_log_ratios(true, long.estimate.as_ref())), [8.0, 9.0]);
}

#[test]
fn layout_is_told_from_the_rest_by_the_doubled_units() {
    let design = Design { forks_per_unit: 2, sequential: false, ..build_pairs(3, 0) };
    let layout = report(&in_order(&design, &[0.01, 0.03, 0.04, 0.06, 0.07, 0.09]), design).layout.unwrap();
    // The table for unit means 0.02, 0.05, 0.08 with two values each:
    //   between  SS 2 (0.03^2 + 0.03^2) = 0.0036  df 2  MS 0.0018
    //   within   SS 6 0.01^2            = 0.0006  df 3  MS 0.0002      (0.0018 - 0.0002) / 2 = 0.0008
    let expected = Layout { sd_between: 0.0008f64.sqrt(), sd_within: 0.0002f64.sqrt(), share: 0.8 };
    for (ours, expected) in [
        (layout.sd_between, expected.sd_between),
        (layout.sd_within, expected.sd_within),
        (layout.share, expected.share),
    ] {
        assert!((ours - expected).abs() < 1e-7, "{layout:?}");
    }
}

#[test]
fn programs_as_they_are_linked_are_told_where_they_differ_by_another_amount() {
    let design = Design { forks_per_unit: 2, sequential: false, ..build_pairs(3, 0) };
    let mut plan = plan_of(&["A"], design);
    let mut told_of = |log_ratios: &[f64], as_linked: f64, cold_share: Option<f64>| {
        plan.benchmarks[0].profile = Some(Profile { as_linked: Some(as_linked), cold_share, ..PLAIN });
        let measured = Measured { samples: samples_of(&in_order(&design, log_ratios)), failed_trials: vec![] };
        let report = analyse(&plan, &[measured], &Decision::default()).remove(0);
        assert_eq!(report.as_linked, Some(as_linked));
        report.warnings.contains(&Warning::LinkedApart { as_linked })
    };
    assert!(
        !told_of(&[0.004, 0.006, 0.004, 0.006, 0.004, 0.006], 0.95, Some(0.2)),
        "caches hid a part in first trials"
    );
    let mut told = |log_ratios: &[f64], as_linked: f64| told_of(log_ratios, as_linked, Some(0.005));
    // Fork pairs vary by 0.1 % about their mean of 0.5 %; the threshold is 3 %.
    let steady = [0.004, 0.006, 0.004, 0.006, 0.004, 0.006];
    assert!(told(&steady, 1.06) && told(&steady, 0.95));
    assert!(!told(&steady, 1.03) && !told(&steady, 0.98));
    // Four standard deviations of a fork pair, of between 2 and 3 %.
    let restless = [-0.03, 0.03, 0.0, 0.02, -0.02, 0.04];
    assert!(!told(&restless, 1.06) && told(&restless, 1.2));
}

#[test]
fn where_places_are_exchanged_layout_is_told_by_twos() {
    let design = Design { forks_per_unit: 4, places: 2, sequential: false, ..build_pairs(3, 0) };
    // Each value of the table above is the mean of two fork pairs, 0.2 to either side of it.
    let means = [0.01, 0.03, 0.04, 0.06, 0.07, 0.09];
    let log_ratios: Vec<f64> = means.iter().flat_map(|mean| [mean + 0.2, mean - 0.2]).collect();
    let layout = report(&in_order(&design, &log_ratios), design).layout.unwrap();
    // A fork pair without what cancels varies as two of which the mean does: 2 * 0.0002. Of that 0.0008 / (0.0008 + 0.0004).
    for (ours, expected) in
        [(layout.sd_between, 0.0008f64.sqrt()), (layout.sd_within, 0.0004f64.sqrt()), (layout.share, 2.0 / 3.0)]
    {
        assert!((ours - expected).abs() < 1e-7, "{layout:?}");
    }
    // A single exchange in each unit tells nothing.
    let once = Design { forks_per_unit: 2, places: 2, sequential: false, ..build_pairs(3, 0) };
    assert_eq!(report(&in_order(&once, &means), once).layout, None);
}

#[test]
fn where_build_pairs_agree_better_than_forks_there_is_no_layout() {
    let design = Design { forks_per_unit: 2, sequential: false, ..build_pairs(3, 0) };
    let layout = report(&in_order(&design, &[0.01, 0.03, 0.03, 0.01, 0.01, 0.03]), design).layout.unwrap();
    assert_eq!((layout.sd_between, layout.share), (0.0, 0.0));
    assert!((layout.sd_within - 0.0002f64.sqrt()).abs() < 1e-7);
}

#[test]
fn layout_is_not_told_where_it_cannot_be() {
    let log_ratios = [0.01, 0.03, 0.04, 0.06];
    // One fork of each build pair; one build pair; one unit.
    let of_one_build = Design { forks_per_unit: 2, ..fixed_design(2) };
    for design in [build_pairs(4, 0), fixed_design(4), of_one_build, Design { forks_per_unit: 4, ..build_pairs(1, 0) }]
    {
        assert_eq!(report(&in_order(&design, &log_ratios), design).layout, None, "{design:?}");
    }
    assert!(report(&in_order(&build_pairs(3, 1), &log_ratios), build_pairs(3, 1)).layout.is_some());
    assert_eq!(report(&[], build_pairs(3, 1)).layout, None);
}

#[test]
fn layout_is_of_the_first_round_alone() {
    let design = build_pairs(3, 1);
    let mut forks = in_order(&design, &[0.01, 0.03, 0.04, 0.06]);
    let first = report(&forks, design).layout;
    forks.extend((0..4).map(|run| placed(&design, (1, run), f64::from(run))));
    assert_eq!(report(&forks, design).layout, first);
}

#[test]
fn a_suite_run_has_the_unit_that_the_design_says() {
    let units = |design: Design, runs: u32| (0..runs).map(|run| design.unit(run)).collect::<Vec<_>>();
    assert_eq!(units(build_pairs(32, 4), 10), [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]);
    assert_eq!(units(Design { forks_per_unit: 2, ..build_pairs(9, 1) }, 8), [0, 0, 0, 1, 1, 2, 2, 3]);
    assert_eq!(units(fixed_design(5), 3), [0, 1, 2]);
    // The last suite run of so many units is the last of these units.
    for design in [build_pairs(32, 4), Design { forks_per_unit: 3, ..build_pairs(9, 2) }, fixed_design(7)] {
        for n in 1..=design.units {
            assert_eq!(
                (design.unit(design.forks_of(n) - 1), design.unit(design.forks_of(n))),
                (n - 1, n),
                "{design:?}"
            );
        }
    }
}
