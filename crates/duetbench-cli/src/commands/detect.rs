//! `duet analyze --method`: two recordings, compared at every level of their values.

use std::collections::BTreeMap;
use std::path::Path;

use duetbench_core::Recording;
use duetbench_core::detect::{Detection, HouseRule, PaperRule, Rules, Statistic, detect, fidelity};
use duetbench_core::spec::Decision;
use duetbench_formats::Tool;
use duetbench_run::RunError;
use duetbench_run::plan_file::{PlanFile, PlannedRepetitions};

use super::analyze::exit_of;
use super::{Context, check_fractions, source};
use crate::args::{AnalyzeArgs, Method};
use crate::failure::{Failure, code};
use crate::render::detect::{self, Answered};

/// Benchmarks of a side that are named where none is in both.
const NAMED_MAX: usize = 3;

/// Compares two recordings and prints what changed; gives the exit code.
///
/// # Errors
/// When one cannot be read, they have nothing in common, or a number is out of range.
pub fn run(args: &AnalyzeArgs, head: &str, context: &Context) -> Result<u8, Failure> {
    let (decide, by) = (&args.judge.decide, &args.method);
    let Decision { threshold, alpha, false_discovery_rate: fdr, .. } = context.settings.decision(Decision::default())?;
    // Who types a confidence means it of both rules.
    let alpha = decide.alpha.or(by.confidence.map(error_of)).unwrap_or(alpha);
    let confidence = by.confidence.unwrap_or(1.0 - alpha);
    check_fractions(&[("confidence", confidence)])?;
    let (base, head) = (source::recording(&args.base, context)?, source::recording(head, context)?);
    let paper = PaperRule { statistic: by.statistic.unwrap_or(Statistic::Median), confidence, threshold };
    let house = HouseRule { threshold, alpha, fdr };
    let method = by.method.unwrap_or(Method::Both);
    let rules = Rules {
        paper: (method != Method::Duet).then(|| paper.clone()),
        house: (method != Method::Paper).then_some(house),
    };
    let mut detection = detect(&base, &head, &rules);
    if let Some(plan) = &by.plan {
        detection.fidelity = Some(fidelity(&base, &head, &planned(plan, &base)?, &paper));
    }
    if detection.benchmarks.is_empty() {
        return Err(nothing(&detection, None).into());
    }
    // The papers' rule gates nothing.
    let exit_code = match method {
        Method::Paper => code::CLEAN,
        Method::Duet | Method::Both => exit_of(&detection, context.settings.strict()),
    };
    let duet_version = env!("CARGO_PKG_VERSION").to_owned();
    context.printer.document(&detect::document(&Answered {
        duet_version,
        rules,
        detection,
        unpaired: None,
        exit_code,
    }))?;
    Ok(exit_code)
}

/// The error that a confidence allows, without the rounding error of the subtraction.
pub(super) fn error_of(confidence: f64) -> f64 {
    ((1.0 - confidence) * 1e12).round() / 1e12
}

/// That there was nothing to compare, and why.
pub(super) fn nothing(detection: &Detection, tool: Option<&Tool>) -> RunError {
    if let Some(first) = detection.not_compared.first() {
        let what = format!("nothing could be compared: {first}");
        return RunError::nothing_to_measure(what).hint("measure both in the same way");
    }
    let few = |names: &[String]| {
        let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
        shown.join(", ") + if names.len() > shown.len() { ", …" } else { "" }
    };
    let (base, head) = (few(&detection.only_base), few(&detection.only_head));
    let what = format!("base and head have no benchmark in common: base has {base}, head has {head}");
    RunError::nothing_to_measure(what).hint(match tool {
        Some(tool) if tool.name == "hyperfine" => "give both the same `-n`, or measure with `duet compare --command`",
        _ => "both must be recordings of the same suite",
    })
}

/// The plan's configurations of a recording's benchmarks, by name.
fn planned(path: &Path, recording: &Recording) -> Result<BTreeMap<String, Vec<usize>>, Failure> {
    let plan = PlanFile::read(path)?;
    let of_name: BTreeMap<&str, &PlannedRepetitions> = plan.benchmarks.iter().map(|b| (b.name.as_str(), b)).collect();
    let mut configurations = BTreeMap::new();
    for recorded in &recording.benchmarks {
        if let Some(planned) = of_name.get(recorded.benchmark.as_str()) {
            let configuration = planned.shape(&recording.levels, recorded.grid.shape());
            configurations.insert(recorded.benchmark.clone(), configuration);
        }
    }
    if configurations.is_empty() {
        return Err(Failure::usage(format!("the plan `{}` names no benchmark of base", path.display())));
    }
    Ok(configurations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_confidence_is_what_was_meant() {
        assert_eq!([0.99, 0.95, 0.999, 0.9].map(error_of), [0.01, 0.05, 0.001, 0.1]);
    }
}
