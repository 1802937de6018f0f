//! One source of settings, whichever it is: all have the same keys.

use std::path::PathBuf;
use std::time::Duration;

use duetbench_core::spec::{CommandSpec, JmhSpec};
use serde::Deserialize;

use super::loose::{Words, choice, dollars, duration, fraction, harness, number, switch};
use super::policy::RuleTable;
use crate::args::{
    AccountArgs, ArchArg, CommandArgs, DecideArgs, EngineArg, ExtentArgs, FleetArgs, Format, LayoutsArg, MeasureArgs,
    ModeArg, RunArgs, SelectArgs, ShowArgs,
};
use crate::failure::Failure;

/// One source of settings: the command line, the environment, or a file. Absent: the next source decides.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    pub(super) bench: Option<String>,
    pub(super) exclude: Option<String>,
    pub(super) packages: Option<Words>,
    #[serde(deserialize_with = "number")]
    pub(super) forks: Option<u32>,
    #[serde(deserialize_with = "duration")]
    pub(super) budget: Option<Duration>,
    #[serde(deserialize_with = "number")]
    pub(super) builds: Option<u32>,
    #[serde(deserialize_with = "choice")]
    pub(super) layouts: Option<LayoutsArg>,
    #[serde(deserialize_with = "switch")]
    pub(super) fixed: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) confirm: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) profile: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) measure_identical: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) same_benchmarks: Option<bool>,
    #[serde(deserialize_with = "fraction")]
    pub(super) threshold: Option<f64>,
    #[serde(deserialize_with = "fraction")]
    pub(super) alpha: Option<f64>,
    #[serde(deserialize_with = "fraction")]
    pub(super) fdr: Option<f64>,
    #[serde(deserialize_with = "choice")]
    pub(super) mode: Option<ModeArg>,
    #[serde(deserialize_with = "number")]
    pub(super) warmup: Option<u32>,
    #[serde(deserialize_with = "number")]
    pub(super) seed: Option<u64>,
    #[serde(deserialize_with = "choice")]
    pub(super) format: Option<Format>,
    pub(super) output: Option<PathBuf>,
    pub(super) db: Option<PathBuf>,
    pub(super) plan: Option<PathBuf>,
    #[serde(deserialize_with = "duration")]
    pub(super) timeout: Option<Duration>,
    pub(super) pass_env: Option<Words>,
    #[serde(deserialize_with = "switch")]
    pub(super) sandbox: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) strict: Option<bool>,
    pub(super) strict_on: Option<Words>,
    #[serde(deserialize_with = "switch")]
    pub(super) plot: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) quiet: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) no_color: Option<bool>,
    #[serde(deserialize_with = "switch")]
    pub(super) no_wait: Option<bool>,
    #[serde(deserialize_with = "duration")]
    pub(super) wait: Option<Duration>,
    #[serde(deserialize_with = "switch")]
    pub(super) dry_run: Option<bool>,
    #[serde(deserialize_with = "harness")]
    pub(super) adapter: Option<String>,
    pub(super) harness: Option<Words>,
    #[serde(deserialize_with = "choice")]
    pub(super) on: Option<EngineArg>,
    #[serde(deserialize_with = "number")]
    pub(super) memory: Option<u32>,
    #[serde(deserialize_with = "choice")]
    pub(super) arch: Option<ArchArg>,
    #[serde(deserialize_with = "number")]
    pub(super) parallel: Option<u32>,
    #[serde(deserialize_with = "dollars")]
    pub(super) max_cost: Option<f64>,
    #[serde(deserialize_with = "duration")]
    pub(super) max_time: Option<Duration>,
    #[serde(deserialize_with = "number")]
    pub(super) forks_per_call: Option<u32>,
    pub(super) role: Option<String>,
    pub(super) bucket: Option<String>,
    pub(super) region: Option<String>,
    pub(super) worker: Option<PathBuf>,
    pub(super) prices: Option<PathBuf>,
    /// A table, so the file alone can hold it.
    pub(super) jmh: Option<JmhSpec>,
    /// Likewise.
    pub(super) command: Option<Vec<CommandSpec>>,
    /// Likewise.
    pub(super) rule: Option<Vec<RuleTable>>,
}

/// The keys of a [`Layer`], for the environment: `DUET_BENCH` is `bench`.
pub(super) const KEYS: [&str; 47] = [
    "adapter",
    "bench",
    "exclude",
    "packages",
    "forks",
    "budget",
    "builds",
    "layouts",
    "fixed",
    "confirm",
    "profile",
    "measure_identical",
    "same_benchmarks",
    "threshold",
    "alpha",
    "fdr",
    "mode",
    "warmup",
    "seed",
    "format",
    "output",
    "db",
    "plan",
    "timeout",
    "pass_env",
    "sandbox",
    "strict",
    "strict_on",
    "plot",
    "quiet",
    "no_color",
    "no_wait",
    "wait",
    "dry_run",
    "harness",
    "on",
    "memory",
    "arch",
    "parallel",
    "max_cost",
    "max_time",
    "forks_per_call",
    "role",
    "bucket",
    "region",
    "worker",
    "prices",
];

impl Layer {
    /// The options about the display that were typed.
    #[must_use]
    pub fn typed(show: &ShowArgs) -> Layer {
        let set = |typed: bool| typed.then_some(true);
        Layer {
            format: show.format,
            output: show.output.clone(),
            db: show.db.clone(),
            plot: show.plot,
            quiet: set(show.quiet),
            no_color: set(show.no_color),
            ..Layer::default()
        }
    }

