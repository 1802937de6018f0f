//! The worker as a process that answers one request a line.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// Answers until its input ends. Whoever asked is gone then, so that a call that is being carried out ends with it.
pub(crate) fn run(package: &str, call_max_ms: &str, began: Instant) -> Result<(), String> {
    let call_max = call_max_ms.parse().map(Duration::from_millis).map_err(|_| "MILLISECONDS is no number")?;
    let mut worker = crate::worker(Path::new(package), format!("process {}", std::process::id()), None, began)?;
    std::thread::spawn(end_with_input);
    let mut out = std::io::stdout().lock();
    for request in std::io::stdin().lock().split(b'\n') {
        let request = request.map_err(|e| e.to_string())?;
        let answer = worker.carry_out(&request, Instant::now() + call_max);
        out.write_all(&answer).and_then(|()| out.write_all(b"\n")).map_err(|e| e.to_string())?;
        out.flush().map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Ends the process when nobody can ask any more.
fn end_with_input() {
    let stdin = std::io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::empty())];
    while !matches!(poll(&mut polled, None), Ok(n) if n > 0) {}
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// Says what went wrong to whoever started us.
pub(crate) fn complain(why: &str) {
    let _ = writeln!(std::io::stderr(), "duet-worker: {why}");
}
