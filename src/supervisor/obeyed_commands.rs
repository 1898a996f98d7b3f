//! Which of people's commands (L10) a loop has obeyed.
//!
//! A person may give a command to any instance, but only the driver's loop is stored. So the loop is stored
//! together with the record numbers of the commands it has obeyed. The next driver obeys the others in
//! journal order: a command given while no instance drove is not lost, and none is obeyed twice.

use super::fact::RecordedCommand;
use crate::domain::review_loop::ReviewLoop;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Record numbers of the commands that the loop has obeyed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ObeyedCommands(BTreeSet<u64>);

/// Commands by the number of their record, as [`History::commands`](super::history::History::commands) has
/// them.
type CommandsByRecord = BTreeMap<u64, RecordedCommand>;

/// The key of the numbers in the stored JSON.
const OBEYED_KEY: &str = "heeded";

impl ObeyedCommands {
    /// The commands that the loop has not obeyed yet, in the order in which people gave them.
    pub(super) fn pending(&self, commands: &CommandsByRecord) -> Vec<(u64, RecordedCommand)> {
        let pending = commands.iter().filter(|(record, _)| !self.0.contains(record));
        pending.map(|(record, command)| (*record, *command)).collect()
    }

    pub(super) fn mark_obeyed(&mut self, record: u64) {
        self.0.insert(record);
    }

    /// For an operator who starts loops again: obeys everything up to the last stop, so that it does not end
    /// the restarted loop as well.
    pub(super) fn skip_to_last_stop(&mut self, commands: &CommandsByRecord) {
        let pending = self.pending(commands);
        let last = pending.iter().rposition(|(_, command)| *command == RecordedCommand::Stop);
        let until = last.map_or(0, |last| last + 1);
        self.0.extend(pending.iter().take(until).map(|(record, _)| *record));
    }

    /// The loop as the journal stores it.
    pub(super) fn stored(&self, review_loop: &ReviewLoop) -> Value {
        let stored = serde_json::to_value(review_loop).ok();
        let mut stored = stored.filter(Value::is_object).unwrap_or_else(|| json!({}));
        stored[OBEYED_KEY] = json!(self.0);
        stored
    }

    /// Reads a stored loop and which commands it has obeyed.
    pub(super) fn restore_loop(&mut self, stored: Option<&Value>, commands: &CommandsByRecord) -> ReviewLoop {
        self.0 = match stored {
            Some(stored) if ReviewLoop::deserialize(stored).is_ok() => {
                match stored.get(OBEYED_KEY).map(BTreeSet::deserialize) {
                    Some(Ok(obeyed)) => obeyed,
                    // An older version stored no numbers; its loop had obeyed every command that reached it.
                    _ => commands.keys().copied().collect(),
                }
            }
            // A loop that starts anew obeys every command again, so that a stop still holds.
            _ => BTreeSet::new(),
        };
        stored_loop(stored)
    }
}

/// The loop that the journal stored, or one before its first look. The only place in the program where a loop
/// comes into being (T8).
pub fn stored_loop(stored: Option<&Value>) -> ReviewLoop {
    stored.and_then(|stored| ReviewLoop::deserialize(stored).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::policy::Policy;
    use crate::domain::review_loop::LoopEvent;

    #[test]
    fn obeyed_commands_are_stored_with_the_loop_and_the_others_stay_pending() {
        let mut before = ObeyedCommands::default();
        before.mark_obeyed(3);
        before.mark_obeyed(5);
        let mut review_loop = ReviewLoop::new();
        review_loop.wake(LoopEvent::Pause, &Policy::default());
        let stored = before.stored(&review_loop);

        // Number 4 was given to another instance and reached the driver too late.
        let commands = BTreeMap::from([
            (5, RecordedCommand::Resume),
            (4, RecordedCommand::Pause),
            (3, RecordedCommand::Pause),
            (9, RecordedCommand::Stop),
        ]);
        let mut after = ObeyedCommands::default();
        assert_eq!(after.restore_loop(Some(&stored), &commands), review_loop);
        assert_eq!(after.pending(&commands), [(4, RecordedCommand::Pause), (9, RecordedCommand::Stop)]);
    }

    #[test]
    fn without_a_stored_loop_every_command_is_pending() {
        let commands = BTreeMap::from([(1, RecordedCommand::Pause)]);
        let mut obeyed = ObeyedCommands::default();
        obeyed.mark_obeyed(1);
        assert_eq!(obeyed.restore_loop(None, &commands), ReviewLoop::new());
        assert_eq!(obeyed.pending(&commands), [(1, RecordedCommand::Pause)]);
    }

    #[test]
    fn a_loop_stored_by_an_older_version_has_obeyed_every_command_until_now() {
        let stored = serde_json::to_value(ReviewLoop::new()).unwrap();
        let mut commands = BTreeMap::from([(1, RecordedCommand::Stop)]);
        let mut obeyed = ObeyedCommands::default();
        obeyed.restore_loop(Some(&stored), &commands);
        assert_eq!(obeyed.pending(&commands), []);
        commands.insert(2, RecordedCommand::Pause);
        assert_eq!(obeyed.pending(&commands), [(2, RecordedCommand::Pause)]);
    }

    #[test]
    fn a_stop_holds_for_a_loop_that_cannot_be_read() {
        let commands = BTreeMap::from([(1, RecordedCommand::Stop)]);
        for stored in [Value::Null, json!({ OBEYED_KEY: [1], "phase": "of another version" })] {
            let mut obeyed = ObeyedCommands::default();
            obeyed.restore_loop(Some(&stored), &commands);
            assert_eq!(obeyed.pending(&commands), [(1, RecordedCommand::Stop)]);
        }
    }

    #[test]
    fn a_fresh_start_skips_the_stop_and_keeps_later_commands() {
        let commands = BTreeMap::from([
            (1, RecordedCommand::Pause),
            (2, RecordedCommand::Stop),
            (3, RecordedCommand::Pause),
        ]);
        let mut obeyed = ObeyedCommands::default();
        obeyed.skip_to_last_stop(&commands);
        assert_eq!(obeyed.pending(&commands), [(3, RecordedCommand::Pause)]);
        obeyed.skip_to_last_stop(&commands);
        assert_eq!(obeyed.pending(&commands), [(3, RecordedCommand::Pause)]);
    }
}
