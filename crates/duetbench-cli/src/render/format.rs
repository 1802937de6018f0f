//! Numbers and foreign words for people.

use duetbench_core::recording::Level;
use duetbench_core::report::VersionInfo;
use duetbench_core::spellings::short;

pub use duetbench_core::foreign::{one_line, shortened};

/// A version as it was typed and, where that says more, as it turned out: `v1.2 (4e1f… tidy up)`.
pub fn version(version: &VersionInfo) -> String {
    let (requested, resolved) = (one_line(&version.requested), one_line(&version.resolved));
    let commit = resolved.split(' ').next().unwrap_or_default();
    let says_the_same = resolved.starts_with(&requested) || (commit.len() >= 7 && requested.starts_with(commit));
    if says_the_same { resolved } else { format!("{requested} ({resolved})") }
}

/// SI prefixes for seconds, smallest first, each with its factor.
const PREFIXES: [(f64, &str); 5] = [(1e-9, "n"), (1e-6, "µ"), (1e-3, "m"), (1.0, ""), (1e3, "k")];

/// Most decimals of a percentage.
const DECIMALS_MAX: usize = 2;

/// Most decimals by which a percentage is told from a limit.
const DECIMALS_BEYOND_MAX: usize = 8;

/// Most decimals of a time, where a benchmark takes almost none because it does nothing.
const DECIMALS_OF_TIME_MAX: f64 = 9.0;

/// Format of the times in one row: the same prefix for all, so that they can be compared at a glance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeScale {
    factor: f64,
    prefix: &'static str,
    decimals: usize,
}

impl TimeScale {
    /// The scale for these times in nanoseconds: benchstat's rule, four significant digits for the smallest one.
    pub fn of(times_ns: &[f64]) -> TimeScale {
        let smallest_s =
            times_ns.iter().copied().filter(|t| *t > 0.0 && t.is_finite()).fold(f64::INFINITY, f64::min) * 1e-9;
        if smallest_s.is_infinite() {
            return TimeScale { factor: 1.0, prefix: "", decimals: 3 };
        }
        // The limits are those at which rounding to four digits would carry over.
        let (factor, prefix) =
            PREFIXES.into_iter().rev().find(|(factor, _)| smallest_s >= 0.99995 * factor).unwrap_or(PREFIXES[0]);
        let decimals = match smallest_s / factor {
            scaled if scaled >= 99.995 => 1,
            scaled if scaled >= 9.9995 => 2,
            scaled if scaled >= 0.99995 => 3,
            scaled => (3.0 - scaled.log10().floor()).clamp(4.0, DECIMALS_OF_TIME_MAX) as usize,
        };
        TimeScale { factor, prefix, decimals }
    }

    /// One time in nanoseconds as seconds: `1.718µ`.
    pub fn write(self, time_ns: f64) -> String {
        if !time_ns.is_finite() {
            return "?".into();
        }
        format!("{:.*}{}", self.decimals, time_ns * 1e-9 / self.factor, self.prefix)
    }
}

/// A ratio as a change in percent with its sign and two significant digits, down to hundredths: 1.0512 is `+5.1%`. More would
/// promise what no interval keeps.
pub fn change(ratio: f64) -> String {
    change_to(ratio, 0)
}

/// A change beside its interval: with more digits where fewer would lie outside of it, as `+4.96%` in `[+4.95%, +4.96%]`.
pub fn change_within(ratio: f64, low: f64, high: f64) -> String {
    let percent = percent_of(ratio);
    let power = 10f64.powi(i32::try_from(decimals_of(percent)).unwrap_or(0));
    let rounded = (percent * power).round() / power;
    let lies_within = (percent_of(low)..=percent_of(high)).contains(&rounded);
    change_to(ratio, if lies_within { 0 } else { decimals_between(low, high) })
}

/// Both ends of an interval of ratios as changes in percent, with so many digits that its width can be read: `[+4.7%, +5.5%]`,
/// `[+19.94%, +20.03%]`. Where it leaves open whether anything changed and reaches beyond +100 % or to -99 %, the words [`TOO_FEW`].
pub fn interval(low: f64, high: f64) -> String {
    let is_open = !(low > 1.0 || high < 1.0);
    let says_nothing = !(high <= OPEN_MAX && low >= LEFT_MIN);
    if is_open && says_nothing {
        return TOO_FEW.into();
    }
    let decimals = decimals_between(low, high);
    format!("[{}, {}]", change_to(low, decimals), change_to(high, decimals))
}

