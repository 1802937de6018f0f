//! The course of a trial.

use std::sync::atomic::Ordering::SeqCst;

use super::link::Link;
use super::page::*;
use super::system;

/// Invocations of a slice that a side fills up while its peer is still in it, and the parts that such a slice would have.
const REFILLED_MIN: u64 = 8;
const REFILL_PARTS: u64 = 1024;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Phase {
    Arriving,
    Calibrating,
    Taking,
    Over,
}

/// The one trial of this process.
pub(super) struct Trial {
    link: Link,
    pub(super) phase: Phase,
    plan: Plan,
    slice: u64,
    k: u64,
    /// The time of the calibration slice that this one repeats.
    repeated: Option<u64>,
    /// The harness leaves something out, such as set-up; CPU time holds it too.
    pauses: bool,
    /// The CPU time of the open slice is read: that takes long, so once it is calibrated a duet does it for the last slice of a block only.
    reads_cpu: bool,
    opened_cpu_ns: u64,
    opened_ns: u64,
    /// This side gets its caches warm before a slice, and records nothing.
    warming: bool,
    /// The slice is closed, and this side goes on until its peer has closed it too.
    refilling: bool,
}

impl Trial {
    pub(super) fn new(link: Link) -> Trial {
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
            reads_cpu: true,
            opened_cpu_ns: 0,
            opened_ns: 0,
            warming: false,
            refilling: false,
        }
    }

    /// The length of a slice, as wanted.
    pub(super) fn slice_ns(&self) -> u64 {
        self.link.header.slice_ns
    }

    /// Closes the slice that is open and opens the next one, with so many invocations; absent when there is none.
    pub(super) fn next(&mut self, ns: u64) -> Option<u64> {
        let going_on = match self.phase {
            Phase::Arriving => self.begin(),
            Phase::Calibrating => {
                let busy_ns = system::clock(system::PROCESS_CPU) - self.opened_cpu_ns;
                let ns = self.calibrated_ns(ns);
                self.calibrate(ns, busy_ns)
            }
            Phase::Taking if self.warming => {
                self.warming = false;
                self.k = self.next_part();
                true
            }
            Phase::Taking => {
                if !self.refilling {
                    self.close(ns);
                }
                if let Some(part) = self.refill() {
                    return Some(part);
                }
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
        charged_ns(ns, elapsed_ns, self.link.header.slice_ns)
    }

    fn calibrate(&mut self, ns: u64, busy_ns: u64) -> bool {
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
        if repeated.is_none() && repeats(self.k, ns, busy_ns, header.trial_ns) {
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

    /// Invocations with which this side of a duet goes on after a slice that its peer has not ended yet, so that the slower one is never
    /// alone; absent when there is nothing to wait for, or where one invocation would make the peer wait in turn.
    fn refill(&mut self) -> Option<u64> {
        if !self.link.is(DUET) || self.k < REFILLED_MIN {
            return None;
        }
        self.refilling = self.link.is_ahead();
        self.refilling.then(|| (self.k / REFILL_PARTS).max(1))
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
        self.warming = self.plan.warm_k > 0;
        self.k = self.next_part();
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

    /// Invocations of the slice, or of the part before it that is not recorded.
    fn next_part(&self) -> u64 {
        if self.warming {
            self.plan.warm_k
        } else {
            self.plan.invocations(self.slice, self.link.header.stretch)
        }
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
        if self.link.is(DUET) {
            // At once: the peer need not wait for the record.
            self.link.closed();
        }
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
    pub(super) fn end(&mut self, early: bool) -> bool {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.link.leave(early);
        }
        false
    }
}
