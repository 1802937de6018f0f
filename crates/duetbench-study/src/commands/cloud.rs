//! `duet-study cloud`: how bad it really is, by environment.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use duetbench_cli::commands::{Context, source};
use duetbench_cli::failure::{Failure, code};
use duetbench_cli::options::Format;
use duetbench_core::Recording;
use duetbench_run::RunError;

use super::files::{self, several_tables};
use crate::args::CloudArgs;
use crate::papers::cloud::{Comparison, Environment, Settings, Studied};
use crate::render::cloud::{Cloud, document, figures, tables};

/// Time between two messages about a study's progress.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// Studies environments and prints what was found.
///
/// # Errors
/// When a file or a run cannot be read or holds nothing, two environments have one name, or something cannot be written.
pub fn run(args: &CloudArgs, context: &Context) -> Result<u8, Failure> {
    if !matches!(context.settings.format(), Format::Text | Format::Markdown | Format::Json) {
        return Err(several_tables());
    }
    let settings = Settings { seed: args.seed, draws: args.draws, trials: args.trials as usize };
    let environments = environments(args, context, &settings)?;
    let comparison = Comparison::of(&environments);
    let cloud = Cloud { duet_version: env!("CARGO_PKG_VERSION").to_owned(), settings, environments, comparison };
    if let Some(dir) = &args.out {
        let drawn = figures(&cloud).map_err(|e| std::io::Error::other(format!("a figure: {e}")))?;
        let tables = tables(&cloud).into_iter().map(|(name, table)| (name.to_owned(), table));
        files::write(dir, context, tables.chain(drawn))?;
    }
    context.printer.document(&document(&cloud))?;
    Ok(code::CLEAN)
}

/// Reads and studies one environment after the other, so that the values of no two are in memory at once.
fn environments(args: &CloudArgs, context: &Context, settings: &Settings) -> Result<Vec<Studied>, Failure> {
    let typed = grouped(&args.environments);
    let (mut studied, mut told): (Vec<Studied>, Instant) = (Vec::new(), Instant::now());
    for Typed { name, sources } in &typed {
        if context.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted.into());
        }
        if told.elapsed() >= TOLD_EVERY {
            told = Instant::now();
            context.printer.note(&format!("studied {} of {} environments", studied.len(), typed.len()));
        }
        let recordings: Vec<Recording> =
            sources.iter().map(|from| source::recording(from, context)).collect::<Result<_, _>>()?;
        let name = name.clone().or_else(|| recordings.first().map(|first| first.name.clone())).unwrap_or_default();
        if studied.iter().any(|other| other.environment == name) {
            return Err(Failure::usage(format!(
                "two environments are called `{name}`: type `NAME=FILE`, with one name for both if they are one"
            )));
        }
        let environment = Environment::of(&name, recordings);
        if environment.benchmarks.is_empty() {
            let what = format!("environment `{name}` has no value");
            let hint = "`duet show RUN` tells what became of a run's benchmarks";
            return Err(RunError::nothing_to_measure(what).hint(hint).into());
        }
        studied.push(settings.study(&environment));
    }
    Ok(studied)
}

/// An environment as it was typed.
#[derive(Debug, PartialEq, Eq)]
struct Typed {
    name: Option<String>,
    sources: Vec<PathBuf>,
}

/// The environments in the order in which they were first typed; those of one name are joined.
fn grouped(typed: &[PathBuf]) -> Vec<Typed> {
    let mut environments: Vec<Typed> = Vec::new();
    for one in typed {
        let (name, from) = named(one);
        let known = environments.iter_mut().find(|other| name.is_some() && other.name == name);
        match known {
            Some(environment) => environment.sources.push(from),
            None => environments.push(Typed { name, sources: vec![from] }),
        }
    }
    environments
}

/// The name in front of a file, where there is one; what holds a `/` is a folder.
fn named(typed: &Path) -> (Option<String>, PathBuf) {
    let split = typed.to_str().and_then(|text| text.split_once('='));
    match split.filter(|(name, from)| !name.is_empty() && !name.contains('/') && !from.is_empty()) {
        Some((name, from)) => (Some(name.to_owned()), PathBuf::from(from)),
        None => (None, typed.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_one_environment() {
        let check = |typed: &[&str], want: &[(Option<&str>, &[&str])]| {
            let typed: Vec<PathBuf> = typed.iter().map(PathBuf::from).collect();
            let want: Vec<Typed> = want
                .iter()
                .map(|(name, sources)| Typed {
                    name: name.map(str::to_owned),
                    sources: sources.iter().map(PathBuf::from).collect(),
                })
                .collect();
            assert_eq!(grouped(&typed), want);
        };
        check(&["aws=a.csv", "b.csv", "aws=r12"], &[(Some("aws"), &["a.csv", "r12"]), (None, &["b.csv"])]);
        check(&["b.csv", "b.csv"], &[(None, &["b.csv"]), (None, &["b.csv"])]);
        check(&["./a=b.csv", "=a.csv", "x="], &[(None, &["./a=b.csv"]), (None, &["=a.csv"]), (None, &["x="])]);
        check(&["x=a=b.csv"], &[(Some("x"), &["a=b.csv"])]);
    }
}
