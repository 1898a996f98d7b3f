//! What a piece of text on the screen can mean, and how a configuration says that a meaning looks.

use std::fmt;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextMeaning {
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

impl TextMeaning {
    /// Every meaning, in the order of the declaration, with the name that a configuration knows it by.
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

/// How a meaning looks, in the terms of any terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// None is the terminal's own.
    pub foreground: Option<Colour>,
    pub background: Option<Colour>,
    pub weights: TextAttributes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// One of the sixteen that a terminal gives its own shades to, or of the 240 that are the same everywhere.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// What a text has beside its colours: a set of [`TextAttribute`]s.
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
    pub const fn with(self, weight: TextAttribute) -> TextAttributes {
        TextAttributes(self.0 | 1 << weight as u8)
    }

    pub const fn has(self, weight: TextAttribute) -> bool {
        self.0 & (1 << weight as u8) != 0
    }
}

/// The names of the sixteen, in the order of their numbers.
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

/// What a text that is a look may say.
pub(super) const EXPECTED: &str = "words such as \"bold red\", \"#ff8700 on 236\" or \"default\": weights (bold, dim, italic, \
     underlined, reversed, crossed_out), one colour (a name such as light_blue, a number from 0 to 255, #rrggbb, or default), \
     and one more after \"on\"";

impl TextStyle {
    /// Reads words in any order; a colour after `on` lies behind the text.
    pub fn parse(text: &str) -> Option<TextStyle> {
        let mut look = TextStyle::default();
        let (mut front, mut back) = (false, false);
        let mut words = text.split_whitespace().peekable();
        words.peek()?;
        while let Some(word) = words.next() {
            if let Some((_, weight)) = TextAttribute::ALL.into_iter().find(|(name, _)| *name == word) {
                look.weights = look.weights.with(weight);
            } else if word == "on" && !back {
                look.background = colour(words.next()?)?;
                back = true;
            } else if word != "on" && !front {
                look.foreground = colour(word)?;
                front = true;
            } else {
                return None;
            }
        }
        Some(look)
    }
}

/// The inner none is the terminal's own colour.
#[expect(clippy::option_option, reason = "no colour at all and the terminal's own are two things")]
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

/// As it would be typed.
impl fmt::Display for TextStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = |colour: Colour| match colour {
            Colour::Indexed(number) => {
                NAMES.get(usize::from(number)).map_or_else(|| number.to_string(), |name| (*name).to_owned())
            }
            Colour::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        };
        let weights = TextAttribute::ALL.into_iter().filter(|(_, weight)| self.weights.has(*weight));
        let mut words: Vec<String> = weights.map(|(name, _)| name.to_owned()).collect();
        words.push(self.foreground.map_or_else(|| "default".to_owned(), spelled));
        words.extend(self.background.map(|colour| format!("on {}", spelled(colour))));
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_words_in_any_order() {
        let bold = TextAttributes::NONE.with(TextAttribute::Bold);
        let red = Some(Colour::Indexed(1));
        assert_eq!(
            TextStyle::parse("bold red"),
            Some(TextStyle { foreground: red, background: None, weights: bold })
        );
        assert_eq!(TextStyle::parse(" red  bold "), TextStyle::parse("bold red"));
        let both = TextStyle::parse("#FF8700 on 236 italic underlined").unwrap();
        assert_eq!(both.foreground, Some(Colour::Rgb(255, 135, 0)));
        assert_eq!(both.background, Some(Colour::Indexed(236)));
        assert!(both.weights.has(TextAttribute::Italic) && both.weights.has(TextAttribute::Underlined));
        assert_eq!(TextStyle::parse("default"), Some(TextStyle::default()));
        assert_eq!(TextStyle::parse("on light_blue").unwrap().background, Some(Colour::Indexed(12)));
    }

    #[test]
    fn what_is_no_look() {
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
    fn a_look_is_spelled_as_it_is_typed() {
        for text in ["bold red", "default", "dim crossed_out 245", "bold #ff8700 on black", "default on 17"] {
            assert_eq!(TextStyle::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn every_meaning_is_at_its_place() {
        for (index, (name, meaning)) in TextMeaning::ALL.into_iter().enumerate() {
            assert_eq!(meaning as usize, index, "{name}");
        }
    }
}
