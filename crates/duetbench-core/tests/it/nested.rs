//! What the whole rule promises, from the first look to the verdict, where layout is a level: build pairs differ by 2.5 %, fork
//! pairs of one build pair by 1.2 %. Seeds are fixed; the figures are those of docs/statistics.md and of an independent
//! simulation in `tests/reference/make.py`.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Basis, Evidence, Looks, Measured, Monitor, Standing, analyse, judge};
use duetbench_core::plan::{Design, Plan};
use duetbench_core::report::ForkPair;
use duetbench_core::spec::Decision;
use duetbench_core::stats::Sequential;

use crate::reference::{answers, numbers};
use crate::simulation::assert_share;
use crate::support::{Course, Noise, build_pairs, fixed_design, placed, plan_of, samples_of};

const SD_BUILD: f64 = 0.025;
const SD_FORK: f64 = 0.012;

/// What `compare` does when nothing is asked for.
fn default_design() -> Design {
    build_pairs(32, 4)
}

/// Experiments on one benchmark, one after the other.
struct Experiments<'a> {
    design: Design,
    decision: &'a Decision,
    boundaries: Sequential,
    monitor: Monitor<'a>,
    plan: &'a Plan,
    noise: Noise,
}

impl<'a> Experiments<'a> {
    fn new(plan: &'a Plan, decision: &'a Decision, seed: u64) -> Experiments<'a> {
        let design = plan.benchmarks[0].configuration.design;
        let boundaries = Sequential::new(design.units).unwrap();
        Experiments {
            design,
            decision,
            boundaries,
            monitor: Monitor::new(plan, decision),
            plan,
            noise: Noise::new(seed),
        }
    }

    /// The fork pairs of one experiment, and its verdict; `layouts` is the number of build pairs that there really are.
    fn next(&mut self, log_ratio: f64, layouts: usize) -> (Vec<ForkPair>, Verdict) {
        let of_builds: Vec<f64> = (0..layouts).map(|_| SD_BUILD * self.noise.normal()).collect();
        let (design, noise) = (self.design, &mut self.noise);
        let mut course = Course::run(self.plan, &mut self.monitor, |_, suite_run| {
            Some(log_ratio + of_builds[design.unit(suite_run) as usize % layouts] + SD_FORK * noise.normal())
        });
        let forks = course.forks.remove(0);
        let looks = Looks { boundaries: &self.boundaries, design: &self.design, alpha: self.decision.alpha };
        let evidence = Evidence::of(&forks, Basis::TypicalSlice, looks).unwrap();
        let estimate = evidence.estimate(self.decision, evidence.p_value).unwrap();
        let verdict = judge(&evidence, &estimate, self.decision).unwrap();
        assert_eq!(course.standings[0] == Standing::Open, matches!(verdict, Verdict::Inconclusive { .. }));
        (forks, verdict)
    }
}

/// The shares of no change, regression and improvement, and the mean number of fork pairs, of an independent simulation.
fn expected(change: f64) -> [f64; 4] {
    let cases: Vec<Vec<f64>> = answers("build_pairs").iter().map(numbers).collect();
    let case = cases.iter().find(|c| c[..3] == [change, SD_BUILD, SD_FORK]).expect("a case of make.py");
    [case[3], case[4], case[5], case[6]]
}

