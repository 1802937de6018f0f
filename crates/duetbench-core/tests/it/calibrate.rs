//! Calibrations from fork pairs whose sources are known.

use duetbench_core::BenchmarkId;
use duetbench_core::analysis::Basis;
use duetbench_core::calibrate::{BLIND_FROM, Blind, Calibration, Costs, Observed, Rate, Sight, Sources};
use duetbench_core::plan::{Design, Mode};
use duetbench_core::report::ForkPair;
use duetbench_core::spec::Decision;
use duetbench_core::stats::{
    Level, Sequential, Spend, binomial_interval, critical_t, detectable_factor, level_kept_by_t, trimmed_t,
    variance_limit,
};

use crate::reference::close;
use crate::support::{Noise, build_pairs, fixed_design, placed};

/// A fork pair takes a second, and nothing else takes any time.
pub(crate) const A_SECOND_EACH: Costs = Costs { build_s: 0.0, fork_s: 1.0, slice_s: 0.0 };

/// Spread of the fork pairs of a simulated benchmark.
#[derive(Clone, Copy)]
pub(crate) struct World {
    pub(crate) layout: f64,
    pub(crate) fork: f64,
    pub(crate) slice: f64,
    pub(crate) slices: u32,
    /// Draws of what units and fork pairs differ by, of standard deviation 1 or so.
    pub(crate) draw: fn(&mut Noise) -> f64,
}

pub(crate) const WORLD: World =
    World { layout: 0.02, fork: 0.01, slice: 0.08, slices: 64, draw: |noise| noise.normal() };

impl World {
    /// Fork pairs of a comparison of equal code.
    pub(crate) fn forks(&self, design: &Design, noise: &mut Noise) -> Vec<ForkPair> {
        let mut forks = Vec::new();
        for suite_run in 0..design.forks() {
            let is_new = suite_run == 0 || design.unit(suite_run) != design.unit(suite_run - 1);
            let of_unit = match forks.last() {
                Some((_, of_unit)) if !is_new => *of_unit,
                _ if design.by_build => self.layout * (self.draw)(noise),
                _ => 0.0,
            };
            let slices = (std::f64::consts::FRAC_PI_2 / f64::from(self.slices)).sqrt() * self.slice * noise.normal();
            let log_ratio = of_unit + self.fork * (self.draw)(noise) + slices;
            let fork = placed(design, (0, suite_run), log_ratio);
            forks.push((ForkPair { slice_spread: self.slice, slices: self.slices, ..fork }, of_unit));
        }
        forks.into_iter().map(|(fork, _)| fork).collect()
    }
}

pub(crate) fn observed<'a>(name: &str, forks: &'a [ForkPair], design: Design) -> Observed<'a> {
    Observed {
        id: BenchmarkId { package: "p".into(), name: name.into() },
        mode: Mode::InterleavedOneCore,
        basis: Basis::TypicalSlice,
        forks,
        design,
        costs: A_SECOND_EACH,
    }
}

/// Fork pairs with these log ratios, where the design puts them, with this spread of so many slices.
fn forks(design: &Design, log_ratios: &[f64], (slice_spread, slices): (f64, u32)) -> Vec<ForkPair> {
    let at = |(run, d): (u32, &f64)| ForkPair { slice_spread, slices, ..placed(design, (0, run), *d) };
    (0..).zip(log_ratios).map(at).collect()
}

fn sources(design: Design, log_ratios: &[f64], slices: (f64, u32)) -> Option<Sources> {
    Sources::of(&observed("A", &forks(&design, log_ratios, slices), design))
}

#[track_caller]
fn check(ours: Option<Sources>, layout: Option<f64>, fork: f64, degrees_of_freedom: (f64, f64)) {
    let ours = ours.unwrap();
    assert_eq!(ours.layout.is_some(), layout.is_some(), "{ours:?}");
    close(ours.layout.unwrap_or(0.0), layout.unwrap_or(0.0).sqrt(), 1e-9);
    close(ours.fork, fork.sqrt(), 1e-9);
    close(ours.degrees_of_freedom, degrees_of_freedom.0, 1e-12);
    close(ours.fork_degrees_of_freedom, degrees_of_freedom.1, 1e-12);
}

