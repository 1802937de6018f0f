//! Command lines: words without a shell, parameters in their places, programs where the system finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use duetbench_core::spec::{CommandSpec, StandardOutput};
use rustix::time::ClockId;
use sha2::{Digest, Sha256};

use crate::adapter::hex;
use crate::error::RunError;
use crate::process::{Launch, Output, Streams};

/// Largest file whose content is digested, bytes. Larger ones are told apart by size and time of change: reading them would take
/// longer than measuring.
const READ_MAX: u64 = 64 << 20;

/// The words of a command line: those that start the shell it is for, or as a POSIX shell splits it, with nothing in them expanded.
///
/// # Errors
/// When a quote does not end, or there is no word.
pub(super) fn words(line: &str, shell: Option<&str>) -> Result<Vec<String>, RunError> {
    match shell {
        Some(shell) => Ok([split(shell)?, vec!["-c".to_owned(), line.to_owned()]].concat()),
        None => split(line),
    }
}

fn split(line: &str) -> Result<Vec<String>, RunError> {
    let wrong = |why: &str| RunError::argument(line, why);
    let words = shell_words::split(line).map_err(|_| wrong("a quote in it does not end"))?;
    if words.first().is_none_or(String::is_empty) { Err(wrong("it names no program")) } else { Ok(words) }
}

/// Words that only a shell understands.
const SHELL_WORDS: [&str; 11] = ["|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1", "&>"];

/// A word that stands by itself in a command line, without quotes, and that only a shell understands.
pub(super) fn shell_word(line: &str) -> Option<&'static str> {
    let words = split(line).ok()?;
    let bare = |word: &&str| line.split_whitespace().any(|one| one == *word);
    SHELL_WORDS.into_iter().find(|word| words.iter().any(|one| one == word) && bare(word))
}

/// A word with every `{name}` that is a parameter replaced by its value; other braces stay.
pub(super) fn filled(word: &str, values: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out += &rest[..at];
        rest = &rest[at..];
        let named =
            values.iter().find(|(name, _)| rest[1..].strip_prefix(name.as_str()).is_some_and(|r| r.starts_with('}')));
        let (text, length) = named.map_or(("{", 1), |(name, value)| (value, name.len() + 2));
        out += text;
        rest = &rest[length..];
    }
    out + rest
}

/// Whether a command line has a place for a parameter.
pub(super) fn mentions(line: &str, parameter: &str) -> bool {
    line.contains(&format!("{{{parameter}}}"))
}

/// The launch of a command line, given as its words, in a directory, with these variables on top of the allow-list.
pub(super) fn launch(
    words: &[String],
    values: &BTreeMap<String, String>,
    dir: &Path,
    env: &[(OsString, OsString)],
) -> Launch {
    let mut words = words.iter().map(|word| filled(word, values));
    let program = words.next().unwrap_or_default();
    // Not placed: a program may look for what belongs to it beside itself, where its copy would have nothing.
    Launch { args: words.map(OsString::from).collect(), env: env.to_vec(), ..Launch::of(program, dir) }
}

/// Standard input and output of a program with these parameters, relative to its directory.
pub(super) fn streams(spec: &CommandSpec, values: &BTreeMap<String, String>, dir: &Path) -> Streams {
    let file = |name: &String| dir.join(filled(name, values));
    let output = match &spec.stdout {
        StandardOutput::Pipe => Output::Drained,
        StandardOutput::Null => Output::Null,
        StandardOutput::File(name) => Output::File(file(name)),
    };
    Streams { input: spec.stdin.as_ref().map(file), output }
}

/// Where the system finds a program: as a path from the directory, or on the search path.
pub(super) fn locate(program: &str, dir: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(dir.join(program)).filter(|path| path.is_file());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|place| dir.join(place).join(program)).find(|path| path.is_file())
}

/// A time that the system gives to files that are written from now on, and to none that was written before: waits for the clock of file
/// systems to go on, which takes some milliseconds.
pub(super) fn next_file_time() -> SystemTime {
    let file_time = || {
        let now = rustix::time::clock_gettime(ClockId::RealtimeCoarse);
        let since = Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0));
        SystemTime::UNIX_EPOCH + since
    };
    let before = file_time();
    while file_time() == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    file_time()
}

/// Files that command lines are told apart by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digested<'a> {
    /// The directory from which they are named.
    pub(super) dir: &'a Path,
    /// A tree that was made for the version, with the version's name, which stands for all in it: programs may hold where they were built.
    pub(super) ours: Option<(&'a Path, &'a str)>,
    /// Files that are as young as this, or younger, were written by the programs.
    pub(super) before: SystemTime,
}

