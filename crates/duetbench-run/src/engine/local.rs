//! Trials on this machine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::plan::{Mode, PlannedBenchmark, Purpose, Style};
use duetbench_core::report::LayoutsUsed;
use duetbench_core::spec::defaults;
use duetbench_core::{BenchmarkId, Role, Sample, Trial};

use super::layout::{Layouts, Linker};
use super::placement::Placements;
use super::process_trial::{ProcessSide, ProcessTrial};
use super::trial::{Gathered, TrialRun, samples_of, samples_of_own_work};
use super::{Executor, Needed, Provision, TrialFailure, TrialOutcome};
use crate::adapter::{Adapter, Build, Order, PairLayouts};
use crate::error::RunError;
use crate::noise::facts;
use crate::page::{NO_CORE, Page, PageHeader, PageMode};
use crate::process::{Launch, end_leftovers};
use crate::processors::{one_cpu_per_core, usable_cpus};
use crate::scratch::Scratch;

/// Records a side may write in one trial: what [`defaults::GC_NS`] has room for in slices of [`defaults::SLICE_NS`].
pub(super) const CAPACITY: u32 = 12_288;

/// Slices of every second block of a stretched trial have so many times the usual invocations.
const STRETCH: u32 = 4;
/// Slices of the usual length between two pauses of it: so few that both lengths see the same machine.
const STRETCHED_BLOCK_SLICES: u64 = 4;

/// Runs trials on this machine, one at a time: of two builds, baseline first, or of one alone.
pub struct Local<'a, B = [Build; 2]> {
    pub(super) adapter: &'a dyn Adapter,
    pub(super) builds: B,
    cpus: Vec<u32>,
    cores: Vec<u32>,
    /// Whether a linker has a processor of its own: two processors of one core would take turns, and a quota is shared.
    links_beside: bool,
    pages: Scratch,
    pub(super) placements: Placements,
    layouts: Layouts,
    _copies: Scratch,
    page: Option<Page>,
    k_hints: HashMap<BenchmarkId, u64>,
    pub(super) timeout: Duration,
    pub(super) interrupted: Arc<AtomicBool>,
}

impl<'a, B> Local<'a, B> {
    /// An executor for these builds. A trial that takes `timeout` longer than planned counts as hung.
    ///
    /// # Errors
    /// When no private directory can be made.
    pub fn new(
        adapter: &'a dyn Adapter,
        builds: B,
        timeout: Duration,
        interrupted: Arc<AtomicBool>,
    ) -> Result<Local<'a, B>, RunError> {
        let copies = Scratch::new()?;
        let cores = one_cpu_per_core();
        Ok(Local {
            adapter,
            builds,
            cpus: usable_cpus(),
            links_beside: cores.len() > 1 && facts().quota_cpus.is_none_or(|cpus| cpus >= 2.0),
            cores,
            pages: Scratch::in_memory()?,
            placements: Placements::new(copies.path()),
            layouts: Layouts::default(),
            _copies: copies,
            page: None,
            k_hints: HashMap::new(),
            timeout,
            interrupted,
        })
    }

    /// Runs the processes of one page to their end. The page is the same for every trial, because making one takes longer than a slice.
    pub(super) fn gather(&mut self, header: &PageHeader, run: &TrialRun) -> Result<Gathered, RunError> {
        let page = match self.page.take() {
            Some(page) => {
                page.reset(header);
                page
            }
            None => {
                let sandbox = run.launches.first().and_then(|(_, launch)| launch.sandbox.as_ref());
                Page::create_for(sandbox, &self.pages.path().join("page"), header)?
            }
        };
        run.gather(self.page.insert(page), &self.interrupted)
    }
}

