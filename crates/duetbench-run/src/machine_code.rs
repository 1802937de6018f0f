//! Machine code of functions, and whether it is the same in two programs that are laid out alike.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use duetbench_core::instructions::ExecutedCode;
use object::{File, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// A function in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function<'a> {
    /// Its address.
    pub(crate) address: u64,
    /// Its bytes; none where the program does not say how many there are.
    pub(crate) code: &'a [u8],
}

/// Functions by name; a name may have several, in ascending order of their addresses.
pub(crate) type Functions<'a> = HashMap<&'a [u8], Vec<Function<'a>>>;

/// The functions of a program.
///
/// # Errors
/// When its table of symbols cannot be used.
pub(crate) fn functions<'a>(program: &File<'a>) -> object::Result<Functions<'a>> {
    let mut functions = Functions::new();
    for symbol in program.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.address() != 0) {
        let section = symbol.section_index().map(|index| program.section_by_index(index)).transpose()?;
        let code = section.map(|section| section.data_range(symbol.address(), symbol.size())).transpose()?.flatten();
        let function = Function { address: symbol.address(), code: code.unwrap_or_default() };
        functions.entry(symbol.name_bytes()?).or_default().push(function);
    }
    functions.values_mut().for_each(|all| all.sort_unstable());
    Ok(functions)
}

/// The place of what a program may write to, by name, but for names with a number, which may be one that the compiler counts.
fn variables<'a>(program: &File<'a>) -> HashMap<&'a [u8], u64> {
    let writable = |symbol: &object::Symbol<'a, '_>| {
        let section = symbol.section_index().and_then(|index| program.section_by_index(index).ok());
        section.is_some_and(|section| matches!(section.kind(), SectionKind::Data | SectionKind::UninitializedData))
    };
    let symbols = program.symbols().filter(|symbol| symbol.kind() == SymbolKind::Data && writable(symbol));
    let places = symbols.filter_map(|symbol| Some((symbol.name_bytes().ok()?, symbol.address())));
    places.filter(|(name, _)| !name.iter().any(u8::is_ascii_digit)).collect()
}

/// Two functions of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kinship {
    /// They have the same code.
    Same,
    /// They have not, or one program has none.
    Different,
    /// They lie elsewhere, or differ where data do. Code names other code and data by addresses, so equal bytes mean equal code only at
    /// equal addresses, and say nothing here.
    Elsewhere,
}

impl Kinship {
    fn of(baseline: &[Function<'_>], candidate: &[Function<'_>], data_alike: bool) -> Kinship {
        let addresses = |all: &[Function<'_>]| all.iter().map(|function| function.address).collect::<Vec<_>>();
        if baseline == candidate {
            Kinship::Same
        } else if baseline.len() == candidate.len() && !(data_alike && addresses(baseline) == addresses(candidate)) {
            Kinship::Elsewhere
        } else {
            Kinship::Different
        }
    }
}

/// The functions of two programs beside each other.
#[derive(Debug)]
pub(crate) struct Comparison {
    by_name: HashMap<String, Kinship>,
}

impl Comparison {
    /// Compares the functions of two programs, the baseline's first; absent where one cannot be read.
    pub(crate) fn of(programs: [&Path; 2]) -> Option<Comparison> {
        let [baseline, candidate] = programs.map(|path| fs::read(path).ok());
        let (baseline, candidate) = (baseline?, candidate?);
        let (baseline, candidate) = (File::parse(&baseline[..]).ok()?, File::parse(&candidate[..]).ok()?);
        let [ours, theirs] = [&baseline, &candidate].map(variables);
        let data_alike = ours.iter().all(|(name, at)| theirs.get(name).is_none_or(|other| at == other));
        Some(Comparison::between([&functions(&baseline).ok()?, &functions(&candidate).ok()?], data_alike))
    }

