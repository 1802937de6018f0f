//! Promises of the verdicts, held against simulated experiments. Seeds are fixed; the figures are those of
//! docs/statistics, sections 3 and 9.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Measured, analyse, judge};
use duetbench_core::plan::Mode;
use duetbench_core::spec::Decision;
use duetbench_core::stats::{Level, Sequential, Spend, TrimmedT, detectable_factor, trimmed_t};
use duetbench_core::verdict::Extent;

use crate::noise_support::assert_share;
use crate::reference::{answers, numbers};
use crate::support::{Noise, evidence, one_slice_forks, plan, slices};

const DRAWS: u32 = 20_000;

/// Draws of the log ratio of one fork.
type Draw = fn(&mut Noise) -> f64;

/// Forks differ by 3 %, slices within a fork by 5 %; 20 slices make one fork's number.
const GAUSSIAN: Draw = |noise| noise.normal() * (0.03f64.powi(2) + 0.05f64.powi(2) / 20.0).sqrt();

/// The same with forks of which some lie far out.
const LONG_TAILS: Draw = |noise| 0.03 * noise.t3() + noise.normal() * 0.05 / 20f64.sqrt();

/// The test of `forks` draws, over and over.
fn tests(draws: u32, forks: u32, draw: Draw) -> impl Iterator<Item = TrimmedT> {
    let mut noise = Noise::new(u64::from(forks));
    (0..draws).map(move |_| {
        let log_ratios: Vec<f64> = (0..forks).map(|_| draw(&mut noise)).collect();
        trimmed_t(&log_ratios).expect("two finite values")
    })
}

/// Share of the draws of which `holds` is true.
fn share<T>(draws: impl Iterator<Item = T>, holds: impl Fn(T) -> bool) -> f64 {
    let (mut all, mut true_ones) = (0.0, 0.0);
    for draw in draws {
        all += 1.0;
        true_ones += f64::from(u8::from(holds(draw)));
    }
    true_ones / all
}

#[test]
fn equal_versions_are_called_different_in_one_percent_gaussian() {
    // The t is exact; the trimmed t, from ten forks on, is a little too quick.
    for (forks, level) in [(3, 0.01), (5, 0.01), (9, 0.01), (10, 0.012), (12, 0.0115), (20, 0.0112), (30, 0.0108)] {
        let false_alarms = share(tests(DRAWS, forks, GAUSSIAN), |t| t.p_value().unwrap() <= 0.01);
        assert_share(false_alarms, level, DRAWS);
    }
}

#[test]
fn equal_versions_are_called_different_in_one_percent_long_tails() {
    for (forks, level) in [(5, 0.0067), (10, 0.0088), (12, 0.0085), (20, 0.0089), (30, 0.009)] {
        let false_alarms = share(tests(DRAWS, forks, LONG_TAILS), |t| t.p_value().unwrap() <= 0.01);
        assert_share(false_alarms, level, DRAWS);
    }
}

#[test]
fn pooling_slices_would_be_badly_wrong() {
    // The same samples twice: by fork, as `analyse` does, and as if every slice were independent.
    let (draws, plan, decision) = (400, plan(&["A"], Mode::Duet), Decision::default());
    let mut noise = Noise::new(11);
    let (mut by_fork, mut pooled) = (0.0, 0.0);
    for _ in 0..draws {
        let mut samples = Vec::new();
        let mut log_ratios = Vec::new();
        for run in 0..10 {
            let of_fork = 0.03 * noise.normal();
            for i in 0..20 {
                let d = of_fork + 0.05 * noise.normal();
                log_ratios.push(d);
                samples.extend(slices((run, i), 1_000_000, (1e6 * d.exp()) as u64));
            }
        }
        let report = analyse(&plan, &[Measured { samples, failed_trials: vec![] }], &decision).remove(0);
        by_fork += f64::from(u8::from(report.estimate.unwrap().p_value <= 0.01));
        pooled += f64::from(u8::from(trimmed_t(&log_ratios).unwrap().p_value().unwrap() <= 0.01));
    }
    assert_share(by_fork / f64::from(draws), 0.012, draws);
    assert!(pooled / f64::from(draws) > 0.2, "{pooled} of {draws}");
}

