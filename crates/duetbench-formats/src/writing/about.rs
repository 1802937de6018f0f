//! Where a recording came from, for forms that have a place for it.

use duetbench_core::Environment;
use duetbench_core::foreign::visible;

/// Provenance of a recording: keys and values, each on one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// In the order in which they are written. Keys are those of Go benchmark text: lower-case words with hyphens.
    pub lines: Vec<(String, String)>,
    /// The resolved version: a commit, a directory, a module version; empty where it is not known.
    pub version: String,
    /// When it was measured, RFC 3339; empty where it is not known.
    pub started: String,
}

/// A version in a stored run, as far as its provenance goes.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Name of the run.
    pub run: &'a str,
    /// The resolved version.
    pub version: &'a str,
    /// When it was measured, RFC 3339.
    pub started: &'a str,
    /// On what it was measured.
    pub environment: &'a Environment,
}

impl About {
    /// Provenance of a version in a stored run.
    pub fn of_run(origin: &Origin<'_>) -> About {
        let Origin { run, version, started, environment } = *origin;
        let Environment { platform, cpu_model, toolchain, duet_version, .. } = environment;
        let (goos, goarch) = platform.split_once('/').unwrap_or((platform, ""));
        let known = [
            ("goos", goos),
            ("goarch", goarch),
            ("cpu", cpu_model),
            ("toolchain", toolchain),
            ("duet-version", duet_version),
            ("duet-run", run),
            ("duet-started", started),
            ("duet-commit", version),
        ];
        let lines = known.iter().filter(|(_, value)| !value.is_empty());
        let lines = lines.map(|(key, value)| ((*key).to_owned(), one_line(value))).collect();
        About { lines, version: one_line(version), started: started.to_owned() }
    }

    /// Provenance that a file states: keys and values, as [`read`](crate::read) finds them. Keys that would
    /// begin another package or version are left to the writers.
    pub fn of_file(context: &[(String, String)]) -> About {
        let kept = context.iter().filter(|(key, value)| is_key(key) && !one_line(value).is_empty());
        let lines = kept.map(|(key, value)| (key.clone(), one_line(value))).collect();
        let known = |wanted: &str| context.iter().find(|(key, _)| key == wanted).map(|(_, value)| one_line(value));
        let version = known("version").filter(|_| known("pkg").is_some());
        let version = version.or_else(|| known("commit.id")).unwrap_or_default();
        let started = ["duet-started", "datetime", "date"].into_iter().find_map(known);
        About { lines, version, started: started.unwrap_or_default() }
    }

    /// The value of a key; empty where it is not known.
    pub fn value(&self, key: &str) -> &str {
        self.lines.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
    }
}

/// Whether Go benchmark text can have this as a key, and its readers do not take it for more than that.
fn is_key(key: &str) -> bool {
    let small = key.starts_with(|c: char| c.is_ascii_lowercase());
    small
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase() || c == ':')
        && !["pkg", "version"].contains(&key)
}

/// Words on one line of visible characters.
pub(crate) fn one_line(text: &str) -> String {
    visible(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_own_words_are_kept_where_they_can_be_keys() {
        let context = [
            ("goos", "linux"),
            ("pkg", "example.com/shop"),
            ("version", "main"),
            ("Compiler", "gcc"),
            ("cpu", "AMD\nEPYC"),
            ("note", " "),
        ];
        let about = About::of_file(&context.map(|(k, v)| (k.to_owned(), v.to_owned())));
        let kept: Vec<&str> = about.lines.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((kept, about.value("cpu"), about.version.as_str()), (vec!["goos", "cpu"], "AMD EPYC", "main"));
    }
}
