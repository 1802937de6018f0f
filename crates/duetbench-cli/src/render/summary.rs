//! The lines around the table: what came out in a sentence, how many of each verdict, machine, modes, run.

use std::collections::BTreeMap;

use duetbench_core::analysis::{Clock, ConfirmationStanding as Standing, Ranged, RatioInterval, Warning};
use duetbench_core::plan::Excluded;
use duetbench_core::report::{BenchmarkReport, Counted, Outcome};
use duetbench_core::verdict::Extent;
use duetbench_core::{Environment, Report, Verdict};

use super::format::{self, TimeScale, benchmarks, change_within, counted, duration, many, one_line, share};
use super::order::{is_tolerated, label};
use super::{calibrate, fleet, hint, layouts, noise, warning};

/// Share of what fork pairs vary from which on an effect of layout can be told; the page has the same bound.
const LAYOUT_SHARE_MIN: f64 = 0.005;

/// Findings about the machine that are worth the room; `--format json` and `duet doctor` have all.
pub(super) const NOISES_MAX: usize = 3;

/// The interval that stands beside a verdict, as it stands in a table; empty where there is none.
pub(super) fn interval(benchmark: &BenchmarkReport) -> String {
    let clock = if is_by_cpu(benchmark) { " cpu" } else { "" };
    shown_interval(benchmark).map_or_else(String::new, |range| format!("{}{clock}", between(range)))
}

/// Whether CPU time was judged.
pub(super) fn is_by_cpu(benchmark: &BenchmarkReport) -> bool {
    benchmark.estimate.is_some_and(|estimate| estimate.clock == Clock::Cpu)
}

/// The times before and after in the same unit, as far as they are known: `1.718µs → 1.806µs`.
pub(super) fn times(benchmark: &BenchmarkReport) -> String {
    let known: Vec<f64> = benchmark.times_ns().into_iter().flatten().collect();
    let scale = TimeScale::of(&known);
    known.iter().map(|ns| format!("{}s", scale.write(*ns))).collect::<Vec<_>>().join(" → ")
}

/// The interval that stands beside a verdict: of an open question all that it leaves open, of the rest what it rests on.
pub(crate) fn shown_interval(benchmark: &BenchmarkReport) -> Option<RatioInterval> {
    match benchmark.verdict {
        Verdict::Inconclusive { .. } => benchmark.open_range(),
        _ => benchmark.judged().map(|judged| judged.interval),
    }
}

/// An interval of ratios as changes in percent.
pub(crate) fn between(interval: RatioInterval) -> String {
    format::interval(interval.low, interval.high)
}

/// The change by wall time with its interval, where CPU time was judged.
pub(super) fn by_wall(benchmark: &BenchmarkReport) -> Option<String> {
    let wall = benchmark.wall_beside()?;
    Some(format!("{} {}", change_beside(wall), between(wall.interval)))
}

/// The change whose interval stands beside it.
pub(super) fn change_beside(Ranged { ratio, interval, .. }: Ranged) -> String {
    format::change_within(ratio, interval.low, interval.high)
}

/// The ratio by fresh trials alone with its interval, where they confirmed a regression.
pub(super) fn confirmed(benchmark: &BenchmarkReport) -> Option<Ranged> {
    benchmark.confirmation.as_ref().filter(|c| c.confirmed()).map(|c| c.fresh)
}

/// The number of benchmarks of every verdict, by its word for programs.
pub(super) fn by_verdict(report: &Report) -> BTreeMap<&'static str, usize> {
    all_verdicts().iter().map(|verdict| (verdict.word(), report.count(verdict.word()))).collect()
}

