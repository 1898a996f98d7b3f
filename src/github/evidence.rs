//! Looks on GitHub whether a write took effect. Only what our own account wrote counts, whatever it says.

use super::call::{ApiReply, Call, Transport};
use super::documents::{self, GraphqlDocument};
use super::error::Error;
use super::identity::{self, Identity};
use super::wire;
use super::write::{PullRequestTarget, ThreadTarget, Write, WriteKey, requested_reviewers, same_reviewer};
use crate::domain::snapshot::RepositoryName;
use crate::domain::verdict::Verdict;
use crate::domain::vocabulary::{Login, Sha};
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteEvidence {
    Done(WriteProof),
    /// It is there, but in a draft of ours that nobody else sees.
    InDraft(WriteProof),
    NotDone,
    /// GitHub has no record that could tell.
    CannotTell,
}

/// What a write left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteProof {
    pub id: Option<String>,
    pub url: Option<String>,
}

/// A thousand issues back; older ones are in the journal.
const ISSUE_PAGES: usize = 10;

impl Write {
    /// Looks whether this very write is already in effect, for the account that `us` is.
    pub async fn already_done(
        &self,
        transport: &(impl Transport + Sync),
        us: Option<&Identity>,
    ) -> Result<WriteEvidence, Error> {
        match self {
            Write::Reply { thread, key, .. } => reply(transport, thread, key, us).await,
            Write::Resolve { thread } => resolved(transport, thread, true).await,
            Write::Unresolve { thread } => resolved(transport, thread, false).await,
            Write::Comment { on, key, .. } => comment(transport, on, key, us).await,
            Write::Review { on, verdict, head, key, .. } => {
                review(transport, &Approval { on, verdict: *verdict, head }, key, us).await
            }
            Write::RequestReview { on, reviewer, .. } => requested(transport, on, reviewer).await,
            Write::AddLabel { on, label } => labelled(transport, on, label).await.map(when),
            Write::RemoveLabel { on, label } => {
                labelled(transport, on, label).await.map(|is_there| when(!is_there))
            }
            Write::Close { on } => state(transport, on, "CLOSED").await,
            Write::Reopen { on } => state(transport, on, "OPEN").await,
            Write::Merge { on, .. } => state(transport, on, "MERGED").await,
            Write::Minimize { comment, .. } => {
                let node: wire::MinimizedFlag =
                    node(transport, &documents::MINIMIZED_EVIDENCE, json!({"id": comment})).await?;
                Ok(when(node.is_minimized == Some(true)))
            }
            Write::OpenIssue { repository, key, .. } => issue(transport, repository, key, us).await,
            Write::Dispatch { .. } => Ok(WriteEvidence::CannotTell),
        }
    }
}

fn when(done: bool) -> WriteEvidence {
    if done { WriteEvidence::Done(WriteProof::default()) } else { WriteEvidence::NotDone }
}

impl WriteEvidence {
    /// A post of ours that carries the marker.
    fn from_post(post: wire::WirePost) -> Self {
        let in_draft = post.state.as_deref() == Some("PENDING");
        let proof = WriteProof { id: Some(post.id), url: Some(post.url) };
        if in_draft { WriteEvidence::InDraft(proof) } else { WriteEvidence::Done(proof) }
    }
}

async fn node<A: DeserializeOwned>(
    transport: &(impl Transport + Sync),
    document: &'static GraphqlDocument,
    variables: Value,
) -> Result<A, Error> {
    let call = Call::graphql(document, variables);
    let mut reply = send(transport, &call).await?;
    let answer: wire::WireNode<A> = reply.parse(&call)?;
    answer.node.ok_or_else(|| reply.absence(&call))
}

/// Evidence is only believed whole: what an error left out of an answer may be the very post that is looked for.
async fn send(transport: &(impl Transport + Sync), call: &Call) -> Result<ApiReply, Error> {
    let reply = transport.send(call).await?;
    match reply.errors.first() {
        Some(error) => Err(error.judge(call)),
        None => Ok(reply),
    }
}

