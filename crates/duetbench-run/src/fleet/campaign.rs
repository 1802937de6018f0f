//! The course of a run on a fleet: rounds of calls, each up to every open benchmark's next planned look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use duetbench_core::analysis::{ForkPair, Looked, Monitor, Standing, TrialFailure, summarise};
use duetbench_core::fleet::{
    Abandoned, CallEnd, Caps, Dispatcher, Ended, Fate, GaveUp, Heard, Next, Rate, Sending, Tallied, Task, Usage,
};
use duetbench_core::plan::{Design, Plan, PlannedBenchmark};
use duetbench_core::spec::{FleetSpec, Thresholds, defaults};
use duetbench_core::{Schedule, Trial};

use super::package::Recipes;
use super::wire::{Instance, Request, Response, VERSION};
use super::worker::for_worker;
use super::{Deployed, Limits, Reply};
use crate::engine::TrialOutcome;
use crate::error::RunError;

/// Interval at which an interrupt is looked for.
const TICK: Duration = Duration::from_millis(100);
/// Stack of a thread that waits for an answer.
const STACK_BYTES: usize = 1 << 20;

/// A plan to measure on a fleet, with the results of earlier sittings.
#[derive(Clone, Copy)]
pub struct FleetJob<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When an answer is known.
    pub thresholds: Thresholds<'a>,
    /// Settings of the fleet.
    pub spec: &'a FleetSpec,
    /// The deployed functions, one for each package.
    pub deployed: &'a [&'a dyn Deployed],
    /// Limits of the fleet.
    pub limits: Limits,
    /// Longest call.
    pub call_max: Duration,
    /// A trial that takes so much longer than planned counts as hung.
    pub timeout: Duration,
    /// Recipes to start a benchmark from one of the packages' build pairs.
    pub recipes: &'a dyn Fn(&PlannedBenchmark, u32) -> Option<Recipes>,
    /// Prices.
    pub rate: Rate,
    /// Trials of earlier sittings; their tasks are not sent again.
    pub past: &'a [(Trial, TrialOutcome)],
    /// Cost of earlier sittings, US dollars.
    pub spent_usd: f64,
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The task that it was to measure, and how often that had been sent.
    pub sending: Sending,
    /// Whether it counted, or why not.
    pub end: CallEnd,
    /// The error in words, where there was one.
    pub words: Option<String>,
    /// Where it was carried out, if it was.
    pub instance: Option<Instance>,
    /// Billed usage, where that is known.
    pub usage: Option<Usage>,
}

/// Hears of every call; keeps its result before anything is concluded from it.
pub trait FleetObserver {
    /// A call is about to be sent.
    ///
    /// # Errors
    /// When that cannot be kept.
    fn sends(&mut self, sending: Sending) -> Result<(), RunError>;
    /// A call has ended, with what became of its trials where it counts.
    ///
    /// # Errors
    /// When the result cannot be kept: the run must not go on.
    fn ended(&mut self, call: &Call, trials: &[(Trial, TrialOutcome)]) -> Result<(), RunError>;
    /// Something has changed.
    fn stands(&mut self, standing: &FleetProgress);
}

/// Where a run on a fleet stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FleetProgress {
    /// Numbers of this sitting.
    pub tallied: Tallied,
    /// Benchmarks whose answer is known, or that ended without.
    pub settled: usize,
    /// Wall time so far.
    pub elapsed: Duration,
    /// The user wants to stop, and calls that were sent are waited for.
    pub stopping: bool,
}

/// The end of a sitting, with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetSummary {
    /// Why.
    pub ended: Ended,
    /// Its numbers.
    pub tallied: Tallied,
    /// Tasks without a result.
    pub given_up: Vec<GaveUp>,
    /// Benchmarks that are open for reasons of the fleet.
    pub abandoned: Vec<Abandoned>,
    /// Wall time.
    pub measured: Duration,
}

