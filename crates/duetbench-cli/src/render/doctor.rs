//! Results of `duet doctor`, for people and for programs.

use duetbench_core::noise::{Conditions, Facts, Finding, Gaps, Severity};
use serde_json::{Value, json};

use super::document::{self, Block, Line, Table, Title, Tone};
use super::format::{many, share};
use super::noise;

/// Version of the JSON form; goes up when a reader of the previous one could misread the next.
const SCHEMA_VERSION: u32 = 1;

/// Everything that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkup {
    /// Version of duet.
    pub duet_version: String,
    /// Facts about the machine that do not change.
    pub facts: Facts,
    /// Conditions while it was watched.
    pub conditions: Conditions,
    /// The gaps of every processor that could be watched.
    pub gaps: Vec<Gaps>,
    /// Findings, the gravest first.
    pub findings: Vec<Finding>,
}

/// The checkup as a document; `?` is what the system does not tell.
pub fn document(checkup: &Checkup) -> document::Document {
    let watched = super::format::duration(checkup.conditions.wall_ns as f64 * 1e-9);
    let findings = checkup.findings.iter().map(|finding| {
        let tone = if finding.severity == Severity::Note { Tone::Faint } else { Tone::Open };
        Line::Labelled(tone, finding.severity.word(), noise::text(&finding.kind))
    });
    let hints = noise::hints(&checkup.findings).into_iter().map(Line::hint);
    let conclusion = Line::Labelled(Tone::Strong, "conclusion", noise::conclusion(&checkup.findings).to_owned());
    let facts = facts(checkup).into_iter().map(|(label, fact)| Line::Small(label, fact));
    document::Document {
        title: Title {
            command: "duet doctor",
            version: checkup.duet_version.clone(),
            subject: format!("this machine, watched for {watched}"),
        },
        blocks: vec![Block::Lines(facts.collect()), Block::Lines(findings.chain(hints).chain([conclusion]).collect())],
        rows: Some(Table::of_objects("kind severity text hint", checkup.findings.iter().map(found))),
        json: Some(json(checkup)),
        go: None,
    }
}

/// A finding with advice, for programs.
fn found(finding: &Finding) -> Value {
    let mut found = noise::json(finding);
    found["hint"] = json!(finding.advice().map(noise::advice));
    found
}

/// The numbers, whether there is something to find in them or not.
fn facts(checkup: &Checkup) -> Vec<(&'static str, String)> {
    let Checkup { facts, conditions, gaps, .. } = checkup;
    let told = |value: Option<String>| value.unwrap_or_else(|| "?".into());
    let smt = if facts.cores_physical < facts.cpus_usable { " (SMT)" } else { "" };
    let virtualised = facts.virtualised.map(|v| if v { ", virtual machine" } else { ", no virtual machine" });
    let cpu = conditions.cpu;
    let others = conditions.others_cpus().map(|cpus| format!("{cpus:.2} of {} busy", facts.cpus_usable));
    vec![
        ("cpu model", told(facts.cpu_model.clone())),
        (
            "processors",
            format!(
                "{} on {}{smt}{}",
                facts.cpus_usable,
                many(facts.cores_physical as usize, "core", "cores"),
                virtualised.unwrap_or_default()
            ),
        ),
        ("frequency", told(frequency(checkup))),
        ("governor", told(facts.governor.clone())),
        ("quota", facts.quota_cpus.map_or_else(|| "none".into(), |cpus| format!("{cpus:.2} processors"))),
        ("load", told(conditions.load_1min.map(|load| format!("{load:.2}")))),
        ("others", told(others)),
        ("steal", told(cpu.and_then(|cpu| cpu.steal_share()).map(share))),
        ("interrupts", told(cpu.and_then(|cpu| cpu.irq_share()).map(share))),
        ("taken away", told(taken_away(gaps))),
    ]
}

fn frequency(checkup: &Checkup) -> Option<String> {
    let range = checkup.conditions.frequency?;
    let now = match (noise::frequency(range.lowest_khz), noise::frequency(range.highest_khz)) {
        (lowest, highest) if lowest == highest => lowest,
        (lowest, highest) => format!("{lowest} to {highest}"),
    };
    let most = checkup.facts.frequency_max_khz.map(|khz| format!(", at most {}", noise::frequency(khz)));
    Some(now + &most.unwrap_or_default())
}

/// The gaps of every processor.
fn taken_away(gaps: &[Gaps]) -> Option<String> {
    let of = |g: &Gaps| {
        let longest =
            if g.count == 0 { String::new() } else { format!(", up to {}", noise::short_duration(g.longest_ns)) };
        Some(format!("{} on processor {}{longest}", share(g.share()?), g.cpu))
    };
    let written: Vec<String> = gaps.iter().filter_map(of).collect();
    (!written.is_empty()).then(|| written.join("; "))
}

