//! One number for the warm-up of several processes.

use super::{Course, WarmUp, steady_from};

/// Warm-up of the processes of one benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForksWarmUp {
    /// Iterations after which all that become steady are so; absent where most never are.
    pub iterations: Option<usize>,
    /// Processes that were looked at.
    pub forks: usize,
    /// Those among them that never became steady.
    pub unsteady: usize,
}

/// Iterations that several processes of one benchmark need to warm up, given the times of each one's iterations; absent where none of
/// them has enough iterations to tell.
///
/// The largest number counts, not a middle one: an iteration too many costs its time, one too few is judged. Processes that never
/// become steady have no number; where they are the majority, the benchmark has none.
pub fn over_forks<'a>(forks: impl Iterator<Item = &'a [f64]>) -> Option<ForksWarmUp> {
    let found: Vec<WarmUp> = forks.filter_map(steady_from).collect();
    if found.is_empty() {
        return None;
    }
    let steady = found.iter().filter(|warm_up| warm_up.course != Course::NoSteadyState);
    let unsteady = found.len() - steady.clone().count();
    let largest = steady.map(|warm_up| warm_up.iterations).max();
    Some(ForksWarmUp { iterations: largest.filter(|_| 2 * unsteady <= found.len()), forks: found.len(), unsteady })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(warm_up: usize, level: f64) -> Vec<f64> {
        (0..100).map(|i| (if i < warm_up { 2.0 * level } else { level }) * (1.0 + (i % 5) as f64 / 500.0)).collect()
    }

    #[track_caller]
    fn check(forks: &[Vec<f64>], want: Option<(Option<usize>, usize, usize)>) {
        let found = over_forks(forks.iter().map(Vec::as_slice));
        assert_eq!(found.map(|f| (f.iterations, f.forks, f.unsteady)), want);
    }

    #[test]
    fn the_slowest_to_warm_up_decides_and_those_that_never_do_only_as_a_majority() {
        let never = || times(80, 1.0);
        check(&[times(10, 1.0), times(30, 5.0), times(0, 1.0)], Some((Some(30), 3, 0)));
        check(&[times(10, 1.0), never()], Some((Some(10), 2, 1)));
        check(&[times(10, 1.0), never(), never()], Some((None, 3, 2)));
        check(&[vec![1.0; 9]], None);
        check(&[vec![1.0; 9], times(20, 1.0)], Some((Some(20), 1, 0)));
    }
}
