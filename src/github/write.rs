//! Writes to GitHub as data. Cloture can preview, record and compare a write, and look for its effect.

mod key;

pub use key::{WriteKey, WriteKeyError};

use super::call::Call;
use super::discover::PullRequestAddress;
use super::documents;
use crate::agents::secret::{SecretFound, SecretScanner};
use crate::domain::snapshot::RepositoryName;
use crate::domain::verdict::Verdict;
use crate::domain::vocabulary::{FilePath, Login, Sha, ThreadId};
use http::Method;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// One write. A write with a text has a [`WriteKey`], which is added to the text as a hidden marker. The
/// writer does not post a text whose marker our account has already posted.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    // In a thread
    Reply {
        thread: ThreadTarget,
        body: String,
        key: WriteKey,
    },
    Resolve {
        thread: ThreadTarget,
    },
    Unresolve {
        thread: ThreadTarget,
    },

    // On a pull request
    /// Also asks a bot for another review, and hands work off, by a mention.
    Comment {
        on: PullRequestTarget,
        body: String,
        key: WriteKey,
    },
    Review {
        on: PullRequestTarget,
        verdict: Verdict,
        head: Sha,
        body: String,
        threads: Vec<NewReviewThread>,
        key: WriteKey,
    },
    /// GitHub shows a request only until the review begins. If the answer is lost and the reviewer begins
    /// before the writer looks, the writer asks a second time.
    RequestReview {
        on: PullRequestTarget,
        reviewer: Login,
        is_bot: bool,
    },
    AddLabel {
        on: PullRequestTarget,
        label: String,
    },
    RemoveLabel {
        on: PullRequestTarget,
        label: String,
    },
    Close {
        on: PullRequestTarget,
    },
    Reopen {
        on: PullRequestTarget,
    },
    /// GitHub merges only if this is still the head.
    Merge {
        on: PullRequestTarget,
        head: Sha,
        method: MergeMethod,
    },

    // Elsewhere
    /// Hides a comment as a duplicate.
    Minimize {
        on: PullRequestAddress,
        comment: String,
    },
    OpenIssue {
        repository: RepositoryName,
        title: String,
        body: String,
        labels: Vec<String>,
        assignees: Vec<String>,
        key: WriteKey,
    },
    /// GitHub keeps no record of it, so the writer never sends it twice, even at the risk that it never
    /// arrived.
    Dispatch {
        repository: RepositoryName,
        event_type: String,
        payload: Map<String, Value>,
        key: WriteKey,
    },
}

/// A pull request to write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestTarget {
    pub address: PullRequestAddress,
    pub node_id: String,
}

/// A thread to write to. Its place is for the sentence that people confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadTarget {
    pub pull_request: PullRequestAddress,
    pub id: ThreadId,
    pub path: FilePath,
    pub line: Option<u32>,
}

/// A thread that a review opens. Its key links the thread to the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReviewThread {
    pub path: FilePath,
    pub line: u32,
    /// The first line of a range of several lines.
    pub start_line: Option<u32>,
    pub body: String,
    pub key: WriteKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMethod {
    Merge,
    Squash,
    Rebase,
}

impl MergeMethod {
    pub const ALL: [MergeMethod; 3] = [MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase];
}

/// The preview of a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The effect, in one sentence.
    pub sentence: String,
    /// The calls, in order.
    pub calls: Vec<Call>,
}

/// Copilot reacts only to this spelling. GitHub accepts other spellings and does nothing.
const COPILOT: &str = "copilot-pull-request-reviewer[bot]";

/// GitHub's limits on a `repository_dispatch`.
const LONGEST_EVENT_TYPE: usize = 100;
const MOST_PAYLOAD_KEYS: usize = 10;

impl Write {
    /// The sentence and the exact payload, with a placeholder for a label's id. [`super::Writer::rehearse`]
    /// looks the id up.
    pub fn describe(&self) -> Description {
        Description { sentence: self.sentence(), calls: vec![self.call("(the label's id)")] }
    }

