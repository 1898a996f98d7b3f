//! The page of one thread: its comments with author and role, its code, and the changes to that code since.
//!
//! A thread can have ten thousand comments, so a comment is cleaned and classified only when the screen shows
//! it.

use super::{RowBuilder, account, line};
use crate::domain::observed::is_person;
use crate::domain::snapshot::{DiffSide, PullRequestSnapshot, ReviewThread, ThreadComment};
use crate::domain::vocabulary::{Intent, ThreadId};
use crate::output::sanitize;
use crate::replies;
use crate::supervisor::{PullRequestView, markers};
use crate::tui::text::count;
use jiff::Timestamp;
use std::sync::Arc;

pub use changes_since::ChangesSince;
pub use code::{CodeHunk, CodeLine};

mod changes_since;
mod code;

/// What the page of a thread shows beyond its row.
#[derive(Debug, Clone)]
pub struct ThreadScreenPage {
    view: Arc<PullRequestView>,
    source: ConversationSource,
    /// The file that the thread is about.
    pub path: String,
    pub code: CodeHunk,
    pub since: Option<ChangesSince>,
}

/// Where the comments come from.
#[derive(Debug, Clone)]
enum ConversationSource {
    /// A thread of the snapshot, with the order of its comments by time.
    OnForge { thread: usize, order: Vec<usize> },
    /// A driven reviewer's finding without a thread on GitHub.
    Own { who: String, body: String },
}

#[derive(Debug, Clone)]
pub struct PostedText {
    pub who: String,
    pub role: &'static str,
    /// What Cloture takes a person's reply to mean (R3).
    pub intent: Option<&'static str>,
    pub at: Option<Timestamp>,
    pub edited: bool,
    /// Markdown, safe for a terminal.
    pub body: String,
    /// How much of the body was too long to show.
    pub left_out: Option<String>,
    /// The reason, if the comment is hidden on GitHub.
    pub minimized: Option<String>,
}

/// In bytes. GitHub accepts at most 65,536 characters, so no real comment is longer.
const LONGEST_BODY: usize = 300_000;

/// None if the thread is gone.
pub fn page(view: &Arc<PullRequestView>, id: &ThreadId) -> Option<ThreadScreenPage> {
    let computed = view.computed.as_deref()?;
    let snapshot = &computed.snapshot;
    let shown = computed.thread(id);
    if let Some(shown) = shown.filter(|shown| shown.on_forge.is_none()) {
        let (finding, anchor) = (&shown.thread.finding, &shown.thread.anchor);
        let source = ConversationSource::Own {
            who: line(shown.thread.reviewer.as_str()),
            body: bounded(&finding.body).0.to_owned(),
        };
        let since = changes_since::of_anchor(anchor, finding.lines);
        let path = line(finding.path.as_str());
        return Some(ThreadScreenPage {
            view: Arc::clone(view),
            source,
            path,
            code: CodeHunk::default(),
            since,
        });
    }
    let on_forge = shown.and_then(|shown| shown.on_forge).map_or(id, |thread| &thread.id);
    let index = snapshot.threads.iter().position(|thread| thread.id == *on_forge)?;
    let thread = &snapshot.threads[index];
    let comments = &thread.comments;
    let mut order: Vec<usize> = (0..comments.len()).filter(|at| !comments[*at].pending).collect();
    order.sort_by_key(|at| (comments[*at].created_at, &comments[*at].id));
    let first = order.first().map(|at| &comments[*at]);
    let (code, since) = match first {
        Some(first) => (code_of(thread, first), changes_since::of_thread(thread, first, computed)),
        None => (CodeHunk::default(), None),
    };
    let path = line(thread.path.as_str());
    Some(ThreadScreenPage {
        view: Arc::clone(view),
        source: ConversationSource::OnForge { thread: index, order },
        path,
        code,
        since,
    })
}

fn code_of(thread: &ReviewThread, first: &ThreadComment) -> CodeHunk {
    let last = thread.original_line;
    let lines = last.map(|last| (thread.original_start_line.unwrap_or(last).min(last), last));
    CodeHunk::read(&first.diff_hunk, lines, thread.side == DiffSide::Left)
}

impl ThreadScreenPage {
    /// The number of comments.
    pub fn len(&self) -> usize {
        match &self.source {
            ConversationSource::OnForge { order, .. } => order.len(),
            ConversationSource::Own { .. } => 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One comment, cleaned and classified.
    pub fn comment_text(&self, index: usize, row_builder: &RowBuilder) -> Option<PostedText> {
        match &self.source {
            ConversationSource::Own { who, body } => (index == 0).then(|| PostedText {
                who: who.clone(),
                role: "reviewer",
                intent: None,
                at: None,
                edited: false,
                body: sanitize::block(body),
                left_out: None,
                minimized: None,
            }),
            ConversationSource::OnForge { thread, order } => {
                let snapshot = &self.view.computed.as_deref()?.snapshot;
                let comment = snapshot.threads.get(*thread)?.comments.get(*order.get(index)?)?;
                Some(comment_text(comment, snapshot, row_builder))
            }
        }
    }

    /// Whether the page was built from this view.
    pub fn is_of(&self, view: &Arc<PullRequestView>) -> bool {
        Arc::ptr_eq(&self.view, view)
    }
}

fn comment_text(
    comment: &ThreadComment,
    snapshot: &PullRequestSnapshot,
    row_builder: &RowBuilder,
) -> PostedText {
    let author = comment.author.as_ref();
    // Cloture posts for a driven reviewer, but the words are the reviewer's.
    let is_reviewer = markers::is_finding(comment)
        || markers::posted_reply(comment).is_some()
        || author.is_some_and(|author| row_builder.reads.reviewer(author, &comment.body).is_some());
    let by_agent = replies::is_agent_post(&comment.body);
    let by_person = author.is_some_and(is_person) && !by_agent;
    let role = if is_reviewer {
        "reviewer"
    } else if comment.is_posted_by_cloture() {
        "Cloture"
    } else if by_agent {
        "agent"
    } else if author.is_some() && author.map(|a| &a.login) == snapshot.author.as_ref().map(|a| &a.login) {
        "author"
    } else if by_person && comment.association.may_override() {
        "may override"
    } else if by_person {
        "person"
    } else {
        "bot"
    };
    let intent = (by_person && !is_reviewer).then(|| replies::classify(&comment.body));
    let (body, left_out) = bounded(&comment.body);
    let minimized = comment.minimized.as_ref().map(|minimized| {
        let reason = minimized.reason.as_deref().map(|reason| line(&reason.to_lowercase().replace('_', " ")));
        reason.unwrap_or_default()
    });
    PostedText {
        who: account(author),
        role,
        intent: intent.filter(|intent| *intent != Intent::Other).map(intent_name),
        at: Some(comment.created_at),
        edited: comment.edited_at.is_some(),
        body: sanitize::block(body),
        left_out: (left_out > 0).then(|| count(left_out, "character is left out", "characters are left out")),
        minimized,
    }
}

/// The part of a post to show, and how many characters are left out.
fn bounded(body: &str) -> (&str, usize) {
    if body.len() <= LONGEST_BODY {
        return (body, 0);
    }
    let end = (0..=LONGEST_BODY).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0);
    let (shown, left_out) = body.split_at(end);
    (shown, left_out.chars().count())
}

fn intent_name(intent: Intent) -> &'static str {
    match intent {
        Intent::WontFix => "won't fix",
        Intent::Acknowledged => "acknowledged",
        Intent::Disagree => "disagrees",
        Intent::Fixed => "says it is fixed",
        Intent::Question => "asks",
        Intent::Other => "",
    }
}
