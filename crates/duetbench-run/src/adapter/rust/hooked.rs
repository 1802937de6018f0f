//! Copies of the harnesses' sources with the hook in them, which the compiler sees in place of the originals.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::metadata::{Metadata, Package};
use crate::error::RunError;
use crate::tree;

/// The hook's sources, a module of the harness. The first one is written last: it says that a copy is complete.
pub(super) const HOOK: [(&str, &str); 5] = [
    ("mod.rs", include_str!("../../../../../hooks/rust/duet/mod.rs")),
    ("page.rs", include_str!("../../../../../hooks/rust/duet/page.rs")),
    ("system.rs", include_str!("../../../../../hooks/rust/duet/system.rs")),
    ("link.rs", include_str!("../../../../../hooks/rust/duet/link.rs")),
    ("trial.rs", include_str!("../../../../../hooks/rust/duet/trial.rs")),
];
/// The place of a copy below the folder of all of them is its original's path.
pub(super) const VARIABLE: &str = "DUET_HOOKED";

/// A harness that can be hooked.
struct Harness {
    /// Its crate, or one that is a copy of it.
    package: &'static str,
    /// The oldest release in which all benchmarks come by the insertions.
    since: (u64, u64),
    supported: &'static str,
}

const HARNESSES: [Harness; 2] = [
    Harness { package: "criterion", since: (0, 4), supported: "criterion 0.4 to 0.8" },
    Harness {
        package: "codspeed-criterion-compat-walltime",
        since: (2, 0),
        supported: "codspeed-criterion-compat 2 to 6",
    },
];

/// One insertion into a source file of criterion's.
struct Insertion {
    file: &'static str,
    anchor: &'static str,
    /// Number of times that the anchor must be there.
    times: Times,
    place: Place,
    text: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Times {
    Once,
    /// As often as the file's other anchors of this kind, and at least once.
    Alike,
}

#[derive(Clone, Copy)]
enum Place {
    Before,
    After,
}

/// The end of the line in which a method that times notes that it was called, behind the name of what it is called on.
const CALLED: &str = ".iterated = true;";

/// The body of every method that times, between taking the time and taking the elapsed time, goes round in a loop. For `@` stands the
/// name before [`CALLED`].
const INSERTIONS: [Insertion; 4] = [
    Insertion {
        file: "lib.rs",
        anchor: "mod bencher;",
        times: Times::Once,
        place: Place::Before,
        text: "#[allow(warnings)]\nmod duet;\n",
    },
    Insertion {
        file: "benchmark_group.rs",
        anchor: "        match &self.criterion.mode {",
        times: Times::Once,
        place: Place::Before,
        text: "        if crate::duet::takes(id.id(), ::std::any::type_name::<M>(), &mut || {
            func.bench(&self.criterion.measurement, &[1], input);
        }) {
            self.all_ids.push(id);
            return;
        }\n",
    },
    Insertion {
        file: "bencher.rs",
        anchor: "let time_start = Instant::now();",
        times: Times::Alike,
        place: Place::Before,
        text: "while crate::duet::more(&mut @.iters, @.measurement.to_f64(&@.value)) {\n",
    },
    Insertion {
        file: "bencher.rs",
        anchor: ".elapsed_time = time_start.elapsed();",
        times: Times::Alike,
        place: Place::After,
        text: "}\n",
    },
];

/// Writes hooked copies of all harnesses that a version depends on below `place`; names them.
pub(super) fn write(metadata: &Metadata, place: &Path) -> Result<Vec<String>, RunError> {
    let mut written = Vec::new();
    for harness in &HARNESSES {
        for package in metadata.named(harness.package) {
            written.push(format!("{} {}", package.name, package.version));
            copy(package, harness, place)?;
        }
    }
    Ok(written)
}

