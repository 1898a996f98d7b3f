//! Looks on GitHub for the effect of a write. A marker counts only in a post by our own account.

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

/// The result of looking for a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteEvidence {
    Done(WriteProof),
    /// The text is in a draft review of our account, which nobody else sees.
    InDraft(WriteProof),
    NotDone,
    /// GitHub keeps no record of this kind of write.
    CannotTell,
}

/// The object that a write created or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteProof {
    pub id: Option<String>,
    pub url: Option<String>,
}

/// Pages of a hundred issues. An issue older than these is found in the journal.
const ISSUE_PAGES: usize = 10;

impl Write {
    /// Looks whether this write is already in effect. `us` is our account, if GitHub names it.
    pub async fn already_done(
        &self,
        transport: &(impl Transport + Sync),
        us: Option<&Identity>,
    ) -> Result<WriteEvidence, Error> {
        match self {
            Write::Reply { thread, key, .. } => {
                let document = &documents::THREAD_EVIDENCE;
                search_posts(transport, document, thread.id.as_str(), |page| find_ours(page, key, us)).await
            }
            Write::Resolve { thread } => resolved(transport, thread, true).await,
            Write::Unresolve { thread } => resolved(transport, thread, false).await,
            Write::Comment { on, key, .. } => {
                let document = &documents::COMMENTS_EVIDENCE;
                search_posts(transport, document, &on.node_id, |page| find_ours(page, key, us)).await
            }
            Write::Review { on, verdict, head, key, .. } => {
                review(transport, &SoughtReview { on, verdict: *verdict, head }, key, us).await
            }
            Write::RequestReview { on, reviewer, .. } => requested(transport, on, reviewer).await,
            Write::AddLabel { on, label } => labelled(transport, on, label).await.map(done_if),
            Write::RemoveLabel { on, label } => {
                labelled(transport, on, label).await.map(|is_there| done_if(!is_there))
            }
            Write::Close { on } => state(transport, on, "CLOSED").await,
            Write::Reopen { on } => state(transport, on, "OPEN").await,
            Write::Merge { on, .. } => state(transport, on, "MERGED").await,
            Write::Minimize { comment, .. } => {
                let node: wire::MinimizedFlag =
                    node(transport, &documents::MINIMIZED_EVIDENCE, json!({"id": comment})).await?;
                Ok(done_if(node.is_minimized == Some(true)))
            }
            Write::OpenIssue { repository, key, .. } => issue(transport, repository, key, us).await,
            Write::Dispatch { .. } => Ok(WriteEvidence::CannotTell),
        }
    }
}

fn done_if(done: bool) -> WriteEvidence {
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

/// A partial answer is an error here: the missing part may hold the post that we look for.
async fn send(transport: &(impl Transport + Sync), call: &Call) -> Result<ApiReply, Error> {
    let reply = transport.send(call).await?;
    match reply.errors.first() {
        Some(error) => Err(error.to_error(call)),
        None => Ok(reply),
    }
}

/// A required field. Its absence is an error and never means "not done".
fn required<T>(field: Option<T>, document: &GraphqlDocument) -> Result<T, Error> {
    field.ok_or_else(|| Error::Malformed {
        what: document.purpose.to_owned(),
        detail: "a required field is missing".to_owned(),
    })
}

/// Reads a list of posts from its newest page back, until `choose` picks the post of the write from a page.
async fn search_posts(
    transport: &(impl Transport + Sync),
    document: &'static GraphqlDocument,
    id: &str,
    mut choose: impl FnMut(Vec<wire::WirePost>) -> Option<wire::WirePost>,
) -> Result<WriteEvidence, Error> {
    let (mut before, mut trail) = (None, wire::CursorTrail::default());
    loop {
        let variables = json!({"id": id, "before": before});
        let answer: wire::PostsEvidence = node(transport, document, variables).await?;
        let page = required(answer.posts, document)?;
        let previous = page.previous();
        if let Some(post) = choose(page.into_items().collect()) {
            return Ok(WriteEvidence::from_post(post));
        }
        match previous {
            Some(previous) => before = trail.follow(Some(previous), document.purpose)?,
            None => return Ok(WriteEvidence::NotDone),
        }
    }
}

/// The review to look for.
struct SoughtReview<'a> {
    on: &'a PullRequestTarget,
    verdict: Verdict,
    head: &'a Sha,
}

