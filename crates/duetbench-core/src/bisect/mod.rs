//! The search for the commit that made a benchmark slower: told ratios of build pairs, it says where to measure next.
//!
//! Commits are counted along a line, such as that of first parents: commit 0 is the good one, the last one the bad one. Between them the time changes in one
//! step, in two, or (where the end points deceived) not at all. [`Belief`] is the posterior over these cases after all ratios told so far;
//! [`Search::next`] asks for the measurement that tells most about it in a second, and ends once one commit has all but `alpha` of the
//! probability and was compared with its parent directly.
//!
//! Noisy search by posterior and expected information: M. V. Burnashev and K. Sh. Zigangirov, An interval estimation problem for
//! controlled observations, 1974; E. Kaufmann and others name it Bayesian bisection. Here an answer is no yes or no but a ratio with its
//! likelihood, and a question costs what building and measuring cost (M. Ben-Or and A. Hassidim, The Bayesian learner is optimal for noisy
//! binary search, FOCS 2008, for questions that cost the same).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

mod belief;
mod evidence;
mod likelihood;
mod query;

pub use belief::Belief;
use evidence::Evidence;
pub use query::Costs;

/// Error at which a commit is named.
pub const ALPHA: f64 = 0.01;
/// Build pairs after which a search ends without an answer.
pub const PAIRS_MAX: usize = 2000;
/// Build pairs of parent and culprit after which a step that does not show itself is given up.
const DIRECT_MAX: usize = 256;
/// Standard errors by which parent and culprit must differ by themselves. They are looked at again and again, each time with an error of
/// 0.13 % for the direction that is named: 13 of 900 simulated searches in equal code whose end points deceived by 5 to 7 standard errors
/// named a commit.
const DIRECT_Z: f64 = 3.0;
/// Standard errors within which the end points' change is taken for none.
const GONE_Z: f64 = 2.33;
/// Standard errors by which the end points must differ before anything is searched, and most build pairs for it.
const END_Z: f64 = 3.5;
const END_MAX: f64 = 96.0;
/// Standard errors that are planned for.
const DIRECT_Z_PLANNED: f64 = 4.0;

/// The rules of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Error at which a commit is named.
    pub alpha: f64,
    /// Smallest change that is worth a search of its own, a log ratio.
    pub worth: f64,
    /// Whether all pairs of two commits are of the same programs, whose layouts make the same of all of them.
    pub fixed_layouts: bool,
}

/// One comparison of two commits, the earlier one first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The earlier commit.
    pub base: usize,
    /// The later commit.
    pub head: usize,
    /// Its result.
    pub found: Found,
}

/// The result of comparing two commits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Log ratios later to earlier, one of each build pair.
    LogRatios(Vec<f64>),
    /// Both run the same code, which was proven.
    Identical,
}

/// A comparison that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The earlier commit.
    pub base: usize,
    /// The later commit.
    pub head: usize,
    /// Build pairs.
    pub pairs: usize,
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Compare a commit with the good one.
    Measure(Question),
    /// Compare a commit that is about to be named with its parent.
    Confirm(Question),
    /// Nothing: this is the answer.
    Done(Answer),
}

/// The end of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// These steps make the change, in the order of the commits.
    Steps(Vec<Step>),
    /// The change between the end points is not there when it is measured again.
    Nothing,
    /// More of the same would not tell; the change came with one of these commits, as far as is known.
    CannotTell(RangeInclusive<usize>),
}

/// A step of the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The last commit before it.
    pub parent: usize,
    /// The first commit after it. Commits between the two cannot be built, and hide which of them it is.
    pub culprit: usize,
    /// Its size as parent and culprit show it, a log ratio.
    pub log_ratio: f64,
    /// Probability that it is there.
    pub probability: f64,
}

/// A search among the commits after a good one up to a bad one.
#[derive(Debug, Clone)]
pub struct Search {
    rules: Rules,
    commits: usize,
    skipped: BTreeSet<usize>,
    probes: Vec<Probe>,
}

