//! Finds the benchmarks that changed between two recordings made apart from each other: nothing in them is paired, so what
//! the machine did between the two counts as change as well.
//!
//! Two rules stand beside each other: that of the papers ([`PaperRule`]), which takes every value for independent, and the house's
//! ([`HouseRule`]), whose units are the outermost repetitions.

mod fidelity;
mod house;
mod paper;
mod processes;
mod units;

use std::collections::{BTreeMap, HashMap};

use crate::recording::{Better, Recorded, Recording};
use crate::stats::StatsError;
use crate::verdict::Verdict;

pub use fidelity::{Both, Fidelity};
pub use house::{Answer, HouseFinding, HouseRule, UNITS_MIN};
pub use paper::{PaperFinding, PaperRule, Statistic, Summary};
pub use processes::{Footing, by_process, joined};
pub use units::{Located, Units};

/// A change that a rule found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It got worse.
    Regression,
    /// It got better.
    Improvement,
}

words!(Change: Regression "regression", Improvement "improvement");

impl Change {
    /// The change that a larger (or else a smaller) value of the candidate means.
    pub fn of(larger: bool, better: Better) -> Change {
        if larger == (better == Better::Lower) { Change::Regression } else { Change::Improvement }
    }
}

/// The rules that are applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// That of the papers.
    pub paper: Option<PaperRule>,
    /// The house's.
    pub house: Option<HouseRule>,
}

/// Results of both rules for one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Detected {
    /// Its full name.
    pub benchmark: String,
    /// Unit of its values.
    pub unit: String,
    /// The better direction of its values.
    pub better: Better,
    /// The result of base and of head: what the rule of the papers looks at, or else the median of all values.
    pub results: [f64; 2],
    /// Result of the papers' rule, where it was asked for.
    pub paper: Option<PaperFinding>,
    /// Result of the house's rule, where it was asked for.
    pub house: Option<HouseFinding>,
}

/// Differences between the versions of two recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// Name of the recording compared against.
    pub base: String,
    /// Name of the recording under test.
    pub head: String,
    /// Benchmarks that are in both, in the order of the first.
    pub benchmarks: Vec<Detected>,
    /// Benchmarks that are in the first only.
    pub only_base: Vec<String>,
    /// Benchmarks that are in the second only.
    pub only_head: Vec<String>,
    /// Benchmarks that are in both and could not be judged, with the reason.
    pub not_compared: Vec<String>,
    /// Warnings of the recordings themselves.
    pub warnings: Vec<String>,
    /// Agreement of reduced configurations with the full ones, where a plan was given.
    pub fidelity: Option<Fidelity>,
}

impl Detection {
    /// Everything to know beside the answers: warnings of the recordings, and benchmarks that could not be judged.
    pub fn remarks(&self) -> impl Iterator<Item = &String> {
        self.warnings.iter().chain(&self.not_compared)
    }

    /// Whether the house's rule found a regression.
    pub fn has_regression(&self) -> bool {
        let mut answers = self.benchmarks.iter().filter_map(|b| b.house.as_ref());
        answers.any(|house| house.answer == Answer::Judged(Verdict::Regression))
    }
}

/// A recording's benchmarks by name; of several with one name the first.
pub fn by_name(recording: &Recording) -> HashMap<&str, &Recorded> {
    let mut named = HashMap::new();
    for recorded in &recording.benchmarks {
        named.entry(recorded.benchmark.as_str()).or_insert(recorded);
    }
    named
}

/// Compares two recordings, benchmark by benchmark.
pub fn detect(base: &Recording, head: &Recording, rules: &Rules) -> Detection {
    let (in_base, in_head) = (by_name(base), by_name(head));
    let (mut found, mut not_compared) = (Vec::new(), Vec::new());
    for a in &base.benchmarks {
        let Some(b) = same(a, &in_head) else { continue };
        match judge([a, b], [base, head], rules) {
            Ok(detected) => found.push(detected),
            Err(why) => not_compared.push(format!("`{}` was not compared: {why}", a.benchmark)),
        }
    }
    if let Some(house) = &rules.house {
        house.adjust(&mut found);
    }
    let alone = |of: &Recording, other: &HashMap<&str, &Recorded>| {
        let without = of.benchmarks.iter().filter(|recorded| same(recorded, other).is_none());
        without.map(|recorded| recorded.benchmark.clone()).collect()
    };
    Detection {
        base: base.name.clone(),
        head: head.name.clone(),
        benchmarks: found,
        only_base: alone(base, &in_head),
        only_head: alone(head, &in_base),
        not_compared,
        warnings: warnings_of([base, head]),
        fidelity: None,
    }
}

