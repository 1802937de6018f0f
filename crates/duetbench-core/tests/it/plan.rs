//! Plans: the benchmarks that are measured, in which mode, and for how long.

use std::collections::BTreeSet;
use std::time::Duration;

use duetbench_core::plan::{Capacity, Design, Discovered, Excluded, Found, Mode, Plan, Style};
use duetbench_core::spec::{Effort, LayoutChoice, ModeChoice, defaults};
use duetbench_core::{BenchmarkId, Role};

use crate::support::{CAPACITY, budget, fixed_design, forks, found, spec};

const FOUR_ASKED: Capacity = Capacity { asked: Some(4), ..CAPACITY };
const ONE_CORE: Capacity = Capacity { cpus: 1, cores_physical: 1, asked: None, relinks: None };

fn plan_of(baseline: &[Discovered], candidate: &[Discovered], effort: Effort) -> Plan {
    Plan::new(&spec(effort, ModeChoice::Auto), &Found::of(baseline, candidate), CAPACITY)
}

fn id(name: &str) -> BenchmarkId {
    found(name).id
}

fn failing(name: &str) -> Discovered {
    Discovered { failure: Some("panic".into()), ..found(name) }
}

#[test]
fn only_what_both_versions_have_is_measured() {
    let baseline = [found("C"), found("A"), found("Gone")];
    let candidate = [found("New"), found("A"), found("C")];
    let plan = plan_of(&baseline, &candidate, forks(5));
    assert_eq!(plan.benchmarks.iter().map(|b| b.id.name.as_str()).collect::<Vec<_>>(), ["A", "C"]);
    let expected = [Excluded::OnlyIn(id("Gone"), Role::Baseline), Excluded::OnlyIn(id("New"), Role::Candidate)];
    assert_eq!(plan.excluded, expected);
}

#[test]
fn a_failure_on_either_side_excludes_and_says_whose() {
    let baseline = [failing("A"), found("B"), failing("Both")];
    let candidate = [found("A"), failing("B"), failing("Both"), failing("New")];
    let plan = plan_of(&baseline, &candidate, forks(5));
    assert!(plan.benchmarks.is_empty());
    let failed = |name: &str, role| Excluded::Failed(id(name), role, "panic".into());
    let expected = [
        failed("A", Role::Baseline),
        failed("B", Role::Candidate),
        failed("Both", Role::Baseline),
        failed("New", Role::Candidate),
    ];
    assert_eq!(plan.excluded, expected);
}

fn mode_of(choice: ModeChoice, style: Style, capacity: Capacity) -> Mode {
    let both = [Discovered { style, ..found("A") }];
    let found = Found::of(&both, &both);
    Plan::new(&spec(forks(5), choice), &found, capacity).benchmarks[0].mode
}

#[test]
fn the_mode_follows_the_request_the_style_and_the_machine() {
    use Mode::{Duet, InterleavedAllCores, InterleavedOneCore, Sequential};
    for (choice, style, capacity, mode) in [
        (ModeChoice::Auto, Style::Loop, CAPACITY, InterleavedOneCore),
        (ModeChoice::Auto, Style::Parallel, CAPACITY, InterleavedOneCore),
        (ModeChoice::Auto, Style::Parallel, FOUR_ASKED, InterleavedAllCores),
        (ModeChoice::Auto, Style::Loop, FOUR_ASKED, InterleavedAllCores),
        (ModeChoice::Auto, Style::Parallel, ONE_CORE, InterleavedOneCore),
        (ModeChoice::Interleaved, Style::Recall, CAPACITY, InterleavedOneCore),
        (ModeChoice::Interleaved, Style::Parallel, CAPACITY, InterleavedOneCore),
        (ModeChoice::Interleaved, Style::Parallel, FOUR_ASKED, InterleavedAllCores),
        (ModeChoice::Duet, Style::Loop, CAPACITY, Duet),
        (ModeChoice::Duet, Style::Loop, ONE_CORE, InterleavedOneCore),
        (ModeChoice::Duet, Style::Parallel, CAPACITY, Duet),
        (ModeChoice::Duet, Style::Loop, FOUR_ASKED, InterleavedAllCores),
        (ModeChoice::Sequential, Style::Parallel, CAPACITY, Sequential),
    ] {
        assert_eq!(mode_of(choice, style, capacity), mode, "{choice:?} {style:?} {capacity:?}");
    }
}

