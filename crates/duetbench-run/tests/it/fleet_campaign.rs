//! The course of a run on a fleet that answers whatever the test says, in whatever order: no processes, no clocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use duetbench_core::analysis::{BenchmarkReport, Measured, TrialFailure, analyse};
use duetbench_core::fleet::{Abandoned, CallEnd, Ended, Rate, Sending, Task, fail_abandoned};
use duetbench_core::plan::{Mode, Plan};
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::{Arch, Decision, Effort, EngineName, FleetSpec};
use duetbench_core::{Role, Sample, Trial, Verdict};
use duetbench_run::RunError;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::fleet::campaign::{Call, FleetJob, FleetObserver, FleetProgress, FleetSummary, measure};
use duetbench_run::fleet::package::Recipes;
use duetbench_run::fleet::wire::{Instance, Outcome, Request, Response, VERSION};
use duetbench_run::fleet::{Deployed, FleetError, Limits, Reply};

use crate::fleet_support::{planned, recipe};
use crate::mutation::Draw;

const SPEC: FleetSpec = FleetSpec {
    engine: EngineName::Lambda,
    memory_mb: 2048,
    arch: Arch::X86_64,
    parallel: 24,
    max_cost_usd: 1000.0,
    max_time: Duration::from_secs(3600),
    forks_per_call: 2,
};
const RATE: Rate = Rate { gb_second_x86_64: 1e-5, gb_second_arm64: 1e-5, million_requests: 0.2 };

/// A suite whose benchmarks are named after their change in percent and how much fork pairs differ, as `+20~1`.
fn plan(names: &[&str], fixed: bool, builds: u32) -> Plan {
    let mut plan = Plan {
        seed: 5,
        benchmarks: names.iter().map(|name| planned("p", name)).collect(),
        excluded: Vec::new(),
        budget_ns: None,
        disturbed: false,
        confirm_rounds: 0,
        check: None,
        spread: false,
    };
    plan.spread_over_calls(&SPEC, Effort { forks: None, budget: None, builds: None, fixed, confirm: false }, |_| {
        builds
    });
    plan
}

/// A number between −1 and 1 that depends on these alone.
fn drawn(numbers: &[u64]) -> f64 {
    let mixed = numbers.iter().fold(0x9e37_79b9_7f4a_7c15u64, |state, number| {
        let z = (state ^ number).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb).rotate_left(17)
    });
    mixed as f64 / u64::MAX as f64 * 2.0 - 1.0
}

/// The outcome of a trial of a benchmark of this name, always the same.
fn outcome(name: &str, trial: &Trial) -> TrialOutcome {
    let (change, spread) = name.split_once('~').unwrap();
    let (change, spread): (f64, f64) = (change.parse().unwrap(), spread.parse().unwrap());
    let ratio = 1.0 + (change + spread * drawn(&[trial.seed])) / 100.0;
    let sample = |role, iteration: u32| Sample {
        at: Coordinates {
            role,
            instance: 0,
            build: trial.build,
            round: 0,
            suite_run: trial.suite_run,
            fork: 0,
            iteration,
        },
        block: 0,
        invocations: 1,
        wall_ns: if role == Role::Baseline { 1_000_000_000 } else { (1e9 * ratio) as u64 },
        cpu_ns: None,
        start_ns: u64::from(iteration),
        memory: None,
        cycles: None,
        warm_up: false,
    };
    let samples = Role::BOTH.into_iter().flat_map(|role| (0..2).map(move |i| sample(role, i))).collect();
    TrialOutcome {
        result: Ok(samples),
        mode: Mode::InterleavedAllCores,
        wall: Duration::from_secs(4),
        conditions: None,
    }
}

/// The answer of a worker that did all that it was asked for.
fn answer(request: &Request) -> Response {
    let trials = request.trials.iter().map(|wire| Trial::from(*wire));
    let instance = Instance { id: "i".into(), cpu: "a processor".into(), cpus: 2, ..Instance::default() };
    Response {
        version: VERSION,
        task: request.task.clone(),
        trials: trials.map(|trial| Outcome::new(&trial, &outcome(&request.planned.id.name, &trial))).collect(),
        truncated: false,
        trouble: None,
        instance: Instance { call_ns: 8_000_000_000, ..instance },
    }
}

/// Calls that wait for their answer, and those that may have it. Answers are let go one at a time, and only when everything that may
/// be sent has been sent, so that their order is the test's.
#[derive(Default)]
struct Gate {
    state: Mutex<(BTreeSet<String>, BTreeSet<String>)>,
    moved: Condvar,
}

