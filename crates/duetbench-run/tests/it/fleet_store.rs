//! The calls of a run on a fleet: kept before anything is concluded from them, and known to whoever goes on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use duetbench_core::fleet::{Abandoned, Account, CallEnd, FleetTerms, Rate, Sending, Task, Usage};
use duetbench_core::noise::Facts;
use duetbench_core::plan::{Mode, Plan};
use duetbench_core::sample::Coordinates;
use duetbench_core::spec::{Arch, EngineName, FleetSpec};
use duetbench_core::{Environment, Role, Sample, Spec, Trial};
use duetbench_run::engine::{RunSummary, TrialOutcome};
use duetbench_run::fleet::Leftover;
use duetbench_run::fleet::campaign::Call;
use duetbench_run::fleet::wire::Instance;
use duetbench_run::scratch::Scratch;
use duetbench_run::store::{RunHead, RunId, Sitting, Store};

use crate::fleet_support::{planned, trial};
use crate::head_support::{environment, facts, spec, version};

const SPEC: FleetSpec = FleetSpec {
    engine: EngineName::Lambda,
    memory_mb: 2048,
    arch: Arch::Arm64,
    parallel: 150,
    max_cost_usd: 2.0,
    max_time: Duration::from_secs(1800),
    forks_per_call: 2,
};

fn terms() -> FleetTerms {
    FleetTerms {
        rate: Rate { gb_second_x86_64: 1.0, gb_second_arm64: 0.01, million_requests: 0.0 },
        price_date: "2026-11-01".into(),
        builds: 12,
        package_bytes: 26_700_000,
        call_max_ns: 60_000_000_000,
        region: None,
    }
}

fn head() -> RunHead {
    let plan = Plan {
        seed: 7,
        benchmarks: vec![planned("p", "BenchmarkA")],
        excluded: Vec::new(),
        budget_ns: None,
        disturbed: false,
        confirm_rounds: 0,
        check: None,
        spread: false,
    };
    RunHead {
        started: "2026-11-02T03:04:05Z".into(),
        spec: Spec { fleet: Some(SPEC), ..spec() },
        plan,
        baseline: version("v1"),
        candidate: version("v1"),
        environment: Environment { cpus_usable: vec![0], cores_physical: 1, ..environment() },
        facts: Facts {
            cpu_model: Some(environment().cpu_model),
            cpus_usable: 1,
            cpus_online: 1,
            cores_physical: 1,
            ..facts()
        },
        warnings: Vec::new(),
        origin: None,
        layouts: None,
        fleet: Some(terms()),
    }
}

fn task(first_suite_run: u32) -> Task {
    Task { benchmark: 0, first_suite_run, suite_runs: 2 }
}

fn first(task: Task) -> Sending {
    Sending { task, number: 1 }
}

/// A call that counts, of so many nanoseconds.
fn counted(task: Task, number: u32, billed_ns: u64) -> Call {
    let instance = Instance { id: format!("i-{number}"), cpu: "a processor".into(), ..Instance::default() };
    let usage = Some(Usage { billed_ns, cold: number == 1 });
    Call { sending: Sending { task, number }, end: CallEnd::Counted, words: None, instance: Some(instance), usage }
}

fn failed(task: Task, number: u32) -> Call {
    let words = Some("connection reset".into());
    Call { sending: Sending { task, number }, end: CallEnd::Failed, words, instance: None, usage: None }
}

fn outcome(trial: &Trial) -> (Trial, TrialOutcome) {
    let at = |role| Coordinates {
        role,
        instance: 0,
        build: trial.build,
        round: 0,
        suite_run: trial.suite_run,
        fork: 0,
        iteration: 0,
    };
    let sample = |role| Sample {
        at: at(role),
        block: 0,
        invocations: 1,
        wall_ns: 1000,
        cpu_ns: None,
        start_ns: 0,
        memory: None,
        cycles: None,
        warm_up: false,
    };
    let result = Ok(Role::BOTH.map(sample).to_vec());
    let wall = Duration::from_millis(5);
    (*trial, TrialOutcome { result, mode: Mode::InterleavedAllCores, wall, conditions: None })
}

/// A store with a run that has begun.
struct Begun {
    _dir: tempfile::TempDir,
    path: PathBuf,
    store: Store,
    run: RunId,
}

impl Begun {
    fn new() -> Begun {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("duet.db");
        let mut store = Store::open(&path).unwrap();
        let run = store.begin(&head()).unwrap();
        Begun { _dir: dir, path, store, run }
    }

    /// Sends a call and hears of it.
    fn call(&mut self, call: &Call, trials: &[(Trial, TrialOutcome)]) {
        self.store.add_sent(self.run, call.sending).unwrap();
        self.store.add_call(self.run, call, trials).unwrap();
    }

    fn accounts(&self) -> Vec<Account> {
        Store::open_existing(&self.path).unwrap().load("latest").unwrap().calls
    }

