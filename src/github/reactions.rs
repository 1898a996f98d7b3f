//! Reactions to a pull request, over REST: GraphQL cannot name a bot that reacted.
//!
//! The supervisor says for which pull requests it waits for a reaction. Only these are asked for, by
//! conditional requests, which cost nothing as long as nothing changed.

use super::call::{Call, Transport};
use super::discover::PullRequestAddress;
use super::error::Error;
use super::wire::WireReaction;
use crate::domain::snapshot::{Account, AccountKind, Reaction, RepositoryName};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reactions that were read, and which pull requests to ask for.
#[derive(Debug, Default)]
pub(super) struct ReactionCache {
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    wanted: BTreeSet<PullRequestAddress>,
    known: BTreeMap<PullRequestAddress, KnownReactions>,
    /// The token may not read the reactions there. This is said once.
    refused: BTreeSet<RepositoryName>,
}

#[derive(Debug, Clone, Default)]
struct KnownReactions {
    etag: Option<String>,
    reactions: Vec<Reaction>,
}

impl ReactionCache {
    pub(super) fn want(&self, wanted: BTreeSet<PullRequestAddress>) {
        self.state().wanted = wanted;
    }

    pub(super) fn wanted(&self) -> Vec<PullRequestAddress> {
        let state = self.state();
        let may = |address: &&PullRequestAddress| !state.refused.contains(&address.repository);
        state.wanted.iter().filter(may).cloned().collect()
    }

    pub(super) fn known(&self, address: &PullRequestAddress) -> Vec<Reaction> {
        self.state().known.get(address).map(|known| known.reactions.clone()).unwrap_or_default()
    }

    /// Asks GitHub, and returns true if the reactions changed. A failure changes nothing: a reaction is only
    /// a hint.
    pub(super) async fn refresh<T: Transport + Sync>(
        &self,
        transport: &T,
        address: &PullRequestAddress,
    ) -> bool {
        let (repository, number) = (&address.repository, address.number);
        let call = Call::Conditional {
            path: format!("/repos/{repository}/issues/{number}/reactions?per_page=100"),
            etag: self.state().known.get(address).and_then(|known| known.etag.clone()),
            purpose: "reading the reactions".into(),
            permission: "Issues: read",
        };
        let answer = match transport.send(&call).await {
            Ok(reply) if reply.body.is_null() => return false,
            Ok(mut reply) => {
                let etag = reply.etag.take();
                reply.parse::<Vec<WireReaction>>(&call).map(|reactions| (etag, reactions))
            }
            Err(error) => Err(error),
        };
        match answer {
            Ok((etag, reactions)) => {
                let mut reactions: Vec<Reaction> = reactions.into_iter().filter_map(reaction).collect();
                reactions
                    .sort_by(|a, b| (a.at, &a.by.login, &a.content).cmp(&(b.at, &b.by.login, &b.content)));
                let new = KnownReactions { etag, reactions };
                let mut state = self.state();
                let old = state.known.insert(address.clone(), new.clone());
                old.unwrap_or_default().reactions != new.reactions
            }
            Err(Error::Transient { .. } | Error::RateLimited { .. }) => false,
            Err(error) => {
                if self.state().refused.insert(repository.clone()) {
                    tracing::warn!(%repository, %error, "reactions cannot be read and are ignored");
                }
                false
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// REST calls every account here a user. Only an app's login ends in `[bot]`.
fn reaction(wire: WireReaction) -> Option<Reaction> {
    let user = wire.user?;
    let kind = if user.login.ends_with("[bot]") { AccountKind::Bot } else { AccountKind::User };
    let login = user.login.strip_suffix("[bot]").unwrap_or(&user.login);
    let by = Account { login: login.into(), kind, database_id: user.id };
    Some(Reaction { at: wire.created_at, content: wire.content, by })
}
