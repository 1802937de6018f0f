//! One call from beginning to end, for finding out in a minute whether an account is set up.

use std::time::{Duration, Instant};

use duetbench_core::plan::{Design, ExecutionConfiguration, Mode, PlannedBenchmark, Purpose, Style};
use duetbench_core::{BenchmarkId, Role, Trial};

use super::wire::{Recipe, Request, Response, VERSION};
use super::{Deployed, Deployment, Engine, FleetError, Reply};

/// One step of a check.
#[derive(Debug)]
pub struct Step {
    /// Name of the step, a word.
    pub name: &'static str,
    /// Time that it took.
    pub took: Duration,
    /// Result in words.
    pub result: Result<String, FleetError>,
}

/// Asks for limits, makes a function of the package, has it measure `/bin/true` in two calls and removes it again. Stops at the first
/// step that fails, but what was made is removed.
pub fn smoke(engine: &dyn Engine, wish: &Deployment<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    let asked = step(&mut steps, "limits", || {
        let limits = engine.limits()?;
        Ok(((), format!("{} calls at once, packages of {} MB", limits.parallel, limits.package_bytes / 1_000_000)))
    });
    let deployed = asked.and_then(|()| {
        step(&mut steps, "deploy", || {
            let deployed = engine.deploy(wish)?;
            let said = format!("`{}` takes calls", deployed.name());
            Ok((deployed, said))
        })
    });
    if let Some(deployed) = deployed {
        let called = step(&mut steps, "cold", || called(&*deployed));
        let _ = called.and_then(|()| step(&mut steps, "warm", || self::called(&*deployed)));
        // Removed also if a call fails.
        let _ = step(&mut steps, "remove", || deployed.remove().map(|()| ((), "removed".into())));
    }
    steps
}

/// Does a step and takes note of it; gives what it made, or nothing if it failed.
fn step<T>(
    steps: &mut Vec<Step>,
    name: &'static str,
    work: impl FnOnce() -> Result<(T, String), FleetError>,
) -> Option<T> {
    let begin = Instant::now();
    let (made, result) = match work() {
        Ok((made, said)) => (Some(made), Ok(said)),
        Err(e) => (None, Err(e)),
    };
    steps.push(Step { name, took: begin.elapsed(), result });
    made
}

fn called(deployed: &dyn Deployed) -> Result<((), String), FleetError> {
    let answer = match deployed.call(&request().write()) {
        Reply::Answer(answer) => answer,
        Reply::Throttled(said) => return Err(FleetError::new(format!("the call was throttled: {said}"))),
        Reply::Lost(said) => return Err(FleetError::new(format!("no answer came: {said}"))),
        Reply::Crashed(said) => return Err(FleetError::new(format!("the worker ended: {said}"))),
        Reply::Refused(said) => return Err(FleetError::new(format!("the call was refused: {said}"))),
    };
    let response = Response::read(&answer).map_err(|why| FleetError::new(format!("the worker's answer: {why}")))?;
    if let Some(trouble) = response.trouble {
        return Err(FleetError::new(format!("the worker cannot measure: {trouble}")));
    }
    let instance = response.instance;
    let memory = instance.memory_mb.map_or(String::new(), |mb| format!(", {mb} MB"));
    let start = if instance.calls_before == 0 {
        format!("started in {} ms", instance.init_ns / 1_000_000)
    } else {
        format!("after {} calls", instance.calls_before)
    };
    let call_ms = instance.call_ns / 1_000_000;
    Ok(((), format!("{}, {} processors{memory}, {start}, measured for {call_ms} ms", instance.cpu, instance.cpus)))
}

/// A call that measures a program which every system has.
fn request() -> Request {
    let design = Design { units: 1, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential: false };
    let planned = PlannedBenchmark {
        id: BenchmarkId { package: "smoke".into(), name: "true".into() },
        style: Style::Process,
        mode: Mode::InterleavedOneCore,
        mode_reason: String::new(),
        configuration: ExecutionConfiguration {
            design,
            slice_ns: 1,
            trial_ns: 5,
            warmup_slices: 1,
            warm_ns: 0,
            purpose: Purpose::Judged,
        },
        trial_predicted_ns: 100_000_000,
        first_ns: 1_000_000,
        threads: 1,
        runtime_threads: false,
        profile: None,
        redefined: None,
    };
    let side = || Recipe {
        program: "/bin/true".into(),
        dir: "/".into(),
        args: Vec::new(),
        env: Vec::new(),
        hooked: false,
        exit_code: 0,
    };
    let trial =
        Trial { benchmark: 0, round: 0, suite_run: 0, fork: 0, build: 0, first: Role::Baseline, core: 0, seed: 1 };
    Request {
        version: VERSION,
        task: "smoke".into(),
        planned,
        trials: vec![trial.into()],
        members: Vec::new(),
        sides: [side(), side()],
        timeout: Duration::from_secs(10),
        answer_bytes_max: 100_000,
    }
}
