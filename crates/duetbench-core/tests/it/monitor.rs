//! Who is settled while measuring goes on.

use duetbench_core::Verdict;
use duetbench_core::analysis::{Measured, Monitor, Standing, analyse};
use duetbench_core::plan::{Design, Mode, Plan, Profile};
use duetbench_core::report::{ForkPair, ForkSide};
use duetbench_core::spec::Decision;
use duetbench_core::stats::Spend;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use proptest::test_runner::Config as ProptestConfig;

use crate::support::{
    Course, Noise, PLAIN, build_pairs, fixed_design, placed, plan_of, same_cases, samples_of, standings,
};

/// The suite runs after which one looks, when those in `failed` gave nothing.
fn looks(design: Design, failed: &[u32], suite_runs: u32) -> Vec<u32> {
    let (plan, decision) = (plan_of(&["A"], design), Decision::default());
    let mut monitor = Monitor::new(&plan, &decision);
    let mut forks = Vec::new();
    let mut look = |run: &u32| {
        forks.extend((!failed.contains(run)).then(|| placed(&design, (0, *run), 0.0)));
        monitor.is_look(0, *run, &forks)
    };
    (0..suite_runs).filter(&mut look).collect()
}

#[test]
fn looks_come_when_their_units_are_complete() {
    assert_eq!(looks(fixed(20), &[], 20), [3, 5, 7, 9, 12, 15, 19]);
    // Two of them have two forks, so everything comes two suite runs later.
    assert_eq!(looks(build_pairs(20, 2), &[], 22), [5, 7, 9, 11, 14, 17, 21]);
    // Four doubled units end after suite run 7 and not after their first fork, 6.
    assert_eq!(looks(build_pairs(6, 4), &[], 10), [7, 9]);
    assert_eq!(looks(Design { forks_per_unit: 3, ..build_pairs(6, 0) }, &[], 18), [11, 17]);
    assert_eq!(looks(Design { sequential: false, ..build_pairs(6, 4) }, &[], 10), [9]);
}

fn fixed(units: u32) -> Design {
    Design { sequential: true, ..fixed_design(units) }
}

#[test]
fn failed_trials_put_a_look_off_only_where_a_unit_has_nothing_left() {
    assert_eq!(looks(fixed(8), &[1], 9), [4, 6, 8]);
    // One of two forks of the second unit.
    assert_eq!(looks(build_pairs(8, 2), &[3], 10), [5, 7, 9]);
    // Both.
    assert_eq!(looks(build_pairs(8, 2), &[2, 3], 11), [6, 8, 10]);
    // A unit that fails right after a look leaves that look as it was.
    assert_eq!(looks(fixed(8), &[4], 9), [3, 4, 6, 8]);
}

/// Standings of benchmarks with these log ratios, a unit each, after the last of them.
fn stand(of_each: &[&[f64]]) -> Vec<Standing> {
    let names: Vec<String> = (0..of_each.len()).map(|i| format!("B{i:03}")).collect();
    let design = build_pairs(20, 0);
    let plan = plan_of(&names.iter().map(String::as_str).collect::<Vec<_>>(), design);
    let decision = Decision::default();
    let forks = |d: &&[f64]| -> Vec<ForkPair> { (0..).zip(*d).map(|(run, d)| placed(&design, (0, run), *d)).collect() };
    let forks: Vec<Vec<ForkPair>> = of_each.iter().map(forks).collect();
    let last = of_each.iter().map(|d| d.len() as u32).max().unwrap().max(1) - 1;
    let forks: Vec<&[ForkPair]> = forks.iter().map(Vec::as_slice).collect();
    standings(&mut Monitor::new(&plan, &decision), last, &forks)
}

/// Standing of a benchmark with this profile that reads 2 % slower, planned in one mode and measured in another.
fn stands(profile: Profile, planned: Mode, measured: Mode) -> Vec<Standing> {
    stands_by(profile, planned, |fork| ForkPair { mode: measured, ..fork })
}

/// The same by fork pairs that are altered in some way.
fn stands_by(profile: Profile, planned: Mode, altered: impl Fn(ForkPair) -> ForkPair) -> Vec<Standing> {
    let design = fixed(20);
    let mut plan = plan_of(&["A"], design);
    (plan.benchmarks[0].mode, plan.benchmarks[0].profile) = (planned, Some(profile));
    let fork = |(run, d)| altered(placed(&design, (0, run), d));
    let forks: Vec<ForkPair> = (0..).zip([0.02, 0.021, 0.019, 0.02]).map(fork).collect();
    standings(&mut Monitor::new(&plan, &Decision::default()), 3, &[&forks])
}

