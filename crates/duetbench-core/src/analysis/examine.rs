//! One benchmark: everything its fork pairs say without looking at the rest of the suite.

use std::collections::BTreeMap;

use super::estimate::{Looks, Tests};
use super::prospect::{is_answer_out_of_reach, is_size_out_of_reach};
use super::{
    Choice, Counted, Estimate, Evidence, ForkPair, ForkSide, Hidden, Warning, choose_basis, compare_bytes,
    compare_counts, count, judge,
};
use crate::plan::{Mode, Plan, PlannedBenchmark};
use crate::sample::Role;
use crate::spec::{Decision, Thresholds, defaults};
use crate::stats::{self, Spend, StatsError};
use crate::verdict::rule::{PValues, decided};
use crate::verdict::{Extent, Verdict};

/// Largest share of a change that is taken to be hidden: a first look cannot tell more, and the run's self-test speaks up before.
const HIDDEN_MAX: f64 = 0.5;

/// Share of a change that does not show in the mode that a benchmark was measured in.
///
/// The slower of two versions that run at once is alone at the end of each slice, unless the faster one goes on until then: that is where
/// its additional work is done, in less time by what they lose beside each other. Versions that take turns use each other's caches, and may
/// spend what they lose on getting warm: a first trial says how much that was then, and a neighbour who came later makes it more. Code that
/// collects loses time to its collector too, which marks on idle cores beside a version alone.
pub(super) fn hidden(planned: &PlannedBenchmark, forks: &[ForkPair]) -> Hidden {
    let lost = || Lost::of(planned, forks);
    let bounded = |share: f64| share.clamp(0.0, HIDDEN_MAX);
    match forks.first().map(|fork| fork.mode) {
        Some(Mode::Duet) => {
            let alone = lost().filter(|lost| !planned.is_refilled(lost.beside_ns));
            Hidden::at_most(alone.map_or(0.0, |lost| bounded(lost.share())))
        }
        Some(mode) => cold_share_left(planned, forks, mode).map_or(Hidden::default(), |left| {
            if planned.profile.is_some_and(|seen| seen.collects) {
                return Hidden::at_most(bounded(left));
            }
            Hidden { shown: bounded(left), most: bounded(left.max(lost().map_or(0.0, Lost::share_of_the_faster))) }
        }),
        None => Hidden::default(),
    }
}

/// Share of slices that getting warm takes, of those that were measured: they are longer than planned where they hold whole cycles of a
/// collector, and begin warm where such a cycle came before them.
fn cold_share_left(planned: &PlannedBenchmark, forks: &[ForkPair], mode: Mode) -> Option<f64> {
    let left = planned.cold_share_left(mode)?;
    let cold_ns = left * planned.configuration.slice_ns as f64;
    if forks.iter().all(ForkPair::has_cycles_before_slices) && unrecorded_ns(forks)? >= defaults::WARM_TIMES * cold_ns {
        return Some(0.0);
    }
    let slice_ns =
        |fork: &ForkPair| fork.baseline.measured_ns().min(fork.candidate.measured_ns()) / f64::from(fork.slices.max(1));
    let planned_ns = planned.configuration.slice_ns as f64;
    let seen_ns = stats::median(&forks.iter().map(slice_ns).collect::<Vec<f64>>()).ok()?;
    Some(left * planned_ns / planned_ns.max(seen_ns))
}

/// Time that versions work unrecorded before their slices; 0 where that is not known of one fork pair.
fn unrecorded_ns(forks: &[ForkPair]) -> Option<f64> {
    let of_forks: Vec<f64> = forks.iter().map(|fork| fork.unrecorded_ns.unwrap_or(0.0)).collect();
    stats::median(&of_forks).ok()
}

/// Times per invocation of the slower version, nanoseconds: alone in a first trial, and beside the other version.
#[derive(Clone, Copy)]
struct Lost {
    alone_ns: f64,
    beside_ns: f64,
    /// That of the faster version beside the slower one.
    faster_ns: f64,
}

impl Lost {
    /// Absent where nobody saw the versions alone.
    fn of(planned: &PlannedBenchmark, forks: &[ForkPair]) -> Option<Lost> {
        let alone_ns = planned.profile.filter(|_| !planned.style.is_counted())?.invocation_ns;
        let median = |of: fn(f64, f64) -> f64| {
            let of = |f: &ForkPair| of(f.baseline.without_collecting_ns(), f.candidate.without_collecting_ns());
            stats::median(&forks.iter().map(of).collect::<Vec<f64>>()).ok()
        };
        Some(Lost { alone_ns, beside_ns: median(f64::max)?, faster_ns: median(f64::min)? })
    }

