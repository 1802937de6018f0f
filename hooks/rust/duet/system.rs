//! Calls of the system.

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
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
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
