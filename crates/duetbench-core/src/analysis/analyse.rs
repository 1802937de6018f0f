//! The whole suite: from samples to reports.

use super::{BenchmarkReport, Counted, ForkPair, ForkSide};
use crate::plan::{Excluded, Plan, PlannedBenchmark};
use crate::sample::{BenchmarkId, Role, Sample};
use crate::spec::{Decision, defaults};
use crate::stats::{self, StatsError};
use crate::verdict::Verdict;

use super::{Choice, Estimate, Evidence, Summary, Warning, choose_basis, compare_counts, judge, summarise};

/// What measuring one benchmark of a plan brought in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// All its samples, in any order.
    pub samples: Vec<Sample>,
    /// Trials that failed, in the order in which they did.
    pub failed_trials: Vec<TrialFailure>,
}

/// A trial that gave no samples that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialFailure {
    /// Which side failed, where it was one.
    pub role: Option<Role>,
    /// The benchmark's or the tool's own words.
    pub reason: String,
}

/// Judges everything a plan names, measured or not; sorted by package and name.
///
/// `measured` is indexed like [`Plan::benchmarks`]; a benchmark beyond its end was not measured. The result depends on the
/// arguments alone, and not on the order of the samples.
#[must_use]
pub fn analyse(plan: &Plan, measured: &[Measured], decision: &Decision) -> Vec<BenchmarkReport> {
    let nothing = Measured::default();
    let mut examined = Vec::with_capacity(plan.benchmarks.len());
    for (i, planned) in plan.benchmarks.iter().enumerate() {
        examined.push(Examined::new(planned, measured.get(i).unwrap_or(&nothing), decision));
    }
    // Benchmarks without evidence were not tested, so they do not count among the tests.
    let p_values: Vec<f64> = examined.iter().filter_map(|e| Some(e.evidence.as_ref().ok()?.p_value)).collect();
    // Made by our own test, so they are probabilities.
    let mut p_adjusted = stats::adjusted_p_values(&p_values).unwrap_or(p_values).into_iter();
    let mut reports: Vec<BenchmarkReport> = plan.excluded.iter().map(report_excluded).collect();
    for one in examined {
        let p_adjusted = if one.evidence.is_ok() { p_adjusted.next() } else { None };
        reports.push(one.report(p_adjusted.unwrap_or(1.0), decision));
    }
    reports.sort_by(|a, b| a.id.cmp(&b.id));
    reports
}

/// One benchmark before the rest of the suite is looked at.
struct Examined<'a> {
    planned: &'a PlannedBenchmark,
    /// Those that failed while measuring, then those whose samples make no sense.
    failed_trials: Vec<TrialFailure>,
    summary: Summary,
    allocs: Option<Counted>,
    bytes: Option<Counted>,
    choice: Choice,
    evidence: Result<Evidence, StatsError>,
}

impl<'a> Examined<'a> {
    fn new(planned: &'a PlannedBenchmark, measured: &Measured, decision: &Decision) -> Self {
        let summary = summarise(&measured.samples, planned.mode);
        let (allocs, bytes) =
            (counted(&summary.forks, |s| s.allocs_per_op), counted(&summary.forks, |s| s.bytes_per_op));
        let choice = choose_basis(&summary.forks, bytes.as_ref(), planned.mode, decision);
        let evidence = Evidence::of(&summary.forks, choice.basis);
        let rejected = summary.rejected.iter().map(|r| TrialFailure { role: Some(r.role()), reason: r.to_string() });
        let failed_trials = measured.failed_trials.iter().cloned().chain(rejected).collect();
        Examined { planned, failed_trials, summary, allocs, bytes, choice, evidence }
    }

