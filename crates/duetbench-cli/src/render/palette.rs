//! The colours of the text format. Colour repeats what the words say; without it nothing is lost.

use anstyle::{Ansi256Color, AnsiColor, Style};

use super::tone::Tone;

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
    pub const fn plain() -> Palette {
        let none = Style::new();
        Palette { bad: none, good: none, open: none, faint: none, strong: none, hint: none }
    }

    /// Orange against blue, which the colour-blind tell apart too, as on the page; the rest as the user's terminal has it.
    pub const fn coloured() -> Palette {
        Palette {
            bad: Ansi256Color(208).on_default().bold(),
            good: AnsiColor::BrightBlue.on_default().bold(),
            open: AnsiColor::Yellow.on_default(),
            faint: Style::new().dimmed(),
            strong: Style::new().bold(),
            hint: AnsiColor::Cyan.on_default().bold(),
        }
    }

    /// The look of a weight.
    pub fn style(&self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Bad => self.bad,
            Tone::Good => self.good,
            Tone::Open => self.open,
            Tone::Faint => self.faint,
            Tone::Strong => self.strong,
            Tone::Hint => self.hint,
        }
    }
}

/// Text in a style. A plain style leaves it as it is.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