impl Local<'_> {
    /// From now on a trial that takes so much longer than planned counts as hung.
    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Does something with the layouts, given what links them and where.
    fn linking<T>(&mut self, act: impl FnOnce(&mut Layouts, &Linker<'_>, &mut Placements) -> T) -> T {
        let Local { adapter, builds, cpus, interrupted, layouts, placements, .. } = self;
        act(layouts, &Linker { adapter: *adapter, builds, at_once: cpus.len(), interrupted }, placements)
    }

    fn header(&self, planned: &PlannedBenchmark, trial: &Trial) -> PageHeader {
        let configuration = &planned.configuration;
        let duet = planned.mode == Mode::Duet;
        let stretched = configuration.purpose == Purpose::Stretched;
        PageHeader {
            mode: match planned.mode {
                Mode::Duet => PageMode::Duet,
                Mode::InterleavedOneCore | Mode::InterleavedAllCores => PageMode::Interleaved,
                Mode::Sequential => PageMode::Solo,
            },
            seed: trial.seed,
            slice_ns: configuration.slice_ns,
            trial_ns: configuration.trial_ns,
            warm_ns: configuration.warm_ns,
            warmup_slices: order(planned).warmup_slices,
            capacity: CAPACITY,
            block_slices: if stretched { stretched_block(configuration.slice_ns) } else { defaults::BLOCK_SLICES },
            stretch: if stretched { STRETCH } else { 0 },
            gc_ns: if configuration.purpose.is_judged() { defaults::GC_NS } else { 0 },
            k_hint: self.k_hints.get(&planned.id).copied().unwrap_or(0),
            cores: if duet { [0, 1].map(|side| self.duet_core(trial, side)) } else { [NO_CORE; 2] },
            swap: duet,
            slices: if planned.style.is_counted() { order(planned).slices } else { 0 },
        }
    }

    /// The processor a side starts on in duet mode: two different physical cores, which one first is the trial's draw.
    fn duet_core(&self, trial: &Trial, side: usize) -> u32 {
        self.cores[(trial.core as usize + side) % self.cores.len()]
    }

    /// Where a side may run.
    fn cpus_of(&self, planned: &PlannedBenchmark, trial: &Trial, side: usize) -> Option<Vec<u32>> {
        match planned.mode {
            Mode::Duet => Some(vec![self.duet_core(trial, side)]),
            Mode::InterleavedOneCore => Some(vec![self.cpus[trial.core as usize % self.cpus.len()]]),
            Mode::InterleavedAllCores | Mode::Sequential => None,
        }
    }

    /// The launch of one side; absent when its build has no such package.
    fn launch(&mut self, planned: &PlannedBenchmark, trial: &Trial, side: usize) -> Result<Option<Launch>, RunError> {
        let own = role_on(trial, side).index();
        let mut both = Role::BOTH.map(|role| self.unplaced(planned, trial, role));
        let programs: Vec<PathBuf> = both.iter().flatten().map(|launch| launch.program.clone()).collect();
        let Some(mut launch) = both[own].take() else { return Ok(None) };
        if launch.placed {
            // One alone is the first.
            let at = own.min(programs.len() - 1);
            launch.program = self.placements.places(&programs, trial.suite_run)?.swap_remove(at);
        }
        Ok(Some(Launch { cpus: self.cpus_of(planned, trial, side), ..launch }))
    }

    /// The launch of one version from where it was built or linked.
    fn unplaced(&self, planned: &PlannedBenchmark, trial: &Trial, role: Role) -> Option<Launch> {
        let build = &self.builds[role.index()];
        let launch = self.adapter.launch(build, &planned.id, &order(planned))?;
        if !planned.configuration.design.by_build {
            return Some(launch);
        }
        let program = self.layouts.program(role, &planned.id.package, trial.build).to_owned();
        let design = &planned.configuration.design;
        // Linked a moment ago, a program lies in a place of its own; to exchange it takes copies.
        let placed = design.places > 1 || !design.begins_unit(trial.suite_run);
        Some(Launch { program, placed, ..launch })
    }

    /// Runs a trial whose slices are whole processes; these share no page.
    fn processes(
        &self,
        planned: &PlannedBenchmark,
        trial: &Trial,
    ) -> Result<Result<Vec<Sample>, TrialFailure>, RunError> {
        let mut sides = Vec::new();
        for side in [0, 1] {
            let role = role_on(trial, side);
            let build = &self.builds[role.index()];
            let Some(mut program) = self.adapter.program(build, &planned.id) else {
                return Ok(Err(lacks(&planned.id, Some(role))));
            };
            program.launch.cpus = self.cpus_of(planned, trial, side);
            sides.push(ProcessSide { role, program });
        }
        let configuration = &planned.configuration;
        let slices = (configuration.warmup_slices, configuration.slices());
        let limit = self.timeout + 4 * Duration::from_nanos(planned.first_ns);
        ProcessTrial { name: &planned.id.name, trial, sides, mode: planned.mode, slices, limit }.run(&self.interrupted)
    }

    /// Runs the processes of one page and keeps what was learnt about the slice length.
    fn gather_sides(
        &mut self,
        planned: &PlannedBenchmark,
        trial: &Trial,
        sides: &[usize],
    ) -> Result<Gathered, RunError> {
        let mut launches = Vec::new();
        for &side in sides {
            match self.launch(planned, trial, side)? {
                Some(launch) => launches.push((side, launch)),
                None => return Ok(Err(lacks(&planned.id, Some(role_on(trial, side))))),
            }
        }
        let limit = self.timeout + 4 * Duration::from_nanos(planned.trial_predicted_ns);
        let header = self.header(planned, trial);
        let roles = [role_on(trial, 0), role_on(trial, 1)];
        let gathered = self.gather(&header, &TrialRun { launches, roles, limit })?;
        if let Ok(sides) = &gathered
            && let Some(k) = sides.iter().map(|s| s.slice_invocations).min()
            && planned.mode != Mode::Sequential
            && planned.configuration.purpose.is_judged()
        {
            self.k_hints.insert(planned.id.clone(), k);
        }
        Ok(gathered)
    }
}

