//! `duet demo`: the usual procedure and duet on a small built-in project, beside each other.

use std::collections::BTreeMap;

use duetbench_core::plan::{Found, Mode, Plan};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::{Effort, HarnessSpec};
use duetbench_core::{Report, Spec, Verdict};
use duetbench_run::RunError;
use duetbench_run::adapter::{Build, Conditions, Order, Wish};
use duetbench_run::engine::{Executor, Local};
use duetbench_run::environment;
use duetbench_run::prepare::{Prepared, Request, Version};
use duetbench_run::process::Launch;
use duetbench_run::scratch::Scratch;
use duetbench_run::source::VersionRequest;
use duetbench_run::store::Store;

use super::Context;
use crate::args::DemoArgs;
use crate::demo::neighbour::{Disturbed, Neighbour};
use crate::demo::{UsualConclusion, project, usual};
use crate::failure::{Failure, code};
use crate::options::Format;
use crate::render::order::label;
use crate::render::summary;
use crate::seed;
use crate::session::{self, Session, Subjects, lock_machine};

/// Fork pairs of each benchmark in each part; the neighbour comes in after half of them.
const FORKS: u32 = 12;

/// The conclusions of both procedures about every benchmark.
struct Part {
    usual: BTreeMap<String, UsualConclusion>,
    duet: Report,
}

/// Everything the parts share.
struct Stage<'a> {
    context: &'a Context,
    spec: Spec,
    prepared: &'a Prepared,
    store: Store,
}

/// Shows two experiments; gives 0 when duet saw what there was to see and nothing else.
///
/// # Errors
/// When the project cannot be built or measured, or in another form than text.
pub fn run(_args: &DemoArgs, context: &Context) -> Result<u8, Failure> {
    let format = context.settings.format();
    if format != Format::Text {
        return Err(format.unfit("the demonstration"));
    }
    let _lock = lock_machine(context)?;
    let scratch = Scratch::new()?;
    let (base, slower) = (scratch.path().join("base"), scratch.path().join("slower"));
    project::write_base(&base)?;
    project::write_slower(&slower)?;
    let mut spec = context.settings.spec(seed::draw())?;
    // The project is the demo's own, whatever is said of that of the current directory.
    spec.harness = HarnessSpec::default();
    // Both parts compare two binaries, for as long as the neighbour of the first part needs.
    spec.effort = Effort { forks: Some(FORKS), budget: None, builds: Some(1), fixed: true, confirm: false };
    let packages = [".".to_owned()];
    let timeout = context.settings.timeout();
    let conditions = Conditions { timeout, pass_env: &[], layouts: None, reach: false, selection: None, sandbox: None };
    let wish = Wish { harness: &spec.harness, arguments: &[], conditions };
    let request = Request { cwd: scratch.path(), packages: &packages, wish, benchmarks_from: None };
    let directory = |typed: &str, path| VersionRequest::Directory { typed: typed.to_owned(), path };
    let versions = [directory("the demo project", base), directory("its slower version", slower)];
    context.printer.note("building two versions of a small project (one with 5 % more work in one function)");
    let prepared = Prepared::new(&versions, &request, &mut |_| {}, &context.interrupted)?;
    let store = Store::open(&scratch.path().join("demo.db"))?;
    let mut stage = Stage { context, spec, prepared: &prepared, store };
    let first = stage.disturbed()?;
    let second = stage.planted()?;
    let text = section(FIRST, &first) + &section(SECOND, &second) + &closing(&first, &second, stage.spec.seed);
    context.printer.data(&text)?;
    let right = |part: &Part, slower: &[&str]| {
        part.duet.benchmarks.iter().all(|b| {
            let is_slower = matches!(b.verdict, Verdict::Regression | Verdict::Slower(_));
            is_slower == slower.contains(&b.id.name.as_str()) && (is_slower || !b.verdict.is_change())
        })
    };
    Ok(if right(&first, &[]) && right(&second, &["BenchmarkHash"]) { code::CLEAN } else { code::FAILED })
}

const FIRST: &str = "1. The same code on both sides, while a neighbour loads the machine during the second half.";
const SECOND: &str = "2. A quiet half each, and 5 % more work in Hash.";

impl<'a> Stage<'a> {
    fn version(&self, number: usize) -> Result<&Version, Failure> {
        self.prepared.versions.get(number).ok_or_else(|| Failure::usage("the demo needs two versions"))
    }

    /// Part one: base against itself, disturbed in the second half.
    fn disturbed(&mut self) -> Result<Part, Failure> {
        let processors = environment::capacity(None, None).cpus;
        self.context.printer.note("part 1: the usual procedure");
        let launch = self.launch(0)?;
        let quiet = usual::block(&launch, &self.context.interrupted)?;
        let neighbour = Neighbour::start(processors);
        let loud = usual::block(&launch, &self.context.interrupted)?;
        drop(neighbour);
        self.context.printer.note("part 1: duet");
        let build = self.version(0)?.build.clone();
        let mut local = self.local([build.clone(), build])?;
        let mut disturbed = Disturbed::new(&mut local, FORKS / 2, processors);
        let duet = self.measure([0, 0], &mut disturbed)?;
        Ok(Part { usual: conclusions(&quiet, &loud)?, duet })
    }

