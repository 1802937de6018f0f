//! Processes that measured ones leave running in sessions of their own, where killing their group does not reach: found, named, ended.
//!
//! Orphans come back to us ([`adopt_orphans`]), those of a build among them: a daemon that the user's tools have started is
//! theirs. A descendant of a measured process says so itself, by a variable that it has inherited.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

/// The variable that is inherited: our process number and the number of the start. One that begins with `DUET_` would be taken for a
/// setting by a `duet` that measured code starts.
const MARK: &str = "MEASURED_BY_DUET";
/// Most rounds in which descendants of ended processes are looked for: each round finds those of the round before.
const ROUNDS_MAX: usize = 100;
/// Longest time that a killed process may take to end.
const END_MAX: Duration = Duration::from_secs(2);
/// Processes that are named of those that one benchmark left behind.
const NAMED_MAX: usize = 3;

/// The starts, and the processes that they left behind.
static STARTED: Mutex<Started> = Mutex::new(Started {
    last: 0,
    running: BTreeSet::new(),
    groups: Vec::new(),
    left: BTreeMap::new(),
    failed: Vec::new(),
});

#[derive(Debug)]
struct Started {
    /// Number of the last start.
    last: u64,
    /// Starts whose processes have not ended.
    running: BTreeSet<u64>,
    /// Process groups that were killed and not looked at since.
    groups: Vec<KilledGroup>,
    /// Ended and not reported yet, by whoever left them behind.
    left: BTreeMap<String, Left>,
    /// Failures of what was to tidy up, in words.
    failed: Vec<String>,
}

/// A process group that was killed.
#[derive(Debug, Clone, Copy)]
pub(super) struct KilledGroup {
    pub(super) id: Pid,
    /// Its first process had ended by itself, so that the others were left behind.
    pub(super) was_left: bool,
}

/// Processes that were ended.
#[derive(Debug, Default)]
struct Left {
    count: usize,
    /// Some of them; those of its own group have no names any more.
    named: Vec<String>,
}

impl Left {
    fn told_of(&self, who: &str) -> String {
        let Left { count, named } = self;
        let (processes, they) = if *count == 1 { ("process", "it was") } else { ("processes", "they were") };
        let names = match (named.is_empty(), count - named.len()) {
            (true, _) => String::new(),
            (false, 0) => format!(": {}", named.join(", ")),
            (false, more) => format!(": {} and {more} more", named.join(", ")),
        };
        format!("{who} left {count} {processes} behind{names}; {they} ended")
    }
}

/// Whether whoever started us has a signal ignored, as `nohup` does with that of a closed terminal.
pub fn ignores(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    u32::try_from(signal - 1).is_ok_and(|bit| mask.checked_shr(bit).unwrap_or(0) & 1 == 1)
}

