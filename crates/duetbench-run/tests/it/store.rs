//! The store: what goes in comes out, and the format is sealed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use duetbench_core::analysis::TrialFailure;
use duetbench_core::hotspot::{BenchmarkProfile, ProfileOutcome};
use duetbench_core::instructions::{BenchmarkInstructions, CountOutcome};
use duetbench_core::noise::Conditions;
use duetbench_core::plan::{Capacity, Discovered, Found, Mode, Plan, Repetitions, SoloPlan};
use duetbench_core::recording::Level;
use duetbench_core::report::VersionInfo;
use duetbench_core::reported::{PairReading, Readings, ReadingsOutcome, UnitReadings};
use duetbench_core::sample::{Coordinates, Cycle, Memory};
use duetbench_core::spec::{Effort, HarnessSpec, LayoutChoice, Selection, SoloSpec};
use duetbench_core::{BenchmarkId, Role, Sample, Schedule, Spec, Trial};
use duetbench_run::engine::{RunSummary, TrialOutcome};
use duetbench_run::source::VersionRequest;
use duetbench_run::store::{Origin, RunHead, SoloHead, SoloOrigin, Store};

use crate::head_support;
use crate::head_support::{environment, facts, found, version};

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
        harness_args: vec!["-short".into()],
        ..head_support::spec()
    }
}

pub(crate) fn head() -> RunHead {
    let found = |name: &str| found("example.com/p", name);
    let (baseline, candidate) = ([found("BenchmarkA"), found("BenchmarkOld")], [found("BenchmarkA")]);
    let capacity = Capacity { cpus: 2, cores_physical: 2, asked: None, relinks: Some(LayoutChoice::Random) };
    let plan = Plan::new(&spec(), &Found::of(&baseline, &candidate), capacity);
    RunHead {
        started: "2026-01-02T03:04:05Z".into(),
        spec: spec(),
        plan,
        baseline: version("old"),
        candidate: version("new"),
        environment: environment(),
        facts: facts(),
        warnings: vec!["a warning".into()],
        origin: Some(Origin {
            cwd: "/home/user/project".into(),
            versions: [VersionRequest::Revision("v1".into()), VersionRequest::WorkTree],
        }),
        fleet: None,
        layouts: None,
    }
}

pub(crate) fn solo_head() -> SoloHead {
    let found = |name: &str, failure: Option<&str>| Discovered {
        failure: failure.map(String::from),
        ..found("example.com/p", name)
    };
    let repetitions = Repetitions { suite_runs: 2, forks: 2, iterations: 3, warmup: 1, iteration_ns: 100_000_000 };
    let selection = Selection { bench: None, exclude: Some("B".into()), packages: vec!["./...".into()] };
    let spec = SoloSpec {
        selection,
        repetitions,
        seed: 7,
        harness_args: vec!["-short".into()],
        harness: HarnessSpec::default(),
    };
    let all = [found("BenchmarkA", None), found("BenchmarkBroken", Some("no luck"))];
    SoloHead {
        started: "2026-01-02T03:04:05Z".into(),
        plan: SoloPlan::new(&spec, &all, &std::collections::BTreeMap::new()),
        spec,
        version: VersionInfo { resolved: "1a2b".into(), ..version("v1") },
        artifacts: [("example.com/p".to_owned(), "0a".to_owned())].into(),
        environment: environment(),
        facts: facts(),
        warnings: vec!["a warning".into()],
        origin: Some(SoloOrigin { cwd: "/home/user/project".into(), version: VersionRequest::Revision("v1".into()) }),
    }
}

/// Outcome of a process of one version: iteration `i` takes `100 (suite run) + 10 (fork) + i` nanoseconds per invocation, and the
/// first of four warms up.
fn alone(trial: &Trial) -> TrialOutcome {
    let sample = |i: u32| {
        let base = samples(trial)[0];
        let ns = u64::from(100 * (trial.suite_run + 1) + 10 * trial.fork + i);
        let at = Coordinates { role: Role::Candidate, iteration: i, ..base.at };
        Sample { at, invocations: 1_000_000, wall_ns: 1_000_000 * ns, warm_up: i == 0, ..base }
    };
    let samples: Vec<Sample> = (0..4).map(sample).collect();
    // A second beside the iterations that count.
    let measured_ns: u64 = samples[1..].iter().map(|s| s.wall_ns).sum();
    let wall = Duration::from_nanos(1_000_000_000 + measured_ns);
    TrialOutcome { result: Ok(samples), wall, conditions: None, mode: Mode::Sequential }
}

