//! Estimates the change of one benchmark from its fork pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::unit::units;
use super::{Basis, Choice, Clock, ForkPair, count};
use super::{RatioInterval, finite_exp, with_hidden};
use crate::plan::Design;
use crate::spec::{Decision, defaults};
use crate::stats::{self, Level, Sequential, Spend, StatsError, TrimmedT};

/// Method by which an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t over units.
    StudentT,
    /// 10 %-trimmed mean of units with Yuen's standard error.
    YuenTrimmedT,
}

/// Number of repetitions at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Units of inference: build pairs, or fork pairs of a single build pair.
    pub units: u32,
    /// Build pairs.
    pub builds: u32,
    /// Fork pairs.
    pub forks: u32,
    /// Slice pairs in all.
    pub slices: u32,
}

/// One number of a benchmark with its interval. Ratios are candidate to baseline, over 1 is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ranged {
    /// The number.
    pub basis: Basis,
    /// Point estimate.
    pub ratio: f64,
    /// Its interval, at the confidence of the estimate that it belongs to.
    pub interval: RatioInterval,
}

impl Ranged {
    /// A mean log ratio on the scale of ratios, with its interval at this two-sided error.
    ///
    /// # Errors
    /// When the error is not strictly between 0 and 1.
    fn of(basis: Basis, log_ratio: &TrimmedT, alpha: f64) -> Result<Ranged, StatsError> {
        let (low, high) = log_ratio.interval(alpha)?;
        Ok(Ranged { basis, ratio: finite_exp(log_ratio.mean), interval: RatioInterval::of_logs(low, high) })
    }
}

/// The change of one benchmark, with its uncertainty. Ratios are candidate to baseline, over 1 is slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Point estimate.
    pub ratio: f64,
    /// Lower end of the interval.
    pub ratio_low: f64,
    /// Upper end of the interval.
    pub ratio_high: f64,
    /// Confidence of the interval, as a fraction; it holds however often the data were looked at.
    pub confidence: f64,
    /// The number of every fork pair that was judged.
    pub basis: Basis,
    /// The clock that it was read from.
    #[serde(default)]
    pub clock: Clock,
    /// The number that was not judged but must also lie within the threshold for *no change*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Ranged>,
    /// The judged number by wall time, where CPU time was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_wall: Option<Ranged>,
    /// Method that gave the interval.
    pub method: Method,
    /// Times the data were looked at.
    pub looks: u32,
    /// Two-sided p-value of no change, allowing for all looks.
    pub p_value: f64,
    /// The p-value adjusted for the number of benchmarks (Benjamini-Hochberg).
    pub p_adjusted: f64,
    /// Smallest true change that this design reports as a regression with the stated power, as a fraction.
    pub minimal_detectable_change: f64,
    /// Repetitions.
    pub counts: Counts,
}

impl Estimate {
    /// The interval.
    pub fn interval(&self) -> RatioInterval {
        RatioInterval { low: self.ratio_low, high: self.ratio_high }
    }
}

/// The two tests that look at a benchmark while it is measured: whether it changed at all, and where the ratio lies.
///
/// They spend their errors differently. A change that is called where there is none costs trust, so little of its error is spent
/// early. The interval says how large a change is; spent sooner, its error lets the many benchmarks that did not change end.
#[derive(Debug)]
pub struct Tests {
    changed: Sequential,
    interval: Sequential,
    /// Errors that were asked for: every look asks for them, and they take long to compute.
    known: Mutex<BTreeMap<Asked, Errors>>,
}

/// Units, the bits of `alpha`, and whether everything may be spent.
type Asked = (u32, u64, bool);

impl Tests {
    /// Tests that look several times on the way to so many units.
    ///
    /// # Errors
    /// When `horizon` is 0.
    pub fn sequential(horizon: u32) -> Result<Tests, StatsError> {
        let interval = Sequential::spending(horizon, defaults::INTERVAL_SPENDING)?;
        Ok(Tests { changed: Sequential::new(horizon)?, interval, known: Mutex::default() })
    }

