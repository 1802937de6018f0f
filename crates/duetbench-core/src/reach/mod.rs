//! Reach: whether a benchmark can come upon anything that differs between two versions of its program.
//!
//! A benchmark's reach is what a linker would keep if the benchmark were the only one of its program: everything that a search
//! finds from where the program starts, from its initialisers, and from the benchmark itself. The search is that for dead code,
//! on which every linked program relies, so it errs on one side only: what may be called counts as called.
//!
//! Two versions are the same to a benchmark if its reaches are the same graph: symbol for symbol of equal content, with equal
//! references between them. Addresses are no part of that. Whatever is not known counts as a difference.

use std::collections::{BTreeMap, BTreeSet};

mod flood;
mod pairing;

use flood::{Flood, Reached};
use pairing::Pairing;

/// Digest of some bytes.
pub type Digest = [u8; 16];

/// A symbol of a linked program: a function, a variable, a constant, a description of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Its name. Names need not be unique.
    pub name: String,
    /// Digest of all that it holds, but for the symbols that it refers to.
    pub content: Digest,
    /// Digest of what it tells readers of traces: names, files, lines.
    pub lines: Digest,
    /// For a variable in which the collector looks for pointers: digest of its size and of where they are.
    pub scanned: Option<Digest>,
    /// Its part in the search.
    pub part: Part,
    /// References to other symbols, in its own order.
    pub edges: Vec<Edge>,
    /// A way in which running code comes upon it without any reference.
    pub found: Option<Found>,
}

/// Special properties of a symbol in the search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts about one symbol")]
pub struct Part {
    /// The search starts here.
    pub is_root: bool,
    /// It was linked, and is not merely mentioned.
    pub is_kept: bool,
    /// It describes a type, whose values may be converted to interfaces.
    pub is_type: bool,
    /// It looks methods up by names that only running code knows, so that every exported method may be called.
    pub looks_up_methods: bool,
    /// It is the list of benchmarks, or one like it. It is neither followed nor compared.
    pub is_list: bool,
    /// Who refers to it may decide what else runs; only code that is known for what it does may.
    pub is_guarded: bool,
    /// It is such code.
    pub is_trusted: bool,
    /// It tells running code names and lines of functions.
    pub tells_lines: bool,
}

/// A reference from one symbol to others, given by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edge {
    /// It calls, reads, writes or mentions the other.
    Uses(usize),
    /// It converts values of this type to an interface.
    Converts(usize),
    /// It calls, by an interface, a method of this name and type.
    CallsMethod(Digest),
    /// It looks a method of this name up.
    CallsNamed(Digest),
    /// The type has this method, which counts once it may be called.
    Method(Method),
}

/// A method of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Name and type, as in [`Edge::CallsMethod`].
    pub signature: Digest,
    /// Name alone, as in [`Edge::CallsNamed`].
    pub name: Digest,
    /// Whether it can be looked up from anywhere.
    pub exported: bool,
    /// Its type and its code, where they were kept.
    pub targets: [Option<usize>; 3],
}

/// A symbol that running code finds if it has all the parts and, where there are any, one of the finders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Symbols that name it together.
    pub parts: Vec<usize>,
    /// Functions that look for such symbols, by the number of their list in [`Graph::finders`]; absent: the runtime does.
    pub finders: Option<usize>,
}

/// A linked program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// Its symbols; edges name them by their places here.
    pub symbols: Vec<Symbol>,
    /// Lists of functions that find symbols without references.
    pub finders: Vec<Vec<usize>>,
    /// Contents of the lists of benchmarks and the like: the functions of each name.
    pub entries: BTreeMap<String, Vec<usize>>,
}

/// Whether a benchmark can come upon a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// All that it can reach is equal.
    Same,
    /// The first difference found, or the reason why none can be excluded, in words.
    Differs(String),
}

/// Two versions of a program, baseline first.
#[derive(Debug)]
pub struct Versions<'g> {
    graphs: [&'g Graph; 2],
    /// Reach of the program without any benchmark, and how it corresponds; else why it differs.
    shared: Result<Shared<'g>, String>,
}

/// All that runs whatever the benchmark is.
#[derive(Debug, Clone)]
struct Shared<'g> {
    floods: [Flood<'g>; 2],
    reached: [Reached; 2],
    pairing: Pairing,
}