    fn report(self, p_adjusted: f64, decision: &Decision) -> BenchmarkReport {
        let (estimate, verdict) = self.conclude(p_adjusted, decision);
        let warnings = self.warnings();
        let forks = self.summary.forks;
        let time = |side| median_over(&forks, side, |s| Some(s.ns_per_op));
        BenchmarkReport {
            id: self.planned.id.clone(),
            verdict,
            mode: Some(self.planned.mode),
            estimate,
            baseline_ns: time(Role::Baseline),
            candidate_ns: time(Role::Candidate),
            allocs: self.allocs,
            bytes: self.bytes,
            forks,
            warnings,
        }
    }

    fn conclude(&self, p_adjusted: f64, decision: &Decision) -> (Option<Estimate>, Verdict) {
        let concluded = self.evidence.as_ref().map_err(|e| *e).and_then(|evidence| {
            let estimate = evidence.estimate(decision, p_adjusted)?;
            Ok((estimate, judge(evidence, &estimate, decision)?))
        });
        match (concluded, &self.failed_trials[..]) {
            (Ok((estimate, verdict)), _) => (Some(estimate), verdict),
            (Err(StatsError::TooFew { .. }), []) => (None, Verdict::Inconclusive { forks_sufficient: None }),
            (Err(StatsError::TooFew { .. }), failures @ [first, ..]) => {
                let role = first.role.filter(|_| failures.iter().all(|f| f.role == first.role));
                (None, Verdict::Failed { role, reason: first.reason.clone() })
            }
            (Err(error), _) => (None, Verdict::Failed { role: None, reason: error.to_string() }),
        }
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Err(StatsError::TooFew { .. }) = self.evidence {
            warnings.push(Warning::TooFewForks { forks: count(&self.summary.forks), needed: defaults::FORKS_MIN });
        }
        if self.summary.orphans > 0 {
            warnings.push(Warning::Orphans { samples: self.summary.orphans });
        }
        if self.evidence.is_ok_and(|e| e.is_degenerate()) {
            warnings.push(Warning::Degenerate);
        }
        if let Some(cpu_share) = self.summary.cpu_share.filter(|share| *share < defaults::CPU_SHARE_MIN) {
            warnings.push(Warning::NotCpuBound { cpu_share });
        }
        if let Some(difference) = self.choice.slow_slices {
            warnings.push(Warning::SlowSlices { ratio: difference.exp() });
        }
        if let [first, ..] = &self.failed_trials[..] {
            warnings.push(Warning::FailedTrials { trials: count(&self.failed_trials), first: first.reason.clone() });
        }
        warnings
    }
}

/// The entry of a benchmark that the plan excluded.
fn report_excluded(excluded: &Excluded) -> BenchmarkReport {
    let verdict = match excluded {
        Excluded::OnlyIn(_, Role::Baseline) => Verdict::BaselineOnly,
        Excluded::OnlyIn(_, Role::Candidate) => Verdict::CandidateOnly,
        Excluded::Failed(_, role, reason) => Verdict::Failed { role: Some(*role), reason: reason.clone() },
    };
    unmeasured(excluded.id().clone(), verdict)
}

fn unmeasured(id: BenchmarkId, verdict: Verdict) -> BenchmarkReport {
    BenchmarkReport {
        id,
        verdict,
        mode: None,
        estimate: None,
        baseline_ns: None,
        candidate_ns: None,
        allocs: None,
        bytes: None,
        forks: Vec::new(),
        warnings: Vec::new(),
    }
}

fn values_of(forks: &[ForkPair], role: Role, number: impl Fn(&ForkSide) -> Option<f64>) -> Vec<f64> {
    let side = |fork: &ForkPair| match role {
        Role::Baseline => fork.baseline,
        Role::Candidate => fork.candidate,
    };
    forks.iter().filter_map(|fork| number(&side(fork))).collect()
}

fn median_over(forks: &[ForkPair], role: Role, number: impl Fn(&ForkSide) -> Option<f64>) -> Option<f64> {
    stats::median(&values_of(forks, role, number)).ok()
}

fn counted(forks: &[ForkPair], number: impl Fn(&ForkSide) -> Option<f64>) -> Option<Counted> {
    compare_counts(&values_of(forks, Role::Baseline, &number), &values_of(forks, Role::Candidate, &number))
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
