//! Workers on this machine as an engine: a rehearsal of a fleet, and its dry run.

use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::wire::Response;
use super::{Deployed, Deployment, Engine, FleetError, Leftover, Limits, Reply, Swept};
use crate::scratch::Scratch;

/// Workers as processes. They get none of the user's environment, not even the paths of tools.
#[derive(Debug, Clone)]
pub struct Here {
    parallel: u32,
}

/// Limits of AWS Lambda, so that a rehearsal finds what would not pass.
const LIMITS: Limits = Limits { parallel: 0, package_bytes: 50_000_000, payload_bytes: 6_000_000 };
/// Time that a worker may take beyond a call before it is thought to hang itself.
const GRACE: Duration = Duration::from_secs(3);
/// Tries to start a worker whose program is held for writing, and the time between two of them: a second in all.
const TRIES: u32 = 200;
const TRY_EVERY: Duration = Duration::from_millis(5);
/// A place without any program, so that what needs a tool fails here as it would there.
const NO_TOOLS: &str = "/nonexistent";

impl Here {
    /// At most so many workers at once.
    pub fn new(parallel: u32) -> Here {
        Here { parallel }
    }
}

impl Engine for Here {
    fn name(&self) -> &'static str {
        "here"
    }

    fn limits(&self) -> Result<Limits, FleetError> {
        Ok(Limits { parallel: self.parallel, ..LIMITS })
    }

    fn deploy(&self, wish: &Deployment<'_>) -> Result<Box<dyn Deployed + '_>, FleetError> {
        let place = Scratch::new().map_err(|e| FleetError::new(e.to_string()))?;
        let failed = |what: &dyn std::fmt::Display| {
            FleetError::new(format!("the package `{}` cannot be unpacked: {what}", wish.package.display()))
        };
        let file = std::fs::File::open(wish.package).map_err(|e| failed(&e))?;
        let mut archive = zip::ZipArchive::new(file).map_err(|e| failed(&e))?;
        archive.extract(place.path()).map_err(|e| failed(&e))?;
        let program = place.path().join("bootstrap");
        if !program.is_file() {
            return Err(failed(&"it has no `bootstrap`"));
        }
        let workshop = Scratch::new().map_err(|e| FleetError::new(e.to_string()))?;
        Ok(Box::new(Workers {
            workshop,
            name: format!("{}{}", super::NAME_PREFIX, wish.run),
            program,
            place,
            call_max: wish.call_max,
            parallel: wish.parallel.min(self.parallel),
            busy: AtomicU32::new(0),
            idle: Mutex::new(Vec::new()),
            removed: AtomicBool::new(false),
        }))
    }

    fn sweep(&self, _: &dyn Fn(&Leftover) -> bool) -> Result<Swept, FleetError> {
        // Directories of the dead are swept whenever a new one is made.
        Ok(Swept::default())
    }
}

/// Workers of one package.
#[derive(Debug)]
struct Workers {
    name: String,
    program: PathBuf,
    place: Scratch,
    /// Where they keep what they unpack. They are killed, so that it is not they who can remove it.
    workshop: Scratch,
    call_max: Duration,
    parallel: u32,
    busy: AtomicU32,
    idle: Mutex<Vec<Instance>>,
    removed: AtomicBool,
}

/// One worker process; killed and reaped on drop.
#[derive(Debug)]
struct Instance {
    process: Child,
    requests: ChildStdin,
    answers: ChildStdout,
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Deployed for Workers {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, request: &[u8]) -> Reply {
        if self.removed.load(Ordering::SeqCst) {
            return Reply::Refused(format!("`{}` was removed", self.name));
        }
        if request.len() > LIMITS.payload_bytes {
            return Reply::Refused(format!("a request of {} bytes is too large", request.len()));
        }
        if self.busy.fetch_add(1, Ordering::SeqCst) >= self.parallel {
            self.busy.fetch_sub(1, Ordering::SeqCst);
            return Reply::Throttled(format!("{} workers are busy", self.parallel));
        }
        let reply = self.carry_out(request);
        self.busy.fetch_sub(1, Ordering::SeqCst);
        reply
    }

