//! The search for a commit: how often it is right, and at which cost.

use duetbench_core::bisect::{ALPHA, Answer, Costs, Found, Next, Probe, Question, Rules, Search};

use crate::bisect_support::{PAIRS_ALONE, Tally, World, culprits};
use crate::noise_support::Noise;

const SEARCHES: usize = 40;

/// Every commit in turn.
fn at(number: usize) -> usize {
    1 + number * 37 % 128
}

fn of_one(step: f64, spread: f64) -> impl Fn(usize) -> World {
    move |number| World::of_one(at(number), step, spread)
}

#[track_caller]
fn check(world: impl Fn(usize) -> World, pairs_max: f64) {
    let tally = Tally::of(SEARCHES, &mut Noise::new(22), world);
    assert!(tally.wrong == 0 && tally.right * 100 >= SEARCHES * 97, "{tally:?}");
    assert!(tally.pairs <= pairs_max, "{tally:?}");
}

/// Build pairs of a Bayesian search that knows step and spread, takes normal noise for granted, and compares nothing directly: 400
/// simulated searches each. What robustness costs is at most a third of it.
#[test]
fn a_step_of_known_size_is_found_at_little_more_than_the_least_cost() {
    for (step, spread, least) in [(0.05, 0.037, 33.0), (0.10, 0.037, 12.0), (0.03, 0.02, 27.0), (0.05, 0.02, 13.0)] {
        check(|number| World { ends: 300, ..of_one(step, spread)(number) }, least * 4.0 / 3.0);
    }
}

#[test]
fn a_step_of_unknown_size_is_found_too() {
    check(of_one(0.05, 0.037), 60.0);
    check(of_one(0.10, 0.037), 20.0);
    check(of_one(1.0, 0.02), 12.0);
}

#[test]
fn two_steps_are_both_found() {
    let two = |first: f64, second: f64| {
        move |n: usize| World {
            steps: vec![(1 + n * 37 % 60, first), (64 + n * 29 % 64, second)],
            ends: 16,
            ..World::of_one(1, first + second, 0.02)
        }
    };
    for (first, second) in [(0.05, 0.05), (0.10, -0.04), (1.0, 1.0)] {
        let tally = Tally::of(SEARCHES, &mut Noise::new(22), two(first, second));
        assert!(tally.wrong == 0 && tally.right * 100 >= SEARCHES * 90, "{tally:?}");
    }
}

#[test]
fn equal_code_at_the_ends_is_hardly_ever_named() {
    // Dear visits make for few questions.
    let costs = Costs { visit_s: 30.0, ..PAIRS_ALONE };
    for (deceived, wrong_max) in [(0.0, 0), (5.0, 3), (7.0, 3)] {
        let equal = |_| {
            let steps = Vec::new();
            World { commits: 16, steps, ends: 16, deceived, costs, ..World::of_one(1, 0.05, 0.02) }
        };
        let tally = Tally::of(150, &mut Noise::new(7), equal);
        assert!(tally.wrong <= wrong_max, "{deceived}: {tally:?}");
        // Where the end points differ, there is something to search.
        assert!(deceived == 0.0 || tally.built > 4.0, "{deceived}: {tally:?}");
    }
}

/// Every commit's time is off by one percent, whatever the number of pairs: to name one that is not the culprit takes two that are off by
/// much.
#[test]
fn layouts_that_stay_the_same_are_not_taken_for_steps() {
    let of = |commit: usize, step: f64, layout: f64| World { layout, ends: 20, ..World::of_one(commit, step, 0.01) };
    let world = |number: usize| World { commits: 32, ..of(1 + number * 37 % 32, 0.05, 0.01) };
    let tally = Tally::of(2 * SEARCHES, &mut Noise::new(22), world);
    assert!(tally.wrong <= 1 && tally.right >= SEARCHES, "{tally:?}");
    // Where they make little, a small step is found all the same.
    let tally = Tally::of(SEARCHES / 2, &mut Noise::new(22), |number| of(at(number), 0.03, 0.001));
    assert!(tally.wrong == 0 && tally.right * 100 >= SEARCHES / 2 * 90, "{tally:?}");
}

