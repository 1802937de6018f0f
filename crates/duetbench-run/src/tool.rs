//! Running the tools we depend on (`git`, `go`) to their end. These are the user's own tools and get the user's
//! environment, but for what points git at one repository; measured code is started by `process` and does not.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::error::RunError;
use crate::process::{Printed, dies_with_us, gives_way, group_below};

/// Most lines of a tool's output that an error repeats.
const OUTPUT_LINES: usize = 40;

/// Variables by which git tells what it starts (a hook, `rebase --exec`, an alias) where repository, index and objects are: all that
/// `git rev-parse --local-env-vars` lists, in whatever version, but `GIT_CONFIG_COUNT`. Our git works on other trees; with the index of a
/// commit in the making it would write theirs into it. `go` asks git as well.
const OF_ONE_REPOSITORY: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
    "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
];

/// A command line that is run to its end.
#[derive(Debug)]
pub(crate) struct Tool {
    command: Command,
    words: String,
}

impl Tool {
    /// A program with arguments, to be run in a directory.
    pub(crate) fn new<S: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = S>, dir: &Path) -> Tool {
        let mut command = Command::new(program);
        let mut words =
            Path::new(program).file_name().map_or_else(|| program.into(), |n| n.to_string_lossy().into_owned());
        for arg in args {
            words.push(' ');
            words.push_str(&arg.as_ref().to_string_lossy());
            command.arg(arg);
        }
        // Go believes the shell's word for where it is, which may lead there by a link: names of files would be others than ours.
        command.current_dir(dir).env("PWD", dir).stdin(Stdio::null());
        for name in OF_ONE_REPOSITORY {
            command.env_remove(name);
        }
        // As from Ctrl-C, because then it tidies up: a build that goes on alone writes into a directory that is swept away
        // meanwhile, and makes it again.
        dies_with_us(&mut command, Signal::INT);
        Tool { command, words }
    }

    /// Gives it other words for what fails of it than its command line.
    #[must_use]
    pub(crate) fn called(mut self, words: &str) -> Tool {
        self.words = words.to_owned();
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Tool {
        self.command.env(key, value);
        self
    }

    /// Runs it, whatever comes of it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn output(mut self) -> Result<Output, RunError> {
        let mut run = || -> io::Result<Output> {
            // Whom it leaves behind holds its output, so that only its own end counts.
            let [out, errors] = [Printed::new()?, Printed::new()?];
            self.command.stdout(out.writer()?).stderr(errors.writer()?);
            let told_before = INTERRUPTS.load(Ordering::SeqCst);
            let mut child = self.command.spawn()?;
            let _waited = Waited::of(&child, told_before);
            let status = child.wait()?;
            Ok(Output { status, stdout: out.all()?, stderr: errors.all()? })
        };
        run().map_err(|source| self.cannot_start(source))
    }

    fn cannot_start(&self, source: std::io::Error) -> RunError {
        RunError::Start { program: self.command.get_program().to_string_lossy().into_owned(), source }
    }

    /// Makes it run only where nobody else wants to.
    #[must_use]
    pub(crate) fn giving_way(mut self) -> Tool {
        gives_way(&mut self.command);
        self
    }

    /// Starts it, to go on beside something else.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(mut self) -> Result<Started, RunError> {
        let mut start = || -> io::Result<(Child, Printed, Waited)> {
            let errors = Printed::new()?;
            self.command.stdout(Stdio::null()).stderr(errors.writer()?);
            let told_before = INTERRUPTS.load(Ordering::SeqCst);
            let child = self.command.spawn()?;
            let waited = Waited::of(&child, told_before);
            Ok((child, errors, waited))
        };
        let (child, errors, waited) = start().map_err(|source| self.cannot_start(source))?;
        Ok(Started { _waited: waited, child: Some(child), errors, words: self.words })
    }

    /// Runs it and gives what it printed on standard output, trimmed.
    ///
    /// # Errors
    /// When it cannot be started or reports failure.
    pub(crate) fn text(self) -> Result<String, RunError> {
        let words = self.words.clone();
        let output = self.output()?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(RunError::Tool { command: words, output: shorten(&output.stderr) })
        }
    }
}

/// Times that tools were asked to end.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);
/// The tools that run.
static WAITED: Mutex<Vec<Arc<Waitable>>> = Mutex::new(Vec::new());

/// Asks the tools that run to end, and what they have started in our group, as Ctrl-C would: who is asked to end by another signal is asked
/// alone, a build takes minutes, and a shell waits for its command.
pub fn interrupt_tools() {
    INTERRUPTS.fetch_add(1, Ordering::SeqCst);
    for tool in WAITED.lock().iter().flat_map(|tools| tools.iter()) {
        // Those below it first, for they are nobody's known children once it has ended.
        for pid in group_below(tool.pid) {
            let _ = rustix::process::kill_process(pid, Signal::INT);
        }
        tool.interrupt();
    }
}

/// A tool that may be asked to end: its number alone may mean another process by then.
#[derive(Debug)]
struct Waitable {
    pid: Pid,
    handle: OwnedFd,
}

impl Waitable {
    fn interrupt(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.handle, Signal::INT);
    }
}

/// A tool that runs, and is or will be waited for, as long as this lives.
#[derive(Debug)]
struct Waited(Option<Arc<Waitable>>);

