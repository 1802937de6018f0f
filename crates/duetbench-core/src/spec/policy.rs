//! What a repository wants of its benchmarks.

use regex::Regex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sample::BenchmarkId;

/// What of a benchmark can get worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time per invocation, or its inverse.
    Time,
    /// Allocations per invocation.
    Allocs,
    /// Bytes allocated per invocation.
    Bytes,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 3] = [Metric::Time, Metric::Allocs, Metric::Bytes];

    /// The word used in files and machine formats.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Metric::Time => "time",
            Metric::Allocs => "allocs",
            Metric::Bytes => "bytes",
        }
    }
}

/// What a finding of a metric is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It stops a change.
    Gate,
    /// It is told, and stops nothing.
    Inform,
}

/// One rule of the repository. What it leaves open is left as it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which benchmarks: a regular expression, searched for in package and name, as `example.com/codec.BenchmarkEncode/json`;
    /// absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmarks: Option<String>,
    /// What of them; absent: everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// By how much it may grow, a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// What more than that is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// What it is for that a time stays an open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconclusive: Option<Action>,
}

/// Why a rule is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Its pattern does not parse.
    #[error("rule {number}: `benchmarks` is not a regular expression: {source}")]
    Pattern {
        /// Which rule, from 1.
        number: usize,
        /// What the parser says.
        source: Box<regex::Error>,
    },
    /// Its threshold is out of range.
    #[error("rule {number}: `threshold` is {value}, but must lie {range}")]
    Threshold {
        /// Which rule, from 1.
        number: usize,
        /// What was given.
        value: f64,
        /// In words, where it must lie.
        range: &'static str,
    },
    /// It speaks of open questions, of which counts have none.
    #[error("rule {number}: `inconclusive` is about times, which counts are not: leave out `metric` or `inconclusive`")]
    NotOfTimes {
        /// Which rule, from 1.
        number: usize,
    },
    /// It says nothing.
    #[error("rule {number} has neither `threshold` nor `action` nor `inconclusive`, so that it says nothing")]
    Empty {
        /// Which rule, from 1.
        number: usize,
    },
}

/// What a repository wants of its benchmarks: rules, of which later ones override earlier ones.
#[derive(Debug, Default)]
pub struct Policy {
    rules: Vec<(Option<Regex>, Rule)>,
}

/// What a policy says of one metric of one benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stance {
    /// By how much it may grow, a fraction, where a rule says so.
    pub threshold: Option<f64>,
    /// What more than that is for.
    pub action: Action,
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

    /// What it says of one metric of one benchmark. Where it says nothing, a time gates and counts inform.
    #[must_use]
    pub fn stance(&self, id: &BenchmarkId, metric: Metric) -> Stance {
        let action = if metric == Metric::Time { Action::Gate } else { Action::Inform };
        self.about(id, metric).fold(Stance { threshold: None, action }, |stance, rule| Stance {
            threshold: rule.threshold.or(stance.threshold),
            action: rule.action.unwrap_or(stance.action),
        })
    }

    /// What it is for that the time of this benchmark stays an open question; absent where no rule says so.
    #[must_use]
    pub fn inconclusive(&self, id: &BenchmarkId) -> Option<Action> {
        self.about(id, Metric::Time).filter_map(|rule| rule.inconclusive).last()
    }

    /// The rules about one metric of one benchmark.
    fn about(&self, id: &BenchmarkId, metric: Metric) -> impl Iterator<Item = &Rule> {
        let name = id.to_string();
        let matches = move |pattern: &Option<Regex>| pattern.as_ref().is_none_or(|pattern| pattern.is_match(&name));
        let meant = move |rule: &Rule| rule.metric.is_none_or(|meant| meant == metric);
        self.rules.iter().filter(move |(pattern, rule)| meant(rule) && matches(pattern)).map(|(_, rule)| rule)
    }
}

/// The rule's pattern, if the rule is one.
fn checked(number: usize, rule: &Rule) -> Result<Option<Regex>, RuleError> {
    if rule.threshold.is_none() && rule.action.is_none() && rule.inconclusive.is_none() {
        return Err(RuleError::Empty { number });
    }
    // A count may be forbidden to grow at all. A change of time is never shown to be less than nothing.
    let of_counts = matches!(rule.metric, Some(Metric::Allocs | Metric::Bytes));
    if of_counts && rule.inconclusive.is_some() {
        return Err(RuleError::NotOfTimes { number });
    }
    if let Some(value) = rule.threshold {
        let (holds, range) = if of_counts {
            (value >= 0.0 && value.is_finite(), "at 0 or above")
        } else {
            (value > 0.0 && value < THRESHOLD_MAX, "above 0 and below 10")
        };
        if !holds {
            return Err(RuleError::Threshold { number, value, range });
        }
    }
    let compile = |pattern: &String| Regex::new(pattern);
    rule.benchmarks.as_ref().map(compile).transpose().map_err(|e| RuleError::Pattern { number, source: Box::new(e) })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let time = |name: &str| policy.stance(&id(name), Metric::Time);
        assert_eq!(time("Decode"), Stance { threshold: Some(0.05), action: Action::Gate });
        assert_eq!(time("SlowDecode"), Stance { threshold: Some(0.2), action: Action::Inform });
        assert_eq!(time("SlowEncode"), Stance { threshold: Some(0.1), action: Action::Inform });
        let bytes = policy.stance(&id("SlowDecode"), Metric::Bytes);
        assert_eq!(bytes, Stance { threshold: Some(0.05), action: Action::Inform });
    }

    #[test]
    fn without_rules_times_gate_and_counts_inform() {
        let policy = Policy::default();
        let actions = Metric::ALL.map(|metric| policy.stance(&id("A"), metric).action);
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
        assert!(Policy::new(&[of_counts]).unwrap_err().to_string().contains("is about times"));
    }

    #[test]
    fn rules_that_are_none_are_named() {
        let error = |rule: Rule| Policy::new(&[Rule { threshold: Some(0.1), ..Rule::default() }, rule]).unwrap_err();
        assert!(error(rule("(", 0.1)).to_string().starts_with("rule 2: `benchmarks` is not a regular expression"));
        assert!(error(rule("a", 0.0)).to_string().contains("above 0"));
        assert!(error(Rule::default()).to_string().contains("says nothing"));
        let counts = |threshold| Rule { metric: Some(Metric::Allocs), ..rule("a", threshold) };
        assert!(Policy::new(&[counts(0.0)]).is_ok());
        assert!(error(counts(f64::NAN)).to_string().contains("at 0 or above"));
    }
}
