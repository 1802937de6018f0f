//! Bounds of `duet.toml`. Whoever looks at a repository with `duet` has not agreed that a file in it chooses which files are written,
//! what is spent, or which secrets measured code sees: that is for the command line and for variables.

use std::path::{Component, Path, PathBuf};

use duetbench_core::spec::defaults;
use duetbench_run::source::is_tracked;

use crate::failure::Failure;
use crate::options::{Dollars, Layer};
use crate::project;

/// Parts of names of variables that hold secrets.
const SECRETS: [&str; 11] = [
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE_KEY", "API_KEY", "APIKEY",
    "ACCESS_KEY", "AUTH",
];
/// Prefixes of variables that hold a cloud's credentials and account.
const ACCOUNTS: [&str; 1] = ["AWS_"];
/// Options of harnesses by which other programs or sources take part in building or measuring.
const PROGRAMS: [&str; 12] = [
    "-toolexec", "-exec", "-overlay", "-modfile", "-compiler", "-pkgdir", "-config", "-javaagent", "-agentpath",
    "-agentlib", "-jvm", "-XX:OnError",
];

/// A key whose value is a path, and where a layer has it.
type PathKey = (&'static str, fn(&Layer) -> Option<&PathBuf>);

/// Refuses what a file may not decide, unless something stronger decides it anyway. Relative paths start at `cwd`.
///
/// # Errors
/// Names the key with its value, and what to do instead.
pub(super) fn check(file: &Layer, stronger: &[Layer], cwd: &Path) -> Result<(), Failure> {
    let paths: [PathKey; 4] = [
        ("output", |l| l.output.as_ref()),
        ("db", |l| l.db.as_ref()),
        ("plan", |l| l.plan.as_ref()),
        ("worker", |l| l.worker.as_ref()),
    ];
    for (key, path) in paths {
        let Some(path) = path(file).filter(|_| !stronger.iter().any(|l| path(l).is_some())) else { continue };
        let refused = |why| Err(refused(key, &path.display().to_string(), why));
        if !stays_inside(path, cwd) {
            return refused("leads out of the checkout");
        }
        if key == "output" && real(path, cwd).is_some_and(|file| is_tracked(&file)) {
            return refused("is a file that git tracks");
        }
    }
    let most = defaults::FLEET_COST_MAX_USD;
    let unsaid = stronger.iter().all(|l| l.max_cost.is_none());
    if let Some(Dollars(cost)) = file.max_cost.filter(|cost| unsaid && *cost > Dollars(most)) {
        return Err(refused("max_cost", &cost.to_string(), &format!("is more than the {most} dollars without it")));
    }
    if let Some(prices) = file.prices.as_ref().filter(|_| stronger.iter().all(|l| l.prices.is_none())) {
        return Err(refused("prices", &prices.display().to_string(), "decides what calls are said to cost"));
    }
    let passed = file.pass_env.clone().filter(|_| stronger.iter().all(|l| l.pass_env.is_none()));
    match passed.unwrap_or_default().into_iter().find(|name| is_secret(name)) {
        Some(name) => Err(refused("pass_env", &name, "looks like a secret")),
        None => Ok(()),
    }
}

fn refused(key: &str, value: &str, why: &str) -> Failure {
    let option = key.replace('_', "-");
    Failure::usage(format!("`{key}` in `duet.toml` may not be `{value}`: it {why}")).hint(format!(
        "whoever means it says so: `--{option}`, or the variable `DUET_{}`, which hold instead of the file",
        key.to_uppercase()
    ))
}

/// Refuses to write a file that lies in a repository under a name of ours and is a link out of it.
///
/// # Errors
/// Names the file.
pub fn check_link(path: &Path, cwd: &Path) -> Result<(), Failure> {
    if stays_inside(path, cwd) {
        return Ok(());
    }
    Err(Failure::usage(format!("`{}` is a link that leads out of the checkout", path.display()))
        .hint("nothing is written through it: put a file in its place"))
}

/// Whether a variable's name looks like that of a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRETS.iter().any(|part| name.contains(part)) || ACCOUNTS.iter().any(|start| name.starts_with(start))
}

/// Whether a path leads to a place inside of the checkout around `cwd`, and there to none of git's own files.
fn stays_inside(path: &Path, cwd: &Path) -> bool {
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let Ok(root) = project::root(cwd).canonicalize() else { return false };
    let inside = |real: PathBuf| {
        real.strip_prefix(&root).is_ok_and(|rest| !rest.components().any(|part| part.as_os_str() == ".git"))
    };
    !goes_up && real(path, cwd).is_some_and(inside)
}

/// Where a path really leads: one that does not exist yet to below the nearest folder that exists. A link that leads nowhere would be
/// followed, and has no place.
pub fn real(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let full = cwd.join(path);
    let existing = full.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    let (rest, place) = (full.strip_prefix(existing).ok()?, existing.canonicalize().ok()?);
    // A file has nothing below it, not even a slash.
    Some(if rest.as_os_str().is_empty() { place } else { place.join(rest) })
}

/// Options for the harness in the file that run other programs, unless a stronger layer sets its own; in words for the report.
pub(super) fn programs(file: &Layer, stronger: &[Layer]) -> Option<String> {
    let words = file.harness.clone().filter(|_| stronger.iter().all(|l| l.harness.is_none()))?;
    let names = |word: &String| {
        let bare = format!("-{}", word.trim_start_matches('-'));
        let named = PROGRAMS.iter().find(|program| word.starts_with('-') && bare.starts_with(**program));
        named.copied().or_else(|| word.contains("-extld").then_some("-extld"))
    };
    let found: Vec<&str> = words.iter().filter_map(names).collect();
    (!found.is_empty())
        .then(|| format!("`harness` in `duet.toml` has other programs or sources take part: `{}`", found.join("`, `")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_run_programs_are_named() {
        let check = |text: &str, want: Option<&str>| {
            let file: Layer = toml::from_str(text).unwrap();
            let named = programs(&file, &[Layer::default()]);
            assert_eq!(named.as_deref().and_then(|words| words.split(": ").nth(1)), want, "{text}");
            assert_eq!(programs(&file, std::slice::from_ref(&file)), None);
        };
        check("harness = ['-tags', 'x', '-cpu=2']", None);
        check("harness = '--toolexec=/tmp/evil -short'", Some("`-toolexec`"));
        check("harness = ['-ldflags=-extld=evil', '-modfile', 'm']", Some("`-extld`, `-modfile`"));
        check("harness = ['-jvmArgsAppend', '-javaagent:x.jar']", Some("`-jvm`, `-javaagent`"));
    }
}