impl Waited {
    /// Takes note of a tool that was started when others had been asked to end so often; asks it too if that has happened since.
    fn of(child: &Child, told_before: usize) -> Waited {
        let pid = Pid::from_child(child);
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let tool = handle.ok().map(|handle| Arc::new(Waitable { pid, handle }));
        if let (Some(tool), Ok(mut tools)) = (&tool, WAITED.lock()) {
            tools.push(tool.clone());
        }
        if let Some(tool) = tool.as_ref().filter(|_| INTERRUPTS.load(Ordering::SeqCst) != told_before) {
            tool.interrupt();
        }
        Waited(tool)
    }
}

impl Drop for Waited {
    fn drop(&mut self) {
        if let (Some(tool), Ok(mut tools)) = (&self.0, WAITED.lock()) {
            tools.retain(|one| !Arc::ptr_eq(one, tool));
        }
    }
}

/// A command that was started. Dropped before its end, it is interrupted as from Ctrl-C and waited for.
#[derive(Debug)]
pub(crate) struct Started {
    child: Option<Child>,
    errors: Printed,
    words: String,
    _waited: Waited,
}

impl Started {
    /// Its process, until it was waited for.
    pub(crate) fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it reports failure, with what it wrote on standard error.
    pub(crate) fn finish(mut self) -> Result<(), RunError> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let wrong = |output| RunError::Tool { command: self.words.clone(), output };
        let ended = child.wait().and_then(|status| Ok((status, self.errors.all()?)));
        let (status, errors) = ended.map_err(|error| wrong(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(wrong(shorten(&errors))) }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Once it was seen to have ended, its number may be another's.
            if matches!(child.try_wait(), Ok(None)) {
                let _ = rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT);
            }
            let _ = child.wait();
        }
    }
}

/// Does something for each item, so many at once.
///
/// # Errors
/// The first failure; what was being done then is finished.
pub(crate) fn each<T: Sync>(
    items: &[T],
    at_once: usize,
    act: impl Fn(&T) -> Result<(), RunError> + Sync,
) -> Result<(), RunError> {
    let queue = Mutex::new(items.iter());
    let failure = Mutex::new(None);
    let next = || queue.lock().ok().filter(|_| failure.lock().is_ok_and(|f| f.is_none()))?.next();
    let work = || {
        while let Some(item) = next() {
            if let Err(error) = act(item)
                && let Ok(mut failure) = failure.lock()
            {
                failure.get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        // Where the system grants no more threads, those that are there do it.
        let helpers = 1..at_once.min(items.len());
        let _ =
            helpers.map(|_| std::thread::Builder::new().spawn_scoped(scope, work)).take_while(Result::is_ok).count();
        work();
    });
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}

/// Output of a tool, without trailing space and at most forty lines of it.
pub(crate) fn shorten(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.trim().lines().collect();
    match lines.len().checked_sub(OUTPUT_LINES) {
        None | Some(0) => lines.join("\n"),
        Some(more) => format!("{}\n({more} more lines)", lines[..OUTPUT_LINES].join("\n")),
    }
}

/// Words of a build that failed: the beginning of its errors, after the end of all else as far as there is room.
pub(crate) fn words_of_build(output: &Output) -> String {
    let errors = shorten(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.trim().lines().collect();
    let before = lines.len().saturating_sub(OUTPUT_LINES.saturating_sub(errors.lines().count()));
    let left_out = (before > 0).then(|| format!("({before} lines before)"));
    let shown = left_out.as_deref().into_iter().chain(lines[before..].iter().copied());
    shown.chain(errors.lines()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_s_errors_are_seen_behind_all_that_it_prints() {
        let of = |script: &str| words_of_build(&Tool::new("sh", ["-c", script], Path::new("/")).output().unwrap());
        assert_eq!(of("echo a; echo b >&2"), "a\nb");
        let many = of("seq 100; echo wrong >&2");
        assert!(many.starts_with("(61 lines before)\n62\n") && many.ends_with("\n100\nwrong"), "{many}");
    }

    #[test]
    fn a_tool_s_end_is_not_that_of_whom_it_leaves_behind() {
        let said = Tool::new("sh", ["-c", "sleep 1000 & echo $!"], Path::new("/")).text().unwrap();
        let left = rustix::process::Pid::from_raw(said.parse().unwrap()).unwrap();
        rustix::process::kill_process(left, Signal::KILL).unwrap();
    }

    /// Listed as well, and left alone: git never sets it, users do (with keys and values beside it), so that private modules and
    /// submodules can be fetched.
    const CONFIGURED: &str = "GIT_CONFIG_COUNT";

    #[test]
    fn all_that_git_lists_as_belonging_to_one_repository_is_kept_away() {
        let listed = Tool::new("git", ["rev-parse", "--local-env-vars"], Path::new("/")).text().unwrap();
        let missing: Vec<&str> =
            listed.lines().filter(|name| *name != CONFIGURED && !OF_ONE_REPOSITORY.contains(name)).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    /// Chooses the number of the next process, which the system gives to nobody else then but by chance.
    #[test]
    #[ignore = "needs the right to choose numbers of processes"]
    fn who_has_the_number_of_a_tool_that_has_ended_is_left_alone() {
        let tool = |args: &[&str]| Tool::new("sleep", args, Path::new("/")).start().unwrap();
        let mut ended = tool(&["0"]);
        let number = ended.process().unwrap();
        while !ended.has_ended() {
            std::thread::yield_now();
        }
        std::fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).unwrap();
        let mut heir = tool(&["60"]);
        assert_eq!(heir.process(), Some(number));
        drop(ended);
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!heir.has_ended());
    }
}