impl FleetSummary {
    /// Whether everything was measured that was to be measured, so that there is nothing to go on with.
    pub fn is_complete(&self) -> bool {
        self.ended == Ended::Done && self.abandoned.is_empty()
    }
}

/// Measures everything in the plan. An interrupt ends the run once the calls in flight have been heard of.
///
/// # Errors
/// When the observer cannot go on. Everything reported until then has been kept.
pub fn measure(
    job: &FleetJob<'_>,
    observer: &mut dyn FleetObserver,
    interrupted: &AtomicBool,
) -> Result<FleetSummary, RunError> {
    let (sender, heard) = channel();
    std::thread::scope(|scope| {
        let mut campaign = Campaign::new(job, observer, interrupted);
        let lines = Lines { scope, sender, heard };
        let ended = campaign.run(&lines)?;
        Ok(FleetSummary {
            ended,
            tallied: campaign.dispatcher.tallied(),
            given_up: campaign.dispatcher.given_up().to_vec(),
            abandoned: campaign.abandoned(ended),
            measured: campaign.began.elapsed(),
        })
    })
}

/// A call that has ended: what it was, and what came of it.
type Landed = (Sending, Reply);

/// Where calls are sent from and heard of.
struct Lines<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<Landed>,
    heard: Receiver<Landed>,
}

/// State of one benchmark.
#[derive(Debug, Clone)]
struct Course {
    forks: Vec<ForkPair>,
    /// Suite runs of fork pairs that failed for good.
    failures: Vec<u32>,
    /// Units that were asked for.
    asked: u32,
    standing: Standing,
}

impl Course {
    /// Whether more calls may answer something: a benchmark that fails so often is failed, whatever else they give. Of a run that goes on
    /// only failures count that were asked for again, so that it goes as it would have gone.
    fn is_open(&self, design: &Design) -> bool {
        let asked = design.forks_of(self.asked);
        let failures = self.failures.iter().filter(|suite_run| **suite_run < asked).count();
        self.standing == Standing::Open && failures < defaults::FAILURES_MAX as usize
    }
}

struct Campaign<'a, 'o> {
    job: &'a FleetJob<'a>,
    observer: &'o mut dyn FleetObserver,
    interrupted: &'o AtomicBool,
    schedule: Schedule,
    suite_runs: BTreeMap<u32, Vec<Trial>>,
    monitor: Monitor<'a>,
    dispatcher: Dispatcher,
    courses: Vec<Course>,
    past: BTreeSet<(usize, u32)>,
    began: Instant,
}

impl<'a, 'o> Campaign<'a, 'o> {
    fn new(
        job: &'a FleetJob<'a>,
        observer: &'o mut dyn FleetObserver,
        interrupted: &'o AtomicBool,
    ) -> Campaign<'a, 'o> {
        let call_max_ns = u64::try_from(job.call_max.as_nanos()).unwrap_or(u64::MAX);
        let caps = Caps::of(job.spec, job.limits.parallel.min(job.spec.parallel), job.rate, call_max_ns);
        let course = Course { forks: Vec::new(), failures: Vec::new(), asked: 0, standing: Standing::Open };
        let mut campaign = Campaign {
            job,
            observer,
            interrupted,
            schedule: Schedule::new(job.plan),
            suite_runs: BTreeMap::new(),
            monitor: Monitor::new(job.plan, job.thresholds),
            dispatcher: Dispatcher::new(caps, job.spent_usd, job.plan.seed),
            courses: vec![course; job.plan.benchmarks.len()],
            past: job.past.iter().map(|(trial, _)| (trial.benchmark, trial.suite_run)).collect(),
            began: Instant::now(),
        };
        job.past.iter().for_each(|(trial, outcome)| campaign.count(trial, outcome));
        campaign
    }