    /// One exact sentence: what happens, where, and how much text.
    pub fn sentence(&self) -> String {
        match self {
            Write::Reply { thread, body, .. } => {
                format!("Reply with {} characters in the thread at {}.", body.chars().count(), thread.place())
            }
            Write::Resolve { thread } => format!("Resolve the thread at {}.", thread.place()),
            Write::Unresolve { thread } => format!("Open the thread at {} again.", thread.place()),
            Write::Comment { on, body, .. } => {
                format!("Comment with {} characters on {}, once.", body.chars().count(), on.address)
            }
            Write::Review { on, verdict, head, threads, .. } => {
                let verdict = match verdict {
                    Verdict::Approve => "Approve",
                    Verdict::RequestChanges => "Request changes on",
                    Verdict::Comment => "Post a review without a verdict on",
                };
                let threads = match threads.len() {
                    0 => String::new(),
                    1 => ", opening 1 thread".to_owned(),
                    count => format!(", opening {count} threads"),
                };
                format!("{verdict} {} at {}{threads}.", on.address, short(head))
            }
            Write::RequestReview { on, reviewer, is_bot } => {
                format!("Ask {} for a review of {}.", rest_login(reviewer, *is_bot), on.address)
            }
            Write::AddLabel { on, label } => format!("Put the label \"{label}\" on {}.", on.address),
            Write::RemoveLabel { on, label } => format!("Take the label \"{label}\" off {}.", on.address),
            Write::Close { on } => format!("Close {} without merging it.", on.address),
            Write::Reopen { on } => format!("Reopen {}.", on.address),
            Write::Merge { on, head, method } => {
                let how = match method {
                    MergeMethod::Merge => "a merge commit",
                    MergeMethod::Squash => "one squashed commit",
                    MergeMethod::Rebase => "a rebase",
                };
                format!("Merge {} at {} with {how}.", on.address, short(head))
            }
            Write::Minimize { on, .. } => format!("Hide a comment on {on} as a duplicate."),
            Write::OpenIssue { repository, title, assignees, .. } => {
                let assigned = match assignees.as_slice() {
                    [] => String::new(),
                    some => format!(", assigned to {}", some.join(", ")),
                };
                format!("Open the issue \"{title}\" in {repository}{assigned}.")
            }
            Write::Dispatch { repository, event_type, .. } => {
                format!("Send the event `{event_type}` to the workflows of {repository}.")
            }
        }
    }

    /// Why GitHub would refuse the write, if that is certain without asking.
    pub fn objection(&self) -> Option<String> {
        match self {
            Write::Dispatch { event_type, .. } if event_type.chars().count() > LONGEST_EVENT_TYPE => {
                Some(format!("an event type has at most {LONGEST_EVENT_TYPE} characters"))
            }
            Write::Dispatch { payload, .. } if payload.len() >= MOST_PAYLOAD_KEYS => {
                Some(format!("a payload has at most {} fields beside our own", MOST_PAYLOAD_KEYS - 1))
            }
            Write::Reply { body, .. } | Write::Comment { body, .. } if body.trim().is_empty() => {
                Some("there is no text to post".to_owned())
            }
            _ => None,
        }
    }

    /// S2: the secret in what the write would send. The call has every text of it.
    pub(super) fn find_secret(&self, secrets: &SecretScanner) -> Option<SecretFound> {
        let of_label = self.label().and_then(|(_, label)| secrets.find(label));
        let sent = || match self.call("") {
            Call::Graphql { variables, .. } => secrets.find_in_value(&variables),
            Call::Rest { path, body, .. } => {
                secrets.find(&path).or_else(|| secrets.find_in_value(body.as_ref()?))
            }
            Call::Conditional { .. } | Call::Diff { .. } => None,
        };
        of_label.or_else(sent)
    }

