//! The effects of duetbench: builds versions, starts processes, reads clocks, keeps samples.
//!
//! In the order in which a run uses them: [`source`] finds the versions, [`adapter`] builds them and lists their
//! benchmarks, [`engine`] runs the trials of a plan through [`page`] and [`process`], [`store`] keeps what they gave.
//! [`noise`] watches what the machine does meanwhile. Nothing here prints, and nothing judges.

pub mod adapter;
pub mod callgrind;
pub mod engine;
pub mod environment;
pub mod error;
pub mod fleet;
pub mod lock;
mod machine_code;
pub mod noise;
pub mod page;
pub mod plan_file;
pub mod pprof;
pub mod prepare;
pub mod process;
pub mod processors;
pub mod program;
pub mod scratch;
pub mod source;
pub mod store;
mod tool;
mod tree;
pub mod whole_file;

pub use error::RunError;
pub use tool::interrupt_tools;
