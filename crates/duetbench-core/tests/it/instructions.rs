//! From counts of processes to those of one invocation, and to what they say beside a verdict.

use duetbench_core::hotspot::Origin;
use duetbench_core::instructions::{Direction, InstructionCounts, Per, ProcessCount, SideCounts};

/// A process that executed so much in these functions.
fn process(functions: &[(&str, u64)]) -> ProcessCount {
    ProcessCount { functions: functions.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect() }
}

/// Processes of a benchmark whose `work` takes so much; each starts a little otherwise.
fn side(work: u64, invocations: u64) -> Vec<ProcessCount> {
    let start = [50_000, 93_000, 71_000];
    let one = |start: &u64| {
        let tick = ("runtime.sysmon", start / 3);
        process(&[("p.work", work * invocations + 17), ("runtime.main", *start), tick, ("runtime.gcDrain", 5 * start)])
    };
    start.iter().map(one).collect()
}

fn counts(work: [u64; 2]) -> InstructionCounts {
    let sides = work.map(|work| [side(work, 1000), side(work, 11_000)]);
    let sides = sides.each_ref().map(|[fewer, more]| SideCounts { fewer, more });
    InstructionCounts::of(sides, [1000, 11_000]).unwrap()
}

#[test]
fn what_starts_a_process_is_no_part_of_an_invocation() {
    let found = counts([8012, 8092]);
    assert_eq!((found.per, found.processes), (Per::Invocation, 3));
    assert_eq!([found.baseline, found.candidate].map(|side| (side.all, side.spread)), [(8012.0, 0.0), (8092.0, 0.0)]);
    let [work] = &found.functions[..] else { panic!("{:?}", found.functions) };
    assert_eq!(
        (work.function.as_str(), work.origin, work.baseline, work.candidate),
        ("p.work", Origin::Program, 8012.0, 8092.0)
    );
    assert!((found.change() - 80.0 / 8012.0).abs() < 1e-12);
    assert_eq!(found.direction(), Direction::More);
    assert_eq!(counts([8092, 8012]).direction(), Direction::Less);
    assert_eq!(counts([8012, 8019]).direction(), Direction::Same);
    assert_eq!(counts([8012, 8012]).functions, []);
}

#[test]
fn what_differs_between_processes_widens_what_is_the_same() {
    let varied = |extra: u64| -> Vec<ProcessCount> {
        [0, 30, 60].iter().map(|more| process(&[("p.work", extra * (1000 + more))])).collect()
    };
    let (fewer, more) = (varied(1), varied(2));
    let side = SideCounts { fewer: &fewer, more: &more };
    let found = InstructionCounts::of([side, side], [1, 2]).unwrap();
    // The medians differ by 1030, processes of one kind by 120.
    assert!((found.baseline.spread - 120.0 / 1030.0).abs() < 1e-12, "{found:?}");
    assert!((found.tolerance() - 240.0 / 1030.0).abs() < 1e-12);
}

#[test]
fn a_function_that_one_process_of_one_side_left_out_is_no_more_work() {
    let side = |collected: [u64; 3]| -> Vec<ProcessCount> {
        collected.iter().map(|n| process(&[("p.work", 110_000_000), ("runtime.gcDrain", *n)])).collect()
    };
    let fewer = [process(&[("p.work", 10_000_000)]), process(&[("p.work", 10_000_000)])];
    let more = [[0, 6_000_000, 6_000_000], [6_000_000; 3]].map(side);
    let sides = more.each_ref().map(|more| SideCounts { fewer: &fewer, more });
    let found = InstructionCounts::of(sides, [1000, 11_000]).unwrap();
    assert_eq!([found.baseline.all, found.candidate.all], [10_600.0; 2]);
    assert!((found.baseline.spread - 600.0 / 10_600.0).abs() < 1e-12 && found.candidate.spread == 0.0, "{found:?}");
    assert_eq!(found.direction(), Direction::Same);
}

#[test]
fn whole_processes_are_counted_as_they_are() {
    let [before, after] =
        [[40, 41, 42], [80, 82, 84]].map(|all| all.map(|count| process(&[("main", count), ("gcc_main", 7)])));
    let sides = [&before, &after].map(|more| SideCounts { fewer: &[], more });
    let found = InstructionCounts::of(sides, [0, 1]).unwrap();
    assert_eq!((found.per, found.baseline.all, found.candidate.all), (Per::Process, 48.0, 89.0));
}

#[test]
fn nothing_is_made_of_nothing() {
    let some = [process(&[("main", 40)])];
    let none = [process(&[])];
    let of = |fewer, more, invocations| InstructionCounts::of([SideCounts { fewer, more }; 2], invocations);
    assert_eq!(of(&[], &none, [0, 1]), None);
    assert_eq!(of(&[], &[], [0, 1]), None);
    assert_eq!(of(&some, &some, [1, 2]), None);
    assert_eq!(of(&none, &some, [2, 2]), None);
    assert_eq!(of(&none, &some, [3, 2]), None);
}
