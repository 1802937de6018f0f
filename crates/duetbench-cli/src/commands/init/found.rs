//! The harness of a repository, by the files that lie in it.

use std::path::Path;

use duetbench_core::spec::{HarnessName, HarnessSpec, JmhSpec};

use crate::failure::Failure;

/// A suite in a repository that can be measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The harness that runs its benchmarks.
    pub(super) harness: HarnessName,
    /// Its directory below the repository's root; empty: the root itself.
    pub(super) directory: String,
    /// The same for people, with the file that gave it away.
    pub(super) words: String,
}

/// Files by which a harness is known, in the order in which `duet compare` asks for them.
const SIGNS: [(&str, HarnessName, &str); 4] = [
    ("go.mod", HarnessName::Go, "a Go module"),
    ("pom.xml", HarnessName::Jmh, "a Maven project"),
    ("build.gradle", HarnessName::Jmh, "a Gradle project"),
    ("build.gradle.kts", HarnessName::Jmh, "a Gradle project"),
];

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
        let of = |harness, words: &str| Found { harness, directory: below.clone(), words: words.to_owned() };
        if command.is_some() {
            return Ok(of(HarnessName::Command, "a command (`--command`)"));
        }
        if settings.name == Some(HarnessName::Command) || settings.name.is_none() && !settings.commands.is_empty() {
            return Ok(of(HarnessName::Command, "commands (`duet.toml`)"));
        }
        if settings.name == Some(HarnessName::Jmh) || settings.name.is_none() && settings.jmh != JmhSpec::default() {
            return Ok(of(HarnessName::Jmh, "JMH (`duet.toml`)"));
        }
        let sign = |dir: &Path| SIGNS.into_iter().find(|(file, ..)| dir.join(file).is_file());
        let (sign, directory) = match (sign(cwd), sign(root)) {
            (Some(here), _) => (here, below),
            (None, Some(there)) => (there, String::new()),
            (None, None) => return Err(nothing(cwd)),
        };
        let (file, harness, words) = sign;
        Ok(Found { harness, directory, words: format!("{words} (`{file}`)") })
    }
}

fn nothing(cwd: &Path) -> Failure {
    Failure::Refused {
        what: format!(
            "nothing in `{}` is known to be measurable: no `go.mod`, `pom.xml` or `build.gradle`",
            cwd.display()
        ),
        hint: "run it where one of them lies, or measure a program: `duet init --command './program --fast in.txt'`"
            .into(),
    }
}
