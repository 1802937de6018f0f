//! The result of a search for a commit, in every form.

use duetbench_cli::bisection::{
    Answer, Bisection, Commit, Compared, Comparison, Ends, Found, Inside, Other, Pair, Regressed, Shown, Skipped,
    Sought,
};
use duetbench_cli::options::Format;
use duetbench_cli::render::bisect::document;
use duetbench_core::BenchmarkId;

use serde_json::Value;

use crate::golden_files::check;
use crate::render_support::written;
use crate::schema::{BISECT, departures_from};

/// Commits 0 to 3 are the line from good to bad, of which 2 merges 4, 5 and 6; the others are those of another merge.
fn commits() -> Vec<Commit> {
    let subjects = [
        "Release", "Read ahead", "Merge branch 'codec'", "Merge branch 'cache'", "Buffers", "Escape twice", "Names",
        "Keep more",
    ];
    let commit = |(at, subject): (usize, &&str)| {
        let id = |at: usize| format!("{at}").repeat(40);
        let parents = match at {
            0 => Vec::new(),
            2 => vec![id(1), id(6)],
            3 => vec![id(2), id(7)],
            4 | 7 => vec![id(0)],
            _ => vec![id(at - 1)],
        };
        Commit { id: id(at), tree: format!("tree-{at}"), subject: (*subject).to_owned(), parents }
    };
    subjects.iter().enumerate().map(commit).collect()
}

fn found(of: Pair, ratio: f64, run: &str, inside: Vec<Inside>) -> Found {
    let (run, verdict) = (Some(run.to_owned()), Some("regression"));
    Found { parent: of.base, culprit: of.head, hidden: Vec::new(), ratio, probability: 0.998, run, verdict, inside }
}

/// A search by two benchmarks: one came with a commit inside a merge, the other of another merge itself.
fn of_two_merges() -> Bisection {
    let inner = Answer::Steps(vec![found(Pair { base: 4, head: 5 }, 1.38, "r7", Vec::new())]);
    let codec = Inside { base: 0, tip: 6, commits: 3, ratio: Some(1.38), answer: inner };
    let cache = Inside { base: 0, tip: 7, commits: 1, ratio: Some(1.002), answer: Answer::NotSlower };
    let sought = |name: &str, ratio: f64, step: Found| Sought {
        benchmark: name.into(),
        ratio,
        threshold: 0.03,
        answer: Answer::Steps(vec![step]),
    };
    let compared = |(base, head): (usize, usize), of: Option<&str>, run: Option<(&str, f64)>| Shown {
        compared: Compared {
            of: Comparison {
                pair: Pair { base, head },
                benchmark: of.map(|name| BenchmarkId { package: "example.com/codec".into(), name: name.into() }),
                run: run.map(|(run, _)| run.to_owned()),
            },
            pairs: if run.is_some() { 8 } else { 0 },
            took_s: 12.5,
            measured_s: 9.25,
        },
        ratio: run.map(|(_, ratio)| ratio),
    };
    let (encode, cached) = (Some("BenchmarkEncode"), Some("BenchmarkCached"));
    Bisection {
        duet_version: "0.0.0".into(),
        commits: commits(),
        last: 3,
        threshold: 0.03,
        first_parent: false,
        sought: vec![
            sought("BenchmarkEncode", 1.42, found(Pair { base: 1, head: 2 }, 1.41, "r4", vec![codec])),
            sought("BenchmarkCached", 1.2, found(Pair { base: 2, head: 3 }, 1.2, "r9", vec![cache])),
        ],
        others: vec![
            Other { name: "BenchmarkDecode".into(), ratio: 1.1, ratio_of_steps: Some(1.09) },
            Other { name: "BenchmarkOpen".into(), ratio: 1.05, ratio_of_steps: None },
        ],
        compared: vec![
            compared((0, 3), None, Some(("r1", 1.42))),
            compared((0, 1), encode, None),
            compared((1, 2), encode, Some(("r4", 1.41))),
            compared((0, 6), encode, Some(("r5", 1.38))),
            compared((4, 5), encode, Some(("r7", 1.38))),
            compared((2, 3), cached, Some(("r9", 1.2))),
        ],
        skipped: vec![Skipped { commit: 4, benchmark: None, why: "it does not build".into() }],
        detects: None,
        redefined: vec![],
        ends: Ends::default(),
        out_of_budget: false,
        store_typed: " --db far.db".into(),
    }
}

