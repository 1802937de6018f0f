//! Describes where a calibration holds: on a machine, or on the instances of a fleet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::spec::FleetSpec;

/// A machine as far as it decides what can be seen on it: facts by name, those that are not known left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Machine {
    facts: BTreeMap<String, String>,
}

/// A fact of which two machines differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Name of the fact.
    pub fact: String,
    /// Its value when the calibration was made; absent where it was not known.
    pub then: Option<String>,
    /// Its value now.
    pub now: Option<String>,
}

impl Machine {
    /// Where something is measured: on this machine, or on a fleet, of which the machine that builds says nothing.
    pub fn of(environment: &Environment, fleet: Option<&FleetSpec>) -> Machine {
        let place = match fleet {
            Some(fleet) => vec![
                ("engine", fleet.engine.word().to_owned()),
                ("memory", format!("{} MB", fleet.memory_mb)),
                ("architecture", fleet.arch.word().to_owned()),
            ],
            None => of_environment(environment),
        };
        let all = place.into_iter().chain([("toolchain", environment.toolchain.clone())]);
        Machine { facts: all.map(|(fact, value)| (fact.to_owned(), value)).collect() }
    }

    /// A fact by its name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }

    /// Its facts, in name order.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.facts.iter().map(|(fact, value)| (fact.as_str(), value.as_str()))
    }

    /// Whether it stands for instances of a fleet.
    pub fn is_fleet(&self) -> bool {
        self.facts.contains_key("engine")
    }

    /// Whether times measured on both can stand in one picture: on the same processors, or instances of the same size.
    pub fn is_alike(&self, now: &Machine) -> bool {
        self.differences(now).iter().all(|changed| OF_SOFTWARE.contains(&changed.fact.as_str()))
    }

    /// Facts that have changed, in name order; empty where it is the same machine.
    pub fn differences(&self, now: &Machine) -> Vec<Difference> {
        let names: BTreeMap<&String, ()> = self.facts.keys().chain(now.facts.keys()).map(|name| (name, ())).collect();
        let both = names.into_keys().map(|name| (name, self.facts.get(name), now.facts.get(name)));
        both.filter(|(_, then, now)| then != now)
            .map(|(fact, then, now)| Difference { fact: fact.clone(), then: then.cloned(), now: now.cloned() })
            .collect()
    }
}

/// Facts of a machine that runs programs no faster or slower, or of which a history shows that they do.
const OF_SOFTWARE: [&str; 2] = ["kernel", "toolchain"];

fn of_environment(environment: &Environment) -> Vec<(&'static str, String)> {
    let facts = [
        ("platform", Some(environment.platform.clone())),
        ("kernel", Some(environment.kernel.clone())),
        ("processor", Some(environment.cpu_model.clone())),
        ("usable processors", Some(environment.cpus_usable.len().to_string())),
        ("governor", environment.governor.clone()),
    ];
    facts.into_iter().filter_map(|(fact, value)| Some((fact, value?))).collect()
}
