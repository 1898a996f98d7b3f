//! What people told a loop (L10), and how much of it the loop has heeded.
//!
//! Anybody may tell any instance, but only the driver's loop is kept. So the loop is kept together with the numbers of the
//! orders it has heeded, and whoever goes on with it heeds the rest, in the journal's order: what was told while nobody
//! drove is not lost, and nothing is heeded twice.

use super::fact::RecordedCommand;
use crate::domain::review_loop::ReviewLoop;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LoopCommands {
    /// By the number of their record.
    told: BTreeMap<u64, RecordedCommand>,
    heeded: BTreeSet<u64>,
}

/// Where the numbers are in what is kept.
const HEEDED: &str = "heeded";

impl LoopCommands {
    pub(super) fn hear(&mut self, record: u64, told: RecordedCommand) {
        self.told.insert(record, told);
    }

    /// What is still to be heeded, in the order in which it was told.
    pub(super) fn pending(&self) -> Vec<(u64, RecordedCommand)> {
        let pending = self.told.iter().filter(|(record, _)| !self.heeded.contains(record));
        pending.map(|(record, told)| (*record, *told)).collect()
    }

    pub(super) fn heed(&mut self, record: u64) {
        self.heeded.insert(record);
    }

    pub(super) fn heeded(&self) -> &BTreeSet<u64> {
        &self.heeded
    }

    /// Goes back to what was heeded at some time; what was told stays told.
    pub(super) fn go_back(&mut self, heeded: BTreeSet<u64>) {
        self.heeded = heeded;
    }

    /// A stop ends the loop that it was told to. Whoever wants a new one to run does not want that ended as well, so
    /// everything up to the last stop is heeded. True if there was one.
    pub(super) fn leave_stopped(&mut self) -> bool {
        let pending = self.pending();
        let last = pending.iter().rposition(|(_, told)| *told == RecordedCommand::Stop);
        let until = last.map_or(0, |last| last + 1);
        self.heeded.extend(pending.iter().take(until).map(|(record, _)| *record));
        last.is_some()
    }

    /// A loop as it is kept, or that there is none.
    pub(super) fn kept(&self, review_loop: Option<&ReviewLoop>) -> Value {
        let kept = review_loop.and_then(|review_loop| serde_json::to_value(review_loop).ok());
        let mut kept = kept.filter(Value::is_object).unwrap_or_else(|| json!({}));
        kept[HEEDED] = json!(self.heeded);
        kept
    }

    /// Takes up what was kept, and with it what that loop has heeded.
    pub(super) fn take_up(&mut self, kept: Option<&Value>) -> Option<ReviewLoop> {
        self.heeded = match kept {
            None => BTreeSet::new(),
            Some(kept) => match kept.get(HEEDED).map(BTreeSet::deserialize) {
                Some(Ok(heeded)) => heeded,
                // A version that kept no numbers had heeded whatever reached it.
                _ => self.told.keys().copied().collect(),
            },
        };
        kept.and_then(|kept| ReviewLoop::deserialize(kept).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(told: &[(u64, RecordedCommand)]) -> LoopCommands {
        LoopCommands { told: told.iter().copied().collect(), heeded: BTreeSet::new() }
    }

    #[test]
    fn what_was_heeded_is_kept_with_the_loop_and_the_rest_is_still_to_be_heeded() {
        let mut before = orders(&[(3, RecordedCommand::Pause), (5, RecordedCommand::Resume)]);
        before.heed(3);
        before.heed(5);
        let review_loop = ReviewLoop::new(BTreeSet::new(), 2);
        let kept = before.kept(Some(&review_loop));

        // The number 4 was told elsewhere and came to the driver too late.
        let mut after = orders(&[
            (5, RecordedCommand::Resume),
            (4, RecordedCommand::Pause),
            (3, RecordedCommand::Pause),
            (9, RecordedCommand::Stop),
        ]);
        assert_eq!(after.take_up(Some(&kept)), Some(review_loop));
        assert_eq!(after.pending(), [(4, RecordedCommand::Pause), (9, RecordedCommand::Stop)]);
    }

    #[test]
    fn without_anything_kept_all_of_it_is_to_be_heeded() {
        let mut orders = orders(&[(1, RecordedCommand::Pause)]);
        orders.heed(1);
        assert_eq!(orders.take_up(None), None);
        assert_eq!(orders.pending(), [(1, RecordedCommand::Pause)]);
        let kept = orders.kept(None);
        assert_eq!(orders.take_up(Some(&kept)), None, "that there is no loop is kept, too");
        assert_eq!(orders.pending(), [(1, RecordedCommand::Pause)]);
    }

    #[test]
    fn a_loop_that_an_older_version_kept_has_heeded_what_was_told_until_now() {
        let review_loop = ReviewLoop::new(BTreeSet::new(), 0);
        for kept in [serde_json::to_value(&review_loop).unwrap(), Value::Null] {
            let mut orders = orders(&[(1, RecordedCommand::Stop)]);
            orders.take_up(Some(&kept));
            assert_eq!(orders.pending(), []);
            orders.hear(2, RecordedCommand::Pause);
            assert_eq!(orders.pending(), [(2, RecordedCommand::Pause)]);
        }
    }

    #[test]
    fn whoever_starts_anew_leaves_what_was_stopped_and_keeps_what_was_told_since() {
        let mut orders =
            orders(&[(1, RecordedCommand::Pause), (2, RecordedCommand::Stop), (3, RecordedCommand::Pause)]);
        assert!(orders.leave_stopped());
        assert_eq!(orders.pending(), [(3, RecordedCommand::Pause)]);
        assert!(!orders.leave_stopped());
        assert_eq!(orders.pending(), [(3, RecordedCommand::Pause)]);
    }
}
