//! One Go toolchain for both versions.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use serde::Deserialize;

use super::native;
use crate::adapter::changes::roots;
use crate::error::RunError;
use crate::source::Source;
use crate::tool::Tool;

/// The oldest release whose `testing` package can be hooked.
const OLDEST: Release = Release::one(21);

/// The `go` command that builds both versions.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// Path of the `go` command.
    pub go: PathBuf,
    /// Its root: the standard library lies below.
    pub root: PathBuf,
    /// Version, such as `go1.26.1`.
    pub version: String,
    /// `GOFLAGS`, wherever it was set.
    pub flags: String,
    /// `CGO_CPPFLAGS` below the trees of versions that know cgo, which tell their C sources apart.
    pub native: Vec<(PathBuf, String)>,
}

#[derive(Debug, Deserialize)]
struct GoEnv {
    #[serde(rename = "GOVERSION")]
    version: String,
    #[serde(rename = "GOROOT")]
    root: PathBuf,
    #[serde(rename = "GOMODCACHE")]
    module_cache: PathBuf,
    #[serde(rename = "GOFLAGS")]
    flags: String,
    #[serde(rename = "CGO_CPPFLAGS", default)]
    for_c: String,
}

impl Toolchain {
    /// The newer of the toolchains that the two versions ask for.
    ///
    /// # Errors
    /// When Go is absent, too old, or set up in a way that excludes the hook.
    pub fn for_all(versions: &[Source], scratch: &Path) -> Result<Toolchain, RunError> {
        let envs = versions.iter().map(|version| go_env(&version.dir)).collect::<Result<Vec<_>, _>>()?;
        for (version, env) in versions.iter().zip(&envs).filter(|(version, _)| !version.is_ours()) {
            if let Ok(inside) = version.dir.strip_prefix(&env.module_cache) {
                return Err(of_module_cache(&version.requested, inside));
            }
        }
        let newest = envs.into_iter().max_by_key(|e| Release::of(&e.version)).ok_or_else(absent)?;
        if newest.flags.split_whitespace().any(|f| f.trim_start_matches('-').starts_with("overlay")) {
            return Err(RunError::toolchain("`GOFLAGS` already sets `-overlay`, which duet needs for its hook")
                .hint("unset it for this run: `GOFLAGS= duet compare …`"));
        }
        match Release::of(&newest.version) {
            Some(release) if release < OLDEST => {
                return Err(RunError::toolchain(format!(
                    "{} is too old: duet hooks Go {OLDEST} and later",
                    newest.version
                ))
                .hint("install a newer Go, or set `GOTOOLCHAIN=go1.21.13` or later"));
            }
            Some(_) => {}
            None => {
                return Err(RunError::toolchain(format!(
                    "cannot tell the release of the Go toolchain `{}`",
                    newest.version
                ))
                .hint("use a released Go 1.21 or later, for instance with `GOTOOLCHAIN=go1.26.1`"));
            }
        }
        let root = outside_module_cache(&newest, scratch)?;
        let flags = |tree: &Path| Some((tree.to_owned(), format!("{} {}", newest.for_c, native::flag(tree)?)));
        let native = trees(versions).into_iter().filter_map(flags).collect();
        Ok(Toolchain { go: root.join("bin/go"), root, version: newest.version, flags: newest.flags, native })
    }

    /// Whether this is the given release or a later one.
    pub(super) fn is_at_least(&self, release: Release) -> bool {
        Release::of(&self.version).is_some_and(|own| own >= release)
    }

    /// A `go` command line in a directory, with exactly this toolchain.
    pub(crate) fn command<'a>(&self, args: impl IntoIterator<Item = &'a str>, dir: &Path) -> Tool {
        let tool =
            Tool::new(&self.go.to_string_lossy(), args, dir).env("GOROOT", &self.root).env("GOTOOLCHAIN", "local");
        let flags = self.native.iter().find(|(tree, _)| dir.starts_with(tree)).map(|(_, flags)| flags);
        flags.into_iter().fold(tool, |tool, flags| tool.env("CGO_CPPFLAGS", flags))
    }
}

/// The trees in which files of the versions lie that may differ.
fn trees(versions: &[Source]) -> Vec<&Path> {
    let apart = if let [baseline, candidate] = versions { roots(baseline, candidate) } else { None };
    apart.map_or_else(|| versions.iter().map(|version| version.tree.as_path()).collect(), Vec::from)
}

