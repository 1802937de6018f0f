//! Watches what the machine does while something is measured: reads its counters before and after, cheaply.
//!
//! [`Watch`] keeps the files open and reads them again in place. Around every trial it reads the clocks, `/proc/stat`, our own
//! processor time and the counters of a processor quota. What costs more or changes more seldom (frequencies, thermal events,
//! pressure, load, boot id and model) it reads at most once a second, and at once after a sleep or a step of the time of day.
//! [`facts`] tells what does not change, [`hiccup`] looks for time that is taken away.
//!
//! Nothing here fails: what the system does not tell, or tells in a way we do not understand, is absent.

mod cgroup;
mod clocks;
mod counters;
mod facts;
pub mod hiccup;
mod slow;
mod source;
mod watch;

pub use clocks::{Clocks, SystemClocks};
pub use facts::{facts, facts_at};
pub use watch::Watch;

/// Reads a text as each of the kernel's, for `fuzz/`.
#[cfg(any(fuzzing, debug_assertions))]
pub fn fuzz(text: &str) {
    counters::stat(text, &[0, 1]);
    counters::cpus_listed(text);
    counters::children_ns(text);
    counters::process_ns(text);
    counters::quota(text);
    counters::pressure_ns(text);
    counters::cpu_model(text);
    counters::cpuinfo_khz(text, &[0, 1]);
}
