//! `duet bisect`: the commit that made a benchmark slower.

use std::collections::BTreeMap;

use duetbench_core::bisect::{ALPHA, Costs, Found, Probe, Question, Rules, Search};
use duetbench_core::spec::defaults;
use duetbench_run::adapter::registries;
use duetbench_run::source::{Commit, VersionRequest, first_parents, merged_between, releases};
use duetbench_run::store::{BisectionId, Store};

use super::Context;
use crate::args::BisectArgs;
use crate::bisection::{RECORD_VERSION, Record};
use crate::failure::{Failure, code};
use crate::render::bisect;
use crate::seed;
use crate::session::refuse_dry_run;

mod conclusion;
mod course;
mod known;
mod probe;

use course::Course;

/// Searches, or says what a search would take; gives the exit code.
///
/// # Errors
/// Whatever keeps the search from being made.
pub fn run(args: &BisectArgs, context: &Context) -> Result<u8, Failure> {
    context.check_form("a search for a commit")?;
    let mut spec = context.settings.spec(seed::draw())?;
    // Commits are told apart, and nothing else.
    spec.harness.level_sides();
    spec.selection.filter()?;
    if spec.fleet.is_some() {
        return Err(Failure::usage("`duet bisect` measures on this machine, not on a fleet")
            .hint("leave out `--on`, also in `duet.toml`"));
    }
    if args.resume {
        // Its comparisons would only be planned, and what is only planned would be kept as a commit that cannot be compared.
        refuse_dry_run(context)?;
        let mut store = Store::open_existing(&context.db_to_write()?)?;
        let _alone = store.hold_searches()?;
        let last = kept(&store)?.into_iter().find(|(_, record)| !record.complete && record.cwd == context.cwd);
        let (id, mut record) = last.ok_or_else(|| {
            Failure::usage(format!("no search in `{}` waits for its end here", context.db().display()))
                .hint("`duet bisect GOOD BAD` begins one")
        })?;
        record.go_on(spec.effort.budget.or(record.spec.effort.budget));
        return Course::new(context, &mut store, id, record).carry_out();
    }
    let commits = commits(args, context)?;
    if context.ends_dry() {
        let inside = if args.first_parent { 0 } else { inside_merges(&commits, context)? };
        context.printer.document(&bisect::plan(&commits, inside, &forecast(commits.len() - 1)))?;
        return Ok(code::CLEAN);
    }
    let mut store = Store::open(&context.db_to_write()?)?;
    let _alone = store.hold_searches()?;
    let new = Record { first_parent: args.first_parent, ..Record::new(context.cwd.clone(), spec, commits) };
    let begun = kept(&store)?.into_iter().find(|(_, record)| !record.complete && record.asks_for_the_same(&new));
    let (id, record) = match begun {
        Some((id, mut record)) => {
            let done = record.compared.len();
            context.printer.note(&format!("going on with a search that has {done} comparisons"));
            record.go_on(new.spec.effort.budget);
            (id, record)
        }
        None => (store.add_bisection(&new)?, new),
    };
    Course::new(context, &mut store, id, record).carry_out()
}

/// Searches that can be gone on with, the newest first.
fn kept(store: &Store) -> Result<Vec<(BisectionId, Record)>, Failure> {
    let all = store.bisections::<Record>()?;
    Ok(all.into_iter().filter(|(_, record)| record.version == RECORD_VERSION && record.commits.len() > 1).collect())
}

/// The commits from the good one to the bad one.
fn commits(args: &BisectArgs, context: &Context) -> Result<Vec<Commit>, Failure> {
    let good = args.good.as_deref().ok_or_else(|| {
        Failure::usage("`duet bisect` needs a commit from before the slowdown")
            .hint("name it, as in `duet bisect v1.2.0 HEAD`, or go on with `--resume`")
    })?;
    let bad = args.bad.as_deref().unwrap_or("HEAD");
    let refused = |what: String| {
        Failure::usage(what)
            .hint("name two commits of a git checkout, as in `duet bisect v1.2.0 HEAD`, or two releases of a Go module")
    };
    match [good, bad].map(|typed| VersionRequest::parse(typed, &context.cwd)) {
        [VersionRequest::Revision(_), VersionRequest::Revision(_)] => Ok(first_parents(good, bad, &context.cwd)?),
        [VersionRequest::Published(_), VersionRequest::Published(_)] => Ok(releases(good, bad, &registries())?),
        _ => Err(refused(format!("between `{good}` and `{bad}` there is nothing to search"))),
    }
}

/// Number of commits that merges on the way from the good one to the bad one brought in.
fn inside_merges(commits: &[Commit], context: &Context) -> Result<usize, Failure> {
    match commits {
        [good, .., bad] if commits.iter().any(Commit::merges) => Ok(merged_between(&good.id, &bad.id, &context.cwd)?),
        _ => Ok(0),
    }
}

/// Build pairs that are expected for changes of these sizes, where build pairs spread as usual.
fn forecast(commits: usize) -> BTreeMap<u32, f64> {
    let pairs_alone = Costs { build_s: 0.0, visit_s: 0.0, pair_s: 1.0 };
    let expected = |percent: u32| {
        let change = (f64::from(percent) / 100.0).ln_1p();
        let ends = (5.0 * defaults::LAYOUT_SD / change).powi(2).ceil().max(4.0);
        let at = |pair: usize| change + defaults::LAYOUT_SD * if pair.is_multiple_of(2) { 0.7 } else { -0.7 };
        let mut search = Search::new(commits, Rules { alpha: ALPHA, worth: change / 2.0, fixed_layouts: false });
        let log_ratios = (0..ends as usize).map(at).collect();
        search.tell(Probe { base: 0, head: commits, found: Found::LogRatios(log_ratios) });
        ends + search.expected_s(&pairs_alone).unwrap_or(0.0)
    };
    [3, 5, 10, 30, 100].into_iter().map(|percent| (percent, expected(percent))).collect()
}

/// Fewest pairs of a comparison: an interval needs them.
fn pairs_of(question: Question) -> u32 {
    u32::try_from(question.pairs).unwrap_or(u32::MAX).clamp(defaults::UNITS_MIN, defaults::UNITS_MAX)
}
