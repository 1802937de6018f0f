//! The plan for people: what would be measured, how, and how long it would take.

use std::time::Duration;

use duetbench_core::plan::{Excluded, Plan, PlannedBenchmark, Repetitions, SoloBenchmark, SoloPlan};
use duetbench_core::report::VersionInfo;

use duetbench_core::{BenchmarkId, Spec};

use crate::forecast;
use crate::options::Format;
use crate::render::format::{benchmarks, duration, first_line, one_line, version};

mod json;

/// A plan that is shown instead of carried out.
#[derive(Debug, Clone, Copy)]
pub struct DryRun<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The request.
    pub spec: &'a Spec,
    /// Baseline and candidate.
    pub versions: &'a [VersionInfo; 2],
    /// Warnings about them.
    pub warnings: &'a [String],
    /// Steps that follow once everything is judged by time, a sentence each.
    pub afterwards: &'a [String],
}

impl DryRun<'_> {
    /// The plan for machines where they are asked for, else for people.
    pub fn write(&self, format: Format) -> String {
        if format == Format::Json {
            return json::write(self);
        }
        // A fleet's time is bounded by its calls.
        let forecast = forecast::words(self.plan, self.spec).filter(|_| self.spec.fleet.is_none());
        let lines = forecast.into_iter().chain(self.afterwards.iter().cloned());
        let lines: String = lines.map(|line| line + "\n").collect();
        render(self.plan, self.versions) + &lines + &warnings(self.warnings)
    }
}

/// The plan of a run of one version that is shown instead of carried out.
#[derive(Debug, Clone, Copy)]
pub struct SoloDryRun<'a> {
    /// The plan.
    pub plan: &'a SoloPlan,
    /// The version.
    pub version: &'a VersionInfo,
    /// Warnings about it.
    pub warnings: &'a [String],
}

impl SoloDryRun<'_> {
    /// The plan for machines where they are asked for, else for people.
    pub fn write(&self, format: Format) -> String {
        if format == Format::Json {
            return json::write_solo(self);
        }
        render_solo(self.plan, self.version) + &warnings(self.warnings)
    }
}

/// Warnings, a line each.
fn warnings(all: &[String]) -> String {
    all.iter().map(|words| format!("warning: {}\n", one_line(words))).collect()
}

/// The plan as text, one line per benchmark.
fn render(plan: &Plan, versions: &[VersionInfo; 2]) -> String {
    let [base, head] = versions;
    let mut out = format!("base {}\nhead {}\n", version(base), version(head));
    out += &format!("seed {}\n\n", plan.seed);
    let line = |b: &PlannedBenchmark| format!("{}, {}, {}", extent(b), b.style.word(), b.mode.label());
    out += &listing(plan.benchmarks.iter().map(|b| (&b.id, line(b))));
    for excluded in &plan.excluded {
        out += &match excluded {
            Excluded::OnlyIn(id, role) => format!("  {}: only in {}\n", name(id), role.side()),
            Excluded::Identical { id, saved_ns } => {
                let saved = seconds(Duration::from_nanos(*saved_ns));
                format!("  {}: identical code, saves up to {saved}\n", name(id))
            }
            Excluded::NotAffected { id, saved_ns } => {
                let saved = seconds(Duration::from_nanos(*saved_ns));
                format!("  {}: not affected, saves up to {saved}\n", name(id))
            }
            Excluded::Failed(id, role, words) => {
                format!("  {}: fails in {}: {}\n", name(id), role.side(), first_line(words))
            }
        };
    }
    let proven: Vec<u64> = plan.excluded.iter().filter_map(Excluded::saved_ns).collect();
    let saved = || seconds(Duration::from_nanos(proven.iter().sum()));
    let proven_words = if proven.is_empty() {
        String::new()
    } else {
        format!("; {} proven the same saves up to {}", proven.len(), saved())
    };
    out + &format!("\n{}, about {}{proven_words}\n", benchmarks(plan.benchmarks.len()), seconds(plan.predicted()))
}

/// Time that reading the units named by rules would add, in words.
pub fn readings(takes: Duration) -> String {
    format!("what benchmarks report under units that rules name: about {} more, and linking", seconds(takes))
}

/// Time that profiling the regressions would add, in words.
pub fn profiles(takes: Duration) -> String {
    format!("profiles of regressions, if there are any: about {} more", seconds(takes))
}

/// Time that counting instructions would add: for the benchmarks that are counted in any case, and at most for one that is where it changed.
pub fn counts(takes: Duration, each: Option<Duration>) -> String {
    let changed =
        each.map_or_else(String::new, |each| format!(", and up to {} for each benchmark that changed", seconds(each)));
    format!("instructions: about {} more{changed}", seconds(takes))
}

/// The plan of a run of one version as text, one line per benchmark.
fn render_solo(plan: &SoloPlan, of: &VersionInfo) -> String {
    let mut out = format!("version {}\nseed {}\n\n", version(of), plan.seed);
    let time = |b: &SoloBenchmark| seconds(Duration::from_nanos(b.predicted_ns()));
    let line = |b: &SoloBenchmark| format!("{}, {}, {}", repeated(&b.repetitions), time(b), b.style.word());
    out += &listing(plan.benchmarks.iter().map(|b| (&b.id, line(b))));
    for (id, words) in &plan.failed {
        out += &format!("  {}: fails: {}\n", name(id), first_line(words));
    }
    out + &format!("\n{}, about {}\n", benchmarks(plan.benchmarks.len()), seconds(plan.predicted()))
}

/// Benchmarks below their packages, each with its words.
fn listing<'a>(benchmarks: impl Iterator<Item = (&'a BenchmarkId, String)>) -> String {
    let (mut out, mut package) = (String::new(), "");
    for (id, words) in benchmarks {
        if package != id.package {
            package = &id.package;
            out += &format!("{}\n", one_line(package));
        }
        out += &format!("  {}: {words}\n", one_line(&id.name));
    }
    out
}

fn name(id: &BenchmarkId) -> String {
    one_line(&id.to_string())
}

/// Repetitions of a benchmark of one version, in words.
fn repeated(r: &Repetitions) -> String {
    let length = seconds(Duration::from_nanos(r.iteration_ns));
    let warmup = if r.warmup > 0 { format!(" after {} to warm up", r.warmup) } else { String::new() };
    format!("suite runs {} × forks {} × iterations {} of {length}{warmup}", r.suite_runs, r.forks, r.iterations)
}

/// Most fork pairs of a benchmark and their time, in words.
fn extent(b: &PlannedBenchmark) -> String {
    let design = &b.configuration.design;
    let time = seconds(Duration::from_nanos(b.predicted_ns()));
    let upper = if design.sequential { "up to " } else { "" };
    let builds = if design.by_build { format!(" of {} build pairs", design.units) } else { String::new() };
    format!("{upper}{} fork pairs{builds}, {time}", design.forks())
}

fn seconds(time: Duration) -> String {
    // Iterations may be shorter than a millisecond.
    let is_short = time < Duration::from_millis(10) && !time.subsec_micros().is_multiple_of(1000);
    if is_short { format!("{:.2}ms", time.as_secs_f64() * 1000.0) } else { duration(time.as_secs_f64()) }
}
