//! The files that `duet init` writes, from templates that the documents show too.

use super::found::Found;
use crate::render::command_line::quote;

/// Name of the file of settings.
pub(super) const SETTINGS_FILE: &str = "duet.toml";
const SETTINGS: &str = include_str!("templates/duet.toml");
const GITHUB: &str = include_str!("templates/github.yml");
const PUBLISH: &str = include_str!("templates/github-publish.yml");
const GITLAB: &str = include_str!("../../../../../ci/gitlab/duet.gitlab-ci.yml");
/// Makes the lock file that a repository leaves out.
const LOCK: &str = "cargo generate-lockfile";
const IGNORED: &str = ".duet/\nduet-report/\nduet-report.html\n";
/// The action that belongs to this program: of the release that it is from, or that of the main branch, which builds.
const RELEASE: &str = match option_env!("DUET_RELEASE") {
    Some(tag) => tag,
    None => "main",
};

/// Files that were asked for, besides those that follow from the repository.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// Workflows for GitHub.
    pub(super) github: bool,
    /// A job for GitLab.
    pub(super) gitlab: bool,
    /// The command line to measure.
    pub(super) command: Option<&'a str>,
}

/// A file that shall be there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    /// Where, below the repository's root.
    pub(super) path: String,
    /// Its text, or its lines.
    pub(super) text: String,
    /// Only lines that are missing are added to what is there.
    pub(super) adds: bool,
}

impl Planned {
    /// The file under its name.
    pub(super) fn shown(&self) -> String {
        let adds = if self.adds { " (lines to add)" } else { "" };
        format!("--- {}{adds}\n{}\n", self.path, self.text)
    }
}

/// All files for a repository.
pub(super) fn planned(found: &Found, asked: &Asked<'_>) -> Vec<Planned> {
    let inside =
        |name: &str| if found.directory.is_empty() { name.to_owned() } else { format!("{}/{name}", found.directory) };
    let whole = |path: String, text: String| Planned { path, text, adds: false };
    let mut files = vec![
        whole(inside(SETTINGS_FILE), settings(asked.command)),
        Planned { path: inside(".gitignore"), text: IGNORED.to_owned(), adds: true },
    ];
    if asked.github {
        files.push(whole(".github/workflows/duet.yml".into(), measuring(found, &inside("duet-report"))));
        files.push(whole(".github/workflows/duet-publish.yml".into(), PUBLISH.replace("@RELEASE@", RELEASE)));
    }
    if asked.gitlab {
        files.push(whole("duet.gitlab-ci.yml".into(), job(found)));
        files.push(whole(".gitlab-ci.yml".into(), "include: [{ local: duet.gitlab-ci.yml }]\n".into()));
    }
    files
}

fn settings(command: Option<&str>) -> String {
    let Some(command) = command else { return SETTINGS.to_owned() };
    let table = command_table(command);
    format!(
        "{SETTINGS}\n# A program that is run in each version's directory; `build = \"make\"` builds it there first.\n{table}"
    )
}

/// The table of the settings that measures a command line.
pub(super) fn command_table(command: &str) -> String {
    format!("[[command]]\nname = \"program\"\ncommand = {}\n", toml::Value::String(command.to_owned()))
}

/// The workflow that measures.
fn measuring(found: &Found, report: &str) -> String {
    let toolchain = match found.harness {
        "go" => {
            "      - uses: actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5  # v5.5.0\n        with: { go-version: stable }\n"
        }
        "jmh" => {
            "      - uses: actions/setup-java@c5195efecf7bdfc987ee8bae7a71cb8b11521c00  # v4.7.1\n        with: { distribution: temurin, java-version: 21 }\n"
        }
        _ => "",
    };
    // duet writes none into a checkout.
    let lock = match (found.lacks_lock, &found.directory[..]) {
        (false, _) => String::new(),
        (true, "") => format!("      - run: {LOCK}\n"),
        (true, dir) => format!("      - run: {LOCK}\n        working-directory: {}\n", quoted(dir)),
    };
    let directory = if found.directory.is_empty() {
        String::new()
    } else {
        format!(", working-directory: {}", quoted(&found.directory))
    };
    let report = if found.directory.is_empty() { report.to_owned() } else { quoted(report) };
    let before = toolchain.to_owned() + &lock;
    let words = [("@BEFORE@", &before[..]), ("@RELEASE@", RELEASE), ("@DIRECTORY@", &directory), ("@REPORT@", &report)];
    words.into_iter().fold(GITHUB.to_owned(), |text, (word, value)| text.replace(word, value))
}

/// The job for GitLab, with an image that has the toolchain.
fn job(found: &Found) -> String {
    let image = match found.harness {
        "jmh" => "duetbench:maven",
        "rust" => "duetbench:rust",
        _ => "duetbench:go",
    };
    let lock = if found.lacks_lock { format!("  script:\n    - {LOCK}\n") } else { "  script:\n".to_owned() };
    let text = GITLAB.replace("duetbench:go", image).replace("  script:\n", &lock);
    if found.directory.is_empty() {
        return text;
    }
    let enter = format!("  script:\n    - {}\n", quoted(&format!("cd {}", quote(&found.directory))));
    let kept = quoted(&format!("{}/duet-report", found.directory));
    text.replace("  script:\n", &enter).replace("[duet-report]", &format!("[{kept}]"))
}

/// A name as a text of YAML that no character of it can end: one of JSON is one.
fn quoted(name: &str) -> String {
    serde_json::Value::String(name.to_owned()).to_string()
}