#[test]
fn what_is_open_tolerated_or_failed_is_not_called_nothing() {
    let id = |name: &str| BenchmarkId { package: "p".into(), name: name.into() };
    let text_of = |ends: Ends| {
        let bisection = Bisection { sought: vec![], others: vec![], detects: Some(0.02), ends, ..of_two_merges() };
        let document = document(&bisection);
        let json: Value = serde_json::from_str(&written(&document, Format::Json)).unwrap();
        assert_eq!(departures_from(BISECT, &json), Vec::<String>::new());
        let text = written(&document, Format::Text).split_whitespace().collect::<Vec<_>>().join(" ");
        (json["answer"].as_str().unwrap().to_owned(), text)
    };
    let check = |ends: Ends, answer: &str, wanted: &[&str]| {
        let (said, text) = text_of(ends);
        assert_eq!(said, answer);
        for want in wanted {
            assert!(text.contains(want), "`{want}` is not in {text}");
        }
    };
    let open = Ends { open: vec![id("BenchmarkOpen")], all: 2, ..Ends::default() };
    check(
        open,
        "cannot_tell",
        &[
            "1 of 2 benchmarks undecided",
            "undecided: `Open` hint: a longer `--budget`, or more `--forks`, compares the end points anew",
        ],
    );
    let tolerated = vec![Regressed { id: id("BenchmarkSum"), ratio: 1.02 }];
    // By a rule's threshold.
    let tolerated = Ends { tolerated, tolerance: 0.05, all: 1, ..Ends::default() };
    let words = ["by more than the tolerated 5%", "`Sum` is slower, which is tolerated: +2"];
    check(tolerated, "nothing_slower", &words);
    let failed = Ends { failed: vec![id("BenchmarkOne")], all: 1, ..Ends::default() };
    check(
        failed,
        "unusable",
        &["cannot be compared: 1 benchmark failed", "failed: `One` hint: `duet show r1 --db far.db` tells why"],
    );
    check(Ends { all: 1, ..Ends::default() }, "nothing_slower", &["nothing is slower in the bad commit"]);
}

#[test]
fn every_form_of_a_search_inside_merges() {
    let document = document(&of_two_merges());
    check("bisect.txt", &written(&document, Format::Text));
    check("bisect.md", &written(&document, Format::Markdown));
    check("bisect.csv", &written(&document, Format::Csv));
    let json = written(&document, Format::Json);
    check("bisect.json", &json);
    assert_eq!(departures_from(BISECT, &serde_json::from_str(&json).unwrap()), Vec::<String>::new());
}

#[test]
fn what_is_slower_by_a_change_of_the_benchmark_is_not_called_nothing() {
    let bisection = Bisection {
        sought: vec![],
        others: vec![],
        detects: Some(0.02),
        redefined: vec!["BenchmarkCodec".into()],
        ..of_two_merges()
    };
    let text = written(&document(&bisection), Format::Text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for want in [
        "1 benchmark is slower in the bad commit, but is another one there",
        "so that their times do not tell of the code: `Codec`",
        "`--benchmarks-from head` measures",
        "a slowdown of 2% would have been found in every other benchmark",
    ] {
        assert!(text.contains(want), "`{want}` is not in {text}");
    }
}

#[test]
fn a_step_below_the_threshold_is_told_and_not_named() {
    let text_of = |second: f64, threshold: f64| {
        let mut bisection = of_two_merges();
        let steps = vec![
            found(Pair { base: 0, head: 1 }, 1.09, "r4", Vec::new()),
            found(Pair { base: 2, head: 3 }, second, "r9", Vec::new()),
        ];
        bisection.sought.truncate(1);
        bisection.sought[0] = Sought { threshold, answer: Answer::Steps(steps), ..bisection.sought[0].clone() };
        written(&document(&bisection), Format::Text).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for second in [1.011, 0.96] {
        let text = text_of(second, 0.03);
        assert!(text.contains("`1111111111` made Encode slower: +9"), "{text}");
        assert!(text.contains("3333333333 ") && !text.contains("inside the merge"), "{text}");
    }
    assert!(text_of(1.04, 0.03).contains("2 commits made Encode what it is"));
    // A rule's threshold is the benchmark's.
    assert!(text_of(1.011, 0.01).contains("2 commits made Encode what it is"));
}

#[test]
fn a_merge_that_was_not_searched_inside_is_told_by_the_reason() {
    let check = |change: &dyn Fn(&mut Bisection), want: &str| {
        let mut bisection = of_two_merges();
        bisection.sought.truncate(1);
        change(&mut bisection);
        let text = written(&document(&bisection), Format::Text);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(want), "`{want}` is not in {text}");
    };
    let step = |bisection: &mut Bisection, change: &dyn Fn(&mut Found)| {
        let Answer::Steps(steps) = &mut bisection.sought[0].answer else { return };
        change(&mut steps[0]);
    };
    let answer = |answer: Answer| move |step: &mut Found| step.inside[0].answer = answer.clone();
    let outside = |bisection: &mut Bisection| {
        bisection.first_parent = true;
        step(bisection, &|step| step.inside.clear());
    };
    check(&outside, "is a merge, and was not searched inside hint: without `--first-parent` it is");
    let open = |bisection: &mut Bisection| {
        bisection.out_of_budget = true;
        step(bisection, &answer(Answer::CannotTell(vec![5, 6])));
    };
    check(&open, "inside the merge `2222222222` it came with one of `5555555555` … `6666666666`, as far as is known");
    check(&open, "the same command with a longer `--budget` goes on from here");
    let apart = |bisection: &mut Bisection| step(bisection, &answer(Answer::Unusable("it has no benchmark".into())));
    check(
        &apart,
        "cannot be searched inside, since `6666666666` and `0000000000` cannot be compared: it has no benchmark",
    );
    // The line makes a part of what the merge makes.
    let part = |bisection: &mut Bisection| step(bisection, &|step| step.ratio = 1.6);
    check(&part, "a further +16% comes of the merge `2222222222` itself");
}
