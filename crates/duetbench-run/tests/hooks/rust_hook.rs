//! The hook for Rust: what it computes, as the oldest edition that a harness is compiled in, and how two processes with it get along.

use std::process::Command;
use std::sync::LazyLock;

use duetbench_core::plan::Style;
use duetbench_run::page::{PageHeader, PageMode, Record};
use duetbench_run::processors::usable_cpus;
use serde_json::{Value, json};

use crate::hook_support::{ARRIVE, Hook, Trial, golden, hooks, run};

static HOOK: LazyLock<Hook> =
    LazyLock::new(|| Hook { check: vec![compiled("check")], looping: vec![compiled("looping")] });

/// A program of `hooks/rust/test`.
fn compiled(name: &str) -> String {
    let program = format!("{}/rust-{name}", env!("CARGO_TARGET_TMPDIR"));
    let source = hooks().join(format!("rust/test/{name}.rs"));
    run(Command::new("rustc").args(["--edition", "2018", "-D", "warnings", "-o", &program]).arg(source));
    program
}

#[test]
fn it_has_the_golden_layout() {
    HOOK.has_the_golden_layout();
}

#[test]
fn it_writes_the_golden_record() {
    HOOK.writes_the_golden_record();
}

#[test]
fn it_leads_as_the_golden_file_says() {
    HOOK.leads_as_the_golden_file_says();
}

#[test]
fn it_takes_the_golden_turns() {
    HOOK.takes_the_golden_turns();
}

/// Numbers of an object by their names; those that are not there are 0.
fn numbers(of: &Value, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| of[name].as_u64().unwrap_or(0).to_string()).collect()
}

#[test]
fn it_agrees_on_the_golden_plans_of_sides_without_a_collector() {
    let mut compared = 0;
    for case in golden("agree.json").as_array().unwrap() {
        let sides = case["sides"].as_array().unwrap();
        let collects = |side: &Value| side["gc_period"].as_u64() > Some(0) && side["k_bytes"].as_u64() > Some(0);
        let called_anew = |side: &Value| side["style"] == 3;
        let collector = case["header"]["gc_ns"].as_u64() > Some(0) && sides.iter().any(collects);
        if collector || sides.iter().any(called_anew) {
            continue;
        }
        let header = ["slice_ns", "trial_ns", "warmup_slices", "capacity", "block_slices", "slices", "mode", "warm_ns"];
        let mut question = vec!["agree".to_owned()];
        question.extend(numbers(&case["header"], &header));
        question.extend(sides.iter().flat_map(|side| numbers(side, &["k", "k_ns", "slice_ns"])));
        let want = numbers(&case["plan"], &["k", "warmup", "slices", "block", "warm_k"]).join(" ");
        assert_eq!(HOOK.checked(&question).trim(), want, "{}", case["name"]);
        compared += 1;
    }
    assert!(compared > 10, "only {compared} cases are left");
}

#[test]
fn its_blocks_are_the_golden_ones() {
    for case in golden("transcripts.json").as_array().unwrap() {
        let mut question = vec!["blocks".to_owned()];
        question.extend(numbers(&case["plan"], &["warmup", "slices", "block"]));
        let blocks = HOOK.checked(&question);
        let blocks: Vec<&str> = blocks.lines().collect();
        let events = case["interleaved"].as_array().unwrap().iter().filter(|event| event["does"] == "slice");
        for event in events {
            let want = format!("{} {} {}", event["block"], event["pause"], event["memory"]);
            assert_eq!(blocks[event["slice"].as_u64().unwrap() as usize], want, "{}: {event}", case["name"]);
        }
    }
}

#[test]
fn set_up_makes_a_slice_twenty_times_as_long_but_none_longer_than_a_second() {
    let charged = |ns: u64, elapsed_ns: u64, slice_ns: u64| -> u64 {
        let question = ["charged".to_owned(), ns.to_string(), elapsed_ns.to_string(), slice_ns.to_string()];
        HOOK.checked(&question).trim().parse().unwrap()
    };
    const MS: u64 = 1_000_000;
    assert_eq!(charged(MS, 10 * MS, MS), MS, "little of it was set-up");
    assert_eq!(charged(MS, 40 * MS, MS), 2 * MS);
    assert_eq!(charged(MS, 40 * MS, 100 * MS), 4 * MS, "1 s is ten times as long");
    assert_eq!(charged(MS, 1000 * MS, 1000 * MS), 1000 * MS);
    assert_eq!(charged(MS, 3000 * MS, 3000 * MS), 3000 * MS, "such slices are asked for");
}

#[test]
fn a_calibration_slice_that_was_interrupted_is_repeated() {
    let repeats = |k: u64, ns: u64, busy_ns: u64| {
        let question = ["repeats".to_owned(), k.to_string(), ns.to_string(), busy_ns.to_string(), "4000".to_owned()];
        HOOK.checked(&question).trim() == "true"
    };
    assert!(repeats(1, 1000, 1000) && !repeats(1, 1001, 1001));
    assert!(repeats(1, 40_000, 1000), "it had no processor for most of it");
    assert!(!repeats(1, 40_001, 1000), "it waits");
    assert!(repeats(1, 1000, 5000), "set-up that is not timed keeps the processor busy");
    assert!(!repeats(1_000_000_000, 1, 1));
}

