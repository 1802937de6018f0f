//! µOpTime's Algorithm 1 for one benchmark.

use super::in_order::Scratch;
use super::subject::Subject;

/// A configuration, by its position, and the metric's value for it.
pub(super) type Found = (usize, f64);

/// The cheapest stable configuration; among those that take the same time the most stable one, among equally stable ones the one that
/// comes first, outer levels growing last. Absent where none is stable.
///
/// Looks at configurations by time and stops at the first time at which one is stable, so that most of them are never looked at.
/// It needs not assume that more repetitions are more stable, which they often are not.
pub(super) fn screened(subject: &Subject<'_>) -> Option<Found> {
    let mut scratch = Scratch::default();
    subject.configurations.groups().find_map(|group| {
        let values = group.into_iter().filter_map(|position| {
            let value = subject.stable_value(subject.configurations.at(position), &mut scratch)?;
            Some((position, value))
        });
        // The first of equal ones.
        values.min_by(|a, b| a.1.total_cmp(&b.1))
    })
}

/// The same from the exact values of all configurations, with nothing left out: Algorithm 1 to the letter.
pub(super) fn exhaustive(subject: &Subject<'_>, is_stable: impl Fn(f64) -> bool) -> Option<Found> {
    let (all, mut scratch) = (&subject.configurations, Scratch::default());
    let values: Vec<Option<f64>> =
        (0..all.len()).map(|position| subject.value(all.at(position), &mut scratch)).collect();
    let stable = |position: usize| Some((position, values[position].filter(|value| is_stable(*value))?));
    let least = |group: Vec<usize>| group.into_iter().filter_map(stable).min_by(|a, b| a.1.total_cmp(&b.1));
    all.groups().filter_map(least).next()
}
