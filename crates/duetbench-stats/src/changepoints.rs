//! Where a series changes its level or its spread.

use super::StatsError;

/// Fewest values of a segment: of one value there is no spread.
const SEGMENT_MIN: usize = 2;
/// Variances below this share of the series' mean square count as this large. A ten-thousandth of the level is less than clocks
/// resolve, and values that are equal by chance would otherwise make a segment of any cost.
const VARIANCE_MIN: f64 = 1e-8;

/// The places at which new segments of a series begin, the first one left out, so that
///
/// `Σ over segments of (n ln v + n s² / v) + penalty · (segments - 1)`, with `s²` a segment's variance (over n) and
/// `v = max(s², floor)`,
///
/// is as small as it can be: twice the negative log likelihood of normal values whose mean and variance both change from segment
/// to segment, with a floor under the variance.
///
/// PELT (Killick, Fearnhead, Eckley, Optimal detection of changepoints with a linear computational cost, JASA 107 (2012),
/// section 3). A place is forgotten only once the better one may end a segment too, so that the answer is the optimum for segments
/// of at least two values as well. Of 100 values ±1 around 10 and 100 around 12, with a penalty of `15 ln 200`, it is `[100]`.
///
/// # Errors
/// When there is no value or one is not finite, or the penalty is negative or not a number.
pub fn changepoints(values: &[f64], penalty: f64) -> Result<Vec<usize>, StatsError> {
    if values.is_empty() {
        return Err(StatsError::TooFew { have: 0, needed: 1 });
    }
    if !values.iter().all(|v| v.is_finite()) {
        return Err(StatsError::NotFinite);
    }
    if penalty.is_nan() || penalty < 0.0 {
        return Err(StatsError::OutOfRange { name: "penalty", value: penalty });
    }
    let costs = Costs::of(values);
    if costs.floor <= 0.0 {
        return Ok(Vec::new());
    }
    Ok(walk_back(&best_last_changes(&costs, values.len(), penalty)))
}

/// For every length of the series from its start: where the last segment of its best segmentation begins.
fn best_last_changes(costs: &Costs, n: usize, penalty: f64) -> Vec<usize> {
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last_change = vec![0; n + 1];
    best[0] = -penalty;
    let mut candidates: Vec<Candidate> = Vec::new();
    for end in SEGMENT_MIN..=n {
        let start = end - SEGMENT_MIN;
        if best[start].is_finite() {
            candidates.push(Candidate { start, forgotten_from: usize::MAX });
        }
        candidates.retain(|candidate| candidate.forgotten_from > end);
        for candidate in &candidates {
            let cost = best[candidate.start] + costs.segment(candidate.start, end) + penalty;
            if cost < best[end] {
                (best[end], last_change[end]) = (cost, candidate.start);
            }
        }
        for candidate in &mut candidates {
            if best[candidate.start] + costs.segment(candidate.start, end) > best[end] {
                // From here on a change at `end` is better, but only where a segment after it has room.
                candidate.forgotten_from = candidate.forgotten_from.min(end + SEGMENT_MIN);
            }
        }
    }
    last_change
}

/// A place where the last segment may begin.
struct Candidate {
    start: usize,
    /// Series of this length or more are better off without it.
    forgotten_from: usize,
}

fn walk_back(last_change: &[usize]) -> Vec<usize> {
    let mut changes = Vec::new();
    let mut end = last_change.len() - 1;
    while end > 0 {
        end = last_change[end];
        changes.push(end);
    }
    changes.pop();
    changes.reverse();
    changes
}

/// Running sums, from which the cost of any segment follows.
struct Costs {
    sums: Vec<f64>,
    squares: Vec<f64>,
    floor: f64,
}

impl Costs {
    fn of(values: &[f64]) -> Costs {
        let n = values.len() as f64;
        // Centred, so that few digits are lost in differences of squares.
        let centre = values.iter().sum::<f64>() / n;
        let running = |power: i32| {
            let add = |sum: &mut f64, value: &f64| {
                *sum += (value - centre).powi(power);
                Some(*sum)
            };
            std::iter::once(0.0).chain(values.iter().scan(0.0, add)).collect::<Vec<f64>>()
        };
        let mean_square = values.iter().map(|v| v * v).sum::<f64>() / n;
        Costs { sums: running(1), squares: running(2), floor: VARIANCE_MIN * mean_square }
    }

    /// The cost of the values from `start` up to but not including `end`.
    fn segment(&self, start: usize, end: usize) -> f64 {
        let n = (end - start) as f64;
        let mean = (self.sums[end] - self.sums[start]) / n;
        let variance = ((self.squares[end] - self.squares[start]) / n - mean * mean).max(0.0);
        let assumed = variance.max(self.floor);
        n * (assumed.ln() + variance / assumed)
    }
}
