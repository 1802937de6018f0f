//! The search for what a program can reach from some of its symbols, by the rules of Go's linker (`cmd/link/internal/ld/deadcode.go`).

use std::collections::HashSet;

use super::{Digest, Edge, Graph, Method};

/// A search and how far it has come.
#[derive(Debug, Clone)]
pub(super) struct Flood<'g> {
    graph: &'g Graph,
    /// Whether it goes through the lists of benchmarks.
    follows_lists: bool,
    reached: Reached,
    /// Types whose values may be in an interface: their methods may be called by it.
    converted: Vec<bool>,
    queue: Vec<usize>,
    /// Methods of such types that nothing calls yet.
    waiting: Vec<(usize, usize)>,
    /// Symbols that may be found once their parts are reached.
    findable: Vec<usize>,
    signatures: HashSet<Digest>,
    names: HashSet<Digest>,
    /// Whether any exported method may be called.
    looks_up: bool,
}

/// Symbols and methods that a search came upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reached {
    symbols: Vec<bool>,
    methods: HashSet<(usize, usize)>,
}

impl Reached {
    pub(super) fn holds(&self, symbol: usize) -> bool {
        self.symbols.get(symbol).copied().unwrap_or(false)
    }

    /// Whether the method at this edge of a type may be called.
    pub(super) fn calls(&self, symbol: usize, edge: usize) -> bool {
        self.methods.contains(&(symbol, edge))
    }
}

impl<'g> Flood<'g> {
    pub(super) fn new(graph: &'g Graph) -> Flood<'g> {
        let count = graph.symbols.len();
        Flood {
            graph,
            follows_lists: false,
            reached: Reached { symbols: vec![false; count], methods: HashSet::new() },
            converted: vec![false; count],
            queue: Vec::new(),
            waiting: Vec::new(),
            findable: (0..count)
                .filter(|&n| graph.symbols[n].found.is_some() && graph.symbols[n].part.is_kept)
                .collect(),
            signatures: HashSet::new(),
            names: HashSet::new(),
            looks_up: false,
        }
    }

    /// A search that goes through lists too, as the linker's does.
    pub(super) fn following_lists(graph: &'g Graph) -> Flood<'g> {
        Flood { follows_lists: true, ..Flood::new(graph) }
    }

    /// Symbols and methods that were reached so far.
    pub(super) fn reached(&self) -> Reached {
        self.reached.clone()
    }

    /// Goes on from these symbols until nothing more is found.
    pub(super) fn run(&mut self, starts: &[usize]) {
        starts.iter().for_each(|&start| self.mark(start));
        loop {
            while let Some(symbol) = self.queue.pop() {
                self.visit(symbol);
            }
            self.call_methods();
            self.find();
            if self.queue.is_empty() {
                break;
            }
        }
    }

    fn mark(&mut self, symbol: usize) {
        if !std::mem::replace(&mut self.reached.symbols[symbol], true) {
            self.queue.push(symbol);
        }
    }

    /// Notes that values of a type may be in an interface. Then those of the types that it is made of may be too, and a type that
    /// was visited before is visited again.
    fn convert(&mut self, symbol: usize) {
        if !std::mem::replace(&mut self.converted[symbol], true) && self.reached.symbols[symbol] {
            self.queue.push(symbol);
        }
    }

    fn visit(&mut self, number: usize) {
        let graph = self.graph;
        let symbol = &graph.symbols[number];
        self.looks_up |= symbol.part.looks_up_methods;
        if symbol.part.is_list && !self.follows_lists {
            return;
        }
        let converted = symbol.part.is_type && self.converted[number];
        for (place, edge) in symbol.edges.iter().enumerate() {
            match edge {
                Edge::Uses(to) => {
                    if converted && graph.symbols[*to].part.is_type {
                        self.convert(*to);
                    }
                    self.mark(*to);
                }
                Edge::Converts(to) => self.convert(*to),
                Edge::CallsMethod(signature) => drop(self.signatures.insert(*signature)),
                Edge::CallsNamed(name) => drop(self.names.insert(*name)),
                Edge::Method(method) if converted => {
                    // Its type can be asked for.
                    if let Some(of_method) = method.targets[0] {
                        self.convert(of_method);
                    }
                    self.waiting.push((number, place));
                }
                Edge::Method(_) => {}
            }
        }
    }

    /// Takes up methods that may be called by now.
    fn call_methods(&mut self) {
        let graph = self.graph;
        for (number, place) in std::mem::take(&mut self.waiting) {
            let Edge::Method(method) = &graph.symbols[number].edges[place] else { continue };
            if !self.may_be_called(method) {
                self.waiting.push((number, place));
            } else if self.reached.methods.insert((number, place)) {
                method.targets.iter().flatten().for_each(|&target| self.mark(target));
            }
        }
    }

    fn may_be_called(&self, method: &Method) -> bool {
        (self.looks_up && method.exported)
            || self.signatures.contains(&method.signature)
            || self.names.contains(&method.name)
    }

    /// Takes up symbols that running code can find by now.
    fn find(&mut self) {
        let graph = self.graph;
        for number in std::mem::take(&mut self.findable) {
            let Some(found) = &graph.symbols[number].found else { continue };
            let finders = found.finders.map(|list| graph.finders.get(list).map_or(&[][..], Vec::as_slice));
            let is_sought = finders.is_none_or(|finders| finders.iter().any(|&finder| self.reached.holds(finder)));
            if is_sought && found.parts.iter().all(|&part| self.reached.holds(part)) {
                self.convert(number);
                self.mark(number);
            } else {
                self.findable.push(number);
            }
        }
    }
}
