//! Colours by what they mean. A meaning always comes with a word or a sign as well, so that a theme without any colour
//! says the same.

use crate::config;
use ratatui::style::{Color, Modifier, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Plain,
    /// Beside the point: ages, separators, what cannot be done.
    Muted,
    Heading,
    /// What the cursor is on.
    Selected,
    /// The same where the keyboard is elsewhere.
    SelectedElsewhere,
    Key,
    /// It went well or is settled.
    Good,
    /// It is under way.
    Busy,
    /// A person should look.
    Warning,
    /// Something is wrong.
    Alert,
    Added,
    Removed,
    Code,
    Quote,
    // Pieces of code
    Keyword,
    /// A text in quotation marks.
    Literal,
    Number,
    Comment,
    Type,
    Function,
    /// An action that is off the table.
    Illegal,
    Title,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme(config::Theme);

impl Theme {
    /// The configured one, unless the environment asks for no colours at all.
    pub fn new(configured: config::Theme, no_color: bool) -> Theme {
        Theme(if no_color { config::Theme::Plain } else { configured })
    }

    pub fn style(self, meaning: Meaning) -> Style {
        let weight = Style::default().add_modifier(modifier(meaning));
        match self.colour(meaning) {
            Some(colour) => weight.fg(colour),
            None => weight,
        }
    }

    fn colour(self, meaning: Meaning) -> Option<Color> {
        let shade = |shade| Some(Color::Indexed(shade));
        let (dark, light, contrast) = match meaning {
            Meaning::Plain | Meaning::Selected | Meaning::SelectedElsewhere => (None, None, None),
            Meaning::Muted | Meaning::Illegal | Meaning::Quote => (shade(245), shade(242), None),
            Meaning::Heading | Meaning::Title => {
                (Some(Color::Cyan), Some(Color::Blue), Some(Color::LightCyan))
            }
            Meaning::Key | Meaning::Busy => {
                (Some(Color::LightBlue), Some(Color::Blue), Some(Color::LightCyan))
            }
            Meaning::Good | Meaning::Added => (Some(Color::Green), shade(22), Some(Color::LightGreen)),
            Meaning::Warning => (Some(Color::Yellow), shade(130), Some(Color::LightYellow)),
            Meaning::Alert | Meaning::Removed => {
                (Some(Color::LightRed), Some(Color::Red), Some(Color::LightRed))
            }
            Meaning::Keyword => (Some(Color::Magenta), Some(Color::Magenta), Some(Color::LightMagenta)),
            Meaning::Literal => (shade(180), shade(94), Some(Color::LightYellow)),
            Meaning::Number => (shade(173), shade(130), None),
            Meaning::Comment => (shade(245), shade(242), None),
            Meaning::Type => (shade(79), shade(23), Some(Color::LightCyan)),
            Meaning::Function => (shade(111), shade(25), Some(Color::LightCyan)),
            Meaning::Code => (Some(Color::LightMagenta), Some(Color::Magenta), Some(Color::LightMagenta)),
        };
        match self.0 {
            config::Theme::Dark => dark,
            config::Theme::Light => light,
            config::Theme::HighContrast => contrast,
            config::Theme::Plain => None,
        }
    }
}

fn modifier(meaning: Meaning) -> Modifier {
    match meaning {
        Meaning::Selected => Modifier::REVERSED,
        Meaning::SelectedElsewhere => Modifier::UNDERLINED,
        Meaning::Heading | Meaning::Key | Meaning::Alert | Meaning::Title => Modifier::BOLD,
        Meaning::Illegal => Modifier::CROSSED_OUT | Modifier::DIM,
        Meaning::Quote | Meaning::Comment => Modifier::ITALIC,
        _ => Modifier::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_nothing_has_one() {
        let theme = Theme::new(config::Theme::Dark, true);
        for meaning in [Meaning::Alert, Meaning::Good, Meaning::Illegal, Meaning::Muted, Meaning::Code] {
            assert_eq!(theme.style(meaning).fg, None, "{meaning:?}");
        }
        assert!(theme.style(Meaning::Illegal).add_modifier.contains(Modifier::CROSSED_OUT));
    }
}
