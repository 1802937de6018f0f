//! The SARIF format (Static Analysis Results Interchange Format 2.1.0, OASIS 2020): what fails a change, and what is to be known.
//!
//! Results are what stands in a table as *regression*, *slower, size open*, *inconclusive* or *failed*, and waivers that have to go; what is all right
//! is none. Without a rule that says otherwise regressions and failures are errors. A result is found again in a later file by
//! its fingerprint, the benchmark's identity, wherever its line has gone.

use std::collections::BTreeMap;

use duetbench_core::foreign::percent_encoded;
use duetbench_core::gate::{Breach, Gate, Stale, Standing};
use duetbench_core::report::BenchmarkReport;
use duetbench_core::reported::ReportedMetric;
use duetbench_core::spec::Metric;
use duetbench_core::verdict::{Extent, RatioInterval};
use duetbench_core::{BenchmarkId, Report, Verdict};
use serde_json::{Value, json};

use super::format::{detectable, one_line, share, short_name, shortened};
use super::names::Short;
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
        let logical = json!({
            "name": one_line(&id.name),
            "fullyQualifiedName": one_line(&id.to_string()),
            "kind": "function",
        });
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
    ("stale-waiver", "A waiver expired, is not needed any more, or fits several benchmarks", "error"),
];

/// The report as SARIF, with the places that it is about.
pub fn render(report: &Report, sites: &Sites) -> String {
    let mut results = worse(report, sites);
    let is_wanted = |id: &BenchmarkId, of_units| {
        let mut wanted = report.gate.iter().flat_map(Gate::unanswered);
        wanted.any(|question| question.id == *id && question.of_units == of_units)
    };
    for benchmark in &report.benchmarks {
        let found = match &benchmark.verdict {
            Verdict::Slower(Extent::Open { .. }) if !is_breach(report, benchmark) => {
                (Rule::Slower, size_open(benchmark))
            }
            Verdict::Inconclusive { .. } => (Rule::Inconclusive, undecided(benchmark)),
            Verdict::Faster(Extent::Open { .. }) if is_wanted(&benchmark.id, false) => {
                (Rule::Inconclusive, size_open(benchmark))
            }
            Verdict::Failed { .. } => (Rule::Failed, failed(benchmark)),
            _ => continue,
        };
        let mut result = result(found.0, &found.1, &sites.place(&benchmark.id), &benchmark.id.to_string());
        if is_wanted(&benchmark.id, false) {
            result["level"] = json!("error");
        }
        results.push(result);
    }
    for unit in report.compared_units() {
        results.extend(without_answer(unit, sites, is_wanted(&unit.id, true)));
    }
    results.extend(report.gate.iter().flat_map(|gate| stale(gate, sites)));
    let compared = report.benchmarks.iter().any(BenchmarkReport::was_compared) && !report.answers_nothing();
    document::json(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(&report.environment.duet_version) },
            "invocations": [{ "executionSuccessful": report.complete && compared }],
            "results": results,
        }],
    }))
}

/// Results for everything that got worse: by the repository's rules, or without any by the verdicts.
fn worse(report: &Report, sites: &Sites) -> Vec<Value> {
    if let Some(gate) = &report.gate {
        return gate.breaches.iter().map(|breach| of_breach(breach, report, sites)).collect();
    }
    let regressed = report.benchmarks.iter().filter(|one| one.verdict == Verdict::Regression);
    let one = |one: &BenchmarkReport| {
        let change = one.judged().map_or_else(String::new, |judged| format!(" {}", summary::change_beside(judged)));
        let words =
            format!("time of `{}`{change}{}: {}", short_name(&one.id.name), interval(one), summary::verdict_words(one));
        result(Rule::Regression, &words, &sites.place(&one.id), &fingerprint(&one.id, &Metric::Time))
    };
    regressed.map(one).collect()
}

fn of_breach(breach: &Breach, report: &Report, sites: &Sites) -> Value {
    let of_time = report.benchmark(&breach.id).filter(|_| breach.metric == Metric::Time);
    let words = format!(
        "{}{}",
        gate::breach(breach, &Short::of_report(report)),
        of_time.map_or_else(String::new, interval_of_change)
    );
    let mark = fingerprint(&breach.id, &breach.metric);
    let rule = match of_time.map(|one| &one.verdict) {
        Some(Verdict::Slower(_)) => Rule::Slower,
        _ => Rule::Regression,
    };
    let mut result = result(rule, &words, &sites.place(&breach.id), &mark);
    result["level"] = json!(if breach.standing.fails() { "error" } else { "note" });
    if let Standing::Waived { ceiling, expires } = breach.standing {
        let justification = format!("accepted up to {} until {expires} in {WAIVERS}", share(ceiling));
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": justification }]);
    }
    result
}

