//! Output and files of `duet-study cloud`, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

use duetbench_cli::options::Format;
use duetbench_core::recording::Level;
use duetbench_study::papers::cloud::{
    Alarms, Comparison, Detectable, REGRESSIONS, Rates, Sampling, Settings, Source, Spread, Studied, StudiedBenchmark,
    Test, Typical,
};
use duetbench_study::render::cloud::{Cloud, document, figures, tables};

use crate::golden_files::check;
use crate::render_support::written;

fn typical(mean: f64, standard_deviation: Option<f64>, count: usize) -> Option<Typical> {
    Some(Typical { mean, standard_deviation, count })
}

/// A benchmark that varies by `rsd`, of which instances make nine parts of ten.
fn spread(rsd: f64) -> Spread {
    let source = |level, share: f64, repetitions| Source { level, variance: share * rsd * rsd, repetitions };
    Spread {
        rsd: Some(rsd),
        per_instance: typical(rsd / 2.0, Some(rsd / 8.0), 10),
        per_trial: typical(rsd / 4.0, Some(rsd / 16.0), 100),
        log_rsd_error: Some(0.125),
        sources: Some(vec![
            source(Level::Instance, 0.75, 10),
            source(Level::SuiteRun, 0.125, 10),
            source(Level::Iteration, 0.125, 50),
        ]),
    }
}

/// Regressions from `least` on are found, and `most` is the largest of them.
fn detectable(sampling: Sampling, instances: usize, (least, most): (f64, f64)) -> Detectable {
    let rates = REGRESSIONS.map(|regression| {
        let found = regression >= least && regression <= most;
        Rates { regression, false_positives: if found { 0.01 } else { 0.5 }, true_positives: 0.99 }
    });
    Detectable {
        sampling,
        instances,
        rates: rates.to_vec(),
        standard_error: least / 4.0,
        by_sources: (instances > 1).then_some(least * 1.125),
    }
}

fn benchmark(name: &str, rsd: f64) -> StudiedBenchmark {
    let alarms = |test, instances, alarms| Alarms { test, instances, alarms, of: 100 };
    StudiedBenchmark {
        benchmark: name.to_owned(),
        instances: 10,
        trials: 10,
        collected: 5000,
        removed: 3,
        spread: spread(rsd),
        alarms: vec![
            alarms(Test::Pooled, 1, 64),
            alarms(Test::TrialMeans, 1, 3),
            alarms(Test::House, 1, 4),
            alarms(Test::Pooled, 5, 71),
            alarms(Test::TrialMeans, 5, 2),
            alarms(Test::InstanceMeans, 5, 0),
            alarms(Test::House, 5, 5),
        ],
        detectable: vec![
            detectable(Sampling::Instances, 1, (0.25, 1.0)),
            detectable(Sampling::Instances, 5, (0.1, 0.75)),
            detectable(Sampling::Trials, 1, (2.0, 1.0)),
        ],
    }
}

/// A benchmark of a single value.
fn single(name: &str) -> StudiedBenchmark {
    StudiedBenchmark {
        instances: 1,
        trials: 1,
        collected: 1,
        removed: 0,
        spread: Spread { rsd: None, per_instance: None, per_trial: None, log_rsd_error: None, sources: None },
        alarms: Vec::new(),
        detectable: Vec::new(),
        ..benchmark(name, 0.0)
    }
}

fn cloud(environments: Vec<Studied>) -> Cloud {
    let comparison = Comparison::of(&environments);
    Cloud { duet_version: "0.1.0".into(), settings: Settings::PAPER, environments, comparison }
}

fn studied(environment: &str, benchmarks: Vec<StudiedBenchmark>, warnings: &[&str]) -> Studied {
    let warnings = warnings.iter().map(|warning| (*warning).to_owned()).collect();
    Studied { environment: environment.into(), benchmarks, warnings }
}

fn two() -> Cloud {
    let of = |scale: f64| {
        vec![
            benchmark("example.com/shop.BenchmarkParse", 0.0625 * scale),
            benchmark("example.com/shop.BenchmarkEncode/json|x", 0.5 * scale),
            benchmark("example.com/shop.BenchmarkQuery", 0.03125 / scale),
        ]
    };
    let only_here = vec![single("example.com/shop.BenchmarkRare")];
    let lines = "1 value that is no measurement was left out: `NaN` in line 7";
    cloud(vec![
        studied("gce", of(2.0), &["throughputs are studied as the times that they come to"]),
        studied(
            "aws|m4",
            [of(1.0), only_here].concat(),
            &["throughputs are studied as the times that they come to", lines],
        ),
    ])
}

fn one() -> Cloud {
    cloud(vec![studied("ci", vec![single("BenchmarkRare")], &[])])
}

#[test]
fn text_is_as_sealed() {
    check("cloud.txt", &written(&document(&two()), Format::Text));
    check("cloud_one.txt", &written(&document(&one()), Format::Text));
}

#[test]
fn markdown_is_as_sealed() {
    check("cloud.md", &written(&document(&two()), Format::Markdown));
}

#[test]
fn json_is_as_sealed() {
    check("cloud.json", &written(&document(&two()), Format::Json));
}

#[test]
fn tables_are_as_sealed() {
    let tables = tables(&two());
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    let all =
        ["values", "spread", "sources", "false-alarms", "detectable", "detectable-rates", "steadiest", "environments"];
    assert_eq!(names, all.map(|name| format!("{name}.csv")));
    let joined: String = tables.iter().map(|(name, table)| format!("# {name}\n{table}\n")).collect();
    check("cloud.csv", &joined);
    assert_eq!(names_of(&one()), ["values.csv", "spread.csv"]);
}

fn names_of(cloud: &Cloud) -> Vec<&'static str> {
    tables(cloud).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn figures_have_names_that_every_system_takes_and_something_in_them() {
    let figures = figures(&two()).unwrap();
    let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "sources-1-gce.svg", "sources-2-aws-m4.svg", "false-alarms.svg", "detectable-instances.svg",
            "detectable-trials.svg"
        ]
    );
    let drawn = |name: &str, what: &str| figures.iter().find(|(n, _)| n == name).unwrap().1.matches(what).count();
    // Three benchmarks, the total of each, and the legend; one and five instances in the other.
    assert_eq!(drawn("sources-1-gce.svg", "#E69F00"), 4);
    assert_eq!(drawn("false-alarms.svg", "#009E73"), 2 + 1);
    assert_eq!(drawn("detectable-instances.svg", "#56B4E9"), 2);
    assert!(duetbench_study::render::cloud::figures(&one()).is_ok());
}
