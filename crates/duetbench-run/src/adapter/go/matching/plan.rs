//! One plan for two versions: a slot for everything that either has, as large as the larger of the two needs.
//!
//! The linker (`hooks/go/linker/plan.go`) shuffles packages and leaves gaps, both drawn from a seed and the slots' names, and gives
//! all slots addresses in the order given here. Both versions follow the same plan, so what both have lies at the same address in
//! both.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::inventory::{Group, Inventory, Place, Room, Symbol, put_bytes, put_number};

/// First bytes of the file.
const MAGIC: &[u8] = b"duet-plan-1\n";
/// Go gives it as the address of everything that takes no room, so it comes right behind all of that.
const ZERO_BASE: &[u8] = b"runtime.zerobase<0>";
/// The linker draws a gap before the data of each kind that is smaller (`duetGap` in `hooks/go/linker/plan.go`).
const LARGEST_GAP: u64 = 4096;
/// The collector's bit maps of the writable data. The linker makes them once it knows where these lie, so padding makes them
/// longer than they were when they were noted.
const GROWING: [&[u8]; 2] = [b"runtime.gcdata<", b"runtime.gcbss<"];

/// A place for one thing in both programs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Slot {
    place: Place,
    room: Room,
    /// Names of what goes there; two where it is called otherwise in the other version.
    keys: Vec<Vec<u8>>,
}

/// The plan that both links of a build pair follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Bytes to keep free between the beginning of read-only data and that of the data segment, in both programs alike.
    read_only: u64,
    slots: Vec<Slot>,
}

impl Plan {
    /// The plan for two programs.
    pub(super) fn of(sides: [&Inventory; 2]) -> Plan {
        let partners = partners(sides);
        let mut slots: Vec<Slot> = Vec::new();
        let mut at: HashMap<(Place, &[u8]), usize> = HashMap::new();
        for symbol in sides.into_iter().flat_map(|side| &side.symbols) {
            let key = partners.get(&(symbol.place, symbol.key.as_slice())).copied().unwrap_or(&symbol.key);
            let room = room(symbol);
            let number = *at.entry((symbol.place, key)).or_insert_with(|| {
                slots.push(Slot { place: symbol.place, room, keys: Vec::new() });
                slots.len() - 1
            });
            let slot = &mut slots[number];
            slot.room.size = slot.room.size.max(room.size);
            slot.room.align = slot.room.align.max(room.align);
            if !slot.keys.contains(&symbol.key) {
                slot.keys.push(symbol.key.clone());
            }
        }
        // The seed draws by the first name, which must not depend on which side is which.
        slots.iter_mut().for_each(|slot| slot.keys.sort());
        slots.sort_by(|a, b| order(a).cmp(&order(b)));
        Plan { read_only: read_only(sides, &slots), slots }
    }

    /// The file's content, as the linker reads it.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        put_number(&mut file, self.read_only);
        for slot in &self.slots {
            let Place { group, kind } = slot.place;
            for number in [group as u64, kind, slot.room.size, slot.room.align, slot.keys.len() as u64] {
                put_number(&mut file, number);
            }
            slot.keys.iter().for_each(|key| put_bytes(&mut file, key));
        }
        file
    }
}

/// Bytes that read-only data take at most in the program where they take more, laid out by these slots: what they took at the first
/// link, and what slots for the other version's data add to that. Writable data are counted too, since the kinds say nothing about it;
/// addresses between two segments cost nothing.
fn read_only(sides: [&Inventory; 2], slots: &[Slot]) -> u64 {
    let data = |place: Place| place.group == Group::Data;
    let planned: u64 =
        slots.iter().filter(|slot| data(slot.place)).map(|slot| slot.room.size + slot.room.align - 1).sum();
    let kinds: HashSet<u64> = slots.iter().filter(|slot| data(slot.place)).map(|slot| slot.place.kind).collect();
    let planned = planned + kinds.len() as u64 * LARGEST_GAP;
    let taken = |side: &Inventory| -> u64 {
        let own = side.symbols.iter().filter(|symbol| data(symbol.place)).map(|symbol| symbol.room.size);
        side.read_only + planned.saturating_sub(own.sum())
    };
    taken(sides[0]).max(taken(sides[1]))
}