impl Gate {
    fn sent(&self, task: Task) {
        self.state.lock().unwrap().0.insert(name(task));
    }

    /// Lets the next answer go, by this order.
    fn release(&self, seed: u64) {
        let mut state = self.state.lock().unwrap();
        let (waiting, released) = &mut *state;
        let rank = |task: &&String| (drawn(&[seed, task.bytes().fold(7, |n, b| n * 31 + u64::from(b))]) * 1e9) as i64;
        if let Some(next) = waiting.iter().min_by_key(rank).cloned() {
            waiting.remove(&next);
            released.insert(next);
        }
        self.moved.notify_all();
    }

    fn open(&self) {
        let mut state = self.state.lock().unwrap();
        let waiting = std::mem::take(&mut state.0);
        state.1.extend(waiting);
        self.moved.notify_all();
    }

    fn wait(&self, task: &str) {
        let state = self.state.lock().unwrap();
        drop(self.moved.wait_while(state, |(_, released)| !released.remove(task)).unwrap());
    }
}

fn name(task: Task) -> String {
    format!("{}.{}.{}", task.benchmark, task.first_suite_run, task.suite_runs)
}

/// Answers as `reply` says, once the gate lets it.
struct Fake<'a, R> {
    gate: Option<&'a Gate>,
    reply: R,
}

impl<R: Fn(&Request) -> Reply + Sync> Deployed for Fake<'_, R> {
    fn name(&self) -> &str {
        "duet-fake"
    }

    fn call(&self, request: &[u8]) -> Reply {
        let request = Request::read(request).unwrap();
        if let Some(gate) = self.gate {
            gate.wait(&request.task);
        }
        (self.reply)(&request)
    }

    fn remove(&self) -> Result<(), FleetError> {
        Ok(())
    }
}

fn well(request: &Request) -> Reply {
    Reply::Answer(answer(request).write(usize::MAX))
}

/// Everything that was heard of a sitting.
#[derive(Default)]
struct Notes<'a> {
    gate: Option<(&'a Gate, u64)>,
    sent: Vec<Task>,
    calls: Vec<Call>,
    trials: Vec<(Trial, TrialOutcome)>,
    /// Ends keeping after so many results, as a killed coordinator does.
    break_after: Option<usize>,
}

impl FleetObserver for Notes<'_> {
    fn sends(&mut self, sending: Sending) -> Result<(), RunError> {
        self.sent.push(sending.task);
        if let Some((gate, _)) = self.gate {
            gate.sent(sending.task);
        }
        Ok(())
    }

    fn ended(&mut self, call: &Call, trials: &[(Trial, TrialOutcome)]) -> Result<(), RunError> {
        if self.break_after.is_some_and(|most| self.calls.len() >= most) {
            if let Some((gate, _)) = self.gate {
                gate.open();
            }
            return Err(RunError::stored_run("the coordinator is gone"));
        }
        self.calls.push(call.clone());
        self.trials.extend_from_slice(trials);
        Ok(())
    }

    fn stands(&mut self, _: &FleetProgress) {
        if let Some((gate, seed)) = self.gate {
            gate.release(seed);
        }
    }
}

impl Notes<'_> {
    /// The tasks whose results count, in the order in which these came.
    fn counted(&self) -> Vec<Task> {
        self.calls.iter().filter(|call| call.end == CallEnd::Counted).map(|call| call.sending.task).collect()
    }
}

fn sit(
    plan: &Plan,
    deployed: &dyn Deployed,
    past: &[(Trial, TrialOutcome)],
    notes: &mut Notes<'_>,
) -> Result<FleetSummary, RunError> {
    let recipes = |_: &_, _: u32| {
        Some(Recipes { sides: [recipe(0, &[]), recipe(1, &[])], members: vec!["p0".into()], package: 0 })
    };
    let decision = Decision::default();
    let job = FleetJob {
        plan,
        thresholds: (&decision).into(),
        spec: &SPEC,
        deployed: &[deployed],
        limits: Limits { parallel: 1000, package_bytes: u64::MAX, payload_bytes: 6_000_000 },
        call_max: Duration::from_secs(60),
        timeout: Duration::from_secs(1),
        recipes: &recipes,
        rate: RATE,
        past,
        spent_usd: 0.0,
    };
    measure(&job, notes, &AtomicBool::new(false))
}

/// A sitting in which all goes well, with answers in the order of `seed`.
fn in_order(plan: &Plan, seed: u64) -> (Vec<Task>, Vec<BenchmarkReport>) {
    answered_by(well, plan, seed)
}

