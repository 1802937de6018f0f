//! Tables of the papers, on anybody's data.

pub mod duet;
pub mod elastibench;
pub mod uoptime;
