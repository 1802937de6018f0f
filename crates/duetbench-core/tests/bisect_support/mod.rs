//! Searches among invented commits with planted steps, whose build pairs have normal noise.

#![allow(dead_code, unreachable_pub, reason = "a test and an example include it, and neither uses all of it")]

use duetbench_core::bisect::{ALPHA, Answer, Costs, Found, Next, Probe, Question, Rules, Search, Step};

use crate::noise_support::Noise;

/// Invented commits.
pub struct World {
    pub commits: usize,
    /// Commits with a step, and its size as a ratio less 1.
    pub steps: Vec<(usize, f64)>,
    /// Standard deviation of a build pair's log ratio.
    pub spread: f64,
    /// Build pairs of the end points.
    pub ends: usize,
    /// Share of build pairs that are wild: ten spreads off.
    pub wild: f64,
    /// Standard deviation of what its layout makes of every commit's time, a log ratio: one for all pairs of it.
    pub layout: f64,
    /// Standard errors by which chance moves the end points' first pairs.
    pub deceived: f64,
    pub skipped: Vec<usize>,
    pub costs: Costs,
}

/// The cost of the note: every build pair costs the same, and building nothing.
pub const PAIRS_ALONE: Costs = Costs { build_s: 0.0, visit_s: 0.0, pair_s: 1.0 };

/// The end of a simulated search, and its effort.
pub struct End {
    pub answer: Answer,
    pub pairs: usize,
    pub direct: usize,
    pub built: usize,
}

impl World {
    /// A hundred and twenty-eight commits with one step.
    pub fn of_one(commit: usize, step: f64, spread: f64) -> World {
        // As many as it takes until the end points differ by five standard errors.
        let ends = (5.0 * spread / step.ln_1p()).powi(2).ceil().clamp(4.0, 96.0) as usize;
        let (steps, costs) = (vec![(commit, step)], PAIRS_ALONE);
        let (wild, layout, deceived) = (0.0, 0.0, 0.0);
        World { commits: 128, steps, spread, ends, wild, layout, deceived, skipped: Vec::new(), costs }
    }

    fn level(&self, commit: usize) -> f64 {
        self.steps.iter().filter(|(at, _)| *at <= commit).map(|(_, step)| step.ln_1p()).sum()
    }

    fn measure(&self, question: Question, more: f64, noise: &mut Noise) -> Probe {
        let step = self.level(question.head) - self.level(question.base) + more;
        let value = |noise: &mut Noise| {
            let is_wild = crate::bisect_support::share(noise) < self.wild;
            step + self.spread * noise.normal() * if is_wild { 10.0 } else { 1.0 }
        };
        let values = (0..question.pairs).map(|_| value(noise)).collect();
        Probe { base: question.base, head: question.head, found: Found::LogRatios(values) }
    }

    /// A search to its end.
    pub fn search(&self, noise: &mut Noise) -> End {
        let rules = Rules { alpha: ALPHA, worth: 0.01, fixed_layouts: self.layout > 0.0 };
        let mut search = Search::new(self.commits, rules);
        let layouts: Vec<f64> = match self.layout {
            0.0 => vec![0.0; self.commits + 1],
            layout => (0..=self.commits).map(|_| layout * noise.normal()).collect(),
        };
        let of_layout = |question: Question| layouts[question.head] - layouts[question.base];
        let ends = Question { base: 0, head: self.commits, pairs: self.ends };
        let deceived = self.deceived * self.spread / (self.ends as f64).sqrt();
        search.tell(self.measure(ends, of_layout(ends) + deceived, noise));
        let (mut pairs, mut direct, mut built) = (0, 0, std::collections::BTreeSet::new());
        loop {
            let question = match search.next(&self.costs) {
                Next::Done(answer) => return End { answer, pairs, direct, built: built.len() },
                Next::Measure(question) => question,
                Next::Confirm(question) => question,
            };
            if self.skipped.contains(&question.head) {
                search.skip(question.head);
                continue;
            }
            if question.base == 0 {
                pairs += question.pairs
            } else {
                direct += question.pairs
            }
            built.insert(question.head);
            search.tell(self.measure(question, of_layout(question), noise));
        }
    }
}

/// A number between 0 and 1.
fn share(noise: &mut Noise) -> f64 {
    // The probability integral of |z|, by Abramowitz and Stegun 7.1.27.
    let z = noise.normal().abs() / std::f64::consts::SQRT_2;
    let series = 1.0 + z * (0.278393 + z * (0.230389 + z * (0.000972 + z * 0.078108)));
    1.0 - series.powi(-4)
}

/// The culprits of an answer.
pub fn culprits(answer: &Answer) -> Vec<usize> {
    match answer {
        Answer::Steps(steps) => steps.iter().map(|step: &Step| step.culprit).collect(),
        Answer::Nothing | Answer::CannotTell(_) => Vec::new(),
    }
}

/// Outcomes of many searches.
#[derive(Debug, Default)]
pub struct Tally {
    pub right: usize,
    pub wrong: usize,
    pub open: usize,
    pub pairs: f64,
    pub direct: f64,
    pub built: f64,
}

impl Tally {
    /// So many searches in worlds made for each.
    pub fn of(searches: usize, noise: &mut Noise, world: impl Fn(usize) -> World) -> Tally {
        let mut tally = Tally::default();
        for number in 0..searches {
            let world = world(number);
            let end = world.search(noise);
            let named = culprits(&end.answer);
            let planted: Vec<usize> = world.steps.iter().filter(|(_, step)| *step != 0.0).map(|(at, _)| *at).collect();
            if named == planted {
                tally.right += 1;
            } else if named.iter().all(|commit| planted.contains(commit)) {
                tally.open += 1;
            } else {
                tally.wrong += 1;
            }
            let n = searches as f64;
            tally.pairs += end.pairs as f64 / n;
            tally.direct += end.direct as f64 / n;
            tally.built += end.built as f64 / n;
        }
        tally
    }
}