    fn remove(&self) -> Result<(), FleetError> {
        self.removed.store(true, Ordering::SeqCst);
        self.idle().clear();
        Ok(())
    }
}

impl Workers {
    fn idle(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Has the call carried out by an idle worker or a new one; a worker that fails is not used again.
    fn carry_out(&self, request: &[u8]) -> Reply {
        let idle = self.idle().pop();
        let mut instance = match idle.map_or_else(|| self.start(), Ok) {
            Ok(instance) => instance,
            Err(e) => return Reply::Crashed(format!("no worker could be started: {e}")),
        };
        if let Err(e) = instance.requests.write_all(request).and_then(|()| instance.requests.write_all(b"\n")) {
            return Reply::Crashed(format!("the worker takes no call: {e}"));
        }
        match instance.answer(Instant::now() + self.call_max + GRACE) {
            Ok(answer) => {
                // One in trouble would always be the idle one, and have all calls.
                let is_well = Response::read(&answer).is_ok_and(|response| response.trouble.is_none());
                if is_well && !self.removed.load(Ordering::SeqCst) {
                    self.idle().push(instance);
                }
                Reply::Answer(answer)
            }
            Err(why) => Reply::Crashed(why),
        }
    }

    fn start(&self) -> io::Result<Instance> {
        let mut command = Command::new(&self.program);
        command
            .arg("serve")
            .arg(self.place.path())
            .arg(self.call_max.as_millis().to_string())
            .current_dir(self.place.path())
            .env_clear()
            .env("PATH", NO_TOOLS)
            .env("TMPDIR", self.workshop.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let mut process = spawn_once_free(&mut command, &mut || std::thread::sleep(TRY_EVERY))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (requests, answers) = pipes.ok_or_else(|| io::Error::other("its pipes are gone"))?;
        Ok(Instance { process, requests, answers })
    }
}

/// Starts a program that was just written. A process that another thread forked meanwhile inherited the open file, and nobody can
/// start the program ("text file busy") until that one has become a program of its own.
fn spawn_once_free(command: &mut Command, pause: &mut dyn FnMut()) -> io::Result<Child> {
    for _ in 0..TRIES {
        match command.spawn() {
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => pause(),
            ended => return ended,
        }
    }
    command.spawn()
}

impl Instance {
    /// The next line that it writes, without its end.
    fn answer(&mut self, until: Instant) -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        let mut part = vec![0; 1 << 16];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let patience = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            let mut polled = [PollFd::new(&self.answers, PollFlags::IN)];
            match poll(&mut polled, Some(&patience)) {
                Ok(0) => return Err("the worker gave no answer in time".to_owned()),
                Err(rustix::io::Errno::INTR) => continue,
                Err(e) => return Err(format!("the worker's answer cannot be waited for: {e}")),
                Ok(_) => {}
            }
            match rustix::io::read(&self.answers, &mut part) {
                Ok(0) => return Err(self.death()),
                Err(e) => return Err(format!("the worker's answer cannot be read: {e}")),
                Ok(n) => line.extend_from_slice(&part[..n]),
            }
            if line.len() > LIMITS.payload_bytes {
                return Err("the worker's answer is too large".to_owned());
            }
            if line.last() == Some(&b'\n') {
                line.pop();
                return Ok(line);
            }
        }
    }

    fn death(&mut self) -> String {
        self.process.wait().map_or_else(|e| e.to_string(), |status| format!("the worker ended: {status}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_worker_starts_once_nobody_writes_its_program_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("bootstrap");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut writer = Some(OpenOptions::new().write(true).open(&program).unwrap());
        let mut release = || {
            writer = None;
            std::thread::sleep(TRY_EVERY);
        };
        let mut worker = spawn_once_free(&mut Command::new(&program), &mut release).unwrap();
        assert!(worker.wait().unwrap().success());
        assert!(writer.is_none(), "it started while it was written");

        let _writer = OpenOptions::new().write(true).open(&program).unwrap();
        let refused = spawn_once_free(&mut Command::new(&program), &mut || {}).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ExecutableFileBusy);
    }
}
