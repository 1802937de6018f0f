//! The whole suite: from samples to reports.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::confirm::{Confirming, Standing, confirmation};
use super::examine::{Boundaries, Examined, adjusted, adjusted_over, median_over};
use super::unit::Layout;
use super::warning::explained_by;
use super::{BenchmarkReport, Confirmation, Estimate, ForkPair, Ranged, Summary, Warning, count, summarise};
use crate::plan::{Excluded, Plan, PlannedBenchmark, Redefinition, Style};
use crate::sample::{BenchmarkId, Role, Sample};
use crate::spec::{Metric, Thresholds, defaults};
use crate::stats::StatsError;
use crate::verdict::{Extent, Verdict};
use crate::warmup;

/// Everything that measuring one benchmark of a plan gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// All its samples, in any order.
    pub samples: Vec<Sample>,
    /// Trials that failed, in the order in which they did.
    pub failed_trials: Vec<TrialFailure>,
}

/// A trial that gave no samples that count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialFailure {
    /// The side that failed, where it was one.
    pub role: Option<Role>,
    /// The benchmark's or the tool's own words.
    pub reason: String,
    /// Whether the machine spoiled it, which says nothing about the benchmark.
    pub discarded: bool,
}

/// Judges everything a plan names, measured or not; sorted by package and name.
///
/// `measured` is indexed like [`Plan::benchmarks`]; a benchmark beyond its end was not measured. The result depends on the
/// arguments alone, and not on the order of the samples.
pub fn analyse<'a>(plan: &Plan, measured: &[Measured], thresholds: impl Into<Thresholds<'a>>) -> Vec<BenchmarkReport> {
    let thresholds = thresholds.into();
    let nothing = Measured::default();
    let measured = (0..plan.benchmarks.len()).map(|i| measured.get(i).unwrap_or(&nothing));
    let brought: Vec<Brought> =
        plan.benchmarks.iter().zip(measured).map(|(planned, m)| Brought::new(m, planned, thresholds)).collect();
    let mut boundaries = Boundaries::new(thresholds);
    let first_rounds: Vec<&[ForkPair]> = brought.iter().map(|b| b.first_round.as_slice()).collect();
    let examined = Examined::at_the_end(plan, &first_rounds, &mut boundaries);
    let p_adjusted = adjusted_without_given_up(&examined, &brought);
    let mut reports: Vec<BenchmarkReport> = plan.excluded.iter().map(report_excluded).collect();
    for ((one, brought), p) in examined.into_iter().zip(brought).zip(p_adjusted) {
        let conclusion = Conclusion::of(&one, &brought, p, plan.confirm_rounds);
        let ruled = thresholds.ruled(&one.planned.id, &Metric::Time);
        reports.push(conclusion.report(one, brought, ruled));
    }
    reports.sort_by(|a, b| a.id.cmp(&b.id));
    reports
}

