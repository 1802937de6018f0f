//! The SARIF format (Static Analysis Results Interchange Format 2.1.0, OASIS 2020): what fails a change, and what is to be known.
//!
//! Results are what stands in a table as *regression*, *slower, size open*, *inconclusive* or *failed*, and waivers that have to go; what is all right
//! is none. Without a rule that says otherwise regressions and failures are errors. A result is found again in a later file by
//! its fingerprint, the benchmark's identity, wherever its line has gone.

use std::collections::BTreeMap;

use duetbench_core::gate::{Breach, Gate, Stale, Standing};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::spec::Metric;
use duetbench_core::verdict::Extent;
use duetbench_core::{BenchmarkId, Report, Verdict};
use serde::Serialize;

use super::format::{change, one_line, share, short_name, shortened};
use super::{document, gate, summary};

/// Where a benchmark stands in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// A file below the repository's root, with `/` between its folders.
    pub path: String,
    /// Its line there, counted from 1, where it was found.
    pub line: Option<usize>,
}

/// Places in the repository that a report is about.
#[derive(Debug, Clone, Default)]
pub struct Sites {
    /// The benchmarks', as far as they are known.
    pub benchmarks: BTreeMap<BenchmarkId, Site>,
    /// The folder of settings and waivers below the repository's root; empty for the root itself.
    pub policy: String,
}

impl Sites {
    /// A file in the folder of settings and waivers.
    fn policy(&self, file: &str) -> Site {
        let folder = if self.policy.is_empty() { String::new() } else { format!("{}/", self.policy) };
        Site { path: folder + file, line: None }
    }

    fn place(&self, id: &BenchmarkId) -> Place {
        let site = self.benchmarks.get(id).cloned().unwrap_or_else(|| self.policy(SETTINGS));
        let logical = LogicalLocation {
            name: one_line(&id.name),
            fully_qualified_name: one_line(&id.to_string()),
            kind: "function",
        };
        Place { site, logical: Some(logical) }
    }
}

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const HOME: &str = "https://github.com/duetbench/duetbench";
/// Where waivers stand.
const WAIVERS: &str = "duet-waivers.toml";
/// Where rules on a benchmark would stand whose place is not known.
const SETTINGS: &str = "duet.toml";

/// The rules that results are instances of, in the order of `RULES`.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Regression,
    Slower,
    Inconclusive,
    Failed,
    StaleWaiver,
}

/// Identity, meaning and usual level of each rule.
const RULES: [(&str, &str, &str); 5] = [
    ("regression", "Head got worse by more than the threshold", "error"),
    ("slower", "Head got slower; whether by more than the threshold is not known yet", "note"),
    ("inconclusive", "The data do not tell whether head got worse", "note"),
    ("failed", "The benchmark could not be measured", "error"),
    ("stale-waiver", "A waiver expired or is not needed any more", "error"),
];

/// The report as SARIF, with the places that it is about.
#[must_use]
pub fn render(report: &Report, sites: &Sites) -> String {
    let mut results = worse(report, sites);
    for benchmark in &report.benchmarks {
        let found = match &benchmark.verdict {
            Verdict::Slower(Extent::Open { .. }) if !is_breach(report, benchmark) => {
                (Rule::Slower, size_open(benchmark))
            }
            Verdict::Inconclusive { .. } => (Rule::Inconclusive, undecided(benchmark)),
            Verdict::Failed { .. } => (Rule::Failed, failed(benchmark)),
            _ => continue,
        };
        let at = sites.place(&benchmark.id);
        let mut result = Result::new(found.0, found.1, at, &benchmark.id.to_string());
        if report.gate.as_ref().is_some_and(|gate| gate.unanswered().any(|id| *id == benchmark.id)) {
            result.level = "error";
        }
        results.push(result);
    }
    results.extend(report.gate.iter().flat_map(|gate| stale(gate, sites)));
    let compared = report.benchmarks.iter().any(BenchmarkReport::was_compared) && !report.answers_nothing();
    let run = Run {
        tool: Tool { driver: Driver::of(&report.environment.duet_version) },
        invocations: [Invocation { execution_successful: report.complete && compared }],
        results,
    };
    document::json(&Log { schema: SCHEMA, version: "2.1.0", runs: [run] })
}

/// Results for everything that got worse: by the repository's rules, or without any by the verdicts.
fn worse(report: &Report, sites: &Sites) -> Vec<Result> {
    if let Some(gate) = &report.gate {
        return gate.breaches.iter().map(|breach| of_breach(breach, report, sites)).collect();
    }
    let regressed = report.benchmarks.iter().filter(|one| one.verdict == Verdict::Regression);
    let one = |one: &BenchmarkReport| {
        let change = one.estimate.map_or_else(String::new, |e| format!(" {}", change(e.ratio)));
        let words =
            format!("time of `{}`{change}{}: {}", short_name(&one.id.name), interval(one), summary::verdict_words(one));
        Result::new(Rule::Regression, words, sites.place(&one.id), &fingerprint(&one.id, &Metric::Time))
    };
    regressed.map(one).collect()
}