/// The order in which slots are placed: code as the linker had it, with what the candidate adds at the end; of data the small ones
/// first, as the linker has them, so that little is lost to alignment.
fn order(slot: &Slot) -> (Place, u8, u64, &[u8]) {
    if slot.place.group == Group::Code {
        return (slot.place, 0, 0, &[]);
    }
    let key = slot.keys.first().map_or(&[][..], Vec::as_slice);
    let class = match (slot.room.size, key == ZERO_BASE) {
        (_, true) => 1,
        (0, false) => 0,
        (_, false) => 2,
    };
    (slot.place, class, slot.room.size, key)
}

fn room(symbol: &Symbol) -> Room {
    let grows = GROWING.iter().any(|name| symbol.key.starts_with(name));
    let spare = if grows { symbol.room.size / 4 + 1024 } else { 0 };
    Room { size: symbol.room.size + spare, align: symbol.room.align.max(1) }
}

/// The baseline's symbols whose slots take what only the candidate has, because it is the same thing: changed, renamed or moved.
fn partners(sides: [&Inventory; 2]) -> HashMap<(Place, &[u8]), &[u8]> {
    let mut alone = Alone::of(sides);
    let code = |symbol: &Symbol| symbol.place.group == Group::Code;
    alone.pair(Ties::InOrder, |symbol| Some(symbol.name.as_slice()));
    // Numbers shift where the compiler counts; see duetKeys in hooks/go/linker/inventory.go.
    alone.pair(Ties::InOrder, |symbol| unnumbered(&symbol.key));
    alone.pair(Ties::Open, |symbol| code(symbol).then(|| short(unnumbered(&symbol.key).unwrap_or(&symbol.key))));
    alone.pair(Ties::Open, |symbol| (code(symbol) && !symbol.held.is_empty()).then_some(symbol.held.as_slice()));
    alone.partners
}

/// The rule for symbols of which several could be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ties {
    /// One by one, in the linker's order.
    InOrder,
    /// Not at all.
    Open,
}

