//! Tables of the papers, on anybody's data.

pub mod elastibench;
pub mod uoptime;
