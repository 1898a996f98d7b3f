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
        let dark = matches!(self.0, config::Theme::Dark);
        Some(match (self.0, meaning) {
            (config::Theme::Plain, _)
            | (_, Meaning::Plain | Meaning::Selected | Meaning::SelectedElsewhere) => {
                return None;
            }
            (config::Theme::HighContrast, Meaning::Muted | Meaning::Illegal | Meaning::Quote) => return None,
            (_, Meaning::Muted | Meaning::Illegal | Meaning::Quote) if dark => Color::Indexed(245),
            (_, Meaning::Muted | Meaning::Illegal | Meaning::Quote) => Color::Indexed(242),
            (_, Meaning::Heading | Meaning::Title) if dark => Color::Cyan,
            (_, Meaning::Heading | Meaning::Title) => Color::Blue,
            (config::Theme::Light, Meaning::Key | Meaning::Busy) => Color::Blue,
            (_, Meaning::Key | Meaning::Busy) => Color::LightBlue,
            (config::Theme::Light, Meaning::Good | Meaning::Added) => Color::Indexed(22),
            (_, Meaning::Good | Meaning::Added) => Color::Green,
            (config::Theme::Light, Meaning::Warning) => Color::Indexed(130),
            (_, Meaning::Warning) => Color::Yellow,
            (config::Theme::Light, Meaning::Alert | Meaning::Removed) => Color::Red,
            (_, Meaning::Alert | Meaning::Removed) => Color::LightRed,
            (config::Theme::Light, Meaning::Code) => Color::Magenta,
            (_, Meaning::Code) => Color::LightMagenta,
        })
    }
}

fn modifier(meaning: Meaning) -> Modifier {
    match meaning {
        Meaning::Selected => Modifier::REVERSED,
        Meaning::SelectedElsewhere => Modifier::UNDERLINED,
        Meaning::Heading | Meaning::Key | Meaning::Alert | Meaning::Title => Modifier::BOLD,
        Meaning::Illegal => Modifier::CROSSED_OUT | Modifier::DIM,
        Meaning::Quote => Modifier::ITALIC,
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