    fn execute(&self, sql: &str) {
        rusqlite::Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }
}

#[test]
fn calls_come_back_as_they_were_kept_with_the_trials_of_those_that_count() {
    let mut begun = Begun::new();
    let trials = [outcome(&trial(0)), outcome(&trial(1))];
    begun.call(&failed(task(0), 1), &[]);
    begun.call(&counted(task(0), 2, 7_000_000_000), &trials);
    begun.call(&counted(task(2), 1, u64::MAX), &[]);
    let i = |name: &str| Some((name.to_owned(), "a processor".to_owned()));
    let account = |task, end| Account { task, end, words: None, instance: None, usage: None, fork_pairs: 0 };
    let expected = [
        Account { words: Some("connection reset".into()), ..account(task(0), CallEnd::Failed) },
        Account {
            instance: i("i-2"),
            usage: Some(Usage { billed_ns: 7_000_000_000, cold: false }),
            fork_pairs: 2,
            ..account(task(0), CallEnd::Counted)
        },
        Account {
            instance: i("i-1"),
            // SQLite's integers are signed.
            usage: Some(Usage { billed_ns: i64::MAX.unsigned_abs(), cold: true }),
            ..account(task(2), CallEnd::Counted)
        },
    ];
    assert_eq!(begun.accounts(), expected);
    let stored = begun.store.load("latest").unwrap().comparison().unwrap();
    assert_eq!((stored.trials, stored.head), (trials.to_vec(), head()));
}

#[test]
fn a_call_that_was_cut_short_is_known_by_its_trials() {
    let mut begun = Begun::new();
    begun.call(&counted(task(0), 1, 5), &[outcome(&trial(0)), outcome(&trial(1))]);
    begun.call(&counted(task(2), 1, 5), &[outcome(&trial(2))]);
    let fork_pairs: Vec<u32> = begun.accounts().iter().map(|account| account.fork_pairs).collect();
    assert_eq!(fork_pairs, [2, 1]);
}

