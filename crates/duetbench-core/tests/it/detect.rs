//! Promises of the two rules for recordings, held against simulated recordings: forks differ by 3 %, iterations within a fork by
//! 5 %, and each side has five forks of twenty iterations. Seeds are fixed; the figures are those of docs/detecting.md.

use duetbench_core::Recording;
use duetbench_core::detect::{Change, HouseRule, PaperRule, Rules, Statistic, detect};
use duetbench_core::recording::{Better, Cost, Grid, Level, Recorded};

use crate::noise_support::assert_share;
use crate::support::Noise;

const FORKS: usize = 5;
const ITERATIONS: usize = 20;

fn recording(noise: &mut Noise, level: f64) -> Recording {
    let mut values = Vec::with_capacity(FORKS * ITERATIONS);
    for _ in 0..FORKS {
        let fork = 0.03 * noise.normal();
        values.extend((0..ITERATIONS).map(|_| level * (fork + 0.05 * noise.normal()).exp()));
    }
    let recorded = Recorded {
        benchmark: "A".into(),
        unit: "ns/op".into(),
        better: Better::Lower,
        cost: Cost { innermost_s: 1.0, overhead_s: vec![0.0; 2] },
        harness_warm_up: None,
        terms: Vec::new(),
        grid: Grid::of(&[FORKS, ITERATIONS], values).unwrap(),
    };
    let levels = vec![Level::Fork, Level::Iteration];
    Recording { name: "r".into(), levels, benchmarks: vec![recorded], warnings: Vec::new() }
}

/// Shares of the pairs of recordings that the rule of the papers and the house's call a regression, and that either calls an
/// improvement.
fn shares(draws: u32, head_level: f64) -> [f64; 4] {
    let paper = PaperRule { statistic: Statistic::Median, confidence: 0.99, threshold: 0.03 };
    let rules = Rules { paper: Some(paper), house: Some(HouseRule { threshold: 0.03, alpha: 0.01, fdr: 0.05 }) };
    let mut noise = Noise::new(20);
    let mut found = [0.0; 4];
    for _ in 0..draws {
        let (base, head) = (recording(&mut noise, 100.0), recording(&mut noise, head_level));
        let detection = detect(&base, &head, &rules);
        let of = &detection.benchmarks[0];
        let (paper, house) = (of.paper.as_ref().unwrap().change, of.house.as_ref().unwrap().answer.word());
        let leans = |change: Change| {
            let [exceeds, leans] =
                if change == Change::Regression { ["regression", "slower"] } else { ["improvement", "faster"] };
            house == exceeds || house.starts_with(leans)
        };
        let said = |change| [paper == Some(change), leans(change)];
        let [worse, better] = [said(Change::Regression), said(Change::Improvement)];
        for (count, is) in found.iter_mut().zip([worse, better].concat()) {
            *count += f64::from(u8::from(is)) / f64::from(draws);
        }
    }
    found
}

#[test]
fn equal_versions_are_called_changed_by_the_rule_of_the_papers_and_rarely_by_the_houses() {
    const DRAWS: u32 = 4000;
    let [paper_worse, house_worse, paper_better, house_better] = shares(DRAWS, 100.0);
    assert_share(paper_worse + paper_better, 0.08, DRAWS);
    assert_share(house_worse + house_better, 0.009, DRAWS);
}

#[test]
fn a_plain_regression_is_found_by_both() {
    let [paper, house, paper_better, house_better] = shares(400, 115.0);
    assert!(paper > 0.99 && house > 0.95, "{paper}, {house}");
    assert_eq!(paper_better + house_better, 0.0);
}
