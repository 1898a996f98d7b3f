//! A pull request as it was fetched, independent of GitHub's format.
//!
//! Everything that GitHub may leave out is an `Option`: a deleted account, a line that no longer exists, a
//! commit that was garbage-collected. None of them may prevent a decision.

use super::vocabulary::{Association, FilePath, Login, Sha, ThreadId};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// How the hidden key in every post of Cloture begins. A plain search finds it, however the text around it parses
/// as Markdown.
pub const KEY_OPENING: &str = "<!-- cloture:";

/// One pull request with everything that Cloture reads. All lists are complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestSnapshot {
    /// GitHub's present name, in GitHub's spelling.
    pub repository: RepositoryName,
    /// GitHub's opaque id of the repository, which a rename does not change. Empty in snapshots of older
    /// versions.
    #[serde(default)]
    pub repository_id: String,
    /// The repository's other names: the one that was asked for, and those from the journal.
    #[serde(skip)]
    pub known_as: KnownNames,
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
    /// The last reopening, whoever did it.
    pub reopened_at: Option<Timestamp>,
    /// The last reopening by somebody who may override (R4). Author rounds, cycles and requests for reviews count from
    /// here (L6, C6).
    #[serde(default)]
    pub counts_from: Option<Timestamp>,
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
    /// Reactions to the pull request's body, if a reviewer with reactions is waited for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
}

/// A reaction to the pull request's body, in GitHub's words, such as `+1` and `eyes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    pub at: Timestamp,
    pub content: String,
    pub by: Account,
}

/// The names of a repository besides GitHub's present one (L13).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownNames {
    /// The name under which the journal files the repository. Keys contain it, so that a rename changes no
    /// key. None means the present name.
    pub filed_as: Option<RepositoryName>,
    /// Names for which GitHub answered with this repository, and with no other one since.
    pub others: Vec<RepositoryName>,
}

impl PullRequestSnapshot {
    /// The name that stays the same when the repository is renamed: the one in every key.
    pub fn filed_as(&self) -> &RepositoryName {
        self.known_as.filed_as.as_ref().unwrap_or(&self.repository)
    }

    /// `OWNER/REPO#NUMBER` with that name.
    pub fn filed_address(&self) -> String {
        format!("{}#{}", self.filed_as(), self.number)
    }

    /// Every name of the repository, GitHub's present one first.
    pub fn names(&self) -> impl Iterator<Item = &RepositoryName> {
        std::iter::once(&self.repository).chain(&self.known_as.others)
    }

    pub fn is_in(&self, repository: &RepositoryName) -> bool {
        self.names().any(|name| name == repository)
    }

    /// R4: whether this account decides by resolving a thread or by reopening the pull request. GitHub lets the author
    /// do both without any rights; everybody else needs access for it.
    pub fn may_decide(&self, by: &Account) -> bool {
        let is_author = self.author.as_ref().is_some_and(|author| author.is_same(by));
        !is_author || self.author_association.may_override()
    }

    /// R4: whether the author resolved the thread and may not override. That is an argument, not a decision.
    pub fn is_resolved_as_argument(&self, thread: &ReviewThread) -> bool {
        thread.resolved && thread.resolved_by.as_ref().is_some_and(|by| !self.may_decide(by))
    }

    /// Whether the head branch is in this repository: the pull request's own, or a fork.
    pub fn head_is_in(&self, repository: &RepositoryName) -> bool {
        match &self.head_repository {
            Some(head) if *head != self.repository => head == repository,
            Some(_) | None => self.is_in(repository),
        }
    }
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

/// A repository's full name, `owner/name`. GitHub ignores the case of names, so two spellings are equal here
/// (L13). The spelling is kept for people to read.
#[derive(Debug, Clone, Serialize, Deserialize)]
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

    /// One text for all spellings, for keys and for the database.
    pub fn folded(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl PartialEq for RepositoryName {
    fn eq(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }
}

impl Eq for RepositoryName {}

impl PartialOrd for RepositoryName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RepositoryName {
    fn cmp(&self, other: &Self) -> Ordering {
        let compare = |one: &str, two: &str| {
            let other = two.bytes().map(|byte| byte.to_ascii_lowercase());
            one.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(other)
        };
        compare(&self.owner, &other.owner).then_with(|| compare(&self.name, &other.name))
    }
}

impl Hash for RepositoryName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
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
    /// Whether both are the same account. A login can change hands, so the number decides if both have one.
    pub fn is_same(&self, other: &Account) -> bool {
        match (self.database_id, other.database_id) {
            (Some(one), Some(two)) => one == two,
            _ => self.kind == other.kind && self.login == other.login,
        }
    }

    /// Only known kinds of people's accounts count as people. A kind that GitHub adds later does not.
    pub fn is_person(&self) -> bool {
        matches!(self.kind, AccountKind::User | AccountKind::EnterpriseUser)
    }

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

impl PullRequestSnapshot {
    /// The time of the last event that the snapshot shows, by GitHub's clock.
    pub fn last_event_at(&self) -> Timestamp {
        let reviews = self.reviews.iter().flat_map(|review| [review.published_at(), review.updated_at]);
        let comments = self.comments.iter().flat_map(|comment| [comment.created_at, comment.updated_at]);
        let in_threads = self.threads.iter().flat_map(|thread| &thread.comments);
        let in_threads = in_threads.flat_map(|comment| [comment.created_at, comment.updated_at]);
        let checks = self.checks.seen().into_iter().flatten().filter_map(|check| check.completed_at);
        reviews.chain(comments).chain(in_threads).chain(checks).fold(self.updated_at, Timestamp::max)
    }
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
    /// Whether Cloture itself posted it.
    pub fn is_posted_by_cloture(&self) -> bool {
        self.written_by_us && self.body.contains(KEY_OPENING)
    }

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
    /// Whether Cloture itself posted it. Cloture's account is often a person's, whose own comments carry no key.
    pub fn is_posted_by_cloture(&self) -> bool {
        self.written_by_us && self.body.contains(KEY_OPENING)
    }

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
    /// Whether Cloture itself posted it.
    pub fn is_posted_by_cloture(&self) -> bool {
        self.written_by_us && self.body.contains(KEY_OPENING)
    }

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
