//! Plans that follow a plan file, and plans of one version.

use std::collections::BTreeMap;
use std::time::Duration;

use duetbench_core::plan::{
    Capacity, Design, Discovered, ExecutionConfiguration, Found, Learnt, Mode, Plan, PlannedBenchmark, Repetitions,
    SoloPlan, Start, Style, Unmatched,
};
use duetbench_core::spec::{CommandSpec, Effort, HarnessSpec, LayoutChoice, ModeChoice, Selection, SoloSpec, defaults};

use crate::support::{CAPACITY, PLAIN, forks, found, plan, spec};

const SECOND: u64 = 1_000_000_000;

fn repetitions(suite_runs: u32, forks: u32, iterations: u32) -> Repetitions {
    Repetitions { suite_runs, forks, iterations, warmup: 0, iteration_ns: SECOND / 10 }
}

#[test]
fn a_start_has_a_fork_pair_for_every_process_and_its_time() {
    let check = |r: Repetitions, want: (u32, u64)| {
        let start = Start::of(&r);
        assert_eq!((start.fork_pairs, start.sliced_ns()), want, "{r:?}");
    };
    check(repetitions(3, 2, 2), (6, SECOND / 5));
    // Never fewer than four, however stable it was; never more than are ever planned.
    check(repetitions(1, 1, 1), (4, SECOND / 10));
    check(repetitions(100, 100, 1), (defaults::UNITS_MAX, SECOND / 10));
    // As long as a trial is anyhow, and as long as a page has room for.
    check(Repetitions { iteration_ns: 1000, ..repetitions(5, 1, 3) }, (5, defaults::TRIAL_NS));
    check(repetitions(5, 1, 2000), (5, defaults::TRIAL_PLANNED_MAX_NS));
}

fn followed(effort: Effort, capacity: Capacity) -> Plan {
    let spec = spec(effort, ModeChoice::Interleaved);
    let both = ["A", "B", "C"].map(found);
    let all = Found::of(&both, &both);
    let mut plan = Plan::new(&spec, &all, capacity);
    let start = |fork_pairs| Start { fork_pairs, measured_ns: SECOND / 5, iteration_ns: SECOND / 10, warmup: 3 };
    plan.follow(&BTreeMap::from([("p.A".into(), start(6)), ("p.B".into(), start(40))]), &spec, capacity);
    plan
}

#[test]
fn planned_benchmarks_get_their_own_numbers_and_the_others_keep_theirs() {
    let open = Effort { forks: None, builds: None, fixed: false, ..forks(1) };
    let relinks = Capacity { relinks: Some(LayoutChoice::Random), ..CAPACITY };
    let plan = followed(open, relinks);
    let [a, b, c] = [0, 1, 2].map(|i| plan.benchmarks[i].configuration);
    assert!(plan.spread);
    assert_eq!((a.design.forks(), a.design.units, a.design.by_build, a.trial_ns), (6, 6, true, SECOND / 5));
    assert_eq!((b.design.forks(), b.design.by_build, b.trial_ns), (40, true, SECOND / 5));
    assert_eq!((c.design.units, c.trial_ns), (defaults::BUILDS, defaults::TRIAL_NS));
    assert!(a.design.sequential && b.design.sequential, "they may end sooner");
    assert!(plan.benchmarks[0].trial_predicted_ns > 2 * SECOND / 5);
    // One build: the forks are the units.
    let alone = followed(Effort { builds: Some(1), ..open }, relinks);
    let a = alone.benchmarks[0].configuration.design;
    assert_eq!((a.units, a.forks_per_unit, a.by_build), (6, 1, false));
    assert!(!followed(open, CAPACITY).benchmarks[0].configuration.design.by_build);
}

#[test]
fn whoever_takes_part_in_the_same_suite_run_shares_its_programs() {
    let open = Effort { forks: None, builds: None, fixed: false, ..forks(1) };
    let matched = Capacity { relinks: Some(LayoutChoice::Matched), ..CAPACITY };
    for planned in &followed(open, matched).benchmarks {
        let design = planned.configuration.design;
        let Design { forks_per_unit, doubled, places, by_build, .. } = design;
        assert_eq!((forks_per_unit, doubled, places, by_build), (1, 0, 1, true), "{}", planned.id);
    }
}

