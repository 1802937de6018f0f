//! Hostile names in stores and files, through every study in every format that it has.

use crate::common::Place;
use crate::hostile_support::inputs::{LEADS, files, infect_store, word};
use crate::hostile_support::{Found, store, stored};
use crate::study;

const FOUR: &[&str] = &["text", "markdown", "csv", "json"];
const THREE: &[&str] = &["text", "markdown", "json"];

/// Studies of a store, with the formats that they have.
const ON_STORES: &[(&str, &[&str])] = &[
    ("duet r1", FOUR),
    ("elastibench changes r1", FOUR),
    ("elastibench agreement r1 r4", FOUR),
    ("elastibench repetitions r1 --reference r4", FOUR),
    ("elastibench aa r3", FOUR),
    ("cloud r2 r5", THREE),
];

#[test]
fn hostile_stores_and_files_are_harmless_in_every_output() {
    let mut found = Found::default();
    for lead in LEADS {
        let place = stored();
        infect_store(&store(&place), &word(lead));
        for (command, formats) in ON_STORES {
            for format in *formats {
                let args: Vec<&str> = command.split(' ').chain(["--format", format]).collect();
                found.look(&study(&place, &args), command, format);
            }
        }
        let place = Place::new();
        for (name, text) in files(&word(lead)) {
            place.write(name, &text);
        }
        for format in THREE {
            found.look(&study(&place, &["cloud", "pa.csv", "--format", format]), "cloud", format);
        }
    }
    assert!(found.1 > 20, "only {} outputs show what they were given", found.1);
}