/// Symbols that only one version has, in the linker's order, and those of them that were paired.
struct Alone<'a> {
    sides: [Vec<&'a Symbol>; 2],
    partners: HashMap<(Place, &'a [u8]), &'a [u8]>,
}

impl<'a> Alone<'a> {
    fn of([baseline, candidate]: [&'a Inventory; 2]) -> Alone<'a> {
        let names = |side: &'a Inventory| -> HashSet<(Place, &'a [u8])> {
            side.symbols.iter().map(|symbol| (symbol.place, symbol.key.as_slice())).collect()
        };
        let without = |side: &'a Inventory, other: &HashSet<(Place, &'a [u8])>| {
            side.symbols.iter().filter(|symbol| !other.contains(&(symbol.place, symbol.key.as_slice()))).collect()
        };
        let [ours, theirs] = [names(baseline), names(candidate)];
        Alone { sides: [without(baseline, &theirs), without(candidate, &ours)], partners: HashMap::new() }
    }

    /// Pairs symbols of one place that are alike in `trait_of`.
    fn pair<K: Hash + Eq>(&mut self, ties: Ties, trait_of: impl Fn(&'a Symbol) -> Option<K>) {
        let [old, new] = [0, 1].map(|side| {
            let mut groups: HashMap<(Place, K), Vec<&'a Symbol>> = HashMap::new();
            for &symbol in &self.sides[side] {
                if let Some(key) = trait_of(symbol) {
                    groups.entry((symbol.place, key)).or_default().push(symbol);
                }
            }
            groups
        });
        let both = old.iter().filter_map(|(key, old)| Some((old, new.get(key)?)));
        let clear = both.filter(|(old, new)| ties == Ties::InOrder || old.len() == 1 && new.len() == 1);
        let pairs = clear.flat_map(|(old, new)| old.iter().zip(new));
        let mut paired: [HashSet<(Place, &'a [u8])>; 2] = Default::default();
        for (old, new) in pairs {
            self.partners.insert((new.place, &new.key), &old.key);
            paired[0].insert((old.place, &old.key));
            paired[1].insert((new.place, &new.key));
        }
        for (side, paired) in self.sides.iter_mut().zip(&paired) {
            side.retain(|symbol| !paired.contains(&(symbol.place, symbol.key.as_slice())));
        }
    }
}

/// The part of a key before what the symbol holds; absent where nothing in it is counted.
fn unnumbered(key: &[u8]) -> Option<&[u8]> {
    key.iter().rposition(|&b| b == b'=').map(|at| &key[..at])
}

/// The part of a function's name that stays when it moves to another package or is exported, in lower case.
fn short(key: &[u8]) -> Vec<u8> {
    let name = key.rsplit(|&b| b == b'/').next().unwrap_or(key);
    let dot = name.iter().position(|&b| b == b'.').map_or(0, |at| at + 1);
    name[dot..].to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Place = Place { group: Group::Code, kind: 1 };
    const DATA: Place = Place { group: Group::Data, kind: 9 };

    fn symbol(key: &str, place: Place, size: u64) -> Symbol {
        Symbol { key: key.into(), name: key.into(), held: Vec::new(), place, room: Room { size, align: 16 } }
    }

    /// A symbol whose name has a number, as the linker notes it.
    fn counted(stem: &str, number: u64, held: &str) -> Symbol {
        let name = format!("{stem}{number}").into();
        Symbol { name, held: held.into(), ..symbol(&format!("{stem}#<1>={held}"), CODE, 32) }
    }

    fn inventory(symbols: impl IntoIterator<Item = Symbol>) -> Inventory {
        Inventory { symbols: symbols.into_iter().collect(), ..Inventory::default() }
    }

    /// Names and size of each slot.
    fn slots(plan: &Plan) -> Vec<(String, u64)> {
        let names =
            |slot: &Slot| slot.keys.iter().map(|key| String::from_utf8_lossy(key)).collect::<Vec<_>>().join(" ");
        plan.slots.iter().map(|slot| (names(slot), slot.room.size)).collect()
    }

    fn check(sides: [&[(&str, u64)]; 2], expected: &[(&str, u64)]) {
        let [a, b] = sides.map(|side| inventory(side.iter().map(|&(key, size)| symbol(key, CODE, size))));
        let expected: Vec<(String, u64)> = expected.iter().map(|&(names, size)| (names.to_owned(), size)).collect();
        let [plan, exchanged] = [Plan::of([&a, &b]), Plan::of([&b, &a])].map(|plan| slots(&plan));
        assert_eq!(plan, expected);
        let sorted = |mut slots: Vec<(String, u64)>| {
            slots.sort();
            slots
        };
        assert_eq!(sorted(plan), sorted(exchanged), "who shares a slot does not depend on which side is which");
    }

    #[test]
    fn every_symbol_has_a_slot_as_large_as_the_larger_of_the_two() {
        check([&[("p.F<1>", 32), ("p.Old<1>", 64)], &[("p.F<1>", 96)]], &[("p.F<1>", 96), ("p.Old<1>", 64)]);
    }

    #[test]
    fn functions_stay_in_the_linkers_order_and_new_ones_come_last() {
        let old = [("p.Z<1>", 96), ("p.A<1>", 32)];
        let new = [("p.New<1>", 8), ("p.A<1>", 32), ("p.Z<1>", 96)];
        check([&old, &new], &[("p.Z<1>", 96), ("p.A<1>", 32), ("p.New<1>", 8)]);
    }

    #[test]
    fn a_function_that_moved_keeps_its_slot() {
        let old = "m/internal/ast.(*parser).value<1>";
        let new = "m/unstable.(*Parser).Value<1>";
        check([&[(old, 32)], &[(new, 64)]], &[("m/internal/ast.(*parser).value<1> m/unstable.(*Parser).Value<1>", 64)]);
    }

    #[test]
    fn a_function_that_may_have_come_from_two_places_has_a_slot_of_its_own() {
        check([&[("a.f<1>", 1), ("b.f<1>", 2)], &[("c.f<1>", 3)]], &[("a.f<1>", 1), ("b.f<1>", 2), ("c.f<1>", 3)]);
        check([&[("a.f<1>", 1)], &[("a.f<1>", 1), ("c.f<1>", 3)]], &[("a.f<1>", 1), ("c.f<1>", 3)]);
    }

    /// The partners of the candidate's symbols, in their order: `-` for a slot of its own.
    fn shared(sides: [&[Symbol]; 2]) -> Vec<String> {
        let [base, head] = sides.map(|side| inventory(side.iter().cloned()));
        let plan = Plan::of([&base, &head]);
        let slot_of = |key: &[u8]| plan.slots.iter().position(|slot| slot.keys.iter().any(|one| one == key));
        let partner = |symbol: &Symbol| {
            let same = base.symbols.iter().find(|old| slot_of(&old.key) == slot_of(&symbol.key));
            same.map_or("-".to_owned(), |old| String::from_utf8_lossy(&old.name).into_owned())
        };
        head.symbols.iter().map(partner).collect()
    }

    #[test]
    fn numbers_that_shift_are_followed_by_what_symbols_hold() {
        let old = [1, 2].map(|n| counted("p.F.func", n, ["a", "b"][n as usize - 1]));
        let new = [counted("p.F.func", 1, "new"), counted("p.F.func", 2, "a"), counted("p.F.func", 3, "b")];
        assert_eq!(shared([&old, &new]), ["-", "p.F.func1", "p.F.func2"]);
    }

    #[test]
    fn a_counted_symbol_that_changed_is_told_by_its_number_and_then_by_order() {
        let old = [counted("p.F.func", 1, "a"), counted("p.F.func", 2, "b")];
        assert_eq!(shared([&old, &[counted("p.F.func", 2, "other")]]), ["p.F.func2"]);
        assert_eq!(
            shared([&old, &[counted("p.F.func", 1, "b"), counted("p.F.func", 2, "new")]]),
            ["p.F.func2", "p.F.func1"]
        );
        assert_eq!(shared([&old, &[counted("p.G.func", 1, "other")]]), ["-"]);
    }

    #[test]
    fn a_renamed_function_is_found_by_what_it_holds_if_that_is_clear() {
        let held = |name: &str, held: &str| Symbol { held: held.into(), ..symbol(name, CODE, 32) };
        let old = [held("p.Old<1>", "a"), held("p.Gone<1>", "b"), held("p.Left<1>", "b")];
        assert_eq!(shared([&old, &[held("p.New<1>", "a"), held("p.Other<1>", "b")]]), ["p.Old<1>", "-"]);
        assert_eq!(shared([&old, &[held("p.New<1>", "")]]), ["-"]);
    }

    #[test]
    fn kinds_have_slots_of_their_own() {
        let sides = [inventory([symbol("p.x", DATA, 8)]), inventory([symbol("p.x", Place { kind: 10, ..DATA }, 8)])];
        assert_eq!(Plan::of([&sides[0], &sides[1]]).slots.len(), 2);
    }

    #[test]
    fn what_is_empty_comes_first_and_zerobase_next() {
        let data = [("p.a", 8), ("runtime.zerobase<0>", 8), ("p.empty", 0), ("p.b", 4)];
        let side = inventory(data.map(|(key, size)| symbol(key, DATA, size)));
        let names: Vec<String> = slots(&Plan::of([&side, &side])).into_iter().map(|(names, _)| names).collect();
        assert_eq!(names, ["p.empty", "runtime.zerobase<0>", "p.b", "p.a"]);
    }

    #[test]
    fn bit_maps_have_room_to_grow() {
        let side = inventory([symbol("runtime.gcbss<0>", DATA, 400), symbol("runtime.gc<0>", DATA, 400)]);
        assert_eq!(
            slots(&Plan::of([&side, &side])),
            [("runtime.gc<0>".into(), 400), ("runtime.gcbss<0>".into(), 1524)]
        );
    }

    #[test]
    fn data_of_the_other_version_have_room_before_the_data_segment() {
        let sides = [("p.a", 8), ("p.b", 1000)];
        let [a, b] = sides.map(|(key, size)| Inventory { read_only: 300, ..inventory([symbol(key, DATA, size)]) });
        // Beside 300 bytes, the larger of the two data for the side that has the smaller one, and what alignment may cost.
        assert_eq!(Plan::of([&a, &b]).read_only, 300 + 1000 + 2 * 15 + LARGEST_GAP);
        let same = Plan::of([&a, &a]);
        assert_eq!(same.read_only, 300 + 15 + LARGEST_GAP);
        let code = Inventory { read_only: 300, ..inventory([symbol("p.F<1>", CODE, 4096)]) };
        assert_eq!(Plan::of([&code, &a]).read_only, 300 + 8 + 15 + LARGEST_GAP, "code lies elsewhere");
    }

    #[test]
    fn the_file_has_all_of_it() {
        let side = Inventory { read_only: 300, ..inventory([symbol("p.F<1>", CODE, 5)]) };
        assert_eq!(Plan::of([&side, &side]).bytes(), b"duet-plan-1\n\xac\x02\x00\x01\x05\x10\x01\x06p.F<1>");
    }
}