#[test]
fn iterations_are_as_long_and_as_many_as_planned_and_warm_up_as_planned() {
    let check = |warmup: Option<u32>, want: u32| {
        let mut spec = spec(forks(1), ModeChoice::Interleaved);
        spec.harness.warmup = warmup;
        let both = [Discovered { style: Style::Iteration, ..found("A") }];
        let all = Found::of(&both, &both);
        let mut plan = Plan::new(&spec, &all, CAPACITY);
        // Far longer than what slices have room for.
        let repetitions = Repetitions { warmup: 4, iteration_ns: 2 * SECOND, ..repetitions(1, 5, 3) };
        plan.follow(&BTreeMap::from([("p.A".into(), Start::of(&repetitions))]), &spec, CAPACITY);
        let planned = &plan.benchmarks[0];
        let c = planned.configuration;
        assert_eq!((c.slice_ns, c.slices(), c.warmup_slices, c.design.forks()), (2 * SECOND, 3, want, 5));
        let measured = 2 * u64::from(3 + want) * 2 * SECOND;
        assert!(planned.trial_predicted_ns >= measured && planned.trial_predicted_ns < measured + 5 * SECOND);
    };
    check(None, 4);
    check(Some(0), 0);
}

#[test]
fn whole_programs_warm_up_as_their_tables_say_and_not_as_those_of_loops() {
    let mut spec = spec(forks(5), ModeChoice::Interleaved);
    let program = |lockstep, warmup| CommandSpec { lockstep, warmup, ..CommandSpec::default() };
    spec.harness.commands = vec![program(true, 50), program(false, 2), program(false, 1)];
    let both = [Discovered { style: Style::Process, first_ns: SECOND, ..found("A") }];
    let all = Found::of(&both, &both);
    assert_eq!(Plan::new(&spec, &all, CAPACITY).benchmarks[0].configuration.warmup_slices, 2);
}

#[test]
fn iterations_are_measured_half_as_long_as_it_takes_to_get_there_as_far_as_nothing_disturbs_them() {
    let slices = |warmup: u32, runtime_threads: bool| {
        let mut spec = spec(forks(5), ModeChoice::Interleaved);
        spec.harness.warmup = Some(warmup);
        let both = [Discovered { style: Style::Iteration, runtime_threads, ..found("A") }];
        let all = Found::of(&both, &both);
        Plan::new(&spec, &all, CAPACITY).benchmarks[0].configuration.slices()
    };
    // A JVM starts in a second, and iterations take a hundredth.
    assert_eq!([0, 10, 70, 100, 120, 150, 400].map(|warmup| slices(warmup, true)), [50, 55, 85, 60, 40, 30, 30]);
    assert_eq!([0, 10, 100].map(|warmup| slices(warmup, false)), [30, 30, 51]);
}

#[test]
fn a_trial_of_another_length_takes_as_long_as_its_sides_do() {
    let takes = |mode| {
        let found = plan(&["A"], mode);
        let jvm = PlannedBenchmark { style: Style::Iteration, runtime_threads: true, ..found.benchmarks[0].clone() };
        let planned = jvm.with_trials(SECOND, 0);
        assert_eq!((planned.configuration.trial_ns, planned.configuration.warmup_slices), (SECOND, 0));
        planned.trial_predicted_ns
    };
    assert_eq!([Mode::Duet, Mode::InterleavedOneCore].map(takes), [2 * SECOND, 4 * SECOND]);
}

#[test]
fn iterations_of_a_harness_that_gets_compiled_stay_among_its_first_ones() {
    let found = plan(&["A"], Mode::InterleavedOneCore);
    let jvm = PlannedBenchmark { style: Style::Iteration, runtime_threads: true, ..found.benchmarks[0].clone() };
    let mut planned = jvm.with_trials(SECOND, 60);
    planned.configuration.slice_ns = 10_000_000;
    assert_eq!(planned.longest_trial_ns(), SECOND, "100 iterations after 60");
    planned.configuration.warmup_slices = 100;
    assert_eq!(planned.longest_trial_ns(), SECOND, "what is planned is measured");
    planned.configuration.warmup_slices = 10;
    assert_eq!(planned.longest_trial_ns(), 15 * SECOND / 10);
    assert_eq!(PlannedBenchmark { runtime_threads: false, ..planned }.longest_trial_ns(), u64::MAX);
}

