//! Reckoning on all cores.

use rayon::ThreadPoolBuilder;

/// Does work whose parallel iterators then use all cores, or, where the system grants no more threads, the one that is there. (The
/// library's own pool would panic then.)
pub fn on_all_cores<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let alone = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    match ThreadPoolBuilder::new().build().or_else(|_| alone()) {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
