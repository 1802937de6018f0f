//! Results of `duet calibrate --see`, for people and for programs.

mod document;
mod json;

use duetbench_core::calibrate::{Difference, Made, Proposal, SuitePlan, SuiteTarget};
use duetbench_core::spec::{Decision, EngineName, defaults};

pub use document::document;

use crate::render::calibrate::words::time;

/// A target and the plan that reaches it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// Version of duet.
    pub duet_version: String,
    /// The calibration that it is worked out from.
    pub made: Made,
    /// The target.
    pub target: SuiteTarget,
    /// The plan for the suite.
    pub suite: SuitePlan,
    /// The decision rule of `duet compare` where nothing else is typed.
    pub usual: Decision,
    /// Facts about this machine that differ from those of the calibration.
    pub changed: Vec<Difference>,
    /// The exit code that follows.
    pub exit_code: u8,
}

/// Most builds that `duet compare` takes.
const BUILDS_MAX: u32 = 200;
/// Most fork pairs that it takes.
const FORKS_MAX: u32 = 10_000;

impl Planned {
    /// The command that measures as planned: every benchmark as often as the one that needs most, or in the time that was given;
    /// absent where there is nothing to measure, or more than `duet compare` takes.
    fn command(&self) -> Option<String> {
        let designs = || self.suite.benchmarks.iter().filter_map(|proposed| proposed.design());
        let most = |number: fn(&Proposal) -> u32| designs().map(|design| number(&design)).max();
        let elsewhere = (self.target.instances > 1).then_some(EngineName::Lambda.word());
        let engine = self.made.machine.fact("engine").or(elsewhere);
        let builds = most(|p| p.builds)?;
        // A call has several fork pairs.
        let least = defaults::UNITS_MIN * if engine.is_some() { defaults::FLEET_FORKS_PER_CALL } else { 1 };
        let forks = most(|p| p.builds.saturating_mul(p.forks_per_build))?.max(least);
        // All builds have as many, so that nobody who needs fewer builds gets fewer fork pairs; and an even number where all of them
        // have one, since places are exchanged by twos.
        let by_twos = designs().all(|design| design.forks_per_build.is_multiple_of(2));
        let each = forks.div_ceil(builds).next_multiple_of(if by_twos { 2 } else { 1 });
        let forks = each.saturating_mul(builds);
        if builds > BUILDS_MAX || forks > FORKS_MAX {
            return None;
        }
        let mut words = vec!["duet compare".to_owned(), format!("--builds {builds}")];
        words.push(match self.target.within_s {
            // A fleet is limited by cost, and by the time of all its instances. A budget may stop at so many fork pairs.
            Some(within_s) if engine.is_none() && forks <= defaults::UNITS_MAX => {
                format!("--budget {}", time(within_s).replace(' ', ""))
            }
            _ => format!("--forks {forks}"),
        });
        // A change below the threshold would be seen, and tolerated.
        if self.target.change < self.usual.threshold {
            words.push(format!("--threshold {}", self.target.change));
        }
        if self.target.level.alpha != self.usual.alpha {
            words.push(format!("--alpha {}", self.target.level.alpha));
        }
        words.extend(engine.map(|engine| format!("--on {engine} --parallel {}", self.target.instances)));
        Some(words.join(" "))
    }
}