    /// Whether the writer can look for the effect on GitHub. Only such a write is retried after a lost
    /// answer.
    pub fn can_be_looked_for(&self) -> bool {
        !matches!(self, Write::Dispatch { .. })
    }

    /// The key in the hidden marker of the text, if the write has a text.
    pub fn key(&self) -> Option<&WriteKey> {
        match self {
            Write::Reply { key, .. }
            | Write::Comment { key, .. }
            | Write::Review { key, .. }
            | Write::OpenIssue { key, .. }
            | Write::Dispatch { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The same write, with another key if it has one.
    #[must_use]
    pub fn with_key(mut self, other: WriteKey) -> Write {
        if let Write::Reply { key, .. }
        | Write::Comment { key, .. }
        | Write::Review { key, .. }
        | Write::OpenIssue { key, .. }
        | Write::Dispatch { key, .. } = &mut self
        {
            *key = other;
        }
        self
    }

    /// The kind of write, for the log.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Write::Reply { .. } => "reply",
            Write::Resolve { .. } => "resolve",
            Write::Unresolve { .. } => "unresolve",
            Write::Comment { .. } => "comment",
            Write::Review { .. } => "review",
            Write::RequestReview { .. } => "request_review",
            Write::AddLabel { .. } => "add_label",
            Write::RemoveLabel { .. } => "remove_label",
            Write::Close { .. } => "close",
            Write::Reopen { .. } => "reopen",
            Write::Merge { .. } => "merge",
            Write::Minimize { .. } => "minimize",
            Write::OpenIssue { .. } => "open_issue",
            Write::Dispatch { .. } => "dispatch",
        }
    }

    /// The label whose id the call needs, and its repository.
    pub(super) fn label(&self) -> Option<(&RepositoryName, &str)> {
        match self {
            Write::AddLabel { on, label } | Write::RemoveLabel { on, label } => {
                Some((&on.address.repository, label))
            }
            _ => None,
        }
    }

    /// The call that carries the write out.
    pub(super) fn call(&self, label_id: &str) -> Call {
        match self {
            Write::Reply { thread, body, key } => Call::graphql(
                &documents::REPLY,
                json!({"thread": thread.id.as_str(), "body": key.mark(body)}),
            ),
            Write::Resolve { thread } => {
                Call::graphql(&documents::RESOLVE, json!({"thread": thread.id.as_str()}))
            }
            Write::Unresolve { thread } => {
                Call::graphql(&documents::UNRESOLVE, json!({"thread": thread.id.as_str()}))
            }
            Write::Comment { on, body, key } => {
                Call::graphql(&documents::ADD_COMMENT, json!({"subject": on.node_id, "body": key.mark(body)}))
            }
            Write::Review { on, verdict, head, body, threads, key } => Call::graphql(
                &documents::SUBMIT_REVIEW,
                json!({
                    "pullRequest": on.node_id,
                    "event": match verdict {
                        Verdict::Approve => "APPROVE",
                        Verdict::RequestChanges => "REQUEST_CHANGES",
                        Verdict::Comment => "COMMENT",
                    },
                    "body": key.mark(body),
                    "commit": head.as_str(),
                    "threads": threads.iter().map(NewReviewThread::draft).collect::<Vec<_>>(),
                }),
            ),
            Write::AddLabel { on, .. } => {
                Call::graphql(&documents::ADD_LABEL, json!({"pullRequest": on.node_id, "label": label_id}))
            }
            Write::RemoveLabel { on, .. } => {
                Call::graphql(&documents::REMOVE_LABEL, json!({"pullRequest": on.node_id, "label": label_id}))
            }
            Write::Close { on } => Call::graphql(&documents::CLOSE, json!({"pullRequest": on.node_id})),
            Write::Reopen { on } => Call::graphql(&documents::REOPEN, json!({"pullRequest": on.node_id})),
            Write::Merge { on, head, method } => Call::graphql(
                &documents::MERGE,
                json!({
                    "pullRequest": on.node_id,
                    "head": head.as_str(),
                    "method": match method {
                        MergeMethod::Merge => "MERGE",
                        MergeMethod::Squash => "SQUASH",
                        MergeMethod::Rebase => "REBASE",
                    },
                }),
            ),
            Write::Minimize { comment, .. } => {
                Call::graphql(&documents::MINIMIZE, json!({"comment": comment}))
            }
            Write::RequestReview { on, reviewer, is_bot } => Call::Rest {
                method: Method::POST,
                path: requested_reviewers(&on.address),
                body: Some(json!({"reviewers": [rest_login(reviewer, *is_bot)]})),
                purpose: Cow::Borrowed("asking for a review"),
                permission: "Pull requests: write",
            },
            Write::OpenIssue { repository, title, body, labels, assignees, key } => Call::Rest {
                method: Method::POST,
                path: format!("/repos/{repository}/issues"),
                body: Some(json!({
                    "title": title, "body": key.mark(body), "labels": labels, "assignees": assignees,
                })),
                purpose: Cow::Borrowed("opening an issue"),
                permission: "Issues: write",
            },
            Write::Dispatch { repository, event_type, payload, key } => {
                let mut payload = payload.clone();
                payload.insert("cloture_key".to_owned(), json!(key.as_str()));
                Call::Rest {
                    method: Method::POST,
                    path: format!("/repos/{repository}/dispatches"),
                    body: Some(json!({"event_type": event_type, "client_payload": payload})),
                    purpose: Cow::Borrowed("sending the event"),
                    permission: "Contents: write",
                }
            }
        }
    }
}

impl ThreadTarget {
    fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line} of {}", self.path, self.pull_request),
            None => format!("{} of {}", self.path, self.pull_request),
        }
    }
}