    /// Rounds until nobody is open. Who is settled is asked only between rounds, when every result is in, so that it does not depend
    /// on the order in which results came.
    fn run(&mut self, lines: &Lines<'_, 'a>) -> Result<Ended, RunError> {
        loop {
            let Some(tasks) = self.next_round() else { return Ok(Ended::Done) };
            self.dispatcher.add(&tasks);
            let ended = self.round(lines)?;
            if ended != Ended::Done {
                return Ok(ended);
            }
            self.look();
        }
    }

    /// Benchmarks that are open for reasons of the fleet, now that the sitting has ended so.
    fn abandoned(&mut self, ended: Ended) -> Vec<Abandoned> {
        let mut abandoned = Vec::new();
        let open: Vec<usize> = (0..self.courses.len()).filter(|index| self.is_open(*index)).collect();
        for index in open {
            let asked = self.courses[index].asked;
            let wants_more = self.monitor.next_look(index, asked).is_some();
            let benchmark = u32::try_from(index).unwrap_or(u32::MAX);
            let reason = self.dispatcher.abandons(benchmark, ended, wants_more);
            abandoned.extend(reason.map(|reason| Abandoned { benchmark, reason }));
        }
        abandoned
    }

    /// The tasks that bring every open benchmark to its next look, in the schedule's order; absent when nobody is open.
    fn next_round(&mut self) -> Option<Vec<Task>> {
        let mut wanted: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        let each = self.job.spec.forks_per_call.max(1);
        for benchmark in 0..self.courses.len() {
            let asked = self.courses[benchmark].asked;
            if !self.is_open(benchmark) {
                continue;
            }
            let Some(next) = self.monitor.next_look(benchmark, asked) else { continue };
            let design = self.job.plan.benchmarks[benchmark].configuration.design;
            for first in (design.forks_of(asked)..design.forks_of(next)).step_by(each as usize) {
                wanted.entry(first).or_default().insert(benchmark);
            }
            self.courses[benchmark].asked = next;
        }
        let mut tasks = Vec::new();
        for (first_suite_run, benchmarks) in &wanted {
            let order: Vec<usize> = self.trials_of(*first_suite_run).iter().map(|t| t.benchmark).collect();
            tasks.extend(order.into_iter().filter(|b| benchmarks.contains(b)).map(|benchmark| Task {
                benchmark: u32::try_from(benchmark).unwrap_or(u32::MAX),
                first_suite_run: *first_suite_run,
                suite_runs: each,
            }));
        }
        let measured = |task: &Task| self.past.contains(&(task.benchmark as usize, task.first_suite_run));
        tasks.retain(|task| !measured(task));
        (!wanted.is_empty()).then_some(tasks)
    }

    /// The trials of a suite run, in order.
    fn trials_of(&mut self, suite_run: u32) -> &[Trial] {
        let schedule = &self.schedule;
        self.suite_runs.entry(suite_run).or_insert_with(|| schedule.suite_run(0, suite_run))
    }

