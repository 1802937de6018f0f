//! The colours of the text format. Colour repeats what the words say; without it nothing is lost.

use anstyle::{Ansi256Color, AnsiColor, Style};

use super::tone::Tone;

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    coloured: bool,
}

impl Palette {
    /// No colour at all: not a single escape code.
    pub const fn plain() -> Palette {
        Palette { coloured: false }
    }

    /// Orange against blue, which the colour-blind tell apart too, as on the page; the rest as the user's terminal has it.
    pub const fn coloured() -> Palette {
        Palette { coloured: true }
    }

    /// Text in the look of its weight.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let style = if self.coloured { look(tone) } else { Style::new() };
        format!("{style}{text}{style:#}")
    }
}

fn look(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Bad => Ansi256Color(208).on_default().bold(),
        Tone::Good => AnsiColor::BrightBlue.on_default().bold(),
        Tone::Open => AnsiColor::Yellow.on_default(),
        Tone::Faint => Style::new().dimmed(),
        Tone::Strong => Style::new().bold(),
        Tone::Hint => AnsiColor::Cyan.on_default().bold(),
    }
}
