//! From the values of processes to verdicts.

use crate::analysis::finite_exp;
use crate::recording::Better;
use crate::spec::{Decision, Wanted};
use crate::stats::{self, SignedRank, StatsError};
use crate::verdict::Verdict;
use crate::verdict::rule::{PValues, RatioInterval, decided};

use super::{Change, PAIRS_MIN, Readings, ReadingsOutcome, ReportedMetric, UnitReadings};

/// Evidence from the pairs of one unit alone, without the other units.
struct Evidence {
    p_value: f64,
    /// The numbers of all pairs are the same: nothing is tested, it is taken for exact.
    is_exact: bool,
    shows: Shows,
}

enum Shows {
    /// A ratio.
    Ratio(Change),
    /// Sums of the ranks of the pairs that got worse, and of those that got better.
    Ranks { worse: f64, better: f64 },
}

/// The values of both sides: of the pairs of which both processes reported a unit, in one order.
#[derive(Default)]
struct Complete {
    baseline: Vec<f64>,
    candidate: Vec<f64>,
}

/// One unit of one benchmark.
struct Open<'a> {
    readings: &'a Readings,
    wanted: Wanted,
    /// The evidence of its pairs, or the verdict where there are none.
    found: Result<Evidence, Verdict>,
}

/// Judges everything that was read; `wanted` says what is wanted of a benchmark, `tells` whether its numbers tell of the program: the
/// p-values of one whose own code changed adjust nobody's, and are not adjusted.
///
/// A pair is joined by its number, and one of which a process did not report the unit is left out. Values above 0 are judged by their
/// log ratios as times are: the trimmed t over pairs (see `analysis::judge` for the rule and its two promises), with p-values
/// adjusted over all units of the run that vary (Benjamini and Hochberg 1995). Where a value is 0 or below, so that a ratio says
/// nothing, the exact signed-rank test over differences judges (Wilcoxon 1945): it tells worse from better and knows no threshold.
/// Ratios or differences that do not vary at all are taken for exact; they are no tests, and adjust nobody's p-value.
///
/// # Errors
/// When a number of the decision is out of its range (see [`Decision::check`]).
pub fn judge<'a>(
    readings: impl IntoIterator<Item = &'a Readings>,
    wanted: impl Fn(&Readings) -> Vec<Wanted>,
    tells: impl Fn(&Readings) -> bool,
    decision: &Decision,
) -> Result<Vec<ReportedMetric>, StatsError> {
    let mut open = Vec::new();
    for readings in readings {
        for wanted in wanted(readings) {
            let found = match values(readings, &wanted) {
                None => continue,
                Some(Ok(values)) => Ok(test(&values, wanted.better, decision)?),
                Some(Err(verdict)) => Err(verdict),
            };
            open.push(Open { readings, wanted, found });
        }
    }
    let adjusts = |one: &Open<'_>| one.tested().filter(|_| tells(one.readings)).map(|found| found.p_value);
    let p_values: Vec<f64> = open.iter().filter_map(adjusts).collect();
    let mut adjusted = stats::adjusted_p_values(&p_values)?.into_iter();
    let mut judged = |one: Open<'_>| {
        let p_adjusted = adjusts(&one).and_then(|_| adjusted.next());
        one.judged(p_adjusted, decision)
    };
    Ok(open.into_iter().map(&mut judged).collect())
}

impl Open<'_> {
    /// The evidence of its pairs, where that is a test.
    fn tested(&self) -> Option<&Evidence> {
        self.found.as_ref().ok().filter(|found| !found.is_exact)
    }

    /// With the adjusted p-value where there was a test.
    fn judged(self, p_adjusted: Option<f64>, decision: &Decision) -> ReportedMetric {
        let Open { readings, wanted, found } = self;
        let read = read(readings).iter().find(|read| read.unit == wanted.unit);
        let judged = read.filter(|_| found.is_ok()).map(Complete::of);
        let pairs = judged.as_ref().map_or(0, |judged| judged.baseline.len());
        let all = if judged.is_some() { read.map_or(0, |read| read.pairs.len()) } else { 0 };
        // Where nothing can be judged, what there is of either side is still told.
        let told = judged.or_else(|| read.map(Complete::of_each)).unwrap_or_default();
        let (baseline, candidate) = (stats::median(&told.baseline).ok(), stats::median(&told.candidate).ok());
        let change = match &found {
            Ok(Evidence { shows: Shows::Ratio(change), .. }) => Some(*change),
            _ => None,
        };
        let verdict = found.map_or_else(|verdict| verdict, |found| verdict(&found, p_adjusted, &wanted, decision));
        ReportedMetric {
            id: readings.id.clone(),
            unit: wanted.unit,
            better: wanted.better,
            threshold: wanted.threshold,
            verdict,
            baseline,
            candidate,
            change,
            pairs: number(pairs),
            pairs_left_out: number(all - pairs),
        }
    }
}

fn number(pairs: usize) -> u32 {
    u32::try_from(pairs).unwrap_or(u32::MAX)
}

impl Complete {
    fn of(read: &UnitReadings) -> Complete {
        let both = read.pairs.iter().filter_map(|pair| pair.baseline.zip(pair.candidate));
        let (baseline, candidate) = both.unzip();
        Complete { baseline, candidate }
    }

