//! Running account of one benchmark.

use std::time::Duration;

use duetbench_core::analysis::{Cores, ForkPair, PILOT_FORKS, Standing, refined, summarise};
use duetbench_core::plan::{ExecutionConfiguration, Mode, PlannedBenchmark};
use duetbench_core::spec::defaults;

use super::TrialOutcome;

/// Failed trials after which a benchmark that never gave anything is given up.
const FAILURES_IN_A_ROW_MAX: u32 = 2;
/// Trials that the machine may spoil before a benchmark is given up: one that sleeps all the time measures nothing.
pub(super) const DISCARDED_MAX: u32 = 20;

/// Trials of one benchmark counted by how they ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts {
    /// Wall time of its trials.
    pub(super) spent: Duration,
    /// The part of it in trials that gave something.
    measured: Duration,
    trials: u32,
    successes: u32,
    failures: u32,
    failures_in_a_row: u32,
    discarded: u32,
}

impl Attempts {
    /// Takes the outcome of a trial.
    pub(super) fn count(&mut self, outcome: &TrialOutcome) {
        self.spent += outcome.wall;
        self.trials += 1;
        match &outcome.result {
            Ok(_) => {
                self.measured += outcome.wall;
                self.successes += 1;
                self.failures_in_a_row = 0;
            }
            Err(failure) if failure.discarded => self.discarded += 1,
            Err(_) => {
                self.failures += 1;
                self.failures_in_a_row += 1;
            }
        }
    }

    /// Whether the benchmark is given up, which depends on whether they gave anything.
    pub(super) fn are_in_vain(&self, gave_something: bool) -> bool {
        self.failures >= defaults::FAILURES_MAX
            || self.discarded >= DISCARDED_MAX
            || (!gave_something && self.failures_in_a_row >= FAILURES_IN_A_ROW_MAX)
    }

    /// Trials until now.
    pub(super) fn trials(&self) -> u32 {
        self.trials
    }

    /// Wall time of one trial: as seen in those that gave something, in all, or as predicted before any was seen. One that hung tells
    /// nothing of the others.
    pub(super) fn cost(&self, predicted_ns: u64) -> Duration {
        let of_all = || self.spent.checked_div(self.trials);
        self.measured.checked_div(self.successes).or_else(of_all).unwrap_or(Duration::from_nanos(predicted_ns))
    }
}

/// Running account of one benchmark.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    /// Fork pairs of the first round.
    pub(super) forks: Vec<ForkPair>,
    /// The mode that they were measured in; another than planned once it fell back.
    pub(super) mode: Mode,
    cores: Cores,
    /// Standing after the last look.
    pub(super) standing: Standing,
    pub(super) attempts: Attempts,
    /// Configuration of its trials once the first of them showed what suits it.
    refined: Option<ExecutionConfiguration>,
}

impl Tally {
    pub(super) fn new(planned: &PlannedBenchmark) -> Tally {
        Tally {
            forks: Vec::new(),
            mode: planned.mode,
            cores: Cores::default(),
            standing: Standing::Open,
            attempts: Attempts::default(),
            refined: None,
        }
    }

    /// Takes the outcome of one of its trials. A duet whose cores turn out too unlike begins anew in turns on one core.
    pub(super) fn count(&mut self, planned: &PlannedBenchmark, outcome: &TrialOutcome, threshold: f64) {
        self.attempts.count(outcome);
        let Ok(samples) = &outcome.result else { return };
        let of_first_round = summarise(samples, outcome.mode).forks.into_iter().filter(|f| f.round == 0);
        let before = self.forks.len();
        self.forks.extend(of_first_round);
        // Trials that confirm are made in the mode of what they confirm, whatever they show of the cores.
        if self.forks.len() == before {
            return;
        }
        if outcome.mode == Mode::Duet && self.cores.make_fall_back(samples, threshold) {
            self.mode = Mode::InterleavedOneCore;
            self.forks.clear();
            self.refined = None;
        }
        // Once: what later trials take is what was settled here.
        if self.refined.is_none() && self.forks.len() >= PILOT_FORKS {
            let trial_ns = self.trial_cost(planned).as_nanos() as f64;
            let refined = refined(planned.configuration, &self.forks, trial_ns);
            let trial_ns = refined.trial_ns.min(planned.longest_trial_ns());
            self.refined = Some(ExecutionConfiguration { trial_ns, ..refined });
        }
    }

