//! Checks `[tui]` and `[keys]`: colours and key bindings.

use super::check::{Checks, Problem};
use super::text_style::{self, TextMeaning, TextStyle};
use super::value::quoted;
use super::{TypedValue, typed};
use crokey::KeyCombination;
use std::collections::BTreeMap;

/// The theme and its colours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TuiConfig {
    pub theme: ThemeName,
    /// Styles that replace the theme's.
    pub styles: Vec<(TextMeaning, TextStyle)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// Dark or light, like the terminal's background.
    #[default]
    Auto,
    Dark,
    Light,
    /// Bold text, and colours that are visible on any background.
    HighContrast,
    /// No colours.
    Plain,
}

/// The keys of each command, by the command's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBindings(BTreeMap<String, Vec<KeyCombination>>);

const EMBEDDED: &str = include_str!("../../assets/keys.toml");

const THEMES: [(&str, ThemeName); 5] = [
    ("auto", ThemeName::Auto),
    ("dark", ThemeName::Dark),
    ("light", ThemeName::Light),
    ("high_contrast", ThemeName::HighContrast),
    ("plain", ThemeName::Plain),
];

impl KeyBindings {
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[KeyCombination])> {
        self.0.iter().map(|(command, keys)| (command.as_str(), keys.as_slice()))
    }

    /// The names of all commands.
    pub(super) fn commands() -> Vec<String> {
        embedded().into_keys().collect()
    }
}

impl Default for KeyBindings {
    fn default() -> Self {
        let keys = |keys: Vec<String>| keys.iter().filter_map(|key| crokey::parse(key).ok()).collect();
        KeyBindings(embedded().into_iter().map(|(command, typed)| (command, keys(typed))).collect())
    }
}

/// A test checks the file, so parsing does not fail.
fn embedded() -> BTreeMap<String, Vec<String>> {
    toml::from_str(EMBEDDED).unwrap_or_default()
}

pub(super) fn checked_tui(typed: &typed::TypedTui) -> Result<TuiConfig, Vec<Problem>> {
    let typed::TypedTui { theme, colors } = typed;
    let mut checks = Checks::of("tui");
    let theme = checks.choice("theme", theme.as_ref(), &THEMES).unwrap_or_default();
    let mut styles = Vec::new();
    for (name, value) in colors {
        let key = format!("colors.{name}");
        let Some((_, meaning)) = TextMeaning::ALL.into_iter().find(|(known, _)| known == name) else {
            checks.refuse(&key, "the name of a meaning", "an unknown name");
            continue;
        };
        let accept = |value: &TypedValue| TextStyle::parse(&super::check::one_line(value)?);
        styles.extend(
            checks
                .read(&key, value.as_ref(), || text_style::EXPECTED.to_owned(), accept)
                .map(|style| (meaning, style)),
        );
    }
    checks.finish(TuiConfig { theme, styles })
}

/// The names of all meanings.
pub(super) fn meanings() -> impl Iterator<Item = String> {
    TextMeaning::ALL.into_iter().map(|(name, _)| name.to_owned())
}

/// Checks the key bindings. A key for two commands is refused, and the message names both.
pub(super) fn checked_keys(
    typed: &BTreeMap<String, Option<TypedValue>>,
) -> Result<KeyBindings, Vec<Problem>> {
    let mut checks = Checks::of("keys");
    let mut keys = KeyBindings::default();
    for (command, value) in typed {
        let Some(bound) = keys.0.get_mut(command) else {
            checks.refuse(command, "the name of a command", "an unknown name");
            continue;
        };
        if value.is_none() {
            continue;
        }
        let what = "a key such as \"x\", \"shift-x\", \"ctrl-x\", \"esc\" or \"f5\"";
        let texts = checks.texts(command, value.as_ref(), what, |text| crokey::parse(text).is_ok());
        *bound = texts.iter().filter_map(|text| crokey::parse(text).ok()).collect();
    }
    let mut taken: Vec<(KeyCombination, &str)> = Vec::new();
    for (command, combinations) in keys.iter() {
        for key in combinations {
            match taken.iter().find(|(other, by)| other == key && *by != command) {
                // The message is about the command in the file, not about the one with a default key.
                Some((_, by)) => {
                    let (about, other) =
                        if typed.contains_key(command) { (command, *by) } else { (*by, command) };
                    let expected = format!("a key that the command {} does not have", quoted(other));
                    checks.refuse(about, expected, quoted(&key.to_string().to_lowercase()));
                }
                None => taken.push((*key, command)),
            }
        }
    }
    checks.finish(keys.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_keys_are_valid_and_unique() {
        assert!(embedded().len() > 20);
        for (command, keys) in embedded() {
            for key in keys {
                assert!(crokey::parse(&key).is_ok(), "{command}: {key}");
            }
        }
        assert_eq!(checked_keys(&BTreeMap::new()), Ok(KeyBindings::default()));
    }

    #[test]
    fn a_key_for_two_commands_is_refused_and_both_are_named() {
        let typed = BTreeMap::from([(
            "pause".to_owned(),
            Some(TypedValue::List(vec![TypedValue::Text("q".to_owned())])),
        )]);
        let problems = checked_keys(&typed).unwrap_err();
        let text = problems[0].to_string();
        assert!(text.contains("keys.pause") && text.contains("\"quit\""), "{text}");
    }

    #[test]
    fn an_unknown_key_name_is_refused() {
        let typed = BTreeMap::from([(
            "pause".to_owned(),
            Some(TypedValue::List(vec![TypedValue::Text("hyper-q".to_owned())])),
        )]);
        assert_eq!(checked_keys(&typed).unwrap_err().len(), 1);
    }
}
