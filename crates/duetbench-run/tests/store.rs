//! The store: what goes in comes out, and the format is sealed.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use duetbench_core::analysis::TrialFailure;
use duetbench_core::noise::{Conditions, Facts};
use duetbench_core::plan::{Capacity, Discovered, Found, Mode, Plan, Style};
use duetbench_core::report::VersionInfo;
use duetbench_core::sample::{Coordinates, Memory};
use duetbench_core::spec::{Decision, Effort, ModeChoice, Selection};
use duetbench_core::{BenchmarkId, Environment, Role, Sample, Schedule, Spec, Trial};
use duetbench_run::engine::{RunSummary, TrialOutcome};
use duetbench_run::source::VersionRequest;
use duetbench_run::store::{Origin, RunHead, Store};

fn spec() -> Spec {
    Spec {
        selection: Selection { bench: Some("A".into()), exclude: None, packages: vec!["./...".into()] },
        effort: Effort {
            forks: None,
            budget: Some(Duration::from_secs(90)),
            builds: None,
            fixed: false,
            confirm: true,
        },
        decision: Decision::default(),
        mode: ModeChoice::Auto,
        measure_identical: false,
        seed: 7,
        harness_args: vec!["-short".into()],
    }
}

fn environment() -> Environment {
    Environment {
        platform: "linux/amd64".into(),
        kernel: "6".into(),
        cpu_model: "a processor".into(),
        cpus_usable: vec![0, 1],
        cores_physical: 2,
        smt: false,
        governor: None,
        load_1min: 0.5,
        steal_share: None,
        toolchain: "go1.26.0".into(),
        duet_version: "0.1.0".into(),
    }
}

fn head() -> RunHead {
    let found = |name: &str| Discovered {
        id: BenchmarkId { package: "example.com/p".into(), name: name.into() },
        style: Style::Rewritten,
        first_ns: 100,
        failure: None,
    };
    let (baseline, candidate) = ([found("BenchmarkA"), found("BenchmarkOld")], [found("BenchmarkA")]);
    let capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: true };
    let plan = Plan::new(
        &spec(),
        &Found { baseline: &baseline, candidate: &candidate, identical: &BTreeSet::new() },
        capacity,
    );
    let version =
        |name: &str| VersionInfo { requested: name.into(), resolved: name.into(), artifact_digest: "00".into() };
    RunHead {
        started: "2026-01-02T03:04:05Z".into(),
        spec: spec(),
        plan,
        baseline: version("old"),
        candidate: version("new"),
        environment: environment(),
        facts: Facts {
            cpu_model: None,
            cpus_usable: 2,
            cpus_online: 2,
            cores_physical: 2,
            governor: None,
            frequency_max_khz: None,
            quota_cpus: None,
            virtualised: Some(true),
        },
        warnings: vec!["a warning".into()],
        origin: Some(Origin {
            cwd: "/home/user/project".into(),
            versions: [VersionRequest::Revision("v1".into()), VersionRequest::WorkTree],
        }),
    }
}

fn samples(trial: &Trial) -> Vec<Sample> {
    let sample = |role, iteration| Sample {
        at: Coordinates {
            role,
            instance: 0,
            build: trial.build,
            round: trial.round,
            suite_run: trial.suite_run,
            fork: trial.fork,
            iteration,
        },
        block: iteration,
        invocations: 10,
        wall_ns: u64::from(iteration) + 1000,
        cpu_ns: (iteration > 0).then_some(900),
        start_ns: 1 << 40,
        memory: (iteration == 1).then_some(Memory { allocations: 3, bytes: 48, collections: 1, invocations: 20 }),
        warm_up: iteration == 0,
    };
    Role::BOTH.iter().flat_map(|role| (0..2).map(|i| sample(*role, i))).collect()
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sub/duet.db");
    (dir, path)
}

