//! Pairs of processes that tell what benchmarks report under units of their own.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use duetbench_core::Role;
use duetbench_core::plan::{Plan, PlannedBenchmark};
use duetbench_core::reported::{PAIRS, PROCESS_NS, PairReading, UnitReadings};
use duetbench_formats::figures;

use super::unmeasured::{Asked, BuildPairs, Obstacle, Processes};
use crate::adapter::{Adapter, Build};
use crate::error::RunError;

/// Reads what the benchmarks of two builds report, on this machine.
pub struct UnitReader<'a> {
    processes: Processes<'a>,
    pairs: BuildPairs,
}

/// Wall time that reading these benchmarks takes at most, linking included.
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
        Ok(UnitReader { processes, pairs: BuildPairs::new()? })
    }

    /// Values that both versions of a benchmark report under these units; nothing for units that neither reports. An operation
    /// takes so long in the slower version, in nanoseconds.
    ///
    /// # Errors
    /// When a process fails or hangs, or cannot be linked; on an interrupt.
    pub fn read(
        &mut self,
        plan: &Plan,
        planned: &PlannedBenchmark,
        units: &[String],
        slower_ns: f64,
    ) -> Result<Vec<UnitReadings>, Obstacle> {
        // One invocation tells which units there are; its values may be anything.
        let mut reported = BTreeSet::new();
        for role in Role::BOTH {
            let once = Asked { role, turn: 0, invocations: 1, profile: None, program: None };
            reported.extend(self.figures(planned, once)?.into_iter().map(|(unit, _)| unit));
        }
        let none =
            |unit: &String| UnitReadings { unit: unit.clone(), pairs: vec![PairReading::default(); PAIRS as usize] };
        let mut readings: Vec<UnitReadings> = units.iter().filter(|unit| reported.contains(*unit)).map(none).collect();
        if readings.is_empty() {
            return Ok(readings);
        }
        let invocations = self.processes.invocations(planned, slower_ns, PROCESS_NS)?;
        if planned.configuration.design.by_build {
            self.pairs.provide(&self.processes, plan, &[&planned.id.package], PAIRS)?;
        }
        for turn in 0..PAIRS {
            let roles = if turn % 2 == 0 { Role::BOTH } else { [Role::Candidate, Role::Baseline] };
            for role in roles {
                let program = self.program(planned, role, turn)?;
                let asked = Asked { role, turn, invocations, profile: None, program: program.as_deref() };
                self.add(&mut readings, planned, asked)?;
            }
        }
        Ok(readings)
    }

    /// The program of a process of this pair, if not the build's own: one linked for its pair, or else a fresh copy,
    /// because processes of one file differ from those of another reproducibly.
    fn program(&mut self, planned: &PlannedBenchmark, role: Role, turn: u32) -> Result<Option<PathBuf>, RunError> {
        if planned.configuration.design.by_build {
            return Ok(Some(self.pairs.program(role, &planned.id.package, turn)));
        }
        let placed = self.processes.placed_program(planned, role);
        placed.map(|program| Ok(self.pairs.placements.places(&[program], turn)?.remove(0))).transpose()
    }

    /// Runs a process and puts what it reports where its pair is.
    fn add(&self, readings: &mut [UnitReadings], planned: &PlannedBenchmark, asked: Asked<'_>) -> Result<(), Obstacle> {
        let figures = self.figures(planned, asked)?;
        for read in readings {
            let Some((unit, value)) = figures.iter().find(|(unit, _)| *unit == read.unit) else { continue };
            if !value.is_finite() {
                return Err(Obstacle::Failed(format!("it reported {value} under `{unit}`, which is no number")));
            }
            let pair = &mut read.pairs[asked.turn as usize];
            match asked.role {
                Role::Baseline => pair.baseline = Some(*value),
                Role::Candidate => pair.candidate = Some(*value),
            }
        }
        Ok(())
    }

    /// Values that a process printed, with their units, the harness's own among them.
    fn figures(&self, planned: &PlannedBenchmark, asked: Asked<'_>) -> Result<Vec<(String, f64)>, Obstacle> {
        let printed = self.processes.run(planned, asked, PROCESS_NS)?;
        Ok(figures(printed.as_bytes()))
    }
}
