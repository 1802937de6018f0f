//! Copies of the harnesses' sources with the hook in them, which the compiler sees in place of the originals.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use duetbench_core::sources;

use super::insertions::{CALLED, HARNESSES, Harness, Insertion, Place, Times};
use super::metadata::{Metadata, Package};
use crate::error::RunError;
use crate::tree;

/// The hook's sources, a module of the harness. The first one is written last: it says that a copy is complete.
pub(super) const HOOK: [(&str, &str); 6] = sources!("../../../../../hooks/rust/duet/":
    "mod.rs", "names.rs", "page.rs", "system.rs", "link.rs", "trial.rs"
);
/// The place of a copy below the folder of all of them is its original's path.
pub(super) const VARIABLE: &str = "DUET_HOOKED";

/// Files of a published package that tell one release from another; the second is there where it was vendored.
const RECORDS: [&str; 2] = ["Cargo.toml", ".cargo-checksum.json"];

/// Writes hooked copies of all harnesses that a version depends on below `place`; those that it does not fit stay as they are, with the
/// reason.
///
/// # Errors
/// When it fits none, or a copy cannot be made.
pub(super) fn write(metadata: &Metadata, place: &Path) -> Result<Vec<RunError>, RunError> {
    let (mut unfit, mut hooked) = (Vec::new(), 0);
    for harness in &HARNESSES {
        for package in metadata.named(harness.package) {
            match copy(package, harness, place) {
                Err(error @ RunError::Told { .. }) => {
                    // Half a hook would not compile.
                    drop(fs::remove_dir_all(below(place, &package.dir())));
                    unfit.push(error);
                }
                copied => {
                    copied?;
                    hooked += 1;
                }
            }
        }
    }
    match unfit.pop() {
        Some(only) if hooked == 0 => Err(only),
        last => Ok(unfit.into_iter().chain(last).collect()),
    }
}

fn copy(package: &Package, harness: &Harness, place: &Path) -> Result<(), RunError> {
    let does_not_fit = |why: String| {
        RunError::toolchain(format!("duet's hook does not fit {} {}: {why}", package.name, package.version))
            .hint(format!("it fits {}: `cargo update -p {}` may bring one of these", harness.supported, package.name))
    };
    let mut numbers = package.version.split('.').map_while(|part| part.parse::<u64>().ok());
    if [(); 3].map(|()| numbers.next().unwrap_or(0)) < harness.since {
        let error = RunError::toolchain(format!(
            "duet's hook does not fit {} {}: it is too old",
            package.name, package.version
        ));
        return Err(error.hint(format!(
            "it fits {}, which `Cargo.toml` has to ask for; `duet compare --command OLD NEW` measures what has no such one",
            harness.supported
        )));
    }
    let original = package.dir().join("src");
    let copy = below(place, &original);
    let hook = copy.join("duet");
    let whole = below(place, &package.dir());
    if hook.join(HOOK[0].0).exists() && package.is_published() && has_records_of(&whole, &package.dir()) {
        return Ok(());
    }
    if whole.exists() {
        fs::remove_dir_all(&whole).map_err(|e| RunError::file("remove", &whole, e))?;
    }
    tree::copy(&package.dir(), &whole, &is_source)?;
    // Links stay links in a copy, and what they lead to is not ours to write.
    if copy.canonicalize().ok().zip(whole.canonicalize().ok()).is_some_and(|(copy, whole)| !copy.starts_with(whole)) {
        return Err(does_not_fit("its src is a link to somewhere else".to_owned()));
    }
    for part in harness.parts {
        let file = part.files.iter().find(|file| original.join(file).is_file());
        let file = file.ok_or_else(|| does_not_fit(format!("it has no {}", part.files.join(" or "))))?;
        let path = original.join(file);
        let text = fs::read_to_string(&path).map_err(|e| RunError::file("read", &path, e))?;
        let text = insert_all(&text, file, part.insertions).map_err(&does_not_fit)?;
        write_file(&copy.join(file), &text)?;
    }
    tree::make_folder(&hook)?;
    HOOK.iter().rev().try_for_each(|(name, text)| write_file(&hook.join(name), text))
}

