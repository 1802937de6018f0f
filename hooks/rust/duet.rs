//! duet's part in a Rust benchmark. It is compiled as a module of the harness: criterion calls `takes` before it runs a benchmark,
//! and `more` before and after each timed stretch. Without `DUET_PAGE` and `DUET_LIST` both do nothing.
//!
//! The behaviour is defined by `hooks/protocol/PROTOCOL.md`. Nothing but the standard library and the C library below it is used, and no
//! newer Rust than the oldest harness asks for.

use std::convert::TryFrom;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

/// Proves that the hook was linked in: it begins every message, so that no linker drops it.
const MARKER: &str = "duet-hook-protocol-1";

pub(crate) const VERSION: u32 = 1;
pub(crate) const HEADER_BYTES: usize = 4096;
const NO_CORE: u32 = u32::MAX;
/// Invocations of one slice: a benchmark that takes no time would otherwise grow for ever.
const K_MAX: u64 = 1_000_000_000;
const SPIN_NS: u64 = 200_000;
const SLEEP_NS: i64 = 50_000_000;
/// Nobody has to wake a side that waits for its peer to arrive, so it looks often.
const ARRIVE_NS: i64 = 1_000_000;
/// Set-up that is not timed may take so many times what is.
const UNTIMED_MAX: u64 = 20;

const DUET: u32 = 0;
const INTERLEAVED: u32 = 1;
const SOLO: u32 = 2;
const ALIVE: u32 = 1;
const DONE: u32 = 2;
const STYLE_LOOP: u32 = 1;

pub(crate) const FLAG_WARM_UP: u32 = 1;
pub(crate) const FLAG_FIRST: u32 = 2;
pub(crate) const FLAG_PAUSED: u32 = 8;
pub(crate) const FLAG_CPU: u32 = 16;

#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) mode: u32,
    pub(crate) seed: u64,
    pub(crate) slice_ns: u64,
    pub(crate) trial_ns: u64,
    pub(crate) warmup_slices: u32,
    pub(crate) capacity: u32,
    pub(crate) block_slices: u32,
    pub(crate) stretch: u32,
    pub(crate) k_hint: u64,
    pub(crate) cores: [u32; 2],
    pub(crate) swap: u32,
    pub(crate) slices: u32,
    pub(crate) gc_ns: u64,
    unused_1: [u8; 40],
    pub(crate) stop: AtomicU32,
    unused_2: [u8; 60],
    pub(crate) turn: AtomicU32,
    unused_3: [u8; 60],
    pub(crate) sides: [Side; 2],
}

/// Atomic where both sides look at it.
#[repr(C)]
pub(crate) struct Side {
    pub(crate) state: AtomicU32,
    pub(crate) style: AtomicU32,
    pub(crate) arrive: AtomicU32,
    pub(crate) asleep: AtomicU32,
    pub(crate) k: AtomicU64,
    pub(crate) k_ns: AtomicU64,
    pub(crate) k_bytes: AtomicU64,
    pub(crate) gc_period: AtomicU64,
    pub(crate) resets: AtomicU32,
    pub(crate) records: AtomicU32,
    pub(crate) parallelism: AtomicU32,
    pub(crate) left_early: AtomicU32,
    pub(crate) slice_ns: AtomicU64,
    pub(crate) gc_cost_ns: AtomicU64,
    pub(crate) background_ns: AtomicU64,
    unused: [u8; 168],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Record {
    pub(crate) slice: u32,
    pub(crate) flags: u32,
    pub(crate) invocations: u64,
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) allocs: u64,
    pub(crate) bytes: u64,
    pub(crate) start_ns: u64,
    pub(crate) gcs: u32,
    pub(crate) block: u32,
}

pub(crate) fn page_size(capacity: u32) -> usize {
    HEADER_BYTES + 2 * capacity as usize * std::mem::size_of::<Record>()
}

/// The side that runs first in a slice of an interleaved trial.
pub(crate) fn lead(seed: u64, slice: u64) -> u32 {
    let mut z = seed.wrapping_add(slice).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) & 1) as u32
}

