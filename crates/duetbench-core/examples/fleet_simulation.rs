//! Simulates a suite of 1,000 benchmarks on a fleet, beside one virtual machine, and writes a line of JSON for each setting:
//! `benches/fleet_simulation.py` makes a page of them.
//!
//! Standard input has a line for each benchmark that was really measured: the standard deviation of the log ratio between fork pairs
//! of one build pair, the same between build pairs, and the length of a trial in seconds. What decides is real: the dispatcher, the
//! monitor with its looks, and the forecast. Instances, their clock and the values are not.

#[path = "../../duetbench-stats/tests/noise_support/mod.rs"]
mod noise_support;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::analysis::{ForkPair, ForkSide, Looked, Monitor, Standing};
use duetbench_core::fleet::{CallLength, Caps, Dispatcher, Heard, Next, Rate, Sending, Since, Task, Usage, forecast};
use duetbench_core::plan::{Design, ExecutionConfiguration, Mode, Plan, PlannedBenchmark, Purpose, Style};
use duetbench_core::spec::{Arch, Decision, EngineName, FleetSpec, defaults};
use duetbench_core::stats::looks;
use noise_support::Noise;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use serde_json::{Value, json};

const BENCHMARKS: usize = 1000;
const MEMORIES_MB: [u32; 4] = [1024, 1769, 2048, 3538];
const PARALLELS: [u32; 4] = [50, 150, 500, 1000];
/// Standard deviations of the log ratio between instances.
const INSTANCE_SDS: [f64; 3] = [0.0, 0.01, 0.03];
/// The one that is assumed unless it is what is varied.
const INSTANCE_SD: f64 = 0.01;
/// Trials of other harnesses are so many times as long as those that were measured: duet's are short.
const STRETCH: f64 = 20.0;
/// Every twentieth benchmark is slower by this, and every twentieth by twice this.
const PLANTED: f64 = 0.05;
/// Memory that comes with one whole processor on AWS Lambda, megabytes.
const ONE_CPU_MB: f64 = 1769.0;
/// AWS Lambda in us-east-1, as in `prices.toml` of duetbench-run.
const RATE: Rate = Rate { gb_second_x86_64: 0.0000166667, gb_second_arm64: 0.0000133334, million_requests: 0.20 };
const CALL_MAX: Duration = Duration::from_secs(300);

/// A benchmark as it was measured.
#[derive(Debug, Clone, Copy)]
struct Real {
    sd_within: f64,
    sd_layout: f64,
    trial_s: f64,
}

/// Where a suite is measured.
#[derive(Debug, Clone, Copy)]
struct Setting {
    memory_mb: u32,
    parallel: u32,
    instance_sd: f64,
    /// Factor by which trials are longer than those that were measured.
    stretch: f64,
    length: CallLength,
    /// Time between two looks; a moment without work is a look too.
    look_every: Duration,
}

impl Setting {
    fn fleet(memory_mb: u32, parallel: u32, instance_sd: f64) -> Setting {
        let length = CallLength::default();
        Setting { memory_mb, parallel, instance_sd, stretch: 1.0, length, look_every: Duration::from_millis(200) }
    }

    /// One machine, which is always on and never another.
    fn machine() -> Setting {
        let length = CallLength { cold_ns: 0, overhead_ns: 0 };
        let look_every = Duration::from_secs(10);
        Setting { memory_mb: 3538, parallel: 1, instance_sd: 0.0, stretch: 1.0, length, look_every }
    }

    /// Time of a trial as a multiple of what it took here.
    fn slowdown(self) -> f64 {
        self.stretch * (ONE_CPU_MB / f64::from(self.memory_mb)).max(1.0)
    }

    /// The same with longer trials, looked at as much more seldom.
    fn stretched(self, stretch: f64) -> Setting {
        Setting { stretch, look_every: self.look_every.mul_f64(stretch), ..self }
    }

    fn spec(self) -> FleetSpec {
        FleetSpec {
            engine: EngineName::Lambda,
            memory_mb: self.memory_mb,
            arch: Arch::X86_64,
            parallel: self.parallel,
            max_cost_usd: 1000.0,
            max_time: Duration::from_secs(100 * 3600),
            forks_per_call: defaults::FLEET_FORKS_PER_CALL,
        }
    }
}

