//! A pull request as it was fetched, independent of GitHub's format.
//!
//! Everything that GitHub may leave out is an `Option`: a deleted account, a line that no longer exists, a
//! commit that was garbage-collected. None of them may prevent a decision.

use super::vocabulary::{Association, FilePath, Login, Sha, ThreadId};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// One pull request with everything that Cloture reads. All lists are complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestSnapshot {
    pub repository: RepositoryName,
    pub number: u64,
    /// GitHub's opaque id for API calls.
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
    /// The repository of the head branch. None if the fork was deleted.
    pub head_repository: Option<RepositoryName>,
    pub pushed: PushTime,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub merged_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
    /// The last reopening. Author rounds count from here (L6).
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

/// Data that the token may or may not read. "There is none" and "not allowed to read" lead to different
/// decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visible<T> {
    Seen(T),
    /// Not readable, with the reason for people.
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
    /// None for anything that cannot be a repository, so that a name is safe in a URL path.
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

    /// L13: names compare without regard to case.
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

/// An account on GitHub. The kind matters: a person with a bot's login is not that bot (L3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub login: Login,
    pub kind: AccountKind,
    pub database_id: Option<u64>,
}

impl Account {
    /// The login as people know it. GitHub's GraphQL answers omit the `[bot]` suffix.
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
    /// A placeholder for an author from before the repository was imported.
    Mannequin,
    EnterpriseUser,
    /// A kind that GitHub added later. It counts as neither bot nor person.
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

/// A branch with its commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub name: String,
    pub sha: Sha,
}

/// When the head was pushed (L1). GitHub does not record it, so the best evidence decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushTime {
    pub at: Timestamp,
    pub evidence: PushEvidence,
}

/// From the most to the least reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushEvidence {
    /// GitHub recorded a force-push to exactly this head.
    ForcePush,
    /// GitHub created the head's first check suite, which it does when a push arrives.
    CheckSuite,
    /// The committer's clock, limited by times from GitHub.
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
    /// None while the review is a draft.
    pub submitted_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    /// The commit that was reviewed. None if GitHub no longer has it.
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
    /// A state that GitHub added later. It is no verdict.
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
    /// The last edit, or the creation. The present text dates from then.
    pub fn last_written_at(&self) -> Timestamp {
        self.edited_at.unwrap_or(self.created_at)
    }
}

/// A review thread with its whole conversation.
#[expect(clippy::struct_excessive_bools, reason = "these are GitHub's independent flags, not modes")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewThread {
    pub id: ThreadId,
    pub path: FilePath,
    /// The present line. None if the thread is outdated.
    pub line: Option<u32>,
    pub start_line: Option<u32>,
    /// The line at which the thread was opened.
    pub original_line: Option<u32>,
    pub original_start_line: Option<u32>,
    pub side: DiffSide,
    pub subject: ThreadSubject,
    pub outdated: bool,
    pub resolved: bool,
    /// GitHub names only people here, so it is none for a bot.
    pub resolved_by: Option<Account>,
    pub viewer_can_reply: bool,
    pub viewer_can_resolve: bool,
    pub viewer_can_unresolve: bool,
    #[serde(deserialize_with = "cut_to_size")]
    pub comments: Vec<ThreadComment>,
}

impl ReviewThread {
    /// The comments in order, without drafts, which only their writers can read.
    pub fn published_comments(&self) -> Vec<&ThreadComment> {
        let mut published: Vec<_> = self.comments.iter().filter(|comment| !comment.pending).collect();
        published.sort_by_key(|comment| comment.position());
        published
    }

    /// The first published comment.
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
    /// The lines of the diff above the comment.
    pub diff_hunk: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub commit: Option<Sha>,
    pub original_commit: Option<Sha>,
    pub reply_to: Option<String>,
    pub review: Option<String>,
    pub minimized: Option<Minimized>,
    /// Part of a draft review, which only its writer can read.
    pub pending: bool,
    pub url: String,
}

impl ThreadComment {
    /// The sort key within a thread. Several comments can have the same second, so the id is part of it.
    fn position(&self) -> (Timestamp, &str) {
        (self.created_at, &self.id)
    }
}

/// A hidden comment, with GitHub's reason if there is one ("duplicate", "outdated").
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
    /// An account that the token may not read, or that was deleted.
    Unknown,
}

/// A check run or commit status of the head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    /// The slug of the app, for a check run whose app still exists.
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
    /// Ended without a result: neutral, skipped, cancelled, stale, or a word that GitHub added later.
    Neither,
}

/// Trims the capacity of a list. Memory holds thousands of threads, most with a single comment, and a list
/// that grew while it was parsed has room for four.
fn cut_to_size<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let mut items = Vec::deserialize(deserializer)?;
    items.shrink_to_fit();
    Ok(items)
}
