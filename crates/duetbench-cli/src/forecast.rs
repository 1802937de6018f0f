//! The number of benchmarks that the time of a comparison is enough for, said before anything is measured.

use duetbench_core::Spec;
use duetbench_core::plan::Plan;

use crate::render::format::{benchmarks, typed_time};

/// A suite that takes longer is told how it is bounded, seconds.
const LONG_S: f64 = 60.0;

/// For how many benchmarks a budget is enough; without one, how long it takes at most, if that is long.
pub fn words(plan: &Plan, spec: &Spec) -> Option<String> {
    let forecast = plan.forecast();
    let (most_s, all_s) = (plan.predicted().as_secs_f64(), forecast.all_ns as f64 * 1e-9);
    if let Some(budget) = spec.effort.budget {
        // First trials may have taken some of it already.
        let spent_s = budget.as_secs_f64() - plan.budget_ns.map_or(0.0, |left_ns| left_ns as f64 * 1e-9);
        let budget = humantime::format_duration(budget);
        let enough_for =
            if forecast.enough_for == 0 { "none".into() } else { format!("about {}", forecast.enough_for) };
        let beside = if plan.disturbed { " beside what else runs" } else { "" };
        let chooses = if forecast.benchmarks > 1 { ", the cheapest first: `--bench PATTERN` chooses" } else { "" };
        return (forecast.enough_for < forecast.benchmarks).then(|| {
            format!(
                "{budget} is enough for {enough_for} of {}{beside}{chooses}; large changes may show sooner, `--budget {}` is enough for all",
                benchmarks(forecast.benchmarks as usize),
                typed_time(spent_s + all_s)
            )
        });
    }
    let bounded = typed_time(all_s.min(most_s / 2.0));
    let bounds = if spec.effort.forks.is_some() { String::new() } else { format!("`--budget {bounded}` bounds it, ") };
    (most_s > LONG_S).then(|| {
        format!(
            "measuring takes up to about {}, and less where benchmarks are settled before: {bounds}`--bench PATTERN` chooses",
            typed_time(most_s)
        )
    })
}