/// Every benchmark of the suite is one of the real ones, drawn with replacement.
fn suite(real: &[Real]) -> Vec<Real> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..BENCHMARKS).map(|_| real[rng.random_range(0..real.len())]).collect()
}

fn plan(suite: &[Real], setting: Setting) -> Plan {
    let forks_per_unit = defaults::FLEET_FORKS_PER_CALL;
    let design = Design {
        units: defaults::FLEET_CALLS,
        forks_per_unit,
        doubled: 0,
        places: 1,
        by_build: false,
        sequential: true,
    };
    let planned = |(number, real): (usize, &Real)| PlannedBenchmark {
        id: BenchmarkId { package: "simulated".into(), name: format!("Benchmark{number:04}") },
        style: Style::Loop,
        mode: Mode::InterleavedOneCore,
        mode_reason: String::new(),
        configuration: ExecutionConfiguration {
            design,
            slice_ns: 1,
            trial_ns: 1,
            warmup_slices: 0,
            warm_ns: 0,
            purpose: Purpose::Judged,
        },
        trial_predicted_ns: (1e9 * real.trial_s * setting.slowdown()) as u64,
        first_ns: 1,
        threads: 1,
        runtime_threads: false,
        profile: None,
        redefined: None,
    };
    Plan {
        seed: 1,
        benchmarks: suite.iter().enumerate().map(planned).collect(),
        excluded: Vec::new(),
        budget_ns: None,
        disturbed: false,
        confirm_rounds: 0,
        check: None,
        spread: false,
    }
}

/// The change that was planted in a benchmark, as a log ratio.
fn planted(benchmark: usize) -> f64 {
    match benchmark % 20 {
        0 => PLANTED.ln_1p(),
        10 => (2.0 * PLANTED).ln_1p(),
        _ => 0.0,
    }
}

/// A stream of its own for everything that is drawn, so that a benchmark has the same values in every setting.
fn stream(benchmark: usize, number: u32) -> Noise {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    random.set_stream(benchmark as u64 * 1_000_000 + u64::from(number));
    Noise(random)
}

/// The log ratio of the two builds of a benchmark: what was planted, and what their layouts differ by.
fn truth(benchmark: usize, real: Real) -> f64 {
    planted(benchmark) + real.sd_layout * stream(benchmark, 999_999).normal()
}

fn fork_pair(suite_run: u32, log_ratio: f64) -> ForkPair {
    let side = ForkSide {
        invocations: 1,
        ns_per_op: 1.0,
        typical_ns: None,
        cpu_ns_per_op: None,
        bytes_per_op: None,
        allocs_per_op: None,
        collector_share: None,
    };
    ForkPair {
        build: 0,
        round: 0,
        suite_run,
        fork: 0,
        mode: Mode::InterleavedOneCore,
        baseline: side,
        candidate: side,
        log_ratio,
        log_ratio_complete: log_ratio,
        log_ratio_in_full: None,
        cpu: None,
        log_ratio_idle: None,
        busy: None,
        slice_spread: 0.0,
        unrecorded_ns: None,
        collections: 0,
        slices: 1,
    }
}

/// One benchmark on its way to a verdict.
#[derive(Debug, Clone, Default)]
struct Course {
    /// Those of the calls up to the look that is next.
    forks: Vec<ForkPair>,
    /// Calls that were asked for.
    asked: u32,
    answered: u32,
    /// Calls that the last look rests on.
    judged: u32,
    standing: Option<Standing>,
}

impl Course {
    fn is_complete(&self) -> bool {
        self.answered == self.asked
    }

    /// Suite runs that the last look rests on.
    fn suite_runs(&self) -> u32 {
        self.judged * defaults::FLEET_FORKS_PER_CALL
    }
}

/// A suite on its way through a fleet.
struct Simulation<'a> {
    setting: Setting,
    suite: &'a [Real],
    plan: &'a Plan,
    monitor: Monitor<'a>,
    dispatcher: Dispatcher,
    courses: Vec<Course>,
    now: Since,
    /// Calls under way by when they end.
    ends: BTreeMap<(Since, u64), (Sending, Usage)>,
    numbers: u64,
    /// Instances that were started.
    instances: usize,
    due: bool,
    look_at: Since,
}

