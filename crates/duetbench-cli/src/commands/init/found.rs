//! The harness of a repository, by the files that lie in it.

use std::path::Path;

use duetbench_core::spec::HarnessSpec;
use duetbench_run::adapter::{KINDS, Kind};
use duetbench_run::source::is_kept;

use crate::failure::Failure;

/// A suite in a repository that can be measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The harness that runs its benchmarks.
    pub(super) harness: &'static str,
    /// Its directory below the repository's root; empty: the root itself.
    pub(super) directory: String,
    /// The same for people, with the file that gave it away.
    pub(super) words: String,
    /// Whether it is a Cargo package whose lock file the repository leaves out, so that a checkout has none.
    pub(super) lacks_lock: bool,
}

impl Found {
    /// Looks in the current directory and then at the root; before that come what the settings say, and a command line that was typed.
    ///
    /// # Errors
    /// When there is nothing to measure.
    pub(super) fn look(
        root: &Path,
        cwd: &Path,
        settings: &HarnessSpec,
        command: Option<&str>,
    ) -> Result<Found, Failure> {
        let below = cwd.strip_prefix(root).unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let in_folder = |harness: &'static str, directory: String, words| {
            let lacks_lock = harness == "rust" && lacks_lock(root, &root.join(&directory));
            Found { harness, directory, words, lacks_lock }
        };
        let of = |harness, words| in_folder(harness, below.clone(), words);
        if command.is_some() {
            return Ok(of("command", "a command (`--command`)".to_owned()));
        }
        let asked = |kind: &dyn Kind| match settings.name.as_deref() {
            Some(name) => (name == kind.name()).then(|| kind.asked_by(settings).unwrap_or(kind.name())),
            None => kind.asked_by(settings),
        };
        if let Some((kind, words)) = KINDS.into_iter().find_map(|kind| Some((kind, asked(kind)?))) {
            return Ok(of(kind.name(), format!("{words} (`duet.toml`)")));
        }
        let manifests =
            || KINDS.into_iter().flat_map(|kind| kind.manifests().iter().map(move |manifest| (kind.name(), manifest)));
        let sign = |dir: &Path| manifests().find(|(_, manifest)| dir.join(manifest.file).is_file());
        let (sign, directory) = match (sign(cwd), sign(root)) {
            (Some(here), _) => (here, below.clone()),
            (None, Some(there)) => (there, String::new()),
            (None, None) => return Err(nothing(cwd)),
        };
        let (harness, manifest) = sign;
        Ok(in_folder(harness, directory, format!("{} (`{}`)", manifest.project, manifest.file)))
    }
}

/// Whether no lock file is kept of a package in this folder: it lies there, or at the root of the workspace around it.
fn lacks_lock(root: &Path, dir: &Path) -> bool {
    dir.ancestors().take_while(|dir| dir.starts_with(root)).all(|dir| !is_kept(&dir.join("Cargo.lock")))
}

fn nothing(cwd: &Path) -> Failure {
    Failure::usage(format!(
        "nothing in `{}` is known to be measurable: no `go.mod`, `Cargo.toml`, `pom.xml` or `build.gradle`",
        cwd.display()
    ))
    .hint("run it where one of them lies, or measure a program: `duet init --command './program --fast in.txt'`")
}
