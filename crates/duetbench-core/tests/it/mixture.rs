//! Who takes part in which suite run, where benchmarks have different numbers of trials.

use std::collections::{BTreeMap, BTreeSet};

use duetbench_core::plan::{Repetitions, SoloBenchmark, SoloPlan, Style};
use duetbench_core::{BenchmarkId, Mixture, Schedule, Trial};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{build_pairs, plan_of, same_cases};

/// Who takes part in every suite run until nobody has anything left; `ends` names the suite run before which a benchmark ends.
fn course(trials: &[u32], seed: u64, ends: &BTreeMap<usize, usize>) -> Vec<Vec<usize>> {
    let (mut mixture, mut left, mut all) = (Mixture::new(seed, trials.len()), trials.to_vec(), Vec::new());
    loop {
        ends.iter().filter(|(_, end)| all.len() >= **end).for_each(|(i, _)| left[*i] = 0);
        let chosen = mixture.next(&left);
        let members: Vec<usize> = (0..left.len()).filter(|i| chosen[*i]).collect();
        if members.is_empty() {
            return all;
        }
        members.iter().for_each(|i| left[*i] -= 1);
        all.push(members);
    }
}

fn alone_at_most(trials: &[u32]) -> usize {
    (trials.iter().sum::<u32>() / trials.iter().max().unwrap()) as usize
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn every_suite_run_is_as_mixed_as_any_can_be(trials in vec(1u32..40, 1..30), seed in any::<u64>()) {
        let all = course(&trials, seed, &BTreeMap::new());
        prop_assert_eq!(all.len() as u32, *trials.iter().max().unwrap());
        let least = alone_at_most(&trials);
        for members in &all {
            // Nobody twice, because everyone is asked once.
            prop_assert!(members.len() == least || members.len() == least + 1, "{} of {}", members.len(), least);
        }
        for (i, trials) in trials.iter().enumerate() {
            prop_assert_eq!(all.iter().filter(|m| m.contains(&i)).count() as u32, *trials);
        }
    }

    #[test]
    fn trials_of_those_with_few_are_spread_evenly(trials in vec(1u32..40, 2..30), seed in any::<u64>()) {
        let all = course(&trials, seed, &BTreeMap::new());
        let runs = all.len() as f64;
        for (i, trials) in trials.iter().enumerate() {
            let mut had = 0.0;
            for (number, members) in all.iter().enumerate() {
                had += f64::from(u8::from(members.contains(&i)));
                let due = f64::from(*trials) * (number + 1) as f64 / runs;
                prop_assert!((had - due).abs() < 2.0, "{} had {} and not {} after {} of {}", i, had, due, number + 1, runs);
            }
        }
    }

    #[test]
    fn when_some_end_early_the_others_are_mixed_anew(
        trials in vec(1u32..40, 2..30),
        end in (0usize..30, 0usize..40),
        seed in any::<u64>(),
    ) {
        let (who, before) = (end.0 % trials.len(), end.1);
        let all = course(&trials, seed, &BTreeMap::from([(who, before)]));
        // The trials left of each when it ends are as mixed as they can be.
        for number in before.min(all.len())..all.len() {
            let left: Vec<u32> = (0..trials.len())
                .map(|i| all[number..].iter().filter(|m| m.contains(&i)).count() as u32)
                .collect();
            prop_assert!(all[number].len() >= alone_at_most(&left));
        }
    }
}

#[test]
fn the_long_one_is_not_left_alone_at_the_end() {
    let trials = [30, 10, 10, 10, 10];
    for seed in 0..50 {
        let all = course(&trials, seed, &BTreeMap::new());
        assert!(all.iter().all(|members| members.len() >= 2), "{all:?}");
        // Had all begun at once, it would have been alone in twenty of its thirty suite runs.
    }
}

