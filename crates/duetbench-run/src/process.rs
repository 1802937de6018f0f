//! Starting measured code and ending it for certain: own process group, no inherited secrets, dies with us.

use std::ffi::OsString;
use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;

use crate::error::RunError;

mod gate;
mod last_words;
mod leftovers;
mod sandbox;
mod streams;

pub use gate::{Gate, spawn_together};
use gate::{Passage, now_ns};
pub use last_words::{go_report, hangs, words_of_death};
use leftovers::{KilledGroup, Start};
pub use leftovers::{adopt_orphans, end_abandoned, end_leftovers, ignores, told_leftovers};
pub(crate) use leftovers::{group_below, keep_failure};
pub use sandbox::Sandbox;
pub(crate) use streams::Printed;
use streams::{Attended, Drain};
pub use streams::{Output, Streams};

/// Environment variables that reach measured code, beside those of its harness; everything else stays with us.
const ALLOWED_ENV: [&str; 13] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM",
    "LD_LIBRARY_PATH", "XDG_CACHE_HOME",
];
/// Bytes of a process's output that are kept: its end.
const TAIL_BYTES: usize = 16 * 1024;
/// Interval at which a wait looks at the interrupt flag and empties the output pipes. Waking up at every line that a process prints
/// would be the greater part of what we ourselves do while it measures.
const TICK: Duration = Duration::from_millis(20);

/// A process to start.
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
    /// The program itself is what is measured, so each suite run starts a copy of its own: where its pages lie in memory matters.
    pub placed: bool,
    /// Keeps it apart from network, files and other processes, where there is one.
    pub sandbox: Option<Sandbox>,
    /// Files and folders of ours that a sandbox lets it write, beside its directory, the page and the list.
    pub writes: Vec<PathBuf>,
    /// Its standard input and output.
    pub streams: Streams,
}

/// A running or ended process; killed with its whole group and reaped on drop.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    pidfd: OwnedFd,
    output: Option<PipeReader>,
    /// Its output for good, where one that it leaves behind goes on.
    attended: Option<Attended>,
    tail: Vec<u8>,
    /// It printed so much at once that it is read more often, or it would wait for us.
    prints_much: bool,
    /// Its standard output, where that is a pipe of its own.
    drain: Option<Drain>,
    status: Option<ExitStatus>,
    usage: Usage,
    /// Where it noted its start, if it is timed.
    passage: Option<Passage>,
    started: Start,
    marked: Marked,
    /// It runs in a sandbox, whose own processes end with it.
    sandboxed: bool,
}

/// Resources that a process used, with those of its children that it waited for.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    /// Monotonic clock when its end was seen.
    ended_ns: u64,
    cpu_ns: u64,
    peak_bytes: u64,
}

