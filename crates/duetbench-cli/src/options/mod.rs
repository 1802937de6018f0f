//! The table of the options that can be typed, set as variables, and written into `duet.toml`.
//!
//! A row is a field: `forks` is `--forks`, `DUET_FORKS` and the key `forks`. Its comment is the help, in the schema and in
//! docs/settings.md too; its type says how it is read, wherever it stands. What can only be typed is in [`args`](crate::args).

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use duetbench_core::Role;
use duetbench_core::spec::{Arch, CommandSpec, EngineName, JmhSpec, LayoutChoice, ModeChoice};
use duetbench_run::adapter::{KINDS, Kind};
use serde::Deserialize;

mod choice;
mod rule;
mod table;
mod value;

pub use choice::{Choice, CountArg, Format};
use rule::RuleTable;
pub use table::{Group, Row};
use table::{Typed, options};
pub(crate) use value::of_this_life;
use value::some;
pub use value::{Dollars, HarnessName, Setting};

/// Megabytes that an instance of a fleet may have.
pub(crate) const MEMORY_MB: RangeInclusive<i64> = 128..=10_240;
/// Calls at once.
pub(crate) const PARALLEL: RangeInclusive<i64> = 1..=10_000;
/// Fork pairs of a call.
pub(crate) const FORKS_PER_CALL: RangeInclusive<i64> = 1..=100;

