//! The moment at which a whole program starts: noted by the forked process itself, just before it becomes the program, so that
//! what forking costs us is no part of what it takes. Two that are to start together wait for each other there.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::thread::futex;
use rustix::time::{ClockId, clock_gettime};

use super::{Child, Launch};
use crate::error::RunError;

/// Longest time for two processes to be forked before one of them starts alone.
const FORK_MAX: Duration = Duration::from_secs(10);

/// Memory that forked processes share with us.
#[repr(C)]
#[derive(Debug)]
struct Shared {
    arrived: AtomicU32,
    /// A futex word: not 0 when processes may pass.
    open: AtomicU32,
    starts: [Stamp; 2],
}

/// When a process became the program; zeroes before.
#[repr(C)]
#[derive(Debug)]
struct Stamp {
    at_ns: AtomicU64,
    cpu_ns: AtomicU64,
}

/// A process's own clocks when it became the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) at_ns: u64,
    /// CPU time that it had used by then, being a copy of us.
    pub(super) cpu_ns: u64,
}

/// Where one or two processes note their start. Each serves for one start.
#[derive(Debug)]
pub struct Gate {
    base: NonNull<Shared>,
}

// SAFETY: what it points to is mapped until it is dropped and is accessed through atomics alone.
unsafe impl Send for Gate {}
// SAFETY: likewise.
unsafe impl Sync for Gate {}

impl Gate {
    /// A gate that is open: who comes passes at once.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn opened() -> Result<Arc<Gate>, RunError> {
        let gate = Gate::closed()?;
        gate.open();
        Ok(gate)
    }

    fn closed() -> Result<Arc<Gate>, RunError> {
        let (len, access) = (size_of::<Shared>(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a fresh mapping of our own, which nothing else points into.
        let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, MapFlags::SHARED) };
        let no_room = |source| RunError::Start { program: "a measured process".into(), source };
        let mapped = mapped.map_err(|e| no_room(e.into()))?;
        let base = NonNull::new(mapped.cast()).ok_or_else(|| no_room(std::io::ErrorKind::OutOfMemory.into()))?;
        Ok(Arc::new(Gate { base }))
    }

    fn shared(&self) -> &Shared {
        // SAFETY: mapped until drop, aligned to a page, and zeroes are a valid value of every field.
        unsafe { self.base.as_ref() }
    }

    fn open(&self) {
        self.shared().open.store(1, Ordering::Release);
        let _ = futex::wake(&self.shared().open, futex::Flags::empty(), u32::MAX >> 1);
        let _ = futex::wake(&self.shared().arrived, futex::Flags::empty(), u32::MAX >> 1);
    }

    /// Waits until so many processes are at the gate, or it was opened, or waiting makes no sense any more.
    fn await_arrivals(&self, wanted: u32) {
        let deadline = Instant::now() + FORK_MAX;
        while Instant::now() < deadline && self.shared().open.load(Ordering::Acquire) == 0 {
            let arrived = self.shared().arrived.load(Ordering::Acquire);
            if arrived >= wanted {
                return;
            }
            // Short, because whoever opens the gate meanwhile changes another word than the one slept on.
            let tick = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            let _ = futex::wait(&self.shared().arrived, futex::Flags::empty(), arrived, Some(&tick));
        }
    }

    /// The way of one process, 0 or 1, through it.
    pub(super) fn passage(self: &Arc<Gate>, side: usize) -> Passage {
        Passage { gate: self.clone(), side: side.min(1) }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // SAFETY: mapped with this length, and nobody borrows from it any more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), size_of::<Shared>()) };
    }
}

/// The way of one process through a gate.
#[derive(Debug, Clone)]
pub(super) struct Passage {
    gate: Arc<Gate>,
    side: usize,
}

impl Passage {
    /// Waits for the gate and notes the time. Called in a forked process: it must neither allocate nor take a lock.
    pub(super) fn pass(&self) {
        let shared = self.gate.shared();
        shared.arrived.fetch_add(1, Ordering::AcqRel);
        let _ = futex::wake(&shared.arrived, futex::Flags::empty(), 1);
        while shared.open.load(Ordering::Acquire) == 0 {
            // A sleeper: spinning would count as its CPU time. Should we die, it dies with us.
            let _ = futex::wait(&shared.open, futex::Flags::empty(), 0, None);
        }
        let stamp = &shared.starts[self.side];
        stamp.cpu_ns.store(clock_ns(ClockId::ProcessCPUTime), Ordering::Relaxed);
        stamp.at_ns.store(now_ns(), Ordering::Release);
    }

    /// The start that it noted; absent when it did not come so far.
    pub(super) fn start(&self) -> Option<Start> {
        let stamp = &self.gate.shared().starts[self.side];
        let at_ns = stamp.at_ns.load(Ordering::Acquire);
        (at_ns > 0).then(|| Start { at_ns, cpu_ns: stamp.cpu_ns.load(Ordering::Relaxed) })
    }
}

/// Starts two processes at the same moment, as far as they can be started, and hands them to `body`, which they do not outlive.
///
/// # Errors
/// When there is no memory for a gate.
pub fn spawn_together<T>(
    launches: [&Launch; 2],
    body: impl FnOnce([Result<Child, RunError>; 2]) -> T,
) -> Result<T, RunError> {
    let gate = Gate::closed()?;
    Ok(thread::scope(|scope| {
        let start = |side: usize| {
            let (tell, told) = mpsc::channel();
            let (hold, held) = mpsc::channel::<()>();
            let (gate, launch) = (&gate, launches[side]);
            let refused = tell.clone();
            let started = thread::Builder::new().spawn_scoped(scope, move || {
                let child = launch.spawn_timed(gate, side);
                if child.is_err() {
                    gate.open();
                }
                let _ = tell.send(child);
                // The kernel kills a process when the thread that started it ends.
                let _ = held.recv();
            });
            if let Err(source) = started {
                gate.open();
                let _ = refused.send(Err(RunError::Start { program: launch.program.display().to_string(), source }));
            }
            (told, hold)
        };
        let ([first, second], _holds) = {
            let [(first, a), (second, b)] = [start(0), start(1)];
            ([first, second], [a, b])
        };
        gate.await_arrivals(2);
        gate.open();
        let lost =
            || RunError::Start { program: "a measured process".into(), source: std::io::ErrorKind::Other.into() };
        body([first, second].map(|told| told.recv().unwrap_or_else(|_| Err(lost()))))
    }))
}

/// The monotonic clock, nanoseconds.
pub(super) fn now_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs().saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.unsigned_abs())
}
