//! Chooses the next call and settles each: retries, benchmarks that keep failing, the circuit breaker, and the caps.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Pace, Since, Task};

mod purse;
mod trouble;
mod words;

pub use words::{Caps, Ended, Fate, GaveUp, Heard, Next, Sending, Tallied};

use purse::Purse;
use trouble::{Breaker, Quiet, Reason, Record};

/// A task is sent so often at most; a call that was throttled was not taken and does not count. Where half of all calls give nothing,
/// one task in 4,096 is given up so.
const ATTEMPTS_MAX: u32 = 12;

/// Decides what is sent when. It knows no clock and sends nothing itself: whoever holds it asks for the [`Next`] and says what was
/// [`Heard`].
///
/// Tasks are sent in the order in which they were added. One that was throttled keeps its place. One whose call was lost or crashed
/// goes behind all that were added by then: whatever hit it may have passed, and what is added later, as the suite runs of a later
/// look, does not overtake it.
///
/// A task is settled once. The first result counts, be it that the benchmark fails, and be it late: of a call that was taken for lost,
/// or of a task that was given up.
#[derive(Debug)]
pub struct Dispatcher {
    caps: Caps,
    entries: BTreeMap<Task, Entry>,
    /// Tasks that wait to be sent, by rank.
    queue: BTreeMap<u64, Task>,
    ranks: u64,
    in_flight: u32,
    benchmarks: BTreeMap<u32, Record>,
    given_up: Vec<GaveUp>,
    ending: Option<Ended>,
    /// The last words about a call that gave nothing, until no more was sent.
    trouble: String,
    pace: Pace,
    purse: Purse,
    breaker: Breaker,
    quiet: Quiet,
    /// Numbers that are only counted and decide nothing.
    tallied: Tallied,
}

/// State of one task.
#[derive(Debug)]
struct Entry {
    /// Its place in the queue.
    rank: u64,
    /// Times it was sent.
    sendings: u32,
    /// Times it was sent and taken, or perhaps taken.
    attempts: u32,
    /// The sending that is in flight.
    in_flight: Option<u32>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Counted,
    GivenUp,
}

impl Dispatcher {
    /// One that has nothing to do yet. `spent` is what earlier sittings of the run used, US dollars; calls that they sent and never
    /// heard of belong to it with what they cost at most. `seed` spreads waits.
    pub fn new(caps: Caps, spent: f64, seed: u64) -> Dispatcher {
        Dispatcher {
            caps,
            entries: BTreeMap::new(),
            queue: BTreeMap::new(),
            ranks: 0,
            in_flight: 0,
            benchmarks: BTreeMap::new(),
            given_up: Vec::new(),
            ending: None,
            trouble: String::new(),
            pace: Pace::new(caps.parallel),
            purse: Purse::new(caps, spent),
            breaker: Breaker::default(),
            quiet: Quiet::new(seed),
            tallied: Tallied::default(),
        }
    }

    /// Adds tasks, in the order in which they shall be sent. One that it was given before is not added again; one of a benchmark that
    /// keeps failing is given up at once.
    pub fn add(&mut self, tasks: &[Task]) {
        for &task in tasks {
            if self.entries.contains_key(&task) {
                continue;
            }
            let rank = self.new_rank();
            self.entries.insert(task, Entry { rank, sendings: 0, attempts: 0, in_flight: None, state: State::Open });
            self.tallied.tasks += 1;
            self.put_back(task);
        }
    }

    /// The next step. It never says to wait when nothing is in flight and nothing will change by itself.
    pub fn next(&mut self, now: Since) -> Next {
        let Some((&rank, &task)) = self.queue.first_key_value() else {
            return if self.in_flight == 0 { Next::End(Ended::Done) } else { self.wait(now) };
        };
        if now >= self.caps.time {
            self.ending.get_or_insert(Ended::Time);
        }
        let affordable = self.purse.affords_one_more(self.in_flight);
        match self.ending.or((!affordable).then_some(Ended::Cost)) {
            Some(ended) if self.in_flight == 0 => Next::End(ended),
            Some(_) => self.wait(now),
            None if self.in_flight >= self.pace.allowed(now) || self.quiet.until(now).is_some() => self.wait(now),
            None => self.send(rank, task, now),
        }
    }

