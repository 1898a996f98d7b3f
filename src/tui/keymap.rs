//! The keys of every command, and the command of every key.

use super::action::Action;
use crate::config::KeyBindings;
use crokey::KeyCombination;
use crossterm::event::{KeyCode, KeyModifiers};

#[derive(Debug, Clone)]
pub struct Keymap(Vec<(KeyCombination, Action)>);

impl Keymap {
    pub fn new(keys: &KeyBindings) -> Keymap {
        let named = keys.iter().filter_map(|(name, keys)| Some((Action::named(name)?, keys)));
        Keymap(named.flat_map(|(action, keys)| keys.iter().map(move |key| (*key, action))).collect())
    }

    pub fn action(&self, key: KeyCombination) -> Option<Action> {
        let bound = |key: KeyCombination| self.0.iter().find(|(bound, _)| *bound == key);
        // Some terminals report shift for a `?`, and some do not.
        let unshifted = KeyCombination { modifiers: key.modifiers - KeyModifiers::SHIFT, ..key };
        let is_sign = matches!(key.codes.first(), KeyCode::Char(c) if !c.is_alphabetic());
        let found = bound(key).or_else(|| bound(unshifted).filter(|_| is_sign));
        found.map(|(_, action)| *action)
    }

    /// The first key of a command in short form; empty if it has none.
    pub fn key(&self, action: Action) -> String {
        self.keys(action).into_iter().next().unwrap_or_default()
    }

    pub fn keys(&self, action: Action) -> Vec<String> {
        self.0.iter().filter(|(_, bound)| *bound == action).map(|(key, _)| short(*key)).collect()
    }
}

/// `G` rather than `Shift-g`, `^u` rather than `Ctrl-u`.
fn short(key: KeyCombination) -> String {
    let name = match key.codes.first() {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "⏎".to_owned(),
        KeyCode::Up => "↑".to_owned(),
        KeyCode::Down => "↓".to_owned(),
        KeyCode::Left => "←".to_owned(),
        KeyCode::Right => "→".to_owned(),
        KeyCode::BackTab => "shift-tab".to_owned(),
        other => other.to_string().to_lowercase(),
    };
    let control = if key.modifiers.contains(KeyModifiers::CONTROL) { "^" } else { "" };
    let alt = if key.modifiers.contains(KeyModifiers::ALT) { "alt-" } else { "" };
    format!("{control}{alt}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    #[test]
    fn a_key_calls_the_command_of_the_file() {
        let keymap = Keymap::new(&KeyBindings::default());
        let press = |code, modifiers| keymap.action(KeyEvent::new(code, modifiers).into());
        assert_eq!(press(KeyCode::Char('j'), KeyModifiers::NONE), Some(Action::Down));
        assert_eq!(press(KeyCode::Down, KeyModifiers::NONE), Some(Action::Down));
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Action::Bottom));
        assert_eq!(press(KeyCode::Char('g'), KeyModifiers::NONE), Some(Action::Top));
        assert_eq!(press(KeyCode::Char('?'), KeyModifiers::SHIFT), Some(Action::Help));
        assert_eq!(press(KeyCode::BackTab, KeyModifiers::SHIFT), Some(Action::PreviousScreen));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::F(9), KeyModifiers::NONE), None);
    }

    #[test]
    fn keys_are_written_as_people_type_them() {
        let keymap = Keymap::new(&KeyBindings::default());
        assert_eq!(keymap.keys(Action::Bottom), ["G", "end"]);
        assert_eq!(keymap.keys(Action::PageUp), ["^u", "page up"]);
        assert_eq!(keymap.key(Action::Open), "⏎");
    }
}