/// Every verdict once, in the order in which counts are given.
pub(super) fn all_verdicts() -> [Verdict; 14] {
    let open = Extent::Open { forks_sufficient: None };
    [
        Verdict::Regression,
        Verdict::Slower(open),
        Verdict::Slower(Extent::WithinTolerance),
        Verdict::Improvement,
        Verdict::Faster(open),
        Verdict::Faster(Extent::WithinTolerance),
        Verdict::Failed { role: None, reason: String::new() },
        Verdict::Inconclusive { forks_sufficient: None },
        Verdict::NoChange,
        Verdict::NotAffected,
        Verdict::IdenticalCode,
        Verdict::Redefined(Box::new(Verdict::NoChange)),
        Verdict::BaselineOnly,
        Verdict::CandidateOnly,
    ]
}

/// The outcome of the run as people see it: one that broke off before it found anything is none that passes.
pub(super) fn outcome(report: &Report) -> Outcome {
    match report.outcome() {
        Outcome::Clean if !report.complete => Outcome::Inconclusive,
        outcome => outcome,
    }
}

/// The outcome of the run in one sentence.
pub(super) fn headline(report: &Report) -> String {
    let total = report.benchmarks.len();
    let improved = report.concerned("improvement");
    let also_improved = if improved > 0 { format!(", {improved} improved") } else { String::new() };
    let (worse, accepted) = report.worse();
    let passes = match accepted {
        0 => "for information".to_owned(),
        _ if accepted == worse => "as accepted".to_owned(),
        _ => format!("{accepted} of them as accepted"),
    };
    let none = if worse > 0 { format!("{worse} regressed, {passes}") } else { "No regression found".into() };
    match report.outcome() {
        Outcome::Failed if report.answers_nothing() => answers_nothing(report),
        Outcome::Regression => format!("{} of {} regressed{also_improved}", report.failing(), benchmarks(total)),
        Outcome::StaleWaiver => format!("{none} in {}, but a waiver has to go", benchmarks(total)),
        Outcome::Failed if !report.benchmarks.iter().any(|b| b.verdict.is_comparison()) => {
            "Nothing was compared".into()
        }
        Outcome::Failed => {
            format!("{none}, but {} of {} failed{also_improved}", report.failed(), benchmarks(total))
        }
        Outcome::Inconclusive => {
            format!("{none}, but {} of {} undecided{also_improved}", report.undecided(), benchmarks(total))
        }
        Outcome::Clean if !report.complete => format!("{none}, but the run did not come to its end{also_improved}"),
        Outcome::Clean if worse > 0 => {
            format!("{worse} of {} regressed, {passes}{also_improved}", benchmarks(total))
        }
        Outcome::Clean if improved > 0 => format!("{improved} of {} improved, none regressed", benchmarks(total)),
        Outcome::Clean if report.is_changed() => {
            format!("No change beyond the threshold in {}", of_compared(report))
        }
        Outcome::Clean if report.benchmarks.iter().all(|b| b.verdict.is_redefined()) => {
            format!("No answer: {} changed {}", benchmarks(total), if total == 1 { "itself" } else { "themselves" })
        }
        Outcome::Clean => format!("No change in {}", of_compared(report)),
    }
}

/// The benchmarks that were compared and stayed the same ones, among how many if these are more.
fn of_compared(report: &Report) -> String {
    let total = report.benchmarks.len();
    let compared = report.benchmarks.iter().filter(|b| b.was_compared() && !b.verdict.is_redefined()).count();
    if compared == total { benchmarks(total) } else { format!("{compared} of {}", benchmarks(total)) }
}

/// The sentence for a run that measured too little for a single answer, with the budget that would have been enough.
fn answers_nothing(report: &Report) -> String {
    let failed = report.failed();
    let also_failed = if failed > 0 {
        format!(", and {failed} of {} failed", benchmarks(report.benchmarks.len()))
    } else {
        String::new()
    };
    let too_little = |budget| format!(": {} is too little time", humantime::format_duration(budget));
    if !report.complete {
        return format!("{}{also_failed}: the run did not come to its end", unmeasured(report));
    }
    let why = report.spec.effort.budget.map_or_else(String::new, too_little);
    format!("{}{also_failed}{why}{}", unmeasured(report), enough(report))
}