/// Something without which nothing can be said: "not there" is never concluded from an answer that lacks it.
fn must<T>(list: Option<T>, document: &GraphqlDocument) -> Result<T, Error> {
    list.ok_or_else(|| Error::Malformed {
        what: document.purpose.to_owned(),
        detail: "what was asked for is missing".to_owned(),
    })
}

async fn reply(
    transport: &(impl Transport + Sync),
    thread: &ThreadTarget,
    key: &WriteKey,
    us: Option<&Identity>,
) -> Result<WriteEvidence, Error> {
    let mut before = None;
    loop {
        let document = &documents::THREAD_EVIDENCE;
        let variables = json!({"id": thread.id.as_str(), "before": before});
        let found: wire::ThreadEvidence = node(transport, document, variables).await?;
        let comments = must(found.comments, document)?;
        let previous = comments.previous().filter(|previous| before.as_ref() != Some(previous));
        if let Some(post) = find_ours(comments, key, us) {
            return Ok(WriteEvidence::from_post(post));
        }
        match previous {
            Some(previous) => before = Some(previous),
            None => return Ok(WriteEvidence::NotDone),
        }
    }
}

async fn comment(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    key: &WriteKey,
    us: Option<&Identity>,
) -> Result<WriteEvidence, Error> {
    let mut before = None;
    loop {
        let document = &documents::COMMENTS_EVIDENCE;
        let variables = json!({"id": on.node_id, "before": before});
        let found: wire::CommentsEvidence = node(transport, document, variables).await?;
        let comments = must(found.comments, document)?;
        let previous = comments.previous().filter(|previous| before.as_ref() != Some(previous));
        if let Some(post) = find_ours(comments, key, us) {
            return Ok(WriteEvidence::from_post(post));
        }
        match previous {
            Some(previous) => before = Some(previous),
            None => return Ok(WriteEvidence::NotDone),
        }
    }
}

/// The review that is looked for.
struct Approval<'a> {
    on: &'a PullRequestTarget,
    verdict: Verdict,
    head: &'a Sha,
}

/// Our review with this marker; for an approval also any approval of ours at this head that nothing of ours
/// overruled since (V3).
async fn review(
    transport: &(impl Transport + Sync),
    review: &Approval<'_>,
    key: &WriteKey,
    us: Option<&Identity>,
) -> Result<WriteEvidence, Error> {
    let mut before = None;
    let mut may_be_an_earlier_approval = review.verdict == Verdict::Approve;
    let mut approval = None;
    loop {
        let document = &documents::REVIEWS_EVIDENCE;
        let variables = json!({"id": review.on.node_id, "before": before});
        let found: wire::ReviewsEvidence = node(transport, document, variables).await?;
        let reviews = must(found.reviews, document)?;
        let previous = reviews.previous().filter(|previous| before.as_ref() != Some(previous));
        let newest_first: Vec<wire::WirePost> = reviews.into_items().collect();
        for post in newest_first.into_iter().rev().filter(|post| is_ours(post, us)) {
            if key.marks(&post.body) {
                return Ok(WriteEvidence::from_post(post));
            }
            let opinion =
                matches!(post.state.as_deref(), Some("APPROVED" | "CHANGES_REQUESTED" | "DISMISSED"));
            if may_be_an_earlier_approval && opinion {
                may_be_an_earlier_approval = false;
                let at_head = post.commit.as_ref().is_some_and(|commit| commit.oid == review.head.as_str());
                if at_head && post.state.as_deref() == Some("APPROVED") {
                    approval = Some(post);
                }
            }
        }
        if let Some(approval) = approval {
            return Ok(WriteEvidence::from_post(approval));
        }
        match previous {
            Some(previous) => before = Some(previous),
            None => return Ok(WriteEvidence::NotDone),
        }
    }
}