#[test]
fn trials_that_follow_a_plan_have_room_for_slices_that_caches_made_longer() {
    let spec = spec(forks(4), ModeChoice::Interleaved);
    let mut plan = plan(&["A"], Mode::InterleavedOneCore);
    let warm = PLAIN.with_cold_share(Some(10.0)).with_warm_part(8_000_000, 0.0);
    plan.learn(Learnt { profiles: vec![Some(warm)], check: None }, &spec, CAPACITY);
    let start = Start { fork_pairs: 4, measured_ns: defaults::TRIAL_NS, iteration_ns: SECOND / 10, warmup: 0 };
    plan.follow(&BTreeMap::from([("p.A".into(), start)]), &spec, CAPACITY);
    let ExecutionConfiguration { slice_ns, trial_ns, warm_ns, .. } = plan.benchmarks[0].configuration;
    assert_eq!((slice_ns, warm_ns, trial_ns), (10_000_000, 8_000_000, defaults::SLICES_MIN * 18_000_000));
}

#[test]
fn a_plan_that_follows_nothing_is_stored_as_ever() {
    let json = serde_json::to_string(&plan(&["A"], duetbench_core::plan::Mode::Duet)).unwrap();
    assert!(!json.contains("spread"), "{json}");
    let read: Plan = serde_json::from_str(&json).unwrap();
    assert!(!read.spread);
}

#[test]
fn what_does_not_fit_is_named() {
    let planned = BTreeMap::from([("p.A".to_owned(), ()), ("p.Gone".to_owned(), ())]);
    let there = ["A", "New"].map(|name| found(name).id);
    let unmatched = Unmatched::of(&planned, there.iter());
    assert_eq!(unmatched, Unmatched { not_planned: vec!["p.New".into()], not_found: vec!["p.Gone".into()] });
}

fn solo_spec(repetitions: Repetitions) -> SoloSpec {
    let selection = Selection { bench: None, exclude: None, packages: vec!["./...".into()] };
    SoloSpec { selection, repetitions, seed: 7, harness_args: Vec::new(), harness: HarnessSpec::default() }
}

#[test]
fn a_plan_of_one_version_is_in_name_order_and_says_how_long_it_takes() {
    let failed = Discovered { failure: Some("no luck".into()), ..found("Broken") };
    let slow = Discovered { first_ns: 3 * SECOND, ..found("Slow") };
    let all = [slow, found("B"), failed, found("A")];
    let own = repetitions(1, 2, 3);
    let plan = SoloPlan::new(&solo_spec(Repetitions::default()), &all, &BTreeMap::from([("p.B".into(), own)]));
    let names: Vec<&str> = plan.benchmarks.iter().map(|b| b.id.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "Slow"]);
    assert_eq!(plan.failed, [(found("Broken").id, "no luck".into())]);
    assert_eq!(plan.benchmarks[1].repetitions, own);
    assert_eq!(plan.benchmarks[0].repetitions, Repetitions::default());
    // Five iterations and one to calibrate, each as long as it must be.
    let overhead = plan.benchmarks[0].trial_predicted_ns() - 6 * SECOND;
    assert_eq!(plan.benchmarks[2].trial_predicted_ns(), 18 * SECOND + overhead);
    assert_eq!(plan.benchmarks[1].predicted_ns(), 2 * (4 * SECOND / 10 + overhead));
    assert!(plan.predicted() > Duration::from_secs(3 * (6 + 18)));
}

#[test]
fn repetitions_that_cannot_be_are_refused_by_name() {
    let check = |r: Repetitions, name: &str| {
        let said = r.check().unwrap_err().to_string();
        assert!(said.contains(name), "{said}");
    };
    let usual = Repetitions::default();
    assert!(usual.check().is_ok());
    check(Repetitions { suite_runs: 0, ..usual }, "`suite-runs` is 0");
    check(Repetitions { forks: 0, ..usual }, "`forks` is 0");
    check(Repetitions { iterations: 0, ..usual }, "`iterations` is 0");
    check(Repetitions { iteration_ns: 0, ..usual }, "`seconds` is 0");
    check(Repetitions { iterations: 2000, warmup: 49, ..usual }, "together");
    assert!(Repetitions { iterations: 2000, warmup: 48, ..usual }.check().is_ok());
}
