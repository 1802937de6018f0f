//! Prints what the hook makes of the golden files' questions; the test compares.

#[allow(dead_code, unused_imports)]
#[path = "../duet/mod.rs"]
mod duet;

use duet::page::{self, Header, Plan, Published, Record, Side};
use std::mem::{offset_of, size_of, zeroed};

macro_rules! places {
    ($part:literal, $type:ty, $($field:ident),*) => {
        $(println!("{}.{} {}", $part, stringify!($field), offset_of!($type, $field));)*
    };
}

fn layout() {
    println!("magic {}", u64::from_le_bytes(*b"DUETPAG1"));
    println!("version {}", page::VERSION);
    println!("sides_offset {}", offset_of!(Header, sides));
    println!("side_size {}", size_of::<Side>());
    println!("records_offset {}", page::HEADER_BYTES);
    println!("record_size {}", size_of::<Record>());
    for capacity in [1, 100, 65536] {
        println!("page_size.{} {}", capacity, page::page_size(capacity));
    }
    places!("header", Header, magic, version, mode, seed, slice_ns, trial_ns, warmup_slices, capacity, block_slices);
    places!("header", Header, stretch, k_hint, swap, slices, gc_ns, warm_ns, stop, turn);
    println!("header.core_0 {}", offset_of!(Header, cores));
    println!("header.core_1 {}", offset_of!(Header, cores) + size_of::<u32>());
    places!("side", Side, state, style, arrive, asleep, k, k_ns, k_bytes, gc_period, resets, records, parallelism);
    places!("side", Side, left_early, slice_ns, gc_cost_ns, background_ns, ended);
    places!("record", Record, slice, flags, invocations, wall_ns, cpu_ns, allocs, bytes, start_ns, gcs, block);
}

/// The bytes of a record with these fields, in the order of the protocol.
fn record(v: &[u64]) {
    let record = Record {
        slice: v[0] as u32,
        flags: v[1] as u32,
        invocations: v[2],
        wall_ns: v[3],
        cpu_ns: v[4],
        allocs: v[5],
        bytes: v[6],
        start_ns: v[7],
        gcs: v[8] as u32,
        block: v[9] as u32,
    };
    let bytes: [u8; size_of::<Record>()] = unsafe { std::mem::transmute(record) };
    println!("{}", bytes.iter().map(|byte| format!("{:02x}", byte)).collect::<String>());
}

/// Whose every turn is, and each side's turns.
fn turns(seed: u64, slices: u64) {
    for turn in 0..2 + 2 * slices as u32 {
        println!("turn {} {}", turn, page::owner(seed, turn));
    }
    for slice in 0..slices {
        let first = page::lead(seed, slice);
        println!("slice {} {} {}", slice, page::turn_of(seed, slice, first), page::turn_of(seed, slice, 1 - first));
    }
    println!("end {}", 2 + 2 * slices);
}

/// The plan of sides of which each has `k`, its time and its own length of slices.
fn agree(v: &[u64]) {
    let mut header: Header = unsafe { zeroed() };
    header.slice_ns = v[0];
    header.trial_ns = v[1];
    header.warmup_slices = v[2] as u32;
    header.capacity = v[3] as u32;
    header.block_slices = v[4] as u32;
    header.slices = v[5] as u32;
    header.mode = v[6] as u32;
    header.warm_ns = v[7];
    let sides: Vec<Published> = v[8..].chunks(3).map(|s| Published { k: s[0], k_ns: s[1], slice_ns: s[2] }).collect();
    let plan = Plan::agree(&header, &sides);
    println!("{} {} {} {} {}", plan.k, plan.warmup, plan.slices, plan.block, plan.warm_k);
}

/// The blocks of a plan's slices: number, first, last.
fn blocks(v: &[u64]) {
    let plan = Plan { k: 1, warmup: v[0], slices: v[1], block: v[2], ..Plan::default() };
    for slice in 0..plan.total() {
        let block = plan.block_of(slice);
        println!("{} {} {}", block.number, block.first, block.last);
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let question = words.next().unwrap_or_default();
    let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
    match question.as_str() {
        "layout" => layout(),
        "record" => record(&numbers),
        "turns" => turns(numbers[0], numbers[1]),
        "agree" => agree(&numbers),
        "blocks" => blocks(&numbers),
        "charged" => println!("{}", page::charged_ns(numbers[0], numbers[1], numbers[2])),
        "repeats" => println!("{}", page::repeats(numbers[0], numbers[1], numbers[2], numbers[3])),
        other => panic!("`{}` is no question", other),
    }
}
