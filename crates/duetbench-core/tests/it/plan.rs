//! What is measured, how, and how long.

use std::time::Duration;

use duetbench_core::plan::{Capacity, Discovered, Excluded, Found, Mode, Plan, Style};
use duetbench_core::spec::{Effort, ModeChoice, defaults};
use duetbench_core::{BenchmarkId, Role};

use crate::support::{CAPACITY, found, spec};

const FOUR_ASKED: Capacity = Capacity { asked: Some(4), ..CAPACITY };
const ONE_CORE: Capacity = Capacity { cpus: 1, cores_physical: 1, asked: None };

fn plan_of(baseline: &[Discovered], candidate: &[Discovered], effort: Effort) -> Plan {
    Plan::new(&spec(effort, ModeChoice::Auto), &Found { baseline, candidate }, CAPACITY)
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
    let plan = plan_of(&baseline, &candidate, Effort::Forks(5));
    assert_eq!(plan.benchmarks.iter().map(|b| b.id.name.as_str()).collect::<Vec<_>>(), ["A", "C"]);
    let expected = [Excluded::OnlyIn(id("Gone"), Role::Baseline), Excluded::OnlyIn(id("New"), Role::Candidate)];
    assert_eq!(plan.excluded, expected);
}

#[test]
fn a_failure_on_either_side_excludes_and_says_whose() {
    let baseline = [failing("A"), found("B"), failing("Both")];
    let candidate = [found("A"), failing("B"), failing("Both"), failing("New")];
    let plan = plan_of(&baseline, &candidate, Effort::Forks(5));
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
    let found = Found { baseline: &both, candidate: &both };
    Plan::new(&spec(Effort::Forks(5), choice), &found, capacity).benchmarks[0].mode
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
    let plan = plan_of(&baseline, &candidate, Effort::Forks(5));
    assert_eq!((plan.benchmarks[0].style, plan.benchmarks[0].mode), (Style::Parallel, Mode::InterleavedOneCore));
}

#[test]
fn forks_that_were_asked_for_are_made() {
    let both = [found("A"), found("B")];
    let plan = plan_of(&both, &both, Effort::Forks(7));
    assert!(plan.benchmarks.iter().all(|b| b.configuration.forks == 7 && b.configuration.forks_min == 7));
    assert!(plan.benchmarks.iter().all(|b| b.share_ns.is_none()));
    assert_eq!(plan.predicted(), Duration::from_nanos(2 * 7 * plan.benchmarks[0].trial_predicted_ns));
}

#[test]
fn a_budget_is_split_evenly_over_what_is_measured() {
    let (both, gone) = ([found("A"), found("B")], [found("A"), found("B"), found("Gone")]);
    let plan = plan_of(&gone, &both, Effort::Budget(Duration::from_secs(10)));
    assert!(plan.benchmarks.iter().all(|b| b.share_ns == Some(5_000_000_000)));
    assert_eq!(plan.predicted(), Duration::from_secs(10));
}

#[test]
fn a_budget_never_goes_below_the_forks_an_interval_needs() {
    let both = [found("A")];
    let plan = plan_of(&both, &both, Effort::Budget(Duration::from_nanos(1)));
    let planned = &plan.benchmarks[0];
    assert_eq!(
        (planned.configuration.forks, planned.configuration.forks_min),
        (defaults::FORKS_MIN, defaults::FORKS_MIN)
    );
    assert_eq!(plan.predicted(), Duration::from_nanos(u64::from(defaults::FORKS_MIN) * planned.trial_predicted_ns));
}

#[test]
fn a_huge_budget_ends_at_the_most_forks() {
    let both = [found("A")];
    let plan = plan_of(&both, &both, Effort::Budget(Duration::from_secs(100_000)));
    assert_eq!(plan.benchmarks[0].configuration.forks, defaults::FORKS_MAX);
}

#[test]
fn a_slow_benchmark_is_predicted_by_its_slower_side() {
    let (baseline, candidate) = ([found("A")], [Discovered { first_ns: 1_000_000_000, ..found("A") }]);
    let plan = plan_of(&baseline, &candidate, Effort::Forks(1));
    // Two invocations of each of two sides, one after the other.
    assert!(plan.benchmarks[0].trial_predicted_ns >= 4_000_000_000);
}

#[test]
fn nothing_found_is_an_empty_plan() {
    let plan = plan_of(&[], &[], Effort::Budget(Duration::from_secs(1)));
    assert_eq!((plan.benchmarks.len(), plan.predicted()), (0, Duration::ZERO));
}
