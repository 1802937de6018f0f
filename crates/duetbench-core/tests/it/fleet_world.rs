//! A provider that does everything wrong that providers do, on a clock of its own, and the dispatcher between it and the tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use duetbench_core::fleet::{Caps, Dispatcher, Ended, Fate, Heard, Next, Sending, Since, Task, Usage};
use duetbench_core::spec::Arch;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fleet::RATE;

const CALL_MAX: Duration = Duration::from_secs(20);
const BENCHMARKS: u32 = 12;
const TASKS_EACH: u32 = 8;
/// It fails whenever it is measured.
const FAILS: u32 = 3;
/// Its instance runs out of memory whenever it is measured.
const CRASHES: u32 = 5;

/// Faults and limits of one world.
#[derive(Clone, Copy)]
struct Weather {
    /// Share of calls that meet each kind of fault.
    faults: f64,
    /// Calls that the provider takes at once.
    capacity: usize,
    cost_usd: f64,
    time: Duration,
    refuses: Option<Since>,
    interrupt: Option<Since>,
    kill: Option<Since>,
}

impl Weather {
    fn of(seed: u64) -> Weather {
        let fair = Weather {
            faults: 0.04,
            capacity: 60,
            cost_usd: 10.0,
            time: Duration::from_secs(3600),
            refuses: None,
            interrupt: None,
            kill: None,
        };
        let at = Some(Duration::from_millis(2_500 + 700 * (seed % 17)));
        match seed % 8 {
            0 => Weather { capacity: 5, ..fair },
            1 => Weather { refuses: at, ..fair },
            2 => Weather { interrupt: at, ..fair },
            3 => Weather { kill: at, ..fair },
            4 => Weather { cost_usd: 0.002 + 0.000_5 * (seed % 5) as f64, ..fair },
            5 => Weather { time: Duration::from_secs(9), ..fair },
            6 => Weather { faults: 0.19, ..fair },
            _ => fair,
        }
    }
}

/// Records that outlive a coordinator that is killed.
#[derive(Default)]
struct Journal {
    /// Number of times that a result counted.
    counted: BTreeMap<Task, u32>,
    /// Calls that were recorded as sent and whose answer was not.
    unheard: BTreeSet<(u32, Sending)>,
    /// Cost of the others, US dollars.
    spent: f64,
}

/// Faults by kind.
type Faults = BTreeMap<&'static str, u32>;

/// The provider and the clock.
struct World {
    weather: Weather,
    rng: ChaCha8Rng,
    now: Since,
    /// Answers to calls that are still to come, by time; the number keeps those of one moment apart.
    coming: BTreeMap<(Since, u64), (Sending, Heard)>,
    numbers: u64,
    /// Until when each call occupies an instance.
    busy: Vec<Since>,
    /// Sum that the provider really charges, US dollars.
    charged: f64,
    faults: Faults,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            weather: Weather::of(seed),
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: Since::ZERO,
            coming: BTreeMap::new(),
            numbers: 0,
            busy: Vec::new(),
            charged: 0.0,
            faults: Faults::new(),
        }
    }

    fn fault(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }

    fn tell(&mut self, call: Sending, heard: Heard, later: Duration) {
        self.numbers += 1;
        self.coming.insert((self.now + later, self.numbers), (call, heard));
    }

    fn run(&mut self, length: Duration) -> Usage {
        self.busy.push(self.now + length);
        let usage = Usage { billed_ns: length.as_nanos() as u64, cold: self.rng.random() };
        self.charged += RATE.of(usage, 2048, Arch::X86_64);
        usage
    }

    /// A call arrives at the provider.
    fn take(&mut self, call: Sending) {
        let now = self.now;
        self.busy.retain(|until| *until > now);
        let soon = Duration::from_millis(self.rng.random_range(5..80));
        if self.weather.refuses.is_some_and(|at| now >= at) {
            self.fault("refused");
            return self.tell(call, Heard::Refused("the token has expired".into()), soon);
        }
        if self.busy.len() >= self.weather.capacity || self.rng.random_bool(self.weather.faults) {
            self.fault("throttled");
            return self.tell(call, Heard::Throttled, soon);
        }
        let length = Duration::from_millis(self.rng.random_range(200..3_000));
        let draw = (self.rng.random::<f64>() / self.weather.faults) as u32;
        match (draw, call.task.benchmark) {
            (0, _) => {
                self.fault("lost and not run");
                self.tell(call, Heard::Lost("connection refused".into()), soon);
            }
            (1, _) => {
                self.fault("lost and run");
                self.run(length);
                self.tell(call, Heard::Lost("connection reset".into()), length / 2);
            }
            (2, _) => {
                self.fault("taken for lost and late");
                let usage = self.run(length);
                self.tell(call, Heard::Lost("connection reset".into()), length / 2);
                let late = Duration::from_millis(self.rng.random_range(0..20_000));
                self.tell(call, Heard::Measured(usage), length + late);
            }
            (3, _) | (_, CRASHES) => {
                self.fault("crashed");
                self.run(length);
                self.tell(call, Heard::Crashed("out of memory".into()), length);
            }
            (4, _) => {
                self.fault("hung");
                self.run(CALL_MAX);
                self.tell(call, Heard::Crashed("timed out".into()), CALL_MAX);
            }
            (5, _) => {
                self.fault("answered twice");
                let usage = self.run(length);
                self.tell(call, Heard::Measured(usage), length);
                self.tell(call, Heard::Measured(usage), length + soon);
            }
            (_, FAILS) => {
                self.fault("failed");
                let usage = self.run(length);
                self.tell(call, Heard::BenchmarkFailed(usage, "index out of range".into()), length);
            }
            _ => {
                let usage = self.run(length);
                self.tell(call, Heard::Measured(usage), length);
            }
        }
    }
}

