//! Output in every format, sealed by the files in `golden/`. `DUET_BLESS=1` writes them anew.

use std::collections::BTreeMap;

use duetbench_cli::render::markup::markdown::LENGTH_MAX;
use duetbench_cli::render::palette::Palette;
use duetbench_cli::render::text::Look;
use duetbench_cli::render::{csv, gobench, html, json, markdown, text};
use duetbench_core::analysis::{Counted, Ranged};
use duetbench_core::gate::{Breach, Gate, Standing};
use duetbench_core::plan::Style;
use duetbench_core::report::{BenchmarkReport, Typed};
use duetbench_core::reported::ReportedMetric;
use duetbench_core::spec::Metric;
use duetbench_core::verdict::Extent;
use duetbench_core::{Report, Verdict};
use unicode_width::UnicodeWidthStr;

use crate::golden_files::check;
use crate::render_support::{
    Change, benchmark, clean, empty, everything, measured, on_a_fleet, only_excluded, pictured, profiled,
    with_instructions, with_units,
};

#[test]
fn text_of_everything() {
    check("everything.txt", &text::render(&everything(), &Palette::plain(), Look::default()));
}

#[test]
fn columns_agree_with_the_verdict_beside_them() {
    let mut seen = BTreeMap::new();
    for one in everything().benchmarks {
        let Some(Ranged { interval, .. }) = one.judged() else { continue };
        let within = interval.is_within(0.02);
        let agrees = match &one.verdict {
            Verdict::Regression => interval.is_above(0.02),
            Verdict::Improvement => interval.is_below(0.02),
            Verdict::Slower(extent) => interval.low > 1.0 && within == (*extent == Extent::WithinTolerance),
            Verdict::Faster(extent) => interval.high < 1.0 && within == (*extent == Extent::WithinTolerance),
            Verdict::NoChange => within,
            _ => true,
        };
        assert!(agrees, "{}: {:?}", one.id, one.verdict);
        seen.insert(one.verdict.word(), one);
    }
    assert_eq!(seen.len(), 9, "{:?}", seen.keys());
}

#[test]
fn an_effect_of_layout_that_cannot_be_told_has_no_numbers() {
    let line = |share: f64| {
        let mut report = everything();
        report.benchmarks.iter_mut().filter_map(|one| one.layout.as_mut()).for_each(|layout| layout.share = share);
        let text = text::render(&report, &Palette::plain(), Look::default());
        text.lines().find(|line| line.starts_with("layout:")).unwrap().to_owned()
    };
    assert!(
        line(0.004).ends_with("where the linker put things moves a benchmark by too little to tell"),
        "{}",
        line(0.004)
    );
    assert!(line(0.006).ends_with("of what fork pairs vary"), "{}", line(0.006));
}

#[test]
fn text_fits_terminals_of_every_width() {
    for (file, width) in [("width60.txt", 60), ("width80.txt", 80), ("width120.txt", 120), ("width200.txt", 200)] {
        let text = text::render(&everything(), &Palette::plain(), Look { width: Some(width), plot: true, all: false });
        let table = text.split("\n\n").nth(1).unwrap_or_default();
        let widest = table.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
        assert!(widest <= width, "{widest} cells of {width}:\n{table}");
        check(file, &text);
    }
}

#[test]
fn the_path_of_a_package_makes_no_table_wider_than_the_terminal() {
    let mut report = clean();
    report.benchmarks[0].id.package = format!("github.com/{}/labels", "prometheus/".repeat(4));
    for width in [80, 100] {
        let text = text::render(&report, &Palette::plain(), Look { width: Some(width), plot: true, all: false });
        let heading = text.lines().find(|line| line.contains("before → after")).unwrap_or_default();
        assert!(!heading.is_empty() && heading.width() <= width, "{width}:\n{text}");
    }
    report.benchmarks[0].id.name = "BenchmarkIt".into();
    for width in 50..=120 {
        let text = text::render(&report, &Palette::plain(), Look { width: Some(width), plot: true, all: false });
        let table = text.split("\n\n").nth(1).unwrap_or_default();
        assert!(table.lines().all(|line| line.width() <= width), "{width}:\n{table}");
    }
}

