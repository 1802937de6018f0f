//! Stability metrics: how unstable the values of a configuration are, relative to their location.
//!
//! A metric is one file here with its exact value, and where there is one a cheap bound that lets a search reject
//! a configuration without it; a line in the list below makes it known.

mod cv;
mod rciw1;
mod rciw2;
mod rciw3;
mod rmad;
mod terms;

pub use terms::Terms;

use crate::stats::{Moments, median};

/// The benchmark's result that goes with a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The mean of all values.
    Mean,
    /// Their median.
    Median,
}

words!(Location: Mean "mean", Median "median");

impl Location {
    /// The result of these values; absent without any.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        match self {
            Location::Mean => (!values.is_empty()).then(|| mean_of(values)),
            Location::Median => median(values).ok(),
        }
    }
}

/// A metric of stability.
pub trait Stability: Sync {
    /// Its exact value for values in ascending order, at least one; absent where it has none.
    fn value(&self, ascending: &[f64], terms: &Terms) -> Option<f64>;

    /// A lower bound of its value, from the moments of the values alone.
    fn at_least(&self, _moments: &Moments, _terms: &Terms) -> f64 {
        0.0
    }

    /// A lower bound of its value, from values in ascending order; for metrics whose value takes longer than that.
    fn at_least_in_order(&self, _ascending: &[f64], _terms: &Terms) -> f64 {
        0.0
    }

    /// Whether it falls with the square root of the number of values, as the width of an interval does.
    fn falls_with_number(&self) -> bool {
        true
    }
}

/// The enumeration of metrics, from one line each.
macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident $word:literal, $location:ident = $definition:expr,)*) => {
        /// Instability of the values of a configuration.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Metric {
            $($(#[$doc])* $name,)*
        }

        words!(Metric, ALL, from_word: $($name $word),*);

        impl Metric {
            /// The benchmark's result that goes with it.
            pub fn location(self) -> Location {
                match self {
                    $(Metric::$name => Location::$location,)*
                }
            }

            /// The way it is measured.
            pub fn stability(self) -> &'static dyn Stability {
                match self {
                    $(Metric::$name => &$definition,)*
                }
            }
        }
    };
}

metrics! {
    /// Coefficient of variation.
    Cv "cv", Mean = cv::Cv,
    /// Relative median absolute deviation.
    Rmad "rmad", Median = rmad::Rmad,
    /// Relative width of the percentile interval of the mean.
    Rciw1 "rciw1", Mean = rciw1::Rciw1,
    /// Relative width of the t-interval of the mean.
    Rciw2 "rciw2", Mean = rciw2::Rciw2,
    /// Relative width of the percentile interval of the median.
    Rciw3 "rciw3", Median = rciw3::Rciw3,
}

/// Margin for a width that was estimated from moments: it rejects only if it is so many times too large. The first number is the
/// margin where the mean is as good as normal; it grows by the second times skewness and excess, from which the estimate is made, up
/// to the last one.
const MARGIN: (f64, f64, f64) = (1.03, 1.5, 1.5);
/// Estimates from moments are about the far tails that they are made for; intervals of a lesser confidence are always computed.
const CONFIDENCE_MIN: f64 = 0.9;

/// A spread in relation to a location. No spread is none in whatever relation.
fn relative(spread: f64, location: f64) -> f64 {
    if spread == 0.0 { 0.0 } else { spread / location.abs() }
}

/// The mean of values, of which there is at least one.
fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle of values in ascending order, of which there is at least one.
fn middle_of(ascending: &[f64]) -> f64 {
    ascending[(ascending.len() - 1) / 2].midpoint(ascending[ascending.len() / 2])
}

