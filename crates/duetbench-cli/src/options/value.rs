//! Values as people write them: a number, a switch or a time may stand in `duet.toml` as itself or as a string, and in a variable
//! it is always a string.

use std::path::PathBuf;
use std::time::Duration;

use duetbench_run::adapter::{KINDS, Kind, named};
use serde::{Deserialize, Deserializer};

/// A value that an option can have.
pub trait Setting: Sized {
    /// Reads it as it is typed.
    ///
    /// # Errors
    /// In words, when it cannot be understood.
    fn parse(text: &str) -> Result<Self, String>;

    /// Reads it from a file or a variable.
    ///
    /// # Errors
    /// When it cannot be understood.
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Loose::deserialize(from)?.text();
        Self::parse(text.trim()).map_err(|e| serde::de::Error::custom(format!("`{text}`: {e}")))
    }
}

/// Reads what stands there.
///
/// # Errors
/// When it cannot be understood.
pub(super) fn some<'de, D: Deserializer<'de>, T: Setting>(from: D) -> Result<Option<T>, D::Error> {
    T::read(from).map(Some)
}

/// A value written as itself or as a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Loose {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Loose {
    fn text(self) -> String {
        match self {
            Loose::Bool(b) => b.to_string(),
            Loose::Integer(i) => i.to_string(),
            Loose::Float(f) => f.to_string(),
            Loose::Text(t) => t,
        }
    }
}

/// A list, or one string of words.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected words, as `\"./a ./b\"` or `[\"./a\", \"./b\"]`")]
enum Words {
    List(Vec<String>),
    Line(String),
}

impl Setting for Vec<String> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.split_whitespace().map(String::from).collect())
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Words::deserialize(from)? {
            Words::List(list) => Ok(list),
            Words::Line(line) => Self::parse(&line).map_err(serde::de::Error::custom),
        }
    }
}

impl Setting for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)
    }
}

impl Setting for PathBuf {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(from)
    }
}

impl Setting for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            _ => Err("say true or false".into()),
        }
    }
}

/// Reads numbers of these types.
macro_rules! read_as_numbers {
    ($($number:ty),+) => {
        $(impl Setting for $number {
            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| format!("give a whole number from 0 to {}", Self::MAX))
            }
        })+
    };
}
read_as_numbers!(u32, u64);

impl Setting for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        match text.split(|c: char| !c.is_alphabetic()).find(|unit| ABOVE_DAYS.contains(unit)) {
            Some("M") => return Err(format!("did you mean `{}`?", text.replace('M', "m"))),
            Some(unit) => return Err(format!("days are the largest unit, and `{unit}` is another: write `14days`")),
            None => {}
        }
        let time = humantime::parse_duration(text).map_err(|e| {
            let number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
            if number { format!("did you mean `{text}s`?") } else { e.to_string() }
        })?;
        of_this_life(time)
    }
}

/// Units that nobody measures in, the first of which is taken for minutes.
const ABOVE_DAYS: [&str; 9] = ["M", "month", "months", "w", "week", "weeks", "y", "year", "years"];

/// Longest time that can be asked for: ten years. The clock's moments come to an end, and a time that leads beyond it is none.
const TIME_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// Refuses a time that nobody lives to see the end of.
///
/// # Errors
/// In words, when it is too long.
pub(crate) fn of_this_life(time: Duration) -> Result<Duration, String> {
    if time > TIME_MAX { Err("give at most 3650 days".into()) } else { Ok(time) }
}

/// A fraction, written `3%` or `0.03`.
impl Setting for f64 {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (digits, scale) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
        match digits.trim().parse::<f64>() {
            // `3` for `3%` would be 300 % and swallow every change.
            Ok(value) if scale == 1.0 && value >= 1.0 => Err(format!("did you mean `{text}%`?")),
            Ok(value) if value.is_finite() => Ok(value / scale),
            _ => Err("give a percentage like `3%` or a fraction like `0.03`".into()),
        }
    }
}

/// An amount above nothing.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dollars(pub f64);

impl Setting for Dollars {
    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().trim_start_matches('$').parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(Dollars(value)),
            _ => Err("give an amount above 0, like `2.50`".into()),
        }
    }
}

/// The name of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessName(pub String);

impl Setting for HarnessName {
    fn parse(text: &str) -> Result<Self, String> {
        match named(text) {
            Some(kind) => Ok(HarnessName(kind.name().to_owned())),
            None => Err(format!("one of {} is wanted", KINDS.map(Kind::name).join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_in_both_spellings() {
        assert_eq!(f64::parse("3%"), Ok(0.03));
        assert_eq!(f64::parse(" 0.5 % "), Ok(0.005));
        assert_eq!(f64::parse("0.03"), Ok(0.03));
        assert!(f64::parse("lots").is_err());
        assert!(f64::parse("nan").is_err());
        assert_eq!(f64::parse("3"), Err("did you mean `3%`?".into()));
        assert_eq!(f64::parse("300%"), Ok(3.0));
    }

    #[test]
    fn a_time_ends_within_ten_years() {
        assert_eq!(Duration::parse("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(Duration::parse("3650days"), Ok(TIME_MAX));
        assert_eq!(Duration::parse("7"), Err("did you mean `7s`?".into()));
        for long in ["3651days", "9999999999999999999s"] {
            assert_eq!(Duration::parse(long), Err("give at most 3650 days".into()), "{long}");
        }
        for (months, minutes) in [("10M", "10m"), ("1h 30M", "1h 30m")] {
            assert_eq!(Duration::parse(months), Err(format!("did you mean `{minutes}`?")));
        }
        for unit in ["month", "w", "weeks", "year"] {
            assert!(Duration::parse(&format!("2 {unit}")).unwrap_err().contains("`14days`"), "{unit}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_told_the_range() {
        assert_eq!(u32::parse("7"), Ok(7));
        for wrong in ["many", "-1", "4294967296", "1.5"] {
            assert_eq!(u32::parse(wrong), Err("give a whole number from 0 to 4294967295".into()), "{wrong}");
        }
    }
}