/// Extent of measuring where it gave no answer.
fn unmeasured(report: &Report) -> &'static str {
    let none = report.benchmarks.iter().all(|b| b.forks.is_empty());
    if none { "Nothing was measured" } else { "Nothing was measured long enough for an answer" }
}

/// The budget that is enough for an answer about each benchmark, as the end of a sentence; empty where the run did not come to its end.
fn enough(report: &Report) -> String {
    hint::enough_budget(report)
        .filter(|_| report.complete)
        .map_or_else(String::new, |option| format!(", {option} would do"))
}

/// The same as the end of a line that begins otherwise; empty where there are answers.
pub(super) fn unanswered(report: &Report) -> String {
    if !report.answers_nothing() {
        return String::new();
    }
    format!("; {}{}", unmeasured(report).replacen('N', "n", 1), enough(report))
}

/// Numbers of benchmarks by verdict.
pub(super) fn counts(report: &Report) -> String {
    counts_in(report, "")
}

/// The same, with words behind the number of all.
pub(super) fn counts_in(report: &Report, words: &str) -> String {
    let each = all_verdicts().into_iter().filter_map(|verdict| {
        let count = report.count(verdict.word());
        let left_open = || {
            let open = report.benchmarks.iter().filter(|b| matches!(b.verdict, Verdict::Inconclusive { .. }));
            slowdown_left_open(open).filter(|_| matches!(verdict, Verdict::Inconclusive { .. }))
        };
        (count > 0).then(|| {
            counted_in_words(&verdict, count) + &left_open().map_or_else(String::new, |most| format!(" ({most})"))
        })
    });
    let worse = report.compared_units().filter(|one| one.verdict == Verdict::Regression).count();
    let reported = || many(worse, "regression of a reported unit", "regressions of reported units");
    let listed = each.chain((worse > 0).then(reported)).collect::<Vec<_>>().join(", ");
    let total = benchmarks(report.benchmarks.len()) + words;
    if listed.is_empty() { total } else { format!("{total}: {listed}") }
}

/// So many benchmarks with this verdict: `2 regressions`, `1 slower (size open)`.
pub(super) fn counted_in_words(verdict: &Verdict, count: usize) -> String {
    let several = match verdict {
        Verdict::Regression => "regressions",
        Verdict::Improvement => "improvements",
        Verdict::Redefined(_) => "benchmarks changed",
        other => label(other),
    };
    bracketed(&many(count, label(verdict), several))
}

/// Words with a comma, so that they can stand in a list.
fn bracketed(words: &str) -> String {
    words.split_once(", ").map_or_else(|| words.to_owned(), |(word, more)| format!("{word} ({more})"))
}

/// The words of verdicts that need an explanation, as far as they occur.
pub(super) fn words_explained(report: &Report) -> Vec<&'static str> {
    let any = |is: fn(&BenchmarkReport) -> bool| report.benchmarks.iter().any(is);
    let explained = [
        (any(|b| is_tolerated(&b.verdict)), "within tolerance: a real change, smaller than the threshold"),
        (
            any(|b| b.verdict.is_change() && b.verdict.is_open()),
            "size open: a real change; not known yet whether it exceeds the threshold",
        ),
        (
            any(|b| b.verdict.is_redefined()),
            "benchmark changed: it is another one in head, so that its times do not tell what the code does",
        ),
        (any(is_by_cpu), "cpu: judged by CPU time, because other work took the processor away"),
    ];
    explained.into_iter().filter_map(|(occurs, words)| occurs.then_some(words)).collect()
}