/// The turn in which a side runs a slice.
pub(crate) fn turn_of(seed: u64, slice: u64, side: u32) -> u32 {
    (2 + 2 * slice) as u32 + (lead(seed, slice) ^ side)
}

/// The side whose turn it is.
pub(crate) fn owner(seed: u64, turn: u32) -> u32 {
    if turn < 2 {
        turn
    } else {
        lead(seed, u64::from(turn - 2) / 2) ^ (turn & 1)
    }
}

/// What a side publishes after calibration.
#[derive(Clone, Copy)]
pub(crate) struct Published {
    pub(crate) k: u64,
    pub(crate) k_ns: u64,
    pub(crate) slice_ns: u64,
}

/// What both sides compute alike from the published numbers. Rust has no collector, so no trial spans its cycles.
#[derive(Clone, Copy, Default)]
pub(crate) struct Plan {
    pub(crate) k: u64,
    pub(crate) warmup: u64,
    pub(crate) slices: u64,
    pub(crate) block: u64,
}

/// A slice's block, and whether the slice is its first and its last.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) number: u64,
    pub(crate) first: bool,
    pub(crate) last: bool,
}

impl Plan {
    pub(crate) fn agree(header: &Header, sides: &[Published]) -> Plan {
        let length = sides.iter().map(|s| s.slice_ns).fold(header.slice_ns, u64::max);
        let fits = |s: &Published| mul_div(s.k.max(1), length, s.k_ns.max(1)).max(1);
        let k = sides.iter().map(fits).fold(K_MAX, u64::min);
        let needs = |s: &Published| mul_div_up(s.k_ns.max(1), k, s.k.max(1));
        let estimate = sides.iter().map(needs).fold(1, u64::max);
        let (room, asked) =
            (u64::from(header.capacity), u64::from(header.warmup_slices).min(u64::from(header.capacity)));
        let timed = if estimate <= header.trial_ns / 4 { asked } else { 0 };
        let (warmup, slices) = match header.slices {
            0 => (timed, (header.trial_ns / estimate).max(1)),
            slices => (asked, u64::from(slices)),
        };
        Plan { k, warmup, slices: slices.min(room - warmup), block: u64::from(header.block_slices.max(1)) }
    }

    pub(crate) fn total(&self) -> u64 {
        self.warmup + self.slices
    }

    pub(crate) fn block_of(&self, slice: u64) -> Block {
        if slice < self.warmup {
            return Block { number: 0, first: slice == 0, last: slice + 1 == self.warmup };
        }
        let n = slice - self.warmup;
        let last = (n + 1) % self.block == 0 || slice + 1 == self.total();
        Block { number: 1 + n / self.block, first: n % self.block == 0, last }
    }

    fn invocations(&self, slice: u64, stretch: u32) -> u64 {
        let stretched = stretch > 1 && self.block_of(slice).number % 2 == 1;
        if stretched {
            self.k.saturating_mul(u64::from(stretch)).min(K_MAX)
        } else {
            self.k
        }
    }
}

fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX)
}

fn mul_div_up(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b) + u128::from(c) - 1) / u128::from(c)).unwrap_or(u64::MAX)
}

/// The size of the calibration slice after one of `k` invocations that took so long; absent: it was long enough.
pub(crate) fn grown(k: u64, ns: u64, slice_ns: u64) -> Option<u64> {
    if k >= K_MAX || ns >= mul_div_up(slice_ns, 7, 10) {
        return None;
    }
    let wanted = mul_div_up(k, slice_ns, ns.max(1)).min(k.saturating_mul(100));
    Some(wanted.max(k + 1).min(K_MAX))
}

mod system {
    use std::os::raw::{c_int, c_long, c_ulong, c_void};
    use std::sync::atomic::AtomicU32;

    #[cfg(target_arch = "x86_64")]
    const FUTEX: c_long = 202;
    #[cfg(not(target_arch = "x86_64"))]
    const FUTEX: c_long = 98;
    const KILL: c_ulong = 9;
    const PARENT_DEATH_SIGNAL: c_int = 1;
    const CPUS_MAX: u32 = 8192;

    #[repr(C)]
    struct Timespec {
        seconds: i64,
        ns: i64,
    }

    extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
        fn getppid() -> c_int;
        fn mmap(
            at: *mut c_void,
            length: usize,
            protection: c_int,
            flags: c_int,
            file: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn prctl(option: c_int, argument: c_ulong, ...) -> c_int;
        fn sched_setaffinity(thread: c_int, size: usize, mask: *const u64) -> c_int;
        fn syscall(number: c_long, ...) -> c_long;
    }

    pub(super) const MONOTONIC: c_int = 1;
    pub(super) const PROCESS_CPU: c_int = 2;

    pub(super) fn clock(which: c_int) -> u64 {
        let mut time = Timespec { seconds: 0, ns: 0 };
        unsafe { clock_gettime(which, &mut time) };
        time.seconds as u64 * 1_000_000_000 + time.ns as u64
    }

    /// Sleeps while the word is as it was seen; other reasons to wake up do no harm.
    pub(super) fn sleep(word: &AtomicU32, seen: u32, limit_ns: i64) {
        let limit = Timespec { seconds: 0, ns: limit_ns };
        let nobody: *const c_void = std::ptr::null();
        unsafe {
            syscall(FUTEX, word as *const AtomicU32, 0 as c_int, seen, &limit as *const Timespec, nobody, 0 as c_int)
        };
    }

    pub(super) fn wake(word: &AtomicU32) {
        let nobody: *const c_void = std::ptr::null();
        unsafe { syscall(FUTEX, word as *const AtomicU32, 1 as c_int, 1 as c_int, nobody, nobody, 0 as c_int) };
    }

    pub(super) fn parent() -> i32 {
        unsafe { getppid() }
    }

    pub(super) fn die_with_parent() {
        unsafe { prctl(PARENT_DEATH_SIGNAL, KILL) };
    }

    /// Maps a file to be shared; absent where the system refuses.
    pub(super) fn map(file: &std::fs::File, length: usize) -> Option<*mut u8> {
        use std::os::unix::io::AsRawFd;
        const READ_AND_WRITE: c_int = 3;
        const SHARED: c_int = 1;
        let at = unsafe { mmap(std::ptr::null_mut(), length, READ_AND_WRITE, SHARED, file.as_raw_fd(), 0) };
        if at as isize == -1 {
            None
        } else {
            Some(at as *mut u8)
        }
    }

    /// Moves all threads of this process to a core, the calling one first: threads that it starts inherit its core.
    pub(super) fn move_to(core: u32) {
        if core >= CPUS_MAX {
            return;
        }
        let mut mask = [0u64; CPUS_MAX as usize / 64];
        mask[core as usize / 64] = 1 << (core % 64);
        let one = |thread: c_int| unsafe { sched_setaffinity(thread, std::mem::size_of_val(&mask), mask.as_ptr()) };
        one(0);
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        // One that has ended meanwhile needs no core.
        threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).for_each(|thread| {
            let _ = one(thread);
        });
    }
}

/// A side's end of the page. Whoever waits learns `false` when the wait ended for another reason than the one hoped for.
struct Link {
    header: &'static Header,
    records: *mut Record,
    side: u32,
    barrier: u32,
    swaps: u32,
    parent: i32,
    /// The turn after the last slice; 0: not known yet.
    end: u32,
}

// The page is only written through by the thread that holds the lock.
unsafe impl Send for Link {}

