//! Pairs of processes that tell what benchmarks report under units of their own.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::plan::{Plan, PlannedBenchmark};
use duetbench_core::reported::{PAIRS, PROCESS_NS, UnitReadings};
use duetbench_core::{Role, Schedule};

use super::unmeasured::{Asked, Obstacle, Processes};
use crate::adapter::{Adapter, Build};
use crate::error::RunError;
use crate::import::figures;
use crate::scratch::Scratch;
use crate::tool::each;

/// Reads what the benchmarks of two builds report, on this machine.
pub struct UnitReader<'a> {
    processes: Processes<'a>,
    programs: Scratch,
    /// The package whose programs are linked.
    linked: Option<String>,
}

/// Wall time that reading these benchmarks takes at most, linking included.
#[must_use]
pub fn unit_reading_takes(benchmarks: &[&PlannedBenchmark]) -> Duration {
    let each = |b: &&PlannedBenchmark| Duration::from_nanos(b.first_ns.max(PROCESS_NS));
    benchmarks.iter().map(each).sum::<Duration>() * (2 * PAIRS)
}

impl<'a> UnitReader<'a> {
    /// A reader for two builds, baseline first. A process that takes `timeout` longer than planned counts as hung.
    ///
    /// # Errors
    /// When no private directory can be made.
    pub fn new(
        adapter: &'a dyn Adapter,
        builds: [Build; 2],
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Result<UnitReader<'a>, RunError> {
        let processes = Processes::new(adapter, builds, timeout, interrupted);
        Ok(UnitReader { processes, programs: Scratch::new()?, linked: None })
    }

    /// What both versions of a benchmark report under these units; nothing for units that neither reports. An operation takes
    /// so long in the slower version, in nanoseconds.
    ///
    /// # Errors
    /// When a process fails or hangs, or cannot be linked; on an interrupt.
    pub fn read(
        &mut self,
        (plan, planned): (&Plan, &PlannedBenchmark),
        units: &[String],
        slower_ns: f64,
    ) -> Result<Vec<UnitReadings>, Obstacle> {
        // One invocation tells which units there are; its values may be anything.
        let mut reported = BTreeSet::new();
        for role in Role::BOTH {
            let once = Asked { role, turn: 0, invocations: 1, profile: None, program: None };
            reported.extend(self.figures(planned, once)?.into_iter().map(|(unit, _)| unit));
        }
        let none = |unit: &String| UnitReadings { unit: unit.clone(), baseline: Vec::new(), candidate: Vec::new() };
        let mut readings: Vec<UnitReadings> = units.iter().filter(|unit| reported.contains(*unit)).map(none).collect();
        if readings.is_empty() {
            return Ok(readings);
        }
        let invocations = self.processes.invocations(planned, slower_ns, PROCESS_NS)?;
        self.link(plan, planned)?;
        for turn in 0..PAIRS {
            let roles = if turn % 2 == 0 { Role::BOTH } else { [Role::Candidate, Role::Baseline] };
            for role in roles {
                let program = planned.configuration.design.by_build.then(|| self.program(role, turn));
                let asked = Asked { role, turn, invocations, profile: None, program: program.as_ref() };
                self.add(&mut readings, planned, asked)?;
            }
        }
        Ok(readings)
    }

    /// Runs a process and adds what it reports.
    fn add(&self, readings: &mut [UnitReadings], planned: &PlannedBenchmark, asked: Asked<'_>) -> Result<(), Obstacle> {
        let figures = self.figures(planned, asked)?;
        for read in readings {
            let side = if asked.role == Role::Baseline { &mut read.baseline } else { &mut read.candidate };
            let Some((unit, value)) = figures.iter().find(|(unit, _)| *unit == read.unit) else { continue };
            if !value.is_finite() {
                return Err(Obstacle::Failed(format!("it reported {value} under `{unit}`, which is no number")));
            }
            side.push(*value);
        }
        Ok(())
    }

    /// What a process printed: values with their units, the harness's own among them.
    fn figures(&self, planned: &PlannedBenchmark, asked: Asked<'_>) -> Result<Vec<(String, f64)>, Obstacle> {
        let printed = self.processes.run(planned, asked, PROCESS_NS)?;
        Ok(figures(printed.as_bytes()))
    }

    /// Where a half of a build pair lies.
    fn program(&self, role: Role, pair: u32) -> PathBuf {
        self.programs.path().join(format!("{}-{pair}", role.word()))
    }

    /// Links build pairs of a benchmark's package, in the orders of the run's first ones, unless they are there.
    fn link(&mut self, plan: &Plan, planned: &PlannedBenchmark) -> Result<(), Obstacle> {
        let package = &planned.id.package;
        if !planned.configuration.design.by_build || self.linked.as_ref() == Some(package) {
            return Ok(());
        }
        self.linked = None;
        let schedule = Schedule::new(plan);
        let halves: Vec<(Role, u32)> = (0..PAIRS).flat_map(|pair| Role::BOTH.map(|role| (role, pair))).collect();
        let linked = each(&halves, self.processes.cpus(), |&(role, pair)| {
            let seed = schedule.layout_seeds(pair)[usize::from(role == Role::Candidate)];
            let artifact = self.processes.build(role).artifacts.get(package);
            artifact.map_or(Ok(()), |artifact| self.processes.adapter.relink(artifact, seed, &self.program(role, pair)))
        });
        // An interrupt reaches the linker too, and it is not the linker that failed.
        self.processes.stop_if_interrupted()?;
        linked?;
        self.linked = Some(package.clone());
        Ok(())
    }
}
