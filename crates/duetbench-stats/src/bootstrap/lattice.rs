//! Values that are multiples of a step, as rounded ones are.

/// The largest step of which all distances between values are multiples, if there is one that is at least `least`.
///
/// Euclid's algorithm on the distances from the first value. Two distances count as one if they differ by less than a
/// millionth of `least`, since the steps of decimal numbers are no doubles.
pub(super) fn common_step(values: &[f64], least: f64) -> Option<f64> {
    let (origin, tolerance) = (*values.first()?, least * 1e-6);
    let mut step: f64 = 0.0;
    for value in values {
        let distance = (value - origin).abs();
        step = common_divisor(step, distance, tolerance);
        if step > 0.0 && step < least {
            return None;
        }
    }
    let is_multiple = |value: &f64| {
        let steps = (value - origin) / step;
        (steps - steps.round()).abs() < 1e-4
    };
    (step > 0.0 && values.iter().all(is_multiple)).then_some(step)
}

fn common_divisor(a: f64, b: f64, tolerance: f64) -> f64 {
    let (mut greater, mut less) = (a.max(b), a.min(b));
    while less > tolerance {
        let rest = greater % less;
        greater = less;
        less = if less - rest <= tolerance { 0.0 } else { rest };
    }
    greater
}

#[cfg(test)]
mod tests {
    use super::common_step;

    #[test]
    fn rounded_values_have_the_step_of_their_rounding() {
        let step = common_step(&[22.09, 22.06, 22.13, 22.09, 25.0], 0.001).unwrap();
        assert!((step - 0.01).abs() < 1e-9, "{step}");
    }

    #[test]
    fn a_step_may_be_larger_than_the_rounding() {
        let step = common_step(&[3.0, 9.0, 15.0, 0.0], 0.001).unwrap();
        assert!((step - 3.0).abs() < 1e-9, "{step}");
    }

    #[test]
    fn finer_steps_than_asked_for_are_none() {
        assert_eq!(common_step(&[22.09, 22.06, 22.13], 0.02), None);
        assert_eq!(common_step(&[0.1, std::f64::consts::PI, std::f64::consts::E, 2.0_f64.sqrt()], 1e-3), None);
    }

    #[test]
    fn without_distances_there_is_no_step() {
        assert_eq!(common_step(&[5.0, 5.0], 0.1), None);
        assert_eq!(common_step(&[], 0.1), None);
    }
}
