//! One loop for each pull request, however many names of its repository were asked for (L13).

use super::{Hub, RunningLoop};
use crate::github::{PullRequestAddress, PullRequestRef};
use std::sync::Arc;

impl Hub {
    /// Whether a loop has this pull request, perhaps under another name of its repository.
    pub(super) fn is_tracked(&mut self, tracked: &PullRequestRef) -> bool {
        let PullRequestRef { address, node_id } = tracked;
        if self.actors.contains_key(address) {
            return true;
        }
        let Some(node_id) = node_id else { return self.aliases.contains_key(address) };
        // The name may belong to another repository now: the id decides.
        let same = self.actors.iter().find(|(_, running)| running.node_id.as_ref() == Some(node_id));
        let same = same.map(|(tracked, _)| tracked.clone());
        let is_tracked = same.is_some();
        self.set_alias(address, same);
        is_tracked
    }

    /// Makes another address lead to a loop, or to none.
    fn set_alias(&mut self, address: &PullRequestAddress, tracked: Option<PullRequestAddress>) {
        if self.aliases.get(address) == tracked.as_ref() {
            return;
        }
        match tracked {
            Some(tracked) => self.aliases.insert(address.clone(), tracked),
            None => self.aliases.remove(address),
        };
        let aliases = self.aliases.clone();
        self.context.board.send_modify(|board| Arc::make_mut(board).aliases = aliases);
    }

    /// The loop for a pull request that was just read. L13: two names of one pull request share one loop.
    pub(super) async fn loop_of(&mut self, asked: PullRequestAddress, node_id: &str) -> PullRequestAddress {
        let is_same = |(address, running): &(&PullRequestAddress, &RunningLoop)| {
            **address != asked && running.node_id.as_deref() == Some(node_id)
        };
        if let Some((other, _)) = self.actors.iter().find(is_same) {
            let other = other.clone();
            tracing::info!(%asked, %other, "two names of one pull request share one loop");
            self.forget(&asked).await;
            self.set_alias(&asked, Some(other.clone()));
            return other;
        }
        if let Some(running) = self.actors.get_mut(&asked) {
            running.node_id = Some(node_id.to_owned());
        }
        asked
    }
}
