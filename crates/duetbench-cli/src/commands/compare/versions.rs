//! The two versions of a run, made ready: for the first time, or again for a run that is gone on with.

use duetbench_core::Spec;
use duetbench_core::spec::{LayoutChoice, defaults};
use duetbench_run::RunError;
use duetbench_run::adapter::{Build, Reaches};
use duetbench_run::prepare::Prepared;
use duetbench_run::store::{Origin, RunHead, Store, StoredRun};

use super::material::both;
use crate::commands::{Asked, Context};
use crate::failure::Failure;
use crate::render::format::one_line;
use crate::session;

/// Two versions as they were built.
#[derive(Clone)]
pub(super) struct Built<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) builds: [Build; 2],
}

/// Fetches, builds and lists the two versions.
pub(super) fn prepare(context: &Context, spec: &Spec, origin: &Origin) -> Result<Prepared, RunError> {
    let (selection, arguments) = (&spec.selection, &spec.harness_args);
    // Those for a fleet are linked each for itself.
    let layouts = if spec.fleet.is_some() { LayoutChoice::Random } else { spec.layouts };
    let layouts = (spec.effort.builds != Some(1)).then_some(layouts);
    // A fleet's programs are built for its processors, which may be others.
    let reach = spec.reach && spec.fleet.is_none();
    let asked =
        Asked { selection, harness: &spec.harness, arguments, layouts, reach, benchmarks_from: spec.benchmarks_from };
    let mut prepared = context.prepare(&origin.versions, &origin.cwd, asked)?;
    if spec.fleet.is_some_and(|fleet| prepared.is_another_program_on(fleet.arch)) {
        prepared.identical.clear();
    }
    if spec.reach && prepared.reaches == Reaches::default() {
        context
            .printer
            .note("`--reach` says nothing here: it is for Go's benchmarks that are measured on this machine");
    }
    if let Some(note) = ignored(prepared.adapter.ignored(), spec) {
        context.printer.note(&note);
    }
    prepared.reaches.summary().iter().for_each(|line| context.printer.note(&one_line(line)));
    Ok(prepared)
}

/// Note on options that were set and are among those which a harness ignores.
fn ignored(ignored: &[&str], spec: &Spec) -> Option<String> {
    let has_packages = spec.selection.packages != [defaults::PACKAGES];
    let set = [
        ("--packages", has_packages),
        ("--builds", spec.effort.builds.is_some()),
        ("--layouts", spec.layouts != LayoutChoice::Matched),
        ("--warmup", spec.harness.warmup.is_some()),
    ];
    let options: Vec<&str> =
        set.iter().filter(|(option, is_set)| *is_set && ignored.contains(option)).map(|(option, _)| *option).collect();
    let why = match options[..] {
        [] => return None,
        ["--warmup"] => "slices of this harness warm up as each benchmark is found to need",
        _ => "this harness has no packages, and duet links nothing",
    };
    let verb = if options.len() == 1 { "has" } else { "have" };
    Some(format!("`{}` {verb} no effect here: {why}", options.join("`, `")))
}

/// A stored run that can be gone on with.
pub(super) fn unfinished(context: &Context, store: &Store, name: &str) -> Result<StoredRun<RunHead>, Failure> {
    // The last run may have measured one version.
    let name = store.comparison_named(name)?;
    session::unfinished(context, store.load(&name)?.comparison()?)
}

/// The builds of the two versions, if they are what was measured before.
pub(super) fn same_builds(prepared: &Prepared, head: &RunHead) -> Result<[Build; 2], Failure> {
    let [baseline, candidate] = both(prepared)?;
    session::same_version(&baseline.info, &head.baseline)?;
    session::same_version(&candidate.info, &head.candidate)?;
    Ok([baseline.build.clone(), candidate.build.clone()])
}
