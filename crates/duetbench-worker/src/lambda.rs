//! The worker as an AWS Lambda function.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use lambda_runtime::{Context, Error, LambdaEvent, service_fn};
use serde_json::Value;

use duetbench_run::fleet::worker::Worker;

/// Takes calls until the provider ends the instance.
pub(crate) fn run(began: Instant) -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok();
    let package = PathBuf::from(variable("LAMBDA_TASK_ROOT").unwrap_or_else(|| "/var/task".to_owned()));
    let id = variable("AWS_LAMBDA_LOG_STREAM_NAME").unwrap_or_default();
    let id = if id.is_empty() { format!("process {}", std::process::id()) } else { id };
    let memory_mb = variable("AWS_LAMBDA_FUNCTION_MEMORY_SIZE").and_then(|mb| mb.parse().ok());
    let worker = Arc::new(Mutex::new(crate::worker(&package, id, memory_mb, began)?));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let handler = service_fn(move |event: LambdaEvent<Value>| {
        let worker = worker.clone();
        async move { answer(&worker, &event) }
    });
    runtime.block_on(lambda_runtime::run(handler)).map_err(|e| e.to_string())
}

/// One call at a time, so nothing else waits for this thread.
fn answer(worker: &Mutex<Worker>, event: &LambdaEvent<Value>) -> Result<Value, Error> {
    let request = serde_json::to_vec(&event.payload)?;
    let mut worker = worker.lock().map_err(|_| "an earlier call broke the worker")?;
    Ok(serde_json::from_slice(&worker.carry_out(&request, deadline(&event.context)))?)
}

/// When the provider ends the call, on our own clock.
fn deadline(context: &Context) -> Instant {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::now() + Duration::from_millis(context.deadline).saturating_sub(now)
}
