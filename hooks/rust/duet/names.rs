//! The way through the tree of benchmarks that divan paints, which names them.

use std::sync::{Mutex, MutexGuard};

static WAY: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn way() -> MutexGuard<'static, Vec<String>> {
    WAY.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Goes into a branch or a leaf.
pub(crate) fn enter(name: &str) {
    if super::is_at_work() {
        way().push(name.to_owned());
    }
}

/// Comes out of it.
pub(crate) fn leave() {
    way().pop();
}

/// Where the painter is, in the form that divan filters by.
pub(crate) fn path() -> String {
    way().join("::")
}
