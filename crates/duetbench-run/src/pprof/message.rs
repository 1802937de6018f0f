//! The messages of a pprof file, as `profile.proto` of github.com/google/pprof numbers their fields.
//!
//! Words stand in a table, and messages hold their index; 0 is the empty word, and *none* where a number is optional.

use prost::Message;

/// A whole profile.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Profile {
    #[prost(message, repeated, tag = "1")]
    pub(super) sample_types: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub(super) mappings: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    pub(super) locations: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    pub(super) functions: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    pub(super) words: Vec<String>,
    #[prost(int64, tag = "7")]
    pub(super) drop_frames: i64,
    #[prost(int64, tag = "8")]
    pub(super) keep_frames: i64,
    #[prost(int64, tag = "9")]
    pub(super) time_ns: i64,
    #[prost(int64, tag = "10")]
    pub(super) duration_ns: i64,
    #[prost(message, optional, tag = "11")]
    pub(super) period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    pub(super) period: i64,
    #[prost(int64, repeated, tag = "13")]
    pub(super) comments: Vec<i64>,
    #[prost(int64, tag = "14")]
    pub(super) default_sample_type: i64,
}

/// Kind and unit of a value.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(int64, tag = "1")]
    pub(super) kind: i64,
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

/// A stack, the innermost frame first, with a value of each type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    pub(super) locations: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) values: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    pub(super) labels: Vec<Label>,
}

/// A label that the program gave to a sample.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Label {
    #[prost(int64, tag = "1")]
    pub(super) key: i64,
    #[prost(int64, tag = "2")]
    pub(super) word: i64,
    #[prost(int64, tag = "3")]
    pub(super) number: i64,
    #[prost(int64, tag = "4")]
    pub(super) unit: i64,
}

/// A part of the program in memory.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) memory_start: u64,
    #[prost(uint64, tag = "3")]
    pub(super) memory_limit: u64,
    #[prost(uint64, tag = "4")]
    pub(super) file_offset: u64,
    #[prost(int64, tag = "5")]
    pub(super) file: i64,
    #[prost(int64, tag = "6")]
    pub(super) build_id: i64,
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
    #[prost(bool, tag = "8")]
    pub(super) has_files: bool,
    #[prost(bool, tag = "9")]
    pub(super) has_lines: bool,
    #[prost(bool, tag = "10")]
    pub(super) has_inlined: bool,
}

/// An instruction. Of its lines the first is the innermost; those after it are of functions into which it was inlined.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) mapping: u64,
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    #[prost(message, repeated, tag = "4")]
    pub(super) lines: Vec<Line>,
    #[prost(bool, tag = "5")]
    pub(super) is_folded: bool,
}

/// A line of source.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub(super) function: u64,
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
    #[prost(int64, tag = "3")]
    pub(super) column: i64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
    #[prost(int64, tag = "3")]
    pub(super) system_name: i64,
    #[prost(int64, tag = "4")]
    pub(super) file: i64,
    #[prost(int64, tag = "5")]
    pub(super) start_line: i64,
}
