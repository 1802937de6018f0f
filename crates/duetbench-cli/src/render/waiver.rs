//! Waivers as the tables of `duet-waivers.toml`.

use std::fmt::Write;
use std::time::Duration;

use duetbench_core::Report;
use duetbench_core::gate::{Day, Waiver};
use duetbench_core::spec::Metric;
use serde::Serialize;

use super::format::{one_line, trimmed};

/// Days for which a report proposes to accept something.
pub const DAYS: u32 = 90;

/// A waiver as a table of the file.
///
/// # Errors
/// When it cannot be written as TOML.
pub fn table(waiver: &Waiver) -> Result<String, toml::ser::Error> {
    #[derive(Serialize)]
    struct Table<'a> {
        benchmark: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        metric: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        unit: Option<&'a str>,
        ceiling: String,
        expires: String,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        link: Option<&'a str>,
    }
    let is_unit = matches!(waiver.metric, Metric::Reported(_));
    let word = |wanted: bool| (is_unit == wanted).then(|| waiver.metric.word());
    let table = Table {
        benchmark: &waiver.benchmark,
        metric: word(false),
        unit: word(true),
        ceiling: exact_percent(waiver.ceiling),
        expires: waiver.expires.to_string(),
        reason: &waiver.reason,
        link: waiver.link.as_deref(),
    };
    Ok(format!("[[waiver]]\n{}", toml::to_string(&table)?))
}

/// The tables that would let the change of this report pass, for a while from the day on which it was measured. A name that would have
/// to be written otherwise, to be safe where it is shown, is nobody's to accept.
pub(super) fn proposed(report: &Report) -> Vec<String> {
    let Some(expires) = days_after(&report.started, DAYS) else { return Vec::new() };
    let all = report.waivers_to_pass(expires, "why it is worth it");
    all.iter()
        .filter(|waiver| one_line(&waiver.benchmark) == waiver.benchmark)
        .filter_map(|one| table(one).ok())
        .collect()
}

/// A fraction as people write it, exact to a hundredth of a percent.
pub fn percent(fraction: f64) -> String {
    trimmed(100.0 * fraction, 2) + "%"
}

/// A fraction in percent with all digits that anybody types: a ceiling that is rounded down is below what it was given for.
pub fn exact_percent(fraction: f64) -> String {
    trimmed(100.0 * fraction, 6) + "%"
}

/// The day so many days after a moment in RFC 3339, in Greenwich.
fn days_after(moment: &str, days: u32) -> Option<Day> {
    let then = humantime::parse_rfc3339_weak(moment).ok()? + Duration::from_secs(86_400 * u64::from(days));
    // Its words fail beyond the year 9999.
    let mut words = String::new();
    write!(words, "{}", humantime::format_rfc3339_seconds(then)).ok()?;
    words.get(..10)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_keeps_its_digits() {
        let check = |fraction: f64, want: &str| assert_eq!(exact_percent(fraction), want);
        check(0.000_04, "0.004%");
        check(0.00625, "0.625%");
        check(0.07, "7%");
    }

    #[test]
    fn a_proposal_holds_for_a_while_from_the_day_of_measuring() {
        let day = |moment| days_after(moment, DAYS).map(|day| day.to_string());
        assert_eq!(day("2026-11-24T03:02:49Z").as_deref(), Some("2027-02-22"));
        assert_eq!(day("yesterday"), None);
        assert_eq!(day("9999-12-31T23:00:00Z"), None);
    }
}
