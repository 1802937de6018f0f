//! Looking while measuring: who is settled.

use super::confirm::confirming_units;
use super::examine::{Boundaries, Examined, adjusted};
use super::unit::units;
use super::{Basis, Estimate, ForkPair};
use crate::plan::Plan;
use crate::spec::Decision;
use crate::verdict::Verdict;

/// What a look says about one benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Not known yet, or this is no moment to look.
    Open,
    /// The answer is known, and more trials would not be used.
    Settled,
    /// The answer is known and a regression, which each confirming round needs so many units to see again.
    Regressed {
        /// Units of a round.
        confirming_units: u32,
    },
}

/// Looks at a run while it is measured. Remembers what does not depend on the data.
#[derive(Debug)]
pub struct Monitor<'a> {
    plan: &'a Plan,
    decision: &'a Decision,
    boundaries: Boundaries,
}

impl<'a> Monitor<'a> {
    /// A monitor of this plan.
    #[must_use]
    pub fn new(plan: &'a Plan, decision: &'a Decision) -> Monitor<'a> {
        Monitor { plan, decision, boundaries: Boundaries::default() }
    }

    /// Where every benchmark stands, given the fork pairs of its first round; `forks` is indexed like [`Plan::benchmarks`].
    ///
    /// A benchmark whose units are not those of a planned look is open. Adjusted p-values only fall when more is measured, so
    /// what was settled once stays so, and need not be asked again as long as its fork pairs are passed on.
    pub fn look(&mut self, forks: &[&[ForkPair]]) -> Vec<Standing> {
        let (decision, boundaries) = (self.decision, &mut self.boundaries);
        let both = self.plan.benchmarks.iter().zip(forks);
        let examined: Vec<Examined<'_>> =
            both.map(|(planned, forks)| Examined::new(planned, forks, decision, boundaries)).collect();
        let p_adjusted = adjusted(&examined);
        let standing = |(one, p): (&Examined<'_>, f64)| standing(one, p, decision);
        examined.iter().zip(p_adjusted).map(standing).collect()
    }

    /// Whether the fork pairs that a benchmark has after this suite run are those of a planned look.
    pub fn is_look(&mut self, benchmark: usize, suite_run: u32, forks: &[ForkPair]) -> bool {
        let planned = &self.plan.benchmarks[benchmark];
        let design = &planned.configuration.design;
        let unit_complete = design.unit(suite_run) != design.unit(suite_run + 1);
        let units = u32::try_from(units(forks, Basis::TypicalSlice, design).len()).unwrap_or(u32::MAX);
        unit_complete && self.boundaries.of(planned).is_ok_and(|b| b.looks().contains(&units))
    }
}

fn standing(one: &Examined<'_>, p_adjusted: f64, decision: &Decision) -> Standing {
    let Ok(evidence) = &one.evidence else { return Standing::Open };
    match one.judge(p_adjusted, decision) {
        Ok((estimate, Verdict::Regression | Verdict::Improvement)) if is_vague(&estimate, decision) => Standing::Open,
        Ok((_, Verdict::Regression)) => {
            Standing::Regressed { confirming_units: confirming_units(evidence, &one.planned.configuration.design) }
        }
        Ok((_, Verdict::Improvement | Verdict::NoChange)) => Standing::Settled,
        _ => Standing::Open,
    }
}

/// Whether an interval tells that there is a change, but hardly how large it is: it reaches farther than half the change to
/// either side, and farther than the threshold. Going on costs little, because changes that are found so early are large.
fn is_vague(estimate: &Estimate, decision: &Decision) -> bool {
    let half_width = (estimate.ratio_high / estimate.ratio_low).ln() / 2.0;
    half_width > (estimate.ratio.ln().abs() / 2.0).max(decision.threshold.ln_1p())
}