#[test]
fn the_side_that_is_harder_to_slice_decides_the_style() {
    let (baseline, candidate) = ([found("A")], [Discovered { style: Style::Parallel, ..found("A") }]);
    let plan = plan_of(&baseline, &candidate, forks(5));
    assert_eq!((plan.benchmarks[0].style, plan.benchmarks[0].mode), (Style::Parallel, Mode::InterleavedOneCore));
}

#[test]
fn forks_that_were_asked_for_are_made() {
    let both = [found("A"), found("B")];
    let plan = plan_of(&both, &both, forks(7));
    assert!(plan.benchmarks.iter().all(|b| b.configuration.design == fixed_design(7)));
    assert_eq!(plan.predicted(), Duration::from_nanos(2 * 7 * plan.benchmarks[0].trial_predicted_ns));
}

#[test]
fn a_budget_bounds_what_is_predicted() {
    let (both, gone) = ([found("A"), found("B")], [found("A"), found("B"), found("Gone")]);
    let plan = plan_of(&gone, &both, budget(Duration::from_secs(2)));
    assert_eq!((plan.budget_ns, plan.predicted()), (Some(2_000_000_000), Duration::from_secs(2)));
    // A benchmark may use twice its even share, which others leave by ending early.
    let planned = &plan.benchmarks[0];
    let units = u64::from(planned.configuration.design.units);
    assert_eq!(units, 2_000_000_000 / planned.trial_predicted_ns);
}

#[test]
fn a_budget_plans_for_no_fewer_units_than_settle_noisy_ones_nor_more_than_are_useful() {
    let both = [found("A")];
    let units = |time| plan_of(&both, &both, budget(time)).benchmarks[0].configuration.design.units;
    assert_eq!(units(Duration::from_nanos(1)), defaults::ENOUGH_UNITS);
    assert_eq!(units(Duration::from_secs(100_000)), defaults::UNITS_MAX);
}

#[test]
fn a_budget_rather_has_fewer_forks_of_each_build_pair_than_few_build_pairs() {
    let names: Vec<String> = (0..4).map(|i| format!("B{i}")).collect();
    let both: Vec<Discovered> = names.iter().map(|name| found(name)).collect();
    let found = Found::of(&both, &both);
    let capacity = Capacity { cpus: 1, cores_physical: 1, relinks: Some(LayoutChoice::Matched), ..CAPACITY };
    let design = |seconds| {
        let spec = spec(Effort { builds: None, ..budget(Duration::from_secs(seconds)) }, ModeChoice::Auto);
        let design = Plan::new(&spec, &found, capacity).benchmarks[0].configuration.design;
        (design.units, design.forks_per_unit)
    };
    // Without a budget each build pair has six, and never fewer than one for each place of memory.
    assert_eq!(design(1), (8, 2));
    assert!(design(10).0 >= defaults::BUILDS_MIN && design(10).1 < 6, "{:?}", design(10));
    assert!(design(120).0 >= defaults::BUILDS_MIN && design(120).1 == 6, "{:?}", design(120));
    // All of a long budget is made use of.
    assert_eq!(design(6000), (defaults::UNITS_MAX, 6));
}

#[test]
fn a_budget_is_spent_on_build_pairs_of_a_typed_number_by_whole_exchanges_of_places() {
    let both = [found("A")];
    let design = |builds, seconds| {
        let found = Found::of(&both, &both);
        let capacity = Capacity { relinks: Some(LayoutChoice::Matched), ..CAPACITY };
        let spec = spec(Effort { builds: Some(builds), ..budget(Duration::from_secs(seconds)) }, ModeChoice::Auto);
        let design = Plan::new(&spec, &found, capacity).benchmarks[0].configuration.design;
        (design.units, design.forks_per_unit, design.places)
    };
    assert_eq!(design(8, 6000), (8, defaults::UNITS_MAX, 2));
    assert_eq!(design(17, 9), (17, 12, 2));
    assert_eq!(design(64, 9).0, 64);
}

