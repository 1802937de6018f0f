//! Matched layouts: both halves of a build pair have the functions that both versions have, with the same size, at the same places of
//! their code, in an order that is drawn anew for every build pair.
//!
//! LLD puts functions into the order of a file. Those of equal size come first, in one order for both halves; the rest follows. Programs
//! are position-independent: where their code begins in memory is drawn for every process, by whole pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::{File, Object, ObjectSection};
use sha2::{Digest, Sha256};

use crate::adapter::hex;
use crate::machine_code;

const PAGE: u64 = 4096;

/// A function of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Function {
    /// Its distance from the beginning of the code.
    at: u64,
    size: u64,
}

/// Functions whose name no other one has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Functions {
    /// The place of the code within its page.
    start: u64,
    by_name: BTreeMap<Vec<u8>, Function>,
}

impl Functions {
    fn of(program: &Path) -> Result<Functions, String> {
        let file = fs::read(program).map_err(|e| format!("`{}` cannot be read: {e}", program.display()))?;
        Functions::parse(&file)
    }

    fn parse(file: &[u8]) -> Result<Functions, String> {
        let unusable = |e: object::Error| format!("a program cannot be read: {e}");
        let program = File::parse(file).map_err(unusable)?;
        let code = program.section_by_name(".text").ok_or("a program has no code")?;
        let within = code.address()..code.address().saturating_add(code.size());
        let placed = |(name, all): (&[u8], Vec<machine_code::Function<'_>>)| match all[..] {
            [only] if within.contains(&only.address) => {
                let function = Function { at: only.address - code.address(), size: only.code.len() as u64 };
                Some((name.to_vec(), function))
            }
            _ => None,
        };
        let by_name: BTreeMap<_, _> =
            machine_code::functions(&program).map_err(unusable)?.into_iter().filter_map(placed).collect();
        if by_name.is_empty() {
            return Err("a program has no symbol table to match it by (`strip` in its profile?)".to_owned());
        }
        Ok(Functions { start: code.address() % PAGE, by_name })
    }

    /// Names that both have, with their functions.
    fn common<'a>(&'a self, other: &'a Functions) -> impl Iterator<Item = (&'a Vec<u8>, [Function; 2])> {
        self.by_name.iter().filter_map(|(name, function)| Some((name, [*function, *other.by_name.get(name)?])))
    }
}

/// Names the functions that both programs have, below `place`: first those of equal size, then after an empty line the others. Fails
/// with the reason in words.
pub(super) fn plan(programs: [&Path; 2], place: &Path) -> Result<PathBuf, String> {
    let [a, b] = [Functions::of(programs[0])?, Functions::of(programs[1])?];
    let mut text = [Vec::new(), Vec::new()];
    for (name, [a, b]) in a.common(&b).filter(|(name, _)| !name.contains(&b'\n')) {
        let group = &mut text[usize::from(a.size != b.size)];
        group.extend_from_slice(name);
        group.push(b'\n');
    }
    let text = text.join(&b'\n');
    let path = place.join(format!("{}.plan", &hex(&Sha256::digest(&text))[..16]));
    fs::write(&path, text).map_err(|e| e.to_string())?;
    Ok(path)
}

/// The order file of a plan and a seed, a name a line.
pub(super) fn order(plan: &[u8], seed: u32) -> Vec<u8> {
    let lines: Vec<&[u8]> = plan.split(|byte| *byte == b'\n').collect();
    let end = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
    let (alike, others) = lines.split_at(end);
    let mut alike: Vec<&[u8]> = alike.to_vec();
    alike.sort_by_cached_key(|name| Sha256::digest([&seed.to_le_bytes(), *name].concat()));
    alike.extend(others.iter().filter(|line| !line.is_empty()));
    alike.join(&b'\n')
}

/// Fails unless the functions of equal size lie at the same places in both programs, with the reason.
pub(super) fn check_alike(programs: [&Path; 2]) -> Result<(), String> {
    compare(&Functions::of(programs[0])?, &Functions::of(programs[1])?)
}

fn compare(a: &Functions, b: &Functions) -> Result<(), String> {
    if a.start != b.start {
        return Err(format!("code begins at {} of a page in one program and at {} in the other", a.start, b.start));
    }
    let alike: Vec<_> = a.common(b).filter(|(_, [a, b])| a.size == b.size).collect();
    let mut elsewhere = alike.iter().filter(|(_, [a, b])| a.at != b.at).peekable();
    match elsewhere.peek() {
        None => Ok(()),
        Some((first, _)) => {
            let first = String::from_utf8_lossy(first).into_owned();
            Err(format!("{} of {} functions lie elsewhere, such as `{first}`", elsewhere.count(), alike.len()))
        }
    }
}

/// Reads any bytes as a program: what is found of it is alike to itself.
#[cfg(any(fuzzing, debug_assertions))]
pub(super) fn fuzz(program: &[u8]) {
    if let Ok(functions) = Functions::parse(program) {
        assert_eq!(compare(&functions, &functions), Ok(()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(start: u64, of: &[(&str, u64, u64)]) -> Functions {
        let by_name = of.iter().map(|(name, at, size)| (name.as_bytes().to_vec(), Function { at: *at, size: *size }));
        Functions { start, by_name: by_name.collect() }
    }

    #[test]
    fn functions_of_equal_size_must_lie_at_the_same_place() {
        let a = functions(0, &[("f", 0, 16), ("grown", 64, 16), ("old", 96, 8)]);
        assert_eq!(compare(&a, &functions(0, &[("f", 0, 16), ("grown", 32, 48), ("new", 16, 8)])), Ok(()));
        let moved = compare(&a, &functions(0, &[("f", 32, 16), ("old", 96, 8)])).unwrap_err();
        assert_eq!(moved, "1 of 2 functions lie elsewhere, such as `f`");
        assert!(compare(&a, &functions(16, &[("f", 0, 16)])).unwrap_err().contains("begins at 0"));
        assert!(Functions::parse(b"no program").unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn orders_differ_by_seed_and_keep_the_others_last() {
        let plan = b"a\nb\nc\nd\ne\n\nz\ny\n";
        let orders: Vec<String> = (0..9).map(|seed| String::from_utf8(order(plan, seed)).unwrap()).collect();
        assert!(orders.iter().all(|order| order.ends_with("\nz\ny") && order.len() == 13), "{orders:?}");
        assert!(orders.iter().any(|order| *order != orders[0]) && order(plan, 3) == order(plan, 3));
    }
}
