//! The controller's side of the shared page (`hooks/protocol/PROTOCOL.md`, version 1).
//!
//! The page carries the only data that the two measured processes and `duet` exchange. Whatever stands in it after
//! the header was written by measured code and is not trusted: counts are bounded, words are checked. `duet` itself never
//! maps it but reads and writes it as a file, so that nothing measured code does to it can raise a signal here.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use duetbench_core::plan::Style;

use crate::error::RunError;
use crate::process::Sandbox;

mod sealed;

use sealed::Holder;

/// Bytes before the records.
const HEADER_BYTES: usize = 4096;
/// Bytes of one record.
const RECORD_BYTES: usize = 64;
/// Offset of side 0's block, and distance to side 1's.
const SIDE_BYTES: usize = 256;
/// `DUETPAG1`, read as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"DUETPAG1");
/// `core_0` and `core_1` when nothing is pinned.
pub const NO_CORE: u32 = u32::MAX;

/// `state` of a side that is done; beyond it, of one that is gone.
const STATE_DONE: u32 = 2;

mod header {
    pub(super) const MAGIC: usize = 0;
    pub(super) const VERSION: usize = 8;
    pub(super) const MODE: usize = 12;
    pub(super) const SEED: usize = 16;
    pub(super) const SLICE_NS: usize = 24;
    pub(super) const TRIAL_NS: usize = 32;
    pub(super) const WARMUP_SLICES: usize = 40;
    pub(super) const CAPACITY: usize = 44;
    pub(super) const BLOCK_SLICES: usize = 48;
    pub(super) const STRETCH: usize = 52;
    pub(super) const K_HINT: usize = 56;
    pub(super) const CORE_0: usize = 64;
    pub(super) const CORE_1: usize = 68;
    pub(super) const SWAP: usize = 72;
    pub(super) const SLICES: usize = 76;
    pub(super) const GC_NS: usize = 80;
    pub(super) const WARM_NS: usize = 88;
    pub(super) const STOP: usize = 128;
    pub(super) const TURN: usize = 192;
}

mod side {
    pub(super) const STATE: usize = 0;
    pub(super) const STYLE: usize = 4;
    pub(super) const ARRIVE: usize = 8;
    pub(super) const K: usize = 16;
    pub(super) const K_NS: usize = 24;
    pub(super) const GC_PERIOD: usize = 40;
    pub(super) const RECORDS: usize = 52;
    pub(super) const LEFT_EARLY: usize = 60;
    pub(super) const GC_COST_NS: usize = 72;
    pub(super) const BACKGROUND_NS: usize = 80;
}

mod record {
    pub(super) const SLICE: usize = 0;
    pub(super) const FLAGS: usize = 4;
    pub(super) const INVOCATIONS: usize = 8;
    pub(super) const WALL_NS: usize = 16;
    pub(super) const CPU_NS: usize = 24;
    pub(super) const ALLOCS: usize = 32;
    pub(super) const BYTES: usize = 40;
    pub(super) const START_NS: usize = 48;
    pub(super) const GCS: usize = 56;
    pub(super) const BLOCK: usize = 60;
}

/// The way the sides take turns, as the page says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageMode {
    /// Both at once.
    Duet = 0,
    /// Slice by slice.
    Interleaved = 1,
    /// One process alone.
    Solo = 2,
}

/// Settings of a trial from the controller to the two sides; units as in the protocol.
#[derive(Debug, Clone, Copy)]
pub struct PageHeader {
    /// The way the sides take turns.
    pub mode: PageMode,
    /// Orders the slices.
    pub seed: u64,
    /// Length a slice aims at.
    pub slice_ns: u64,
    /// Measured time one side aims at.
    pub trial_ns: u64,
    /// Slices that warm up.
    pub warmup_slices: u32,
    /// Records a side may write.
    pub capacity: u32,
    /// Slices between pauses.
    pub block_slices: u32,
    /// Slices of every second block have so many times the usual invocations; 0 and 1: all have the same.
    pub stretch: u32,
    /// Measured time of one side that a trial may last to span whole cycles of the collector; 0: never force a collection.
    pub gc_ns: u64,
    /// Time that a side works before each of its slices in turns, without recording.
    pub warm_ns: u64,
    /// Invocations per slice, if known.
    pub k_hint: u64,
    /// Cores of the sides at the start of a duet, or [`NO_CORE`].
    pub cores: [u32; 2],
    /// Whether cores are exchanged at pauses.
    pub swap: bool,
    /// Slices that count, exactly; 0: as many as the measured time has room for.
    pub slices: u32,
}