#[test]
fn a_list_of_packages_is_repeated_as_it_was_typed() {
    let mut report = clean();
    report.spec.selection.packages = vec!["./...".into(), "./tools/...".into()];
    let page = markdown::render(&report);
    assert!(page.contains("--packages ./... --packages ./tools/..."), "{page}");
}

#[test]
fn text_in_colour() {
    check("coloured.txt", &text::render(&everything(), &Palette::coloured(), Look::default()));
}

#[test]
fn text_of_a_clean_run() {
    check("clean.txt", &text::render(&clean(), &Palette::plain(), Look::default()));
}

#[test]
fn text_of_no_benchmark() {
    check("empty.txt", &text::render(&empty(), &Palette::plain(), Look::default()));
}

#[test]
fn text_of_nothing_compared() {
    check("only_excluded.txt", &text::render(&only_excluded(), &Palette::plain(), Look::default()));
}

#[test]
fn text_of_a_run_on_a_fleet() {
    check("fleet.txt", &text::render(&on_a_fleet(), &Palette::plain(), Look::default()));
}

/// The data of a page with its keys in the order of their names.
fn data_by_name(report: &Report) -> serde_json::Value {
    let mut data: serde_json::Value = serde_json::from_str(&html::data(report)).expect("the data are JSON");
    data.sort_all_objects();
    data
}

#[test]
fn every_format_of_a_run_that_was_profiled() {
    check("profile.txt", &text::render(&profiled(), &Palette::plain(), Look::default()));
    check("profile.md", &markdown::render(&profiled()));
    check("profile.json", &json::render(&profiled(), 3));
    let data = data_by_name(&profiled());
    let mut profiles = data["benchmarks"].as_array().expect("a list").iter().map(|one| &one["profile"]);
    check("profile.page.json", &format!("{:#}\n", profiles.find(|profile| !profile.is_null()).expect("a profile")));
}

#[test]
fn every_format_of_a_run_whose_instructions_were_counted() {
    let report = with_instructions();
    check("counts.txt", &text::render(&report, &Palette::plain(), Look::default()));
    check("counts.md", &markdown::render(&report));
    check("counts.json", &json::render(&report, 3));
    check("counts.csv", &csv::render(&report));
    let data = data_by_name(&report);
    let lines = data["benchmarks"].as_array().expect("benchmarks").iter().map(|one| &one["instructions"]);
    check("counts.page.json", &format!("{:#}\n", serde_json::Value::from_iter(lines.cloned())));
}

#[test]
fn every_format_of_a_run_whose_benchmarks_report_units() {
    let report = with_units();
    check("units.txt", &text::render(&report, &Palette::plain(), Look::default()));
    check("units.md", &markdown::render(&report));
    check("units.json", &json::render(&report, 3));
    let data = data_by_name(&report);
    check("units.page.json", &format!("{:#}\n", data["sections"][0]));
}

#[test]
fn a_rule_of_its_own_bounds_what_no_change_says() {
    let mut report = run_of(&[Verdict::NoChange, Verdict::NoChange]);
    report.benchmarks[1].threshold = Some(0.2);
    let out = text::render(&report, &Palette::plain(), Look::default());
    assert!(out.contains("smaller than the benchmark's threshold, by rules up to 20%"), "{out}");
    assert!(!out.contains("smaller than 3%"), "{out}");
}

#[test]
fn units_that_leave_no_room_for_the_table_are_left_out() {
    let mut report = with_units();
    report.reported = vec![report.reported[0].clone(); 2000];
    let out = markdown::render(&report);
    assert!(out.len() <= LENGTH_MAX && out.contains(" rows are left out here"), "{}", out.len());
}

