//! Tuning: what is chosen, and that the short cuts of the search change nothing.

use duetbench_core::recording::{Cost, Recorded, Recording};
use duetbench_core::stats::{self, StatsError};
use duetbench_core::tune::{Choice, Metric, Rules, choose, tune};
use proptest::prelude::*;

use crate::support::same_cases;
use crate::tune_support::{BENCHMARKS, GO, JMH, only, recorded, recording, suite, tune_exhaustively};

/// Without the t-interval, which takes a hundred times as long as the others.
const QUICK: [Metric; 4] = [Metric::Cv, Metric::Rmad, Metric::Rciw1, Metric::Rciw3];

#[test]
fn short_cuts_choose_what_trying_everything_chooses() {
    for (levels, shape) in [(&GO[..], &[2, 2, 3, 3][..]), (&JMH, &[3, 8]), (&JMH[1..], &[16])] {
        let whole = suite(levels, shape, 11);
        for metric in Metric::ALL {
            let benchmarks = if !QUICK.contains(&metric) { BENCHMARKS / 4 } else { BENCHMARKS };
            let suite = Recording { benchmarks: whole.benchmarks[..benchmarks].to_vec(), ..whole.clone() };
            let rules = Rules::of(metric);
            let (is, want) = (tune(&suite, &rules), tune_exhaustively(&suite, &rules));
            assert_eq!(is, want, "{} {shape:?}", metric.word());
            assert_eq!(is.choices.len(), benchmarks);
        }
    }
}

#[test]
fn suites_of_the_tests_have_every_kind_of_end() {
    let suite = suite(&JMH, &[3, 8], 11);
    let ends = QUICK.map(|metric| {
        let choices = tune(&suite, &Rules::of(metric)).choices;
        let unstable = choices.iter().filter(|choice| !choice.stable).count();
        let smallest = choices.iter().filter(|choice| choice.chosen_s == 3.0).count();
        [unstable, smallest, BENCHMARKS - unstable - smallest]
    });
    assert!(ends.iter().flatten().all(|count| *count > 0), "{ends:?}");
    assert!(ends.iter().map(|[_, _, between]| between).sum::<usize>() > 12, "{ends:?}");
}

#[test]
fn the_cheapest_stable_configuration_is_chosen() {
    // The third iteration of every fork is off, so that two forks of two are the least that is stable.
    let values = vec![100.0, 100.2, 130.0, 100.1, 100.1, 130.0, 140.0, 100.0, 130.0];
    let suite = recording(&JMH, vec![recorded("A", &[3, 3], values)]);
    let tuned = tune(&suite, &Rules::of(Metric::Cv));
    let choice = only(&tuned);
    assert_eq!((&choice.full, &choice.chosen), (&vec![3, 3], &vec![2, 2]));
    assert_eq!((choice.full_s, choice.chosen_s, choice.stable), (9.0, 4.0, true));
    assert!((choice.result_chosen - 100.1).abs() < 1e-9 && choice.stability < 0.001);
    assert!((choice.change() - (100.1 / (1030.4 / 9.0) - 1.0)).abs() < 1e-12);
    assert_eq!(choice.enough_times, None);
}

#[test]
fn of_configurations_that_take_the_same_time_the_most_stable_is_chosen() {
    let check = |values: Vec<f64>, want: [usize; 2]| {
        let suite = recording(&JMH, vec![recorded("A", &[3, 3], values)]);
        assert_eq!(only(&tune(&suite, &Rules::of(Metric::Cv))).chosen, want);
    };
    check(vec![100.0, 100.2, 100.1, 100.0, 9.0, 9.0, 100.1, 9.0, 9.0], [3, 1]);
    check(vec![100.0, 100.1, 100.0, 100.2, 9.0, 9.0, 100.1, 9.0, 9.0], [1, 3]);
    // The same values both ways: outer levels grow last.
    check(vec![100.0, 100.2, 100.1, 100.2, 9.0, 9.0, 100.1, 9.0, 9.0], [1, 3]);
}

#[test]
fn an_expensive_start_makes_more_iterations_cheaper_than_more_forks() {
    let mut benchmark = recorded("A", &[4, 8], (0..32).map(|i| 100.0 + f64::from(i % 2)).collect());
    let chosen = |benchmark: &Recorded| {
        let suite = recording(&JMH, vec![benchmark.clone()]);
        let rules = Rules { threshold: 0.0048, ..Rules::of(Metric::Cv) };
        let tuned = tune(&suite, &rules);
        (only(&tuned).chosen.clone(), only(&tuned).chosen_s)
    };
    // Three forks of one iteration have equal values; so have no others.
    assert_eq!(chosen(&benchmark), (vec![3, 1], 3.0));
    benchmark.cost.overhead_s = vec![10.0, 0.0];
    assert_eq!(chosen(&benchmark), (vec![1, 3], 13.0));
}

