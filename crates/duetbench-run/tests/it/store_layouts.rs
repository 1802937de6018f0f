//! Layouts of a run's build pairs in the store.

use duetbench_core::Spec;
use duetbench_core::report::LayoutsUsed;
use duetbench_core::spec::LayoutChoice;
use duetbench_run::store::{RunHead, Store};

use crate::store::head;

fn used(matched: &[&str], random: &[(&str, &str)]) -> LayoutsUsed {
    LayoutsUsed {
        matched: matched.iter().map(|package| (*package).to_owned()).collect(),
        random: random.iter().map(|(package, reason)| ((*package).to_owned(), (*reason).to_owned())).collect(),
    }
}

#[test]
fn layouts_that_turn_out_otherwise_are_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("duet.db")).unwrap();
    let spec = Spec { layouts: LayoutChoice::Matched, ..head().spec };
    let planned = RunHead { spec, layouts: Some(used(&["p", "q"], &[])), ..head() };
    let run = store.begin(&planned).unwrap();
    assert_eq!(store.load("r1").unwrap().comparison().unwrap().head, planned);
    let other = store.begin(&planned).unwrap();
    let happened = RunHead { layouts: Some(used(&["q"], &[("p", "`f` lies elsewhere")])), ..planned.clone() };
    store.amend(run, &happened).unwrap();
    assert_eq!(store.load("r1").unwrap().comparison().unwrap().head, happened);
    assert_eq!(store.load(&other.to_string()).unwrap().comparison().unwrap().head, planned, "another run");
}

#[test]
fn layouts_of_packages_that_are_not_linked_again_are_no_part_of_a_run() {
    let plan = head().plan;
    let package = plan.benchmarks[0].id.package.clone();
    assert!(plan.benchmarks[0].configuration.design.by_build);
    let all = used(&[&package, "other"], &[("third", "why")]);
    assert_eq!(all.concerning(&plan), Some(used(&[&package], &[])));
    assert_eq!(used(&["other"], &[]).concerning(&plan), None);
}

#[test]
fn a_package_that_was_not_matched_in_an_earlier_sitting_is_not_matched() {
    let earlier = used(&["q", "r"], &[("p", "`f` lies elsewhere")]);
    let now = used(&["p", "q"], &[("r", "`g` lies elsewhere")]);
    let both = used(&["q"], &[("p", "`f` lies elsewhere"), ("r", "`g` lies elsewhere")]);
    assert_eq!(now.after(&earlier), both);
}