    fn between([baseline, candidate]: [&Functions<'_>; 2], data_alike: bool) -> Comparison {
        let mut by_name = HashMap::new();
        let only_candidate = candidate.keys().filter(|name| !baseline.contains_key(*name));
        for name in baseline.keys().chain(only_candidate) {
            let [ours, theirs] = [baseline, candidate].map(|program| with_code(program, name));
            if !(ours.is_empty() && theirs.is_empty()) {
                by_name.insert(String::from_utf8_lossy(name).into_owned(), Kinship::of(&ours, &theirs, data_alike));
            }
        }
        Comparison { by_name }
    }

    /// Whether each of these functions has the same code in both programs; absent where one lies elsewhere. A function that neither has
    /// belongs to the system, and is the same for both. Absent too where a compiler encoded names: callgrind tells those in another form, so
    /// that every function would pass for one of the system.
    pub(crate) fn executed(&self, names: &BTreeSet<&str>) -> Option<ExecutedCode> {
        if self.by_name.keys().any(|name| is_encoded(name)) {
            return None;
        }
        let (mut functions, mut differing) = (0, Vec::new());
        for name in names {
            match self.by_name.get(*name) {
                None => continue,
                Some(Kinship::Elsewhere) => return None,
                Some(Kinship::Different) => differing.push(*name),
                Some(Kinship::Same) => {}
            }
            functions += 1;
        }
        (functions > 0).then(|| ExecutedCode::new(functions, differing))
    }
}

/// Whether a name holds the path of a function of Rust or C++.
fn is_encoded(name: &str) -> bool {
    ["_ZN", "_RNv", "_RIN"].iter().any(|start| name.starts_with(start))
}

/// The functions of this name whose code is known.
fn with_code<'a>(program: &Functions<'a>, name: &[u8]) -> Vec<Function<'a>> {
    let all = program.get(name).into_iter().flatten();
    all.filter(|function| !function.code.is_empty()).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Program = [(&'static str, u64, &'static [u8])];

    fn check(sides: [&Program; 2], want: Option<(usize, &[&str])>) {
        check_with(true, sides, want);
    }

    fn check_with(data_alike: bool, sides: [&Program; 2], want: Option<(usize, &[&str])>) {
        let [a, b] = sides.map(|side| {
            let mut functions = Functions::new();
            for (name, address, code) in side {
                functions.entry(name.as_bytes()).or_default().push(Function { address: *address, code });
            }
            functions
        });
        let names = BTreeSet::from(["f", "g", "of the system"]);
        let found =
            Comparison::between([&a, &b], data_alike).executed(&names).map(|code| (code.functions, code.listed));
        assert_eq!(found, want.map(|(n, listed)| (n, listed.iter().map(|name| (*name).to_owned()).collect())));
    }

    #[test]
    fn encoded_names_are_known() {
        let encoded = [
            "_ZN5tally4fold17h0123456789abcdefE", "_RNvCs4fqI2P2rA04_5tally4fold", "_RINvNtC3std3mem8align_ofdEC5tally",
        ];
        assert!(encoded.iter().all(|name| is_encoded(name)));
        assert!(!["main", "memcpy", "example.com/_ZN.F", "_Reset"].iter().any(|name| is_encoded(name)));
    }

    #[test]
    fn functions_differ_by_their_code_or_by_being_alone() {
        let base = [("f", 1, &[1, 2][..]), ("g", 9, &[3]), ("never run", 20, &[4])];
        check([&base, &[("f", 1, &[1, 2]), ("g", 9, &[3]), ("never run", 20, &[5])]], Some((2, &[])));
        check([&base, &[("f", 1, &[1, 2]), ("g", 9, &[3]), ("never run", 21, &[4])]], Some((2, &[])));
        check([&base, &[("f", 1, &[1, 7]), ("g", 9, &[3])]], Some((2, &["f"])));
        check([&base, &[("f", 1, &[1, 2])]], Some((2, &["g"])));
    }

    #[test]
    fn nothing_is_told_of_programs_that_are_laid_out_otherwise() {
        check([&[("f", 1, &[1])], &[("f", 2, &[1])]], None);
        check([&[("h", 1, &[1])], &[("h", 1, &[1])]], None);
        check([&[("f", 1, &[])], &[("f", 1, &[])]], None);
    }

    #[test]
    fn code_that_differs_tells_nothing_where_data_lie_elsewhere() {
        check_with(false, [&[("f", 1, &[1])], &[("f", 1, &[2])]], None);
        check_with(false, [&[("f", 1, &[1])], &[("f", 1, &[1])]], Some((1, &[])));
    }

    #[test]
    fn functions_of_a_program_are_read_and_of_anything_else_not() {
        let own = std::env::current_exe().unwrap();
        let whole = Comparison::of([&own, &own]).unwrap();
        let functions = whole.by_name.values().filter(|kinship| **kinship == Kinship::Same).count();
        assert!(functions > 100 && functions == whole.by_name.len());
        assert!(Comparison::of([&own, Path::new("/etc/passwd")]).is_none());
    }
}
