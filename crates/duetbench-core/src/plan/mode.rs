//! Chooses the mode of a benchmark's trials, and says why.

use serde::{Deserialize, Serialize};

use super::{Capacity, Profile, SelfCheck, Style};
use crate::spec::ModeChoice;

/// Mode in which the two sides of a trial are run on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Both at once, each on a core of its own, meeting before every slice.
    Duet,
    /// One at a time, slices alternating, both on the same core.
    InterleavedOneCore,
    /// One at a time, slices alternating, each free to use every core.
    InterleavedAllCores,
    /// Whole processes, one after the other.
    Sequential,
}

words!(Mode, from_word:
    Duet "duet", InterleavedOneCore "interleaved_one_core", InterleavedAllCores "interleaved_all_cores",
    Sequential "sequential"
);

impl Mode {
    /// The words used for people.
    pub fn label(self) -> &'static str {
        match self {
            Mode::Duet => "duet",
            Mode::InterleavedOneCore => "interleaved on one core",
            Mode::InterleavedAllCores => "interleaved on all cores",
            Mode::Sequential => "sequential",
        }
    }
}

/// Another mode must be so much narrower than one core to be taken: widths are estimated from few trials.
const CLEARLY_NARROWER: f64 = 0.7;

/// Most that a reading of busy cores may be above their number: clocks are read a little before and after.
const READING_MAX: f64 = 1.1;

/// Facts that decide a benchmark's mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances<'a> {
    /// The mode that was asked for.
    pub(super) choice: ModeChoice,
    /// The style in which the benchmark can be sliced.
    pub(super) style: Style,
    /// Threads that it runs on by its own configuration.
    pub(super) threads: u32,
    /// Its runtime works beside it on threads of its own.
    pub(super) runtime_threads: bool,
    /// Results of its first trials.
    pub(super) profile: Option<Profile>,
    /// The machine's limits.
    pub(super) capacity: Capacity,
    /// Spread of each mode on this machine.
    pub(super) check: Option<&'a SelfCheck>,
}

/// The mode for one benchmark and the reason in words.
///
/// A mode is valid as long as it estimates the ratio that whole processes on all cores would show. A benchmark that keeps
/// several cores busy by itself needs them. One that runs in parallel only because its harness starts it so on every core
/// does the same work per call on one core, where contention does not show, and the reason says so: on all cores processes
/// differ much more.
pub(super) fn choose_mode(c: &Circumstances<'_>) -> (Mode, String) {
    let several_asked = c.capacity.asked.is_some_and(|asked| asked > 1) && c.capacity.cpus > 1;
    match c.choice {
        ModeChoice::Sequential => (Mode::Sequential, "asked for".into()),
        _ if several_asked => (Mode::InterleavedAllCores, "more than one processor was asked for".into()),
        _ if c.threads > 1 && c.capacity.cpus > 1 => {
            (Mode::InterleavedAllCores, format!("runs on {} threads, as configured", c.threads))
        }
        _ if c.needs_several().is_some() => {
            let busy = c.needs_several().unwrap_or_default();
            (Mode::InterleavedAllCores, format!("keeps {busy:.1} cores busy, which is more than one side's half"))
        }
        ModeChoice::Duet if c.capacity.cores_physical < 2 => {
            (Mode::InterleavedOneCore, "duet needs two physical cores, this machine offers one".into())
        }
        ModeChoice::Duet if c.style == Style::Parallel => {
            (Mode::Duet, "asked for; each side runs in parallel on its one core, where contention does not show".into())
        }
        ModeChoice::Duet => (Mode::Duet, "asked for".into()),
        ModeChoice::Auto | ModeChoice::Interleaved if c.style == Style::Parallel => (
            Mode::InterleavedOneCore,
            "they run in parallel, but contention does not show; `-- -cpu N` uses N cores".into(),
        ),
        ModeChoice::Interleaved => (Mode::InterleavedOneCore, "asked for".into()),
        // On one core these would take the time of whichever side has its turn.
        ModeChoice::Auto if c.runtime_threads && c.capacity.cpus > 1 => {
            (Mode::InterleavedAllCores, "its runtime compiles and collects beside it".into())
        }
        ModeChoice::Auto => c.narrowest(),
    }
}

impl Circumstances<'_> {
    /// The cores that the benchmark itself keeps busy, if they are several. More than there are cannot be: such a reading is one of a
    /// loaded machine, and tells nothing.
    fn needs_several(&self) -> Option<f64> {
        let profile = self.profile.filter(|p| p.keeps_several_cores_busy() && self.style != Style::Parallel)?;
        // A runtime may have been at work beside it, which does not say how long its collector was.
        if self.runtime_threads && profile.collects {
            return None;
        }
        let possible = profile.cores_busy <= READING_MAX * f64::from(self.capacity.cpus);
        (self.capacity.cpus > 1 && possible).then_some(profile.cores_busy)
    }

    /// One core, unless the machine's self-check found another mode clearly better.
    fn narrowest(&self) -> (Mode, String) {
        let Some(check) = self.check else {
            let usual = "usually the narrowest interval per second for code that keeps one core busy";
            return (Mode::InterleavedOneCore, usual.into());
        };
        let valid = |mode: Mode| mode != Mode::Duet || self.capacity.cores_physical > 1;
        let of_one_core = check.width(Mode::InterleavedOneCore).unwrap_or(f64::INFINITY);
        let best = check.widths.iter().filter(|(mode, _)| valid(*mode)).min_by(|a, b| a.1.total_cmp(&b.1));
        let mode = match best {
            Some((mode, width)) if *width < CLEARLY_NARROWER * of_one_core => *mode,
            _ => Mode::InterleavedOneCore,
        };
        (mode, format!("by this machine's self-check: {}", check.words()))
    }
}