/// A complete run of one version in which the process `missing` (suite run, fork) failed.
fn fill_solo(path: &Path, missing: Option<(u32, u32)>) {
    let mut store = Store::open(path).unwrap();
    let head = solo_head();
    let run = store.begin(&head).unwrap();
    for suite_run in 0..2 {
        for trial in head.plan.suite_run(suite_run, &[Some(suite_run)]) {
            let failed = Err(TrialFailure { role: None, reason: "no luck\nat all".into(), discarded: false });
            let outcome = match missing == Some((trial.suite_run, trial.fork)) {
                true => TrialOutcome { result: failed, ..alone(&trial) },
                false => alone(&trial),
            };
            store.add_trial(run, &trial, &outcome).unwrap();
        }
    }
    store.end(run, &RunSummary { measured: Duration::from_secs(5), complete: true }, None).unwrap();
}

pub(crate) fn samples(trial: &Trial) -> Vec<Sample> {
    let sample = |role, iteration| Sample {
        at: trial.coordinates(role, iteration),
        block: iteration,
        invocations: 10,
        wall_ns: u64::from(iteration) + 1000,
        cpu_ns: (iteration > 0).then_some(900),
        start_ns: 1 << 40,
        memory: (iteration == 1).then_some(Memory {
            allocations: Some(3),
            bytes: 48,
            collections: 1,
            invocations: 20,
            cycle: Some(Cycle {
                cost_ns: 5_000_000,
                period_bytes: 4 << 20,
                background_ns: (role == Role::Candidate).then_some(3_000_000),
            }),
        }),
        cycles: Some(iteration),
        warm_up: iteration == 0,
    };
    Role::BOTH.iter().flat_map(|role| (0..2).map(|i| sample(*role, i))).collect()
}

pub(crate) fn place() -> (tempfile::TempDir, PathBuf) {
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
    let run = Store::open_existing(&path).unwrap().load("latest").unwrap().comparison().unwrap();
    let mut expected = head();
    expected.environment.steal_share = Some(0.25);
    assert_eq!((run.name.as_str(), run.complete, run.measured_s), ("r1", true, 1.5));
    assert_eq!(run.head, expected);
    assert_eq!(run.measured()[0].samples, samples);
    let failure = TrialFailure { role: Some(Role::Candidate), reason: "no luck".into(), discarded: false };
    assert_eq!(run.measured()[0].failed_trials, [failure]);
}

#[test]
fn a_round_that_confirms_does_not_change_the_mode_that_is_judged() {
    let (_dir, path) = place();
    let judged = fill(&path);
    let mut store = Store::open(&path).unwrap();
    let run = store.reopen("r1").unwrap();
    let trial = Schedule::new(&head().plan).suite_run(1, 0)[0];
    let outcome =
        TrialOutcome { result: Ok(samples(&trial)), wall: Duration::ZERO, conditions: None, mode: Mode::Duet };
    store.add_trial(run, &trial, &outcome).unwrap();
    let stored = store.load("r1").unwrap();
    assert_eq!(stored.recording(Role::Baseline).benchmarks[0].grid.cells().len(), 2);
    let run = stored.comparison().unwrap();
    assert_eq!(run.plan().benchmarks[0].mode, Mode::InterleavedOneCore);
    assert_eq!(run.measured()[0].samples, judged);
}

/// A fork pair of a duet whose sides exchange cores at every block, of which one is slower by a fifth.
fn on_unlike_cores(trial: &Trial) -> Vec<Sample> {
    let slow = |s: &Sample| (s.at.role == Role::Baseline) == s.block.is_multiple_of(2);
    let of_block = |block| samples(trial).into_iter().map(move |s| (block, s));
    let slice = |(block, s): (u32, Sample)| {
        let at = Coordinates { iteration: 2 * block + s.at.iteration, ..s.at };
        let s = Sample { at, block, warm_up: false, ..s };
        Sample { wall_ns: if slow(&s) { 1200 } else { 1000 }, ..s }
    };
    (0..10).flat_map(of_block).map(slice).collect()
}

