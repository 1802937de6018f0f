//! Equipment of a comparison on a fleet: engine, limits, prices, worker, and the sizes of calls and functions.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use duetbench_core::Schedule;
use duetbench_core::plan::Plan;
use duetbench_core::spec::FleetSpec;
use duetbench_run::adapter::Build;
use duetbench_run::fleet::package::{Cargo, Package, Room};
use duetbench_run::fleet::{Deployment, Engine, Leftover, Limits};
use duetbench_run::prepare::Prepared;
use duetbench_run::scratch::Scratch;
use duetbench_run::store::{RunId, Sitting, Store};

use crate::commands::Context;
use crate::failure::Failure;
use crate::fleet::{self, Prices};
use crate::render::format::many;

/// A call may take so many times what it is predicted to take, and as long as a trial may say nothing.
const CALL_PATIENCE: u32 = 4;
/// Longest call that any provider offers.
const CALL_MAX: Duration = Duration::from_secs(900);
/// Shortest and longest time that a trial may say nothing there: unpacking takes its time, and money is held back for all of it.
const SILENCE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(450)];
/// Time for unpacking and answering, so that a benchmark that hangs is told to, and not called cut off.
const CALL_AROUND: Duration = Duration::from_secs(10);
/// Time after its expiry at which a leftover may be swept away.
const LEFTOVER_GRACE: Duration = Duration::from_secs(3600);

/// Everything that is needed to deploy packages and send calls.
pub(super) struct Outfit {
    pub(super) spec: FleetSpec,
    pub(super) engine: Box<dyn Engine>,
    pub(super) limits: Limits,
    pub(super) prices: Prices,
    worker: PathBuf,
    scratch: Scratch,
}

impl Outfit {
    pub(super) fn new(context: &Context, spec: FleetSpec) -> Result<Outfit, Failure> {
        let account = context.settings.account();
        if !context.settings.pass_env().is_empty() {
            return Err(Failure::usage(
                "what a fleet runs sees no variable of yours: leave out `--pass-env`, or measure without `--on`",
            ));
        }
        if context.settings.sandbox() {
            return Err(Failure::usage(
                "a fleet's functions are a boundary of their own: leave out `--sandbox`, or measure without `--on`",
            ));
        }
        let engine = fleet::engine(spec.engine, spec.parallel, &account)?;
        let worker = fleet::worker(&account, spec.arch)?;
        let prices = fleet::prices_of(&account, engine.region())?;
        let limits = engine.limits()?;
        engine.caveats().iter().for_each(|caveat| context.printer.note(caveat));
        Ok(Outfit { spec, engine, limits, prices, worker, scratch: Scratch::new()? })
    }

    pub(super) fn cargo<'a>(&'a self, prepared: &'a Prepared, builds: &'a [Build; 2]) -> Result<Cargo<'a>, Failure> {
        let [baseline, candidate] = &prepared.sources[..] else {
            return Err(Failure::usage("a comparison needs two versions"));
        };
        let sources = [baseline, candidate];
        Ok(Cargo { adapter: &*prepared.adapter, builds, sources, worker: &self.worker, arch: self.spec.arch })
    }

    /// Links and packs up to so many build pairs.
    pub(super) fn pack(
        &self,
        context: &Context,
        cargo: &Cargo<'_>,
        plan: &Plan,
        builds: u32,
    ) -> Result<Vec<Package>, Failure> {
        let pairs = many(builds as usize, "build pair", "build pairs");
        context.printer.note(&format!("linking up to {pairs} of each package, and packing them"));
        let schedule = Schedule::new(plan);
        let layout_seeds: Vec<[u32; 2]> = (0..builds).map(|build| schedule.layout_seeds(build)).collect();
        let room = Room { bytes_max: self.limits.package_bytes, scratch: self.scratch.path() };
        let packages = cargo.pack(&plan.benchmarks, &layout_seeds, room)?;
        for file in packages.first().iter().flat_map(|package| &package.left_out) {
            context.printer.note(&format!("`{}` is too large to travel", file.display()));
        }
        Ok(packages)
    }

    /// Removes what runs that died have left behind once its time is up, and at once what these sittings have.
    pub(super) fn sweep(&self, context: &Context, dead: &[Sitting]) -> Result<(), Failure> {
        let now = SystemTime::now();
        let is_over =
            |leftover: &Leftover| leftover.has_expired(now) || dead.iter().any(|sitting| leftover.is_of(&sitting.name));
        for Leftover { name, .. } in self.engine.sweep(&is_over)?.removed {
            context.printer.note(&format!("swept away `{name}`, which a run that died had left behind"));
        }
        Ok(())
    }

    /// Removes what these sittings of a run could not remove, because they died or nobody answered, and what is nobody's; and notes
    /// that.
    pub(super) fn tidy_up(
        &self,
        context: &Context,
        store: &mut Store,
        run: RunId,
        left: &[Sitting],
    ) -> Result<(), Failure> {
        self.sweep(context, left)?;
        for sitting in left {
            store.sitting_removed(run, &sitting.name)?;
        }
        Ok(())
    }

    /// A directory that is held as long as this process lives.
    pub(super) fn place(&self) -> &Path {
        self.scratch.path()
    }
}

/// Longest time that a call may take, in whole seconds, as providers limit and bill it; `timeout` is the longest silence of a benchmark.
pub(super) fn call_max(plan: &Plan, spec: &FleetSpec, timeout: Duration) -> Duration {
    let longest = plan.benchmarks.iter().map(|b| b.trial_predicted_ns).max().unwrap_or(0);
    let call = Duration::from_nanos(longest).saturating_mul(spec.forks_per_call).saturating_mul(CALL_PATIENCE);
    let call = call.saturating_add(timeout.clamp(SILENCE[0], SILENCE[1])).saturating_add(CALL_AROUND).min(CALL_MAX);
    Duration::from_secs(call.as_secs() + u64::from(call.subsec_nanos() > 0))
}

/// The deployment that so many packages share; `Convoy::deploy` fills in the fields that are each package's own.
pub(super) fn deployment<'a>(outfit: &Outfit, packages: usize, run: &'a str, call_max: Duration) -> Deployment<'a> {
    // Each function's calls are set aside for it, and all of them must be there.
    let share = outfit.limits.parallel / u32::try_from(packages).unwrap_or(u32::MAX).max(1);
    Deployment {
        package: Path::new(""),
        run,
        memory_mb: outfit.spec.memory_mb,
        disk_mb: 0,
        arch: outfit.spec.arch,
        call_max,
        parallel: outfit.spec.parallel.min(share).max(1),
        expires: SystemTime::now() + outfit.spec.max_time + LEFTOVER_GRACE,
    }
}