/// A lower bound of the width of an interval of the mean, with hardly an exception: see [`mean_interval_screen`].
///
/// [`mean_interval_screen`]: crate::stats::mean_interval_screen
fn mean_width_at_least(moments: &Moments, terms: &Terms) -> f64 {
    if terms.confidence < CONFIDENCE_MIN {
        return 0.0;
    }
    let n = moments.n as f64;
    let off_normal = moments.skew.abs() / n.sqrt() + moments.excess.abs() / n;
    let margin = (MARGIN.0 + MARGIN.1 * off_normal).min(MARGIN.2);
    crate::stats::mean_interval_screen(moments, terms.confidence).map_or(0.0, |screen| screen.width() / margin)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tune::Rules;

    fn value(metric: Metric, values: &[f64]) -> Option<f64> {
        let mut ascending = values.to_vec();
        ascending.sort_by(f64::total_cmp);
        metric.stability().value(&ascending, &Terms::of(&Rules::of(metric), values.len()))
    }

    #[track_caller]
    fn check(metric: Metric, values: &[f64], want: f64) {
        let is = value(metric, values).unwrap();
        assert!((is - want).abs() < 1e-9, "{} {is} {want}", metric.word());
    }

    #[test]
    fn metrics_have_known_values() {
        check(Metric::Cv, &[8.0, 12.0], 0.2);
        check(Metric::Cv, &[1.0, 2.0, 3.0, 4.0], 1.25_f64.sqrt() / 2.5);
        check(Metric::Rmad, &[1.0, 2.0, 3.0, 4.0, 100.0], 1.0 / 3.0);
        check(Metric::Rmad, &[1.0, 2.0, 4.0, 8.0], 1.5 / 3.0);
        check(Metric::Rciw1, &[1.0, 2.0, 4.0], 3.0 / (7.0 / 3.0));
        check(Metric::Rciw1, &[1.0, 2.0, 4.0, 9.0], 6.5 / 4.0);
        let squares: Vec<f64> = (1..=25).map(|k| f64::from(k * k)).collect();
        check(Metric::Rciw3, &squares, (361.0 - 49.0) / 169.0);
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        check(Metric::Rciw3, &ten, 7.0 / 5.5);
    }

    #[test]
    fn words_lead_back_to_their_metric() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_word(metric.word()), Some(metric));
        }
        assert_eq!(Metric::ALL.map(Metric::word), ["cv", "rmad", "rciw1", "rciw2", "rciw3"]);
        assert_eq!(Metric::from_word("rciw"), None);
    }

    #[test]
    fn results_go_with_their_metric() {
        let values = [1.0, 2.0, 9.0];
        let results = Metric::ALL.map(|metric| metric.location().of(&values).unwrap());
        assert_eq!(results, [4.0, 2.0, 4.0, 4.0, 2.0]);
        assert_eq!(Location::Mean.of(&[]), None);
        assert_eq!(Location::Median.of(&[]), None);
    }

    #[test]
    fn equal_values_are_perfectly_stable_even_if_they_are_zero() {
        for metric in Metric::ALL {
            for value_of_all in [0.1, 0.0] {
                let is = value(metric, &[value_of_all; 7]).unwrap();
                assert!(is < 1e-15, "{} {is}", metric.word());
            }
        }
    }

    fn samples() -> impl Strategy<Value = Vec<f64>> {
        let heavy = (0.5_f64..2.0, 0.0_f64..4.0).prop_map(|(base, tail)| 1000.0 * base + tail.exp().powi(2));
        proptest::collection::vec(heavy, 3..40)
    }

    proptest! {
        #[test]
        fn metrics_do_not_depend_on_the_unit(values in samples(), unit in 0.001_f64..1000.0) {
            let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
            for metric in Metric::ALL {
                let (a, b) = (value(metric, &values), value(metric, &scaled));
                if let (Some(a), Some(b)) = (a.filter(|v| v.is_finite()), b.filter(|v| v.is_finite())) {
                    prop_assert!((a - b).abs() <= 1e-6 * a.abs(), "{} {} {}", metric.word(), a, b);
                }
            }
        }

        #[test]
        fn what_is_added_to_all_values_changes_the_location_only(values in samples(), shift in 0.0_f64..1000.0) {
            let shifted: Vec<f64> = values.iter().map(|v| v + shift).collect();
            for metric in Metric::ALL {
                let spread = |values: &[f64]| {
                    Some(value(metric, values)? * metric.location().of(values)?).filter(|v| v.is_finite())
                };
                if let (Some(a), Some(b)) = (spread(&values), spread(&shifted)) {
                    prop_assert!((a - b).abs() <= 1e-6 * a.abs(), "{} {} {}", metric.word(), a, b);
                }
            }
        }

        #[test]
        fn no_value_is_below_its_bounds(values in samples()) {
            let mut ascending = values;
            ascending.sort_by(f64::total_cmp);
            let moments = Moments::of(&ascending).unwrap();
            for metric in Metric::ALL {
                let terms = Terms::of(&Rules::of(metric), ascending.len());
                let definition = metric.stability();
                let exact = definition.value(&ascending, &terms).unwrap_or(f64::INFINITY);
                let (early, late) =
                    (definition.at_least(&moments, &terms), definition.at_least_in_order(&ascending, &terms));
                prop_assert!(early <= exact && late <= exact, "{} {} {} {}", metric.word(), early, late, exact);
            }
        }
    }
}