/// Means 0.02, 0.05, 0.08, whose variance is 0.0009; within 6 times 0.01^2 with 3 degrees of freedom.
const TABLE: [f64; 6] = [0.01, 0.03, 0.04, 0.06, 0.07, 0.09];

fn in_twos(builds: u32) -> Design {
    Design { forks_per_unit: 2, ..build_pairs(builds, 0) }
}

#[test]
fn sources_are_those_of_a_table_made_by_hand() {
    let without_slices = sources(in_twos(3), &TABLE, (0.0, 1));
    check(without_slices, Some(0.0009 - 0.0002 / 2.0), 0.0002, (2.0, 3.0));
    let with_slices = sources(in_twos(3), &TABLE, (0.02, 8));
    let explained = std::f64::consts::FRAC_PI_2 * 0.0004 / 8.0;
    check(with_slices, Some(0.0008), 0.0002 - explained, (2.0, 3.0));
    let shares = with_slices.unwrap().shares();
    close(shares.layout, 0.8, 1e-9);
    close(shares.slice, explained / 0.001, 1e-9);
    close(shares.layout + shares.fork + shares.slice, 1.0, 1e-12);
}

#[test]
fn units_of_unequal_size_count_alike() {
    // Means 0.02, 0.03, 0.05, 0.08: variance 0.0021 / 3. Within: 4 times 0.01^2 with 2 degrees of freedom. 1 / n is 0.75.
    let ours = sources(build_pairs(4, 2), &[0.01, 0.03, 0.02, 0.04, 0.05, 0.08], (0.0, 1));
    check(ours, Some(0.0007 - 0.75 * 0.0002), 0.0002, (3.0, 2.0));
    close(ours.unwrap().forks_per_unit, 4.0 / 3.0, 1e-12);
}

#[test]
fn the_mean_of_all_slices_varies_less_than_their_median() {
    let design = in_twos(3);
    let forks = forks(&design, &TABLE, (0.02, 8));
    let ours = Sources::of(&Observed { basis: Basis::AllSlices, ..observed("A", &forks, design) });
    check(ours, Some(0.0008), 0.0002 - 0.0004 / 8.0, (2.0, 3.0));
}

#[test]
fn few_units_vary_as_much_as_all_do() {
    // With ten units the first and the last are trimmed, so how far out the last lies shows in the tails alone.
    let of = |last: f64| {
        let numbers = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, last];
        (sources(fixed_design(10), &numbers, (0.0, 1)).unwrap(), trimmed_t(&numbers).unwrap(), numbers)
    };
    let ((near, t, numbers), (far, ..)) = (of(0.09), of(9.0));
    close(near.fork, t.spread(), 1e-12);
    assert_eq!((near.fork, near.tails, near.degrees_of_freedom), (far.fork, 1.0, 7.0));
    let mean = (0.36 + 9.0) / 10.0;
    let squares: f64 = numbers[..9].iter().chain(&[9.0]).map(|d| (d - mean) * (d - mean)).sum();
    close(far.tails, squares / 9.0 / far.fork.powi(2), 1e-9);
    let seen = |last: f64, units: f64| {
        let forks = forks(&fixed_design(10), &of(last).2, (0.0, 1));
        only_sight(forks, fixed_design(10), units).unwrap().minimal_detectable_change
    };
    close(seen(9.0, 10.0), seen(0.09, 10.0), 1e-12);
    close(seen(9.0, 5.0).ln_1p(), far.tails.sqrt() * seen(0.09, 5.0).ln_1p(), 1e-9);
}

#[test]
fn a_single_build_pair_has_no_layout() {
    let numbers = [0.01, 0.03, 0.02, 0.04];
    check(sources(fixed_design(4), &numbers, (0.0, 1)), None, 0.0005 / 3.0, (3.0, 0.0));
    // However many were planned.
    let one_of_many = Design { forks_per_unit: 4, ..build_pairs(5, 0) };
    check(sources(one_of_many, &numbers, (0.0, 1)), None, 0.0005 / 3.0, (3.0, 0.0));
}