/// A benchmark among those of the other side. Its mode is part of the name where the file of a side has another mode beside it.
fn same<'a>(recorded: &Recorded, others: &HashMap<&str, &'a Recorded>) -> Option<&'a Recorded> {
    let name = recorded.benchmark.as_str();
    let mode = |recorded: &Recorded| recorded.terms.iter().find(|(term, _)| *term == "mode").cloned();
    let otherwise = || {
        let in_words = format!(" ({})", mode(recorded)?.1);
        let spelt = name.strip_suffix(&in_words).map_or_else(|| format!("{name}{in_words}"), str::to_owned);
        others.get(spelt.as_str()).filter(|other| mode(other) == mode(recorded))
    };
    others.get(name).or_else(otherwise).copied()
}

/// The warnings of both sides: each once where they agree, else with its side.
fn warnings_of(sides: [&Recording; 2]) -> Vec<String> {
    let [base, head] = sides;
    let both: Vec<String> = base.warnings.iter().filter(|warning| head.warnings.contains(warning)).cloned().collect();
    let alone = |side: &str, of: &Recording| -> Vec<String> {
        let own = of.warnings.iter().filter(|warning| !both.contains(warning));
        own.map(|warning| format!("{side} `{}`: {warning}", of.name)).collect()
    };
    [alone("base", base), alone("head", head), both].concat()
}

/// Judges one benchmark by the rules, the base's side first; the house's p-value is not yet adjusted.
fn judge([a, b]: [&Recorded; 2], of: [&Recording; 2], rules: &Rules) -> Result<Detected, String> {
    if a.unit != b.unit {
        return Err(format!("its unit is `{}` in base and `{}` in head", a.unit, b.unit));
    }
    if let Some((term, in_base, in_head)) = a.other_terms(b) {
        let [base, head] = of.map(|recording| &recording.name);
        return Err(format!("its {term} is {in_base} in base `{base}` and {in_head} in head `{head}`"));
    }
    let words = |e: StatsError| e.to_string();
    let statistic = rules.paper.as_ref().map_or(Statistic::Median, |rule| rule.statistic);
    let result = |recorded: &Recorded| statistic.of(&recorded.grid.values()).map_err(words);
    let paper = |rule: &PaperRule| rule.finding(a, b).map_err(words);
    let house = |rule: &HouseRule| {
        let (a, b) = (Units::of(a, &of[0].levels), Units::of(b, &of[1].levels));
        rule.finding(&a?, &b?)
    };
    Ok(Detected {
        benchmark: a.benchmark.clone(),
        unit: a.unit.clone(),
        better: a.better,
        results: [result(a)?, result(b)?],
        paper: rules.paper.as_ref().map(paper).transpose()?,
        house: rules.house.as_ref().map(house).transpose()?,
    })
}

