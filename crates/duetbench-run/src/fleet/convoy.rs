//! The functions of one run, one for each package: deployed together, and removed together in every case.

use std::cell::Cell;

use super::package::Package;
use super::{Deployed, Deployment, Engine, FleetError};

/// The deployed functions of a run; removed on drop, if they were not before.
pub struct Convoy<'e> {
    deployed: Vec<Box<dyn Deployed + 'e>>,
    /// Whether removing was tried: who was patient once need not be again.
    removed: Cell<bool>,
}

impl<'e> Convoy<'e> {
    /// Deploys every package as `usual` says, but for its own file, name and size; names begin with that of `usual`.
    ///
    /// # Errors
    /// When one cannot be deployed; the others are removed again.
    pub fn deploy(
        engine: &'e dyn Engine,
        packages: &[Package],
        usual: &Deployment<'_>,
    ) -> Result<Convoy<'e>, FleetError> {
        let mut convoy = Convoy { deployed: Vec::new(), removed: Cell::new(false) };
        for (number, package) in packages.iter().enumerate() {
            let run = if packages.len() == 1 { usual.run.to_owned() } else { format!("{}-{number}", usual.run) };
            let wish = Deployment { package: &package.file, run: &run, disk_mb: package.unpacked_mb, ..*usual };
            convoy.deployed.push(engine.deploy(&wish)?);
        }
        Ok(convoy)
    }

    /// The deployed functions, in the order of the packages.
    pub fn each(&self) -> Vec<&dyn Deployed> {
        self.deployed.iter().map(|deployed| &**deployed).collect()
    }

    /// Removes all of it.
    ///
    /// # Errors
    /// Names what is still there; the rest is gone.
    pub fn remove(&self) -> Result<(), FleetError> {
        self.removed.set(true);
        let mut left = Vec::new();
        for deployed in &self.deployed {
            if let Err(e) = deployed.remove() {
                left.push(format!("`{}` could not be removed: {e}", deployed.name()));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(FleetError::new(left.join("; ")).hint("`duet fleet sweep` removes it once its time is up"))
    }
}

impl Drop for Convoy<'_> {
    fn drop(&mut self) {
        // Whoever wants to know has asked before.
        if !self.removed.get() {
            let _ = self.remove();
        }
    }
}
