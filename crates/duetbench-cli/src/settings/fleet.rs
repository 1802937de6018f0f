//! Settings of a fleet.

use std::path::PathBuf;

use duetbench_core::spec::{FleetSpec, defaults};

use super::{Settings, within};
use crate::failure::Failure;
use crate::fleet::this_arch;
use crate::options::{Dollars, FORKS_PER_CALL, Layer, MEMORY_MB, PARALLEL};
use crate::render::command_line::quote;

/// Where functions are made, and as whom. No credential is among it: those are the provider's own business.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// The role that functions run as.
    pub role: Option<String>,
    /// Bucket for large packages.
    pub bucket: Option<String>,
    /// Region.
    pub region: Option<String>,
    /// The worker's program.
    pub worker: Option<PathBuf>,
    /// A file with prices.
    pub prices: Option<PathBuf>,
}

/// The account as it was typed, option by option.
pub(super) fn account_typed(typed: &Layer) -> impl Iterator<Item = String> {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let options = [
        ("role", typed.role.clone()),
        ("bucket", typed.bucket.clone()),
        ("region", typed.region.clone()),
        ("worker", path(&typed.worker)),
        ("prices", path(&typed.prices)),
    ];
    options.into_iter().filter_map(|(name, value)| Some(format!(" --{name} {}", quote(&value?))))
}

impl Settings {
    /// Specification of the fleet, if measuring shall happen on one.
    ///
    /// # Errors
    /// When a number is out of the range that the command line keeps.
    pub(super) fn fleet(&self) -> Result<Option<FleetSpec>, Failure> {
        let Some(engine) = self.first(|l| l.on) else {
            let typed = self.layers.first().filter(|typed| typed.max_cost.is_some() || typed.max_time.is_some());
            let refused = || Failure::usage("`--max-cost` and `--max-time` limit a fleet, and `--on` chooses none");
            return typed.map_or(Ok(None), |_| Err(refused()));
        };
        within("memory", self.first(|l| l.memory), MEMORY_MB)?;
        within("parallel", self.first(|l| l.parallel), PARALLEL)?;
        within("forks_per_call", self.first(|l| l.forks_per_call), FORKS_PER_CALL)?;
        let spec = FleetSpec {
            engine,
            memory_mb: self.first(|l| l.memory).unwrap_or(defaults::FLEET_MEMORY_MB),
            arch: self.first(|l| l.arch).unwrap_or(this_arch()),
            parallel: self.first(|l| l.parallel).unwrap_or(defaults::FLEET_PARALLEL),
            max_cost_usd: defaults::FLEET_COST_MAX_USD,
            max_time: defaults::FLEET_TIME_MAX,
            forks_per_call: self.first(|l| l.forks_per_call).unwrap_or(defaults::FLEET_FORKS_PER_CALL),
        };
        Ok(Some(self.capped(spec)))
    }

    /// With the caps that are set; a run that is resumed may get others.
    pub fn capped(&self, spec: FleetSpec) -> FleetSpec {
        FleetSpec {
            max_cost_usd: self.first(|l| l.max_cost).map_or(spec.max_cost_usd, |Dollars(cost)| cost),
            max_time: self.first(|l| l.max_time).unwrap_or(spec.max_time),
            ..spec
        }
    }

    /// Where functions are made, and as whom.
    pub fn account(&self) -> Account {
        Account {
            role: self.first(|l| l.role.clone()),
            bucket: self.first(|l| l.bucket.clone()),
            region: self.first(|l| l.region.clone()),
            worker: self.first(|l| l.worker.clone()),
            prices: self.first(|l| l.prices.clone()),
        }
    }
}
