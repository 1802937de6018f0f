//! Layouts of the two halves of build pairs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use duetbench_core::foreign::{one_line, shortened};
use duetbench_core::report::LayoutsUsed;

/// Order of the functions in a relinked program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout<'a> {
    /// An order of its own, drawn by a seed, by the means of the toolchain.
    Random(u32),
    /// An order that is drawn by a plan, for what both versions have alike.
    Planned {
        /// Drawn for both halves, or for each.
        seed: u32,
        /// File with the plan for both versions, made before.
        plan: &'a Path,
    },
}

/// Fails with the reason unless two programs are laid out alike, the baseline's first.
pub type CheckAlike = fn([&Path; 2]) -> Result<(), String>;

/// Plan that both halves of a build pair follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// File with the plan.
    pub file: PathBuf,
    /// Whether one seed draws both halves, so that they are laid out alike.
    pub alike: bool,
}

/// Layouts of a package.
#[derive(Debug)]
struct Decided {
    plan: Option<PathBuf>,
    /// Why the halves of a build pair are not laid out alike; absent where they are.
    unlike: Option<String>,
}

/// Whether the halves of a package's build pairs are laid out alike, by package.
#[derive(Debug)]
pub struct PairLayouts {
    by_package: Mutex<BTreeMap<String, Decided>>,
    check: CheckAlike,
}

impl PairLayouts {
    /// No package has a plan yet. Whether halves that followed a plan are alike, `check` tells.
    pub fn new(check: CheckAlike) -> PairLayouts {
        PairLayouts { by_package: Mutex::default(), check }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<String, Decided>> {
        // Every change of it is a single step.
        self.by_package.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on halves of this package are laid out alike by a plan, or have an order of their own for this reason.
    pub fn decide(&self, package: &str, plan: Result<PathBuf, String>) {
        match plan {
            Ok(plan) => self.insert(package, Some(plan), None),
            Err(reason) => self.insert(package, None, Some(reason)),
        }
    }

    /// From now on each half of this package has an order of its own, drawn by a plan, which draws the places of data too.
    pub fn decide_unlike(&self, package: &str, plan: PathBuf, reason: &str) {
        self.insert(package, Some(plan), Some(reason.to_owned()));
    }

    fn insert(&self, package: &str, plan: Option<PathBuf>, unlike: Option<String>) {
        let unlike = unlike.map(|reason| shortened(&one_line(&reason)));
        self.table().insert(package.to_owned(), Decided { plan, unlike });
    }

    /// The plan that both halves follow; absent where there is none.
    pub fn plan(&self, package: &str) -> Option<Plan> {
        let table = self.table();
        let Decided { plan, unlike } = table.get(package)?;
        Some(Plan { file: plan.clone()?, alike: unlike.is_none() })
    }

    /// Whether two programs that followed a plan are laid out alike.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn check(&self, programs: [&Path; 2]) -> Result<(), String> {
        (self.check)(programs)
    }

    /// Layouts used, by package, for the report.
    pub fn used(&self) -> LayoutsUsed {
        let mut used = LayoutsUsed::default();
        for (package, decided) in &*self.table() {
            match &decided.unlike {
                None => drop(used.matched.insert(package.clone())),
                Some(reason) => drop(used.random.insert(package.clone(), reason.clone())),
            }
        }
        used
    }
}
