//! Searches among commits that cannot be compared, with whole programs, so that nothing is built.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::common::{Place, Ran};

/// Commits of a program, the good one first; the same sources twice are an empty commit.
fn repository(programs: &[&str]) -> Place {
    committed(Place::new(), programs)
}

fn committed(place: Place, programs: &[&str]) -> Place {
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
    let ran = place.duet(&["bisect", &good, "HEAD", "--threshold", "50%", "--seed", "1", "--budget", "2m"]);
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
fn a_change_that_was_taken_back_and_made_again_is_named() {
    let (fast, slow) = (counting(2000), counting(40_000));
    let place = repository(&[&fast, &slow, &fast, &slow]);
    let ran = place.duet(&["bisect", "HEAD~3", "HEAD", "--threshold", "50%", "--seed", "1", "--budget", "2m"]);
    let named = ["c1", "c3"].iter().any(|subject| ran.stdout.contains(subject));
    assert!(named && !ran.stdout.contains("not slower"), "{}: {}", ran.code, ran.stdout);
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

/// A search among four commits that is interrupted while the second of the inner ones is measured, as soon as it was started often
/// enough that there is a run.
struct Search {
    place: Place,
}

impl Search {
    fn new() -> Search {
        Search::ended_by("TERM")
    }

    /// The same with another signal that ends it.
    fn ended_by(signal: &str) -> Search {
        let (fast, slow) = (counting(2000), counting(40_000));
        let place = Place::new();
        let dir = place.path().display().to_string();
        let interrupting = |name: &str, program: &str| {
            format!(
                "[ -e {dir}/first ] || echo {name} > {dir}/first\n\
                 [ \"$(cat {dir}/first)\" = {name} ] || echo >> {dir}/starts\n\
                 [ ! -e {dir}/starts ] || [ $(wc -l < {dir}/starts) -lt 4 ] || ! mkdir {dir}/told 2> /dev/null || \
                 kill -{signal} $(cat {dir}/pid)\n{program}"
            )
        };
        let programs = [&fast, &interrupting("c1", &fast), &interrupting("c2", &slow), &slow];
        Search { place: committed(place, &programs.map(String::as_str)) }
    }

    /// Searches until it is interrupted.
    fn interrupted(&self, args: &[&str]) -> Ran {
        // So that it is interrupted anew.
        for file in ["starts", "told"].map(|name| self.place.path().join(name)) {
            let _ = (fs::remove_file(&file), fs::remove_dir(&file));
        }
        self.carried_out(args).expect(130)
    }

    /// Searches, with a `git` of the place's where there is one, and its own number in a file, so that what it starts can interrupt
    /// it.
    fn carried_out(&self, args: &[&str]) -> Ran {
        let numbered = ["-c", "echo $$ > pid; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_duet"), "bisect"];
        let mut command = self.place.command_of(Path::new("sh"), &[&numbered[..], args].concat());
        let path = format!("{}:{}", self.place.path().join("bin").display(), std::env::var("PATH").unwrap());
        Ran::from(command.env("PATH", path).output().unwrap())
    }

    /// Has `git` do this before it makes a worktree.
    fn git_first(&self, script: &str) {
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *\"worktree add\"*)\n{script};;\nesac\nPATH=${{PATH#*:}} exec git \"$@\"\n"
        );
        self.place.write("bin/git", &text);
        fs::set_permissions(self.place.path().join("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs of its comparisons, that which has not come to its end last.
    fn runs(&self) -> Vec<String> {
        let (compared, open) = (self.kept("compared"), self.kept("open"));
        let all = compared.as_array().unwrap().iter().chain([&open]);
        all.filter_map(|one| one["run"].as_str()).map(str::to_owned).collect()
    }

    /// A part of the search as it is kept.
    fn kept(&self, part: &str) -> Value {
        let store = Connection::open(self.place.path().join(".duet/duet.db")).unwrap();
        let record: String = store.query_row("SELECT bisection FROM bisections", [], |row| row.get(0)).unwrap();
        serde_json::from_str::<Value>(&record).unwrap()[part].clone()
    }
}

#[test]
fn a_search_goes_on_on_its_own_machine_alone() {
    let search = Search::new();
    search.interrupted(&WANTED);
    let store = Connection::open(search.place.path().join(".duet/duet.db")).unwrap();
    store.execute_batch("UPDATE runs SET head = json_set(head, '$.environment.cpu_model', 'of old')").unwrap();
    search.carried_out(&["--resume"]).expect(2).says(&["begun on another machine", "of old"]);
}

const WANTED: [&str; 6] = ["HEAD~3", "HEAD", "--threshold", "50%", "--seed", "1"];

#[test]
fn a_search_is_gone_on_with_after_any_of_its_runs_was_removed() {
    let search = Search::new();
    search.interrupted(&WANTED);
    let runs = search.runs();
    assert!(runs.len() > 2, "end points, and both commits between: {runs:?}");
    let store = search.place.path().join(".duet/duet.db");
    let before = fs::read(&store).unwrap();
    for run in &runs {
        fs::write(&store, &before).unwrap();
        search.place.duet(&["rm", run]).expect(0);
        search.interrupted(&WANTED).says(&[&format!("run `{run}` was removed")]);
        assert!(!search.runs().contains(run), "{:?} without {run}", search.runs());
    }
}

#[test]
fn a_comparison_that_is_interrupted_again_before_its_first_trial_stays_begun() {
    let search = Search::new();
    let told = "`duet bisect --resume --timeout 50s` goes on from here";
    let ran = search.interrupted(&[&WANTED[..], &["--timeout", "50s"]].concat()).says(&[told]);
    assert!(!ran.stderr.contains("`duet bisect --resume` goes on"), "{}", ran.stderr);
    let begun = search.kept("open");
    assert!(begun["run"].is_string(), "it has no run: {begun}");
    search.git_first("mkdir interrupted 2> /dev/null && kill -TERM $PPID");
    search.carried_out(&["--resume"]).expect(130);
    assert_eq!(search.kept("open"), begun);
}

#[test]
fn a_comparison_that_was_killed_stays_begun() {
    let search = Search::ended_by("KILL");
    assert_eq!(search.carried_out(&WANTED).code, -1);
    assert!(search.kept("open")["run"].is_string(), "it is measured anew: {}", search.kept("open"));
}

#[test]
fn a_dry_run_goes_on_with_no_search() {
    let search = Search::new();
    search.interrupted(&WANTED);
    let store = search.place.path().join(".duet/duet.db");
    let before = fs::read(&store).unwrap();
    search.place.duet(&["bisect", "--resume", "--dry-run"]).expect(2).says(&["--resume", "--dry-run"]);
    let mut set = search.place.command(&["bisect", "--resume"]);
    let refused = Ran::from(set.env("DUET_DRY_RUN", "true").output().unwrap());
    refused.expect(2).says(&["a dry run goes on with nothing", "`DUET_DRY_RUN=false`"]);
    assert!(fs::read(&store).unwrap() == before, "the search is another one now");
}

#[test]
fn a_second_search_in_a_store_is_refused_while_the_first_lasts() {
    let search = Search::new();
    search.interrupted(&WANTED);
    let first = fs::File::open(search.place.path().join(".duet")).unwrap();
    first.lock().unwrap();
    let before = fs::read(search.place.path().join(".duet/duet.db")).unwrap();
    for second in [&["--resume"][..], &WANTED] {
        search.carried_out(second).expect(1).says(&["another `duet bisect` is searching", ".duet`", "`--db`"]);
    }
    assert!(fs::read(search.place.path().join(".duet/duet.db")).unwrap() == before, "the search is another one now");
    drop(first);
    search.interrupted(&["--resume"]);
}

#[test]
fn a_comparison_that_cannot_be_gone_on_with_is_made_anew() {
    let search = Search::new();
    search.interrupted(&WANTED);
    let begun = search.kept("open")["run"].as_str().unwrap().to_owned();
    // As if nothing had been there to keep it once it was at its end.
    let store = Connection::open(search.place.path().join(".duet/duet.db")).unwrap();
    store.execute("UPDATE runs SET complete = 1 WHERE id = ?1", [begun.trim_start_matches('r')]).unwrap();
    search.interrupted(&["--resume"]).says(&[&format!("run `{begun}` came to its end"), "is made anew"]);
    assert_ne!(search.kept("open")["run"].as_str(), Some(&*begun));
}

#[test]
fn a_commit_that_was_left_out_for_a_passing_reason_is_tried_again() {
    let search = Search::new();
    let dir = search.place.path().display();
    // Both end points lie there already.
    search.git_first(&format!(
        "echo >> {dir}/trees; [ $(wc -l < {dir}/trees) != 3 ] || {{ echo 'No space left' >&2; exit 128; }}"
    ));
    fs::write(search.place.path().join("first"), "neither").unwrap();
    search.interrupted(&WANTED).says(&["is left out: ", "No space left"]);
    assert_eq!(search.kept("skipped").as_array().map(Vec::len), Some(1));
    search.interrupted(&["--resume"]);
    assert_eq!(search.kept("skipped"), Value::Array(Vec::new()));
}
