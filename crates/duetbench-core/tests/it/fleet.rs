//! Calls as numbers: prices, pace, forecast, and what becomes of each call.

use std::time::Duration;

use duetbench_core::Plan;
use duetbench_core::fleet::{
    CallLength, Caps, Dispatcher, Ended, Fate, Heard, Next, Pace, Rate, Sending, Since, Task, Usage, forecast,
};
use duetbench_core::spec::{Arch, EngineName, FleetSpec};
use proptest::prelude::*;

use crate::support::{fixed_design, plan_of, same_cases};

/// Prices of us-east-1, 2026.
pub(crate) const RATE: Rate =
    Rate { gb_second_x86_64: 0.0000166667, gb_second_arm64: 0.0000133334, million_requests: 0.20 };

const S: u64 = 1_000_000_000;

fn usage(billed_ns: u64) -> Usage {
    Usage { billed_ns, cold: false }
}

fn ms(ms: u64) -> Since {
    Duration::from_millis(ms)
}

fn near(is: f64, should: f64) {
    assert!((is - should).abs() <= 1e-9 * should.abs().max(1.0), "{is} and not {should}");
}

#[test]
fn a_thousand_calls_of_twenty_seconds_cost_what_the_price_page_says() {
    let thousand = |arch| 1000.0 * RATE.of(usage(20 * S), 2048, arch);
    near(thousand(Arch::X86_64), 0.666_668 + 0.000_2);
    near(thousand(Arch::Arm64), 0.533_336 + 0.000_2);
}

#[test]
fn billed_time_is_rounded_up_to_a_millisecond() {
    let cost = |ns| RATE.of(usage(ns), 1024, Arch::X86_64);
    near(cost(1_000_001), 0.002 * 0.0000166667 + 0.2e-6);
    assert_eq!(cost(1_000_001), cost(2_000_000));
    near(cost(0), 0.2e-6);
}

#[test]
fn the_pace_grows_by_half_for_every_second_in_which_calls_are_taken() {
    let mut pace = Pace::new(150);
    assert_eq!(pace.allowed(ms(5_000)), 32, "nothing was sent yet");
    let mut allowed = Vec::new();
    for second in 5..11 {
        pace.sent(ms(second * 1000));
        assert_eq!(pace.grows_at().is_some(), *allowed.last().unwrap_or(&32) < 150);
        allowed.push(pace.allowed(ms(second * 1000 + 1000)));
    }
    assert_eq!(allowed, [48, 72, 108, 150, 150, 150]);
    assert_eq!(Pace::ramp(150), Duration::from_secs(4));
    assert_eq!(Pace::ramp(32), Duration::ZERO);
}

#[test]
fn one_burst_of_throttles_halves_the_pace_once() {
    let mut pace = Pace::new(1000);
    pace.sent(ms(0));
    (10..60).for_each(|at| pace.throttled(ms(at)));
    assert_eq!(pace.allowed(ms(999)), 16);
    assert_eq!(pace.allowed(ms(5_000)), 16, "the second with throttles does not count");
    pace.throttled(ms(1_010));
    assert_eq!(pace.allowed(ms(1_010)), 8);
    (2..20).for_each(|second| pace.throttled(ms(second * 1100)));
    assert_eq!(pace.allowed(ms(30_000)), 1);
    pace.taken(ms(30_000));
    assert_eq!(pace.allowed(ms(31_000)), 2);
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn the_pace_stays_between_one_and_the_most(
        most in 0u32..2000,
        events in proptest::collection::vec((0u8..3, 0u64..1500), 0..200),
    ) {
        let (mut pace, mut now) = (Pace::new(most), 0);
        for (kind, later) in events {
            now += later;
            match kind {
                0 => pace.sent(ms(now)),
                1 => pace.taken(ms(now)),
                _ => pace.throttled(ms(now)),
            }
            let allowed = pace.allowed(ms(now));
            prop_assert!((1..=most.max(1)).contains(&allowed));
            prop_assert!(pace.grows_at().is_none_or(|at| at > ms(now)));
        }
    }
}

fn fleet(forks_per_call: u32) -> FleetSpec {
    FleetSpec {
        engine: EngineName::Lambda,
        memory_mb: 2048,
        arch: Arch::X86_64,
        parallel: 150,
        max_cost_usd: 2.0,
        max_time: Duration::from_secs(900),
        forks_per_call,
    }
}

