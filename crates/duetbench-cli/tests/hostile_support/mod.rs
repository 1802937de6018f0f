//! Hostile names in everything that is read, and a look at what commands make of them.

#![allow(dead_code, unreachable_pub, reason = "several tests include it, and none uses all of it")]

mod checks;
pub mod inputs;

use std::path::PathBuf;

use self::checks::harmful;
use crate::common::{Place, Ran};

/// Benchmarks of every kind.
pub const SCRIPT: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002, "allocs": [3, 5]},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01},
    "BenchmarkC": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.2},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkOdd": {"baseline_ns": 100, "candidate_ns": 100, "failure": "no luck today"}
}"#;
const EQUAL: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01}}"#;

/// A place with a store of every kind of run: `r1` and `r4` are comparisons, `r2` and `r5` runs of one version, `r3` is a calibration.
pub fn stored() -> Place {
    let place = Place::new();
    let full = ["--forks", "12", "--fixed"];
    let solo = |seed: &str| {
        let shape = ["--suite-runs", "3", "--forks", "4", "--iterations", "6", "--seed", seed];
        place.duet(&[&["run", "--scripted", "script.json"][..], &shape].concat());
    };
    place.scripted(SCRIPT, &full);
    solo("1");
    place.duet(&["tune", "r2", "--metric", "cv", "--threshold", "12%", "--plan-file", "plan.toml"]).expect(0);
    place.write("equal.json", EQUAL);
    place.duet(&["calibrate", "--scripted", "equal.json", "--seed", "1"]).expect(0);
    place.scripted(SCRIPT, &full);
    place.write("script.json", SCRIPT);
    solo("5");
    place
}

/// Its store.
pub fn store(place: &Place) -> PathBuf {
    place.path().join(".duet/duet.db")
}

/// Findings in outputs, a line each, and the number of outputs that show a hostile word at all.
#[derive(Default)]
pub struct Found(pub Vec<String>, pub usize);

impl Found {
    /// Notes a command that did not do what it is for, and what in its output is harmful.
    pub fn look(&mut self, ran: &Ran, command: &str, format: &str) {
        // A benchmark of the script fails. Some forms have no place for some units.
        let fits = !ran.stderr.contains("nothing to write");
        if !matches!(ran.code, 0 | 1 | 3 | 4 | 5) || fits && ran.stdout.is_empty() {
            self.0.push(format!("{command}: exit {}, {}", ran.code, ran.stderr));
        }
        if !fits {
            return self.read(&ran.stderr, command, "people");
        }
        self.read(&ran.stdout, command, format);
        self.read(&ran.stderr, command, "people");
    }

    /// Notes what in an output is harmful.
    pub fn read(&mut self, output: &str, source: &str, format: &str) {
        self.1 += usize::from(output.contains("owned"));
        self.0.extend(harmful(format, output).map(|harm| format!("{source} as {format}: {harm}")));
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{}", self.0.join("\n"));
    }
}
