//! A test binary as its sections, and the bytes of them that count.
//!
//! All that is loaded into memory counts, byte for byte and at the same address, but for what the rules below name. A
//! section that no rule names counts, so that what a later release of Go adds is compared until somebody has looked at it.
//! Bytes that a rule leaves out cannot be reached unseen: a reference to anything that moved is itself a byte that counts.

use std::ops::Range;

use memchr::memmem;
use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SectionFlags, SectionType};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use super::lines::{self, LineTable};

/// Go's line table: which function, file and line a program counter belongs to, and beside it what the collector and the
/// growing of stacks need.
const LINES: &str = ".gopclntab";

/// Way to compare a section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Equal bytes at an equal address.
    Counts,
    /// Equal bytes anywhere. Only the module data point at these tables, and from Go 1.26 they come after the line table, whose
    /// length depends on line numbers.
    MayMove,
    /// Compared by `lines`, which leaves out names of functions and lines: they are for people who read traces.
    Lines,
    /// Says from what the program was built. No code can reach it but by opening the program as a file.
    Ignored,
}

fn rule(section: &str) -> Rule {
    match section {
        ".note.go.buildid" | ".note.gnu.build-id" => Rule::Ignored,
        ".typelink" | ".itablink" => Rule::MayMove,
        LINES => Rule::Lines,
        _ => Rule::Counts,
    }
}

/// A section that is loaded.
struct Section<'a> {
    name: &'a str,
    address: u64,
    size: u64,
    kind: SectionType,
    flags: SectionFlags,
    /// Empty where memory is only reserved.
    bytes: &'a [u8],
}

impl Section<'_> {
    /// Where an address lies in it. Its end belongs to it, as tables are given by their beginning and their end.
    fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.address).filter(|&offset| offset <= self.size)
    }

    fn runs(&self) -> bool {
        self.flags.0 & SHF_EXECINSTR.0 != 0
    }
}

/// An executable of 64 bits that Go linked.
pub(super) struct Program<'a> {
    /// Kind, processor, entry point, and kind and permissions of every segment.
    head: Vec<u64>,
    endian: Endianness,
    sections: Vec<Section<'a>>,
    file: &'a [u8],
    /// Where `go:func.*` begins, the data that the line table's functions refer to.
    function_data: Option<u64>,
    /// Where the runtime's description of the program lies.
    module_data: Option<Range<u64>>,
}

impl<'a> Program<'a> {
    /// Reads a test binary; fails with the reason why it cannot be compared.
    pub(super) fn parse(file: &'a [u8]) -> Result<Program<'a>, String> {
        let unusable =
            |e: object::Error| format!("the test binary is no ELF file of 64 bits that can be compared: {e}");
        let elf = ElfFile64::<Endianness>::parse(file).map_err(unusable)?;
        let (endian, header) = (elf.endian(), elf.elf_header());
        let mut head = vec![header.e_type(endian).0.into(), header.e_machine(endian).0.into(), elf.entry()];
        for segment in elf.elf_program_headers() {
            head.extend([u64::from(segment.p_type(endian).0), u64::from(segment.p_flags(endian).0)]);
        }
        let mut sections = Vec::new();
        for section in elf.sections() {
            let header = section.elf_section_header();
            let (kind, flags) = (header.sh_type(endian), header.sh_flags(endian));
            if flags.0 & SHF_ALLOC.0 == 0 {
                continue;
            }
            let (name, bytes) = (section.name().map_err(unusable)?, section.data().map_err(unusable)?);
            sections.push(Section { name, address: section.address(), size: section.size(), kind, flags, bytes });
        }
        let mut program = Program { head, endian, sections, file, function_data: None, module_data: None };
        let starts = program.sections.iter().any(|s| s.runs() && s.offset(elf.entry()).is_some());
        if !starts || program.lines().is_none() {
            return Err("the test binary does not say where its code and its line table are".to_owned());
        }
        for symbol in elf.symbols() {
            match symbol.name_bytes() {
                Ok(b"go:func.*") => program.function_data = Some(symbol.address()),
                Ok(b"runtime.firstmoduledata") => {
                    program.module_data = Some(symbol.address()..symbol.address().saturating_add(symbol.size()));
                }
                _ => {}
            }
        }
        Ok(program)
    }

    fn lines(&self) -> Option<&Section<'a>> {
        self.sections.iter().find(|s| s.name == LINES)
    }

    /// Whether data that code may refer to, such as the text of string constants, hold these bytes.
    pub(super) fn data_hold(&self, text: &[u8]) -> bool {
        let finder = memmem::Finder::new(text);
        self.data().any(|bytes| finder.find(bytes).is_some())
    }

