//! Changes of a plan for a fleet, and the sums over the calls of a run, as known answers.

use std::time::Duration;

use duetbench_core::BenchmarkId;
use duetbench_core::Verdict;
use duetbench_core::analysis::{BenchmarkReport, Monitor};
use duetbench_core::fleet::{Account, CallEnd, FleetReport, FleetTerms, Lacking, ProcessorShare, Rate, Task, Usage};
use duetbench_core::plan::{Design, Plan, instance_capacity};
use duetbench_core::spec::{Arch, Decision, Effort, EngineName, FleetSpec};

use crate::support::{build_pairs, fixed_design, forks_of, plan_of};

const SPEC: FleetSpec = FleetSpec {
    engine: EngineName::Lambda,
    memory_mb: 1024,
    arch: Arch::Arm64,
    parallel: 150,
    max_cost_usd: 2.0,
    max_time: Duration::from_secs(900),
    forks_per_call: 2,
};

/// The design of a benchmark that is spread over calls of two fork pairs each.
fn spread(forks: Option<u32>, builds: u32, fixed: bool) -> Design {
    let mut plan = plan_of(&["A"], build_pairs(36, 4));
    (plan.budget_ns, plan.confirm_rounds, plan.spread) = (Some(1), 2, true);
    let effort = Effort { forks, budget: None, builds: None, fixed, confirm: true };
    plan.spread_over_calls(&SPEC, effort, |_| builds);
    assert_eq!((plan.budget_ns, plan.confirm_rounds, plan.spread), (None, 0, false), "only calls count");
    plan.benchmarks[0].configuration.design
}

#[test]
fn units_are_calls_with_one_build_pair_and_build_pairs_with_several() {
    // Twenty calls of two fork pairs each where nothing is said.
    let cases = [
        (None, 1, (20, 2, false)),
        (None, 4, (4, 10, true)),
        // Two calls for each build pair, which makes 24 of the 20.
        (None, 12, (12, 4, true)),
        (None, 40, (20, 2, true)),
        (Some(1), 12, (1, 2, true)),
        // No more than was asked for.
        (Some(7), 1, (3, 2, false)),
        (Some(7), 12, (3, 2, true)),
        (Some(26), 12, (12, 2, true)),
        (Some(48), 12, (12, 4, true)),
        (Some(100), 4, (4, 24, true)),
        (Some(0), 4, (1, 2, true)),
    ];
    for (forks, builds, (units, forks_per_unit, by_build)) in cases {
        let expected = Design { units, forks_per_unit, doubled: 0, places: 1, by_build, sequential: true };
        assert_eq!(spread(forks, builds, false), expected, "{forks:?} fork pairs of {builds} build pairs");
    }
    assert!(!spread(None, 12, true).sequential);
}

#[test]
fn two_build_pairs_are_too_few_to_be_units() {
    for builds in [0, 1, 2] {
        assert_eq!(spread(None, builds, false), spread(None, 1, false), "{builds}");
    }
    assert!(spread(None, 3, false).by_build);
}

#[test]
fn a_call_never_crosses_from_one_build_pair_to_the_next() {
    for builds in [1, 3, 4, 7, 12, 19, 40] {
        let design = spread(None, builds, false);
        for call in 0..design.forks() / 2 {
            assert_eq!(design.unit(2 * call), design.unit(2 * call + 1), "{builds} build pairs, call {call}");
        }
        assert!(design.units <= builds.max(20) && design.forks() >= 40);
    }
}

#[test]
fn processors_that_are_not_paid_for_are_none() {
    let paid_for = |memory_mb| instance_capacity(memory_mb, None).cores_physical;
    let cases = [(128, 1), (1769, 1), (3008, 1), (3537, 1), (3538, 2), (5306, 2), (5307, 3), (10_240, 5)];
    for (memory_mb, processors) in cases {
        assert_eq!(paid_for(memory_mb), processors, "{memory_mb} MB");
    }
    let capacity = instance_capacity(4096, Some(2));
    assert_eq!((capacity.cpus, capacity.asked, capacity.relinks), (2, Some(2), None));
}

