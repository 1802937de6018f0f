//! Published crates, through the user's own cargo, copied so that nothing is written into its cache.

use std::fs;
use std::path::Path;

use duetbench_core::foreign::{one_line, quote};
use serde::Deserialize;

use super::metadata::Package;
use crate::error::RunError;
use crate::source::{self, Source};
use crate::tool::Tool;

/// The manifest as its author wrote it; cargo puts one of its own in its place when it publishes.
const ORIGINAL: &str = "Cargo.toml.orig";
/// Kinds of targets that a manifest may name, with the folder where cargo looks for them.
const TARGETS: [(&str, &str); 3] = [("bench", "benches"), ("test", "tests"), ("example", "examples")];

/// The registry that cargo is set up for.
#[derive(Debug)]
pub(super) struct Crates;

/// The part of `cargo metadata` on a package with one dependency that is needed.
#[derive(Debug, Deserialize)]
struct Resolved {
    packages: Vec<Package>,
    resolve: Graph,
}

#[derive(Debug, Deserialize)]
struct Graph {
    nodes: Vec<Node>,
    root: String,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Resolved {
    /// The one package that the root depends on.
    fn wanted(&self) -> Option<&Package> {
        let root = self.resolve.nodes.iter().find(|node| node.id == self.resolve.root)?;
        let id = root.dependencies.first()?;
        self.packages.iter().find(|package| package.id == *id)
    }
}

impl source::Registry for Crates {
    fn form(&self) -> &'static str {
        "crates as `itoa@1.0.15`"
    }

    fn takes(&self, name: &str) -> bool {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    }

    fn fetch(&self, version: &str, scratch: &Path) -> Result<Source, RunError> {
        let unusable = |why: &str| {
            RunError::version(format!("the crate `{version}` cannot be used: {why}"))
                .hint("`cargo info NAME` shows its newest version; `CARGO_NET_OFFLINE` keeps to what is downloaded")
        };
        let (name, number) = version.split_once('@').unwrap_or((version, "latest"));
        let wanted = if number == "latest" { "*".to_owned() } else { format!("={number}") };
        if !wanted.chars().all(|c| c.is_ascii_alphanumeric() || "=*.+-".contains(c)) {
            return Err(unusable("its version is none of a crate"));
        }
        // A package that depends on it, and on nothing else.
        let place = tempfile::tempdir_in(scratch).map_err(|e| RunError::file("create", scratch, e))?;
        let manifest = format!(
            "[package]\nname = \"duet-fetches\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n\
             [dependencies.wanted]\npackage = \"{name}\"\nversion = \"{wanted}\"\n[workspace]\n"
        );
        for (file, text) in [("Cargo.toml", manifest.as_str()), ("lib.rs", "")] {
            let path = place.path().join(file);
            fs::write(&path, text).map_err(|e| RunError::file("write", &path, e))?;
        }
        let metadata = Tool::new("cargo", ["metadata", "--format-version", "1"], place.path());
        let text = metadata.called("cargo metadata").text().map_err(|e| match e {
            RunError::Tool { output, .. } => unusable(&output.replace("duet-fetches", "duet")),
            other => super::cargo::absent(other),
        })?;
        let found: Resolved = serde_json::from_str(&text).map_err(|e| unusable(&e.to_string()))?;
        let package = found.wanted().ok_or_else(|| unusable("cargo did not say where it is"))?;
        let resolved = format!("{}@{}", package.name, package.version);
        let source = Source::published(version, resolved, &package.dir(), scratch)?;
        settle(&source.dir)?;
        Ok(source)
    }

    fn versions(&self, name: &str) -> Result<Vec<String>, RunError> {
        Err(RunError::version(format!("the releases of the crate `{name}` are not known: cargo does not list them"))
            .hint("search the commits of its repository, as in `duet bisect 1.0.9 1.0.15` in a checkout"))
    }
}

