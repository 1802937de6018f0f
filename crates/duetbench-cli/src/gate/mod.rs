//! Applies the repository's policy to a report: its rules, and the slowdowns that it accepted.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use duetbench_core::Report;
use duetbench_core::gate::{Day, Gate, Waiver};
use duetbench_core::spec::Metric;
use duetbench_formats::bounded;
use duetbench_run::whole_file;
use serde::Deserialize;

use crate::failure::Failure;
use crate::metric::{MetricName, meant};
use crate::options::Setting;
use crate::project::policy_dir;
use crate::render::waiver;
use crate::settings::check_link;

pub mod altered;

/// Name of the file of waivers.
pub const WAIVERS: &str = "duet-waivers.toml";

/// The file of waivers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WaiverFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Its waivers; empty where there is no such file.
    pub waivers: Vec<Waiver>,
}

/// The file as people write it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverTables {
    #[serde(default)]
    waiver: Vec<WaiverTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverTable {
    benchmark: String,
    metric: Option<MetricName>,
    unit: Option<String>,
    #[serde(deserialize_with = "Setting::read")]
    ceiling: f64,
    expires: DayText,
    reason: String,
    link: Option<String>,
}

/// A day as itself or as a string.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum DayText {
    Date(toml::value::Datetime),
    Text(String),
}

impl WaiverFile {
    /// Reads the waivers in this folder; none where there is no file.
    ///
    /// # Errors
    /// Names the file and what in it cannot be understood.
    pub fn read(dir: &Path) -> Result<WaiverFile, Failure> {
        let path = dir.join(WAIVERS);
        let text = match bounded::read_text(&path, bounded::TEXT_MAX) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(Failure::usage(format!("cannot read `{}`: {e}", path.display()))),
        };
        let waivers = understood(&text)
            .map_err(|e| Failure::usage(format!("`{}` cannot be understood: {}", path.display(), e.trim_end())))?;
        Ok(WaiverFile { path, waivers })
    }

    /// Adds a waiver at the file's end; what stands in it stays as it is.
    ///
    /// # Errors
    /// When the file would not be one any more, as with a second waiver of the same metric, or cannot be written.
    pub fn add(&self, waiver: &Waiver) -> Result<(), Failure> {
        let all: Vec<Waiver> = self.waivers.iter().chain([waiver]).cloned().collect();
        let refused = |e: String| Failure::usage(format!("`{}`: {e}; edit the file", self.path.display()));
        Waiver::check(&all).map_err(|e| refused(e.to_string()))?;
        let mut text = bounded::read_text(&self.path, bounded::TEXT_MAX).unwrap_or_default();
        if !text.is_empty() {
            text += if text.ends_with('\n') { "\n" } else { "\n\n" };
        }
        text += &waiver::table(waiver).map_err(|e| refused(e.to_string()))?;
        understood(&text).map_err(refused)?;
        check_link(&self.path, self.path.parent().unwrap_or(&self.path))?;
        whole_file::write(&self.path, &text)
            .map_err(|e| Failure::usage(format!("cannot write `{}`: {e}", self.path.display())))
    }
}

/// The waivers of a file.
///
/// # Errors
/// In words, when a table cannot be understood, or two are of the same metric.
pub fn understood(text: &str) -> Result<Vec<Waiver>, String> {
    let tables: WaiverTables = toml::from_str(text).map_err(|e| e.to_string())?;
    let waivers: Vec<Waiver> = tables.waiver.into_iter().map(read).collect::<Result<_, String>>()?;
    Waiver::check(&waivers).map_err(|e| e.to_string())?;
    Ok(waivers)
}

fn read(table: WaiverTable) -> Result<Waiver, String> {
    let WaiverTable { benchmark, metric, unit, ceiling, expires, reason, link } = table;
    let metric = meant(metric, unit).map_err(|why| format!("the waiver of `{benchmark}`: {why}"))?;
    let expires = match expires {
        DayText::Date(date) => date.to_string(),
        DayText::Text(text) => text,
    };
    let expires = expires.parse().map_err(|e| format!("the waiver of `{benchmark}`: `expires`: {e}"))?;
    Ok(Waiver { benchmark, metric: metric.unwrap_or(Metric::Time), ceiling, expires, reason, link })
}