/// Has processes whose parent has ended become our children, so that they can be found.
pub fn adopt_orphans() {
    // Where that cannot be had, they go their own ways.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// A start, until its process has ended.
#[derive(Debug)]
pub(super) struct Start(u64);

impl Start {
    pub(super) fn new() -> Start {
        let mut started = started();
        started.last += 1;
        let number = started.last;
        started.running.insert(number);
        Start(number)
    }

    /// The variable that marks what descends from it.
    pub(super) fn mark(&self) -> (&'static str, OsString) {
        (MARK, format!("{}.{}", std::process::id(), self.0).into())
    }

    /// Takes note that its process is gone, and of its group if that was killed.
    pub(super) fn ended(&self, killed: Option<KilledGroup>) {
        let mut started = started();
        started.running.remove(&self.0);
        started.groups.extend(killed);
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        started().running.remove(&self.0);
    }
}

fn started() -> MutexGuard<'static, Started> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends what measured processes that have ended left behind, and keeps in mind who that was.
pub fn end_leftovers(who: &str) {
    let mut ended = Vec::new();
    let mut of_its_group = 0;
    for _ in 0..ROUNDS_MAX {
        let Buried { alive: orphans, of_killed_groups } = bury_the_dead();
        of_its_group += of_killed_groups;
        if orphans.is_empty() {
            break;
        }
        for (pid, name) in orphans {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            wait_for(|options| rustix::process::waitpid(Some(pid), options).map(|waited| waited.is_some()));
            // One that takes long to end is found again, and one that changes its parent may be found twice.
            let named = format!("{name} (pid {pid})");
            if !ended.contains(&named) {
                ended.push(named);
            }
        }
    }
    if !ended.is_empty() || of_its_group > 0 {
        let mut started = started();
        let left = started.left.entry(who.to_owned()).or_default();
        left.count += ended.len() + of_its_group;
        left.named.extend(ended);
        left.named.truncate(NAMED_MAX);
    }
}

/// Ends what measured processes of runs that were killed have left running, and says so, a sentence for each run. It would be measured too.
pub fn end_abandoned() -> Vec<String> {
    let mut ended: BTreeMap<i32, Left> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        let abandoned = abandoned();
        if abandoned.is_empty() {
            break;
        }
        for Abandoned { handle, duet, named } in abandoned {
            let _ = rustix::process::pidfd_send_signal(&handle, Signal::KILL);
            let end = Timespec { tv_sec: END_MAX.as_secs().cast_signed(), tv_nsec: 0 };
            let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&end));
            let left = ended.entry(duet).or_default();
            left.count += 1;
            left.named.push(named);
            left.named.truncate(NAMED_MAX);
        }
    }
    ended.into_iter().map(|(duet, left)| left.told_of(&format!("a run that was killed (pid {duet})"))).collect()
}

/// Keeps in mind that what was to tidy up failed, for whoever tells of leftovers.
pub(crate) fn keep_failure(words: String) {
    started().failed.push(words);
}

/// Says what was ended since this was last asked, a sentence for everybody who left something behind, and what could not be tidied up.
pub fn told_leftovers() -> Vec<String> {
    let (left, failed) = {
        let mut started = started();
        (std::mem::take(&mut started.left), std::mem::take(&mut started.failed))
    };
    left.into_iter().map(|(who, left)| left.told_of(&who)).chain(failed).collect()
}

/// Processes that are left when the dead have been waited for.
#[derive(Debug)]
struct Buried {
    /// Descendants of measured processes, with their names.
    alive: Vec<(Pid, String)>,
    /// Those that a process left behind in its own group, which was killed.
    of_killed_groups: usize,
}

/// Waits for what has become ours and is dead or dying, for nobody else does. While anything runs that somebody does wait for, the dead
/// cannot be told apart and stay.
fn bury_the_dead() -> Buried {
    let mut started = started();
    if !started.running.is_empty() {
        return Buried { alive: orphans(&started.running).alive, of_killed_groups: 0 };
    }
    let mut of_killed_groups = 0;
    for group in std::mem::take(&mut started.groups) {
        wait_for(|options| {
            let waited = rustix::process::waitpgid(group.id, options)?;
            let was_killed =
                |(_, status): (Pid, WaitStatus)| status.terminating_signal() == Some(Signal::KILL.as_raw());
            of_killed_groups += usize::from(group.was_left && waited.is_some_and(was_killed));
            Ok(waited.is_some())
        });
    }
    let Orphans { alive, dead } = orphans(&started.running);
    for pid in dead {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
    Buried { alive, of_killed_groups }
}

/// Waits for processes that were killed, until there are none or they take too long.
fn wait_for(mut wait: impl FnMut(WaitOptions) -> rustix::io::Result<bool>) {
    let deadline = Instant::now() + END_MAX;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(true) => {}
            Ok(false) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Err(rustix::io::Errno::INTR) => {}
            Ok(false) | Err(_) => return,
        }
    }
}

/// Children of ours that nobody here has started.
#[derive(Debug, Default)]
struct Orphans {
    /// Descendants of measured processes, with their names.
    alive: Vec<(Pid, String)>,
    /// Whatever was in no group of ours.
    dead: Vec<Pid>,
}

