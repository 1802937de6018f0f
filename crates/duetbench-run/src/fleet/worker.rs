//! Carries out calls, in an instance of whatever fleet: the same trials, hooks and records as on the user's machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_core::plan::{Mode, PlannedBenchmark};
use duetbench_core::{BenchmarkId, Role, Trial};

use super::bundle;
use super::wire::{Instance, Outcome, Recipe, Request, Response, VERSION};
use crate::adapter::{Adapter, Artifact, Build, Built, Identity, Listing, Order, Subject};
use crate::engine::{Executor, Local, TrialFailure, TrialOutcome, Watched};
use crate::error::RunError;
use crate::noise;
use crate::process::{Launch, Output, Streams};
use crate::processors::{one_cpu_per_core, usable_cpus};
use crate::program::Program;
use crate::scratch::{self, Scratch};
use crate::source::Source;

/// Part of a call's time that is kept for answering.
const ANSWERING: Duration = Duration::from_millis(1500);
/// A trial may take so many times what is planned, and the timeout on top, before it counts as hung.
const PLANNED_TIMES: u32 = 4;
/// Most bytes of a reason in an answer.
const REASON_BYTES_MAX: usize = 400;

/// A worker in its instance.
#[derive(Debug)]
pub struct Worker {
    /// Where the package lies.
    package: PathBuf,
    /// Directory with the members of it that are unpacked.
    place: Scratch,
    unpacked: BTreeMap<String, BTreeSet<PathBuf>>,
    instance: Instance,
    interrupted: Arc<AtomicBool>,
}

impl Worker {
    /// A worker for the package in a directory. `id` tells its instance from others.
    ///
    /// # Errors
    /// When no private directory can be made.
    pub fn new(package: &Path, id: String, interrupted: Arc<AtomicBool>) -> Result<Worker, RunError> {
        let instance = Instance {
            id,
            cpu: noise::facts().cpu_model.unwrap_or_else(|| "unknown".to_owned()),
            cpus: u32::try_from(usable_cpus().len()).unwrap_or(u32::MAX),
            ..Instance::default()
        };
        Ok(Worker {
            package: package.to_owned(),
            place: Scratch::new()?,
            unpacked: BTreeMap::new(),
            instance,
            interrupted,
        })
    }

    /// Memory of the instance, megabytes, where the provider says so.
    #[must_use]
    pub fn with_memory(mut self, memory_mb: Option<u32>) -> Worker {
        self.instance.memory_mb = memory_mb;
        self
    }

    /// Notes how long the instance took from its start until it could take calls.
    #[must_use]
    pub fn started_in(mut self, init: Duration) -> Worker {
        self.instance.init_ns = nanos(init);
        self
    }

    /// Carries out one call and gives the answer, before the deadline and no larger than was asked for.
    pub fn carry_out(&mut self, request: &[u8], deadline: Instant) -> Vec<u8> {
        let began = Instant::now();
        let (task, answer_bytes_max, done) = match Request::read(request) {
            Err(why) => (String::new(), usize::MAX, Err(why)),
            Ok(request) => {
                let done = self.measure(&request, deadline).map_err(|e| e.to_string());
                (request.task, request.answer_bytes_max, done)
            }
        };
        let (trials, truncated, trouble) = match done {
            Ok((trials, truncated)) => (trials, truncated, None),
            Err(why) => {
                self.begin_anew();
                (Vec::new(), false, Some(briefly(why)))
            }
        };
        let instance = Instance { call_ns: nanos(began.elapsed()), ..self.instance.clone() };
        self.instance.calls_before += 1;
        Response { version: VERSION, task, trials, truncated, trouble, instance }.write(answer_bytes_max)
    }

    /// Throws away what was unpacked: measured code may have spoilt it, or there is no room.
    fn begin_anew(&mut self) {
        for member in std::mem::take(&mut self.unpacked).into_keys() {
            scratch::remove_tree(&self.place.path().join(member));
        }
        if let Ok(place) = Scratch::new() {
            self.place = place;
        }
    }

    /// Runs the trials for which there is time; whether some were left out.
    fn measure(&mut self, request: &Request, deadline: Instant) -> Result<(Vec<Outcome>, bool), RunError> {
        if request.planned.mode == Mode::Duet && one_cpu_per_core().len() < 2 {
            return Err(RunError::toolchain("both versions at once need two cores, and the instance has one")
                .hint("raise `--memory`, or leave out `--mode duet`"));
        }
        self.unpack(request)?;
        let adapter = Shipped::new(request, self.place.path());
        let builds = [0, 1].map(|side| adapter.build_of(side, &request.planned.id));
        let mut local = Local::new(&adapter, builds, request.timeout, self.interrupted.clone())?;
        let mut outcomes = Vec::new();
        for wire in &request.trials {
            let left = deadline.saturating_duration_since(Instant::now()).saturating_sub(ANSWERING);
            let planned = Duration::from_nanos(request.planned.trial_predicted_ns).saturating_mul(PLANNED_TIMES);
            if left <= planned {
                return Ok((outcomes, true));
            }
            let timeout = request.timeout.min(left - planned);
            local.set_timeout(timeout);
            let (trial, began) = (Trial::from(*wire), Instant::now());
            let outcome = Watched::new(&mut local).run_trial(&request.planned, &trial)?;
            // One that was given less time than the user allows has not hung: the call was too short for it.
            if outcome.result.is_err() && timeout < request.timeout && began.elapsed() >= planned + timeout {
                return Ok((outcomes, true));
            }
            let result = outcome.result.map_err(|failure| TrialFailure { reason: briefly(failure.reason), ..failure });
            outcomes.push(Outcome::new(&trial, &TrialOutcome { result, ..outcome }));
        }
        Ok((outcomes, false))
    }

