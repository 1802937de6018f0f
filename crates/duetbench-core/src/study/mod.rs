//! Tables of the papers, on anybody's data.

pub mod uoptime;