/// Decimals by which the width of an interval can be read.
fn decimals_between(low: f64, high: f64) -> usize {
    match (high - low).abs() * 100.0 / 4.0 {
        quarter if quarter >= 1.0 || !quarter.is_finite() => 0,
        quarter if quarter >= 0.1 => 1,
        _ => DECIMALS_MAX,
    }
}

fn percent_of(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// Decimals that leave a change two significant digits.
fn decimals_of(percent: f64) -> usize {
    // The rest tells of a time of which almost all is gone.
    match if percent < -99.0 { percent + 100.0 } else { percent.abs() } {
        size if size >= 9.95 => 0,
        size if size >= 0.995 => 1,
        _ => DECIMALS_MAX,
    }
}

/// A change with at least so many decimals.
fn change_to(ratio: f64, least: usize) -> String {
    let percent = percent_of(ratio);
    if ratio.is_nan() {
        return "?".into();
    }
    if percent.is_infinite() {
        return "+∞".into();
    }
    if percent.abs() < 0.005 {
        return "0.00%".into();
    }
    format!("{percent:+.*}%", decimals_of(percent).max(least))
}

/// Largest and smallest ratio that an open question may leave possible before its interval says nothing of the code: +100 % and -99 %.
pub(super) const OPEN_MAX: f64 = 2.0;
const LEFT_MIN: f64 = 0.01;
/// Said in place of numbers that three processes of large spread would give.
pub const TOO_FEW: &str = "too few processes";

/// The smallest change that is found, `≥3.2%`; beyond a doubling no number.
pub fn detectable(fraction: f64) -> String {
    if fraction <= OPEN_MAX - 1.0 { format!("≥{}", share(fraction)) } else { ">100%".into() }
}

/// A fraction in percent with two significant digits: 0.0084 is `0.84%`, 0.03 is `3%`; what is almost all keeps those of what is
/// missing, so that 0.999 is `99.9%`.
pub fn share(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent.is_nan() {
        return "?".into();
    }
    if percent.is_infinite() {
        return "∞".into();
    }
    let telling = if (99.5..100.0).contains(&percent) { 100.0 - percent } else { percent.abs() };
    let decimals = match telling {
        p if p >= 10.0 => 0,
        p if p >= 1.0 => 1,
        p if p >= 0.1 => 2,
        _ => 3,
    };
    trimmed(percent, decimals) + "%"
}

/// A fraction in percent beside a limit that it exceeds, with so many digits that both differ: `3.04%` beside `3%`.
pub fn share_beyond(fraction: f64, limit: f64) -> String {
    let (short, limit) = (share(fraction), share(limit));
    let longer = |decimals| trimmed(fraction * 100.0, decimals) + "%";
    if short != limit {
        short
    } else {
        (1..=DECIMALS_BEYOND_MAX).map(longer).find(|more| *more != limit).unwrap_or(short)
    }
}

/// A number of at most so many decimals, without zeros at its end.
pub fn trimmed(number: f64, decimals: usize) -> String {
    let written = format!("{number:.decimals$}");
    if decimals == 0 {
        return written;
    }
    written.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A counted quantity, exactly where it is whole: `5`, `128.4`.
pub fn counted(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1000.0 { format!("{value:.0}") } else { significant(value) }
}

/// Four significant digits without trailing zeros.
fn significant(value: f64) -> String {
    let decimals = if value.abs() >= 100.0 {
        1
    } else if value.abs() >= 10.0 {
        2
    } else {
        3
    };
    trimmed(value, decimals)
}

/// A number with six significant digits, more than a chart can show: full precision would be most of the page.
pub(super) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A span of time: `850ms`, `12.3s`, `1m 42s`, `2h 05m`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".into();
    }
    if seconds < 0.9995 {
        return format!("{:.0}ms", seconds * 1000.0);
    }
    if seconds < 59.95 {
        return format!("{seconds:.1}s");
    }
    let whole = seconds.round();
    let (hours, minutes, rest) = ((whole / 3600.0).floor(), (whole % 3600.0 / 60.0).floor(), whole % 60.0);
    if hours > 0.0 { format!("{hours:.0}h {minutes:02.0}m") } else { format!("{minutes:.0}m {rest:02.0}s") }
}

/// A time that can be typed, rounded up: `40s`, `5m`.
pub fn typed_time(seconds: f64) -> String {
    if seconds <= 110.0 {
        format!("{:.0}s", (seconds.max(1.0) / 10.0).ceil() * 10.0)
    } else {
        format!("{:.0}m", (seconds / 60.0).ceil())
    }
}