impl Link {
    fn open(path: &str, side: u32) -> Result<Link, &'static str> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(|_| "cannot be opened")?;
        let length = file.metadata().map_err(|_| "cannot be opened")?.len() as usize;
        if length < HEADER_BYTES {
            return Err("is not a page: it is too short");
        }
        let page = system::map(&file, length).ok_or("cannot be mapped")?;
        // It is aligned to whole pages, long enough, and never unmapped.
        let header = unsafe { &*(page as *const Header) };
        if header.magic != *b"DUETPAG1" || header.version != VERSION {
            return Err("is not a page of version 1");
        }
        if header.capacity <= header.warmup_slices || length < page_size(header.capacity) {
            return Err("has no room for a slice that counts");
        }
        let first = side as usize * header.capacity as usize;
        let records = unsafe { (page.add(HEADER_BYTES) as *mut Record).add(first) };
        Ok(Link { header, records, side, barrier: 0, swaps: 0, parent: system::parent(), end: 0 })
    }

    fn own(&self) -> &'static Side {
        &self.header.sides[self.side as usize]
    }

    fn peer(&self) -> &'static Side {
        &self.header.sides[1 - self.side as usize]
    }

    fn is(&self, mode: u32) -> bool {
        self.header.mode == mode
    }

    fn stopped(&self) -> bool {
        self.header.stop.load(SeqCst) != 0
    }

    fn broken(&self) -> bool {
        self.stopped() || self.peer().state.load(SeqCst) >= DONE
    }

    /// Sleeps until the word is as hoped for.
    fn wait(&self, word: &AtomicU32, limit_ns: i64, hoped: impl Fn(u32) -> bool) -> bool {
        loop {
            let seen = word.load(SeqCst);
            if hoped(seen) {
                return true;
            }
            if self.broken() || system::parent() != self.parent {
                // The peer may have done its part and left before it was looked at.
                return hoped(word.load(SeqCst));
            }
            system::sleep(word, seen, limit_ns);
        }
    }

    fn arrive(&self) -> bool {
        self.own().style.store(STYLE_LOOP, SeqCst);
        self.own().state.store(ALIVE, SeqCst);
        system::wake(&self.own().state);
        self.is(SOLO) || self.wait(&self.peer().state, ARRIVE_NS, |state| state == ALIVE)
    }

    fn leave(&self, early: bool) {
        if early {
            self.own().left_early.store(1, SeqCst);
        }
        self.own().state.store(DONE, SeqCst);
        system::wake(&self.own().state);
        system::wake(&self.own().arrive);
        system::wake(&self.header.turn);
    }

    /// A barrier. First it spins, because falling asleep and waking up takes longer than the peer usually needs.
    fn meet(&mut self) -> bool {
        self.barrier += 1;
        let barrier = self.barrier;
        let (own, peer) = (self.own(), self.peer());
        own.arrive.store(barrier, SeqCst);
        if peer.asleep.load(SeqCst) != 0 {
            system::wake(&own.arrive);
        }
        let start = system::clock(system::MONOTONIC);
        while system::clock(system::MONOTONIC) - start < SPIN_NS && !self.broken() {
            if (0..64).any(|_| peer.arrive.load(SeqCst) >= barrier) {
                return true;
            }
        }
        // First say that this side sleeps, then look, then sleep: the peer first arrives and then looks who sleeps.
        own.asleep.store(1, SeqCst);
        let met = self.wait(&peer.arrive, SLEEP_NS, |reached| reached >= barrier);
        own.asleep.store(0, SeqCst);
        met
    }

    fn turn(&self, slice: u64) -> u32 {
        turn_of(self.header.seed, slice, self.side)
    }

    fn await_turn(&self, turn: u32) -> bool {
        self.wait(&self.header.turn, SLEEP_NS, |now| now == turn)
    }

    fn pass(&self, turn: u32) {
        let next = turn + 1;
        self.header.turn.store(next, SeqCst);
        if next == self.end || owner(self.header.seed, next) != self.side {
            system::wake(&self.header.turn);
        }
    }

    /// Moves to this side's core of a duet; after an exchange, to the peer's.
    fn take_core(&self) {
        let core = self.header.cores[((self.side + self.swaps) % 2) as usize];
        if self.is(DUET) && core != NO_CORE {
            system::move_to(core);
        }
    }

    fn published(&self) -> Vec<Published> {
        let of =
            |s: &Side| Published { k: s.k.load(SeqCst), k_ns: s.k_ns.load(SeqCst), slice_ns: s.slice_ns.load(SeqCst) };
        let own = of(self.own());
        if self.is(SOLO) {
            vec![own]
        } else {
            vec![own, of(self.peer())]
        }
    }

    fn add(&self, record: Record) {
        let n = self.own().records.load(SeqCst);
        if n < self.header.capacity {
            unsafe { self.records.add(n as usize).write(record) };
            // Last: a record counts as written when this has passed it.
            self.own().records.store(n + 1, SeqCst);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Arriving,
    Calibrating,
    Taking,
    Over,
}

/// The one trial of this process.
struct Trial {
    link: Link,
    phase: Phase,
    plan: Plan,
    slice: u64,
    k: u64,
    /// The time of the calibration slice that this one repeats.
    repeated: Option<u64>,
    /// The harness leaves something out, such as set-up; CPU time holds it too.
    pauses: bool,
    /// The CPU time of the open slice is read: that takes long, so a duet does it for the last slice of a block only.
    reads_cpu: bool,
    opened_cpu_ns: u64,
    opened_ns: u64,
}

impl Trial {
    fn new(link: Link) -> Trial {
        let plan = Plan::default();
        let (phase, repeated) = (Phase::Arriving, None);
        Trial {
            link,
            phase,
            plan,
            slice: 0,
            k: 0,
            repeated,
            pauses: false,
            reads_cpu: false,
            opened_cpu_ns: 0,
            opened_ns: 0,
        }
    }

    /// Closes the slice that is open and opens the next one, with so many invocations; absent when there is none.
    fn next(&mut self, ns: u64) -> Option<u64> {
        let going_on = match self.phase {
            Phase::Arriving => self.begin(),
            Phase::Calibrating => {
                let ns = self.calibrated_ns(ns);
                self.calibrate(ns)
            }
            Phase::Taking => {
                self.close(ns);
                self.go_on()
            }
            Phase::Over => false,
        };
        if !going_on {
            return None;
        }
        self.open();
        Some(self.k)
    }

    fn begin(&mut self) -> bool {
        self.phase = Phase::Calibrating;
        if !self.link.arrive() || self.link.is(INTERLEAVED) && !self.link.await_turn(self.link.side) {
            return self.end(true);
        }
        self.link.take_core();
        self.k = self.link.header.k_hint.max(1).min(K_MAX);
        true
    }

    /// Set-up that the harness leaves out takes its time too: a slice must not become long for little that is timed.
    fn calibrated_ns(&mut self, ns: u64) -> u64 {
        let elapsed_ns = system::clock(system::MONOTONIC) - self.opened_ns;
        // Found here and not in each slice, where an interruption in what is timed would hide what is left out.
        self.pauses |= elapsed_ns > ns.saturating_add(ns / 16 + 2000);
        ns.max(elapsed_ns / UNTIMED_MAX)
    }

    fn calibrate(&mut self, ns: u64) -> bool {
        let header = self.link.header;
        let repeated = self.repeated.take();
        let ns = repeated.map_or(ns, |first| ns.min(first));
        if self.link.stopped() {
            return self.settle(ns);
        }
        if let Some(k) = grown(self.k, ns, header.slice_ns) {
            self.k = k;
            return true;
        }
        // One interruption would otherwise pass for a slow benchmark, and make all slices tiny.
        if repeated.is_none() && self.k < K_MAX && ns <= header.trial_ns / 4 {
            self.repeated = Some(ns);
            return true;
        }
        self.settle(ns)
    }

    /// Publishes the result of calibration, waits for the peer's and agrees on the plan.
    fn settle(&mut self, ns: u64) -> bool {
        let own = self.link.own();
        own.k.store(self.k, SeqCst);
        own.k_ns.store(ns, SeqCst);
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        own.parallelism.store(threads as u32, SeqCst);
        let link = &mut self.link;
        let met = match link.header.mode {
            SOLO => true,
            DUET => link.meet(),
            _ => {
                link.pass(link.side);
                link.await_turn(link.turn(0))
            }
        };
        if !met {
            return self.end(true);
        }
        self.plan = Plan::agree(link.header, &link.published());
        link.end = (2 + 2 * self.plan.total()) as u32;
        self.phase = Phase::Taking;
        self.prepare()
    }

    fn go_on(&mut self) -> bool {
        self.slice += 1;
        if self.link.is(INTERLEAVED) {
            self.link.pass(self.link.turn(self.slice - 1));
        }
        if self.slice < self.plan.total() {
            return self.prepare();
        }
        let together = match self.link.header.mode {
            DUET => self.link.meet(),
            INTERLEAVED => self.link.await_turn(self.link.end),
            _ => true,
        };
        self.end(!together)
    }

    /// Does the slow work before a slice and waits until it may open.
    fn prepare(&mut self) -> bool {
        let block = self.plan.block_of(self.slice);
        self.k = self.plan.invocations(self.slice, self.link.header.stretch);
        self.reads_cpu = block.last || !self.link.is(DUET);
        let link = &mut self.link;
        let ready = match link.header.mode {
            INTERLEAVED => self.slice == 0 || link.await_turn(link.turn(self.slice)),
            DUET => {
                // Cores are exchanged when both are here: who is still in its slice would otherwise share its core.
                let paused = !block.first || link.meet();
                if paused && block.first && link.header.swap != 0 {
                    link.swaps += 1;
                    link.take_core();
                }
                paused && link.meet()
            }
            _ => true,
        };
        let going_on = ready && !link.stopped();
        going_on || self.end(true)
    }

    /// The clock is read last.
    fn open(&mut self) {
        if self.reads_cpu {
            self.opened_cpu_ns = system::clock(system::PROCESS_CPU);
        }
        self.opened_ns = system::clock(system::MONOTONIC);
    }

    /// The clock of the process is read first; the harness has read its own before.
    fn close(&mut self, ns: u64) {
        let cpu_ns = if self.reads_cpu { system::clock(system::PROCESS_CPU) } else { 0 };
        let block = self.plan.block_of(self.slice);
        let mut record = Record { slice: self.slice as u32, invocations: self.k, wall_ns: ns, ..Record::default() };
        record.start_ns = self.opened_ns;
        record.block = block.number as u32;
        let mut flag = |holds: bool, flag: u32| record.flags |= if holds { flag } else { 0 };
        flag(self.slice < self.plan.warmup, FLAG_WARM_UP);
        flag(block.first, FLAG_FIRST);
        flag(self.pauses, FLAG_PAUSED);
        flag(self.reads_cpu && !self.pauses, FLAG_CPU);
        if record.flags & FLAG_CPU != 0 {
            record.cpu_ns = cpu_ns - self.opened_cpu_ns;
        }
        self.link.add(record);
    }

    /// Ends the trial for this side; always `false`, as nothing goes on.
    fn end(&mut self, early: bool) -> bool {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.link.leave(early);
        }
        false
    }
}

