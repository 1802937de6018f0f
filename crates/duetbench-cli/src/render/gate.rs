//! Effect of policy and waivers on a report, in words and for programs.

use duetbench_core::gate::{Accepted, Breach, Gate, Stale, StaleWaiver, Standing};
use duetbench_core::spec::Metric;
use duetbench_core::{BenchmarkId, Report};
use serde_json::{Value, json};

use super::format::{named, one_line, share, share_beyond};
use super::names::Short;

/// Most names in a line.
const NAMES_MAX: usize = 3;

/// Everything that people should know of it, the gravest first; nothing where there is none.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let names = Short::of_report(report);
    let mut lines = stopping(report, &names);
    if let Some(gate) = &report.gate {
        lines.extend(gate.waived().map(|one| breach(one, &names)));
        lines.extend(accepted_open(gate).map(|one| accepted(one, &names)));
        let informing = gate.breaches.iter().filter(|b| b.standing == Standing::Informs);
        lines.extend(informing.map(|one| breach(one, &names)));
    }
    lines
}

/// Reasons why the change is stopped: breaches, stale waivers, missing answers.
pub(super) fn stopping(report: &Report, names: &Short) -> Vec<String> {
    let Some(gate) = &report.gate else { return Vec::new() };
    let unanswered = gate.unanswered().map(|one| format!("fails: {} has no answer", called(&one.id, names)));
    gate.failing().map(|one| breach(one, names)).chain(gate.stale.iter().map(stale)).chain(unanswered).collect()
}

/// A benchmark as sentences name it.
pub(super) fn called(id: &BenchmarkId, names: &Short) -> String {
    format!("`{}`", one_line(&names.name(id)))
}

/// A breach with what comes of it.
pub(super) fn breach(breach: &Breach, names: &Short) -> String {
    let Breach { id, metric, change, threshold, standing } = breach;
    let limit = if let Standing::AboveCeiling { ceiling } = standing { *ceiling } else { *threshold };
    let grown = match (metric, change.is_finite()) {
        (Metric::Reported(_), true) => format!("worse by {}", share_beyond(*change, limit)),
        (Metric::Reported(_), false) => "worse".into(),
        (_, true) => format!("+{}", share_beyond(*change, limit)),
        (_, false) => "from nothing".into(),
    };
    let what = format!("{} of {} {grown}", words(metric), called(id, names));
    // The size that fresh trials confirmed; how sure it is to exceed the threshold, the first round says.
    let less = *metric == Metric::Time && change <= threshold;
    match standing {
        Standing::Fails if less => {
            format!("fails: {what} in fresh trials, more than the tolerated {} at first", share(*threshold))
        }
        Standing::Fails if *threshold > 0.0 => format!("fails: {what}, {} are tolerated", share(*threshold)),
        Standing::Fails if *metric == Metric::Time => format!("fails: {what}, nothing slower is tolerated"),
        Standing::Fails => format!("fails: {what}"),
        Standing::Informs => format!("for information: {what}"),
        Standing::Waived { ceiling, expires } => {
            format!("accepted: {what}, up to {} until {expires}", share(*ceiling))
        }
        Standing::AboveCeiling { ceiling } => format!("fails: {what}, of which {} were accepted", share(*ceiling)),
        Standing::Expired { expires } => format!("fails: {what}, which was accepted until {expires}"),
    }
}

/// Slowdowns of open size that were accepted and are no breach, which says so itself.
fn accepted_open(gate: &Gate) -> impl Iterator<Item = &Accepted> {
    let is_breach = |one: &Accepted| gate.breaches.iter().any(|b| (&b.id, &b.metric) == (&one.id, &one.metric));
    gate.accepted.iter().filter(move |one| !is_breach(one))
}

fn accepted(Accepted { id, metric, at_most, ceiling, expires }: &Accepted, names: &Short) -> String {
    let (what, name) = (words(metric), called(id, names));
    let [at_most, ceiling] = [at_most, ceiling].map(|change| share(*change));
    format!("accepted: {what} of {name} worse by an open size, at most {at_most}, up to {ceiling} until {expires}")
}

