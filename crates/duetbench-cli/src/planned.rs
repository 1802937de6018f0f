//! Repetitions from a plan file, for the benchmarks that are there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use duetbench_core::BenchmarkId;
use duetbench_core::plan::{Repetitions, Start, Unmatched};
use duetbench_run::plan_file::{PlanFile, PlannedRepetitions};

use crate::commands::Context;
use crate::failure::Failure;
use crate::render::format::named;
use crate::settings::Settings;

/// Most names that a note lists before it only counts the rest.
const NAMES_MAX: usize = 8;

/// A plan file that is followed.
#[derive(Debug, Clone)]
pub struct Planned {
    path: PathBuf,
    by_name: BTreeMap<String, Repetitions>,
}

impl Planned {
    /// Reads the plan file that is set, if one is.
    ///
    /// # Errors
    /// When it cannot be read, or an entry asks for what cannot be measured.
    pub fn read(settings: &Settings) -> Result<Option<Planned>, Failure> {
        let Some(path) = settings.plan() else { return Ok(None) };
        let file = PlanFile::read(&path)?;
        let mut by_name = BTreeMap::new();
        for entry in &file.benchmarks {
            let checked = repetitions(entry).check().map_err(|e| {
                Failure::usage(format!("the plan `{}` cannot be followed for `{}`: {e}", path.display(), entry.name))
            })?;
            if by_name.insert(entry.name.clone(), checked).is_some() {
                let twice = format!("the plan `{}` has `{}` twice", path.display(), entry.name);
                return Err(Failure::usage(twice));
            }
        }
        Ok(Some(Planned { path, by_name }))
    }

    /// Repetitions by full name.
    pub fn repetitions(&self) -> &BTreeMap<String, Repetitions> {
        &self.by_name
    }

    /// Whether it says anything of this benchmark.
    pub fn knows(&self, id: &BenchmarkId) -> bool {
        self.by_name.contains_key(&id.to_string())
    }

    /// The start of a comparison for each benchmark, by full name.
    pub fn starts(&self) -> BTreeMap<String, Start> {
        self.by_name.iter().map(|(name, repetitions)| (name.clone(), Start::of(repetitions))).collect()
    }

    /// Tells people where file and benchmarks do not fit. `all` is what was found; where not all benchmarks were looked for, nobody
    /// knows what is not there.
    pub fn note<'a>(&self, context: &Context, all: impl Iterator<Item = &'a BenchmarkId>) {
        let path = self.path.display();
        let Unmatched { not_planned, not_found } = Unmatched::of(&self.by_name, all);
        if !not_planned.is_empty() {
            let names = named(&not_planned, NAMES_MAX);
            let text = format!("not in `{path}`, so measured as without it: {names}; `duet tune --check` adds them");
            context.printer.note(&text);
        }
        let selection = context.settings.selection();
        if !not_found.is_empty() && selection.is_everything() {
            let names = named(&not_found, NAMES_MAX);
            context.printer.note(&format!("in `{path}`, but not found: {names}; `duet tune --check` removes them"));
        }
    }
}

/// Repetitions that an entry asks for.
pub fn repetitions(entry: &PlannedRepetitions) -> Repetitions {
    Repetitions {
        suite_runs: entry.suite_runs,
        forks: entry.forks,
        iterations: entry.iterations,
        warmup: entry.warmup,
        // A number that is no length of time becomes 0, which is refused.
        iteration_ns: (entry.iteration_s * 1e9).round() as u64,
    }
}

/// The entries that a comparison can follow; tells people of the others.
pub fn feasible(entries: Vec<PlannedRepetitions>, context: &Context) -> Vec<PlannedRepetitions> {
    let refusal = |entry: &PlannedRepetitions| repetitions(entry).check().err();
    let why = entries.iter().find_map(refusal);
    let (kept, refused): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| refusal(entry).is_none());
    if let Some(why) = why {
        let refused: Vec<String> = refused.into_iter().map(|entry| entry.name).collect();
        let text = format!("not planned, because nobody can measure so: {} ({why})", named(&refused, NAMES_MAX));
        context.printer.note(&text);
    }
    kept
}
