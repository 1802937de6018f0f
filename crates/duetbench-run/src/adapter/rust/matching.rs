//! Matched layouts: both halves of a build pair have the functions that both versions have, with the same size, at the same places of
//! their code, in an order that is drawn anew for every build pair; the others in an order and from a place that are drawn too.
//!
//! LLD puts functions into the order of a file. Those of equal size come first, in one order for both halves; then a gap, and the rest. Programs
//! are position-independent: where their code begins in memory is drawn for every process, by whole pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use object::{File, Object, ObjectSection};
use regex::bytes::Regex;
use sha2::{Digest, Sha256};

use crate::adapter::hex;
use crate::machine_code;

const PAGE: u64 = 4096;
/// Functions begin at multiples of so many bytes.
const ALIGNMENT: u64 = 16;
/// The name of the gap between functions of equal size and the others.
pub(super) const GAP: &str = "duet_gap";

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

    /// Functions that both have, by their names in each: the same ones, or the only ones that differ in nothing but marks of the crate's
    /// version, which also has those of all that it depends on.
    fn common<'a>(&'a self, other: &'a Functions) -> Vec<[(&'a [u8], Function); 2]> {
        let only_in = |own: &'a Functions, other: &Functions| {
            let mut found: BTreeMap<Vec<u8>, Option<(&'a [u8], Function)>> = BTreeMap::new();
            for (name, function) in own.by_name.iter().filter(|(name, _)| !other.by_name.contains_key(*name)) {
                let only = Some((name.as_slice(), *function));
                found.entry(unmarked(name)).and_modify(|several| *several = None).or_insert(only);
            }
            found
        };
        let others = only_in(other, self);
        let renamed = only_in(self, other).into_iter().filter_map(|(name, own)| Some([own?, (*others.get(&name)?)?]));
        let same = self.by_name.iter().filter_map(|(name, function)| {
            let name = name.as_slice();
            Some([(name, *function), (name, *other.by_name.get(name)?)])
        });
        let mut common: Vec<_> = same.collect();
        common.extend(renamed);
        common
    }
}

/// A symbol without the marks of its crate's version: `17h` and 16 digits at its end, or `s…_` after the `C` of a crate
/// (RFC 2603, *disambiguator*); and without LLVM's of the unit that a function is local to, which any change in the unit alters.
fn unmarked(symbol: &[u8]) -> Vec<u8> {
    static MARKS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"17h[0-9a-f]{16}E|Cs[0-9a-zA-Z]*_|\.llvm\.[0-9]+$").ok());
    let Some(marks) = &*MARKS else { return symbol.to_vec() };
    marks.replace_all(symbol, &b""[..]).into_owned()
}

/// Names the functions of both programs, below `place`, those of two names with a tab between: first those of equal size, then after an
/// empty line the others. Fails with the reason in words.
pub(super) fn plan(programs: [&Path; 2], place: &Path) -> Result<PathBuf, String> {
    let [a, b] = [Functions::of(programs[0])?, Functions::of(programs[1])?];
    let text = planned(&a, &b);
    let path = place.join(format!("{}.plan", &hex(&Sha256::digest(&text))[..16]));
    fs::write(&path, text).map_err(|e| e.to_string())?;
    Ok(path)
}