/// Holds the rules of the run, the waivers of the repository around a directory and, where that is `strict`, the wish for answers against
/// a report; without any of them it stays as it is.
///
/// # Errors
/// When the file of waivers cannot be understood.
pub fn decided(report: Report, cwd: &Path, strict: bool) -> Result<Report, Failure> {
    let WaiverFile { waivers, .. } = WaiverFile::read(&policy_dir(cwd))?;
    let demands = strict && report.undecided() > 0;
    if waivers.is_empty() && report.spec.rules.is_empty() && !demands {
        return Ok(report);
    }
    let mut gate = Gate::decide(report.found(), report.spec.thresholds(), &waivers, today());
    if demands {
        gate.demand_answers(report.found());
    }
    Ok(Report { gate: Some(gate), ..report })
}

/// The day it is, in Greenwich.
pub fn today() -> Day {
    in_days(0)
}

/// The day so many days from now, in Greenwich.
pub fn in_days(days: u32) -> Day {
    let then = SystemTime::now() + Duration::from_secs(86_400 * u64::from(days));
    let then = humantime::format_rfc3339_seconds(then).to_string();
    then.get(..10).and_then(|day| day.parse().ok()).unwrap_or(Day::FIRST)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FILE: &str = "# Accepted.\n[[waiver]]\nbenchmark = 'p.A' # a comment\nceiling = '8%'\nexpires = 2026-12-31\nreason = 'r'\n\
                        [[waiver]]\nbenchmark = 'p.A'\nmetric = 'bytes'\nceiling = 0.5\nexpires = '2027-01-31'\nreason = 'r'\nlink = 'l'\n";

    #[test]
    fn a_file_is_read() {
        let waivers = understood(FILE).unwrap();
        let about: Vec<_> = waivers.iter().map(|w| (w.metric.clone(), w.ceiling, w.expires.to_string())).collect();
        let want = [(Metric::Time, 0.08, "2026-12-31".to_owned()), (Metric::Bytes, 0.5, "2027-01-31".to_owned())];
        assert_eq!(about, want);
        assert_eq!(understood(""), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_waiver_is_named() {
        let error = |from: &str, to: &str| understood(&FILE.replacen(from, to, 1)).unwrap_err();
        assert!(error("2026-12-31", "'soon'").contains("`p.A`: `expires`"));
        assert!(error("8%", "0%").contains("must lie above 0"));
        assert!(error("reason = 'r'\n", "").contains("reason"));
        assert!(error("ceiling", "sealing").contains("sealing"));
        assert!(error("metric = 'bytes'\n", "").contains("two waivers"));
        assert!(error("metric = 'bytes'\n", "metric = 'bytes'\nunit = 'rows/s'\n").contains("exclude each other"));
    }

    #[test]
    fn a_waiver_is_added_and_the_rest_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(WAIVERS);
        let added = Waiver {
            benchmark: "p.B \"x\"".into(),
            metric: Metric::Allocs,
            ceiling: 0.125,
            expires: "2027-02-28".parse().unwrap(),
            reason: "two\nlines".into(),
            link: Some("https://example.com/1".into()),
        };
        WaiverFile::read(dir.path()).unwrap().add(&added).unwrap();
        assert_eq!(WaiverFile::read(dir.path()).unwrap().waivers, std::slice::from_ref(&added));
        fs::write(&path, FILE).unwrap();
        let file = WaiverFile::read(dir.path()).unwrap();
        file.add(&added).unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with(FILE));
        let of_unit = Waiver { metric: Metric::Reported("rows/s".into()), ..added.clone() };
        WaiverFile::read(dir.path()).unwrap().add(&of_unit).unwrap();
        assert_eq!(WaiverFile::read(dir.path()).unwrap().waivers[3], of_unit);
        let again = WaiverFile::read(dir.path()).unwrap();
        assert_eq!((again.waivers.len(), &again.waivers[2]), (4, &added));
        assert!(again.add(&added).unwrap_err().to_string().contains("two waivers"));
    }
}