/// End of a sitting: as the dispatcher said, or killed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Sat {
    Ended(&'static str),
    Killed,
}

fn all_tasks() -> Vec<Task> {
    let of = |run| (0..BENCHMARKS).map(move |benchmark| Task { benchmark, first_suite_run: 4 * run, suite_runs: 4 });
    (0..TASKS_EACH).flat_map(of).collect()
}

fn caps(weather: Weather) -> Caps {
    Caps {
        parallel: 40,
        cost_usd: weather.cost_usd,
        time: weather.time,
        rate: RATE,
        memory_mb: 2048,
        arch: Arch::X86_64,
        call_max_ns: CALL_MAX.as_nanos() as u64,
    }
}

fn word(ended: Ended) -> &'static str {
    match ended {
        Ended::Done => "done",
        Ended::Cost => "cost",
        Ended::Time => "time",
        Ended::Broken => "broken",
        Ended::Refused => "refused",
        Ended::Interrupted => "interrupted",
    }
}

/// A coordinator that begins anew, with what the journal tells and nothing else.
struct Sitting<'a> {
    number: u32,
    world: &'a mut World,
    journal: &'a mut Journal,
    dispatcher: Dispatcher,
    in_flight: BTreeSet<Sending>,
    began: Since,
    interrupted: bool,
}

