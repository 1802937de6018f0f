//! Promises of the whole rule, from the first look to the verdict, where layout is a level: build pairs differ by 2.5 %, fork
//! pairs of one build pair by 1.2 %. Seeds are fixed; the figures are those of docs/statistics/09-looks.md and of an independent
//! simulation in `tests/reference/make.py`.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Basis, Evidence, Looks, Measured, Monitor, Tests, analyse, judge};
use duetbench_core::plan::{Design, Plan};
use duetbench_core::report::ForkPair;
use duetbench_core::spec::Decision;

use crate::noise_support::assert_share;
use crate::reference::{answers, numbers};
use crate::support::{Course, Noise, build_pairs, fixed_design, placed, plan_of, samples_of};

/// Standard deviations between build pairs, and between fork pairs of one of them.
#[derive(Debug, Clone, Copy)]
struct Sds {
    build: f64,
    fork: f64,
}

const USUAL: Sds = Sds { build: 0.025, fork: 0.012 };

/// The design of `compare` when nothing is asked for.
fn default_design() -> Design {
    build_pairs(32, 4)
}

/// Experiments on one benchmark, one after the other.
struct Experiments<'a> {
    design: Design,
    decision: &'a Decision,
    tests: Tests,
    monitor: Monitor<'a>,
    plan: &'a Plan,
    noise: Noise,
    sds: Sds,
}

impl<'a> Experiments<'a> {
    fn new(plan: &'a Plan, decision: &'a Decision, seed: u64) -> Experiments<'a> {
        let design = plan.benchmarks[0].configuration.design;
        let made = if design.sequential { Tests::sequential } else { Tests::single };
        let tests = made(design.units).unwrap();
        Experiments {
            design,
            decision,
            tests,
            sds: USUAL,
            monitor: Monitor::new(plan, decision),
            plan,
            noise: Noise::new(seed),
        }
    }

    /// The fork pairs of one experiment, and its verdict; `layouts` is the number of build pairs that there really are.
    fn next(&mut self, log_ratio: f64, layouts: usize) -> (Vec<ForkPair>, Verdict) {
        let (forks, evidence) = self.evidence(log_ratio, layouts);
        let estimate = evidence.estimate(self.decision, evidence.p_value).unwrap();
        (forks, judge(&evidence, &estimate, self.decision).unwrap())
    }

    fn evidence(&mut self, log_ratio: f64, layouts: usize) -> (Vec<ForkPair>, Evidence) {
        let (design, noise, sds) = (self.design, &mut self.noise, self.sds);
        let of_builds: Vec<f64> = (0..layouts).map(|_| sds.build * noise.normal()).collect();
        let mut course = Course::run(self.plan, &mut self.monitor, |_, suite_run| {
            Some(log_ratio + of_builds[design.unit(suite_run) as usize % layouts] + sds.fork * noise.normal())
        });
        let forks = course.forks.remove(0);
        let looks = Looks::as_planned(&self.tests, &self.design, self.decision);
        let evidence = Evidence::of(&forks, Basis::TypicalSlice.into(), looks).unwrap();
        (forks, evidence)
    }
}

/// Verdicts in the order of `WORDS` in make.py.
const WORDS: [&str; 8] = [
    "inconclusive", "no_change", "regression", "improvement", "slower_within_tolerance", "faster_within_tolerance",
    "slower_size_open", "faster_size_open",
];

/// The shares of the verdicts, and last the mean number of fork pairs, of an independent simulation.
fn expected(change: f64, sds: Sds) -> Vec<f64> {
    let cases: Vec<Vec<f64>> = answers("build_pairs").iter().map(numbers).collect();
    let case = cases.iter().find(|c| c[..3] == [change, sds.build, sds.fork]).expect("a case of make.py");
    case[3..].to_vec()
}

/// Shares of the verdicts on a true change.
struct Shares([f64; WORDS.len()]);

impl Shares {
    /// The share of those whose word holds one of these.
    fn of(&self, parts: &[&str]) -> f64 {
        let meant = |word: &&str| parts.iter().any(|part| word.contains(part));
        WORDS.iter().zip(self.0).filter(|(word, _)| meant(word)).map(|(_, share)| share).sum()
    }
}