/// A trial of two processes whose invocations take so long; what they wrote and what they printed.
fn measured(header: PageHeader, micros: [u32; 2]) -> (Trial, [Vec<Record>; 2], Vec<String>) {
    let mut trial = Trial::of(header);
    for (side, micros) in micros.iter().enumerate() {
        trial.spawn(side, Command::new(&HOOK.looping[0]).arg(micros.to_string()).env("DUET_BENCH", "sleeps"));
    }
    let said = trial.end_well_by(Style::Loop);
    let records = [0, 1].map(|side| trial.page.records(side));
    (trial, records, said)
}

/// The page of a golden transcript.
fn of_transcript(case: &Value, mode: PageMode) -> PageHeader {
    let planned = |name: &str| u32::try_from(case["plan"][name].as_u64().unwrap()).unwrap();
    let header = Trial::header(mode, planned("warmup"), planned("slices"));
    PageHeader { seed: case["seed"].as_u64().unwrap(), block_slices: planned("block"), ..header }
}

fn end(record: &Record) -> u64 {
    record.start_ns + record.wall_ns
}

#[test]
fn two_processes_take_the_golden_turns() {
    for case in golden("transcripts.json").as_array().unwrap() {
        let (_, records, _) = measured(of_transcript(case, PageMode::Interleaved), [3000, 500]);
        let mut all: Vec<(&Record, usize)> =
            (0..2).flat_map(|side| records[side].iter().map(move |r| (r, side))).collect();
        all.sort_unstable_by_key(|(record, _)| record.start_ns);
        for pair in all.windows(2) {
            assert!(end(pair[0].0) <= pair[1].0.start_ns, "slices overlap: {pair:?}");
        }
        let order: Vec<Value> = all.iter().map(|(record, side)| json!([record.slice, side])).collect();
        let slices = case["interleaved"].as_array().unwrap().iter().filter(|event| event["does"] == "slice");
        let want: Vec<Value> = slices.map(|event| json!([event["slice"], event["side"]])).collect();
        assert_eq!(order, want, "{}", case["name"]);
    }
}

#[test]
fn two_processes_meet_at_the_golden_barriers() {
    for case in golden("transcripts.json").as_array().unwrap() {
        let (trial, sides, _) = measured(of_transcript(case, PageMode::Duet), [3000, 500]);
        for slice in 1..sides[0].len() {
            let ended = sides.iter().map(|records| end(&records[slice - 1])).max();
            assert!(
                ended <= sides.iter().map(|records| records[slice].start_ns).min(),
                "slice {slice} began too early"
            );
        }
        assert_eq!(json!(trial.word(ARRIVE)), case["duet"].as_array().unwrap().last().unwrap()["barrier"]);
    }
}

#[test]
fn two_processes_agree_on_the_invocations_of_a_slice() {
    for mode in [PageMode::Duet, PageMode::Interleaved] {
        let header = PageHeader { slice_ns: 4_000_000, trial_ns: 40_000_000, ..Trial::header(mode, 2, 4) };
        let (_, sides, _) = measured(header, [2000, 300]);
        let invocations = sides.map(|records| records.iter().map(|r| (r.slice, r.invocations)).collect::<Vec<_>>());
        assert_eq!(invocations[0].len(), 6);
        assert_eq!(invocations[0], invocations[1]);
    }
}

#[test]
fn a_part_that_warms_is_not_recorded() {
    let slices = 20;
    let header = PageHeader { warm_ns: 2_000_000, ..Trial::header(PageMode::Interleaved, 0, slices) };
    let (_, sides, said) = measured(header, [100, 100]);
    for side in 0..2 {
        assert_eq!(sides[side].len(), slices as usize);
        let stretches = said[side].lines().count();
        assert!(stretches >= 2 * sides[side].len(), "side {side}: {stretches} stretches");
    }
}

#[test]
fn two_processes_exchange_their_cores_before_every_block() {
    let usable = usable_cpus();
    let cores = [usable[0], usable[usable.len() - 1]];
    let header = PageHeader { cores, swap: true, block_slices: 2, ..Trial::header(PageMode::Duet, 2, 6) };
    let (_, sides, said) = measured(header, [300, 300]);
    for side in 0..2 {
        let printed: Vec<u32> = said[side].lines().map(|line| line.parse().unwrap()).collect();
        let taken = &printed[printed.len() - sides[side].len()..];
        let exchanged = |record: &Record| cores[(side + record.block as usize + 1) % 2];
        assert_eq!(taken, sides[side].iter().map(exchanged).collect::<Vec<_>>(), "side {side}");
        assert!(
            printed[..printed.len() - taken.len()].iter().all(|core| *core == cores[side]),
            "side {side}: {printed:?}"
        );
    }
}

#[test]
fn the_faster_of_two_processes_goes_on_until_the_slower_is_through() {
    let header = PageHeader { slice_ns: 200_000_000, trial_ns: 1_000_000_000, ..Trial::header(PageMode::Duet, 0, 5) };
    let (_, sides, said) = measured(header, [300, 5000]);
    let stretches = said.iter().map(|lines| lines.lines().count()).collect::<Vec<_>>();
    assert!(sides[0].iter().all(|record| record.invocations >= 8), "{sides:?}");
    // Calibrating takes the same stretches on both sides, give or take a few. However late each wakes up, several fit into what is left.
    assert!(stretches[0] > stretches[1] + 2 * sides[0].len(), "{stretches:?} stretches");
}