fn copy(package: &Package, harness: &Harness, place: &Path) -> Result<(), RunError> {
    let does_not_fit = |why: String| RunError::Toolchain {
        what: format!("duet's hook does not fit {} {}: {why}", package.name, package.version),
        hint: Some(format!("it fits {}: `cargo update -p {}` may bring one of these", harness.supported, package.name)),
    };
    let mut numbers = package.version.split('.').map_while(|part| part.parse::<u64>().ok());
    let release = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if release < harness.since {
        return Err(does_not_fit("it is too old".to_owned()));
    }
    let original = package.dir().join("src");
    let copy = below(place, &original);
    let hook = copy.join("duet");
    if hook.join(HOOK[0].0).exists() && package.is_published() {
        return Ok(());
    }
    tree::copy(&package.dir(), &below(place, &package.dir()), &is_source)?;
    for file in ["lib.rs", "benchmark_group.rs", "bencher.rs"] {
        let path = original.join(file);
        let text = fs::read_to_string(&path).map_err(|e| RunError::file("read", &path, e))?;
        let text = insert_all(&text, file).map_err(&does_not_fit)?;
        write_file(&copy.join(file), &text)?;
    }
    fs::create_dir_all(&hook).map_err(|e| RunError::file("create", &hook, e))?;
    HOOK.iter().rev().try_for_each(|(name, text)| write_file(&hook.join(name), text))
}

fn write_file(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text).map_err(|e| RunError::file("write", path, e))
}

/// The place of a copy.
fn below(place: &Path, original: &Path) -> PathBuf {
    place.join(original.strip_prefix("/").unwrap_or(original))
}

/// Whether a folder of a package is neither hidden nor built.
fn is_source(folder: &DirEntry) -> bool {
    let name = folder.file_name();
    name != "target" && !name.to_string_lossy().starts_with('.')
}

/// A source file with its insertions; fails with the reason in words.
fn insert_all(original: &str, file: &str) -> Result<String, String> {
    let insertions: Vec<&Insertion> = INSERTIONS.iter().filter(|insertion| insertion.file == file).collect();
    // Some releases have lines that end as on Windows.
    let count = |insertion: &Insertion| original.lines().filter(|line| line.ends_with(insertion.anchor)).count();
    let first = insertions.first().map_or(0, |insertion| count(insertion));
    for insertion in &insertions {
        let wanted = if insertion.times == Times::Once { 1 } else { first.max(1) };
        if count(insertion) != wanted {
            let anchor = insertion.anchor.trim();
            return Err(format!("`{anchor}` in its {file} is there {} times, not {wanted}", count(insertion)));
        }
    }
    let mut text = String::with_capacity(original.len() + 4096);
    let mut called_on = "self";
    for line in original.split_inclusive('\n') {
        called_on = line.trim().strip_suffix(CALLED).unwrap_or(called_on);
        let here = insertions.iter().find(|insertion| line.trim_end().ends_with(insertion.anchor));
        let inserted = here.map(|insertion| (insertion.place, insertion.text.replace('@', called_on)));
        match inserted {
            None => text.push_str(line),
            Some((Place::Before, more)) => text.extend([more.as_str(), line]),
            Some((Place::After, more)) => text.extend([line, more.as_str()]),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_go_round_in_a_loop() {
        let original = "    b.iterated = true;\n    let other = 1;\n    let time_start = Instant::now();\n    work();\n    \
                        b.elapsed_time = time_start.elapsed();\n";
        let hooked = insert_all(original, "bencher.rs").unwrap();
        let head = "while crate::duet::more(&mut b.iters, b.measurement.to_f64(&b.value)) {";
        let lines: Vec<&str> = hooked.lines().map(str::trim).collect();
        let start = "let time_start = Instant::now();";
        let called = ["b.iterated = true;", "let other = 1;"];
        let want = [&called[..], &[head, start, "work();", "b.elapsed_time = time_start.elapsed();", "}"]].concat();
        assert_eq!(lines, want);
        let of_windows = insert_all(&original.replace('\n', "\r\n"), "bencher.rs").unwrap();
        assert_eq!(of_windows.lines().map(str::trim).collect::<Vec<_>>(), want);
    }

    #[test]
    fn sources_that_are_not_as_they_used_to_be_are_refused() {
        let refused = |text: &str, file: &str| insert_all(text, file).unwrap_err();
        assert!(refused("", "lib.rs").contains("`mod bencher;` in its lib.rs is there 0 times, not 1"));
        assert!(refused("mod bencher;\nmod bencher;\n", "lib.rs").contains("2 times"));
        let start = "let time_start = Instant::now();\n";
        let heads_alone = format!("{start}{start}self.elapsed_time = time_start.elapsed();\n");
        assert!(refused(&heads_alone, "bencher.rs").contains("1 times, not 2"));
        assert!(refused("nothing\n", "bencher.rs").contains("0 times, not 1"));
    }
}