#[test]
fn intervals_cover_the_true_ratio_as_often_as_they_say() {
    for alpha in [0.01, 0.1] {
        for (forks, tolerance) in [(3, 0.0), (5, 0.0), (9, 0.0), (12, 0.003), (30, 0.003)] {
            let covered = share(tests(DRAWS, forks, |n| 0.05 + GAUSSIAN(n)), |t| {
                let (low, high) = t.interval(alpha).unwrap();
                low <= 0.05 && 0.05 <= high
            });
            let error = 4.0 * (alpha * (1.0 - alpha) / f64::from(DRAWS)).sqrt() + tolerance;
            assert!((covered - (1.0 - alpha)).abs() <= error, "{forks} forks, alpha {alpha}: {covered}");
        }
    }
}

#[test]
fn a_change_of_the_minimal_detectable_size_is_found_in_four_of_five() {
    for (forks, tolerance) in [(3, 0.0), (5, 0.0), (9, 0.0), (12, 0.02), (20, 0.02), (30, 0.02)] {
        let null: Vec<TrimmedT> = tests(DRAWS / 2, forks, GAUSSIAN).collect();
        let mean_square = null.iter().map(|t| t.standard_error.powi(2)).sum::<f64>() / null.len() as f64;
        let level = Level { alpha: 0.01, power: 0.8 };
        let planted = detectable_factor(null[0].degrees_of_freedom(), level).unwrap() * mean_square.sqrt();
        let found = share(null.into_iter(), |t| TrimmedT { mean: t.mean + planted, ..t }.p_value().unwrap() <= 0.01);
        let error = 4.0 * (0.8 * 0.2 / f64::from(DRAWS / 2)).sqrt() + tolerance;
        assert!((found - 0.8).abs() <= error, "{forks} forks: {found}");
    }
}

/// The verdict on `forks` draws around a true log ratio.
fn verdict(noise: &mut Noise, (log_ratio, spread): (f64, f64), forks: u32) -> Verdict {
    let log_ratios: Vec<f64> = (0..forks).map(|_| log_ratio + spread * noise.normal()).collect();
    let (evidence, decision) = (evidence(&log_ratios), Decision::default());
    let estimate = evidence.estimate(&decision, evidence.p_value).expect("a valid decision");
    judge(&evidence, &estimate, &decision).expect("a valid decision")
}

#[test]
fn a_change_of_the_threshold_is_rarely_called_no_change() {
    for forks in [5, 12, 30] {
        let mut noise = Noise::new(u64::from(forks));
        let draws = DRAWS / 10;
        let verdicts = (0..draws).map(|_| verdict(&mut noise, (1.03f64.ln(), 0.005), forks));
        let below = |v: Verdict| matches!(v, Verdict::NoChange | Verdict::Slower(Extent::WithinTolerance));
        let four_errors = 4.0 * (0.05 * 0.95 / f64::from(draws)).sqrt();
        let missed = share(verdicts, below);
        assert!(missed <= 0.05 + four_errors, "{forks} forks: {missed}");
    }
}

#[test]
fn the_forks_named_as_sufficient_usually_are() {
    let mut noise = Noise::new(3);
    let (mut asked, mut settled) = (0u32, 0u32);
    for i in 0..600usize {
        // A change of just the threshold is never settled.
        let truth = ([0.0, 0.01, 0.015, 0.04, 0.05][i % 5], 0.02);
        if let Some(forks) = verdict(&mut noise, truth, 6).forks_sufficient() {
            asked += 1;
            settled += u32::from(!verdict(&mut noise, truth, forks).is_open());
        }
    }
    let share = f64::from(settled) / f64::from(asked);
    assert!(asked > 200 && share > 0.75, "{settled} of {asked}");
}

