//! Hints: the next steps after a report.

use std::time::Duration;

use duetbench_core::analysis::Warning;
use duetbench_core::plan::OVER_EVEN;
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::defaults;
use duetbench_core::{Report, Verdict};

use super::format::{many, typed_time};
use super::{command_line, order};

/// Most fork pairs that are worth recommending.
const FORKS_BEARABLE: u32 = 400;
/// Fewest fork pairs with which to look closer at a regression.
const FORKS_CLOSER: u32 = 2 * defaults::UNITS;

/// A piece of advice.
pub(super) struct Hint {
    /// Our own words, with flags in backticks.
    pub(super) words: String,
    /// The command that the words end with, where there is one. It can hold a benchmark's name, so that foreign words are
    /// here and nowhere else.
    pub(super) command: Option<String>,
}

impl Hint {
    fn new(words: impl Into<String>) -> Hint {
        Hint { words: words.into(), command: None }
    }
}

/// One piece of advice for every kind of verdict that calls for one. A run without open questions gets none.
pub(super) fn hints(report: &Report) -> Vec<Hint> {
    if report.benchmarks.is_empty() {
        return vec![Hint::new(
            "no benchmark was selected: check `--bench`, `--exclude` and `--packages` (`duet list` shows all)",
        )];
    }
    if !report.benchmarks.iter().any(|b| b.verdict.is_comparison() || matches!(b.verdict, Verdict::Failed { .. })) {
        return vec![Hint::new(
            "no benchmark exists in both versions: was it renamed, or is the base older than its benchmarks",
        )];
    }
    let offered = |hint: &Hint| hint.command.is_none() || command_line::may_be_offered(report);
    let open = if is_to_go_on(report) { goes_on(report) } else { open_question(report) };
    [regression(report), failure(report), open].into_iter().flatten().filter(offered).collect()
}

/// Whether a run broke off, so that nobody knows what the rest of the plan would have settled.
fn is_to_go_on(report: &Report) -> bool {
    !report.complete
}

/// A run that broke off, where it left something open.
fn goes_on(report: &Report) -> Option<Hint> {
    let abandoned = report.fleet.as_ref().is_some_and(|fleet| !fleet.abandoned.is_empty());
    let wanted = abandoned || report.benchmarks.iter().any(|b| b.verdict.is_open());
    wanted.then(|| Hint { words: "go on with the run with".into(), command: Some(command_line::goes_on(report)) })
}

/// The worst regression, measured alone and for longer.
fn regression(report: &Report) -> Option<Hint> {
    let changed = report.benchmarks.iter().filter(|b| matches!(b.verdict, Verdict::Regression));
    let worst = *order::groups(changed).first()?.rows.first()?;
    let forks = u32::try_from(worst.forks.len()).unwrap_or(u32::MAX).saturating_mul(2).max(FORKS_CLOSER);
    let command = Some(command_line::alone(report, &worst.id, forks));
    Some(Hint { words: "look closer at the largest regression with".into(), command })
}

/// The first failure, once more, and where it costs nothing: what does not run on a fleet may run here.
fn failure(report: &Report) -> Option<Hint> {
    // A benchmark that failed for reasons of the fleet may not fail elsewhere, and is gone on with.
    let by_fleet = |id| report.fleet.as_ref().is_some_and(|fleet| fleet.abandoned.contains(id));
    let failed = report.benchmarks.iter().find(|b| matches!(b.verdict, Verdict::Failed { .. }) && !by_fleet(&b.id))?;
    let command = Some(command_line::alone_here(report, &failed.id, defaults::UNITS_MIN));
    Some(Hint { words: "run the first failure alone with".into(), command })
}

/// A way that would probably settle an open question.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// Fork pairs in all, where it had enough for an interval.
    forks: Option<u32>,
    /// Time for those that it lacks, seconds.
    more_s: f64,
    /// Time for all of them, seconds; 0 where they are not known.
    all_s: f64,
}