#[test]
fn samples_know_the_instance_that_gave_them() {
    let mut begun = Begun::new();
    let trials = |first: u32| [outcome(&trial(first)), outcome(&trial(first + 1))];
    begun.call(&counted(task(0), 7, 1), &trials(0));
    begun.call(&failed(task(2), 3), &[]);
    begun.call(&counted(task(2), 5, 1), &trials(2));
    begun.call(&counted(task(4), 7, 1), &trials(4));
    let stored = begun.store.load("latest").unwrap().comparison().unwrap();
    let instances =
        stored.trials.iter().flat_map(|(_, outcome)| outcome.result.iter().flatten()).map(|s| s.at.instance);
    assert_eq!(instances.collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn a_call_that_was_sent_and_never_heard_of_costs_the_most_it_can() {
    let mut begun = Begun::new();
    begun.call(&counted(task(0), 1, 1_000_000_000), &[]);
    begun.store.add_sent(begun.run, first(task(2))).unwrap();
    let accounts = begun.accounts();
    assert_eq!((accounts[1].end, accounts[1].usage), (CallEnd::Sent, None));
    // Two gigabytes for a second, and for the sixty that a call may take.
    let cost = terms().cost_usd(&accounts, &SPEC);
    assert!((cost - 0.02 * 61.0).abs() < 1e-9, "{cost}");
}

#[test]
fn what_is_heard_belongs_to_the_sitting_that_sent_it() {
    let mut begun = Begun::new();
    begun.store.add_sent(begun.run, first(task(0))).unwrap();
    // That sitting was killed; the next one counts its sendings anew.
    begun.call(&counted(task(0), 1, 5), &[]);
    let ends: Vec<CallEnd> = begun.accounts().iter().map(|account| account.end).collect();
    assert_eq!(ends, [CallEnd::Sent, CallEnd::Counted]);
}

#[test]
fn a_call_of_one_run_is_none_of_another() {
    let mut begun = Begun::new();
    begun.call(&failed(task(0), 1), &[]);
    let other = begun.store.begin(&head()).unwrap();
    begun.store.add_sent(other, first(task(0))).unwrap();
    begun.store.add_call(other, &counted(task(0), 1, 5), &[]).unwrap();
    let end = |run: &str| begun.store.load(run).unwrap().calls.iter().map(|call| call.end).collect::<Vec<_>>();
    assert_eq!((end("r1"), end("r2")), (vec![CallEnd::Failed], vec![CallEnd::Counted]));
}

#[test]
fn a_result_is_kept_whole_or_not_at_all() {
    let mut begun = Begun::new();
    begun.store.add_sent(begun.run, first(task(0))).unwrap();
    begun.execute(
        "CREATE TRIGGER t BEFORE INSERT ON trials WHEN new.suite_run = 1 BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    let trials = [outcome(&trial(0)), outcome(&trial(1))];
    let error = begun.store.add_call(begun.run, &counted(task(0), 1, 5), &trials).unwrap_err().to_string();
    assert!(error.contains("cannot keep a call") && error.contains("duet.db"), "{error}");
    let stored = begun.store.load("latest").unwrap();
    assert_eq!((stored.calls[0].end, stored.trials.len()), (CallEnd::Sent, 0));
}

#[test]
fn a_store_that_was_made_without_calls_still_opens_and_takes_them() {
    let mut begun = Begun::new();
    begun.execute("DROP TABLE calls; DROP TABLE sittings");
    assert_eq!(Store::open_to_read(&begun.path).unwrap().load("latest").unwrap().abandoned, []);
    let path = begun.path.clone();
    begun.store = Store::open_existing(&path).unwrap();
    assert_eq!(begun.accounts(), []);
    begun.call(&counted(task(0), 1, 5), &[]);
    assert_eq!(begun.accounts().len(), 1);
}

#[test]
fn whom_the_last_sitting_that_ended_abandoned_is_known_until_another_has_ended() {
    let mut begun = Begun::new();
    let summary = RunSummary { measured: Duration::ZERO, complete: false };
    let abandoned = |begun: &Begun| begun.store.load("latest").unwrap().abandoned;
    let place = Path::new("/nowhere");
    begun.store.begin_sitting(begun.run, "r1-a", place).unwrap();
    assert_eq!(abandoned(&begun), []);
    let left = [Abandoned { benchmark: 0, reason: "connection reset".into() }];
    begun.store.end_sitting(begun.run, &summary, &left).unwrap();
    assert_eq!(abandoned(&begun), left);
    // The next one has begun, and may be killed.
    begun.store.begin_sitting(begun.run, "r1-b", place).unwrap();
    assert_eq!(abandoned(&begun), left);
    begun.store.end_sitting(begun.run, &RunSummary { complete: true, ..summary }, &[]).unwrap();
    assert_eq!((abandoned(&begun), begun.store.load("latest").unwrap().complete), (Vec::new(), true));
    begun.execute("UPDATE sittings SET abandoned = '[7'");
    let error = begun.store.load("latest").unwrap_err().to_string();
    assert!(error.contains("`r1` cannot be read, it was changed or damaged"), "{error}");
}

#[test]
fn sittings_that_did_not_remove_what_they_deployed_are_known() {
    let mut begun = Begun::new();
    let place = Path::new("/scratch/duet-1-0");
    for name in ["r1-a", "r1-b"] {
        begun.store.begin_sitting(begun.run, name, place).unwrap();
    }
    begun.store.sitting_removed(begun.run, "r1-a").unwrap();
    let left = begun.store.sittings_left(begun.run).unwrap();
    assert_eq!(left, [Sitting { name: "r1-b".into(), place: place.into() }]);
    let of = |run: &str| {
        let expires = std::time::UNIX_EPOCH;
        Leftover { name: format!("duet-{run}"), run: run.into(), expires }.is_of("r1-b")
    };
    assert!(of("r1-b") && of("r1-b-0") && of("r1-b-11"));
    assert!(!of("r1-ba") && !of("r1-b-x") && !of("r1") && !of("r11-b"));
}

#[test]
fn no_sitting_begins_while_another_of_its_run_goes_on() {
    let mut begun = Begun::new();
    let alive = Scratch::in_memory().unwrap();
    assert_eq!(begun.store.begin_sitting(begun.run, "r1-a", alive.path()).unwrap(), Some(Vec::new()));
    let mut begin = |run| begun.store.begin_sitting(run, "r1-b", Path::new("/nowhere")).unwrap();
    assert_eq!(begin(begun.run), None);
    let left = Sitting { name: "r1-a".into(), place: alive.path().into() };
    drop(alive);
    assert_eq!(begin(begun.run), Some(vec![left]), "what was refused was noted, or the dead one is gone");
}

#[test]
fn what_cannot_be_read_of_a_call_is_not_known_and_stops_nothing() {
    let mut begun = Begun::new();
    begun.call(&counted(task(0), 1, 5), &[]);
    begun.execute("UPDATE calls SET end = 'evaporated', instance = '{', cold = NULL");
    let [account] = &begun.accounts()[..] else { panic!("one call") };
    assert_eq!((account.end, account.usage, &account.instance), (CallEnd::Failed, None, &None));
}

#[test]
fn the_head_of_a_run_on_a_fleet_is_sealed() {
    // A change here needs a way to read what is in stores already. DUET_BLESS=1 writes the file.
    let begun = Begun::new();
    let connection = rusqlite::Connection::open(&begun.path).unwrap();
    let head: String = connection.query_row("SELECT head FROM runs", [], |row| row.get(0)).unwrap();
    let mut head: serde_json::Value = serde_json::from_str(&head).unwrap();
    head.sort_all_objects();
    let sealed = format!("{:#}\n{:#}\n", head["fleet"], head["spec"]["fleet"]);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/store-format-2-fleet.txt");
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::write(&golden, &sealed).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&golden).unwrap(), sealed);
}