    /// The part of the time beside the other version that it did not take alone.
    fn share(self) -> f64 {
        1.0 - self.alone_ns / self.beside_ns
    }

    /// The same time as a share of what the faster version takes, if both lose it.
    fn share_of_the_faster(self) -> f64 {
        (self.beside_ns - self.alone_ns) / self.faster_ns
    }
}

/// The tests of every design that occurs, computed once, and the thresholds that they are for.
#[derive(Debug)]
pub(super) struct Boundaries<'a> {
    pub(super) thresholds: Thresholds<'a>,
    by_design: BTreeMap<(u32, bool), Tests>,
}

impl<'a> Boundaries<'a> {
    pub(super) fn new(thresholds: Thresholds<'a>) -> Boundaries<'a> {
        Boundaries { thresholds, by_design: BTreeMap::new() }
    }

    /// Those of this benchmark's design.
    pub(super) fn of(&mut self, planned: &PlannedBenchmark) -> Result<&Tests, StatsError> {
        let design = &planned.configuration.design;
        let units = design.units.max(defaults::UNITS_MIN);
        match self.by_design.entry((units, design.sequential)) {
            std::collections::btree_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let made = if design.sequential { Tests::sequential(units)? } else { Tests::single(units)? };
                Ok(entry.insert(made))
            }
        }
    }
}

/// Result of the first round for one benchmark.
pub(super) struct Examined<'a> {
    pub(super) planned: &'a PlannedBenchmark,
    /// The decision with its own threshold.
    pub(super) decision: Decision,
    pub(super) allocs: Option<Counted>,
    pub(super) bytes: Option<Counted>,
    pub(super) choice: Choice,
    pub(super) evidence: Result<Evidence, StatsError>,
}

impl<'a> Examined<'a> {
    /// Its p-value, where it was tested.
    pub(super) fn p_value(&self) -> Option<f64> {
        Some(self.evidence.as_ref().ok()?.p_value)
    }

    /// Looks at the fork pairs of the first round; `spend` says what the last look may.
    pub(super) fn new(
        planned: &'a PlannedBenchmark,
        first_round: &[ForkPair],
        spend: Spend,
        boundaries: &mut Boundaries<'_>,
    ) -> Self {
        let allocs = counted(compare_counts, first_round, |s| s.allocs_per_op);
        let bytes = counted(compare_bytes, first_round, |s| s.bytes_per_op);
        let decision = boundaries.thresholds.decision(&planned.id);
        let choice = choose_basis(first_round, bytes.as_ref(), &decision);
        let design = &planned.configuration.design;
        let hidden = hidden(planned, first_round);
        let looks = |tests| Looks { tests, design, decision: &decision, spend, hidden };
        let evidence = boundaries.of(planned).and_then(|tests| Evidence::of(first_round, choice, looks(tests)));
        Examined { planned, decision, allocs, bytes, choice, evidence }
    }

    /// Looks at all benchmarks of a plan, whose last look may spend what was planned.
    pub(super) fn all(plan: &'a Plan, first_rounds: &[&[ForkPair]], boundaries: &mut Boundaries<'_>) -> Vec<Self> {
        let both = plan.benchmarks.iter().zip(first_rounds);
        both.map(|(b, forks)| Examined::new(b, forks, Spend::AsPlanned, boundaries)).collect()
    }

    /// Looks at everything there is when nothing more is measured. Where a budget ended the run, benchmarks that are open by then
    /// may use all of the error that is left: it was the clock that ended them, unless they would have ended by themselves.
    pub(super) fn at_the_end(
        plan: &'a Plan,
        first_rounds: &[&[ForkPair]],
        boundaries: &mut Boundaries<'_>,
    ) -> Vec<Self> {
        let mut examined = Examined::all(plan, first_rounds, boundaries);
        if plan.budget_ns.is_none() {
            return examined;
        }
        let p_adjusted = adjusted(&examined);
        for ((one, p_adjusted), forks) in examined.iter_mut().zip(p_adjusted).zip(first_rounds) {
            let open = one.verdict(p_adjusted).is_ok_and(|verdict| verdict.is_open() && !one.ends_open(&verdict));
            if open {
                *one = Examined::new(one.planned, forks, Spend::Everything, boundaries);
            }
        }
        examined
    }