impl<'a> Simulation<'a> {
    fn new((suite, plan): (&'a [Real], &'a Plan), decision: &'a Decision, setting: Setting) -> Simulation<'a> {
        let caps = Caps::of(&setting.spec(), setting.parallel, RATE, CALL_MAX.as_nanos() as u64);
        let mut simulation = Simulation {
            setting,
            suite,
            plan,
            monitor: Monitor::new(plan, decision),
            dispatcher: Dispatcher::new(caps, 0.0, 1),
            courses: vec![Course::default(); suite.len()],
            now: Since::ZERO,
            ends: BTreeMap::new(),
            numbers: 0,
            instances: 0,
            due: false,
            look_at: Since::ZERO,
        };
        (0..suite.len()).for_each(|benchmark| simulation.ask(benchmark));
        simulation
    }

    /// Adds the calls of one benchmark up to its next look.
    fn ask(&mut self, benchmark: usize) {
        let course = &mut self.courses[benchmark];
        let until = looks(defaults::FLEET_CALLS).into_iter().find(|n| *n > course.asked).unwrap_or(course.asked);
        let suite_runs = defaults::FLEET_FORKS_PER_CALL;
        let task = |call| Task { benchmark: benchmark as u32, first_suite_run: call * suite_runs, suite_runs };
        let tasks: Vec<Task> = (course.asked..until).map(task).collect();
        course.asked = until;
        self.dispatcher.add(&tasks);
    }

    fn run(mut self) -> Value {
        loop {
            match self.dispatcher.next(self.now) {
                Next::Send(sending) => self.send(sending),
                Next::Wait(longest) => self.wait(longest),
                Next::End(_) if self.due => self.look(),
                Next::End(_) => return self.outcome(),
            }
        }
    }

    fn send(&mut self, sending: Sending) {
        let task = sending.task;
        let cold = self.ends.len() == self.instances;
        self.instances += usize::from(cold);
        let trial_ns = self.plan.benchmarks[task.benchmark as usize].trial_predicted_ns;
        let start_ns = if cold { self.setting.length.cold_ns } else { 0 };
        let billed_ns = start_ns + self.setting.length.overhead_ns + trial_ns * u64::from(task.suite_runs);
        self.numbers += 1;
        let end = self.now + Duration::from_nanos(billed_ns);
        self.ends.insert((end, self.numbers), (sending, Usage { billed_ns, cold }));
    }

    /// Until a call ends, it is time to look, or the dispatcher wants to be asked.
    fn wait(&mut self, longest: Duration) {
        let asked = self.now + longest;
        let end = self.ends.first_key_value().map_or(asked, |((end, _), _)| *end);
        let look = if self.due { self.look_at.max(self.now) } else { asked };
        self.now = asked.min(end).min(look);
        if end <= self.now
            && let Some((_, (sending, usage))) = self.ends.pop_first()
        {
            self.dispatcher.heard(sending, Heard::Measured(usage), self.now);
            self.measured(sending.task);
        }
        if self.due && self.now >= self.look_at {
            self.look();
        }
    }

    /// A call has given its fork pairs.
    fn measured(&mut self, task: Task) {
        let benchmark = task.benchmark as usize;
        let real = self.suite[benchmark];
        let mut noise = stream(benchmark, task.first_suite_run);
        let level = truth(benchmark, real) + self.setting.instance_sd * noise.normal();
        let course = &mut self.courses[benchmark];
        for suite_run in task.first_suite_run..task.first_suite_run + task.suite_runs {
            course.forks.push(fork_pair(suite_run, level + real.sd_within * noise.normal()));
        }
        course.answered += 1;
        self.due |= course.is_complete();
    }

    /// Judges everyone by the calls up to the last complete look, and asks for more where that is not enough.
    fn look(&mut self) {
        (self.due, self.look_at) = (false, self.now + self.setting.look_every);
        for course in &mut self.courses {
            course.forks.sort_by_key(|fork| fork.suite_run);
        }
        // Those that wait for calls are judged by what they had at their last look.
        for course in self.courses.iter_mut().filter(|course| course.is_complete()) {
            course.judged = course.asked;
        }
        let after: Vec<u32> = self.courses.iter().map(|course| course.suite_runs().saturating_sub(1)).collect();
        let forks: Vec<&[ForkPair]> =
            self.courses.iter().map(|course| &course.forks[..course.suite_runs() as usize]).collect();
        let looked = self.monitor.look(&after, &forks);
        for (benchmark, Looked { standing, .. }) in looked.into_iter().enumerate() {
            let course = &mut self.courses[benchmark];
            let open = course.standing.is_none_or(|standing| standing == Standing::Open);
            if open && course.is_complete() {
                course.standing = Some(standing);
                if standing == Standing::Open {
                    self.ask(benchmark);
                }
            }
        }
    }

    fn outcome(self) -> Value {
        let tallied = self.dispatcher.tallied();
        let regressed = |course: &Course| matches!(course.standing, Some(Standing::Regressed { .. }));
        let called: Vec<usize> = (0..self.suite.len()).filter(|b| regressed(&self.courses[*b])).collect();
        let settled = self.courses.iter().filter(|c| c.standing != Some(Standing::Open)).count();
        let against = called.iter().filter(|b| truth(**b, self.suite[**b]) <= 0.0).count();
        let predicted = forecast(self.plan, &self.setting.spec(), self.setting.parallel, RATE, self.setting.length);
        json!({
            "memory_mb": self.setting.memory_mb,
            "parallel": self.setting.parallel,
            "instance_sd": self.setting.instance_sd,
            "stretch": self.setting.stretch,
            "benchmarks": self.suite.len(),
            "wall_s": self.now.as_secs_f64(),
            "cost_usd": tallied.cost_usd,
            "calls": tallied.calls,
            "instances": self.instances,
            "settled": settled,
            "planted": (0..self.suite.len()).filter(|b| planted(*b) > 0.0).count(),
            "planted_called": called.iter().filter(|b| planted(**b) > 0.0).count(),
            "called_against_truth": against,
            "forecast_calls": predicted.calls,
            "forecast_wall_s": predicted.wall.as_secs_f64(),
            "forecast_cost_usd": predicted.cost_usd,
        })
    }
}

fn simulate(real: &[Real], setting: Setting) -> Value {
    let suite = suite(real);
    let (plan, decision) = (plan(&suite, setting), Decision::default());
    Simulation::new((&suite, &plan), &decision, setting).run()
}

fn read() -> Result<Vec<Real>, Box<dyn Error>> {
    let mut real = Vec::new();
    for line in stdin().lines() {
        let numbers: Vec<f64> = line?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let &[sd_within, sd_layout, trial_s] = numbers.as_slice() else {
            return Err("a line has three numbers".into());
        };
        real.push(Real { sd_within, sd_layout, trial_s });
    }
    if real.is_empty() { Err("standard input has no benchmark".into()) } else { Ok(real) }
}

/// One machine and all fleets, in the order in which they are reported.
fn settings() -> Vec<Setting> {
    let grid = MEMORIES_MB.into_iter().flat_map(|memory| PARALLELS.map(|parallel| (memory, parallel, INSTANCE_SD)));
    let varied = INSTANCE_SDS.map(|sd| (defaults::FLEET_MEMORY_MB, defaults::FLEET_PARALLEL, sd));
    let fleets = grid.chain(varied).map(|(memory, parallel, sd)| Setting::fleet(memory, parallel, sd));
    let longer = PARALLELS.map(|parallel| Setting::fleet(defaults::FLEET_MEMORY_MB, parallel, INSTANCE_SD));
    let longer = longer.into_iter().chain([Setting::machine()]).map(|setting| setting.stretched(STRETCH));
    std::iter::once(Setting::machine()).chain(fleets).chain(longer).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        writeln!(stdout(), "fleet_simulation {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(());
    }
    let real = read()?;
    let outcomes: Vec<Value> = settings().into_par_iter().map(|setting| simulate(&real, setting)).collect();
    let mut out = stdout().lock();
    for outcome in outcomes {
        writeln!(out, "{outcome}")?;
    }
    Ok(())
}
