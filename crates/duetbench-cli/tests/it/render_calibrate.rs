//! Output of `duet calibrate`, with `--see` too, in every format, and the notes of reports on a calibration, sealed by the files in
//! `golden/`. `DUET_BLESS=1` writes them anew.

use duetbench_cli::calibration::CalibrationReport;
use duetbench_cli::options::Format;
use duetbench_cli::render::palette::Palette;
use duetbench_cli::render::plan::Planned;
use duetbench_cli::render::text::Look;
use duetbench_cli::render::{calibrate, json, markdown, plan, text};
use duetbench_core::analysis::Basis;
use duetbench_core::calibrate::{
    Alarms, Blind, Calibrated, Calibration, CalibrationNote, Costs, Difference, Machine, Made, Obstacle, Proposal,
    Proposed, Rate, Sight, Sources, SuitePlan, SuiteSight, SuiteTarget,
};
use duetbench_core::plan::Mode;
use duetbench_core::report::VersionInfo;
use duetbench_core::spec::Decision;
use duetbench_core::stats::Level;
use duetbench_core::{BenchmarkId, Report};

use crate::golden_files::check;
use crate::render_support::{self, written};

const CODEC: &str = "example.com/shop/codec";
const STORE: &str = "example.com/shop/store";

fn id(package: &str, name: &str) -> BenchmarkId {
    BenchmarkId { package: package.into(), name: name.into() }
}

fn sources(layout: Option<f64>, fork: f64, slice: f64) -> Sources {
    Sources {
        layout,
        fork,
        slice,
        slices: 124,
        degrees_of_freedom: 28.0,
        basis: Basis::TypicalSlice,
        forks_per_unit: 1.1,
        fork_degrees_of_freedom: 4.0,
        tails: 1.0,
        places: 1,
    }
}

fn sight(change: f64) -> Option<Sight> {
    Some(Sight { builds: 12, forks_per_build: 2, minimal_detectable_change: change, floor: change / 1.5 })
}

/// One that sees well, one that sees little because of its layout, one that takes long, and one that failed.
fn calibration() -> Calibration {
    let benchmark = |id: BenchmarkId, sources: Option<Sources>, sights: [Option<Sight>; 3]| Calibrated {
        id,
        mode: Mode::InterleavedOneCore,
        sources,
        costs: Costs { build_s: 0.31, fork_s: 0.042, slice_s: 0.000_41 },
        sights: sights.to_vec(),
        blind: None,
    };
    let odd = id(CODEC, "BenchmarkParse/[a|b]{1,2}/\"日本語\",`x`-8");
    let few = sources(None, 0.004, 0.02);
    Calibration {
        decision: Decision::default(),
        budgets_s: vec![1.0, 30.0, 90.0],
        benchmarks: vec![
            benchmark(
                id(CODEC, "BenchmarkEncode/format=json-8"),
                Some(sources(Some(0.019), 0.005, 0.011)),
                [None, sight(0.021), sight(0.0123)],
            ),
            Calibrated {
                blind: Some(Blind::Layout),
                ..benchmark(odd, Some(sources(Some(0.31), 0.0, 0.5)), [None, sight(0.4), sight(0.22)])
            },
            Calibrated {
                mode: Mode::Duet,
                ..benchmark(id(STORE, "BenchmarkPut-8"), Some(few), [None, sight(0.084), sight(0.05)])
            },
            Calibrated {
                blind: Some(Blind::TooFewForks),
                ..benchmark(id(STORE, "BenchmarkPanics-8"), None, [None; 3])
            },
        ],
        alarms: Alarms {
            units: 8,
            called_changed: Rate { times: 0, of: 12, low: 0.0, high: 0.357 },
            planted_found: Rate { times: 11, of: 12, low: 0.527, high: 0.9996 },
            half_found: Rate { times: 3, of: 12, low: 0.03, high: 0.65 },
        },
    }
}

