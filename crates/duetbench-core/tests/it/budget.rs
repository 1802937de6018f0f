//! Who gets the time of a budget: what it settles, that its end is kept, and that it keeps the promises of the verdicts.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Measured, Monitor, Standing, analyse};
use duetbench_core::plan::{Claim, Design, Plan, shared_out};
use duetbench_core::report::ForkPair;
use duetbench_core::spec::{Decision, Effort, defaults};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config as ProptestConfig;

use crate::support::{Noise, fixed_design, forks, placed, plan_of, same_cases, samples_of};

const SECOND_NS: u64 = 1_000_000_000;

/// A run under a budget: benchmarks by the time of a trial, each of which is settled once it has so many units.
struct World {
    trial_ns: Vec<u64>,
    settled_by: Vec<u32>,
    units: Vec<u32>,
    used_ns: u64,
    /// Time of the last trial.
    last_ns: u64,
    /// Benchmarks that took part, by suite run.
    suite_runs: Vec<Vec<usize>>,
}

impl World {
    fn new(trial_ns: Vec<u64>, settled_by: Vec<u32>) -> World {
        World { units: vec![0; trial_ns.len()], trial_ns, settled_by, used_ns: 0, last_ns: 0, suite_runs: Vec::new() }
    }

    /// As the engine has it: the share is asked for before every suite run, and no trial begins for which no time is left.
    /// `took` is the factor by which a trial takes longer than the mean.
    fn run(mut self, budget_ns: u64, mut took: impl FnMut() -> f64) -> World {
        loop {
            let left_ns = budget_ns.saturating_sub(self.used_ns);
            let claim = |i: usize| Claim { units: self.units[i], most: 200, unit_ns: self.trial_ns[i] };
            let open = |i: usize| self.units[i] < self.settled_by[i];
            let claims: Vec<_> = (0..self.units.len()).map(|i| open(i).then(|| claim(i))).collect();
            let chosen: Vec<usize> =
                (0..claims.len()).zip(shared_out(&claims, left_ns)).filter(|one| one.1).map(|one| one.0).collect();
            if chosen.is_empty() {
                return self;
            }
            for i in &chosen {
                if self.used_ns.saturating_add(self.trial_ns[*i]) <= budget_ns {
                    self.last_ns = (self.trial_ns[*i] as f64 * took()) as u64;
                    self.used_ns += self.last_ns;
                    self.units[*i] += 1;
                }
            }
            self.suite_runs.push(chosen);
        }
    }

    fn settled(&self) -> usize {
        self.units.iter().zip(&self.settled_by).filter(|(units, by)| units >= by).count()
    }
}

/// Trials of benchmarks of 0.2 ms, 3 ms, 220 ms and 2 s, nanoseconds.
const UNEQUAL: [u64; 4] = [80_000_000, 80_000_000, 920_000_000, 8_040_000_000];

#[test]
fn an_expensive_benchmark_takes_nothing_from_those_that_can_settle() {
    let world = World::new(UNEQUAL.to_vec(), vec![8, 16, 8, 8]).run(60 * SECOND_NS, || 1.0);
    assert_eq!(world.units[..3], [8, 16, 8], "all that can settle do");
    // It gets what is left: 60 s without 9.3 s are six trials of it.
    assert_eq!(world.units[3], 6);
    assert!(world.used_ns <= 60 * SECOND_NS);
}

#[test]
fn where_nothing_settles_cheap_ones_leave_time_and_what_gets_too_few_units_gets_none() {
    let world = World::new(UNEQUAL.to_vec(), vec![1000; 4]).run(60 * SECOND_NS, || 1.0);
    assert!(world.units[..3].iter().all(|units| *units >= 8), "{:?}", world.units);
    let in_short = World::new(UNEQUAL.to_vec(), vec![8; 4]).run(30 * SECOND_NS, || 1.0);
    assert_eq!(in_short.units, [8, 8, 8, 0], "20.7 s are two trials of 8 s, which say nothing");
}

#[test]
fn of_123_equal_ones_some_settle_instead_of_none() {
    let world = World::new(vec![150_000_000; 123], vec![8; 123]).run(60 * SECOND_NS, || 1.0);
    assert_eq!(world.settled(), 50);
    assert_eq!(world.units.iter().filter(|units| **units == 0).count(), 73, "nobody is left with a few");
    // Among themselves they are mixed from the first to the last.
    assert!(world.suite_runs[..8].iter().all(|chosen| chosen.len() == 50));
}

