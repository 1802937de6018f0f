//! Where a recording came from, for forms that have a place for it.

use duetbench_core::Environment;

use crate::store::Head;

/// What is known of where a recording came from: keys and values, each on one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// In the order in which they are written. Keys are those of Go benchmark text: lower-case words with hyphens.
    pub lines: Vec<(String, String)>,
    /// What the version turned out to be: a commit, a directory, a module version; empty where it is not known.
    pub version: String,
    /// When it was measured, RFC 3339; empty where it is not known.
    pub started: String,
}

impl About {
    /// What a stored run knows of itself and of a version.
    #[must_use]
    pub fn of_run(name: &str, head: &Head, version: &str) -> About {
        let started = match head {
            Head::Comparison(head) => &head.started,
            Head::Solo(head) => &head.started,
        };
        let Environment { platform, cpu_model, toolchain, duet_version, .. } = head.environment();
        let (goos, goarch) = platform.split_once('/').unwrap_or((platform, ""));
        let known = [
            ("goos", goos),
            ("goarch", goarch),
            ("cpu", cpu_model),
            ("toolchain", toolchain),
            ("duet-version", duet_version),
            ("duet-run", name),
            ("duet-started", started),
            ("duet-commit", version),
        ];
        let lines = known.iter().filter(|(_, value)| !value.is_empty());
        let lines = lines.map(|(key, value)| ((*key).to_owned(), one_line(value))).collect();
        About { lines, version: one_line(version), started: started.clone() }
    }

    /// The value of a key; empty where it is not known.
    #[must_use]
    pub fn value(&self, key: &str) -> &str {
        self.lines.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
    }
}

/// Words on one line, without control characters.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}
