//! One measured process of a whole program, with what belongs before and after it; or two of them at once.

use std::panic::resume_unwind;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use duetbench_core::spec::ExitCodes;

use crate::error::RunError;
use crate::process::{
    Child, Gate, Launch, Output, Timing, Wait, WaitEnd, failure_words, hangs, spawn_together, words_of_death,
};

mod filling;

use filling::{Filling, Start};

/// A program that is measured as a whole.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its command.
    pub launch: Launch,
    /// Runs before each of its processes, unmeasured.
    pub prepare: Option<Launch>,
    /// Runs after each of its processes, unmeasured, also after one that failed.
    pub conclude: Option<Launch>,
    /// The exit codes that mean success.
    pub exit_codes: ExitCodes,
    /// Where two run at once, the one that ends first is started again until the other one ends.
    pub refill: bool,
}

/// The time that a process may take, and the flag that ends the wait for it.
#[derive(Debug, Clone, Copy)]
pub struct Patience<'a> {
    /// Longest time from its start.
    pub limit: Duration,
    /// Ends every wait when set.
    pub interrupted: &'a AtomicBool,
}

/// Why there is no timing.
#[derive(Debug)]
pub enum Trouble {
    /// A program did not do what it should.
    Failed {
        /// Its side, where that is known.
        side: Option<usize>,
        /// The error in words.
        reason: String,
    },
    /// Going on is pointless.
    Fatal(RunError),
}

impl Program {
    /// Runs it alone, with what belongs to it.
    ///
    /// # Errors
    /// When it, or what belongs to it, fails or hangs; on an interrupt.
    pub fn run(&self, patience: Patience<'_>) -> Result<Timing, Trouble> {
        self.before(patience)?;
        let timing = self.measured(patience);
        // Tidies up behind a failed process too; the first failure is the one to tell.
        let concluded = self.after(patience);
        let timing = timing?;
        concluded.map(|()| timing)
    }

    fn before(&self, patience: Patience<'_>) -> Result<(), Trouble> {
        self.prepare.as_ref().map_or(Ok(()), |launch| attend(launch, "prepare it", patience))
    }

    fn after(&self, patience: Patience<'_>) -> Result<(), Trouble> {
        // Who wants to stop would have to wait for it, or see it killed half-way.
        let wanted = self.conclude.as_ref().filter(|_| !patience.interrupted.load(Ordering::Relaxed));
        wanted.map_or(Ok(()), |launch| attend(launch, "conclude it", patience))
    }

    fn measured(&self, patience: Patience<'_>) -> Result<Timing, Trouble> {
        let mut children = [self.spawn()?];
        wait_for(&mut children, 1, Instant::now(), patience)?;
        self.check(&children[0])?;
        children[0].timing().ok_or_else(|| failed("it ended before it became the program"))
    }

    fn spawn(&self) -> Result<Child, Trouble> {
        let gate = Gate::opened().map_err(Trouble::Fatal)?;
        self.launch.spawn_timed(&gate, 0).map_err(|e| failed(e.to_string()))
    }

    /// Whether it ended as it should.
    fn check(&self, child: &Child) -> Result<(), Trouble> {
        let well = |status: &ExitStatus| status.code().is_some_and(|code| self.exit_codes.contains(code));
        let Some(status) = child.status().filter(|status| !well(status)) else { return Ok(()) };
        let ended = failure_words(status).unwrap_or_else(|| "exit status 0".into());
        let codes = &self.exit_codes;
        let wanted = if codes.is_usual() { String::new() } else { format!(" instead of {codes}") };
        Err(failed(words_of_death(&format!("{ended}{wanted}"), &child.output_tail())))
    }
}

