//! Data about one benchmark for the page's script.

use duetbench_core::analysis::{Basis, Clock, Confirmation, ConfirmationStanding, Ranged};
use duetbench_core::gate::{Breach, Standing};
use duetbench_core::picture::{Distributions, Picture};
use duetbench_core::report::{BenchmarkReport, Layout};
use duetbench_core::{Estimate, Report, Verdict};
use serde_json::{Value, json};

use super::profiled::profiled;
use super::{history, said};
use crate::render::format::{one_line, short_name, six_digits};
use crate::render::names::Short;
use crate::render::{gate, hint, instructions, summary};

/// The benchmark of this number, with the report that it is from and its picture. What is not known is null.
pub(super) fn benchmark(id: usize, one: &BenchmarkReport, report: &Report, picture: Option<&Picture>) -> Value {
    let (standing, standing_words) = standing(one, report);
    let [base, head] = one.times_ns();
    let threshold = one.threshold.unwrap_or(report.spec.decision.threshold);
    let layout = |layout: Layout| {
        json!({
            "sd_between": six_digits(layout.sd_between),
            "sd_within": six_digits(layout.sd_within),
            "share": six_digits(layout.share),
        })
    };
    json!({
        "id": id,
        "package": one_line(&one.id.package),
        "name": one_line(&one.id.name),
        // As the table has it, without what all rows have in common.
        "label": short_name(&one.id.name),
        "sentence": said::sentence(one, threshold),
        "verdict": one.verdict.word(),
        "verdict_words": summary::verdict_words(one),
        "change": summary::change_sign(one),
        "standing": standing,
        "standing_words": standing_words,
        "mode": one.mode.map(|mode| mode.label()),
        "threshold": threshold,
        "estimate": one.estimate.zip(one.judged()).map(|(estimate, judged)| estimated(one, &estimate, judged)),
        "baseline_ns": base.map(six_digits),
        "candidate_ns": head.map(six_digits),
        "allocs": one.allocs,
        "bytes": one.bytes,
        "layout": one.layout.map(layout),
        "as_linked": one.as_linked.map(six_digits),
        "confirmation": one.confirmation.as_ref().map(confirmation),
        "words": words(report, one),
        "instructions": counted(one, report),
        "profile": profiled(&one.id, report),
        "history": history::of(&one.id, report),
        "picture": picture.map(drawing),
    })
}

/// Its instructions, and the case that it is; empty where they were not counted.
fn counted(one: &BenchmarkReport, report: &Report) -> Vec<String> {
    instructions::of(report, one).map_or_else(Vec::new, |counts| instructions::lines(counts, one, report))
}

/// Standing of a benchmark under policy and waivers, the gravest if there are several; without either a regression fails.
fn standing(one: &BenchmarkReport, report: &Report) -> (Option<&'static str>, Option<String>) {
    let Some(gate) = &report.gate else {
        return ((one.verdict == Verdict::Regression).then_some("fails"), None);
    };
    let breaches: Vec<&Breach> = gate.breaches.iter().filter(|breach| breach.id == one.id).collect();
    if breaches.is_empty() {
        return (None, None);
    }
    let waived = |breach: &&Breach| matches!(breach.standing, Standing::Waived { .. });
    let standing = if breaches.iter().any(|breach| breach.standing.fails()) {
        "fails"
    } else if breaches.iter().any(waived) {
        "waived"
    } else {
        "informs"
    };
    let names = Short::of_report(report);
    let words: Vec<String> = breaches.iter().map(|breach| gate::breach(breach, &names)).collect();
    (Some(standing), Some(words.join("; ")))
}

/// Why it failed, what to know about its numbers, what an open question excludes all the same, and what would settle it.
fn words(report: &Report, one: &BenchmarkReport) -> Vec<String> {
    // That it is not slower at all, the verdict says.
    let may_be_slower = one.verdict.is_open() && one.open_range().is_some_and(|range| range.high > 1.0);
    let excluded = summary::slowdown_left_open(std::iter::once(one)).filter(|_| may_be_slower);
    summary::remarks(one).into_iter().chain(excluded).chain(hint::settling(report, one)).collect()
}

/// The number that was judged, and the clock that it was read from.
fn judged_number(estimate: &Estimate) -> String {
    let clock = match estimate.clock {
        Clock::Wall => "wall time",
        Clock::Cpu => "CPU time",
    };
    format!("{}, by {clock}", basis_words(estimate.basis))
}