/// Asserts the shares of the verdicts on a true change; gives those of no change and of any change.
fn check(change: f64, draws: u32) -> [f64; 2] {
    let (plan, decision) = (plan_of(&["A"], default_design()), Decision::default());
    let mut experiments = Experiments::new(&plan, &decision, 1);
    let (mut verdicts, mut forks) = ([0u32; 3], 0.0);
    for i in 0..draws {
        let (of_this, verdict) = experiments.next(change.ln_1p(), 32);
        forks += of_this.len() as f64;
        let words = ["no_change", "regression", "improvement"];
        (0..3).filter(|w| verdict.word() == words[*w]).for_each(|w| verdicts[w] += 1);
        // The report comes to the same; making the boundaries anew each time takes long.
        if i < 2 {
            let measured = [Measured { samples: samples_of(&of_this), failed_trials: vec![] }];
            assert_eq!(analyse(&plan, &measured, &decision)[0].verdict.word(), verdict.word());
        }
    }
    let verdicts = verdicts.map(|count| f64::from(count) / f64::from(draws));
    let expected = expected(change);
    for (ours, expected) in verdicts.into_iter().zip(expected) {
        assert_share(ours, expected, draws);
    }
    // A standard deviation is at most 10 fork pairs.
    let mean = forks / f64::from(draws);
    assert!((mean - expected[3]).abs() < 40.0 / f64::from(draws).sqrt(), "{mean} fork pairs, expected {}", expected[3]);
    [verdicts[0], verdicts[1] + verdicts[2]]
}

#[test]
fn equal_versions_are_rarely_called_changed() {
    let draws = 1000;
    let [_, changed] = check(0.0, draws);
    assert!(changed <= 0.01 + 4.0 * (0.01 * 0.99 / f64::from(draws)).sqrt(), "{changed}");
}

#[test]
fn a_change_of_the_threshold_is_rarely_called_none() {
    let draws = 1000;
    let [none, _] = check(0.03, draws);
    assert!(none <= 0.005 + 4.0 * (0.005 * 0.995 / f64::from(draws)).sqrt(), "{none}");
}

#[test]
fn larger_changes_are_found_and_soon() {
    assert!(check(0.05, 300)[1] > 0.98);
    assert!(check(0.1, 300)[1] > 0.98);
}

#[test]
fn forks_of_one_build_pair_say_nothing_about_the_code() {
    // `--builds 1`: right about the two binaries, and wrong about the code more often than not.
    let single = Design { sequential: true, ..fixed_design(20) };
    let (plan, decision, draws) = (plan_of(&["A"], single), Decision::default(), 300);
    let mut experiments = Experiments::new(&plan, &decision, 2);
    let of_one = (0..draws).map(|_| experiments.next(0.0, 1).1);
    let false_alarms = of_one.filter(|v| matches!(v, Verdict::Regression | Verdict::Improvement)).count();
    assert_share(false_alarms as f64 / f64::from(draws), numbers(&answers("forks_for_units")[0])[2], draws);
}

#[test]
fn forks_taken_for_units_where_layout_varies_raise_false_alarms_many_times_over() {
    // The same 32 forks of 8 build pairs, once by build pair and once as if all were independent.
    let by_build = Design { forks_per_unit: 4, sequential: false, ..build_pairs(8, 0) };
    let designs = [fixed_design(32), by_build];
    let boundaries = designs.map(|d| Sequential::single(d.units).unwrap());
    let (draws, mut noise, mut alarms) = (2000, Noise::new(3), [0u32; 2]);
    for _ in 0..draws {
        let layouts: Vec<f64> = (0..8).map(|_| SD_BUILD * noise.normal()).collect();
        let mut fork = |run| placed(&by_build, (0, run), layouts[run as usize / 4] + SD_FORK * noise.normal());
        let forks: Vec<ForkPair> = (0..32).map(&mut fork).collect();
        for i in 0..2 {
            let looks = Looks { boundaries: &boundaries[i], design: &designs[i], alpha: 0.01 };
            let evidence = Evidence::of(&forks, Basis::TypicalSlice, looks).unwrap();
            alarms[i] += u32::from(evidence.p_value <= 0.01);
        }
    }
    let reference = numbers(&answers("forks_for_units")[0]);
    let alarms = alarms.map(|count| f64::from(count) / f64::from(draws));
    assert_share(alarms[0], reference[3], draws);
    assert_share(alarms[1], reference[4], draws);
    assert!(alarms[0] > 0.1, "{alarms:?}");
}