/// Runs two programs at the same time, with what belongs to them; that is never run while a program is measured.
///
/// # Errors
/// When one of them, or what belongs to it, fails or hangs, the other one is killed; on an interrupt.
pub fn run_both(programs: [&Program; 2], patience: Patience<'_>) -> Result<[Timing; 2], Trouble> {
    if let [Output::File(one), Output::File(other)] = programs.map(|program| &program.launch.streams.output)
        && one == other
        && (one.is_file() || !one.exists())
    {
        let both =
            format!("both versions would write `{}` at once: `--mode interleaved` has them take turns", one.display());
        return Err(failed(both));
    }
    for (side, program) in programs.into_iter().enumerate() {
        if let Err(e) = program.before(patience) {
            // The other one has begun, and is concluded.
            programs[..side].iter().for_each(|prepared| drop(prepared.after(patience)));
            return Err(e.of(side));
        }
    }
    let timings =
        spawn_together(programs.map(|p| &p.launch), |children| beside(programs, children, &Program::spawn, patience));
    let timings = timings.map_err(Trouble::Fatal).and_then(|timings| timings);
    let concluded = [0, 1].map(|side| programs[side].after(patience).map_err(|e| e.of(side)));
    let timings = timings?;
    concluded.into_iter().collect::<Result<(), _>>().map(|()| timings)
}

/// Two programs that have been started, until both have ended. Where that is wanted, `refill` starts the shorter one again meanwhile.
fn beside(
    programs: [&Program; 2],
    children: [Result<Child, RunError>; 2],
    refill: &Start<'_>,
    patience: Patience<'_>,
) -> Result<[Timing; 2], Trouble> {
    let mut both = Both { programs, running: Vec::with_capacity(2), began: Instant::now(), patience };
    for (side, child) in children.into_iter().enumerate() {
        both.running.push(child.map_err(|e| failed(e.to_string()).of(side))?);
    }
    if programs.iter().any(|program| program.refill) { both.refilled(refill) } else { both.timings(|_| {}) }
}

/// Two programs that run at the same time.
struct Both<'a> {
    programs: [&'a Program; 2],
    running: Vec<Child>,
    began: Instant,
    patience: Patience<'a>,
}

impl Both<'_> {
    /// Their timings, once both have ended; hears meanwhile of the one that ended first.
    fn timings(&mut self, hear: impl FnOnce(usize)) -> Result<[Timing; 2], Trouble> {
        self.wait_for(1)?;
        if let Some(longer) = self.running.iter().position(|child| child.status().is_none()) {
            hear(1 - longer);
            self.wait_for(2)?;
        }
        let timing = |side: usize| {
            let timing = self.running[side].timing();
            timing.ok_or_else(|| failed("it ended before it became the program").of(side))
        };
        Ok([timing(0)?, timing(1)?])
    }

    /// Their timings, where the core of the shorter one is filled meanwhile.
    fn refilled(&mut self, refill: &Start<'_>) -> Result<[Timing; 2], Trouble> {
        let (programs, limit, filling) = (self.programs, self.patience.limit, Filling::default());
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel::<usize>();
            let fill = |side: usize| filling.fill(programs[side], refill, limit).map_err(|e| e.of(side));
            // Starting a process takes long, and whoever is at it sees late that the longer program ends. So another thread stands ready.
            let thread = thread::Builder::new().spawn_scoped(scope, move || told.recv().map_or(Ok(()), fill));
            let thread = thread.map_err(|e| failed(format!("no thread to start a program again: {e}")))?;
            let timings = self.timings(|shorter| {
                let _ = programs[shorter].refill.then(|| tell.send(shorter));
            });
            drop(tell);
            filling.end();
            let filled = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            timings.and_then(|timings| filled.map(|()| timings))
        })
    }

    /// Waits until so many have ended as they should.
    fn wait_for(&mut self, wanted: usize) -> Result<(), Trouble> {
        wait_for(&mut self.running, wanted, self.began, self.patience)?;
        for side in 0..2 {
            self.programs[side].check(&self.running[side]).map_err(|e| e.of(side))?;
        }
        Ok(())
    }
}

