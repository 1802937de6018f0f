//! Results of a run on a fleet, for people and for programs.

use duetbench_core::fleet::{CallEnd, FleetReport, Lacking, ProcessorShare};
use serde_json::{Value, json};

use super::format::{change, one_line, short_name, shortened};

/// Most benchmarks that are named because they lack results.
const LACKING_MAX: usize = 5;

/// Calls, instances and cost in a sentence; *k of n* in every case.
pub(super) fn calls(fleet: &FleetReport) -> String {
    let troubles: String = fleet
        .calls
        .iter()
        .filter(|(end, _)| *end != CallEnd::Counted)
        .map(|(end, calls)| format!(", {calls} {}", trouble(*end)))
        .collect();
    let builds = if fleet.terms.builds == 1 { String::new() } else { format!(", {} build pairs", fleet.terms.builds) };
    let count = if fleet.tasks == 1 { "call counts" } else { "calls count" };
    let instances = if fleet.instances == 1 { "instance" } else { "instances" };
    format!(
        "{} of {} {count}{troubles}; {} {instances} of {} with {} MB ({}), {} started by a call{builds}; {:.0} s billed, about {} (prices of {})",
        fleet.counted,
        fleet.tasks,
        fleet.instances,
        fleet.engine.word(),
        fleet.memory_mb,
        fleet.arch.word(),
        fleet.cold,
        fleet.billed_s,
        dollars(fleet.cost_usd),
        fleet.terms.price_date,
    )
}

/// An amount in cents, or, where it is less than some, in hundredths of them.
pub fn dollars(amount: f64) -> String {
    if amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

fn trouble(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Counted => "counted",
        CallEnd::Sent => "never heard of",
        CallEnd::Duplicate => "came twice and are kept aside",
        CallEnd::Throttled => "throttled",
        CallEnd::Failed => "gave nothing",
    }
}

/// Whether ratios differ between models of processors, where there are several.
pub(super) fn processors(fleet: &FleetReport) -> Option<String> {
    let one = |share: &ProcessorShare| {
        let offset =
            share.offset.map_or(String::new(), |offset| format!(", ratios {} from the mean", change(1.0 + offset)));
        format!("{} ({} calls{offset})", one_line(&share.model), share.calls)
    };
    (fleet.processors.len() > 1).then(|| fleet.processors.iter().map(one).collect::<Vec<_>>().join("; "))
}

/// Benchmarks that lack results, and why.
pub(super) fn lacking(fleet: &FleetReport) -> Option<String> {
    let one = |lacking: &Lacking| {
        let Lacking { id, counted, asked, reason } = lacking;
        format!("{} {counted} of {asked} ({})", short_name(&id.name), shortened(&one_line(reason)))
    };
    let mut words: Vec<String> = fleet.lacking.iter().take(LACKING_MAX).map(one).collect();
    let more = fleet.lacking.len().saturating_sub(LACKING_MAX);
    words.extend((more > 0).then(|| format!("{more} more")));
    (!words.is_empty()).then(|| words.join("; "))
}

/// The same for programs.
pub(super) fn json(fleet: &FleetReport) -> Value {
    let calls = |end: CallEnd| fleet.calls.iter().find(|(known, _)| *known == end).map_or(0, |(_, calls)| *calls);
    let lacking = |lacking: &Lacking| {
        json!({
            "package": lacking.id.package,
            "name": lacking.id.name,
            "counted": lacking.counted,
            "asked": lacking.asked,
            "reason": lacking.reason,
        })
    };
    json!({
        "engine": fleet.engine.word(),
        "memory_mb": fleet.memory_mb,
        "arch": fleet.arch.word(),
        "builds": fleet.terms.builds,
        "package_bytes": fleet.terms.package_bytes,
        "price_date": fleet.terms.price_date,
        "tasks": fleet.tasks,
        "counted": fleet.counted,
        "calls": {
            "counted": calls(CallEnd::Counted),
            "duplicate": calls(CallEnd::Duplicate),
            "throttled": calls(CallEnd::Throttled),
            "failed": calls(CallEnd::Failed),
            "sent": calls(CallEnd::Sent),
        },
        "instances": fleet.instances,
        "cold": fleet.cold,
        "billed_s": fleet.billed_s,
        "cost_usd": fleet.cost_usd,
        "processors": fleet.processors,
        "lacking": fleet.lacking.iter().map(lacking).collect::<Vec<_>>(),
    })
}