impl NewReviewThread {
    fn draft(&self) -> Value {
        let mut draft = json!({
            "path": self.path.as_str(), "line": self.line, "side": "RIGHT", "body": self.key.mark(&self.body),
        });
        if let Some(start) = self.start_line.filter(|start| *start < self.line) {
            draft["startLine"] = json!(start);
            draft["startSide"] = json!("RIGHT");
        }
        draft
    }
}

pub(super) fn requested_reviewers(address: &PullRequestAddress) -> String {
    format!("/repos/{}/pulls/{}/requested_reviewers", address.repository, address.number)
}

/// A login as REST spells it: bots end in `[bot]`, which GraphQL leaves off.
fn rest_login(login: &Login, is_bot: bool) -> String {
    let plain = login.as_str().trim_end_matches("[bot]");
    match plain.to_ascii_lowercase().as_str() {
        "copilot" | "copilot-pull-request-reviewer" if is_bot => COPILOT.to_owned(),
        _ if is_bot => format!("{plain}[bot]"),
        _ => plain.to_owned(),
    }
}

/// Whether a login from REST is this reviewer's. Copilot has another login there.
pub(super) fn same_reviewer(rest: &str, reviewer: &Login) -> bool {
    let plain = |login: &str| match login.trim_end_matches("[bot]").to_ascii_lowercase().as_str() {
        "copilot" => "copilot-pull-request-reviewer".to_owned(),
        other => other.to_owned(),
    };
    plain(rest) == plain(reviewer.as_str())
}

fn short(sha: &Sha) -> &str {
    sha.as_str().get(..8).unwrap_or(sha.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copilot_is_requested_by_the_only_spelling_that_works() {
        for login in ["Copilot", "copilot-pull-request-reviewer", "copilot-pull-request-reviewer[bot]"] {
            assert_eq!(rest_login(&login.into(), true), COPILOT);
            assert!(same_reviewer("Copilot", &login.into()));
        }
        assert_eq!(rest_login(&"coderabbitai".into(), true), "coderabbitai[bot]");
        assert_eq!(rest_login(&"alice".into(), false), "alice");
        assert!(!same_reviewer("alice", &"alice2".into()));
    }
}
