//! A pull request as it was fetched: plain facts, in no forge's format.
//!
//! Whatever the forge may leave out is an `Option` here too. An account that was deleted, a line that no longer
//! exists, a commit that was garbage-collected: none of them may stop a decision from being taken.

use super::vocabulary::{Association, FilePath, Login, Sha, ThreadId};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// One pull request with everything Cloture looks at, complete: no list in it is a first page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestSnapshot {
    pub repository: RepositoryName,
    pub number: u64,
    /// What the forge calls it in its own calls; opaque.
    pub node_id: String,
    pub title: String,
    pub body: String,
    pub url: String,
    pub author: Option<Account>,
    pub author_association: Association,
    pub written_by_us: bool,
    pub state: PullRequestState,
    pub draft: bool,
    pub base: Branch,
    pub head: Branch,
    /// The repository the head lives in; absent once a fork was deleted.
    pub head_repository: Option<RepositoryName>,
    pub pushed: PushTime,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub merged_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
    /// When it was last reopened: author rounds are counted from here (L6).
    pub reopened_at: Option<Timestamp>,
    pub labels: Vec<String>,
    #[serde(deserialize_with = "cut_to_size")]
    pub reviews: Vec<Review>,
    #[serde(deserialize_with = "cut_to_size")]
    pub comments: Vec<Comment>,
    #[serde(deserialize_with = "cut_to_size")]
    pub threads: Vec<ReviewThread>,
    pub force_pushes: Vec<ForcePush>,
    pub review_requests: Visible<Vec<ReviewRequest>>,
    pub checks: Visible<Vec<Check>>,
}

/// Something this token may or may not be allowed to see. "None" and "I may not look" lead to different
/// decisions, so they are different values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visible<T> {
    Seen(T),
    /// Not readable, with the sentence that says why.
    Hidden(String),
}

impl<T> Visible<T> {
    pub fn seen(&self) -> Option<&T> {
        match self {
            Visible::Seen(value) => Some(value),
            Visible::Hidden(_) => None,
        }
    }
}

/// A repository's full name, `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryName {
    owner: String,
    name: String,
}

impl RepositoryName {
    /// Refuses anything that could not be a repository, so that a name can stand in a path as it is.
    pub fn new(owner: &str, name: &str) -> Option<Self> {
        let fits = |part: &str| {
            !part.is_empty()
                && part.len() <= 100
                && part != "."
                && part != ".."
                && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        (fits(owner) && fits(name)).then(|| Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (owner, name) = text.split_once('/')?;
        Self::new(owner, name)
    }

    /// The forge does not tell names apart by their case.
    pub fn is_same(&self, other: &RepositoryName) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl From<RepositoryName> for String {
    fn from(name: RepositoryName) -> Self {
        name.to_string()
    }
}

impl TryFrom<String> for RepositoryName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a repository name like `owner/name`"))
    }
}

/// An account on the forge. The kind is part of who it is: a person who takes a bot's login is nobody (L3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub login: Login,
    pub kind: AccountKind,
    pub database_id: Option<u64>,
}

impl Account {
    /// The login as people know it: the forge's own calls leave off the ending that tells a bot's name from a person's.
    pub fn spelled(&self) -> String {
        let login = self.login.as_str();
        if self.kind == AccountKind::Bot && !login.ends_with("[bot]") {
            format!("{login}[bot]")
        } else {
            login.to_owned()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountKind {
    Bot,
    User,
    Organization,
    /// A placeholder for somebody who wrote before the repository was imported.
    Mannequin,
    EnterpriseUser,
    /// A kind the forge invented after this was written: never taken for a bot or a person.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestState {
    Open,
    Closed,
    Merged,
}

impl PullRequestState {
    pub fn name(self) -> &'static str {
        match self {
            PullRequestState::Open => "open",
            PullRequestState::Closed => "closed",
            PullRequestState::Merged => "merged",
        }
    }
}

/// A branch and the commit it was at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub name: String,
    pub sha: Sha,
}

/// When the head was pushed, and how that is known: the forge keeps no such time, so it is the best evidence
/// there is (L1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushTime {
    pub at: Timestamp,
    pub evidence: PushEvidence,
}

