//! Pages of the guide as data: their blocks, and their workflows carried out with stand-ins for what GitHub brings.
#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(dead_code, unused_imports, reason = "every test binary uses another part of it")]
#![allow(unreachable_pub, missing_docs, reason = "these are for tests")]

mod workflow;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Place, Ran};

pub use workflow::{Runner, steps_of};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A page of the guide.
pub struct Page {
    name: String,
    text: String,
}

impl Page {
    pub fn read(name: &str) -> Page {
        let path = root().join("docs").join(name);
        Page { name: name.to_owned(), text: std::fs::read_to_string(path).unwrap() }
    }

    /// The fenced block of this language that holds these words.
    #[track_caller]
    pub fn block(&self, language: &str, holding: &str) -> String {
        let found = self.text.split("\n```").skip(1).step_by(2).find_map(|part| {
            let (first, rest) = part.split_once('\n')?;
            (first == language && rest.contains(holding)).then(|| rest.to_owned())
        });
        found.unwrap_or_else(|| panic!("docs/{} has no block `{language}` with `{holding}`", self.name))
    }

    /// The rows of the table below this heading, without its head; each as its cells.
    #[track_caller]
    pub fn table(&self, heading: &str) -> Vec<Vec<String>> {
        let (_, below) = self.text.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no `{heading}`"));
        let rows = below.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
        let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        rows.skip(2).map(cells).collect()
    }

    pub fn says(&self, words: &str) -> bool {
        self.text.contains(words)
    }

    /// The first command within a sentence that begins so.
    #[track_caller]
    pub fn inline(&self, beginning: &str) -> String {
        let found = self.text.split('`').skip(1).step_by(2).find(|code| code.starts_with(beginning));
        found.unwrap_or_else(|| panic!("docs/{} does not say `{beginning}`", self.name)).to_owned()
    }
}

/// Does in a shell what a page says to type, as it stands there, with settings that keep the walk short.
pub fn in_shell(place: &Place, line: &str, settings: &[(&str, &str)]) -> Ran {
    let duet = place.command(&[]);
    let program = Path::new(duet.get_program()).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(place.path());
    for (name, value) in duet.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PATH", path).envs(settings.iter().copied());
    Ran::from(command.output().unwrap())
}

/// The commands of a console block: what stands before two spaces and a remark.
pub fn commands(block: &str) -> Vec<String> {
    block
        .lines()
        .map(|line| line.split("    ").next().unwrap().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}
