//! The studies, one file each.

pub mod choices;
pub mod cloud;
pub mod duet;
pub mod elastibench;
mod files;
pub mod uoptime;
