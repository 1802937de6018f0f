//! Iterations that lie far out of what is around them.

use crate::stats::quantile_of_sorted;

/// Iterations that are looked at together.
const WINDOW: usize = 200;
/// Distance from the median beyond which an iteration is an outlier, in distances between the first and the last tenth of its window.
const FAR: f64 = 3.0;

/// The numbers of those iterations that are no outliers: each within the median ± 3 (P90 - P10) of the window of 200 around it
/// (Barrett, Bolz-Tereick, Killick, Mount, Tratt, Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017, section 4.2).
pub(super) fn inliers(times: &[f64]) -> Vec<usize> {
    let window = WINDOW.min(times.len());
    let mut sorted: Vec<f64> = times[..window].to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut start = 0;
    let mut kept = Vec::with_capacity(times.len());
    for (i, time) in times.iter().enumerate() {
        // At either end the window is the first or the last one that is whole.
        while start + window < times.len() && start + window / 2 < i {
            replace(&mut sorted, times[start], times[start + window]);
            start += 1;
        }
        let (low, median, high) =
            (quantile_of_sorted(&sorted, 0.1), quantile_of_sorted(&sorted, 0.5), quantile_of_sorted(&sorted, 0.9));
        if (time - median).abs() <= FAR * (high - low) {
            kept.push(i);
        }
    }
    kept
}

/// Takes one value out of a sorted list and puts another one in.
fn replace(sorted: &mut Vec<f64>, old: f64, new: f64) {
    let at = |sorted: &[f64], value: f64| sorted.partition_point(|v| v.total_cmp(&value).is_lt());
    let gone = at(sorted, old);
    sorted.remove(gone);
    let place = at(sorted, new);
    sorted.insert(place, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spikes_lie_out_and_levels_do_not() {
        let wave = |i: usize| 10.0 + (i % 7) as f64 / 10.0;
        let mut times: Vec<f64> = (0..500).map(wave).collect();
        times[3] = 20.0;
        times[499] = 1.0;
        times[300] = 13.0;
        let out: Vec<usize> = (0..500).filter(|i| !inliers(&times).contains(i)).collect();
        assert_eq!(out, [3, 300, 499]);
        let step: Vec<f64> = (0..500).map(|i| wave(i) + if i < 250 { 5.0 } else { 0.0 }).collect();
        assert_eq!(inliers(&step).len(), 500);
    }

    #[test]
    fn what_is_far_out_depends_on_what_is_near() {
        // The same value is usual at first and an outlier later.
        let wide = |i: usize| [10.0, 30.0][i % 2];
        let narrow = |i: usize| 10.0 + (i % 3) as f64;
        let mut times: Vec<f64> = (0..600).map(|i| if i < 200 { wide(i) } else { narrow(i) }).collect();
        times[550] = 30.0;
        let kept = inliers(&times);
        assert!(kept.contains(&1) && !kept.contains(&550));
    }
}
