//! A report with counts of instructions.

use duetbench_core::Verdict;
use duetbench_core::hotspot::Origin;
use duetbench_core::instructions::{
    BenchmarkInstructions, CountOutcome, Executed, ExecutedCode, FunctionCount, InstructionCounts, Per,
};
use duetbench_core::report::{LayoutsUsed, Report};
use duetbench_core::verdict::Extent;

use super::{CODEC, Change, STORE, brief, id, planned, profiled};

/// Counts of two sides that executed so much, by processes that differ by so much.
fn counts(baseline: f64, candidate: f64, spread: f64) -> InstructionCounts {
    let executed = |all| Executed { all, collector: 0.0, spread };
    InstructionCounts {
        per: Per::Invocation,
        invocations: [1746, 19_208],
        processes: 3,
        baseline: executed(baseline),
        candidate: executed(candidate),
        functions: Vec::new(),
        code: None,
    }
}

/// Functions that were executed, these of which differ.
fn executed(differing: &[&str]) -> ExecutedCode {
    ExecutedCode::new(412, differing.to_vec())
}

/// A run with every case that a benchmark can be whose instructions were counted, and one that could not be.
pub(crate) fn with_instructions() -> Report {
    let mut report = profiled();
    let slower = || Change(1718.0, 1.2, 0.004);
    let open = Verdict::Inconclusive { forks_sufficient: None };
    let small = Verdict::Slower(Extent::WithinTolerance);
    let cases = [
        (CODEC, "BenchmarkBranches", Verdict::Regression, slower()),
        (STORE, "BenchmarkOneBuild", Verdict::Regression, slower()),
        (STORE, "BenchmarkLess", small, Change(1718.0, 1.02, 0.004)),
        (CODEC, "BenchmarkLittle", Verdict::NoChange, Change(1718.0, 1.001, 0.004)),
        (CODEC, "BenchmarkSame", Verdict::NoChange, Change(1718.0, 1.0, 0.004)),
        (CODEC, "BenchmarkFaster", Verdict::Improvement, Change(1718.0, 0.8, 0.004)),
        (CODEC, "BenchmarkOpen", open, Change(1718.0, 1.02, 0.06)),
    ];
    let more = cases.map(|(package, name, verdict, change)| brief(package, name, verdict, change));
    report.benchmarks.extend(more);
    report.plan.benchmarks = report.benchmarks.iter().map(planned).collect();
    for planned in report.plan.benchmarks.iter_mut().filter(|planned| planned.id.name == "BenchmarkOneBuild") {
        planned.configuration.design.by_build = false;
    }
    report.layouts = Some(LayoutsUsed { matched: [CODEC.to_owned()].into(), ..LayoutsUsed::default() });
    let function = |function: &str, origin, baseline, candidate| FunctionCount {
        function: function.into(),
        origin,
        baseline,
        candidate,
    };
    let encode = InstructionCounts {
        functions: vec![
            function("example.com/shop/codec.(*Writer[go.shape.int]).escape", Origin::Program, 4100.0, 5600.5),
            function("runtime.mallocgc", Origin::Runtime, 0.0, 131.0),
            function("example.com/shop/codec.old\u{1b}[31m", Origin::Program, 21.5, 0.0),
        ],
        code: Some(executed(&[
            "example.com/shop/codec.(*Writer[go.shape.int]).escape",
            "a.old",
            "a.one",
            "a.two",
            "a.three",
            "runtime.f",
        ])),
        ..counts(12_410.25, 14_020.25, 0.0002)
    };
    let mut collecting = counts(3.307e7, 3.1e7, 0.0004);
    collecting.candidate.collector = 1.2e6;
    let one = |package: &str, name: &str, counts| BenchmarkInstructions {
        id: id(package, name),
        outcome: CountOutcome::Counted(counts),
    };
    let whole = InstructionCounts { per: Per::Process, invocations: [0, 1], ..counts(5e9, 4e9, 0.0) };
    let failed = CountOutcome::Failed { reason: "exit status 1: only one at a time".into() };
    report.instructions = vec![
        one(CODEC, "BenchmarkEncode/json-8", encode),
        one(
            CODEC,
            "BenchmarkBranches",
            InstructionCounts { code: Some(executed(&[])), ..counts(8012.0, 8013.0, 0.0001) },
        ),
        one(STORE, "BenchmarkOneBuild", counts(8012.0, 8012.0, 0.0)),
        one(STORE, "BenchmarkLess", whole),
        one(CODEC, "BenchmarkLittle", counts(8012.0, 8092.0, 0.0001)),
        one(CODEC, "BenchmarkSame", counts(8012.0, 8020.0, 0.02)),
        one(CODEC, "BenchmarkFaster", counts(8012.0, 8012.0, 0.0)),
        one(CODEC, "BenchmarkOpen", collecting),
        BenchmarkInstructions { id: id(CODEC, "BenchmarkOnce"), outcome: failed },
    ];
    report
}