/// Asserts that they are those of the independent simulation.
fn check(change: f64, draws: u32) -> Shares {
    check_among(USUAL, change, draws)
}

/// The same where build pairs and fork pairs vary by so much.
fn check_among(sds: Sds, change: f64, draws: u32) -> Shares {
    let (plan, decision) = (plan_of(&["A"], default_design()), Decision::default());
    let mut experiments = Experiments { sds, ..Experiments::new(&plan, &decision, 1) };
    let (mut verdicts, mut forks) = ([0u32; WORDS.len()], 0.0);
    for i in 0..draws {
        let (of_this, verdict) = experiments.next(change.ln_1p(), 32);
        forks += of_this.len() as f64;
        verdicts[WORDS.iter().position(|word| verdict.word() == *word).unwrap()] += 1;
        // The report comes to the same; making the boundaries anew each time takes long.
        if i < 2 {
            let measured = [Measured { samples: samples_of(&of_this), failed_trials: vec![] }];
            assert_eq!(analyse(&plan, &measured, &decision)[0].verdict.word(), verdict.word());
        }
    }
    let verdicts = verdicts.map(|count| f64::from(count) / f64::from(draws));
    let expected = expected(change, sds);
    for (ours, expected) in verdicts.iter().zip(&expected) {
        assert_share(*ours, *expected, draws);
    }
    // A standard deviation is at most 12 fork pairs.
    let mean = forks / f64::from(draws);
    assert!((mean - expected[8]).abs() < 48.0 / f64::from(draws).sqrt(), "{mean} fork pairs, expected {}", expected[8]);
    Shares(verdicts)
}

#[test]
fn equal_versions_are_rarely_called_changed() {
    let draws = 1000;
    let changed = check(0.0, draws).of(&["regression", "improvement", "slower", "faster"]);
    assert!(changed <= 0.01 + 4.0 * (0.01 * 0.99 / f64::from(draws)).sqrt(), "{changed}");
}

#[test]
fn a_change_of_the_threshold_is_rarely_called_none() {
    let draws = 1000;
    let shares = check(0.03, draws);
    let (none, regression) = (shares.of(&["no_change", "within_tolerance"]), shares.of(&["regression"]));
    let most = 0.05 + 4.0 * (0.05 * 0.95 / f64::from(draws)).sqrt();
    assert!(none <= most && regression <= most, "{none} {regression}");
    // But it is nearly always said to be slower.
    assert!(shares.of(&["regression", "slower"]) > 0.95);
}

#[test]
fn a_change_below_the_threshold_is_no_regression() {
    for change in [0.01, 0.02] {
        assert!(check(change, 300).of(&["regression"]) < 0.02);
    }
}

#[test]
fn what_varies_too_much_for_an_answer_ends_early_and_loses_few_changes() {
    let sds = Sds { build: 0.12, fork: 0.04 };
    assert!(check_among(sds, 0.0, 300).of(&["inconclusive"]) > 0.95);
    // The rest of the design is not given up where a change begins to show.
    assert!(check_among(sds, 0.1, 300).of(&["regression", "slower"]) > 0.75);
}

#[test]
fn more_data_of_the_same_truth_never_turn_one_answer_into_another() {
    // Looked at once, after more and more units. Answers on the wrong side of the threshold stay as rare as promised.
    let (draws, mut noise, decision) = (400, Noise::new(8), Decision::default());
    for change in [0.01, 0.02, 0.029, 0.031, 0.04] {
        for units in [8, 16, 32, 128, 400] {
            let (tests, design) = (Tests::single(units).unwrap(), fixed_design(units));
            let looks = Looks::as_planned(&tests, &design, &decision);
            let mut wrong = 0u32;
            for _ in 0..draws {
                let sd = USUAL.build.hypot(USUAL.fork);
                let forks: Vec<ForkPair> =
                    (0..units).map(|run| placed(&design, (0, run), f64::ln_1p(change) + sd * noise.normal())).collect();
                let evidence = Evidence::of(&forks, Basis::TypicalSlice.into(), looks).unwrap();
                let estimate = evidence.estimate(&decision, evidence.p_value).unwrap();
                let word = judge(&evidence, &estimate, &decision).unwrap().word();
                let below = word == "no_change" || word.ends_with("within_tolerance");
                wrong += u32::from(if change < 0.03 { word == "regression" } else { below });
            }
            let share = f64::from(wrong) / f64::from(draws);
            let most = 0.055 + 4.0 * (0.055 * 0.945 / f64::from(draws)).sqrt();
            assert!(share <= most, "{change} after {units} units: {share}");
        }
    }
}