#[test]
fn wild_build_pairs_do_not_decide() {
    check(|number| World { wild: 0.1, ..of_one(0.05, 0.02)(number) }, 30.0);
}

#[test]
fn commits_that_cannot_be_built_hide_a_range() {
    let world = World { skipped: vec![60, 61, 62], ..World::of_one(61, 0.5, 0.02) };
    let Answer::Steps(steps) = world.search(&mut Noise::new(3)).answer else { panic!("no steps") };
    assert_eq!(steps.iter().map(|step| (step.parent, step.culprit)).collect::<Vec<_>>(), [(59, 63)]);
}

#[test]
fn dear_builds_make_for_fewer_of_them() {
    let cheap = Tally::of(SEARCHES, &mut Noise::new(5), of_one(0.05, 0.037));
    let costs = Costs { build_s: 60.0, ..PAIRS_ALONE };
    let dear = Tally::of(SEARCHES, &mut Noise::new(5), |n| World { costs, ..of_one(0.05, 0.037)(n) });
    assert!(dear.built < 0.8 * cheap.built && dear.wrong == 0, "{cheap:?} {dear:?}");
}

fn search(commits: usize) -> Search {
    let mut search = Search::new(commits, Rules { alpha: ALPHA, worth: 0.01, fixed_layouts: false });
    tell(&mut search, 0, commits, &[0.69, 0.70, 0.68, 0.69]);
    search
}

fn tell(search: &mut Search, base: usize, head: usize, log_ratios: &[f64]) {
    search.tell(Probe { base, head, found: Found::LogRatios(log_ratios.to_vec()) });
}

#[test]
fn identical_code_is_free_and_exact() {
    let mut search = search(12);
    for commit in [1, 2, 3, 4, 5, 6] {
        search.tell(Probe { base: 0, head: commit, found: Found::Identical });
    }
    search.tell(Probe { base: 8, head: 12, found: Found::Identical });
    assert_eq!(search.candidates(), 2);
    let asked = search.next(&PAIRS_ALONE);
    assert!(matches!(asked, Next::Measure(Question { base: 0, head: 7 | 8, .. })), "{asked:?}");
}

#[test]
fn commits_that_cannot_be_compared_with_each_other_are_asked_once() {
    let mut search = search(12);
    tell(&mut search, 0, 6, &[0.0, 0.01, -0.01, 0.0]);
    tell(&mut search, 0, 7, &[0.69, 0.70, 0.68, 0.69]);
    assert!(matches!(search.next(&PAIRS_ALONE), Next::Confirm(Question { base: 6, head: 7, .. })));
    search.skip(7);
    let told = search.next(&PAIRS_ALONE);
    assert!(matches!(told, Next::Done(Answer::CannotTell(_))), "{told:?}");
}

#[test]
fn a_commit_that_fails_after_it_was_measured_is_not_asked_about_again() {
    let mut search = search(12);
    tell(&mut search, 0, 6, &[0.35, 0.34]);
    // A commit that is built is asked about again rather than another one.
    let costs = Costs { build_s: 1000.0, ..PAIRS_ALONE };
    let asked = search.next(&costs);
    assert!(matches!(asked, Next::Measure(Question { head: 6, .. })), "{asked:?}");
    search.skip(6);
    let asked = search.next(&costs);
    assert!(matches!(asked, Next::Measure(Question { head, .. }) if head != 6), "{asked:?}");
}

#[test]
fn equal_code_that_ratios_contradict_ends_a_search() {
    let mut search = search(12);
    tell(&mut search, 0, 6, &[0.0, 0.01, -0.01, 0.0].repeat(8));
    tell(&mut search, 0, 7, &[0.69, 0.70, 0.68, 0.69].repeat(8));
    tell(&mut search, 0, 12, &[0.69, 0.70, 0.68, 0.69].repeat(8));
    search.tell(Probe { base: 6, head: 7, found: Found::Identical });
    let told = search.next(&PAIRS_ALONE);
    assert!(matches!(told, Next::Done(Answer::CannotTell(_))), "{told:?}");
}