/// Slices of this length between two pauses of a stretched trial: fewer of longer ones.
fn stretched_block(slice_ns: u64) -> u32 {
    let as_long = STRETCHED_BLOCK_SLICES * defaults::SLICE_NS / slice_ns.max(1);
    u32::try_from(as_long).unwrap_or(u32::MAX).max(1)
}

/// The order for each process of a benchmark.
pub(crate) fn order(planned: &PlannedBenchmark) -> Order {
    let configuration = &planned.configuration;
    let warmup_slices = configuration.warmup_slices.min(CAPACITY - 1);
    Order {
        mode: planned.mode,
        slice_ns: configuration.slice_ns,
        warmup_slices,
        slices: configuration.slices().min(CAPACITY - warmup_slices),
    }
}

/// The failure of a trial whose build does not hold the benchmark.
pub(super) fn lacks(id: &BenchmarkId, role: Option<Role>) -> TrialFailure {
    let reason = format!("the build has no package `{}`", id.package);
    TrialFailure { role, reason, discarded: false }
}

/// Role of a side in this trial.
fn role_on(trial: &Trial, side: usize) -> Role {
    if side == 0 { trial.first } else { trial.first.other() }
}

impl Executor for Local<'_> {
    fn provide(&mut self, Provision { now, next }: &Provision) -> Result<(), RunError> {
        let next: &[Needed] = if self.links_beside { next } else { &[] };
        self.linking(|layouts, linker, placements| layouts.provide(now, next, linker, placements))?;
        self.layouts.foresee(next, &self.builds);
        Ok(())
    }

    fn beside(&self) -> Vec<u32> {
        self.layouts.linkers()
    }

    fn layouts(&self) -> Option<LayoutsUsed> {
        self.adapter.pair_layouts().map(PairLayouts::used)
    }

    fn run_trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        self.linking(|layouts, linker, placements| layouts.beside(planned.mode, linker, placements))?;
        let outcome = self.trial(planned, trial);
        end_leftovers(&planned.id.name);
        outcome
    }
}

impl Local<'_> {
    fn trial(&mut self, planned: &PlannedBenchmark, trial: &Trial) -> Result<TrialOutcome, RunError> {
        let began = Instant::now();
        if planned.style == Style::Process {
            let result = self.processes(planned, trial)?;
            return Ok(TrialOutcome { result, mode: planned.mode, wall: began.elapsed(), conditions: None });
        }
        // A sequential trial is one process after the other, each with a page of its own.
        let rounds: &[&[usize]] = if planned.mode == Mode::Sequential { &[&[0], &[1]] } else { &[&[0, 1]] };
        let mut samples: Vec<Sample> = Vec::new();
        let mut failure = None;
        for sides in rounds {
            let gathered = self.gather_sides(planned, trial, sides)?;
            // It would run beside the other version's process.
            end_leftovers(&planned.id.name);
            match gathered {
                Ok(gathered) if planned.configuration.purpose == Purpose::Look => {
                    samples.extend(gathered.iter().flat_map(|side| samples_of_own_work(side, trial)));
                }
                Ok(gathered) => samples.extend(gathered.iter().flat_map(|side| samples_of(side, trial))),
                Err(words) => {
                    failure = Some(words);
                    break;
                }
            }
        }
        let result = failure.map_or(Ok(samples), Err);
        Ok(TrialOutcome { result, mode: planned.mode, wall: began.elapsed(), conditions: None })
    }
}
