//! Units, brought to the two that can be compared between files: `ns/op` and `ops/s`.

use duetbench_core::recording::Better;

/// A unit of a recording, with the conversion into it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    /// The unit that values have in a recording.
    pub(crate) word: String,
    /// Direction in which values are better.
    pub(crate) better: Better,
    /// Factor from values in the file to values of this unit.
    pub(crate) factor: f64,
}

/// Nanoseconds of the units of time, as Java and Go write them.
const TIMES_NS: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("min", 60e9),
    ("hr", 3600e9),
    ("day", 86_400e9),
];

/// Converts a unit. One that is neither time nor throughput is kept, and less of it is better unless it counts `ops/` or is a rate
/// such as `MB/s`. (JMH's rate of allocation is in `MB/sec`, and the less of it the better.)
pub(crate) fn of(unit: &str) -> Unit {
    let kept = |better| Unit { word: unit.to_owned(), better, factor: 1.0 };
    if let Some(time) = unit.strip_suffix("/op").and_then(time_ns) {
        return Unit { word: "ns/op".into(), better: Better::Lower, factor: time };
    }
    match unit.strip_prefix("ops/") {
        Some(time) => time_ns(time).map_or_else(
            || kept(Better::Higher),
            |time| Unit { word: "ops/s".into(), better: Better::Higher, factor: 1e9 / time },
        ),
        None => kept(Better::of_unit(unit)),
    }
}

/// Seconds of a span as JMH writes it: `10 s`, `500 ms`.
pub(crate) fn span_s(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number = number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0)?;
    Some(number * time_ns(unit.trim())? * 1e-9)
}

/// Nanoseconds of a unit of time: `us`, `ms`.
pub(crate) fn time_ns(unit: &str) -> Option<f64> {
    TIMES_NS.into_iter().find(|(word, _)| *word == unit).map(|(_, ns)| ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_comparable() {
        let check = |unit, word: &str, better, factor| {
            assert_eq!(of(unit), Unit { word: word.into(), better, factor }, "{unit}");
        };
        check("ns/op", "ns/op", Better::Lower, 1.0);
        check("ms/op", "ns/op", Better::Lower, 1e6);
        check("ops/s", "ops/s", Better::Higher, 1.0);
        check("ops/us", "ops/s", Better::Higher, 1e6);
        check("ops/fortnight", "ops/fortnight", Better::Higher, 1.0);
        check("B/op", "B/op", Better::Lower, 1.0);
        check("sec/op", "ns/op", Better::Lower, 1e9);
        check("cpu-ns/op", "cpu-ns/op", Better::Lower, 1.0);
        check("MB/s", "MB/s", Better::Higher, 1.0);
        check("MB/sec", "MB/sec", Better::Lower, 1.0);
    }

    #[test]
    fn spans_as_jmh_writes_them() {
        assert_eq!(span_s("10 s"), Some(10.0));
        assert_eq!(span_s("250 ms"), Some(0.25));
        assert_eq!(span_s("single-shot"), None);
        assert_eq!(span_s("NaN s"), None);
    }
}
