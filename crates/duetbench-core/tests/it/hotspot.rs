//! Functions that gained, found in the profiles of several processes of each side.

use std::collections::BTreeMap;

use duetbench_core::hotspot::{Hits, LISTED_MAX, Origin, ProcessProfile, ProfileDifference};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

use crate::support::same_cases;

/// 1000 invocations of 10 ms of processor time a sample: a hit is 10 µs an operation.
fn process(samples: u64, functions: &[(&str, u64, u64)]) -> ProcessProfile {
    let hits = |(name, flat, cumulative): &(&str, u64, u64)| {
        ((*name).to_owned(), Hits { flat: *flat, cumulative: *cumulative })
    };
    ProcessProfile {
        invocations: 1000,
        period_ns: 10_000_000,
        samples,
        functions: functions.iter().map(hits).collect(),
    }
}

/// Five processes whose `fast` takes about 90 hits and whose `slow` takes so many each.
fn side(slow: [u64; 5]) -> Vec<ProcessProfile> {
    let fast = [88, 92, 90, 91, 89];
    let one = |(slow, fast): (u64, u64)| {
        let all = slow + fast + 10;
        let functions = [
            ("p.fast", fast, fast),
            ("p.slow", slow, slow),
            ("p.run", 0, slow + fast),
            ("testing.(*B).runN", 0, all),
            ("runtime.mallocgc", 6, 7),
            ("runtime.gcDrain", 4, 4),
        ];
        process(all, &functions)
    };
    slow.into_iter().zip(fast).map(one).collect()
}

#[test]
fn the_function_that_gained_is_named_with_its_time_and_share() {
    let found = ProfileDifference::of(&side([10, 11, 9, 10, 10]), &side([50, 49, 51, 50, 50])).unwrap();
    assert_eq!((found.processes, found.invocations), ([5, 5], 1000));
    assert_eq!(found.samples, [550, 750]);
    let flat: Vec<&str> = found.flat.iter().map(|f| f.function.as_str()).collect();
    assert_eq!(flat, ["p.slow"]);
    let slow = &found.flat[0];
    assert_eq!((slow.gain.baseline_ns, slow.gain.candidate_ns, slow.gain.gain_ns), (100_000.0, 500_000.0, 400_000.0));
    assert_eq!((slow.origin, slow.share), (Origin::Program, Some(1.0)));
    assert_eq!((found.total.gain_ns, found.total.beyond_noise), (400_000.0, true));
    // Whoever calls it gained with it, but the harness is no finding.
    let cumulative: Vec<&str> = found.cumulative.iter().map(|f| f.function.as_str()).collect();
    assert_eq!(cumulative.len(), 2, "{cumulative:?}");
    assert!(cumulative.contains(&"p.run") && cumulative.contains(&"p.slow"), "{cumulative:?}");
    assert_eq!((found.runtime.baseline_ns, found.runtime.beyond_noise), (100_000.0, false));
}

#[test]
fn what_processes_of_one_side_differ_by_is_no_finding() {
    let check = |candidate, found: usize| {
        let difference = ProfileDifference::of(&side([10, 11, 9, 10, 10]), &side(candidate)).unwrap();
        assert_eq!(difference.flat.len(), found, "{candidate:?}");
    };
    // One process of the candidate is as fast as the slowest of the baseline.
    check([50, 49, 11, 50, 50], 0);
    check([50, 49, 12, 50, 50], 1);
    // All are slower, but by no more than a few hits in fifty: sampling explains it.
    check([12, 12, 12, 12, 12], 0);
    check([26, 26, 26, 26, 26], 1);
}

#[test]
fn a_function_that_is_new_needs_more_than_a_hit() {
    let without = || vec![process(100, &[("p.a", 100, 100)]); 5];
    let with = |hits: u64| vec![process(100 + hits, &[("p.a", 100, 100), ("p.new", hits, hits)]); 5];
    assert!(ProfileDifference::of(&without(), &with(1)).unwrap().flat.is_empty());
    let found = ProfileDifference::of(&without(), &with(4)).unwrap();
    assert_eq!((found.flat[0].function.as_str(), found.flat[0].gain.baseline_ns), ("p.new", 0.0));
}