    /// Whether they hold these bytes anywhere else than before those others.
    pub(super) fn data_hold_but_before(&self, text: &[u8], next: &[u8]) -> bool {
        let finder = memmem::Finder::new(text);
        self.data().any(|bytes| finder.find_iter(bytes).any(|at| !bytes[at + text.len()..].starts_with(next)))
    }

    fn data(&self) -> impl Iterator<Item = &'a [u8]> {
        self.sections.iter().filter(|s| !s.runs() && rule(s.name) != Rule::Lines).map(|s| s.bytes)
    }

    /// Whether a function was linked, by the beginning of its name.
    pub(super) fn links(&self, function: &str) -> bool {
        memmem::find(self.file, function.as_bytes()).is_some()
    }

    /// The bytes from an address on to the end of its section.
    fn bytes_at(&self, address: u64) -> Option<&'a [u8]> {
        self.sections.iter().find_map(|s| {
            let offset = usize::try_from(s.offset(address)?).ok()?;
            s.bytes.get(offset..).filter(|rest| !rest.is_empty())
        })
    }

    /// The line table, where it has the form that `lines` knows.
    fn line_table(&self) -> Option<LineTable<'a>> {
        let (section, data) = (self.lines()?, self.function_data?);
        LineTable::parse(section.bytes, self.bytes_at(data)?, self.endian)
    }
}

/// Fails with the first difference that running code could see.
pub(super) fn compare(baseline: &Program<'_>, candidate: &Program<'_>) -> Result<(), String> {
    if baseline.head != candidate.head || baseline.sections.len() != candidate.sections.len() {
        return Err("the two test binaries are made up differently".to_owned());
    }
    let free = free_bytes([baseline, candidate]);
    for (a, b) in baseline.sections.iter().zip(&candidate.sections) {
        if (a.name, a.kind, a.flags) != (b.name, b.kind, b.flags) {
            return Err(format!("`{}` is in the place of `{}`", b.name, a.name));
        }
        let equal = match (rule(a.name), &free) {
            (Rule::Ignored, _) => true,
            // The table itself was compared for the sake of `free`; what it says on lines is free.
            (Rule::Lines, Some(_)) => true,
            (Rule::MayMove, Some(_)) => a.size == b.size && a.bytes == b.bytes,
            (_, free) => {
                let free = free.as_deref().unwrap_or_default();
                (a.address, a.size) == (b.address, b.size) && equal_but(a, b, free)
            }
        };
        if !equal {
            return Err(format!("`{}` differs", a.name));
        }
    }
    Ok(())
}

