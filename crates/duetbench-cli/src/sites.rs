//! Places of benchmarks in the checkout, for formats that point at files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use duetbench_core::{BenchmarkId, Report};
use duetbench_run::adapter::KINDS;

use crate::project;
use crate::render::sarif::{Site, Sites};

/// The places of a report's benchmarks in the checkout around the current directory; what is not found in it is left out.
pub fn of(report: &Report) -> Sites {
    let Ok(cwd) = std::env::current_dir() else { return Sites::default() };
    let ids: Vec<&BenchmarkId> = report.benchmarks.iter().map(|benchmark| &benchmark.id).collect();
    Checkout { root: project::root(&cwd).to_owned(), cwd }.sites(&ids)
}

/// A checkout, and a folder in it.
struct Checkout {
    root: PathBuf,
    cwd: PathBuf,
}

impl Checkout {
    /// The lines where benchmarks begin, else the file that stands for the project; and where the project's rules are.
    fn sites(&self, ids: &[&BenchmarkId]) -> Sites {
        let declared = KINDS.into_iter().rev().flat_map(|kind| kind.locate(&self.cwd, ids));
        let line =
            |(id, (path, line)): (_, (PathBuf, _))| Some((id, Site { path: self.relative(&path)?, line: Some(line) }));
        let declared: BTreeMap<BenchmarkId, Site> = declared.filter_map(line).collect();
        let project = self.manifest().map(|path| Site { path, line: None });
        let place = |id: &&BenchmarkId| Some(((*id).clone(), declared.get(*id).or(project.as_ref())?.clone()));
        let policy = self.relative(&project::policy_dir(&self.cwd)).unwrap_or_default();
        Sites { benchmarks: ids.iter().filter_map(place).collect(), policy }
    }

    /// The nearest file that stands for a project.
    fn manifest(&self) -> Option<String> {
        let of_harnesses = KINDS.into_iter().flat_map(|kind| kind.manifests()).map(|manifest| manifest.file);
        let names: Vec<&str> = [project::SETTINGS].into_iter().chain(of_harnesses).collect();
        let inside = self.cwd.ancestors().take_while(|dir| dir.starts_with(&self.root));
        let found = inside.flat_map(|dir| names.iter().map(|name| dir.join(name))).find(|path| path.is_file())?;
        self.relative(&found)
    }

    fn relative(&self, path: &Path) -> Option<String> {
        let names = path.strip_prefix(&self.root).ok()?.iter().map(|name| name.to_str());
        Some(names.collect::<Option<Vec<_>>>()?.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_benchmark_is_found_where_it_is_declared() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("sub/enc")).unwrap();
        fs::create_dir(at(".git")).unwrap();
        fs::write(at("sub/go.mod"), "// a module\nmodule example.com/m // really\n\ngo 1.21\n").unwrap();
        fs::write(at("sub/a_test.go"), "package m\n\nfunc BenchmarkTop(b *testing.B) {\n").unwrap();
        fs::write(at("sub/enc/a.go"), "func BenchmarkEncode(").unwrap();
        fs::write(at("sub/enc/enc_test.go"), "package enc\nfunc BenchmarkEncodeAll(b\nfunc BenchmarkEncode(b").unwrap();
        let checkout = Checkout { root: dir.path().to_owned(), cwd: at("sub/enc") };
        let check =
            |package: &str, name: &str, want: Option<(&str, Option<usize>)>| check(&checkout, package, name, want);
        check("example.com/m/enc", "BenchmarkEncode/small-8", Some(("sub/enc/enc_test.go", Some(3))));
        check("example.com/m", "BenchmarkTop-8", Some(("sub/a_test.go", Some(3))));
        check("example.com/m/enc", "BenchmarkGone", Some(("sub/go.mod", None)));
        check("example.com/more", "BenchmarkEncode", Some(("sub/go.mod", None)));
        check("", "sort a", Some(("sub/go.mod", None)));
    }

    #[test]
    fn benchmarks_of_several_modules_are_found_below_the_repositorys_root() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["a/enc", "a/v2", "b", "c/.cache/b"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::create_dir(at(".git")).unwrap();
        for (folder, module) in [("a", "a"), ("a/v2", "a/v2"), ("b", "b"), ("c", "c"), ("c/.cache/b", "b")] {
            fs::write(at(folder).join("go.mod"), format!("module example.com/{module}\n")).unwrap();
        }
        for folder in ["a/enc", "a/v2", "b", "c", "c/.cache/b"] {
            fs::write(at(folder).join("x_test.go"), "package x\n\nfunc BenchmarkX(b *testing.B) {\n").unwrap();
        }
        let found = |cwd: &str, package: &str, want: Option<(&str, Option<usize>)>| {
            check(&Checkout { root: at(""), cwd: at(cwd) }, package, "BenchmarkX", want);
        };
        found("", "example.com/a/enc", Some(("a/enc/x_test.go", Some(3))));
        found("", "example.com/a/v2", Some(("a/v2/x_test.go", Some(3))));
        found("", "example.com/b", Some(("b/x_test.go", Some(3))));
        // Another module's benchmarks are found from within one only in a workspace.
        found("c", "example.com/b", Some(("c/go.mod", None)));
        fs::write(at("go.work"), "go 1.21\n").unwrap();
        found("c", "example.com/b", Some(("b/x_test.go", Some(3))));
        found("c", "example.com/c", Some(("c/x_test.go", Some(3))));
    }

    #[test]
    fn rules_are_where_their_file_is() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("sub/enc")).unwrap();
        fs::create_dir(at(".git")).unwrap();
        let checkout = Checkout { root: at(""), cwd: at("sub/enc") };
        assert_eq!(checkout.sites(&[]).policy, "");
        check(&checkout, "", "sort a", None);
        fs::write(at("sub/duet.toml"), "").unwrap();
        assert_eq!(checkout.sites(&[]).policy, "sub");
        check(&checkout, "", "sort a", Some(("sub/duet.toml", None)));
    }

    /// Checks the place of a benchmark, which has this package and name.
    fn check(checkout: &Checkout, package: &str, name: &str, want: Option<(&str, Option<usize>)>) {
        let id = BenchmarkId { package: package.into(), name: name.into() };
        let site = checkout.sites(&[&id]).benchmarks.remove(&id);
        assert_eq!(site, want.map(|(path, line)| Site { path: path.into(), line }), "{package}.{name}");
    }
}
