//! The usual procedure: `go test -bench . -count 10` for one version, then for the other.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use duetbench_run::RunError;
use duetbench_run::process::{Launch, WaitEnd, failure_words, wait_all};

/// Runs of every benchmark.
pub const COUNT: u32 = 10;
/// Length of one run.
pub const BENCHTIME: &str = "50ms";
/// Longest that a block may take.
const LIMIT: Duration = Duration::from_secs(90);

/// One block: all benchmarks of a test binary, ten times each. Nanoseconds per operation by name.
///
/// # Errors
/// When the binary cannot be run to its end.
pub fn block(launch: &Launch, interrupted: &AtomicBool) -> Result<BTreeMap<String, Vec<f64>>, RunError> {
    let mut launch = Launch { hooked: false, ..launch.clone() };
    let own = [
        "-test.run=^$".into(),
        "-test.bench=.".into(),
        format!("-test.count={COUNT}"),
        format!("-test.benchtime={BENCHTIME}"),
    ];
    launch.args = own.into_iter().map(Into::into).collect();
    let mut children = [launch.spawn()?];
    let failed = |what: String| RunError::Tool { command: "the demo's test binary".into(), output: what };
    match wait_all(&mut children, Instant::now() + LIMIT, interrupted, |_| {}) {
        WaitEnd::Interrupted => return Err(RunError::Interrupted),
        WaitEnd::TimedOut => return Err(failed("it did not end".into())),
        WaitEnd::Ended => {}
    }
    let output = children[0].output_tail();
    match children[0].status().and_then(failure_words) {
        Some(words) => Err(failed(format!("{words}\n{output}"))),
        None => Ok(parse(&output)),
    }
}

/// Nanoseconds per operation by benchmark, `-8` suffixes removed.
fn parse(output: &str) -> BTreeMap<String, Vec<f64>> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in output.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if let [name, _, ns, "ns/op", ..] = fields[..]
            && name.starts_with("Benchmark")
            && let Ok(ns) = ns.parse()
        {
            let name = name.rsplit_once('-').map_or(name, |(bare, _)| bare);
            values.entry(name.to_owned()).or_default().push(ns);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    #[test]
    fn benchmark_lines_are_read_and_others_skipped() {
        let values =
            super::parse("goos: linux\nBenchmarkA-2   \t 100\t 12.5 ns/op\t 3 B/op\nBenchmarkA-2 100 13 ns/op\nPASS\n");
        assert_eq!(values["BenchmarkA"], [12.5, 13.0]);
        assert_eq!(values.len(), 1);
    }
}
