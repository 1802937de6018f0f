//! Layouts of the two halves of build pairs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use duetbench_core::foreign::{one_line, shortened};
use duetbench_core::report::LayoutsUsed;

/// Order of the functions in a relinked program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout<'a> {
    /// An order of its own, drawn by a seed.
    Random(u32),
    /// An order that is drawn for both halves of a build pair.
    Matched {
        /// The same for both halves.
        seed: u32,
        /// File with the plan for both versions, made before.
        plan: &'a Path,
    },
}

/// Fails with the reason unless two programs are laid out alike, the baseline's first.
pub type CheckAlike = fn([&Path; 2]) -> Result<(), String>;

/// Whether the halves of a package's build pairs are laid out alike, by package.
#[derive(Debug)]
pub struct PairLayouts {
    /// The plan, or the reason why there is none.
    by_package: Mutex<BTreeMap<String, Result<PathBuf, String>>>,
    check: CheckAlike,
}

impl PairLayouts {
    /// No package has a plan yet. Whether halves that followed a plan are alike, `check` tells.
    #[must_use]
    pub fn new(check: CheckAlike) -> PairLayouts {
        PairLayouts { by_package: Mutex::default(), check }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<String, Result<PathBuf, String>>> {
        // Every change of it is a single step.
        self.by_package.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on halves of this package follow a plan, or have an order of their own for this reason.
    pub fn decide(&self, package: &str, plan: Result<PathBuf, String>) {
        self.table().insert(package.to_owned(), plan.map_err(|reason| shortened(&one_line(&reason))));
    }

    /// The plan that both halves follow; absent where each has an order of its own.
    #[must_use]
    pub fn plan(&self, package: &str) -> Option<PathBuf> {
        self.table().get(package)?.clone().ok()
    }

    /// Whether two programs that followed a plan are laid out alike.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn check(&self, programs: [&Path; 2]) -> Result<(), String> {
        (self.check)(programs)
    }

    /// Layouts used, by package, for the report.
    #[must_use]
    pub fn used(&self) -> LayoutsUsed {
        let mut used = LayoutsUsed::default();
        for (package, plan) in &*self.table() {
            match plan {
                Ok(_) => drop(used.matched.insert(package.clone())),
                Err(reason) => drop(used.random.insert(package.clone(), reason.clone())),
            }
        }
        used
    }
}
