//! Weight of words, whatever a form makes of it.

/// Weight of a text; colour repeats it where there is colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Like most.
    #[default]
    Plain,
    /// A failure or a regression.
    Bad,
    /// An improvement.
    Good,
    /// Something open, or a warning.
    Open,
    /// Matters less.
    Faint,
    /// A conclusion.
    Strong,
    /// Advice.
    Hint,
}
