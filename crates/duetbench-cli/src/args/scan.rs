//! Hyperfine's scans of numbers, as lists of values: `-P n 1 9 -D 4` is `-L n 1,5,9`.

use std::ffi::OsString;

use crate::failure::Failure;

/// Spellings of a scan, and of the length of its steps.
const SCAN: [&str; 2] = ["-P", "--parameter-scan"];
const STEP: [&str; 2] = ["-D", "--parameter-step-size"];
/// Most values of a scan: each of them is a benchmark.
const VALUES_MAX: i64 = 1000;

/// A decimal number as a whole one, with so many digits behind the point.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: i64,
    decimals: u32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let plain = whole.trim_start_matches('-').chars().chain(fraction.chars()).all(|c| c.is_ascii_digit());
        let digits = format!("{whole}{fraction}").parse().ok().filter(|_| plain)?;
        Some(Decimal { digits, decimals: u32::try_from(fraction.len()).ok()? })
    }

    /// The same with more digits behind the point.
    fn with(self, decimals: u32) -> Option<i64> {
        self.digits.checked_mul(10i64.checked_pow(decimals.checked_sub(self.decimals)?)?)
    }
}

/// A command line in which scans are lists.
///
/// # Errors
/// When a scan is not complete, or not one of numbers.
pub(super) fn as_lists(words: &[OsString]) -> Result<Vec<OsString>, Failure> {
    let is = |word: &OsString, spellings: &[&str]| word.to_str().is_some_and(|word| spellings.contains(&word));
    if !words.iter().any(|word| is(word, &SCAN)) {
        return Ok(words.to_vec());
    }
    let step = words.iter().position(|word| is(word, &STEP)).and_then(|at| words.get(at + 1)?.to_str());
    let mut lists = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if is(word, &STEP) {
            rest.next();
        } else if is(word, &SCAN) {
            let [name, from, to] = [rest.next(), rest.next(), rest.next()].map(|word| word?.to_str());
            let values = from.zip(to).and_then(|(from, to)| values(from, to, step.unwrap_or("1")));
            let (Some(name), Some(values)) = (name, values) else { return Err(refused()) };
            lists.extend(["-L", name, &values].map(OsString::from));
        } else {
            lists.push(word.clone());
        }
    }
    Ok(lists)
}

/// Every value from one to another, separated by commas.
fn values(from: &str, to: &str, step: &str) -> Option<String> {
    let numbers = [Decimal::parse(from)?, Decimal::parse(to)?, Decimal::parse(step)?];
    let decimals = numbers.iter().map(|number| number.decimals).max()?;
    let [from, to, step] = numbers.map(|number| number.with(decimals));
    let (from, to, step) = (from?, to?, step.filter(|step| *step > 0)?);
    let steps = to.checked_sub(from).filter(|length| *length >= 0)? / step;
    let scale = 10u64.checked_pow(decimals)?;
    let written = |number: i64| {
        let sign = if number < 0 { "-" } else { "" };
        let (whole, fraction) = (number.unsigned_abs() / scale, number.unsigned_abs() % scale);
        if decimals == 0 {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{fraction:0width$}", width = decimals as usize)
        }
    };
    let all = || (0..=steps).map(|i| written(from + i * step)).collect::<Vec<_>>().join(",");
    (steps < VALUES_MAX).then(all)
}

fn refused() -> Failure {
    Failure::usage("`-P` needs a name and two numbers, from the smaller to the larger in at most 1000 steps")
        .hint("`-P NAME 1 9 -D 2`, or every value with `-L NAME 1,2,4,8`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_are_lists_of_every_value() {
        let check = |typed: &str, want: Option<&str>| {
            let words: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
            let written = as_lists(&words).ok().map(|words| words.join(" ".as_ref()).into_string().unwrap());
            assert_eq!(written.as_deref(), want, "{typed}");
        };
        check("a -P n 1 3 b", Some("a -L n 1,2,3 b"));
        check("-P n 1 9 -D 4 -w 3", Some("-L n 1,5,9 -w 3"));
        check("--parameter-step-size 0.25 --parameter-scan t -0.5 0.1", Some("-L t -0.50,-0.25,0.00"));
        check("-P n 1", None);
        check("-P n 9 1", None);
        check("-P n 1 x", None);
        check("-P n 1 9 -D 0", None);
        check("-P n 1 1001", None);
        check("-P n 0 9223372036854775807", None);
        check("-L n 1,2", Some("-L n 1,2"));
    }
}