#[test]
fn a_duet_that_was_given_up_is_looked_at_as_what_it_became() {
    // Alone an invocation takes as long as beside the other version; half of each slice is lost where they take turns.
    let profile = Profile { invocation_ns: 1.0, cold_share: Some(0.5), ..PLAIN };
    // A change of 2 % is within the tolerance; twice as large a one is not.
    assert_eq!(stands(profile, Mode::Duet, Mode::Duet), [Standing::Settled]);
    assert_eq!(stands(profile, Mode::Duet, Mode::InterleavedOneCore), [Standing::OutOfReach]);
}

#[test]
fn caches_may_hide_whatever_is_lost_in_turns() {
    let in_turns = |profile| stands(profile, Mode::InterleavedOneCore, Mode::InterleavedOneCore);
    // Alone an invocation took half as long, though slices of the first trial lost nothing.
    let lost = Profile { invocation_ns: 0.5, cold_share: Some(0.0), ..PLAIN };
    assert_eq!(in_turns(lost), [Standing::OutOfReach], "no number of trials shows what caches hide");
    assert_eq!(in_turns(Profile { invocation_ns: 1.0, ..lost }), [Standing::Settled]);
    assert_eq!(in_turns(Profile { cold_share: None, ..lost }), [Standing::Settled], "nobody looked at its caches");
    assert_eq!(
        in_turns(Profile { collects: true, ..lost }),
        [Standing::Settled],
        "its collector is in the way in turns"
    );
}

#[test]
fn the_share_that_is_lost_in_turns_is_one_of_the_faster_version() {
    // Alone the slower version takes 1.6, beside the other 2; that one takes 1. Both lose 0.4.
    let of = |fork: ForkPair| {
        let side = |side: ForkSide, ns| ForkSide { typical_ns: Some(ns), ns_per_op: ns, ..side };
        let (baseline, candidate) = (side(fork.baseline, 1.0), side(fork.candidate, 2.0));
        ForkPair { baseline, candidate, mode: Mode::InterleavedOneCore, ..fork }
    };
    let mut plan = plan_of(&["A"], fixed(4));
    plan.benchmarks[0].profile = Some(Profile { invocation_ns: 1.6, cold_share: Some(0.0), ..PLAIN });
    let log_ratios = [2_f64.ln(), 2.001_f64.ln(), 1.999_f64.ln(), 2_f64.ln()];
    let forks: Vec<ForkPair> = (0..).zip(log_ratios).map(|(run, d)| of(placed(&fixed(4), (0, run), d))).collect();
    let decision = Decision::default();
    let look = Monitor::new(&plan, &decision).looks(0, &forks, Spend::AsPlanned).pop().unwrap();
    // (2 - 0.4) / (1 - 0.4)
    assert!((2.6..2.8).contains(&look.ratio_high), "{look:?}");
}

#[test]
fn a_collector_whose_cost_was_computed_takes_nothing_from_what_caches_hide() {
    // Half of each slice is lost in turns. No collection ran in it, and one would take most of the time.
    let lost = Profile { invocation_ns: 0.5, cold_share: Some(0.0), ..PLAIN };
    let collecting = |typical_ns| {
        let of = |side: ForkSide| ForkSide { collector_share: Some(0.6), typical_ns, ..side };
        let altered = |fork: ForkPair| ForkPair { baseline: of(fork.baseline), candidate: of(fork.candidate), ..fork };
        stands_by(lost, Mode::InterleavedOneCore, altered)
    };
    assert_eq!(collecting(Some(1.0)), [Standing::OutOfReach]);
    assert_eq!(collecting(Some(0.4)), [Standing::Settled], "slices with a collection make the mean of the others");
}

#[test]
fn slices_that_begin_after_a_whole_cycle_of_the_collector_hide_nothing() {
    // Getting warm takes 0.1 ms; it is over after four times as long, if that was one cycle and the slice another.
    let collecting = Profile { collects: true, cold_share: Some(0.5), ..PLAIN };
    let after = |unrecorded_ns, collections| {
        let warmed = |fork| ForkPair { unrecorded_ns, collections, slices: 3, ..fork };
        stands_by(collecting, Mode::InterleavedOneCore, warmed)
    };
    assert_eq!(after(Some(400_000.0), 8), [Standing::Settled]);
    assert_eq!(after(Some(399_000.0), 8), [Standing::OutOfReach]);
    assert_eq!(after(Some(400_000.0), 7), [Standing::OutOfReach]);
    assert_eq!(after(None, 8), [Standing::OutOfReach]);
}