#[test]
fn what_settled_benchmarks_leave_goes_to_those_that_had_to_wait() {
    let settled_by: Vec<u32> = (0..123).map(|i| if i % 3 == 0 { 8 } else { 4 }).collect();
    let world = World::new(vec![150_000_000; 123], settled_by).run(60 * SECOND_NS, || 1.0);
    assert!(world.settled() > 60, "{}", world.settled());
}

#[test]
fn who_has_units_is_not_left_for_a_fresh_one_and_who_needs_little_comes_first() {
    let claim = |units, unit_ns| Some(Claim { units, most: 200, unit_ns });
    assert_eq!(shared_out(&[claim(0, 10), claim(5, 10)], 40), [false, true]);
    assert_eq!(shared_out(&[claim(0, 10), claim(0, 1)], 40), [false, true]);
    // A goal that was passed in vain halves the hope.
    assert_eq!(shared_out(&[claim(8, 10), claim(0, 15)], 120), [false, true]);
    assert_eq!(shared_out(&[claim(8, 10), claim(0, 25)], 160), [true, false]);
    assert_eq!(shared_out(&[None, claim(200, 10)], 1000), [false, false]);
    // A design of three units is content with three.
    assert_eq!(shared_out(&[Some(Claim { units: 0, most: 3, unit_ns: 10 })], 30), [true]);
    assert_eq!(shared_out(&[claim(0, 10)], 30), [false]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..same_cases() })]

    #[test]
    fn the_end_is_kept_but_for_one_trial_and_one_seed_gives_one_course(
        benchmarks in vec((1_000_000..10_000_000_000u64, 1..300u32), 1..40),
        budget_ns in 0..100_000_000_000u64,
        seed in any::<u64>(),
    ) {
        let (trial_ns, settled_by): (Vec<u64>, Vec<u32>) = benchmarks.into_iter().unzip();
        let run = || {
            let mut noise = Noise::new(seed);
            World::new(trial_ns.clone(), settled_by.clone()).run(budget_ns, || (0.5 * noise.normal()).exp())
        };
        let (world, again) = (run(), run());
        prop_assert_eq!((&world.suite_runs, world.used_ns), (&again.suite_runs, again.used_ns));
        prop_assert!(world.used_ns <= budget_ns + world.last_ns);
        // Nobody who still could has to wait while time is left.
        let left_ns = budget_ns.saturating_sub(world.used_ns);
        for i in 0..trial_ns.len() {
            let most = u32::min(200, settled_by[i]);
            let enough = u64::from(200u32.saturating_sub(world.units[i]).min(8)) * trial_ns[i] > left_ns;
            prop_assert!(world.units[i] >= most || enough, "{i}: {} units", world.units[i]);
        }
    }

    #[test]
    fn time_is_never_promised_twice(
        units in vec((0..250u32, 1..1_000_000u64), 1..60),
        left_ns in 0..50_000_000u64,
    ) {
        let claims: Vec<Option<Claim>> =
            units.iter().map(|(units, unit_ns)| Some(Claim { units: *units, most: 200, unit_ns: *unit_ns })).collect();
        let one_more: u64 = claims.iter().flatten().zip(shared_out(&claims, left_ns)).filter(|one| one.1).map(|one| one.0.unit_ns).sum();
        prop_assert!(one_more <= left_ns);
    }
}

#[test]
fn a_plan_says_for_how_many_its_time_is_enough() {
    let names: Vec<String> = (0..123).map(|i| format!("B{i:03}")).collect();
    let mut plan = plan_of(&names.iter().map(String::as_str).collect::<Vec<_>>(), sequential(200));
    plan.benchmarks.iter_mut().for_each(|b| b.trial_predicted_ns = 150_000_000);
    let told = |plan: &Plan| (plan.forecast().enough_for, plan.forecast().benchmarks);
    assert_eq!(told(&plan), (123, 123));
    plan.budget_ns = Some(60 * SECOND_NS);
    assert_eq!(told(&plan), (25, 123));
    assert_eq!(plan.forecast().all_ns, 123 * 16 * 150_000_000);
    // First trials took a part of it, and a fifth is kept for confirming.
    plan.spend(std::time::Duration::from_secs(12));
    assert_eq!(told(&plan), (20, 123));
    plan.confirm_rounds = 2;
    assert_eq!(told(&plan), (16, 123));
    // Beside other work an answer takes twice the units, for which each gets room.
    plan.benchmarks.iter_mut().for_each(|b| b.configuration.design.units = 16);
    plan.expect_disturbance(forks(20));
    assert_eq!(told(&plan), (16, 123), "asked for so many");
    plan.expect_disturbance(Effort { forks: None, ..forks(20) });
    assert_eq!(told(&plan), (8, 123));
    assert!(plan.benchmarks.iter().all(|b| b.configuration.design.units == 32));
}