/// From the most to the least trustworthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushEvidence {
    /// The forge recorded a force-push to exactly this head.
    ForcePush,
    /// The forge created the head's first check suite, which it does when the push arrives.
    CheckSuite,
    /// The committer's own clock, kept between the forge's times.
    CommitDate,
    /// The pull request was opened with this head.
    Opened,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub id: String,
    pub author: Option<Account>,
    pub association: Association,
    pub written_by_us: bool,
    pub state: ReviewState,
    pub body: String,
    /// Absent while the review is a draft.
    pub submitted_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    /// The commit it was made on; absent when the forge no longer has it.
    pub commit: Option<Sha>,
    pub minimized: bool,
    pub url: String,
}

impl Review {
    /// When everyone could first read it. A draft has only its creation time.
    pub fn published_at(&self) -> Timestamp {
        self.submitted_at.unwrap_or(self.created_at)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    Approved,
    ChangesRequested,
    Commented,
    Dismissed,
    Pending,
    /// A state the forge invented after this was written: no verdict.
    Other,
}

/// A comment on the pull request itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub id: String,
    pub author: Option<Account>,
    pub association: Association,
    pub written_by_us: bool,
    pub body: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub minimized: Option<Minimized>,
    pub url: String,
}

impl Comment {
    /// Since when it says what it says now.
    pub fn last_written_at(&self) -> Timestamp {
        self.edited_at.unwrap_or(self.created_at)
    }
}

/// A review thread with its whole conversation.
#[expect(clippy::struct_excessive_bools, reason = "these are the forge's independent flags, not modes")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewThread {
    pub id: ThreadId,
    pub path: FilePath,
    /// Where the anchor is now; absent once the thread is outdated.
    pub line: Option<u32>,
    pub start_line: Option<u32>,
    /// Where the anchor was when the thread was opened.
    pub original_line: Option<u32>,
    pub original_start_line: Option<u32>,
    pub side: DiffSide,
    pub subject: ThreadSubject,
    pub outdated: bool,
    pub resolved: bool,
    /// Absent for a bot as well: the forge can only name people here.
    pub resolved_by: Option<Account>,
    pub viewer_can_reply: bool,
    pub viewer_can_resolve: bool,
    pub viewer_can_unresolve: bool,
    #[serde(deserialize_with = "cut_to_size")]
    pub comments: Vec<ThreadComment>,
}

impl ReviewThread {
    /// What was said in it, in order. A draft is visible to its writer alone and has been said to nobody.
    pub fn published_comments(&self) -> Vec<&ThreadComment> {
        let mut published: Vec<_> = self.comments.iter().filter(|comment| !comment.pending).collect();
        published.sort_by_key(|comment| comment.position());
        published
    }

    /// What was said first.
    pub fn opening(&self) -> Option<&ThreadComment> {
        self.comments.iter().filter(|comment| !comment.pending).min_by_key(|comment| comment.position())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffSide {
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadSubject {
    Line,
    File,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadComment {
    pub id: String,
    pub author: Option<Account>,
    pub association: Association,
    pub written_by_us: bool,
    pub body: String,
    /// The lines of the diff it was written under.
    pub diff_hunk: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub commit: Option<Sha>,
    pub original_commit: Option<Sha>,
    pub reply_to: Option<String>,
    pub review: Option<String>,
    pub minimized: Option<Minimized>,
    /// Part of somebody's draft: only its writer can see it.
    pub pending: bool,
    pub url: String,
}

impl ThreadComment {
    /// Its place among the comments of a thread. Several can be of one second.
    fn position(&self) -> (Timestamp, &str) {
        (self.created_at, &self.id)
    }
}

/// A comment that was hidden, with the reason where the forge gives one ("duplicate", "outdated").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minimized {
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcePush {
    pub at: Timestamp,
    pub actor: Option<Account>,
    pub before: Option<Sha>,
    pub after: Option<Sha>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRequest {
    pub reviewer: RequestedReviewer,
    pub as_code_owner: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedReviewer {
    Account(Account),
    Team(String),
    /// Somebody this token may not see, or who is gone.
    Unknown,
}

/// One check run or commit status at the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    /// The app that ran it: its slug, where it is a check run and the app still exists.
    pub app: Option<String>,
    pub app_id: Option<u64>,
    pub outcome: CheckOutcome,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub commit: Sha,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Running,
    Passed,
    Failed,
    /// Ended without saying either: neutral, skipped, cancelled, stale, or a word invented later.
    Neither,
}

/// A list takes no more room than it has items. Thousands of threads are kept, most with a single comment, and a list that
/// grew while it was read has room for four.
fn cut_to_size<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let mut items = Vec::deserialize(deserializer)?;
    items.shrink_to_fit();
    Ok(items)
}
