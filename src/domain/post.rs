//! A reviewer's post, independent of any bot's format.
//!
//! Parsing a bot's text needs its profile, so `reviewers` implements [`PostReader`]. The domain only sees the
//! result, and takes the decisions.

use super::finding::Finding;
use super::place::LineRange;
use super::re_review::ReadsReplies;
use super::review_loop::PostContent;
use super::snapshot::{Account, ReviewState};
use super::vocabulary::{Category, FilePath, ReviewerName, Severity, Sha, Stance};
use std::sync::Arc;
use std::time::Duration;

/// Where a post was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostPlace {
    /// The comment that opened a thread.
    ThreadRoot,
    ThreadReply,
    /// The body of a review.
    Review,
    /// A comment on the pull request itself.
    Comment,
}

/// The kind of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostClass {
    Finding,
    /// A reply to somebody.
    Reply,
    /// About the pull request as a whole. It may contain findings.
    Summary,
    /// The reviewer says that it did not review, or not yet. [`ParsedPost::content`] tells the two apart.
    Failure,
    /// Greetings, acknowledgements, adverts. No decision depends on it.
    Noise,
}

/// A parsed post of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedPost {
    pub class: PostClass,
    /// One for the first comment of a thread, any number for the body of a review.
    pub findings: Vec<ReportedFinding>,
    /// Its position on its thread. A first comment accepts if an edit marked it as addressed or withdrawn.
    /// None if the text takes no position that can be recognised.
    pub stance: Option<Stance>,
    /// Whether the post ends the wait for this reviewer (L3, L4), as far as its text alone tells.
    /// [`ParsedPost::content_with`] also counts its threads.
    pub content: PostContent,
    /// The commit that the text names.
    pub commit: Option<Sha>,
    pub claim: ResultClaim,
    /// The rows of a status table, one for each review that the reviewer runs on its own.
    pub status: Vec<StatusRow>,
    /// The post is not where this reviewer states its results.
    pub aside: bool,
    /// How long the reviewer is out of quota, counted from the post's last edit.
    pub retry_after: Option<Duration>,
}

/// What the text of a review claims about its result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultClaim {
    /// How many findings it announces, whether or not they can be found.
    pub announced: Option<usize>,
    /// `Accepts` if it says that it found nothing, `SeeksChange` if it asks for changes.
    pub verdict: Option<Stance>,
    /// Why a part of the text cannot be read. Then nothing else in it counts as a result.
    pub unreadable: Option<String>,
    /// The addresses' last parts (`discussion_r12`) of the threads that it lists.
    pub listed_threads: Vec<String>,
}

/// The state of one review in a status table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusRow {
    pub content: PostContent,
    pub commit: Option<Sha>,
}

/// The threads that belong to a review or comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostThreads {
    /// The review opened these.
    pub opened: usize,
    /// Its announced number may include these: it lists them, or they are still open from earlier reviews.
    pub others: usize,
}

impl ParsedPost {
    /// A post that has no result, with this class and content.
    pub fn without_result(class: PostClass, content: PostContent) -> ParsedPost {
        ParsedPost {
            class,
            findings: Vec::new(),
            stance: None,
            content,
            commit: None,
            claim: ResultClaim::default(),
            status: Vec::new(),
            aside: false,
            retry_after: None,
        }
    }

    /// L3: the post counts as a finished review only by a positive sign: findings, as many as it announces;
    /// or a clean mark, GitHub's approval or an announced zero, and nothing that contradicts it.
    pub fn content_with(&self, threads: PostThreads, state: Option<ReviewState>) -> PostContent {
        if matches!(self.content, PostContent::Failure(_) | PostContent::InProgress) {
            return self.content.clone();
        }
        if let Some(reason) = &self.claim.unreadable {
            return PostContent::Unreadable(reason.clone());
        }
        let own = self.findings.len() + threads.opened;
        let found = own + threads.others;
        match self.claim.announced {
            Some(announced) if announced > found => {
                return PostContent::Unreadable(announces(announced, found));
            }
            Some(1..) => return PostContent::Complete,
            _ if own > 0 => return PostContent::Complete,
            _ => {}
        }
        let asks_for_changes =
            self.claim.verdict == Some(Stance::SeeksChange) || state == Some(ReviewState::ChangesRequested);
        let is_clean = self.claim.verdict == Some(Stance::Accepts)
            || state == Some(ReviewState::Approved)
            || self.claim.announced == Some(0);
        if asks_for_changes && found > 0 {
            PostContent::Complete
        } else if asks_for_changes {
            PostContent::Unreadable("it asks for changes, and no finding was found in it".to_owned())
        } else if is_clean {
            PostContent::Complete
        } else {
            self.content.clone()
        }
    }
}

fn announces(announced: usize, found: usize) -> String {
    let findings = if announced == 1 { "finding" } else { "findings" };
    let was = if found == 1 { "was" } else { "were" };
    format!("it announces {announced} {findings}, and {found} {was} found")
}

/// A finding as the post states it. Missing details stay missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFinding {
    /// Only if the text names it. The place of a thread is more reliable.
    pub path: Option<FilePath>,
    pub lines: Option<LineRange>,
    pub title: Option<Arc<str>>,
    pub body: Arc<str>,
    pub severity: Option<Severity>,
    pub category: Option<Category>,
    pub suggestion: Option<Arc<str>>,
    pub own_id: Option<Arc<str>>,
}

impl ReportedFinding {
    /// A finding with a text and no recognised details.
    pub fn without_details(body: &str) -> ReportedFinding {
        ReportedFinding {
            path: None,
            lines: None,
            title: None,
            body: body.into(),
            severity: None,
            category: None,
            suggestion: None,
            own_id: None,
        }
    }

    /// The finding at a place. `untitled` makes a title if the reviewer gave none.
    pub fn at(
        self,
        path: FilePath,
        lines: Option<LineRange>,
        untitled: impl FnOnce() -> Arc<str>,
    ) -> Finding {
        Finding {
            path,
            lines,
            title: self.title.unwrap_or_else(untitled),
            body: self.body,
            severity: self.severity,
            category: self.category.unwrap_or(Category::Other),
            suggestion: self.suggestion,
            own_id: self.own_id,
        }
    }
}

/// Recognises reviewers and parses their posts, with the help of profiles and the configuration.
pub trait PostReader: ReadsReplies {
    /// The reviewer that made the post, if any. Some reviewers share an account, and only the text tells them
    /// apart. Without a text, as for a requested review, the account decides.
    fn reviewer(&self, by: &Account, body: &str) -> Option<ReviewerName>;

    fn read(&self, reviewer: &ReviewerName, place: PostPlace, body: &str) -> ParsedPost;

    /// Whether this reviewer says anything by reactions to the pull request.
    fn reacts(&self, _reviewer: &ReviewerName) -> bool {
        false
    }

    /// What this reviewer says by a reaction, if anything that counts.
    fn reaction(&self, _reviewer: &ReviewerName, _content: &str) -> Option<PostContent> {
        None
    }

    /// Whether a mark of acceptance counts in the first comment of a thread that nobody edited. A reviewer that settles
    /// by editing cannot have marked such a comment: it quotes the mark.
    fn accepts_unedited(&self, _reviewer: &ReviewerName) -> bool {
        true
    }

    /// Whether this reviewer leaves only a passed check if it finds nothing.
    fn passes_by_check(&self, _reviewer: &ReviewerName) -> bool {
        false
    }
}
