//! The worker: carries out calls of a fleet with the code that measures on the user's machine.
//!
//! Where `AWS_LAMBDA_RUNTIME_API` is set it is the `bootstrap` of a function; else `duet-worker serve PACKAGE MILLISECONDS` answers
//! one request a line, each within that time.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use duetbench_run::fleet::worker::Worker;
use duetbench_run::process::adopt_orphans;

mod lambda;
mod serve;

fn main() -> ExitCode {
    let began = Instant::now();
    // A process that is measured must not read our environment, in which a provider puts credentials, from /proc.
    let hidden = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    adopt_orphans();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match (hidden, &args[..]) {
        (Err(e), _) => Err(format!("cannot hide the environment: {e}")),
        (Ok(()), _) if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() => lambda::run(began),
        (Ok(()), [word, package, call_max_ms]) if word == "serve" => serve::run(package, call_max_ms, began),
        _ => Err("usage: duet-worker serve PACKAGE MILLISECONDS; `duet` starts it itself".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            serve::complain(&why);
            ExitCode::FAILURE
        }
    }
}

/// A worker that has just been started.
fn worker(package: &Path, id: String, memory_mb: Option<u32>, began: Instant) -> Result<Worker, String> {
    let worker = Worker::new(package, id, Arc::default()).map_err(|e| e.to_string())?;
    Ok(worker.with_memory(memory_mb).started_in(began.elapsed()))
}