#[test]
fn the_next_look_is_the_designs_and_the_last_is_its_end() {
    let looks = |design: Design| {
        let (plan, decision) = (plan_of(&["A"], design), Decision::default());
        let mut monitor = Monitor::new(&plan, &decision);
        let mut looks: Vec<u32> = Vec::new();
        while let Some(next) = monitor.next_look(0, looks.last().copied().unwrap_or(0)) {
            looks.push(next);
        }
        assert_eq!(monitor.next_look(0, 5), looks.iter().copied().find(|look| *look > 5), "from between two looks");
        looks
    };
    assert_eq!(looks(build_pairs(20, 0)), [4, 6, 8, 10, 13, 16, 20]);
    assert_eq!(looks(Design { forks_per_unit: 4, ..build_pairs(12, 0) }), [4, 6, 8, 10, 12]);
    assert_eq!(looks(fixed_design(20)), [20]);
    assert_eq!(looks(build_pairs(3, 0)), [3]);
    // Nobody asks for units that the design does not have, though no test can be made of so few.
    assert_eq!(looks(build_pairs(2, 0)), [2]);
    assert_eq!(looks(fixed_design(1)), [1]);
}

const S: u64 = 1_000_000_000;
const RATE: Rate = Rate { gb_second_x86_64: 1.0, gb_second_arm64: 0.01, million_requests: 100.0 };

fn terms() -> FleetTerms {
    FleetTerms {
        rate: RATE,
        price_date: "2026-11-01".into(),
        builds: 4,
        package_bytes: 1,
        call_max_ns: 60 * S,
        region: None,
    }
}

fn call(benchmark: u32, first_suite_run: u32, end: CallEnd) -> Account {
    let task = Task { benchmark, first_suite_run, suite_runs: 2 };
    Account { task, end, words: None, instance: None, usage: None, fork_pairs: 2 }
}

/// A call that an instance carried out in so many seconds.
fn carried_out(call: Account, (instance, cpu): (&str, &str), seconds: u64) -> Account {
    let usage = Usage { billed_ns: seconds * S, cold: seconds > 1 };
    Account { instance: Some((instance.into(), cpu.into())), usage: Some(usage), ..call }
}

fn said(call: Account, words: &str) -> Account {
    Account { words: Some(words.into()), ..call }
}

/// A benchmark of which only the fork pairs matter.
fn report(name: &str, log_ratios: &[f64]) -> BenchmarkReport {
    let id = BenchmarkId { package: "p".into(), name: name.into() };
    BenchmarkReport { forks: forks_of(log_ratios), ..BenchmarkReport::unmeasured(id, Verdict::NoChange) }
}

fn two() -> Plan {
    plan_of(&["A", "B"], fixed_design(4))
}

fn near(is: f64, should: f64) {
    assert!((is - should).abs() <= 1e-9 * should.abs().max(1.0), "{is} and not {should}");
}

#[test]
fn calls_of_which_nobody_was_told_what_they_used_cost_the_most_they_can() {
    let each = 0.000_1;
    let cost = |calls: &[Account]| terms().cost_usd(calls, &SPEC);
    assert_eq!(cost(&[]), 0.0);
    near(cost(&[carried_out(call(0, 0, CallEnd::Counted), ("i", "x"), 3)]), 0.03 + each);
    near(cost(&[carried_out(call(0, 0, CallEnd::Duplicate), ("i", "x"), 3)]), 0.03 + each);
    near(cost(&[call(0, 0, CallEnd::Sent)]), 0.6 + each);
    near(cost(&[call(0, 0, CallEnd::Failed)]), 0.6 + each);
    assert_eq!(cost(&[call(0, 0, CallEnd::Throttled)]), 0.0);
}

#[test]
fn a_runs_calls_are_counted_and_billed() {
    let calls = [
        call(0, 0, CallEnd::Throttled),
        carried_out(call(0, 0, CallEnd::Counted), ("i1", "x"), 2),
        call(0, 2, CallEnd::Failed),
        carried_out(call(0, 2, CallEnd::Counted), ("i1", "x"), 1),
        carried_out(call(0, 2, CallEnd::Duplicate), ("i2", "y"), 3),
        carried_out(call(1, 0, CallEnd::Counted), ("i2", "y"), 1),
    ];
    let report = FleetReport::of(&calls, &SPEC, terms(), &two(), &[report("A", &[]), report("B", &[])]);
    assert_eq!((report.tasks, report.counted, report.instances, report.cold), (3, 3, 2, 2));
    let ends = [(CallEnd::Counted, 3), (CallEnd::Duplicate, 1), (CallEnd::Throttled, 1), (CallEnd::Failed, 1)];
    assert_eq!(report.calls, ends);
    near(report.billed_s, 7.0);
    near(report.cost_usd, 0.07 + 0.6 + 5.0 * 0.000_1);
    assert_eq!(report.lacking, []);
}

