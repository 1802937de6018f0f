//! The tools, each in a file.

mod benchstat;
mod bmf;
mod criterion;
mod github_action;
mod go;
mod google_benchmark;
mod hyperfine;
mod jmh;
mod pa;
mod papers;
#[cfg(feature = "parquet")]
mod parquet;
mod pyperf;
mod pytest_benchmark;

use crate::tool::Tool;

/// All tools, in the order in which help lists their forms. Files are held against their signs from the last to the first: what looks
/// through a whole text stands before what looks at its head.
pub static TOOLS: &[&Tool] = &[
    &go::TOOL,
    &benchstat::TOOL,
    &jmh::TOOL,
    &google_benchmark::TOOL,
    &criterion::TOOL,
    &pytest_benchmark::TOOL,
    &pyperf::TOOL,
    &hyperfine::TOOL,
    &pa::TOOL,
    &papers::TOOL,
    &bmf::TOOL,
    &github_action::TOOL,
    #[cfg(feature = "parquet")]
    &parquet::TOOL,
];

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_its_own_way_to_more_processes() {
        let check = |name: &str, words: &str, last: &str| {
            let commands = named(name).unwrap().more_processes();
            assert!(commands[0].contains(words) && commands[commands.len() - 1] == last, "{commands:?}");
        };
        check("go", "go test", "duet analyze base.txt head.txt");
        check("jmh", "-f 5", "duet analyze base.json head.json");
        check("pyperf", "--processes 10", "duet analyze base.json head.json");
        check("hyperfine", "--runs 10", "duet analyze base.json head.json");
        let each = "duet analyze base1.json,base2.json,base3.json head1.json,head2.json,head3.json";
        check("pytest-benchmark", "do pytest --benchmark-only --benchmark-json=base$i.json; done", each);
        check("google-benchmark", "--benchmark_out=base$i.json", each);
        check("criterion", "CRITERION_HOME", "duet analyze base1,base2,base3 head1,head2,head3");
        check("benchstat-csv", "go test", "duet analyze base.txt head.txt");
        check("papers", "base1.csv", "duet analyze base1.csv,base2.csv,base3.csv head1.csv,head2.csv,head3.csv");
    }

    #[test]
    fn every_tool_has_a_name_of_its_own_and_is_read_or_written() {
        for (at, tool) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..at].iter().all(|other| other != tool), "{tool:?} twice");
            assert!(tool.reader.is_some() || tool.writer.is_some(), "{tool:?}");
        }
    }
}
