//! Puts files into a repository, without touching what is there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::files::Planned;
use crate::failure::Failure;

/// Outcome of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Became {
    /// It is new.
    Written,
    /// It was there, and is another one now.
    Replaced,
    /// It was there, and lines were added.
    Extended,
    /// It was there, and is as it was.
    Kept,
}

duetbench_core::words!(Became: Written "written", Replaced "replaced", Extended "extended", Kept "kept");

/// Writes a file below `root`; one that is there is replaced only if `force` says so, and a pipeline never.
///
/// # Errors
/// When it cannot be written, or a link leads out of the repository.
pub(super) fn carry_out(file: &Planned, root: &Path, force: bool) -> Result<Became, Failure> {
    let path = root.join(&file.path);
    write(file, &path, root, force).map_err(|e| {
        Failure::usage(format!("cannot write `{}`: {e}", path.display()))
            .hint("`duet init --dry-run` prints the files instead")
    })
}

fn write(file: &Planned, path: &Path, root: &Path, force: bool) -> io::Result<Became> {
    let folder = path.parent().unwrap_or(root);
    stays_inside(folder.ancestors().find(|dir| dir.exists()).unwrap_or(root), root)?;
    fs::create_dir_all(folder)?;
    let is_there = path.symlink_metadata().is_ok();
    if file.adds && is_there {
        // Lines are added to what a link leads to.
        stays_inside(path, root)?;
        return extend(file, path);
    }
    // The pipeline of a project holds more than duet.
    let replaces = is_there && force && file.path != ".gitlab-ci.yml";
    if is_there && !replaces {
        return Ok(Became::Kept);
    }
    if replaces {
        // A link is replaced itself, and not what it leads to.
        fs::remove_file(path)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(file.text.as_bytes())?;
    Ok(if replaces { Became::Replaced } else { Became::Written })
}

/// Refuses a path that leads out of the repository.
fn stays_inside(path: &Path, root: &Path) -> io::Result<()> {
    if path.canonicalize()?.starts_with(root.canonicalize()?) {
        return Ok(());
    }
    Err(io::Error::other("a link leads out of the repository"))
}

/// Adds lines that are missing at the end.
fn extend(file: &Planned, path: &Path) -> io::Result<Became> {
    let old = fs::read_to_string(path)?;
    let missing: String =
        file.text.lines().filter(|line| !old.lines().any(|o| o == *line)).map(|l| format!("{l}\n")).collect();
    if missing.is_empty() {
        return Ok(Became::Kept);
    }
    let separator = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    OpenOptions::new().append(true).open(path)?.write_all(format!("{separator}{missing}").as_bytes())?;
    Ok(Became::Extended)
}
