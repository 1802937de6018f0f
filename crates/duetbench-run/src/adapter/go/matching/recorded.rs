//! Links that our linker has recorded (`hooks/go/linker/record.go`), so that a program can be linked again without the go command,
//! which takes as long as the linker itself.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::tool::Tool;

/// A link that can be made again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    flags: Vec<OsString>,
    /// The archive of the main package.
    main: OsString,
    /// Settings of the go command.
    variables: Vec<(String, OsString)>,
}

impl Recorded {
    /// The link that is recorded in a folder; absent where none is, or where a cache has lost a piece of it.
    pub(super) fn read(folder: &Path) -> Option<Recorded> {
        let list = |name: &str| Some(listed(&fs::read(folder.join(name)).ok()?));
        let mut flags = list("arguments")?;
        let main = flags.pop()?;
        let packages = fs::read_to_string(folder.join("importcfg")).ok()?;
        let archives = packages.lines().filter_map(|line| line.strip_prefix("packagefile ")?.split_once('='));
        let is_there = |archive: &OsStr| Path::new(archive).exists();
        if !is_there(&main) || !archives.map(|(_, archive)| archive).all(|archive| is_there(OsStr::new(archive))) {
            return None;
        }
        let split = |variable: &OsString| {
            let (name, value) = variable.to_str()?.split_once('=')?;
            Some((name.to_owned(), value.into()))
        };
        Some(Recorded { flags, main, variables: list("variables")?.iter().filter_map(split).collect() })
    }

    /// The linker's command line, with other flags besides, separated by spaces.
    pub(super) fn tool(&self, linker: &Path, flags: &str, program: &Path, dir: &Path) -> Tool {
        let more = flags.split(' ').chain(["-o"]).map(OsStr::new).chain([program.as_os_str(), &self.main]);
        let args = self.flags.iter().map(OsString::as_os_str).chain(more);
        let tool = Tool::new(&linker.to_string_lossy(), args, dir).called("linking in another order");
        self.variables.iter().fold(tool, |tool, (name, value)| tool.env(name, value))
    }
}

/// Texts with a zero byte after each.
fn listed(file: &[u8]) -> Vec<OsString> {
    let mut texts: Vec<&[u8]> = file.split(|byte| *byte == 0).collect();
    texts.pop();
    texts.into_iter().map(|text| OsStr::from_bytes(text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_it_was_recorded_and_not_without_one_of_its_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let (main, piece) = (place("0.a"), place("1.a"));
        let packages = format!("# internal\npackagefile fmt={}\nmodinfo \"a=b\"\n", piece.display());
        let written = [
            ("variables", "GOROOT=/go\0GOAMD64=v1\0".to_owned()),
            ("importcfg", packages),
            ("0.a", String::new()),
            ("1.a", String::new()),
            ("arguments", format!("-X=a=b c\0-importcfg\0/k/importcfg\0{}\0", main.display())),
        ];
        for (name, text) in written {
            assert_eq!(Recorded::read(folder.path()), None, "{name} is missing");
            fs::write(place(name), text).unwrap();
        }
        let recorded = Recorded::read(folder.path()).unwrap();
        assert_eq!(recorded.flags, ["-X=a=b c", "-importcfg", "/k/importcfg"]);
        assert_eq!(recorded.main, main);
        let variables = [("GOROOT", "/go"), ("GOAMD64", "v1")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(recorded.variables, variables);
    }
}