    /// Unpacks what a call needs, of programs only its own; what an earlier one needed is kept as long as there is room.
    fn unpack(&mut self, request: &Request) -> Result<(), RunError> {
        for member in &request.members {
            let plain = Path::new(member).file_name().is_some_and(|name| name == member.as_str());
            if !plain {
                return Err(RunError::Argument {
                    argument: member.clone(),
                    why: "it is no member of a package".into(),
                });
            }
            let inside = |side: &Recipe| side.program.strip_prefix(member).map(Path::to_owned).ok();
            let programs: Vec<PathBuf> = request.sides.iter().filter_map(inside).collect();
            let known = self.unpacked.get(member);
            if known.is_some_and(|known| programs.iter().all(|program| known.contains(program))) {
                continue;
            }
            let archive = self.package.join(format!("{member}{ARCHIVE_ENDING}"));
            let dir = self.place.path().join(member);
            if bundle::unpack_files(&archive, &dir, &programs).is_err() {
                self.make_room(&request.members);
                bundle::unpack_files(&archive, &dir, &programs)?;
            }
            self.unpacked.entry(member.clone()).or_default().extend(programs);
        }
        Ok(())
    }

    /// Removes what was unpacked of other members than these.
    fn make_room(&mut self, needed: &[String]) {
        let place = self.place.path();
        self.unpacked
            .retain(|member, _| needed.contains(member) || std::fs::remove_dir_all(place.join(member)).is_err());
    }
}

/// Ending of the name of an archive in a package, after the name of the member.
pub(super) const ARCHIVE_ENDING: &str = ".tar.zst";

/// The reason cut short, because an answer has a limit.
fn briefly(mut reason: String) -> String {
    if reason.len() > REASON_BYTES_MAX {
        let end = (0..=REASON_BYTES_MAX).rev().find(|i| reason.is_char_boundary(*i)).unwrap_or(0);
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Two versions that were built and listed elsewhere: started as the request says.
#[derive(Debug)]
struct Shipped<'a> {
    sides: &'a [Recipe; 2],
    place: &'a Path,
}

impl<'a> Shipped<'a> {
    fn new(request: &'a Request, place: &'a Path) -> Shipped<'a> {
        Shipped { sides: &request.sides, place }
    }

    /// One side as a build with one package.
    fn build_of(&self, side: usize, id: &BenchmarkId) -> Build {
        let artifact = Artifact {
            program: self.place.join(&self.sides[side].program),
            dir: self.place.join(&self.sides[side].dir),
            // Equal programs on both sides are still two sides.
            digest: Role::BOTH[side].word().to_owned(),
            build_args: Vec::new(),
        };
        Build { artifacts: [(id.package.clone(), artifact)].into(), ..Build::default() }
    }

    fn recipe(&self, build: &Build, id: &BenchmarkId) -> Option<(&Recipe, Launch)> {
        let artifact = build.artifacts.get(&id.package)?;
        let side = Role::BOTH.iter().position(|role| role.word() == artifact.digest)?;
        let recipe = &self.sides[side];
        let launch = Launch {
            args: recipe.args.iter().map(Into::into).collect(),
            env: recipe.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            hooked: recipe.hooked,
            placed: true,
            ..Launch::of(&artifact.program, &artifact.dir)
        };
        Some((recipe, launch))
    }
}

impl Adapter for Shipped<'_> {
    fn toolchain(&self) -> String {
        "built elsewhere".to_owned()
    }

    fn build(&self, _: &Source, _: &[String], _: Subject<'_>) -> Result<Built, RunError> {
        Err(built_elsewhere())
    }

    fn identical(&self, _: [&Build; 2], _: [&Source; 2]) -> BTreeMap<String, Identity> {
        BTreeMap::new()
    }

    fn list(&mut self, _: &Build, _: &AtomicBool) -> Result<Listing, RunError> {
        Err(built_elsewhere())
    }

    fn launch(&self, build: &Build, id: &BenchmarkId, _: &Order) -> Option<Launch> {
        self.recipe(build, id).map(|(_, launch)| launch)
    }

    fn program(&self, build: &Build, id: &BenchmarkId) -> Option<Program> {
        let (recipe, launch) = self.recipe(build, id)?;
        let streams = Streams { output: Output::Drained, ..Streams::default() };
        let launch = Launch { streams, ..launch };
        Some(Program { launch, prepare: None, conclude: None, exit_codes: recipe.exit_code.into(), refill: false })
    }
}

fn built_elsewhere() -> RunError {
    RunError::toolchain("a worker builds nothing")
}

/// The mode and benchmark of a request as a worker carries it out: linked programs are chosen by whoever sends it.
pub fn for_worker(planned: &PlannedBenchmark, mode: Mode) -> PlannedBenchmark {
    let mut planned = PlannedBenchmark { mode, ..planned.clone() };
    planned.configuration.design.by_build = false;
    planned
}