const SLOWER: [f64; 4] = [0.1, 0.101, 0.099, 0.1];
/// Slower with p = 0.0006, which just suffices for a look after four units.
const HARDLY_SLOWER: [f64; 4] = [0.0677, 0.0759, 0.0841, 0.0923];
const OPEN: [f64; 4] = [0.3, -0.1, 0.02, -0.2];

#[test]
fn each_kind_of_answer_settles_and_none_does_not() {
    assert!(matches!(stand(&[&HARDLY_SLOWER])[..], [Standing::Regressed { .. }]));
    // Beyond doubt, so that it need not be seen again.
    assert_eq!(stand(&[&SLOWER]), [Standing::Settled]);
    assert_eq!(stand(&[&SLOWER.map(|d| -d)]), [Standing::Settled]);
    assert_eq!(stand(&[&SLOWER.map(|d| d - 0.1)]), [Standing::Settled]);
    assert_eq!(stand(&[&OPEN]), [Standing::Open]);
    assert_eq!(stand(&[&SLOWER[..2]]), [Standing::Open]);
    assert_eq!(stand(&[&[]]), [Standing::Open]);
}

/// Standing after eight of twelve units around this log ratio: two each so far below and above it, and two each three times as far.
fn stands_around(log_ratio: f64, distance: f64) -> Standing {
    let design = build_pairs(12, 0);
    let plan = plan_of(&["A"], design);
    let around = [-3.0, -1.0, 1.0, 3.0].map(|times| times * distance).repeat(2);
    let forks: Vec<ForkPair> = (0..).zip(around).map(|(run, d)| placed(&design, (0, run), log_ratio + d)).collect();
    standings(&mut Monitor::new(&plan, &Decision::default()), 7, &[&forks])[0]
}

#[test]
fn a_change_at_the_threshold_ends_where_the_rest_of_the_design_would_hardly_tell() {
    let threshold = 0.03f64.ln_1p();
    let stands_near = |log_ratio| stands_around(log_ratio, 0.0005);
    // The chance to tell is 1 % at the threshold, 6 and 11 % a little beside it, by SciPy's t.
    for sign in [1.0, -1.0] {
        assert_eq!(stands_near(sign * threshold), Standing::OutOfReach);
        assert_eq!(stands_near(sign * (threshold - 0.0004)), Standing::OutOfReach);
        assert_eq!(stands_near(sign * (threshold + 0.0004)), Standing::OutOfReach);
        assert_eq!(stands_near(sign * (threshold - 0.0005)), Standing::Open);
        assert_eq!(stands_near(sign * (threshold + 0.0005)), Standing::Open);
    }
    // So early most is still to come.
    assert_eq!(stand(&[&SLOWER.map(|d| threshold + d - 0.1)]), [Standing::Open]);
}

#[test]
fn what_varies_so_much_that_the_rest_of_the_design_would_hardly_tell_ends_without_an_answer() {
    // The chance to show a change is 4.1 and 5.5 %, by SciPy's t; nothing can show that there is none.
    for sign in [1.0, -1.0] {
        assert_eq!(stands_around(sign * 0.034, 0.02), Standing::OutOfReach);
        assert_eq!(stands_around(sign * 0.036, 0.02), Standing::Open);
    }
    // The chance to show that there is none is 0 and 7.0 %.
    assert_eq!(stands_around(0.0, 0.018), Standing::OutOfReach);
    assert_eq!(stands_around(0.0, 0.0175), Standing::Open);
}

#[test]
fn a_suite_may_keep_open_what_alone_would_be_settled() {
    assert!(matches!(stand(&[&HARDLY_SLOWER])[..], [Standing::Regressed { .. }]));
    let among = |others: &'static [f64]| stand(&[&[&HARDLY_SLOWER[..]][..], &[others; 9]].concat())[0];
    assert_eq!(among(&OPEN), Standing::Open);
    // Others that have not come to a look count too, because they will.
    assert_eq!(among(&OPEN[..1]), Standing::Open);
    assert_eq!(among(&[]), Standing::Open);
    // And where all changed, one more is no surprise.
    assert!(matches!(among(&SLOWER), Standing::Regressed { .. }));
}

#[test]
fn between_its_looks_a_benchmark_stands_where_it_stood() {
    let drowned = [&SLOWER[..], &[-0.5]].concat();
    assert_eq!(stand(&[&drowned]), stand(&[&SLOWER]));
    let (design, decision) = (build_pairs(20, 0), Decision::default());
    let plan = plan_of(&["A"], design);
    let forks: Vec<ForkPair> = (0..).zip(&drowned).map(|(run, d)| placed(&design, (0, run), *d)).collect();
    // At the end, all that was measured counts.
    assert_eq!(Monitor::new(&plan, &decision).end(&[&forks]), [Standing::Open]);
}

