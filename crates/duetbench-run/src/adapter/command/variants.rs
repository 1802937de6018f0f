//! Benchmarks of the commands: every command line with every combination of its parameters.

use std::collections::{BTreeMap, BTreeSet};

use duetbench_core::sample::with_parameters;
use duetbench_core::spec::{CommandSpec, StandardOutput};

use super::line;
use crate::error::RunError;

/// One command with one combination of parameters: a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) name: String,
    /// Index of its entry.
    pub(super) entry: usize,
    /// Values of its parameters, by name.
    pub(super) values: BTreeMap<String, String>,
}

/// Names of the benchmarks of these entries, for versions that are directories.
///
/// # Errors
/// Names the entry, command line or parameter that makes no sense.
pub fn names(entries: &[CommandSpec]) -> Result<Vec<String>, RunError> {
    Ok(variants(entries, &[None, None])?.into_iter().map(|variant| variant.name).collect())
}

/// All benchmarks of these entries, each of which was found to make sense for these versions; a version that is a command line is
/// that line.
///
/// # Errors
/// Names the entry, command line or parameter that makes none.
pub(super) fn variants(entries: &[CommandSpec], versions: &[Option<&str>]) -> Result<Vec<Variant>, RunError> {
    let mut all = Vec::new();
    for (entry, spec) in entries.iter().enumerate() {
        let lines = lines(spec, versions)?;
        check(spec, &lines)?;
        let candidates = lines.last().copied().unwrap_or_default();
        for values in combinations(&spec.parameters) {
            // Every parameter has a place in the line, so that the filled one says them all.
            let name = match &spec.name[..] {
                "" => line::filled(candidates, &values),
                own => with_parameters(own, &values),
            };
            all.push(Variant { name, entry, values });
        }
    }
    let mut seen = BTreeSet::new();
    match all.iter().find(|variant| !seen.insert(variant.name.as_str())) {
        Some(twice) => {
            Err(RunError::argument(&twice.name, "two commands have this name: give each a `name` of its own"))
        }
        None => Ok(all),
    }
}

