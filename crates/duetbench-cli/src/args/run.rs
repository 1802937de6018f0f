//! `duet run`.

use std::time::Duration;

use clap::{Args, Id};
use duetbench_core::plan::Repetitions;

use super::groups::{ids, settled_in_all};
use super::{CommandArgs, ProjectArgs, SittingArgs};
use crate::options::{PlanFileArgs, Setting, of_this_life};

pub(super) const EXAMPLES: &str = "\
The defaults are 3 suite runs of 1 process each with 5 iterations of 1 second. Nothing is judged; exit codes: 0 all was \
measured, 1 something failed, 130 interrupted.
Examples:
  duet run                           the work tree, to learn from with `duet tune`
  duet run v1.2.0 --suite-runs 5 --iterations 10 --seconds 0.1
  duet run --plan duet-plan.toml     as often as `duet tune` learnt to be enough
  duet run --format go > new.txt     one line for every process, for benchstat
  duet run --command './server --selftest' --iterations 20
                                     a program; its iterations are whole processes
  duet run --resume latest           go on where Ctrl-C or a crash ended";

/// `duet run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The version [default: the work tree]
    #[arg(value_parser = super::version_word)]
    pub version: Option<String>,
    /// Benchmarks.
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Repetitions.
    #[command(flatten)]
    pub repeat: RepeatArgs,
    /// Repetitions from a file.
    #[command(flatten)]
    pub plan: PlanFileArgs,
    /// This sitting.
    #[command(flatten)]
    pub sitting: SittingArgs,
    /// Go on with a run that was interrupted or killed, as `r12` or `latest`; version and settings are those of that run
    #[arg(long, value_name = "RUN", conflicts_with_all = settled_in_all(), conflicts_with_all = settled_by_the_run())]
    pub resume: Option<String>,
    /// Whole programs.
    #[command(flatten)]
    pub program: CommandArgs,
}

/// Options that a stored run of one version has settled as well.
fn settled_by_the_run() -> Vec<Id> {
    [vec!["version".into()], ids::<RepeatArgs>(), ids::<PlanFileArgs>()].concat()
}

/// Repetitions of one version. Typed only, or in a plan file.
#[derive(Debug, Clone, Copy, Args)]
pub struct RepeatArgs {
    /// Passes over the suite, each in a fresh random order [default: 3]
    #[arg(long, value_name = "N")]
    pub suite_runs: Option<u32>,
    /// Fresh processes of each benchmark in each of them [default: 1]
    #[arg(long, value_name = "N")]
    pub forks: Option<u32>,
    /// Iterations of each process that count [default: 5]
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// Length of an iteration, as `1` or `0.1`; an invocation that takes longer is an iteration by itself [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Option<Duration>,
    /// Iterations of each process before those, which warm up and are no values [default: 0]; `duet tune` finds how many of a JVM's
    /// are needed from those that are values
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,
}

impl RepeatArgs {
    /// The typed repetitions, the rest as it is by default.
    pub fn repetitions(&self) -> Repetitions {
        let usual = Repetitions::default();
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Repetitions {
            suite_runs: self.suite_runs.unwrap_or(usual.suite_runs),
            forks: self.forks.unwrap_or(usual.forks),
            iterations: self.iterations.unwrap_or(usual.iterations),
            warmup: self.warmup.unwrap_or(usual.warmup),
            iteration_ns: self.seconds.map_or(usual.iteration_ns, nanos),
        }
    }
}

/// Reads `1`, `0.1` or `100ms`.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let number = text.trim().parse::<f64>().ok();
    let time = match number {
        Some(seconds) => Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?,
        None => Duration::parse(text)?,
    };
    if time.is_zero() { Err("an iteration must be longer than nothing".into()) } else { of_this_life(time) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use duetbench_core::spec::defaults;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn help_states_the_defaults_that_core_has() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("run").unwrap().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let seconds = defaults::SOLO_ITERATION_NS / 1_000_000_000;
        for stated in [
            format!("random order [default: {}]", defaults::SOLO_SUITE_RUNS),
            format!("in each of them [default: {}]", defaults::SOLO_FORKS),
            format!("process that count [default: {}]", defaults::SOLO_ITERATIONS),
            format!("by itself [default: {seconds}]"),
            format!("are no values [default: {}]", defaults::SOLO_WARMUP),
        ] {
            assert!(help.contains(&stated), "`{stated}` is not in the help");
        }
    }

    #[test]
    fn seconds_may_be_fractions() {
        assert_eq!(parse_seconds("1"), Ok(Duration::from_secs(1)));
        assert_eq!(parse_seconds("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(parse_seconds("100ms"), Ok(Duration::from_millis(100)));
        for wrong in ["0", "-1", "nan", "soon", "1e-12", "1e18", "1M"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
