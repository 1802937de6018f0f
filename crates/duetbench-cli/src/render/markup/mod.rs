//! Words and numbers as a form wants them, so that nothing from outside is taken for its marks.

pub mod csv;
pub mod html;
pub mod markdown;