/// The machine and the toolchain.
pub(super) fn machine(report: &Report) -> String {
    let environment = &report.environment;
    let mut parts = vec![
        one_line(&environment.cpu_model),
        one_line(&environment.platform),
        processors(environment),
        format!("load {:.2}", environment.load_1min),
    ];
    parts.extend(environment.governor.as_ref().map(|governor| format!("governor {}", one_line(governor))));
    parts.extend(environment.steal_share.map(|steal| format!("steal {}", share(steal))));
    parts.push(one_line(&environment.toolchain));
    parts.join(", ")
}

/// The processors of a machine: `8 processors on 4 cores (SMT)`.
pub(super) fn processors(environment: &Environment) -> String {
    let processors = many(environment.cpus_usable.len(), "processor", "processors");
    let cores = many(environment.cores_physical as usize, "core", "cores");
    format!("{processors} on {cores}{}", if environment.smt { " (SMT)" } else { "" })
}

/// The modes used, the most frequent first, each with its reason.
pub(super) fn modes(report: &Report) -> String {
    let mut used: Vec<(String, usize)> = Vec::new();
    for planned in &report.plan.benchmarks {
        let words = format!("{} ({})", planned.mode.label(), one_line(&planned.mode_reason));
        match used.iter_mut().find(|(known, _)| *known == words) {
            Some((_, count)) => *count += 1,
            None => used.push((words, 1)),
        }
    }
    used.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match used.as_slice() {
        [] => "nothing was measured".into(),
        [(words, _)] => words.clone(),
        several => several.iter().map(|(words, count)| format!("{count} {words}")).collect::<Vec<_>>().join(", "),
    }
}

/// Name, fork pairs, seed and measuring time of the run.
pub(super) fn run(report: &Report) -> String {
    let forks = report.benchmarks.iter().map(|b| b.forks.len()).filter(|forks| *forks > 0);
    let measured = forks.clone().count();
    // Many benchmarks of a run that ended early may have had no turn.
    let without = if report.complete { 0 } else { planned(report).saturating_sub(measured) };
    let forks = match (forks.clone().min(), forks.max()) {
        (Some(least), Some(most)) if least == most => format!("{} each", many(least, "fork pair", "fork pairs")),
        (Some(least), Some(most)) => format!("{least} to {most} fork pairs"),
        _ => "no fork pairs".into(),
    };
    let of = if without > 0 && measured > 0 {
        format!(" of {}, none of {without}", many(measured, "benchmark", "benchmarks"))
    } else {
        String::new()
    };
    let forks = forks + &of;
    format!("{}, {forks}, seed {}, measured {}", one_line(&report.run), report.plan.seed, duration(report.measured_s))
}

/// Benchmarks that were going to be measured.
fn planned(report: &Report) -> usize {
    report.benchmarks.iter().filter(|b| b.mode.is_some()).count()
}

/// Both versions as they were asked for and as they turned out.
pub(super) fn versions(report: &Report) -> [String; 2] {
    let further = report.spec.harness.commands.iter().filter(|program| program.is_further()).count();
    let [base, head] = [&report.baseline, &report.candidate].map(format::version);
    [base, if further > 0 { format!("{} command lines", further + 1) } else { head }]
}

/// The verdict in words, with what fresh trials said of a regression.
pub(super) fn verdict_words(benchmark: &BenchmarkReport) -> String {
    let label = format!("{}{}", label(&benchmark.verdict), of_what(benchmark));
    let Some(confirmation) = &benchmark.confirmation else { return format!("{label}{}", excluded(benchmark)) };
    match confirmation.standing {
        Standing::Confirmed => format!("{label}, confirmed at +{}", share(confirmation.fresh.ratio - 1.0)),
        Standing::Open => format!("{label}, not confirmed yet"),
        // The warning beside the row says so.
        Standing::Withdrawn => label,
    }
}

/// The difference, where that need not be the code: two binaries that layout alone may tell apart.
fn of_what(benchmark: &BenchmarkReport) -> &'static str {
    let may_be_layout = |warning: &Warning| matches!(warning, Warning::SingleBuild { may_be_all: true, .. });
    let is_of_binaries = benchmark.verdict.is_change() && benchmark.warnings.iter().any(may_be_layout);
    if is_of_binaries { " of these binaries" } else { "" }
}

