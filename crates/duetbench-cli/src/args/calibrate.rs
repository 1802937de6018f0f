//! `duet calibrate`.

use std::time::Duration;

use clap::{Arg, Args, Id};
use duetbench_core::spec::defaults;

use super::groups::{settled_in_all, settled_in_pairs};
use super::{CommandArgs, FleetArgs, ProjectArgs, ProposeArgs, SittingArgs};
use crate::options::{ExtentArgs, Setting};

pub(super) const EXAMPLES: &str = "\
A version is measured against itself, as `duet compare V V --measure-identical --fixed` does it. \
Nothing that differs can be the code, so what fork pairs vary is what hides changes. The calibration \
is stored, and every later report says what can be seen. A plan file is not followed.
Exit codes: 0 calibrated, or nothing has changed with --if-changed, or with --see every benchmark would see it; 1 something failed, or \
nothing was learnt, or there is no calibration; 2 usage; 4 with --see some benchmark would not see it; 130 interrupted.
Examples:
  duet calibrate                     the work tree, as long as a comparison takes at most
  duet calibrate v1.2.0 --budget 10m
                                     a revision, in ten minutes
  duet calibrate --seen-after 5s,1m  what is seen with 5 s for each benchmark, and with a minute
  duet calibrate --if-changed        in a pipeline: only if machine or benchmarks have changed
  duet calibrate --run r12           from a stored run of a version against itself
  duet calibrate --on lambda         what a fleet sees
  duet calibrate --see 3%            measure nothing: what it takes to see 3 %, nine times out of ten, by the last calibration
  duet calibrate --see 3% --within 5m
                                     whether five minutes are enough, and what would be
  duet calibrate --see 2% --within 2m --instances 8
                                     on eight instances of a fleet at the same time
  duet calibrate --see 3% --run r12  from the calibration of this run";

/// `duet calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// The version [default: the work tree]
    #[arg(value_parser = super::version_word)]
    pub version: Option<String>,
    /// Benchmarks.
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Extent of the measurement.
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Measuring times of a benchmark for which to say what is seen, as `10s,1m` [default: 10s,30s,1m]
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = parse_time)]
    pub seen_after: Vec<Duration>,
    /// Calibrate from a stored run of a version against itself, as `r12` or `latest`, instead of measuring; with `--see` the calibration of
    /// that run
    #[arg(long, value_name = "RUN", conflicts_with_all = settled_in_all(), conflicts_with_all = settled_in_pairs(), conflicts_with = "version", conflicts_with_all = ["resume", "if_changed"])]
    pub run: Option<String>,
    /// A change to be able to see, instead of measuring.
    #[command(flatten)]
    pub propose: ProposeArgs,
    /// Do nothing if a calibration was made on this machine (processor, kernel, governor, toolchain) with the same benchmarks
    #[arg(long, conflicts_with = "resume")]
    pub if_changed: bool,
    /// This sitting.
    #[command(flatten)]
    pub sitting: SittingArgs,
    /// Go on with a calibration that was interrupted or killed, as `r12` or `latest`; version and settings are those of that run
    #[arg(long, value_name = "RUN", conflicts_with_all = settled_in_all(), conflicts_with_all = settled_in_pairs(), conflicts_with = "version")]
    pub resume: Option<String>,
    /// Whole programs.
    #[command(flatten)]
    pub program: CommandArgs,
    /// Measuring elsewhere.
    #[command(flatten)]
    pub fleet: FleetArgs,
}

/// The option that measures nothing, with all that says how to measure refused beside it.
pub(super) fn measures_nothing(see: Arg) -> Arg {
    let measuring = ["version", "resume", "if_changed", "seen_after"].map(Id::from).to_vec();
    [measuring, settled_in_all(), settled_in_pairs()].concat().into_iter().fold(see, Arg::conflicts_with)
}

impl CalibrateArgs {
    /// The measuring times for which it is said what is seen, seconds, ascending.
    pub fn budgets_s(&self) -> Vec<f64> {
        if self.seen_after.is_empty() {
            return defaults::SEEN_AFTER_S.to_vec();
        }
        let mut times = self.seen_after.clone();
        times.sort();
        times.dedup();
        times.into_iter().map(|time| time.as_secs_f64()).collect()
    }
}

/// Reads a time that is longer than nothing.
fn parse_time(text: &str) -> Result<Duration, String> {
    let time = Duration::parse(text)?;
    if time.is_zero() { Err("nothing is seen after no time".into()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Cli, Command};

    #[track_caller]
    fn calibrate(line: &str) -> CalibrateArgs {
        let words = ["duet", "calibrate"].into_iter().chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Calibrate(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn help_states_the_defaults_that_core_has() {
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("calibrate").unwrap().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let time = |seconds: f64| humantime::format_duration(Duration::from_secs_f64(seconds)).to_string();
        let stated = format!("[default: {}]", defaults::SEEN_AFTER_S.map(time).join(","));
        assert!(help.contains(&stated), "`{stated}` is not in the help");
    }

    #[test]
    fn times_come_in_order_and_once() {
        assert_eq!(calibrate("").budgets_s(), defaults::SEEN_AFTER_S);
        assert_eq!(calibrate("--seen-after 1m,500ms --seen-after 60s").budgets_s(), [0.5, 60.0]);
        for wrong in ["0s", "1M"] {
            assert!(Cli::try_parse_from(["duet", "calibrate", "--seen-after", wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_run_that_is_there_settles_what_is_measured() {
        for refused in ["--run r1 --budget 1m", "--run r1 --resume r1", "--run r1 --if-changed", "v1 --resume r1"] {
            let words = ["duet", "calibrate"].into_iter().chain(refused.split_whitespace());
            assert!(Cli::try_parse_from(words).is_err(), "{refused}");
        }
        assert_eq!(calibrate("--run r1 --seen-after 5s").budgets_s(), [5.0]);
    }
}
