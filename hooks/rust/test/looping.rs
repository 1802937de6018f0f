//! A benchmark as a harness has it run: an invocation sleeps for so many microseconds, so that what overlaps does so on any machine.
//! Prints the core of every timed stretch.

#[allow(dead_code, unused_imports)]
#[path = "../duet/mod.rs"]
mod duet;

use std::time::{Duration, Instant};

extern "C" {
    fn sched_getcpu() -> i32;
}

fn main() {
    let micros: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("MICROSECONDS");
    let taken = duet::takes("sleeps", None, &mut || {
        let (mut iterations, mut ns) = (1, 0.0);
        while duet::more(&mut iterations, ns) {
            println!("{}", unsafe { sched_getcpu() });
            let start = Instant::now();
            (0..iterations).for_each(|_| std::thread::sleep(Duration::from_micros(micros)));
            ns = start.elapsed().as_nanos() as f64;
        }
    });
    assert!(taken, "nothing is measured");
}