impl PageHeader {
    /// The page of one process that runs alone: so many iterations after the warm-up, with nothing forced between them.
    pub fn alone(iteration_ns: u64, warmup: u32, iterations: u32) -> PageHeader {
        PageHeader {
            mode: PageMode::Solo,
            seed: 0,
            slice_ns: iteration_ns,
            trial_ns: iteration_ns,
            warmup_slices: warmup,
            capacity: warmup.saturating_add(iterations),
            block_slices: 1,
            stretch: 0,
            gc_ns: 0,
            warm_ns: 0,
            k_hint: 0,
            cores: [NO_CORE; 2],
            swap: false,
            slices: iterations,
        }
    }
}

/// One slice as a side wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Number of the slice, warm-up included.
    pub slice: u32,
    /// Taken to warm up.
    pub warm_up: bool,
    /// The memory fields are valid.
    pub has_memory: bool,
    /// Allocations were counted, and not their bytes alone.
    pub has_allocs: bool,
    /// The CPU time is valid.
    pub has_cpu: bool,
    /// Invocations.
    pub invocations: u64,
    /// Wall time.
    pub wall_ns: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// Allocations since the block began.
    pub allocs: u64,
    /// Bytes since the block began.
    pub bytes: u64,
    /// Monotonic clock at the opening.
    pub start_ns: u64,
    /// Collections that have ended: since slice 0 opened if `counts_cycles`, else since the block began.
    pub gcs: u32,
    /// `gcs` runs through the whole trial and is valid in every record.
    pub counts_cycles: bool,
    /// Number of the block.
    pub block: u32,
}

/// Status of a side, as its process wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideStatus {
    /// It reached the point where measuring begins.
    pub arrived: bool,
    /// Style in which it was sliced, once known.
    pub style: Option<Style>,
    /// Invocations of its last calibration slice.
    pub k: u64,
    /// Wall time of that slice.
    pub k_ns: u64,
    /// It left because of its peer or because it was told to.
    pub left_early: bool,
    /// Bytes between two collections; 0: it has no collector.
    pub gc_period: u64,
    /// CPU time of the collection forced before slice 0; 0: none was.
    pub gc_cost_ns: u64,
    /// CPU time of marking beside the benchmark, in the slices that count.
    pub background_ns: u64,
}

/// A page; gone with its path on drop.
#[derive(Debug)]
pub struct Page {
    memory: File,
    capacity: u32,
    path: PathBuf,
    /// The pipes of sides that cannot sleep in a futex.
    bells: [Bell; 2],
    /// Keeps sealed memory where its path leads; absent for a page that is a file.
    _holder: Option<Holder>,
}

/// A named pipe on which a side sleeps that cannot sleep in a futex; removed on drop.
#[derive(Debug)]
struct Bell {
    pipe: File,
    path: PathBuf,
}