#[test]
fn every_metric_is_the_spread_or_the_width_that_its_name_says() {
    let values = [100.0, 101.0, 99.0, 102.0, 98.0, 100.5];
    let suite = recording(&JMH, vec![recorded("A", &[1, 6], values.to_vec())]);
    let (mean, median) = (600.5 / 6.0, 100.25);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let width = |interval: Result<stats::Interval, StatsError>| interval.unwrap().width();
    let expected = [
        (Metric::Cv, (squares / 6.0).sqrt() / mean),
        // Distances from the median: 0.25, 0.25, 0.75, 1.25, 1.75, 2.25.
        (Metric::Rmad, 1.0 / median),
        (Metric::Rciw1, width(stats::mean_interval(&values, 0.99)) / mean),
        (Metric::Rciw2, width(stats::studentised_interval(&values, 0.99)) / mean),
        (Metric::Rciw3, width(stats::median_interval(&values, 0.99)) / median),
    ];
    for (metric, value) in expected {
        let rules = Rules { threshold: 1e-6, ..Rules::of(metric) };
        let stability = only(&tune(&suite, &rules)).stability;
        assert!((stability - value).abs() < 1e-9 * value, "{}: {stability} and {value}", metric.word());
    }
}

#[test]
fn times_that_differ_by_rounding_are_the_same() {
    // One fork of five and three of one take 0.6 s, but not to the last bit; three equal values are the more stable.
    let mut values = vec![100.0; 15];
    values[1] = 101.0;
    let mut benchmark = recorded("A", &[3, 5], values);
    benchmark.cost = Cost { innermost_s: 0.1, overhead_s: vec![0.1, 0.0] };
    assert!(benchmark.time_s(&JMH, &[1, 5]) < benchmark.time_s(&JMH, &[3, 1]));
    let rules = Rules { threshold: 0.0042, ..Rules::of(Metric::Cv) };
    assert_eq!(only(&tune(&recording(&JMH, vec![benchmark]), &rules)).chosen, [3, 1]);
}

#[test]
fn what_is_never_stable_stays_whole_and_tells_what_would_be_enough() {
    let values: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i % 10)).collect();
    let suite = recording(&JMH, vec![recorded("A", &[2, 10], values)]);
    for metric in Metric::ALL {
        let rules = Rules { threshold: 0.002, ..Rules::of(metric) };
        let tuned = tune(&suite, &rules);
        let choice = only(&tuned);
        assert_eq!((&choice.chosen, choice.stable), (&vec![2, 10], false), "{}", metric.word());
        let want = (choice.stability / 0.002).powi(2);
        match (metric, choice.enough_times) {
            // A metric that does not fall with the number of values cannot be had with more of them.
            (Metric::Cv | Metric::Rmad, times) => assert_eq!(times, None, "{}", metric.word()),
            (_, times) => assert!(times.is_some_and(|times| (times - want).abs() < 1e-9 && times > 100.0)),
        }
        // Said of the whole benchmark alone, not of whatever smaller configuration is asked about.
        let smallest = choose(&suite, &rules, |_, _| Some(vec![1, 3]));
        assert_eq!(only(&smallest).enough_times, None, "{}", metric.word());
    }
}

#[test]
fn what_cannot_be_tuned_is_left_out_with_its_reason() {
    let gap = recorded("gap", &[2, 3], vec![f64::NAN; 6]);
    let other = recorded("other", &[6], vec![1.0; 6]);
    let good = recorded("good", &[2, 3], vec![1.0; 6]);
    let suite = recording(&JMH, vec![gap, other, good]);
    let tuned = tune(&suite, &Rules::of(Metric::Rciw3));
    let names: Vec<&str> = tuned.left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, tuned.choices.len()), (vec!["gap", "other"], 1));
    assert!(tuned.left_out[0].1.contains("no values") && tuned.left_out[1].1.contains("levels"));

    let mut values = vec![f64::NAN; 6];
    values.extend([1.0; 6]);
    let suite = recording(&GO, vec![recorded("second only", &[2, 1, 3, 2], values)]);
    assert_eq!(tune(&suite, &Rules::of(Metric::Cv)).choices.len(), 1);

    let impossible = Rules { confidence: 1.5, ..Rules::of(Metric::Cv) };
    assert!(tune(&suite, &impossible).left_out[0].1.contains("confidence"));
}

