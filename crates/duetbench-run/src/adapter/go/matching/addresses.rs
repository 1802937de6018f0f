//! Whether two programs are laid out alike.

use std::fs;
use std::path::Path;

use object::{File, Object, ObjectKind};

use crate::machine_code::{self, Function, Functions};

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
    let common = || a.iter().filter_map(|(name, at)| Some((name, at, b.get(name)?)));
    // If one program has a name more often, the other's addresses of it must all be among the first one's.
    let is_elsewhere = |at: &[Function<'_>], other: &[Function<'_>]| {
        let (fewer, more) = if at.len() <= other.len() { (at, other) } else { (other, at) };
        fewer.iter().any(|one| more.iter().all(|another| another.address != one.address))
    };
    let elsewhere: Vec<&[u8]> =
        common().filter(|(_, at, other)| is_elsewhere(at, other)).map(|(name, ..)| *name).collect();
    match elsewhere.iter().min() {
        None => Ok(()),
        Some(first) => Err(format!(
            "{} of {} common functions lie elsewhere, such as `{}`",
            elsewhere.len(),
            common().count(),
            String::from_utf8_lossy(first)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_cannot_be_read_is_not_alike() {
        assert!(functions(b"no program").unwrap_err().contains("ELF"));
    }
}
