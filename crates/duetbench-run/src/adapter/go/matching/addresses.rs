//! Whether two programs are laid out alike.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use object::{File, Object, ObjectKind};

use crate::machine_code::{self, Functions};

/// Fails unless every function that both programs have lies at the same address in both, with the reason.
pub(crate) fn check_alike(programs: [&Path; 2]) -> Result<(), String> {
    let read = |path: &Path| fs::read(path).map_err(|e| format!("`{}` cannot be read: {e}", path.display()));
    let [a, b] = [read(programs[0])?, read(programs[1])?];
    compare(&functions(&a)?, &functions(&b)?)
}

fn functions(file: &[u8]) -> Result<Functions<'_>, String> {
    let unusable = |e: object::Error| format!("a program is no ELF file: {e}");
    let program = File::parse(file).map_err(unusable)?;
    let functions = machine_code::functions(&program).map_err(unusable)?;
    if functions.is_empty() {
        return Err("a program has no symbol table to check its layout by".to_owned());
    }
    if !program.is_64() {
        return Err("a program has 32 bits".to_owned());
    }
    if program.kind() != ObjectKind::Executable {
        return Err("a program is position-independent".to_owned());
    }
    Ok(functions)
}

/// Fails with one function that lies elsewhere, and how many there are.
fn compare(a: &Functions<'_>, b: &Functions<'_>) -> Result<(), String> {
    let [a, b] = [by_name(a), by_name(b)];
    let common = || a.iter().filter_map(|(name, at)| Some((name, at, b.get(name)?)));
    // If one program has a name more often, the other's addresses of it must all be among the first one's.
    let is_elsewhere = |at: &[u64], other: &[u64]| {
        let (fewer, more) = if at.len() <= other.len() { (at, other) } else { (other, at) };
        fewer.iter().any(|one| !more.contains(one))
    };
    let mut elsewhere = common().filter(|(_, at, other)| is_elsewhere(at, other)).map(|(name, ..)| name);
    match elsewhere.next() {
        None => Ok(()),
        Some(first) => Err(format!(
            "{} of {} common functions lie elsewhere, such as `{}`",
            1 + elsewhere.count(),
            common().count(),
            String::from_utf8_lossy(first)
        )),
    }
}

/// Addresses by name, where names that the compiler counts are one: it counts anew in every version. The system's linker puts code
/// that starts a program, and what of C is seldom run, in front of Go's: that is left out.
fn by_name<'a>(functions: &Functions<'a>) -> BTreeMap<Cow<'a, [u8]>, Vec<u64>> {
    let start = functions.get(&b"runtime.text"[..]).and_then(|all| all.first()).map_or(0, |first| first.address);
    let mut all: BTreeMap<Cow<'a, [u8]>, Vec<u64>> = BTreeMap::new();
    for (&name, functions) in functions {
        let addresses = functions.iter().map(|function| function.address).filter(|address| *address >= start);
        all.entry(unnumbered(name)).or_default().extend(addresses);
    }
    all
}

/// A name with # for every number in it that may be counted, as `duetUnnumbered` in `hooks/go/linker/inventory.go` has it.
fn unnumbered(name: &[u8]) -> Cow<'_, [u8]> {
    let counted = name.iter().any(u8::is_ascii_digit) && !name.starts_with(b"type:") && !name.starts_with(b"go:");
    if !counted {
        return name.into();
    }
    let stretches = name.chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit());
    let without = stretches.flat_map(|stretch| if stretch[0].is_ascii_digit() { b"#" } else { stretch });
    without.copied().collect::<Vec<u8>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_code::Function;

    fn check(a: &[(&'static str, &[u64])], b: &[(&'static str, &[u64])], expected: Result<(), &str>) {
        let table = |side: &[(&'static str, &[u64])]| -> Functions<'static> {
            let function = |address: &u64| Function { address: *address, code: &[] };
            side.iter().map(|(name, at)| (name.as_bytes(), at.iter().map(function).collect())).collect()
        };
        assert_eq!(compare(&table(a), &table(b)), expected.map_err(String::from));
    }

    #[test]
    fn functions_that_both_have_must_be_at_the_same_address() {
        check(&[("f", &[1]), ("old", &[2])], &[("f", &[1]), ("new", &[3])], Ok(()));
        let elsewhere = "1 of 2 common functions lie elsewhere, such as `g`";
        check(&[("f", &[1]), ("g", &[2])], &[("f", &[1]), ("g", &[3])], Err(elsewhere));
    }

    #[test]
    fn functions_of_one_name_are_all_compared() {
        check(&[("f", &[1, 5])], &[("f", &[5])], Ok(()));
        check(&[("f", &[1, 5])], &[("f", &[1, 6])], Err("1 of 1 common functions lie elsewhere, such as `f`"));
    }

    #[test]
    fn what_lies_in_front_of_go_s_code_is_not_compared() {
        check(&[("_start", &[3]), ("runtime.text", &[8])], &[("_start", &[4]), ("runtime.text", &[8])], Ok(()));
        let elsewhere = "1 of 2 common functions lie elsewhere, such as `f`";
        check(&[("runtime.text", &[8]), ("f", &[8])], &[("runtime.text", &[8]), ("f", &[9])], Err(elsewhere));
    }

    #[test]
    fn functions_that_the_compiler_counts_may_have_other_numbers() {
        let old = [("p.F.func1", &[1][..]), ("p.F.func2", &[2])];
        check(&old, &[("p.F.func1", &[7]), ("p.F.func2", &[1]), ("p.F.func3", &[2])], Ok(()));
        let elsewhere = "1 of 1 common functions lie elsewhere, such as `p.F.func#`";
        check(&old, &[("p.F.func1", &[7]), ("p.F.func2", &[2])], Err(elsewhere));
        check(&[("type:.eq.[2]int", &[1])], &[("type:.eq.[3]int", &[2])], Ok(()));
    }

    #[test]
    fn what_cannot_be_read_is_not_alike() {
        assert!(functions(b"no program").unwrap_err().contains("ELF"));
    }
}
