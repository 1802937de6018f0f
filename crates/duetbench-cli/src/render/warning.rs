//! Words for warnings: what is the matter, and what would be enough.

use duetbench_core::analysis::{Basis, Warning};
use duetbench_core::plan::{Difference, Redefinition};
use serde_json::{Value, json};

use super::format::{self, change, many, one_line, share};

/// The warning for programs.
pub fn json(warning: &Warning) -> Value {
    json!({ "kind": json!(warning)["kind"], "text": text(warning) })
}

/// The sentence used for people, on one line and without a final period.
pub fn text(warning: &Warning) -> String {
    match warning {
        Warning::TooFewUnits { units, needed } => {
            format!("needs ≥ {needed} independent fork pairs, has {units}: raise `--budget` or `--forks`")
        }
        Warning::OutOfTime { needs_s, left_s } => {
            let left = if *left_s < 1.0 { "no time".into() } else { format::duration(left_s.floor()) };
            format!("needs about {} more, and the budget had {left} left", format::typed_time(*needs_s))
        }
        Warning::Orphans { samples } => {
            format!("{} left out because the other half is missing", many(*samples as usize, "sample", "samples"))
        }
        Warning::NotConfirmed { ratio, later } => format!(
            "{} at first, but {} in fresh trials, which exclude a change that matters",
            change(*ratio),
            change(*later)
        ),
        Warning::SingleBuild { layout_explains, layout_explains_most, may_be_all, relinks } => {
            let all = if *may_be_all { ", and may explain all of it" } else { "" };
            let remedy = if *relinks { ": without `--builds 1` the code is measured" } else { "" };
            let moves = moved_by_layout(*layout_explains, *layout_explains_most);
            format!("these two binaries differ; where the linker put things alone {moves}{all}{remedy}")
        }
        Warning::LinkedApart { as_linked } => format!(
            "as the linker places them without being asked, the two programs differ by {} in first trials: places in memory are the rest",
            change(*as_linked)
        ),
        Warning::IdleCores { ratio } => format!(
            "{} where idle cores do the collector's marking; here the benchmark's own core does it",
            change(*ratio)
        ),
        Warning::Degenerate => {
            "all units gave the same number, which says nothing about their spread: needs a benchmark that does more work".into()
        }
        Warning::NotCpuBound { cpu_share } => format!(
            "used the processor for {} of its time: if it does not wait on purpose, it needs a machine with less load",
            share(*cpu_share)
        ),
        Warning::SlowSlices { basis, ratio } => format!(
            "a few slow slices differ between the versions ({} beyond the typical slice): all slices were judged{}",
            change(*ratio),
            if *basis == Basis::SlicesInFull { ", in full" } else { "" }
        ),
        Warning::BesideOpen { basis, interval } => {
            format!("{}: {}", open_beside(*basis), format::interval(interval.low, interval.high))
        }
        Warning::NoSteadyState { role, within } => format!(
            "{} did not become steady within {within} iterations, all of which warm up now: `--warmup N` sets how many do",
            role.side()
        ),
        Warning::StillChanging { role, forks, of, ratio, warm_up } => format!(
            "{forks} of {of} processes of {} went on changing while they were judged ({} in the median): needs more than {warm_up} iterations to warm up: try `--warmup {}`",
            role.side(),
            change(*ratio),
            2 * warm_up.max(&1)
        ),
        Warning::Redefined(Redefinition { part, difference, .. }) => {
            let how = match difference {
                Difference::Source { path, line } => format!("{}:{line}", one_line(path)),
                Difference::Value { base, head } => format!("{} in base, {} in head", one_line(base), one_line(head)),
            };
            format!("the benchmark itself differs: `{}` ({how})", one_line(part))
        }
        Warning::FailedTrials { trials, first } => {
            format!("{} failed and left out, the first with: {}", many(*trials as usize, "trial", "trials"), one_line(first))
        }
    }
}

/// That this number alone leaves the threshold, in words.
fn open_beside(basis: Basis) -> &'static str {
    match basis {
        Basis::AllSlices => "the typical slice is within the threshold, all slices together are not shown to be",
        Basis::SlicesInFull => {
            "all slices in full, in few of which one version may wait, are not shown to be within the threshold"
        }
        Basis::TypicalSlice => "all slices together are within the threshold, the typical slice is not shown to be",
    }
}

