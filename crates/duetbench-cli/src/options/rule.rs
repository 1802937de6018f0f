//! `[[rule]]` tables of `duet.toml`, which no option of one value could say.

use duetbench_core::recording::Better;
use duetbench_core::spec::{Action, Rule};
use serde::Deserialize;

use super::value::some;
use crate::failure::Failure;
use crate::metric::{MetricName, meant};

/// A `[[rule]]` table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleTable {
    benchmarks: Option<String>,
    metric: Option<MetricName>,
    unit: Option<String>,
    better: Option<Better>,
    #[serde(default, deserialize_with = "some")]
    threshold: Option<f64>,
    action: Option<Action>,
    inconclusive: Option<Action>,
    slower: Option<Action>,
    redefined: Option<Action>,
}

impl RuleTable {
    /// The rule of this number, from 1.
    pub(crate) fn rule(self, number: usize) -> Result<Rule, Failure> {
        let RuleTable { benchmarks, metric, unit, better, threshold, action, inconclusive, slower, redefined } = self;
        let metric = meant(metric, unit).map_err(|why| Failure::usage(format!("`duet.toml`: rule {number}: {why}")))?;
        Ok(Rule { benchmarks, metric, better, threshold, action, inconclusive, slower, redefined })
    }
}
