//! From the profiles of several processes of each side to the functions that gained.

use std::collections::BTreeSet;

use super::{FunctionGain, Gain, Origin, ProcessProfile, ProfileDifference};

/// Most functions that a difference lists, of each kind.
pub const LISTED_MAX: usize = 10;

/// A gain must be so many times its standard error. Hundreds of functions are looked at, and at three not one in seven hundred
/// gains so much by chance.
pub(super) const ERRORS_MIN: f64 = 3.0;

/// Functions that every stack of a Go benchmark begins in, besides those of package `testing`.
const HARNESS: [&str; 3] = ["main.main", "runtime.goexit", "runtime.main"];
/// Beginnings of the names of functions of Go's collector, behind the package's name.
const COLLECTOR: [&str; 11] = [
    "gc", "(*gc", "scan", "grey", "mark", "bgsweep", "sweep", "(*sweep", "bgscavenge", "wbBufFlush",
    "tryDeferToSpanScan",
];

impl ProfileDifference {
    /// The difference between processes of the baseline and of the candidate; absent where a side has no sample, or a process no
    /// invocation or period.
    ///
    /// A gain is beyond noise if each process of the candidate spent more time than any of the baseline, and the means differ by
    /// more than three standard errors of sampling. Of `n` samples of a process each is in the function or not, so `k` hits have the
    /// binomial variance `k (1 - k/n)`; a function that was never hit is taken to have the error of one hit.
    pub fn of(baseline: &[ProcessProfile], candidate: &[ProcessProfile]) -> Option<ProfileDifference> {
        let usable = |p: &ProcessProfile| p.invocations > 0 && p.period_ns > 0;
        let samples = [baseline, candidate].map(|side| side.iter().map(|p| p.samples).sum::<u64>());
        if samples.contains(&0) || !baseline.iter().chain(candidate).all(usable) {
            return None;
        }
        let sides = Sides { baseline, candidate };
        let total = sides.gain(&|p| p.samples);
        let hits = |p: &ProcessProfile, name: &str| p.functions.get(name).copied().unwrap_or_default();
        let names = sides.names();
        let of_runtime = |p: &ProcessProfile| {
            let flats = p.functions.iter().filter(|(name, _)| origin(name) != Origin::Program);
            flats.map(|(_, hits)| hits.flat).fold(0, u64::saturating_add)
        };
        let flat = names.iter().map(|name| (*name, sides.gain(&|p| hits(p, name).flat)));
        let called = names.iter().filter(|name| !is_harness(name));
        let cumulative = called.map(|name| (*name, sides.gain(&|p| hits(p, name).cumulative)));
        let count = |side: &[ProcessProfile]| u32::try_from(side.len()).unwrap_or(u32::MAX);
        Some(ProfileDifference {
            processes: [count(baseline), count(candidate)],
            samples,
            invocations: candidate.iter().map(|p| p.invocations).max().unwrap_or(0),
            total,
            runtime: sides.gain(&of_runtime),
            flat: largest(flat, &total),
            cumulative: largest(cumulative, &total),
        })
    }
}

/// The processes of both sides.
#[derive(Clone, Copy)]
struct Sides<'a> {
    baseline: &'a [ProcessProfile],
    candidate: &'a [ProcessProfile],
}

/// Time that the processes of one side spent per operation, nanoseconds.
struct Spent {
    mean: f64,
    least: f64,
    most: f64,
    /// Variance of the mean that is due to sampling.
    variance: f64,
}

impl<'a> Sides<'a> {
    /// All functions, each once.
    fn names(self) -> BTreeSet<&'a str> {
        let processes = self.baseline.iter().chain(self.candidate);
        processes.flat_map(|p| p.functions.keys().map(String::as_str)).collect()
    }

    /// The times of what `hits` counts.
    fn gain(self, hits: &dyn Fn(&ProcessProfile) -> u64) -> Gain {
        let [before, after] = [self.baseline, self.candidate].map(|side| Spent::of(side, hits));
        let gain_ns = after.mean - before.mean;
        let beyond_noise =
            after.least > before.most && gain_ns > ERRORS_MIN * (before.variance + after.variance).sqrt();
        Gain { baseline_ns: before.mean, candidate_ns: after.mean, gain_ns, beyond_noise }
    }
}

impl Spent {
    fn of(side: &[ProcessProfile], hits: &dyn Fn(&ProcessProfile) -> u64) -> Spent {
        let count = side.len() as f64;
        let mut spent = Spent { mean: 0.0, least: f64::INFINITY, most: 0.0, variance: 0.0 };
        let mut smallest_unit = f64::INFINITY;
        for process in side {
            let unit_ns = process.period_ns as f64 / process.invocations as f64;
            let k = hits(process) as f64;
            let missed = 1.0 - (k / process.samples.max(1) as f64).min(1.0);
            spent.mean += k * unit_ns / count;
            spent.least = spent.least.min(k * unit_ns);
            spent.most = spent.most.max(k * unit_ns);
            spent.variance += k * missed * unit_ns * unit_ns / (count * count);
            smallest_unit = smallest_unit.min(unit_ns);
        }
        let one_hit = smallest_unit / count;
        Spent { variance: spent.variance.max(one_hit * one_hit), ..spent }
    }
}

/// The functions that gained beyond noise, the largest gain first.
fn largest<'a>(gains: impl Iterator<Item = (&'a str, Gain)>, total: &Gain) -> Vec<FunctionGain> {
    let mut beyond: Vec<(&str, Gain)> = gains.filter(|(_, gain)| gain.beyond_noise).collect();
    beyond.sort_by(|(_, a), (_, b)| b.gain_ns.total_cmp(&a.gain_ns));
    beyond.truncate(LISTED_MAX);
    let share = |gain: &Gain| total.beyond_noise.then(|| gain.gain_ns / total.gain_ns);
    let listed = beyond.into_iter();
    listed
        .map(|(name, gain)| FunctionGain { function: name.to_owned(), origin: origin(name), share: share(&gain), gain })
        .collect()
}

/// Whose code a Go function is, by its name.
pub(crate) fn origin(function: &str) -> Origin {
    match function.strip_prefix("runtime.") {
        Some(own) if COLLECTOR.iter().any(|prefix| own.starts_with(prefix)) => Origin::Collector,
        Some(_) => Origin::Runtime,
        None if function.starts_with("runtime/internal/") || function.starts_with("internal/runtime/") => {
            Origin::Runtime
        }
        None => Origin::Program,
    }
}

/// Whether a function only calls the benchmark.
pub(super) fn is_harness(function: &str) -> bool {
    function.starts_with("testing.") || HARNESS.contains(&function)
}