#[test]
fn equal_ones_take_part_every_time() {
    assert_eq!(course(&[5; 4], 1, &BTreeMap::new()), vec![vec![0, 1, 2, 3]; 5]);
    assert!(course(&[], 1, &BTreeMap::new()).is_empty());
}

#[test]
fn the_same_seed_gives_the_same_mixture() {
    let trials: Vec<u32> = (1..30).collect();
    let of = |seed| course(&trials, seed, &BTreeMap::new());
    assert_eq!(of(3), of(3));
    assert_ne!(of(3), of(4));
}

#[test]
fn a_pass_holds_whom_it_is_told_and_where_they_stand() {
    let schedule = Schedule::new(&plan_of(&["A", "B", "C"], build_pairs(32, 0)));
    let pass = schedule.pass(0, 9, &[Some(2), None, Some(9)]);
    let stands = |benchmark: usize| pass.iter().find(|t| t.benchmark == benchmark).map(|t| (t.suite_run, t.build));
    assert_eq!([stands(0), stands(1), stands(2)], [Some((2, 2)), None, Some((9, 9))]);
    // Whoever is missing does not reshuffle the others.
    let all = schedule.suite_run(0, 9);
    let order = |trials: &[Trial]| trials.iter().map(|t| t.benchmark).filter(|b| *b != 1).collect::<Vec<_>>();
    assert_eq!(order(&pass), order(&all));
    assert_eq!(pass.iter().find(|t| t.benchmark == 2), all.iter().find(|t| t.benchmark == 2));
}

#[test]
fn benchmarks_of_one_pass_share_its_builds_where_trials_are_spread() {
    let mut plan = plan_of(&["A", "B"], build_pairs(20, 0));
    plan.spread = true;
    let schedule = Schedule::new(&plan);
    let builds: BTreeSet<u32> = schedule.pass(0, 9, &[Some(2), Some(9)]).iter().map(|t| t.build).collect();
    assert_eq!(builds, BTreeSet::from([9]));
    // Units of several forks keep their build over the passes.
    plan.benchmarks[0].configuration.design = build_pairs(20, 4);
    assert_eq!(Schedule::new(&plan).pass(0, 9, &[Some(3), None])[0].build, 1);
}

fn solo_plan(suite_runs: &[u32], forks: u32) -> SoloPlan {
    let benchmark = |(i, suite_runs): (usize, &u32)| SoloBenchmark {
        id: BenchmarkId { package: "p".into(), name: format!("B{i:02}") },
        style: Style::Loop,
        first_ns: 1,
        repetitions: Repetitions { suite_runs: *suite_runs, forks, ..Repetitions::default() },
    };
    let benchmarks = suite_runs.iter().enumerate().map(benchmark).collect();
    SoloPlan { seed: 7, benchmarks, failed: Vec::new() }
}

#[test]
fn processes_of_one_version_are_shuffled_together() {
    let schedule = solo_plan(&[9; 6], 3);
    let run = |number| schedule.suite_run(number, &[Some(number); 6]);
    let mut orders = BTreeSet::new();
    let mut apart = 0;
    for number in 0..9 {
        let trials = run(number);
        let places: BTreeSet<(usize, u32)> = trials.iter().map(|t| (t.benchmark, t.fork)).collect();
        assert_eq!((trials.len(), places.len()), (18, 18));
        assert!(trials.iter().all(|t| t.suite_run == number && t.build == 0 && t.round == 0));
        apart += trials.windows(2).filter(|two| two[0].benchmark != two[1].benchmark).count();
        orders.insert(trials.iter().map(|t| (t.benchmark, t.fork)).collect::<Vec<_>>());
    }
    assert_eq!(orders.len(), 9);
    // In blocks of three there would be five changes in each; shuffled there are 15 of 17 in the mean.
    assert!(apart > 9 * 12, "{apart}");
    assert_eq!(run(4), run(4));
    assert_eq!(schedule.suite_run(2, &[None, Some(1), None, None, None, None]).len(), 3);
}
