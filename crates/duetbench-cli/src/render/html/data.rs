//! Data about a run as a whole for the page's script.

use duetbench_core::report::VersionInfo;
use duetbench_core::{Report, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

use super::benchmark::benchmark;
use super::history;
use crate::render::format::{one_line, share, short_name};
use crate::render::{command_line, gate, hint, noise, order, profile, reported, summary};

/// Name of the form of the data.
const FORMAT: &str = "duet-page-1";

/// Everything that the page shows.
pub(super) fn data(report: &Report) -> Value {
    let pictures = report.pictures.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let benchmarks = report.benchmarks.iter().zip(pictures).enumerate();
    let accept = command_line::accept(report).join("\n");
    let sections = reported(report).into_iter().chain([noises(report), plan(report), environment(report)]);
    json!({
        "format": FORMAT,
        "duet": format!("duet {}", one_line(&report.environment.duet_version)),
        "run": one_line(&report.run),
        "started": one_line(&report.started),
        "complete": report.complete,
        "baseline": version(&report.baseline),
        "candidate": version(&report.candidate),
        "outcome": report.outcome(),
        "headline": sentence(&summary::headline(report)),
        "summary": in_sentences(report),
        "warnings": report.warnings.iter().map(|warning| ended(&one_line(warning))).collect::<Vec<_>>(),
        "hints": hints(report),
        "counts": summary::by_verdict(report),
        "words": summary::words_explained(report),
        "confidence": 1.0 - report.spec.decision.interval_alpha(),
        "threshold": report.spec.decision.threshold,
        "reproduce": command_line::again(report).map(|command| one_line(&command)),
        "accept": (!accept.is_empty()).then_some(accept),
        "sections": sections.collect::<Vec<_>>(),
        "runs": history::runs(report),
        "benchmarks": benchmarks
            .map(|(id, (one, picture))| benchmark(id, one, report, picture))
            .collect::<Vec<_>>(),
    })
}

fn version(version: &VersionInfo) -> Value {
    json!({ "requested": one_line(&version.requested), "resolved": one_line(&version.resolved) })
}

/// Lines or pairs under a heading.
#[derive(Serialize)]
struct Section {
    title: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pairs: Vec<(String, String)>,
}

/// The sentences that come first: where the largest regression comes from, what stops the change.
fn in_sentences(report: &Report) -> Vec<String> {
    let regressed = report.benchmarks.iter().filter(|one| one.verdict == Verdict::Regression);
    let culprit = order::most_urgent_first(regressed).into_iter().find_map(|one| {
        let name = one_line(&short_name(&one.id.name)).replace('`', "'");
        Some(format!("the change of `{name}` comes from {}", profile::culprit(report, &one.id)?))
    });
    let mut lines: Vec<String> = culprit.into_iter().collect();
    lines.extend(gate::lines(report));
    lines.iter().map(|line| sentence(line)).collect()
}

/// The next steps. Commands are not shortened: half a command is worse than a long one.
fn hints(report: &Report) -> Vec<String> {
    let words = |hint: hint::Hint| {
        let command = hint.command.map_or_else(String::new, |command| format!(" `{}`", one_line(&command)));
        sentence(&format!("{}{command}", hint.words))
    };
    hint::hints(report).into_iter().map(words).collect()
}

/// Words that begin and end as a sentence does.
fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map_or_else(String::new, |c| c.to_uppercase().collect());
    ended(&format!("{first}{}", characters.as_str()))
}

/// Words that end as a sentence does.
fn ended(words: &str) -> String {
    let end = if words.ends_with(['.', '…']) { "" } else { "." };
    format!("{words}{end}")
}

/// Metrics that benchmarks report under units of their own, where rules name some.
fn reported(report: &Report) -> Option<Section> {
    let pair = |row: reported::Row<'_>| {
        let [name, unit, base, head, change] = row.cells;
        let values = if base.is_empty() && head.is_empty() { String::new() } else { format!("{base} → {head}") };
        let said = [values, change, row.verdict].into_iter().filter(|part| !part.is_empty());
        (format!("{name}, {unit}"), said.collect::<Vec<_>>().join(", "))
    };
    let pairs: Vec<_> = reported::rows(report).into_iter().map(pair).collect();
    (!pairs.is_empty()).then(|| Section { title: "What benchmarks report themselves", lines: Vec::new(), pairs })
}

/// Disturbances of the run, and hints against them.
fn noises(report: &Report) -> Section {
    let findings = &report.noise.findings;
    let mut lines = noise::lines(findings);
    if lines.is_empty() {
        lines.push(noise::conclusion(findings).into());
    }
    lines.extend(summary::noise_cost(report));
    lines.extend(noise::hints(findings).iter().map(|hint| format!("hint: {hint}")));
    Section { title: "Noise", lines, pairs: Vec::new() }
}

/// Amount and way of measuring, and the rule for verdicts.
fn plan(report: &Report) -> Section {
    let about_the_machine = ["machine:", "built:", "noise:"];
    let facts = summary::facts(report).into_iter().filter(|(label, _)| !about_the_machine.contains(label));
    let decision = &report.spec.decision;
    let decided = [
        ("threshold", share(decision.threshold)),
        ("error of a change that is none", share(decision.alpha)),
        ("error of an interval", share(decision.interval_alpha())),
        ("false discovery rate", share(decision.false_discovery_rate)),
        ("power of what is detected", share(decision.power)),
    ];
    let pairs = facts.map(|(label, fact)| (label.trim_end_matches(':').to_owned(), fact));
    let pairs = pairs.chain(decided.map(|(label, fact)| (label.to_owned(), fact))).collect();
    Section { title: "Plan", lines: Vec::new(), pairs }
}

/// The machine, or the one that built what a fleet measured.
fn environment(report: &Report) -> Section {
    let known = &report.environment;
    let facts = [
        ("processor", Some(known.cpu_model.clone())),
        ("platform", Some(known.platform.clone())),
        ("kernel", Some(known.kernel.clone())),
        ("usable", Some(summary::processors(known))),
        ("governor", known.governor.clone()),
        ("load in the minute before", Some(format!("{:.2}", known.load_1min))),
        ("steal", known.steal_share.map(share)),
        ("toolchain", Some(known.toolchain.clone())),
        ("duet", Some(known.duet_version.clone())),
    ];
    let known = facts.into_iter().filter_map(|(label, fact)| Some((label.to_owned(), one_line(&fact?))));
    Section { title: "Environment", lines: Vec::new(), pairs: known.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_sentences() {
        let check = |words, want| assert_eq!(sentence(words), want);
        check("nothing was compared", "Nothing was compared.");
        check("`--forks 40` would do", "`--forks 40` would do.");
        check("cut…", "Cut…");
        check("", ".");
    }
}
