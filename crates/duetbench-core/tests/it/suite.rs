//! The whole suite in one number.

use std::sync::LazyLock;

use duetbench_core::BenchmarkId;
use duetbench_core::analysis::{IdenticalCode, Monitor, SuiteChange, analyse, suite_change};
use duetbench_core::plan::{Design, Excluded, Plan};
use duetbench_core::report::{BenchmarkReport, ForkPair};
use duetbench_core::spec::Decision;

use crate::reference::{close, numbers, suite_answers};
use crate::support::{Course, Noise, PLAIN, build_pairs, fixed_design, measured_of, placed, plan_of};

/// Names of so many benchmarks.
pub(crate) fn names(benchmarks: usize) -> Vec<String> {
    (0..benchmarks).map(|i| format!("B{i:03}")).collect()
}

/// A plan of so many benchmarks of this design.
pub(crate) fn plan_of_many(benchmarks: usize, design: Design) -> Plan {
    plan_of(&names(benchmarks).iter().map(String::as_str).collect::<Vec<_>>(), design)
}

/// Reports of these fork pairs; everything else about them is as a report of some measuring has it.
pub(crate) fn reports(plan: &Plan, forks: &[Vec<ForkPair>]) -> Vec<BenchmarkReport> {
    static TEMPLATE: LazyLock<BenchmarkReport> = LazyLock::new(|| {
        let judged = measured_of(&[0.0, 0.001, 0.002].map(|d| placed(&fixed_design(1000), (0, 0), d)));
        analyse(&plan_of(&["A"], fixed_design(1000)), &[judged], &Decision::default()).remove(0)
    });
    let template = &*TEMPLATE;
    let report = |(i, forks): (usize, &Vec<ForkPair>)| BenchmarkReport {
        id: plan.benchmarks[i].id.clone(),
        forks: forks.clone(),
        estimate: template.estimate.filter(|_| forks.len() >= 3),
        ..template.clone()
    };
    forks.iter().enumerate().map(report).collect()
}

/// A fork pair for each unit of a benchmark.
fn row(design: &Design, log_ratios: &[f64]) -> Vec<ForkPair> {
    (0u32..).zip(log_ratios).map(|(run, d)| placed(design, (0, run), *d)).collect()
}

fn change(plan: &Plan, forks: &[Vec<ForkPair>]) -> Option<SuiteChange> {
    suite_change(plan, &reports(plan, forks), &Decision::default(), IdenticalCode::LeftOut)
}

fn identical(names: usize) -> Vec<Excluded> {
    let id = |i: usize| BenchmarkId { package: "q".into(), name: format!("I{i}") };
    (0..names).map(|i| Excluded::Identical { id: id(i), saved_ns: 1 }).collect()
}

#[test]
fn which_benchmark_stands_first_changes_nothing() {
    let design = build_pairs(32, 0);
    let mut noise = Noise::new(9);
    for _ in 0..40 {
        // Each benchmark lost a trial or two, so that units and benchmarks have to be left out.
        let mut rows: Vec<Vec<ForkPair>> = (0..6)
            .map(|_| {
                let d: Vec<f64> = (0..6).map(|_| 0.3 * noise.normal()).collect();
                row(&design, &d).into_iter().filter(|_| noise.normal() > -1.0).collect()
            })
            .collect();
        let plan = plan_of_many(rows.len(), design);
        let forwards = change(&plan, &rows);
        rows.reverse();
        let backwards = change(&plan, &rows);
        let of = |change: &Option<SuiteChange>| change.as_ref().map(|c| (c.ratio * 1e9).round());
        assert_eq!(of(&forwards), of(&backwards));
    }
}