/// What this process was started for.
enum Job {
    /// The harness runs as if unhooked.
    Off,
    List {
        file: File,
        skipped: Option<String>,
    },
    Measure {
        bench: String,
        page: String,
        side: u32,
    },
}

struct Hook {
    job: Job,
    /// The trial, while the benchmark to measure runs.
    trial: Option<Trial>,
    /// A stretch that is not measured is under way.
    open: bool,
    /// Time of such stretches, nanoseconds.
    ns: u64,
}

static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

fn hook() -> MutexGuard<'static, Option<Hook>> {
    let mut hook = HOOK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if hook.is_none() {
        *hook = Some(Hook { job: Job::read(), trial: None, open: false, ns: 0 });
    }
    hook
}

/// Ends the process: to go on unhooked would look like a measurement.
fn die(why: &str) -> ! {
    eprintln!("{}: {}", MARKER, why);
    std::process::exit(2)
}

impl Job {
    /// Reads the variables and removes them, so that programs which the benchmark starts do not take part.
    fn read() -> Job {
        let take = |name: &str| {
            let value = std::env::var(name).ok();
            std::env::remove_var(name);
            value
        };
        let names = ["DUET_PAGE", "DUET_LIST", "DUET_BENCH", "DUET_SIDE", "DUET_PARENT", "DUET_SKIP"];
        let [page, list, bench, side, parent, skip] = names.map(take);
        if page.is_none() && list.is_none() {
            return Job::Off;
        }
        system::die_with_parent();
        if parent.map_or(false, |number| number != system::parent().to_string()) {
            die("started by a duet that is gone");
        }
        if let Some(page) = page {
            let side = match side.as_deref() {
                Some("0") => 0,
                Some("1") => 1,
                _ => die("DUET_SIDE must be 0 or 1"),
            };
            return Job::Measure { bench: bench.unwrap_or_else(|| die("DUET_BENCH is not set")), page, side };
        }
        let path = list.unwrap_or_default();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.unwrap_or_else(|e| die(&format!("cannot write `{}`: {}", path, e)));
        let read = |path: String| std::fs::read_to_string(&path).unwrap_or_else(|e| die(&format!("`{}`: {}", path, e)));
        let skipped = match skip {
            Some(path) if path.is_empty() => None,
            other => Some(other.map_or_else(String::new, read)),
        };
        Job::List { file, skipped }
    }
}

