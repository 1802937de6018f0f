//! The core of a program that has ended, kept busy until its peer ends too.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Signal, pidfd_send_signal};

use super::{Patience, Program, Trouble, wait_for};
use crate::process::Child;

/// Starts a process of one of two programs.
pub(super) type Start<'a> = dyn Fn(&Program) -> Result<Child, Trouble> + Sync + 'a;

/// Processes that fill a core one after the other. Another thread than theirs ends that.
#[derive(Debug, Default)]
pub(super) struct Filling {
    over: AtomicBool,
    /// The one that runs.
    running: Mutex<Option<OwnedFd>>,
}

impl Filling {
    /// Starts the program again and again, until it is over. Each process may take so long.
    pub(super) fn fill(&self, program: &Program, start: &Start<'_>, limit: Duration) -> Result<(), Trouble> {
        let patience = Patience { limit, interrupted: &self.over };
        loop {
            let mut filler = [start(program)?];
            if !self.goes_on_with(&filler[0]) {
                return Ok(());
            }
            let ended = wait_for(&mut filler, 1, Instant::now(), patience);
            if self.over.load(Ordering::Acquire) {
                return Ok(());
            }
            ended.and_then(|()| program.check(&filler[0]))?;
        }
    }

    /// Whether there is still something to fill; if so, this process is killed as soon as there is not.
    fn goes_on_with(&self, filler: &Child) -> bool {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = filler.handle();
        !self.over.load(Ordering::Relaxed)
    }

    /// Ends it.
    pub(super) fn end(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.over.store(true, Ordering::Release);
        if let Some(process) = running.as_ref() {
            // One that is gone already needs no signal.
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    }
}
