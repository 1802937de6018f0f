//! Result files of other benchmark tools: read as [`Recording`](duetbench_core::Recording)s, and written.
//!
//! [`TOOLS`] is the one list of tools. A tool is a file in `tools/`, in which stand its sign (content that tells its files from those of
//! others), its parser, its writer, and the way to more processes.
//!
//! | form | told by | levels that are read | levels that are written | units that are written |
//! | --- | --- | --- | --- | --- |
//! | Go benchmark text | a line of a benchmark | iteration; around it fork, where `pkg:` lines repeat | fork, iteration | all |
//! | benchstat's CSV | a table's header | iteration (there is one) | none: one value for each benchmark | all |
//! | JMH's JSON | `[` | fork, iteration | the same | all |
//! | Google Benchmark's JSON | the key `context` | iteration (a repetition) | the same | times |
//! | criterion's files | a folder, or the key `iters` | iteration (a sample) | the same | times |
//! | pytest-benchmark's JSON | the key `machine_info` | iteration (a round) | the same | times |
//! | pyperf's JSON | the key `runs` of a benchmark | fork (a run), iteration | the same | times, bytes |
//! | hyperfine's JSON | the key `results` | fork (a run is a process) | the same | times |
//! | CSV of `pa` | columns `benchmark`, `value_count` | instance, trial (a suite run), fork, iteration | the same | all |
//! | CSV of the µOpTime study | columns `ns_per_op`, `b_name` | those that have a `…_pos` and a `…_setup` column | all | times |
//! | Bencher Metric Format, github-action-benchmark's JSON | | | none: one value for each benchmark | all |
//! | Parquet | | | all, of stored runs every sample | all |
//!
//! A repetition inside one process is an iteration of one fork, whatever the tool calls it: levels say what is independent. A file may be
//! packed by `gzip`. A parser is a pure function from bytes. Content that cannot be right ends reading, with the line and what
//! was expected there; single values that are no measurement (`NaN`, less than zero) are left out, and a warning says how many.
//!
//! A writer is a pure function to bytes. It writes what its parser reads back as the same values at the same levels. What its form
//! cannot hold is named in [`Written::lost`], and never left out in silence: levels are folded or averaged by `fit`, other things by the
//! writers. Formulas that other tools have for what they print from values (means, quartiles) are theirs; what is said about the
//! uncertainty of a value counts processes, never the values inside them.

pub mod bounded;
mod error;
mod import;
mod reading;
mod tool;
mod tools;
mod words;
mod writing;

pub use error::{FormatError, Wrong};
pub use import::{Imported, figures, parse, read};
pub use reading::Metric;
pub use tool::{Tool, WriteSamples, Writer};
pub use tools::{TOOLS, named};
pub use writing::{About, Content, Origin, StoredSample, Written};