#[test]
fn a_run_that_ended_when_its_cores_proved_unlike_is_not_judged_by_what_they_gave() {
    let (_dir, path) = place();
    let mut store = Store::open(&path).unwrap();
    let mut head = head();
    head.plan.benchmarks[0].mode = Mode::Duet;
    let run = store.begin(&head).unwrap();
    let schedule = Schedule::new(&head.plan);
    let mut judged = Vec::new();
    for suite_run in 0..4 {
        let trial = schedule.suite_run(0, suite_run)[0];
        let result = Ok(on_unlike_cores(&trial));
        let outcome = TrialOutcome { result, wall: Duration::ZERO, conditions: None, mode: Mode::Duet };
        store.add_trial(run, &trial, &outcome).unwrap();
        judged.push(store.load("r1").unwrap().comparison().unwrap().measured()[0].samples.len());
    }
    assert_eq!(judged, [40, 80, 120, 0]);
    assert!(store.load("r1").unwrap().recording(Role::Baseline).benchmarks.is_empty());
    let mut run = store.load("r1").unwrap().comparison().unwrap();
    // Judging it anew by another threshold does not change how it was measured.
    run.head.spec.decision.threshold = 1.0;
    let planned = run.plan().benchmarks.remove(0);
    assert_eq!(planned.mode, Mode::InterleavedOneCore);
    assert!(planned.mode_reason.starts_with("fell back from"), "{}", planned.mode_reason);
}