    /// … of a command that writes a page and nothing else, where nothing else is said to this file.
    #[must_use]
    pub fn with_page(self, file: &str) -> Layer {
        Layer { format: Some(Format::Html), output: self.output.or_else(|| Some(file.into())), ..self }
    }

    /// … and about the selection and the harness.
    #[must_use]
    pub fn with_selection(self, select: &SelectArgs, harness: &[String]) -> Layer {
        let list = |words: &[String]| (!words.is_empty()).then(|| Words::List(words.to_vec()));
        Layer {
            bench: select.bench.clone(),
            exclude: select.exclude.clone(),
            packages: list(&select.packages),
            adapter: select.adapter.clone(),
            timeout: select.timeout,
            pass_env: list(&select.pass_env),
            sandbox: select.sandbox.then_some(true),
            harness: list(harness),
            ..self
        }
    }

    /// … and about whole programs.
    #[must_use]
    pub fn with_program(self, program: &CommandArgs) -> Layer {
        Layer { command: program.spec().map(|spec| vec![spec]), ..self }
    }

    /// … and about the measurement.
    #[must_use]
    pub fn with_measurement(self, measure: &MeasureArgs, dry_run: bool) -> Layer {
        Layer {
            plan: measure.plan.clone(),
            fixed: measure.fixed.then_some(true),
            confirm: measure.confirm,
            profile: measure.profile,
            measure_identical: measure.measure_identical.then_some(true),
            same_benchmarks: measure.same_benchmarks.then_some(true),
            ..self.with_extent(&measure.extent, dry_run)
        }
    }

    /// … and about how much is measured and how.
    #[must_use]
    pub fn with_extent(self, extent: &ExtentArgs, dry_run: bool) -> Layer {
        Layer {
            forks: extent.forks,
            budget: extent.budget,
            builds: extent.builds,
            layouts: extent.layouts,
            mode: extent.mode,
            warmup: extent.warmup,
            seed: extent.seed,
            no_wait: extent.wait.no_wait.then_some(true),
            wait: extent.wait.wait,
            dry_run: dry_run.then_some(true),
            ..self
        }
    }

    /// … and about a fleet.
    #[must_use]
    pub fn with_fleet(self, fleet: &FleetArgs) -> Layer {
        let layer = self.with_account(&fleet.account);
        Layer {
            on: fleet.on,
            memory: fleet.memory,
            arch: fleet.arch,
            parallel: fleet.parallel,
            max_cost: fleet.max_cost,
            max_time: fleet.max_time,
            forks_per_call: fleet.forks_per_call,
            ..layer
        }
    }

    /// … and about the account that it is had from.
    #[must_use]
    pub fn with_account(self, account: &AccountArgs) -> Layer {
        let AccountArgs { role, bucket, region, worker, prices } = account.clone();
        Layer { role, bucket, region, worker, prices, ..self }
    }

    /// … and about a run of one version. How often it measures is not among it: that is typed, or stands in a plan file.
    #[must_use]
    pub fn with_solo(self, args: &RunArgs) -> Layer {
        Layer {
            plan: args.plan.clone(),
            seed: args.seed,
            no_wait: args.wait.no_wait.then_some(true),
            wait: args.wait.wait,
            dry_run: args.dry_run.then_some(true),
            ..self
        }
    }

    /// … and about the decision.
    #[must_use]
    pub fn with_decision(self, decide: &DecideArgs) -> Layer {
        let strict = decide.strict.then_some(true);
        Layer { threshold: decide.threshold, alpha: decide.alpha, fdr: decide.fdr, strict, ..self }
    }

    /// The seed alone.
    #[must_use]
    pub fn with_seed(self, seed: Option<u64>) -> Layer {
        Layer { seed, ..self }
    }
}

/// A misspelt variable would silently do nothing.
pub(super) fn check_names(names: impl Iterator<Item = String>) -> Result<(), Failure> {
    let known = |name: &str| {
        let key = name.strip_prefix("DUET_").map(str::to_lowercase);
        key.is_none_or(|key| KEYS.contains(&key.as_str()) || key == "lock")
    };
    match names.into_iter().find(|name| !known(name)) {
        Some(name) => {
            Err(Failure::usage(format!("there is no setting `{name}`; options are set by variables like DUET_BUDGET")))
        }
        None => Ok(()),
    }
}

pub(super) fn from_environment(read: impl Fn(&str) -> Option<String>) -> Result<Layer, Failure> {
    let mut layer = toml::Table::new();
    for key in KEYS {
        let name = format!("DUET_{}", key.to_uppercase());
        if let Some(value) = read(&name) {
            layer.insert(key.into(), toml::Value::String(value));
            // One at a time, so that the message can name the variable.
            Layer::deserialize(layer.clone())
                .map_err(|e| Failure::usage(format!("`{name}` cannot be understood: {}", e.to_string().trim_end())))?;
        }
    }
    Layer::deserialize(layer).map_err(|e| Failure::usage(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_keys_that_there_are() {
        let schema = include_str!("../../../../schema/settings-v1.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let described: std::collections::BTreeSet<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let tables = ["jmh", "command", "rule"];
        assert_eq!(described, KEYS.into_iter().chain(tables).collect());
    }
}
