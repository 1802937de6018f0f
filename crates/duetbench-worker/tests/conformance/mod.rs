//! Duties of every engine, unchanged: the same cases for workers on this machine and for AWS Lambda.
//!
//! Each case sends real tasks, whose programs are scripts that behave or do not, and counts what comes back.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "every engine's tests include all of it; a test may"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use duetbench_core::fleet::{CallEnd, Ended, Rate, Sending, Task};
use duetbench_core::plan::{Design, ExecutionConfiguration, Mode, Plan, PlannedBenchmark, Purpose, Style};
use duetbench_core::spec::{Arch, Decision, EngineName, FleetSpec};
use duetbench_core::{BenchmarkId, Trial};
use duetbench_run::RunError;
use duetbench_run::engine::TrialOutcome;
use duetbench_run::fleet::bundle::{Member, pack};
use duetbench_run::fleet::campaign::{Call, FleetJob, FleetObserver, FleetProgress, FleetSummary, measure};
use duetbench_run::fleet::package::{Recipes, write_zip};
use duetbench_run::fleet::smoke::smoke;
use duetbench_run::fleet::wire::Recipe;
use duetbench_run::fleet::{Deployed, Deployment, Engine, Limits};

/// The script, which behaves as its first argument says. The second is a folder in which it leaves traces.
const SCRIPT: &str = r#"#!/bin/sh
case $1 in
ok*) ;;
sleep*) /bin/sleep 0.3 ;;
fails*) echo "it cannot be" >&2; exit 7 ;;
dies*) kill -SEGV $$ ;;
hangs*) /bin/sleep 600 ;;
murders*) kill -9 $PPID ;;
once*) # kills its worker in the first of every three processes, as far as anybody counts
  n=$(/usr/bin/find "$2" -type f | /usr/bin/wc -l); : > "$2/$$"; [ $((n % 3)) -eq 0 ] && kill -9 $PPID ;;
babbles*) i=0; while [ $i -lt 2000 ]; do echo "and on and on and on $i" >&2; i=$((i + 1)); done; exit 1 ;;
tells*) /usr/bin/env | /bin/grep -c -E 'AWS|LAMBDA|SECRET' >&2; exit 1 ;;
esac
"#;

/// A package with that script on both sides.
pub struct Package {
    dir: tempfile::TempDir,
}

impl Package {
    pub fn new(worker: &Path) -> Package {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("script"), SCRIPT).unwrap();
        fs::set_permissions(at("script"), fs::Permissions::from_mode(0o755)).unwrap();
        let member = |place: &str| Member { place: place.into(), file: at("script") };
        pack(&[member("0/0"), member("1/0")], &at("p0.tar.zst")).unwrap();
        write_zip(&at("package.zip"), &stripped(worker, &at("worker")), &[at("p0.tar.zst")]).unwrap();
        Package { dir }
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("package.zip")
    }

    fn traces(&self) -> PathBuf {
        let traces = self.dir.path().join("traces");
        fs::create_dir_all(&traces).unwrap();
        traces
    }
}

/// A worker without what debuggers want, which is most of it in a test's build.
fn stripped(worker: &Path, place: &Path) -> PathBuf {
    let status = Command::new("strip").arg("-o").arg(place).arg(worker).status();
    assert!(status.is_ok_and(|s| s.success()), "`strip` must be installed, and {} be built", worker.display());
    place.to_owned()
}

/// Engine and package that a case works with.
pub struct World<'a> {
    pub engine: &'a dyn Engine,
    pub package: &'a Package,
    /// Tells deployments of one provider apart.
    pub name: &'a str,
}

static DEPLOYMENTS: AtomicU32 = AtomicU32::new(0);

impl World<'_> {
    pub fn deploy(&self, parallel: u32, call_max: Duration) -> Box<dyn Deployed + '_> {
        let number = DEPLOYMENTS.fetch_add(1, Ordering::Relaxed);
        let run = format!("{}-{number}", self.name);
        let wish = Deployment {
            package: &self.package.file(),
            run: &run,
            memory_mb: 2048,
            disk_mb: 512,
            arch: Arch::X86_64,
            call_max,
            parallel,
            expires: SystemTime::now() + Duration::from_secs(3600),
        };
        self.engine.deploy(&wish).unwrap()
    }

    fn limits(&self) -> Limits {
        self.engine.limits().unwrap()
    }
}

