//! What the graph of a Go program does not say by itself: the lists of `go test`, functions of the standard library that find types
//! without references, and those that may decide what runs.

use std::collections::BTreeMap;

use duetbench_core::reach::{Digest, Edge, Graph, Symbol};

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

/// Whoever uses these may have other tests and benchmarks run, start other programs, read sources, or take the program apart.
const GUARDED: [&str; 27] = [
    "go/parser.ParseDir",
    "go/parser.ParseFile",
    "os.Args",
    "os.Executable",
    "os.StartProcess",
    "os/exec.Command",
    "os/exec.CommandContext",
    "os/exec.(*Cmd).Start",
    "syscall.StartProcess",
    "syscall.ForkExec",
    "syscall.forkExec",
    "syscall.Exec",
    "plugin.Open",
    "flag.Set",
    "flag.Lookup",
    "flag.VisitAll",
    "flag.(*FlagSet).Parse",
    "flag.(*FlagSet).Set",
    "flag.(*FlagSet).set",
    "flag.(*FlagSet).Lookup",
    "flag.(*FlagSet).VisitAll",
    "testing.match",
    "testing.matchBenchmarks",
    "testing.matchList",
    "runtime.firstmoduledata",
    "runtime.lastmoduledatap",
    "runtime.modulesSlice",
];

/// Beginnings of names in the standard library, and of descriptions of types, which use these as they should.
const TRUSTED: [&str; 14] = [
    "runtime.",
    "runtime/",
    "internal/",
    "reflect.",
    "syscall.",
    "os.",
    "os/exec.",
    "flag.",
    "testing.",
    "testing/",
    "main.",
    "plugin.",
    "type:",
    "go:",
];

/// Functions that tell names and lines of functions.
const TELLS_LINES: [&str; 9] = [
    "runtime.Caller",
    "runtime.Callers",
    "runtime.CallersFrames",
    "runtime.FuncForPC",
    "runtime.(*Frames).Next",
    "runtime.(*Func).FileLine",
    "runtime.(*Func).Name",
    "runtime.Stack",
    "runtime/debug.Stack",
];

/// Adds to a graph what is known of Go's standard library; fails where it is not a test binary as `go test` writes it.
pub(super) fn complete(graph: &mut Graph) -> Result<(), String> {
    graph.entries = entries(graph);
    if graph.entries.is_empty() {
        return Err("its list of benchmarks was not found".to_owned());
    }
    graph.finders = finders(graph);
    for symbol in &mut graph.symbols {
        if let Some(found) = &mut symbol.found {
            // What is of no known kind is found by anybody.
            found.finders = found.finders.filter(|&how| how < INTERFACE_TABLE).map(|how| (how - 1).min(ALL_KINDS - 1));
        }
        // A function whose value is taken goes by another name.
        let name = symbol.name.strip_suffix("·f").unwrap_or(&symbol.name);
        symbol.part.is_guarded = GUARDED.contains(&name) || symbol.part.is_list;
        symbol.part.is_trusted = TRUSTED.iter().any(|beginning| name.starts_with(beginning));
        // Lines of the main package that `go test` writes follow the number of tests, and no benchmark runs on its stack.
        if name.starts_with("main.") {
            symbol.lines = Digest::default();
        }
        symbol.part.tells_lines = TELLS_LINES.contains(&name);
    }
    Ok(())
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

    #[test]
    fn benchmarks_are_named_by_their_functions() {
        let mut list = symbol("main..stmp_1", &[1, 2, 3]);
        list.part = Part { is_list: true, ..Part::default() };
        let names = ["go:string.\"BenchmarkA\"", "example.com/p.BenchmarkA·f", "example.com/p_test.BenchmarkA·f"];
        let symbols = std::iter::once(list).chain(names.map(|name| symbol(name, &[]))).collect();
        let mut graph = Graph { symbols, ..Graph::default() };
        complete(&mut graph).unwrap();
        assert_eq!(graph.entries, BTreeMap::from([("BenchmarkA".to_owned(), vec![2, 3])]));
        graph.symbols[0].part.is_list = false;
        assert!(complete(&mut graph).unwrap_err().contains("list of benchmarks"));
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
        let mut list = symbol("main..stmp_1", &[1]);
        list.part = Part { is_list: true, ..Part::default() };
        let names = ["p.BenchmarkA·f", "flag.Set·f", "flag.Set", "p.Set"];
        let symbols = std::iter::once(list).chain(names.map(|name| symbol(name, &[]))).collect();
        let mut graph = Graph { symbols, ..Graph::default() };
        complete(&mut graph).unwrap();
        let guarded: Vec<bool> = graph.symbols.iter().map(|symbol| symbol.part.is_guarded).collect();
        assert_eq!(guarded, [true, false, true, true, false]);
    }
}
