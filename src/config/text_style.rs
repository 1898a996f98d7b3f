//! The meanings of text on the screen, and the styles that a configuration gives them.

use std::fmt;

/// What a piece of text on the screen means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextMeaning {
    Plain,
    /// Less important: ages, separators, impossible actions.
    Muted,
    Heading,
    /// The row of the cursor.
    Selected,
    /// The row of the cursor in a pane without focus.
    SelectedElsewhere,
    Key,
    /// Successful or settled.
    Good,
    /// In progress.
    Busy,
    /// Needs a person's attention.
    Warning,
    /// Something is wrong.
    Alert,
    Added,
    Removed,
    Code,
    Quote,
    // Parts of code
    Keyword,
    /// A string literal.
    Literal,
    Number,
    Comment,
    Type,
    Function,
    /// An action that the rules do not allow.
    Illegal,
    Title,
}

impl TextMeaning {
    /// Every meaning in the order of declaration, with its name in the configuration.
    pub const ALL: [(&'static str, TextMeaning); 22] = [
        ("plain", TextMeaning::Plain),
        ("muted", TextMeaning::Muted),
        ("heading", TextMeaning::Heading),
        ("selected", TextMeaning::Selected),
        ("selected_elsewhere", TextMeaning::SelectedElsewhere),
        ("key", TextMeaning::Key),
        ("good", TextMeaning::Good),
        ("busy", TextMeaning::Busy),
        ("warning", TextMeaning::Warning),
        ("alert", TextMeaning::Alert),
        ("added", TextMeaning::Added),
        ("removed", TextMeaning::Removed),
        ("code", TextMeaning::Code),
        ("quote", TextMeaning::Quote),
        ("keyword", TextMeaning::Keyword),
        ("literal", TextMeaning::Literal),
        ("number", TextMeaning::Number),
        ("comment", TextMeaning::Comment),
        ("type", TextMeaning::Type),
        ("function", TextMeaning::Function),
        ("illegal", TextMeaning::Illegal),
        ("title", TextMeaning::Title),
    ];
}

/// The colours and attributes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// None: the terminal's default.
    pub foreground: Option<Colour>,
    pub background: Option<Colour>,
    pub attributes: TextAttributes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// One of the terminal's 256 colours. The terminal's theme sets the first 16.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// A set of [`TextAttribute`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextAttributes(u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextAttribute {
    Bold,
    Dim,
    Italic,
    Underlined,
    Reversed,
    CrossedOut,
}

impl TextAttribute {
    pub const ALL: [(&'static str, TextAttribute); 6] = [
        ("bold", TextAttribute::Bold),
        ("dim", TextAttribute::Dim),
        ("italic", TextAttribute::Italic),
        ("underlined", TextAttribute::Underlined),
        ("reversed", TextAttribute::Reversed),
        ("crossed_out", TextAttribute::CrossedOut),
    ];
}

impl TextAttributes {
    pub const NONE: TextAttributes = TextAttributes(0);

    #[must_use]
    pub const fn with(self, attribute: TextAttribute) -> TextAttributes {
        TextAttributes(self.0 | 1 << attribute as u8)
    }

    pub const fn has(self, attribute: TextAttribute) -> bool {
        self.0 & (1 << attribute as u8) != 0
    }
}

/// The names of the first 16 colours.
const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "gray",
    "dark_gray",
    "light_red",
    "light_green",
    "light_yellow",
    "light_blue",
    "light_magenta",
    "light_cyan",
    "white",
];

pub(super) const EXPECTED: &str = "words such as \"bold red\", \"#ff8700 on 236\" or \"default\": attributes (bold, \
     dim, italic, underlined, reversed, crossed_out), one colour (a name such as light_blue, a number from 0 to \
     255, #rrggbb, or default), and a background colour after \"on\"";

impl TextStyle {
    /// Reads words in any order. The word after `on` is the background.
    pub fn parse(text: &str) -> Option<TextStyle> {
        let mut style = TextStyle::default();
        let (mut front, mut back) = (false, false);
        let mut words = text.split_whitespace().peekable();
        words.peek()?;
        while let Some(word) = words.next() {
            if let Some((_, attribute)) = TextAttribute::ALL.into_iter().find(|(name, _)| *name == word) {
                style.attributes = style.attributes.with(attribute);
            } else if word == "on" && !back {
                style.background = colour(words.next()?)?;
                back = true;
            } else if word != "on" && !front {
                style.foreground = colour(word)?;
                front = true;
            } else {
                return None;
            }
        }
        Some(style)
    }
}

/// The inner `None` is the terminal's default colour.
#[expect(clippy::option_option, reason = "an unknown colour and the terminal's default are different")]
fn colour(word: &str) -> Option<Option<Colour>> {
    if word == "default" {
        return Some(None);
    }
    if let Some(digits) = word.strip_prefix('#') {
        let plain = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok().filter(|_| plain)?.to_be_bytes();
        return Some(Some(Colour::Rgb(red, green, blue)));
    }
    let named = (0..).zip(NAMES).find(|(_, name)| *name == word).map(|(number, _)| number);
    let number =
        named.or_else(|| word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit())))?;
    Some(Some(Colour::Indexed(number)))
}

/// As written in the configuration.
impl fmt::Display for TextStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = |colour: Colour| match colour {
            Colour::Indexed(number) => {
                NAMES.get(usize::from(number)).map_or_else(|| number.to_string(), |name| (*name).to_owned())
            }
            Colour::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        };
        let attributes = TextAttribute::ALL.into_iter().filter(|(_, it)| self.attributes.has(*it));
        let mut words: Vec<String> = attributes.map(|(name, _)| name.to_owned()).collect();
        words.push(self.foreground.map_or_else(|| "default".to_owned(), spelled));
        words.extend(self.background.map(|colour| format!("on {}", spelled(colour))));
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_words_in_any_order() {
        let bold = TextAttributes::NONE.with(TextAttribute::Bold);
        let red = Some(Colour::Indexed(1));
        assert_eq!(
            TextStyle::parse("bold red"),
            Some(TextStyle { foreground: red, background: None, attributes: bold })
        );
        assert_eq!(TextStyle::parse(" red  bold "), TextStyle::parse("bold red"));
        let both = TextStyle::parse("#FF8700 on 236 italic underlined").unwrap();
        assert_eq!(both.foreground, Some(Colour::Rgb(255, 135, 0)));
        assert_eq!(both.background, Some(Colour::Indexed(236)));
        assert!(both.attributes.has(TextAttribute::Italic) && both.attributes.has(TextAttribute::Underlined));
        assert_eq!(TextStyle::parse("default"), Some(TextStyle::default()));
        assert_eq!(TextStyle::parse("on light_blue").unwrap().background, Some(Colour::Indexed(12)));
    }

    #[test]
    fn other_words_are_not_a_style() {
        for text in [
            "",
            " ",
            "redd",
            "red blue",
            "on",
            "red on",
            "red on on",
            "on red on blue",
            "256",
            "-1",
            "+1",
            "#12345",
            "#12345g",
            "#+12345",
            "Bold",
        ] {
            assert_eq!(TextStyle::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_style_displays_as_it_is_written() {
        for text in ["bold red", "default", "dim crossed_out 245", "bold #ff8700 on black", "default on 17"] {
            assert_eq!(TextStyle::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_list_has_every_meaning_in_order() {
        for (index, (name, meaning)) in TextMeaning::ALL.into_iter().enumerate() {
            assert_eq!(meaning as usize, index, "{name}");
        }
    }
}