/// Two benchmarks of ten fork pairs, of one and two seconds.
fn two_benchmarks() -> Plan {
    let mut plan = plan_of(&["A", "B"], fixed_design(10));
    (plan.benchmarks[0].trial_predicted_ns, plan.benchmarks[1].trial_predicted_ns) = (S, 2 * S);
    plan
}

const LENGTH: CallLength = CallLength { cold_ns: S / 2, overhead_ns: S / 10 };

#[test]
fn a_plan_takes_as_many_calls_as_its_fork_pairs_fill() {
    // Calls of 4, 4 and 2 fork pairs each: 4.1, 4.1, 2.1 and 8.1, 8.1, 4.1 seconds; 30.6 in all.
    let all = forecast(&two_benchmarks(), &fleet(4), 1000, RATE, LENGTH);
    assert_eq!((all.calls, all.parallel, all.wall), (6, 6, ms(8_600)));
    near(all.cost_usd, (30.6 + 6.0 * 0.5) * 2.0 * 0.0000166667 + 6.0 * 0.2e-6);
}

#[test]
fn fewer_instances_take_longer_and_cost_less_to_start() {
    // 0.5 + 30.6 / 2 + 8.1 / 2.
    let two = forecast(&two_benchmarks(), &fleet(4), 2, RATE, LENGTH);
    assert_eq!((two.calls, two.parallel, two.wall), (6, 2, ms(19_850)));
    near(two.cost_usd, (30.6 + 2.0 * 0.5) * 2.0 * 0.0000166667 + 6.0 * 0.2e-6);
    let one = forecast(&two_benchmarks(), &fleet(4), 0, RATE, LENGTH);
    assert_eq!((one.parallel, one.wall), (1, ms(31_100)));
}

#[test]
fn many_instances_are_not_there_at_once() {
    let plan = plan_of(&["A"], fixed_design(100));
    let seconds = |parallel| {
        let spec = FleetSpec { parallel, ..fleet(1) };
        forecast(&plan, &spec, 1000, RATE, CallLength { cold_ns: 0, overhead_ns: 0 }).wall.as_secs()
    };
    assert_eq!((seconds(100), seconds(32)), (3, 0));
}

#[test]
fn nothing_to_measure_takes_nothing() {
    let none = forecast(&plan_of(&[], fixed_design(1)), &fleet(4), 10, RATE, LENGTH);
    assert_eq!((none.calls, none.wall, none.cost_usd), (0, Duration::ZERO, 0.0));
}

fn caps() -> Caps {
    Caps::of(&fleet(1), 150, RATE, 10 * S)
}

fn task(benchmark: u32, suite_run: u32) -> Task {
    Task { benchmark, first_suite_run: suite_run, suite_runs: 1 }
}

fn tasks(benchmark: u32, number: u32) -> Vec<Task> {
    (0..number).map(|n| task(benchmark, n)).collect()
}

/// A task for each of so many benchmarks.
fn one_each(benchmarks: u32) -> Vec<Task> {
    (0..benchmarks).map(|benchmark| task(benchmark, 0)).collect()
}

fn dispatcher(caps: Caps, tasks: &[Task]) -> Dispatcher {
    let mut dispatcher = Dispatcher::new(caps, 0.0, 1);
    dispatcher.add(tasks);
    dispatcher
}

fn nth(task: Task, number: u32) -> Sending {
    Sending { task, number }
}

/// Everything that may be sent now.
fn sent(dispatcher: &mut Dispatcher, now: Since) -> Vec<Sending> {
    let mut sent = Vec::new();
    while let Next::Send(sending) = dispatcher.next(now) {
        sent.push(sending);
    }
    sent
}

/// The same is heard of all these calls.
fn answer(dispatcher: &mut Dispatcher, calls: &[Sending], heard: &Heard, now: Since) {
    for call in calls {
        dispatcher.heard(*call, heard.clone(), now);
    }
}

fn measured() -> Heard {
    Heard::Measured(usage(S))
}

fn failed() -> Heard {
    Heard::BenchmarkFailed(usage(S), "index out of range".into())
}

fn lost() -> Heard {
    Heard::Lost("connection reset".into())
}

fn crashed() -> Heard {
    Heard::Crashed("out of memory".into())
}

