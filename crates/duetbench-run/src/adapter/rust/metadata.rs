//! A version's packages and bench targets, as `cargo metadata` tells them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::spec::defaults;
use serde::Deserialize;

use super::cargo::cargo_home;
use crate::error::RunError;
use crate::source::Source;

/// The part of cargo's answer that is needed.
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    workspace_default_members: Option<BTreeSet<String>>,
    #[serde(default)]
    workspace_root: PathBuf,
    resolve: Option<Resolve>,
}

/// The packages as they were resolved.
#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

/// A package with the features that are enabled.
#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    #[serde(default)]
    features: BTreeSet<String>,
}

/// A package of the version or one that it depends on.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) manifest_path: PathBuf,
    /// Absent where it lies on disk.
    source: Option<String>,
    targets: Vec<Target>,
}

/// Something that cargo can build of a package.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Target {
    /// `bench`, `lib`, …
    pub(super) kind: Vec<String>,
    pub(super) name: String,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

impl Target {
    fn is(&self, wanted: &str) -> bool {
        self.kind.iter().any(|kind| kind == wanted)
    }
}

/// A bench target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bench {
    /// Name of its package.
    pub(super) package: String,
    /// Names its package to cargo: others of its name may be built beside it.
    package_spec: String,
    /// Its own name.
    pub(super) name: String,
    /// Whether it has a `main` of its own.
    pub(super) own_main: bool,
    /// Whether all features are enabled without which cargo passes it over.
    pub(super) enabled: bool,
}

impl Bench {
    /// The name under which results know it.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.package, self.name)
    }

    /// Flags of cargo that choose it.
    pub(super) fn flags(&self) -> [String; 4] {
        ["-p".to_owned(), self.package_spec.clone(), "--bench".to_owned(), self.name.clone()]
    }
}

/// The settings of bench targets in a manifest.
#[derive(Debug, Default, Deserialize)]
struct Manifest {
    #[serde(default)]
    bench: Vec<BenchTable>,
}

#[derive(Debug, Deserialize)]
struct BenchTable {
    name: String,
    harness: Option<bool>,
}

impl Package {
    /// Its folder.
    pub(super) fn dir(&self) -> PathBuf {
        self.manifest_path.parent().map_or_else(PathBuf::new, PathBuf::from)
    }

    /// Names it on cargo's command lines. Before 1.77 that was not the id, `name 1.0.0 (path+file:///folder)`.
    pub(super) fn spec(&self) -> String {
        let folder = self.id.split_once(" (path+").and_then(|(_, folder)| folder.strip_suffix(')'));
        match folder {
            Some(folder) => format!("{folder}#{}:{}", self.name, self.version),
            None if self.id.contains(' ') => format!("{}:{}", self.name, self.version),
            None => self.id.clone(),
        }
    }

    /// Whether it comes from a place where nothing changes under the same version.
    pub(super) fn is_published(&self) -> bool {
        self.source.is_some()
    }

    /// Names of its programs.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(|target| target.is("bin")).map(|target| target.name.as_str())
    }

    fn benches(&self, features: Option<&BTreeSet<String>>) -> Result<Vec<Bench>, RunError> {
        let text = fs::read_to_string(&self.manifest_path);
        let text = text.map_err(|e| RunError::file("read", &self.manifest_path, e))?;
        // Cargo has read it before, so what this does not read is of no interest here.
        let manifest: Manifest = toml::from_str(&text).unwrap_or_default();
        let own_main = |name: &str| manifest.bench.iter().any(|b| b.name == name && b.harness == Some(false));
        // One with a slash is about a dependency, and no feature of the package.
        let has =
            |feature: &String| feature.contains('/') || features.is_none_or(|features| features.contains(feature));
        let benches = self.targets.iter().filter(|target| target.is("bench"));
        let bench = |target: &Target| Bench {
            package: self.name.clone(),
            package_spec: self.spec(),
            name: target.name.clone(),
            own_main: own_main(&target.name),
            enabled: target.required_features.iter().all(has),
        };
        Ok(benches.map(bench).collect())
    }
}

impl Metadata {
    pub(super) fn parse(text: &str) -> Result<Metadata, RunError> {
        serde_json::from_str(text)
            .map_err(|e| RunError::toolchain(format!("`cargo metadata` answered something unexpected: {e}")))
    }