fn basis_words(basis: Basis) -> &'static str {
    match basis {
        Basis::TypicalSlice => "the typical slice",
        Basis::AllSlices => "all slices together",
        Basis::SlicesInFull => "all slices in full",
    }
}

/// A ratio with its interval.
fn ranged(Ranged { ratio, interval, .. }: Ranged) -> Value {
    json!({ "ratio": ratio, "low": interval.low, "high": interval.high })
}

/// Fresh trials, all together and round by round.
fn confirmation(confirmation: &Confirmation) -> Value {
    let words = match confirmation.standing {
        ConfirmationStanding::Confirmed => "confirmed",
        ConfirmationStanding::Withdrawn => "withdrawn: fresh trials exclude a change that matters",
        ConfirmationStanding::Open => "not confirmed yet",
    };
    let rounds = confirmation.rounds.iter().map(|r| json!({ "ratio": six_digits(r.ratio), "units": r.units }));
    json!({ "words": words, "fresh": ranged(confirmation.fresh), "rounds": rounds.collect::<Vec<_>>() })
}

fn estimated(one: &BenchmarkReport, estimate: &Estimate, judged: Ranged) -> Value {
    // Both ends of all that an open question leaves open, where that is what a row shows.
    let open = summary::shown_interval(one).filter(|shown| *shown != judged.interval);
    let beside = |Ranged { basis, ratio, interval }: Ranged| json!({ "words": basis_words(basis), "ratio": ratio, "low": interval.low, "high": interval.high });
    let own = one.own_estimate();
    let detectable = own.map(|own| own.minimal_detectable_change).filter(|change| change.is_finite());
    let counts = own.map(|own| own.counts);
    json!({
        "ratio": judged.ratio,
        "low": judged.interval.low,
        "high": judged.interval.high,
        "open": open.map(|shown| [shown.low, shown.high]),
        "confidence": estimate.confidence,
        "judged": judged_number(estimate),
        "beside": one.beside().map(beside),
        "by_wall": one.wall_beside().map(ranged),
        "by_cpu": summary::is_by_cpu(one),
        "p": own.map(|own| six_digits(own.p_value)),
        "p_adjusted": own.map(|own| six_digits(own.p_adjusted)),
        "detectable": detectable.map(six_digits),
        "units": counts.map(|counts| counts.units),
        "builds": counts.map(|counts| counts.builds),
        "forks": counts.map(|counts| counts.forks),
        "slices": counts.map(|counts| counts.slices),
        "looks": own.map(|own| own.looks),
    })
}

/// A picture, with short rows instead of names: there may be a thousand of them.
fn drawing(picture: &Picture) -> Value {
    let forks = picture.forks.iter();
    let forks = forks.map(|f| {
        (f.unit, f.build, f.round, six_digits(f.baseline_ns), six_digits(f.candidate_ns), six_digits(f.ratio))
    });
    let slices = picture.slices.iter().map(|course| {
        let points = course.points.iter().map(|p| (p.slice, six_digits(p.baseline_ns), six_digits(p.candidate_ns)));
        json!({ "fork": course.fork, "points": points.collect::<Vec<_>>() })
    });
    let looks = picture.looks.iter().map(|point| {
        let look = point.look;
        (look.units, look.ratio, look.ratio_low, look.ratio_high, point.settled)
    });
    let histogram = picture.histogram.as_ref().map(|bars| {
        json!({
            "from": six_digits(bars.from),
            "width": six_digits(bars.width),
            "counts": bars.counts,
            "below": bars.below,
            "above": bars.above,
        })
    });
    json!({
        "forks": forks.collect::<Vec<_>>(),
        "slices": slices.collect::<Vec<_>>(),
        "histogram": histogram,
        "times": picture.times.as_ref().map(times),
        "looks": looks.collect::<Vec<_>>(),
    })
}

/// The spread of both sides' times over the same bars: baseline, then candidate.
fn times(both: &Distributions) -> Value {
    let sides = [&both.baseline, &both.candidate];
    json!({
        "from": six_digits(both.baseline.from),
        "width": six_digits(both.baseline.width),
        "counts": sides.map(|side| &side.counts),
        "beyond": sides.map(|side| side.below + side.above),
        "medians": both.medians_ns.map(six_digits),
    })
}
