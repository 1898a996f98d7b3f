//! A reviewer's post, independent of any bot's format.
//!
//! Parsing a bot's text needs its profile, so `reviewers` implements [`PostReader`]. The domain only sees the
//! result, and takes the decisions.

use super::finding::Finding;
use super::place::LineRange;
use super::re_review::ReadsReplies;
use super::review_loop::PostContent;
use super::snapshot::Account;
use super::vocabulary::{Category, FilePath, ReviewerName, Severity, Sha, Stance};
use std::sync::Arc;

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
    /// Whether the post ends the wait for this reviewer (L3, L4).
    pub content: PostContent,
    /// The commit that the text names.
    pub commit: Option<Sha>,
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

    /// Whether this reviewer leaves only a passed check if it finds nothing.
    fn passes_by_check(&self, _reviewer: &ReviewerName) -> bool {
        false
    }
}