fn sequential(units: u32) -> Design {
    Design { sequential: true, ..fixed_design(units) }
}

/// Suites under a budget that is enough for a third of them, and the verdicts at their end; `truth` is the log ratio of every second
/// benchmark, and of the others 0. Trials of different benchmarks take different times, and each varies.
fn verdicts(suites: u32, truth: f64, seed: u64) -> Vec<[Vec<Verdict>; 2]> {
    let names: Vec<String> = (0..24).map(|i| format!("B{i:03}")).collect();
    let mut plan = plan_of(&names.iter().map(String::as_str).collect::<Vec<_>>(), sequential(32));
    plan.budget_ns = Some(SECOND_NS);
    let (decision, mut noise) = (Decision::default(), Noise::new(seed));
    (0..suites).map(|_| suite(&plan, &decision, truth, &mut noise)).collect()
}

fn suite(plan: &Plan, decision: &Decision, truth: f64, noise: &mut Noise) -> [Vec<Verdict>; 2] {
    let mut monitor = Monitor::new(plan, decision);
    let all = plan.benchmarks.len();
    let unit_ns = |i: usize| 4_000_000 + 1_000_000 * (i as u64 % 5);
    let (mut forks, mut standings) = (vec![Vec::<ForkPair>::new(); all], vec![Standing::Open; all]);
    let mut left_ns = SECOND_NS;
    for suite_run in 0.. {
        let open = |i: usize| standings[i] == Standing::Open;
        let claim = |i: usize| Claim { units: forks[i].len() as u32, most: 32, unit_ns: unit_ns(i) };
        let claims: Vec<_> = (0..all).map(|i| open(i).then(|| claim(i))).collect();
        let chosen = shared_out(&claims, left_ns);
        if !chosen.contains(&true) {
            break;
        }
        for i in (0..all).filter(|i| chosen[*i]) {
            let change = if i % 2 == 0 { truth } else { 0.0 };
            forks[i].push(placed(&sequential(32), (0, suite_run), change + 0.02 * noise.normal()));
            left_ns = left_ns.saturating_sub((unit_ns(i) as f64 * (0.2 * noise.normal()).exp()) as u64);
        }
        let slices: Vec<&[ForkPair]> = forks.iter().map(Vec::as_slice).collect();
        let looking: Vec<bool> = (0..all)
            .map(|i| standings[i] == Standing::Open && chosen[i] && monitor.is_look(i, suite_run, &forks[i]))
            .collect();
        let looked = monitor.look(&vec![suite_run; all], &slices);
        (0..all).filter(|i| looking[*i]).for_each(|i| standings[i] = looked[i].standing);
    }
    let measured: Vec<Measured> =
        forks.iter().map(|f| Measured { samples: samples_of(f), failed_trials: vec![] }).collect();
    let verdicts: Vec<Verdict> = analyse(plan, &measured, decision).into_iter().map(|b| b.verdict).collect();
    [0, 1].map(|odd| verdicts.iter().skip(odd).step_by(2).cloned().collect())
}

#[test]
fn false_alarms_and_overlooked_changes_stay_as_rare_under_a_budget() {
    // A change of just the threshold, and none.
    let suites = verdicts(60, (1.0 + defaults::THRESHOLD).ln(), 5);
    let count = |group: usize, is: fn(&Verdict) -> bool| {
        let of = |suite: &[Vec<Verdict>; 2]| suite[group].iter().filter(|verdict| is(verdict)).count();
        suites.iter().map(of).sum::<usize>() as f64
    };
    let each = 60.0 * 12.0;
    let [overlooked, alarms] =
        [count(0, |v| *v == Verdict::NoChange), count(1, Verdict::is_change)].map(|count| count / each);
    let four_errors = |rate: f64| 4.0 * (rate * (1.0 - rate) / each).sqrt();
    assert!(overlooked <= 0.05 + four_errors(0.05), "{overlooked}");
    // The share of false alarms among all is 5 %, so that among as many true ones there may be more than one in a hundred.
    assert!(alarms <= 0.05, "{alarms}");
    let unchanged = verdicts(60, 0.0, 6);
    let all = unchanged.iter().flatten().flatten().filter(|v| v.is_change()).count() as f64 / (2.0 * each);
    assert!(all <= 0.01 + 4.0 * (0.01 * 0.99 / (2.0 * each)).sqrt(), "{all}");
    assert!(count(1, |v| *v == Verdict::NoChange) > 0.2 * each, "it settles something");
}