#[test]
fn what_lacks_results_is_named_with_how_many_it_has_and_what_was_heard_last() {
    let calls = [
        carried_out(call(0, 0, CallEnd::Counted), ("i", "x"), 1),
        said(call(0, 2, CallEnd::Failed), "out of memory"),
        said(call(0, 2, CallEnd::Failed), "connection reset"),
        call(0, 2, CallEnd::Throttled),
        // Words of a task that has its result explain nothing.
        said(carried_out(call(0, 4, CallEnd::Counted), ("i", "x"), 1), "index out of range"),
        call(1, 0, CallEnd::Sent),
    ];
    let report = FleetReport::of(&calls, &SPEC, terms(), &two(), &[]);
    assert_eq!((report.counted, report.tasks), (2, 4));
    let lacking = |name: &str, (counted, asked): (u32, u32), reason: &str| Lacking {
        id: BenchmarkId { package: "p".into(), name: name.into() },
        counted,
        asked,
        reason: reason.into(),
    };
    assert_eq!(
        report.lacking,
        [lacking("A", (2, 3), "connection reset"), lacking("B", (0, 1), "nothing was heard of it")]
    );
}

#[test]
fn what_has_results_of_less_than_was_asked_for_is_named_with_the_remedy() {
    let calls = [0, 2].map(|first| carried_out(call(0, first, CallEnd::Counted), ("i", "x"), 1));
    let short = Account { fork_pairs: 1, ..carried_out(call(1, 0, CallEnd::Counted), ("i", "x"), 1) };
    let [first, second] = calls;
    let report = FleetReport::of(&[first, second, short], &SPEC, terms(), &two(), &[]);
    let [Lacking { id, counted: 1, asked: 1, reason }] = &report.lacking[..] else { panic!("{:?}", report.lacking) };
    assert_eq!(id.name, "B");
    assert!(reason.starts_with("1 of 2 fork pairs: ") && reason.contains("`--forks-per-call`"), "{reason}");
}

#[test]
fn a_model_of_processor_is_held_against_the_mean_of_each_benchmark_that_met_it() {
    let calls = [
        carried_out(call(0, 2, CallEnd::Counted), ("i2", "second"), 1),
        carried_out(call(0, 0, CallEnd::Counted), ("i1", "first"), 1),
        // Twice as slow, which says nothing of the only model that it met.
        carried_out(call(1, 0, CallEnd::Counted), ("i1", "first"), 1),
        carried_out(call(1, 2, CallEnd::Counted), ("i4", "third"), 1),
        carried_out(call(0, 0, CallEnd::Duplicate), ("i3", "fourth"), 1),
    ];
    // The last task of B gave no fork pairs.
    let benchmarks = [report("B", &[0.7, 0.7]), report("A", &[0.0, 0.0, 0.2, 0.3])];
    let report = FleetReport::of(&calls, &SPEC, terms(), &two(), &benchmarks);
    // A's mean is 0.125: −0.125 twice on the first, and 0 twice by B; 0.075 and 0.175 on the second.
    let expected = [("first", 2, Some(-0.0625f64)), ("second", 1, Some(0.125)), ("third", 1, None)];
    assert_eq!(report.processors.len(), expected.len(), "{:?}", report.processors);
    for (ProcessorShare { model, calls, offset }, (name, number, log)) in report.processors.iter().zip(expected) {
        assert_eq!((model.as_str(), *calls, offset.is_some()), (name, number, log.is_some()));
        near(offset.unwrap_or(0.0), log.map_or(0.0, f64::exp_m1));
    }
}

#[test]
fn every_end_of_a_call_has_a_word_of_its_own() {
    for end in [CallEnd::Sent, CallEnd::Counted, CallEnd::Duplicate, CallEnd::Throttled, CallEnd::Failed] {
        assert_eq!(CallEnd::from_word(end.word()), Some(end));
    }
    assert_eq!(CallEnd::from_word("lost"), None);
}
