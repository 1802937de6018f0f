//! Variables as a layer of settings.

use std::ffi::OsString;

use serde::Deserialize;

use crate::failure::Failure;
use crate::options::{Layer, OPTIONS, Row};

/// Variables that are no settings of a project: the lock of the machine, and the release that `install.sh` fetches.
const APART: [&str; 2] = ["DUET_LOCK", "DUET_VERSION"];

/// A misspelt variable would silently do nothing.
pub(super) fn check_names(names: impl Iterator<Item = String>) -> Result<(), Failure> {
    let known = |name: &str| {
        !name.starts_with("DUET_") || APART.contains(&name) || OPTIONS.iter().any(|row| row.variable() == *name)
    };
    match names.into_iter().find(|name| !known(name)) {
        Some(name) => {
            Err(Failure::usage(format!("there is no setting `{name}`; options are set by variables like DUET_BUDGET")))
        }
        None => Ok(()),
    }
}

/// The layer that is set by variables. An empty one, as pipelines make of a variable that nobody set, is none.
pub(super) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Layer, Failure> {
    let mut layer = toml::Table::new();
    for (name, key) in OPTIONS.iter().map(|row: &Row| (row.variable(), row.key)) {
        if let Some(value) = variable(&name).filter(|value| !value.is_empty()) {
            let value = value.into_string().map_err(|_| Failure::usage(format!("`{name}` is not UTF-8")))?;
            layer.insert(key.into(), toml::Value::String(value));
            // One at a time, so that the message can name the variable.
            Layer::deserialize(layer.clone())
                .map_err(|e| Failure::usage(format!("`{name}` cannot be understood: {}", e.to_string().trim_end())))?;
        }
    }
    Layer::deserialize(layer).map_err(|e| Failure::usage(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn misspelt_variables_are_refused() {
        let check = |names: &[&str]| check_names(names.iter().map(|n| (*n).to_owned()));
        assert!(check(&["PATH", "DUET_BUDGET", "DUET_LOCK", "DUET_VERSION"]).is_ok());
        assert!(check(&["DUET_BUGDET"]).unwrap_err().to_string().contains("`DUET_BUGDET`"));
        assert!(check(&["DUET_budget"]).unwrap_err().to_string().contains("`DUET_budget`"));
    }

    #[test]
    fn an_empty_variable_is_none() {
        let layer = |value: &str| read(|name| (name == "DUET_STRICT").then(|| value.into())).unwrap();
        assert_eq!((layer("").strict, layer("false").strict), (None, Some(false)));
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        for value in [OsString::from("many"), OsString::from_vec(vec![b'5', 0xff])] {
            let error = read(|name| (name == "DUET_FORKS").then(|| value.clone())).unwrap_err();
            assert!(error.to_string().contains("`DUET_FORKS`"), "{error}");
        }
    }
}