    /// Sends and hears until every task has come to its end, or no more may be sent.
    fn round(&mut self, lines: &Lines<'_, 'a>) -> Result<Ended, RunError> {
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                self.dispatcher.stop();
            }
            let patience = match self.dispatcher.next(self.began.elapsed()) {
                Next::End(ended) => return Ok(ended),
                Next::Wait(patience) => patience.min(TICK),
                Next::Send(sending) => {
                    self.observer.sends(sending)?;
                    self.send(sending, lines);
                    continue;
                }
            };
            match lines.heard.recv_timeout(patience) {
                Ok((sending, reply)) => self.hear(sending, reply)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.observer.stands(&self.progress());
        }
    }

    fn progress(&self) -> FleetProgress {
        let settled = (0..self.courses.len()).filter(|benchmark| !self.is_open(*benchmark)).count();
        let stopping = self.interrupted.load(Ordering::Relaxed);
        FleetProgress { tallied: self.dispatcher.tallied(), settled, elapsed: self.began.elapsed(), stopping }
    }

    /// Has a thread send a call and wait for what comes of it.
    fn send(&mut self, sending: Sending, lines: &Lines<'_, 'a>) {
        let request = self.request(sending.task);
        let sender = lines.sender.clone();
        let wait = move || {
            let reply = request.map_or_else(Reply::Refused, |(deployed, request)| deployed.call(&request.write()));
            // Nobody listens any more once the run could not go on.
            let _ = sender.send((sending, reply));
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(lines.scope, wait);
        if let Err(e) = thread {
            let _ = lines.sender.send((sending, Reply::Throttled(format!("no thread for it: {e}"))));
        }
    }

    /// The request for a task, and the function that it goes to.
    fn request(&mut self, task: Task) -> Result<(&'a dyn Deployed, Request), String> {
        let planned = &self.job.plan.benchmarks[task.benchmark as usize];
        let trials = self.trials(task);
        let build = trials.first().map_or(0, |trial| trial.build);
        let recipes = (self.job.recipes)(planned, build);
        let not_held = || format!("no package holds {}", planned.id);
        let Recipes { sides, members, package } = recipes.ok_or_else(not_held)?;
        let deployed = *self.job.deployed.get(package).ok_or_else(not_held)?;
        let request = Request {
            version: VERSION,
            task: name(task),
            planned: for_worker(planned, planned.mode),
            trials: trials.into_iter().map(Into::into).collect(),
            members,
            sides,
            timeout: self.job.timeout,
            answer_bytes_max: self.job.limits.payload_bytes,
        };
        Ok((deployed, request))
    }

    fn trials(&mut self, task: Task) -> Vec<Trial> {
        let suite_runs = task.first_suite_run..task.first_suite_run + task.suite_runs;
        let benchmark = task.benchmark as usize;
        suite_runs.filter_map(|s| self.trials_of(s).iter().find(|t| t.benchmark == benchmark).copied()).collect()
    }

    /// Takes what came of a call: it is kept first, and counted then.
    fn hear(&mut self, sending: Sending, reply: Reply) -> Result<(), RunError> {
        let task = sending.task;
        let asked = self.trials(task);
        let Understood { heard, response, outcomes } = understand(reply, &name(task), &asked);
        // A refused call was not carried out.
        let refused = matches!(heard, Heard::Refused(_)).then_some(Usage { billed_ns: 0, cold: false });
        let usage = response.as_ref().map(usage).or(refused);
        let words = words(&heard);
        let throttled = heard == Heard::Throttled;
        let fate = self.dispatcher.heard(sending, heard, self.began.elapsed());
        let end = match fate {
            Fate::Count => CallEnd::Counted,
            Fate::Duplicate => CallEnd::Duplicate,
            _ if throttled => CallEnd::Throttled,
            Fate::Again | Fate::GivenUp => CallEnd::Failed,
        };
        let counted = if end == CallEnd::Counted { &outcomes[..] } else { &[] };
        let call = Call { sending, end, words, instance: response.map(|r| r.instance), usage };
        self.observer.ended(&call, counted)?;
        counted.iter().for_each(|(trial, outcome)| self.count(trial, outcome));
        Ok(())
    }

    fn is_open(&self, benchmark: usize) -> bool {
        self.courses[benchmark].is_open(&self.job.plan.benchmarks[benchmark].configuration.design)
    }

    fn count(&mut self, trial: &Trial, outcome: &TrialOutcome) {
        let Some(course) = self.courses.get_mut(trial.benchmark) else { return };
        match &outcome.result {
            Ok(samples) => course.forks.extend(summarise(samples, outcome.mode).forks),
            Err(failure) if failure.discarded => {}
            Err(_) => course.failures.push(trial.suite_run),
        }
    }

    /// Asks who is settled, now that everything asked for is in.
    fn look(&mut self) {
        for course in &mut self.courses {
            course.forks.sort_by_key(|fork| fork.suite_run);
        }
        let last = |(course, planned): (&Course, &PlannedBenchmark)| {
            planned.configuration.design.forks_of(course.asked).saturating_sub(1)
        };
        let after: Vec<u32> = self.courses.iter().zip(&self.job.plan.benchmarks).map(last).collect();
        let forks: Vec<&[ForkPair]> = self.courses.iter().map(|c| c.forks.as_slice()).collect();
        let looked = self.monitor.look(&after, &forks);
        for (benchmark, Looked { standing, .. }) in looked.into_iter().enumerate() {
            let course = &mut self.courses[benchmark];
            // A settled benchmark stays so.
            if course.standing == Standing::Open && self.job.plan.benchmarks[benchmark].configuration.design.sequential
            {
                course.standing = standing;
            }
        }
    }
}