    /// Takes news of a call. One that was taken for lost may still bring a result;
    /// nothing else that is told twice has any effect.
    pub fn heard(&mut self, sending: Sending, heard: Heard, now: Since) -> Fate {
        let task = sending.task;
        let awaited = self.land(sending);
        if awaited {
            self.note(&heard, now);
        }
        match heard {
            Heard::Measured(_) => self.result(task, None),
            Heard::BenchmarkFailed(_, words) => self.result(task, Some(&words)),
            Heard::Lost(words) | Heard::Crashed(words) if awaited => self.fault(task, &words),
            Heard::Throttled | Heard::Refused(_) if awaited => self.put_back(task),
            Heard::Lost(_) | Heard::Crashed(_) | Heard::Throttled | Heard::Refused(_) => self.fate(task),
        }
    }

    /// Nothing more is sent; what is in flight is waited for.
    pub fn stop(&mut self) {
        self.ending.get_or_insert(Ended::Interrupted);
    }

    /// Where it stands.
    pub fn tallied(&self) -> Tallied {
        Tallied {
            given_up: u32::try_from(self.given_up.len()).unwrap_or(u32::MAX),
            in_flight: self.in_flight,
            billed_s: self.purse.billed_s(),
            cost_usd: self.purse.spent_usd(),
            ..self.tallied
        }
    }

    /// Tasks that were given up so far.
    pub fn given_up(&self) -> &[GaveUp] {
        &self.given_up
    }

    /// Why the fleet leaves this benchmark without an answer, in words, if the sitting has ended so. `wants_more` says whether it is to
    /// have tasks beyond those that were added. Absent where every task has its result, where the benchmark itself fails, and where
    /// the user's own limits ended the sitting.
    pub fn abandons(&self, benchmark: u32, ended: Ended, wants_more: bool) -> Option<String> {
        let mut lost = self.given_up.iter().filter(|gave_up| gave_up.task.benchmark == benchmark && gave_up.by_fleet);
        let is_open = |(task, entry): (&Task, &Entry)| task.benchmark == benchmark && entry.state == State::Open;
        match (ended, lost.next_back()) {
            (Ended::Done, lost) => lost.map(|gave_up| gave_up.reason.clone()),
            (Ended::Broken | Ended::Refused, lost) => {
                let lacks = lost.is_some() || wants_more || self.entries.iter().any(is_open);
                lacks.then(|| format!("{}: {}", ended.words(), self.trouble))
            }
            (Ended::Cost | Ended::Time | Ended::Interrupted, _) => None,
        }
    }

    /// Calls that may be in flight now.
    pub fn allowed(&mut self, now: Since) -> u32 {
        self.pace.allowed(now)
    }

    fn new_rank(&mut self) -> u64 {
        self.ranks += 1;
        self.ranks
    }

    fn send(&mut self, rank: u64, task: Task, now: Since) -> Next {
        self.queue.remove(&rank);
        self.in_flight += 1;
        self.tallied.calls += 1;
        self.pace.sent(now);
        let number = self.entries.get_mut(&task).map_or(1, |entry| {
            entry.sendings += 1;
            entry.in_flight = Some(entry.sendings);
            entry.sendings
        });
        Next::Send(Sending { task, number })
    }

    /// Until something changes by itself, or at most as long as a call takes.
    fn wait(&self, now: Since) -> Next {
        let changes = [Some(self.caps.time), self.pace.grows_at(), self.quiet.until(now)];
        let next = changes.into_iter().flatten().filter(|at| *at > now).map(|at| at - now).min();
        let longest = Duration::from_nanos(self.caps.call_max_ns).max(Duration::from_secs(1));
        Next::Wait(next.map_or(longest, |next| next.min(longest)))
    }

    /// A call is not in flight any more; says whether it was.
    fn land(&mut self, Sending { task, number }: Sending) -> bool {
        let awaited = self.entries.get_mut(&task).and_then(|entry| entry.in_flight.take_if(|n| *n == number)).is_some();
        self.in_flight -= u32::from(awaited);
        awaited
    }