async fn issue(
    transport: &(impl Transport + Sync),
    repository: &RepositoryName,
    key: &WriteKey,
    us: Option<&Identity>,
) -> Result<WriteEvidence, Error> {
    let mut after = None;
    for _ in 0..ISSUE_PAGES {
        let call = Call::graphql(
            &documents::ISSUES_EVIDENCE,
            json!({"owner": repository.owner(), "name": repository.name(), "after": after}),
        );
        let mut reply = send(transport, &call).await?;
        let answer: wire::IssuesEvidenceAnswer = reply.parse(&call)?;
        let Some(found) = answer.repository else { return Err(reply.absence(&call)) };
        let next = found.issues.next();
        if let Some(post) = find_ours(found.issues, key, us) {
            return Ok(WriteEvidence::from_post(post));
        }
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(WriteEvidence::NotDone)
}

fn find_ours(
    posts: wire::WireConnection<wire::WirePost>,
    key: &WriteKey,
    us: Option<&Identity>,
) -> Option<wire::WirePost> {
    posts.into_items().find(|post| is_ours(post, us) && key.marks(&post.body))
}

fn is_ours(post: &wire::WirePost, us: Option<&Identity>) -> bool {
    identity::ours(us, post.author.as_ref(), post.viewer_did_author)
}

/// REST tells every token who is asked; GraphQL not those that are fine-grained, but it is there where REST is not.
async fn requested(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    reviewer: &Login,
) -> Result<WriteEvidence, Error> {
    let call = Call::Rest {
        method: Method::GET,
        path: requested_reviewers(&on.address),
        body: None,
        purpose: Cow::Borrowed("looking who is asked for a review"),
        permission: "Pull requests: read",
    };
    match send(transport, &call).await {
        Ok(mut reply) => {
            let asked: wire::RequestedReviewers = reply.parse(&call)?;
            Ok(when(asked.users.iter().any(|user| same_reviewer(&user.login, reviewer))))
        }
        Err(Error::Gone { .. }) => {
            let document = &documents::REVIEW_REQUESTS;
            let found: wire::WithRequests = node(transport, document, json!({"id": on.node_id})).await?;
            let asked = must(found.review_requests, document)?;
            let mut logins = asked.into_items().filter_map(|request| request.requested_reviewer?.login);
            Ok(when(logins.any(|login| same_reviewer(&login, reviewer))))
        }
        Err(error) => Err(error),
    }
}

async fn resolved(
    transport: &(impl Transport + Sync),
    thread: &ThreadTarget,
    wanted: bool,
) -> Result<WriteEvidence, Error> {
    let document = &documents::THREAD_EVIDENCE;
    let found: wire::ThreadEvidence = node(transport, document, json!({"id": thread.id.as_str()})).await?;
    Ok(when(must(found.is_resolved, document)? == wanted))
}

async fn state(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    wanted: &str,
) -> Result<WriteEvidence, Error> {
    let document = &documents::STATE_EVIDENCE;
    let found: wire::StateEvidence = node(transport, document, json!({"id": on.node_id})).await?;
    if must(found.state, document)? == wanted {
        return Ok(WriteEvidence::Done(WriteProof { id: Some(on.node_id.clone()), url: found.url }));
    }
    Ok(WriteEvidence::NotDone)
}

async fn labelled(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    label: &str,
) -> Result<bool, Error> {
    let mut after = None;
    loop {
        let document = &documents::STATE_EVIDENCE;
        let variables = json!({"id": on.node_id, "after": after});
        let found: wire::StateEvidence = node(transport, document, variables).await?;
        let labels = must(found.labels, document)?;
        let next = labels.next().filter(|next| after.as_ref() != Some(next));
        if labels.into_items().any(|there| there.name.to_lowercase() == label.to_lowercase()) {
            return Ok(true);
        }
        match next {
            Some(next) => after = Some(next),
            None => return Ok(false),
        }
    }
}