impl Bell {
    fn create(path: PathBuf) -> std::io::Result<Bell> {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let pipe = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path);
        let pipe = pipe.inspect_err(|_| drop(std::fs::remove_file(&path)))?;
        Ok(Bell { pipe, path })
    }

    /// Wakes who sleeps on it. A pipe that is full wakes as well.
    fn ring(&self) {
        let _ = (&self.pipe).write(&[1]);
    }

    /// Forgets what was rung in earlier trials.
    fn silence(&self) {
        let mut buffer = [0; 4096];
        while (&self.pipe).read(&mut buffer).is_ok_and(|n| n > 0) {}
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Where the pipe of a side is: beside the page.
fn bell_path(page: &Path, side: usize) -> PathBuf {
    let mut path = page.as_os_str().to_owned();
    path.push(format!(".{side}"));
    path.into()
}

impl Page {
    /// Creates the page (private to this user) and writes the header. It is sealed memory, which nobody can shorten, where the
    /// system lets others open that by a path, and else a file.
    ///
    /// # Errors
    /// When it cannot be made, for instance on a full disk.
    pub fn create(path: &Path, header: &PageHeader) -> Result<Page, RunError> {
        match sealed::create(path, bytes(header)) {
            Some((memory, holder)) => Page::made(path, header, memory, Some(holder)),
            None => Page::in_file(path, header),
        }
    }

    /// Creates the page for sides that are started so, as a file for those in a sandbox.
    ///
    /// # Errors
    /// As for [`Page::create`].
    pub fn create_for(sandbox: Option<&Sandbox>, path: &Path, header: &PageHeader) -> Result<Page, RunError> {
        if sandbox.is_some() { Page::in_file(path, header) } else { Page::create(path, header) }
    }

    /// Creates the page as a file, for sides that cannot open what our processes hold: those in a user namespace of their own.
    ///
    /// # Errors
    /// When it cannot be made, for instance on a full disk.
    pub fn in_file(path: &Path, header: &PageHeader) -> Result<Page, RunError> {
        let in_page = |source: std::io::Error| RunError::file("create the shared page", path, source);
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path).map_err(in_page)?;
        // Reserve the space now: a full file system must fail here and not as a SIGBUS of a side in the middle of a trial.
        if let Err(e) = reserve(&file, bytes(header)) {
            let _ = std::fs::remove_file(path);
            return Err(in_page(e));
        }
        Page::made(path, header, file, None)
    }

    /// Takes over what lies at the path, which goes if the rest fails.
    fn made(path: &Path, header: &PageHeader, memory: File, holder: Option<Holder>) -> Result<Page, RunError> {
        let bell = |side| Bell::create(bell_path(path, side));
        let bells = bell(0).and_then(|first| Ok([first, bell(1)?])).map_err(|e| {
            let _ = std::fs::remove_file(path);
            RunError::file("create the shared page", path, e)
        })?;
        let page = Page { memory, capacity: header.capacity, path: path.to_owned(), bells, _holder: holder };
        page.write_header(header);
        Ok(page)
    }

    /// Makes it ready for another trial. No process that has it mapped may be left.
    ///
    /// # Panics
    /// When the capacity is not the one it was created with.
    pub fn reset(&self, header: &PageHeader) {
        assert_eq!(header.capacity, self.capacity, "a page keeps its size");
        // A file may have been shortened by a side.
        let _ = self.memory.set_len(bytes(header));
        self.put(0, [0; HEADER_BYTES]);
        self.bells.iter().for_each(Bell::silence);
        self.write_header(header);
    }

    fn write_header(&self, h: &PageHeader) {
        let put32 = |at, v: u32| self.put(at, v.to_le_bytes());
        let put64 = |at, v: u64| self.put(at, v.to_le_bytes());
        put32(header::VERSION, 1);
        put32(header::MODE, h.mode as u32);
        put64(header::SEED, h.seed);
        put64(header::SLICE_NS, h.slice_ns);
        put64(header::TRIAL_NS, h.trial_ns);
        put32(header::WARMUP_SLICES, h.warmup_slices);
        put32(header::CAPACITY, h.capacity);
        put32(header::BLOCK_SLICES, h.block_slices);
        put32(header::STRETCH, h.stretch);
        put64(header::GC_NS, h.gc_ns);
        put64(header::WARM_NS, h.warm_ns);
        put64(header::K_HINT, h.k_hint);
        put32(header::CORE_0, h.cores[0]);
        put32(header::CORE_1, h.cores[1]);
        put32(header::SWAP, u32::from(h.swap));
        put32(header::SLICES, h.slices);
        put64(header::MAGIC, MAGIC);
    }

    /// Where it can be opened, for `DUET_PAGE`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells both sides to leave.
    pub fn stop(&self) {
        self.put(header::STOP, 1u32.to_le_bytes());
        self.bells.iter().for_each(Bell::ring);
    }

    /// Marks a side whose process has ended, so that its peer stops waiting for it.
    pub fn mark_gone(&self, side: usize) {
        self.put(side_at(side) + side::STATE, 3u32.to_le_bytes());
        self.bells.iter().for_each(Bell::ring);
    }

    /// Status of a side, as its process wrote it.
    pub fn status(&self, side: usize) -> SideStatus {
        let block = self.get::<SIDE_BYTES>(side_at(side));
        let (get32, get64) = (|field| u32_in(&block, field), |field| u64_in(&block, field));
        let style = match get32(side::STYLE) {
            1 => Some(Style::Loop),
            2 => Some(Style::Rewritten),
            3 => Some(Style::Recall),
            4 => Some(Style::Parallel),
            5 => Some(Style::Iteration),
            _ => None,
        };
        SideStatus {
            arrived: get32(side::STATE) != 0 && style.is_some(),
            style,
            k: get64(side::K),
            k_ns: get64(side::K_NS),
            left_early: get32(side::LEFT_EARLY) != 0,
            gc_period: get64(side::GC_PERIOD),
            gc_cost_ns: get64(side::GC_COST_NS),
            background_ns: get64(side::BACKGROUND_NS),
        }
    }

    /// The side that its peer waits for; absent where that cannot be told.
    pub fn late(&self) -> Option<usize> {
        let of_side = |side: usize, field: usize| u32::from_le_bytes(self.get(side_at(side) + field));
        match [0, 1].map(|side| of_side(side, side::STATE) >= STATE_DONE) {
            [true, false] => return Some(1),
            [false, true] => return Some(0),
            [true, true] => return None,
            [false, false] => {}
        }
        if u32::from_le_bytes(self.get(header::MODE)) == PageMode::Interleaved as u32 {
            let seed = u64::from_le_bytes(self.get(header::SEED));
            return Some(owner(seed, u32::from_le_bytes(self.get(header::TURN))));
        }
        let [first, second] = [0, 1].map(|side| of_side(side, side::ARRIVE));
        (first != second).then_some(usize::from(second < first))
    }

    /// The records a side has written, in order, at most the page's capacity.
    pub fn records(&self, side: usize) -> Vec<Record> {
        let count = u32::from_le_bytes(self.get(side_at(side) + side::RECORDS)).min(self.capacity) as usize;
        let mut bytes = vec![0; count * RECORD_BYTES];
        // Records that are no longer there stay zeroes, which no trial accepts.
        let _ = self.memory.read_exact_at(&mut bytes, self.records_at(side));
        bytes.chunks_exact(RECORD_BYTES).map(Record::of).collect()
    }

    /// Where a side's records begin.
    fn records_at(&self, side: usize) -> u64 {
        (HEADER_BYTES + side * self.capacity as usize * RECORD_BYTES) as u64
    }

    /// Reads what lies at an offset; zeroes where the page was shortened.
    fn get<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        let _ = self.memory.read_exact_at(&mut bytes, offset as u64);
        bytes
    }

    /// Writes to an offset. Where that fails, the sides find no page, and say so.
    fn put<const N: usize>(&self, offset: usize, bytes: [u8; N]) {
        let _ = self.memory.write_all_at(&bytes, offset as u64);
    }
}

