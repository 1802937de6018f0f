//! Pages of the guide as data: their blocks, and their workflows carried out with stand-ins for what GitHub brings.
#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(unreachable_pub, missing_docs, reason = "these are for tests")]

mod workflow;

use std::path::{Path, PathBuf};

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
}

/// The commands of a console block: what stands before two spaces and a remark.
pub fn commands(block: &str) -> Vec<String> {
    block
        .lines()
        .map(|line| line.split("    ").next().unwrap().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}