#[test]
fn what_cannot_be_told_apart_is_layout() {
    // No number of fork pairs makes it smaller, so nothing is promised that may not be.
    let ours = sources(build_pairs(3, 0), &[0.02, 0.05, 0.08], (0.02, 8));
    check(ours, Some(0.0009 - std::f64::consts::FRAC_PI_2 * 0.0004 / 8.0), 0.0, (2.0, 0.0));
}

#[test]
fn where_places_are_exchanged_two_fork_pairs_count_as_one() {
    // A single exchange in each unit tells nothing of layouts, which are matched there: all is the fork pairs'.
    let once = Design { places: 2, ..in_twos(3) };
    check(sources(once, &TABLE, (0.0, 1)), Some(0.0), 2.0 * 0.0009, (2.0, 0.0));
    // Two exchanges in each unit have the means of the table; 0.2 to either side cancels.
    let twice = Design { forks_per_unit: 4, ..once };
    let numbers: Vec<f64> = TABLE.iter().flat_map(|mean| [mean + 0.2, mean - 0.2]).collect();
    check(sources(twice, &numbers, (0.0, 1)), Some(0.0009 - 0.0004 / 4.0), 2.0 * 0.0002, (2.0, 3.0));
}

#[test]
fn sources_that_explain_more_than_there_is_leave_nothing() {
    let agree = sources(in_twos(3), &[0.01, 0.03, 0.03, 0.01, 0.01, 0.03], (0.0, 1));
    check(agree, Some(0.0), 0.0002, (2.0, 3.0));
    check(sources(in_twos(3), &TABLE, (1.0, 2)), Some(0.0008), 0.0, (2.0, 3.0));
}

#[test]
fn too_few_units_or_numbers_that_are_none_have_no_sources() {
    assert_eq!(sources(build_pairs(2, 0), &[0.01, 0.03], (0.0, 1)), None);
    assert_eq!(sources(fixed_design(3), &[0.01, 0.03, f64::NAN], (0.0, 1)), None);
    assert_eq!(sources(fixed_design(3), &[], (0.0, 1)), None);
}

#[test]
fn later_rounds_are_no_part_of_it() {
    let design = in_twos(3);
    let mut forks = forks(&design, &TABLE, (0.0, 1));
    forks.extend((0..4).map(|run| placed(&design, (1, run), 5.0)));
    assert_eq!(Sources::of(&observed("A", &forks, design)), sources(design, &TABLE, (0.0, 1)));
}

#[test]
fn known_sources_come_out_of_many_fork_pairs() {
    let (design, mut noise) = (in_twos(2000), Noise::new(1));
    let forks = WORLD.forks(&design, &mut noise);
    let ours = Sources::of(&observed("A", &forks, design)).unwrap();
    // A tenth at each end trimmed, a mean of normal values varies 1.06 times as much as untrimmed, and so is what it is taken
    // for. Each standard deviation is known to 1 or 2 %.
    let trimmed = 1.06f64.sqrt();
    close(ours.layout.unwrap(), trimmed * WORLD.layout, 0.06);
    close(ours.fork.hypot(0.0125), trimmed * WORLD.fork.hypot(0.0125), 0.06);
    assert_eq!((ours.slice, ours.slices), (WORLD.slice, WORLD.slices));
}

/// The calibration of benchmarks named `0`, `1`, … of these fork pairs.
fn calibration(all: &[Vec<ForkPair>], design: Design, budgets_s: &[f64]) -> Calibration {
    let observed: Vec<Observed<'_>> =
        all.iter().enumerate().map(|(i, forks)| observed(&i.to_string(), forks, design)).collect();
    Calibration::of(&observed, budgets_s, &Decision::default())
}

fn only_sight(forks: Vec<ForkPair>, design: Design, budget_s: f64) -> Option<Sight> {
    calibration(&[forks], design, &[budget_s]).benchmarks[0].sights[0]
}