/// Changes that reduced configurations would have found, for benchmarks whose full ones are there to compare with: those that are in
/// both recordings and in the plan, by the rule of the papers.
pub fn fidelity(base: &Recording, head: &Recording, plan: &BTreeMap<String, Vec<usize>>, rule: &PaperRule) -> Fidelity {
    let in_head = by_name(head);
    let mut fidelity = Fidelity::default();
    for a in &base.benchmarks {
        let planned = in_head.get(a.benchmark.as_str()).zip(plan.get(&a.benchmark));
        let both = planned.map(|(b, reduced)| (Both::of(a, reduced, rule), Both::of(b, reduced, rule)));
        if let Some((Ok(of_base), Ok(of_head))) = both {
            let change = |base: &Summary, head: &Summary| rule.change(base, head, a.better);
            let full = change(&of_base.full, &of_head.full);
            fidelity.count(&a.benchmark, full, change(&of_base.reduced, &of_head.reduced));
        }
    }
    fidelity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Cost, Grid, Level};

    fn recording(name: &str, benchmarks: &[(&str, Better, &[f64])]) -> Recording {
        let recorded = |(benchmark, better, values): &(&str, Better, &[f64])| Recorded {
            benchmark: (*benchmark).to_owned(),
            unit: "ns/op".into(),
            better: *better,
            cost: Cost { innermost_s: 1.0, overhead_s: Vec::new() },
            harness_warm_up: None,
            terms: Vec::new(),
            grid: Grid::of(&[values.len() / 2, 2], values.to_vec()).unwrap(),
        };
        let benchmarks = benchmarks.iter().map(recorded).collect();
        let levels = vec![Level::Fork, Level::Iteration];
        Recording { name: name.to_owned(), levels, benchmarks, warnings: Vec::new() }
    }

    fn rules() -> Rules {
        let paper = PaperRule { statistic: Statistic::Median, confidence: 0.99, threshold: 0.03 };
        Rules { paper: Some(paper), house: Some(HouseRule { threshold: 0.03, alpha: 0.01, fdr: 0.05 }) }
    }

    const SLOW: [f64; 8] = [120.0, 120.2, 119.9, 120.1, 120.0, 120.3, 119.8, 120.1];
    const FAST: [f64; 8] = [100.0, 100.2, 99.9, 100.1, 100.0, 100.3, 99.8, 100.1];

    #[test]
    fn both_rules_see_a_plain_change_and_its_direction() {
        let check = |better, (a, b): (&[f64], &[f64]), want| {
            let detection =
                detect(&recording("a", &[("X", better, a)]), &recording("b", &[("X", better, b)]), &rules());
            let found = &detection.benchmarks[0];
            assert_eq!(found.paper.as_ref().unwrap().change, Some(want));
            assert_eq!(found.house.as_ref().unwrap().answer.word(), want.word());
            assert_eq!(detection.has_regression(), want == Change::Regression);
        };
        check(Better::Lower, (&FAST, &SLOW), Change::Regression);
        check(Better::Lower, (&SLOW, &FAST), Change::Improvement);
        check(Better::Higher, (&FAST, &SLOW), Change::Improvement);
        check(Better::Higher, (&SLOW, &FAST), Change::Regression);
    }

    #[test]
    fn the_same_values_are_no_change() {
        let detection = detect(
            &recording("a", &[("X", Better::Lower, &FAST)]),
            &recording("b", &[("X", Better::Lower, &FAST)]),
            &rules(),
        );
        assert_eq!(detection.benchmarks[0].paper.as_ref().unwrap().change, None);
        assert_eq!(detection.benchmarks[0].house.as_ref().unwrap().answer, Answer::Judged(Verdict::NoChange));
    }

    #[test]
    fn what_is_alone_is_named_and_what_makes_no_sense_is_warned_of() {
        let base = recording("a", &[("X", Better::Lower, &FAST), ("Gone", Better::Lower, &FAST)]);
        let head = recording("b", &[("New", Better::Lower, &FAST), ("X", Better::Lower, &[f64::NAN; 8])]);
        let detection = detect(&base, &head, &rules());
        assert_eq!((detection.only_base, detection.only_head), (vec!["Gone".to_owned()], vec!["New".to_owned()]));
        assert!(detection.benchmarks.is_empty() && detection.not_compared[0].contains("`X` was not compared"));
    }

    #[test]
    fn too_few_units_give_no_verdict() {
        let base = recording("a", &[("X", Better::Lower, &FAST[..4])]);
        let head = recording("b", &[("X", Better::Lower, &SLOW)]);
        let detection = detect(&base, &head, &rules());
        let house = detection.benchmarks[0].house.as_ref().unwrap();
        assert_eq!(house.answer, Answer::TooFew { level: Level::Fork, have: 2 });
        assert!(!detection.has_regression());
    }

    #[test]
    fn reduced_configurations_miss_what_they_do_not_measure() {
        // The last iteration of every fork is slow in head; a plan of one iteration does not see it, one of all does.
        let tail = |slow: f64| [100.0, slow, 100.1, slow, 99.9, slow, 100.0, slow];
        let base = recording("a", &[("X", Better::Lower, &tail(100.0))]);
        let head = recording("b", &[("X", Better::Lower, &tail(150.0))]);
        let rule = PaperRule { statistic: Statistic::Mean, ..rules().paper.unwrap() };
        let plan = |configuration: &[usize]| BTreeMap::from([("X".to_owned(), configuration.to_vec())]);
        let all = fidelity(&base, &head, &plan(&[4, 2]), &rule);
        assert_eq!((all.compared, all.full, all.reduced, all.missed.len()), (1, 1, 1, 0));
        let few = fidelity(&base, &head, &plan(&[4, 1]), &rule);
        assert_eq!((few.full, few.reduced, &few.missed[..]), (1, 0, &["X".to_owned()][..]));
        assert_eq!((few.missed_rate(), few.false_rate()), (Some(1.0), None));
        assert_eq!(fidelity(&base, &head, &BTreeMap::new(), &rule).compared, 0);
    }
}
