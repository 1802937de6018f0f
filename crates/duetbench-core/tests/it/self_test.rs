//! A run looks at itself.

use duetbench_core::analysis::{Monitor, SelfTest, SelfTestKind, SelfTested, self_tests};
use duetbench_core::plan::Plan;
use duetbench_core::report::{BenchmarkReport, ForkPair};
use duetbench_core::spec::Decision;
use duetbench_core::stats;

use crate::reference::close;
use crate::suite::{plan_of_many, reports};
use crate::support::{Course, Noise, build_pairs, fixed_design, placed};

/// A maker of runs of equal versions.
#[derive(Clone, Copy)]
struct World {
    benchmarks: usize,
    /// Correlation of two benchmarks in one unit.
    shared: f64,
    /// Correlation of a unit with the one before.
    successive: f64,
    /// Ends benchmarks as soon as they are settled.
    sequential: bool,
    /// False change of all benchmarks, in standard deviations.
    bias: f64,
}

const CALM: World = World { benchmarks: 12, shared: 0.0, successive: 0.0, sequential: false, bias: 0.0 };
const UNITS: u32 = 32;

struct Series {
    of_units: Vec<f64>,
    own: Vec<Vec<f64>>,
}

impl World {
    /// Everything that any benchmark may come to.
    fn series(self, noise: &mut Noise) -> Series {
        let mut follow = || {
            let mut series: Vec<f64> = Vec::new();
            for _ in 0..UNITS + 8 {
                let fresh = noise.normal();
                let next = series.last().map_or(fresh, |last| {
                    self.successive * last + (1.0 - self.successive * self.successive).sqrt() * fresh
                });
                series.push(next);
            }
            series
        };
        let of_units = follow();
        Series { of_units, own: (0..self.benchmarks).map(|_| follow()).collect() }
    }

    /// The tests of one run of two equal versions.
    fn run(self, noise: &mut Noise) -> Vec<SelfTest> {
        let Series { of_units, own } = self.series(noise);
        let design = if self.sequential { build_pairs(UNITS, 0) } else { fixed_design(UNITS) };
        let (plan, decision) = (plan_of_many(self.benchmarks, design), Decision::default());
        let draw = |i: usize, unit: u32| {
            let unit = unit as usize;
            0.02 * (self.bias + own[i][unit] * (1.0 - self.shared).sqrt() + of_units[unit] * self.shared.sqrt())
        };
        let forks: Vec<Vec<ForkPair>> = if self.sequential {
            Course::run(&plan, &mut Monitor::new(&plan, &decision), |i, unit| Some(draw(i, unit))).forks
        } else {
            let all = |i: usize| (0..UNITS).map(|unit| placed(&design, (0, unit), draw(i, unit))).collect();
            (0..self.benchmarks).map(all).collect()
        };
        tests(&plan, &judged(&plan, &forks))
    }

    /// Shares of runs in which each of the first three tests flags, in their order, and of benchmarks of which skewness does.
    fn flagged(self, seed: u64, runs: u32) -> [f64; 4] {
        let mut noise = Noise::new(seed);
        let (mut flagged, mut asked) = ([0.0; 4], [0.0; 4]);
        for test in (0..runs).flat_map(|_| self.run(&mut noise)) {
            let place = match test.kind {
                SelfTestKind::SignBalance => 0,
                SelfTestKind::SmallPValues => 1,
                SelfTestKind::SuccessiveUnits => 2,
                _ => 3,
            };
            asked[place] += 1.0;
            flagged[place] += f64::from(u8::from(test.is_flagged()));
        }
        std::array::from_fn(|i| flagged[i] / f64::max(asked[i], 1.0))
    }
}

/// Reports with the p-value of the t test over all units.
fn judged(plan: &Plan, forks: &[Vec<ForkPair>]) -> Vec<BenchmarkReport> {
    let mut reports = reports(plan, forks);
    for (report, forks) in reports.iter_mut().zip(forks) {
        let log_ratios: Vec<f64> = forks.iter().map(|fork| fork.log_ratio).collect();
        let test = stats::trimmed_t(&log_ratios).unwrap();
        report.estimate.iter_mut().for_each(|estimate| estimate.p_value = test.p_value().unwrap());
    }
    reports
}

fn tests(plan: &Plan, reports: &[BenchmarkReport]) -> Vec<SelfTest> {
    self_tests(&SelfTested { plan, reports, same_version: true, cold_shares: &[] })
}

#[test]
fn a_run_in_order_is_flagged_in_one_percent() {
    // 600 runs: one percent with four standard errors of 0.41 points; of skewness there are twelve times as many. Signs are whole numbers, and
    // where hardly one benchmark is independent, so is what they count as: these may stay far below.
    for (seed, world) in [(1, CALM), (2, World { shared: 0.3, ..CALM }), (3, World { shared: 0.9, ..CALM })] {
        let [signs, small, successive, skewed] = world.flagged(seed, 600);
        assert!(signs <= 0.0264, "{seed}: {signs}");
        assert!(small <= 0.0264, "{seed}: {small}");
        assert!((0.0017..=0.0264).contains(&successive), "{seed}: {successive}");
        assert!((0.005..=0.016).contains(&skewed), "{seed}: {skewed}");
    }
}