fn made() -> Made {
    let environment = render_support::empty().environment;
    Made {
        run: "r3".into(),
        made: "2026-02-28T10:00:00Z".into(),
        machine: Machine::of(&environment, None),
        calibration: calibration(),
    }
}

fn calibrated() -> CalibrationReport {
    CalibrationReport {
        duet_version: "0.1.0".into(),
        version: VersionInfo {
            requested: "work tree".into(),
            resolved: "work tree (9f8e7d6c5b with changes)".into(),
            artifact_digest: "bb22".into(),
        },
        made: made(),
        measured_s: 310.2,
        store_typed: String::new(),
        failed: vec![(id(STORE, "BenchmarkPanics-8"), "panic: no luck\n\u{1b}[31m<b>@octocat</b>".into())],
    }
}

/// A calibration of whole programs on a fleet, where nothing is linked and there is only one benchmark.
fn calibrated_on_a_fleet() -> CalibrationReport {
    let mut report = calibrated();
    let on_a_fleet = render_support::on_a_fleet();
    report.failed.clear();
    report.made.machine = Machine::of(&on_a_fleet.environment, on_a_fleet.spec.fleet.as_ref());
    report.made.calibration.benchmarks.drain(..2);
    report.made.calibration.benchmarks.truncate(1);
    let never = Rate { times: 0, of: 0, low: 0.0, high: 1.0 };
    report.made.calibration.alarms =
        Alarms { units: 4, called_changed: never, planted_found: never, half_found: never };
    report
}

#[test]
fn a_calibration_in_every_format() {
    let report = calibrated();
    assert_eq!(report.exit_code(), 1, "something failed");
    check("calibrate.txt", &written(&calibrate::document(&report), Format::Text));
    check("calibrate.md", &written(&calibrate::document(&report), Format::Markdown));
    check("calibrate.csv", &written(&calibrate::document(&report), Format::Csv));
    check("calibrate.json", &written(&calibrate::document(&report), Format::Json));
}

#[test]
fn a_calibration_of_one_benchmark_on_a_fleet() {
    let report = calibrated_on_a_fleet();
    assert_eq!(report.exit_code(), 0);
    check("calibrate_fleet.txt", &written(&calibrate::document(&report), Format::Text));
}

#[test]
fn foreign_words_cannot_steer_a_terminal_or_mention_anybody() {
    let out = written(&calibrate::document(&calibrated()), Format::Text);
    assert!(!out.contains(|c: char| c.is_control() && c != '\n'), "{out:?}");
    assert!(!written(&calibrate::document(&calibrated()), Format::Markdown).contains("@octocat"));
}

fn proposal(builds: u32, forks_per_build: u32, takes_s: f64, change: f64) -> Proposal {
    Proposal { builds, forks_per_build, slices: 124, takes_s, minimal_detectable_change: change }
}

fn planned(answers: [Option<Result<Proposal, Obstacle>>; 4], target: SuiteTarget) -> Planned {
    let ids = calibration().benchmarks.into_iter().map(|b| b.id);
    let benchmarks: Vec<Proposed> = ids.zip(answers).map(|(id, answer)| Proposed { id, answer }).collect();
    let takes_s = benchmarks.iter().filter_map(|b| Some(b.design()?.takes_s)).sum();
    let suite = SuitePlan { benchmarks, takes_s, enough_s: Some(takes_s), instances_enough: None };
    Planned {
        duet_version: "0.1.0".into(),
        made: made(),
        target,
        suite,
        usual: Decision::default(),
        changed: Vec::new(),
        exit_code: 0,
    }
}

const TARGET: SuiteTarget =
    SuiteTarget { change: 0.03, level: Level { alpha: 0.01, power: 0.9 }, within_s: None, instances: 1 };

/// A plan in which all is well.
fn attainable() -> Planned {
    let answers = [proposal(8, 1, 3.2, 0.0294), proposal(40, 2, 21.0, 0.03), proposal(1, 24, 140.0, 0.0299)];
    let [a, b, c] = answers.map(|proposal| Some(Ok(proposal)));
    let mut planned = planned([a, b, c, a], TARGET);
    planned.suite.benchmarks.truncate(3);
    planned.suite.takes_s = 164.2;
    planned
}

