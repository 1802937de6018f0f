//! A test over whole outputs: hostile names in everything that is read, through every command that prints, in every format that it has.

mod checks;
mod inputs;

use std::path::PathBuf;

use self::checks::harmful;
use self::inputs::{LEADS, files, infect_store, misspelt, plan, settings, waive, word};
use crate::common::{Place, Ran};

const SCRIPT: &str = r#"{
    "BenchmarkA": {"baseline_ns": 100, "candidate_ns": 110, "spread": 0.002, "allocs": [3, 5]},
    "BenchmarkB": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01},
    "BenchmarkC": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.2},
    "BenchmarkGone": {"baseline_ns": 100},
    "BenchmarkOdd": {"baseline_ns": 100, "candidate_ns": 100, "failure": "no luck today"}
}"#;
const EQUAL: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.01}}"#;

const ALL: &[&str] = &["text", "markdown", "csv", "json", "go", "sarif"];
const FOUR: &[&str] = &["text", "markdown", "csv", "json"];
const THREE: &[&str] = &["text", "markdown", "json"];
const TWO: &[&str] = &["text", "markdown"];

/// Commands on a store, with the formats that they have: `r1` and `r4` are comparisons, `r2` and `r5` runs of one version, `r3` is a calibration.
const ON_STORES: &[(&str, &[&str])] = &[
    ("show r1", ALL),
    ("show r1 --plot=true", &["text"]),
    ("show r1 --untrusted", ALL),
    ("show r2", &["text", "markdown", "csv", "json", "go"]),
    ("show r3", ALL),
    ("analyze r1", ALL),
    ("analyze r1 --threshold 20%", ALL),
    ("detect r2 r5", FOUR),
    ("detect r1 r4", FOUR),
    ("tune r2", FOUR),
    ("tune r2 --check --plan-file plan.toml --no-write", FOUR),
    ("plan --see 3%", FOUR),
    ("plan --see 0.1% --within 1s", FOUR),
    ("calibrate --run r3", FOUR),
    ("study duet r1", FOUR),
    ("study elastibench changes r1", FOUR),
    ("study elastibench agreement r1 r4", FOUR),
    ("study elastibench repetitions r1 --reference r4", FOUR),
    ("study elastibench aa r3", FOUR),
    ("study cloud r2 r5", THREE),
];

/// Commands on a file, which stands for `FILE`.
const ON_FILES: &[(&str, &[&str])] =
    &[("analyze FILE FILE", FOUR), ("detect FILE FILE", FOUR), ("tune FILE", FOUR), ("tune FILE --metric all", TWO)];

const FORMS: [(&str, &str); 11] = [
    ("go", "go"),
    ("benchstat-csv", "csv"),
    ("jmh", "json"),
    ("google-benchmark", "json"),
    ("pytest-benchmark", "json"),
    ("pyperf", "json"),
    ("hyperfine", "json"),
    ("pa", "data"),
    ("papers", "data"),
    ("bmf", "json"),
    ("github-action-benchmark", "json"),
];

/// A place with a store of every kind of run.
fn stored() -> Place {
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

fn store(place: &Place) -> PathBuf {
    place.path().join(".duet/duet.db")
}

/// Findings in outputs, a line each, and the number of outputs that show a hostile word at all.
#[derive(Default)]
struct Found(Vec<String>, usize);

impl Found {
    /// Notes a command that did not do what it is for, and what in its output is harmful.
    fn look(&mut self, ran: &Ran, command: &str, format: &str) {
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

    fn read(&mut self, output: &str, source: &str, format: &str) {
        self.1 += usize::from(output.contains("owned"));
        self.0.extend(harmful(format, output).map(|harm| format!("{source} as {format}: {harm}")));
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{}", self.0.join("\n"));
    }
}

#[test]
fn hostile_stores_are_harmless_in_every_output() {
    let mut found = Found::default();
    for lead in LEADS {
        let place = stored();
        infect_store(&store(&place), &word(lead));
        waive(&place, &word(lead));
        for (command, formats) in ON_STORES {
            for format in *formats {
                let args: Vec<&str> = command.split(' ').chain(["--format", format]).collect();
                found.look(&place.duet(&args), command, format);
            }
        }
        for (form, format) in FORMS {
            for run in ["r1", "r2"] {
                found.look(&place.duet(&["export", run, "--as", form]), &format!("export {run} {form}"), format);
            }
        }
        place.duet(&["report", "r1", "-o", "page.html"]).expect(0);
        found.read(&std::fs::read_to_string(place.path().join("page.html")).unwrap(), "report", "html");
    }
    assert!(found.1 > 150, "only {} outputs show what they were given", found.1);
}

#[test]
fn hostile_files_are_harmless_in_every_output() {
    let mut found = Found::default();
    for lead in LEADS {
        let place = Place::new();
        for (name, text) in files(&word(lead)) {
            place.write(name, &text);
            for (command, formats) in ON_FILES {
                let command = command.replace("FILE", name);
                for format in *formats {
                    let args: Vec<&str> = command.split(' ').chain(["--format", format]).collect();
                    found.look(&place.duet(&args), &command, format);
                }
            }
            for (form, format) in FORMS {
                found.look(&place.duet(&["export", name, "--as", form]), &format!("export {name} {form}"), format);
            }
        }
        for format in THREE {
            found.look(&place.duet(&["study", "cloud", "pa.csv", "--format", format]), "study cloud", format);
        }
    }
    assert!(found.1 > 150, "only {} outputs show what they were given", found.1);
}

#[test]
fn hostile_files_of_a_repository_are_harmless_in_every_output() {
    let mut found = Found::default();
    for lead in LEADS {
        let place = Place::new();
        place.write("script.json", SCRIPT);
        settings(&place, &word(lead));
        waive(&place, &word(lead));
        found.look(&place.duet(&["config", "check"]), "config check", "text");
        place.write("plan.toml", &plan(&word(lead)));
        let measured = ["compare", "--scripted", "script.json", "--plan", "plan.toml"];
        for format in ALL {
            found.look(&place.duet(&[&measured[..], &["--format", format]].concat()), "compare", format);
        }
        for (file, text) in misspelt(&word(lead)) {
            place.write(file, &text);
            let ran = place.duet(&measured);
            assert!(!ran.stderr.is_empty(), "{file} was taken");
            found.read(&ran.stderr, file, "people");
        }
    }
    assert!(found.1 > 10, "only {} outputs show what they were given", found.1);
}