/// A manifest as a table; empty where there is none that can be read.
fn table(manifest: &Path) -> toml::Table {
    fs::read_to_string(manifest).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Whether the file of a target that a manifest names is there.
fn is_there(dir: &Path, folder: &str, target: &toml::Value) -> bool {
    let of = |key: &str| target.get(key).and_then(toml::Value::as_str);
    match (of("path"), of("name")) {
        (Some(path), _) => dir.join(path).is_file(),
        (None, Some(name)) => {
            [format!("{name}.rs"), format!("{name}/main.rs")].iter().any(|file| dir.join(folder).join(file).is_file())
        }
        (None, None) => true,
    }
}

/// Makes a copy a project that can be built: cargo publishes packages without the files of targets that their manifest names, and would
/// look for a workspace around it.
fn settle(dir: &Path) -> Result<(), RunError> {
    let path = dir.join("Cargo.toml");
    let mut manifest = table(&path);
    for (kind, folder) in TARGETS {
        if let Some(toml::Value::Array(targets)) = manifest.get_mut(kind) {
            targets.retain(|target| is_there(dir, folder, target));
        }
    }
    manifest.entry("workspace").or_insert_with(|| toml::Table::new().into());
    fs::write(&path, manifest.to_string()).map_err(|e| RunError::file("write", &path, e))
}

/// Bench targets that a published package's author has and its package lacks; nothing for other directories.
pub(super) fn left_out(dir: &Path) -> Vec<String> {
    let original = table(&dir.join(ORIGINAL));
    let benches = original.get("bench").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let absent = benches.into_iter().filter(|bench| !is_there(dir, TARGETS[0].1, bench));
    absent.filter_map(|bench| Some(bench.get("name")?.as_str()?.to_owned())).collect()
}

/// Advice for a published package without benchmarks; absent for other directories.
pub(super) fn advice(dir: &Path) -> Option<String> {
    if !dir.join(ORIGINAL).is_file() {
        return None;
    }
    let manifest = table(&dir.join("Cargo.toml"));
    let repository = manifest.get("package").and_then(|package| package.get("repository")?.as_str().map(str::to_owned));
    let place =
        repository.map_or_else(|| "its repository".to_owned(), |url| format!("`git clone {}`", quote(&one_line(&url))));
    Some(format!("benchmarks may be in {place}: there `duet compare OLD NEW` takes revisions, such as tags"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Registry;

    fn package(manifest: &str, files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in files.iter().map(|file| (*file, "")).chain([("Cargo.toml", manifest), (ORIGINAL, manifest)])
        {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn targets_without_their_files_are_taken_out_and_named() {
        let manifest = "[package]\nname = \"m\"\nrepository = \"https://example.com/m\"\n[[bench]]\nname = \"here\"\n\
            [[bench]]\nname = \"folder\"\n[[bench]]\nname = \"gone\"\nharness = false\n[[bench]]\nname = \"named\"\n\
            path = \"other/named.rs\"\n[[test]]\nname = \"gone\"\n";
        let dir = package(manifest, &["benches/here.rs", "benches/folder/main.rs", "tests/other.rs"]);
        settle(dir.path()).unwrap();
        let kept = table(&dir.path().join("Cargo.toml"));
        let names = |kind: &str| -> Vec<String> {
            kept[kind].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!((names("bench"), names("test")), (vec!["here".to_owned(), "folder".to_owned()], Vec::new()));
        assert!(kept["workspace"].as_table().unwrap().is_empty());
        assert_eq!(left_out(dir.path()), ["gone", "named"]);
        assert!(advice(dir.path()).unwrap().contains("`git clone https://example.com/m`"));
    }

    #[test]
    fn a_directory_of_the_users_has_left_nothing_out() {
        let dir = package("[package]\nname = \"m\"\n[[bench]]\nname = \"gone\"\n", &[]);
        fs::remove_file(dir.path().join(ORIGINAL)).unwrap();
        assert_eq!((left_out(dir.path()), advice(dir.path())), (Vec::new(), None));
    }

    #[test]
    fn names_of_crates_are_told_from_those_of_modules() {
        assert!(["itoa", "regex-automata", "serde_json"].iter().all(|name| Crates.takes(name)));
        assert!(["", "example.com/m", "a/b", "../x", "a b"].iter().all(|name| !Crates.takes(name)));
    }

    #[test]
    fn versions_that_are_none_are_refused_before_cargo_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let error = Crates.fetch("itoa@1\"\nx = \"", dir.path()).unwrap_err();
        assert!(error.to_string().contains("is none of a crate"), "{error}");
    }
}