fn answered_by(reply: impl Fn(&Request) -> Reply + Sync, plan: &Plan, seed: u64) -> (Vec<Task>, Vec<BenchmarkReport>) {
    let gate = Gate::default();
    let mut notes = Notes { gate: Some((&gate, seed)), ..Notes::default() };
    let summary = sit(plan, &Fake { gate: Some(&gate), reply }, &[], &mut notes).unwrap();
    assert_eq!((summary.ended, notes.sent.len()), (Ended::Done, notes.calls.len()));
    (notes.counted(), judged(plan, &notes.trials))
}

/// The report on the trials that were kept.
fn judged(plan: &Plan, trials: &[(Trial, TrialOutcome)]) -> Vec<BenchmarkReport> {
    let mut measured = vec![Measured::default(); plan.benchmarks.len()];
    for (trial, outcome) in trials {
        match &outcome.result {
            Ok(samples) => measured[trial.benchmark].samples.extend(samples),
            Err(failure) => measured[trial.benchmark].failed_trials.push(failure.clone()),
        }
    }
    analyse(plan, &measured, &Decision::default())
}

fn verdicts(reports: &[BenchmarkReport]) -> BTreeMap<&str, &Verdict> {
    reports.iter().map(|report| (report.id.name.as_str(), &report.verdict)).collect()
}

/// Slower, faster, neither, what nobody can tell, and what hangs on a fork pair more or less.
const SUITE: [&str; 9] = ["+20~1", "-20~1", "0~1", "+3~6", "0~30", "+8~9", "+5~3", "-6~4", "+9~5"];

#[test]
fn decided_benchmarks_stop_costing() {
    let names = ["+20~1", "+21~1", "+22~1", "+23~1", "-20~1", "-21~1"];
    for builds in [1, 5] {
        let calls = |fixed| {
            let (counted, reports) = in_order(&plan(&names, fixed, builds), 1);
            let slower = reports.iter().filter(|report| report.verdict == Verdict::Regression).count();
            let faster = reports.iter().filter(|report| report.verdict == Verdict::Improvement).count();
            assert_eq!((slower, faster), (4, 2), "{:?}", verdicts(&reports));
            counted.len()
        };
        // The first look is after four of its units: calls, or build pairs of four calls each.
        let at_first_look = if builds == 1 { 4 } else { 16 };
        assert_eq!((calls(true), calls(false)), (6 * 20, 6 * at_first_look), "{builds} build pairs");
    }
}

#[test]
fn what_is_decided_and_what_varies_too_much_for_an_answer_is_not_measured_to_the_end() {
    let (counted, reports) = in_order(&plan(&SUITE, false, 1), 1);
    let calls = |benchmark: u32| counted.iter().filter(|task| task.benchmark == benchmark).count();
    assert_eq!((calls(0), calls(4)), (4, 13));
    assert!((0..9).all(|benchmark| (4..=20).contains(&calls(benchmark))));
    let verdicts = verdicts(&reports);
    assert_eq!((verdicts["+20~1"], verdicts["-20~1"]), (&Verdict::Regression, &Verdict::Improvement));
    assert_eq!(verdicts["0~1"], &Verdict::NoChange);
    assert!(matches!(verdicts["0~30"], Verdict::Inconclusive { .. }));
}

/// The second call of every benchmark fails, so that each look rests on what came before the one that was asked for.
fn second_fails(request: &Request) -> Reply {
    let mut response = answer(request);
    let trials = request.trials.iter().map(|wire| Trial::from(*wire));
    let failed = |trial: Trial| {
        let failure = TrialFailure { role: Some(Role::Candidate), reason: "no luck".into(), discarded: false };
        Outcome::new(&trial, &TrialOutcome { result: Err(failure), ..outcome("0~1", &trial) })
    };
    if trials.clone().any(|trial| trial.suite_run == 2) {
        response.trials = trials.map(failed).collect();
    }
    Reply::Answer(response.write(usize::MAX))
}

#[test]
fn the_order_in_which_results_come_changes_nothing() {
    let replies: [fn(&Request) -> Reply; 2] = [well, second_fails];
    for (reply, builds) in replies.into_iter().zip([5, 1]) {
        let plan = plan(&SUITE, false, builds);
        let (first, expected) = answered_by(reply, &plan, 0);
        let sorted = |tasks: &[Task]| tasks.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(sorted(&first).len(), first.len(), "a task counts twice");
        for seed in 1..5 {
            let (order, reports) = answered_by(reply, &plan, seed);
            assert_ne!(order, first, "nothing was shuffled");
            assert_eq!(sorted(&order), sorted(&first), "other tasks were sent");
            // Failures are told in the order in which they came, and these all have the same words.
            assert_eq!(reports, expected, "order {seed}");
        }
    }
}

