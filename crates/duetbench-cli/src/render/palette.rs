//! The colours of the text format. Colour repeats what the words say; without it nothing is lost.

use anstyle::{AnsiColor, Style};
use duetbench_core::Verdict;

use super::document::Tone;

/// Styles of words by their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// A regression or a failure.
    pub bad: Style,
    /// An improvement.
    pub good: Style,
    /// An open question, or a warning.
    pub open: Style,
    /// Words that matter less.
    pub faint: Style,
    /// Headings.
    pub strong: Style,
    /// The word before advice.
    pub hint: Style,
}

impl Palette {
    /// No colour at all: not a single escape code.
    #[must_use]
    pub const fn plain() -> Palette {
        let none = Style::new();
        Palette { bad: none, good: none, open: none, faint: none, strong: none, hint: none }
    }

    /// The sixteen colours that every terminal has and its user has chosen.
    #[must_use]
    pub const fn coloured() -> Palette {
        Palette {
            bad: AnsiColor::Red.on_default().bold(),
            good: AnsiColor::Green.on_default().bold(),
            open: AnsiColor::Yellow.on_default(),
            faint: Style::new().dimmed(),
            strong: Style::new().bold(),
            hint: AnsiColor::Cyan.on_default().bold(),
        }
    }

    /// The look of a weight.
    #[must_use]
    pub fn style(&self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Bad => self.bad,
            Tone::Open => self.open,
            Tone::Faint => self.faint,
            Tone::Strong => self.strong,
            Tone::Hint => self.hint,
        }
    }

    /// The look of a verdict.
    #[must_use]
    pub fn verdict(&self, verdict: &Verdict) -> Style {
        match verdict {
            Verdict::Regression | Verdict::Failed { .. } => self.bad,
            Verdict::Improvement => self.good,
            open if open.is_open() => self.open,
            _ => self.faint,
        }
    }
}

/// Text in a style. A plain style leaves it as it is.
#[must_use]
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
