//! Output of `duet-study elastibench` in every format, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

use duetbench_cli::options::Format;
use duetbench_core::analysis::{Basis, Clock, Counts, Method};
use duetbench_core::{Estimate, Verdict};
use duetbench_study::papers::elastibench::{Agreement, Experiment, Findings, Procedure, Results, Target};
use duetbench_study::render::elastibench::{Beside, Elastibench, ElastibenchAnswer, Wanted, document};

use crate::golden_files::check;
use crate::render_support::written;

/// So many results, some steps to either side of a middle.
fn around(middle: f64, step: f64, results: u32) -> Vec<f64> {
    (0..results).map(|i| middle + step * (f64::from((i * 7) % 11) - 5.0)).collect()
}

fn experiment(name: &str, benchmarks: &[(&str, Vec<f64>)]) -> Experiment {
    let results = |(benchmark, differences): &(&str, Vec<f64>)| Results {
        benchmark: format!("example.com/shop/codec.{benchmark}"),
        differences: differences.clone(),
        missing: differences.is_empty().then(|| "failed in the candidate: no | luck".to_owned()),
    };
    Experiment { name: name.into(), benchmarks: benchmarks.iter().map(results).collect() }
}

fn first() -> Experiment {
    experiment(
        "r12",
        &[
            ("BenchmarkParse", around(0.0005, 0.001, 45)),
            ("BenchmarkEncode/json|x", around(0.0731, 0.004, 45)),
            ("BenchmarkQuery", around(-0.25, 0.002, 45)),
            ("BenchmarkSmall", around(0.0196, 0.001, 45)),
            ("BenchmarkSure", around(0.03, 0.001, 45)),
            ("BenchmarkWild", around(0.01, 0.125, 45)),
            ("BenchmarkRare", around(0.2, 0.01, 7)),
            ("BenchmarkBroken", Vec::new()),
        ],
    )
}

fn second() -> Experiment {
    experiment(
        "r13",
        &[
            ("BenchmarkParse", around(0.0001, 0.0011, 33)),
            ("BenchmarkEncode/json|x", around(0.08, 0.001, 33)),
            ("BenchmarkQuery", around(0.06, 0.002, 33)),
            ("BenchmarkSmall", around(0.001, 0.003, 33)),
            ("BenchmarkSure", around(0.035, 0.003, 33)),
            ("BenchmarkNew", around(0.0, 0.002, 33)),
        ],
    )
}

fn findings(experiment: &Experiment) -> Findings {
    Procedure::PAPER.findings(experiment)
}

fn estimate(ratio: f64) -> Estimate {
    Estimate {
        ratio,
        ratio_low: ratio - 0.004,
        ratio_high: ratio + 0.004,
        confidence: 0.99,
        basis: Basis::TypicalSlice,
        clock: Clock::Wall,
        beside: None,
        by_wall: None,
        method: Method::YuenTrimmedT,
        looks: 1,
        p_value: 1e-9,
        p_adjusted: 6e-9,
        minimal_detectable_change: 0.006,
        counts: Counts { units: 45, builds: 1, forks: 45, slices: 4500 },
    }
}

fn study(answer: ElastibenchAnswer) -> Elastibench {
    let warnings = vec!["`r12` did not come to its end, so benchmarks lack results".to_owned()];
    Elastibench { duet_version: "0.1.0".into(), procedure: Procedure::PAPER, answer, warnings }
}

fn changes() -> Elastibench {
    let findings = findings(&first());
    let verdict = |benchmark: &str| match benchmark {
        name if name.ends_with("Query") => Verdict::Improvement,
        name if name.ends_with("json|x") => Verdict::Regression,
        name if name.ends_with("Wild") || name.ends_with("Rare") => Verdict::Inconclusive { forks_sufficient: None },
        name if name.ends_with("Broken") => Verdict::Failed { role: None, reason: "no | luck".into() },
        _ => Verdict::NoChange,
    };
    let estimates = |benchmark: &str| benchmark.ends_with("json|x").then(|| estimate(1.0731));
    let beside = first().benchmarks.into_iter().map(|results| {
        let benchmark = results.benchmark;
        let left_out = || findings.left_out.iter().find(|out| out.benchmark == benchmark).unwrap().clone();
        let paper = findings.of(&benchmark).cloned().ok_or_else(left_out);
        Beside { paper, verdict: verdict(&benchmark), estimate: estimates(&benchmark), benchmark }
    });
    let beside = beside.collect();
    study(ElastibenchAnswer::Changes { findings, beside })
}

fn agreement() -> Elastibench {
    let (first, second) = (findings(&first()), findings(&second()));
    let agreement = Agreement::of(&first, &second);
    study(ElastibenchAnswer::Agreement { first, second, agreement })
}

fn repetitions(reference: bool) -> Elastibench {
    let second = findings(&second());
    let (target, wanted) = match reference {
        true => (Target::Reference(&second), Wanted::Reference("r13".into())),
        false => (Target::Width(0.05), Wanted::Width(0.05)),
    };
    let narrowing = Procedure::PAPER.narrowing(&first(), target);
    study(ElastibenchAnswer::Repetitions { experiment: "r12".into(), target: wanted, narrowing })
}

fn aa() -> Elastibench {
    study(ElastibenchAnswer::Aa { findings: findings(&first()) })
}

#[test]
fn text_is_as_sealed() {
    let plain = |study: &Elastibench| written(&document(study), Format::Text);
    check("elastibench_changes.txt", &plain(&changes()));
    check("elastibench_agreement.txt", &plain(&agreement()));
    check("elastibench_repetitions.txt", &plain(&repetitions(true)));
    check("elastibench_width.txt", &plain(&repetitions(false)));
    check("elastibench_aa.txt", &plain(&aa()));
}

#[test]
fn markdown_is_as_sealed() {
    check("elastibench_changes.md", &written(&document(&changes()), Format::Markdown));
    check("elastibench_agreement.md", &written(&document(&agreement()), Format::Markdown));
    check("elastibench_repetitions.md", &written(&document(&repetitions(true)), Format::Markdown));
    check("elastibench_aa.md", &written(&document(&aa()), Format::Markdown));
}

#[test]
fn json_is_as_sealed() {
    check("elastibench_changes.json", &written(&document(&changes()), Format::Json));
    check("elastibench_agreement.json", &written(&document(&agreement()), Format::Json));
    check("elastibench_repetitions.json", &written(&document(&repetitions(true)), Format::Json));
    check("elastibench_aa.json", &written(&document(&aa()), Format::Json));
}

#[test]
fn csv_is_as_sealed() {
    check("elastibench_changes.csv", &written(&document(&changes()), Format::Csv));
    check("elastibench_agreement.csv", &written(&document(&agreement()), Format::Csv));
    check("elastibench_repetitions.csv", &written(&document(&repetitions(true)), Format::Csv));
    check("elastibench_aa.csv", &written(&document(&aa()), Format::Csv));
}
