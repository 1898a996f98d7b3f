//! Decides which posts are ours. A marker counts only in a post by our own account.

use super::call::{ApiReply, Call, Transport};
use super::convert;
use super::documents;
use super::error::Error;
use super::wire;
use crate::domain::snapshot::{Account, AccountKind};
use serde_json::json;

/// The account of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    account: Account,
}

impl Identity {
    /// Asks GitHub whose token this is.
    pub async fn ask(transport: &(impl Transport + Sync)) -> (Result<Self, Error>, Result<ApiReply, Error>) {
        let call = Call::graphql(&documents::VIEWER, json!({}));
        let mut outcome = transport.send(&call).await;
        let identity = match &mut outcome {
            Ok(reply) => reply.parse::<wire::ViewerAnswer>(&call).map(|answer| Self::of(answer.viewer)),
            Err(error) => Err(error.clone()),
        };
        (identity, outcome)
    }

    /// Here GitHub calls an app's account a user and adds `[bot]` to its login; elsewhere it leaves that off.
    fn of(viewer: wire::WireActor) -> Self {
        let mut account = convert::account(viewer);
        if let Some(plain) = account.login.as_str().strip_suffix("[bot]") {
            account.login = plain.into();
            account.kind = AccountKind::Bot;
        }
        Self { account }
    }

    pub fn account(&self) -> &Account {
        &self.account
    }

    fn is(&self, author: &wire::WireActor) -> bool {
        let same_kind = (author.kind == "Bot") == (self.account.kind == AccountKind::Bot);
        let login = author.login.strip_suffix("[bot]").unwrap_or(&author.login);
        same_kind && login.eq_ignore_ascii_case(self.account.login.as_str())
    }
}

/// Some tokens may not ask who they are. They can still read and write, and then `viewerDidAuthor` decides.
pub(super) fn if_allowed(asked: Result<Identity, Error>) -> Result<Option<Identity>, Error> {
    match asked {
        Ok(identity) => Ok(Some(identity)),
        Err(Error::Denied { .. } | Error::Refused { .. } | Error::Gone { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether we wrote a post. Compares the authors, or falls back to GitHub's `viewerDidAuthor`.
pub(super) fn ours(
    identity: Option<&Identity>,
    author: Option<&wire::WireActor>,
    viewer_did_author: bool,
) -> bool {
    match (identity, author) {
        (Some(identity), Some(author)) => identity.is(author),
        _ => viewer_did_author,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(kind: &str, login: &str) -> wire::WireActor {
        wire::WireActor { kind: kind.to_owned(), login: login.to_owned(), database_id: None }
    }

    #[test]
    fn an_app_is_recognised_by_either_spelling_and_never_mistaken_for_a_person() {
        let app = Identity::of(actor("User", "cloture[bot]"));
        assert!(ours(Some(&app), Some(&actor("Bot", "cloture")), false));
        assert!(!ours(Some(&app), Some(&actor("User", "cloture")), true), "a person took the app's name");
        let person = Identity::of(actor("User", "Alice"));
        assert!(ours(Some(&person), Some(&actor("User", "alice")), false));
        assert!(!ours(Some(&person), Some(&actor("Bot", "alice")), false));
        assert!(ours(Some(&person), None, true) && ours(None, Some(&actor("User", "x")), true));
    }
}
