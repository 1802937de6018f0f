//! The `go` format: Go benchmark text with every fork of both versions, for benchstat and other readers of that format.
//!
//! `benchstat -col version FILE` shows base and head side by side. Keys that differ between benchmarks would split
//! benchstat's tables, so apart from `pkg` and `version` every key holds for the whole file; what is said about one
//! benchmark stands in a line that begins with `#`, which readers of the format skip.

use duetbench_core::analysis::Ranged;
use duetbench_core::report::{BenchmarkReport, ForkSide};
use duetbench_core::spellings::Spellings;
use duetbench_core::{Environment, Report, Role};

use super::format::one_line;
use super::summary;

/// The first line, for who looks into the file.
const READER: &str = "# both versions side by side: benchstat -col version FILE";

/// The forks of the report in their order, one line per fork and version.
pub fn render(report: &Report) -> String {
    let mut out = format!("{READER}\n{}", configuration(report));
    let sides = report.benchmarks.iter().flat_map(|b| &b.forks).flat_map(|fork| [fork.baseline, fork.candidate]);
    if sides.into_iter().any(|side| side.cpu_ns_per_op.is_some()) {
        out += "Unit cpu-ns/op better=lower\n";
    }
    let (mut package, mut names) = (None, Spellings::default());
    for benchmark in &report.benchmarks {
        if package != Some(&benchmark.id.package) {
            package = Some(&benchmark.id.package);
            out += &format!("\n{}", key("pkg", &benchmark.id.package));
        }
        let name = names.of(&benchmark.id.package, &benchmark.id.name);
        out += &comments(benchmark, &name);
        if !benchmark.forks.is_empty() {
            out += &Role::BOTH.map(|role| forks(benchmark, &name, role)).concat();
        }
    }
    out
}

/// The keys that hold for the whole file.
fn configuration(report: &Report) -> String {
    let versions = [("duet-baseline", &report.baseline), ("duet-candidate", &report.candidate)];
    measured_by(&report.environment, &report.run, &report.started, report.plan.seed)
        + &versions.map(|(name, version)| key(name, &version.resolved)).concat()
}

/// The keys that say on which machine, by which duet and in which run, with when it began and its seed.
pub(super) fn measured_by(environment: &Environment, run: &str, started: &str, seed: u64) -> String {
    let (goos, goarch) = environment.platform.split_once('/').unwrap_or((&environment.platform, ""));
    [
        ("goos", goos),
        ("goarch", goarch),
        ("cpu", &environment.cpu_model),
        ("toolchain", &environment.toolchain),
        ("duet-version", &environment.duet_version),
        ("duet-run", run),
        ("duet-started", started),
        ("duet-seed", &seed.to_string()),
    ]
    .map(|(name, value)| key(name, value))
    .concat()
}

/// A configuration line. An empty value would delete the key, so it says that the value is not known.
pub(super) fn key(name: &str, value: &str) -> String {
    let value = one_line(value);
    format!("{name}: {}\n", if value.is_empty() { "unknown" } else { &value })
}

/// Verdict and estimate of a benchmark, in lines that readers skip.
fn comments(benchmark: &BenchmarkReport, name: &str) -> String {
    let about = format!("# {name}: ");
    let mut out = format!("{about}{}", summary::verdict_words(benchmark));
    if let Some(forks) = benchmark.verdict.forks_sufficient() {
        out += &format!(", {forks} fork pairs would probably settle it");
    }
    if let Some(judged) = benchmark.judged() {
        let clock = if summary::is_by_cpu(benchmark) { " of CPU time" } else { "" };
        let Ranged { ratio, interval, .. } = judged;
        out += &format!(", ratio{clock} {ratio} [{}, {}]", interval.low, interval.high);
        if let Some(Ranged { ratio, interval, .. }) = benchmark.wall_beside() {
            out += &format!(", of wall time {ratio} [{}, {}]", interval.low, interval.high);
        }
        if let Some(own) = benchmark.own_estimate() {
            out += &format!(", minimal detectable change {}", own.minimal_detectable_change);
        }
    }
    if let Some(mode) = benchmark.mode {
        out += &format!(", {}", mode.label());
    }
    out.push('\n');
    out.extend(summary::remarks(benchmark).into_iter().map(|remark| format!("{about}{remark}\n")));
    out
}

fn forks(benchmark: &BenchmarkReport, name: &str, role: Role) -> String {
    let mut out = key("version", role.word());
    for fork in &benchmark.forks {
        let side = match role {
            Role::Baseline => &fork.baseline,
            Role::Candidate => &fork.candidate,
        };
        out += &result(name, side);
    }
    out
}

fn result(name: &str, side: &ForkSide) -> String {
    let mut out = format!("{name}\t{}\t{} ns/op", side.invocations, side.ns_per_op);
    let optional = [(side.bytes_per_op, "B/op"), (side.allocs_per_op, "allocs/op"), (side.cpu_ns_per_op, "cpu-ns/op")];
    for (value, unit) in optional.into_iter().filter_map(|(value, unit)| value.map(|v| (v, unit))) {
        out += &format!("\t{value} {unit}");
    }
    out.push('\n');
    out
}