/// A field of a line that lists.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn write_line(line: &str) {
    if let Some(Hook { job: Job::List { file, .. }, .. }) = hook().as_mut() {
        // At once, with no buffer that a crash could lose.
        if let Err(e) = file.write_all(format!("{}\n", line).as_bytes()) {
            die(&e.to_string());
        }
    }
}

/// Whether the hook has this benchmark run, or not run, in place of the harness. `run` calls it once with one iteration; `more` makes a
/// trial of that.
pub(crate) fn takes(name: &str, measurement: &str, run: &mut dyn FnMut()) -> bool {
    enum Part {
        Nothing,
        List,
        Name,
        Measure(Link),
    }
    // Nothing may be held while the benchmark runs.
    let part = match hook().as_mut() {
        None | Some(Hook { job: Job::Off, .. }) => return false,
        Some(Hook { job: Job::List { skipped: None, .. }, .. }) => Part::Name,
        Some(Hook { job: Job::List { skipped: Some(skipped), .. }, .. }) => {
            if skipped.lines().any(|line| line == escaped(name)) {
                Part::Nothing
            } else {
                Part::List
            }
        }
        Some(Hook { job, .. }) => match std::mem::replace(job, Job::Off) {
            Job::Measure { bench, page, side } if bench == name => match Link::open(&page, side) {
                // A second benchmark of this name is not wanted.
                Ok(link) => {
                    *job = Job::Measure { bench: String::new(), page, side };
                    Part::Measure(link)
                }
                Err(why) => die(&format!("`{}` {}", page, why)),
            },
            other => {
                *job = other;
                Part::Nothing
            }
        },
    };
    match part {
        Part::Nothing => {}
        Part::Name => write_line(&format!("name\t{}", escaped(name))),
        Part::List => list(name, measurement, run),
        Part::Measure(link) => {
            set_trial(Some(Trial::new(link)));
            run();
            if let Some(mut trial) = set_trial(None) {
                trial.end(false);
            }
        }
    }
    true
}

