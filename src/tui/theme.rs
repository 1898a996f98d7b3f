//! Colours by meaning. Every meaning also has a word or a sign on the screen, so a theme without colours
//! loses nothing.

pub(super) use crate::config::TextMeaning;

use crate::config::{self, Colour, TextAttribute, TextAttributes, TextStyle};
use ratatui::style::{Color, Modifier, Style};

const MEANINGS: usize = TextMeaning::ALL.len();

/// The style of every meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme(&'static [Style; MEANINGS]);

/// The terminal's background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Background {
    Dark,
    Light,
}

/// The first theme, and the themes to choose from once the terminal has reported its background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Themes {
    pub first: Theme,
    /// For a dark and for a light background; none if the background does not matter or is known.
    pub by_background: Option<(Theme, Theme)>,
}

impl Theme {
    /// A built-in theme; without colours if `no_color`.
    pub fn new(named: config::ThemeName, no_color: bool) -> Theme {
        Theme::of(&config::TuiConfig { theme: named, styles: Vec::new() }, Background::Dark, no_color)
    }

    /// A configured theme. It is built once or twice in a run and never freed.
    fn of(tui: &config::TuiConfig, background: Background, no_color: bool) -> Theme {
        let named = match (tui.theme, background) {
            (config::ThemeName::Auto, Background::Dark) => config::ThemeName::Dark,
            (config::ThemeName::Auto, Background::Light) => config::ThemeName::Light,
            (named, _) => named,
        };
        let styles = TextMeaning::ALL.map(|(_, meaning)| {
            let own = tui.styles.iter().rfind(|(own, _)| *own == meaning).map(|(_, look)| *look);
            let coloured = style(own.unwrap_or_else(|| look(named, meaning)), no_color);
            // Without colours, the attributes of the plain theme tell meanings apart.
            if no_color {
                coloured.patch(style(look(config::ThemeName::Plain, meaning), true))
            } else {
                coloured
            }
        });
        Theme(Box::leak(Box::new(styles)))
    }

    pub fn style(self, meaning: TextMeaning) -> Style {
        self.0[meaning as usize]
    }
}

impl Themes {
    /// `foreground_and_background` is the value of `COLORFGBG`, which some terminals set.
    pub fn of(tui: &config::TuiConfig, no_color: bool, foreground_and_background: Option<&str>) -> Themes {
        let on = |background| Theme::of(tui, background, no_color);
        let background = foreground_and_background.and_then(Background::from_colorfgbg);
        let matters = tui.theme == config::ThemeName::Auto && !no_color;
        let first = on(background.unwrap_or(Background::Dark));
        let by_background =
            (matters && background.is_none()).then(|| (on(Background::Dark), on(Background::Light)));
        Themes { first, by_background }
    }

    /// A theme for any background.
    pub fn fixed(theme: Theme) -> Themes {
        Themes { first: theme, by_background: None }
    }
}

impl Background {
    /// Reads `15;0` or `15;default;0`: the last number is the background, one of the sixteen colours.
    fn from_colorfgbg(text: &str) -> Option<Background> {
        let number: u8 = text.rsplit(';').next()?.trim().parse().ok()?;
        match number {
            0..=6 | 8 => Some(Background::Dark),
            7 | 9..=15 => Some(Background::Light),
            _ => None,
        }
    }

    /// Decides by the perceived brightness.
    pub(super) fn of_colour(red: u8, green: u8, blue: u8) -> Background {
        let brightness = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
        if brightness >= 128_000 { Background::Light } else { Background::Dark }
    }
}

