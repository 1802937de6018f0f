//! From where on one process is steady.

use super::outliers::inliers;
use crate::stats;

/// Fewest iterations that say anything: in fewer, one that differs is neither an outlier nor a level.
pub const SERIES_MIN: usize = 10;
/// A new segment must be worth so many times the logarithm of the number of iterations (Barrett et al., section 4.2).
const PENALTY: f64 = 15.0;
/// Levels within this share of each other are the same. Barrett et al. have a millisecond, for iterations of about a second;
/// Traini et al. a share of 5 %, as an iteration's length must not matter. Below it pairing takes care: both versions drift alike.
const LEVEL_TOLERANCE: f64 = 0.05;
/// A steady part may hold so much that differs in between: a collection, a neighbour.
const DISTURBED_SHARE: f64 = 0.1;
/// A shorter steady part is none (Barrett et al. want 500 iterations of 2000).
const STEADY_SHARE_MIN: f64 = 0.25;

/// Course of the times of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// Steady from its first iteration.
    Flat,
    /// Slower at first.
    WarmsUp,
    /// Faster at first.
    SlowsDown,
    /// No steady part that is long enough.
    NoSteadyState,
}

/// Where one process became steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarmUp {
    /// The course of its times.
    pub course: Course,
    /// Iterations before it is steady; all of them where it never is.
    pub iterations: usize,
    /// Its level when it is steady, or at its end: the mean of a segment.
    pub level: f64,
}

/// Where the iterations of one process become steady, given their times; absent where there are fewer than [`SERIES_MIN`], or
/// where a time is no time.
///
/// After Barrett, Bolz-Tereick, Killick, Mount, Tratt, Virtual Machine Warmup Blows Hot and Cold (OOPSLA 2017), section 4: outliers
/// are set aside, the rest is cut into segments of one mean and variance ([`stats::changepoints`]), and the steady part are the last
/// segments as far as their levels are those of the last one. Where this differs, and why: `docs/statistics/16-warmup.md`.
/// The first 30 iterations warm up where these are around 15 and 270 others around 10.
pub fn steady_from(times: &[f64]) -> Option<WarmUp> {
    if times.len() < SERIES_MIN || !times.iter().all(|time| time.is_finite() && *time > 0.0) {
        return None;
    }
    let mut kept = inliers(times);
    let begins_at = slow_start(&kept);
    kept.retain(|i| *i >= begins_at);
    let segments = segments(times, &kept)?;
    let last = reference(&segments, times.len())?;
    let steady = steady_part(&segments, last, times.len());
    let enough = STEADY_SHARE_MIN * times.len() as f64;
    let course = match steady {
        Some(start) if (times.len() - start) as f64 >= enough => course(times, &segments, start, last),
        _ => Course::NoSteadyState,
    };
    let iterations = if course == Course::NoSteadyState { times.len() } else { steady.unwrap_or(times.len()) };
    Some(WarmUp { course, iterations, level: last.mean })
}

/// Iterations of one mean and variance.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Number of its first iteration that is no outlier.
    start: usize,
    /// Iterations up to the next segment, outliers among them.
    length: usize,
    mean: f64,
    sd: f64,
}

impl Segment {
    /// Whether another segment's level is the same as that of this one.
    fn is_level_of(&self, other: &Segment) -> bool {
        (other.mean - self.mean).abs() <= self.tolerance()
    }

    /// Distance from its level within which a segment is at it: differences of single iterations are no other level (Barrett et al. allow
    /// the variance too).
    fn tolerance(&self) -> f64 {
        self.sd.max(LEVEL_TOLERANCE * self.mean)
    }
}

/// Where a beginning ends of which most iterations are outliers. A warm-up that is short beside the window looks like that, and
/// outliers elsewhere are only set aside.
fn slow_start(kept: &[usize]) -> usize {
    let mut outliers = 0;
    let mut ends = 0;
    let mut next = kept.iter().copied().peekable();
    for i in 0..kept.last().map_or(0, |last| last + 1) {
        if next.next_if_eq(&i).is_none() {
            outliers += 1;
            if 2 * outliers > i + 1 {
                ends = i + 1;
            }
        }
    }
    ends
}

fn segments(times: &[f64], kept: &[usize]) -> Option<Vec<Segment>> {
    let values: Vec<f64> = kept.iter().map(|i| times[*i]).collect();
    let changes = stats::changepoints(&values, PENALTY * (values.len() as f64).ln()).ok()?;
    let starts: Vec<usize> = std::iter::once(0).chain(changes).collect();
    let ends = starts.iter().skip(1).copied().chain([values.len()]);
    let segment = |(start, end): (&usize, usize)| {
        let inside = &values[*start..end];
        let mean = inside.iter().sum::<f64>() / inside.len() as f64;
        let variance = inside.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / inside.len() as f64;
        let next = kept.get(end).copied().unwrap_or(times.len());
        Segment { start: kept[*start], length: next - kept[*start], mean, sd: variance.sqrt() }
    };
    Some(starts.iter().zip(ends).map(segment).collect())
}

/// The segment whose level is that of the end: the last one that is more than a disturbance.
fn reference(segments: &[Segment], all: usize) -> Option<&Segment> {
    let lasts = |segment: &&Segment| segment.length as f64 >= DISTURBED_SHARE * all as f64;
    segments.iter().rev().find(lasts).or(segments.last())
}

/// Where the longest end begins in which all but a few iterations are at the level of `last`.
fn steady_part(segments: &[Segment], last: &Segment, all: usize) -> Option<usize> {
    let mut others = 0;
    let mut steady = None;
    for segment in segments.iter().rev() {
        if last.is_level_of(segment) {
            if others as f64 <= DISTURBED_SHARE * (all - segment.start) as f64 {
                steady = Some(segment.start);
            }
        } else {
            others += segment.length;
        }
    }
    steady
}

/// The course of times that are steady from `start` on, at the level of `last`.
fn course(times: &[f64], segments: &[Segment], start: usize, last: &Segment) -> Course {
    let before = segments.iter().filter(|segment| segment.start < start);
    let is_faster = |mean: f64| mean < last.mean - last.tolerance();
    // Outliers before the first segment are a beginning of their own.
    let first = &times[..segments.first().map_or(0, |segment| segment.start)];
    let begins_faster = !first.is_empty() && is_faster(first.iter().sum::<f64>() / first.len() as f64);
    if start == 0 {
        Course::Flat
    } else if begins_faster || before.into_iter().any(|segment| is_faster(segment.mean)) {
        Course::SlowsDown
    } else {
        Course::WarmsUp
    }
}
