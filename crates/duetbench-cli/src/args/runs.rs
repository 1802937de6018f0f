//! `duet runs`, `duet rm`, `duet completions`, `duet man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

pub(super) const REMOVE_EXAMPLES: &str = "\
Samples, profiles and the calibration of a run go with it; its name is not given again.
Examples:
  duet rm r3 r4
  duet rm latest";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  duet completions bash > ~/.local/share/bash-completion/completions/duet
  duet completions zsh > ~/.zfunc/_duet
  duet completions fish > ~/.config/fish/completions/duet.fish";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  duet man ~/.local/share/man/man1
                                     `man duet` and `man duet-compare` then find them";

/// `duet rm`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// The runs, as `r12` or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
}

/// `duet completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `duet man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for a page for each command; it is made where it is missing
    pub folder: PathBuf,
}
