//! The comparison of two reaches: one symbol of each version for one of the other, or the first place where that fails.

use std::collections::HashMap;

use super::flood::Reached;
use super::{Edge, Graph, Part, Symbol};

/// Symbols that correspond, as far as they were followed.
#[derive(Debug, Clone)]
pub(super) struct Pairing {
    /// Partners of each version's symbols in the other one.
    partners: [Vec<Option<usize>>; 2],
    queue: Vec<(usize, usize)>,
}

impl Pairing {
    pub(super) fn new(graphs: [&Graph; 2]) -> Pairing {
        Pairing { partners: graphs.map(|graph| vec![None; graph.symbols.len()]), queue: Vec::new() }
    }

    /// Adds symbols that must correspond.
    pub(super) fn start(&mut self, pairs: impl Iterator<Item = (usize, usize)>) {
        self.queue.extend(pairs);
    }

    /// Follows both versions side by side; fails with the first difference in words.
    ///
    /// Every symbol has one partner and is that one's only partner: two variables of equal content must not stand for each other.
    pub(super) fn run(&mut self, graphs: [&Graph; 2], reached: &[Reached; 2]) -> Result<(), String> {
        self.follow(graphs)?;
        loop {
            // The reach grows from one run to the next, so references that depend on it are looked at again.
            for (a, b) in self.pairs() {
                self.follow_late(graphs, reached, a, b)?;
            }
            self.pair_found(graphs, reached)?;
            if self.queue.is_empty() {
                break;
            }
            self.follow(graphs)?;
        }
        self.check_complete(graphs, reached)
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        self.partners[0].iter().enumerate().filter_map(|(a, b)| Some((a, (*b)?))).collect()
    }

    /// Follows references that always count.
    fn follow(&mut self, graphs: [&Graph; 2]) -> Result<(), String> {
        while let Some((a, b)) = self.queue.pop() {
            match (self.partners[0][a], self.partners[1][b]) {
                (None, None) => {}
                (Some(partner), _) if partner == b => continue,
                _ => return Err(format!("`{}` stands for something else", graphs[0].symbols[a].name)),
            }
            (self.partners[0][a], self.partners[1][b]) = (Some(b), Some(a));
            let (one, other) = (&graphs[0].symbols[a], &graphs[1].symbols[b]);
            if !equal(one, other) {
                return Err(differs(one, other));
            }
            if one.part.is_list {
                continue;
            }
            for pair in one.edges.iter().zip(&other.edges) {
                if let (Edge::Uses(to), Edge::Uses(its)) = pair {
                    self.queue.push((*to, *its));
                }
            }
        }
        Ok(())
    }

    /// Follows references that count if what they lead to is reached: a type that is converted, the methods that may be called.
    fn follow_late(&mut self, graphs: [&Graph; 2], reached: &[Reached; 2], a: usize, b: usize) -> Result<(), String> {
        let (one, other) = (&graphs[0].symbols[a], &graphs[1].symbols[b]);
        let mut late = Vec::new();
        for (place, pair) in one.edges.iter().zip(&other.edges).enumerate() {
            let counts = match pair {
                (Edge::Converts(to), Edge::Converts(its)) => [reached[0].holds(*to), reached[1].holds(*its)],
                (Edge::Method(_), Edge::Method(_)) => [reached[0].calls(a, place), reached[1].calls(b, place)],
                _ => continue,
            };
            match (counts, pair) {
                ([false, false], _) => {}
                ([true, true], (Edge::Converts(to), Edge::Converts(its))) => late.push((Some(*to), Some(*its))),
                ([true, true], (Edge::Method(method), Edge::Method(its))) => {
                    late.extend(method.targets.into_iter().zip(its.targets));
                }
                _ => return Err(format!("a method or type that `{}` has is used in one version only", one.name)),
            }
        }
        for pair in late {
            match pair {
                (Some(to), Some(its)) if self.partners[0][to] != Some(its) => self.queue.push((to, its)),
                (Some(_), Some(_)) | (None, None) => {}
                _ => return Err(differs(one, other)),
            }
        }
        Ok(())
    }

