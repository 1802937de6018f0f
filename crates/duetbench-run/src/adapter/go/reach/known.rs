//! Facts that the graph of a Go program does not say by itself: the lists of `go test`, functions of the standard library that find types
//! without references, and those that may decide what runs.

use std::collections::BTreeMap;

use duetbench_core::reach::{Digest, Edge, Graph, Symbol};

use super::graph::Linked;

/// The way of interface tables: the runtime has all of them. Smaller numbers are a type's kind and one more.
const INTERFACE_TABLE: usize = 100;

/// The functions of package reflect that look through the list of all types, with the kinds that they look for (`abi.Kind`).
const LOOKS_FOR: [(&str, usize); 7] = [
    ("reflect.ArrayOf", 17),
    ("reflect.ChanOf", 18),
    ("reflect.FuncOf", 19),
    ("reflect.MapOf", 21),
    ("reflect.(*rtype).ptrTo", 22),
    ("reflect.SliceOf", 23),
    ("reflect.StructOf", 25),
];
const LIST_OF_TYPES: [&str; 2] = ["reflect.typesByString", "reflect.typelinks"];
const ALL_KINDS: usize = 27;

/// Whoever uses these may have other tests and benchmarks run, or take the program apart. The standard library uses them as it
/// should.
const GUARDED: [&str; 18] = [
    "os.Args", "os.Executable", "plugin.Open", "flag.Set", "flag.Lookup", "flag.VisitAll", "flag.(*FlagSet).Parse",
    "flag.(*FlagSet).Set", "flag.(*FlagSet).set", "flag.(*FlagSet).Lookup", "flag.(*FlagSet).VisitAll",
    "testing.match", "testing.matchBenchmarks", "testing.matchList", "runtime.firstmoduledata",
    "runtime.lastmoduledatap", "runtime.modulesSlice", "runtime.activeModules",
];

/// Whoever uses these starts other programs, or reads Go.
const GUARDED_FROM_ALL: [&str; 14] = [
    "go/parser.ParseDir", "go/parser.ParseExprFrom", "go/parser.ParseFile", "os.StartProcess", "os/exec.Command",
    "os/exec.CommandContext", "os/exec.(*Cmd).CombinedOutput", "os/exec.(*Cmd).Output", "os/exec.(*Cmd).Run",
    "os/exec.(*Cmd).Start", "syscall.StartProcess", "syscall.ForkExec", "syscall.forkExec", "syscall.Exec",
];

/// Packages of which such functions are a part, or that use them for what no benchmark does (fuzzing, by `testing`).
const STARTERS: [&str; 6] = ["os", "os/exec", "syscall", "testing", "testing/internal/testdeps", "internal/fuzz"];

/// Functions that tell names and lines of functions.
const TELLS_LINES: [&str; 9] = [
    "runtime.Caller", "runtime.Callers", "runtime.CallersFrames", "runtime.FuncForPC", "runtime.(*Frames).Next",
    "runtime.(*Func).FileLine", "runtime.(*Func).Name", "runtime.Stack", "runtime/debug.Stack",
];

/// Adds to a graph what is known of Go's standard library; fails where it is not a test binary as `go test` writes it.
///
/// `is_standard` says whether a package is one of the standard library.
pub(super) fn complete(linked: Linked, mut is_standard: impl FnMut(&str) -> bool) -> Result<Graph, String> {
    let Linked { mut graph, packages } = linked;
    graph.entries = entries(&graph);
    if graph.entries.is_empty() {
        return Err("its list of benchmarks was not found".to_owned());
    }
    graph.finders = finders(&graph);
    let starts: Vec<bool> = graph.symbols.iter().map(|symbol| starts_programs(&graph, symbol)).collect();
    for ((symbol, package), starts) in graph.symbols.iter_mut().zip(&packages).zip(starts) {
        if let Some(found) = &mut symbol.found {
            // A symbol of no known kind is found by anybody.
            found.finders = found.finders.filter(|&how| how < INTERFACE_TABLE).map(|how| (how - 1).min(ALL_KINDS - 1));
        }
        let name = plain(&symbol.name);
        symbol.part.is_guarded = GUARDED.contains(&name) || GUARDED_FROM_ALL.contains(&name) || symbol.part.is_list;
        // Descriptions of types name methods that nobody calls for that; the main package is what `go test` writes.
        let describes = ["type:", "go:"].iter().any(|beginning| name.starts_with(beginning));
        let is_standard = is_standard(package) && (!starts || STARTERS.contains(&package.as_str()));
        symbol.part.is_trusted = describes || package == "main" || is_standard;
        // Lines of the main package that `go test` writes follow the number of tests, and no benchmark runs on its stack.
        if package == "main" {
            symbol.lines = Digest::default();
        }
        symbol.part.tells_lines = TELLS_LINES.contains(&name);
    }
    Ok(graph)
}

/// The name of a function, also where its value is taken.
fn plain(name: &str) -> &str {
    name.strip_suffix("·f").unwrap_or(name)
}

fn starts_programs(graph: &Graph, symbol: &Symbol) -> bool {
    used(symbol).any(|to| GUARDED_FROM_ALL.contains(&plain(&graph.symbols[to].name)))
}