fn write_file(path: &Path, text: &str) -> Result<(), RunError> {
    tree::remove_link(path).map_err(|e| RunError::file("remove", path, e))?;
    fs::write(path, text).map_err(|e| RunError::file("write", path, e))
}

/// Whether a copy is of what lies there now: published sources do not change, but vendored ones are replaced in place.
fn has_records_of(copy: &Path, original: &Path) -> bool {
    let read = |dir: &Path, name: &str| fs::read(dir.join(name)).ok();
    RECORDS.iter().all(|name| read(copy, name) == read(original, name))
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
fn insert_all(original: &str, file: &str, insertions: &[Insertion]) -> Result<String, String> {
    // Some releases have lines that end as on Windows.
    let count = |insertion: &Insertion| original.lines().filter(|line| line.ends_with(insertion.anchor)).count();
    let first = insertions.first().map_or(0, &count);
    for insertion in insertions {
        let wanted = match insertion.times {
            Times::Once => 1,
            Times::Alike => first.max(1),
            Times::Any => continue,
        };
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
    use super::super::insertions::Part;
    use super::*;

    /// Criterion's file with its insertions.
    fn inserted(original: &str, file: &str) -> Result<String, String> {
        let part = HARNESSES[0].parts.iter().find(|part| part.files == [file]).unwrap();
        insert_all(original, file, part.insertions)
    }

    #[test]
    fn bodies_go_round_in_a_loop() {
        let original = "    b.iterated = true;\n    let other = 1;\n    let time_start = Instant::now();\n    work();\n    \
                        b.elapsed_time = time_start.elapsed();\n";
        let hooked = inserted(original, "bencher.rs").unwrap();
        let head = "while crate::duet::more(&mut b.iters, b.measurement.to_f64(&b.value)) {";
        let lines: Vec<&str> = hooked.lines().map(str::trim).collect();
        let start = "let time_start = Instant::now();";
        let inside = ["let other = 1;", start, "work();", "b.elapsed_time = time_start.elapsed();", "}"];
        let want = [&["b.iterated = true;", head], &inside[..]].concat();
        assert_eq!(lines, want);
        let of_windows = inserted(&original.replace('\n', "\r\n"), "bencher.rs").unwrap();
        assert_eq!(of_windows.lines().map(str::trim).collect::<Vec<_>>(), want);
    }

    #[test]
    fn batches_follow_from_slices() {
        let method = |name: &str| {
            format!(
                "{name}.iterated = true;\nlet batch_size = size.iters_per_batch({name}.iters);\n\
                 {name}.elapsed_time = time_start.elapsed();\n"
            )
        };
        let hooked = inserted(&(method("self") + &method("b")), "bencher.rs").unwrap();
        for name in ["self", "b"] {
            let asked = format!("size.iters_per_batch({name}.iters);\n");
            let batch =
                format!("let batch_size = crate::duet::batch({name}.iters, |iters| size.iters_per_batch(iters));");
            assert!(hooked.contains(&(asked + &batch)), "{hooked}");
        }
    }

    #[test]
    fn sources_that_are_not_as_they_used_to_be_are_refused() {
        let refused = |text: &str, file: &str| inserted(text, file).unwrap_err();
        assert!(refused("", "lib.rs").contains("`mod bencher;` in its lib.rs is there 0 times, not 1"));
        assert!(refused("mod bencher;\nmod bencher;\n", "lib.rs").contains("2 times"));
        let start = "self.iterated = true;\n";
        let heads_alone = format!("{start}{start}self.elapsed_time = time_start.elapsed();\n");
        assert!(refused(&heads_alone, "bencher.rs").contains("1 times, not 2"));
        assert!(refused("nothing\n", "bencher.rs").contains("0 times, not 1"));
    }

    const AFTER: Insertion = Insertion { anchor: "mod a;", times: Times::Once, place: Place::After, text: "hooked;\n" };
    const SMALL: Harness = Harness {
        package: "h",
        since: [1, 0, 0],
        supported: "h",
        parts: &[Part { files: &["lib.rs"], insertions: &[AFTER] }],
    };

    #[test]
    fn vendored_sources_that_were_updated_are_hooked_anew() {
        let place = tempfile::tempdir().unwrap();
        let (vendored, copies) = (place.path().join("vendor/h"), place.path().join("hooked"));
        let copied = below(&copies, &vendored);
        fs::create_dir_all(vendored.join("src")).unwrap();
        let put = |name: &str, text: &str| fs::write(vendored.join(name), text).unwrap();
        // A release that is replaced by another one, and one whose sources were changed by hand.
        for (version, sum) in [("1.0.0", "1"), ("1.0.1", "2"), ("1.0.1", "3")] {
            put("Cargo.toml", &format!("[package]\nname = \"h\"\nversion = \"{version}\"\n"));
            put(".cargo-checksum.json", sum);
            put("src/lib.rs", &format!("mod a;\n// {sum}\n"));
            put(&format!("src/{sum}.rs"), "");
            let package = serde_json::json!({
                "id": "h", "name": "h", "version": version, "manifest_path": vendored.join("Cargo.toml"),
                "source": "registry+https://github.com/rust-lang/crates.io-index", "targets": [],
            });
            let all = serde_json::json!({ "packages": [package], "workspace_members": [] });
            let metadata = Metadata::parse(&all.to_string()).unwrap();
            copy(metadata.named("h").next().unwrap(), &SMALL, &copies).unwrap();
            let hooked = fs::read_to_string(copied.join("src/lib.rs")).unwrap();
            assert_eq!(hooked, format!("mod a;\nhooked;\n// {sum}\n"));
            fs::write(copied.join("kept"), "").unwrap();
            copy(metadata.named("h").next().unwrap(), &SMALL, &copies).unwrap();
            assert!(copied.join("kept").exists(), "what did not change was written anew");
            fs::remove_file(vendored.join(format!("src/{sum}.rs"))).unwrap();
        }
        assert!(!copied.join("src/1.rs").exists(), "what is gone is still there");
    }

    #[test]
    fn sources_that_are_links_are_not_written_through() {
        let place = tempfile::tempdir().unwrap();
        let [linked, theirs, copies] = ["linked/h", "theirs", "hooked"].map(|name| place.path().join(name));
        for folder in [&linked, &theirs] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(theirs.join("lib.rs"), "mod a;\n").unwrap();
        fs::create_dir(linked.join("src")).unwrap();
        std::os::unix::fs::symlink(theirs.join("lib.rs"), linked.join("src/lib.rs")).unwrap();
        let package = serde_json::json!({
            "id": "h", "name": "h", "version": "1.0.0", "manifest_path": linked.join("Cargo.toml"),
            "source": null, "targets": [],
        });
        let all = serde_json::json!({ "packages": [package], "workspace_members": [] });
        let metadata = Metadata::parse(&all.to_string()).unwrap();
        let hooked = || copy(metadata.named("h").next().unwrap(), &SMALL, &copies);
        hooked().unwrap();
        let written = fs::read_to_string(below(&copies, &linked).join("src/lib.rs")).unwrap();
        assert_eq!(written, "mod a;\nhooked;\n");
        fs::remove_dir_all(linked.join("src")).unwrap();
        std::os::unix::fs::symlink(&theirs, linked.join("src")).unwrap();
        assert!(hooked().unwrap_err().to_string().contains("its src is a link"));
        assert_eq!(fs::read_to_string(theirs.join("lib.rs")).unwrap(), "mod a;\n");
        assert!(!theirs.join("duet").exists());
    }

    #[test]
    fn the_compiler_sees_copies_of_sources_however_they_are_named() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let [own, copies] = ["own", "hooked"].map(|name| root.join(name));
        let copied = below(&copies, &own.join("h/lib.rs"));
        fs::create_dir_all(copied.parent().unwrap()).unwrap();
        fs::create_dir(&own).unwrap();
        fs::write(&copied, "").unwrap();
        let whole = own.join("h/lib.rs");
        let wrapper = concat!(env!("CARGO_MANIFEST_DIR"), "/../../hooks/rust/rustc.sh");
        let words = ["echo", "--edition", "h/lib.rs", whole.to_str().unwrap(), "other.rs", "h"];
        let mut compile = std::process::Command::new("sh");
        compile.arg(wrapper).args(words).current_dir(&own).env(VARIABLE, &copies).env_remove("DUET_RUSTC_WRAPPER");
        let output = compile.output().unwrap();
        let copy = copied.display();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("--edition {copy} {copy} other.rs h\n"));
    }
}