const RELINKS: Capacity = Capacity { relinks: Some(LayoutChoice::Random), ..CAPACITY };

fn design(effort: Effort, names: &[&str]) -> Design {
    let both: Vec<Discovered> = names.iter().map(|name| found(name)).collect();
    let found = Found::of(&both, &both);
    Plan::new(&spec(effort, ModeChoice::Auto), &found, RELINKS).benchmarks[0].configuration.design
}

#[test]
fn by_default_every_unit_has_a_build_pair_and_the_first_two_forks() {
    let default = Effort { forks: None, budget: None, builds: None, fixed: false, confirm: false };
    let usual = Design { units: 32, forks_per_unit: 1, doubled: 4, places: 1, by_build: true, sequential: true };
    assert_eq!(design(default, &["A", "B", "C"]), usual);
    assert_eq!(design(Effort { builds: Some(1), ..default }, &["A"]), Design { sequential: true, ..fixed_design(20) });
    assert_eq!(
        design(Effort { builds: Some(8), forks: Some(24), ..default }, &["A"]),
        Design { units: 8, forks_per_unit: 3, doubled: 0, ..usual }
    );
    assert_eq!(design(Effort { builds: Some(20), forks: Some(6), ..default }, &["A"]).units, 6);
    // So few forks say more with a build pair each.
    assert_eq!(design(Effort { forks: Some(10), ..default }, &["A"]), Design { units: 10, doubled: 0, ..usual });
    assert_eq!(design(Effort { forks: Some(1), ..default }, &["A"]).forks(), 1);
}