/// Addresses outside the line table whose bytes follow from names, lines or the length of tables that may move, in order.
/// Absent when the line tables differ in more, or are not understood; then nothing is free, and equality must be exact.
fn free_bytes(programs: [&Program<'_>; 2]) -> Option<Vec<Range<u64>>> {
    let [a, b] = programs;
    let start = a.function_data.filter(|_| a.module_data == b.module_data)?;
    let inside = a.lines()?.offset(start).is_some();
    if inside != b.lines()?.offset(b.function_data?).is_some() {
        return None;
    }
    let from_inlining = lines::compare(&a.line_table()?, &b.line_table()?, inside)?;
    let mut free = Vec::new();
    // Inside the line table they were left out already.
    if !inside {
        if b.function_data != Some(start) {
            return None;
        }
        let absolute = |r: Range<u64>| Some(start.checked_add(r.start)?..start.checked_add(r.end)?);
        free.extend(from_inlining.into_iter().filter_map(absolute));
    }
    free.extend(free_module_data(programs)?);
    free.sort_by_key(|r| r.start);
    Some(free)
}

/// The words of the module data that say where tables are that may move, and how long the line table's parts are.
fn free_module_data(programs: [&Program<'_>; 2]) -> Option<Vec<Range<u64>>> {
    let range = programs[0].module_data.clone()?;
    let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
    let words = |program: &Program<'_>| -> Option<Vec<u64>> {
        let bytes = program.bytes_at(range.start)?.get(..length)?;
        Some(bytes.chunks_exact(8).map(|word| lines::word(word, program.endian)).collect())
    };
    let [a, b] = [words(programs[0])?, words(programs[1])?];
    let mut free = vec![false; a.len()];
    for at in 0..a.len() {
        for (s, t) in programs[0].sections.iter().zip(&programs[1].sections) {
            let (Some(before), Some(after)) = (s.offset(a[at]), t.offset(b[at])) else { continue };
            match rule(s.name) {
                Rule::MayMove if before == after => free[at] = true,
                Rule::Lines => {
                    free[at] = true;
                    // A slice: its length and its capacity follow its beginning.
                    let slice = |words: &[u64], size: u64| {
                        let Some(&[length, capacity]) = words.get(at + 1..at + 3) else { return false };
                        length == capacity && length <= size
                    };
                    if slice(&a, s.size) && slice(&b, t.size) {
                        free[at + 1..at + 3].fill(true);
                    }
                }
                _ => {}
            }
        }
    }
    let address = |at: usize| range.start + 8 * at as u64;
    Some((0..a.len()).filter(|&at| free[at]).map(|at| address(at)..address(at + 1)).collect())
}

/// Whether two sections at the same address hold the same bytes, but for what is free.
fn equal_but(a: &Section<'_>, b: &Section<'_>, free: &[Range<u64>]) -> bool {
    let inside = |r: &Range<u64>| Some(a.offset(r.start)?..a.offset(r.end)?);
    let free: Vec<Range<u64>> = free.iter().filter_map(inside).collect();
    lines::equal_but(a.bytes, b.bytes, &free)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tool::Tool;

    /// A small program; its line table is as that of any test binary.
    fn program(place: &Path) -> Vec<u8> {
        std::fs::write(place.join("main.go"), "package main\n\nfunc main() { println(1) }\n").unwrap();
        let args = ["build", "-trimpath", "-buildvcs=false", "-o", "main", "main.go"];
        Tool::new("go", args, place).env("GOFLAGS", "").text().unwrap();
        std::fs::read(place.join("main")).unwrap()
    }

    /// Numbers that look random and are the same each time.
    fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        }
    }

    fn verdict(a: &[u8], b: &[u8]) -> Result<(), String> {
        compare(&Program::parse(a)?, &Program::parse(b)?)
    }

    #[test]
    fn broken_binaries_are_different_and_break_nothing() {
        let place = tempfile::tempdir().unwrap();
        let whole = program(place.path());
        assert_eq!(verdict(&whole, &whole), Ok(()));
        let mut number = numbers(1);
        let base = Program::parse(&whole).unwrap();
        let lines = base.lines().unwrap();
        let table = lines.bytes.as_ptr() as usize - whole.as_ptr() as usize;
        for _ in 0..2000 {
            let cut = &whole[..number(table + lines.bytes.len())];
            assert!(Program::parse(cut).is_err(), "{} bytes", cut.len());
        }
        let headers = usize::try_from(word(&whole, 40)).unwrap();
        let zones = [0..64, 64..1024, headers..headers + 2048, table..table + 72, table..table + lines.bytes.len()];
        let mut broken = whole.clone();
        for n in 0..1000 {
            let zone = &zones[n % zones.len()];
            let changed: Vec<usize> = (0..=number(4)).map(|_| zone.start + number(zone.len())).collect();
            for &at in &changed {
                broken[at] = u8::try_from(number(256)).unwrap();
            }
            let _ = verdict(&whole, &broken);
            for &at in &changed {
                broken[at] = whole[at];
            }
        }
    }

    fn word(file: &[u8], at: usize) -> u64 {
        lines::word(&file[at..at + 8], Endianness::Little)
    }

    #[test]
    fn every_byte_that_is_loaded_counts() {
        let place = tempfile::tempdir().unwrap();
        let whole = program(place.path());
        let base = Program::parse(&whole).unwrap();
        let mut number = numbers(2);
        let mut changed = whole.clone();
        for section in base.sections.iter().filter(|s| [".text", ".data", ".typelink", ".itablink"].contains(&s.name)) {
            let start = section.bytes.as_ptr() as usize - whole.as_ptr() as usize;
            for _ in 0..10 {
                let at = start + number(section.bytes.len());
                changed[at] ^= 1 << number(8);
                assert_eq!(verdict(&whole, &changed), Err(format!("`{}` differs", section.name)));
                changed[at] = whole[at];
            }
        }
    }

    #[test]
    fn what_the_collector_reads_counts_and_lines_do_not() {
        let place = tempfile::tempdir().unwrap();
        let whole = program(place.path());
        let base = Program::parse(&whole).unwrap();
        let table = base.lines().unwrap().bytes;
        let start = table.as_ptr() as usize - whole.as_ptr() as usize;
        let head = |n: usize| usize::try_from(word(table, 8 + 8 * n)).unwrap();
        let (index, values) = (head(7), head(6));
        let half = |at: usize| u32::from_le_bytes(table[at..at + 4].try_into().unwrap()) as usize;
        let record = index + half(index + 8 * 100 + 4);
        // Fields of `_func`, of the hundredth function.
        for (field, counts) in
            [(1, false), (2, true), (3, true), (5, false), (6, false), (8, false), (9, false), (10, true)]
        {
            let mut changed = whole.clone();
            changed[start + record + 4 * field] ^= 1;
            assert_eq!(verdict(&whole, &changed).is_err(), counts, "field {field}");
        }
        // The first value of a table: how far the stack has grown, and the line.
        for (field, counts) in [(4, true), (6, false)] {
            let mut changed = whole.clone();
            changed[start + values + half(record + 4 * field)] ^= 4;
            assert_eq!(verdict(&whole, &changed).is_err(), counts, "table {field}");
        }
    }
}
