//! The symbols of a program, as our linker writes them down while it links (`hooks/go/linker/inventory.go`).

/// First bytes of the file.
const MAGIC: &[u8] = b"duet-inventory-2\n";

/// Into what a symbol goes. The numbers are those of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Group {
    /// Functions.
    Code,
    /// All else that the linker orders, read-only or not.
    Data,
}

/// Where a symbol may be placed: the linker keeps kinds apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// Code or data.
    pub(super) group: Group,
    /// The linker's own number of the kind.
    pub(super) kind: u64,
}

/// The room that a symbol takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes.
    pub(super) size: u64,
    /// Bytes, a power of two.
    pub(super) align: u64,
}

/// A symbol that can be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol {
    /// A name that is the same in every version: numbers in it give way to what the symbol holds.
    pub(super) key: Vec<u8>,
    /// Its name in this version.
    pub(super) name: Vec<u8>,
    /// A digest of what it holds; empty where it is not told.
    pub(super) held: Vec<u8>,
    /// Where it may be placed.
    pub(super) place: Place,
    /// The room that it takes.
    pub(super) room: Room,
}

/// The symbols of a program, with the facts that a plan depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Inventory {
    /// Why the linker cannot lay this program out by a plan; empty: it can.
    pub(super) refusal: String,
    /// Bytes of read-only data and tables before the data segment.
    pub(super) read_only: u64,
    /// Symbols in the linker's order.
    pub(super) symbols: Vec<Symbol>,
}

impl Inventory {
    /// Reads the file; absent where it is cut short or none.
    pub(super) fn parse(file: &[u8]) -> Option<Inventory> {
        let mut rest = Reader(file.strip_prefix(MAGIC)?);
        let refusal = String::from_utf8_lossy(rest.bytes()?).into_owned();
        let mut inventory = Inventory { refusal, read_only: rest.number()?, symbols: Vec::new() };
        while !rest.0.is_empty() {
            let group = match rest.number()? {
                0 => Group::Code,
                1 => Group::Data,
                _ => return None,
            };
            let place = Place { group, kind: rest.number()? };
            let room = Room { size: rest.number()?, align: rest.number()? };
            let mut text = || rest.bytes().map(<[u8]>::to_vec);
            inventory.symbols.push(Symbol { key: text()?, name: text()?, held: text()?, place, room });
        }
        Some(inventory)
    }

    /// The file's content, as the linker writes it.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        put_bytes(&mut file, self.refusal.as_bytes());
        put_number(&mut file, self.read_only);
        for symbol in &self.symbols {
            let Place { group, kind } = symbol.place;
            for number in [group as u64, kind, symbol.room.size, symbol.room.align] {
                put_number(&mut file, number);
            }
            [&symbol.key, &symbol.name, &symbol.held].into_iter().for_each(|text| put_bytes(&mut file, text));
        }
        file
    }
}

/// Takes numbers and texts off a file: numbers as LEB128, texts with their length in front.
pub(in super::super) struct Reader<'a>(pub(in super::super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(in super::super) fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(in super::super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    /// So many bytes.
    pub(in super::super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
}

/// Appends a number as [`Inventory::parse`] reads it.
pub(super) fn put_number(file: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        file.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    file.push(number as u8);
}

/// Appends a text likewise.
pub(super) fn put_bytes(file: &mut Vec<u8>, bytes: &[u8]) {
    put_number(file, bytes.len() as u64);
    file.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory() -> Inventory {
        let place = Place { group: Group::Data, kind: 9 };
        let room = Room { size: 1 << 40, align: 8 };
        let symbol = Symbol { key: "p.v#<0>=1f".into(), name: "p.v12".into(), held: "1f".into(), place, room };
        Inventory { refusal: "no".into(), read_only: 300, symbols: vec![symbol] }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Inventory::parse(&inventory().bytes()), Some(inventory()));
    }

    #[test]
    fn what_is_cut_short_is_not_read() {
        let file = inventory().bytes();
        // Before the first symbol it could end.
        let head = MAGIC.len() + 1 + 2 + 2;
        let read: Vec<usize> = (0..file.len()).filter(|n| Inventory::parse(&file[..*n]).is_some()).collect();
        assert_eq!(read, [head]);
    }
}
