//! Runs by script, killed and interrupted anywhere, gone on with until they end: the report must be that of a run that
//! nobody disturbed, to the last digit.

use std::path::Path;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::common::{Place, Ran};
use crate::support::{
    Kind, Log, Rng, Sitting, counts, died_of, essence, is_sound, kept, nothing_is_lost, told_is_kept,
};

/// Settings of a run, and what must come out.
struct Case {
    name: &'static str,
    script: String,
    args: &'static [&'static str],
    /// Exit code at the end.
    exit: i32,
    /// Disturbances at least.
    injections: usize,
}

fn part(name: &str, baseline_ns: f64, candidate_ns: f64, more: &str) -> String {
    format!(
        r#""Benchmark{name}": {{"baseline_ns": {baseline_ns}, "candidate_ns": {candidate_ns}, "pause_us": 1500{more}}}"#
    )
}

fn script(parts: &[String]) -> String {
    format!("{{{}}}", parts.join(",\n"))
}

fn cases() -> Vec<Case> {
    let steady = || part("Steady", 100.0, 100.0, r#", "spread": 0.002"#);
    let slower = || part("Slower", 100.0, 112.0, r#", "spread": 0.02, "allocs": [3, 4]"#);
    let noisy = || part("Noisy", 100.0, 101.0, r#", "spread": 0.05"#);
    let faster = || part("Faster", 120.0, 100.0, r#", "spread": 0.04"#);
    let flaky = || part("Flaky", 100.0, 100.0, r#", "spread": 0.004, "failure_in": 2"#);
    let broken = || part("Broken", 100.0, 100.0, r#", "failure": "no luck today""#);
    let many = (0..25).map(|i| part(&format!("Many{i:02}"), 100.0, 100.0 + f64::from(i % 9), r#", "spread": 0.01"#));
    vec![
        Case {
            name: "regressions are confirmed",
            script: script(&[steady(), slower(), part("Doubtful", 100.0, 104.0, r#", "spread": 0.012"#)]),
            args: &["--confirm"],
            exit: 3,
            injections: 20,
        },
        Case {
            name: "trials fail",
            script: script(&[steady(), flaky(), broken(), noisy()]),
            args: &["--forks", "12"],
            exit: 1,
            injections: 25,
        },
        Case {
            name: "everyone stops at a look",
            script: script(&[steady(), slower(), noisy(), faster(), flaky()]),
            args: &[],
            exit: 3,
            injections: 12,
        },
        Case {
            name: "a fixed number of forks",
            script: script(&[steady(), slower(), faster()]),
            args: &["--fixed", "--forks", "20", "--confirm"],
            exit: 3,
            injections: 80,
        },
        Case {
            name: "many benchmarks",
            script: script(&many.collect::<Vec<_>>()),
            args: &["--fixed", "--forks", "5", "--confirm"],
            exit: 3,
            injections: 20,
        },
    ]
}

/// Exit code of going on with a run that has come to its end.
const ENDED_BEFORE: i32 = 2;

/// When to strike.
#[derive(Debug, Clone, Copy)]
enum Moment {
    After(Duration),
    Trials(i64),
}

/// A test for each case: kills and interrupts until it had its share.
pub fn tests(seed: u64) -> Vec<Trial> {
    let test = |(number, case): (usize, Case)| {
        let seed = seed + number as u64;
        Trial::test(format!("scripted: {}", case.name), move || {
            ends_as_if_nobody_had_disturbed_it(&case, seed);
            Ok(())
        })
    };
    cases().into_iter().enumerate().map(test).collect()
}

fn ends_as_if_nobody_had_disturbed_it(case: &Case, seed: u64) {
    let log = Log::new(case.name, seed);
    let mut rng = Rng(seed);
    let began = Instant::now();
    let calm = undisturbed(case);
    let length = began.elapsed();
    while log.injections() < case.injections {
        assert_eq!(disturbed(case, length, &mut rng, &log), calm, "{}", case.name);
    }
}

fn undisturbed(case: &Case) -> serde_json::Value {
    essence(&Place::new().scripted(&case.script, &[case.args, &["--format", "json"]].concat()).expect(case.exit))
}

/// A run that is disturbed several times, and its report.
fn disturbed(case: &Case, length: Duration, rng: &mut Rng, log: &Log) -> serde_json::Value {
    let place = Place::new();
    place.write("script.json", &case.script);
    let db = place.path().join(".duet/duet.db");
    let mut left = rng.between(2, 9);
    loop {
        let mut sitting = sit_down(&place, case, &db);
        if left == 0 {
            return report(&place, case, sitting.end().1);
        }
        let moment = match rng.between(0, 2) {
            0 => Moment::After(length.mul_f64(rng.between(0, 1000) as f64 / 1000.0)),
            _ => Moment::Trials(i64::try_from(rng.between(1, 16)).unwrap()),
        };
        wait_for(moment, &mut sitting, &db);
        let signal = [Signal::KILL, Signal::KILL, Signal::KILL, Signal::INT, Signal::TERM][rng.between(0, 5) as usize];
        let before = kept(&db);
        let sent = sitting.signal(signal);
        let told = sitting.stderr();
        let (status, ran) = sitting.end();
        let after = kept(&db);
        nothing_is_lost(&before, &after);
        told_is_kept(&told, &after);
        // It may have ended before the signal came, or have been killed between its end and its report the time before.
        let over = [case.exit, ENDED_BEFORE].map(Some).contains(&status.code());
        if !sent || over {
            return report(&place, case, ran);
        }
        let kind = if signal == Signal::KILL { Kind::KillDuet } else { Kind::Interrupt };
        log.injected(kind, format!("{signal:?} at {moment:?}, {} trials before, {} after", before.len(), after.len()));
        if signal != Signal::KILL && !died_of(status, signal) {
            // Unless it had not got round to listening.
            let ran = ran.expect(130).says(&["`duet compare --resume r1`"]);
            assert_eq!(ran.json()["complete"], false);
        }
        left -= 1;
    }
}

/// The report at the end; where a run was killed between its end and its report, that of `duet show`.
fn report(place: &Place, case: &Case, ran: Ran) -> serde_json::Value {
    let ran = match ran.code {
        ENDED_BEFORE => {
            ran.says(&["run `r1` came to its end: `duet show r1` prints its report"]);
            place.duet(&["show", "r1", "--format", "json"])
        }
        _ => ran,
    };
    let db = place.path().join(".duet/duet.db");
    kept(&db);
    is_sound(&db);
    essence(&ran.expect(case.exit))
}

/// Begins, or goes on where there is something to go on with.
fn sit_down(place: &Place, case: &Case, db: &Path) -> Sitting {
    let begun = counts(db).0 > 0;
    let beginning = [&["compare", "--scripted", "script.json", "--format", "json", "--seed", "1"], case.args].concat();
    let going_on = ["compare", "--scripted", "script.json", "--format", "json", "--resume", "latest"];
    Sitting::start(place, &mut place.command(if begun { &going_on } else { &beginning }))
}

/// Waits for the moment, or until there is nobody left to disturb.
fn wait_for(moment: Moment, sitting: &mut Sitting, db: &Path) {
    match moment {
        Moment::After(time) => std::thread::sleep(time),
        Moment::Trials(more) => {
            let goal = counts(db).1 + more;
            while sitting.ended().is_none() && counts(db).1 < goal {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