    /// Part two: base against the slower version.
    fn planted(&mut self) -> Result<Part, Failure> {
        self.context.printer.note("part 2: the usual procedure");
        let base = usual::block(&self.launch(0)?, &self.context.interrupted)?;
        let head = usual::block(&self.launch(1)?, &self.context.interrupted)?;
        self.context.printer.note("part 2: duet");
        let builds = [self.version(0)?.build.clone(), self.version(1)?.build.clone()];
        let mut local = self.local(builds)?;
        let duet = self.measure([0, 1], &mut local)?;
        Ok(Part { usual: conclusions(&base, &head)?, duet })
    }

    /// The command that starts the version's test binary.
    fn launch(&self, number: usize) -> Result<Launch, Failure> {
        let version = self.version(number)?;
        let first = version.found.first().map(|d| &d.id);
        let order = Order { mode: Mode::Sequential, slice_ns: 0, warmup_slices: 0, slices: 0 };
        let launch = first.and_then(|id| self.prepared.adapter.launch(&version.build, id, &order));
        launch.ok_or_else(|| Failure::usage("the demo has no benchmarks"))
    }

    fn local(&self, builds: [Build; 2]) -> Result<Local<'a>, RunError> {
        self.context.local(self.prepared, builds)
    }

    /// Measures and judges two of the versions with the given executor.
    fn measure(&mut self, versions: [usize; 2], executor: &mut dyn Executor) -> Result<Report, Failure> {
        let [baseline, candidate] = [self.version(versions[0])?, self.version(versions[1])?];
        let found = Found::of(&baseline.found, &candidate.found);
        let plan = Plan::new(&self.spec, &found, environment::capacity(None, None));
        let subjects = Subjects {
            info: [baseline.info.clone(), candidate.info.clone()],
            toolchain: self.prepared.toolchain.clone(),
            warnings: Vec::new(),
            origin: None,
            layouts: None,
        };
        let head = session::head(&self.spec, plan, subjects);
        let mut session = Session::begin(self.context, &mut self.store, &head)?;
        if !session.compare(&head, executor)?.complete {
            return Err(RunError::Interrupted.into());
        }
        Ok(session.into_kept().report()?)
    }
}

type Block = BTreeMap<String, Vec<f64>>;

fn conclusions(base: &Block, head: &Block) -> Result<BTreeMap<String, UsualConclusion>, Failure> {
    let none = Vec::new();
    let conclude = |(name, values): (&String, &Vec<f64>)| {
        let conclusion = UsualConclusion::of(values, head.get(name).unwrap_or(&none));
        conclusion.map(|c| (name.clone(), c)).map_err(|e| Failure::usage(format!("{name}: {e}")))
    };
    base.iter().map(conclude).collect()
}

/// One part as a table.
fn section(title: &str, part: &Part) -> String {
    let usual_title = format!("usual: -count {} each, then benchstat", usual::COUNT);
    let mut out = format!("\n{title}\n\n  {:<8} {usual_title:<42} duet\n", "");
    for benchmark in &part.duet.benchmarks {
        let name = benchmark.id.name.trim_start_matches("Benchmark");
        let usual = part.usual.get(&benchmark.id.name).map_or("not measured".into(), UsualConclusion::words);
        out += &format!("  {name:<8} {usual:<42} {}\n", duet_words(benchmark));
    }
    out
}

fn duet_words(benchmark: &BenchmarkReport) -> String {
    let interval = summary::shown_interval(benchmark).map_or_else(String::new, summary::between);
    format!("{} {} {interval}", label(&benchmark.verdict), summary::change_sign(benchmark))
}

/// Summary of the two parts.
fn closing(first: &Part, second: &Part, seed: u64) -> String {
    let alarms = |part: &Part| part.usual.values().filter(|c| !c.words().starts_with('~')).count();
    let found = |part: &Part| part.duet.benchmarks.iter().filter(|b| b.verdict.is_change()).count();
    format!(
        "\nNothing changed in part 1: the usual procedure called {} of {} benchmarks changed, duet {}.\n\
         One of {} changed in part 2: the usual procedure called {} changed, duet {}.\n\
         duet measured for {:.0} s in all; seed {seed}.\n\
         hint: `duet compare` in a checkout of your own does the same for your change\n",
        alarms(first),
        first.usual.len(),
        found(first),
        second.usual.len(),
        alarms(second),
        found(second),
        first.duet.measured_s + second.duet.measured_s,
    )
}
