//! The pure half of duetbench: from what was asked and what was measured to a verdict.
//!
//! The path of the data, in order; each step has one type, and no step looks back:
//!
//! 1. [`Spec`]: what the user asked, validated; it knows nothing of the machine.
//! 2. [`Plan`]: the benchmarks of both versions with mode, configuration and predicted time.
//! 3. [`Schedule`]: the ordered [`Trial`]s, from plan and seed alone.
//! 4. [`Sample`]: one measured value with its coordinates (made by `duetbench-run`).
//! 5. [`Pair`]: a baseline and a candidate sample taken under the same conditions.
//! 6. [`Estimate`]: ratio, interval, minimal detectable change, warnings.
//! 7. [`Verdict`]: regression, improvement, no change, inconclusive, …
//! 8. [`Report`]: verdicts with environment, plan and warnings; all that a renderer sees.
//!
//! Nothing here reads a clock, a file, the environment or an unseeded random number.

#[macro_use]
mod words;

mod acceptance;
pub mod analysis;
pub mod bisect;
pub mod calibrate;
pub mod detect;
pub mod environment;
pub mod fleet;
pub mod foreign;
pub mod gate;
pub mod history;
pub mod hotspot;
pub mod instructions;
pub mod noise;
pub mod pair;
pub mod parallel;
pub mod picture;
pub mod plan;
pub mod reach;
pub mod recording;
pub mod report;
pub mod reported;
pub mod sample;
pub mod schedule;
pub mod solo_report;
mod sources;
pub mod spec;
pub mod spellings;
pub mod tune;
pub mod verdict;
pub mod warmup;

pub use analysis::Estimate;
pub use duetbench_stats as stats;
pub use environment::Environment;
pub use pair::Pair;
pub use plan::Plan;
pub use recording::Recording;
pub use report::Report;
pub use sample::{BenchmarkId, Role, Sample};
pub use schedule::{Mixture, Schedule, Trial};
pub use solo_report::SoloReport;
pub use spec::Spec;
pub use verdict::Verdict;
