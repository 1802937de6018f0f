//! A run on a fleet from its first function to its report.

use std::time::Duration;

use duetbench_core::fleet::Ended;
use duetbench_core::plan::PlannedBenchmark;
use duetbench_core::spec::EngineName;
use duetbench_run::engine::RunSummary;
use duetbench_run::fleet::campaign::{FleetJob, FleetSummary, measure};
use duetbench_run::fleet::convoy::Convoy;
use duetbench_run::fleet::package::{Cargo, Package};
use duetbench_run::store::{RunHead, RunId, Sitting, Store, StoredRun};

use super::errand::Purpose;
use super::outfit::{Outfit, call_max, deployment};
use crate::commands::Context;
use crate::failure::{Failure, code};
use crate::fleet::FleetRecorder;
use crate::seed;
use crate::session::{Kept, lock_machine, resuming};

/// A run with all that it takes along.
pub(super) struct Expedition<'a> {
    pub(super) context: &'a Context,
    pub(super) purpose: &'a dyn Purpose,
    pub(super) outfit: &'a Outfit,
    pub(super) cargo: &'a Cargo<'a>,
    pub(super) packages: &'a [Package],
    pub(super) head: &'a RunHead,
    pub(super) run: RunId,
}

impl Expedition<'_> {
    /// Deploys, measures, removes what was deployed, and reports.
    pub(super) fn carry_out(&self, store: &mut Store) -> Result<u8, Failure> {
        // Instances that are processes of this machine disturb, and are disturbed by, whoever measures on it.
        let is_here = self.outfit.spec.engine == EngineName::Here;
        let _lock = is_here.then(|| lock_machine(self.context)).transpose()?;
        // Money is counted by the limit that the run began with.
        let by_plan = || call_max(&self.head.plan, &self.outfit.spec, self.context.settings.timeout());
        let call_max = self.head.fleet.as_ref().map_or_else(by_plan, |terms| Duration::from_nanos(terms.call_max_ns));
        // Runs of two stores may have the same number, and a sitting that died may have left its functions behind.
        let name = format!("{}-{:08x}", self.run, seed::draw() & 0xffff_ffff);
        let usual = deployment(self.outfit, self.packages.len(), &name, call_max);
        // Building took minutes, in which somebody else may have gone on with the run.
        let begun = store.begin_sitting(self.run, &name, self.outfit.place())?;
        let left = begun.ok_or_else(|| is_being_measured(self.run))?;
        let past = self.arrive(store, &left).inspect_err(|_| {
            // Nothing was deployed yet.
            let _ = store.sitting_removed(self.run, &name);
        })?;
        let convoy = Convoy::deploy(&*self.outfit.engine, self.packages, &usual);
        let convoy = convoy.inspect_err(|_| self.forget_sitting(store, &name))?;
        let summary = self.measure(store, &past, &convoy, call_max);
        // In every case, and whatever came of the measuring is told first.
        let removed = convoy.remove();
        let noted = if removed.is_ok() { store.sitting_removed(self.run, &name) } else { Ok(()) };
        let summary = summary?;
        noted?;
        let measured = Duration::try_from_secs_f64(past.measured_s).unwrap_or_default() + summary.measured;
        let end = RunSummary { measured, complete: summary.is_complete() };
        store.end_sitting(self.run, &end, &summary.abandoned)?;
        let all_removed = removed.is_ok();
        self.say_how_it_ended(&summary, all_removed);
        let exit_of = |judged| exit_of(judged, summary.ended, all_removed);
        let exit = self.purpose.conclude(self.context, Kept { store, run: self.run }, &exit_of)?;
        removed?;
        Ok(exit)
    }

    /// Removes what earlier sittings of this run left behind, and gives what they measured.
    fn arrive(&self, store: &mut Store, left: &[Sitting]) -> Result<StoredRun<RunHead>, Failure> {
        self.outfit.tidy_up(self.context, store, self.run, left)?;
        Ok(store.load(&self.run.to_string())?.comparison()?)
    }

    /// Takes back that a sitting has begun which could not deploy, once nothing of it is there: otherwise its run could not be removed.
    fn forget_sitting(&self, store: &mut Store, name: &str) {
        // Whoever goes on with the run tries again, and the error to be told is the one before.
        let left = store.sittings_left(self.run).unwrap_or_default();
        if self.outfit.sweep(self.context, &left).is_ok() {
            let _ = store.sitting_removed(self.run, name);
        }
    }

    /// Measures what `past` lacks.
    fn measure(
        &self,
        store: &mut Store,
        past: &StoredRun<RunHead>,
        convoy: &Convoy<'_>,
        call_max: Duration,
    ) -> Result<FleetSummary, Failure> {
        let terms = self.head.fleet.as_ref();
        let recipes = |planned: &PlannedBenchmark, build| self.cargo.recipes(self.packages, planned, build);
        let job = FleetJob {
            plan: &self.head.plan,
            thresholds: self.head.spec.thresholds(),
            spec: &self.outfit.spec,
            deployed: &convoy.each(),
            limits: self.outfit.limits,
            call_max,
            timeout: self.context.settings.timeout(),
            recipes: &recipes,
            rate: terms.map_or(self.outfit.prices.rate, |terms| terms.rate),
            past: &past.trials,
            spent_usd: terms.map_or(0.0, |terms| terms.cost_usd(&past.calls, &self.outfit.spec)),
        };
        let benchmarks = self.head.plan.benchmarks.iter().map(|b| &b.id).collect();
        let mut recorder = FleetRecorder::new(store, self.run, benchmarks, &self.context.printer);
        let summary = measure(&job, &mut recorder, &self.context.interrupted);
        recorder.finish();
        summary.map_err(|e| {
            let what = format!("what was measured until then is stored: `{}` goes on", self.resuming());
            self.context.printer.note(&what);
            e.into()
        })
    }

    fn say_how_it_ended(&self, summary: &FleetSummary, all_removed: bool) {
        if summary.is_complete() {
            return;
        }
        // Where nobody could even remove anything, nobody was there to measure what was given up.
        let gone = !all_removed && matches!(summary.ended, Ended::Done | Ended::Broken);
        let why = if gone { "the fleet is gone" } else { summary.ended.words() };
        self.context.printer.note(&format!("{why}; `{}` goes on from here", self.resuming()));
    }

    /// The command that goes on with the run.
    fn resuming(&self) -> String {
        resuming(self.context, &self.purpose.goes_on(self.run))
    }
}

/// The refusal of a run that another sitting goes on with.
pub(super) fn is_being_measured(run: RunId) -> Failure {
    Failure::usage(format!("run `{run}` is being measured: wait for it, or interrupt it"))
}

/// The exit code of a run that was judged so. One that broke off is a failure unless it found a regression.
fn exit_of(judged: u8, ended: Ended, all_removed: bool) -> u8 {
    match ended {
        _ if !all_removed => code::FAILED,
        Ended::Interrupted => code::INTERRUPTED,
        Ended::Broken | Ended::Refused if judged != code::REGRESSION => code::FAILED,
        // More could not be measured under the caps.
        _ => judged,
    }
}
