//! Whether reduced configurations find the performance changes that full ones find (research question 4).

use std::collections::{BTreeMap, HashMap};

use duetbench_core::detect::{Both, Change, Fidelity, PaperRule, Statistic, Summary, by_name};
use duetbench_core::recording::{Better, Recording};
use duetbench_core::stats::median;
use duetbench_core::tune::{Metric, Tuned, tune};

use super::{Compat, Method, Random, Settings, is_go, minimum_baseline};

/// Two consecutive versions, with one method.
#[derive(Debug, Clone, PartialEq)]
pub struct PairOfVersions {
    /// The method that reduced configurations.
    pub method: Method,
    /// The recording of the earlier version.
    pub v1: String,
    /// The recording of the later one.
    pub v2: String,
    /// Changes found by the reduced configurations, held against those of the full ones.
    pub fidelity: Fidelity,
}

/// The versions of a project as they come in: configurations are learnt on the first, and followed on all.
pub struct Tracked {
    rule: PaperRule,
    compat: Compat,
    configurations: Vec<(Method, BTreeMap<String, Vec<usize>>)>,
    /// The version that came last, with its benchmarks by method.
    last: (String, Vec<HashMap<String, Both>>),
}

impl Tracked {
    /// Learns every method's configurations on the first version: by RMAD for Go data, else by RCIW3, as the paper recommends.
    pub fn new(first: &Recording, settings: &Settings, random: Random) -> Tracked {
        let metric = if is_go(first) { Metric::Rmad } else { Metric::Rciw3 };
        let practice = settings.practice(metric);
        let of_method = |method| match method {
            Method::UOpTime => tune(first, &practice),
            Method::Minimum => minimum_baseline(first, &practice),
            Method::Random => drawn(first, settings, random, metric),
        };
        let rule = PaperRule {
            // The published code takes the interval of the median here, whatever it is called.
            statistic: Statistic::Median,
            confidence: settings.confidence,
            threshold: settings.relevant,
        };
        let configurations: Vec<(Method, BTreeMap<String, Vec<usize>>)> =
            Method::ALL.into_iter().map(|method| (method, configurations(of_method(method)))).collect();
        let mut tracked =
            Tracked { rule, compat: settings.compat, configurations, last: (first.name.clone(), Vec::new()) };
        tracked.last.1 = tracked.summaries(first);
        tracked
    }

    /// Compares the next version with the one before it.
    pub fn next(&mut self, version: &Recording) -> Vec<PairOfVersions> {
        let now = self.summaries(version);
        let named = by_name(version);
        let mut pairs = Vec::with_capacity(self.configurations.len());
        for (i, (method, configurations)) in self.configurations.iter().enumerate() {
            let mut fidelity = Fidelity::default();
            for name in configurations.keys() {
                let both = self.last.1[i].get(name).zip(now[i].get(name));
                if let (Some((base, head)), Some(recorded)) = (both, named.get(name.as_str())) {
                    let full = self.change(&base.full, &head.full, recorded.better);
                    fidelity.count(name, full, self.change(&base.reduced, &head.reduced, recorded.better));
                }
            }
            pairs.push(PairOfVersions { method: *method, v1: self.last.0.clone(), v2: version.name.clone(), fidelity });
        }
        self.last = (version.name.clone(), now);
        pairs
    }

    /// The relevant change between two summaries. The published code knows times only: it counts larger values, above the threshold.
    fn change(&self, base: &Summary, head: &Summary, better: Better) -> Option<Change> {
        let found = self.rule.change(base, head, better);
        match self.compat {
            Compat::Paper => found,
            Compat::PaperCode => found.and((base.rate_to(head) > self.rule.threshold).then_some(Change::Regression)),
        }
    }

    /// Every followed benchmark of a version by its full and its reduced configuration, for each method.
    fn summaries(&self, version: &Recording) -> Vec<HashMap<String, Both>> {
        let of_method = |(_, configurations): &(Method, BTreeMap<String, Vec<usize>>)| {
            let followed = version.benchmarks.iter().filter_map(|b| {
                let both = Both::of(b, configurations.get(&b.benchmark)?, &self.rule).ok()?;
                Some((b.benchmark.clone(), both))
            });
            followed.collect()
        };
        self.configurations.iter().map(of_method).collect()
    }
}