/// Runs what belongs to a program, for the purpose that a failure names.
///
/// # Errors
/// When it fails or hangs; on an interrupt.
pub(crate) fn attend(launch: &Launch, purpose: &str, patience: Patience<'_>) -> Result<(), Trouble> {
    let of_it = |words: String| failed(format!("what is to {purpose} failed: {words}"));
    let mut children = [launch.spawn_beside().map_err(|e| of_it(e.to_string()))?];
    wait_for(&mut children, 1, Instant::now(), patience).map_err(|e| match e {
        Trouble::Failed { reason, .. } => of_it(reason),
        fatal @ Trouble::Fatal(_) => fatal,
    })?;
    match children[0].status().and_then(failure_words) {
        Some(death) => Err(of_it(words_of_death(&death, &children[0].output_tail()))),
        None => Ok(()),
    }
}

/// Waits until so many have ended.
fn wait_for(children: &mut [Child], wanted: usize, began: Instant, p: Patience<'_>) -> Result<(), Trouble> {
    let wait = Wait { deadline: began + p.limit, interrupted: p.interrupted };
    match wait.for_ends(children, wanted, |_| {}) {
        WaitEnd::Ended => Ok(()),
        WaitEnd::Interrupted => Err(Trouble::Fatal(RunError::Interrupted)),
        WaitEnd::TimedOut => {
            let running: Vec<usize> = (0..children.len()).filter(|&i| children[i].status().is_none()).collect();
            let side = if let [only] = running[..] { Some(only) } else { None };
            Err(Trouble::Failed { side, reason: hangs(p.limit) })
        }
    }
}

fn failed(reason: impl Into<String>) -> Trouble {
    Trouble::Failed { side: None, reason: reason.into() }
}

impl Trouble {
    /// The same, said of one of two.
    fn of(self, side: usize) -> Trouble {
        match self {
            Trouble::Failed { reason, .. } => Trouble::Failed { side: Some(side), reason },
            fatal @ Trouble::Fatal(_) => fatal,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use std::fs;
    use std::path::Path;

    use super::*;

    /// A shell that does this, and is started again where it ends first.
    fn shell(dir: &Path, script: &str) -> Program {
        let launch = Launch { args: vec!["-c".into(), script.into()], ..Launch::of("/bin/sh", dir) };
        Program { launch, prepare: None, conclude: None, exit_codes: ExitCodes::default(), refill: true }
    }

    /// Waits for something that takes a moment, and gives up where it never comes.
    fn until(condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !condition() {
            assert!(Instant::now() < deadline, "it never came to that");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_end_of_the_longer_program_is_seen_while_the_shorter_one_is_started_again() {
        let dir = tempfile::tempdir().unwrap();
        let [shorter, longer] =
            ["true", "echo $$ >pid; until test -e go; do sleep 0.01; done"].map(|script| shell(dir.path(), script));
        // This takes until the longer program is not even a zombie any more.
        let slowly = |program: &Program| {
            until(|| fs::read_to_string(dir.path().join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
            let pid = fs::read_to_string(dir.path().join("pid")).unwrap();
            fs::write(dir.path().join("go"), "").unwrap();
            until(|| !Path::new("/proc").join(pid.trim()).exists());
            program.spawn()
        };
        let patience = Patience { limit: Duration::from_secs(60), interrupted: &AtomicBool::new(false) };
        let programs = [&shorter, &longer];
        let timings =
            spawn_together(programs.map(|p| &p.launch), |children| beside(programs, children, &slowly, patience));
        timings.unwrap().unwrap();
    }

    #[test]
    fn the_program_that_hangs_is_named_though_the_other_one_is_started_again() {
        let dir = tempfile::tempdir().unwrap();
        let [shorter, hanging] = ["true", "sleep 60"].map(|script| shell(dir.path(), script));
        let patience = Patience { limit: Duration::from_secs(1), interrupted: &AtomicBool::new(false) };
        for (programs, hangs) in [([&shorter, &hanging], 1), ([&hanging, &shorter], 0)] {
            let trouble = run_both(programs, patience).unwrap_err();
            assert!(matches!(trouble, Trouble::Failed { side: Some(side), .. } if side == hangs), "{trouble:?}");
        }
    }
}