/// Time and memory of a timed process, from the moment it became the program to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Monotonic clock when it became the program, nanoseconds.
    pub start_ns: u64,
    /// Wall time from then to its end, nanoseconds.
    pub wall_ns: u64,
    /// User and system time of it and of those of its children that it waited for, nanoseconds.
    pub cpu_ns: u64,
    /// Largest resident set of any of them, and of ourselves when we started it: a process keeps that of its parent.
    pub peak_bytes: u64,
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
    /// A program in a directory, and nothing else set.
    pub fn of(program: impl Into<PathBuf>, dir: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            args: Vec::new(),
            dir: dir.into(),
            env: Vec::new(),
            cpus: None,
            hooked: false,
            placed: false,
            sandbox: None,
            writes: Vec::new(),
            streams: Streams::default(),
        }
    }

    /// Starts the process.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn(&self) -> Result<Child, RunError> {
        self.start(None, Marked::Yes)
    }

    /// Starts a process that is not measured but belongs to one that is: what it leaves behind may be what that one needs, and
    /// goes on.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn_beside(&self) -> Result<Child, RunError> {
        self.start(None, Marked::No)
    }

    /// Starts the process as one that is timed as a whole, once it may pass the gate. The calling thread must outlive it.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn spawn_timed(&self, gate: &Arc<Gate>, side: usize) -> Result<Child, RunError> {
        self.start(Some(gate.passage(side)), Marked::Yes)
    }

    /// Whether there is a hook that may ask. A `duet` that measured code starts would take the variable for a misspelt setting.
    fn is_told_its_parent(&self) -> bool {
        self.hooked || self.env.iter().any(|(name, _)| name == "DUET_PAGE" || name == "DUET_LIST")
    }

    fn start(&self, passage: Option<Passage>, marked: Marked) -> Result<Child, RunError> {
        let start = |source| RunError::Start { program: self.program.display().to_string(), source };
        let (output, attended, writer) = printed(marked).map_err(start)?;
        let started = Start::new();
        let plainly = || (self.program.clone(), self.args.clone());
        let (program, args) = self.sandbox.as_ref().map_or_else(plainly, |sandbox| sandbox.around(self));
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.dir)
            .env_clear()
            .envs(ALLOWED_ENV.iter().filter_map(|name| std::env::var_os(name).map(|value| (*name, value))))
            .env("PWD", &self.dir)
            .envs(self.is_told_its_parent().then(|| ("DUET_PARENT", std::process::id().to_string())))
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .envs((marked == Marked::Yes).then(|| started.mark()));
        match self.sandbox {
            Some(_) => leads_a_session(&mut command),
            None => _ = command.process_group(0),
        }
        let drain = self.streams.connect(&mut command, writer).map_err(start)?;
        if !self.hooked {
            dies_with_us(&mut command, Signal::KILL);
        }
        if let Some(passage) = &passage {
            passes(&mut command, passage.clone());
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
        let usage = Usage::default();
        let (tail, prints_much, status) = (Vec::new(), false, None);
        let sandboxed = self.sandbox.is_some();
        Ok(Child {
            inner,
            pidfd,
            output,
            attended,
            tail,
            prints_much,
            drain,
            status,
            usage,
            passage,
            started,
            marked,
            sandboxed,
        })
    }
}

/// The output of a process: read while it runs, or for good where one that it leaves behind goes on.
fn printed(marked: Marked) -> std::io::Result<(Option<PipeReader>, Option<Attended>, OwnedFd)> {
    Ok(match marked {
        Marked::Yes => {
            let (reader, writer) = streams::pipe()?;
            (Some(reader), None, writer.into())
        }
        Marked::No => {
            let (attended, writer) = Attended::begin(TAIL_BYTES)?;
            (None, Some(attended), writer.into())
        }
    })
}

/// Whether what descends from a process is to be known for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    Yes,
    No,
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

/// Gives a process and those that it starts a group of their own as well as no terminal that they could type into.
fn leads_a_session(command: &mut Command) {
    let lead = || Ok(rustix::process::setsid().map(drop)?);
    // SAFETY: the closure makes one system call and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(lead);
    }
}

/// Makes a process and those that it starts run only where nobody else wants to.
pub(crate) fn gives_way(command: &mut Command) {
    const LEAST: i32 = 19;
    let arrange = || Ok(rustix::process::setpriority_process(None, LEAST)?);
    // SAFETY: the closure makes one system call and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(arrange);
    }
}

/// Makes a process note when it becomes the program, and wait for others before that if it is to start together with them.
fn passes(command: &mut Command, passage: Passage) {
    let pass = move || {
        passage.pass();
        Ok(())
    };
    // SAFETY: passing makes system calls and writes to memory that is shared with us; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(pass);
    }
}

impl Child {
    /// Its exit status; absent while it runs.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// A handle by which another thread may end it; absent where there is no room for one more.
    pub(crate) fn handle(&self) -> Option<OwnedFd> {
        self.pidfd.try_clone().ok()
    }

    /// The end of what it printed on either stream.
    pub fn output_tail(&self) -> String {
        String::from_utf8_lossy(&self.tail).into_owned()
    }

    /// Time and memory that it took; absent while it runs, and for processes that are not timed as a whole.
    pub fn timing(&self) -> Option<Timing> {
        let start = self.passage.as_ref()?.start()?;
        self.status?;
        Some(Timing {
            start_ns: start.at_ns,
            wall_ns: self.usage.ended_ns.saturating_sub(start.at_ns),
            cpu_ns: self.usage.cpu_ns.saturating_sub(start.cpu_ns),
            peak_bytes: self.usage.peak_bytes,
        })
    }