#[test]
fn tasks_are_sent_in_the_order_in_which_they_were_added_and_never_above_the_pace() {
    let all = tasks(0, 100);
    let mut dispatcher = dispatcher(caps(), &all);
    dispatcher.add(&all);
    let first = sent(&mut dispatcher, ms(0));
    assert_eq!(first, all[..32].iter().map(|t| nth(*t, 1)).collect::<Vec<_>>());
    assert_eq!(dispatcher.next(ms(0)), Next::Wait(ms(1000)), "until the pace grows");
    assert_eq!(sent(&mut dispatcher, ms(1000)).len(), 16);
    assert_eq!((dispatcher.tallied().tasks, dispatcher.tallied().in_flight), (100, 48));
}

#[test]
fn what_was_throttled_keeps_its_place_and_is_no_attempt() {
    let mut dispatcher = dispatcher(Caps { parallel: 1, ..caps() }, &tasks(0, 3));
    let mut now = ms(0);
    for n in 1..=10 {
        assert_eq!(sent(&mut dispatcher, now)[0], nth(task(0, 0), n));
        assert_eq!(dispatcher.heard(nth(task(0, 0), n), Heard::Throttled, now), Fate::Again);
        let Next::Wait(quiet) = dispatcher.next(now) else { panic!("nothing is sent after a throttle") };
        assert!(quiet >= ms(100) && quiet <= ms(6_400), "{quiet:?}");
        now += quiet;
    }
    assert_eq!(dispatcher.tallied().throttled, 10);
    assert_eq!(dispatcher.tallied().cost_usd, 0.0);
    assert!(dispatcher.given_up().is_empty());
}

/// A task is sent so often at most.
const ATTEMPTS: u32 = 12;

#[test]
fn what_was_lost_goes_behind_what_was_added_and_is_given_up_after_twelve_times() {
    let mut dispatcher = dispatcher(Caps { parallel: 1, ..caps() }, &[task(0, 0), task(1, 0)]);
    let mut order = Vec::new();
    for _ in 0..4 {
        let Next::Send(sending) = dispatcher.next(ms(0)) else { panic!("more to send") };
        order.push((sending.task.benchmark, sending.number));
        let heard = if sending.task.benchmark == 0 { lost() } else { measured() };
        dispatcher.heard(sending, heard, ms(0));
        if order.len() == 1 {
            dispatcher.add(&tasks(1, 2));
        }
    }
    assert_eq!(order, [(0, 1), (1, 1), (0, 2), (1, 1)]);
    for sending in 3..ATTEMPTS {
        assert_eq!(dispatcher.next(ms(0)), Next::Send(nth(task(0, 0), sending)));
        assert_eq!(dispatcher.heard(nth(task(0, 0), sending), lost(), ms(0)), Fate::Again);
    }
    assert_eq!(dispatcher.next(ms(0)), Next::Send(nth(task(0, 0), ATTEMPTS)));
    assert_eq!(dispatcher.heard(nth(task(0, 0), ATTEMPTS), crashed(), ms(0)), Fate::GivenUp);
    assert_eq!(dispatcher.next(ms(0)), Next::End(Ended::Done));
    let gave_up = &dispatcher.given_up()[0];
    assert_eq!((gave_up.task, &*gave_up.reason), (task(0, 0), "out of memory (sent 12 times)"));
    let abandons = |benchmark| dispatcher.abandons(benchmark, Ended::Done, true);
    assert_eq!((abandons(0).as_deref(), abandons(1)), (Some("out of memory (sent 12 times)"), None));
}

#[test]
fn lost_and_crashed_calls_are_paid_with_what_they_cost_at_most() {
    let mut dispatcher = dispatcher(caps(), &[task(0, 0), task(1, 0), task(2, 0)]);
    sent(&mut dispatcher, ms(0));
    dispatcher.heard(nth(task(0, 0), 1), lost(), ms(1));
    dispatcher.heard(nth(task(1, 0), 1), crashed(), ms(1));
    dispatcher.heard(nth(task(2, 0), 1), measured(), ms(1));
    let cost = |s| RATE.of(usage(s * S), 2048, Arch::X86_64);
    near(dispatcher.tallied().cost_usd, 2.0 * cost(10) + cost(1));
    near(dispatcher.tallied().billed_s, 21.0);
}

