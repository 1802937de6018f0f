//! When a run cannot be gone on with, or not now.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::common::{Place, Ran};
use crate::real::{begin, command, db, go_on, judged_right, place, wait_for_trials};
use crate::support::{Kind, Log, Sitting, counts, kept, nothing_is_lost};

const STEADY: &str = r#"{"BenchmarkA": {"baseline_ns": 100, "candidate_ns": 100, "spread": 0.002}}"#;
const RESUME: [&str; 3] = ["compare", "--resume", "latest"];

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, body: fn()| {
        Trial::test(format!("resume: {name}"), move || {
            body();
            Ok(())
        })
    };
    vec![
        test("what has ended, is not there, or is settled is refused", names_and_options),
        test("a search has settled its options", options_of_a_search),
        test("a store of another format is refused", another_format),
        test("several may begin in a new store", several_begin),
    ]
}

pub fn tests_with_go() -> Vec<Trial> {
    let test = |name: &str, body: fn()| {
        Trial::test(format!("resume: {name}"), move || {
            body();
            Ok(())
        })
    };
    vec![
        test("changed sources are refused", changed_sources),
        test("the holder of the machine is waited for or named", somebody_measures),
    ]
}

fn names_and_options() {
    let place = Place::new();
    place.duet(&RESUME).expect(1).says(&["nothing has been measured here"]);
    place.scripted(STEADY, &[]).expect(0);
    let scripted = [&RESUME[..], &["--scripted", "script.json"]].concat();
    place.duet(&scripted).expect(2).says(&["run `r1` came to its end: `duet show r1` prints its report"]);
    place.duet(&["compare", "--resume", "r7"]).expect(1).says(&["no run `r7`", "duet.db", "`latest`"]);
    place.duet(&["compare", "--resume", "yesterday"]).expect(1).says(&["no run `yesterday`"]);
    let before = kept(&db(&place));
    for option in [
        &["HEAD"][..],
        &["--forks", "3"],
        &["--budget", "1m"],
        &["--builds", "2"],
        &["--seed", "1"],
        &["--fixed"],
        &["--confirm"],
        &["--mode", "duet"],
        &["--threshold", "1%"],
        &["--alpha", "1%"],
        &["--fdr", "1%"],
        &["--bench", "A"],
        &["--exclude", "A"],
        &["--packages", "."],
        &["--measure-identical"],
        &["--dry-run"],
        &["--", "-short"],
    ] {
        place.duet(&[&RESUME[..], option].concat()).expect(2).says(&["--resume"]);
    }
    for resuming in [&RESUME[..], &["run", "--resume", "latest"]] {
        let mut dry = place.command(resuming);
        let refused = Ran::from(dry.env("DUET_DRY_RUN", "true").output().unwrap());
        refused.expect(2).says(&["a dry run goes on with nothing", "`DUET_DRY_RUN=false`"]);
    }
    // A run by script has no versions to go back to.
    let interrupted = STEADY.replace("0.002", r#"0.002, "interrupt_in": 2"#);
    place.scripted(&interrupted, &[]).expect(130).says(&["`duet compare --resume r2`"]);
    place.duet(&RESUME).expect(2).says(&["`r2` was scripted"]);
    assert_eq!(kept(&db(&place))[..before.len()], before);
}

fn options_of_a_search() {
    let place = Place::new();
    place.scripted(STEADY, &[]).expect(0);
    for option in [
        &["HEAD"][..],
        &["--first-parent"],
        &["--forks", "3"],
        &["--builds", "1"],
        &["--layouts", "random"],
        &["--warmup", "1"],
        &["--mode", "duet"],
        &["--seed", "1"],
        &["--fixed"],
        &["--confirm"],
        &["--measure-identical"],
        &["--reach"],
        &["--benchmarks-from", "head"],
        &["--threshold", "1%"],
        &["--alpha", "1%"],
        &["--fdr", "1%"],
        &["--bench", "A"],
        &["--packages", "."],
        &["--dry-run"],
        &["--", "-short"],
    ] {
        place.duet(&[&["bisect", "--resume"], option].concat()).expect(2).says(&["--resume", "cannot be used with"]);
    }
    // No search has settled these.
    let open = ["bisect", "--resume", "--budget", "1m", "--timeout", "5s", "--no-wait"];
    place.duet(&open).expect(2).says(&["no search", "waits for its end"]);
}

fn another_format() {
    let place = Place::new();
    let interrupted = STEADY.replace("0.002", r#"0.002, "interrupt_in": 2"#);
    place.scripted(&interrupted, &[]).expect(130);
    for (version, words) in [(99, "a newer duet (format 99)"), (1, "an older duet (format 1)")] {
        let sql = format!("PRAGMA user_version = {version}");
        rusqlite::Connection::open(db(&place)).unwrap().execute_batch(&sql).unwrap();
        let scripted = [&RESUME[..], &["--scripted", "script.json"]].concat();
        place.duet(&scripted).expect(1).says(&[words, "duet.db"]);
    }
}

fn several_begin() {
    for _ in 0..3 {
        let place = Place::new();
        place.write("script.json", STEADY);
        let args = ["compare", "--scripted", "script.json", "--fixed", "--forks", "3", "--seed", "1"];
        let all: Vec<Sitting> = (0..6).map(|_| Sitting::start(&place, &mut place.command(&args))).collect();
        for sitting in all {
            sitting.end().1.expect(0);
        }
        kept(&db(&place));
        assert_eq!(counts(&db(&place)), (6, 18));
    }
}

/// A run that was interrupted after its first trials.
fn interrupted(log: &Log) -> Place {
    let place = place();
    let mut sitting = begin(&place, &["--builds", "1", "--forks", "12", "--fixed"]);
    wait_for_trials(&place, &mut sitting, 2);
    assert!(sitting.signal(Signal::INT));
    log.injected(Kind::Interrupt, "after two trials");
    sitting.end().1.expect(130).says(&["`duet compare --resume r1 --timeout 3m` goes on"]);
    place
}

fn changed_sources() {
    let log = Log::new("changed sources", 0);
    let place = interrupted(&log);
    let before = kept(&db(&place));
    let file = place.path().join("new/fixture_test.go");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\t\tsum = ", "\t\tsink += 1\n\t\tsum = ")).unwrap();
    let refused = Ran::from(command(&place, &RESUME).output().unwrap());
    refused.expect(2).says(&["`./new` is not what it was", "binaries differ"]);
    assert_eq!(kept(&db(&place)), before);
    std::fs::write(&file, text).unwrap();
    judged_right(&go_on(&place).end().1);
    nothing_is_lost(&before, &kept(&db(&place)));
}

fn somebody_measures() {
    let log = Log::new("somebody measures", 0);
    let place = interrupted(&log);
    let before = kept(&db(&place));
    let mut holder = File::options().write(true).truncate(true).open(place.path().join("lock")).unwrap();
    holder.lock().unwrap();
    let name = format!("process {} in `/elsewhere`", std::process::id());
    holder.write_all(name.as_bytes()).unwrap();
    let refused = Ran::from(command(&place, &[&RESUME[..], &["--no-wait"]].concat()).output().unwrap());
    refused.expect(1).says(&[&name, "`--no-wait`"]);
    // Two who go on with the same run: one measures, the other then finds it at its end.
    let two = [go_on(&place), go_on(&place)];
    for sitting in &two {
        while !sitting.stderr().contains(&format!("waiting for {name} since 0:0")) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    assert_eq!(kept(&db(&place)), before);
    drop(holder);
    let mut ends = two.map(|sitting: Sitting| sitting.end().1);
    ends.sort_by_key(|ran| ran.code == 2);
    let [first, second] = ends;
    judged_right(&first);
    second.expect(2).says(&["run `r1` came to its end"]);
    nothing_is_lost(&before, &kept(&db(&place)));
    assert_eq!(counts(&db(&place)).0, 1);
}