#[test]
fn a_resumed_run_sends_nothing_twice_and_ends_as_if_nothing_had_happened() {
    let plan = plan(&SUITE, false, 1);
    let (all, expected) = in_order(&plan, 0);
    for break_after in [0, 1, 17, 40, all.len() - 1] {
        let gate = Gate::default();
        let fake = Fake { gate: Some(&gate), reply: well };
        let mut notes = Notes { gate: Some((&gate, 3)), break_after: Some(break_after), ..Notes::default() };
        assert!(sit(&plan, &fake, &[], &mut notes).is_err());
        let kept: BTreeSet<Task> = notes.counted().into_iter().collect();
        assert_eq!(kept.len(), break_after);
        let mut rest = Notes::default();
        let summary = sit(&plan, &Fake { gate: None, reply: well }, &notes.trials, &mut rest).unwrap();
        assert_eq!(summary.ended, Ended::Done);
        assert!(rest.sent.iter().all(|task| !kept.contains(task)), "sent again after {break_after}");
        let sent: BTreeSet<Task> = rest.sent.iter().copied().collect();
        assert_eq!(sent.len(), rest.sent.len(), "sent twice");
        assert_eq!(kept.union(&sent).count(), all.len());
        notes.trials.extend(rest.trials);
        assert_eq!(judged(&plan, &notes.trials), expected, "broken off after {break_after}");
    }
}

#[test]
fn a_run_that_is_complete_is_gone_on_with_for_nothing() {
    let plan = plan(&["+20~1", "0~30"], false, 1);
    let mut notes = Notes::default();
    sit(&plan, &Fake { gate: None, reply: well }, &[], &mut notes).unwrap();
    let mut rest = Notes::default();
    let summary = sit(&plan, &Fake { gate: None, reply: well }, &notes.trials, &mut rest).unwrap();
    assert_eq!((summary.ended, rest.sent.len(), summary.tallied.calls), (Ended::Done, 0, 0));
}

/// The words and ends of all calls for one benchmark, whose answers are spoilt in this way.
fn spoilt(spoil: impl Fn(&Request, &mut Response) + Sync) -> (Notes<'static>, FleetSummary) {
    let reply = |request: &Request| {
        let mut response = answer(request);
        spoil(request, &mut response);
        Reply::Answer(response.write(usize::MAX))
    };
    let mut notes = Notes::default();
    let summary = sit(&plan(&["0~1"], true, 1), &Fake { gate: None, reply }, &[], &mut notes).unwrap();
    (notes, summary)
}

#[test]
fn answers_that_make_no_sense_count_for_nothing_and_are_told_in_words() {
    type Spoil = fn(&Request, &mut Response);
    let cases: [(Spoil, &str); 6] = [
        (|_, response| response.task = "7.0.2".into(), "answered another task, 7.0.2"),
        (|_, response| response.trouble = Some("no room".into()), "no room"),
        (|_, response| response.version = 2, "of version 2"),
        (|_, response| response.trials.clear(), "no time or no room for a single trial"),
        (
            |request, response| {
                let slept = TrialFailure { role: None, reason: "the machine slept".into(), discarded: true };
                let spoilt = |wire| {
                    let trial = Trial::from(wire);
                    let outcome = TrialOutcome { result: Err(slept.clone()), ..outcome("0~1", &trial) };
                    Outcome::new(&trial, &outcome)
                };
                response.trials = request.trials.iter().copied().map(spoilt).collect();
            },
            "the machine slept",
        ),
        (
            |request, response| {
                let trial = Trial { suite_run: 4000, ..Trial::from(request.trials[0]) };
                response.trials = vec![Outcome::new(&trial, &outcome("0~1", &trial))];
            },
            "no time or no room for a single trial",
        ),
    ];
    for (spoil, words) in cases {
        let (notes, summary) = spoilt(spoil);
        assert_eq!((notes.trials.len(), summary.tallied.done), (0, 0), "{words}");
        assert!(notes.calls.iter().all(|call| call.end == CallEnd::Failed));
        let said = notes.calls[0].words.as_deref().unwrap();
        assert!(said.contains(words), "`{words}` not in `{said}`");
        assert_eq!((summary.ended, summary.given_up.len()), (Ended::Done, 20));
    }
}