#[test]
fn a_benchmark_that_fails_three_times_in_a_row_is_sent_no_more() {
    let mut dispatcher = dispatcher(Caps { parallel: 1, ..caps() }, &tasks(0, 10));
    let said = [failed(), failed(), measured(), failed(), failed(), failed()];
    for (n, heard) in (0u32..).zip(said) {
        assert_eq!(dispatcher.next(ms(0)), Next::Send(nth(task(0, n), 1)));
        assert_eq!(dispatcher.heard(nth(task(0, n), 1), heard, ms(0)), Fate::Count);
    }
    assert_eq!(dispatcher.next(ms(0)), Next::End(Ended::Done));
    assert_eq!(dispatcher.given_up().len(), 4);
    assert_eq!(dispatcher.given_up()[3].reason, "failed 3 times in a row: index out of range");
    assert_eq!(dispatcher.abandons(0, Ended::Done, true), None, "that is its result");
    dispatcher.add(&[task(0, 10), task(1, 0)]);
    assert_eq!(dispatcher.next(ms(0)), Next::Send(nth(task(1, 0), 1)));
    assert_eq!((dispatcher.tallied().given_up, dispatcher.tallied().done), (5, 6));
}

#[test]
fn a_benchmark_of_whose_last_sixteen_calls_fifteen_are_lost_or_crash_is_sent_no_more() {
    let mut dispatcher = dispatcher(Caps { parallel: 17, ..caps() }, &tasks(0, 30));
    let calls = sent(&mut dispatcher, ms(0));
    assert_eq!(dispatcher.heard(calls[0], measured(), ms(1)), Fate::Count);
    for call in &calls[1..15] {
        assert_eq!(dispatcher.heard(*call, lost(), ms(1)), Fate::Again);
    }
    assert_eq!(dispatcher.heard(calls[15], crashed(), ms(1)), Fate::GivenUp);
    assert_eq!(dispatcher.given_up().len(), 28, "all but the one that was measured and the one in flight");
    assert_eq!(dispatcher.next(ms(1)), Next::Wait(ms(10_000)), "for that one");
    assert_eq!(dispatcher.heard(calls[16], Heard::Throttled, ms(1)), Fate::GivenUp);
    let gave_up = dispatcher.given_up()[28].clone();
    assert_eq!(
        (&*gave_up.reason, gave_up.by_fleet),
        ("15 of its last 16 calls were lost or crashed: out of memory", true)
    );
    assert_eq!(dispatcher.next(ms(1)), Next::End(Ended::Done));
    assert_eq!(dispatcher.abandons(0, Ended::Done, false).as_deref(), Some(&*gave_up.reason));
}

#[test]
fn two_answers_among_sixteen_calls_keep_a_benchmark() {
    let mut dispatcher = dispatcher(Caps { parallel: 30, ..caps() }, &tasks(0, 30));
    for (n, call) in sent(&mut dispatcher, ms(0)).into_iter().enumerate() {
        let heard = if n % 8 == 0 { measured() } else { lost() };
        assert_ne!(dispatcher.heard(call, heard, ms(1)), Fate::GivenUp, "{n}");
    }
    assert!(dispatcher.given_up().is_empty());
}

/// Probability that a benchmark is given up within so many calls, each of which gives nothing with probability `p`: exactly, over what
/// the last 16 of them came to.
fn false_give_up(p: f64, calls: u32) -> f64 {
    let (mut chances, mut given_up) = (vec![0.0; 1 << 16], 0.0);
    chances[0] = 1.0;
    for _ in 0..calls {
        let mut next = vec![0.0; 1 << 16];
        for (last, chance) in chances.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
            let (answered, lost) = ((last << 1) & 0xffff, (last << 1) & 0xffff | 1);
            next[answered] += chance * (1.0 - p);
            if lost.count_ones() >= 15 { given_up += chance * p } else { next[lost] += chance * p }
        }
        chances = next;
    }
    given_up
}

#[test]
fn a_bad_network_alone_hardly_ever_has_a_benchmark_given_up() {
    let within = |p: f64, calls: u32, stated: f64| {
        let is = false_give_up(p, calls);
        assert!((0.9..1.1).contains(&(is / stated)), "{is} and not {stated} at {p}");
    };
    within(0.3, 40, 2.6e-6);
    within(0.5, 48, 3.7e-3);
    // Those of one window of benchmark and breaker.
    let tail = |of: i32, from: i32, p: f64| -> f64 {
        let choose = |k: i32| (0..k).fold(1.0, |n, i| n * f64::from(of - i) / f64::from(i + 1));
        (from..=of).map(|k| choose(k) * p.powi(k) * (1.0 - p).powi(of - k)).sum()
    };
    near(tail(16, 15, 0.5), 0.5f64.powi(15) * (16.0 - 15.0 * 0.5));
    assert!(tail(16, 15, 0.3) < 2e-7 && tail(16, 15, 0.5) < 3e-4 && tail(50, 41, 0.5) < 3e-6);
}

