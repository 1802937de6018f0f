//! Notes about a calibration in later reports.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Calibration, Difference, Machine, Rate, SuiteSight};
use crate::sample::BenchmarkId;

/// A calibration, with the run that it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Name of the run in its store.
    pub run: String,
    /// When, RFC 3339.
    pub made: String,
    /// Where it was measured.
    pub machine: Machine,
    /// Its results.
    pub calibration: Calibration,
}

/// The calibration that concerns a report, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationNote {
    /// Name of the run that it was made from.
    pub run: String,
    /// When, RFC 3339.
    pub made: String,
    /// Facts about the machine that have changed since; where there are any, the numbers need not hold any more.
    pub changed: Vec<Difference>,
    /// The change that is seen in about the time that the run measured each benchmark; absent where that pays for no interval.
    pub seen: Option<SuiteSight>,
    /// Rate at which equal code was called changed.
    pub called_changed: Rate,
    /// Benchmarks that run and calibration have in common.
    pub benchmarks: u32,
    /// Those of them that cannot see anything useful.
    pub blind: u32,
}

impl Made {
    /// The calibration in a list, newest first, that tells most about a run of these benchmarks on this machine: one made here before all
    /// others, then the one that knows most of them, then the newest. Absent where none knows one.
    pub fn concerning<'a>(all: &'a [Made], ids: &BTreeSet<&BenchmarkId>, here: &Machine) -> Option<&'a Made> {
        let shared = |made: &Made| made.calibration.known().filter(|b| ids.contains(&b.id)).count();
        // Among equally good ones, `max_by_key` takes the last.
        all.iter().rev().filter(|made| shared(made) > 0).max_by_key(|made| (made.machine == *here, shared(made)))
    }

    /// Whether nothing has changed since: it is the same machine with the same benchmarks, of all of which something was learnt.
    pub fn holds_for(&self, ids: &BTreeSet<&BenchmarkId>, here: &Machine) -> bool {
        let known: BTreeSet<&BenchmarkId> = self.calibration.known().map(|b| &b.id).collect();
        self.machine == *here && known == *ids
    }

    /// The note for a run of these benchmarks, which measured each for so many seconds.
    pub fn note(&self, ids: &BTreeSet<&BenchmarkId>, each_s: f64, here: &Machine) -> CalibrationNote {
        let common = self.calibration.among(ids);
        let seen =
            common.nearest_budget(each_s).and_then(|budget| common.suite_sights().get(budget).copied().flatten());
        CalibrationNote {
            run: self.run.clone(),
            made: self.made.clone(),
            changed: self.machine.differences(here),
            seen,
            called_changed: common.alarms.called_changed,
            benchmarks: count(common.benchmarks.len()),
            blind: count(common.blind().count()),
        }
    }
}

