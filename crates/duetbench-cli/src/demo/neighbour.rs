//! A noisy neighbour: loads every processor in bursts, as another job on the same machine would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use duetbench_core::Trial;
use duetbench_core::plan::PlannedBenchmark;
use duetbench_run::RunError;
use duetbench_run::engine::{Executor, TrialOutcome};

/// Length of a busy stretch.
const BUSY: Duration = Duration::from_millis(30);
/// Length of the pause after it.
const IDLE: Duration = Duration::from_millis(15);

/// Load on every processor; ends on drop.
#[derive(Debug)]
pub struct Neighbour {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbour {
    /// Begins to load this many processors.
    pub fn start(processors: u32) -> Neighbour {
        let stop = Arc::new(AtomicBool::new(false));
        let work = |stop: Arc<AtomicBool>| {
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    while began.elapsed() < BUSY {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(IDLE);
                }
            }
        };
        let start = |_| std::thread::Builder::new().spawn(work(stop.clone())).ok();
        let threads = (0..processors).filter_map(start).collect();
        Neighbour { stop, threads }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that spins cannot have panicked.
            let _ = thread.join();
        }
    }
}

/// An executor beside which a neighbour works from some suite run on.
pub struct Disturbed<'a> {
    inner: &'a mut dyn Executor,
    from_suite_run: u32,
    processors: u32,
    neighbour: Option<Neighbour>,
}

impl<'a> Disturbed<'a> {
    /// Disturbs `inner` from the given suite run to the end.
    pub fn new(inner: &'a mut dyn Executor, from_suite_run: u32, processors: u32) -> Disturbed<'a> {
        Disturbed { inner, from_suite_run, processors, neighbour: None }
    }
}

impl Executor for Disturbed<'_> {
    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        if trial.suite_run >= self.from_suite_run && self.neighbour.is_none() {
            self.neighbour = Some(Neighbour::start(self.processors));
        }
        self.inner.run_trial(planned, trial)
    }
}
