//! Starting measured code and ending it for certain: own process group, no inherited secrets, dies with us.

use std::ffi::OsString;
use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;

use crate::error::RunError;

/// Environment variables that reach measured code; everything else stays with us.
const ALLOWED_ENV: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "GOROOT",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "GOFLAGS",
    "GOTOOLCHAIN",
    "GOGC",
    "GOMEMLIMIT",
    "GODEBUG",
    "GOTRACEBACK",
    "GOEXPERIMENT",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
];
/// How much of a process's output is kept: its end.
const TAIL_BYTES: usize = 16 * 1024;
/// How often a wait looks at the interrupt flag and empties the output pipes. Waking up at every line that a process prints
/// would be the greater part of what we ourselves do while it measures.
const TICK: Duration = Duration::from_millis(20);
/// What a pipe holds, so that a process that prints much is not held up until the next tick.
const PIPE_BYTES: usize = 1 << 20;

/// How to start one process.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory.
    pub dir: PathBuf,
    /// Variables set on top of the allow-list.
    pub env: Vec<(OsString, OsString)>,
    /// Processors it may use; all when absent.
    pub cpus: Option<Vec<u32>>,
    /// Its hook sees to it that it dies with us (`DUET_PARENT`), which makes starting it cheaper.
    pub hooked: bool,
}

/// A running or ended process; killed with its whole group and reaped on drop.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    pidfd: OwnedFd,
    output: Option<PipeReader>,
    tail: Vec<u8>,
    status: Option<ExitStatus>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// All processes ended by themselves.
    Ended,
    /// The time limit was reached.
    TimedOut,
    /// The user wants to stop.
    Interrupted,
}

impl Launch {
    /// Starts the process.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn(&self) -> Result<Child, RunError> {
        let start = |source| RunError::Start { program: self.program.display().to_string(), source };
        let (reader, writer) = std::io::pipe().map_err(start)?;
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::NONBLOCK).map_err(|e| start(e.into()))?;
        // Refused where the system allows less; the pipe then holds what it usually does.
        let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.dir)
            .env_clear()
            .envs(ALLOWED_ENV.iter().filter_map(|name| std::env::var_os(name).map(|value| (*name, value))))
            .env("PWD", &self.dir)
            .env("DUET_PARENT", std::process::id().to_string())
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stderr(writer.try_clone().map_err(start)?)
            .stdout(writer)
            .process_group(0);
        if !self.hooked {
            dies_with_us(&mut command, Signal::KILL);
        }
        let mut inner = self.on_its_cpus(|| command.spawn()).map_err(start)?;
        let pidfd = match rustix::process::pidfd_open(pid_of(&inner), PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(e) => {
                let _ = inner.kill();
                let _ = inner.wait();
                return Err(start(e.into()));
            }
        };
        Ok(Child { inner, pidfd, output: Some(reader), tail: Vec::new(), status: None })
    }
}

impl Launch {
    /// Starts the process with the processors it may use: a child inherits those of the thread that starts it. (Setting them
    /// in the child instead would need code between fork and exec, and copying our address space costs several times as
    /// much as all else in starting a process.)
    fn on_its_cpus<T>(&self, spawn: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
        let Some(cpus) = &self.cpus else { return spawn() };
        let ours = rustix::thread::sched_getaffinity(None)?;
        rustix::thread::sched_setaffinity(None, &cpu_set(cpus))?;
        let spawned = spawn();
        rustix::thread::sched_setaffinity(None, &ours)?;
        spawned
    }
}