fn configurations(tuned: Tuned) -> BTreeMap<String, Vec<usize>> {
    tuned.choices.into_iter().map(|choice| (choice.benchmark, choice.chosen)).collect()
}

/// The random configurations that go with a metric: what is drawn for those before it comes first.
fn drawn(recording: &Recording, settings: &Settings, random: Random, metric: Metric) -> Tuned {
    let mut baseline = random.baseline(recording, &settings.practice(metric));
    for before in Metric::ALL.into_iter().take_while(|before| *before != metric) {
        baseline.choose(recording, &settings.practice(before));
    }
    baseline.choose(recording, &settings.practice(metric))
}

/// Smallest, median and largest rate over pairs of versions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSummary {
    /// Smallest.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Largest.
    pub high: f64,
}

/// Summarises rates. A rate that is not defined, for want of anything to get wrong, is left out; the published code takes it for 0.
pub fn rate_summary(rates: &[Option<f64>], compat: Compat) -> Option<RateSummary> {
    let counted: Vec<f64> = match compat {
        Compat::Paper => rates.iter().copied().flatten().collect(),
        Compat::PaperCode => rates.iter().map(|rate| rate.unwrap_or(0.0)).collect(),
    };
    let low = counted.iter().copied().fold(f64::INFINITY, f64::min);
    let high = counted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    median(&counted).ok().map(|median| RateSummary { low, median, high })
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::{Cost, Grid, Level, Recorded};

    use super::*;

    fn version(name: &str, benchmarks: &[(&str, f64)]) -> Recording {
        let recorded = |(benchmark, level): &(&str, f64)| Recorded {
            benchmark: (*benchmark).to_owned(),
            unit: "ns/op".into(),
            better: Better::Lower,
            cost: Cost { innermost_s: 1.0, overhead_s: Vec::new() },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(&[1, 9], (0..9).map(|i| level * (1.0 + 1e-4 * f64::from(i))).collect()).unwrap(),
        };
        Recording {
            name: name.to_owned(),
            levels: vec![Level::Fork, Level::Iteration],
            benchmarks: benchmarks.iter().map(recorded).collect(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn benchmarks_of_the_first_version_are_followed_through_all() {
        let settings = |compat| Settings { threshold: 0.01, confidence: 0.99, relevant: 0.03, compat };
        let random = Random { seed: 1, before: 0 };
        let check = |compat, want: [(usize, usize); 2]| {
            let first = version("p-1", &[("A", 100.0), ("B", 100.0), ("Gone", 1.0)]);
            let mut tracked = Tracked::new(&first, &settings(compat), random);
            let second = tracked.next(&version("p-2", &[("A", 110.0), ("B", 100.0), ("New", 5.0)]));
            let third = tracked.next(&version("p-3", &[("A", 99.0), ("B", 100.0), ("New", 9.0), ("Gone", 2.0)]));
            let found = |pairs: &[PairOfVersions]| {
                let smallest = pairs.iter().find(|p| p.method == Method::Minimum).unwrap();
                assert_eq!(smallest.fidelity.reduced, smallest.fidelity.full);
                (smallest.fidelity.compared, smallest.fidelity.full)
            };
            assert_eq!([found(&second), found(&third)], want, "{compat:?}");
            assert_eq!((third[0].v1.as_str(), third[0].v2.as_str()), ("p-2", "p-3"));
        };
        // The paper counts what gets faster, its code does not.
        check(Compat::Paper, [(2, 1), (2, 1)]);
        check(Compat::PaperCode, [(2, 1), (2, 0)]);
    }

    #[test]
    fn rates_that_are_not_defined_are_zeros_to_the_code() {
        let rates = [None, Some(0.5), Some(0.1), None, None];
        let of = |low, median, high| Some(RateSummary { low, median, high });
        assert_eq!(rate_summary(&rates, Compat::Paper), of(0.1, 0.3, 0.5));
        assert_eq!(rate_summary(&rates, Compat::PaperCode), of(0.0, 0.0, 0.5));
        assert_eq!(rate_summary(&[None], Compat::Paper), None);
    }
}
