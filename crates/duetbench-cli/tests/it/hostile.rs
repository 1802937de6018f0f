//! A test over whole outputs: hostile names in everything that is read, through every command that prints, in every format that it has.

use crate::common::Place;
use crate::hostile_support::inputs::{LEADS, files, infect_store, misspelt, plan, settings, waive, word};
use crate::hostile_support::{Found, SCRIPT, store, stored};

const ALL: &[&str] = &["text", "markdown", "csv", "json", "go", "sarif", "html"];
const FIVE: &[&str] = &["text", "markdown", "csv", "json", "html"];
const TWO: &[&str] = &["text", "markdown"];

/// Commands on a store, with the formats that they have.
const ON_STORES: &[(&str, &[&str])] = &[
    ("show r1", ALL),
    ("show r1 --plot=true", &["text"]),
    ("show r1 --untrusted", ALL),
    ("show r2", &["text", "markdown", "csv", "json", "go", "html"]),
    ("show r3", ALL),
    ("why r1", FIVE),
    ("analyze r1", ALL),
    ("analyze r1 --threshold 20%", ALL),
    ("analyze r2 r5 --method both", FIVE),
    ("analyze r1 r4 --method both", FIVE),
    ("tune r2", FIVE),
    ("tune r2 --check --plan-file plan.toml --no-write", FIVE),
    ("calibrate --see 3%", FIVE),
    ("calibrate --see 0.1% --within 1s", FIVE),
    ("calibrate --run r3", FIVE),
];

/// Commands on a file, which stands for `FILE`, and on one with other values, `AGAIN`.
const ON_FILES: &[(&str, &[&str])] = &[
    ("analyze FILE AGAIN", FIVE),
    ("analyze FILE AGAIN --method both", FIVE),
    ("tune FILE", FIVE),
    ("tune FILE --metric all", TWO),
];

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
    }
    assert!(found.1 > 150, "only {} outputs show what they were given", found.1);
}

/// A file with other values: third decimals are others, and so is a value of those that have none.
fn measured_again(text: &str) -> String {
    let digits: Vec<char> = text.chars().collect();
    let is_third = |at: usize| {
        at >= 4
            && digits[at - 3] == '.'
            && digits[at - 4..=at].iter().enumerate().all(|(i, c)| i == 1 || c.is_ascii_digit())
    };
    let other = |(at, c): (usize, &char)| if is_third(at) { if *c == '5' { '6' } else { '5' } } else { *c };
    let again: String = digits.iter().enumerate().map(other).collect();
    again.replacen(",103,", ",103.5,", 1).replacen(";1003\n", ";1003.5\n", 1).replacen("3 ns/op", "4 ns/op", 9)
}

#[test]
fn hostile_files_are_harmless_in_every_output() {
    let mut found = Found::default();
    for lead in LEADS {
        let place = Place::new();
        for (name, text) in files(&word(lead)) {
            place.write(name, &text).write(&format!("again-{name}"), &measured_again(&text));
            for (command, formats) in ON_FILES {
                let command = command.replace("FILE", name).replace("AGAIN", &format!("again-{name}"));
                for format in *formats {
                    let args: Vec<&str> = command.split(' ').chain(["--format", format]).collect();
                    found.look(&place.duet(&args), &command, format);
                }
            }
            for (form, format) in FORMS {
                found.look(&place.duet(&["export", name, "--as", form]), &format!("export {name} {form}"), format);
            }
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
