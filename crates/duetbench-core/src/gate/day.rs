//! Days of the calendar.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A day of the calendar, written `2026-12-31`; earlier days are smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// The first one there is.
    pub const FIRST: Day = Day { year: 1, month: 1, day: 1 };
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Day, String> {
        let refused = || format!("`{text}` is no day: write it as `2026-12-31`");
        let mut parts = text.split('-');
        let [Some(year), Some(month), Some(day), None] = [parts.next(), parts.next(), parts.next(), parts.next()]
        else {
            return Err(refused());
        };
        let digits = |part: &str, length: usize| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
        if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
            return Err(refused());
        }
        let number = |part: &str| part.parse::<u16>().map_err(|_| refused());
        let (year, month, day) = (number(year)?, number(month)?, number(day)?);
        let exists = (1..=12).contains(&month) && (1..=length_of(year, month)).contains(&day);
        match (u8::try_from(month), u8::try_from(day)) {
            (Ok(month), Ok(day)) if exists => Ok(Day { year, month, day }),
            _ => Err(format!("there is no day `{text}`")),
        }
    }
}

/// Days of a month, by the rule of Gregory XIII.
fn length_of(year: u16, month: u16) -> u16 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Day, String> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> String {
        day.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_written_and_ordered() {
        let day = |text: &str| text.parse::<Day>();
        for text in ["2026-12-31", "2028-02-29", "2000-02-29", "0001-01-01"] {
            assert_eq!(day(text).unwrap().to_string(), text);
        }
        let refused = [
            "2026-13-01", "2026-02-29", "1900-02-29", "2026-04-31", "2026-1-01", "26-01-01", "2026-01-00", "x",
            "+026-01-01",
        ];
        for text in refused {
            assert!(day(text).is_err(), "{text}");
        }
        assert!(day("2026-12-31").unwrap() < day("2027-01-01").unwrap());
        assert!(day("2026-01-31").unwrap() < day("2026-02-01").unwrap());
    }
}