    /// Tests that look once, after so many units.
    ///
    /// # Errors
    /// When `units` is 0.
    pub fn single(units: u32) -> Result<Tests, StatsError> {
        let single = Sequential::single(units)?;
        Ok(Tests { changed: single.clone(), interval: single, known: Mutex::default() })
    }

    /// The planned looks; the last is the horizon.
    pub fn looks(&self) -> &[u32] {
        self.changed.looks()
    }

    /// Units after which measuring ends in any case.
    fn horizon(&self) -> u32 {
        self.looks().last().copied().unwrap_or(0)
    }

    /// The p-value of no change after these looks.
    fn p_value(&self, looks: &[(u32, f64)], spend: Spend) -> Result<f64, StatsError> {
        let p = self.changed.p_value(looks, spend)?;
        Ok(if self.looks().len() > 1 { stats::p_kept_by_t(p) } else { p })
    }

    /// The nominal errors of a look.
    fn errors(&self, units: u32, decision: &Decision, spend: Spend) -> Result<Errors, StatsError> {
        let asked = (units, decision.alpha.to_bits(), spend == Spend::Everything);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(errors) = known.get(&asked) {
            return Ok(*errors);
        }
        let several = self.looks().len() > 1;
        let kept_by_t = |alpha| if several { stats::level_kept_by_t(alpha) } else { alpha };
        let errors = Errors {
            changed: self.changed.nominal_p(units, kept_by_t(decision.alpha), spend)?,
            interval: self.interval.nominal_p(units, kept_by_t(decision.interval_alpha()), spend)?,
        };
        known.insert(asked, errors);
        Ok(errors)
    }
}

/// Two-sided nominal errors of the two tests at one look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// The error of saying that there is a change.
    pub changed: f64,
    /// The error of the interval.
    pub interval: f64,
}

/// When the units of a benchmark are looked at, and how sure each look must be.
#[derive(Debug, Clone, Copy)]
pub struct Looks<'a> {
    /// Says what may be concluded at which look.
    pub tests: &'a Tests,
    /// The way in which fork pairs make up units.
    pub design: &'a Design,
    /// Errors over all looks, and the threshold.
    pub decision: &'a Decision,
    /// The error that the last look may spend.
    pub spend: Spend,
    /// Share of every slice that no change of the work shows in.
    pub hidden: Hidden,
}

impl<'a> Looks<'a> {
    /// Those of a design as it was planned, where slices hide nothing.
    pub fn as_planned(tests: &'a Tests, design: &'a Design, decision: &'a Decision) -> Looks<'a> {
        Looks { tests, design, decision, spend: Spend::AsPlanned, hidden: Hidden::default() }
    }
}

/// Share of a change that does not show, since it is work: slices begin with what both versions pay for alike.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hidden {
    /// As far as slices of two lengths show it: the estimate is larger by it.
    pub shown: f64,
    /// At most, and not less than that: intervals reach as far.
    pub most: f64,
}

impl Hidden {
    /// A share that nothing shows, but that is not excluded.
    pub fn at_most(most: f64) -> Hidden {
        Hidden { shown: 0.0, most }
    }
}

/// Evidence from the units of one benchmark alone, without the rest of the suite.
///
/// The unit of inference is the fork pair, or the build pair where there are several. Slices of one process share its memory
/// layout, its luck and its neighbours, and treating them as independent makes an interval far too narrow (Kalibera and Jones,
/// ISMM 2013); forks of one build pair share where the linker put the code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The numbers of every fork pair that it rests on.
    pub choice: Choice,
    /// Mean log ratio over units, with its standard error.
    pub log_ratio: TrimmedT,
    /// The same of the number that is not judged.
    pub beside: Option<TrimmedT>,
    /// The same of the judged number by wall time, where CPU time is judged.
    pub by_wall: Option<TrimmedT>,
    /// Nominal errors of this look, so that all looks together keep those of the decision.
    pub errors: Errors,
    /// Units and nominal errors of the last look there will be.
    pub last: LastLook,
    /// Share of a change that does not show.
    pub hidden: Hidden,
    /// Times the data were looked at.
    pub looks: u32,
    /// Two-sided p-value of no change, allowing for all looks.
    pub p_value: f64,
    /// Repetitions.
    pub counts: Counts,
}

