//! The parsers that `fuzz/run` fuzzes for hours, here for seconds and with the stable toolchain: every seed, and changes of it that are
//! the same each time, through every parser. Inputs that the fuzzer finds become seeds.
#![cfg(debug_assertions)]

#[path = "../../../../fuzz/fuzz_targets/parsers.rs"]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use self::targets::{PARSERS, import};

/// Changed copies of each seed.
const CHANGES: u64 = 40;
/// Bytes that parsers look out for.
const TOKENS: [&[u8]; 16] = [
    b"\0",
    b"\n",
    b"\"",
    b"\\",
    b"{",
    b"]",
    b"=",
    b"-1",
    b"1e999",
    b"NaN",
    b"18446744073709551616",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xae",
    b"null",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f",
];

/// Numbers from a seed, always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// The bytes with up to four changes.
    fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let (from, length) = (self.below(bytes.len() + 1), self.below(16));
            let to = (from + length).min(bytes.len());
            match self.below(5) {
                0 => bytes.truncate(from),
                1 => drop(bytes.drain(from..to)),
                2 => drop(bytes.splice(to..to, bytes[from..to].repeat(3))),
                3 => drop(bytes.splice(from..to, TOKENS[self.below(TOKENS.len())].iter().copied())),
                _ => bytes.iter_mut().skip(from).take(1).for_each(|byte| *byte ^= 1 << (length % 8)),
            }
        }
        bytes
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files that are small enough below these folders, in the order of their names.
fn seeds(folders: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    found.into_iter().map(read).filter(|(_, bytes)| bytes.len() <= 20_000).collect()
}

/// Fails with the bytes that a parser did not survive.
fn survives(name: &str, parse: fn(&[u8]), seed: &Path, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| parse(bytes))).is_err() {
        let seed = seed.file_name().unwrap_or_default().to_string_lossy();
        panic!("`{name}` on {seed}, changed to `{}`", bytes.escape_ascii());
    }
}

#[test]
fn every_parser_survives_every_seed_and_changes_of_it() {
    let seeds = seeds(&["fuzz/seeds", "crates/duetbench-formats/tests/data/import"]);
    assert!(seeds.len() > 30, "{}", seeds.len());
    for (path, bytes) in &seeds {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let changed = (0..CHANGES).map(|_| numbers.changed(bytes));
        for bytes in [bytes.clone()].into_iter().chain(changed) {
            for (name, parse) in PARSERS {
                survives(name, parse, path, &bytes);
            }
            survives("import", import, path, &bytes);
        }
    }
}

#[test]
fn the_fuzzer_knows_every_parser_and_each_has_a_seed() {
    let script = fs::read_to_string(root().join("fuzz/run")).unwrap();
    for (name, _) in PARSERS {
        assert!(script.contains(&format!("\"{name}\": (\"text\"")), "fuzz/run lacks `{name}`");
    }
    for (path, _) in seeds(&["fuzz/seeds"]) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let family = name.split('-').next().unwrap();
        assert!(
            script.contains(&name) || script.contains(&format!("{family}-*")),
            "fuzz/run does not begin with {name}"
        );
    }
}

#[test]
fn changes_are_the_same_each_time() {
    let changed = || Numbers(7).changed(b"format = 1\n[learnt]\n");
    assert_eq!(changed(), changed());
}