#[test]
fn nobody_is_named_without_a_comparison_with_the_parent() {
    let mut search = search(12);
    tell(&mut search, 0, 6, &[0.0, 0.01, -0.01, 0.0]);
    tell(&mut search, 0, 7, &[0.69, 0.70, 0.68, 0.69]);
    let asked = search.next(&PAIRS_ALONE);
    assert!(matches!(asked, Next::Confirm(Question { base: 6, head: 7, .. })), "{asked:?}");
    assert!(culprits(&search.so_far()).is_empty());
    tell(&mut search, 6, 7, &[0.69, 0.68, 0.70]);
    assert_eq!(search.next(&PAIRS_ALONE), Next::Done(search.so_far()));
    assert_eq!(culprits(&search.so_far()), [7]);
}

#[test]
fn a_comparison_with_the_parent_can_acquit() {
    let mut search = search(12);
    tell(&mut search, 0, 6, &[0.0, 0.01, -0.01, 0.0]);
    tell(&mut search, 0, 7, &[0.69, 0.70]);
    tell(&mut search, 6, 7, &[0.0, 0.01, 0.0, -0.01, 0.0, 0.0]);
    assert!(culprits(&search.so_far()).is_empty());
    let asked = search.next(&PAIRS_ALONE);
    assert!(matches!(asked, Next::Measure(_)), "{asked:?}");
}

#[test]
fn a_change_that_is_gone_is_none() {
    let mut search = search(4);
    let again = vec![0.0; 100];
    tell(&mut search, 0, 4, &again);
    for commit in [1, 2, 3] {
        tell(&mut search, 0, commit, &again);
    }
    let asked = search.next(&PAIRS_ALONE);
    assert_eq!(asked, Next::Done(Answer::Nothing));
}

#[test]
fn what_is_likely_gone_is_not_said_to_be_gone() {
    // All is the good commit's code up to the last commit, which more and more pairs find to be like the one before it.
    let mut search = Search::new(12, Rules { alpha: ALPHA, worth: 0.01, fixed_layouts: false });
    tell(&mut search, 0, 12, &[0.03, 0.02, 0.03, 0.02]);
    search.tell(Probe { base: 0, head: 11, found: Found::Identical });
    let mut seen = [false; 2];
    for pair in 0..20 {
        let (nothing, answer) = (search.belief().nothing, search.so_far());
        let is_sure = nothing >= 1.0 - ALPHA;
        assert_eq!(answer == Answer::Nothing, is_sure, "{nothing}: {answer:?}");
        seen[usize::from(is_sure)] |= nothing > 0.5;
        tell(&mut search, 11, 12, &[if pair % 2 == 0 { 0.004 } else { -0.004 }]);
    }
    assert_eq!(seen, [true; 2]);
}

/// A search with a step against the change, or too small a one, that is sure, and a rest that lies anywhere before it.
fn rest(step: f64, worth: f64) -> Search {
    let mut search = Search::new(12, Rules { alpha: ALPHA, worth, fixed_layouts: false });
    let around = |middle: f64| [-0.005, 0.0, 0.005].map(|noise| middle + noise).repeat(8);
    tell(&mut search, 0, 12, &around(0.10));
    tell(&mut search, 0, 6, &around(0.10 - step));
    tell(&mut search, 0, 7, &around(0.10));
    tell(&mut search, 6, 7, &around(step));
    search
}

#[test]
fn a_step_against_the_change_or_a_small_part_of_it_alone_is_not_named() {
    for (step, worth) in [(-0.04, 0.01), (0.03, 0.01), (0.06, 0.08)] {
        let answer = rest(step, worth).so_far();
        assert!(matches!(answer, Answer::CannotTell(_)), "{step}: {answer:?}");
    }
    assert_eq!(culprits(&rest(0.06, 0.01).so_far()), [7]);
}

#[test]
fn neighbours_are_searched_without_a_question() {
    let mut search = search(1);
    tell(&mut search, 0, 1, &[0.69, 0.70]);
    assert_eq!(culprits(&search.so_far()), [1]);
}