impl Search {
    /// A search among so many commits after the good one, the bad one included.
    pub fn new(commits: usize, rules: Rules) -> Search {
        Search { rules, commits: commits.max(1), skipped: BTreeSet::new(), probes: Vec::new() }
    }

    /// Leaves out a commit that cannot be built or measured.
    pub fn skip(&mut self, commit: usize) {
        if (1..self.commits).contains(&commit) {
            self.skipped.insert(commit);
        }
    }

    /// Takes the result of a comparison; numbers that are none are left out.
    pub fn tell(&mut self, mut probe: Probe) {
        if probe.base >= probe.head || probe.head > self.commits {
            return;
        }
        if let Found::LogRatios(values) = &mut probe.found {
            values.retain(|value| value.is_finite());
            if values.is_empty() {
                return;
            }
        }
        self.probes.push(probe);
    }

    /// The posterior after all that was told.
    pub fn belief(&self) -> Belief {
        Belief::of(&self.evidence())
    }

    fn evidence(&self) -> Evidence {
        Evidence::of(self.commits, &self.probes, self.rules.fixed_layouts)
    }

    /// The next thing to do, where measuring costs so much.
    pub fn next(&self, costs: &Costs) -> Next {
        let evidence = self.evidence();
        let belief = Belief::of(&evidence);
        if belief.nothing >= 1.0 - self.rules.alpha {
            return Next::Done(Answer::Nothing);
        }
        if let Some(question) = self.about_the_end(&evidence) {
            return Next::Measure(question);
        }
        let ends = likelihood::Rough::of(&evidence);
        let unsure = GONE_Z * ends.change_error(0.0);
        if ends.change.abs() < unsure {
            let gone = ends.change.abs() + unsure < self.rules.worth;
            return Next::Done(if gone { Answer::Nothing } else { self.cannot_tell(&belief) });
        }
        let located = self.located(&belief, &evidence);
        let is_part = located.len() != 1 || belief.two > 0.5;
        for step in &located {
            let direct = evidence.direct(step.parent, step.culprit);
            // One that is all of it, and seems too small to be named, may do so by chance.
            if shows_itself(&direct, &belief) && (is_part || self.make_it(&located, &belief)) {
                continue;
            }
            // The two were each measured with others, and are left out since they cannot be with each other, or are the same code.
            let left_out = [step.parent, step.culprit].iter().any(|commit| self.skipped.contains(commit));
            let is_enough = direct.len() >= DIRECT_MAX || belief.is_known(direct.len());
            if left_out || evidence.is_empty_between(step.parent, step.culprit) || is_enough {
                return Next::Done(self.cannot_tell(&belief));
            }
            let planned = (DIRECT_Z_PLANNED * belief.spread / belief.change).powi(2).ceil().clamp(3.0, 64.0) as usize;
            return Next::Confirm(Question { base: step.parent, head: step.culprit, pairs: planned });
        }
        let left = belief.change - located.iter().map(|step| step.log_ratio).sum::<f64>();
        let goes_on = located.len() == 1 && is_part && left.abs() >= self.rules.worth;
        if self.make_it(&located, &belief) && !goes_on {
            return Next::Done(Answer::Steps(located));
        }
        let asked = query::best(&belief, &evidence, &self.skipped, costs).filter(|_| evidence.pairs() < PAIRS_MAX);
        asked.map_or_else(|| Next::Done(self.told(located, &belief)), |best| Next::Measure(best.question))
    }

    /// More pairs of the end points, where the size of the change is hardly known: all else is held against it.
    fn about_the_end(&self, evidence: &Evidence) -> Option<Question> {
        let rough = likelihood::Rough::of(evidence);
        let so_far = evidence.levels.last().map_or(0, |ends| ends.values.len());
        let wanted = (END_Z * rough.spread / rough.change).powi(2).ceil().min(END_MAX) as usize;
        let proven = evidence.empty.len() + 1 == evidence.knots.len();
        let pairs = wanted.saturating_sub(so_far);
        (pairs > 0 && !proven).then_some(Question { base: 0, head: self.commits, pairs })
    }

