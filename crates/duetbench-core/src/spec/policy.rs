//! Rules of a repository for its benchmarks.

use std::collections::BTreeSet;

use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::recording::Better;
use crate::sample::BenchmarkId;

/// Metric of a benchmark that can get worse.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time per invocation, or its inverse.
    Time,
    /// Allocations per invocation.
    Allocs,
    /// Bytes allocated per invocation.
    Bytes,
    /// Instructions executed per invocation.
    Instructions,
    /// A metric that it reports itself under this unit.
    Reported(String),
}

/// Units of the harness that are metrics of ours, with their words.
const OWN_UNITS: [(&str, &str); 3] = [("ns/op", "time"), ("allocs/op", "allocs"), ("B/op", "bytes")];

impl Metric {
    /// Those that every benchmark has.
    pub const ALL: [Metric; 3] = [Metric::Time, Metric::Allocs, Metric::Bytes];

    /// The word used in files and machine formats; of what a benchmark reports itself the unit.
    pub fn word(&self) -> &str {
        match self {
            Metric::Time => "time",
            Metric::Allocs => "allocs",
            Metric::Bytes => "bytes",
            Metric::Instructions => "instructions",
            Metric::Reported(unit) => unit,
        }
    }

    /// The unit, where it is something that a benchmark reports itself.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Metric::Reported(unit) => Some(unit),
            Metric::Time | Metric::Allocs | Metric::Bytes | Metric::Instructions => None,
        }
    }

    /// Whether it is counted exactly, so that its growth has no uncertainty.
    pub fn is_count(&self) -> bool {
        matches!(self, Metric::Allocs | Metric::Bytes | Metric::Instructions)
    }
}

/// Consequence of a finding about a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It stops a change.
    Gate,
    /// It is reported, and stops nothing.
    Inform,
}

/// One rule of the repository. What it leaves open is left as it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The benchmarks: a regular expression, searched for in package and name, as `example.com/codec.BenchmarkEncode/json`;
    /// absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmarks: Option<String>,
    /// The metric; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The better direction of a unit's values; absent: as the unit's name says ([`Better::of_unit`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// Growth that is tolerated, a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Consequence of growth beyond that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Consequence of a time that stays an open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconclusive: Option<Action>,
    /// Whether a slowdown stops the change that is real, but not shown to exceed the threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<Action>,
    /// Whether a benchmark that itself differs between the versions is judged like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redefined: Option<Action>,
}

/// Why a rule is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Its pattern does not parse.
    #[error("rule {number}: `benchmarks` is not a regular expression: {source}")]
    Pattern {
        /// Number of the rule, from 1.
        number: usize,
        /// The parser's error.
        source: Box<regex::Error>,
    },
    /// Its threshold is out of range.
    #[error("rule {number}: `threshold` is {value}%, but must lie {range}")]
    Threshold {
        /// Number of the rule, from 1.
        number: usize,
        /// The given value, percent.
        value: f64,
        /// The allowed range, in words.
        range: &'static str,
    },
    /// It speaks of open questions or of slowdowns within the threshold, but not of times.
    #[error("rule {number}: `inconclusive` and `slower` are about times: leave out them, or `metric` and `unit`")]
    NotOfTimes {
        /// Number of the rule, from 1.
        number: usize,
    },
    /// It speaks of changed benchmarks, and of a metric besides the time.
    #[error("rule {number}: `redefined` is about all metrics of a benchmark: leave it out, or `metric` or `unit`")]
    OfOneMetric {
        /// Number of the rule, from 1.
        number: usize,
    },
    /// It says which values are good ones of something that is no unit.
    #[error("rule {number}: `better` is about a `unit`: less time and fewer allocations are always better")]
    NotOfUnits {
        /// Number of the rule, from 1.
        number: usize,
    },
    /// Its unit is no name of one.
    #[error("rule {number}: the `unit` `{unit}` {why}")]
    Unit {
        /// Number of the rule, from 1.
        number: usize,
        /// The given unit.
        unit: String,
        /// The fault of the unit, in words.
        why: String,
    },
    /// It says nothing.
    #[error(
        "rule {number} has neither `threshold` nor `action`, `inconclusive`, `slower` or `redefined`, so that it says nothing"
    )]
    Empty {
        /// Number of the rule, from 1.
        number: usize,
    },
}

/// Rules of a repository for its benchmarks, of which later ones override earlier ones. Written as the list of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Rule>", into = "Vec<Rule>")]
pub struct Policy {
    rules: Vec<(Option<Regex>, Rule)>,
}

impl PartialEq for Policy {
    fn eq(&self, other: &Policy) -> bool {
        self.rules().eq(other.rules())
    }
}

