//! The reach of each benchmark, from graphs of both versions' programs that our linker writes (`hooks/go/linker/graph.go`).
//!
//! The rule is `duetbench_core::reach`. Here is what makes its assumptions hold for Go: which releases they were read for, who
//! may decide what runs, and the files that no graph knows of.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use duetbench_core::BenchmarkId;
use duetbench_core::reach::{Graph, Reach, Versions};

use super::{GoArguments, Release, Toolchain, identity};
use crate::adapter::changes::{APART, Changes};
use crate::adapter::{Artifact, Build, Reaches};

mod graph;
mod known;

/// Where a link writes its graph.
pub(super) const GRAPH: &str = "DUET_REACH_GRAPH";

/// Releases whose linker and runtime find symbols by the ways that `graph.go` and `known` have: the first, and the first after.
const RELEASES: [Release; 2] = [Release::one(24), Release::one(27)];

/// Flags of a test binary that choose nothing of what runs.
const HARMLESS: [&str; 4] = ["-test.short", "-test.v", "-test.failfast", "-test.shuffle"];

/// Fails where the reach of benchmarks cannot be told, with the reason in words.
pub(super) fn known(toolchain: &Toolchain, arguments: &GoArguments) -> Result<(), String> {
    let [first, after] = RELEASES;
    if !toolchain.is_at_least(first) || toolchain.is_at_least(after) {
        return Err(format!("it was not tried with {}", toolchain.version));
    }
    let chooses = |flag: &&String| {
        let name = flag.trim_start_matches('-').split('=').next().unwrap_or_default();
        name.starts_with("test.") && !HARMLESS.iter().any(|known| known[1..] == *name)
    };
    match (arguments.binary.iter().find(chooses), arguments.naming_a_file()) {
        (Some(flag), _) => Err(format!("`{flag}` may have more run than the benchmark")),
        (None, Some(argument)) => Err(format!("`{argument}` may be a file, which may differ")),
        (None, None) => Ok(()),
    }
}

/// Where the graph of a program lies.
pub(super) fn graph_of(program: &Path) -> PathBuf {
    program.with_extension("graph")
}

/// Compares every package that both versions have. `roots` are the directories of the two versions.
///
/// `root` is where the toolchain lies, or the reason why nothing can be told.
pub(super) fn packages(builds: [&Build; 2], roots: Option<[&Path; 2]>, root: Result<&Path, String>) -> Reaches {
    let mut reaches = Reaches::default();
    let changes = LazyCell::new(|| roots.map(|roots| (roots, Changes::between(roots, &[]))));
    for (package, sides) in builds[0].common(builds[1]) {
        let read = root.clone().and_then(|root| Ok([read(sides[0], root)?, read(sides[1], root)?]));
        let graphs = match read {
            Ok(graphs) => graphs,
            Err(reason) => {
                reaches.unknown.push(format!("the reach of the benchmarks of {package} is not known: {reason}"));
                continue;
            }
        };
        let files = match &*changes {
            Some((roots, changes)) => identity::check_files(sides, *roots, changes),
            None => Err(APART.to_owned()),
        };
        let versions = Versions::new([&graphs[0], &graphs[1]]);
        for name in graphs[0].entries.keys().filter(|name| name.starts_with("Benchmark")) {
            let reach = files.clone().map_or_else(Reach::Differs, |()| versions.reach(name));
            let id = BenchmarkId { package: package.clone(), name: name.clone() };
            reaches.of.insert(id, reach);
        }
    }
    reaches
}

fn read(artifact: &Artifact, root: &Path) -> Result<Graph, String> {
    let file = fs::read(graph_of(&artifact.program)).map_err(|_| "the linker left no graph")?;
    let sources = root.join("src");
    let mut is_standard = HashMap::new();
    known::complete(graph::parse(&file)?, |package| {
        let looked = || !package.is_empty() && sources.join(package).is_dir();
        *is_standard.entry(package.to_owned()).or_insert_with(looked)
    })
}

/// Reads a graph, and compares it with itself.
#[cfg(any(fuzzing, debug_assertions))]
pub(super) fn fuzz(file: &[u8]) {
    if let Ok(graph) = graph::parse(file).and_then(|linked| known::complete(linked, |_| true)) {
        let versions = Versions::new([&graph, &graph]);
        graph.entries.keys().for_each(|name| drop(versions.reach(name)));
    }
}