/// The functions that the lists of tests, benchmarks and the like hold, by their names without package.
fn entries(graph: &Graph) -> BTreeMap<String, Vec<usize>> {
    let mut entries: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for list in graph.symbols.iter().filter(|symbol| symbol.part.is_list) {
        for to in used(list) {
            let Some(function) = graph.symbols[to].name.strip_suffix("·f") else { continue };
            let name = function.rsplit('.').next().unwrap_or(function);
            entries.entry(name.to_owned()).or_default().push(to);
        }
    }
    entries
}

fn used(symbol: &Symbol) -> impl Iterator<Item = usize> {
    symbol.edges.iter().filter_map(|edge| match edge {
        Edge::Uses(to) => Some(*to),
        _ => None,
    })
}

/// For each kind of type, who looks for types of that kind in the list of all: the functions that are known to, and whoever else
/// reads the list.
fn finders(graph: &Graph) -> Vec<Vec<usize>> {
    let reads = |symbol: &Symbol| used(symbol).any(|to| LIST_OF_TYPES.contains(&graph.symbols[to].name.as_str()));
    let readers = graph.symbols.iter().enumerate().filter(|(_, symbol)| reads(symbol));
    let mut finders = vec![Vec::new(); ALL_KINDS];
    for (number, symbol) in readers.filter(|(_, symbol)| symbol.name != LIST_OF_TYPES[0]) {
        match LOOKS_FOR.iter().find(|(name, _)| *name == symbol.name) {
            Some((_, kind)) => finders[*kind].push(number),
            None => finders.iter_mut().for_each(|all| all.push(number)),
        }
    }
    finders
}

#[cfg(test)]
mod tests {
    use duetbench_core::reach::{Found, Part};

    use super::*;

    fn symbol(name: &str, uses: &[usize]) -> Symbol {
        let edges = uses.iter().map(|&to| Edge::Uses(to)).collect();
        Symbol { name: name.into(), edges, ..Symbol::default() }
    }

    /// A program whose list of benchmarks comes first, with the package of each other symbol.
    fn linked(others: &[(&str, &str, &[usize])]) -> Linked {
        let mut list = symbol("main..stmp_1", &(1..=others.len()).collect::<Vec<_>>());
        list.part = Part { is_list: true, ..Part::default() };
        let symbols = others.iter().map(|(name, _, uses)| symbol(name, uses));
        let graph = Graph { symbols: std::iter::once(list).chain(symbols).collect(), ..Graph::default() };
        let packages = std::iter::once("main").chain(others.iter().map(|(_, package, _)| *package));
        Linked { graph, packages: packages.map(str::to_owned).collect() }
    }

    fn completed(others: &[(&str, &str, &[usize])]) -> Graph {
        complete(linked(others), |package| !package.contains('.')).unwrap()
    }

    #[test]
    fn benchmarks_are_named_by_their_functions() {
        let names = ["go:string.\"BenchmarkA\"", "example.com/p.BenchmarkA·f", "example.com/p_test.BenchmarkA·f"];
        let of = names.map(|name| (name, "example.com/p", &[][..]));
        assert_eq!(completed(&of).entries, BTreeMap::from([("BenchmarkA".to_owned(), vec![2, 3])]));
        let mut other = linked(&of);
        other.graph.symbols[0].part.is_list = false;
        assert!(complete(other, |_| true).unwrap_err().contains("list of benchmarks"));
    }

    #[test]
    fn types_are_found_by_who_looks_for_their_kind_or_through_the_whole_list() {
        let names = [("reflect.typesByString", 1), ("reflect.typelinks", 1), ("reflect.SliceOf", 0), ("a.walk", 1)];
        let graph = Graph { symbols: names.map(|(name, to)| symbol(name, &[to])).to_vec(), ..Graph::default() };
        let mut graph = Graph { symbols: [graph.symbols, vec![symbol("type:[]T", &[])]].concat(), ..Graph::default() };
        graph.symbols[4].found = Some(Found { parts: vec![], finders: Some(24) });
        let all = finders(&graph);
        // The list itself is read by the function that everybody goes through.
        assert_eq!((&all[23], &all[22]), (&vec![1, 2, 3], &vec![1, 3]));
    }

    #[test]
    fn the_value_of_a_guarded_function_is_guarded_too_and_so_are_lists() {
        let names = ["p.BenchmarkA·f", "flag.Set·f", "flag.Set", "p.Set", "os/exec.(*Cmd).Run"];
        let graph = completed(&names.map(|name| (name, "p", &[][..])));
        let guarded: Vec<bool> = graph.symbols.iter().map(|symbol| symbol.part.is_guarded).collect();
        assert_eq!(guarded, [true, false, true, true, false, true]);
    }

    #[test]
    fn the_standard_library_is_trusted_but_where_it_starts_programs() {
        let graph = completed(&[
            ("a.BenchmarkA·f", "example.com/a", &[]),
            ("os/exec.Command", "os/exec", &[]),
            ("go/build.run", "go/build", &[2]),
            ("os/exec.other", "os/exec", &[2]),
            // Named for another package than it belongs to, by a linkname.
            ("weak.strong", "runtime", &[]),
            ("os.fake", "example.com/a", &[]),
        ]);
        let trusted: Vec<bool> = graph.symbols.iter().map(|symbol| symbol.part.is_trusted).collect();
        assert_eq!(trusted, [true, false, true, false, true, true, false]);
    }
}
