//! Where in the checkout benchmarks stand, for formats that point at files: looked up in the files as they are now.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::{BenchmarkId, Report};
use duetbench_formats::bounded;

use crate::project;
use crate::render::sarif::Site;

/// Files that say what a project is, one of which stands for benchmarks whose own file is not found.
const MANIFESTS: [&str; 5] = ["duet.toml", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts"];

/// The places of a report's benchmarks in the checkout around the current directory; what is not found in it is left out.
#[must_use]
pub fn of(report: &Report) -> BTreeMap<BenchmarkId, Site> {
    let Ok(cwd) = std::env::current_dir() else { return BTreeMap::new() };
    let checkout = Checkout::around(&cwd);
    let place = |id: &BenchmarkId| Some((id.clone(), checkout.site(id)?));
    report.benchmarks.iter().filter_map(|benchmark| place(&benchmark.id)).collect()
}

/// A checkout with the Go module in it, if there is one.
struct Checkout {
    root: PathBuf,
    /// Path of the module, and where it lies.
    module: Option<(String, PathBuf)>,
}

impl Checkout {
    fn around(cwd: &Path) -> Checkout {
        let root = project::root(cwd).to_owned();
        let inside = cwd.ancestors().take_while(|dir| dir.starts_with(&root));
        let module = inside.into_iter().find_map(|dir| Some((module_path(&dir.join("go.mod"))?, dir.to_owned())));
        Checkout { root, module }
    }

    /// The line where a benchmark of Go begins; else the file that stands for the project.
    fn site(&self, id: &BenchmarkId) -> Option<Site> {
        let found = self.package_dir(id).and_then(|dir| declaration(&dir, &id.name));
        if let Some((path, line)) = found {
            return Some(Site { path: self.relative(&path)?, line: Some(line) });
        }
        let manifest = MANIFESTS.into_iter().find(|name| self.root.join(name).is_file())?;
        Some(Site { path: manifest.into(), line: None })
    }

    fn package_dir(&self, id: &BenchmarkId) -> Option<PathBuf> {
        let (module, dir) = self.module.as_ref()?;
        let rest = id.package.strip_prefix(module.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| dir.join(rest.trim_start_matches('/')))
    }

    fn relative(&self, path: &Path) -> Option<String> {
        let names = path.strip_prefix(&self.root).ok()?.iter().map(|name| name.to_str());
        Some(names.collect::<Option<Vec<_>>>()?.join("/"))
    }
}

/// The module's path in a `go.mod`.
fn module_path(go_mod: &Path) -> Option<String> {
    let text = bounded::read_text(go_mod, bounded::TEXT_MAX).ok()?;
    let named = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(named.split("//").next()?.trim().trim_matches('"').to_owned())
}

/// The test file in this folder that declares a benchmark's function, and the line, counted from 1.
fn declaration(dir: &Path, name: &str) -> Option<(PathBuf, usize)> {
    // The function's name may be followed by a sub-benchmark, or by the number of processors.
    let function = name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let declared = format!("func {function}(");
    let mut files: Vec<PathBuf> = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with("_test.go"));
    files.sort();
    files.into_iter().find_map(|path| {
        let line =
            bounded::read_text(&path, bounded::TEXT_MAX).ok()?.lines().position(|line| line.starts_with(&declared))?;
        Some((path, line + 1))
    })
}

#[cfg(test)]
mod tests {
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
        let checkout = Checkout::around(&at("sub/enc"));
        let check = |package: &str, name: &str, want: Option<(&str, Option<usize>)>| {
            let site = checkout.site(&BenchmarkId { package: package.into(), name: name.into() });
            assert_eq!(site, want.map(|(path, line)| Site { path: path.into(), line }), "{package}.{name}");
        };
        check("example.com/m/enc", "BenchmarkEncode/small-8", Some(("sub/enc/enc_test.go", Some(3))));
        check("example.com/m", "BenchmarkTop-8", Some(("sub/a_test.go", Some(3))));
        check("example.com/m/enc", "BenchmarkGone", None);
        check("example.com/more", "BenchmarkEncode", None);
        check("", "sort a", None);
        fs::write(at("pom.xml"), "").unwrap();
        check("", "sort a", Some(("pom.xml", None)));
    }
}
