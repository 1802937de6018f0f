//! Files of others, read whole as far as that is sensible: none fills the memory, and none goes on for ever.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Largest result file of another tool, packed or not: 1 GiB.
pub const RESULTS_MAX: u64 = 1 << 30;
/// Largest file of settings, waivers or sources: 8 MiB.
pub const TEXT_MAX: u64 = 8 << 20;

/// The bytes of a file or of a pipe, as `<(…)` is one.
///
/// # Errors
/// When it cannot be read, is a device, or is larger than that many bytes.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    if about.file_type().is_char_device() || about.file_type().is_block_device() {
        return Err(io::Error::other("it is a device, and neither a file nor a pipe"));
    }
    // The length of a file with holes costs nothing to check; the length of a pipe nobody knows.
    if about.len() > bytes_max {
        return Err(too_large(bytes_max));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

/// The same as text.
///
/// # Errors
/// As [`read`], and where it is no UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

fn too_large(bytes_max: u64) -> io::Error {
    let limit =
        if bytes_max >= 1 << 30 { format!("{} GiB", bytes_max >> 30) } else { format!("{} MiB", bytes_max >> 20) };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_up_to_the_limit_are_read_and_none_beyond_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, [7; 16]).unwrap();
        assert_eq!(read(&path, 16).unwrap(), [7; 16]);
        assert_eq!(read(&path, 15).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        File::create(&path).unwrap().set_len(5 << 30).unwrap();
        assert_eq!(read(&path, RESULTS_MAX).unwrap_err().to_string(), "it is larger than 1 GiB");
        assert_eq!(read_text(&path, TEXT_MAX).unwrap_err().to_string(), "it is larger than 8 MiB");
    }

    #[test]
    fn devices_are_refused_also_behind_a_link() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(read(&path, RESULTS_MAX).unwrap_err().to_string().contains("it is a device"));
    }

    #[test]
    fn pipes_are_read_up_to_the_limit() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for (length, taken) in [(16, true), (1 << 20, false)] {
            let writer = {
                let path = path.clone();
                // Nobody reads the end of one that is too long.
                std::thread::spawn(move || {
                    drop(File::options().write(true).open(path).unwrap().write_all(&vec![7; length]))
                })
            };
            assert_eq!(read(&path, 4096).is_ok(), taken);
            writer.join().unwrap();
        }
    }
}