#[test]
fn at_the_end_the_suite_counts_those_that_were_tested() {
    let end = |others: &[f64]| {
        let names: Vec<String> = (0..10).map(|i| format!("B{i}")).collect();
        let design = build_pairs(20, 0);
        let plan = plan_of(&names.iter().map(String::as_str).collect::<Vec<_>>(), design);
        let of = |d: &[f64]| (0..).zip(d).map(|(run, d)| placed(&design, (0, run), *d)).collect::<Vec<ForkPair>>();
        let (first, rest) = (of(&HARDLY_SLOWER), of(others));
        Monitor::new(&plan, &Decision::default()).end(&[&[&first[..]][..], &[&rest[..]; 9]].concat())[0]
    };
    assert_eq!(end(&OPEN), Standing::Open);
    assert!(matches!(end(&OPEN[..2]), Standing::Regressed { .. }));
}

#[test]
fn a_unit_that_is_not_complete_does_not_count_in_a_look() {
    // Four units with two forks each; the eighth is still to come when another benchmark comes to a look.
    let (design, decision) = (build_pairs(20, 4), Decision::default());
    let plan = plan_of(&["A", "B"], design);
    let forks =
        |runs: u32| (0..runs).map(|run| placed(&design, (0, run), SLOWER[run as usize / 2])).collect::<Vec<_>>();
    let (seven, eight) = (forks(7), forks(8));
    let mut monitor = Monitor::new(&plan, &decision);
    assert_eq!(standings(&mut monitor, 6, &[&seven, &[]]), [Standing::Open; 2]);
    assert_eq!(standings(&mut monitor, 7, &[&eight, &[]])[0], Standing::Settled);
    // It is complete too when the last of its forks has failed.
    assert_eq!(standings(&mut monitor, 7, &[&seven, &[]])[0], Standing::Settled);
}

/// A benchmark's design, its true change and its spread.
fn benchmarks() -> impl Strategy<Value = Vec<(Design, f64, f64)>> {
    let design = (select(vec![4u32, 6, 10]), 1..4u32, 0..5u32, any::<bool>());
    let design = design.prop_map(|(units, forks_per_unit, doubled, by_build)| {
        let several = Design { forks_per_unit, ..build_pairs(units, doubled.min(units)) };
        if by_build { several } else { fixed(units) }
    });
    vec((design, select(vec![0.0, 0.0, 0.04, 0.08]), 0.005..0.03f64), 2..12)
}

fn plan_of_these(benchmarks: &[(Design, f64, f64)]) -> Plan {
    let names: Vec<String> = (0..benchmarks.len()).map(|i| format!("B{i:03}")).collect();
    let mut plan = plan_of(&names.iter().map(String::as_str).collect::<Vec<_>>(), fixed(4));
    plan.benchmarks.iter_mut().zip(benchmarks).for_each(|(b, (design, ..))| b.configuration.design = *design);
    plan
}

fn agree(standing: Standing, verdict: &Verdict) -> bool {
    match standing {
        Standing::Open | Standing::OutOfReach => verdict.is_open(),
        Standing::Settled => !verdict.is_open(),
        Standing::Regressed { .. } => *verdict == Verdict::Regression,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..same_cases() })]

    #[test]
    fn what_is_settled_stays_so_to_the_end(benchmarks in benchmarks(), seed in any::<u64>()) {
        // So strict that the suite often has the last word.
        let decision = Decision { false_discovery_rate: 0.01, ..Decision::default() };
        let plan = plan_of_these(&benchmarks);
        let (mut monitor, mut noise) = (Monitor::new(&plan, &decision), Noise::new(seed));
        let course = Course::run(&plan, &mut monitor, |i, _| {
            // One trial in eleven fails.
            let (_, change, spread) = benchmarks[i];
            (noise.normal().abs() < 1.7).then(|| change + spread * noise.normal())
        });
        prop_assert!(!course.took_back);
        let end = monitor.end(&course.slices());
        for (during, end) in course.standings.iter().zip(&end) {
            prop_assert!(*during == Standing::Open || during == end, "{:?}, then {:?}", during, end);
        }
        // And the report says the same.
        let measured = course.forks.iter().map(|f| Measured { samples: samples_of(f), failed_trials: vec![] });
        let reports = analyse(&plan, &measured.collect::<Vec<_>>(), &decision);
        prop_assert_eq!(reports.len(), end.len());
        for (end, report) in end.iter().zip(&reports) {
            prop_assert!(agree(*end, &report.verdict), "{:?} and {:?}", end, report.verdict);
        }
    }
}