/// A suite of such scripts: every benchmark is named after what its script shall do.
pub fn plan(names: &[&str], units: u32, forks_per_unit: u32) -> Plan {
    let design = Design { units, forks_per_unit, doubled: 0, places: 1, by_build: false, sequential: false };
    let benchmark = |name: &&str| PlannedBenchmark {
        id: BenchmarkId { package: "scripts".into(), name: (*name).into() },
        style: Style::Process,
        mode: Mode::InterleavedAllCores,
        mode_reason: String::new(),
        configuration: ExecutionConfiguration {
            design,
            slice_ns: 1,
            trial_ns: 2,
            warmup_slices: 0,
            warm_ns: 0,
            purpose: Purpose::Judged,
        },
        trial_predicted_ns: 10_000_000,
        first_ns: 1_000_000,
        threads: 1,
        runtime_threads: false,
        profile: None,
        redefined: None,
    };
    Plan {
        seed: 5,
        benchmarks: names.iter().map(benchmark).collect(),
        excluded: Vec::new(),
        budget_ns: None,
        disturbed: false,
        confirm_rounds: 0,
        check: None,
        spread: false,
    }
}

/// Everything that was heard of a run.
#[derive(Default)]
pub struct Notes {
    pub calls: Vec<Call>,
    pub trials: Vec<(Trial, TrialOutcome)>,
    pub sent: u32,
    /// Sets the flag after so many results.
    pub interrupt_after: Option<usize>,
    pub interrupted: Arc<AtomicBool>,
    /// Ends keeping after so many results, as a killed coordinator or a full disk does.
    pub break_after: Option<usize>,
    pub in_flight_max: u32,
}

impl FleetObserver for Notes {
    fn sends(&mut self, _: Sending) -> Result<(), RunError> {
        self.sent += 1;
        Ok(())
    }