/// Looks through our children. Descendants of a start that still runs are its own affair.
fn orphans(running: &BTreeSet<u64>) -> Orphans {
    let mut found = Orphans::default();
    let ours = rustix::process::getpgrp().as_raw_nonzero().get();
    let us = rustix::process::getpid().as_raw_pid();
    for pid in children_of("self") {
        let Some((state, group)) = state_and_group(pid) else { continue };
        if state == 'Z' {
            found.dead.extend((group != ours).then_some(pid));
        } else if mark_of(pid).is_some_and(|mark| mark.duet == us && !running.contains(&mark.start)) {
            found.alive.push((pid, name_of(pid)));
        }
    }
    found
}

/// Descendants of a process that are in our group.
pub(crate) fn group_below(pid: Pid) -> Vec<Pid> {
    let ours = rustix::process::getpgrp().as_raw_nonzero().get();
    let (mut found, mut parents) = (Vec::new(), vec![pid]);
    while let Some(parent) = parents.pop() {
        let is_in_ours = |pid: &Pid| state_and_group(*pid).is_some_and(|(_, group)| group == ours);
        let inside = children_of(&parent.to_string()).into_iter().filter(is_in_ours);
        parents.extend(inside.clone());
        found.extend(inside);
    }
    found
}

/// Children of a process, whichever of its threads has them.
fn children_of(process: &str) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids = |list: String| list.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect();
    lists.flat_map(|list| -> Vec<Pid> { pids(list) }).collect()
}

/// The letter for what a process is doing, and its process group.
fn state_and_group(pid: Pid) -> Option<(char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name, in brackets, may have any character in it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.nth(1)?.parse().ok()?))
}

/// The measured process that another one descends from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// Process number of the duet that measured it.
    duet: i32,
    start: u64,
}

impl Mark {
    fn parse(text: &str) -> Option<Mark> {
        let (duet, start) = text.split_once('.')?;
        Some(Mark { duet: duet.parse().ok()?, start: start.parse().ok()? })
    }
}

fn mark_of(pid: Pid) -> Option<Mark> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let ours = format!("{MARK}=");
    let mark = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(ours.as_bytes()))?;
    Mark::parse(std::str::from_utf8(mark).ok()?)
}

/// A descendant of a measured process whose duet is gone.
#[derive(Debug)]
struct Abandoned {
    handle: OwnedFd,
    duet: i32,
    named: String,
}

/// Looks through all processes of our user, but not into containers, where numbers mean other processes.
fn abandoned() -> Vec<Abandoned> {
    let numbers = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let (us, space) = (rustix::process::geteuid().as_raw(), numbers("self"));
    // Who is measured by it, as we may be ourselves, does not take part in ending it.
    let measured_by = std::env::var(MARK).ok().and_then(|mark| Mark::parse(&mark)).map(|mark| mark.duet);
    let abandoned = |entry: fs::DirEntry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        // From here on the number means this process or nobody.
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let is_ours = entry.metadata().ok()?.uid() == us && space.is_some() && numbers(&pid.to_string()) == space;
        let duet = mark_of(pid).filter(|_| is_ours)?.duet;
        let ended = measured_by != Some(duet) && has_ended(Pid::from_raw(duet)?);
        ended.then(|| Abandoned { handle, duet, named: format!("{} (pid {pid})", name_of(pid)) })
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(abandoned).collect()
}

/// Whether no process has this number any more. One that was given to another process since seems to live. `/proc` may hide one of ours.
fn has_ended(pid: Pid) -> bool {
    let gone = rustix::process::test_kill_process(pid) == Err(Errno::SRCH);
    gone || state_and_group(pid).is_some_and(|(state, _)| state == 'Z')
}

fn name_of(pid: Pid) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = String::from_utf8_lossy(&name).trim().replace(char::is_control, "?");
    if name.is_empty() { "a process without a name".into() } else { name }
}