/// The task's name on the wire.
fn name(task: Task) -> String {
    format!("{}.{}.{}", task.benchmark, task.first_suite_run, task.suite_runs)
}

/// A reply, read and checked.
pub(super) struct Understood {
    pub(super) heard: Heard,
    response: Option<Response>,
    pub(super) outcomes: Vec<(Trial, TrialOutcome)>,
}

/// Reads a reply to the call that asked for these trials.
pub(super) fn understand(reply: Reply, task: &str, asked: &[Trial]) -> Understood {
    let bytes = match reply {
        Reply::Answer(bytes) => bytes,
        Reply::Throttled(_) => return Understood::without(Heard::Throttled),
        Reply::Lost(words) => return Understood::without(Heard::Lost(words)),
        Reply::Crashed(words) => return Understood::without(Heard::Crashed(words)),
        Reply::Refused(words) => return Understood::without(Heard::Refused(words)),
    };
    let response = match Response::read(&bytes) {
        Ok(response) => response,
        Err(why) => return Understood::without(Heard::Crashed(format!("the worker's answer: {why}"))),
    };
    if let Some(trouble) = response.trouble {
        return Understood::without(Heard::Crashed(trouble));
    }
    if response.task != task {
        return Understood::without(Heard::Crashed(format!("the worker answered another task, {}", response.task)));
    }
    let mut outcomes: Vec<(Trial, TrialOutcome)> = Vec::new();
    for outcome in &response.trials {
        // A trial that was not asked for, or is told twice, is none.
        let trial = asked.iter().find(|trial| trial.suite_run == outcome.suite_run());
        let told = |trial: &Trial| outcomes.iter().any(|(known, _)| known.suite_run == trial.suite_run);
        if let Some(trial) = trial.filter(|trial| !told(trial)) {
            outcomes.push((*trial, outcome.outcome_of(trial)));
        }
    }
    let failures: Vec<&TrialFailure> =
        outcomes.iter().filter_map(|(_, outcome)| outcome.result.as_ref().err()).collect();
    let all_fail = failures.len() == outcomes.len();
    let heard = match failures.first().filter(|_| all_fail) {
        _ if outcomes.is_empty() => Heard::Crashed("there was no time or no room for a single trial".to_owned()),
        // The machine spoilt them, so that they are measured once more.
        Some(failure) if failures.iter().all(|failure| failure.discarded) => Heard::Crashed(failure.reason.clone()),
        Some(failure) => Heard::BenchmarkFailed(usage(&response), failure.reason.clone()),
        None => Heard::Measured(usage(&response)),
    };
    Understood { heard, response: Some(response), outcomes }
}

impl Understood {
    fn without(heard: Heard) -> Understood {
        Understood { heard, response: None, outcomes: Vec::new() }
    }
}

/// Billed usage, by the worker's own clock.
fn usage(response: &Response) -> Usage {
    let instance = &response.instance;
    let cold = instance.calls_before == 0;
    let billed_ns = instance.call_ns.saturating_add(if cold { instance.init_ns } else { 0 });
    Usage { billed_ns, cold }
}

pub(super) fn words(heard: &Heard) -> Option<String> {
    match heard {
        Heard::Measured(_) | Heard::Throttled => None,
        Heard::BenchmarkFailed(_, words) | Heard::Lost(words) | Heard::Crashed(words) | Heard::Refused(words) => {
            Some(words.clone())
        }
    }
}
