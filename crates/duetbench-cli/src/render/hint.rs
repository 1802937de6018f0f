//! Hints: the next steps after a report.

use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::defaults;
use duetbench_core::{Report, Verdict};

use super::format::many;
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

/// Whether a sitting on a fleet broke off, so that nobody knows what the rest of the plan would have settled.
fn is_to_go_on(report: &Report) -> bool {
    report.fleet.is_some() && !report.complete
}

/// A run on a fleet that broke off, where it left something open.
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

/// Time that it takes to bring the open questions which so many fork pairs settle to that number, seconds: at the price of a fork pair
/// that this run paid.
fn seconds_more(report: &Report, forks: u32) -> f64 {
    let paid: usize = report.benchmarks.iter().map(|b| b.forks.len()).sum();
    let settled =
        |b: &&BenchmarkReport| b.verdict.is_open() && b.verdict.forks_sufficient().is_some_and(|n| n <= forks);
    let more = report.benchmarks.iter().filter(settled).map(|b| (forks as usize).saturating_sub(b.forks.len()));
    more.sum::<usize>() as f64 * report.measured_s / paid.max(1) as f64
}

/// A time that can be typed, rounded up: `40s`, `5m`.
fn round_time(seconds: f64) -> String {
    if seconds <= 110.0 {
        format!("{:.0}s", (seconds / 10.0).ceil() * 10.0)
    } else {
        format!("{:.0}m", (seconds / 60.0).ceil())
    }
}

/// The number of fork pairs that would settle the open questions, as far as that is affordable.
fn open_question(report: &Report) -> Option<Hint> {
    let open: Vec<_> = report.benchmarks.iter().filter(|b| b.verdict.is_open()).collect();
    let sufficient = open.iter().filter_map(|b| b.verdict.forks_sufficient());
    let bearable: Vec<u32> = sufficient.filter(|forks| *forks <= FORKS_BEARABLE).collect();
    let questions = |count| many(count, "open question", "open questions");
    let with_interval = open.iter().filter(|b| b.estimate.is_some()).count();
    let words = match bearable.iter().max() {
        _ if open.is_empty() => return None,
        Some(forks) => {
            let settles = format!("would probably settle {} of {}", bearable.len(), questions(open.len()));
            let more_s = seconds_more(report, *forks);
            match report.spec.effort.budget.is_some() {
                true => format!("`--budget {}` {settles}", round_time(report.measured_s + more_s)),
                false => format!("`--forks {forks}` {settles}, in about {} more", round_time(more_s)),
            }
        }
        None if with_interval > 0 => format!(
            "even {} fork pairs may leave {}: a machine with less load or a larger `--threshold` helps more",
            FORKS_BEARABLE,
            questions(with_interval),
        ),
        None => format!("too few fork pairs for {}: raise `--forks` or `--budget`", questions(open.len())),
    };
    Some(Hint::new(words))
}
