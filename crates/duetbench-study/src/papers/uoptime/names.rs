//! Tells project and version of a result file by its name.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;

/// Parts of a file's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    /// The project.
    pub project: String,
    /// The version; absent where the name holds none.
    pub version: Option<String>,
}

static ENDING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"-jmh\d+$").ok());
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(.+?)-(v?\d[\w.+-]*)$").ok());

impl FileName {
    /// Takes apart a name without folder and ending: `project-version`, where a leading `laaber_` and a trailing `-jmh121` belong to
    /// neither.
    pub fn of(stem: &str) -> FileName {
        let bare = stem.strip_prefix("laaber_").unwrap_or(stem);
        let end = ENDING.as_ref().and_then(|ending| ending.find(bare)).map_or(bare.len(), |found| found.start());
        let bare = &bare[..end];
        let parts = PARTS.as_ref().and_then(|parts| parts.captures(bare));
        match parts.map(|parts| (parts[1].to_owned(), parts[2].to_owned())) {
            Some((project, version)) => FileName { project, version: Some(version) },
            None => FileName { project: bare.to_owned(), version: None },
        }
    }
}

/// Natural order: runs of digits count as numbers, so that 1.9 stands before 1.10.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        match (a.is_empty(), b.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        let ((x, rest_a), (y, rest_b)) = (first_part(a), first_part(b));
        let order = match (is_number(x), is_number(y)) {
            (true, true) => by_number(x, y),
            _ => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
}

/// The digits at the beginning, or all that is before the next digit.
fn first_part(text: &str) -> (&str, &str) {
    let digits = is_number(text);
    let end = text.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(text.len());
    text.split_at(end)
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// As numbers of any length; those that are equal by how they are written.
fn by_number(x: &str, y: &str) -> Ordering {
    let (a, b) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b)).then_with(|| x.cmp(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_project_and_version() {
        let check = |stem, project: &str, version: Option<&str>| {
            let want = FileName { project: project.into(), version: version.map(Into::into) };
            assert_eq!(FileName::of(stem), want);
        };
        check("prometheus-v0.39.0", "prometheus", Some("v0.39.0"));
        check("laaber_bytebuddy-01_10_07-jmh121", "bytebuddy", Some("01_10_07"));
        check("laaber_byte-buddy", "byte-buddy", None);
        check("jmh-jdk-microbenchmarks", "jmh-jdk-microbenchmarks", None);
        check("log4j2", "log4j2", None);
        check("go-toml-v2.0.1-rc.1", "go-toml", Some("v2.0.1-rc.1"));
        check("zipkin-02_21_00-jmh121", "zipkin", Some("02_21_00"));
    }

    #[test]
    fn versions_are_in_natural_order() {
        let ascending = ["01_09_16", "01_10_00", "1.9", "1.9.1", "1.10", "v1.19.1", "v1.23.0", "v2"];
        let mut shuffled = ["v2", "1.10", "v1.23.0", "1.9.1", "01_10_00", "v1.19.1", "1.9", "01_09_16"];
        shuffled.sort_by(|a, b| natural_order(a, b));
        assert_eq!(shuffled, ascending);
    }
}
