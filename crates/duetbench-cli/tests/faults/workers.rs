//! Measured processes of a run, and what can be done to them.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use rustix::thread::CpuSet;

use crate::common::{wait_until, working_below};

/// Processes that this `duet` started to be measured, and what these started: it marks them.
pub fn workers(duet: u32) -> Vec<Pid> {
    let mark = format!("MEASURED_BY_DUET={duet}.").into_bytes();
    let has_mark = |environ: &[u8]| environ.windows(mark.len()).any(|window| window == mark);
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        // A process that has ended but was not waited for has no environment any more.
        if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
            && fs::read(entry.path().join("environ")).is_ok_and(|environ| has_mark(&environ))
        {
            found.push(pid);
        }
    }
    found
}

/// Fails unless all processes of a `duet` that has ended are gone soon.
#[track_caller]
pub fn nobody_is_left(duet: u32) {
    wait_until("no process outlives `duet`", || workers(duet).is_empty());
}

/// Names of the programs that work below a directory.
pub fn at_work_below(dir: &Path) -> Vec<String> {
    let below = working_below(dir).into_iter();
    below.filter_map(|process| Some(fs::read_to_string(process.join("comm")).ok()?.trim().to_owned())).collect()
}

/// Fails unless all that works below a directory, the Go toolchain included, comes to its end soon.
#[track_caller]
pub fn nobody_works_below(dir: &Path) {
    wait_until("nobody works there", || at_work_below(dir).is_empty());
}

/// Whether it was there to be killed.
pub fn kill(worker: Pid) -> bool {
    rustix::process::kill_process(worker, Signal::KILL).is_ok()
}

/// Stops a process for a while; whether it was there.
pub fn stop(worker: Pid, time: Duration) -> bool {
    let stopped = rustix::process::kill_process(worker, Signal::STOP).is_ok();
    std::thread::sleep(time);
    let _ = rustix::process::kill_process(worker, Signal::CONT);
    stopped
}

/// Takes the processor away from a process for a while: all it gets is one that two others want, and it is the politest.
pub fn starve(worker: Pid, time: Duration) -> bool {
    let mut first = CpuSet::new();
    first.set(0);
    let starved = rustix::process::setpriority_process(Some(worker), 19).is_ok()
        && rustix::thread::sched_setaffinity(Some(worker), &first).is_ok();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _ = rustix::thread::sched_setaffinity(None, &first);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        std::thread::sleep(time);
        over.store(true, Ordering::Relaxed);
    });
    starved
}