impl Need {
    /// That of an open question; absent where nothing bearable would settle it. The price of a fork pair is the predicted one, held
    /// against what this run paid.
    fn of(report: &Report, one: &BenchmarkReport) -> Option<Need> {
        if !one.verdict.is_open() {
            return None;
        }
        if let Some(Warning::OutOfTime { needs_s, .. }) = one.warnings.first() {
            return Some(Need { forks: None, more_s: *needs_s, all_s: 0.0 });
        }
        let forks = one.verdict.forks_sufficient().filter(|forks| *forks <= FORKS_BEARABLE)?;
        // Where the plan does not know them, all cost the same.
        let predicted =
            |b: &BenchmarkReport| report.planned(&b.id).map_or(1.0, |planned| planned.trial_predicted_ns as f64);
        let paid: f64 = report.benchmarks.iter().map(|b| b.forks.len() as f64 * predicted(b)).sum();
        let price_s = if paid > 0.0 { report.measured_s * predicted(one) / paid } else { 0.0 };
        let lacking = (forks as usize).saturating_sub(one.forks.len());
        Some(Need { forks: Some(forks), more_s: lacking as f64 * price_s, all_s: f64::from(forks) * price_s })
    }
}

/// The option that brings so much more, by what the user has set: the time where that is bounded, or else the fork pairs.
fn knob(report: &Report, needs: &[Need]) -> Option<(String, f64)> {
    let more_s = needs.iter().map(|need| need.more_s).sum::<f64>();
    let effort = &report.spec.effort;
    if effort.budget.is_none()
        && let Some(forks) = needs.iter().filter_map(|need| need.forks).max()
    {
        return Some((format!("`--forks {forks}`"), more_s));
    }
    (effort.forks.is_none()).then(|| (format!("`--budget {}`", typed_time(budget_s(report, needs))), more_s))
}

/// The budget that leaves the first round the time for so much more, seconds: each benchmark may have [`OVER_EVEN`] times its even share.
fn budget_s(report: &Report, needs: &[Need]) -> f64 {
    if report.answers_nothing() {
        return first_answers_s(report);
    }
    let more_s = needs.iter().map(|need| need.more_s).sum::<f64>();
    let largest_s = needs.iter().map(|need| need.all_s).fold(0.0, f64::max);
    let allowed_s = largest_s * report.plan.benchmarks.len() as f64 / OVER_EVEN;
    looked_s(report) + (report.measured_s + more_s).max(allowed_s) / report.plan.first_round_share()
}

/// The part of a budget that first trials took, seconds.
fn looked_s(report: &Report) -> f64 {
    let measuring_ns = report.plan.budget_ns.map(Duration::from_nanos);
    let budget = report.spec.effort.budget.zip(measuring_ns);
    budget.map_or(0.0, |(all, rest)| all.saturating_sub(rest).as_secs_f64())
}

/// The budget that would be enough for a first answer about each benchmark, where one was set.
pub(super) fn enough_budget(report: &Report) -> Option<String> {
    report.spec.effort.budget?;
    Some(format!("`--budget {}`", typed_time(first_answers_s(report))))
}

/// Time for a first answer about each benchmark, seconds.
fn first_answers_s(report: &Report) -> f64 {
    looked_s(report) + report.plan.forecast().all_ns as f64 * 1e-9
}

/// The way to settle one open question, in words.
pub(super) fn settling(report: &Report, one: &BenchmarkReport) -> Option<String> {
    let (option, more_s) = knob(report, &[Need::of(report, one)?])?;
    Some(format!("{option} would probably settle it, in about {} more", typed_time(more_s)))
}

/// Ways to settle the open questions, as far as that is affordable.
fn open_question(report: &Report) -> Option<Hint> {
    let open: Vec<_> = report.benchmarks.iter().filter(|b| b.verdict.is_open()).collect();
    if open.is_empty() {
        return None;
    }
    let needs: Vec<Need> = open.iter().filter_map(|one| Need::of(report, one)).collect();
    let questions = |count| many(count, "open question", "open questions");
    let with_interval = open.iter().filter(|b| b.estimate.is_some()).count();
    let words = match knob(report, &needs) {
        Some((option, more_s)) if !needs.is_empty() => {
            let settled = match (needs.len(), open.len()) {
                (1, 1) => "the open question".to_owned(),
                (some, all) if some == all => format!("all {}", questions(all)),
                (some, all) => format!("{some} of {}", questions(all)),
            };
            format!("{option} would probably settle {settled}, in about {} more", typed_time(more_s))
        }
        _ if with_interval > 0 => format!(
            "even {} fork pairs may leave {}: a machine with less load or a larger `--threshold` helps more",
            FORKS_BEARABLE,
            questions(with_interval),
        ),
        _ => format!("too few fork pairs for {}: raise `--forks` or `--budget`", questions(open.len())),
    };
    Some(Hint::new(words))
}