fn of_breach(breach: &Breach, report: &Report, sites: &Sites) -> Result {
    let of_time = report.benchmarks.iter().find(|one| one.id == breach.id && breach.metric == Metric::Time);
    let words = format!("{}{}", gate::breach(breach), of_time.map_or_else(String::new, interval));
    let mark = fingerprint(&breach.id, &breach.metric);
    let rule = match of_time.map(|one| &one.verdict) {
        Some(Verdict::Slower(_)) => Rule::Slower,
        _ => Rule::Regression,
    };
    let mut result = Result::new(rule, words, sites.place(&breach.id), &mark);
    result.level = if breach.standing.fails() { "error" } else { "note" };
    if let Standing::Waived { ceiling, expires } = breach.standing {
        let justification = format!("accepted up to {} until {expires} in {WAIVERS}", share(ceiling));
        result.suppressions = vec![Suppression { kind: "external", status: "accepted", justification }];
    }
    result
}

fn stale(gate: &Gate, sites: &Sites) -> impl Iterator<Item = Result> {
    let one = |stale: &duetbench_core::gate::StaleWaiver| {
        let site = sites.policy(WAIVERS);
        let why = if stale.why == Stale::Expired { "expired" } else { "unused" };
        let mark = format!("{}:{}:{why}", stale.waiver.benchmark, stale.waiver.metric.word());
        Result::new(Rule::StaleWaiver, gate::stale(stale), Place { site, logical: None }, &mark)
    };
    gate.stale.iter().map(one)
}

fn interval(benchmark: &BenchmarkReport) -> String {
    let both = benchmark.estimate.zip(benchmark.judged());
    both.map_or_else(String::new, |(estimate, judged)| {
        format!(", {} CI {}", share(estimate.confidence), summary::between(judged.interval))
    })
}

fn undecided(benchmark: &BenchmarkReport) -> String {
    let sees = summary::numbers(benchmark).detects;
    let sees = if sees.is_empty() { sees } else { format!("; such a run detects {sees}") };
    let remarks: String = summary::remarks(benchmark).iter().map(|remark| format!("; {}", shortened(remark))).collect();
    format!("whether `{}` changed is open{}{sees}{remarks}", short_name(&benchmark.id.name), interval(benchmark))
}

/// Whether policy already makes a result of its time.
fn is_breach(report: &Report, benchmark: &BenchmarkReport) -> bool {
    let of_time = |breach: &Breach| breach.id == benchmark.id && breach.metric == Metric::Time;
    report.gate.iter().flat_map(|gate| &gate.breaches).any(of_time)
}

fn size_open(benchmark: &BenchmarkReport) -> String {
    let (name, change) = (short_name(&benchmark.id.name), summary::change_sign(benchmark));
    format!("time of `{name}` {change}{}; whether by more than the threshold is open", interval(benchmark))
}

fn failed(benchmark: &BenchmarkReport) -> String {
    format!("`{}` failed: {}", short_name(&benchmark.id.name), shortened(&summary::remarks(benchmark).join("; ")))
}

fn fingerprint(id: &BenchmarkId, metric: &Metric) -> String {
    format!("{id}:{}", metric.word())
}

/// A place as readers of the format want it: one in a file, and one in the project's own terms.
struct Place {
    site: Site,
    logical: Option<LogicalLocation>,
}

/// A path as the reference of a URI.
fn uri(path: &str) -> String {
    let byte = |b: u8| match b {
        b if b.is_ascii_alphanumeric() || b"-._~/".contains(&b) => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    path.bytes().map(byte).collect()
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
struct Run {
    tool: Tool,
    invocations: [Invocation; 1],
    results: Vec<Result>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: String,
    information_uri: &'static str,
    rules: Vec<ReportingDescriptor>,
}

impl Driver {
    fn of(version: &str) -> Driver {
        let rule = |(id, meaning, level): (&'static str, &'static str, &'static str)| ReportingDescriptor {
            id,
            short_description: Text { text: meaning.into() },
            help_uri: format!("{HOME}/blob/main/docs/reading-a-verdict.md"),
            default_configuration: Configuration { level },
        };
        let rules = RULES.into_iter().map(rule).collect();
        Driver { name: "duet", version: one_line(version), information_uri: HOME, rules }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportingDescriptor {
    id: &'static str,
    short_description: Text,
    help_uri: String,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Result {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
}

impl Result {
    fn new(rule: Rule, words: String, place: Place, mark: &str) -> Result {
        let (rule_id, _, level) = RULES[rule as usize];
        let Place { site: Site { path, line }, logical } = place;
        let artifact_location = ArtifactLocation { uri: uri(&path), uri_base_id: "%SRCROOT%" };
        let region = line.map(|start_line| Region { start_line });
        Result {
            rule_id,
            rule_index: rule as usize,
            level,
            message: Text { text: one_line(&words) },
            locations: [Location {
                physical_location: PhysicalLocation { artifact_location, region },
                logical_locations: logical.into_iter().collect(),
            }],
            // GitHub knows the first name only, and would else take the text of the line.
            partial_fingerprints: ["primaryLocationLineHash", "duetBenchmark/v1"]
                .map(|key| (key, one_line(mark)))
                .into(),
            suppressions: Vec::new(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    name: String,
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    status: &'static str,
    justification: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("a b/ü%.go"), "a%20b/%C3%BC%25.go");
        assert_eq!(uri("enc/enc_test.go"), "enc/enc_test.go");
    }
}
