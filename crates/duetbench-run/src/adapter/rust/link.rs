//! Programs linked again from what the linker's wrapper has kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::cargo::Cargo;
use super::matching;
use crate::adapter::{Layout, Relink, Urgency};
use crate::error::RunError;
use crate::tool::Tool;

/// Where the wrapper keeps things.
pub(super) const VARIABLE: &str = "DUET_LINKS";
/// Sections that are put in another order: functions, and data that nothing places.
const SHUFFLED: [&str; 4] = [".text*", ".rodata*", ".data*", ".bss*"];

/// Code begins at the same place of a page in every program, and symbols that are not there are no cause for words.
const MATCHED: [&str; 2] = ["-Wl,-z,separate-code", "-Wl,--no-warn-symbol-ordering"];

/// The recorded link of a program.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    /// The folder with its pieces.
    dir: PathBuf,
    arguments: Vec<String>,
}

impl Recorded {
    /// That of a program, kept below `links`; fails with the reason in words.
    pub(super) fn of(program: &Path, links: &Path) -> Result<Recorded, String> {
        let dir = links.join(program.file_name().unwrap_or_default());
        let text = fs::read_to_string(dir.join("arguments")).map_err(|_| "its linker's arguments are not known")?;
        let arguments: Vec<String> = text.lines().map(str::to_owned).collect();
        match arguments.iter().find(|argument| argument.starts_with('@')) {
            Some(_) => Err("its linker's arguments were too long to be kept".to_owned()),
            None => Ok(Recorded { dir, arguments }),
        }
    }

    /// The command that links it with its functions in another order.
    pub(super) fn tool(&self, cargo: &Cargo, wanted: &Relink<'_>) -> Result<Tool, RunError> {
        let mut arguments = self.arguments.clone();
        // Rust brings LLD along, and calls it by itself from 1.90 on. Linkers that users choose come with their own flag.
        if !arguments.iter().any(|argument| argument.contains("-fuse-ld=")) {
            if !bundled(cargo).is_dir() {
                return Err(RunError::toolchain(
                    "this Rust brings no LLD along (with one installed, `RUSTFLAGS=-Clink-arg=-fuse-ld=lld` names it)",
                ));
            }
            arguments.extend(["-fuse-ld=lld".to_owned(), format!("-B{}", bundled(cargo).display())]);
        }
        match wanted.layout {
            Layout::Random(seed) => {
                // 0 would be another seed at each link.
                let seed = seed.max(1);
                arguments.extend(SHUFFLED.map(|sections| format!("-Wl,--shuffle-sections={sections}={seed}")));
            }
            Layout::Planned { seed, plan } => {
                let text = fs::read(plan).map_err(|e| RunError::file("read", plan, e))?;
                let order = self.dir.join(format!("order-{seed}"));
                fs::write(&order, matching::order(&text, seed)).map_err(|e| RunError::file("write", &order, e))?;
                let gap = self.dir.join(format!("gap-{seed}.s"));
                fs::write(&gap, matching::gap(seed)).map_err(|e| RunError::file("write", &gap, e))?;
                arguments.push(gap.to_string_lossy().into_owned());
                arguments.push(format!("-Wl,--symbol-ordering-file={}", order.display()));
                arguments.push(format!("-Wl,--undefined={}", matching::GAP));
                arguments.extend(MATCHED.map(String::from));
            }
        }
        arguments.extend(["-o".to_owned(), wanted.program.to_string_lossy().into_owned()]);
        let linker = fs::read_to_string(self.dir.join("linker")).unwrap_or_else(|_| "cc".to_owned());
        let tool = Tool::new(&linker, &arguments, &self.dir).called("linking in another order");
        Ok(if wanted.urgency == Urgency::Later { tool.giving_way() } else { tool })
    }
}

/// The folder of the LLD that Rust brings along, as a C compiler looks for it.
fn bundled(cargo: &Cargo) -> PathBuf {
    cargo.sysroot.join("lib/rustlib").join(&cargo.host).join("bin/gcc-ld")
}