    /// Packages that lie on disk: those may change from one build to the next.
    pub(super) fn local(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !package.is_published())
    }

    /// Packages of others.
    pub(super) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.is_published())
    }

    /// Those that lie in this tree, and not in cargo's own folder.
    pub(super) fn vendored(&self, tree: &Path) -> impl Iterator<Item = &Package> {
        let home = cargo_home();
        self.published().filter(move |package| {
            let is_fetched = home.as_ref().is_some_and(|home| package.manifest_path.starts_with(home));
            package.manifest_path.starts_with(tree) && !is_fetched
        })
    }

    /// The package with this id.
    pub(super) fn with_id(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }

    /// The enabled features of a package, where cargo tells.
    fn features(&self, id: &str) -> Option<&BTreeSet<String>> {
        self.resolve.as_ref()?.nodes.iter().find(|node| node.id == id).map(|node| &node.features)
    }

    /// Packages of this name.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Package> {
        self.packages.iter().filter(move |package| package.name == name)
    }

    /// Bench targets of the packages that the patterns choose: names of members of the workspace, or those that cargo would take.
    pub(super) fn benches(&self, source: &Source, patterns: &[String]) -> Result<Vec<Bench>, RunError> {
        let members = || self.packages.iter().filter(|package| self.workspace_members.contains(&package.id));
        let usual = self.workspace_default_members.as_ref();
        // At the root they are what the workspace says, and the root's own package where it says nothing.
        let inside = source.dir != self.workspace_root || usual.is_none();
        let here = members().find(|package| inside && package.dir() == source.dir);
        let usual = usual.unwrap_or(&self.workspace_members);
        let mut benches = Vec::new();
        for pattern in patterns {
            let chosen: Vec<&Package> = match here {
                _ if pattern != defaults::PACKAGES => members().filter(|package| package.name == *pattern).collect(),
                Some(here) => vec![here],
                None => members().filter(|package| usual.contains(&package.id)).collect(),
            };
            if chosen.is_empty() {
                let names: Vec<&str> = members().map(|package| package.name.as_str()).collect();
                return Err(RunError::nothing_to_measure(format!("`{}` has no package `{pattern}`", source.requested))
                    .hint(format!("`--packages` takes names of its packages: {}", names.join(", "))));
            }
            for package in chosen {
                benches.extend(package.benches(self.features(&package.id))?);
            }
        }
        benches.sort();
        benches.dedup();
        Ok(benches)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::source::VersionRequest;

    /// A workspace with a package at its root and one below, each with a bench target.
    fn workspace(root: &Path, more: serde_json::Value) -> Metadata {
        let package = |name: &str, dir: &Path| {
            fs::create_dir_all(dir).unwrap();
            fs::write(dir.join("Cargo.toml"), "").unwrap();
            serde_json::json!({
                "id": name, "name": name, "version": "0.1.0", "manifest_path": dir.join("Cargo.toml"), "source": null,
                "targets": [{ "kind": ["bench"], "name": "speed", "required-features": ["fast"] }],
            })
        };
        let mut all = serde_json::json!({
            "packages": [package("top", root), package("part", &root.join("part"))],
            "workspace_members": ["top", "part"],
            "workspace_root": root,
        });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Metadata::parse(&all.to_string()).unwrap()
    }

    fn benches(root: &Path, dir: &Path, more: serde_json::Value) -> Vec<Bench> {
        let request = VersionRequest::Directory { typed: dir.display().to_string(), path: dir.to_owned() };
        let source = Source::resolve(&request, root, root, &[]).unwrap();
        workspace(root, more).benches(&source, &[defaults::PACKAGES.to_owned()]).unwrap()
    }

    #[test]
    fn the_packages_are_those_that_cargo_takes() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("part")).unwrap();
        let taken = |dir: &Path, members: &[&str]| -> Vec<String> {
            let more = serde_json::json!({ "workspace_default_members": members });
            benches(&root, dir, more).iter().map(Bench::id).collect()
        };
        assert_eq!(taken(&root, &["top", "part"]), ["part/speed", "top/speed"]);
        assert_eq!(taken(&root, &["top"]), ["top/speed"]);
        assert_eq!(taken(&root.join("part"), &["top"]), ["part/speed"]);
        // A cargo that does not tell them.
        let old = benches(&root, &root, serde_json::json!({}));
        assert_eq!(old.iter().map(Bench::id).collect::<Vec<_>>(), ["top/speed"]);
    }

    #[test]
    fn packages_are_named_to_every_cargo_as_it_reads_them() {
        let spec = |id: &str| {
            let package = serde_json::json!({
                "id": id, "name": "a", "version": "1.2.0-rc.1", "manifest_path": "/w/x (y)/Cargo.toml", "source": null, "targets": [],
            });
            serde_json::from_value::<Package>(package).unwrap().spec()
        };
        // cargo 1.70.0, then 1.95.0.
        assert_eq!(spec("a 1.2.0-rc.1 (path+file:///w/x%20(y))"), "file:///w/x%20(y)#a:1.2.0-rc.1");
        assert_eq!(spec("path+file:///w/x%20(y)#a@1.2.0-rc.1"), "path+file:///w/x%20(y)#a@1.2.0-rc.1");
    }

    #[test]
    fn a_target_without_its_features_is_not_enabled() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let enabled = |features: &[&str]| {
            let node = serde_json::json!({ "id": "top", "features": features });
            benches(&root, &root, serde_json::json!({ "resolve": { "nodes": [node] } }))[0].enabled
        };
        assert_eq!([enabled(&["default"]), enabled(&["default", "fast"])], [false, true]);
    }
}