#[test]
fn the_mean_of_every_unit_is_tested_as_scipy_does() {
    for case in suite_answers("suite") {
        let rows: Vec<Vec<f64>> = case["log_ratios"].as_array().unwrap().iter().map(numbers).collect();
        let design = build_pairs(32, 0);
        let mut plan = plan_of_many(rows.len(), design);
        plan.excluded = identical(case["identical"].as_u64().unwrap() as usize);
        let forks: Vec<Vec<ForkPair>> = rows.iter().map(|d| row(&design, d)).collect();
        let ours =
            suite_change(&plan, &reports(&plan, &forks), &Decision::default(), IdenticalCode::CountsAsOne).unwrap();
        let scipy = |name: &str| case[name].as_f64().unwrap();
        close(ours.ratio, scipy("ratio"), 1e-11);
        close(ours.ratio_low, scipy("low"), 1e-9);
        close(ours.ratio_high, scipy("high"), 1e-9);
        close(ours.p_value, scipy("p"), 1e-8);
        close(ours.minimal_detectable_change, scipy("detects"), 1e-7);
        assert_eq!((ours.benchmarks as usize, ours.units as usize), (rows.len(), rows[0].len()));
        assert_eq!((ours.identical as usize, ours.left_out), (plan.excluded.len(), 0));
        assert!((ours.confidence - 0.99).abs() < 1e-15);
    }
}

#[test]
fn identical_code_counts_only_where_that_is_said() {
    let design = fixed_design(6);
    let mut plan = plan_of_many(2, design);
    plan.excluded = identical(2);
    let forks = [[0.04, 0.05, 0.06, 0.04, 0.05, 0.06], [0.01, 0.02, 0.0, 0.02, 0.01, 0.0]].map(|d| row(&design, &d));
    let of = |identical| suite_change(&plan, &reports(&plan, &forks), &Decision::default(), identical).unwrap();
    let (without, with) = (of(IdenticalCode::LeftOut), of(IdenticalCode::CountsAsOne));
    assert_eq!((without.identical, with.identical), (0, 2));
    assert!((without.ratio - 0.03f64.exp()).abs() < 1e-12 && (with.ratio - 0.015f64.exp()).abs() < 1e-12);
    // Neither more nor less sure that there is a change.
    assert!((without.p_value / with.p_value - 1.0).abs() < 1e-9);
}

#[test]
fn units_end_where_the_first_benchmark_does_and_later_ones_do_not_matter() {
    let design = build_pairs(32, 0);
    let plan = plan_of_many(3, design);
    let long: Vec<f64> = (0..20).map(|i| 0.01 * f64::from(i % 3)).collect();
    let mut wild = long.clone();
    wild[6..].iter_mut().for_each(|d| *d += 5.0);
    let with = |second: &[f64]| {
        let forks = [row(&design, &long), row(&design, second), row(&design, &[0.3, 0.31, 0.29, 0.3, 0.32, 0.28])];
        change(&plan, &forks).unwrap()
    };
    let (calm, late) = (with(&long), with(&wild));
    // The one that changed and ended for it is in.
    assert_eq!((calm.units, calm.benchmarks, calm.left_out), (6, 3, 0));
    assert!((calm.ratio.ln() - (0.01 + 0.01 + 0.3) / 3.0).abs() < 1e-12);
    assert_eq!(calm, late);
}

#[test]
fn parts_of_changes_that_do_not_show_are_in_the_ratio_and_in_the_interval() {
    let design = fixed_design(6);
    let mut plan = plan_of_many(2, design);
    let forks =
        [[0.04, 0.05, 0.06, 0.04, 0.05, 0.06], [0.0, 0.001, -0.001, 0.0, 0.001, -0.001]].map(|d| row(&design, &d));
    let seen = change(&plan, &forks).unwrap();
    // A fifth of each slice gets warm again.
    plan.benchmarks[0].profile = Some(PLAIN.with_cold_share(Some(0.2)));
    plan.benchmarks[0].configuration.slice_ns = 200_000;
    let whole = change(&plan, &forks).unwrap();
    let more = ((0.05f64.exp() - 0.2) / 0.8).ln() - 0.05;
    assert!((whole.ratio.ln() - seen.ratio.ln() - more / 2.0).abs() < 1e-12, "{} {}", whole.ratio, seen.ratio);
    assert!((whole.ratio_high.ln() - seen.ratio_high.ln() - more / 2.0).abs() < 1e-12);
    assert!((whole.ratio_low - seen.ratio_low).abs() < 1e-12);
    assert!((whole.minimal_detectable_change / seen.minimal_detectable_change - 1.0 / 0.9).abs() < 1e-9);
    assert!((whole.p_value - seen.p_value).abs() < 1e-15);
}

