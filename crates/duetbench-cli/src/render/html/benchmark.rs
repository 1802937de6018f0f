//! Data about one benchmark for the page's script.

use duetbench_core::analysis::{self, Basis, Clock, ConfirmationStanding};
use duetbench_core::gate::{Breach, Standing};
use duetbench_core::picture::{Distributions, Picture};
use duetbench_core::report::{BenchmarkReport, Counted};
use duetbench_core::{Report, Verdict, report};
use serde::Serialize;

use super::history::History;
use super::profiled::Profiled;
use super::said;
use crate::render::format::{one_line, short_name};
use crate::render::{gate, hint, instructions, summary};

/// One benchmark. What is not known is null.
#[derive(Serialize)]
pub(super) struct Benchmark {
    id: usize,
    package: String,
    name: String,
    /// The name as the table has it, without what all rows have in common.
    label: String,
    /// The answer in a sentence.
    sentence: Option<String>,
    verdict: &'static str,
    verdict_words: String,
    standing: Option<&'static str>,
    standing_words: Option<String>,
    mode: Option<&'static str>,
    threshold: f64,
    estimate: Option<Estimate>,
    baseline_ns: Option<f64>,
    candidate_ns: Option<f64>,
    allocs: Option<Count>,
    bytes: Option<Count>,
    layout: Option<Layout>,
    confirmation: Option<Confirmation>,
    words: Vec<String>,
    instructions: Vec<String>,
    profile: Option<Profiled>,
    history: Option<History>,
    picture: Option<Drawing>,
}

#[derive(Serialize)]
struct Estimate {
    ratio: f64,
    low: f64,
    high: f64,
    /// Both ends of all that an open question leaves open, where that is what a row shows.
    open: Option<[f64; 2]>,
    confidence: f64,
    judged: String,
    beside: Option<Beside>,
    by_wall: Option<Ranged>,
    p: f64,
    p_adjusted: f64,
    detectable: Option<f64>,
    units: u32,
    builds: u32,
    forks: u32,
    slices: u32,
    looks: u32,
}

/// The number that was not judged.
#[derive(Serialize)]
struct Beside {
    words: &'static str,
    #[serde(flatten)]
    ranged: Ranged,
}

#[derive(Serialize)]
struct Count {
    baseline: f64,
    candidate: f64,
    changed: bool,
}

#[derive(Serialize)]
struct Layout {
    sd_between: f64,
    sd_within: f64,
    share: f64,
}

/// Fresh trials, all together and round by round.
#[derive(Serialize)]
struct Confirmation {
    words: &'static str,
    fresh: Ranged,
    rounds: Vec<Round>,
}

#[derive(Serialize)]
struct Round {
    ratio: f64,
    units: u32,
}

/// A ratio with its interval.
#[derive(Serialize)]
struct Ranged {
    ratio: f64,
    low: f64,
    high: f64,
}

/// A picture, with short rows instead of names: there may be a thousand of them.
#[derive(Serialize)]
struct Drawing {
    /// Unit, build, round, baseline and candidate in nanoseconds, ratio.
    forks: Vec<(u32, u32, u32, f64, f64, f64)>,
    slices: Vec<Course>,
    histogram: Option<Histogram>,
    times: Option<Times>,
    /// Units, ratio, lower and upper end of the interval, whether it settled the benchmark.
    looks: Vec<(u32, f64, f64, f64, bool)>,
}

#[derive(Serialize)]
struct Course {
    fork: usize,
    /// Slice, baseline and candidate in nanoseconds.
    points: Vec<(u32, f64, f64)>,
}

#[derive(Serialize)]
struct Histogram {
    from: f64,
    width: f64,
    counts: Vec<u32>,
    below: u32,
    above: u32,
}

/// How the times of both sides are spread, over the same bars: baseline, then candidate.
#[derive(Serialize)]
struct Times {
    from: f64,
    width: f64,
    counts: [Vec<u32>; 2],
    beyond: [u32; 2],
    medians: [f64; 2],
}

impl Benchmark {
    /// The benchmark of this number, with the report that it is from and its picture.
    pub(super) fn of(id: usize, one: &BenchmarkReport, of: (&Report, Option<&Picture>)) -> Benchmark {
        let (report, picture) = of;
        let (standing, standing_words) = standing(one, report);
        let [base, head] = one.times_ns();
        let threshold = one.threshold.unwrap_or(report.spec.decision.threshold);
        Benchmark {
            id,
            package: one_line(&one.id.package),
            name: one_line(&one.id.name),
            label: short_name(&one.id.name),
            sentence: said::sentence(one, threshold),
            verdict: one.verdict.word(),
            verdict_words: summary::verdict_words(one),
            standing,
            standing_words,
            mode: one.mode.map(|mode| mode.label()),
            threshold,
            estimate: one.estimate.zip(one.judged()).map(|(estimate, judged)| Estimate::of(one, &estimate, judged)),
            baseline_ns: base.map(short),
            candidate_ns: head.map(short),
            allocs: one.allocs.map(Count::of),
            bytes: one.bytes.map(Count::of),
            layout: one.layout.map(Layout::of),
            confirmation: one.confirmation.as_ref().map(Confirmation::of),
            words: words(report, one),
            instructions: counted(one, report),
            profile: Profiled::of(&one.id, report),
            history: History::of(&one.id, report),
            picture: picture.map(Drawing::of),
        }
    }
}

/// Its instructions, and the case that it is; empty where they were not counted.
fn counted(one: &BenchmarkReport, report: &Report) -> Vec<String> {
    let of_this = instructions::counted(report).find(|(counted, _)| counted.id == one.id);
    of_this.map_or_else(Vec::new, |(_, lines)| lines)
}