#[test]
fn build_pairs_that_are_laid_out_alike_have_more_forks_each_by_twos() {
    let default = Effort { forks: None, budget: None, builds: None, fixed: false, confirm: false };
    let matched = |names: &[&str], effort| {
        let both: Vec<Discovered> = names.iter().map(|name| found(name)).collect();
        let found = Found::of(&both, &both);
        let capacity = Capacity { relinks: Some(LayoutChoice::Matched), ..CAPACITY };
        Plan::new(&spec(effort, ModeChoice::Auto), &found, capacity).benchmarks[0].configuration.design
    };
    // Linking costs a lone benchmark 0.15 s on four processors, and a trial 0.08 s: sqrt(12 * 0.15 / 0.08) is 5, while the 0.6 s
    // of the next link have room for 7; and over two fork pairs each half runs in both places.
    let lone = matched(&["A"], default);
    assert_eq!((lone.units, lone.forks_per_unit, lone.doubled), (12, 8, 0));
    // For each of three it is 0.2 s, less than what sqrt(12 * 0.05 / 0.08) = 3 trials take.
    assert_eq!(matched(&["A", "B", "C"], default).forks_per_unit, 4);
    let names: Vec<String> = (0..24).map(|i| format!("B{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = matched(&names, default);
    assert_eq!(
        (many.units, many.forks_per_unit, many.doubled),
        (16, 2, 0),
        "linking costs each of them hardly anything"
    );
    let odd = matched(&["A"], Effort { builds: Some(5), forks: Some(15), ..default });
    assert_eq!((many.places, odd.places), (2, 1));
    let few = matched(&["A"], Effort { forks: Some(10), ..default });
    assert_eq!((few.units, few.forks_per_unit, few.places), (5, 2, 2));
    // More fork pairs are never fewer build pairs than an interval is narrow with.
    let asked = [28, 29, 36, 64, 96, 98, 500].map(|forks| {
        let design = matched(&["A"], Effort { forks: Some(forks), ..default });
        assert!(design.places == 2 && design.forks() <= forks, "{design:?}");
        (design.units, design.forks_per_unit)
    });
    assert_eq!(asked, [(14, 2), (14, 2), (18, 2), (16, 4), (12, 8), (12, 8), (62, 8)]);
    let fewest = matched(&["A"], Effort { forks: Some(7), ..default });
    assert_eq!(
        (fewest.units, fewest.forks_per_unit, fewest.places),
        (7, 1, 1),
        "no interval is narrow with three units"
    );
    assert_eq!(matched(&["A"], Effort { forks: Some(1), ..default }).forks(), 1);
    assert_eq!(matched(&["A"], Effort { builds: Some(5), forks: Some(20), ..default }).forks_per_unit, 4);
}

#[test]
fn units_hold_the_forks_that_the_design_gives_them() {
    let design = Design { units: 5, forks_per_unit: 2, doubled: 2, places: 1, by_build: true, sequential: true };
    let units: Vec<u32> = (0..design.forks()).map(|run| design.unit(run)).collect();
    assert_eq!(units, [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4]);
    assert_eq!((design.forks_of(1), design.forks_of(2), design.forks_of(3)), (3, 6, 8));
}

#[test]
fn proven_code_is_not_measured_unless_asked_for() {
    let both = [found("A")];
    let identical = BTreeSet::from(["p".to_owned()]);
    let found = Found { identical: &identical, ..Found::of(&both, &both) };
    let mut spec = spec(forks(5), ModeChoice::Auto);
    let plan = Plan::new(&spec, &found, CAPACITY);
    assert!(plan.benchmarks.is_empty());
    assert!(matches!(&plan.excluded[..], [Excluded::Identical { saved_ns, .. }] if *saved_ns > 0));
    spec.measure_identical = true;
    assert_eq!(Plan::new(&spec, &found, CAPACITY).benchmarks.len(), 1);
}

#[test]
fn what_is_not_affected_is_not_measured_unless_asked_for_and_its_cases_go_with_it() {
    let both = [found("A/x"), found("B")];
    let not_affected = BTreeSet::from([id("A")]);
    let found = Found { not_affected: &not_affected, ..Found::of(&both, &both) };
    let mut spec = spec(forks(5), ModeChoice::Auto);
    let plan = Plan::new(&spec, &found, CAPACITY);
    let measured: Vec<&str> = plan.benchmarks.iter().map(|b| b.id.name.as_str()).collect();
    assert_eq!(measured, ["B"]);
    assert!(matches!(&plan.excluded[..], [Excluded::NotAffected { saved_ns, .. }] if *saved_ns > 0));
    spec.measure_identical = true;
    assert_eq!(Plan::new(&spec, &found, CAPACITY).benchmarks.len(), 2);
}

#[test]
fn a_slow_benchmark_is_predicted_by_its_slower_side() {
    let (baseline, candidate) = ([found("A")], [Discovered { first_ns: 1_000_000_000, ..found("A") }]);
    let plan = plan_of(&baseline, &candidate, forks(1));
    // Two invocations of each of two sides, one after the other.
    assert!(plan.benchmarks[0].trial_predicted_ns >= 4_000_000_000);
}

#[test]
fn nothing_found_is_an_empty_plan() {
    let plan = plan_of(&[], &[], budget(Duration::from_secs(1)));
    assert_eq!((plan.benchmarks.len(), plan.predicted()), (0, Duration::ZERO));
}

#[test]
fn a_package_that_cannot_be_matched_gets_the_builds_of_random_layouts() {
    let other = Discovered { id: BenchmarkId { package: "other".into(), ..id("A") }, ..found("A") };
    let both = [found("A"), other];
    let designs = |random: &[&str], layouts| {
        let random = random.iter().map(|package| (*package).to_owned()).collect();
        let found = Found { random: &random, ..Found::of(&both, &both) };
        let capacity = Capacity { relinks: Some(layouts), ..CAPACITY };
        let plan = Plan::new(
            &spec(Effort { forks: None, budget: None, builds: None, fixed: false, confirm: false }, ModeChoice::Auto),
            &found,
            capacity,
        );
        plan.benchmarks.iter().map(|one| one.configuration.design).collect::<Vec<Design>>()
    };
    let [matched, random] = [LayoutChoice::Matched, LayoutChoice::Random].map(|layouts| designs(&[], layouts)[0]);
    assert!(matched.units < random.units, "{matched:?} {random:?}");
    let of_both = designs(&["other"], LayoutChoice::Matched);
    assert!(of_both.contains(&matched) && of_both.contains(&random), "{of_both:?}");
}