    /// Kills it and its whole group, and reaps it.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            let id = self.kill_group();
            let _ = self.inner.kill();
            self.bury(Some(KilledGroup { id, was_left: false }));
        }
    }

    /// Kills its group, whose number this is.
    fn kill_group(&self) -> Pid {
        let group = pid_of(&self.inner);
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        group
    }

    /// Waits for it, which is dead or about to be, as its group is if that was killed.
    fn bury(&mut self, killed: Option<KilledGroup>) {
        self.usage.ended_ns = now_ns();
        if let Ok((status, cpu_ns, peak_bytes)) = wait4(pid_of(&self.inner)) {
            self.status = Some(status);
            self.usage = Usage { cpu_ns, peak_bytes, ..self.usage };
        }
        self.started.ended(killed);
        self.keep_tail();
    }

    /// Throws away what is on its standard output.
    fn discard(&mut self) {
        let more = self.drain.as_mut().is_some_and(Drain::empty);
        if !more {
            self.drain = None;
        }
    }

    /// Reads what is there; keeps the end. No more than fits the pipe, or who prints without end would keep us here.
    fn keep_tail(&mut self) {
        if let Some(attended) = &self.attended {
            self.tail = attended.tail();
        }
        let mut buffer = [0u8; 8192];
        let mut read = 0;
        while let Some(reader) = self.output.as_mut().filter(|_| read < streams::PIPE_BYTES) {
            match reader.read(&mut buffer) {
                Ok(0) => self.output = None,
                Ok(n) => {
                    read += n;
                    self.prints_much |= read >= streams::PIPE_BYTES / 8;
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

    /// Takes note of its end, if it has ended; its group goes with it, unless what it leaves behind goes on.
    fn reap(&mut self, ended_ns: u64) {
        if self.status.is_none() {
            // While it is a zombie its number cannot be reused, so the group is still the right one.
            let killed =
                (self.marked == Marked::Yes).then(|| KilledGroup { id: self.kill_group(), was_left: !self.sandboxed });
            self.bury(killed);
            self.usage.ended_ns = ended_ns;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until all have ended, the deadline has passed, or the user wants to stop; `on_exit` hears of each end at once.
/// Processes that have not ended by then are still running.
pub fn wait_all(
    children: &mut [Child],
    deadline: Instant,
    interrupted: &AtomicBool,
    on_exit: impl FnMut(usize),
) -> WaitEnd {
    let wanted = children.len();
    Wait { deadline, interrupted }.for_ends(children, wanted, on_exit)
}

/// Limits of a wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait<'a> {
    /// When it ends at the latest.
    pub deadline: Instant,
    /// Ends it when set.
    pub interrupted: &'a AtomicBool,
}

impl Wait<'_> {
    /// Waits until at least so many of these have ended, otherwise like [`wait_all`].
    pub fn for_ends(self, children: &mut [Child], wanted: usize, mut on_exit: impl FnMut(usize)) -> WaitEnd {
        loop {
            if children.iter().filter(|c| c.status.is_some()).count() >= wanted {
                return WaitEnd::Ended;
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return WaitEnd::Interrupted;
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            let prints_much = children.iter().any(|child| child.prints_much && child.status.is_none());
            let tick = if prints_much { streams::REST } else { TICK };
            let Some(woken) = poll_once(children, left.min(tick)) else { continue };
            let ended_ns = now_ns();
            // Only a look after the deadline tells: who is stopped for a while before it sees late who ended in time.
            if left.is_zero() && woken.ended.is_empty() {
                return WaitEnd::TimedOut;
            }
            for index in woken.ended {
                children[index].reap(ended_ns);
                on_exit(index);
            }
            woken.printed.into_iter().for_each(|index| children[index].discard());
            children.iter_mut().for_each(Child::keep_tail);
        }
    }
}

/// Processes, by their index, that a wait was woken by.
#[derive(Debug, Default)]
struct Woken {
    /// They ended.
    ended: Vec<usize>,
    /// Their output is to be read.
    printed: Vec<usize>,
}

/// Sleeps until a process ends, or prints to a pipe that is read, or the time is over; absent where a signal came first.
fn poll_once(children: &[Child], mut timeout: Duration) -> Option<Woken> {
    let now = Instant::now();
    let running: Vec<usize> = (0..children.len()).filter(|&i| children[i].status.is_none()).collect();
    let mut printing = Vec::new();
    let mut fds: Vec<PollFd<'_>> = running.iter().map(|&i| PollFd::new(&children[i].pidfd, PollFlags::IN)).collect();
    for &index in &running {
        match children[index].drain.as_ref().map(|drain| drain.awaits(now)) {
            Some(Ok(pipe)) => {
                printing.push(index);
                fds.push(PollFd::new(pipe, PollFlags::IN));
            }
            Some(Err(rest)) => timeout = timeout.min(rest),
            None => {}
        }
    }
    let timeout = Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => {}
        Err(Errno::INTR) => return None,
        Err(_) => return Some(Woken::default()),
    }
    let (ends, pipes) = fds.split_at(running.len());
    let woken_by = |fds: &[PollFd<'_>], all: &[usize]| {
        all.iter().zip(fds).filter(|(_, fd)| !fd.revents().is_empty()).map(|(index, _)| *index).collect()
    };
    Some(Woken { ended: woken_by(ends, &running), printed: woken_by(pipes, &printing) })
}

/// Takes the end of a process that is dead or about to be: its status, its CPU time in nanoseconds and its largest resident set.
fn wait4(pid: Pid) -> std::io::Result<(ExitStatus, u64, u64)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live memory of the right types, which the call may fill.
        let waited = unsafe { libc::wait4(pid.as_raw_pid(), &raw mut status, 0, usage.as_mut_ptr()) };
        if waited >= 0 {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: all zeroes are a valid value, whether or not the kernel filled it.
    let usage = unsafe { usage.assume_init() };
    let nanos = |t: libc::timeval| {
        t.tv_sec
            .unsigned_abs()
            .saturating_mul(1_000_000_000)
            .saturating_add(t.tv_usec.unsigned_abs().saturating_mul(1000))
    };
    let cpu_ns = nanos(usage.ru_utime).saturating_add(nanos(usage.ru_stime));
    Ok((ExitStatus::from_raw(status), cpu_ns, usage.ru_maxrss.unsigned_abs().saturating_mul(1024)))
}

/// The failure of a process in words; absent when it ended well.
pub fn failure_words(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit status {code}")),
        (None, Some(signal)) => Some(format!("killed by signal {signal}")),
        (None, None) => Some("ended in an unknown way".into()),
    }
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
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    fn running(program: &str, argument: &str) -> Child {
        Launch { args: vec![argument.into()], ..Launch::of(program, "/") }.spawn().unwrap()
    }

    fn waited_for_after_the_deadline(children: &mut [Child]) -> (WaitEnd, Vec<usize>) {
        let mut ended = Vec::new();
        let end = wait_all(children, Instant::now(), &AtomicBool::new(false), |index| ended.push(index));
        (end, ended)
    }

    #[test]
    fn who_ended_before_anybody_looked_is_not_called_hung() {
        let mut children = [running("/bin/true", ""), running("/bin/true", "")];
        for child in &children {
            poll(&mut [PollFd::new(&child.pidfd, PollFlags::IN)], None).unwrap();
        }
        assert_eq!(waited_for_after_the_deadline(&mut children), (WaitEnd::Ended, vec![0, 1]));
        let mut children = [running("/bin/true", ""), running("/bin/sleep", "60")];
        poll(&mut [PollFd::new(&children[0].pidfd, PollFlags::IN)], None).unwrap();
        assert_eq!(waited_for_after_the_deadline(&mut children), (WaitEnd::TimedOut, vec![0]));
    }

    #[test]
    fn whoever_prints_much_is_read_more_often() {
        let mut children = [running("/usr/bin/yes", "x"), running("/bin/true", "")];
        while !children[0].prints_much {
            children.iter_mut().for_each(Child::keep_tail);
        }
        assert!(!children[1].prints_much);
        assert!(children[0].tail.len() <= TAIL_BYTES);
    }

    #[test]
    fn whoever_leads_a_session_leads_its_group_too() {
        let mut command = Command::new("cut");
        command.args(["-d ", "-f1,5,6", "/proc/self/stat"]);
        leads_a_session(&mut command);
        let process_group_and_session = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let numbers: Vec<&str> = process_group_and_session.split_whitespace().collect();
        assert_eq!(numbers, [numbers[0]; 3]);
    }
}
