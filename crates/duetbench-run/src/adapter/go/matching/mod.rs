//! Matched layouts: both halves of a build pair are linked so that every function that both versions have lies at the same
//! address in both, in an order that is drawn anew for every build pair.
//!
//! Go's linker cannot do that, so ours is the user's own with a few additions (`linker`). The first link of a program writes an
//! inventory of what it is made of, from those of both versions duet makes a plan, and further links follow the plan and a
//! seed. Whether the two halves are alike is not believed but checked after every link (`addresses`).

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Toolchain;
use super::overlay::write;
use crate::adapter::{Artifact, hex};
use crate::error::RunError;
use crate::tool::Tool;

mod addresses;
pub(super) mod inventory;
mod linker;
mod plan;
mod recorded;
mod words;

pub(super) use addresses::check_alike;
use inventory::Inventory;
pub(super) use linker::Notes;
use linker::Sources;
use plan::Plan;
use recorded::Recorded;

/// Where a link writes its inventory.
pub(super) const INVENTORY: &str = "DUET_LAYOUT_INVENTORY";
/// The folder in which a link is recorded.
pub(super) const LINK: &str = "DUET_LAYOUT_LINK";
/// The plan that a link follows.
pub(super) const PLAN: &str = "DUET_LAYOUT_PLAN";
/// In place of one: a program that is laid out by what it is made of itself, its data at places that are drawn too.
pub(super) const OWN_PLAN: &str = "own";

const TOOLEXEC: &str = include_str!("toolexec.sh");

/// A linker that lays programs out by a plan, ready to be used.
#[derive(Debug)]
pub(super) struct Linker {
    /// The `-toolexec` flag that puts it in place of the user's linker.
    pub(super) toolexec: String,
    /// The linker itself, where nothing else is to be run around it.
    alone: Option<PathBuf>,
}

impl Linker {
    /// Finds or builds the linker of a toolchain, and fits it in front of the `-toolexec` that the user's flags ask for; fails
    /// with the reason in words. `on_building` hears that it takes a while.
    pub(super) fn ready(
        toolchain: &Toolchain,
        flags: &[String],
        notes: Notes,
        place: &Path,
        on_building: &mut dyn FnMut(),
    ) -> Result<Linker, String> {
        supported(std::env::consts::OS, std::env::consts::ARCH)?;
        let before = users_toolexec(flags, &toolchain.flags)?;
        let sources = Sources::of(toolchain, notes)?;
        fs::create_dir_all(place).map_err(|e| RunError::file("create", place, e).to_string())?;
        let linker = sources.kept().map_or_else(
            || {
                on_building();
                sources.build(toolchain, place).map_err(|e| format!("duet's linker cannot be built: {e}"))
            },
            Ok,
        )?;
        let script = place.join("toolexec.sh");
        write_script(&script).map_err(|e| RunError::file("write", &script, e).to_string())?;
        let own = [script.to_string_lossy().into(), linker.to_string_lossy().into(), before.len().to_string()];
        let words: Vec<String> = own.into_iter().chain(before.iter().cloned()).collect();
        let toolexec = words::join(&words).ok_or("`-toolexec` cannot be quoted for the go command")?;
        Ok(Linker { toolexec: format!("-toolexec={toolexec}"), alone: before.is_empty().then_some(linker) })
    }

    /// Links a program again as its first link was recorded, with these flags besides; absent where it was not.
    pub(super) fn again(&self, artifact: &Artifact, flags: &str, program: &Path) -> Option<Tool> {
        let recorded = Recorded::read(&link_of(&artifact.program))?;
        Some(recorded.tool(self.alone.as_ref()?, flags, program, &artifact.dir))
    }
}

/// Fails where no program was ever laid out by a plan.
fn supported(os: &str, arch: &str) -> Result<(), String> {
    let known = os == "linux" && matches!(arch, "x86_64" | "aarch64");
    known.then_some(()).ok_or_else(|| format!("it was not tried on {os}/{arch}"))
}

