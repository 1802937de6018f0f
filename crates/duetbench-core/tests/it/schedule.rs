//! The order of trials.

use std::collections::BTreeSet;

use duetbench_core::plan::{Mode, Plan};
use duetbench_core::{Role, Schedule, Trial};

use crate::support::{self, build_pairs, fixed_design, plan};

const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

fn plan_of(forks: u32) -> Plan {
    support::plan_of(&NAMES, fixed_design(forks))
}

fn all(plan: &Plan) -> Vec<Vec<Trial>> {
    let schedule = Schedule::new(plan);
    (0..schedule.suite_runs()).map(|run| schedule.suite_run(0, run)).collect()
}

#[test]
fn the_same_seed_gives_the_same_order() {
    assert_eq!(all(&plan_of(20)), all(&plan_of(20)));
}

#[test]
fn a_suite_run_can_be_asked_for_alone() {
    // A resumed run starts in the middle.
    assert_eq!(Schedule::new(&plan_of(20)).suite_run(0, 13), all(&plan_of(20))[13]);
}

#[test]
fn another_seed_gives_another_order() {
    let mut other = plan_of(20);
    other.seed += 1;
    assert_ne!(all(&plan_of(20)), all(&other));
}

#[test]
fn suite_runs_differ_in_order() {
    let orders: BTreeSet<Vec<usize>> =
        all(&plan_of(20)).iter().map(|run| run.iter().map(|t| t.benchmark).collect()).collect();
    assert!(orders.len() > 15, "{}", orders.len());
}

#[test]
fn each_benchmark_is_visited_once_per_suite_run() {
    for (number, run) in all(&plan_of(20)).iter().enumerate() {
        let mut visited: Vec<usize> = run.iter().map(|t| t.benchmark).collect();
        visited.sort_unstable();
        assert_eq!(visited, [0, 1, 2, 3, 4, 5]);
        assert!(run.iter().all(|t| t.suite_run as usize == number));
    }
}

#[test]
fn both_roles_lead_about_equally_often() {
    for benchmark in 0..NAMES.len() {
        let runs = all(&plan_of(400));
        let led = runs.iter().flatten().filter(|t| t.benchmark == benchmark && t.first == Role::Baseline).count();
        // Four standard deviations of a fair coin thrown 400 times are 40.
        assert!((160..=240).contains(&led), "{led} of 400");
    }
}

#[test]
fn a_benchmark_that_ends_early_does_not_reshuffle_the_others() {
    let (full, mut shortened) = (plan_of(20), plan_of(20));
    shortened.benchmarks[2].configuration.design = fixed_design(5);
    assert_eq!(all(&full), all(&shortened));
}

#[test]
fn every_block_of_two_suite_runs_is_balanced() {
    let runs = all(&plan_of(40));
    let place = |run: usize, benchmark: usize| {
        let trial = runs[run].iter().find(|t| t.benchmark == benchmark).unwrap();
        // Side 0 is on the trial's core, side 1 on the next one.
        (trial.first, (trial.core + u32::from(trial.first == Role::Candidate)) % 2)
    };
    for benchmark in 0..NAMES.len() {
        for run in (0..40).step_by(2) {
            let ((first, core), (then, other_core)) = (place(run, benchmark), place(run + 1, benchmark));
            assert!(first != then && core != other_core, "benchmark {benchmark}, suite run {run}");
        }
    }
}

#[test]
fn a_plan_without_benchmarks_has_no_suite_run() {
    assert_eq!(Schedule::new(&plan(&[], Mode::Duet)).suite_runs(), 0);
}

fn by_build(units: u32) -> Plan {
    support::plan_of(&NAMES, build_pairs(units, 4))
}

#[test]
fn builds_are_numbered_by_unit_and_every_round_has_its_own() {
    let builds = |plan: &Plan, round: u32| -> Vec<u32> {
        let schedule = Schedule::new(plan);
        let mut of = |run| schedule.suite_run(round, run).iter().map(|t| t.build).collect::<BTreeSet<u32>>();
        (0..10).flat_map(&mut of).collect()
    };
    let first = builds(&by_build(32), 0);
    assert_eq!(first, [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]);
    // Longer than any run, and still none is shared with another round.
    let plan = by_build(10_000);
    let all: Vec<Vec<u32>> = (0..3)
        .map(|round| {
            let of = |run| Schedule::new(&plan).suite_run(round, run)[0].build;
            [0, 1, 2, 9_999, 10_003].map(of).to_vec()
        })
        .collect();
    assert_eq!(all[0], [0, 0, 1, 9_995, 9_999]);
    assert!(all.windows(2).all(|rounds| rounds[0].iter().max() < rounds[1].iter().min()), "{all:?}");
    // A single build is the same in all rounds.
    assert_eq!(builds(&plan_of(20), 2), [0; 10]);
}

#[test]
fn both_halves_of_every_build_have_another_layout() {
    let schedule = Schedule::new(&by_build(32));
    let seeds: Vec<u32> = (0..300).chain(100_000..100_300).flat_map(|build| schedule.layout_seeds(build)).collect();
    assert!(!seeds.contains(&0), "0 is the order that the linker has anyhow");
    assert_eq!(seeds.iter().collect::<BTreeSet<_>>().len(), seeds.len());
    // By the seed alone.
    assert_eq!(Schedule::new(&plan_of(20)).layout_seeds(7), schedule.layout_seeds(7));
    let mut other = by_build(32);
    other.seed += 1;
    assert_ne!(Schedule::new(&other).layout_seeds(7), schedule.layout_seeds(7));
}

#[test]
fn rounds_have_other_orders_and_the_same_seed_the_same() {
    let plan = by_build(32);
    let round = |round| (0..20).map(|run| Schedule::new(&plan).suite_run(round, run)).collect::<Vec<_>>();
    let orders =
        |of: u32| round(of).iter().map(|run| run.iter().map(|t| t.benchmark).collect()).collect::<Vec<Vec<_>>>();
    assert_eq!(round(1), round(1));
    assert!(orders(0) != orders(1) && orders(1) != orders(2));
    assert!(round(1).iter().flatten().all(|t| t.round == 1));
    // Places and slices are drawn anew too.
    let seeds = |of: u32| round(of).iter().flatten().map(|t| t.seed).collect::<BTreeSet<_>>();
    assert!(seeds(0).is_disjoint(&seeds(1)));
    let places = |of: u32| {
        let mut trials: Vec<Trial> = round(of).concat();
        trials.sort_by_key(|t| (t.suite_run, t.benchmark));
        trials.iter().map(|t| (t.first, t.core)).collect::<Vec<_>>()
    };
    assert_ne!(places(0), places(1));
}
