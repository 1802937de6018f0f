//! The form of a JSON object, by its keys: objects have no order, so the first key that decides may stand anywhere.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Form;

/// Keys of the whole file, with the form that each belongs to.
const OF_FILE: [(&str, Form); 14] = [
    ("results", Form::Hyperfine),
    ("context", Form::Google),
    ("machine_info", Form::Pytest),
    ("commit_info", Form::Pytest),
    ("datetime", Form::Pytest),
    ("metadata", Form::Pyperf),
    ("sampling_mode", Form::CriterionSample),
    ("iters", Form::CriterionSample),
    ("times", Form::CriterionSample),
    ("mean", Form::CriterionEstimates),
    ("median", Form::CriterionEstimates),
    ("median_abs_dev", Form::CriterionEstimates),
    ("slope", Form::CriterionEstimates),
    ("std_dev", Form::CriterionEstimates),
];

/// Keys of the first of its `benchmarks`, with the form that each belongs to.
const OF_BENCHMARK: [(&str, Form); 7] = [
    ("runs", Form::Pyperf),
    ("metadata", Form::Pyperf),
    ("stats", Form::Pytest),
    ("fullname", Form::Pytest),
    ("run_name", Form::Google),
    ("run_type", Form::Google),
    ("real_time", Form::Google),
];

/// The form of the object in these bytes, where a key decides it; what follows that key is not looked at.
pub(super) fn form(bytes: &[u8]) -> Option<Form> {
    let mut told = None;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // The error says no more than that reading ended, as it does once a form is told.
    let _ = Keys { known: &OF_FILE, told: &mut told }.deserialize(&mut reader);
    told
}

/// Reads the keys of an object, or of the first in an array of objects.
struct Keys<'a> {
    known: &'a [(&'a str, Form)],
    told: &'a mut Option<Form>,
}

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if let Some((_, form)) = self.known.iter().find(|(word, _)| *word == key) {
                *self.told = Some(*form);
                return Err(A::Error::custom("told"));
            }
            if key == "benchmarks" && self.known.len() == OF_FILE.len() {
                map.next_value_seed(Keys { known: &OF_BENCHMARK, told: self.told })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        seq.next_element_seed(self)?;
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_that_decides_may_stand_anywhere() {
        let check = |text: &str, want| assert_eq!(form(text.as_bytes()), want, "{text}");
        check("{\"version\": 1, \"results\": [", Some(Form::Hyperfine));
        check("{\"benchmarks\": [{\"name\": \"a\", \"runs\": ", Some(Form::Pyperf));
        check("{\"benchmarks\": [{\"name\": \"a\", \"run_type\": ", Some(Form::Google));
        check("{\"benchmarks\": [{\"group\": null, \"stats\": ", Some(Form::Pytest));
        check("{\"benchmarks\": [], \"metadata\": {}}", Some(Form::Pyperf));
        check("{\"benchmarks\": {\"a\": 1}, \"context\": {}}", Some(Form::Google));
        check("{\"times\": [1], \"iters\": [1]}", Some(Form::CriterionSample));
        check("{\"Action\": \"output\"}", None);
        check("{\"benchmarks\": [1, 2]}", None);
    }
}
