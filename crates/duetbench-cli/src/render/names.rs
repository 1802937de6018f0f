//! Names of benchmarks, as short as tells them apart.

use std::collections::{BTreeMap, BTreeSet};

use duetbench_core::{BenchmarkId, Report};

use super::format::{one_line, short_name};

/// Short names of the benchmarks of a report.
pub(super) struct Short {
    /// The end of each package's path that no other package has; empty where there is only one.
    packages: BTreeMap<String, String>,
    common: Option<String>,
}

impl Short {
    /// Names for these benchmarks.
    pub(super) fn of<'a>(ids: impl Iterator<Item = &'a BenchmarkId>) -> Short {
        let all: BTreeSet<&str> = ids.map(|id| id.package.as_str()).collect();
        let end = |package: &str| match all.len() {
            1 => String::new(),
            _ => one_line(telling_end(package, &all)),
        };
        let common = all.first().filter(|_| all.len() == 1).map(|package| one_line(package));
        Short { packages: all.iter().map(|package| ((*package).to_owned(), end(package))).collect(), common }
    }

    /// Names for the benchmarks of a report.
    pub(super) fn of_report(report: &Report) -> Short {
        Short::of(report.benchmarks.iter().map(|one| &one.id))
    }

    /// The package, where there is only one, and it has a name.
    pub(super) fn common(&self) -> Option<&str> {
        self.common.as_deref().filter(|package| !package.is_empty())
    }

    /// The name of one of them.
    pub(super) fn name(&self, id: &BenchmarkId) -> String {
        let name = short_name(&id.name);
        match self.packages.get(&id.package).map(String::as_str) {
            None | Some("") => name,
            Some(package) => format!("{package}.{name}"),
        }
    }
}

/// Short names of benchmarks of which only full names are known.
pub(super) struct ShortOfFull {
    short: Short,
}

impl ShortOfFull {
    /// Names for these full ones.
    pub(super) fn of<'a>(full: impl Iterator<Item = &'a str>) -> ShortOfFull {
        let ids: Vec<BenchmarkId> = full.map(parts).collect();
        ShortOfFull { short: Short::of(ids.iter()) }
    }

    /// The package, where there is only one, and it has a name.
    pub(super) fn common(&self) -> Option<&str> {
        self.short.common()
    }

    /// The name of one of them.
    pub(super) fn name(&self, full: &str) -> String {
        self.short.name(&parts(full))
    }
}

/// A full name as a package and what is in it: in Go a function, in Java a class. Other names are a benchmark's alone.
fn parts(full: &str) -> BenchmarkId {
    let path = full.split([':', ' ']).next().unwrap_or(full);
    let of_class = || {
        let (before, _) = path.rsplit_once('.').filter(|_| !path.contains(['/', '|', '=']))?;
        before.rfind('.')
    };
    let (package, name) = match path.find(".Benchmark").or_else(of_class) {
        Some(dot) => (&full[..dot], &full[dot + 1..]),
        None => ("", full),
    };
    BenchmarkId { package: package.to_owned(), name: name.to_owned() }
}

/// The shortest end of a path, in whole parts, that is the end of no other one.
fn telling_end<'p>(package: &'p str, all: &BTreeSet<&str>) -> &'p str {
    let ends = package.rmatch_indices('/').map(|(at, _)| &package[at + 1..]);
    let ends_with =
        |other: &str, end: &str| other.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let tells = |end: &&str| all.iter().filter(|other| ends_with(other, end)).count() == 1;
    ends.chain([package]).find(tells).unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_shows_as_much_of_its_path_as_tells_it_apart() {
        let id = |package: &str| BenchmarkId { package: package.into(), name: "BenchmarkX".into() };
        let check = |packages: &[&str], want: &[&str]| {
            let ids: Vec<BenchmarkId> = packages.iter().map(|package| id(package)).collect();
            let short = Short::of(ids.iter());
            assert_eq!(ids.iter().map(|id| short.name(id)).collect::<Vec<_>>(), want);
        };
        check(&["a.org/m", "a.org/m"], &["X", "X"]);
        check(&["a.org/m", "a.org/m/codec"], &["m.X", "codec.X"]);
        check(&["a.org/m/a/util", "a.org/m/b/util", "a.org/m/util"], &["a/util.X", "b/util.X", "m/util.X"]);
        check(&["util", "a/util"], &["util.X", "a/util.X"]);
        assert_eq!(Short::of([&id("a.org/m")].into_iter()).common(), Some("a.org/m"));
        assert_eq!(Short::of([&id("a"), &id("b")].into_iter()).common(), None);
    }

    #[test]
    fn full_names_are_shortened_as_those_whose_packages_are_known() {
        let check = |full: &str, package: &str, name: &str| {
            assert_eq!(parts(full), BenchmarkId { package: package.into(), name: name.into() });
        };
        check("a.org/m/codec.BenchmarkX/size=1.5", "a.org/m/codec", "BenchmarkX/size=1.5");
        check("org.example.text.TextBenchmark.hash:size=1.5", "org.example.text", "TextBenchmark.hash:size=1.5");
        check("TextBenchmark.hash", "", "TextBenchmark.hash");
        check("BenchmarkX", "", "BenchmarkX");
        check("./a.out b.c.d", "", "./a.out b.c.d");
        let names = ["a.org/m.BenchmarkX", "a.org/m/codec.BenchmarkX"];
        let short = ShortOfFull::of(names.into_iter());
        assert_eq!((names.map(|full| short.name(full)), short.common()), (["m.X".into(), "codec.X".into()], None));
        assert_eq!(ShortOfFull::of(names.into_iter().take(1)).common(), Some("a.org/m"));
    }
}