options! {
    /// Benchmarks, and the place to look for them. A stored run has settled them.
    SelectArgs {
        /// Only benchmarks whose name matches
        #[arg(long, short, value_name = "REGEX")]
        bench: Option<String>,
        /// No benchmarks whose name matches
        #[arg(long, value_name = "REGEX")]
        exclude: Option<String>,
        /// Packages to look for benchmarks in, may be repeated [default: ./...]
        #[arg(long, value_name = "PATTERN")]
        packages: Vec<String>,
        /// Harness that measures the versions [default: told by what they are and what lies in them]
        #[arg(long, value_name = "HARNESS", value_parser = PossibleValuesParser::new(KINDS.map(Kind::name)).map(HarnessName))]
        adapter: Option<HarnessName>,
    }

    /// Bounds of what measured code may do.
    BoundArgs {
        /// Time that a benchmark may hang before it counts as failed [default: 60s]
        #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
        timeout: Option<Duration>,
        /// Variable that benchmarks need and may see, may be repeated; the rest of the environment is kept from them
        #[arg(long, value_name = "NAME")]
        pass_env: Vec<String>,
        /// Run benchmarks without network, with all files read-only but those of their directory, and a /tmp of their own (needs bubblewrap)
        #[arg(long)]
        sandbox: bool,
    }

    /// Extent of a comparison or a calibration. A stored run has settled it.
    ExtentArgs {
        /// At most this many fresh process pairs per benchmark, at least 3 for an interval [default: up to 96 with matched layouts, else 36, with one build 20]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
        forks: Option<u32>,
        /// Wall time for all that comes after building: first trials, linking, measuring, as `90s` or `2m`; cheap benchmarks come first
        #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
        budget: Option<Duration>,
        /// Link each version so many times, its functions in another order each time, so that a verdict is about the code and not
        /// about where the linker put it; 1 compares just the two binaries [default: as many as are needed, at most 32]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
        builds: Option<u32>,
        /// Layout of the two halves of each such build pair, where the linker can do both [default: matched]
        #[arg(long, value_parser = LayoutChoice::parser())]
        layouts: Option<LayoutChoice>,
        /// Processes of each side in every trial that warm up and are not judged [default: 0]; where iterations are measured, as many of
        /// those [default: as many as each benchmark is found to need]
        #[arg(long, value_name = "N")]
        warmup: Option<u32>,
        /// Way in which the two sides are run [default: auto]
        #[arg(long, value_parser = ModeChoice::parser())]
        mode: Option<ModeChoice>,
    }

    /// Randomness. A stored run has settled it.
    SeedArgs {
        /// Source of every random choice [default: drawn, and printed]
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    }

    /// Waiting for a run that holds this machine.
    WaitArgs {
        /// Fail at once when another run holds this machine, instead of waiting for it
        #[arg(long, conflicts_with = "wait")]
        no_wait: bool,
        /// Fail when this run's turn has not come after so long, as `90s` or `10m` [default: wait for as long as it takes]
        #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
        wait: Option<Duration>,
    }

    /// Repetitions from a file. A stored run has settled them.
    PlanFileArgs {
        /// Measure each benchmark as often as this plan of `duet tune` says, or begin a comparison so; those that are not in it are
        /// measured as without it
        #[arg(long, value_name = "FILE")]
        plan: Option<PathBuf>,
    }

    /// Benchmarks that are measured in a comparison, and for how long. A stored run has settled it.
    MeasureArgs {
        /// Measure all process pairs, even of benchmarks whose answer is known before
        #[arg(long)]
        fixed: bool,
        /// Measure regressions again in two rounds of fresh trials before calling them confirmed [default: only where CI is set]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
        confirm: Option<bool>,
        /// Measure benchmarks even where both versions are proven to run the same code
        #[arg(long)]
        measure_identical: bool,
        /// Leave benchmarks out whose reachable code is proven to be the same in both versions, though other code of their package
        /// differs; Go only
        #[arg(long)]
        reach: bool,
        /// Judge benchmarks that themselves differ between the versions like any other
        #[arg(long)]
        same_benchmarks: bool,
        /// Measure the benchmarks of this version on the code of both, in the packages in which they compile; Go only [default: each its own]
        #[arg(long, value_parser = Role::parser(), value_name = "SIDE")]
        benchmarks_from: Option<Role>,
    }

    /// Profiles of what was judged.
    ProfileArgs {
        /// Profile the regressions once all is judged, at most 10, to see which functions they come from; Go only [default: no]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
        profile: Option<bool>,
    }

    /// Counts of what was judged.
    CountArgs {
        /// Count the instructions of changed and open benchmarks once all is judged, by valgrind, to see whether work was added; `--count=all`
        /// counts all, `--count=none` not even those whose instructions a rule names [default: those that rules name]
        #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, default_missing_value = "changed", require_equals = true)]
        count: Option<CountArg>,
    }

    /// Rules of judging. A stored run has settled them, and `duet analyze` others.
    DecideArgs {
        /// Change that a regression or an improvement exceeds [default: 3%]
        #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
        threshold: Option<f64>,
        /// Error of calling equal code changed; that of the intervals is 10 times as large, but at most 20% [default: 1%]
        #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
        alpha: Option<f64>,
        /// Share of false alarms accepted among all changes reported [default: 5%]
        #[arg(long, value_name = "PERCENT", value_parser = f64::parse)]
        fdr: Option<f64>,
    }

    /// The exit code's severity.
    StrictArgs {
        /// Exit with 4 when a benchmark is an open question: inconclusive, or slower or faster by an open size
        #[arg(long)]
        strict: bool,
        /// Branches, as `release/*`, for whose changes `strict` holds
        #[arg(skip)]
        strict_on: Vec<String>,
    }

    /// Looking before measuring.
    DryRunArgs {
        /// Print the plan with its predicted time, and stop
        #[arg(long)]
        dry_run: bool,
    }

    /// Flags behind `--`. A stored run has settled them.
    HarnessArgs {
        /// Flags for the harness: build flags, flags of the test binary, after `-args` the benchmarks' own
        #[arg(last = true, value_name = "FLAGS")]
        harness: Vec<String>,
    }

    /// Instances of a fleet. A stored run has settled them.
    InstanceArgs {
        /// Measure on instances of a fleet: the pairs are built here, sent there and fanned out; costs money (see docs/fleet.md)
        #[arg(long, value_parser = EngineName::parser(), value_name = "ENGINE")]
        on: Option<EngineName>,
        /// Memory of an instance in MB, from which its share of processors follows [default: 2048]
        #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(MEMORY_MB), requires = "on")]
        memory: Option<u32>,
        /// Processor of the instances [default: that of this machine]
        #[arg(long, value_parser = Arch::parser(), requires = "on")]
        arch: Option<Arch>,
        /// Most calls at once [default: 150]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(PARALLEL), requires = "on")]
        parallel: Option<u32>,
        /// Process pairs that one call measures [default: 2]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(FORKS_PER_CALL), requires = "on")]
        forks_per_call: Option<u32>,
    }

    /// Caps of a fleet's use.
    CapArgs {
        /// Most that the run may cost, in US dollars; nothing is sent that could exceed it [default: 2]
        #[arg(long, value_name = "USD", value_parser = Dollars::parse)]
        max_cost: Option<Dollars>,
        /// Longest that measuring may take, as `10m` [default: 30m]
        #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
        max_time: Option<Duration>,
    }

    /// Place and account in which functions are made.
    AccountArgs {
        /// The role that functions run as, which should be allowed nothing at all, as `arn:aws:iam::…:role/duet-exec`
        #[arg(long, value_name = "ARN")]
        role: Option<String>,
        /// Bucket for packages of more than 50 MB
        #[arg(long, value_name = "NAME")]
        bucket: Option<String>,
        /// Region of the provider [default: what AWS's own settings say]
        #[arg(long, value_name = "NAME")]
        region: Option<String>,
        /// The worker's program [default: `duet-worker` beside `duet`]
        #[arg(long, value_name = "FILE")]
        worker: Option<PathBuf>,
        /// Prices to reckon with instead of those that duet knows
        #[arg(long, value_name = "FILE")]
        prices: Option<PathBuf>,
    }

    /// Output, of every command.
    ShowArgs {
        /// Form of the report [default: text]
        #[arg(long, value_enum, global = true)]
        format: Option<Format>,
        /// Write the report to a file instead of standard output
        #[arg(long, short, value_name = "FILE", global = true)]
        output: Option<PathBuf>,
        /// Database of runs [default: .duet/duet.db at the project's root]
        #[arg(long, value_name = "FILE", global = true)]
        db: Option<PathBuf>,
        /// Draw the intervals in the table of the text [default: on a terminal that is wide enough]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true, global = true)]
        plot: Option<bool>,
        /// Show every benchmark in the table of the text; else a table of more than a screen shows changes and what is most open
        #[arg(long, global = true)]
        all: bool,
        /// No progress, nothing but the report and errors
        #[arg(long, short, global = true)]
        quiet: bool,
        /// No colour (also: NO_COLOR)
        #[arg(long, global = true)]
        no_color: bool,
    }
}

impl Layer {
    /// The layer that was typed.
    pub fn typed(group: &impl Group) -> Layer {
        let mut layer = Layer::default();
        group.put(&mut layer);
        for list in [&mut layer.packages, &mut layer.pass_env].into_iter().flatten() {
            // A word of nothing stays, to be refused: the variable behind it was not set.
            let words = |word: &String| word.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let split = |word: &String| if word.trim().is_empty() { vec![String::new()] } else { words(word) };
            *list = list.iter().flat_map(split).collect();
        }
        layer
    }
}
