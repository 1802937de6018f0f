//! Two versions that can be planned, wherever their outcomes come from.

use std::collections::{BTreeMap, BTreeSet};

use duetbench_core::plan::{Capacity, Discovered, Found, Plan, Redefinition};
use duetbench_core::report::VersionInfo;
use duetbench_core::spec::LayoutChoice;
use duetbench_core::{BenchmarkId, Role, Spec};
use duetbench_run::adapter::{Build, PairLayouts};
use duetbench_run::engine::Scripted;
use duetbench_run::environment;
use duetbench_run::prepare::{Prepared, Version};
use duetbench_run::store::Origin;

use super::errand::Errand;
use crate::commands::{Context, selected};
use crate::failure::Failure;
use crate::gate::altered;
use crate::session::Subjects;

/// Two versions that can be planned, wherever their outcomes come from.
pub(super) struct Material {
    pub(super) subjects: Subjects,
    found: [Vec<Discovered>; 2],
    identical: BTreeSet<String>,
    not_affected: BTreeSet<BenchmarkId>,
    redefined: BTreeMap<BenchmarkId, Redefinition>,
    processors_asked: Option<u32>,
    /// The layout of programs that are linked again, if they can be: matched where that holds for any package.
    relinks: Option<LayoutChoice>,
    /// Packages for which it holds not.
    random: BTreeSet<String>,
}

impl Material {
    pub(super) fn prepared(
        context: &Context,
        prepared: &Prepared,
        origin: Origin,
    ) -> Result<(Material, [Build; 2]), Failure> {
        let [baseline, candidate] = both(prepared)?;
        let mut warnings = prepared.warnings();
        warnings.extend(context.settings.notes());
        if let [base, head] = &prepared.sources[..] {
            warnings.extend(altered::between(&base.dir, &head.dir));
        }
        warnings.extend(renamed(context, [&baseline.build, &candidate.build])?);
        let layouts = prepared.adapter.pair_layouts().map(PairLayouts::used);
        let matched = layouts.as_ref().is_some_and(|used| !used.matched.is_empty());
        let relinked = if matched { LayoutChoice::Matched } else { LayoutChoice::Random };
        let random = layouts.iter().flat_map(|used| used.random.keys().cloned()).collect();
        let subjects = Subjects {
            info: [baseline.info.clone(), candidate.info.clone()],
            toolchain: prepared.toolchain.clone(),
            warnings,
            origin: Some(origin.pinned([&baseline.info.resolved, &candidate.info.resolved])),
            layouts,
        };
        let material = Material {
            subjects,
            found: [baseline.found.clone(), candidate.found.clone()],
            identical: prepared.proven(),
            not_affected: prepared.not_affected(),
            redefined: prepared.adapter.redefined([&baseline.build, &candidate.build]),
            processors_asked: prepared.adapter.processors_asked(),
            relinks: prepared.adapter.relinks().then_some(relinked),
            random,
        };
        Ok((material, [baseline.build.clone(), candidate.build.clone()]))
    }

    /// Material of a script for these two roles; a version that is compared with itself has one role twice.
    pub(super) fn scripted(script: &Scripted, roles: [Role; 2]) -> Material {
        let info = |role: Role| VersionInfo {
            requested: role.word().into(),
            resolved: format!("scripted {}", role.word()),
            artifact_digest: String::new(),
        };
        let subjects = Subjects {
            info: roles.map(info),
            toolchain: "script".into(),
            warnings: Vec::new(),
            origin: None,
            layouts: None,
        };
        Material {
            subjects,
            found: roles.map(|role| script.discovered(role)),
            identical: BTreeSet::new(),
            not_affected: BTreeSet::new(),
            redefined: BTreeMap::new(),
            processors_asked: None,
            relinks: None,
            random: BTreeSet::new(),
        }
    }

    /// The plan for what was selected, where trials are run on a machine that allows so much.
    fn plan(&self, context: &Context, spec: &Spec, capacity: Capacity) -> Result<Plan, Failure> {
        let [baseline, candidate] = &self.found;
        let (baseline, candidate) = (selected(baseline, &context.settings)?, selected(candidate, &context.settings)?);
        let (identical, not_affected) = (&self.identical, &self.not_affected);
        let found = Found { baseline: &baseline, candidate: &candidate, identical, not_affected, random: &self.random };
        let mut plan = Plan::new(spec, &found, capacity);
        plan.note_redefined(&self.redefined, spec);
        Ok(plan)
    }

    /// The plan of an errand, by its plan file if it has one; absent where there is nothing to do after all.
    pub(super) fn unsettled(&self, errand: &Errand<'_>, capacity: Capacity) -> Result<Option<Plan>, Failure> {
        let mut plan = self.plan(errand.context, &errand.spec, capacity)?;
        self.follow(&mut plan, errand);
        Ok((!errand.purpose.is_settled(errand, &plan, &self.subjects)?).then_some(plan))
    }

    /// Has the plan follow a plan file, if there is one, and says where the two do not fit.
    fn follow(&self, plan: &mut Plan, errand: &Errand<'_>) {
        if let Some(planned) = &errand.planned {
            plan.follow(&planned.starts(), &errand.spec, self.capacity());
            planned.note(errand.context, self.found.iter().flatten().map(|d| &d.id));
        }
    }

    /// Capacity of this machine.
    pub(super) fn capacity(&self) -> Capacity {
        environment::capacity(self.processors_asked, self.relinks)
    }
}

/// Wanted benchmarks that probably have another name in head, a sentence each.
fn renamed(context: &Context, [base, head]: [&Build; 2]) -> Result<Vec<String>, Failure> {
    let filter = context.settings.selection().filter()?;
    let is_leaf = |id: &BenchmarkId| base.declared.get(id).or(head.declared.get(id)).is_some_and(|one| one.leaf);
    let may_be_wanted = |id: &BenchmarkId| {
        if is_leaf(id) { filter.keeps(&id.name) } else { filter.may_keep_below(&id.name) }
    };
    let wanted = |pair: &[&BenchmarkId; 2]| pair.iter().any(|id| may_be_wanted(id));
    let words = |[was, is]: [&BenchmarkId; 2]| {
        format!(
            "`{}` in base has the same body as `{}` in head: perhaps renamed, and not compared; `--benchmarks-from head` measures head's in both",
            was.name, is.name
        )
    };
    Ok(base.renamed(head).into_iter().filter(wanted).map(words).collect())
}

/// The two versions.
pub(super) fn both(prepared: &Prepared) -> Result<&[Version; 2], Failure> {
    prepared.versions[..].try_into().map_err(|_| Failure::usage("a comparison needs two versions"))
}
