//! Looking while measuring: who is settled.

use super::confirm::{confirming_units, is_beyond_doubt};
use super::examine::{Boundaries, Examined, adjusted, adjusted_over};
use super::unit::{by_unit, units};
use super::{Basis, ForkPair, Look, Ranged, count};
use crate::plan::{Design, Plan, PlannedBenchmark};
use crate::spec::Thresholds;
use crate::stats::{Spend, StatsError};
use crate::verdict::Verdict;

/// Result of a look: whether measuring of one benchmark goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Not known yet on which side of the threshold it is, or this is no moment to look.
    Open,
    /// The answer is known, and more trials would not be used.
    Settled,
    /// The rest of the design would hardly tell on which side of the threshold it lies, or whether there is a change.
    OutOfReach,
    /// The answer is known and a regression, but not beyond doubt; each confirming round needs so many units.
    Regressed {
        /// Units of a round.
        confirming_units: u32,
    },
}

/// Result of a look at one benchmark of a suite that is being measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// Whether measuring goes on.
    pub standing: Standing,
    /// Estimate and verdict of the moment; absent before the benchmark's first planned look.
    pub seen: Option<Seen>,
}

/// Estimate and verdict of one benchmark at a look, to be shown while measuring goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The judged number's estimate with its interval, which allows for all looks.
    pub range: Ranged,
    /// The verdict of the moment; open until the benchmark is settled.
    pub verdict: Verdict,
    /// Smallest change of it that is worth a verdict.
    pub threshold: f64,
}

/// Looks at a run while it is measured. Remembers what does not depend on the data.
#[derive(Debug)]
pub struct Monitor<'a> {
    plan: &'a Plan,
    boundaries: Boundaries<'a>,
}

impl<'a> Monitor<'a> {
    /// A monitor of this plan.
    pub fn new(plan: &'a Plan, thresholds: impl Into<Thresholds<'a>>) -> Monitor<'a> {
        Monitor { plan, boundaries: Boundaries::new(thresholds.into()) }
    }

    /// Where every benchmark stands, given the last suite run that each took part in and the fork pairs of its first round; both
    /// are indexed like [`Plan::benchmarks`].
    ///
    /// Each is judged by what it had at its last planned look, and one that has not come to any counts among the tests without
    /// speaking for a change. So adjusted p-values only fall when more is measured (unless another number of the fork pairs
    /// comes to be judged): what was settled once stays so, and need not be asked again as long as its fork pairs are passed on.
    pub fn look(&mut self, after: &[u32], forks: &[&[ForkPair]]) -> Vec<Looked> {
        let all = self.plan.benchmarks.iter().zip(after).zip(forks);
        let at_looks: Vec<&[ForkPair]> =
            all.map(|((planned, after), forks)| at_last_look(&mut self.boundaries, planned, *after, forks)).collect();
        let examined = Examined::all(self.plan, &at_looks, &mut self.boundaries);
        let p_adjusted = adjusted_over(&examined, |one| Some(one.evidence.map_or(1.0, |e| e.p_value)));
        looked(&examined, p_adjusted)
    }

    /// Where every benchmark stands when nothing more is measured: by all its fork pairs, as in the report.
    pub fn end(&mut self, forks: &[&[ForkPair]]) -> Vec<Standing> {
        let examined = Examined::at_the_end(self.plan, forks, &mut self.boundaries);
        let p_adjusted = adjusted(&examined);
        looked(&examined, p_adjusted).into_iter().map(|one| one.standing).collect()
    }

    /// Units that a benchmark has at the planned look after the one at which it had so many; absent after the last. A design of
    /// fewer units than a test needs ends with those it has.
    pub fn next_look(&mut self, benchmark: usize, units: u32) -> Option<u32> {
        let planned = &self.plan.benchmarks[benchmark];
        let most = planned.configuration.design.units;
        let looks = self.boundaries.of(planned).ok()?.looks();
        looks.iter().map(|look| most.min(*look)).find(|look| *look > units)
    }

    /// Every look at a benchmark, given the fork pairs of its first round: all planned looks that it has come to, each
    /// judged by the units there were then, and last, by all there are, the one that the report's estimate is from, which may
    /// spend what `last` says. Empty where there are too few units for any.
    pub fn looks(&mut self, benchmark: usize, first_round: &[ForkPair], last: Spend) -> Vec<Look> {
        let plan = self.plan;
        let planned = &plan.benchmarks[benchmark];
        let units = by_unit(first_round, &planned.configuration.design);
        let numbers = self.boundaries.of(planned).map_or_else(|_| Vec::new(), |b| b.looks().to_vec());
        // Units beyond the horizon are not judged, so the last look is the one there.
        let all = numbers.last().map_or(0, |horizon| units.len().min(*horizon as usize));
        let taken = numbers.into_iter().map(|n| n as usize).take_while(|n| *n < all);
        let at_looks = taken.map(|n| (units[..n].concat(), Spend::AsPlanned)).chain([(first_round.to_vec(), last)]);
        let look = |(forks, spend): (Vec<ForkPair>, Spend)| {
            let examined = Examined::new(planned, &forks, spend, &mut self.boundaries);
            examined.evidence.and_then(|evidence| Look::of(&evidence)).ok()
        };
        at_looks.filter_map(look).collect()
    }

    /// Whether the fork pairs that a benchmark has after this suite run are those of a planned look.
    pub fn is_look(&mut self, benchmark: usize, suite_run: u32, forks: &[ForkPair]) -> bool {
        let planned = &self.plan.benchmarks[benchmark];
        let design = &planned.configuration.design;
        let unit_complete = design.begins_unit(suite_run + 1);
        let units = number_of_units(forks, design);
        unit_complete && self.boundaries.of(planned).is_ok_and(|b| b.looks().contains(&units))
    }
}