#[test]
fn the_first_result_counts_even_when_it_is_late() {
    let mut dispatcher = dispatcher(Caps { parallel: 1, ..caps() }, &[task(0, 0), task(1, 0)]);
    sent(&mut dispatcher, ms(0));
    dispatcher.heard(nth(task(0, 0), 1), lost(), ms(1));
    assert_eq!(dispatcher.heard(nth(task(0, 0), 1), lost(), ms(1)), Fate::Again, "told twice");
    sent(&mut dispatcher, ms(1));
    dispatcher.heard(nth(task(1, 0), 1), measured(), ms(2));
    assert_eq!(sent(&mut dispatcher, ms(2)), [nth(task(0, 0), 2)]);
    // The first sending answers while the second is in flight: that one stays so.
    assert_eq!(dispatcher.heard(nth(task(0, 0), 1), measured(), ms(3)), Fate::Count);
    assert_eq!(dispatcher.tallied().in_flight, 1);
    assert_eq!(dispatcher.heard(nth(task(0, 0), 2), measured(), ms(4)), Fate::Duplicate);
    let tallied = dispatcher.tallied();
    assert_eq!((tallied.done, tallied.duplicates, tallied.in_flight), (2, 1, 0));
    assert_eq!(dispatcher.next(ms(4)), Next::End(Ended::Done));
}

#[test]
fn a_result_of_a_task_that_was_given_up_still_counts() {
    let mut dispatcher = dispatcher(caps(), &[task(0, 0)]);
    for sending in 1..=ATTEMPTS {
        assert_eq!(sent(&mut dispatcher, ms(0)), [nth(task(0, 0), sending)]);
        dispatcher.heard(nth(task(0, 0), sending), lost(), ms(0));
    }
    assert_eq!(dispatcher.tallied().given_up, 1);
    assert_eq!(dispatcher.heard(nth(task(0, 0), 2), measured(), ms(9)), Fate::Count);
    assert_eq!((dispatcher.tallied().given_up, dispatcher.tallied().done), (0, 1));
    assert_eq!(dispatcher.heard(nth(task(7, 7), 1), measured(), ms(9)), Fate::Duplicate, "nobody asked for it");
}

#[test]
fn more_than_eighty_percent_of_faults_break_the_circuit() {
    let ends_with = |faults: u32| {
        let mut dispatcher = dispatcher(Caps { parallel: 1, ..caps() }, &one_each(60));
        for n in 0..50 {
            let Next::Send(sending) = dispatcher.next(ms(0)) else { return dispatcher.next(ms(0)) };
            dispatcher.heard(sending, if n < faults { lost() } else { measured() }, ms(0));
        }
        dispatcher.next(ms(0))
    };
    assert_eq!(ends_with(40), Next::Send(nth(task(50, 0), 1)));
    assert_eq!(ends_with(41), Next::End(Ended::Broken));
}

#[test]
fn the_circuit_breaker_forgets_what_was_long_ago() {
    let mut dispatcher = dispatcher(Caps { parallel: 1, ..caps() }, &one_each(400));
    for n in 0..300 {
        let Next::Send(sending) = dispatcher.next(ms(0)) else { panic!("broken after {n}") };
        dispatcher.heard(sending, if n % 5 < 4 { lost() } else { measured() }, ms(0));
    }
}