    /// Pairs what is found and not referred to, by its name, which says what it is.
    fn pair_found(&mut self, graphs: [&Graph; 2], reached: &[Reached; 2]) -> Result<(), String> {
        let unpaired = |side: usize| {
            let partners = &self.partners[side];
            let symbols = graphs[side].symbols.iter().enumerate();
            symbols
                .filter(move |(n, symbol)| symbol.found.is_some() && reached[side].holds(*n) && partners[*n].is_none())
        };
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (number, symbol) in unpaired(1) {
            if by_name.insert(&symbol.name, number).is_some() {
                return Err(format!("there are two of `{}`", symbol.name));
            }
        }
        let pairs: Vec<_> =
            unpaired(0).filter_map(|(n, symbol)| Some((n, by_name.get(&*symbol.name).copied()?))).collect();
        self.queue.extend(pairs);
        Ok(())
    }

    /// Fails where a symbol was reached in one version, and nothing corresponds to it in the other.
    fn check_complete(&self, graphs: [&Graph; 2], reached: &[Reached; 2]) -> Result<(), String> {
        for side in [0, 1] {
            let symbols = graphs[side].symbols.iter().enumerate();
            let mut alone = symbols.filter(|(n, _)| reached[side].holds(*n) && self.partners[side][*n].is_none());
            if let Some((_, symbol)) = alone.next() {
                return Err(format!("`{}` is reached in one version only", symbol.name));
            }
        }
        Ok(())
    }

    /// Fails where names or lines of functions differ.
    pub(super) fn check_lines(&self, graphs: [&Graph; 2], reached: &[Reached; 2]) -> Result<(), String> {
        for (a, b) in self.pairs().into_iter().filter(|&(a, _)| reached[0].holds(a)) {
            let (one, other) = (&graphs[0].symbols[a], &graphs[1].symbols[b]);
            if one.lines != other.lines || one.name != other.name {
                return Err(format!("names or lines of `{}` differ, and can be asked for", one.name));
            }
        }
        Ok(())
    }
}

/// Whether two symbols are the same but for what they refer to.
fn equal(one: &Symbol, other: &Symbol) -> bool {
    // The rest of the program, and the user from which a common symbol was taken, are not this benchmark's affair.
    let part = |symbol: &Symbol| Part { is_kept: true, is_trusted: true, ..symbol.part };
    if part(one) != part(other) || !same_name(&one.name, &other.name) {
        return false;
    }
    if one.part.is_list {
        return true;
    }
    let alike = |(edge, its): (&Edge, &Edge)| match (edge, its) {
        (Edge::Method(method), Edge::Method(its)) => {
            (method.signature, method.name, method.exported) == (its.signature, its.name, its.exported)
        }
        (Edge::CallsMethod(called), Edge::CallsMethod(its)) | (Edge::CallsNamed(called), Edge::CallsNamed(its)) => {
            called == its
        }
        (Edge::Uses(_), Edge::Uses(_)) | (Edge::Converts(_), Edge::Converts(_)) => true,
        _ => false,
    };
    one.content == other.content
        && one.edges.len() == other.edges.len()
        && one.edges.iter().zip(&other.edges).all(alike)
}

/// Whether names are the same but for numbers: compilers count what has no name of its own, and one more shifts the rest.
fn same_name(one: &str, other: &str) -> bool {
    let letters = |name: &str| -> Vec<u8> {
        let mut all: Vec<u8> = name.bytes().map(|b| if b.is_ascii_digit() { b'0' } else { b }).collect();
        all.dedup_by(|a, b| *a == b'0' && *b == b'0');
        all
    };
    one == other || letters(one) == letters(other)
}

fn differs(one: &Symbol, other: &Symbol) -> String {
    if one.name == other.name || same_name(&one.name, &other.name) {
        format!("`{}` differs", one.name)
    } else {
        format!("`{}` is in the place of `{}`", other.name, one.name)
    }
}
