//! Results of a stored comparison, in the shape that the duet paper's procedure needs.

use duetbench_core::pair::pair;
use duetbench_core::plan::{Mode, PlannedBenchmark};
use duetbench_run::engine::TrialOutcome;
use duetbench_run::store::{RunHead, StoredRun};

use super::experiment::why_excluded;
use crate::papers::duet::{PairedBenchmark, PairedFork, PairedRun};

/// The times of every fork pair's paired iterations, in the order of measuring, warm-up left out.
///
/// In sequential mode nothing is paired, and such a benchmark has no fork pairs here but the reason. The rounds that confirm are
/// left out, because only benchmarks that looked like regressions have them, and so is what was measured before a benchmark fell
/// back to another mode.
pub fn paired(run: &StoredRun<RunHead>) -> PairedRun {
    let plan = run.plan();
    let of = |planned: &PlannedBenchmark| PairedBenchmark {
        benchmark: planned.id.to_string(),
        mode: Some(planned.mode),
        forks: Vec::new(),
        missing: (planned.mode == Mode::Sequential).then(|| SEQUENTIAL.to_owned()),
    };
    let mut benchmarks: Vec<PairedBenchmark> = plan.benchmarks.iter().map(of).collect();
    for (trial, outcome) in run.trials.iter().filter(|(trial, _)| trial.round == 0) {
        if let Some(benchmark) = benchmarks.get_mut(trial.benchmark) {
            add(benchmark, outcome);
        }
    }
    benchmarks.extend(plan.excluded.iter().map(|excluded| PairedBenchmark {
        benchmark: excluded.id().to_string(),
        mode: None,
        forks: Vec::new(),
        missing: Some(why_excluded(excluded)),
    }));
    benchmarks.sort_by(|a, b| a.benchmark.cmp(&b.benchmark));
    PairedRun { name: run.name.clone(), benchmarks }
}

/// Why a benchmark of whole processes one after the other is left out.
const SEQUENTIAL: &str = "measured in sequential mode, where no iteration has a partner";

/// Adds what a trial gave, or why it gave nothing.
fn add(benchmark: &mut PairedBenchmark, outcome: &TrialOutcome) {
    match &outcome.result {
        Ok(samples) if benchmark.mode == Some(outcome.mode) && outcome.mode != Mode::Sequential => {
            benchmark.forks.extend(PairedFork::of(&pair(samples, outcome.mode).pairs));
        }
        Ok(_) => {}
        Err(failure) => {
            let words = || format!("trials failed, the first with: {}", failure.reason);
            benchmark.missing.get_or_insert_with(words);
        }
    }
}
