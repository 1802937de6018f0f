//! A side's end of the page: everything it does to meet its peer.

use std::fs::OpenOptions;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::page::*;
use super::system;

const SPIN_NS: u64 = 200_000;
const SLEEP_NS: i64 = 50_000_000;
/// Nobody has to wake a side that waits for its peer to arrive, so it looks often.
const ARRIVE_NS: i64 = 1_000_000;

/// Whoever waits learns `false` when the wait ended for another reason than the one hoped for.
pub(super) struct Link {
    pub(super) header: &'static Header,
    records: *mut Record,
    pub(super) side: u32,
    barrier: u32,
    pub(super) swaps: u32,
    parent: i32,
    /// The turn after the last slice; 0: not known yet.
    pub(super) end: u32,
}

// The page is only written through by the thread that holds the lock.
unsafe impl Send for Link {}

impl Link {
    pub(super) fn open(path: &str, side: u32) -> Result<Link, &'static str> {
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

    pub(super) fn own(&self) -> &'static Side {
        &self.header.sides[self.side as usize]
    }

    pub(super) fn peer(&self) -> &'static Side {
        &self.header.sides[1 - self.side as usize]
    }

    pub(super) fn is(&self, mode: u32) -> bool {
        self.header.mode == mode
    }

    pub(super) fn stopped(&self) -> bool {
        self.header.stop.load(SeqCst) != 0
    }

    pub(super) fn broken(&self) -> bool {
        self.stopped() || self.peer().state.load(SeqCst) >= DONE
    }

    /// Sleeps until the word is as hoped for.
    pub(super) fn wait(&self, word: &AtomicU32, limit_ns: i64, hoped: impl Fn(u32) -> bool) -> bool {
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

    pub(super) fn arrive(&self) -> bool {
        self.own().style.store(STYLE_LOOP, SeqCst);
        self.own().state.store(ALIVE, SeqCst);
        system::wake(&self.own().state);
        self.is(SOLO) || self.wait(&self.peer().state, ARRIVE_NS, |state| state == ALIVE)
    }

    pub(super) fn leave(&self, early: bool) {
        if early {
            self.own().left_early.store(1, SeqCst);
        }
        self.own().state.store(DONE, SeqCst);
        system::wake(&self.own().state);
        system::wake(&self.own().arrive);
        system::wake(&self.header.turn);
    }

    /// A barrier. First it spins, because falling asleep and waking up takes longer than the peer usually needs.
    pub(super) fn meet(&mut self) -> bool {
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

    /// Says that this side has closed one more slice.
    pub(super) fn closed(&self) {
        self.own().ended.fetch_add(1, SeqCst);
    }

    /// Whether the peer is still in a slice that this side has closed.
    pub(super) fn is_ahead(&self) -> bool {
        let closed_more = self.own().ended.load(SeqCst).wrapping_sub(self.peer().ended.load(SeqCst)) as i32;
        closed_more > 0 && !self.broken()
    }

    pub(super) fn turn(&self, slice: u64) -> u32 {
        turn_of(self.header.seed, slice, self.side)
    }

    pub(super) fn await_turn(&self, turn: u32) -> bool {
        self.wait(&self.header.turn, SLEEP_NS, |now| now == turn)
    }

    pub(super) fn pass(&self, turn: u32) {
        let next = turn + 1;
        self.header.turn.store(next, SeqCst);
        if next == self.end || owner(self.header.seed, next) != self.side {
            system::wake(&self.header.turn);
        }
    }

    /// Moves to this side's core of a duet; after an exchange, to the peer's.
    pub(super) fn take_core(&self) {
        let core = self.header.cores[((self.side + self.swaps) % 2) as usize];
        if self.is(DUET) && core != NO_CORE {
            system::move_to(core);
        }
    }

    pub(super) fn published(&self) -> Vec<Published> {
        let of =
            |s: &Side| Published { k: s.k.load(SeqCst), k_ns: s.k_ns.load(SeqCst), slice_ns: s.slice_ns.load(SeqCst) };
        let own = of(self.own());
        if self.is(SOLO) {
            vec![own]
        } else {
            vec![own, of(self.peer())]
        }
    }

    pub(super) fn add(&self, record: Record) {
        let n = self.own().records.load(SeqCst);
        if n < self.header.capacity {
            unsafe { self.records.add(n as usize).write(record) };
            // Last: a record counts as written when this has passed it.
            self.own().records.store(n + 1, SeqCst);
        }
    }
}
