//! After how many results an interval is narrow enough (section 6.2.7, figure 7).

use duetbench_core::stats::MedianTable;

use super::{Experiment, Finding, Findings, LeftOut, Procedure};

/// Widest interval that is narrow enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target<'a> {
    /// No wider than this, a relative difference.
    Width(f64),
    /// No wider than the same benchmark's in another experiment; only benchmarks whose intervals there and here, over all results,
    /// have a value in common.
    Reference(&'a Findings),
}

/// Number of results after which the interval of one benchmark was narrow enough.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrowed {
    /// The benchmark.
    pub benchmark: String,
    /// Results that it has.
    pub results: usize,
    /// Largest width that its interval may have.
    pub target: f64,
    /// Width of its interval over all results.
    pub width: f64,
    /// The least number of first results over which it is no wider than it may be; absent where it never is.
    pub enough: Option<usize>,
}

/// Numbers of results after which the intervals of an experiment were narrow enough.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrowing {
    /// The benchmarks that count, in the experiment's order.
    pub benchmarks: Vec<Narrowed>,
    /// Benchmarks whose interval has no value in common with the reference's.
    pub apart: Vec<String>,
    /// Benchmarks that the reference has no interval for.
    pub not_in_reference: Vec<String>,
    /// Benchmarks with too few results.
    pub left_out: Vec<LeftOut>,
    /// Results below which no interval is looked at.
    results_min: usize,
}

/// A target as it applies to one benchmark.
enum Wanted {
    Width(f64),
    Apart,
    Unknown,
}

impl Target<'_> {
    fn of(&self, finding: &Finding) -> Wanted {
        let findings = match self {
            Target::Width(width) => return Wanted::Width(*width),
            Target::Reference(findings) => findings,
        };
        match findings.of(&finding.benchmark) {
            Some(reference) if reference.overlaps(finding) => Wanted::Width(reference.interval.width()),
            Some(_) => Wanted::Apart,
            None => Wanted::Unknown,
        }
    }
}

impl Procedure {
    /// Finds for every benchmark after how many of its results the interval was narrow enough.
    ///
    /// Numbers below [`Procedure::results_min`] are not tried: there the procedure says nothing, and an interval over one result
    /// has no width at all.
    pub fn narrowing(&self, experiment: &Experiment, target: Target<'_>) -> Narrowing {
        let mut narrowing = Narrowing {
            benchmarks: Vec::new(),
            apart: Vec::new(),
            not_in_reference: Vec::new(),
            left_out: Vec::new(),
            results_min: self.results_min,
        };
        let mut tables = Tables { first: self.results_min, tail: (1.0 - self.confidence) / 2.0, tables: Vec::new() };
        for results in &experiment.benchmarks {
            let finding = match self.finding(results) {
                Ok(finding) => finding,
                Err(error) => {
                    narrowing.left_out.push(LeftOut::of(results, error));
                    continue;
                }
            };
            match target.of(&finding) {
                Wanted::Width(width) => narrowing.benchmarks.push(Narrowed {
                    results: finding.results,
                    target: width,
                    width: finding.interval.width(),
                    enough: tables.enough(&results.differences, width),
                    benchmark: finding.benchmark,
                }),
                Wanted::Apart => narrowing.apart.push(finding.benchmark),
                Wanted::Unknown => narrowing.not_in_reference.push(finding.benchmark),
            }
        }
        narrowing
    }
}

/// Tables for intervals of medians by the number of results, made when they are first needed.
struct Tables {
    first: usize,
    tail: f64,
    tables: Vec<MedianTable>,
}

impl Tables {
    fn of(&mut self, results: usize) -> &MedianTable {
        while self.tables.len() <= results - self.first {
            self.tables.push(MedianTable::of(self.first + self.tables.len(), self.tail));
        }
        &self.tables[results - self.first]
    }

    /// The least number of first results over which the interval is no wider than this.
    fn enough(&mut self, differences: &[f64], width: f64) -> Option<usize> {
        let mut ascending: Vec<f64> = Vec::with_capacity(differences.len());
        for (i, difference) in differences.iter().enumerate() {
            let place = ascending.partition_point(|v| v < difference);
            ascending.insert(place, *difference);
            if i + 1 >= self.first && self.of(i + 1).interval(&ascending).width() <= width {
                return Some(i + 1);
            }
        }
        None
    }
}

impl Narrowing {
    /// The most results that a benchmark has.
    pub fn results_max(&self) -> usize {
        self.benchmarks.iter().map(|narrowed| narrowed.results).max().unwrap_or(0)
    }

