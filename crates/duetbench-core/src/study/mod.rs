//! Tables of the papers, on anybody's data.

pub mod cloud;
pub mod duet;
pub mod elastibench;
pub mod uoptime;