    /// Commits with which the change can have come: those that share all but `alpha` of the probability.
    pub fn candidates(&self) -> usize {
        let belief = self.belief();
        let spans = belief.credible(self.rules.alpha);
        spans.iter().map(|&gap| belief.knots[gap + 1] - belief.knots[gap]).sum()
    }

    /// Time that the rest of the search is expected to take, seconds, its last comparison left out; absent where nothing is left to ask.
    pub fn expected_s(&self, costs: &Costs) -> Option<f64> {
        let evidence = self.evidence();
        let belief = Belief::of(&evidence);
        let best = query::best(&belief, &evidence, &self.skipped, costs)?;
        let open = (belief.entropy() + self.rules.alpha.ln().abs() * 0.5).max(0.0);
        Some(open / best.nats_per_s)
    }

    /// The answer if nothing more can be measured.
    pub fn so_far(&self) -> Answer {
        let evidence = self.evidence();
        let belief = Belief::of(&evidence);
        if belief.nothing >= 1.0 - self.rules.alpha {
            return Answer::Nothing;
        }
        let shown = |step: &Step| shows_itself(&evidence.direct(step.parent, step.culprit), &belief);
        let steps = self.located(&belief, &evidence).into_iter().filter(shown).collect();
        self.told(steps, &belief)
    }

    /// These steps, where they are an answer.
    fn told(&self, steps: Vec<Step>, belief: &Belief) -> Answer {
        if self.make_it(&steps, belief) { Answer::Steps(steps) } else { self.cannot_tell(belief) }
    }

    /// Whether those of these steps that go in the direction of the whole change make at least half of it; one alone must be worth naming.
    fn make_it(&self, steps: &[Step], belief: &Belief) -> bool {
        let along = steps.iter().map(|step| step.log_ratio).filter(|size| size * belief.change > 0.0);
        let is_worth = |step: &Step| steps.len() > 1 || step.log_ratio.abs() >= self.rules.worth;
        is_half(along.sum(), belief.change) && steps.iter().all(is_worth)
    }

    /// Steps between two commits of which nothing can be measured in between, that have all but `alpha` of the probability.
    fn located(&self, belief: &Belief, evidence: &Evidence) -> Vec<Step> {
        let mut steps = Vec::new();
        for (gap, ends) in belief.knots.windows(2).enumerate() {
            let (parent, culprit) = (ends[0], ends[1]);
            let probability = belief.steps[gap];
            let is_single = (parent + 1..culprit).all(|commit| self.skipped.contains(&commit));
            if is_single && probability >= 1.0 - self.rules.alpha {
                let log_ratio = likelihood::middle(&evidence.direct(parent, culprit)).unwrap_or(belief.change);
                steps.push(Step { parent, culprit, log_ratio, probability });
            }
        }
        steps
    }

    fn cannot_tell(&self, belief: &Belief) -> Answer {
        let spans = belief.credible(self.rules.alpha);
        let first = spans.iter().min().map_or(1, |&gap| belief.knots[gap] + 1);
        let last = spans.iter().max().map_or(self.commits, |&gap| belief.knots[gap + 1]);
        Answer::CannotTell(first..=last)
    }
}

/// Whether parent and culprit differ by themselves, in the direction of the whole change or against it.
fn shows_itself(direct: &[f64], belief: &Belief) -> bool {
    let standard_error = likelihood::error(belief.spread, direct.len(), belief.layout);
    direct.len() >= 2 && likelihood::middle(direct).is_some_and(|middle| middle.abs() > DIRECT_Z * standard_error)
}

/// Whether a change makes at least half of another, both log ratios.
pub fn is_half(part: f64, whole: f64) -> bool {
    part / whole >= 0.5
}

/// The mean of some values; absent where there are none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
