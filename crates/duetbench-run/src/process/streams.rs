//! Standard input and output of a process: connected before it starts, and its output taken off its hands while it runs.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, splice};

use crate::scratch;

/// Size of an output pipe, so that a process that prints much is seldom held up until it is read.
pub(super) const PIPE_BYTES: usize = 1 << 20;
/// Rest after output that fills less than half of a pipe: a reader that slept would be woken by every line, in the time of the writer.
pub(super) const REST: Duration = Duration::from_micros(200);

/// Input and output of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Streams {
    /// File that it reads as its standard input; absent: nothing.
    pub input: Option<PathBuf>,
    /// Destination of its standard output.
    pub output: Output,
}

/// Destination of a standard output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Where its standard error goes, whose end is kept for the words of a failure.
    #[default]
    Kept,
    /// A pipe of its own that is read and thrown away, because some programs do less where nobody reads (GNU grep stops at the first
    /// match when its output is `/dev/null`).
    Drained,
    /// `/dev/null`.
    Null,
    /// A file, emptied before each start.
    File(PathBuf),
}

/// The output of a process, read as long as anybody prints there: one that it leaves behind may go on, and a pipe without a reader would
/// end that. The end is kept.
#[derive(Debug)]
pub(super) struct Attended(Arc<(Mutex<Heard>, Condvar)>);

#[derive(Debug, Default)]
struct Heard {
    tail: Vec<u8>,
    is_over: bool,
}

impl Attended {
    /// Begins to read, with the end that is written to; at most so many bytes are kept.
    pub(super) fn begin(most: usize) -> io::Result<(Attended, io::PipeWriter)> {
        let (mut reader, writer) = io::pipe()?;
        let heard = Arc::new((Mutex::new(Heard::default()), Condvar::new()));
        let (told, mut buffer) = (heard.clone(), vec![0; 1 << 16]);
        let hear = move || {
            loop {
                let read = match reader.read(&mut buffer) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    read => read.unwrap_or(0),
                };
                let mut heard = told.0.lock().unwrap_or_else(PoisonError::into_inner);
                heard.tail.extend_from_slice(&buffer[..read]);
                let surplus = heard.tail.len().saturating_sub(most);
                heard.tail.drain(..surplus);
                if read == 0 {
                    heard.is_over = true;
                    return told.1.notify_all();
                }
            }
        };
        std::thread::Builder::new().spawn(hear)?;
        Ok((Attended(heard), writer))
    }

    /// The end of what was printed, once all is read or a moment has passed.
    pub(super) fn tail(&self) -> Vec<u8> {
        const MOMENT: Duration = Duration::from_millis(50);
        let (heard, over) = &*self.0;
        let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = over.wait_timeout_while(heard, MOMENT, |heard| !heard.is_over);
        waited.map_or_else(|poisoned| poisoned.into_inner().0.tail.clone(), |(heard, _)| heard.tail.clone())
    }
}

/// An unnamed file for all that a tool prints: only its own end counts, and whom it leaves behind may hold its output.
#[derive(Debug)]
pub(crate) struct Printed(File);

impl Printed {
    /// An empty one.
    pub(crate) fn new() -> io::Result<Printed> {
        // In memory, so that it can be made whatever folder is full or missing.
        let file = scratch::memory("printed", MemfdFlags::CLOEXEC)?;
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Printed(file))
    }

    /// An end to be written to; all of them go on where the last one stopped.
    pub(crate) fn writer(&self) -> io::Result<OwnedFd> {
        self.0.try_clone().map(OwnedFd::from)
    }

    /// All that was printed so far.
    pub(crate) fn all(&self) -> io::Result<Vec<u8>> {
        let mut all = vec![0; self.0.metadata()?.len() as usize];
        self.0.read_exact_at(&mut all, 0)?;
        Ok(all)
    }
}

/// A pipe whose reader never waits, with the end that is written to.
pub(super) fn pipe() -> io::Result<(PipeReader, io::PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    // Refused where the system allows less; the pipe then holds what it usually does.
    let _ = fcntl_setpipe_size(&reader, PIPE_BYTES);
    Ok((reader, writer))
}

impl Streams {
    /// Connects a process that is about to be started; `kept` goes where its standard error goes. Gives what has to be read while it runs.
    pub(super) fn connect(&self, command: &mut Command, kept: OwnedFd) -> io::Result<Option<Drain>> {
        let input = self.input.as_ref().map(|path| open(path, OpenOptions::new().read(true))).transpose()?;
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        let mut drain = None;
        match &self.output {
            Output::Kept => command.stdout(kept.try_clone()?),
            Output::Drained => {
                let (reader, writer) = pipe()?;
                drain = Some(Drain::new(reader)?);
                command.stdout(writer)
            }
            Output::Null => command.stdout(Stdio::null()),
            Output::File(path) => {
                command.stdout(open(path, OpenOptions::new().write(true).create(true).truncate(true))?)
            }
        };
        command.stderr(kept);
        Ok(drain)
    }
}

/// Opens a file anew, as for each process; the error names it.
fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let is_pipe = path.metadata().is_ok_and(|data| data.file_type().is_fifo() || data.file_type().is_socket());
    if is_pipe {
        let why = format!("`{}` is a pipe, which only one process can use: name a file", path.display());
        return Err(io::Error::other(why));
    }
    options.open(path).map_err(|e| io::Error::new(e.kind(), format!("`{}` cannot be opened: {e}", path.display())))
}

/// Reads what a process prints and throws it away, whole pages at a time and without copying them.
#[derive(Debug)]
pub(super) struct Drain {
    pipe: PipeReader,
    nowhere: File,
    capacity: usize,
    /// When it is looked at next.
    due: Instant,
}

impl Drain {
    fn new(pipe: PipeReader) -> io::Result<Drain> {
        let capacity = fcntl_getpipe_size(&pipe)?;
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        Ok(Drain { pipe, nowhere, capacity, due: Instant::now() })
    }

    /// The pipe to wait for, or the time for which it need not be looked at.
    pub(super) fn awaits(&self, now: Instant) -> Result<&PipeReader, Duration> {
        let rest = self.due.saturating_duration_since(now);
        if rest.is_zero() { Ok(&self.pipe) } else { Err(rest) }
    }

    /// Throws away what is there; says whether more may come.
    pub(super) fn empty(&mut self) -> bool {
        loop {
            match splice(&self.pipe, None, &self.nowhere, None, self.capacity, SpliceFlags::NONBLOCK) {
                Ok(0) => return false,
                // There is likely more already.
                Ok(taken) if taken >= self.capacity / 2 => return true,
                Ok(_) => {
                    self.due = Instant::now() + REST;
                    return true;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
    }
}