#[test]
fn one_that_did_not_come_to_a_look_is_left_out() {
    let design = build_pairs(32, 0);
    let plan = plan_of_many(4, design);
    let ten = [0.01, 0.0, 0.02, 0.01, 0.0, 0.02, 0.01, 0.0, 0.02, 0.01];
    let forks = [row(&design, &ten), row(&design, &ten[..3]), row(&design, &ten), row(&design, &ten[..2])];
    let ours = change(&plan, &forks).unwrap();
    // The last one has no estimate, as if it had not been measured.
    assert_eq!((ours.units, ours.benchmarks, ours.left_out), (10, 2, 1));
    assert_eq!(change(&plan, &[row(&design, &ten), row(&design, &ten[..3])]), None);
    assert_eq!(change(&plan, &[]), None);
    assert_eq!(change(&Plan { spread: true, ..plan }, &[row(&design, &ten), row(&design, &ten)]), None);
}

#[test]
fn the_larger_share_of_gaps_is_left_out() {
    let design = build_pairs(32, 0);
    let plan = plan_of_many(5, design);
    let full = row(&design, &[0.01, 0.02, 0.03, 0.01, 0.02, 0.03, 0.01, 0.02]);
    let without = |gaps: &[u32]| full.iter().filter(|f| !gaps.contains(&f.suite_run)).copied().collect::<Vec<_>>();
    // A unit that most lack goes, and so does a benchmark that lacks many.
    let forks = [full.clone(), without(&[4]), without(&[4]), without(&[4]), without(&[1, 2, 5])];
    let ours = change(&plan, &forks).unwrap();
    assert_eq!((ours.units, ours.benchmarks, ours.left_out), (7, 4, 1));
}

#[test]
fn forks_of_a_unit_count_once_and_confirming_rounds_not_at_all() {
    let design = build_pairs(32, 2);
    let plan = plan_of_many(2, design);
    // Suite runs 0 and 1 are unit 0, 2 and 3 unit 1, and then one each.
    let log_ratios = [0.01, 0.03, 0.0, 0.02, 0.03, 0.01];
    let mut forks = vec![row(&design, &log_ratios), row(&design, &log_ratios)];
    let before = change(&plan, &forks).unwrap();
    assert_eq!(before.units, 4);
    assert!((before.ratio.ln() - (0.02 + 0.01 + 0.03 + 0.01) / 4.0).abs() < 1e-12);
    forks[0].extend((0..8).map(|run| placed(&design, (1, run), 9.0)));
    assert_eq!(change(&plan, &forks).unwrap(), before);
}

/// Share of runs of which the interval misses the true mean, and the median of units, where benchmarks end when they are settled.
fn missed(seed: u64, true_changes: &[f64], shared: f64) -> (f64, u32) {
    let (plan, decision) = (plan_of_many(true_changes.len(), build_pairs(32, 0)), Decision::default());
    let mut noise = Noise::new(seed);
    let truth = true_changes.iter().sum::<f64>() / true_changes.len() as f64;
    let (mut missed, mut units) = (0, Vec::new());
    let mut monitor = Monitor::new(&plan, &decision);
    for _ in 0..RUNS {
        let of_units: Vec<f64> = (0..40).map(|_| noise.normal()).collect();
        let course = Course::run(&plan, &mut monitor, |i, run| {
            let own = noise.normal() * (1.0 - shared).sqrt();
            Some(true_changes[i] + 0.02 * (own + of_units[run as usize] * shared.sqrt()))
        });
        let ours = change(&plan, &course.forks).unwrap();
        missed += u32::from(!(ours.ratio_low..=ours.ratio_high).contains(&truth.exp()));
        units.push(ours.units);
    }
    units.sort_unstable();
    (f64::from(missed) / f64::from(RUNS), units[units.len() / 2])
}

const RUNS: u32 = 300;

#[test]
fn the_interval_holds_the_true_mean_though_benchmarks_end_early() {
    // One percent is nominal; three standard errors of the simulation are 1.7 points.
    for (seed, changes, shared) in [
        (1, vec![0.0; 4], 0.0),
        (2, vec![0.06; 4], 0.0),
        (3, vec![-0.06, 0.0, 0.0, 0.0, 0.01, 0.06, 0.1, 0.2], 0.2),
        (4, vec![0.0; 4], 0.5),
    ] {
        let (missed, units) = missed(seed, &changes, shared);
        assert!(missed <= 0.027, "{changes:?}, {shared}: {missed}");
        assert!((4..=20).contains(&units), "{units}");
    }
}