#[test]
fn profiles_that_leave_no_room_for_the_table_are_left_out() {
    let mut report = profiled();
    let (all, one) = (markdown::render(&report), report.profiles[0].clone());
    assert!(all.contains("<summary>Where "), "{all}");
    report.profiles = vec![one; 1000];
    let out = markdown::render(&report);
    assert!(out.len() <= LENGTH_MAX && out.contains("\nAgain, with the same seed:\n"), "{}", out.len());
}

#[test]
fn json_of_a_run_on_a_fleet() {
    check("fleet.json", &json::render(&on_a_fleet(), 0));
}

#[test]
fn markdown_of_everything() {
    check("everything.md", &markdown::render(&everything()));
}

#[test]
fn markdown_of_a_clean_run() {
    check("clean.md", &markdown::render(&clean()));
}

#[test]
fn markdown_of_nothing_compared() {
    check("only_excluded.md", &markdown::render(&only_excluded()));
}

#[test]
fn csv_of_everything() {
    check("everything.csv", &csv::render(&everything()));
}

#[test]
fn go_of_everything() {
    check("everything.go.txt", &gobench::render(&everything()));
}

#[test]
fn intervals_are_drawn_where_they_are_asked_for() {
    check("plot.txt", &text::render(&everything(), &Palette::plain(), Look { plot: true, ..Look::default() }));
}

#[test]
fn a_table_of_more_than_a_screen_is_folded() {
    let mut report = everything();
    let [open, same] = ["Scan-8", "Checksum-8"]
        .map(|name| report.benchmarks.iter().find(|one| one.id.name.ends_with(name)).expect("it is there").clone());
    for number in 0..20 {
        for (kind, one) in [("Open", &open), ("Same", &same)] {
            let mut more = one.clone();
            more.id.name = format!("Benchmark{kind}{number}");
            report.benchmarks.push(more);
        }
    }
    check("folded.txt", &text::render(&report, &Palette::plain(), Look::default()));
    let whole = text::render(&report, &Palette::plain(), Look { all: true, ..Look::default() });
    for one in &report.benchmarks {
        assert!(whole.contains(one.id.name.trim_start_matches("Benchmark").trim_end_matches(char::is_alphanumeric)));
    }
    assert!(whole.contains("Same19") && !whole.contains("--all"), "{whole}");
}

#[test]
fn nothing_is_drawn_where_there_is_no_interval() {
    let look = Look { plot: true, ..Look::default() };
    for report in [empty(), only_excluded()] {
        assert!(!text::render(&report, &Palette::plain(), look).contains('├'));
    }
    assert!(text::render(&clean(), &Palette::plain(), look).contains('├'));
}

#[test]
fn means_of_allocations_are_not_said_to_be_exact() {
    let mut report = everything();
    let counted = Counted { baseline: 2.011, candidate: 3.011, changed: true };
    report.benchmarks.iter_mut().filter(|b| b.allocs.is_some()).for_each(|b| b.allocs = Some(counted));
    let text = text::render(&report, &Palette::plain(), Look::default());
    for (shown, said) in [(&text, "2.011 → 3.011"), (&markdown::render(&report), "2.011 → 3.011")] {
        assert!(shown.contains(said) && !shown.contains("exact"), "{shown}");
    }
}

#[test]
fn processor_time_of_whole_programs_stands_beside_their_wall_time() {
    let mut report = everything();
    let text = |report: &Report| text::render(report, &Palette::plain(), Look::default());
    assert!(!text(&report).contains("user and system time"), "nothing is a program");
    let one = report.benchmarks.iter_mut().find(|b| b.verdict == Verdict::Regression).unwrap();
    one.forks.iter_mut().for_each(|fork| {
        (fork.baseline.cpu_ns_per_op, fork.candidate.cpu_ns_per_op) = (Some(2e6), Some(3e6));
    });
    let id = one.id.clone();
    report.plan.benchmarks.iter_mut().filter(|planned| planned.id == id).for_each(|one| one.style = Style::Process);
    let shown = text(&report);
    let table: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("user and system time")).take(3).collect();
    assert!(table[1].contains("2.000ms → 3.000ms") && table[1].trim_end().ends_with("+50%"), "{shown}");
    assert_eq!(table[2], "", "{shown}");
}

