//! Values of a balanced nested design.

use crate::StatsError;

/// Values of any number of nested levels, each repetition of a level with the same number of repetitions inside: runs of
/// forks of iterations. Row-major, outermost level first.
///
/// A hierarchical bootstrap draws, with replacement, as many repetitions of the outermost level as there are, in each of them
/// as many of the next, and so on (Davison and Hinkley, Bootstrap methods and their application, 1997, section 3.8, the
/// variant that draws with replacement at every level; Ren et al., Journal of Applied Statistics 37, 2010).
///
/// ```
/// # use duetbench_stats::Nested;
/// let two_forks_of_three = [10.0, 11.0, 10.0, 14.0, 15.0, 15.0];
/// assert!(Nested::of(&[2, 3], &two_forks_of_three).is_ok());
/// assert!(Nested::of(&[2, 4], &two_forks_of_three).is_err());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Nested<'a> {
    shape: &'a [usize],
    values: &'a [f64],
}

impl<'a> Nested<'a> {
    /// From the repetitions of each level, outermost first, and as many finite values as they make.
    ///
    /// # Errors
    /// When there are no values, more or fewer than the shape says, or one that is not finite.
    pub fn of(shape: &'a [usize], values: &'a [f64]) -> Result<Nested<'a>, StatsError> {
        let needed = shape.iter().try_fold(1_usize, |all, size| all.checked_mul(*size)).unwrap_or(usize::MAX);
        if values.is_empty() || values.len() < needed {
            return Err(StatsError::TooFew { have: values.len(), needed: needed.max(1) });
        }
        if values.len() > needed {
            return Err(StatsError::OutOfRange { name: "number of values", value: values.len() as f64 });
        }
        if !values.iter().all(|v| v.is_finite()) {
            return Err(StatsError::NotFinite);
        }
        Ok(Nested { shape, values })
    }

    /// All values, row-major.
    pub(super) fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Repetitions of the outermost level.
    pub(super) fn outermost(&self) -> usize {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Repetitions of each level, outermost first.
    pub(super) fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The same design with other values, one for each.
    pub(super) fn with<'b>(&self, values: &'b [f64]) -> Nested<'b>
    where
        'a: 'b,
    {
        Nested { shape: self.shape, values }
    }

    /// Whether all values are the same.
    pub(super) fn is_constant(&self) -> bool {
        self.values.iter().all(|v| *v == self.values[0])
    }

    /// The repetitions of the outermost level, each with its own levels.
    pub(super) fn repetitions(&self) -> impl Iterator<Item = Nested<'a>> + use<'a> {
        let inner = self.shape.get(1..).unwrap_or(&[]);
        self.values.chunks(self.values.len() / self.outermost()).map(move |values| Nested { shape: inner, values })
    }

    /// Mean and variance of the sum over a resample.
    pub(super) fn sum_of_resample(&self) -> (f64, f64) {
        if self.shape.is_empty() {
            return (self.values[0], 0.0);
        }
        let n = self.outermost() as f64;
        let parts: Vec<(f64, f64)> = self.repetitions().map(|part| part.sum_of_resample()).collect();
        let mean = parts.iter().map(|(mean, _)| mean).sum::<f64>() / n;
        let within = parts.iter().map(|(_, variance)| variance).sum::<f64>() / n;
        let between = parts.iter().map(|(m, _)| (m - mean).powi(2)).sum::<f64>() / n;
        (n * mean, n * (within + between))
    }
}