fn stale(gate: &Gate, sites: &Sites) -> impl Iterator<Item = Value> {
    let one = |stale: &duetbench_core::gate::StaleWaiver| {
        let site = sites.policy(WAIVERS);
        let why = match stale.why {
            Stale::Expired => "expired",
            Stale::Unused => "unused",
            Stale::Ambiguous => "ambiguous",
        };
        let mark = format!("{}:{}:{why}", stale.waiver.benchmark, stale.waiver.metric.word());
        result(Rule::StaleWaiver, &gate::stale(stale), &Place { site, logical: None }, &mark)
    };
    gate.stale.iter().map(one)
}

/// The interval that stands beside its verdict in a table.
fn interval(benchmark: &BenchmarkReport) -> String {
    ranged(benchmark, summary::shown_interval(benchmark))
}

/// The interval of the change that a breach is of: by fresh trials where these confirmed it.
fn interval_of_change(benchmark: &BenchmarkReport) -> String {
    let fresh = summary::confirmed(benchmark).map(|fresh| fresh.interval);
    ranged(benchmark, fresh.or(summary::shown_interval(benchmark)))
}

fn ranged(benchmark: &BenchmarkReport, interval: Option<RatioInterval>) -> String {
    let both = benchmark.estimate.zip(interval);
    both.map_or_else(String::new, |(estimate, interval)| {
        format!(", {} CI {}", share(estimate.confidence), summary::between(interval))
    })
}

fn undecided(benchmark: &BenchmarkReport) -> String {
    let detects = benchmark.own_estimate();
    let detects = detects.map(|e| format!("; such a run detects {}", detectable(e.minimal_detectable_change)));
    let sees = detects.unwrap_or_default();
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

/// A result for a unit that a benchmark reports itself and that has no answer. One that got worse is a breach of policy.
fn without_answer(unit: &ReportedMetric, sites: &Sites, is_wanted: bool) -> Option<Value> {
    let called = format!("`{}` of `{}`", unit.unit, short_name(&unit.id.name));
    let (rule, words) = match &unit.verdict {
        Verdict::Failed { reason, .. } => (Rule::Failed, format!("{called} failed: {}", shortened(reason))),
        Verdict::Inconclusive { .. } => (Rule::Inconclusive, format!("whether {called} changed is open")),
        Verdict::Slower(Extent::Open { .. }) => {
            (Rule::Slower, format!("{called} got worse; whether by more than the threshold is open"))
        }
        _ => return None,
    };
    let mark = fingerprint(&unit.id, &Metric::Reported(unit.unit.clone()));
    let mut result = result(rule, &words, &sites.place(&unit.id), &mark);
    if is_wanted {
        result["level"] = json!("error");
    }
    Some(result)
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
    logical: Option<Value>,
}

/// The tool and its rules.
fn driver(version: &str) -> Value {
    let rules = RULES.map(|(id, meaning, level)| {
        json!({
            "id": id,
            "shortDescription": { "text": meaning },
            "helpUri": format!("{HOME}/blob/main/docs/reading-a-verdict.md"),
            "defaultConfiguration": { "level": level },
        })
    });
    json!({ "name": "duet", "version": one_line(version), "informationUri": HOME, "rules": rules })
}

fn result(rule: Rule, words: &str, place: &Place, mark: &str) -> Value {
    let (id, _, level) = RULES[rule as usize];
    let Place { site: Site { path, line }, logical } = place;
    let physical = json!({
        "artifactLocation": { "uri": percent_encoded(path.as_bytes(), b"/"), "uriBaseId": "%SRCROOT%" },
        "region": line.map(|line| json!({ "startLine": line })),
    });
    let location = json!({
        "physicalLocation": document::without_null(physical, &["region"]),
        "logicalLocations": logical.as_ref().map(|logical| [logical]),
    });
    json!({
        "ruleId": id,
        "ruleIndex": rule as usize,
        "level": level,
        // A bracket of a name before a parenthesis would make a link of both.
        "message": { "text": one_line(words).replace("](", "] (") },
        "locations": [document::without_null(location, &["logicalLocations"])],
        // GitHub knows the second name only, and would else take the text of the line.
        "partialFingerprints": { "duetBenchmark/v1": one_line(mark), "primaryLocationLineHash": one_line(mark) },
    })
}