/// A number of things in words that agree with it: `1 fork pair`, `3 fork pairs`.
pub fn many(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// A level of repetition: `suite run`.
pub fn level(level: Level) -> String {
    level.word().replace('_', " ")
}

/// Several of a level: `suite runs`.
pub fn levels(several: Level) -> String {
    format!("{}s", level(several))
}

/// Some of so many names, and how many more there are: `a, b and 3 more`.
pub fn listed(shown: &[String], of: usize) -> String {
    let more = of.saturating_sub(shown.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &rest
}

/// At most so many of some foreign names, and how many more there are.
pub fn named(all: &[String], most: usize) -> String {
    let shown: Vec<String> = all.iter().take(most).map(|name| format!("`{}`", one_line(name))).collect();
    listed(&shown, all.len())
}

/// So many benchmarks: `1 benchmark`, `12 benchmarks`.
pub fn benchmarks(count: usize) -> String {
    many(count, "benchmark", "benchmarks")
}

/// The first line of foreign words, as much of it as is read where it stands.
pub fn first_line(text: &str) -> String {
    shortened(&one_line(text.lines().next().unwrap_or_default()))
}

/// A failure in one line: its heading, and the first line of a tool's words below it.
pub fn failure_in_one_line(why: &str) -> String {
    let heading = first_line(why);
    if !heading.ends_with(':') {
        return heading;
    }
    // Not the command that was given, nor a compiler's heading.
    let says = |line: &&str| !line.is_empty() && !line.starts_with(['$', '#']);
    match why.lines().skip(1).map(str::trim).find(says) {
        Some(words) => format!("{heading} {}", first_line(words)),
        None => heading.trim_end_matches(':').to_owned(),
    }
}

/// A name as benchstat shows it: on one line and without Go's `Benchmark` in front.
pub fn short_name(name: &str) -> String {
    short(&one_line(name)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits_and_share_the_prefix_of_the_smallest() {
        let check = |times_ns: &[f64], want: &[&str]| {
            let scale = TimeScale::of(times_ns);
            assert_eq!(times_ns.iter().map(|t| scale.write(*t)).collect::<Vec<_>>(), want);
        };
        check(&[1718.0], &["1.718µ"]);
        check(&[1718.0, 1422.5], &["1.718µ", "1.423µ"]);
        check(&[999.0, 1002.0], &["999.0n", "1002.0n"]);
        check(&[999.96], &["1.000µ"]);
        check(&[99.96], &["99.96n"]);
        check(&[99.996], &["100.0n"]);
        check(&[0.25], &["0.2500n"]);
        check(&[2.5e9], &["2.500"]);
        check(&[0.0], &["0.000"]);
        check(&[0.000_001_2, 0.000_001_5], &["0.000001200n", "0.000001500n"]);
        check(&[f64::NAN, 12.0], &["?", "12.00n"]);
    }

    #[test]
    fn a_version_is_named_once() {
        let check = |requested: &str, resolved: &str, want: &str| {
            let [requested, resolved] = [requested, resolved].map(str::to_owned);
            assert_eq!(version(&VersionInfo { requested, resolved, artifact_digest: String::new() }), want);
        };
        check("v1.2", "4e1f00aa11 tidy up", "v1.2 (4e1f00aa11 tidy up)");
        check("a.org/m@v1.2.0", "a.org/m@v1.2.0", "a.org/m@v1.2.0");
        check("work tree", "work tree (4e1f00aa11)", "work tree (4e1f00aa11)");
        check("4e1f00aa11bb", "4e1f00aa11 tidy up", "4e1f00aa11 tidy up");
    }

    #[test]
    fn changes_carry_their_sign() {
        let check = |ratio, want| assert_eq!(change(ratio), want);
        check(1.0512, "+5.1%");
        check(1.00512, "+0.51%");
        check(0.828, "-17%");
        check(1.0996, "+10%");
        check(0.0003, "-99.97%");
        check(1.00001, "0.00%");
        check(0.99999, "0.00%");
        check(14.0, "+1300%");
        check(f64::INFINITY, "+∞");
        check(f64::NAN, "?");
    }

    #[test]
    fn a_change_lies_within_the_interval_beside_it() {
        let check = |ratio, low, high, want| assert_eq!(change_within(ratio, low, high), want);
        check(1.0496, 1.0495, 1.0497, "+4.96%");
        check(1.0512, 1.0468, 1.0548, "+5.1%");
        check(1.2472, 1.2468, 1.2478, "+24.72%");
        check(1.2472, 1.22, 1.27, "+25%");
        check(1.2472, 1.2431, 1.2478, "+24.7%");
        check(f64::NAN, f64::NAN, f64::NAN, "?");
        check(f64::INFINITY, 1.0, f64::INFINITY, "+∞");
    }

    #[test]
    fn an_interval_shows_its_width_and_no_number_that_says_nothing() {
        let check = |low, high, want| assert_eq!(interval(low, high), want);
        check(1.0468, 1.0548, "[+4.7%, +5.5%]");
        check(1.28, 1.32, "[+28%, +32%]");
        check(1.1994, 1.2003, "[+19.94%, +20.03%]");
        check(0.86, 1.078, "[-14%, +7.8%]");
        check(0.997, 1.009, "[-0.30%, +0.90%]");
        check(0.44, 1.89, "[-56%, +89%]");
        check(0.0, 9_628_992_356.9, TOO_FEW);
        check(0.034, 31.35, TOO_FEW);
        check(0.0, 1.5, TOO_FEW);
        check(0.5, f64::INFINITY, TOO_FEW);
        check(f64::NAN, f64::NAN, TOO_FEW);
        check(8.0, 11.0, "[+700%, +1000%]");
        check(0.001, 0.002, "[-99.90%, -99.80%]");
        assert_eq!([0.032, 1.0, 1.01, f64::INFINITY].map(detectable), ["≥3.2%", "≥100%", ">100%", ">100%"]);
    }

    #[test]
    fn shares_have_two_digits() {
        let check = |fraction, want| assert_eq!(share(fraction), want);
        check(0.03, "3%");
        check(0.0084, "0.84%");
        check(0.012, "1.2%");
        check(0.0999, "10%");
        check(0.00997, "1%");
        check(0.25, "25%");
        check(0.99, "99%");
        check(0.999, "99.9%");
        check(0.9996, "99.96%");
        check(1.0, "100%");
        check(1.5, "150%");
        check(0.000_12, "0.012%");
        check(f64::INFINITY, "∞");
    }

    #[test]
    fn a_share_beyond_a_limit_does_not_look_like_it() {
        let check = |fraction, limit, want| assert_eq!(share_beyond(fraction, limit), want);
        check(0.0304, 0.03, "3.04%");
        check(0.041, 0.03, "4.1%");
        check(0.000_000_5, 0.0, "0.00005%");
        check(0.09004, 0.09, "9.004%");
        check(0.03, 0.03, "3%");
    }

    #[test]
    fn counts_are_exact_where_they_are_whole() {
        let check = |value, want| assert_eq!(counted(value), want);
        check(5.0, "5");
        check(1_000_003.0, "1000003");
        check(128.44, "128.4");
        check(0.5, "0.5");
        check(1023.7, "1024");
    }

    #[test]
    fn numbers_for_charts_keep_six_digits() {
        let check = |value: f64, want: f64| assert_eq!(six_digits(value).to_bits(), want.to_bits());
        check(1.234_567_89, 1.23457);
        check(123_456_789.0, 123_457_000.0);
        check(-0.000_012_345_678, -0.000_012_345_7);
        check(0.0, 0.0);
        assert!(six_digits(f64::NAN).is_nan() && six_digits(f64::INFINITY).is_infinite());
    }

    #[test]
    fn durations_change_units_where_rounding_would_overflow() {
        let check = |seconds, want| assert_eq!(duration(seconds), want);
        check(0.85, "850ms");
        check(12.34, "12.3s");
        check(59.96, "1m 00s");
        check(102.0, "1m 42s");
        check(7500.0, "2h 05m");
        check(f64::NAN, "?");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened(&"µ".repeat(300)), "µ".repeat(300));
        assert_eq!(shortened(&"µ".repeat(301)), "µ".repeat(300) + "…");
        assert_eq!(shortened(&"a plain loop ".repeat(24)), "a plain loop ".repeat(23) + "a…");
        assert_eq!(shortened(&format!("xy{}", "word ".repeat(70))), format!("xy{}…", "word ".repeat(59).trim_end()));
        assert_eq!(shortened(&format!("{}, and more", "a".repeat(299))), "a".repeat(299) + ",…");
    }

    #[test]
    fn names_are_shown_as_benchstat_shows_them() {
        assert_eq!(short_name("BenchmarkEncode/json-8"), "Encode/json-8");
        assert_eq!(short_name("Benchmark"), "Benchmark");
    }

    #[test]
    fn a_failure_is_told_with_its_first_words() {
        for (why, line) in [
            ("head (`c3`) does not build:\n$ make\ncannot fetch dep", "head (`c3`) does not build: cannot fetch dep"),
            ("head (`c3`) does not build:\n# a/b\n  x.go:3: y", "head (`c3`) does not build: x.go:3: y"),
            ("head (`c3`) does not build:\n$ make\n", "head (`c3`) does not build"),
            ("there is no benchmark `A`\nmore", "there is no benchmark `A`"),
        ] {
            assert_eq!(failure_in_one_line(why), line);
        }
    }
}
