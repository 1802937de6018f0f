//! Who holds the lock. The file says it, and every user of the machine may write there: what it says is believed of a process that the kernel
//! knows as the holder, or that at least was there when it was written.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use duetbench_core::foreign::one_line;

/// More than any path that is shown.
const BYTES_MAX: u64 = 400;

/// The entry that a holder writes about itself.
pub(super) fn words(number: u32, directory: &Path) -> String {
    format!("process {number} in `{}`", directory.display())
}

/// The present holder in words; nothing where it is not known who that is.
pub(super) fn present(file: &mut File) -> Option<String> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.take(BYTES_MAX).read_to_end(&mut bytes)).ok()?;
    let (number, text) = understood(&String::from_utf8_lossy(&bytes))?;
    let about = file.metadata().ok()?;
    let holders = fs::read_to_string("/proc/locks").map(|table| holders(&table, about.ino())).unwrap_or_default();
    let holds = match holders[..] {
        // The table shows those alone whose numbers mean something here.
        [] => began_before(number, about.mtime()),
        _ => holders.contains(&number),
    };
    holds.then_some(text)
}

/// The process and its words, if they are made as [`words`] makes them.
fn understood(text: &str) -> Option<(u32, String)> {
    let (number, directory) = text.strip_prefix("process ")?.split_once(" in `")?;
    let directory = one_line(directory.split('`').next()?);
    let number = number.parse().ok()?;
    Some((number, format!("process {number} in `{directory}`")))
}

/// The processes that hold a lock on a file with this number, by the kernel's table: `1: FLOCK  ADVISORY  WRITE 712 fe:00:4711 0 EOF`. Who only
/// waits has an arrow.
fn holders(table: &str, inode: u64) -> Vec<u32> {
    let holder = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, number) = (words.next()?, words.nth(2)?);
        let file = words.next()?.rsplit(':').next()?;
        (kind == "FLOCK" && file.parse() == Ok(inode)).then(|| number.parse().ok())?
    };
    table.lines().filter_map(holder).filter(|number| *number > 0).collect()
}

/// Whether the process is there, and was when something was written, seconds since 1970.
fn began_before(number: u32, written_s: i64) -> bool {
    began_s(number).is_some_and(|began| began <= written_s)
}

fn began_s(number: u32) -> Option<i64> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name before it may hold spaces.
    let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let boot = fs::read_to_string("/proc/stat").ok()?;
    let boot: i64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + (ticks / rustix::param::clock_ticks_per_second()).cast_signed())
}

/// An entry that is understood is one line, and is understood again.
#[cfg(any(fuzzing, debug_assertions))]
pub(super) fn fuzz(text: &str) {
    if let Some((number, words)) = understood(text) {
        assert_eq!((one_line(&words), understood(&words)), (words.clone(), Some((number, words))));
    }
    drop(holders(text, 4711));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_only_as_they_are_written() {
        let check =
            |text: &str, want: Option<&str>| assert_eq!(understood(text).map(|(_, words)| words).as_deref(), want);
        check(&words(12, Path::new("/a b")), Some("process 12 in `/a b`"));
        check("process 12 in `/a\u{1b}[31m\n::error::x` and run this", Some("process 12 in `/a [31m ::error::x`"));
        check("process x in `/a`", None);
        check("somebody", None);
        check("", None);
    }

    #[test]
    fn the_kernel_s_table_names_holders_and_not_who_waits() {
        let table = "1: FLOCK  ADVISORY  WRITE 712 fe:00:4711 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 713 fe:00:4711 0 EOF\n\
             2: POSIX  ADVISORY  WRITE 714 fe:00:4711 0 EOF\n3: FLOCK  ADVISORY  WRITE 715 fe:00:4712 0 EOF\n\
             4: FLOCK  ADVISORY  WRITE 0 fe:00:4711 0 EOF\nnonsense\n";
        assert_eq!(holders(table, 4711), [712]);
    }

    #[test]
    fn a_number_that_somebody_else_has_by_now_is_none() {
        let began = began_s(std::process::id()).unwrap();
        assert!(began_before(std::process::id(), began));
        assert!(!began_before(std::process::id(), began - 1));
        assert!(!began_before(u32::MAX, i64::MAX));
    }
}
