//! Evaluates first trials, before the plan is settled.

use serde::{Deserialize, Serialize};

use super::Mode;
use crate::sample::{Role, Sample};
use crate::stats;
use crate::warmup::{Course, WarmUp, steady_from};

/// Results of a benchmark's first trials: a short one of each version, alone and free to use every core.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// CPU time as a multiple of wall time, of the version that keeps more cores busy; 1 where no slice has a CPU time. Go's collector beside
    /// the benchmark is left out.
    pub cores_busy: f64,
    /// CPU time as a share of wall time, of the version that waits more.
    pub cpu_share: f64,
    /// Time of one invocation, of the slower version, nanoseconds.
    pub invocation_ns: f64,
    /// Whether collections took part in the first of what was seen.
    pub collects: bool,
    /// Time that it takes to get caches warm again which the other version has used, of the version that loses more, as a multiple of a
    /// slice of the usual length ([`SLICE_NS`](crate::spec::defaults::SLICE_NS)); where that was looked at. After `warm_ns`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_share: Option<f64>,
    /// Time that a version works before a slice, without recording, after which most of that is done; 0 where nothing is gained by it.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub warm_ns: u64,
    /// Time that a process works before slices count, because both versions were still getting faster in what is usual; 0 where they were
    /// not.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub settling_ns: u64,
    /// Ratio of the two programs as they are linked without a layout being drawn, in turns on one core; where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_linked: Option<f64>,
    /// Slices that a process needs to become steady, where the harness has iterations and that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_slices: Option<u32>,
    /// Set where a process did not become steady as long as it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsteady: Option<Unsteady>,
}

/// A process that did not become steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsteady {
    /// The version; the baseline where both were unsteady.
    pub role: Role,
    /// Iterations that it had.
    pub within: u32,
}

/// Warm-up of a benchmark by a first trial of many iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstWarmUp {
    /// Iterations that are taken to warm up in every process.
    pub slices: u32,
    /// Set where they are all that there were, because they never became steady.
    pub unsteady: Option<Unsteady>,
}

/// Cores that a benchmark keeps busy from which on it is said to need several: a collector beside it keeps up to a quarter of
/// the others busy.
const SEVERAL_CORES: f64 = 1.5;

impl Profile {
    /// Whether more was busy than one core and what a runtime does beside it.
    pub fn keeps_several_cores_busy(&self) -> bool {
        self.cores_busy > SEVERAL_CORES
    }

    /// Reads the samples of first trials; absent where they do not tell of both versions.
    pub fn of(samples: &[Sample]) -> Option<Profile> {
        let side = |role: Role| -> Option<(f64, f64)> {
            let counted = || samples.iter().filter(move |s| s.at.role == role && !s.warm_up && s.wall_ns > 0);
            let busy: Vec<f64> = counted().filter_map(|s| Some(s.cpu_ns? as f64 / s.wall_ns as f64)).collect();
            let times: Vec<f64> = counted().map(|s| s.wall_ns as f64 / s.invocations.max(1) as f64).collect();
            // A benchmark that stops its timer has no CPU times.
            Some((stats::median(&busy).unwrap_or(1.0), stats::median(&times).ok()?))
        };
        let (baseline, candidate) = (side(Role::Baseline)?, side(Role::Candidate)?);
        Some(Profile {
            cores_busy: baseline.0.max(candidate.0),
            cpu_share: baseline.0.min(candidate.0),
            invocation_ns: baseline.1.max(candidate.1),
            collects: Role::BOTH.into_iter().any(|role| collects(samples, role)),
            cold_share: None,
            warm_ns: 0,
            settling_ns: 0,
            as_linked: None,
            warmup_slices: None,
            unsteady: None,
        })
    }

    /// The same with what getting warm takes.
    #[must_use]
    pub fn with_cold_share(self, cold_share: Option<f64>) -> Profile {
        Profile { cold_share, ..self }
    }

    /// The same with so long a part before each slice that warms and is not recorded, and what getting warm still takes after it.
    #[must_use]
    pub fn with_warm_part(self, warm_ns: u64, left: f64) -> Profile {
        Profile { warm_ns, cold_share: Some(left), ..self }
    }

    /// The same with the time that its processes work before slices count.
    #[must_use]
    pub fn with_settling(self, settling_ns: u64) -> Profile {
        Profile { settling_ns, ..self }
    }

    /// The same with the ratio of the programs as they are linked.
    #[must_use]
    pub fn with_as_linked(self, as_linked: Option<f64>) -> Profile {
        Profile { as_linked, ..self }
    }

    /// The same with what is known of its warm-up.
    #[must_use]
    pub fn with_warm_up(self, found: FirstWarmUp) -> Profile {
        Profile { warmup_slices: Some(found.slices), unsteady: found.unsteady, ..self }
    }
}

