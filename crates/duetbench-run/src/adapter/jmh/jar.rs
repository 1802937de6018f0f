//! Jars: whether they hold benchmarks, and what they hold apart from when they were made.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::super::hex;
use crate::error::RunError;

/// Where JMH's annotation processor lists what it generated.
const LIST: &str = "META-INF/BenchmarkList";
/// Main class of JMH: a jar that holds it needs nothing else on the class path.
const MAIN: &str = "org/openjdk/jmh/Main.class";
/// The file in which build tools describe a jar.
const MANIFEST: &str = "META-INF/MANIFEST.MF";
/// Its part that names further jars and folders, relative to the jar's own.
const CLASS_PATH: &str = "class-path";
/// The parts of it that decide which classes are loaded.
const LOADING: [&str; 2] = ["multi-release", CLASS_PATH];
/// Largest file in a jar that is read, bytes: an entry that grows without end when it is unpacked must not fill the memory.
const ENTRY_BYTES_MAX: u64 = 1 << 30;
/// The part of a manifest that is read, bytes.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// Contents of a jar, as far as they decide how it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// It holds generated benchmarks.
    pub(super) has_benchmarks: bool,
    /// It holds JMH itself, as a jar that `java -jar` runs does.
    pub(super) has_jmh: bool,
}

/// Looks into a jar.
///
/// # Errors
/// When it cannot be read, or is none.
pub(super) fn kind(path: &Path) -> Result<Kind, RunError> {
    let jar = open(path)?;
    let has = |name: &str| jar.index_for_name(name).is_some();
    Ok(Kind { has_benchmarks: has(LIST), has_jmh: has(MAIN) })
}

/// Jars and folders that a jar's manifest puts behind it on the class path, as far as they exist: a copy of the jar would look for them
/// beside itself.
///
/// # Errors
/// When the jar cannot be read.
pub(super) fn class_path(path: &Path) -> Result<Vec<PathBuf>, RunError> {
    let mut jar = open(path)?;
    let Some(index) = jar.index_for_name(MANIFEST) else { return Ok(Vec::new()) };
    let entry = jar.by_index(index).map_err(|e| unreadable(path, &e.to_string()))?;
    let mut text = Vec::new();
    entry.take(MANIFEST_BYTES_MAX).read_to_end(&mut text).map_err(|e| RunError::file("read", path, e))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let entries = named(&String::from_utf8_lossy(&text)).into_iter().map(|entry| folder.join(entry));
    Ok(entries.filter(|entry| entry.exists()).collect())
}

/// The files that a manifest names, whose spaces are written as `%20`.
fn named(manifest: &str) -> Vec<String> {
    let loading = loading(manifest);
    let values =
        loading.lines().filter_map(|line| line.split_once(':').filter(|(key, _)| key.eq_ignore_ascii_case(CLASS_PATH)));
    let file = |entry: &str| entry.strip_prefix("file:").unwrap_or(entry).replace("%20", " ");
    values.flat_map(|(_, value)| value.split_ascii_whitespace()).map(file).collect()
}

/// A digest over what a jar holds: names and contents in name order, so that neither the order of its entries nor their dates
/// matter. Of the manifest only what decides which classes are loaded counts, because build tools write there who built it and when.
///
/// # Errors
/// When it cannot be read whole.
pub(super) fn content_digest(path: &Path) -> Result<String, RunError> {
    let mut jar = open(path)?;
    let mut contents = BTreeMap::new();
    for index in 0..jar.len() {
        let entry = jar.by_index(index).map_err(|e| unreadable(path, &e.to_string()))?;
        let name = entry.name().map_err(|e| unreadable(path, &e.to_string()))?.into_owned();
        if entry.is_dir() {
            continue;
        }
        let mut hash = Sha256::new();
        let (read, most) = if name == MANIFEST {
            let mut text = Vec::new();
            let read = entry.take(MANIFEST_BYTES_MAX).read_to_end(&mut text);
            hash.update(loading(&String::from_utf8_lossy(&text)));
            (read.map(|bytes| bytes as u64), MANIFEST_BYTES_MAX)
        } else {
            (std::io::copy(&mut entry.take(ENTRY_BYTES_MAX), &mut HashWriter(&mut hash)), ENTRY_BYTES_MAX)
        };
        if read.map_err(|e| RunError::file("read", path, e))? == most {
            return Err(unreadable(path, &format!("`{name}` in it is too large to be compared")));
        }
        contents.insert(name, hash.finalize());
    }
    let mut all = Sha256::new();
    for (name, digest) in contents {
        all.update((name.len() as u64).to_le_bytes());
        all.update(name.as_bytes());
        all.update(digest);
    }
    Ok(hex(&all.finalize()))
}