    fn ended(&mut self, call: &Call, trials: &[(Trial, TrialOutcome)]) -> Result<(), RunError> {
        if self.break_after.is_some_and(|most| self.counted().len() >= most) {
            return Err(RunError::stored_run("the coordinator is gone"));
        }
        self.calls.push(call.clone());
        self.trials.extend_from_slice(trials);
        if self.interrupt_after.is_some_and(|after| self.counted().len() >= after) {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn stands(&mut self, progress: &FleetProgress) {
        self.in_flight_max = self.in_flight_max.max(progress.tallied.in_flight);
    }
}

impl Notes {
    pub fn counted(&self) -> Vec<Task> {
        self.calls.iter().filter(|call| call.end == CallEnd::Counted).map(|call| call.sending.task).collect()
    }

    fn ends(&self) -> BTreeMap<&'static str, usize> {
        let mut ends = BTreeMap::new();
        self.calls.iter().for_each(|call| *ends.entry(call.end.word()).or_default() += 1);
        ends
    }

    /// No task and no trial counts twice.
    #[track_caller]
    pub fn check_once(&self) {
        let counted = self.counted();
        assert_eq!(
            counted.iter().collect::<BTreeSet<_>>().len(),
            counted.len(),
            "a task counts twice: {:?}",
            self.ends()
        );
        let trials: BTreeSet<_> = self.trials.iter().map(|(trial, _)| (trial.benchmark, trial.suite_run)).collect();
        assert_eq!(trials.len(), self.trials.len(), "a trial counts twice");
    }
}

/// Measures a plan with what earlier sittings gave.
pub fn run(
    world: &World<'_>,
    deployed: &dyn Deployed,
    (plan, past): (&Plan, &[(Trial, TrialOutcome)]),
    notes: &mut Notes,
) -> Result<FleetSummary, RunError> {
    run_limited(world.limits(), (deployed, world.package.traces()), (plan, past), notes)
}

fn run_limited(
    limits: Limits,
    (deployed, traces): (&dyn Deployed, PathBuf),
    (plan, past): (&Plan, &[(Trial, TrialOutcome)]),
    notes: &mut Notes,
) -> Result<FleetSummary, RunError> {
    let spec = FleetSpec {
        engine: EngineName::Here,
        memory_mb: 2048,
        arch: Arch::X86_64,
        parallel: 24,
        max_cost_usd: 100.0,
        max_time: Duration::from_secs(300),
        forks_per_call: 2,
    };
    let recipes = |planned: &PlannedBenchmark, _: u32| {
        let side = |side: u32| Recipe {
            program: format!("p0/{side}/0").into(),
            dir: "p0".into(),
            args: vec![planned.id.name.clone(), traces.display().to_string()],
            env: Vec::new(),
            hooked: false,
            exit_code: 0,
        };
        Some(Recipes { sides: [side(0), side(1)], members: vec!["p0".into()], package: 0 })
    };
    // Long enough that nobody is thought to hang on a busy machine, and short enough to wait for who does.
    let hangs = plan.benchmarks.iter().any(|b| b.id.name.starts_with("hangs"));
    let timeout = Duration::from_secs(if hangs { 3 } else { 10 });
    let decision = Decision::default();
    let job = FleetJob {
        plan,
        thresholds: (&decision).into(),
        spec: &spec,
        deployed: &[deployed],
        limits: Limits { parallel: 24, ..limits },
        call_max: Duration::from_secs(20),
        timeout,
        recipes: &recipes,
        rate: Rate { gb_second_x86_64: 1e-5, gb_second_arm64: 1e-5, million_requests: 0.2 },
        past,
        spent_usd: 0.0,
    };
    let interrupted = notes.interrupted.clone();
    measure(&job, notes, &interrupted)
}

const CALL_MAX: Duration = Duration::from_secs(20);

pub fn as_many_results_as_tasks(world: &World<'_>) {
    let deployed = world.deploy(24, CALL_MAX);
    let plan = plan(&["ok 1", "ok 2", "ok 3"], 10, 2);
    let mut notes = Notes::default();
    let summary = run(world, &*deployed, (&plan, &[]), &mut notes).unwrap();
    assert_eq!(
        (summary.ended, notes.counted().len(), notes.trials.len()),
        (Ended::Done, 30, 60),
        "{:?} {:?}",
        notes.ends(),
        summary.given_up
    );
    notes.check_once();
    assert!(notes.trials.iter().all(|(_, outcome)| outcome.result.as_ref().is_ok_and(|s| s.len() == 4)));
    let instances: BTreeSet<_> = notes.calls.iter().filter_map(|c| Some(c.instance.as_ref()?.id.clone())).collect();
    assert!(instances.len() > 1, "one instance did it all");
    let cold = notes.calls.iter().filter_map(|c| c.usage).filter(|usage| usage.cold).count();
    assert!((1..30).contains(&cold) && cold <= instances.len(), "{cold} cold calls on {} instances", instances.len());
    deployed.remove().unwrap();
}

pub fn a_benchmark_that_keeps_failing_is_given_up_and_the_others_are_not(world: &World<'_>) {
    let deployed = world.deploy(4, CALL_MAX);
    let plan = plan(&["ok", "fails", "dies", "hangs"], 8, 2);
    let mut notes = Notes::default();
    let summary = run(world, &*deployed, (&plan, &[]), &mut notes).unwrap();
    notes.check_once();
    let results = |benchmark: u32| notes.counted().iter().filter(|task| task.benchmark == benchmark).count();
    assert_eq!((summary.ended, results(0)), (Ended::Done, 8));
    for (benchmark, words) in [(1, "it cannot be"), (2, "killed by signal 11"), (3, "no end within")] {
        assert!((3..8).contains(&results(benchmark)), "{benchmark}: {}", results(benchmark));
        let mut gave_up = summary.given_up.iter().filter(|gave_up| gave_up.task.benchmark == benchmark);
        assert!(gave_up.all(|gave_up| gave_up.reason.contains(words)), "{:?}", summary.given_up);
        let of_it = summary.given_up.iter().filter(|gave_up| gave_up.task.benchmark == benchmark).count();
        assert_eq!(results(benchmark) + of_it, 8, "{benchmark}: a task came to no end");
    }
    deployed.remove().unwrap();
}

pub fn throttled_calls_are_sent_again_until_they_are_taken(world: &World<'_>) {
    let deployed = world.deploy(3, CALL_MAX);
    let plan = plan(&["sleep"], 24, 2);
    let mut notes = Notes::default();
    let summary = run(world, &*deployed, (&plan, &[]), &mut notes).unwrap();
    notes.check_once();
    assert_eq!((summary.ended, notes.counted().len()), (Ended::Done, 24), "{:?}", notes.ends());
    assert!(summary.tallied.throttled > 0 && summary.tallied.lost == 0, "{:?}", summary.tallied);
    deployed.remove().unwrap();
}

pub fn killed_instances_lose_nothing(world: &World<'_>) {
    let deployed = world.deploy(2, CALL_MAX);
    let names: Vec<String> = (0..20).map(|n| format!("ok {n}")).chain(["once".to_owned()]).collect();
    let plan = plan(&names.iter().map(String::as_str).collect::<Vec<_>>(), 4, 2);
    let mut notes = Notes::default();
    let summary = run(world, &*deployed, (&plan, &[]), &mut notes).unwrap();
    notes.check_once();
    assert!(summary.tallied.lost > 0, "nobody was killed");
    let counted: BTreeSet<Task> = notes.counted().into_iter().collect();
    let given_up: BTreeSet<Task> = summary.given_up.iter().map(|gave_up| gave_up.task).collect();
    assert_eq!(
        (summary.ended, counted.len() + given_up.len(), counted.is_disjoint(&given_up)),
        (Ended::Done, 84, true)
    );
    assert!(given_up.iter().all(|task| task.benchmark == 20), "{given_up:?}");
    deployed.remove().unwrap();
}

pub fn a_fleet_that_breaks_is_left_alone(world: &World<'_>) {
    let deployed = world.deploy(8, CALL_MAX);
    let names: Vec<String> = (0..40).map(|n| format!("murders {n}")).collect();
    let plan = plan(&names.iter().map(String::as_str).collect::<Vec<_>>(), 4, 2);
    let mut notes = Notes::default();
    let summary = run(world, &*deployed, (&plan, &[]), &mut notes).unwrap();
    assert_eq!((summary.ended, notes.counted().len()), (Ended::Broken, 0), "{:?}", notes.ends());
    assert!(notes.sent < 100, "{} calls were sent into the void", notes.sent);
    deployed.remove().unwrap();
}

pub fn an_interrupted_run_drains_and_is_gone_on_with(world: &World<'_>) {
    let deployed = world.deploy(4, CALL_MAX);
    let plan = plan(&["sleep 1", "sleep 2"], 10, 2);
    let mut notes = Notes { interrupt_after: Some(5), ..Notes::default() };
    let summary = run(world, &*deployed, (&plan, &[]), &mut notes).unwrap();
    let first = notes.counted().len();
    assert_eq!((summary.ended, summary.tallied.in_flight), (Ended::Interrupted, 0));
    assert!((5..20).contains(&first), "{first}");
    let mut rest = Notes::default();
    let summary = run(world, &*deployed, (&plan, &notes.trials), &mut rest).unwrap();
    assert_eq!((summary.ended, first + rest.counted().len()), (Ended::Done, 20));
    rest.calls.extend(notes.calls);
    rest.trials.extend(notes.trials);
    rest.check_once();
    deployed.remove().unwrap();
}

pub fn a_coordinator_that_is_gone_loses_only_what_it_had_not_kept(world: &World<'_>) {
    let deployed = world.deploy(4, CALL_MAX);
    let plan = plan(&["sleep 1", "sleep 2"], 8, 2);
    let mut notes = Notes { break_after: Some(6), ..Notes::default() };
    assert!(run(world, &*deployed, (&plan, &[]), &mut notes).is_err());
    assert_eq!(notes.counted().len(), 6);
    let mut rest = Notes::default();
    let summary = run(world, &*deployed, (&plan, &notes.trials), &mut rest).unwrap();
    assert_eq!((summary.ended, rest.counted().len()), (Ended::Done, 10));
    rest.calls.extend(notes.calls);
    rest.trials.extend(notes.trials);
    rest.check_once();
    deployed.remove().unwrap();
}

pub fn what_was_removed_is_called_no_more_and_another_one_takes_over(world: &World<'_>) {
    let (gone, next) = (world.deploy(4, CALL_MAX), world.deploy(4, CALL_MAX));
    gone.remove().unwrap();
    gone.remove().unwrap();
    let plan = plan(&["ok"], 6, 2);
    let mut notes = Notes::default();
    let summary = run(world, &*gone, (&plan, &[]), &mut notes).unwrap();
    assert_eq!((summary.ended, notes.counted().len()), (Ended::Refused, 0), "{:?}", notes.calls);
    let summary = run(world, &*next, (&plan, &[]), &mut notes).unwrap();
    assert_eq!((summary.ended, notes.counted().len()), (Ended::Done, 6));
    next.remove().unwrap();
}

pub fn answers_are_no_larger_than_asked_for(world: &World<'_>) {
    let deployed = world.deploy(4, CALL_MAX);
    let limits = Limits { payload_bytes: 1500, ..world.limits() };
    let mut notes = Notes::default();
    let plan = plan(&["ok", "babbles"], 4, 12);
    let summary = run_limited(limits, (&*deployed, world.package.traces()), (&plan, &[]), &mut notes).unwrap();
    notes.check_once();
    assert_eq!(summary.ended, Ended::Done);
    let told = notes.trials.iter().filter_map(|(_, outcome)| outcome.result.as_ref().err());
    let longest = told.map(|failure| failure.reason.len()).max().unwrap();
    assert!(longest < 420, "{longest}");
    deployed.remove().unwrap();
}

pub fn measured_code_sees_nothing_of_the_provider(world: &World<'_>) {
    let deployed = world.deploy(1, CALL_MAX);
    let mut notes = Notes::default();
    run(world, &*deployed, (&plan(&["tells"], 3, 2), &[]), &mut notes).unwrap();
    let (_, outcome) = notes.trials.first().unwrap();
    let failure = outcome.result.as_ref().unwrap_err();
    // The count of such variables is all that it prints.
    assert!(failure.reason.trim_end().ends_with('0'), "{}", failure.reason);
    deployed.remove().unwrap();
}

pub fn the_check_tells_each_step(world: &World<'_>) {
    let check = |package: &Path| {
        let run = format!("{}-{}", world.name, DEPLOYMENTS.fetch_add(1, Ordering::Relaxed));
        let wish = Deployment {
            package,
            run: &run,
            memory_mb: 2048,
            disk_mb: 512,
            arch: Arch::X86_64,
            call_max: CALL_MAX,
            parallel: 1,
            expires: SystemTime::now() + Duration::from_secs(3600),
        };
        let steps = smoke(world.engine, &wish);
        steps.iter().map(|step| (step.name, step.result.is_ok())).collect::<Vec<_>>()
    };
    let all = [("limits", true), ("deploy", true), ("cold", true), ("warm", true), ("remove", true)];
    assert_eq!(check(&world.package.file()), all);
    // A program that is no worker is found out, and removed all the same.
    let (file, program) = (world.package.dir.path().join("no-worker.zip"), world.package.dir.path().join("script"));
    write_zip(&file, &program, &[]).unwrap();
    assert_eq!(check(&file), [("limits", true), ("deploy", true), ("cold", false), ("remove", true)]);
}

/// A case and its name.
pub type Case = (&'static str, fn(&World<'_>));

