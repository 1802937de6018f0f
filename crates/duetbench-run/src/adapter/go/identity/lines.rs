//! Go's line table, as releases since 1.20 write it (`runtime/symtab.go`): compared without names of functions, files and
//! lines, but with everything else, because the collector, growing stacks and `recover` read it.
//!
//! Whatever is not as expected makes the answer `None`. So a table of another form proves nothing.

use std::ops::Range;

use object::Endianness;

/// `abi.Go120PCLnTabMagic`.
const MAGIC: u32 = 0xFFFF_FFF1;
/// Length of `_func` without the arrays that follow it.
const FUNCTION_BYTES: usize = 44;
/// `abi.PCDATA_InlTreeIndex`, and `abi.FUNCDATA_InlTree`: which calls were inlined, with the names and lines of the called.
const INLINED_INDEX: usize = 2;
const INLINED_TREE: usize = 3;
/// Length of `runtime.inlinedCall`, and where in it the name and the line are.
const INLINED_BYTES: u64 = 16;
const INLINED_NAME: Range<u64> = 4..8;
const INLINED_LINE: Range<u64> = 12..16;
/// Value in the table where a function has no data of a kind.
const NONE: u32 = u32::MAX;

/// A line table taken apart.
pub(super) struct LineTable<'a> {
    endian: Endianness,
    /// Functions in the order of their addresses.
    functions: usize,
    names: &'a [u8],
    /// Tables of values by program counter.
    values: &'a [u8],
    /// The index of functions, and the functions.
    index: &'a [u8],
    /// Data that functions refer to (`go:func.*`), with whatever follows them.
    data: &'a [u8],
}

/// One function of the table.
struct Function<'a> {
    /// The compared fields of its fixed part.
    fixed: [u32; 5],
    /// Its tables of values by program counter: the growth of its stack, then `PCDATA`.
    tables: Vec<&'a [u8]>,
    /// Where its data are.
    data: Vec<u32>,
    /// Number of calls that were inlined into it.
    inlined: u64,
}

/// Eight bytes as a number; zero if there are not eight.
pub(super) fn word(bytes: &[u8], endian: Endianness) -> u64 {
    let Ok(bytes) = bytes.try_into() else { return 0 };
    match endian {
        Endianness::Little => u64::from_le_bytes(bytes),
        Endianness::Big => u64::from_be_bytes(bytes),
    }
}

fn half(bytes: &[u8], at: usize, endian: Endianness) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(match endian {
        Endianness::Little => u32::from_le_bytes(bytes),
        Endianness::Big => u32::from_be_bytes(bytes),
    })
}

