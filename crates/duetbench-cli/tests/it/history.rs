//! The lines of commits that merges brought in.

use duetbench_run::source::{Commit, first_parents, merged, merged_between};

use crate::common::Place;

/// A repository in which each commit writes a file of its name.
fn repository() -> Place {
    let place = Place::new();
    place.git(&["init", "-q"]);
    place
}

fn commits(place: &Place, names: &[&str]) {
    for name in names {
        place.write(name, name).commit_all(name);
        place.git(&["tag", name]);
    }
}

fn switch(place: &Place, branch: &str, at: &str) {
    place.git(&["checkout", "-q", "-b", branch, at]);
}

/// Merges into a branch, with a commit of this name even where none is needed.
fn merge(place: &Place, branch: &str, others: &[&str], name: &str) {
    place.git(&["checkout", "-q", branch]);
    place.git(&[&["merge", "-q", "--no-ff", "-m", name], others].concat());
    place.git(&["tag", name]);
}

fn subjects(line: &[Commit]) -> Vec<&str> {
    line.iter().map(|commit| commit.subject.as_str()).collect()
}

/// The line by which a parent came in, where these commits are known.
#[track_caller]
fn check(place: &Place, parent: &str, known: &[&str], want: &[&str]) {
    let id = |name: &&str| place.git(&["rev-parse", &format!("{name}^{{commit}}")]).trim().to_owned();
    let known: Vec<String> = known.iter().map(id).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let line = merged(&id(&parent), &known, place.path()).unwrap();
    assert_eq!(subjects(&line), want, "{parent} without {known:?}");
}

#[test]
fn a_line_begins_where_it_left_the_other_one() {
    let place = repository();
    commits(&place, &["a", "b"]);
    switch(&place, "side", "a");
    commits(&place, &["s1", "s2"]);
    merge(&place, "main", &["side"], "m");
    check(&place, "m^2", &["m^1"], &["a", "s1", "s2"]);
    // Without commits on the other side it begins at the merge's first parent.
    switch(&place, "late", "m");
    commits(&place, &["l1"]);
    merge(&place, "main", &["late"], "n");
    check(&place, "n^2", &["n^1"], &["m", "l1"]);
    // All of it is known.
    check(&place, "m^2", &["m"], &[]);
    let line = first_parents("a", "n", place.path()).unwrap();
    assert_eq!(subjects(&line), ["a", "b", "m", "n"]);
    assert_eq!(line.iter().map(Commit::merges).collect::<Vec<_>>(), [false, false, true, true]);
    assert_eq!(merged_between("a", "n", place.path()).unwrap(), 3);
}

#[test]
fn a_line_that_had_merged_the_other_one_begins_there() {
    let place = repository();
    commits(&place, &["a"]);
    switch(&place, "side", "a");
    commits(&place, &["s1", "s2"]);
    place.git(&["checkout", "-q", "main"]);
    commits(&place, &["b"]);
    merge(&place, "side", &["main"], "update");
    commits(&place, &["s3"]);
    place.git(&["checkout", "-q", "main"]);
    commits(&place, &["c"]);
    merge(&place, "main", &["side"], "m");
    // The step from `b` to `update` is of `s1` and `s2`, and of nothing that `main` had.
    check(&place, "m^2", &["m^1"], &["b", "update", "s3"]);
    check(&place, "update^1", &["b", "m^1"], &["a", "s1", "s2"]);
}

#[test]
fn a_line_inside_a_line_leaves_out_both_around_it() {
    let place = repository();
    commits(&place, &["a"]);
    switch(&place, "side", "a");
    commits(&place, &["s1"]);
    switch(&place, "inner", "s1");
    commits(&place, &["i1"]);
    place.git(&["checkout", "-q", "side"]);
    commits(&place, &["s2"]);
    merge(&place, "side", &["inner"], "s3");
    place.git(&["checkout", "-q", "main"]);
    commits(&place, &["b"]);
    merge(&place, "main", &["side"], "m");
    check(&place, "m^2", &["m^1"], &["a", "s1", "s2", "s3"]);
    check(&place, "s3^2", &["s2", "m^1"], &["s1", "i1"]);
}

#[test]
fn every_parent_of_a_merge_of_many_has_its_line_and_one_that_begins_anew_has_none() {
    let place = repository();
    commits(&place, &["a"]);
    for branch in ["one", "two"] {
        switch(&place, branch, "a");
        commits(&place, &[&format!("{branch}1")]);
    }
    place.git(&["checkout", "-q", "main"]);
    commits(&place, &["b"]);
    merge(&place, "main", &["one", "two"], "m");
    check(&place, "m^2", &["m^1"], &["a", "one1"]);
    check(&place, "m^3", &["m^1"], &["a", "two1"]);
    place.git(&["checkout", "-q", "--orphan", "new"]);
    place.git(&["rm", "-rqf", "."]);
    commits(&place, &["o1", "o2"]);
    merge(&place, "main", &["--allow-unrelated-histories", "new"], "n");
    check(&place, "n^2", &["n^1"], &[]);
}