fn set_trial(trial: Option<Trial>) -> Option<Trial> {
    hook().as_mut().and_then(|hook| std::mem::replace(&mut hook.trial, trial))
}

/// Runs a benchmark once and notes its time.
fn list(name: &str, measurement: &str, run: &mut dyn FnMut()) {
    write_line(&format!("start\t{}", escaped(name)));
    if !measurement.ends_with("WallTime") {
        return write_line(&format!(
            "refuse\t{}\tit measures by {}, which is not time",
            escaped(name),
            escaped(measurement)
        ));
    }
    run();
    let ns = hook().as_mut().map_or(0, |hook| std::mem::take(&mut hook.ns));
    write_line(&format!("leaf\t{}\tloop\t{}\t0\t0\t1\t0", escaped(name), ns));
}

/// Called before a timed stretch and after it, with its iterations and its time by the harness's clock; whether there is another one.
pub(crate) fn more(iterations: &mut u64, ns: f64) -> bool {
    let mut hook = hook();
    let Some(hook) = hook.as_mut() else { return false };
    match &mut hook.trial {
        Some(trial) if trial.phase != Phase::Over => match trial.next(ns as u64) {
            Some(k) => *iterations = k,
            None => return false,
        },
        _ => {
            hook.ns += if hook.open { ns as u64 } else { 0 };
            hook.open = !hook.open;
            return hook.open;
        }
    }
    true
}
