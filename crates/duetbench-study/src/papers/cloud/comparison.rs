//! Compares the steadiness of environments: for each benchmark, and over all of them.

use duetbench_core::stats::{critical_t, signed_rank_p};

use super::Studied;
use crate::statistics::holm_p_values;

/// Error of the interval that says whether one environment is clearly steadier for a benchmark.
const ALPHA: f64 = 0.05;

/// Environments held against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The benchmarks that at least two environments have, in the first one's order.
    pub benchmarks: Vec<Steadiest>,
    /// Benchmarks that vary in all environments: those that the scores are of.
    pub common: usize,
    /// All environments over these benchmarks, the steadiest first; empty without any such benchmark.
    pub scores: Vec<Score>,
    /// The steadiest against each of the others, in the order of the scores.
    pub against: Vec<Against>,
}

/// Where a benchmark varies least.
#[derive(Debug, Clone, PartialEq)]
pub struct Steadiest {
    /// The benchmark.
    pub benchmark: String,
    /// Where it varies least.
    pub environment: String,
    /// Relative standard deviation there.
    pub rsd: f64,
    /// Where it varies least but there.
    pub next: String,
    /// Relative standard deviation in that one.
    pub next_rsd: f64,
    /// Whether the ratio of the two is below 1 beyond chance, at 5 %, with instances as what is independent; absent where an
    /// environment has too few of them to tell.
    pub clear: Option<bool>,
}

/// Steadiness of an environment over all common benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The environment.
    pub environment: String,
    /// Geometric mean of the relative standard deviations.
    pub rsd: f64,
    /// Benchmarks that vary least there.
    pub steadiest_of: usize,
}

/// The steadiest environment against another.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// The other one.
    pub environment: String,
    /// Relative standard deviations in the steadiest by those in the other, geometric mean over the common benchmarks.
    pub ratio: f64,
    /// Benchmarks that vary less in the steadiest.
    pub steadier_for: usize,
    /// p-value of the signed-rank test over benchmarks, adjusted by Holm's method for the number of others; absent where it cannot be made.
    pub p_value: Option<f64>,
}

impl Against {
    /// Whether the steadiest is clearly steadier than this one, at 5 %.
    pub fn is_clear(&self) -> bool {
        self.p_value.is_some_and(|p| p <= ALPHA)
    }
}

/// The spread of a benchmark in one of the environments.
#[derive(Clone, Copy)]
struct Seen<'a> {
    environment: &'a str,
    rsd: f64,
    log_error: Option<f64>,
    instances: usize,
}

impl Comparison {
    /// Holds environments against each other by the relative standard deviations of their values. Absent with fewer than two, or
    /// without a benchmark that two of them have.
    pub fn of(environments: &[Studied]) -> Option<Comparison> {
        let mut names: Vec<&str> = Vec::new();
        for benchmark in environments.iter().flat_map(|studied| &studied.benchmarks) {
            if !names.contains(&benchmark.benchmark.as_str()) {
                names.push(&benchmark.benchmark);
            }
        }
        let seen: Vec<(&str, Vec<Seen<'_>>)> = names.into_iter().map(|name| (name, seen(environments, name))).collect();
        let benchmarks: Vec<Steadiest> = seen.iter().filter_map(|(name, seen)| steadiest(name, seen)).collect();
        if benchmarks.is_empty() {
            return None;
        }
        let everywhere = |seen: &[Seen<'_>]| seen.len() == environments.len() && seen.iter().all(|seen| seen.rsd > 0.0);
        let common: Vec<&Vec<Seen<'_>>> = seen.iter().map(|(_, seen)| seen).filter(|seen| everywhere(seen)).collect();
        let mut scores: Vec<Score> =
            environments.iter().filter_map(|studied| score(&studied.environment, &common)).collect();
        scores.sort_by(|a, b| a.rsd.total_cmp(&b.rsd));
        let against = against(&scores, &common);
        Some(Comparison { benchmarks, common: common.len(), scores, against })
    }
}

/// A benchmark in all environments that have it, where it varies least first.
fn seen<'a>(environments: &'a [Studied], benchmark: &str) -> Vec<Seen<'a>> {
    let mut seen: Vec<Seen<'a>> = environments
        .iter()
        .filter_map(|studied| {
            let found = studied.of(benchmark)?;
            let (rsd, log_error) = (found.spread.rsd?, found.spread.log_rsd_error);
            Some(Seen { environment: &studied.environment, rsd, log_error, instances: found.instances })
        })
        .collect();
    seen.sort_by(|a, b| a.rsd.total_cmp(&b.rsd));
    seen
}