#[test]
fn a_run_in_order_of_which_benchmarks_end_early_is_flagged_no_more_often() {
    for (seed, shared) in [(5, 0.0), (6, 0.5)] {
        let world = World { benchmarks: 4, shared, sequential: true, ..CALM };
        let [signs, _, successive, skewed] = world.flagged(seed, 200);
        assert!(signs <= 0.035 && successive <= 0.035 && skewed <= 0.035, "{signs} {successive} {skewed}");
    }
}

#[test]
fn what_is_wrong_is_seen() {
    let biased = World { bias: 0.4, ..CALM }.flagged(7, 100);
    assert!(biased[0] > 0.8 && biased[1] > 0.8, "{biased:?}");
    let following = World { successive: 0.2, ..CALM }.flagged(8, 100);
    assert!(following[2] > 0.8, "{following:?}");
    // Counted benchmark by benchmark, what units share would be counted twelve times: the limits must allow for it.
    let shared = World { shared: 0.9, ..CALM };
    let limit = |world: World| {
        let tests = world.run(&mut Noise::new(9));
        tests.iter().find(|test| test.kind == SelfTestKind::SuccessiveUnits).unwrap().limit
    };
    assert!(limit(shared) > 2.0 * limit(CALM));
}

fn plan_and_forks(log_ratios: &[Vec<f64>]) -> (Plan, Vec<Vec<ForkPair>>) {
    let design = fixed_design(100);
    let row = |d: &Vec<f64>| (0u32..).zip(d).map(|(run, d)| placed(&design, (0, run), *d)).collect();
    (plan_of_many(log_ratios.len(), design), log_ratios.iter().map(row).collect())
}

fn one(tests: &[SelfTest], is: impl Fn(&SelfTestKind) -> bool) -> SelfTest {
    *tests.iter().find(|test| is(&test.kind)).unwrap()
}

#[test]
fn signs_are_counted_over_units_and_not_over_benchmarks() {
    let mostly = |odd: usize| (0..12).map(|i| if i < odd { -0.01 } else { 0.02 }).collect::<Vec<f64>>();
    // Two benchmarks that agree, and one that leans the other way in all units.
    let with = |odd: usize| {
        let (plan, forks) = plan_and_forks(&[mostly(odd), mostly(odd), vec![-0.5; 12]]);
        one(&tests(&plan, &reports(&plan, &forks)), |kind| *kind == SelfTestKind::SignBalance)
    };
    // Twelve units: one odd has p = 26 / 4096, two have 158 / 4096.
    let (eleven, ten) = (with(1), with(2));
    assert_eq!((eleven.statistic, eleven.limit, eleven.of), (11.0, 10.0, 12));
    assert!(eleven.is_flagged() && ten.statistic == 10.0 && !ten.is_flagged());
    let (plan, forks) = plan_and_forks(&[vec![0.1; 7], vec![0.2; 7]]);
    let seven = one(&tests(&plan, &reports(&plan, &forks)), |kind| *kind == SelfTestKind::SignBalance);
    assert!(!seven.is_flagged() && seven.of == 7);
}

#[test]
fn few_slow_layouts_are_told_with_both_means() {
    let mut lopsided: Vec<f64> = (0..20).map(|i| 0.002 * f64::from(i % 5 - 2)).collect();
    let even = lopsided.clone();
    (lopsided[3], lopsided[11]) = (0.3, 0.28);
    let (plan, forks) = plan_and_forks(&[even, lopsided.clone(), vec![0.0, 0.1, 0.0, 0.1, 0.0, 0.1, 0.0, 0.1, 0.9]]);
    let tests = tests(&plan, &reports(&plan, &forks));
    let skewed: Vec<&SelfTest> =
        tests.iter().filter(|test| matches!(test.kind, SelfTestKind::Skewness { .. })).collect();
    // The third has too few units.
    assert_eq!(skewed.iter().map(|test| test.is_flagged()).collect::<Vec<_>>(), [false, true]);
    let SelfTestKind::Skewness { benchmark, ratio_mean, ratio_typical } = skewed[1].kind else { panic!() };
    assert_eq!((benchmark, skewed[1].of), (1, 20));
    close(ratio_mean, (lopsided.iter().sum::<f64>() / 20.0).exp(), 1e-12);
    assert!(ratio_mean > 1.025 && ratio_typical < 1.002, "{ratio_mean} {ratio_typical}");
}

#[test]
fn cold_shares_are_held_against_their_rule() {
    let (plan, forks) = plan_and_forks(&[vec![0.0, 0.01, 0.02, 0.0], vec![0.01, 0.0, 0.0, 0.02]]);
    let reports = reports(&plan, &forks);
    let asked =
        |cold_shares| self_tests(&SelfTested { plan: &plan, reports: &reports, same_version: false, cold_shares });
    let tests = asked(&[None, Some(0.3)]);
    // Versions that may differ say nothing by signs and p-values.
    let kinds: Vec<SelfTestKind> = tests.iter().map(|test| test.kind).collect();
    let expected = [SelfTestKind::SuccessiveUnits, SelfTestKind::ColdShare { benchmark: 1 }];
    assert_eq!(kinds, expected);
    assert!(tests[1].is_flagged());
    assert!(!asked(&[Some(0.25)]).iter().any(SelfTest::is_flagged));
    let nothing = self_tests(&SelfTested { plan: &plan, reports: &[], same_version: true, cold_shares: &[] });
    assert_eq!(nothing, []);
}
