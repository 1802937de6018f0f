//! Call stacks of both sides, folded into frames with known places and times.

use duetbench_core::Role;
use duetbench_core::hotspot::{CallTree, DEPTH_MAX, FRAMES_MAX, Frame, Trend};

/// A tree of stacks, their functions separated by blanks, with samples of both sides.
fn tree(stacks: &[(&str, u64, u64)]) -> CallTree {
    let mut tree = CallTree::default();
    for (stack, baseline, candidate) in stacks {
        tree.add(Role::Baseline, stack.split(' '), *baseline);
        tree.add(Role::Candidate, stack.split(' '), *candidate);
    }
    tree
}

/// Every frame in a line: its depth and name, both times, its left end and width in percent, and its trend.
fn lines(frames: &[Frame]) -> Vec<String> {
    let line = |f: &Frame| {
        let trend = match f.trend {
            Trend::Grew => "grew",
            Trend::Shrank => "shrank",
            Trend::Alike => "alike",
        };
        let (left, width) = (100.0 * f.left, 100.0 * f.width);
        format!("{} {} {} {} {left:.1} {width:.1} {trend}", f.depth, f.function, f.baseline_ns, f.candidate_ns)
    };
    frames.iter().map(line).collect()
}

#[test]
fn callers_come_before_what_they_call_and_times_are_per_operation() {
    // A hit is 10 ns of an operation of the baseline, and 5 ns of one of the candidate.
    let frames = tree(&[("B run", 20, 40), ("B run work", 40, 80), ("B run slow", 0, 200), ("gc", 40, 0)]);
    let want = [
        "0  1000 1600 0.0 100.0 grew", "1 B 600 1600 0.0 80.0 grew", "2 run 600 1600 0.0 80.0 grew",
        "3 slow 0 1000 0.0 50.0 grew", "3 work 400 400 50.0 20.0 alike", "1 gc 400 0 80.0 20.0 shrank",
    ];
    assert_eq!(lines(&frames.frames([10.0, 5.0])), want);
}

#[test]
fn new_and_gone_functions_have_room_beside_each_other() {
    let frames = tree(&[("B old", 100, 0), ("B new", 0, 100)]).frames([1.0, 1.0]);
    // As long as before, and drawn as wide as both.
    let want = [
        "0  100 100 0.0 100.0 alike", "1 B 100 100 0.0 100.0 alike", "2 old 100 0 0.0 50.0 shrank",
        "2 new 0 100 50.0 50.0 grew",
    ];
    assert_eq!(lines(&frames), want);
}

#[test]
fn a_change_is_shown_beyond_three_standard_errors_of_sampling() {
    let check = |baseline: u64, candidate: u64, want: Trend| {
        let frames = tree(&[("rest", 10_000, 10_000), ("f", baseline, candidate)]).frames([1.0, 1.0]);
        let found = frames.iter().find(|frame| frame.function == "f").unwrap();
        assert_eq!(found.trend, want, "{baseline} and {candidate} hits");
    };
    // The standard error of a difference between 100 and 145 hits is √(100 · 0.990 + 145 · 0.986) = 15.6.
    check(100, 146, Trend::Alike);
    check(100, 148, Trend::Grew);
    check(148, 100, Trend::Shrank);
    check(146, 100, Trend::Alike);
}

#[test]
fn the_harness_that_stacks_begin_in_is_left_out() {
    let stacks = [
        ("runtime.goexit testing.(*B).launch testing.(*B).runN B testing.(*B).Loop", 5, 5),
        ("testing.(*B).run1 B", 5, 5),
    ];
    let names: Vec<String> = tree(&stacks).frames([1.0; 2]).into_iter().map(|frame| frame.function).collect();
    // Not where the benchmark itself calls it.
    assert_eq!(names, ["", "B", "testing.(*B).Loop"]);
}

#[test]
fn frames_that_nobody_sees_are_left_out_and_there_is_an_end_to_them() {
    let check = |stacks: &[(&str, u64, u64)], want: usize| {
        assert_eq!(tree(stacks).frames([1.0; 2]).len(), want, "{stacks:?}");
    };
    // Half a percent of all is the least.
    check(&[("big", 995, 995), ("small", 5, 5)], 3);
    check(&[("big", 995, 995), ("small", 4, 4)], 2);
    let deep = "f ".repeat(5 * DEPTH_MAX);
    let frames = tree(&[(deep.trim(), 10, 10)]).frames([1.0; 2]);
    assert_eq!((frames.len(), frames.last().map(|last| last.candidate_ns)), (DEPTH_MAX + 1, Some(10.0)));
}

#[test]
fn no_more_frames_than_a_page_has_room_for() {
    // Ten functions that call 31 levels each: all are wide enough.
    let chains: Vec<String> = (0..10).map(|i| format!("f{i}{}", " g".repeat(30))).collect();
    let chains: Vec<(&str, u64, u64)> = chains.iter().map(|stack| (stack.as_str(), 10, 10)).collect();
    let frames = tree(&chains).frames([1.0; 2]);
    assert_eq!(frames.len(), FRAMES_MAX);
    for pair in frames.windows(2) {
        assert!(pair[1].depth <= pair[0].depth + 1, "a frame without its caller: {pair:?}");
    }
}

#[test]
fn profiles_that_name_ever_new_functions_keep_their_time() {
    let mut tree = CallTree::default();
    for i in 0..120_000 {
        let function = format!("f{i}");
        tree.add(Role::Baseline, [function.as_str()], 1);
        tree.add(Role::Candidate, [function.as_str(), "g"], 1);
    }
    assert_eq!(lines(&tree.frames([1.0; 2])), ["0  120000 120000 0.0 100.0 alike"]);
}

#[test]
fn without_samples_of_both_sides_there_is_nothing() {
    assert_eq!(tree(&[("f", 10, 0)]).frames([1.0; 2]), []);
    assert_eq!(tree(&[("f", 10, 10)]).frames([0.0; 2]), []);
    assert_eq!(CallTree::default().frames([1.0; 2]), []);
}
