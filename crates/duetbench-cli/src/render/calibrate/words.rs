//! Words that calibrations, plans and reports share.

use std::time::Duration;

use duetbench_core::calibrate::{Blind, Difference, Made, Rate, SuiteSight};

use crate::render::format::{one_line, share};

/// The calibration in words: `the calibration of run r3 (2026-11-22)`.
pub fn origin(made: &Made) -> String {
    origin_of(&made.run, &made.made)
}

pub(in crate::render) fn origin_of(run: &str, made: &str) -> String {
    let day = made.split('T').next().unwrap_or(made);
    format!("the calibration of run {} ({})", one_line(run), one_line(day))
}

/// The facts that are not the same any more, as the first half of a sentence that ends with a calibration.
pub fn why_again(changed: &[Difference]) -> String {
    match changed {
        [] => "the benchmarks are not the same".to_owned(),
        [one] => format!("the {} is not the same", one_line(&one.fact)),
        several => {
            format!("{} are not the same", several.iter().map(|d| one_line(&d.fact)).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The changed facts: `kernel 6.8 is now 6.9`.
pub fn changes(changed: &[Difference]) -> String {
    let known = |value: &Option<String>| value.as_deref().map_or_else(|| "unknown".to_owned(), one_line);
    let one = |d: &Difference| format!("{} {} is now {}", one_line(&d.fact), known(&d.then), known(&d.now));
    changed.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A measuring time as people type it: `10s`, `1m`.
pub(in crate::render) fn time(seconds: f64) -> String {
    humantime::format_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)).to_string()
}

/// The smallest changes that a suite detects after a time, without the time.
pub(in crate::render) fn sees(seen: &SuiteSight) -> String {
    let median = share(seen.median);
    if seen.benchmarks == 1 {
        return median;
    }
    format!("{median} (median of {}; {} to {})", seen.benchmarks, share(seen.least), share(seen.most))
}

/// The interval of a rate; after no event at all only its upper bound.
pub(in crate::render) fn bounds(rate: &Rate) -> String {
    if rate.times == 0 {
        return format!("at most {}", share(rate.high));
    }
    format!("between {} and {}", share(rate.low), share(rate.high))
}

/// False alarms in a sentence.
pub(in crate::render) fn alarms(rate: &Rate) -> Option<String> {
    let Rate { times, of, .. } = rate;
    (*of > 0).then(|| format!("{times} of {of} parts of equal code were called changed ({})", bounds(rate)))
}

/// Why a benchmark sees nothing useful, and what would help.
pub(in crate::render) fn blind(blind: Blind) -> &'static str {
    match blind {
        Blind::TooFewForks => {
            "too few fork pairs came to their end: calibrate with more `--forks` or a longer `--budget`"
        }
        Blind::Layout => {
            "where the linker puts it moves it too much: needs more builds, or `--builds 1` for just two binaries"
        }
        Blind::Forks => "its processes differ too much: needs more of them, or a start that is always the same",
        Blind::Interference => "its slices are disturbed too much: `duet doctor` says by what",
        Blind::TooLong => "a fork pair takes too long: needs more time, or less work in an invocation",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(fact: &str, then: Option<&str>, now: Option<&str>) -> Difference {
        Difference { fact: fact.into(), then: then.map(Into::into), now: now.map(Into::into) }
    }

    #[test]
    fn what_changed_is_named() {
        let (kernel, governor) =
            (difference("kernel", Some("6.8"), Some("6.9")), difference("governor", Some("x"), None));
        assert_eq!(changes(&[kernel.clone(), governor.clone()]), "kernel 6.8 is now 6.9, governor x is now unknown");
        assert_eq!(why_again(&[]), "the benchmarks are not the same");
        assert_eq!(why_again(std::slice::from_ref(&kernel)), "the kernel is not the same");
        assert_eq!(why_again(&[kernel, governor]), "kernel, governor are not the same");
    }

    #[test]
    fn a_rate_says_what_it_leaves_open() {
        let rate = |times, low| Rate { times, of: 96, low, high: 0.0537 };
        assert_eq!(bounds(&rate(0, 0.0)), "at most 5.4%");
        assert_eq!(bounds(&rate(2, 0.0016)), "between 0.16% and 5.4%");
        assert_eq!(alarms(&Rate { times: 0, of: 0, low: 0.0, high: 1.0 }), None);
    }
}