/// Answer that an open question gives all the same.
fn excluded(benchmark: &BenchmarkReport) -> &'static str {
    match (&benchmark.verdict, benchmark.open_range()) {
        (Verdict::Inconclusive { .. }, Some(range)) if range.high <= 1.0 => ", not slower",
        (Verdict::Inconclusive { .. }, Some(range)) if range.low >= 1.0 => ", not faster",
        _ => "",
    }
}

/// The largest slowdown that open questions leave possible, in words; absent where one of them leaves more than twice the time.
pub(super) fn slowdown_left_open<'a>(mut benchmarks: impl Iterator<Item = &'a BenchmarkReport>) -> Option<String> {
    let most = benchmarks.try_fold(1.0f64, |most, one| Some(most.max(one.open_range()?.high)))?;
    (most <= format::OPEN_MAX).then(|| format!("no slowdown above {}", share(most - 1.0)))
}

/// Machine, modes, layout, proofs and run: each with its label.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let facts = [
        // On a fleet the machine that builds is not the one that measures.
        (if report.fleet.is_some() { "built:" } else { "machine:" }, Some(machine(report))),
        ("fleet:", report.fleet.as_ref().map(fleet::calls)),
        ("models:", report.fleet.as_ref().and_then(fleet::processors)),
        ("lacking:", report.fleet.as_ref().and_then(fleet::lacking)),
        ("mode:", Some(modes(report))),
        (if is_by_call(report) { "calls:" } else { "layout:" }, layout(report)),
        ("proven:", proven(report)),
        ("sight:", report.calibration.as_ref().map(calibrate::line)),
        ("suite:", suite(report)),
        ("run:", Some(run(report))),
        ("noise:", noise(report)),
    ];
    facts.into_iter().filter_map(|(label, fact)| Some((label, fact?))).collect()
}

/// By how much the suite changed as a whole.
fn suite(report: &Report) -> Option<String> {
    let suite = report.suite?;
    let interval = between(RatioInterval { low: suite.ratio_low, high: suite.ratio_high });
    Some(format!(
        "{} {interval} in the geometric mean of {} over {} units ({}% interval); a change of {} would be seen",
        change_within(suite.ratio, suite.ratio_low, suite.ratio_high),
        benchmarks(suite.benchmarks as usize),
        suite.units,
        // All of its nines count, and none is rounded to certainty.
        (100_000.0 * suite.confidence).round() / 1000.0,
        format::detectable(suite.minimal_detectable_change).trim_start_matches('≥')
    ))
}

/// Disturbances of the run, the gravest first, and their cost.
fn noise(report: &Report) -> Option<String> {
    let mut words = noise::lines(&report.noise.findings);
    words.truncate(NOISES_MAX);
    words.extend(noise_cost(report));
    (!words.is_empty()).then(|| words.join("; "))
}

/// Cost of disturbances, where they cost anything.
pub(super) fn noise_cost(report: &Report) -> Option<String> {
    let cost = report.noise.cost.filter(|cost| *cost > 1.0)?;
    Some(format!("disturbed fork pairs made the smallest visible change {cost:.2} times as large"))
}

/// Whether calls are the units of inference: on a fleet with a single build pair.
fn is_by_call(report: &Report) -> bool {
    report.fleet.is_some() && report.plan.benchmarks.iter().all(|b| !b.configuration.design.by_build)
}

