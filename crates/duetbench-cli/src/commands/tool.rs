//! Recognizes the tool that wrote a file, as far as that decides the advice.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::render::detect::Tool;

/// A tool is told by what stands at the beginning.
const HEAD_BYTES: u64 = 1 << 16;
/// Words that only one tool's files have.
const WORDS: [(&str, Tool); 7] = [
    ("\"machine_info\"", Tool::PytestBenchmark),
    ("\"real_time\"", Tool::GoogleBenchmark),
    ("\"primaryMetric\"", Tool::Jmh),
    ("\"results\"", Tool::Hyperfine),
    ("\"iters\"", Tool::Criterion),
    ("\"runs\"", Tool::Pyperf),
    (",CI", Tool::Benchstat),
];

/// The tool that wrote this file or folder, where it is known.
#[must_use]
pub fn of(path: &Path) -> Option<Tool> {
    if path.is_dir() {
        return Some(Tool::Criterion);
    }
    // A pipe has been read to its end by now.
    if !path.is_file() {
        return None;
    }
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    told(&String::from_utf8_lossy(&head))
}

fn told(head: &str) -> Option<Tool> {
    let word = WORDS.into_iter().find(|(word, _)| head.contains(word)).map(|(_, tool)| tool);
    word.or_else(|| head.lines().any(|line| line.starts_with("Benchmark")).then_some(Tool::Go))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_told_by_their_words() {
        let check = |head: &str, want: Option<Tool>| assert_eq!(told(head), want, "{head}");
        check("goos: linux\nBenchmarkA-8 1 5 ns/op\n", Some(Tool::Go));
        check("{\"benchmarks\": [{\"runs\": []", Some(Tool::Pyperf));
        check("{\"machine_info\": {}", Some(Tool::PytestBenchmark));
        check("m_id,n,ns_per_op\n", None);
    }
}
