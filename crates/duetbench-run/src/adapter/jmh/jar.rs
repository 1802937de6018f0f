//! Jars: whether they hold benchmarks, and what they hold apart from when they were made.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

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
/// The parts of it that decide which classes are loaded.
const LOADING: [&str; 2] = ["multi-release:", "class-path:"];
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

/// The lines of a manifest's main section that decide which classes are loaded; long ones go on behind a space.
fn loading(manifest: &str) -> String {
    let whole = manifest.replace("\r\n", "\n").replace("\n ", "");
    let main = whole.lines().take_while(|line| !line.is_empty());
    let decides = |line: &&str| LOADING.iter().any(|start| line.to_ascii_lowercase().starts_with(start));
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
    use super::loading;

    #[test]
    fn a_manifest_counts_as_far_as_it_decides_which_classes_are_loaded() {
        let built = |by: &str, path: &str| {
            format!(
                "Manifest-Version: 1.0\r\nBuilt-By: {by}\r\nClass-Path: a.jar {path}\r\n .jar\r\n\r\nName: x\r\nClass-Path: y\r\n"
            )
        };
        assert_eq!(loading(&built("me", "b")), "Class-Path: a.jar b.jar\n");
        assert_eq!(loading(&built("me", "b")), loading(&built("you", "b")));
        assert_ne!(loading(&built("me", "b")), loading(&built("me", "c")));
        assert_eq!(loading("multi-release: true\n"), "multi-release: true\n");
        assert_eq!(loading(""), "");
    }
}
