//! Keys of a JSON object that decide what it is: objects have no order, so the first one that decides may stand anywhere.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The key below which a file has its benchmarks.
const BENCHMARKS: &str = "benchmarks";

/// Keys that belong to something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Keys of the whole file.
    pub(crate) of_file: &'static [&'static str],
    /// Keys of the first of its `benchmarks`.
    pub(crate) of_benchmark: &'static [&'static str],
}

/// The owner of the first key in these bytes that anybody owns; what follows that key is not looked at.
pub(crate) fn told<T: Copy>(bytes: &[u8], owners: &[(T, Known)]) -> Option<T> {
    let mut told = None;
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // The error says no more than that reading ended, as it does once a key is met.
    let _ = Keys { owners, inside: false, told: &mut told }.deserialize(&mut reader);
    told
}

/// Reads the keys of an object, or of the first in an array of objects.
struct Keys<'a, T> {
    owners: &'a [(T, Known)],
    /// Whether this is one of the file's benchmarks.
    inside: bool,
    told: &'a mut Option<T>,
}

impl<T: Copy> Keys<'_, T> {
    fn owner(&self, key: &str) -> Option<T> {
        let owns = |known: &Known| if self.inside { known.of_benchmark } else { known.of_file }.contains(&key);
        self.owners.iter().find(|(_, known)| owns(known)).map(|(owner, _)| *owner)
    }
}

impl<'de, T: Copy> DeserializeSeed<'de> for Keys<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Copy> Visitor<'de> for Keys<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if let Some(owner) = self.owner(&key) {
                *self.told = Some(owner);
                return Err(A::Error::custom("told"));
            }
            if key == BENCHMARKS && !self.inside {
                map.next_value_seed(Keys { owners: self.owners, inside: true, told: self.told })?;
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
        let owners = [
            ("a", Known { of_file: &["x"], of_benchmark: &["p"] }),
            ("b", Known { of_file: &["y", "p"], of_benchmark: &["x"] }),
        ];
        let check = |text: &str, want| assert_eq!(told(text.as_bytes(), &owners), want, "{text}");
        check("{\"n\": [1, {\"x\": 2}], \"y\": 1, \"x\": 2}", Some("b"));
        check("{\"benchmarks\": [{\"n\": 1, \"p\": ", Some("a"));
        check("{\"benchmarks\": [{\"n\": 1}, {\"p\": 1}], \"p\": 1}", Some("b"));
        check("{\"benchmarks\": {\"x\": 1}}", Some("b"));
        check("{\"n\": 1}", None);
        check("{\"benchmarks\": [1, 2]}", None);
    }
}
