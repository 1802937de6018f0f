//! Rows, and the sentence above them, of runs that are not as usual.

use duetbench_cli::render::markdown;
use duetbench_cli::render::palette::Palette;
use duetbench_cli::render::text::{self, Look};
use duetbench_core::{Report, Verdict};

use crate::render_support::{clean, with_units};

#[test]
fn a_run_that_stopped_before_its_last_step_is_not_shown_as_passed() {
    let mut report = clean();
    let shown = |report: &Report| text::render(report, &Palette::plain(), Look::default());
    assert!(shown(&report).starts_with("✓ No change"));
    report.complete = false;
    let text = shown(&report);
    assert!(text.starts_with("? No regression found, but the run did not come to its end"), "{text}");
    assert!(
        markdown::render(&report).contains("### ❔ duet: No regression found, but"),
        "{}",
        markdown::render(&report)
    );
}

#[test]
fn each_row_is_drawn_over_the_band_of_its_own_threshold() {
    let mut report = clean();
    let mut ruled = report.benchmarks[0].clone();
    (ruled.id.name, ruled.threshold) = ("BenchmarkRuled-8".into(), Some(0.1));
    report.benchmarks.push(ruled);
    let text = text::render(&report, &Palette::plain(), Look { width: Some(120), plot: true, all: true });
    let band = |name: &str| text.lines().find(|line| line.contains(name)).unwrap_or_default().matches('·').count();
    assert!(band("Encode") > 2 && band("Ruled") > 2 * band("Encode"), "{text}");
}

#[test]
fn a_unit_of_a_benchmark_that_changed_itself_is_no_regression() {
    let mut report = with_units();
    let says =
        |report: &Report| text::render(report, &Palette::plain(), Look::default()).contains("of a reported unit");
    report.reported.truncate(1);
    report.reported[0].verdict = Verdict::Regression;
    assert!(says(&report));
    report.reported[0].id = report.benchmarks[0].id.clone();
    report.benchmarks[0].verdict = Verdict::Redefined(Box::new(Verdict::NoChange));
    assert!(!says(&report));
}
