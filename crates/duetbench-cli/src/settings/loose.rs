//! Values as people write them: a number, a switch or a time may stand in `duet.toml` as itself or as a string, and in a variable
//! it is always a string.

use std::str::FromStr;
use std::time::Duration;

use duetbench_run::adapter::{KINDS, Kind, named};
use serde::{Deserialize, Deserializer};

use crate::args::{parse_dollars, parse_fraction};

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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Words {
    List(Vec<String>),
    Line(String),
}

impl Words {
    pub(super) fn list(self) -> Vec<String> {
        match self {
            Words::List(list) => list,
            Words::Line(line) => line.split_whitespace().map(String::from).collect(),
        }
    }
}

fn loosely<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = Loose::deserialize(from)?.text();
    parse(text.trim()).map(Some).map_err(|e| serde::de::Error::custom(format!("`{text}`: {e}")))
}

/// The name of a harness.
pub(super) fn harness<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    loosely(from, |text| match named(text) {
        Some(kind) => Ok(kind.name().to_owned()),
        None => Err(format!("one of {} is wanted", KINDS.map(Kind::name).join(", "))),
    })
}

pub(super) fn number<'de, D: Deserializer<'de>, T: FromStr<Err: std::fmt::Display>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    loosely(from, |text| text.parse().map_err(|e: T::Err| e.to_string()))
}

pub(super) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    loosely(from, |text| humantime::parse_duration(text).map_err(|e| e.to_string()))
}

pub(super) fn fraction<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    loosely(from, parse_fraction)
}

/// A percentage that must be there.
///
/// # Errors
/// In words, when it is none.
pub fn percentage<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    fraction(from)?.ok_or_else(|| serde::de::Error::custom("a percentage is missing"))
}

pub(super) fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    loosely(from, parse_dollars)
}

pub(super) fn choice<'de, D: Deserializer<'de>, T: clap::ValueEnum>(from: D) -> Result<Option<T>, D::Error> {
    loosely(from, |text| {
        T::from_str(text, true).map_err(|_| {
            let known: Vec<String> =
                T::value_variants().iter().filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned())).collect();
            format!("one of {}", known.join(", "))
        })
    })
}

pub(super) fn switch<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    loosely(from, |text| match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" | "" => Ok(false),
        _ => Err("say true or false".into()),
    })
}