#[test]
fn too_few_repetitions_are_never_stable() {
    let suite = recording(&JMH, vec![recorded("A", &[1, 2], vec![1.0; 2])]);
    for metric in Metric::ALL {
        let tuned = tune(&suite, &Rules::of(metric));
        let choice = only(&tuned);
        assert_eq!((&choice.chosen, choice.stable), (&vec![1, 2], false), "{}", metric.word());
    }
}

#[test]
fn gaps_that_leave_too_few_values_are_never_stable() {
    let gap = f64::NAN;
    // Whole, the values are within 1 %; the first fork gave one alone, the second two.
    let values = vec![100.0, gap, gap, 100.5, 101.0, gap, 100.2, 100.8, 100.1];
    let suite = recording(&JMH, vec![recorded("A", &[3, 3], values)]);
    for metric in QUICK {
        let rules = Rules { threshold: 0.05, ..Rules::of(metric) };
        let choice = only(&tune(&suite, &rules)).clone();
        assert_eq!((&choice.chosen, choice.stable), (&vec![3, 1], true), "{}", metric.word());
        assert!(choice.stability > 0.0, "{}", metric.word());
        let short = choose(&suite, &rules, |_, _| Some(vec![1, 3]));
        assert!(!only(&short).stable && only(&short).stability.is_infinite(), "{}", metric.word());
    }
}

#[test]
fn values_that_no_formula_takes_do_no_harm() {
    for values in [vec![0.0; 6], vec![-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], vec![1e308; 6], vec![1e-320; 6]] {
        let suite = recording(&JMH, vec![recorded("A", &[2, 3], values)]);
        for metric in Metric::ALL {
            assert!(!only(&tune(&suite, &Rules::of(metric))).stability.is_nan());
        }
    }
}

fn choice_of(values: &[f64], metric: Metric) -> Choice {
    let suite = recording(&JMH, vec![recorded("A", &[3, 6], values.to_vec())]);
    only(&tune(&suite, &Rules::of(metric))).clone()
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn the_unit_changes_no_choice(values in proptest::collection::vec(99.0_f64..101.5, 18), power in -10_i32..10) {
        // By powers of two nothing is rounded.
        let scaled: Vec<f64> = values.iter().map(|v| v * 2.0_f64.powi(power)).collect();
        for metric in QUICK {
            let (a, b) = (choice_of(&values, metric), choice_of(&scaled, metric));
            prop_assert_eq!((a.chosen, a.stable), (b.chosen, b.stable), "{}", metric.word());
        }
    }

    #[test]
    fn a_looser_threshold_never_takes_longer(values in proptest::collection::vec(97.0_f64..103.0, 18)) {
        let suite = recording(&JMH, vec![recorded("A", &[3, 6], values)]);
        for metric in QUICK {
            let times: Vec<f64> = [0.005, 0.01, 0.02, 0.05]
                .map(|threshold| only(&tune(&suite, &Rules { threshold, ..Rules::of(metric) })).chosen_s)
                .to_vec();
            prop_assert!(times.is_sorted_by(|a, b| a >= b), "{} {:?}", metric.word(), times);
        }
    }

    #[test]
    fn the_order_of_forks_matters_only_where_some_are_left_out(values in proptest::collection::vec(99.0_f64..101.0, 18)) {
        let swapped = [&values[..6], &values[12..], &values[6..12]].concat();
        for metric in QUICK {
            let (a, b) = (choice_of(&values, metric), choice_of(&swapped, metric));
            if a.chosen[0] != 2 && b.chosen[0] != 2 {
                prop_assert_eq!((a.chosen, a.stability), (b.chosen, b.stability), "{}", metric.word());
            }
        }
    }

    #[test]
    fn more_equal_benchmarks_change_no_choice(values in proptest::collection::vec(99.0_f64..101.0, 18), copies in 1_usize..5) {
        let suite = recording(&JMH, vec![recorded("A", &[3, 6], values.clone()); copies]);
        let want = choice_of(&values, Metric::Rciw1);
        let is = tune(&suite, &Rules::of(Metric::Rciw1)).choices;
        prop_assert!(is.len() == copies && is.iter().all(|choice| *choice == want));
    }

    #[test]
    fn trying_everything_agrees_on_any_values(
        values in proptest::collection::vec(prop_oneof![99.0_f64..101.0, 99.5_f64..100.5, 90.0_f64..200.0, Just(100.0)], 12)
    ) {
        let suite = recording(&JMH, vec![recorded("A", &[3, 4], values)]);
        for metric in QUICK {
            let rules = Rules { threshold: 0.05, ..Rules::of(metric) };
            prop_assert_eq!(tune(&suite, &rules), tune_exhaustively(&suite, &rules));
        }
    }
}
