//! Pictures of a benchmark, the data of its charts.

use duetbench_core::analysis::{Measured, analyse};
use duetbench_core::picture::{Distributions, Histogram, POINTS_MAX, Picture, pictures};
use duetbench_core::plan::{Design, Mode, Plan};
use duetbench_core::report::{BenchmarkReport, ForkPair};
use duetbench_core::sample::Sample;
use duetbench_core::spec::Decision;
use duetbench_core::{Role, Verdict};
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config as ProptestConfig;

use crate::support::{build_pairs, fixed_design, placed, plan, plan_of, same_cases, samples_of, slice, slices};

/// Report and picture of the only benchmark of a plan.
fn of(plan: &Plan, samples: Vec<Sample>) -> (BenchmarkReport, Option<Picture>) {
    let measured = [Measured { samples, failed_trials: vec![] }];
    let mut reports = analyse(plan, &measured, &Decision::default());
    let mut pictures = pictures(plan, &measured, &Decision::default(), &reports);
    (reports.remove(0), pictures.remove(0))
}

fn forks(design: &Design, log_ratios: &[f64]) -> Vec<ForkPair> {
    (0..).zip(log_ratios).map(|(run, d)| placed(design, (0, run), *d)).collect()
}

/// Fork pairs of one round with so many slices each, whose times vary and are one unit of time apart.
fn course_of(forks: u32, slices_each: u32) -> Vec<Sample> {
    let each =
        |run: u32| (0..slices_each).flat_map(move |i| slices((run, i), 1000 + u64::from(i), 1001 + u64::from(i)));
    (0..forks).flat_map(each).collect()
}

const DESIGNS: [Design; 4] = [
    Design { units: 20, forks_per_unit: 1, doubled: 4, places: 1, by_build: true, sequential: true },
    Design { units: 20, forks_per_unit: 2, doubled: 0, places: 1, by_build: true, sequential: false },
    Design { units: 12, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential: true },
    Design { units: 5, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential: true },
];

proptest! {
    // Boundaries take their time, and each case has its own.
    #![proptest_config(ProptestConfig { cases: 20, ..same_cases() })]

    #[test]
    fn the_last_look_is_the_estimate(log_ratios in vec(-0.1..0.1f64, 0..24), design in 0..DESIGNS.len()) {
        let design = DESIGNS[design];
        let (report, picture) = of(&plan_of(&["A"], design), samples_of(&forks(&design, &log_ratios)));
        let last = picture.as_ref().and_then(|p| p.looks.last()).map(|l| l.look);
        let said = last.map(|l| (l.units, l.ratio, l.ratio_low, l.ratio_high));
        prop_assert_eq!(said, report.estimate.map(|e| (e.counts.units, e.ratio, e.ratio_low, e.ratio_high)));
        let looks = picture.map_or(0, |p| p.looks.len());
        prop_assert_eq!(looks as u32, report.estimate.map_or(0, |e| e.looks));
    }

    #[test]
    fn an_earlier_look_is_what_would_have_been_reported_then(log_ratios in vec(-0.1..0.1f64, 7..12)) {
        let design = build_pairs(20, 0);
        let at = |n: usize| of(&plan_of(&["A"], design), samples_of(&forks(&design, &log_ratios[..n])));
        let looks = at(log_ratios.len()).1.unwrap().looks;
        prop_assert_eq!(looks[..2].iter().map(|l| l.look.units).collect::<Vec<_>>(), [4, 6]);
        for early in &looks[..2] {
            let then = at(early.look.units as usize).0.estimate.unwrap();
            prop_assert_eq!((early.look.ratio_low, early.look.ratio_high), (then.ratio_low, then.ratio_high));
        }
    }

}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn every_value_is_in_one_bar_or_beyond_them(values in vec(-1.0..1.0f64, 1..300), scale in 1e-6..1e6f64) {
        let values: Vec<f64> = values.iter().map(|v| v * scale).collect();
        let bars = Histogram::of(&values).unwrap();
        prop_assert!(bars.width > 0.0 && !bars.counts.is_empty() && bars.counts.len() <= 60, "{bars:?}");
        let inside: u32 = bars.counts.iter().sum();
        prop_assert_eq!((inside + bars.below + bars.above) as usize, values.len());
        let end = bars.from + bars.width * bars.counts.len() as f64;
        let slack = 1e-9 * bars.width;
        prop_assert_eq!(bars.below as usize, values.iter().filter(|v| **v < bars.from).count());
        prop_assert!(values.iter().filter(|v| **v > end + slack).count() <= bars.above as usize);
        prop_assert!(values.iter().filter(|v| **v > end - slack).count() >= bars.above as usize);
    }

    #[test]
    fn no_values_break_a_histogram(values in vec(ANY, 0..20)) {
        let finite = values.iter().filter(|v| v.is_finite()).count();
        let counted = Histogram::of(&values).map_or(0, |h| h.counts.iter().sum::<u32>() + h.below + h.above);
        prop_assert_eq!(counted as usize, finite);
    }

    #[test]
    fn thinning_keeps_order_and_range(times in vec((1..9_999u64, 1..9_999u64), 1..500)) {
        let samples: Vec<Sample> = (0u32..).zip(&times).flat_map(|(i, (b, c))| slices((0, i), *b, *c)).collect();
        let points = of(&plan(&["A"], Mode::Duet), samples).1.unwrap().slices.remove(0).points;
        prop_assert_eq!(points.len(), times.len().min(POINTS_MAX));
        prop_assert!(points.windows(2).all(|two| two[0].slice < two[1].slice));
        prop_assert!((points[points.len() - 1].slice as usize) < times.len());
        let range = |side: fn(&(u64, u64)) -> u64| {
            (times.iter().map(side).min().unwrap() as f64, times.iter().map(side).max().unwrap() as f64)
        };
        let within = |value: f64, (low, high): (f64, f64)| (low..=high).contains(&value);
        prop_assert!(points.iter().all(|p| within(p.baseline_ns, range(|t| t.0)) && within(p.candidate_ns, range(|t| t.1))));
        if times.len() <= POINTS_MAX {
            let shown: Vec<(u64, u64)> = points.iter().map(|p| (p.baseline_ns as u64, p.candidate_ns as u64)).collect();
            prop_assert_eq!(shown, times);
        }
    }

    #[test]
    fn every_fork_pair_is_shown_once(rounds in vec(0..3u32, 1..20), by_build in any::<bool>()) {
        let design = Design { by_build, ..build_pairs(20, 2) };
        let forks: Vec<ForkPair> = (0..).zip(&rounds).map(|(run, round)| placed(&design, (*round, run), 0.01)).collect();
        let (report, picture) = of(&plan_of(&["A"], design), samples_of(&forks));
        let shown = picture.unwrap().forks;
        prop_assert_eq!(shown.len(), report.forks.len());
        prop_assert!(shown.windows(2).all(|two| two[0].round <= two[1].round && two[0].unit <= two[1].unit));
        prop_assert!(shown.windows(2).all(|two| two[0].unit < two[1].unit || two[0].round == two[1].round));
    }
}