/// Looks for our review with this marker. For an approval, an earlier approval of ours at this head counts as
/// well, if none of our later reviews overruled it (V3).
async fn review(
    transport: &(impl Transport + Sync),
    review: &SoughtReview<'_>,
    key: &WriteKey,
    us: Option<&Identity>,
) -> Result<WriteEvidence, Error> {
    let mut may_be_an_earlier_approval = review.verdict == Verdict::Approve;
    search_posts(transport, &documents::REVIEWS_EVIDENCE, &review.on.node_id, |page| {
        let mut approval = None;
        for post in page.into_iter().rev().filter(|post| is_ours(post, us)) {
            if key.marks(&post.body) {
                return Some(post);
            }
            let is_opinion =
                matches!(post.state.as_deref(), Some("APPROVED" | "CHANGES_REQUESTED" | "DISMISSED"));
            if may_be_an_earlier_approval && is_opinion {
                may_be_an_earlier_approval = false;
                let at_head = post.commit.as_ref().is_some_and(|commit| commit.oid == review.head.as_str());
                if at_head && post.state.as_deref() == Some("APPROVED") {
                    approval = Some(post);
                }
            }
        }
        approval
    })
    .await
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
        if let Some(post) = find_ours(found.issues.into_items().collect(), key, us) {
            return Ok(WriteEvidence::from_post(post));
        }
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(WriteEvidence::NotDone)
}

fn find_ours(posts: Vec<wire::WirePost>, key: &WriteKey, us: Option<&Identity>) -> Option<wire::WirePost> {
    posts.into_iter().find(|post| is_ours(post, us) && key.marks(&post.body))
}

fn is_ours(post: &wire::WirePost, us: Option<&Identity>) -> bool {
    identity::ours(us, post.author.as_ref(), post.viewer_did_author)
}

/// Asks REST first, because GraphQL hides review requests from fine-grained tokens. A server without this
/// REST path is asked over GraphQL.
async fn requested(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    reviewer: &Login,
) -> Result<WriteEvidence, Error> {
    let call = Call::Rest {
        method: Method::GET,
        path: requested_reviewers(&on.address),
        body: None,
        purpose: Cow::Borrowed("reading the requested reviewers"),
        permission: "Pull requests: read",
    };
    match send(transport, &call).await {
        Ok(mut reply) => {
            let asked: wire::RequestedReviewers = reply.parse(&call)?;
            Ok(done_if(asked.users.iter().any(|user| same_reviewer(&user.login, reviewer))))
        }
        Err(Error::Gone { .. }) => {
            let document = &documents::REVIEW_REQUESTS;
            let found: wire::WithRequests = node(transport, document, json!({"id": on.node_id})).await?;
            let asked = required(found.review_requests, document)?;
            let mut logins = asked.into_items().filter_map(|request| request.requested_reviewer?.login);
            Ok(done_if(logins.any(|login| same_reviewer(&login, reviewer))))
        }
        Err(error) => Err(error),
    }
}

async fn resolved(
    transport: &(impl Transport + Sync),
    thread: &ThreadTarget,
    expected: bool,
) -> Result<WriteEvidence, Error> {
    let document = &documents::THREAD_EVIDENCE;
    let found: wire::PostsEvidence = node(transport, document, json!({"id": thread.id.as_str()})).await?;
    Ok(done_if(required(found.is_resolved, document)? == expected))
}

async fn state(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    expected: &str,
) -> Result<WriteEvidence, Error> {
    let document = &documents::STATE_EVIDENCE;
    let found: wire::StateEvidence = node(transport, document, json!({"id": on.node_id})).await?;
    if required(found.state, document)? == expected {
        return Ok(WriteEvidence::Done(WriteProof { id: Some(on.node_id.clone()), url: found.url }));
    }
    Ok(WriteEvidence::NotDone)
}

async fn labelled(
    transport: &(impl Transport + Sync),
    on: &PullRequestTarget,
    label: &str,
) -> Result<bool, Error> {
    let (mut after, mut trail) = (None, wire::CursorTrail::default());
    loop {
        let document = &documents::STATE_EVIDENCE;
        let variables = json!({"id": on.node_id, "after": after});
        let found: wire::StateEvidence = node(transport, document, variables).await?;
        let labels = required(found.labels, document)?;
        let next = trail.follow(labels.next(), document.purpose)?;
        if labels.into_items().any(|there| there.name.to_lowercase() == label.to_lowercase()) {
            return Ok(true);
        }
        match next {
            Some(next) => after = Some(next),
            None => return Ok(false),
        }
    }
}
