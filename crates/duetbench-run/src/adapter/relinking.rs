//! Linking that goes on while something else is done.

use std::path::{Path, PathBuf};

use super::pair_layouts::Layout;
use crate::error::RunError;
use crate::tool::Started;

/// When a program is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// At once.
    Now,
    /// Later: linking it takes no processor from what is measured meanwhile.
    Later,
}

/// The terms on which an artifact is linked again.
#[derive(Debug, Clone, Copy)]
pub struct Relink<'a> {
    /// Where its functions go.
    pub layout: Layout<'a>,
    /// The file to be made.
    pub program: &'a Path,
    /// When it is needed.
    pub urgency: Urgency,
}

/// A program that is being linked. Dropped before its end, it is given up.
#[derive(Debug)]
pub struct Relinking {
    /// The linker.
    pub(crate) linker: Started,
    /// The file that is being made.
    pub(crate) program: PathBuf,
    /// The directory in which it will run.
    pub(crate) dir: PathBuf,
    /// Whether the program is what was wanted.
    pub(crate) check: fn(&Path, &Path) -> Result<(), RunError>,
}

impl Relinking {
    /// Whether the linker has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.linker.has_ended()
    }

    /// The process that links.
    pub(crate) fn process(&self) -> Option<u32> {
        self.linker.process()
    }

    /// Waits for the program.
    ///
    /// # Errors
    /// When it could not be linked, or is not what was wanted.
    pub fn finish(self) -> Result<PathBuf, RunError> {
        self.linker.finish()?;
        (self.check)(&self.program, &self.dir)?;
        Ok(self.program)
    }

    /// Ends the linker and removes what there is of the program.
    pub(crate) fn give_up(self) {
        drop(self.linker);
        let _ = std::fs::remove_file(self.program);
    }
}