impl<'a> Sitting<'a> {
    fn new(number: u32, world: &'a mut World, journal: &'a mut Journal) -> Sitting<'a> {
        let caps = caps(world.weather);
        let most = Usage { billed_ns: caps.call_max_ns, cold: false };
        let unheard = journal.unheard.len() as f64 * RATE.of(most, 2048, Arch::X86_64);
        let mut dispatcher = Dispatcher::new(caps, journal.spent + unheard, u64::from(number));
        let left: Vec<Task> = all_tasks().into_iter().filter(|t| !journal.counted.contains_key(t)).collect();
        dispatcher.add(&left);
        let began = world.now;
        Sitting { number, world, journal, dispatcher, in_flight: BTreeSet::new(), began, interrupted: false }
    }

    fn now(&self) -> Since {
        self.world.now - self.began
    }

    /// Follows the dispatcher until it says that this is the end.
    fn sit(mut self) -> Sat {
        for _ in 0..20_000 {
            if self.world.weather.kill.is_some_and(|at| self.world.now >= at) {
                self.world.fault("killed");
                self.world.weather.kill = None;
                // Nobody is left to hear what is still coming.
                self.world.coming.clear();
                return Sat::Killed;
            }
            if self.world.weather.interrupt.is_some_and(|at| self.world.now >= at) {
                self.world.fault("interrupted");
                self.world.weather.interrupt = None;
                self.dispatcher.stop();
                self.interrupted = true;
            }
            match self.dispatcher.next(self.now()) {
                Next::Send(sending) => self.send(sending),
                Next::Wait(longest) => self.wait(longest),
                Next::End(ended) => return self.end(ended),
            }
        }
        panic!("it never ends: {:?}", self.dispatcher.tallied());
    }

    fn send(&mut self, call: Sending) {
        let now = self.now();
        assert!(!self.interrupted && now < self.world.weather.time, "sent too late");
        assert!(self.in_flight.insert(call), "the same call twice");
        assert!(self.in_flight.len() <= self.dispatcher.allowed(now).min(40) as usize, "too many in flight");
        assert_eq!(self.journal.counted.get(&call.task), None, "its result is there");
        self.journal.unheard.insert((self.number, call));
        self.world.take(call);
    }

    fn wait(&mut self, longest: Duration) {
        assert!(longest > Duration::ZERO);
        let until = self.world.now + longest;
        let Some((at, _)) = self.world.coming.first_key_value().map(|(at, _)| *at).filter(|(at, _)| *at <= until)
        else {
            self.world.now = until;
            return;
        };
        self.world.now = at;
        if let Some((_, (call, heard))) = self.world.coming.pop_first() {
            self.hear(call, heard);
        }
    }

    fn hear(&mut self, call: Sending, heard: Heard) {
        let now = self.now();
        let is_result = matches!(heard, Heard::Measured(_) | Heard::BenchmarkFailed(..));
        let before = self.dispatcher.tallied().cost_usd;
        let fate = self.dispatcher.heard(call, heard, now);
        assert!(fate != Fate::Count || is_result);
        if fate == Fate::Count {
            *self.journal.counted.entry(call.task).or_default() += 1;
        }
        let paid = self.dispatcher.tallied().cost_usd - before;
        self.journal.spent += paid;
        let awaited = self.in_flight.remove(&call);
        assert!(awaited || paid == 0.0, "paid twice");
        self.journal.unheard.remove(&(self.number, call));
        assert_eq!(self.dispatcher.tallied().in_flight as usize, self.in_flight.len());
    }

    fn end(mut self, ended: Ended) -> Sat {
        assert!(self.in_flight.is_empty(), "ended with calls in flight");
        // Results that were on their way may still be told.
        while let Some((_, (call, heard))) = self.world.coming.pop_first() {
            self.hear(call, heard);
        }
        let tallied = self.dispatcher.tallied();
        let gave_up: BTreeSet<Task> = self.dispatcher.given_up().iter().map(|g| g.task).collect();
        assert_eq!(gave_up.len(), self.dispatcher.given_up().len(), "given up twice");
        assert!(gave_up.iter().all(|task| !self.journal.counted.contains_key(task)), "counted and given up");
        assert!(self.dispatcher.given_up().iter().all(|g| !g.reason.is_empty()));
        let settled = tallied.done + tallied.given_up;
        assert!(settled <= tallied.tasks && (ended != Ended::Done || settled == tallied.tasks), "{tallied:?}");
        assert_eq!(ended == Ended::Done, self.journal.counted.len() + gave_up.len() == all_tasks().len());
        Sat::Ended(word(ended))
    }
}

/// Sits until everything is done, at most twenty times; what was exhausted is granted anew and what was refused is mended.
fn live_through(seed: u64) -> (Vec<Sat>, Faults) {
    let (mut world, mut journal, mut course) = (World::new(seed), Journal::default(), Vec::new());
    for number in 0..20 {
        let sat = Sitting::new(number, &mut world, &mut journal).sit();
        assert!(world.charged <= world.weather.cost_usd + 1e-12, "seed {seed}: {} charged", world.charged);
        assert!(journal.counted.values().all(|times| *times == 1), "seed {seed}: counted twice");
        course.push(sat);
        match sat {
            Sat::Ended("done") => return (course, world.faults),
            Sat::Ended("cost") => world.weather.cost_usd *= 1.5,
            Sat::Ended("time") => world.weather.time = Duration::from_secs(3600),
            Sat::Ended("refused") => world.weather.refuses = None,
            Sat::Ended("broken") => world.weather.faults = 0.01,
            Sat::Ended(_) | Sat::Killed => {}
        }
    }
    panic!("seed {seed} is never done: {course:?}");
}

#[test]
fn whatever_goes_wrong_no_result_is_lost_or_counted_twice_and_no_cap_exceeded() {
    let (mut faults, mut endings) = (Faults::new(), BTreeSet::new());
    for seed in 0..96 {
        let (course, met) = live_through(seed);
        endings.extend(course);
        met.into_iter().for_each(|(kind, times)| *faults.entry(kind).or_default() += times);
    }
    let kinds = ["refused", "throttled", "lost and not run", "lost and run", "taken for lost and late", "crashed"];
    let more = ["hung", "answered twice", "failed", "interrupted", "killed"];
    for kind in kinds.into_iter().chain(more) {
        assert!(faults.get(kind).is_some_and(|times| *times >= 10), "{kind}: {faults:?}");
    }
    assert!(faults.values().sum::<u32>() >= 300, "{faults:?}");
    assert_eq!(endings.len(), 7, "every way to end: {endings:?}");
}

#[test]
fn the_same_world_takes_the_same_course() {
    (0..8).for_each(|seed| assert_eq!(live_through(seed), live_through(seed)));
}