fn planned(a: &Functions, b: &Functions) -> Vec<u8> {
    let (mut alike, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut paired: BTreeSet<&[u8]> = BTreeSet::new();
    for [(name, own), (other_name, other)] in a.common(b) {
        paired.extend([name, other_name]);
        let line = if name == other_name { name.to_vec() } else { [name, other_name].join(&b'\t') };
        let group = if own.size == other.size { &mut alike } else { &mut others };
        group.insert(line);
    }
    let single = a.by_name.keys().chain(b.by_name.keys()).filter(|name| !paired.contains(name.as_slice()));
    others.extend(single.cloned());
    let lines = |group: BTreeSet<Vec<u8>>| {
        let lines = group.into_iter().filter(|line| !line.contains(&b'\n')).map(|line| [line, b"\n".to_vec()].concat());
        lines.collect::<Vec<_>>().concat()
    };
    [lines(alike), lines(others)].join(&b'\n')
}

/// The order file of a plan and a seed, a name a line.
pub(super) fn order(plan: &[u8], seed: u32) -> Vec<u8> {
    let lines: Vec<&[u8]> = plan.split(|byte| *byte == b'\n').collect();
    let end = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
    let (alike, others) = lines.split_at(end);
    let drawn = |group: &[&[u8]]| {
        let mut names: Vec<&[u8]> = group.iter().copied().filter(|line| !line.is_empty()).collect();
        names.sort_by_cached_key(|name| draw(seed, name));
        names.join(&b'\n')
    };
    let text = [&drawn(alike), GAP.as_bytes(), &drawn(others)].join(&b'\n');
    text.into_iter().map(|byte| if byte == b'\t' { b'\n' } else { byte }).collect()
}

/// Assembly of the gap: in all layouts together the others begin at every place of a page where a function can.
pub(super) fn gap(seed: u32) -> String {
    let [first, ..] = draw(seed, GAP.as_bytes());
    let bytes = (u64::from(first) + 1) * ALIGNMENT;
    format!(
        ".section .text.{GAP},\"ax\",%progbits\n.p2align 4\n.globl {GAP}\n{GAP}:\n.skip {bytes}\n.section .note.GNU-stack,\"\",%progbits\n"
    )
}

fn draw(seed: u32, name: &[u8]) -> [u8; 32] {
    Sha256::digest([&seed.to_le_bytes(), name].concat()).into()
}

/// Fails unless the functions of equal size lie at the same places in both programs, with the reason.
pub(super) fn check_alike(programs: [&Path; 2]) -> Result<(), String> {
    compare(&Functions::of(programs[0])?, &Functions::of(programs[1])?)
}

fn compare(a: &Functions, b: &Functions) -> Result<(), String> {
    if a.start != b.start {
        return Err(format!("code begins at {} of a page in one program and at {} in the other", a.start, b.start));
    }
    let mut alike = a.common(b);
    alike.retain(|[(_, a), (_, b)]| a.size == b.size);
    let mut elsewhere = alike.iter().filter(|[(_, a), (_, b)]| a.at != b.at).peekable();
    match elsewhere.peek() {
        None => Ok(()),
        Some([(first, _), _]) => {
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
    fn functions_of_another_version_of_their_crate_are_the_same_ones() {
        const OLD: [&str; 5] = [
            "_ZN4itoa6format17h0123456789abcdefE", "_RNvCs4fqI2P2rA04_4itoa6format", "_ZN1t3two17h1111111111111111E",
            "_ZN1t3two17h2222222222222222E", "_ZN1t3six17h4444444444444444E.llvm.123",
        ];
        const NEW: [&str; 5] = [
            "_ZN4itoa6format17hfedcba9876543210E",
            "_RNvCs9ltYzMJ6xX_4itoa6format",
            "_ZN1t3two17h3333333333333333E",
            "_ZN1t3two17h2222222222222222E",
            "_ZN1t3six17h4444444444444444E.llvm.98765",
        ];
        let [a, b] = [OLD, NEW].map(|names| functions(0, &names.map(|name| (name, 0, 16))));
        let mut common: Vec<[String; 2]> =
            a.common(&b).iter().map(|both| both.map(|(name, _)| String::from_utf8(name.to_vec()).unwrap())).collect();
        common.sort();
        // The third is `two` of other types, perhaps, and the fourth goes by its name.
        let mut paired: Vec<[String; 2]> = (0..5).map(|i| [OLD[i].to_owned(), NEW[i].to_owned()]).collect();
        paired.sort();
        assert_eq!(common, paired);
        let several = functions(0, &[(NEW[2], 0, 16), ("_ZN1t3two17h4444444444444444E", 16, 16)]);
        assert!(functions(0, &[(OLD[2], 0, 16)]).common(&several).is_empty());
    }

    #[test]
    fn a_plan_names_all_functions_and_its_orders_differ_by_seed() {
        let a = functions(0, &[("a", 0, 16), ("b", 16, 16), ("grown", 32, 16), ("old", 48, 16), ("_R1Cs1_1f", 64, 8)]);
        let b = functions(0, &[("a", 0, 16), ("b", 16, 16), ("grown", 32, 32), ("new", 64, 16), ("_R1Cs2_1f", 80, 8)]);
        let plan = planned(&a, &b);
        assert_eq!(String::from_utf8_lossy(&plan), "_R1Cs1_1f\t_R1Cs2_1f\na\nb\n\ngrown\nnew\nold\n");
        let orders: Vec<String> = (0..9).map(|seed| String::from_utf8(order(&plan, seed)).unwrap()).collect();
        for order in &orders {
            let (alike, others) = order.split_once("\nduet_gap\n").unwrap();
            let sorted = |names: &str| names.lines().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ");
            assert!(alike.contains("_R1Cs1_1f\n_R1Cs2_1f"), "{alike}");
            assert_eq!((sorted(alike).as_str(), sorted(others).as_str()), ("_R1Cs1_1f _R1Cs2_1f a b", "grown new old"));
        }
        let halves = |half: usize| orders.iter().map(|o| o.split("duet_gap").nth(half)).collect::<BTreeSet<_>>().len();
        assert!(halves(0) > 1 && halves(1) > 1 && order(&plan, 3) == order(&plan, 3));
        let gaps: BTreeSet<String> = (0..9).map(gap).collect();
        assert!(gaps.len() > 4, "{gaps:?}");
    }
}