#[test]
fn data_of_the_page() {
    check("page.json", &format!("{:#}\n", data_by_name(&pictured(everything()))));
}

#[test]
fn json_of_everything() {
    check("everything.json", &json::render(&everything(), 3));
}

#[test]
fn json_of_no_benchmark() {
    check("empty.json", &json::render(&empty(), 1));
}

#[test]
fn the_plain_palette_writes_no_escape_code_whatever_a_benchmark_says() {
    for report in [everything(), clean(), empty(), only_excluded()] {
        let out = text::render(&report, &Palette::plain(), Look::default());
        assert!(!out.contains(|c: char| c.is_control() && c != '\n'), "{out:?}");
    }
}

#[test]
fn colour_adds_nothing_but_escape_codes() {
    let plain = text::render(&everything(), &Palette::plain(), Look::default());
    let coloured = text::render(&everything(), &Palette::coloured(), Look::default());
    assert_ne!(plain, coloured);
    let mut stripped = String::new();
    for (index, piece) in coloured.split('\u{1b}').enumerate() {
        stripped += if index == 0 { piece } else { piece.split_once('m').expect("codes end in m").1 };
    }
    assert_eq!(without_trailing_space(&stripped), without_trailing_space(&plain));
}

fn without_trailing_space(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

#[test]
fn markdown_says_how_many_rows_did_not_fit() {
    let mut report = clean();
    let name = |n: usize| format!("BenchmarkWith/a_rather_long_name_to_fill_the_page_soon/n={n:05}-8");
    let calm = |n| measured("example.com/shop/codec", &name(n), Verdict::NoChange, Change(1718.0, 1.001, 0.004));
    report.benchmarks = (0..2000).map(calm).collect();
    let out = markdown::render(&report);
    assert!(out.len() <= LENGTH_MAX, "{} bytes", out.len());
    assert!(out.len() > LENGTH_MAX - 1024, "wastes room: {} bytes", out.len());
    let shown = out.matches("| `With/").count();
    assert!(out.contains(&format!("{} rows are left out here", 2000 - shown)), "{shown} shown");
    assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
    assert!(out.contains("--seed 42"), "the reproduce command stays");
}

#[test]
fn markdown_stays_within_its_limit_when_all_that_varies_is_huge() {
    let huge = "x|`<@".repeat(20_000);
    let mut report = everything();
    report.warnings = vec![huge.clone(); 400];
    report.baseline.resolved = huge.clone();
    report.environment.cpu_model = huge.clone();
    report.spec.harness_args = vec![huge.clone()];
    report.benchmarks.push(benchmark("p", &huge, Verdict::Failed { role: None, reason: huge.clone() }));
    let out = markdown::render(&report);
    assert!(out.len() <= LENGTH_MAX, "{} bytes", out.len());
    assert!(out.starts_with(markdown::MARKER));
}

#[test]
fn markdown_lets_nobody_be_mentioned_and_no_link_through() {
    let out = markdown::render(&everything());
    assert!(!out.contains("@octocat"), "{out}");
    assert!(!out.contains("[x]("), "{out}");
    assert!(!out.contains("<b>"), "{out}");
}

#[test]
fn markdown_counts_the_verdicts_that_its_table_shows() {
    let report = everything();
    let out = markdown::render(&report);
    let shown = out.matches("\n| 🔺 | ").count();
    assert_eq!((shown, out.matches(" | regression").count()), (report.count("regression"), shown));
    assert!(out.contains(&format!("### 🔺 duet: {} of {}", report.count("regression"), report.benchmarks.len())));
}

/// A run whose benchmarks have these verdicts.
fn run_of(verdicts: &[Verdict]) -> Report {
    let mut report = empty();
    let named = |(n, verdict): (usize, &Verdict)| {
        measured("p", &format!("BenchmarkB{n}"), verdict.clone(), Change(9.0, 1.1, 0.01))
    };
    report.benchmarks = verdicts.iter().enumerate().map(named).collect();
    report
}

pub(crate) const OPEN: Verdict = Verdict::Inconclusive { forks_sufficient: None };

fn failed() -> Verdict {
    Verdict::Failed { role: None, reason: "no slice was recorded".into() }
}

#[test]
fn markdown_begins_with_a_sentence_for_every_outcome() {
    use Verdict::{BaselineOnly, CandidateOnly, Faster, Improvement, NoChange, Redefined, Regression, Slower};
    let check = |verdicts: &[Verdict], want: &str| {
        let out = markdown::render(&run_of(verdicts));
        assert_eq!(out.lines().nth(1), Some(format!("### {want}").as_str()));
    };
    check(&[Regression, NoChange], "🔺 duet: 1 of 2 benchmarks regressed");
    check(&[Regression, Improvement, failed()], "🔺 duet: 1 of 3 benchmarks regressed, 1 improved");
    check(&[NoChange, failed(), OPEN], "❌ duet: No regression found, but 1 of 3 benchmarks failed");
    check(&[NoChange, OPEN, Improvement], "❔ duet: No regression found, but 1 of 3 benchmarks undecided, 1 improved");
    check(&[Improvement, NoChange], "✅ duet: 1 of 2 benchmarks improved, none regressed");
    check(&[NoChange, NoChange], "✅ duet: No change in 2 benchmarks");
    check(&[NoChange, Slower(Extent::WithinTolerance)], "✅ duet: No change beyond the threshold in 2 benchmarks");
    let of_unit = |verdict: Verdict| {
        let mut report = run_of(&[NoChange]);
        let unit = with_units().reported.remove(0);
        report.reported = vec![ReportedMetric { id: report.benchmarks[0].id.clone(), verdict, ..unit }];
        report.gate = Some(Gate::default());
        markdown::render(&report).lines().nth(1).unwrap().to_owned()
    };
    // Rules let it pass.
    assert_eq!(of_unit(Regression), "### ✅ duet: 1 of 1 benchmark regressed, for information");
    assert_eq!(of_unit(Improvement), "### ✅ duet: 1 of 1 benchmark improved, none regressed");
    assert_eq!(of_unit(Slower(Extent::WithinTolerance)), "### ✅ duet: No change beyond the threshold in 1 benchmark");
    let passing = |first: Standing| {
        let mut report = run_of(&[Regression, Regression]);
        let breach = |(benchmark, standing): (&BenchmarkReport, Standing)| Breach {
            id: benchmark.id.clone(),
            metric: Metric::Time,
            change: 0.1,
            threshold: 0.03,
            standing,
        };
        let breaches = report.benchmarks.iter().zip([first, Standing::Informs]).map(breach).collect();
        report.gate = Some(Gate { breaches, ..Gate::default() });
        markdown::render(&report).lines().nth(1).unwrap().to_owned()
    };
    let waived = Standing::Waived { ceiling: 0.2, expires: "2999-12-31".parse().unwrap() };
    assert_eq!(passing(waived), "### ✅ duet: 2 of 2 benchmarks regressed, 1 of them as accepted");
    assert_eq!(passing(Standing::Informs), "### ✅ duet: 2 of 2 benchmarks regressed, for information");
    // That it crashes now and then is not made good by what is accepted of the rest.
    let mut crashing = run_of(&[Regression, NoChange]);
    crashing.benchmarks[0].failed_too_often = true;
    crashing.gate = Some(Gate::default());
    let out = markdown::render(&crashing);
    assert_eq!(out.lines().nth(1), Some("### ❌ duet: 1 regressed, for information, but 1 of 2 benchmarks failed"));
    let redefined = Redefined(Box::new(NoChange));
    check(&[NoChange, redefined, CandidateOnly], "✅ duet: No change in 1 of 3 benchmarks");
    let open = Extent::Open { forks_sufficient: None };
    check(&[NoChange, Slower(open), Faster(open)], "❔ duet: No regression found, but 2 of 3 benchmarks undecided");
    check(&[BaselineOnly], "❌ duet: Nothing was compared");
    check(&[failed()], "❌ duet: Nothing was compared");
    check(&[], "❌ duet: Nothing was compared");
}

#[test]
fn what_is_proven_is_an_answer_to_a_run_that_had_no_time_for_the_rest() {
    for proven in [Verdict::IdenticalCode, Verdict::NotAffected] {
        let mut report = run_of(&[proven, OPEN]);
        report.benchmarks.iter_mut().for_each(|benchmark| benchmark.estimate = None);
        assert!(!report.answers_nothing());
        report.benchmarks.remove(0);
        assert!(report.answers_nothing());
    }
}

#[test]
fn commands_have_the_options_again_that_no_run_keeps() {
    let mut report = run_of(&[Verdict::Regression]);
    report.typed =
        Typed { store: " --db far.db".into(), plan: " --plan p.toml".into(), bounds: " --timeout 3m --sandbox".into() };
    report.spec.harness_args = vec!["-short".into()];
    let hints = text::render(&report, &Palette::plain(), Look::default());
    for command in [
        "`duet compare main --bench '^BenchmarkB0$' --forks 40 --db far.db --timeout 3m --sandbox -- -short`",
        "`duet waive p.BenchmarkB0 --run r12 --db far.db --days 90 --reason '…'`",
    ] {
        assert!(hints.contains(command), "{hints}");
    }
    // Whoever makes the run again may sit elsewhere, where there is no such store.
    let shared = markdown::render(&report);
    let again = shared.lines().find(|line| line.contains("--seed")).unwrap();
    assert!(again.contains(" --plan p.toml --timeout 3m --sandbox -- -short") && !again.contains("far.db"), "{again}");
    let mut open = run_of(&[OPEN]);
    (open.complete, open.typed) = (false, report.typed);
    let goes_on = text::render(&open, &Palette::plain(), Look::default());
    assert!(goes_on.contains("`duet compare --resume r12 --db far.db --timeout 3m --sandbox`"), "{goes_on}");
}

#[test]
fn hints_say_what_to_do_next_and_a_clean_run_needs_none() {
    use Verdict::{Improvement, NoChange};
    let settled_by = |forks| Verdict::Inconclusive { forks_sufficient: Some(forks) };
    let check = |verdicts: &[Verdict], want: &[&str]| {
        let out = text::render(&run_of(verdicts), &Palette::plain(), Look::default());
        assert_eq!(out.lines().filter_map(|line| line.strip_prefix("hint: ")).collect::<Vec<_>>(), want);
    };
    check(&[NoChange, Improvement], &[]);
    check(
        &[settled_by(30), settled_by(50), settled_by(9000), OPEN],
        &["`--forks 50` would probably settle 2 of 4 open questions, in about 2m more"],
    );
    check(
        &[settled_by(30), settled_by(50)],
        &["`--forks 50` would probably settle all 2 open questions, in about 4m more"],
    );
    let too_dear = "even 400 fork pairs may leave 1 open question: \
                    a machine with less load or a larger `--threshold` helps more";
    check(&[settled_by(9000)], &[too_dear]);
    check(&[OPEN], &[too_dear]);
    check(
        &[Verdict::Slower(Extent::Open { forks_sufficient: Some(60) })],
        &["`--forks 60` would probably settle the open question, in about 7m more"],
    );
    let mut young = run_of(&[OPEN]);
    young.benchmarks[0].estimate = None;
    let out = text::render(&young, &Palette::plain(), Look::default());
    assert!(out.contains("\nhint: too few fork pairs for 1 open question: raise `--forks` or `--budget`\n"), "{out}");
    check(
        &[Verdict::Regression],
        &[
            "look closer at the largest regression with `duet compare main --bench '^BenchmarkB0$' --forks 40`",
            "if it is worth it, accept it with `duet waive p.BenchmarkB0 --run r12 --days 90 --reason '…'`",
        ],
    );
    check(
        &[NoChange, failed()],
        &["run the first failure alone with `duet compare main --bench '^BenchmarkB1$' --forks 3`"],
    );
}

#[test]
fn csv_has_as_many_cells_in_every_row_as_in_its_heading() {
    let out = csv::render(&everything());
    let cells = |line: &str| {
        let mut quoted = false;
        line.chars()
            .filter(|c| {
                quoted ^= *c == '"';
                *c == ',' && !quoted
            })
            .count()
    };
    let counts: Vec<usize> = out.lines().map(cells).collect();
    assert_eq!(counts.len(), 1 + everything().benchmarks.len());
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

#[test]
fn go_text_keeps_the_rules_of_its_format() {
    let (mut keys, mut results) = (0, 0);
    for line in gobench::render(&everything()).lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("Benchmark") {
            results += 1;
            assert!(fields.len() >= 4 && fields.len().is_multiple_of(2), "{line}");
            assert!(fields[1].parse::<u64>().is_ok(), "{line}");
            assert!(fields[2..].chunks(2).all(|pair| pair[0].parse::<f64>().is_ok_and(f64::is_finite)), "{line}");
        } else if !line.starts_with("# ") && !line.starts_with("Unit ") {
            keys += 1;
            let (key, value) = line.split_once(": ").expect(line);
            assert!(key.starts_with(|c: char| c.is_ascii_lowercase()), "{line}");
            assert!(!key.contains(|c: char| c.is_whitespace() || c.is_uppercase()), "{line}");
            assert!(!value.trim().is_empty(), "an empty value deletes the key: {line}");
        }
    }
    let forks: usize = everything().benchmarks.iter().map(|b| b.forks.len()).sum();
    assert_eq!(results, 2 * forks);
    assert!(keys > 10);
}

#[test]
fn go_text_says_unknown_where_an_empty_value_would_delete_a_key() {
    let mut report = clean();
    report.environment.cpu_model = String::new();
    assert!(gobench::render(&report).contains("\ncpu: unknown\n"));
}

#[test]
fn go_text_keeps_the_order_of_forks() {
    let out = gobench::render(&clean());
    let invocations: Vec<&str> =
        out.lines().filter(|l| l.starts_with("Bench")).filter_map(|l| l.split('\t').nth(1)).collect();
    let side: Vec<String> = (14_500..14_512).map(|n| n.to_string()).collect();
    assert_eq!(invocations, [side.clone(), side].concat());
}

#[test]
fn json_says_null_where_a_number_is_not_finite() {
    let mut report = clean();
    if let Some(estimate) = &mut report.benchmarks[0].estimate {
        estimate.minimal_detectable_change = f64::INFINITY;
    }
    assert!(json::render(&report, 0).contains("\"minimal_detectable_change\": null"));
}

#[test]
fn a_run_that_stopped_early_says_how_many_had_no_turn() {
    let mut report = everything();
    report.complete = false;
    let planned = report.benchmarks.iter().filter(|b| b.mode.is_some()).count();
    report.benchmarks.iter_mut().for_each(|b| b.forks.truncate(1));
    report.benchmarks.iter_mut().filter(|b| !b.forks.is_empty()).skip(1).for_each(|b| b.forks.clear());
    let page = text::render(&report, &Palette::plain(), Look::default());
    let words = format!("1 fork pair each of 1 benchmark, none of {}", planned - 1);
    assert!(page.contains(&words), "`{words}` is not in\n{page}");
    report.complete = true;
    assert!(!text::render(&report, &Palette::plain(), Look::default()).contains("none of"), "{page}");
}
