//! Searches among commits that cannot be compared, with whole programs, so that nothing is built.

use crate::common::Place;

/// Commits of a program, the good one first; the same sources twice are an empty commit.
fn repository(programs: &[&str]) -> Place {
    let place = Place::new();
    place.write("duet.toml", "[[command]]\nname = 'p'\ncommand = 'sh work.sh'\n").write(".gitignore", ".duet\n");
    place.git(&["init", "-q"]);
    for (number, program) in programs.iter().enumerate() {
        place.write("work.sh", program);
        place.git(&["add", "."]);
        place.git(&["commit", "-q", "--allow-empty", "-m", &format!("c{number}")]);
    }
    place
}

/// A program that counts so far.
fn counting(to: u32) -> String {
    format!("i=0\nwhile [ $i -lt {to} ]; do i=$((i+1)); done\n")
}

/// Commits that a search left out, by their subjects, once for each time; a budget ends one that would never end.
fn left_out(place: &Place, commits: usize) -> Vec<String> {
    let good = format!("HEAD~{}", commits - 1);
    let ran = place.duet(&["bisect", &good, "HEAD", "--threshold", "50%", "--seed", "1", "--budget", "40s"]);
    let left_out = ran.stderr.lines().filter(|line| line.contains("is left out"));
    left_out.map(|line| line.split(['(', ')']).nth(1).unwrap().to_owned()).collect()
}

#[test]
fn a_commit_that_fails_is_left_out_once_also_where_another_has_the_same_sources() {
    let (fast, slow) = (counting(2000), counting(40_000));
    let commented = |program: &str| format!("# again\n{program}");
    let programs = [&fast, &commented(&fast), "exit 1\n", "exit 1\n", &slow, &commented(&slow)];
    let found = left_out(&repository(&programs), programs.len());
    assert!(found == ["c2"] || found == ["c3"], "{found:?}");
}

#[test]
fn a_commit_that_fails_only_while_it_is_measured_is_left_out_once() {
    let (fast, slow) = (counting(2000), counting(40_000));
    let place = Place::new();
    let count = place.path().join("count");
    // From the third start on.
    let failing = format!("echo >> {0}\n[ $(wc -l < {0}) -lt 3 ] || exit 1\n{fast}", count.display());
    let programs = [&fast[..], &failing, &slow];
    assert_eq!(left_out(&repository(&programs), programs.len()), ["c1"]);
}
