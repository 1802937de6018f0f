//! Words for what the machine did: what was found, and what to do about it.

use duetbench_core::noise::{Advice, Finding, Kind, Severity};
use serde_json::{Value, json};

use super::format::{duration, many, one_line, share, trimmed};

/// Findings as lines for people, each with its severity in front.
pub fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.severity.word(), text(&finding.kind))).collect()
}

/// Advice, each kind once, the most important first.
pub fn hints(findings: &[Finding]) -> Vec<&'static str> {
    let mut hints = Vec::new();
    for hint in findings.iter().filter_map(Finding::advice).map(advice) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}

/// The conclusion from all findings, in one sentence.
pub fn conclusion(findings: &[Finding]) -> &'static str {
    match findings.iter().map(|finding| finding.severity).max() {
        None => "nothing was seen that would disturb measuring",
        Some(Severity::Note) => {
            "measuring should go well here: comparing in lock-step takes away most of what was noted"
        }
        Some(Severity::Disturbing) => "measuring works here, but intervals will be wider than they need be",
        Some(Severity::Severe) => {
            "measuring here gives wide intervals or takes long: another machine or another time is the better choice"
        }
    }
}

/// The finding for programs.
pub fn json(finding: &Finding) -> Value {
    let kind = json!(finding.kind);
    json!({
        "kind": kind.as_object().and_then(|word_and_numbers| word_and_numbers.keys().next()),
        "severity": finding.severity,
        "text": text(&finding.kind),
    })
}

/// A finding on one line, without a final period.
pub fn text(kind: &Kind) -> String {
    match kind {
        Kind::Steal { share: stolen } => {
            format!("the hypervisor gave {} of the processor time to others (steal)", share(*stolen))
        }
        Kind::Throttled { share: throttled, quota_cpus } => {
            let quota = quota_cpus.map_or_else(String::new, |cpus| format!(" of {}", processors(cpus)));
            format!("the quota{quota} ran out in {} of its periods", share(*throttled))
        }
        Kind::Quota { quota_cpus, cpus } => {
            format!("a quota allows {}, although {cpus} seem usable", processors(*quota_cpus))
        }
        Kind::Neighbours { cpus, of } => {
            format!("other processes kept {} busy, of {of}", processors(*cpus))
        }
        Kind::Load { load_1min, cpus } => format!(
            "the load was {load_1min:.1} on {} in the last minute, although little was seen to run",
            many(*cpus as usize, "processor", "processors")
        ),
        Kind::Waiting { share: waiting } => {
            format!("threads were waiting for a processor {} of the time", share(*waiting))
        }
        Kind::Interrupts { share: taken } => format!("interrupts took {} of the processor time", share(*taken)),
        Kind::Gaps { share: taken, longest_ns, cpu } => format!(
            "{} of the time was taken from a loop that only reads the clock, up to {} at once (on processor {cpu})",
            share(*taken),
            short_duration(*longest_ns)
        ),
        Kind::FrequencyMoved { lowest_khz, highest_khz } => {
            format!("the frequency moved between {} and {}", frequency(*lowest_khz), frequency(*highest_khz))
        }
        Kind::Governor { governor } => {
            format!("the governor `{}` may change the frequency", one_line(governor).replace('`', "'"))
        }
        Kind::Thermal { events } => format!("processors were slowed down to cool, {}", times(*events)),
        Kind::SharedCores { cpus, cores } => {
            format!("{cpus} processors share {} (SMT)", many(*cores as usize, "core", "cores"))
        }
        Kind::Suspended { times: count, total_ns } => {
            format!("the machine slept {}, for {}", times(u64::from(*count)), duration(*total_ns as f64 * 1e-9))
        }
        Kind::ClockStepped { step_ns } => format!(
            "the time of day was set {} by {}, which measured times do not depend on",
            if *step_ns < 0 { "back" } else { "forward" },
            short_duration(step_ns.unsigned_abs())
        ),
        Kind::Migrated { times: count } => format!("it was moved to another machine {}", times(u64::from(*count))),
        Kind::Collector { share: taken } => {
            format!("the garbage collector took {} of the measured time", share(*taken))
        }
        Kind::Preempted { per_s } => format!("measured processes lost their processor {per_s:.0} times a second"),
    }
}

/// Advice in words, with a command that works when pasted where there is one.
pub fn advice(advice: Advice) -> &'static str {
    match advice {
        Advice::OtherMachine => {
            "measure on a machine of your own, or on a runner or instance type whose processors are not shared"
        }
        Advice::RaiseQuota => {
            "give the container a larger quota or none: `--cpus` of `docker run`, `resources.limits.cpu` in Kubernetes"
        }
        Advice::StopNeighbours => "see what else runs with `top`, and end it or wait for its end",
        Advice::FixFrequency => "keep the frequency up with `sudo cpupower frequency-set -g performance`",
        Advice::Cool => "let the machine cool, plug it in, and keep its air free",
        Advice::OneCpuPerCore => {
            "leave one processor of each core until the next start with `echo off | sudo tee /sys/devices/system/cpu/smt/control`"
        }
        Advice::KeepAwake => {
            "keep the machine awake with `systemd-inhibit --what=sleep:idle:handle-lid-switch duet compare`, and its lid open"
        }
        Advice::QuietDevices => {
            "see which device interrupts with `cat /proc/interrupts`, and keep network and disk quiet"
        }
        Advice::TameCollector => "let the collector run less often in both versions with `GOGC=400 duet compare`",
    }
}