/// Makes a process get this signal when the thread that starts it, and so all of us, is gone.
pub(crate) fn dies_with_us(command: &mut Command, signal: Signal) {
    let us = rustix::process::getpid();
    let arrange = move || {
        rustix::process::set_parent_process_death_signal(Some(signal))?;
        // Who died before that sends nothing any more.
        if rustix::process::getppid() == Some(us) { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: the closure makes two system calls and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(arrange);
    }
}

impl Child {
    /// How it ended; absent while it runs.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// The end of what it printed on either stream.
    #[must_use]
    pub fn output_tail(&self) -> String {
        String::from_utf8_lossy(&self.tail).into_owned()
    }

    /// Kills it and its whole group, and reaps it.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            let _ = rustix::process::kill_process_group(pid_of(&self.inner), Signal::KILL);
            let _ = self.inner.kill();
            self.status = self.inner.wait().ok();
            self.drain();
        }
    }

    /// Reads what is there; keeps the end.
    fn drain(&mut self) {
        let mut buffer = [0u8; 8192];
        while let Some(reader) = &mut self.output {
            match reader.read(&mut buffer) {
                Ok(0) => self.output = None,
                Ok(n) => {
                    self.tail.extend_from_slice(&buffer[..n]);
                    let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
                    self.tail.drain(..surplus);
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => self.output = None,
            }
        }
    }

    /// Takes note of its end, if it has ended; its group goes with it.
    fn reap(&mut self) {
        if self.status.is_none() {
            // While it is a zombie its number cannot be reused, so the group is still the right one.
            let _ = rustix::process::kill_process_group(pid_of(&self.inner), Signal::KILL);
            self.status = self.inner.wait().ok();
            self.drain();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until all have ended, the deadline has passed, or the user wants to stop; `on_exit` hears of each end at once.
/// What has not ended by then is still running.
pub fn wait_all(
    children: &mut [Child],
    deadline: Instant,
    interrupted: &AtomicBool,
    mut on_exit: impl FnMut(usize),
) -> WaitEnd {
    loop {
        if children.iter().all(|c| c.status.is_some()) {
            return WaitEnd::Ended;
        }
        if interrupted.load(Ordering::Relaxed) {
            return WaitEnd::Interrupted;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return WaitEnd::TimedOut;
        }
        for index in poll_once(children, left.min(TICK)) {
            children[index].reap();
            on_exit(index);
        }
        children.iter_mut().for_each(Child::drain);
    }
}

/// Sleeps until a process ends or the time is over; says which have ended.
fn poll_once(children: &[Child], timeout: Duration) -> Vec<usize> {
    let running: Vec<usize> = (0..children.len()).filter(|&i| children[i].status.is_none()).collect();
    let mut fds: Vec<PollFd<'_>> = running.iter().map(|&i| PollFd::new(&children[i].pidfd, PollFlags::IN)).collect();
    let timeout = Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => {
            running.into_iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty()).map(|(index, _)| index).collect()
        }
        Err(_) => Vec::new(),
    }
}

/// How a process ended, in words; absent when it ended well.
#[must_use]
pub fn failure_words(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit status {code}")),
        (None, Some(signal)) => Some(format!("killed by signal {signal}")),
        (None, None) => Some("ended in an unknown way".into()),
    }
}

/// What a process that died said: the panic if there is one, else the end of its output.
#[must_use]
pub fn words_of_death(death: &str, output: &str) -> String {
    let told: Vec<&str> = match output.find("panic: ").or_else(|| output.find("fatal error: ")) {
        Some(at) => output[at..].lines().take_while(|l| !l.is_empty()).take(5).collect(),
        None => {
            let lines: Vec<&str> = output.lines().filter(|l| !l.is_empty()).collect();
            lines[lines.len().saturating_sub(5)..].to_vec()
        }
    };
    if told.is_empty() { death.to_owned() } else { format!("{death}: {}", told.join("\n")) }
}

fn cpu_set(cpus: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    for &cpu in cpus.iter().filter(|&&c| (c as usize) < CpuSet::MAX_CPU) {
        set.set(cpu as usize);
    }
    set
}

fn pid_of(child: &std::process::Child) -> Pid {
    Pid::from_child(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_quoted_without_its_stack() {
        let words = words_of_death("exit status 2", "x\npanic: boom\n\ngoroutine 1 [running]:\nmain.f()\n");
        assert_eq!(words, "exit status 2: panic: boom");
    }
}