/// The look at which measuring ends in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastLook {
    /// Units by then.
    pub units: u32,
    /// Nominal errors.
    pub errors: Errors,
}

impl Evidence {
    /// Tests the log ratios of the units against 0, by Student's t below ten units and by the trimmed t from there on, at every
    /// planned look that has passed and with all units there are.
    ///
    /// # Errors
    /// With fewer units than [`defaults::UNITS_MIN`], or with a log ratio that is not finite.
    pub fn of(forks: &[ForkPair], choice: Choice, looks: Looks<'_>) -> Result<Evidence, StatsError> {
        let Looks { tests, design, decision, spend, hidden } = looks;
        let needed = defaults::UNITS_MIN as usize;
        let read = |clock: Clock| forks.iter().map(|fork| clock.read(fork)).collect::<Vec<ForkPair>>();
        let by_clock = read(choice.clock);
        let of_units = |forks: &[ForkPair], basis: Basis| {
            let mut log_ratios = units(forks, basis, design);
            log_ratios.truncate(design.units.max(defaults::UNITS_MIN) as usize);
            log_ratios
        };
        let log_ratios = of_units(&by_clock, choice.basis);
        if log_ratios.len() < needed {
            return Err(StatsError::TooFew { have: log_ratios.len(), needed });
        }
        let log_ratio = stats::trimmed_t(&log_ratios)?;
        let by_wall = match choice.clock {
            Clock::Wall => None,
            Clock::Cpu => Some(stats::trimmed_t(&of_units(&read(Clock::Wall), choice.basis))?),
        };
        let all = log_ratio.values;
        let planned = tests.looks().iter().copied().filter(|n| *n < all && *n >= defaults::UNITS_MIN);
        // Units that are all the same tell nothing of their spread, and so nothing surely.
        let p_of = |t: TrimmedT| if t.standard_error == 0.0 { Ok(1.0) } else { t.p_value() };
        let p_at = |n: u32| Ok((n, p_of(stats::trimmed_t(&log_ratios[..n as usize])?)?));
        let p_values: Vec<(u32, f64)> = planned.chain([all]).map(p_at).collect::<Result<_, StatsError>>()?;
        let builds: BTreeSet<u32> = forks.iter().map(|f| f.build).collect();
        let counts = Counts {
            units: all,
            builds: count(builds.len()),
            forks: count(forks.len()),
            slices: forks.iter().map(|f| f.slices).fold(0, u32::saturating_add),
        };
        let errors = tests.errors(all, decision, spend)?;
        let last = match spend {
            Spend::Everything => LastLook { units: all, errors },
            Spend::AsPlanned => {
                let units = tests.horizon().max(all);
                LastLook { units, errors: tests.errors(units, decision, Spend::AsPlanned)? }
            }
        };
        Ok(Evidence {
            choice,
            log_ratio,
            beside: Some(stats::trimmed_t(&of_units(&by_clock, choice.beside))?),
            by_wall,
            errors,
            last,
            hidden,
            looks: count(p_values.len()),
            p_value: tests.p_value(&p_values, spend)?,
            counts,
        })
    }

    /// Whether the units show no spread at all, so that their interval means nothing.
    pub fn is_degenerate(&self) -> bool {
        self.log_ratio.standard_error == 0.0
    }

    /// A mean log ratio over units on the scale of ratios, with its interval at this look.
    ///
    /// # Errors
    /// When the error of this look is not strictly between 0 and 1.
    fn ranged(&self, basis: Basis, log_ratio: TrimmedT) -> Result<Ranged, StatsError> {
        self.ranged_at(basis, &log_ratio, self.errors.interval)
    }