fn steadiest(benchmark: &str, seen: &[Seen<'_>]) -> Option<Steadiest> {
    let [first, next, ..] = seen else { return None };
    Some(Steadiest {
        benchmark: benchmark.to_owned(),
        environment: first.environment.to_owned(),
        rsd: first.rsd,
        next: next.environment.to_owned(),
        next_rsd: next.rsd,
        clear: is_clear(first, next),
    })
}

/// Whether the log ratio of two spreads lies outside its interval around 0. The degrees of freedom are the smaller ones of the two
/// jackknives, which is on the safe side of Welch's.
fn is_clear(first: &Seen<'_>, next: &Seen<'_>) -> Option<bool> {
    let error = first.log_error?.hypot(next.log_error?);
    let degrees = first.instances.min(next.instances).saturating_sub(1);
    let critical = critical_t(ALPHA, degrees as f64).ok()?;
    Some((next.rsd / first.rsd).ln() > critical * error)
}

fn log_in(environment: &str, seen: &[Seen<'_>]) -> Option<f64> {
    seen.iter().find(|seen| seen.environment == environment).map(|seen| seen.rsd.ln())
}

fn score(environment: &str, common: &[&Vec<Seen<'_>>]) -> Option<Score> {
    let logs: Vec<f64> = common.iter().filter_map(|seen| log_in(environment, seen)).collect();
    let steadiest_of = common.iter().filter(|seen| seen.first().is_some_and(|s| s.environment == environment)).count();
    let rsd = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    (!logs.is_empty()).then(|| Score { environment: environment.to_owned(), rsd, steadiest_of })
}

fn against(scores: &[Score], common: &[&Vec<Seen<'_>>]) -> Vec<Against> {
    let [best, others @ ..] = scores else { return Vec::new() };
    let mut against: Vec<Against> = others
        .iter()
        .map(|other| {
            let difference =
                |seen: &&Vec<Seen<'_>>| Some(log_in(&best.environment, seen)? - log_in(&other.environment, seen)?);
            let differences: Vec<f64> = common.iter().filter_map(difference).collect();
            Against {
                environment: other.environment.clone(),
                ratio: best.rsd / other.rsd,
                steadier_for: differences.iter().filter(|difference| **difference < 0.0).count(),
                p_value: signed_rank_p(&differences).ok(),
            }
        })
        .collect();
    let p_values: Option<Vec<f64>> = against.iter().map(|one| one.p_value).collect();
    if let Some(adjusted) = p_values.and_then(|p_values| holm_p_values(&p_values).ok()) {
        against.iter_mut().zip(adjusted).for_each(|(one, p)| one.p_value = Some(p));
    }
    against
}

#[cfg(test)]
mod tests {
    use super::super::{Spread, StudiedBenchmark};
    use super::*;

    /// An environment whose benchmarks have these relative standard deviations, with this error of their logarithms.
    fn studied(environment: &str, rsds: &[(&str, f64)], log_rsd_error: Option<f64>) -> Studied {
        let benchmark = |(benchmark, rsd): &(&str, f64)| StudiedBenchmark {
            benchmark: (*benchmark).to_owned(),
            instances: 10,
            trials: 10,
            collected: 100,
            removed: 0,
            spread: Spread { rsd: Some(*rsd), per_instance: None, per_trial: None, log_rsd_error, sources: None },
            alarms: Vec::new(),
            detectable: Vec::new(),
        };
        Studied {
            environment: environment.to_owned(),
            benchmarks: rsds.iter().map(benchmark).collect(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn each_benchmark_has_its_steadiest_environment_and_says_how_clear_that_is() {
        let a = studied("a", &[("X", 0.01), ("Y", 0.10), ("Z", 0.5)], Some(0.1));
        let b = studied("b", &[("Y", 0.11), ("X", 0.02), ("W", 0.1)], Some(0.1));
        let comparison = Comparison::of(&[b, a]).unwrap();
        let found: Vec<(&str, &str, Option<bool>)> =
            comparison.benchmarks.iter().map(|s| (s.benchmark.as_str(), s.environment.as_str(), s.clear)).collect();
        // ln 2 = 0.69 and ln 1.1 = 0.095; the limit is t(0.975, 9) · 0.1 · √2 = 0.32.
        assert_eq!(found, [("Y", "a", Some(false)), ("X", "a", Some(true))]);
        assert_eq!(comparison.common, 2);
    }

    #[test]
    fn over_all_benchmarks_the_geometric_mean_decides_and_a_test_says_how_sure_that_is() {
        let names: Vec<String> = (0..8).map(|i| format!("B{i}")).collect();
        let of = |rsd: &dyn Fn(usize) -> f64| {
            names.iter().enumerate().map(|(i, n)| (n.as_str(), rsd(i))).collect::<Vec<_>>()
        };
        let steady = studied("steady", &of(&|i| 0.01 + 0.001 * i as f64), None);
        let rough = studied("rough", &of(&|i| 0.04 + 0.002 * i as f64), None);
        let same = studied("same", &of(&|i| (0.01 + 0.001 * i as f64) * if i % 2 == 0 { 1.2 } else { 0.9 }), None);
        let comparison = Comparison::of(&[rough, same, steady]).unwrap();
        let order: Vec<&str> = comparison.scores.iter().map(|score| score.environment.as_str()).collect();
        assert_eq!(order, ["steady", "same", "rough"]);
        assert_eq!(comparison.scores.iter().map(|score| score.steadiest_of).collect::<Vec<_>>(), [4, 4, 0]);
        let [same, rough] = &comparison.against[..] else { panic!("{comparison:?}") };
        assert!(!same.is_clear() && (same.ratio - (1.2_f64 * 0.9).sqrt().recip()).abs() < 1e-12);
        // Eight of eight: 2 / 2⁸, twice for two comparisons.
        assert!(rough.is_clear() && (rough.p_value.unwrap() - 4.0 / 256.0).abs() < 1e-12, "{rough:?}");
        assert_eq!(rough.steadier_for, 8);
        assert_eq!(comparison.benchmarks[0].clear, None);
    }

    #[test]
    fn what_does_not_vary_is_steadiest_and_has_no_score() {
        let a = studied("a", &[("X", 0.0)], None);
        let b = studied("b", &[("X", 0.1)], None);
        let comparison = Comparison::of(&[b, a]).unwrap();
        assert_eq!(comparison.benchmarks[0].environment, "a");
        assert!(comparison.common == 0 && comparison.scores.is_empty() && comparison.against.is_empty());
        assert_eq!(Comparison::of(&[studied("a", &[("X", 0.1)], None)]), None);
        assert_eq!(Comparison::of(&[studied("a", &[("X", 0.1)], None), studied("b", &[("Y", 0.1)], None)]), None);
    }
}
