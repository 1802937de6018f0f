//! Output of `duet-study duet` in every format, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

use duetbench_cli::options::Format;
use duetbench_core::plan::Mode;
use duetbench_core::stats::Interval;
use duetbench_study::papers::duet::{LeftOut, PairedFork, Procedure, Resampled, RunWidths, Widths};
use duetbench_study::render::duet::{DuetStudy, Samples, StudiedRun, document, figures, tables};
use duetbench_study::statistics::GrandRatio;

use crate::golden_files::check;
use crate::render_support::written;

/// A benchmark whose paired, shuffled and standard intervals are so wide.
fn widths(name: &str, (paired, shuffled, standard): (f64, f64, f64)) -> Widths {
    Widths {
        benchmark: format!("example.com/shop/codec.{name}"),
        mode: Mode::Duet,
        forks_measured: 36,
        forks_short: 0,
        forks: 10,
        iterations: 250,
        paired: GrandRatio { ratio: 1.0, interval: Interval { low: 1.0, high: 1.0 + paired } },
        shuffled,
        standard,
        level: 0.037,
        own: Some(Interval { low: 0.5, high: 0.5 + 1.5 * paired }),
        log_ratios: vec![0.0; 36],
    }
}

/// A run of equal versions beside neighbours, with everything that can be said of a run.
fn busy() -> StudiedRun {
    let few = Widths {
        mode: Mode::InterleavedOneCore,
        forks_measured: 5,
        forks_short: 1,
        forks: 5,
        level: 0.083,
        own: None,
        paired: GrandRatio { ratio: 1.25, interval: Interval { low: 1.125, high: 1.375 } },
        ..widths("BenchmarkEncode/json|x", (0.25, 1.0, 2.0))
    };
    let measured =
        vec![widths("BenchmarkParse", (0.0078125, 0.125, 0.25)), few, widths("BenchmarkFlat", (0.0, 0.0, 0.0))];
    let left_out = [("BenchmarkOld", "only in base"), ("BenchmarkWhole", "measured | in sequential mode")];
    let left_out = left_out.map(|(benchmark, reason)| LeftOut { benchmark: benchmark.into(), reason: reason.into() });
    StudiedRun {
        widths: RunWidths { run: "r12".into(), measured, left_out: left_out.to_vec() },
        versions: ["v1.2.0".into(), "v1.2.0".into()],
        same: true,
        resampled: Some(Resampled { resamples: 2000, paired: 0.041, own: 0.0095 }),
    }
}

/// Two versions that differ, on an idle machine.
fn idle() -> StudiedRun {
    let measured = vec![widths("BenchmarkParse", (0.0625, 0.0625, 0.125))];
    StudiedRun {
        widths: RunWidths { run: "r13".into(), measured, left_out: Vec::new() },
        versions: ["v1.2.0".into(), "work tree".into()],
        same: false,
        resampled: None,
    }
}

fn study() -> DuetStudy {
    let warnings = vec!["`r12` did not come to its end, so benchmarks lack fork pairs".to_owned()];
    DuetStudy { duet_version: "0.1.0".into(), procedure: Procedure::PAPER, runs: vec![busy(), idle()], warnings }
}

/// Three fork pairs that move in tandem.
fn samples() -> Samples {
    let fork = |level: f64| PairedFork { times: (0..4).map(|i| [level + f64::from(i), 2.0 * level]).collect() };
    Samples {
        run: "r12".into(),
        benchmark: "example.com/shop/codec.BenchmarkParse".into(),
        forks: [100.0, 130.0, 90.0].map(fork).to_vec(),
    }
}

#[test]
fn people_read_what_is_sealed() {
    check("study_duet.txt", &written(&document(&study()), Format::Text));
    check("study_duet.md", &written(&document(&study()), Format::Markdown));
    let procedure = Procedure { forks: None, winsorise: None, ..Procedure::PAPER };
    let all = DuetStudy { procedure, runs: vec![idle()], warnings: Vec::new(), ..study() };
    let text = written(&document(&all), Format::Text);
    assert!(text.starts_with("duet 0.1.0: widths of the duet paper's 99% intervals, all fork pairs, "), "{text}");
    assert!(text.contains("outliers kept"), "{text}");
}

#[test]
fn programs_read_what_is_sealed() {
    check("study_duet.json", &written(&document(&study()), Format::Json));
    check("study_duet.csv", &written(&document(&study()), Format::Csv));
    let tables = tables(&study(), &[samples()]);
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["widths.csv", "improvement.csv", "distribution.csv", "samples-r12.csv"]);
    assert_eq!(tables[0].1, written(&document(&study()), Format::Csv));
    for (name, table) in &tables[1..] {
        check(&format!("study_duet_{name}"), table);
    }
}

#[test]
fn figures_have_a_box_for_every_kind_of_interval_and_a_dot_for_every_iteration() {
    let figures = figures(&study(), &[samples()]).unwrap();
    let [(widths, boxes), (iterations, dots)] = &figures[..] else { panic!("{} figures", figures.len()) };
    assert_eq!((widths.as_str(), iterations.as_str()), ("widths.svg", "samples-r12.svg"));
    // A box for each run, with three lines, and the legend; of r12 the paired one and others begin at 0, which has no logarithm.
    for colour in ["#0072B2", "#E69F00", "#D55E00", "#009E73"] {
        assert!(boxes.contains(colour), "{colour} in\n{boxes}");
    }
    assert!(boxes.contains("r12") && boxes.contains("r13"), "{boxes}");
    // Two sides of twelve pairs, and two dots in the legend.
    assert_eq!(dots.matches("<circle").count(), 26, "{dots}");
}

#[test]
fn what_has_no_width_makes_no_figure() {
    let mut flat = idle();
    flat.widths.measured = vec![widths("BenchmarkFlat", (0.0, 0.0, 0.0))];
    let study = DuetStudy { runs: vec![flat], ..study() };
    assert_eq!(figures(&study, &[]).unwrap(), Vec::new());
}