#[test]
fn a_change_of_the_size_that_is_detected_is_called_a_regression_in_four_of_five() {
    let decision = Decision::default();
    for (design, sds) in [
        (default_design(), Sds { build: 0.002, fork: 0.002 }),
        (default_design(), Sds { build: 0.01, fork: 0.007 }),
        (default_design(), USUAL),
        (default_design(), Sds { build: 0.05, fork: 0.02 }),
        (default_design(), Sds { build: 0.12, fork: 0.04 }),
        (Design { sequential: false, ..default_design() }, Sds { build: 0.01, fork: 0.007 }),
        (Design { sequential: true, ..fixed_design(20) }, Sds { build: 0.0, fork: 0.01 }),
    ] {
        let plan = plan_of(&["A"], design);
        let mut experiments = Experiments { sds, ..Experiments::new(&plan, &decision, 4) };
        let (draws, mut found) = (300, 0);
        for _ in 0..draws {
            let (_, equal) = experiments.evidence(0.0, 32);
            let detects = equal.estimate(&decision, equal.p_value).unwrap().minimal_detectable_change;
            found += u32::from(experiments.next(detects.ln_1p(), 32).1 == Verdict::Regression);
        }
        let share = f64::from(found) / f64::from(draws);
        assert!((0.7..0.95).contains(&share), "{sds:?}: {share}");
    }
}

#[test]
fn larger_changes_are_found_and_soon() {
    assert!(check(0.05, 300).of(&["regression"]) > 0.9);
    assert!(check(0.1, 300).of(&["regression"]) > 0.98);
}

#[test]
fn forks_of_one_build_pair_say_nothing_about_the_code() {
    // `--builds 1`: right about the two binaries, and wrong about the code more often than not.
    let single = Design { sequential: true, ..fixed_design(20) };
    let (plan, decision, draws) = (plan_of(&["A"], single), Decision::default(), 300);
    let mut experiments = Experiments::new(&plan, &decision, 2);
    let of_one = (0..draws).map(|_| experiments.next(0.0, 1).1);
    let false_alarms = of_one.filter(Verdict::is_change).count();
    assert_share(false_alarms as f64 / f64::from(draws), numbers(&answers("forks_for_units")[0])[2], draws);
}

#[test]
fn forks_taken_for_units_where_layout_varies_raise_false_alarms_many_times_over() {
    // The same 32 forks of 8 build pairs, once by build pair and once as if all were independent.
    let by_build = Design { forks_per_unit: 4, sequential: false, ..build_pairs(8, 0) };
    let designs = [fixed_design(32), by_build];
    let (tests, decision) = (designs.map(|d| Tests::single(d.units).unwrap()), Decision::default());
    let (draws, mut noise, mut alarms) = (2000, Noise::new(3), [0u32; 2]);
    for _ in 0..draws {
        let layouts: Vec<f64> = (0..8).map(|_| USUAL.build * noise.normal()).collect();
        let mut fork = |run| placed(&by_build, (0, run), layouts[run as usize / 4] + USUAL.fork * noise.normal());
        let forks: Vec<ForkPair> = (0..32).map(&mut fork).collect();
        for i in 0..2 {
            let looks = Looks::as_planned(&tests[i], &designs[i], &decision);
            let evidence = Evidence::of(&forks, Basis::TypicalSlice.into(), looks).unwrap();
            alarms[i] += u32::from(evidence.p_value <= 0.01);
        }
    }
    let reference = numbers(&answers("forks_for_units")[0]);
    let alarms = alarms.map(|count| f64::from(count) / f64::from(draws));
    assert_share(alarms[0], reference[3], draws);
    assert_share(alarms[1], reference[4], draws);
    assert!(alarms[0] > 0.1, "{alarms:?}");
}
