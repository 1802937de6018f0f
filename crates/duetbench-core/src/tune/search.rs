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
