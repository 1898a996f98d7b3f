//! What a reviewer's post says, in no bot's format.
//!
//! Reading a bot's text needs its profile, so `reviewers` does it; what was read comes in through [`PostReader`], and everything
//! that is decided from it is decided here.

use super::finding::Finding;
use super::place::LineRange;
use super::re_review::ReadsReplies;
use super::review_loop::PostContent;
use super::snapshot::Account;
use super::vocabulary::{Category, FilePath, ReviewerName, Severity, Sha, Stance};
use std::sync::Arc;

/// Where a post stands, which is half of what it is.
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

/// What a post is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostClass {
    /// It reports a problem.
    Finding,
    /// It answers somebody.
    Reply,
    /// It speaks about the pull request as a whole; it may hold findings all the same.
    Summary,
    /// The reviewer says that it did not review, or has not yet; [`ParsedPost::content`] tells which.
    Failure,
    /// Greetings, acknowledgements, adverts: nothing is decided from it.
    Noise,
}

/// A reviewer's post, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedPost {
    pub class: PostClass,
    /// Every problem it reports: one for a thread's first comment, any number for a review's body.
    pub findings: Vec<ReportedFinding>,
    /// Its position on the thread it stands in. A first comment accepts where an edit marked it as addressed or
    /// withdrawn. None where it takes no position that could be read.
    pub stance: Option<Stance>,
    /// What the post means for a wait for this reviewer (L3, L4).
    pub content: PostContent,
    /// The commit it says that it is about.
    pub commit: Option<Sha>,
}

/// A problem as a post reports it. Whatever the post leaves out is absent and never invented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFinding {
    /// Where the text itself says so; a thread knows its place better.
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
    /// A text of which nothing could be told but that it is there.
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

    /// The finding at a place, with a title for people to know it by where the reviewer gave none.
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

/// Who is a reviewer, and what its posts say. Profiles and the configuration know.
pub trait PostReader: ReadsReplies {
    /// Whose post it is, if a reviewer's. Some post from an account that many share, and only the text tells them
    /// apart; where there is no text, as with a review that was merely asked for, the account alone has to do.
    fn reviewer(&self, by: &Account, body: &str) -> Option<ReviewerName>;

    fn read(&self, reviewer: &ReviewerName, place: PostPlace, body: &str) -> ParsedPost;

    /// Whether a passed check of this reviewer is all it leaves where it finds nothing.
    fn passes_by_check(&self, _reviewer: &ReviewerName) -> bool {
        false
    }
}
