//! Benchmarks that can be wanted before anybody knows what is below them.

use duetbench_core::BenchmarkId;
use duetbench_core::plan::{Discovered, Style};
use duetbench_core::spec::Selection;

/// Fails unless exactly these top-level benchmarks, of all that are asked for, may be wanted, or something below them.
#[track_caller]
fn check(bench: Option<&str>, exclude: Option<&str>, wanted: &[&str], unwanted: &[&str]) {
    let own = |pattern: Option<&str>| pattern.map(str::to_owned);
    let selection = Selection { bench: own(bench), exclude: own(exclude), packages: Vec::new() };
    let filter = selection.filter().unwrap();
    let may: Vec<&str> = wanted.iter().chain(unwanted).filter(|name| filter.may_keep_below(name)).copied().collect();
    assert_eq!(may, wanted, "{selection:?}");
}

#[test]
fn a_pattern_with_a_beginning_says_what_cannot_be_wanted() {
    check(Some("^BenchmarkSum$"), None, &["BenchmarkSum"], &["BenchmarkSumB", "BenchmarkCat"]);
    check(Some("^BenchmarkSum"), None, &["BenchmarkSum", "BenchmarkSumB"], &["BenchmarkCat"]);
    check(Some("^BenchmarkSum/size=10$"), None, &["BenchmarkSum"], &["BenchmarkSumB", "BenchmarkCat"]);
    check(Some("^BenchmarkSum$|^BenchmarkCat/x"), None, &["BenchmarkSum", "BenchmarkCat"], &["BenchmarkDog"]);
    check(Some("^Benchmark[SC]"), None, &["BenchmarkSum", "BenchmarkCat"], &["BenchmarkDog"]);
}

#[test]
fn a_pattern_sees_every_name_that_a_benchmark_has() {
    let kept = |bench: Option<&str>, exclude: Option<&str>, qualified: bool| {
        let own = |pattern: Option<&str>| pattern.map(str::to_owned);
        let selection = Selection { bench: own(bench), exclude: own(exclude), packages: Vec::new() };
        let id = BenchmarkId { package: "org.sample".into(), name: "Bench.sort".into() };
        let found = Discovered { qualified, ..Discovered::of(id, Style::Iteration, Ok(1)) };
        found.is_kept_by(&selection.filter().unwrap())
    };
    for pattern in ["^Bench.sort$", r"^org\.sample\.Bench\.sort$"] {
        assert!(kept(Some(pattern), None, true) && !kept(None, Some(pattern), true), "{pattern}");
    }
    let full = Some(r"sample\.Bench");
    assert!(!kept(full, None, false) && kept(None, full, false), "a package is no part of other names");
}

#[test]
fn a_pattern_without_one_may_match_anything_below() {
    check(Some("size=10"), None, &["BenchmarkSum", "BenchmarkCat"], &[]);
    check(Some(r"\bSum\b"), None, &["BenchmarkSum", "BenchmarkCat"], &[]);
    check(None, None, &["BenchmarkSum"], &[]);
}

#[test]
fn what_is_excluded_with_all_below_it_cannot_be_wanted() {
    check(None, Some("Sum"), &["BenchmarkCat"], &["BenchmarkSum", "BenchmarkSumB"]);
    check(None, Some("^BenchmarkSum$"), &["BenchmarkSum", "BenchmarkCat"], &[]);
    check(None, Some("Sum/size=10"), &["BenchmarkSum"], &[]);
    check(Some("^BenchmarkS"), Some("^BenchmarkSumB"), &["BenchmarkSum"], &["BenchmarkSumB", "BenchmarkCat"]);
}
