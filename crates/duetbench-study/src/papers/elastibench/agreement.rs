//! Whether two experiments agree (sections 6.1, 6.2.2 and 6.2.6).

use super::{Finding, Findings, Spread};

/// Relation of two findings for one benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Both find no change, or both one in the same direction; sizes do not matter.
    Agree,
    /// Both find a change, in opposite directions.
    Opposite,
    /// One finds a change and the other none. The paper counts it among the disagreements.
    PossibleChange,
}

duetbench_core::words!(Relation: Agree "agree", Opposite "disagree", PossibleChange "possible_change");

/// One benchmark in both experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The finding of the first experiment.
    pub first: Finding,
    /// The finding of the second experiment.
    pub second: Finding,
}

impl Compared {
    /// The relation of the two.
    pub fn relation(&self) -> Relation {
        match (self.first.change(), self.second.change()) {
            (first, second) if first == second => Relation::Agree,
            (Some(_), Some(_)) => Relation::Opposite,
            _ => Relation::PossibleChange,
        }
    }

    /// Size of a possible change: what the experiment found that calls it one.
    pub fn possible_change(&self) -> Option<f64> {
        if self.relation() != Relation::PossibleChange {
            return None;
        }
        let found = if self.first.change().is_some() { &self.first } else { &self.second };
        Some(found.median.abs())
    }
}

/// Among some benchmarks, whose medians lie in the other experiment's interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// Benchmarks.
    pub of: usize,
    /// Those whose first median lies in the second interval.
    pub first_in_second: usize,
    /// Those whose second median lies in the first interval.
    pub second_in_first: usize,
    /// Those for which both is so.
    pub both: usize,
}

impl Coverage {
    fn of<'a>(compared: impl Iterator<Item = &'a Compared>) -> Coverage {
        let mut coverage = Coverage { of: 0, first_in_second: 0, second_in_first: 0, both: 0 };
        for Compared { first, second } in compared {
            let (one, other) = (second.covers(first), first.covers(second));
            coverage.of += 1;
            coverage.first_in_second += usize::from(one);
            coverage.second_in_first += usize::from(other);
            coverage.both += usize::from(one && other);
        }
        coverage
    }

    /// A number of benchmarks as a share of all; absent without benchmarks.
    pub fn share(&self, count: usize) -> Option<f64> {
        (self.of > 0).then(|| count as f64 / self.of as f64)
    }
}

/// Two experiments, held against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Benchmarks with a finding in both, in the first one's order.
    pub compared: Vec<Compared>,
    /// Benchmarks with a finding in the first only.
    pub only_first: Vec<String>,
    /// Benchmarks with a finding in the second only.
    pub only_second: Vec<String>,
}

impl Agreement {
    /// Holds two experiments against each other. Benchmarks for which only one has a finding are listed and not counted.
    pub fn of(first: &Findings, second: &Findings) -> Agreement {
        let both = |one: &Finding| Some(Compared { first: one.clone(), second: second.of(&one.benchmark)?.clone() });
        Agreement {
            compared: first.found.iter().filter_map(both).collect(),
            only_first: missing_from(second, first),
            only_second: missing_from(first, second),
        }
    }

    /// Benchmarks that stand so.
    pub fn count(&self, relation: Relation) -> usize {
        self.compared.iter().filter(|compared| compared.relation() == relation).count()
    }

    /// Share of benchmarks that stand so, of all that are in both. The paper's percentage is that of [`Relation::Agree`]: its 95.65 %
    /// are 88 of 92, with three opposite and one possible change. Absent without benchmarks.
    pub fn share(&self, relation: Relation) -> Option<f64> {
        (!self.compared.is_empty()).then(|| self.count(relation) as f64 / self.compared.len() as f64)
    }

    /// Coverage over all benchmarks. The percentages of the paper are of these: 80, 48 and 46 of 92, and 76, 48 and 45 of 93.
    pub fn coverage(&self) -> Coverage {
        Coverage::of(self.compared.iter())
    }

    /// Coverage over the benchmarks for which both find a change, as the paper's text has it.
    pub fn coverage_of_changes(&self) -> Coverage {
        let both = |c: &&Compared| c.first.change().is_some() && c.second.change().is_some();
        Coverage::of(self.compared.iter().filter(both))
    }

    /// Sizes of the possible changes (figure 6); absent without any.
    pub fn possible_changes(&self) -> Option<Spread> {
        Spread::of(self.compared.iter().filter_map(Compared::possible_change))
    }
}