fn number_of_units(forks: &[ForkPair], design: &Design) -> u32 {
    count(units(forks, Basis::TypicalSlice, design).len())
}

/// Those of the fork pairs there are after a suite run that a benchmark had at its last planned look; none before the first.
fn at_last_look<'f>(
    boundaries: &mut Boundaries<'_>,
    planned: &PlannedBenchmark,
    suite_run: u32,
    forks: &'f [ForkPair],
) -> &'f [ForkPair] {
    let design = &planned.configuration.design;
    let complete = &forks[..forks.partition_point(|f| design.unit(f.suite_run) < design.unit(suite_run + 1))];
    let units = number_of_units(complete, design);
    let last = boundaries.of(planned).ok().and_then(|b| b.looks().iter().rev().find(|n| **n <= units).copied());
    let until = |n: u32| (0..=complete.len()).rev().find(|k| number_of_units(&complete[..*k], design) <= n);
    &complete[..last.and_then(until).unwrap_or(0)]
}

fn looked(examined: &[Examined<'_>], p_adjusted: Vec<f64>) -> Vec<Looked> {
    let look = |(one, p): (&Examined<'_>, f64)| {
        let seen = seen(one, p).ok();
        Looked { standing: seen.as_ref().map_or(Standing::Open, |seen| standing(one, &seen.verdict)), seen }
    };
    examined.iter().zip(p_adjusted).map(look).collect()
}

/// Neither what would have been detected nor what would suffice is asked here, and both take long to compute.
fn seen(one: &Examined<'_>, p_adjusted: f64) -> Result<Seen, StatsError> {
    let evidence = one.evidence.as_ref().map_err(|e| *e)?;
    Ok(Seen { range: evidence.judged()?, verdict: one.verdict(p_adjusted)?, threshold: one.decision.threshold })
}

fn standing(one: &Examined<'_>, verdict: &Verdict) -> Standing {
    let doubtful = one.evidence.as_ref().ok().filter(|evidence| !is_beyond_doubt(evidence));
    match (verdict, doubtful) {
        (Verdict::Regression, Some(evidence)) if one.planned.tells_of_the_code() => {
            let design = &one.planned.configuration.design;
            Standing::Regressed { confirming_units: confirming_units(evidence, design) }
        }
        (verdict, _) if one.ends_open(verdict) => Standing::OutOfReach,
        (verdict, _) if verdict.is_open() => Standing::Open,
        _ => Standing::Settled,
    }
}