    /// The same at another two-sided error.
    pub(super) fn ranged_at(&self, basis: Basis, log_ratio: &TrimmedT, alpha: f64) -> Result<Ranged, StatsError> {
        let seen = Ranged::of(basis, log_ratio, alpha)?;
        Ok(Ranged {
            basis,
            ratio: with_hidden(seen.ratio, self.hidden.shown),
            interval: seen.interval.around(seen.ratio, defaults::ACCURACY).with_hidden(self.hidden.most),
        })
    }

    /// The judged ratio with its interval.
    ///
    /// # Errors
    /// When the error of this look is not strictly between 0 and 1.
    pub(super) fn judged(&self) -> Result<Ranged, StatsError> {
        self.ranged(self.choice.basis, self.log_ratio)
    }

    /// The ratio that is not judged, with its interval.
    ///
    /// # Errors
    /// As for [`Evidence::judged`].
    pub(super) fn beside(&self) -> Result<Option<Ranged>, StatsError> {
        self.beside.map(|log_ratio| self.ranged(self.choice.beside, log_ratio)).transpose()
    }

    /// The estimate on the scale of ratios, with the p-value that the whole suite made of this one's.
    ///
    /// # Errors
    /// When a number of the decision is out of its range (see [`Decision::check`]).
    pub fn estimate(&self, decision: &Decision, p_adjusted: f64) -> Result<Estimate, StatsError> {
        let Ranged { basis, ratio, interval } = self.judged()?;
        Ok(Estimate {
            ratio,
            ratio_low: interval.low,
            ratio_high: interval.high,
            confidence: 1.0 - decision.interval_alpha(),
            basis,
            clock: self.choice.clock,
            beside: self.beside()?,
            by_wall: self.by_wall.map(|log_ratio| self.ranged(basis, log_ratio)).transpose()?,
            method: if self.log_ratio.trimmed_per_side > 0 { Method::YuenTrimmedT } else { Method::StudentT },
            looks: self.looks,
            p_value: self.p_value,
            p_adjusted,
            minimal_detectable_change: (finite_exp(self.detects(decision)?) - 1.0) / (1.0 - self.hidden.most),
            counts: self.counts,
        })
    }

    /// Logarithm of the largest ratio that lies within the band whatever share of the change is hidden.
    pub(super) fn within(&self, decision: &Decision) -> f64 {
        (decision.threshold * (1.0 - self.hidden.most)).ln_1p()
    }

    /// Logarithm of the smallest ratio that this design reports as a regression with the power of the decision, as it is seen.
    ///
    /// A regression must show that there is a change, and that it exceeds the threshold. With the spread of a unit `s`, taken for as
    /// much larger as it is uncertain, `N` units
    /// at the last look, `SE = s / sqrt(N)` and `k(a)` the noncentrality at which a t test of error `a` has that power
    /// ([`stats::detectable_factor`]): the largest of `k(changed) SE`, `ln(1 + threshold) + k(interval) SE` and, since no interval is narrower
    /// than [`defaults::ACCURACY`], `ln(1 + threshold) + ln(1 + ACCURACY) + (k - t)(interval) SE`. Earlier looks find what the last one finds;
    /// that they also end benchmarks costs little (docs/studies/verdict-rules.md).
    fn detects(&self, decision: &Decision) -> Result<f64, StatsError> {
        let LastLook { units, errors } = self.last;
        let df = f64::from(stats::degrees_of_freedom(units));
        let standard_error = self.log_ratio.cautious_spread()? / f64::from(units).sqrt();
        let in_errors = |alpha| stats::detectable_factor(df, Level { alpha, power: decision.power });
        let beyond = in_errors(errors.interval)? * standard_error;
        let critical = stats::critical_t(errors.interval, df)? * standard_error;
        let beyond_threshold = decision.threshold.ln_1p() + beyond.max(beyond - critical + defaults::ACCURACY.ln_1p());
        Ok(beyond_threshold.max(in_errors(errors.changed)? * standard_error))
    }
}
