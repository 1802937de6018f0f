//! Words for what is the matter with a run as a whole.

use duetbench_core::Report;
use duetbench_core::analysis::{SelfTest, SelfTestKind, SelfTested, self_tests};
use duetbench_core::plan::{Mode, PlannedBenchmark, Profile, Style};
use duetbench_core::spec::Metric;
use duetbench_core::verdict::Verdict;

use crate::render::format::{benchmarks, one_line};

/// The findings of the tests that a run makes of itself, a sentence each.
///
/// Signs and p-values are only asked where both versions are the same files. A skewed benchmark is told where the mean over layouts
/// differs from the typical one by more than half its threshold.
pub fn flagged(report: &Report) -> Vec<String> {
    let cold_shares: Vec<Option<f64>> = report.plan.benchmarks.iter().map(|b| b.cold_share_left(b.mode)).collect();
    let run = SelfTested {
        plan: &report.plan,
        reports: &report.benchmarks,
        same_version: is_same(report),
        cold_shares: &cold_shares,
    };
    let tests = self_tests(&run);
    let flagged = tests.iter().filter(|test| test.is_flagged()).filter_map(|test| words(report, test));
    flagged.chain(unseen(report)).chain(perhaps_of_several_cores(report)).collect()
}

/// Whether both versions are the same files: what programs read by themselves is in no digest of theirs, nor are a test's data.
fn is_same(report: &Report) -> bool {
    let [base, head] = [&report.baseline, &report.candidate].map(|info| (&info.artifact_digest, &info.resolved));
    base == head
}

/// Longer benchmarks of which a budget had no time to see how many cores they keep busy.
fn perhaps_of_several_cores(report: &Report) -> Option<String> {
    let has_failed =
        |b: &PlannedBenchmark| report.benchmark(&b.id).is_none_or(|one| matches!(one.verdict, Verdict::Failed { .. }));
    let is_unseen = |b: &&PlannedBenchmark| {
        b.mode == Mode::InterleavedOneCore && b.profile.is_none() && !b.may_be_cold() && !has_failed(b)
    };
    let unseen: Vec<&PlannedBenchmark> =
        report.plan.benchmarks.iter().filter(is_unseen).filter(|b| b.style != Style::Parallel).collect();
    let first = unseen.first().filter(|_| report.plan.budget_ns.is_some() && report.spec.fleet.is_none())?;
    Some(format!(
        "the budget had no time for a first trial of {}, as `{}`: should they keep several cores busy, they were measured on one all the same",
        benchmarks(unseen.len()),
        one_line(&first.id.name)
    ))
}

/// Benchmarks for whose first trials a budget had no time, or not for those in turns, while others had them.
fn unseen(report: &Report) -> Option<String> {
    let in_turns = |b: &&PlannedBenchmark| b.mode == Mode::InterleavedOneCore && b.may_be_cold();
    let all = report.plan.benchmarks.iter().filter(in_turns).count();
    let is_seen = |profile: Profile| profile.cold_share.is_some() || profile.keeps_several_cores_busy();
    let unseen = report.plan.benchmarks.iter().filter(in_turns).filter(|b| !b.profile.is_some_and(is_seen)).count();
    let no_time = report.plan.budget_ns.is_some() && unseen > 0 && unseen < all;
    no_time.then(|| {
        format!(
            "the budget had no time for a first trial of {unseen} of {all} benchmarks: where caches are cold when versions take turns, changes of them read smaller than they are, and their intervals do not reach on for it"
        )
    })
}

fn words(report: &Report, test: &SelfTest) -> Option<String> {
    let SelfTest { kind, statistic, of, .. } = *test;
    let name = |benchmark: usize| &report.plan.benchmarks[benchmark].id.name;
    match kind {
        SelfTestKind::SignBalance => Some(format!(
            "the same code leans to one side in {statistic:.0} of {of} units, more than chance explains: something favours a side, so that verdicts of this run may be wrong"
        )),
        SelfTestKind::SmallPValues => Some(format!(
            "the same code gives more small p-values than it should, over {of} benchmarks: verdicts of this run may be wrong"
        )),
        SelfTestKind::SuccessiveUnits => Some(format!(
            "successive measurements resemble each other (correlation {statistic:.2}), which makes intervals too narrow: the machine drifted during the run"
        )),
        SelfTestKind::Skewness { benchmark, ratio_mean, ratio_typical } => {
            let planned = &report.plan.benchmarks[benchmark];
            let threshold = report.spec.thresholds().of(&planned.id, &Metric::Time);
            let differ = (ratio_mean / ratio_typical).ln().abs() > threshold.ln_1p() / 2.0;
            differ.then(|| {
                format!(
                    "`{}` changed by {:+.2}% in a typical layout, but by {:+.2}% on average: few layouts are much slower or faster",
                    name(benchmark),
                    100.0 * (ratio_typical - 1.0),
                    100.0 * (ratio_mean - 1.0)
                )
            })
        }
        SelfTestKind::ColdShare { benchmark } => Some(format!(
            "{:.0}% of each slice of `{}` goes into getting warm, so that a change of it reads smaller than it is",
            100.0 * statistic,
            name(benchmark)
        )),
    }
}