impl Calibration {
    /// The same with what is known of these benchmarks alone. Its alarms are still those of all.
    fn among(&self, ids: &BTreeSet<&BenchmarkId>) -> Calibration {
        let benchmarks = self.benchmarks.iter().filter(|b| ids.contains(&b.id)).cloned().collect();
        Calibration { benchmarks, ..self.clone() }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Basis;
    use crate::calibrate::{Blind, Calibrated, Costs, Sight, Sources};
    use crate::environment::Environment;
    use crate::plan::Mode;
    use crate::spec::Decision;

    fn machine(kernel: &str, governor: Option<&str>) -> Machine {
        let environment = Environment {
            platform: "linux/amd64".into(),
            kernel: kernel.into(),
            cpu_model: "a processor".into(),
            cpus_usable: vec![0, 1],
            cores_physical: 2,
            smt: false,
            governor: governor.map(Into::into),
            load_1min: 0.0,
            steal_share: None,
            toolchain: "go1.26.0".into(),
            duet_version: "0.1.0".into(),
        };
        Machine::of(&environment, None)
    }

    fn id(name: &str) -> BenchmarkId {
        BenchmarkId { package: "p".into(), name: name.into() }
    }

    fn sources() -> Sources {
        Sources {
            layout: None,
            fork: 0.01,
            slice: 0.01,
            slices: 100,
            degrees_of_freedom: 19.0,
            basis: Basis::TypicalSlice,
            forks_per_unit: 1.0,
            fork_degrees_of_freedom: 0.0,
            tails: 1.0,
            places: 1,
        }
    }

    /// A calibration of benchmarks that see so much after 10 s, and half of it after 90 s.
    fn made(run: &str, machine: Machine, benchmarks: &[(&str, f64)]) -> Made {
        let sight = |change: f64| {
            Some(Sight { builds: 8, forks_per_build: 1, minimal_detectable_change: change, floor: change / 2.0 })
        };
        let calibrated = |(name, change): &(&str, f64)| Calibrated {
            id: id(name),
            mode: Mode::Duet,
            sources: Some(sources()),
            costs: Costs { build_s: 0.0, fork_s: 0.1, slice_s: 0.0 },
            sights: vec![sight(*change), sight(change / 2.0)],
            blind: (*change > 0.1).then_some(Blind::Layout),
        };
        let calibration = Calibration {
            budgets_s: vec![10.0, 90.0],
            benchmarks: benchmarks.iter().map(calibrated).collect(),
            ..Calibration::of(&[], &[], &Decision::default())
        };
        Made { run: run.into(), made: "2026-11-02T03:04:05Z".into(), machine, calibration }
    }

    #[test]
    fn one_that_was_made_here_says_most_then_one_of_more_benchmarks_then_the_newest() {
        let (here, there) = (machine("6.8", None), machine("6.9", None));
        let (a, b) = (id("A"), id("B"));
        let check = |all: &[Made], want: Option<&str>| {
            let found = Made::concerning(all, &[&a, &b].into(), &here);
            assert_eq!(found.map(|made| made.run.as_str()), want);
        };
        let both = [("A", 0.01), ("B", 0.02)];
        let at = |run, place: &Machine, benchmarks: &[(&str, f64)]| made(run, place.clone(), benchmarks);
        check(&[at("r3", &there, &both), at("r2", &here, &both), at("r1", &here, &both)], Some("r2"));
        check(&[at("r3", &here, &both[..1]), at("r2", &here, &both)], Some("r2"));
        check(&[at("r3", &there, &both), at("r2", &here, &both[..1])], Some("r2"));
        check(&[at("r3", &there, &both), at("r2", &there, &both)], Some("r3"));
        check(&[at("r3", &here, &[("C", 0.01)])], None);
    }

    #[test]
    fn a_note_is_about_the_benchmarks_of_the_run() {
        let made = made("r1", machine("6.8", None), &[("A", 0.01), ("B", 0.2), ("C", 0.04)]);
        let (a, b, d) = (id("A"), id("B"), id("D"));
        let note = |each_s: f64| made.note(&[&a, &b, &d].into(), each_s, &machine("6.8", Some("powersave")));
        let seen = note(29.0).seen.unwrap();
        assert_eq!((seen.budget_s, seen.least, seen.most, seen.benchmarks), (10.0, 0.01, 0.2, 2));
        // As a ratio 31 s are nearer to 90 s.
        assert_eq!(note(31.0).seen.unwrap().budget_s, 90.0);
        assert_eq!((note(1.0).benchmarks, note(1.0).blind), (2, 1));
        let unknown = Difference { fact: "governor".into(), then: None, now: Some("powersave".into()) };
        assert_eq!(note(1.0).changed, [unknown]);
    }

    #[test]
    fn it_holds_for_the_same_benchmarks_on_the_same_machine() {
        let made = made("r1", machine("6.8", None), &[("A", 0.01), ("B", 0.02)]);
        let (a, b) = (id("A"), id("B"));
        assert!(made.holds_for(&[&a, &b].into(), &machine("6.8", None)));
        assert!(!made.holds_for(&[&a].into(), &machine("6.8", None)));
        assert!(!made.holds_for(&[&a, &b].into(), &machine("6.9", None)));
    }

    #[test]
    fn a_benchmark_of_which_nothing_was_learnt_does_not_count() {
        let (here, ids) = (machine("6.8", None), [id("A"), id("B")]);
        let ids = ids.iter().collect();
        let short = |run: &str, learnt: usize| {
            let mut short = made(run, here.clone(), &[("A", 0.01), ("B", 0.02)]);
            short.calibration.benchmarks.iter_mut().skip(learnt).for_each(|b| b.sources = None);
            short
        };
        let all = [short("r3", 0), short("r2", 1), short("r1", 2)];
        assert_eq!(all.each_ref().map(|made| made.holds_for(&ids, &here)), [false, false, true]);
        let found = |all| Made::concerning(all, &ids, &here).map(|made| made.run.as_str());
        assert_eq!([found(&all), found(&all[..2]), found(&all[..1])], [Some("r1"), Some("r2"), None]);
    }
}