#[test]
fn what_was_not_measured_has_no_picture() {
    assert_eq!(of(&plan(&["A"], Mode::Duet), vec![]).1, None);
    assert_eq!(Histogram::of(&[]), None);
    let one_side = vec![slice(Role::Baseline, (0, 0), 100)];
    assert_eq!(of(&plan(&["A"], Mode::Duet), one_side).1, None);
}

#[test]
fn too_few_units_have_a_picture_without_looks() {
    let picture = of(&plan(&["A"], Mode::Duet), course_of(2, 5)).1.unwrap();
    assert_eq!((picture.forks.len(), picture.looks.len(), picture.slices.len()), (2, 0, 2));
}

#[test]
fn the_first_the_median_and_the_last_fork_pair_show_their_slices() {
    let check = |log_ratios: &[f64], want: &[usize]| {
        let design = fixed_design(20);
        let picture = of(&plan_of(&["A"], design), samples_of(&forks(&design, log_ratios))).1.unwrap();
        assert_eq!(picture.slices.iter().map(|s| s.fork).collect::<Vec<_>>(), want);
    };
    check(&[0.1, 0.2, 0.15, 0.3, 0.0], &[0, 2, 4]);
    check(&[0.15, 0.2, 0.1, 0.3, 0.0], &[0, 4]);
    check(&[0.3, 0.1], &[0, 1]);
    check(&[0.3], &[0]);
}

#[test]
fn sequential_slices_have_no_histogram_but_a_course() {
    let picture = of(&plan(&["A"], Mode::Sequential), course_of(4, 5)).1.unwrap();
    assert_eq!((picture.histogram.is_none(), picture.slices.len()), (true, 3));
    assert!(of(&plan(&["A"], Mode::Duet), course_of(4, 5)).1.unwrap().histogram.is_some());
}

#[test]
fn warm_up_and_later_rounds_are_not_in_the_histogram() {
    let mut samples = course_of(3, 10);
    samples.iter_mut().filter(|s| s.at.iteration < 4).for_each(|s| s.warm_up = true);
    samples.iter_mut().filter(|s| s.at.suite_run == 2).for_each(|s| s.at.round = 1);
    let picture = of(&plan(&["A"], Mode::Duet), samples).1.unwrap();
    let bars = picture.histogram.unwrap();
    assert_eq!(bars.counts.iter().sum::<u32>() + bars.below + bars.above, 2 * 6);
    let times = picture.times.unwrap();
    assert_eq!(times.baseline.counts.iter().sum::<u32>() + times.baseline.below + times.baseline.above, 2 * 6);
    assert!(picture.slices.iter().all(|s| picture.forks[s.fork].round == 0 && s.points[0].slice == 4));
    assert_eq!(picture.forks.len(), 3);
}

