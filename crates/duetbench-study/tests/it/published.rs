//! Tuning as the published code of µOpTime has it.

use duetbench_core::recording::Recording;
use duetbench_core::tune::{Metric, Rules, tune};
use duetbench_study::papers::uoptime::{Compat, Practice};

use crate::tune_support::{BENCHMARKS, GO, JMH, only, recorded, recording, suite, tune_exhaustively};

fn practice(metric: Metric, compat: Compat) -> Practice {
    Practice { rules: Rules::of(metric), compat }
}

#[test]
fn by_the_paper_it_chooses_what_duet_does() {
    let suite = suite(&GO, &[2, 2, 3, 3], 11);
    for metric in [Metric::Cv, Metric::Rmad, Metric::Rciw1, Metric::Rciw3] {
        assert_eq!(
            tune(&suite, &practice(metric, Compat::Paper)),
            tune(&suite, &Rules::of(metric)),
            "{}",
            metric.word()
        );
    }
}

#[test]
fn short_cuts_choose_what_trying_everything_chooses() {
    for (levels, shape) in [(&GO[..], &[2, 2, 3, 3][..]), (&JMH, &[3, 8]), (&JMH[1..], &[16])] {
        let whole = suite(levels, shape, 11);
        for metric in Metric::ALL {
            let benchmarks = if metric == Metric::Rciw2 { BENCHMARKS / 4 } else { BENCHMARKS };
            let suite = Recording { benchmarks: whole.benchmarks[..benchmarks].to_vec(), ..whole.clone() };
            let practice = practice(metric, Compat::PaperCode);
            let (is, want) = (tune(&suite, &practice), tune_exhaustively(&suite, &practice));
            assert_eq!(is, want, "{} {shape:?}", metric.word());
            assert_eq!(is.choices.len(), benchmarks);
        }
    }
}

#[test]
fn the_published_code_sees_the_first_instance_only() {
    let shape = [2, 1, 3, 2];
    let mut values: Vec<f64> = (0..6).map(|i| 100.0 + f64::from(i % 2)).collect();
    values.extend([200.0; 6]);
    let suite = recording(&GO, vec![recorded("A", &shape, values)]);
    let tuned = tune(&suite, &practice(Metric::Cv, Compat::PaperCode));
    let choice = only(&tuned);
    assert_eq!((&choice.full, &choice.chosen), (&vec![1, 1, 3, 2], &vec![1, 1, 3, 1]));
    assert_eq!((choice.result_full, choice.full_s), (100.5, 6.0));
    let tuned = tune(&suite, &practice(Metric::Cv, Compat::Paper));
    assert!(!only(&tuned).stable && only(&tuned).result_full > 150.0);
}

#[test]
fn one_second_of_an_iteration_more_is_a_repetition_by_the_paper_only() {
    let suite = recording(&GO[1..], vec![recorded("A", &[1, 3, 3], vec![100.0; 9])]);
    let chosen = |compat| only(&tune(&suite, &practice(Metric::Cv, compat))).chosen.clone();
    assert_eq!(chosen(Compat::Paper), [1, 1, 3]);
    assert_eq!(chosen(Compat::PaperCode), [1, 3, 1]);
}

#[test]
fn benchmarks_without_values_on_the_first_instance_are_left_out() {
    let mut values = vec![f64::NAN; 6];
    values.extend([1.0; 6]);
    let suite = recording(&GO, vec![recorded("second only", &[2, 1, 3, 2], values)]);
    assert!(tune(&suite, &practice(Metric::Cv, Compat::PaperCode)).left_out[0].1.contains("first instance"));
}

#[test]
fn values_that_no_formula_takes_do_no_harm() {
    for values in [vec![0.0; 6], vec![-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], vec![1e308; 6], vec![1e-320; 6]] {
        let suite = recording(&JMH, vec![recorded("A", &[2, 3], values)]);
        for metric in Metric::ALL {
            assert!(!only(&tune(&suite, &practice(metric, Compat::PaperCode))).stability.is_nan());
        }
    }
}

#[test]
fn of_the_published_configurations_the_cheapest_come_first() {
    let suite = recording(&GO, vec![recorded("A", &[3, 3, 5, 5], vec![100.0; 225])]);
    let mut listed = Vec::new();
    let all = std::sync::Mutex::new(&mut listed);
    let _ = duetbench_core::tune::choose(&suite, &practice(Metric::Cv, Compat::PaperCode), |_, subject| {
        let of = &subject.configurations;
        **all.lock().unwrap() = of.groups().flatten().map(|position| of.at(position).to_vec()).collect();
        None
    });
    assert_eq!(listed.len(), 60);
    assert_eq!(listed[..3], [[1, 1, 3, 1], [1, 3, 1, 1], [1, 1, 4, 1]]);
    assert!(listed.iter().all(|c| c[0] == 1 && c[1] * c[2] >= 3));
    assert_eq!(listed.last().unwrap(), &[1, 3, 5, 5]);
}