    /// The verdict, given the p-value that the whole suite made of this one's, without what would settle it.
    pub(super) fn verdict(&self, p_adjusted: f64) -> Result<Verdict, StatsError> {
        let evidence = self.evidence.as_ref().map_err(|e| *e)?;
        let beside = evidence.beside()?.map(|beside| beside.interval);
        let p_values = PValues { own: evidence.p_value, adjusted: p_adjusted };
        Ok(decided(evidence.judged()?.interval, beside, p_values, &self.decision))
    }

    /// Whether this verdict is open, and the rest of the design would hardly make it another one.
    pub(super) fn ends_open(&self, verdict: &Verdict) -> bool {
        let is_out_of_reach = match verdict {
            Verdict::Slower(Extent::Open { .. }) | Verdict::Faster(Extent::Open { .. }) => is_size_out_of_reach,
            Verdict::Inconclusive { .. } => is_answer_out_of_reach,
            _ => return false,
        };
        let ends = |evidence| is_out_of_reach(evidence, &self.decision).unwrap_or(false);
        self.evidence.as_ref().is_ok_and(ends)
    }

    /// Estimate and verdict, given the p-value that the whole suite made of this one's.
    pub(super) fn judge(&self, p_adjusted: f64) -> Result<(Estimate, Verdict), StatsError> {
        let evidence = self.evidence.as_ref().map_err(|e| *e)?;
        let estimate = evidence.estimate(&self.decision, p_adjusted)?;
        Ok((estimate, judge(evidence, &estimate, &self.decision)?))
    }

    /// Caveats about the evidence.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Err(StatsError::TooFew { have, needed }) = self.evidence {
            warnings.push(Warning::TooFewUnits { units: count(have), needed: count(needed) });
        }
        if self.evidence.is_ok_and(|e| e.is_degenerate()) {
            warnings.push(Warning::Degenerate);
        }
        if let Some(difference) = self.choice.slow_slices {
            warnings.push(Warning::SlowSlices { basis: self.choice.basis, ratio: difference.exp() });
        }
        warnings
    }
}

/// The p-values of all benchmarks, adjusted over those that were tested; 1 for the others.
pub(super) fn adjusted(examined: &[Examined<'_>]) -> Vec<f64> {
    adjusted_over(examined, |one| one.p_value())
}

/// These p-values, adjusted over the benchmarks that have one; 1 for the others. One whose own code changed is no test of the program: it
/// keeps its p-value, or its change, which nobody calls, would relax the limit for the rest.
pub(super) fn adjusted_over(examined: &[Examined<'_>], p_value: impl Fn(&Examined<'_>) -> Option<f64>) -> Vec<f64> {
    let tested = |one: &Examined<'_>| p_value(one).filter(|_| one.planned.tells_of_the_code());
    let p_values: Vec<f64> = examined.iter().filter_map(tested).collect();
    // Made by our own test, so they are probabilities.
    let mut p_adjusted = stats::adjusted_p_values(&p_values).unwrap_or(p_values).into_iter();
    let of = |one| if tested(one).is_some() { p_adjusted.next() } else { p_value(one) };
    examined.iter().map(of).map(|p| p.unwrap_or(1.0)).collect()
}

fn values_of(forks: &[ForkPair], role: Role, number: impl Fn(&ForkSide) -> Option<f64>) -> Vec<f64> {
    let side = |fork: &ForkPair| match role {
        Role::Baseline => fork.baseline,
        Role::Candidate => fork.candidate,
    };
    forks.iter().filter_map(|fork| number(&side(fork))).collect()
}

/// The median over forks of one side's number.
pub(super) fn median_over(forks: &[ForkPair], role: Role, number: impl Fn(&ForkSide) -> Option<f64>) -> Option<f64> {
    stats::median(&values_of(forks, role, number)).ok()
}

/// Compares both sides' counts by a rule.
fn counted(
    compare: fn(&[f64], &[f64]) -> Option<Counted>,
    forks: &[ForkPair],
    number: impl Fn(&ForkSide) -> Option<f64>,
) -> Option<Counted> {
    compare(&values_of(forks, Role::Baseline, &number), &values_of(forks, Role::Candidate, &number))
}
