//! The hook for Rust: what it computes, as the oldest edition that a harness is compiled in.

use std::process::Command;
use std::sync::LazyLock;

use duetbench_core::plan::Style;
use duetbench_run::page::{NO_CORE, PageHeader, PageMode};
use serde_json::Value;

use crate::hook_support::{Hook, Trial, golden, hooks, run};

static HOOK: LazyLock<Hook> = LazyLock::new(|| {
    let program = format!("{}/rust-check", env!("CARGO_TARGET_TMPDIR"));
    let source = hooks().join("rust/test/check.rs");
    run(Command::new("rustc").args(["--edition", "2018", "-D", "warnings", "-o", &program]).arg(source));
    Hook { check: vec![program], looping: Vec::new() }
});

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
        if case["header"]["gc_ns"].as_u64() > Some(0) && sides.iter().any(collects) {
            continue;
        }
        let header = ["slice_ns", "trial_ns", "warmup_slices", "capacity", "block_slices", "slices"];
        let mut question = vec!["agree".to_owned()];
        question.extend(numbers(&case["header"], &header));
        question.extend(sides.iter().flat_map(|side| numbers(side, &["k", "k_ns", "slice_ns"])));
        let want = numbers(&case["plan"], &["k", "warmup", "slices", "block"]).join(" ");
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
fn the_faster_side_of_a_duet_goes_on_until_the_slower_is_through() {
    const SLICES: u32 = 200;
    let header = PageHeader {
        mode: PageMode::Duet,
        seed: 1,
        slice_ns: 200_000,
        trial_ns: 1_000_000_000,
        warmup_slices: 0,
        capacity: SLICES + 1,
        block_slices: 16,
        stretch: 0,
        gc_ns: 0,
        k_hint: 0,
        cores: [NO_CORE; 2],
        swap: false,
        slices: SLICES,
    };
    let mut trial = Trial::with_header(&header, Style::Loop);
    for (side, units) in ["50", "200"].into_iter().enumerate() {
        trial.spawn(side, Command::new(&HOOK.check[0]).args(["work", units]).env("DUET_BENCH", "work"));
    }
    let made: u64 = trial.end_well()[0].trim().parse().unwrap();
    let records = trial.page.records(0);
    let recorded: u64 = records.iter().map(|record| record.invocations).sum();
    assert_eq!(records.len(), SLICES as usize);
    assert!(
        made > recorded + recorded / 4,
        "{made} of {recorded} recorded ones, which take a quarter of the other side's time"
    );
}
