//! Statistics and tables of the papers, on anybody's data: numbers in, numbers out.

pub mod cloud;
pub mod duet;
pub mod elastibench;
pub mod uoptime;
