//! Words and numbers that the formats for people share.

use duetbench_core::tune::{Rules, TunedWarmUp};

use crate::render::format::{duration, levels, many, share};
use crate::tuning::{Enough, Summary, TunedSource, Tuning};

/// Most times as many repetitions as were made that anybody would make.
const EXTRAPOLATED_MAX: u64 = 100;

/// A configuration: `3×1×3×1`.
pub(super) fn configuration(repetitions: &[usize]) -> String {
    repetitions.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

/// The levels that the numbers of a configuration count.
pub(super) fn legend(source: &TunedSource) -> String {
    source.levels.iter().map(|l| levels(*l)).collect::<Vec<_>>().join(" × ")
}

/// The rules for stability, in words.
pub(super) fn rules(tuning: &Tuning) -> String {
    let Rules { threshold, confidence, keep, .. } = &tuning.rules;
    let metrics: Vec<&str> = tuning.metrics.iter().map(|metric| metric.word()).collect();
    let mut words =
        format!("{} at most {}, intervals of {} confidence", metrics.join(", "), share(*threshold), share(*confidence));
    if !keep.is_empty() {
        let kept: Vec<String> = keep.iter().map(|l| levels(*l)).collect();
        words += &format!("; {} are not reduced", kept.join(", "));
    }
    if tuning.warmup > 0 {
        words += &format!("; the first {} of every fork warm up", many(tuning.warmup, "iteration", "iterations"));
    }
    words
}

/// The warm-up that a benchmark needs, in iterations and time. What the harness ran unseen is an upper bound, and what cannot be
/// told is a question.
pub(super) fn warm_up(found: &TunedWarmUp) -> String {
    if found.found.is_none_or(|found| found.iterations.is_none()) {
        return "?".into();
    }
    let most = if found.unseen() > 0 { "≤ " } else { "" };
    iterations(most, found.iterations(), found.iteration_s)
}

/// The harness's warm-up, by its default or configuration.
pub(super) fn harness_warm_up(found: &TunedWarmUp) -> String {
    iterations("", found.harness.iterations as usize, found.harness.iteration_s)
}

fn iterations(most: &str, number: usize, each_s: f64) -> String {
    if number == 0 { "0".into() } else { format!("{most}{number} ({})", duration(number as f64 * each_s)) }
}

/// Repetitions that would be enough for a benchmark that is not stable.
pub(super) fn enough(enough: Option<Enough>) -> String {
    match enough {
        Some(Enough { now, repetitions, .. }) if repetitions > EXTRAPOLATED_MAX.saturating_mul(now as u64) => {
            format!("not on this machine: its noise is too large for {EXTRAPOLATED_MAX} times as many")
        }
        Some(Enough { level, now, repetitions }) => {
            format!("{repetitions} {} instead of {now} would probably be enough (extrapolated)", levels(level))
        }
        None => "how many repetitions would be enough cannot be extrapolated".into(),
    }
}

/// Numbers of benchmarks: all, reduced, and not stable.
pub(super) fn counts(summary: &Summary) -> String {
    let benchmarks = summary.accuracy.benchmarks;
    let mut words = format!("{}: {} reduced", many(benchmarks, "benchmark", "benchmarks"), summary.reduced());
    let unstable = benchmarks - summary.stable;
    if unstable > 0 {
        words += &format!(", {unstable} not stable even in full");
    }
    words
}

/// Time in full and reduced, and the saving.
pub(super) fn time(summary: &Summary) -> String {
    let accuracy = &summary.accuracy;
    let saves = saves(accuracy.saving());
    format!("{} in full, {} reduced, saves {saves}", duration(accuracy.full_s), duration(accuracy.chosen_s))
}

/// A saving, never rounded to all; empty where there is nothing to save.
pub(super) fn saves(saving: Option<f64>) -> String {
    let words = |saving: f64| format!("{:.1}%", if saving < 1.0 { saving.min(0.999) } else { saving } * 100.0);
    saving.map_or_else(String::new, words)
}

/// Numbers of results that stay close to those of the full configuration, by distance.
pub(super) fn accuracy(summary: &Summary) -> String {
    let within: Vec<String> = shown(summary).map(|(limit, n)| format!("{} for {n}", share(limit))).collect();
    format!("within {} of {}", within.join(", "), summary.accuracy.benchmarks)
}

/// The distances that people are shown: those that the study reports for every project.
pub(super) fn shown(summary: &Summary) -> impl Iterator<Item = (f64, usize)> {
    summary.within().take(3)
}

#[cfg(test)]
mod tests {
    use duetbench_core::recording::Level;

    use super::*;

    #[test]
    fn nobody_is_told_to_repeat_a_thousand_times() {
        let check = |now: usize, repetitions: u64, want: &str| {
            let words = enough(Some(Enough { level: Level::Fork, now, repetitions }));
            assert!(words.starts_with(want), "{words}");
        };
        check(27, 2700, "2700 forks instead of 27 would probably be enough");
        check(27, 68_342, "not on this machine");
    }
}
