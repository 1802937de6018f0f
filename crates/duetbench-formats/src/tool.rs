//! A tool, by what can be done with its files.

use std::fmt;
use std::path::Path;

use duetbench_core::{Recording, Report};

use crate::error::{FormatError, Wrong};
use crate::reading::Contents;
use crate::reading::keys::Known;
use crate::writing::{About, StoredSample, Written};

/// A tool with its form of files. All are in [`TOOLS`](crate::TOOLS); each is a file in `tools/`.
pub struct Tool {
    /// Name of the form as it is typed: `google-benchmark`.
    pub name: &'static str,
    /// The form in a line, for help.
    pub about: &'static str,
    /// Reading; absent of forms that are written alone.
    pub(crate) reader: Option<Reader>,
    /// Writing; absent of forms that are read alone.
    pub writer: Option<Writer>,
}

/// The way in which files of a tool are told and read.
pub(crate) struct Reader {
    /// Its files in a few words, for those who gave another.
    pub(crate) form: &'static str,
    /// Content that no other tool's files have.
    pub(crate) sign: Sign,
    /// Reads a file.
    pub(crate) parse: fn(&[u8]) -> Result<Contents, Wrong>,
    /// Reading from places in the file system that say more than a file does.
    pub(crate) folder: Option<Folder>,
    /// Values with their units in the output of a process that measured one benchmark, of tools that print them.
    pub(crate) figures: Option<Figures>,
    /// The way to more processes; absent where nobody but the user knows it.
    pub(crate) more: Option<More>,
}

impl Reader {
    /// A tool whose files are read one by one.
    pub(crate) const fn of(form: &'static str, sign: Sign, parse: fn(&[u8]) -> Result<Contents, Wrong>) -> Reader {
        Reader { form, sign, parse, folder: None, figures: None, more: None }
    }
}

/// Content by which a file is told.
pub(crate) enum Sign {
    /// A JSON array that is empty or whose first object has one of these keys.
    Array(&'static [&'static str]),
    /// Keys of a JSON object.
    Keys(Known),
    /// Text for which this holds.
    Text(fn(&[u8]) -> bool),
}

impl Sign {
    /// Keys of a JSON object, where they are the sign.
    pub(crate) fn keys(&self) -> Option<Known> {
        if let Sign::Keys(known) = self { Some(*known) } else { None }
    }
}

/// A tool whose results are a folder.
pub(crate) struct Folder {
    /// Whether a path is one.
    pub(crate) is: fn(&Path) -> bool,
    /// Reads it.
    pub(crate) read: fn(&Path) -> Result<Contents, FormatError>,
}

/// Finds values with their units in what a process printed.
type Figures = fn(&[u8]) -> Vec<(String, f64)>;
/// Writes two recordings beside each other, baseline first.
type WriteBoth = fn([&Recording; 2], &About) -> Result<Written, FormatError>;
/// Writes findings.
type WriteReport = fn(&Report) -> Result<Written, FormatError>;
/// Writes a recording.
type WriteRecording = fn(&Recording, &About) -> Result<Written, FormatError>;
/// Writes every sample of a stored run.
pub type WriteSamples = fn(&mut dyn Iterator<Item = StoredSample<'_>>) -> Result<Written, FormatError>;

/// The way in which a form is written: pure functions to bytes.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Writes a recording, or fails when the form can hold nothing of it.
    pub recording: WriteRecording,
    /// Writes two versions beside each other, where the form has room for both; fails when they have no benchmark in common.
    pub both: Option<WriteBoth>,
    /// Whether a comparison is written so where no side is chosen.
    pub pairs: bool,
    /// Writes the findings of a report about the candidate, where the form has room for them; fails when nothing was compared.
    pub report: Option<WriteReport>,
    /// Writes every sample of a stored run, where the form has room for them; fails when there is none.
    pub samples: Option<WriteSamples>,
}

impl Writer {
    /// A form that has room for a recording and no more.
    pub(crate) const fn of(recording: WriteRecording) -> Writer {
        Writer { recording, both: None, pairs: false, report: None, samples: None }
    }
}

/// A command line that leads to more processes of the base, and the ending of the files that it writes.
pub(crate) enum More {
    /// Each run gives one process and one file, with the number `$i`.
    Runs { command: &'static str, ending: &'static str },
    /// One file has all processes.
    Once { command: &'static str, ending: &'static str },
    /// Another file has all processes: its summary, of which nothing is told by several either, was given.
    Behind { command: &'static str, ending: &'static str },
}

impl Tool {
    /// Whether its files hold summaries, of which several are no processes.
    pub fn is_summary(&self) -> bool {
        matches!(self.reader, Some(Reader { more: Some(More::Behind { .. }), .. }))
    }

    /// Command lines that lead to enough processes for a verdict, of the base; those of the head are the same with another name.
    pub fn more_processes(&self) -> Vec<String> {
        let thrice = |ending: &str| {
            let of = |side: &str| [1, 2, 3].map(|i| format!("{side}{i}{ending}")).join(",");
            format!("duet analyze {} {}", of("base"), of("head"))
        };
        match self.reader.as_ref().and_then(|reader| reader.more.as_ref()) {
            Some(More::Runs { command, ending }) => {
                vec![format!("for i in 1 2 3; do {command}; done"), thrice(ending)]
            }
            Some(More::Once { command, ending } | More::Behind { command, ending }) => {
                vec![(*command).to_owned(), format!("duet analyze base{ending} head{ending}")]
            }
            // Those that only the user knows how to make are tables.
            None => vec![thrice(".csv")],
        }
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Tool) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