    /// All that there is of each side, whether the other half is there or not: good for medians, and for no comparison.
    fn of_each(read: &UnitReadings) -> Complete {
        Complete {
            baseline: read.pairs.iter().filter_map(|pair| pair.baseline).collect(),
            candidate: read.pairs.iter().filter_map(|pair| pair.candidate).collect(),
        }
    }

    fn is_enough(&self) -> bool {
        self.baseline.len() >= PAIRS_MIN as usize
    }

    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.baseline.iter().copied().zip(self.candidate.iter().copied())
    }

    fn all(&self) -> impl Iterator<Item = &f64> {
        self.baseline.iter().chain(&self.candidate)
    }
}

fn read(readings: &Readings) -> &[UnitReadings] {
    match &readings.outcome {
        ReadingsOutcome::Read(units) => units,
        ReadingsOutcome::Failed { .. } => &[],
    }
}

/// The values of a unit, if both versions have them, or what is to be said instead; nothing where neither reports it.
fn values(readings: &Readings, wanted: &Wanted) -> Option<Result<Complete, Verdict>> {
    if let ReadingsOutcome::Failed { reason } = &readings.outcome {
        return Some(Err(Verdict::Failed { role: None, reason: reason.clone() }));
    }
    let values = read(readings).iter().find(|read| read.unit == wanted.unit)?;
    let failed = |reason: String| Some(Err(Verdict::Failed { role: None, reason }));
    let each = Complete::of_each(values);
    match (each.baseline.is_empty(), each.candidate.is_empty()) {
        (true, true) => return None,
        (false, true) => return Some(Err(Verdict::BaselineOnly)),
        (true, false) => return Some(Err(Verdict::CandidateOnly)),
        (false, false) => {}
    }
    let complete = Complete::of(values);
    if !complete.is_enough() {
        let (unit, judged, all) = (&wanted.unit, complete.baseline.len(), values.pairs.len());
        return failed(format!(
            "not every process reported `{unit}`: both of a pair did in {judged} of {all} pairs, {PAIRS_MIN} are needed"
        ));
    }
    if !complete.all().all(|value| value.is_finite()) {
        return failed(format!("it reported something under `{}` that is no number", wanted.unit));
    }
    Some(Ok(complete))
}

/// Tests the pairs.
fn test(values: &Complete, better: Better, decision: &Decision) -> Result<Evidence, StatsError> {
    if values.all().any(|value| *value <= 0.0) {
        return test_ranks(values, better);
    }
    let log_ratios: Vec<f64> = values.pairs().map(|(b, c)| log_ratio(b, c)).collect();
    let log_ratio = stats::trimmed_t(&log_ratios)?;
    let (low, high) = log_ratio.interval(decision.interval_alpha())?;
    let change = Change { ratio: finite_exp(log_ratio.mean), ratio_low: finite_exp(low), ratio_high: finite_exp(high) };
    let is_exact = all_the_same(&log_ratios);
    // Where only what was trimmed varies, the interval is a point; how sure that is, their order still tells.
    let p_value = match log_ratio.standard_error == 0.0 && !is_exact {
        true => stats::signed_rank_exact(&log_ratios)?.p_value,
        false => log_ratio.p_value()?,
    };
    Ok(Evidence { p_value, is_exact, shows: Shows::Ratio(change) })
}

/// The logarithm of the quotient of two numbers above 0; finite where the quotient is not.
fn log_ratio(baseline: f64, candidate: f64) -> f64 {
    let quotient = candidate / baseline;
    if quotient.is_normal() { quotient.ln() } else { candidate.ln() - baseline.ln() }
}

/// The evidence of the differences of pairs, where values have no ratio.
fn test_ranks(values: &Complete, better: Better) -> Result<Evidence, StatsError> {
    let sign = if better == Better::Lower { 1.0 } else { -1.0 };
    let worsened: Vec<f64> = values.pairs().map(|(b, c)| sign * (c - b)).collect();
    let SignedRank { positive: worse, negative: better, p_value } = stats::signed_rank_exact(&worsened)?;
    let is_exact = all_the_same(&worsened);
    let p_value = if is_exact && worse + better > 0.0 { 0.0 } else { p_value };
    Ok(Evidence { p_value, is_exact, shows: Shows::Ranks { worse, better } })
}

fn all_the_same(numbers: &[f64]) -> bool {
    numbers.windows(2).all(|two| two[0] == two[1])
}

/// With the adjusted p-value where there was a test.
fn verdict(evidence: &Evidence, p_adjusted: Option<f64>, wanted: &Wanted, decision: &Decision) -> Verdict {
    let p_values = PValues { own: evidence.p_value, adjusted: p_adjusted.unwrap_or(evidence.p_value) };
    match evidence.shows {
        Shows::Ratio(change) => {
            let Change { ratio_low: low, ratio_high: high, .. } = change.worsening(wanted.better);
            let decision = Decision { threshold: wanted.threshold, ..*decision };
            decided(RatioInterval { low, high }, None, p_values, &decision)
        }
        Shows::Ranks { worse, better } => by_ranks(worse, better, p_values.show_change(decision)),
    }
}

/// The verdict by order alone, from the sums of ranks of the pairs that got worse and of those that got better.
fn by_ranks(worse: f64, better: f64, changed: bool) -> Verdict {
    if worse + better == 0.0 {
        return Verdict::NoChange;
    }
    match changed {
        false => Verdict::Inconclusive { forks_sufficient: None },
        true if worse > better => Verdict::Regression,
        true => Verdict::Improvement,
    }
}