/// A plan in which nothing is: time is short, something is out of reach, something is not known, and the machine is another one.
fn unattainable() -> Planned {
    let short = Obstacle { best: Some(proposal(20, 1, 29.4, 0.051)), needed: Some(proposal(60, 2, 180.0, 0.03)) };
    let never = Obstacle { best: Some(proposal(30, 1, 29.9, 0.31)), needed: None };
    let answers = [Some(Ok(proposal(8, 1, 3.2, 0.0294))), Some(Err(never)), Some(Err(short)), None];
    let target = SuiteTarget { within_s: Some(90.0), level: Level { alpha: 0.05, power: 0.8 }, ..TARGET };
    let mut planned = planned(answers, target);
    planned.suite.enough_s = None;
    planned.exit_code = 4;
    let now = Some("6.9.1".into());
    planned.changed = vec![Difference { fact: "kernel".into(), then: Some("6.8.0-45-generic".into()), now }];
    planned
}

#[test]
fn a_plan_in_every_format() {
    check("plan.txt", &written(&plan::document(&attainable()), Format::Text));
    check("plan_short.txt", &written(&plan::document(&unattainable()), Format::Text));
    check("plan_short.md", &written(&plan::document(&unattainable()), Format::Markdown));
    check("plan_short.csv", &written(&plan::document(&unattainable()), Format::Csv));
    check("plan.json", &written(&plan::document(&unattainable()), Format::Json));
}

#[test]
fn what_would_do_is_said_where_it_is_known() {
    let mut planned = unattainable();
    planned.suite.enough_s = Some(310.4);
    let says = |planned: &Planned, want: &str| {
        let text = written(&plan::document(planned), Format::Text);
        assert!(text.contains(want), "`{want}` is not in\n{text}");
    };
    says(&planned, "hint: `--within 5m11s` would do\n");
    planned.suite.instances_enough = Some(4);
    says(&planned, "hint: `--within 5m11s` would do, and so `--instances 4` would do\n");
    planned.target.within_s = None;
    planned.suite.benchmarks[0].answer = Some(Ok(proposal(10, 9, 3.2, 0.0294)));
    says(&planned, "`duet compare --builds 30 --forks 90 --alpha 0.05`");
    planned.suite.benchmarks[0].answer = Some(Ok(proposal(10, 10, 3.2, 0.0294)));
    says(&planned, "`duet compare --builds 30 --forks 120 --alpha 0.05`");
    planned.suite.benchmarks[0].answer = Some(Ok(proposal(300, 1, 3.2, 0.0294)));
    says(&planned, "hint: this is more than `duet compare` measures");
}

fn noted(changed: Vec<Difference>) -> Report {
    let seen = SuiteSight { budget_s: 30.0, least: 0.008, median: 0.021, most: 0.09, benchmarks: 10 };
    let called_changed = Rate { times: 2, of: 96, low: 0.001, high: 0.094 };
    let (run, made) = ("r3".into(), "2026-02-28T10:00:00Z".into());
    let note = CalibrationNote { run, made, changed, seen: Some(seen), called_changed, benchmarks: 12, blind: 2 };
    Report { calibration: Some(note), ..render_support::clean() }
}

#[test]
fn a_report_says_what_can_be_seen() {
    check("sight.txt", &text::render(&noted(Vec::new()), &Palette::plain(), Look::default()));
    check("sight.md", &markdown::render(&noted(Vec::new())));
    let governor = Difference { fact: "governor".into(), then: Some("performance".into()), now: None };
    check("sight.json", &json::render(&noted(vec![governor.clone()]), 0));
    check("sight_stale.txt", &text::render(&noted(vec![governor]), &Palette::plain(), Look::default()));
}