/// Change that layout explains, as usual and at most, in words; both are alike where a calibration knows them.
fn moved_by_layout(usual: f64, most: f64) -> String {
    if usual == most {
        return format!("moves this benchmark by up to {}, by a calibration", share(usual));
    }
    format!("moves a benchmark by up to {}, a few by up to {}", share(usual), share(most))
}

#[cfg(test)]
mod tests {
    use duetbench_core::Role;
    use duetbench_core::analysis::RatioInterval;

    use super::*;

    /// Checks the words of a warning, and that the schema names its kind.
    fn check(warning: Warning, want: &str) {
        let schema = include_str!("../../../../schema/report-v1.schema.json");
        assert_eq!(text(&warning), want);
        let json = json(&warning);
        assert!(schema.contains(&format!(" {}", json["kind"].as_str().unwrap())), "{json}");
    }

    #[test]
    fn slices_that_were_judged_or_leave_a_question_open_are_named() {
        let interval = RatioInterval { low: 0.988, high: 1.063 };
        check(
            Warning::BesideOpen { basis: Basis::AllSlices, interval },
            "the typical slice is within the threshold, all slices together are not shown to be: [-1.2%, +6.3%]",
        );
        check(
            Warning::BesideOpen { basis: Basis::SlicesInFull, interval },
            "all slices in full, in few of which one version may wait, are not shown to be within the threshold: [-1.2%, +6.3%]",
        );
        check(
            Warning::BesideOpen { basis: Basis::TypicalSlice, interval },
            "all slices together are within the threshold, the typical slice is not shown to be: [-1.2%, +6.3%]",
        );
        check(
            Warning::SlowSlices { basis: Basis::SlicesInFull, ratio: 1.042 },
            "a few slow slices differ between the versions (+4.2% beyond the typical slice): all slices were judged, in full",
        );
        check(
            Warning::SlowSlices { basis: Basis::AllSlices, ratio: 1.042 },
            "a few slow slices differ between the versions (+4.2% beyond the typical slice): all slices were judged",
        );
    }

    #[test]
    fn every_warning_is_one_line_without_a_final_period_and_of_a_kind_that_the_schema_names() {
        check(
            Warning::TooFewUnits { units: 2, needed: 3 },
            "needs ≥ 3 independent fork pairs, has 2: raise `--budget` or `--forks`",
        );
        check(
            Warning::NotConfirmed { ratio: 1.05, later: 0.998 },
            "+5.0% at first, but -0.20% in fresh trials, which exclude a change that matters",
        );
        check(
            Warning::single_build(0.83, true, None),
            "these two binaries differ; where the linker put things alone moves a benchmark by up to 10%, a few by up to 34%, and may explain all of it: without `--builds 1` the code is measured",
        );
        check(
            Warning::single_build(1.6, false, Some(0.115)),
            "these two binaries differ; where the linker put things alone moves this benchmark by up to 34%, by a calibration",
        );
        check(
            Warning::LinkedApart { as_linked: 1.061 },
            "as the linker places them without being asked, the two programs differ by +6.1% in first trials: places in memory are the rest",
        );
        check(
            Warning::IdleCores { ratio: 1.061 },
            "+6.1% where idle cores do the collector's marking; here the benchmark's own core does it",
        );
        check(Warning::Orphans { samples: 1 }, "1 sample left out because the other half is missing");
        check(
            Warning::Degenerate,
            "all units gave the same number, which says nothing about their spread: needs a benchmark that does more work",
        );
        check(
            Warning::NotCpuBound { cpu_share: 0.431 },
            "used the processor for 43% of its time: if it does not wait on purpose, it needs a machine with less load",
        );
        check(
            Warning::NoSteadyState { role: Role::Candidate, within: 300 },
            "head did not become steady within 300 iterations, all of which warm up now: `--warmup N` sets how many do",
        );
        check(
            Warning::StillChanging { role: Role::Baseline, forks: 7, of: 10, ratio: 0.92, warm_up: 30 },
            "7 of 10 processes of base went on changing while they were judged (-8.0% in the median): needs more than 30 iterations to warm up: try `--warmup 60`",
        );
        check(
            Warning::FailedTrials { trials: 2, first: "panic: boom\n\tgoroutine 1".into() },
            "2 trials failed and left out, the first with: panic: boom goroutine 1",
        );
    }
}
