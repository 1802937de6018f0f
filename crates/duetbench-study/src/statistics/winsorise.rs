//! One outlier less, as the duet paper has it.

use duetbench_core::stats::{StatsError, sorted};

/// The values, at most one of them replaced by its nearest neighbour: that which lies farther outside the range of all others
/// than `share` of the length of that range. If the lowest and the highest both do, the one that lies farther outside.
///
/// Source: Bulej et al., Duet benchmarking, ICPE 2020, section 3, which replaces "at most one observation in a run with its nearest
/// neighbor when that observation is further than 20 % away from the min-max range of the remaining observations". The paper does
/// not say of what the 20 % are; here they are of the range's length, so that shifting all values changes nothing.
/// Values keep their order. Fewer than three have no range to be outside of and stay as they are; of fewer than seven even evenly
/// spaced ones lose an end.
///
/// # Errors
/// Without values, with one that is not finite, or when `share` is negative or NaN.
///
/// ```
/// # use duetbench_study::statistics::winsorise;
/// // The range of the others is 10 to 16, a fifth of its length 1.2.
/// let rest = [12.0, 10.0, 11.0, 13.0, 14.0, 15.0, 16.0];
/// assert_eq!(winsorise(&[&rest[..], &[30.0]].concat(), 0.2), Ok([&rest[..], &[16.0]].concat()));
/// assert_eq!(winsorise(&[&rest[..], &[17.0]].concat(), 0.2), Ok([&rest[..], &[17.0]].concat()));
/// ```
pub fn winsorise(values: &[f64], share: f64) -> Result<Vec<f64>, StatsError> {
    StatsError::check("share", share, -f64::MIN_POSITIVE, f64::INFINITY)?;
    let ascending = sorted(values, 1)?;
    let mut result = values.to_vec();
    let n = ascending.len();
    if n < 3 {
        return Ok(result);
    }
    let (lowest, second, last_but_one, highest) = (ascending[0], ascending[1], ascending[n - 2], ascending[n - 1]);
    let below = Outside { value: lowest, neighbour: second, range: highest - second };
    let above = Outside { value: highest, neighbour: last_but_one, range: last_but_one - lowest };
    let farther = if below.distance() > above.distance() { [below, above] } else { [above, below] };
    if let Some(outside) = farther.iter().find(|o| o.distance() > share * o.range)
        && let Some(value) = result.iter_mut().find(|v| **v == outside.value)
    {
        *value = outside.neighbour;
    }
    Ok(result)
}

/// A value at an end, with its neighbour and the length of the range of all others.
struct Outside {
    value: f64,
    neighbour: f64,
    range: f64,
}

impl Outside {
    fn distance(&self) -> f64 {
        (self.value - self.neighbour).abs()
    }
}
