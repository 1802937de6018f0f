//! Programs linked again from what the linker's wrapper has kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::cargo::Cargo;
use crate::adapter::{Layout, Relink, Urgency};
use crate::tool::Tool;

/// Where the wrapper keeps things.
pub(super) const VARIABLE: &str = "DUET_LINKS";
/// Sections that are put in another order: functions, and data that nothing places.
const SHUFFLED: [&str; 4] = [".text*", ".rodata*", ".data*", ".bss*"];

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
    pub(super) fn tool(&self, cargo: &Cargo, wanted: &Relink<'_>) -> Tool {
        let (Layout::Random(seed) | Layout::Matched { seed, .. }) = wanted.layout;
        let mut arguments = self.arguments.clone();
        // Rust brings LLD along, and calls it by itself from 1.90 on. Linkers that users choose come with their own flag.
        if !arguments.iter().any(|argument| argument.contains("-fuse-ld=")) {
            arguments.extend(["-fuse-ld=lld".to_owned(), format!("-B{}", bundled(cargo).display())]);
        }
        // 0 would be another seed at each link.
        let seed = seed.max(1);
        arguments.extend(SHUFFLED.map(|sections| format!("-Wl,--shuffle-sections={sections}={seed}")));
        arguments.extend(["-o".to_owned(), wanted.program.to_string_lossy().into_owned()]);
        let variable = format!("CARGO_TARGET_{}_LINKER", cargo.host.to_uppercase().replace('-', "_"));
        let linker = std::env::var(variable).unwrap_or_else(|_| "cc".to_owned());
        let tool = Tool::new(&linker, &arguments, &self.dir).called("linking in another order");
        if wanted.urgency == Urgency::Later { tool.giving_way() } else { tool }
    }
}

/// The folder of the LLD that Rust brings along, as a C compiler looks for it.
fn bundled(cargo: &Cargo) -> PathBuf {
    cargo.sysroot.join("lib/rustlib").join(&cargo.host).join("bin/gcc-ld")
}