/// The checkup for programs. Keys are always there; what the system does not tell is `null`.
///
/// | key | holds |
/// | --- | --- |
/// | `schema_version`, `duet_version` | versions of this form and of duet |
/// | `watched_s` | how long the machine was watched |
/// | `machine` | what does not change; `quota_cpus` is `null` without a quota |
/// | `measured` | what it did: shares are fractions, `others_cpus` counts processors |
/// | `gaps` | for each processor, the time taken from a loop that only reads the clock, in pieces of more than 20 µs |
/// | `findings` | the gravest first: `kind`, `severity` (`note`, `disturbing`, `severe`), `text` and `hint` for people |
/// | `conclusion` | one sentence for people |
fn json(checkup: &Checkup) -> String {
    let Checkup { duet_version, facts, conditions, gaps, findings } = checkup;
    let gap = |gaps: &Gaps| {
        json!({
            "cpu": gaps.cpu,
            "watched_s": seconds(gaps.watched_ns),
            "count": gaps.count,
            "share": gaps.share(),
            "longest_s": seconds(gaps.longest_ns),
        })
    };
    document::json(&json!({
        "schema_version": SCHEMA_VERSION,
        "duet_version": duet_version,
        "watched_s": seconds(conditions.wall_ns),
        "machine": facts,
        "measured": measured(conditions),
        "gaps": gaps.iter().map(gap).collect::<Vec<_>>(),
        "findings": findings.iter().map(found).collect::<Vec<_>>(),
        "conclusion": noise::conclusion(findings),
    }))
}

fn measured(conditions: &Conditions) -> Value {
    let cpu = conditions.cpu;
    json!({
        "steal_share": cpu.and_then(|cpu| cpu.steal_share()),
        "interrupts_share": cpu.and_then(|cpu| cpu.irq_share()),
        "others_cpus": conditions.others_cpus(),
        "waiting_share": conditions.pressure.and_then(|pressure| pressure.share()),
        "throttled_share": conditions.throttling.and_then(|throttling| throttling.share()),
        "load_1min": conditions.load_1min,
        "frequency_lowest_khz": conditions.frequency.map(|range| range.lowest_khz),
        "frequency_highest_khz": conditions.frequency.map(|range| range.highest_khz),
        "thermal_events": conditions.thermal_events,
        "suspended_s": seconds(conditions.suspended_ns),
    })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use duetbench_core::noise::Kind;

    use super::*;
    use crate::options::Format;
    use crate::render::palette::Palette;

    fn silent() -> Checkup {
        Checkup {
            duet_version: "0.1.0".into(),
            facts: Facts {
                cpu_model: None,
                cpus_usable: 2,
                cpus_online: 2,
                cores_physical: 1,
                governor: None,
                frequency_max_khz: None,
                quota_cpus: None,
                virtualised: None,
            },
            conditions: Conditions { wall_ns: 2_000_000_000, ..Conditions::default() },
            gaps: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn text(checkup: &Checkup) -> String {
        document(checkup).write(Format::Text, &Palette::plain(), None).unwrap()
    }

    #[test]
    fn what_nobody_knows_is_a_question_mark() {
        let want = "duet 0.1.0: this machine, watched for 2.0s\n\n\
            cpu model:  ?\nprocessors: 2 on 1 core (SMT)\nfrequency:  ?\ngovernor:   ?\nquota:      none\nload:       ?\n\
            others:     ?\nsteal:      ?\ninterrupts: ?\ntaken away: ?\n\n\
            conclusion: nothing was seen that would disturb measuring\n";
        assert_eq!(text(&silent()), want);
    }

    #[test]
    fn findings_come_with_hints_and_a_conclusion() {
        let finding = Finding { kind: Kind::Steal { share: 0.12 }, severity: Severity::Severe };
        let gaps = vec![Gaps { cpu: 1, watched_ns: 100, count: 1, taken_ns: 3, longest_ns: 30_000 }];
        let mut checkup = Checkup { findings: vec![finding], gaps, ..silent() };
        checkup.facts.cpu_model = Some("evil\u{1b}[31m\nmodel".into());
        let text = text(&checkup);
        for line in [
            "cpu model:  evil [31m model\n",
            "taken away: 3% on processor 1, up to 30µs\n",
            "\nsevere: the hypervisor gave 12%",
            "\nhint: measure on a machine of your own",
            "\nconclusion: measuring here gives wide intervals",
        ] {
            assert!(text.contains(line), "`{line}` is missing in\n{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&json(&checkup)).unwrap();
        assert_eq!((&json["schema_version"], &json["watched_s"]), (&1.into(), &2.0.into()));
        assert_eq!(
            (&json["findings"][0]["kind"], &json["findings"][0]["severity"]),
            (&"steal".into(), &"severe".into())
        );
        assert_eq!((&json["gaps"][0]["cpu"], &json["measured"]["steal_share"]), (&1.into(), &serde_json::Value::Null));
    }
}