/// The style of a meaning in a built-in theme.
fn look(theme: config::ThemeName, meaning: TextMeaning) -> TextStyle {
    if theme == config::ThemeName::HighContrast {
        return contrasting(meaning);
    }
    // The terminal chooses its shades of the first sixteen colours; all others are the same everywhere.
    let (dark, light) = match meaning {
        TextMeaning::Plain | TextMeaning::Selected | TextMeaning::SelectedElsewhere => (None, None),
        TextMeaning::Muted | TextMeaning::Illegal | TextMeaning::Quote | TextMeaning::Comment => {
            (Some(245), Some(242))
        }
        TextMeaning::Heading | TextMeaning::Title => (Some(6), Some(4)),
        TextMeaning::Key | TextMeaning::Busy => (Some(12), Some(4)),
        TextMeaning::Good | TextMeaning::Added => (Some(2), Some(22)),
        TextMeaning::Warning => (Some(3), Some(130)),
        TextMeaning::Alert | TextMeaning::Removed => (Some(9), Some(1)),
        TextMeaning::Code => (Some(13), Some(5)),
        TextMeaning::Keyword => (Some(5), Some(5)),
        TextMeaning::Literal => (Some(180), Some(94)),
        TextMeaning::Number => (Some(173), Some(130)),
        TextMeaning::Type => (Some(79), Some(23)),
        TextMeaning::Function => (Some(111), Some(25)),
    };
    let number = match theme {
        config::ThemeName::Dark | config::ThemeName::Auto | config::ThemeName::HighContrast => dark,
        config::ThemeName::Light => light,
        config::ThemeName::Plain => None,
    };
    let attributes = match meaning {
        TextMeaning::Selected => TextAttributes::NONE.with(TextAttribute::Reversed),
        TextMeaning::SelectedElsewhere => TextAttributes::NONE.with(TextAttribute::Underlined),
        TextMeaning::Heading | TextMeaning::Key | TextMeaning::Alert | TextMeaning::Title => {
            TextAttributes::NONE.with(TextAttribute::Bold)
        }
        TextMeaning::Illegal => TextAttributes::NONE.with(TextAttribute::CrossedOut).with(TextAttribute::Dim),
        TextMeaning::Quote | TextMeaning::Comment => TextAttributes::NONE.with(TextAttribute::Italic),
        _ => TextAttributes::NONE,
    };
    TextStyle { foreground: number.map(Colour::Indexed), background: None, attributes }
}

/// The high-contrast theme: fixed black and white, few and bright colours, nothing dimmed, and its own
/// background.
fn contrasting(meaning: TextMeaning) -> TextStyle {
    const BLACK: u8 = 16;
    const WHITE: u8 = 231;
    let bold = TextAttributes::NONE.with(TextAttribute::Bold);
    let on_black = |number, attributes| TextStyle {
        foreground: Some(Colour::Indexed(number)),
        background: Some(Colour::Indexed(BLACK)),
        attributes,
    };
    match meaning {
        TextMeaning::Plain | TextMeaning::Muted | TextMeaning::Number => {
            on_black(WHITE, TextAttributes::NONE)
        }
        TextMeaning::Selected => TextStyle {
            foreground: Some(Colour::Indexed(BLACK)),
            background: Some(Colour::Indexed(WHITE)),
            attributes: bold,
        },
        TextMeaning::SelectedElsewhere => on_black(WHITE, bold.with(TextAttribute::Underlined)),
        TextMeaning::Heading | TextMeaning::Title | TextMeaning::Key | TextMeaning::Busy => {
            on_black(51, bold)
        }
        TextMeaning::Good | TextMeaning::Added => on_black(82, bold),
        TextMeaning::Warning => on_black(226, bold),
        TextMeaning::Alert | TextMeaning::Removed => on_black(210, bold),
        TextMeaning::Code | TextMeaning::Keyword => on_black(219, TextAttributes::NONE),
        TextMeaning::Literal => on_black(229, TextAttributes::NONE),
        TextMeaning::Type | TextMeaning::Function => on_black(123, TextAttributes::NONE),
        TextMeaning::Quote | TextMeaning::Comment => {
            on_black(WHITE, TextAttributes::NONE.with(TextAttribute::Italic))
        }
        TextMeaning::Illegal => on_black(WHITE, TextAttributes::NONE.with(TextAttribute::CrossedOut)),
    }
}

fn style(look: TextStyle, no_color: bool) -> Style {
    let TextStyle { foreground, background, attributes } = look;
    let modifiers = TextAttribute::ALL.into_iter().filter(|(_, it)| attributes.has(*it));
    let modifiers = modifiers.fold(Modifier::empty(), |all, (_, weight)| all | modifier(weight));
    let mut style = Style::new().add_modifier(modifiers);
    if no_color {
        return style;
    }
    style.fg = foreground.map(colour);
    style.bg = background.map(colour);
    style
}