/// A number of processors, which may be a fraction.
fn processors(cpus: f64) -> String {
    let short = trimmed(cpus, 2);
    format!("{short} {}", if short == "1" { "processor" } else { "processors" })
}

fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{count} times") }
}

/// A frequency: `2.60 GHz`.
pub fn frequency(khz: u64) -> String {
    format!("{:.2} GHz", khz as f64 * 1e-6)
}

/// A span of time that may be shorter than a millisecond.
pub fn short_duration(ns: u64) -> String {
    if ns < 999_500 { format!("{:.0}µs", ns as f64 * 1e-3) } else { duration(ns as f64 * 1e-9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_is_one_line_without_a_final_period_and_has_a_word_for_programs() {
        let mut words: Vec<String> = Vec::new();
        let mut check = |kind: Kind, want: &str| {
            let finding = Finding { kind, severity: Severity::Note };
            words.push(json(&finding)["kind"].as_str().unwrap().to_owned());
            assert_eq!(lines(&[finding]), [format!("note: {want}")]);
        };
        check(Kind::Steal { share: 0.12 }, "the hypervisor gave 12% of the processor time to others (steal)");
        check(
            Kind::Throttled { share: 0.3, quota_cpus: Some(1.0) },
            "the quota of 1 processor ran out in 30% of its periods",
        );
        check(Kind::Throttled { share: 0.3, quota_cpus: None }, "the quota ran out in 30% of its periods");
        check(Kind::Quota { quota_cpus: 1.5, cpus: 8 }, "a quota allows 1.5 processors, although 8 seem usable");
        check(Kind::Neighbours { cpus: 0.8, of: 2 }, "other processes kept 0.8 processors busy, of 2");
        check(
            Kind::Load { load_1min: 3.04, cpus: 1 },
            "the load was 3.0 on 1 processor in the last minute, although little was seen to run",
        );
        check(Kind::Waiting { share: 0.2 }, "threads were waiting for a processor 20% of the time");
        check(Kind::Interrupts { share: 0.05 }, "interrupts took 5% of the processor time");
        check(
            Kind::Gaps { share: 0.031, longest_ns: 450_000, cpu: 1 },
            "3.1% of the time was taken from a loop that only reads the clock, up to 450µs at once (on processor 1)",
        );
        check(
            Kind::FrequencyMoved { lowest_khz: 1_200_000, highest_khz: 3_400_000 },
            "the frequency moved between 1.20 GHz and 3.40 GHz",
        );
        check(
            Kind::Governor { governor: "power`\nsave".into() },
            "the governor `power' save` may change the frequency",
        );
        check(Kind::Thermal { events: 4 }, "processors were slowed down to cool, 4 times");
        check(Kind::SharedCores { cpus: 4, cores: 2 }, "4 processors share 2 cores (SMT)");
        check(Kind::Suspended { times: 1, total_ns: 3_000_000_000 }, "the machine slept once, for 3.0s");
        check(
            Kind::ClockStepped { step_ns: -60_000_000 },
            "the time of day was set back by 60ms, which measured times do not depend on",
        );
        check(Kind::Migrated { times: 2 }, "it was moved to another machine 2 times");
        check(Kind::Collector { share: 0.4 }, "the garbage collector took 40% of the measured time");
        check(Kind::Preempted { per_s: 150.4 }, "measured processes lost their processor 150 times a second");
        words.dedup();
        assert_eq!(
            words.join(" "),
            "steal throttled quota neighbours load waiting interrupts gaps frequency_moved governor thermal shared_cores suspended \
             clock_stepped migrated collector preempted"
        );
    }

    #[test]
    fn advice_is_given_once() {
        let finding = |kind| Finding { kind, severity: Severity::Note };
        let findings = [
            finding(Kind::FrequencyMoved { lowest_khz: 1, highest_khz: 2 }),
            finding(Kind::ClockStepped { step_ns: 1 }),
            finding(Kind::Steal { share: 0.1 }),
            finding(Kind::Governor { governor: "powersave".into() }),
        ];
        assert_eq!(hints(&findings), [advice(Advice::FixFrequency), advice(Advice::OtherMachine)]);
    }

    #[test]
    fn the_gravest_finding_decides_the_conclusion() {
        let of = |severities: &[Severity]| {
            let kind = Kind::Thermal { events: 1 };
            let findings: Vec<Finding> =
                severities.iter().map(|&severity| Finding { kind: kind.clone(), severity }).collect();
            conclusion(&findings)
        };
        assert!(of(&[]).starts_with("nothing was seen"));
        assert!(of(&[Severity::Note]).contains("should go well"));
        assert!(of(&[Severity::Note, Severity::Disturbing]).contains("wider"));
        assert!(of(&[Severity::Severe, Severity::Note]).contains("another machine"));
    }
}