/// Differences between units of inference, where several fork pairs of each show them: layout, or on a fleet the instance, or both.
fn layout(report: &Report) -> Option<String> {
    let used = report.layouts.as_ref().map(layouts::words);
    let words: Vec<String> = used.into_iter().chain(moved_by_layout(report)).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Size of these differences for a typical benchmark.
fn moved_by_layout(report: &Report) -> Option<String> {
    let builds = report.benchmarks.iter().filter_map(|b| Some(b.estimate?.counts.builds)).max().unwrap_or(0);
    let Some(typical) = report.typical_layout() else {
        return (builds > 1).then(|| format!("{builds} build pairs at most"));
    };
    let units = if is_by_call(report) { String::new() } else { format!("{builds} build pairs at most; ") };
    let what = if is_by_call(report) {
        "which instance carries out a call"
    } else if report.fleet.is_some() {
        "where the linker put things and which instances ran them"
    } else {
        "where the linker put things"
    };
    // Without intervals nobody knows how many build pairs there were.
    if builds < 2 && !is_by_call(report) {
        return None;
    }
    if typical.share < LAYOUT_SHARE_MIN {
        return Some(format!("{units}{what} moves a benchmark by too little to tell"));
    }
    Some(format!(
        "{units}{what} moves a benchmark by {} (median standard deviation), {} of what fork pairs vary",
        share(typical.sd_between),
        share(typical.share)
    ))
}

/// Benchmarks of which it was proven that nothing changed, instead of measured, and the time that this saved.
pub(super) fn proven(report: &Report) -> Option<String> {
    let saved = |is_meant: fn(&Excluded) -> bool, what: &str| {
        let meant = report.plan.excluded.iter().filter(|excluded| is_meant(excluded));
        let saved: Vec<u64> = meant.filter_map(Excluded::saved_ns).collect();
        let seconds = saved.iter().sum::<u64>() as f64 * 1e-9;
        let words = || {
            let count = benchmarks(saved.len());
            format!("{count} {what}, proven and not measured: up to {} saved", duration(seconds))
        };
        (!saved.is_empty()).then(words)
    };
    let identical = saved(|e| matches!(e, Excluded::Identical { .. }), "of identical code");
    let not_affected = saved(|e| matches!(e, Excluded::NotAffected { .. }), "not affected: identical reachable code");
    let both: Vec<String> = identical.into_iter().chain(not_affected).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// The change in words: a number only where there is a change, benchstat's `~` where there is none, `?` where nobody knows.
/// It is the one that was judged, so that it and the interval beside it are of the same trials.
pub(crate) fn change_sign(benchmark: &BenchmarkReport) -> String {
    match benchmark.verdict.of_times() {
        Verdict::Regression | Verdict::Improvement | Verdict::Slower(_) | Verdict::Faster(_) => {
            benchmark.judged().map_or_else(|| "?".into(), change_beside)
        }
        Verdict::NoChange | Verdict::IdenticalCode | Verdict::NotAffected => "~".into(),
        Verdict::Inconclusive { .. } => "?".into(),
        Verdict::Redefined(_) | Verdict::BaselineOnly | Verdict::CandidateOnly | Verdict::Failed { .. } => {
            String::new()
        }
    }
}

/// Remarks on one benchmark: why it failed, then its warnings, each a line.
pub(super) fn remarks(benchmark: &BenchmarkReport) -> Vec<String> {
    let failure = match &benchmark.verdict {
        Verdict::Failed { role, reason } => {
            let side = role.map_or(String::new(), |role| format!("in {}: ", role.side()));
            Some(format!("{side}{}", one_line(reason)))
        }
        _ => None,
    };
    failure.into_iter().chain(benchmark.warnings.iter().map(warning::text)).collect()
}

/// The exact counts of a benchmark that differ between the versions, each a unit and both counts in words.
pub(super) fn changed_counts(benchmark: &BenchmarkReport) -> impl Iterator<Item = (&'static str, String)> {
    let units: [(&str, Option<Counted>); 2] = [("allocs/op", benchmark.allocs), ("B/op", benchmark.bytes)];
    units.into_iter().filter_map(|(unit, count)| {
        let count = count.filter(|c| c.changed)?;
        Some((unit, format!("{} → {}", counted(count.baseline), counted(count.candidate))))
    })
}