/// All of them.
pub const CASES: &[Case] = &[
    ("as_many_results_as_tasks", as_many_results_as_tasks),
    (
        "a_benchmark_that_keeps_failing_is_given_up_and_the_others_are_not",
        a_benchmark_that_keeps_failing_is_given_up_and_the_others_are_not,
    ),
    ("throttled_calls_are_sent_again_until_they_are_taken", throttled_calls_are_sent_again_until_they_are_taken),
    ("killed_instances_lose_nothing", killed_instances_lose_nothing),
    ("a_fleet_that_breaks_is_left_alone", a_fleet_that_breaks_is_left_alone),
    ("an_interrupted_run_drains_and_is_gone_on_with", an_interrupted_run_drains_and_is_gone_on_with),
    (
        "a_coordinator_that_is_gone_loses_only_what_it_had_not_kept",
        a_coordinator_that_is_gone_loses_only_what_it_had_not_kept,
    ),
    (
        "what_was_removed_is_called_no_more_and_another_one_takes_over",
        what_was_removed_is_called_no_more_and_another_one_takes_over,
    ),
    ("answers_are_no_larger_than_asked_for", answers_are_no_larger_than_asked_for),
    ("measured_code_sees_nothing_of_the_provider", measured_code_sees_nothing_of_the_provider),
    ("the_check_tells_each_step", the_check_tells_each_step),
];
