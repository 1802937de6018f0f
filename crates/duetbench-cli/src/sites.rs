//! Places of benchmarks in the checkout, for formats that point at files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use duetbench_core::{BenchmarkId, Report};
use duetbench_run::adapter::KINDS;

use crate::project;
use crate::render::sarif::Site;

/// The places of a report's benchmarks in the checkout around the current directory; what is not found in it is left out.
#[must_use]
pub fn of(report: &Report) -> BTreeMap<BenchmarkId, Site> {
    let Ok(cwd) = std::env::current_dir() else { return BTreeMap::new() };
    let checkout = Checkout { root: project::root(&cwd).to_owned(), cwd };
    let place = |id: &BenchmarkId| Some((id.clone(), checkout.site(id)?));
    report.benchmarks.iter().filter_map(|benchmark| place(&benchmark.id)).collect()
}

/// A checkout, and a folder in it.
struct Checkout {
    root: PathBuf,
    cwd: PathBuf,
}

impl Checkout {
    /// The line where a benchmark begins; else the file that stands for the project.
    fn site(&self, id: &BenchmarkId) -> Option<Site> {
        let declared = KINDS.into_iter().find_map(|kind| kind.locate(&self.cwd, id));
        if let Some((path, line)) = declared
            && let Some(path) = self.relative(&path)
        {
            return Some(Site { path, line: Some(line) });
        }
        let of_harnesses = KINDS.into_iter().flat_map(|kind| kind.manifests()).map(|manifest| manifest.file);
        let manifest =
            [project::SETTINGS].into_iter().chain(of_harnesses).find(|name| self.root.join(name).is_file())?;
        Some(Site { path: manifest.into(), line: None })
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