impl<'g> Versions<'g> {
    /// Compares what every benchmark reaches.
    pub fn new(graphs: [&'g Graph; 2]) -> Versions<'g> {
        Versions { graphs, shared: shared(graphs) }
    }

    /// The answer for one benchmark function.
    pub fn reach(&self, benchmark: &str) -> Reach {
        self.compare(benchmark).map_or_else(Reach::Differs, |()| Reach::Same)
    }

    fn compare(&self, benchmark: &str) -> Result<(), String> {
        let Shared { mut floods, reached: before, mut pairing } = self.shared.as_ref().map_err(Clone::clone)?.clone();
        let entries = self.graphs.map(|graph| graph.entries.get(benchmark).map_or(&[][..], Vec::as_slice));
        if entries[0].is_empty() || entries[0].len() != entries[1].len() {
            return Err(format!("`{benchmark}` is not in the lists of both versions"));
        }
        for (flood, entries) in floods.iter_mut().zip(entries) {
            flood.run(entries);
        }
        let reached = floods.each_ref().map(Flood::reached);
        let by_name = |side: usize| sorted(self.graphs[side], entries[side].iter().copied());
        pairing.start(by_name(0).into_iter().zip(by_name(1)));
        pairing.run(self.graphs, &reached)?;
        for side in [0, 1] {
            guard(self.graphs[side], &reached[side])?;
        }
        if tells_lines(self.graphs, [&before[0], &before[1]], &reached) {
            pairing.check_lines(self.graphs, &reached)?;
        }
        Ok(())
    }
}

/// Compares what is reached without any benchmark.
fn shared<'g>(graphs: [&'g Graph; 2]) -> Result<Shared<'g>, String> {
    let starts = [starts(graphs[0]), starts(graphs[1])];
    let names = |side: usize| -> Vec<&str> { starts[side].iter().map(|&n| &*graphs[side].symbols[n].name).collect() };
    if starts[0].is_empty() || names(0) != names(1) {
        return Err("the programs do not start alike".to_owned());
    }
    if scanned(graphs[0]) != scanned(graphs[1]) {
        return Err("variables that the collector scans differ".to_owned());
    }
    let mut floods = graphs.map(Flood::new);
    for (flood, starts) in floods.iter_mut().zip(&starts) {
        flood.run(starts);
    }
    let reached = floods.each_ref().map(Flood::reached);
    for side in [0, 1] {
        guard(graphs[side], &reached[side])?;
    }
    let mut pairing = Pairing::new(graphs);
    pairing.start(starts[0].iter().copied().zip(starts[1].iter().copied()));
    pairing.run(graphs, &reached)?;
    Ok(Shared { floods, reached, pairing })
}

/// Where every run of the program starts, in the order of names: at its roots, and at all that was linked for reasons that the
/// search does not see.
fn starts(graph: &Graph) -> Vec<usize> {
    let roots: Vec<usize> = (0..graph.symbols.len()).filter(|&n| graph.symbols[n].part.is_root).collect();
    let mut all = Flood::following_lists(graph);
    all.run(&roots);
    let reached = all.reached();
    let unexplained = (0..graph.symbols.len()).filter(|&n| graph.symbols[n].part.is_kept && !reached.holds(n));
    sorted(graph, roots.iter().copied().chain(unexplained))
}

fn sorted(graph: &Graph, numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<usize> = numbers.collect::<BTreeSet<usize>>().into_iter().collect();
    numbers.sort_by(|&a, &b| graph.symbols[a].name.cmp(&graph.symbols[b].name));
    numbers
}

/// Variables that the collector looks through, whoever uses them.
fn scanned(graph: &Graph) -> Vec<Digest> {
    let of_program = graph.symbols.iter().filter(|symbol| symbol.part.is_kept && !symbol.part.is_list);
    let mut all: Vec<Digest> = of_program.filter_map(|symbol| symbol.scanned).collect();
    all.sort_unstable();
    all
}

/// Fails where code that is reached may decide what else runs.
fn guard(graph: &Graph, reached: &Reached) -> Result<(), String> {
    for (number, symbol) in graph.symbols.iter().enumerate() {
        if symbol.part.is_trusted || !reached.holds(number) {
            continue;
        }
        let guarded = symbol.edges.iter().find_map(|edge| match edge {
            Edge::Uses(to) if graph.symbols[*to].part.is_guarded => Some(&graph.symbols[*to].name),
            _ => None,
        });
        if let Some(guarded) = guarded {
            return Err(format!("`{}` uses `{guarded}`, by which anything may come to matter", symbol.name));
        }
    }
    Ok(())
}

/// Whether the benchmark reaches code of its own that asks for names and lines.
fn tells_lines(graphs: [&Graph; 2], before: [&Reached; 2], reached: &[Reached; 2]) -> bool {
    (0..2).any(|side| {
        let graph = graphs[side];
        let own = (0..graph.symbols.len()).filter(|&n| reached[side].holds(n) && !before[side].holds(n));
        let asks = |n: usize| {
            let mut edges = graph.symbols[n].edges.iter();
            edges.any(|edge| matches!(edge, Edge::Uses(to) if graph.symbols[*to].part.tells_lines))
        };
        own.into_iter().any(|n| graph.symbols[n].part.tells_lines || asks(n))
    })
}

#[cfg(test)]
mod tests;
