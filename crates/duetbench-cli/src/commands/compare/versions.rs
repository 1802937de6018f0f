//! The two versions of a run, made ready: for the first time, or again for a run that is gone on with.

use duetbench_core::Spec;
use duetbench_core::spec::LayoutChoice;
use duetbench_run::RunError;
use duetbench_run::adapter::Build;
use duetbench_run::prepare::Prepared;
use duetbench_run::store::{Origin, RunHead, Store, StoredRun};

use super::material::both;
use crate::commands::{Asked, Context};
use crate::failure::Failure;
use crate::session;

/// Fetches, builds and lists the two versions.
pub(super) fn prepare(context: &Context, spec: &Spec, origin: &Origin) -> Result<Prepared, RunError> {
    let (selection, arguments) = (&spec.selection, &spec.harness_args);
    // A binary that is linked once here, or for a fleet, follows no plan of layouts.
    let relinked = spec.fleet.is_none() && spec.effort.builds != Some(1);
    let layouts = if relinked { spec.layouts } else { LayoutChoice::Random };
    let asked = Asked { selection, harness: &spec.harness, arguments, layouts, benchmarks_from: spec.benchmarks_from };
    context.prepare(&origin.versions, &origin.cwd, asked)
}

/// A stored run that can be gone on with.
pub(super) fn unfinished(store: &Store, name: &str) -> Result<StoredRun<RunHead>, Failure> {
    // The last run may have measured one version.
    let name = if name == "latest" { store.last_comparison()? } else { name.to_owned() };
    session::unfinished(store.load(&name)?.comparison()?)
}

/// The builds of the two versions, if they are what was measured before.
pub(super) fn same_builds(prepared: &Prepared, head: &RunHead) -> Result<[Build; 2], Failure> {
    let [baseline, candidate] = both(prepared)?;
    session::same_version(&baseline.info, &head.baseline)?;
    session::same_version(&candidate.info, &head.candidate)?;
    Ok([baseline.build.clone(), candidate.build.clone()])
}