/// The command lines of an entry, one of each version, that of the last one last.
fn lines<'a>(spec: &'a CommandSpec, versions: &[Option<&'a str>]) -> Result<Vec<&'a str>, RunError> {
    let last = versions.len().saturating_sub(1);
    let line = |(number, version): (usize, &Option<&'a str>)| {
        let own = spec.head.as_deref().filter(|_| number == last);
        own.or(spec.command.as_deref()).or(*version).ok_or_else(|| {
            let entry = if spec.name.is_empty() { "[[command]]" } else { &spec.name };
            RunError::argument(entry, "it has no `command` to be run in each version's directory")
        })
    };
    versions.iter().enumerate().map(line).collect()
}

/// Note on the first command line that is written for a shell and started without one.
pub(super) fn shell_note(entries: &[CommandSpec], versions: &[Option<&str>]) -> Option<String> {
    let plain = entries.iter().filter(|spec| spec.shell.is_none());
    let mut all = plain.flat_map(|spec| lines(spec, versions).unwrap_or_default());
    all.find_map(|line| {
        let word = line::shell_word(line)?;
        Some(format!(
            "`{line}` is started without a shell, so that `{word}` is an argument like any other: `--shell sh` has one run it"
        ))
    })
}

fn check(spec: &CommandSpec, lines: &[&str]) -> Result<(), RunError> {
    let beside = [&spec.build, &spec.setup, &spec.prepare, &spec.conclude, &spec.cleanup]
        .into_iter()
        .flatten()
        .map(String::as_str);
    for one in lines.iter().copied().chain(beside) {
        line::words(one, spec.shell.as_deref())?;
    }
    for (parameter, values) in &spec.parameters {
        if spec.build.as_deref().is_some_and(|build| line::mentions(build, parameter)) {
            return Err(RunError::argument(parameter, "`build` runs once, for all values of the parameter"));
        }
        if values.is_empty() {
            return Err(RunError::argument(parameter, "the parameter has no values: separate them by commas"));
        }
        if values.iter().collect::<BTreeSet<_>>().len() < values.len() {
            return Err(RunError::argument(parameter, "the parameter has a value twice"));
        }
        if let Some(without) = lines.iter().find(|line| !line::mentions(line, parameter)) {
            let why = format!("the parameter has no place in `{without}`: write `{{{parameter}}}` where it belongs");
            return Err(RunError::argument(parameter, why));
        }
    }
    let whole = [
        ("prepare", spec.prepare.is_some()),
        ("conclude", spec.conclude.is_some()),
        ("exit-code", !spec.exit_code.is_usual()),
        ("stdin", spec.stdin.is_some()),
        ("stdout", spec.stdout != StandardOutput::default()),
        ("refill", spec.refill),
    ];
    match whole.into_iter().find(|(_, asked)| *asked && spec.lockstep) {
        Some((what, _)) => Err(RunError::argument(
            what,
            "it is for whole processes, and with `lockstep` the program's own iterations are measured",
        )),
        None => Ok(()),
    }
}

/// Every combination of values, the last parameter's changing fastest; one empty one where there are no parameters.
fn combinations(parameters: &BTreeMap<String, Vec<String>>) -> Vec<BTreeMap<String, String>> {
    parameters.iter().fold(vec![BTreeMap::new()], |all, (name, values)| {
        let with = |one: &BTreeMap<String, String>| {
            let one = one.clone();
            values
                .iter()
                .map(move |value| {
                    let mut more = one.clone();
                    more.insert(name.clone(), value.clone());
                    more
                })
                .collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(parameters: &[(&str, &[&str])]) -> CommandSpec {
        let owned =
            |(name, values): &(&str, &[&str])| ((*name).to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
        CommandSpec { parameters: parameters.iter().map(owned).collect(), ..CommandSpec::default() }
    }

    fn named(entries: &[CommandSpec], lines: &[&str]) -> Result<Vec<String>, String> {
        let versions: Vec<Option<&str>> = lines.iter().map(|line| Some(*line)).collect();
        let found = variants(entries, &versions).map_err(|e| e.to_string())?;
        Ok(found.into_iter().map(|v| v.name).collect())
    }

    #[test]
    fn every_combination_is_a_benchmark() {
        let entry = CommandSpec { name: "sort".into(), ..spec(&[("size", &["10", "20"]), ("mode", &["a", "b"])]) };
        let want = ["sort:mode=a,size=10", "sort:mode=a,size=20", "sort:mode=b,size=10", "sort:mode=b,size=20"];
        assert_eq!(named(&[entry], &["x {size} {mode}", "y {mode} {size}"]).unwrap(), want);
    }

    #[test]
    fn without_a_name_the_candidates_line_is_one() {
        assert_eq!(named(&[spec(&[])], &["old 1", "new 2"]).unwrap(), ["new 2"]);
        let of_sizes = spec(&[("size", &["1", "2"])]);
        assert_eq!(named(&[of_sizes], &["old {size}", "new -s {size}"]).unwrap(), ["new -s 1", "new -s 2"]);
    }

    #[test]
    fn what_makes_no_sense_is_named_with_the_remedy() {
        let check = |entries: &[CommandSpec], lines: &[&str], want: &str| {
            let error = named(entries, lines).unwrap_err();
            assert!(error.contains(want), "{error}");
        };
        check(&[spec(&[("n", &["1"])])], &["a {n}", "b"], "`n` cannot be passed on: the parameter has no place in `b`");
        check(&[spec(&[("n", &[])])], &["a {n}"], "has no values");
        check(&[spec(&[("n", &["1", "1"])])], &["a {n}"], "a value twice");
        let built = CommandSpec { build: Some("make {n}".into()), ..spec(&[("n", &["1"])]) };
        check(&[built], &["a {n}"], "`build` runs once");
        check(&[spec(&[])], &["a 'b"], "a quote in it does not end");
        check(&[spec(&[]), spec(&[])], &["a"], "two commands have this name");
        let lockstep = CommandSpec { lockstep: true, refill: true, ..spec(&[]) };
        check(&[lockstep], &["a"], "`refill` cannot be passed on: it is for whole processes");
    }
}