impl TryFrom<Vec<Rule>> for Policy {
    type Error = RuleError;

    fn try_from(rules: Vec<Rule>) -> Result<Policy, RuleError> {
        Policy::new(&rules)
    }
}

impl From<Policy> for Vec<Rule> {
    fn from(policy: Policy) -> Vec<Rule> {
        policy.rules.into_iter().map(|(_, rule)| rule).collect()
    }
}

/// Largest threshold of a time, as for [`Decision::check`](super::Decision::check).
const THRESHOLD_MAX: f64 = 10.0;

impl Policy {
    /// A policy of these rules.
    ///
    /// # Errors
    /// Names the first rule that is none.
    pub fn new(rules: &[Rule]) -> Result<Policy, RuleError> {
        let compiled = rules.iter().enumerate().map(|(i, rule)| Ok((checked(i + 1, rule)?, rule.clone())));
        Ok(Policy { rules: compiled.collect::<Result<_, RuleError>>()? })
    }

    /// No rules.
    pub(super) const fn none() -> Policy {
        Policy { rules: Vec::new() }
    }

    /// The rules, the weakest first.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(_, rule)| rule)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Consequence of growth of one metric of one benchmark beyond its threshold. Where no rule says so, a time gates, as does a unit that
    /// a rule names, and counts inform.
    pub fn action(&self, id: &BenchmarkId, metric: &Metric) -> Action {
        let usually = if metric.is_count() { Action::Inform } else { Action::Gate };
        self.about(id, metric).filter_map(|rule| rule.action).last().unwrap_or(usually)
    }

    /// Growth that the rules tolerate of one metric of one benchmark, a fraction; absent where none says so.
    pub(super) fn threshold(&self, id: &BenchmarkId, metric: &Metric) -> Option<f64> {
        self.about(id, metric).filter_map(|rule| rule.threshold).last()
    }

    /// The better direction of a unit's values.
    pub(super) fn better(&self, id: &BenchmarkId, metric: &Metric) -> Option<Better> {
        self.about(id, metric).filter_map(|rule| rule.better).last()
    }

    /// Consequence of an open question about the time of this benchmark; absent where no rule says so.
    pub fn inconclusive(&self, id: &BenchmarkId) -> Option<Action> {
        self.about(id, &Metric::Time).filter_map(|rule| rule.inconclusive).last()
    }

    /// The action on a slowdown of this benchmark that is not shown to exceed the threshold; absent where no rule says so.
    pub fn slower(&self, id: &BenchmarkId) -> Option<Action> {
        self.about(id, &Metric::Time).filter_map(|rule| rule.slower).last()
    }

    /// The action on findings of a benchmark that itself differs between the versions; absent where no rule says so.
    pub fn redefined(&self, id: &BenchmarkId) -> Option<Action> {
        self.matching(id).filter_map(|rule| rule.redefined).last()
    }

    /// Whether a rule names the instructions of this benchmark, so that they are to be counted and judged.
    pub fn counts_instructions(&self, id: &BenchmarkId) -> bool {
        self.names(id, &Metric::Instructions)
    }

    /// Whether a rule names this metric of this benchmark.
    pub fn names(&self, id: &BenchmarkId, metric: &Metric) -> bool {
        self.matching(id).any(|rule| rule.metric.as_ref() == Some(metric))
    }

    /// The patterns of all rules, where they have some and none of these benchmarks matches any.
    pub fn unmatched<'a>(&self, mut ids: impl Iterator<Item = &'a BenchmarkId>) -> BTreeSet<&str> {
        let patterns = || self.rules.iter().filter_map(|(pattern, _)| pattern.as_ref());
        let is_met = ids.any(|id| patterns().any(|pattern| pattern.is_match(&id.to_string())));
        if is_met { BTreeSet::new() } else { patterns().map(Regex::as_str).collect() }
    }

    /// Patterns that begin as the name of a function does, while names begin with the package, and that none of these benchmarks matches.
    pub fn without_package<'a>(&self, ids: impl Iterator<Item = &'a BenchmarkId>) -> BTreeSet<&str> {
        let names: Vec<String> = ids.map(ToString::to_string).collect();
        let patterns = self.rules.iter().filter_map(|(pattern, _)| pattern.as_ref());
        let lacks_package = |pattern: &&Regex| pattern.as_str().starts_with("^Benchmark");
        let is_unmet = |pattern: &&Regex| !names.iter().any(|name| pattern.is_match(name));
        patterns.filter(lacks_package).filter(is_unmet).map(Regex::as_str).collect()
    }

    /// Whether a rule names the instructions of any benchmark.
    pub fn names_instructions(&self) -> bool {
        self.rules().any(|rule| rule.metric == Some(Metric::Instructions))
    }

    /// The units that rules name for this benchmark.
    pub fn units_of(&self, id: &BenchmarkId) -> BTreeSet<&str> {
        self.matching(id).filter_map(|rule| rule.metric.as_ref()?.unit()).collect()
    }

    /// All units that rules name.
    pub fn units(&self) -> BTreeSet<&str> {
        self.rules.iter().filter_map(|(_, rule)| rule.metric.as_ref()?.unit()).collect()
    }

    /// The rules about one metric of one benchmark.
    fn about(&self, id: &BenchmarkId, metric: &Metric) -> impl Iterator<Item = &Rule> {
        self.matching(id).filter(move |rule| rule.metric.as_ref().is_none_or(|meant| meant == metric))
    }

    /// The rules about one benchmark.
    fn matching(&self, id: &BenchmarkId) -> impl Iterator<Item = &Rule> {
        let name = id.to_string();
        let matches = move |pattern: &Option<Regex>| pattern.as_ref().is_none_or(|pattern| pattern.is_match(&name));
        self.rules.iter().filter(move |(pattern, _)| matches(pattern)).map(|(_, rule)| rule)
    }
}