impl<'a> LineTable<'a> {
    /// Takes a section apart; `data` is what lies from `go:func.*` on.
    pub(super) fn parse(table: &'a [u8], data: &'a [u8], endian: Endianness) -> Option<LineTable<'a>> {
        let is_known = half(table, 0, endian)? == MAGIC && table.get(4..6)? == [0, 0] && *table.get(7)? == 8;
        let head = |n: usize| usize::try_from(word(table.get(8 + 8 * n..16 + 8 * n)?, endian)).ok();
        // The fields of `pcHeader` after the first eight bytes: functions, files, (start of text), and five beginnings.
        let (names, units, values, index) = (head(3)?, head(4)?, head(6)?, head(7)?);
        let parts = (table.get(names..units)?, table.get(values..index)?, table.get(index..)?);
        is_known.then_some(LineTable {
            endian,
            functions: head(0)?,
            names: parts.0,
            values: parts.1,
            index: parts.2,
            data,
        })
    }

    fn function(&self, number: usize) -> Option<Function<'a>> {
        let at = number.checked_mul(8)?;
        let entry = half(self.index, at, self.endian)?;
        let start = usize::try_from(half(self.index, at + 4, self.endian)?).ok()?;
        let record = self.index.get(start..)?;
        let field = |n: usize| half(record, 4 * n, self.endian);
        let [id, flag, _, data_count] = *record.get(FUNCTION_BYTES - 4..FUNCTION_BYTES)? else { return None };
        let table_count = usize::try_from(field(7)?).ok()?;
        let arrays = FUNCTION_BYTES / 4;
        // The record says again where the function begins: if not, this is not the form that we know.
        if field(0)? != entry || table_count > 64 {
            return None;
        }
        let fixed = [entry, field(2)?, field(3)?, u32::from(id), u32::from(flag)];
        let mut tables = vec![self.table(field(4)?)?.0];
        let mut inlined = 0;
        for n in 0..table_count {
            let (bytes, largest) = self.table(field(arrays + n)?)?;
            tables.push(bytes);
            if n == INLINED_INDEX {
                inlined = u64::try_from(largest + 1).ok()?;
            }
        }
        let data = (0..usize::from(data_count)).map(|n| field(arrays + table_count + n)).collect::<Option<_>>()?;
        Some(Function { fixed, tables, data, inlined })
    }

    /// A table of values by program counter and the largest value in it: pairs of a change of the value and a distance, until a
    /// change of nothing.
    fn table(&self, start: u32) -> Option<(&'a [u8], i64)> {
        let (mut value, mut largest, mut at) = (-1_i64, -1, 0);
        if start == 0 {
            // So a function says that it has no such table.
            return Some((&[], largest));
        }
        let rest = self.values.get(usize::try_from(start).ok()?..)?;
        loop {
            let change = number(rest, &mut at)?;
            if change == 0 && at > 1 {
                break;
            }
            value += i64::from(change >> 1) ^ -i64::from(change & 1);
            largest = largest.max(value);
            number(rest, &mut at)?;
        }
        Some((rest.get(..at)?, largest))
    }

    /// Whether this many inlined calls are at this place of the data, as far as can be told: each begins with the name of a
    /// function.
    fn has_inlined(&self, start: u32, count: u64) -> bool {
        let name = |call: u64| {
            let at = usize::try_from(u64::from(start) + call * INLINED_BYTES + INLINED_NAME.start).ok()?;
            usize::try_from(half(self.data, at, self.endian)?).ok()
        };
        let is_name = |at: usize| at < self.names.len() && (at == 0 || self.names.get(at - 1) == Some(&0));
        (0..count).all(|call| name(call).is_some_and(is_name))
    }
}

/// A number of up to 32 bits, seven to the byte.
fn number(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut value = 0;
    for shift in (0..32).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Ranges of names and lines in the functions' data, in order and counted from its beginning; absent when anything else
/// differs. `inside`: the data belong to the line table (Go 1.26) and are compared here too.
pub(super) fn compare(a: &LineTable<'_>, b: &LineTable<'_>, inside: bool) -> Option<Vec<Range<u64>>> {
    let mut free = Vec::new();
    if a.functions != b.functions {
        return None;
    }
    for number in 0..a.functions {
        let (f, g) = (a.function(number)?, b.function(number)?);
        if f.fixed != g.fixed || f.tables != g.tables || f.data != g.data {
            return None;
        }
        let Some(&tree) = f.data.get(INLINED_TREE).filter(|&&tree| tree != NONE) else { continue };
        if !a.has_inlined(tree, f.inlined) || !b.has_inlined(tree, f.inlined) {
            return None;
        }
        for call in 0..f.inlined {
            let start = u64::from(tree) + call * INLINED_BYTES;
            free.extend([INLINED_NAME, INLINED_LINE].map(|r| start + r.start..start + r.end));
        }
    }
    // The index ends with the address after the last function.
    let end = |table: &LineTable<'_>| half(table.index, table.functions.checked_mul(8)?, table.endian);
    if end(a)? != end(b)? {
        return None;
    }
    free.sort_by_key(|r| r.start);
    free.dedup();
    (!inside || equal_but(a.data, b.data, &free)).then_some(free)
}

/// Whether bytes are equal but for the free ranges, which are in order.
pub(super) fn equal_but(a: &[u8], b: &[u8], free: &[Range<u64>]) -> bool {
    if a == b || a.len() != b.len() {
        return a == b;
    }
    let mut from = 0;
    for range in free {
        let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else { return false };
        if start > from && a.get(from..start) != b.get(from..start) {
            return false;
        }
        from = from.max(end).min(a.len());
    }
    a[from..] == b[from..]
}
