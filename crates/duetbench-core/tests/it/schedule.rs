//! The order of trials.

use std::collections::BTreeSet;

use duetbench_core::plan::{Mode, Plan};
use duetbench_core::{Role, Schedule, Trial};

use crate::support::{fixed_design, plan};

const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

fn plan_of(forks: u32) -> Plan {
    let mut plan = plan(&NAMES, Mode::Duet);
    plan.benchmarks.iter_mut().for_each(|b| b.configuration.design = fixed_design(forks));
    plan
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
        (trial.first, trial.core % 2)
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