/// The benchmarks with a finding in `there` that have none in `here`.
fn missing_from(here: &Findings, there: &Findings) -> Vec<String> {
    let missing = there.found.iter().filter(|finding| here.of(&finding.benchmark).is_none());
    missing.map(|finding| finding.benchmark.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{around, experiment};
    use super::super::{Experiment, Procedure};
    use super::*;

    fn agreement(first: &Experiment, second: &Experiment) -> Agreement {
        Agreement::of(&Procedure::PAPER.findings(first), &Procedure::PAPER.findings(second))
    }

    #[test]
    fn directions_agree_or_not_whatever_the_sizes() {
        let check = |first: f64, second: f64, want: (Relation, Option<f64>)| {
            // Eleven results that differ by 0.001: the ends are 0.004 from the middle.
            let of = |middle| experiment("r", &[("A", &around(middle, 0.001, 11)[..])]);
            let agreement = agreement(&of(first), &of(second));
            let size = agreement.compared[0].possible_change().map(|size| (size * 1e6).round() / 1e6);
            assert_eq!((agreement.compared[0].relation(), size), want, "{first} {second}");
        };
        check(0.0, 0.003, (Relation::Agree, None));
        check(0.005, 0.9, (Relation::Agree, None));
        check(-0.005, -0.1, (Relation::Agree, None));
        check(0.005, -0.005, (Relation::Opposite, None));
        check(0.005, -0.003, (Relation::PossibleChange, Some(0.005)));
        check(0.003, -0.006, (Relation::PossibleChange, Some(0.006)));
    }

    #[test]
    fn the_papers_percentage_counts_possible_changes_as_disagreement() {
        // The counts of section 6.2.2: 88 agree, three are opposite, one is a possible change.
        let name = |i: usize| format!("B{i:02}");
        let names: Vec<String> = (0..92).map(name).collect();
        let of = |difference: &dyn Fn(usize) -> f64| {
            let values: Vec<Vec<f64>> = (0..92).map(|i| vec![difference(i); 10]).collect();
            let pairs: Vec<(&str, &[f64])> = names.iter().zip(&values).map(|(n, v)| (n.as_str(), &v[..])).collect();
            experiment("r", &pairs)
        };
        let original = of(&|i| {
            if i < 3 {
                -0.1
            } else if i == 3 {
                0.0
            } else {
                0.05
            }
        });
        let baseline = of(&|i| {
            if i < 3 {
                0.06
            } else if i == 3 {
                0.006
            } else {
                0.05
            }
        });
        let agreement = agreement(&original, &baseline);
        let counts = [Relation::Agree, Relation::Opposite, Relation::PossibleChange].map(|r| agreement.count(r));
        assert_eq!(counts, [88, 3, 1]);
        assert_eq!(agreement.share(Relation::Agree).map(|share| (share * 1e4).round()), Some(9565.0));
        assert_eq!(agreement.possible_changes().map(|spread| (spread.count, spread.largest)), Some((1, 0.006)));
        assert_eq!((agreement.coverage().of, agreement.coverage_of_changes().of), (92, 91));
    }

    #[test]
    fn coverage_is_one_sided_and_two_sided() {
        // Intervals are four steps to either side. The first of A is wide and the second narrow, of B neither reaches the
        // other, of C both do; D has no change.
        let (wide, narrow) = (around(0.10, 0.01, 11), around(0.12, 0.001, 11));
        let (low, high) = (around(0.1, 0.001, 11), around(0.2, 0.001, 11));
        let (near, nearer) = (around(0.1, 0.01, 11), around(0.11, 0.01, 11));
        let none = around(0.0, 0.01, 11);
        let first = experiment("r1", &[("A", &wide[..]), ("B", &low), ("C", &near), ("D", &none)]);
        let second = experiment("r2", &[("A", &narrow[..]), ("B", &high), ("C", &nearer), ("D", &none)]);
        let agreement = agreement(&first, &second);
        let all = Coverage { of: 4, first_in_second: 2, second_in_first: 3, both: 2 };
        assert_eq!(agreement.coverage(), all);
        assert_eq!(
            agreement.coverage_of_changes(),
            Coverage { of: 3, first_in_second: 1, second_in_first: 2, both: 1 }
        );
        assert_eq!(all.share(all.second_in_first), Some(0.75));
    }

    #[test]
    fn benchmarks_with_a_finding_in_one_experiment_are_listed_and_not_counted() {
        let enough = [0.0; 10];
        let first = experiment("r1", &[("A", &enough[..]), ("B", &enough), ("C", &enough)]);
        let second = experiment("r2", &[("C", &enough[..9]), ("A", &enough), ("D", &enough)]);
        let agreement = agreement(&first, &second);
        assert_eq!(agreement.compared.len(), 1);
        assert_eq!((agreement.only_first, agreement.only_second), (vec!["B".into(), "C".into()], vec!["D".into()]));
    }

    #[test]
    fn nothing_in_common_has_no_shares() {
        let agreement = agreement(&experiment("r1", &[]), &experiment("r2", &[("A", &[0.0; 10])]));
        assert_eq!((agreement.share(Relation::Agree), agreement.possible_changes()), (None, None));
        assert_eq!(agreement.coverage().share(0), None);
    }
}