/// A complete run of two suite runs and one failed trial; gives its samples.
fn fill(path: &Path) -> Vec<Sample> {
    let mut store = Store::open(path).unwrap();
    let head = head();
    let run = store.begin(&head).unwrap();
    let (mut all, schedule) = (Vec::new(), Schedule::new(&head.plan));
    for suite_run in 0..2 {
        for trial in schedule.suite_run(0, suite_run) {
            let result = Ok(samples(&trial));
            store
                .add_trial(
                    run,
                    &trial,
                    &TrialOutcome {
                        result,
                        wall: Duration::from_millis(5),
                        conditions: Some(Conditions::default()),
                        mode: Mode::InterleavedOneCore,
                    },
                )
                .unwrap();
            all.extend(samples(&trial));
        }
    }
    let failed = Err(TrialFailure { role: Some(Role::Candidate), reason: "no luck".into(), discarded: false });
    store
        .add_trial(
            run,
            &schedule.suite_run(0, 2)[0],
            &TrialOutcome { result: failed, wall: Duration::ZERO, conditions: None, mode: Mode::InterleavedOneCore },
        )
        .unwrap();
    store.end(run, &RunSummary { measured: Duration::from_millis(1500), complete: true }, Some(0.25)).unwrap();
    all
}

#[test]
fn what_goes_in_comes_out() {
    let (_dir, path) = place();
    let samples = fill(&path);
    let run = Store::open_existing(&path).unwrap().load("latest").unwrap();
    let mut expected = head();
    expected.environment.steal_share = Some(0.25);
    assert_eq!((run.name.as_str(), run.complete, run.measured_s), ("r1", true, 1.5));
    assert_eq!(run.head, expected);
    assert_eq!(run.measured()[0].samples, samples);
    let failure = TrialFailure { role: Some(Role::Candidate), reason: "no luck".into(), discarded: false };
    assert_eq!(run.measured()[0].failed_trials, [failure]);
}

#[test]
fn a_trial_is_kept_whole_or_not_at_all() {
    let (_dir, path) = place();
    let before = fill(&path);
    let fails_half_way =
        "CREATE TRIGGER t BEFORE INSERT ON samples WHEN new.iteration = 1 BEGIN SELECT RAISE(ABORT, 'full'); END";
    rusqlite::Connection::open(&path).unwrap().execute_batch(fails_half_way).unwrap();
    let mut store = Store::open(&path).unwrap();
    let run = store.begin(&head()).unwrap();
    let trial = Schedule::new(&head().plan).suite_run(0, 0)[0];
    assert!(
        store
            .add_trial(
                run,
                &trial,
                &TrialOutcome {
                    result: Ok(samples(&trial)),
                    wall: Duration::ZERO,
                    conditions: None,
                    mode: Mode::InterleavedOneCore
                }
            )
            .is_err()
    );
    assert!(store.load("r2").unwrap().measured()[0].samples.is_empty());
    assert_eq!(store.load("r1").unwrap().measured()[0].samples, before);
}

#[test]
fn the_format_is_sealed() {
    // A change here needs a new format number and a way to read the old one. DUET_BLESS=1 writes the file.
    let (_dir, path) = place();
    fill(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let head: String = connection.query_row("SELECT head FROM runs", [], |row| row.get(0)).unwrap();
    let select = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(select).unwrap();
    let tables: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let head: serde_json::Value = serde_json::from_str(&head).unwrap();
    let sealed = format!("{}\n{head:#}\n", tables.join("\n"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/store-format-2.txt");
    if std::env::var_os("DUET_BLESS").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, &sealed).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&golden).unwrap(), sealed);
}

#[test]
fn what_is_no_store_is_refused_by_name() {
    let (dir, path) = place();
    assert!(Store::open_existing(&path).unwrap_err().to_string().contains("sub/duet.db"));
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "no database, but long enough for one that looks twice ".repeat(20)).unwrap();
    assert!(Store::open(&text).unwrap_err().to_string().contains("notes.txt"));
    fill(&path);
    for name in ["r7", "r", "", "first"] {
        let error = Store::open(&path).unwrap().load(name).unwrap_err();
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    }
}

#[test]
fn a_new_folder_is_invisible_to_git() {
    let (dir, path) = place();
    fill(&path);
    assert_eq!(std::fs::read_to_string(dir.path().join("sub/.gitignore")).unwrap(), "*\n");
}
