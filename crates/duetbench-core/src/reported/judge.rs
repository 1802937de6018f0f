//! From the values of processes to verdicts.

use crate::analysis::decided;
use crate::recording::Better;
use crate::spec::{Decision, Wanted};
use crate::stats::{self, StatsError};
use crate::verdict::Verdict;

use super::{Change, Readings, ReadingsOutcome, ReportedMetric, UnitReadings};

/// What the pairs of one unit say, before the other units are looked at.
struct Evidence {
    p_value: f64,
    /// Interval of the ratio, where values have one.
    change: Option<Change>,
    /// What the signs tell: the pairs that got worse, and those that got better.
    signs: (usize, usize),
}

/// Judges everything that was read; `wanted` says what is wanted of a benchmark.
///
/// Values above 0 are judged by their log ratios as times are: Student's t over pairs (see `analysis::judge` for the rule and its two
/// promises), with p-values adjusted over all units that were read (Benjamini and Hochberg 1995). Where a value is 0 or below, so that
/// a ratio says nothing, the sign test over pairs judges (Arbuthnot 1710): it tells worse from better and knows no threshold. Ratios or differences that
/// do not vary at all are taken for exact.
///
/// # Errors
/// When a number of the decision is out of its range (see [`Decision::check`]).
pub fn judge<'a>(
    readings: impl IntoIterator<Item = &'a Readings>,
    wanted: impl Fn(&Readings) -> Vec<Wanted>,
    decision: &Decision,
) -> Result<Vec<ReportedMetric>, StatsError> {
    let mut open = Vec::new();
    for one in readings {
        open.extend(wanted(one).into_iter().filter_map(|wanted| Some((one, values(one, &wanted)?, wanted))));
    }
    let evidence: Vec<Option<Evidence>> = open
        .iter()
        .map(|(_, values, wanted)| values.as_ref().ok().map(|values| test(values, wanted.better, decision)).transpose())
        .collect::<Result<_, _>>()?;
    let p_values: Vec<f64> = evidence.iter().flatten().map(|evidence| evidence.p_value).collect();
    let mut adjusted = stats::adjusted_p_values(&p_values)?.into_iter();
    let judged = open.into_iter().zip(evidence).map(|((one, values, wanted), evidence)| {
        let verdict = match (&values, &evidence) {
            (_, Some(evidence)) => verdict(evidence, adjusted.next().unwrap_or(1.0), (&wanted, decision)),
            (Err(verdict), None) => verdict.clone(),
            (Ok(_), None) => Verdict::Inconclusive { forks_sufficient: None },
        };
        let median = |side: fn(&UnitReadings) -> &Vec<f64>| {
            let read = read(one).iter().find(|read| read.unit == wanted.unit);
            read.and_then(|read| stats::median(side(read)).ok())
        };
        let (baseline, candidate) = (median(|read| &read.baseline), median(|read| &read.candidate));
        let pairs = values.map_or(0, |values| values.baseline.len());
        ReportedMetric {
            id: one.id.clone(),
            unit: wanted.unit,
            better: wanted.better,
            threshold: wanted.threshold,
            verdict,
            baseline,
            candidate,
            change: evidence.and_then(|evidence| evidence.change),
            pairs: u32::try_from(pairs).unwrap_or(u32::MAX),
        }
    });
    Ok(judged.collect())
}

fn read(readings: &Readings) -> &[UnitReadings] {
    match &readings.outcome {
        ReadingsOutcome::Read(units) => units,
        ReadingsOutcome::Failed { .. } => &[],
    }
}

/// The values of a unit, if both versions have them, or what is to be said instead; nothing where neither reports it.
fn values<'a>(readings: &'a Readings, wanted: &Wanted) -> Option<Result<&'a UnitReadings, Verdict>> {
    if let ReadingsOutcome::Failed { reason } = &readings.outcome {
        return Some(Err(Verdict::Failed { role: None, reason: reason.clone() }));
    }
    let values = read(readings).iter().find(|read| read.unit == wanted.unit)?;
    let failed = |reason: String| Some(Err(Verdict::Failed { role: None, reason }));
    match (values.baseline.len(), values.candidate.len()) {
        (0, 0) => None,
        (_, 0) => Some(Err(Verdict::BaselineOnly)),
        (0, _) => Some(Err(Verdict::CandidateOnly)),
        (b, c) if b != c || b < 2 => failed(format!("not every process reported `{}`", wanted.unit)),
        _ if values.baseline.iter().chain(&values.candidate).all(|value| value.is_finite()) => Some(Ok(values)),
        _ => failed(format!("it reported something under `{}` that is no number", wanted.unit)),
    }
}

/// What the pairs say.
fn test(values: &UnitReadings, better: Better, decision: &Decision) -> Result<Evidence, StatsError> {
    let pairs = || values.baseline.iter().zip(&values.candidate);
    if pairs().any(|(b, c)| *b <= 0.0 || *c <= 0.0) {
        let sign = if better == Better::Lower { 1.0 } else { -1.0 };
        let worsened: Vec<f64> = pairs().map(|(b, c)| sign * (c - b)).collect();
        let of_sign = |is: fn(&f64) -> bool| worsened.iter().filter(|d| is(d)).count();
        let signs = (of_sign(|d| *d > 0.0), of_sign(|d| *d < 0.0));
        let vary = worsened.windows(2).any(|two| two[0] != two[1]);
        let p_value = if vary || signs == (0, 0) { stats::sign_test_p(&worsened)? } else { 0.0 };
        return Ok(Evidence { p_value, change: None, signs });
    }
    let log_ratios: Vec<f64> = pairs().map(|(b, c)| (c / b).ln()).collect();
    let log_ratio = stats::trimmed_t(&log_ratios)?;
    let (low, high) = log_ratio.interval(decision.alpha)?;
    let exp = |log: f64| log.exp().min(f64::MAX);
    let change = Change { ratio: exp(log_ratio.mean), ratio_low: exp(low), ratio_high: exp(high) };
    Ok(Evidence { p_value: log_ratio.p_value()?, change: Some(change), signs: (0, 0) })
}

fn verdict(evidence: &Evidence, p_adjusted: f64, (wanted, decision): (&Wanted, &Decision)) -> Verdict {
    let p_values = (evidence.p_value, p_adjusted);
    let found = match evidence.change {
        Some(change) => {
            let (low, high) = (change.ratio_low, change.ratio_high);
            let grown = match wanted.better {
                Better::Lower => (low, high),
                Better::Higher => (high.recip(), low.recip()),
            };
            decided(grown, p_values, &Decision { threshold: wanted.threshold, ..*decision })
        }
        None => by_sign(evidence.signs, p_values, decision),
    };
    found.unwrap_or(Verdict::Inconclusive { forks_sufficient: None })
}

/// The verdict by signs alone, from the pairs that got worse and those that got better.
fn by_sign((worse, better): (usize, usize), (p_value, p_adjusted): (f64, f64), decision: &Decision) -> Option<Verdict> {
    let sure = p_value <= decision.alpha && p_adjusted <= decision.false_discovery_rate;
    match (worse, better) {
        (0, 0) => Some(Verdict::NoChange),
        _ if !sure => None,
        _ if worse > better => Some(Verdict::Regression),
        _ => Some(Verdict::Improvement),
    }
}