/// Whether collections took part in the first block of a version's slices.
fn collects(samples: &[Sample], role: Role) -> bool {
    let mut counted = samples.iter().filter(|s| s.at.role == role && !s.warm_up);
    counted.find_map(|s| s.memory).is_some_and(|m| m.collections > 0)
}

/// Processes compile at other moments each time they run, and one was seen: so half as many iterations again warm up.
const MARGIN: f64 = 1.5;
/// And never fewer, as even a flat one may begin slowly the next time.
const WARM_UP_MIN: u32 = 5;
/// Share of the iterations that may be steady by themselves. JMH's forks report each of their iterations, and that code is compiled after
/// some 180 of them, for up to a second and on the benchmark's core, which multiplies its times by two or three and then is over: beside
/// that hardly a benchmark is steady, and trials end before it.
const EARLY_SHARE: f64 = 0.4;
/// Distance from their level within which the last tenth must be: else something of the benchmark itself was compiled later.
const LATER_TOLERANCE: f64 = 0.2;

impl FirstWarmUp {
    /// Looks at the iterations of both versions, of which none was taken to warm up; absent where they are too few to tell. The side
    /// that takes longer decides for both, because slices are paired by their number.
    pub fn of(samples: &[Sample]) -> Option<FirstWarmUp> {
        let [baseline, candidate] = Role::BOTH.map(|role| times_of(samples, role));
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let all = count(baseline.len().max(candidate.len()));
        let found = [soon_steady_from(&baseline)?, soon_steady_from(&candidate)?];
        let never = |(role, warm_up): &(Role, WarmUp)| (warm_up.course == Course::NoSteadyState).then_some(*role);
        let unsteady = Role::BOTH.into_iter().zip(found).find_map(|side| never(&side));
        let needed = found.iter().map(|warm_up| warm_up.iterations).max().unwrap_or(0);
        let with_margin = ((needed as f64 * MARGIN).ceil() as u32).clamp(WARM_UP_MIN, all.max(WARM_UP_MIN));
        Some(FirstWarmUp {
            slices: if unsteady.is_some() { all } else { with_margin },
            unsteady: unsteady.map(|role| Unsteady { role, within: all }),
        })
    }
}

/// Where iterations become steady: all of them, or those at the beginning by themselves if that is sooner and the level is that of the end.
fn soon_steady_from(times: &[f64]) -> Option<WarmUp> {
    let all = steady_from(times)?;
    let early = &times[..(EARLY_SHARE * times.len() as f64) as usize];
    let end = stats::median(&times[times.len() - times.len() / 10..]).ok()?;
    let lasts = |soon: &WarmUp| {
        soon.iterations < all.iterations.min(early.len())
            && stats::median(&early[soon.iterations..]).is_ok_and(|level| (level - end).abs() <= LATER_TOLERANCE * end)
    };
    Some(steady_from(early).filter(lasts).unwrap_or(all))
}

/// The times per invocation of one version's iterations, in their order.
fn times_of(samples: &[Sample], role: Role) -> Vec<f64> {
    let mut own: Vec<&Sample> = samples.iter().filter(|s| s.at.role == role).collect();
    own.sort_by_key(|s| s.at.iteration);
    own.iter().map(|s| s.wall_ns as f64 / s.invocations.max(1) as f64).collect()
}

/// Spread of fork pairs in each mode on this machine for a second of measuring, found by comparing the baseline with itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SelfCheck {
    /// Standard deviation of fork pairs times the square root of what one takes in seconds, as a fraction; by mode.
    pub widths: Vec<(Mode, f64)>,
}

impl SelfCheck {
    /// The width of one mode, where it was tried.
    pub fn width(&self, mode: Mode) -> Option<f64> {
        self.widths.iter().find(|(of, _)| *of == mode).map(|(_, width)| *width)
    }

    /// All widths in words, as `interleaved on one core 0.31%`.
    pub fn words(&self) -> String {
        let one = |(mode, width): &(Mode, f64)| format!("{} {:.2}%", mode.label(), 100.0 * width);
        self.widths.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Adds what some fork pairs of a version against itself say of a mode: their log ratios, what one of them took in the
    /// mean, and the standard deviation that layout adds whatever the mode. Nothing is added where they say nothing.
    pub fn add(&mut self, mode: Mode, log_ratios: &[f64], trial_s: f64, layout_sd: f64) {
        if let Ok(t) = stats::trimmed_t(log_ratios)
            && log_ratios.len() > 2
        {
            self.widths.push((mode, t.spread().hypot(layout_sd) * trial_s.sqrt()));
        }
    }
}

/// Everything that was learnt before the plan was settled.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Learnt {
    /// Results of first trials by benchmark, indexed like the plan's.
    pub profiles: Vec<Option<Profile>>,
    /// Spread of the modes on this machine; absent where the run was too short to measure it.
    pub check: Option<SelfCheck>,
}

/// For what is written only where there is any.
pub(super) fn is_nothing(time_ns: &u64) -> bool {
    *time_ns == 0
}