    /// Keeps the books of a call that was waited for.
    fn note(&mut self, heard: &Heard, now: Since) {
        match heard {
            Heard::Measured(usage) | Heard::BenchmarkFailed(usage, _) => {
                self.purse.pay(*usage);
                self.pace.taken(now);
                self.quiet.taken();
                self.tallied.cold += u32::from(usage.cold);
                self.breaker.note(false);
            }
            Heard::Lost(words) | Heard::Crashed(words) => {
                self.trouble_with(words);
                self.purse.pay_most();
                self.tallied.lost += 1;
                if self.breaker.note(true) {
                    self.ending.get_or_insert(Ended::Broken);
                }
            }
            Heard::Throttled => {
                self.pace.throttled(now);
                self.quiet.throttled(now);
                self.tallied.throttled += 1;
            }
            Heard::Refused(words) => {
                self.trouble_with(words);
                self.ending.get_or_insert(Ended::Refused);
            }
        }
    }

    fn trouble_with(&mut self, words: &str) {
        if self.ending.is_none() {
            words.clone_into(&mut self.trouble);
        }
    }

    /// A result has come, with words if the benchmark failed.
    fn result(&mut self, task: Task, failure: Option<&str>) -> Fate {
        let Some(entry) = self.entries.get_mut(&task) else { return Fate::Duplicate };
        match std::mem::replace(&mut entry.state, State::Counted) {
            State::Counted => {
                self.tallied.duplicates += 1;
                return Fate::Duplicate;
            }
            State::GivenUp => self.given_up.retain(|gave_up| gave_up.task != task),
            State::Open => {
                self.queue.remove(&entry.rank);
            }
        }
        self.tallied.done += 1;
        if self.benchmarks.entry(task.benchmark).or_default().answered(failure) {
            self.clear(task.benchmark);
        }
        Fate::Count
    }

    /// A call was lost or crashed.
    fn fault(&mut self, task: Task, words: &str) -> Fate {
        let rank = self.new_rank();
        if self.benchmarks.entry(task.benchmark).or_default().fault(words) {
            self.clear(task.benchmark);
        }
        let Some(entry) = self.entries.get_mut(&task) else { return Fate::GivenUp };
        entry.attempts += 1;
        entry.rank = rank;
        if entry.state == State::Open && entry.attempts >= ATTEMPTS_MAX {
            let words = format!("{words} (sent {ATTEMPTS_MAX} times)");
            return self.give_up(task, Reason { words, by_fleet: true });
        }
        self.put_back(task)
    }

    /// A task without a result takes its place in the queue, unless its benchmark is closed.
    fn put_back(&mut self, task: Task) -> Fate {
        let Some(entry) = self.entries.get_mut(&task).filter(|entry| entry.state == State::Open) else {
            return self.fate(task);
        };
        match self.benchmarks.get(&task.benchmark).and_then(|record| record.closed.clone()) {
            Some(reason) => self.give_up(task, reason),
            None => {
                self.queue.insert(entry.rank, task);
                Fate::Again
            }
        }
    }

    fn give_up(&mut self, task: Task, Reason { words: reason, by_fleet }: Reason) -> Fate {
        if let Some(entry) = self.entries.get_mut(&task) {
            entry.state = State::GivenUp;
        }
        self.given_up.push(GaveUp { task, reason, by_fleet });
        Fate::GivenUp
    }

    /// Takes out of the queue what is not going to be sent, now that this benchmark is closed.
    fn clear(&mut self, benchmark: u32) {
        let waiting: Vec<(u64, Task)> =
            self.queue.iter().filter(|(_, task)| task.benchmark == benchmark).map(|(r, t)| (*r, *t)).collect();
        for (rank, task) in waiting {
            self.queue.remove(&rank);
            self.put_back(task);
        }
    }

    /// The fate of a task without news.
    fn fate(&self, task: Task) -> Fate {
        match self.entries.get(&task).map(|entry| entry.state) {
            Some(State::Open) => Fate::Again,
            Some(State::GivenUp) => Fate::GivenUp,
            Some(State::Counted) | None => Fate::Duplicate,
        }
    }
}