impl Record {
    /// Reads the bytes of one.
    fn of(bytes: &[u8]) -> Record {
        let (get32, get64) = (|field| u32_in(bytes, field), |field| u64_in(bytes, field));
        let flags = get32(record::FLAGS);
        Record {
            slice: get32(record::SLICE),
            warm_up: flags & 1 != 0,
            has_memory: flags & 4 != 0,
            has_allocs: flags & (4 | 32) == 4,
            has_cpu: flags & 16 != 0,
            invocations: get64(record::INVOCATIONS),
            wall_ns: get64(record::WALL_NS),
            cpu_ns: get64(record::CPU_NS),
            allocs: get64(record::ALLOCS),
            bytes: get64(record::BYTES),
            start_ns: get64(record::START_NS),
            gcs: get32(record::GCS),
            counts_cycles: flags & 64 != 0,
            block: get32(record::BLOCK),
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The side whose turn it is: each calibrates in one, then both have a slice each, in an order that is drawn.
fn owner(seed: u64, turn: u32) -> usize {
    let second = turn % 2 == 1;
    let is_first_led_by_1 = turn >= 2 && exchanges(seed, (turn - 2) / 2);
    usize::from(second != is_first_led_by_1)
}

/// Whether two sides that take turns exchange them in this pair of turns: drawn, so that each goes first as often as the other.
pub(crate) fn exchanges(seed: u64, pair: u32) -> bool {
    mixed(seed.wrapping_add(pair.into())) & 1 == 1
}

/// The protocol's mixer, SplitMix64.
fn mixed(x: u64) -> u64 {
    let z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The size of a page.
fn bytes(header: &PageHeader) -> u64 {
    (HEADER_BYTES + 2 * header.capacity as usize * RECORD_BYTES) as u64
}

/// Gives a new file its size and the space for it.
fn reserve(file: &File, bytes: u64) -> std::io::Result<()> {
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(bytes),
        other => Ok(other?),
    }
}

/// The number at an offset of a block or a record.
fn u32_in(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_le_bytes(*four))
}

/// The same of eight bytes.
fn u64_in(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |eight| u64::from_le_bytes(*eight))
}

fn side_at(side: usize) -> usize {
    assert!(side < 2, "a page has two sides");
    256 + side * SIDE_BYTES
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const LAYOUT: &str = include_str!("../../../hooks/protocol/golden/layout.json");
    const RECORD: &str = include_str!("../../../hooks/protocol/golden/record.json");

    fn golden(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    /// Offsets of these fields as the golden file has them.
    #[track_caller]
    fn check(part: &str, fields: &[(&str, usize)]) {
        let layout = golden(LAYOUT);
        for (name, offset) in fields {
            let field = layout[part].as_array().unwrap().iter().find(|f| f["name"] == *name);
            assert_eq!(field.unwrap_or_else(|| panic!("no `{name}`"))["offset"], *offset, "{part}.{name}");
        }
    }

    #[test]
    fn the_layout_is_the_golden_one() {
        let layout = golden(LAYOUT);
        assert_eq!(layout["magic"].as_str().unwrap().as_bytes(), super::MAGIC.to_le_bytes());
        let sizes =
            ["sides_offset", "side_size", "records_offset", "record_size"].map(|name| layout[name].as_u64().unwrap());
        assert_eq!(sizes, [side_at(0), SIDE_BYTES, HEADER_BYTES, RECORD_BYTES].map(|n| n as u64));
        use header::*;
        check(
            "header",
            &[("magic", MAGIC), ("version", VERSION), ("mode", MODE), ("seed", SEED), ("slice_ns", SLICE_NS)],
        );
        check("header", &[("trial_ns", TRIAL_NS), ("warmup_slices", WARMUP_SLICES), ("capacity", CAPACITY)]);
        check("header", &[("block_slices", BLOCK_SLICES), ("stretch", STRETCH), ("k_hint", K_HINT)]);
        check("header", &[("core_0", CORE_0), ("core_1", CORE_1), ("swap", SWAP), ("slices", SLICES)]);
        check("header", &[("gc_ns", GC_NS), ("warm_ns", WARM_NS), ("stop", STOP)]);
        check("side", &[("state", side::STATE), ("style", side::STYLE), ("k", side::K), ("k_ns", side::K_NS)]);
        check("side", &[("records", side::RECORDS), ("left_early", side::LEFT_EARLY), ("gc_period", side::GC_PERIOD)]);
        check("side", &[("gc_cost_ns", side::GC_COST_NS), ("background_ns", side::BACKGROUND_NS)]);
    }

    fn header(capacity: u32) -> PageHeader {
        PageHeader {
            mode: PageMode::Interleaved,
            seed: 7,
            slice_ns: 200_000,
            trial_ns: 30_000_000,
            warmup_slices: 16,
            capacity,
            block_slices: 16,
            stretch: 0,
            gc_ns: 1_000_000_000,
            warm_ns: 0,
            k_hint: 0,
            cores: [0, 1],
            swap: true,
            slices: 0,
        }
    }

    fn page(dir: &tempfile::TempDir, capacity: u32) -> Page {
        Page::create(&dir.path().join("page"), &header(capacity)).unwrap()
    }

    #[test]
    fn a_record_is_read_as_the_golden_one_was_written() {
        let (dir, golden) = (tempfile::tempdir().unwrap(), golden(RECORD));
        let page = page(&dir, 4);
        let hex = golden["hex"].as_str().unwrap();
        let bytes: Vec<u8> = (0..64).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        let place = HEADER_BYTES + (4 + 2) * RECORD_BYTES; // side 1, third record
        page.memory.write_all_at(&bytes, place as u64).unwrap();
        page.put(side_at(1) + side::RECORDS, 3u32.to_le_bytes());
        let (fields, record) = (&golden["fields"], page.records(1)[2]);
        let read = [record.invocations, record.wall_ns, record.cpu_ns, record.allocs, record.bytes, record.start_ns];
        let names = ["invocations", "wall_ns", "cpu_ns", "allocs", "bytes", "start_ns"];
        assert_eq!(read, names.map(|name| fields[name].as_u64().unwrap()));
        assert_eq!(
            [record.slice, record.gcs, record.block].map(u64::from),
            ["slice", "gcs", "block"].map(|n| fields[n].as_u64().unwrap())
        );
        let flags = fields["flags"].as_u64().unwrap();
        let said = [record.warm_up, record.has_memory, record.has_cpu, record.counts_cycles];
        assert_eq!(said, [1, 4, 16, 64].map(|bit| flags & bit != 0));
    }

    #[test]
    fn counts_that_measured_code_made_up_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let page = page(&dir, 4);
        page.put(side_at(0) + side::RECORDS, u32::MAX.to_le_bytes());
        page.put(side_at(0) + side::STYLE, 99u32.to_le_bytes());
        assert_eq!(page.records(0).len(), 4);
        assert_eq!(page.status(0).style, None);
    }

    #[test]
    fn a_page_in_a_file_that_a_side_cut_off_reads_as_empty_and_is_whole_again_for_the_next_trial() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page");
        let page = Page::in_file(&path, &header(4)).unwrap();
        page.put(side_at(0) + side::RECORDS, 2u32.to_le_bytes());
        assert_eq!(page.records(0).len(), 2);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(HEADER_BYTES as u64).unwrap();
        assert_eq!(page.records(0).iter().map(|r| r.invocations).collect::<Vec<_>>(), [0, 0]);
        file.set_len(0).unwrap();
        assert_eq!((page.records(0).len(), page.status(0).arrived), (0, false));
        page.reset(&header(4));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes(&header(4)));
        assert_eq!(page.get(header::MAGIC), *b"DUETPAG1");
    }

    #[test]
    fn a_page_is_private_new_after_a_reset_and_gone_after_use() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let page = page(&dir, 4);
        let path = page.path().to_owned();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Page::create(&path, &header(4)).is_err(), "a file that is already there must not be taken");
        page.mark_gone(1);
        page.stop();
        page.put(side_at(0) + side::RECORDS, 2u32.to_le_bytes());
        page.reset(&header(4));
        assert_eq!((page.records(0).len(), page.get::<4>(header::STOP)), (0, [0; 4]));
        assert_eq!(page.get::<4>(side_at(1) + side::STATE), [0; 4]);
        drop(page);
        assert!(!path.exists());
    }
}