/// Whether this can be a unit that a benchmark reports; if not, why, in words.
fn named(unit: &str) -> Result<(), String> {
    if let Some((_, word)) = OWN_UNITS.iter().find(|(own, _)| *own == unit) {
        return Err(format!("is measured anyway: write `metric = \"{word}\"`"));
    }
    // The harness itself refuses them.
    if unit.is_empty() || unit.contains(char::is_whitespace) {
        Err("is none: no unit is empty or has spaces".into())
    } else {
        Ok(())
    }
}

/// The rule's pattern, if the rule is one.
fn checked(number: usize, rule: &Rule) -> Result<Option<Regex>, RuleError> {
    let of_units = matches!(rule.metric, Some(Metric::Reported(_)));
    // To name a unit is to want it judged.
    let of_times = rule.inconclusive.is_some() || rule.slower.is_some();
    if !of_units && rule.threshold.is_none() && rule.action.is_none() && !of_times && rule.redefined.is_none() {
        return Err(RuleError::Empty { number });
    }
    if let Some(Metric::Reported(unit)) = &rule.metric {
        named(unit).map_err(|why| RuleError::Unit { number, unit: unit.clone(), why })?;
    }
    // It would have the times judged too.
    if rule.redefined.is_some() && rule.metric.as_ref().is_some_and(|metric| *metric != Metric::Time) {
        return Err(RuleError::OfOneMetric { number });
    }
    if rule.better.is_some() && !of_units {
        return Err(RuleError::NotOfUnits { number });
    }
    // A count may be forbidden to grow at all. A change of what varies is never shown to be less than nothing.
    let of_counts = rule.metric.as_ref().is_some_and(Metric::is_count);
    if (of_counts || of_units) && of_times {
        return Err(RuleError::NotOfTimes { number });
    }
    if let Some(value) = rule.threshold {
        let (holds, range) = if of_counts {
            (value >= 0.0 && value.is_finite(), "at 0% or above")
        } else {
            (value > 0.0 && value < THRESHOLD_MAX, "above 0% and below 1000%")
        };
        if !holds {
            return Err(RuleError::Threshold { number, value: super::percent(value), range });
        }
    }
    let compile = |pattern: &String| Regex::new(pattern);
    rule.benchmarks.as_ref().map(compile).transpose().map_err(|e| RuleError::Pattern { number, source: Box::new(e) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Decision, Thresholds};

    fn id(name: &str) -> BenchmarkId {
        BenchmarkId { package: "example.com/codec".into(), name: name.into() }
    }

    fn rule(benchmarks: &str, threshold: f64) -> Rule {
        Rule { benchmarks: Some(benchmarks.into()), threshold: Some(threshold), ..Rule::default() }
    }

    #[test]
    fn later_rules_override_earlier_ones_in_what_they_say() {
        let quiet = Rule { metric: Some(Metric::Time), action: Some(Action::Inform), ..rule("Slow", 0.2) };
        let rules = [rule("codec", 0.05), quiet, rule("Encode", 0.1)];
        let policy = Policy::new(&rules).unwrap();
        let said = |name: &str, metric| (policy.threshold(&id(name), &metric), policy.action(&id(name), &metric));
        assert_eq!(said("Decode", Metric::Time), (Some(0.05), Action::Gate));
        assert_eq!(said("SlowDecode", Metric::Time), (Some(0.2), Action::Inform));
        assert_eq!(said("SlowEncode", Metric::Time), (Some(0.1), Action::Inform));
        assert_eq!(said("SlowDecode", Metric::Bytes), (Some(0.05), Action::Inform));
    }

    #[test]
    fn without_rules_times_gate_and_counts_inform() {
        let policy = Policy::default();
        let actions = Metric::ALL.map(|metric| policy.action(&id("A"), &metric));
        assert_eq!(actions, [Action::Gate, Action::Inform, Action::Inform]);
    }

    #[test]
    fn an_open_question_is_for_what_the_last_rule_about_it_says() {
        let open = |benchmarks: &str, action| Rule {
            benchmarks: Some(benchmarks.into()),
            inconclusive: Some(action),
            ..Rule::default()
        };
        let policy =
            Policy::new(&[open("codec", Action::Gate), rule("Slow", 0.2), open("Slow", Action::Inform)]).unwrap();
        assert_eq!(policy.inconclusive(&id("Decode")), Some(Action::Gate));
        assert_eq!(policy.inconclusive(&id("SlowDecode")), Some(Action::Inform));
        assert_eq!(Policy::default().inconclusive(&id("Decode")), None);
        let of_counts = Rule { metric: Some(Metric::Bytes), ..open("codec", Action::Gate) };
        assert!(Policy::new(&[of_counts]).unwrap_err().to_string().contains("are about times"));
    }

    #[test]
    fn a_unit_is_wanted_of_the_benchmarks_that_its_rules_name() {
        let unit = |benchmarks: &str, unit: &str| Rule {
            benchmarks: Some(benchmarks.into()),
            metric: Some(Metric::Reported(unit.into())),
            action: Some(Action::Gate),
            ..Rule::default()
        };
        let hits = Rule { better: Some(Better::Higher), ..unit("Cache", "hits/op") };
        let loose = Rule { threshold: Some(0.2), ..unit("CacheSlow", "hits/op") };
        let policy = Policy::new(&[rule("Decode", 0.1), unit("Decode", "rows/s"), hits, loose]).unwrap();
        let wanted = |name: &str| -> Vec<_> {
            let decision = Decision { threshold: 0.03, ..Decision::default() };
            Thresholds::new(&decision, &policy)
                .wanted(&id(name))
                .into_iter()
                .map(|w| (w.unit, w.better, w.threshold))
                .collect()
        };
        assert_eq!(wanted("Encode"), []);
        assert_eq!(wanted("Decode"), [("rows/s".to_owned(), Better::Higher, 0.1)]);
        assert_eq!(wanted("Cache"), [("hits/op".to_owned(), Better::Higher, 0.03)]);
        assert_eq!(wanted("CacheSlow"), [("hits/op".to_owned(), Better::Higher, 0.2)]);
        assert_eq!(policy.units().into_iter().collect::<Vec<_>>(), ["hits/op", "rows/s"]);
        // A rule about a unit says nothing about times.
        assert_eq!(policy.threshold(&id("CacheSlow"), &Metric::Time), None);
        assert_eq!(policy.action(&id("Cache"), &Metric::Reported("hits/op".into())), Action::Gate);
    }

    #[test]
    fn rules_that_are_none_are_named() {
        let error = |rule: Rule| Policy::new(&[Rule { threshold: Some(0.1), ..Rule::default() }, rule]).unwrap_err();
        assert!(error(rule("(", 0.1)).to_string().starts_with("rule 2: `benchmarks` is not a regular expression"));
        let large = error(rule("a", 12.3)).to_string();
        assert_eq!(large, "rule 2: `threshold` is 1230%, but must lie above 0% and below 1000%");
        assert!(error(Rule::default()).to_string().contains("says nothing"));
        let counts = |threshold| Rule { metric: Some(Metric::Allocs), ..rule("a", threshold) };
        assert!(Policy::new(&[counts(0.0)]).is_ok());
        assert!(error(counts(f64::NAN)).to_string().contains("at 0% or above"));
        let unit = |unit: &str| Rule { metric: Some(Metric::Reported(unit.into())), ..rule("a", 0.1) };
        assert!(error(unit("ns/op")).to_string().contains("`metric = \"time\"`"));
        assert!(error(unit("a b")).to_string().contains("spaces"));
        assert!(error(Rule { threshold: Some(0.0), ..unit("x") }).to_string().contains("above 0"));
        assert!(error(Rule { inconclusive: Some(Action::Gate), ..unit("x") }).to_string().contains("about times"));
        assert!(error(Rule { better: Some(Better::Lower), ..counts(0.0) }).to_string().contains("`better` is about"));
    }
}