/// The p-values adjusted over the benchmarks that get an interval: a speed-up of one that was given up is told by nobody, and would relax
/// the limit for the rest.
fn adjusted_without_given_up(examined: &[Examined<'_>], brought: &[Brought]) -> Vec<f64> {
    let of_all = adjusted(examined);
    let is_given_up =
        |one: &Examined<'_>, brought: &Brought, p| one.judge(p).is_ok_and(|(_, verdict)| brought.is_given_up(&verdict));
    let all = examined.iter().zip(brought).zip(&of_all);
    let given_up: BTreeSet<&BenchmarkId> =
        all.filter(|((one, brought), p)| is_given_up(one, brought, **p)).map(|((one, _), _)| &one.planned.id).collect();
    if given_up.is_empty() {
        return of_all;
    }
    adjusted_over(examined, |one| one.p_value().filter(|_| !given_up.contains(&one.planned.id)))
}

/// The samples of one benchmark as fork pairs.
struct Brought {
    summary: Summary,
    first_round: Vec<ForkPair>,
    /// Those that failed while measuring, then those whose samples make no sense.
    failed_trials: Vec<TrialFailure>,
    /// Warnings about its warm-up.
    warm_up: Vec<Warning>,
}

impl Brought {
    fn new(measured: &Measured, planned: &PlannedBenchmark, thresholds: Thresholds<'_>) -> Brought {
        let summary = summarise(&measured.samples, planned.mode);
        let first_round = summary.forks.iter().filter(|f| f.round == 0).copied().collect();
        let rejected = summary.rejected.iter().map(|r| TrialFailure {
            role: Some(r.role()),
            reason: r.to_string(),
            discarded: false,
        });
        let failed_trials = measured.failed_trials.iter().cloned().chain(rejected).collect();
        let warm_up = warm_up_warnings(&measured.samples, planned, thresholds.of(&planned.id, &Metric::Time));
        Brought { summary, first_round, failed_trials, warm_up }
    }

    /// Failures that say something of the benchmark: no trial that the machine spoiled does.
    fn lasting(&self) -> Vec<&TrialFailure> {
        self.failed_trials.iter().filter(|failure| !failure.discarded).collect()
    }

    /// Whether it failed so often that it was given up: only processes that survived were measured.
    fn failed_too_often(&self) -> bool {
        self.lasting().len() >= defaults::FAILURES_MAX as usize
    }

    /// Whether it was given up so that a verdict is none. A regression of those that survived is one.
    fn is_given_up(&self, verdict: &Verdict) -> bool {
        self.failed_too_often() && *verdict != Verdict::Regression
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.summary.orphans > 0 {
            warnings.push(Warning::Orphans { samples: self.summary.orphans });
        }
        if let Some(cpu_share) = self.summary.cpu_share.filter(|share| *share < defaults::CPU_SHARE_MIN) {
            warnings.push(Warning::NotCpuBound { cpu_share });
        }
        if let [first, ..] = &self.failed_trials[..] {
            let trials = count(self.failed_trials.len());
            warnings.push(Warning::FailedTrials { trials, first: first.reason.clone() });
        }
        warnings.extend(self.warm_up.iter().cloned());
        warnings
    }
}

/// Whether processes of a harness with a loop of its own were steady: at first, and while they were judged.
fn warm_up_warnings(samples: &[Sample], planned: &PlannedBenchmark, threshold: f64) -> Vec<Warning> {
    if planned.style != Style::Iteration {
        return Vec::new();
    }
    let unsteady = planned.profile.and_then(|profile| profile.unsteady);
    let never = unsteady.map(|never| Warning::NoSteadyState { role: never.role, within: never.within });
    let warm_up = planned.configuration.warmup_slices;
    let drift = warmup::drift(samples, threshold).filter(warmup::Drift::is_usual);
    let still = drift.map(|warmup::Drift { role, forks, of, ratio }| Warning::StillChanging {
        role,
        forks,
        of,
        ratio,
        warm_up,
    });
    never.into_iter().chain(still).collect()
}

/// The number beside the judged one, where it alone leaves the band.
fn beside_open(estimate: &Estimate, threshold: f64) -> Option<Warning> {
    let Ranged { basis, interval, .. } = estimate.beside?;
    let alone = estimate.interval().is_within(threshold) && !interval.is_within(threshold);
    alone.then_some(Warning::BesideOpen { basis, interval })
}

/// The verdict that trials failed, for the reason of the first, and on the side on which all of them did.
fn failed(failures: &[&TrialFailure]) -> Verdict {
    let role = failures.iter().map(|f| f.role).reduce(|all, role| all.filter(|_| role == all)).flatten();
    let reason = failures.first().map_or_else(String::new, |first| first.reason.clone());
    Verdict::Failed { role, reason }
}

/// Whether a warning tells more than that a benchmark failed for this reason: it has too few units because it fails, and not for want of time.
fn tells_more(warning: &Warning, reason: &str) -> bool {
    match warning {
        Warning::TooFewUnits { .. } => false,
        Warning::FailedTrials { first, .. } => first != reason,
        _ => true,
    }
}

/// The decision about one benchmark, with its evidence.
struct Conclusion {
    estimate: Option<Estimate>,
    verdict: Verdict,
    confirmation: Option<Confirmation>,
    warnings: Vec<Warning>,
}

impl Conclusion {
    fn of(one: &Examined<'_>, brought: &Brought, p_adjusted: f64, confirm_rounds: u32) -> Conclusion {
        let mut warnings = one.warnings();
        warnings.extend(brought.warnings());
        let lasting = brought.lasting();
        let (estimate, verdict) = match (one.judge(p_adjusted), &lasting[..]) {
            (Ok((_, verdict)), failures) if brought.is_given_up(&verdict) => (None, failed(failures)),
            (Ok((estimate, verdict)), _) => (Some(estimate), verdict),
            (Err(StatsError::TooFew { .. }), []) => (None, Verdict::Inconclusive { forks_sufficient: None }),
            (Err(StatsError::TooFew { .. }), failures) => (None, failed(failures)),
            (Err(error), _) => (None, Verdict::Failed { role: None, reason: error.to_string() }),
        };
        // The number of failures of one that was given up is told beside the words of the first.
        if let (Verdict::Failed { reason, .. }, Err(_)) = (&verdict, &one.evidence) {
            warnings.retain(|warning| tells_more(warning, reason));
        }
        let design = &one.planned.configuration.design;
        // A runtime that compiles lays out code anew in every process.
        if !design.by_build && verdict.is_change() && !one.planned.runtime_threads {
            let ratio = estimate.map_or(1.0, |e| e.ratio);
            // Whole programs may be two different ones, whose difference is no affair of layouts.
            let is_more = ratio.ln().abs() > explained_by(defaults::LAYOUT_SD).ln_1p();
            if one.planned.style != Style::Process || !is_more {
                warnings.push(Warning::single_build(ratio, !one.planned.style.is_counted(), None));
            }
        }
        warnings.extend(estimate.filter(|_| verdict.is_open()).and_then(|e| beside_open(&e, one.decision.threshold)));
        let mut conclusion = Conclusion { estimate, verdict, confirmation: None, warnings };
        // Rounds that confirmed by another threshold than now count too.
        if let (Verdict::Regression | Verdict::Slower(Extent::Open { .. }), Ok(evidence)) =
            (&conclusion.verdict, &one.evidence)
        {
            let asked = Confirming { design, decision: &one.decision, rounds: confirm_rounds };
            conclusion.confirmation = confirmation(&brought.summary.forks, evidence, asked);
            conclusion.withdraw_if_contradicted(one.decision.threshold);
        }
        if conclusion.estimate.is_some() && brought.is_given_up(&conclusion.verdict) {
            conclusion = Conclusion { estimate: None, verdict: failed(&lasting), confirmation: None, ..conclusion };
            // They are about the change that is no answer any more.
            conclusion.warnings.retain(|warning| {
                !matches!(
                    warning,
                    Warning::NotConfirmed { .. } | Warning::SingleBuild { .. } | Warning::BesideOpen { .. }
                )
            });
        }
        if let Some(redefined) = &one.planned.redefined {
            conclusion.is_of_another_benchmark(redefined);
        }
        conclusion
    }

    /// Fresh trials that exclude a change that matters withdraw a regression, whatever the first round said: it is slower where they
    /// show that it is, within tolerance if both of their numbers are, and else an open question.
    fn withdraw_if_contradicted(&mut self, threshold: f64) {
        let withdrawn = self.confirmation.as_ref().filter(|c| c.standing == Standing::Withdrawn);
        if let (Some(Confirmation { fresh, beside, .. }), Some(estimate)) = (withdrawn, self.estimate) {
            self.warnings.push(Warning::NotConfirmed { ratio: estimate.ratio, later: fresh.ratio });
            let within = [fresh, beside].into_iter().all(|number| number.interval.is_within(threshold));
            self.verdict = match (fresh.interval.low > 1.0, within) {
                (true, true) => Verdict::Slower(Extent::WithinTolerance),
                (true, false) => Verdict::Slower(Extent::Open { forks_sufficient: None }),
                (false, _) => Verdict::Inconclusive { forks_sufficient: None },
            };
        }
    }

    /// Keeps the answer about the times, which is none about the code unless somebody takes the benchmarks for the same.
    fn is_of_another_benchmark(&mut self, redefined: &Redefinition) {
        if self.verdict.is_comparison() && !redefined.tolerated {
            self.verdict = Verdict::Redefined(Box::new(self.verdict.clone()));
        }
        self.warnings.insert(0, Warning::Redefined(redefined.clone()));
    }

    fn report(self, one: Examined<'_>, brought: Brought, ruled: Option<f64>) -> BenchmarkReport {
        let time = |side| median_over(&brought.first_round, side, |s| Some(s.ns_per_op));
        let (baseline_ns, candidate_ns) = (time(Role::Baseline), time(Role::Candidate));
        let design = &one.planned.configuration.design;
        let by_clock: Vec<ForkPair> = brought.first_round.iter().map(|fork| one.choice.clock.read(fork)).collect();
        let as_linked = one.planned.profile.and_then(|profile| profile.as_linked).filter(|_| design.by_build);
        // First trials are of short slices, in which cold caches hide a part of the change.
        let is_cold =
            one.planned.profile.and_then(|profile| profile.cold_share).is_some_and(|s| s > defaults::COLD_MAX);
        let mut warnings = self.warnings;
        warnings.extend(self.estimate.and_then(|_| Warning::idle_cores(&brought.first_round, &one.decision)));
        if let (Some(as_linked), Some(Estimate { ratio, .. })) = (as_linked.filter(|_| !is_cold), self.estimate) {
            let log_ratios: Vec<f64> = by_clock.iter().map(|fork| one.choice.basis.of(fork)).collect();
            warnings.extend(Warning::linked_apart(as_linked, ratio, &log_ratios, one.decision.threshold));
        }
        BenchmarkReport {
            id: one.planned.id.clone(),
            failed_too_often: brought.failed_too_often(),
            verdict: self.verdict,
            mode: Some(one.planned.mode),
            estimate: self.estimate,
            threshold: ruled,
            baseline_ns,
            candidate_ns,
            allocs: one.allocs,
            bytes: one.bytes,
            layout: design.by_build.then(|| Layout::of(&by_clock, one.choice.basis, design)).flatten(),
            as_linked,
            confirmation: self.confirmation,
            forks: brought.summary.forks,
            warnings,
        }
    }
}

/// The entry of a benchmark that the plan excluded.
fn report_excluded(excluded: &Excluded) -> BenchmarkReport {
    let verdict = match excluded {
        Excluded::OnlyIn(_, Role::Baseline) => Verdict::BaselineOnly,
        Excluded::OnlyIn(_, Role::Candidate) => Verdict::CandidateOnly,
        Excluded::Failed(_, role, reason) => Verdict::Failed { role: Some(*role), reason: reason.clone() },
        Excluded::Identical { .. } => Verdict::IdenticalCode,
        Excluded::NotAffected { .. } => Verdict::NotAffected,
    };
    BenchmarkReport::unmeasured(excluded.id().clone(), verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Basis, Clock, Counts, Method, RatioInterval};

    #[test]
    fn a_number_beside_the_judged_one_is_named_where_it_alone_leaves_the_band() {
        let estimate = |(low, high): (f64, f64), beside: Option<RatioInterval>| Estimate {
            ratio: 1.0,
            ratio_low: low,
            ratio_high: high,
            confidence: 0.9,
            basis: Basis::TypicalSlice,
            clock: Clock::Wall,
            beside: beside.map(|interval| Ranged { basis: Basis::AllSlices, ratio: 1.0, interval }),
            by_wall: None,
            method: Method::StudentT,
            looks: 1,
            p_value: 0.5,
            p_adjusted: 0.5,
            minimal_detectable_change: 0.05,
            counts: Counts { units: 8, builds: 8, forks: 8, slices: 800 },
        };
        let (narrow, wide) = (RatioInterval { low: 0.99, high: 1.01 }, RatioInterval { low: 0.99, high: 1.06 });
        let named = Warning::BesideOpen { basis: Basis::AllSlices, interval: wide };
        assert_eq!(beside_open(&estimate((0.99, 1.02), Some(wide)), 0.03), Some(named));
        assert_eq!(beside_open(&estimate((0.99, 1.02), Some(narrow)), 0.03), None);
        assert_eq!(beside_open(&estimate((0.99, 1.04), Some(wide)), 0.03), None);
        assert_eq!(beside_open(&estimate((0.99, 1.02), None), 0.03), None);
    }
}