/// The go command refuses to see files of the module cache in another form; the same module is had by its name.
fn of_module_cache(requested: &str, inside: &Path) -> RunError {
    let what = format!("`{requested}` lies in Go's module cache, where nothing can be built with a hook");
    RunError::version(what).hint_if(published_name(inside).map(|name| format!("name the module: `{name}`")))
}

/// The name of the published module whose files lie in such a folder of the module cache.
fn published_name(inside: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for part in inside.iter().map(|part| part.to_string_lossy().into_owned()) {
        let is_last = part.contains('@');
        parts.push(part);
        if is_last {
            return Some(unescaped(&parts.join("/")));
        }
    }
    None
}

/// A path without the marks that stand before small letters which are really capitals.
fn unescaped(path: &str) -> String {
    let mut capital = false;
    let mut letter = |c: char| {
        if c == '!' {
            capital = true;
            return None;
        }
        Some(if std::mem::take(&mut capital) { c.to_ascii_uppercase() } else { c })
    };
    path.chars().filter_map(&mut letter).collect()
}

fn absent() -> RunError {
    RunError::toolchain("`go` was not found").hint("install Go 1.21 or later and put it on the PATH")
}

fn go_env(dir: &Path) -> Result<GoEnv, RunError> {
    let text = Tool::new("go", ["env", "-json", "GOVERSION", "GOROOT", "GOMODCACHE", "GOFLAGS", "CGO_CPPFLAGS"], dir)
        .text()
        .map_err(|e| match e {
            RunError::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound => absent(),
            RunError::Tool { output, .. } => {
                RunError::toolchain(format!("`go env` in `{}` failed: {output}", dir.display()))
            }
            other => other,
        })?;
    serde_json::from_str(&text).map_err(|e| RunError::toolchain(format!("`go env` answered something unexpected: {e}")))
}

/// A release of Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Release {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Release {
    /// The first release of this minor version of Go 1.
    pub(super) const fn one(minor: u32) -> Release {
        Release { major: 1, minor, patch: 0 }
    }

    /// The release of `go1.26.1` (also `go1.26rc1`, `go1.26-X:…`); absent for development builds.
    fn of(version: &str) -> Option<Release> {
        let mut numbers = version.strip_prefix("go")?.split('.').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().ok()
        });
        let [major, minor] = [numbers.next()??, numbers.next()??];
        Some(Release { major, minor, patch: numbers.next().flatten().unwrap_or(0) })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Go 1.25 and later refuse overlays of files in the module cache, where downloaded toolchains lie; the same
/// toolchain under another name is accepted.
fn outside_module_cache(env: &GoEnv, scratch: &Path) -> Result<PathBuf, RunError> {
    if !env.root.starts_with(&env.module_cache) {
        return Ok(env.root.clone());
    }
    let link = scratch.join("goroot");
    std::os::unix::fs::symlink(&env.root, &link).map_err(|e| RunError::file("create", &link, e))?;
    // The root must be reached through the link alone, so the link itself must not be resolved.
    fs::metadata(link.join("bin/go")).map_err(|e| RunError::file("find", &link.join("bin/go"), e))?;
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::super::RANDLAYOUT_SINCE;
    use std::path::Path;

    use super::{Release, Toolchain, published_name};

    #[test]
    fn linkers_order_functions_at_random_from_1_23_on() {
        // That of 1.22 says `flag provided but not defined: -randlayout`.
        let orders = |version: &str| {
            let [go, root] = ["go", "root"].map(Into::into);
            Toolchain { go, root, version: version.into(), flags: String::new(), native: Vec::new() }
                .is_at_least(RANDLAYOUT_SINCE)
        };
        assert_eq!(["go1.22.12", "go1.23.0", "go1.26.8"].map(orders), [false, true, true]);
    }

    #[test]
    fn a_module_is_named_from_its_folder_in_the_cache() {
        let name = |inside: &str| published_name(Path::new(inside));
        assert_eq!(
            name("github.com/!burnt!sushi/toml@v1.2.0/internal"),
            Some("github.com/BurntSushi/toml@v1.2.0".into())
        );
        assert_eq!(name("cache/download"), None);
    }

    #[test]
    fn versions_in_every_spelling() {
        assert_eq!(Release::of("go1.26.1"), Some(Release { patch: 1, ..Release::one(26) }));
        assert_eq!(Release::of("go1.26rc1"), Some(Release::one(26)));
        assert_eq!(Release::of("go1.24.4 X:nocoverageredesign"), Some(Release { patch: 4, ..Release::one(24) }));
        assert_eq!(Release::of("devel +abc"), None);
        assert!(Release::of("go1.9.7") < Release::of("go1.21.0"));
    }
}
