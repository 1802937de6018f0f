//! The file that our linker writes: symbols with their references.

use duetbench_core::reach::{Digest, Edge, Found, Graph, Method, Part, Symbol};

use super::super::matching::inventory::Reader;

const MAGIC: &[u8] = b"duet-graph-1\n";
/// Tables of functions for the runtime, by the end of their names. The linker keeps one of those that are equal, named after any of their
/// functions; nothing that runs knows the name.
const TABLES: [&str; 5] = [".stkobj", ".opendefer", ".argliveinfo", ".arginfo0", ".arginfo1"];

/// Symbols with the package of each, where that is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Linked {
    pub(super) graph: Graph,
    /// By the numbers of the symbols.
    pub(super) packages: Vec<String>,
}

/// Reads the file; fails with the linker's reason for writing none, or because it is cut short.
///
/// Ways in which running code finds a symbol are numbers here, left in [`Found::finders`] for `known`.
pub(super) fn parse(file: &[u8]) -> Result<Linked, String> {
    let unreadable = || "the linker's graph cannot be read".to_owned();
    let mut rest = Reader(file.strip_prefix(MAGIC).ok_or_else(unreadable)?);
    let refusal = String::from_utf8_lossy(rest.bytes().ok_or_else(unreadable)?).into_owned();
    if !refusal.is_empty() {
        return Err(refusal);
    }
    let Linked { mut graph, mut packages } = Linked::default();
    while !rest.0.is_empty() {
        let (symbol, package) = symbol(&mut rest).ok_or_else(unreadable)?;
        graph.symbols.push(symbol);
        packages.push(package);
    }
    if graph.symbols.iter().any(|symbol| mentioned(symbol).any(|number| number >= graph.symbols.len())) {
        return Err(unreadable());
    }
    Ok(Linked { graph, packages })
}

fn symbol(rest: &mut Reader<'_>) -> Option<(Symbol, String)> {
    let mut text = || Some(String::from_utf8_lossy(rest.bytes()?).into_owned());
    let (mut name, package) = (text()?, text()?);
    if let Some(table) = TABLES.iter().find(|table| name.ends_with(**table)) {
        (*table).clone_into(&mut name);
    }
    let bits = rest.number()?;
    let bit = |number: u32| bits & (1 << number) != 0;
    let part = Part {
        is_root: bit(0),
        is_type: bit(1),
        looks_up_methods: bit(2),
        is_list: bit(3),
        is_kept: bit(5),
        ..Part::default()
    };
    let (content, lines, scanned) = (digest(rest)?, digest(rest)?, digest(rest)?);
    let edges = (0..rest.number()?).map(|_| edge(rest)).collect::<Option<_>>()?;
    let found = match rest.number()? {
        0 => None,
        how => {
            let parts = (0..rest.number()?).map(|_| index(rest)).collect::<Option<_>>()?;
            Some(Found { parts, finders: Some(usize::try_from(how).ok()?) })
        }
    };
    Some((Symbol { name, content, lines, scanned: bit(4).then_some(scanned), part, edges, found }, package))
}

fn edge(rest: &mut Reader<'_>) -> Option<Edge> {
    Some(match rest.number()? {
        0 => Edge::Uses(index(rest)?),
        1 => Edge::Converts(index(rest)?),
        2 => Edge::CallsMethod(digest(rest)?),
        3 => Edge::CallsNamed(digest(rest)?),
        4 => {
            let (signature, name, exported) = (digest(rest)?, digest(rest)?, rest.number()? != 0);
            let mut target = || index(rest).map(|number| number.checked_sub(1));
            Edge::Method(Method { signature, name, exported, targets: [target()?, target()?, target()?] })
        }
        _ => return None,
    })
}

fn index(rest: &mut Reader<'_>) -> Option<usize> {
    usize::try_from(rest.number()?).ok()
}

fn digest(rest: &mut Reader<'_>) -> Option<Digest> {
    rest.take(16)?.try_into().ok()
}

/// Every number by which a symbol names another.
fn mentioned(symbol: &Symbol) -> impl Iterator<Item = usize> {
    let of_edges = symbol.edges.iter().flat_map(|edge| match edge {
        Edge::Uses(to) | Edge::Converts(to) => vec![*to],
        Edge::Method(method) => method.targets.into_iter().flatten().collect(),
        Edge::CallsMethod(_) | Edge::CallsNamed(_) => Vec::new(),
    });
    of_edges.chain(symbol.found.iter().flat_map(|found| found.parts.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.push(0);
        file.extend(b"\x01p\x01q\x21");
        file.extend([7; 48]);
        file.push(2);
        file.extend([0, 0]);
        file.push(4);
        file.extend([9; 32]);
        file.extend([1, 0, 1, 1]);
        file.extend([23, 1, 0]);
        file
    }

    #[test]
    fn what_the_linker_writes_is_read() {
        let Linked { graph, packages } = parse(&file()).unwrap();
        assert_eq!(packages, ["q"]);
        let [symbol] = &graph.symbols[..] else { panic!("{graph:?}") };
        assert_eq!((symbol.name.as_str(), symbol.part.is_root, symbol.part.is_kept), ("p", true, true));
        assert_eq!(symbol.edges[0], Edge::Uses(0));
        let Edge::Method(method) = &symbol.edges[1] else { panic!("{symbol:?}") };
        assert_eq!((method.exported, method.targets), (true, [None, Some(0), Some(0)]));
        assert_eq!(symbol.found, Some(Found { parts: vec![0], finders: Some(23) }));
    }

    #[test]
    fn a_table_of_functions_has_the_name_of_none() {
        let named = |name: &str| {
            let mut file = MAGIC.to_vec();
            file.extend([0, u8::try_from(name.len()).unwrap()]);
            file.extend(name.bytes());
            file.extend([1, b'q', 0]);
            file.extend([7; 48]);
            file.extend([0, 0]);
            parse(&file).unwrap().graph.symbols[0].name.clone()
        };
        assert_eq!(named("m.(*T).f.stkobj"), named("m.g.stkobj"));
        assert_ne!(named("m.g.stkobj"), named("m.g.opendefer"));
        assert_eq!(named("m.g"), "m.g");
    }

    #[test]
    fn what_is_cut_short_or_leads_nowhere_is_not_read() {
        let whole = file();
        // Without any symbol it is a graph, though one of nothing.
        let read: Vec<usize> = (0..whole.len()).filter(|&n| parse(&whole[..n]).is_ok()).collect();
        assert_eq!(read, [MAGIC.len() + 1]);
        let mut astray = whole;
        *astray.last_mut().unwrap() = 1;
        assert!(parse(&astray).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_refusal_is_the_reason() {
        let mut file = MAGIC.to_vec();
        file.extend(b"\x03why");
        assert_eq!(parse(&file), Err("why".to_owned()));
    }
}