#[test]
fn the_runtime_is_told_apart_from_the_program_and_its_collector() {
    let before = vec![process(100, &[("p.a", 100, 100)]); 5];
    let names = [
        ("runtime.mallocgc", Origin::Runtime),
        ("internal/runtime/maps.(*Map).Get", Origin::Runtime),
        ("runtime.scanobject", Origin::Collector),
        ("runtime.(*gcWork).balance", Origin::Collector),
        ("example.com/runtime.mark", Origin::Program),
        ("runtimes.f", Origin::Program),
    ];
    let functions: Vec<(&str, u64, u64)> = names.iter().map(|(name, _)| (*name, 50, 50)).collect();
    let after = vec![process(400, &[&[("p.a", 100, 100)], &functions[..]].concat()); 5];
    let found = ProfileDifference::of(&before, &after).unwrap();
    let origins: BTreeMap<&str, Origin> = found.flat.iter().map(|f| (f.function.as_str(), f.origin)).collect();
    assert_eq!(origins, names.into_iter().collect());
    assert_eq!(found.runtime.gain_ns, 4.0 * 500_000.0);
}

#[test]
fn without_samples_there_is_no_difference() {
    let some = || vec![process(10, &[("p.a", 10, 10)])];
    for (baseline, candidate) in [
        (vec![], some()),
        (some(), vec![process(0, &[])]),
        (some(), vec![ProcessProfile { invocations: 0, ..some().remove(0) }]),
        (vec![ProcessProfile { period_ns: 0, ..some().remove(0) }], some()),
    ] {
        assert_eq!(ProfileDifference::of(&baseline, &candidate), None);
    }
}

fn any_process() -> impl Strategy<Value = ProcessProfile> {
    let function = (0..30u32, any::<u64>(), any::<u64>());
    (any::<u64>(), any::<u64>(), any::<u64>(), vec(function, 0..20)).prop_map(|(invocations, period_ns, samples, f)| {
        let hits = |(name, flat, cumulative): (u32, u64, u64)| (format!("p.f{name}"), Hits { flat, cumulative });
        ProcessProfile { invocations, period_ns, samples: samples >> 8, functions: f.into_iter().map(hits).collect() }
    })
}

fn some_processes() -> impl Strategy<Value = Vec<ProcessProfile>> {
    let one = (90..110u64, vec(0..30u64, 6)).prop_map(|(more, flats)| {
        let names = ["p.a", "p.b", "p.c", "runtime.d", "runtime.gcE", "testing.f"];
        let functions: Vec<(&str, u64, u64)> =
            names.into_iter().zip(flats).map(|(name, flat)| (name, flat, flat)).collect();
        process(more + functions.iter().map(|f| f.1).sum::<u64>(), &functions)
    });
    vec(one, 1..7)
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn whatever_was_counted_nothing_panics(a in vec(any_process(), 0..5), b in vec(any_process(), 0..5)) {
        if let Some(found) = ProfileDifference::of(&a, &b) {
            prop_assert!(found.total.baseline_ns.is_finite() && found.total.candidate_ns.is_finite());
        }
    }

    #[test]
    fn what_is_listed_gained_and_is_ordered(a in some_processes(), b in some_processes()) {
        let found = ProfileDifference::of(&a, &b).unwrap();
        for list in [&found.flat, &found.cumulative] {
            prop_assert!(list.len() <= LISTED_MAX);
            prop_assert!(list.iter().all(|f| f.gain.beyond_noise && f.gain.gain_ns > 0.0));
            prop_assert!(list.is_sorted_by(|x, y| x.gain.gain_ns >= y.gain.gain_ns));
            prop_assert!(list.iter().all(|f| f.share.is_some() == found.total.beyond_noise));
        }
        prop_assert!(found.cumulative.iter().all(|f| !f.function.starts_with("testing.")));
    }

    #[test]
    fn no_function_gains_both_ways(a in some_processes(), b in some_processes()) {
        let (there, back) = (ProfileDifference::of(&a, &b).unwrap(), ProfileDifference::of(&b, &a).unwrap());
        for f in &there.flat {
            prop_assert!(back.flat.iter().all(|g| g.function != f.function));
        }
        prop_assert_eq!(there.total.gain_ns, -back.total.gain_ns);
    }

    #[test]
    fn the_unit_of_time_changes_no_finding(a in some_processes(), b in some_processes(), factor in 2..50u64) {
        let scaled = |side: &[ProcessProfile]| -> Vec<ProcessProfile> {
            side.iter().map(|p| ProcessProfile { invocations: p.invocations * factor, ..p.clone() }).collect()
        };
        let names = |found: &ProfileDifference| found.flat.iter().map(|f| f.function.clone()).collect::<std::collections::BTreeSet<_>>();
        let (one, other) = (ProfileDifference::of(&a, &b).unwrap(), ProfileDifference::of(&scaled(&a), &scaled(&b)).unwrap());
        prop_assert_eq!(names(&one), names(&other));
    }
}