#[test]
fn a_sight_is_what_the_formula_says() {
    let design = fixed_design(12);
    let numbers: Vec<f64> = (0..12).map(|i| 0.01 * f64::from(i * i % 7)).collect();
    let sight = only_sight(forks(&design, &numbers, (0.0, 1)), design, 12.5).unwrap();
    assert_eq!((sight.builds, sight.forks_per_build), (1, 12));
    let t = trimmed_t(&numbers).unwrap();
    let level = level_kept_by_t(0.01);
    let alpha = Sequential::new(12).unwrap().nominal_p(12, level, Spend::AsPlanned).unwrap();
    let detectable = detectable_factor(9.0, Level { alpha, power: 0.8 }).unwrap();
    let limit = variance_limit(9.0, 0.8).unwrap().sqrt();
    close(sight.minimal_detectable_change.ln_1p(), detectable * limit * t.standard_error, 1e-9);
    close(sight.floor.ln_1p(), critical_t(alpha, 9.0).unwrap() * t.standard_error, 1e-9);
}

#[test]
fn a_time_that_pays_for_two_units_shows_nothing() {
    let design = fixed_design(12);
    let noise = || WORLD.forks(&design, &mut Noise::new(2));
    assert_eq!(only_sight(noise(), design, 2.9), None);
    assert_eq!(only_sight(noise(), design, 3.0).unwrap().forks_per_build, 3);
    // And much time is not spent on more fork pairs than a run would have.
    assert_eq!(only_sight(noise(), design, 1e9).unwrap().forks_per_build, 200);
}

#[test]
fn where_builds_are_dear_each_has_more_fork_pairs() {
    let design = in_twos(12);
    let forks = World { layout: 0.005, ..WORLD }.forks(&design, &mut Noise::new(3));
    let with = |costs: Costs| {
        let observed = Observed { costs, ..observed("A", &forks, design) };
        Calibration::of(&[observed], &[60.0], &Decision::default()).benchmarks[0].sights[0].unwrap()
    };
    let (cheap, dear) = (with(A_SECOND_EACH), with(Costs { build_s: 4.0, ..A_SECOND_EACH }));
    assert_eq!((cheap.builds, cheap.forks_per_build), (60, 1));
    assert!(dear.forks_per_build > 1 && f64::from(dear.builds) * f64::from(4 + dear.forks_per_build) <= 60.0);
    assert!(dear.minimal_detectable_change > cheap.minimal_detectable_change);
}

/// Calibrations of benchmarks that differ in everything.
fn many() -> (Vec<Vec<ForkPair>>, Design) {
    let (design, mut noise) = (build_pairs(16, 6), Noise::new(4));
    let mut size = |scale: f64| scale * noise.normal().abs();
    let worlds: Vec<World> =
        (0..12).map(|_| World { layout: size(0.03), fork: size(0.02), slice: size(0.2), ..WORLD }).collect();
    (worlds.iter().map(|world| world.forks(&design, &mut noise)).collect(), design)
}

