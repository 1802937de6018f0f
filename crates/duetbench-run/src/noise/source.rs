//! A file of counters that is kept open.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Most that is read of a file: `/proc/stat` of a machine with a thousand processors.
const BYTES_MAX: usize = 1 << 18;
/// Bytes that are read at once: most files need no more, so that a second read only finds the end.
const CHUNK_BYTES: usize = 1 << 14;

/// A file of counters, read again from its start each time.
#[derive(Debug)]
pub(super) struct Source {
    file: File,
}

impl Source {
    /// Opens it, if there is one.
    pub(super) fn open(path: &Path) -> Option<Source> {
        File::open(path).ok().map(|file| Source { file })
    }

    /// Its text as it stands; absent if it cannot be read or is no text.
    pub(super) fn read<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        let mut filled = 0;
        while filled < BYTES_MAX {
            buffer.resize(buffer.len().max(filled + CHUNK_BYTES), 0);
            match self.file.read_at(&mut buffer[filled..], filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(_) => return None,
            }
        }
        std::str::from_utf8(&buffer[..filled]).ok()
    }

    /// Its beginning, of one read: for files whose rest is long and expensive to make.
    pub(super) fn read_start<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        buffer.resize(buffer.len().max(CHUNK_BYTES), 0);
        let read = self.file.read_at(&mut buffer[..], 0).ok()?;
        std::str::from_utf8(&buffer[..read]).ok()
    }

    /// The number that the file consists of.
    pub(super) fn number(&self, buffer: &mut Vec<u8>) -> Option<u64> {
        self.read_start(buffer)?.trim().parse().ok()
    }
}