#[test]
fn whatever_an_answer_says_the_run_comes_to_its_end_and_keeps_only_what_was_asked_for() {
    let draw = Mutex::new(Draw(0x9e37_79b9_7f4a_7c15));
    let reply = |request: &Request| {
        let (answer, mut draw) = (answer(request).write(usize::MAX), draw.lock().unwrap());
        let one_in_four = draw.below(4) == 0;
        Reply::Answer(if one_in_four { draw.mutated(&answer) } else { draw.renumbered(&answer) })
    };
    let plan = plan(&["+20~1", "0~1", "0~30"], true, 1);
    let mut counted = 0;
    for _ in 0..40 {
        let mut notes = Notes::default();
        let summary = sit(&plan, &Fake { gate: None, reply }, &[], &mut notes).unwrap();
        assert_eq!(summary.tallied.in_flight, 0);
        let sent: BTreeSet<Task> = notes.sent.iter().copied().collect();
        for (trial, _) in &notes.trials {
            let of = |task: &Task| task.benchmark as usize == trial.benchmark;
            let is_asked = |task: &Task| of(task) && (0..2).any(|i| task.first_suite_run + i == trial.suite_run);
            assert!(sent.iter().any(is_asked), "{trial:?} was not asked for");
        }
        counted += notes.trials.len();
        judged(&plan, &notes.trials);
    }
    assert!(counted > 1000, "hardly any answer was understood: {counted}");
}

#[test]
fn a_trial_that_is_told_twice_counts_once() {
    let (notes, summary) = spoilt(|_, response| {
        let again = response.trials.clone();
        response.trials.extend(again);
    });
    assert_eq!((summary.tallied.done, notes.trials.len()), (20, 40));
}

#[test]
fn what_is_left_out_of_an_answer_is_lost_and_the_rest_counts() {
    let (notes, summary) = spoilt(|_, response| {
        response.trials.pop();
        response.truncated = true;
    });
    assert_eq!((summary.tallied.done, notes.trials.len()), (20, 20));
}

#[test]
fn what_is_decided_is_not_abandoned_whatever_was_lost_on_the_way() {
    // One task of each benchmark never comes, and the first look of one is enough all the same.
    let reply = |request: &Request| {
        let never = request.trials.iter().any(|trial| Trial::from(*trial).suite_run == 2);
        if never { Reply::Lost("why".into()) } else { well(request) }
    };
    let plan = plan(&["+20~1", "+5~9"], false, 1);
    let mut notes = Notes::default();
    let summary = sit(&plan, &Fake { gate: None, reply }, &[], &mut notes).unwrap();
    assert_eq!((summary.ended, summary.given_up.len()), (Ended::Done, 2));
    let mut reports = judged(&plan, &notes.trials);
    let [Abandoned { benchmark: 1, reason }] = &summary.abandoned[..] else { panic!("{:?}", summary.abandoned) };
    assert_eq!((reason.as_str(), summary.is_complete()), ("why (sent 12 times)", false));
    let failing = fail_abandoned(&mut reports, &plan, &summary.abandoned);
    assert_eq!(failing, [plan.benchmarks[1].id.clone()]);
    let verdicts = verdicts(&reports);
    assert_eq!(verdicts["+20~1"], &Verdict::Regression);
    assert_eq!(verdicts["+5~9"], &Verdict::Failed { role: None, reason: reason.clone() });
}

#[test]
fn what_was_refused_was_not_carried_out_and_what_was_lost_may_have_been() {
    let ends = |reply: Reply| {
        let mut notes = Notes::default();
        let reply = |_: &Request| reply.clone();
        let summary = sit(&plan(&["0~1"], true, 1), &Fake { gate: None, reply }, &[], &mut notes).unwrap();
        assert!(notes.calls.iter().all(|call| call.end == CallEnd::Failed && call.words.as_deref() == Some("why")));
        let [Abandoned { benchmark: 0, reason }] = &summary.abandoned[..] else { panic!("{:?}", summary.abandoned) };
        assert!(reason.contains("why") && !summary.is_complete(), "{reason}");
        (summary.ended, notes.calls[0].usage.map(|usage| usage.billed_ns), summary.tallied.cost_usd > 0.0)
    };
    assert_eq!(ends(Reply::Refused("why".into())), (Ended::Refused, Some(0), false));
    assert_eq!(ends(Reply::Lost("why".into())), (Ended::Done, None, true));
    assert_eq!(ends(Reply::Crashed("why".into())), (Ended::Done, None, true));
}