    /// Benchmarks that were narrow enough after so many results, or earlier.
    pub fn reached_by(&self, results: usize) -> usize {
        self.benchmarks.iter().filter(|narrowed| narrowed.enough.is_some_and(|enough| enough <= results)).count()
    }

    /// The same as a share of all that count, those included that have fewer results. Absent without benchmarks.
    pub fn share_by(&self, results: usize) -> Option<f64> {
        (!self.benchmarks.is_empty()).then(|| self.reached_by(results) as f64 / self.benchmarks.len() as f64)
    }

    /// The curve of figure 7: numbers of results, one after the other, each with the share that is narrow enough by then.
    pub fn curve(&self) -> Vec<(usize, f64)> {
        (self.results_min..=self.results_max()).filter_map(|n| Some((n, self.share_by(n)?))).collect()
    }

    /// Numbers of results to read the curve at: 10, 20, then 45 as the paper has by default and its multiples, and the last one.
    pub fn marks(&self) -> Vec<usize> {
        let last = self.results_max();
        let usual = [10, 20].into_iter().chain((45..).step_by(45)).take_while(|n| *n < last);
        usual.filter(|n| *n >= self.results_min).chain((last > 0).then_some(last)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{around, experiment};
    use super::*;

    fn enough(narrowing: &Narrowing) -> Vec<Option<usize>> {
        narrowing.benchmarks.iter().map(|narrowed| narrowed.enough).collect()
    }

    #[test]
    fn an_interval_becomes_narrow_as_wide_results_are_outnumbered() {
        // Ten results half at 0 and half at 0.1, then only 0.05: their interval is 0.1 wide until the middle takes over.
        let mut differences: Vec<f64> = (0..10).map(|i| if i % 2 == 0 { 0.0 } else { 0.1 }).collect();
        differences.extend([0.05; 30]);
        let study = experiment("r1", &[("A", &differences[..])]);
        let of = |width| enough(&Procedure::PAPER.narrowing(&study, Target::Width(width)))[0];
        assert_eq!(of(0.1), Some(10));
        let narrow = of(0.01).unwrap();
        let width = |n: usize| {
            let first = experiment("r1", &[("A", &differences[..n])]);
            Procedure::PAPER.findings(&first).found[0].interval.width()
        };
        assert!(narrow > 10 && width(narrow) <= 0.01 && (10..narrow).all(|n| width(n) > 0.01), "{narrow}");
        assert_eq!(of(-1.0), None);
    }

    #[test]
    fn no_number_below_ten_is_tried_although_one_result_has_no_width() {
        let study = experiment("r1", &[("A", &[0.02; 12]), ("B", &around(0.0, 0.01, 12)), ("C", &[0.0; 9])]);
        let narrowing = Procedure::PAPER.narrowing(&study, Target::Width(0.001));
        assert_eq!(enough(&narrowing), [Some(10), None]);
        assert_eq!(narrowing.left_out[0].benchmark, "C");
        assert_eq!(narrowing.curve(), [(10, 0.5), (11, 0.5), (12, 0.5)]);
    }

    #[test]
    fn only_benchmarks_that_overlap_the_reference_count() {
        let (wide, narrow, far) = (around(0.0, 0.01, 40), around(0.01, 0.001, 11), around(0.9, 0.001, 11));
        let study = experiment("r1", &[("A", &narrow[..]), ("B", &wide), ("C", &far), ("D", &wide)]);
        let reference = experiment("r2", &[("A", &wide[..]), ("B", &narrow), ("C", &narrow), ("E", &wide)]);
        let reference = Procedure::PAPER.findings(&reference);
        let narrowing = Procedure::PAPER.narrowing(&study, Target::Reference(&reference));
        assert_eq!(enough(&narrowing), [Some(10), None]);
        assert_eq!((narrowing.apart.clone(), narrowing.not_in_reference.clone()), (vec!["C".into()], vec!["D".into()]));
        assert_eq!((narrowing.reached_by(9), narrowing.share_by(10)), (0, Some(0.5)));
    }

    #[test]
    fn an_experiment_is_as_narrow_as_itself_in_the_end() {
        let study = experiment("r1", &[("A", &around(0.0, 0.01, 33)[..]), ("B", &around(0.1, 0.002, 50))]);
        let narrowing = Procedure::PAPER.narrowing(&study, Target::Reference(&Procedure::PAPER.findings(&study)));
        assert_eq!(narrowing.share_by(narrowing.results_max()), Some(1.0));
        assert_eq!(narrowing.marks(), [10, 20, 45, 50]);
        let empty = Procedure::PAPER.narrowing(&experiment("r1", &[]), Target::Width(0.1));
        assert_eq!((empty.marks(), empty.curve(), empty.share_by(10)), (vec![], vec![], None));
    }
}
