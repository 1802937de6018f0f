//! Output of `duet tune` in every format, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

use duetbench_cli::options::Format;
use duetbench_cli::render::markup::markdown::LENGTH_MAX;
use duetbench_cli::render::palette::Palette;
use duetbench_cli::render::tune::document;
use duetbench_cli::tuning::{TunedMetric, TunedSource, Tuning};
use duetbench_core::recording::{HarnessWarmUp, Level};
use duetbench_core::tune::{Choice, Metric, Rules, Tuned, TunedWarmUp};
use duetbench_core::warmup::ForksWarmUp;

use crate::golden_files::check;
use crate::render_support::written;

const LEVELS: [Level; 4] = [Level::Instance, Level::SuiteRun, Level::Iteration, Level::Second];

fn rules(metric: Metric) -> Rules {
    Rules { metric, threshold: 0.01, confidence: 0.99, keep: vec![Level::Instance] }
}

fn choice(benchmark: &str, chosen: [usize; 4], stability: f64) -> Choice {
    let seconds: usize = chosen[1..].iter().product();
    Choice {
        benchmark: benchmark.into(),
        full: vec![3, 3, 5, 5],
        chosen: chosen.to_vec(),
        full_s: 75.0,
        chosen_s: seconds as f64,
        stability,
        stable: stability <= 0.01,
        result_full: 1000.0,
        result_chosen: 1000.0 + seconds as f64 / 4.0,
        enough_times: None,
    }
}

fn choices() -> Vec<Choice> {
    let unstable =
        Choice { enough_times: Some(2.37), ..choice("p.BenchmarkQuery/expr=rate(x[1m])", [3, 3, 5, 5], 0.0181) };
    vec![
        choice("p.BenchmarkParse-8", [3, 1, 3, 1], 0.0043),
        choice("p.BenchmarkEncode/json|x-8", [3, 3, 1, 1], 0.000_71),
        unstable,
        choice("BenchmarkHopeless", [3, 3, 5, 5], f64::NAN),
    ]
}

fn source(name: &str, metrics: &[Metric]) -> TunedSource {
    let found = |metric: &Metric| {
        let left_out = vec![("p.BenchmarkEmpty".to_owned(), "2 values are too few".to_owned())];
        TunedMetric::of(Tuned { choices: choices(), left_out }, &LEVELS, &rules(*metric))
    };
    TunedSource {
        name: name.into(),
        levels: LEVELS.to_vec(),
        results: metrics.iter().map(found).collect(),
        warnings: vec!["not complete: `BenchmarkHopeless` (220 of 225 values)".into()],
    }
}

/// Tuning from these recordings by these metrics.
fn tuning(names: &[&str], metrics: &[Metric]) -> Tuning {
    Tuning {
        duet_version: "0.1.0".into(),
        metrics: metrics.to_vec(),
        rules: rules(metrics[0]),
        warmup: 0,
        sources: names.iter().map(|name| source(name, metrics)).collect(),
        plan_file: None,
    }
}

fn from_a_run() -> Tuning {
    Tuning { plan_file: Some("plans/my plan.toml".into()), ..tuning(&["r12"], &[Metric::Rciw3]) }
}

fn from_files() -> Tuning {
    let mut tuning = tuning(&["zap-v1.22.0", "zap-v1.23.0"], &[Metric::Cv]);
    tuning.warmup = 50;
    tuning
}

/// A recording of a JVM: one benchmark whose warm-up was seen, one that began when it had run, and those of which nothing is known.
fn from_a_jvm() -> Tuning {
    let mut tuning = tuning(&["jmh"], &[Metric::Rciw3]);
    let found = |iterations, unsteady| Some(ForksWarmUp { iterations, forks: 9, unsteady });
    let seen = TunedWarmUp { found: found(Some(12), 1), harness: HarnessWarmUp::JMH_DEFAULT, iteration_s: 1.0 };
    let ran = HarnessWarmUp { ran: true, ..HarnessWarmUp::JMH_DEFAULT };
    let began_late = TunedWarmUp { found: found(Some(0), 0), harness: ran, iteration_s: 10.0 };
    let never = TunedWarmUp { found: found(None, 6), ..seen };
    let too_few = TunedWarmUp { found: None, ..seen };
    let choices = &mut tuning.sources[0].results[0].choices;
    for (tuned, warm_up) in choices.iter_mut().zip([seen, began_late, never, too_few]) {
        tuned.warm_up = Some(warm_up);
    }
    tuning
}

#[test]
fn warm_up_is_shown_beside_that_of_the_harness() {
    check("tune_jvm.txt", &written(&document(&from_a_jvm()), Format::Text));
    check("tune_jvm.md", &written(&document(&from_a_jvm()), Format::Markdown));
}

#[test]
fn text_of_one_recording() {
    check("tune.txt", &written(&document(&from_a_run()), Format::Text));
}

#[test]
fn text_of_several_recordings() {
    check("tune_files.txt", &document(&from_files()).write(Format::Text, &Palette::plain(), Some(72)).unwrap());
}

#[test]
fn text_of_all_metrics() {
    check("tune_all.txt", &written(&document(&tuning(&["zap-v1.23.0"], &Metric::ALL)), Format::Text));
}

#[test]
fn json_of_several_recordings() {
    let mut tuning = from_files();
    tuning.sources.extend(from_a_jvm().sources);
    check("tune.json", &written(&document(&tuning), Format::Json));
}

#[test]
fn csv_of_several_recordings() {
    let mut tuning = from_a_run();
    tuning.sources.extend(from_a_jvm().sources);
    check("tune.csv", &written(&document(&tuning), Format::Csv));
}

#[test]
fn markdown_of_one_recording() {
    check("tune.md", &written(&document(&from_a_run()), Format::Markdown));
}

#[test]
fn markdown_stays_within_its_limit_and_says_what_it_left_out() {
    let mut tuning = from_files();
    let choices = tuning.sources[1].results[0].choices.clone();
    tuning.sources[1].results[0].choices = std::iter::repeat_n(choices, 1000).flatten().collect();
    tuning.sources[0].name = "x|`<@".repeat(20_000);
    let out = written(&document(&tuning), Format::Markdown);
    assert!(out.len() <= LENGTH_MAX, "{} bytes", out.len());
    assert!(out.contains("lines are left out here"), "{out}");
    assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
}

#[test]
fn the_plain_palette_writes_no_escape_code_whatever_a_name_says() {
    let mut tuning = from_files();
    tuning.sources[0].name = "a\u{1b}[31mb".into();
    tuning.sources[0].warnings.push("c\u{1b}[31md".into());
    tuning.sources[0].results[0].choices[0].choice.benchmark = "e\u{1b}[31mf".into();
    let out = written(&document(&tuning), Format::Text);
    assert!(!out.contains(|c: char| c.is_control() && c != '\n'), "{out:?}");
}
