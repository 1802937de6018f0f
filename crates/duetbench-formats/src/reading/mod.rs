//! Reading: a file's contents, and what the parsers of all tools need.

use std::collections::BTreeMap;

use duetbench_core::Recording;
use duetbench_core::recording::Recorded;
use serde_json::Value;

pub(crate) mod cells;
pub(crate) mod keys;
pub(crate) mod names;
pub(crate) mod packed;
pub(crate) mod rows;
pub(crate) mod sheet;
pub(crate) mod unit;

/// The values of one benchmark in a further unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// As the tool calls it: `B/op`, `gc.alloc.rate.norm`, `cpu_time`.
    pub name: String,
    /// Its values.
    pub recorded: Recorded,
}

/// The content of a file: the parts of an [`Imported`](crate::Imported).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contents {
    pub(crate) recording: Recording,
    pub(crate) beside: Vec<Metric>,
    pub(crate) context: Vec<(String, String)>,
}

impl From<Recording> for Contents {
    fn from(recording: Recording) -> Contents {
        Contents { recording, beside: Vec::new(), context: Vec::new() }
    }
}

/// The words, numbers and truths of an object, by their keys, with a dot between those inside each other; lists are left out.
pub(crate) fn flattened(value: &Value) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    flatten(value, "", &mut flat);
    flat
}

fn flatten(value: &Value, key: &str, flat: &mut Vec<(String, String)>) {
    match value {
        Value::Object(inside) => {
            let dot = if key.is_empty() { "" } else { "." };
            let by_key: BTreeMap<&String, &Value> = inside.iter().collect();
            by_key.iter().for_each(|(inner, value)| flatten(value, &format!("{key}{dot}{inner}"), flat));
        }
        Value::String(text) => flat.push((key.to_owned(), text.clone())),
        Value::Number(_) | Value::Bool(_) => flat.push((key.to_owned(), value.to_string())),
        Value::Array(_) | Value::Null => {}
    }
}

/// Values that are no measurement, as they are met.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    first: Option<(u64, String)>,
    count: usize,
}

impl LeftOut {
    /// The value as a number that was measured; absent, and counted, where it is none.
    pub(crate) fn checked(&mut self, value: f64, line: u64) -> Option<f64> {
        if value.is_finite() && value >= 0.0 {
            return Some(value);
        }
        self.first.get_or_insert_with(|| (line, value.to_string()));
        self.count += 1;
        None
    }

    /// Warning about the values that were left out; absent if there were none.
    pub(crate) fn warning(self) -> Option<String> {
        let (line, value) = self.first?;
        let at = if line > 0 { format!(" in line {line}") } else { String::new() };
        Some(match self.count {
            1 => format!("1 value that is no measurement was left out: `{value}`{at}"),
            n => format!("{n} values that are no measurements were left out, the first is `{value}`{at}"),
        })
    }
}