    fn gave_up(&self) -> bool {
        self.attempts.are_in_vain(!self.forks.is_empty())
    }

    /// Wall time of one trial: as seen, or as planned before any was seen.
    pub(super) fn trial_cost(&self, planned: &PlannedBenchmark) -> Duration {
        self.attempts.cost(planned.trial_predicted_ns)
    }

    /// The benchmark as its next trial is executed: as planned, or as suits what was seen so far.
    pub(super) fn refine(&self, planned: &PlannedBenchmark) -> PlannedBenchmark {
        let configuration = self.refined.unwrap_or(planned.configuration);
        PlannedBenchmark { mode: self.mode, configuration, ..planned.clone() }
    }

    /// Units of which at least one fork pair was measured.
    pub(super) fn units(&self, planned: &PlannedBenchmark) -> u32 {
        let design = &planned.configuration.design;
        // Forks are in the order of suite runs, so those of one unit stand together.
        let units = self.forks.chunk_by(|a, b| design.unit(a.suite_run) == design.unit(b.suite_run)).count();
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// Whether this suite run would add to it: it is open, and the unit is one of those it has or may still have.
    pub(super) fn wants(&self, planned: &PlannedBenchmark, suite_run: u32) -> bool {
        self.is_open(planned) || self.has_begun(planned, suite_run)
    }

    /// Whether this suite run would complete a unit that it has begun.
    pub(super) fn has_begun(&self, planned: &PlannedBenchmark, suite_run: u32) -> bool {
        let design = &planned.configuration.design;
        let begun = self.forks.iter().any(|f| design.unit(f.suite_run) == design.unit(suite_run));
        begun && self.standing == Standing::Open && !self.gave_up()
    }

    /// Whether more units would be measured, if there were time.
    pub(super) fn is_open(&self, planned: &PlannedBenchmark) -> bool {
        self.standing == Standing::Open && !self.gave_up() && self.units(planned) < planned.configuration.design.units
    }

    /// Fork pairs that it lacks of those it has at most.
    pub(super) fn forks_left(&self, planned: &PlannedBenchmark) -> u32 {
        let all = planned.configuration.design.forks();
        all.saturating_sub(u32::try_from(self.forks.len()).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use duetbench_core::plan::{Design, Mode, Purpose, Style};
    use duetbench_core::sample::Coordinates;
    use duetbench_core::{BenchmarkId, Role, Sample};

    use super::*;
    use crate::engine::TrialFailure;

    fn planned() -> PlannedBenchmark {
        let design = Design { units: 20, forks_per_unit: 1, doubled: 0, places: 1, by_build: false, sequential: true };
        PlannedBenchmark {
            id: BenchmarkId { package: "p".into(), name: "A".into() },
            style: Style::Loop,
            mode: Mode::InterleavedOneCore,
            mode_reason: String::new(),
            configuration: ExecutionConfiguration {
                design,
                slice_ns: 1,
                trial_ns: 20_000_000,
                warmup_slices: 0,
                warm_ns: 0,
                purpose: Purpose::Judged,
            },
            trial_predicted_ns: 1,
            first_ns: 1,
            threads: 1,
            runtime_threads: false,
            profile: None,
            redefined: None,
        }
    }

    fn slice() -> Sample {
        Sample {
            at: Coordinates {
                role: Role::Baseline,
                instance: 0,
                build: 0,
                round: 0,
                suite_run: 0,
                fork: 0,
                iteration: 0,
            },
            block: 0,
            invocations: 1,
            wall_ns: 200_000,
            cpu_ns: None,
            start_ns: 0,
            memory: None,
            cycles: None,
            warm_up: false,
        }
    }

    /// A trial of a duet in this round, whose sides exchange cores of which one is slower by so much.
    fn duet(round: u32, suite_run: u32, slower: f64) -> TrialOutcome {
        let sample = |role, iteration: u32| Sample {
            at: Coordinates { role, instance: 0, build: 0, round, suite_run, fork: 0, iteration },
            block: iteration / 10,
            wall_ns: if (role == Role::Baseline) == (iteration / 10).is_multiple_of(2) {
                (200_000.0 * slower) as u64
            } else {
                200_000
            },
            ..slice()
        };
        let samples = (0..100).flat_map(|i| Role::BOTH.map(|role| sample(role, i))).collect();
        TrialOutcome { result: Ok(samples), mode: Mode::Duet, wall: Duration::from_millis(80), conditions: None }
    }

    #[test]
    fn cores_that_turn_out_unlike_while_confirming_take_nothing_back() {
        let planned = PlannedBenchmark { mode: Mode::Duet, ..planned() };
        let mut unlike = Tally::new(&planned);
        let mut like = unlike.clone();
        for suite_run in 0..8 {
            unlike.count(&planned, &duet(0, suite_run, 1.1), 0.03);
            like.count(&planned, &duet(0, suite_run, 1.0), 0.03);
        }
        assert_eq!(unlike.mode, Mode::InterleavedOneCore);
        for suite_run in 0..20 {
            like.count(&planned, &duet(1, suite_run, 1.1), 0.03);
        }
        assert_eq!((like.mode, like.forks.len()), (Mode::Duet, 8));
    }

    /// A hundred slices of a side, which vary and whose mean varies from trial to trial.
    fn outcome(suite_run: u32, wall: Duration) -> TrialOutcome {
        let sample = |role, iteration| Sample {
            at: Coordinates { role, instance: 0, build: 0, round: 0, suite_run, fork: 0, iteration },
            wall_ns: 200_000
                + u64::from(role == Role::Candidate) * u64::from(iteration % 10 * 1000 + suite_run % 3 * 500),
            ..slice()
        };
        let samples = (0..100).flat_map(|i| Role::BOTH.map(|role| sample(role, i))).collect();
        TrialOutcome { result: Ok(samples), mode: Mode::InterleavedOneCore, wall, conditions: None }
    }

    #[test]
    fn a_trial_that_hangs_says_nothing_of_how_long_others_take() {
        let planned = planned();
        let [mut smooth, mut hung] = [Tally::new(&planned), Tally::new(&planned)];
        let failure = TrialFailure { role: None, reason: "hangs".into(), discarded: false };
        let hanging = TrialOutcome { result: Err(failure), ..outcome(0, Duration::from_secs(60)) };
        hung.count(&planned, &hanging, 0.03);
        for suite_run in 0..8 {
            for tally in [&mut smooth, &mut hung] {
                tally.count(&planned, &outcome(suite_run, Duration::from_millis(80)), 0.03);
            }
        }
        assert_eq!(smooth.refine(&planned), hung.refine(&planned));
        assert_eq!(smooth.trial_cost(&planned), hung.trial_cost(&planned));
    }

    #[test]
    fn the_length_of_trials_is_settled_once_by_the_first_of_them() {
        let planned = planned();
        let mut tally = Tally::new(&planned);
        for suite_run in 0..8 {
            assert_eq!(tally.refine(&planned), planned);
            tally.count(&planned, &outcome(suite_run, Duration::from_millis(80)), 0.03);
        }
        let settled = tally.refine(&planned);
        assert_ne!(settled.configuration.trial_ns, planned.configuration.trial_ns);
        for suite_run in 8..20 {
            tally.count(&planned, &outcome(suite_run, Duration::from_secs(9)), 0.03);
            assert_eq!(tally.refine(&planned), settled);
        }
    }
}