/// Standing of a benchmark under policy and waivers, the gravest if there are several; without either a regression fails.
fn standing(one: &BenchmarkReport, report: &Report) -> (Option<&'static str>, Option<String>) {
    let Some(gate) = &report.gate else {
        return ((one.verdict == Verdict::Regression).then_some("fails"), None);
    };
    let breaches: Vec<&Breach> = gate.breaches.iter().filter(|breach| breach.id == one.id).collect();
    let waived = |breach: &&Breach| matches!(breach.standing, Standing::Waived { .. });
    let standing = if breaches.iter().any(|breach| breach.standing.fails()) {
        "fails"
    } else if breaches.iter().any(waived) {
        "waived"
    } else {
        "informs"
    };
    let words: Vec<String> = breaches.iter().map(|breach| gate::breach(breach)).collect();
    let is_known = !breaches.is_empty();
    (is_known.then_some(standing), is_known.then(|| words.join("; ")))
}

/// Why it failed, what to know about its numbers, what an open question excludes all the same, and what would settle it.
fn words(report: &Report, one: &BenchmarkReport) -> Vec<String> {
    // That it is not slower at all, the verdict says.
    let may_be_slower = one.verdict.is_open() && one.open_range().is_some_and(|range| range.high > 1.0);
    let excluded = summary::slowdown_left_open(std::iter::once(one)).filter(|_| may_be_slower);
    summary::remarks(one).into_iter().chain(excluded).chain(hint::settling(report, one)).collect()
}

/// The number that was judged, and the clock that it was read from.
fn judged_number(estimate: &duetbench_core::Estimate) -> String {
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
    }
}

impl Ranged {
    fn of(ranged: analysis::Ranged) -> Ranged {
        let analysis::Ranged { ratio, interval } = ranged;
        Ranged { ratio, low: interval.low, high: interval.high }
    }
}

impl Confirmation {
    fn of(confirmation: &report::Confirmation) -> Confirmation {
        let words = match confirmation.standing {
            ConfirmationStanding::Confirmed => "confirmed",
            ConfirmationStanding::Withdrawn => "withdrawn: fresh trials exclude a change that matters",
            ConfirmationStanding::Open => "not confirmed yet",
        };
        let round = |r: &analysis::Round| Round { ratio: short(r.ratio), units: r.units };
        let rounds = confirmation.rounds.iter().map(round).collect();
        Confirmation { words, fresh: Ranged::of(confirmation.fresh), rounds }
    }
}

impl Estimate {
    fn of(one: &BenchmarkReport, estimate: &duetbench_core::Estimate, judged: analysis::Ranged) -> Estimate {
        let Ranged { ratio, low, high } = Ranged::of(judged);
        let counts = &estimate.counts;
        Estimate {
            ratio,
            low,
            high,
            open: summary::shown_interval(one)
                .filter(|shown| *shown != judged.interval)
                .map(|shown| [shown.low, shown.high]),
            confidence: estimate.confidence,
            judged: judged_number(estimate),
            beside: estimate
                .beside
                .map(|beside| Beside { words: basis_words(estimate.basis.other()), ranged: Ranged::of(beside) }),
            by_wall: estimate.by_wall.map(Ranged::of),
            p: short(estimate.p_value),
            p_adjusted: short(estimate.p_adjusted),
            detectable: Some(estimate.minimal_detectable_change).filter(|change| change.is_finite()).map(short),
            units: counts.units,
            builds: counts.builds,
            forks: counts.forks,
            slices: counts.slices,
            looks: estimate.looks,
        }
    }
}

impl Count {
    fn of(counted: Counted) -> Count {
        Count { baseline: counted.baseline, candidate: counted.candidate, changed: counted.changed }
    }
}

impl Layout {
    fn of(layout: report::Layout) -> Layout {
        Layout { sd_between: short(layout.sd_between), sd_within: short(layout.sd_within), share: short(layout.share) }
    }
}

impl Drawing {
    fn of(picture: &Picture) -> Drawing {
        let forks = picture.forks.iter();
        let forks =
            forks.map(|f| (f.unit, f.build, f.round, short(f.baseline_ns), short(f.candidate_ns), short(f.ratio)));
        let slices = picture.slices.iter().map(|course| Course {
            fork: course.fork,
            points: course.points.iter().map(|p| (p.slice, short(p.baseline_ns), short(p.candidate_ns))).collect(),
        });
        let looks = picture.looks.iter().map(|point| {
            let look = point.look;
            (look.units, look.ratio, look.ratio_low, look.ratio_high, point.settled)
        });
        let histogram = picture.histogram.as_ref().map(|bars| Histogram {
            from: short(bars.from),
            width: short(bars.width),
            counts: bars.counts.clone(),
            below: bars.below,
            above: bars.above,
        });
        let times = picture.times.as_ref().map(Times::of);
        Drawing { forks: forks.collect(), slices: slices.collect(), histogram, times, looks: looks.collect() }
    }
}

impl Times {
    fn of(both: &Distributions) -> Times {
        let sides = [&both.baseline, &both.candidate];
        Times {
            from: short(both.baseline.from),
            width: short(both.baseline.width),
            counts: sides.map(|side| side.counts.clone()),
            beyond: sides.map(|side| side.below + side.above),
            medians: both.medians_ns.map(short),
        }
    }
}

/// A number with six significant digits, more than a chart can show: full precision would be most of the file.
pub(super) fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits() {
        let check = |value: f64, want: f64| assert_eq!(short(value).to_bits(), want.to_bits());
        check(1.234_567_89, 1.23457);
        check(123_456_789.0, 123_457_000.0);
        check(-0.000_012_345_678, -0.000_012_345_7);
        check(0.0, 0.0);
        assert!(short(f64::NAN).is_nan() && short(f64::INFINITY).is_infinite());
    }
}