#[test]
fn values_without_spread_have_one_bar_and_what_is_far_out_is_counted() {
    let bars = Histogram::of(&[0.5; 9]).unwrap();
    assert_eq!((bars.counts.as_slice(), bars.below, bars.above), (&[9][..], 0, 0));
    let far = Histogram::of(&[&[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7][..], &[9.0, -9.0, -8.0]].concat()).unwrap();
    assert_eq!((far.below, far.above), (2, 1));
}

#[test]
fn both_sides_have_one_axis_as_fine_as_the_narrower_wants() {
    let ramp = |from: f64, step: f64| (0..100).map(|i| from + f64::from(i) * step).collect::<Vec<f64>>();
    // Quartiles are half a range apart, and 100 values have a cube root of 4.64: bars of 2 * 4.95 / 4.64 = 2.13.
    let both = Distributions::of(&ramp(100.0, 0.1), &ramp(150.0, 0.1)).unwrap();
    let (base, head) = (&both.baseline, &both.candidate);
    assert_eq!((base.from, base.width, base.counts.len()), (head.from, head.width, head.counts.len()));
    assert_eq!((base.from, base.counts.len()), (100.0, (59.9f64 / (2.0 * 4.95 / 100f64.cbrt())).ceil() as usize));
    assert_eq!(both.medians_ns, [104.95, 154.95]);
    let count = |side: &Histogram| side.counts.iter().sum::<u32>() + side.below + side.above;
    assert_eq!((count(base), count(head)), (100, 100));
    let first = base.counts.iter().rposition(|n| *n > 0).unwrap();
    let last = head.counts.iter().position(|n| *n > 0).unwrap();
    assert!(first < last, "{both:?}");
    let same = Distributions::of(&[7.0; 3], &[7.0; 4]).unwrap();
    assert_eq!((same.baseline.counts, same.candidate.counts), (vec![3], vec![4]));
    assert_eq!(Distributions::of(&[1.0], &[]), None);
}

#[test]
fn the_last_look_is_the_estimate_also_where_a_budget_ended_it() {
    let design = build_pairs(20, 0);
    let mut answered_by_all_that_is_left = 0;
    for width in 1..60 {
        let log_ratios: Vec<f64> = (0..10).map(|i| f64::from(width * (1 - i % 2 * 2)) * 1e-3).collect();
        let samples = samples_of(&forks(&design, &log_ratios));
        let (planned, _) = of(&plan_of(&["A"], design), samples.clone());
        let (report, picture) = of(&Plan { budget_ns: Some(1), ..plan_of(&["A"], design) }, samples);
        let last = picture.unwrap().looks.last().map(|l| (l.look.ratio_low, l.look.ratio_high));
        assert_eq!(last, report.estimate.map(|e| (e.ratio_low, e.ratio_high)), "{width}");
        answered_by_all_that_is_left += u32::from(planned.verdict.is_open() && !report.verdict.is_open());
    }
    assert!(answered_by_all_that_is_left > 0);
}

#[test]
fn only_the_last_look_settles_and_only_with_an_answer() {
    let check = |log_ratios: &[f64], verdict: &str, want: &[bool]| {
        let design = build_pairs(20, 0);
        let (report, picture) = of(&plan_of(&["A"], design), samples_of(&forks(&design, log_ratios)));
        assert_eq!(report.verdict.word(), verdict);
        assert_eq!(picture.unwrap().looks.iter().map(|l| l.settled).collect::<Vec<_>>(), want);
    };
    check(&[0.1, 0.101, 0.099, 0.1], "regression", &[true]);
    check(&[0.1, 0.101, 0.099, 0.1, 0.1, 0.101], "regression", &[false, true]);
    check(&[0.3, -0.1, 0.02, -0.2], "inconclusive", &[false]);
}

#[test]
fn a_regression_that_was_taken_back_was_settled_all_the_same() {
    let design = build_pairs(20, 0);
    let slower = (0..4).map(|run| placed(&design, (0, run), 0.1 + f64::from(run) * 1e-3));
    let equal = (0..20).map(|run| placed(&design, (1, run), (f64::from(run % 3) - 1.0) * 1e-3));
    let mut plan = plan_of(&["A"], design);
    plan.confirm_rounds = 1;
    let (report, picture) = of(&plan, samples_of(&slower.chain(equal).collect::<Vec<_>>()));
    assert_eq!(report.verdict, Verdict::Inconclusive { forks_sufficient: None });
    assert!(picture.unwrap().looks[0].settled);
}