pub(super) fn stale(StaleWaiver { waiver, why, fits }: &StaleWaiver) -> String {
    let what = format!("the waiver for {} of `{}`", words(&waiver.metric), one_line(&waiver.benchmark));
    match why {
        Stale::Expired => format!("{what} expired on {}: renew or remove it", waiver.expires),
        Stale::Unused => format!("{what} is not needed any more: remove it"),
        Stale::Ambiguous => {
            let names: Vec<String> = fits.iter().map(ToString::to_string).collect();
            format!("{what} may be about several and accepts none: name one of {}", named(&names, NAMES_MAX))
        }
    }
}

fn words(metric: &Metric) -> String {
    match metric {
        Metric::Time => "time".into(),
        Metric::Allocs => "allocations".into(),
        Metric::Bytes => "allocated bytes".into(),
        Metric::Instructions => "instructions".into(),
        Metric::Reported(unit) => format!("`{}`", one_line(unit)),
    }
}

/// The same for programs.
pub(super) fn json(gate: &Gate) -> Value {
    let unanswered = gate.unanswered().map(|one| json!({ "package": one.id.package, "name": one.id.name }));
    json!({
        "passes": gate.failing().next().is_none() && gate.stale.is_empty() && gate.unanswered().next().is_none(),
        "breaches": gate.breaches.iter().map(breach_json).collect::<Vec<_>>(),
        "accepted": accepted_open(gate).map(accepted_json).collect::<Vec<_>>(),
        "stale_waivers": gate.stale.iter().map(stale_json).collect::<Vec<_>>(),
        "unanswered": unanswered.collect::<Vec<_>>(),
    })
}

/// A breach for programs.
pub(super) fn breach_json(breach: &Breach) -> Value {
    let standing = json!(breach.standing);
    json!({
        "package": breach.id.package,
        "name": breach.id.name,
        "metric": breach.metric.word(),
        "change": breach.change,
        "threshold": breach.threshold,
        "standing": standing["is"],
        "ceiling": standing["ceiling"],
        "expires": standing["expires"],
    })
}

fn accepted_json(Accepted { id, metric, at_most, ceiling, expires }: &Accepted) -> Value {
    json!({
        "package": id.package,
        "name": id.name,
        "metric": metric.word(),
        "at_most": at_most,
        "ceiling": ceiling,
        "expires": expires.to_string(),
    })
}

fn stale_json(StaleWaiver { waiver, why, .. }: &StaleWaiver) -> Value {
    json!({
        "benchmark": waiver.benchmark,
        "metric": waiver.metric.word(),
        "why": why,
        "expires": waiver.expires.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_of_one_name_are_told_apart_by_their_packages() {
        let ids =
            ["m/codec", "m/sub"].map(|package| BenchmarkId { package: package.into(), name: "BenchmarkA".into() });
        let names = Short::of(ids.iter());
        let told = |id: &BenchmarkId| {
            let (id, standing) = (id.clone(), Standing::Fails);
            breach(&Breach { id, metric: Metric::Time, change: 0.1, threshold: 0.03, standing }, &names)
        };
        assert_eq!(told(&ids[0]), "fails: time of `codec.A` +10%, 3% are tolerated");
        assert_eq!(told(&ids[1]), "fails: time of `sub.A` +10%, 3% are tolerated");
    }

    #[test]
    fn a_breach_is_larger_than_its_limit_in_figures_too() {
        let time = |change, standing| {
            let id = BenchmarkId { package: "p".into(), name: "BenchmarkA".into() };
            let names = Short::of([&id].into_iter());
            breach(&Breach { id, metric: Metric::Time, change, threshold: 0.03, standing }, &names)
        };
        assert_eq!(time(0.041, Standing::Fails), "fails: time of `A` +4.1%, 3% are tolerated");
        assert_eq!(time(0.0304, Standing::Fails), "fails: time of `A` +3.04%, 3% are tolerated");
        let confirmed = "fails: time of `A` +2.5% in fresh trials, more than the tolerated 3% at first";
        assert_eq!(time(0.025, Standing::Fails), confirmed);
        let accepted = Standing::AboveCeiling { ceiling: 0.09 };
        assert_eq!(time(0.0904, accepted), "fails: time of `A` +9.04%, of which 9% were accepted");
    }
}
