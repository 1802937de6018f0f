//! Machine code of functions in two programs that are laid out alike.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use duetbench_core::instructions::ExecutedCode;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// Whether each of these functions has the same code in both programs. What neither has belongs to the system, and is the same for both.
///
/// Code names other code and data by addresses, so equal bytes mean equal code only at equal addresses, and say nothing where a function
/// lies elsewhere: then nothing is told at all.
pub(crate) fn compare(programs: [&Path; 2], names: &BTreeSet<&str>) -> Option<ExecutedCode> {
    let [baseline, candidate] = programs.map(|path| fs::read(path).ok());
    let (baseline, candidate) = (baseline?, candidate?);
    held_together([&functions(&baseline)?, &functions(&candidate)?], names)
}

/// Functions by name, each with its address and its code; a name may have several.
type Functions<'a> = HashMap<&'a str, Vec<(u64, &'a [u8])>>;

fn functions(file: &[u8]) -> Option<Functions<'_>> {
    let object = object::File::parse(file).ok()?;
    let mut functions = Functions::new();
    for symbol in object.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let section = object.section_by_index(symbol.section_index()?).ok()?;
        let code = section.data_range(symbol.address(), symbol.size()).ok()??;
        functions.entry(symbol.name().ok()?).or_default().push((symbol.address(), code));
    }
    functions.values_mut().for_each(|all| all.sort_unstable());
    Some(functions)
}

fn held_together([baseline, candidate]: [&Functions<'_>; 2], names: &BTreeSet<&str>) -> Option<ExecutedCode> {
    let (mut functions, mut differing) = (0, Vec::new());
    for name in names {
        let same = match (baseline.get(name), candidate.get(name)) {
            (None, None) => continue,
            (Some(all), Some(its)) => {
                let addresses = |all: &[(u64, &[u8])]| all.iter().map(|(address, _)| *address).collect::<Vec<_>>();
                if all.len() == its.len() && addresses(all) != addresses(its) {
                    return None;
                }
                all == its
            }
            _ => false,
        };
        functions += 1;
        if !same {
            differing.push(*name);
        }
    }
    (functions > 0).then(|| ExecutedCode::new(functions, differing))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Program = [(&'static str, u64, &'static [u8])];

    fn check(sides: [&Program; 2], want: Option<(usize, &[&str])>) {
        let [a, b] = sides.map(|side| {
            let mut functions = Functions::new();
            side.iter().for_each(|(name, at, code)| functions.entry(name).or_default().push((*at, code)));
            functions
        });
        let names = BTreeSet::from(["f", "g", "of the system"]);
        let found = held_together([&a, &b], &names).map(|code| (code.functions, code.listed));
        assert_eq!(found, want.map(|(n, listed)| (n, listed.iter().map(|name| (*name).to_owned()).collect())));
    }

    #[test]
    fn functions_differ_by_their_code_or_by_being_alone() {
        let base = [("f", 1, &[1, 2][..]), ("g", 9, &[3]), ("never run", 20, &[4])];
        check([&base, &[("f", 1, &[1, 2]), ("g", 9, &[3]), ("never run", 20, &[5])]], Some((2, &[])));
        check([&base, &[("f", 1, &[1, 7]), ("g", 9, &[3])]], Some((2, &["f"])));
        check([&base, &[("f", 1, &[1, 2])]], Some((2, &["g"])));
    }

    #[test]
    fn nothing_is_told_of_programs_that_are_laid_out_otherwise() {
        check([&[("f", 1, &[1])], &[("f", 2, &[1])]], None);
        check([&[("h", 1, &[1])], &[("h", 1, &[1])]], None);
    }

    #[test]
    fn functions_of_a_program_are_read_and_of_anything_else_not() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(functions(&own).unwrap().len() > 100);
        assert!(functions(b"no program").is_none());
    }
}