#[test]
fn the_share_of_false_alarms_among_all_alarms_is_kept() {
    // 200 benchmarks of which 4 really changed, by far: at one percent alone every third alarm would be false.
    let names: Vec<String> = (0..200).map(|i| format!("B{i:03}")).collect();
    let plan = plan(&names.iter().map(String::as_str).collect::<Vec<_>>(), Mode::Duet);
    let mut noise = Noise::new(21);
    let (mut false_share, mut unadjusted_share, suites) = (0.0, 0.0, 40);
    for _ in 0..suites {
        let measured: Vec<Measured> = (0..200)
            .map(|i| {
                let shift = if i < 4 { 0.2 } else { 0.0 };
                let log_ratios: Vec<f64> = (0..9).map(|_| shift + 0.03 * noise.normal()).collect();
                Measured { samples: one_slice_forks(&log_ratios), failed_trials: vec![] }
            })
            .collect();
        let reports = analyse(&plan, &measured, &Decision::default());
        let false_among =
            |alarms: Vec<usize>| alarms.iter().filter(|i| **i >= 4).count() as f64 / alarms.len().max(1) as f64;
        let alarms = |is: &dyn Fn(usize) -> bool| (0..200).filter(|i| is(*i)).collect::<Vec<usize>>();
        false_share += false_among(alarms(&|i| reports[i].verdict.is_change()));
        unadjusted_share += false_among(alarms(&|i| reports[i].estimate.unwrap().p_value <= 0.01));
        assert!((0..4).all(|i| reports[i].verdict == Verdict::Regression));
    }
    let (kept, unadjusted) = (false_share / f64::from(suites), unadjusted_share / f64::from(suites));
    assert!(kept <= 0.05 + 0.04, "{kept}");
    assert!(unadjusted > 0.2, "{unadjusted}");
}

/// Two-sided p at each of the looks at a growing sample.
fn p_at_looks(looks: &[u32], mut draw: impl FnMut() -> f64) -> Vec<f64> {
    let values: Vec<f64> = (0..looks[looks.len() - 1]).map(|_| draw()).collect();
    looks.iter().map(|&n| trimmed_t(&values[..n as usize]).unwrap().p_value().unwrap()).collect()
}

/// Index of the look at which a test stops, if it does.
fn stopping(p: &[f64], nominal: &[f64]) -> Option<usize> {
    p.iter().zip(nominal).position(|(p, nominal)| p <= nominal)
}

/// Nominal p at each planned look.
fn nominal(test: &Sequential, alpha: f64) -> Vec<f64> {
    test.looks().iter().map(|&n| test.nominal_p(n, alpha, Spend::AsPlanned).unwrap()).collect()
}

#[test]
fn looking_again_stops_as_often_and_as_early_as_in_the_reference_simulation() {
    let cases: Vec<Vec<f64>> = answers("stopping").iter().map(numbers).collect();
    for same_data in cases.chunk_by(|a, b| a[..2] == b[..2]) {
        let (horizon, effect) = (same_data[0][0] as u32, same_data[0][1]);
        let draws = if effect == 0.0 { DRAWS } else { DRAWS / 10 };
        let (test, mut noise) = (Sequential::new(horizon).unwrap(), Noise::new(u64::from(horizon)));
        let all: Vec<Vec<f64>> = (0..draws).map(|_| p_at_looks(test.looks(), || effect + noise.normal())).collect();
        for case in same_data {
            let nominal = nominal(&test, case[2]);
            assert_share(share(all.iter(), |p| stopping(p, &nominal).is_some()), case[3], draws);
            let after = |p: &Vec<f64>| stopping(p, &nominal).map_or(horizon, |look| test.looks()[look]);
            let values = all.iter().map(|p| f64::from(after(p)));
            let mean = values.sum::<f64>() / f64::from(draws);
            assert!((mean - case[4]).abs() < 0.2, "{case:?}: {mean} values");
        }
    }
}

#[test]
fn looking_again_with_long_tails_keeps_the_level_and_without_care_does_not() {
    let (test, mut noise) = (Sequential::new(20).unwrap(), Noise::new(7));
    let all: Vec<Vec<f64>> = (0..DRAWS).map(|_| p_at_looks(test.looks(), || LONG_TAILS(&mut noise))).collect();
    let nominal = nominal(&test, 0.01);
    assert_share(share(all.iter(), |p| stopping(p, &nominal).is_some()), 0.009, DRAWS);
    let careless = share(all.iter(), |p| p.iter().any(|p| *p <= 0.01));
    assert!(careless > 0.025, "{careless}");
}