/// A digest of a file: of what a jar holds, where that can be read.
///
/// # Errors
/// When it cannot be read.
pub(super) fn digest_of(path: &Path) -> Result<String, RunError> {
    content_digest(path).or_else(|_| {
        let bytes = fs::read(path).map_err(|e| RunError::file("read", path, e))?;
        Ok(hex(&Sha256::digest(bytes)))
    })
}

/// Files that tools keep beside what is built.
const KEPT_BY_TOOLS: [&str; 2] = [".git", ".duet"];

/// A digest of an entry of the class path: a jar, a folder of classes without what links lead to, all jars of a folder (`lib/*`), or nothing
/// where it is not there.
///
/// # Errors
/// When it cannot be read.
pub(super) fn digest_of_entry(entry: &Path) -> Result<String, RunError> {
    let of_jars = entry.parent().filter(|_| entry.file_name().is_some_and(|name| name == "*"));
    let place = of_jars.unwrap_or(entry);
    if place.is_file() {
        return digest_of(place);
    }
    let mut all = Sha256::new();
    let mut inside: Vec<DirEntry> = fs::read_dir(place).into_iter().flatten().flatten().collect();
    inside.sort_by_key(DirEntry::file_name);
    for file in inside.iter().filter(|file| KEPT_BY_TOOLS.iter().all(|kept| file.file_name() != *kept)) {
        let path = file.path();
        let is_wanted = match file.file_type() {
            Ok(what) if what.is_dir() => of_jars.is_none(),
            Ok(_) => path.is_file() && (of_jars.is_none() || path.extension().is_some_and(|ending| ending == "jar")),
            Err(_) => false,
        };
        if is_wanted {
            all.update(file.file_name().as_encoded_bytes());
            all.update(digest_of_entry(&path)?);
        }
    }
    Ok(hex(&all.finalize()))
}

/// The lines of a manifest's main section that decide which classes are loaded; long ones go on behind a space.
fn loading(manifest: &str) -> String {
    let whole = manifest.replace("\r\n", "\n").replace("\n ", "");
    let main = whole.lines().take_while(|line| !line.is_empty());
    let key = |line: &str| line.split_once(':').map(|(key, _)| key.to_ascii_lowercase());
    let decides = |line: &&str| key(line).is_some_and(|key| LOADING.contains(&key.as_str()));
    main.filter(decides).flat_map(|line| [line, "\n"]).collect()
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn open(path: &Path) -> Result<ZipArchive<impl Read + Seek + use<>>, RunError> {
    let file = File::open(path).map_err(|e| RunError::file("read", path, e))?;
    ZipArchive::new(std::io::BufReader::new(file)).map_err(|e| unreadable(path, &e.to_string()))
}

fn unreadable(path: &Path, why: &str) -> RunError {
    RunError::version(format!("`{}` is not a jar that can be read: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{loading, named};

    #[test]
    fn a_manifest_counts_as_far_as_it_decides_which_classes_are_loaded() {
        let built = |by: &str, path: &str| {
            format!(
                "Manifest-Version: 1.0\r\nBuilt-By: {by}\r\nClass-Path: a.jar {path}\r\n .jar\r\n\r\nName: x\r\nClass-Path: y\r\n"
            )
        };
        assert_eq!(loading(&built("me", "b")), "Class-Path: a.jar b.jar\n");
        assert_eq!(named(&built("me", "file:/lib/b%20")), ["a.jar", "/lib/b .jar"]);
        assert_eq!(loading(&built("me", "b")), loading(&built("you", "b")));
        assert_ne!(loading(&built("me", "b")), loading(&built("me", "c")));
        assert_eq!(loading("multi-release: true\n"), "multi-release: true\n");
        assert_eq!(loading(""), "");
    }
}
