//! One call from beginning to end, for finding out in a minute whether an account is set up.

use std::time::{Duration, Instant};

use duetbench_run::fleet::{Deployed, Deployment, Engine, FleetError, Reply};

/// One step of a check.
#[derive(Debug)]
pub struct Step {
    /// What was done, in a few words.
    pub name: &'static str,
    /// How long it took.
    pub took: Duration,
    /// What came of it, in words.
    pub result: Result<String, FleetError>,
}

/// Asks for limits, makes a function of the package, calls it once with the payload and removes it again. Stops at the first step that
/// fails, but what was made is removed.
pub fn smoke(engine: &dyn Engine, wish: &Deployment<'_>, payload: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    let asked = step(&mut steps, "limits", || {
        let limits = engine.limits()?;
        Ok(((), format!("{} calls at once, packages of {} MB", limits.parallel, limits.package_bytes >> 20)))
    });
    let deployed = asked.and_then(|()| {
        step(&mut steps, "deploy", || {
            let deployed = engine.deploy(wish)?;
            let said = format!("`{}` takes calls", deployed.name());
            Ok((deployed, said))
        })
    });
    if let Some(deployed) = deployed {
        // Removed also if the call fails.
        let _ = step(&mut steps, "call", || called(&*deployed, payload));
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

fn called(deployed: &dyn Deployed, payload: &[u8]) -> Result<((), String), FleetError> {
    match deployed.call(payload) {
        Reply::Answer(answer) => Ok(((), format!("answered with {} bytes", answer.len()))),
        Reply::Throttled(said) => Err(FleetError::new(format!("the call was throttled: {said}"))),
        Reply::Lost(said) => Err(FleetError::new(format!("no answer came: {said}"))),
        Reply::Crashed(said) => Err(FleetError::new(format!("the worker ended: {said}"))),
        Reply::Refused(said) => Err(FleetError::new(format!("the call was refused: {said}"))),
    }
}