#[test]
fn more_time_never_shows_less() {
    let (all, design) = many();
    let budgets: Vec<f64> = (0..40).map(|i| 2.0 * 1.13f64.powi(i)).collect();
    let calibration = calibration(&all, design, &budgets);
    for benchmark in &calibration.benchmarks {
        let seen: Vec<f64> = benchmark
            .sights
            .iter()
            .map(|sight| sight.map_or(f64::INFINITY, |sight| sight.minimal_detectable_change))
            .collect();
        assert!(seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
        assert!(seen[0] == f64::INFINITY && seen[39] < 0.5 * seen[10]);
    }
}

#[test]
fn twice_the_spread_is_twice_the_log_ratio_that_is_seen() {
    let (all, design) = many();
    let twice = |f: &ForkPair| ForkPair { log_ratio: 2.0 * f.log_ratio, slice_spread: 2.0 * f.slice_spread, ..*f };
    let doubled: Vec<Vec<ForkPair>> = all.iter().map(|forks| forks.iter().map(twice).collect()).collect();
    let (once, doubled) = (calibration(&all, design, &[8.0, 50.0]), calibration(&doubled, design, &[8.0, 50.0]));
    for (a, b) in once.benchmarks.iter().zip(&doubled.benchmarks) {
        close(b.sources.unwrap().fork, 2.0 * a.sources.unwrap().fork, 1e-9);
        for (a, b) in a.sights.iter().flatten().zip(b.sights.iter().flatten()) {
            assert_eq!((a.builds, a.forks_per_build), (b.builds, b.forks_per_build));
            close(b.minimal_detectable_change.ln_1p(), 2.0 * a.minimal_detectable_change.ln_1p(), 1e-9);
            close(b.floor.ln_1p(), 2.0 * a.floor.ln_1p(), 1e-9);
        }
    }
}

fn blind(world: World, design: Design, budget_s: f64) -> Option<Blind> {
    let forks = world.forks(&design, &mut Noise::new(5));
    calibration(&[forks], design, &[1.0, budget_s]).benchmarks[0].blind
}

#[test]
fn who_sees_nothing_useful_is_told_why() {
    let design = in_twos(32);
    assert_eq!(blind(WORLD, design, 60.0), None);
    assert_eq!(blind(World { layout: 0.9, ..WORLD }, design, 60.0), Some(Blind::Layout));
    assert_eq!(blind(World { fork: 0.9, ..WORLD }, design, 60.0), Some(Blind::Forks));
    assert_eq!(blind(World { slice: 5.0, ..WORLD }, design, 60.0), Some(Blind::Interference));
    // It sees 3 % with a minute, and with four fork pairs much less; with two nothing at all.
    assert_eq!(blind(WORLD, design, 4.0), Some(Blind::TooLong));
    assert_eq!(blind(WORLD, design, 2.0), Some(Blind::TooLong));
    assert_eq!(blind(WORLD, build_pairs(2, 0), 60.0), Some(Blind::TooFewForks));
    // Nobody is blind who was not asked to see.
    let forks = WORLD.forks(&design, &mut Noise::new(5));
    assert_eq!(calibration(&[forks], design, &[]).benchmarks[0].blind, None);
}

#[test]
fn the_suite_is_told_by_medians_and_ends() {
    let (design, mut noise) = (in_twos(32), Noise::new(6));
    let scales = [0.5, 1.0, 2.0, 40.0];
    let of = |scale: f64, noise: &mut Noise| {
        World { layout: scale * 0.02, fork: scale * 0.01, slice: scale * 0.08, ..WORLD }.forks(&design, noise)
    };
    let mut all: Vec<Vec<ForkPair>> = scales.iter().map(|scale| of(*scale, &mut noise)).collect();
    all.push(Vec::new());
    let calibration = calibration(&all, design, &[50.0, 2.0, 10.0]);
    assert_eq!(calibration.budgets_s, [2.0, 10.0, 50.0]);
    let [none, _, suite] = calibration.suite_sights()[..] else { panic!("three budgets") };
    assert_eq!(none, None);
    let suite = suite.unwrap();
    let seen: Vec<f64> =
        calibration.benchmarks.iter().filter_map(|b| Some(b.sights[2]?.minimal_detectable_change)).collect();
    assert_eq!((suite.benchmarks, suite.least, suite.most), (4, seen[0], seen[3]));
    assert_eq!(suite.median, seen[1].midpoint(seen[2]));
    let blind: Vec<(&str, Blind)> = calibration.blind().map(|(id, why)| (id.name.as_str(), why)).collect();
    assert_eq!(blind, [("3", Blind::Layout), ("4", Blind::TooFewForks)]);
    assert!(calibration.benchmarks[2].sights[2].unwrap().minimal_detectable_change < BLIND_FROM);
    let id = |name: &str| BenchmarkId { package: "p".into(), name: name.into() };
    assert_eq!(calibration.sight(&id("1"), 30.0), calibration.benchmarks[1].sights[2]);
    assert_eq!(calibration.sight(&id("1"), 20.0), calibration.benchmarks[1].sights[1]);
    assert_eq!((calibration.sight(&id("4"), 30.0), calibration.sight(&id("B"), 30.0)), (None, None));
    let shares = calibration.shares().unwrap();
    assert!(shares.layout > 0.5 && shares.fork < 0.4 && shares.slice < 0.4, "{shares:?}");
}

#[test]
fn a_calibration_survives_being_written_down() {
    let (all, design) = many();
    let ours = calibration(&all, design, &[2.0, 60.0]);
    let text = serde_json::to_string(&ours).unwrap();
    assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), ours);
}