#[test]
fn a_trial_is_kept_whole_or_not_at_all() {
    let (_dir, path) = place();
    let before = fill(&path);
    let fails_half_way =
        "CREATE TRIGGER t BEFORE INSERT ON samples WHEN new.iteration = 1 BEGIN SELECT RAISE(ABORT, 'full'); END";
    let mut store = Store::open(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch(fails_half_way).unwrap();
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
    assert!(store.load("r2").unwrap().comparison().unwrap().measured()[0].samples.is_empty());
    assert_eq!(store.load("r1").unwrap().comparison().unwrap().measured()[0].samples, before);
}

#[test]
fn the_format_is_sealed() {
    // A change here needs a new format number and a way to read the old one. DUET_BLESS=1 writes the file.
    let (_dir, path) = place();
    fill(&path);
    sealed(&path, "store-format-2.txt");
}

#[test]
fn the_head_of_a_run_of_one_version_is_sealed() {
    let (_dir, path) = place();
    fill_solo(&path, None);
    sealed(&path, "store-format-2-solo.txt");
}

/// Compares tables and the head of the only run with a golden file.
#[track_caller]
fn sealed(path: &Path, golden: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let head: String = connection.query_row("SELECT head FROM runs", [], |row| row.get(0)).unwrap();
    let select = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(select).unwrap();
    let tables: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut head: serde_json::Value = serde_json::from_str(&head).unwrap();
    head.sort_all_objects();
    let sealed = format!("{}\n{head:#}\n", tables.join("\n"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(golden);
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

#[test]
fn a_run_of_one_version_comes_back_and_is_no_comparison() {
    let (_dir, path) = place();
    fill_solo(&path, None);
    fill(&path);
    let store = Store::open(&path).unwrap();
    let run = store.load("r1").unwrap().solo().unwrap();
    assert_eq!((run.head.clone(), run.complete, run.trials.len()), (solo_head(), true, 4));
    assert_eq!(run.measured()[0].samples.len(), 16);
    for (error, words) in [
        (store.load("r1").unwrap().comparison().unwrap_err(), ["`r1` measured one version", "`duet tune r1`"]),
        (store.load("r2").unwrap().solo().unwrap_err(), ["`r2` is a comparison", "`duet compare --resume r2`"]),
    ] {
        let said = format!("{error} {}", error.advice().unwrap());
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}

#[test]
fn what_only_a_newer_duet_can_read_is_said_to_be_so() {
    let (_dir, path) = place();
    fill_solo(&path, None);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE runs SET head = replace(head, '\"solo\"', '\"fleet\"')", []).unwrap();
    let error = Store::open(&path).unwrap().load("r1").unwrap_err().to_string();
    assert!(error.contains("`fleet`") && error.contains("newer duet"), "{error}");
}

#[test]
fn a_run_of_one_version_is_a_recording_of_three_levels() {
    let (_dir, path) = place();
    fill_solo(&path, None);
    let recording = Store::open(&path).unwrap().load("r1").unwrap().recording(Role::Baseline);
    assert_eq!((recording.name.as_str(), recording.warnings.len()), ("r1", 0));
    assert_eq!(recording.levels, [Level::SuiteRun, Level::Fork, Level::Iteration]);
    let a = &recording.benchmarks[0];
    assert_eq!(
        (a.benchmark.as_str(), a.unit.as_str(), a.grid.shape()),
        ("example.com/p.BenchmarkA", "ns/op", &[2, 2, 3][..])
    );
    // The warm-up is no value …
    let values = [101.0, 102.0, 103.0, 111.0, 112.0, 113.0, 201.0, 202.0, 203.0, 211.0, 212.0, 213.0];
    assert_eq!(a.grid.cells(), values);
    // … but part of what a fork costs.
    assert!((a.cost.innermost_s - 0.157).abs() < 1e-9, "{}", a.cost.innermost_s);
    assert!(a.cost.overhead_s[0] == 0.0 && (a.cost.overhead_s[1] - 1.0).abs() < 1e-9, "{:?}", a.cost.overhead_s);
}

#[test]
fn a_process_that_failed_is_a_gap_and_a_warning() {
    let (_dir, path) = place();
    fill_solo(&path, Some((1, 0)));
    let stored = Store::open(&path).unwrap().load("r1").unwrap();
    let recording = stored.recording(Role::Candidate);
    assert_eq!(recording.benchmarks[0].grid.prefix(&[2, 2, 1]), [101.0, 111.0, 211.0]);
    assert_eq!(recording.warnings, ["`example.com/p.BenchmarkA` failed in suite run 2, fork 1: no luck"]);
    let provenance = stored.provenance(Role::Candidate);
    assert_eq!(provenance.warmup["example.com/p.BenchmarkA"], 1);
    assert_eq!(provenance.machine, "a processor, 2 processors, linux/amd64");
}

#[test]
fn each_version_of_a_comparison_is_a_recording_of_its_forks() {
    let (_dir, path) = place();
    fill(&path);
    let stored = Store::open(&path).unwrap().load("r1").unwrap();
    for role in Role::BOTH {
        let recording = stored.recording(role);
        assert_eq!(recording.levels, [Level::SuiteRun, Level::Fork]);
        let a = &recording.benchmarks[0];
        // One slice of ten invocations counts in each of the two forks; the failed one was to be made up for.
        assert_eq!((a.grid.shape(), a.grid.cells()), (&[2, 1][..], &[100.1, 100.1][..]));
        assert_eq!(a.cost.innermost_s, 0.0025);
    }
    // Both forks are of one build pair.
    let units = stored.recording_of_units(Role::Candidate);
    assert_eq!(units.benchmarks[0].grid.cells(), [100.1]);
}

#[test]
fn readings_are_kept_with_their_run_and_one_that_is_none_is_an_error() {
    let (_dir, path) = place();
    fill(&path);
    // As one was left by a duet that knew no readings.
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP TABLE readings").unwrap();
    let id = BenchmarkId { package: "p".into(), name: "A".into() };
    let pair = |baseline, candidate| PairReading { baseline, candidate };
    let pairs = vec![pair(Some(0.1 + 0.2), None), pair(None, Some(-1e300)), pair(None, None)];
    let read = UnitReadings { unit: "rows/s".into(), pairs };
    let readings = [
        Readings { id: id.clone(), outcome: ReadingsOutcome::Read(vec![read]) },
        Readings { id, outcome: ReadingsOutcome::Failed { reason: "no luck".into() } },
    ];
    let mut store = Store::open_existing(&path).unwrap();
    assert_eq!(store.load("r1").unwrap().readings, []);
    let run = store.reopen("r1").unwrap();
    readings.iter().for_each(|one| store.add_readings(run, one).unwrap());
    store.begin(&head()).unwrap();
    assert_eq!(store.load("r1").unwrap().comparison().unwrap().readings, readings);
    assert_eq!(store.load("r2").unwrap().readings, []);
    // A verdict rests on it, so that it must not be left out.
    let unreadable = "INSERT INTO readings (run, readings) VALUES (1, '{\"of\": \"a newer duet\"}')";
    rusqlite::Connection::open(&path).unwrap().execute_batch(unreadable).unwrap();
    assert!(store.load("r1").unwrap_err().to_string().contains("what a benchmark reported cannot be understood"));
}

#[test]
fn instructions_are_kept_with_their_run_also_in_a_store_that_was_made_without_them() {
    let (_dir, path) = place();
    fill(&path);
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP TABLE instructions").unwrap();
    let id = BenchmarkId { package: "p".into(), name: "A".into() };
    let counts = BenchmarkInstructions { id, outcome: CountOutcome::Failed { reason: "no luck".into() } };
    let mut store = Store::open_existing(&path).unwrap();
    assert_eq!(store.load("r1").unwrap().instructions, []);
    let run = store.reopen("r1").unwrap();
    store.add_instructions(run, &counts).unwrap();
    store.begin(&head()).unwrap();
    let unreadable = "INSERT INTO instructions (run, counts) VALUES (1, '{\"of\": \"a newer duet\"}')";
    rusqlite::Connection::open(&path).unwrap().execute_batch(unreadable).unwrap();
    assert_eq!(store.load("r1").unwrap().comparison().unwrap().instructions, [counts]);
    assert_eq!(store.load("r2").unwrap().instructions, []);
    store.remove(run).unwrap();
    let left = "SELECT count(*) FROM instructions";
    let left: i64 = rusqlite::Connection::open(&path).unwrap().query_row(left, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "they go with their run");
}

#[test]
fn profiles_are_kept_with_their_run_also_in_a_store_that_was_made_without_them() {
    let (_dir, path) = place();
    fill(&path);
    // As one was left by a duet that knew no profiles.
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP TABLE profiles").unwrap();
    let id = BenchmarkId { package: "p".into(), name: "A".into() };
    let profile = BenchmarkProfile { id, outcome: ProfileOutcome::Failed { reason: "no luck".into() } };
    let mut store = Store::open_existing(&path).unwrap();
    assert_eq!(store.load("r1").unwrap().profiles, []);
    let run = store.reopen("r1").unwrap();
    store.add_profile(run, &profile).unwrap();
    store.begin(&head()).unwrap();
    let unreadable = "INSERT INTO profiles (run, profile) VALUES (1, '{\"of\": \"a newer duet\"}')";
    rusqlite::Connection::open(&path).unwrap().execute_batch(unreadable).unwrap();
    assert_eq!(store.load("r1").unwrap().comparison().unwrap().profiles, [profile]);
    assert_eq!(store.load("r2").unwrap().profiles, []);
    assert_eq!(store.profiles_dir("r1"), path.with_file_name("profiles").join("r1"));
}

#[test]
fn a_store_that_was_made_before_collections_were_counted_is_read_and_written_on() {
    let (_dir, path) = place();
    let now = fill(&path);
    let drop = |column| format!("ALTER TABLE samples DROP COLUMN {column};");
    let columns = ["cycles", "cycle_cost_ns", "cycle_bytes", "cycle_background_ns"].map(drop).concat();
    rusqlite::Connection::open(&path).unwrap().execute_batch(&columns).unwrap();
    let mut store = Store::open_existing(&path).unwrap();
    let read = store.load("r1").unwrap().comparison().unwrap().measured()[0].samples.clone();
    let then = |s: &Sample| Sample { cycles: None, memory: s.memory.map(|m| Memory { cycle: None, ..m }), ..*s };
    assert_eq!(read, now.iter().map(then).collect::<Vec<_>>());
    let run = store.begin(&head()).unwrap();
    let trial = Schedule::new(&head().plan).suite_run(0, 0)[0];
    let result = Ok(samples(&trial));
    let (wall, mode) = (Duration::ZERO, Mode::InterleavedOneCore);
    store.add_trial(run, &trial, &TrialOutcome { result, wall, conditions: None, mode }).unwrap();
    let written = Store::open(&path).unwrap().load("r2").unwrap().comparison().unwrap();
    assert_eq!(written.measured()[0].samples, samples(&trial));
}

/// A trial with so many times its samples.
pub(crate) fn outcome_of(trial: &Trial, times: usize) -> TrialOutcome {
    let result = Ok(samples(trial).repeat(times));
    TrialOutcome { result, wall: Duration::ZERO, conditions: None, mode: Mode::InterleavedOneCore }
}
