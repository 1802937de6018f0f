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