impl Digested<'_> {
    /// A digest of command lines and of every file that they name, read once: of the program, of a script, of a jar.
    pub(super) fn of(self, lines: &[Vec<String>]) -> String {
        let mut hash = Sha256::new();
        hash.update(self.ours.map_or("", |(_, version)| version).as_bytes());
        let mut read = BTreeSet::new();
        for words in lines {
            for (number, word) in words.iter().enumerate() {
                hash.update(word.as_bytes());
                hash.update([0]);
                let file = if number == 0 { locate(word, self.dir) } else { Some(self.dir.join(word)) };
                // A file that cannot be read now cannot be told apart later either.
                let _ = file
                    .filter(|path| self.tells(path) && read.insert(path.clone()))
                    .map(|path| add_file(&mut hash, &path));
            }
            hash.update([1]);
        }
        hex(&hash.finalize())
    }

    /// Whether a file tells versions apart.
    fn tells(self, path: &Path) -> bool {
        let is_older = || path.metadata().and_then(|data| data.modified()).is_ok_and(|written| written < self.before);
        let is_ours =
            || self.ours.is_some_and(|(tree, _)| path.canonicalize().is_ok_and(|path| path.starts_with(tree)));
        path.is_file() && is_older() && !is_ours()
    }
}

fn add_file(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.len() > READ_MAX {
        hash.update(metadata.len().to_le_bytes());
        let age = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        hash.update(age.as_nanos().to_le_bytes());
        return Ok(());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(READ_MAX).read_to_end(&mut bytes)?;
    hash.update(&bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell_are_seen_where_no_quotes_hide_them() {
        let check = |line: &str, want: Option<&str>| assert_eq!(shell_word(line), want, "{line}");
        check("ls | wc", Some("|"));
        check("make && ./program", Some("&&"));
        check("./program > /dev/null", Some(">"));
        check("grep '|' text", None);
        check("sh -c 'ls | wc'", None);
        check("./program --output=a>b", None);
    }

    #[test]
    fn words_are_those_of_a_shell_and_nothing_is_expanded() {
        let check = |line: &str, want: &[&str]| assert_eq!(words(line, None).unwrap(), want, "{line}");
        check("sleep 0.1", &["sleep", "0.1"]);
        check("sh -c 'echo \"a  b\" | wc'", &["sh", "-c", "echo \"a  b\" | wc"]);
        check(r"a\ b $HOME *", &["a b", "$HOME", "*"]);
        for wrong in ["", "  ", "'open", "\"\" x"] {
            assert!(words(wrong, None).is_err(), "{wrong}");
        }
        assert_eq!(words("a | b '", Some("bash -e")).unwrap(), ["bash", "-e", "-c", "a | b '"]);
    }

    #[test]
    fn only_parameters_are_replaced() {
        let values = BTreeMap::from([("n".to_owned(), "1 2".to_owned()), ("mode".to_owned(), "{n}".to_owned())]);
        let check = |word: &str, want: &str| assert_eq!(filled(word, &values), want, "{word}");
        check("{n}", "1 2");
        check("--x={n},{mode}", "--x=1 2,{n}");
        check("{} {other} {", "{} {other} {");
        check("{{n}}", "{1 2}");
        check("ä{n}ä", "ä1 2ä");
    }

    #[test]
    fn a_digest_sees_the_files_that_a_line_names() {
        let dir = tempfile::tempdir().unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        let digested = Digested { dir: dir.path(), ours: None, before: later };
        let of_files = |files: Digested<'_>, line: &str| files.of(&[words(line, None).unwrap()]);
        let of = |line: &str| of_files(digested, line);
        let line = "sh script.sh 1";
        let without = of(line);
        fs::write(dir.path().join("script.sh"), "echo a").unwrap();
        let with = of(line);
        fs::write(dir.path().join("script.sh"), "echo b").unwrap();
        assert_ne!(without, with);
        assert_ne!(with, of(line));
        assert_ne!(of("sh script.sh 1"), of("sh script.sh 2"));
        let written = |text: &str| {
            fs::write(dir.path().join("script.sh"), text).unwrap();
            let tree = dir.path().canonicalize().unwrap();
            let of = |files: Digested<'_>| of_files(files, line);
            [
                of(Digested { before: SystemTime::UNIX_EPOCH, ..digested }),
                of(Digested { ours: Some((&tree, "v1")), ..digested }),
            ]
        };
        assert_eq!(
            written("echo a"),
            written("echo b"),
            "what programs write, and where a version was built, tell nothing"
        );
        let other = Digested { ours: Some((dir.path(), "v2")), ..digested };
        assert_ne!(of_files(other, line), written("echo a")[1]);
    }
}
