//! Renderers: from what a study found to text, tables and figures, by pure functions as duet's own.

mod chart;
pub mod cloud;
pub mod duet;
pub mod elastibench;
mod section;
pub mod uoptime;