#[test]
fn a_sitting_that_the_fleet_ended_leaves_open_what_lacks_something_and_says_why() {
    let ends = |heard: Heard, ended: Ended| {
        let mut dispatcher = dispatcher(Caps { parallel: 50, ..caps() }, &[tasks(0, 60), tasks(1, 1)].concat());
        dispatcher.heard(nth(task(0, 0), 1), measured(), ms(0));
        let mut now = ms(0);
        loop {
            match dispatcher.next(now) {
                Next::Send(sending) if sending.task.benchmark == 0 => {
                    dispatcher.heard(sending, heard.clone(), now);
                }
                Next::Send(sending) => _ = dispatcher.heard(sending, measured(), now),
                Next::Wait(wait) => now += wait,
                Next::End(how) => {
                    assert_eq!(how, ended);
                    return [dispatcher.abandons(0, how, false), dispatcher.abandons(1, how, false)];
                }
            }
        }
    };
    let refused = Heard::Refused("the token has expired".into());
    let words = "the provider refuses calls: the token has expired";
    // The other's only task was never sent.
    assert_eq!(ends(refused, Ended::Refused), [Some(words.to_owned()), Some(words.to_owned())]);
    // A benchmark whose every task has its result wants nothing, unless there is another look.
    let mut done = dispatcher(caps(), &tasks(0, 1));
    done.heard(nth(task(0, 0), 1), measured(), ms(0));
    assert_eq!(done.abandons(0, Ended::Broken, false), None);
    assert!(done.abandons(0, Ended::Broken, true).is_some_and(|words| words.starts_with("too many calls failed")));
    // The user's own limits abandon nobody, whatever was lost before.
    let mut lost_once = dispatcher(caps(), &tasks(0, 2));
    sent(&mut lost_once, ms(0));
    lost_once.heard(nth(task(0, 0), 1), lost(), ms(0));
    for ended in [Ended::Cost, Ended::Time, Ended::Interrupted, Ended::Done] {
        assert_eq!(lost_once.abandons(0, ended, true), None, "{ended:?}");
    }
}

#[test]
fn what_is_in_flight_is_waited_for_when_the_provider_refuses() {
    let mut dispatcher = dispatcher(Caps { parallel: 3, ..caps() }, &tasks(0, 9));
    let calls = sent(&mut dispatcher, ms(0));
    assert_eq!(dispatcher.heard(calls[1], Heard::Refused("the token has expired".into()), ms(1)), Fate::Again);
    assert!(matches!(dispatcher.next(ms(1)), Next::Wait(_)));
    assert_eq!(dispatcher.heard(calls[0], measured(), ms(2)), Fate::Count);
    assert_eq!(dispatcher.heard(calls[2], lost(), ms(2)), Fate::Again);
    assert_eq!(dispatcher.next(ms(2)), Next::End(Ended::Refused));
    assert!(dispatcher.given_up().is_empty(), "all are for another sitting");
}

#[test]
fn nothing_is_sent_after_a_stop_or_after_the_time_is_up() {
    let mut stopped = dispatcher(caps(), &tasks(0, 99));
    let calls = sent(&mut stopped, ms(0));
    stopped.stop();
    assert!(matches!(stopped.next(ms(2_000)), Next::Wait(_)));
    answer(&mut stopped, &calls, &measured(), ms(2_000));
    assert_eq!(stopped.next(ms(2_000)), Next::End(Ended::Interrupted));

    let mut late = dispatcher(Caps { time: ms(1_000), ..caps() }, &tasks(0, 99));
    let calls = sent(&mut late, ms(999));
    assert_eq!(late.next(ms(999)), Next::Wait(ms(1)));
    assert!(matches!(late.next(ms(1_000)), Next::Wait(_)));
    answer(&mut late, &calls, &measured(), ms(2_000));
    assert_eq!(late.next(ms(2_000)), Next::End(Ended::Time));
}

#[test]
fn what_is_done_is_done_however_it_was_stopped() {
    let mut dispatcher = dispatcher(caps(), &tasks(0, 1));
    let calls = sent(&mut dispatcher, ms(0));
    dispatcher.stop();
    dispatcher.heard(calls[0], measured(), ms(1));
    assert_eq!(dispatcher.next(ms(1)), Next::End(Ended::Done));
}

#[test]
fn so_many_calls_are_in_flight_as_can_be_paid_if_each_takes_as_long_as_it_may() {
    let most = RATE.of(usage(10 * S), 2048, Arch::X86_64);
    let one = RATE.of(usage(S), 2048, Arch::X86_64);
    let caps = Caps { cost_usd: 6.5 * most, ..caps() };
    let mut dispatcher = Dispatcher::new(caps, 2.0 * most, 1);
    dispatcher.add(&one_each(99));
    let calls = sent(&mut dispatcher, ms(0));
    assert_eq!(calls.len(), 4);
    // Those that took a tenth leave room for four more, less what they took.
    answer(&mut dispatcher, &calls, &measured(), ms(1));
    let calls = sent(&mut dispatcher, ms(1));
    assert_eq!(calls.len(), 4);
    answer(&mut dispatcher, &calls, &lost(), ms(2));
    assert_eq!(dispatcher.next(ms(2)), Next::End(Ended::Cost));
    near(dispatcher.tallied().cost_usd, 4.0 * one + 4.0 * most);
}