/// Maps the first sixteen colours to ratatui's names, which its buffers and snapshots use.
fn colour(colour: Colour) -> Color {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    match colour {
        Colour::Indexed(number) => NAMED.get(usize::from(number)).copied().unwrap_or(Color::Indexed(number)),
        Colour::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

fn modifier(weight: TextAttribute) -> Modifier {
    match weight {
        TextAttribute::Bold => Modifier::BOLD,
        TextAttribute::Dim => Modifier::DIM,
        TextAttribute::Italic => Modifier::ITALIC,
        TextAttribute::Underlined => Modifier::UNDERLINED,
        TextAttribute::Reversed => Modifier::REVERSED,
        TextAttribute::CrossedOut => Modifier::CROSSED_OUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tui(theme: config::ThemeName, styles: &[(TextMeaning, &str)]) -> config::TuiConfig {
        let styles =
            styles.iter().map(|(meaning, text)| (*meaning, TextStyle::parse(text).unwrap())).collect();
        config::TuiConfig { theme, styles }
    }

    #[test]
    fn u2_no_color_removes_every_colour() {
        for named in [config::ThemeName::Dark, config::ThemeName::HighContrast] {
            let own = tui(named, &[(TextMeaning::Busy, "bold #ff0000 on blue")]);
            let themes = Themes::of(&own, true, None);
            assert_eq!(themes.by_background, None, "nothing depends on the background");
            for (name, meaning) in TextMeaning::ALL {
                let style = themes.first.style(meaning);
                assert_eq!((style.fg, style.bg), (None, None), "{name}");
            }
            assert!(themes.first.style(TextMeaning::Busy).add_modifier.contains(Modifier::BOLD));
            assert!(themes.first.style(TextMeaning::Illegal).add_modifier.contains(Modifier::CROSSED_OUT));
            assert!(themes.first.style(TextMeaning::Selected).add_modifier.contains(Modifier::REVERSED));
        }
    }

    #[test]
    fn configured_colours_override_the_theme() {
        let own = tui(config::ThemeName::Light, &[(TextMeaning::Alert, "underlined #ff8700 on 236")]);
        let theme = Themes::of(&own, false, None).first;
        let alert = Style::new()
            .fg(Color::Rgb(255, 135, 0))
            .bg(Color::Indexed(236))
            .add_modifier(Modifier::UNDERLINED);
        assert_eq!(theme.style(TextMeaning::Alert), alert);
        assert_eq!(
            theme.style(TextMeaning::Good),
            Theme::new(config::ThemeName::Light, false).style(TextMeaning::Good)
        );
    }

    #[test]
    fn the_background_decides_only_for_the_auto_theme_and_if_unknown() {
        let (dark, light) =
            (Theme::new(config::ThemeName::Dark, false), Theme::new(config::ThemeName::Light, false));
        let auto = tui(config::ThemeName::Auto, &[]);
        let same = |one: Theme, other: Theme| one.0 == other.0;
        let asked = Themes::of(&auto, false, None);
        let (on_dark, on_light) = asked.by_background.unwrap();
        assert!(same(asked.first, dark) && same(on_dark, dark) && same(on_light, light));
        for (text, expected) in [("15;0", dark), ("0;15", light), ("0;default;15", light), ("12;8", dark)] {
            let themes = Themes::of(&auto, false, Some(text));
            assert!(same(themes.first, expected) && themes.by_background.is_none(), "{text}");
        }
        assert!(Themes::of(&auto, false, Some("default;default")).by_background.is_some());
        assert_eq!(Themes::of(&tui(config::ThemeName::Dark, &[]), false, None).by_background, None);
    }

    #[test]
    fn brightness_decides_whether_a_background_is_light() {
        for (colour, expected) in [
            ((0, 0, 0), Background::Dark),
            ((0xfd, 0xf6, 0xe3), Background::Light),
            ((0x00, 0x2b, 0x36), Background::Dark),
            ((0, 0xff, 0), Background::Light),
            ((0, 0, 0xff), Background::Dark),
        ] {
            assert_eq!(Background::of_colour(colour.0, colour.1, colour.2), expected, "{colour:?}");
        }
    }

    /// The contrast that WCAG 2 requires at level AAA.
    #[test]
    fn high_contrast_is_readable() {
        let theme = Theme::new(config::ThemeName::HighContrast, false);
        for (name, meaning) in TextMeaning::ALL {
            let style = theme.style(meaning);
            let (front, back) = (luminance(style.fg.unwrap()), luminance(style.bg.unwrap()));
            let contrast = (front.max(back) + 0.05) / (front.min(back) + 0.05);
            assert!(contrast >= 7.0, "{name}: {contrast}");
            assert!(!style.add_modifier.contains(Modifier::DIM), "{name}");
        }
    }

    fn luminance(colour: Color) -> f64 {
        let Color::Indexed(number @ 16..=231) = colour else { panic!("{colour:?} is a terminal's own") };
        let channel = |index: u8| {
            let level = [0.0, 95.0, 135.0, 175.0, 215.0, 255.0][usize::from(index % 6)] / 255.0_f64;
            if level <= 0.04045 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
        };
        let cube = number - 16;
        0.2126 * channel(cube / 36) + 0.7152 * channel(cube / 6) + 0.0722 * channel(cube)
    }
}