/// The words of the `-toolexec` that would be in force without us: of the flags for this build, and else of `GOFLAGS`.
fn users_toolexec(flags: &[String], goflags: &str) -> Result<Vec<String>, String> {
    let last = in_force("toolexec", flags, goflags)?;
    last.map_or(Ok(Vec::new()), |text| words::split(&text).ok_or_else(|| not_understood("toolexec")))
}

/// The value of a flag that is in force without us: of the flags for a build, and else of `GOFLAGS`.
pub(super) fn in_force(name: &str, flags: &[String], goflags: &str) -> Result<Option<String>, String> {
    let value = |flag: &String| {
        let flag = flag.strip_prefix("--").or_else(|| flag.strip_prefix('-'))?;
        flag.strip_prefix(name)?.strip_prefix('=').map(str::to_owned)
    };
    let inherited = words::split(goflags).ok_or_else(|| not_understood(name))?;
    Ok(flags.iter().rev().find_map(value).or_else(|| inherited.iter().rev().find_map(value)))
}

fn not_understood(name: &str) -> String {
    format!("the user's `-{name}` cannot be understood")
}

fn write_script(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, TOOLEXEC)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Where the inventory of a program lies.
pub(super) fn inventory_of(program: &Path) -> PathBuf {
    program.with_extension("inventory")
}

/// Where the link of a program is recorded.
pub(super) fn link_of(program: &Path) -> PathBuf {
    program.with_extension("link")
}

/// Notes in place of an inventory why there is none.
pub(super) fn refuse(inventory: &Path, reason: &str) -> Result<(), RunError> {
    let refused = Inventory { refusal: reason.to_owned(), ..Inventory::default() };
    write(inventory, refused.bytes())
}

/// Makes a plan of what both versions of a package are made of, below `place`; fails with the reason in words.
pub(super) fn plan(sides: [&Artifact; 2], place: &Path) -> Result<PathBuf, String> {
    let read = |artifact: &Artifact| {
        let missing = |_| "the linker left no inventory".to_owned();
        let file = fs::read(inventory_of(&artifact.program)).map_err(missing)?;
        let inventory = Inventory::parse(&file).ok_or("the linker's inventory cannot be read")?;
        if inventory.refusal.is_empty() { Ok(inventory) } else { Err(inventory.refusal) }
    };
    let [a, b] = [read(sides[0])?, read(sides[1])?];
    let file = Plan::of([&a, &b]).bytes();
    let path = place.join(format!("{}.plan", &hex(&Sha256::digest(&file))[..16]));
    write(&path, file).map_err(|e| e.to_string())?;
    Ok(path)
}

/// Checks that an inventory which can be read is written as the same one, and that a plan can be made for it.
#[cfg(any(fuzzing, debug_assertions))]
pub(super) fn fuzz(file: &[u8]) {
    if let Some(inventory) = inventory::Inventory::parse(file) {
        assert_eq!(inventory::Inventory::parse(&inventory.bytes()).as_ref(), Some(&inventory));
        drop(plan::Plan::of([&inventory, &inventory]).bytes());
    }
}

/// Checks that words of a text, once joined, split into the same words again.
#[cfg(any(fuzzing, debug_assertions))]
pub(super) fn fuzz_words(text: &str) {
    if let Some(words) = words::split(text)
        && let Some(joined) = words::join(&words)
    {
        assert_eq!(words::split(&joined), Some(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_toolexec_is_the_one_that_would_be_in_force() {
        let of = |flags: &[&str], goflags| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            users_toolexec(&flags, goflags)
        };
        assert_eq!(of(&["-race"], "-mod=mod"), Ok(vec![]));
        assert_eq!(of(&["-toolexec=garble -x"], "-toolexec=other"), Ok(vec!["garble".into(), "-x".into()]));
        assert_eq!(of(&[], "-v '--toolexec=my tool'"), Ok(vec!["my".into(), "tool".into()]));
        assert!(of(&["-toolexec='x"], "").unwrap_err().contains("-toolexec"));
    }

    #[test]
    fn other_machines_are_named() {
        assert_eq!(supported("linux", "aarch64"), Ok(()));
        assert_eq!(supported("linux", "riscv64"), Err("it was not tried on linux/riscv64".into()));
    }
}