#[test]
fn numbers_without_any_spread_see_everything() {
    let design = fixed_design(20);
    let ours = calibration(&[forks(&design, &[0.0; 20], (0.0, 1))], design, &[60.0]);
    let sight = ours.benchmarks[0].sights[0].unwrap();
    assert_eq!((sight.minimal_detectable_change, sight.floor), (0.0, 0.0));
    assert_eq!((ours.alarms.called_changed.times, ours.alarms.called_changed.of), (0, 4));
}

/// `binomtest(times, of).proportion_ci(1 - alpha, "exact")` of SciPy 1.17.
#[test]
fn intervals_of_rates_are_scipys() {
    for (times, of, alpha, low, high) in [
        (7, 50, 0.05, 0.058_191_700_339_973_44, 0.267_396_002_497_008_46),
        (0, 96, 0.01, 0.0, 0.053_695_429_770_272_01),
        (1, 96, 0.01, 5.221_261_413_405_626e-5, 0.074_856_215_246_425_8),
        (50, 100, 0.01, 0.368_861_437_358_905_25, 0.631_138_562_641_094_8),
        (96, 96, 0.01, 0.946_304_570_229_728, 1.0),
        (199, 240, 0.01, 0.758_104_783_933_142_6, 0.886_734_677_481_015_3),
        (3, 1000, 0.01, 3.381_445_290_663_692e-4, 0.010_933_777_420_405_26),
        (1999, 2500, 0.01, 0.778_212_494_584_545_3, 0.819_833_268_091_842_8),
    ] {
        let ours = binomial_interval(times, of, alpha).unwrap();
        close(ours.0, low, 1e-8);
        close(ours.1, high, 1e-8);
    }
    assert_eq!(binomial_interval(0, 0, 0.01), Ok((0.0, 1.0)));
    assert!(binomial_interval(3, 2, 0.01).is_err() && binomial_interval(1, 2, 1.0).is_err());
    let rate = Rate::of(1, 96);
    assert_eq!((rate.low, rate.high), binomial_interval(1, 96, 0.01).unwrap());
}

/// `df / chi2.ppf(1 - confidence, df)` of SciPy 1.17.
#[test]
fn limits_of_variances_are_scipys() {
    for (df, confidence, factor) in [
        (1.0, 0.8, 15.580_023_717_212_127),
        (4.0, 0.8, 2.426_041_196_952_464_7),
        (7.2, 0.8, 1.811_232_959_480_19),
        (31.0, 0.8, 1.278_084_019_484_809_3),
        (25.6, 0.2, 0.816_661_581_327_551_2),
        (1000.0, 0.8, 1.039_306_240_670_008_9),
    ] {
        close(variance_limit(df, confidence).unwrap(), factor, 1e-9);
    }
    assert!(variance_limit(0.0, 0.8).is_err() && variance_limit(4.0, 1.0).is_err());
}

#[test]
fn the_level_of_the_last_look_is_that_of_the_whole_test() {
    for horizon in [3, 4, 10, 20, 31, 200] {
        let whole = Sequential::new(horizon).unwrap().nominal_p(horizon, 0.01, Spend::AsPlanned).unwrap();
        assert_eq!(Sequential::last_nominal_p(horizon, 0.01), Ok(whole));
    }
    assert!((Sequential::last_nominal_p(10, 0.01).unwrap() - 0.00519).abs() < 5e-6);
    assert!(Sequential::last_nominal_p(0, 0.01).is_err());
}
